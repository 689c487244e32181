/* SPDX-License-Identifier: MIT */
#include "export/ctf_events.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "base/output.h"
#include "export/ctf_fields.h"
#include "trace/calldata.h"
#include "trace/data_text.h"
#include "trace/native.h"
#include "trace/origins.h"
#include "trace/payload.h"
#include "trace/sched.h"

#define MORE "txtrace_more" /* bytes after the fields of a type */

enum { CONTEXT_CPU, CONTEXT_PID, CONTEXT_TID, CONTEXT_THREAD, CONTEXT_PRIORITY, CONTEXT_HOST };

void ctf_must_be_zero(int status)
{
	must(status == 0 ? &status : NULL);
}

static void add_member(bt_field_class *structure, const char *name, bt_field_class *member)
{
	ctf_must_be_zero(bt_field_class_structure_append_member(structure, name, must(member)));
	bt_field_class_put_ref(member);
}

static bt_field_class *unsigned_class(struct ctf_events *events, uint64_t bits, bool is_hex)
{
	bt_field_class *class = must(bt_field_class_integer_unsigned_create(events->trace_class));

	bt_field_class_integer_set_field_value_range(class, bits);
	if (is_hex)
		bt_field_class_integer_set_preferred_display_base(
			class, BT_FIELD_CLASS_INTEGER_PREFERRED_DISPLAY_BASE_HEXADECIMAL);
	return class;
}

static void make_context(struct ctf_events *events)
{
	bt_field_class *context = must(bt_field_class_structure_create(events->trace_class));
	bt_field_class *priority = must(bt_field_class_integer_signed_create(events->trace_class));

	bt_field_class_integer_set_field_value_range(priority, 32);
	add_member(context, "cpu_id", unsigned_class(events, 32, false));
	add_member(context, "vpid", unsigned_class(events, 32, false));
	add_member(context, "vtid", unsigned_class(events, 32, false));
	add_member(context, "thread", bt_field_class_string_create(events->trace_class));
	add_member(context, "priority", priority);
	if (events->has_hosts)
		add_member(context, "host", bt_field_class_string_create(events->trace_class));
	ctf_must_be_zero(
		bt_stream_class_set_event_common_context_field_class(events->stream_class, context));
	bt_field_class_put_ref(context);
}

void ctf_events_begin(struct ctf_events *events, struct source *source, bt_self_component *component)
{
	bt_clock_class *clock = must(bt_clock_class_create(component));
	bool is_real_time = !source->file.foreign;

	events->source = source;
	events->has_hosts = source_nr_hosts(source) > 1;
	events->trace_class = must(bt_trace_class_create(component));
	events->stream_class = must(bt_stream_class_create(events->trace_class));
	bt_clock_class_set_frequency(clock, NS_PER_S);
	bt_clock_class_set_origin_is_unix_epoch(clock, is_real_time);
	ctf_must_be_zero(bt_stream_class_set_default_clock_class(events->stream_class, clock));
	bt_clock_class_put_ref(clock);
	bt_stream_class_set_supports_packets(events->stream_class, BT_TRUE, BT_TRUE, BT_TRUE);
	bt_stream_class_set_supports_discarded_events(events->stream_class, BT_TRUE, BT_TRUE);
	make_context(events);
	events->trace = must(bt_trace_create(events->trace_class));
	ctf_must_be_zero(
		bt_trace_set_environment_entry_string(events->trace, "tracer_name", "posixtrace"));
	ctf_must_be_zero(bt_trace_set_environment_entry_string(events->trace, "trace_file",
							   source->path));
	if (!source->file.foreign)
		ctf_must_be_zero(bt_trace_set_environment_entry_integer(
			events->trace, "events_lost",
			(int64_t)source_nr_lost(source)));
	events->stream = must(bt_stream_create(events->stream_class, events->trace));
}

