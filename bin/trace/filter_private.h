/* SPDX-License-Identifier: MIT */
/* The parsed form of a filter. */
#ifndef TXTRACE_TRACE_FILTER_PRIVATE_H
#define TXTRACE_TRACE_FILTER_PRIVATE_H

#include "trace/filter.h"
#include "trace/payload.h"
#include "trace/time_arg.h"

enum field {
	FIELD_EVENT,
	FIELD_WORD, /* a word without a field */
	FIELD_HOST,
	FIELD_THREAD,
	FIELD_OBJECT,
	FIELD_DATA,
	FIELD_CALL, /* a call field, compared by its name */
	FIELD_TIME,
	FIELD_TYPE,
	FIELD_CONTEXT,
	FIELD_PID,
	FIELD_CPU,
	FIELD_PRIORITY,
	FIELD_SIZE,
	FIELD_ADDRESS,
	FIELD_NUMBER,
	FIELD_UNSIGNED, /* in the data */
	FIELD_SIGNED
};

enum comparison {
	OPERATOR_EQUAL,
	OPERATOR_UNEQUAL,
	OPERATOR_LESS,
	OPERATOR_AT_MOST,
	OPERATOR_MORE,
	OPERATOR_AT_LEAST
};

enum kind { KIND_OR, KIND_AND, KIND_NOT, KIND_TEST };

struct filter {
	enum kind kind;
	struct filter *left, *right;
	enum field field;
	enum comparison operator;
	unsigned int bytes, offset; /* in the data */
	char *text;
	size_t text_size;
	char *name; /* name of a field of a call, or path of a field of the data */
	bool is_number, is_real;
	long double real;
	int64_t number;
	struct time_arg time_arg;
	/* What is known of the event types of each trace, the newest one first: traces have other names for an id. */
	struct filter_types *types;
};

struct filter_types {
	struct filter_types *next;
	uint64_t serial; /* of the source */
	bool is_searched; /* a word is searched in texts, because the trace has no event type with this name */
	/*
	 * The index is the event type.  The value is 1 if its name matches, -1 if its name does not match, and 0 if its
	 * name was not compared yet.
	 */
	signed char matches[];
};

/* Return true if the name of the event's type matches the text of the test. */
bool filter_matches_type(const struct filter *filter, struct source *source, const struct event *event);

/*
 * A word is the name of an event type, or a pattern of such names.  Others are searched in all texts of the event.
 * Return true if the event matches.
 */
bool filter_matches_word(const struct filter *filter, struct source *source, const struct event *event);
void filter_free_types(struct filter *filter);

/*
 * Return true if a comparison of two values holds.  order is less than 0 if the first value is less, 0 if they are
 * equal, and more than 0 if it is more.
 */
bool filter_compares(enum comparison operator, int order);

/* Return true if the trace has an event type whose name matches. */
bool filter_has_type(const char *glob, struct source *source);

/*
 * Return true if the name of the event or of its thread, or the data as print shows them, contains the word, in upper
 * or lower case, or if the bytes of the data contain it.
 */
bool filter_finds_word(const char *word, struct source *source, const struct event *event);

/* Compare a value of a described type: a text as text, and a number as a number or by its name. */
bool filter_matches_value(const struct filter *filter, const struct px_field_value *value);

#define FILTER_THREAD_BYTES 128

/*
 * In a log, the name of a thread ends with its tid.  Write the name without it.  Return false if there is no such end.
 * thread may be NULL.
 */
bool filter_short_thread(const struct txtrace_object *thread, const char *name, char text[FILTER_THREAD_BYTES]);

#endif
