/* SPDX-License-Identifier: MIT */
/*
 * Threads that compute, sleep and wake each other: switches MODE.  It prints what a switch costs.  Each thread prints
 * its tid, when it began and ended (CLOCK_REALTIME in ns), and its CPU time between (CLOCK_THREAD_CPUTIME_ID in ns):
 *
 *	switch NS
 *	thread TID BEGIN END CPU
 *
 * share: one thread computes and one sleeps in turns, on one CPU.  ping_pong: two threads take turns on one CPU.
 * storm: 5,000 threads that live for a short time.  forks: 300 processes that live for a short time.  pool: eight
 * threads take tasks from a list, on two CPUs.  moves: a thread goes from CPU to CPU.  moved: the first thread moves
 * another one, as taskset does.  fifo: a thread computes and holds a mutex, and a thread with the policy SCHED_FIFO
 * preempts it; exit 77 if the system does not permit that.  flood: two threads yield their CPU to each other until the
 * file `enough` exists.  When the file `go` exists, they make the file `flooded` after switches that no buffer of the
 * kernel has room for.
 */
#include <fcntl.h>
#include <pthread.h>
#include <sched.h>
#include <semaphore.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define RUN_NS 500000000
#define TURNS 2000
#define TURN_NS 100000
#define STORM 5000
#define AT_ONCE 50
#define MOVES 200
#define MOVED 30
#define FLOOD 100000
#define FORKS 300
#define FORKS_AT_ONCE 20
#define WORKERS 8
#define TASKS 200
#define SLEEPS 200

static sem_t turn[2];

static int64_t now_ns(clockid_t clock)
{
	struct timespec now;

	clock_gettime(clock, &now);
	return now.tv_sec * INT64_C(1000000000) + now.tv_nsec;
}

static void compute(int64_t ns)
{
	int64_t end = now_ns(CLOCK_THREAD_CPUTIME_ID) + ns;

	while (now_ns(CLOCK_THREAD_CPUTIME_ID) < end)
		;
}

static void use_cpu(int number)
{
	cpu_set_t set;

	CPU_ZERO(&set);
	CPU_SET((size_t)number, &set);
	if (sched_setaffinity(0, sizeof(set), &set) != 0)
		exit(77);
}

static void *share(void *argument)
{
	int64_t end = now_ns(CLOCK_MONOTONIC) + RUN_NS;

	while (now_ns(CLOCK_MONOTONIC) < end) {
		if (argument)
			usleep(7000);
		compute(1000000);
	}
	return NULL;
}

static void *play(void *argument)
{
	int own = argument != NULL;

	for (int i = 0; i < TURNS; i++) {
		sem_wait(&turn[own]);
		compute(TURN_NS);
		sem_post(&turn[!own]);
	}
	return NULL;
}

static void *hurry(void *argument)
{
	compute(20000);
	return argument;
}

static void *move(void *argument)
{
	for (int i = 0; i < MOVES; i++) {
		use_cpu(i % 2);
		compute(1000000);
	}
	return argument;
}

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static int nr_tasks = TASKS;

static bool take_task(void)
{
	bool is_taken;

	pthread_mutex_lock(&lock);
	is_taken = nr_tasks > 0;
	nr_tasks -= is_taken;
	pthread_mutex_unlock(&lock);
	return is_taken;
}

static void *work_off(void *argument)
{
	while (take_task())
		compute(2000000);
	return argument;
}

static _Atomic pid_t moved_tid;
static atomic_bool is_moved;

static void *be_moved(void *argument)
{
	atomic_store(&moved_tid, (pid_t)syscall(SYS_gettid));
	while (!atomic_load(&is_moved))
		compute(100000);
	return argument;
}

static void *hold(void *argument)
{
	pthread_mutex_lock(&lock);
	compute(200000000);
	pthread_mutex_unlock(&lock);
	return argument;
}

static void *preempt(void *argument)
{
	const struct sched_param parameter = {.sched_priority = 10};

	if (pthread_setschedparam(pthread_self(), SCHED_FIFO, &parameter) != 0)
		exit(77);
	for (int i = 0; i < 50; i++) {
		usleep(2000);
		compute(1000000);
	}
	return argument;
}

/*
 * What the kernel counts as CPU time of a thread for a switch of the CPU to it, on this machine, at this time: the mean
 * of short sleeps, with their system calls.
 */
static int64_t cost_of_a_switch(void)
{
	const struct timespec shortest = {0, 1000};
	int64_t begin = now_ns(CLOCK_THREAD_CPUTIME_ID);

	for (int i = 0; i < SLEEPS; i++)
		nanosleep(&shortest, NULL);
	return (now_ns(CLOCK_THREAD_CPUTIME_ID) - begin) / SLEEPS;
}

