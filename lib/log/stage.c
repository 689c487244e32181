/* SPDX-License-Identifier: MIT */
#include "log/log_private.h"

#include <stdio.h>
#include <string.h>

#include "calls/rules.h"

/* Contexts. */

/* Fill in the object of a context with the data that is now known about its handle. */
static void describe(const struct px_log *log, struct px_log_context *context)
{
	struct px_object *object = &context->object;
	const struct px_call_object *known =
		log->translator ? px_translator_find(log->translator, context->handle) : NULL;
	bool is_thread = context->handle >> 24 == PX_TXTB_THREAD;

	context->is_dirty = true;
	context->address = context->site = 0;
	if (known) {
		*object = known->object;
		context->address = is_thread ? 0 : known->address;
		context->site = known->site;
		return;
	}
	if (context->handle == PX_IDLE_THREAD) {
		*object = (struct px_object){.handle = context->handle,
					     .type = PX_TXTB_THREAD,
					     .priority = 1023,
					     .name = PX_IDLE_THREAD_NAME};
		return;
	}
	if (px_threads_find(log->threads, context->handle, object) &&
	    object->type == PX_TXTB_THREAD)
		return;
	*object = (struct px_object){.handle = context->handle, .type = PX_TXTB_THREAD};
	snprintf(object->name, sizeof(object->name), "unknown thread %x", context->handle);
}

static void fill_context(struct px_log *log, struct px_log_volume *volume, uint32_t slot,
			 uint32_t handle)
{
	struct px_log_context *context = &volume->context[slot];

	context->is_stale |= context->handle != 0 && !context->is_dirty;
	px_log_enter_context(volume, slot, handle);
	describe(log, context);
}

/*
 * Find an object slot that no entry from position `keep` on needs.  If there is none, return 0, and set `none_before`:
 * a search with a smaller `keep` would also fail.
 */
static uint32_t free_context(const struct px_log *log, struct px_log_volume *volume, uint64_t keep)
{
	uint64_t oldest = UINT64_MAX;

	if (keep < volume->none_before)
		return 0;
	for (uint32_t n = PX_LOG_SLOT_IDLE; n < PX_LOG_IN_USE; n++) {
		uint32_t i = volume->hand + PX_LOG_SLOT_IDLE + 1;
		const struct px_log_context *context = &volume->context[i];

		volume->hand = (volume->hand + 1) % (PX_LOG_IN_USE - PX_LOG_SLOT_IDLE);
		if (context->handle == 0 || (log->loops && context->last < keep))
			return i;
		if (context->last < oldest)
			oldest = context->last;
	}
	volume->none_before = log->loops ? oldest + 1 : UINT64_MAX;
	return 0;
}

/* Find or make the object slot of a handle, for the entries that are being staged.  Return NULL if no slot is free. */
static struct px_log_context *find_context(struct px_log *log, struct px_log_volume *volume,
					   uint32_t handle, uint64_t keep)
{
	struct px_log_context *context;
	uint32_t i = 0;

	if (handle == PX_NO_THREAD)
		return &volume->context[0];
	context = px_log_find_context(volume, handle);
	if (px_unlikely(!context)) {
		i = handle == PX_IDLE_THREAD ? PX_LOG_SLOT_IDLE : free_context(log, volume, keep);
		if (i == 0)
			return NULL;
		fill_context(log, volume, i, handle);
		context = &volume->context[i];
	}
	if (context->last < log->staged.end)
		context->last = log->staged.end;
	return context;
}

static void list_type(struct px_log_volume *volume, unsigned int id)
{
	if (id < PX_EVENT_UNNAMED || px_eventset_has(&volume->listed, id) ||
	    volume->nr_types == PX_ARRAY_SIZE(volume->type))
		return;
	px_eventset_add(&volume->listed, id);
	volume->type[volume->nr_types++] = id;
}

/* Counts. */

bool px_log_refuses(const struct px_log *log)
{
	return log->is_full && !log->loops;
}

bool px_log_is_full(const struct px_log *log)
{
	return log->is_full;
}

void px_log_count_lost(struct px_log *log)
{
	log->nr_lost++;
}

/* Events. */

/*
 * The ticks from the last entry to an event.  The fillers account for one part of them, the event's own stamp for the
 * other.
 */
