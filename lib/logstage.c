/* SPDX-License-Identifier: MIT */
#include "logstate.h"

#include <stdio.h>
#include <string.h>

/* The first slot is for what belongs to no thread. */
void px_log_reset_volume(struct px_log_volume *volume)
{
	memset(volume, 0, sizeof(*volume));
	volume->context[0].handle = PX_LOG_NO_THREAD;
	volume->context[0].is_dirty = true;
	volume->context[0].object = (struct px_object){.handle = PX_LOG_NO_THREAD,
						       .type = PX_TXTB_THREAD,
						       .priority = 1023,
						       .name = PX_LOG_NO_THREAD_NAME};
}

/* Contexts. */

static void fill_context(struct px_log *log, struct px_log_context *context, uint32_t handle)
{
	struct px_object *object = &context->object;

	context->is_stale |= context->handle != 0 && !context->is_dirty;
	context->handle = handle;
	context->is_dirty = true;
	if (px_objects_find(log->threads, handle, object) && object->type == PX_TXTB_THREAD)
		return;
	*object = (struct px_object){.handle = handle, .type = PX_TXTB_THREAD};
	snprintf(object->name, sizeof(object->name), "unknown thread %x", handle);
}

/* A slot that no entry at or behind this position needs. */
static uint32_t free_context(const struct px_log *log, const struct px_log_volume *volume,
			     uint64_t keep)
{
	for (uint32_t i = 1; i <= PX_LOG_THREADS; i++)
		if (volume->context[i].handle == 0 ||
		    (log->loops && volume->context[i].last < keep))
			return i;
	return 0;
}

/* The registry slot of a thread; 0 where there is none for it. */
static uint32_t find_context(struct px_log *log, struct px_log_volume *volume, uint32_t handle,
			     uint64_t keep)
{
	uint16_t *cached = &volume->cache[handle % PX_LOG_CONTEXT_CACHE];
	uint32_t i;

	if (px_likely(*cached > 0 && volume->context[*cached - 1].handle == handle))
		return *cached - 1;
	for (i = 0; i <= PX_LOG_THREADS && volume->context[i].handle != handle; i++)
		;
	if (i > PX_LOG_THREADS) {
		i = free_context(log, volume, keep);
		if (i == 0)
			return 0;
		fill_context(log, &volume->context[i], handle);
	}
	*cached = (uint16_t)(i + 1);
	return i;
}

static void list_type(struct px_log_volume *volume, unsigned int id)
{
	if (id < PX_EVENT_UNNAMED || px_eventset_has(&volume->listed, id) ||
	    volume->nr_types == PX_ARRAY_SIZE(volume->type))
		return;
	px_eventset_add(&volume->listed, id);
	volume->type[volume->nr_types++] = id;
}

/* Layout of events. */

/* Ticks that an event at this time adds, in fillers and in its own stamp. */
struct step {
	uint32_t nr_fillers;
	uint64_t ticks; /* from the last filler, or entry */
	uint64_t real;	/* as stamps.real afterwards */
	uint64_t shortened;
};

static struct step step_to(const struct px_log_stamps *stamps, uint64_t time_ns)
{
	uint64_t real = time_ns > stamps->base_ns ? (time_ns - stamps->base_ns) / PX_LOG_TICK_NS :
						    0;
	struct step step = {.real = real > stamps->real ? real : stamps->real};

	step.ticks = step.real - stamps->real;
	if (px_likely(step.ticks <= PX_LOG_GAP_TICKS))
		return step;
	while (step.nr_fillers < PX_LOG_GAP_FILLERS && step.ticks > PX_LOG_GAP_TICKS) {
		step.nr_fillers++;
		step.ticks -= PX_LOG_GAP_TICKS;
	}
	if (step.ticks > PX_LOG_GAP_TICKS) {
		step.shortened = step.ticks - PX_LOG_GAP_TICKS;
		step.ticks = PX_LOG_GAP_TICKS;
	}
	return step;
}

static struct px_txtb_entry *stage(struct px_log *log, enum px_log_kind kind, uint64_t ticks,
				   struct px_log_slot **slot)
{
	uint32_t i = log->nr_staged++;
	struct px_txtb_entry *entry = &log->entries[i];

	log->staged.stamps.ticks += ticks;
	entry->stamp = (uint32_t)log->staged.stamps.ticks;
	*slot = &log->slots[i];
	(*slot)->word = px_log_word(log->staged.end++, kind);
	return entry;
}

static void stage_filler(struct px_log *log, uint32_t handle, uint32_t priority, uint64_t ticks)
{
	struct px_log_slot *slot;
	struct px_txtb_entry *entry = stage(log, PX_LOG_FILLER, ticks, &slot);

	entry->context = handle;
	entry->priority = priority;
	entry->id = PX_TXTB_RUNNING;
	memset(entry->info, 0, sizeof(entry->info));
	memset(&slot->time_ns, 0, sizeof(*slot) - sizeof(slot->word));
}

