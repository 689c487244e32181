#!/bin/sh
# SPDX-License-Identifier: MIT
# Each header is named in a makefile. make finds a header without that, but the release archive does not have it, and
# only a build of the archive would show it.
set -u

srcdir=${srcdir:-.}
LC_ALL=C
export LC_ALL
. "$srcdir/tests/support/complain.sh"

cat "$srcdir"/*/module.am "$srcdir"/tests/*/module.am | tr -s '\t \\' '\n' | sort -u >"$scratch/words"
(cd "$srcdir" && find include lib threadx preload bin babeltrace2 examples tests bench \
	\( -name '*.h' -o -name '*.hpp' \) -print) | sort >"$scratch/headers"
[ -s "$scratch/headers" ] || complain 'there are no headers'
comm -23 "$scratch/headers" "$scratch/words" >"$scratch/absent"
complain_each 'is in no module.am' <"$scratch/absent"

echo "$(grep -c . "$scratch/headers") headers, $failed faults"
[ "$failed" -eq 0 ]
