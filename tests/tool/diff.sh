#!/bin/sh
# SPDX-License-Identifier: MIT
# txtrace diff: values that can be computed by hand, and each limit once where it holds and once where it just does not.
. "${srcdir:-.}/tests/tool/lib.sh"

mklog=$(pwd)/tests/tool/mklog
[ -x "$mklog" ] || { echo "FAIL: there is no $mklog"; exit 99; }
TXTRACE_DIR=$scratch
export TXTRACE_DIR

names()
{
	cat <<-END
	object 1 0x1001 5 worker
	object 1 0x1002 6 helper
	object 15 0xF000004 0 beat
	object 15 0xF000005 0 a>b
	object 15 0xF000006 0 $1
	END
}

# 101 beats every 10 us, except one pause of 1 ms; then beats every 11 us, one pause of 2 ms, and twice as many events
# of the other type.
beats()
{
	i=0
	now=0
	while [ $i -le 100 ]; do
		echo "event 0x1001 4100 $now"
		[ $((i % 10)) -ne 0 ] || echo "event 0x1002 4101 $now"
		[ $((i % 10)) -ne 0 ] || [ "$1" -eq 10 ] || echo "event 0x1002 4101 $now"
		now=$((now + ($i == 49 ? $2 : $1)))
		i=$((i + 1))
	done
	echo "event 0x1001 4102 $now"
}

{ names once; beats 10 1000; } | "$mktrx" >"$scratch/old.trx"
{ names other; echo big; beats 11 2000; } | "$mktrx" >"$scratch/new.trx"

bad_files diff "$scratch/old.trx"
fails 2 'needs two files' diff "$scratch/old.trx"
fails 2 '--format takes' diff --format csv "$scratch/old.trx" "$scratch/new.trx"
for limit in 'count:beat' 'lost' ''; do
	fails 2 'comparison required' diff --fail-if "$limit" "$scratch/old.trx" "$scratch/new.trx"
done
fails 2 'there is no metric size' diff --fail-if 'size:beat>1' "$scratch/old.trx" "$scratch/new.trx"
fails 2 'name required' diff --fail-if 'count>1' "$scratch/old.trx" "$scratch/new.trx"
fails 2 'name required' diff --fail-if 'max:>1ms' "$scratch/old.trx" "$scratch/new.trx"
fails 2 'for the whole trace' diff --fail-if 'lost:beat>1' "$scratch/old.trx" "$scratch/new.trx"
fails 2 'number required' diff --fail-if 'lost>many' "$scratch/old.trx" "$scratch/new.trx"
fails 2 'the unit is %, or none' diff --fail-if 'lost>1ms' "$scratch/old.trx" "$scratch/new.trx"
fails 2 'the unit is %, ns' diff --fail-if 'max:beat>2' "$scratch/old.trx" "$scratch/new.trx"
fails 2 'the unit is %, ns' diff --fail-if 'duration>2 parsecs' "$scratch/old.trx" "$scratch/new.trx"

shown()
{
	sed "s|$scratch/||g" "$scratch/out" >"$scratch/shown"
	golden_file "$1" "$scratch/shown"
}

"$tool" diff "$scratch/old.trx" "$scratch/new.trx" >"$scratch/out" || complain 'diff fails'
shown diff-text
"$tool" diff --format json "$scratch/old.trx" "$scratch/new.trx" >"$scratch/out" || complain 'diff --format json fails'
shown diff-json
"$tool" diff -f thread:helper --until 100us "$scratch/old.trx" "$scratch/new.trx" >"$scratch/out" ||
	complain 'diff -f fails'
shown diff-filter
if has_program python3 'diff --format json is JSON'; then
	python3 -m json.tool "$golden_dir/diff-json" >/dev/null || complain 'diff --format json is no JSON'
fi

# limit CODE EXPR: the limit holds, and diff says so (1), or it does not (0).
limit()
{
	nr_checks=$((nr_checks + 1))
	"$tool" diff --fail-if "$2" "$scratch/old.trx" "$scratch/new.trx" >"$scratch/out" 2>"$scratch/err"
	code=$?
	[ "$code" -eq "$1" ] || complain "--fail-if $2: exits with $code, not $1: $(cat "$scratch/err")"
	if [ "$1" -eq 1 ]; then
		grep -qF "$2 holds" "$scratch/err" || complain "--fail-if $2 does not say that it holds"
	else
		! grep -q holds "$scratch/err" || complain "--fail-if $2 says that it holds"
	fi
}

