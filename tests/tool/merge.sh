#!/bin/sh
# SPDX-License-Identifier: MIT
# txtrace merge: the order of the events, and which threads and objects of several files stay separate.
. "${srcdir:-.}/tests/tool/lib.sh"

mklog=$(pwd)/tests/tool/mklog
[ -x "$mklog" ] || { echo "FAIL: there is no $mklog"; exit 99; }
TXTRACE_DIR=$scratch
export TXTRACE_DIR

"$mktrx" >"$scratch/one.trx" <<END
object 1 0x1001 5 worker
object 5 0x5001 0 lock
object 15 0xF000004 0 tick_one
event 0x1001 4100 1000
event 0x1001 52 2000 0x5001 0 0x1001 0
event 0x1001 4101 3000
event 0x1001 57 4000 0x5001 0x1001 1 0
END
"$mktrx" >"$scratch/two.trx" <<END
big
object 1 0x1001 7 worker
object 1 0x1002 8 only here
object 5 0x5001 0 lock
object 15 0xF000004 0 tick_two
object 15 0xF000005 0 tick_one
event 0x1001 4100 500
event 0x1002 4101 1500
event 0x1001 52 2500 0x5001 0 0x1002 0
event 0x3003 57 3500 0x5001 0x1001 1 0
event 0xFFFFFFFF 3 4500
END
bad_files merge -o "$scratch/out.trx" "$scratch/one.trx"
[ ! -e "$scratch/out.trx" ] || complain 'bad input left a file'
fails 2 'needs -o' merge "$scratch/one.trx" "$scratch/two.trx"
fails 2 'two files or more' merge -o "$scratch/out.trx" "$scratch/one.trx"
fails 2 'FILE=TIME' merge -o "$scratch/out.trx" --offset 5ms "$scratch/one.trx" "$scratch/two.trx"
fails 2 'is not a time' merge -o "$scratch/out.trx" --offset "$scratch/one.trx=5" "$scratch/one.trx" "$scratch/two.trx"
fails 2 'not among the files' merge -o "$scratch/out.trx" --offset three.trx=5ms "$scratch/one.trx" "$scratch/two.trx"
fails 2 "--offset is given twice for $scratch/one.trx" merge -o "$scratch/out.trx" --offset "$scratch/one.trx=1ms" \
	--offset "$scratch/one.trx=2ms" "$scratch/one.trx" "$scratch/two.trx"
fails 2 'is an input file' merge --force -o "$scratch/one.trx" "$scratch/one.trx" "$scratch/two.trx"
fails 2 'use -o FILE' merge --split -o - "$scratch/one.trx" "$scratch/two.trx"

merge()
{
	out=$1
	shift
	nr_checks=$((nr_checks + 1))
	"$tool" merge --to trx --force -o "$out" "$@" 2>"$scratch/err" || complain "merge $*: $(cat "$scratch/err")"
	"$tool" check --strict "$out" >"$scratch/checked" || complain "merge $*: $(cat "$scratch/checked")"
}

show()
{
	golden "$1" print --columns time,cpu,priority,thread,context,event,data "$2"
}

# Two files at the same time, and then one later than the other; the first file begins before the second one, or after
# it.
merge "$scratch/out.trx" "$scratch/one.trx" "$scratch/two.trx"
show merge-together "$scratch/out.trx"
"$tool" info --objects "$scratch/out.trx" | sed '1,/^$/d' >"$scratch/objects"
golden_file merge-objects "$scratch/objects"
merge "$scratch/out.trx" --offset "$scratch/one.trx=2500us" "$scratch/one.trx" "$scratch/two.trx"
show merge-later "$scratch/out.trx"
merge "$scratch/out.trx" --offset "$scratch/two.trx=-10ms" "$scratch/one.trx" "$scratch/two.trx"
show merge-earlier "$scratch/out.trx"

# rows COLUMNS FILE ARGUMENT...: the rows of a listing without its header line, and without the CR of RFC 4180
rows()
{
	columns=$1
	file=$2
	shift 2
	"$tool" print --format csv --columns "$columns" "$@" "$file" | tr -d '\r' | sed 1d
}

# If the order uses dates, each file ends at its date; a file without a date begins with the first that has one.
merge "$scratch/out.trx" --offset "$scratch/one.trx=2026-11-21T12:30:00" --offset "$scratch/two.trx=2026-11-21T12:29:59" \
	"$scratch/one.trx" "$scratch/two.trx"
nr_checks=$((nr_checks + 2))
[ "$(rows time "$scratch/out.trx" | sed -n 6p)" = 1.000000000 ] || complain "dates: $(rows time "$scratch/out.trx")"
[ "$(stat -c %.9Y "$scratch/out.trx")" = "$(date -d 2026-11-21T12:30:00 +%s).003000000" ] ||
	complain 'dates: the file has another'
merge "$scratch/out.trx" --offset "$scratch/one.trx=2026-11-21T12:30:00" "$scratch/two.trx" "$scratch/one.trx"
nr_checks=$((nr_checks + 1))
[ "$(stat -c %.9Y "$scratch/out.trx")" = "$(date -d 2026-11-21T12:30:00 +%s).004000000" ] ||
	complain 'a file without a date does not begin with one that has'

# An event that is far older than the events before it is put in its place: three files take turns.
for i in 1 2 3; do
	{ echo "object 1 $((4096 + i)) 5 thread $i"; for j in 0 1 2 3 4 5 6 7 8 9; do
		echo "event $((4096 + i)) 4100 $((j * 30 + i * 10))"; done; } | "$mktrx" >"$scratch/turn$i.trx"
