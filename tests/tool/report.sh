#!/bin/sh
# SPDX-License-Identifier: MIT
# txtrace report.
. "${srcdir:-.}/tests/tool/lib.sh"

runners=${RUNNERS:-$(pwd)/tests/tool/runners}
profile=$top/tests/tool/profile.py
python=$(command -v python3)
[ -n "$python" ] || echo 'SKIP what profile.py computes, JSON and CSV: python3 is missing'
all='--profile --performance --services --stacks --filex --netx --inversions --cpus --processes'

bad_files report
fails 2 'takes one file' report
fails 2 'takes one file' report a b
fails 2 '--format takes text, json or csv' report --format jsonl "$scratch/empty"
fails 2 '--format takes' report --format xml "$scratch/empty"
fails 2 'is not a time' report --from soon "$scratch/empty"
fails 2 'a ) is missing' report -f '(event:a' "$scratch/empty"

# A program that uses no code of the tool computes the same results from the same bytes.
same_as_computed()
{
	nr_checks=$((nr_checks + 1))
	"$tool" report --profile --performance --inversions --cpus --format json "$1" >"$scratch/json" ||
		complain "report fails on $1"
	"$python" "$profile" check "$1" "$scratch/json" >"$scratch/out" 2>&1 ||
		complain "$1: something else was computed: $(tail -1 "$scratch/out" | cut -c1-400)"
}

# The same for a log, computed from the list of its events.
same_as_listed()
{
	nr_checks=$((nr_checks + 1))
	"$tool" print --format json "$1" >"$scratch/events" 2>/dev/null || complain "print fails on $1"
	# shellcheck disable=SC2086  # options
	"$tool" report $all --format json "$1" >"$scratch/json" || complain "report fails on $1"
	"$python" "$profile" log "$scratch/events" "$scratch/json" >"$scratch/out" 2>&1 ||
		complain "$1: something else was computed: $(tail -1 "$scratch/out" | cut -c1-400)"
}

if [ -n "$python" ]; then
	for seed in 1 2 3 4 5 6 11 83 101 105; do
		"$python" "$profile" make "$seed" "$scratch/made-$seed" && same_as_computed "$scratch/made-$seed"
	done
fi

# Logs: their times differ from run to run, so check the sums.
"$runners" "$scratch/log" || complain 'no log was written'
"$runners" "$scratch/lossy" 20000 lose || complain 'no log with losses was written'
if [ -n "$python" ]; then
	same_as_listed "$scratch/log"
	same_as_listed "$scratch/lossy"
fi
"$tool" report "$scratch/log" >"$scratch/out" 2>"$scratch/err" || complain "report of a log: $(cat "$scratch/err")"
[ "$(head -1 "$scratch/out")" = 'lost: nothing' ] || complain "no loss line: $(head -1 "$scratch/out")"
for title in 'Execution Profile' 'Performance Statistics' 'Popular Services' Processes; do
	grep -qx "$title" "$scratch/out" || complain "a log has no $title"
done
for title in 'FileX Statistics' 'NetX Statistics' 'Thread Stack Usage' 'Priority Inversions'; do
	! grep -qx "$title" "$scratch/out" || complain "a log has $title, and nothing in it"
done
grep -q '^  left  *1959 ' "$scratch/out" || complain 'the count of an event type is wrong'
"$tool" report "$scratch/lossy" | head -1 | grep -q 'lost: [1-9][0-9]* overwritten' ||
	complain 'report does not mention a loss'
"$tool" report --filex "$scratch/log" | grep -q 'nothing in this trace' || complain 'an empty report does not say so'
"$tool" report --services -f 'event:turn thread:left*' "$scratch/log" >"$scratch/out"
grep -q '^  turn  *20  *100.00' "$scratch/out" || complain "a filter is not obeyed: $(cat "$scratch/out")"

make_samples
for sample in threadx filex netx_tcp netx_udp; do
	golden "report-$sample" report "$samples/$sample.trx"
	[ -z "$python" ] || same_as_computed "$samples/$sample.trx"
done
golden report-json report --format json "$samples/netx_tcp.trx"
golden report-csv report --format csv --tick 100 "$samples/filex.trx"
golden report-choice report --netx --stacks "$samples/netx_udp.trx"
golden report-nothing report --filex --processes --cpus --inversions "$samples/threadx.trx"
golden report-range report --profile --services --from 10ms --until 20ms "$samples/threadx.trx"
golden report-filter report --profile --inversions -f 'thread:IP*' "$samples/netx_tcp.trx"
golden report-empty report -f 'event:nothing' "$samples/threadx.trx"

