/* SPDX-License-Identifier: MIT */
/*
 * One event into one stream: the part of a trace point behind the gate.  For tracepoint.c and callpoint.c, into which its
 * usual way is inlined: what both pay for each event.  Behind config.h.
 */
#ifndef PX_TRACE_EMIT_H
#define PX_TRACE_EMIT_H

#include "ring/cpuring.h"
#include "ring/segment.h"
#include "ring/wakeup.h"
#include "trace/process.h"
#include "trace/thread.h"

/* A slot that a sleeper holds is tried again elsewhere; as often as this. */
#define CLAIM_ATTEMPTS 4

/* Where this thread is, as far as its events are concerned. */
PX_INLINE struct px_cpu current_cpu(void)
{
	struct rseq *area = px_thread.area;

	return px_cpu_of(px_likely(area) ? area : px_thread_find_area());
}

/* Who records, and where. */
PX_INLINE void sign(struct px_event *event, void *address)
{
	event->address = (uint64_t)(uintptr_t)address;
	event->thread = px_thread.id;
	event->tid = px_thread.tid;
	event->handle = px_thread.handle;
	event->priority = px_thread.priority;
	event->pid = px_read_once(&px_gate.self.pid);
}

PX_INLINE bool has_own_ring(const struct px_view *view, struct px_cpu cpu)
{
	return px_likely(cpu.area && cpu.number < view->nr_own);
}

PX_INLINE uint32_t shared_ring(const struct px_rings *rings, uint32_t cpu)
{
	return px_likely(cpu < rings->nr_shared) ? cpu : cpu % rings->nr_shared;
}

/* The CPU's own ring, or the shared one that is for it. */
PX_INLINE struct px_ring own_or_shared(const struct px_rings *rings, bool own, uint32_t cpu)
{
	return px_rings_get(rings, px_likely(own) ? rings->nr_shared + cpu : shared_ring(rings, cpu));
}

/* The ring of the CPU, where it has one that we may write to. */
PX_INLINE struct px_ring ring_of(const struct px_view *view, struct px_cpu cpu)
{
	return own_or_shared(&view->rings, has_own_ring(view, cpu), cpu.number);
}

/* Somebody sleeps; whether he wants to be woken for this is up to him. */
static PX_NOINLINE void tell(const struct px_view *view, const struct px_ring *ring)
{
	uint32_t *waiting = &view->segment->waiting;

	if (px_read_once(waiting) != PX_WAITING_HALF || px_view_is_half_full(view, ring))
		px_wakeup_wake(waiting);
}

PX_INLINE void notify(const struct px_view *view, const struct px_ring *ring)
{
	/* A copy, here and below, so that the ring itself stays in registers. */
	if (px_wakeup_is_awaited(&view->segment->waiting)) {
		struct px_ring copy = *ring;

		tell(view, &copy);
	}
}

PX_INLINE bool is_filtered(const struct px_segment *segment, uint64_t state, uint32_t id)
{
	return px_eventset_has(&segment->filter[px_state_filter(state)], id);
}

/* True if behind this position a largest user event finds no room (UFULL-9). */
PX_INLINE bool has_filled(const struct px_view *view, const struct px_ring *ring, uint64_t position)
{
	/* Negative when the reader is past it already. */
	return (int64_t)(position + view->geometry.event_slots -
			 px_read_once(&ring->control->tail)) > (int64_t)view->limit;
}

/* The stream has been filled by this event. */
PX_NOINLINE void px_emit_has_filled(const struct px_view *view, uint64_t state);

/*
 * Where the state is looked at again.  Not before the counter was read, or the event could be younger than STOP:
 * behind an exchange of head that is so; else the address waits for the counter, whose top bit is 0.
 */
PX_INLINE const uint64_t *state_behind(const struct px_segment *segment, uint64_t counter)
{
	return &segment->state + (counter >> 63);
}

/* The slots are ours, and the event belongs there. */
PX_INLINE void finish(const struct px_view *view, const struct px_ring *ring,
		      const struct px_reservation *at, const struct px_event *event, uint32_t n,
		      uint64_t state, uint32_t cpu)
{
	px_record_write(ring, at, n, event, view->rings.shift, cpu);
	px_ring_commit(ring, at->position, n, event->tid);
	if (view->limit != 0 && px_unlikely(has_filled(view, ring, at->position + n)))
		px_emit_has_filled(view, state);
	notify(view, ring);
}

/* Any event, into any ring. */
void px_emit(const struct px_view *view, struct px_event event, struct px_cpu cpu);

/*
 * Whether this state of the stream refuses events of this type: if so, that is noted as far as it has to be.  For who
 * has found that it does not simply take them.
 */
bool px_emit_is_refused(const struct px_view *view, uint64_t state, uint32_t id, struct px_cpu cpu);

/*
 * The usual way: one slot, in the ring of this CPU, and nobody in the way.  False: it is not so, and nothing was
 * recorded.
 */
PX_INLINE bool emit_at_once(const struct px_view *view, uint64_t state,
			    const struct px_event *event, struct px_cpu cpu)
{
	struct px_reservation at;
	struct px_ring ring;

	if (px_unlikely(!has_own_ring(view, cpu) || event->length > PX_RECORD_FIRST_BYTES))
		return false;
	ring = ring_of(view, cpu);
	if (px_unlikely(!px_cpuring_take_one(&ring, cpu, view->limit, event->tid, &at)))
		return false;
	/* EDGE stop acquire: behind the store of head */
	if (px_unlikely(px_load_ordered(state_behind(view->segment, at.counter)) != state)) {
		struct px_ring copy = ring;

		px_ring_give_up(&copy, at.position, 1);
		return false;
	}
	finish(view, &ring, &at, event, 1, state, cpu.number);
	return true;
}

/* The event is copied only where it goes the long way: so it can stay in registers. */
PX_INLINE void emit(const struct px_view *view, const struct px_event *event, struct px_cpu cpu)
{
	uint64_t state = px_load_acquire(&view->segment->state); /* EDGE window acquire */

	PX_TESTPOINT("point.state.loaded");
	if (px_unlikely(px_state_of(state) != PX_STATE_RUNNING ||
			is_filtered(view->segment, state, event->id)) &&
	    px_emit_is_refused(view, state, event->id, cpu))
		return;
	if (px_unlikely(!emit_at_once(view, state, event, cpu)))
		px_emit(view, *event, cpu);
}

#endif
