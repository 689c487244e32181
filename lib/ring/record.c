/* SPDX-License-Identifier: MIT */
#include "ring/record.h"

#define MORE_WORDS (PX_RECORD_MORE_BYTES / sizeof(uint64_t))

_Static_assert(PX_RECORD_MORE_BYTES == sizeof(struct px_slot) - sizeof(uint64_t) + 16,
	       "a further slot holds all but its word, and the info words of its entry");

/* Return the address of data word i of a further slot: words 0 and 1 are in its entry, the next five in its px_slot. */
static uint64_t *more_word(const struct px_ring *ring, uint64_t position, size_t i)
{
	if (i < 2)
		return (px_pair *)&ring->entries[position & ring->mask] + 2 + i;
	return &ring->slots[position & ring->mask].word + 1 + (i - 2);
}

void px_record_write_more(const struct px_ring *ring, const struct px_reservation *at, uint32_t n,
			  const struct px_event *event, uint32_t stamp, uint32_t cpu)
{
	const unsigned char *data = (const unsigned char *)event->data + PX_RECORD_FIRST_BYTES;
	size_t left = event->length - PX_RECORD_FIRST_BYTES;

	for (uint32_t i = 1; i < n; i++) {
		uint64_t position = at->position + i;
		px_pair *entry = (px_pair *)&ring->entries[position & ring->mask];
		uint64_t words[MORE_WORDS];
		size_t length = left < sizeof(words) ? left : sizeof(words);

		if (length < sizeof(words))
			memset(words, 0, sizeof(words));
		memcpy(words, data, length);
		px_write_once(entry, px_pair_of(event->handle, event->priority));
		px_write_once(entry + 1, px_pair_of((cpu & 0xFF) << 24 | PX_TXTB_DATA, stamp));
		for (size_t k = 0; k < MORE_WORDS; k++)
			px_write_once(more_word(ring, position, k), words[k]);
		data += length;
		left -= length;
	}
	PX_TESTPOINT("record.write.more");
}

/* Return true if all further slots belong to the record that begins with this slot word. */
static bool more_words_fit(const struct px_ring *ring, uint64_t position, uint64_t word, uint32_t n)
{
	for (uint32_t i = 1; i < n; i++)
		if (px_load_acquire(&ring->slots[(position + i) & ring->mask].word) !=
		    px_word(position + i, px_word_tid(word), PX_SLOT_MORE))
			return false;
	return true;
}

static void read_data(const struct px_ring *ring, uint64_t position, size_t length, void *data)
{
	unsigned char *to = data;
	uint64_t words[MORE_WORDS];
	size_t chunk = length < PX_RECORD_FIRST_BYTES ? length : PX_RECORD_FIRST_BYTES;

	words[0] = px_read_once(more_word(ring, position, 0));
	words[1] = px_read_once(more_word(ring, position, 1));
	memcpy(to, words, chunk);
	for (length -= chunk; length > 0; length -= chunk) {
		to += chunk;
		position++;
		for (size_t k = 0; k < MORE_WORDS; k++)
			words[k] = px_read_once(more_word(ring, position, k));
		chunk = length < sizeof(words) ? length : sizeof(words);
		memcpy(to, words, chunk);
	}
}

bool px_record_is_whole(const struct px_ring *ring, uint64_t position, uint64_t word, uint32_t n)
{
	return px_ring_unchanged(ring, position, word) &&
	       (px_likely(n == 1) || more_words_fit(ring, position, word, n));
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
	if (n > ring->mask + 1 || (px_unlikely(n > 1) && !more_words_fit(ring, position, word, n)))
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