# The JSON is valid, each row of a table is a line of CSV, and both have the same values.
if [ -n "$python" ]; then
	for file in "$samples"/*.trx "$scratch/log"; do
		# shellcheck disable=SC2086  # options
		"$tool" report $all --format json "$file" >"$scratch/json"
		# shellcheck disable=SC2086  # options
		"$tool" report $all --format csv "$file" >"$scratch/csv"
		"$python" - "$scratch/json" "$scratch/csv" <<'END' || complain "$file: JSON or CSV cannot be read"
import csv, json, sys
tables = json.load(open(sys.argv[1]))
rows = list(csv.DictReader(open(sys.argv[2], newline="")))
assert all(None not in row and None not in row.values() for row in rows), "a line has another number of fields"
expected = [(table, row) for table, list_of_rows in tables.items() for row in list_of_rows]
assert len(rows) == len(expected) > 20, (len(rows), len(expected))


def is_same(field, value):
    if value is None or isinstance(value, (str, bool)):
        return field in {None: [""], True: ["true", "yes"], False: ["false", "no"]}.get(value, [value])
    return field in (str(value), "%.2f" % value, "%.9f" % value)


for row, (table, values) in zip(rows, expected):
    assert row.pop("report") == table, (row, table)
    for key, field in row.items():
        assert is_same(field, values[key]) if key in values else field == "", (table, key, field, values)
END
	done
fi

# Write into a file, but not over an existing one.
"$tool" report -o "$scratch/file" "$samples/filex.trx" || complain 'report -o fails'
fails 2 'exists' report -o "$scratch/file" "$samples/filex.trx"
sed "s|$samples/||g" "$scratch/file" | cmp -s - "$golden_dir/report-filex" || complain 'report -o writes something else'
# The differences from TraceX in doc/reports.md: a trace of length 0, a thread without an object, a stack that overflows
# twice, and a thread without a stack.
printf '%s\n' 'object 1 0x1001 5 worker' 'event 0x1001 4100 100' 'event 0x2222 4100 100' 'event 0x1001 4100 100' |
	"$mktrx" >"$scratch/flat.trx"
nr_checks=$((nr_checks + 2))
"$tool" report --profile "$scratch/flat.trx" >"$scratch/out" 2>&1
grep -q '^  worker  *00001001  *2  *0  *0.000000000  *0.00$' "$scratch/out" ||
	complain "a trace of length 0: $(cat "$scratch/out")"
grep -q '^  00002222  *00002222  *1  *0 ' "$scratch/out" || complain "a thread without an object: $(cat "$scratch/out")"
printf '%s\n' 'object 1 0x1001 5 deep' 'parameters 0x20000 0x400' 'object 1 0x1002 5 flat' \
	'event 0x1001 83 100 0x4001 0 0 0x20100' \
	'event 0x1001 83 200 0x4001 0 0 0x1FFF0' 'event 0x1002 83 300 0x4001 0 0 0x30000' \
		'event 0x1001 83 400 0x4001 0 0 0x1FF00' |
	"$mktrx" >"$scratch/stacks.trx"
nr_checks=$((nr_checks + 2))
"$tool" report --stacks "$scratch/stacks.trx" >"$scratch/out" 2>&1
grep -q '^  deep  *1024  *1024  *0  *100.00  *1$' "$scratch/out" ||
	complain "a stack that overflows twice: $(cat "$scratch/out")"
! grep -q '^  flat' "$scratch/out" || complain "a thread without a stack: $(cat "$scratch/out")"
# Spans: between events that are paired by thread, or by a number in the data.
for span in '' a a= a=b =b..c a=..c a=b.. 'a=b..:u32'; do
	fails 2 '--span takes NAME=BEGIN..END' report --span="$span" "$scratch/empty"
done
"$mktrx" >"$scratch/spans.trx" <<'END' || complain 'mktrx fails'
object 1 0x1000 10 alpha
object 1 0x2000 10 beta
event 0x1000 4096 1000 1
event 0x2000 4096 1100 2
event 0x1000 4097 1200 2
event 0x2000 4097 1700 1
event 0x1000 4096 2000 3
event 0x1000 4096 2500 4
event 0x1000 4097 2600 3
event 0x2000 4097 2700 9
END
# spans OPTION...: the rows of the report, as values with blanks between them
spans()
{
	"$tool" report --tick 1000 --format json "$@" "$scratch/spans.trx" | grep '"span": .*"times"' | grep total_s |
		sed -E 's/"[a-z0-9_]*": //g; s/[{}",]//g; s/^ *//; s/ +/ /g'
}
begin=$("$tool" print --format csv --columns event "$scratch/spans.trx" | tr -d '\r' | sed -n 2p)
end=$("$tool" print --format csv --columns event "$scratch/spans.trx" | tr -d '\r' | sed -n 4p)
nr_checks=$((nr_checks + 4))
# By thread: 200 and 600 us, and 100 us after a span that began and did not end; beta ends a span that had not begun.
found=$(spans --span "work=$begin..$end")
[ "$found" = 'work 3 0.000900000 0.000300000 0.000200000 0.000600000 0.000600000 0.000600000 1 1' ] ||
	complain "spans by thread: $found"
# By number: 1 took 700 us, 2 took 100 us, 3 took 600 us; 4 has no end, and 9 no begin.
found=$(spans --span "work=$begin..$end:u32")
[ "$found" = 'work 3 0.001400000 0.000466666 0.000600000 0.000700000 0.000700000 0.000700000 1 1' ] ||
	complain "spans by number: $found"
# From an event to the next one of the same type.
found=$(spans --span "lap=$begin..$begin" -f 'thread:alpha')
[ "$found" = 'lap 2 0.001500000 0.000750000 0.000500000 0.001000000 0.001000000 0.001000000 1 0' ] ||
	complain "laps: $found"
[ "$("$tool" report --span "work=$begin..$end" --tick 1000 --format json "$scratch/spans.trx" |
	sed -n '/span_histogram/,$p' | grep -c '"times": 1}')" = 3 ] ||
	complain 'the histogram does not have three rows with one span'
finish
