/* SPDX-License-Identifier: MIT */
/*
 * acts NAME: call one wrapped function, once with success and once with a failure, if it can fail.  Print the results
 * and errno, and nothing that differs from run to run, so that the output with the preloaded object is the same as
 * without it. acts list: print the names.
 */
#include "config.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <pty.h>
#include <sched.h>
#include <semaphore.h>
#include <signal.h>
#include <spawn.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <threads.h>
#include <time.h>
#include <unistd.h>

#pragma GCC diagnostic ignored "-Wdeprecated-declarations"
#pragma GCC diagnostic ignored "-Wnonnull"

void (*bsd_signal(int number, void (*handler)(int)))(int);

extern char **environ;

static const char *self; /* path of this program */

/* The scripts look for the name.  strerrorname_np() is new in glibc 2.32. */
static const char *name_of_error(void)
{
	static char number[32];

#if __GLIBC_PREREQ(2, 32)
	if (strerrorname_np(errno))
		return strerrorname_np(errno);
#endif
	snprintf(number, sizeof(number), "error %d", errno);
	return number;
}

/* Print what a call returned, and errno if the function sets it. */
static void say(const char *what, long result)
{
	printf("%s: %ld", what, result);
	if (result < 0)
		printf(" %s", name_of_error());
	putchar('\n');
	fflush(stdout);
	errno = 0;
}

static struct timespec in_ms(clockid_t clock, long ms)
{
	struct timespec time;

	clock_gettime(clock, &time);
	time.tv_nsec += ms % 1000 * 1000000; /* a long may have 32 bits */
	time.tv_sec += ms / 1000 + time.tv_nsec / 1000000000;
	time.tv_nsec %= 1000000000;
	return time;
}

/* Threads. */

static void *give_back(void *argument)
{
	return argument;
}

static volatile pid_t waiter;
static volatile bool may_end;

/* Wait until the test ends this thread: until then, a join comes too early. */
static void *wait_for_permission(void *argument)
{
	waiter = (pid_t)syscall(SYS_gettid);
	while (!may_end)
		usleep(1000);
	return argument;
}

/* Wait until a join would succeed, and until the kernel has ended the thread. */
static void await_end(void)
{
	may_end = true;
	while (waiter == 0 || syscall(SYS_tgkill, getpid(), waiter, 0) == 0)
		usleep(1000);
	errno = 0;
}

static void *take_time(void *argument)
{
	const struct timespec nap = {0, 20000000};

	nanosleep(&nap, NULL);
	return argument;
}

static void *leave(void *argument)
{
	pthread_exit(argument);
}

static void *wait_for_ever(void *argument)
{
	for (;;)
		pause();
	return argument;
}

static pthread_t begin(void *(*function)(void *))
{
	pthread_t thread;

	if (pthread_create(&thread, NULL, function, (void *)7) != 0)
		exit(99);
	return thread;
}

/* A child of vfork() shares its parent's memory, but has its own descriptors. */
static void vfork_and_redirect(void)
{
	int ends[2];
	pid_t child;

	if (pipe(ends) != 0)
		exit(99);
	child = vfork();
	if (child == 0) {
		dup2(ends[1], 1);
		close(ends[0]);
		close(ends[1]);
		if (open("/dev/null", O_RDONLY) >= 0)
			execl("/bin/true", "true", (char *)NULL);
		_exit(99);
	}
	waitpid(child, NULL, 0);
	close(ends[0]);
}

/*
 * A child shares the memory and the thread-local storage of the thread that made it, and runs on another CPU.  A third
 * thread, which is not involved, runs on that CPU.  Neither takes events from the other.
 */
enum { SHARED_POSTS = 10000 };

static sem_t shared_sem;
static int nr_to_come; /* both must record at the same time */

