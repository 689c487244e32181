#!/bin/sh
# SPDX-License-Identifier: MIT
# The table of ThreadX's event ids, lib/txtb/txtb-events.def, has the same rows as tests/data/txtb-events.csv. A change
# of one alone is a mistake. UPDATE_GOLDEN=1 writes the second file anew: check the difference against the headers of
# ThreadX, FileX, NetX Duo and USBX before you commit it.
set -u

srcdir=${srcdir:-.}
LC_ALL=C
export LC_ALL
table=$srcdir/lib/txtb/txtb-events.def
known=$srcdir/tests/data/txtb-events.csv

[ -r "$table" ] || { echo 'FAIL: lib/txtb/txtb-events.def is missing'; exit 1; }
. "$srcdir/tests/support/complain.sh"

# A row may continue on the next line; print it like a row of the other table.
awk '
/^PX_NATIVE\(/ { row = ""; inside = 1 }
inside {
	sub(/^[ \t]+/, " ")
	row = row $0
	if (row ~ /\)$/) {
		sub(/^PX_NATIVE\(/, "", row)
		sub(/\)$/, "", row)
		gsub(/"/, "", row)
		n = split(row, field, /, */)
		line = field[1]
		for (i = 2; i <= n; i++)
			line = line "," (i >= 4 && i <= 7 && field[i] == "none" ? "" : field[i])
		print line
		inside = 0
	}
}' "$table" >"$scratch/rows"

rows=$(grep -c . "$scratch/rows")
[ "$rows" -gt 0 ] || complain 'there is no row in lib/txtb/txtb-events.def'
cut -d , -f 1 "$scratch/rows" >"$scratch/ids"
sort -n -u "$scratch/ids" | cmp -s - "$scratch/ids" ||
	complain 'the ids do not rise from row to row, each once'
sed -n 's/^PX_LABEL(\(.*\))$/\1/p' "$table" >"$scratch/labels"
cut -d , -f 4-7 "$scratch/rows" | tr , '\n' | grep . | sort -u | cmp -s - "$scratch/labels" ||
	complain 'the labels listed are not those that the rows use, sorted'

if [ "${UPDATE_GOLDEN:-}" = 1 ]; then
	{ echo 'id,name,group,word 1,word 2,word 3,word 4,name in the viewer'; cat "$scratch/rows"; } >"$known"
fi
sed 1d "$known" | diff - "$scratch/rows" >"$scratch/differences" ||
	complain "rows differ (<: tests/data/txtb-events.csv, >: lib/txtb/txtb-events.def)
$(head -n 20 "$scratch/differences")"

echo "$rows rows, $(grep -c . "$scratch/labels") labels, $failed faults"
[ "$failed" -eq 0 ]
