/* SPDX-License-Identifier: MIT */
#include "ring/growth.h"

#include <errno.h>
#include <sys/mman.h>
#include <unistd.h>

#include "base/confined.h"

#ifndef MADV_POPULATE_WRITE
#define MADV_POPULATE_WRITE 23
#endif

#define FIRST_SLOTS 256u
#define FIRST_SLOTS_TOGETHER                                                                       \
	131072u /* sum of all rings of a stream, if its controller allocates memory, too */
#define PART_SLOTS 4096u       /* the writer waits less than 1 ms for such a part */
#define PART_SLOTS_MOST 16384u /* the largest part */
#define PARTS 32	       /* a part of a large ring has 1 / PARTS of its slots */
#define PARTS_FOR_ROOM 64      /* one event never needs more parts, except in hostile memory */

bool px_growth_is_wanted;

/*
 * A writer that finds a slot held looks at slots above those that it may reserve (px_ring_make_way()).  So each part
 * has memory for one more event.
 */
static uint32_t with_margin(const struct px_geometry *geometry, uint32_t nr_slots)
{
	uint32_t margin = px_record_slots(PX_SYSTEM_EVENT_BYTES + sizeof(struct px_marks));

	if (margin < geometry->event_slots)
		margin = geometry->event_slots;
	return nr_slots + margin < geometry->nr_slots ? nr_slots + margin : geometry->nr_slots;
}

bool px_growth_can_begin(const struct px_geometry *geometry)
{
	return FIRST_SLOTS > 8 * PX_GEOMETRY_LEAST_SLOTS(geometry->event_slots) &&
	       geometry->nr_slots >= 8 * FIRST_SLOTS;
}

static uint32_t first_slots(const struct px_geometry *geometry, enum px_grows kind)
{
	uint32_t share = FIRST_SLOTS_TOGETHER / geometry->nr_rings;

	if (share > PART_SLOTS_MOST)
		share = PART_SLOTS_MOST;
	if (share > geometry->nr_slots / 8)
		share = geometry->nr_slots / 8;
	return kind == PX_GROWS_SHARED && share > FIRST_SLOTS ? share : FIRST_SLOTS;
}

/* Return the number of slots of the largest part of a ring. */
static uint64_t most_slots(uint32_t nr_slots)
{
	uint64_t most = nr_slots / PARTS;

	if (most > PART_SLOTS_MOST)
		return PART_SLOTS_MOST;
	return most > PART_SLOTS ? most : PART_SLOTS;
}

static bool populate(char *from, char *to)
{
	char *begin = from - (uintptr_t)from % PX_RING_PAGE;

	return madvise(begin, (size_t)(to - begin), MADV_POPULATE_WRITE) == 0;
}

/* Allocate the slots below `to`. */
static bool populate_slots(const struct px_geometry *geometry, const struct px_ring *ring, uint32_t to)
{
	to = with_margin(geometry, to);
	return populate((char *)ring->control, (char *)(ring->entries + to)) &&
	       populate((char *)ring->slots, (char *)(ring->slots + to));
}

bool px_growth_allocate(const struct px_mapping *mapping, const struct px_geometry *geometry,
			enum px_grows kind)
{
	char *base = mapping->base;

	if (sysconf(_SC_PAGESIZE) != PX_RING_PAGE)
		return false;
	for (uint32_t i = 0; i < geometry->nr_rings; i++) {
		struct px_ring ring = px_ring_at(base + PX_SEGMENT_RINGS_OFFSET +
							 i * px_ring_stride(geometry->nr_slots),
						 geometry->nr_slots);

		if (!populate_slots(geometry, &ring, first_slots(geometry, kind)))
			return false;
	}
	return true;
}

void px_growth_begin(struct px_view *view, enum px_grows kind)
{
	uint64_t first = first_slots(&view->geometry, kind);

	for (uint32_t i = 0; i < view->rings.nr_rings; i++) {
		struct px_ring ring = px_rings_get(&view->rings, i);

		px_store_release(&ring.control->tail, first - view->geometry.nr_slots);
	}
	view->segment->grows = view->grows = kind;
}

/*
 * Allocate the next part of a ring with this tail.  Other threads may do the same: the kernel allocates each page once,
 * and only one of the threads moves tail.
 */
static bool extend(const struct px_view *view, struct px_ring_control *control, uint64_t tail)
{
	uint32_t nr_slots = view->geometry.nr_slots;
	uint64_t most = most_slots(nr_slots);
	uint64_t now = tail + nr_slots;
	uint64_t next = now + (now < most / 3 ? 3 * now : most);
	struct px_ring ring = px_ring_at(control, nr_slots);
	int saved_errno = errno;
	bool done;

	if (now == 0 || next > nr_slots)
		next = nr_slots;
	done = !px_is_confined() && populate_slots(&view->geometry, &ring, (uint32_t)next);
	errno = saved_errno;
	PX_TESTPOINT("growth.part.allocated");
	if (done) /* EDGE free release: writers see the room after the memory is there */
		px_compare_exchange(&control->tail, tail, next - nr_slots);
	return done;
}

bool px_growth_make_room(const struct px_view *view, struct px_ring_control *control, uint32_t n,
			 uint64_t limit)
{
	for (int i = 0; i < PARTS_FOR_ROOM; i++) {
		uint64_t tail = px_load_acquire(&control->tail); /* EDGE free acquire */

		if (px_read_once(&control->head) + n - tail <= limit)
			return true;
		if (!px_growth_is_partial(view, control) || !extend(view, control, tail))
			return false;
	}
	return false;
}

void px_growth_keep_ahead(const struct px_view *view)
{
	for (uint32_t i = 0; view->grows && i < view->rings.nr_rings; i++) {
		struct px_ring_control *control = px_rings_get(&view->rings, i).control;
		uint64_t tail = px_load_acquire(&control->tail);

		if ((int64_t)tail < 0 &&
		    px_read_once(&control->head) > (tail + view->geometry.nr_slots) / 2)
			extend(view, control, tail);
	}
}

bool px_growth_has_memory(const struct px_view *view)
{
	for (uint32_t i = 0; view->grows && i < view->rings.nr_rings; i++) {
		const struct px_ring_control *control = px_rings_get(&view->rings, i).control;
		uint64_t tail = px_load_acquire(&control->tail);

		if ((int64_t)tail < 0 &&
		    px_read_once(&control->head) > tail + view->geometry.nr_slots)
			return false;
	}
	return true;
}

bool px_growth_make_room_everywhere(const struct px_view *view)
{
	if (view->grows == PX_GROWS_ALONE)
		return px_growth_finish(view);
	for (uint32_t i = 0; view->grows && i < view->rings.nr_rings; i++) {
		struct px_ring_control *control = px_rings_get(&view->rings, i).control;

		if (px_growth_is_partial(view, control) &&
		    !px_growth_make_room(view, control, PART_SLOTS / 2, view->limit) &&
		    px_growth_is_partial(view, control))
			return false;
	}
	return true;
}

bool px_growth_finish(const struct px_view *view)
{
	for (uint32_t i = 0; view->grows && i < view->rings.nr_rings; i++) {
		struct px_ring_control *control = px_rings_get(&view->rings, i).control;

		uint32_t parts = view->geometry.nr_slots / PART_SLOTS + PARTS_FOR_ROOM;

		for (uint32_t k = 0; k < parts && px_growth_is_partial(view, control); k++)
			if (!extend(view, control, px_load_acquire(&control->tail)))
				return false;
	}
	return true;
}
