/* SPDX-License-Identifier: MIT */
/*
 * A ring that belongs to one CPU.  Its writers are the threads of any process that run on that CPU, so no two of them
 * write head at the same time.  Reserve and claim need no locked instructions here.  Include config.h first.
 *
 * Reserve and claim are one *restartable sequence* (rseq(2)): a few instructions.  The last of them stores head, and so
 * makes the reservation.  If the kernel preempts the thread in the sequence, moves it to another CPU, or runs a signal
 * handler, the thread leaves the sequence and begins again.  Everything else is as in ring.h, for writers and readers.
 * The owner of the claim writes and commits the record outside of the sequence, on any CPU.
 *
 * The differences from ring.h:
 *
 *	C1  Only restartable sequences on this CPU move head and claim slots.  They use plain stores.  A thread without
 *	    an rseq area, or on a CPU without a ring, writes to a shared ring (take.h).
 *	C2  An unfinished sequence leaves claims or void slots behind, at head and beyond.  These positions are not
 *	    reserved, so such slots hold no event.  The next sequence recognises them by their position and takes them.
 *	C3  Such a slot may have replaced the oldest record of a ring that loops.  A reader can then find that record
 *	    lapped although no writer has reserved its slot again.  The record is lost, as when a writer laps it.
 *	C4  A writer saves first_lost before it runs the sequence that overwrites the record at tail (R5).
 *	C5  The store of head is not a barrier for later loads.  So a writer that finds the stream running may have a
 *	    reservation that other threads do not see yet.  A thread that stops a stream, or changes its filter, makes
 *	    all CPUs pass a barrier (membarrier.h).  After that it sees the reservation.
 *	    Nothing orders the second load of the state after the read of the counter, either.  But the barrier is an
 *	    interrupt, so it comes between two instructions of the writer.  If it comes before that load, the load finds
 *	    the new state.  If it comes after it, the counter was read before the barrier, so STOP has a later one.
 *	C6  The sequence notes the position (px_claim) before it stores head.  So if a handler leaves the writer by
 *	    siglongjmp(), each claim below head is noted.  A note that an unfinished sequence made is out of date.
 *	C7  A sequence may use a counter that was read earlier, if head is the same as before that read.  Then all
 *	    counters in the ring are older (R2).
 *
 * A child of vfork() uses the memory of its parent, including the rseq area of the calling thread.  The kernel does not
 * watch that area for the child until the child registers it: px_cpu_area_ensure().
 */
#ifndef PX_RING_CPURING_H
#define PX_RING_CPURING_H

#include <sched.h>
#include <stdbool.h>
#include <stdint.h>

#include "ring/sequence.h"
#include "ring/sequence_aarch64.h"
#include "ring/sequence_x86_64.h"

/* Return false if the C library registers no rseq areas in this process. */
PX_INLINE bool px_cpu_may_have_area(void)
{
#if PX_HAS_CPURINGS
	return __rseq_size > 0;
#else
	return false;
#endif
}

/* Return the rseq area that the C library has registered for the calling thread, or NULL. */
PX_INLINE struct rseq *px_cpu_area(void)
{
#if PX_HAS_CPURINGS
	if (px_cpu_may_have_area()) {
		char *thread = px_thread_pointer();
		struct rseq *area = (struct rseq *)(void *)(thread + __rseq_offset);

		if ((int32_t)px_read_once(&area->cpu_id) >= 0)
			return area;
	}
#endif
	return NULL;
}

/*
 * Return why the calling thread has no area, or 0: the error of rseq(2); or ENOTSUP: this library has no sequences for
 * this machine, or the C library does not register areas, although the kernel has them.  Keeps errno.
 */
int px_cpu_area_check(void);

/*
 * Return the same area as px_cpu_area(), and make sure that the kernel watches it.  A child of vfork() and its own
 * children must call this.  Async-signal-safe; keeps errno.  Makes a system call.
 */
struct rseq *px_cpu_area_ensure(void);

