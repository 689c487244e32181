#!/bin/sh
# SPDX-License-Identifier: MIT
# Files with a size or with times that do not fit into 32 bits: the object treats them as others. On machines of 32 bits
# the functions stat() and fstat() of the C library fail for them. (For programs that are executed, see images.sh.)
. "${srcdir:-.}/tests/preload/acts.sh"

late=4102444800 # the year 2100
touch -d "@$late" file
[ "$(stat -c %Y file)" = "$late" ] || { echo "SKIP: no times of the year 2100 here"; exit 77; }

# A FIFO: the open waits for the writer.
mkfifo fifo
touch -d "@$late" fifo
(sleep 0.3 && echo text >fifo) &
run TXTRACE_OUT=log.trx sh -c 'read line <fifo; echo "$line"'
wait
is 'what is read' text "$(cat out)"
is 'the wait of the open' 'begins ends' \
	"$("$tool" print log.trx | sed -n 's/.* open .*path="fifo".* wait=\(.*\)$/\1/p' | paste -sd ' ')"

# A file never waits, so a read is one event, and the object asks for its kind once. With an unknown kind it would ask
# before each read.
if command -v strace >/dev/null && strace true 2>/dev/null; then
	for when in 0 "$late"; do
		printf '%s\n' 1 2 3 4 5 6 7 8 9 >numbers
		touch -d "@$when" numbers
		strace -f -e trace='/^(f?stat.*|statx|newfstatat)$' -o "calls.$when" \
			env LD_PRELOAD="$object" TXTRACE_OUT="read.$when.trx" \
			sh -c 'while read line; do :; done <numbers' >out 2>err </dev/null
		is "events of a file of $when" 0 "$("$tool" print "read.$when.trx" | grep -c ' read .*wait=')"
	done
	# Other threads look at other files, and their number depends on the load.
	is 'whether a file is looked at' yes "$(grep -q 'stat[a-z0-9]*(0,' calls.0 && echo yes)"
	is 'how often a late file is looked at' "$(grep -c 'stat[a-z0-9]*(0,' calls.0)" "$(grep -c 'stat[a-z0-9]*(0,' "calls.$late")"
else
	echo 'SKIP how often a file is looked at: no strace, or it is refused'
fi

# A log with late times, in a directory with late times, before and after exec.
for when in 1000000000 "$late"; do
	mkdir "logs.$when"
	touch -d "@$when" "logs.$when"
	run TXTRACE_OUT="logs.$when/log.trx" \
		sh -c "LD_PRELOAD= touch -d @$when logs.$when/log.trx; exec '$scenes' threads 3"
	is "status with logs of $when" 0 "$code"
	is "messages with logs of $when" '' "$(cat err)"
	is "streams with logs of $when that are left" '' "$(ls "$TXTRACE_DIR" | grep -E '^(stream|log)\.')"
	is "logs of $when that exec and exit complete" "$(ls "logs.$when" | grep -c .)" \
		"$(for log in "logs.$when"/*; do "$tool" recover "$log" 2>&1; done | grep -c 'complete already')"
	for log in "logs.$when"/*; do
		accepted "$log"
	done
done
is 'logs with late times' "$(ls logs.1000000000)" "$(ls "logs.$late")"
finish
