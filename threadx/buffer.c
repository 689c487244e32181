/* SPDX-License-Identifier: MIT */
#include "buffer.h"

#include <sched.h>

#include "registry.h"
#include "threads.h"
#include "txclock.h"

#define CONTEXT_INTERRUPT 0xFFFFFFFFu
#define CPU_MAX 255u
#define BASE_OTHERWISE 0x00010000u

_Static_assert(sizeof(TX_TRACE_HEADER) == 48 && sizeof(TX_TRACE_OBJECT_ENTRY) == 48 &&
		       sizeof(TX_TRACE_BUFFER_ENTRY) == 32,
	       "ThreadX's layout");

PX_EXPORT TX_TRACE_HEADER *_tx_trace_header_ptr;
struct px_tx_trace px_tx_trace = {.enabled = 0xFFFFFFFFu};

/*
 * The address of the buffer in its header.  Only differences of these addresses matter.  If the lower halves of the
 * addresses wrap around within the buffer, take another base.
 */
static uint32_t base_of(const void *memory, uint32_t size)
{
	uint32_t base = (uint32_t)(uintptr_t)memory;

	return base != 0 && base <= UINT32_MAX - size ? base : BASE_OTHERWISE;
}

static void fill_header(TX_TRACE_HEADER *header, uint32_t base, uint32_t nr_slots, uint32_t nr_entries, uint32_t mask)
{
	uint32_t registry = base + (uint32_t)sizeof(*header);
	uint32_t entries = registry + nr_slots * (uint32_t)sizeof(TX_TRACE_OBJECT_ENTRY);

	px_tx_trace.start_address = entries;
	header->tx_trace_header_id = TX_TRACE_VALID;
	header->tx_trace_header_timer_valid_mask = mask;
	header->tx_trace_header_trace_base_address = base;
	header->tx_trace_header_registry_start_pointer = registry;
	header->tx_trace_header_reserved1 = 0;
	header->tx_trace_header_object_name_size = TX_TRACE_OBJECT_REGISTRY_NAME;
	header->tx_trace_header_registry_end_pointer = entries;
	header->tx_trace_header_buffer_start_pointer = entries;
	header->tx_trace_header_buffer_end_pointer = entries + nr_entries * (uint32_t)sizeof(TX_TRACE_BUFFER_ENTRY);
	px_write_once(&header->tx_trace_header_buffer_current_pointer, entries);
	header->tx_trace_header_reserved2 = 0xAAAAAAAAu;
	header->tx_trace_header_reserved3 = 0xBBBBBBBBu;
	header->tx_trace_header_reserved4 = 0xCCCCCCCCu;
}

static uint32_t take_stamp(void)
{
	uint64_t ticks;

	if (px_tx_trace.time_source)
		return px_tx_trace.time_source();
	ticks = px_tx_clock_ticks();
	if (px_unlikely(ticks < px_tx_trace.last_ticks))
		ticks = px_tx_trace.last_ticks;
	px_tx_trace.last_ticks = ticks;
	return (uint32_t)ticks;
}

static uint32_t id_of(uint32_t id)
{
	int cpu;

	if (px_likely(!px_tx_trace.is_smp))
		return id;
	cpu = sched_getcpu();
	return (cpu < 0 ? 0 : (uint32_t)cpu > CPU_MAX ? CPU_MAX : (uint32_t)cpu) << 24 | id;
}

static PX_COLD void call_notify(struct px_tx_thread *self)
{
	/* In the callback, the program may call all services: all data are whole. */
	px_write_once(&self->state, PX_TX_CALLBACK);
	px_tx_trace.notify(px_tx_trace.header);
	px_write_once(&self->state, PX_TX_INSIDE);
}

static void write_entry(struct px_tx_thread *self, const struct px_tx_event *event, bool is_callback,
			TX_TRACE_BUFFER_ENTRY **entry, uint32_t *stamp)
{
	TX_TRACE_BUFFER_ENTRY *at = px_tx_trace.current, *next;
	uint32_t context = self->handle, word = self->priority;

	*entry = at;
	if (px_unlikely(!at))
		return;
	if (px_unlikely(event->nesting != 0)) {
		word = context;
		context = CONTEXT_INTERRUPT;
	}
	*stamp = take_stamp();
	px_write_once(&at->tx_trace_buffer_entry_thread_pointer, context);
	px_write_once(&at->tx_trace_buffer_entry_thread_priority, word);
	px_write_once(&at->tx_trace_buffer_entry_event_id, id_of(event->id));
	px_write_once(&at->tx_trace_buffer_entry_time_stamp, *stamp);
	px_write_once(&at->tx_trace_buffer_entry_information_field_1, event->info[0]);
	px_write_once(&at->tx_trace_buffer_entry_information_field_2, event->info[1]);
	px_write_once(&at->tx_trace_buffer_entry_information_field_3, event->info[2]);
	px_write_once(&at->tx_trace_buffer_entry_information_field_4, event->info[3]);
	next = at + 1 < px_tx_trace.end ? at + 1 : px_tx_trace.start;
	px_write_once(&px_tx_trace.current, next);
	px_store_release(&px_tx_trace.header->tx_trace_header_buffer_current_pointer,
			 px_tx_trace.start_address +
				 (uint32_t)(next - px_tx_trace.start) * (uint32_t)sizeof(TX_TRACE_BUFFER_ENTRY));
	/* A callback whose own events fill the buffer again is not called from within itself. */
	if (px_unlikely(next == px_tx_trace.start) && px_tx_trace.notify && !is_callback)
		call_notify(self);
}

