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
 *	given_up, dropped,
 *	nr_drops_marked		writers
 *	nr_marks, mark		writers; the reader stores 0 in a mark that it has taken, if the stream has no log
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
 *	    slots to `further` by the same instruction that moves head, so no signal handler can leave it in between.
 *	    If it gives up, it makes its slots void, and then adds the first slot to extra.  If it exchanges a
 *	    reservation for a later one, that instruction also adds the first slot of the older one, because one of
 *	    the two will be no record.  So a writer that is killed in between counts as one lost event.
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
 *	given	writer's mark, then its addition to nr_marked	-> reader's load of nr_marked, then of the mark
 *	drop	The writer adds to `dropped`, then loads the state.  The controller stores the state RUNNING, then loads
 *		`dropped`.  So at least one of them sees the store of the other, and marks the loss (check_state.h).
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
	PX_SLOT_VOID = 4  /* the writer reserved the slot, and then gave it up */
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
	uint64_t further;  /* slots reserved as further slots of a record, or as second ones of an event (R7) */
	uint64_t extra;	   /* slots that are not in `further`, but begin no record (R7) */
	uint64_t given_up; /* events lost because all attempts to claim slots failed */
	uint64_t dropped;  /* events lost because the stream had no room */
	uint64_t nr_drops_marked; /* those of them whose loss the writer has marked itself (px_ring_mark_loss()) */
	uint64_t tail __attribute__((aligned(PX_CACHE_LINE)));
	uint64_t first_lost __attribute__((aligned(PX_CACHE_LINE))); /* a counter; see R5 */
	/*
	 * Index: position mod PX_RING_SKIPS. Value: 1 + a position.  The writer that reserved this position could not
	 * claim its slot.
	 */
	uint64_t skipped[PX_RING_SKIPS] __attribute__((aligned(PX_CACHE_LINE)));
	/*
	 * Index: number of the wrapper (wrapper_stats.h).  Value: number of calls on this CPU, including calls whose
	 * event was lost or filtered out.  If a thread moves to another CPU while it counts, one call may not be
	 * counted.
	 */
	uint64_t calls[PX_WRAPPERS_MAX] __attribute__((aligned(PX_CACHE_LINE)));
	/*
	 * The marks of lost events for which START has no mark (px_ring_mark_loss()).  Index: number of the mark mod
	 * PX_RING_MARKS.  Value: counter of the event, or 0 if the reader has taken the mark.  If the stream has a
	 * log, taken marks stay, because a process that continues the log of a dead controller must find them.
	 */
	uint64_t nr_marks __attribute__((aligned(PX_CACHE_LINE)));
	uint64_t nr_marked; /* marks that are in the array; nr_marks may be ahead of it */
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

PX_INLINE size_t px_ring_slots_offset(uint32_t nr_slots)
{
	return PX_RING_ENTRIES_OFFSET + (size_t)nr_slots * sizeof(struct px_txtb_entry);
}

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
		.slots = (struct px_slot *)(base + px_ring_slots_offset(nr_slots)),
		.mask = nr_slots - 1,
	};
}

PX_INLINE void *px_ring_image(const struct px_ring *ring)
{
	return (char *)ring->control + PX_RING_IMAGE_OFFSET;
}

/*
 * A bound of the sequences of cpuring.h, for a number of slots to take.  A sequence stops if head - tail is one of the
 * `width` unsigned numbers from `least` on.  At these values a bounded ring has no room.  In a ring that loops, the
 * record at tail is about to be overwritten, so the writer must save its counter first (C4).
 */
struct px_bound {
	uint64_t least, width;
};

/* Return the bound for one slot.  For limit, see px_ring_reserve(). */
PX_INLINE struct px_bound px_bound_of_one(uint32_t nr_slots, uint64_t limit)
{
	if (limit != 0)
		return (struct px_bound){limit, UINT64_C(1) << 63};
	return (struct px_bound){nr_slots, 1};
}

/* Return the bound for n slots in the same ring. */
PX_INLINE struct px_bound px_bound_of(struct px_bound one, uint32_t n)
{
	return (struct px_bound){one.least - (n - 1), one.width + (n - 1)};
}

/* Turn zeroed memory into a ring with a valid, empty image. */
void px_ring_init(const struct px_ring *ring);

/* Writers. */

/*
 * The note of a writer about the slots that it claims.  If a signal handler leaves the writer by siglongjmp(), the
 * thread later finds the claim by this note, and frees it (trace/frames.h).  While a thread has a claim, the note has
 * the position of the claim.  When the thread has no claim, the note holds old values.  This does no harm, because a
 * note can only free slots that this thread has claimed.
 */
struct px_claim {
	uint64_t position;
	uint32_t nr_slots; /* upper bound for the number of slots that the writer has claimed */
	const struct px_ring_control *unclaimed; /* the shared ring in which the writer is claiming slots, or NULL */
	/* the shared ring in which the writer still has an older claim, or NULL */
	const struct px_ring_control *kept;
	uint64_t kept_position;
};

