#!/bin/sh
# SPDX-License-Identifier: MIT
# txtrace blocked.
. "${srcdir:-.}/tests/tool/lib.sh"
. "$top/tests/tool/wait_samples.sh"

mklog=$(pwd)/tests/tool/mklog
[ -x "$mklog" ] || { echo "FAIL: there is no $mklog"; exit 99; }

bad_files blocked
fails 2 'takes one file' blocked
fails 2 'takes one file' blocked a b
fails 2 '--format takes text, json or csv' blocked --format jsonl "$scratch/empty"
fails 2 '--sort takes' blocked --sort size "$scratch/empty"
fails 2 '--by takes' blocked --by mutex "$scratch/empty"
fails 2 '--by takes object, thread or site' blocked --by place "$scratch/empty"
fails 2 'a ) is missing' blocked -f '(event:a' "$scratch/empty"

waits_make
cd "$scratch" || exit 99
golden blocked-deadlock blocked deadlock
golden blocked-thread blocked --by thread --sort name flags
golden blocked-convoy blocked --format csv convoy
golden blocked-range blocked --from 20us --until 1s --format json flags

# The test made the convoy, so its times are known: the expected values come from the rules, and not from an earlier
# output. There are 3 waits at its beginning and 58 turns; all but the last three end.
nr_checks=$((nr_checks + 1))
"$tool" blocked --format csv convoy >out
for value in waits,61 unended,3; do
	values object <out | grep -qx "blocked,A,$value" || complain "a convoy does not have $value: $(cat out)"
done

# Sorted output is sorted by the number that the option names.
for order in total waits p50 p99 max; do
	nr_checks=$((nr_checks + 1))
	"$tool" blocked --format json --sort $order flags >out
	[ $order = waits ] && key=waits || key=${order}_s
	tr ',' '\n' <out | sed -n "s/.*\"$key\": //p" >numbers
	sort -gr numbers | cmp -s - numbers || complain "--sort $order is another order: $(cat numbers)"
	[ "$(wc -l <numbers)" -eq 3 ] || complain "--sort $order has not three rows"
done

make_samples
for sample in threadx filex netx_tcp netx_udp; do
	golden "blocked-$sample" blocked "$samples/$sample.trx"
done

# A line of text has at most 80 characters; --wide shows all columns, and a line says so.
"$tool" blocked "$samples/netx_tcp.trx" >out
nr_checks=$((nr_checks + 2))
[ "$(wc -L <out)" -le 80 ] || complain "the table is wider than 80 characters: $(cat out)"
grep -q '^  --wide also shows .*Type.*p99' out || complain "the table does not say what is left out: $(cat out)"
"$tool" blocked --wide "$samples/netx_tcp.trx" >out
for column in Type Unended p50 p99 'Longest Waiter' Holder Which; do
	nr_checks=$((nr_checks + 1))
	sed -n 3p out | grep -q "$column" || complain "--wide does not show $column"
done

# A trace buffer that was made from a log: "idle" ends the wait for the lock, because it is not known which thread
# unlocked it. So the holder is not known either.
"$mktrx" >idle.trx <<'END' || complain 'no buffer with idle was made'
object 1 0x1000 10 alpha
object 1 0x1FFFFFE 0 idle
object 4 0x60 1 permit
event 0x1000 83 100 0x60 -1 1 0
event 0x1000 88 200 0x60 0 0 0
event 0x1000 83 1000 0x60 -1 0 0
event 0x1000 2 1001 0x1000 6 0 0x1FFFFFE
event 0x1FFFFFE 1 2000 0x1000 6 0 0x1000
event 0x1000 88 3000 0x60 0 0 0
END
nr_checks=$((nr_checks + 1))
"$tool" blocked --format json idle.trx >out 2>&1
grep -q '"object": "permit".*"waits": 1, .*"holder": null' out || complain "idle holds a lock: $(cat out)"

# A log without calls has no waits, and the commands say how to get them.
"$mklog" log 10 8 worker || complain 'no log could be written'
for command in blocked locks why; do
	nr_checks=$((nr_checks + 1))
	"$tool" $command log >out 2>err || complain "$command fails for a log without calls"
	grep -q 'txtrace record --preload' err || complain "$command does not say how to record calls: $(cat out err)"
done
golden blocked-filter blocked -f 'thread:control' "$samples/threadx.trx"
finish
