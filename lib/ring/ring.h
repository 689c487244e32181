/* SPDX-License-Identifier: MIT */
/*
 * A ring of event slots in shared memory.  Any number of threads, processes and signal handlers write to it without a
 * lock.  One reader reads it.
 *
 * Memory of a ring, from a page boundary:
 *
 *	control		px_ring_control, one page
 *	image		TXTB header, object registry, one 32-byte entry a slot (txtb.h)
 *	slots		px_slot, 48 bytes a slot: its owner, and what TXTB has no room for
 *
 * A *position* is a free-running 64-bit count of slots.  The slot index is position mod nr_slots, and
 * nr_slots is a power of two.  The positions in [tail, head) are reserved and not yet consumed.  In a
 * ring that loops, head may be more than nr_slots beyond tail: the ring is *lapped*.
 * Positions and counters may wrap, so compare only their differences.
 *
 * A writer records n slots in four steps:
 *
 *	reserve		head: h -> h + n by compare-exchange.  The writer reads the clock's counter between its load
 *			of head and the exchange, so counters never fall along the ring.
 *	claim		each slot word -> {position, CLAIMED, tid}, unless the word is CLAIMED or has a newer
 *			position.  If a slot cannot be claimed, the writer makes the other slots VOID, records that
 *			slot in `skipped`, and reserves new slots.
 *	write		entries and slots, by plain stores
 *	commit		words of the further slots -> {position, MORE}, then the first word -> {position, HEAD}
 *
 * This is how shared rings work, to which threads on any CPU may write.  A ring that belongs to one CPU has other code
 * for reserve and claim, with the same result: see cpuring.h.
 *
 * What may run at the same time:
 *
 *			reserve..commit	 look/copy  consume  step over	reclaim	 make way
 *	reserve..commit	    yes		   yes	      yes      yes	  yes	   yes
 *	look, copy			   yes	      one reader, serialised by the caller
 *	reclaim						  with the reader: same lock
 *	make way	    yes		   yes	      yes      yes	  yes	   yes
 *
 * Progress: reserve is lock-free, because an exchange fails only if another exchange has succeeded.  claim, write,
 * commit, void and look are wait-free in the number of slots.  Only px_ring_make_way() makes system calls.  A writer
 * calls it after it has found a held slot.  If a writer is killed or preempted at any point, only its own slots stay in
 * use, and no other thread has to wait.
 *
 * The writers of each member (each group has its own cache lines):
 *
 *	head, further, extra,
 *	given_up, dropped	writers
 *	nr_marks, mark		writers; the reader stores 0 in a mark that it has taken
 *	tail			the reader
 *	first_lost		the writer that overwrites the record at tail, or the reader in its place
 *				(the value only rises)
 *	skipped			writers
 *	slot, entry		the thread with the tid in the CLAIMED word; word: claim, reclaim, make way
 *
 * Invariants:
 *
 *	R1  Only the owner of a claim writes the slot, until the owner commits the slot or makes it void. (claim
 *	    exchange)
 *	R2  Along a ring counters do not fall.  (head is loaded before the counter is read, and
 *	    exchanged after it)
 *	R3  A copy is whole if the slot word was {p, HEAD} before it and is the same after it.
 *	    (commit, claim)
 *	R4  A bounded ring never overwrites [tail, head).  (edge free)
 *	R5  Before a writer overwrites the record at tail, first_lost holds the counter of that record or
 *	    a later counter.
 *	R6  No thread takes away the claim of a living thread.
 *	R7  head - further - extra is the number of records, apart from records in flight.  A writer adds its further
 *	    slots to `further` by the same instruction that moves head, so no signal handler can leave it in between.  If
 *	    it gives up, it makes its slots void, and then adds the first slot to extra.
 *
 * Edges (release end -> acquire end; the tags are at both ends in the code):
 *
 *	commit	writer's store of HEAD		-> reader's first load of the word
 *	claim	writer's fence after the claim	-> reader's fence before its second load of the word
 *	free	reader's store of tail		-> writer's load of tail before it reserves
 *		(or that of a writer that has allocated memory: growth.h)
 *	lost	writer's store of first_lost	-> reader's load of it after it saw the lap
 *	window	controller's store of the state	-> writer's load of the state (segment.h)
 *	stop	The controller exchanges the state, then loads head.  The writer exchanges head, then
 *		loads the state.  So at least one of them sees the exchange of the other (segment.h).
 *	attach	registry's generation store	-> trace point's load of it (registry.h)
 *	given	writer's mark, then its addition to given_up	-> reader's load of given_up, then of the mark
 *	wake	reader's flag and membarrier	-> writer's load of the flag after commit (wakeup.h)
 *	inside	A thread stores its word, then loads a view.  The other thread takes the view away, makes all
 *		threads pass a barrier, then loads the word (inside.h).
 *	name	name entry's READY store	-> load of the entry's word (names.h)
 *	object	store of the entry's word	-> load of it (threads.h)
 *	type	list entry's READY store	-> load of the entry's word (typelist.h)
 *
 * fork() changes nothing in a ring: the ring is shared memory, and the parent finishes its own records.  A signal
 * handler may reserve slots while the thread that it interrupts writes a record.  In a small ring, the handler may
 * reach the slots of that record again.  Then it tries other slots, and finally gives its event up.
 */
