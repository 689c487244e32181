# SPDX-License-Identifier: MIT
# Trace buffers for blocked.sh, locks.sh, waits.sh and why.sh: sourced, behind lib.sh.
#
#	waits_make	$scratch/deadlock, gate, convoy, flags, turns, lost

threads='object 1 0x1000 10 alpha
object 1 0x2000 10 beta
object 1 0x3000 10 gamma
object 1 0x4000 10 delta'
mutexes='object 5 0x50 0 A
object 5 0x51 0 B
object 5 0x52 0 G
object 5 0x53 0 C
object 5 0x54 0 D'

# The action of a thread at a time: it gets a free mutex, asks for a mutex that another thread has, or unlocks a mutex.
get() { echo "event $1 52 $3 $2 -1 0 0"; }
ask() { echo "event $1 52 $3 $2 -1 $4 1"; echo "event $1 2 $(($3 + 1)) $1 13 0 0"; }
put() { echo "event $1 57 $3 $2 $1 1"; }
resume() { echo "event $1 1 $3 $2 13 0 0"; }

# alpha has A and wants B, beta has B and wants A, gamma wants A: alpha and beta for ever, and so gamma.
make_deadlock()
{
	echo "$threads"
	echo "$mutexes"
	get 0x1000 0x50 1000
	get 0x2000 0x51 2000
	ask 0x1000 0x51 3000 0x2000
	ask 0x2000 0x50 4000 0x1000
	ask 0x3000 0x50 5000 0x1000
	echo 'event 0x4000 4096 1004000'
}

# A and B are taken in both orders, but with G held; C and D without; E and F by one thread only.
make_gate()
{
	echo "$threads"
	echo "$mutexes"
	at=1000
	for pair in '0x1000 0x50 0x51 0x52' '0x2000 0x51 0x50 0x52' '0x1000 0x53 0x54' '0x2000 0x54 0x53' \
		'0x3000 0x55 0x56' '0x3000 0x56 0x55'; do
		# shellcheck disable=SC2086  # words
		set -- $pair
		[ -z "${4:-}" ] || get "$1" "$4" $((at + 1))
		get "$1" "$2" $((at + 10))
		get "$1" "$3" $((at + 20))
		put "$1" "$3" $((at + 30))
		put "$1" "$2" $((at + 40))
		[ -z "${4:-}" ] || put "$1" "$4" $((at + 50))
		at=$((at + 100))
	done
}

# Three threads wait, and one has the mutex: it unlocks it for the thread that has waited longest, and asks again.
make_convoy()
{
	echo "$threads"
	echo "$mutexes"
	get 0x1000 0x50 100
	ask 0x2000 0x50 110 0x1000
	ask 0x3000 0x50 120 0x1000
	ask 0x4000 0x50 130 0x1000
	at=200
	set -- 0x1000 0x2000 0x3000 0x4000
	while [ $at -lt 6000 ]; do
		put "$1" 0x50 $at
		resume "$1" "$2" $((at + 5))
		ask "$1" 0x50 $((at + 10)) "$2"
		set -- "$2" "$3" "$4" "$1"
		at=$((at + 100))
	done
}

# alpha sleeps, and then sends the message for which beta waits; delta waits for flags that no thread sets.
make_flags()
{
	echo "$threads"
	echo 'object 3 0x30 0 inbox'
	echo 'object 6 0x60 0 stop'
	echo 'event 0x2000 68 1000 0x30 0 -1 0'
	echo 'event 0x2000 2 1001 0x2000 5 0 0x1000'
	echo 'event 0x1000 112 1010 30'
	echo 'event 0x1000 2 1011 0x1000 4 0 0x4000'
	echo 'event 0x4000 32 1020 0x60 1 0 0'
	echo 'event 0x4000 2 1021 0x4000 7 0 0'
	echo 'event 0xFFFFFFFF 1 31011 0x1000 4 0 0x1000'
	echo 'event 0x1000 69 31100 0x30 0 -1 0'
	echo 'event 0x1000 1 31101 0x2000 5 0 0x1000'
	echo 'event 0x2000 4096 31200'
}

# delta waits for A, while other threads get it in turn.
make_turns()
{
	echo "$threads"
	echo "$mutexes"
	get 0x1000 0x50 100
	ask 0x4000 0x50 110 0x1000
	put 0x1000 0x50 200
	at=200
	while [ $at -lt 2600 ]; do
		for thread in 0x2000 0x3000 0x1000; do
			get $thread 0x50 $((at + 10))
			put $thread 0x50 $((at + 90))
			at=$((at + 100))
		done
	done
	resume 0x1000 0x4000 $((at + 5))
	put 0x4000 0x50 $((at + 20))
}

# The event with which alpha unlocks A is missing; beta takes A. Then alpha takes B, and beta takes A while it has B.
make_lost()
{
	echo "$threads"
	echo "$mutexes"
	get 0x1000 0x50 1000
	get 0x1000 0x51 1010
	put 0x1000 0x51 1020
	get 0x2000 0x50 1030
	put 0x2000 0x50 1040
	get 0x2000 0x51 1050
	get 0x2000 0x50 1060
	put 0x2000 0x50 1070
	put 0x2000 0x51 1080
}

waits_make()
{
	for kind in deadlock gate convoy flags turns lost; do
		"make_$kind" | "$mktrx" >"$scratch/$kind" || complain "no trace $kind was made"
	done
}
