#!/bin/sh
# SPDX-License-Identifier: MIT
# Every named memory edge has both ends, and lib/ring/ring.h lists it. The ends are tagged in comments of lib/
# where they are:
#	EDGE <name> release		EDGE <name> acquire
# The list is the table under "Edges" in the comment that opens lib/ring/ring.h: a row is one tab and the name,
# what has more tabs goes on with the row before, and an empty line ends the table.
set -u

srcdir=${srcdir:-.}
LC_ALL=C
export LC_ALL
. "$srcdir/tests/support/complain.sh"
cd "$srcdir/lib" || exit 99
[ -e ring/ring.h ] || { echo 'FAIL: lib/ring/ring.h, which lists the edges, is missing'; exit 1; }

name='[A-Za-z][A-Za-z0-9_.-]*'

# ends KIND: the names that have such an end
ends()
{
	cat ./*/*.[ch] | grep -oE "EDGE[[:space:]]+${name}[[:space:]]+$1([^A-Za-z0-9_]|\$)" |
		awk '{ print $2 }' | sort -u
}

ends release >"$scratch/release"
ends acquire >"$scratch/acquire"
sort -u "$scratch/release" "$scratch/acquire" >"$scratch/tagged"
awk '
/^ \*[ \t]+Edges/ { inside = 1; next }
inside && rows && !/^ \*\t/ { exit }
inside && /^ \*\t[^ \t]/ { rows++; print $2 }
' ring/ring.h | sort -u >"$scratch/table"

comm -23 "$scratch/release" "$scratch/acquire" >"$scratch/open"
complain_each 'has a release end and no acquire end' <"$scratch/open"
comm -13 "$scratch/release" "$scratch/acquire" >"$scratch/open"
complain_each 'has an acquire end and no release end' <"$scratch/open"
comm -23 "$scratch/tagged" "$scratch/table" >"$scratch/unlisted"
complain_each 'is tagged, and not in the table in lib/ring/ring.h' <"$scratch/unlisted"
comm -13 "$scratch/tagged" "$scratch/table" >"$scratch/untagged"
complain_each 'is in the table in lib/ring/ring.h, and tagged nowhere' <"$scratch/untagged"

grep -nE '(^|[^A-Za-z0-9_])EDGE([^A-Za-z0-9_]|$)' ./*/*.[ch] |
	grep -vE "EDGE[[:space:]]+${name}[[:space:]]+(release|acquire)([^A-Za-z0-9_]|\$)" \
		>"$scratch/malformed"
complain_each '(this is no end of an edge)' <"$scratch/malformed"

edges=$(grep -c . "$scratch/tagged")
[ "$edges" -gt 0 ] || complain 'no edge is tagged in lib/'
echo "$edges edges, $failed faults"
[ "$failed" -eq 0 ]
