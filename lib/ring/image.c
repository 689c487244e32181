/* SPDX-License-Identifier: MIT */
#include "ring/image.h"

#include "ring/growth.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define NR_FILLERS 3
#define LONGEST_GAP (UINT64_C(1) << 30) /* ticks: well below half the range of a stamp */

/* The contents of a ring, before they become an image. */
struct harvest {
	struct px_txtb_entry *entry;
	uint64_t *counter;
	uint32_t nr_entries;
	uint32_t *context; /* the contexts of the entries: sorted, without duplicates */
	uint32_t nr_contexts;
	struct px_object *object; /* the threads, and then the event types */
	uint32_t nr_objects;
};

static void copy_entry(const struct px_ring *ring, uint64_t position, struct px_txtb_entry *entry)
{
	const px_pair *from = (const px_pair *)&ring->entries[position & ring->mask];
	px_pair *to = (px_pair *)entry;

	for (size_t i = 0; i < sizeof(*entry) / sizeof(*to); i++)
		to[i] = px_read_once(from + i);
}

/*
 * Copy the record at position.  Return false if the record was overwritten during the copy, or if it would end after
 * head.
 */
static bool take_record(const struct px_ring *ring, uint64_t position, uint64_t head, uint64_t word,
			struct harvest *harvest, uint32_t *nr_slots)
{
	struct px_record record;

	if (!px_record_read(ring, position, word, &record, NULL, 0) ||
	    record.nr_slots > head - position)
		return false;
	for (uint32_t i = 0; i < record.nr_slots; i++) {
		copy_entry(ring, position + i, &harvest->entry[harvest->nr_entries + i]);
		harvest->counter[harvest->nr_entries + i] = record.counter;
	}
	if (!px_record_is_whole(ring, position, word, record.nr_slots))
		return false;
	harvest->nr_entries += record.nr_slots;
	*nr_slots = record.nr_slots;
	return true;
}

/*
 * Copy all records, oldest first.  If a writer overwrites records before they are copied, discard all records copied so
 * far.  These are older than the overwritten ones, and the copy must have no gap.
 */
static void take_entries(const struct px_ring *ring, struct harvest *harvest)
{
	uint64_t head = px_load_acquire(&ring->control->head);
	uint64_t position = head - (ring->mask + 1);

	while (position != head) {
		uint32_t nr_slots = 1;
		uint64_t word;
		enum px_look look = px_ring_look(ring, position, head, &word);

		PX_TESTPOINT("image.take.looked");
		if (look == PX_LOOK_LAPPED ||
		    (look == PX_LOOK_RECORD &&
		     !take_record(ring, position, head, word, harvest, &nr_slots)))
			harvest->nr_entries = 0;
		position += nr_slots;
	}
}

static int compare_words(const void *a, const void *b)
{
	uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;

	return (x > y) - (x < y);
}

static void find_contexts(struct harvest *harvest)
{
	uint32_t n = 0;

	for (uint32_t i = 0; i < harvest->nr_entries; i++)
		harvest->context[i] = harvest->entry[i].context;
	qsort(harvest->context, harvest->nr_entries, sizeof(uint32_t), compare_words);
	for (uint32_t i = 0; i < harvest->nr_entries; i++)
		if (n == 0 || harvest->context[i] != harvest->context[n - 1])
			harvest->context[n++] = harvest->context[i];
	harvest->nr_contexts = n;
}

/* Collect the threads of the events.  A thread that has left the thread table gets the name "unknown thread". */
static void take_threads(const struct px_threads *objects, struct harvest *harvest)
{
	for (uint32_t i = 0; i < harvest->nr_contexts; i++) {
		struct px_object *object = &harvest->object[harvest->nr_objects++];

		if (px_threads_find(objects, harvest->context[i], object) &&
		    object->type == PX_TXTB_THREAD)
			continue;
		*object = (struct px_object){.handle = harvest->context[i], .type = PX_TXTB_THREAD};
		snprintf(object->name, sizeof(object->name), "unknown thread %x", object->handle);
	}
	if (harvest->nr_objects == 0) /* each filler event must name a thread */
		harvest->object[harvest->nr_objects++] = (struct px_object){
			.handle = PX_NO_THREAD, .type = PX_TXTB_THREAD, .name = "no event"};
}