/* Make the name of a field.  The field has the name of the object, so "queue_ptr" becomes "queue". */
static void field_name(char *name, size_t size, const char *label)
{
	size_t length = strlen(label);

	if (label_is_object(label) && length > 4 && strcmp(label + length - 4, "_ptr") == 0)
		length -= 4;
	snprintf(name, size, "%.*s", (int)length, label);
}

/* Return how many filters the data of the event are. */
static int count_filters(struct source *source, const struct event *event, char text[static DATA_FILTERS_BYTES])
{
	if (!data_filters(text, DATA_FILTERS_BYTES, source, event))
		return 0;
	return event->type == POSIX_TRACE_START ? 1 : 2;
}

struct ctf_shape ctf_events_shape(struct ctf_events *events, const struct event *event)
{
	struct source *source = events->source;
	struct ctf_shape shape = {.kind = SHAPE_BYTES, .native = event_native(event)};
	const struct sched_record record = sched_read(event);
	char filters[DATA_FILTERS_BYTES];
	struct call_field field;

	if (record.kind != SCHED_NONE && record.kind != SCHED_START) {
		shape.kind = SHAPE_SCHED;
		shape.phase = (int)record.kind;
	} else if (calldata_is(source, event)) {
		shape = (struct ctf_shape){.kind = SHAPE_CALL, .phase = event->call.phase};
		while (calldata_at(source, event, shape.nr_fields, &field))
			shape.nr_fields++;
	} else if (shape.native != 0 && native_title(shape.native)) {
		shape.kind = SHAPE_WORDS;
	} else if (payload_is(source, event)) {
		size_t bytes = ctf_fields_size(payload_fields(source, event->type), event->size);

		/* CTF has no fields without a value, so data that are too short stay bytes. */
		if (bytes <= event->size)
			shape = (struct ctf_shape){.kind = SHAPE_FIELDS, .nr_fields = bytes < event->size};
	} else if ((shape.phase = count_filters(source, event, filters)) > 0) {
		shape.kind = SHAPE_FILTERS;
	}
	return shape;
}

/* The fields of words are those of the native event, and a damaged log may have several of them for one type. */
static uint64_t key_of(const struct event *event, const struct ctf_shape *shape)
{
	const uint64_t key = event->type | (uint64_t)shape->kind << 32;

	if (shape->kind == SHAPE_WORDS)
		return key | (uint64_t)shape->native << 40;
	return key | (uint64_t)shape->phase << 40 | (uint64_t)shape->nr_fields << 48;
}

/* Return true if a field of this kind is always a number. */
static bool is_number(char kind)
{
	return strchr("nqduhx", kind) != NULL;
}

static bt_field_class *class_of_field(struct ctf_events *events, const struct call_field *field)
{
	if (!is_number(field->kind))
		return bt_field_class_string_create(events->trace_class);
	if (strchr("qd", field->kind))
		return bt_field_class_integer_signed_create(events->trace_class);
	return unsigned_class(events, 64, field->kind == 'x');
}

static void add_call(struct ctf_events *events, bt_field_class *payload, const struct event *event)
{
	struct source *source = events->source;
	struct call_field field;

	for (size_t i = 0; calldata_at(source, event, i, &field); i++)
		add_member(payload, field.name, class_of_field(events, &field));
	if (calldata_get(source, event, CALLDATA_WAIT, &field))
		add_member(payload, field.name, class_of_field(events, &field));
}

static void add_words(struct ctf_events *events, bt_field_class *payload, unsigned int native)
{
	for (int i = 0; i < 4; i++) {
		const char *label = native_label(native, i);
		char name[64];

		if (!label)
			continue;
		field_name(name, sizeof(name), label);
		add_member(payload, name,
			   label_is_object(label) ? bt_field_class_string_create(events->trace_class) :
						    unsigned_class(events, 32, strstr(label, "_ptr")));
	}
}

