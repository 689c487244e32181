/* SPDX-License-Identifier: MIT */
/*
 * What a stream can see of the calls of its processes: the wrappers of a preloaded object, whether each found the
 * function that it stands for, and what it costs.  How often each was called is counted in the rings (ring.h).
 *
 * It stands in the stream's segment.  Rows are written by whoever records the first call, all at once; all processes
 * that have the same object write the same, so nobody waits for anybody.  The cost is measured where the calls are
 * made: of each 251st of a thread's calls, how long it took beyond the function itself.
 *
 * Async-signal-safe.  Hostile input for another user's process.
 */
#ifndef PX_RING_WRAPPER_STATS_H
#define PX_RING_WRAPPER_STATS_H

#include <stdbool.h>
#include <stdint.h>

#include "base/atomic.h"
#include "ring/ring.h"

enum px_wrapper_state {
	PX_WRAPPER_UNUSED = 0,	/* no row */
	PX_WRAPPER_MISSING = 1, /* the C library has no such function */
	PX_WRAPPER_INSTALLED = 2,
	PX_WRAPPER_FOREIGN =
		3 /* installed, and in front of another object that wraps the function too */
};

struct px_wrapper_row {
	uint32_t state;	  /* enum px_wrapper_state */
	uint32_t call;	  /* enum px_call */
	char symbol[40];  /* ends in a null, */
	char version[24]; /* too: of the symbol behind it, or "" where it has none */
};

struct px_wrapper_cost {
	uint64_t samples;
	uint64_t ticks; /* of the stream's counter, all samples together */
};

/* A row with all that was counted of it, as a log has it. */
struct px_wrapper_sum {
	char symbol[40];
	char version[24];
	uint32_t call;
	uint32_t state;
	uint64_t calls, samples;
	uint64_t overhead_ns; /* of all samples together */
};

struct px_wrapper_stats {
	uint32_t nr_rows; /* written last; 0: not yet */
	uint32_t reserved;
	struct px_wrapper_row row[PX_WRAPPERS_MAX];
	struct px_wrapper_cost cost[PX_WRAPPERS_MAX];
};

/* Put rows in, unless there are some. */
void px_wrapper_stats_write(struct px_wrapper_stats *wrapper_stats,
			    const struct px_wrapper_row *rows, uint32_t nr_rows);

/* Row i, copied; false behind the last one, or where there is nothing of ours. */
bool px_wrapper_stats_read(const struct px_wrapper_stats *wrapper_stats, uint32_t i,
			   struct px_wrapper_row *row, struct px_wrapper_cost *cost);

PX_INLINE void px_wrapper_stats_add(struct px_wrapper_stats *wrapper_stats, uint32_t wrapper,
				    uint64_t ticks)
{
	px_fetch_add(&wrapper_stats->cost[wrapper].samples, UINT64_C(1));
	px_fetch_add(&wrapper_stats->cost[wrapper].ticks, ticks);
}

#endif
