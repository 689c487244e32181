/* SPDX-License-Identifier: MIT */
#include "config.h"

#include "trace/check_state.h"

#include "ring/wakeup.h"

/* An automatic stop wakes up the reader, even if the reader waits for a ring to be half full. */
static void wake_after_stop(const struct px_view *view)
{
	if (px_wakeup_is_awaited(&view->segment->waiting))
		px_wakeup_wake(&view->segment->waiting);
}

/* A program may drop more events than it records, so each ring has its own count. */
void px_on_no_room(const struct px_view *view, struct px_ring_control *control, uint64_t state)
{
	uint64_t *first = &view->segment->first_dropped;

	px_view_auto_stop(view, state);
	if (px_read_once(first) == 0)
		px_compare_exchange(first, UINT64_C(0),
				    px_clock_read((enum px_clock_source)view->rings.source));
	px_fetch_add(&control->dropped, UINT64_C(1));
	PX_TESTPOINT("point.drop.counted");
	wake_after_stop(view);
}

void px_on_filled(const struct px_view *view, uint64_t state)
{
	px_view_auto_stop(view, state);
	wake_after_stop(view);
}

/*
 * If the state is three changes of the filter old, a controller may be writing the set that the state names.  So
 * the answer is valid only if the state is still the same.
 */
bool px_on_not_recording(const struct px_view *view, uint64_t state, uint32_t id, struct px_cpu cpu)
{
	bool filtered = px_state_filters(view->segment, state, id);

	px_read_fence();
	if (px_load_acquire(&view->segment->state) != state)
		return false;
	/* EVENT-12: a full stream counts the event.  UFULL-12: it does not count a filtered event. */
	if (!filtered && px_state_of(state) == PX_STATE_AUTO_FULL)
		px_on_no_room(view, px_ring_choose(view, cpu).control, state);
	return true;
}

enum px_verdict px_recheck_state(const struct px_segment *segment, uint64_t state, uint64_t counter,
				 uint32_t id)
{
	const uint64_t *word = px_state_after(segment, counter);
	uint64_t now;

	/* EDGE stop acquire: after the exchange, or the store, of head */
	while (px_unlikely((now = px_load_ordered(word)) != state)) {
		if (!px_state_is_same_window(now, state))
			return PX_BEGIN_ANEW;
		if (!px_state_filters(segment, now, id))
			state = now;
		else if (px_load_ordered(word) == now)
			return PX_UNWANTED; /* the record could be after FILTER (SETFILT-9) */
	}
	return PX_WANTED;
}
