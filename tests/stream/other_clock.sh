#!/bin/sh
# SPDX-License-Identifier: MIT
# If the kernel does not trust the TSC, or /sys is missing, a stream has no ring for each CPU, and its times come from
# CLOCK_MONOTONIC. The suites that depend on this also pass there.
. "${srcdir:-.}/tests/tool/lib.sh"

unshare -m mount -t tmpfs none /sys 2>/dev/null || { echo 'SKIP: /sys cannot be hidden'; exit 77; }

# without_sys STATUS SUITE [CASE]
without_sys()
{
	nr_checks=$((nr_checks + 1))
	env ${3:+"CK_RUN_CASE=$3"} unshare -m sh -c 'mount -t tmpfs none /sys && exec "$1"' sh "tests/$2" \
		>"$scratch/out" 2>&1
	status=$?
	[ $status -ne 77 ] || { cat "$scratch/out"; [ "$1" -ne 0 ] || return; } # the suite says why
	[ $status -eq "$1" ] ||
		complain "$2 without /sys has the status $status, not $1: $(tail -n 5 "$scratch/out")"
}

without_sys 0 api/create get_attr
without_sys 0 stream/left forced
# The counter of aarch64 is always trusted.
[ "$(uname -m)" = aarch64 ] || without_sys 77 stream/cpu_rings # 77: it says that there are no rings of CPUs
finish