# beat: 101 and 101. a>b: 11 and 22. once: 1 and 0. other: 0 and 1.
limit 0 'count:beat>0%'
limit 1 'count:beat>=0%'
limit 1 'count:beat=101'
limit 1 'count:beat = 101'
limit 1 'events > 9%'
limit 0 'count:beat!=101'
limit 1 'count:beat<=101'
limit 0 'count:beat<101'
limit 1 'count:a>b>99.9%'
limit 0 'count:a>b>100%'
limit 1 'count:a>b=22'
limit 1 'count:once<-99%'
limit 1 'count:once=0'
limit 1 'count:other>1000000%'
limit 1 'count:*>50%'
limit 0 'count:b*>50%'
limit 0 'count:no such name>0'
limit 1 'count:no such name<1'
limit 0 'max:no such name>0'
# The longest pause: 1000 and 2000 us. The median is 10 and 11 us; the 99th percentile, too.
limit 1 'max:beat>1999us'
limit 0 'max:beat>2ms'
limit 1 'max:beat>=2ms'
limit 1 'max:beat>=100%'
limit 0 'max:beat>100%'
limit 1 'median:beat=11us'
limit 0 'median:beat>11us'
limit 1 'median:beat>=10%'
limit 0 'median:beat>10%'
limit 0 'p99:beat>11us'
limit 1 'p99:beat>10999ns'
# With 10 and 21 pauses, the 99th percentile is the longest one.
limit 1 'p99:a>b=2099us'
limit 0 'max:once>0'
limit 1 'thread:helper>90%'
limit 0 'thread:worker!=0%'
limit 1 'thread:w*=102'
# 2000 and 3100 us.
limit 1 'duration>3ms'
limit 0 'duration>3100us'
limit 1 'duration>=3100us'
limit 1 'duration>=55%'
limit 0 'duration>55%'
limit 1 'events>9%'
limit 0 'events>10%'
limit 2 'lost>0' # a ThreadX buffer does not tell
# 101 beats in 3100 us.
limit 1 'rate:beat>32580'
limit 0 'rate:beat>32581'
limit 1 'rate:beat<-35%'

# Several limits: one is enough, and diff names each that holds.
nr_checks=$((nr_checks + 1))
"$tool" diff --fail-if 'events<1' --fail-if 'max:beat>1ms' --fail-if 'events>1' "$scratch/old.trx" "$scratch/new.trx" \
	>"$scratch/out" 2>"$scratch/err"
[ $? -eq 1 ] && [ "$(grep -c holds "$scratch/err")" -eq 2 ] || complain "several limits: $(cat "$scratch/err")"

# Logs: threads are compared by their names without numbers; losses.
"$mklog" "$scratch/one" 1000 8 worker && "$mklog" "$scratch/two" 1500 8 worker || complain 'no log could be written'
nr_checks=$((nr_checks + 6))
"$tool" diff --fail-if 'lost>0' "$scratch/one" "$scratch/two" >/dev/null 2>&1 || complain 'whole logs have lost events'
"$tool" diff --fail-if 'lost=0' "$scratch/one" "$scratch/two" >/dev/null 2>&1 && complain 'whole logs have not lost 0'
# The number of those that a cut log lacks is not known, but it is not less than the counted ones.
head -c $(($(stat -c %s "$scratch/two") - 50)) "$scratch/two" >"$scratch/cut"
"$tool" diff --fail-if 'lost>0' "$scratch/one" "$scratch/cut" >/dev/null 2>"$scratch/err"
[ $? -eq 2 ] && grep -q "lost>0 cannot be tested: it is not known how many events $scratch/cut lacks" "$scratch/err" ||
	complain "losses of a cut log: $(cat "$scratch/err")"
"$tool" diff --fail-if 'lost>0' "$scratch/cut" "$scratch/one" >/dev/null 2>&1 || complain 'only the new log matters'
"$tool" diff --format json "$scratch/one" "$scratch/two" >"$scratch/out"
grep -q '{"thread": "worker", "count": \[1000, 1500\]}' "$scratch/out" ||
	complain "threads of logs: $(sed -n '/threads/,$p' "$scratch/out")"
"$tool" diff --fail-if 'thread:worker>49%' "$scratch/one" "$scratch/two" >"$scratch/out" 2>"$scratch/err"
[ $? -eq 1 ] || complain 'a limit on the thread of a log does not hold'

