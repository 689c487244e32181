/* SPDX-License-Identifier: MIT */
/*
 * export --to ctf: make a directory with a trace in the Common Trace Format 1.8, for babeltrace2 and Trace Compass.
 *
 * Babeltrace's sink.ctf.fs writes the files.  This file has a source component for a Babeltrace graph.  The graph pulls
 * the events, so this exporter has run() and no event().  ctf_events.c makes the events.  There is one stream, divided
 * into packets of PACKET_EVENTS events.  A gap becomes a packet without events.  This packet records that events
 * were discarded.  A log knows only how many it lost in all, so only the packet of the only gap has the number.
 *
 * The events of spans are in the same stream, each directly before the event that begins the span.
 */
#include <babeltrace2/babeltrace.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/memory.h"
#include "base/message.h"
#include "cli/options.h"
#include "export/ctf_events.h"
#include "export/directory.h"
#include "export/export.h"
#include "export/span_list.h"

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

struct ctf {
	struct export *export;
	struct ctf_events events;
	bt_packet *packet;

	enum step step;
	struct event event; /* the next event, if has_event */
	bool has_event, is_at_end;
	uint64_t last_ns; /* time of the last message */
	uint64_t gap_end_ns;
	uint64_t nr_in_packet;
	uint64_t nr_in_gap; /* number of events that were lost in the only gap; 0: not known */
	struct span_list spans;
	size_t next_span;
	bool ends_in_gap;   /* the stream was full when the recording ended, and has no OVERFLOW for that */
};

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
	ctf->packet = must(bt_packet_create(ctf->events.stream));
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
	bt_message *message;

	ctf->has_event = false; /* the packet of the gap replaces this OVERFLOW */
	peek(ctf);
	ctf->gap_end_ns = time_of(ctf);
	ctf->step = STEP_GAP_OPEN;
	message = must(bt_message_discarded_events_create_with_default_clock_snapshots(
		iterator, ctf->events.stream, ctf->last_ns, ctf->gap_end_ns));
	if (ctf->nr_in_gap > 0)
		bt_message_discarded_events_set_count(message, ctf->nr_in_gap);
	return message;
}

static bool is_at_gap(struct ctf *ctf)
{
	return peek(ctf) && ctf->event.type == POSIX_TRACE_OVERFLOW;
}

static const bt_message *put_event(struct ctf *ctf, bt_self_message_iterator *iterator)
{
	struct ctf_shape shape = ctf_events_shape(&ctf->events, &ctf->event);
	bt_message *message;
	bt_event *event;

	ctf->last_ns = time_of(ctf);
	message = must(bt_message_event_create_with_packet_and_default_clock_snapshot(
		iterator, ctf_events_class(&ctf->events, &ctf->event, &shape), ctf->packet, ctf->last_ns));
	event = bt_message_event_borrow_event(message);
	ctf_events_fill(&ctf->events, &ctf->event, &shape, event);
	ctf->has_event = false;
	ctf->nr_in_packet++;
	return message;
}

/* Return true if a span begins with the next event, or before. */
static bool is_at_span(struct ctf *ctf)
{
	return ctf->next_span < ctf->spans.nr && peek(ctf) &&
	       ctf->spans.time[ctf->next_span].number <= ctf->event.number;
}

static const bt_message *put_span(struct ctf *ctf, bt_self_message_iterator *iterator)
{
	const struct span_time *time = &ctf->spans.time[ctf->next_span++];
	struct event begins = ctf->event;
	const struct txtrace_object *object = source_object(ctf->export->source, time->context);
	bt_message *message;

	if (time->number != ctf->event.number) { /* a packet without events replaces the event that begins the span */
		begins = (struct event){.context = time->context, .pid = object ? object->pid : 0, .priority = -1,
					.thread = source_context_name(ctf->export->source, time->context)};
	}
	ctf->last_ns = time_of(ctf);
	message = must(bt_message_event_create_with_packet_and_default_clock_snapshot(
		iterator, ctf_events_span_class(&ctf->events), ctf->packet, ctf->last_ns));
	ctf_events_fill_span(&ctf->events, &begins, ctf->spans.spans.span[time->span].name, time,
			     bt_message_event_borrow_event(message));
	return message;
}

