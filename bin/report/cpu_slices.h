/* SPDX-License-Identifier: MIT */
/*
 * Which thread runs when in a ThreadX buffer: a slice from one context switch to the next, so slices do not overlap.
 * Slices are cut to the range of the selection.  All events of the file are used, also those that are filtered out.
 * The file is read once more.
 */
#ifndef TXTRACE_REPORT_CPU_SLICES_H
#define TXTRACE_REPORT_CPU_SLICES_H

#include <stdint.h>

#include "trace/filter.h"
#include "trace/source.h"

/* Call runs() for each slice, but not for idle time.  Times are those of events, in ns. */
void cpu_slices_report(struct source *source, const struct selection *selection,
		       void (*runs)(void *arg, unsigned int context, int64_t from_ns,
				    int64_t until_ns),
		       void *arg);

#endif
