/* SPDX-License-Identifier: MIT */
#include "log/log_private.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>

/* Fill a volume with zeros, except for its frames: the writer always writes a frame before it commits the frame. */
static int clean_volume(struct px_log *log, uint64_t offset)
{
	uint64_t end = offset + log->layout.frames;
	uint64_t size;
	struct stat status;
	int error = px_log_ensure_descriptor(log);

	if (error)
		return error;
	if (fstat(log->fd, &status) != 0)
		return errno;
	size = (uint64_t)status.st_size;
	if (size > offset) {
		error = px_log_make_zeros(log, offset, (size < end ? size : end) - offset);
		if (error)
			return error;
	}
	PX_TESTPOINT("log.write.before");
	error = px_log_ensure_descriptor(log);
	if (error)
		return error;
	return size >= end || ftruncate(log->fd, (off_t)end) == 0 ? 0 : errno;
}

static int write_object(struct px_log *log, uint64_t offset, uint32_t slot,
			const struct px_object *object)
{
	struct px_txtb_object image;

	px_txtb_object_init(&image, (enum px_txtb_object_type)object->type, object->handle, object->priority,
			    object->name);
	return px_log_write_all(log, &image, sizeof(image), offset + px_txtb_entries_offset(slot));
}

/* There are thousands of object slots, and most writes change none of them. */
int px_log_write_contexts(struct px_log *log, struct px_log_volume *volume, uint64_t offset)
{
	static const struct px_txtb_object unused;
	uint32_t nr_left = 0;
	int error = 0;

	/* A thread may have moved to another object slot.  Clear the old slot, so that the thread is not in both. */
	for (uint32_t i = 0; !error && i < volume->nr_changed; i++) {
		uint32_t slot = volume->changed[i];

		if (!volume->context[slot].is_stale)
			continue;
		error = px_log_write_all(log, &unused, sizeof(unused),
					 offset + px_txtb_entries_offset(slot));
		volume->context[slot].is_stale = error != 0;
	}
	for (uint32_t i = 0; !error && i < volume->nr_changed; i++) {
		uint32_t slot = volume->changed[i];
		struct px_log_context *context = &volume->context[slot];
		struct px_object image;

		if (!context->is_dirty)
			continue;
		image = px_log_image_object(context);
		error = write_object(log, offset, slot, &image);
		context->is_dirty = error != 0;
	}
	for (uint32_t i = 0; i < volume->nr_changed; i++) {
		struct px_log_context *context = &volume->context[volume->changed[i]];

		context->is_listed = context->is_dirty || context->is_stale;
		if (context->is_listed)
			volume->changed[nr_left++] = volume->changed[i];
	}
	volume->nr_changed = nr_left;
	return error;
}

/* Return the object of an event type in the image. */
static struct px_object type_object(const struct px_log *log, unsigned int id)
{
	struct px_object type = {.handle = px_txtb_handle(PX_TXTB_EVENT_TYPE, id),
				 .type = PX_TXTB_EVENT_TYPE};

	if (px_typelist_name(log->types, id, type.name) != 0)
		snprintf(type.name, sizeof(type.name), "event type %u", id);
	return type;
}

int px_log_write_types(struct px_log *log, struct px_log_volume *volume, uint64_t offset)
{
	int error = 0;

	while (!error && volume->types_written < volume->nr_types) {
		struct px_object type =
			type_object(log, volume->type[volume->types_written]);
		uint32_t slot = px_log_nr_objects(&log->header) - log->header.nr_type_slots +
				volume->types_written;

		error = write_object(log, offset, slot, &type);
		volume->types_written += !error;
	}
	return error;
}

int px_log_write_header(struct px_log *log, uint64_t offset, uint32_t current)
{
	struct px_txtb_header header;

	px_log_image_header(&header, px_log_nr_objects(&log->header), PX_TXTB_NAME_SIZE,
			    log->header.nr_entries);
	header.current += current * (uint32_t)sizeof(struct px_txtb_entry);
	return px_log_write_all(log, &header, sizeof(header), offset);
}

/* Write the header of the image last, because the volume exists for readers as soon as it has this header. */
int px_log_begin_volume(struct px_log *log, uint64_t position)
{
	uint64_t offset = px_log_volume_at(log, position);
	struct px_log_header header = log->header;
	int error = clean_volume(log, offset);

	header.volume = (uint32_t)px_log_volume_number(&log->header, position);
	if (!error)
		error = px_log_write_all(log, &header, sizeof(header), offset + log->layout.header);
	if (!error)
		error = px_log_write_contexts(log, px_log_volume_of(log, position), offset);
	if (!error)
		error = px_log_write_header(log, offset, 0);
	return error;
}
