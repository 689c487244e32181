/* SPDX-License-Identifier: MIT */
/*
 * A program with calls of many kinds, which counts its own calls: mixture FILE.  At its end it writes a line into the
 * file for each function: NAME COUNT.  It knows nothing of tracing.  Some calls of a function fail and some wait, so
 * events of one type differ.  There are INVERSIONS deterministic priority inversions.  The names of two threads are
 * difficult: one is not ASCII, and one has a parenthesis.
 */
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <semaphore.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>
#include <time.h>
#include <unistd.h>

#define ROUNDS 20
#define INVERSIONS 5

#define FUNCTIONS(X)                                                                               \
	X(pthread_mutex_lock)                                                                      \
	X(pthread_mutex_trylock)                                                                   \
	X(pthread_mutex_unlock)                                                                    \
	X(pthread_cond_wait)                                                                       \
	X(pthread_cond_signal)                                                                     \
	X(pthread_rwlock_rdlock)                                                                   \
	X(pthread_rwlock_wrlock)                                                                   \
	X(pthread_rwlock_unlock)                                                                   \
	X(pthread_create)                                                                          \
	X(pthread_join)                                                                            \
	X(sem_wait)                                                                                \
	X(sem_post)                                                                                \
	X(nanosleep)                                                                               \
	X(open)                                                                                    \
	X(close)                                                                                   \
	X(read)                                                                                    \
	X(write)

enum {
#define NUMBER(name) NR_##name,
	FUNCTIONS(NUMBER) NR_FUNCTIONS
};

static const char *const names[] = {
#define NAME(name) #name,
	FUNCTIONS(NAME)};
static atomic_uint made[NR_FUNCTIONS];

#define CALL(name, ...) (atomic_fetch_add(&made[NR_##name], 1), name(__VA_ARGS__))

static pthread_mutex_t queue_lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_mutex_t busy_lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t filled = PTHREAD_COND_INITIALIZER, emptied = PTHREAD_COND_INITIALIZER;
static pthread_rwlock_t table_lock = PTHREAD_RWLOCK_INITIALIZER;
static sem_t permit, done;
static int nr_queued, ends[2];

static void pause_ms(long ms)
{
	const struct timespec time = {0, ms * 1000000};

	CALL(nanosleep, &time, NULL);
}

static void *consume(void *unused)
{
	pthread_setname_np(pthread_self(), "w\303\266rker");
	for (int i = 0; i < ROUNDS; i++) {
		CALL(pthread_mutex_lock, &queue_lock);
		while (nr_queued == 0)
			CALL(pthread_cond_wait, &filled, &queue_lock);
		nr_queued--;
		CALL(pthread_cond_signal, &emptied);
		CALL(pthread_mutex_unlock, &queue_lock);
	}
	return unused;
}

static void produce(void)
{
	for (int i = 0; i < ROUNDS; i++) {
		CALL(pthread_mutex_lock, &queue_lock);
		while (nr_queued > 0)
			CALL(pthread_cond_wait, &emptied, &queue_lock);
		nr_queued++;
		CALL(pthread_cond_signal, &filled);
		CALL(pthread_mutex_unlock, &queue_lock);
	}
}

static void *hold(void *unused)
{
	pthread_setname_np(pthread_self(), "holder (1)");
	CALL(pthread_mutex_lock, &busy_lock);
	CALL(pthread_rwlock_wrlock, &table_lock);
	CALL(sem_post, &permit);
	pause_ms(3);
	CALL(pthread_rwlock_unlock, &table_lock);
	CALL(pthread_mutex_unlock, &busy_lock);
	pause_ms(1);
	CALL(write, ends[1], "text", 4);
	return unused;
}

/* Calls that fail, calls that wait, and calls that do neither. */
static void mix(void)
{
	pthread_t holder;
	char text[8];
	int fd;

	CALL(pthread_create, &holder, NULL, hold, NULL);
	CALL(sem_wait, &permit);
	if (CALL(pthread_mutex_trylock, &busy_lock) == 0)
		CALL(pthread_mutex_unlock, &busy_lock);
	CALL(pthread_rwlock_rdlock, &table_lock);
	CALL(pthread_rwlock_unlock, &table_lock);
	CALL(pthread_mutex_lock, &busy_lock);
	CALL(pthread_mutex_unlock, &busy_lock);
	if (CALL(read, ends[0], text, sizeof(text)) != 4)
		perror("read");
	CALL(pthread_join, holder, NULL);
	CALL(open, "/nonexistent", O_RDONLY);
	fd = CALL(open, "/dev/zero", O_RDONLY);
	for (int i = 0; i < 3; i++)
		if (CALL(read, fd, text, sizeof(text)) != sizeof(text))
			perror("read");
	if (CALL(read, -1, text, sizeof(text)) != -1)
		perror("read");
	CALL(close, fd);
	CALL(close, -1);
}

static void *be_urgent(void *unused)
{
	pthread_setname_np(pthread_self(), "urgent");
	for (int i = 0; i < INVERSIONS; i++) {
		CALL(sem_wait, &permit);
		CALL(pthread_mutex_lock, &busy_lock);
		CALL(pthread_mutex_unlock, &busy_lock);
		CALL(sem_post, &done);
	}
	return unused;
}

/* In glibc, the lock word of a mutex is 2 while a thread may wait for it. */
static bool is_awaited(pthread_mutex_t *mutex)
{
#ifdef __GLIBC__
	return __atomic_load_n(&mutex->__data.__lock, __ATOMIC_RELAXED) == 2;
#else
	return mutex != NULL;
#endif
}

static void *be_patient(void *unused)
{
	pthread_setname_np(pthread_self(), "patient");
	for (int i = 0; i < INVERSIONS; i++) {
		CALL(pthread_mutex_lock, &busy_lock);
		CALL(sem_post, &permit);
		do
			pause_ms(1);
		while (!is_awaited(&busy_lock));
		CALL(pthread_mutex_unlock, &busy_lock);
		CALL(sem_wait, &done);
	}
	return unused;
}

/* A thread waits for one of lower priority, which unlocks the mutex before a third thread runs. */
static void invert(void)
{
	pthread_t urgent, patient;

	CALL(pthread_create, &urgent, NULL, be_urgent, NULL);
	if (nice(5) == -1)
		perror("nice");
	CALL(pthread_create, &patient, NULL, be_patient, NULL);
	CALL(pthread_join, urgent, NULL);
	CALL(pthread_join, patient, NULL);
}

int main(int argc, char **argv)
{
	pthread_t consumer;
	FILE *file;

	if (argc != 2 || pipe(ends) != 0 || sem_init(&permit, 0, 0) != 0 ||
	    sem_init(&done, 0, 0) != 0)
		return 2;
	CALL(pthread_create, &consumer, NULL, consume, NULL);
	produce();
	CALL(pthread_join, consumer, NULL);
	mix();
	invert();
	file = fopen(argv[1], "w");
	for (int i = 0; file && i < NR_FUNCTIONS; i++)
		fprintf(file, "%s %u\n", names[i], atomic_load(&made[i]));
	return !file || fclose(file) != 0;
}
