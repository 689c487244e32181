/* SPDX-License-Identifier: MIT */
/* The memory lists of a minidump of Windows: its numbers are little-endian. */
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "extract/segments.h"

#define VERSION 0xA793
#define HEADER 32
#define DIRECTORY 12 /* bytes of an entry of the directory: type, size, offset */
#define STREAMS_MAX 4096
#define RANGE 16
#define MEMORY_LIST 5	/* 4 bytes count; ranges: address (8), size (4), offset (4) */
#define MEMORY64_LIST 9 /* 8 bytes count, 8 bytes offset of the first range; ranges: address (8), size (8) */

static uint64_t number(const unsigned char *at, size_t size)
{
	uint64_t value = 0;

	while (size-- > 0)
		value = value << 8 | at[size];
	return value;
}

bool minidump_is(const unsigned char *bytes, size_t size)
{
	return size >= HEADER && memcmp(bytes, "MDMP", 4) == 0 && number(bytes + 4, 2) == VERSION;
}

static const char *read_list(struct segments *segments, struct stream *stream, bool is_64)
{
	unsigned char bytes[RANGE];
	size_t size = is_64 ? 16 : 4;
	uint64_t nr, offset;

	if (stream_read(stream, bytes, size) < size)
		return "the list of its memory cannot be read";
	nr = number(bytes, is_64 ? 8 : 4);
	offset = is_64 ? number(bytes + 8, 8) : 0;
	if (nr == 0 || nr > SEGMENTS_MAX - segments->nr)
		return nr == 0 ? NULL : "the list of its memory is damaged";
	segments->segment = must(reallocarray(segments->segment, segments->nr + nr, sizeof(*segments->segment)));
	for (uint64_t i = 0; i < nr && stream_read(stream, bytes, RANGE) == RANGE; i++) {
		struct segment *segment = &segments->segment[segments->nr++];

		segment->address = number(bytes, 8);
		segment->size = is_64 ? number(bytes + 8, 8) : number(bytes + 8, 4);
		segment->offset = is_64 ? offset : number(bytes + 12, 4);
		offset += segment->size;
	}
	return NULL;
}

const char *minidump_read(struct segments *segments, struct stream *stream)
{
	unsigned char header[HEADER], entry[DIRECTORY];
	uint64_t nr, directory, lists[STREAMS_MAX][2];
	size_t nr_lists = 0;

	memset(segments, 0, sizeof(*segments));
	if (stream_read(stream, header, HEADER) < HEADER)
		return "the header of the minidump is not complete";
	nr = number(header + 8, 4);
	directory = number(header + 12, 4);
	if (nr > STREAMS_MAX || !stream_seek(stream, directory))
		return "the directory of the minidump cannot be reached";
	for (uint64_t i = 0; i < nr && stream_read(stream, entry, DIRECTORY) == DIRECTORY; i++) {
		uint64_t type = number(entry, 4);

		if (type == MEMORY_LIST || type == MEMORY64_LIST) {
			lists[nr_lists][0] = type;
			lists[nr_lists++][1] = number(entry + 8, 4);
		}
	}
	for (size_t i = 0; i < nr_lists; i++) {
		const char *fault = stream_seek(stream, lists[i][1]) ?
					    read_list(segments, stream, lists[i][0] == MEMORY64_LIST) :
					    "the list of its memory cannot be reached";

		if (fault)
			return fault;
	}
	return segments->nr > 0 ? NULL : "it has no memory";
}
