#!/bin/sh
# SPDX-License-Identifier: MIT
# The wrappers of synchronisation functions: a program behaves with the object as without it, and the trace has each
# call with the right data. UPDATE_GOLDEN=1 writes the lists again: read the difference before you commit it.
set -u

srcdir=${srcdir:-.}
here=$srcdir/tests/preload
all=mutex,spin,rwlock,barrier,once,cond,sem,mq,sleep
object=$(pwd)/preload/.libs/libtxtrace-preload.so
early=$(pwd)/tests/preload/.libs/sync_early.so
tool=${TXTRACE:-$(pwd)/bin/txtrace}
LC_ALL=C
export LC_ALL
unset LD_PRELOAD

[ -r "$object" ] || { echo "FAIL: there is no $object"; exit 99; }
. "$srcdir/tests/support/complain.sh"
TXTRACE_DIR=$scratch/shm
export TXTRACE_DIR
nr_checks=0

# same NAME: $scratch/NAME must be what the program prints without the object
same()
{
	nr_checks=$((nr_checks + 1))
	cmp -s "$scratch/plain" "$scratch/$1" || {
		complain "$program says something else $1:"
		diff "$scratch/plain" "$scratch/$1" | head -20
	}
}

# runs NAME COMMAND...: it must succeed in time
runs()
{
	name=$1
	shift
	nr_checks=$((nr_checks + 1))
	timeout 120 "$@" >"$scratch/$name" 2>"$scratch/err" </dev/null
	code=$?
	[ "$code" -eq 0 ] || complain "$* exits with $code: $(tail -3 "$scratch/err")"
}

# Run the program without the object, with it, and while it is recorded.
does_the_same()
{
	program=$1
	runs plain "tests/preload/$program"
	runs loaded env LD_PRELOAD="$object" "tests/preload/$program"
	same loaded
	runs recorded "$tool" record --force -o "$scratch/log.trx" -- \
		env LD_PRELOAD="$object" "tests/preload/$program"
	same recorded
	runs check "$tool" check "$scratch/log.trx"
}

is_as_listed()
{
	cmp -s "$here/${program%64}.txt" "$scratch/calls" || {
		complain "of $program something else is $1:"
		diff "$here/${program%64}.txt" "$scratch/calls" | head -20
	}
}

# is_recorded PROGRAM GROUPS: compare what is recorded of it
is_recorded()
{
	program=$1
	groups=$2
	runs calls tests/preload/calls_of "$object" "$groups" \
		"$(pwd)/tests/preload/$program"
	if [ "${UPDATE_GOLDEN:-}" = 1 ]; then
		cp "$scratch/calls" "$here/${program%64}.txt"
	else
		is_as_listed recorded
		runs calls tests/preload/calls_of -2 "$object" "$groups" "$(pwd)/tests/preload/$program"
		is_as_listed 'recorded in a second stream'
	fi
}

for calls in sync_calls sync_calls64; do # the second one has times of 64 bits, where time_t has 32
	[ -x "tests/preload/$calls" ] || continue
	does_the_same "$calls"
	if grep -q '0600, &attr)) >= 0 = 1' "$scratch/plain" && grep -q '0600, 3) = 1' "$scratch/plain" &&
		grep -q pthread_mutex_consistent "$scratch/plain"; then
		is_recorded "$calls" "$all"
	else
		echo "note: without message queues, named semaphores or lists of robust mutexes the list of calls is" \
			"another one"
	fi
done
does_the_same sync_leaves
# The unwinder has work that it does only once.  On ARM, it does not get through the functions of C11 of the C library.
if grep -q '^sem: unwound: 1' "$scratch/plain" && grep -q '^thrd_sleep: unwound: 1' "$scratch/plain"; then
	is_recorded sync_leaves mutex,cond,sem,sleep
else
	echo "note: a cancellation runs no handlers here, so the list of calls is another one"
fi

# A constructor that runs before that of the object.
runs plain env LD_PRELOAD="$early" tests/preload/sync_stress 20
grep -q 'all well' "$scratch/plain" || complain "sync_early does not do without the object: $(cat "$scratch/plain")"
runs loaded env LD_PRELOAD="$object $early" tests/preload/sync_stress 20
program=sync_early
same loaded
runs recorded "$tool" record --force -o "$scratch/log.trx" -- \
	env LD_PRELOAD="$object $early" tests/preload/sync_stress 20
same recorded

# Many threads at the same time: no mutex has two owners in the trace, and the log is in order.
does_the_same sync_stress
runs calls tests/preload/calls_of "$object" "$all" "$(pwd)/tests/preload/sync_stress"
for call in pthread_mutex_lock pthread_cond_wait pthread_barrier_wait pthread_spin_lock pthread_rwlock_rdlock sem_wait \
	mtx_lock cnd_wait; do
	nr_checks=$((nr_checks + 1))
	grep -q "^$call" "$scratch/calls" || complain "the stress has no $call"
done

echo "$nr_checks checks, $failed failed"
[ "$failed" -eq 0 ]
