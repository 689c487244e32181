/* SPDX-License-Identifier: MIT */
#include "capture/target_buffer.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "base/message.h"

#define ATTEMPTS 5
#define CONTEXT_UNUSED 0

uint32_t target_buffer_registry_bytes(const struct target_buffer *buffer)
{
	return buffer->header.nr_objects * (HEADER_OBJECT_BYTES + buffer->header.name_size);
}

static uint64_t slot_address(const struct target_buffer *buffer, uint32_t slot)
{
	return buffer->address + HEADER_BYTES + target_buffer_registry_bytes(buffer) +
	       (uint64_t)slot * HEADER_ENTRY_BYTES;
}

static uint32_t current_of(const struct header *header)
{
	uint32_t slot = (header->current - header->buffer_start) / HEADER_ENTRY_BYTES;

	return slot < header->nr_slots ? slot : 0;
}

static bool set_fault(struct gdb *gdb, const char *fault)
{
	if (gdb->fault[0] == '\0')
		snprintf(gdb->fault, sizeof(gdb->fault), "%s", fault);
	return false;
}

static bool read_header(struct target_buffer *buffer, struct header *header, const char **reason)
{
	unsigned char bytes[HEADER_BYTES];

	*reason = NULL;
	if (gdb_read(buffer->gdb, buffer->address, bytes, sizeof(bytes)) < sizeof(bytes))
		return false;
	if (memcmp(bytes, "TXTB", 4) != 0 && memcmp(bytes, "BTXT", 4) != 0)
		*reason = "it does not begin with TXTB";
	else
		*reason = header_read(header, bytes);
	if (*reason)
		return false;
	memcpy(buffer->bytes, bytes, sizeof(bytes));
	return true;
}

bool target_buffer_begin(struct target_buffer *buffer, struct gdb *gdb, uint64_t address, uint64_t limit)
{
	const char *reason;

	*buffer = (struct target_buffer){.gdb = gdb, .address = address};
	if (!read_header(buffer, &buffer->header, &reason)) {
		if (reason)
			message("there is no trace buffer at 0x%" PRIx64 ": %s", address, reason);
		else
			message("the stub %s", gdb->fault);
		return false;
	}
	if (buffer->header.size > limit) {
		message("the trace buffer at 0x%" PRIx64 " has %" PRIu64 " bytes, and not at most %" PRIu64, address,
			buffer->header.size, limit);
		return false;
	}
	buffer->registry = must(calloc(1, target_buffer_registry_bytes(buffer) + 1));
	buffer->entries = must(calloc(buffer->header.nr_slots, HEADER_ENTRY_BYTES));
	return true;
}

void target_buffer_free(struct target_buffer *buffer)
{
	free(buffer->registry);
	free(buffer->entries);
	buffer->registry = buffer->entries = NULL;
}

/* Read n slots from `slot` on, around the end of the buffer.  Return the number of those that were read. */
static uint32_t read_slots(struct target_buffer *buffer, uint32_t slot, uint32_t n)
{
	uint32_t first = n < buffer->header.nr_slots - slot ? n : buffer->header.nr_slots - slot;
	size_t nr = gdb_read(buffer->gdb, slot_address(buffer, slot), buffer->entries,
			     (size_t)first * HEADER_ENTRY_BYTES);

	if (nr == (size_t)first * HEADER_ENTRY_BYTES && n > first)
		nr += gdb_read(buffer->gdb, slot_address(buffer, 0), buffer->entries + nr,
			       (size_t)(n - first) * HEADER_ENTRY_BYTES);
	return (uint32_t)(nr / HEADER_ENTRY_BYTES);
}

static bool read_slot(struct target_buffer *buffer, uint32_t slot, unsigned char entry[HEADER_ENTRY_BYTES])
{
	return gdb_read(buffer->gdb, slot_address(buffer, slot), entry, HEADER_ENTRY_BYTES) == HEADER_ENTRY_BYTES;
}

/* Return false after a fault. */
static bool is_used(struct target_buffer *buffer, uint32_t slot, bool *used)
{
	unsigned char entry[HEADER_ENTRY_BYTES];

	if (!read_slot(buffer, slot, entry))
		return false;
	*used = header_word(&buffer->header, entry) != CONTEXT_UNUSED;
	return true;
}

static uint32_t before(const struct target_buffer *buffer, uint32_t slot)
{
	return (slot > 0 ? slot : buffer->header.nr_slots) - 1;
}

