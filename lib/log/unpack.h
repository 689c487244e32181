/* SPDX-License-Identifier: MIT */
/*
 * Unpack frames (frame.h).  A frame is untrusted input: its check sum only finds damage.  The unpacker reads no byte
 * outside of the frame, and its memory is bounded.
 *
 * The caller passes the frames of a chapter in their order, from the first one on.  The tables of a chapter replace
 * those of the chapter before.  The caller ensures that only one thread at a time uses an unpacker.
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

/* What a frame holds of one entry. */
struct px_unpacked {
	uint64_t time_ns;
	uint64_t address;
	uint64_t thread; /* pthread_t */
	uint32_t pid;
	uint32_t id;
	uint32_t flags;	   /* of the record */
	uint32_t length;   /* bytes of data */
	const void *first; /* the first 16 bytes of data, or fewer if there are no more */
	const void *more;  /* the other bytes, in the frame */
	bool is_event;	   /* false: the entry is for the viewer only, and the other members are 0 */
	bool is_native;
	uint32_t word[4]; /* the first 16 bytes of data if is_native */
};

/* Return an unpacker, or NULL if there is no memory. */
struct px_unpack *px_unpack_make(void);
void px_unpack_free(struct px_unpack *unpack);

/*
 * Return true if this can be the header of a frame at this position, with at most so many entries, and with at most max
 * bytes after the header.
 */
bool px_unpack_is_frame(const struct px_log_frame *frame, uint64_t position, uint64_t nr_entries,
			uint64_t max);

/*
 * Unpack a frame.  body: the bytes after its header; they must stay valid while the caller uses `to`.  entries: the
 * entries of the frame.  tick_ns: of their stamps.  to: one for each entry.  Return the number of entries in `to`; it
 * is smaller than frame->nr_entries if the frame is damaged.  After a damaged frame, the rest of the chapter counts as
 * damaged, because its frames may need what that frame defines.
 */
uint32_t px_unpack_frame(struct px_unpack *unpack, const struct px_log_frame *frame, const void *body,
			 const struct px_txtb_entry *entries, uint32_t tick_ns,
			 struct px_unpacked *to);

/* Return the object with this handle as the chapter defines it up to the frame unpacked last, or NULL. */
const struct px_log_object *px_unpack_object(const struct px_unpack *unpack, uint32_t handle);

/*
 * Get the next definition of the frame.  *offset: 0 for the first one.  Return false after the last definition, and at
 * a damaged one.
 */
bool px_unpack_next_object(const struct px_log_frame *frame, const void *body, size_t *offset,
			   struct px_log_object *object);

#endif
