/* SPDX-License-Identifier: MIT */
/* Wrapper statistics of a preloaded program: the wrapped functions, their calls, and the cost of the wrappers. */
#ifndef TXTRACE_LIVE_WRAPPER_STATS_H
#define TXTRACE_LIVE_WRAPPER_STATS_H

#include "cli/fields.h"
#include "trace/source.h"

/* Print how many wrappers there are and how many were called, if the program was preloaded; in JSON the table too. */
void wrapper_stats_fields(struct fields *fields, const struct source *source);

/* Print a message if a preloaded program called no pthread lock, since tables of locks and waits are then empty. */
void wrapper_stats_report(const struct source *source);

/* Print the table as text. */
void wrapper_stats_list(struct text *text, const struct source *source);

#endif
