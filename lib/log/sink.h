/* SPDX-License-Identifier: MIT */
/* A destination for the bytes of a log that is written again: a file, or a part of a file. */
#ifndef PX_LOG_SINK_H
#define PX_LOG_SINK_H

#include <stddef.h>
#include <stdint.h>

struct px_log_sink {
	/*
	 * Write bytes at this offset.  If data is NULL, truncate the file to `offset` bytes.  Return 0 or an error
	 * number.
	 */
	int (*write)(void *argument, const void *data, size_t size, uint64_t offset);
	void *argument;
	uint64_t base; /* the sink adds this to each offset */
};

int px_log_sink_write(const struct px_log_sink *sink, const void *data, size_t size, uint64_t offset);
int px_log_sink_truncate(const struct px_log_sink *sink, uint64_t size);

/* Copy a part of a file to this offset, through memory of COPY_CHUNK bytes.  Return 0, EIO or an error of the sink. */
int px_log_sink_copy(const struct px_log_sink *sink, void *chunk, int from_fd, uint64_t from,
		     uint64_t to, uint64_t size);

#define PX_LOG_COPY_CHUNK 262144

/* A `write` of a sink whose argument points to a descriptor. */
int px_log_write_to_fd(void *fd, const void *data, size_t size, uint64_t offset);

#endif
