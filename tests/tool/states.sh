#!/bin/sh
# SPDX-License-Identifier: MIT
# The results that the tool computes from scheduling records. The description of the log determines the times of each
# thread.
. "${srcdir:-.}/tests/tool/lib.sh"

perfetto_check=$(pwd)/tests/tool/perfetto_check

# spent LOG THREAD RAN PREEMPTED WOKEN BLOCKED UNKNOWN: the times of a thread, in us
spent()
{
	nr_checks=$((nr_checks + 1))
	log=$1 thread=$2
	shift 2
	got=$("$tool" report --profile --format csv "$scratch/$log" | values thread | awk -F, -v thread="$thread" '
		$1 == "thread_states" && $2 == thread { us[$3] = sprintf("%.0f", $4 * 1e6) }
		END {
			print us["ran_s"], us["preempted_s"], us["woken_s"], us["blocked_s"], us["unknown_s"]
			sum = us["ran_s"] + us["preempted_s"] + us["woken_s"] + us["blocked_s"] + us["unknown_s"]
			if (sum != us["all_s"])
				print "the sum is not", us["all_s"]
		}')
	[ "$got" = "$*" ] || complain "$log: the times of $thread are $got, not $*"
}

"$mksched" "$scratch/mixed" <<'END' || complain 'no log could be written'
0 start
0 thread 1 running main
0 thread 2 blocked worker
100 out 1 0 ready
100 in 2 0
200 call 2 0 pthread_mutex_lock whole abcd 0 0 0
300 out 2 0 ready
300 in 1 0
350 call 1 0 pthread_mutex_lock begins abcd 0 0 0
360 out 1 0 blocked
360 in 2 0
400 call 2 0 pthread_mutex_unlock whole abcd 0 0 0
460 out 2 0 blocked
460 in 1 1
470 call 1 1 pthread_mutex_lock ends abcd 0 0 0
500 out 1 1 blocked
550 gap 0
600 resume 0 3
700 in 1 0
800 out 1 0 ended
900 thread 3 ready late
950 in 3 1
1000 out 3 1 ended
1000 stop
END
spent mixed main 300 200 60 90 150
spent mixed worker 300 60 0 190 450
spent mixed late 50 0 50 0 0
cd "$scratch" || exit 99
golden states-report report --profile --latency --cpus --processes mixed
golden states-list states mixed
golden states-list.csv states --from 350us --until 480us --format csv mixed

# The exporters show the same times. The filter has no effect on them.
shown()
{
	nr_checks=$((nr_checks + 1))
	awk '{ $1 = $1; print }' "$scratch/shown" | sort >"$scratch/sorted"
	cmp -s "$scratch/sorted" "$scratch/listed" || {
		complain "$1 shows other states than states does:"
		diff "$scratch/listed" "$scratch/sorted" | head -10
	}
}
"$tool" states --format csv mixed 2>/dev/null | tr -d '\r' | awk -F, 'NR > 1 && $6 != "not known" {
	state = $6 == "ready" ? $6 " (" $7 ")" : $9 == "" ? $6 : $6 ": " $9
	printf "%s %.0f %.0f %s\n", $3, $1 * 1e6, ($1 + $2) * 1e6, state }' | sort >listed
if has_program python3 'states in Chrome and HTML'; then
	"$tool" export --to chrome -f thread:main -o chrome.json mixed 2>/dev/null
	python3 - <<'END' >shown
import json
name, opened = {}, {}
for r in json.load(open("chrome.json"))["traceEvents"]:
    track = r["pid"], r["tid"]
    if r.get("name") == "thread_name":
        name[track] = r["args"]["name"]
    elif r["ph"] == "B" and name[track].endswith(": states"):
        opened[track] = r
    elif r["ph"] == "E" and track in opened:
        begin = opened.pop(track)
        print(name[track].removesuffix(": states"), round(begin["ts"]), round(r["ts"]), begin["name"])
END
	shown chrome
	"$tool" export --to html -f 'event:txtrace_switch_in' -o page.html mixed 2>/dev/null
	PYTHONDONTWRITEBYTECODE=1 PYTHONPATH=$top/tests/tool python3 - <<'END' >shown
