/* SPDX-License-Identifier: MIT */
/*
 * The merged log that txtrace merge writes.  Its events have their data, times in nanoseconds, calls, stacks and
 * processes, and each log that it was made of keeps its modules (txtrace_merge_begin()).
 *
 * The number of files has no bound but the library's: if there are more than MERGE_AT_ONCE, groups of them become
 * temporary logs first, so that a process with few descriptors can merge them.
 */
#ifndef TXTRACE_CMD_MERGE_LOG_H
#define TXTRACE_CMD_MERGE_LOG_H

#include "report/messages.h"
#include "trace/selection.h"

#define MERGE_AT_ONCE 24

struct merge_log {
	const char *output; /* the name of a file, or "-" for standard output */
	bool overwrites;
	const struct selection *selection; /* the events to merge */
	struct messages_file *files; /* in order; those without a source are opened when they are needed */
	unsigned int nr_files;
};

/* Write the log.  After a failure, print a message, leave no file, and return false. */
bool merge_log_write(const struct merge_log *merge);

#endif