#ifndef PX_RING_RING_H
#define PX_RING_RING_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/atomic.h"
#include "base/clock.h"
#include "base/procfs.h"
#include "txtb/txtb.h"

#define PX_RING_PAGE 4096
#define PX_RING_SKIPS 64
#define PX_RING_MARKS 24
#define PX_WRAPPERS_MAX 384
#define PX_RING_SLOTS_MAX (1u << 22) /* TraceX reads no more entries than 4,194,303 */

enum px_slot_state {
	PX_SLOT_FREE = 0, /* never used: the memory is zero */
	PX_SLOT_CLAIMED = 1,
	PX_SLOT_HEAD = 2, /* committed: first slot of a record */
	PX_SLOT_MORE = 3, /* committed: a further slot */
	PX_SLOT_VOID = 4  /* reserved, then given up: no record */
};

/* A slot word: state in bits 0-2, tid of the owner in bits 3-24, low 39 bits of the position in bits 25-63. */
#define PX_WORD_TID_SHIFT 3
#define PX_WORD_TID_MASK 0x3FFFFFu
#define PX_WORD_POSITION_SHIFT 25

PX_INLINE uint64_t px_word(uint64_t position, uint32_t tid, enum px_slot_state state)
{
	return position << PX_WORD_POSITION_SHIFT | (uint64_t)tid << PX_WORD_TID_SHIFT | state;
}

PX_INLINE enum px_slot_state px_word_state(uint64_t word)
{
	return (enum px_slot_state)(word & 7);
}

PX_INLINE uint32_t px_word_tid(uint64_t word)
{
	return word >> PX_WORD_TID_SHIFT & PX_WORD_TID_MASK;
}

/*
 * Return the position in the word minus `position`, computed from the low 39 bits of both.  The result is negative if
 * the word is older.
 */
PX_INLINE int64_t px_word_ahead_of(uint64_t word, uint64_t position)
{
	uint64_t tag = position << PX_WORD_POSITION_SHIFT;

	return (int64_t)((word & ~((UINT64_C(1) << PX_WORD_POSITION_SHIFT) - 1)) - tag) >>
	       PX_WORD_POSITION_SHIFT;
}

/* In the further slots of a record, counter and body hold data. */
struct px_slot {
	uint64_t word;
	uint64_t counter;
	uint64_t body[4];
};

_Static_assert(sizeof(struct px_slot) == 48, "slot");

