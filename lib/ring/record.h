/* SPDX-License-Identifier: MIT */
/*
 * Convert between one event and slots of a ring.
 *
 * The info words of the first entry hold the first 16 bytes of the data, so that the viewer shows them.  Each further
 * slot holds 56 bytes more: 16 in its px_txtb_entry and 40 in its px_slot.  The px_slot of the first slot holds what
 * POSIX requires and TXTB has no room for: the whole counter, the address, pthread_t, the pid and the length of the
 * data.
 */
#ifndef PX_RING_RECORD_H
#define PX_RING_RECORD_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "event/eventset.h"
#include "event/threads.h"
#include "ring/ring.h"

#define PX_RECORD_FIRST_BYTES 16
#define PX_RECORD_MORE_BYTES 56
#define PX_SLOT_BYTES (sizeof(struct px_slot) + sizeof(struct px_txtb_entry))

enum px_record_flags {
	PX_RECORD_TRUNCATED = 1, /* the data was truncated when it was recorded */
	PX_RECORD_MARKS = 2,	 /* the last bytes of the data are a struct px_marks */
	PX_RECORD_SILENT = 4,	 /* readers report the marks of this record, but not the record */
	PX_RECORD_CALL = 8,	 /* a wrapper recorded it: the id is a call, and calls.h defines the data */
	PX_RECORD_BEGINS = 16,	 /* the call begins to wait */
	PX_RECORD_ENDS = 32,	 /* the wait has ended */
	/* The descriptors that the call opened, or set the flags of, are closed by execve().  Logs do not keep this. */
	PX_RECORD_ENDS_WITH_EXEC = 64
};

/*
 * The marks say which events a reader reports before the record that has them.  Two kinds of record have marks: the
 * START that ends an automatic stop, and a FLUSH_START or FLUSH_STOP that was recorded during an automatic stop.
 */
struct px_marks {
	uint64_t first_dropped; /* counter of the first event lost during the stop; 0: none */
	uint32_t stopped;	/* serial of a run: report its automatic STOP; 0: none */
	uint32_t gap;		/* enum px_gap; if first_dropped is 0: none */
};

enum px_gap {
	PX_GAP_NONE,
	PX_GAP_ENDS,  /* report OVERFLOW, unless it was reported already, and RESUME */
	PX_GAP_BEGINS /* report OVERFLOW only: the stream is still full */
};

/* An event to be recorded. */
struct px_event {
	uint32_t id;
	uint32_t flags; /* enum px_record_flags */
	const void *data;
	size_t length;
	uint64_t address;
	uint64_t thread; /* pthread_t */
	uint32_t pid;
	uint32_t tid;	   /* tid of the calling thread, for the claim */
	uint32_t handle;   /* TXTB context */
	uint32_t priority; /* TXTB priority word */
};

/* An event that was read from a ring. */
struct px_record {
	uint64_t counter;
	uint64_t address;
	uint64_t thread;
	uint32_t pid;
	uint32_t id;
	uint32_t flags;
	uint32_t length; /* bytes of recorded data, including the marks */
	uint32_t extra;	 /* low 32 bits of the result of px_ring_extra() before this record */
	uint32_t nr_slots;
	uint32_t context;  /* TXTB handle of the thread; 0: the reader synthesized the event */
	uint32_t priority; /* TXTB priority word */
	uint32_t cpu;
};

/* Return the number of slots of a record with this length of data. */
PX_INLINE uint32_t px_record_slots(size_t length)
{
	if (px_likely(length <= PX_RECORD_FIRST_BYTES))
		return 1;
	/* No step exceeds 32 bits, whatever a hostile length is. */
	return 2 + (uint32_t)((length - PX_RECORD_FIRST_BYTES - 1) / PX_RECORD_MORE_BYTES);
}

/* Return the number of bytes that a record with this length of data takes in a ring. */
PX_INLINE uint64_t px_record_size(uint64_t length)
{
	return (uint64_t)px_record_slots((size_t)length) * PX_SLOT_BYTES;
}

/* FILTER is the system event with the most data: the old and the new set. */
#define PX_SYSTEM_EVENT_BYTES (2 * sizeof(struct px_eventset))

/*
 * Write the event into n claimed slots. n is px_record_slots(event->length).  Each entry holds only the low 8 bits of
 * cpu.
 */
PX_INLINE void px_record_write(const struct px_ring *ring, const struct px_reservation *at,
			       uint32_t n, const struct px_event *event, uint32_t shift,
			       uint32_t cpu);

