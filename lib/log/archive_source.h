/* SPDX-License-Identifier: MIT */
/*
 * A source reads the entries of a log for archive_log.c, together with their exact times, threads, data and objects.
 * Each version of the log format has a source.  A source reads pieces of bounded size, and treats all that it reads as
 * hostile input.
 */
#ifndef PX_LOG_ARCHIVE_SOURCE_H
#define PX_LOG_ARCHIVE_SOURCE_H

#include <stdbool.h>
#include <stdint.h>

#include "log/format.h"
#include "log/unpack.h"

/* The file of a log. */
struct px_archive_file {
	int fd;
	struct px_log_header header;
	struct px_log_commit commit;
	struct px_log_layout layout; /* layout of the first volume */
	uint32_t nr_volumes;	     /* number of volumes in the file; the source sets it */
	bool is_running;	     /* its writer may change the file at any moment */
	bool is_gone;		     /* the log was cleared, so the rest of this commit cannot be read */
	bool takes_damaged;	     /* open it also if parts of it are missing */
	bool has_no_commit;	     /* set by the source: the commit was made from the frames */
	uint64_t size;		     /* bytes of the file, set by the source */
};

/* A sequence of entries, and what the log holds for each of them. */
struct px_archive_window {
	uint64_t position; /* position of the first entry */
	uint32_t nr_entries;
	const struct px_txtb_entry *entries;
	const struct px_unpacked *packed;
	bool begins_chapter; /* this window and the later ones need no definitions of earlier windows */
	bool follows_loss;   /* before its first event, events are missing, because a write failed */
};

/* The image of a volume, in the file. */
struct px_archive_volume {
	uint64_t at;
	uint64_t entries;
	uint32_t nr_objects;
	uint32_t name_size;
	uint32_t nr_entries;
};

struct px_archive_source;

struct px_archive_source_kind {
	size_t size; /* bytes of the source; it begins with a struct px_archive_source */
	/*
	 * Open the source: read the commit of source->file, and set its nr_volumes.  The caller has filled in kind and
	 * file, and has set all other bytes to 0.  Return 0, or an error as px_archive_source_open().
	 */
	int (*open)(struct px_archive_source *source);
	/*
	 * Get a window that has the entry at this position.  If the log has no entry there, the window begins with the
	 * next entry after the position.  Return false if the log has no such entry.  The window is valid
	 * until the next call.
	 */
	bool (*load)(struct px_archive_source *source, uint64_t position,
		     struct px_archive_window *window);
	/* Get object number i.  handle 0: there is no object with this number.  Return false after the last object. */
	bool (*object)(struct px_archive_source *source, uint32_t i, struct px_log_object *object);
	/*
	 * Get the next definition of an object in the window that was loaded last.  *offset: 0 for the first one.
	 * Leave *object as it is between two calls.  Return false after the last one.
	 */
	bool (*next_definition)(struct px_archive_source *source, size_t *offset,
				struct px_log_object *object);
	/* Return an object as the last loaded window shows it, or NULL.  This position is in that window. */
	const struct px_log_object *(*find)(struct px_archive_source *source, uint64_t position,
					    uint32_t handle);
	/*
	 * Get the position of the first entry of chapter number i, the number of events before it, and about its time.
	 * The next load() begins there.  Return false if there is no such chapter, or if the log is damaged or running.
	 * NULL: the log has no chapters.
	 */
	bool (*chapter)(struct px_archive_source *source, uint32_t i, uint64_t *position, uint64_t *nr_before,
			uint64_t *about_ns);
	/* Get the image of a volume.  Return false if it has none. */
	bool (*volume)(struct px_archive_source *source, uint32_t number,
		       struct px_archive_volume *volume);
	/* Free what the source has.  It may not be open, after an error. */
	void (*close)(struct px_archive_source *source);
};

struct px_archive_source {
	const struct px_archive_source_kind *kind;
	struct px_archive_file *file;
};

extern const struct px_archive_source_kind px_archive_frames;
extern const struct px_archive_source_kind px_archive_slots; /* of version 2 */

/*
 * Make the source of this log, and set file->nr_volumes.  The caller has read file->header and file->layout, and keeps
 * *file valid.  The source reads the commit.  Return 0, ENOMEM, or EINVAL: the log is of another machine or version,
 * the commit is not valid, or a part of a complete log is missing.
 */
int px_archive_source_open(struct px_archive_file *file, struct px_archive_source **source);

/* Free the source.  NULL does nothing. */
void px_archive_source_free(struct px_archive_source *source);

/*
 * For a source of frames, of a log that is being written: see where things are in the file now.  The positions of the
 * commit stay as they were, but `first` moves on if the log has given up events.  *now: the newest commit, or NULL.
 * Return false if the log cannot be read any more, because it was cleared, or because the file is another one.  If the
 * writer has completed the log, its frames may be other ones, and file->is_running becomes false.
 */
bool px_archive_frames_look(struct px_archive_source *source, struct px_log_commit *now);

/* If the log is running, update the source to the newest commit.  Otherwise do the same as px_archive_frames_look(). */
bool px_archive_frames_extend(struct px_archive_source *source);

/*
 * Return the offset of a volume in the file.  The source must have frames.  number must be less than file->nr_volumes.
 */
uint64_t px_archive_frames_volume(const struct px_archive_source *source, uint64_t number);

/*
 * For such a source: find the first frame at or after *position, and copy its header.  *frame is the offset of a frame
 * in the frames of its volume.  The search begins at *position and *frame, and sets both to those of the frame that it
 * finds.  Return false if it finds none.
 */
bool px_archive_frames_find(struct px_archive_source *source, uint64_t *position, uint64_t *frame,
			    struct px_log_frame *head);

/* Return true if this is the header of a log of version 2 from a machine with the same byte order. */
bool px_archive_slots_is_ours(const struct px_log_header *header);

#endif
