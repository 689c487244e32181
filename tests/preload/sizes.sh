#!/bin/sh
# SPDX-License-Identifier: MIT
# Programs of both word sizes: a program of 64 bits executes one of 32 bits, and the reverse.  If the preloaded object
# is installed for both sizes, both programs are in the log, and it says of them what they know of themselves.  If there
# is only one, the other program runs as without it, and the tool says that it was not traced.
#
# make check-sizes builds the object of 32 bits; without it, a part is skipped.
. "${srcdir:-.}/tests/preload/acts.sh"

small_cc="${CC:-cc} -m32"
cat >other.c <<'END'
#include <errno.h>
#include <stdio.h>
int main(void)
{
	puts(sizeof(void *) == 4 ? "other" : "own");
	return 7;
}
END
# Debian's gcc-12-multilib lacks the headers that depend on the processor; gcc-multilib has them.
$small_cc other.c -o other 2>/dev/null || {
	small_cc="$small_cc -idirafter /usr/include/$(${CC:-cc} -print-multiarch 2>/dev/null)"
	$small_cc other.c -o other 2>/dev/null
}
./other >out 2>/dev/null
[ $? -eq 7 ] && [ "$(cat out)" = other ] && [ "$(uname -m)" = x86_64 ] || {
	echo 'SKIP: no C library and no compiler for programs of 32 bits (Debian: apt-get install gcc-multilib)'
	exit 77
}
cat >parent.c <<'END'
#define _GNU_SOURCE
#include <pthread.h>
#include <spawn.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

static pthread_mutex_t parents_lock = PTHREAD_MUTEX_INITIALIZER;

/* parent spawn|bare|exec|system FILE...; with "bare" the child has no variables */
int main(int argc, char **argv)
{
	char *empty[] = {NULL};
	int status = 0;
	pid_t child;

	if (argc < 3)
		return 99;
	pthread_mutex_lock(&parents_lock);
	pthread_mutex_unlock(&parents_lock);
	if (strcmp(argv[1], "exec") == 0)
		return execv(argv[2], argv + 2);
	if (strcmp(argv[1], "system") == 0)
		status = system(argv[2]);
	else if (posix_spawn(&child, argv[2], NULL, NULL, argv + 2, strcmp(argv[1], "bare") ? environ : empty) != 0 ||
		 waitpid(child, &status, 0) != child)
		return 98;
	return WIFEXITED(status) ? WEXITSTATUS(status) : 97;
}
END
${CC:-cc} parent.c -o parent64 && $small_cc parent.c -o parent32 || complain 'parent.c is not compiled'

cat >crowd.c <<'END'
#include <sys/wait.h>
#include <unistd.h>

/* crowd NR FILE...: NR processes execute each of the programs at once; the status is the number of those that fail */
int main(int argc, char **argv)
{
	int gate[2], status, nr_failed = 0;
	char byte;

	if (argc < 3 || pipe(gate) != 0)
		return 99;
	for (int i = 0; i < (*argv[1] - '0') * (argc - 2); i++)
		if (fork() == 0) {
			char *program = argv[2 + i % (argc - 2)];

			close(gate[1]);
			if (read(gate[0], &byte, 1) == 0)
				execl(program, program, (char *)0);
			_exit(98);
		}
	close(gate[1]);
	while (wait(&status) > 0)
		nr_failed += status != 0;
	return nr_failed;
}
END
${CC:-cc} crowd.c -o crowd64 && $small_cc crowd.c -o crowd32 || complain 'crowd.c is not compiled'

# recorded EXPECTED LOG COMMAND...: the command has this status, and stderr has only lines of the tool
recorded()
{
	expected=$1
	log=$2
	shift 2
	nr_checks=$((nr_checks + 2))
	timeout -k 1 120 "$tool" record --preload --inherit --force --no-sched -o "$log" "$@" >out 2>err </dev/null
	code=$?
	[ "$code" -eq "$expected" ] || complain "$*: status $code, not $expected: $(cat err)"
	! grep -v '^txtrace: ' err || complain "$*: the dynamic loader says: $(cat err)"
}

# Only one object.
TXTRACE_PRELOAD=$object
export TXTRACE_PRELOAD
for how in spawn bare exec; do
	recorded 7 one.trx ./parent64 $how ./other
	is "$how with one object: what the child prints" other "$(cat out)"
	[ $how = exec ] || grep -q '1 process recorded no program.*another kind of machine or word size.*could not map the trace' err ||
		complain "$how: nothing is said of the child: $(cat err)"
done
timeout -k 1 120 "$tool" record --preload --force -o none.trx ./other >out 2>err &&
	complain 'a program without an object is recorded'
grep -q 'other is 32-bit x86, and libtxtrace-preload.so is 64-bit x86-64; the one for such programs is not' err ||
	complain "for a program without an object, the tool says: $(cat err)"

small=${OTHER_OBJECT:-$here/sizes/preload/.libs/libtxtrace-preload.so}
if [ ! -e "$small" ]; then
	echo 'SKIP objects of both word sizes: make check-sizes builds the other one'
	finish
fi
command -v python3 >/dev/null || { echo 'SKIP objects of both word sizes: python3 is missing'; finish; }

