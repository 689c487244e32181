/* SPDX-License-Identifier: MIT */
#include "config.h"

#include "trace/tracepoint.h"

#include "ring/growth.h"
#include "trace/emit.h"
#include "trace/types.h"

/*
 * Return true if a controller has opened this type for the process (EVENT-13, TRIDOPEN-1).  System
 * event types cannot be opened.
 */
static PX_COLD bool is_granted(uint32_t id)
{
	if (id < PX_EVENT_USER_FIRST)
		return false;
	px_process_take_granted();
	return px_eventset_has(&px_types_opened, id);
}

void px_tracepoint_event(uint32_t id, const void *data, size_t length, void *address)
{
	struct px_self *self = &px_gate.self;
	const struct px_view *view;
	struct px_event event;
	uint64_t attached;
	uintptr_t *calls;
	struct px_cpu cpu;

	px_process_ensure();
	attached = px_load_acquire(&self->attached);
	if (!attached || id >= PX_EVENT_IDS)
		return;
	if (px_unlikely(!px_eventset_has(&px_types_opened, id)) && !is_granted(id))
		return;
	if (px_unlikely(!data))
		length = 0; /* EVENT-15 */
	event.id = id;
	event.flags = 0;
	event.data = data;
	event.length = length;
	px_emit_fill_identity(&event, address);
	cpu = px_emit_current_cpu();
	calls = px_calls_begin(px_frame_here());
	if (px_unlikely(!calls)) {
		px_emit_nested(self, attached, px_emit_without_thread(&event), length, cpu,
			       px_frame_here());
		return;
	}
	while ((view = px_emit_next_view(self, &attached, event.pid))) {
		px_emit_fill_length(&event, view, length, 0);
		px_emit(view, &event, cpu);
	}
	px_calls_end(calls);
}

static bool record_control(const struct px_view *view, const struct px_event *event, uint64_t *counter,
			   struct px_claim *claim)
{
	struct px_ring ring = px_rings_get(&view->rings, 0);
	uint32_t n = px_record_slots(event->length);
	uint64_t limit = view->limit ? view->geometry.nr_slots : 0;
	struct px_inquiry inquiry = px_inquiry_of(event->tid, px_procfs_has);
	struct px_reservation at;

	for (int attempts = 0; attempts < PX_EMIT_ATTEMPTS;) {
		enum px_outcome outcome = px_ring_take_shared(view, &ring, n, limit, event->tid,
							      &at, claim);

		if (outcome == PX_NO_ROOM && view->grows &&
		    px_growth_make_room(view, ring.control, n, limit))
			continue;
		if (outcome == PX_NO_ROOM) {
			at.counter = px_clock_read((enum px_clock_source)view->rings.source);
			break;
		}
		if (outcome == PX_HELD) {
			px_ring_give_up(&ring, at.position, 0);
			attempts += !px_ring_make_way(&ring, at.position, n, &inquiry);
			continue;
		}
		px_record_write(&ring, &at, n, event, view->rings.shift,
				px_emit_current_cpu().number);
		px_ring_commit(&ring, at.position, n, event->tid);
		px_emit_notify(view, &ring);
		*counter = at.counter;
		return true;
	}
	px_ring_count_given_up(&ring, at.counter);
	return false;
}

bool px_tracepoint_control(const struct px_view *view, const struct px_event *event,
			   uint64_t *counter)
{
	struct px_running call = px_calls_enter(px_frame_here());
	bool is_recorded = record_control(view, event, counter, px_calls_claim(call));

	px_calls_leave(call);
	return is_recorded;
}
