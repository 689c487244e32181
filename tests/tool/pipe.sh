#!/bin/sh
# SPDX-License-Identifier: MIT
# record -o -: a log on its way through a pipe. The other end has all events at the end, and at each cut those that had come
# before, in their order and whole.
. "${srcdir:-.}/tests/tool/lib.sh"
own_streams
own_account
cd "$scratch" || exit 99
mkdir tmp
TMPDIR=$scratch/tmp
export TMPDIR

fails 125 'takes only --policy append' record -o - --policy loop true
fails 125 'use -o FILE' record -o - --flight-recorder 1M true

# left_nothing WHAT: no temporary file stays
left_nothing()
{
	nr_checks=$((nr_checks + 1))
	[ -z "$(ls tmp)" ] || complain "$1: this stays in TMPDIR: $(ls -R tmp)"
}

# All events are there, with what the tool says of them; the output of the program is on standard error.
{ "$tool" record -o - sh -c "echo hello; exec \"$account\" record -t 3 -n 3000 -u 150 \"$record\"" 2>err; echo $? >code; } >sent
nr_checks=$((nr_checks + 3))
[ "$(cat code)" = 0 ] || complain "record -o - exits with $(cat code): $(cat err)"
grep -q '^hello$' err || complain "standard output of the program: $(cat err)"
grep -q 'standard output: .* events, none lost' err || complain "the result: $(cat err)"
left_nothing 'a recording'
"$tool" pack -o whole.trx - <sent >out 2>err || complain "pack -o whole.trx - fails: $(cat err)"
counted -a whole.trx
"$tool" check whole.trx >out 2>err || complain "check: $(cat out err)"
"$tool" print --format csv - <sent >all 2>err || complain "print -: $(cat err)"
"$tool" print --format csv whole.trx | cmp -s - all || complain 'print shows other events of the pipe than of the file'
[ ! -s err ] || complain "print of a whole log says: $(cat err)"
gzip -c sent >sent.gz
nr_checks=$((nr_checks + 2))
"$tool" print --format csv sent.gz 2>err | cmp -s - all || complain "a compressed one differs: $(cat err)"

# A file of what was sent is no log yet, and the tool says how it becomes one.
nr_checks=$((nr_checks + 1))
"$tool" check sent >out 2>err
[ $? -eq 1 ] && grep -q 'txtrace pack -o FILE .*(log-sent)' out && ! grep -q correctly out ||
	complain "check of what was sent: $(cat out err)"
for command in pack recover follow; do
	fails 2 'sends, and not yet a log; txtrace pack -o FILE makes a log' "$command" sent
done

# What is said of the log names standard output, and no temporary file.
if has_preload; then
	nr_checks=$((nr_checks + 2))
	"$tool" record -o - --preload sh -c '(:); (:); :' >sent.calls 2>err || complain "record --preload -o -: $(cat err)"
	grep -q '^txtrace: standard output: no child process was traced' err || complain "a program with children: $(cat err)"
	! grep -q log.trx err || complain "record -o - names a temporary file: $(cat err)"
	left_nothing 'a preloaded program'
fi

# The connection ends anywhere: the events are the first ones. The log learns the names of threads later than their events.
events='--format csv --columns number,ns,event,size,data'
# shellcheck disable=SC2086  # several words
"$tool" print $events - <sent >all 2>err
size=$(wc -c <sent)
last=0
states=0
for part in $(seq 1 40); do
	head -c $((size * part / 41)) sent >cut
	nr_checks=$((nr_checks + 1))
	# shellcheck disable=SC2086
	"$tool" print $events - <cut >some 2>err
	grep -q 'the log that was sent ends early' err || complain "a cut after $part of 41 parts is not told: $(cat err)"
	head -c "$(wc -c <some)" all | cmp -s - some || complain "a cut after $part of 41 parts: not the first events"
	now=$(wc -l <some)
	[ "$now" -ge "$last" ] || complain "after $part of 41 parts, there are $now events, and before there were $last"
	[ "$now" -eq "$last" ] || states=$((states + 1))
	last=$now
done
nr_checks=$((nr_checks + 1))
[ "$states" -ge 2 ] || complain "the log was sent in $states steps"

# The end sends most of the log once more; without its last byte, all events are there. A connection that ends at once.
head -c $((size - 1)) sent >cut
nr_checks=$((nr_checks + 3))
"$tool" info - <cut >out 2>err
grep -q '^complete  *no: the stream ended before the log was complete$' out || complain "info of a cut one: $(cat out err)"
"$tool" pack -o cut.trx - <cut >out 2>err || complain "pack of a cut one: $(cat out err)"
counted -a cut.trx
"$tool" record -o - true 2>err | cat >short
head -c $(($(wc -c <short) - 1)) short >cut
"$tool" print - <short >all 2>err
"$tool" print - <cut >out 2>err
[ "$(wc -l <all)" -gt 2 ] && cmp -s all out || complain "a short recording without its last byte: $(cat err)"
head -c 100 sent >cut
"$tool" pack -o none.trx - <cut >out 2>err
[ $? -eq 2 ] && [ ! -e none.trx ] && grep -q 'ends early, before any part' err && ! grep -q machine err ||
	complain "pack of the first 100 bytes: $(cat out err)"

