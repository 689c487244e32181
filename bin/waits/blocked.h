/* SPDX-License-Identifier: MIT */
/* txtrace blocked: for which objects threads waited, and how long. */
#ifndef TXTRACE_WAITS_BLOCKED_H
#define TXTRACE_WAITS_BLOCKED_H

#include "cli/table.h"
#include "waits/waits.h"

enum blocked_sort {
	BLOCKED_TOTAL,
	BLOCKED_WAITS,
	BLOCKED_P50,
	BLOCKED_P99,
	BLOCKED_MAX,
	BLOCKED_NAME
};

struct blocked_options {
	bool by_thread;
	bool by_site; /* a row for each object and each place of the program that waits for it */
	enum blocked_sort order;
};

/* Parse the argument of --sort.  If it is not a sort order, print a message and return false. */
bool blocked_parse_sort(const char *word, enum blocked_sort *order);

void blocked_print(struct source *source, const struct selection *selection,
		   const struct blocked_options *options, struct table *table);

#endif
