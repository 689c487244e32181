#!/bin/sh
# SPDX-License-Identifier: MIT
# What txtrace shows of a program is what the program knows of itself: oracle.h and check.py.
. "${srcdir:-.}/tests/tool/lib.sh"

object=${PRELOAD:-$(pwd)/preload/.libs/libtxtrace-preload.so}
programs=${ORACLES:-$(pwd)/tests/oracle}
[ -e "$object" ] || { echo "SKIP: $object was not built"; exit 77; }
command -v python3 >/dev/null || { echo 'SKIP: python3 is missing'; exit 77; }
check=${PERFETTO_CHECK:-$(pwd)/tests/tool/perfetto_check}
PERFETTO_CHECK=$([ ! -x "$check" ] || echo "$check")
PYTHONDONTWRITEBYTECODE=1
PX_NO_SYMBOLS=
[ ! -e Makefile ] || grep -q '^LIBDW_LIBS = .' Makefile || PX_NO_SYMBOLS=yes
export PERFETTO_CHECK PYTHONDONTWRITEBYTECODE PX_NO_SYMBOLS
TXTRACE_DIR=$scratch/shm
TXTRACE_PRELOAD=$object
export TXTRACE_DIR TXTRACE_PRELOAD
cd "$scratch" || exit 99

# judge PROGRAM [OPTION...]
judge()
{
	program=$1
	shift
	nr_checks=$((nr_checks + 1))
	"$tool" record --preload --force "$@" -o "$program.trx" "$programs/$program" >"$program.account" 2>err || {
		complain "$program fails: $(cat err)"
		return
	}
	[ -s "$program.account" ] || complain "$program has no account"
	python3 "$top/tests/oracle/check.py" "$tool" "$program.account" "$program.trx" >said 2>&1 ||
		complain "$program: $(cat said)"
}

for name in convoy handler holder queue rwlock semaphores barrier deadlock relock lost_wakeup ping_pong one_cpu sockets cpu \
	timers two_cpus storm; do
	judge $name
done
# Without scheduling records, the calls alone must say the same.
for name in convoy handler holder queue rwlock barrier deadlock relock ping_pong timers; do
	judge $name --no-sched
done
nr_checks=$((nr_checks + 1))
"$tool" info --objects sockets.trx >said && grep -q ' socket fd ' said && ! grep -q TCP said ||
	complain "a socket of the family AF_UNIX is called something else: $(grep socket said)"
# The statement that no thread signalled the object needs all signals: from the beginning of the program.
nr_checks=$((nr_checks + 2))
"$tool" record --preload --force --events=-process -o late.trx "$programs/lost_wakeup" >/dev/null 2>err ||
	complain "lost_wakeup fails: $(cat err)"
"$tool" why late.trx forgotten | grep -q 'A signal may be older than the trace' ||
	complain "why does not say that a signal may be older: $("$tool" why late.trx forgotten)"
# An allocator calls functions before the program records that it begins.
cat >early.c <<'END'
#define _GNU_SOURCE
#include <pthread.h>
#include <stddef.h>
static pthread_mutex_t early = PTHREAD_MUTEX_INITIALIZER;
#ifdef __GLIBC__
extern void *__libc_malloc(size_t size);
#define allocate __libc_malloc
#else /* dlsym() of musl does not allocate */
#include <dlfcn.h>
#define allocate ((void *(*)(size_t))dlsym(RTLD_NEXT, "malloc"))
#endif
void *malloc(size_t size)
{
	void *memory;
	pthread_mutex_lock(&early);
	memory = allocate(size);
	pthread_mutex_unlock(&early);
	return memory;
}
END
nr_checks=$((nr_checks + 1))
if ${CC:-cc} -shared -fPIC early.c -o early.so 2>err; then
	LD_LIBRARY_PATH=${tool%/*}/../lib/.libs${LD_LIBRARY_PATH:+:$LD_LIBRARY_PATH} LD_PRELOAD=$scratch/early.so \
		"$(binary_of "$tool")" record --preload --force -o early.trx "$programs/lost_wakeup" >/dev/null 2>err ||
		complain "lost_wakeup fails: $(cat err)"
	"$tool" why early.trx forgotten >said 2>&1
	grep -q 'No thread of this trace signalled' said && ! grep -q 'may be older' said ||
		complain "why doubts that the log has the beginning: $(cat said)"
else
	complain "early.c is not compiled: $(cat err)"
fi
# A gap hides that a thread has unlocked: locks tells neither a deadlock nor a hold that was not.
# hidden HOW: the log hidden.trx, and what locks says of it
hidden()
{
	nr_checks=$((nr_checks + 1))
	LD_LIBRARY_PATH=$libraries${LD_LIBRARY_PATH:+:$LD_LIBRARY_PATH} LD_PRELOAD="$object $scratch/sleeps.so" \
		"$scratch/hidden" hidden.trx "$1" 2>err || complain "hidden $1 fails: $(cat err)"
	"$tool" print hidden.trx | grep -q 'pthread_mutex_[a-z]*lock .*owner=hidden' ||
		complain "hidden $1: no thread found a mutex locked"
	"$tool" locks hidden.trx >said || complain "hidden $1: locks fails"
}
libraries=$(cd "${tool%/*}/../lib/.libs" 2>/dev/null && pwd)
if ! echo '#include <features.h>' | ${CC:-cc} -E -dM - 2>/dev/null | grep -q __GLIBC__; then
	: # a mutex of musl does not have the number of its owner
elif ${CC:-cc} -shared -fPIC -pthread -DSLEEPS "$top/tests/oracle/hidden.c" -o sleeps.so 2>err &&
	${CC:-cc} -g -pthread -D_FILE_OFFSET_BITS=64 -D_TIME_BITS=64 "-I$top/include" "$top/tests/oracle/hidden.c" -o hidden "-L$libraries" -lposixtrace ./sleeps.so 2>err; then
	for how in turn wait again; do
		hidden $how
		! grep -qE 'potential deadlock|no danger' said ||
			complain "hidden $how: locks takes a lock for held that was given back: $(cat said)"
	done
	"$tool" locks --format csv hidden.trx >said
	awk -F, 'NR == 1 { for (i = 1; i <= NF; i++) if ($i == "max_s") column = i } NR > 1 && $column + 0 >= 0.1 { exit 1 }
		END { if (!column) exit 1 }' said || complain "hidden again: two holds are one: $(cat said)"
	hidden kept
	grep -q 'potential deadlock' said || complain "hidden kept: no deadlock: $(cat said)"
else
	complain "hidden.c is not compiled: $(cat err)"
fi
judge calls
judge fork_tree --inherit
judge family --inherit
judge deaths --inherit
nr_checks=$((nr_checks + 1))
"$tool" why deaths.trx main >said 2>&1 && grep -q '^deaths ' said || complain "why does not find main: $(cat said)"
judge shared --inherit --size 256K
# Chance decides which events are lost, so run it several times.
for size in 16K 64K 64K; do
	judge gaps --size $size
done
finish
