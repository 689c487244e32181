#!/bin/sh
# SPDX-License-Identifier: MIT
# For each wrapper of threads, processes, signals and timers: its event is in the log, and the program that calls it
# behaves as without the object, whether the call succeeds or fails.
. "${srcdir:-.}/tests/preload/acts.sh"

# The rows of these sections, as "symbol call".
(cd "$here" && srcdir=$top sh "$top/tests/preload/wrappers.sh") >table
awk '/^\/\* / { is_ours = /^\/\* (Threads|Processes|Signals, timers)\. / }
	is_ours && /^PX_WRAPPER/ { gsub(/PX_WRAPPER\(|,|\)/, " "); print $1, $2 }' table |
	grep -Ev '^(sched|thrd)_yield ' >rows
# prctl() is a wrapper of files and descriptors. Not each machine has a wrapper of vfork().
"$acts" list | grep -vx -e prctl -e "$(grep -q '^PX_WRAPPER(vfork,' table || echo vfork)" | sort >acted
cut -d ' ' -f 1 rows | sort | diff - acted >differences ||
	complain "the table (<) and the acts (>) are not of the same functions: $(grep '^[<>]' differences)"

wide=
[ ! -x "${acts}64" ] || wide=${acts}64 # the same, with times of 64 bits
for acts in "$acts" $wide; do while read -r symbol call; do
	rm -f log.trx*
	bare "$acts" "$symbol"
	run TXTRACE_OUT=log.trx TXTRACE_EVENTS=+signal "$acts" "$symbol"
	same "$symbol"
	is "$symbol acts" yes "$([ "$bare" -lt 90 ] && echo yes)"
	accepted log.trx
	[ "$(events log.trx "$call")" -gt 0 ] || complain "${acts##*/}: $symbol: there is no event $call"
done <rows; done
acts=${acts%64}

# The first and the last event of a thread. How it ended: 1: it returned or called pthread_exit(), 2: it was cancelled.
rm -f log.trx*
run TXTRACE_OUT=log.trx "$acts" pthread_cancel
is 'state of a thread that was cancelled' state=2 \
	"$("$tool" print log.trx | awk '/txtrace_thread_end/ { print $NF }')"

# A call that was recorded before it ran and then failed is recorded once more, with its result.
cat >refuses.c <<'END'
#include <dlfcn.h>
#include <errno.h>
#include <pthread.h>
int pthread_cancel(pthread_t thread)
{
	int (*cancel)(pthread_t) = (int (*)(pthread_t))dlsym(RTLD_NEXT, "pthread_cancel");
	return cancel(thread) ? EINVAL : ESRCH;
}
END
${CC:-cc} -D_GNU_SOURCE -shared -fPIC refuses.c -o refuses.so -ldl || complain 'refuses.c is not compiled'
results()
{
	"$tool" print --format jsonl log.trx | sed -n "s/.*\"event\":\"$1\".*\"result\":\"\{0,1\}\([0-9A-Z]*\).*/\1/p" |
		paste -sd' '
}
is 'a cancellation' 0 "$(results pthread_cancel)"
rm -f log.trx*
run LD_PRELOAD="$object:$scratch/refuses.so" TXTRACE_OUT=log.trx "$acts" pthread_cancel
is 'a cancellation that is refused' '0 ESRCH' "$(results pthread_cancel)"
rm -f log.trx*
run TXTRACE_OUT=log.trx "$acts" timer_delete
is 'a timer that is deleted twice' EINVAL "$(sed -n 's/^delete once more: -1 //p' out)"
is 'deletions of it' '0 0 EINVAL' "$(results timer_delete)"
rm -f log.trx*
run TXTRACE_OUT=log.trx "$acts" pthread_exit
is 'threads that begin' 2 "$(events log.trx txtrace_thread_start)"
is 'threads that end, main() too' 3 "$(events log.trx txtrace_thread_end)"
is 'their states' state=1 \
	"$("$tool" print log.trx | awk '/txtrace_thread_end/ { print $NF }' | sort -u)"
# Threads of C11 begin and end like those of POSIX; this also holds if they are cancelled.
rm -f log.trx*
run TXTRACE_OUT=log.trx "$acts" thrd_exit
is 'threads of C11 that begin' 2 "$(events log.trx txtrace_thread_start)"
is 'threads of C11 that end, main() too' 3 "$(events log.trx txtrace_thread_end)"
is 'their states, of C11' state=1 \
	"$("$tool" print log.trx | awk '/txtrace_thread_end/ { print $NF }' | sort -u)"
rm -f log.trx*
run TXTRACE_OUT=log.trx "$acts" thrd_join
is 'results of joins' '0 0 0 thrd_error 0' "$("$tool" print log.trx |
	sed -n 's/.* thrd_join .*result=\([a-z_0-9]*\).*/\1/p' | paste -sd' ')"
is 'states, one of them cancelled' '3 state=1 1 state=2' "$("$tool" print log.trx |
	awk '/txtrace_thread_end/ { print $NF }' | sort | uniq -c | awk '{ print $1, $2 }' | paste -sd' ')"
