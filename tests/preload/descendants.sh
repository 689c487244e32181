#!/bin/sh
# SPDX-License-Identifier: MIT
# Which processes of a program are traced, whatever their environment is, and what record prints about the others. The
# titles of processes.
. "${srcdir:-.}/tests/preload/acts.sh"
TXTRACE_PRELOAD=$object
export TXTRACE_PRELOAD

# LOCKS makes 100 locks.  If it has an argument, it first writes that it has begun, and waits for the end of its stdin.
cat >locks.c <<'EOF'
#include <pthread.h>
#include <unistd.h>
static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
int main(int argc, char **argv)
{
	char byte;
	(void)argv;
	if (argc > 1 && (write(1, "begun", 5) != 5 || read(0, &byte, 1) != 0))
		return 1;
	for (int i = 0; i < 100; i++) {
		pthread_mutex_lock(&mutex);
		pthread_mutex_unlock(&mutex);
	}
	return 0;
}
EOF
# The daemon runs until the file with the name of its argument exists.
cat >daemon.c <<'EOF'
#include <pthread.h>
#include <unistd.h>
static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
int main(int argc, char **argv)
{
	if (daemon(1, 1) != 0)
		return 1;
	while (argc > 1 && access(argv[1], F_OK) != 0)
		usleep(1000);
	for (int i = 0; i < 100; i++) {
		pthread_mutex_lock(&mutex);
		pthread_mutex_unlock(&mutex);
	}
	return 0;
}
EOF
# The process changes its title, and records until its log has the title, but at most for a minute.
cat >title.c <<'EOF'
#include <fcntl.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <unistd.h>
#define TITLE "worker: idle in a very good mood"
int main(int argc, char **argv)
{
	int fd = open(argv[1], O_RDONLY);
	for (int i = 0; i < 6000; i++) {
		struct stat status;
		char *log;
		if (i == 10)
			strcpy(argv[0], TITLE);
		usleep(10000);
		fstat(fd, &status);
		log = mmap(NULL, (size_t)status.st_size, PROT_READ, MAP_PRIVATE, fd, 0);
		if (i > 10 && log != MAP_FAILED && memmem(log, (size_t)status.st_size, "r: idle in", 10))
			return 0;
		munmap(log, (size_t)status.st_size);
	}
	return argc;
}
EOF
for name in locks daemon title; do
	${CC:-cc} -D_GNU_SOURCE -pthread $name.c -o $name || complain "$name.c is not compiled"
done

# recorded OPTION... PROGRAM...
recorded()
{
	rm -f log.trx
	"$tool" record --preload -o log.trx "$@" >record.out 2>said </dev/null
}

# says WORDS: record has printed this
says()
{
	nr_checks=$((nr_checks + 1))
	grep -q -e "$1" said || complain "record does not say '$1': $(cat said)"
}
says_not()
{
	nr_checks=$((nr_checks + 1))
	! grep -q -e "$1" said || complain "record says '$1': $(cat said)"
}

for how in 'env -i' 'env -u LD_PRELOAD' "env LD_PRELOAD=$scratch/none.so" 'env -i LD_PRELOAD='; do
	recorded --inherit sh -c "$how ./locks; :"
	is "locks below $how" 100 "$(events log.trx pthread_mutex_lock)"
	says_not 'recorded no program'
	recorded --inherit $how ./locks
	is "locks of $how" 100 "$(events log.trx pthread_mutex_lock)"
	recorded $how ./locks
	is "locks of $how without --inherit, in the process itself" 100 "$(events log.trx pthread_mutex_lock)"
done
recorded --inherit sh -c 'env -i TXTRACE_DISABLE=1 ./locks; :'
is 'locks of a program that is disabled' 0 "$(events log.trx pthread_mutex_lock)"
says 'recorded no program.*could not map the trace'
recorded --inherit sh -c './missing; :'
says_not 'not traced'
recorded --inherit sh -c 'env -i env; :'
is 'variables that env -i gets' 'LD_PRELOAD TXTRACE_CHILDREN TXTRACE_DIR TXTRACE_PRELOAD' \
	"$(sed 's/=.*//' record.out | sort | paste -sd' ')"

# Programs that cannot be traced.
if ${CC:-cc} -static -pthread locks.c -o static 2>/dev/null; then
	recorded --inherit sh -c '(exec ./static); ./locks; :'
	says '1 process recorded no program, such as process [0-9]*, ./static'
	nr_checks=$((nr_checks + 1))
	"$tool" report --processes log.trx | grep -q ' exit 0 *\./static (not traced)$' ||
		complain "the tree does not show ./static: $("$tool" report --processes log.trx)"
else
	echo 'SKIP a static program: there is no static C library'
fi

# Without --inherit, a child of vfork() also counts as a process that could be traced.
# The child takes 50 ms until it executes the program.
cat >vforks.c <<'EOF'
#include <stdio.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>
int main(void)
{
	const struct timespec time = {.tv_nsec = 50000000};
	pid_t pid = vfork();
	if (pid == 0) {
		syscall(SYS_nanosleep, &time, NULL);
		execl("./locks", "locks", (char *)NULL);
		_exit(99);
	}
	printf("%d\n", (int)pid);
	return waitpid(pid, NULL, 0) != pid;
}
EOF
${CC:-cc} -D_GNU_SOURCE vforks.c -o vforks || complain 'vforks.c is not compiled'
recorded ./vforks
# Not each machine has a wrapper of vfork().
has_vfork=$( (cd "$here" && srcdir=$top sh "$top/tests/preload/wrappers.sh") | grep -c '^PX_WRAPPER(vfork,')
[ "$has_vfork" = 0 ] || says 'the calls of the program that start one are 1; --inherit'
# The tree names what a child of vfork() has executed, and how it ended.
nr_checks=$((nr_checks + 1))
"$tool" report --processes log.trx | grep -q ' exit 0 *\./locks (not traced)$' ||
	complain "the tree does not show the child of vfork(): $("$tool" report --processes log.trx)"
