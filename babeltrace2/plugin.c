/* SPDX-License-Identifier: MIT */
/*
 * The plugin "txtrace" of Babeltrace 2, with the component class source.txtrace.file: babeltrace2 app.trx.
 *
 * Parameters:
 *
 *	inputs	the files (required).  Each has an output port: "out", or "out0", "out1", ...
 *	tick-ns	the length of a tick of a trace buffer of ThreadX
 *
 * Each message iterator opens its file and reads it itself.  The tool's code for export --to ctf makes the messages.
 * Its allocations end the tool if there is no memory.  Here, they end only the call of Babeltrace (run()).  What the
 * call has allocated until then is not freed, and the iterator makes no more messages.
 */
#include <babeltrace2/babeltrace.h>
#include <setjmp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/memory.h"
#include "export/ctf_messages.h"
#include "input/relay.h"
#include "input/unpack.h"

#define INPUTS_MAX 4096
#define MAGIC_BYTES 4
#define INPUTS "inputs"
#define TICK "tick-ns"
#define WEIGHT 0.9 /* of a file with the mark of a trace buffer */

struct input {
	char *path;
	double tick_ns; /* 0: not given */
};

struct component {
	struct input *input;
	uint64_t nr;
};

struct iterator {
	struct ctf_messages messages;
	struct source *source;
	struct selection selection; /* all events */
	struct spans spans;	    /* none but those that the program has described */
	bool is_broken;		    /* memory was short */
};

/* Memory. */

static __thread jmp_buf failed;

static void leave(void)
{
	longjmp(failed, 1);
}

/* Call a function that uses must().  Return false if there was no memory; then it has stopped somewhere. */
static bool run(void (*function)(void *), void *argument)
{
	void (*saved)(void) = memory_on_failure;

	if (setjmp(failed) == 0) {
		memory_on_failure = leave;
		function(argument);
		memory_on_failure = saved;
		return true;
	}
	memory_on_failure = saved;
	return false;
}

/* The component. */

static void free_component(struct component *component)
{
	for (uint64_t i = 0; i < component->nr; i++)
		free(component->input[i].path);
	free(component->input);
	free(component);
}

static void file_finalize(bt_self_component_source *self)
{
	struct component *component = bt_self_component_get_data(bt_self_component_source_as_self_component(self));

	if (component)
		free_component(component);
}

#define FAIL(self, ...) \
	((void)bt_current_thread_error_append_cause_from_component(self, __FILE__, __LINE__, __VA_ARGS__))

/* A parameter whose name is not known is a mistake, and must not be ignored. */
static bt_value_map_foreach_entry_const_func_status check_name(const char *name, const bt_value *value, void *self)
{
	(void)value;
	if (strcmp(name, INPUTS) == 0 || strcmp(name, TICK) == 0)
		return BT_VALUE_MAP_FOREACH_ENTRY_CONST_FUNC_STATUS_OK;
	FAIL(self, "there is no parameter %s, but there are " INPUTS " and " TICK, name);
	return BT_VALUE_MAP_FOREACH_ENTRY_CONST_FUNC_STATUS_ERROR;
}

/* Read the parameters.  Return false, and say why, if they are wrong. */
static bool read_parameters(bt_self_component *self, const bt_value *parameters, const bt_value **inputs,
			    double *tick_ns)
{
	const bt_value *tick = bt_value_map_borrow_entry_value_const(parameters, TICK);

	if (bt_value_map_foreach_entry_const(parameters, check_name, self) !=
	    BT_VALUE_MAP_FOREACH_ENTRY_CONST_STATUS_OK)
		return false;
	*inputs = bt_value_map_borrow_entry_value_const(parameters, INPUTS);
	if (!*inputs || !bt_value_is_array(*inputs) || bt_value_array_is_empty(*inputs) ||
	    bt_value_array_get_length(*inputs) > INPUTS_MAX) {
		FAIL(self, "the parameter inputs must be an array of 1 to %d files", INPUTS_MAX);
		return false;
	}
	for (uint64_t i = 0; i < bt_value_array_get_length(*inputs); i++) {
		if (!bt_value_is_string(bt_value_array_borrow_element_by_index_const(*inputs, i))) {
			FAIL(self, "the parameter inputs must be an array of strings");
			return false;
		}
	}
	*tick_ns = 0;
	if (tick && bt_value_is_real(tick))
		*tick_ns = bt_value_real_get(tick);
	else if (tick && bt_value_is_unsigned_integer(tick))
		*tick_ns = (double)bt_value_integer_unsigned_get(tick);
	else if (tick && bt_value_is_signed_integer(tick))
		*tick_ns = (double)bt_value_integer_signed_get(tick);
	else if (tick)
		*tick_ns = -1;
	if (tick && !(*tick_ns > 0)) {
		FAIL(self, "the parameter tick-ns must be a number of nanoseconds");
		return false;
	}
	return true;
}

