/* SPDX-License-Identifier: MIT */
/*
 * Make many calls that do not wait, and print how many there were: "calls NAME NUMBER" for each function, and "taken
 * LOCK NUMBER" for each lock. tight exit|_exit|exec|fork|kill
 */
#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#define ROUNDS 20000
#define THREADS 3

static pthread_mutex_t main_lock = PTHREAD_MUTEX_INITIALIZER, shared_lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_mutex_t waited_lock = PTHREAD_MUTEX_INITIALIZER, many[200];
#ifdef PTHREAD_RECURSIVE_MUTEX_INITIALIZER_NP
static pthread_mutex_t nested_lock = PTHREAD_RECURSIVE_MUTEX_INITIALIZER_NP;
#else
static pthread_mutex_t nested_lock;
#endif
static pthread_rwlock_t table_lock = PTHREAD_RWLOCK_INITIALIZER;
static pthread_spinlock_t spin_lock;
static pthread_once_t once = PTHREAD_ONCE_INIT;

enum {
	LOCK,
	UNLOCK,
	TRY,
	RDLOCK,
	WRLOCK,
	RWUNLOCK,
	SPIN,
	SPINUNLOCK,
	ONCE,
	NR_CALLS
};

static const char *const names[] = {"pthread_mutex_lock",    "pthread_mutex_unlock",  "pthread_mutex_trylock",
				    "pthread_rwlock_rdlock", "pthread_rwlock_wrlock", "pthread_rwlock_unlock",
				    "pthread_spin_lock",     "pthread_spin_unlock",   "pthread_once"};

static atomic_long nr[NR_CALLS];
static atomic_long taken_main, taken_shared, taken_waited, taken_nested, taken_table;
static atomic_int is_waiting;

static void init(void)
{
}

static void lock(pthread_mutex_t *mutex, atomic_long *taken)
{
	nr[LOCK]++;
	*taken += pthread_mutex_lock(mutex) == 0;
}

static void unlock(pthread_mutex_t *mutex)
{
	nr[UNLOCK]++;
	pthread_mutex_unlock(mutex);
}

/* The address of a lock belongs to 100 locks, one after the other. */
static void use_heap(void)
{
	pthread_mutex_t mutex;

	for (int i = 0; i < 100; i++) {
		atomic_long unused = 0;

		pthread_mutex_init(&mutex, NULL);
		for (int k = 0; k < 10; k++) {
			lock(&mutex, &unused);
			unlock(&mutex);
		}
		pthread_mutex_destroy(&mutex);
	}
}

static void *work(void *unused)
{
	for (int i = 0; i < ROUNDS; i++) {
		atomic_long nested = 0; /* no further hold */

		lock(&shared_lock, &taken_shared);
		unlock(&shared_lock);
		lock(&nested_lock, &taken_nested);
		lock(&nested_lock, &nested);
		unlock(&nested_lock);
		unlock(&nested_lock);
		nr[i % 2 ? RDLOCK : WRLOCK]++;
		taken_table += (i % 2 ? pthread_rwlock_rdlock(&table_lock) : pthread_rwlock_wrlock(&table_lock)) == 0;
		nr[RWUNLOCK]++;
		pthread_rwlock_unlock(&table_lock);
		nr[SPIN]++;
		pthread_spin_lock(&spin_lock);
		nr[SPINUNLOCK]++;
		pthread_spin_unlock(&spin_lock);
		nr[ONCE]++;
		pthread_once(&once, init);
	}
	use_heap();
	return unused;
}

static void *wait_for_lock(void *unused)
{
	is_waiting = 1;
	lock(&waited_lock, &taken_waited);
	unlock(&waited_lock);
	for (int i = 0; i < 1000; i++) {
		lock(&waited_lock, &taken_waited);
		unlock(&waited_lock);
	}
	return unused;
}

static bool has_waiter(void)
{
#ifdef __GLIBC__
	return __atomic_load_n(&waited_lock.__data.__lock, __ATOMIC_RELAXED) == 2;
#else
	usleep(100000); /* enough, on a machine that is not too busy */
	return true;
#endif
}

/* If the C library has noted a waiter in the lock, the other thread certainly waits. */
static void make_wait(void)
{
	pthread_t waiter;

	lock(&waited_lock, &taken_waited);
	nr[TRY]++;
	if (pthread_mutex_trylock(&waited_lock) != EBUSY)
		exit(1);
	pthread_create(&waiter, NULL, wait_for_lock, NULL);
	while (!is_waiting || !has_waiter())
		usleep(1000);
	unlock(&waited_lock);
	pthread_join(waiter, NULL);
}

static void use_main_lock(void)
{
	for (int i = 0; i < ROUNDS; i++) {
		lock(&main_lock, &taken_main);
		unlock(&main_lock);
	}
}

static void use_many_locks(void)
{
	atomic_long unused = 0;

	for (int i = 0; i < 2000; i++) {
		lock(&many[i % 200], &unused);
		unlock(&many[i % 200]);
	}
}

static void report(void)
{
	char text[1024] = "";
	size_t used = 0;

	for (int i = 0; i < NR_CALLS; i++)
		used += (size_t)snprintf(text + used, sizeof(text) - used, "calls %s %ld\n", names[i], nr[i]);
	used += (size_t)snprintf(
		text + used, sizeof(text) - used,
		"taken main_lock %ld\ntaken shared_lock %ld\ntaken waited_lock %ld\ntaken nested_lock %ld\n"
		"taken table_lock %ld\n",
		taken_main, taken_shared, taken_waited, taken_nested, taken_table);
	if (write(1, text, used) != (ssize_t)used)
		exit(1);
}

int main(int argc, char **argv)
{
	const char *end = argc > 1 ? argv[1] : "exit";
	pthread_t thread[THREADS];

	if (strcmp(end, "nothing") == 0)
		return 0;
#ifndef PTHREAD_RECURSIVE_MUTEX_INITIALIZER_NP
	pthread_mutexattr_t recursive;

	pthread_mutexattr_init(&recursive);
	pthread_mutexattr_settype(&recursive, PTHREAD_MUTEX_RECURSIVE);
	pthread_mutex_init(&nested_lock, &recursive);
#endif
	pthread_spin_init(&spin_lock, 0);
	for (int i = 0; i < THREADS; i++)
		pthread_create(&thread[i], NULL, work, NULL);
	use_main_lock();
	use_many_locks();
	for (int i = 0; i < THREADS; i++)
		pthread_join(thread[i], NULL);
	make_wait();
	if (strcmp(end, "fork") == 0) {
		pid_t child = fork();

		if (child == 0)
			use_main_lock();
		if (child == 0)
			report();
		if (child == 0)
			_exit(0);
		waitpid(child, NULL, 0);
		return 0;
	}
	report();
	if (strcmp(end, "_exit") == 0)
		_exit(0);
	if (strcmp(end, "exec") == 0)
		execl(argv[0], argv[0], "nothing", (char *)NULL);
	if (strcmp(end, "kill") == 0)
		kill(getpid(), SIGKILL);
	return 0;
}
