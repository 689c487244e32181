#!/bin/sh
# SPDX-License-Identifier: MIT
# Difficult programs and objects: the numbers are rows of the table of faults under LD_PRELOAD.
. "${srcdir:-.}/tests/tool/lib.sh"
. "$top/tests/preload/objects.sh"
guests=$programs/guests
CC=${CC:-cc}

# scene NAME [ARGUMENT]: the scene must end well without the object, with it, and traced
scene()
{
	"$guests" "$@" >"$scratch/out" 2>&1
	[ $? -ne 77 ] || { echo "SKIP $1: the scene cannot run here"; return 1; }
	nr_checks=$((nr_checks + 2))
	LD_PRELOAD=$object "$guests" "$@" >"$scratch/out" 2>&1 || complain "$1: under the object it exits with $?"
	traced "$scratch/$1.trx" "$guests" "$@" >"$scratch/out" || complain "$1: traced, it exits with $?"
	[ "$(names_and_data "$scratch/$1.trx" | wc -l)" -gt 4 ] || complain "$1: nothing was recorded"
}

# The program must not see dlerror() of a dlsym() that the object called.
nr_checks=$((nr_checks + 1))
LD_PRELOAD=$object "$guests" quiet || complain 'quiet: dlerror() returns an error of the object'

# The process may only read, write and exit, and goes on.
if scene strict; then
	[ "$(events_of "$scratch/strict.trx" prctl)" -eq 1 ] || complain 'strict: nothing says why it ends there'
fi
if scene filter; then
	[ "$(events_of "$scratch/filter.trx" read)" -eq 1001 ] || complain 'filter: reads are missing'
fi
# SIGSYS for each system call: only calls of the program itself cause it.
scene dispatch
# A filter kills for all but write, futex and exit. So the object must make no other system call in any thread, with and
# without its own log.
for how in prctl syscall raw all; do
	for end in _exit exit; do
		if scene kills $how $end; then
			[ "$(events_of "$scratch/kills.trx" pthread_cond_broadcast)" -eq 1000 ] ||
				complain "kills $how $end: $(events_of "$scratch/kills.trx" pthread_cond_broadcast) broadcasts"
			rm -f "$scratch/own.trx"
			nr_checks=$((nr_checks + 2))
			env LD_PRELOAD="$object" TXTRACE_OUT="$scratch/own.trx" "$guests" kills $how $end \
				>"$scratch/out" \
				2>"$scratch/err" || complain "kills $how $end: with a log it exits with $?"
			nr=$(events_of "$scratch/own.trx" pthread_cond_broadcast)
			least=1000
			[ $how != all ] || least=10
			[ "$nr" -ge $least ] || complain "kills $how $end: $nr broadcasts in its own log"
		fi
	done
done
scene handler
scene naked
scene nowhere
scene edge
# Also in the child of the handler, which is traced only so.
if scene returning; then
	nr_checks=$((nr_checks + 1))
	TXTRACE_PRELOAD=$object "$tool" record --preload --inherit --force -o "$scratch/returning.trx" "$guests" returning \
		>"$scratch/out" 2>"$scratch/err" || complain "returning: with its children it exits with $?: $(cat "$scratch/err")"
fi
# A filter that somebody else installed, and that kills for two calls about a socket.
nr_checks=$((nr_checks + 2))
"$guests" filtered "$guests" accepts >"$scratch/out" 2>&1
if [ $? -ne 77 ]; then
	"$guests" filtered env LD_PRELOAD="$object" TXTRACE_OUT="$scratch/filtered.trx" "$guests" accepts >"$scratch/out" 2>&1 ||
		complain "filtered: it exits with $?"
	[ "$(events_of "$scratch/filtered.trx" accept)" -eq 2 ] || complain 'filtered: calls of accept are missing'
else
	echo 'SKIP filtered: the scene cannot run here'
fi
# The cost of a thread does not grow with the number of threads. If it did, this would take minutes.
if scene crowd 5000; then
	rm -f "$scratch/own.trx"
	nr_checks=$((nr_checks + 1))
	env LD_PRELOAD="$object" TXTRACE_OUT="$scratch/own.trx" "$guests" crowd 5000 >"$scratch/out" 2>"$scratch/err" ||
		complain "crowd: with a log it exits with $?"
	for trace in crowd own; do
		nr=$(events_of "$scratch/$trace.trx" pthread_create)
		[ "$nr" -eq 5000 ] || complain "crowd: $nr creations of threads in $trace.trx"
	done
