/* SPDX-License-Identifier: MIT */
#include "trace/data_text.h"

#include <stdio.h>
#include <string.h>

#include "trace/calldata.h"
#include "trace/native.h"
#include "trace/payload.h"
#include "trace/sched.h"

#define SHOWN_BYTES 32 /* of data without a description, print at most this number of bytes */
#define FILTER_REST 32 /* room for " and 4096 without a name" */

static void print_bytes(struct text *text, const struct event *event)
{
	size_t shown = event->size < SHOWN_BYTES ? event->size : SHOWN_BYTES;

	text_words(text, event->data, shown);
	if (event->size > shown)
		text_printf(text, " ... %zu bytes", event->size);
}

static void print_word(struct text *text, struct source *source, const char *label, uint32_t word)
{
	const struct txtrace_object *object = label_is_object(label) ? source_object(source, word) :
								       NULL;
	size_t length = strlen(label);

	/* The name of the object replaces the pointer, so the label needs no "_ptr". */
	if (length > 4 && strcmp(label + length - 4, "_ptr") == 0 && object)
		length -= 4;
	text_put(text, label, length);
	text_char(text, '=');
	if (object) {
		text_plain(text, object->name, 0);
	} else if (word >= 65536) {
		text_string(text, "0x");
		text_hex(text, word, 0);
	} else {
		text_unsigned(text, word, 0, ' ');
	}
}

static void print_native(struct text *text, struct source *source, const struct event *event,
			 unsigned int native)
{
	bool first = true;

	for (int i = 0; i < 4; i++) {
		const char *label = native_label(native, i);

		if (!label)
			continue;
		if (!first)
			text_char(text, ' ');
		first = false;
		print_word(text, source, label, event_word(event, i));
	}
}

/* Write the names of the types in a set, up to the size of the text. */
static void write_set(char *text, size_t size, struct source *source, const char *label,
		      const unsigned char *data)
{
	size_t used = (size_t)snprintf(text, size, "%s=", label);
	trace_event_set_t set;
	unsigned int nr = 0, nr_left_out = 0, nr_unnamed = 0;

	memcpy(&set, data, sizeof(set));
	for (trace_event_id_t type = 0; type < 8 * sizeof(set); type++) {
		char name[TRACE_EVENT_NAME_MAX + 1];
		int is_member = 0;

		if (posix_trace_eventset_ismember(type, &set, &is_member) != 0 || !is_member)
			continue;
		if (posix_trace_eventid_get_name(source->trace, type, name) != 0)
			nr_unnamed++;
		else if (nr_left_out > 0 || used + strlen(name) + FILTER_REST >= size)
			nr_left_out++;
		else
			used += (size_t)snprintf(text + used, size - used, "%s%s", nr++ > 0 ? "," : "", name);
	}
	if (nr_left_out > 0)
		snprintf(text + used, size - used, " and %u more", nr_left_out + nr_unnamed);
	else if (nr_unnamed > 0)
		snprintf(text + used, size - used, " and %u without a name", nr_unnamed);
	else if (nr == 0)
		snprintf(text + used, size - used, "none");
}

bool data_filters(char *text, size_t size, struct source *source, const struct event *event)
{
	size_t length, half = size / 2;

	if (event->type == POSIX_TRACE_START && event->size == sizeof(trace_event_set_t)) {
		write_set(text, size, source, "filter", event->data);
		return true;
	}
	if (event->type != POSIX_TRACE_FILTER || event->size != 2 * sizeof(trace_event_set_t))
		return false;
	write_set(text, half, source, "old", event->data);
	length = strlen(text);
	text[length++] = ' ';
	write_set(text + length, size - length, source, "new", event->data + sizeof(trace_event_set_t));
	return true;
}

void print_data(struct text *text, struct source *source, const struct event *event)
{
	unsigned int native = event_native(event);
	char filters[DATA_FILTERS_BYTES];

	if (sched_print(text, event))
		return;
	if (data_filters(filters, sizeof(filters), source, event)) {
		text_plain(text, filters, 0);
	} else if (calldata_is(source, event)) {
		calldata_print(text, source, event);
	} else if (payload_is(source, event)) {
		payload_print(text, source, event);
	} else if (native != 0 && native_title(native)) {
		print_native(text, source, event, native);
	} else {
		print_bytes(text, event);
	}
	if (event->is_truncated)
		text_string(text, " (cut)");
}

const char *data_as_string(struct source *source, const struct event *event)
{
	static struct text scratch;

	scratch.used = 0;
	scratch.fd = -1;
	print_data(&scratch, source, event);
	if (scratch.used == OUTPUT_BYTES)
		scratch.used--;
	scratch.bytes[scratch.used] = '\0';
	return scratch.bytes;
}
