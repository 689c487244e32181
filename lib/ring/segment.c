/* SPDX-License-Identifier: MIT */
#include "ring/segment.h"

#include <string.h>

#include "ring/growth.h"
#include "ring/wakeup.h"

/* Slots that user events may not use: room for START with its marks, FILTER, FLUSH_START and FLUSH_STOP. */
#define CONTROL_SLOTS (px_record_slots(PX_SYSTEM_EVENT_BYTES) + 16)
#define HIGH_WATER_LEAST 8192 /* slots */

bool px_geometry_init(struct px_geometry *geometry, uint64_t min_bytes, uint64_t max_data,
		      uint32_t nr_rings)
{
	uint32_t event_slots = px_record_slots((size_t)max_data);
	uint64_t needed = (min_bytes + PX_SLOT_BYTES - 1) / PX_SLOT_BYTES;
	uint32_t nr_slots = 64;

	if (min_bytes > PX_RING_SLOTS_MAX * PX_SLOT_BYTES)
		return false;
	if (needed < PX_GEOMETRY_LEAST_SLOTS(event_slots))
		needed = PX_GEOMETRY_LEAST_SLOTS(event_slots);
	needed += CONTROL_SLOTS + event_slots;
	while (nr_slots < needed)
		nr_slots *= 2;
	if (nr_slots > PX_RING_SLOTS_MAX)
		return false;
	geometry->nr_rings = geometry->nr_shared = nr_rings;
	geometry->nr_slots = nr_slots;
	geometry->event_slots = event_slots;
	geometry->user_limit = nr_slots - CONTROL_SLOTS;
	return true;
}

uint64_t px_geometry_guarantee(const struct px_geometry *geometry)
{
	return (uint64_t)(geometry->user_limit - geometry->event_slots) * PX_SLOT_BYTES;
}

static void fill_view(const struct px_mapping *mapping, struct px_view *view)
{
	view->segment = mapping->base;
	view->mapping = *mapping;
	view->rings.base = (char *)mapping->base + PX_SEGMENT_RINGS_OFFSET;
	view->rings.stride = px_ring_stride(view->geometry.nr_slots);
	view->rings.nr_rings = view->geometry.nr_rings;
	view->rings.nr_shared = view->geometry.nr_shared;
	view->rings.nr_slots = view->geometry.nr_slots;
	view->rings.slots_at = px_ring_slots_offset(view->geometry.nr_slots);
}

void px_segment_init(const struct px_mapping *mapping, const struct px_geometry *geometry,
		     bool bounded, uint64_t max_data, uint32_t source, uint32_t shift,
		     struct px_view *view)
{
	struct px_segment *segment = mapping->base;

	segment->magic = PX_SEGMENT_MAGIC;
	segment->size = mapping->size;
	segment->geometry = *geometry;
	segment->bounded = bounded;
	segment->source = source;
	segment->shift = shift;
	segment->max_data = max_data;
	segment->word_bytes = sizeof(void *);
	segment->state = px_state_next(0, PX_STATE_STOPPED, false);
	px_segment_view(mapping, view);
	for (uint32_t i = 0; i < geometry->nr_rings; i++) {
		struct px_ring ring = px_rings_get(&view->rings, i);

		px_ring_init(&ring);
	}
}

static bool geometry_is_sound(const struct px_geometry *geometry, uint64_t max_data)
{
	return geometry->nr_rings > 0 && geometry->nr_rings <= 65536 && geometry->nr_shared > 0 &&
	       geometry->nr_shared <= geometry->nr_rings && geometry->nr_slots >= 64 &&
	       geometry->nr_slots <= PX_RING_SLOTS_MAX &&
	       (geometry->nr_slots & (geometry->nr_slots - 1)) == 0 &&
	       max_data <= PX_ATTR_DATA_SIZE_MAX &&
	       geometry->event_slots == px_record_slots((size_t)max_data) &&
	       geometry->user_limit == geometry->nr_slots - CONTROL_SLOTS &&
	       geometry->event_slots < geometry->user_limit;
}