static void post_on(size_t cpu)
{
	cpu_set_t one;

	CPU_ZERO(&one);
	CPU_SET(cpu, &one);
	sched_setaffinity(0, sizeof(one), &one); /* if there is no such CPU, any CPU will do */
	__atomic_sub_fetch(&nr_to_come, 1, __ATOMIC_SEQ_CST);
	while (__atomic_load_n(&nr_to_come, __ATOMIC_SEQ_CST) > 0)
		;
	for (int i = 0; i < SHARED_POSTS; i++)
		sem_post(&shared_sem);
}

static void *post_innocently(void *unused)
{
	post_on(0);
	return unused;
}

static int post_in_child(void *unused)
{
	(void)unused;
	post_on(1);
	return 0;
}

static void clone_and_post(int flags)
{
	static char stack[1 << 16] __attribute__((aligned(16)));
	pthread_t innocent;
	pid_t child;

	sem_init(&shared_sem, 0, 0);
	post_on(0); /* so that the storage knows its CPU */
	nr_to_come = 2;
	pthread_create(&innocent, NULL, post_innocently, NULL);
	child = clone(post_in_child, stack + sizeof(stack), flags | SIGCHLD, NULL);
	if (child < 0 || waitpid(child, NULL, 0) != child)
		exit(99);
	pthread_join(innocent, NULL);
	post_on(1);
}

/* A thread ends after a wait for a condition, in which the C library itself unlocks and locks. */
static void wait_then_end(void)
{
	pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
	pthread_cond_t cond = PTHREAD_COND_INITIALIZER;
	struct timespec soon;

	clock_gettime(CLOCK_REALTIME, &soon);
	pthread_mutex_lock(&mutex);
	pthread_cond_timedwait(&cond, &mutex, &soon);
	pthread_mutex_unlock(&mutex);
	pthread_join(begin(give_back), NULL);
}

static void act_pthread_create(void)
{
	pthread_attr_t attr;
	pthread_t thread;
	size_t size;
	void *value;

	say("create", pthread_create(&thread, NULL, give_back, (void *)5));
	say("join", pthread_join(thread, &value));
	say("value", (long)value);
	pthread_attr_init(&attr);
	pthread_attr_setstacksize(&attr, 1 << 18);
	pthread_attr_setdetachstate(&attr, PTHREAD_CREATE_DETACHED);
	say("create detached", pthread_create(&thread, &attr, take_time, NULL));
	pthread_attr_setdetachstate(&attr, PTHREAD_CREATE_JOINABLE);
	pthread_attr_getstacksize(&attr, &size);
	say("stack", (long)size);
	pthread_attr_setstacksize(&attr, sizeof(size_t) > 4 ? SIZE_MAX >> 18 : SIZE_MAX - (SIZE_MAX >> 4));
	for (int i = 0; i < 100; i++) /* more than the table has places */
		if (pthread_create(&thread, &attr, give_back, NULL) == 0)
			say("too large", i);
	for (int i = 0; i < 60; i++)
		pthread_join(begin(give_back), NULL);
}

static void act_pthread_join(void)
{
	pthread_t thread = begin(take_time);
	void *value = NULL;

	say("join", pthread_join(thread, &value));
	say("value", (long)value);
	thread = begin(give_back);
	usleep(20000);
	say("join", pthread_join(thread, &value));
	say("self", pthread_join(pthread_self(), NULL));
}

static void act_pthread_tryjoin_np(void)
{
	pthread_t thread = begin(wait_for_permission);

	say("early", pthread_tryjoin_np(thread, NULL));
	await_end();
	say("late", pthread_tryjoin_np(thread, NULL));
}

static void act_pthread_timedjoin_np(void)
{
	struct timespec soon = in_ms(CLOCK_REALTIME, 1), later;
	const struct timespec none = {0, -1};
	pthread_t thread = begin(wait_for_permission);
	int error;

	say("soon", pthread_timedjoin_np(thread, NULL, &soon));
	may_end = true;
	/* Some C libraries regard it as a time that never comes. */
	error = pthread_timedjoin_np(thread, NULL, &none);
	say("no time", error);
	later = in_ms(CLOCK_REALTIME, 60000);
	if (error)
		say("later", pthread_timedjoin_np(thread, NULL, &later));
}

