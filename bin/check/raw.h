/* SPDX-License-Identifier: MIT */
/*
 * The raw bytes of a ThreadX trace buffer, in either byte order.  They may also come from a text: Intel HEX, S-records,
 * or plain hexadecimal digits. This reader shares no code with the library's reader.  So an error in the library does
 * not hide a fault from `txtrace check`.
 *
 * This reader reads a binary file in pieces.  It keeps the bytes of a converted text in memory.
 */
#ifndef TXTRACE_CHECK_RAW_H
#define TXTRACE_CHECK_RAW_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define RAW_HEADER_BYTES 48
#define RAW_OBJECT_BYTES 16 /* number of bytes of an object before its name */
#define RAW_NAME_MAX 63
#define RAW_EVENT_BYTES 32
#define RAW_WINDOW 2048 /* number of events in a read */

struct raw_file {
	int fd;
	uint64_t size; /* size of the file; if the file is a text, the size after conversion */
	bool is_text;
	bool big_endian;
	unsigned char *bytes; /* the bytes of a converted text; otherwise NULL */
	/*
	 * Numbers of lines in a text: the first line whose address does not continue the previous line, and the first
	 * line with a wrong checksum. 0 means that there is no such line.
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
	bool is_full; /* the name fills its field and has no terminating null */
	char name[RAW_NAME_MAX + 1];
};

struct raw_event {
	uint32_t context, priority, id, stamp, info[4];
};

/* The part of the file around the last event that was read. */
struct raw_window {
	uint64_t offset; /* offset of bytes[0] in the file, or UINT64_MAX before the first read */
	size_t size;
	unsigned char bytes[RAW_WINDOW * RAW_EVENT_BYTES];
};

/* If the file cannot be read or is not a trace buffer, print a message and return false. */
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
