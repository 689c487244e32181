#!/bin/sh
# SPDX-License-Identifier: MIT
# Scheduling records: what print shows of them, and which entries a file for TraceX gets.
. "${srcdir:-.}/tests/tool/lib.sh"

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
"$mksched" "$scratch/core" <"$top/tests/data/sched/one_cpu.txt" || complain 'no log could be written'
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
	"$tool" $command "$scratch/core" >"$scratch/out" 2>"$scratch/err" ||
		complain "$command fails: $(cat "$scratch/err")"
	grep -q 'the kernel lost 5 scheduling records: in 1 gap it' "$scratch/err" ||
		complain "$command does not say that records were lost"
done
nr_checks=$((nr_checks + 1))
"$tool" report "$scratch/core" 2>/dev/null | grep -q 'lost by the kernel: 5 scheduling records; 1 gap$' ||
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
# The list and the sentence have the same number.  A thread is blocked in a recorded wait, outside of such waits, and in
# a range of times, and before its first event, where it may be in a call that began before the log.  A thread without
# events is only in the list.
"$mksched" "$scratch/unseen" <<'END' || complain 'no log could be written'
0 start
0 thread 1 blocked worker
0 thread 2 blocked silent
300 in 1 0
301 event 1 0
310 out 1 0 blocked
350 in 1 0
360 call 1 0 sem_wait begins 5000 0 0 0
361 out 1 0 blocked
395 in 1 0
396 call 1 0 sem_wait ends 5000 0 0 0
397 out 1 0 blocked
420 in 1 0
430 event 1 0
440 in 2 1
450 stop
END
# told OPTION...: the times of the worker in the list, in the sentence of blocked, and in that of why
told()
{
	"$tool" blocked --format csv "$@" "$scratch/unseen" 2>/dev/null | values thread |
		awk -F, '$1 == "blocked_unseen" && $2 ~ /worker/ && $3 == "total_s" { printf "%.1f us\n", $4 * 1e6 }'
	"$tool" blocked -f thread:worker "$@" "$scratch/unseen" 2>/dev/null |
		sed -n 's/.*worker.* was blocked for \(.*\) outside of recorded waits.*/\1/p'
}
for expected in '63.0 us' '40.0 us --from 305us --until 390us' '23.0 us --from 390us'; do
	nr_checks=$((nr_checks + 1))
	# shellcheck disable=SC2086  # options
	told ${expected#* us} >"$scratch/out"
	[ "$(uniq -c "$scratch/out" | sed 's/^ *//')" = "2 ${expected%% us*} us" ] ||
		complain "blocked says $(cat "$scratch/out"), not $expected"
done
nr_checks=$((nr_checks + 1))
"$tool" why "$scratch/unseen" 2>/dev/null | grep -q 'worker.* was blocked for 63\.0 us outside of recorded waits' ||
	complain "why says $("$tool" why "$scratch/unseen")"
nr_checks=$((nr_checks + 1))
"$tool" blocked "$scratch/unseen" 2>/dev/null | grep -qE '^ *silent +2 +1 +440\.0 us' ||
	complain "a thread without events is not listed: $("$tool" blocked "$scratch/unseen")"
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
