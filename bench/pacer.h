/* SPDX-License-Identifier: MIT */
/* Threads that write events at a rate.  peers.sh builds peer_rate.c from one file, so the functions are here. */
#ifndef BENCH_PACER_H
#define BENCH_PACER_H

#include <pthread.h>
#include <stdint.h>
#include <time.h>

#define PACER_BURST 16

struct pacer {
	pthread_t thread;
	double rate, seconds;				  /* events per second, and for how long */
	void (*write_events)(uint64_t first, uint64_t end); /* write the events first ... end - 1 */
	uint64_t written;
};

static inline double now(void)
{
	struct timespec time;

	clock_gettime(CLOCK_MONOTONIC, &time);
	return (double)time.tv_sec + (double)time.tv_nsec * 1e-9;
}

/* The function of a thread: write at the rate of the pacer on average, in bursts of more than PACER_BURST events. */
static inline void *pace(void *argument)
{
	struct pacer *pacer = argument;
	double begin = now();
	double elapsed;

	while ((elapsed = now() - begin) < pacer->seconds) {
		uint64_t due = (uint64_t)(elapsed * pacer->rate);

		if (due <= pacer->written + PACER_BURST)
			continue;
		pacer->write_events(pacer->written, due);
		pacer->written = due;
	}
	return NULL;
}

#endif
