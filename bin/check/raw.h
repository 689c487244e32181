/* SPDX-License-Identifier: MIT */
/*
 * The raw bytes of a ThreadX trace buffer, in either byte order.  They may also come from a text: Intel HEX, S-records,
 * or plain hexadecimal digits. This reader shares no code with the library's reader, so that `txtrace check` is a
 * second opinion.
 *
 * This reader reads binary files in pieces, and keeps a converted text in memory.
 */
#ifndef TXTRACE_CHECK_RAW_H
#define TXTRACE_CHECK_RAW_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define RAW_HEADER_BYTES 48
#define RAW_OBJECT_BYTES 16 /* bytes before the name */
#define RAW_NAME_MAX 63
#define RAW_EVENT_BYTES 32
#define RAW_WINDOW 2048 /* events per read */

struct raw_file {
	int fd;
	uint64_t size; /* size of the data; size after conversion if the file is a text */
	bool is_text;
	bool big_endian;
	unsigned char *bytes; /* a converted text; otherwise NULL */
	/*
	 * Numbers of lines in a text: the first one that does not continue the previous line, and the first one with a
	 * wrong checksum; 0: none.
	 */
	unsigned long jump_line, damaged_line;
};

struct raw_header {
	uint32_t time_mask, base, registry_start, registry_end, buffer_start, buffer_end, current;
	uint32_t name_size;
};

struct raw_object {
	uint32_t available, type, priority_high, priority_low;
	uint32_t handle, parameter[2];
	bool is_full; /* the name has no terminating null */
	char name[RAW_NAME_MAX + 1];
};

struct raw_event {
	uint32_t context, priority, id, stamp, info[4];
};

/* The part of the file around the last event that was read. */
struct raw_window {
	uint64_t offset; /* offset of bytes[0] in the file; UINT64_MAX: nothing was read yet */
	size_t size;
	unsigned char bytes[RAW_WINDOW * RAW_EVENT_BYTES];
};

/* Return false, with a message, if the file cannot be read or is not a trace buffer. */
bool raw_open(struct raw_file *file, const char *path);
void raw_close(struct raw_file *file);

/* Read bytes at this offset. Return the number of bytes read. */
size_t raw_read(const struct raw_file *file, uint64_t offset, void *to, size_t size);

/* Read the header at this offset.  Return false if the file ends within the header. */
bool raw_header(const struct raw_file *file, uint64_t offset, struct raw_header *header);
/* Read the object at this offset.  Return false if the file ends within the object. */
bool raw_object(const struct raw_file *file, uint64_t offset, uint32_t name_size,
		struct raw_object *object);
/* Read the event at this offset.  Return false if the file ends within the event. */
bool raw_event(const struct raw_file *file, struct raw_window *window, uint64_t offset,
	       struct raw_event *event);

#endif
