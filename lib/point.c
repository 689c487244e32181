/* SPDX-License-Identifier: MIT */
#include "config.h"

#include "point.h"

#include <sched.h>
#if HAVE_RSEQ_ABI
#include <sys/rseq.h>
#endif

#include "types.h"
#include "wait.h"

/* A slot that a sleeper holds is tried again elsewhere; as often as this. */
#define CLAIM_ATTEMPTS 4

/* A wrong number costs contention, never correctness. */
PX_INLINE uint32_t current_cpu(void)
{
	int cpu;

#if HAVE_RSEQ_ABI
	if (px_likely(__rseq_size > 0)) {
		const struct rseq *area =
			(const struct rseq *)((const char *)__builtin_thread_pointer() +
					      __rseq_offset);

		cpu = (int)px_read_once(&area->cpu_id);
		if (px_likely(cpu >= 0))
			return (uint32_t)cpu;
	}
#endif
	cpu = sched_getcpu();
	return cpu < 0 ? 0 : (uint32_t)cpu;
}

PX_INLINE uint32_t ring_of(const struct px_view *view, uint32_t cpu)
{
	return px_likely(cpu < view->rings.nr_rings) ? cpu : cpu % view->rings.nr_rings;
}

/* Somebody sleeps; whether he wants to be woken for this is up to him. */
static PX_COLD void tell(const struct px_view *view, const struct px_ring *ring)
{
	uint32_t *waiting = &view->segment->waiting;

	if (px_read_once(waiting) != PX_WAITING_HALF || px_view_is_half_full(view, ring))
		px_wait_wake(waiting);
}

PX_INLINE void notify(const struct px_view *view, const struct px_ring *ring)
{
	if (px_wait_is_awaited(&view->segment->waiting))
		tell(view, ring);
}

/* The stream has stopped by itself. */
static void notify_of_stop(const struct px_view *view)
{
	if (px_wait_is_awaited(&view->segment->waiting))
		px_wait_wake(&view->segment->waiting);
}

/* The event found no room: the stream stops by itself, and the loss is noted. */
static PX_COLD void drop(const struct px_view *view, uint64_t state)
{
	struct px_segment *segment = view->segment;

	px_view_auto_stop(view, state);
	px_compare_exchange(&segment->first_dropped, UINT64_C(0),
			    px_clock_read((enum px_clock_source)view->rings.source));
	px_fetch_add(&segment->dropped, UINT64_C(1));
	PX_TESTPOINT("point.drop.counted");
	notify_of_stop(view);
}

enum verdict {
	WANTED,
	UNWANTED,
	BEGIN_ANEW /* the state moved while we looked */
};

PX_INLINE bool is_filtered(const struct px_segment *segment, uint64_t state, uint32_t id)
{
	return px_eventset_has(&segment->filter[px_state_filter(state)], id);
}

/*
 * What the state says, where it does not simply say yes.  The set that it names may be three changes
 * old and just being written, so its word counts only while the state is the same.
 */
static PX_COLD enum verdict refuse(const struct px_view *view, uint64_t state, uint32_t id)
{
	bool filtered = is_filtered(view->segment, state, id);

	px_read_fence();
	if (px_load_acquire(&view->segment->state) != state)
		return BEGIN_ANEW;
	/* EVENT-12: a stream that is full takes note of it; UFULL-12: not of what is filtered */
	if (!filtered && px_state_of(state) == PX_STATE_AUTO_FULL)
		drop(view, state);
	return UNWANTED;
}

PX_INLINE enum verdict look(const struct px_view *view, uint64_t state, uint32_t id)
{
	if (px_likely(px_state_of(state) == PX_STATE_RUNNING &&
		      !is_filtered(view->segment, state, id)))
		return WANTED;
	return refuse(view, state, id);
}

static PX_COLD void record_is_full(const struct px_view *view, uint64_t state)
{
	px_view_auto_stop(view, state);
	notify_of_stop(view);
}

/* What became of the state since the slots were reserved; nothing, as a rule. */
PX_INLINE enum verdict look_again(const struct px_segment *segment, uint64_t state, uint32_t id)
{
	uint64_t now;

	/* EDGE stop acquire: behind the exchange of head */
	while (px_unlikely((now = px_load_ordered(&segment->state)) != state)) {
		if (!px_state_is_same_window(now, state))
			return BEGIN_ANEW;
		if (!is_filtered(segment, now, id))
			state = now;
		else if (px_load_ordered(&segment->state) == now)
			return UNWANTED; /* it may stand behind FILTER (SETFILT-9) */
	}
	return WANTED;
}

