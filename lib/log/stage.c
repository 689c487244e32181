/* SPDX-License-Identifier: MIT */
#include "log/log_private.h"

#include <string.h>

#include "calls/rules.h"

/* Counts. */

bool px_log_refuses(const struct px_log *log)
{
	return log->is_full && !log->loops;
}

bool px_log_has_open_sched(const struct px_log *log)
{
	return log->header.attr.sched != 0 && !log->staged.ends_stopped;
}

bool px_log_is_full(const struct px_log *log)
{
	return log->is_full;
}

void px_log_count_lost(struct px_log *log)
{
	log->nr_lost++;
}

void px_log_take_losses(struct px_log *log, uint64_t nr_events, bool lacks_others, int error)
{
	log->nr_lost += nr_events;
	log->lacks_others |= lacks_others;
	if (!log->first_error)
		log->first_error = error;
}

/* Events. */

/*
 * The ticks from the last entry to an event.  The fillers account for one part of these ticks, and the stamp of the
 * event for the other part.
 */
struct step {
	uint32_t nr_fillers;
	uint64_t ticks; /* ticks from the last filler, or from the last entry, to the event */
	uint64_t real;	/* value of stamps.real after the event */
	uint64_t shortened;
};

static struct step step_to(const struct px_log_stamps *stamps, uint64_t time_ns, uint32_t fillers_max)
{
	uint64_t real = time_ns > stamps->base_ns ? (time_ns - stamps->base_ns) / PX_LOG_TICK_NS :
						    0;
	struct step step = {.real = real > stamps->real ? real : stamps->real};

	step.ticks = step.real - stamps->real;
	if (px_likely(step.ticks <= PX_LOG_GAP_TICKS))
		return step;
	while (step.nr_fillers < fillers_max && step.ticks > PX_LOG_GAP_TICKS) {
		step.nr_fillers++;
		step.ticks -= PX_LOG_GAP_TICKS;
	}
	if (step.ticks > PX_LOG_GAP_TICKS) {
		step.shortened = step.ticks - PX_LOG_GAP_TICKS;
		step.ticks = PX_LOG_GAP_TICKS;
	}
	return step;
}

static bool has_next_volume(const struct px_log *log)
{
	return log->capacity == 0 || log->loops ||
	       px_log_volume_number(&log->header, log->staged.end) + 1 < log->header.nr_volumes;
}

/* Return the number of slots to keep free for the last STOP. */
static uint32_t reserved_slots(const struct px_log *log)
{
	return log->capacity != 0 && !has_next_volume(log);
}

static void begin_frame(struct px_log *log)
{
	uint32_t entries = log->header.nr_entries / PX_LOG_CHAPTERS;
	bool begins;

	if (entries > PX_LOG_CHAPTER_ENTRIES)
		entries = PX_LOG_CHAPTER_ENTRIES;
	begins = log->ends_chapter || log->chapter_entries >= entries ||
		 log->frame - log->chapter_frame >= log->header.volume_max / PX_LOG_CHAPTERS ||
		 px_pack_wants_chapter(log->pack);
	if (begins) {
		log->chapter++;
		log->chapter_entries = 0;
		log->chapter_frame = log->frame;
		log->ends_chapter = false;
	}
	px_pack_begin(log->pack, log->stage_position, begins);
	if (log->follows_loss)
		px_pack_follow_loss(log->pack);
	px_log_begin_usual(log, reserved_slots(log));
}

/* Lay out an entry.  *stamp gets the stamp of the entry, for the frame. */
static struct px_txtb_entry *stage(struct px_log *log, uint64_t ticks, struct px_pack_stamp *stamp)
{
	struct px_log_stamps *stamps = &log->staged.stamps;
	struct px_txtb_entry *entry;

