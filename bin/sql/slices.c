/* SPDX-License-Identifier: MIT */
#include "sql/slices.h"

#include <sqlite3.h>
#include <stddef.h>

/* The tables, what they call the thing that lasted, and how it ended. */
static const struct {
	const char *table, *kind, *name, *ending;
} parts[] = {
	{"waits", "wait", "object", "ending"},
	{"holds", "hold", "object", "ending"},
	{"spans", "span", "span", "ending"},
	{"states", "state", "state", NULL},
};

char *sql_slices_query(const char *columns, const char *null)
{
	sqlite3_str *text = sqlite3_str_new(NULL);

	for (unsigned int i = 0; i < sizeof(parts) / sizeof(parts[0]); i++)
		sqlite3_str_appendf(text,
				    "%sSELECT %sfile, '%s' AS kind, %s AS name, ns, time, duration_ns, duration, "
				    "thread, context, %s AS ending FROM %s",
				    i > 0 ? " UNION ALL " : "", columns, parts[i].kind, parts[i].name,
				    parts[i].ending ? parts[i].ending : null, parts[i].table);
	return sqlite3_str_finish(text);
}
