#!/bin/sh
# SPDX-License-Identifier: MIT
# Programs whose threads wait for each other in a wrong way. The script records them with the preloaded object, and then
# diagnoses them. It compares the words, not the times.
. "${srcdir:-.}/tests/tool/lib.sh"

object=${PRELOAD:-$(pwd)/preload/.libs/libtxtrace-preload.so}
programs=${SCENARIOS:-$(pwd)/tests/preload/scenarios}
bakery=$(pwd)/examples/bakery
[ -e "$object" ] || { echo "SKIP: $object was not built"; exit 77; }
TXTRACE_DIR=$scratch/shm
export TXTRACE_DIR
cd "$scratch" || exit 99

# record NAME: record into $scratch/NAME.trx; fail with the exit code of the program
record()
{
	"$tool" record --force --size 64M -o "$1.trx" -- env LD_PRELOAD="$object" "$programs/$1" >out 2>err
}

# In a log, the names of threads end with their tids.
show()
{
	"$tool" "$@" >printed 2>err || complain "txtrace $* fails: $(cat err)"
	sed -E 's/(left|right|early|late|low|middle|high|director|bakery|clerk|anna|bert|carl) [0-9]+/\1/g; s/(convoy) [0-9]+/\1/g' printed >out
}

# says TEXT COMMAND...: the output must match this extended regular expression
says()
{
	text=$1
	shift
	nr_checks=$((nr_checks + 1))
	show "$@"
	grep -qE -e "$text" out || complain "txtrace $* does not say '$text': $(cat out)"
}

# table NAME: this table of the last output, without its title
table()
{
	sed -n "/^$1\$/,/^\$/p" out | sed '1d; /^$/d'
}

record deadlock || complain "deadlock fails: $(cat err)"
says '^left was waiting for .* from .* on, and still was when its process ended' why deadlock.trx left
says 'was held by right for' why deadlock.trx left
says 'Deadlock: none of these threads can continue' why deadlock.trx right
says 'left waits for .*, which right holds' why deadlock.trx right
says 'right waits for .*, which left holds' why deadlock.trx right
cp printed why-left
says ': potential deadlock  *(left|right) ' locks --wide deadlock.trx
table 'Lock Order' | grep -q left && table 'Lock Order' | grep -q right || complain "not both: $(cat out)"
says 'mutex  *1  *1 .* (right|left)  *waited for mutex ' blocked --wide deadlock.trx

# No thread had the CPU while all threads waited.
nr_checks=$((nr_checks + 1))
"$tool" report --profile --format json deadlock.trx | tr ',' '\n' | sed -n 's/.*"percent": \([0-9.]*\).*/\1/p' >shares
awk '$1 > 30 { exit 1 }' shares && [ -s shares ] || complain "the profile counts time of waiting threads: $(cat shares)"

# The exports for viewers show it, too; in a trace buffer, the words are the same.
nr_checks=$((nr_checks + 3))
"$tool" export --to chrome --force -o chrome.json deadlock.trx || complain 'no export to chrome'
grep -q '"held: ' chrome.json && grep -q '"waits for mutex' chrome.json || complain 'no waits and locks in chrome'
"$tool" export --to trx --force -o board.trx deadlock.trx 2>err || complain "no export to trx: $(cat err)"
"$tool" check board.trx | grep -q 'TraceX shows it correctly' || complain "check: $("$tool" check board.trx)"
says 'Deadlock: none of these threads can continue' why board.trx \
	"$(sed -n 's/.*\(left [0-9]*\) waits for.*/\1/p' why-left)"
! "$tool" print deadlock.trx | grep -q THREAD_SUSPEND || complain 'print shows what is not in the file'

# On a busy machine one hold can be so long that the others are no convoy beside it.
is_even()
{
	"$tool" locks --format csv convoy.trx | values lock | awk -F, '
		$1 == "locks" { ns[$3] = $4 * 1e9 }
		END { exit !(ns["held_s"] > 0 && ns["max_s"] * 20 <= ns["held_s"]) }'
}
for _ in 1 2 3 4 5 6 7 8; do
	record convoy || complain "convoy fails: $(cat err)"
	is_even && break
done

# A call that waits is two events, and one service.
nr_checks=$((nr_checks + 1))
begun=$("$tool" print convoy.trx | grep pthread_mutex_lock | grep -cv wait=ends)
counted=$("$tool" report --services --format json convoy.trx | tr '{' '\n' |
	sed -n 's/.*"service": "pthread_mutex_lock", "count": \([0-9]*\).*/\1/p' | head -1)
