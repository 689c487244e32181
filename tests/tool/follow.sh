#!/bin/sh
# SPDX-License-Identifier: MIT
# txtrace follow.
. "${srcdir:-.}/tests/tool/lib.sh"
own_streams

fails 2 'takes one process' follow
fails 2 'takes one process' follow 1 2
fails 2 'No such file' follow x
fails 2 'there is no process' follow 2147483646
fails 2 'no column' follow --columns nonsense $$
fails 2 'a value is missing' follow -f 'event:' $$
fails 2 'takes a number of bytes' follow --size x $$

# begin COUNT ARGUMENT...: follow a program that records this many events after that, to its end.
begin()
{
	count=$1
	shift
	nr_checks=$((nr_checks + 1))
	rm -f "$scratch/gate"
	"$subject" -w "$scratch/gate" -n "$count" &
	pid=$!
	await_process "$pid"
	"$tool" follow "$@" "$pid" >"$scratch/out" 2>"$scratch/err" &
	follower=$!
	await_stream "$pid"
	: >"$scratch/gate"
	wait "$follower" || complain "follow $* fails: $(cat "$scratch/err")"
	wait "$pid"
}

# Until the process ends: all events that it recorded.
begin 1000 --columns number,pid,thread,event,data
sed -e "s/\<$pid\>/PID/g" -e 's/  *$//' -e 's/   */  /g' "$scratch/out" >"$scratch/shown"
sed -n -e 1,5p -e '$p' "$scratch/shown" >"$scratch/part"
golden_file follow-all "$scratch/part"
[ "$(wc -l <"$scratch/out")" -eq 1003 ] || complain "follow prints $(wc -l <"$scratch/out") lines"
[ ! -s "$scratch/err" ] || complain "follow says: $(cat "$scratch/err")"

begin 100 -f 'tock and data.n>=50' --type 'tock=i32 n' --format csv --columns event,data.n
[ "$(grep -c '^tock,"*[5-9][0-9]' "$scratch/out")" -eq 25 ] || complain "follow -f prints $(cat "$scratch/out")"
[ "$(wc -l <"$scratch/out")" -eq 26 ] || complain 'follow -f prints more'

begin 10 --format json --type 'tick=i32 n' --type 'tock=i32 n'
if has_program python3 'follow --format json is JSON'; then
	python3 -c 'import json, sys
events = json.load(open(sys.argv[1]))
assert [event["data"] for event in events if event["event"] in ("tick", "tock")] == [{"n": i} for i in range(10)]' \
		"$scratch/out" || complain 'follow --format json is no JSON'
fi

# follow reports losses.
begin 200000 --size 4k --columns event
grep -q 'events were lost here' "$scratch/err" || complain 'follow does not report losses'
# START and STOP are events of the stream, too, and are lost if follow comes to its turn late.
lost=$(sed -n 's/.*: \([0-9]*\) events were lost in all$/\1/p' "$scratch/err")
told=$(sed -n 's/.*: \([0-9]*\) events* w[a-z]* lost here$/\1/p' "$scratch/err" | awk '{ sum += $1 } END { print sum }')
seen=$(grep -cE '^(t[io]ck|posix_trace_(start|stop))' "$scratch/out")
[ $((lost + seen)) -eq 200002 ] ||
	complain "of 200002 events $lost were lost and $seen printed, at the end $(tail -n 3 "$scratch/out" | tr '\n' ' ')"
[ "$told" -ge "$lost" ] || complain "follow tells of $told losses at their places, and of $lost in all"

# Until a signal ends follow, or its reader closes the pipe.
"$subject" -n 100000 -u 1000 &
pid=$!
"$tool" follow "$pid" >"$scratch/out" 2>"$scratch/err" &
follower=$!
await_stream "$pid"
sleep 0.3
kill -TERM "$follower"
wait "$follower" || complain 'follow that was ended fails'
tail -1 "$scratch/out" | grep -q posix_trace_stop || complain "the last line of follow is $(tail -1 "$scratch/out")"
"$tool" follow "$pid" 2>"$scratch/err" | head -2 >"$scratch/out"
[ "$(wc -l <"$scratch/out")" -eq 2 ] || complain 'follow | head prints something else'
[ ! -s "$scratch/err" ] || complain "follow | head says: $(cat "$scratch/err")"
kill -0 "$pid" || complain 'follow ends the process'
[ -z "$(find "$TXTRACE_DIR" -name 'stream.*')" ] || complain 'follow leaves a stream'
kill "$pid"

# A process that cannot be traced.
sleep 60 &
pid=$!
"$tool" follow "$pid" >"$scratch/out" 2>"$scratch/err" &
follower=$!
await grep -q 'does not use libposixtrace; waiting' "$scratch/err" ||
	complain "of sleep follow says: $(cat "$scratch/err")"
kill "$follower"
wait "$follower"
kill "$pid"
finish