struct step {
	uint32_t nr_fillers;
	uint64_t ticks; /* ticks since the last filler or entry */
	uint64_t real;	/* stamps.real after the event */
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

/*
 * Set the context of an entry.  If the previous entry shows that a thread goes to sleep, also store this context in
 * that entry, as the thread that runs next.
 */
static void set_context(struct px_log *log, struct px_txtb_entry *entry, uint32_t handle,
			uint32_t priority)
{
	entry->context = handle;
	entry->priority = priority;
	if (log->open)
		log->entries[log->open - 1].info[3] = handle;
	log->open = 0;
	log->is_idle = false;
}

static void stage_filler(struct px_log *log, uint32_t handle, uint32_t priority, uint64_t ticks)
{
	struct px_log_slot *slot;
	struct px_txtb_entry *entry = stage(log, PX_LOG_FILLER, ticks, &slot);

	set_context(log, entry, handle, priority);
	entry->id = PX_TXTB_RUNNING;
	memset(entry->info, 0, sizeof(entry->info));
	memset(&slot->time_ns, 0, sizeof(*slot) - sizeof(slot->word));
}

static void stage_shown(struct px_log *log, const struct px_report *report,
			const struct px_entry *shown, uint64_t ticks)
{
	struct px_log_slot *slot;
	struct px_txtb_entry *entry = stage(log, PX_LOG_SHOWN, ticks, &slot);

	set_context(log, entry, shown->context, shown->priority);
	entry->id = report->record.cpu << 24 | shown->id;
	memcpy(entry->info, shown->info, sizeof(entry->info));
	memset(&slot->time_ns, 0, sizeof(*slot) - sizeof(slot->word));
	slot->time_ns = report->time_ns;
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
			const struct px_translation *translation, uint64_t ticks)
{
	const struct px_record *record = &report->record;
	const struct px_entry *own = &translation->entries[translation->own];
	struct px_log_slot *slot;
	struct px_txtb_entry *entry = stage(log, PX_LOG_EVENT, ticks, &slot);

	set_context(log, entry, own->context, own->priority);
	entry->id = record->cpu << 24 | own->id;
	memcpy(entry->info, own->info, sizeof(entry->info));
	slot->time_ns = report->time_ns;
	slot->address = record->address;
	slot->id = record->id;
	slot->flags = record->flags & PX_LOG_RECORD_FLAGS;
	if (translation->is_native) {
		memcpy(&slot->thread, data, PX_RECORD_FIRST_BYTES);
		slot->flags |= PX_LOG_IS_NATIVE | (uint32_t)report->copied << 16;
	} else {
		slot->thread = record->thread;
		slot->pid = record->pid;
		slot->length = (uint32_t)report->copied;
	}
	if (px_unlikely(report->copied > PX_RECORD_FIRST_BYTES))
		stage_more(log, entry, (const unsigned char *)data + PX_RECORD_FIRST_BYTES,
			   report->copied - PX_RECORD_FIRST_BYTES);
}

/*
 * Mark where a record begins, so that a LOOP log can find its oldest record.  Clear the marks of the older records that
 * began in the same slots.
 */
static void mark_head(struct px_log *log, uint64_t from, uint64_t head)
{
	log->staged.nr_overwritten += px_log_take_heads(log, from, log->staged.end);
	head %= log->capacity;
	log->heads[head / 64] |= UINT64_C(1) << head % 64;
}

/* From these fillers, the viewer finds out that time rises. */
void px_log_begin_stamps(struct px_log *log, uint64_t time_ns)
{
	struct px_log_stamps *stamps = &log->staged.stamps;

	*stamps = (struct px_log_stamps){.begun = true};
	for (uint64_t i = 0; i < PX_LOG_START_FILLERS; i++)
		stage_filler(log, PX_NO_THREAD, px_txtb_priority_word(1023), i > 0);
	stamps->real = stamps->ticks;
	stamps->base_ns = time_ns - stamps->ticks * PX_LOG_TICK_NS;
}

/*
 * The viewer stops at the first entry to be overwritten.  So while the writer writes the beginning of a round, the
 * viewer may see only the first entries of that round.  These entries, too, must show that time rises.
 */
static void begin_round(struct px_log *log)
{
	for (uint64_t i = 0; i < PX_LOG_START_FILLERS; i++)
		stage_filler(log, PX_NO_THREAD, px_txtb_priority_word(1023), 1);
	log->staged.stamps.real += PX_LOG_START_FILLERS;
}

static bool has_next_volume(const struct px_log *log)
{
	return log->capacity == 0 || log->loops ||
	       px_log_volume_number(&log->header, log->staged.end) + 1 < log->header.nr_volumes;
}

/* The entries of an event. */

bool px_log_make_translator(struct px_log *log)
{
	uint32_t nr_volumes = log->loops ? log->header.nr_volumes : 1;
	struct px_call_objects *objects;

	log->translator = px_translator_make(log->threads);
	if (!log->translator)
		return false;
	objects = px_translator_objects(log->translator);
	px_call_objects_set_serial(objects, log->serial);
	px_call_objects_set_namer(objects, log->namer);
	for (uint32_t i = 0; i < nr_volumes; i++)
		for (uint32_t k = PX_LOG_SLOT_IDLE + 1; k <= PX_LOG_IN_USE; k++) {
			const struct px_log_context *known = &log->volumes[i].context[k];

			if (known->handle)
				px_translator_restore(log->translator, &known->object,
						      known->address, known->site);
		}
	return true;
}

/*
 * Translate a record only once, even if the caller appends it again after a write, because a translation changes the
 * state of the translator.
 */
static void translate(struct px_log *log, const struct px_report *report, const void *data)
{
	const struct px_record *record = &report->record;
	struct px_translation *to = &log->translation;

	if (log->has_translation)
		return;
	log->has_translation = true;
	if (px_unlikely(!log->translator) && px_translate_is_call(record, report->copied))
		px_log_make_translator(log);
	if (log->translator)
		px_translate(log->translator, record, data, report->copied, to);
	else
		px_translate_plainly(record, data, report->copied, to);
	if (to->is_native && report->copied > PX_LOG_NATIVE_BYTES_MAX)
		px_translate_own_plainly(record, data, report->copied, to);
}

/* Make object slots for all handles of an entry.  Return false if no slot is free. */
static bool ensure_objects(struct px_log *log, struct px_log_volume *volume,
			   const struct px_entry *entry, uint64_t keep)
{
	bool is_named = find_context(log, volume, entry->context, keep) != NULL;

	for (uint32_t i = 0; is_named && i < PX_ARRAY_SIZE(entry->info); i++)
		if (entry->handles >> i & 1)
			is_named = find_context(log, volume, entry->info[i], keep) != NULL;
	return is_named;
}

/*
 * Make object slots for an entry that is shown in addition to the event's own entry.  If the waker gets no object slot,
 * leave the waker out.  If the thread that wakes up gets no object slot, do not show that it wakes up.  Return false if
 * no slot is free in an APPEND log: the next volume has free slots.
 */
static bool ensure_beside(struct px_log *log, struct px_log_volume *volume, struct px_entry *entry,
			  uint64_t keep)
{
	const struct px_entry idle = {.context = PX_IDLE_THREAD,
				      .priority = px_txtb_priority_word(1023),
				      .id = PX_TXTB_RUNNING};

	if (ensure_objects(log, volume, entry, keep))
		return true;
	if (log->capacity == 0)
		return false;
	if (entry->id == PX_NATIVE_RESUME && find_context(log, volume, entry->info[0], keep)) {
		entry->context = entry->info[3] = idle.context;
		entry->priority = idle.priority;
	} else {
		*entry = idle;
	}
	return ensure_objects(log, volume, entry, keep);
}

/*
 * Return true if the context has the pid and thread of the record.  The slot of a native event has data instead of pid
 * and thread, so a reader takes pid and thread from the context.  They may have been unknown when the context got its
 * object slot: then get them now.
 */
static bool is_of_context(struct px_log *log, struct px_log_context *context,
			  const struct px_record *record)
{
	if (context->object.pid == 0 && context->object.thread == 0)
		describe(log, context);
	return context->object.pid == record->pid && context->object.thread == record->thread;
}

/*
 * Make object slots for the event's own entry.  If the objects of the event get no slots, make the event a user event;
 * in an APPEND log, return false.  Also return false if its thread gets no object slot.
 */
static bool ensure_own(struct px_log *log, struct px_log_volume *volume,
		       const struct px_report *report, const void *data, uint64_t keep)
{
	struct px_translation *translation = &log->translation;
	const struct px_entry *own = &translation->entries[translation->own];
	struct px_log_context *context = find_context(log, volume, own->context, keep);
	bool is_named = context && ensure_objects(log, volume, own, keep);

	if (!context || (!is_named && log->capacity == 0))
		return false;
	if (translation->is_native && (!is_named || !is_of_context(log, context, &report->record)))
		px_translate_own_plainly(&report->record, data, report->copied, translation);
	return true;
}

/*
 * Make object slots for all entries of an event.  If no slot is free, the event becomes a user event, and in the worst
 * case an event of no thread.  In an APPEND log, return false instead: the next volume has free slots.
 */
static bool find_contexts(struct px_log *log, const struct px_report *report, const void *data,
			  uint64_t keep)
{
	struct px_log_volume *volume = px_log_volume_of(log, log->staged.end);
	struct px_translation *translation = &log->translation;
	bool is_named = ensure_own(log, volume, report, data, keep);

	for (uint32_t i = 0; is_named && i < translation->nr_entries; i++)
		if (i != translation->own)
			is_named = ensure_beside(log, volume, &translation->entries[i], keep);
	if (is_named || log->capacity == 0)
		return is_named;
	px_translate_plainly(&report->record, data, report->copied, translation);
	translation->entries[0].context = PX_NO_THREAD;
	return true;
}

/* The slots and fillers that one event needs. */
struct need {
	bool begins_round; /* the event begins a volume that was full before */
	bool ends_idleness;
	struct step step;
	uint32_t slots; /* slots of the event, with its fillers and all its entries */
};

/*
 * Compute what the event needs.  If there is room in the stage, also make its object slots.  Return true if the event
 * fits into the current volume, at once or after a write.
 */
static bool find_room(struct px_log *log, const struct px_report *report, const void *data,
		      struct need *need)
{
	uint32_t slot = px_log_slot_in_volume(&log->header, log->staged.end);
	uint32_t reserved = log->capacity != 0 && !has_next_volume(log); /* slots kept free for the last STOP */
	struct px_log_stamps stamps = log->staged.stamps;
	uint64_t after;