static void act_pthread_clockjoin_np(void)
{
	struct timespec soon = in_ms(CLOCK_MONOTONIC, 1), later;
	pthread_t thread = begin(wait_for_permission);

	say("soon", pthread_clockjoin_np(thread, NULL, CLOCK_MONOTONIC, &soon));
	say("no clock", pthread_clockjoin_np(thread, NULL, CLOCK_PROCESS_CPUTIME_ID, &soon));
	may_end = true;
	later = in_ms(CLOCK_MONOTONIC, 60000);
	say("later", pthread_clockjoin_np(thread, NULL, CLOCK_MONOTONIC, &later));
}

static void act_pthread_exit(void)
{
	void *value;

	say("join", pthread_join(begin(leave), &value));
	say("value", (long)value);
	pthread_detach(begin(take_time)); /* which ends the process */
	leave(NULL);
}

static void act_pthread_detach(void)
{
	pthread_t thread = begin(wait_for_permission);

	say("detach", pthread_detach(thread));
	say("again", pthread_detach(thread));
	await_end();
}

static void act_pthread_cancel(void)
{
	pthread_t thread = begin(wait_for_ever);
	void *value;

	say("cancel", pthread_cancel(thread));
	say("join", pthread_join(thread, &value));
	say("cancelled", value == PTHREAD_CANCELED);
}

/* Threads of C11: print their results; they do not set errno. */

static int give_back_c11(void *argument)
{
	return (int)(intptr_t)argument;
}

static int take_time_c11(void *argument)
{
	const struct timespec nap = {0, 20000000};

	thrd_sleep(&nap, NULL);
	return (int)(intptr_t)argument;
}

static int leave_c11(void *argument)
{
	thrd_exit((int)(intptr_t)argument);
}

static int wait_c11(void *argument)
{
	wait_for_ever(argument);
	return 0;
}

static thrd_t begin_c11(thrd_start_t function, intptr_t argument)
{
	thrd_t thread;

	if (thrd_create(&thread, function, (void *)argument) != thrd_success)
		exit(99);
	return thread;
}

static void act_thrd_create(void)
{
	struct rlimit limit, none;
	thrd_t thread;
	int value;

	/* No thread has ended yet, so the C library has no old stack to reuse. */
	getrlimit(RLIMIT_AS, &limit);
	none = limit;
	none.rlim_cur = 1;
	setrlimit(RLIMIT_AS, &none);
	value = thrd_create(&thread, give_back_c11, NULL);
	setrlimit(RLIMIT_AS, &limit);
	say("no room", value);
	say("create", thrd_create(&thread, give_back_c11, (void *)(intptr_t)-5));
	say("join", thrd_join(thread, &value));
	say("value", value);
}

static void act_thrd_join(void)
{
	thrd_t thread = begin_c11(take_time_c11, 7);
	int value = 0;

	say("join", thrd_join(thread, &value));
	say("value", value);
	thread = begin_c11(give_back_c11, -7);
	usleep(20000);
	say("join", thrd_join(thread, &value));
	say("value", value);
	thread = begin_c11(give_back_c11, 0);
	usleep(20000);
	say("join", thrd_join(thread, NULL));
	say("self", thrd_join(thrd_current(), NULL));
	thread = begin_c11(wait_c11, 0);
	pthread_cancel(thread);
	say("join", thrd_join(thread, &value));
	say("cancelled", value == (int)(intptr_t)PTHREAD_CANCELED);
}

static void act_thrd_exit(void)
{
	int value;

	say("join", thrd_join(begin_c11(leave_c11, 3), &value));
	say("value", value);
	say("detach", thrd_detach(begin_c11(take_time_c11, 0))); /* which ends the process */
	thrd_exit(4);
}

