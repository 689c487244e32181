/* SPDX-License-Identifier: MIT */
/*
 * The restartable sequences of cpuring.h: one contract, and a file of assembly for each architecture that has them.
 * Include config.h first.
 *
 * Four sequences reserve and claim slots of the ring of this CPU:
 *
 *	px_sequence_one		one slot, in the usual case
 *	px_sequence_again	one slot, for an event that has its counter: see px_cpuring_take_again()
 *	px_sequence_few		slots that are next to each other, in the usual case
 *	px_sequence_any		any number of slots
 *
 * In each of them these things happen in this order.  A thread that was disturbed at any point before the last one has
 * done nothing, apart from what C2 and C6 allow.
 *
 *	1. The area gets the address of the descriptor.
 *	2. The counter is read, after all earlier loads (not in px_sequence_again).
 *	3. The CPU of the area must be the expected one: otherwise PX_DISTURBED.
 *	4. head is loaded.  There must be room: otherwise PX_NO_ROOM.
 *	5. The slots must be free: otherwise PX_HELD.
 *	6. The claims are stored, then the note (C6).
 *	7. One instruction stores head, and `further` beside it if there is more than one slot (R7).  A reader that
 *	   sees this head sees the claims below it, too.
 *	8. The area gets the address 0, because the descriptor may be unmapped later.
 *
 * If px_sequence_one, _again or _few returns PX_HELD, it has done nothing and reserved nothing: then call
 * px_cpuring_take().  If a slot has a claim with another position, its owner still uses it.  A claim with this position
 * is a leftover (C2).
 *
 * `low` is the slot word without the position.  For bound, see px_bound_of().
 *
 * px_sequence_try is for trial.h.  It waits in a sequence for another thread to change *turn, at most for this number
 * of rounds.  It returns PX_TAKEN if nothing happened, PX_HELD if the sequence saw the change, and PX_DISTURBED if the
 * kernel ended it.
 */
#ifndef PX_RING_SEQUENCE_H
#define PX_RING_SEQUENCE_H

#include <stddef.h>
#include <stdint.h>

#include "ring/ring.h"

#if defined(HAVE_RSEQ_ABI) && HAVE_RSEQ_ABI && (defined(__x86_64__) || (defined(__aarch64__) && defined(__LP64__)))
#define PX_HAS_CPURINGS 1
#include <sys/rseq.h>
#else
#define PX_HAS_CPURINGS 0
struct rseq;
#endif

/*
 * The CPU of a thread.  If the thread has an rseq area, the sequence checks that the thread still runs on this CPU.
 * Otherwise the number may be out of date.
 */
struct px_cpu {
	uint32_t number;
	struct rseq *area;
};

enum px_outcome {
	PX_TAKEN,    /* reserved and claimed */
	PX_NO_ROOM,  /* the ring is bounded and full */
	PX_HELD,     /* the slots are reserved, but not claimed: another thread holds one of them */
	PX_DISTURBED /* nothing was done: read the CPU again and retry */
};

/* An event that was recorded in another ring of this CPU, and may be recorded in this ring with the same counter. */
struct px_earlier {
	uint64_t head; /* head of this ring, loaded before the counter was read */
	uint64_t counter;
	const uint64_t *horizon; /* `horizon` of the ring's stream */
};

/* Input of px_sequence_any().  The sequence changes these members if another thread holds a slot. */
struct px_sequence_request {
	uint64_t nr_claims; /* slots to write, from head on */
	uint64_t low;	    /* new word of these slots, without the position */
	uint64_t advance;   /* slots to reserve */
	uint64_t saved;	    /* the tail for which first_lost is saved */
	uint64_t has_saved; /* 1: the sequence does not stop at the tail in `saved` */
};

/*
 * Test builds store the addresses of these instructions.  tests/support/traps.c disturbs a thread before each of them.
 */
#ifdef PX_TESTPOINTS
#define PX_STEP "77:\n\t.pushsection px_steps, \"aw\"\n\t.quad 77b\n\t.popsection\n\t"
#else
#define PX_STEP
#endif

#endif
