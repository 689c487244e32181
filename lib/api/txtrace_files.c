/* SPDX-License-Identifier: MIT */
/* Pre-recorded streams as files: their objects, and facts about the file. */
#include "api/api.h"

#include <string.h>
#include <trace_ext.h>

#include "log/archive.h"

/* Skip free registry slots. */
static bool next_object(struct px_archive *archive, struct px_archive_object *object)
{
	while (archive->kind->object(archive, archive->next_object, object)) {
		archive->next_object++;
		if (object->type != PX_TXTB_UNUSED)
			return true;
	}
	return false;
}

static void describe(const struct px_archive_object *from, struct txtrace_object *to)
{
	memset(to, 0, sizeof(*to));
	to->handle = from->handle;
	to->type = (int)from->type;
	to->priority = from->priority == UINT32_MAX ? -1 : (int)from->priority;
	to->released = from->is_released;
	to->pid = (pid_t)from->pid;
	to->tid = (pid_t)from->tid;
	to->parameter[0] = from->parameter[0];
	to->parameter[1] = from->parameter[1];
	to->address = from->address;
	to->site = from->site;
	memcpy(to->name, from->name, sizeof(to->name));
}

PX_EXPORT int txtrace_getnext_object(trace_id_t trid, struct txtrace_object *restrict object,
				     int *restrict unavailable)
{
	struct px_archive_object found;
	struct px_archive *archive;
	int saved_errno = errno;

	if (!object || !unavailable || !(archive = px_handle_lock_archive(trid)))
		return EINVAL;
	*unavailable = !next_object(archive, &found);
	px_handle_unlock(trid);
	errno = saved_errno;
	if (!*unavailable)
		describe(&found, object);
	return 0;
}

PX_EXPORT int txtrace_rewind_objects(trace_id_t trid)
{
	struct px_archive *archive = px_handle_lock_archive(trid);

	if (!archive)
		return EINVAL;
	archive->next_object = 0;
	px_handle_unlock(trid);
	return 0;
}

PX_EXPORT int txtrace_get_file_info(trace_id_t trid, struct txtrace_file_info *info)
{
	struct px_archive *archive;
	struct px_archive_info known;
	int saved_errno = errno;

	if (!info || !(archive = px_handle_lock_archive(trid)))
		return EINVAL;
	archive->kind->complete_info(archive);
	known = archive->info;
	px_handle_unlock(trid);
	errno = saved_errno;
	*info = (struct txtrace_file_info){
		.foreign = known.is_foreign,
		.byte_swapped = known.is_swapped,
		.complete = known.is_complete,
		.recovered = known.is_recovered,
		.text = known.was_text,
		.tick_ns = known.tick_ns,
		.time_mask = known.time_mask,
		.name_size = known.name_size,
		.nr_objects = known.nr_registry_slots,
		.nr_volumes = known.nr_volumes,
		.nr_slots = known.nr_entry_slots,
		.nr_entries = known.nr_entries,
		.nr_shortened = known.nr_shortened,
		.shortened_ns = known.shortened_ns,
	};
	return 0;
}

PX_EXPORT int txtrace_get_modules(trace_id_t trid, char *buffer, size_t size, size_t *length)
{
	struct px_archive *archive;
	int saved_errno = errno;

	if (!length || (!buffer && size > 0) || !(archive = px_handle_lock_archive(trid)))
		return EINVAL;
	*length = archive->kind->modules(archive, buffer, size);
	px_handle_unlock(trid);
	errno = saved_errno;
	return *length > size ? ENOSPC : 0;
}

PX_EXPORT int txtrace_set_tick(trace_id_t trid, double tick_ns)
{
	struct px_archive *archive;
	int error;

	if (!(tick_ns > 0) || !(archive = px_handle_lock_archive(trid)))
		return EINVAL;
	error = archive->kind->set_tick(archive, tick_ns);
	px_handle_unlock(trid);
	return error;
}