	need->begins_round = log->loops && log->staged.stamps.begun && slot == 0;
	need->step = (struct step){0};
	need->slots = px_record_slots(report->copied) + log->translation.nr_entries - 1;
	need->ends_idleness = log->is_idle && log->translation.entries[0].context != PX_IDLE_THREAD;
	need->slots += need->ends_idleness;
	if (need->begins_round)
		stamps.real += PX_LOG_START_FILLERS;
	if (stamps.begun)
		need->step = step_to(&stamps, report->time_ns);
	need->slots += need->step.nr_fillers;
	if (need->begins_round || !stamps.begun)
		need->slots += PX_LOG_START_FILLERS;
	if (slot + need->slots + reserved > log->header.nr_entries)
		return false;
	/*
	 * The stage must be written first, and then the caller appends the event again.  Make no object slots now: they
	 * could replace objects that the staged entries need.
	 */
	if (log->nr_staged > 0 && log->nr_staged + need->slots > log->stage_size)
		return true;
	after = log->staged.end + need->slots;
	return find_contexts(log, report, data, after > log->capacity ? after - log->capacity : 0);
}

/*
 * Record that the last staged event needs these object slots: the log must not reuse them while that event is in the
 * log.
 */
static void keep_contexts(struct px_log *log, struct px_log_volume *volume,
			  const struct px_translation *translation)
{
	for (uint32_t i = 0; i < translation->nr_entries; i++) {
		const struct px_entry *entry = &translation->entries[i];
		struct px_log_context *context = px_log_find_context(volume, entry->context);

		if (context)
			context->last = log->staged.end - 1;
		for (uint32_t k = 0; entry->handles && k < PX_ARRAY_SIZE(entry->info); k++) {
			context = entry->handles >> k & 1 ?
					  px_log_find_context(volume, entry->info[k]) :
					  NULL;
			if (context)
				context->last = log->staged.end - 1;
		}
	}
}

static void renew_context(struct px_log *log, struct px_log_volume *volume, uint32_t handle)
{
	struct px_log_context *context = px_log_find_context(volume, handle);

	if (context)
		describe(log, context);
}

/* Stage all entries of an event.  Return the position at which its record begins. */
static uint64_t stage_all(struct px_log *log, const struct px_report *report, const void *data,
			  const struct px_translation *translation, const struct need *need)
{
	const struct px_entry idle = {.context = PX_IDLE_THREAD,
				      .priority = px_txtb_priority_word(1023),
				      .id = PX_TXTB_RUNNING};
	const struct px_entry *first = need->ends_idleness ? &idle : translation->entries;
	uint64_t ticks = need->step.ticks;
	uint64_t head = 0;

	for (uint32_t i = 0; i < need->step.nr_fillers; i++)
		stage_filler(log, first->context, first->priority, PX_LOG_GAP_TICKS);
	if (need->ends_idleness) {
		stage_shown(log, report, &idle, ticks);
		ticks = 0;
	}
	for (uint32_t i = 0; i < translation->nr_entries; i++) {
		uint32_t at = log->nr_staged;

		if (i == translation->own) {
			head = log->staged.end;
			stage_event(log, report, data, translation, ticks);
		} else {
			stage_shown(log, report, &translation->entries[i], ticks);
		}
		if (translation->open == i + 1)
			log->open = at + 1;
		ticks = 0;
	}
	return head;
}

static void lay_out(struct px_log *log, const struct px_report *report, const void *data,
		    const struct px_translation *translation, const struct need *need)
{
	struct px_log_volume *volume = px_log_volume_of(log, log->staged.end);
	uint64_t from = log->staged.end;
	uint64_t head;

	if (translation->changed)
		renew_context(log, volume, translation->changed);
	if (!log->staged.stamps.begun)
		px_log_begin_stamps(log, report->time_ns);
	else if (need->begins_round)
		begin_round(log);
	head = stage_all(log, report, data, translation, need);
	if (need->step.real > log->staged.stamps.real)
		log->staged.stamps.real = need->step.real;
	keep_contexts(log, volume, translation);
	if (!translation->is_native)
		list_type(volume, report->record.id);
	if (log->loops)
		mark_head(log, from, head);
	if (report->record.id == PX_EVENT_STOP)
		log->staged.ends_stopped = true;
	else if (report->record.id == PX_EVENT_START || report->record.id >= PX_EVENT_USER_FIRST)
		log->staged.ends_stopped = false;
	log->staged.nr_events++;
	log->staged.nr_shortened += need->step.shortened != 0;
	log->staged.shortened_ns += need->step.shortened * PX_LOG_TICK_NS;
	/* OVERFLOW has an older time than the events before it: last_ns must not go back to that time. */
	if (report->time_ns > log->staged.last_ns)
		log->staged.last_ns = report->time_ns;
}

enum px_log_room px_log_append(struct px_log *log, const struct px_report *report, const void *data)
{
	struct need need;

