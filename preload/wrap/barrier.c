/* SPDX-License-Identifier: MIT */
/*
 * Barriers, and routines that run once.
 *
 * The C library has no function that tries a barrier without waiting.  The last thread to arrive does not wait: it
 * wakes up the other threads.  So its wrapper records a single event before the call, as for all calls that wake up
 * other threads.  The C library counts the arrivals.  If the layout of a barrier is unknown, the wrapper also records a
 * wait for the last thread.
 */
#include "c11.h"
#include "hook.h"

#include <errno.h>
#include <string.h>
#include <sys/uio.h>

#ifdef __GLIBC__
/* The first words of a barrier in the C library. */
struct arrivals {
	uint32_t nr_arrived; /* number of threads that have arrived so far, modulo `threads` */
	uint32_t round;
	uint32_t threads;
};

/*
 * Return true if barriers have this layout.  Make a barrier for 7 threads, and check that the 7 is in the right place.
 */
static bool is_layout_known(void)
{
	/* 0: not tested yet; 1: the layout is unknown; 2: the layout is known. */
	static uint32_t state;
	pthread_barrier_t probe;
	struct arrivals found;

	if (px_unlikely(px_read_once(&state) == 0) &&
	    px_real.pthread_barrier_init(&probe, NULL, 7) == 0) {
		memcpy(&found, &probe, sizeof(found));
		px_write_once(&state,
			      found.nr_arrived == 0 && found.round == 0 && found.threads == 7 ? 2 :
												1);
		px_real.pthread_barrier_destroy(&probe);
	}
	return px_read_once(&state) == 2;
}

static bool is_last_arrival(pthread_barrier_t *barrier)
{
	uint32_t *word = (uint32_t *)barrier;
	uint32_t threads;

	if (!is_layout_known())
		return false;
	threads = px_read_once(&word[2]);
	return threads > 0 && (px_read_once(&word[0]) + 1) % threads == 0;
}

static bool is_serial_last(pthread_barrier_t *barrier)
{
	(void)barrier;
	return true;
}
#else
/* A barrier of musl. */
union arrivals {
	struct {
		int32_t lock, waiters;
		int32_t others;     /* one less than the threads; negative if processes share the barrier */
		int32_t nr_arrived; /* of processes */
	} words;
	/* The last one, unless processes share it: how many came after the first, in the stack of that. */
	int32_t *at[4];
};

/* The same test, with barriers for 7 threads of one process and of several. */
static bool is_layout_known(void)
{
	static uint32_t state;
	pthread_barrierattr_t attr;
	pthread_barrier_t probe[2];
	union arrivals found[2] = {0};

	if (px_unlikely(px_read_once(&state) == 0) && pthread_barrierattr_init(&attr) == 0 &&
	    pthread_barrierattr_setpshared(&attr, PTHREAD_PROCESS_SHARED) == 0 &&
	    px_real.pthread_barrier_init(&probe[0], NULL, 7) == 0 &&
	    px_real.pthread_barrier_init(&probe[1], &attr, 7) == 0) {
		memcpy(&found[0], &probe[0], sizeof(found[0]));
		memcpy(&found[1], &probe[1], sizeof(found[1]));
		px_write_once(&state, found[0].words.others == 6 && !found[0].at[3] &&
						      found[1].words.others == (6 | INT32_MIN) &&
						      found[1].words.nr_arrived == 0 ?
					      2 :
					      1);
	}
	return px_read_once(&state) == 2;
}

/* The kernel reads: if more threads use the barrier than it is for, the first one may have returned, and ended. */
static bool read_count(int32_t *from, int32_t *count)
{
	struct iovec here = {count, sizeof(*count)}, there = {from, sizeof(*from)};
	int saved_errno = errno;
	bool is_read = !px_is_confined() && syscall(SYS_process_vm_readv, (pid_t)syscall(SYS_getpid), &here, 1UL,
						    &there, 1UL, 0UL) == (long)sizeof(*count);

	errno = saved_errno;
	return is_read;
}

static bool is_last_arrival(pthread_barrier_t *barrier)
{
	union arrivals *at = (union arrivals *)barrier;
	int32_t others, count;
	int32_t *counter;

	if (!is_layout_known())
		return false;
	others = px_read_once(&at->words.others);
	if (others <= 0)
		return px_read_once(&at->words.nr_arrived) == (others & INT32_MAX) || others == 0;
	counter = px_read_once(&at->at[3]);
	return counter && read_count(counter, &count) && count + 1 == others;
}

