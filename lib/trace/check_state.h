/* SPDX-License-Identifier: MIT */
/*
 * What the state of a stream means for an event.  A writer checks the state word before it takes slots, and again
 * after that (segment.h explains why).  Include config.h first.
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

/* Call this before the writer takes slots.  Return true if the stream runs and does not filter this event type. */
PX_INLINE bool px_check_state(const struct px_segment *segment, uint64_t state, uint32_t id)
{
	return px_likely(px_state_of(state) == PX_STATE_RUNNING &&
			 !px_state_filters(segment, state, id));
}

/*
 * Do what is needed when px_check_state() fails: count an event that a full stream has no room for.  Return false if
 * the state has changed: then the failed check is not valid.
 */
bool px_on_not_recording(const struct px_view *view, uint64_t state, uint32_t id,
			 struct px_cpu cpu);

/*
 * Return the address of the state word, for the load after the slots were taken.  The CPU must do that load after it
 * read the counter, or the event could be later than STOP.  In a shared ring the exchange of head orders the two.  In a
 * CPU's own ring nothing orders them, so the address depends on the counter, which always has a top bit of 0.
 */
PX_INLINE const uint64_t *px_state_after(const struct px_segment *segment, uint64_t counter)
{
	return &segment->state + (counter >> 63);
}

/* Call this after the slots were taken.  Return true in the usual case: the state is still the same. */
PX_INLINE bool px_state_is_unchanged(const struct px_segment *segment, uint64_t state,
				     uint64_t counter)
{
	/* EDGE stop acquire: after the exchange, or the store, of head */
	return px_likely(px_load_ordered(px_state_after(segment, counter)) == state);
}

/* Check again when the state has changed: the stream may still want the event. */
enum px_verdict px_recheck_state(const struct px_segment *segment, uint64_t state, uint64_t counter,
				 uint32_t id);

/* Call this if the ring has no room for the event: stop the stream, and count the loss. */
void px_on_no_room(const struct px_view *view, struct px_ring_control *control, uint64_t state);

/* Call this if the event has filled its ring: stop the stream. */
PX_NOINLINE void px_on_filled(const struct px_view *view, uint64_t state);

#endif