static void act_thrd_detach(void)
{
	thrd_t thread = begin_c11(take_time_c11, 0);

	say("detach", thrd_detach(thread));
	say("again", thrd_detach(thread));
	say("join", thrd_join(thread, NULL));
	usleep(50000);
}

static volatile sig_atomic_t nr_signals;

static void count_signal(int number)
{
	nr_signals = nr_signals + number;
	errno = EDOM;
}

static void act_pthread_kill(void)
{
	signal(SIGUSR1, count_signal);
	say("self", pthread_kill(pthread_self(), SIGUSR1));
	say("handled", nr_signals == SIGUSR1);
	say("probe", pthread_kill(pthread_self(), 0));
	say("no signal", pthread_kill(pthread_self(), 12345));
}

static void act_pthread_setname_np(void)
{
	char name[16];

	say("name", pthread_setname_np(pthread_self(), "actor"));
	pthread_getname_np(pthread_self(), name, sizeof(name));
	printf("%s\n", name);
	say("too long", pthread_setname_np(pthread_self(), "a name that is too long"));
}

static void act_prctl(void)
{
	char name[16];

	say("name", prctl(PR_SET_NAME, "by-prctl-and-cut-off"));
	pthread_getname_np(pthread_self(), name, sizeof(name));
	printf("%s\n", name);
	say("nowhere", prctl(PR_SET_NAME, (char *)1));
	sched_yield();
}

static void act_pthread_setschedparam(void)
{
	struct sched_param param = {.sched_priority = 0};

	say("other", pthread_setschedparam(pthread_self(), SCHED_OTHER, &param));
	say("batch", pthread_setschedparam(pthread_self(), SCHED_BATCH, &param));
	param.sched_priority = 1234;
	say("no priority", pthread_setschedparam(pthread_self(), SCHED_OTHER, &param));
}

static void act_pthread_setschedprio(void)
{
	say("priority", pthread_setschedprio(pthread_self(), 0));
	say("none", pthread_setschedprio(pthread_self(), 77));
}

static void act_sched_setscheduler(void)
{
	struct sched_param param = {.sched_priority = 0};

	say("batch", sched_setscheduler(0, SCHED_BATCH, &param));
	say("no policy", sched_setscheduler(0, 77, &param));
	say("no process", sched_setscheduler(-1, SCHED_OTHER, &param));
}

static void act_sched_setparam(void)
{
	struct sched_param param = {.sched_priority = 0};

	say("priority", sched_setparam(0, &param));
	param.sched_priority = 5;
	say("none", sched_setparam(0, &param));
}

/* Processes.  Make a child of this program that prints that it runs. */

static char *child_argv[] = {"acts", "child", NULL};

static pid_t fork_child(int status)
{
	pid_t pid = fork();

	if (pid == 0)
		_exit(status);
	return pid;
}

static void say_status(const char *what, int status)
{
	say(what, WIFEXITED(status) ? WEXITSTATUS(status) : 1000 + WTERMSIG(status));
}

static void act_fork(void)
{
	int status = 0;
	pid_t pid = fork();

	if (pid == 0) {
		printf("child\n");
		exit(3);
	}
	say("wait", waitpid(pid, &status, 0) == pid);
	say_status("status", status);
}

static void act_vfork(void)
{
	int status = 0;
	pid_t pid = vfork();

	if (pid == 0)
		_exit(4);
	say("wait", waitpid(pid, &status, 0) == pid);
	say_status("status", status);
}

static void act_forkpty(void)
{
	int terminal = -1, status = 0;
	char text[64] = "";
	pid_t pid = forkpty(&terminal, NULL, NULL, NULL);

	if (pid == 0) {
		bool has_terminal = isatty(1) == 1;

		_exit(write(1, "hello", 5) == 5 && has_terminal ? 6 : 0);
	}
	say("read", (int)read(terminal, text, sizeof(text)));
	say("wait", waitpid(pid, &status, 0) == pid);
	say_status("status", status);
}

