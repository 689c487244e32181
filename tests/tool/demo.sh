#!/bin/sh
# SPDX-License-Identifier: MIT
# txtrace demo.
. "${srcdir:-.}/tests/tool/lib.sh"
own_streams

log=$scratch/demo.trx
fails 2 'takes no argument' demo x
"$tool" demo -o "$log" 2>"$scratch/err" || complain "demo fails: $(cat "$scratch/err")"
grep -qF "wrote $log" "$scratch/err" || complain "demo says: $(cat "$scratch/err")"
fails 2 'exists; --force overwrites it' demo -o "$log"
"$tool" demo --force -o "$log" 2>"$scratch/err" || complain "demo --force fails: $(cat "$scratch/err")"
fails 2 'No such file' demo -o "$scratch/no/where"
fails 2 'is a directory' demo --force -o "$scratch"
(cd "$scratch" && rm demo.trx && "$tool" demo 2>err) || complain 'demo without -o fails'
[ -e "$log" ] || complain 'demo without -o does not write demo.trx'

# The log is complete and interesting: each order goes through the kitchen once, and sometimes a thread waits.
"$tool" check "$log" >"$scratch/out" || complain "check finds: $(cat "$scratch/out")"
"$tool" info "$log" | grep -q '^complete *yes' || complain 'the log is not complete'
"$tool" print --format csv --columns event,thread "$log" | tail -n +2 | tr -d '"\r' >"$scratch/events"
count()
{
	nr_checks=$((nr_checks + 1))
	found=$(grep -c -e "^$2," "$scratch/events")
	[ "$found" -eq "$1" ] || complain "demo has $found times '$2', not $1"
}
for event in 'order placed' 'order taken' 'oven wanted' 'oven begin' 'oven end' 'order served'; do
	count 120 "$event"
done
grep -q '^queue full,client [12] ' "$scratch/events" || complain 'no client ever waits'
nr_checks=$((nr_checks + 1))
[ "$("$tool" print -f "data:1003" "$log" | wc -l)" -ge 7 ] || complain "the way of an order is not to be seen"
for thread in 'client 1' 'client 2' 'cook 1' 'cook 2' 'cook 3'; do
	nr_checks=$((nr_checks + 1))
	grep -q ",$thread " "$scratch/events" || complain "there is no thread $thread"
done

# The commands about waits must find something, which only calls show.
if own_preload; then
	nr_checks=$((nr_checks + 5))
	"$tool" blocked "$log" >"$scratch/out"
	grep -q '^  oven  *[1-9]' "$scratch/out" || complain "no thread waits for the oven: $(cat "$scratch/out")"
	grep -q '^  queue changed  *[1-9]' "$scratch/out" ||
		complain "no thread waits for an order: $(cat "$scratch/out")"
	"$tool" locks "$log" >"$scratch/out"
	grep -q '^  oven  *120 ' "$scratch/out" || complain "the oven was not taken 120 times: $(cat "$scratch/out")"
	# As CSV: in the table, a thread with several mutexes has its name in the first of its rows only.
	"$tool" report --inversions --format csv "$log" >"$scratch/out"
	grep -q ',cook [12] [0-9]*,oven,.*,cook 3 ' "$scratch/out" ||
		complain "no priority inversion: $(cat "$scratch/out")"
	"$tool" print --format csv --columns thread,time -f 'data.mutex:oven data.wait:begins' "$log" | tr -d '\r"' |
		sed -n '2s/,\(.*\)/@\1s/p' >"$scratch/wait"
	"$tool" why "$log" "$(cat "$scratch/wait")" >"$scratch/out"
	grep -q 'oven was held by cook' "$scratch/out" || complain "why does not say it: $(cat "$scratch/out")"
fi
finish
