/* SPDX-License-Identifier: MIT */
#include "ring/record.h"

bool px_record_more_is_whole(const struct px_ring *ring, uint64_t position, uint64_t word, uint32_t n)
{
	for (uint32_t i = 1; i < n; i++)
		if (px_load_acquire(&ring->slots[(position + i) & ring->mask].word) !=
		    px_word(position + i, px_word_tid(word), PX_SLOT_MORE))
			return false;
	return true;
}

/*
 * Copy the data of a slot, at most nr_words words.  Copy whole slots word by word: a copy through an array would load
 * 16 bytes directly after it stored them in two halves, and the CPU would wait for the stores.
 */
PX_INLINE void copy_words(const struct px_ring *ring, uint64_t position, size_t nr_words,
			  unsigned char *to, size_t length)
{
	uint64_t words[PX_RECORD_MORE_WORDS];

	if (px_likely(length >= nr_words * sizeof(*words))) {
		for (size_t k = 0; k < nr_words; k++) {
			words[0] = px_read_once(px_record_more_word(ring, position, k));
			memcpy(to + k * sizeof(*words), &words[0], sizeof(*words));
		}
		return;
	}
	for (size_t k = 0; k < nr_words; k++)
		words[k] = px_read_once(px_record_more_word(ring, position, k));
	memcpy(to, words, length);
}

static void read_data(const struct px_ring *ring, uint64_t position, size_t length, void *data)
{
	const size_t slot_bytes = PX_RECORD_MORE_WORDS * sizeof(uint64_t);
	unsigned char *to = data;

	copy_words(ring, position, PX_RECORD_FIRST_BYTES / sizeof(uint64_t), to, length);
	to += PX_RECORD_FIRST_BYTES;
	for (size_t done = PX_RECORD_FIRST_BYTES; done < length; done += slot_bytes) {
		copy_words(ring, ++position, PX_RECORD_MORE_WORDS, to, length - done);
		to += slot_bytes;
	}
}

bool px_record_read(const struct px_ring *ring, uint64_t position, uint64_t word,
		    struct px_record *record, void *data, size_t capacity)
{
	const struct px_slot *slot = &ring->slots[position & ring->mask];
	const px_pair *entry = (const px_pair *)&ring->entries[position & ring->mask];
	uint64_t words[2];
	uint64_t body2 = px_read_once(&slot->body[2]);
	uint64_t body3 = px_read_once(&slot->body[3]);
	uint32_t length = (uint32_t)(body2 >> 32);
	uint32_t n = px_record_slots(length);

	record->id = body3 & 0xFFFF;
	/* Event sets, in memory and in logs, have no room for larger ids. */
	if (px_unlikely(record->id >= PX_EVENT_IDS))
		return false;
	if (n > ring->mask + 1 || (px_unlikely(n > 1) && !px_record_more_is_whole(ring, position, word, n)))
		return false;
	words[0] = px_read_once(entry);
	words[1] = px_read_once(entry + 1);
	record->counter = px_read_once(&slot->counter);
	record->address = px_read_once(&slot->body[0]);
	record->thread = px_read_once(&slot->body[1]);
	record->pid = (uint32_t)body2;
	record->length = length;
	record->flags = body3 >> 16 & 0xFFFF;
	record->extra = (uint32_t)(body3 >> 32);
	record->nr_slots = n;
	record->context = px_is_thread(px_pair_first(words[0])) ? px_pair_first(words[0]) : 0;
	record->priority = px_pair_second(words[0]);
	record->cpu = px_pair_first(words[1]) >> 24;
	if (capacity > 0 && length > 0)
		read_data(ring, position, length < capacity ? length : capacity, data);
	PX_TESTPOINT("record.read.copied");
	return px_record_is_whole(ring, position, word, n);
}
