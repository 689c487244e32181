/* SPDX-License-Identifier: MIT */
#include "ring/ring.h"

#include "base/confined.h"

#define ASKED_MAX 1024 /* at most this many threads have claims in a ring, except in hostile memory */

/* The link-time optimizer does not see that assembly code uses it. */
__attribute__((used)) __thread struct px_claim px_first_claim PX_TLS;

#ifdef PX_TESTPOINTS
void (*px_testpoint_hook)(const char *name);
#endif

void px_ring_init(const struct px_ring *ring)
{
	px_txtb_header_init(px_ring_image(ring), PX_TXTB_LIVE_OBJECTS, PX_TXTB_NAME_SIZE,
			    ring->mask + 1);
}

/*
 * If no record begins at tail, the first record after tail is the first lost record.  Search only the next 64 slots,
 * which writers can overwrite soon.  If the first record is later, a writer that comes near it calls this function
 * again.
 */
void px_ring_save_first_lost(const struct px_ring *ring, uint64_t tail)
{
	for (uint64_t p = tail; p != tail + 64 && p != tail + ring->mask + 1; p++) {
		const struct px_slot *slot = &ring->slots[p & ring->mask];
		uint64_t word = px_load_acquire(&slot->word);

		if (px_word_ahead_of(word, p) != 0 || px_word_state(word) == PX_SLOT_FREE ||
		    px_word_state(word) == PX_SLOT_CLAIMED)
			return; /* the slot is not written yet, or a writer has saved the counter and overwritten it */
		if (px_word_state(word) != PX_SLOT_HEAD)
			continue;
		px_raise_to(&ring->control->first_lost, px_read_once(&slot->counter));
		PX_TESTPOINT("ring.lost.saved"); /* EDGE lost release: the exchange above */
		return;
	}
}

/* If this function fails, it must leave no slot claimed: writers of later laps could not claim such a slot. */
bool px_ring_claim_many(const struct px_ring *ring, uint64_t position, uint32_t n, uint32_t tid)
{
	uint32_t i;

	for (i = 0; i < n; i++)
		if (px_unlikely(!px_ring_claim_one(ring, position + i, tid)))
			break;
	if (px_likely(i == n))
		return true;
	px_ring_void(ring, position, i);
	for (; i < n; i++) {
		if (px_ring_claim_one(ring, position + i, tid))
			px_ring_void(ring, position + i, 1);
		else
			px_ring_skip(ring, position + i);
	}
	return false;
}

/*
 * Another thread owns the slot, so record in the control page that this writer skips it.  If two positions share an
 * element of `skipped`, the second one overwrites the first one.  Then the reader waits at the first position until its
 * timeout.
 */
void px_ring_skip(const struct px_ring *ring, uint64_t position)
{
	px_write_once(&ring->control->skipped[position % PX_RING_SKIPS], position + 1);
	PX_TESTPOINT("ring.skip.done");
}

/*
 * Make the slots void before `extra` counts the first one (R7).  Other code frees the claims of dead threads and of
 * calls that were left.  With this order, that code never finds a claim that `extra` counts already.  If a writer ends
 * between the two steps, the reader counts one lost event.
 */
void px_ring_give_up(const struct px_ring *ring, uint64_t position, uint32_t nr_claimed)
{
	px_ring_void(ring, position, nr_claimed);
	px_fetch_add(&ring->control->extra, UINT64_C(1));
}

void px_ring_mark_loss(const struct px_ring *ring, uint64_t counter)
{
	struct px_ring_control *control = ring->control;

	px_exchange(&control->mark[px_fetch_add(&control->nr_marks, UINT64_C(1)) % PX_RING_MARKS], counter);
	PX_TESTPOINT("ring.given.marked");
	px_fetch_add(&control->nr_marked, UINT64_C(1)); /* EDGE given release */
}

