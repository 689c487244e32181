#!/bin/sh
# SPDX-License-Identifier: MIT
# The libraries have all functions, and the same layouts of public structures, as those of the last release: *.abi, which
# abidw of libabigail has made.  New functions are no fault, nor are members in the place of reserved ones, which
# reserved.suppr lists.  UPDATE_ABI=1 writes the files anew: do so for a release, and empty that list.
set -u

srcdir=${srcdir:-.}
. "$srcdir/tests/support/complain.sh"
command -v abidiff >/dev/null || { echo 'SKIP: abidiff is missing (Debian: apt-get install abigail-tools)'; exit 77; }
[ "$(${CC:-cc} -dumpmachine | cut -d - -f 1)" = x86_64 ] || { echo 'SKIP: the files are those of x86-64'; exit 77; }
[ "${PX_SANITIZED:-no}" = no ] || { echo 'SKIP: a sanitizer adds functions'; exit 77; }
nr_checks=0

# compare NAME LIBRARY: the library with $srcdir/tests/abi/NAME.abi
compare()
{
	[ -e "$2" ] || { echo "SKIP $1: there is no $2"; return; }
	nr_checks=$((nr_checks + 1))
	abidw --no-corpus-path --no-comp-dir-path --no-show-locs --short-locs --type-id-style hash --drop-private-types --exported-interfaces-only \
		--headers-dir "$srcdir/include" "$2" >"$scratch/$1.abi" || complain "abidw fails for $1"
	if [ "${UPDATE_ABI:-}" = 1 ]; then
		cp "$scratch/$1.abi" "$srcdir/tests/abi/$1.abi"
		return
	fi
	abidiff --suppressions "$srcdir/tests/abi/reserved.suppr" --no-added-syms "$srcdir/tests/abi/$1.abi" "$scratch/$1.abi" >"$scratch/said" 2>&1 ||
		complain "$1 is not compatible with the last release: $(cat "$scratch/said")"
}

compare libposixtrace lib/.libs/libposixtrace.so
compare libtxtrace-threadx threadx/.libs/libtxtrace-threadx.so
echo "$nr_checks libraries, $failed faults"
[ "$failed" -eq 0 ]
