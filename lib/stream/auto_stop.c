/* SPDX-License-Identifier: MIT */
#include "stream/auto_stop.h"

#include "ring/growth.h"

#define UNDATED 1 /* value of last_stop_counter in the state UNDATED */

static bool has_stop(const struct px_view *view, uint64_t state)
{
	return px_eventset_has(&view->segment->filter[px_state_filter(state)], PX_EVENT_STOP);
}

/* Runs. */

void px_auto_stop_begin_run(const struct px_view *view)
{
	struct px_run *run = &view->segment->run;

	if (px_fetch_add(&run->serial, 1) + 1 == 0) /* 0 means "no run" */
		px_write_once(&run->serial, 1);
}

void px_auto_stop_cancel(const struct px_view *view)
{
	struct px_run *run = &view->segment->run;

	px_write_once(&run->settled, px_read_once(&run->serial));
}

void px_auto_stop_keep_filter(const struct px_view *view, uint64_t state,
			      const struct px_eventset *filter)
{
	struct px_run *run = &view->segment->run;
	uint32_t serial = px_read_once(&run->serial);

	/*
	 * At the first change of the filter after the stop, the old filter is the one that was valid at the stop.
	 * Later changes do not matter.
	 */
	if (px_state_of(state) != PX_STATE_AUTO_FULL || px_read_once(&run->judged) == serial)
		return;
	px_write_once(&run->is_filtered, px_eventset_has(filter, PX_EVENT_STOP));
	px_store_release(&run->judged, serial);
}

uint32_t px_auto_stop_due(const struct px_view *view, uint64_t state)
{
	const struct px_run *run = &view->segment->run;
	uint32_t serial = px_read_once(&run->serial);
	bool is_filtered;

	if (px_state_of(state) != PX_STATE_AUTO_FULL)
		return 0;
	is_filtered = px_read_once(&run->judged) == serial ? px_read_once(&run->is_filtered) != 0 :
							     has_stop(view, state);
	return is_filtered || px_read_once(&run->settled) == serial ? 0 : serial;
}

bool px_auto_stop_settle(struct px_auto_stop *stop, uint64_t state)
{
	bool is_new = stop->settled_state != state;

	stop->settled_state = state;
	return is_new;
}

/* There must be room for START and one more event: otherwise START would fill the stream again (UFULL-5). */
bool px_auto_stop_can_restart(const struct px_view *view, uint64_t state)
{
	uint64_t margin = PX_GEOMETRY_LEAST_SLOTS(view->geometry.event_slots);

	if (px_state_of(state) != PX_STATE_AUTO_FULL || !(state & PX_STATE_ARMED))
		return false;
	for (uint32_t i = 0; i < view->rings.nr_rings; i++) {
		struct px_ring ring = px_rings_get(&view->rings, i);
		uint64_t tail = px_load_acquire(&ring.control->tail);
		uint64_t used = px_read_once(&ring.control->head) - tail;
		bool can_grow = view->grows == PX_GROWS_SHARED && (int64_t)tail < 0;

		if ((used > view->limit / 2 && !can_grow) ||
		    (used > 0 && used + margin > view->limit))
			return false;
	}
	return true;
}

void px_auto_stop_end(const struct px_view *view, uint64_t state)
{
	if (px_state_of(state) == PX_STATE_AUTO_FULL && !(state & PX_STATE_ARMED))
		px_compare_exchange(&view->segment->state, state,
				    px_state_next(state, PX_STATE_STOPPED, false));
}

/* The reader. */

void px_auto_stop_queue(struct px_auto_stop *stop, uint32_t run)
{
	stop->queued = run == stop->reported ? 0 : run;
}

bool px_auto_stop_report(struct px_auto_stop *stop, uint32_t run)
{
	if (run == 0 || run == stop->reported)
		return false;
	stop->reported_before = stop->reported;
	stop->reported = run;
	return true;
}

void px_auto_stop_report_queued(struct px_auto_stop *stop)
{
	px_auto_stop_report(stop, stop->queued);
	stop->queued = 0;
}

void px_auto_stop_clear(struct px_auto_stop *stop)
{
	stop->queued = 0;
}

void px_auto_stop_save(const struct px_auto_stop *stop, bool in_hand,
		       struct px_checkpoint *checkpoint)
{
	checkpoint->stop_reported = in_hand ? stop->reported_before : stop->reported;
	checkpoint->has_last_stop = stop->has_last_stop;
}

void px_auto_stop_load(struct px_auto_stop *stop, const struct px_checkpoint *checkpoint)
{
	stop->reported = checkpoint->stop_reported;
	stop->has_last_stop = checkpoint->has_last_stop != 0;
}

/* Recovery. */

void px_auto_stop_note_last(const struct px_view *view, uint64_t state,
			    struct px_checkpoint_content *file)
{
	if (px_state_of(state) == PX_STATE_RUNNING)
		px_write_once(&file->last_stop_counter, has_stop(view, state) ? 0 : UNDATED);
}

void px_auto_stop_date_last(const struct px_view *view, struct px_checkpoint_content *file)
{
	enum px_clock_source source = (enum px_clock_source)view->rings.source;
	uint64_t state = px_load_acquire(&view->segment->state);

	if (px_state_of(state) == PX_STATE_AUTO_FULL) {
		px_exchange(&view->segment->state, state & ~PX_STATE_ARMED);
		px_write_once(&file->last_stop_counter, 0);
	} else if (px_read_once(&file->last_stop_counter) == UNDATED) {
		px_write_once(&file->last_stop_counter, px_clock_read_later(source));
	}
}

uint64_t px_auto_stop_take_last(struct px_auto_stop *stop, const struct px_checkpoint_content *file)
{
	uint64_t counter = px_read_once(&file->last_stop_counter);

	if (stop->has_last_stop)
		return 0;
	stop->has_last_stop = counter != 0;
	return counter;
}
