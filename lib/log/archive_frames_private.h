/* SPDX-License-Identifier: MIT */
/*
 * Declarations that these files share: archive_frames_find.c (where volumes, frames and chapters are),
 * archive_frames_look.c (a log that is being written) and archive_frames.c (the source).  No other file includes this.
 */
#ifndef PX_LOG_ARCHIVE_FRAMES_PRIVATE_H
#define PX_LOG_ARCHIVE_FRAMES_PRIVATE_H

#include <stddef.h>

#include "log/archive_source.h"

struct px_frames_volume {
	uint64_t at;	  /* offset in the file */
	uint64_t entries; /* offset of the entries in the file */
	uint64_t frames;
	uint32_t nr_entries; /* number of entries that the image has room for */
	uint32_t nr_objects; /* number of object slots of the image */
	uint32_t name_size;  /* of each object slot */
};

#define PX_FRAMES_PIECE 65536
#define PX_FRAMES_FIRST_PIECE 8192

/* The first frame of a chapter. */
struct px_frames_chapter {
	uint64_t position;
	uint64_t frame; /* offset in the frames of its volume */
	uint64_t nr_before; /* number of events before it; valid if has_chapters */
	uint64_t time_ns;   /* of the header of its first frame */
};

/* Bytes of the file, read ahead. */
struct px_frames_piece {
	unsigned char *bytes; /* PX_FRAMES_PIECE bytes; NULL: nothing was read yet */
	uint64_t offset;
	size_t size;
};

/* A definition of an object, and its number in the order of the log: the last one of an object counts. */
struct px_frames_object {
	struct px_log_object known;
	uint64_t number;
};

struct px_frames {
	struct px_archive_source source; /* must be the first member (px_frames_of()) */
	struct px_frames_volume *volume;
	size_t volumes_size;
	bool is_swapped;   /* the writer had the other byte order */
	bool has_moved;	   /* the last look found a part at another place, or gave up */
	bool is_rewritten; /* the last look found a completed log, which may have other frames */
	uint64_t
		end; /* end of the last commit that was read; frames may go on behind the end of file->commit */

	/* The chapters found so far, oldest first. */
	struct px_frames_chapter *chapter;
	uint32_t nr_chapters, chapters_size;
	bool has_chapters;  /* the list is complete */
	uint64_t nr_walked; /* number of events in the frames that collect_objects() has passed */

	/* The frame in memory.  next and next_frame are the position and the offset of the next frame. */
	struct px_unpack *unpack;
	struct px_log_frame head;
	uint64_t next, next_frame;
	unsigned char *body;
	struct px_txtb_entry *entries;
	struct px_unpacked *packed;
	size_t body_size, entries_size;
	uint64_t searched; /* bytes read by px_frames_search() that were no frame */
	/* Frames may be very small.  So the headers and bodies are read in pieces, and so are the entries. */
	struct px_frames_piece frames_piece, entries_piece;
	uint32_t nr_unpacked; /* number of entries that were unpacked from the frame */

	struct px_frames_object *object; /* all objects that the log defines */
	uint32_t nr_objects, objects_size;
	uint64_t nr_definitions; /* number of definitions that were read */
	bool has_objects;
};

PX_INLINE struct px_frames *px_frames_of(struct px_archive_source *source)
{
	return (struct px_frames *)source;
}

/* archive_frames_find.c */

/* Make room in *memory for at least `wanted` members of size `each`.  Return false if there is no memory. */
bool px_frames_ensure(void *memory, size_t *size, size_t wanted, size_t each);

/*
 * Read bytes of the file, from the piece if it has them.  Return how many were read.  If the log is being written, read
 * them from the file: the piece may be older than the commit.
 */
size_t px_frames_read(struct px_frames *frames, struct px_frames_piece *piece, void *to,
		      size_t size, uint64_t offset);

/* Read the size of the file.  Return false if it cannot be read. */
bool px_frames_read_size(struct px_archive_file *file);

/* Find the volumes: each volume has the offset of the next one.  Return false if there is no memory. */
bool px_frames_find_volumes(struct px_frames *frames);

/* Return the volume that has this position, or NULL if the file does not have it. */
const struct px_frames_volume *px_frames_volume_of(const struct px_frames *frames,
						   uint64_t position);

/*
 * Search a volume of a damaged log: from *frame on, find the first whole frame with a position greater than *position.
 * Set *position and *frame to those of the frame that it finds.  The search reads bodies of frames into frames->body.
 */
bool px_frames_search(struct px_frames *frames, uint64_t *position, uint64_t *frame,
		      struct px_log_frame *head);

/* See px_archive_frames_find(). */
bool px_frames_find(struct px_frames *frames, uint64_t *position, uint64_t *frame,
		    struct px_log_frame *head);

/*
 * Remember where a chapter begins.  If there is no memory, forget it: px_frames_seek() then begins at an earlier
 * chapter.
 */
void px_frames_note_chapter(struct px_frames *frames, const struct px_log_frame *head,
			    uint64_t frame);

/* Forget the chapters before the first event of the commit. */
void px_frames_forget_chapters(struct px_frames *frames);

/* Go to the beginning of a chapter: of those found so far, the newest that begins at or before this position. */
void px_frames_seek(struct px_frames *frames, uint64_t position);

#endif
