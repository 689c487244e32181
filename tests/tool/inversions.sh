#!/bin/sh
# SPDX-License-Identifier: MIT
# Priority inversions of a log with scheduling records: only a thread that got the CPU of the holder delays it.
. "${srcdir:-.}/tests/tool/lib.sh"

# locks AT LOCK: low takes the lock
locks()
{
	echo "$1 call 1 0 pthread_mutex_lock whole $2 0 0 0"
}

# waits AT LOCK: high waits for it
waits()
{
	echo "$1 call 3 2 pthread_mutex_lock begins $2 0 0 0"
	echo "$(($1 + 1)) out 3 2 blocked"
}

# unlocks AT LOCK: low lets high go on, which unlocks, too
unlocks()
{
	echo "$1 call 1 0 pthread_mutex_unlock whole $2 0 0 0"
	echo "$(($1 + 2)) in 3 2"
	echo "$(($1 + 5)) call 3 2 pthread_mutex_lock ends $2 0 0 0"
	echo "$(($1 + 10)) call 3 2 pthread_mutex_unlock whole $2 0 0 0"
}

# preempts AT: mid gets the CPU of low
preempts()
{
	echo "$1 out 1 0 ready"
	echo "$(($1 + 1)) in 2 0"
}

# yields AT: mid gives it back
yields()
{
	echo "$1 out 2 0 blocked"
	echo "$(($1 + 1)) in 1 0"
}

# At first, mid has events on another CPU, and so has the kernel's record of the CPU time of mid; then it preempts low.
# Then low is preempted by mid before high asks, and last by a program that is not in the log.
{
	cat <<'END'
0 start
0 thread 1 running low
0 thread 2 blocked mid
0 thread 3 blocked high
0 priority 1 90
0 priority 2 80
0 priority 3 70
10 in 2 1
END
	locks 20 a1
	echo '30 in 3 2'
	waits 40 a1
	echo '50 call 2 1 pthread_mutex_trylock whole b1 0 0 0'
	echo '60 call 2 1 pthread_mutex_unlock whole b1 0 0 0'
	unlocks 70 a1
	echo '90 out 2 1 blocked'

	locks 100 a2
	waits 110 a2
	preempts 120
	yields 150
	unlocks 160 a2

	locks 200 a3
	preempts 205
	waits 210 a3
	yields 230
	unlocks 240 a3

	locks 300 a4
	waits 310 a4
	echo '320 out 1 0 ready'
	echo '350 in 1 0'
	unlocks 360 a4
	echo '400 stop'
} | "$mksched" "$scratch/log" || complain 'no log could be written'
cd "$scratch" || exit 99
golden inversions report --inversions log
finish
