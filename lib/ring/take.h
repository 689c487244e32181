/* SPDX-License-Identifier: MIT */
/*
 * Take slots for an event: choose the ring, reserve the slots and claim them.  Include config.h first.
 *
 * A thread writes to the ring of its CPU.  It writes to a shared ring if that CPU has no ring, if the process may
 * not write to rings of CPUs (nr_own of the view), or if the thread has no area for restartable sequences.
 */
#ifndef PX_RING_TAKE_H
#define PX_RING_TAKE_H

#include "ring/cpuring.h"
#include "ring/segment.h"

/* After this many disturbed sequences in one call, as under a debugger, the thread takes slots of a shared ring. */
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

/*
 * If a writer needs longer than this from its counter to its reservation, it was preempted in between.  The unit is a
 * tick of about 100 ns.
 */
#define PX_TAKE_LATE 100
#define PX_TAKE_LATE_ATTEMPTS 3

/*
 * Return true if the writer was preempted between its counter and its reservation, and a reader has since taken a
 * snapshot with a later counter.  That reader may have read later events already.  If no reader has, the order in the
 * ring is enough, and the writer wastes no slots.
 */
PX_INLINE bool px_ring_is_late(const struct px_view *view, const struct px_reservation *at)
{
	return px_unlikely((int64_t)(at->done - at->counter) >>
			   view->rings.shift > PX_TAKE_LATE) &&
	       (int64_t)(px_load_ordered(&view->segment->horizon) - at->counter) > 0;
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

/* Replace slots with an old counter by later slots.  If the ring has no other slots, keep the old ones. */
static PX_NOINLINE void px_ring_take_later(const struct px_view *view, const struct px_ring *ring,
					   uint32_t n, uint64_t limit, uint32_t tid,
					   struct px_reservation *at, struct px_claim *claim)
{
	enum px_clock_source source = (enum px_clock_source)view->rings.source;

	for (int i = 0; i < PX_TAKE_LATE_ATTEMPTS && px_ring_is_late(view, at); i++) {
		struct px_reservation later;

		if (!px_ring_reserve(ring, n, limit, source, &later))
			return;
		px_write_once(&claim->kept_position, at->position);
		px_write_once(&claim->kept, ring->control);
		if (!px_ring_claim_noted(ring, &later, n, tid, claim)) {
			px_ring_give_up(ring, later.position, 0);
			px_write_once(&claim->position, at->position);
			px_write_once(&claim->kept, NULL);
			return;
		}
		px_ring_give_up(ring, at->position, n);
		px_write_once(&claim->kept, NULL);
		*at = later;
	}
}

/* Take n slots of a shared ring for tid.  limit: as for px_ring_reserve().  Never return PX_DISTURBED. */
PX_INLINE enum px_outcome px_ring_take_shared(const struct px_view *view,
					      const struct px_ring *ring, uint32_t n,
					      uint64_t limit, uint32_t tid,
					      struct px_reservation *at, struct px_claim *claim)
{
	if (px_unlikely(
		    !px_ring_reserve(ring, n, limit, (enum px_clock_source)view->rings.source, at)))
		return PX_NO_ROOM;
	if (px_unlikely(!px_ring_claim_noted(ring, at, n, tid, claim)))
		return PX_HELD;
	if (px_ring_is_late(view, at))
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
 * Take one slot of the CPU's own ring in the usual case.  Return false and take nothing in any other case: the CPU has
 * no ring, another thread holds the slot, the limit is reached, the record at tail is about to be overwritten, or the
 * sequence was disturbed.
 */
PX_INLINE bool px_ring_take_one(const struct px_view *view, struct px_cpu cpu, uint32_t tid,
				struct px_ring *ring, struct px_reservation *at)
{
	if (px_unlikely(!px_ring_is_own(view, cpu)))
		return false;
	*ring = px_ring_own_or_shared(&view->rings, true, cpu.number);
	return px_likely(px_cpuring_take_one(ring, cpu, view->limit, tid, at));
}

#endif
