/* SPDX-License-Identifier: MIT */
#include "log/usual.h"

#include <string.h>

#include "log/log_private.h"

/* With a translator, an event may have further entries: those that resume its thread, for example. */
static bool is_usual_state(const struct px_log *log)
{
	return log->nr_staged > 0 && log->nr_staged < log->stage_size && !log->translator &&
	       !log->has_translation && !log->ends_volume && !log->is_idle && log->open == 0 &&
	       log->switched == 0 && (!log->is_full || log->loops);
}

/* Return true if the frame has the definition of the thread, with this pid and pthread_t. */
static bool is_defined(const struct px_log *log, const struct px_log_context *context, uint32_t pid, uint64_t thread)
{
	const struct px_object *known = &context->known.object;

	return context->chapter == log->chapter && known->pid != 0 && known->pid == pid && known->thread == thread;
}

void px_log_begin_usual(struct px_log *log, uint32_t reserved)
{
	uint32_t slot = px_log_slot_in_volume(&log->header, log->staged.end);
	uint64_t used = log->frame + reserved * sizeof(struct px_txtb_entry);

	log->usual_volume = px_log_volume_of(log, log->staged.end);
	log->usual_first = log->staged.end - slot;
	log->usual_slots = log->header.nr_entries - reserved;
	log->usual_bytes = log->header.volume_max > used ? log->header.volume_max - used : 0;
}

/*
 * Return how many entries the stage and the volume have room for.  Near the end of the volume, this is fewer than
 * px_log_append() can take.
 */
static uint32_t count_room(const struct px_log *log)
{
	uint32_t slot = (uint32_t)(log->staged.end - log->usual_first);
	uint32_t in_stage = log->stage_size - log->nr_staged;
	uint32_t in_volume = slot < log->usual_slots ? log->usual_slots - slot : 0;

	return in_stage < in_volume ? in_stage : in_volume;
}

bool px_usual_begin(struct px_log *log, uint64_t earliest_ns, struct px_usual *run, struct px_usual_place *at)
{
	const struct px_log_stamps *stamps = &log->staged.stamps;
	uint32_t room;
	uint64_t entries;

	if (!is_usual_state(log))
		return false;
	room = count_room(log);
	entries = (log->staged.end - log->usual_first + room) * sizeof(struct px_txtb_entry);
	if (room == 0 || entries >= log->usual_bytes ||
	    !px_pack_begin_run(log->pack, log->usual_bytes - entries, &run->pack))
		return false;
	run->log = log;
	run->entries_end = &log->entries[log->nr_staged + room];
	run->base_ns = stamps->base_ns;
	run->ahead = stamps->ticks - stamps->real;
	run->frame_ns = run->pack.base_ns + run->ahead * PX_LOG_TICK_NS - stamps->base_ns;
	*at = (struct px_usual_place){.entry = &log->entries[log->nr_staged],
				      .to = run->pack.to,
				      .position = log->staged.end,
				      .real = stamps->real,
				      .last_ns = log->staged.last_ns > earliest_ns ? log->staged.last_ns :
										     earliest_ns};
	for (unsigned int i = 0; i < PX_USUAL_CACHE; i++) {
		run->thread[i].handle = i + 1; /* of another place; 0 is that of an event without a thread */
		run->site[i].kind = 0;
	}
	return true;
}

bool px_usual_find_thread(struct px_usual *run, uint32_t handle, uint32_t pid, uint64_t thread)
{
	const struct px_log *log = run->log;
	struct px_log_context *context = handle ? px_log_find_context(log->usual_volume, handle) : NULL;

	if (!context || !is_defined(log, context, pid, thread))
		return false;
	*px_usual_thread_of(run, handle) = (struct px_usual_thread){handle, pid, thread, &context->last};
	return true;
}

bool px_usual_find_site(struct px_usual *run, uint64_t address, uint64_t kind)
{
	unsigned int id = px_pack_id_of_kind(kind);

	return id >= PX_EVENT_USER_FIRST && id < PX_EVENT_USER_END &&
	       px_eventset_has(&run->log->usual_volume->listed, id) &&
	       px_pack_find_site(run->log->pack, address, kind, px_usual_site_of(run, address));
}

void px_usual_end(struct px_usual *run, struct px_usual_place at)
{
	struct px_log *log = run->log;
	uint32_t nr_staged = (uint32_t)(at.entry - log->entries), nr = nr_staged - log->nr_staged;
	const struct px_txtb_entry *last = at.entry - 1;

	if (nr == 0)
		return;
	log->nr_staged = nr_staged;
	run->pack.to = at.to;
	px_pack_end_run(log->pack, &run->pack, nr);
	log->staged.stamps.real = at.real;
	log->staged.stamps.ticks = at.real + run->ahead;
	log->ran = last->context;
	log->ran_priority = last->priority;
	log->staged.end = at.position;
	log->staged.ends_stopped = false;
	log->staged.nr_events += nr;
	log->staged.last_ns = at.last_ns;
}

bool px_log_append_usual(struct px_log *log, const struct px_report *report, const void *data)
{
	const struct px_record *record = &report->record;
	struct px_usual_event event = {.time_ns = report->time_ns,
				       .address = record->address,
				       .thread = record->thread,
				       .pid = record->pid,
				       .id = record->id,
				       .flags = record->flags & PX_LOG_RECORD_FLAGS,
				       .context = record->context,
				       .priority = record->priority,
				       .cpu = record->cpu,
				       .length = (uint32_t)report->copied};
	struct px_usual_place at, next;
	struct px_usual run;
	uint64_t words[2];
	unsigned char *to;

	if (!px_usual_begin(log, 0, &run, &at))
		return false;
	px_first_bytes(data, report->copied, words);
	event.first = words[0];
	event.second = words[1];
	to = px_usual_add(&run, &at, &event, &next);
	if (!to)
		return false;
	if (event.length > PX_RECORD_FIRST_BYTES)
		memcpy(to, (const unsigned char *)data + PX_RECORD_FIRST_BYTES, event.length - PX_RECORD_FIRST_BYTES);
	px_usual_keep(&at, &next);
	px_usual_end(&run, at);
	return true;
}
