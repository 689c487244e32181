/* SPDX-License-Identifier: MIT */
/*
 * Like the viewer, this checker reads the file strictly in sequence: header, registry, events.  It takes sizes and the
 * oldest event from the addresses in the header, and never a position in the file.
 */
#include "support/txtb_checker.h"

#include <stdlib.h>
#include <string.h>

#define ENTRY_BYTES 16 /* of a registry entry, before the name */
#define EVENT_BYTES 32
#define BUFFER_BYTES_MAX 0x07FFFFFFu
#define TYPE_THREAD 1

struct source {
	const unsigned char *bytes;
	size_t size;
	size_t at;
	bool big_endian;
	bool is_cut; /* the checker read beyond the end */
};

struct header {
	uint32_t id, time_mask, base, registry_start, registry_end;
	uint32_t buffer_start, buffer_end, current;
	uint16_t reserved1, name_size;
};

static uint32_t take_byte(struct source *source)
{
	if (source->at >= source->size) {
		source->is_cut = true;
		return 0;
	}
	return source->bytes[source->at++];
}

static uint32_t take(struct source *source, unsigned int nr_bytes)
{
	uint32_t value = 0;

	for (unsigned int i = 0; i < nr_bytes; i++) {
		uint32_t byte = take_byte(source);

		value |= byte << 8 * (source->big_endian ? nr_bytes - 1 - i : i);
	}
	return value;
}

static enum txtb_verdict read_id(struct source *source, struct txtb_trace *trace)
{
	if (source->size < 4)
		return TXTB_NO_ID;
	if (memcmp(source->bytes, "TXTB", 4) == 0)
		source->big_endian = true;
	else if (memcmp(source->bytes, "BTXT", 4) != 0)
		return TXTB_BAD_ID;
	trace->big_endian = source->big_endian;
	return TXTB_ACCEPTED;
}

static enum txtb_verdict read_header(struct source *source, struct header *header)
{
	header->id = take(source, 4);
	header->time_mask = take(source, 4);
	header->base = take(source, 4);
	header->registry_start = take(source, 4);
	header->reserved1 = (uint16_t)take(source, 2);
	header->name_size = (uint16_t)take(source, 2);
	header->registry_end = take(source, 4);
	header->buffer_start = take(source, 4);
	header->buffer_end = take(source, 4);
	header->current = take(source, 4);
	for (int i = 0; i < 3; i++)
		take(source, 4);
	return source->is_cut || header->name_size >= TXTB_NAME_BYTES ? TXTB_BAD_HEADER :
									TXTB_ACCEPTED;
}

/* Names. */

static bool is_printable(unsigned char byte)
{
	return byte >= 0x20 && byte <= 0x7E;
}

static uint32_t name_warnings(const char *name)
{
	uint32_t warnings = 0;

	if (!is_printable((unsigned char)name[0]))
		return TXTB_NAME_LOST;
	for (; *name; name++)
		if (!is_printable((unsigned char)*name) || strchr("()_", *name))
			warnings = TXTB_NAME_AWKWARD;
	return warnings;
}

static void read_name(struct source *source, uint32_t name_size, struct txtb_object *object)
{
	memset(object->name, 0, sizeof(object->name));
	for (uint32_t i = 0; i < name_size; i++)
		object->name[i] = (char)take_byte(source);
	memset(object->name + strlen(object->name), 0, sizeof(object->name) - strlen(object->name));
}

/* The registry. */

static void read_object(struct source *source, uint32_t name_size, struct txtb_object *object)
{
	uint32_t high, low;

	memset(object, 0, sizeof(*object));
	object->available = (uint8_t)take(source, 1);
	object->type = (uint8_t)take(source, 1);
	high = take(source, 1);
	low = take(source, 1);
	object->handle = take(source, 4);
	object->parameter1 = take(source, 4);
	object->parameter2 = take(source, 4);
	object->priority = UINT32_MAX;
	if (object->type == TYPE_THREAD && (high & 0x80))
		object->priority = (high & 3) << 8 | low;
	read_name(source, name_size, object);
}

