/* SPDX-License-Identifier: MIT */
/*
 * A child posts a semaphore in shared memory, for which its parent waits, then holds a mutex there, signals a
 * condition, holds a read-write lock first as a writer and then as a reader, and at last comes to a barrier.  In the
 * child, the memory is at another address.  Both live until the tool had many chances to read them.  Before that, the
 * parent has a file at the place of the memory, and makes the tool read that.
 */
#include <fcntl.h>
#include <pthread.h>
#include <semaphore.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include "oracle/oracle.h"

#define LOOKS 40

struct moment {
	_Atomic int64_t asleep_ns, awake_ns; /* the parent certainly sleeps */
};

struct shared {
	sem_t answer;
	pthread_mutex_t turn, lock;
	pthread_cond_t change;
	pthread_rwlock_t map;
	pthread_barrier_t stage;
	bool has_changed;
	atomic_bool is_held, is_written, is_read;
	struct moment answered, given, changed, read, written, met;
};

/* How often the tool slept.  When it wakes up, it looks at the processes. */
static long looks_of(int tool)
{
	char path[64], line[128];
	long looks = 0;
	FILE *file;

	snprintf(path, sizeof(path), "/proc/%d/status", tool);
	file = fopen(path, "r");
	while (file && fgets(line, sizeof(line), file))
		if (sscanf(line, "voluntary_ctxt_switches: %ld", &looks) == 1)
			break;
	if (file)
		fclose(file);
	return looks;
}

static void await_looks(int tool)
{
	long first = looks_of(tool);

	while (looks_of(tool) < first + LOOKS)
		usleep(5000);
}

static void await_sleep(struct moment *moment, int parent)
{
	do
		usleep(1000);
	while (!oracle_sleeps(parent));
	atomic_store(&moment->asleep_ns, oracle_now());
	usleep(5000);
	atomic_store(&moment->awake_ns, oracle_now());
}

