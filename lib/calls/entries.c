/* SPDX-License-Identifier: MIT */
#include "calls/entries.h"

#include <string.h>

#include "txtb/txtb.h"

struct px_entry *px_entries_add(struct px_translation *to, uint32_t context, uint32_t priority,
				uint32_t id)
{
	struct px_entry *entry = &to->entries[to->nr_entries++];

	*entry = (struct px_entry){.context = context, .priority = priority, .id = id};
	return entry;
}

struct px_entry *px_entries_add_by(struct px_translation *to, const struct px_call_object *thread,
				   uint32_t id)
{
	if (thread && thread->is_known && !thread->is_suspended)
		return px_entries_add(to, thread->object.handle, thread->priority, id);
	return px_entries_add(to, PX_IDLE_THREAD, px_txtb_priority_word(PX_PSEUDO_PRIORITY), id);
}

void px_entries_fill_plainly(const struct px_record *record, const void *data, size_t length,
			     struct px_entry *entry)
{
	uint64_t bytes[2];

	*entry = (struct px_entry){.context = record->context,
				   .priority = record->priority,
				   .id = PX_TXTB_USER_EVENT + record->id};
	if (!record->context) {
		entry->context = PX_NO_THREAD;
		entry->priority = px_txtb_priority_word(PX_PSEUDO_PRIORITY);
	}
	px_first_bytes(data, length, bytes);
	memcpy(entry->info, bytes, sizeof(bytes));
}

void px_entries_add_plainly(const struct px_record *record, const void *data, size_t length,
			    struct px_translation *to)
{
	to->own = to->nr_entries++;
	to->is_native = false;
	px_entries_fill_plainly(record, data, length, &to->entries[to->own]);
}
