/* SPDX-License-Identifier: MIT */
#include "input/relay.h"

#include <endian.h>
#include <errno.h>
#include <stdint.h>
#include <string.h>
#include <unistd.h>

#include "base/files.h"
#include "base/message.h"

bool relay_is(const unsigned char *bytes, size_t size)
{
	return size >= RELAY_MAGIC_BYTES && memcmp(bytes, RELAY_MAGIC, RELAY_MAGIC_BYTES) == 0;
}

bool relay_is_file(int fd)
{
	unsigned char bytes[RELAY_MAGIC_BYTES];

	return pread(fd, bytes, sizeof(bytes), 0) == sizeof(bytes) && relay_is(bytes, sizeof(bytes));
}

bool relay_print(int fd, const char *path)
{
	if (!relay_is_file(fd))
		return false;
	message("%s is what record -o - sends, and not yet a log; " RELAY_HOW, path);
	return true;
}

struct frame {
	unsigned char what;
	uint64_t offset;
	uint32_t length;
	unsigned char raw[RELAY_FRAME + RELAY_LONGEST];
};

static bool parse(struct frame *frame)
{
	frame->what = frame->raw[0];
	memcpy(&frame->offset, frame->raw + 1, sizeof(frame->offset));
	memcpy(&frame->length, frame->raw + 9, sizeof(frame->length));
	frame->offset = le64toh(frame->offset);
	frame->length = le32toh(frame->length);
	return frame->offset <= INT64_MAX - RELAY_LONGEST &&
	       (frame->what == RELAY_BYTES ? frame->length <= RELAY_LONGEST : frame->length == 0);
}

/* Return false at the end of the stream, and at what is no frame. */
static bool read_frame(struct stream *stream, struct frame *frame)
{
	return stream_read(stream, frame->raw, RELAY_FRAME) == RELAY_FRAME && parse(frame) &&
	       stream_read(stream, frame->raw + RELAY_FRAME, frame->length) == frame->length;
}

static int write_at(int fd, const unsigned char *bytes, size_t size, uint64_t offset)
{
	while (size > 0) {
		ssize_t n = pwrite(fd, bytes, size, (off_t)offset);

		if (n < 0 && errno == EINTR)
			continue;
		if (n <= 0)
			return n < 0 ? errno : EIO;
		bytes += n;
		size -= (size_t)n;
		offset += (uint64_t)n;
	}
	return 0;
}

/* Write the frames of the spare file into the file, which then has this size.  Return 0 or an error number. */
static int apply(int fd, int spare, uint64_t size)
{
	struct frame frame;
	off_t at = 0;
	int error = 0;

	while (error == 0 && pread(spare, frame.raw, RELAY_FRAME, at) == RELAY_FRAME && parse(&frame) &&
	       pread(spare, frame.raw, frame.length, at + RELAY_FRAME) == (ssize_t)frame.length) {
		error = write_at(fd, frame.raw, frame.length, frame.offset);
		at += RELAY_FRAME + (off_t)frame.length;
	}
	return error == 0 && ftruncate(fd, (off_t)size) != 0 ? errno : error;
}

static int forget(int spare)
{
	return lseek(spare, 0, SEEK_SET) != 0 || ftruncate(spare, 0) != 0 ? errno : 0;
}

int relay_receive(struct stream *stream, const char *path, int fd, int spare, bool *is_cut)
{
	struct frame frame;
	bool is_complete = false, has_log = false;
	int error = 0;

	stream_read(stream, frame.raw, RELAY_MAGIC_BYTES);
	while (error == 0 && !is_complete && read_frame(stream, &frame)) {
		is_complete = frame.what == RELAY_END;
		if (frame.what == RELAY_BYTES)
			error = write_all(spare, frame.raw, RELAY_FRAME + frame.length);
		else if (frame.what == RELAY_STATE || is_complete)
			error = apply(fd, spare, frame.offset);
		else if (frame.what != RELAY_DROP)
			break;
		has_log |= is_complete || frame.what == RELAY_STATE;
		if (frame.what != RELAY_BYTES && error == 0)
			error = forget(spare);
	}
	if (error == 0 && stream->error)
		error = stream->error;
	*is_cut = !is_complete;
	if (error || is_complete)
		return error;
	if (has_log)
		message("%s: the log that was sent ends early, and what was recorded after that is not here", path);
	else
		message("%s: the log that was sent ends early, before any part of it was here", path);
	return has_log ? 0 : ENODATA;
}
