/* SPDX-License-Identifier: MIT */
/*
 * peer_mutex: what locking and unlocking a mutex of one's own costs, in ns, on one thread and on all CPUs at once; of a
 * program with several threads, since the C library takes a short way in others.  It knows of no tracer: peers.sh
 * runs it bare, and under the objects of two.  Only where the preloaded object brings the trace API with it does it
 * begin a stream on itself, into which its calls are recorded from then on.
 */
#include <dlfcn.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>

#include <trace.h>

#include "harness.h"

#define STREAM_BYTES                                                                               \
	(1 << 20) /* a ring, and so on each CPU; the session of the other has as much */
#define LAP 20000 /* pairs: more than either ring holds */

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

/* 0, also where there is no such API. */
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
