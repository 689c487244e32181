/* SPDX-License-Identifier: MIT */
/*
 * Priority inversions, by TraceX's rules.  The holders of mutexes come from the model of waits/waits.h.
 *
 * An inversion begins when a thread asks for a mutex that a less urgent thread holds.  The inversion is deterministic
 * if the holder then gives the mutex back.  The inversion is not deterministic if a third thread has an event before
 * the holder gives the mutex back, and this third thread is less urgent than the waiting thread.  In both cases the
 * inversion lasts until the next event of the waiting thread.
 *
 * In a log with scheduling records, an event of a third thread is no proof that it delays the holder.  There the third
 * thread is the one that got the CPU of the holder when the holder was preempted.
 */
#ifndef TXTRACE_REPORT_INVERSIONS_H
#define TXTRACE_REPORT_INVERSIONS_H

#include "report/cpus.h"
#include "report/events.h"

#define INVERSIONS_OPEN 256
#define INVERSIONS_KEPT 10000

enum inversion_state { INVERSION_OPEN, INVERSION_ENDS, INVERSION_ENDED };

struct inversion {
	struct context *blocked, *owner;
	const struct context *culprit; /* the third thread, or NULL */
	unsigned int mutex;
	int blocked_priority, owner_priority;
	uint64_t number; /* number of the event that asks for the mutex */
	int64_t begin;
	int64_t length; /* -1 if the inversion is still open at the end of the trace */
	/* From records: how long the owner wanted to run and had no CPU; since when it lacks one, -1: it has one. */
	int64_t without_cpu, lacks_since;
	bool counts;
	enum inversion_state state;
	size_t kept; /* 1 + index in the list of the report, or 0 */
};

struct inversions {
	struct contexts *contexts;
	uint64_t nr_deterministic, nr_other;	/* an inversion that is open at the end counts as deterministic */
	struct inversion open[INVERSIONS_OPEN]; /* inversions that have not ended */
	size_t nr_open, nr_ending;
	uint64_t nr_not_followed; /* inversions for which open[] had no room */
	struct inversion *kept;	  /* the first inversions, for the list in the report */
	size_t nr_kept;
	bool has_records; /* the log has scheduling records */
	const struct context *on_cpu[CPUS_MAX]; /* the thread of the log that has the CPU, by these records, or NULL */
};

/* The caller frees the result with inversions_free(). */
struct inversions *inversions_new(struct contexts *contexts);
void inversions_free(struct inversions *inversions);

void inversions_event(struct inversions *inversions, const struct report_event *event);

#endif
