/* SPDX-License-Identifier: MIT */
/*
 * Continue the log of a dead writer.  The checkpoint has a part of the writer's state, and the file of the log has the
 * other part.  The object slots of the file hold threads, objects of calls, and event types.  The frames have the exact
 * names of these objects, and show where the chapters of a LOOP log begin.  The entries show which object slots are in
 * use, and the last stamp of each volume.
 *
 * The file is untrusted input.
 */
#include "log/log_private.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "log/archive_source.h"
#include "txtb/file.h"

#define WINDOW_ENTRIES 4096

static bool read_at(const struct px_log *log, void *data, size_t size, uint64_t offset)
{
	return px_txtb_file_read(log->fd, data, size, offset) == size;
}

/* Objects. */

/*
 * Load an object slot.  The image has shortened names, and load_definitions() replaces them.  Treat the slot as free if
 * this kind of object does not belong into this slot, or if an earlier slot has the same object.
 */
static void load_context(const struct px_log *log, struct px_log_volume *volume, uint32_t i,
			 const struct px_txtb_object *image)
{
	struct px_log_context *context = &volume->context[i];
	bool is_thread = i < PX_LOG_SLOT_FIRST + log->header.nr_thread_slots;
	struct px_object *object = &context->known.object;

	if (image->handle == 0 || image->type == PX_TXTB_UNUSED || image->type >= PX_TXTB_EVENT_TYPE ||
	    (image->type == PX_TXTB_THREAD) != is_thread || px_log_find_context(volume, image->handle) ||
	    (image->handle == PX_IDLE_THREAD) != (i == PX_LOG_SLOT_IDLE)) {
		if (image->type != PX_TXTB_UNUSED) {
			px_log_list_change(volume, context);
			context->is_stale = true;
		}
		return;
	}
	px_log_enter_context(log, volume, i, image->handle);
	*object = (struct px_object){.handle = image->handle, .type = image->type};
	object->priority = (image->priority_high & 3u) << 8 | image->priority_low;
	memcpy(object->name, image->name, sizeof(image->name));
}

/*
 * Load an event type.  If the writer died while it wrote a type, skip that type and all types after it: the next write
 * will write them again.
 */
static void load_type(const struct px_log *log, struct px_log_volume *volume, uint32_t i,
		      const struct px_txtb_object *image)
{
	uint32_t id = image->handle & 0xFFFFFF;

	if (i != volume->nr_types || image->type != PX_TXTB_EVENT_TYPE || id >= PX_EVENT_IDS ||
	    i >= log->header.nr_type_slots)
		return;
	px_eventset_add(&volume->listed, id);
	volume->type[volume->nr_types++] = id;
	volume->types_written = volume->nr_types;
}

/* Load the objects of the volume that begins at this offset.  Return false if the file cannot be read. */
static bool load_objects(struct px_log *log, struct px_log_volume *volume, uint64_t offset)
{
	uint32_t nr_objects = px_log_nr_objects(&log->header);
	uint32_t nr_contexts = nr_objects - log->header.nr_type_slots;
	struct px_txtb_object *image = malloc(nr_objects * sizeof(*image));
	bool is_read = image && read_at(log, image, nr_objects * sizeof(*image), offset + px_txtb_entries_offset(0));

	px_log_reset_volume(log, volume);
	for (uint32_t i = 1; is_read && i < nr_contexts; i++)
		load_context(log, volume, i, &image[i]);
	for (uint32_t i = nr_contexts; is_read && i < nr_objects; i++)
		load_type(log, volume, i - nr_contexts, &image[i]);
	free(image);
	return is_read;
}

/* Load the definitions of the objects in the object slots from the frames. */
static void load_definitions(struct px_log *log, struct px_archive_source *source)
{
	uint64_t nr_volumes = log->loops ? log->nr_begun : 1;
	struct px_log_object object;

	for (uint32_t i = 0; source->kind->object(source, i, &object); i++) {
		if (object.object.type == PX_TXTB_THREAD)
			px_threadmap_add(log->threads, &object.object);
		for (uint64_t k = 0; k < nr_volumes; k++) {
			struct px_log_context *context =
				px_log_find_context(&log->volumes[k], object.object.handle);

			if (!context || context->known.object.type != object.object.type)
				continue;
			context->known = object;
			px_log_make_name_unique(&log->volumes[k], context);
		}
	}
}

