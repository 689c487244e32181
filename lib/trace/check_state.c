/* SPDX-License-Identifier: MIT */
#include "config.h"

#include "trace/check_state.h"

#include "ring/growth.h"
#include "ring/wakeup.h"

/* After an automatic stop, wake up the reader even if it waits for the high-water mark. */
static void wake_after_stop(const struct px_view *view)
{
	if (px_wakeup_is_awaited(&view->segment->waiting))
		px_wakeup_wake(&view->segment->waiting);
}

/*
 * Each ring has its own count of dropped events.  A program may drop more events than it records,
 * and threads on all CPUs would compete for one common count.
 *
 * START marks the gap before it from this count.  But a writer may have slept since it loaded the state, and START may
 * have missed its event.  Then the next event of this thread must not come before the mark of the loss.
 */
void px_on_no_room(const struct px_view *view, const struct px_ring *ring, uint64_t state)
{
	struct px_segment *segment = view->segment;
	uint64_t counter = 0;

	px_view_auto_stop(view, state);
	if (px_read_once(&segment->first_dropped) == 0) {
		counter = px_clock_read((enum px_clock_source)view->rings.source);
		px_compare_exchange(&segment->first_dropped, UINT64_C(0), counter);
	}
	PX_TESTPOINT("point.drop.dated");
	px_fetch_add(&ring->control->dropped, UINT64_C(1)); /* EDGE drop release */
	PX_TESTPOINT("point.drop.counted");
	/* EDGE drop acquire: this load comes after the addition */
	if (px_unlikely(!px_state_is_same_run(px_load_ordered(&segment->state), state))) {
		px_fetch_add(&ring->control->nr_drops_marked, UINT64_C(1));
		px_ring_mark_loss(ring, counter ? counter :
						  px_clock_read((enum px_clock_source)view->rings.source));
		px_compare_exchange(&segment->first_dropped, counter, UINT64_C(0)); /* the mark tells it */
	}
	wake_after_stop(view);
}

void px_on_filled(const struct px_view *view, struct px_ring_control *control, uint64_t state)
{
	if (view->grows &&
	    px_growth_make_room(view, control, view->geometry.event_slots, view->limit))
		return;
	px_view_auto_stop(view, state);
	wake_after_stop(view);
}

/*
 * A full stream counts the events that it drops (EVENT-12).  If a call to posix_trace_stop() comes after the automatic
 * stop, the stream counts dropped events only while it is full (STATUS-4).  When it has room again, it counts as
 * stopped by the call (AMB-8).
 */
static bool counts_drops(const struct px_view *view, uint64_t state)
{
	return px_state_of(state) == PX_STATE_AUTO_FULL &&
	       ((state & PX_STATE_ARMED) || px_view_is_full(view));
}

/*
 * The state may be old.  If the filter has changed three times since, a controller may now be
 * writing to the set that this state selects.  So the result is valid only if the state word still
 * has this value.
 */
bool px_on_not_recording(const struct px_view *view, uint64_t state, uint32_t id, struct px_cpu cpu)
{
	bool filtered = px_state_filters(view->segment, state, id);

	px_read_fence();
	if (px_load_acquire(&view->segment->state) != state)
		return false;
	if (!filtered && counts_drops(view, state)) { /* UFULL-12 */
		struct px_ring ring = px_ring_choose(view, cpu);

		px_on_no_room(view, &ring, state);
	}
	return true;
}

enum px_verdict px_recheck_state(const struct px_segment *segment, uint64_t state, uint32_t id)
{
	const uint64_t *word = &segment->state;
	uint64_t now;

	/* EDGE stop acquire: this load comes after the exchange or the store of head */
	while (px_unlikely((now = px_load_ordered(word)) != state)) {
		if (!px_state_is_same_window(now, state))
			return PX_BEGIN_ANEW;
		if (!px_state_filters(segment, now, id))
			state = now;
		else if (px_load_ordered(word) == now)
			return PX_UNWANTED; /* the record could come after FILTER (SETFILT-9) */
	}
	return PX_WANTED;
}
