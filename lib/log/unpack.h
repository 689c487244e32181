/* SPDX-License-Identifier: MIT */
/*
 * Unpack frames (frame.h).  A frame is untrusted input, because its check sum does not protect against forgery.  The
 * unpacker reads no byte outside of the frame, and its memory is bounded.
 *
 * The caller passes all frames of a chapter in their order.  When a chapter begins, the unpacker discards the tables of
 * the chapter before.  The caller ensures that only one thread at a time uses an unpacker.
 */
#ifndef PX_LOG_UNPACK_H
#define PX_LOG_UNPACK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "log/frame.h"
#include "txtb/txtb.h"

#define PX_FRAME_ENTRIES_MAX 65536

struct px_unpack;

/* The record of one entry, unpacked. */
struct px_unpacked {
	uint64_t time_ns;
	uint64_t address;
	uint64_t thread; /* pthread_t of the thread */
	uint32_t pid;
	uint32_t id;
	uint32_t flags;	   /* flags of the record */
	uint32_t length;   /* number of data bytes */
	const void *first; /* the first 16 bytes of data, or all data if it is shorter */
	/* The other data bytes; they are in the frame, or in the unpacker until it unpacks another frame. */
	const void *more;
	/* False: the entry is only for the viewer, and the other members are 0. */
	bool is_event;
	bool is_native;
	uint32_t word[4]; /* if is_native: the first 16 bytes of data */
};

/*
 * Make an unpacker.  is_swapped: the writer of the frames had the other byte order; then the caller converts the header
 * of each frame, and its entries but for their information words.  Return NULL if there is no memory.
 */
struct px_unpack *px_unpack_make(bool is_swapped);
void px_unpack_free(struct px_unpack *unpack);

/*
 * Return true if this can be the header of a frame at this position.  The frame has at most nr_entries entries, and at
 * most max bytes after its header.
 */
bool px_unpack_is_frame(const struct px_log_frame *frame, uint64_t position, uint64_t nr_entries,
			uint64_t max);

/*
 * Unpack a frame.  body: the bytes after its header, which must stay valid while the caller uses `to`.  entries: the
 * entries of the frame.  tick_ns: length of a tick of their stamps.  to: an array with one member for each entry.
 * Return the number of members that were filled in.  If it is smaller than frame->nr_entries, the frame is damaged.
 * Then this function also treats the later frames of the chapter as damaged, because they may need what this frame
 * defines.
 */
uint32_t px_unpack_frame(struct px_unpack *unpack, const struct px_log_frame *frame, const void *body,
			 const struct px_txtb_entry *entries, uint32_t tick_ns,
			 struct px_unpacked *to);

/* A frame is missing before the next one: treat the later frames of its chapter as damaged. */
void px_unpack_skip(struct px_unpack *unpack);

/*
 * Return the newest definition of the object with this handle, in the frames of the chapter that were unpacked so far.
 * Return NULL if there is none.
 */
const struct px_log_object *px_unpack_object(const struct px_unpack *unpack, uint32_t handle);

/*
 * Get the next definition of the frame.  Set *offset to 0 before the first call.  Leave *object as it is between two
 * calls, because a definition has only its differences from the one before.  Return false after the last definition, or
 * if a definition is damaged.
 */
bool px_unpack_next_object(const struct px_log_frame *frame, const void *body, size_t *offset,
			   struct px_log_object *object);

#endif