import page_data
page = open("page.html", encoding="utf-8").read()
facts = page_data.facts_of(page)
thread = {row[0]: row[1] for row in facts["objects"]}
for kind, context, begin, end, name in page_data.spans_of(page):
    if kind in (4, 5, 6):
        name = "running" if kind == 4 else facts["names"][name]
        print(thread[context], begin // 1000, end // 1000, name)
END
	shown html
fi
if "$tool" export --to perfetto -o mixed.perfetto mixed 2>/dev/null && [ -x "$perfetto_check" ]; then
	"$perfetto_check" mixed.perfetto | sed -n -E 's/^(begin|end) ([0-9]+) \[(.*): states\] ?(.*)/\1 \2 \3 \4/p' |
		awk '
		{ us = ($2 - 1700000000000000000) / 1000 }
		$1 == "begin" { sub(/ cpu=[0-9]+$/, ""); from[$3] = us; state[$3] = substr($0, index($0, $3) + length($3) + 1) }
		$1 == "end" { printf "%s %.0f %.0f %s\n", $3, from[$3], us, state[$3] }' >shown
	shown perfetto
	nr_checks=$((nr_checks + 1))
	"$perfetto_check" mixed.perfetto | grep -q '^state ' && complain 'states go on through a gap in Perfetto'
	# Threads take each other's CPU at one time, in both orders; one is blocked late, one dies, and its tid comes again.
	"$mksched" "$scratch/whole" <<'END' || complain 'no log could be written'
0 start
0 thread 1 running main
0 thread 2 ready worker
100 out 1 0 ready
100 in 2 0
150 in 1 1
200 call 2 0 pthread_mutex_lock begins abcd 0 0 0
210 out 2 0 blocked
210 thread 3 ready late
220 in 3 0
300 out 3 0 ready
300 in 2 0
310 call 2 0 pthread_mutex_lock ends abcd 0 0 0
320 out 1 1 blocked
320 in 3 1
400 out 3 1 ended
450 in 1 1
500 thread 3 ready again
520 out 1 1 ready
520 in 3 1
600 out 3 1 blocked
600 in 1 1
700 out 2 0 ended
1000 stop
END
	has_program python3 'the rules of Perfetto for thread states' && for log in whole recorded; do
		[ "$log" = whole ] || make_mixture "$scratch/recorded" || continue
		[ "$log" = whole ] || "$tool" print --columns event recorded 2>/dev/null | grep -q txtrace_switch_in || {
			echo 'SKIP the rules of Perfetto for a recorded log: the kernel refuses scheduling records'
			continue
		}
		"$tool" info "$log" 2>&1 | grep -q 'the kernel lost' && continue
		nr_checks=$((nr_checks + 1))
		"$tool" export --to perfetto --force -o "$log.perfetto" "$log" 2>/dev/null
		PYTHONDONTWRITEBYTECODE=1 python3 "$top/tests/tool/perfetto_states.py" "$tool" "$perfetto_check" "$log" \
			"$log.perfetto" >faults || complain "Perfetto would show other states of $log: $(cat faults)"
	done
else
	echo 'SKIP states in Perfetto: the tool was built without protobuf-c'
fi
if "$tool" export --to ctf -o mixed.ctf mixed 2>err; then
	has_program babeltrace2 'records in CTF' && {
		nr_checks=$((nr_checks + 1))
		babeltrace2 mixed.ctf | grep 'txtrace_switch_out' |
			grep -q 'tid = 1, pid = 100, cpu = 1, state = "blocked"' ||
			complain 'CTF has no fields of scheduling records'
		nr_checks=$((nr_checks + 1))
		babeltrace2 mixed.ctf | grep 'txtrace_sched_gap' | grep -q 'phase = "ends", cpu = 0, lost = 3' ||
			complain 'CTF has no fields of gaps'
	}
fi

# The first record takes the CPU away, so the thread ran since the records began. The other thread has run on CPU 1 all
# the time. During a gap of CPU 0, it is unknown what a thread does that has CPU 0 or no CPU. If a tid is used again, it
# belongs to another thread.
"$mksched" "$scratch/gaps" <<'END' || complain 'no log could be written'
0 start
50 out 1 0 ready
60 in 2 1
100 gap 0
200 out 2 1 ready
300 in 2 1
400 out 2 1 blocked
500 resume 0 1
600 out 1 0 blocked
700 in 1 0
800 out 1 0 ended
850 thread 1 ready again
900 in 1 0
1000 event 2 1
1000 stop
END
nr_checks=$((nr_checks + 1))
"$tool" report --profile --format csv "$scratch/gaps" | values thread | grep -c '^thread_states,.*,ran_s,' | grep -q '^3$' ||
	complain 'there are not three threads'
spent gaps thread-2 240 0 0 0 760

# Newer events of a LOOP log overwrote the beginning: the records are valid from the first event on.
"$mksched" "$scratch/loop" <<'END' || complain 'no log could be written'
100 event 1 0
150 out 1 0 blocked
200 in 1 0
300 died
400 event 1 0
END
spent loop thread-1 150 0 0 50 100

# A holder is preempted while another thread waits. The waiting thread is woken, and gets the CPU later. Then the holder
# waits in a call that is not traced.
"$mksched" "$scratch/lock" <"$top/tests/data/sched/held_lock.txt" || complain 'no log could be written'
golden states-why why lock waiter
if [ -x "$perfetto_check" ]; then
	"$tool" export --to perfetto -o lock.perfetto lock 2>/dev/null || complain 'export --to perfetto fails'
	"$tool" states --format csv lock 2>/dev/null | tr -d '\r' | awk -F, 'NR > 1 && $6 != "not known" {
		printf "%.0f %s %s %s\n", $1 * 1e6, $5, $6 == "ready" ? "runnable" : $6 == "blocked" ? "sleeps" : $6,
			$6 == "running" ? $8 : "-" }' | sort >listed
	"$perfetto_check" lock.perfetto | awk '$1 == "state" {
		printf "%.0f %s %s %s\n", ($2 - 1700000000000000000) / 1000, $3, $4, $4 == "running" ? $5 : "-" }' |
			sort >shown
	shown "Perfetto's account of states"