void px_ring_count_given_up(const struct px_ring *ring, uint64_t counter)
{
	px_fetch_add(&ring->control->given_up, UINT64_C(1));
	px_ring_mark_loss(ring, counter);
}

void px_ring_void(const struct px_ring *ring, uint64_t position, uint32_t n)
{
	for (uint32_t i = 0; i < n; i++) {
		px_store_release(&ring->slots[(position + i) & ring->mask].word,
				 px_word(position + i, 0, PX_SLOT_VOID));
		PX_TESTPOINT("ring.void.done");
	}
}

enum px_look px_ring_look(const struct px_ring *ring, uint64_t position, uint64_t head,
			  uint64_t *word)
{
	int64_t ahead;

	if (position == head)
		return PX_LOOK_EMPTY;
	/* EDGE commit acquire */
	*word = px_load_acquire(&ring->slots[position & ring->mask].word);
	ahead = px_word_state(*word) == PX_SLOT_FREE ? -1 : px_word_ahead_of(*word, position);
	if (ahead > 0)
		return PX_LOOK_LAPPED;
	if (ahead < 0)
		return px_read_once(&ring->control->skipped[position % PX_RING_SKIPS]) ==
				       position + 1 ?
			       PX_LOOK_NOTHING :
			       PX_LOOK_UNCLAIMED;
	switch (px_word_state(*word)) {
	case PX_SLOT_HEAD:
		return PX_LOOK_RECORD;
	case PX_SLOT_CLAIMED:
		return PX_LOOK_CLAIMED;
	default:
		return PX_LOOK_NOTHING;
	}
}

uint64_t px_ring_oldest(const struct px_ring *ring, uint64_t head, uint32_t margin)
{
	uint64_t position = head - (ring->mask + 1) + margin;
	uint64_t word;

	while (position != head && px_ring_look(ring, position, head, &word) != PX_LOOK_RECORD)
		position++;
	return position;
}

/* The slot may still have the word of an older record.  No reader needs that record: it is overwritten or consumed. */
bool px_ring_revoke(const struct px_ring *ring, uint64_t position)
{
	uint64_t *word = &ring->slots[position & ring->mask].word;
	uint64_t seen = px_read_once(word);

	if (px_word_state(seen) == PX_SLOT_CLAIMED ||
	    (px_word_state(seen) != PX_SLOT_FREE && px_word_ahead_of(seen, position) >= 0))
		return false;
	return px_compare_exchange(word, seen, px_word(position, 0, PX_SLOT_VOID));
}

uint64_t px_ring_reclaim(const struct px_ring *ring, uint64_t position, uint64_t head)
{
	uint64_t *word = &ring->slots[position & ring->mask].word;
	uint64_t seen = px_read_once(word);
	uint32_t tid = px_word_tid(seen);

	/* A record has one owner, and its slots are claimed in order: stop at the first slot with another owner. */
	while (position != head && px_word_tid(seen) == tid && px_word_ahead_of(seen, position) == 0 &&
	       (px_word_state(seen) == PX_SLOT_CLAIMED || px_word_state(seen) == PX_SLOT_MORE)) {
		if (px_word_state(seen) == PX_SLOT_CLAIMED)
			px_compare_exchange(word, seen, px_word(position, tid, PX_SLOT_VOID));
		position++;
		word = &ring->slots[position & ring->mask].word;
		seen = px_read_once(word);
	}
	return position;
}