done
merge "$scratch/out.trx" --offset "$scratch/turn3.trx=20us" --offset "$scratch/turn2.trx=10us" \
	"$scratch/turn3.trx" "$scratch/turn1.trx" "$scratch/turn2.trx"
nr_checks=$((nr_checks + 1))
rows time,thread "$scratch/out.trx" >"$scratch/rows"
i=0
while [ $i -lt 30 ]; do
	printf '0.%09d,thread %d\n' $((i * 10000)) $((i % 3 + 1))
	i=$((i + 1))
done >"$scratch/expected"
cmp -s "$scratch/rows" "$scratch/expected" || complain "turns: $(diff "$scratch/expected" "$scratch/rows" | head -5)"

# Logs keep their own clock. Threads with the same process and number are one thread; those of another process are not.
# If the second log begins late, the file has a longer tick, and times are rounded to it.
for pause in 0 1; do
	"$mklog" "$scratch/early" 100 8 worker || complain 'no log could be written'
	sleep $pause
	"$mklog" "$scratch/late" 50 8 worker || complain 'no log could be written'
	first=$(rows ns "$scratch/early" | sed -n 1p)
	merge "$scratch/out.trx" "$scratch/late" "$scratch/early"
	tick=$("$tool" info "$scratch/out.trx" | sed -n 's/^tick  *\([0-9]*\) ns$/\1/p')
	nr_checks=$((nr_checks + 3))
	[ $pause -eq 0 ] || [ "$tick" -gt 1 ] || complain "a pause of a second has a tick of $tick ns"
	for log in early late; do
		rows ns,cpu,hex "$scratch/$log" -f 'event:*_step'
	done | while IFS=, read -r ns rest; do
		echo "$(((ns - first + tick / 2) / tick * tick)),${rest}0000000000000000" \
			# awk's numbers are not that exact
	done >"$scratch/expected"
	rows ns,cpu,hex "$scratch/out.trx" -f 'event:*-step' >"$scratch/rows"
	[ "$(wc -l <"$scratch/expected")" -eq 150 ] || complain 'the logs have other events than 150'
	cmp -s "$scratch/expected" "$scratch/rows" ||
		complain "logs: $(diff "$scratch/expected" "$scratch/rows" | head -4)"
done
nr_checks=$((nr_checks + 2))
"$tool" info --objects "$scratch/out.trx" | grep -q ' early: ' && complain 'names with numbers clash'
"$tool" info --types "$scratch/out.trx" | grep -c 'step$' | grep -qx 2 ||
	complain "types of one name are several: $("$tool" info --types "$scratch/out.trx")"
fails 2 'hold the same log' merge --force -o "$scratch/out.trx" "$scratch/early" "$scratch/late" "$scratch/early"
cp "$scratch/early" "$scratch/copied"
fails 2 'hold the same log' merge --force -o "$scratch/out.trx" "$scratch/early" "$scratch/copied"
cp "$scratch/one.trx" "$scratch/other_one.trx"
fails 2 'hold the same buffer' merge --force -o "$scratch/out.trx" "$scratch/one.trx" "$scratch/other_one.trx"
fails 2 " $scratch/nosuch/m.trx: No such file" merge -o "$scratch/nosuch/m.trx" "$scratch/early" "$scratch/late"
nr_checks=$((nr_checks + 1))
"$tool" merge --to log --tick 5 --force -o "$scratch/out.trx" "$scratch/early" "$scratch/late" 2>"$scratch/err" ||
	complain "merge --tick with logs: $(cat "$scratch/err")"
grep -q -e '--tick changes nothing' "$scratch/err" || complain "merge --tick with logs says: $(cat "$scratch/err")"

# A log is moved in time so that a trace buffer begins with it.
merge "$scratch/out.trx" --offset "$scratch/early=1s" "$scratch/early" "$scratch/one.trx"
last=$(rows ns "$scratch/early" | tail -1)
nr_checks=$((nr_checks + 2))
[ "$(rows time,event "$scratch/out.trx" --tick 1 | sed -n '1,2p' | cut -d, -f1 | uniq | wc -l)" -eq 1 ] ||
	complain 'a trace buffer does not begin with the log'
[ "$(stat -c %.9Y "$scratch/out.trx" | tr -d .)" -ge $((last + 1000000000)) ] || complain 'a log is not moved'
# An event id of one file has another name in the other file: a filter takes the events of both by their names.
"$mklog" "$scratch/first" 40 8 first && "$mklog" "$scratch/second" 60 8 second 0 reversed ||
	complain 'no logs could be written'
for filter in event:even_step even_step 'event!=odd_step and event:*_step' 'not odd_step and *_step'; do
	merge "$scratch/out.trx" -f "$filter" "$scratch/first" "$scratch/second"
	[ "$(rows event "$scratch/out.trx" | grep -v RUNNING | sort | uniq -c | tr -s ' ')" = ' 50 even-step' ] ||
		complain "merge -f '$filter' takes $(rows event "$scratch/out.trx" | sort | uniq -c)"
	nr_checks=$((nr_checks + 1))
	"$tool" diff -f "$filter" "$scratch/first" "$scratch/second" >"$scratch/differs"
	grep -q '^even_step  *20  *30  *+50.0 %' "$scratch/differs" && ! grep -q odd_step "$scratch/differs" ||
		complain "diff -f '$filter': $(cat "$scratch/differs")"
done
finish