struct px_ring_control {
	uint64_t head __attribute__((aligned(PX_CACHE_LINE)));
	uint64_t further;  /* slots that were reserved as further slots of a record */
	uint64_t extra;	   /* other slots that begin no record (R7) */
	uint64_t given_up; /* events lost because all attempts to claim slots failed */
	uint64_t dropped;  /* events lost because the stream had no room */
	uint64_t tail __attribute__((aligned(PX_CACHE_LINE)));
	uint64_t first_lost __attribute__((aligned(PX_CACHE_LINE))); /* a counter; see R5 */
	/* Index: position mod PX_RING_SKIPS.  Value: 1 + a position that its writer could not claim. */
	uint64_t skipped[PX_RING_SKIPS] __attribute__((aligned(PX_CACHE_LINE)));
	/*
	 * Index: number of the wrapper (wrapper_stats.h).  Value: number of calls on this CPU, including calls whose
	 * event was lost or filtered out.  If a thread moves to another CPU while it counts, one call may not be
	 * counted.
	 */
	uint64_t calls[PX_WRAPPERS_MAX] __attribute__((aligned(PX_CACHE_LINE)));
	/*
	 * Where events were given up.  Index: number of the mark mod PX_RING_MARKS; value: counter of the event, or 0
	 * if the reader has taken the mark.
	 */
	uint64_t nr_marks __attribute__((aligned(PX_CACHE_LINE)));
	uint64_t mark[PX_RING_MARKS];
};

_Static_assert(sizeof(struct px_ring_control) <= PX_RING_PAGE, "control page");
_Static_assert(offsetof(struct px_ring_control, further) == offsetof(struct px_ring_control, head) + 8,
	       "one instruction writes both");

/* Return the number of slots that begin no record. */
PX_INLINE uint64_t px_ring_extra(const struct px_ring_control *control)
{
	return px_load_acquire(&control->extra) + px_load_acquire(&control->further);
}

/* The parts of one ring, at their addresses in this process. */
struct px_ring {
	struct px_ring_control *control;
	struct px_txtb_entry *entries;
	struct px_slot *slots;
	uint32_t mask; /* nr_slots - 1 */
};

#define PX_RING_IMAGE_OFFSET PX_RING_PAGE
#define PX_RING_ENTRIES_OFFSET                                                                     \
	(PX_RING_IMAGE_OFFSET + sizeof(struct px_txtb_header) +                                    \
	 PX_TXTB_LIVE_OBJECTS * sizeof(struct px_txtb_object))

/* Return the number of bytes from the start of one ring to the start of the next. */
PX_INLINE size_t px_ring_stride(uint32_t nr_slots)
{
	size_t size = PX_RING_ENTRIES_OFFSET +
		      (size_t)nr_slots * (sizeof(struct px_txtb_entry) + sizeof(struct px_slot));

	return (size + PX_RING_PAGE - 1) & ~(size_t)(PX_RING_PAGE - 1);
}

/*
 * Return the ring at this address.  nr_slots is a power of two.  Pass a checked copy of nr_slots, never a
 * value from the shared memory.
 */
PX_INLINE struct px_ring px_ring_at(void *memory, uint32_t nr_slots)
{
	char *base = memory;

	return (struct px_ring){
		.control = (struct px_ring_control *)base,
		.entries = (struct px_txtb_entry *)(base + PX_RING_ENTRIES_OFFSET),
		.slots = (struct px_slot *)(base + PX_RING_ENTRIES_OFFSET +
					    (size_t)nr_slots * sizeof(struct px_txtb_entry)),
		.mask = nr_slots - 1,
	};
}

PX_INLINE void *px_ring_image(const struct px_ring *ring)
{
	return (char *)ring->control + PX_RING_IMAGE_OFFSET;
}

/* Turn zeroed memory into a ring with a valid, empty image. */
void px_ring_init(const struct px_ring *ring);

/* Writers. */