/* Read the header again.  A buffer with another layout is another buffer. */
static bool read_current(struct target_buffer *buffer, uint32_t *current)
{
	struct header header;
	const char *reason;

	if (!read_header(buffer, &header, &reason))
		return reason ? set_fault(buffer->gdb, "shows that the trace buffer is no longer whole") : false;
	if (header.nr_slots != buffer->header.nr_slots || header.nr_objects != buffer->header.nr_objects ||
	    header.name_size != buffer->header.name_size)
		return set_fault(buffer->gdb, "shows another trace buffer at this address");
	buffer->header.current = header.current;
	*current = current_of(&header);
	return true;
}

/* Find out which slots have entries to take: *n from *from on.  Return false after a fault. */
static bool find_new(struct target_buffer *buffer, uint32_t current, uint32_t *from, uint32_t *n, uint64_t *lost,
		     uint64_t *laps)
{
	unsigned char entry[HEADER_ENTRY_BYTES];
	uint32_t nr_slots = buffer->header.nr_slots;
	bool current_is_used, next_is_used;

	*lost = *laps = 0;
	if (buffer->has_taken) {
		if (!read_slot(buffer, before(buffer, buffer->next), entry))
			return false;
		*from = buffer->next;
		*n = (current + nr_slots - buffer->next) % nr_slots;
		if (memcmp(entry, buffer->newest, sizeof(entry)) == 0)
			return true;
		/* The target has written at least once around.  How often, only the target knows. */
		*lost = *n;
		*laps = 1;
	}
	if (!is_used(buffer, current, &current_is_used) || !is_used(buffer, (current + 1) % nr_slots, &next_is_used))
		return false;
	/* The target may have begun to write the entry at `current`.  So only the slot after it shows what follows. */
	if (current_is_used && next_is_used) {
		*from = current;
		*n = nr_slots;
	} else {
		*from = 0;
		*n = current;
	}
	return true;
}

/*
 * Return how many of the n entries that were read to leave out at the beginning: the target was at `after` afterwards,
 * and can have overwritten them, also the one that it was about to write.  A target that is stopped can be in the
 * middle of an entry, too: `current` moves when the entry is whole.
 */
static uint32_t leave_out(const struct target_buffer *buffer, uint32_t current, uint32_t after, uint32_t n)
{
	uint32_t nr_slots = buffer->header.nr_slots;
	uint32_t passed = (after + nr_slots - current) % nr_slots + 1;

	/* Slots from `current` on that are not among those that were read */
	uint32_t nr_free = nr_slots - n;

	return passed > nr_free ? (passed - nr_free < n ? passed - nr_free : n) : 0;
}

uint32_t target_buffer_look(struct target_buffer *buffer, const unsigned char **first)
{
	struct gdb *gdb = buffer->gdb;
	unsigned char newest[HEADER_ENTRY_BYTES];
	uint32_t current, after, from, n, nr, left_out;
	uint64_t lost, laps;

	*first = buffer->entries;
	for (int attempt = 0; attempt < ATTEMPTS; attempt++) {
		if (!read_current(buffer, &current) ||
		    gdb_read(gdb, buffer->address + HEADER_BYTES, buffer->registry,
			     target_buffer_registry_bytes(buffer)) < target_buffer_registry_bytes(buffer) ||
		    !find_new(buffer, current, &from, &n, &lost, &laps))
			return 0;
		if (n == 0)
			return 0;
		nr = read_slots(buffer, from, n);
		if (nr < n) {
			/* The stub is gone.  What it has sent remains; the beginning may have been overwritten. */
			if (n == buffer->header.nr_slots && nr > 0) {
				*first += HEADER_ENTRY_BYTES;
				nr--;
				buffer->nr_doubtful++;
			}
			return nr;
		}
		memcpy(newest, buffer->entries + (size_t)(n - 1) * HEADER_ENTRY_BYTES, sizeof(newest));
		after = current;
		if (gdb->is_running || gdb->is_non_stop) {
			unsigned char again[HEADER_ENTRY_BYTES];

			if (!read_current(buffer, &after) || !read_slot(buffer, before(buffer, current), again))
				return nr;
			if (memcmp(again, newest, sizeof(again)) != 0)
				continue;
		}
		left_out = leave_out(buffer, current, after, n);
		if (buffer->has_taken || after != current)
			lost += left_out;
		else
			buffer->nr_doubtful += left_out;
		buffer->nr_lost += lost;
		buffer->nr_laps += laps;
		buffer->next = current;
		buffer->has_taken = true;
		memcpy(buffer->newest, newest, sizeof(newest));
		*first += (size_t)left_out * HEADER_ENTRY_BYTES;
		return n - left_out;
	}
	set_fault(gdb, "is slower than the target: the target overwrites the buffer while it is read");
	return 0;
}
