/* SPDX-License-Identifier: MIT */
/*
 * The order in which threads take locks.
 *
 * A thread that wants lock B while it holds lock A makes an edge from A to B.  A cycle of edges of different threads is
 * a potential deadlock, even if the deadlock did not happen in this trace.  Two of the edges can have another held lock
 * in common.  Such a lock is a gate lock.  It prevents the deadlock, because only one thread at a time can hold it.  So
 * each edge has a list of the other held locks.
 *
 * Literature: Klaus Havelund, Using Runtime Analysis to Guide Model Checking of Java Programs (the GoodLock algorithm),
 * and Agarwal, Wang, Stoller: Detecting Potential Deadlocks with Static Analysis and Run-Time Monitoring (gate locks).
 */
#ifndef TXTRACE_WAITS_LOCKORDER_H
#define TXTRACE_WAITS_LOCKORDER_H

#include "waits/waits.h"

#define LOCKORDER_GATES 8   /* largest number of gate locks of an edge */
#define LOCKORDER_LENGTH 8  /* largest number of edges of a cycle */
#define LOCKORDER_CYCLES 64 /* largest number of cycles in the report */

/*
 * An edge counts only if the trace shows how the hold ended: the thread gave the lock back, or still has it at the end
 * of the trace.  If another thread takes the lock instead, or if a gap hides the end, the thread may have given the
 * lock back before it wanted the other lock.
 *
 * This stands for all edges of one thread with the same held lock, the same wanted lock and the same gate locks.  The
 * times and code addresses are those of the first of these edges.
 */
struct lock_edge {
	const struct awaited *held, *wanted;
	const struct waiter *thread;
	const struct awaited *gate[LOCKORDER_GATES];
	unsigned int nr_gates;
	int64_t held_ns, wanted_ns; /* held_ns is LONG_AGO if the thread had the lock before the trace began */
	uint64_t held_at, wanted_at;
	uint64_t nr;	     /* number of edges that count; 0: the search for cycles ignores this */
	uint64_t nr_of_hold; /* number of edges of the current hold, which has not ended */
	struct lock_edge *next;		/* the next edge with the same held lock */
	struct lock_edge *next_of_hold; /* the next edge of the current hold */
	struct lock_edge *alike; /* the next edge with the same hash */
};

struct lock_cycle {
	const struct lock_edge *edge[LOCKORDER_LENGTH];
	unsigned int nr_edges;
	const struct awaited *gate; /* the gate lock, or NULL if the cycle is a potential deadlock */
};

struct lockorder {
	struct map edge_of;
	struct map edges_from; /* key: index of the held lock */
	struct map edges_of_hold; /* key: indices of the thread and the held lock */
	size_t nr_edges;
	struct lock_cycle cycle[LOCKORDER_CYCLES];
	size_t nr_cycles;
	uint64_t nr_steps; /* steps of the search so far */
	bool is_cut;	   /* the search ended early, so there may be more cycles */
};

/*
 * Call this when a thread wants a lock.  Add an edge from each lock that the thread holds.  If the thread already holds
 * the wanted lock, do nothing.  at_ns and address are the time and the place of the call.
 */
void lockorder_add(struct lockorder *order, const struct waiter *thread,
		   const struct awaited *wanted, int64_t at_ns, uint64_t address);

/* The edges of this hold count: the trace shows its end. */
void lockorder_confirm(struct lockorder *order, const struct hold *hold);

/*
 * The edges of this hold do not count.  Exception: if the thread now waits for the wanted lock and is_waiting_sure is
 * set, that edge counts.
 */
void lockorder_refute(struct lockorder *order, const struct hold *hold, bool is_waiting_sure);

/*
 * Find the cycles.  If several cycles have the same locks in the same order, keep only one, preferably one without a
 * gate lock.
 */
void lockorder_search(struct lockorder *order, const struct waits *waits);

void lockorder_free(struct lockorder *order);

#endif
