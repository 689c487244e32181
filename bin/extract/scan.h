/* SPDX-License-Identifier: MIT */
/*
 * Finds trace buffers in runs of bytes.  A run is a piece of memory without gaps; a buffer cannot continue in another
 * run.  The scanner passes the bytes of each buffer on as they come and keeps none of them, so it needs a fixed amount
 * of memory.
 *
 * A buffer whose header is right may still be a false hit, so the scanner looks for others within it.
 */
#ifndef TXTRACE_EXTRACT_SCAN_H
#define TXTRACE_EXTRACT_SCAN_H

#include "extract/header.h"

#define SCAN_CHUNK (256 * 1024) /* bytes of a read: they fit into the second cache */
#define SCAN_BUFFERS 64		/* buffers that may overlap */

struct found {
	struct header header;
	bool has_offset, has_address;
	uint64_t offset;  /* of the header, in the stream */
	uint64_t address; /* of the header, if the file says what its bytes' addresses are */
	uint64_t size;	  /* bytes of the buffer that the run has */
	uint32_t nr_read; /* entries that the run has */
	uint32_t nr_used; /* entries with a context */
	uint32_t nr_odd;  /* entries with a context that ThreadX does not write */
	uint32_t nr_named; /* objects that have a type */
	uint32_t nr_odd_objects;
};

struct scan_calls {
	/* A buffer begins.  The result identifies it for the other calls. */
	void *(*begin)(void *argument, const struct found *found);
	/* The next bytes of the buffer. */
	void (*bytes)(void *item, const unsigned char *bytes, size_t size);
	/* The buffer ends, or its run. */
	void (*end)(void *argument, void *item, const struct found *found);
	/* These bytes are no buffer, because of this reason. */
	void (*reject)(void *argument, const struct found *found, const char *reason);
};

struct scan;

struct scan *scan_new(const struct scan_calls *calls, void *argument);
void scan_free(struct scan *scan);

/*
 * Begin a run.  *place has the members offset and address of the first byte.  Buffers that begin after the first
 * `length` bytes do not count.
 */
void scan_begin(struct scan *scan, const struct found *place, uint64_t length);
/* Return memory for up to SCAN_CHUNK bytes that follow in the run. */
unsigned char *scan_space(struct scan *scan);
/* The memory that scan_space() returned holds the next n bytes of the run. */
void scan_filled(struct scan *scan, size_t n);
/* Return true if a buffer is not complete. */
bool scan_is_within(const struct scan *scan);
/* The next byte has this offset in the stream, though the run goes on. */
void scan_move(struct scan *scan, uint64_t offset);
void scan_end(struct scan *scan);

#endif
