/* SPDX-License-Identifier: MIT */
/*
 * Which processes of a log run the program whose modules the log lists.  These are the modules of the first process,
 * and of the last program that it executed.  A child by fork has the same modules until it executes another program.
 */
#ifndef TXTRACE_TRACE_PROGRAMS_H
#define TXTRACE_TRACE_PROGRAMS_H

#include "trace/source.h"

/* Return true if the modules of the log are those of the process at this event.  Call this for each event, in order. */
bool programs_is_listed(struct programs *programs, struct source *source, const struct event *event);

/* Return false if the process ran another program at any of the events. */
bool programs_was_listed(const struct programs *programs, pid_t pid);

/* The events begin again. */
void programs_rewind(struct programs *programs);

#endif