/* Do what handlers have left; more handlers may come meanwhile. */
static PX_COLD void do_work(struct px_tx_thread *self, bool is_callback)
{
	TX_TRACE_BUFFER_ENTRY *entry;
	uint32_t stamp, n = 0;

	px_tx_thread_identify(self);
	do {
		while (n < px_read_once(&self->nr_pending) && n < PX_TX_PENDING)
			write_entry(self, &self->pending[n++], is_callback, &entry, &stamp);
		n = px_read_once(&self->nr_pending) > PX_TX_PENDING ? px_read_once(&self->nr_pending) : n;
	} while (!px_compare_exchange(&self->nr_pending, n, 0));
	if (px_exchange(&self->wants_disable, 0))
		px_tx_buffer_end();
}

void px_tx_buffer_leave(struct px_tx_thread *self, uint32_t before)
{
	for (;;) {
		while (px_tx_has_work(self))
			do_work(self, before == PX_TX_CALLBACK);
		px_tx_lock_leave(self, before);
		/* A handler may have come between the two calls. */
		if (px_likely(!px_tx_has_work(self)) || !px_tx_lock_enter(self, &before))
			return;
	}
}

/* A signal handler leaves the event to the thread that it interrupted. */
static PX_COLD void leave_to_thread(struct px_tx_thread *self, const struct px_tx_event *event)
{
	uint32_t n = px_fetch_add(&self->nr_pending, 1);

	if (n < PX_TX_PENDING)
		self->pending[n] = *event;
	else
		px_fetch_add(&px_tx_trace.nr_lost, 1);
}

void px_tx_buffer_insert(struct px_tx_thread *self, const struct px_tx_event *event, TX_TRACE_BUFFER_ENTRY **entry,
			 uint32_t *stamp)
{
	uint32_t before;

	*entry = NULL;
	if (px_unlikely(!px_tx_lock_enter(self, &before))) {
		leave_to_thread(self, event);
		return;
	}
	PX_TESTPOINT("threadx.insert.locked");
	if (px_unlikely(self->handle == 0))
		px_tx_thread_identify(self);
	write_entry(self, event, before == PX_TX_CALLBACK, entry, stamp);
	PX_TESTPOINT("threadx.insert.written");
	px_tx_buffer_leave(self, before);
}

static void add_to_registry(const struct px_tx_object *object)
{
	px_tx_registry_add(object);
}

UINT px_tx_buffer_begin(void *memory, uint32_t size, uint32_t nr_slots, const struct tx_trace_posix_port *port)
{
	const struct px_tx_event running = {.id = TX_TRACE_RUNNING, .nesting = px_tx_self.nesting};
	TX_TRACE_HEADER *header = memory;
	TX_TRACE_OBJECT_ENTRY *slots = (TX_TRACE_OBJECT_ENTRY *)(header + 1);
	TX_TRACE_BUFFER_ENTRY *entries = (TX_TRACE_BUFFER_ENTRY *)(slots + nr_slots), *entry;
	uint32_t nr_entries = (uint32_t)((size - sizeof(*header) - nr_slots * sizeof(*slots)) / sizeof(*entries));
	uint32_t stamp;

	px_tx_thread_identify(&px_tx_self);
	px_tx_registry_begin(slots, nr_slots);
	for (uint32_t i = 0; i < nr_entries; i++)
		px_write_once(&entries[i].tx_trace_buffer_entry_thread_pointer, 0);
	fill_header(header, base_of(memory, size), nr_slots, nr_entries, port->time_mask);
	if (px_tx_objects_each(add_to_registry) != 0) {
		px_tx_registry_begin(NULL, 0);
		return TX_NOT_DONE;
	}
	px_tx_trace.header = header;
	px_write_once(&_tx_trace_header_ptr, header);
	px_tx_trace.start = entries;
	px_tx_trace.end = entries + nr_entries;
	px_tx_trace.time_source = port->time_source;
	px_tx_trace.is_smp = port->is_smp != 0;
	px_tx_trace.last_ticks = 0;
	px_tx_clock_start();
	px_write_once(&px_tx_trace.enabled, 0xFFFFFFFFu);
	px_write_once(&px_tx_trace.current, entries);
	for (int i = 0; i < 2; i++)
		write_entry(&px_tx_self, &running, px_tx_self.state == PX_TX_CALLBACK, &entry, &stamp);
	return TX_SUCCESS;
}

void px_tx_buffer_end(void)
{
	px_write_once(&px_tx_trace.current, NULL);
	px_tx_registry_begin(NULL, 0);
}
