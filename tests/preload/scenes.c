/* SPDX-License-Identifier: MIT */
/* scenes NAME [ARGUMENT]: things that a program may do and that are difficult for an object before the C library. */
#include <dirent.h>
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <pthread.h>
#include <signal.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <unistd.h>

#include "support/first_thread.h"

static char **arguments;

static void *give_back(void *argument)
{
	return argument;
}

static void make_threads(int nr)
{
	for (int i = 0; i < nr; i++) {
		pthread_t thread;

		if (pthread_create(&thread, NULL, give_back, NULL) != 0 ||
		    pthread_join(thread, NULL) != 0)
			exit(97);
	}
}

static int threads(void)
{
	make_threads(atoi(arguments[0]));
	return 0;
}

/* Count threads and descriptors, and find the highest descriptor. */
static void count(const char *path, const char *what)
{
	DIR *directory = opendir(path);
	struct dirent *entry;
	int nr = 0, highest = 0;

	while ((entry = readdir(directory))) {
		int number = atoi(entry->d_name);

		nr += entry->d_name[0] != '.';
		highest = number > highest ? number : highest;
	}
	closedir(directory);
	printf("%s %d%s\n", what, nr, highest >= 1000 && strcmp(what, "files") == 0 ? " high" : "");
}

static int possessions(void)
{
	count("/proc/self/task", "threads");
	count("/proc/self/fd", "files");
	return 0;
}

static void *end_by_system_call(void *unused)
{
	make_threads(1);
	syscall(SYS_exit, 0);
	return unused;
}

/* No thread returns from its function: the first one ends alone, or before the other one. */
static int ends_alone(void)
{
	make_threads(2);
	syscall(SYS_exit, 5);
	return 97;
}

#ifdef SYS_setuid32
#define SETUID SYS_setuid32
#else
#define SETUID SYS_setuid
#endif
#define REFUSE(number)                                                                             \
	BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, number, 0, 1),                                         \
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | EACCES)

/*
 * refused [threads]: only in this thread, the kernel refuses to change the user, and to create threads.  77: it has no
 * filters.
 */
static int refused(void)
{
	struct sock_filter filter[] = {
		BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
		REFUSE(SETUID),
		REFUSE(arguments[0] ? SYS_clone3 : SETUID),
		REFUSE(arguments[0] ? SYS_clone : SETUID),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
	};
	struct sock_fprog program = {sizeof(filter) / sizeof(filter[0]), filter};

	make_threads(1);
	prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0);
	if (prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program) != 0)
		return 77;
	printf("%d", setuid(getuid()));
	printf(" %s\n", strerror(errno));
	if (!arguments[0])
		make_threads(1);
	return 0;
}

static int sees_end(void)
{
	return px_test_sees_end_of_first_thread() ? 0 : 77;
}

static int ends_first(void)
{
	pthread_t thread;

	if (pthread_create(&thread, NULL, end_by_system_call, NULL) != 0)
		return 97;
	syscall(SYS_exit, 0);
	return 97;
}

/* The child uses the memory of its parent until it executes a program. */
static int vforks(void)
{
	char *command[] = {"sh", "-c", "env | grep -c ^TXTRACE_OUT", NULL};
	int status = 0;
	pid_t pid;

	make_threads(1);
	for (int i = 0; i < 20; i++) {
		pid = vfork();
		if (pid == 0)
			_exit(i);
		waitpid(pid, &status, 0);
		if (WEXITSTATUS(status) != i)
			return 96;
	}
	pid = vfork();
	if (pid == 0) {
		execvp("no-such-file", command);
		execvp(command[0], command);
		_exit(95);
	}
	waitpid(pid, &status, 0);
	make_threads(1);
	return WEXITSTATUS(status);
}

static volatile sig_atomic_t ends;

static void *make_until_end(void *unused)
{
	while (!ends)
		make_threads(1);
	return unused;
}

/* A process forks while other threads are in any function. */
static int forks(void)
{
	int nr = atoi(arguments[0]), nr_good = 0;
	pthread_t worker[3];

	for (int i = 0; i < 3; i++)
		pthread_create(&worker[i], NULL, make_until_end, NULL);
	for (int i = 0; i < nr; i++) {
		int status = -1;
		pid_t pid = fork();

		if (pid == 0) {
			make_threads(2);
			exit(7);
		}
		waitpid(pid, &status, 0);
		nr_good += WIFEXITED(status) && WEXITSTATUS(status) == 7;
	}
	ends = 1;
	for (int i = 0; i < 3; i++)
		pthread_join(worker[i], NULL);
	printf("%d children\n", nr_good);
	return 0;
}

