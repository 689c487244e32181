/* SPDX-License-Identifier: MIT */
/*
 * Who runs when in a ThreadX buffer, as stretches of time: from one switch to the next, so they do not overlap.
 * What of them lies in the range of the selection is told; the filter does not matter, as who runs follows from all
 * events.  The file is read once more for it.
 */
#ifndef TXTRACE_REPORT_CPU_SLICES_H
#define TXTRACE_REPORT_CPU_SLICES_H

#include <stdint.h>

#include "trace/filter.h"
#include "trace/source.h"

/* Idle time is not told.  Times are on the scale of events. */
void cpu_slices_report(struct source *source, const struct selection *selection,
		       void (*runs)(void *arg, unsigned int context, int64_t from_ns,
				    int64_t until_ns),
		       void *arg);

#endif