static bt_component_class_initialize_method_status
add_input(bt_self_component_source *self, struct component *component, const char *path, double tick_ns, bool is_only)
{
	struct input *input = &component->input[component->nr];
	char name[32] = "out";
	int status;

	if (!is_only)
		snprintf(name, sizeof(name), "out%llu", (unsigned long long)component->nr);
	*input = (struct input){.path = strdup(path), .tick_ns = tick_ns};
	if (!input->path)
		return BT_COMPONENT_CLASS_INITIALIZE_METHOD_STATUS_MEMORY_ERROR;
	component->nr++;
	status = bt_self_component_source_add_output_port(self, name, input, NULL);
	return status ? BT_COMPONENT_CLASS_INITIALIZE_METHOD_STATUS_ERROR :
			BT_COMPONENT_CLASS_INITIALIZE_METHOD_STATUS_OK;
}

static bt_component_class_initialize_method_status
file_initialize(bt_self_component_source *self, bt_self_component_source_configuration *configuration,
		const bt_value *parameters, void *data)
{
	bt_self_component *component_self = bt_self_component_source_as_self_component(self);
	bt_component_class_initialize_method_status status = BT_COMPONENT_CLASS_INITIALIZE_METHOD_STATUS_OK;
	struct component *component;
	const bt_value *inputs;
	double tick_ns;
	uint64_t nr;

	(void)configuration;
	(void)data;
	if (!read_parameters(component_self, parameters, &inputs, &tick_ns))
		return BT_COMPONENT_CLASS_INITIALIZE_METHOD_STATUS_ERROR;
	nr = bt_value_array_get_length(inputs);
	component = calloc(1, sizeof(*component));
	if (component)
		component->input = calloc(nr, sizeof(*component->input));
	if (!component || !component->input) {
		free(component);
		return BT_COMPONENT_CLASS_INITIALIZE_METHOD_STATUS_MEMORY_ERROR;
	}
	for (uint64_t i = 0; i < nr && status == BT_COMPONENT_CLASS_INITIALIZE_METHOD_STATUS_OK; i++)
		status = add_input(self, component,
				   bt_value_string_get(bt_value_array_borrow_element_by_index_const(inputs, i)),
				   tick_ns, nr == 1);
	if (status != BT_COMPONENT_CLASS_INITIALIZE_METHOD_STATUS_OK)
		free_component(component);
	else
		bt_self_component_set_data(component_self, component);
	return status;
}

/* Message iterators. */

struct opening {
	struct iterator *iterator;
	const struct input *input;
	bt_self_component *component;
	bool is_open;
};

static void open_input(void *argument)
{
	struct opening *opening = argument;
	struct iterator *iterator = opening->iterator;

	iterator->source = source_open_mixed(opening->input->path, opening->input->tick_ns);
	if (!iterator->source || !selection_begin(&iterator->selection, &iterator->source, 1))
		return;
	source_report_losses(iterator->source);
	ctf_messages_prepare(&iterator->messages, iterator->source, &iterator->selection, &iterator->spans);
	ctf_events_begin(&iterator->messages.events, iterator->source, opening->component);
	opening->is_open = true;
}

