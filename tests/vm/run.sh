# SPDX-License-Identifier: MIT
# shellcheck shell=bash disable=SC2154  # check.sh sets top, build, tests and command
# What the machine of check.sh does: run the tests, or the command.
export HOME=/root TERM=dumb LANG=C PATH=/usr/sbin:/usr/bin:/sbin:/bin
mkdir -p /dev/shm /dev/pts
set -o pipefail
mount -t tmpfs -o mode=1777 tmpfs /dev/shm
mount -t devpts devpts /dev/pts
mount -t tmpfs -o mode=1777 tmpfs /tmp
mkdir -p "$top" "$build"
mount --bind "/vm$top" "$top"
mount --bind "/vm$build" "$build"
ip link set lo up 2>/dev/null
uname -r >/vm/kernel.name
cd "$build" || exit 1
if [ -n "$command" ]; then
	bash -c "$command" 2>&1 | tee /vm/check.log
else
	# shellcheck disable=SC2086
	make -s -k -j"$(getconf _NPROCESSORS_ONLN)" check CC=gcc CXX=g++ PKG_CONFIG=pkg-config \
		PX_TEST_TIMEOUT=3600 TESTS="$tests" 2>&1 | tee /vm/check.log
fi
echo $? >/vm/status
sync
