/* SPDX-License-Identifier: MIT */
/* Where the volumes, frames and chapters of a log are in its file. */
#include "log/archive_frames_private.h"

#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "log/order.h"
#include "txtb/file.h"

#define VOLUMES_MAX 1048576

bool px_frames_ensure(void *memory, size_t *size, size_t wanted, size_t each)
{
	void **array = memory;
	void *larger;

	if (wanted <= *size)
		return true;
	wanted += wanted / 4;
	larger = realloc(*array, wanted * each);
	if (!larger)
		return false;
	*array = larger;
	*size = wanted;
	return true;
}

bool px_frames_read_size(struct px_archive_file *file)
{
	struct stat status;

	if (fstat(file->fd, &status) != 0)
		return false;
	file->size = (uint64_t)status.st_size;
	return true;
}

size_t px_frames_read(struct px_frames *frames, struct px_frames_piece *piece, void *to,
		      size_t size, uint64_t offset)
{
	struct px_archive_file *file = frames->source.file;

	if (file->is_running || size > PX_FRAMES_PIECE / 2)
		return px_txtb_file_read(file->fd, to, size, offset);
	if (!piece->bytes)
		piece->bytes = malloc(PX_FRAMES_PIECE);
	if (!piece->bytes)
		return px_txtb_file_read(file->fd, to, size, offset);
	if (offset < piece->offset || offset + size > piece->offset + piece->size) {
		/* The first piece is small: in many logs it has all that is there, and fresh memory costs time. */
		size_t wanted = piece->size == 0 && size < PX_FRAMES_FIRST_PIECE ? PX_FRAMES_FIRST_PIECE :
										     PX_FRAMES_PIECE;

		piece->offset = offset;
		piece->size = px_txtb_file_read(file->fd, piece->bytes, wanted, offset);
	}
	if (size > piece->size - (offset - piece->offset))
		size = (size_t)(piece->size - (offset - piece->offset));
	memcpy(to, piece->bytes + (offset - piece->offset), size);
	return size;
}

/* Volumes. */

static struct px_frames_volume volume_at(uint64_t at, const struct px_log_layout *layout)
{
	return (struct px_frames_volume){.at = at,
					 .entries = at + layout->entries,
					 .frames = at + layout->frames,
					 .nr_entries = layout->nr_entries,
					 .nr_objects = layout->nr_objects,
					 .name_size = layout->name_size};
}

bool px_frames_find_volumes(struct px_frames *frames)
{
	struct px_archive_file *file = frames->source.file;
	struct px_log_header header = file->header;
	struct px_log_layout layout = file->layout;
	uint64_t wanted = (file->commit.end + header.nr_entries - 1) / header.nr_entries;
	uint64_t at = file->layout.base, next;

	if (header.policy == PX_POLICY_LOOP && wanted > header.nr_volumes)
		wanted = header.nr_volumes;
	for (file->nr_volumes = 0; file->nr_volumes < VOLUMES_MAX;) {
		if (!px_frames_ensure(&frames->volume, &frames->volumes_size, file->nr_volumes + 1u,
				      sizeof(*frames->volume)))
			return false;
		frames->volume[file->nr_volumes++] = volume_at(at, &layout);
		if (file->nr_volumes >= wanted)
			break;
		next = at + layout.size;
		if (header.next_volume || header.policy != PX_POLICY_LOOP)
			next = file->layout.base + header.next_volume;
		if (next <= at)
			break;
		at = next;
		if (at >= file->size || !px_log_find_volume(file->fd, at, &header, &layout) ||
		    header.volume != file->nr_volumes ||
		    memcmp(header.uuid, file->header.uuid, sizeof(header.uuid)) != 0)
			break;
	}
	return true;
}

const struct px_frames_volume *px_frames_volume_of(const struct px_frames *frames,
						   uint64_t position)
{
	uint64_t number = px_log_volume_number(&frames->source.file->header, position);

	return number < frames->source.file->nr_volumes ? &frames->volume[number] : NULL;
}

