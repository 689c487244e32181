#!/bin/sh
# SPDX-License-Identifier: MIT
# txtrace waits. oracle.sh checks that its rows are true; truth.sh checks that they are those of blocked.
. "${srcdir:-.}/tests/tool/lib.sh"
mksched=$(pwd)/tests/tool/mksched
. "$top/tests/tool/wait_samples.sh"

bad_files waits
fails 2 'takes one file' waits
fails 2 'takes one file' waits a b
fails 2 '--format takes text, json or csv' waits --format jsonl "$scratch/empty"
fails 2 '--sort takes start, duration or object, not size' waits --sort size "$scratch/empty"
for over in 1 ms -1ms 1x '' nan 1e30s; do
	fails 2 '--over takes a duration' waits --over="$over" "$scratch/empty"
done
for rows in 0 -1 1x '' 99999999999999999999; do
	fails 2 '--top takes a number of rows' waits --top="$rows" "$scratch/empty"
done


waits_make
cd "$scratch" || exit 99
golden waits-deadlock waits deadlock
golden waits-wide waits --wide flags
golden waits-csv waits --format csv --sort object flags
golden waits-json waits --format json --top 2 --sort duration convoy
golden waits-range waits --from 20us --until 1s flags

# field NAME [OPTION...]: the values of a field, one on each line
field()
{
	name=$1
	shift
	"$tool" waits --format json "$@" | grep -o "\"$name\": [^,}]*" | sed 's/^[^:]*: //'
}

# --sort sorts by the field, and --top N prints the first N of these rows.
nr_checks=$((nr_checks + 4))
field number convoy >all
sort -n all | cmp -s - all || complain 'the rows are not in the order of the events'
field duration_s --sort duration convoy >all
sort -gr all | cmp -s - all || complain 'the longest wait is not the first row'
for n in 1 2 7 60 61 62; do
	field duration_s --sort duration --top $n convoy >some
	head -n $n all | cmp -s - some || complain "--top $n has other rows"
done
"$tool" waits --top 7 convoy | grep -qx '  the first 7 of 61 waits' || complain 'a limit is not named'

# --over selects waits that are longer, and leaves out those of unknown length.
nr_checks=$((nr_checks + 1))
middle=$(sed -n 30p all)
field duration_s --sort duration --over "${middle}s" convoy >some
awk -v middle="$middle" '$1 > middle' all | cmp -s - some || complain "--over $middle s has other rows"

make_samples
for sample in threadx netx_tcp; do
	golden "waits-$sample" waits "$samples/$sample.trx"
done
nr_checks=$((nr_checks + 1))
"$tool" waits "$samples/netx_tcp.trx" >out
[ "$(wc -L <out)" -le 80 ] || complain "the table is wider than 80 characters: $(cat out)"
# The end of a call belongs to the wait for its object, also if a signal handler waits in the same function.
nr_checks=$((nr_checks + 1))
"$mksched" "$scratch/nested" <<'END' || complain 'no log could be written'
0 event 102 0
10 call 102 0 pthread_mutex_lock begins a 0 0 0
20 call 102 0 pthread_mutex_lock begins b 0 0 0
50 call 102 0 pthread_mutex_lock ends a 0 0 0
60 event 101 0
END
"$tool" waits --format csv "$scratch/nested" | tr -d '\r' | cut -d, -f 3,5,12 | tail -n +2 | tr '\n' ' ' >"$scratch/out"
[ "$(cat "$scratch/out")" = '0.000040000,mutex 0xa,ended ,mutex 0xb,end missing ' ] ||
	complain "two waits for mutexes: $(cat "$scratch/out")"
# Handlers of many signals interrupt each other, and each waits for a mutex of its own.
nr_checks=$((nr_checks + 1))
awk 'BEGIN {
	for (i = 0; i < 60; i++)
		print 10 + i, "call 102 0 pthread_mutex_lock begins", 100 + i, "0 0 0"
	for (i = 59; i >= 0; i--)
		print 200 - i, "call 102 0 pthread_mutex_lock ends", 100 + i, "0 0 0"
	print 300, "event 101 0"
}' | "$mksched" "$scratch/handlers" || complain 'no log could be written'
"$tool" waits --format csv "$scratch/handlers" | tr -d '\r' | tail -n +2 | awk -F, '
	{ ns = 190 - 2 * (NR - 1) }
	$3 != sprintf("%.9f", ns / 1e6) || $12 != "ended" { exit bad = 1 }
	END { exit bad || NR != 60 }' || complain "60 nested waits: $("$tool" waits "$scratch/handlers")"
# The explanation of a wait names those of its handlers, and the other way round.
nr_checks=$((nr_checks + 1))
"$tool" why "$scratch/handlers" >"$scratch/out" 2>&1
printf '%s\n' '102 was 190.0 us waiting for mutex 0x100' '  Signal handlers interrupted this wait, and waited, too:' \
	'    102 was 188.0 us of that waiting for mutex 0x101' >"$scratch/expected"
sed -n 's/ (pthread_mutex_lock).*//; 1,3p' "$scratch/out" | sed 's/^\( *\)[^ ]*102/\1102/' | cmp -s - "$scratch/expected" ||
	complain "why of nested waits: $(cat "$scratch/out")"
nr_checks=$((nr_checks + 1))
"$tool" why "$scratch/handlers" "102@12us" >"$scratch/out" 2>&1
grep -q 'This was in a signal handler. It interrupted .* while it was waiting for mutex 0x' "$scratch/out" ||
	complain "why of a wait in a handler: $(cat "$scratch/out")"

# The owner of a mutex that processes share is not traced: then the holder is not known, and no thread is named.
cat >shared.c <<'END'
#include <pthread.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>
int main(void)
{
	pthread_mutex_t *mutex = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	pthread_mutexattr_t attr;
	int ready[2];
	char byte;

	pthread_mutexattr_init(&attr);
	pthread_mutexattr_setpshared(&attr, PTHREAD_PROCESS_SHARED);
	pthread_mutex_init(mutex, &attr);
	if (pipe(ready) != 0)
		return 1;
	if (fork() == 0) {
		pthread_mutex_lock(mutex);
		if (write(ready[1], "x", 1) != 1)
			return 1;
		usleep(50000);
		pthread_mutex_unlock(mutex);
		return 0;
	}
	if (read(ready[0], &byte, 1) != 1)
		return 1;
	pthread_mutex_lock(mutex);
	pthread_mutex_unlock(mutex);
	return wait(NULL) < 0;
}
END
object=$(dirname "$tool")/../preload/.libs/libtxtrace-preload.so
if [ -e "$object" ] && ${CC:-cc} -pthread shared.c -o shared 2>err; then
	nr_checks=$((nr_checks + 2))
	TXTRACE_PRELOAD=$object TXTRACE_DIR=$scratch/shm "$tool" record --preload --quiet --force -o shared.trx ./shared 2>err ||
		complain "record of a shared mutex: $(cat err)"
	"$tool" waits shared.trx >out
	grep -q 'main+' out || complain "the wait for a shared mutex is not shown: $(cat out)"
	for command in waits blocked why; do
		"$tool" $command shared.trx >out 2>&1
		! grep -q '01ffffff' out || complain "$command names a thread that is not there: $(grep 01ffffff out)"
	done
else
	echo 'SKIP a mutex that processes share: nothing can be preloaded, or there is no compiler'
fi
finish
