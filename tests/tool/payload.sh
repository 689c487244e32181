#!/bin/sh
# SPDX-License-Identifier: MIT
# The data of described event types appear as fields in each format, with the values that the program says it recorded.
. "${srcdir:-.}/tests/tool/lib.sh"

own_streams
orders=$(dirname "$tool")/../tests/tool/orders
log=$scratch/orders.trx
"$orders" "$log" >"$scratch/account" || complain 'orders fails'

# has TEXT ARGUMENT...: the output of the tool has this line; blanks at its end do not count
has()
{
	line=$1
	shift
	nr_checks=$((nr_checks + 1))
	"$tool" "$@" >"$scratch/out" 2>&1
	sed 's/[ \r]*$//' "$scratch/out" | grep -qxF -- "$line" ||
		{ complain "no line \"$line\" in: $*"; head -3 "$scratch/out"; }
}

# counts NR FILTER: the filter selects this many events
counts()
{
	nr_checks=$((nr_checks + 1))
	nr=$("$tool" print --format csv --columns number -f "$2" "$log" 2>"$scratch/err" | tail -n +2 | wc -l)
	[ "$nr" -eq "$1" ] || { complain "$nr events, not $1, match $2"; head -3 "$scratch/err"; }
}

# y is a long: it has the lower 32 bits of these numbers where a long has 32.
seventh=7000000049 fourth=4000000028 above=2
[ "$(getconf LONG_BIT)" = 64 ] || seventh=-1589934543 fourth=-294967268 above=0
has 'id=7 load=2.3333333333333335 part=1 state=2 at=[{x=-7 y=0} {x=0 y='$seventh'}] low=7 high=259 change=-93 urgent=false kind='"'h'"' name="customer-7" key=18446744073709551608 where=0x1007' \
	print --columns data -f 'data.id=7' "$log"
# The header of the table is the first line; the data are the last column.
has 'level=7 code=513 text="hello"' print --columns data -f note "$log"
has 'level=7 (1 of 3 bytes are missing)' print --columns data -f note "$log"
has '01020304 05060708 09' print --columns data -f plain "$log"
has 'data.id,data.name,data.at[1].y,data.state' print --format csv --columns \
	'data.id,data.name,data.at[1].y,data.state' "$log"
has '4,"say ""4""",'$fourth',BUSY' print --format csv --columns 'data.id,data.name,data.at[1].y,data.state' "$log"
has '{"data.id":5,"data.load":1.6666666666666667,"data.level":null}' \
	print --format jsonl --columns data.id,data.load,data.level "$log"
has '{"data.id":null,"data.load":null,"data.level":7}' \
	print --format jsonl --columns data.id,data.load,data.level "$log"

counts 1 'data.id=7'
counts 190 'data.load > 3'
counts 150 'data.load >= 16.5'
counts 80 'data.state = BUSY'
counts 120 'data.state != BUSY'
counts 80 'data.state = 3'
counts 150 'data.name ~ customer-*'
counts 1 'data.name ~ customer-199'
counts 67 'data.urgent = true'
counts 100 'data.change < 0'
counts 1 'data.key > 18446744073709551614'
counts 0 'data.key > 18446744073709551615'
counts 100 'data.change < -0'
counts 99 'data.change < -1'
counts 200 'data.key > -1'
counts $above 'data.at[1].y > 198000000000'
counts 1 'data.code = 0x201'
counts 0 'data.code = 1'
counts 8 'data.kind = a'
counts 120 'not data.state=BUSY and event=order'
fails 2 'has the field data.lod' print -f 'data.lod > 3' "$log"
fails 2 'has the field data.at[2].y' print -f 'data.at[2].y > 3' "$log"

has '    18  note  u8 level; u16 code; char text[]' info --types "$log"

