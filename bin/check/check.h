/* SPDX-License-Identifier: MIT */
/*
 * Would TraceX take this trace buffer, and show it right?  Every rule that is known of how it reads a file: strictly in
 * sequence, header, registry, events up to the first unused slot; the direction of time by a vote of the stamps; objects
 * by the first match of a handle.
 *
 * The file is read three times: to find its end, to count votes, and in the order of time.
 */
#ifndef TXTRACE_CHECK_CHECK_H
#define TXTRACE_CHECK_CHECK_H

#include <stdint.h>

#include "check/findings.h"
#include "check/raw.h"

struct check_counts {
	uint64_t nr_objects, nr_threads, nr_events;
	uint64_t end; /* offset behind what belongs to the buffer; 0: it is not known */
};

/* The buffer at this offset of the file.  What is found is added, and so are the counts. */
void check_buffer(const struct raw_file *file, uint64_t offset, struct findings *findings,
		  struct check_counts *counts);

#endif