static void add_bytes(struct ctf_events *events, bt_field_class *payload, const char *name)
{
	bt_field_class *byte = unsigned_class(events, 8, true);

	add_member(payload, name,
		   bt_field_class_array_dynamic_create(events->trace_class, byte, NULL));
	bt_field_class_put_ref(byte);
}

static void add_fields(struct ctf_events *events, bt_field_class *payload, const struct event *event,
		       const struct ctf_shape *shape)
{
	ctf_fields_add(events->trace_class, payload, payload_fields(events->source, event->type));
	if (shape->nr_fields > 0)
		add_bytes(events, payload, MORE);
}

/* Add the members in the order in which fill_sched() fills them. */
static void add_sched(struct ctf_events *events, bt_field_class *payload, enum sched_kind kind)
{
	switch (kind) {
	case SCHED_STOP:
		add_member(payload, "reason", bt_field_class_string_create(events->trace_class));
		return;
	case SCHED_GAP_BEGINS:
	case SCHED_GAP_ENDS:
		add_member(payload, "phase", bt_field_class_string_create(events->trace_class));
		add_member(payload, "cpu", unsigned_class(events, 32, false));
		add_member(payload, "lost", unsigned_class(events, 64, false));
		return;
	default:
		add_member(payload, "tid", unsigned_class(events, 32, false));
		add_member(payload, "pid", unsigned_class(events, 32, false));
		add_member(payload, "cpu", unsigned_class(events, 32, false));
		add_member(payload, "state", bt_field_class_string_create(events->trace_class));
		if (kind == SCHED_THREAD)
			add_member(payload, "name", bt_field_class_string_create(events->trace_class));
	}
}

static bt_field_class *payload_class(struct ctf_events *events, const struct event *event,
				     const struct ctf_shape *shape)
{
	bt_field_class *payload = must(bt_field_class_structure_create(events->trace_class));

	if (shape->kind == SHAPE_CALL)
		add_call(events, payload, event);
	else if (shape->kind == SHAPE_SCHED)
		add_sched(events, payload, (enum sched_kind)shape->phase);
	else if (shape->kind == SHAPE_WORDS)
		add_words(events, payload, shape->native);
	else if (shape->kind == SHAPE_FIELDS)
		add_fields(events, payload, event, shape);
	else if (shape->kind == SHAPE_FILTERS)
		add_member(payload, shape->phase == 1 ? "filter" : "filters",
			   bt_field_class_string_create(events->trace_class));
	else
		add_bytes(events, payload, "data");
	return payload;
}

static bt_event_class *make_class(struct ctf_events *events, const struct event *event,
				  const struct ctf_shape *shape)
{
	bt_event_class *class = must(bt_event_class_create(events->stream_class));
	bt_field_class *payload = payload_class(events, event, shape);
	char name[256];

	text_utf8(name, sizeof(name), event->name);
	ctf_must_be_zero(bt_event_class_set_name(class, name));
	ctf_must_be_zero(bt_event_class_set_payload_field_class(class, payload));
	bt_field_class_put_ref(payload);
	return class;
}

bt_event_class *ctf_events_class(struct ctf_events *events, const struct event *event,
				 const struct ctf_shape *shape)
{
	uint64_t *known = map_get(&events->class_of, key_of(event, shape));

	if (*known == 0) {
		events->classes = must(reallocarray(events->classes, events->nr_classes + 1, sizeof(*events->classes)));
		events->classes[events->nr_classes] = make_class(events, event, shape);
		*known = ++events->nr_classes;
	}
	return events->classes[*known - 1];
}

/* Fields. */

static void set_string(bt_field *field, const char *string)
{
	char clean[DATA_FILTERS_BYTES];

	text_utf8(clean, sizeof(clean), string);
	ctf_must_be_zero(bt_field_string_set_value(field, clean));
}

static bt_field *member(bt_field *structure, uint64_t i)
{
	return bt_field_structure_borrow_member_field_by_index(structure, i);
}

