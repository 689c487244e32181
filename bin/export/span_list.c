/* SPDX-License-Identifier: MIT */
#include "export/span_list.h"

#include <stdlib.h>

#include "base/memory.h"

static void take_span(void *arg, const struct span_time *time)
{
	struct span_list *list = arg;

	if (time->ending == SPAN_LOST)
		return;
	if (list->nr == list->room) {
		list->room = list->room ? 2 * list->room : 256;
		list->time = must(reallocarray(list->time, list->room, sizeof(*list->time)));
	}
	list->time[list->nr++] = *time;
}

static int by_number(const void *a, const void *b)
{
	const struct span_time *left = a, *right = b;

	if (left->number != right->number)
		return left->number < right->number ? -1 : 1;
	return (left->span > right->span) - (left->span < right->span);
}

static int by_span_and_number(const void *a, const void *b)
{
	const struct span_time *left = a, *right = b;

	if (left->span != right->span)
		return left->span < right->span ? -1 : 1;
	return by_number(a, b);
}

void span_list_read(struct span_list *list, struct source *source, const struct selection *selection,
		    const struct spans *wanted, bool by_span)
{
	*list = (struct span_list){.spans = {.take = take_span, .arg = list}};
	spans_copy(&list->spans, wanted);
	spans_add_described(&list->spans, source);
	if (list->spans.nr > 0) {
		spans_read(&list->spans, source, selection);
		spans_report_keys(&list->spans, source);
	}
	if (list->nr > 0)
		qsort(list->time, list->nr, sizeof(*list->time), by_span ? by_span_and_number : by_number);
}

void span_list_free(struct span_list *list)
{
	free(list->time);
	spans_free(&list->spans);
}