static enum txtb_verdict read_registry(struct source *source, const struct header *header,
				       struct txtb_trace *trace)
{
	uint32_t length = header->registry_end - header->registry_start;
	uint32_t entry_size = ENTRY_BYTES + header->name_size;

	if (header->registry_end <= header->registry_start)
		return TXTB_BAD_REGISTRY;
	trace->nr_registry_slots = length / entry_size;
	if (length % entry_size)
		trace->warnings |= TXTB_SLACK_IN_REGISTRY;
	/* At most what the file can hold, whatever the header says; plus one, so that it is never 0. */
	trace->objects = calloc((source->size - source->at) / entry_size + 1,
				sizeof(*trace->objects));
	if (!trace->objects)
		return TXTB_NO_MEMORY;
	for (uint32_t i = 0; i < trace->nr_registry_slots; i++) {
		struct txtb_object object;

		read_object(source, header->name_size, &object);
		if (source->is_cut)
			return TXTB_CUT_REGISTRY;
		if (object.type == 0)
			continue;
		trace->warnings |= name_warnings(object.name);
		trace->objects[trace->nr_objects++] = object;
	}
	trace->nr_registered = trace->nr_objects;
	return TXTB_ACCEPTED;
}

/* Events. */

static void read_event(struct source *source, const struct header *header, struct txtb_event *event)
{
	memset(event, 0, sizeof(*event));
	event->context = take(source, 4);
	event->priority = take(source, 4);
	event->threshold = UINT32_MAX;
	event->raw_id = take(source, 4);
	event->id = event->raw_id & 0xFFFF;
	event->stamp = take(source, 4) & header->time_mask;
	for (int i = 0; i < 4; i++)
		event->info[i] = take(source, 4);
	event->object = TXTB_NO_THREAD;
	if (event->context == TXTB_INTERRUPT || event->context == TXTB_INITIALIZE)
		return;
	if (event->priority & 0x80000000u)
		event->threshold = event->priority >> 16 & 0x3FF;
	event->priority &= 0x3FF;
}

static enum txtb_verdict read_events(struct source *source, const struct header *header,
				     struct txtb_trace *trace)
{
	uint32_t length = header->buffer_end - header->buffer_start;

	if (header->buffer_end <= header->buffer_start || length > BUFFER_BYTES_MAX)
		return TXTB_BAD_BUFFER;
	trace->nr_event_slots = length / EVENT_BYTES;
	trace->events = calloc((source->size - source->at) / EVENT_BYTES + 1,
			       sizeof(*trace->events));
	if (!trace->events)
		return TXTB_NO_MEMORY;
	for (uint32_t i = 0; i < trace->nr_event_slots; i++) {
		struct txtb_event event;

		read_event(source, header, &event);
		if (source->is_cut)
			return TXTB_CUT_BUFFER;
		if (event.context == 0)
			break;
		event.slot = i;
		trace->events[trace->nr_events++] = event;
	}
	return TXTB_ACCEPTED;
}

/* The index of the oldest event, as the header gives it, among the events read; 0 if the header names none of them. */
static uint32_t find_oldest(const struct header *header, const struct txtb_trace *trace)
{
	uint32_t distance = header->current - header->buffer_start;

	return distance % EVENT_BYTES == 0 && distance / EVENT_BYTES < trace->nr_events ?
		       distance / EVENT_BYTES :
		       0;
}

static bool rotate(struct txtb_trace *trace, uint32_t oldest)
{
	struct txtb_event *events;

	if (oldest == 0)
		return true;
	events = malloc(trace->nr_events * sizeof(*events));
	if (!events)
		return false;
	for (uint32_t i = 0; i < trace->nr_events; i++)
		events[i] = trace->events[(oldest + i) % trace->nr_events];
	free(trace->events);
	trace->events = events;
	return true;
}

