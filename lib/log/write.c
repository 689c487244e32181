/* SPDX-License-Identifier: MIT */
#include "log/log_private.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/modules.h"
#include "base/modules_remote.h"
#include "log/archive.h"
#include "txtb/file.h"

#define ZERO_CHUNK 65536
#define COPY_CHUNK 262144
/* Number of commits from one write of the wrapper statistics to the next. */
#define WRAPPERS_ROUND 64
#define WRAPPERS_AT_ONCE 40 /* number of rows in one write */

/* Files. */

/* The program may close the descriptor and reuse its number at any time: check it before each step. */
int px_log_write_all(struct px_log *log, const void *data, size_t size, uint64_t offset)
{
	const char *from = data;

	while (size > 0) {
		ssize_t written;
		int error;

		PX_TESTPOINT("log.write.before");
		error = px_log_ensure_descriptor(log);
		if (error)
			return error;
		written = pwrite(log->fd, from, size, (off_t)offset);

		if (written < 0 && errno == EINTR)
			continue;
		if (written < 0)
			return errno;
		if (written == 0)
			return EIO;
		from += written;
		offset += (uint64_t)written;
		size -= (size_t)written;
	}
	return 0;
}

/* Fill a part of the file with zeros.  Its disk space stays allocated. */
static int make_zeros(struct px_log *log, uint64_t offset, uint64_t size)
{
	static const char zeros[ZERO_CHUNK];
	int error;

	PX_TESTPOINT("log.write.before");
	error = px_log_ensure_descriptor(log);
	if (error || size == 0 ||
	    fallocate(log->fd, FALLOC_FL_ZERO_RANGE | FALLOC_FL_KEEP_SIZE, (off_t)offset,
		      (off_t)size) == 0)
		return error;
	while (!error && size > 0) {
		size_t chunk = size < sizeof(zeros) ? (size_t)size : sizeof(zeros);

		error = px_log_write_all(log, zeros, chunk, offset);
		offset += chunk;
		size -= chunk;
	}
	return error;
}

/* Fill a volume with zeros, except for its frames: the writer always writes a frame before it commits the frame. */
static int clean_volume(struct px_log *log, uint64_t offset)
{
	uint64_t end = offset + log->layout.frames;
	uint64_t size;
	struct stat status;
	int error = px_log_ensure_descriptor(log);

	if (error)
		return error;
	if (fstat(log->fd, &status) != 0)
		return errno;
	size = (uint64_t)status.st_size;
	if (size > offset) {
		error = make_zeros(log, offset, (size < end ? size : end) - offset);
		if (error)
			return error;
	}
	PX_TESTPOINT("log.write.before");
	error = px_log_ensure_descriptor(log);
	if (error)
		return error;
	return size >= end || ftruncate(log->fd, (off_t)end) == 0 ? 0 : errno;
}

/* Object slots. */

static int write_object(struct px_log *log, uint64_t offset, uint32_t slot,
			const struct px_object *object)
{
	struct px_txtb_object shown;

	px_txtb_object_init(&shown, (enum px_txtb_object_type)object->type, object->handle,
			    object->priority, object->name);
	return px_log_write_all(log, &shown, sizeof(shown), offset + px_txtb_entries_offset(slot));
}

static int write_contexts(struct px_log *log, struct px_log_volume *volume, uint64_t offset)
{
	static const struct px_txtb_object unused;
	uint32_t count = px_log_nr_objects(&log->header) - log->header.nr_type_slots;
	int error = 0;

	/* A thread may have moved to another object slot.  Clear the old slot, so that the thread is not in both. */
	for (uint32_t i = 0; !error && i < count; i++) {
		if (!volume->context[i].is_stale)
			continue;
		error = px_log_write_all(log, &unused, sizeof(unused),
					 offset + px_txtb_entries_offset(i));
		volume->context[i].is_stale = error != 0;
	}
	for (uint32_t i = 0; !error && i < count; i++) {
		struct px_log_context *context = &volume->context[i];
		struct px_object shown;

		if (!context->is_dirty)
			continue;
		shown = px_log_shown_object(context);
		error = write_object(log, offset, i, &shown);
		context->is_dirty = error != 0;
	}
	return error;
}

struct px_object px_log_type_object(const struct px_log *log, unsigned int id)
{
	struct px_object type = {.handle = px_txtb_handle(PX_TXTB_EVENT_TYPE, id),
				 .type = PX_TXTB_EVENT_TYPE};

	if (px_typelist_name(log->types, id, type.name) != 0)
		snprintf(type.name, sizeof(type.name), "event type %u", id);
	return type;
}