	if (log->nr_staged == 0)
		begin_frame(log);
	entry = &log->entries[log->nr_staged++];
	stamps->ticks += ticks;
	entry->stamp = (uint32_t)stamps->ticks;
	stamp->image_ns = stamps->ticks * PX_LOG_TICK_NS;
	stamp->time_ns = stamps->base_ns + (stamps->real + ticks) * PX_LOG_TICK_NS;
	log->staged.end++;
	return entry;
}

/*
 * Set the context of an entry.  The previous entry may show that a thread goes to sleep.  Then also store this context
 * in the previous entry, as the thread that runs next.
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

static void stage_viewer_entry(struct px_log *log, const struct px_entry *from, uint64_t ticks)
{
	struct px_pack_stamp stamp;
	struct px_txtb_entry *entry = stage(log, ticks, &stamp);

	set_context(log, entry, from->context, from->priority);
	entry->id = from->id;
	memcpy(entry->info, from->info, sizeof(entry->info));
	px_pack_viewer_entry(log->pack, stamp);
}

static void stage_filler(struct px_log *log, uint32_t handle, uint32_t priority, uint64_t ticks)
{
	const struct px_entry filler = {
		.context = handle, .priority = priority, .id = PX_TXTB_RUNNING};

	stage_viewer_entry(log, &filler, ticks);
}

static void stage_beside(struct px_log *log, const struct px_report *report, const struct px_entry *from,
			 uint64_t ticks)
{
	struct px_entry entry = *from;

	entry.id |= report->record.cpu << 24;
	stage_viewer_entry(log, &entry, ticks);
}

/*
 * Return true if the frame must hold the pid and thread of the record: the object of the context has others, or has
 * none yet.
 */
static bool is_other(struct px_log *log, struct px_log_volume *volume,
		     struct px_log_context *context, const struct px_record *record)
{
	struct px_log_object object = {.object = {.pid = 0}};
	const struct px_log_object *known = &object;

	if (!context || (context->known.object.pid == 0 && px_is_thread(context->handle)))
		px_log_describe(log, record->context, &object);
	/* When the context got its object slot, its pid and thread may have been unknown. */
	if (context && known->object.pid != 0 && context->known.object.pid == 0 &&
	    px_is_thread(context->handle))
		px_log_describe_context(log, volume, context);
	if (context)
		known = &context->known;
	return known->object.pid == 0 || known->object.pid != record->pid ||
	       known->object.thread != record->thread;
}

static void stage_event(struct px_log *log, const struct px_report *report, const void *data,
			const struct px_translation *translation, uint64_t ticks)
{
	const struct px_record *record = &report->record;
	const struct px_entry *own = &translation->entries[translation->own];
	struct px_log_volume *volume = px_log_volume_of(log, log->staged.end);
	struct px_log_context *context = px_log_find_context(volume, own->context);
	struct px_pack_event event = {.time_ns = report->time_ns,
				      .address = record->address,
				      .thread = record->thread,
				      .pid = record->pid,
				      .id = record->id,
				      .flags = record->flags & PX_LOG_RECORD_FLAGS,
				      .is_native = translation->is_native,
				      .is_kept = px_call_is_stack(record->id),
				      .is_other = is_other(log, volume, context, record),
				      .length = (uint32_t)report->copied,
				      .data = data};
	struct px_pack_stamp stamp;
	struct px_txtb_entry *entry = stage(log, ticks, &stamp);

	set_context(log, entry, own->context, own->priority);
	entry->id = record->cpu << 24 | own->id;
	memcpy(entry->info, own->info, sizeof(entry->info));
	px_pack_event(log->pack, stamp, &event);
}

/* From these fillers, the viewer finds out that time rises. */
void px_log_begin_stamps(struct px_log *log, uint64_t time_ns)
{
	struct px_log_stamps *stamps = &log->staged.stamps;

	*stamps = (struct px_log_stamps){
		.begun = true, .base_ns = time_ns - (PX_LOG_START_FILLERS - 1) * PX_LOG_TICK_NS};
	for (uint64_t i = 0; i < PX_LOG_START_FILLERS; i++)
		stage_filler(log, PX_NO_THREAD, px_txtb_priority_word(PX_PSEUDO_PRIORITY), i > 0);
	stamps->real = stamps->ticks;
}