/* The account of a child is one write, so it is not mixed with that of another one. */
static void run_forks(void)
{
	for (int i = 0; i < FORKS; i++) {
		pid_t child = fork();

		if (child == 0) {
			int64_t begin = now_ns(CLOCK_REALTIME), begin_cpu = now_ns(CLOCK_THREAD_CPUTIME_ID);

			compute(300000);
			dprintf(STDOUT_FILENO, "thread %ld %lld %lld %lld\n", syscall(SYS_gettid), (long long)begin,
				(long long)now_ns(CLOCK_REALTIME),
				(long long)(now_ns(CLOCK_THREAD_CPUTIME_ID) - begin_cpu));
			_exit(0);
		}
		if (i >= FORKS_AT_ONCE)
			wait(NULL);
	}
	while (wait(NULL) > 0)
		;
}

static void *flood(void *argument)
{
	int nr_yields = 0;

	while (access("enough", F_OK) != 0) {
		nr_yields = access("go", F_OK) == 0 ? nr_yields + 1000 : 0;
		/* Not by the wrapped function, whose calls would be recorded. */
		for (int i = 0; i < 1000; i++)
			syscall(SYS_sched_yield);
		if (nr_yields >= FLOOD)
			close(open("flooded", O_CREAT | O_CLOEXEC, 0600));
	}
	return argument;
}

struct task {
	void *(*work)(void *argument);
	void *argument;
};

static void *run(void *argument)
{
	int64_t begin = now_ns(CLOCK_REALTIME), begin_cpu = now_ns(CLOCK_THREAD_CPUTIME_ID);
	const struct task *task = argument;

	task->work(task->argument);
	printf("thread %ld %lld %lld %lld\n", syscall(SYS_gettid), (long long)begin,
	       (long long)now_ns(CLOCK_REALTIME), (long long)(now_ns(CLOCK_THREAD_CPUTIME_ID) - begin_cpu));
	return NULL;
}

static void run_moved(void)
{
	struct task task = {be_moved, NULL};
	pthread_t thread;

	if (pthread_create(&thread, NULL, run, &task) != 0)
		exit(99);
	while (atomic_load(&moved_tid) == 0)
		usleep(1000);
	for (size_t i = 0; i < MOVED; i++) {
		cpu_set_t set;

		CPU_ZERO(&set);
		CPU_SET(i % 2, &set);
		if (sched_setaffinity(atomic_load(&moved_tid), sizeof(set), &set) != 0)
			exit(77);
		usleep(5000);
	}
	atomic_store(&is_moved, true);
	pthread_join(thread, NULL);
}

static void run_all(const struct task *tasks, int nr)
{
	pthread_t thread[AT_ONCE];

	for (int i = 0; i < nr; i++)
		if (pthread_create(&thread[i], NULL, run, (void *)(uintptr_t)&tasks[i]) != 0)
			exit(99);
	for (int i = 0; i < nr; i++)
		pthread_join(thread[i], NULL);
}

int main(int argc, char **argv)
{
	static char sleeps[] = "";
	struct task tasks[AT_ONCE] = {{share, NULL}, {share, sleeps}};
	const char *mode = argc > 1 ? argv[1] : "";

	setvbuf(stdout, NULL, _IOFBF, 1 << 20);
	printf("switch %lld\n", (long long)cost_of_a_switch());
	sem_init(&turn[0], 0, 1);
	sem_init(&turn[1], 0, 0);
	if (strcmp(mode, "share") == 0) {
		use_cpu(0);
		run_all(tasks, 2);
	} else if (strcmp(mode, "ping_pong") == 0) {
		use_cpu(0);
		tasks[0].work = tasks[1].work = play;
		run_all(tasks, 2);
	} else if (strcmp(mode, "flood") == 0) {
		use_cpu(0);
		tasks[0].work = tasks[1].work = flood;
		run_all(tasks, 2);
	} else if (strcmp(mode, "moves") == 0) {
		tasks[0].work = move;
		run_all(tasks, 1);
	} else if (strcmp(mode, "moved") == 0) {
		run_moved();
	} else if (strcmp(mode, "pool") == 0) {
		for (int i = 0; i < WORKERS; i++)
			tasks[i].work = work_off;
		run_all(tasks, WORKERS);
	} else if (strcmp(mode, "fifo") == 0) {
		use_cpu(0);
		tasks[0].work = hold;
		tasks[1].work = preempt;
		run_all(tasks, 2);
	} else if (strcmp(mode, "forks") == 0) {
		run_forks();
	} else if (strcmp(mode, "storm") == 0) {
		for (int i = 0; i < AT_ONCE; i++)
			tasks[i].work = hurry;
		for (int i = 0; i < STORM / AT_ONCE; i++)
			run_all(tasks, AT_ONCE);
	} else {
		fprintf(stderr, "usage: switches share|ping_pong|storm|forks|pool|moves|moved|fifo|flood\n");
		return 2;
	}
	return 0;
}