static bt_message_iterator_class_initialize_method_status
file_iterator_initialize(bt_self_message_iterator *self, bt_self_message_iterator_configuration *configuration,
			 bt_self_component_port_output *port)
{
	bt_self_component *component = bt_self_message_iterator_borrow_component(self);
	struct iterator *iterator = calloc(1, sizeof(*iterator));
	struct opening opening = {.iterator = iterator,
				  .input = bt_self_component_port_get_data(
					  bt_self_component_port_output_as_self_component_port(port)),
				  .component = component};

	if (!iterator)
		return BT_MESSAGE_ITERATOR_CLASS_INITIALIZE_METHOD_STATUS_MEMORY_ERROR;
	if (!run(open_input, &opening)) {
		FAIL(component, "%s: there is not enough memory", opening.input->path);
		return BT_MESSAGE_ITERATOR_CLASS_INITIALIZE_METHOD_STATUS_MEMORY_ERROR;
	}
	if (!opening.is_open) {
		if (iterator->source)
			source_close(iterator->source);
		free(iterator);
		FAIL(component, "%s: the trace cannot be read", opening.input->path);
		return BT_MESSAGE_ITERATOR_CLASS_INITIALIZE_METHOD_STATUS_ERROR;
	}
	/* The times of the messages do not fall, so Babeltrace can find a time, for example for a trimmer. */
	bt_self_message_iterator_configuration_set_can_seek_forward(configuration, BT_TRUE);
	bt_self_message_iterator_set_data(self, iterator);
	return BT_MESSAGE_ITERATOR_CLASS_INITIALIZE_METHOD_STATUS_OK;
}

static void close_iterator(void *argument)
{
	struct iterator *iterator = argument;

	ctf_messages_put_refs(&iterator->messages);
	ctf_messages_free(&iterator->messages);
	source_close(iterator->source);
	free(iterator);
}

static void file_iterator_finalize(bt_self_message_iterator *self)
{
	struct iterator *iterator = bt_self_message_iterator_get_data(self);

	if (iterator && !iterator->is_broken)
		run(close_iterator, iterator);
}

struct reading {
	struct iterator *iterator;
	bt_self_message_iterator *self;
	bt_message_array_const messages;
	uint64_t capacity, *count;
	bt_message_iterator_class_next_method_status status;
};

static void read_messages(void *argument)
{
	struct reading *reading = argument;

	reading->status = ctf_messages_next(&reading->iterator->messages, reading->self, reading->messages,
					    reading->capacity, reading->count);
}

static bt_message_iterator_class_next_method_status file_iterator_next(bt_self_message_iterator *self,
									bt_message_array_const messages,
									uint64_t capacity, uint64_t *count)
{
	struct reading reading = {.iterator = bt_self_message_iterator_get_data(self),
				  .self = self,
				  .messages = messages,
				  .capacity = capacity,
				  .count = count};

	if (!reading.iterator->is_broken && run(read_messages, &reading))
		return reading.status;
	reading.iterator->is_broken = true;
	return BT_MESSAGE_ITERATOR_CLASS_NEXT_METHOD_STATUS_MEMORY_ERROR;
}

static void rewind_messages(void *argument)
{
	struct iterator *iterator = argument;

	ctf_messages_rewind(&iterator->messages);
}

static bt_message_iterator_class_can_seek_beginning_method_status
file_iterator_can_seek_beginning(bt_self_message_iterator *self, bt_bool *can_seek)
{
	const struct iterator *iterator = bt_self_message_iterator_get_data(self);

	*can_seek = !iterator->is_broken;
	return BT_MESSAGE_ITERATOR_CLASS_CAN_SEEK_BEGINNING_METHOD_STATUS_OK;
}

static bt_message_iterator_class_seek_beginning_method_status
file_iterator_seek_beginning(bt_self_message_iterator *self)
{
	struct iterator *iterator = bt_self_message_iterator_get_data(self);

	if (!iterator->is_broken && run(rewind_messages, iterator))
		return BT_MESSAGE_ITERATOR_CLASS_SEEK_BEGINNING_METHOD_STATUS_OK;
	iterator->is_broken = true;
	return BT_MESSAGE_ITERATOR_CLASS_SEEK_BEGINNING_METHOD_STATUS_MEMORY_ERROR;
}

/* Discovery: babeltrace2 asks for each file that it is given whether this class can read it. */

/* Return true for the mark of a trace buffer, in either byte order, and for a stream of record -o -. */
static bool begins_trace(struct stream *stream)
{
	const unsigned char *bytes;
	size_t size = stream_peek(stream, &bytes);

	return relay_is(bytes, size) || (size >= MAGIC_BYTES && (memcmp(bytes, "BTXT", MAGIC_BYTES) == 0 ||
								 memcmp(bytes, "TXTB", MAGIC_BYTES) == 0));
}