# Bytes that are wrong: nothing crashes.
for seed in $(seq 1 25); do
	awk -v seed="$seed" -v size="$size" 'BEGIN {
		srand(seed)
		for (i = 0; i < 4; i++)
			print int(rand() * (seed % 2 ? 200 : size)), int(rand() * 256)
	}' >places
	cp sent wrong
	while read -r at value; do
		# shellcheck disable=SC2059  # an octal escape
		printf "$(printf '\\%03o' "$value")" | dd of=wrong bs=1 seek="$at" conv=notrunc 2>/dev/null
	done <places
	nr_checks=$((nr_checks + 1))
	"$tool" print - <wrong >out 2>&1
	[ $? -le 2 ] || complain "wrong bytes at $(tr '\n' ' ' <places): it exits with $?"
done

# The events are there while the program runs, and what the killed recorder had sent stays.
"$tool" record -o - "$account" record -t 2 -u 300 "$record" >sent 2>err &
recorder=$!
is_there()
{
	[ "$("$tool" print - <sent 2>/dev/null | wc -l)" -gt 200 ]
}
await is_there
kill -9 "$recorder"
wait "$recorder" 2>/dev/null
nr_checks=$((nr_checks + 2))
"$tool" print - <sent >out 2>err
[ "$(wc -l <out)" -gt 200 ] || complain "a killed recorder leaves $(wc -l <out) events"
grep -q 'ends early' err || complain "a killed recorder is not told: $(cat err)"
pkill -TERM -f "$record" 2>/dev/null
rm -rf tmp/*

# Nobody reads any more: the program goes on, and the log stays.
{ "$tool" record -o - "$account" record -t 2 -n 4000 -u 200 "$record" 2>err; echo $? >code; } | head -c 100 >out
nr_checks=$((nr_checks + 2))
[ "$(cat code)" = 125 ] || complain "without a reader, record exits with $(cat code)"
kept=$(sed -n 's/.*the log is in \(.*\)/\1/p' err)
[ -f "$kept" ] || complain "the log is not kept: $(cat err)"
counted -a "$kept"
rm -rf tmp/*

# A reader that was slow once gets later events in time.
mkfifo slow
{ sleep 2; exec cat >sent; } <slow &
reader=$!
"$tool" record -q -o - "$account" record -t 2 -u 20 "$record" >slow 2>err &
recorder=$!
sleep 5
kill -9 "$recorder" "$reader"
wait "$recorder" "$reader" 2>/dev/null
pkill -TERM -f "$record" 2>/dev/null
nr_checks=$((nr_checks + 1))
"$tool" print --format csv --columns ns - <sent 2>err |
	awk 'NR == 2 { first = $1 } END { print ($1 - first) / 1e9 }' >last
awk '{ exit !($1 > 3) }' last || complain "a reader that slept for 2 s of 5 has $(cat last) s: $(cat err)"
rm -rf tmp/*

# A reader that neither reads nor goes away: a signal after the end ends the recording, and the log stays.
sleep 1000 <slow &
reader=$!
"$tool" record -o - "$account" record -t 2 -n 4000 "$record" >slow 2>err &
recorder=$!
has_log()
{
	! kill -0 "$recorder" 2>/dev/null || [ "$("$account" number "$record")" -eq 8000 ]
}
await has_log
tries=0
while kill -0 "$recorder" 2>/dev/null && [ "$tries" -lt 50 ]; do
	sleep 0.2
	kill -TERM "$recorder" 2>/dev/null
	tries=$((tries + 1))
done
kill -KILL "$reader" 2>/dev/null
wait "$recorder" 2>/dev/null
code=$?
wait "$reader" 2>/dev/null
nr_checks=$((nr_checks + 2))
[ "$tries" -lt 50 ] && [ "$code" -eq 125 ] || complain "record with a reader that sleeps: $tries signals, it exits with $code"
kept=$(sed -n 's/.*the log is in \(.*\)/\1/p' err)
[ -f "$kept" ] || complain "a signal after the end: the log is not kept: $(cat err)"
counted -a "$kept"
rm -rf tmp/*

# A command that is not there leaves an empty log; a process that runs.
"$tool" record -o - "$scratch/no such program" >sent 2>err
code=$?
nr_checks=$((nr_checks + 1))
[ "$code" -eq 127 ] || complain "a command that is not there: $(cat err)"
left_nothing 'a command that is not there'
"$account" record -t 2 -u 300 "$record" &
pid=$!
await_process "$pid"
"$tool" record -q -o - -p "$pid" >sent 2>err &
recorder=$!
await is_there
ended
wait "$recorder" || complain "record -p exits with $?: $(cat err)"
"$tool" pack -o running.trx - <sent >out 2>err || complain "pack: $(cat err)"
nr_checks=$((nr_checks + 1))
counted -b -e running.trx
left_nothing 'a running process'
finish