static void be_child(struct shared *at, int parent, int tool)
{
	/* A place that nothing else has. */
	void *place = mmap(NULL, sizeof(*at), PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	struct shared *shared = mremap(at, sizeof(*at), sizeof(*at), MREMAP_MAYMOVE | MREMAP_FIXED, place);

	await_looks(tool);
	pthread_mutex_lock(&shared->turn);
	atomic_store(&shared->is_held, true);
	await_sleep(&shared->answered, parent);
	sem_post(&shared->answer);
	await_sleep(&shared->given, parent);
	pthread_mutex_unlock(&shared->turn);
	await_sleep(&shared->changed, parent);
	pthread_mutex_lock(&shared->lock);
	shared->has_changed = true;
	pthread_cond_signal(&shared->change);
	pthread_mutex_unlock(&shared->lock);
	pthread_rwlock_wrlock(&shared->map);
	atomic_store(&shared->is_written, true);
	await_sleep(&shared->read, parent);
	pthread_rwlock_unlock(&shared->map);
	pthread_rwlock_rdlock(&shared->map);
	atomic_store(&shared->is_read, true);
	await_sleep(&shared->written, parent);
	pthread_rwlock_unlock(&shared->map);
	await_sleep(&shared->met, parent);
	pthread_barrier_wait(&shared->stage);
	await_looks(tool);
	_exit(0);
}

static void init(struct shared *shared)
{
	pthread_mutexattr_t mutex;
	pthread_condattr_t condition;
	pthread_rwlockattr_t rwlock;
	pthread_barrierattr_t barrier;

	sem_init(&shared->answer, 1, 0);
	pthread_mutexattr_init(&mutex);
	pthread_mutexattr_setpshared(&mutex, PTHREAD_PROCESS_SHARED);
	pthread_mutex_init(&shared->turn, &mutex);
	pthread_mutex_init(&shared->lock, &mutex);
	pthread_condattr_init(&condition);
	pthread_condattr_setpshared(&condition, PTHREAD_PROCESS_SHARED);
	pthread_cond_init(&shared->change, &condition);
	pthread_rwlockattr_init(&rwlock);
	pthread_rwlockattr_setpshared(&rwlock, PTHREAD_PROCESS_SHARED);
	pthread_rwlock_init(&shared->map, &rwlock);
	pthread_barrierattr_init(&barrier);
	pthread_barrierattr_setpshared(&barrier, PTHREAD_PROCESS_SHARED);
	pthread_barrier_init(&shared->stage, &barrier, 2);
}

/* Return the place of a shared mapping of the program's file that the tool has seen. */
static void *be_seen_with_file(int tool)
{
	int fd = open("/proc/self/exe", O_RDONLY);
	void *place = mmap(NULL, sizeof(struct shared), PROT_READ, MAP_SHARED, fd, 0);
	static sem_t own; /* it is not in shared memory, so the tool reads what is */

	await_looks(tool);
	sem_init(&own, 0, 0);
	sem_post(&own);
	await_looks(tool);
	close(fd);
	return place;
}

static void slept(const struct moment *moment)
{
	oracle_slept(moment->asleep_ns, moment->awake_ns);
}

int main(void)
{
	int status, parent = (int)getpid(), tool = (int)getppid();
	struct shared *shared = mmap(be_seen_with_file(tool), sizeof(*shared), PROT_READ | PROT_WRITE,
				     MAP_SHARED | MAP_ANONYMOUS | MAP_FIXED, -1, 0);

	oracle_thread("main");
	oracle_object(&shared->answer, "answer");
	oracle_object(&shared->turn, "turn");
	oracle_object(&shared->lock, "lock");
	oracle_object(&shared->change, "change");
	oracle_object(&shared->map, "map");
	oracle_object(&shared->stage, "stage");
	init(shared);
	if (fork() == 0)
		be_child(shared, parent, tool);
	while (!atomic_load(&shared->is_held))
		usleep(1000);
	WAIT(&shared->answer);
	slept(&shared->answered);
	LOCK(&shared->turn);
	slept(&shared->given);
	UNLOCK(&shared->turn);
	LOCK(&shared->lock);
	while (!shared->has_changed) {
		ORACLE_CALL(pthread_cond_wait, &shared->change, pthread_cond_wait(&shared->change, &shared->lock));
		slept(&shared->changed);
	}
	UNLOCK(&shared->lock);
	while (!atomic_load(&shared->is_written))
		usleep(1000);
	ORACLE_CALL(pthread_rwlock_rdlock, &shared->map, pthread_rwlock_rdlock(&shared->map));
	slept(&shared->read);
	ORACLE_CALL(pthread_rwlock_unlock, &shared->map, pthread_rwlock_unlock(&shared->map));
	while (!atomic_load(&shared->is_read))
		usleep(1000);
	ORACLE_CALL(pthread_rwlock_wrlock, &shared->map, pthread_rwlock_wrlock(&shared->map));
	slept(&shared->written);
	ORACLE_CALL(pthread_rwlock_unlock, &shared->map, pthread_rwlock_unlock(&shared->map));
	ORACLE_CALL(pthread_barrier_wait, &shared->stage, pthread_barrier_wait(&shared->stage));
	slept(&shared->met);
	while (wait(&status) > 0)
		;
	oracle_says("why main@answer", "was signalled 1 time during the wait, last by shared [0-9]+ \\(sem_post");
	oracle_says("why main@turn", "was held by shared [0-9]+ for");
	oracle_says("why main@change",
		    "was signalled 1 time during the wait, last by shared [0-9]+ \\(pthread_cond_signal");
	oracle_says_not("why main@change", "No thread");
	oracle_says("why main@map", "rwlock \\S+ in \\S+ was held by shared [0-9]+ for");
	oracle_says("why main@stage",
		    "was signalled 1 time during the wait, last by shared [0-9]+ \\(pthread_barrier_wait");
	oracle_says_not("why main@stage", "No thread");
	oracle_says("blocked --format csv", "^blocked,\\S+ in [0-9a-f]+:[0-9a-f]+:[0-9]+\\+0x0,waits,1$");
	oracle_report();
	return 0;
}