/*
 * The note of a call that is not nested in another call.  This separate variable has a constant offset from the thread
 * pointer, so px_sequence_one() can store to it.
 */
extern __thread struct px_claim px_first_claim PX_TLS;

struct px_reservation {
	uint64_t position;
	uint64_t counter;
	uint64_t extra; /* result of px_ring_extra() before this reservation */
};

/*
 * Reserve n slots.  A limit other than 0 is the largest number of slots that may be reserved and not yet consumed.  If
 * n more slots would exceed it, reserve nothing and return false.  If limit is 0, the ring loops, and there is always
 * room.
 */
PX_INLINE bool px_ring_reserve(const struct px_ring *ring, uint32_t n, uint64_t limit,
			       enum px_clock_source source, struct px_reservation *reservation);

/*
 * Do the same for an event that has n reserved slots already.  The caller makes the older slots void, or the new ones.
 * It adds nothing to `extra` for them: this function has counted that one of the two becomes no record (R7).
 */
PX_INLINE bool px_ring_reserve_again(const struct px_ring *ring, uint32_t n, uint64_t limit,
				     enum px_clock_source source, struct px_reservation *reservation);

/*
 * Claim n reserved slots for the thread tid. `position` is the first of them.  If any slot cannot be claimed, make the
 * other slots VOID and return false.
 */
PX_INLINE bool px_ring_claim(const struct px_ring *ring, uint64_t position, uint32_t n,
			     uint32_t tid);

/*
 * Give up a reservation.  If the writer has claimed the slots, nr_claimed is their number, and they become void.
 * Otherwise nr_claimed is 0.
 */
PX_NOINLINE void px_ring_give_up(const struct px_ring *ring, uint64_t position, uint32_t nr_claimed);

/*
 * Mark the loss of an event with this counter: the reader reports a gap before the next record that is not older.  The
 * ring keeps the newest PX_RING_MARKS marks.
 */
PX_COLD void px_ring_mark_loss(const struct px_ring *ring, uint64_t counter);

/*
 * Count an event that is lost because every attempt to claim slots for it failed, and mark the loss. `counter` is the
 * counter of the last attempt.
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
	PX_LOOK_NOTHING,   /* no record begins here, now or later: skip the slot */
	PX_LOOK_CLAIMED,   /* a writer has claimed the slot: its tid is in the word */
	PX_LOOK_UNCLAIMED, /* a writer has reserved the slot, but not claimed it yet */
	PX_LOOK_LAPPED /* a writer has overwritten the slot */
};

/*
 * Return what is at this position, which must be at most head.  If the position is below head, set *word to its slot
 * word.
 */
enum px_look px_ring_look(const struct px_ring *ring, uint64_t position, uint64_t head,
			  uint64_t *word);

/*
 * position must be below head.  Set *word to its slot word.  Return true if px_ring_look() would return PX_LOOK_RECORD.
 */
PX_INLINE bool px_ring_has_record(const struct px_ring *ring, uint64_t position, uint64_t *word)
{
	/* EDGE commit acquire */
	*word = px_load_acquire(&ring->slots[position & ring->mask].word);
	return px_word_state(*word) == PX_SLOT_HEAD && px_word_ahead_of(*word, position) == 0;
}

/*
 * `word` is the slot word that px_ring_look() read.  Return true if the slot still has this word.  If so, a copy that
 * the caller made in between is whole (R3).
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
 * Return true if a thread made the slot of this position VOID because the slot's owner was dead.  Such a word keeps the
 * owner's tid.
 */
PX_INLINE bool px_ring_is_left(uint64_t word, uint64_t position)
{
	return px_word_state(word) == PX_SLOT_VOID && px_word_tid(word) != 0 &&
	       px_word_ahead_of(word, position) == 0;
}

/* Return true if the slot of this position holds a committed further slot of a record. */
PX_INLINE bool px_ring_is_more(uint64_t word, uint64_t position)
{
	return px_word_state(word) == PX_SLOT_MORE && px_word_ahead_of(word, position) == 0;
}

/*
 * A dead thread has claimed slots for one record, from position on.  Make these slots void, and return the position
 * after the record.  The thread may have committed some of the further slots; they stay as they are.  The caller has
 * checked that the thread is dead.
 */
uint64_t px_ring_reclaim(const struct px_ring *ring, uint64_t position, uint64_t head);

/*
 * Make each claimed slot below head void if its owner is dead. alive() tells whether a thread lives.  Return the number
 * of slots that became void.
 */
uint32_t px_ring_reclaim_all(const struct px_ring *ring, px_procfs_asked *alive);

/*
 * Free the slots of a claim. `claim` is the note of a call that the calling thread has left by siglongjmp(). tid is the
 * tid of the calling thread.  If the claim is in another ring, change nothing. is_own: the ring belongs to a CPU.
 */
