/* SPDX-License-Identifier: MIT */
/* The long way of an event: any ring, any length, and whatever is in the way. */
#include "config.h"

#include "trace/emit.h"

/* Who is disturbed as often as this, as under a debugger, goes where nobody is. */
#define DISTURBED_MAX 1000

/* The stream has stopped by itself. */
static void notify_of_stop(const struct px_view *view)
{
	if (px_wakeup_is_awaited(&view->segment->waiting))
		px_wakeup_wake(&view->segment->waiting);
}

/*
 * The event found no room: the stream stops by itself, and the loss is noted.  A program may drop more than it
 * records, so that is done where it disturbs nobody else.
 */
static void drop(const struct px_view *view, struct px_ring_control *control, uint64_t state)
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

/*
 * What the state says, where it does not simply say yes.  The set that it names may be three changes
 * old and just being written, so its word counts only while the state is the same.
 */
static enum verdict refuse(const struct px_view *view, struct px_ring_control *control,
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

bool px_emit_is_refused(const struct px_view *view, uint64_t state, uint32_t id, struct px_cpu cpu)
{
	struct px_ring ring = ring_of(view, cpu);

	return refuse(view, ring.control, state, id) == UNWANTED;
}

static enum verdict look(const struct px_view *view, struct px_ring_control *control,
			 uint64_t state, uint32_t id)
{
	if (px_likely(px_state_of(state) == PX_STATE_RUNNING &&
		      !is_filtered(view->segment, state, id)))
		return WANTED;
	return refuse(view, control, state, id);
}

void px_emit_has_filled(const struct px_view *view, uint64_t state)
{
	px_view_auto_stop(view, state);
	notify_of_stop(view);
}

/* What became of the state since the slots were reserved; nothing, as a rule. */
static enum verdict look_again(const struct px_segment *segment, uint64_t state, uint64_t counter,
			       uint32_t id)
{
	const uint64_t *word = state_behind(segment, counter);
	uint64_t now;

	/* EDGE stop acquire: behind the exchange, or the store, of head */
	while (px_unlikely((now = px_load_ordered(word)) != state)) {
		if (!px_state_is_same_window(now, state))
			return BEGIN_ANEW;
		if (!is_filtered(segment, now, id))
			state = now;
		else if (px_load_ordered(word) == now)
			return UNWANTED; /* it may stand behind FILTER (SETFILT-9) */
	}
	return WANTED;
}

static enum px_outcome take(const struct px_view *view, const struct px_ring *ring,
			    struct px_cpu cpu, uint32_t n, uint32_t tid, struct px_reservation *at)
{
	if (has_own_ring(view, cpu))
		return px_cpuring_take(ring, cpu, n, view->limit, tid, at);
	if (px_unlikely(!px_ring_reserve(ring, n, view->limit,
					 (enum px_clock_source)view->rings.source, at)))
		return PX_NO_ROOM;
	return px_ring_claim(ring, at->position, n, tid) ? PX_TAKEN : PX_HELD;
}

void px_emit(const struct px_view *view, struct px_event event, struct px_cpu cpu)
{
	uint32_t n = px_record_slots(event.length);
	struct px_segment *segment = view->segment;
	struct px_ring ring = ring_of(view, cpu);
	struct px_reservation at;
	enum verdict verdict;
	enum px_outcome taken;
	uint64_t state;

	for (int attempts = 0, disturbed = 0; attempts < CLAIM_ATTEMPTS;) {
		state = px_load_acquire(&segment->state); /* EDGE window acquire */
		PX_TESTPOINT("point.state.loaded");
		verdict = look(view, ring.control, state, event.id);
		if (px_unlikely(verdict != WANTED)) {
			if (verdict == UNWANTED)
				return;
			continue;
		}
		taken = take(view, &ring, cpu, n, event.tid, &at);
		if (px_unlikely(taken == PX_DISTURBED)) {
			cpu = current_cpu();
			if (++disturbed > DISTURBED_MAX)
				cpu.area = NULL;
			ring = ring_of(view, cpu);
			continue;
		}
		if (px_unlikely(taken == PX_NO_ROOM)) {
			drop(view, ring.control, state);
			return;
		}
		verdict = look_again(segment, state, at.counter, event.id);
		if (px_unlikely(verdict != WANTED)) {
			px_ring_give_up(&ring, at.position, taken == PX_TAKEN ? n : 0);
			if (verdict == UNWANTED)
				return;
			continue;
		}
		if (px_unlikely(taken == PX_HELD)) {
			px_ring_give_up(&ring, at.position, 0);
			attempts++;
			continue;
		}
		finish(view, &ring, &at, &event, n, state, cpu.number);
		return;
	}
	px_fetch_add(&ring.control->given_up, UINT64_C(1));
}
