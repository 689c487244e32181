/* SPDX-License-Identifier: MIT */
#include "log/log_private.h"

#include <stdio.h>
#include <string.h>

void px_log_describe(const struct px_log *log, uint32_t handle, struct px_log_object *to)
{
	const struct px_call_object *known =
		log->translator ? px_translator_find(log->translator, handle) : NULL;
	bool is_thread = handle >> 24 == PX_TXTB_THREAD;

	*to = (struct px_log_object){.object = {.handle = handle, .type = PX_TXTB_THREAD}};
	if (known) {
		to->object = known->object;
		to->address = is_thread ? 0 : known->address;
		to->site = known->site;
		return;
	}
	if (handle == PX_IDLE_THREAD) {
		to->object.priority = 1023;
		strcpy(to->object.name, PX_IDLE_THREAD_NAME);
		return;
	}
	if (px_threadmap_find(log->threads, handle, &to->object) &&
	    to->object.type == PX_TXTB_THREAD)
		return;
	to->object = (struct px_object){.handle = handle, .type = PX_TXTB_THREAD};
	snprintf(to->object.name, sizeof(to->object.name), "unknown thread %x", handle);
}

bool px_log_find_thread(const struct px_log *log, uint32_t pid, uint32_t tid, struct px_object *thread)
{
	uint32_t handle = px_threadmap_find_tid(log->threads, pid, tid);

	return handle != 0 && px_threadmap_find(log->threads, handle, thread);
}

void px_log_describe_context(const struct px_log *log, struct px_log_volume *volume,
			     struct px_log_context *context)
{
	px_log_describe(log, context->handle, &context->known);
	px_log_make_name_unique(volume, context);
	px_log_list_change(volume, context);
	context->is_dirty = true;
	context->chapter = 0;
}

static void fill_context(struct px_log *log, struct px_log_volume *volume, uint32_t slot,
			 uint32_t handle)
{
	struct px_log_context *context = &volume->context[slot];

	context->is_stale |= context->handle != 0 && !context->is_dirty;
	px_log_enter_context(log, volume, slot, handle);
	px_log_describe_context(log, volume, context);
}

/*
 * Find an object slot that no entry from position `keep` on needs.  Threads and objects of calls have separate slots,
 * so one kind cannot take the slots of the other.  If there is no slot, return 0, and set `none_before`: a later search
 * with a smaller `keep` fails at once.
 */
static uint32_t free_context(const struct px_log *log, struct px_log_volume *volume,
			     bool is_thread, uint64_t keep)
{
	struct px_log_hand *hand = &volume->hand[is_thread ? 0 : 1];
	uint32_t first = PX_LOG_SLOT_FIRST + (is_thread ? 0 : log->header.nr_thread_slots);
	uint32_t count = is_thread ? log->header.nr_thread_slots : log->header.nr_call_slots;
	uint64_t oldest = UINT64_MAX;

	if (keep < hand->none_before)
		return 0;
	for (uint32_t n = 0; n < count; n++) {
		uint32_t i = first + hand->next;
		const struct px_log_context *context = &volume->context[i];

		hand->next = (hand->next + 1) % count;
		if (context->handle == 0 || (log->loops && context->last < keep))
			return i;
		if (context->last < oldest)
			oldest = context->last;
	}
	hand->none_before = log->loops ? oldest + 1 : UINT64_MAX;
	return 0;
}

struct px_log_context *px_log_place_context(struct px_log *log, struct px_log_volume *volume,
					   uint32_t handle, uint64_t keep)
{
	struct px_log_context *context;
	uint32_t i = 0;

	if (handle == PX_NO_THREAD)
		return &volume->context[0];
	context = px_log_find_context(volume, handle);
	if (px_unlikely(!context)) {
		i = handle == PX_IDLE_THREAD ?
			    PX_LOG_SLOT_IDLE :
			    free_context(log, volume, handle >> 24 == PX_TXTB_THREAD, keep);
		if (i == 0)
			return NULL;
		fill_context(log, volume, i, handle);
		context = &volume->context[i];
	}
	if (context->last < log->staged.end)
		context->last = log->staged.end;
	return context;
}

void px_log_define(struct px_log *log, struct px_log_context *context, uint32_t handle)
{
	struct px_log_object object;

	if (px_likely(context)) {
		if (px_unlikely(context->chapter != log->chapter)) {
			px_pack_object(log->pack, &context->known);
			context->chapter = log->chapter;
		}
	} else if (handle != 0 && !px_pack_has_object(log->pack, handle)) {
		px_log_describe(log, handle, &object);
		px_pack_object(log->pack, &object);
	}
}

void px_log_list_type(struct px_log_volume *volume, uint32_t nr_types, unsigned int id)
{
	if (id < PX_EVENT_UNNAMED || px_eventset_has(&volume->listed, id) ||
	    volume->nr_types == nr_types)
		return;
	px_eventset_add(&volume->listed, id);
	volume->type[volume->nr_types++] = id;
}