static void fill_context(const struct ctf_events *events, const struct event *event, bt_event *to)
{
	bt_field *context = bt_event_borrow_common_context_field(to);
	const struct txtrace_object *object = source_object(events->source, event->context);
	pid_t tid = object ? object->tid : 0;

	bt_field_integer_unsigned_set_value(member(context, CONTEXT_CPU), event->cpu);
	bt_field_integer_unsigned_set_value(member(context, CONTEXT_PID), (uint32_t)event->pid);
	bt_field_integer_unsigned_set_value(member(context, CONTEXT_TID), (uint32_t)tid);
	set_string(member(context, CONTEXT_THREAD), event->thread);
	bt_field_integer_signed_set_value(member(context, CONTEXT_PRIORITY), event->priority);
	if (events->has_hosts)
		set_string(member(context, CONTEXT_HOST), source_host(events->source, event->pid));
}

static void fill_object(const struct ctf_events *events, bt_field *field, uint32_t word)
{
	const struct txtrace_object *object = source_object(events->source, word);
	char address[16];

	snprintf(address, sizeof(address), "0x%x", word);
	set_string(field, object ? object->name : address);
}

static void fill_field(bt_field *to, const struct call_field *field)
{
	if (!is_number(field->kind))
		set_string(to, field->object ? field->object : field->text);
	else if (strchr("qd", field->kind))
		bt_field_integer_signed_set_value(to, field->value);
	else
		bt_field_integer_unsigned_set_value(to, (uint64_t)field->value);
}

static void fill_call(const struct ctf_events *events, const struct event *event, bt_field *payload)
{
	struct source *source = events->source;
	struct call_field field;
	uint64_t i = 0;

	for (; calldata_at(source, event, i, &field); i++)
		fill_field(member(payload, i), &field);
	if (calldata_get(source, event, CALLDATA_WAIT, &field))
		fill_field(member(payload, i), &field);
}

static void fill_words(const struct ctf_events *events, const struct event *event, bt_field *payload,
		       unsigned int native)
{
	uint64_t at = 0;

	for (int i = 0; i < 4; i++) {
		const char *label = native_label(native, i);
		uint32_t word = event_word(event, i);

		if (!label)
			continue;
		if (label_is_object(label))
			fill_object(events, member(payload, at++), word);
		else
			bt_field_integer_unsigned_set_value(member(payload, at++), word);
	}
}

static void fill_sched(const struct event *event, bt_field *payload)
{
	const struct sched_record record = sched_read(event);

	switch (record.kind) {
	case SCHED_STOP:
		set_string(member(payload, 0), sched_end_name(record.end));
		return;
	case SCHED_GAP_BEGINS:
	case SCHED_GAP_ENDS:
		set_string(member(payload, 0), record.kind == SCHED_GAP_BEGINS ? "begins" : "ends");
		bt_field_integer_unsigned_set_value(member(payload, 1), record.cpu);
		bt_field_integer_unsigned_set_value(member(payload, 2), record.nr_lost);
		return;
	default:
		bt_field_integer_unsigned_set_value(member(payload, 0), (uint32_t)record.thread.tid);
		bt_field_integer_unsigned_set_value(member(payload, 1), (uint32_t)record.thread.pid);
		bt_field_integer_unsigned_set_value(member(payload, 2), record.cpu);
		set_string(member(payload, 3), sched_state_name(record.thread.state));
		if (record.kind == SCHED_THREAD)
			set_string(member(payload, 4), record.thread.name);
	}
}

static void fill_bytes(const unsigned char *bytes, size_t size, bt_field *to)
{
	ctf_must_be_zero(bt_field_array_dynamic_set_length(to, size));
	for (size_t i = 0; i < size; i++)
		bt_field_integer_unsigned_set_value(bt_field_array_borrow_element_field_by_index(to, i), bytes[i]);
}

