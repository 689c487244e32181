#!/bin/sh
# SPDX-License-Identifier: MIT
# A log of three days: the stamps of its image wrap each 7 minutes, and each command shows the true times.
. "${srcdir:-.}/tests/tool/lib.sh"
log=$scratch/days.trx

# A call each 5 minutes for three days, which waits for a second: 864 calls.  The viewer needs fillers between them.
awk 'BEGIN {
	for (i = 0; i < 864; i++) {
		at = i * 300000000 + 1000
		# print of mawk writes numbers of over 2^31 as 2.4e+09.
		printf "%.0f call 101 0 pthread_mutex_lock begins 10 0 0 0\n", at
		printf "%.0f call 101 0 pthread_mutex_lock ends 10 0 0 0\n", at + 1000000
		printf "%.0f call 101 0 pthread_mutex_unlock whole 10 0 0 0\n", at + 2000000
	}
}' >"$scratch/description"
"$mksched" "$log" <"$scratch/description" || complain 'no log could be written'

# says TEXT COMMAND...: what a command prints has a line with this
says()
{
	text=$1
	shift
	nr_checks=$((nr_checks + 1))
	"$tool" "$@" >"$scratch/out" 2>&1 || complain "txtrace $* exits with $?: $(tail -3 "$scratch/out")"
	grep -qE -e "$text" "$scratch/out" || complain "txtrace $* does not say '$text': $(head -20 "$scratch/out")"
}

# Times as they are read: the last event is 863 * 300 + 2 seconds after the first one.
last()
{
	nr_checks=$((nr_checks + 1))
	"$tool" print --format csv --columns ns,event "$1" >"$scratch/events" 2>"$scratch/err" || complain "print fails"
	tail -n +2 "$scratch/events" | tr -d '\r' | awk -F, '
		NR == 1 { first = $1 }
		{ if ($1 - first < before) back++; before = $1 - first }
		END { printf "%.0f s, %d events, %d steps back\n", before / 1000000000, NR, back }' >"$scratch/out"
	[ "$(cat "$scratch/out")" = '258902 s, 2592 events, 0 steps back' ] || complain "$1: $(cat "$scratch/out")"
}

last "$log"
says '^duration *258902\.' info "$log"
says 'shows it correctly' check "$log"
"$tool" pack "$log" >/dev/null || complain 'pack fails'
last "$log"
says 'shows it correctly' check "$log"
says '258902' report "$log"
says 'pthread_mutex|0x10|mutex' locks "$log"
for command in blocked why 'print --from 48h --until 49h' 'export --to jsonl -o -' 'report --from 25h --until 26h'; do
	# shellcheck disable=SC2086  # a command and its options
	says . $command "$log"
done
hour=$("$tool" print --format csv --from 48h --until 49h "$log" 2>/dev/null | tail -n +2 | wc -l)
[ "$hour" -eq 36 ] || complain "an hour has $hour events, not 36"

# The image has no gap that is too long for the viewer: TraceX shows the true length.
nr_checks=$((nr_checks + 1))
"$tool" info "$log" | grep 'TraceX shows short' && complain 'the image has shorter gaps'
"$tool" export --to trx -o "$scratch/out.trx" "$log" >/dev/null 2>&1 || complain 'export to trx fails'
says 'shows it' check "$scratch/out.trx"
says '^duration *258902\.' info "$scratch/out.trx"
finish
