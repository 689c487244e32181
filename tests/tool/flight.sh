#!/bin/sh
# SPDX-License-Identifier: MIT
# txtrace record --flight-recorder.
. "${srcdir:-.}/tests/tool/lib.sh"
own_streams
own_account
shot=$scratch/shot.trx

fails 125 'takes a number of bytes' record --flight-recorder x true
fails 125 'takes no options for sizes' record --flight-recorder 64k --policy append true
fails 125 'takes no options for sizes' record --flight-recorder 64k --size 64k true
fails 125 'needs --flight-recorder' record --snapshot-signal USR2 true
fails 125 'takes USR1' record --flight-recorder 64k --snapshot-signal KILL true
: >"$shot"
fails 125 'exists' record --flight-recorder 64k -o "$shot" true
[ -e "$shot" ] && [ ! -s "$shot" ] || complain 'a refused recording changes a file'
rm "$shot"
fails 127 'nonsense: No such file' record --flight-recorder 64k -o "$shot" nonsense
[ ! -e "$shot" ] || complain 'a command that cannot be executed leaves a file'

# fly OPTION...: record the program that counts its events, as $recorder
fly()
{
	rm -f "$scratch"/shot*.trx "$record"
	"$tool" record --flight-recorder 200k -o "$shot" "$@" -- "$account" record -u 100 "$record" 2>"$scratch/said" &
	recorder=$!
	await listed "\"controller\":$recorder,.*\"events\":[0-9]{3}"
	pid=$("$tool" list --format json | sed -n "s/.*\"controller\":$recorder,\"target\":\([0-9]*\),.*/\1/p")
}

# Snapshots at a signal, and at the end of the program. Before that, nothing is written.
fly
[ -z "$(find "$scratch" -name 'shot*')" ] || complain 'the recorder writes before there is a snapshot'
for number in 1 2; do
	cp "$record" "$scratch/before"
	kill -USR1 "$recorder"
	await test -s "$scratch/shot.$number.trx"
	await grep -q "shot.$number.trx: snapshot" "$scratch/said"
	counted -e -A "$scratch/before" "$scratch/shot.$number.trx"
done
for number in 1 2; do
	lost=$("$tool" info "$scratch/shot.$number.trx" | sed -n 's/^lost: [a-z]*  *//p' | awk '{ sum += $1 } END { print sum }')
	told=$(sed -n "s/.*shot.$number.trx: snapshot: the newest \([0-9]*\) of \([0-9]*\) events/\2 \1/p" "$scratch/said" |
		awk '{ print $1 - $2 }')
	[ "$told" -eq "$lost" ] || complain "snapshot $number: $lost events are lost, record says $told"
done
[ ! -e "$shot" ] || complain 'the recorder writes its last snapshot before the end'
kill -TERM "$pid"
wait "$recorder" || complain "record exits with $?"
counted -e "$shot"
"$tool" info "$shot" | grep -q '^complete *yes' || complain 'the last snapshot is not complete'
"$tool" check "$shot" | grep -q 'shows it correctly' || complain 'TraceX would not show a snapshot'

# A crash at a random moment.  Sanitizers would turn SIGSEGV into an exit.
ASAN_OPTIONS=${ASAN_OPTIONS:+$ASAN_OPTIONS:}handle_segv=0
TSAN_OPTIONS="${TSAN_OPTIONS:-} handle_segv=0"
export ASAN_OPTIONS TSAN_OPTIONS
for signal in SEGV KILL ABRT; do
	fly
	kill -s "$signal" "$pid"
	wait "$recorder"
	code=$?
	[ "$code" -gt 128 ] || complain "record of a program that ends by $signal exits with $code"
	counted -e "$shot"
	[ -z "$(find "$TXTRACE_DIR" -name 'stream.*')" ] || complain 'a flight recorder leaves a stream'
done

# Here SIGUSR2 makes a snapshot, so the recorder forwards SIGTERM to the program.
fly --snapshot-signal USR2
kill -USR2 "$recorder"
await test -s "$scratch/shot.1.trx"
kill -TERM "$recorder"
wait "$recorder"
counted -e "$shot"

# A running process.
"$account" record -u 100 "$record" &
pid=$!
await_process "$pid"
rm -f "$shot"
"$tool" record --flight-recorder 200k -o "$shot" -p "$pid" 2>"$scratch/said" &
recorder=$!
await listed "\"controller\":$recorder,.*\"events\":[0-9]{3}"
kill -TERM "$recorder"
wait "$recorder" || complain "record -p exits with $?"
counted -b "$shot"
ended
finish