/* Frames. */

/*
 * Return true if this is a whole frame, with positions less than `end`.  last: the offset behind the last frame of the
 * volume.  A hostile file may have very many places that look like a frame but are none.  So in one pass through the
 * log, this function reads at most as many bytes of such places as the file has.
 */
static bool is_whole(struct px_frames *frames, const struct px_frames_volume *volume,
		     uint64_t frame, const struct px_log_frame *head, uint64_t end, uint64_t last)
{
	uint64_t offset = volume->frames + frame + sizeof(*head);
	size_t size = (size_t)head->objects + head->records;

	if (!px_unpack_is_frame(head, head->position, end - head->position,
				last - frame - sizeof(*head)) ||
	    size > frames->source.file->size - frames->searched ||
	    !px_frames_ensure(&frames->body, &frames->body_size, size + 1, 1))
		return false;
	if (px_txtb_file_read(frames->source.file->fd, frames->body, size, offset) == size &&
	    head->sum == px_frame_sum_of(head, frames->body, frames->is_swapped))
		return true;
	frames->searched += size;
	return false;
}

/* Return the offset behind the last byte that may belong to a frame of this volume. */
static uint64_t frames_end(const struct px_frames *frames, const struct px_frames_volume *volume)
{
	const struct px_archive_file *file = frames->source.file;
	bool is_last = volume == &frames->volume[file->nr_volumes - 1];
	uint64_t end = is_last ? file->size : volume[1].at;

	end = end > volume->frames ? end - volume->frames : 0;
	return end < file->header.volume_max ? end : file->header.volume_max;
}

/* Return the position after the last one of this volume and round. */
static uint64_t volume_end(const struct px_frames *frames, uint64_t position)
{
	uint64_t end = px_log_next_volume_at(&frames->source.file->header, position);

	return end < frames->end ? end : frames->end;
}

static void take_head(const struct px_frames *frames, const void *bytes, struct px_log_frame *head)
{
	memcpy(head, bytes, sizeof(*head));
	if (px_unlikely(frames->is_swapped))
		px_order_frame(head);
}

static bool read_head(struct px_frames *frames, struct px_log_frame *head, uint64_t offset)
{
	unsigned char bytes[sizeof(*head)];

	if (px_frames_read(frames, &frames->frames_piece, bytes, sizeof(bytes), offset) != sizeof(bytes))
		return false;
	take_head(frames, bytes, head);
	return true;
}

bool px_frames_search(struct px_frames *frames, uint64_t *position, uint64_t *frame,
		      struct px_log_frame *head)
{
	const struct px_frames_volume *volume = px_frames_volume_of(frames, *position);
	uint64_t last = frames_end(frames, volume), end = volume_end(frames, *position);
	unsigned char bytes[4096];
	size_t got;

	for (uint64_t from = *frame; from + sizeof(*head) <= last;
	     from += got - sizeof(*head) + 1) {
		size_t wanted = last - from < sizeof(bytes) ? (size_t)(last - from) : sizeof(bytes);

		got = px_txtb_file_read(frames->source.file->fd, bytes, wanted,
					volume->frames + from);
		if (got < sizeof(*head))
			return false;
		for (size_t i = 0; i + sizeof(*head) <= got; i++) {
			take_head(frames, bytes + i, head);
			if (head->magic != PX_FRAME_MAGIC || head->position <= *position ||
			    head->position >= end ||
			    !is_whole(frames, volume, from + i, head, end, last))
				continue;
			*position = head->position;
			*frame = from + i;
			return true;
		}
	}
	return false;
}

/*
 * Return true if the volume ends early at this position, with a hole: the entry there has no context, or the image is
 * cut there.
 */
