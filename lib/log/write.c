/* SPDX-License-Identifier: MIT */
#include "log/log_private.h"

#define COVERS_EACH 64 /* number of entries that write_covers() writes at a time */
/* Number of commits from one write of the wrapper statistics to the next. */
#define WRAPPERS_ROUND 64

/* Return true if the staged entries take the place of entries of the round before. */
static bool overwrites(const struct px_log *log)
{
	return log->loops && log->stage_position >= log->capacity;
}

/*
 * Return the slot of the entry with which the viewer begins when the staged entries, which overwrite others, are
 * written.  It is the first one after them that may be the first.  0: the viewer begins with the first slot.
 */
static uint32_t front_after_stage(const struct px_log *log)
{
	uint32_t end = px_log_slot_in_volume(&log->header, log->stage_position) + log->nr_staged;

	return px_log_find_front(log, px_log_volume_of(log, log->stage_position), end);
}

/* Return the number of entries after the staged ones that write_covers() overwrites. */
static uint32_t count_covers(const struct px_log *log)
{
	bool is_written = log->nr_staged > 0 || log->stage_position < log->spoiled;
	uint32_t front = is_written && overwrites(log) ? front_after_stage(log) : 0;

	return front == 0 ? 0 :
			    front - px_log_slot_in_volume(&log->header, log->stage_position) - log->nr_staged;
}

/*
 * Write a commit without the oldest events, before the writer overwrites their entries or frames.  frame_end: the end
 * of the frame that the writer writes next.
 */
static int give_up_oldest(struct px_log *log, uint64_t frame_end)
{
	uint64_t end = log->staged.end + count_covers(log);
	struct px_log_commit before = log->commit;
	uint32_t first_part = log->first_part, nr_parts = log->nr_parts;
	uint64_t count, first = log->staged.first;
	int error;

	if (end < log->spoiled)
		end = log->spoiled;
	if (!log->loops || end == 0)
		return 0;
	count = px_log_drop_parts(log, end, frame_end);
	if (count == 0)
		return 0;
	log->staged.nr_overwritten += count;
	log->is_full = true;
	log->staged.first = log->stage_position;
	log->commit.first_frame = log->frame;
	if (log->nr_parts > 0) {
		log->staged.first = px_log_part(log, 0)->position;
		log->commit.first_frame = px_log_part(log, 0)->frame;
	}
	log->commit.first = log->staged.first;
	log->commit.nr_given_up = log->staged.nr_overwritten;
	if (log->commit.end < log->commit.first)
		log->commit.end = log->commit.first; /* no event is left */
	error = px_log_write_commit(log, NULL);
	if (error) { /* the commit in the file still has these parts */
		log->commit = before;
		log->first_part = first_part;
		log->nr_parts = nr_parts;
		log->staged.first = first;
		log->staged.nr_overwritten -= count;
	}
	return error;
}

/* Record for recovery which uncommitted entries the file may hold. */

static void note_spoiled(struct px_log *log, uint64_t end)
{
	if (log->checkpoint_file)
		px_write_once(&log->checkpoint_file->file->spoiled, end);
}

static void note_clear(struct px_log *log, uint64_t nr_entries)
{
	if (log->checkpoint_file)
		px_write_once(&log->checkpoint_file->file->to_clear, nr_entries);
}

static uint64_t entry_offset(const struct px_log *log, uint64_t position)
{
	return px_log_volume_at(log, position) + log->layout.entries +
	       px_log_slot_in_volume(&log->header, position) * sizeof(struct px_txtb_entry);
}

/* Write context 0 into the entry at this position, so that the viewer stops there. */
static int hide_entries(struct px_log *log, uint64_t position)
{
	static const uint32_t no_context = 0;

	return px_log_write_all(log, &no_context, sizeof(no_context), entry_offset(log, position));
}

/*
 * End a volume early.  The reader of this library ends the volume at bytes that are not a frame, and the viewer ends it
 * at an entry without context.  Also fill the entries up to the end of the volume with zeros.  Otherwise, when the next
 * round has overwritten the first of them, the viewer would find older entries after it.
 */
