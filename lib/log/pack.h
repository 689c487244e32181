/* SPDX-License-Identifier: MIT */
/*
 * Pack events into frames (frame.h).  The packer knows nothing of files: its caller writes the frame, and begins the
 * next frame only when the frame is in the file.  If a write fails, the tables of the packer hold sites and objects
 * that the file does not have, so the caller must begin a chapter.
 *
 *	px_pack_begin()	begins a frame
 *	px_pack_viewer_entry(), px_pack_event()	add the record of one entry, in the order of the entries
 *	px_pack_object()	defines an object, at any time before the frame ends
 *	px_pack_end()	ends the frame and returns its bytes
 *
 * The memory has a fixed size; after px_pack_make() the packer allocates nothing.  No function makes a system call.
 * The caller ensures that only one thread at a time uses a packer.
 */
#ifndef PX_LOG_PACK_H
#define PX_LOG_PACK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "log/frame.h"
#include "log/varint.h"

struct px_pack;

/* An event that the caller gives to the packer. */
struct px_pack_event {
	uint64_t time_ns;
	uint64_t address;
	uint64_t thread; /* pthread_t of the thread */
	uint32_t pid;
	uint32_t id;
	uint32_t flags;	 /* flags of the record */
	bool is_native;	 /* the entry does not hold the data */
	bool is_kept;	 /* other events may have the same data after the first 16 bytes (PX_FRAME_KEPT) */
	bool is_other;	 /* pid and thread are not those of the context's object */
	uint32_t length; /* number of data bytes; at least 16 if is_native */
	const void *data;
};

/*
 * Make a packer for frames of at most nr_entries entries.  A frame has room for one event with max_data bytes of data,
 * and for many smaller ones.  Return NULL if there is no memory.
 */
struct px_pack *px_pack_make(uint32_t nr_entries, size_t max_data);
void px_pack_free(struct px_pack *pack);

/*
 * Begin a frame.  position: the position of its first entry.  chapter: true if the frame begins a chapter.  If the
 * packer has an unfinished frame, discard it.
 */
void px_pack_begin(struct px_pack *pack, uint64_t position, bool chapter);

/* The frame tells that events before its first one are missing. */
void px_pack_follow_loss(struct px_pack *pack);

/* Return true if the frame has room for an event with this length of data, and for all objects of its entries. */
bool px_pack_has_room(const struct px_pack *pack, size_t length);

/*
 * Return the maximum size of the frame if the caller adds an event with this length of data.  pack: NULL means an empty
 * frame.
 */
size_t px_pack_bound(const struct px_pack *pack, size_t length);

/* Return true if the tables of the chapter are nearly full, so that the next frame should begin a chapter. */
bool px_pack_wants_chapter(const struct px_pack *pack);

/* Return true if the chapter already defines this object.  The chapter includes the unfinished frame. */
bool px_pack_has_object(const struct px_pack *pack, uint32_t handle);

/* Define an object.  If the chapter already defines it, replace that definition. */
void px_pack_object(struct px_pack *pack, const struct px_log_object *object);

/* The stamp of an entry. */
struct px_pack_stamp {
	/* Time of the stamp in the image: without wraps, and without the missing time of shortened gaps. */
	uint64_t image_ns;
	uint64_t time_ns;  /* exact time for which the stamp stands */
};

/* Add an entry that is for the viewer only. */
void px_pack_viewer_entry(struct px_pack *pack, struct px_pack_stamp stamp);

/* Add the entry of an event. */
void px_pack_event(struct px_pack *pack, struct px_pack_stamp stamp,
		   const struct px_pack_event *event);

/*
 * A run of events that refer to known sites and objects.  The caller writes their records itself, from `to` on, as
 * frame.h says.  A record without the data after the first 16 bytes takes at most PX_PACK_EVENT_MAX bytes; if it begins
 * at most at `limit` minus the length of its data, there is room for it.
 */
struct px_pack_run {
	unsigned char *to, *limit;
	uint64_t base_ns; /* the time in the frame of a stamp is this, plus image_ns of the stamp */
};

#define PX_PACK_EVENT_MAX 128

/* A site, and its number in records. */
struct px_pack_site {
	uint64_t address, kind;
	unsigned char number[2];
	uint32_t size; /* of the number: 1 or 2 bytes */
};

/*
 * Begin a run in a frame that has an entry, and that must not become longer than size.  Return false if there is no
 * room.
 */
bool px_pack_begin_run(const struct px_pack *pack, uint64_t size, struct px_pack_run *run);
void px_pack_end_run(struct px_pack *pack, const struct px_pack_run *run, uint32_t nr_events);

/* Find a site that the chapter has.  Return false if there is none. */
bool px_pack_find_site(const struct px_pack *pack, uint64_t address, uint64_t kind, struct px_pack_site *found);

/* Return the kind of a site: event type, flags, length of data (0 if the shape is LONG), and shape. */
PX_INLINE uint64_t px_pack_kind(uint32_t id, uint32_t flags, uint32_t length, uint32_t shape)
{
	return (uint64_t)id << 32 | (uint64_t)(flags & 0xFFFF) << 16 | length << 8 | shape;
}

PX_INLINE uint32_t px_pack_id_of_kind(uint64_t kind)
{
	return (uint32_t)(kind >> 32);
}

/* Write the number of the site, and perhaps one byte more.  Return the address behind the number. */
PX_INLINE unsigned char *px_pack_put_site(unsigned char *to, const struct px_pack_site *site)
{
	memcpy(to, site->number, sizeof(site->number));
	return to + site->size;
}

/* End the frame.  Return its bytes, which stay valid until the next px_pack_begin(). */
const void *px_pack_end(struct px_pack *pack, size_t *size);

#endif