uint32_t px_ring_reclaim_all(const struct px_ring *ring, px_procfs_asked *alive)
{
	uint32_t nr_freed = 0, asked = 0, tid = 0;
	bool is_alive = false;

	for (uint32_t i = 0; i <= ring->mask && asked <= ASKED_MAX; i++) {
		uint64_t *word = &ring->slots[i].word;
		uint64_t head = px_load_acquire(&ring->control->head);
		uint64_t seen = px_read_once(word);

		/*
		 * Do not touch claims at or above head: there a thread may claim the same position again, with the same
		 * word (C2 in cpuring.h).
		 */
		if (px_word_state(seen) != PX_SLOT_CLAIMED || px_word_ahead_of(seen, head) >= 0)
			continue;
		asked += asked == 0 || px_word_tid(seen) != tid;
		/* Do not keep the answer "dead" for the next slot: a new thread may have this tid now (R6). */
		if (!is_alive || px_word_tid(seen) != tid)
			is_alive = alive(px_word_tid(seen));
		tid = px_word_tid(seen);
		if (is_alive)
			continue;
		/* The void word keeps the position of the claim: no reader takes the slot for a record. */
		if (px_compare_exchange(word, seen, (seen & ~(uint64_t)7) | PX_SLOT_VOID))
			nr_freed++;
	}
	return nr_freed;
}

#define CHUNK_SLOTS 64

static bool is_claimed_below(uint64_t word, uint64_t head)
{
	return px_word_state(word) == PX_SLOT_CLAIMED && px_word_ahead_of(word, head) < 0;
}

static bool is_dead(struct px_inquiry *inquiry, uint32_t tid)
{
	if (tid == inquiry->alive_tid || inquiry->nr_left == 0 || px_is_confined())
		return false;
	inquiry->nr_left--;
	PX_TESTPOINT("ring.way.asked");
	if (!inquiry->is_alive(tid))
		return true;
	inquiry->alive_tid = tid;
	return false;
}

/*
 * Return false if a slot has a living owner, and set *held to its word.  All words are loaded before the first
 * question.  So if the owner of one slot is dead, all slots with its tid belong to that dead thread, and not to a new
 * thread with the same tid (R6).  Below head a thread cannot claim the same position again (C2 in cpuring.h), so the
 * exchange finds exactly the claim that was seen.
 */
static bool free_chunk(const struct px_ring *ring, uint64_t from, uint32_t n, struct px_inquiry *inquiry,
		       uint32_t *nr_freed, uint64_t *held)
{
	uint64_t head = px_load_acquire(&ring->control->head);
	uint64_t seen[CHUNK_SLOTS];

	for (uint32_t i = 0; i < n; i++)
		seen[i] = px_read_once(&ring->slots[(from + i) & ring->mask].word);
	for (uint32_t i = 0; i < n;) {
		uint32_t tid = px_word_tid(seen[i]);

		if (!is_claimed_below(seen[i], head)) {
			i++;
			continue;
		}
		if (!is_dead(inquiry, tid)) {
			*held = seen[i];
			return false;
		}
		for (; i < n; i++) {
			if (!is_claimed_below(seen[i], head))
				continue;
			if (px_word_tid(seen[i]) != tid)
				break;
			PX_TESTPOINT("ring.way.dead");
			if (px_compare_exchange(&ring->slots[(from + i) & ring->mask].word, seen[i],
						(seen[i] & ~(uint64_t)7) | PX_SLOT_VOID))
				++*nr_freed;
		}
	}
	return true;
}

static uint32_t free_dead(const struct px_ring *ring, uint64_t from, uint32_t n, struct px_inquiry *inquiry,
			  uint64_t *held)
{
	uint32_t nr_freed = 0;

	*held = 0;
	for (uint32_t i = 0; i < n; i += CHUNK_SLOTS)
		if (!free_chunk(ring, from + i, n - i < CHUNK_SLOTS ? n - i : CHUNK_SLOTS, inquiry,
				&nr_freed, held))
			break;
	return nr_freed;
}

/*
 * Return true if both words are claims of the same thread, and the second claim has the later position.  Claims of one
 * thread are less than a lap apart.  So after at most one lap, the answer is false.
 */
static bool is_further(uint64_t first, uint64_t second)
{
	const uint64_t position = second >> PX_WORD_POSITION_SHIFT;

	return first != 0 && second != 0 && px_word_tid(first) == px_word_tid(second) &&
	       px_word_ahead_of(first, position) < 0;
}

