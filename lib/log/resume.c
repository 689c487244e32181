/* SPDX-License-Identifier: MIT */
/*
 * Continue the log of a dead writer.  The checkpoint has a part of the writer's state.  The file of the log has the
 * rest: threads, objects of calls and event types are in its object slots.  In a LOOP log, the slots show where records
 * begin, which entry belongs to which thread, and the last stamp of each volume.
 *
 * The file is untrusted input.  This code uses the slot of a position only if the slot holds that position.
 */
#include "log/log_private.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "txtb/file.h"

#define WINDOW_SLOTS 4096

static bool read_at(const struct px_log *log, void *data, size_t size, uint64_t offset)
{
	return px_txtb_file_read(log->fd, data, size, offset) == size;
}

/* Objects. */

/*
 * Load an object slot.  The file describes an object twice: exactly in the section, and for the viewer in the image.
 * If the two differ, the writer died between the two writes.  Then no committed entry needs the object, so the slot
 * stays free.
 */
static void load_context(struct px_log_volume *volume, uint32_t i,
			 const struct px_log_object *exact, const struct px_txtb_object *shown)
{
	struct px_log_context *context = &volume->context[i];

	context->is_stale = shown->type != PX_TXTB_UNUSED;
	if (exact->object.handle == 0 || shown->type != exact->object.type ||
	    shown->type == PX_TXTB_UNUSED || shown->type >= PX_TXTB_EVENT_TYPE ||
	    shown->handle != exact->object.handle ||
	    px_log_find_context(volume, exact->object.handle) ||
	    (exact->object.handle == PX_IDLE_THREAD) != (i == PX_LOG_SLOT_IDLE))
		return;
	px_log_enter_context(volume, i, exact->object.handle);
	context->is_stale = false;
	context->object = exact->object;
	context->object.name[PX_OBJECT_NAME_SIZE - 1] = '\0';
	context->address = exact->address;
	context->site = exact->site;
}

/*
 * Load an event type.  If the writer died while it wrote a type, skip that type and all types after it: the next write
 * will write them again.
 */
static void load_type(struct px_log_volume *volume, uint32_t i, const struct px_object *exact,
		      const struct px_txtb_object *shown)
{
	uint32_t id = exact->handle & 0xFFFFFF;

	if (i != volume->nr_types || shown->type != PX_TXTB_EVENT_TYPE ||
	    shown->handle != exact->handle || id >= PX_EVENT_IDS)
		return;
	px_eventset_add(&volume->listed, id);
	volume->type[volume->nr_types++] = id;
	volume->types_written = volume->nr_types;
}

/* Load the objects of the volume that begins at this offset.  Return false if they cannot be read. */
static bool load_objects(struct px_log *log, struct px_log_volume *volume, uint64_t offset)
{
	struct px_log_object *exact = malloc(PX_LOG_OBJECTS * sizeof(*exact));
	struct px_txtb_object *shown = malloc(PX_LOG_OBJECTS * sizeof(*shown));
	bool is_read = exact && shown &&
		       read_at(log, exact, PX_LOG_OBJECTS * sizeof(*exact),
			       offset + log->layout.objects) &&
		       read_at(log, shown, PX_LOG_OBJECTS * sizeof(*shown),
			       offset + px_txtb_entries_offset(0));

	px_log_reset_volume(volume);
	for (uint32_t i = 1; is_read && i <= PX_LOG_IN_USE; i++)
		load_context(volume, i, &exact[i], &shown[i]);
	for (uint32_t i = PX_LOG_TYPES_FIRST; is_read && i < PX_LOG_OBJECTS; i++)
		load_type(volume, i - PX_LOG_TYPES_FIRST, &exact[i].object, &shown[i]);
	free(exact);
	free(shown);
	return is_read;
}

/* Slots of a LOOP log. */

struct window {
	struct px_log_slot slots[WINDOW_SLOTS];
	struct px_txtb_entry entries[WINDOW_SLOTS];
};

static void note_context(struct px_log_volume *volume, uint32_t handle, uint64_t position)
{
	struct px_log_context *context = px_log_find_context(volume, handle);

	/*
	 * An entry that hides others from the viewer has the handle 0.  If the context is unknown, the entry is damaged
	 * or overwritten.
	 */
	if (handle != 0 && context)
		context->last = position;
}

/*
 * The information words of a call may be handles.  If a word only looks like a handle, the log keeps an object slot for
 * longer than necessary, which does no harm.
 */
