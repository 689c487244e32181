#!/bin/sh
# SPDX-License-Identifier: MIT
# What is known to break programs or traces under LD_PRELOAD, one row each, with the tests that show that it does not
# happen here: file:word (the word is in the file, under tests/), or a part of this script.
. "${srcdir:-.}/tests/tool/lib.sh"
. "$top/tests/preload/objects.sh"
CC=${CC:-cc}
READELF=${READELF:-readelf}
cd "$scratch" || exit 99

cat >table <<'TABLE'
P1 pitfalls.sh:p1_versions pitfalls.sh:p1_every_wrapper
P2 pitfalls.sh:p2_old_conditions pitfalls.sh:p2_old_c11
P3 preload/guests.sh:newer preload/sync.sh:sync_early preload/descriptors.sh:heap
P4 preload/guests.sh:jemalloc
P5 pitfalls.sh:p5_thread_storage
P6 preload/guests.sh:handler preload/direct.sh:direct
P7 preload/descriptors.sh:loaded preload/sync.sh:loaded preload/processes.sh:same
P8 preload/aliases.sh:exported
P9 preload/descriptors.c:__isoc99_fscanf preload/sync_calls.txt:usleep preload/children.sh:popen
P10 preload/sync_calls.txt:pthread_cond_clockwait pitfalls.sh:p10_missing
P11 pitfalls.sh:p11_futexes
P12 preload/children.sh:vforks
P13 preload/children.sh:forks
P14 preload/children.sh:match=
P15 preload/standalone.sh:rights tool/doctor.sh:because
P16 tool/record.sh:statically tool/doctor.sh:static
P17 tool/doctor.sh:RTLD_DEEPBIND preload/guests.sh:exchange
P18 preload/guests.sh:wraps.so preload/children.sh:ldd
P19 pitfalls.sh:p19_handlers preload/guests.sh:handler
P20 preload/sync.sh:sync_leaves preload/processes.sh:cancels pitfalls.sh:p20_exceptions
P21 preload/standalone.sh:early preload/standalone.sh:leaves preload/standalone.sh:dies
P22 preload/standalone.sh:possessions
P23 preload/guests.sh:copy.so preload/standalone.sh:unloads pitfalls.sh:p23_stays
P24 preload/guests.sh:libasan.so tool/record.sh:libasan.so
P25 pitfalls.sh:p25_tsan
P26 pitfalls.sh:p26_no_versions
P27 pitfalls.sh:p27_costs_are_told
P28 preload/standalone.sh:needed
P29 preload/guests.sh:strict preload/guests.sh:filter preload/guests.sh:kills
P30 preload/sync_calls.c:ROBUST preload/sync_calls.c:INHERIT
P31 preload/standalone.sh:closes preload/guests.sh:naked
TABLE

# is WHAT EXPECTED FOUND
is()
{
	nr_checks=$((nr_checks + 1))
	[ "$2" = "$3" ] || complain "$1: $3, not $2"
}

# The call must end soon, even if a wrapper makes the program wait for ever.
traced()
{
	trace=$1
	shift
	nr_checks=$((nr_checks + 1))
	timeout -k 1 120 ${fixed:-} "$tool" record --force --size 8M -o "$trace" -- env \
		LD_PRELOAD="${ahead:-}$object" "$@" \
		2>record.err
	status=$?
	[ -s "$trace" ] || complain "no trace of $*: $(cat record.err)"
	return "$status"
}

# build NAME [OPTION...]: from NAME.c
build()
{
	output=$1
	shift
	$CC -D_GNU_SOURCE -pthread "$output.c" -o "$output" "$@" 2>cc.err
}

# The object has each version of each wrapped name; no single program uses all of them.
p1_versions()
{
	"$READELF" --dyn-syms -W "$object" >symbols
	wrappers >wanted
	awk '$5 == "GLOBAL" && $7 ~ /^[0-9]+$/ { print $8 }' symbols | sort >given
	is 'names with a version' '' "$(grep @ given | head -3)"
	is 'wrappers that the object does not export' '' "$(comm -13 given wanted)"
}

# Each wrapper records an event in a program that calls its function, if the C library has the function.
p1_every_wrapper()
{
	command -v python3 >/dev/null || { echo 'SKIP p1_every_wrapper: python3 is missing'; return; }
	mkdir here
	TXTRACE_EVENTS=all
	export TXTRACE_EVENTS
	traced calls.trx "$programs/descriptors" "$scratch/here" >out
	for wide in "$programs"/*64; do # the same with times of 64 bits, where time_t has 32
		case $wide in
		*/descriptors64) set -- "$scratch/here" ;;
		*/sync_calls64) set -- ;;
		*) continue ;;
		esac
		traced "${wide##*/}.trx" "$wide" "$@" >out
	done
	traced heap.trx "$programs/descriptors" "$scratch/here" heap >out
	traced sync.trx "$programs/sync_calls" >out
	traced waits.trx "$programs/../oracle/calls" >out
	# $CC has the options for times of 64 bits, if there are any.
	cat >timed.c <<'END'
