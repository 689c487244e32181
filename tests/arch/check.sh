#!/bin/bash
# SPDX-License-Identifier: MIT
# check.sh ARCH [TEST...]: build for another architecture of Debian, and run the tests on it, all of them or these.
#
# The tests run in a root directory with packages of that architecture only, so that the programs which they record are
# of that architecture, too.  Environment: see root.sh, and
#	PX_ARCH_TIMEOUT	seconds that a test may take (1800)
set -u

# shellcheck source=tests/arch/root.sh
. "$(dirname "$0")/root.sh"
arch_choose "${1:?usage: check.sh ARCH [TEST...]}"
shift
arch_make_root
arch_make all || fail 'the build failed'
arch_make check TESTS= || fail 'the build of the tests failed'

log=$arch_build/check.log
status=0
arch_in_root make -C "$arch_build" -s -k -j"$arch_jobs" check CC=gcc CXX=g++ PKG_CONFIG=pkg-config \
	PX_TEST_TIMEOUT="${PX_ARCH_TIMEOUT:-1800}" ${1:+"TESTS=$*"} >"$log" 2>&1 || status=1
count_tests "$log"
echo "check-arch: $arch: $(uname -r), log in $log"
exit $status
