/* SPDX-License-Identifier: MIT */
#include "event/typelist.h"

#include <errno.h>
#include <string.h>

enum { WRITING = 1, READY = 2, STATE_MASK = 3, ID_SHIFT = 2 };

static void write_name(struct px_typelist_entry *entry, const char *name)
{
	size_t i;

	/*
	 * Store single bytes atomically, because several threads may write the same name at the
	 * same time.  Readers use the name only after the entry is READY.
	 */
	for (i = 0; i < PX_NAME_MAX && name[i]; i++)
		__atomic_store_n(&entry->name[i], name[i], __ATOMIC_RELAXED);
	__atomic_store_n(&entry->name[i], '\0', __ATOMIC_RELAXED);
}

uint32_t px_typelist_add(struct px_typelist *list, unsigned int id, const char *name)
{
	const uint32_t writing = id << ID_SHIFT | WRITING;
	uint32_t i = 0;

	while (i < PX_TYPELIST_MAX) {
		uint32_t word = px_load_acquire(&list->entry[i].word);

		if (word == 0 && !px_compare_exchange(&list->entry[i].word, 0, writing))
			continue; /* another thread claimed the entry, possibly for the same id: check it again */
		if (word == 0 || word >> ID_SHIFT == id)
			break;
		i++;
	}
	if (i == PX_TYPELIST_MAX)
		return i; /* only a corrupt list has no free entry here */
	PX_TESTPOINT("typelist.add.taken");
	if ((px_read_once(&list->entry[i].word) & STATE_MASK) != READY) {
		write_name(&list->entry[i], name);
		px_store_release(&list->entry[i].word,
				 id << ID_SHIFT | READY); /* EDGE type release */
	}
	px_fetch_or(&list->listed.bits[id / 64], UINT64_C(1) << id % 64);
	return i;
}

static void read_name(const struct px_typelist_entry *entry, char name[PX_NAME_MAX + 1])
{
	size_t i;

	for (i = 0; i < PX_NAME_MAX; i++) {
		name[i] = __atomic_load_n(&entry->name[i], __ATOMIC_RELAXED);
		if (name[i] == '\0')
			return;
	}
	name[i] = '\0';
}

bool px_typelist_get(const struct px_typelist *list, uint32_t i, unsigned int *id,
		     char name[PX_NAME_MAX + 1])
{
	uint32_t word;

	if (i >= PX_TYPELIST_MAX)
		return false;
	word = px_load_acquire(&list->entry[i].word); /* EDGE type acquire */
	if (word == 0)
		return false;
	*id = word >> ID_SHIFT;
	if ((word & STATE_MASK) != READY || *id < PX_EVENT_USER_FIRST || *id >= PX_EVENT_IDS)
		*id = PX_EVENT_NONE;
	else
		read_name(&list->entry[i], name);
	return true;
}

int px_typelist_name(const struct px_typelist *list, unsigned int id, char name[PX_NAME_MAX + 1])
{
	const uint32_t ready = id << ID_SHIFT | READY;

	if (id < PX_EVENT_USER_FIRST)
		return px_names_get(NULL, id, name);
	for (uint32_t i = 0; id < PX_EVENT_IDS && i < PX_TYPELIST_MAX; i++) {
		uint32_t word = px_load_acquire(&list->entry[i].word); /* EDGE type acquire */

		if (word == 0)
			break;
		if (word == ready) {
			read_name(&list->entry[i], name);
			return 0;
		}
	}
	return EINVAL;
}