/*
 * The note of a writer about the slots that it claims.  If a signal handler leaves the writer by siglongjmp(), the
 * thread later finds the claim by this note, and frees it (trace/frames.h).  While a thread has a claim, the note has
 * the position of the claim.  Without a claim the note is out of date.  This does no harm, because a note can only free
 * slots that this thread has claimed.
 */
struct px_claim {
	uint64_t position;
	uint32_t nr_slots; /* at least as many as were claimed */
	const struct px_ring_control *unclaimed; /* of a shared ring in which the writer has not claimed all slots yet */
	const struct px_ring_control *kept;	 /* of a shared ring in which it has another claim, until it has this one */
	uint64_t kept_position;
};

/* The note of a call that is not nested in another call.  A variable of its own has a constant address. */
extern __thread struct px_claim px_first_claim PX_TLS;

struct px_reservation {
	uint64_t position;
	uint64_t counter;
	uint64_t extra; /* px_ring_extra() before this reservation */
};

/*
 * Reserve n slots.  If limit is not 0, reserve nothing and return false if more than limit slots would then be reserved
 * and not consumed.  If limit is 0, the ring loops, and there is always room.
 */
PX_INLINE bool px_ring_reserve(const struct px_ring *ring, uint32_t n, uint64_t limit,
			       enum px_clock_source source, struct px_reservation *reservation);

/*
 * Claim the n reserved slots from position on for tid.  If any slot cannot be claimed, make the other slots VOID and
 * return false.
 */
PX_INLINE bool px_ring_claim(const struct px_ring *ring, uint64_t position, uint32_t n,
			     uint32_t tid);

/*
 * Give up a reservation. nr_claimed is the number of its slots if the writer has claimed them, otherwise 0.  The
 * claimed slots become void.
 */
PX_NOINLINE void px_ring_give_up(const struct px_ring *ring, uint64_t position, uint32_t nr_claimed);

/*
 * Count an event that is lost because no attempt found free slots, and mark its place.  counter: of the last attempt.
 * If the reader leaves more than PX_RING_MARKS marks, the oldest of them are overwritten.
 */
PX_COLD void px_ring_count_given_up(const struct px_ring *ring, uint64_t counter);

/* Make claimed slots void. */
void px_ring_void(const struct px_ring *ring, uint64_t position, uint32_t n);

/* Publish a record in claimed slots. */
PX_INLINE void px_ring_commit(const struct px_ring *ring, uint64_t position, uint32_t n,
			      uint32_t tid);

/* The reader. */

enum px_look {
	PX_LOOK_EMPTY,	   /* the position is head: nothing is reserved there */
	PX_LOOK_RECORD,	   /* a committed record begins here */
	PX_LOOK_NOTHING,   /* no record begins here, and none will: skip the slot */
	PX_LOOK_CLAIMED,   /* a writer has claimed the slot: its tid is in the word */
	PX_LOOK_UNCLAIMED, /* reserved, but not yet claimed */
	PX_LOOK_LAPPED /* a writer has overwritten the slot */
};

/* Return what is at position, which must not be above head.  If it is below head, set *word to the slot word there. */
enum px_look px_ring_look(const struct px_ring *ring, uint64_t position, uint64_t head,
			  uint64_t *word);

/* Return true if px_ring_look() would return PX_LOOK_RECORD for this position below head, and set *word. */
PX_INLINE bool px_ring_has_record(const struct px_ring *ring, uint64_t position, uint64_t *word)
{
	/* EDGE commit acquire */
	*word = px_load_acquire(&ring->slots[position & ring->mask].word);
	return px_word_state(*word) == PX_SLOT_HEAD && px_word_ahead_of(*word, position) == 0;
}

/*
 * Return true if the slot word is still `word`, as px_ring_look() found it.  If so, a copy that was made in between is
 * whole (R3).
 */
PX_INLINE bool px_ring_unchanged(const struct px_ring *ring, uint64_t position, uint64_t word)
{
	/* EDGE claim acquire: if the copy has a byte of the next owner, the load below sees the claim of that owner */
	px_read_fence();
	return px_read_once(&ring->slots[position & ring->mask].word) == word;
}

