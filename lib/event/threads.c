/* SPDX-License-Identifier: MIT */
#include "event/threads.h"

#include <stddef.h>

#include "base/compiler.h"

#define RENEWED_MAX 64 /* entries of first threads that one thread passes */
#define OBJECT_WORDS (sizeof(struct px_object) / sizeof(uint64_t))

_Static_assert(sizeof(struct px_object) % sizeof(uint64_t) == 0, "copied in words");

/*
 * Copy an entry word by word with atomic accesses, so that a race with a writer is defined
 * behaviour.  The reader detects such a race, because the writer changes the word of the entry.
 */
union object_words {
	struct px_object object;
	uint64_t words[OBJECT_WORDS];
};

static uint64_t *words_of(struct px_threads_entry *entry)
{
	return &entry->word + 1;
}

_Static_assert(offsetof(struct px_threads_entry, object) == sizeof(uint64_t), "object behind word");

/*
 * Return true for the first thread of a process.  It usually lives as long as the process, and has events after many
 * other threads have come and gone.
 */
static bool is_first_thread(const struct px_threads_entry *entry)
{
	uint32_t pid = px_read_once(&entry->object.pid);

	return pid != 0 && px_read_once(&entry->object.tid) == pid;
}

/*
 * Claim the next entry.  Try the next one if another thread is writing to the entry, or if this thread was preempted
 * and a later writer has already used the entry.  The entry of a first thread is not replaced but renewed: it gets the
 * serial.
 */
static struct px_threads_entry *claim_entry(struct px_threads *threads, uint64_t *serial)
{
	int nr_renewed = 0;

	for (int attempts = 0; attempts < PX_THREADS_MAX; attempts++) {
		struct px_threads_entry *entry;
		uint64_t word;
		bool renews;

		*serial = px_fetch_add(&threads->next, UINT64_C(1));
		entry = &threads->entry[*serial % PX_THREADS_MAX];
		PX_TESTPOINT("objects.add.reserved");
		word = px_read_once(&entry->word);
		renews = word != 0 && nr_renewed < RENEWED_MAX && is_first_thread(entry);
		if ((word & 1) != 0 || word >= 2 * (*serial + 1) ||
		    !px_compare_exchange(&entry->word, word, 2 * (*serial + 1) + 1))
			continue;
		if (!renews)
			return entry;
		px_store_release(&entry->word, 2 * (*serial + 1)); /* EDGE object release */
		nr_renewed++;
	}
	return NULL;
}

uint64_t px_threads_add(struct px_threads *threads, const struct px_object *object)
{
	union object_words copy = {.object = *object};
	uint64_t serial;
	struct px_threads_entry *entry = claim_entry(threads, &serial);

	if (!entry)
		/* Every entry has a writer that was killed or has not finished yet. */
		return serial;
	px_write_fence();
	PX_TESTPOINT("objects.add.writing");
	for (size_t i = 0; i < OBJECT_WORDS; i++)
		px_write_once(words_of(entry) + i, copy.words[i]);
	px_store_release(&entry->word, 2 * (serial + 1)); /* EDGE object release */
	return serial;
}

bool px_threads_get(const struct px_threads *threads, uint64_t serial, struct px_object *object)
{
	struct px_threads_entry *entry =
		(struct px_threads_entry *)&threads->entry[serial % PX_THREADS_MAX];
	union object_words copy;

	/* EDGE object acquire */
	if (px_load_acquire(&entry->word) != 2 * (serial + 1))
		return false;
	for (size_t i = 0; i < OBJECT_WORDS; i++)
		copy.words[i] = px_read_once(words_of(entry) + i);
	px_read_fence();
	if (px_read_once(&entry->word) != 2 * (serial + 1))
		return false;
	*object = copy.object;
	object->name[PX_OBJECT_NAME_SIZE - 1] = '\0';
	return true;
}

bool px_threads_find(const struct px_threads *threads, uint32_t handle, struct px_object *object)
{
	uint64_t next = px_load_acquire(&threads->next);
	uint64_t oldest = next > PX_THREADS_MAX ? next - PX_THREADS_MAX : 0;

	for (uint64_t serial = next; serial-- > oldest;)
		if (px_read_once(&threads->entry[serial % PX_THREADS_MAX].object.handle) ==
			    handle &&
		    px_threads_get(threads, serial, object) && object->handle == handle)
			return true;
	return false;
}