[ "$begun" = "$counted" ] || complain "convoy locks $begun times, and the report says $counted"
says 'Lock Convoys' locks --wide convoy.trx
[ "$(table 'Lock Convoys' | wc -l)" -eq 2 ] || complain "not one convoy: $(cat out)"
table Locks | grep -qE '  mutex  *400 .* [34]$' || complain "the mutex was not taken 400 times: $(cat out)"
table 'Lock Order' | grep -q 'nothing in this trace' || complain 'a convoy has a cycle'

record lost_wakeup || complain "lost_wakeup fails: $(cat err)"
says '^late was waiting for condition .*pthread_cond_wait.* still was when its process ended' why lost_wakeup.trx late
says 'was signalled .* before the wait began, by early \(pthread_cond_signal' why lost_wakeup.trx late
says 'no thread was waiting; there was no later signal' why lost_wakeup.trx late
says 'Lost wake-up' why lost_wakeup.trx late
says 'condition  *1  *1 ' blocked --wide lost_wakeup.trx
# The thread has unlocked the mutex while it waits, so no thread holds it.
says '^Locks' locks --wide lost_wakeup.trx
table Locks | grep -qE '^  .*mutex  *2  *0 ' || complain "the mutex of a condition: $(cat out)"

# C11: the output has the names of the C11 functions and results, and otherwise is as for POSIX.
record c11 || complain "c11 fails: $(cat err)"
says '^late was .* waiting for .*\(mtx_timedlock\)' why c11.trx late
says 'was held by early for' why c11.trx late
says 'It timed out\.' why c11.trx late
says '^c11.* waiting for condition .*\(cnd_wait\)' why c11.trx c11
says '^  late let c11.* go on: cnd_signal' why c11.trx c11
says '^  .*mutex  *2  *0 .* late  *early ' blocked --wide c11.trx
says '^  .*condition  *1  *0 .* c11 ' blocked --wide c11.trx
says '^  .*mutex  *2  *2 .* early ' locks --wide c11.trx
says '^  .*mutex  *3  *[01] ' locks --wide c11.trx
table 'Lock Order' | grep -q 'nothing in this trace' || complain 'c11 has a cycle'
says 'mtx_timedlock .* result=thrd_timedout wait=ends$' print -f 'data.result=thrd_timedout' c11.trx
says 'mtx_timedlock .* result=thrd_timedout wait=ends$' print -f 'data.result=110' c11.trx
says '"event":"mtx_timedlock".*"result":"thrd_timedout"' print --format jsonl c11.trx
# Two waits of early, four of late, and three of main(), which also waits for the condition.
says '^calls of pthread locks *10$' info c11.trx
for command in info locks blocked report; do
	nr_checks=$((nr_checks + 1))
	"$tool" $command c11.trx >out 2>&1
	! grep -q '0 pthread locks recorded' out || complain "$command sees no locks of C11"
done
nr_checks=$((nr_checks + 1))
"$tool" doctor "$programs/c11" >out 2>&1
grep -q '^mtx_lock  *mtx_lock  *mutex  *yes  *c11' out && ! grep -q 'no lock of pthreads' out ||
	complain "doctor sees no locks of C11: $(cat out)"

record relay || complain "relay fails: $(cat err)"
says '^Locks' locks --wide relay.trx
[ "$(table Locks | grep -cE '  mutex  *60000 ')" -eq 2 ] ||
	complain "two mutexes were not taken 60000 times: $(cat out)"
table 'Lock Order' | grep -q 'nothing in this trace' || complain "a cycle without two locks at once: $(cat out)"

# The example: the output names the function, and shows that the holder itself often waits.
TXTRACE_PRELOAD=$object "$tool" record --preload --force -o bakery.trx "$bakery" >out 2>err ||
	complain "bakery fails: $(cat err)"
says '^  clerk  *thread  *1 .*bakery  *clerk  *waited for condition bread_is_there$' blocked --wide bakery.trx
says '^  oven  *mutex  *24 .* (anna|bert|carl)  *bake\+' locks --wide bakery.trx
says '^bakery was .* waiting for the end of thread clerk \(pthread_join\)' why bakery.trx bakery

record inversion
case $? in
0)
	says '^high was .* waiting for .*pthread_mutex_lock' why inversion.trx high
	says 'was held by low for' why inversion.trx high
	says 'Priority inversion: high is more urgent \(69\) than low \(89\)' why inversion.trx high
	says '^Priority Inversions' report --inversions inversion.trx
	table 'Priority Inversions' | grep -qE 'high .* 69  *low  *89 .* middle$' ||
		complain "no inversion by middle: $(cat out)"
	;;
77) echo 'SKIP inversion: only root may use SCHED_FIFO' ;;
*) complain "inversion fails: $(cat err)" ;;
esac
finish