/* The entries of a LOOP log. */

static void note_context(struct px_log_volume *volume, uint32_t handle, uint64_t position)
{
	struct px_log_context *context = px_log_find_context(volume, handle);

	/*
	 * Handle 0 is in the entry that ends the events for the viewer.  If the context is unknown, the entry is
	 * damaged or overwritten.
	 */
	if (handle != 0 && context)
		context->last = position;
}

/*
 * The information words of a call may be handles.  If a word only looks like a handle, the log keeps an object slot for
 * longer than necessary, which does no harm.
 */
static void note_entry(struct px_log *log, uint64_t position, const struct px_txtb_entry *entry)
{
	struct px_log_volume *volume = px_log_volume_of(log, position);

	note_context(volume, entry->context, position);
	for (uint32_t i = 0; i < PX_ARRAY_SIZE(entry->info); i++)
		note_context(volume, entry->info[i], position);
	if (entry->context != 0) {
		volume->stamps.begun = true;
		volume->stamps.ticks = entry->stamp;
	}
	/* The dead writer may have overwritten the entry, or a part of it. */
	if (position + log->capacity >= log->spoiled)
		px_log_note_front(volume, px_log_slot_in_volume(&log->header, position), entry);
}

/*
 * Read all entries of the volumes, oldest first.  Also read those before the oldest event of the log: the viewer may
 * still show them, and the stamps of a volume continue from its last entry.
 */
static int scan_entries(struct px_log *log)
{
	struct px_txtb_entry *entries = malloc(WINDOW_ENTRIES * sizeof(*entries));
	uint64_t end = log->commit.end;
	uint64_t position = end > log->capacity ? end - log->capacity : 0;

	if (!entries)
		return ENOMEM;
	while (position < end) {
		uint32_t slot = px_log_slot_in_volume(&log->header, position);
		uint64_t count = log->header.nr_entries - slot;

		if (count > end - position)
			count = end - position;
		if (count > WINDOW_ENTRIES)
			count = WINDOW_ENTRIES;
		count = px_txtb_file_read(log->fd, entries, count * sizeof(*entries),
					  px_log_volume_at(log, position) + log->layout.entries +
						  slot * sizeof(*entries)) /
			sizeof(*entries);
		for (uint64_t i = 0; i < count; i++)
			note_entry(log, position + i, &entries[i]);
		position = count > 0 ? position + count :
				       px_log_next_volume_at(&log->header, position);
	}
	free(entries);
	return 0;
}

