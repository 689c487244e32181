/* SPDX-License-Identifier: MIT */
#include "stream/rings_copy.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "ring/growth.h"

/* Slots are copied as words, because writers may change them during the copy. */
static void copy_words(void *to, const void *from, size_t size)
{
	const px_pair *source = from;
	px_pair *target = to;

	for (size_t i = 0; i < size / sizeof(*target); i++)
		target[i] = px_read_once(&source[i]);
}

/*
 * Load head after the counts of extra slots: then these belong to reservations below head.  Writers allocate slots
 * before they reserve them, so load tail after head.
 */
static void copy_control(struct px_ring_control *to, const struct px_ring_control *from)
{
	copy_words(to, from, sizeof(*to));
	to->further = px_load_acquire(&from->further);
	to->extra = px_load_acquire(&from->extra);
	to->head = px_load_acquire(&from->head);
	to->tail = px_load_acquire(&from->tail);
}

/*
 * A ring of which not all memory is allocated has a tail below 0, which says how many slots it has.  Return this
 * number, and give the copy its tail.
 */
static uint64_t settle_tail(const struct px_view *view, struct px_ring_control *control)
{
	uint64_t nr_slots = view->geometry.nr_slots;

	if (!view->grows || (int64_t)control->tail >= 0)
		return nr_slots;
	nr_slots += control->tail;
	control->tail = 0;
	if (control->head > nr_slots)
		control->head = nr_slots; /* nonsense: there is no memory */
	return nr_slots;
}

/*
 * A slot that is not whole holds no record in the copy.  If a writer has overtaken the copy there, the copy says that
 * the slot is lapped, so that the reader of the copy counts and marks the loss.
 */
static void leave_out(const struct px_ring *to, const struct px_ring *from, uint64_t position)
{
	uint64_t index = position & to->mask;
	bool is_lapped = px_word_ahead_of(px_read_once(&from->slots[index].word), position) > 0;

	to->slots[index].word = px_word(is_lapped ? position + to->mask + 1 : position, 0, PX_SLOT_VOID);
}

static void copy_slot(const struct px_ring *to, const struct px_ring *from, uint64_t position)
{
	struct px_slot *slot = &to->slots[position & to->mask];
	const struct px_slot *live = &from->slots[position & from->mask];
	uint64_t word = px_load_acquire(&live->word); /* EDGE commit acquire */

	copy_words(slot, live, sizeof(*slot));
	copy_words(&to->entries[position & to->mask], &from->entries[position & from->mask],
		   sizeof(*to->entries));
	PX_TESTPOINT("rings.copy.copied");
	slot->word = word;
	if (px_ring_unchanged(from, position, word) && px_word_state(word) != PX_SLOT_CLAIMED &&
	    px_word_state(word) != PX_SLOT_FREE && px_word_ahead_of(word, position) == 0)
		return;
	leave_out(to, from, position);
}

static void copy_ring(const struct px_ring *to, const struct px_ring *from, uint64_t nr_slots)
{
	uint64_t head = to->control->head, oldest = head - nr_slots;

	if ((int64_t)(oldest - to->control->tail) < 0)
		oldest = to->control->tail;
	for (uint64_t position = oldest; position != head; position++)
		copy_slot(to, from, position);
}

/* Counters do not fall along a ring: cut off the records from counter `until` on. */
static void cut_ring(const struct px_ring *ring, uint64_t until)
{
	uint64_t head = ring->control->head, first = head;
	uint64_t oldest = head - (ring->mask + 1);

	if ((int64_t)(oldest - ring->control->tail) < 0)
		oldest = ring->control->tail;
	for (uint64_t position = head; position != oldest; position--) {
		const struct px_slot *slot = &ring->slots[(position - 1) & ring->mask];

		if (px_word_state(slot->word) != PX_SLOT_HEAD)
			continue;
		if ((int64_t)(slot->counter - until) < 0)
			break;
		first = position - 1;
	}
	ring->control->head = first;
}

static void copy_head(const struct px_view *view, struct px_view *to)
{
	const struct px_segment *from = view->segment;
	struct px_segment *segment = to->segment;

	copy_words(segment, from, offsetof(struct px_segment, threads) / 8 * 8);
	segment->horizon = 0;
	segment->grows = to->grows = 0;
}

int px_rings_copy_make(const struct px_view *view, struct px_rings_copy *copy)
{
	char *base;

	copy->size = px_segment_size(&view->geometry);
	base = mmap(NULL, copy->size, PROT_READ | PROT_WRITE,
		    MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
	if (base == MAP_FAILED)
		return ENOMEM;
	copy->view = *view;
	copy->view.segment = (struct px_segment *)base;
	copy->view.rings.base = base + (view->rings.base - (char *)view->segment);
	copy->view.mapping = (struct px_mapping){.base = base, .size = copy->size};
	copy->until = px_clock_anchor((enum px_clock_source)view->rings.source).counter;
	copy_head(view, &copy->view);
	copy->state = copy->view.segment->state;
	for (uint32_t i = 0; i < view->rings.nr_rings; i++)
		copy_control(px_rings_get(&copy->view.rings, i).control, px_rings_get(&view->rings, i).control);
	for (uint32_t i = 0; i < view->rings.nr_rings; i++) {
		struct px_ring ring = px_rings_get(&copy->view.rings, i);
		struct px_ring live = px_rings_get(&view->rings, i);

		copy_ring(&ring, &live, settle_tail(view, ring.control));
		ring.control->first_lost = px_load_acquire(&live.control->first_lost);
		cut_ring(&ring, copy->until);
	}
	return 0;
}

void px_rings_copy_free(struct px_rings_copy *copy)
{
	munmap(copy->view.segment, copy->size);
}
