/* SPDX-License-Identifier: MIT */
/* A log that is being written: finds out where its parts are in the file now. */
#include "log/archive_frames_private.h"

#include <string.h>

#define LOOK_ATTEMPTS 1000 /* a completed log moves in less time */

/* Read header and commit again.  While the log moves in the file, they are at the old place or at the new one. */
static bool read_now(const struct px_frames *frames, struct px_log_header *header,
		     struct px_log_layout *layout, struct px_log_commit *commit)
{
	const struct px_archive_file *file = frames->source.file;

	for (int i = 0; i < LOOK_ATTEMPTS; i++)
		if (px_log_find(file->fd, header, layout) &&
		    memcmp(header->uuid, file->header.uuid, sizeof(header->uuid)) == 0 &&
		    px_log_header_is_readable(header) &&
		    px_log_read_whole_commit(file->fd, header, layout, commit))
			return true;
	return false;
}

static void take_first(struct px_frames *frames, const struct px_log_commit *now)
{
	struct px_log_commit *commit = &frames->source.file->commit;

	if (now->first <= commit->first)
		return;
	commit->first = now->first;
	commit->first_frame = now->first_frame;
	commit->nr_given_up = now->nr_given_up;
	if (commit->end < commit->first)
		commit->end = commit->first; /* all events of the old commit are gone */
	px_frames_forget_chapters(frames);
}

static bool has_other_place(const struct px_frames *frames, const struct px_log_layout *layout,
			    const struct px_log_commit *now)
{
	const struct px_archive_file *file = frames->source.file;

	return layout->base != file->layout.base || layout->nr_objects != file->layout.nr_objects ||
	       layout->name_size != file->layout.name_size ||
	       layout->is_tight != file->layout.is_tight ||
	       layout->nr_entries != file->layout.nr_entries ||
	       now->is_complete != file->commit.is_complete ||
	       now->modules_at != file->commit.modules_at;
}

/* The tail of the log may have moved. */
static void take_tail(struct px_log_commit *commit, const struct px_log_commit *now)
{
	commit->is_complete = now->is_complete;
	commit->modules_at = now->modules_at;
	commit->wrappers_at = now->wrappers_at;
	commit->names_at = now->names_at;
	commit->modules_bytes = now->modules_bytes;
	commit->nr_wrappers = now->nr_wrappers;
	commit->nr_names = now->nr_names;
}

/*
 * Completion may have written the log again, with other frames (compact.h): they have the same positions, but other
 * offsets.  Begin with the first frame.
 */
static void take_rewritten(struct px_frames *frames, const struct px_log_commit *now)
{
	frames->is_rewritten = true;
	frames->source.file->commit.first_frame = now->first_frame;
	frames->nr_chapters = 0;
	px_frames_seek(frames, 0);
}

/* is_longer: there may be more volumes than before. */
static bool look(struct px_frames *frames, bool is_longer, struct px_log_commit *now)
{
	struct px_archive_file *file = frames->source.file;
	struct px_log_header header;
	struct px_log_layout layout;
	struct px_log_commit commit;
	bool is_elsewhere;

	if (!read_now(frames, &header, &layout, &commit) ||
	    (commit.nr_clears != file->commit.nr_clears && !is_longer) ||
	    !px_frames_read_size(file))
		return false;
	is_elsewhere = has_other_place(frames, &layout, &commit);
	if (is_elsewhere) {
		frames->has_moved = true;
		file->header = header;
		file->layout = layout;
		take_tail(&file->commit, &commit);
	}
	take_first(frames, &commit);
	if (is_longer) {
		if (commit.nr_clears != file->commit.nr_clears)
			frames->nr_chapters = 0;
		file->commit = commit;
		file->is_gone = false;
		frames->has_objects = false;
		frames->nr_objects = 0;
	}
	frames->end = commit.end;
	frames->frames_piece.size = frames->entries_piece.size = 0;
	if (is_elsewhere && commit.is_complete)
		take_rewritten(frames, &commit);
	if (now)
		*now = commit;
	if ((frames->has_moved || is_longer) && !px_frames_find_volumes(frames))
		return false;
	/* The log is complete, so its frames will not move again. */
	if (commit.is_complete && layout.base == 0)
		file->is_running = false;
	return true;
}

bool px_archive_frames_look(struct px_archive_source *source, struct px_log_commit *now)
{
	return look(px_frames_of(source), false, now);
}

bool px_archive_frames_extend(struct px_archive_source *source)
{
	return look(px_frames_of(source), true, NULL);
}