/* The parent ends in this call, so only the child comes back. */
static void act_daemon(void)
{
	if (daemon(1, 1) == 0)
		_exit(getsid(0) == getpid() ? 0 : 1);
}

/* The calls that fail in this process; a call that succeeds does not return. */
#define ACT_EXEC(name, failing, succeeding)                                                        \
	static void act_##name(void)                                                               \
	{                                                                                          \
		say("no file", failing);                                                           \
		succeeding;                                                                        \
		say("not executed", -1);                                                           \
	}

ACT_EXEC(execve, execve("/no/such/file", child_argv, environ), execve(self, child_argv, environ))
ACT_EXEC(execv, execv("/no/such/file", child_argv), execv(self, child_argv))
ACT_EXEC(execvp, execvp("no-such-file", child_argv), execvp(self, child_argv))
ACT_EXEC(execvpe, execvpe("no-such-file", child_argv, environ), execvpe(self, child_argv, environ))
ACT_EXEC(execl, execl("/no/such/file", "acts", "child", (char *)NULL),
	 execl(self, "acts", "child", "with", "more", "arguments", (char *)NULL))
ACT_EXEC(execlp, execlp("no-such-file", "acts", "child", (char *)NULL),
	 execlp(self, "acts", "child", (char *)NULL))
ACT_EXEC(execle, execle("/no/such/file", "acts", "child", (char *)NULL, environ),
	 execle(self, "acts", "child", (char *)NULL, environ))
ACT_EXEC(fexecve, fexecve(-1, child_argv, environ),
	 fexecve(open(self, O_RDONLY | O_CLOEXEC), child_argv, environ))
#ifdef HAVE_EXECVEAT
ACT_EXEC(execveat, execveat(-1, "no-such-file", child_argv, environ, 0),
	 execveat(AT_FDCWD, self, child_argv, environ, 0))
#endif

static void act_posix_spawn(void)
{
	int result, status = 0;
	pid_t pid = 77;

	say("no file", posix_spawn(&pid, "/no/such/file", NULL, NULL, child_argv, environ));
	say("pid", pid);
	result = posix_spawn(&pid, self, NULL, NULL, child_argv, environ);
	say("wait", waitpid(pid, &status, 0) == pid);
	say("spawn", result);
	say_status("status", status);
}

static void act_posix_spawnp(void)
{
	int result, status = 0;
	pid_t pid;

	say("no file", posix_spawnp(&pid, "no-such-file", NULL, NULL, child_argv, environ));
	result = posix_spawnp(&pid, self, NULL, NULL, child_argv, NULL);
	say("wait", wait(&status) == pid);
	say("spawn", result);
	say_status("status", status);
}

static void act_system(void)
{
	say("shell", system(NULL) != 0);
	say_status("status", system("echo from the shell; exit 4"));
}

static void act_popen(void)
{
	FILE *stream = popen("echo through a pipe", "r");
	char line[80];

	printf("%s", fgets(line, sizeof(line), stream));
	say_status("status", pclose(stream));
	errno = 0;
	say("no mode", popen("true", "x") ? 0 : -1);
}

static void act_pclose(void)
{
	FILE *stream = popen("exit 6", "w");

	usleep(10000);
	say_status("status", pclose(stream));
}

static void act_wait(void)
{
	int status = 0;
	pid_t pid = fork_child(1);

	say("wait", wait(&status) == pid);
	say_status("status", status);
	say("no child", wait(&status));
}

static void act_waitpid(void)
{
	pid_t pid = fork();
	int status = 0;

	if (pid == 0)
		pause();
	say("not yet", waitpid(pid, &status, WNOHANG));
	kill(pid, SIGTERM);
	say("wait", waitpid(pid, &status, 0) == pid);
	say_status("status", status);
	say("no child", waitpid(pid, NULL, 0));
	say("no option", waitpid(-1, NULL, 12345678));
}