# Descriptions on the command line.
has 'a=67305985 b=[5 6] c="\x07\x08\t"' print --columns data -f plain '--type=plain=u32 a; u8 b[2]; char c[3]' "$log"
counts_type=$("$tool" print --format csv --columns number '--type=plain=u32 a; u8 b[5]' -f 'data.a > 1' "$log" | wc -l)
[ "$counts_type" -eq 2 ] || complain 'a filter does not know the fields of --type'
fails 2 'column 9 of "u32 id; f65 load": the type is not known' print '--type=plain=u32 id; f65 load' "$log"
fails 2 'needs EVENT=FIELDS' print --type=plain "$log"
# A field that no event has is an error in each command that has a filter; the message names similar fields.
lod='no call and no described event type has the field data.lod; like it are data.load, data.low'
fails 2 "$lod" export --to csv -o - -f 'data.lod > 3' "$log"
fails 2 "$lod" merge --to trx -o "$scratch/merged.trx" -f 'data.lod > 3' "$log" "$log"
fails 2 "$lod" diff -f 'data.lod > 3' "$log" "$log"
fails 2 "$lod" follow -f 'data.lod > 3' "$log"
fails 2 "$lod" report -f 'data.lod > 3' "$log"
fails 2 "$lod" waits -f 'data.lod > 3' "$log"
fails 2 'has the field data.qqqqqq' print -f 'data.qqqqqq > 3' "$log"

# All commands that read events accept fields on the command line.
of_plain='--type=plain=u32 a; u8 b[5]'
for command in 'export --to csv -o -' report 'diff --format text' waits locks follow; do
	nr_checks=$((nr_checks + 1))
	second=
	[ "${command%% *}" = diff ] && second=$log
	# shellcheck disable=SC2086 # words, and no second file at all
	"$tool" $command "$of_plain" -f 'data.b[4] = 9' "$log" $second >"$scratch/out" 2>&1 ||
		{ complain "$command does not know the fields of --type"; head -3 "$scratch/out"; }
done
has '    19  plain  u32 a; u8 b[5]' info --types "$of_plain" "$log"

# Descriptions in a file, with continued lines and comments; and in a file beside the trace.
printf '# the plain one\n\nplain = u32 a;\n\tu8 b[5]\n' >"$scratch/types"
has 'a=67305985 b=[5 6 7 8 9]' print --columns data -f plain -T "$scratch/types" "$log"
mkdir "$scratch/beside"
cp "$log" "$scratch/beside/log"
cp "$scratch/types" "$scratch/beside/.txtrace-types"
has 'a=67305985 b=[5 6 7 8 9]' print --columns data -f plain "$scratch/beside/log"
has 'a=513 +03040506 070809' print --columns data -f plain '--type=plain=u16 a' "$scratch/beside/log"
# User events of ThreadX, from machines of both byte orders.
for order in little big; do
	printf '%s\n' "${order#little}" 'object 1 0x1000 5 main' \
		'event 0x1000 5000 10 0x01020304 0xfffffffe 0x3f800000 7' |
		"$mktrx" >"$scratch/$order.trx" || complain 'no buffer was made'
	has 'a=16909060 b=-2 c=1 d=0x7' print --columns data \
		'--type=TX_TRACE_USER_EVENT_5000=unsigned long a; long b; float c; void *d' "$scratch/$order.trx"
done
has 'a=4 b=3 c=258' print --columns data '--type=TX_TRACE_USER_EVENT_5000=u8 a, b; u16 c; pad 12' "$scratch/little.trx"
has 'a=1 b=2 c=772' print --columns data '--type=TX_TRACE_USER_EVENT_5000=u8 a, b; u16 c; pad 12' "$scratch/big.trx"
printf 'plain=u8 a\nnote=f65 x\n' >"$scratch/types"
fails 2 'types:2: column 1 of "f65 x"' print -T "$scratch/types" "$log"
fails 2 'none: No such file' print -T "$scratch/none" "$log"
nr_checks=$((nr_checks + 1))
"$tool" print '--type=plian=u8 a' "$log" 2>&1 >/dev/null | grep -q 'has no user event type "plian"' ||
	complain 'an event type that is not there is not reported'

# The account of the program.
if has_program python3 'the account'; then
	nr_checks=$((nr_checks + 1))
	"$tool" print --format jsonl --columns event,data -f 'order or note' "$log" >"$scratch/jsonl"
	"$tool" print --format json --columns event,data -f 'order or note' "$log" >"$scratch/json"
	python3 - "$scratch" <<'END' || complain 'the tool and the program do not agree'
import json, struct, sys

