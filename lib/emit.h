/* SPDX-License-Identifier: MIT */
/*
 * One event into one stream: the part of a trace point behind the gate.  For point.c and callpoint.c alone, into which
 * it is inlined: what both pay for each event.  Behind config.h.
 */
#ifndef PX_EMIT_H
#define PX_EMIT_H

#include <sched.h>
#if defined(HAVE_RSEQ_ABI) && HAVE_RSEQ_ABI
#include <sys/rseq.h>
#endif

#include "segment.h"
#include "wait.h"

/* A slot that a sleeper holds is tried again elsewhere; as often as this. */
#define CLAIM_ATTEMPTS 4

/* A wrong number costs contention, never correctness. */
PX_INLINE uint32_t current_cpu(void)
{
	int cpu;

#if defined(HAVE_RSEQ_ABI) && HAVE_RSEQ_ABI
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

/*
 * The event found no room: the stream stops by itself, and the loss is noted.  A program may drop more than it records, so
 * that is done where it disturbs nobody else.
 */
static PX_COLD void drop(const struct px_view *view, struct px_ring_control *control,
			 uint64_t state)
{
	uint64_t *first = &view->segment->first_dropped;

	px_view_auto_stop(view, state);
	if (px_read_once(first) == 0)
		px_compare_exchange(first, UINT64_C(0),
				    px_clock_read((enum px_clock_source)view->rings.source));
	px_fetch_add(&control->dropped, UINT64_C(1));
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
static PX_COLD enum verdict refuse(const struct px_view *view, struct px_ring_control *control,
				   uint64_t state, uint32_t id)
{
	bool filtered = is_filtered(view->segment, state, id);

	px_read_fence();
	if (px_load_acquire(&view->segment->state) != state)
		return BEGIN_ANEW;
	/* EVENT-12: a stream that is full takes note of it; UFULL-12: not of what is filtered */
	if (!filtered && px_state_of(state) == PX_STATE_AUTO_FULL)
		drop(view, control, state);
	return UNWANTED;
}

PX_INLINE enum verdict look(const struct px_view *view, struct px_ring_control *control,
			    uint64_t state, uint32_t id)
{
	if (px_likely(px_state_of(state) == PX_STATE_RUNNING &&
		      !is_filtered(view->segment, state, id)))
		return WANTED;
	return refuse(view, control, state, id);
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

/* Into this ring, that of the CPU; n is px_record_slots(event->length), a constant where that is one. */
PX_INLINE void emit_into(const struct px_view *view, struct px_ring ring,
			 const struct px_event *event, uint32_t n, uint32_t cpu)
{
	struct px_segment *segment = view->segment;
	struct px_reservation at;
	enum verdict verdict;
	uint64_t state;
	bool claimed;

	for (int attempts = 0; attempts < CLAIM_ATTEMPTS;) {
		state = px_load_acquire(&segment->state); /* EDGE window acquire */
		PX_TESTPOINT("point.state.loaded");
		verdict = look(view, ring.control, state, event->id);
		if (px_unlikely(verdict != WANTED)) {
			if (verdict == UNWANTED)
				return;
			continue;
		}
		if (px_unlikely(!px_ring_reserve(&ring, n, view->limit,
						 (enum px_clock_source)view->rings.source, &at))) {
			drop(view, ring.control, state);
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

PX_INLINE void emit(const struct px_view *view, const struct px_event *event, uint32_t cpu)
{
	emit_into(view, px_rings_get(&view->rings, ring_of(view, cpu)), event,
		  px_record_slots(event->length), cpu);
}

#endif
