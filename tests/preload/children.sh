#!/bin/sh
# SPDX-License-Identifier: MIT
# Which children are traced, what environment they get, and that tracing does not harm a program with many children.
. "${srcdir:-.}/tests/preload/acts.sh"

logs()
{
	find . -name '*.trx*' | wc -l
}

# Another object to preload.
other=$scratch/libother.so
${CC:-cc} -shared -fPIC -x c /dev/null -o "$other" || complain 'there is nothing else to preload'

# P14: "no" is the default. A program that a child executes does not have the object, and keeps the other preloaded
# objects.
cat >environment <<'END'
#!/bin/sh
env | grep -E '^(LD_PRELOAD|TXTRACE_OUT)=' | sort
exit 5
END
chmod +x environment
for symbol in execl system popen posix_spawn; do
	rm -f ./*.trx*
	case $symbol in
	execl) set -- sh -c './environment; true' ;;
	*) set -- "$acts" $symbol ;;
	esac
	run TXTRACE_OUT=%e.%p.trx "$@"
	is "$symbol: logs" 1 "$(logs)"
	accepted "$(ls ./*.trx)"
done
rm -f ./*.trx*
run TXTRACE_OUT=%e.%p.trx sh -c './environment; true'
is 'environment of a child' '' "$(cat out)"
rm -f ./*.trx*
timeout -k 1 120 env LD_PRELOAD="$object:$other" TXTRACE_OUT=%e.%p.trx sh -c './environment; true' >out 2>&1
is 'what else is preloaded' "LD_PRELOAD=$other" "$(cat out)"
rm -f ./*.trx*
timeout -k 1 120 env LD_PRELOAD="$other $object" TXTRACE_OUT=%e.%p.trx sh -c './environment; true' >out 2>&1
is 'what else is preloaded, ahead' "LD_PRELOAD=$other" "$(cat out)"
is 'logs' 1 "$(logs)"

# A server overwrites its arguments with a title before it forks. Its children still have the name of the program.
cat >title.c <<'END'
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>
int main(int argc, char **argv)
{
	(void)argc;
	memset(argv[0], 'x', strlen(argv[0]));
	if (fork() == 0)
		return getppid() == 0;
	return wait(NULL) < 0;
}
END
${CC:-cc} title.c -o title || complain 'there is no program with a title'
rm -f ./*.trx*
run TXTRACE_CHILDREN=yes TXTRACE_OUT=%e.%p.trx ./title
is 'logs with the name of the program' 2 "$(find . -name 'title.*.trx' | wc -l)"
is 'logs' 2 "$(logs)"

# A program gives another one an object that has a wrapped function, too: its calls are recorded.
cat >front.c <<'END'
#include <sys/syscall.h>
#include <unistd.h>
int sched_yield(void)
{
	return (int)syscall(SYS_sched_yield);
}
END
cat >yields.c <<'END'
#include <sched.h>
int main(void)
{
	return sched_yield() || sched_yield() || sched_yield();
}
END
${CC:-cc} -D_GNU_SOURCE -shared -fPIC front.c -o libfront.so && ${CC:-cc} yields.c -o yields ||
	complain 'there is no program with an object'
rm -f ./*.trx*
run TXTRACE_CHILDREN=yes TXTRACE_OUT=%e.trx sh -c "LD_PRELOAD=\$PWD/libfront.so ./yields; true"
is 'calls of a function that another object has, too' 3 "$(events yields.trx sched_yield)"

# If the object comes after the C library, no program calls its wrappers, and nothing breaks.
rm -f ./*.trx*
bare "$acts" fork
timeout -k 1 120 env LD_PRELOAD="$(ldd "$acts" | awk '$1 ~ /^libc\./ { print $3 }') $object" TXTRACE_OUT=log.trx \
	"$acts" fork >out 2>err
code=$?
same 'behind the C library'
accepted log.trx

# An exec in the same process stays traced, and keeps existing files.
rm -f ./*.trx*
run TXTRACE_OUT=log.trx "$acts" execv
is 'logs after an exec' 2 "$(logs)"
accepted log.trx
accepted log.trx.1
is 'an exec that fails, and one that does not' 3 "$(events log.trx execve)"

# A process that maps the object only to read it, such as a recorder that searches for symbols, is not a traced parent.
cat >reader.c <<'END'
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>
int main(int argc, char **argv)
{
	int fd = open(argv[1], O_RDONLY), status = 0;
	if (argc < 3 || mmap(NULL, 4096, PROT_READ, MAP_PRIVATE, fd, 0) == MAP_FAILED)
		return 99;
	if (fork() == 0)
		return execvp(argv[2], argv + 2);
	return wait(&status) < 0 || status != 0;
}
END
${CC:-cc} reader.c -o reader || complain 'reader.c is not compiled'
rm -f ./*.trx*
./reader "$object" env LD_PRELOAD="$object" TXTRACE_OUT=log.trx "$acts" fork >out 2>err || complain "reader: $(cat err)"
is 'logs of a child of one that reads the object' 1 "$(logs)"

# yes: each has a log.
rm -f ./*.trx*
run TXTRACE_CHILDREN=yes TXTRACE_OUT=%e.%p.trx "$acts" system
is 'logs of a program, and of the shells of two calls' 3 "$(logs)"
rm -f ./*.trx*
run TXTRACE_CHILDREN=yes TXTRACE_OUT=%p.trx "$acts" posix_spawn
is 'logs of a program and what it spawns' 2 "$(logs)"
rm -f ./*.trx*
run TXTRACE_CHILDREN=yes TXTRACE_OUT=log.trx "$scenes" forks 5
is 'logs of a process and five children' 6 "$(logs)"
for log in ./*.trx*; do
	accepted "$log"
done
is 'threads of a child' 5 "$(events log.trx.1 txtrace_thread_start)"

# What a child records between fork and exec is in the log of the program that it executes, and it has no other log.
cat >between.c <<'END'
#define _GNU_SOURCE
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>
static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static int nr_calls;
static void *lock(void *unused)
{
	for (int i = 0; i < nr_calls; i++) {
		pthread_mutex_lock(&mutex);
		pthread_mutex_unlock(&mutex);
	}
	return unused;
}
/* Wait until a flush has written to the log of this process. */
static void wait_for_flush(void)
{
	struct stat first, now;
	char name[64];
	snprintf(name, sizeof(name), "between.%d.trx", (int)getpid());
	if (stat(name, &first) != 0)
		exit(98);
	for (now = first; now.st_blocks <= first.st_blocks; stat(name, &now))
		usleep(20000);
}
int main(int argc, char **argv)
{
	const char *what = argc > 1 ? argv[1] : "";
	int status = 0, nr_threads = argc > 2 ? atoi(argv[2]) : 0;
	pthread_t thread[16];
	nr_calls = argc > 3 ? atoi(argv[3]) : 0;
	if (argc == 1)
		return 5; /* ./leaf */
	if (fork() != 0)
		return wait(&status) < 0 || !WIFEXITED(status) ? 99 : WEXITSTATUS(status);
	for (int i = 0; i < nr_threads; i++)
		pthread_create(&thread[i], NULL, lock, NULL);
	for (int i = 0; i < nr_threads; i++)
		pthread_join(thread[i], NULL);
	if (nr_threads > 0)
		return 5;
	dup2(1, 9);
	if (strcmp(what, "flushed") == 0)
		wait_for_flush();
	if (strcmp(what, "fails") == 0)
		execl("./nothing", "nothing", (char *)0);
	else
		execl(argc > 2 ? argv[2] : "./leaf", "leaf", (char *)0);
	return 6;
}
END
${CC:-cc} -pthread between.c -o between && cp between leaf || complain 'between.c is not compiled'
left()
{
	ls "$TXTRACE_DIR" | grep -v '^registry[.][0-9]*$'
}
rm -f ./*.trx*
run TXTRACE_CHILDREN=yes TXTRACE_OUT=%e.%p.trx ./between quick
is 'exit code' 5 "$code"
is 'logs by name' 'between leaf' "$(ls ./*.trx | sed 's|./||; s|\..*||' | sort | paste -sd' ')"
is 'what was before exec' '1 1 2 2' "$(for event in dup execve posix_trace_start posix_trace_stop; do
	events "$(ls leaf.*)" $event; done | paste -sd' ')"
is 'calls of dup2 that are counted' 1 "$("$tool" info --wrappers "$(ls leaf.*)" | awk '$1 == "dup2" { print $5 }')"
is 'what is left' '' "$(left)"
for log in ./*.trx; do
	accepted "$log"
done
rm -f ./*.trx*
run TXTRACE_CHILDREN=yes TXTRACE_OUT=log.trx ./between quick
is 'names without the pid' 'log.trx log.trx.1' "$(ls ./*.trx* | sed 's|./||' | paste -sd' ')"
is 'the log with the second name' 1 "$(events log.trx.1 dup)"
rm -f ./*.trx*
run TXTRACE_CHILDREN=yes TXTRACE_OUT=%e.%p.trx ./between fails
is 'exit code of an exec that fails' 6 "$code"
is 'logs of an exec that fails' 'between between' "$(ls ./*.trx | sed 's|./||; s|\..*||' | sort | paste -sd' ')"
# If the log of the child has events, it stays.
rm -f ./*.trx*
run TXTRACE_CHILDREN=yes TXTRACE_OUT=%e.%p.trx ./between flushed
is 'logs after a flush' 'between between leaf' "$(ls ./*.trx | sed 's|./||; s|\..*||' | sort | paste -sd' ')"
is 'what is left after a flush' '' "$(left)"
is 'where dup2 is after a flush' '0 1' "$(events "$(ls leaf.*)" dup) $(
	for log in ./between.*.trx; do events "$log" dup; done | sort | tail -1)"
for log in ./*.trx; do
	accepted "$log"
done
# A program without the object leaves the log to the next process.
if ${CC:-cc} -static -pthread between.c -o static 2>err; then
	rm -f ./*.trx*
	run TXTRACE_CHILDREN=yes TXTRACE_OUT=%e.%p.trx ./between quick ./static
	"$tool" recover >recovered 2>&1 || complain "recover: $(cat recovered)"
	is 'logs with a static program' 'between between' "$(ls ./*.trx | sed 's|./||; s|\..*||' | sort | paste -sd' ')"
	is 'dup2 before a static program' 1 "$(for log in ./*.trx; do events "$log" dup; done | sort | tail -1)"
fi
# Other processes leave the log to the program: however many there are, each child has one log.
rm -f ./*.trx*
run TXTRACE_CHILDREN=yes TXTRACE_OUT=%p.trx sh -c 'for i in 1 2 3 4; do
	(for k in 1 2 3 4 5 6 7 8 9 10; do ./between quick; done; true) & done; wait; true'
is 'children with logs' 85 "$(find . -name '*.trx' | wc -l)"
# If a child must wait for a CPU before it executes the program, its events may be flushed, and it keeps that log.
[ "$(logs)" -lt 100 ] || complain "85 children have $(logs) logs"

# The rings of a child get their memory when they need it, and no event is lost.
rm -f ./*.trx*
run TXTRACE_CHILDREN=yes TXTRACE_OUT=%p.trx ./between many 4 1500
log=$(ls -S ./*.trx | head -1)
is 'calls of four threads' 6000 "$(events "$log" pthread_mutex_unlock)"
is 'events that are lost' 0 "$("$tool" info "$log" | awk '/^lost/ { sum += $NF } END { print sum }')"
accepted "$log"
cat >sizes.c <<'END'
#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
int main(void)
{
	DIR *files = opendir(getenv("TXTRACE_DIR"));
	long largest = 0;
	struct dirent *file;
	struct stat status;
	while (files && (file = readdir(files)))
		if (strncmp(file->d_name, "stream.", 7) == 0 && fstatat(dirfd(files), file->d_name, &status, 0) == 0 &&
		    status.st_blocks / 2 > largest)
			largest = status.st_blocks / 2;
	printf("%ld\n", largest);
	return 0;
}
END
${CC:-cc} -D_GNU_SOURCE sizes.c -o sizes || complain 'sizes.c is not compiled'
rm -f ./*.trx*
run TXTRACE_CHILDREN=yes TXTRACE_OUT=%p.trx sh -c './sizes; true'
[ "$(cat out)" -gt 0 ] && [ "$(cat out)" -le $((600 + 120 * ($(getconf _NPROCESSORS_CONF) + 1))) ] ||
	complain "a process that has done nothing has a stream of $(cat out) KiB"

# If there is no more memory for the rings, events are lost, and the program goes on.
if [ "$(id -u)" -eq 0 ] && mkdir few &&
	mount -t tmpfs -o "size=$((1500 + 300 * $(getconf _NPROCESSORS_CONF)))k,mode=700" none few 2>/dev/null; then
	trap 'umount "$scratch/few"; rm -rf "$scratch" "$TXTRACE_DIR"' EXIT
	rm -f ./*.trx*
	bare ./between many 2 30000
	run TXTRACE_DIR="$scratch/few" TXTRACE_CHILDREN=yes TXTRACE_OUT=%p.trx ./between many 2 30000
	same 'with little memory'
	for log in ./*.trx; do
		accepted "$log"
	done
	[ "$("$tool" info "$(ls -S ./*.trx | head -1)" | sed -n 's/^lost: dropped *//p')" -gt 0 ] ||
		complain 'with little memory nothing is lost'
