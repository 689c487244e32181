/* SPDX-License-Identifier: MIT */
/*
 * guests SCENE: programs that are hard to be a guest in; each ends with 0 if all was as it should be.
 *
 *	strict		allows itself read, write and exit only, and goes on: the kernel takes the clock away, too
 *	filter		the same, by a filter of its own, which leaves the clock
 *	kills HOW	has a filter that kills for all but write, futex and exit, and goes on with locks, in a thread
 *			that existed before, too; HOW: prctl, syscall, raw, or all (threads); then by _exit() or exit()
 *	handler		closes, reads and writes in a handler that interrupts the same
 *	naked		has no descriptor but its own, closes all there could be, and goes on
 *	quiet		finds no error of dlsym() that is not its own
 *	exchange FILE	gives memory to and takes it from an object that is bound past all wrappers
 *	writes		a few calls
 *	nowhere		executes what is at no address
 *	crowd N		has N threads at the same time
 *	edge		accepts and receives with less room for an address than it has, at the end of a page
 *	filtered FILE [ARGUMENT...]	executes the program with a filter that kills for two calls about a socket
 *	accepts		accepts two connections, the first one without asking who connects
 *	returning	a handler calls fork() while vfork() returns, and the child calls vfork() before it returns, too
 */
#include <dirent.h>
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <netinet/in.h>
#include <stddef.h>
#include <stdbool.h>
#include <pthread.h>
#include <signal.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <unistd.h>

#include "support/vfork.h"

static int confine_by_filter(void)
{
	struct sock_filter program[] = {
		BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_read, 3, 0),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_write, 2, 0),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_exit, 1, 0),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_KILL_PROCESS),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW)};
	struct sock_fprog all = {sizeof(program) / sizeof(program[0]), program};

	if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0)
		return -1;
	return prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &all);
}

static int confined(bool by_filter)
{
	char text[4];
	int ends[2];

	if (pipe(ends) != 0 || write(ends[1], "abcdef", 6) != 6)
		return 1;
	if ((by_filter ? confine_by_filter() : prctl(PR_SET_SECCOMP, SECCOMP_MODE_STRICT)) != 0)
		return 77;
	for (int i = 0; i < 1000; i++)
		if (write(ends[1], "xyz", 3) != 3 || read(ends[0], text, 3) != 3)
			syscall(SYS_exit, 2);
	if (read(ends[0], text, 4) != 4)
		syscall(SYS_exit, 3);
	syscall(SYS_exit, 0);
	return 4;
}

#ifdef SYS_fcntl64 /* a machine of 32 bits: fcntl() makes this call */
#define FCNTL_CALL SYS_fcntl64
#else
#define FCNTL_CALL SYS_fcntl
#endif

static volatile char selector; /* 0: the kernel allows system calls, 1: it sends SIGSYS */
static volatile int first_call = -1;

static void note_call(int number, siginfo_t *info, void *context)
{
	(void)number, (void)context;
	if (first_call < 0)
		first_call = info->si_syscall;
	selector = 0;
}

/* The kernel sends SIGSYS for each system call.  The program makes one, so it expects no other. */
static int dispatch(void)
{
	struct sigaction action = {.sa_sigaction = note_call, .sa_flags = SA_SIGINFO};
	int ends[2];

	if (pipe(ends) != 0 || write(ends[1], "abc", 3) != 3 || sigaction(SIGSYS, &action, NULL) != 0)
		return 1;
	if (prctl(59 /* PR_SET_SYSCALL_USER_DISPATCH */, 1, 0, 0, &selector) != 0)
		return 77;
	for (int i = 0; i < 100; i++) {
		first_call = -1;
		selector = 1;
		fcntl(ends[0], F_GETFD);
		selector = 0;
		if (first_call != FCNTL_CALL)
			return 2;
	}
	return 0;
}

static int deny_by(const char *how)
{
	struct sock_filter program[] = {
		BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_write, 4, 0),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_futex, 3, 0),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_exit, 2, 0),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_exit_group, 1, 0),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_KILL_PROCESS),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW)};
	struct sock_fprog all = {sizeof(program) / sizeof(program[0]), program};

	if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0)
		return -1;
	if (strcmp(how, "prctl") == 0)
		return prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &all);
	if (strcmp(how, "raw") == 0)
		return (int)syscall(SYS_prctl, PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &all);
	return (int)syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER,
			    strcmp(how, "all") == 0 ? SECCOMP_FILTER_FLAG_TSYNC : 0, &all);
}

static pthread_mutex_t turn_mutex = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t turn_changed = PTHREAD_COND_INITIALIZER;
static int turn;

/* The two threads take turns, 500 each. */
static void take_turns(int own, int end)
{
	pthread_mutex_lock(&turn_mutex);
	while (turn < end) {
		if (turn % 2 != own) {
			pthread_cond_wait(&turn_changed, &turn_mutex);
			continue;
		}
		turn++;
		pthread_cond_broadcast(&turn_changed);
	}
	pthread_mutex_unlock(&turn_mutex);
}

