#!/bin/sh
# SPDX-License-Identifier: MIT
# with-own-dir.sh COMMAND...: run the command with its own directory for trace segments, so that suites can run at the
# same time. Remove the directory afterwards, however the command ended.
set -u

base=/dev/shm
[ -d "$base" ] && [ -w "$base" ] || base=${TMPDIR:-/tmp}
TXTRACE_DIR=$(mktemp -d "$base/posixtrace-check.XXXXXX") || exit 99
TSAN_OPTIONS="suppressions='$(cd "$(dirname "$0")" && pwd)/tsan.supp'${TSAN_OPTIONS:+ $TSAN_OPTIONS}"
export TXTRACE_DIR TSAN_OPTIONS
trap 'rm -rf "$TXTRACE_DIR"' EXIT
trap 'exit 129' HUP
trap 'exit 130' INT
trap 'exit 143' TERM

"$@"
exit $?
