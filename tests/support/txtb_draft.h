/* SPDX-License-Identifier: MIT */
/*
 * Trace buffers that a test writes by hand: a header, then bytes, in either byte order.  Nothing here uses lib/.
 *
 * A test calls draft_begin(), draft_add_object(), draft_begin_events(), draft_add_event() and draft_end(), in this
 * order.  It may then change members of `draft`, and call draft_end() again.
 */
#ifndef TESTS_SUPPORT_TXTB_DRAFT_H
#define TESTS_SUPPORT_TXTB_DRAFT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "support/txtb_checker.h"

#define DRAFT_BASE 0x00010000u
#define DRAFT_NAME_SIZE 32
#define DRAFT_ENTRY_BYTES 32u

extern struct draft {
	bool big_endian;
	/* draft_end() writes these members into the header. */
	uint32_t time_mask, registry_start, registry_end, buffer_start, buffer_end, current;
	uint32_t name_size;
	size_t size;
	unsigned char bytes[1 << 20];
} draft;

/* Write a number at this offset, and at the end. */
void draft_put_at(size_t at, uint32_t value, unsigned int nr_bytes);
void draft_put(uint32_t value, unsigned int nr_bytes);

void draft_begin(bool big_endian, uint32_t name_size);

/* The handle determines the other bytes of an object. */
void draft_add_object_with(uint32_t type, uint32_t handle, uint32_t priority_bytes, const char *name);
void draft_add_object(uint32_t type, uint32_t handle, const char *name);
void draft_begin_events(void);

/* The information word i (1 to 4) of an event is id * 16 + stamp * 256 + i. */
void draft_add_event_with(uint32_t context, uint32_t priority, uint32_t id, uint32_t stamp);

/* An event with priority 5 and preemption threshold 7. */
void draft_add_event(uint32_t context, uint32_t id, uint32_t stamp);
void draft_end(void);

/* Run the checker on a copy that ends where the bytes end, so that a sanitizer reports each read beyond the end. */
enum txtb_verdict draft_check(const void *bytes, size_t size, struct txtb_trace *trace);

#endif
