/* SPDX-License-Identifier: MIT */
/*
 * txtrace waits: one row for each wait.
 *
 * A wait without a known end is listed, too.  If it lasts until the end of its process or of the trace, its duration
 * ends there.  If its end is missing, its duration is not known, and --over does not take it.
 *
 * Memory: a row for each wait, or, with a limit, for at most twice this number of waits.
 */
#ifndef TXTRACE_WAITS_WAIT_LIST_H
#define TXTRACE_WAITS_WAIT_LIST_H

#include "cli/table.h"
#include "waits/waits.h"

enum wait_list_sort { WAIT_LIST_START, WAIT_LIST_DURATION, WAIT_LIST_OBJECT };

#define WAIT_LIST_ALL (-1)

struct wait_list_options {
	int64_t over_ns; /* list only waits that are longer than this; WAIT_LIST_ALL: all, also those without an end */
	uint64_t limit;	 /* list at most this number of waits, the first ones in the sort order; 0: all */
	enum wait_list_sort order;
};

/* Parse the argument of --sort.  If it is not a sort order, print a message and return false. */
bool wait_list_parse_sort(const char *word, enum wait_list_sort *order);

void wait_list_print(struct source *source, const struct selection *selection,
		     const struct wait_list_options *options, struct table *table);

#endif
