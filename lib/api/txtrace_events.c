/* SPDX-License-Identifier: MIT */
/* Data about events and event types that TXTB has and POSIX does not have. */
#include "api/api.h"

#include <trace_ext.h>

#include "event/trxc.h"
#include "log/archive.h"
#include "log/archive_txtb.h"
#include "trace/types.h"
#include "txtb/native.h"

PX_EXPORT unsigned int txtrace_event_cpu(const struct posix_trace_event_info *event)
{
	return (unsigned int)event->__reserved[PX_INFO_CPU];
}

PX_EXPORT unsigned int txtrace_event_context(const struct posix_trace_event_info *event)
{
	return (unsigned int)event->__reserved[PX_INFO_CONTEXT];
}

/* In an interrupt the priority word is the handle of the interrupted thread. */
PX_EXPORT int txtrace_event_priority(const struct posix_trace_event_info *event)
{
	unsigned int context = txtrace_event_context(event);

	if (context == 0 || context == PX_TXTB_INTERRUPT || context == PX_TXTB_INITIALIZE)
		return -1;
	return event->__reserved[PX_INFO_PRIORITY] & 0x3FF;
}

PX_EXPORT unsigned int txtrace_event_interrupted(const struct posix_trace_event_info *event)
{
	return txtrace_event_context(event) == PX_TXTB_INTERRUPT ?
		       (unsigned int)event->__reserved[PX_INFO_PRIORITY] :
		       0;
}

/* Return the number of which `word` is all, or on a machine of 32 bits the low half. */
static unsigned long long whole(uintptr_t word, int high)
{
	return sizeof(word) < sizeof(uint64_t) ? (uint64_t)(uint32_t)high << 32 | word : word;
}

PX_EXPORT unsigned long long txtrace_event_address(const struct posix_trace_event_info *event)
{
	return whole((uintptr_t)event->posix_prog_address, event->__reserved[PX_INFO_ADDRESS_HIGH]);
}

PX_EXPORT unsigned long long txtrace_event_thread(const struct posix_trace_event_info *event)
{
	return whole((uintptr_t)event->posix_thread_id, event->__reserved[PX_INFO_THREAD_HIGH]);
}

static unsigned int type_of(const struct px_handle *handle, uint32_t *i)
{
	return handle->stream ? px_stream_type(handle->stream, i) :
				handle->archive->kind->type(handle->archive, *i);
}

static int name_of(const struct px_handle *handle, unsigned int id, char name[PX_NAME_MAX + 1])
{
	return handle->stream ? px_stream_type_name(handle->stream, id, name) :
				handle->archive->kind->type_name(handle->archive, id, name);
}

/* Add an event type that ThreadX defines but the viewer does not know. */
static void add_native(struct px_trxc *trxc, unsigned int txtb_id, const char *name)
{
	const char *label[PX_NATIVE_WORDS];

	for (unsigned int i = 0; i < PX_NATIVE_WORDS; i++)
		label[i] = px_native_label(txtb_id, i);
	px_trxc_add(trxc, txtb_id, name, label);
}

/* List the event types, except those that TraceX knows already. */
static void list_types(const struct px_handle *handle, struct px_trxc *trxc)
{
	bool is_foreign = handle->archive && handle->archive->info.is_foreign;
	char name[PX_NAME_MAX + 1];
	unsigned int id;

	px_trxc_begin(trxc);
	if (!is_foreign)
		px_trxc_add(trxc, PX_TXTB_DATA, "data continued", NULL);
	for (uint32_t i = 0; (id = type_of(handle, &i)) != PX_EVENT_NONE; i++) {
		if (name_of(handle, id, name) != 0)
			continue;
		if (id < PX_FOREIGN_TYPES && is_foreign)
			/* Every stream predefines this type, but no entry of this file has it. */
			continue;
		if (id < PX_FOREIGN_TYPES)
			px_trxc_add(trxc, PX_TXTB_USER_EVENT + id, name, NULL);
		else if (!px_native_is_in_viewer(id - PX_FOREIGN_TYPES))
			add_native(trxc, id - PX_FOREIGN_TYPES, name);
	}
	px_trxc_end(trxc);
}

PX_EXPORT int txtrace_get_trxc(trace_id_t trid, char *buffer, size_t size, size_t *length)
{
	struct px_trxc trxc = {.buffer = buffer, .size = size};
	struct px_handle handle;
	int saved_errno = errno;

	if (!length || (!buffer && size > 0) || !px_handle_lock_any(trid, &handle))
		return EINVAL;
	list_types(&handle, &trxc);
	px_handle_unlock(trid);
	errno = saved_errno;
	*length = trxc.length;
	return trxc.length > size ? ENOSPC : 0;
}
