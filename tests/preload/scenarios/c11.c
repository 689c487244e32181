/* SPDX-License-Identifier: MIT */
/*
 * Threads of C11, without POSIX locks.  One thread keeps a mutex until the other thread has given up waiting for it,
 * and then until that thread waits for it once more. main() waits for a condition, which that thread signals.
 */
#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <threads.h>
#include <time.h>
#include <unistd.h>

#define WAIT_NS 20000000
#define REST_NS 200000
#define PAUSE_NS 200000000

static mtx_t till, desk;
static cnd_t sold;
static int stage, late_tid, has_sold;

static void set(int *word, int value)
{
	__atomic_store_n(word, value, __ATOMIC_RELEASE);
}

static void rest(void)
{
	const struct timespec time = {0, REST_NS};

	syscall(SYS_nanosleep, &time, NULL);
}

static void await(const int *word, int value)
{
	while (__atomic_load_n(word, __ATOMIC_ACQUIRE) != value)
		rest();
}

/* Return whether the thread waits for a futex in the kernel.  If the kernel does not show it, pause. */
static int late_waits(void)
{
	const struct timespec pause = {0, PAUSE_NS};
	char path[64], text[16] = "";
	ssize_t n = -1;
	int fd;

	snprintf(path, sizeof(path), "/proc/self/task/%d/syscall", late_tid);
	fd = open(path, O_RDONLY);
	if (fd >= 0) {
		n = read(fd, text, sizeof(text) - 1);
		close(fd);
	}
	if (n <= 0)
		return thrd_sleep(&pause, NULL) == 0;
	return text[0] != 'r' && strtol(text, NULL, 10) == SYS_futex;
}

static int keep(void *unused)
{
	pthread_setname_np(pthread_self(), "early");
	mtx_lock(&till);
	set(&stage, 1);
	await(&stage, 2);
	while (!late_waits())
		rest();
	mtx_unlock(&till);
	return unused != NULL;
}

static int come(void *unused)
{
	struct timespec until;

	pthread_setname_np(pthread_self(), "late");
	late_tid = (int)syscall(SYS_gettid);
	await(&stage, 1);
	timespec_get(&until, TIME_UTC);
	until.tv_nsec += WAIT_NS;
	until.tv_sec += until.tv_nsec / 1000000000;
	until.tv_nsec %= 1000000000;
	if (mtx_timedlock(&till, &until) != thrd_timedout)
		_exit(1);
	set(&stage, 2);
	mtx_lock(&till);
	mtx_unlock(&till);
	mtx_lock(&desk);
	has_sold = 1;
	cnd_signal(&sold);
	mtx_unlock(&desk);
	return unused != NULL;
}

int main(void)
{
	thrd_t early, late;

	if (mtx_init(&till, mtx_timed) != thrd_success ||
	    mtx_init(&desk, mtx_plain) != thrd_success || cnd_init(&sold) != thrd_success ||
	    mtx_lock(&desk) != thrd_success || thrd_create(&early, keep, NULL) != thrd_success ||
	    thrd_create(&late, come, NULL) != thrd_success)
		return 1;
	while (!has_sold)
		cnd_wait(&sold, &desk);
	mtx_unlock(&desk);
	thrd_join(early, NULL);
	thrd_join(late, NULL);
	return 0;
}