static void take_types(const struct px_typelist *list, struct harvest *harvest)
{
	char name[PX_NAME_MAX + 1];
	unsigned int id;

	for (uint32_t i = 0; px_typelist_get(list, i, &id, name); i++) {
		struct px_object *object = &harvest->object[harvest->nr_objects];

		if (id == PX_EVENT_NONE)
			continue;
		*object = (struct px_object){.handle = px_txtb_handle(PX_TXTB_EVENT_TYPE, id),
					     .type = PX_TXTB_EVENT_TYPE};
		strcpy(object->name, name);
		harvest->nr_objects++;
	}
}

/* Return the smallest shift that is at least `shift` and makes every pause at most LONGEST_GAP ticks long. */
static unsigned int choose_shift(const struct harvest *harvest, unsigned int shift)
{
	uint64_t longest = 0;

	for (uint32_t i = 1; i < harvest->nr_entries; i++)
		if (harvest->counter[i] - harvest->counter[i - 1] > longest)
			longest = harvest->counter[i] - harvest->counter[i - 1];
	while (longest >> shift > LONGEST_GAP)
		shift++;
	return shift;
}

static void fill_image(const struct harvest *harvest, unsigned int shift, char *bytes)
{
	struct px_txtb_object *object =
		(struct px_txtb_object *)(bytes + sizeof(struct px_txtb_header));
	struct px_txtb_entry *entry =
		(struct px_txtb_entry *)(bytes + px_txtb_entries_offset(harvest->nr_objects));
	uint32_t nr_entries = NR_FILLERS + harvest->nr_entries;

	px_txtb_header_init((struct px_txtb_header *)bytes, harvest->nr_objects, PX_TXTB_NAME_SIZE,
			    nr_entries);
	for (uint32_t i = 0; i < harvest->nr_objects; i++)
		px_txtb_object_init(&object[i], (enum px_txtb_object_type)harvest->object[i].type,
				    harvest->object[i].handle, harvest->object[i].priority,
				    harvest->object[i].name);
	memset(entry, 0, NR_FILLERS * sizeof(*entry));
	for (uint32_t i = 0; i < NR_FILLERS; i++) {
		entry[i].context = harvest->object[0].handle;
		entry[i].priority = px_txtb_priority_word(harvest->object[0].priority);
		entry[i].id = PX_TXTB_RUNNING;
		entry[i].stamp = i;
	}
	for (uint32_t i = 0; i < harvest->nr_entries; i++) {
		entry[NR_FILLERS + i] = harvest->entry[i];
		entry[NR_FILLERS + i].stamp =
			NR_FILLERS +
			(uint32_t)((harvest->counter[i] - harvest->counter[0]) >> shift);
	}
}

static int make_image(const struct harvest *harvest, unsigned int shift, uint64_t scale,
		      struct px_image *image)
{
	image->size = px_txtb_image_size(harvest->nr_objects, NR_FILLERS + harvest->nr_entries);
	image->bytes = malloc(image->size);
	if (!image->bytes)
		return ENOMEM;
	image->tick_ns = (double)scale / (double)(UINT64_C(1) << 48) *
			 (double)(UINT64_C(1) << shift);
	fill_image(harvest, shift, image->bytes);
	px_txtb_set_tick(image->bytes, image->tick_ns);
	return 0;
}

int px_image_copy(const struct px_view *view, uint32_t i, uint64_t scale, struct px_image *image)
{
	struct px_ring ring = px_rings_get(&view->rings, i);
	size_t nr_slots = view->rings.nr_slots;
	struct harvest harvest = {
		.entry = malloc(nr_slots * sizeof(*harvest.entry)),
		.counter = malloc(nr_slots * sizeof(*harvest.counter)),
		.context = malloc(nr_slots * sizeof(*harvest.context)),
	};
	int error = ENOMEM;

	if (!px_growth_finish(view) || !harvest.entry || !harvest.counter || !harvest.context)
		goto free_parts;
	take_entries(&ring, &harvest);
	find_contexts(&harvest);
	harvest.object =
		malloc((harvest.nr_contexts + PX_TYPELIST_MAX + 1) * sizeof(*harvest.object));
	if (!harvest.object)
		goto free_parts;
	take_threads(&view->segment->threads, &harvest);
	take_types(&view->segment->types, &harvest);
	error = make_image(&harvest, choose_shift(&harvest, view->rings.shift), scale, image);

free_parts:
	free(harvest.entry);
	free(harvest.counter);
	free(harvest.context);
	free(harvest.object);
	return error;
}
