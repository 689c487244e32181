/* SPDX-License-Identifier: MIT */
/* All spans of the selected events, but for those that are lost: a viewer needs them in the order of their begins. */
#ifndef TXTRACE_EXPORT_SPAN_LIST_H
#define TXTRACE_EXPORT_SPAN_LIST_H

#include "report/spans.h"

struct span_list {
	struct spans spans; /* those of the options and of the program */
	struct span_time *time;
	size_t nr, room;
};

/*
 * Read the source.  `wanted` are the spans of the options.  Sort by the events that begin the spans, and before this by
 * the spans themselves if by_span is set.  The caller frees the list with span_list_free().
 */
void span_list_read(struct span_list *list, struct source *source, const struct selection *selection,
		    const struct spans *wanted, bool by_span);
void span_list_free(struct span_list *list);

#endif
