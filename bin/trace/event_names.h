/* SPDX-License-Identifier: MIT */
/*
 * Names of user events from a file of TraceX, tracex_custom.trxc, which the user gives with --names.  Lines before a
 * line "Start" are comments.  Then each line defines an event, until a line "End":
 *
 *	number, name, abbreviation, (r, g, b), (r, g, b), label, label, label, label
 *
 * As in TraceX, the events of ThreadX and its middleware keep their names.
 */
#ifndef TXTRACE_TRACE_EVENT_NAMES_H
#define TXTRACE_TRACE_EVENT_NAMES_H

#include <stdbool.h>

/* Read a file.  If the file or a line is wrong, print a message and return false. */
bool event_names_file(const char *path);

/* Return the name of a user event of ThreadX with this id, or NULL. */
const char *event_names_find(unsigned int id);

#endif
