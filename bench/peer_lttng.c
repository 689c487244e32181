/* SPDX-License-Identifier: MIT */
/*
 * The peer's loop: events of 16 bytes from THREADS threads, each pinned to a CPU.  Prints the median over
 * batches of the nanoseconds an event takes a thread.
 */
#include <pthread.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#define LTTNG_UST_TRACEPOINT_CREATE_PROBES
#define LTTNG_UST_TRACEPOINT_DEFINE
#include "peer_lttng.h"

#define THREADS_MAX 64
#define BATCHES 200
#define BATCH 2000

static double figures[THREADS_MAX][BATCHES];
static pthread_barrier_t barrier;

static double now_ns(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (double)now.tv_sec * 1e9 + (double)now.tv_nsec;
}

static void *run(void *argument)
{
	size_t nr = (size_t)argument;
	uint8_t data[16] = "0123456789abcde";
	cpu_set_t set;

	CPU_ZERO(&set);
	CPU_SET(nr, &set);
	sched_setaffinity(0, sizeof(set), &set);
	for (int i = 0; i < BATCH; i++)
		lttng_ust_tracepoint(peer, bytes, data);
	pthread_barrier_wait(&barrier);
	for (int batch = 0; batch < BATCHES; batch++) {
		double begin = now_ns();

		for (int i = 0; i < BATCH; i++)
			lttng_ust_tracepoint(peer, bytes, data);
		figures[nr][batch] = (now_ns() - begin) / BATCH;
	}
	return NULL;
}

static int compare(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;

	return (x > y) - (x < y);
}

int main(int argc, char **argv)
{
	size_t nr_threads = argc > 1 ? strtoul(argv[1], NULL, 10) : 1;
	pthread_t threads[THREADS_MAX];

	if (nr_threads < 1 || nr_threads > THREADS_MAX) {
		fprintf(stderr, "peer_lttng: 1 to %d threads\n", THREADS_MAX);
		return 2;
	}
	pthread_barrier_init(&barrier, NULL, (unsigned int)nr_threads);
	for (size_t i = 0; i < nr_threads; i++)
		pthread_create(&threads[i], NULL, run, (void *)i);
	for (size_t i = 0; i < nr_threads; i++)
		pthread_join(threads[i], NULL);
	qsort(figures, nr_threads * BATCHES, sizeof(double), compare);
	printf("%.1f\n", (&figures[0][0])[nr_threads * BATCHES / 2]);
	return 0;
}
