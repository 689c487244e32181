/* SPDX-License-Identifier: MIT */
/*
 * export --to ctf: make a directory with a trace in the Common Trace Format 1.8, for babeltrace2 and Trace Compass.
 *
 * Babeltrace's sink.ctf.fs writes the files.  This file has a source component for a Babeltrace graph.  The graph pulls
 * the events, so this exporter has run() and no event().  There is one stream, divided into packets of PACKET_EVENTS
 * events.  A gap becomes a packet without events.  This packet records that an unknown number of events was discarded.
 *
 * The exporter makes the directory under a temporary name beside the final name.  It renames the directory when the
 * trace is complete.
 */
#include <babeltrace2/babeltrace.h>
#include <errno.h>
#include <ftw.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/map.h"
#include "base/message.h"
#include "export/export.h"
#include "trace/calldata.h"

#define PACKET_EVENTS 65536

enum step {
	STEP_BEGIN,
	STEP_BETWEEN,
	STEP_GAP,
	STEP_GAP_OPEN,
	STEP_GAP_CLOSE,
	STEP_OPEN,
	STEP_EVENTS,
	STEP_END,
	STEP_OVER
};

enum { CONTEXT_CPU, CONTEXT_PID, CONTEXT_TID, CONTEXT_THREAD, CONTEXT_PRIORITY };

struct ctf {
	struct export *export;
	bt_trace_class *trace_class;
	bt_stream_class *stream_class;
	bt_trace *trace;
	bt_stream *stream;
	bt_packet *packet;
	struct map class_of; /* key: see key_of(); value: 1 + index in classes[] */
	bt_event_class **classes;
	size_t nr_classes;

	enum step step;
	struct event event; /* the next event, if has_event */
	bool has_event, is_at_end;
	uint64_t last_ns; /* time of the last message */
	uint64_t gap_end_ns;
	uint64_t nr_in_packet;
};

/* Exit if a function of Babeltrace returned NULL.  In this file, the cause is always a lack of memory. */
static void *must(const void *object)
{
	if (!object) {
		message("there is not enough memory");
		exit(EXIT_TROUBLE);
	}
	return (void *)object;
}

static void must_be_zero(int status)
{
	must(status == 0 ? &status : NULL);
}

/* Classes. */

static void add_member(bt_field_class *structure, const char *name, bt_field_class *member)
{
	must_be_zero(bt_field_class_structure_append_member(structure, name, must(member)));
	bt_field_class_put_ref(member);
}

static bt_field_class *unsigned_class(struct ctf *ctf, uint64_t bits, bool is_hex)
{
	bt_field_class *class = must(bt_field_class_integer_unsigned_create(ctf->trace_class));

	bt_field_class_integer_set_field_value_range(class, bits);
	if (is_hex)
		bt_field_class_integer_set_preferred_display_base(
			class, BT_FIELD_CLASS_INTEGER_PREFERRED_DISPLAY_BASE_HEXADECIMAL);
	return class;
}

static void make_context(struct ctf *ctf)
{
	bt_field_class *context = must(bt_field_class_structure_create(ctf->trace_class));
	bt_field_class *priority = must(bt_field_class_integer_signed_create(ctf->trace_class));

	bt_field_class_integer_set_field_value_range(priority, 32);
	add_member(context, "cpu_id", unsigned_class(ctf, 32, false));
	add_member(context, "vpid", unsigned_class(ctf, 32, false));
	add_member(context, "vtid", unsigned_class(ctf, 32, false));
	add_member(context, "thread", bt_field_class_string_create(ctf->trace_class));
	add_member(context, "priority", priority);
	must_be_zero(
		bt_stream_class_set_event_common_context_field_class(ctf->stream_class, context));
	bt_field_class_put_ref(context);
}

