#!/bin/sh
# SPDX-License-Identifier: MIT
# A log that has more than 2^32 events behind it: each command counts them, and reads those that are there.
. "${srcdir:-.}/tests/tool/lib.sh"
log=$scratch/far.trx

# 2,000 events around 2^32; a call after each tenth.
awk 'BEGIN {
	for (i = 0; i < 2000; i++) {
		print i * 10, "event 101 0"
		if (i % 10 == 0)
			print i * 10 + 1, "call 102 0 pthread_mutex_lock whole 10 0 0 0"
	}
}' >"$scratch/description"
far=4294966296 lost=8589932592
"$mksched" "$log" "$far" <"$scratch/description" || complain 'no log could be written'

# says TEXT COMMAND...: what a command prints has a line with this
says()
{
	text=$1
	shift
	nr_checks=$((nr_checks + 1))
	"$tool" "$@" >"$scratch/out" 2>&1 || complain "txtrace $* exits with $?: $(tail -3 "$scratch/out")"
	grep -qE -e "$text" "$scratch/out" || complain "txtrace $* does not say '$text': $(head -20 "$scratch/out")"
}

# shown NUMBER OPTION...: print shows so many events
shown()
{
	wanted=$1
	shift
	nr_checks=$((nr_checks + 1))
	number=$("$tool" print --format csv "$@" "$log" 2>/dev/null | tail -n +2 | wc -l)
	[ "$number" -eq "$wanted" ] || complain "print $* shows $number events, not $wanted"
}

says '^events +2200$' info "$log"
says "^lost: dropped +$lost\$" info "$log"
says "\"lost_dropped\": $lost,\$" info --format json "$log"
says 'shows it correctly' check "$log"
says "$lost dropped" print "$log"
shown 2200
shown 200 -f pthread_mutex_lock
shown 2000 -f 'thread ~ *101'
shown 110 --from 1ms --until 1.999ms
says 'pthread_mutex|0x10|mutex' locks "$log"
says . report "$log"
"$tool" pack "$log" >/dev/null || complain 'pack fails'
shown 2200
says "^lost: dropped +$lost\$" info "$log"
finish
