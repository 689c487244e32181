#!/bin/sh
# SPDX-License-Identifier: MIT
# The table of ThreadX's event ids, lib/txtb/txtb-events.def, is what is known of them: row by row the same as
# ../shared/data/txtb-events.csv, where that is at hand.
set -u

srcdir=${srcdir:-.}
LC_ALL=C
export LC_ALL
table=$srcdir/lib/txtb/txtb-events.def
known=$srcdir/../shared/data/txtb-events.csv

[ -r "$table" ] || { echo 'FAIL: lib/txtb/txtb-events.def is missing'; exit 1; }
scratch=$(mktemp -d) || exit 99
trap 'rm -rf "$scratch"' EXIT
failed=0

complain()
{
	echo "FAIL: $*"
	failed=$((failed + 1))
}

# A row may go on in the next line; written like one of the other table.
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

if [ -r "$known" ]; then
	sed 1d "$known" | tr -d '\r' | diff - "$scratch/rows" >"$scratch/differences" ||
		complain "rows differ (<: known, >: ours)
$(head -n 20 "$scratch/differences")"
fi

echo "$rows rows, $(grep -c . "$scratch/labels") labels, $failed faults"
[ "$failed" -eq 0 ] || exit 1
[ -r "$known" ] || { echo 'skipped: there is no table of known ids to compare with'; exit 77; }