static int write_hole(struct px_log *log)
{
	static const struct px_log_frame nothing;
	uint32_t slot = px_log_slot_in_volume(&log->header, log->hole);
	uint64_t left = log->header.nr_entries - slot;
	int error = 0;

	if (log->hole_frame + sizeof(nothing) <= log->header.volume_max)
		error = px_log_write_all(log, &nothing, sizeof(nothing),
					 px_log_volume_at(log, log->hole) + log->layout.frames +
						 log->hole_frame);
	if (!error)
		error = hide_entries(log, log->hole);
	/* The entry that was the oldest is behind the hole. */
	if (!error && log->loops && log->hole >= log->capacity)
		error = px_log_write_header(log, px_log_volume_at(log, log->hole), 0);
	if (!error)
		error = px_log_make_zeros(log, entry_offset(log, log->hole),
				   left * sizeof(struct px_txtb_entry));
	log->has_hole = error != 0;
	if (!error && log->loops) {
		px_log_volume_of(log, log->hole)->entries_end = slot;
		px_log_forget_fronts(px_log_volume_of(log, log->hole), slot, (uint32_t)left);
	}
	return error;
}

/*
 * After clear: hide all entries from the viewer, then commit, then clean the first volume.  The writer cleans each
 * further volume when it begins that volume again.
 */
int px_log_empty_file(struct px_log *log)
{
	int error;

	note_clear(log, log->to_clear);
	error = hide_entries(log, 0);
	if (!error)
		error = px_log_write_header(log, 0, 0);
	if (!error)
		error = px_log_write_commit(log, NULL);
	if (!error)
		error = px_log_make_zeros(log, log->layout.entries,
				   log->to_clear * sizeof(struct px_txtb_entry));
	if (!error)
		error = px_log_make_zeros(log, sizeof(struct px_txtb_header),
				   log->layout.entries - sizeof(struct px_txtb_header));
	if (!error)
		error = px_log_write_contexts(log, &log->volumes[0], 0);
	if (error)
		return error;
	log->is_cleared = false;
	log->to_clear = 0;
	note_spoiled(log, 0);
	note_clear(log, 0);
	return 0;
}

/*
 * Make the first entry of the file visible again.  This entry is a filler in every round.  Also set `current`: if the
 * last round has overwritten a part of the first volume, the oldest entry is not the first one.
 */
int px_log_show_first(struct px_log *log)
{
	const uint32_t no_thread = PX_NO_THREAD;
	uint32_t slot = px_log_slot_in_volume(&log->header, log->staged.end);
	bool is_round = log->loops && log->staged.end > log->capacity && slot > 0 &&
			px_log_volume_number(&log->header, log->staged.end) == 0;
	int error;

	error = px_log_write_header(log, 0, is_round ? px_log_find_front(log, &log->volumes[0], slot) : 0);
	return error ? error : px_log_write_all(log, &no_thread, sizeof(no_thread), entry_offset(log, 0));
}

/*
 * The entries after the staged ones, up to the one with which the viewer begins, may be parts of an event that is
 * overwritten, or entries of a write that failed.  The viewer shows them after the newest event, so overwrite them with
 * entries of no event, which take no time.  (It would stop at an entry without context, and not show those after it.)
 */
static int write_covers(struct px_log *log, uint64_t offset, uint32_t count)
{
	const struct px_txtb_entry cover = {.context = PX_NO_THREAD,
					    .priority = px_txtb_priority_word(PX_PSEUDO_PRIORITY),
					    .id = PX_TXTB_RUNNING,
					    .stamp = (uint32_t)log->staged.stamps.ticks};
	struct px_txtb_entry covers[COVERS_EACH];
	int error = 0;

	for (uint32_t i = 0; i < PX_ARRAY_SIZE(covers); i++)
		covers[i] = cover;
	while (!error && count > 0) {
		uint32_t each = count < COVERS_EACH ? count : COVERS_EACH;

		error = px_log_write_all(log, covers, each * sizeof(cover), offset);
		offset += each * sizeof(cover);
		count -= each;
	}
	return error;
}

/*
 * A failed write may have left entries after the newest event.  No event takes their place now, so hide them.  If the
 * write failed before it changed an entry, the viewer begins with the old entry there.
 */
static int hide_spoiled(struct px_log *log)
{
	uint32_t front = overwrites(log) ? front_after_stage(log) : 0, count = count_covers(log);
	uint64_t at = entry_offset(log, log->stage_position);
	int error = 0;

	if (front == 0 || count > 0)
		error = hide_entries(log, log->stage_position);
	if (!error && overwrites(log))
		error = px_log_write_header(log, px_log_volume_at(log, log->stage_position), front);
	if (!error && count > 1)
		error = write_covers(log, at + sizeof(struct px_txtb_entry), count - 1);
	if (!error && count > 0)
		error = write_covers(log, at, 1);
	return error;
}