/* Find the parts of a LOOP log, and the time of the last entry of each volume, from the headers of the frames. */
static void scan_frames(struct px_log *log, struct px_archive_source *source)
{
	uint64_t position = log->commit.first, frame = log->commit.first_frame;
	uint64_t nr_events = 0;
	struct px_log_frame head;

	while (px_archive_frames_find(source, &position, &frame, &head)) {
		struct px_log_volume *volume = px_log_volume_of(log, position);
		const struct px_log_part part = {
			.position = position, .frame = frame, .nr_events = head.nr_events};

		px_log_add_part(log, &part, head.flags & PX_FRAME_CHAPTER);
		nr_events += head.nr_events;
		if (head.time_ns > volume->stamps.base_ns)
			volume->stamps.base_ns = head.time_ns;
		position += head.nr_entries;
		frame += sizeof(head) + head.objects + head.records;
		if (frame > volume->frames_end)
			volume->frames_end = frame;
		if (px_log_slot_in_volume(&log->header, position) == 0)
			frame = 0;
	}
	if (log->commit.nr_events > nr_events)
		log->staged.nr_overwritten = log->commit.nr_events - nr_events;
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
	cursor->ends_stopped = left->ends_stopped != 0;
	log->wants_stop = left->wants_stop != 0;
	log->serial = left->serial & 0xFFFFFF;
	log->ran = left->ran;
	log->ran_priority = left->ran_priority;
	log->is_idle = left->is_idle != 0;
	log->is_full = log->commit.log_full != 0;
	log->nr_lost = left->nr_lost;
	log->first_error = log->commit.flush_error;
	log->nr_begun = left->nr_begun;
	log->tail.modules = log->commit.modules_at;
	log->tail.wrappers = log->commit.wrappers_at;
	log->tail.names = log->commit.names_at;
	log->staged.nr_unlisted = log->commit.nr_unlisted;
	log->frame = log->commit.end_frame;
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

/* Find out where the current volume is, and where the next one goes. */
static void load_places(struct px_log *log, const struct px_archive_source *source,
			uint32_t nr_volumes)
{
	uint64_t last = log->nr_begun < nr_volumes ? log->nr_begun : nr_volumes;

	if (!log->loops && last > 0) {
		log->volume_at = px_archive_frames_volume(source, last - 1);
		log->next_link = log->volume_at + log->layout.header +
				 offsetof(struct px_log_header, next_volume);
		log->volumes[0].frames_end = log->frames_end = log->frame;
	}
	if (log->commit.end > 0 && px_log_slot_in_volume(&log->header, log->commit.end) == 0) {
		px_log_end_volume(log);
		log->frame = 0;
	}
}

static int load_from(struct px_log *log, struct px_archive_source *source, uint32_t nr_volumes)
{
	uint64_t here = px_log_volume_number(&log->header, log->commit.end);
	uint64_t nr_loaded = log->loops ? log->nr_begun : 1;

	load_places(log, source, nr_volumes);
	/* The dead writer may have stored objects in the first volume before its first commit. */
	if (!log->loops && (here >= log->nr_begun ||
			    (log->commit.end > 0 && px_log_slot_in_volume(&log->header, log->commit.end) == 0)))
		return 0;
	for (uint64_t i = 0; i < nr_loaded; i++)
		if (!load_objects(log, &log->volumes[i],
				  log->loops ? i * log->layout.size : log->volume_at))
			return EIO;
	if (!log->loops)
		log->volumes[0].frames_end = log->frame;
	load_definitions(log, source);
	if (!log->loops)
		return 0;
	scan_frames(log, source);
	return scan_entries(log);
}

static int load_volumes(struct px_log *log)
{
	struct px_archive_file file = {
		.fd = log->fd, .header = log->header, .layout = log->layout};
	struct px_archive_source *source;
	int error;

	if (log->is_cleared)
		return 0; /* the log is empty */
	error = px_archive_source_open(&file, &source);
	if (error)
		return error == EINVAL ? EIO : error;
	error = load_from(log, source, file.nr_volumes);
	px_archive_source_free(source);
	return error;
}

/* Find out which names and descriptions of event types are already in the file, for px_log_write_names(). */
static int load_names(struct px_log *log)
{
	struct px_log_name name;

	for (uint32_t i = 0; i < log->commit.nr_names; i++) {
		if (!read_at(log, &name, sizeof(name), log->tail.names + i * sizeof(name)))
			return EIO;
		if (name.id < PX_EVENT_IDS) {
			px_eventset_add(&log->named, name.id);
		} else if (px_log_is_description(&name)) {
			px_eventset_add(&log->described, name.id & ~PX_LOG_DESCRIPTION);
			log->nr_description_rows++;
		}
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

static int load(struct px_log *log, const struct px_threads *threads)
{
	int error = px_log_allocate(log, threads);

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
	/* No writer leaves such a log: only complete logs become tight. */
	error = left->layout->is_tight ? EINVAL : px_log_take_descriptor(made, left->fd);
	if (error) {
		free(made);
		return error;
	}
	made->header = *left->header;
	made->layout = *left->layout;
	made->commit = *left->commit;
	made->types = left->types;
	made->descriptions = left->descriptions;
	made->view = left->view;
	made->checkpoint_file = left->checkpoint_file;
	made->loops = made->header.policy == PX_POLICY_LOOP;
	made->capacity = (uint64_t)made->header.nr_entries * made->header.nr_volumes;
	error = load(made, left->threads);
	if (error) {
		px_log_free(made);
		return error;
	}
	*log = made;
	return 0;
}