static void make_classes(struct ctf *ctf, bt_self_component *component)
{
	bt_clock_class *clock = must(bt_clock_class_create(component));
	bool is_real_time = !ctf->export->source->file.foreign;

	ctf->trace_class = must(bt_trace_class_create(component));
	ctf->stream_class = must(bt_stream_class_create(ctf->trace_class));
	bt_clock_class_set_frequency(clock, NS_PER_S);
	bt_clock_class_set_origin_is_unix_epoch(clock, is_real_time);
	must_be_zero(bt_stream_class_set_default_clock_class(ctf->stream_class, clock));
	bt_clock_class_put_ref(clock);
	bt_stream_class_set_supports_packets(ctf->stream_class, BT_TRUE, BT_TRUE, BT_TRUE);
	bt_stream_class_set_supports_discarded_events(ctf->stream_class, BT_TRUE, BT_TRUE);
	make_context(ctf);
	ctf->trace = must(bt_trace_create(ctf->trace_class));
	must_be_zero(
		bt_trace_set_environment_entry_string(ctf->trace, "tracer_name", "posixtrace"));
	must_be_zero(bt_trace_set_environment_entry_string(ctf->trace, "trace_file",
							   ctf->export->source->path));
	ctf->stream = must(bt_stream_create(ctf->stream_class, ctf->trace));
}

/* Make the name of a field.  The field has the name of the object, so "queue_ptr" becomes "queue". */
static void field_name(char *name, size_t size, const char *label)
{
	size_t length = strlen(label);

	if (label_is_object(label) && length > 4 && strcmp(label + length - 4, "_ptr") == 0)
		length -= 4;
	snprintf(name, size, "%.*s", (int)length, label);
}

/*
 * The payload has a shape: the fields of a call, ThreadX's words, or an array of bytes.  Events of one type can have
 * different shapes.  For example, a call that begins to wait has no result yet.  So each shape has its own class.
 */
enum shape_kind { SHAPE_BYTES, SHAPE_WORDS, SHAPE_CALL };

struct shape {
	enum shape_kind kind;
	unsigned int native; /* SHAPE_WORDS */
	int phase;	     /* SHAPE_CALL */
	size_t nr_fields;    /* SHAPE_CALL, without CALLDATA_WAIT */
};

static struct shape shape_of(struct ctf *ctf, const struct event *event)
{
	struct source *source = ctf->export->source;
	struct shape shape = {.kind = SHAPE_BYTES, .native = event_native(event)};
	struct call_field field;

	if (calldata_is(source, event)) {
		shape = (struct shape){.kind = SHAPE_CALL, .phase = event->call.phase};
		while (calldata_at(source, event, shape.nr_fields, &field))
			shape.nr_fields++;
	} else if (shape.native != 0 && native_title(shape.native)) {
		shape.kind = SHAPE_WORDS;
	}
	return shape;
}

static uint64_t key_of(const struct event *event, const struct shape *shape)
{
	return event->type | (uint64_t)shape->kind << 32 | (uint64_t)shape->phase << 40 |
	       (uint64_t)shape->nr_fields << 48;
}

/* Return true if a field of this kind is always a number. */
static bool is_number(char kind)
{
	return strchr("nqduhx", kind) != NULL;
}

static bt_field_class *class_of_field(struct ctf *ctf, const struct call_field *field)
{
	if (!is_number(field->kind))
		return bt_field_class_string_create(ctf->trace_class);
	if (strchr("qd", field->kind))
		return bt_field_class_integer_signed_create(ctf->trace_class);
	return unsigned_class(ctf, 64, field->kind == 'x');
}

static void add_call(struct ctf *ctf, bt_field_class *payload, const struct event *event)
{
	struct source *source = ctf->export->source;
	struct call_field field;

	for (size_t i = 0; calldata_at(source, event, i, &field); i++)
		add_member(payload, field.name, class_of_field(ctf, &field));
	if (calldata_get(source, event, CALLDATA_WAIT, &field))
		add_member(payload, field.name, class_of_field(ctf, &field));
}

static void add_words(struct ctf *ctf, bt_field_class *payload, unsigned int native)
{
	for (int i = 0; i < 4; i++) {
		const char *label = native_label(native, i);
		char name[64];

		if (!label)
			continue;
		field_name(name, sizeof(name), label);
		add_member(payload, name,
			   label_is_object(label) ? bt_field_class_string_create(ctf->trace_class) :
						    unsigned_class(ctf, 32, strstr(label, "_ptr")));
	}
}