fi
golden states-blocked blocked --wide lock
golden states-locks locks --wide lock
golden states-lock states --wide lock

# The process ends while a thread waits.  The kernel ends the thread a little later.
"$mksched" "$scratch/dies" <<'END' || complain 'no log could be written'
0 start
0 thread 1 running main
0 thread 2 blocked waiter
1 event 1 0
10 out 1 0 ready
12 in 2 0
15 call 2 0 pthread_mutex_lock begins abcd 0 0 0
25 out 2 0 blocked
40 in 1 0
90 call 1 0 txtrace_process_end whole 0 0 0 0
95 out 1 0 ended
97 in 2 0
99 out 2 0 ended
110 stop
END
nr_checks=$((nr_checks + 1))
"$tool" blocked --wide --format csv "$scratch/dies" | values object >"$scratch/out"
grep -q ',blocked_s,0.000065000' "$scratch/out" ||
	complain "of a wait that the end of its process ends: $(cat "$scratch/out")"

# A holder ends some time before the waiting thread runs again: the log shows what the holder did before that.
# ends_early TIME WORDS
ends_early()
{
	"$mksched" "$scratch/ended" <<END || complain 'no log could be written'
0 start
0 thread 1 running main
0 thread 2 blocked worker
1 event 1 0
2 event 2 1
5 call 2 1 pthread_mutex_lock whole abcd 0 0 0
7 out 2 1 ready
10 call 1 0 pthread_mutex_lock begins abcd 0 0 0
20 out 1 0 blocked
$(($1 - 2)) in 2 0
$1 out 2 0 ended
99 in 1 0
100 call 1 0 pthread_mutex_lock ends abcd 0 0 0
110 stop
END
	nr_checks=$((nr_checks + 1))
	"$tool" blocked --wide "$scratch/ended" | grep -q "worker *$2\$" ||
		complain "what a thread did that ended at $1: $("$tool" blocked --wide "$scratch/ended")"
}
ends_early 92 'had no CPU'
ends_early 40 'had ended'

# Times that the kernel counted: between the first and the last count; for a thread that began later, all of its time on
# a CPU. Each format marks all of them as estimates.
"$mksched" "$scratch/counted" <<'END' || complain 'no log could be written'
0 event 1 0
0 counted 1 5000 700
100 event 2 1
200 counted 1 5120 730
200 counted 2 50 10
300 counted 1 5180 740
300 counted 2 90 30
400 event 1 0
END
golden counted report --profile counted
golden counted.csv report --profile --format csv counted
golden counted-print print --columns event,data counted
nr_checks=$((nr_checks + 1))
"$tool" states counted 2>&1 | grep -q 'no scheduling records' || complain 'states takes counts for records'

# A thread that executes another program is two threads, with the times of each.  All commands tell this.
"$mksched" programs <<'END' || complain 'no log could be written'
0 start
0 thread 1 running before
1 event 1 0
10 out 1 0 blocked
20 in 1 0
30 exec 1 77 after
30 event 1 0
60 out 1 0 ready
65 in 1 0
70 event 1 0
100 out 1 0 ended
100 stop
END
nr_checks=$((nr_checks + 4))
"$tool" report --profile --format csv programs 2>err | values thread >said
[ "$(grep -cE '^execution_profile,(before,time_s,0.000020000|after,time_s,0.000065000)$' said)" -eq 2 ] ||
	complain "Execution Profile of two programs: $(cat said)"
[ "$(grep -cE '^thread_states,(before,all_s,0.000030000|after,all_s,0.000070000)$' said)" -eq 2 ] ||
	complain "Thread States of two programs: $(cat said)"
"$tool" top --once --format csv programs 2>err | values thread >said
[ "$(grep -cE '^threads,(before,running,20.0|after,running,65.0)$' said)" -eq 2 ] ||
	complain "top of two programs: $(cat said)"
"$tool" states --format csv programs >csv 2>err
[ "$(awk -F, '$6 == "running" { us[$3] += 1000000 * $2 } END { printf "%d %d", us["before"] + 0.5, us["after"] + 0.5 }' csv)" = \
	'20 65' ] || complain "states of two programs: $(cat csv err)"

# Without records the profile is an estimate, and is marked as one.
printf '0 event 1 0\n100 event 1 0\n' | "$mksched" "$scratch/none"
nr_checks=$((nr_checks + 1))
nr=$("$tool" report --profile --cpus --processes "$scratch/none" | grep -c '~Time/s')
[ "$nr" -eq 4 ] || complain "$nr of 4 tables say that times without records are estimates"
nr_checks=$((nr_checks + 1))
"$tool" blocked "$scratch/none" | grep -q 'Ready' && complain 'blocked has a column that no record fills'
nr_checks=$((nr_checks + 1))
"$tool" report --latency "$scratch/none" | grep -q 'no scheduling records' ||
	complain 'latency hides that there are no records'
finish
