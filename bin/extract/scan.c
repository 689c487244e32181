/* SPDX-License-Identifier: MIT */
#include "extract/scan.h"

#include <stdlib.h>
#include <string.h>

#include "base/memory.h"

#define TAIL (HEADER_BYTES - 1) /* bytes in which a header may have begun that the next bytes complete */
#define INTERRUPT 0xFFFFFFFFu
#define INITIALIZE 0xF0F0F0F0u
#define THREAD_WORD 0x80000000u /* ThreadX sets this bit in the priority of a thread's entry */

struct buffer {
	struct found found;
	void *item;
	uint64_t done;	      /* bytes of whole objects and entries, and of the header */
	unsigned int nr_part; /* bytes of an object or of an entry that the previous bytes cut */
	unsigned char part[HEADER_OBJECT_BYTES + HEADER_NAME_MAX];
};

struct scan {
	const struct scan_calls *calls;
	void *argument;
	struct found place; /* of the first byte in memory */
	uint64_t left;	    /* bytes, from the first in memory on, in which a buffer may begin */
	size_t nr_tail;
	size_t nr_old;	     /* bytes in memory that lie at another place of the stream, before scan_move() */
	uint64_t old_offset; /* of the first of them */
	unsigned int nr_buffers;
	struct buffer buffers[SCAN_BUFFERS];
	unsigned char memory[TAIL + SCAN_CHUNK];
};

struct scan *scan_new(const struct scan_calls *calls, void *argument)
{
	struct scan *scan = must(calloc(1, sizeof(*scan)));

	scan->calls = calls;
	scan->argument = argument;
	return scan;
}

void scan_free(struct scan *scan)
{
	free(scan);
}

/* Parts of a buffer. */

static void take_object(struct found *found, const unsigned char *object)
{
	found->nr_named += object[1] != 0;
	found->nr_odd_objects += object[0] > 1;
}

static void take_entry(struct found *found, const unsigned char *entry)
{
	uint32_t context = header_word(&found->header, entry);
	uint32_t priority = header_word(&found->header, entry + 4);

	found->nr_read++;
	if (context == 0)
		return;
	found->nr_used++;
	if (context != INTERRUPT && context != INITIALIZE && !(priority & THREAD_WORD))
		found->nr_odd++;
}

/* Take the next bytes of a buffer.  Return true if it is complete now. */
static bool feed(const struct scan *scan, struct buffer *buffer, const unsigned char *bytes, size_t size)
{
	struct found *found = &buffer->found;
	uint64_t registry_end = found->header.size - (uint64_t)found->header.nr_slots * HEADER_ENTRY_BYTES;

	if (size > found->header.size - found->size)
		size = (size_t)(found->header.size - found->size);
	scan->calls->bytes(buffer->item, bytes, size);
	found->size += size;
	if (buffer->done == 0 && size > 0) {
		bytes += HEADER_BYTES;
		size -= HEADER_BYTES;
		buffer->done = HEADER_BYTES;
	}
	while (size > 0) {
		bool is_object = buffer->done < registry_end;
		size_t whole = is_object ? HEADER_OBJECT_BYTES + found->header.name_size : HEADER_ENTRY_BYTES;
		size_t n = whole - buffer->nr_part < size ? whole - buffer->nr_part : size;
		const unsigned char *record = bytes;

		if (n < whole) {
			memcpy(buffer->part + buffer->nr_part, bytes, n);
			record = buffer->part;
			buffer->nr_part += (unsigned int)n;
		}
		bytes += n;
		size -= n;
		if (n < whole && buffer->nr_part < whole)
			break;
		buffer->nr_part = 0;
		buffer->done += whole;
		if (is_object)
			take_object(found, record);
		else
			take_entry(found, record);
	}
	return buffer->done == found->header.size;
}

static void finish(struct scan *scan, unsigned int i)
{
	scan->calls->end(scan->argument, scan->buffers[i].item, &scan->buffers[i].found);
	scan->buffers[i] = scan->buffers[--scan->nr_buffers];
}

/* Search. */

typedef unsigned char vector __attribute__((vector_size(16)));
typedef unsigned char bytes16 __attribute__((vector_size(16), aligned(1), may_alias)); /* at any address */
typedef unsigned long long pair __attribute__((vector_size(16)));

/*
 * Return the first place from `at` on that has XT, or `end`.  Both TXTB and BTXT have XT, so most bytes take only two
 * comparisons.  There are more bytes after `end`, because headers are longer than the ids.
 */
