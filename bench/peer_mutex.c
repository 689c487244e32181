/* SPDX-License-Identifier: MIT */
/*
 * peer_mutex: prints the cost in ns of locking and unlocking a mutex that no other thread uses, on one thread and on
 * all CPUs at once.  It has several threads, because the C library has a faster path for programs with one thread.
 * peers.sh runs it alone, and with the preloaded library of each tracer.  If the preloaded library provides the trace
 * API, this program creates a stream on itself, which records its calls.
 */
#include <dlfcn.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>

#include <trace.h>

#include "harness.h"

#define STREAM_BYTES (1 << 20) /* a ring of each CPU; the same size as in the LTTng session */
#define LAP 20000	       /* pairs, more than a ring of either tracer holds */

static void run(size_t n)
{
	pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;

	while (n-- > 0) {
		pthread_mutex_lock(&mutex);
		pthread_mutex_unlock(&mutex);
	}
}

static void *find(const char *name)
{
	return dlsym(RTLD_DEFAULT, name);
}

/* Return 0, also if there is no trace API. */
static int start_stream(void)
{
	int (*create)(pid_t, const trace_attr_t *, trace_id_t *);
	int (*init)(trace_attr_t *);
	int (*set_size)(trace_attr_t *, size_t);
	int (*set_policy)(trace_attr_t *, int);
	int (*start)(trace_id_t);
	trace_attr_t attr;
	trace_id_t trid;

	*(void **)&create = find("posix_trace_create");
	*(void **)&init = find("posix_trace_attr_init");
	*(void **)&set_size = find("posix_trace_attr_setstreamsize");
	*(void **)&set_policy = find("posix_trace_attr_setstreamfullpolicy");
	*(void **)&start = find("posix_trace_start");
	if (!create)
		return 0;
	init(&attr);
	set_size(&attr, STREAM_BYTES);
	set_policy(&attr, POSIX_TRACE_LOOP);
	return create(0, &attr, &trid) || start(trid);
}

int main(void)
{
	struct harness_case item = {.name = "pair", .run = run, .warm_up = LAP, .selected = true};
	struct harness_figure one, all;

	if (start_stream() || harness_init() || harness_run(&item, 1, 1) ||
	    !harness_figure(&item, HARNESS_ONE, &one) || !harness_figure(&item, HARNESS_ALL, &all))
		return 1;
	printf("%.2f %.2f\n", one.median, all.median);
	return 0;
}
