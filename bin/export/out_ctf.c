/* SPDX-License-Identifier: MIT */
/*
 * export --to ctf: make a directory with a trace in the Common Trace Format 1.8, for babeltrace2 and Trace Compass.
 *
 * Babeltrace's sink.ctf.fs writes the files.  This file has a source component for a Babeltrace graph.  The graph pulls
 * the events, so this exporter has run() and no event().  ctf_messages.c makes the messages.
 */
#include <babeltrace2/babeltrace.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/memory.h"
#include "base/message.h"
#include "cli/options.h"
#include "export/ctf_messages.h"
#include "export/directory.h"
#include "export/export.h"

struct ctf {
	struct export *export;
	struct ctf_messages messages;
};

/* The graph. */

static bt_message_iterator_class_next_method_status next(bt_self_message_iterator *iterator,
							 bt_message_array_const messages,
							 uint64_t capacity, uint64_t *count)
{
	struct ctf *ctf =
		bt_self_component_get_data(bt_self_message_iterator_borrow_component(iterator));

	return ctf_messages_next(&ctf->messages, iterator, messages, capacity, count);
}

static bt_component_class_initialize_method_status
initialize(bt_self_component_source *source, bt_self_component_source_configuration *configuration,
	   const bt_value *parameters, void *data)
{
	bt_self_component *component = bt_self_component_source_as_self_component(source);
	struct ctf *ctf = data;

	(void)configuration;
	(void)parameters;
	ctf_events_begin(&ctf->messages.events, ctf->export->source, component);
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
	ctf_messages_put_refs(&ctf->messages);
	return is_fine;
}

static bool run(struct export *export)
{
	struct ctf ctf = {.export = export};
	struct directory directory;
	bool is_fine;

	if (!directory_begin(&directory, export))
		return false;
	ctf_messages_prepare(&ctf.messages, export->source, export->selection, export->spans);
	is_fine = directory_end(&directory, export, run_graph(&ctf, directory.path));
	ctf_messages_free(&ctf.messages);
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
