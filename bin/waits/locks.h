/* SPDX-License-Identifier: MIT */
/* txtrace locks: how often and how long locks are held, how many threads wait, and the order of locks. */
#ifndef TXTRACE_WAITS_LOCKS_H
#define TXTRACE_WAITS_LOCKS_H

#include "cli/table.h"
#include "waits/waits.h"

enum locks_sort { LOCKS_HELD, LOCKS_TAKEN, LOCKS_CONTENDED, LOCKS_MAX, LOCKS_WAITERS, LOCKS_NAME };

/* Parse the argument of --sort.  If it is not a sort order, print a message and return false. */
bool locks_parse_sort(const char *word, enum locks_sort *order);

struct locks_options {
	bool by_site; /* a row for each lock and each place of the program that takes it */
	enum locks_sort order;
};

void locks_print(struct source *source, const struct selection *selection,
		 const struct locks_options *options, struct table *table);

#endif