/* Time. */

/* The steps between events in [from, to) of the file, except the first step, decide the direction of time. */
static void vote(struct txtb_trace *trace, uint32_t from, uint32_t to)
{
	for (uint32_t i = from + 2; i < to; i++) {
		uint32_t before = trace->events[i - 1].stamp;
		uint32_t stamp = trace->events[i].stamp;

		trace->nr_up += stamp > before;
		trace->nr_down += stamp < before;
	}
}

static void unwrap(struct txtb_trace *trace)
{
	bool rises = trace->nr_up > trace->nr_down;
	uint64_t ticks = 0;

	for (uint32_t i = 1; i < trace->nr_events; i++) {
		uint32_t before = trace->events[i - 1].stamp;
		uint32_t stamp = trace->events[i].stamp;
		uint32_t step = stamp > before ? stamp - before : before - stamp;

		if (stamp == before || (stamp > before) == rises) {
			ticks += step;
		} else {
			ticks += (uint64_t)trace->time_mask + 1 - step;
			trace->nr_steps_back++;
		}
		trace->events[i].ticks = ticks;
	}
	if (trace->nr_events > 1 && !rises)
		trace->warnings |= TXTB_TIME_FALLS;
	if (trace->nr_steps_back > 0)
		trace->warnings |= TXTB_TIME_STEPS_BACK;
	if (trace->time_mask & (trace->time_mask + 1))
		trace->warnings |= TXTB_MASK_ODD;
}

/* Look up by hash: the viewer's linear search for each event makes it slow. */

struct index {
	uint32_t *place; /* 1 + index of an object; 0: none */
	uint32_t mask;
};

static uint32_t *find_place(const struct index *index, const struct txtb_trace *trace,
			    uint32_t handle)
{
	uint32_t i = handle * 2654435761u & index->mask;

	while (index->place[i] != 0 && trace->objects[index->place[i] - 1].handle != handle)
		i = (i + 1) & index->mask;
	return &index->place[i];
}

/* The first object of each handle. */
static bool make_index(struct txtb_trace *trace, struct index *index)
{
	uint64_t nr_places = 16;

	while (nr_places < 2 * ((uint64_t)trace->nr_objects + trace->nr_events))
		nr_places *= 2;
	index->mask = (uint32_t)(nr_places - 1);
	index->place = calloc(nr_places, sizeof(*index->place));
	if (!index->place)
		return false;
	for (uint32_t i = 0; i < trace->nr_objects; i++) {
		const struct txtb_object *object = &trace->objects[i];
		uint32_t *place = find_place(index, trace, object->handle);

		if (*place)
			trace->warnings |= TXTB_HANDLE_TWICE;
		else
			*place = i + 1;
		if (object->type == TYPE_THREAD &&
		    (object->handle == 0 || object->handle >= TXTB_INITIALIZE))
			trace->warnings |= TXTB_HANDLE_RESERVED;
	}
	return true;
}

static uint32_t make_up_thread(struct txtb_trace *trace, const struct txtb_event *event)
{
	struct txtb_object *object = &trace->objects[trace->nr_objects];

	memset(object, 0, sizeof(*object));
	object->type = TYPE_THREAD;
	object->handle = event->context;
	object->priority = event->priority;
	strcpy(object->name, "Un-named Thread");
	return trace->nr_objects++;
}

static void give_thread(struct txtb_trace *trace, const struct index *index,
			struct txtb_event *event)
{
	uint32_t *place;

	if (event->context == TXTB_INTERRUPT || event->context == TXTB_INITIALIZE)
		return;
	if (event->context > TXTB_INITIALIZE)
		trace->warnings |= TXTB_HANDLE_RESERVED;
	place = find_place(index, trace, event->context);
	if (*place == 0) {
		trace->warnings |= TXTB_CONTEXT_UNNAMED;
		*place = make_up_thread(trace, event) + 1;
		event->object = *place - 1;
	} else if (trace->objects[*place - 1].type != TYPE_THREAD) {
		/* It stays the first match, so the next event makes a new thread again. */
		trace->warnings |= TXTB_CONTEXT_NO_THREAD;
		event->object = make_up_thread(trace, event);
	} else {
		event->object = *place - 1;
	}
	trace->objects[event->object].nr_events++;
}