/* True if behind this position a largest user event finds no room (UFULL-9). */
PX_INLINE bool has_filled(const struct px_view *view, const struct px_ring *ring, uint64_t position)
{
	/* Negative when the reader is past it already. */
	return (int64_t)(position + view->geometry.event_slots -
			 px_read_once(&ring->control->tail)) > (int64_t)view->limit;
}

PX_INLINE void emit(const struct px_view *view, const struct px_event *event, uint32_t cpu)
{
	struct px_segment *segment = view->segment;
	struct px_ring ring = px_rings_get(&view->rings, ring_of(view, cpu));
	uint32_t n = px_record_slots(event->length);
	struct px_reservation at;
	enum verdict verdict;
	uint64_t state;
	bool claimed;

	for (int attempts = 0; attempts < CLAIM_ATTEMPTS;) {
		state = px_load_acquire(&segment->state); /* EDGE window acquire */
		PX_TESTPOINT("point.state.loaded");
		verdict = look(view, state, event->id);
		if (px_unlikely(verdict != WANTED)) {
			if (verdict == UNWANTED)
				return;
			continue;
		}
		if (px_unlikely(!px_ring_reserve(&ring, n, view->limit,
						 (enum px_clock_source)view->rings.source, &at))) {
			drop(view, state);
			return;
		}
		claimed = px_ring_claim(&ring, at.position, n, event->tid);
		verdict = look_again(segment, state, event->id);
		if (px_unlikely(verdict != WANTED)) {
			px_ring_give_up(&ring, at.position, claimed ? n : 0);
			if (verdict == UNWANTED)
				return;
			continue;
		}
		if (px_unlikely(!claimed)) {
			px_ring_give_up(&ring, at.position, 0);
			attempts++;
			continue;
		}
		px_record_write(&ring, &at, n, event, view->rings.shift, cpu);
		px_ring_commit(&ring, at.position, n, event->tid);
		if (view->limit != 0 && px_unlikely(has_filled(view, &ring, at.position + n)))
			record_is_full(view, state);
		notify(view, &ring);
		return;
	}
	px_fetch_add(&ring.control->given_up, UINT64_C(1));
}

void px_point_event(uint32_t id, const void *data, size_t length, void *address)
{
	struct px_self *self = &px_gate.self;
	struct px_event event;
	uint64_t attached;
	uint32_t cpu;

	px_process_ensure();
	attached = px_load_acquire(&self->attached);
	if (!attached || id >= PX_EVENT_IDS || !px_eventset_has(&px_types_opened, id))
		return;
	if (px_unlikely(!data))
		length = 0; /* EVENT-15 */
	event.id = id;
	event.address = (uint64_t)(uintptr_t)address;
	event.data = data;
	event.thread = px_thread.id;
	event.tid = px_thread.tid;
	event.handle = px_thread.handle;
	event.priority = px_thread.priority;
	event.pid = px_read_once(&self->pid);
	cpu = current_cpu();
	for (; attached; attached &= attached - 1) {
		const struct px_view *view =
			px_load_acquire(&self->view[__builtin_ctzll(attached)]);

		if (px_unlikely(!view))
			continue; /* detached meanwhile */
		event.flags = 0;
		event.length = length;
		if (px_unlikely(length > view->max_data)) {
			event.length = view->max_data; /* EVENT-4: decided per stream */
			event.flags = PX_RECORD_TRUNCATED;
		}
		emit(view, &event, cpu);
	}
}

bool px_point_control(const struct px_view *view, const struct px_event *event, uint64_t *counter)
{
	struct px_ring ring = px_rings_get(&view->rings, 0);
	uint32_t n = px_record_slots(event->length);
	uint64_t limit = view->limit ? view->geometry.nr_slots : 0;
	struct px_reservation at;

	for (int attempts = 0; attempts < CLAIM_ATTEMPTS; attempts++) {
		if (!px_ring_reserve(&ring, n, limit, (enum px_clock_source)view->rings.source,
				     &at))
			break;
		if (!px_ring_claim(&ring, at.position, n, event->tid)) {
			px_ring_give_up(&ring, at.position, 0);
			continue;
		}
		px_record_write(&ring, &at, n, event, view->rings.shift, current_cpu());
		px_ring_commit(&ring, at.position, n, event->tid);
		notify(view, &ring);
		*counter = at.counter;
		return true;
	}
	px_fetch_add(&ring.control->given_up, UINT64_C(1));
	return false;
}
