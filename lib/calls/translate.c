/* SPDX-License-Identifier: MIT */
#include "calls/translate.h"

#include <stdlib.h>
#include <string.h>

#include "calls/call.h"
#include "calls/resolve.h"
#include "calls/rules.h"
#include "calls/wakers.h"
#include "event/calls.h"

struct px_translator {
	struct px_resolve all;
	struct px_wakers waits;
};

struct px_translator *px_translator_make(const struct px_threadmap *threads)
{
	struct px_translator *made = calloc(1, sizeof(*made));

	if (!made)
		return NULL;
	made->all = (struct px_resolve){.threads = threads, .objects = px_call_objects_make()};
	made->waits = (struct px_wakers){.objects = made->all.objects};
	if (made->all.objects)
		return made;
	free(made);
	return NULL;
}

void px_translator_free(struct px_translator *translator)
{
	if (!translator)
		return;
	px_call_objects_free(translator->all.objects);
	free(translator);
}

struct px_call_objects *px_translator_objects(struct px_translator *translator)
{
	return translator->all.objects;
}

const struct px_call_object *px_translator_find(const struct px_translator *translator,
						uint32_t handle)
{
	return px_call_objects_find(translator->all.objects, handle);
}

void px_translator_restore(struct px_translator *translator, const struct px_object *object,
			   uint64_t address, uint64_t site)
{
	px_resolve_restore(&translator->all, object, address, site);
}

/* Words. */

static uint32_t result_word(const struct px_call_read *call)
{
	int64_t result = call->first.of_fd.result;

	return call->begins || result < 0 ? 0 : (uint32_t)result;
}

/*
 * Return the value of an information word.  Set *is_handle to true if the value is a handle,
 * otherwise to false.
 */
static uint32_t word_of(struct px_translator *translator, const struct px_call_read *call,
			enum px_call_info info, bool *is_handle)
{
	*is_handle = true;
	switch (info) {
	case PX_INFO_SELF:
		return call->record->context;
	case PX_INFO_OBJECT:
	case PX_INFO_POOL:
		return call->object ? call->object->object.handle : PX_NO_THREAD;
	case PX_INFO_THREAD:
		return px_resolve_with_tid(&translator->all, call->record->pid,
					   px_call_read_value(call));
	case PX_INFO_NEXT:
		return PX_IDLE_THREAD;
	case PX_INFO_VALUE:
		if (call->native == PX_NATIVE_THREAD_CREATE)
			return call->object ? call->object->object.handle : PX_NO_THREAD;
		*is_handle = false;
		return px_call_read_value(call);
	default:
		*is_handle = false;
	}
	switch (info) {
	case PX_INFO_ONE:
		return 1;
	case PX_INFO_FOREVER:
		return UINT32_MAX;
	case PX_INFO_COUNT:
		return call->first.of_object.count;
	case PX_INFO_RESULT:
		return result_word(call);
	case PX_INFO_LOW_FIRST:
		return (uint32_t)call->first.words[0];
	case PX_INFO_LOW_SECOND:
		return (uint32_t)call->first.words[1];
	default:
		return 0;
	}
}

void px_translate_plainly(const struct px_record *record, const void *data, size_t length,
			  struct px_translation *translation)
{
	translation->nr_entries = translation->open = translation->changed = 0;
	px_entries_add_plainly(record, data, length, translation);
}

static void show_words(struct px_translator *translator, const struct px_call_read *call,
		       struct px_entry *entry)
{
	for (unsigned int i = 0; i < 4; i++) {
		bool is_handle;

		entry->info[i] = word_of(translator, call, (enum px_call_info)call->info[i],
					 &is_handle);
		if (is_handle && entry->info[i] != 0)
			entry->handles |= 1u << i;
	}
}

static void show_own(struct px_translator *translator, struct px_call_read *call)
{
	struct px_entry *entry;

	if (call->native == 0 || (call->has_failed && !px_rules_is_attempt(call->native))) {
		px_entries_add_plainly(call->record, call->data, call->length, call->to);
		return;
	}
	if (call->call == PX_CALL_txtrace_thread_end)
		px_wakers_wake_joiner(&translator->waits, call);
	call->to->own = call->to->nr_entries;
	call->to->is_native = true;
	entry = px_entries_add(call->to, call->self->object.handle, call->record->priority,
			       call->native);
	show_words(translator, call, entry);
	if (call->call == PX_CALL_txtrace_thread_end)
		px_wakers_end_thread(call, entry);
}

bool px_translate_is_call(const struct px_record *record, size_t length)
{
	enum px_call call;

	return record->flags & PX_RECORD_CALL && length >= sizeof(union px_call_data) &&
	       record->context != 0 && px_call_of_event(record->id, &call);
}

static void prepare(struct px_call_read *call)
{
	px_call_of_event(call->record->id, &call->call);
	memcpy(&call->first, call->data, sizeof(call->first));
	call->facts = &px_calls[call->call];
	call->native = call->facts->native;
	call->info = call->facts->info;
	call->begins = (call->record->flags & PX_RECORD_BEGINS) != 0;
	call->ends = !call->begins && (call->record->flags & PX_RECORD_ENDS);
	if (call->begins || call->facts->layout == PX_LAYOUT_WORDS)
		call->has_failed = false;
	else if (call->facts->layout == PX_LAYOUT_FD)
		call->has_failed = call->first.of_fd.result < 0;
	else
		call->has_failed = call->first.of_object.result != 0 &&
				   !(call->call == PX_CALL_pthread_barrier_wait &&
				     call->first.of_object.result == -1);
}

static void translate_call(struct px_translator *translator, struct px_call_read *call)
{
	prepare(call);
	px_resolve_find(&translator->all, call);
	px_rules_convert(call);
	px_wakers_start_call(&translator->waits, call);
	if (call->ends)
		px_wakers_show_end(&translator->waits, call);
	else
		show_own(translator, call);
	px_wakers_follow(&translator->waits, call);
	px_resolve_follow(&translator->all, call);
}

void px_translate(struct px_translator *translator, const struct px_record *record,
		  const void *data, size_t length, struct px_translation *translation)
{
	struct px_call_read call = {
		.record = record, .data = data, .length = length, .to = translation};

	translation->nr_entries = translation->open = translation->changed = 0;
	px_resolve_forget(&translator->all);
	if (px_translate_is_call(record, length)) {
		translate_call(translator, &call);
		return;
	}
	if (!(record->flags & PX_RECORD_CALL) && (record->id == PX_EVENT_OVERFLOW || record->id == PX_EVENT_RESUME))
		px_resolve_lose(&translator->all, record->id == PX_EVENT_OVERFLOW);
	if (!(record->flags & PX_RECORD_CALL) && (record->id == PX_EVENT_OVERFLOW || record->id == PX_EVENT_START))
		px_wakers_lose(&translator->waits);
	/* A thread that waits loses its CPU, and may get one for a moment: this does not end its wait. */
	if (!px_event_is_sched(record->id))
		px_wakers_wake(px_call_objects_of(translator->all.objects, record->context), translation);
	px_entries_add_plainly(record, data, length, translation);
}
