#!/bin/sh
# SPDX-License-Identifier: MIT
# A log without scheduling records, in which threads say how much CPU time they have used: estimates, marked as such.
. "${srcdir:-.}/tests/tool/lib.sh"

# The times of txtrace_thread_time are, as the last three numbers say: 100, 350 and 380 us for the holder.
"$mksched" "$scratch/log" <<'END' || complain 'no log could be written'
10 call 1 0 pthread_mutex_lock whole abcd 0 0 0
100 call 1 0 usleep begins 0 100 0 0
200 call 1 0 usleep ends 0 100 0 0
201 call 1 0 txtrace_thread_time whole 500000007 100000 0 0
250 call 2 1 pthread_mutex_lock begins abcd 1 0 0
800 call 1 0 usleep begins 0 100 0 0
900 call 1 0 usleep ends 0 100 0 0
901 call 1 0 txtrace_thread_time whole 600000009 350000 0 0
950 call 1 0 pthread_mutex_unlock whole abcd 0 0 0
960 call 2 1 pthread_mutex_lock ends abcd 0 0 0
961 call 2 1 txtrace_thread_time whole 3 20000 0 0
1000 call 1 0 usleep begins 0 100 0 0
1100 call 1 0 usleep ends 0 100 0 0
1101 call 1 0 txtrace_thread_time whole 60000000a 380000 0 0
END
cd "$scratch" || exit 99
golden thread_time-why why log thread-2
golden thread_time-print print --columns event,data -f txtrace_thread_time log
golden thread_time-report report --profile log
golden thread_time-csv report --profile --cpus --processes --format csv log
finish