/*
 * The viewer stops at the first entry to be overwritten.  So at the beginning of a round, the viewer may see only the
 * first entries of that round.  These entries alone must show that time rises.  The time since the
 * last round passes before them: when this round has overwritten all of the last one, the volume begins with them.
 */
static void begin_round(struct px_log *log, const struct px_entry *next, uint64_t ticks)
{
	for (uint64_t i = 0; i < PX_LOG_START_FILLERS; i++)
		stage_filler(log, next->context, next->priority, i == 0 ? ticks + 1 : 1);
	log->staged.stamps.real += PX_LOG_START_FILLERS;
}

/* The entries of an event. */

/* Give the translator the objects of these slots. */
static void restore(const struct px_log *log, const struct px_log_volume *volume, uint32_t first, uint32_t count)
{
	for (uint32_t i = first; i < first + count; i++) {
		const struct px_log_context *context = &volume->context[i];

		if (context->handle)
			px_translator_restore(log->translator, &context->known.object, context->known.address,
					      context->known.site);
	}
}

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
	for (uint32_t i = 0; i < nr_volumes; i++) {
		restore(log, &log->volumes[i], PX_LOG_SLOT_FIRST, log->volumes[i].hand[0].end);
		restore(log, &log->volumes[i], PX_LOG_SLOT_FIRST + log->header.nr_thread_slots,
			log->volumes[i].hand[1].end);
	}
	return true;
}

/*
 * Translate a record only once, even if the caller appends it again after a write, because each translation changes the
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
}

/* Make object slots for all handles of an entry.  Return the number of handles that get no slot. */
static uint32_t find_objects(struct px_log *log, struct px_log_volume *volume,
			     const struct px_entry *entry, uint64_t keep)
{
	uint32_t nr_unlisted = px_log_place_context(log, volume, entry->context, keep) == NULL;

	for (uint32_t i = 0; i < PX_ARRAY_SIZE(entry->info); i++)
		if (entry->handles >> i & 1)
			nr_unlisted += px_log_place_context(log, volume, entry->info[i], keep) == NULL;
	return nr_unlisted;
}

/*
 * Make object slots for all entries of an event.  If no slot is free, the viewer shows a handle without a name; the
 * frame has the name.  Return false if an APPEND log should begin a new volume to get more slots.  It should do so only
 * after half of the current volume, because each volume takes room in the file.
 */
static bool find_contexts(struct px_log *log, bool switches, uint64_t keep)
{
	struct px_log_volume *volume = px_log_volume_of(log, log->staged.end);
	const struct px_translation *translation = &log->translation;
	uint32_t nr_unlisted = 0;

	for (uint32_t i = 0; i < translation->nr_entries; i++)
		nr_unlisted += find_objects(log, volume, &translation->entries[i], keep);
	if (switches && !px_log_place_context(log, volume, log->ran, keep))
		nr_unlisted++;
	return nr_unlisted == 0 || log->capacity != 0 ||
	       px_log_slot_in_volume(&log->header, log->staged.end) < log->header.nr_entries / 2;
}

/* The slots and fillers that one event needs. */
struct need {
	bool begins_round; /* the event begins a new round of a LOOP log in its volume */
	bool ends_idleness;
	bool switches; /* an entry before the event gives the time to another context */
	struct step step;
	uint32_t slots; /* number of entry slots for the event: its fillers and all its entries */
};

/* Return true if the writer must first write the staged entries to make room for the event. */
static bool must_write(const struct px_log *log, const struct px_report *report,
		       const struct need *need)
{
	return log->nr_staged > 0 && (log->nr_staged + need->slots > log->stage_size ||
				      !px_pack_has_room(log->pack, report->copied));
}

/*
 * Compute the needs of the event.  If there is room in the stage, also make its object slots.  Return true if the event
 * fits into the current volume, now or after a write of the stage.
 */
