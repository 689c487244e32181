/* SPDX-License-Identifier: MIT */
/*
 * Where archive_log.c gets the entries of a log from, with all that belongs to them.  There is a source for each
 * version of the format of logs.  A source reads pieces of bounded size, and treats all that it reads as hostile input.
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
	struct px_log_layout layout; /* of the first volume */
	uint32_t nr_volumes;	     /* in the file; the source sets it */
};

/* Entries that follow each other, and what belongs to them. */
struct px_archive_window {
	uint64_t position; /* of the first */
	uint32_t nr_entries;
	const struct px_txtb_entry *entries;
	const struct px_unpacked *packed;
};

struct px_archive_source;

struct px_archive_source_kind {
	/*
	 * Get a window with the entry at this position, or, if the log has no entry there, with the next entries behind
	 * it. Return false if there are none.  The window is valid until the next call.
	 */
	bool (*load)(struct px_archive_source *source, uint64_t position,
		     struct px_archive_window *window);
	/* Get object number i.  handle 0: there is no object with this number.  Return false after the last object. */
	bool (*object)(struct px_archive_source *source, uint32_t i, struct px_log_object *object);
	void (*free)(struct px_archive_source *source);
};

struct px_archive_source {
	const struct px_archive_source_kind *kind;
};

/*
 * Make the source of this log, and set file->nr_volumes.  file->header and ->layout are read; the source reads the
 * commit. The caller keeps *file valid.  Return 0, ENOMEM, or EINVAL if the commit is not valid, or if a part of a
 * complete log is missing.
 */
int px_archive_frames_open(struct px_archive_file *file, struct px_archive_source **source);

/* For such a source: return the offset in the file of a volume, which must be less than file->nr_volumes. */
uint64_t px_archive_frames_volume(const struct px_archive_source *source, uint64_t number);

/*
 * For such a source: find the header of the first frame at or behind this position.  *frame: its offset in the frames
 * of its volume.  Both are set to those of the frame found.  Return false if there is none.
 */
bool px_archive_frames_find(struct px_archive_source *source, uint64_t *position, uint64_t *frame,
			    struct px_log_frame *head);

/* The same for a log of version 2.  Return true from px_archive_slots_is_ours() if this is the header of such a log. */
int px_archive_slots_open(struct px_archive_file *file, struct px_archive_source **source);
bool px_archive_slots_is_ours(const struct px_log_header *header);

#endif