rm -f log.trx*
run TXTRACE_OUT=log.trx "$acts" thrd_create
is 'results of creations' "$(sed -n 's/^no room: 3/thrd_nomem/p; s/^no room: 2/thrd_error/p' out) 0" \
	"$("$tool" print log.trx | sed -n 's/.* thrd_create .*result=\([a-z_0-9]*\).*/\1/p' | paste -sd' ')"

# The log has the name of a C11 error only.
cat >alone.c <<'END'
#include <threads.h>
int main(void)
{
	return thrd_join(thrd_current(), NULL) == thrd_error ? 0 : 1;
}
END
${CC:-cc} -pthread alone.c -o alone || complain 'alone.c is not compiled'
rm -f log.trx*
run TXTRACE_OUT=log.trx ./alone
is 'a thread that joins itself' 0 "$code"
"$tool" why log.trx alone >why 2>&1
grep -q '^ *It ended with an error: thrd_error\.$' why || complain "a wait that thrd_error ended: $(cat why)"
nr_checks=$((nr_checks + 1))

# If another object implements C11 threads with POSIX threads, a thread still begins once, with the identity of the
# created thread.
cat >makes.c <<'END'
#include <pthread.h>
#include <stdlib.h>
#include <threads.h>
struct order { thrd_start_t start; void *argument; };
static void *run(void *given)
{
	struct order order = *(struct order *)given;
	free(given);
	return (void *)(long)order.start(order.argument);
}
int thrd_create(thrd_t *thread, thrd_start_t start, void *argument)
{
	struct order *order = malloc(sizeof(*order));
	*order = (struct order){start, argument};
	return pthread_create(thread, NULL, run, order) == 0 ? thrd_success : thrd_error;
}
END
${CC:-cc} -D_GNU_SOURCE -shared -fPIC makes.c -o makes.so || complain 'makes.c is not compiled'
rm -f log.trx*
bare "$acts" thrd_join
run LD_PRELOAD="$object:$scratch/makes.so" TXTRACE_OUT=log.trx "$acts" thrd_join
same 'threads of C11 that another object makes'
accepted log.trx
for event in thrd_create txtrace_thread_start txtrace_thread_end; do
	is "$event of threads that another object makes" 4 "$(events log.trx $event)"
done
is 'creations of POSIX, of these' 0 "$(events log.trx pthread_create)"
# A process that shares the storage of another thread takes no events from the threads on the CPU where that thread was.
for act in 'clone like vfork' 'clone and go on'; do
	rm -f log.trx*
	run TXTRACE_OUT=log.trx "$acts" "$act"
	is "$act: it exits" 0 "$code"
	is "$act: posts" 40000 "$(events log.trx sem_post)"
	accepted log.trx
done
rm -f log.trx*
run TXTRACE_OUT=log.trx "$acts" 'vfork and redirect'
is 'closes of a child of vfork' 1 "$(events log.trx close)"
is 'its duplicates' 0 "$(events log.trx dup)"
is 'what it opens' 0 "$("$tool" print log.trx | grep -c 'open .*dev/null')"
rm -f log.trx*
run TXTRACE_OUT=log.trx "$acts" 'wait, then end'
is 'events without a name' '' "$("$tool" print log.trx | grep -oE ' event [0-9]+')"
is 'threads that end behind a wait' 1 "$(events log.trx txtrace_thread_end)"
rm -f log.trx*
run TXTRACE_OUT=log.trx "$scenes" threads 100
is 'threads that begin' 104 "$(events log.trx txtrace_thread_start)"
is 'threads that end' 104 "$(events log.trx txtrace_thread_end)"
for thread in $("$tool" print log.trx | awk '/txtrace_thread_start/ { print $5 }' | sort | uniq -d | head -3); do
	complain "thread $thread begins twice"
done

# The first event of a thread is its beginning, and the last its end.
"$tool" print log.trx | awk '$6 ~ /^(txtrace_thread_|pthread_)/ { if (!($5 in first)) first[$5] = $6; last[$5] = $6 }
	END { for (t in first) print first[t], last[t] }' | sort | uniq -c | awk '{ print $1, $2, $3 }' >ends
is 'first and last events' '104 txtrace_thread_start txtrace_thread_end' "$(grep start ends)"

# Each call that could wait but did not is one event.
rm -f log.trx*
run TXTRACE_OUT=log.trx "$acts" pthread_tryjoin_np
is 'tries to join' 2 "$(events log.trx pthread_tryjoin_np)"
rm -f log.trx*
run TXTRACE_OUT=log.trx "$acts" wait4
is 'a wait for a child that has ended' 1 "$(events log.trx waitpid)"

for scene in cancels handlers; do
	rm -f log.trx*
	bare "$scenes" $scene
	run TXTRACE_OUT=log.trx TXTRACE_EVENTS=+signal "$scenes" $scene
	same "$scene"
	accepted log.trx
done
rm -f log.trx*
run TXTRACE_OUT=log.trx TXTRACE_EVENTS=+signal "$scenes" handlers
is 'handlers that begin and do not end' 0 \
	$(($(events log.trx txtrace_handler_enter) - $(events log.trx txtrace_handler_exit)))
finish
