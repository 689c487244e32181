/* SPDX-License-Identifier: MIT */
/*
 * Descriptions of spans: the time from an event of one type to a later event of another type.  A span is described as
 * types are, by a text that belongs to a name of events.  No event has this name.
 *
 *	span	"span" NAME ".." NAME [ ":" FIELD ]
 *	NAME	the name of an event type between quotes; a backslash stands before a quote and a backslash in it
 *	FIELD	the path of a field of both types (fields.h): events with the same value belong together; without a
 *		field, those of one thread do
 *
 * No description of data has this form, and no text of this form describes data.
 */
#ifndef PX_FIELDS_SPAN_H
#define PX_FIELDS_SPAN_H

#include <stdbool.h>
#include <stddef.h>

#define PX_SPAN_NAME_MAX 63
#define PX_SPAN_FIELD_MAX 255 /* PX_FIELDS_PATH_MAX */
#define PX_SPAN_TEXT_MAX (4 * PX_SPAN_NAME_MAX + PX_SPAN_FIELD_MAX + 32)

struct px_span {
	char begin[PX_SPAN_NAME_MAX + 1], end[PX_SPAN_NAME_MAX + 1]; /* names of event types */
	char field[PX_SPAN_FIELD_MAX + 1];			     /* empty: the thread pairs events */
};

/* Return true if a text has the form of a path: a name, and then members and elements of arrays. */
bool px_span_is_path(const char *text);

/* Write the text, with a null byte, and return its length.  field may be NULL. */
size_t px_span_write(const char *begin, const char *end, const char *field, char text[PX_SPAN_TEXT_MAX + 1]);

/* Parse a text of `length` bytes.  Return false if it describes no span. */
bool px_span_parse(const char *text, size_t length, struct px_span *span);

#endif
