/* SPDX-License-Identifier: MIT */
/* record --type: put the descriptions of event types into the stream, and so into the log. */
#ifndef TXTRACE_LIVE_DESCRIBE_H
#define TXTRACE_LIVE_DESCRIBE_H

#include <sys/types.h>
#include <trace.h>

/*
 * Describe the event types of type_lines_given in this stream.  The name of a type of the program is replaced by its
 * fields, which come from the debugging information of the process, or of `program` if that will be executed (otherwise
 * NULL).  A type that is not found keeps its name, so that readers of the log look for it.  Print a message for each
 * description that cannot be used.
 */
void describe_types(trace_id_t trace, pid_t pid, const char *program);

#endif
