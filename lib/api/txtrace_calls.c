/* SPDX-License-Identifier: MIT */
/* Calls that an unmodified program made: the data of these calls in a log, and the names of their objects. */
#include "api/api.h"

#include <pthread.h>
#include <string.h>
#include <trace_ext.h>

#include "log/archive.h"
#include "stream/flush.h"
#include "trace/callpoint.h"

_Static_assert(TXTRACE_WRAPPER_MISSING == (int)PX_WRAPPER_MISSING &&
		       TXTRACE_WRAPPER_INSTALLED == (int)PX_WRAPPER_INSTALLED &&
		       TXTRACE_WRAPPER_FOREIGN == (int)PX_WRAPPER_FOREIGN,
	       "states of wrappers");
_Static_assert(PX_INFO_PLACE_HIGH <
		       sizeof(((struct posix_trace_event_info *)0)->__reserved) / sizeof(int),
	       "there is room for it");

PX_EXPORT int txtrace_get_call(trace_id_t trid, const struct posix_trace_event_info *event,
			       struct txtrace_call *call)
{
	struct px_archive_call known;
	struct px_archive *archive;
	int saved_errno = errno;
	bool is_call;
	uint64_t place;

	if (!event || !call || !(archive = px_handle_lock_archive(trid)))
		return EINVAL;
	place = (uint64_t)(uint32_t)event->__reserved[PX_INFO_PLACE_HIGH] << 32 |
		(uint32_t)event->__reserved[PX_INFO_PLACE_LOW];
	is_call = place != 0 && archive->kind->call && archive->kind->call(archive, place, &known);
	px_handle_unlock(trid);
	errno = saved_errno;
	if (!is_call)
		return ENOENT;
	*call = (struct txtrace_call){.native = known.native,
				      .phase = px_call_phase(known.flags),
				      .state = known.state,
				      .object = known.object,
				      .waker = known.waker};
	memcpy(call->word, known.word, sizeof(call->word));
	return 0;
}

PX_EXPORT_CALL int txtrace_name_object(const void *object, const char *name)
{
	struct {
		union px_call_data first;
		char name[PX_OBJECT_NAME_SIZE];
	} data = {.first.of_object.object = (uint64_t)(uintptr_t)object};
	size_t length;

	if (!object || !name)
		return EINVAL;
	if (px_likely(!px_gate_is_open()))
		return 0;
	length = strnlen(name, sizeof(data.name) - 1);
	memcpy(data.name, name, length);
	px_callpoint_long(PX_NO_WRAPPER_NAME, PX_CALL_AT(PX_CALL_txtrace_object_name, 0),
			  &data, sizeof(data.first) + length, __builtin_return_address(0));
	return 0;
}

typedef int namer(void *argument, const struct txtrace_object *object, char *text, size_t size);

static int ask(const struct px_namer *to, const struct px_call_object *known, char *text,
	       size_t size)
{
	struct txtrace_object object = {.handle = known->object.handle,
					.type = (int)known->object.type,
					.priority = -1,
					.pid = (pid_t)known->object.pid,
					.address = known->address,
					.site = known->site,
					.thread = known->first_user};

	return ((namer *)to->function)(to->argument, &object, text, size);
}

PX_EXPORT int txtrace_set_namer(trace_id_t trid, namer *name, void *argument)
{
	struct px_namer to = {.call = ask, .function = (void (*)(void))name, .argument = argument};
	struct px_stream *stream;
	int error, state;

	pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &state); /* the call may wait for a flush */
	stream = px_handle_lock(trid);
	error = stream ? px_flush_set_namer(trid, stream, &to) : EINVAL;
	pthread_setcancelstate(state, &state);
	return error;
}

static bool next_row(const struct px_handle *handle, struct px_wrapper_sum *sum)
{
	struct px_archive *archive = handle->archive;
	struct px_stream *stream = handle->stream;
	bool is_there;

	if (stream) {
		is_there = px_view_wrapper(&stream->view, stream->next_wrapper,
					   px_stream_tick_ns(stream), sum);
		stream->next_wrapper += is_there;
		return is_there;
	}
	is_there = archive->kind->wrapper &&
		   archive->kind->wrapper(archive, archive->next_wrapper, sum);
	archive->next_wrapper += is_there;
	return is_there;
}

/* A row without a state is one that only programs of another word size use. */
static bool next_wrapper(const struct px_handle *handle, struct px_wrapper_sum *sum)
{
	bool is_there = next_row(handle, sum);

	while (is_there && sum->state == PX_WRAPPER_UNUSED)
		is_there = next_row(handle, sum);
	return is_there;
}

PX_EXPORT int txtrace_getnext_wrapper(trace_id_t trid, struct txtrace_wrapper *restrict wrapper,
				      int *restrict unavailable)
{
	struct px_wrapper_sum sum;
	struct px_handle handle;
	int saved_errno = errno;

	if (!wrapper || !unavailable || !px_handle_lock_any(trid, &handle))
		return EINVAL;
	*unavailable = !next_wrapper(&handle, &sum);
	px_handle_unlock(trid);
	errno = saved_errno;
	if (*unavailable)
		return 0;
	*wrapper = (struct txtrace_wrapper){.state = (int)sum.state,
					    .calls = sum.calls,
					    .samples = sum.samples,
					    .overhead_ns = sum.overhead_ns};
	memcpy(wrapper->symbol, sum.symbol, sizeof(sum.symbol));
	memcpy(wrapper->version, sum.version, sizeof(sum.version));
	if (sum.call < PX_CALLS)
		strcpy(wrapper->call, px_call_name((enum px_call)sum.call));
	return 0;
}

PX_EXPORT int txtrace_rewind_wrappers(trace_id_t trid)
{
	struct px_handle handle;

	if (!px_handle_lock_any(trid, &handle))
		return EINVAL;
	if (handle.stream)
		handle.stream->next_wrapper = 0;
	else
		handle.archive->next_wrapper = 0;
	px_handle_unlock(trid);
	return 0;
}