/* Consume all slots below position: then writers may reserve them again. */
PX_INLINE void px_ring_consume(const struct px_ring *ring, uint64_t position)
{
	px_store_release(&ring->control->tail, position); /* EDGE free release */
}

/*
 * Return the position where a reader continues after a lap: the first committed record at or after head - nr_slots +
 * margin, or head if there is none.
 */
uint64_t px_ring_oldest(const struct px_ring *ring, uint64_t head, uint32_t margin);

/*
 * Revoke the reservation of a position that its writer has not claimed yet: make the slot VOID.  Then the writer cannot
 * claim the slot, and makes another reservation.  Return false if the slot is claimed.
 */
bool px_ring_revoke(const struct px_ring *ring, uint64_t position);

/*
 * Return true if the word of this position became VOID because its owner was dead.  Such a word keeps the owner's
 * tid.
 */
PX_INLINE bool px_ring_is_left(uint64_t word, uint64_t position)
{
	return px_word_state(word) == PX_SLOT_VOID && px_word_tid(word) != 0 &&
	       px_word_ahead_of(word, position) == 0;
}

/*
 * Make the slots void that a dead thread claimed for one record, from position on.  The caller knows that the thread is
 * dead.  Return the position after them.
 */
uint64_t px_ring_reclaim(const struct px_ring *ring, uint64_t position, uint64_t head);

/*
 * Make all claimed slots below head void if their owner is dead; alive() decides this.  Return the number of these
 * slots.
 */
uint32_t px_ring_reclaim_all(const struct px_ring *ring, px_procfs_asked *alive);

/*
 * Free the slots of this ring that belong to a claim of a call that the calling thread has left. tid is its tid.  If
 * the claim is in another ring, change nothing. is_own: the ring belongs to a CPU.
 */
void px_ring_free_left(const struct px_ring *ring, const struct px_claim *claim, uint32_t tid,
		       bool is_own);

/* A writer that finds held slots asks whether their owners are alive.  It calls px_inquiry_of() once for each event. */

struct px_inquiry {
	px_procfs_asked *is_alive;
	uint32_t alive_tid; /* the last thread that is known to live */
	uint32_t nr_left;   /* number of further questions: each one is a system call */
};

#define PX_INQUIRY_MAX 64

PX_INLINE struct px_inquiry px_inquiry_of(uint32_t tid, px_procfs_asked *is_alive)
{
	return (struct px_inquiry){is_alive, tid, PX_INQUIRY_MAX};
}

/*
 * Call this after an attempt to take n slots at this position failed because a slot is held.  Free the slots with dead
 * owners that were in the way of this attempt, and those that are in the way of the next one, up to a slot with a
 * living owner.
 *
 * Return true if the next attempt does not count, because it gets further: a slot was freed, or the next attempt meets
 * only further slots of the record that was in the way of this one.  So the writer goes around a long record.
 */
PX_COLD bool px_ring_make_way(const struct px_ring *ring, uint64_t position, uint32_t n,
			      struct px_inquiry *inquiry);

/* The seldom used parts of the writers. */

/*
 * Save the counter of the record at tail, which is about to be overwritten (R5).  The writer that overwrites the record
 * calls this.  A reader also calls it, if it cannot know whether the writer has saved the counter.
 */
void px_ring_save_first_lost(const struct px_ring *ring, uint64_t tail);

/* Claim more than one slot. */
bool px_ring_claim_many(const struct px_ring *ring, uint64_t position, uint32_t n, uint32_t tid);

/* Record for the reader that no writer will claim this position any more. */
void px_ring_skip(const struct px_ring *ring, uint64_t position);

void px_ring_commit_more(const struct px_ring *ring, uint64_t position, uint32_t n, uint32_t tid);