static void *take_turns_until_exit(void *unused)
{
	take_turns(1, 1000);
	pthread_mutex_lock(&turn_mutex);
	for (;;)
		pthread_cond_wait(&turn_changed, &turn_mutex);
	return unused;
}

static int goes_on(const char *how, bool by_exit)
{
	pthread_t thread;

	if (pthread_create(&thread, NULL, take_turns_until_exit, NULL) != 0)
		return 1;
	take_turns(0, 10);
	if (deny_by(how) != 0)
		return 77;
	take_turns(0, 1000);
	if (write(STDOUT_FILENO, "alive\n", 6) != 6)
		_exit(2);
	if (by_exit)
		exit(0);
	_exit(0);
}

static volatile sig_atomic_t nr_handled, nr_wrong;

static void handle(int number)
{
	char text[8];
	int saved_errno = errno, ends[2];

	(void)number;
	errno = 4242;
	if (pipe(ends) != 0 || write(ends[1], "hand", 4) != 4 || read(ends[0], text, 4) != 4 ||
	    memcmp(text, "hand", 4) != 0 || close(ends[0]) != 0 || close(ends[1]) != 0)
		nr_wrong++;
	if (errno != 4242)
		nr_wrong++;
	nr_handled++;
	errno = saved_errno;
}

static int handler(void)
{
	struct itimerval often = {{0, 200}, {0, 200}}, never = {{0, 0}, {0, 0}};
	struct sigaction action = {.sa_handler = handle, .sa_flags = SA_RESTART};
	char text[64];

	sigaction(SIGALRM, &action, NULL);
	setitimer(ITIMER_REAL, &often, NULL);
	for (int i = 0; nr_handled < 300 && i < 1000000; i++) {
		FILE *stream = fopen("/dev/zero", "r");
		int fd = open("/dev/null", O_RDWR);

		if (!stream || fread(text, 1, sizeof(text), stream) != sizeof(text) ||
		    write(fd, text, sizeof(text)) != sizeof(text) || close(fd) != 0 ||
		    fclose(stream) != 0)
			nr_wrong++;
	}
	setitimer(ITIMER_REAL, &never, NULL);
	return nr_wrong != 0 || nr_handled < 300;
}

static int nr_descriptors(void)
{
	DIR *directory = opendir("/proc/self/fd");
	int count = 0;

	while (readdir(directory))
		count++;
	closedir(directory);
	return count - 3; /* ".", "..", and the directory's own descriptor */
}

static int naked(void)
{
	char text[4] = "";
	int ends[2];

	for (int fd = 3; fd < 1024; fd++)
		close(fd);
	if (write(2, "", 0) != 0 || nr_descriptors() != 3)
		return 1;
	for (int fd = 0; fd < 1024; fd++)
		close(fd);
	if (pipe(ends) != 0 || ends[0] != 0 || ends[1] != 1)
		return 2;
	if (write(1, "abc", 3) != 3 || read(0, text, 3) != 3 || nr_descriptors() != 2)
		return 3;
	return strcmp(text, "abc") != 0;
}

static int exchange(const char *path)
{
	void *object = dlopen(path, RTLD_NOW | RTLD_DEEPBIND);
	void *(*gives)(size_t);
	void (*takes)(void *);

	if (!object)
		return 77;
	*(void **)&gives = dlsym(object, "shim_gives");
	*(void **)&takes = dlsym(object, "shim_takes");
	for (size_t size = 1; size < 100000; size *= 3) {
		free(gives(size));
		takes(malloc(size));
		takes(realloc(gives(size), 2 * size));
		takes(calloc(size, 2));
	}
	return 0;
}

static int writes(void)
{
	for (int i = 0; i < 10; i++)
		if (write(1, "a line\n", 7) != 7)
			return 1;
	free(malloc(10));
	return 0;
}

static int nowhere(void)
{
	const char *volatile path = (const char *)8;
	char *none[] = {NULL};
	pid_t pid;

	if (!px_test_has_vfork())
		return 77;
	if (writes() != 0 || execve(path, none, none) != -1 || errno != EFAULT)
		return 1;
	return posix_spawn(&pid, path, NULL, NULL, none, none) == EFAULT ? 0 : 2;
}

static pthread_barrier_t all_are_here;

static void *meet(void *unused)
{
	pthread_barrier_wait(&all_are_here);
	return unused;
}

static int crowd(int nr)
{
	pthread_t *thread = calloc((size_t)nr, sizeof(*thread));
	pthread_attr_t attr;

	pthread_attr_init(&attr);
	pthread_attr_setstacksize(&attr, (size_t)64 << 10);
	pthread_barrier_init(&all_are_here, NULL, (unsigned int)nr);
	for (int i = 0; i < nr; i++)
		if (pthread_create(&thread[i], &attr, meet, NULL) != 0)
			_exit(77);
	for (int i = 0; i < nr; i++)
		if (pthread_join(thread[i], NULL) != 0)
			return 1;
	return 0;
}

