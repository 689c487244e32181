/* SPDX-License-Identifier: MIT */
/* Finds out what a stream is, unpacks it if necessary, and scans its memory. */
#ifndef TXTRACE_EXTRACT_WALK_H
#define TXTRACE_EXTRACT_WALK_H

#include "extract/scan.h"
#include "input/stream.h"

struct walk {
	struct scan *scan;
	const struct stream *file; /* the file itself */
	const char *path;
	const char *member; /* the file in the archive that is being scanned, or NULL */
	uint64_t ratio;	    /* input/unpack.h */
	bool has_faults;    /* something was missing, and a message said what */
};

/* Scan a stream.  Print messages for what is damaged or missing. */
void walk_stream(struct walk *walk, struct stream *stream);

#endif