static void fill_fields(const struct ctf_events *events, const struct event *event, const struct ctf_shape *shape,
			bt_field *payload)
{
	const struct ctf_data data = {payload_fields(events->source, event->type),
				      payload_bytes(events->source, event), event->size};
	size_t bytes = ctf_fields_size(data.fields, data.size);

	ctf_fields_fill(payload, &data);
	if (shape->nr_fields > 0)
		fill_bytes(data.bytes + bytes, data.size - bytes,
			   bt_field_structure_borrow_member_field_by_name(payload, MORE));
}

/* One text, which has the label of each filter if there are two. */
static void fill_filters(const struct ctf_events *events, const struct event *event, bt_field *payload)
{
	char filters[DATA_FILTERS_BYTES];
	int nr = count_filters(events->source, event, filters);

	set_string(member(payload, 0), nr == 1 ? strchr(filters, '=') + 1 : filters);
}

void ctf_events_fill(const struct ctf_events *events, const struct event *event, const struct ctf_shape *shape,
		     bt_event *to)
{
	bt_field *payload = bt_event_borrow_payload_field(to);

	fill_context(events, event, to);
	if (shape->kind == SHAPE_CALL)
		fill_call(events, event, payload);
	else if (shape->kind == SHAPE_SCHED)
		fill_sched(event, payload);
	else if (shape->kind == SHAPE_WORDS)
		fill_words(events, event, payload, shape->native);
	else if (shape->kind == SHAPE_FIELDS)
		fill_fields(events, event, shape, payload);
	else if (shape->kind == SHAPE_FILTERS)
		fill_filters(events, event, payload);
	else
		fill_bytes(event->data, event->size, member(payload, 0));
}

/* Spans. */

enum { SPAN_NAME, SPAN_DURATION, SPAN_NUMBER, SPAN_ENDING };

bt_event_class *ctf_events_span_class(struct ctf_events *events)
{
	bt_field_class *payload;

	if (events->span_class)
		return events->span_class;
	payload = must(bt_field_class_structure_create(events->trace_class));
	add_member(payload, "span", bt_field_class_string_create(events->trace_class));
	add_member(payload, "duration_ns", unsigned_class(events, 64, false));
	add_member(payload, "number", unsigned_class(events, 64, false));
	add_member(payload, "ending", bt_field_class_string_create(events->trace_class));
	events->span_class = must(bt_event_class_create(events->stream_class));
	ctf_must_be_zero(bt_event_class_set_name(events->span_class, "txtrace_span"));
	ctf_must_be_zero(bt_event_class_set_payload_field_class(events->span_class, payload));
	bt_field_class_put_ref(payload);
	return events->span_class;
}

void ctf_events_fill_span(const struct ctf_events *events, const struct event *begins, const char *name,
			  const struct span_time *time, bt_event *to)
{
	bt_field *payload = bt_event_borrow_payload_field(to);
	int64_t length_ns = time->end_ns > time->begin_ns ? time->end_ns - time->begin_ns : 0;

	fill_context(events, begins, to);
	set_string(member(payload, SPAN_NAME), name);
	bt_field_integer_unsigned_set_value(member(payload, SPAN_DURATION), (uint64_t)length_ns);
	bt_field_integer_unsigned_set_value(member(payload, SPAN_NUMBER), time->number);
	set_string(member(payload, SPAN_ENDING), time->ending == SPAN_OPEN ? "open" : "ended");
}

void ctf_events_put_refs(struct ctf_events *events)
{
	bt_event_class_put_ref(events->span_class);
	for (size_t i = 0; i < events->nr_classes; i++)
		bt_event_class_put_ref(events->classes[i]);
	bt_stream_put_ref(events->stream);
	bt_trace_put_ref(events->trace);
	bt_stream_class_put_ref(events->stream_class);
	bt_trace_class_put_ref(events->trace_class);
}

void ctf_events_free(struct ctf_events *events)
{
	map_free(&events->class_of);
	free(events->classes);
}