static void add_bytes(struct ctf *ctf, bt_field_class *payload)
{
	bt_field_class *byte = unsigned_class(ctf, 8, true);

	add_member(payload, "data",
		   bt_field_class_array_dynamic_create(ctf->trace_class, byte, NULL));
	bt_field_class_put_ref(byte);
}

static bt_field_class *payload_class(struct ctf *ctf, const struct event *event,
				     const struct shape *shape)
{
	bt_field_class *payload = must(bt_field_class_structure_create(ctf->trace_class));

	if (shape->kind == SHAPE_CALL)
		add_call(ctf, payload, event);
	else if (shape->kind == SHAPE_WORDS)
		add_words(ctf, payload, shape->native);
	else
		add_bytes(ctf, payload);
	return payload;
}

static bt_event_class *make_class(struct ctf *ctf, const struct event *event,
				  const struct shape *shape)
{
	bt_event_class *class = must(bt_event_class_create(ctf->stream_class));
	bt_field_class *payload = payload_class(ctf, event, shape);
	char name[256];

	text_utf8(name, sizeof(name), event->name);
	must_be_zero(bt_event_class_set_name(class, name));
	must_be_zero(bt_event_class_set_payload_field_class(class, payload));
	bt_field_class_put_ref(payload);
	return class;
}

/* The class is created at the first event of this type and shape. */
static bt_event_class *class_of(struct ctf *ctf, const struct event *event,
				const struct shape *shape)
{
	uint64_t *known = map_get(&ctf->class_of, key_of(event, shape));

	if (*known == 0) {
		ctf->classes = must(reallocarray(ctf->classes, ctf->nr_classes + 1, sizeof(*ctf->classes)));
		ctf->classes[ctf->nr_classes] = make_class(ctf, event, shape);
		*known = ++ctf->nr_classes;
	}
	return ctf->classes[*known - 1];
}

/* Fields. */

static void set_string(bt_field *field, const char *string)
{
	char clean[256];

	text_utf8(clean, sizeof(clean), string);
	must_be_zero(bt_field_string_set_value(field, clean));
}

static bt_field *member(bt_field *structure, uint64_t i)
{
	return bt_field_structure_borrow_member_field_by_index(structure, i);
}

static void fill_context(const struct ctf *ctf, bt_event *to)
{
	bt_field *context = bt_event_borrow_common_context_field(to);
	const struct event *event = &ctf->event;
	const struct txtrace_object *object = source_object(ctf->export->source, event->context);
	pid_t tid = object ? object->tid : 0;

	bt_field_integer_unsigned_set_value(member(context, CONTEXT_CPU), event->cpu);
	bt_field_integer_unsigned_set_value(member(context, CONTEXT_PID), (uint32_t)event->pid);
	bt_field_integer_unsigned_set_value(member(context, CONTEXT_TID), (uint32_t)tid);
	set_string(member(context, CONTEXT_THREAD), event->thread);
	bt_field_integer_signed_set_value(member(context, CONTEXT_PRIORITY), event->priority);
}

