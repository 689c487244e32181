/* SPDX-License-Identifier: MIT */
/* The tests data.NAME of filters. */
#include <fnmatch.h>
#include <stdio.h>
#include <string.h>

#include "base/message.h"
#include "trace/calldata.h"
#include "trace/filter_private.h"

static bool compare_real(long double a, enum comparison operator, long double b)
{
	switch (operator) {
	case OPERATOR_EQUAL:
		return a == b;
	case OPERATOR_UNEQUAL:
		return a != b;
	case OPERATOR_LESS:
		return a < b;
	case OPERATOR_AT_MOST:
		return a <= b;
	case OPERATOR_MORE:
		return a > b;
	default:
		return a >= b;
	}
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

	if (!value->is_text && (filter->is_number || filter->is_real) && !(value->kind == PX_FIELD_CHAR))
		return compare_real(number, filter->operator, filter->real);
	return is_equality && text &&
	       (fnmatch(filter->text, text, 0) == 0) != (filter->operator== OPERATOR_UNEQUAL);
}

/* Which names there are. */

#define NEAREST 3
#define NAME_BYTES 64 /* only shorter names are proposed */
#define LISTED 4096   /* of the values of a type, compare at most so many names */

struct search {
	const char *name;
	bool is_found;
	unsigned int nr;
	struct {
		char name[NAME_BYTES];
		unsigned int distance;
	} nearest[NEAREST];
};

/* Return how many characters of one name have to be added, removed or replaced to get the other one. */
static unsigned int distance_of(const char *a, const char *b)
{
	unsigned int row[NAME_BYTES + 1];
	size_t length = strlen(b);

	for (unsigned int i = 0; i <= length; i++)
		row[i] = i;
	for (unsigned int i = 1; *a; a++, i++) {
		unsigned int before = row[0];

		row[0] = i;
		for (size_t j = 1; j <= length; j++) {
			unsigned int replaced = before + (*a != b[j - 1]);
			unsigned int other = 1 + (row[j] < row[j - 1] ? row[j] : row[j - 1]);

			before = row[j];
			row[j] = replaced < other ? replaced : other;
		}
	}
	return row[length];
}

/* Keep the name among the nearest ones, if it is like the name that is searched. */
static void compare_name(struct search *search, const char *name)
{
	unsigned int distance, at = search->nr;

	if (strlen(name) >= NAME_BYTES || strlen(search->name) >= NAME_BYTES)
		return;
	distance = distance_of(search->name, name);
	if (3 * distance > strlen(search->name) + 2)
		return;
	for (unsigned int i = 0; i < search->nr; i++)
		if (strcmp(search->nearest[i].name, name) == 0)
			return;
	while (at > 0 && search->nearest[at - 1].distance > distance)
		at--;
	if (at == NEAREST)
		return;
	search->nr += search->nr < NEAREST;
	memmove(&search->nearest[at + 1], &search->nearest[at],
		(search->nr - at - 1) * sizeof(search->nearest[0]));
	snprintf(search->nearest[at].name, NAME_BYTES, "%s", name);
	search->nearest[at].distance = distance;
}

static void take_call_field(void *argument, const char *name, size_t length)
{
	char copy[NAME_BYTES];

	if (length >= sizeof(copy))
		return;
	snprintf(copy, sizeof(copy), "%.*s", (int)length, name);
	compare_name(argument, copy);
}

static void take_path(void *argument, const char *path, const struct px_field_place *place)
{
	(void)place;
	compare_name(argument, path);
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
	struct search search = {.name = name};
	char proposal[256] = "";
	size_t used = 0;

	if (calltable_has_field(name) || strcmp(name, CALLDATA_WAIT) == 0)
		return true;
	for (size_t i = 0; i < nr; i++)
		payload_each_type(sources[i], search_type, &search);
	if (search.is_found)
		return true;
	calltable_each_field(take_call_field, &search);
	for (unsigned int i = 0; i < search.nr; i++)
		used += (size_t)snprintf(proposal + used, sizeof(proposal) - used, "%sdata.%s",
					 i > 0 ? ", " : "; like it are ", search.nearest[i].name);
	message("filter: no call and no described event type has the field data.%s%s", name, proposal);
	return false;
}

bool filter_check(const struct filter *filter, struct source *const *sources, size_t nr)
{
	if (!filter)
		return true;
	if (filter->kind == KIND_TEST && filter->field == FIELD_CALL)
		return check_name(filter->name, sources, nr);
	return filter_check(filter->left, sources, nr) && filter_check(filter->right, sources, nr);
}
