/* SPDX-License-Identifier: MIT */
#include "harness.h"

#include <errno.h>
#include <math.h>
#include <pthread.h>
#include <sched.h>
#include <semaphore.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#define BATCH 2000
#define BATCHES 25
#define BATCHES_MAX 4096

struct worker {
	pthread_t thread;
	int cpu;
	sem_t go, done;
	double *sample; /* ns per operation, one per batch */
	size_t nr_samples;
};

static struct worker *workers;
static unsigned int nr_workers;
static unsigned int nr_rounds_run;

/* The work of all workers: a case or a function. */
static struct {
	const struct harness_case *item;
	void (*function)(size_t n);
	size_t n;
	unsigned int nr_workers;
	unsigned int nr_started, nr_finished;
} job;

static double now_ns(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (double)now.tv_sec * 1e9 + (double)now.tv_nsec;
}

static size_t value_or(size_t value, size_t otherwise)
{
	return value ? value : otherwise;
}

/* Yield while waiting, because other processes may use these CPUs too. */
static void meet(unsigned int *count)
{
	__atomic_fetch_add(count, 1, __ATOMIC_ACQ_REL);
	while (__atomic_load_n(count, __ATOMIC_ACQUIRE) < job.nr_workers)
		sched_yield();
}

static void measure(struct worker *worker, const struct harness_case *item)
{
	size_t batch = value_or(item->batch, BATCH);
	size_t nr_batches = value_or(item->nr_batches, BATCHES);
	double begin, end;

	item->run(value_or(item->warm_up, batch));
	meet(&job.nr_started);
	for (size_t i = 0; i < nr_batches && worker->nr_samples < BATCHES_MAX; i++) {
		begin = now_ns();
		item->run(batch);
		end = now_ns();
		worker->sample[worker->nr_samples++] = (end - begin) / (double)batch;
	}
	__atomic_fetch_add(&job.nr_finished, 1, __ATOMIC_ACQ_REL);
	/* Keep this CPU busy until all workers have measured. */
	while (__atomic_load_n(&job.nr_finished, __ATOMIC_ACQUIRE) < job.nr_workers)
		item->run(batch);
}

static void *work(void *argument)
{
	struct worker *worker = argument;

	for (;;) {
		while (sem_wait(&worker->go) != 0)
			;
		if (job.function)
			job.function(job.n);
		else
			measure(worker, job.item);
		sem_post(&worker->done);
	}
	return NULL;
}

static int start_worker(struct worker *worker, int cpu)
{
	pthread_attr_t attr;
	cpu_set_t set;
	int error;

	worker->cpu = cpu;
	worker->sample = calloc(BATCHES_MAX, sizeof(*worker->sample));
	if (!worker->sample)
		return ENOMEM;
	sem_init(&worker->go, 0, 0);
	sem_init(&worker->done, 0, 0);
	CPU_ZERO(&set);
	CPU_SET(cpu, &set);
	pthread_attr_init(&attr);
	pthread_attr_setaffinity_np(&attr, sizeof(set), &set);
	error = pthread_create(&worker->thread, &attr, work, worker);
	pthread_attr_destroy(&attr);
	return error;
}

int harness_init(void)
{
	cpu_set_t set;
	int error;

	if (sched_getaffinity(0, sizeof(set), &set) != 0)
		return errno;
	workers = calloc((size_t)CPU_COUNT(&set), sizeof(*workers));
	if (!workers)
		return ENOMEM;
	for (int cpu = 0; cpu < CPU_SETSIZE; cpu++) {
		if (!CPU_ISSET(cpu, &set))
			continue;
		error = start_worker(&workers[nr_workers], cpu);
		if (error)
			return error;
		nr_workers++;
	}
	return 0;
}

unsigned int harness_nr_cpus(void)
{
	return nr_workers;
}

static void run_job(unsigned int nr)
{
	job.nr_workers = nr;
	job.nr_started = job.nr_finished = 0;
	for (unsigned int i = 0; i < nr; i++)
		sem_post(&workers[i].go);
	for (unsigned int i = 0; i < nr; i++)
		while (sem_wait(&workers[i].done) != 0)
			;
}

void harness_on_all(void (*function)(size_t n), size_t n)
{
	job.function = function;
	job.n = n;
	run_job(nr_workers);
	job.function = NULL;
}

static int compare_doubles(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;

	return (x > y) - (x < y);
}

/* Sorts the array. */
static struct harness_figure summarise(double *value, size_t n)
{
	qsort(value, n, sizeof(*value), compare_doubles);
	return (struct harness_figure){
		.median = n % 2 ? value[n / 2] : (value[n / 2 - 1] + value[n / 2]) / 2,
		.min = value[0],
		.max = value[n - 1],
	};
}

