/* SPDX-License-Identifier: MIT */
/*
 * The order in which threads take locks.
 *
 * Whoever wants B while it holds A makes an edge from A to B.  Where edges go round in a cycle, each of another thread,
 * these threads can come to wait for each other for ever, once they are at it at the same time; whether that has
 * happened does not matter.  They cannot if a further lock is held at all of these edges, or at two: a gate, through
 * which but one thread goes at a time.  So with an edge is kept what else was held.
 *
 * After: Klaus Havelund, Using Runtime Analysis to Guide Model Checking of Java Programs (the GoodLock algorithm), and
 * Agarwal, Wang, Stoller: Detecting Potential Deadlocks with Static Analysis and Run-Time Monitoring (gate locks).
 */
#ifndef TXTRACE_WAITS_LOCKORDER_H
#define TXTRACE_WAITS_LOCKORDER_H

#include "waits/waits.h"

#define LOCKORDER_GATES 8   /* locks held beside, of an edge, that are looked at */
#define LOCKORDER_LENGTH 8  /* edges of a cycle at most */
#define LOCKORDER_CYCLES 64 /* that are told */

/* By one thread, with the same locks held beside; the first time that it was so is the example. */
struct lock_edge {
	const struct awaited *held, *wanted;
	const struct waiter *thread;
	const struct awaited *gate[LOCKORDER_GATES];
	unsigned int nr_gates;
	int64_t held_ns, wanted_ns; /* held_ns LONG_AGO: before the trace began */
	uintptr_t held_at, wanted_at;
	uint64_t nr;
	struct lock_edge *next;	 /* of the same lock held */
	struct lock_edge *alike; /* with the same hash */
};

struct lock_cycle {
	const struct lock_edge *edge[LOCKORDER_LENGTH];
	unsigned int nr_edges;
	const struct awaited *gate; /* it is safe by this one; NULL: it is not */
};

struct lockorder {
	struct map edge_of;
	struct map edges_from; /* by the index of the lock held */
	size_t nr_edges;
	struct lock_cycle cycle[LOCKORDER_CYCLES];
	size_t nr_cycles;
	uint64_t nr_steps; /* of the search */
	bool is_cut;	   /* there may be more cycles */
};

/* A thread wants a lock. */
void lockorder_add(struct lockorder *order, const struct waiter *thread,
		   const struct awaited *wanted, int64_t at_ns, uintptr_t address);

/* Find the cycles; of the same locks in the same order one, without a gate if there is such. */
void lockorder_search(struct lockorder *order, const struct waits *waits);

void lockorder_free(struct lockorder *order);

#endif