/* Return the next message, or NULL if this step has none. */
static const bt_message *next_message(struct ctf *ctf, bt_self_message_iterator *iterator)
{
	switch (ctf->step) {
	case STEP_BEGIN:
		ctf->step = STEP_BETWEEN;
		return must(bt_message_stream_beginning_create(iterator, ctf->events.stream));
	case STEP_BETWEEN:
		ctf->step = peek(ctf) ? STEP_OPEN : ctf->ends_in_gap ? STEP_GAP : STEP_END;
		ctf->ends_in_gap &= ctf->step != STEP_GAP;
		return NULL;
	case STEP_GAP:
		return discard_events(ctf, iterator);
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
		return is_at_span(ctf) ? put_span(ctf, iterator) : put_event(ctf, iterator);
	case STEP_END:
		ctf->step = STEP_OVER;
		return must(bt_message_stream_end_create(iterator, ctf->events.stream));
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
	struct ctf *ctf = data;

	(void)configuration;
	(void)parameters;
	ctf_events_begin(&ctf->events, ctf->export->source, component);
	bt_self_component_set_data(component, data);
	ctf_must_be_zero(bt_self_component_source_add_output_port(source, "out", NULL, NULL));
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

	ctf_must_be_zero(bt_component_class_source_set_initialize_method(class, initialize));
	ctf_must_be_zero(bt_graph_add_source_component_with_initialize_method_data(
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

	ctf_must_be_zero(bt_value_map_insert_string_entry(parameters, "path", path));
	ctf_must_be_zero(bt_value_map_insert_bool_entry(parameters, "assume-single-trace", BT_TRUE));
	ctf_must_be_zero(bt_value_map_insert_bool_entry(parameters, "quiet", BT_TRUE));
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
	bt_packet_put_ref(ctf->packet);
	ctf_events_put_refs(&ctf->events);
	return is_fine;
}

/* Find out how many events the gaps of the file have, if that is known. */
static void count_lost(struct ctf *ctf)
{
	const struct source *read = ctf->export->source;
	unsigned long long nr_lost = read->loss.overwritten + read->loss.dropped, nr_gaps = 0;
	struct source *source = nr_lost > 0 ? source_open(read->path, 0) : NULL;
	struct event event;

	if (!source)
		return;
	while (source_next(source, &event))
		nr_gaps += event.type == POSIX_TRACE_OVERFLOW;
	source_close(source);
	ctf->ends_in_gap = nr_gaps == 0 && read->loss.dropped > 0;
	if (nr_gaps < 2)
		ctf->nr_in_gap = nr_lost;
	else
		message("%s: %llu events were lost in %llu gaps, and the log does not say how many in each; Babeltrace "
			"shows each gap as 1 event",
			read->path, nr_lost, nr_gaps);
}

static bool run(struct export *export)
{
	struct ctf ctf = {.export = export};
	struct directory directory;
	bool is_fine;

	if (!directory_begin(&directory, export))
		return false;
	count_lost(&ctf);
	span_list_read(&ctf.spans, export->source, export->selection, export->spans, false);
	source_rewind(export->source);
	is_fine = directory_end(&directory, export, run_graph(&ctf, directory.path));
	ctf_events_free(&ctf.events);
	span_list_free(&ctf.spans);
	return is_fine;
}

static const int options[] = {OPTION_SPAN, 0};

const struct exporter exporter_ctf = {
	.name = "ctf",
	.suffix = ".ctf",
	.summary = "a directory for babeltrace2 and Trace Compass",
	.options = options,
	.makes_output = true,
	.run = run,
};