static bool find_room(struct px_log *log, const struct px_report *report, struct need *need)
{
	uint32_t slot = px_log_slot_in_volume(&log->header, log->staged.end);
	uint32_t reserved = reserved_slots(log);
	struct px_log_stamps stamps = log->staged.stamps;
	uint64_t after;

	need->begins_round = log->loops && log->staged.stamps.begun && slot == 0;
	need->step = (struct step){0};
	need->slots = log->translation.nr_entries;
	need->ends_idleness = log->is_idle && log->translation.entries[0].context != PX_IDLE_THREAD;
	need->slots += need->ends_idleness;
	if (need->begins_round)
		stamps.real += PX_LOG_START_FILLERS;
	if (stamps.begun)
		/* In a round through several volumes, other volumes have what happened in this time. */
		need->step = step_to(&stamps, report->time_ns,
				     need->begins_round && log->header.nr_volumes > 1 ? 0 : PX_LOG_GAP_FILLERS);
	need->slots += need->step.nr_fillers;
	/*
	 * A SUSPEND names the context of the next entry as the one that runs next: such an event must not be this
	 * entry.  The fillers of a round take time, too.
	 */
	need->switches = px_log_is_beside(log, &report->record) && log->ran != 0 && !need->ends_idleness &&
			 log->translation.entries[0].context != log->ran &&
			 (need->step.ticks > 0 || need->begins_round || log->open);
	need->slots += need->switches;
	if (need->begins_round || !stamps.begun)
		need->slots += PX_LOG_START_FILLERS;
	if (slot + need->slots + reserved > log->header.nr_entries ||
	    (slot + need->slots + reserved) * sizeof(struct px_txtb_entry) + log->frame +
			    px_pack_bound(log->nr_staged > 0 ? log->pack : NULL, report->copied) >
		    log->header.volume_max)
		return false;
	/*
	 * The caller writes the stage first, and then appends the event again.  Make no object slots now, because they
	 * could replace objects that the staged entries need.
	 */
	if (must_write(log, report, need))
		return true;
	after = log->staged.end + need->slots;
	return find_contexts(log, need->switches, after > log->capacity ? after - log->capacity : 0);
}

/* Record that the newest staged event refers to this object. */
static void keep_context(struct px_log *log, struct px_log_volume *volume, uint32_t handle)
{
	struct px_log_context *context = px_log_find_context(volume, handle);

	if (context)
		context->last = log->staged.end - 1;
	else
		log->staged.nr_unlisted++;
	px_log_define(log, context, handle);
}

/*
 * Define the objects of the newest staged event.  The log must not reuse their object slots while the event is in the
 * log.
 */
static void keep_contexts(struct px_log *log, struct px_log_volume *volume,
			  const struct px_translation *translation)
{
	for (uint32_t i = 0; i < translation->nr_entries; i++) {
		const struct px_entry *entry = &translation->entries[i];

		keep_context(log, volume, entry->context);
		for (uint32_t k = 0; entry->handles && k < PX_ARRAY_SIZE(entry->info); k++)
			if (entry->handles >> k & 1)
				keep_context(log, volume, entry->info[k]);
	}
}

static void renew_context(struct px_log *log, struct px_log_volume *volume, uint32_t handle)
{
	struct px_log_context *context = px_log_find_context(volume, handle);

	if (context)
		px_log_describe_context(log, volume, context);
}

