#!/bin/sh
# SPDX-License-Identifier: MIT
# Priority inversions of a log with scheduling records: only a thread that got the CPU of the holder delays it.
. "${srcdir:-.}/tests/tool/lib.sh"

mksched=$(pwd)/tests/tool/mksched
[ -x "$mksched" ] || { echo "FAIL: there is no $mksched"; exit 99; }

# At first, mid has events on another CPU, and so has the kernel's record of the CPU time of mid; then it preempts low.
# Then low is preempted by mid before high asks, and last by a program that is not in the log.
"$mksched" "$scratch/log" <<'END' || complain 'no log could be written'
0 start
0 thread 1 running low
0 thread 2 blocked mid
0 thread 3 blocked high
0 priority 1 90
0 priority 2 80
0 priority 3 70
10 in 2 1
20 call 1 0 pthread_mutex_lock whole a1 0 0 0
30 in 3 2
40 call 3 2 pthread_mutex_lock begins a1 0 0 0
41 out 3 2 blocked
50 call 2 1 pthread_mutex_trylock whole b1 0 0 0
60 call 2 1 pthread_mutex_unlock whole b1 0 0 0
70 call 1 0 pthread_mutex_unlock whole a1 0 0 0
72 in 3 2
75 call 3 2 pthread_mutex_lock ends a1 0 0 0
80 call 3 2 pthread_mutex_unlock whole a1 0 0 0
90 out 2 1 blocked
100 call 1 0 pthread_mutex_lock whole a2 0 0 0
110 call 3 2 pthread_mutex_lock begins a2 0 0 0
111 out 3 2 blocked
120 out 1 0 ready
121 in 2 0
150 out 2 0 blocked
151 in 1 0
160 call 1 0 pthread_mutex_unlock whole a2 0 0 0
162 in 3 2
165 call 3 2 pthread_mutex_lock ends a2 0 0 0
170 call 3 2 pthread_mutex_unlock whole a2 0 0 0
200 call 1 0 pthread_mutex_lock whole a3 0 0 0
205 out 1 0 ready
206 in 2 0
210 call 3 2 pthread_mutex_lock begins a3 0 0 0
211 out 3 2 blocked
230 out 2 0 blocked
231 in 1 0
240 call 1 0 pthread_mutex_unlock whole a3 0 0 0
242 in 3 2
245 call 3 2 pthread_mutex_lock ends a3 0 0 0
250 call 3 2 pthread_mutex_unlock whole a3 0 0 0
300 call 1 0 pthread_mutex_lock whole a4 0 0 0
310 call 3 2 pthread_mutex_lock begins a4 0 0 0
311 out 3 2 blocked
320 out 1 0 ready
350 in 1 0
360 call 1 0 pthread_mutex_unlock whole a4 0 0 0
362 in 3 2
365 call 3 2 pthread_mutex_lock ends a4 0 0 0
370 call 3 2 pthread_mutex_unlock whole a4 0 0 0
400 stop
END
cd "$scratch" || exit 99
golden inversions report --inversions log
finish
