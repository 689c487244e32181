/* SPDX-License-Identifier: MIT */
/*
 * The data of an event as pairs of a label and a value.  The recorded call of a log has its fields, as txtrace print
 * shows them.  The label of an information word of ThreadX is the name of the word.  If the word is a handle, the value
 * is the name of the object.  Data of a described type are its fields.  Other data are hex
 * digits.
 */
#ifndef TXTRACE_EXPORT_ANNOTATIONS_H
#define TXTRACE_EXPORT_ANNOTATIONS_H

#include <stddef.h>
#include <stdint.h>

#include "trace/source.h"

enum annotation_kind {
	ANNOTATION_NUMBER,
	ANNOTATION_SIGNED,
	ANNOTATION_ADDRESS, /* a number; viewers should show it in hex */
	ANNOTATION_NAME,    /* a text that many events share; it is valid until the next call of annotations_of() */
	ANNOTATION_TEXT,    /* text_size bytes of printable ASCII or blanks */
	ANNOTATION_HEX,	    /* text_size bytes; viewers should show them in hex digits */
	ANNOTATION_REAL,    /* a floating-point number, in real */
	ANNOTATION_TRUE,
	ANNOTATION_FALSE
};

struct annotation {
	enum annotation_kind kind;
	const char *label; /* label_size bytes without a null byte; valid until the source is closed */
	size_t label_size;
	uint64_t number;
	int64_t number_signed;
	double real;
	unsigned int digits; /* of `real`: with so many it can be read back */
	const char *text;    /* the text ends with a null byte only for ANNOTATION_NAME */
	size_t text_size;
};

#define ANNOTATIONS_MAX 64 /* of more fields, the last annotation says how many are left out */

/* Return the number of annotations. */
int annotations_of(struct source *source, const struct event *event, struct annotation annotations[ANNOTATIONS_MAX]);

#endif