bool px_segment_view(const struct px_mapping *mapping, struct px_view *view)
{
	const struct px_segment *segment = mapping->base;
	uint32_t bounded, source, shift;

	if (mapping->size < sizeof(*segment) || px_read_once(&segment->magic) != PX_SEGMENT_MAGIC)
		return false;
	view->geometry.nr_rings = px_read_once(&segment->geometry.nr_rings);
	view->geometry.nr_shared = px_read_once(&segment->geometry.nr_shared);
	view->geometry.nr_slots = px_read_once(&segment->geometry.nr_slots);
	view->geometry.event_slots = px_read_once(&segment->geometry.event_slots);
	view->geometry.user_limit = px_read_once(&segment->geometry.user_limit);
	view->max_data = px_read_once(&segment->max_data);
	bounded = px_read_once(&segment->bounded);
	source = px_read_once(&segment->source);
	shift = px_read_once(&segment->shift);
	if (!geometry_is_sound(&view->geometry, view->max_data) || source > PX_CLOCK_LAST ||
	    shift > 32 || px_segment_size(&view->geometry) > mapping->size)
		return false;
	view->limit = bounded ? view->geometry.user_limit : 0;
	view->bound = px_bound_of_one(view->geometry.nr_slots, view->limit);
	view->nr_own = 0;
	view->grows = px_read_once(&segment->grows);
	view->stacks = px_read_once(&segment->stacks);
	view->stack_ticks = px_read_once(&segment->stack_ticks);
	view->aggregates = px_read_once(&segment->aggregates);
	view->max_user_data = px_read_once(&segment->word_bytes) == sizeof(void *) ? view->max_data : 0;
	view->max_call_data = view->aggregates || view->stacks == PX_STACKS_ALL ? 0 : view->max_data;
	view->rings.source = source;
	view->rings.shift = shift;
	fill_view(mapping, view);
	return true;
}

bool px_view_is_full(const struct px_view *view)
{
	uint64_t limit = view->limit ? view->limit : view->geometry.nr_slots;

	for (uint32_t i = 0; i < view->rings.nr_rings; i++) {
		struct px_ring ring = px_rings_get(&view->rings, i);
		uint64_t tail = px_load_acquire(&ring.control->tail);

		if (px_read_once(&ring.control->head) - tail + view->geometry.event_slots > limit)
			return true;
	}
	return false;
}

/*
 * Return the number of used slots above which the reader should read.  A reader of a large ring begins early, because
 * it may have to wait for a CPU while the writers fill the rest.  In a small ring, to begin early would cost too many
 * wakes.
 */
static uint64_t high_water(uint64_t limit)
{
	uint64_t early = limit / 8 > HIGH_WATER_LEAST ? limit / 8 : HIGH_WATER_LEAST;

	return early < limit / 2 ? early : limit / 2;
}

bool px_view_is_high(const struct px_view *view, const struct px_ring *ring)
{
	uint64_t limit = view->limit ? view->limit : view->geometry.nr_slots;
	uint64_t tail;

	if (ring) {
		tail = px_load_acquire(&ring->control->tail);
		if (view->grows && (int64_t)tail < 0)
			return false;
		return px_read_once(&ring->control->head) - tail > high_water(limit);
	}
	for (uint32_t i = 0; i < view->rings.nr_rings; i++) {
		struct px_ring any = px_rings_get(&view->rings, i);

		if (px_view_is_high(view, &any))
			return true;
	}
	return false;
}

uint64_t px_view_heads(const struct px_view *view)
{
	uint64_t sum = 0;

	for (uint32_t i = 0; i < view->rings.nr_rings; i++)
		sum += px_read_once(&px_rings_get(&view->rings, i).control->head);
	return sum;
}

uint64_t px_view_dropped(const struct px_view *view)
{
	uint64_t sum = 0;

	for (uint32_t i = 0; i < view->rings.nr_rings; i++)
		sum += px_load_ordered(&px_rings_get(&view->rings, i).control->dropped); /* EDGE drop acquire */
	return sum;
}

uint64_t px_view_unmarked_drops(const struct px_view *view)
{
	uint64_t sum = px_view_dropped(view);

	for (uint32_t i = 0; i < view->rings.nr_rings; i++)
		sum -= px_read_once(&px_rings_get(&view->rings, i).control->nr_drops_marked);
	return sum;
}

