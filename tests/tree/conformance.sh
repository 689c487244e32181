#!/bin/sh
# SPDX-License-Identifier: MIT
# doc/conformance.md accounts for every assertion. Its tables have rows
#	| ID | tests, or a dash | note, or the reason why there is no test |
# Tests are names of Check tests (START_TEST in tests/*/*.c), as name or suite:name, or files under tests/
# (headers.sh, model/run.sh), with commas or blanks between. A row has a test or a reason. What lib/ and tests/
# cite is in the document, and the head of it explains every group.
set -u

srcdir=${srcdir:-.}
LC_ALL=C
export LC_ALL
document=$srcdir/doc/conformance.md

# Each group of assertions and how many it has, numbered from 1.
groups='
ATTR:5 CANC:4 CFG:3 CLEAR:12 CLKRES:4 CLOSE:3 COMB:2 CREATE:18 CRTIME:4 DESTROY:4 EVENT:18 EVEQ:2
EVNAME:8 EVOPEN:12 EXEC:9 EXIT:8 FD:4 FILT:3 FLOP:9 FLUSH:11 FLUSHP:7 FORK:10 GEN:13 GENVER:4
GETATTR:5 GETFILT:2 GETINH:2 GETLFP:2 GETLS:2 GETMDS:2 GETNAME:4 GETNEXT:17 GETSFP:4 GETSS:3
GETSTAT:5 HDR:11 INFO:11 INIT:8 ISMEM:2 KIND:3 LIM:4 LINK:1 LOGP:9 LOOP:6 MAP:5 MAXSYS:4 MAXUSR:4
MODEL:13 MULTI:5 OPEN:10 REWIND:3 SETADD:4 SETDEL:2 SETEMPTY:3 SETFILL:5 SETFILT:9 SETINH:3 SETLFP:2
SETLS:2 SETMDS:4 SETNAME:4 SETSFP:4 SETSS:2 SHUT:12 SIG:5 SPAWN:2 START:8 STATUS:11 STOP:7 SYSEV:9
TIMED:11 TRIDOPEN:8 TRY:5 TYPELIST:7 TYPEREW:2 UFULL:12 UNREAD:3 WITHLOG:12
'

[ -r "$document" ] || { echo "FAIL: doc/conformance.md is missing"; exit 1; }
. "$srcdir/tests/support/complain.sh"

for group in $groups; do
	seq -f "${group%:*}-%.0f" "${group#*:}"
done | sort >"$scratch/expected"

# ID <tab> tests <tab> reason, without markup
awk -F '|' '
/^[ \t]*\|/ {
	for (i = 2; i <= 4; i++) {
		gsub(/[`*]|<br ?\/?>/, " ", $i)
		gsub(/^[ \t]+|[ \t]+$/, "", $i)
	}
	if ($2 !~ /^[A-Z]+-[0-9]+$/)
		next
	gsub(/[,;]/, " ", $3)
	gsub(/—|–/, "-", $3)
	gsub(/—|–/, "-", $4)
	if ($3 ~ /^[- ]*$/)
		$3 = ""
	if ($4 ~ /^[- ]*$/)
		$4 = ""
	print $2 "\t" $3 "\t" $4
}' "$document" >"$scratch/rows"

cut -f 1 "$scratch/rows" | sort >"$scratch/listed"
uniq -d "$scratch/listed" >"$scratch/twice"
complain_each 'has two rows in doc/conformance.md' <"$scratch/twice"
sort -u "$scratch/listed" | comm -13 - "$scratch/expected" >"$scratch/missing"
complain_each 'is missing in doc/conformance.md' <"$scratch/missing"
sort -u "$scratch/listed" | grep -v '^AMB-' | comm -23 - "$scratch/expected" >"$scratch/unknown"
complain_each 'is in doc/conformance.md and no assertion' <"$scratch/unknown"

# AMB: the choices, which have no rows.
ids=$(echo AMB $groups | sed -E 's/:[0-9]+//g; s/ +/|/g')
grep -ohwE "($ids)-[0-9]+" "$srcdir"/lib/*/*.[ch] "$srcdir"/tests/*/*.[ch] | sort -u >"$scratch/cited"
grep -owE "($ids)-[0-9]+" "$document" | sort -u | comm -23 "$scratch/cited" - >"$scratch/unlisted"
complain_each 'is cited in lib/ or tests/ and not in doc/conformance.md' <"$scratch/unlisted"
for group in $groups; do
	grep -qE "^\|[A-Z, ]* ${group%:*}[, ][A-Z, ]*\|" "$document" || echo "${group%:*}"
done >"$scratch/unexplained"
complain_each 'is a group that the head of doc/conformance.md does not explain' <"$scratch/unexplained"

awk -F '\t' '$2 == "" && $3 == "" { print $1 }' "$scratch/rows" >"$scratch/bare"
complain_each 'has neither a test nor a reason' <"$scratch/bare"

# suite <tab> test, for each test that exists
awk '
FNR == 1 {
	suite = FILENAME
	gsub(/^.*\/|\.c$/, "", suite)
}
{
	line = $0
	while (match(line, /TEST[A-Z_]*[ \t]*\([ \t]*[a-z][a-z0-9_]*/)) {
		test = substr(line, RSTART, RLENGTH)
		line = substr(line, RSTART + RLENGTH)
		sub(/^.*\([ \t]*/, "", test)
		print suite "\t" test
	}
}' "$srcdir"/tests/*/*.c >"$scratch/tests"

# ID <tab> test, for each test that a row claims: files, and the others that do not exist
awk -F '\t' -v files="$scratch/files" '
FILENAME ~ /tests$/ {
	exists[$2]
	exists[$1 ":" $2]
	next
}
{
	n = split($2, tests, " ")
	for (i = 1; i <= n; i++)
		if (tests[i] ~ /\// || tests[i] ~ /\.(sh|c|pml)$/)
			print $1 "\t" tests[i] >files
		else if (!(tests[i] in exists))
			print $1 " names the test " tests[i] ","
}' "$scratch/tests" "$scratch/rows" >"$scratch/strange"
complain_each 'which does not exist' <"$scratch/strange"
while read -r id test; do
	[ -e "$srcdir/tests/$test" ] || [ -e "$srcdir/$test" ] ||
		complain "$id names the file $test, which does not exist"
done <"$scratch/files"

rows=$(grep -c . "$scratch/rows")
tested=$(awk -F '\t' '$2 != ""' "$scratch/rows" | grep -c .)
echo "$rows assertions listed, $tested with a test, $((rows - tested)) with a reason, $failed faults"
[ "$failed" -eq 0 ]