# The times: one program, in which threads hold one lock for 2 ms, and then for 6 ms.  The change is named first, and
# each metric is tested.
fails 2 '--top takes a number of rows, at least 1' diff --top 0 "$scratch/one" "$scratch/two"
nr_checks=$((nr_checks + 1))
"$tool" diff --fail-if 'wait-p99:*>10%' "$scratch/one" "$scratch/two" >"$scratch/out" 2>"$scratch/err"
[ $? -eq 2 ] && grep -q 'wait-p99:\*>10% cannot be tested: .*/two has no recorded calls' "$scratch/err" ||
	complain "a limit that cannot be tested: $(cat "$scratch/err")"
fails 2 'there is no metric wait-mean' diff --fail-if 'wait-mean:*>10%' "$scratch/one" "$scratch/two"
for times in '30 80' '25 75'; do
	"$mksched" "$scratch/ran${times% *}" <<END || complain 'no log could be written'
0 start
0 thread 1 running hog
0 thread 2 blocked sleeper
1 event 1 0
10 out 1 0 blocked
10 in 2 0
15 event 2 0
20 out 2 0 blocked
${times% *} in 1 0
${times#* } event 1 0
90 out 1 0 blocked
180 stop
END
done
nr_checks=$((nr_checks + 3))
"$tool" diff --format json "$scratch/ran30" "$scratch/ran25" | sed -n '/"cpu"/,/\]$/p' >"$scratch/out"
grep -q '"count": \[2, 2\], "total_ns": \[70000, 75000\], "p99_ns": \[60000, 65000\], "max_ns": \[60000, 65000\]' \
	"$scratch/out" ||
	complain "CPU times: $(cat "$scratch/out")"
"$tool" diff --fail-if 'cpu-max:*>8%' "$scratch/ran30" "$scratch/ran25" >"$scratch/out" 2>"$scratch/err"
[ $? -eq 1 ] && grep -q 'cpu-max of .* was 60.000 us, is 65.000 us (+8.3 %)' "$scratch/err" ||
	complain "a limit on CPU time: $(cat "$scratch/err")"
"$tool" diff --fail-if 'cpu-max:*>9%' "$scratch/ran30" "$scratch/ran25" >"$scratch/out" 2>"$scratch/err" ||
	complain "a limit on CPU time that does not hold: $(cat "$scratch/err")"
# Spans: of 200 and 600 us, and of 200 and 500.
for last in 1700 1600; do
	"$mktrx" >"$scratch/span$last.trx" <<END || complain 'mktrx fails'
object 1 0x1000 10 alpha
object 1 0x2000 10 beta
event 0x1000 4096 1000 1
event 0x2000 4096 1100 2
event 0x1000 4097 1200 2
event 0x2000 4097 $last 1
END
done
begin=$("$tool" print --format csv --columns event "$scratch/span1600.trx" | tr -d '\r' | sed -n 2p)
end=$("$tool" print --format csv --columns event "$scratch/span1600.trx" | tr -d '\r' | sed -n 4p)
nr_checks=$((nr_checks + 1))
"$tool" diff --tick 1000 --span "work=$begin..$end" --fail-if 'span-max:work<0' --fail-if 'span-total:work=700us' \
	"$scratch/span1700.trx" "$scratch/span1600.trx" >"$scratch/out" 2>"$scratch/err"
[ $? -eq 1 ] && grep -qE '^span-max:work +600.000 us +500.000 us +-16.7 %$' "$scratch/out" ||
	complain "spans: $(cat "$scratch/out" "$scratch/err")"

# Two logs of three threads, which hold mutex 0x10 for 2 ms each time, and then for 6 ms.
for us in 2000 6000; do
	awk -v us=$us 'BEGIN {
		for (i = 0; i < 90; i++) {
			at = i * 10000
			call = " call " 101 + i % 3 " 0 pthread_mutex_"
			print at + 1 call "lock whole 10 0 0 0"
			print at + us call "unlock whole 10 0 0 0"
			print at + us + 5 call "lock whole 20 0 0 0"
			print at + us + 6 call "unlock whole 20 0 0 0"
		}
	}' | "$mksched" "$scratch/held$us"
done
nr_checks=$((nr_checks + 1))
"$tool" diff --fail-if 'wait-p99:no_such_lock>10%' "$scratch/held2000" "$scratch/held6000" >"$scratch/out" 2>"$scratch/err"
[ $? -eq 2 ] && grep -q 'cannot be tested: neither trace has times of this name' "$scratch/err" ||
	complain "a limit on a name that is nowhere: $(cat "$scratch/err")"
