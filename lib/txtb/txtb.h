/* SPDX-License-Identifier: MIT */
/*
 * The byte layout of a ThreadX trace buffer (TXTB): a header, an object registry and event entries,
 * without gaps.  Words have the byte order of the machine that writes the buffer.  A reader detects
 * the order from the first four bytes.
 *
 * This file has only layout and arithmetic: no threads, no clocks, no allocation.
 */
#ifndef PX_TXTB_TXTB_H
#define PX_TXTB_TXTB_H

#include <stddef.h>
#include <stdint.h>

#include "base/compiler.h"

/* The letters TXTB, from the highest byte of the word to the lowest. */
#define PX_TXTB_ID 0x54585442u
#define PX_TXTB_NAME_SIZE 60 /* size of a name in the registry; must be below 64 */

/*
 * The number of registry slots of a live ring.  It is the smallest number from 256 up with which
 * the entries start on a cache line.
 */
#define PX_TXTB_LIVE_OBJECTS 268

/*
 * The address at which an image seems to start.  A reader of the file uses only differences of
 * addresses, so any value works.
 */
#define PX_TXTB_BASE 0x00010000u

struct px_txtb_header {
	uint32_t id;
	uint32_t time_mask; /* stamps are modulo time_mask + 1 */
	uint32_t base;
	uint32_t registry_start;
	uint16_t reserved1;
	uint16_t name_size;
	uint32_t registry_end;
	uint32_t buffer_start;
	uint32_t buffer_end;
	uint32_t current; /* address of the oldest entry */
	/*
	 * ThreadX reserves these words, and the viewer ignores them.  Images of this library store the length of a tick
	 * there.
	 */
	uint32_t tick_mark; /* PX_TXTB_TICK_MARK: the next words are the tick */
	uint32_t tick[2];   /* nanoseconds as a double: the low half, the high half */
};

/* The letters TICK, from the highest byte of the word to the lowest. */
#define PX_TXTB_TICK_MARK 0x5449434Bu

enum px_txtb_object_type {
	PX_TXTB_UNUSED = 0,
	PX_TXTB_THREAD = 1,
	PX_TXTB_TIMER = 2,
	PX_TXTB_QUEUE = 3,
	PX_TXTB_SEMAPHORE = 4,
	PX_TXTB_MUTEX = 5,
	PX_TXTB_EVENT_FLAGS = 6,
	PX_TXTB_BYTE_POOL = 8,
	PX_TXTB_FILE = 10,
	PX_TXTB_TCP_SOCKET = 13,
	PX_TXTB_UDP_SOCKET = 14,
	/* This library defines this type: the object has the name of a user event. */
	PX_TXTB_EVENT_TYPE = 15
};

struct px_txtb_object {
	uint8_t available; /* 1: the writer may reuse the slot; readers ignore this member */
	uint8_t type;
	uint8_t priority_high; /* threads: 0x80 | priority >> 8 */
	uint8_t priority_low;
	uint32_t handle;
	uint32_t parameter1;
	uint32_t parameter2;
	char name[PX_TXTB_NAME_SIZE]; /* may have no null byte at the end */
};

struct px_txtb_entry {
	uint32_t context; /* handle of the thread; 0: the entries end before this entry */
	uint32_t priority;
	uint32_t id; /* CPU << 24 | event id; readers use 16 bits */
	uint32_t stamp;
	uint32_t info[4];
};

_Static_assert(sizeof(struct px_txtb_header) == 48, "TXTB header");
_Static_assert(sizeof(struct px_txtb_object) == 16 + PX_TXTB_NAME_SIZE, "TXTB object");
_Static_assert(sizeof(struct px_txtb_entry) == 32, "TXTB entry");

enum {
	/* ThreadX's id of the event "this thread runs now"; fillers also have this id. */
	PX_TXTB_RUNNING = 6,
	PX_TXTB_USER_EVENT = 4096, /* user ids: 4096 + event type id */
	PX_TXTB_DATA =
		/* More data of the previous entry; no event has this id, because there is no event type 0. */
	PX_TXTB_USER_EVENT,
	PX_TXTB_USER_EVENT_LAST = 65535
};

/* Values of the word `context` that are not handles of threads. */
/* The priority word holds the handle of the interrupted thread. */
#define PX_TXTB_INTERRUPT 0xFFFFFFFFu
#define PX_TXTB_INITIALIZE 0xF0F0F0F0u

/*
 * Make a handle: `type << 24 | serial`.  Handles are unique over all types, never 0, and below
 * 0xF0F0F0F0.
 */
PX_INLINE uint32_t px_txtb_handle(enum px_txtb_object_type type, uint32_t serial)
{
	return (uint32_t)type << 24 | (serial & 0xFFFFFF);
}

/*
 * Return the priority word of the events of a thread.  Priorities are 0 ... 1023; a smaller number
 * is more urgent.
 */
PX_INLINE uint32_t px_txtb_priority_word(uint32_t priority)
{
	return 0x80000000u | (priority & 0x3FF) << 16 | (priority & 0x3FF);
}

/* Return the size of an object slot with names of this size, and the offset of a slot in an image. */
PX_INLINE size_t px_txtb_object_size(uint32_t name_size)
{
	return sizeof(struct px_txtb_object) - PX_TXTB_NAME_SIZE + name_size;
}

PX_INLINE size_t px_txtb_object_offset(uint32_t slot, uint32_t name_size)
{
	return sizeof(struct px_txtb_header) + slot * px_txtb_object_size(name_size);
}

/* Return the offset of the first entry in an image. */
PX_INLINE size_t px_txtb_entries_offset(uint32_t nr_objects)
{
	return sizeof(struct px_txtb_header) + (size_t)nr_objects * sizeof(struct px_txtb_object);
}

PX_INLINE size_t px_txtb_image_size(uint32_t nr_objects, uint32_t nr_entries)
{
	return px_txtb_entries_offset(nr_objects) +
	       (size_t)nr_entries * sizeof(struct px_txtb_entry);
}

_Static_assert((sizeof(struct px_txtb_header) +
		PX_TXTB_LIVE_OBJECTS * sizeof(struct px_txtb_object)) %
			       PX_CACHE_LINE ==
		       0,
	       "entries of a live ring begin on a cache line");

/* Fill in the header of an image in which the first entry is the oldest. */
void px_txtb_header_init(struct px_txtb_header *header, uint32_t nr_objects, uint32_t name_size,
			 uint32_t nr_entries);

/* Store the length of a tick in a header, or get it.  px_txtb_tick_ns() returns 0 if the header does not have it. */
void px_txtb_set_tick(struct px_txtb_header *header, double tick_ns);
double px_txtb_tick_ns(const struct px_txtb_header *header);

/*
 * Fill in a registry object, and change its name so that the viewer can show it.  Replace
 * characters that are not printable ASCII, and the characters ( ) and _, which the viewer misreads.
 * Truncate the name to the size of the field.  The function uses priority only for threads.
 */
void px_txtb_object_init(struct px_txtb_object *object, enum px_txtb_object_type type,
			 uint32_t handle, uint32_t priority, const char *name);

#endif