static int write_types(struct px_log *log, struct px_log_volume *volume, uint64_t offset)
{
	int error = 0;

	while (!error && volume->types_written < volume->nr_types) {
		struct px_object type =
			px_log_type_object(log, volume->type[volume->types_written]);
		uint32_t slot = px_log_nr_objects(&log->header) - log->header.nr_type_slots +
				volume->types_written;

		error = write_object(log, offset, slot, &type);
		volume->types_written += !error;
	}
	return error;
}

/*
 * A type in the list may not be ready yet, because another thread is adding it.  types_done stops at the first type
 * that is not ready.  This call also writes the types after that one, and a later call checks them again.
 */
int px_log_write_names(struct px_log *log)
{
	struct px_log_name name;
	bool has_passed = false;
	int error;

	for (uint32_t i = log->types_done; px_typelist_get(log->types, i, &name.id, name.text);
	     i++) {
		has_passed |= name.id == PX_EVENT_NONE;
		if (name.id != PX_EVENT_NONE && !px_eventset_has(&log->named, name.id)) {
			error = px_log_write_all(log, &name, sizeof(name),
					  log->tail.names + log->commit.nr_names * sizeof(name));
			if (error)
				return error;
			px_eventset_add(&log->named, name.id);
			log->commit.nr_names++;
		}
		if (!has_passed)
			log->types_done = i + 1;
	}
	return 0;
}

static size_t list_modules(const struct px_log *log, char *text)
{
	if (log->from) {
		size_t length = log->from->kind->modules(log->from, text, PX_LOG_MODULES_BYTES);

		return length < PX_LOG_MODULES_BYTES ? length : PX_LOG_MODULES_BYTES;
	}
	return log->remote_pid ?
		       px_modules_remote_list(log->remote_pid, text, PX_LOG_MODULES_BYTES) :
		       px_modules_list(text, PX_LOG_MODULES_BYTES);
}

/*
 * If the write fails, the file may have a part of a list: record that the log has no list.  If the target does not
 * exist any more, keep the list of the last call.
 */
int px_log_write_modules(struct px_log *log)
{
	char *text = malloc(PX_LOG_MODULES_BYTES);
	size_t length;
	int error;

	if (!text)
		return ENOMEM;
	length = list_modules(log, text);
	if (length == 0 && log->remote_pid) {
		free(text);
		return 0;
	}
	error = px_log_write_all(log, text, length, log->tail.modules);
	log->commit.modules_bytes = error ? 0 : (uint32_t)length;
	free(text);
	return error;
}

static bool get_wrapper(const struct px_log *log, uint32_t i, double tick_ns,
			struct px_wrapper_sum *row)
{
	if (log->view)
		return px_view_wrapper(log->view, i, tick_ns, row);
	return log->from && log->from->kind->wrapper(log->from, i, row);
}

/*
 * Row i always belongs to the same wrapper, and only its counts change.  If the writer dies here, some rows in the file
 * have older counts than the others.
 */
int px_log_write_wrappers(struct px_log *log, double tick_ns)
{
	struct px_wrapper_sum rows[WRAPPERS_AT_ONCE];
	uint32_t nr, done = 0;
	int error = 0;

	do {
		for (nr = 0; nr < WRAPPERS_AT_ONCE && get_wrapper(log, done + nr, tick_ns, &rows[nr]);)
			nr++;
		if (nr > 0)
			error = px_log_write_all(log, rows, nr * sizeof(*rows),
					  log->tail.wrappers + done * sizeof(*rows));
		done += error ? 0 : nr;
	} while (!error && nr == WRAPPERS_AT_ONCE);
	if (done > log->commit.nr_wrappers)
		log->commit.nr_wrappers = done;
	return error;
}

/* The tail. */

