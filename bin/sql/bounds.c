/* SPDX-License-Identifier: MIT */
#include "sql/bounds.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"

#define SLACK_S 1e-6 /* seconds are rounded, so bounds are wider */

/* Sets. */

bool sql_set_has_number(const struct sql_set *set, int64_t number)
{
	size_t i = 0;

	while (i < set->nr && set->number[i] != number)
		i++;
	return !set->is_set || i < set->nr;
}

bool sql_set_has_text(const struct sql_set *set, const char *text)
{
	size_t i = 0;

	while (i < set->nr && strcmp(set->text[i], text) != 0)
		i++;
	return !set->is_set || i < set->nr;
}

static void clear(struct sql_set *set)
{
	for (size_t i = 0; set->text && i < set->nr; i++)
		free(set->text[i]);
	free(set->text);
	free(set->number);
	*set = (struct sql_set){0};
}

static void grow(struct sql_set *set)
{
	if (set->nr < set->room)
		return;
	set->room = set->room ? 2 * set->room : 4;
}

static void add_number(struct sql_set *set, int64_t number)
{
	grow(set);
	set->number = must(reallocarray(set->number, set->room, sizeof(*set->number)));
	set->number[set->nr++] = number;
}

static void add_text(struct sql_set *set, const char *text)
{
	grow(set);
	set->text = must(reallocarray(set->text, set->room, sizeof(*set->text)));
	set->text[set->nr++] = must(strdup(text));
}

/*
 * Add a value of a list to the set of a column of numbers.  A value that is no whole number equals none of the column.
 * Return false if it is not clear what it equals.
 */
static bool take_number(struct sql_set *set, sqlite3_value *value)
{
	int type = sqlite3_value_numeric_type(value);
	double real = sqlite3_value_double(value);

	if (type == SQLITE_INTEGER)
		add_number(set, sqlite3_value_int64(value));
	else if (type == SQLITE_FLOAT && fabs(real) > 9e15)
		return false;
	else if (type == SQLITE_FLOAT && real == floor(real))
		add_number(set, (int64_t)real);
	return true;
}

static bool take_text(struct sql_set *set, sqlite3_value *value)
{
	int type = sqlite3_value_type(value);

	if (type == SQLITE_TEXT)
		add_text(set, (const char *)sqlite3_value_text(value));
	return type == SQLITE_TEXT || type == SQLITE_NULL;
}

/* Of several constraints on a column, one is enough. */
static void fill(struct sql_set *set, bool (*take)(struct sql_set *set, sqlite3_value *value),
		 char op, sqlite3_value *value)
{
	sqlite3_value *member = value;
	bool is_clear = true;
	int code;

	if (set->is_set)
		return;
	for (code = op == SQL_IN ? sqlite3_vtab_in_first(value, &member) : SQLITE_OK;
	     code == SQLITE_OK && member && is_clear;
	     code = op == SQL_IN ? sqlite3_vtab_in_next(value, &member) : SQLITE_DONE)
		is_clear = take(set, member);
	set->is_set = is_clear && code == SQLITE_DONE;
	if (!set->is_set)
		clear(set);
}

/* Ranges. */

static int64_t to_integer(double value)
{
	return value >= 9.2e18 ? INT64_MAX : value <= -9.2e18 ? INT64_MIN : (int64_t)value;
}

static void bound_ns(struct sql_bounds *bounds, char op, sqlite3_value *value)
{
	bool is_integer = sqlite3_value_numeric_type(value) == SQLITE_INTEGER;
	int64_t from_ns = is_integer ? sqlite3_value_int64(value) : to_integer(floor(sqlite3_value_double(value)));
	int64_t until_ns = is_integer ? from_ns : to_integer(ceil(sqlite3_value_double(value)));

	if (op != SQL_LESS && from_ns > bounds->from_ns)
		bounds->from_ns = from_ns;
	if (op != SQL_MORE && until_ns < bounds->until_ns)
		bounds->until_ns = until_ns;
}

static void bound_time(struct sql_bounds *bounds, char op, double seconds)
{
	if (op != SQL_LESS && seconds - SLACK_S > bounds->from_s)
		bounds->from_s = seconds - SLACK_S;
	if (op != SQL_MORE && seconds + SLACK_S < bounds->until_s)
		bounds->until_s = seconds + SLACK_S;
}

/* Leave out what is no number for a column of numbers: SQLite then tests the rows. */
static void bound_range(struct sql_bounds *bounds, enum sql_role role, char op, sqlite3_value *value)
{
	int type = sqlite3_value_numeric_type(value);

	if (type != SQLITE_INTEGER && type != SQLITE_FLOAT)
		return;
	if (role == ROLE_NS)
		bound_ns(bounds, op, value);
	else
		bound_time(bounds, op, sqlite3_value_double(value));
}

/* A list of values of a time: the range from the smallest to the largest. */
static void bound_list(struct sql_bounds *bounds, enum sql_role role, sqlite3_value *list)
{
	struct sql_bounds hull = {
		.from_ns = INT64_MAX, .until_ns = INT64_MIN, .from_s = INFINITY, .until_s = -INFINITY};
	sqlite3_value *member = NULL;
	int code;

	for (code = sqlite3_vtab_in_first(list, &member); code == SQLITE_OK;
	     code = sqlite3_vtab_in_next(list, &member)) {
		int type = sqlite3_value_numeric_type(member);
		struct sql_bounds one;

		if (type != SQLITE_INTEGER && type != SQLITE_FLOAT)
			continue;
		sql_bounds_begin(&one);
		bound_range(&one, role, SQL_EQUAL, member);
		hull.from_ns = one.from_ns < hull.from_ns ? one.from_ns : hull.from_ns;
		hull.until_ns = one.until_ns > hull.until_ns ? one.until_ns : hull.until_ns;
		hull.from_s = fmin(hull.from_s, one.from_s);
		hull.until_s = fmax(hull.until_s, one.until_s);
	}
	if (code != SQLITE_DONE)
		return;
	bounds->from_ns = hull.from_ns > bounds->from_ns ? hull.from_ns : bounds->from_ns;
	bounds->until_ns = hull.until_ns < bounds->until_ns ? hull.until_ns : bounds->until_ns;
	bounds->from_s = fmax(bounds->from_s, hull.from_s);
	bounds->until_s = fmin(bounds->until_s, hull.until_s);
}

void sql_bounds_begin(struct sql_bounds *bounds)
{
	*bounds = (struct sql_bounds){
		.from_ns = INT64_MIN, .until_ns = INT64_MAX, .from_s = -INFINITY, .until_s = INFINITY};
}

void sql_bounds_free(struct sql_bounds *bounds)
{
	clear(&bounds->file);
	clear(&bounds->type);
	clear(&bounds->context);
	clear(&bounds->event);
	clear(&bounds->thread);
}

void sql_bounds_add(struct sql_bounds *bounds, enum sql_role role, char op, sqlite3_value *value)
{
	switch (role) {
	case ROLE_FILE:
		fill(&bounds->file, take_number, op, value);
		break;
	case ROLE_TYPE:
		fill(&bounds->type, take_number, op, value);
		break;
	case ROLE_CONTEXT:
		fill(&bounds->context, take_number, op, value);
		break;
	case ROLE_EVENT:
		fill(&bounds->event, take_text, op, value);
		break;
	case ROLE_THREAD:
		fill(&bounds->thread, take_text, op, value);
		break;
	default:
		if (op == SQL_IN)
			bound_list(bounds, role, value);
		else
			bound_range(bounds, role, op, value);
		break;
	}
}