static void act_wait3(void)
{
	struct rusage usage;
	pid_t pid = fork_child(3);
	int status = 0;

	usage.ru_maxrss = 0;
	say("wait", wait3(&status, 0, &usage) == pid);
	say_status("status", status);
	say("used", usage.ru_maxrss > 0);
	say("no child", wait3(&status, 0, NULL));
}

static void act_wait4(void)
{
	pid_t pid = fork_child(4);
	int status = 0;

	/* The child has ended, and no wrapper has recorded that this thread waited for it. */
	syscall(SYS_waitid, P_PID, pid, NULL, WEXITED | WNOWAIT, NULL);
	say("wait", wait4(pid, &status, 0, NULL) == pid);
	say_status("status", status);
}

static void act_waitid(void)
{
	siginfo_t info = {.si_pid = 5};
	pid_t pid = fork_child(5);

	say("wait", waitid(P_PID, (id_t)pid, &info, WEXITED | WNOWAIT));
	say("pid", info.si_pid == pid);
	say("code", info.si_code);
	say("status", info.si_status);
	memset(&info, 0x55, sizeof(info));
	say("again", waitid(P_ALL, 0, &info, WEXITED));
	say("untouched", ((unsigned char *)&info)[sizeof(info) - 1]);
	say("no child", waitid(P_ALL, 0, &info, WEXITED));
	say("no option", waitid(P_ALL, 0, &info, 0));
}

static void act__exit(void)
{
	_exit(11);
}

static void act__Exit(void)
{
	_Exit(12);
}

static void at_quick_exit_say(void)
{
	printf("quickly\n");
	fflush(stdout);
}

static void act_quick_exit(void)
{
	at_quick_exit(at_quick_exit_say);
	quick_exit(13);
}

/* Signals. */

static void see_signal(int number, siginfo_t *info, void *context)
{
	nr_signals = nr_signals + (info->si_signo == number && context);
}

static void act_sigaction(void)
{
	struct sigaction plain = {.sa_handler = count_signal},
			 full = {.sa_sigaction = see_signal, .sa_flags = SA_SIGINFO}, old;

	say("plain", sigaction(SIGUSR1, &plain, &old));
	say("was default", old.sa_handler == SIG_DFL);
	raise(SIGUSR1);
	say("errno of the handler", errno);
	say("full", sigaction(SIGUSR1, &full, &old));
	say("was plain", old.sa_handler == count_signal && !(old.sa_flags & SA_SIGINFO));
	raise(SIGUSR1);
	say("handled", nr_signals);
	say("ask", sigaction(SIGUSR1, NULL, &old));
	say("is full", old.sa_sigaction == see_signal && (old.sa_flags & SA_SIGINFO));
	full.sa_handler = SIG_IGN;
	say("ignore", sigaction(SIGUSR1, &full, &old));
	say("was full", old.sa_sigaction == see_signal);
	say("put back", sigaction(SIGUSR1, &old, NULL));
	raise(SIGUSR1);
	say("handled", nr_signals);
	say("no such signal", sigaction(SIGKILL, &plain, NULL));
	say("nor this", sigaction(0, &plain, &old));
}

#define ACT_SIGNAL(name)                                                                           \
	static void act_##name(void)                                                               \
	{                                                                                          \
		say("was default", name(SIGUSR2, count_signal) == SIG_DFL);                        \
		raise(SIGUSR2);                                                                    \
		say("handled", nr_signals);                                                        \
		name(SIGUSR2, count_signal);                                                       \
		say("was ours", name(SIGUSR2, SIG_IGN) == count_signal);                           \
		say("was ignored", name(SIGUSR2, SIG_DFL) == SIG_IGN);                             \
		say("no signal", name(SIGKILL, count_signal) == SIG_ERR ? -1 : 0);                 \
	}

ACT_SIGNAL(signal)
ACT_SIGNAL(ssignal)
ACT_SIGNAL(sysv_signal)
ACT_SIGNAL(__sysv_signal)
ACT_SIGNAL(bsd_signal)
ACT_SIGNAL(sigset)

