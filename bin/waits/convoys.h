/* SPDX-License-Identifier: MIT */
/*
 * The convoys of a lock: periods in which threads queue for it, and each holds it for a short time only.
 *
 * A turn begins when a thread takes the lock, and ends when the thread gives the lock back.  A convoy has at least
 * CONVOY_WAITERS waiters and CONVOY_TURNS turns.  No turn is longer than 1 / CONVOY_PART of the convoy.
 *
 * The number of waiters may drop below CONVOY_WAITERS when one of the waiters gets the lock.  The convoy continues if
 * the number soon rises again: after at most the time of its longest turn.
 */
#ifndef TXTRACE_WAITS_CONVOYS_H
#define TXTRACE_WAITS_CONVOYS_H

#include <stdbool.h>
#include <stdint.h>

#define CONVOY_WAITERS 2

/* A period with at least CONVOY_WAITERS waiters. */
struct queue {
	bool runs;
	int64_t begin_ns, end_ns; /* from end_ns on there were too few waiters, but the period may continue */
	bool is_ending;
	uint64_t nr_turns;
	int64_t held_ns, longest_ns; /* the sum of its turns, and the longest turn */
	unsigned int most_waiters;
};

/* All bytes 0: a lock that no thread has wanted. */
struct convoys {
	unsigned int nr_waiters, most_waiters;
	struct queue queue;   /* the current one */
	struct queue longest; /* valid if nr > 0 */
	uint64_t nr;
};

/* A thread begins to wait for the lock (by is 1), or no longer waits (by is -1). */
void convoys_change_waiters(struct convoys *convoys, int64_t at_ns, int by);

/* A turn ends at at_ns.  It began at since_ns, or earlier if the beginning is not known. */
void convoys_add_turn(struct convoys *convoys, int64_t since_ns, int64_t length_ns, int64_t at_ns);

/* The trace ends, or no longer shows all turns.  If there is a convoy, it ends here. */
void convoys_end(struct convoys *convoys, int64_t at_ns);

#endif