fi

# A program that a child executes does not map all pages of the rings that it inherits; the target does.
mapped='/stream\./ { found = 1 } found && /^Rss/ { print $2; found = 0 }'
"$tool" record -q --preload -o own.log awk "$mapped" /proc/self/smaps >out 2>err || complain "record: $(cat err)"
[ "$(cat out)" -gt 4096 ] || complain "a target maps $(cat out) KiB"
"$tool" record -q --preload --inherit -o inherited.log sh -c "awk '$mapped' /proc/self/smaps; true" >out 2>err ||
	complain "record --inherit: $(cat err)"
[ "$(cat out)" -gt 0 ] && [ "$(cat out)" -le 4096 ] || complain "a program that inherits a stream maps $(cat out) KiB"

# match=: by the path of the program, through others that do not match.
rm -f ./*.trx*
run TXTRACE_CHILDREN='match=/(cat|wc)$' TXTRACE_OUT=%e.trx sh -c 'sh -c "cat </dev/null; true"; ls | wc -l; true'
shell=$(basename "$(readlink -f /bin/sh)")
is 'logs of what matches' "$(printf '%s.trx\n' cat wc "$shell" | sort)" "$(ls ./*.trx | sed 's|./||')"

# P12: what is between vfork and exec is not recorded as a call, and the parent goes on.
for children in no yes; do
	rm -f ./*.trx*
	bare "$scenes" vforks
	run TXTRACE_CHILDREN=$children TXTRACE_OUT=log.trx "$scenes" vforks
	[ $children = yes ] || same 'vfork'
	accepted log.trx
	is 'events of children of vfork' 0 "$(($(events log.trx _exit) + $(events log.trx execve)))"
	is 'threads behind them' 6 "$(events log.trx txtrace_thread_start)"
done
is 'the child has the environment' 1 "$(cat out | head -1)"

# P13: children that are made while other threads are in wrappers; no thread hangs.
for children in no yes; do
	rm -f ./*.trx*
	bare "$scenes" forks 20
	run TXTRACE_CHILDREN=$children TXTRACE_OUT=log.trx "$scenes" forks 20
	same "many children, $children"
	for log in ./*.trx*; do
		accepted "$log"
	done
done
is 'logs' 21 "$(logs)"

# The object reports a wrong expression, and traces no children.
rm -f ./*.trx*
run TXTRACE_CHILDREN='match=(' TXTRACE_OUT=%p.trx sh -c 'true; /bin/true; true'
is 'a bad expression' 1 "$(grep -c 'regular expression' err)"
is 'logs' 1 "$(logs)"
finish
