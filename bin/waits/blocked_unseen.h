/* SPDX-License-Identifier: MIT */
/*
 * The times for which threads were blocked in no recorded call, by the scheduling records of a log.  So the waits of a
 * program are seen that makes its system calls itself, such as one in Go or a static one, but not what it waited for.
 */
#ifndef TXTRACE_WAITS_BLOCKED_UNSEEN_H
#define TXTRACE_WAITS_BLOCKED_UNSEEN_H

#include "cli/table.h"
#include "trace/selection.h"
#include "trace/source.h"

/* Read the file, and print a table with a row for each thread.  Without such times, print nothing. */
void blocked_unseen_print(struct source *source, const struct selection *selection, struct table *table);

#endif
