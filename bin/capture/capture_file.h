/* SPDX-License-Identifier: MIT */
/*
 * A trace buffer as a file that grows.  The header is made anew after each step, so the file is whole at any time, also
 * if the tool is killed.
 */
#ifndef TXTRACE_CAPTURE_CAPTURE_FILE_H
#define TXTRACE_CAPTURE_CAPTURE_FILE_H

#include <stdbool.h>
#include <stdint.h>

#include "capture/target_buffer.h"

struct capture_file {
	const char *path;
	int fd;
	uint64_t nr_entries;
};

/* Make the file.  After a failure, print a message and return false. */
bool capture_file_open(struct capture_file *file, const char *path, bool overwrites);

/* Append n entries, and write registry and header of the buffer.  After a failure, print a message and return false. */
bool capture_file_append(struct capture_file *file, const struct target_buffer *buffer, const unsigned char *entries,
			 uint32_t n);

/* Close the file.  If it has no entry, remove it. */
bool capture_file_close(struct capture_file *file);

#endif
