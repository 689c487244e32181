/* SPDX-License-Identifier: MIT */
/*
 * Read a file with a trace buffer that any program may have written, in either byte order.  This
 * module accepts each file that the viewer accepts, and interprets the file as the viewer does.
 *
 * The file consists of a header, a registry and entries, in this order.  This module computes only
 * lengths and the slot of the oldest entry from the addresses in the header.  It never uses an
 * address as a position in the file, so a wrong address does no harm.  It reads the file only with
 * pread(), at rising positions, into memory of fixed size.  If a process changes the file at the
 * same time, this module may read other contents or too few bytes.
 *
 * Only one thread at a time may use a struct px_txtb_file.
 */
#ifndef PX_TXTB_FILE_H
#define PX_TXTB_FILE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "txtb/txtb.h"

#define PX_TXTB_FILE_NAME_MAX 63
#define PX_TXTB_FILE_CHUNK 16384
#define PX_TXTB_FILE_OBJECTS_MAX (UINT32_C(1) << 20)

/*
 * The largest possible size of an image in bytes.  The size has a limit because all lengths in an
 * image are 32-bit words.
 */
#define PX_TXTB_FILE_SIZE_MAX (48 + (UINT64_C(1) << 32) + (UINT64_C(1) << 27))

struct px_txtb_file {
	int fd; /* the caller opens and closes it */
	bool is_swapped;
	uint32_t time_mask;
	uint32_t name_size;
	double tick_ns; /* length of a tick according to the header, which may be any value; 0: unknown */
	/* Number of object slots, at most PX_TXTB_FILE_OBJECTS_MAX; the reader ignores the others. */
	uint32_t nr_objects;
	uint32_t nr_entries; /* number of entry slots */
	uint32_t nr_whole;   /* number of entry slots that the file really has */
	/* Slot of the oldest entry according to the header, or 0; the slot may be unused. */
	uint32_t oldest;
	uint64_t entries_offset;

	/* Some objects in the format of the file.  The first of them has slot chunk_first. */
	uint32_t chunk_first;
	uint32_t chunk_objects;
	unsigned char chunk[PX_TXTB_FILE_CHUNK];
};

/* An object of the registry. */
struct px_txtb_file_object {
	bool is_released;
	uint32_t type; /* 0: the slot was never used, and the other members mean nothing */
	uint32_t handle;
	uint32_t priority; /* priority of a thread; UINT32_MAX: unknown */
	uint32_t parameter[2];
	/* Name as it is in the file, and a null byte after it. */
	char name[PX_TXTB_FILE_NAME_MAX + 1];
};

/* Return true if a file that begins with these bytes is a trace buffer, and set *is_swapped. */
bool px_txtb_file_is_id(const unsigned char id[4], bool *is_swapped);

/*
 * Read and check the header of a file of this size.  Return 0, or EINVAL if the viewer would refuse
 * the file.
 *
 * This function does not check one condition, so the caller must check it.  The file may hold fewer slots than its
 * header gives.  The viewer refuses such a file if all of its slots are in use.
 */
int px_txtb_file_open(struct px_txtb_file *file, int fd, uint64_t size);

/* Read the object in this slot.  Return false if slot is nr_objects or more, or if the object cannot be read. */
bool px_txtb_file_object(struct px_txtb_file *file, uint32_t slot,
			 struct px_txtb_file_object *object);

/*
 * Read up to n entries from this slot on, and convert them to the byte order of this machine.
 * Return the number of entries read.  It is less than n if the file ends or cannot be read.
 */
uint32_t px_txtb_file_entries(const struct px_txtb_file *file, uint32_t slot, uint32_t n,
			      struct px_txtb_entry *entry);

/*
 * Call pread() until it has read size bytes, reaches the end of the file or fails.  Return the
 * number of bytes read.  Keeps errno.
 */
size_t px_txtb_file_read(int fd, void *buffer, size_t size, uint64_t offset);

#endif
