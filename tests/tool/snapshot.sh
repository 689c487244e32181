#!/bin/sh
# SPDX-License-Identifier: MIT
# txtrace snapshot.
. "${srcdir:-.}/tests/tool/lib.sh"
own_streams
own_account
shot=$scratch/shot.trx

fails 2 'takes one process or stream' snapshot
fails 2 'takes one process or stream' snapshot 1 2
fails 2 'no stream' snapshot nothing
fails 2 'no stream' snapshot 1
fails 2 'unknown option --nonsense' snapshot --nonsense 1

# take [OPTION...]: take a snapshot of $pid, and copy the account before it
take()
{
	nr_checks=$((nr_checks + 1))
	cp "$record" "$scratch/before"
	"$tool" snapshot --force -q -o "$shot" "$@" "$pid" 2>"$scratch/err" ||
		complain "snapshot fails: $(cat "$scratch/err")"
	[ ! -s "$scratch/err" ] || complain "snapshot -q says: $(cat "$scratch/err")"
}

# All that was recorded before: from the rings alone, which have the newest events, or from the rings and the log.
for options in '-o -u 50' '-o -u 50 -r 60000' '-o -S until-full -u 500 -r 1000000' '-l LOG -p append -u 50' \
	'-l LOG -p append' '-l LOG -s 100000 -u 50' '-l LOG -p loop -S loop -u 50' '-l LOG -t 8 -u 200'; do
	# shellcheck disable=SC2046
	recording $(echo "$options" | sed "s|LOG|$scratch/log.trx|")
	for round in 1 2; do
		take
		case $options in
		*'-u'*) counted -e -A "$scratch/before" "$shot" ;;
		*) counted -b "$shot" ;;
		esac
	done
	"$tool" check "$shot" | grep -q ' 0 errors\|shows it correctly' ||
		complain "TraceX would not show a snapshot of $options"
	"$tool" info "$shot" | grep -q '^complete *yes' || complain "a snapshot of $options is not complete"
	ended
	case $options in *LOG*-u*) counted -e "$scratch/log.trx" ;; esac
done

# Two snapshots that have no event in common are merged, though both have the mark of what was overwritten before.
recording -o -u 50 -r 60000
wanted=20000 # the rings have room for fewer
has_more()
{
	[ "$("$account" number "$record")" -ge "$wanted" ]
}
await has_more
take
mv "$shot" "$scratch/first.trx"
wanted=$(($("$account" number "$record") + 20000))
await has_more
take
ended
# nr_counted FILE: how many events of the program it has
nr_counted()
{
	"$tool" print --format csv --columns event "$1" | grep -c '^"*counted'
}
nr_checks=$((nr_checks + 2))
"$tool" print "$scratch/first.trx" | grep -q ' posix_trace_overflow ' || complain 'nothing was overwritten before a snapshot'
"$tool" merge --force -o "$scratch/both.trx" "$scratch/first.trx" "$shot" 2>"$scratch/err" ||
	complain "two snapshots are not merged: $(cat "$scratch/err")"
[ "$(nr_counted "$scratch/both.trx")" -eq $(($(nr_counted "$scratch/first.trx") + $(nr_counted "$shot"))) ] ||
	complain 'merged snapshots lack events'

# Snapshots take no events away: the stream's own reader gets all of them.
recording -o -R -u 50
for round in 1 2 3; do
	take
	counted -b "$shot"
done
ended

# A snapshot changes nothing: the memory of a stopped program has the same bytes before and after.
for options in '-o -u 100' "-l $scratch/log.trx -u 100"; do
	# shellcheck disable=SC2086
	recording $options
	kill -STOP "$pid"
	await grep -q '^State:.T' "/proc/$pid/status"
	(cd "$TXTRACE_DIR" && sha256sum stream.* $(ls | grep "^log") ) >"$scratch/sums"
	take
	(cd "$TXTRACE_DIR" && sha256sum -c --quiet "$scratch/sums") >"$scratch/err" 2>&1 ||
		complain "a snapshot of $options changes shared memory: $(cat "$scratch/err")"
	counted -e "$shot"
	kill -CONT "$pid"
	ended
done

# A stream by its name, and by its target.
recording -o -u 100
nr_checks=$((nr_checks + 1))
"$tool" snapshot --force -o "$shot" account 2>"$scratch/err" || complain 'a stream is not found by its name'
grep -q "shot.trx: [0-9]* events" "$scratch/err" ||
	complain "snapshot does not say how many events: $(cat "$scratch/err")"
fails 2 'exists' snapshot -o "$shot" account
fails 2 'No such file' snapshot -o "$scratch/no/where" account
[ ! -w /dev/full ] || fails 2 'not a regular file' snapshot --force -o /dev/full account
ended

# Programs that are killed at random moments, and snapshots at the same time: each snapshot is complete, or there is
# none.
for round in $(seq 5); do
	recording -l "$scratch/log.trx" -s 100000 -u 20
	(
		sleep "0.0$round"
		kill -KILL "$pid"
	) &
	while kill -0 "$pid" 2>/dev/null; do
		if "$tool" snapshot --force -q -o "$shot" "$pid" 2>/dev/null; then
			counted -b "$shot"
		elif [ -e "$shot" ]; then
			rm "$shot"
		fi
		grep -q '^State:.Z' "/proc/$pid/status" 2>/dev/null && break
	done
	wait "$pid" 2>/dev/null
done
finish
