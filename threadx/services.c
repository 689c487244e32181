/* SPDX-License-Identifier: MIT */
/* The public functions.  Each checks its arguments, and leaves the rest to the other files. */
#include <stddef.h>
#include <tx_trace_posix.h>

#include "buffer.h"
#include "registry.h"
#include "streams.h"
#include "threads.h"

#undef tx_trace_enable

PX_EXPORT UINT tx_trace_posix_enable(VOID *start, ULONG size, ULONG nr_slots, const struct tx_trace_posix_port *port)
{
	static const struct tx_trace_posix_port usual = {.time_mask = TX_TRACE_TIME_MASK};
	struct px_tx_thread *self = &px_tx_self;
	uint32_t before;
	UINT status;

	if (size < sizeof(TX_TRACE_HEADER) + (uint64_t)nr_slots * sizeof(TX_TRACE_OBJECT_ENTRY) +
			   sizeof(TX_TRACE_BUFFER_ENTRY))
		return TX_SIZE_ERROR;
	if (!start || (uintptr_t)start % sizeof(ULONG) != 0)
		return TX_PTR_ERROR;
	px_tx_streams_prepare();
	if (!px_tx_lock_enter(self, &before))
		return TX_NOT_DONE;
	status = px_tx_is_on() ? TX_NOT_DONE : px_tx_buffer_begin(start, size, nr_slots, port ? port : &usual);
	px_tx_buffer_leave(self, before);
	return status;
}

PX_EXPORT UINT tx_trace_enable(VOID *start, ULONG size, ULONG nr_slots)
{
	return tx_trace_posix_enable(start, size, nr_slots, NULL);
}

PX_EXPORT UINT tx_trace_disable(VOID)
{
	struct px_tx_thread *self = &px_tx_self;
	UINT status = TX_NOT_DONE;
	uint32_t before;

	if (!px_tx_lock_enter(self, &before)) {
		if (!px_tx_is_on() || px_exchange(&self->wants_disable, 1) != 0)
			return TX_NOT_DONE;
		return TX_SUCCESS;
	}
	if (px_tx_is_on()) {
		px_tx_buffer_end();
		status = TX_SUCCESS;
	}
	px_tx_buffer_leave(self, before);
	return status;
}

PX_EXPORT UINT tx_trace_event_filter(ULONG groups)
{
	px_fetch_and(&px_tx_trace.enabled, ~groups);
	return TX_SUCCESS;
}

PX_EXPORT UINT tx_trace_event_unfilter(ULONG groups)
{
	px_fetch_or(&px_tx_trace.enabled, groups);
	return TX_SUCCESS;
}

PX_EXPORT UINT tx_trace_buffer_full_notify(VOID (*callback)(VOID *buffer))
{
	px_write_once(&px_tx_trace.notify, callback);
	return TX_SUCCESS;
}

/* Record an event that the filter lets through.  Return false if the trace is off. */
PX_INLINE bool insert(const struct px_tx_event *event, ULONG group, TX_TRACE_BUFFER_ENTRY **entry, ULONG *stamp)
{
	bool is_on = px_tx_is_on();

	*entry = NULL;
	if (px_unlikely(!px_tx_is_enabled(group)))
		return is_on;
	if (px_likely(is_on))
		px_tx_buffer_insert(&px_tx_self, event, entry, stamp);
	if (px_unlikely(px_tx_is_traced()))
		px_tx_streams_record(event);
	return is_on;
}

PX_EXPORT UINT tx_trace_user_event_insert(ULONG id, ULONG info1, ULONG info2, ULONG info3, ULONG info4)
{
	const struct px_tx_event event = {
		.id = id, .info = {info1, info2, info3, info4}, .nesting = px_read_once(&px_tx_self.nesting)};
	TX_TRACE_BUFFER_ENTRY *entry;
	ULONG stamp;

	return insert(&event, TX_TRACE_USER_EVENTS, &entry, &stamp) ? TX_SUCCESS : TX_NOT_DONE;
}

PX_EXPORT VOID _tx_trace_event_insert(ULONG id, ULONG info1, ULONG info2, ULONG info3, ULONG info4, ULONG group)
{
	const struct px_tx_event event = {
		.id = id, .info = {info1, info2, info3, info4}, .nesting = px_read_once(&px_tx_self.nesting)};
	TX_TRACE_BUFFER_ENTRY *entry;
	ULONG stamp;

	insert(&event, group, &entry, &stamp);
}

PX_EXPORT VOID _tx_trace_event_insert_get(ULONG id, ULONG info1, ULONG info2, ULONG info3, ULONG info4, ULONG group,
					  TX_TRACE_BUFFER_ENTRY **entry, ULONG *stamp)
{
	const struct px_tx_event event = {
		.id = id, .info = {info1, info2, info3, info4}, .nesting = px_read_once(&px_tx_self.nesting)};

	*stamp = 0;
	insert(&event, group, entry, stamp);
}

