/* SPDX-License-Identifier: MIT */
/* What could be seen of a preloaded program: the functions that the object stood in front of, and what that cost. */
#ifndef TXTRACE_LIVE_WRAPPER_STATS_H
#define TXTRACE_LIVE_WRAPPER_STATS_H

#include "cli/fields.h"
#include "trace/source.h"

/* How many there are and how many were called, if the program was preloaded; in JSON also the table. */
void wrapper_stats_fields(struct fields *fields, const struct source *source);

/* Tables of locks and waits would be empty: of a preloaded program that called no pthread lock, that is said. */
void wrapper_stats_report(const struct source *source);

/* The table, as text. */
void wrapper_stats_list(struct text *text, const struct source *source);

#endif
