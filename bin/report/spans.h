/* SPDX-License-Identifier: MIT */
/*
 * Spans: the time from an event to a later one of the same thread, or with the same value in its data.  A call that
 * waited has two events; its first one counts.
 *
 * A span that begins again before it has ended is lost: its end is missing.  Where events are missing in the trace, all
 * spans are lost that have begun before.
 *
 * Memory use depends on the number of spans that are open at the same time.
 */
#ifndef TXTRACE_REPORT_SPANS_H
#define TXTRACE_REPORT_SPANS_H

#include <stdbool.h>
#include <stdint.h>

#include "base/map.h"
#include "trace/selection.h"

#define SPANS_MAX 64

struct span {
	char *name, *begins, *ends; /* begins and ends are globs for names of events, or names if is_described */
	bool is_described;
	unsigned int key_bytes, key_offset; /* the number in the data that pairs events, if key_bytes is not 0 */
	char *key_field;		    /* or the path of the field that does; NULL: the thread does */
	struct map begun;		    /* key: of the pair; value: pointer to the struct span_time, or 0 */
	uint64_t nr_open;
	uint64_t nr_without_begin; /* events that end no span */
	uint64_t nr_without_key;   /* events whose data do not have the value that pairs them */
	unsigned char *role;	   /* index: event type; 0: not known yet */
};

enum span_role { SPAN_BEGINS = 1, SPAN_ENDS = 2 };

enum span_ending {
	SPAN_ENDED,
	SPAN_OPEN, /* its end is not in the selected events */
	SPAN_LOST
};

struct span_time {
	unsigned int span; /* index */
	unsigned int context; /* of the event that begins it */
	uint64_t number;      /* of this event */
	/* end_ns is that of the last event if the span is open, and not known if it is lost. */
	int64_t begin_ns, end_ns;
	enum span_ending ending;
};

struct spans {
	struct span span[SPANS_MAX];
	unsigned int nr;
	/* Called for each span, in the order of their ends.  May be NULL. */
	void (*take)(void *arg, const struct span_time *time);
	void *arg;
	int64_t last_ns;
};

/*
 * Parse "NAME=BEGIN..END", with ":u32[OFFSET]" or ":FIELD" after it for a number or a field of the data, and add the
 * span.  If it is wrong, print a message and return false.
 */
bool spans_add(struct spans *spans, const char *text);

/*
 * Parse "SENT..RECEIVED:KEY", with a key as above, and add it: the events of a message.  If it is wrong, print a
 * message and return false.
 */
bool spans_add_message(struct spans *spans, const char *text);

/*
 * Return which ends of a span an event is, values of enum span_role, and its key.  0: none, or its data do not have the
 * key.  Call spans_forget() before the events of another file.
 */
unsigned int spans_role(struct span *span, struct source *source, const struct event *event, uint64_t *key);

/* Add copies of all spans of `from`, which may be NULL. */
void spans_copy(struct spans *spans, const struct spans *from);

/* Add the spans that the program has described, but for those whose name an option has. */
void spans_add_described(struct spans *spans, struct source *source);

/*
 * Push the next event of a file, as source_next() or calls_next() returns it.  is_selected: it may begin or end spans.
 */
void spans_event(struct spans *spans, struct source *source, const struct event *event, bool is_selected);

/* Call this after the last event. */
void spans_end(struct spans *spans);

/* Read all events of the selection from the beginning of the file, and end the spans. */
void spans_read(struct spans *spans, struct source *source, const struct selection *selection);

/* Say which spans have events whose data do not have the value that pairs them. */
void spans_report_keys(const struct spans *spans, const struct source *source);

/* Forget the events, so that another file can be read.  The spans stay. */
void spans_forget(struct spans *spans);
void spans_free(struct spans *spans);

#endif
