/* SPDX-License-Identifier: MIT */
#include "log/log_private.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "calls/rules.h"

/* Return the number of words that have a bit for each entry of a volume. */
static size_t fronts_words(const struct px_log_header *header)
{
	return (header->nr_entries + 63u) / 64;
}

struct px_log_volume *px_log_make_volumes(const struct px_log_header *header, uint32_t nr)
{
	uint32_t nr_contexts = px_log_nr_objects(header) - header->nr_type_slots;
	size_t contexts = nr_contexts * sizeof(struct px_log_context);
	size_t types = header->nr_type_slots * sizeof(unsigned int);
	size_t changed = nr_contexts * sizeof(uint16_t);
	struct px_log_volume *volumes = calloc(nr, sizeof(*volumes));
	char *arrays = calloc(nr, contexts + types + changed);
	size_t words = fronts_words(header);
	bool loops = header->policy == PX_POLICY_LOOP;
	uint64_t *fronts = loops ? calloc(nr * words, sizeof(*fronts)) : NULL;

	if (!volumes || !arrays || (loops && !fronts)) {
		free(volumes);
		free(arrays);
		free(fronts);
		return NULL;
	}
	for (uint32_t i = 0; i < nr; i++) {
		volumes[i].context = (void *)(arrays + i * contexts);
		volumes[i].type = (void *)(arrays + nr * contexts + i * types);
		volumes[i].changed = (void *)(arrays + nr * (contexts + types) + i * changed);
		volumes[i].fronts = loops ? fronts + i * words : NULL;
	}
	return volumes;
}

/* All volumes share the memory blocks of the first volume. */
void px_log_free_volumes(struct px_log_volume *volumes)
{
	if (volumes) {
		free(volumes[0].context);
		free(volumes[0].fronts);
	}
	free(volumes);
}

/* Object slot 0 is for events that belong to no thread. */
void px_log_reset_volume(const struct px_log *log, struct px_log_volume *volume)
{
	uint32_t nr_contexts = px_log_nr_objects(&log->header) - log->header.nr_type_slots;
	struct px_log_context *context = volume->context;
	unsigned int *type = volume->type;
	uint16_t *changed = volume->changed;
	uint64_t *fronts = volume->fronts;

	/* Only a volume that has begun has contexts.  The memory of the others is still as calloc() gave it. */
	if (volume->is_begun) {
		memset(context, 0, nr_contexts * sizeof(*context));
		if (fronts)
			memset(fronts, 0, fronts_words(&log->header) * sizeof(*fronts));
	}
	memset(volume, 0, sizeof(*volume));
	volume->context = context;
	volume->type = type;
	volume->changed = changed;
	volume->fronts = fronts;
	volume->is_begun = true;
	px_log_list_change(volume, &context[0]);
	context[0].is_dirty = true;
	context[0].known.object = (struct px_object){.handle = PX_NO_THREAD,
						     .type = PX_TXTB_THREAD,
						     .priority = 1023,
						     .name = PX_NO_THREAD_NAME};
	px_log_enter_context(log, volume, 0, PX_NO_THREAD);
}

static uint16_t *bucket_of(struct px_log_volume *volume, uint32_t handle)
{
	return &volume->bucket[(handle * 0x9E3779B1u >> 16) % PX_LOG_BUCKETS];
}

struct px_log_context *px_log_find_context(struct px_log_volume *volume, uint32_t handle)
{
	uint32_t i = *bucket_of(volume, handle);

	while (i && volume->context[i - 1].handle != handle)
		i = volume->context[i - 1].next;
	return i ? &volume->context[i - 1] : NULL;
}

/* Others need not look at later slots: their memory may never have been touched. */
static void note_used(const struct px_log *log, struct px_log_volume *volume, uint32_t slot)
{
	uint32_t first_of_calls = PX_LOG_SLOT_FIRST + log->header.nr_thread_slots;
	bool is_of_call = slot >= first_of_calls;
	struct px_log_hand *hand = &volume->hand[is_of_call ? 1 : 0];
	uint32_t i = slot - (is_of_call ? first_of_calls : PX_LOG_SLOT_FIRST);

	if (slot >= PX_LOG_SLOT_FIRST && i >= hand->end)
		hand->end = i + 1;
}

void px_log_enter_context(const struct px_log *log, struct px_log_volume *volume, uint32_t slot, uint32_t handle)
{
	struct px_log_context *context = &volume->context[slot];
	uint16_t *from;

	if (context->handle) {
		from = bucket_of(volume, context->handle);
		while (*from && *from != slot + 1)
			from = &volume->context[*from - 1].next;
		if (*from)
			*from = context->next;
	}
	note_used(log, volume, slot);
	context->handle = handle;
	context->title_ns = 0;
	from = bucket_of(volume, handle);
	context->next = *from;
	*from = (uint16_t)(slot + 1);
}

void px_log_list_change(struct px_log_volume *volume, struct px_log_context *context)
{
	if (context->is_listed)
		return;
	context->is_listed = true;
	volume->changed[volume->nr_changed++] = (uint16_t)(context - volume->context);
}

