/* SPDX-License-Identifier: MIT */
/*
 * A child posts a semaphore in shared memory, for which its parent waits.  Both go on with other calls, so that the
 * events are read while the processes live.
 */
#include <pthread.h>
#include <semaphore.h>
#include <stdatomic.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include "oracle/oracle.h"

#define CALLS 20000

struct shared {
	sem_t answer;
	_Atomic int64_t asleep_ns, awake_ns; /* the parent certainly sleeps */
};

static pthread_mutex_t own_lock = PTHREAD_MUTEX_INITIALIZER;

static void make_calls(void)
{
	for (int i = 0; i < CALLS; i++) {
		pthread_mutex_lock(&own_lock);
		pthread_mutex_unlock(&own_lock);
		if (i % 1000 == 0)
			usleep(5000);
	}
}

static void be_child(struct shared *shared, int parent)
{
	while (atomic_load(&shared->asleep_ns) == 0) {
		usleep(1000);
		if (oracle_sleeps(parent))
			atomic_store(&shared->asleep_ns, oracle_now());
	}
	usleep(5000);
	atomic_store(&shared->awake_ns, oracle_now());
	sem_post(&shared->answer);
	make_calls();
	_exit(0);
}

int main(void)
{
	struct shared *shared = mmap(NULL, sizeof(*shared), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	int status, parent = (int)getpid();

	oracle_thread("main");
	oracle_object(&shared->answer, "answer");
	sem_init(&shared->answer, 1, 0);
	if (fork() == 0)
		be_child(shared, parent);
	WAIT(&shared->answer);
	oracle_slept(shared->asleep_ns, shared->awake_ns);
	make_calls();
	while (wait(&status) > 0)
		;
	oracle_says("why main@answer", "was signalled 1 time during the wait, last by shared [0-9]+ \\(sem_post");
	oracle_says("blocked --format csv", "^Blocked,\\S+ in [0-9a-f]+:[0-9a-f]+:[0-9]+\\+0x0,,waits,1$");
	oracle_report();
	return 0;
}