static void note_words(struct px_log_volume *volume, const struct px_log_slot *slot,
		       const struct px_txtb_entry *entry, uint64_t position)
{
	bool is_shown = (slot->word & 0xFF) == PX_LOG_SHOWN ||
			((slot->word & 0xFF) == PX_LOG_EVENT && slot->flags & PX_LOG_IS_NATIVE);

	for (uint32_t i = 0; is_shown && i < PX_ARRAY_SIZE(entry->info); i++)
		note_context(volume, entry->info[i], position);
}

static void note_slot(struct px_log *log, uint64_t position, const struct px_log_slot *slot,
		      const struct px_txtb_entry *entry)
{
	struct px_log_volume *volume = px_log_volume_of(log, position);
	struct px_log_stamps *stamps = &volume->stamps;

	note_context(volume, entry->context, position);
	note_words(volume, slot, entry, position);
	stamps->begun = true;
	stamps->ticks = entry->stamp;
	if ((slot->word & 0xFF) != PX_LOG_EVENT)
		return;
	if (slot->time_ns > stamps->base_ns)
		stamps->base_ns = slot->time_ns;
	if (position < log->commit.first)
		return;
	log->heads[position % log->capacity / 64] |= UINT64_C(1) << position % log->capacity % 64;
	log->nr_heads++;
}

/* Read slots of a volume from this position on.  Return their number, or 0 if they cannot be read. */
static uint32_t load_slots(const struct px_log *log, uint64_t position, struct window *window)
{
	uint64_t offset = px_log_volume_offset(&log->header, &log->layout, position);
	uint32_t slot = px_log_slot_in_volume(&log->header, position);
	uint64_t count = log->header.nr_entries - slot;

	if (count > log->commit.end - position)
		count = log->commit.end - position;
	if (count > WINDOW_SLOTS)
		count = WINDOW_SLOTS;
	count = px_txtb_file_read(log->fd, window->slots, count * sizeof(*window->slots),
				  offset + log->layout.slots + slot * sizeof(*window->slots)) /
		sizeof(*window->slots);
	count = px_txtb_file_read(log->fd, window->entries, count * sizeof(*window->entries),
				  offset + log->layout.entries + slot * sizeof(*window->entries)) /
		sizeof(*window->entries);
	return (uint32_t)count;
}

/*
 * Read all slots of the volumes, oldest first.  Also read the slots before the oldest record that is left, because the
 * stamps of a volume continue from its last entry, even if that entry is lost.
 */
static int scan_slots(struct px_log *log)
{
	uint64_t end = log->commit.end;
	uint64_t position = end > log->capacity ? end - log->capacity : 0;
	struct window *window = malloc(sizeof(*window));

	if (!window)
		return ENOMEM;
	while (position < end) {
		uint32_t count = load_slots(log, position, window);

		for (uint32_t i = 0; i < count; i++)
			if (window->slots[i].word >> 8 == position + i)
				note_slot(log, position + i, &window->slots[i],
					  &window->entries[i]);
		/*
		 * If no slot could be read, the volume ended early, and the rest of it is not in the file: go to the
		 * next volume.
		 */
		position = count > 0 ? position + count :
				       px_log_next_volume_at(&log->header, position);
	}
	free(window);
	if (log->commit.nr_events > log->nr_heads)
		log->staged.nr_overwritten = log->commit.nr_events - log->nr_heads;
	return 0;
}

/* Load the state of the log from the checkpoint. */

static void load_cursor(struct px_log *log)
{
	const struct px_checkpoint_log *left = &log->checkpoint_file->base->log;
	const struct px_checkpoint_content *file = log->checkpoint_file->file;
	struct px_log_cursor *cursor = &log->staged;

	cursor->first = log->commit.first;
	cursor->end = log->stage_position = log->commit.end;
	cursor->nr_events = log->commit.nr_events;
	cursor->nr_shortened = log->commit.nr_shortened;
	cursor->shortened_ns = log->commit.shortened_ns;
	cursor->last_ns = left->last_ns;
	cursor->has_stop = left->has_stop != 0;
	log->wants_stop = left->wants_stop != 0;
	log->serial = left->serial & 0xFFFFFF;
	log->is_full = log->commit.log_full != 0;
	log->nr_lost = left->nr_lost;
	log->first_error = log->commit.flush_error;
	log->nr_begun = left->nr_begun;
	if (file->spoiled > log->commit.end)
		log->spoiled = file->spoiled;
	if (file->to_clear > 0 && log->commit.end == 0) {
		log->is_cleared = true;
		log->to_clear = file->to_clear;
		log->spoiled = 0;
	}
}