/* The caller's descriptor may be for writing only.  Return another one for reading, or -1. */
int px_log_open_reader(struct px_log *log)
{
	char link[40];

	if (px_log_ensure_descriptor(log) != 0)
		return -1;
	snprintf(link, sizeof(link), "/proc/thread-self/fd/%d", log->fd);
	return open(link, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
}

int px_log_copy(struct px_log *log, int from_fd, uint64_t from, uint64_t to, uint64_t size)
{
	char *buffer = size > 0 ? malloc(COPY_CHUNK) : NULL;
	int error = size > 0 && !buffer ? ENOMEM : 0;

	while (!error && size > 0) {
		size_t chunk = size < COPY_CHUNK ? (size_t)size : COPY_CHUNK;

		if (px_txtb_file_read(from_fd, buffer, chunk, from) != chunk)
			error = EIO;
		else
			error = px_log_write_all(log, buffer, chunk, to);
		from += chunk;
		to += chunk;
		size -= chunk;
	}
	free(buffer);
	return error;
}

int px_log_copy_tail(struct px_log *log, int from_fd, const struct px_log_tail *to)
{
	const struct px_log_commit *commit = &log->commit;
	int error = px_log_copy(log, from_fd, log->tail.modules, to->modules, commit->modules_bytes);

	if (!error)
		error = px_log_copy(log, from_fd, log->tail.wrappers, to->wrappers,
				    commit->nr_wrappers * sizeof(struct px_wrapper_sum));
	if (!error)
		error = px_log_copy(log, from_fd, log->tail.names, to->names,
				    commit->nr_names * sizeof(struct px_log_name));
	return error;
}

int px_log_move_tail(struct px_log *log, uint64_t at)
{
	struct px_log_tail to = px_log_tail();
	struct px_log_commit before = log->commit;
	int error, fd = px_log_open_reader(log);

	if (fd < 0) {
		/* If the tail cannot be read, it stays, and the next volume begins behind it. */
		log->next_at = log->tail.modules + to.size;
		return 0;
	}
	to.modules += at;
	to.wrappers += at;
	to.names += at;
	error = px_log_copy_tail(log, fd, &to);
	close(fd);
	if (error)
		return error;
	log->commit.modules_at = to.modules;
	log->commit.wrappers_at = to.wrappers;
	log->commit.names_at = to.names;
	error = px_log_write_commit(log, NULL);
	if (error)
		log->commit = before;
	else
		log->tail = to;
	return error;
}

/* Volumes. */

static int write_header(struct px_log *log, uint64_t offset, uint32_t current)
{
	struct px_txtb_header header;

	px_txtb_header_init(&header, px_log_nr_objects(&log->header), log->header.nr_entries);
	header.current += current * (uint32_t)sizeof(struct px_txtb_entry);
	return px_log_write_all(log, &header, sizeof(header), offset);
}

/* Write the header of the image last, because the volume exists for readers as soon as it has this header. */
int px_log_begin_volume(struct px_log *log, uint64_t position)
{
	uint64_t offset = px_log_volume_at(log, position);
	struct px_log_header header = log->header;
	int error = clean_volume(log, offset);

	header.volume = (uint32_t)px_log_volume_number(&log->header, position);
	if (!error)
		error = px_log_write_all(log, &header, sizeof(header), offset + log->layout.header);
	if (!error)
		error = write_contexts(log, px_log_volume_of(log, position), offset);
	if (!error)
		error = write_header(log, offset, 0);
	return error;
}

/* Writing. */

/* Return true if the image shows an idle CPU after all staged entries are written. */
static bool is_idle_after_stage(const struct px_log *log)
{
	return log->open != 0 || (log->is_idle && log->nr_staged == 0);
}

/* Fill in the log's part of a checkpoint: the state of the log after the write of all staged events. */
static void fill_checkpoint(const struct px_log *log, struct px_checkpoint_log *to)
{
	const struct px_log_cursor *staged = &log->staged;

	*to = (struct px_checkpoint_log){
		.last_ns = staged->last_ns,
		.nr_lost = log->nr_lost,
		.nr_begun = log->nr_begun,
		.volume = px_log_volume_number(&log->header, log->stage_position),
		.base_ns = staged->stamps.base_ns,
		.ticks = staged->stamps.ticks,
		.real = staged->stamps.real,
		.has_stamps = staged->stamps.begun,
		.has_stop = staged->has_stop,
		.wants_stop = log->wants_stop,
		.serial = log->translator ?
				  px_call_objects_serial(px_translator_objects(log->translator)) :
				  log->serial,
		.ran = log->ran,
		.ran_priority = log->ran_priority,
		.is_idle = is_idle_after_stage(log),
	};
}

void px_log_keep_checkpoint(struct px_log *log, struct px_checkpoint *checkpoint)
{
	if (!log->checkpoint_file)
		return;
	fill_checkpoint(log, &checkpoint->log);
	px_checkpoint_file_keep(log->checkpoint_file, checkpoint);
}

/*
 * Call this function after all other steps that can fail.  Each commit in the file has a serial, and the checkpoint
 * file has a checkpoint with the same serial.
 */
int px_log_write_commit(struct px_log *log, struct px_checkpoint *checkpoint)
{
	struct px_checkpoint_file *checkpoint_file = log->checkpoint_file;
	int error;

	if (checkpoint)
		fill_checkpoint(log, &checkpoint->log);
	if (checkpoint_file)
		px_checkpoint_file_publish(checkpoint_file,
					   checkpoint ? checkpoint : checkpoint_file->base,
					   log->commit.serial + 1);
	log->commit.serial++;
	px_log_seal_commit(&log->commit);
	error = px_log_write_all(log, &log->commit, sizeof(log->commit), log->commit_at);
	if (error)
		log->commit.serial--;
	else if (checkpoint_file && checkpoint)
		px_checkpoint_file_keep(checkpoint_file, checkpoint);
	return error;
}

/*
 * Write a commit without the oldest events, before the writer overwrites their entries or frames.  frame_end: the end
 * of the frame that the writer writes next.
 */
static int give_up_oldest(struct px_log *log, uint64_t frame_end)
{
	uint64_t end = log->staged.end > log->spoiled ? log->staged.end : log->spoiled;
	struct px_log_commit before = log->commit;
	uint32_t first_part = log->first_part, nr_parts = log->nr_parts;
	uint64_t count, first = log->staged.first;
	int error;

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
	if (!error)
		error = make_zeros(log, entry_offset(log, log->hole),
				   left * sizeof(struct px_txtb_entry));
	log->has_hole = error != 0;
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
		error = write_header(log, 0, 0);
	if (!error)
		error = px_log_write_commit(log, NULL);
	if (!error)
		error = make_zeros(log, log->layout.entries,
				   log->to_clear * sizeof(struct px_txtb_entry));
	if (!error)
		error = make_zeros(log, sizeof(struct px_txtb_header),
				   log->layout.entries - sizeof(struct px_txtb_header));
	if (!error)
		error = write_contexts(log, &log->volumes[0], 0);
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
	bool is_round = log->loops && log->staged.end > log->capacity &&
			px_log_volume_number(&log->header, log->staged.end) == 0;
	int error;

	error = write_header(log, 0,
			     is_round ? px_log_slot_in_volume(&log->header, log->staged.end) : 0);
	return error ? error : px_log_write_all(log, &no_thread, sizeof(no_thread), entry_offset(log, 0));
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
	bool overwrites = log->loops && log->stage_position >= log->capacity;
	bool hides = overwrites || log->stage_position < log->spoiled;
	uint32_t after = (slot + log->nr_staged) % log->header.nr_entries;
	int error = 0;

	if (hides)
		error = hide_entries(log, log->stage_position);
	if (!error && overwrites)
		error = write_header(log, offset, after);
	if (!error && log->staged.end < log->spoiled)
		error = hide_entries(log, log->staged.end);
	if (!error)
		error = write_contexts(log, volume, offset);
	if (!error)
		error = write_types(log, volume, offset);
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
	uint64_t next, behind;
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
			hide_entries(log, log->stage_position);
		return 0;
	}
	if (begins_volume(log)) {
		error = begin_next_volume(log);
		log->nr_begun += !error;
	}
	return error ? error : write_entries(log, frame, *frame_size);
}

