#!/bin/sh
# SPDX-License-Identifier: MIT
# txtrace export --to html: checks of the file without a browser; html-page.sh opens it.
. "${srcdir:-.}/tests/tool/lib.sh"


bad_files export --to html -o "$scratch/out.html"
fails 2 '--limit takes' export --to html --limit 0 "$scratch/empty"
fails 2 '--limit takes' export --to html --limit 1e3 "$scratch/empty"
fails 2 '--limit takes' export --to html --limit 99999999999999999999 "$scratch/empty"
fails 2 'has no --columns' export --to html --columns time "$scratch/empty"
fails 2 'has no --limit' export --to csv --limit 5 "$scratch/empty"
[ -e "$scratch/out.html" ] && complain 'a file was made of what is no trace'

make_samples
trace=$samples/threadx.trx
page()
{
	"$tool" export --to html "$@" 2>"$scratch/err" || complain "export $* fails: $(cat "$scratch/err")"
}
facts()
{
	sed -n '/id="facts"/,/<\/script>/p' "$1" | sed '1d;$d'
}

# The page is the same every time, to a file and to a pipe; export does not overwrite an existing file.
page -o "$scratch/one.html" "$trace"
page -o "$scratch/two.html" "$trace"
page -o - "$trace" >"$scratch/three.html"
nr_checks=$((nr_checks + 3))
cmp "$scratch/one.html" "$scratch/two.html" || complain 'the page is another one the second time'
cmp "$scratch/one.html" "$scratch/three.html" || complain 'the page is another one on standard output'
fails 2 'exists' export --to html -o "$scratch/one.html" "$trace"
page --force -o "$scratch/one.html" "$samples/filex.trx"
cmp -s "$scratch/one.html" "$scratch/two.html" && complain '--force does not overwrite'

# The page has no links to other places, and is small: its fixed part, and what it has of the trace without the
# explanations of waits.
nr_checks=$((nr_checks + 3))
page -o "$scratch/none.html" -f event:nothing "$trace"
grep -nE 'https?:|(src|href)="?[^"d]|@import|url\(' "$scratch/two.html" && complain 'the page wants something else'
fixed=$(wc -c <"$scratch/none.html")
[ "$fixed" -lt 200000 ] || complain "a page without events has $fixed bytes"
own=$(($(sed '/^"why":/,/\]\]\],$/d' "$scratch/two.html" | wc -c) - $(sed '/^"why":/d' "$scratch/none.html" | wc -c)))
[ "$own" -gt 0 ] && [ "$own" -lt 30000 ] || complain "the page needs $own bytes for the trace"

# A selection, and a limit: a message says that events were left out.
page -o "$scratch/some.html" --limit 100 "$trace"
grep -q '123 more were left out' "$scratch/err" || complain "no message for --limit: $(cat "$scratch/err")"
facts "$scratch/some.html" | grep -q '"events":100,"read":223,"leftOut":123,' || complain '--limit is not on the page'
page -o "$scratch/all.html" --limit 223 "$trace"
[ ! -s "$scratch/err" ] || complain "a message although the limit was not exceeded: $(cat "$scratch/err")"
cmp "$scratch/all.html" "$scratch/two.html" || complain 'a limit that is met changes the page'
page -o "$scratch/filtered.html" -f 'thread:sensor' --from 10ms --until 30ms "$trace"
number=$("$tool" print --format jsonl -f 'thread:sensor' --from 10ms --until 30ms "$trace" | wc -l)
facts "$scratch/filtered.html" | grep -q "\"events\":$number,.*\"leftOut\":0" ||
	complain 'a selection is another one than that of print'
nr_checks=$((nr_checks + 5))

# The facts are valid JSON, even if a name would end the script that contains them.
if has_program python3 'the facts of a page are JSON'; then
	nr_checks=$((nr_checks + 1))
	"$mktrx" <"$top/tests/tool/html-odd.txt" >"$scratch/odd.trx" || complain 'mktrx fails'
	page -o "$scratch/odd.html" "$scratch/odd.trx"
	facts "$scratch/odd.html" | python3 -c '
import json, sys
facts = json.load(sys.stdin)
assert facts["origins"][0][3] == "</script><b>&\"\\", facts["origins"]
assert facts["events"] == 8
' || complain 'a name breaks the page'
fi
if [ -w /dev/full ]; then
	nr_checks=$((nr_checks + 1))
	"$tool" export --to html --force -o /dev/full "$trace" 2>"$scratch/err" && complain 'no error for a full device'
	grep -q 'No space' "$scratch/err" || complain "the message for a full device is: $(cat "$scratch/err")"
fi
finish