static volatile sig_atomic_t nr_alarms;

static void handle(int number)
{
	pid_t pid;

	pthread_kill(pthread_self(), 0);
	waitpid(-1, NULL, WNOHANG);
	if (nr_alarms % 50 == 0) {
		pid = fork();
		if (pid == 0)
			_exit(number);
		waitpid(pid, NULL, 0);
	}
	nr_alarms = nr_alarms + 1;
}

/* Wrappers interrupt wrappers. */
static int handlers(void)
{
	struct sigaction action = {.sa_handler = handle, .sa_flags = SA_RESTART};
	struct itimerval every = {{0, 500}, {0, 500}}, never = {{0, 0}, {0, 0}};

	sigaction(SIGALRM, &action, NULL);
	setitimer(ITIMER_REAL, &every, NULL);
	for (int i = 0; i < 1000000 && nr_alarms < 500; i++) {
		make_threads(i < 100);
		usleep(50);
	}
	setitimer(ITIMER_REAL, &never, NULL);
	printf("%s\n", nr_alarms >= 500 ? "enough" : "too few");
	return 0;
}

/*
 * The program closes all descriptors, past all wrappers, and opens its own.  With an argument, the log file is gone,
 * too, so the object cannot write.
 */
static int closes(void)
{
	struct stat status;
	int victim;

	make_threads(3);
	for (int fd = 3; fd < 1100; fd++)
		syscall(SYS_close, fd);
	victim = open(arguments[0], O_RDWR | O_CREAT | O_TRUNC, 0600);
	for (int fd = 950; fd < 1010; fd++)
		dup2(victim, fd);
	if (arguments[1])
		unlink(arguments[1]);
	make_threads(3);
	usleep(1300000); /* the object flushes each second */
	make_threads(3);
	fstat(victim, &status);
	printf("%ld bytes\n", (long)status.st_size);
	return 0;
}

static int dies(void)
{
	make_threads(5);
	raise(SIGKILL);
	return 0;
}

static int leaves(void)
{
	make_threads(5);
	_exit(6);
}

/* The program unloads the object while its threads are in wrappers. */
static int unloads(void)
{
	void *object = dlopen(arguments[0], RTLD_NOW | RTLD_GLOBAL);

	if (!object)
		return 94;
	make_threads(2);
	dlclose(object);
	make_threads(2);
	printf("done\n");
	return 0;
}

static void make_late(void)
{
	make_threads(2);
	printf("late\n");
}

/* Registered first, so it runs last. */
__attribute__((constructor(102))) static void begin(void)
{
	atexit(make_late);
	make_threads(1);
}

__attribute__((destructor(102))) static void end(void)
{
	make_threads(1);
}

static void clean(void *text)
{
	printf("%s\n", (char *)text);
}

static pthread_key_t key;

static void *hold(void *unused)
{
	pthread_setspecific(key, "key");
	pthread_cleanup_push(clean, "cleanup");
	for (;;)
		pause();
	pthread_cleanup_pop(1);
	return unused;
}

static void *join_other(void *other)
{
	pthread_cleanup_push(clean, "cleanup of join");
	pthread_join(*(pthread_t *)other, NULL);
	pthread_cleanup_pop(0);
	return NULL;
}

/* A thread is cancelled in a wrapper that waits; each of its handlers and destructors runs once. */
static int cancels(void)
{
	pthread_t holder, joiner;
	void *value;

	pthread_key_create(&key, clean);
	pthread_create(&holder, NULL, hold, NULL);
	pthread_create(&joiner, NULL, join_other, &holder);
	usleep(20000);
	pthread_cancel(joiner);
	pthread_join(joiner, &value);
	printf("%d\n", value == PTHREAD_CANCELED);
	pthread_cancel(holder);
	pthread_join(holder, &value);
	printf("%d\n", value == PTHREAD_CANCELED);
	return 0;
}

int main(int argc, char **argv)
{
	static const struct {
		const char *name;
		int (*play)(void);
	} scenes[] = {
		{"threads", threads}, {"possessions", possessions}, {"vforks", vforks},
		{"forks", forks},     {"handlers", handlers},	    {"closes", closes},
		{"dies", dies},	      {"leaves", leaves},	    {"unloads", unloads},
		{"cancels", cancels}, {"ends_alone", ends_alone}, {"ends_first", ends_first},
		{"sees_end", sees_end}, {"refused", refused},
	};

	arguments = argv + 2;
	for (size_t i = 0; argc > 1 && i < sizeof(scenes) / sizeof(scenes[0]); i++)
		if (strcmp(argv[1], scenes[i].name) == 0)
			return scenes[i].play();
	return 98;
}
