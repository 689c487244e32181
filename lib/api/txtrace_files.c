/* SPDX-License-Identifier: MIT */
/* Pre-recorded streams as files: their objects, and facts about the file. */
#include "api/api.h"

#include <limits.h>
#include <pthread.h>
#include <string.h>
#include <trace_ext.h>

#include "base/write_signals.h"
#include "log/archive.h"
#include "log/copy.h"
#include "log/format.h"
#include "registry/maps_file.h"
#include "trace/process.h"

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
		.nr_unlisted = known.nr_unlisted,
		.nr_shortened = known.nr_shortened,
		.shortened_ns = known.shortened_ns,
		.running = known.is_running,
		.size = known.size,
		.whole_size = known.whole_size,
		.nr_events = known.nr_events,
		.nr_missing = known.nr_missing,
		.nr_log_lost = known.nr_lost < INT_MAX ? (int)known.nr_lost : INT_MAX,
		.only_image = known.lost_section,
		.format = known.format,
		.damaged = known.is_damaged,
	};
	return 0;
}

PX_EXPORT int txtrace_get_machine(trace_id_t trid, struct txtrace_machine *machine)
{
	struct px_archive *archive;
	struct px_fields_model model;

	if (!machine || !(archive = px_handle_lock_archive(trid)))
		return EINVAL;
	model = archive->info.model;
	*machine = (struct txtrace_machine){.is_big = model.is_big,
					    .of_long = model.of_long,
					    .of_pointer = model.of_pointer,
					    .of_long_double = model.of_long_double,
					    .long_double_digits = model.long_double_digits,
					    .align_max = model.align_max};
	memcpy(machine->name, archive->info.machine, sizeof(machine->name));
	px_handle_unlock(trid);
	return 0;
}

/* Leaves errno alone. */
static bool find_log(int file_desc, struct px_log_header *header, struct px_log_layout *layout)
{
	int saved_errno = errno;
	bool is_found = px_log_find(file_desc, header, layout);

	errno = saved_errno;
	return is_found;
}

PX_EXPORT int txtrace_get_format(int file_desc, unsigned int *restrict format,
				 unsigned int *restrict newest)
{
	struct px_log_header header;
	struct px_log_layout layout;

	if (!format || !newest || !find_log(file_desc, &header, &layout))
		return EINVAL;
	*format = header.version;
	*newest = PX_LOG_VERSION;
	return 0;
}

PX_EXPORT int txtrace_get_commit(int file_desc, off_t *restrict offset, size_t *restrict size)
{
	struct px_log_header header;
	struct px_log_layout layout;

	if (!offset || !size || !find_log(file_desc, &header, &layout))
		return EINVAL;
	*offset = (off_t)layout.commit;
	*size = sizeof(struct px_log_commit);
	return 0;
}

static int copy_log(struct px_archive *archive, int file_desc)
{
	const struct px_log_copy_setup setup = {.fd = file_desc,
						.writer = px_process_id(),
						.attr = &archive->attr,
						.target_pid = archive->info.target_pid,
						.from = archive,
						.has_origins = archive->info.is_merged};
	bool is_cut = archive->info.is_damaged || (!archive->info.is_complete && !archive->info.is_running);
	struct px_log_copy_result result = {.loss = archive->loss,
					    .is_full = archive->status.is_full,
					    .is_overrun = archive->status.is_overrun,
					    .nr_log_lost = archive->info.nr_lost,
					    .lacks_others = archive->status.log_is_overrun || is_cut,
					    .flush_error = archive->status.flush_error,
					    .tick_ns = archive->info.tick_ns};
	struct px_write_signals signals;
	struct px_log_copy *copy;
	int error;

	px_write_signals_hold(&signals);
	error = px_log_copy_begin(&setup, &copy);
	if (!error) {
		px_log_copy_events(copy);
		if (archive->info.is_running)
			result.loss.overwritten += archive->info.nr_missing;
		else
			result.nr_log_lost += archive->info.nr_missing;
		error = px_log_copy_end(copy, &result);
	}
	if (!error && archive->info.is_merged)
		error = px_origins_append(file_desc, &archive->origins);
	px_write_signals_release(&signals);
	return error;
}

PX_EXPORT int txtrace_copy_log(trace_id_t trid, int file_desc)
{
	struct px_archive *archive;
	int saved_errno = errno;
	int error = EINVAL, state;

	pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &state);
	px_process_init(); /* the copy says which process wrote it */
	archive = px_handle_lock_archive(trid);
	if (archive) {
		/* The copy says that its data are from this kind of machine. */
		if (!archive->info.is_foreign && !px_fields_is_native(&archive->info.model))
			error = ENOTSUP;
		else if (!archive->info.is_foreign)
			error = copy_log(archive, file_desc);
		px_handle_unlock(trid);
	}
	pthread_setcancelstate(state, &state);
	errno = saved_errno;
	return error;
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

PX_EXPORT int txtrace_get_process_modules(pid_t pid, char *buffer, size_t size, size_t *length)
{
	size_t got;
	int state;

	if (pid <= 0 || !buffer || !length)
		return EINVAL;
	pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &state);
	px_process_init();
	got = px_maps_file_list((uint32_t)pid, buffer, size);
	pthread_setcancelstate(state, &state);
	if (got == 0)
		return ESRCH;
	*length = got;
	return 0;
}

PX_EXPORT int txtrace_get_program_modules(pid_t pid, unsigned int thread, char *buffer, size_t size, size_t *length,
					  unsigned int *first)
{
	size_t got = 0;
	int state;

	if (pid <= 0 || (!buffer && size > 0) || !length || !first)
		return EINVAL;
	pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &state);
	px_process_init();
	*first = px_maps_file_list_of((uint32_t)pid, thread, size > 0 ? buffer : NULL, size, &got);
	pthread_setcancelstate(state, &state);
	if (*first == 0 || (size > 0 && got == 0))
		return ESRCH;
	*length = got;
	return 0;
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
