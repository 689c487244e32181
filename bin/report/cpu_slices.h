/* SPDX-License-Identifier: MIT */
/*
 * The periods (slices) in which each thread runs, in a ThreadX buffer.  A slice lasts from one context switch to the
 * next, so slices do not overlap.  A slice is cut off at the ends of the selected range.  The filter has no effect,
 * because the slices come from all events of the file.  cpu_slices_report() reads the whole file again.
 */
#ifndef TXTRACE_REPORT_CPU_SLICES_H
#define TXTRACE_REPORT_CPU_SLICES_H

#include <stdint.h>

#include "trace/selection.h"
#include "trace/source.h"

/*
 * Call runs() for each slice, but not for idle time.  from_ns and until_ns are in the same clock as the times of
 * events.
 */
void cpu_slices_report(struct source *source, const struct selection *selection,
		       void (*runs)(void *arg, unsigned int context, int64_t from_ns,
				    int64_t until_ns),
		       void *arg);

#endif
