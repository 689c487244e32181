/* SPDX-License-Identifier: MIT */
/*
 * Record one event in one stream.  A trace point does this after it has found the gate open.
 * tracepoint.c and callpoint.c inline the code for the usual case, because each event takes this
 * path.  Include config.h first.
 */
#ifndef PX_TRACE_EMIT_H
#define PX_TRACE_EMIT_H

#include "ring/record.h"
#include "ring/take.h"
#include "ring/wakeup.h"
#include "trace/check_state.h"
#include "trace/frames.h"
#include "trace/process.h"
#include "trace/thread.h"

/*
 * If a preempted thread holds a slot, the writer tries other slots.  This is the total number of attempts.  An attempt
 * does not count if the writer could free slots of dead threads after it; struct px_inquiry limits the number of such
 * attempts.  An attempt also does not count if the writer is passing a long record (px_ring_make_way()).
 */
#define PX_EMIT_ATTEMPTS 16

/* Return the CPU of the calling thread, and the thread's area for restartable sequences. */
PX_INLINE struct px_cpu px_emit_current_cpu(void)
{
	struct rseq *area = px_thread.area;

	if (px_unlikely(!area) && px_cpu_may_have_area())
		area = px_thread_find_area();
	return px_cpu_of(area);
}

PX_INLINE void px_emit_fill_thread(struct px_event *event)
{
	event->thread = px_thread.id;
	event->tid = px_thread.tid;
	event->handle = px_thread.handle;
	event->priority = px_thread.priority;
}

/* The functions that record the event fill in its thread: the usual path needs these registers before that. */
PX_INLINE void px_emit_fill_identity(struct px_event *event, void *address)
{
	event->address = (uint64_t)(uintptr_t)address;
	event->pid = px_read_once(&px_gate.self.pid);
}

/*
 * Set the flags and the length of the data.  Truncate the data to the maximum of the stream
 * (EVENT-4).  Data of calls have the same layout for each word size.
 */
PX_INLINE void px_emit_fill_length(struct px_event *event, const struct px_view *view,
				   size_t length, uint32_t flags)
{
	uint64_t limit = flags & PX_RECORD_CALL ? view->max_data : view->max_user_data;

	event->flags = flags;
	event->length = length;
	if (px_unlikely(length > limit)) {
		event->length = limit;
		event->flags |= PX_RECORD_TRUNCATED;
	}
}

/*
 * For a loop over the streams of this process: find the next stream in *attached, clear its bit, and return its view.
 * Return NULL after the last stream. pid is the pid in the event.  Call this between px_calls_begin() and
 * px_calls_end() (inside.h), or between the functions of frames.h for nested calls.
 */
PX_INLINE const struct px_view *px_emit_next_view(const struct px_self *self, uint64_t *attached,
						  uint32_t pid)
{
	for (; *attached; *attached &= *attached - 1) {
		const struct px_view *view =
			px_load_acquire(&self->view[__builtin_ctzll(*attached)]);

		if (px_unlikely(!view))
			continue; /* this stream is detached */
		/*
		 * A signal handler has called fork(), and this is the child.  Only the parent
		 * records the event.
		 */
		if (px_unlikely(px_read_once(&self->pid) != pid))
			return NULL;
		*attached &= *attached - 1;
		return view;
	}
	return NULL;
}

/*
 * Call this if the reader sleeps.  If it waits for the high-water mark, wake it up only if this ring is above it.
 * Otherwise wake it up.
 */
static PX_NOINLINE void px_emit_wake_reader(const struct px_view *view, const struct px_ring *ring)
{
	uint32_t *waiting = &view->segment->waiting;

	if (px_read_once(waiting) != PX_WAITING_HIGH || px_view_is_high(view, ring))
		px_wakeup_wake(waiting);
}

PX_INLINE void px_emit_notify(const struct px_view *view, const struct px_ring *ring)
{
	/*
	 * Pass a copy of the ring, here and in px_emit_at_once(), so that the ring itself stays in
	 * registers.
	 */
	if (px_wakeup_is_awaited(&view->segment->waiting)) {
		struct px_ring copy = *ring;

		px_emit_wake_reader(view, &copy);
	}
}

/*
 * Return true if the ring has no room after this position for a user event of the largest size
 * (UFULL-9).
 */
PX_INLINE bool px_emit_has_filled(const struct px_view *view, const struct px_ring *ring,
				  uint64_t position)
{
	/* The difference is negative if the reader's tail has already passed the position. */
	return (int64_t)(position + view->geometry.event_slots -
			 px_read_once(&ring->control->tail)) > (int64_t)view->limit;
}

