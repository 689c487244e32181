#!/bin/sh
# SPDX-License-Identifier: MIT
# The libraries have all functions, and the same layouts of public structures, as those of the last release: *.abi, which
# abidw of libabigail has made.  In a checkout with a tag of a release (v0.1.0), these are the files of the tag, so a
# change to the files hides nothing.  New functions are no fault, nor are members in the place of reserved ones, which
# reserved.suppr lists.  UPDATE_ABI=1 writes the files anew: do so for a release, and empty that list.
set -u

srcdir=${srcdir:-.}
. "$srcdir/tests/support/complain.sh"
command -v abidiff >/dev/null || { echo 'SKIP: abidiff is missing (Debian: apt-get install abigail-tools)'; exit 77; }
[ "$(${CC:-cc} -dumpmachine | cut -d - -f 1)" = x86_64 ] || { echo 'SKIP: the files are those of x86-64'; exit 77; }
[ "${PX_SANITIZED:-no}" = no ] || { echo 'SKIP: a sanitizer adds functions'; exit 77; }
nr_checks=0

# The user who runs a test may differ from the owner of the checkout.
export GIT_CONFIG_COUNT=1 GIT_CONFIG_KEY_0=safe.directory GIT_CONFIG_VALUE_0='*'
tag=
[ ! -e "$srcdir/.git" ] || tag=$(git -C "$srcdir" describe --tags --abbrev=0 --match 'v[0-9]*' 2>/dev/null)

# put_released NAME: what the last release offers, in $scratch/released.abi
put_released()
{
	if [ -z "$tag" ]; then
		cp "$srcdir/tests/abi/$1.abi" "$scratch/released.abi"
	else
		git -C "$srcdir" show "$tag:./tests/abi/$1.abi" >"$scratch/released.abi"
	fi || complain "the last release has no tests/abi/$1.abi"
}

# compare NAME LIBRARY: the library with $srcdir/tests/abi/NAME.abi
compare()
{
	[ -e "$2" ] || { echo "SKIP $1: there is no $2"; return; }
	nr_checks=$((nr_checks + 1))
	abidw --no-corpus-path --no-comp-dir-path --no-show-locs --short-locs --type-id-style hash --drop-private-types \
		--exported-interfaces-only --headers-dir "$srcdir/include" "$2" >"$scratch/$1.abi" || complain "abidw fails for $1"
	if [ "${UPDATE_ABI:-}" = 1 ]; then
		cp "$scratch/$1.abi" "$srcdir/tests/abi/$1.abi"
		return
	fi
	put_released "$1"
	abidiff --suppressions "$srcdir/tests/abi/reserved.suppr" --no-added-syms "$scratch/released.abi" "$scratch/$1.abi" \
		>"$scratch/said" 2>&1 ||
		complain "$1 is not compatible with the last release${tag:+, $tag}: $(cat "$scratch/said")"
}

compare libposixtrace lib/.libs/libposixtrace.so
compare libtxtrace-threadx threadx/.libs/libtxtrace-threadx.so
echo "$nr_checks libraries with ${tag:-the files, as there is no tag}, $failed faults"
[ "$failed" -eq 0 ]