void px_ring_free_left(const struct px_ring *ring, const struct px_claim *claim, uint32_t tid,
		       bool is_own);

/* A writer that finds held slots asks whether their owners are alive.  It calls px_inquiry_of() once for each event. */

struct px_inquiry {
	px_procfs_asked *is_alive;
	uint32_t alive_tid; /* the thread that was found alive last */
	uint32_t nr_left;   /* the writer may ask this many more questions: each one is a system call */
};

#define PX_INQUIRY_MAX 64

PX_INLINE struct px_inquiry px_inquiry_of(uint32_t tid, px_procfs_asked *is_alive)
{
	return (struct px_inquiry){is_alive, tid, PX_INQUIRY_MAX};
}

/*
 * Call this after an attempt to take n slots at this position failed because another thread held a slot.  Free slots
 * with dead owners in two groups: the slots of this attempt, and the slots that the next attempt will take.  In each
 * group, stop at the first slot with a living owner.
 *
 * Return true if the writer should not count the next attempt, because it gets further.  This is so if a slot was
 * freed.  It is also so if the same thread holds a slot of both groups, with a later position in the second: then the
 * writer is passing a long record.
 */
PX_COLD bool px_ring_make_way(const struct px_ring *ring, uint64_t position, uint32_t n,
			      struct px_inquiry *inquiry);

/* The seldom used parts of the writers. */

/*
 * Save the counter of the record at tail (R5).  A writer calls this before it overwrites that record.  A reader also
 * calls it if the reader cannot know whether the writer has saved the counter.
 */
void px_ring_save_first_lost(const struct px_ring *ring, uint64_t tail);

/* Claim more than one slot. */
bool px_ring_claim_many(const struct px_ring *ring, uint64_t position, uint32_t n, uint32_t tid);

/* Record for the reader that no writer will claim this position any more. */
void px_ring_skip(const struct px_ring *ring, uint64_t position);

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
#elif defined(__aarch64__) && !defined(__AARCH64EB__) && !defined(__SANITIZE_THREAD__)
	__extension__ typedef unsigned __int128 both;
	uint64_t further_now = px_read_once(&control->further);
	both old = (both)further_now << 64 | from, next = (both)(further_now + further) << 64 | to;

	return __sync_bool_compare_and_swap((both *)(void *)control, old, next);
#else
	/* If a writer is left by siglongjmp() between these two steps, the reader counts slots as lost events. */
	if (!px_compare_exchange(&control->head, from, to))
		return false;
	px_fetch_add(&control->further, (uint64_t)further);
	return true;
#endif
}

/* `further` of these slots begin no record. */
PX_INLINE bool px_ring_reserve_slots(const struct px_ring *ring, uint32_t n, uint32_t further, uint64_t limit,
				     enum px_clock_source source, struct px_reservation *reservation)
{
	struct px_ring_control *control = ring->control;
	uint64_t tail, head, next;

	do {
		/* EDGE free acquire: load tail before head, so that the difference is never negative */
		tail = px_load_acquire(&control->tail);
		head = px_read_once(&control->head);
		if (limit != 0 && head + n - tail > limit)
			return false;
		reservation->extra = px_ring_extra(control);
		PX_TESTPOINT("ring.reserve.loaded");
		reservation->counter = px_clock_read(source);
		PX_TESTPOINT("ring.reserve.stamped");
		/* The top bit of a counter is 0.  The exchange needs this bit, so the counter is read first (R2). */
		next = head + n + (reservation->counter >> 63);
	} while (!px_ring_move_head(control, head, next, further)); /* EDGE stop release */
	reservation->position = head;
	PX_TESTPOINT("ring.reserve.done");
	if (limit == 0) {
		tail = px_read_once(&control->tail);
		if (px_unlikely(tail + ring->mask + 1 - head < n))
			px_ring_save_first_lost(ring, tail);
	}
	return true;
}

PX_INLINE bool px_ring_reserve(const struct px_ring *ring, uint32_t n, uint64_t limit,
			       enum px_clock_source source, struct px_reservation *reservation)
{
	return px_ring_reserve_slots(ring, n, n - 1, limit, source, reservation);
}

PX_INLINE bool px_ring_reserve_again(const struct px_ring *ring, uint32_t n, uint64_t limit,
				     enum px_clock_source source, struct px_reservation *reservation)
{
	return px_ring_reserve_slots(ring, n, n, limit, source, reservation);
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
			return false; /* a writer lapped this thread, or the reader revoked the position */
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

PX_INLINE void px_ring_commit_more(const struct px_ring *ring, uint64_t position, uint32_t n, uint32_t tid)
{
	for (uint32_t i = 1; i < n; i++) {
		PX_TESTPOINT("ring.commit.more");
		px_store_release(&ring->slots[(position + i) & ring->mask].word,
				 px_word(position + i, tid, PX_SLOT_MORE));
	}
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
