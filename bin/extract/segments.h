/* SPDX-License-Identifier: MIT */
/* Files that say where their bytes were in memory: core files of ELF and minidumps of Windows. */
#ifndef TXTRACE_EXTRACT_SEGMENTS_H
#define TXTRACE_EXTRACT_SEGMENTS_H

#include "extract/scan.h"
#include "input/stream.h"

#define SEGMENTS_MAX (1u << 20) /* a process has at most 65530 mappings unless its administrator allows more */

struct segment {
	uint64_t address, offset, size;
};

struct segments {
	struct segment *segment;
	size_t nr;
};

/*
 * Read the table of segments at the beginning of the stream.  Return NULL, or why the file is not what its first bytes
 * say; then there are no segments.  The caller frees segments->segment.
 */
const char *core_read(struct segments *segments, struct stream *stream);
const char *minidump_read(struct segments *segments, struct stream *stream);

/* Return true if a file that begins with these bytes is such a file. */
bool core_is(const unsigned char *bytes, size_t size);
bool minidump_is(const unsigned char *bytes, size_t size);

/*
 * Scan the segments in the order of their addresses, or, if the stream is not seekable, of their offsets.  Segments
 * that follow each other are one run.  Set *missing to the number of bytes that the stream does not have.
 *
 * A hostile table can name the same bytes millions of times.  Return false if the segments have many times the bytes of
 * the file; then not all of them were scanned.
 */
bool segments_scan(struct segments *segments, struct stream *stream, struct scan *scan, uint64_t *missing);

#endif
