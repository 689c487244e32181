/* SPDX-License-Identifier: MIT */
/*
 * Statistics of the wrappers of a preloaded object: the list of wrappers, whether each wrapper found the function that
 * it replaces, and how much time it adds.  The rings count the calls of each wrapper (ring.h).
 *
 * The statistics are in the stream's segment.  The first process that records a call writes all rows.  All processes
 * with the same object write the same rows, so no process waits.  The objects of both word sizes of a machine have a
 * few rows that the other one does not use, and write those when they need them.  For every 251st call of a thread, the
 * wrapper measures how much time it adds to the function.
 *
 * Async-signal-safe.  The rows of another user's process are hostile input.
 */
#ifndef PX_RING_WRAPPER_STATS_H
#define PX_RING_WRAPPER_STATS_H

#include <stdbool.h>
#include <stdint.h>

#include "base/atomic.h"
#include "ring/ring.h"

enum px_wrapper_state {
	PX_WRAPPER_UNUSED = 0,	/* no row yet */
	PX_WRAPPER_MISSING = 1, /* the C library has no such function */
	PX_WRAPPER_INSTALLED = 2,
	PX_WRAPPER_FOREIGN = 3 /* installed, and calls another object that wraps the same function */
};

struct px_wrapper_row {
	uint32_t state;	  /* enum px_wrapper_state */
	uint32_t call;	  /* enum px_call */
	char symbol[40];  /* ends in a null */
	char version[24]; /* of the wrapped symbol, or ""; ends in a null */
};

struct px_wrapper_cost {
	uint64_t samples;
	uint64_t ticks; /* sum of all samples, in ticks of the stream's counter */
};

/* A row with its counts, as logs store it. */
struct px_wrapper_sum {
	char symbol[40];
	char version[24];
	uint32_t call;
	uint32_t state;
	uint64_t calls, samples;
	uint64_t overhead_ns; /* sum of all samples */
};

struct px_wrapper_stats {
	uint32_t nr_rows; /* stored after the rows; 0: the rows are not written yet */
	uint32_t reserved;
	struct px_wrapper_row row[PX_WRAPPERS_MAX];
	struct px_wrapper_cost cost[PX_WRAPPERS_MAX];
};

/* Return true if the stream has row i. */
bool px_wrapper_stats_has(const struct px_wrapper_stats *wrapper_stats, uint32_t i);

/* Write the rows that the stream does not have yet. */
void px_wrapper_stats_write(struct px_wrapper_stats *wrapper_stats,
			    const struct px_wrapper_row *rows, uint32_t nr_rows);

/* Copy row i.  Return false if there is no row i, or the memory is damaged. */
bool px_wrapper_stats_read(const struct px_wrapper_stats *wrapper_stats, uint32_t i,
			   struct px_wrapper_row *row, struct px_wrapper_cost *cost);

PX_INLINE void px_wrapper_stats_add(struct px_wrapper_stats *wrapper_stats, uint32_t wrapper,
				    uint64_t ticks)
{
	px_fetch_add(&wrapper_stats->cost[wrapper].samples, UINT64_C(1));
	px_fetch_add(&wrapper_stats->cost[wrapper].ticks, ticks);
}

#endif