nr_checks=$((nr_checks + 2))
"$tool" diff --fail-if 'hold-p99:mutex 0x10>10%' --fail-if 'hold-count:mutex 0x10!=90' "$scratch/held2000" "$scratch/held6000" \
	>"$scratch/out" 2>"$scratch/err"
[ $? -eq 1 ] && grep -q '^txtrace: hold-p99:mutex 0x10>10% holds' "$scratch/err" &&
	[ "$(wc -l <"$scratch/err")" -eq 1 ] || complain "a limit on a lock: $(cat "$scratch/err")"
[ "$(sed 4q "$scratch/out" | grep -c 'mutex 0x10')" -eq 3 ] ||
	complain "the lock is not named first: $(sed 5q "$scratch/out")"

if own_preload; then
	cat >"$scratch/work.c" <<'END'
#include <pthread.h>
#include <stdlib.h>
#include <unistd.h>

static pthread_mutex_t table_lock = PTHREAD_MUTEX_INITIALIZER, log_lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_mutex_t idle_lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t idle = PTHREAD_COND_INITIALIZER;
static int us, is_over;

static void *work(void *argument)
{
	for (int i = 0; i < 30; i++) {
		pthread_mutex_lock(&table_lock);
		usleep((unsigned int)us);
		pthread_mutex_unlock(&table_lock);
		pthread_mutex_lock(&log_lock);
		pthread_mutex_unlock(&log_lock);
	}
	return argument;
}

static void *rest(void *argument)
{
	pthread_mutex_lock(&idle_lock);
	while (!is_over)
		pthread_cond_wait(&idle, &idle_lock);
	pthread_mutex_unlock(&idle_lock);
	return argument;
}

int main(int argc, char **argv)
{
	pthread_t worker[3], idler[8];

	us = argc > 1 ? atoi(argv[1]) : 2000;
	for (int i = 0; i < 8; i++)
		pthread_create(&idler[i], NULL, rest, NULL);
	for (int i = 0; i < 3; i++)
		pthread_create(&worker[i], NULL, work, NULL);
	for (int i = 0; i < 3; i++)
		pthread_join(worker[i], NULL);
	pthread_mutex_lock(&idle_lock);
	is_over = 1;
	pthread_cond_broadcast(&idle);
	pthread_mutex_unlock(&idle_lock);
	for (int i = 0; i < 8; i++)
		pthread_join(idler[i], NULL);
	return 0;
}
END
	${CC:-cc} -g -pthread "$scratch/work.c" -o "$scratch/work"
	for us in 2000 6000; do
		TXTRACE_DIR=$scratch/shm "$tool" record --quiet --preload -o "$scratch/work$us" "$scratch/work" $us \
			2>"$scratch/err" ||
			complain "record fails: $(cat "$scratch/err")"
	done
	nr_checks=$((nr_checks + 3))
	"$tool" diff --fail-if 'hold-count:table_lock!=90' "$scratch/work2000" "$scratch/work6000" >"$scratch/out" 2>"$scratch/err" ||
		complain "a limit on a lock by its name: $(cat "$scratch/err")"
	# The figures are those of locks.
	"$tool" locks --format json "$scratch/work6000" >"$scratch/locks"
	member=$(grep '"table_lock"' "$scratch/locks" | grep -o '"max_s": [0-9.]*' |
		awk '{ printf "%.0f", $2 * 1e9; exit }')
	"$tool" diff --format json "$scratch/work2000" "$scratch/work6000" | sed -n '/"holds"/,/\]$/p' >"$scratch/out"
	grep -q "\"object\": \"table_lock\", \"count\": \[90, 90\].*\"max_ns\": \[[0-9]*, $member\]" "$scratch/out" ||
		complain "not as locks: $member: $(cat "$scratch/out")"
	"$tool" diff --top 1 "$scratch/work2000" "$scratch/work6000" |
		grep -q 'more with smaller changes; --top=N shows N of them' ||
		complain 'what is left out is not said'
fi

make_samples
golden diff-samples diff "$samples/netx_tcp.trx" "$samples/netx_udp.trx"
golden diff-same diff "$samples/threadx.trx" "$samples/threadx.trx"
! sed 1,4d "$golden_dir/diff-same" | grep -E '%|new$|gone' || complain 'a trace differs from itself'
finish