# Where the dynamic loaders look: each has another name for $LIB, so it can be in LD_PRELOAD.
lib_of()
{
	"$1" --list-diagnostics 2>/dev/null | sed -n 's/^dl_dst_lib="\(.*\)"$/\1/p'
}
lib64=$(lib_of /lib64/ld-linux-x86-64.so.2)
lib32=$(lib_of /lib/ld-linux.so.2)
lib64=${lib64:-lib64}
lib32=${lib32:-lib32}
mkdir -p "px/$lib64" "px/$lib32" pair/lib pair/lib32
cp "$object" "px/$lib64" && cp "$small" "px/$lib32" && cp "$object" pair/lib && cp "$small" pair/lib32 || exit 99
cat >shows.c <<'END'
#include <stdio.h>
#include <stdlib.h>
int main(void)
{
	const char *objects = getenv("LD_PRELOAD");

	puts(objects ? objects : "nothing");
	return 7;
}
END
${CC:-cc} shows.c -o shows64 && $small_cc shows.c -o shows32 || complain 'shows.c is not compiled'
for size in 64 32; do
	cc=${CC:-cc}
	[ $size = 64 ] || cc="$small_cc -Wno-psabi"
	$cc -D_GNU_SOURCE -I"$top/tests" "$top/tests/oracle/queue.c" "$top/tests/oracle/oracle.c" -pthread \
		-o queue$size || complain "queue$size is not compiled"
done

# judge LOG [exec]: the account is in the file `out`.  After exec, a process has had two threads `main`, and the account
# does not say which of them it means; then only the calls are counted.
judge()
{
	nr_checks=$((nr_checks + 1))
	if [ "${2:-}" = exec ]; then
		is "signals in $1" 10 "$(events "$1" pthread_cond_signal)"
		return
	fi
	[ -s out ] || complain "$1: there is no account"
	PYTHONDONTWRITEBYTECODE=1 python3 "$top/tests/oracle/check.py" "$tool" out "$1" >said 2>&1 ||
		complain "$1: $(cat said)"
}

for place in "px/$lib64" pair/lib; do
	TXTRACE_PRELOAD=$scratch/$place/libtxtrace-preload.so
	recorded 0 alone.trx ./queue32
	judge alone.trx
	for how in spawn bare exec; do
		recorded 0 down.trx ./parent64 $how ./queue32
		judge down.trx $how
		recorded 0 up.trx ./parent32 $how ./queue64
		judge up.trx $how
		recorded 0 twice.trx ./parent64 spawn ./parent32 $how ./queue64
		judge twice.trx $how
		! grep 'recorded no' err || complain "$place, $how: $(cat err)"
	done
done

# Programs of both sizes that begin at once share the names and rings of the stream.
for size in 64 32; do
	for round in 1 2 3; do
		recorded 0 crowd.trx ./crowd$size 8 ./queue32 ./queue64
		is "signals of 16 processes of both sizes, round $round" 160 "$(events crowd.trx pthread_cond_signal)"
		! grep -E 'recorded no|ended before' err || complain "a crowd: $(cat err)"
		grep -q 'none lost' err || complain "a crowd: $(cat err)"
		is "their locks, round $round" 16 \
			"$("$tool" info --objects crowd.trx | awk '$2 == "mutex"' | grep -c queue_lock)"
	done
done

# By $LIB, a shell of the other size finds its object, too: no wrapper sees which program system() executes.
TXTRACE_PRELOAD=$scratch/px/$lib64/libtxtrace-preload.so
both="$scratch/px/\$LIB/libtxtrace-preload.so"
recorded 7 lib.trx ./shows64
if [ "$(cat out)" = "$both" ]; then
	recorded 0 system.trx ./parent32 system ./queue32
	judge system.trx
	recorded 7 lib.trx ./parent64 spawn ./shows32
	is 'what a program of 32 bits gets' "$both" "$(cat out)"
	TXTRACE_PRELOAD=$both
	recorded 7 lib.trx ./parent64 spawn ./shows32
	is 'the same, if the user names both' "$both" "$(cat out)"
else
	echo 'SKIP LIB: the dynamic loaders do not tell by what they replace it (glibc 2.33)'
	is 'without LIB' "$scratch/px/$lib64/libtxtrace-preload.so" "$(cat out)"
fi
TXTRACE_PRELOAD=$scratch/pair/lib/libtxtrace-preload.so
recorded 7 lib.trx ./shows32
is 'the object of a program of 32 bits' "$scratch/pair/lib32/libtxtrace-preload.so" "$(cat out)"

# Without the tool, each process has a log of its own machine.
object=$scratch/pair/lib/libtxtrace-preload.so
bare ./parent64 spawn ./other
run TXTRACE_OUT=%e.trx TXTRACE_CHILDREN=yes ./parent64 spawn ./other
same 'without the tool'
accepted parent64.trx
accepted other.trx

# The readers of a log know the word size of one machine.  So an event of the other program has no data.
cat >user.c <<'END'
#include <trace.h>
int main(void)
{
	trace_event_id_t id;
	long data[2] = {1, 2};

	if (posix_trace_eventid_open("sizes", &id) != 0)
		return 1;
	posix_trace_event(id, data, sizeof(data));
	return 0;
}
END
if $small_cc -D_FILE_OFFSET_BITS=64 -D_TIME_BITS=64 -I"$top/include" user.c "$small" \
	-Wl,-rpath,"$scratch/pair/lib32" -o user32; then
	recorded 0 user.trx ./parent64 spawn ./user32
	is 'the event of the program of 32 bits' 'sizes (cut)' \
		"$("$tool" print user.trx | sed -n 's/.* \(sizes\)  *\(.*[^ ]\) *$/\1 \2/p')"
else
	complain 'user.c is not compiled'
fi
finish
