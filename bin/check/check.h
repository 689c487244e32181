/* SPDX-License-Identifier: MIT */
/*
 * Check whether TraceX opens a trace buffer and shows it correctly. The check applies all known rules by which TraceX
 * reads a file. TraceX reads the header, then the registry, then the events up to the first unused slot. It finds the
 * direction of time by a vote of the stamps. If several objects have the same handle, TraceX takes the first object.
 *
 * The check reads the file three times: to find its end, to count the votes, and in the order of time.
 */
#ifndef TXTRACE_CHECK_CHECK_H
#define TXTRACE_CHECK_CHECK_H

#include <stdint.h>

#include "check/findings.h"
#include "check/raw.h"

struct check_counts {
	uint64_t nr_objects, nr_threads, nr_events;
	uint64_t end; /* offset of the end of the buffer, or 0 if unknown */
};

/* Check the buffer at this offset of the file. Add findings and counts. */
void check_buffer(const struct raw_file *file, uint64_t offset, struct findings *findings,
		  struct check_counts *counts);

#endif
