/* SPDX-License-Identifier: MIT */
/* The tests data.NAME of filters. */
#include <fnmatch.h>
#include <stdio.h>
#include <string.h>

#include "base/message.h"
#include "base/nearest.h"
#include "trace/calldata.h"
#include "trace/data_text.h"
#include "trace/filter_private.h"

static bool compare_real(long double a, enum comparison operator, long double b)
{
	/* A number that is NAN is neither less nor more than another one, nor equal to it. */
	if (a != a || b != b)
		return operator == OPERATOR_UNEQUAL;
	return filter_compares(operator, (a > b) - (a < b));
}

/* Compare whole numbers without a real number between: on some machines a long double has 53 bits. */
static int order_of(const struct px_field_value *value, const struct filter *filter)
{
	bool is_negative = value->is_signed && (int64_t)value->number < 0;
	bool is_other_negative = *filter->text == '-' && filter->number < 0;
	uint64_t number = value->number, other = (uint64_t)filter->number;

	if (is_negative != is_other_negative)
		return is_negative ? -1 : 1;
	return (number > other) - (number < other);
}

/* Return the value as text: a text, a character, the name of a number, or a number in decimal.  NULL: a real number. */
static const char *value_text(const struct px_field_value *value, char buffer[CALL_FIELD_BYTES])
{
	size_t length = value->length < CALL_FIELD_BYTES - 1 ? value->length : CALL_FIELD_BYTES - 1;

	if (value->kind == PX_FIELD_BOOL)
		return value->number ? "true" : "false";
	if (value->name || value->kind == PX_FIELD_FLOAT)
		return value->name;
	if (!value->is_text && value->kind != PX_FIELD_CHAR) {
		snprintf(buffer, CALL_FIELD_BYTES, value->is_signed ? "%lld" : "%llu",
			 (unsigned long long)value->number);
		return buffer;
	}
	if (!value->is_text)
		length = value->number != 0;
	memcpy(buffer, value->text, value->is_text ? length : 0);
	if (!value->is_text)
		buffer[0] = (char)value->number;
	buffer[length] = '\0';
	return buffer;
}

bool filter_matches_value(const struct filter *filter, const struct px_field_value *value)
{
	char buffer[CALL_FIELD_BYTES];
	const char *text = value_text(value, buffer);
	bool is_equality = filter->operator== OPERATOR_EQUAL || filter->operator== OPERATOR_UNEQUAL;
	long double number = value->kind == PX_FIELD_FLOAT ? (long double)value->real :
			     value->is_signed		   ? (long double)(int64_t)value->number :
							     (long double)value->number;

	if (!value->is_text && (filter->is_number || filter->is_real) && value->kind != PX_FIELD_CHAR)
		return filter->is_number && value->kind != PX_FIELD_FLOAT ?
			       filter_compares(filter->operator, order_of(value, filter)) :
			       compare_real(number, filter->operator, filter->real);
	return is_equality && text &&
	       (fnmatch(filter->text, text, 0) == 0) != (filter->operator== OPERATOR_UNEQUAL);
}

/* Which names there are. */

#define LISTED 4096 /* of the values of a type, compare at most so many names */

struct search {
	const char *name;
	bool is_found;
	struct nearest nearest;
};

static void take_call_field(void *argument, const char *name, size_t length)
{
	struct search *search = argument;
	char copy[NEAREST_BYTES];

	if (length >= sizeof(copy))
		return;
	snprintf(copy, sizeof(copy), "%.*s", (int)length, name);
	nearest_add(&search->nearest, copy);
}

static void take_path(void *argument, const char *path, const struct px_field_place *place)
{
	struct search *search = argument;

	(void)place;
	nearest_add(&search->nearest, path);
}

static void search_type(void *argument, trace_event_id_t type, const struct px_fields *fields)
{
	struct search *search = argument;
	struct px_field_place place;

	(void)type;
	search->is_found |= px_fields_find(fields, search->name, &place);
	if (!search->is_found)
		px_fields_list(fields, LISTED, take_path, search);
}

static bool check_name(const char *name, struct source *const *sources, size_t nr)
{
	struct search search = {.name = name, .nearest = {.wanted = name}};
	char like[NEAREST_WORDS];

	if (calltable_has_field(name) || strcmp(name, CALLDATA_WAIT) == 0)
		return true;
	for (size_t i = 0; i < nr; i++)
		payload_each_type(sources[i], search_type, &search);
	if (search.is_found)
		return true;
	calltable_each_field(take_call_field, &search);
	nearest_words(&search.nearest, "data.", like);
	message("filter: no call and no described event type has the field data.%s%s", name, like);
	return false;
}

/* Names that the trace does not have. */

static bool matches_or_add(struct nearest *nearest, const char *name)
{
	nearest_add(nearest, name);
	return fnmatch(nearest->wanted, name, 0) == 0;
}

static bool has_type(struct nearest *nearest, struct source *source)
{
	bool is_found = false;
	trace_event_id_t id;
	int unavailable;

	posix_trace_eventtypelist_rewind(source->trace);
	while (!is_found && posix_trace_eventtypelist_getnext_id(source->trace, &id, &unavailable) == 0 && !unavailable)
		is_found = matches_or_add(nearest, source_type_name(source, id));
	posix_trace_eventtypelist_rewind(source->trace);
	return is_found;
}

bool filter_has_type(const char *glob, struct source *source)
{
	return has_type(&(struct nearest){.wanted = glob}, source);
}

bool filter_finds_word(const char *word, struct source *source, const struct event *event)
{
	return strcasestr(event->name, word) || strcasestr(event->thread, word) ||
	       memmem(event->data, event->size, word, strlen(word)) || strcasestr(data_as_string(source, event), word);
}

static bool has_object(struct nearest *nearest, const struct source *source, bool is_thread)
{
	for (size_t i = 0; i < source->nr_objects; i++) {
		const struct txtrace_object *object = &source->objects[i];
		char name[FILTER_THREAD_BYTES];

		if (object->type == OBJECT_EVENT_TYPE || (object->type == OBJECT_THREAD) != is_thread)
			continue;
		if (matches_or_add(nearest, object->name) ||
		    (is_thread && filter_short_thread(object, object->name, name) && matches_or_add(nearest, name)))
			return true;
	}
	return false;
}

static void report_missing(const struct filter *test, struct source *source)
{
	struct nearest nearest = {.wanted = test->text};
	char like[NEAREST_WORDS];
	bool is_there = true;

	if (test->field == FIELD_EVENT || test->field == FIELD_WORD)
		is_there = has_type(&nearest, source);
	else if (test->field == FIELD_THREAD || test->field == FIELD_OBJECT)
		is_there = has_object(&nearest, source, test->field == FIELD_THREAD);
	if (is_there)
		return;
	nearest_words(&nearest, "", like);
	message("filter: the trace has no %s %s%s",
		test->field == FIELD_THREAD ? "thread" :
		test->field != FIELD_OBJECT ? "event type" :
					      "object",
		test->text, like);
}

void filter_report_missing(const struct filter *filter, struct source *source)
{
	if (!filter || source->is_live)
		return;
	if (filter->kind == KIND_TEST && filter->operator== OPERATOR_EQUAL)
		report_missing(filter, source);
	filter_report_missing(filter->left, source);
	filter_report_missing(filter->right, source);
}

bool filter_check(const struct filter *filter, struct source *const *sources, size_t nr)
{
	if (!filter)
		return true;
	if (filter->kind == KIND_TEST && filter->field == FIELD_CALL)
		return check_name(filter->name, sources, nr);
	return filter_check(filter->left, sources, nr) && filter_check(filter->right, sources, nr);
}
