/* SPDX-License-Identifier: MIT */
/* The usual event of a log: it has one entry, and needs nothing that the frame does not have. */
#include "log/log_private.h"

#include <string.h>

/* With a translator, an event may have further entries: those that resume its thread, for example. */
static bool is_usual_state(const struct px_log *log)
{
	return log->nr_staged > 0 && log->nr_staged < log->stage_size && !log->translator &&
	       !log->has_translation && !log->ends_volume && !log->is_idle && log->open == 0 &&
	       log->switched == 0 && (!log->is_full || log->loops);
}

/* Return true if the entries and the frames of the volume have room for the event. */
static bool has_room(const struct px_log *log, uint32_t slot, size_t length)
{
	uint64_t entries = (slot + 1) * sizeof(struct px_txtb_entry);

	return slot < log->usual_slots && entries < log->usual_bytes &&
	       px_pack_fits(log->pack, length, log->usual_bytes - entries);
}

/* Return true if the frame has the definition of the thread, with the pid and pthread_t of the record. */
static bool is_defined(const struct px_log *log, const struct px_log_context *context,
		       const struct px_record *record)
{
	const struct px_object *known = &context->known.object;

	return context->chapter == log->chapter && known->pid != 0 && known->pid == record->pid &&
	       known->thread == record->thread;
}

void px_log_begin_usual(struct px_log *log, uint32_t reserved)
{
	uint32_t slot = px_log_slot_in_volume(&log->header, log->staged.end);
	uint64_t used = log->frame + reserved * sizeof(struct px_txtb_entry);

	log->usual_context = NULL;
	log->usual_volume = px_log_volume_of(log, log->staged.end);
	log->usual_first = log->staged.end - slot;
	log->usual_slots = log->header.nr_entries - reserved;
	log->usual_bytes = log->header.volume_max > used ? log->header.volume_max - used : 0;
}

bool px_log_append_usual(struct px_log *log, const struct px_report *report, const void *data)
{
	const struct px_record *record = &report->record;
	struct px_log_stamps *stamps = &log->staged.stamps;
	uint64_t real = (report->time_ns - stamps->base_ns) / PX_LOG_TICK_NS;
	uint64_t ticks = real - stamps->real;
	struct px_log_volume *volume;
	struct px_log_context *context;
	struct px_txtb_entry *entry;
	struct px_pack_stamp stamp;
	struct px_pack_event event;
	uint64_t words[2];

	if (!is_usual_state(log) || record->id < PX_EVENT_USER_FIRST || record->id >= PX_EVENT_USER_END ||
	    record->context == 0 || report->time_ns < log->staged.last_ns ||
	    report->time_ns < stamps->base_ns || real < stamps->real || ticks > PX_LOG_GAP_TICKS ||
	    !has_room(log, (uint32_t)(log->staged.end - log->usual_first), report->copied))
		return false;
	volume = log->usual_volume;
	context = log->usual_context;
	if (!context || context->handle != record->context)
		context = px_log_find_context(volume, record->context);
	if (!context || !is_defined(log, context, record) || !px_eventset_has(&volume->listed, record->id))
		return false;
	log->usual_context = context;

	stamps->real = real;
	stamps->ticks += ticks;
	stamp.image_ns = stamps->ticks * PX_LOG_TICK_NS;
	stamp.time_ns = stamps->base_ns + real * PX_LOG_TICK_NS;
	entry = &log->entries[log->nr_staged++];
	entry->stamp = (uint32_t)stamps->ticks;
	entry->context = record->context;
	entry->priority = record->priority;
	entry->id = record->cpu << 24 | (PX_TXTB_USER_EVENT + record->id);
	px_first_bytes(data, report->copied, words);
	memcpy(entry->info, words, sizeof(words));
	event = (struct px_pack_event){.time_ns = report->time_ns,
				       .address = record->address,
				       .id = record->id,
				       .flags = record->flags & PX_LOG_RECORD_FLAGS,
				       .length = (uint32_t)report->copied,
				       .data = data};
	px_pack_event(log->pack, stamp, &event);
	context->last = log->staged.end++;
	log->ran = record->context;
	log->ran_priority = record->priority;
	log->staged.ends_stopped = false;
	log->staged.nr_events++;
	log->staged.last_ns = report->time_ns;
	return true;
}
