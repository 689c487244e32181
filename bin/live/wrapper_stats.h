/* SPDX-License-Identifier: MIT */
/* Wrapper statistics of a preloaded program: the wrapped functions, their calls, and the cost of the wrappers. */
#ifndef TXTRACE_LIVE_WRAPPER_STATS_H
#define TXTRACE_LIVE_WRAPPER_STATS_H

#include "cli/fields.h"
#include "trace/source.h"

/*
 * If the preloaded object was in the program, print the number of wrappers and the number of called wrappers.  In JSON,
 * also print the table.
 */
void wrapper_stats_fields(struct fields *fields, const struct source *source);

/*
 * Print a message if a preloaded program called no pthread lock.  In this case, the tables of locks and waits are
 * empty.
 */
void wrapper_stats_report(const struct source *source);

/* Return true if the program has started children or executed programs. */
bool wrapper_stats_has_processes(const struct source *source);

/*
 * Print a message if a preloaded program started child processes.  Call this for a log that has no event of a child:
 * then only the parent was traced.
 */
void wrapper_stats_report_children(const struct source *source);

/* Print the table as text. */
void wrapper_stats_list(struct text *text, const struct source *source);

#endif
