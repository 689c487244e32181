/* SPDX-License-Identifier: MIT */
/* Wrapper statistics of a preloaded program: the wrapped functions, their calls, and the cost of the wrappers. */
#ifndef TXTRACE_LIVE_WRAPPER_STATS_H
#define TXTRACE_LIVE_WRAPPER_STATS_H

#include "cli/fields.h"
#include "trace/source.h"

/*
 * If the program was preloaded, print how many wrappers there are and how many were called.  In JSON, print the table
 * too.
 */
void wrapper_stats_fields(struct fields *fields, const struct source *source);

/*
 * Print a message if a preloaded program called no pthread lock, because then the tables of locks and waits are
 * empty.
 */
void wrapper_stats_report(const struct source *source);

/* Print the table as text. */
void wrapper_stats_list(struct text *text, const struct source *source);

#endif