#include <signal.h>
#include <sys/ipc.h>
#include <sys/sem.h>
#include <time.h>
int main(void)
{
	const struct timespec soon = {0, 1000};
	struct sembuf down = {0, -1, 0};
	int set = semget(IPC_PRIVATE, 1, 0600);
	sigset_t signals;
	sigemptyset(&signals);
	sigaddset(&signals, SIGUSR1);
	sigtimedwait(&signals, NULL, &soon);
	semtimedop(set, &down, 1, &soon);
	return semctl(set, 0, IPC_RMID);
}
END
	build timed || complain "timed.c is not compiled: $(cat cc.err)"
	traced timed.trx ./timed >out
	for acts in "$programs/acts" "$programs/acts64"; do
		[ -x "$acts" ] || continue
		for act in $("$acts" list); do
			traced "${acts##*/}-$act.trx" "$acts" "$act" >out 2>&1
		done
	done
	unset TXTRACE_EVENTS
	for trace in ./*.trx; do
		"$tool" info --format json "$trace" >"$trace.json" 2>err || complain "info: $(cat err)"
	done
	python3 - ./*.json >never <<'END' || complain 'the wrappers of these traces cannot be read'
import json, sys
calls = {}
for path in sys.argv[1:]:
    for row in json.load(open(path)).get("wrappers", []):
        if row["state"] != "missing":
            calls[row["symbol"]] = calls.get(row["symbol"], 0) + row["calls"]
assert len(calls) > 200, len(calls)
# Calls that install a handler are not recorded. When the handler runs, it records outside of all wrappers.
handlers = "sigaction signal ssignal sysv_signal __sysv_signal bsd_signal sigset".split()
# Other symbols of sigsuspend(), which today's headers do not declare.
old = "sigpause __sigpause __xpg_sigpause __sigsuspend".split()
print(*sorted(symbol for symbol in calls if calls[symbol] == 0 and symbol not in handlers + old))
END
	is 'wrappers that never fired' '' "$(cat never)"
}

# A program that was linked with an old glibc uses the old versions of the condition variables; all calls on one
# condition use one version.
p2_old_conditions()
{
	cat >old.c <<'END'
#include <pthread.h>
#include <stdio.h>
#include <time.h>
#define OLD(name) __asm__(".symver " #name "," #name "@GLIBC_2.2.5")
OLD(pthread_cond_init);
OLD(pthread_cond_destroy);
OLD(pthread_cond_wait);
OLD(pthread_cond_timedwait);
OLD(pthread_cond_signal);
OLD(pthread_cond_broadcast);
static struct { pthread_cond_t cond; char behind[64]; } made, fixed = {PTHREAD_COND_INITIALIZER, ""};
static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static int turn;
static void *answer(void *unused)
{
	pthread_mutex_lock(&mutex);
	for (int i = 0; i < 50; i++) {
		while (turn % 2 == 0)
			pthread_cond_wait(&made.cond, &mutex);
		turn++;
		pthread_cond_broadcast(&fixed.cond);
	}
	pthread_mutex_unlock(&mutex);
	return unused;
}
int main(void)
{
	struct timespec time = {1, 0};
	pthread_t thread;
	int result = pthread_cond_init(&made.cond, NULL);
	pthread_create(&thread, NULL, answer, NULL);
	pthread_mutex_lock(&mutex);
	for (int i = 0; i < 50; i++) {
		turn++;
		pthread_cond_signal(&made.cond);
		while (turn % 2 == 1)
			pthread_cond_wait(&fixed.cond, &mutex);
	}
	printf("%d %d %d\n", result, turn, pthread_cond_timedwait(&made.cond, &mutex, &time));
	pthread_mutex_unlock(&mutex);
	pthread_join(thread, NULL);
	for (int i = 0; i < 64; i++)
		if (made.behind[i] || fixed.behind[i])
			puts("something was written behind it");
	return pthread_cond_destroy(&made.cond) | pthread_cond_destroy(&fixed.cond);
}
END
	if ! build old || ! timeout 120 ./old >plain; then
		echo 'SKIP p2_old_conditions: this C library has none'
		return
	fi
	"$READELF" --dyn-syms -W old | grep -q 'pthread_cond_wait@GLIBC_2.2.5' ||
		complain 'the program does not ask for the old ones'
	traced old.trx ./old >out || complain "old: it exits with $?"
	is 'old conditions, traced' "$(cat plain)" "$(cat out)"
	is 'old conditions that are waited for' yes "$([ "$(events_of old.trx pthread_cond_wait)" -gt 0 ] && echo yes)"
	LD_PRELOAD=$object timeout 120 ./old >out || complain "old, not traced: it exits with $?"
	is 'old conditions, not traced' "$(cat plain)" "$(cat out)"
	"$tool" info --wrappers old.trx | awk '$1 ~ /^pthread_cond_(wait|signal|init)$/ && /GLIBC_2\.2\.5/' >versions
	is 'old functions that are called' '' "$(cat versions)"
}

# A program that was linked before glibc 2.34 expects the C11 threads in a separate library.
p2_old_c11()
{
	for name in thrd_create thrd_join mtx_init mtx_lock mtx_timedlock mtx_unlock cnd_init cnd_wait cnd_signal; do
		echo "__asm__(\".symver $name,$name@GLIBC_2.28\");"
	done >old11.c
	cat "$top/tests/preload/scenarios/c11.c" >>old11.c
	if ! build old11 || ! timeout 10 ./old11; then
		echo 'SKIP p2_old_c11: this C library has none'
		return
	fi
	"$READELF" --dyn-syms -W old11 | grep -q 'mtx_lock@GLIBC_2.28' ||
		complain 'the program does not ask for the old ones'
	traced old11.trx ./old11 >out || complain "old11: it exits with $?"
	is 'threads and locks of C11 of old' '2 1 1' \
		"$(for name in thrd_create mtx_timedlock cnd_wait; do
			"$tool" print old11.trx | grep -v wait=ends | grep -c " $name "
		done | paste -sd' ')"
}

# No function allocates thread-local memory, and the object has little of it: the loader keeps 512 bytes for libraries
# that a program loads later.
p5_thread_storage()
{
	"$READELF" --dyn-syms -W "$object" >symbols
	is 'calls of __tls_get_addr' 0 "$(grep -c __tls_get_addr symbols)"
	# For aarch64, linkers before binutils 2.41 do not set the flag.
	case $("$READELF" -d "$object"; "$READELF" -rW "$object") in
	*TLSDESC*) complain 'memory of threads is not static' ;;
	*STATIC_TLS* | *_TLS_TPREL*) ;;
	*) complain 'memory of threads is not static' ;;
	esac
	size=$("$READELF" -lW "$object" | awk '$1 == "TLS" { print $6 }')
	nr_checks=$((nr_checks + 1))
	[ "$((size))" -le 128 ] || complain "each thread has $((size)) bytes"
	is 'what threads begin with that is not zero' 0 \
		"$(($("$READELF" -lW "$object" | awk '$1 == "TLS" { print $5 }')))"
}

# The log lists the functions that this C library lacks, and no call of them.  Each other function has its version.
p10_missing()
{
	traced none.trx "$programs/acts" pthread_create >out
	"$tool" info --wrappers none.trx >list
	nr_checks=$((nr_checks + 1))
	grep -qE '^pthread_cond_clockwait +(GLIBC_[0-9.]+ .*installed|.*missing) ' list ||
		complain "of clockwait: $(grep clockwait list)"
	sed -n '/^wrapper  *version/,$p' list >rows
	is 'missing functions that were called' '' "$(awk '/ missing / && $(NF - 1) > 0' rows)"
	is 'functions without a version' '' "$(awk '/ installed / && $2 !~ /^GLIBC_/' rows)"
}

# A lock of futexes: the program calls no pthread function, and the tool says so instead of printing empty tables.
p11_futexes()
{
	cat >futexes.c <<'END'
#include <linux/futex.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <sys/syscall.h>
#include <unistd.h>
static atomic_int word;
static int sum;
static void lock(void)
{
	int free = 0;
	if (atomic_compare_exchange_strong(&word, &free, 1))
		return;
	while (atomic_exchange(&word, 2) != 0)
		syscall(SYS_futex, &word, FUTEX_WAIT_PRIVATE, 2, NULL);
}
static void unlock(void)
{
	if (atomic_exchange(&word, 0) == 2)
		syscall(SYS_futex, &word, FUTEX_WAKE_PRIVATE, 1);
}
static void *add(void *unused)
{
	for (int i = 0; i < 2000; i++) {
		lock();
		sum++;
		unlock();
	}
	return unused;
}
int main(void)
{
	pthread_t threads[3];
	for (int i = 0; i < 3; i++)
		pthread_create(&threads[i], NULL, add, NULL);
	for (int i = 0; i < 3; i++)
		pthread_join(threads[i], NULL);
	printf("%d\n", sum);
	return 0;
}
END
	build futexes || { complain "futexes: $(cat cc.err)"; return; }
	traced futexes.trx ./futexes >out || complain "futexes: it exits with $?"
	is 'futexes' 6000 "$(cat out)"
	traced locks.trx "$programs/sync_stress" 20 >out
	for command in info locks blocked report; do
		nr_checks=$((nr_checks + 2))
		"$tool" $command futexes.trx >out 2>&1
		grep -q '0 pthread locks recorded.*futexes directly' out ||
			complain "$command does not mention futexes: $(head -5 out)"
		"$tool" $command locks.trx >out 2>&1
		! grep -q '0 pthread locks recorded' out ||
			complain "$command mentions futexes although there are locks"
	done
}

# A handler calls functions that it may call, and interrupts the same functions.
p19_handlers()
{
	cat >handlers.c <<'END'
#include <fcntl.h>
#include <semaphore.h>
#include <signal.h>
#include <stdio.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <unistd.h>
static volatile sig_atomic_t nr;
static sem_t sem;
static int ends[2];
static void handle(int number)
{
	char byte = 1;
	int fd = open("/dev/null", O_RDWR);
	if (write(fd, &byte, 1) != 1 || close(fd) != 0 || sem_post(&sem) != 0 || send(ends[0], &byte, 1, MSG_DONTWAIT) == 0)
		_exit(number);
	nr++;
}
int main(void)
{
	struct itimerval time = {{0, 500}, {0, 500}};
	char byte;
	sem_init(&sem, 0, 0);
	if (socketpair(AF_UNIX, SOCK_DGRAM, 0, ends) != 0)
		return 1;
	signal(SIGALRM, handle);
	setitimer(ITIMER_REAL, &time, NULL);
	while (nr < 200) {
		int fd = open("/dev/zero", O_RDONLY);
		if (fd < 0 || read(fd, &byte, 1) != 1 || close(fd) != 0)
			return 2;
		sem_trywait(&sem);
		recv(ends[1], &byte, 1, MSG_DONTWAIT);
	}
	puts("all of them");
	return 0;
}
END
	build handlers || { complain "handlers: $(cat cc.err)"; return; }
	TXTRACE_EVENTS=+signal
	export TXTRACE_EVENTS
	traced handlers.trx ./handlers >out || complain "handlers: it exits with $?"
	unset TXTRACE_EVENTS
	is 'handlers' 'all of them' "$(cat out)"
	nr=$("$tool" info --wrappers handlers.trx | awk '$1 == "sem_post" { print $(NF - 1) }')
	is "posts of handlers: $nr" yes "$([ "$nr" -ge 200 ] && echo yes)"
}

# An exception that passes through pthread_once(), and a cancellation that unwinds a thread.
p20_exceptions()
{
	cat >throws.cc <<'END'
#include <cstdio>
#include <pthread.h>
#include <unistd.h>
static pthread_once_t once = PTHREAD_ONCE_INIT;
static int nr_thrown, nr_unwound;
struct guard {
	~guard() { nr_unwound++; }
};
static void try_first()
{
	guard on_the_stack;
	if (nr_thrown++ < 2)
		throw nr_thrown;
}
static void *wait_for_ever(void *unused)
{
	guard on_the_stack;
	for (;;)
		pause();
	return unused;
}
int main()
{
	pthread_t thread;
	for (int i = 0; i < 4; i++)
		try {
			pthread_once(&once, try_first);
		} catch (int which) {
			printf("caught %d\n", which);
		}
	pthread_create(&thread, nullptr, wait_for_ever, nullptr);
	usleep(10000);
	pthread_cancel(thread);
	pthread_join(thread, nullptr);
	printf("%d thrown, %d unwound\n", nr_thrown, nr_unwound);
}
END
	if ! ${CXX:-c++} -pthread throws.cc -o throws 2>cc.err || ! timeout 120 ./throws >plain; then
		echo 'SKIP p20_exceptions: there is no C++ compiler'
		return
	fi
	traced throws.trx ./throws >out || complain "throws: it exits with $?"
	is 'exceptions' "$(cat plain)" "$(cat out)"
}

p23_stays()
{
	"$READELF" -d "$object" | grep -q NODELETE || complain 'the object can be unloaded'
	nr_checks=$((nr_checks + 1))
}

# ThreadSanitizer is itself before the C library, and calls it under its own names.
p25_tsan()
{
	cp "$top/tests/preload/sync_stress.c" tsan.c
	# If address randomisation is too strong, some versions of it do not run.
	fixed="setarch $(uname -m) -R"
	$fixed true 2>/dev/null || fixed=
	if ! build tsan -fsanitize=thread || ! timeout 120 $fixed ./tsan 5 >plain 2>err; then
		echo 'SKIP p25_tsan: ThreadSanitizer is missing, or does not run here'
		fixed=
		return
	fi
	ahead="$($CC -print-file-name=libtsan.so) "
	traced tsan.trx ./tsan 5 >out || complain "tsan: it exits with $?: $(head -5 record.err)"
	ahead=
	fixed=
	is 'under ThreadSanitizer' "$(cat plain)" "$(cat out)"
	is 'races that it found' 0 "$(grep -c 'WARNING: ThreadSanitizer' record.err)"
	is 'locks under ThreadSanitizer' yes "$([ "$(events_of tsan.trx pthread_mutex_lock)" -gt 0 ] && echo yes)"
}

# A C library without symbol versions has no dlvsym(), so code that needs it is compiled for glibc alone.
p26_no_versions()
{
	awk '/^#if/ { deep++; glibc[deep] = /__GLIBC__/ } /^#else/ { glibc[deep] = 0 } /^#endif/ { deep-- }
		/dlvsym\(|gnu_get_libc_version\(|Verdef|__data\./ && !/^ \*/ {
			for (ok = i = 0; i <= deep; i++) ok += glibc[i]
			if (!ok) print FILENAME ": " $0
		}' "$top"/preload/*.[ch] "$top"/preload/*/*.[ch] >bare
	is 'uses of what only glibc has' '' "$(cat bare)"
	is 'places that ask for a version' 1 "$(grep -c 'dlvsym(RTLD' "$top/preload/resolve.c")"
}