void px_log_make_name_unique(struct px_log_volume *volume, struct px_log_context *context)
{
	const struct px_object *object = &context->known.object;

	context->same = 0;
	if (!px_is_thread(context->handle))
		return;
	for (uint32_t i = 0; i < volume->hand[0].end; i++) {
		const struct px_log_context *other = &volume->context[PX_LOG_SLOT_FIRST + i];

		if (other->handle == 0 || other == context ||
		    other->known.object.tid != object->tid ||
		    strcmp(other->known.object.name, object->name) != 0)
			continue;
		if (context->same < other->same + 1)
			context->same = other->same + 1;
	}
}

struct px_object px_log_image_object(const struct px_log_context *context)
{
	struct px_object image = context->known.object;
	size_t length = strlen(image.name);

	if (context->same > 0 && length + 12 < PX_TXTB_NAME_SIZE)
		snprintf(image.name + length, sizeof(image.name) - length, " #%u", context->same + 1);
	return image;
}

bool px_log_is_front(const struct px_txtb_entry *entry)
{
	uint32_t id = entry->id & 0xFFFF;

	return entry->context != 0 && id != PX_TXTB_RUNNING && id != PX_NATIVE_RESUME &&
	       id != PX_NATIVE_SUSPEND;
}

void px_log_forget_fronts(struct px_log_volume *volume, uint32_t slot, uint32_t count)
{
	for (uint32_t i = slot; i < slot + count; i++)
		volume->fronts[i / 64] &= ~(UINT64_C(1) << i % 64);
}

void px_log_note_front(struct px_log_volume *volume, uint32_t slot, const struct px_txtb_entry *entry)
{
	if (px_log_is_front(entry))
		volume->fronts[slot / 64] |= UINT64_C(1) << slot % 64;
}

uint32_t px_log_find_front(const struct px_log *log, const struct px_log_volume *volume, uint32_t slot)
{
	uint32_t nr = log->header.nr_entries;

	while (slot < nr && !(volume->fronts[slot / 64] >> slot % 64))
		slot = (slot / 64 + 1) * 64;
	if (slot >= nr)
		return 0;
	return slot + (uint32_t)__builtin_ctzll(volume->fronts[slot / 64] >> slot % 64);
}

uint64_t px_log_volume_at(const struct px_log *log, uint64_t position)
{
	return log->loops ? px_log_volume_number(&log->header, position) * log->layout.size :
			    log->volume_at;
}

/* If the list has no room for a part, the newest part becomes longer. */
void px_log_add_part(struct px_log *log, const struct px_log_part *part, bool begins)
{
	bool has_room = log->nr_parts < log->parts_max;

	if (log->nr_parts == 0 || (begins && has_room))
		*px_log_part(log, log->nr_parts++) = *part;
	else
		px_log_part(log, log->nr_parts - 1)->nr_events += part->nr_events;
}

uint64_t px_log_drop_parts(struct px_log *log, uint64_t end, uint64_t frame_end)
{
	uint64_t here = px_log_volume_number(&log->header, end - 1);
	uint64_t round = (end - 1) / log->capacity;
	uint64_t count = 0;

	while (log->nr_parts > 0) {
		const struct px_log_part *oldest = px_log_part(log, 0);
		bool is_overwritten = oldest->position + log->capacity < end;

		if (oldest->position / log->capacity < round &&
		    px_log_volume_number(&log->header, oldest->position) == here)
			is_overwritten |= oldest->frame < frame_end;
		if (!is_overwritten)
			break;
		count += oldest->nr_events;
		log->first_part = (log->first_part + 1) % log->parts_max;
		log->nr_parts--;
	}
	return count;
}

/* Leave room for the end of a hole behind the last frame (write_hole()). */
void px_log_end_volume(struct px_log *log)
{
	log->next_at = px_log_page_up(log->volume_at + log->layout.frames + log->frame +
				      sizeof(struct px_log_frame));
}

/* Return how many bytes of the image of the current volume are not in use when it ends at this entry. */
static uint64_t unused_bytes(const struct px_log *log, uint32_t end)
{
	uint32_t nr_contexts = px_log_nr_objects(&log->header) - log->header.nr_type_slots;
	uint64_t nr_free = 0;

	for (uint32_t i = 0; i < nr_contexts; i++)
		nr_free += log->volumes[0].context[i].handle == 0;
	return nr_free * sizeof(struct px_txtb_object) +
	       (log->header.nr_entries - end) * sizeof(struct px_txtb_entry);
}

void px_log_next_volume(struct px_log *log)
{
	uint32_t slot = px_log_slot_in_volume(&log->header, log->staged.end);
	struct px_log_volume *volume;

	if (!log->loops)
		log->unused += unused_bytes(log, slot > 0 ? slot : log->header.nr_entries);
	if (slot > 0) {
		log->hole = log->staged.end;
		log->hole_frame = log->frame;
		log->has_hole = true;
		log->staged.end += log->header.nr_entries - slot;
	}
	if (px_log_volume_number(&log->header, log->staged.end - 1) < log->nr_begun)
		px_log_end_volume(log);
	log->stage_position = log->staged.end;
	log->frame = 0;
	log->ends_chapter = true;
	log->ends_volume = false;
	log->is_idle = false;
	volume = px_log_volume_of(log, log->staged.end);
	if (!log->loops || !volume->is_begun)
		px_log_reset_volume(log, volume);
	log->staged.stamps = volume->stamps;
}