/*
 * Free the slots of the failed attempt first.  Until the held slot there is free, other threads must skip it in each
 * lap.  The next attempt takes slots from head on.
 */
bool px_ring_make_way(const struct px_ring *ring, uint64_t position, uint32_t n, struct px_inquiry *inquiry)
{
	uint64_t first, second;
	uint32_t nr_freed = free_dead(ring, position, n, inquiry, &first);

	nr_freed += free_dead(ring, px_read_once(&ring->control->head), n, inquiry, &second);
	return nr_freed > 0 || is_further(first, second);
}

/* Return true if this thread had claimed the slot.  If so, the slot is void now. */
static bool free_own(uint64_t *word, uint64_t position, uint32_t tid)
{
	bool freed = px_compare_exchange(word, px_word(position, tid, PX_SLOT_CLAIMED),
					 px_word(position, 0, PX_SLOT_VOID));

	PX_TESTPOINT("ring.left.slot");
	return freed;
}

/* The caller blocks signals, so no signal handler runs this function at the same time. */
static void free_partly_claimed(const struct px_ring *ring, const struct px_claim *claim, uint32_t tid)
{
	for (uint32_t i = 0; i < claim->nr_slots; i++) {
		uint64_t position = claim->position + i;
		uint64_t *word = &ring->slots[position & ring->mask].word;
		uint64_t seen = px_read_once(word);

		if (px_word_state(seen) != PX_SLOT_FREE && px_word_ahead_of(seen, position) >= 0)
			free_own(word, position, tid);
		else if (px_ring_claim_one(ring, position, tid))
			px_ring_void(ring, position, 1);
		else
			px_ring_skip(ring, position);
	}
}

/*
 * Return true if the first slot became free.
 *
 * nr_slots of the claim may be too large.  So stop at the first slot that has an older position, or that begins a
 * committed record.  A slot with a newer position was committed or void when the writer was left, and other writers
 * have overwritten it, but perhaps not the slots behind it.  Stop also at head, because a claim at or above head is
 * left over from an unfinished sequence (C2).  In the ring of a CPU, a slot below head with an older word was held when
 * a sequence reached it.  No writer will claim this slot.  A handler may have left the writer before the writer
 * recorded that, so record it here.
 */
static bool free_claimed(const struct px_ring *ring, const struct px_claim *claim, uint32_t tid, bool is_own)
{
	uint64_t head = px_load_acquire(&ring->control->head);
	bool is_free = false;

	for (uint32_t i = 0; i <= ring->mask && (i == 0 || i < claim->nr_slots); i++) {
		uint64_t position = claim->position + i;
		uint64_t *word = &ring->slots[position & ring->mask].word;
		uint64_t seen = px_read_once(word);
		enum px_slot_state state = px_word_state(seen);

		if ((int64_t)(head - position) <= 0)
			return is_free;
		if (state == PX_SLOT_FREE || px_word_ahead_of(seen, position) < 0) {
			if (is_own)
				px_ring_skip(ring, position);
			return is_free;
		}
		if (px_word_ahead_of(seen, position) > 0)
			continue;
		if (state == PX_SLOT_HEAD)
			return is_free;
		if (free_own(word, position, tid) && i == 0)
			is_free = true;
	}
	return is_free;
}

/* The event will not become a record, so `extra` also counts its first slot (R7): once, even if it has two claims. */
void px_ring_free_left(const struct px_ring *ring, const struct px_claim *claim, uint32_t tid, bool is_own)
{
	const struct px_claim kept = {.position = claim->kept_position, .nr_slots = claim->nr_slots};
	bool is_free = claim->kept == ring->control && free_claimed(ring, &kept, tid, is_own);

	if (claim->unclaimed == ring->control) {
		free_partly_claimed(ring, claim, tid);
		is_free = true;
	} else {
		is_free |= free_claimed(ring, claim, tid, is_own);
	}
	if (is_free)
		px_fetch_add(&ring->control->extra, UINT64_C(1));
}