uint64_t px_log_nr_lost(const struct px_log *log)
{
	return log->nr_lost + log->staged.nr_overwritten;
}

void px_log_fill_commit(struct px_log *log, const struct px_log_state *state, size_t frame_size)
{
	struct px_log_commit *commit = &log->commit;

	commit->first = log->staged.first;
	commit->end = log->staged.end;
	commit->end_frame = log->frame + frame_size;
	commit->nr_unlisted = log->staged.nr_unlisted < UINT32_MAX ?
				      (uint32_t)log->staged.nr_unlisted :
				      UINT32_MAX;
	commit->modules_at = log->tail.modules;
	commit->wrappers_at = log->tail.wrappers;
	commit->names_at = log->tail.names;
	commit->nr_events = log->staged.nr_events;
	commit->nr_given_up = log->staged.nr_overwritten;
	commit->nr_shortened = log->staged.nr_shortened;
	commit->shortened_ns = log->staged.shortened_ns;
	commit->overwritten = state->loss.overwritten;
	commit->dropped = state->loss.dropped;
	commit->abandoned = state->loss.abandoned;
	commit->nr_lost = px_log_nr_lost(log);
	commit->stream_full = state->is_full;
	commit->stream_overrun = state->is_overrun;
	commit->log_full = log->is_full;
	commit->log_overrun = commit->nr_lost != 0;
	commit->flush_error = log->first_error;
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
	if (log->frame > volume->frames_end)
		volume->frames_end = log->frame;
	log->frames_end = volume->frames_end;
	volume->stamps = log->staged.stamps;
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
	size_t frame_size = 0;
	int error;

	note_spoiled(log, log->staged.end > log->spoiled ? log->staged.end : log->spoiled);
	error = px_log_ensure_descriptor(log);
	if (!error)
		error = write_and_commit(log, state, &frame_size);
	log->is_idle = !error && is_idle_after_stage(log);
	log->open = log->switched = 0;
	if (error)
		drop_staged(log);
	else
		keep_staged(log, frame_size);
	note_spoiled(log, log->spoiled);
	if (error && !log->first_error)
		log->first_error = error;
	return error;
}
