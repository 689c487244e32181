/* SPDX-License-Identifier: MIT */
/*
 * Cut the unused parts of a completed log.
 *
 * The writer writes a small log again, as a whole, and so a log with many unused bytes (compact.h).  It first writes
 * this copy behind the end of the file, with a footer that has the offset of the copy.  Then it moves the copy to the
 * beginning of the file (settle.h).
 *
 * Of another log, the writer cuts only the last volume.  It writes the section and the tail once more, into the part of
 * the image that has no entries.  Then one write of the header of the image makes the image shorter.
 *
 * At every instant the file is a whole log, so nothing is lost if the writer dies.
 */
#include "log/log_private.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "log/compact.h"
#include "log/settle.h"

#define SMALL_MAX (UINT64_C(4) << 20)	 /* maximum bytes of a small log, which is written again in any case */
#define REWRITE_MAX (UINT64_C(1) << 30)	 /* maximum bytes of a log that is written again if it has many unused bytes */
/* A log has many unused bytes if they are more than this number plus this part of the used bytes. */
#define UNUSED_LEAST (UINT64_C(64) << 10)
#define UNUSED_PART 16

/* The last volume, as it is in the file. */
struct last {
	uint64_t at;
	uint32_t nr_entries; /* number of entries in use */
	uint64_t frames;     /* bytes of the frames in use */
	bool is_first;	     /* the last volume is the only one */
};

static struct last last_of(const struct px_log *log)
{
	uint64_t number = log->nr_begun - 1;
	const struct px_log_volume *volume = &log->volumes[log->loops ? number : 0];
	bool is_round = log->loops && log->written.end >= log->capacity;
	struct last last = {.at = log->loops ? number * log->layout.size : log->volume_at,
			    .nr_entries = log->header.nr_entries,
			    .frames = log->loops ? volume->frames_end : log->frames_end,
			    .is_first = log->nr_begun == 1};

	if (!is_round && log->written.end / log->header.nr_entries == number)
		last.nr_entries = px_log_slot_in_volume(&log->header, log->written.end);
	return last;
}

static int truncate_to(struct px_log *log, uint64_t size)
{
	int error;

	PX_TESTPOINT("log.write.before");
	error = px_log_ensure_descriptor(log);
	if (error)
		return error;
	return ftruncate(log->fd, (off_t)size) == 0 ? 0 : errno;
}

/*
 * Only the writer moves parts of its log.  While the writer lives, no other process opens the log.  But while a process
 * recovers a log, other processes may have it open.  They must find all parts of the log at their old offsets.
 */
static bool may_move(const struct px_log *log)
{
	return log->commit.is_complete == PX_LOG_COMPLETE;
}

/* Larger logs. */

/* Write the last commit to this offset. */
static int commit_at(struct px_log *log, const struct px_log_state *state, uint64_t at,
		     const struct px_log_tail *tail)
{
	px_log_set_tail(&log->commit, tail);
	log->tail = *tail;
	log->commit_at = at;
	return px_log_write_commit(log, state->checkpoint);
}

/* Make the image as long as its entries. */
static int cut_image(struct px_log *log, const struct last *last)
{
	struct px_txtb_header header;

	px_log_image_header(&header, log->layout.nr_objects, PX_TXTB_NAME_SIZE, last->nr_entries);
	return px_log_write_all(log, &header, sizeof(header), last->at);
}

/* Cut the last volume.  The unused part of the image has room for the section and the tail. */
static int cut_volume(struct px_log *log, const struct px_log_state *state, const struct last *last,
		      int reader, uint64_t *end)
{
	const struct px_log_layout *old = &log->layout;
	struct px_log_layout new = px_log_layout(old->nr_objects, last->nr_entries, last->frames);
	struct px_log_tail tail = px_log_tail_at(&log->header, &log->commit,
						 last->at + new.frames + last->frames);
	int error;

	*end = tail.wrappers + tail.size;
	error = px_log_copy(log, reader, last->at + old->header, last->at + new.header, PX_LOG_PAGE);
	if (!error)
		error = px_log_copy(log, reader, last->at + old->frames, last->at + new.frames,
				    last->frames);
	if (!error)
		error = px_log_copy_tail(log, reader, &tail);
	if (error)
		return error;
	if (!last->is_first) {
		error = cut_image(log, last);
		return error ? error : commit_at(log, state, log->commit_at, &tail);
	}
	error = commit_at(log, state, new.commit, &tail);
	return error ? error : cut_image(log, last);
}

