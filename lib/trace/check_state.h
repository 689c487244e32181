/* SPDX-License-Identifier: MIT */
/*
 * Find out from the state of a stream whether the stream wants an event.  A writer checks the state
 * word before it takes slots, and again after that (segment.h explains why).  Include config.h
 * first.
 */
#ifndef PX_TRACE_CHECK_STATE_H
#define PX_TRACE_CHECK_STATE_H

#include "ring/take.h"

enum px_verdict {
	PX_WANTED,
	PX_UNWANTED,
	PX_BEGIN_ANEW /* the state changed: load it again */
};

PX_INLINE bool px_state_filters(const struct px_segment *segment, uint64_t state, uint32_t id)
{
	return px_eventset_has(&segment->filter[px_state_filter(state)], id);
}

/*
 * Call this before the writer takes slots.  Return true if the stream runs and does not filter this
 * event type.
 */
PX_INLINE bool px_check_state(const struct px_segment *segment, uint64_t state, uint32_t id)
{
	return px_likely(px_state_of(state) == PX_STATE_RUNNING &&
			 !px_state_filters(segment, state, id));
}

/*
 * Call this if px_check_state() returns false.  If the stream is full and does not filter the
 * event, count the event as dropped.  Return false if the state has changed: then the result of
 * px_check_state() is not valid.
 */
bool px_on_not_recording(const struct px_view *view, uint64_t state, uint32_t id,
			 struct px_cpu cpu);

/*
 * Call this after the writer has taken its slots.  Return true if the state word is unchanged,
 * which is the usual case.  The load of the state word must come after the read of the counter, or else no STOP may
 * come between the two: otherwise the event could have a later time than STOP.  In a shared ring, the exchange of head
 * orders the two.  For a CPU's own ring, see C5 in cpuring.h.
 */
PX_INLINE bool px_state_is_unchanged(const struct px_segment *segment, uint64_t state)
{
	/* EDGE stop acquire: this load comes after the exchange or the store of head */
	return px_likely(px_load_ordered(&segment->state) == state);
}

/*
 * Call this if px_state_is_unchanged() returns false.  Return whether the stream still wants the
 * event.
 */
enum px_verdict px_recheck_state(const struct px_segment *segment, uint64_t state, uint32_t id);

/*
 * Call this if the ring has no room for the event.  Stop the stream, and count the event as dropped.  If the stream has
 * begun another run since the writer loaded this state, mark the loss in the ring.
 */
void px_on_no_room(const struct px_view *view, const struct px_ring *ring, uint64_t state);

/*
 * Call this if the ring has no room for a further user event after this event.  Stop the stream, unless the ring can
 * grow.
 */
PX_NOINLINE void px_on_filled(const struct px_view *view, struct px_ring_control *control,
			      uint64_t state);

#endif
