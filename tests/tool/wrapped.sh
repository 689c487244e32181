#!/bin/sh
# SPDX-License-Identifier: MIT
# Small logs that are full many times over, of controllers that were killed: recover, check, print, account.
. "${srcdir:-.}/tests/tool/lib.sh"
own_streams
own_account
log=$scratch/log.trx

# word OFFSET: a word of the header of the image
word()
{
	od -An -tu4 -j "$1" -N 4 "$log" | tr -d ' '
}

# What TraceX shows first: not the rest of an event that was overwritten, and no entry RUNNING that was for such an
# event.  The three fillers at the beginning of a round belong to no event.
front_is_whole()
{
	nr_checks=$((nr_checks + 1))
	current=$((($(word 32) - $(word 24)) / 32))
	nr_entries=$((($(word 28) - $(word 24)) / 32))
	if [ "$current" -ge "$nr_entries" ]; then
		complain "$what: there is no entry $current of $nr_entries"
		return
	fi
	entry=$(($(word 24) - $(word 8) + 32 * current))
	context=$(word "$entry")
	id=$(($(word $((entry + 8))) % 65536))
	[ "$context" -ne 0 ] || complain "$what: the oldest entry has no context"
	[ "$id" -ne 4096 ] || complain "$what: the oldest entry is the rest of an overwritten event"
	[ "$current" -le 3 ] || [ "$id" -ne 6 ] || complain "$what: the oldest entry is RUNNING"
}

# judge: recover completes the log; then each command reads all of it, and every event is accounted for
judge()
{
	nr_checks=$((nr_checks + 1))
	"$tool" recover "$log" >"$scratch/said" 2>&1 || complain "$what: recover: $(cat "$scratch/said")"
	# A full log stopped the stream: what was recorded after that is not lost.
	complete=-e
	[ "$policy" = until-full ] && "$tool" info "$log" | grep -q '^log was full *yes' && complete=
	# shellcheck disable=SC2086  # an option, or none
	counted $complete "$log"
	"$tool" check "$log" >"$scratch/said" 2>&1 || complain "$what: check: $(cat "$scratch/said")"
	grep -q 'shows it correctly' "$scratch/said" || complain "$what: check: $(cat "$scratch/said")"
	"$tool" print --format csv "$log" >"$scratch/before" 2>"$scratch/said" || complain "$what: print fails"
	shown=$("$tool" print --format csv -f counted "$log" 2>/dev/null | tail -n +2 | wc -l)
	[ "$shown" -eq "$(sed 's/ events.*//' "$scratch/out")" ] ||
		complain "$what: print shows $shown events: $(cat "$scratch/out")"
	front_is_whole
	"$tool" pack "$log" >/dev/null 2>"$scratch/said" || complain "$what: pack: $(cat "$scratch/said")"
	"$tool" print --format csv "$log" 2>/dev/null | cmp -s - "$scratch/before" ||
		complain "$what: pack changes what print shows"
	front_is_whole
}

# Killed at the end: each event was recorded, so each is in the log, or was lost and is counted.
for policy in loop until-full append; do
	for case in '65536 20' '65536 30000' '200000 60000'; do
		size=${case% *}
		count=${case#* }
		what="$policy, $size bytes, $count events"
		"$account" record -l "$log" -p "$policy" -s "$size" -t 3 -n "$count" -k 9 "$record" 2>/dev/null
		[ $? -eq 137 ] || complain "$what: the program was not killed"
		judge
	done
done

# has_recorded NUMBER: whether the program has recorded as many events
has_recorded()
{
	[ "$("$account" number "$record")" -ge "$1" ]
}

# Killed at any moment.
for policy in loop until-full append; do
	for turn in 1 2 3; do
		what="$policy, turn $turn"
		recording -l "$log" -p "$policy" -s 65536 -t 3 -u 1
		await has_recorded $((turn * 4000))
		kill -9 "$pid"
		wait "$pid" 2>/dev/null
		judge
	done
done
finish