/* Write the event into n slots that this thread has claimed, and publish it. */
PX_INLINE void px_emit_finish(const struct px_view *view, const struct px_ring *ring,
			      const struct px_reservation *at, const struct px_event *event,
			      uint32_t n, uint64_t state, uint32_t cpu)
{
	px_record_write(ring, at, n, event, view->rings.shift, cpu);
	px_ring_commit(ring, at->position, n, event->tid);
	if (view->limit != 0 && px_unlikely(px_emit_has_filled(view, ring, at->position + n)))
		px_on_filled(view, ring->control, state);
	px_emit_notify(view, ring);
}

/* Record an event if the stream wants it: any length of data, in any ring.  Fill in the thread of the event. */
void px_emit_any(const struct px_view *view, struct px_event *event, struct px_cpu cpu,
		 struct px_claim *claim);

/*
 * Record an event in each attached stream, while another call of this thread has begun and not ended.  `address` is the
 * address of this call's stack frame.
 */
PX_COLD void px_emit_nested(const struct px_self *self, uint64_t attached, struct px_event event, size_t length,
			    struct px_cpu cpu, uintptr_t address);

/* Write the event into slots that were taken in the usual case.  Return false if the state has changed. */
PX_INLINE bool px_emit_write(const struct px_view *view, uint64_t state, const struct px_event *event, uint32_t n,
			     uint32_t tid, struct px_cpu cpu, const struct px_ring *ring,
			     const struct px_reservation *at)
{
	struct px_event whole = *event;

	if (px_unlikely(!px_state_is_unchanged(view->segment, state))) {
		struct px_ring copy = *ring;

		px_ring_give_up(&copy, at->position, n);
		return false;
	}
	px_emit_fill_thread(&whole);
	whole.tid = tid;
	px_emit_finish(view, ring, at, &whole, n, state, cpu.number);
	return true;
}

/*
 * Record the event in the usual case: this thread can take the next n slots of the CPU's own ring.  In any other case,
 * record nothing and return false.
 */
PX_INLINE bool px_emit_at_once(const struct px_view *view, uint64_t state, const struct px_event *event,
			       uint32_t n, struct px_cpu cpu, uint64_t *counter)
{
	const uint32_t tid = px_thread.tid;
	struct px_reservation at;
	struct px_ring ring;

	if (px_unlikely(!px_ring_take_few(view, cpu, n, tid, &ring, &at)))
		return false;
	*counter = at.counter;
	return px_emit_write(view, state, event, n, tid, cpu, &ring, &at);
}

/* The same for the second stream of an event with one slot, with its counter in the first stream. */
PX_INLINE bool px_emit_again(const struct px_view *view, uint64_t state, const struct px_event *event,
			     const struct px_earlier *earlier, struct px_cpu cpu)
{
	const uint32_t tid = px_thread.tid;
	struct px_reservation at;
	struct px_ring ring;

	return px_ring_take_again(view, cpu, tid, earlier, &ring, &at) &&
	       px_emit_write(view, state, event, 1, tid, cpu, &ring, &at);
}

#define PX_RECORD_FEW_BYTES (PX_RECORD_FIRST_BYTES + (PX_CPURING_FEW - 1) * PX_RECORD_MORE_BYTES)

/*
 * Record the event of n slots if the stream wants it, in a call that is the first one of this thread
 * (px_calls_begin()).  If n is 0, leave the event to px_emit_any().  Return its counter, or 0 if it was not recorded in
 * the usual case.  Pass only a copy of the event to px_emit_any(), so that the event itself can stay in registers.
 */
PX_INLINE uint64_t px_emit(const struct px_view *view, const struct px_event *event, uint32_t n, struct px_cpu cpu)
{
	struct px_event copy;
	uint64_t state, counter;

	if (px_likely(n != 0 && px_ring_is_own(view, cpu))) {
		state = px_load_acquire(&view->segment->state); /* EDGE window acquire */
		PX_TESTPOINT("point.state.loaded");
		if (px_unlikely(!px_check_state(view->segment, state, event->id)) &&
		    px_on_not_recording(view, state, event->id, cpu))
			return 0;
		if (px_likely(px_emit_at_once(view, state, event, n, cpu, &counter)))
			return counter;
	}
	copy = *event;
	px_emit_any(view, &copy, cpu, &px_first_claim);
	return 0;
}

#endif
