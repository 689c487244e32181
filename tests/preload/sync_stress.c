/* SPDX-License-Identifier: MIT */
/*
 * Threads that briefly use all objects together: sync_stress [ROUNDS].  The program counts what one mutex protects, to
 * check that the calls work.  ThreadSanitizer does not know the locks of C11, so it does not get them.
 */
#include <pthread.h>
#include <semaphore.h>
#include <stdio.h>
#include <stdlib.h>
#include <threads.h>
#include <unistd.h>

#define THREADS 4

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t cond = PTHREAD_COND_INITIALIZER;
static pthread_rwlock_t rwlock = PTHREAD_RWLOCK_INITIALIZER;
static pthread_spinlock_t spin;
static pthread_barrier_t barrier;
static sem_t sem;
static mtx_t mtx;
static cnd_t cnd;
static long counted, spun, written, turn, shared, passed;
static int nr_rounds = 300;
static int nr_waiters;

/* The first thread begins when another one waits for it, so that each condition has at least one wait. */
static void await_waiter(const int *nr, long number)
{
	while (number == 0 && __atomic_load_n(nr, __ATOMIC_RELAXED) == 0)
		usleep(100);
}

static void take_turn(long number)
{
	await_waiter(&nr_waiters, number);
	pthread_mutex_lock(&mutex);
	while (turn % THREADS != number) {
		__atomic_fetch_add(&nr_waiters, 1, __ATOMIC_RELAXED);
		pthread_cond_wait(&cond, &mutex);
	}
	turn++;
	pthread_cond_broadcast(&cond);
	pthread_mutex_unlock(&mutex);
}

#ifndef __SANITIZE_THREAD__
static int nr_c11_waiters;

static void share(void)
{
	mtx_lock(&mtx);
	shared++;
	mtx_unlock(&mtx);
}

static void pass_on(long number)
{
	await_waiter(&nr_c11_waiters, number);
	mtx_lock(&mtx);
	while (passed % THREADS != number) {
		__atomic_fetch_add(&nr_c11_waiters, 1, __ATOMIC_RELAXED);
		cnd_wait(&cnd, &mtx);
	}
	passed++;
	cnd_broadcast(&cnd);
	mtx_unlock(&mtx);
}
#else
#define share() ((void)0)
#define pass_on(number) ((void)0)
#endif

static void *run(void *argument)
{
	long number = (long)argument;

	for (int i = 0; i < nr_rounds; i++) {
		pthread_mutex_lock(&mutex);
		counted++;
		pthread_mutex_unlock(&mutex);
		share();
		pthread_spin_lock(&spin);
		spun++;
		pthread_spin_unlock(&spin);
		if (i % 4 == number) {
			pthread_rwlock_wrlock(&rwlock);
			written++;
		} else {
			pthread_rwlock_rdlock(&rwlock);
		}
		pthread_rwlock_unlock(&rwlock);
		sem_wait(&sem);
		sem_post(&sem);
		if (i % 8 == 0)
			take_turn(number);
		if (i % 8 == 4)
			pass_on(number);
		if (i % 32 == 0)
			pthread_barrier_wait(&barrier);
	}
	return NULL;
}

int main(int argc, char **argv)
{
	pthread_t thread[THREADS];

	if (argc > 1)
		nr_rounds = atoi(argv[1]);
	mtx_init(&mtx, mtx_plain);
	cnd_init(&cnd);
	pthread_spin_init(&spin, PTHREAD_PROCESS_PRIVATE);
	pthread_barrier_init(&barrier, NULL, THREADS);
	sem_init(&sem, 0, 2);
	for (long i = 0; i < THREADS; i++)
		if (pthread_create(&thread[i], NULL, run, (void *)i) != 0)
			return 1;
	for (int i = 0; i < THREADS; i++)
		pthread_join(thread[i], NULL);
	printf("%ld %ld %ld %ld %ld %ld\n", counted, spun, written, turn, shared, passed);
	return 0;
}
