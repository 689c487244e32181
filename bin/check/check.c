/* SPDX-License-Identifier: MIT */
#include "check/check.h"

#include <stdlib.h>
#include <string.h>

#include "base/map.h"
#include "base/memory.h"
#include "base/message.h"
#include "check/checkrunning.h"
#include "check/checktime.h"
#include "check/handles.h"
#include "trace/native.h"
#include "trace/source.h"

#define BUFFER_BYTES_MAX 0x07FFFFFFu
#define SLOTS_MAX (1u << 20) /* of the registry; the library reads no more, either */
#define MANY_EVENTS 200000
#define MANY_THREADS 200
#define MANY_RESUMES 10000
#define KERNEL_NAME_SIZE 32 /* ThreadX truncates longer names, so the last byte is always null */

struct check {
	const struct raw_file *file;
	struct findings *findings;
	struct raw_header header;
	uint64_t at; /* offset of the header in the file */
	uint64_t events_at;
	uint32_t nr_object_slots, nr_event_slots;
	uint32_t nr_events, oldest;
	uint64_t nr_objects, nr_threads;
	uint64_t nr_resumes; /* RESUME events in interrupts that no event of a thread follows */
	struct handles handles;
	struct map names; /* key: hash of a name; value: offset of the first object with this name */
	struct raw_window window;
	struct check_running running;
	/* the index is an event id; the value is 1 if the id was already reported */
	unsigned char is_known[NATIVE_USER];
};

