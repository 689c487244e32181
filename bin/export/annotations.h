/* SPDX-License-Identifier: MIT */
/*
 * What an event says beside its name, as pairs of a label and a value, for viewers that show such: the information
 * words of ThreadX's events by their names, those that are handles as names of objects; other data as text, or in hex
 * digits and, if they have the size of one, as a number.
 */
#ifndef TXTRACE_EXPORT_ANNOTATIONS_H
#define TXTRACE_EXPORT_ANNOTATIONS_H

#include <stddef.h>
#include <stdint.h>

#include "trace/source.h"

enum note_kind {
	NOTE_NUMBER,
	NOTE_SIGNED,
	NOTE_ADDRESS, /* a number that is one */
	NOTE_NAME,    /* text, the same for many events, valid as long as the source */
	NOTE_TEXT,    /* text_size bytes, printable ASCII or blanks */
	NOTE_HEX,     /* text_size bytes, to be shown in hex digits */
	NOTE_TRUE
};

struct note {
	enum note_kind kind;
	const char *label; /* valid as long as the source; not ended: label_size bytes */
	size_t label_size;
	uint64_t number;
	int64_t number_signed;
	const char *text; /* that of NOTE_NAME is ended */
	size_t text_size;
};

#define ANNOTATIONS_MAX 8

/* How many there are. */
int annotations_of(struct source *source, const struct event *event,
		   struct note annotations[ANNOTATIONS_MAX]);

#endif
