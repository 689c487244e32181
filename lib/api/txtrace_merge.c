/* SPDX-License-Identifier: MIT */
/* Merged logs: making one, and what it was made of. */
#include "api/api.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <trace_ext.h>

#include "base/write_signals.h"
#include "log/archive.h"
#include "log/merge.h"
#include "trace/process.h"

_Static_assert(PX_HOST_PIDS == TXTRACE_HOST_PIDS, "TXTRACE_HOST_PIDS");
_Static_assert(PX_HOST_CPUS == TXTRACE_HOST_CPUS, "TXTRACE_HOST_CPUS");

struct txtrace_merge {
	struct px_merge *merge;
	unsigned int nr_logs;
};

static int add_log(struct px_merge *merge, trace_id_t trid)
{
	struct px_archive *archive = px_handle_lock_archive(trid);
	int error;

	if (!archive)
		return EINVAL;
	error = px_merge_add(merge, archive);
	px_handle_unlock(trid);
	return error;
}

static int begin(struct px_merge *merge, int file_desc, const trace_id_t *logs,
		 unsigned int nr_logs)
{
	const struct px_process_id writer = px_process_id();
	struct px_write_signals signals;
	int error = 0;

	for (unsigned int i = 0; !error && i < nr_logs; i++)
		error = add_log(merge, logs[i]);
	if (error)
		return error;
	px_write_signals_hold(&signals);
	error = px_merge_begin(merge, file_desc, &writer);
	px_write_signals_release(&signals);
	return error;
}

PX_EXPORT int txtrace_merge_begin(int file_desc, const trace_id_t *logs, unsigned int nr_logs,
				  struct txtrace_merge **merge)
{
	int saved_errno = errno, error, state;
	struct txtrace_merge *made;

	if (!logs || nr_logs == 0 || !merge)
		return EINVAL;
	pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &state);
	px_process_init(); /* the log says which process wrote it */
	made = calloc(1, sizeof(*made));
	if (made) {
		made->nr_logs = nr_logs;
		made->merge = px_merge_make();
	}
	error = made && made->merge ? begin(made->merge, file_desc, logs, nr_logs) : ENOMEM;
	if (error && made) {
		px_merge_free(made->merge);
		free(made);
	}
	pthread_setcancelstate(state, &state);
	errno = saved_errno;
	if (!error)
		*merge = made;
	return error;
}

static uint32_t flags_of(const struct txtrace_event *event)
{
	uint32_t flags = event->truncation == POSIX_TRACE_NOT_TRUNCATED ? 0 : PX_RECORD_TRUNCATED;

	switch (event->phase) {
	case TXTRACE_CALL_WHOLE:
		return flags | PX_RECORD_CALL;
	case TXTRACE_CALL_BEGINS:
		return flags | PX_RECORD_CALL | PX_RECORD_BEGINS;
	case TXTRACE_CALL_ENDS:
		return flags | PX_RECORD_CALL | PX_RECORD_ENDS;
	default:
		return flags;
	}
}

PX_EXPORT int txtrace_merge_event(struct txtrace_merge *merge, unsigned int log,
				  const struct txtrace_event *event, const void *data)
{
	struct px_report report = {0};
	struct px_write_signals signals;
	int saved_errno = errno, error, state;

	if (!merge || log >= merge->nr_logs || !event || (!data && event->length > 0))
		return EINVAL;
	report.record =
		(struct px_record){.address = event->address,
				   .thread = event->thread,
				   .pid = (uint32_t)event->pid,
				   .id = (uint32_t)event->type,
				   .flags = flags_of(event),
				   .nr_slots = 1,
				   .context = event->context,
				   .priority = event->priority < 0 ? 0 : (uint32_t)event->priority,
				   .cpu = event->cpu};
	report.time_ns = event->time_ns;
	report.length = report.copied = event->length;
	pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &state);
	px_write_signals_hold(&signals);
	error = px_merge_event(merge->merge, log, &report, data);
	px_write_signals_release(&signals);
	pthread_setcancelstate(state, &state);
	errno = saved_errno;
	return error;
}

PX_EXPORT int txtrace_merge_origin(struct txtrace_merge *merge, unsigned int log,
				   const struct txtrace_origin *origin)
{
	if (!merge || log >= merge->nr_logs || !origin)
		return EINVAL;
	px_merge_set_name(merge->merge, log, origin->name);
	px_merge_set_clock(
		merge->merge, log,
		&(struct px_merge_clock){origin->shift_ns, origin->drift, origin->uncertainty_ns});
	return 0;
}

PX_EXPORT int txtrace_merge_missing(struct txtrace_merge *merge, unsigned int log, unsigned long long nr_missing)
{
	if (!merge || log >= merge->nr_logs)
		return EINVAL;
	px_merge_note_missing(merge->merge, log, nr_missing);
	return 0;
}

PX_EXPORT int txtrace_merge_end(struct txtrace_merge *merge)
{
	struct px_write_signals signals;
	int saved_errno = errno, error, state;

	if (!merge)
		return EINVAL;
	pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &state);
	px_write_signals_hold(&signals);
	error = px_merge_end(merge->merge);
	px_write_signals_release(&signals);
	pthread_setcancelstate(state, &state);
	free(merge);
	errno = saved_errno;
	return error;
}

/* What a log was made of. */

static void describe(const struct px_archive *archive, const struct px_origin *from,
		     struct txtrace_origin *to)
{
	memset(to, 0, sizeof(*to));
	to->host = from->host;
	to->pid = (pid_t)from->pid;
	to->merged = archive->info.is_merged;
	to->shift_ns = from->shift_ns;
	to->drift = from->drift;
	to->uncertainty_ns = from->uncertainty_ns;
	memcpy(to->name, from->name, sizeof(from->name));
	memcpy(to->host_name, from->host_name, sizeof(from->host_name));
	memcpy(to->boot_id, from->boot_id, sizeof(from->boot_id));
	memcpy(to->uuid, from->uuid, sizeof(from->uuid));
}

PX_EXPORT int txtrace_get_origin(trace_id_t trid, unsigned int number,
				 struct txtrace_origin *origin)
{
	struct px_archive *archive;
	int error = 0;

	if (!origin || !(archive = px_handle_lock_archive(trid)))
		return EINVAL;
	if (number < archive->origins.nr)
		describe(archive, &archive->origins.origin[number], origin);
	else
		error = ENOENT;
	px_handle_unlock(trid);
	return error;
}

PX_EXPORT int txtrace_get_origin_modules(trace_id_t trid, unsigned int number, char *buffer,
					 size_t size, size_t *length)
{
	const struct px_origin *origin;
	struct px_archive *archive;
	int saved_errno = errno;
	int error = 0;

	if (!length || (!buffer && size > 0) || !(archive = px_handle_lock_archive(trid)))
		return EINVAL;
	if (number >= archive->origins.nr) {
		error = ENOENT;
	} else if (!archive->info.is_merged) {
		*length = archive->kind->modules(archive, buffer, size);
	} else {
		origin = &archive->origins.origin[number];
		*length = origin->modules_bytes;
		if (size > 0 && origin->modules_bytes > 0)
			memcpy(buffer, origin->modules, size < *length ? size : *length);
	}
	px_handle_unlock(trid);
	errno = saved_errno;
	return error ? error : *length > size ? ENOSPC : 0;
}