/* The checkpoint may be damaged.  Return true if its positions are possible in this log. */
static bool cursor_is_sound(const struct px_log *log)
{
	const struct px_log_header *header = &log->header;
	uint64_t here = px_log_volume_number(header, log->commit.end);

	return log->nr_begun > 0 &&
	       (header->nr_volumes == 0 || log->nr_begun <= header->nr_volumes) &&
	       (log->loops || log->nr_begun >= here) && log->to_clear <= header->nr_entries &&
	       (log->spoiled == 0 ||
		log->spoiled <=
			px_log_next_volume_at(header, log->commit.end) + header->nr_entries);
}

/* The checkpoint has the exact stamps of the current volume.  The stamps of other volumes come from their slots. */
static void load_stamps(struct px_log *log)
{
	const struct px_checkpoint_log *left = &log->checkpoint_file->base->log;
	const struct px_log_stamps stamps = {.begun = left->has_stamps != 0,
					     .base_ns = left->base_ns,
					     .ticks = left->ticks,
					     .real = left->real};
	uint64_t here = px_log_volume_number(&log->header, log->commit.end);

	if (log->loops && left->volume < log->header.nr_volumes)
		log->volumes[left->volume].stamps = stamps;
	else if (!log->loops && left->volume == here)
		log->volumes[0].stamps = stamps;
	log->staged.stamps = px_log_volume_of(log, log->commit.end)->stamps;
}

static int load_volumes(struct px_log *log)
{
	uint64_t here = px_log_volume_number(&log->header, log->commit.end);

	if (log->is_cleared)
		return 0; /* the log is empty */
	if (!log->loops) {
		if (here < log->nr_begun &&
		    px_log_slot_in_volume(&log->header, log->commit.end) > 0 &&
		    !load_objects(log, &log->volumes[0], here * log->layout.size))
			return EIO;
		return 0;
	}
	for (uint64_t i = 0; i < log->nr_begun; i++)
		if (!load_objects(log, &log->volumes[i], i * log->layout.size))
			return EIO;
	return scan_slots(log);
}

/* Find out which names of event types are already in the file, for px_log_write_names(). */
static int load_names(struct px_log *log)
{
	struct px_log_name name;

	for (uint32_t i = 0; i < log->commit.nr_names; i++) {
		if (!read_at(log, &name, sizeof(name), log->layout.names + i * sizeof(name)))
			return EIO;
		if (name.id < PX_EVENT_IDS)
			px_eventset_add(&log->named, name.id);
	}
	return 0;
}

/* Undo a clear if the writer died before it committed the clear. */
static int undo_clear(struct px_log *log)
{
	int error;

	if (log->is_cleared || log->checkpoint_file->file->to_clear == 0)
		return 0;
	error = px_log_show_first(log);
	if (!error)
		px_write_once(&log->checkpoint_file->file->to_clear, 0);
	return error;
}

static int load(struct px_log *log)
{
	int error = px_log_allocate(log);

	if (error)
		return error;
	load_cursor(log);
	if (!cursor_is_sound(log))
		return EINVAL;
	error = load_names(log);
	if (!error)
		error = load_volumes(log);
	if (error)
		return error;
	load_stamps(log);
	log->written = log->staged;
	/*
	 * A failed write may have left entries in the volume after the last commit's volume: continue in that volume.
	 */
	if (log->spoiled > px_log_next_volume_at(&log->header, log->commit.end))
		px_log_next_volume(log);
	return undo_clear(log);
}

int px_log_resume(const struct px_log_left *left, struct px_log **log)
{
	struct px_log *made = calloc(1, sizeof(*made));
	int error;

	if (!made)
		return ENOMEM;
	error = px_log_take_descriptor(made, left->fd);
	if (error) {
		free(made);
		return error;
	}
	made->header = *left->header;
	made->layout = *left->layout;
	made->commit = *left->commit;
	made->threads = left->threads;
	made->types = left->types;
	made->view = left->view;
	made->checkpoint_file = left->checkpoint_file;
	made->loops = made->header.policy == PX_POLICY_LOOP;
	made->capacity = (uint64_t)made->header.nr_entries * made->header.nr_volumes;
	error = load(made);
	if (error) {
		px_log_free(made);
		return error;
	}
	*log = made;
	return 0;
}
