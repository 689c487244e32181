/* SPDX-License-Identifier: MIT */
/*
 * Does TraceX open this trace buffer, and show it correctly? All known rules of how TraceX reads a file: it reads in
 * sequence header, registry, events up to the first unused slot; the stamps vote on the direction of time; it takes the
 * first object with a handle.
 *
 * The file is read three times: to find its end, to count the votes, and in the order of time.
 */
#ifndef TXTRACE_CHECK_CHECK_H
#define TXTRACE_CHECK_CHECK_H

#include <stdint.h>

#include "check/findings.h"
#include "check/raw.h"

struct check_counts {
	uint64_t nr_objects, nr_threads, nr_events;
	uint64_t end; /* offset of the end of the buffer; 0: not known */
};

/* Check the buffer at this offset of the file. Add findings and counts. */
void check_buffer(const struct raw_file *file, uint64_t offset, struct findings *findings,
		  struct check_counts *counts);

#endif