fi
TXTRACE_EVENTS=+heap
export TXTRACE_EVENTS
if $CC -shared -fPIC -o "$scratch/shim.so" "$top/tests/preload/shim.c" 2>"$scratch/err"; then
	scene exchange "$scratch/shim.so"
else
	complain "no shared object by $CC: $(cat "$scratch/err")"
fi
unset TXTRACE_EVENTS

# Another object before the C library, before or after ours: both see each call once.
$CC -shared -fPIC -DSHIM_WRAPS -o "$scratch/wraps.so" "$top/tests/preload/shim.c" -ldl 2>>"$scratch/err" ||
	complain "no shared object by $CC: $(cat "$scratch/err")"
for side in ahead behind; do
	ahead=
	behind=
	if [ $side = ahead ]; then ahead="$scratch/wraps.so "; else behind=" $scratch/wraps.so"; fi
	traced "$scratch/shim.trx" "$guests" writes >"$scratch/out" || complain "shim $side: it exits with $?"
	[ "$(wc -l <"$scratch/out")" -eq 10 ] || complain "shim $side: $(cat "$scratch/out")"
	grep -qx 'shim: 10' "$scratch/record.err" ||
		complain "shim $side: it saw other calls: $(cat "$scratch/record.err")"
	[ "$(events_of "$scratch/shim.trx" write)" -eq 10 ] || complain "shim $side: we saw other calls"
done
ahead=
behind=

# The object searches for functions that do not exist. Memory that dlsym() allocates and frees meanwhile comes from the
# object's arena.
$CC -shared -fPIC -DSHIM_IS_NEWER -o "$scratch/newer.so" "$top/tests/preload/shim.c" 2>>"$scratch/err" ||
	complain "no shared object by $CC: $(cat "$scratch/err")"
ahead="$scratch/newer.so "
nr_checks=$((nr_checks + 1))
LD_PRELOAD="$ahead$object" "$guests" quiet || complain 'newer: dlerror() returns an error of the object'
traced "$scratch/newer.trx" "$guests" handler || complain "newer: it exits with $?"
ahead=

# Two copies of the object: the first one records, and nothing fails.
cp "$object" "$scratch/copy.so"
behind=" $scratch/copy.so"
traced "$scratch/copy.trx" "$guests" writes >"$scratch/out" || complain "copy: it exits with $?"
[ "$(wc -l <"$scratch/out")" -eq 10 ] || complain "copy: $(cat "$scratch/out")"
behind=

# Another allocator, which calls wrapped functions while it holds its own locks.
jemalloc=$(ldconfig -p 2>/dev/null | awk '$1 == "libjemalloc.so.2" { print $NF; exit }')
if [ -n "$jemalloc" ]; then
	for side in ahead behind; do
		ahead=
		behind=
		if [ $side = ahead ]; then ahead="$jemalloc "; else behind=" $jemalloc"; fi
		for events in file +heap; do
			TXTRACE_EVENTS=$events
			export TXTRACE_EVENTS
			traced "$scratch/je.trx" timeout 120 "$guests" handler >"$scratch/out" ||
				complain "jemalloc $side, $events: it exits with $?"
			traced "$scratch/je.trx" timeout 120 sort --parallel=2 -S 1M "$tool" >"$scratch/sorted" ||
				complain "jemalloc $side, $events: sort exits with $?"
			sort "$tool" | cmp -s - "$scratch/sorted" ||
				complain "jemalloc $side, $events: sort sorts otherwise"
			unset TXTRACE_EVENTS
		done
	done
	ahead=
	behind=
else
	echo 'SKIP jemalloc: libjemalloc.so.2 is missing'
fi

# AddressSanitizer must be the first object.
asan=$($CC -print-file-name=libasan.so)
if [ -e "$asan" ] && $CC -fsanitize=address -o "$scratch/guests" "$top/tests/preload/guests.c" -D_GNU_SOURCE -ldl \
	-lpthread 2>/dev/null; then
	ahead="$asan "
	traced "$scratch/asan.trx" "$scratch/guests" writes >"$scratch/out" || complain "asan: it exits with $?"
	[ "$(events_of "$scratch/asan.trx" write)" -eq 10 ] ||
		complain "asan: $(events_of "$scratch/asan.trx" write) writes"
	ahead=
else
	echo 'SKIP AddressSanitizer: the compiler has none'
fi
finish