static bool is_hole(const struct px_frames *frames, const struct px_frames_volume *volume,
		    uint32_t slot)
{
	struct px_txtb_entry entry;

	return slot >= volume->nr_entries ||
	       px_txtb_file_read(frames->source.file->fd, &entry, sizeof(entry),
				 volume->entries + slot * sizeof(entry)) != sizeof(entry) ||
	       entry.context == 0;
}

/*
 * Find the header of the first frame at or after this position.  If there is no frame at *frame, the volume has no more
 * frames, or the file is damaged there: then continue with the next whole frame of the volume, or in the next volume.
 * Return false at the end of the log.
 */
bool px_frames_find(struct px_frames *frames, uint64_t *position, uint64_t *frame,
		    struct px_log_frame *head)
{
	const struct px_log_header *header = &frames->source.file->header;
	const struct px_log_commit *commit = &frames->source.file->commit;

	while (*position < commit->end) {
		const struct px_frames_volume *volume = px_frames_volume_of(frames, *position);
		uint32_t slot = px_log_slot_in_volume(header, *position);
		uint64_t left = frames->end - *position, max = header->volume_max;

		if (!volume && header->policy != PX_POLICY_LOOP)
			break; /* a damaged commit may name more volumes than can be tried */
		if (left > header->nr_entries - slot)
			left = header->nr_entries - slot;
		if (volume && *frame + sizeof(*head) <= max &&
		    read_head(frames, head, volume->frames + *frame) &&
		    px_unpack_is_frame(head, *position, left, max - *frame - sizeof(*head)))
			return true;
		if (volume && !frames->source.file->is_running && !is_hole(frames, volume, slot) &&
		    px_frames_search(frames, position, frame, head))
			return true;
		*position = px_log_next_volume_at(header, *position);
		*frame = 0;
	}
	return false;
}

bool px_archive_frames_find(struct px_archive_source *source, uint64_t *position, uint64_t *frame,
			    struct px_log_frame *head)
{
	return px_frames_find(px_frames_of(source), position, frame, head);
}

uint64_t px_archive_frames_volume(const struct px_archive_source *source, uint64_t number)
{
	return ((const struct px_frames *)source)->volume[number].at;
}

/* Chapters. */

void px_frames_note_chapter(struct px_frames *frames, const struct px_log_frame *head,
			    uint64_t frame)
{
	size_t size = frames->chapters_size;

	if (!(head->flags & PX_FRAME_CHAPTER) ||
	    (frames->nr_chapters > 0 &&
	     frames->chapter[frames->nr_chapters - 1].position >= head->position) ||
	    !px_frames_ensure(&frames->chapter, &size, frames->nr_chapters + 1u,
			      sizeof(*frames->chapter)))
		return;
	frames->chapters_size = (uint32_t)size;
	frames->chapter[frames->nr_chapters++] =
		(struct px_frames_chapter){.position = head->position,
					   .frame = frame,
					   .nr_before = frames->nr_walked,
					   .time_ns = head->time_ns};
}

void px_frames_forget_chapters(struct px_frames *frames)
{
	uint32_t gone = 0;

	while (gone < frames->nr_chapters &&
	       frames->chapter[gone].position < frames->source.file->commit.first)
		gone++;
	if (gone == 0)
		return; /* there may be no memory yet */
	frames->nr_chapters -= gone;
	memmove(frames->chapter, frames->chapter + gone,
		frames->nr_chapters * sizeof(*frames->chapter));
}

void px_frames_seek(struct px_frames *frames, uint64_t position)
{
	uint32_t low = 0, high = frames->nr_chapters;

	while (low < high) {
		uint32_t middle = low + (high - low) / 2;

		if (frames->chapter[middle].position <= position)
			low = middle + 1;
		else
			high = middle;
	}
	if (low == 0)
		frames->searched = 0;
	frames->nr_unpacked = 0;
	frames->head.nr_entries = 0;
	frames->next = low ? frames->chapter[low - 1].position : frames->source.file->commit.first;
	frames->next_frame = low ? frames->chapter[low - 1].frame :
				   frames->source.file->commit.first_frame;
}