static bool give_threads(struct txtb_trace *trace)
{
	size_t nr_most = (size_t)trace->nr_objects + trace->nr_events + 1;
	struct txtb_object *objects = realloc(trace->objects, nr_most * sizeof(*objects));
	struct index index;

	if (!objects)
		return false;
	trace->objects = objects;
	if (!make_index(trace, &index))
		return false;
	for (uint32_t i = 0; i < trace->nr_events; i++)
		give_thread(trace, &index, &trace->events[i]);
	free(index.place);
	return true;
}

static int compare_names(const void *a, const void *b)
{
	return strcmp(*(const char *const *)a, *(const char *const *)b);
}

static bool compare_all_names(struct txtb_trace *trace)
{
	const char **names = malloc((trace->nr_registered + 1) * sizeof(*names));

	if (!names)
		return false;
	for (uint32_t i = 0; i < trace->nr_registered; i++)
		names[i] = trace->objects[i].name;
	qsort(names, trace->nr_registered, sizeof(*names), compare_names);
	for (uint32_t i = 1; i < trace->nr_registered; i++)
		if (strcmp(names[i], names[i - 1]) == 0)
			trace->warnings |= TXTB_NAME_TWICE;
	free(names);
	return true;
}

enum txtb_verdict txtb_check(const void *bytes, size_t size, struct txtb_trace *trace)
{
	struct source source = {.bytes = bytes, .size = size};
	struct header header;
	enum txtb_verdict verdict;
	uint32_t oldest;

	memset(trace, 0, sizeof(*trace));
	verdict = read_id(&source, trace);
	if (verdict == TXTB_ACCEPTED)
		verdict = read_header(&source, &header);
	if (verdict != TXTB_ACCEPTED)
		return verdict;
	trace->time_mask = header.time_mask;
	trace->name_size = header.name_size;
	verdict = read_registry(&source, &header, trace);
	if (verdict == TXTB_ACCEPTED)
		verdict = read_events(&source, &header, trace);
	if (verdict != TXTB_ACCEPTED)
		return verdict;
	trace->nr_bytes = source.at;
	oldest = find_oldest(&header, trace);
	if (!rotate(trace, oldest) || !compare_all_names(trace) || !give_threads(trace))
		return TXTB_NO_MEMORY;
	vote(trace, 0, trace->nr_events - oldest);
	vote(trace, trace->nr_events - oldest, trace->nr_events);
	unwrap(trace);
	return TXTB_ACCEPTED;
}

void txtb_free(struct txtb_trace *trace)
{
	free(trace->objects);
	free(trace->events);
	memset(trace, 0, sizeof(*trace));
}

const char *txtb_verdict_name(enum txtb_verdict verdict)
{
	static const char *const names[] = {
		[TXTB_ACCEPTED] = "accepted",
		[TXTB_NO_ID] = "no id",
		[TXTB_BAD_ID] = "bad id",
		[TXTB_BAD_HEADER] = "bad header",
		[TXTB_BAD_REGISTRY] = "bad registry size",
		[TXTB_CUT_REGISTRY] = "registry cut off",
		[TXTB_BAD_BUFFER] = "bad buffer size",
		[TXTB_CUT_BUFFER] = "events cut off",
		[TXTB_NO_MEMORY] = "no memory",
	};

	return names[verdict];
}

const struct txtb_object *txtb_find(const struct txtb_trace *trace, uint32_t handle)
{
	for (uint32_t i = 0; i < trace->nr_objects; i++)
		if (trace->objects[i].handle == handle)
			return &trace->objects[i];
	return NULL;
}
