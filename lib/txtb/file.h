/* SPDX-License-Identifier: MIT */
/*
 * Read a file with a trace buffer of any origin, in either byte order.  This module accepts each file
 * that the viewer accepts, and interprets the file as the viewer does.
 *
 * The parts follow each other: header, registry, entries.  Addresses in the header only give
 * lengths and the oldest entry, never a position in the file, so a wrong address does no harm.  The
 * file is read only with pread(), at rising positions, into memory of fixed size.  If the file
 * changes at the same time, the contents differ or end early.
 *
 * Only one thread at a time may use a file.
 */
#ifndef PX_TXTB_FILE_H
#define PX_TXTB_FILE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "txtb/txtb.h"

#define PX_TXTB_FILE_NAME_MAX 63
#define PX_TXTB_FILE_CHUNK 16384

/* Largest possible size of an image in bytes: all its lengths are 32-bit words. */
#define PX_TXTB_FILE_SIZE_MAX (48 + (UINT64_C(1) << 32) + (UINT64_C(1) << 27))

struct px_txtb_file {
	int fd; /* of the caller */
	bool is_swapped;
	uint32_t time_mask;
	uint32_t name_size;
	uint32_t nr_objects; /* slots */
	uint32_t nr_entries; /* slots */
	uint32_t nr_whole;   /* slots of entries that the file really holds */
	uint32_t oldest; /* slot of the oldest entry by the header, if that many are in use; or 0 */
	uint64_t entries_offset;

	/* Objects in the format of the file, from slot chunk_first. */
	uint32_t chunk_first;
	uint32_t chunk_objects;
	unsigned char chunk[PX_TXTB_FILE_CHUNK];
};

/* An object of the registry. */
struct px_txtb_file_object {
	bool is_released;
	uint32_t type; /* 0: the slot was never used, and the other members mean nothing */
	uint32_t handle;
	uint32_t priority; /* of a thread; UINT32_MAX: unknown */
	uint32_t parameter[2];
	char name[PX_TXTB_FILE_NAME_MAX + 1]; /* unchanged from the file; null-terminated */
};

/* Return true if a file that begins with these bytes is a trace buffer, and set *is_swapped. */
bool px_txtb_file_is_id(const unsigned char id[4], bool *is_swapped);

/*
 * Read and check the header of a file of this size.  Return 0, or EINVAL if the viewer would refuse
 * the file.  The caller must check one more condition.  The viewer also refuses a file that holds
 * fewer slots than its header gives, if none of them is unused.
 */
int px_txtb_file_open(struct px_txtb_file *file, int fd, uint64_t size);

/*
 * Read the object in this slot, which must be below nr_objects.  Return false if it cannot be read.
 */
bool px_txtb_file_object(struct px_txtb_file *file, uint32_t slot,
			 struct px_txtb_file_object *object);

/*
 * Read up to n entries from this slot, in this machine's byte order.  Return the number of entries
 * read, which is less than n if the file ends or cannot be read.
 */
uint32_t px_txtb_file_entries(const struct px_txtb_file *file, uint32_t slot, uint32_t n,
			      struct px_txtb_entry *entry);

/*
 * Call pread() until size bytes are read or no more come.  Return the number of bytes.  Keeps
 * errno.
 */
size_t px_txtb_file_read(int fd, void *buffer, size_t size, uint64_t offset);

#endif
