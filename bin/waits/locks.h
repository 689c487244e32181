/* SPDX-License-Identifier: MIT */
/* Locks: how often they are taken, how long they are held, who waits meanwhile, and in which order they are taken. */
#ifndef TXTRACE_WAITS_LOCKS_H
#define TXTRACE_WAITS_LOCKS_H

#include "cli/table.h"
#include "waits/waits.h"

enum locks_sort { LOCKS_HELD, LOCKS_TAKEN, LOCKS_CONTENDED, LOCKS_MAX, LOCKS_WAITERS, LOCKS_NAME };

/* False: there is no such order, and that was said. */
bool locks_parse_sort(const char *word, enum locks_sort *order);

void locks_print(struct source *source, const struct selection *selection, enum locks_sort order,
		 struct table *table);

#endif