/*
 * All staged entries are in one volume.  Their slots in the file may hold entries of the previous round, or of a failed
 * write.  Hide these old entries from the viewer until all staged entries are written.
 */
static int write_entries(struct px_log *log, const void *frame, size_t frame_size)
{
	struct px_log_volume *volume = px_log_volume_of(log, log->stage_position);
	uint64_t offset = px_log_volume_at(log, log->stage_position);
	uint32_t slot = px_log_slot_in_volume(&log->header, log->stage_position);
	uint64_t first = entry_offset(log, log->stage_position);
	bool is_round = overwrites(log);
	bool hides = is_round || log->stage_position < log->spoiled;
	uint32_t front = is_round ? front_after_stage(log) : 0;
	int error = 0;

	if (log->loops)
		px_log_forget_fronts(volume, slot, log->nr_staged);
	if (hides)
		error = hide_entries(log, log->stage_position);
	if (!error && is_round)
		error = px_log_write_header(log, offset, front);
	if (!error && front > 0)
		error = write_covers(log, first + log->nr_staged * sizeof(*log->entries),
				     front - slot - log->nr_staged);
	else if (!error && (log->staged.end < log->spoiled ||
			    (is_round && slot + log->nr_staged < log->header.nr_entries)))
		error = hide_entries(log, log->staged.end);
	if (!error)
		error = px_log_write_contexts(log, volume, offset);
	if (!error)
		error = px_log_write_types(log, volume, offset);
	if (!error)
		error = px_log_write_all(log, frame, frame_size,
					 offset + log->layout.frames + log->frame);
	if (!error)
		error = px_log_write_all(log, log->entries + hides,
					 (log->nr_staged - hides) * sizeof(*log->entries),
					 first + hides * sizeof(*log->entries));
	if (!error && hides)
		error = px_log_write_all(log, log->entries, sizeof(*log->entries), first);
	return error;
}

static bool begins_volume(const struct px_log *log)
{
	return px_log_volume_number(&log->header, log->stage_position) >= log->nr_begun;
}

/*
 * A target that is another process may end at any time.  List its modules while it runs, at the commits with the
 * serials 1, 2, 4, 8 and so on.
 */
static void write_remote_modules(struct px_log *log)
{
	uint64_t serial = log->commit.serial;

	if (log->remote_pid && (serial & (serial - 1)) == 0)
		px_log_write_modules(log);
}

/*
 * Begin the next volume of a log that does not loop.  This volume begins directly behind the volume before.  If the
 * tail is there, first move the tail.
 */
static int begin_next_volume(struct px_log *log)
{
	uint64_t next, behind, before = log->volume_at;
	int error;

	if (log->loops || log->nr_begun == 0)
		return px_log_begin_volume(log, log->stage_position);
	behind = log->next_at + log->layout.size;
	if (behind < log->tail.modules + px_log_tail().size)
		behind = log->tail.modules + px_log_tail().size;
	error = px_log_move_tail(log, behind);
	if (error)
		return error;
	next = log->volume_at = log->next_at;
	error = px_log_begin_volume(log, log->stage_position);
	if (!error)
		error = px_log_write_all(log, &next, sizeof(next), log->next_link);
	if (!error)
		log->next_link = next + log->layout.header +
				 offsetof(struct px_log_header, next_volume);
	else
		log->volume_at = before; /* completion cuts the last volume that exists */
	return error;
}

static int write_staged(struct px_log *log, size_t *frame_size)
{
	const void *frame = NULL;
	int error = 0;

	*frame_size = 0;
	if (log->is_cleared)
		error = px_log_empty_file(log);
	write_remote_modules(log);
	if (log->nr_staged > 0)
		frame = px_pack_end(log->pack, frame_size);
	if (!error)
		error = give_up_oldest(log, log->frame + *frame_size);
	if (!error && log->has_hole)
		error = write_hole(log);
	if (error)
		return error;
	if (log->nr_staged == 0) {
		/* Ignore an error of this write, because no event needs it. */
		if (log->stage_position < log->spoiled && !begins_volume(log))
			hide_spoiled(log);
		return 0;
	}
	if (begins_volume(log)) {
		error = begin_next_volume(log);
		log->nr_begun += !error;
	}
	return error ? error : write_entries(log, frame, *frame_size);
}

static void note_entries(const struct px_log *log, struct px_log_volume *volume)
{
	uint32_t end = log->staged.end > 0 ? px_log_slot_in_volume(&log->header, log->staged.end - 1) + 1 : 0;

	for (uint32_t i = 0; i < log->nr_staged && log->loops; i++)
		px_log_note_front(volume, end - log->nr_staged + i, &log->entries[i]);
	if (end > volume->entries_end)
		volume->entries_end = end;
}

