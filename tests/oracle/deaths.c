/* SPDX-License-Identifier: MIT */
/*
 * Processes end, or execute another program, while one of their threads waits, one computes without a call, and the
 * first one holds a lock.  Their parent goes on.  Nothing lasts longer than they live.
 */
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "oracle/oracle.h"

enum way { EXITS, LEAVES, EXECUTES, IS_KILLED, WAYS };

static pthread_mutex_t exit_lock = PTHREAD_MUTEX_INITIALIZER, leave_lock = PTHREAD_MUTEX_INITIALIZER,
		       exec_lock = PTHREAD_MUTEX_INITIALIZER, kill_lock = PTHREAD_MUTEX_INITIALIZER,
		       of_wait = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t exit_never = PTHREAD_COND_INITIALIZER, leave_never = PTHREAD_COND_INITIALIZER,
		      exec_never = PTHREAD_COND_INITIALIZER, kill_never = PTHREAD_COND_INITIALIZER;

static const struct {
	pthread_mutex_t *held;
	const char *lock_name;
	pthread_cond_t *never;
	const char *condition_name;
} of[WAYS] = {{&exit_lock, "exit_lock", &exit_never, "exit_never"},
	      {&leave_lock, "leave_lock", &leave_never, "leave_never"},
	      {&exec_lock, "exec_lock", &exec_never, "exec_never"},
	      {&kill_lock, "kill_lock", &kill_never, "kill_never"}};

struct shared {
	atomic_int nr_ready; /* the computing threads that have begun */
};

static int second_cpu; /* -1: there is none */

static void *wait_for_ever(void *arg)
{
	enum way way = (enum way)(intptr_t)arg;

	pthread_mutex_lock(&of_wait);
	for (;;)
		pthread_cond_wait(of[way].never, &of_wait);
	return NULL;
}

static void use_cpu(int cpu)
{
	cpu_set_t set;

	CPU_ZERO(&set);
	CPU_SET(cpu, &set);
	sched_setaffinity(0, sizeof(set), &set);
}

/* Return the number of the first CPU from this one on that the program may use, or -1 if there is none. */
static int cpu_from(int cpu)
{
	cpu_set_t set;

	sched_getaffinity(0, sizeof(set), &set);
	while (cpu < CPU_SETSIZE && !CPU_ISSET(cpu, &set))
		cpu++;
	return cpu < CPU_SETSIZE ? cpu : -1;
}

/* Only this thread of each child uses the second CPU.  So the next event there comes after the end of the child. */
static void *compute(void *ready)
{
	static pthread_mutex_t own = PTHREAD_MUTEX_INITIALIZER;

	if (second_cpu >= 0)
		use_cpu(second_cpu);
	pthread_mutex_lock(&own);
	pthread_mutex_unlock(&own);
	atomic_fetch_add((atomic_int *)ready, 1);
	for (;;)
		atomic_signal_fence(memory_order_seq_cst);
	return NULL;
}

static void be_child(enum way way, struct shared *shared, char *self)
{
	pthread_t thread;

	pthread_mutex_lock(of[way].held);
	pthread_create(&thread, NULL, wait_for_ever, (void *)(intptr_t)way);
	pthread_create(&thread, NULL, compute, &shared->nr_ready);
	while (atomic_load(&shared->nr_ready) <= (int)way)
		usleep(1000);
	usleep(20000);
	if (way == EXITS)
		exit(0);
	if (way == LEAVES)
		_exit(0);
	if (way == EXECUTES)
		execl(self, self, "end", (char *)NULL);
	kill(getpid(), SIGKILL);
}

int main(int argc, char **argv)
{
	struct shared *shared = mmap(NULL, sizeof(*shared), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	int status;

	if (argc > 1)
		return 0;
	second_cpu = cpu_from(cpu_from(0) + 1);
	use_cpu(cpu_from(0));
	for (enum way way = 0; way < WAYS; way++) {
		int64_t begin = oracle_now();
		pid_t child = fork();

		if (child == 0)
			be_child(way, shared, argv[0]);
		waitpid(child, &status, 0);
		oracle_longest(of[way].held, oracle_now() - begin);
		oracle_longest(of[way].never, oracle_now() - begin);
		oracle_object(of[way].held, of[way].lock_name);
		oracle_object(of[way].never, of[way].condition_name);
		oracle_says("blocked --wide", "%s +condition +1 +1 ", of[way].condition_name);
	}
	usleep(100000);
	oracle_says_not("why", "still was when the trace ended");
	oracle_report();
	return 0;
}
