#!/bin/bash
# SPDX-License-Identifier: MIT
# samples.sh ARCH: write the logs of tests/data/machines for this architecture of Debian anew, with what the programs that
# write them say of themselves, and what txtrace prints there.  tests/tool/machines.sh compares that with what it prints
# on another machine.  As root, on Debian; the environment is that of root.sh.
set -u

# shellcheck source=tests/arch/root.sh
. "$(dirname "$0")/root.sh"
arch_choose "${1:?usage: samples.sh ARCH}"
arch_make_root
arch_make bin/txtrace preload/libtxtrace-preload.la tests/tool/machine tests/oracle/queue || fail 'the build failed'

out=$arch_build/samples
rm -rf "$out"
mkdir -p "$out" || exit 1
# shellcheck disable=SC2016
arch_in_root sh -c '
	columns=number,ns,cpu,pid,thread,context,priority,event,type,address,size,data
	cd "$1" || exit 1
	TXTRACE_DIR=$(mktemp -d) TXTRACE_PRELOAD=$PWD/preload/.libs/libtxtrace-preload.so
	export TXTRACE_DIR TXTRACE_PRELOAD
	print()
	{
		bin/txtrace print --format csv --columns $columns samples/"$1".trx | tr -d "\r" >samples/"$1".csv
	}
	tests/tool/machine samples/machine.trx >samples/machine.account && print machine &&
		bin/txtrace record --preload --force --no-sched -o samples/oracle.trx tests/oracle/queue \
			>samples/oracle.account && print oracle &&
		bin/txtrace waits --format csv samples/oracle.trx | tr -d "\r" >samples/oracle.waits
	status=$?
	rm -rf "$TXTRACE_DIR"
	exit $status' - "$arch_build" || fail 'the programs failed'
for file in "$out"/*; do
	gzip -9nc "$file" >"$arch_top/tests/data/machines/$arch.${file##*/}.gz" || exit 1
done
ls -l "$arch_top/tests/data/machines/$arch".*