/*
 * Call this function after a write that succeeded.  The next stage begins after the staged entries, in this volume or
 * in the next volume.
 */
static void keep_staged(struct px_log *log, size_t frame_size)
{
	struct px_log_volume *volume = px_log_volume_of(log, log->stage_position);
	const struct px_log_part part = {.position = log->stage_position,
					 .frame = log->frame,
					 .nr_events = log->staged.nr_events - log->written.nr_events};

	if (log->loops && log->nr_staged > 0)
		px_log_add_part(log, &part, log->chapter_entries == 0);
	log->chapter_entries += log->nr_staged;
	log->frame += frame_size;
	log->nr_frames += log->nr_staged > 0;
	if (log->nr_staged > 0)
		log->follows_loss = false;
	if (log->frame > volume->frames_end)
		volume->frames_end = log->frame;
	/* If nothing was written, the volume may not exist yet: its begin may have failed. */
	if (log->nr_staged > 0)
		log->frames_end = volume->frames_end;
	volume->stamps = log->staged.stamps;
	note_entries(log, volume);
	log->written = log->staged;
	log->stage_position = log->staged.end;
	/* Keep this volume in memory, because completion may need it. */
	if (log->nr_staged > 0 && px_log_slot_in_volume(&log->header, log->staged.end) == 0)
		log->ends_volume = true;
	log->nr_staged = 0;
	if (log->spoiled <= log->stage_position)
		log->spoiled = 0;
}

/*
 * Call this function after a failed write.  Never go back to an earlier volume, because the log in memory no longer has
 * the objects of that volume.
 */
static void drop_staged(struct px_log *log)
{
	log->nr_lost += log->staged.nr_events - log->written.nr_events;
	log->follows_loss |= log->staged.nr_events > log->written.nr_events;
	if (log->staged.has_stop && !log->written.has_stop)
		log->nr_lost--; /* the next write stages STOP again, so it is not lost */
	/*
	 * Even if no entry was written, object slots in the file may have other objects now.  So treat the entries of
	 * the stage as spoiled.
	 */
	if (log->staged.end > log->spoiled)
		log->spoiled = log->staged.end;
	log->ends_chapter = true; /* the file does not have the definitions of this frame */
	log->written.first = log->commit.first;
	log->written.nr_overwritten = log->staged.nr_overwritten;
	log->staged = log->written;
	log->staged.end = log->stage_position;
	log->staged.stamps = px_log_volume_of(log, log->stage_position)->stamps;
	log->nr_staged = 0;
}

static int write_and_commit(struct px_log *log, const struct px_log_state *state, size_t *frame_size)
{
	int error = write_staged(log, frame_size);
	/*
	 * Copy the commit after write_staged(), because write_staged() may have written a commit without the oldest
	 * events.
	 */
	struct px_log_commit in_file = log->commit;
	uint32_t nr_names, nr_wrappers;

	if (!error)
		error = px_log_write_names(log);
	if (!error && log->commit.serial % WRAPPERS_ROUND == 0)
		error = px_log_write_wrappers(log, state->tick_ns);
	if (!error) {
		px_log_fill_commit(log, state, *frame_size);
		error = px_log_write_commit(log, state->checkpoint);
	}
	if (error) {
		/* The new names are in the file, so keep their number. */
		nr_names = log->commit.nr_names;
		nr_wrappers = log->commit.nr_wrappers;
		log->commit = in_file;
		log->commit.nr_names = nr_names;
		log->commit.nr_wrappers = nr_wrappers;
	}
	return error;
}

int px_log_write_stage(struct px_log *log, const struct px_log_state *state)
{
	uint64_t size = log->nr_staged * sizeof(*log->entries);
	size_t frame_size = 0;
	int error;

	note_spoiled(log, log->staged.end > log->spoiled ? log->staged.end : log->spoiled);
	error = px_log_ensure_descriptor(log);
	if (!error)
		error = write_and_commit(log, state, &frame_size);
	log->is_idle = !error && px_log_is_idle_after_stage(log);
	log->open = log->switched = 0;
	if (error)
		drop_staged(log);
	else
		keep_staged(log, frame_size);
	note_spoiled(log, log->spoiled);
	if (!error)
		px_log_note_written(log, size + frame_size);
	if (error && !log->first_error)
		log->first_error = error;
	return error;
}
