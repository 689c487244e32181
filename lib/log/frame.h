/* SPDX-License-Identifier: MIT */
/*
 * The layout of a frame.  A frame belongs to the entries of one write to a log.  It holds what these entries have no
 * room for: exact times, addresses of trace points, pid and pthread_t, data of calls, data after the first 16 bytes,
 * and exact names.
 *
 *	header		struct px_log_frame
 *	objects		the definitions of objects to which the entries refer
 *	records		one record for each entry, in the order of the entries
 *
 * Frames of a *chapter* share tables: a frame may refer to the sites and objects of earlier frames of its chapter.  A
 * reader can begin at each chapter.  The header of a frame tells whether the frame begins a chapter.
 *
 * Numbers are varints (varint.h).  A signed number n is stored as 2n, or -2n - 1 if it is negative.
 *
 *	object	handle (signed), a byte of bits, address (signed), number of bytes that the name shares with the
 *		beginning of the name before it, number of further bytes of the name, these bytes.  After the byte of
 *		bits, if the bit is set: type, priority, pid, tid, pthread_t; before the name: site (signed).  These
 *		are the differences from the object before it in the frame, from zeros for the first one.  A member
 *		whose bit is not set is that of the object before it.  The writer puts threads before other objects,
 *		because objects of one kind have fewer differences.
 *		Without the flag DELTAS: handle, type, priority, pid, tid, pthread_t, address, site, length of the
 *		name (all varints), the name
 *
 *	record	0			the entry is for the viewer only
 *		1, site, event		the site gets the next index of the chapter
 *		2, site, event		the site gets no index
 *		3 + index, event	an event of this site
 *
 *	site	shape (1 byte), flags, event type, data length (if the shape is not LONG), signed: address minus
 *		the address of the site defined before it
 *
 *	event	time: a byte below 255: nanoseconds to add to the time of the entry's stamp; 255: a signed number
 *		follows, and also all later events of the frame are later by this number
 *		OTHER_THREAD: pid, pthread_t
 *		LONG: data length
 *		NATIVE: 16 bytes of data, as a byte with 2 bits for each 32-bit word, and 0, 1, 2 or 4 bytes for each
 *		word: the word XOR the same word of the last event of this site in the chapter
 *		LONG: the data after the first 16 bytes; if KEPT, as one of these:
 *			0, data		the data get the next index of the chapter
 *			1, data		the data get no index
 *			2 + index	the data with this index; they have the same length
 *		NATIVE and LONG but not KEPT, with the flag SHARES: first the number of bytes that they share with the
 *		beginning of those of the last such event of the frame, then the others
 *
 * KEPT is for the stacks of calls: many events have the same stack, and a chapter has it once.
 *
 * The first 16 bytes of data of an event that is not NATIVE are in its entry.  If an event has no OTHER_THREAD, the
 * context of its entry is an object, and the pid and pthread_t of that object are those of the event.
 */
#ifndef PX_LOG_FRAME_H
#define PX_LOG_FRAME_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/compiler.h"
#include "event/threads.h"

#define PX_FRAME_MAGIC 0x31465850u /* the bytes "PXF1" on a little-endian machine */
#define PX_FRAME_CHAPTER 1u	   /* flag: the frame begins a chapter */
/* flag: the check sum of the body is computed in four lanes of 64 bits; frames of the first logs have one lane */
#define PX_FRAME_LANES 2u
/* flag: an object is stored as differences from the object before it; frames of the first logs have no differences */
#define PX_FRAME_DELTAS 4u
/* flag: long data of calls, which are paths, are stored without what they share with those before them */
#define PX_FRAME_SHARES 8u
/* flag: before the first event of the frame, events are missing, because a write of the log failed */
#define PX_FRAME_AFTER_LOSS 16u
#define PX_FRAME_SITES_MAX 4096	   /* maximum number of sites of a chapter */
/* Maximum number of objects of a chapter; a reader ignores further objects. */
#define PX_FRAME_OBJECTS_MAX 65536
#define PX_FRAME_LATER 255
/* Maximum number of bytes that the long data of an event share with those before them. */
#define PX_FRAME_SHARED_MAX 127
/* Maximum number of bytes of all data of a frame that share bytes: a reader needs that much memory for them. */
#define PX_FRAME_SHARING_MAX 262144

struct px_log_frame {
	uint32_t magic;
	uint32_t sum;	      /* check sum of all other bytes of the frame (px_frame_sum_of()) */
	uint64_t position;    /* position of the first entry in the log */
	uint64_t time_ns;     /* time for which the stamp of the first entry stands */
	uint32_t nr_entries;
	uint32_t nr_events;
	uint32_t objects;     /* size of the objects in bytes */
	uint32_t records;     /* size of the records in bytes */
	uint32_t flags;
	uint32_t reserved;
};

_Static_assert(sizeof(struct px_log_frame) == 48, "no padding");

/* The first number of a record. */
enum { PX_FRAME_SHOWN = 0, PX_FRAME_NEW_SITE = 1, PX_FRAME_ONE_SITE = 2, PX_FRAME_SITE_FIRST = 3 };

/* The bits of the shape of a site. */
enum { PX_FRAME_NATIVE = 1, PX_FRAME_OTHER_THREAD = 2, PX_FRAME_LONG = 4, PX_FRAME_KEPT = 8 };

/* The first number of data that are kept. */
enum { PX_FRAME_KEEP = 0, PX_FRAME_KEEP_NOT = 1, PX_FRAME_KEPT_FIRST = 2 };

#define PX_FRAME_KEPT_MAX 1024	/* maximum number of kept data of a chapter */
#define PX_FRAME_KEPT_BYTES 256 /* maximum of the data after the first 16 bytes, if they are kept */

/* The bits of an object: these members differ from those of the object before it. */
enum {
	PX_FRAME_TYPE = 1,
	PX_FRAME_PRIORITY = 2,
	PX_FRAME_PID = 4,
	PX_FRAME_TID = 8,
	PX_FRAME_PTHREAD = 16,
	PX_FRAME_CALLER = 32 /* the site */
};

/* An object: a thread, or the object of calls. */
struct px_log_object {
	struct px_object object; /* handle 0: the object is unknown */
	uint64_t address;	 /* address of the object of a call, or its descriptor */
	uint64_t site;		 /* code address of the first call that used the object */
};

/*
 * Return the check sum of these bytes, continued from sum.  A check sum finds damage, but does not protect against
 * forgery.  It is a sum of words, so it depends on the byte order of the writer: is_swapped says that this was the
 * other one.
 */
uint32_t px_frame_sum(uint32_t sum, const void *data, size_t size, bool is_swapped);

/*
 * Return the check sum that the header of this frame must have.  body: the objects and records of the frame.
 * is_swapped: the writer had the other byte order; *frame was converted already.
 */
uint32_t px_frame_sum_of(const struct px_log_frame *frame, const void *body, bool is_swapped);

PX_INLINE uint64_t px_frame_zigzag(int64_t n)
{
	return (uint64_t)n << 1 ^ (uint64_t)(n >> 63);
}

PX_INLINE int64_t px_frame_unzigzag(uint64_t n)
{
	return (int64_t)(n >> 1 ^ (0 - (n & 1)));
}

#endif
