/* SPDX-License-Identifier: MIT */
/*
 * Take slots for an event: choose the ring, reserve the slots and claim them.  Include config.h first.
 *
 * A thread writes to the ring of its CPU.  In three cases it writes to a shared ring instead: the CPU has no ring, the
 * process may not write to rings of CPUs (nr_own of the view), or the thread has no area for restartable sequences.
 */
#ifndef PX_RING_TAKE_H
#define PX_RING_TAKE_H

#include "ring/cpuring.h"
#include "ring/segment.h"

/*
 * A debugger may disturb every sequence.  After this many disturbed sequences in one call, the thread takes slots of a
 * shared ring instead.
 */
#define PX_TAKE_DISTURBED_MAX 1000

PX_INLINE bool px_ring_is_own(const struct px_view *view, struct px_cpu cpu)
{
	return px_likely(cpu.area && cpu.number < view->nr_own);
}

/* Return the number of the shared ring for this CPU. */
PX_INLINE uint32_t px_ring_shared(const struct px_rings *rings, uint32_t cpu)
{
	return px_likely(cpu < rings->nr_shared) ? cpu : cpu % rings->nr_shared;
}

PX_INLINE struct px_ring px_ring_own_or_shared(const struct px_rings *rings, bool own, uint32_t cpu)
{
	return px_rings_get(rings,
			    px_likely(own) ? rings->nr_shared + cpu : px_ring_shared(rings, cpu));
}

/* Return the ring that a thread on this CPU may write to. */
PX_INLINE struct px_ring px_ring_choose(const struct px_view *view, struct px_cpu cpu)
{
	return px_ring_own_or_shared(&view->rings, px_ring_is_own(view, cpu), cpu.number);
}

/* Return true if the caller read its counter much earlier than now.  The caller has just reserved its slots. */
PX_COLD bool px_ring_took_long(const struct px_view *view, const struct px_reservation *at);

/*
 * Return true if the writer was preempted between its counter and its reservation, and the reader has passed that
 * counter in the meantime.  Later events may have been read then.  If no reader has passed the counter, the order of
 * the ring is enough: then this function does not read the clock again.  Call it directly after the reservation.
 */
PX_INLINE bool px_ring_is_late(const struct px_view *view, const struct px_reservation *at)
{
	return px_unlikely((int64_t)(px_load_ordered(&view->segment->horizon) - at->counter) > 0) &&
	       px_ring_took_long(view, at);
}

/* Claim reserved slots of a shared ring, and note the claim. */
PX_INLINE bool px_ring_claim_noted(const struct px_ring *ring, const struct px_reservation *at, uint32_t n,
				   uint32_t tid, struct px_claim *claim)
{
	bool claimed;

	px_write_once(&claim->nr_slots, n);
	px_write_once(&claim->position, at->position);
	px_write_once(&claim->unclaimed, ring->control);
	claimed = px_ring_claim(ring, at->position, n, tid);
	px_write_once(&claim->unclaimed, NULL);
	return claimed;
}

/*
 * The slots at *at have a counter that is too old.  Take other slots instead, and pass those that other threads hold.
 * Keep the old slots if the ring has no room, or if other threads hold the slots of 16 attempts: then the event is
 * older than events that were read before it.  An attempt does not count if px_ring_make_way() returns true.
 * Arguments: as for px_ring_take_shared().
 */
PX_COLD void px_ring_take_later(const struct px_view *view, const struct px_ring *ring, uint32_t n,
				uint64_t limit, uint32_t tid, struct px_reservation *at,
				struct px_claim *claim);

/* Take n slots of a shared ring for tid.  limit: as for px_ring_reserve().  Never return PX_DISTURBED. */
PX_INLINE enum px_outcome px_ring_take_shared(const struct px_view *view,
					      const struct px_ring *ring, uint32_t n,
					      uint64_t limit, uint32_t tid,
					      struct px_reservation *at, struct px_claim *claim)
{
	bool is_late;

	if (px_unlikely(
		    !px_ring_reserve(ring, n, limit, (enum px_clock_source)view->rings.source, at)))
		return PX_NO_ROOM;
	is_late = px_ring_is_late(view, at);
	if (px_unlikely(!px_ring_claim_noted(ring, at, n, tid, claim)))
		return PX_HELD;
	if (px_unlikely(is_late))
		px_ring_take_later(view, ring, n, limit, tid, at, claim);
	return PX_TAKEN;
}

/*
 * Choose a ring, and take n of its slots for tid.  If the thread moves to another CPU, *cpu is updated.  PX_NO_ROOM
 * means that nothing was reserved.  Never return PX_DISTURBED.
 */
PX_INLINE enum px_outcome px_ring_take(const struct px_view *view, struct px_cpu *cpu, uint32_t n,
				       uint32_t tid, struct px_ring *ring,
				       struct px_reservation *at, struct px_claim *claim)
{
	for (int disturbed = 0; px_ring_is_own(view, *cpu);) {
		enum px_outcome outcome;

		*ring = px_ring_own_or_shared(&view->rings, true, cpu->number);
		outcome = px_cpuring_take(ring, *cpu, n, view->limit, tid, at, claim);
		if (px_likely(outcome != PX_DISTURBED))
			return outcome;
		*cpu = px_cpu_of(cpu->area);
		if (++disturbed > PX_TAKE_DISTURBED_MAX)
			cpu->area = NULL;
	}
	*ring = px_ring_own_or_shared(&view->rings, false, cpu->number);
	return px_ring_take_shared(view, ring, n, view->limit, tid, at, claim);
}

/*
 * Take n slots, at most PX_CPURING_FEW, of the CPU's own ring in the usual case.  Return false and take nothing in any
 * other case: the CPU has no ring, another thread holds a slot, the limit is reached, the record at tail is about to be
 * overwritten, the ring ends between the slots, or the sequence was disturbed.
 */
PX_INLINE bool px_ring_take_few(const struct px_view *view, struct px_cpu cpu, uint32_t n, uint32_t tid,
				struct px_ring *ring, struct px_reservation *at)
{
	if (px_unlikely(!px_ring_is_own(view, cpu)))
		return false;
	*ring = px_ring_own_or_shared(&view->rings, true, cpu.number);
	return px_likely(__builtin_constant_p(n) && n == 1 ?
				 px_cpuring_take_one(ring, cpu, view->bound, tid, at) :
				 px_cpuring_take_few(ring, cpu, n, px_bound_of(view->bound, n), tid, at));
}

/*
 * For an event in two streams.  Call px_ring_look_ahead() for the second one before the counter of the event is read.
 * If this thread can then take a slot of the second stream with the same counter, px_ring_take_again() takes it.
 */
PX_INLINE void px_ring_look_ahead(const struct px_view *view, struct px_cpu cpu, struct px_earlier *earlier)
{
	struct px_ring ring = px_ring_choose(view, cpu);

	earlier->head = px_load_acquire(&ring.control->head);
	earlier->horizon = &view->segment->horizon;
}

PX_INLINE bool px_ring_take_again(const struct px_view *view, struct px_cpu cpu, uint32_t tid,
				  const struct px_earlier *earlier, struct px_ring *ring,
				  struct px_reservation *at)
{
	if (px_unlikely(!px_ring_is_own(view, cpu)))
		return false;
	*ring = px_ring_own_or_shared(&view->rings, true, cpu.number);
	return px_likely(px_cpuring_take_again(ring, cpu, view->bound, tid, earlier, at));
}

#endif
