/* SPDX-License-Identifier: MIT */
#include "extract/segments.h"

#include <stdlib.h>

#define REPEATS 16 /* a file whose segments have more than so many times its bytes is hostile */
#define REPEATS_FREE (UINT64_C(64) << 20)

static int compare_numbers(uint64_t a, uint64_t b)
{
	return a < b ? -1 : a > b;
}

static int by_address(const void *a, const void *b)
{
	const struct segment *x = a, *y = b;

	return x->address != y->address ? compare_numbers(x->address, y->address) :
					  compare_numbers(x->offset, y->offset);
}

static int by_offset(const void *a, const void *b)
{
	const struct segment *x = a, *y = b;

	return compare_numbers(x->offset, y->offset);
}

/*
 * Scan the next `size` bytes of the stream.  If the buffers of the run are only wanted to their ends, stop there.
 * Return the number of bytes.
 */
static uint64_t scan_bytes(struct stream *stream, struct scan *scan, uint64_t size, bool only_within)
{
	uint64_t done = 0;

	while (done < size && (!only_within || scan_is_within(scan))) {
		uint64_t rest = size - done;
		size_t n = stream_read(stream, scan_space(scan), rest < SCAN_CHUNK ? (size_t)rest : SCAN_CHUNK);

		if (n == 0)
			break;
		scan_filled(scan, n);
		done += n;
	}
	return done;
}

/*
 * Scan segment *i and the segments that continue it.  *i becomes the first segment after them.  A segment that begins
 * in the run and ends after it continues it; what it has before the end is left for scan_overlap().  Return the number
 * of bytes that are missing.
 */
static uint64_t scan_run(const struct segments *segments, size_t *i, struct stream *stream, struct scan *scan)
{
	const struct segment *segment = &segments->segment[*i];
	struct found place = {.has_offset = true,
			      .has_address = true,
			      .offset = segment->offset,
			      .address = segment->address};
	uint64_t end = segment->address, missing = 0;

	scan_begin(scan, &place, UINT64_MAX);
	for (; *i < segments->nr && missing == 0; ++*i) {
		uint64_t skip, done = 0;

		segment = &segments->segment[*i];
		if (segment->address > end || (segment->address < end && !stream->is_seekable))
			break;
		skip = end - segment->address;
		if (skip >= segment->size)
			continue;
		scan_move(scan, segment->offset + skip);
		if (stream_seek(stream, segment->offset + skip))
			done = scan_bytes(stream, scan, segment->size - skip, false);
		missing = segment->size - skip - done;
		end += done;
	}
	scan_end(scan);
	return missing;
}

/* Find the buffers that begin in the first `length` bytes of a segment: other segments have the same addresses. */
static void scan_overlap(const struct segment *segment, uint64_t length, struct stream *stream, struct scan *scan)
{
	struct found place = {.has_offset = true,
			      .has_address = true,
			      .offset = segment->offset,
			      .address = segment->address};

	if (!stream_seek(stream, segment->offset))
		return;
	if (length > segment->size)
		length = segment->size;
	scan_begin(scan, &place, length);
	scan_bytes(stream, scan, length, false);
	/* A header that the end of the overlap cuts needs the next bytes. */
	if (segment->size > length)
		scan_bytes(stream, scan,
			   segment->size - length < HEADER_BYTES ? segment->size - length : HEADER_BYTES, false);
	if (segment->size > length + HEADER_BYTES)
		scan_bytes(stream, scan, segment->size - length - HEADER_BYTES, true);
	scan_end(scan);
}

/*
 * A core file may have the same memory twice.  If it is also the same place of the file, remove the second segment, so
 * that its buffers count once.
 */
static void remove_repeated(struct segments *segments)
{
	size_t nr = 0;

	for (size_t i = 0; i < segments->nr; i++) {
		struct segment *last = nr > 0 ? &segments->segment[nr - 1] : NULL, *at = &segments->segment[i];

		/* The last byte of memory may be the last address. */
		if (at->size > UINT64_MAX - at->address)
			at->size = UINT64_MAX - at->address;
		if (at->size == 0)
			continue;
		if (last && at->address - last->address < last->size &&
		    at->offset - last->offset == at->address - last->address &&
		    at->size <= last->size - (at->address - last->address))
			continue;
		segments->segment[nr++] = *at;
	}
	segments->nr = nr;
}

/* Keep the first segments that together have at most `limit` bytes of the stream.  Return true if these are all. */
static bool limit_segments(struct segments *segments, uint64_t length, uint64_t limit)
{
	uint64_t sum = 0;
	size_t nr = 0;

	for (; nr < segments->nr; nr++) {
		const struct segment *at = &segments->segment[nr];
		uint64_t there = at->offset < length ? length - at->offset : 0;

		sum += at->size < there ? at->size : there;
		if (sum > limit)
			break;
	}
	if (nr == segments->nr)
		return true;
	segments->nr = nr;
	return false;
}

bool segments_scan(struct segments *segments, struct stream *stream, struct scan *scan, uint64_t *missing)
{
	uint64_t end = 0, length = stream->is_seekable ? stream_length(stream) : UINT64_MAX;
	bool is_all = true;

	*missing = 0;
	if (segments->nr > 1)
		qsort(segments->segment, segments->nr, sizeof(*segments->segment),
		      stream->is_seekable ? by_address : by_offset);
	remove_repeated(segments);
	/* A stream that cannot go back reads each byte once. */
	if (length < UINT64_MAX / REPEATS - REPEATS_FREE)
		is_all = limit_segments(segments, length, REPEATS * length + REPEATS_FREE);
	for (size_t i = 0; i < segments->nr;)
		*missing += scan_run(segments, &i, stream, scan);
	for (size_t i = 0; i < segments->nr && stream->is_seekable; i++) {
		const struct segment *segment = &segments->segment[i];

		if (segment->address < end)
			scan_overlap(segment, end - segment->address, stream, scan);
		if (segment->address + segment->size > end)
			end = segment->address + segment->size;
	}
	return is_all;
}
