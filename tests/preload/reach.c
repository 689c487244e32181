/* SPDX-License-Identifier: MIT */
/*
 * reach: call functions with invalid pointers, which the kernel refuses; print results and errno.  With the object,
 * traced or not, it must print the same, and must not crash.
 */
#include <errno.h>
#include <linux/futex.h>
#include <mqueue.h>
#include <netdb.h>
#include <netinet/in.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/mman.h>
#include <sys/msg.h>
#include <sys/select.h>
#include <sys/sem.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <threads.h>
#include <time.h>
#include <unistd.h>

#define PAGE 65536 /* or less */
#define UNTOUCHED 77

static char name[] = "reach";
static char *const no_arguments[] = {name, NULL};

#define TRY(call)                                                                                  \
	({                                                                                         \
		long result_;                                                                      \
		errno = UNTOUCHED;                                                                 \
		result_ = (long)(call);                                                            \
		printf("  %s = %ld, errno %d\n", #call, result_, errno);                           \
		fflush(stdout);                                                                    \
	})

/* Where time_t has 32 bits, the C library itself reads times and converts them, so a bad pointer is a fault. */
#if defined __TIMESIZE && __TIMESIZE == 32
#define TRY_TIME(call) ((void)sizeof(call))
#else
#define TRY_TIME(call) TRY(call)
#endif

static void try_sleeps(void *p)
{
	TRY_TIME(nanosleep(p, NULL));
	TRY_TIME(thrd_sleep(p, NULL));
	TRY_TIME(clock_nanosleep(CLOCK_MONOTONIC, 0, p, NULL));
	TRY_TIME(clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, p, NULL));
}

static void try_queue(void *p)
{
	struct mq_attr attr = {.mq_maxmsg = 1, .mq_msgsize = 1};
	char text[1], queue_name[32];
	mqd_t queue;

	snprintf(queue_name, sizeof(queue_name), "/reach-%d", (int)getpid());
	queue = mq_open(queue_name, O_RDWR | O_CREAT, 0600, &attr);
	mq_unlink(queue_name);
	if (queue < 0 || !p)
		return;
	TRY_TIME(mq_timedreceive(queue, text, 1, NULL, p));
	TRY_TIME(mq_timedsend(queue, "x", 1, 0, p));
	mq_close(queue);
}

/* A null pointer is no invalid pointer here, but stands for a missing argument. */
static void try_polls(void *p)
{
	struct timeval short_time = {0, 10};
	struct timespec as_short = {0, 10000};
	struct epoll_event event;
	int epoll = epoll_create1(0);

	TRY(select(1, p, NULL, NULL, &short_time));
	TRY(select(1, NULL, p, NULL, &short_time));
	TRY(select(1024, NULL, NULL, p, &short_time));
	TRY(pselect(1, p, NULL, NULL, &as_short, NULL));
	TRY(poll(p, 1, 1));
	TRY(epoll_wait(epoll, p, 1, 1));
	if (p)
		TRY_TIME(epoll_pwait2(epoll, &event, 1, p, NULL));
	close(epoll);
}

/* An emulator may copy as many bytes to its stack as the program says. */
static int takes_any_length(void)
{
	pid_t pid = fork();
	int status;

	if (pid == 0) {
		syscall(SYS_connect, -1, NULL, 1 << 30);
		_exit(0);
	}
	return waitpid(pid, &status, 0) == pid && WIFEXITED(status);
}

static void try_connections(void *p)
{
	int fd = socket(AF_INET, SOCK_STREAM, 0);

	TRY(connect(fd, p, sizeof(struct sockaddr_in)));
	TRY(connect(fd, p, sizeof(struct sockaddr_in6)));
	if (takes_any_length())
		TRY(connect(fd, p, 1 << 30));
	TRY(bind(fd, p, sizeof(struct sockaddr_in)));
	close(fd);
}

static void end_at_once(void)
{
	pid_t pid = fork();
	siginfo_t info;

	if (pid == 0)
		_exit(0);
	waitid(P_PID, (id_t)pid, &info, WEXITED | WNOWAIT); /* it has ended */
}

static void try_processes(void *p)
{
	pid_t pid;

	TRY(waitid(P_ALL, 0, p, WEXITED));
	end_at_once();
	TRY(waitid(P_ALL, 0, p, WEXITED));
	TRY(waitid(P_ALL, 0, p, WEXITED | WNOHANG));
	TRY(execve(p, no_arguments, environ));
	TRY(execv(p, no_arguments));
	TRY(posix_spawn(&pid, p, NULL, NULL, no_arguments, environ));
	while (waitpid(-1, NULL, 0) > 0)
		continue;
}

/* The set and the queue do not exist, so these calls do not wait. */
static void try_system_v(void *p)
{
	sigset_t none;

	TRY(semop(-1, p, 1));
	TRY(semop(-1, p, 100));
	TRY_TIME(semtimedop(-1, p, 1, p));
	TRY(msgrcv(-1, p, 10, 0, 0));
	TRY(msgsnd(-1, p, 10, 0));
	TRY(getaddrinfo(NULL, NULL, NULL, NULL));
	sigemptyset(&none);
	__asm__("" : "+r"(p)); /* the declarations of the calls above let the compiler assume that p is not NULL */
	if (p)
		TRY_TIME(sigtimedwait(&none, NULL, p));
	TRY(syscall(SYS_futex, p, FUTEX_WAIT_PRIVATE, 1, NULL, NULL, 0));
	TRY(syscall(SYS_futex, p, FUTEX_WAKE_PRIVATE, 1, NULL, NULL, 0));
	TRY(syscall(SYS_futex, p, 100, 1, NULL, NULL, 0));
	TRY(syscall(SYS_futex_waitv, p, 1, 0, NULL, CLOCK_MONOTONIC));
	TRY(syscall(SYS_io_uring_enter, -1, 0, 1, 0, p, 8));
	TRY(syscall(SYS_io_getevents, 0, 1, 1, p, p));
}

/* Data at the end of readable memory are read as without the object. */
static void try_the_end(char *end)
{
	struct timespec *time = (struct timespec *)end - 1;
	fd_mask *set = (fd_mask *)end - 1;

	*time = (struct timespec){0, 1};
	TRY(nanosleep(time, NULL));
	TRY_TIME(nanosleep((struct timespec *)((long *)time + 1), NULL));
	*set = 0;
	TRY(select(8 * (int)sizeof(*set), (fd_set *)set, NULL, NULL, &(struct timeval){0, 10}));
	memcpy(end - 6, "/no/x", 6);
	TRY(execv(end - 6, no_arguments));
	TRY(execv(end - 1, no_arguments));
	memset(end - 300, 'x', 300);
	TRY(execv(end - 300, no_arguments));
}

int main(void)
{
	char *pages = mmap(NULL, 2 * PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1,
			   0);
	void *const nowhere[] = {NULL, (void *)1, pages + PAGE, (void *)-1L};

	if (pages == MAP_FAILED || mprotect(pages + PAGE, PAGE, PROT_NONE))
		return 99;
	for (unsigned int i = 0; i < sizeof(nowhere) / sizeof(nowhere[0]); i++) {
		printf("%u:\n", i);
		try_sleeps(nowhere[i]);
		try_queue(nowhere[i]);
		try_polls(nowhere[i]);
		try_connections(nowhere[i]);
		try_processes(nowhere[i]);
		try_system_v(nowhere[i]);
	}
	printf("the end:\n");
	try_the_end(pages + PAGE);
	return 0;
}