static void update_word(ULONG *word, ULONG value)
{
	if (value != 0)
		px_write_once(word, value);
}

PX_EXPORT VOID _tx_trace_event_update(TX_TRACE_BUFFER_ENTRY *entry, ULONG stamp, ULONG id, ULONG info1, ULONG info2,
				      ULONG info3, ULONG info4)
{
	struct px_tx_thread *self = &px_tx_self;
	uint32_t before;

	if (!entry || !px_tx_lock_enter(self, &before))
		return;
	if (px_tx_is_on() && entry >= px_tx_trace.start && entry < px_tx_trace.end &&
	    entry->tx_trace_buffer_entry_time_stamp == stamp &&
	    (entry->tx_trace_buffer_entry_event_id & 0xFFFF) == (id & 0xFFFF)) {
		update_word(&entry->tx_trace_buffer_entry_information_field_1, info1);
		update_word(&entry->tx_trace_buffer_entry_information_field_2, info2);
		update_word(&entry->tx_trace_buffer_entry_information_field_3, info3);
		update_word(&entry->tx_trace_buffer_entry_information_field_4, info4);
	}
	px_tx_buffer_leave(self, before);
}

static void insert_isr(uint32_t id, ULONG isr_id, uint32_t nesting)
{
	const struct px_tx_event event = {
		.id = id,
		.info = {(uint32_t)(uintptr_t)__builtin_frame_address(0), isr_id, nesting, 0},
		.nesting = nesting};
	TX_TRACE_BUFFER_ENTRY *entry;
	ULONG stamp;

	insert(&event, TX_TRACE_INTERNAL_EVENTS, &entry, &stamp);
}

PX_EXPORT VOID tx_trace_isr_enter_insert(ULONG isr_id)
{
	uint32_t nesting = px_read_once(&px_tx_self.nesting) + 1;

	px_write_once(&px_tx_self.nesting, nesting);
	insert_isr(TX_TRACE_ISR_ENTER, isr_id, nesting);
}

PX_EXPORT VOID tx_trace_isr_exit_insert(ULONG isr_id)
{
	uint32_t nesting = px_read_once(&px_tx_self.nesting);

	insert_isr(TX_TRACE_ISR_EXIT, isr_id, nesting);
	if (nesting != 0)
		px_write_once(&px_tx_self.nesting, nesting - 1);
}

PX_EXPORT VOID _tx_trace_object_register(UCHAR type, VOID *address, CHAR *name, ULONG parameter1, ULONG parameter2)
{
	const uint32_t parameter[2] = {parameter1, parameter2};
	struct px_tx_thread *self = &px_tx_self;
	struct px_tx_object *object, copy;
	uint32_t before;

	if (type == TX_TRACE_OBJECT_TYPE_NOT_VALID || !px_tx_lock_enter(self, &before))
		return;
	object = px_tx_objects_add((uintptr_t)address, type, name, parameter);
	if (object) {
		if (type == TX_TRACE_OBJECT_TYPE_THREAD && px_tx_thread_is_own((uintptr_t)address))
			px_tx_thread_fill_priority(object);
		px_tx_registry_add(object);
		copy = *object;
	}
	px_tx_buffer_leave(self, before);
	if (object && before == PX_TX_OUTSIDE && px_unlikely(px_tx_is_traced()))
		px_tx_streams_register(&copy);
}

PX_EXPORT VOID _tx_trace_object_unregister(VOID *address)
{
	struct px_tx_thread *self = &px_tx_self;
	struct px_tx_object *object;
	uint32_t before, handle = 0;

	if (!px_tx_lock_enter(self, &before))
		return;
	object = px_tx_objects_get((uintptr_t)address);
	if (object && object->is_live) {
		handle = object->handle;
		px_tx_registry_release(handle);
		px_tx_objects_remove(object);
	}
	px_tx_buffer_leave(self, before);
	if (handle != 0 && before == PX_TX_OUTSIDE && px_unlikely(px_tx_is_traced()))
		px_tx_streams_unregister(handle);
}

PX_EXPORT UINT tx_trace_posix_thread_set(VOID *address, UINT priority, UINT threshold)
{
	struct px_tx_thread *self = &px_tx_self;
	uint32_t before;
	bool is_set;

	if (!address)
		return TX_PTR_ERROR;
	if (!px_tx_lock_enter(self, &before))
		return TX_NOT_DONE;
	is_set = px_tx_thread_set(self, (uintptr_t)address, priority, threshold);
	px_tx_buffer_leave(self, before);
	return is_set ? TX_SUCCESS : TX_NOT_DONE;
}

PX_EXPORT ULONG tx_trace_posix_handle(const VOID *address)
{
	return px_tx_objects_word((uintptr_t)address);
}

PX_EXPORT ULONG tx_trace_posix_lost(VOID)
{
	return px_read_once(&px_tx_trace.nr_lost);
}