/* In one process, the first thread has this result. */
static bool is_serial_last(pthread_barrier_t *barrier)
{
	return is_layout_known() && px_read_once(&((union arrivals *)barrier)->words.others) <= 0;
}
#endif

/*
 * If more threads use the barrier than it is for, this thread may seem to be the last one, and still wait.  Then also
 * record the end of a wait.
 */
PX_WRAP int pthread_barrier_wait(pthread_barrier_t *barrier)
{
	struct px_site site;
	struct px_hook_sample sample;
	bool is_last, serial_is_last, came_last;
	int result;

	if (PX_NOT_TRACED(barrier))
		return px_real.pthread_barrier_wait(barrier);
	site = PX_SITE(pthread_barrier_wait, pthread_barrier_wait);
	sample = px_hook_begin();
	is_last = is_last_arrival(barrier);
	serial_is_last = is_serial_last(barrier);
	px_hook_record(site, is_last ? PX_RECORD_WHOLE : PX_RECORD_BEGINS, barrier, 0, is_last, 0);
	result = PX_REAL(&sample, px_real.pthread_barrier_wait(barrier));
	came_last = serial_is_last ? result == PTHREAD_BARRIER_SERIAL_THREAD : is_last && result == 0;
	if (!is_last || !came_last)
		px_hook_record(site, PX_RECORD_ENDS, barrier, 0, came_last,
			       result == PTHREAD_BARRIER_SERIAL_THREAD ? 0 : result);
	px_hook_end(&sample, site.wrapper);
	return result;
}

PX_WRAP int pthread_barrier_init(pthread_barrier_t *barrier, const pthread_barrierattr_t *attr,
				 unsigned int threads)
{
	struct px_site site;
	int result;

	if (PX_NOT_TRACED(barrier))
		return px_real.pthread_barrier_init(barrier, attr, threads);
	site = PX_SITE(pthread_barrier_init, pthread_barrier_init);
	result = px_real.pthread_barrier_init(barrier, attr, threads);
	px_hook_record(site, PX_RECORD_WHOLE, barrier, threads, 0, result);
	return result;
}

PX_WRAP int pthread_barrier_destroy(pthread_barrier_t *barrier)
{
	struct px_site site;

	if (PX_NOT_TRACED(barrier))
		return px_real.pthread_barrier_destroy(barrier);
	site = PX_SITE(pthread_barrier_destroy, pthread_barrier_destroy);
	px_hook_record(site, PX_RECORD_WHOLE, barrier, 0, 0, 0);
	return px_real.pthread_barrier_destroy(barrier);
}

#ifdef __GLIBC__
#define ONCE_RUNS 1 /* the routine is running; the other bits count forks */
#else
#define ONCE_RUNS 0
#endif

/*
 * The state before the call shows whether this thread runs the routine.  If two threads make this call at the same
 * time, the trace may show for both that they run the routine.  If the routine is running when a thread arrives, this
 * thread waits.
 */
PX_INLINE int traced_once(struct px_site site, pthread_once_t *once, void (*routine)(void))
{
	int before = px_load_acquire(once), result = 0;
	bool waits = (before & ONCE_RUNS) != 0;

	if (waits)
		px_hook_record(site, PX_RECORD_BEGINS, once, 0, 0, 0);
	if (px_c11_is(site.call))
		px_real.call_once((once_flag *)once, routine);
	else
		result = px_real.pthread_once(once, routine);
	px_hook_record(site, waits ? PX_RECORD_ENDS : PX_RECORD_WHOLE, once,
		       before == PTHREAD_ONCE_INIT, 0, result);
	return result;
}

PX_WRAP int pthread_once(pthread_once_t *once, void (*routine)(void))
{
	if (PX_NOT_TRACED(once))
		return px_real.pthread_once(once, routine);
	return traced_once(PX_SITE(pthread_once, pthread_once), once, routine);
}

PX_WRAP void call_once(once_flag *once, void (*routine)(void))
{
	if (PX_NOT_TRACED(once))
		px_real.call_once(once, routine);
	else
		traced_once(PX_SITE(call_once, call_once), (pthread_once_t *)once, routine);
}
