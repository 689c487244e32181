/* SPDX-License-Identifier: MIT */
/*
 * The bytes of a trace buffer of ThreadX as they are, in either byte order, also as text: Intel HEX, S-records, bare
 * hex digits.  It owes nothing to the library's reader, so that `txtrace check` is a second opinion.
 *
 * Binary files are read in pieces; what a text says is in memory.
 */
#ifndef TXTRACE_CHECK_RAW_H
#define TXTRACE_CHECK_RAW_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define RAW_HEADER_BYTES 48
#define RAW_OBJECT_BYTES 16 /* before the name */
#define RAW_NAME_MAX 63
#define RAW_EVENT_BYTES 32
#define RAW_WINDOW 2048 /* events read at once */

struct raw_file {
	int fd;
	uint64_t size; /* of what is read: of a text, what it says */
	bool is_text;
	bool big_endian;
	unsigned char *bytes; /* of a text; else NULL */
	/* Of a text: the first line that does not go on where the one before ended, and the first with a wrong checksum; 0: none. */
	unsigned long jump_line, damaged_line;
};

struct raw_header {
	uint32_t time_mask, base, registry_start, registry_end, buffer_start, buffer_end, current;
	uint32_t name_size;
};

struct raw_object {
	uint32_t available, type, priority_high, priority_low;
	uint32_t handle, parameter[2];
	bool is_full; /* the name has no end */
	char name[RAW_NAME_MAX + 1];
};

struct raw_event {
	uint32_t context, priority, id, stamp, info[4];
};

/* The events around the one looked at last. */
struct raw_window {
	uint64_t offset; /* of events[0]; UINT64_MAX: nothing was read */
	size_t size;
	unsigned char bytes[RAW_WINDOW * RAW_EVENT_BYTES];
};

/* False: it cannot be read, or is no trace buffer at all, and that was said. */
bool raw_open(struct raw_file *file, const char *path);
void raw_close(struct raw_file *file);

/* How many bytes could be read there. */
size_t raw_read(const struct raw_file *file, uint64_t offset, void *to, size_t size);

/* Which of the parts at this offset are there as a whole. */
bool raw_header(const struct raw_file *file, uint64_t offset, struct raw_header *header);
bool raw_object(const struct raw_file *file, uint64_t offset, uint32_t name_size,
		struct raw_object *object);
bool raw_event(const struct raw_file *file, struct raw_window *window, uint64_t offset,
	       struct raw_event *event);

#endif
