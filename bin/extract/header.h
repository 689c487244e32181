/* SPDX-License-Identifier: MIT */
/* The header of a trace buffer in arbitrary memory: is it one? */
#ifndef TXTRACE_EXTRACT_HEADER_H
#define TXTRACE_EXTRACT_HEADER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define HEADER_BYTES 48
#define HEADER_ENTRY_BYTES 32
#define HEADER_OBJECT_BYTES 16 /* an object without its name */
#define HEADER_NAME_MAX 63     /* TraceX refuses longer names */

struct header {
	bool is_big;
	uint32_t mask, base, registry_start, registry_end, buffer_start, buffer_end, current;
	uint32_t name_size, nr_objects, nr_slots;
	uint64_t size; /* of the whole buffer in bytes */
};

/* Return the word at a place, in the byte order of the header. */
uint32_t header_word(const struct header *header, const unsigned char *at);

/*
 * Read the header in HEADER_BYTES bytes that begin with TXTB or BTXT.  Return NULL, or the rule that its words break.
 * The rules are what tx_trace_enable() computes: the parts follow each other without gaps, from the base on, and are
 * whole numbers of objects and entries, and the current entry is one of them.
 */
const char *header_read(struct header *header, const unsigned char *bytes);

#endif