/*
 * Copy the record at position, and at most capacity bytes of its data.  word is the slot word that px_ring_look() read
 * there.  Return false if a writer overwrote the record during the copy, or if the slots hold no valid record: the
 * memory is hostile input.
 */
bool px_record_read(const struct px_ring *ring, uint64_t position, uint64_t word,
		    struct px_record *record, void *data, size_t capacity);

/* Return true if all n - 1 further slots belong to the record that begins with this slot word. */
bool px_record_more_is_whole(const struct px_ring *ring, uint64_t position, uint64_t word, uint32_t n);

/* Return true if the n slots from position on still hold the record that begins with this slot word. */
PX_INLINE bool px_record_is_whole(const struct px_ring *ring, uint64_t position, uint64_t word, uint32_t n)
{
	return px_ring_unchanged(ring, position, word) &&
	       (px_likely(n == 1) || px_record_more_is_whole(ring, position, word, n));
}

/*
 * Read only the counter of the record at position.  Afterwards the caller must check with px_ring_unchanged() that the
 * record is still there.
 */
PX_INLINE uint64_t px_record_counter(const struct px_ring *ring, uint64_t position)
{
	return px_read_once(&ring->slots[position & ring->mask].counter);
}

/*
 * Read only the flags of the record at position (enum px_record_flags).  Afterwards the caller must check with
 * px_ring_unchanged() that the record is still there.
 */
PX_INLINE uint32_t px_record_flags(const struct px_ring *ring, uint64_t position)
{
	return px_read_once(&ring->slots[position & ring->mask].body[3]) >> 16 & 0xFFFF;
}

/* Writers and readers access an entry as pairs of 32-bit words. */
typedef uint64_t px_pair __attribute__((may_alias));

PX_INLINE px_pair px_pair_of(uint32_t first, uint32_t second)
{
#if __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__
	return (uint64_t)second << 32 | first;
#else
	return (uint64_t)first << 32 | second;
#endif
}

PX_INLINE uint32_t px_pair_first(uint64_t pair)
{
#if __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__
	return (uint32_t)pair;
#else
	return (uint32_t)(pair >> 32);
#endif
}

PX_INLINE uint32_t px_pair_second(uint64_t pair)
{
#if __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__
	return (uint32_t)(pair >> 32);
#else
	return (uint32_t)pair;
#endif
}

PX_INLINE uint64_t px_bytes_8(const unsigned char *p)
{
	uint64_t value;

	memcpy(&value, p, sizeof(value));
	return value;
}

/*
 * Copy the first 16 bytes of the data.  If there are fewer, add zeros.  On little-endian machines use no memcpy() with
 * a variable length, because it would be a function call.
 */
PX_INLINE void px_first_bytes(const void *data, size_t length, uint64_t bytes[2])
{
	const unsigned char *p = data;

	bytes[0] = bytes[1] = 0;
	if (px_likely(length >= 16)) {
		bytes[0] = px_bytes_8(p);
		bytes[1] = px_bytes_8(p + 8);
		return;
	}
#if __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__
	if (length >= 8) {
		bytes[0] = px_bytes_8(p);
		if (length > 8)
			bytes[1] = px_bytes_8(p + length - 8) >> 8 * (16 - length);
	} else if (length >= 4) {
		uint32_t low, high;

		memcpy(&low, p, 4);
		memcpy(&high, p + length - 4, 4);
		bytes[0] = low | (uint64_t)high << 8 * (length - 4);
	} else if (length > 0) {
		bytes[0] = p[0] | (uint64_t)p[length / 2] << 8 * (length / 2) |
			   (uint64_t)p[length - 1] << 8 * (length - 1);
	}
#else
	if (length > 0)
		memcpy(bytes, p, length);
#endif
}

#define PX_RECORD_MORE_WORDS (PX_RECORD_MORE_BYTES / sizeof(uint64_t))

_Static_assert(PX_RECORD_MORE_BYTES == sizeof(struct px_slot) - sizeof(uint64_t) + 16,
	       "a further slot holds all but its word, and the info words of its entry");

/* Return the address of data word i of a further slot: words 0 and 1 are in its entry, the next five in its px_slot. */
PX_INLINE uint64_t *px_record_more_word(const struct px_ring *ring, uint64_t position, size_t i)
{
	if (i < 2)
		return (px_pair *)&ring->entries[position & ring->mask] + 2 + i;
	return &ring->slots[position & ring->mask].word + 1 + (i - 2);
}