/* The mean of the medians of all threads.  With perfect scaling it equals the figure of one thread. */
static double figure_of_workers(unsigned int nr)
{
	double sum = 0;

	for (unsigned int i = 0; i < nr; i++)
		sum += summarise(workers[i].sample, workers[i].nr_samples).median;
	return sum / nr;
}

static int measure_case(const struct harness_case *item, enum harness_mode mode, double *figure)
{
	unsigned int nr = mode == HARNESS_ALL ? nr_workers : 1;

	for (unsigned int i = 0; i < nr; i++)
		workers[i].nr_samples = 0;
	job.item = item;
	for (size_t repeat = 0; repeat < value_or(item->repeats, 1); repeat++) {
		int error = item->begin ? item->begin() : 0;

		if (error)
			return error;
		run_job(nr);
		if (item->end)
			item->end();
	}
	*figure = figure_of_workers(nr);
	return 0;
}

static int run_round(struct harness_case *cases, size_t nr_cases, unsigned int round)
{
	int error;

	for (size_t i = 0; i < nr_cases; i++) {
		for (enum harness_mode mode = HARNESS_ONE; mode < HARNESS_MODES; mode++) {
			if (!cases[i].selected || (mode == HARNESS_ALL && cases[i].one_only))
				continue;
			error = measure_case(&cases[i], mode, &cases[i].figure[mode][round]);
			if (error)
				return error;
		}
	}
	return 0;
}

static int allocate_figures(struct harness_case *cases, size_t nr_cases, unsigned int nr_rounds)
{
	for (size_t i = 0; i < nr_cases; i++) {
		for (enum harness_mode mode = HARNESS_ONE; mode < HARNESS_MODES; mode++) {
			double *figure = calloc(nr_rounds, sizeof(*figure));

			if (!figure)
				return ENOMEM;
			for (unsigned int round = 0; round < nr_rounds; round++)
				figure[round] = (double)NAN;
			cases[i].figure[mode] = figure;
		}
	}
	return 0;
}

int harness_run(struct harness_case *cases, size_t nr_cases, unsigned int nr_rounds)
{
	int error = allocate_figures(cases, nr_cases, nr_rounds);

	for (unsigned int round = 0; !error && round < nr_rounds; round++)
		error = run_round(cases, nr_cases, round);
	nr_rounds_run = nr_rounds;
	return error;
}

bool harness_figure(const struct harness_case *item, enum harness_mode mode,
		    struct harness_figure *figure)
{
	double value[HARNESS_ROUNDS_MAX];
	size_t n = 0;

	for (unsigned int round = 0; round < nr_rounds_run; round++)
		if (!isnan(item->figure[mode][round]))
			value[n++] = item->figure[mode][round];
	if (n > 0)
		*figure = summarise(value, n);
	return n > 0;
}

bool harness_compare(const struct harness_case *a, enum harness_mode a_mode, char op,
		     const struct harness_case *b, enum harness_mode b_mode,
		     struct harness_figure *figure)
{
	double value[HARNESS_ROUNDS_MAX];
	size_t n = 0;

	for (unsigned int round = 0; round < nr_rounds_run; round++) {
		double x = a->figure[a_mode][round], y = b->figure[b_mode][round];

		if (!isnan(x) && !isnan(y))
			value[n++] = op == '/' ? x / y : x - y;
	}
	if (n > 0)
		*figure = summarise(value, n);
	return n > 0;
}

static void print_figure(const struct harness_case *item, enum harness_mode mode)
{
	struct harness_figure figure;

	if (harness_figure(item, mode, &figure))
		printf(" %8.1f %7.1f %7.1f", figure.median, figure.min, figure.max);
	else
		printf(" %8s %7s %7s", "-", "-", "-");
}

void harness_print(const struct harness_case *cases, size_t nr_cases)
{
	printf("%-59s %24s %20s (%u)\n", "Nanoseconds", "1 thread", "all CPUs at once", nr_workers);
	printf("%-13s  %-44s %8s %7s %7s %8s %7s %7s\n", "case", "", "median", "min", "max",
	       "median", "min", "max");
	for (size_t i = 0; i < nr_cases; i++) {
		if (!cases[i].selected)
			continue;
		printf("%-13s  %-44s", cases[i].name, cases[i].what);
		print_figure(&cases[i], HARNESS_ONE);
		print_figure(&cases[i], HARNESS_ALL);
		putchar('\n');
	}
}

struct harness_case *harness_find(struct harness_case *cases, size_t nr_cases, const char *name)
{
	for (size_t i = 0; i < nr_cases; i++)
		if (strcmp(cases[i].name, name) == 0)
			return &cases[i];
	abort();
}