static void stage_more(struct px_log *log, const struct px_txtb_entry *first,
		       const unsigned char *data, size_t left)
{
	while (left > 0) {
		unsigned char bytes[PX_RECORD_MORE_BYTES] = {0};
		size_t length = left < sizeof(bytes) ? left : sizeof(bytes);
		struct px_log_slot *slot;
		struct px_txtb_entry *entry = stage(log, PX_LOG_MORE, 0, &slot);

		memcpy(bytes, data, length);
		entry->context = first->context;
		entry->priority = first->priority;
		entry->id = (first->id & 0xFF000000) | PX_TXTB_DATA;
		memcpy(entry->info, bytes, sizeof(entry->info));
		memcpy(&slot->time_ns, bytes + sizeof(entry->info),
		       sizeof(bytes) - sizeof(entry->info));
		data += length;
		left -= length;
	}
}

static void stage_event(struct px_log *log, const struct px_report *report, const void *data,
			uint32_t handle, uint32_t priority, uint64_t ticks)
{
	const struct px_record *record = &report->record;
	struct px_log_slot *slot;
	struct px_txtb_entry *entry = stage(log, PX_LOG_EVENT, ticks, &slot);
	uint64_t bytes[2];

	entry->context = handle;
	entry->priority = priority;
	entry->id = record->cpu << 24 | (PX_TXTB_USER_EVENT + record->id);
	px_first_bytes(data, report->copied, bytes);
	memcpy(entry->info, bytes, sizeof(bytes));
	slot->time_ns = report->time_ns;
	slot->address = record->address;
	slot->thread = record->thread;
	slot->pid = record->pid;
	slot->length = (uint32_t)report->copied;
	slot->id = record->id;
	slot->flags = record->flags & PX_RECORD_TRUNCATED;
	if (px_unlikely(report->copied > PX_RECORD_FIRST_BYTES))
		stage_more(log, entry, (const unsigned char *)data + PX_RECORD_FIRST_BYTES,
			   report->copied - PX_RECORD_FIRST_BYTES);
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

/* Slots that are used anew; what began there is overwritten. */
static void clear_heads(struct px_log *log, uint64_t from, uint64_t to)
{
	log->staged.nr_overwritten += px_log_take_heads(log, from, to);
}

/* Where a record begins, so that a log that goes round knows where its oldest one does. */
static void mark_head(struct px_log *log, uint64_t from, uint64_t head)
{
	clear_heads(log, from, log->staged.end);
	head %= log->capacity;
	log->heads[head / 64] |= UINT64_C(1) << head % 64;
}

void px_log_next_volume(struct px_log *log)
{
	uint32_t slot = px_log_slot_in_volume(log, log->staged.end);
	struct px_log_volume *volume;

	if (slot > 0) {
		log->hole = log->staged.end;
		log->has_hole = true;
		log->staged.end += log->header.nr_entries - slot;
		if (log->loops)
			clear_heads(log, log->hole, log->staged.end);
	}
	log->stage_position = log->staged.end;
	volume = px_log_volume_of(log, log->staged.end);
	if (!log->loops || !volume->context[0].handle)
		px_log_reset_volume(volume);
	log->staged.stamps = volume->stamps;
}

/* The viewer finds out from the first entries that time rises. */
void px_log_begin_stamps(struct px_log *log, uint64_t time_ns)
{
	struct px_log_stamps *stamps = &log->staged.stamps;

	*stamps = (struct px_log_stamps){.begun = true};
	for (uint64_t i = 0; i < PX_LOG_START_FILLERS; i++)
		stage_filler(log, PX_LOG_NO_THREAD, px_txtb_priority_word(1023), i > 0);
	stamps->real = stamps->ticks;
	stamps->base_ns = time_ns - stamps->ticks * PX_LOG_TICK_NS;
}

/*
 * The viewer stops at the first entry to be overwritten; so while a round begins, it may see no more than its
 * first entries, and has to find out from them too that time rises.
 */
static void begin_round(struct px_log *log)
{
	for (uint64_t i = 0; i < PX_LOG_START_FILLERS; i++)
		stage_filler(log, PX_LOG_NO_THREAD, px_txtb_priority_word(1023), 1);
	log->staged.stamps.real += PX_LOG_START_FILLERS;
}

static bool has_next_volume(const struct px_log *log)
{
	return log->capacity == 0 || log->loops ||
	       px_log_volume_number(log, log->staged.end) + 1 < log->header.nr_volumes;
}

/* What one event takes. */
struct need {
	bool begins_round; /* of a volume that was filled before */
	struct step step;
	uint32_t slots; /* with its fillers */
	uint32_t context;
};

/*
 * Whether the event can go where the log stands, and what it takes there.  Its thread gets a registry slot;
 * the event comes to stand there, at once or after a write.
 */
static bool find_room(struct px_log *log, const struct px_report *report, struct need *need)
{
	uint32_t slot = px_log_slot_in_volume(log, log->staged.end);
	uint32_t handle = report->record.context ? report->record.context : PX_LOG_NO_THREAD;
	uint32_t reserved = log->capacity != 0 && !has_next_volume(log); /* for the last STOP */
	struct px_log_stamps stamps = log->staged.stamps;
	uint64_t behind;

	need->begins_round = log->loops && log->staged.stamps.begun && slot == 0;
	need->step = (struct step){0};
	need->slots = px_record_slots(report->copied);
	if (need->begins_round)
		stamps.real += PX_LOG_START_FILLERS;
	if (stamps.begun)
		need->step = step_to(&stamps, report->time_ns);
	need->slots += need->step.nr_fillers;
	if (need->begins_round || !stamps.begun)
		need->slots += PX_LOG_START_FILLERS;
	if (slot + need->slots + reserved > log->header.nr_entries)
		return false;
	need->context = 0;
	/* Not before it is written: the registry slot that it takes may be that of an entry still there. */
	if (log->nr_staged > 0 && log->nr_staged + need->slots > log->stage_size)
		return true;
	behind = log->staged.end + need->slots;
	need->context = find_context(log, px_log_volume_of(log, log->staged.end), handle,
				     behind > log->capacity ? behind - log->capacity : 0);
	return need->context != 0 || handle == PX_LOG_NO_THREAD || log->capacity != 0;
}

static void lay_out(struct px_log *log, const struct px_report *report, const void *data,
		    const struct need *need)
{
	struct px_log_volume *volume = px_log_volume_of(log, log->staged.end);
	struct px_log_context *context = &volume->context[need->context];
	uint32_t priority = report->record.context ? report->record.priority :
						     px_txtb_priority_word(1023);
	uint64_t from = log->staged.end;
	uint64_t head;

	if (!log->staged.stamps.begun)
		px_log_begin_stamps(log, report->time_ns);
	else if (need->begins_round)
		begin_round(log);
	for (uint32_t i = 0; i < need->step.nr_fillers; i++)
		stage_filler(log, context->handle, priority, PX_LOG_GAP_TICKS);
	head = log->staged.end;
	stage_event(log, report, data, context->handle, priority, need->step.ticks);
	if (need->step.real > log->staged.stamps.real)
		log->staged.stamps.real = need->step.real;
	context->last = log->staged.end - 1;
	list_type(volume, report->record.id);
	if (log->loops)
		mark_head(log, from, head);
	log->staged.nr_events++;
	log->staged.nr_shortened += need->step.shortened != 0;
	log->staged.shortened_ns += need->step.shortened * PX_LOG_TICK_NS;
	/* OVERFLOW is older than what stands before it. */
	if (report->time_ns > log->staged.last_ns)
		log->staged.last_ns = report->time_ns;
}

enum px_log_room px_log_append(struct px_log *log, const struct px_report *report, const void *data)
{
	struct need need;

	if (px_log_refuses(log))
		return PX_LOG_FULL;
	if (log->nr_staged > 0 && px_log_slot_in_volume(log, log->staged.end) == 0)
		return PX_LOG_WRITE_FIRST;
	while (!find_room(log, report, &need)) {
		if (!has_next_volume(log)) {
			log->is_full = true;
			return PX_LOG_FULL;
		}
		if (log->nr_staged > 0)
			return PX_LOG_WRITE_FIRST;
		px_log_next_volume(log);
	}
	if (log->nr_staged + need.slots > log->stage_size)
		return PX_LOG_WRITE_FIRST;
	lay_out(log, report, data, &need);
	return PX_LOG_TAKEN;
}

/* Its slot was kept, in the volume and in the stage.  If it is lost in a failed write, it comes with the next. */
void px_log_stage_stop(struct px_log *log)
{
	static const int automatic = 1;
	struct px_report report = {.record = {.id = PX_EVENT_STOP, .pid = log->header.target_pid},
				   .time_ns = log->staged.last_ns,
				   .length = sizeof(automatic),
				   .copied = sizeof(automatic)};
	struct need need = {.slots = 1};

	if (!log->wants_stop || log->staged.has_stop)
		return;
	lay_out(log, &report, &automatic, &need);
	log->staged.has_stop = true;
}

void px_log_append_stop(struct px_log *log)
{
	log->wants_stop = true;
	px_log_stage_stop(log);
}

void px_log_count_lost(struct px_log *log)
{
	log->nr_lost++;
}