void px_view_forget_first_dropped(const struct px_view *view, uint64_t counter)
{
	uint64_t seen = px_load_acquire(&view->segment->first_dropped);

	if (seen != 0 && (int64_t)(seen - counter) <= 0)
		px_compare_exchange(&view->segment->first_dropped, seen, UINT64_C(0));
}

bool px_view_wrapper(const struct px_view *view, uint32_t i, double tick_ns,
		     struct px_wrapper_sum *sum)
{
	struct px_wrapper_cost cost;
	struct px_wrapper_row row;

	if (!px_wrapper_stats_read(&view->segment->wrapper_stats, i, &row, &cost))
		return false;
	*sum = (struct px_wrapper_sum){.call = row.call,
				       .state = row.state,
				       .samples = cost.samples,
				       .overhead_ns = (uint64_t)((double)cost.ticks * tick_ns)};
	memcpy(sum->symbol, row.symbol, sizeof(sum->symbol));
	memcpy(sum->version, row.version, sizeof(sum->version));
	for (uint32_t k = 0; k < view->rings.nr_rings; k++)
		sum->calls += px_read_once(&px_rings_get(&view->rings, k).control->calls[i]);
	return true;
}

/* If only the filter changes, the window is the same, so the loop tries again. */
void px_view_auto_stop(const struct px_view *view, uint64_t state)
{
	uint64_t now = state;

	while (px_state_of(now) == PX_STATE_RUNNING && px_state_is_same_window(now, state)) {
		uint64_t stopped = (now & ~UINT64_C(15)) | PX_STATE_ARMED | PX_STATE_AUTO_FULL;

		if (px_compare_exchange(&view->segment->state, now, stopped))
			return;
		now = px_load_acquire(&view->segment->state);
	}
}

/*
 * Store the type, which is in the first word, last: readers of the image skip an object with type 0.  A reader that
 * loads the words in another order (memcpy(), cp) can get the type without the whole name.
 */
static void publish_in_image(void *image, uint64_t slot, const struct px_txtb_object *object)
{
	uint32_t words[sizeof(*object) / sizeof(uint32_t)];
	uint32_t *to = (uint32_t *)((char *)image + px_txtb_entries_offset((uint32_t)slot));

	memcpy(words, object, sizeof(words));
	for (size_t i = 1; i < PX_ARRAY_SIZE(words); i++)
		px_write_once(to + i, words[i]);
	px_store_release(to, words[0]);
}

/*
 * Write the object into the image of each ring.  Threads use the first half of the object registry, types the second.
 */
static void publish(const struct px_view *view, uint64_t slot, enum px_txtb_object_type type,
		    uint32_t handle, uint32_t priority, const char *name)
{
	struct px_txtb_object shown;

	if (slot >= PX_TXTB_LIVE_OBJECTS / 2)
		return;
	if (type == PX_TXTB_EVENT_TYPE)
		slot += PX_TXTB_LIVE_OBJECTS / 2;
	px_txtb_object_init(&shown, type, handle, priority, name);
	for (uint32_t i = 0; i < view->rings.nr_rings; i++) {
		struct px_ring ring = px_rings_get(&view->rings, i);

		publish_in_image(px_ring_image(&ring), slot, &shown);
	}
}

void px_view_add_thread(const struct px_view *view, const struct px_object *object)
{
	uint64_t serial = px_threads_add(&view->segment->threads, object);

	publish(view, serial, PX_TXTB_THREAD, object->handle, object->priority, object->name);
	/* The flush thread copies the threads before they leave the table (threadmap.h). */
	if (serial % (PX_THREADS_MAX / 4) == 0 &&
	    px_read_once(&view->segment->waiting) == PX_WAITING_HIGH)
		px_wakeup_wake(&view->segment->waiting);
}

/* Each type has its own slot, so all threads that register a type write the same bytes there. */
void px_view_add_type(const struct px_view *view, unsigned int id, const char *name)
{
	struct px_typelist *types = &view->segment->types;

	if (!px_eventset_has(&types->listed, id))
		publish(view, px_typelist_add(types, id, name), PX_TXTB_EVENT_TYPE,
			px_txtb_handle(PX_TXTB_EVENT_TYPE, id), 0, name);
}
