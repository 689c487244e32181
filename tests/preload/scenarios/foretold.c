/* SPDX-License-Identifier: MIT */
/*
 * A thread that waits for a mutex records the holder before the holder has recorded that it took the mutex.  On
 * x86-64, main runs in single steps, and stops behind the step that takes the mutex, until the other thread sleeps.
 */
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <sys/syscall.h>
#include <ucontext.h>
#include <unistd.h>

#define SINGLE_STEP 0x100 /* the trap flag of x86 */

static pthread_mutex_t gate = PTHREAD_MUTEX_INITIALIZER;
static atomic_bool is_taken;
static atomic_int waiter;

/* The calls here are not recorded. */
static char state_of(int tid)
{
	char path[64], text[256], *end;
	long fd, size;

	snprintf(path, sizeof(path), "/proc/self/task/%d/stat", tid);
	fd = syscall(SYS_openat, AT_FDCWD, path, O_RDONLY);
	size = syscall(SYS_read, fd, text, sizeof(text) - 1);
	syscall(SYS_close, fd);
	text[size > 0 ? size : 0] = '\0';
	end = strrchr(text, ')');
	return end ? end[2] : '?';
}

static void *want(void *unused)
{
	atomic_store(&waiter, (int)syscall(SYS_gettid));
	while (!atomic_load(&is_taken))
		syscall(SYS_sched_yield);
	pthread_mutex_lock(&gate);
	pthread_mutex_unlock(&gate);
	return unused;
}

static void let_other_wait(void)
{
	atomic_store(&is_taken, true);
	while (state_of(atomic_load(&waiter)) != 'S')
		syscall(SYS_sched_yield);
}

#ifdef __x86_64__
static void after_step(int signal, siginfo_t *info, void *context)
{
	int error = errno;

	(void)signal;
	(void)info;
	if (gate.__data.__owner != 0) {
		((ucontext_t *)context)->uc_mcontext.gregs[REG_EFL] &= ~SINGLE_STEP;
		let_other_wait();
	}
	errno = error;
}

static void take(void)
{
	struct sigaction on_step = {.sa_sigaction = after_step, .sa_flags = SA_SIGINFO};

	sigaction(SIGTRAP, &on_step, NULL);
	__asm__ volatile("pushfq; orq %0, (%%rsp); popfq" : : "i"(SINGLE_STEP) : "cc", "memory");
	pthread_mutex_lock(&gate);
}
#else
static void take(void)
{
	pthread_mutex_lock(&gate);
	let_other_wait();
}
#endif

int main(void)
{
	pthread_t thread;

	if (pthread_create(&thread, NULL, want, NULL) != 0)
		return 1;
	while (atomic_load(&waiter) == 0)
		syscall(SYS_sched_yield);
	take();
	pthread_mutex_unlock(&gate);
	pthread_join(thread, NULL);
	return 0;
}