PX_INLINE struct px_cpu px_cpu_of(struct rseq *area)
{
	int number;

#if PX_HAS_CPURINGS
	if (px_likely(area))
		return (struct px_cpu){px_read_once(&area->cpu_id), area};
#else
	(void)area;
#endif
	number = sched_getcpu();
	return (struct px_cpu){number < 0 ? 0 : (uint32_t)number, NULL};
}

/*
 * Reserve n slots of the ring of this CPU, and claim them for tid.  For limit, see px_ring_reserve().  The clock is
 * always PX_CLOCK_HARDWARE.
 */
enum px_outcome px_cpuring_take(const struct px_ring *ring, struct px_cpu cpu, uint32_t n,
				uint64_t limit, uint32_t tid, struct px_reservation *reservation,
				struct px_claim *claim);

/*
 * Take one slot in the usual case, and note it in px_first_claim.  In any other case, return false and do nothing
 * else.  bound: px_bound_of() for this number of slots.
 */
PX_INLINE bool px_cpuring_take_one(const struct px_ring *ring, struct px_cpu cpu,
				   struct px_bound bound, uint32_t tid, struct px_reservation *reservation);

/*
 * The same for n slots, at most PX_CPURING_FEW.  It also returns false if the slots are not next to each other, because
 * the ring ends between them.
 */
PX_INLINE bool px_cpuring_take_few(const struct px_ring *ring, struct px_cpu cpu, uint32_t n,
				   struct px_bound bound, uint32_t tid,
				   struct px_reservation *reservation);

/*
 * Take one slot for an event that has its counter already, in the usual case.  Return false if head has moved since,
 * because this ring may then have a later counter (R2).  Also return false if a reader of this stream may have passed
 * the counter.
 */
PX_INLINE bool px_cpuring_take_again(const struct px_ring *ring, struct px_cpu cpu,
				     struct px_bound bound, uint32_t tid, const struct px_earlier *earlier,
				     struct px_reservation *reservation);

#define PX_CPURING_FEW 8 /* with more slots, the general sequence costs little in comparison */

#if PX_HAS_CPURINGS

/* The end of each sequence that reserves and claims at once. */
PX_INLINE bool px_cpuring_is_taken(enum px_outcome outcome)
{
	if (px_unlikely(outcome != PX_TAKEN))
		return false;
	PX_TESTPOINT("ring.reserve.done");
	PX_TESTPOINT("ring.claim.done");
	px_write_fence(); /* EDGE claim release */
	return true;
}
#endif

PX_INLINE bool px_cpuring_take_one(const struct px_ring *ring, struct px_cpu cpu,
				   struct px_bound bound, uint32_t tid, struct px_reservation *reservation)
{
#if PX_HAS_CPURINGS
	return px_cpuring_is_taken(px_sequence_one(ring, cpu, px_word(0, tid, PX_SLOT_CLAIMED), bound, reservation));
#else
	(void)ring, (void)cpu, (void)bound, (void)tid, (void)reservation;
	return false; /* no thread has an area */
#endif
}

PX_INLINE bool px_cpuring_take_again(const struct px_ring *ring, struct px_cpu cpu,
				     struct px_bound bound, uint32_t tid, const struct px_earlier *earlier,
				     struct px_reservation *reservation)
{
#if PX_HAS_CPURINGS
	return px_cpuring_is_taken(px_sequence_again(ring, cpu, px_word(0, tid, PX_SLOT_CLAIMED), bound,
						     earlier, reservation));
#else
	(void)ring, (void)cpu, (void)bound, (void)tid, (void)earlier, (void)reservation;
	return false; /* no thread has an area */
#endif
}

PX_INLINE bool px_cpuring_take_few(const struct px_ring *ring, struct px_cpu cpu, uint32_t n,
				   struct px_bound bound, uint32_t tid,
				   struct px_reservation *reservation)
{
#if PX_HAS_CPURINGS
	px_write_once(&px_first_claim.nr_slots, n);
	return px_cpuring_is_taken(px_sequence_few(ring, cpu, n, px_word(0, tid, PX_SLOT_CLAIMED), bound, reservation));
#else
	(void)ring, (void)cpu, (void)n, (void)bound, (void)tid, (void)reservation;
	return false; /* no thread has an area */
#endif
}

#endif
