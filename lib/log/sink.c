/* SPDX-License-Identifier: MIT */
#include "log/sink.h"

#include <errno.h>
#include <unistd.h>

#include "txtb/file.h"

int px_log_sink_write(const struct px_log_sink *sink, const void *data, size_t size, uint64_t offset)
{
	return size > 0 ? sink->write(sink->argument, data, size, sink->base + offset) : 0;
}

int px_log_sink_truncate(const struct px_log_sink *sink, uint64_t size)
{
	return sink->write(sink->argument, NULL, 0, sink->base + size);
}

int px_log_sink_copy(const struct px_log_sink *sink, void *chunk, int from_fd, uint64_t from,
		     uint64_t to, uint64_t size)
{
	int error = 0;

	while (!error && size > 0) {
		size_t part = size < PX_LOG_COPY_CHUNK ? (size_t)size : PX_LOG_COPY_CHUNK;

		if (px_txtb_file_read(from_fd, chunk, part, from) != part)
			error = EIO;
		else
			error = px_log_sink_write(sink, chunk, part, to);
		from += part;
		to += part;
		size -= part;
	}
	return error;
}

int px_log_write_to_fd(void *argument, const void *data, size_t size, uint64_t offset)
{
	const char *from = data;
	int fd = *(const int *)argument;

	if (!data)
		return ftruncate(fd, (off_t)offset) == 0 ? 0 : errno;
	while (size > 0) {
		ssize_t written = pwrite(fd, from, size, (off_t)offset);

		if (written < 0 && errno == EINTR)
			continue;
		if (written <= 0)
			return written < 0 ? errno : EIO;
		from += written;
		offset += (uint64_t)written;
		size -= (size_t)written;
	}
	return 0;
}
