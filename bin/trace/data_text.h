/* SPDX-License-Identifier: MIT */
/* The data of an event as text, in all commands that show them. */
#ifndef TXTRACE_TRACE_DATA_TEXT_H
#define TXTRACE_TRACE_DATA_TEXT_H

#include <stdbool.h>
#include <stddef.h>

#include "base/output.h"
#include "trace/source.h"

#define DATA_FILTERS_BYTES 512 /* a usual size of the text of data_filters() */

/*
 * If the data are the filters of a START or of a FILTER event, write them as text: "filter=none", or the filtered
 * types. Otherwise return false.
 */
bool data_filters(char *text, size_t size, struct source *source, const struct event *event);

/*
 * Print the data of an event: its fields, or the information words of ThreadX.  Data without a description are hex
 * digits in groups of four bytes, because they may be anything.
 */
void print_data(struct text *text, struct source *source, const struct event *event);

/* Return the output of print_data() as a string.  It is valid until the next call. */
const char *data_as_string(struct source *source, const struct event *event);

#endif
