/* SPDX-License-Identifier: MIT */
#include "registry/stream_list.h"

#include <stdlib.h>
#include <string.h>

#include "ring/ring.h"

#define HEAD_BYTES offsetof(struct px_segment, run)

/* Fill in all data that does not come from the rings. */
static void describe_head(const struct px_segment *segment, struct px_stream_list_entry *entry)
{
	memcpy(entry->name, segment->name, sizeof(entry->name));
	entry->name[sizeof(entry->name) - 1] = '\0';
	entry->policy = px_read_once(&segment->policy);
	entry->is_running = px_state_of(px_read_once(&segment->state)) == PX_STATE_RUNNING;
	entry->is_full = false;
	entry->nr_recorded = 0;
	entry->nr_dropped = 0;
}

/* The two counters head and extra are read at different moments, so extra may be larger than head. */
static void add_ring(const struct px_ring_control *control, const struct px_view *view,
		     struct px_stream_list_entry *entry)
{
	uint64_t limit = view->limit ? view->limit : view->geometry.nr_slots;
	uint64_t extra = px_ring_extra(control);
	uint64_t tail = px_read_once(&control->tail);
	uint64_t head = px_read_once(&control->head);

	if (head > extra)
		entry->nr_recorded += head - extra;
	entry->nr_dropped += px_read_once(&control->given_up) + px_read_once(&control->dropped);
	if (head - tail + view->geometry.event_slots > limit)
		entry->is_full = true;
}

void px_stream_list_describe(const struct px_view *view, struct px_stream_list_entry *entry)
{
	describe_head(view->segment, entry);
	for (uint32_t i = 0; i < view->rings.nr_rings; i++)
		add_ring(px_rings_get(&view->rings, i).control, view, entry);
}

static bool read_rings(uint32_t index, const struct px_registry_slot *slot,
		       const struct px_view *view, struct px_stream_list_entry *entry)
{
	for (uint32_t i = 0; i < view->geometry.nr_rings; i++) {
		struct px_ring_control control;

		if (px_registry_read_segment(index, slot,
					     PX_SEGMENT_RINGS_OFFSET + i * view->rings.stride,
					     &control, sizeof(control)) != 0)
			return false;
		add_ring(&control, view, entry);
	}
	return true;
}

/*
 * The copy has only the first part of the segment.  read_rings() reads the rings from the segment itself, and fails if
 * there are fewer rings than the first part claims.
 */
static bool read_copy(uint32_t index, const struct px_registry_slot *slot,
		      struct px_segment *segment, struct px_stream_list_entry *entry)
{
	struct px_mapping copy = {.base = segment};
	struct px_view view;

	if (px_registry_read_segment(index, slot, 0, segment, HEAD_BYTES) != 0)
		return false;
	copy.size = segment->size;
	if (!px_segment_view(&copy, &view) || view.geometry.nr_rings > PX_RINGS_MAX)
		return false;
	describe_head(segment, entry);
	return read_rings(index, slot, &view, entry);
}

bool px_stream_list_read(uint32_t index, struct px_registry_slot *slot,
			 struct px_stream_list_entry *entry)
{
	struct px_segment *segment;
	bool is_read;

	if (!px_registry_read(index, slot))
		return false;
	segment = malloc(sizeof(*segment));
	is_read = segment && read_copy(index, slot, segment, entry);
	free(segment);
	return is_read;
}