is 'processes' 2 "$("$tool" report --processes log.trx | grep -c '^ *[0-9].* exit ')"
# The parent waits, and the end of its call has the pid of the child.
if [ "$has_vfork" != 0 ]; then
	is 'result of vfork()' "$(cat record.out)" "$("$tool" print --format jsonl -f 'vfork data.wait:ends' log.trx |
		sed -n 's/.*"result":\([0-9]*\).*/\1/p')"
	nr_checks=$((nr_checks + 1))
	"$tool" waits --format csv log.trx | grep -q vfork ||
		complain "no wait in vfork(): $("$tool" waits --format csv log.trx)"
else
	echo 'SKIP the wait in vfork(): it has no wrapper on this machine'
fi
# Many threads are in vfork() at the same time, and a thread may record what another one executed.
# A child of vfork() may call vfork(), and each caller keeps its registers.
cat >crowd.c <<'EOF'
#include <pthread.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>
static void start(void)
{
#if defined __x86_64__
	register long kept __asm__("rbx") = random();
#elif defined __i386__
	register long kept __asm__("ebx") = random();
#else
	register long kept __asm__("x19") = random();
#endif
	long expected;
	int status;
	pid_t pid;
	__asm__ volatile("" : "+r"(kept));
	expected = kept;
	pid = vfork();
	if (pid == 0) {
		execl("./locks", "locks", (char *)NULL);
		_exit(9);
	}
	__asm__ volatile("" : "+r"(kept));
	if (kept != expected || waitpid(pid, &status, 0) != pid || status != 0)
		abort();
}
static void *run(void *argument)
{
	for (int i = 0; i < 10; i++)
		start();
	return argument;
}
int main(void)
{
	pthread_t thread[12];
	int status;
	pid_t pid;
	for (int i = 0; i < 12; i++)
		pthread_create(&thread[i], NULL, run, NULL);
	for (int i = 0; i < 12; i++)
		pthread_join(thread[i], NULL);
	pid = vfork();
	if (pid == 0) {
		pid_t child = vfork();
		if (child == 0)
			_exit(3);
		waitpid(child, &status, 0);
		_exit(WEXITSTATUS(status));
	}
	waitpid(pid, &status, 0);
	return WEXITSTATUS(status);
}
EOF
if [ "$has_vfork" != 0 ]; then
	${CC:-cc} -D_GNU_SOURCE -O2 -fno-pie -no-pie -pthread crowd.c -o crowd || complain 'crowd.c is not compiled'
	recorded --inherit ./crowd
	is 'status of threads in vfork()' 3 "$?"
	"$tool" report --processes log.trx >tree
	is 'children of vfork() that have recorded their program' 120 "$(grep -c ' exit 0 *locks$' tree)"
	is 'those that are not traced' 0 "$(grep -c 'locks (not traced)' tree)"
	is 'locks of all' 12000 "$("$tool" print --format jsonl --columns number -f pthread_mutex_lock log.trx | wc -l)"
else
	echo 'SKIP threads in vfork(): it has no wrapper on this machine'
fi
# A thread that executes a program is one thread.
recorded --inherit sh -c '(exec ./locks); exit 3'
nr_checks=$((nr_checks + 1))
"$tool" report --processes log.trx | grep -Eq '^ +[0-9]+ +[0-9]+ +1 .* exit 0 +\./locks$' ||
	complain "threads of a child: $("$tool" report --processes log.trx)"
recorded ./daemon
says 'the calls of the program that start one are 1; --inherit'

# The child of daemon(), and other processes that go on.
recorded --inherit ./daemon go
says '--wait-all waits'
touch go
recorded --inherit --wait-all ./daemon
is 'locks of a daemon' 100 "$(events log.trx pthread_mutex_lock)"
says_not '--wait-all'
rm -f go
rm -f fifo
mkfifo fifo
exec 9<>fifo
rm -f begun
recorded --inherit sh -c './locks wait <fifo >begun 9>&- & until [ -s begun ]; do sleep 0.01; done'
says '--wait-all waits'
exec 9>&-

rm -f d.*
run TXTRACE_CHILDREN=yes TXTRACE_OUT=d.%p.trx ./daemon
locks_of_all()
{
	for log in d.*.trx; do events "$log" pthread_mutex_lock; done | awk '{ n += $1 } END { print n }'
}
for i in $(seq 600); do
	[ "$(locks_of_all)" -eq 100 ] && break
	sleep 0.1
done
is 'logs of a daemon' 2 "$(find . -name 'd.*.trx' | wc -l)"
is 'locks in them' 100 "$(locks_of_all)"

# The title of a process is its name in the log.
recorded ./title log.trx a lot of room for the title of this process
is 'the process ends' 0 "$?"
nr_checks=$((nr_checks + 1))
"$tool" info --objects log.trx | grep -q ' worker: idle in a very good mood [0-9]*$' ||
	complain "the title is not the name: $("$tool" info --objects log.trx | grep thread)"
is 'the command is as before' 1 "$("$tool" report --processes log.trx | grep -c ' \./title log.trx a lot of')"
finish