static int finish_large(struct px_log *log, const struct px_log_state *state,
			const struct last *last, int reader)
{
	uint64_t entries_end = px_txtb_image_size(log->layout.nr_objects, last->nr_entries);
	uint64_t end = last->at + log->layout.frames + last->frames;
	struct px_log_tail tail = px_log_tail_at(&log->header, &log->commit, end);
	int error;

	if (may_move(log) &&
	    px_log_page_up(entries_end) + 2 * PX_LOG_PAGE + last->frames + tail.size <=
		   log->layout.header) {
		error = cut_volume(log, state, last, reader, &end);
	} else if (end + tail.size <= log->tail.modules) {
		end += tail.size;
		error = px_log_copy_tail(log, reader, &tail);
		if (!error)
			error = commit_at(log, state, log->commit_at, &tail);
	} else {
		return EFBIG;
	}
	return error ? error : truncate_to(log, end);
}

/*
 * Write only the last commit.  The file ends with the tail.  First give the file its length: readers refuse a complete
 * log that is shorter than its commit requires.
 */
static int finish_in_place(struct px_log *log, const struct px_log_state *state)
{
	uint64_t end = log->tail.names + log->commit.nr_names * sizeof(struct px_log_name);
	int error = truncate_to(log, end);

	return error ? error : px_log_write_commit(log, state->checkpoint);
}

/* Logs that are written again. */

/* Return how many bytes of the log are in use. */
static uint64_t used_bytes(const struct px_log *log, const struct last *last)
{
	uint64_t used = 0;

	if (!log->loops)
		return (last->at > log->unused ? last->at - log->unused : 0) + 2 * PX_LOG_PAGE + last->frames +
		       px_txtb_image_size(log->layout.nr_objects, last->nr_entries);
	for (uint64_t i = 0; i < log->nr_begun; i++)
		used += px_txtb_image_size(log->layout.nr_objects, log->volumes[i].entries_end) +
			2 * PX_LOG_PAGE + log->volumes[i].frames_end;
	return used;
}

/*
 * Return true if the writer writes the log again: if the log is small, or if many of its bytes are not in use.  Unused
 * bytes are in holes, and in the heads of very small frames.  A very large log would take too long.
 */
static bool wants_rewrite(const struct px_log *log, const struct last *last)
{
	uint64_t used = used_bytes(log, last), end = last->at + log->layout.frames + last->frames;
	uint64_t unused = end - (used < end ? used : end);

	unused += log->nr_frames * sizeof(struct px_log_frame);
	return used <= SMALL_MAX ||
	       (used <= REWRITE_MAX && unused > UNUSED_LEAST + used / UNUSED_PART);
}

static int write_moved(void *argument, const void *data, size_t size, uint64_t offset)
{
	struct px_log *log = argument;

	return data ? px_log_write_all(log, data, size, offset) : truncate_to(log, offset);
}

