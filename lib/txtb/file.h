/* SPDX-License-Identifier: MIT */
/*
 * A trace buffer of any origin as a file: what the viewer accepts is accepted, in either byte
 * order, and read as the viewer reads it.
 *
 * Strictly in sequence: header, registry, entries.  Addresses in the header tell lengths and which
 * entry is the oldest, never a place in the file, so there is none to go wrong.  Whatever the file
 * says, nothing is read but through preads at places behind each other, into memory of fixed size;
 * a file that changes meanwhile gives other contents or an early end.
 *
 * One thread at a time.
 */
#ifndef PX_TXTB_FILE_H
#define PX_TXTB_FILE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "txtb/txtb.h"

#define PX_TXTB_FILE_NAME_MAX 63
#define PX_TXTB_FILE_CHUNK 16384

/* Bytes that an image can have at most: all its lengths are words. */
#define PX_TXTB_FILE_SIZE_MAX (48 + (UINT64_C(1) << 32) + (UINT64_C(1) << 27))

struct px_txtb_file {
	int fd; /* the user's */
	bool is_swapped;
	uint32_t time_mask;
	uint32_t name_size;
	uint32_t nr_objects; /* slots */
	uint32_t nr_entries; /* slots */
	uint32_t nr_whole;   /* slots of entries that the file holds */
	uint32_t oldest; /* slot that the header calls the oldest, if so many are in use; or 0 */
	uint64_t entries_offset;

	/* Objects as they stand in the file, from slot chunk_first up. */
	uint32_t chunk_first;
	uint32_t chunk_objects;
	unsigned char chunk[PX_TXTB_FILE_CHUNK];
};

/* An object of a registry. */
struct px_txtb_file_object {
	bool is_released;
	uint32_t type; /* 0: the slot was never used, the rest means nothing */
	uint32_t handle;
	uint32_t priority; /* of a thread; UINT32_MAX: not told */
	uint32_t parameter[2];
	char name[PX_TXTB_FILE_NAME_MAX + 1]; /* as the file has it; ends in a null */
};

/* True if a file that begins with these bytes is a trace buffer; then *is_swapped is set. */
bool px_txtb_file_is_id(const unsigned char id[4], bool *is_swapped);

/*
 * Read and check the header.  size: of the file.  EINVAL: the viewer refuses it, but for one reason
 * that is the caller's to look for: fewer whole slots than slots, and none of them unused.
 */
int px_txtb_file_open(struct px_txtb_file *file, int fd, uint64_t size);

/* The object in this slot, one of nr_objects.  False if it cannot be read. */
bool px_txtb_file_object(struct px_txtb_file *file, uint32_t slot,
			 struct px_txtb_file_object *object);

/*
 * Read up to n entries from this slot on, in this machine's byte order.  How many were read; less
 * than n where the file ends or cannot be read.
 */
uint32_t px_txtb_file_entries(const struct px_txtb_file *file, uint32_t slot, uint32_t n,
			      struct px_txtb_entry *entry);

/* pread() until size bytes are there, or no more come.  How many.  Keeps errno. */
size_t px_txtb_file_read(int fd, void *buffer, size_t size, uint64_t offset);

#endif
