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
"$tool" diff -f thread:helper --until 100us "$scratch/old.trx" "$scratch/new.trx" >"$scratch/out" || complain 'diff -f fails'
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
limit 0 'lost>0'
limit 1 'lost=0'
# 101 beats in 3100 us.
limit 1 'rate:beat>32580'
limit 0 'rate:beat>32581'
limit 1 'rate:beat<-35%'

# Several limits: one is enough, and diff names each that holds.
nr_checks=$((nr_checks + 1))
"$tool" diff --fail-if 'lost>0' --fail-if 'max:beat>1ms' --fail-if 'events>1' "$scratch/old.trx" "$scratch/new.trx" >"$scratch/out" 2>"$scratch/err"
[ $? -eq 1 ] && [ "$(grep -c holds "$scratch/err")" -eq 2 ] || complain "several limits: $(cat "$scratch/err")"

# Logs: threads are compared by their names without numbers; losses.
"$mklog" "$scratch/one" 1000 8 worker && "$mklog" "$scratch/two" 1500 8 worker || complain 'no log could be written'
nr_checks=$((nr_checks + 2))
"$tool" diff --format json "$scratch/one" "$scratch/two" >"$scratch/out"
grep -q '{"thread": "worker", "count": \[1000, 1500\]}' "$scratch/out" || complain "threads of logs: $(sed -n '/threads/,$p' "$scratch/out")"
"$tool" diff --fail-if 'thread:worker>49%' "$scratch/one" "$scratch/two" >"$scratch/out" 2>"$scratch/err"
[ $? -eq 1 ] || complain 'a limit on the thread of a log does not hold'

make_samples
golden diff-samples diff "$samples/netx_tcp.trx" "$samples/netx_udp.trx"
golden diff-same diff "$samples/threadx.trx" "$samples/threadx.trx"
! sed 1,4d "$golden_dir/diff-same" | grep -E '%|new$|gone' || complain 'a trace differs from itself'
finish
