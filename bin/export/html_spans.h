/* SPDX-License-Identifier: MIT */
/*
 * The slices of the timeline as the page needs them: a record of a span for each.  The comment at the top of records.js
 * describes it.  The page makes the instants from the events.  The slice of a lock has the name of the holder.
 */
#ifndef TXTRACE_EXPORT_HTML_SPANS_H
#define TXTRACE_EXPORT_HTML_SPANS_H

#include <stdint.h>

#include "base/intern.h"
#include "base/map.h"
#include "export/pack.h"
#include "export/timeline.h"

/* The page gives each row a number, so a thread without a handle gets one.  No handle of a log is as large. */
#define HTML_FIRST_NAMELESS 0xE0000000u

struct html_nameless {
	int pid, tid;
	char name[TRACK_NAME_BYTES];
};

struct html_spans {
	struct pack pack; /* the caller writes its end with pack_flush() */
	int64_t last_ns;  /* the caller sets it to the time of the first event of the source */
	struct intern names; /* of the spans and of their holders; in the page, the numbers begin at 0 */
	struct html_nameless *nameless; /* threads of which the log has only scheduling records */
	size_t nr_nameless;
	struct map nameless_of; /* key: the id of a track; value: index in nameless */
	struct html_open_slices *stacks; /* the index is the id of a track */
	size_t nr_stacks;
};

/* All bytes of *spans are 0.  The records go to text.  The caller frees the content with html_spans_free(). */
void html_spans_begin(struct html_spans *spans, struct text *text);
void html_spans_free(struct html_spans *spans);

/* The callbacks of timeline_begin(); arg is a struct html_spans. */
void html_spans_track(void *arg, const struct track *track);
void html_spans_mark(void *arg, const struct mark *mark);

#endif
