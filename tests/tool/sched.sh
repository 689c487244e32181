#!/bin/sh
# SPDX-License-Identifier: MIT
# Scheduling records: what print shows of them, and which entries a file for TraceX gets.
. "${srcdir:-.}/tests/tool/lib.sh"

mksched=$(pwd)/tests/tool/mksched
[ -x "$mksched" ] || { echo "FAIL: there is no $mksched"; exit 99; }

"$mksched" "$scratch/sched" <<'END' || complain 'no log could be written'
0 start
0 thread 1 blocked worker
1 thread 2 runnable other
5 in 1 0
9 event 1 0
10 out 1 0 blocked
10 in 2 0
15 out 2 0 ready
20 gap 1
30 resume 1 17
35 in 2 1
40 out 2 1 ended
50 died
END
golden sched-print print "$scratch/sched"

# On one CPU: a thread of the program preempts, a thread blocks outside of a call, another program preempts, a gap, a
# wait.
"$mksched" "$scratch/core" <<'END' || complain 'no log could be written'
0 start
0 thread 1 running hog
0 thread 2 blocked sleeper
1 event 1 0
10 out 1 0 ready
12 in 2 0
15 event 2 0
20 out 2 0 blocked
21 in 1 0
25 event 1 0
30 out 1 0 ready
80 in 1 0
90 event 1 0
95 gap 0
120 resume 0 5
130 in 1 0
135 event 1 0
136 out 1 0 blocked
150 in 2 0
151 call 2 0 sem_wait begins 5000 0 0 0
153 out 2 0 blocked
160 in 1 0
165 call 1 0 sem_post whole 5000 0 0 0
166 out 1 0 ready
167 in 2 0
169 call 2 0 sem_wait ends 5000 0 0 0
170 out 2 0 ended
180 stop
END
"$tool" export --to trx --per-core -o "$scratch/core.trx" "$scratch/core" >/dev/null || complain 'export fails'
golden sched-core print "$scratch/core-cpu0.trx"
"$tool" check --strict "$scratch/core-cpu0.trx" >"$scratch/said" || complain "check --strict: $(cat "$scratch/said")"
cd "$scratch" || exit 99
golden sched-performance report --performance core-cpu0.trx

# The log and the file of its only CPU give the same time to each thread.
for file in core core-cpu0.trx; do
	"$tool" report --profile --format csv "$scratch/$file" | values thread |
		awk -F, '/^execution_profile,.*(hog|sleeper).*,time_s,/ { print $2, $4 }' >"$scratch/$file.profile"
done
nr_checks=$((nr_checks + 1))
[ "$(wc -l <"$scratch/core.profile")" -eq 2 ] && cmp -s "$scratch/core.profile" "$scratch/core-cpu0.trx.profile" ||
	complain "times of the log and of its CPU: $(cat "$scratch/core.profile" "$scratch/core-cpu0.trx.profile")"

# Lost scheduling records do not count as lost events, and each command reports them.
for command in info report blocked locks why print; do
	nr_checks=$((nr_checks + 1))
	"$tool" $command "$scratch/core" >"$scratch/out" 2>"$scratch/err" || complain "$command fails: $(cat "$scratch/err")"
	grep -q 'the kernel lost 5 scheduling records: in 1 gaps' "$scratch/err" || complain "$command does not say that records were lost"
done
nr_checks=$((nr_checks + 1))
"$tool" report "$scratch/core" 2>/dev/null | grep -q 'lost by the kernel: 5 scheduling records; 1 gaps' ||
	complain 'report does not count lost records'

# Time blocked outside of recorded waits, such as in a library that makes system calls itself.
"$mksched" "$scratch/untraced" <<'END' || complain 'no log could be written'
0 start
0 thread 1 running worker
1 event 1 0
10 out 1 0 blocked
80 in 1 0
90 call 1 0 sem_wait begins 5000 0 0 0
91 out 1 0 blocked
95 in 1 0
96 call 1 0 sem_wait ends 5000 0 0 0
100 stop
END
for command in why 'blocked -f thread:worker'; do
	nr_checks=$((nr_checks + 1))
	# shellcheck disable=SC2086  # options
	"$tool" $command "$scratch/untraced" >"$scratch/out" 2>"$scratch/err"
	grep -q 'worker.* was blocked for 70\.0 us outside of recorded waits' "$scratch/out" ||
		complain "$command does not say what is not traced: $(cat "$scratch/out")"
done
# Without a filter, blocked lists all of them.
nr_checks=$((nr_checks + 1))
"$tool" blocked "$scratch/untraced" >"$scratch/out" 2>"$scratch/err"
grep -qE '^ *worker +1 +1 +70\.0 us' "$scratch/out" && ! grep -q 'outside of recorded waits' "$scratch/out" ||
	complain "blocked does not list what is not traced: $(cat "$scratch/out")"
"$mksched" "$scratch/untraced" <<'END' || complain 'no log could be written'
0 start
0 thread 1 running worker
1 event 1 0
10 out 1 0 blocked
80 in 1 0
100 stop
END
nr_checks=$((nr_checks + 1))
"$tool" why "$scratch/untraced" >"$scratch/out" 2>"$scratch/err"
grep -q 'This trace has no recorded wait' "$scratch/out" ||
	complain "why: $(cat "$scratch/out")"
finish