struct question {
	const char *path;
	bool is_trace;
};

/* Look at the first bytes of a file, or of the contents of a compressed one. */
static void look(void *argument)
{
	struct question *question = argument;
	struct stream file, unpacked;
	const unsigned char *bytes;
	struct stat status;
	const char *fault;
	size_t size;

	if (stat(question->path, &status) != 0 || !S_ISREG(status.st_mode) || !stream_open(&file, question->path))
		return;
	size = stream_peek(&file, &bytes);
	if (!unpack_kind(bytes, size)) {
		question->is_trace = begins_trace(&file);
	} else if (unpack_open(&unpacked, &file, &file, UNPACK_RATIO, &fault)) {
		question->is_trace = begins_trace(&unpacked);
		stream_close(&unpacked);
	}
	stream_close(&file);
}

static bool is_trace(const char *path)
{
	struct question question = {.path = path};

	return run(look, &question) && question.is_trace;
}

static bt_component_class_query_method_status file_query(bt_self_component_class_source *self,
							 bt_private_query_executor *executor, const char *object,
							 const bt_value *parameters, void *data,
							 const bt_value **result)
{
	const bt_value *type, *input;
	bool is_it;

	(void)self;
	(void)executor;
	(void)data;
	if (strcmp(object, "babeltrace.support-info") != 0)
		return BT_COMPONENT_CLASS_QUERY_METHOD_STATUS_UNKNOWN_OBJECT;
	type = bt_value_map_borrow_entry_value_const(parameters, "type");
	input = bt_value_map_borrow_entry_value_const(parameters, "input");
	is_it = type && input && bt_value_is_string(type) && bt_value_is_string(input) &&
		strcmp(bt_value_string_get(type), "file") == 0 && is_trace(bt_value_string_get(input));
	*result = bt_value_real_create_init(is_it ? WEIGHT : 0);
	return *result ? BT_COMPONENT_CLASS_QUERY_METHOD_STATUS_OK :
			 BT_COMPONENT_CLASS_QUERY_METHOD_STATUS_MEMORY_ERROR;
}

/* Babeltrace finds these functions by their names. */
#pragma GCC visibility push(default)
BT_PLUGIN_MODULE();
#pragma GCC visibility pop

BT_PLUGIN(txtrace);
BT_PLUGIN_DESCRIPTION("Traces of posixtrace, and trace buffers of ThreadX");
BT_PLUGIN_AUTHOR("the posixtrace authors");
BT_PLUGIN_LICENSE("MIT");

BT_PLUGIN_SOURCE_COMPONENT_CLASS(file, file_iterator_next);
BT_PLUGIN_SOURCE_COMPONENT_CLASS_DESCRIPTION(file, "Read logs of posixtrace and trace buffers of ThreadX");
BT_PLUGIN_SOURCE_COMPONENT_CLASS_HELP(
	file, "Parameters:\n"
	      "  " INPUTS "=ARRAY OF STRINGS  the files: logs, trace buffers, and streams of txtrace record -o -,\n"
	      "                           also compressed\n"
	      "  " TICK "=NUMBER           the length of a tick of a trace buffer of ThreadX, in nanoseconds\n"
	      "\n"
	      "See babeltrace2-plugin-txtrace(7).");
BT_PLUGIN_SOURCE_COMPONENT_CLASS_INITIALIZE_METHOD(file, file_initialize);
BT_PLUGIN_SOURCE_COMPONENT_CLASS_FINALIZE_METHOD(file, file_finalize);
BT_PLUGIN_SOURCE_COMPONENT_CLASS_QUERY_METHOD(file, file_query);
BT_PLUGIN_SOURCE_COMPONENT_CLASS_MESSAGE_ITERATOR_CLASS_INITIALIZE_METHOD(file, file_iterator_initialize);
BT_PLUGIN_SOURCE_COMPONENT_CLASS_MESSAGE_ITERATOR_CLASS_FINALIZE_METHOD(file, file_iterator_finalize);
BT_PLUGIN_SOURCE_COMPONENT_CLASS_MESSAGE_ITERATOR_CLASS_SEEK_BEGINNING_METHODS(file, file_iterator_seek_beginning,
										 file_iterator_can_seek_beginning);
