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

/* Record the event in each stream, in all cases. */
static PX_NOINLINE void record_any(uint32_t id, const void *data, size_t length, void *address)
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
		px_emit_nested(self, attached, event, length, cpu, px_frame_here());
		return;
	}
	while ((view = px_emit_next_view(self, &attached, event.pid))) {
		px_emit_fill_length(&event, view, length, 0);
		/* Two sequences, because the one for one slot is faster. */
		if (event.length <= PX_RECORD_FIRST_BYTES)
			px_emit(view, &event, 1, cpu);
		else
			px_emit(view, &event,
				event.length <= PX_RECORD_FEW_BYTES ? px_record_slots(event.length) : 0,
				cpu);
	}
	px_calls_end(calls);
}

/* A call that is in the usual case so far. */
struct usual {
	struct px_event event;
	struct px_cpu cpu;
	uintptr_t *calls;
};

/*
 * Begin a call in the usual case.  In any other case, do nothing and return false.  Nothing here is a function call,
 * so the compiler need not save anything, and all cases that need function calls can jump to record_any().
 */
PX_INLINE bool begin_usual(struct usual *usual, uint32_t id, const void *data, size_t length, void *address,
			   struct rseq *area)
{
	if (px_unlikely(id >= PX_EVENT_IDS || !px_eventset_has(&px_types_opened, id)))
		return false;
	usual->event = (struct px_event){.id = id, .data = data, .length = length};
	px_emit_fill_identity(&usual->event, address);
	usual->cpu = px_cpu_of(area);
	usual->calls = px_calls_begin(px_frame_here());
	return px_likely(usual->calls != NULL);
}

/* Return the view of the first of these streams; NULL: the stream has ended.  Use the view only inside a call. */
PX_INLINE const struct px_view *first_view(uint64_t attached)
{
	return px_load_acquire(&px_gate.self.view[__builtin_ctzll(attached)]);
}

/* Leave the streams out that have ended: their bits stay (P3 in process.h). */
PX_INLINE uint64_t living(uint64_t attached)
{
	uint64_t living = 0;

	for (; attached != 0; attached &= attached - 1)
		if (first_view(attached))
			living |= attached & -attached;
	return living;
}

PX_INLINE bool is_one(uint64_t attached)
{
	return attached != 0 && (attached & (attached - 1)) == 0;
}

/* Return false if the stream has ended, or if it truncates the data (EVENT-4). */
PX_INLINE bool is_usual(const struct px_view *view, const struct usual *usual)
{
	return px_likely(view && usual->event.length <= view->max_user_data);
}

/*
 * Return true if a signal handler has called fork() in this call, and this is the child.  Only the parent records the
 * event.
 */
PX_INLINE bool is_child(const struct usual *usual)
{
	return px_unlikely(px_read_once(&px_gate.self.pid) != usual->event.pid);
}

/* The stream has no ring for this CPU.  Pass a copy of the event, so that the event itself stays in registers. */
PX_INLINE bool record_shared(const struct px_view *view, const struct usual *usual)
{
	struct px_event copy = usual->event;

	px_emit_any(view, &copy, usual->cpu, &px_first_claim);
	return true;
}

/* Record the event of n slots, if one stream traces this process.  In any other case, do nothing and return false. */
PX_INLINE bool record_in_one(uint32_t id, const void *data, size_t length, void *address, struct rseq *area, uint32_t n)
{
	uint64_t attached, state, counter;
	const struct px_view *view;
	bool is_done = false;
	struct usual usual;

	if (px_unlikely(!px_process_is_current()))
		return false;
	attached = px_load_acquire(&px_gate.self.attached);
	if (px_unlikely(!is_one(attached))) {
		attached = living(attached);
		if (!is_one(attached))
			return false;
	}
	if (px_unlikely(!begin_usual(&usual, id, data, length, address, area)))
		return false;
	view = first_view(attached);
	if (px_likely(is_usual(view, &usual) && !is_child(&usual))) {
		state = px_load_acquire(&view->segment->state); /* EDGE window acquire */
		PX_TESTPOINT("point.state.loaded");
		if (px_unlikely(!px_ring_is_own(view, usual.cpu)))
			is_done = record_shared(view, &usual);
		else if (px_likely(px_check_state(view->segment, state, id)))
			is_done = px_emit_at_once(view, state, &usual.event, n, usual.cpu, &counter);
		else
			is_done = px_on_not_recording(view, state, id, usual.cpu);
	}
	px_calls_end(usual.calls);
	return px_likely(is_done) || is_child(&usual);
}

/*
 * Record the event of one slot, if two streams trace this process.  In any other case, do nothing and return false.
 * Begin with the second stream: its state and its head must be loaded before the counter of the event is read.
 */
PX_INLINE bool record_in_two(uint32_t id, const void *data, size_t length, void *address, struct rseq *area)
{
	const struct px_view *first, *second;
	struct px_earlier earlier;
	uint64_t attached, state;
	struct usual usual;

	if (px_unlikely(!px_process_is_current()))
		return false;
	attached = living(px_load_acquire(&px_gate.self.attached));
	if (px_unlikely(!is_one(attached & (attached - 1)) ||
			!begin_usual(&usual, id, data, length, address, area)))
		return false;
	first = first_view(attached);
	second = first_view(attached & (attached - 1));
	if (px_unlikely(!is_usual(first, &usual) || !is_usual(second, &usual) || is_child(&usual))) {
		px_calls_end(usual.calls);
		return is_child(&usual);
	}
	state = px_load_acquire(&second->segment->state); /* EDGE window acquire */
	px_ring_look_ahead(second, usual.cpu, &earlier);
	earlier.counter = px_emit(first, &usual.event, 1, usual.cpu);
	if (px_unlikely(earlier.counter == 0 || !px_check_state(second->segment, state, id) ||
			!px_emit_again(second, state, &usual.event, &earlier, usual.cpu)))
		px_emit(second, &usual.event, 1, usual.cpu);
	px_calls_end(usual.calls);
	return true;
}

static PX_NOINLINE void record_in_two_or_any(uint32_t id, const void *data, size_t length, void *address,
					     struct rseq *area)
{
	if (px_unlikely(!record_in_two(id, data, length, address, area)))
		record_any(id, data, length, address);
}

static PX_NOINLINE void record_short(uint32_t id, const void *data, size_t length, void *address, struct rseq *area)
{
	if (px_unlikely(!record_in_one(id, data, length, address, area, 1)))
		record_in_two_or_any(id, data, length, address, area);
}

static PX_NOINLINE void record_long(uint32_t id, const void *data, size_t length, void *address, struct rseq *area)
{
	if (px_unlikely(!data || length > PX_RECORD_FEW_BYTES ||
			!record_in_one(id, data, length, address, area, px_record_slots(length))))
		record_any(id, data, length, address);
}

/* This function saves no registers, because it ends with each of these calls. */
void px_tracepoint_event(uint32_t id, const void *data, size_t length, void *address)
{
	struct rseq *area = px_thread.area;

	if (px_unlikely(!area)) /* the event goes to a shared ring, or is the first one of the thread */
		record_any(id, data, length, address);
	else if (px_unlikely(length > PX_RECORD_FIRST_BYTES))
		record_long(id, data, length, address, area);
	else
		record_short(id, data, px_likely(data) ? length : 0, address, area); /* EVENT-15 */
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
	struct px_claiming call = px_calls_enter(px_frame_here());
	bool is_recorded = record_control(view, event, counter, px_calls_claim(call));

	px_calls_leave(call);
	return is_recorded;
}
