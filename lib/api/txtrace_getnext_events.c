/* SPDX-License-Identifier: MIT */
/* Reading many events with one call. */
#include "api/api.h"

#include <trace_ext.h>

#include "log/archive.h"

#define ALIGNMENT 8
#define LEAST_ROOM 1024 /* more than any system event or recorded call of usual length has */

struct batch {
	struct txtrace_event *event;
	size_t size, nr; /* events */
	unsigned char *data;
	size_t bytes, used;
	size_t least_room; /* for one more event */
};

/* Return true if there is room for another event and its data. */
static bool has_room(const struct batch *batch)
{
	return batch->nr < batch->size &&
	       (batch->nr == 0 || (batch->used <= batch->bytes && batch->bytes - batch->used >= batch->least_room));
}

static unsigned char *room(const struct batch *batch, size_t *bytes)
{
	*bytes = batch->used <= batch->bytes ? batch->bytes - batch->used : 0;
	return *bytes ? batch->data + batch->used : NULL;
}

static void append(struct batch *batch, const struct txtrace_event *event, size_t length)
{
	struct txtrace_event *to = &batch->event[batch->nr++];

	*to = *event;
	to->offset = batch->used;
	to->length = length;
	batch->used += (length + ALIGNMENT - 1) & ~(size_t)(ALIGNMENT - 1);
}

/* The numbers of a context are those that the functions for one event return. */
static void set_context(struct txtrace_event *event, uint32_t context, uint32_t priority)
{
	struct posix_trace_event_info info = {.posix_event_id = event->type};

	info.__reserved[PX_INFO_CONTEXT] = (int)context;
	info.__reserved[PX_INFO_PRIORITY] = (int)priority;
	event->context = context;
	event->priority = txtrace_event_priority(&info);
	event->interrupted = txtrace_event_interrupted(&info);
}

static void append_report(struct batch *batch, const struct px_report *report)
{
	const struct px_record *record = &report->record;
	struct txtrace_event event = {.time_ns = report->time_ns,
				      .address = record->address,
				      .thread = record->thread,
				      .type = record->id,
				      .pid = (pid_t)record->pid,
				      .truncation = px_truncation(report),
				      .cpu = record->cpu,
				      .phase = -1};

	set_context(&event, record->context, record->priority);
	append(batch, &event, report->copied);
}

static void add_call(struct px_archive *archive, uint64_t place, struct txtrace_event *event)
{
	struct px_archive_call call;

	if (place == 0 || !archive->kind->call || !archive->kind->call(archive, place, &call))
		return;
	event->phase = px_call_phase(call.flags);
	event->native = call.native;
	event->state = call.state;
	event->object = call.object;
	event->waker = call.waker;
}

static void read_archive(struct px_archive *archive, struct batch *batch)
{
	struct px_report report;
	unsigned char *data;
	size_t bytes;

	while (has_room(batch)) {
		report = (struct px_report){.place = 0};
		data = room(batch, &bytes);
		if (archive->kind->next(archive, data, bytes, &report) != PX_NEXT_EVENT)
			return;
		append_report(batch, &report);
		add_call(archive, report.place, &batch->event[batch->nr - 1]);
	}
}

/* Take what is there now.  An event that a writer has not finished waits for the next call. */
static void read_stream(struct px_stream *stream, struct batch *batch)
{
	struct px_report report;
	unsigned char *data;
	size_t bytes;

	while (has_room(batch)) {
		report = (struct px_report){.place = 0};
		data = room(batch, &bytes);
		if (px_stream_next(stream, data, bytes, &report) != PX_NEXT_EVENT)
			return;
		append_report(batch, &report);
	}
}

/* The first event of an active stream: this call may have to wait a short time for a writer. */
static int read_first(trace_id_t trid, struct batch *batch)
{
	struct posix_trace_event_info info;
	struct txtrace_event event;
	size_t length = 0;
	int error, none = 0;

	error = posix_trace_trygetnext_event(trid, &info, batch->data, batch->bytes, &length, &none);
	if (error || none)
		return error;
	event = (struct txtrace_event){.time_ns = (unsigned long long)info.posix_timestamp.tv_sec * 1000000000 +
						  (unsigned long long)info.posix_timestamp.tv_nsec,
				       .address = txtrace_event_address(&info),
				       .thread = txtrace_event_thread(&info),
				       .type = info.posix_event_id,
				       .pid = info.posix_pid,
				       .truncation = info.posix_truncation_status,
				       .cpu = txtrace_event_cpu(&info),
				       .context = txtrace_event_context(&info),
				       .priority = txtrace_event_priority(&info),
				       .interrupted = txtrace_event_interrupted(&info),
				       .phase = -1};
	append(batch, &event, length);
	return 0;
}

static void set_least_room(struct batch *batch, uint64_t max_data_size)
{
	batch->least_room = max_data_size > LEAST_ROOM ? (size_t)max_data_size : LEAST_ROOM;
}

PX_EXPORT int txtrace_getnext_events(trace_id_t trid, struct txtrace_event *restrict events, size_t nr_events,
				     void *restrict data, size_t size, size_t *restrict nr_read)
{
	struct batch batch = {.event = events, .size = nr_events, .data = data, .bytes = size};
	struct px_handle handle;
	int saved_errno = errno;
	int error = 0;

	if (!events || nr_events == 0 || (!data && size > 0) || !nr_read)
		return EINVAL;
	if (!px_handle_lock_any(trid, &handle)) {
		if (!px_handle_has_exited(trid))
			return EINVAL;
		*nr_read = 0; /* as posix_trace_trygetnext_event() */
		return 0;
	}
	if (handle.archive) {
		set_least_room(&batch, handle.archive->attr.max_data_size);
		read_archive(handle.archive, &batch);
	}
	px_handle_unlock(trid);
	if (!handle.archive) {
		error = read_first(trid, &batch);
		handle.stream = error || batch.nr == 0 ? NULL : px_handle_lock(trid);
		if (handle.stream) {
			set_least_room(&batch, handle.stream->attr.max_data_size);
			read_stream(handle.stream, &batch);
			px_handle_unlock(trid);
		}
	}
	errno = saved_errno;
	if (!error)
		*nr_read = batch.nr;
	return error;
}
