/* SPDX-License-Identifier: MIT */
/*
 * What a query wants of a table, from the constraints that SQLite passes on.  SQLite tests all constraints again, so
 * the bounds may allow more rows than the constraints, but never fewer.
 */
#ifndef TXTRACE_SQL_BOUNDS_H
#define TXTRACE_SQL_BOUNDS_H

#include <sqlite3.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum sql_role {
	ROLE_NONE,
	ROLE_FILE,
	ROLE_NUMBER,
	ROLE_NS,   /* a time in ns, as event.time_ns */
	ROLE_TIME, /* a time in seconds from the first event */
	ROLE_TYPE,
	ROLE_EVENT,
	ROLE_CONTEXT,
	ROLE_THREAD,
	ROLE_UNSIGNED /* see unsigned.h; it has no bounds */
};

/* Values of which a column must have one.  If is_set is false, it may have any value. */
struct sql_set {
	bool is_set;
	size_t nr, room;
	int64_t *number;
	char **text;
};

struct sql_bounds {
	struct sql_set file, type, context, event, thread;
	int64_t from_ns, until_ns; /* both inclusive */
	double from_s, until_s;	   /* seconds from the first event of a file, both inclusive */
};

/* Allow everything.  The caller frees the bounds. */
void sql_bounds_begin(struct sql_bounds *bounds);
void sql_bounds_free(struct sql_bounds *bounds);

enum { SQL_EQUAL = '=', SQL_MORE = '>', SQL_LESS = '<', SQL_IN = 'I' };

/* Add a constraint of a column: one of the operators above, of which "=" belongs to SQL_MORE and SQL_LESS. */
void sql_bounds_add(struct sql_bounds *bounds, enum sql_role role, char op, sqlite3_value *value);

/* Return true if the set has the value, or if it is not set. */
bool sql_set_has_number(const struct sql_set *set, int64_t number);
bool sql_set_has_text(const struct sql_set *set, const char *text);

#endif