#define FOUND(check, rule, offset, ...)                                                            \
	findings_add((check)->findings, RULE_##rule, (offset), __VA_ARGS__)

/* The header. */

static void check_addresses(struct check *check)
{
	const struct raw_header *header = &check->header;
	uint32_t distance = header->current - header->buffer_start;

	if (header->registry_start - header->base != RAW_HEADER_BYTES)
		FOUND(check, registry_gap, check->at + 12,
		      "the address of the registry is %d bytes after the base, but the header has 48 bytes: TraceX "
		      "ignores this address",
		      (int)(header->registry_start - header->base));
	if (header->buffer_start != header->registry_end)
		FOUND(check, buffer_gap, check->at + 24,
		      "the address of the buffer is %d bytes after the end of the registry: TraceX ignores this "
		      "address",
		      (int)(header->buffer_start - header->registry_end));
	if (distance % RAW_EVENT_BYTES || distance / RAW_EVENT_BYTES >= check->nr_event_slots)
		FOUND(check, current, check->at + 32,
		      "the address of the oldest event is 0x%x, where no slot begins: TraceX uses the order of the "
		      "file",
		      header->current);
	else
		check->oldest = distance / RAW_EVENT_BYTES;
}

/* Check the sizes in the header. The check needs them to find the other parts. */
static bool check_sizes(struct check *check)
{
	const struct raw_header *header = &check->header;
	uint32_t trx_objects = header->registry_end - header->registry_start;
	uint32_t buffer = header->buffer_end - header->buffer_start;
	uint32_t object = RAW_OBJECT_BYTES + header->name_size;
	bool is_fine = true;

	if (header->registry_end <= header->registry_start) {
		FOUND(check, registry_size, check->at + 20,
		      "the registry ends at 0x%x and begins at 0x%x: it has no slot, so TraceX "
		      "refuses the file",
		      header->registry_end, header->registry_start);
		is_fine = false;
	} else if (trx_objects % object != 0) {
		FOUND(check, registry_slack, check->at + 20,
		      "the registry has %u bytes after its last slot of %u bytes: TraceX reads all events from "
		      "offsets that are wrong by %u bytes",
		      trx_objects % object, object, trx_objects % object);
	}
	if (header->buffer_end <= header->buffer_start || buffer > BUFFER_BYTES_MAX) {
		FOUND(check, buffer_size, check->at + 28,
		      "the buffer ends at 0x%x and begins at 0x%x: TraceX accepts 1 to 4194303 events",
		      header->buffer_end, header->buffer_start);
		is_fine = false;
	} else if (buffer % RAW_EVENT_BYTES != 0) {
		FOUND(check, buffer_slack, check->at + 28,
		      "the buffer has %u bytes after its last slot, which TraceX ignores",
		      buffer % RAW_EVENT_BYTES);
	}
	check->nr_object_slots = trx_objects / object;
	check->nr_event_slots = buffer / RAW_EVENT_BYTES;
	check->events_at = check->at + RAW_HEADER_BYTES + (uint64_t)check->nr_object_slots * object;
	return is_fine;
}

static bool check_header(struct check *check)
{
	struct raw_header *header = &check->header;

	if (!raw_header(check->file, check->at, header)) {
		FOUND(check, header_cut, check->file->size,
		      "the file ends within the header of 48 bytes: TraceX refuses it");
		return false;
	}
	if (header->name_size > RAW_NAME_MAX) {
		FOUND(check, name_size, check->at + 18,
		      "names have %u bytes: TraceX refuses more than 63", header->name_size);
		return false;
	}
	if (header->name_size % 4 != 0)
		FOUND(check, name_padding, check->at + 18,
		      "names have %u bytes, which is not a multiple of 4: the kernel pads its slots, but does not "
		      "include the padding in this size",
		      header->name_size);
	if (header->time_mask & (header->time_mask + 1))
		FOUND(check, mask, check->at + 4,
		      "the time mask 0x%08x is not 2^n - 1: TraceX removes bits from the stamps",
		      header->time_mask);
	if (!check_sizes(check))
		return false;
	check_addresses(check);
	return true;
}

/* The registry. */

static void check_name(struct check *check, const struct raw_object *object, uint64_t offset)
{
	const char *name = object->name;
	size_t length = strlen(name);
	uint64_t *first = map_get(&check->names, map_hash(name));
	const char *at = name;

	if (*first == 0)
		*first = offset;
	else
		FOUND(check, name_twice, offset + RAW_OBJECT_BYTES,
		      "the name \"%s\" also belongs to the object at 0x%llx: TraceX's menu leaves one of the two out",
		      name, (unsigned long long)*first);
	if (name[0] < 0x20 || name[0] > 0x7E) {
		FOUND(check, name_lost, offset + RAW_OBJECT_BYTES,
		      "the name of object 0x%x begins with byte 0x%02x: TraceX shows \"Non-ASCII "
		      "Name\"",
		      object->handle, (unsigned char)name[0]);
		return;
	}
	while (*at >= 0x20 && *at <= 0x7E && !strchr("()_", *at))
		at++;
	if (*at)
		FOUND(check, name_character, offset + RAW_OBJECT_BYTES + (uint64_t)(at - name),
		      strchr("()", *at) ?
			      "the name \"%s\" has a parenthesis, at which TraceX splits it: its entry in a menu does "
			      "not work" :
		      *at == '_' ? "the name \"%s\" has an underscore, which TraceX's menus do not show" :
				   "the name \"%s\" has bytes that are not ASCII: TraceX shows other characters",
		      name);
	if (object->is_full ||
	    (check->header.name_size == KERNEL_NAME_SIZE && length == KERNEL_NAME_SIZE - 1))
		FOUND(check, name_cut, offset + RAW_OBJECT_BYTES,
		      "the name \"%s\" fills its %u bytes: it may have been truncated", name,
		      check->header.name_size);
}

static void check_object(struct check *check, const struct raw_object *object, uint64_t offset)
{
	struct handle *first = handles_get(&check->handles, object->handle);

	check->nr_objects++;
	check->nr_threads += object->type == OBJECT_THREAD;
	if (object->type == OBJECT_THREAD &&
	    (object->handle == 0 || object->handle >= CONTEXT_INITIALIZE))
		FOUND(check, handle_reserved, offset + 4,
		      "the thread \"%s\" has the handle 0x%x, which TraceX uses for idle, initialization or an "
		      "interrupt",
		      object->name, object->handle);
	if (first->is_registered)
		findings_add(check->findings,
			     object->type == OBJECT_THREAD ? RULE_thread_twice : RULE_handle_twice,
			     offset + 4,
			     "the handle 0x%x of \"%s\" also belongs to the object at 0x%llx: %s",
			     object->handle, object->name, (unsigned long long)first->offset,
			     object->type == OBJECT_THREAD ? "its execution time counts twice" :
						      "TraceX never finds this object");
	if (!first->is_registered) {
		first->is_registered = true;
		first->is_thread = object->type == OBJECT_THREAD;
		first->is_nobody = first->is_thread && (strcmp(object->name, "no thread") == 0 ||
							strcmp(object->name, "nobody") == 0);
		first->offset = offset;
	}
	check_name(check, object, offset);
}

/* Check the registry of objects. Return false if it is incomplete. */
static bool check_registry(struct check *check)
{
	uint32_t size = RAW_OBJECT_BYTES + check->header.name_size;
	struct raw_object object;

	for (uint32_t slot = 0; slot < check->nr_object_slots; slot++) {
		uint64_t offset = check->at + RAW_HEADER_BYTES + (uint64_t)slot * size;

		if (!raw_object(check->file, offset, check->header.name_size, &object)) {
			FOUND(check, registry_cut, check->file->size,
			      "the file ends within slot %u of %u of the registry: TraceX refuses "
			      "it",
			      slot + 1, check->nr_object_slots);
			return false;
		}
		if (slot == SLOTS_MAX) {
			FOUND(check, many_objects, offset,
			      "the registry has %u slots: TraceX is too slow for so many, and the slots from here on "
			      "were not checked",
			      check->nr_object_slots);
			break;
		}
		if (object.type == 0)
			continue;
		if (check->nr_objects == HANDLES_MAX / 2) {
			FOUND(check, many_objects, offset,
			      "there are more than %u objects: TraceX is too slow for so many, and the objects from "
			      "here on were not checked",
			      HANDLES_MAX / 2);
			break;
		}
		check_object(check, &object, offset);
	}
	if (check->nr_threads == 0)
		FOUND(check, no_thread, check->at + RAW_HEADER_BYTES,
		      "no thread is registered: TraceX shows threads only by their addresses, and its raw dump may "
		      "end the program");
	return true;
}

/* Events. */

static uint64_t event_offset(const struct check *check, uint32_t slot)
{
	return check->events_at + (uint64_t)slot * RAW_EVENT_BYTES;
}

/* Report events after the first unused slot. TraceX never reads these events. */
static void check_hole(struct check *check)
{
	uint64_t first = 0, nr_lost = 0;
	struct raw_event event;

	for (uint32_t slot = check->nr_events; slot < check->nr_event_slots; slot++) {
		if (!raw_event(check->file, &check->window, event_offset(check, slot), &event))
			break;
		if (event.context != 0 && nr_lost++ == 0)
			first = event_offset(check, slot);
	}
	if (nr_lost > 0)
		FOUND(check, hole, event_offset(check, check->nr_events),
		      "after an unused slot there are %llu events, from 0x%llx on: TraceX stops at this slot and does "
		      "not show them",
		      (unsigned long long)nr_lost, (unsigned long long)first);
}

/* Find the end of the events. Return false if the file ends earlier. */
static bool find_end(struct check *check)
{
	struct raw_event event;
	uint32_t slot;

	for (slot = 0; slot < check->nr_event_slots; slot++) {
		if (!raw_event(check->file, &check->window, event_offset(check, slot), &event)) {
			FOUND(check, buffer_cut, check->file->size,
			      "the file ends within slot %u of %u, and no earlier slot is unused: TraceX refuses the "
			      "file",
			      slot + 1, check->nr_event_slots);
			return false;
		}
		if (event.context == 0)
			break;
	}
	check->nr_events = slot;
	if (slot < check->nr_event_slots)
		check_hole(check);
	if (check->oldest > check->nr_events)
		FOUND(check, current, check->at + 32,
		      "the address of the oldest event is 0x%x, an unused slot: TraceX uses the order of the file",
		      check->header.current);
	if (check->oldest >= check->nr_events)
		check->oldest = 0;
	return true;
}

static void check_context(struct check *check, uint32_t context, uint64_t offset)
{
	struct handle *handle;

	if (context == CONTEXT_INTERRUPT || context == CONTEXT_INITIALIZE)
		return;
	handle = handles_get(&check->handles, context);
	if (handle->is_registered && !handle->is_thread)
		FOUND(check, context_no_thread, offset,
		      "the context of the event is 0x%x, the object at 0x%llx, which is not a thread: TraceX invents "
		      "a new thread for each such event",
		      context, (unsigned long long)handle->offset);
	if (handle->is_context)
		return;
	handle->is_context = true;
	if (context > CONTEXT_INITIALIZE)
		FOUND(check, context_reserved, offset,
		      "the thread of the event is 0x%x: most views of TraceX leave out threads above 0xf0f0f0f0",
		      context);
	if (!handle->is_registered) {
		check->nr_threads++;
		handle->offset = offset;
		FOUND(check, context_unnamed, offset,
		      "the thread of the event is 0x%x, which is not registered: TraceX calls it Un-named Thread",
		      context);
	}
}

static void check_id(struct check *check, uint32_t id, uint64_t offset)
{
	if (id >= NATIVE_USER || native_title(id) || check->is_known[id])
		return;
	check->is_known[id] = 1;
	FOUND(check, id_unknown, offset,
	      "the event has the id %u, which ThreadX does not define; applications use 4096 to 65535",
	      id);
}

/* Check a word that is a handle, if TraceX searches the registry for this handle. Report each handle only once. */
static void check_reference(struct check *check, uint32_t value, uint64_t offset, bool is_mutex,
			    const char *what)
{
	struct handle *handle;

	if (value == 0 || value == CONTEXT_INTERRUPT || value == CONTEXT_INITIALIZE)
		return;
	handle = handles_get(&check->handles, value);
	if (handle->is_registered || handle->is_referred)
		return;
	handle->is_referred = true;
	findings_add(check->findings, is_mutex ? RULE_mutex_unnamed : RULE_next_unnamed, offset,
		     is_mutex ? "the %s 0x%x is not registered: TraceX counts priority inversions that never happened" :
				"the %s 0x%x is not registered: TraceX charges time to a thread "
				"without a name",
		     what, value);
}

static bool is_state(uint32_t state)
{
	return (state >= 1 && state <= 9) || state == 12 || state == 13;
}

/* TraceX draws the status lines and the profile from SUSPEND and RESUME. */
static void check_status(struct check *check, const struct raw_event *event, uint64_t offset)
{
	if (!is_state(event->info[1]))
		FOUND(check, state, offset + 20,
		      "TraceX does not know the state %u of thread 0x%x: the status line of the thread ends here",
		      event->info[1], event->info[0]);
	check_reference(check, event->info[3], offset + 28, false, "thread that runs next");
	if ((event->id & 0xFFFF) == NATIVE_THREAD_RESUME && event->context == CONTEXT_INTERRUPT &&
	    event->info[3] == 0)
		check->nr_resumes++;
}

static void check_event(struct check *check, const struct raw_event *event, uint64_t offset)
{
	uint32_t id = event->id & 0xFFFF;

	check_context(check, event->context, offset);
	check_id(check, id, offset + 8);
	if (id == NATIVE_THREAD_RESUME || id == NATIVE_THREAD_SUSPEND)
		check_status(check, event, offset);
	if (id == NATIVE_MUTEX_GET || id == NATIVE_MUTEX_PUT)
		check_reference(check, event->info[0], offset + 16, true, "mutex");
	if (id == NATIVE_MUTEX_GET)
		check_reference(check, event->info[2], offset + 24, true, "owner of a mutex");
}

/* Check the events in the order of their times. */
static void check_events(struct check *check)
{
	struct check_time time = {.findings = check->findings, .mask = check->header.time_mask};
	struct raw_event event;
	uint32_t n = check->nr_events, oldest = check->oldest;

	for (uint32_t slot = 0; slot < n; slot++) {
		if (!raw_event(check->file, &check->window, event_offset(check, slot), &event))
			return; /* the file was truncated while it was read */
		/* Ignore the first step of each part of the file. */
		check_time_vote(&time, event.stamp, slot < oldest ? slot : slot - oldest);
	}
	check_time_decide(&time, check->events_at + 12);
	for (uint32_t i = 0; i < n; i++) {
		uint32_t slot = i < n - oldest ? oldest + i : i - (n - oldest);
		uint64_t offset = event_offset(check, slot);

		if (!raw_event(check->file, &check->window, offset, &event))
			return;
		check_time_step(&time, event.stamp, offset + 12);
		check_event(check, &event, offset);
		check_running_event(&check->running, &event, offset);
		if (i % 65536 == 0)
			progress("checking", i, n);
	}
	check_time_end(&time, check->at + 4);
	progress_end();
}

/* Report the findings that need all events. */
static void check_numbers(struct check *check)
{
	if (check->nr_events == 0)
		FOUND(check, no_event, check->events_at, "there is no event: TraceX shows nothing");
	if (check->nr_events == 1)
		FOUND(check, one_event, check->events_at,
		      "there is only one event: TraceX reports an error, and does not show the trace");
	if (check->nr_events > 1 && check->nr_threads == 0 && check->nr_objects == 0)
		FOUND(check, no_object, check->at + RAW_HEADER_BYTES,
		      "there is no object, and no event of a thread: TraceX overwrites its own memory");
	if (check->nr_events > MANY_EVENTS)
		FOUND(check, many_events, check->events_at,
		      "TraceX shows %u events, and is slow from %u on", check->nr_events,
		      MANY_EVENTS);
	if (check->nr_threads > MANY_THREADS)
		FOUND(check, many_threads, check->at + RAW_HEADER_BYTES,
		      "there are %llu threads: TraceX is slow from %u on",
		      (unsigned long long)check->nr_threads, MANY_THREADS);
	if (check->nr_resumes > MANY_RESUMES)
		FOUND(check, many_resumes, check->events_at,
		      "in %llu events an interrupt resumes a thread, and the next thread is not named: TraceX "
		      "searches the whole file for each of them",
		      (unsigned long long)check->nr_resumes);
	for (size_t i = 0; i < check->handles.nr; i++) {
		const struct handle *handle = &check->handles.handle[i];

		if (check->nr_events > 1 && check_running_overruns(&check->running, handle))
			FOUND(check, status_overrun, handle->offset,
			      "%u of %u events suspend or resume thread 0x%x: TraceX has room for "
			      "half of the events, "
			      "and overwrites its own memory",
			      handle->nr_changes, check->nr_events, handle->handle);
	}
}

void check_buffer(const struct raw_file *file, uint64_t offset, struct findings *findings,
		  struct check_counts *counts)
{
	struct check *check = must(calloc(1, sizeof(*check)));

	check->file = file;
	check->findings = findings;
	check->at = offset;
	check->window.offset = UINT64_MAX;
	check->running = (struct check_running){.findings = findings, .handles = &check->handles};
	if (check_header(check)) {
		counts->end = event_offset(check, check->nr_event_slots);
		if (check_registry(check) && find_end(check)) {
			check_events(check);
			check_numbers(check);
		}
	}
	counts->nr_objects += check->nr_objects;
	counts->nr_threads += check->nr_threads;
	counts->nr_events += check->nr_events;
	handles_free(&check->handles);
	map_free(&check->names);
	free(check);
}