/* A socket of this type with an address of the machine, which is stored. */
static int bound_socket(int type, struct sockaddr_in *address)
{
	socklen_t length = sizeof(*address);
	int fd = socket(AF_INET, type, 0);

	*address = (struct sockaddr_in){.sin_family = AF_INET};
	address->sin_addr.s_addr = htonl(INADDR_LOOPBACK);
	if (fd < 0 || bind(fd, (struct sockaddr *)address, length) != 0 ||
	    getsockname(fd, (struct sockaddr *)address, &length) != 0)
		exit(1);
	return fd;
}

static void ask(const struct sockaddr_in *address)
{
	int fd = socket(AF_INET, SOCK_STREAM, 0);

	if (fd < 0 || connect(fd, (const struct sockaddr *)address, sizeof(*address)) != 0)
		exit(1);
}

static int edge(void)
{
	struct sockaddr_in address, of_datagrams;
	int server = bound_socket(SOCK_STREAM, &address), fd = bound_socket(SOCK_DGRAM, &of_datagrams);
	long page = sysconf(_SC_PAGESIZE);
	char *end = mmap(NULL, 2 * (size_t)page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	char byte = 'x';

	end += page;
	if (mprotect(end, (size_t)page, PROT_NONE) != 0 || listen(server, 8) != 0)
		return 1;
	for (socklen_t room = 0; room <= sizeof(address); room++) {
		socklen_t length = room;

		ask(&address);
		if (accept(server, (struct sockaddr *)(void *)(end - room), &length) < 0 || length != sizeof(address))
			return 2;
		length = room;
		if (sendto(fd, &byte, 1, 0, (struct sockaddr *)&of_datagrams, sizeof(of_datagrams)) != 1 ||
		    recvfrom(fd, &byte, 1, 0, (struct sockaddr *)(void *)(end - room), &length) != 1 ||
		    length != sizeof(address))
			return 3;
	}
	return 0;
}

static int filtered(char **command)
{
	struct sock_filter program[] = {
		BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_getsockname, 1, 0),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_getpeername, 0, 1),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_KILL_PROCESS),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW)};
	struct sock_fprog all = {sizeof(program) / sizeof(program[0]), program};

	if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0 || prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &all) != 0)
		return 77;
	execvp(command[0], command);
	return 1;
}

/* The kernel chooses the port, which only a forbidden call would tell: so try some. */
static int accepts(void)
{
	struct sockaddr_in address = {.sin_family = AF_INET};
	int fd = socket(AF_INET, SOCK_STREAM, 0), port = 20000 + (int)getpid() % 10000;

	address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
	do
		address.sin_port = htons((uint16_t)port++);
	while (bind(fd, (struct sockaddr *)&address, sizeof(address)) != 0 && errno == EADDRINUSE);
	if (listen(fd, 8) != 0)
		return 1;
	ask(&address);
	ask(&address);
	return accept(fd, NULL, NULL) < 0 ||
	       accept(fd, (struct sockaddr *)&address, &(socklen_t){sizeof(address)}) < 0;
}

static int nr_forks, status_of_child;

static void fork_while_vfork_returns(int number)
{
	pid_t child;

	(void)number;
	if (nr_forks++ > 0)
		return;
	child = fork();
	if (child != 0) {
		waitpid(child, &status_of_child, 0);
		return;
	}
	child = vfork();
	if (child == 0)
		_exit(0);
	waitpid(child, NULL, 0);
}

static int returning(void)
{
	pid_t self = getpid(), child;

	if (!px_test_has_vfork())
		return 77;
	signal(SIGUSR1, fork_while_vfork_returns);
	child = vfork();
	if (child == 0) {
		kill(self, SIGUSR1);
		_exit(3);
	}
	if (getpid() != self)
		_exit(5);
	waitpid(child, NULL, 0);
	return nr_forks != 1 || !WIFEXITED(status_of_child) || WEXITSTATUS(status_of_child) != 5;
}

int main(int argc, char **argv)
{
	const char *scene = argc > 1 ? argv[1] : "";

	if (strcmp(scene, "quiet") == 0)
		return dlerror() != NULL;
	if (strcmp(scene, "kills") == 0 && argc > 3)
		return goes_on(argv[2], strcmp(argv[3], "exit") == 0);
	if (strcmp(scene, "strict") == 0 || strcmp(scene, "filter") == 0)
		return confined(strcmp(scene, "filter") == 0);
	if (strcmp(scene, "dispatch") == 0)
		return dispatch();
	if (strcmp(scene, "handler") == 0)
		return handler();
	if (strcmp(scene, "naked") == 0)
		return naked();
	if (strcmp(scene, "edge") == 0)
		return edge();
	if (strcmp(scene, "filtered") == 0 && argc > 2)
		return filtered(argv + 2);
	if (strcmp(scene, "accepts") == 0)
		return accepts();
	if (strcmp(scene, "returning") == 0)
		return returning();
	if (strcmp(scene, "nowhere") == 0)
		return nowhere();
	if (strcmp(scene, "crowd") == 0 && argc > 2)
		return crowd(atoi(argv[2]));
	if (strcmp(scene, "writes") == 0)
		return writes();
	return strcmp(scene, "exchange") == 0 && argc > 2 ? exchange(argv[2]) : 2;
}
