/* SPDX-License-Identifier: MIT */
/*
 * The data of an event as pairs of a label and a value.  Information words of ThreadX have their names as labels, and
 * their handles become names of objects.  Other data are text, or hex digits and, if the size fits, also a number.
 */
#ifndef TXTRACE_EXPORT_ANNOTATIONS_H
#define TXTRACE_EXPORT_ANNOTATIONS_H

#include <stddef.h>
#include <stdint.h>

#include "trace/source.h"

enum note_kind {
	NOTE_NUMBER,
	NOTE_SIGNED,
	NOTE_ADDRESS, /* a number, which viewers should show in hex */
	NOTE_NAME,    /* a text that many events share; valid as long as the source */
	NOTE_TEXT,    /* text_size bytes, printable ASCII or blanks */
	NOTE_HEX,     /* text_size bytes, which viewers should show in hex digits */
	NOTE_TRUE
};

struct note {
	enum note_kind kind;
	const char *label; /* label_size bytes, without a null byte; valid as long as the source */
	size_t label_size;
	uint64_t number;
	int64_t number_signed;
	const char *text; /* ends with a null byte only for NOTE_NAME */
	size_t text_size;
};

#define ANNOTATIONS_MAX 8

/* Return the number of annotations. */
int annotations_of(struct source *source, const struct event *event,
		   struct note annotations[ANNOTATIONS_MAX]);

#endif
