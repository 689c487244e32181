/* SPDX-License-Identifier: MIT */
/*
 * A trace buffer in the memory of a target, which is halted or runs.
 *
 * Each look takes the entries that are new since the last one, the oldest first.  The target moves `current` when an
 * entry is whole, so the entry at `current`, the oldest of a full buffer, can be half overwritten: it is left out, also
 * if the target is stopped.  If the target runs, it writes meanwhile.  So a look reads `current` before and after the
 * entries.  Entries that the target can have overwritten between are left out and counted.  The newest entry is read
 * twice: if it has changed, the target has passed the whole buffer meanwhile, and the look begins anew.
 */
#ifndef TXTRACE_CAPTURE_TARGET_BUFFER_H
#define TXTRACE_CAPTURE_TARGET_BUFFER_H

#include <stdbool.h>
#include <stdint.h>

#include "capture/gdb.h"
#include "extract/header.h"

struct target_buffer {
	struct gdb *gdb;
	uint64_t address;
	unsigned char bytes[HEADER_BYTES]; /* the header as it was read last */
	struct header header;
	unsigned char *registry;
	unsigned char *entries;
	uint32_t next; /* the slot after the last entry that was taken */
	bool has_taken;
	unsigned char newest[HEADER_ENTRY_BYTES]; /* the last entry that was taken */
	/* What is missing: entries that were overwritten, at least, and how often more may have been. */
	uint64_t nr_lost, nr_laps;
	uint32_t nr_doubtful; /* 1: the first look has left out the oldest entry */
};

/*
 * Read the header at this address.  The buffer may have at most `limit` bytes.  After a failure, print a message and
 * return false.
 */
bool target_buffer_begin(struct target_buffer *buffer, struct gdb *gdb, uint64_t address, uint64_t limit);
void target_buffer_free(struct target_buffer *buffer);

/*
 * Take the registry and the new entries.  Return the number of entries, which are then at *first, one after the other.
 * After a fault of the stub, gdb->fault is set, and the result is what was read before.
 */
uint32_t target_buffer_look(struct target_buffer *buffer, const unsigned char **first);

/* Return the number of bytes of the registry. */
uint32_t target_buffer_registry_bytes(const struct target_buffer *buffer);

#endif