/* Write the log again, behind the end of the file, with a footer.  Return 0 or an error number. */
static int write_behind(struct px_log *log, int reader)
{
	struct px_archive_file file = {.fd = reader};
	struct px_log_sink sink = {.write = write_moved, .argument = log};
	struct px_log_footer footer = {.magic = PX_LOG_FOOTER_MAGIC};
	struct px_archive_source *source;
	int error;

	if (!px_log_find(reader, &file.header, &file.layout))
		return EINVAL;
	error = px_archive_source_open(&file, &source);
	if (error)
		return error;
	footer.base = px_log_page_up(log->tail.names + log->commit.nr_names * sizeof(struct px_log_name));
	sink.base = footer.base;
	memcpy(footer.uuid, log->header.uuid, sizeof(footer.uuid));
	/*
	 * All events are in the file, but the last commit is not.  The checkpoint must have the serial of this commit.
	 */
	file.commit = log->commit;
	file.commit.serial++;
	error = truncate_to(log, footer.base); /* the application may have allocated more */
	if (!error)
		error = px_compact(&file, source, &sink, &footer.size);
	if (!error)
		error = footer.size > footer.base ? EFBIG :
						    px_log_sink_write(&sink, &footer, sizeof(footer),
								      footer.size);
	px_archive_source_free(source);
	if (error)
		truncate_to(log, footer.base);
	return error;
}

/* Write the last commit, and cut the unused parts of the file. */
static int finish(struct px_log *log, const struct px_log_state *state)
{
	const struct px_log_sink sink = {.write = write_moved, .argument = log};
	struct last last = last_of(log);
	const struct px_log_commit commit = log->commit;
	const struct px_log_tail old_tail = log->tail;
	const uint64_t old_at = log->commit_at;
	int error = EFBIG, reader = px_log_open_reader(log);
	bool is_moving = false;

	if (reader >= 0 && may_move(log) && wants_rewrite(log, &last)) {
		error = write_behind(log, reader);
		is_moving = !error;
		if (is_moving)
			error = px_log_move(reader, &sink);
	}
	/* If there is no room for a copy, cut only the last volume. */
	if (error && !is_moving && reader >= 0)
		error = finish_large(log, state, &last, reader);
	/*
	 * Even if only the last step failed, readers still find the old commit and the old tail.  So restore their
	 * offsets.
	 */
	if (error && !is_moving) {
		px_log_set_tail(&log->commit, &old_tail);
		log->commit.serial = commit.serial;
		log->tail = old_tail;
		log->commit_at = old_at;
		error = finish_in_place(log, state);
	}
	if (reader >= 0)
		close(reader);
	return error;
}

/* Completion. */

/* If the log is empty, lay out the fillers: the viewer shows nothing for an image without entries. */
static void stage_if_empty(struct px_log *log)
{
	const struct px_attr_time *time = &log->header.attr.create_time;

	if (log->staged.end == 0)
		px_log_begin_stamps(log,
				    (uint64_t)time->s * 1000000000 + (uint64_t)time->ns);
}

/* Return true if the file needs more than the names of event types and a commit. */
static bool has_unwritten(const struct px_log *log)
{
	return log->nr_staged > 0 || (log->wants_stop && !log->staged.has_stop) ||
	       log->is_cleared || log->has_hole || log->stage_position < log->spoiled;
}

static int write_rest(struct px_log *log, const struct px_log_state *state)
{
	int error;

	stage_if_empty(log);
	if (has_unwritten(log))
		return px_log_write(log, state);
	error = px_log_write_names(log);
	if (!error)
		px_log_fill_commit(log, state, 0);
	return error;
}

/*
 * Record how the log ended, and cut the file.  The target may have loaded more modules since the last list, so write
 * the list of modules again.  If that fails, the log has no list.
 */
static int end_file(struct px_log *log, const struct px_log_state *state, enum px_log_end end)
{
	if (end == PX_LOG_COMPLETE)
		px_log_write_modules(log);
	px_log_write_wrappers(log, state->tick_ns);
	log->commit.is_complete = end;
	return finish(log, state);
}

int px_log_complete(struct px_log *log, const struct px_log_state *state, enum px_log_end end)
{
	int error = px_log_ensure_descriptor(log);
	int first_error = error;

	if (!error)
		error = first_error = write_rest(log, state);
	/* The failed write has lost its events, but a second write, without them, may succeed. */
	if (error && end == PX_LOG_COMPLETE && px_log_ensure_descriptor(log) == 0)
		error = write_rest(log, state);
	if (!error)
		error = end_file(log, state, end);
	px_log_free(log);
	return first_error ? first_error : error;
}

