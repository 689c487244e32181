/* SPDX-License-Identifier: MIT */
/*
 * Descriptions of event types that the user gives: EVENT=FIELDS, as arguments of --type and as lines of files.
 * lib/fields/fields.h has the grammar of FIELDS.
 *
 * A file has one description on each line.  A line that begins with a blank continues the line before.  Empty lines and
 * lines that begin with # mean nothing.
 */
#ifndef TXTRACE_TRACE_TYPE_LINES_H
#define TXTRACE_TRACE_TYPE_LINES_H

#include <stdbool.h>

#define TYPE_LINES_BESIDE ".txtrace-types" /* the file in the directory of a trace */

struct type_line {
	char *event, *text;
	char *origin;	/* for messages: "--type", or a file and a line */
	bool is_option; /* from --type: the user expects such an event type */
	bool is_used;	/* a trace has this event type */
	struct type_line *next;
};

/* For an event that has several descriptions, the first one of the list counts. */
struct type_lines {
	struct type_line *first;
};

/* The descriptions of --type and -T.  The last --type goes before the others, and all of them before those of -T. */
extern struct type_lines type_lines_given;

/* Add the argument of --type.  If it is wrong, print a message and return false. */
bool type_lines_option(const char *argument);

/* Add the lines of a file, the argument of -T.  If the file or a line is wrong, print a message and return false. */
bool type_lines_file(const char *path);

/*
 * Read the file TYPE_LINES_BESIDE in the directory of this trace, if there is one.  Print a message for a wrong line,
 * and leave it out.
 */
void type_lines_beside(struct type_lines *lines, const char *trace_path);

/* Describe an event whose description is right, after the others. */
void type_lines_add(const char *event, const char *text, const char *origin);

/* Return the description of this event, or NULL. */
struct type_line *type_lines_find(const struct type_lines *lines, const char *event);

void type_lines_free(struct type_lines *lines);

#endif