# The trace has the cost of each wrapper that was called often enough.
p27_costs_are_told()
{
	cat >pairs.c <<'END'
#include <pthread.h>
int main(void)
{
	static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
	for (int i = 0; i < 20000; i++) {
		pthread_mutex_lock(&mutex);
		pthread_mutex_unlock(&mutex);
	}
	return 0;
}
END
	build pairs || { complain "pairs: $(cat cc.err)"; return; }
	traced pairs.trx ./pairs
	"$tool" info --wrappers pairs.trx >costs
	size=$((32 * 1024 * 1024 / $(getconf _NPROCESSORS_CONF)))
	[ $size -le 4194304 ] || size=4194304
	[ $size -ge 1048576 ] || size=1048576
	LD_PRELOAD=$object TXTRACE_OUT=own.trx ./pairs
	"$tool" record --preload --force -q -o usual.trx ./pairs
	for log in own.trx usual.trx; do
		given=$("$tool" info "$log" | sed -n 's/^stream size  *//p')
		is "bytes of a ring, $log: $given" yes "$([ "$given" -ge $size ] &&
			[ "$given" -lt $((size * 3 / 2)) ] && echo yes)"
		# The log counts each lost event: there are two calls in each round, and no other calls.
		is "locks and unlocks, $log" 40000 "$("$tool" info "$log" | sed -n 's/^calls of pthread locks  *//p')"
		lost=$("$tool" info "$log" | sed -n 's/^lost: [a-z]*  *//p' | paste -sd+)
		is "locks and unlocks, in $log or lost" yes \
			"$([ $(($(names_and_data "$log" | grep -cE '^pthread_mutex_(un)?lock ') + $lost)) -ge 40000 ] &&
				echo yes)"
	done
	is 'costs of locks and unlocks' 2 \
		"$(grep -cE '^pthread_mutex_(un)?lock +GLIBC_[0-9.]+ .*installed +20000 +-?[0-9][0-9.]*$' costs)"
}

# The table: the test of each row exists, and each known fault has a row.
seq 1 31 | sed 's/^/P/' >expected
awk '{ print $1 }' table | diff - expected >differences || complain "rows: $(cat differences)"
while read -r row tests; do
	nr_checks=$((nr_checks + 1))
	[ -n "$tests" ] || complain "$row has no test"
	for test in $tests; do
		case $test in
		pitfalls.sh:*) "${test#*:}" </dev/null || complain "$row: $test failed" ;;
		*)
			grep -qF -e "${test#*:}" "$top/tests/${test%%:*}" || complain "$row: $test is not there"
			;;
		esac
	done
done <table
finish