/* Lay out all entries of an event. */
static void stage_all(struct px_log *log, const struct px_report *report, const void *data,
		      const struct px_translation *translation, const struct need *need)
{
	const struct px_entry idle = {.context = PX_IDLE_THREAD,
				      .priority = px_txtb_priority_word(PX_PSEUDO_PRIORITY),
				      .id = PX_TXTB_RUNNING};
	const struct px_entry runs = {
		.context = log->ran, .priority = log->ran_priority, .id = PX_TXTB_RUNNING};
	const struct px_entry *first = need->ends_idleness ? &idle :
				       need->switches	   ? &runs :
							     translation->entries;
	uint64_t ticks = need->step.ticks;

	for (uint32_t i = 0; i < need->step.nr_fillers; i++)
		stage_filler(log, first->context, first->priority, PX_LOG_GAP_TICKS);
	if (need->begins_round) {
		begin_round(log, first, ticks);
		ticks = 0;
	}
	if (need->ends_idleness || need->switches) {
		stage_beside(log, report, first, ticks);
		ticks = 0;
	}
	for (uint32_t i = 0; i < translation->nr_entries; i++) {
		if (i == translation->own)
			stage_event(log, report, data, translation, ticks);
		else
			stage_beside(log, report, &translation->entries[i], ticks);
		if (translation->open == i + 1)
			log->open = log->nr_staged;
		ticks = 0;
	}
}

static void lay_out(struct px_log *log, const struct px_report *report, const void *data,
		    const struct px_translation *translation, const struct need *need)
{
	struct px_log_volume *volume = px_log_volume_of(log, log->staged.end);
	uint32_t ran = log->ran, nr_staged = log->nr_staged;
	bool is_beside_others = px_log_is_beside(log, &report->record);

	if (translation->changed)
		renew_context(log, volume, translation->changed);
	if (!log->staged.stamps.begun)
		px_log_begin_stamps(log, report->time_ns);
	if (!is_beside_others)
		px_log_give_time(log, translation->entries);
	stage_all(log, report, data, translation, need);
	if (need->switches) {
		keep_context(log, volume, ran);
		/* With scheduling records it is known which thread used the CPU. */
		if (log->switched == 0 && !log->header.attr.sched)
			log->switched = nr_staged + 1;
	} else if (!is_beside_others) {
		px_log_note_running(log, &report->record, translation);
	} else if (need->ends_idleness) {
		log->ran = PX_IDLE_THREAD;
		log->ran_priority = px_txtb_priority_word(PX_PSEUDO_PRIORITY);
	}
	if (px_event_is_sched(report->record.id))
		px_log_note_switch(log, &report->record);
	if (need->step.real > log->staged.stamps.real)
		log->staged.stamps.real = need->step.real;
	keep_contexts(log, volume, translation);
	if (!translation->is_native)
		px_log_list_type(volume, log->header.nr_type_slots, report->record.id);
	if (report->record.id == PX_EVENT_STOP)
		log->staged.ends_stopped = true;
	else if (report->record.id == PX_EVENT_START || report->record.id >= PX_EVENT_USER_FIRST)
		log->staged.ends_stopped = false;
	log->staged.nr_events++;
	log->staged.nr_shortened += need->step.shortened != 0;
	log->staged.shortened_ns += need->step.shortened * PX_LOG_TICK_NS;
	log->staged.last_ns = report->time_ns;
}

enum px_log_room px_log_append(struct px_log *log, const struct px_report *report, const void *data)
{
	struct px_report later;
	struct need need;

	if (px_likely(px_log_append_usual(log, report, data)))
		return PX_LOG_TAKEN;
	if (px_unlikely(report->time_ns < log->staged.last_ns)) {
		later = *report;
		later.time_ns = log->staged.last_ns;
		report = &later;
	}

	if (px_log_refuses(log))
		return PX_LOG_FULL;
	if (log->nr_staged > 0 && px_log_slot_in_volume(&log->header, log->staged.end) == 0)
		return PX_LOG_WRITE_FIRST;
	if (log->ends_volume)
		px_log_next_volume(log);
	translate(log, report, data);
	while (!find_room(log, report, &need)) {
		if (!has_next_volume(log)) {
			log->is_full = true;
			log->has_translation = false;
			return PX_LOG_FULL;
		}
		if (log->nr_staged > 0)
			return PX_LOG_WRITE_FIRST;
		px_log_next_volume(log);
	}
	if (must_write(log, report, &need))
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