/* Timers. */

static void use_timer(void)
{
	struct sigevent event = {.sigev_notify = SIGEV_SIGNAL, .sigev_signo = SIGUSR1};
	struct itimerspec time = {{0, 0}, {0, 5000000}}, old;
	timer_t timer;

	signal(SIGUSR1, count_signal);
	say("create", timer_create(CLOCK_MONOTONIC, &event, &timer));
	say("set", timer_settime(timer, 0, &time, &old));
	for (int i = 0; i < 1000 && nr_signals == 0; i++)
		usleep(1000);
	say("rang", nr_signals == SIGUSR1);
	time.it_value = in_ms(CLOCK_MONOTONIC, 60000);
	say("set", timer_settime(timer, TIMER_ABSTIME, &time, NULL));
	time.it_value.tv_nsec = -1;
	say("no time", timer_settime(timer, 0, &time, NULL));
	say("delete", timer_delete(timer));
	say("delete once more", timer_delete(timer));
	say("no clock", timer_create(12345, &event, &timer));
}

static const struct {
	const char *name;
	void (*act)(void);
} acts[] = {
#define ACT(name)                                                                                  \
	{                                                                                          \
#name, act_##name                                                                  \
	}
	/* clang-format off */
	ACT(pthread_create), ACT(pthread_join), ACT(pthread_tryjoin_np), ACT(pthread_timedjoin_np),
	ACT(pthread_clockjoin_np), ACT(pthread_exit), ACT(pthread_detach), ACT(pthread_cancel), ACT(pthread_kill),
	ACT(pthread_setname_np), ACT(prctl), ACT(pthread_setschedparam), ACT(pthread_setschedprio),
	ACT(sched_setscheduler), ACT(sched_setparam), ACT(fork), ACT(vfork), ACT(forkpty), ACT(daemon),
	ACT(thrd_create), ACT(thrd_join), ACT(thrd_exit), ACT(thrd_detach),
	ACT(execve), ACT(execv), ACT(execvp), ACT(execvpe), ACT(execl),
	ACT(execlp), ACT(execle), ACT(fexecve), ACT(posix_spawn),
#ifdef HAVE_EXECVEAT
	ACT(execveat),
#endif
	ACT(posix_spawnp), ACT(system), ACT(popen), ACT(pclose), ACT(wait),
	ACT(waitpid), ACT(wait3), ACT(wait4), ACT(waitid), ACT(_exit),
	ACT(_Exit), ACT(quick_exit), ACT(sigaction), ACT(signal), ACT(ssignal),
	ACT(sysv_signal), ACT(__sysv_signal), ACT(bsd_signal), ACT(sigset),
	/* clang-format on */
	{"timer_create", use_timer},
	{"timer_settime", use_timer},
	{"timer_delete", use_timer},
#undef ACT
};

int main(int argc, char **argv)
{
	const char *name = argc > 1 ? argv[1] : "";

	self = argv[0];
	if (strcmp(name, "clone like vfork") == 0) {
		clone_and_post(CLONE_VM | CLONE_VFORK);
		return 0;
	}
	if (strcmp(name, "clone and go on") == 0) {
		clone_and_post(CLONE_VM);
		return 0;
	}
	if (strcmp(name, "vfork and redirect") == 0) {
		vfork_and_redirect();
		return 0;
	}
	if (strcmp(name, "wait, then end") == 0) {
		wait_then_end();
		return 0;
	}
	if (strcmp(name, "child") == 0) {
		printf("a child with %d arguments\n", argc - 1);
		return 5;
	}
	for (size_t i = 0; i < sizeof(acts) / sizeof(acts[0]); i++) {
		if (strcmp(name, "list") == 0) {
			puts(acts[i].name);
		} else if (strcmp(name, acts[i].name) == 0) {
			acts[i].act();
			return 0;
		}
	}
	return strcmp(name, "list") == 0 ? 0 : 98;
}
