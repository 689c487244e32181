/* SPDX-License-Identifier: MIT */
/*
 * Record an event in the cases that px_emit_at_once() does not handle: a shared ring, more
 * than PX_CPURING_FEW slots, a slot that another thread holds, or a state that changes.
 */
#include "config.h"

#include "trace/emit.h"

#include "ring/growth.h"

void px_emit_any(const struct px_view *view, struct px_event *event, struct px_cpu cpu,
		 struct px_claim *claim)
{
	uint32_t n = px_record_slots(event->length);
	struct px_segment *segment = view->segment;
	struct px_reservation at;
	struct px_inquiry inquiry = px_inquiry_of(px_thread.tid, px_procfs_has);
	enum px_outcome outcome;
	enum px_verdict verdict;
	struct px_ring ring;
	uint64_t state;

	px_emit_fill_thread(event);
	for (int attempts = 0;;) {
		state = px_load_acquire(&segment->state); /* EDGE window acquire */
		PX_TESTPOINT("point.state.loaded");
		if (px_unlikely(!px_check_state(segment, state, event->id))) {
			if (px_on_not_recording(view, state, event->id, cpu))
				return;
			continue;
		}
		outcome = px_ring_take(view, &cpu, n, event->tid, &ring, &at, claim);
		if (px_unlikely(outcome == PX_NO_ROOM)) {
			if (view->grows && px_growth_make_room(view, ring.control, n, view->limit))
				continue;
			px_on_no_room(view, &ring, state);
			return;
		}
		verdict = px_state_is_unchanged(segment, state) ?
				  PX_WANTED :
				  px_recheck_state(segment, state, event->id);
		if (px_likely(verdict == PX_WANTED && outcome == PX_TAKEN)) {
			px_emit_finish(view, &ring, &at, event, n, state, cpu.number);
			return;
		}
		px_ring_give_up(&ring, at.position, outcome == PX_TAKEN ? n : 0);
		if (verdict == PX_UNWANTED)
			return;
		if (verdict == PX_WANTED && !px_ring_make_way(&ring, at.position, n, &inquiry) &&
		    ++attempts == PX_EMIT_ATTEMPTS)
			break;
	}
	px_ring_count_given_up(&ring, at.counter);
}

void px_emit_nested(const struct px_self *self, uint64_t attached, struct px_event event, size_t length,
		    struct px_cpu cpu, uintptr_t address)
{
	struct px_claiming call = px_calls_enter_nested(address);
	const uint32_t flags = event.flags;
	const struct px_view *view;

	while ((view = px_emit_next_view(self, &attached, event.pid))) {
		px_emit_fill_length(&event, view, length, flags);
		px_emit_any(view, &event, cpu, px_calls_claim(call));
	}
	px_calls_leave_nested(call);
}