static const unsigned char *next_mark(const unsigned char *at, const unsigned char *end)
{
	for (; end - at >= 64; at += 64) {
		vector any = {0};

		for (int i = 0; i < 64; i += 16)
			any |= (vector)(*(const bytes16 *)(at + i) == 'X') &
			       (vector)(*(const bytes16 *)(at + i + 1) == 'T');
		if (((pair)any)[0] | ((pair)any)[1])
			break;
	}
	while (at < end && !(at[0] == 'X' && at[1] == 'T'))
		at++;
	return at;
}

/* Return the first place from `at` on that has TXTB or BTXT, or `end`. */
static const unsigned char *next_header(const unsigned char *at, const unsigned char *end)
{
	/* The X is the second byte of TXTB and the third of BTXT. */
	for (const unsigned char *mark = at + 1; mark < end + 2; mark++) {
		mark = next_mark(mark, end + 2);
		if (mark - 2 >= at && mark - 2 < end && memcmp(mark - 2, "BTXT", 4) == 0)
			return mark - 2;
		if (mark - 1 < end && memcmp(mark - 1, "TXTB", 4) == 0)
			return mark - 1;
	}
	return end;
}

static struct found place_of(const struct scan *scan, size_t at)
{
	struct found found = scan->place;

	found.offset = at < scan->nr_old ? scan->old_offset + at : found.offset + at;
	found.address += at;
	return found;
}

static void take_header(struct scan *scan, const unsigned char *at, const unsigned char *end)
{
	struct found found = place_of(scan, (size_t)(at - scan->memory));
	const char *reason = header_read(&found.header, at);
	struct buffer *buffer = &scan->buffers[scan->nr_buffers];

	if (!reason && scan->nr_buffers == SCAN_BUFFERS)
		reason = "it lies within too many others";
	if (reason) {
		scan->calls->reject(scan->argument, &found, reason);
		return;
	}
	memset(buffer, 0, sizeof(*buffer));
	buffer->found = found;
	buffer->item = scan->calls->begin(scan->argument, &found);
	scan->nr_buffers++;
	if (feed(scan, buffer, at, (size_t)(end - at)))
		finish(scan, scan->nr_buffers - 1);
}

/* Runs. */

void scan_begin(struct scan *scan, const struct found *place, uint64_t length)
{
	memset(&scan->place, 0, sizeof(scan->place));
	scan->place.has_offset = place->has_offset;
	scan->place.has_address = place->has_address;
	scan->place.offset = place->offset;
	scan->place.address = place->address;
	scan->left = length;
	scan->nr_tail = 0;
	scan->nr_old = 0;
}

unsigned char *scan_space(struct scan *scan)
{
	return scan->memory + scan->nr_tail;
}

void scan_filled(struct scan *scan, size_t n)
{
	const unsigned char *bytes = scan->memory, *end = bytes + scan->nr_tail + n;
	size_t total = scan->nr_tail + n, nr_tail = total < TAIL ? total : TAIL, nr_gone = total - nr_tail;
	const unsigned char *last = end - nr_tail;

	for (unsigned int i = scan->nr_buffers; i-- > 0;)
		if (feed(scan, &scan->buffers[i], bytes + scan->nr_tail, n))
			finish(scan, i);
	if ((uint64_t)(last - bytes) > scan->left)
		last = bytes + scan->left;
	for (const unsigned char *at = bytes; at < last; at++) {
		at = next_header(at, last);
		if (at < last)
			take_header(scan, at, end);
	}
	memmove(scan->memory, end - nr_tail, nr_tail);
	scan->nr_tail = nr_tail;
	scan->place.offset += nr_gone;
	scan->place.address += nr_gone;
	scan->old_offset += nr_gone;
	scan->nr_old -= nr_gone < scan->nr_old ? nr_gone : scan->nr_old;
	if (scan->left != UINT64_MAX)
		scan->left -= nr_gone < scan->left ? nr_gone : scan->left;
}

bool scan_is_within(const struct scan *scan)
{
	return scan->nr_buffers > 0;
}

void scan_move(struct scan *scan, uint64_t offset)
{
	/* If two moves follow each other within 47 bytes, the bytes of the first one get the offset of the second. */
	scan->old_offset = scan->place.offset;
	scan->nr_old = scan->nr_tail;
	scan->place.offset = offset - scan->nr_tail;
}

void scan_end(struct scan *scan)
{
	for (size_t at = 0; at + 4 <= scan->nr_tail && at < scan->left; at++) {
		struct found found = place_of(scan, at);

		if (memcmp(scan->memory + at, "TXTB", 4) == 0 || memcmp(scan->memory + at, "BTXT", 4) == 0)
			scan->calls->reject(scan->argument, &found, "the data end within its header");
	}
	while (scan->nr_buffers > 0)
		finish(scan, 0);
}
