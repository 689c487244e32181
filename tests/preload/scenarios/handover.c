/* SPDX-License-Identifier: MIT */
/*
 * A program without problems: three threads pass objects of each kind to each other. main waits for each object once,
 * and sleeps before another thread lets it go on.  It prints the addresses of the objects.
 */
#include <fcntl.h>
#include <pthread.h>
#include <semaphore.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#define THREADS 3 /* with main */

static pthread_rwlock_t table = PTHREAD_RWLOCK_INITIALIZER;
static pthread_mutex_t again = PTHREAD_RECURSIVE_MUTEX_INITIALIZER_NP;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t changed = PTHREAD_COND_INITIALIZER;
static pthread_barrier_t stage;
static sem_t permit, news;
static bool is_ready;
static atomic_int nr_waits; /* of main */

/* The calls are not recorded. */
static char state_of_main(void)
{
	char path[64], text[256], *end;
	long fd, size;

	snprintf(path, sizeof(path), "/proc/self/task/%d/stat", (int)getpid());
	fd = syscall(SYS_openat, AT_FDCWD, path, O_RDONLY);
	size = syscall(SYS_read, fd, text, sizeof(text) - 1);
	syscall(SYS_close, fd);
	text[size > 0 ? size : 0] = '\0';
	end = strrchr(text, ')');
	return end ? end[2] : '?';
}

static void await_wait(int nr)
{
	while (atomic_load(&nr_waits) < nr || state_of_main() != 'S')
		syscall(SYS_sched_yield);
}

static void *read_table(void *unused)
{
	pthread_setname_np(pthread_self(), "second");
	pthread_rwlock_rdlock(&table);
	pthread_barrier_wait(&stage);
	await_wait(1);
	pthread_rwlock_unlock(&table);
	for (int i = 0; i < 3; i++)
		pthread_barrier_wait(&stage);
	return unused;
}

static void *give(void *unused)
{
	pthread_setname_np(pthread_self(), "first");
	pthread_rwlock_rdlock(&table);
	pthread_barrier_wait(&stage);
	await_wait(1);
	pthread_rwlock_unlock(&table);

	pthread_mutex_lock(&again);
	pthread_mutex_lock(&again);
	pthread_barrier_wait(&stage);
	await_wait(2);
	pthread_mutex_unlock(&again);
	pthread_mutex_unlock(&again);

	sem_wait(&permit);
	pthread_barrier_wait(&stage);
	await_wait(3);
	sem_post(&permit);

	pthread_barrier_wait(&stage);
	await_wait(4);
	sem_post(&news);

	await_wait(5);
	pthread_mutex_lock(&lock);
	is_ready = true;
	pthread_cond_signal(&changed);
	pthread_mutex_unlock(&lock);
	return unused;
}

int main(void)
{
	pthread_t first, second;

	pthread_barrier_init(&stage, NULL, THREADS);
	sem_init(&permit, 0, 1);
	sem_init(&news, 0, 0);
	if (pthread_create(&first, NULL, give, NULL) != 0 ||
	    pthread_create(&second, NULL, read_table, NULL) != 0)
		return 1;

	pthread_barrier_wait(&stage);
	atomic_store(&nr_waits, 1);
	pthread_rwlock_wrlock(&table);
	pthread_rwlock_unlock(&table);

	pthread_barrier_wait(&stage);
	atomic_store(&nr_waits, 2);
	pthread_mutex_lock(&again);
	pthread_mutex_unlock(&again);

	pthread_barrier_wait(&stage);
	atomic_store(&nr_waits, 3);
	sem_wait(&permit);
	sem_post(&permit);

	pthread_barrier_wait(&stage);
	atomic_store(&nr_waits, 4);
	sem_wait(&news);

	pthread_mutex_lock(&lock);
	atomic_store(&nr_waits, 5);
	while (!is_ready)
		pthread_cond_wait(&changed, &lock);
	pthread_mutex_unlock(&lock);

	pthread_join(first, NULL);
	pthread_join(second, NULL);
	printf("table %p\nagain %p\nlock %p\nchanged %p\nstage %p\npermit %p\nnews %p\n", (void *)&table,
	       (void *)&again, (void *)&lock, (void *)&changed, (void *)&stage, (void *)&permit,
	       (void *)&news);
	return 0;
}