/* Replace head, and add to `further` at the same moment (R7).  Return false if head is not `from`. */
PX_INLINE bool px_ring_move_head(struct px_ring_control *control, uint64_t from, uint64_t to, uint32_t further)
{
	if (px_likely(further == 0))
		return px_compare_exchange(&control->head, from, to);
#if defined(__x86_64__) && !defined(__SANITIZE_THREAD__)
	uint64_t old = px_read_once(&control->further), seen = old;
	bool moved;

	__asm__ __volatile__("lock cmpxchg16b %1"
			     : "=@ccz"(moved), "+m"(*(unsigned char(*)[16])control), "+a"(from), "+d"(seen)
			     : "b"(to), "c"(old + further)
			     : "memory");
	return moved;
#else
	/* A writer that is left between these two makes the reader count slots as lost events. */
	if (!px_compare_exchange(&control->head, from, to))
		return false;
	px_fetch_add(&control->further, (uint64_t)further);
	return true;
#endif
}

PX_INLINE bool px_ring_reserve(const struct px_ring *ring, uint32_t n, uint64_t limit,
			       enum px_clock_source source, struct px_reservation *reservation)
{
	struct px_ring_control *control = ring->control;
	uint64_t tail, head, next;

	do {
		/* EDGE free acquire: tail before head, so that the difference is never negative */
		tail = px_load_acquire(&control->tail);
		head = px_read_once(&control->head);
		if (limit != 0 && head + n - tail > limit)
			return false;
		reservation->extra = px_ring_extra(control);
		PX_TESTPOINT("ring.reserve.loaded");
		reservation->counter = px_clock_read(source);
		PX_TESTPOINT("ring.reserve.stamped");
		/* The top bit of a counter is 0.  Adding it makes the exchange wait until the counter is read (R2). */
		next = head + n + (reservation->counter >> 63);
	} while (!px_ring_move_head(control, head, next, n - 1)); /* EDGE stop release */
	reservation->position = head;
	PX_TESTPOINT("ring.reserve.done");
	if (limit == 0) {
		tail = px_read_once(&control->tail);
		if (px_unlikely(tail + ring->mask + 1 - head < n))
			px_ring_save_first_lost(ring, tail);
	}
	return true;
}

PX_INLINE bool px_ring_claim_one(const struct px_ring *ring, uint64_t position, uint32_t tid)
{
	uint64_t *word = &ring->slots[position & ring->mask].word;
	uint64_t seen;

	do {
		seen = px_read_once(word);
		if (px_unlikely(px_word_state(seen) == PX_SLOT_CLAIMED))
			return false;
		if (px_unlikely(px_word_ahead_of(seen, position) >= 0 &&
				px_word_state(seen) != PX_SLOT_FREE))
			return false; /* lapped while this thread was preempted, or revoked by the reader */
		PX_TESTPOINT("ring.claim.loaded");
	} while (!px_compare_exchange(word, seen, px_word(position, tid, PX_SLOT_CLAIMED)));
	PX_TESTPOINT("ring.claim.done");
	return true;
}

PX_INLINE bool px_ring_claim(const struct px_ring *ring, uint64_t position, uint32_t n,
			     uint32_t tid)
{
	bool claimed;

	if (px_unlikely(n > 1)) {
		claimed = px_ring_claim_many(ring, position, n, tid);
	} else {
		claimed = px_ring_claim_one(ring, position, tid);
		if (px_unlikely(!claimed))
			px_ring_skip(ring, position);
	}
	px_write_fence(); /* EDGE claim release */
	return claimed;
}

PX_INLINE void px_ring_commit(const struct px_ring *ring, uint64_t position, uint32_t n,
			      uint32_t tid)
{
	if (px_unlikely(n > 1))
		px_ring_commit_more(ring, position, n, tid);
	PX_TESTPOINT("ring.commit.ready");
	px_store_release(&ring->slots[position & ring->mask].word,
			 px_word(position, tid, PX_SLOT_HEAD)); /* EDGE commit release */
	PX_TESTPOINT("ring.commit.done");
}

#endif
