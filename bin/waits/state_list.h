/* SPDX-License-Identifier: MIT */
/*
 * txtrace states: one row for each time that a thread ran, was ready, or was blocked.
 *
 * Memory: a row for each period.
 */
#ifndef TXTRACE_WAITS_STATE_LIST_H
#define TXTRACE_WAITS_STATE_LIST_H

#include "cli/table.h"
#include "trace/selection.h"
#include "trace/source.h"

/* Print the table.  If the file has no scheduling records, print a message, too. */
void state_list_print(struct source *source, const struct selection *selection, struct table *table);

#endif