scratch = sys.argv[1]
account = [json.loads(line) for line in open(scratch + '/account')]
lines = [json.loads(line)['data'] for line in open(scratch + '/jsonl')]
whole = [event['data'] for event in json.load(open(scratch + '/json'))]
assert lines == whole and len(account) == 202, (len(lines), len(whole), len(account))
for expected, shown in zip(account, lines, strict=True):
    if 'part' in expected:
        # A float has fewer digits.
        single = lambda number: struct.unpack('f', struct.pack('f', number))[0]
        assert single(shown['part']) == expected['part'], (shown, expected)
        shown['part'] = expected['part']
    assert shown == expected, (shown, expected)
END
fi

# A copy and a snapshot with the fields: a packed log still has them.
cp "$log" "$scratch/packed.trx"
"$tool" pack "$scratch/packed.trx" >/dev/null 2>&1 || complain 'pack fails'
has 'level=7 code=513 text="hello"' print --columns data -f note "$scratch/packed.trx"

# Exports have typed fields.
if "$tool" export --to chrome -o "$scratch/chrome.json" "$log" 2>/dev/null; then
	nr_checks=$((nr_checks + 1))
	grep -qF '"data.id":3,"data.load":1,"data.part":0.42857143,"data.state":"BUSY"' "$scratch/chrome.json" ||
		complain 'export --to chrome has no fields'
	grep -qF '"data.urgent":true,"data.kind":"d","data.name":"customer-3"' "$scratch/chrome.json" ||
		complain 'export --to chrome has no texts'
	grep -qF '"args":{"hex":"010203040506070809"' "$scratch/chrome.json" ||
		complain 'export --to chrome does not show data without a description as hex digits'
fi
if has_program babeltrace2 'CTF' && "$tool" export --to ctf -o "$scratch/ctf" "$log" 2>"$scratch/err"; then
	nr_checks=$((nr_checks + 1))
	babeltrace2 "$scratch/ctf" >"$scratch/ctf.txt"
	grep -q 'order: .* id = 3, load = 1, part = 0.428571, state = ( "BUSY" : container = 3 ), at = \[ \[0\] = { x = -3, y = 0 }.*low = 3, high = 111, change = -97, urgent = ( "true" : container = 1 ), kind = "d", name = "customer-3", key = 18446744073709551612, where = 0x1003' \
		"$scratch/ctf.txt" || complain 'export --to ctf has no typed fields'
	grep -q 'note: .* level = 7, code = 513, text = "hello"' "$scratch/ctf.txt" ||
		complain 'export --to ctf has no open text'
fi
if PYTHONDONTWRITEBYTECODE=1 PYTHONPATH=$top/tests/tool python3 -c \
	'import browser, sys; sys.exit(not browser.find_browser())' 2>/dev/null; then
	nr_checks=$((nr_checks + 1))
	"$tool" export --to html -o "$scratch/page.html" "$log" 2>/dev/null || complain 'export --to html fails'
	"$tool" print --format jsonl --columns number,data.id,data.load,data.part,data.state,data.name,'data.at[1].y',data.urgent,data.change,data.high,data.where,data.key,data.text \
		"$log" >"$scratch/fields.jsonl"
	PYTHONDONTWRITEBYTECODE=1 PYTHONPATH=$top/tests/tool python3 - "$scratch" <<'END' || complain 'the page has other fields'
import browser, json, sys

scratch = sys.argv[1]
expected = {event.pop("number"): event for event in map(json.loads, open(scratch + "/fields.jsonl"))}
view = browser.Browser()
view.open(scratch + "/page.html")
view.wait("!!window.txtrace && !!txtrace.page")
shown = view.run("Array.from({length: txtrace.trace.n}, (_, i) => [txtrace.trace.number[i], Object.fromEntries("
                 "(describedFields(txtrace.trace, i) ?? []).map(({label, text, plain, value}) => [label, [text, plain ?? '']]))])")
assert len(shown) == len(expected), (len(shown), len(expected))
for number, fields in shown:
    for name, value in expected[number].items():
        text, plain = fields.get(name.removeprefix("data."), (None, None))
        same = text is None if value is None else plain == value if isinstance(value, str) and name not in ("data.where",) else \
            json.loads(text) == value if not isinstance(value, str) else text == value
        assert same, (number, name, value, text, plain)
view.close()
END
else
	echo 'without the page: there is no Chromium'
fi
finish