static void fill_object(const struct ctf *ctf, bt_field *field, uint32_t word)
{
	const struct txtrace_object *object = source_object(ctf->export->source, word);
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

static void fill_call(const struct ctf *ctf, bt_field *payload)
{
	struct source *source = ctf->export->source;
	struct call_field field;
	uint64_t i = 0;

	for (; calldata_at(source, &ctf->event, i, &field); i++)
		fill_field(member(payload, i), &field);
	if (calldata_get(source, &ctf->event, CALLDATA_WAIT, &field))
		fill_field(member(payload, i), &field);
}

static void fill_words(const struct ctf *ctf, bt_field *payload, unsigned int native)
{
	uint64_t at = 0;

	for (int i = 0; i < 4; i++) {
		const char *label = native_label(native, i);
		uint32_t word = event_word(&ctf->event, i);

		if (!label)
			continue;
		if (label_is_object(label))
			fill_object(ctf, member(payload, at++), word);
		else
			bt_field_integer_unsigned_set_value(member(payload, at++), word);
	}
}

static void fill_bytes(const struct ctf *ctf, bt_field *payload)
{
	const struct event *event = &ctf->event;
	bt_field *data = member(payload, 0);

	must_be_zero(bt_field_array_dynamic_set_length(data, event->size));
	for (size_t i = 0; i < event->size; i++)
		bt_field_integer_unsigned_set_value(
			bt_field_array_borrow_element_field_by_index(data, i), event->data[i]);
}

static void fill_payload(const struct ctf *ctf, const struct shape *shape, bt_event *to)
{
	bt_field *payload = bt_event_borrow_payload_field(to);

	if (shape->kind == SHAPE_CALL)
		fill_call(ctf, payload);
	else if (shape->kind == SHAPE_WORDS)
		fill_words(ctf, payload, shape->native);
	else
		fill_bytes(ctf, payload);
}

/* Messages. */

/* Make sure that ctf->event has the next event.  Return false if there are no more events. */
static bool peek(struct ctf *ctf)
{
	if (!ctf->has_event && !ctf->is_at_end) {
		ctf->has_event = selection_next(ctf->export->selection, ctf->export->source,
						&ctf->event);
		ctf->is_at_end = !ctf->has_event;
	}
	return ctf->has_event;
}

/*
 * Return the time of the next message.  The times of a stream must not fall.  An OVERFLOW may have an earlier time.
 * Then use the time of the last message.
 */
static uint64_t time_of(struct ctf *ctf)
{
	uint64_t time_ns = ctf->event.time_ns > 0 ? (uint64_t)ctf->event.time_ns : 0;

	return ctf->has_event && time_ns > ctf->last_ns ? time_ns : ctf->last_ns;
}

static const bt_message *begin_packet(struct ctf *ctf, bt_self_message_iterator *iterator,
				      enum step step)
{
	ctf->packet = must(bt_packet_create(ctf->stream));
	ctf->nr_in_packet = 0;
	ctf->step = step;
	return bt_message_packet_beginning_create_with_default_clock_snapshot(iterator, ctf->packet,
									      ctf->last_ns);
}

static const bt_message *end_packet(struct ctf *ctf, bt_self_message_iterator *iterator,
				    enum step step)
{
	const bt_message *message = bt_message_packet_end_create_with_default_clock_snapshot(
		iterator, ctf->packet, ctf->last_ns);

	bt_packet_put_ref(ctf->packet);
	ctf->packet = NULL;
	ctf->step = step;
	return message;
}

/* Make the packet of a gap.  The format records losses only between the ends of two packets. */
static const bt_message *discard_events(struct ctf *ctf, bt_self_message_iterator *iterator)
{
	ctf->has_event = false; /* the packet of the gap replaces this OVERFLOW */
	peek(ctf);
	ctf->gap_end_ns = time_of(ctf);
	ctf->step = STEP_GAP_OPEN;
	return bt_message_discarded_events_create_with_default_clock_snapshots(
		iterator, ctf->stream, ctf->last_ns, ctf->gap_end_ns);
}

static bool is_at_gap(struct ctf *ctf)
{
	return peek(ctf) && ctf->event.type == POSIX_TRACE_OVERFLOW;
}

static const bt_message *put_event(struct ctf *ctf, bt_self_message_iterator *iterator)
{
	struct shape shape = shape_of(ctf, &ctf->event);
	bt_message *message;
	bt_event *event;

	ctf->last_ns = time_of(ctf);
	message = must(bt_message_event_create_with_packet_and_default_clock_snapshot(
		iterator, class_of(ctf, &ctf->event, &shape), ctf->packet, ctf->last_ns));
	event = bt_message_event_borrow_event(message);
	fill_context(ctf, event);
	fill_payload(ctf, &shape, event);
	ctf->has_event = false;
	ctf->nr_in_packet++;
	return message;
}

/* Return the next message, or NULL if this step has none. */
static const bt_message *next_message(struct ctf *ctf, bt_self_message_iterator *iterator)
{
	switch (ctf->step) {
	case STEP_BEGIN:
		ctf->step = STEP_BETWEEN;
		return must(bt_message_stream_beginning_create(iterator, ctf->stream));
	case STEP_BETWEEN:
		ctf->step = peek(ctf) ? STEP_OPEN : STEP_END;
		return NULL;
	case STEP_GAP:
		return must(discard_events(ctf, iterator));
	case STEP_GAP_OPEN:
		return must(begin_packet(ctf, iterator, STEP_GAP_CLOSE));
	case STEP_GAP_CLOSE:
		ctf->last_ns = ctf->gap_end_ns;
		return must(end_packet(ctf, iterator, STEP_BETWEEN));
	case STEP_OPEN:
		ctf->last_ns = time_of(ctf);
		return must(begin_packet(ctf, iterator, STEP_EVENTS));
	case STEP_EVENTS:
		while (peek(ctf) && ctf->event.type == POSIX_TRACE_RESUME)
			ctf->has_event = false; /* skip RESUME: the packet already shows the end of the gap */
		if (is_at_gap(ctf))
			return must(end_packet(ctf, iterator, STEP_GAP));
		if (!ctf->has_event || ctf->nr_in_packet == PACKET_EVENTS)
			return must(end_packet(ctf, iterator, STEP_BETWEEN));
		return put_event(ctf, iterator);
	case STEP_END:
		ctf->step = STEP_OVER;
		return must(bt_message_stream_end_create(iterator, ctf->stream));
	case STEP_OVER:
		break;
	}
	return NULL;
}

static bt_message_iterator_class_next_method_status next(bt_self_message_iterator *iterator,
							 bt_message_array_const messages,
							 uint64_t capacity, uint64_t *count)
{
	struct ctf *ctf =
		bt_self_component_get_data(bt_self_message_iterator_borrow_component(iterator));

	*count = 0;
	while (*count < capacity && ctf->step != STEP_OVER) {
		const bt_message *message = next_message(ctf, iterator);

		if (message)
			messages[(*count)++] = message;
	}
	return *count > 0 ? BT_MESSAGE_ITERATOR_CLASS_NEXT_METHOD_STATUS_OK :
			    BT_MESSAGE_ITERATOR_CLASS_NEXT_METHOD_STATUS_END;
}

/* The graph. */

static bt_component_class_initialize_method_status
initialize(bt_self_component_source *source, bt_self_component_source_configuration *configuration,
	   const bt_value *parameters, void *data)
{
	bt_self_component *component = bt_self_component_source_as_self_component(source);

	(void)configuration;
	(void)parameters;
	make_classes(data, component);
	bt_self_component_set_data(component, data);
	must_be_zero(bt_self_component_source_add_output_port(source, "out", NULL, NULL));
	return BT_COMPONENT_CLASS_INITIALIZE_METHOD_STATUS_OK;
}

/* Print the message of Babeltrace for the last failure. */
static void print_babeltrace_error(const char *path)
{
	const bt_error *error = bt_current_thread_take_error();

	if (!error) {
		message("%s: Babeltrace fails", path);
		return;
	}
	message("%s: Babeltrace fails: %s", path,
		bt_error_cause_get_message(bt_error_borrow_cause_by_index(error, 0)));
	bt_error_release(error);
}

static const bt_component_source *add_source(struct ctf *ctf, bt_graph *graph)
{
	bt_message_iterator_class *iterators = must(bt_message_iterator_class_create(next));
	bt_component_class_source *class =
		must(bt_component_class_source_create("events", iterators));
	const bt_component_source *source = NULL;

	must_be_zero(bt_component_class_source_set_initialize_method(class, initialize));
	must_be_zero(bt_graph_add_source_component_with_initialize_method_data(
		graph, class, "events", NULL, ctf, BT_LOGGING_LEVEL_NONE, &source));
	bt_component_class_source_put_ref(class);
	bt_message_iterator_class_put_ref(iterators);
	return source;
}

/* Return NULL if the plugin is missing or refuses the sink. */
static const bt_component_sink *add_sink(bt_graph *graph, const char *path)
{
	const bt_component_class_sink *class = NULL;
	const bt_component_sink *sink = NULL;
	const bt_plugin *plugin = NULL;
	bt_value *parameters = must(bt_value_map_create());

	must_be_zero(bt_value_map_insert_string_entry(parameters, "path", path));
	must_be_zero(bt_value_map_insert_bool_entry(parameters, "assume-single-trace", BT_TRUE));
	must_be_zero(bt_value_map_insert_bool_entry(parameters, "quiet", BT_TRUE));
	if (bt_plugin_find("ctf", BT_TRUE, BT_TRUE, BT_TRUE, BT_TRUE, BT_FALSE, &plugin) == 0)
		class = bt_plugin_borrow_sink_component_class_by_name_const(plugin, "fs");
	if (class && bt_graph_add_sink_component(graph, class, "ctf", parameters,
						 BT_LOGGING_LEVEL_NONE, &sink) != 0)
		sink = NULL;
	bt_value_put_ref(parameters);
	bt_plugin_put_ref(plugin);
	return sink;
}

static bool run_graph(struct ctf *ctf, const char *path)
{
	bt_graph *graph = must(bt_graph_create(0));
	const bt_component_source *source = add_source(ctf, graph);
	const bt_component_sink *sink = add_sink(graph, path);
	bool is_fine =
		sink &&
		bt_graph_connect_ports(
			graph, bt_component_source_borrow_output_port_by_index_const(source, 0),
			bt_component_sink_borrow_input_port_by_index_const(sink, 0), NULL) == 0 &&
		bt_graph_run(graph) == BT_GRAPH_RUN_STATUS_OK;

	if (!is_fine) {
		print_babeltrace_error(ctf->export->output);
		return false; /* do not free the graph, because Babeltrace would free a failed sink twice */
	}
	bt_graph_put_ref(graph); /* free the graph first, because its sink uses the trace */
	for (size_t i = 0; i < ctf->nr_classes; i++)
		bt_event_class_put_ref(ctf->classes[i]);
	bt_packet_put_ref(ctf->packet);
	bt_stream_put_ref(ctf->stream);
	bt_trace_put_ref(ctf->trace);
	bt_stream_class_put_ref(ctf->stream_class);
	bt_trace_class_put_ref(ctf->trace_class);
	return is_fine;
}

/* The directory. */

static int remove_one(const char *path, const struct stat *status, int type, struct FTW *walk)
{
	(void)status;
	(void)type;
	(void)walk;
	return remove(path);
}

/* rename() of a directory replaces only an empty directory. */
static bool give_name(const struct export *export, const char *from)
{
	if (rename(from, export->output) == 0)
		return true;
	message_error(errno, "%s", export->output);
	return false;
}

/* rmdir() of a directory with files fails, and rename() replaces an empty directory. */
static bool is_in_the_way(const struct export *export)
{
	struct stat status;
	bool is_directory;

	if (lstat(export->output, &status) != 0)
		return false;
	is_directory = S_ISDIR(status.st_mode);
	if (is_directory && export->overwrites && rmdir(export->output) == 0)
		return false;
	if (!is_directory)
		message("%s exists and is not a directory; remove it first", export->output);
	else if (export->overwrites)
		message("%s exists and is not empty; remove it first", export->output);
	else
		message("%s exists; --force overwrites it if it is empty, or else remove it first",
			export->output);
	return true;
}

static bool run(struct export *export)
{
	struct ctf ctf = {.export = export};
	char *part = NULL, *path = NULL;
	bool is_fine = false;

	if (is_in_the_way(export))
		return false;
	must_be_zero(asprintf(&part, "%s.XXXXXX", export->output) < 0);
	if (!mkdtemp(part)) {
		message_error(errno, "%s", export->output);
		free(part);
		return false;
	}
	must_be_zero(asprintf(&path, "%s/trace", part) < 0);
	is_fine = run_graph(&ctf, path) && give_name(export, path);
	nftw(part, remove_one, 16, FTW_DEPTH | FTW_PHYS);
	map_free(&ctf.class_of);
	free(ctf.classes);
	free(path);
	free(part);
	return is_fine;
}

const struct exporter exporter_ctf = {
	.name = "ctf",
	.suffix = ".ctf",
	.summary = "a directory for babeltrace2 and Trace Compass",
	.makes_output = true,
	.run = run,
};
