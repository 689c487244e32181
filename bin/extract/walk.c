/* SPDX-License-Identifier: MIT */
#include "extract/walk.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/message.h"
#include "extract/segments.h"
#include "extract/text.h"
#include "input/unpack.h"

#define DEPTH 6 /* archives in compressed files in archives ... */

#define TAR_BLOCK 512
#define TAR_MAGIC 257
#define TAR_SIZE 124
#define TAR_SIZE_DIGITS 12
#define TAR_SUM 148
#define TAR_SUM_DIGITS 8
#define TAR_TYPE 156
#define TAR_NAME 100

static void walk_at(struct walk *walk, struct stream *stream, unsigned int depth);

static const char *name_of_walk(const struct walk *walk, char *text, size_t size)
{
	snprintf(text, size, walk->member ? "%s: %s" : "%s",
		 strcmp(walk->path, "-") == 0 ? "standard input" : walk->path, walk->member);
	return text;
}

static void complain(struct walk *walk, int error, const char *fault)
{
	char name[4096];

	name_of_walk(walk, name, sizeof(name));
	walk->has_faults = true;
	if (error)
		message_error(error, "%s", name);
	else
		message("%s: %s", name, fault);
}

static void walk_raw(struct walk *walk, struct stream *stream)
{
	struct found place = {.has_offset = true, .offset = stream->position};
	size_t n;

	scan_begin(walk->scan, &place, UINT64_MAX);
	while ((n = stream_read(stream, scan_space(walk->scan), SCAN_CHUNK)) > 0)
		scan_filled(walk->scan, n);
	scan_end(walk->scan);
}

static void walk_segments(struct walk *walk, struct stream *stream,
			  const char *(*read)(struct segments *segments, struct stream *stream))
{
	struct segments segments;
	const char *fault = read(&segments, stream);
	uint64_t missing;

	if (fault) {
		char text[256];

		snprintf(text, sizeof(text), "%s: its bytes have no addresses", fault);
		complain(walk, 0, text);
		if (stream->is_seekable)
			stream_seek(stream, 0);
		walk_raw(walk, stream);
	} else {
		if (!segments_scan(&segments, stream, walk->scan, &missing))
			complain(walk, 0, "its segments have far more bytes than the file: the last ones are left out");
		if (missing > 0 && !stream->fault) {
			char text[96];

			snprintf(text, sizeof(text), "%llu bytes of its memory are missing: the file was cut",
				 (unsigned long long)missing);
			complain(walk, 0, text);
		}
	}
	free(segments.segment);
}

static void walk_text(struct walk *walk, struct stream *stream)
{
	struct text_faults faults;
	char text[96];

	text_scan(stream, walk->scan, &faults);
	snprintf(text, sizeof(text), "%lu lines are no records, and %lu records have a wrong checksum",
		 faults.nr_lines, faults.nr_damaged);
	if (faults.nr_lines > 0 || faults.nr_damaged > 0)
		complain(walk, 0, text);
}

/* A number of a tar header: octal digits, or, with the highest bit set, a binary number.  UINT64_MAX: neither. */
static uint64_t tar_number(const unsigned char *at, size_t size)
{
	uint64_t value = 0;

	if (at[0] == 0x80) {
		for (size_t i = size - 8; i < size; i++)
			value = value << 8 | at[i];
		return value;
	}
	while (size > 0 && *at == ' ') {
		at++;
		size--;
	}
	for (; size > 0 && *at != 0 && *at != ' '; at++, size--) {
		if (*at < '0' || *at > '7')
			return UINT64_MAX;
		value = value << 3 | (uint64_t)(*at - '0');
	}
	return value;
}

static bool tar_is(const unsigned char *bytes, size_t size)
{
	uint64_t sum = 0;

	if (size < TAR_BLOCK || memcmp(bytes + TAR_MAGIC, "ustar", 5) != 0)
		return false;
	for (size_t i = 0; i < TAR_BLOCK; i++)
		sum += i >= TAR_SUM && i < TAR_SUM + TAR_SUM_DIGITS ? ' ' : bytes[i];
	return sum == tar_number(bytes + TAR_SUM, TAR_SUM_DIGITS);
}

static void walk_tar(struct walk *walk, struct stream *stream, unsigned int depth)
{
	const unsigned char *bytes;
	size_t nr = stream_peek(stream, &bytes);

	for (; tar_is(bytes, nr); nr = stream_peek(stream, &bytes)) {
		uint64_t size = tar_number(bytes + TAR_SIZE, TAR_SIZE_DIGITS), end;
		char name[TAR_NAME + 1];
		unsigned char type = bytes[TAR_TYPE];
		struct stream part;

		if (size > UINT64_MAX / 2 - stream->position) {
			complain(walk, 0, "a file in the archive has an impossible size");
			return;
		}
		snprintf(name, sizeof(name), "%.*s", TAR_NAME, (const char *)bytes);
		stream_seek(stream, stream->position + TAR_BLOCK);
		end = stream->position + (size + TAR_BLOCK - 1) / TAR_BLOCK * TAR_BLOCK;
		if (type == '0' || type == 0 || type == '7') {
			walk->member = name;
			stream_open_part(&part, stream, size);
			walk_at(walk, &part, depth);
			stream_close(&part);
			walk->member = NULL;
		}
		if (stream->fault || !stream_seek(stream, end))
			return;
	}
}

static void walk_unpacked(struct walk *walk, struct stream *stream, unsigned int depth)
{
	struct stream unpacked;
	const char *fault;

	if (!unpack_open(&unpacked, stream, walk->file, walk->ratio, &fault)) {
		complain(walk, 0, fault);
		return;
	}
	walk_at(walk, &unpacked, depth);
	stream_close(&unpacked);
}

static void walk_at(struct walk *walk, struct stream *stream, unsigned int depth)
{
	const unsigned char *bytes;
	size_t size = stream_peek(stream, &bytes);

	if (depth < DEPTH && unpack_kind(bytes, size))
		walk_unpacked(walk, stream, depth + 1);
	else if (depth < DEPTH && tar_is(bytes, size))
		walk_tar(walk, stream, depth + 1);
	else if (core_is(bytes, size))
		walk_segments(walk, stream, core_read);
	else if (minidump_is(bytes, size))
		walk_segments(walk, stream, minidump_read);
	else if (text_is(bytes, size))
		walk_text(walk, stream);
	else
		walk_raw(walk, stream);
	/* A stream that reads another one has its fault, too. */
	if (stream->fault && !walk->has_faults)
		complain(walk, stream->error, stream->fault);
}

void walk_stream(struct walk *walk, struct stream *stream)
{
	walk_at(walk, stream, 0);
}
