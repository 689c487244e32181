/* SPDX-License-Identifier: MIT */
#include "input/stream.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/message.h"

static size_t pull_file(struct stream *stream, void *to, size_t size)
{
	ssize_t n;

	do
		n = stream->is_seekable ? pread(stream->fd, to, size, (off_t)(stream->begin + stream->position)) :
					  read(stream->fd, to, size);
	while (n < 0 && errno == EINTR);
	if (n < 0) {
		stream->error = errno;
		stream->fault = "cannot be read";
	}
	return n > 0 ? (size_t)n : 0;
}

static size_t pull_part(struct stream *stream, void *to, size_t size)
{
	struct stream *below = stream->below;
	size_t n;

	if (stream->is_seekable && !stream_seek(below, stream->begin + stream->position))
		return 0;
	n = stream_read(below, to, size);
	if (n < size) {
		stream->fault = below->fault ? below->fault : "ends early";
		stream->error = below->error;
	}
	return n;
}

static void close_file(struct stream *stream)
{
	if (stream->fd > STDIN_FILENO)
		close(stream->fd);
}

static void close_nothing(struct stream *stream)
{
	(void)stream;
}

bool stream_open(struct stream *stream, const char *path)
{
	bool is_stdin = strcmp(path, "-") == 0;
	struct stat status;

	memset(stream, 0, sizeof(*stream));
	stream->pull = pull_file;
	stream->close = close_file;
	stream->size = UINT64_MAX;
	stream->fd = is_stdin ? STDIN_FILENO : open(path, O_RDONLY | O_CLOEXEC);
	if (stream->fd < 0 || fstat(stream->fd, &status) != 0) {
		message_error(errno, "%s", is_stdin ? "standard input" : path);
	} else if (S_ISDIR(status.st_mode)) {
		message("%s is a directory", path);
	} else {
		/* A device such as /dev/mem may have no size, but one can read it at any position. */
		off_t at = lseek(stream->fd, 0, SEEK_CUR);

		stream->is_seekable = at >= 0 && !S_ISCHR(status.st_mode);
		stream->begin = stream->is_seekable ? (uint64_t)at : 0;
		if (stream->is_seekable)
			posix_fadvise(stream->fd, at, 0, POSIX_FADV_SEQUENTIAL);
		return true;
	}
	stream_close(stream);
	return false;
}

void stream_open_part(struct stream *stream, struct stream *below, uint64_t size)
{
	memset(stream, 0, sizeof(*stream));
	stream->pull = pull_part;
	stream->close = close_nothing;
	stream->below = below;
	stream->fd = -1;
	stream->is_seekable = below->is_seekable;
	stream->begin = below->position;
	stream->size = size;
}

void stream_close(struct stream *stream)
{
	stream->close(stream);
	stream->fd = -1;
}

/* Read at the position behind the bytes that were peeked. */
static size_t fill(struct stream *stream, void *to, size_t size)
{
	size_t done = 0, n;

	if (size > stream->size - stream->position)
		size = (size_t)(stream->size - stream->position);
	while (done < size && !stream->fault && (n = stream->pull(stream, (char *)to + done, size - done)) > 0) {
		done += n;
		stream->position += n;
	}
	return done;
}

size_t stream_peek(struct stream *stream, const unsigned char **bytes)
{
	uint64_t position = stream->position;

	if (stream->nr_peeked < STREAM_PEEK) {
		memmove(stream->peeked, stream->peeked + stream->peeked_from, stream->nr_peeked);
		stream->peeked_from = 0;
		stream->position += stream->nr_peeked;
		stream->nr_peeked +=
			fill(stream, stream->peeked + stream->nr_peeked, STREAM_PEEK - stream->nr_peeked);
		stream->position = position;
	}
	*bytes = stream->peeked + stream->peeked_from;
	return stream->nr_peeked;
}

size_t stream_read(struct stream *stream, void *to, size_t size)
{
	size_t n = size < stream->nr_peeked ? size : stream->nr_peeked;

	memcpy(to, stream->peeked + stream->peeked_from, n);
	stream->peeked_from += n;
	stream->nr_peeked -= n;
	stream->position += n;
	return n + fill(stream, (char *)to + n, size - n);
}

bool stream_seek(struct stream *stream, uint64_t position)
{
	unsigned char skipped[16384];

	if (position == stream->position)
		return true;
	if (position > stream->size)
		return false;
	if (stream->is_seekable) {
		stream->position = position;
		stream->nr_peeked = 0;
		stream->peeked_from = 0;
		return true;
	}
	while (stream->position < position) {
		uint64_t rest = position - stream->position;

		if (stream_read(stream, skipped, rest < sizeof(skipped) ? (size_t)rest : sizeof(skipped)) == 0)
			return false;
	}
	return stream->position == position;
}

uint64_t stream_length(const struct stream *stream)
{
	struct stat status;

	if (stream->size != UINT64_MAX)
		return stream->size;
	/* A device has no size. */
	if (stream->fd < 0 || fstat(stream->fd, &status) != 0 || !S_ISREG(status.st_mode))
		return UINT64_MAX;
	return (uint64_t)status.st_size;
}
