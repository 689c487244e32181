/* SPDX-License-Identifier: MIT */
/*
 * Priority inversions, by TraceX's rules.  The holders of mutexes come from the model of waits/waits.h.
 *
 * An inversion begins when a thread asks for a mutex that a less urgent thread holds.  The inversion is deterministic
 * if the holder then gives the mutex back.  The inversion is not deterministic if a third thread has an event before
 * the holder gives the mutex back, and this third thread is less urgent than the waiting thread.  In both cases the
 * inversion lasts until the next event of the waiting thread.
 */
#ifndef TXTRACE_REPORT_INVERSIONS_H
#define TXTRACE_REPORT_INVERSIONS_H

#include "report/events.h"

#define INVERSIONS_OPEN 256
#define INVERSIONS_KEPT 10000

enum inversion_state { INVERSION_OPEN, INVERSION_ENDS, INVERSION_ENDED };

struct inversion {
	struct context *blocked, *owner, *culprit; /* `culprit` is the third thread, or NULL */
	unsigned int mutex;
	int blocked_priority, owner_priority;
	uint64_t number; /* number of the event that asks for the mutex */
	int64_t begin;
	int64_t length; /* -1 if the inversion is still open at the end of the trace */
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
};

/* The caller frees the result with inversions_free(). */
struct inversions *inversions_new(struct contexts *contexts);
void inversions_free(struct inversions *inversions);

void inversions_event(struct inversions *inversions, const struct report_event *event);

#endif
