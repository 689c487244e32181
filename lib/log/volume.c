/* SPDX-License-Identifier: MIT */
#include "log/log_private.h"

#include <string.h>

/* Object slot 0 is for events that belong to no thread. */
void px_log_reset_volume(struct px_log_volume *volume)
{
	memset(volume, 0, sizeof(*volume));
	volume->context[0].handle = PX_NO_THREAD;
	volume->context[0].is_dirty = true;
	volume->context[0].object = (struct px_object){.handle = PX_NO_THREAD,
						       .type = PX_TXTB_THREAD,
						       .priority = 1023,
						       .name = PX_NO_THREAD_NAME};
}

static uint16_t *bucket_of(struct px_log_volume *volume, uint32_t handle)
{
	return &volume->bucket[(handle * 0x9E3779B1u >> 16) % PX_LOG_BUCKETS];
}

struct px_log_context *px_log_find_context(struct px_log_volume *volume, uint32_t handle)
{
	uint32_t i = *bucket_of(volume, handle);

	while (i && volume->context[i - 1].handle != handle)
		i = volume->context[i - 1].next;
	return i ? &volume->context[i - 1] : NULL;
}

void px_log_enter_context(struct px_log_volume *volume, uint32_t slot, uint32_t handle)
{
	struct px_log_context *context = &volume->context[slot];
	uint16_t *from;

	if (context->handle) {
		from = bucket_of(volume, context->handle);
		while (*from && *from != slot + 1)
			from = &volume->context[*from - 1].next;
		if (*from)
			*from = context->next;
	}
	context->handle = handle;
	from = bucket_of(volume, handle);
	context->next = *from;
	*from = (uint16_t)(slot + 1);
}

uint64_t px_log_take_heads(struct px_log *log, uint64_t from, uint64_t to)
{
	uint64_t count = 0;

	for (; from < to; from++) {
		uint64_t i = from % log->capacity;
		uint64_t bit = UINT64_C(1) << i % 64;

		count += (log->heads[i / 64] & bit) != 0;
		log->heads[i / 64] &= ~bit;
	}
	return count;
}

void px_log_next_volume(struct px_log *log)
{
	uint32_t slot = px_log_slot_in_volume(&log->header, log->staged.end);
	struct px_log_volume *volume;

	if (slot > 0) {
		log->hole = log->staged.end;
		log->has_hole = true;
		log->staged.end += log->header.nr_entries - slot;
		if (log->loops)
			log->staged.nr_overwritten += px_log_take_heads(log, log->hole,
									log->staged.end);
	}
	log->stage_position = log->staged.end;
	log->is_idle = false;
	volume = px_log_volume_of(log, log->staged.end);
	if (!log->loops || !volume->context[0].handle)
		px_log_reset_volume(volume);
	log->staged.stamps = volume->stamps;
}