	if (px_log_refuses(log))
		return PX_LOG_FULL;
	if (log->nr_staged > 0 && px_log_slot_in_volume(&log->header, log->staged.end) == 0)
		return PX_LOG_WRITE_FIRST;
	translate(log, report, data);
	while (!find_room(log, report, data, &need)) {
		if (!has_next_volume(log)) {
			log->is_full = true;
			log->has_translation = false;
			return PX_LOG_FULL;
		}
		if (log->nr_staged > 0)
			return PX_LOG_WRITE_FIRST;
		px_log_next_volume(log);
	}
	if (log->nr_staged + need.slots > log->stage_size)
		return PX_LOG_WRITE_FIRST;
	lay_out(log, report, data, &log->translation, &need);
	log->has_translation = false;
	return PX_LOG_TAKEN;
}

/*
 * The volume and the stage have a reserved slot for STOP, so there is always room.  If a write fails, the next write
 * stages STOP again.
 */
void px_log_stage_stop(struct px_log *log)
{
	static const int automatic = 1;
	struct px_report report = {.record = {.id = PX_EVENT_STOP, .pid = log->header.target_pid},
				   .time_ns = log->staged.last_ns,
				   .length = sizeof(automatic),
				   .copied = sizeof(automatic)};
	struct need need = {.slots = 1};
	struct px_translation translation;

	if (!log->wants_stop || log->staged.has_stop)
		return;
	px_translate_plainly(&report.record, &automatic, sizeof(automatic), &translation);
	lay_out(log, &report, &automatic, &translation, &need);
	log->staged.has_stop = true;
}

void px_log_append_stop(struct px_log *log)
{
	if (log->staged.ends_stopped)
		return; /* the stream stopped before the log was full */
	log->wants_stop = true;
	px_log_stage_stop(log);
}