/*
 * Copy `length` data bytes of the record at position, from the 17th on, to memory that has room for 7 bytes more.
 * Afterwards the caller must check with px_record_is_whole() that the record is still there.
 */
PX_INLINE void px_record_copy_more(const struct px_ring *ring, uint64_t position, size_t length, unsigned char *to)
{
	for (size_t slot = 0; slot < length; slot += PX_RECORD_MORE_BYTES) {
		const px_pair *entry = (const px_pair *)&ring->entries[++position & ring->mask];
		const uint64_t *words = &ring->slots[position & ring->mask].counter;

#pragma GCC unroll 7
		for (size_t k = 0; k < PX_RECORD_MORE_WORDS; k++) {
			uint64_t word;

			if (slot + k * sizeof(word) >= length)
				return;
			word = k < 2 ? px_read_once(entry + 2 + k) : px_read_once(words + k - 2);
			memcpy(to, &word, sizeof(word));
			to += sizeof(word);
		}
	}
}

/*
 * Return data word k of the last further slot, which has `left` bytes, with zeros after the data.  The data of such a
 * record is longer than a word.  So the last bytes can be read as the end of a whole word.
 */
PX_INLINE uint64_t px_record_last_word(const unsigned char *data, size_t left, size_t k)
{
	size_t end = (k + 1) * sizeof(uint64_t);

	if (left >= end)
		return px_bytes_8(data + end - sizeof(uint64_t));
	if (left + sizeof(uint64_t) <= end)
		return 0;
#if __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__
	return px_bytes_8(data + left - sizeof(uint64_t)) >> 8 * (end - left);
#else
	return px_bytes_8(data + left - sizeof(uint64_t)) << 8 * (end - left);
#endif
}

/*
 * Write the data that follows the first 16 bytes into the further slots.  Pass no structure that the caller has just
 * filled in: the CPU would have to wait for these stores.
 */
PX_INLINE void px_record_write_more(const struct px_ring *ring, uint64_t position, uint32_t n,
				    const unsigned char *data, size_t left, px_pair first, px_pair second)
{
	for (uint32_t i = 1; i < n; i++) {
		px_pair *entry = (px_pair *)&ring->entries[++position & ring->mask];

		px_write_once(entry, first);
		px_write_once(entry + 1, second);
		if (i == n - 1)
			break;
		for (size_t k = 0; k < PX_RECORD_MORE_WORDS; k++)
			px_write_once(px_record_more_word(ring, position, k),
				      px_bytes_8(data + k * sizeof(uint64_t)));
		data += PX_RECORD_MORE_BYTES;
		left -= PX_RECORD_MORE_BYTES;
	}
	for (size_t k = 0; k < PX_RECORD_MORE_WORDS; k++)
		px_write_once(px_record_more_word(ring, position, k), px_record_last_word(data, left, k));
	PX_TESTPOINT("record.write.more");
}

PX_INLINE void px_record_write(const struct px_ring *ring, const struct px_reservation *at,
			       uint32_t n, const struct px_event *event, uint32_t shift,
			       uint32_t cpu)
{
	struct px_slot *slot = &ring->slots[at->position & ring->mask];
	px_pair *entry = (px_pair *)&ring->entries[at->position & ring->mask];
	uint32_t stamp = (uint32_t)(at->counter >> shift);
	uint64_t bytes[2];

	px_first_bytes(event->data, event->length, bytes);
	px_write_once(entry, px_pair_of(event->handle, event->priority));
	px_write_once(entry + 1,
		      px_pair_of((cpu & 0xFF) << 24 | (PX_TXTB_USER_EVENT + event->id), stamp));
	px_write_once(entry + 2, bytes[0]);
	px_write_once(entry + 3, bytes[1]);
	px_write_once(&slot->counter, at->counter);
	px_write_once(&slot->body[0], event->address);
	px_write_once(&slot->body[1], event->thread);
	px_write_once(&slot->body[2], (uint64_t)event->length << 32 | event->pid);
	px_write_once(&slot->body[3], at->extra << 32 | event->flags << 16 | event->id);
	PX_TESTPOINT("record.write.first");
	if (px_unlikely(n > 1))
		px_record_write_more(ring, at->position, n,
				     (const unsigned char *)event->data + PX_RECORD_FIRST_BYTES,
				     event->length - PX_RECORD_FIRST_BYTES,
				     px_pair_of(event->handle, event->priority),
				     px_pair_of((cpu & 0xFF) << 24 | PX_TXTB_DATA, stamp));
}

#endif
