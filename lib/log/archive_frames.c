/* SPDX-License-Identifier: MIT */
#include "log/archive_source.h"

#include <errno.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "txtb/file.h"

#define VOLUMES_MAX 1048576
#define LOOK_ATTEMPTS 1000 /* a completed log moves in less time */
#define OBJECTS_MAX 1048576 /* that a reader knows; further ones are nameless */

struct volume {
	uint64_t at;	  /* offset in the file */
	uint64_t entries; /* offset of the entries in the file */
	uint64_t frames;
	uint32_t nr_entries; /* number of entries that the image has room for */
	uint32_t nr_objects; /* number of object slots of the image */
};

/* The first frame of a chapter. */
struct chapter {
	uint64_t position;
	uint64_t frame; /* offset in the frames of its volume */
};

struct frames {
	struct px_archive_source source; /* must be the first member (frames_of()) */
	struct volume *volume;
	size_t volumes_size;
	bool has_moved; /* a look has found something at another place, or given up */
	bool is_rewritten; /* a look has found a completed log, which may have other frames */
	uint64_t end; /* end of the last commit that was read; frames may go on behind the end of file->commit */

	/* The chapters found so far, oldest first. */
	struct chapter *chapter;
	uint32_t nr_chapters, chapters_size;

	/* The frame in memory.  next and next_frame are the position and the offset of the next frame. */
	struct px_unpack *unpack;
	struct px_log_frame head;
	uint64_t next, next_frame;
	unsigned char *body;
	struct px_txtb_entry *entries;
	struct px_unpacked *packed;
	size_t body_size, entries_size;
	uint32_t nr_unpacked; /* number of entries that were unpacked from the frame */

	struct px_log_object *object; /* all objects that the log defines */
	uint32_t nr_objects, objects_size;
	bool has_objects;
};

static struct frames *frames_of(struct px_archive_source *source)
{
	return (struct frames *)source;
}

static const struct volume *volume_of(const struct frames *frames, uint64_t position)
{
	uint64_t number = px_log_volume_number(&frames->source.file->header, position);

	return number < frames->source.file->nr_volumes ? &frames->volume[number] : NULL;
}

/* Make room in *memory for at least `wanted` members of size `each`.  Return false if there is no memory. */
static bool ensure(void *memory, size_t *size, size_t wanted, size_t each)
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

/* Frames. */

/*
 * Find the header of the first frame at or after this position.  If there is no frame at *frame, the volume has no more
 * frames: continue in the next volume.  Return false at the end of the log.
 */
static bool find_frame(struct frames *frames, uint64_t *position, uint64_t *frame,
		       struct px_log_frame *head)
{
	const struct px_log_header *header = &frames->source.file->header;
	const struct px_log_commit *commit = &frames->source.file->commit;

	while (*position < commit->end) {
		const struct volume *volume = volume_of(frames, *position);
		uint32_t slot = px_log_slot_in_volume(header, *position);
		uint64_t left = frames->end - *position, max = header->volume_max;

		if (!volume && header->policy != PX_POLICY_LOOP)
			break; /* a damaged commit may name more volumes than can be tried */
		if (left > header->nr_entries - slot)
			left = header->nr_entries - slot;
		if (volume && *frame + sizeof(*head) <= max &&
		    px_txtb_file_read(frames->source.file->fd, head, sizeof(*head),
				      volume->frames + *frame) == sizeof(*head) &&
		    px_unpack_is_frame(head, *position, left, max - *frame - sizeof(*head)))
			return true;
		*position = px_log_next_volume_at(header, *position);
		*frame = 0;
	}
	return false;
}

bool px_archive_frames_find(struct px_archive_source *source, uint64_t *position, uint64_t *frame,
			    struct px_log_frame *head)
{
	return find_frame(frames_of(source), position, frame, head);
}

uint64_t px_archive_frames_volume(const struct px_archive_source *source, uint64_t number)
{
	return ((const struct frames *)source)->volume[number].at;
}

static bool read_body(struct frames *frames, const struct px_log_frame *head, uint64_t frame,
		      size_t size)
{
	const struct volume *volume = volume_of(frames, head->position);
	uint64_t offset = volume->frames + frame + sizeof(*head);

	return offset + size <= frames->source.file->size &&
	       ensure(&frames->body, &frames->body_size, size + 1, 1) &&
	       px_txtb_file_read(frames->source.file->fd, frames->body, size, offset) == size;
}

static bool read_entries(struct frames *frames, const struct px_log_frame *head)
{
	const struct volume *volume = volume_of(frames, head->position);
	uint32_t slot = px_log_slot_in_volume(&frames->source.file->header, head->position);
	size_t packed_size = frames->entries_size;
	size_t size = head->nr_entries * sizeof(*frames->entries);

	return slot + head->nr_entries <= volume->nr_entries &&
	       ensure(&frames->packed, &packed_size, head->nr_entries, sizeof(*frames->packed)) &&
	       ensure(&frames->entries, &frames->entries_size, head->nr_entries,
		      sizeof(*frames->entries)) &&
	       px_txtb_file_read(frames->source.file->fd, frames->entries, size,
				 volume->entries + slot * sizeof(*frames->entries)) == size;
}

/* Remember where a chapter begins.  If there is no memory, forget it: seek() then begins at an earlier chapter. */
static void note_chapter(struct frames *frames, const struct px_log_frame *head, uint64_t frame)
{
	size_t size = frames->chapters_size;

	if (!(head->flags & PX_FRAME_CHAPTER) ||
	    (frames->nr_chapters > 0 &&
	     frames->chapter[frames->nr_chapters - 1].position >= head->position) ||
	    !ensure(&frames->chapter, &size, frames->nr_chapters + 1u, sizeof(*frames->chapter)))
		return;
	frames->chapters_size = (uint32_t)size;
	frames->chapter[frames->nr_chapters++] =
		(struct chapter){.position = head->position, .frame = frame};
}

/* Find and read the frame at or behind this place.  Return false if the log ends. */
static bool read_frame(struct frames *frames, struct chapter *at, bool *is_read)
{
	if (!find_frame(frames, &at->position, &at->frame, &frames->head))
		return false;
	*is_read = read_body(frames, &frames->head, at->frame,
			     (size_t)frames->head.objects + frames->head.records) &&
		   read_entries(frames, &frames->head);
	return true;
}

/*
 * The writer of a running log says in a commit what it gives up, and only then overwrites it.  So what was read before
 * this call is whole if the newest commit still has it.  Return true if not, or if it has another place now: then
 * *at is where to read again.
 */
static bool has_changed(struct frames *frames, struct chapter *at)
{
	struct px_archive_file *file = frames->source.file;
	bool is_there, has_moved;

	if (!file->is_running || file->is_gone)
		return false;
	frames->has_moved = frames->is_rewritten = false;
	is_there = px_archive_frames_look(&frames->source, NULL);
	has_moved = frames->has_moved;
	if (!is_there) {
		file->commit.end = at->position;
		file->is_gone = true;
		return true;
	}
	if (frames->is_rewritten || at->position < file->commit.first) {
		at->position = file->commit.first;
		at->frame = file->commit.first_frame;
		return true;
	}
	return has_moved;
}

/* Load the next frame.  Return false at the end of the log. */
static bool load_next(struct frames *frames)
{
	struct chapter at, next;
	bool is_found, is_read = false;

	frames->nr_unpacked = 0;
	do {
		next = at = (struct chapter){.position = frames->next, .frame = frames->next_frame};
		is_found = read_frame(frames, &at, &is_read);
		if (!has_changed(frames, &next))
			break;
		frames->next = next.position;
		frames->next_frame = next.frame;
	} while (true);
	frames->next = at.position;
	frames->next_frame = at.frame;
	if (!is_found)
		return false;
	note_chapter(frames, &frames->head, at.frame);
	frames->next += frames->head.nr_entries;
	frames->next_frame += sizeof(frames->head) + frames->head.objects + frames->head.records;
	if (px_log_slot_in_volume(&frames->source.file->header, frames->next) == 0)
		frames->next_frame = 0;
	if (is_read)
		frames->nr_unpacked =
			px_unpack_frame(frames->unpack, &frames->head, frames->body,
					frames->entries, frames->source.file->header.tick_ns,
					frames->packed);
	return true;
}

/* Go to the beginning of a chapter: of those found so far, the newest that begins at or before this position. */
static void seek(struct frames *frames, uint64_t position)
{
	uint32_t low = 0, high = frames->nr_chapters;

	while (low < high) {
		uint32_t middle = low + (high - low) / 2;

		if (frames->chapter[middle].position <= position)
			low = middle + 1;
		else
			high = middle;
	}
	frames->nr_unpacked = 0;
	frames->head.nr_entries = 0;
	frames->next = low ? frames->chapter[low - 1].position : frames->source.file->commit.first;
	frames->next_frame = low ? frames->chapter[low - 1].frame : frames->source.file->commit.first_frame;
}

static bool load(struct px_archive_source *source, uint64_t position,
		 struct px_archive_window *window)
{
	struct frames *frames = frames_of(source);
	uint64_t left;

	if (position < frames->next && position - frames->head.position >= frames->nr_unpacked)
		seek(frames, position);
	while (frames->nr_unpacked == 0 ||
	       position >= frames->head.position + frames->nr_unpacked)
		if (!load_next(frames))
			return false;
	/* The frame may have entries that were committed later. */
	if (position >= source->file->commit.end)
		return false;
	left = source->file->commit.end - frames->head.position;
	*window = (struct px_archive_window){.position = frames->head.position,
					     .nr_entries = left < frames->nr_unpacked ?
								   (uint32_t)left :
								   frames->nr_unpacked,
					     .entries = frames->entries,
					     .packed = frames->packed,
					     .begins_chapter =
						     (frames->head.flags & PX_FRAME_CHAPTER) != 0};
	return true;
}

/* Objects. */

static int compare_handles(const void *a, const void *b)
{
	uint32_t left = ((const struct px_log_object *)a)->object.handle;
	uint32_t right = ((const struct px_log_object *)b)->object.handle;

	return (left > right) - (left < right);
}

/* Keep the newest definition of each object. */
static void unite_objects(struct frames *frames)
{
	uint32_t count = 0;

	if (frames->nr_objects > 0)
		qsort(frames->object, frames->nr_objects, sizeof(*frames->object), compare_handles);
	for (uint32_t i = 0; i < frames->nr_objects; i++)
		if (i + 1 == frames->nr_objects ||
		    frames->object[i].object.handle != frames->object[i + 1].object.handle)
			frames->object[count++] = frames->object[i];
	frames->nr_objects = count;
}

static bool add_object(struct frames *frames, const struct px_log_object *object)
{
	size_t size = frames->objects_size;
	uint32_t wanted;

	if (frames->nr_objects == size) {
		unite_objects(frames);
		/* Make room for many, so that the next time is far. */
		wanted = frames->nr_objects + frames->nr_objects / 4 + 64;
		if (wanted > OBJECTS_MAX ||
		    !ensure(&frames->object, &size, wanted, sizeof(*frames->object)))
			return false;
	}
	frames->objects_size = (uint32_t)size;
	frames->object[frames->nr_objects++] = *object;
	return true;
}

/* Collect the event types in the image of a volume. */
static void collect_types(struct frames *frames, const struct volume *volume)
{
	struct px_txtb_object shown[64];
	struct px_log_object object = {.object = {.type = PX_TXTB_EVENT_TYPE}};
	uint32_t first = 0, count = PX_ARRAY_SIZE(shown);

	while (first < volume->nr_objects && count == PX_ARRAY_SIZE(shown)) {
		if (count > volume->nr_objects - first)
			count = volume->nr_objects - first;
		count = (uint32_t)(px_txtb_file_read(frames->source.file->fd, shown,
						     count * sizeof(*shown),
						     volume->at + px_txtb_entries_offset(first)) /
				   sizeof(*shown));
		for (uint32_t i = 0; i < count; i++) {
			if (shown[i].type != PX_TXTB_EVENT_TYPE)
				continue;
			object.object.handle = shown[i].handle;
			memcpy(object.object.name, shown[i].name, sizeof(shown[i].name));
			add_object(frames, &object);
		}
		first += count;
	}
}

/* Collect the definitions of a frame that was read.  Return false if there is no memory for more. */
static bool collect_frame(struct frames *frames, const struct px_log_frame *head)
{
	struct px_log_object object;
	size_t offset = 0;
	bool has_room = true;

	while (has_room && px_unpack_next_object(head, frames->body, &offset, &object))
		has_room = add_object(frames, &object);
	return has_room;
}

/* Collect the definitions of all frames. */
static void collect_objects(struct frames *frames)
{
	struct chapter at = {.position = frames->source.file->commit.first,
			     .frame = frames->source.file->commit.first_frame};
	struct chapter next;
	struct px_log_frame head;
	bool is_found, is_read, has_room = true;

	frames->has_objects = true;
	frames->nr_unpacked = 0; /* `body` has the bytes of other frames now */
	while (has_room) {
		next = at;
		is_found = find_frame(frames, &at.position, &at.frame, &head);
		is_read = is_found && head.objects > 0 &&
			  read_body(frames, &head, at.frame, head.objects);
		if (has_changed(frames, &next)) {
			at = next;
			continue;
		}
		if (!is_found)
			break;
		note_chapter(frames, &head, at.frame);
		if (is_read)
			has_room = collect_frame(frames, &head);
		at.position += head.nr_entries;
		at.frame += sizeof(head) + head.objects + head.records;
		if (px_log_slot_in_volume(&frames->source.file->header, at.position) == 0)
			at.frame = 0;
	}
	for (uint32_t i = 0; i < frames->source.file->nr_volumes; i++)
		collect_types(frames, &frames->volume[i]);
	unite_objects(frames);
}

static bool get_object(struct px_archive_source *source, uint32_t i, struct px_log_object *object)
{
	struct frames *frames = frames_of(source);

	if (!frames->has_objects)
		collect_objects(frames);
	if (i >= frames->nr_objects)
		return false;
	*object = frames->object[i];
	return true;
}

/* Of the frame in memory. */

static bool next_definition(struct px_archive_source *source, size_t *offset,
			    struct px_log_object *object)
{
	struct frames *frames = frames_of(source);

	return frames->nr_unpacked > 0 &&
	       px_unpack_next_object(&frames->head, frames->body, offset, object);
}

static const struct px_log_object *find_object(struct px_archive_source *source, uint64_t position,
					       uint32_t handle)
{
	(void)position;
	return px_unpack_object(frames_of(source)->unpack, handle);
}

static bool get_volume(struct px_archive_source *source, uint32_t number,
		       struct px_archive_volume *to)
{
	const struct volume *volume = &frames_of(source)->volume[number];

	*to = (struct px_archive_volume){.at = volume->at,
					 .entries = volume->entries,
					 .nr_objects = volume->nr_objects,
					 .nr_entries = volume->nr_entries};
	return true;
}

/* Opening. */

static struct volume volume_at(uint64_t at, const struct px_log_layout *layout)
{
	return (struct volume){.at = at,
			       .entries = at + layout->entries,
			       .frames = at + layout->frames,
			       .nr_entries = layout->nr_entries,
			       .nr_objects = layout->nr_objects};
}

/* Find the volumes: each volume has the offset of the next one.  Return false if there is no memory. */
static bool find_volumes(struct frames *frames)
{
	struct px_archive_file *file = frames->source.file;
	struct px_log_header header = file->header;
	struct px_log_layout layout = file->layout;
	uint64_t wanted = (file->commit.end + header.nr_entries - 1) / header.nr_entries;
	uint64_t at = file->layout.base, next;

	if (header.policy == PX_POLICY_LOOP && wanted > header.nr_volumes)
		wanted = header.nr_volumes;
	for (file->nr_volumes = 0; file->nr_volumes < VOLUMES_MAX;) {
		if (!ensure(&frames->volume, &frames->volumes_size, file->nr_volumes + 1u,
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

/* Return true if the file is as long as a complete log with this commit. */
static bool is_whole(const struct frames *frames)
{
	const struct px_log_commit *commit = &frames->source.file->commit;
	const struct px_log_header *header = &frames->source.file->header;
	const struct volume *volume;

	if (!commit->is_complete)
		return true;
	if (px_log_length(commit) > frames->source.file->size)
		return false;
	if (commit->end == 0)
		return true;
	volume = volume_of(frames, commit->end - 1);
	return volume && volume->frames <= frames->source.file->size &&
	       (px_log_slot_in_volume(header, commit->end) == 0 ||
		volume->frames + commit->end_frame <= frames->source.file->size);
}

/* Logs that are being written. */

static bool read_size(struct px_archive_file *file)
{
	struct stat status;

	if (fstat(file->fd, &status) != 0)
		return false;
	file->size = (uint64_t)status.st_size;
	return true;
}

/* Read header and commit as they are now.  A log that moves has them at one place or the other. */
static bool read_now(const struct frames *frames, struct px_log_header *header,
		     struct px_log_layout *layout, struct px_log_commit *commit)
{
	const struct px_archive_file *file = frames->source.file;

	for (int i = 0; i < LOOK_ATTEMPTS; i++)
		if (px_log_find(file->fd, header, layout) &&
		    memcmp(header->uuid, file->header.uuid, sizeof(header->uuid)) == 0 &&
		    px_log_header_is_ours(header) &&
		    px_log_read_whole_commit(file->fd, header, layout, commit))
			return true;
	return false;
}

/* Chapters before the first event are gone. */
static void forget_chapters(struct frames *frames)
{
	uint32_t gone = 0;

	while (gone < frames->nr_chapters &&
	       frames->chapter[gone].position < frames->source.file->commit.first)
		gone++;
	frames->nr_chapters -= gone;
	memmove(frames->chapter, frames->chapter + gone,
		frames->nr_chapters * sizeof(*frames->chapter));
}

static void take_first(struct frames *frames, const struct px_log_commit *now)
{
	struct px_log_commit *commit = &frames->source.file->commit;

	if (now->first <= commit->first)
		return;
	commit->first = now->first;
	commit->first_frame = now->first_frame;
	commit->nr_given_up = now->nr_given_up;
	if (commit->end < commit->first)
		commit->end = commit->first; /* nothing is left of what was there */
	forget_chapters(frames);
}

static bool has_other_place(const struct frames *frames, const struct px_log_layout *layout,
			    const struct px_log_commit *now)
{
	const struct px_archive_file *file = frames->source.file;

	return layout->base != file->layout.base || layout->nr_objects != file->layout.nr_objects ||
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
static void take_rewritten(struct frames *frames, const struct px_log_commit *now)
{
	frames->is_rewritten = true;
	frames->source.file->commit.first_frame = now->first_frame;
	frames->nr_chapters = 0;
	seek(frames, 0);
}

/* is_longer: there may be more volumes than before. */
static bool look(struct frames *frames, bool is_longer, struct px_log_commit *now)
{
	struct px_archive_file *file = frames->source.file;
	struct px_log_header header;
	struct px_log_layout layout;
	struct px_log_commit commit;
	bool is_elsewhere;

	if (!read_now(frames, &header, &layout, &commit) ||
	    (commit.nr_clears != file->commit.nr_clears && !is_longer) || !read_size(file))
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
	if (is_elsewhere && commit.is_complete)
		take_rewritten(frames, &commit);
	if (now)
		*now = commit;
	if ((frames->has_moved || is_longer) && !find_volumes(frames))
		return false;
	/* It has been completed, and has not to move any more. */
	if (commit.is_complete && layout.base == 0)
		file->is_running = false;
	return true;
}

bool px_archive_frames_look(struct px_archive_source *source, struct px_log_commit *now)
{
	return look(frames_of(source), false, now);
}

bool px_archive_frames_extend(struct px_archive_source *source)
{
	return look(frames_of(source), true, NULL);
}

/* Damaged logs. */

/*
 * Make a commit from the frames of the first volume, because that of the file is damaged.  The tail is lost with it.
 * Return false if there is no frame.
 */
static bool make_commit(struct frames *frames)
{
	struct px_archive_file *file = frames->source.file;
	struct px_log_commit *commit = &file->commit;
	struct px_log_frame head;
	uint64_t frame = 0;

	*commit = (struct px_log_commit){.end = 0};
	file->has_no_commit = true;
	while (frame + sizeof(head) <= file->header.volume_max &&
	       px_txtb_file_read(file->fd, &head, sizeof(head),
				 file->layout.base + file->layout.frames + frame) == sizeof(head) &&
	       px_unpack_is_frame(&head, frame ? commit->end : head.position,
				  file->header.nr_entries,
				  file->header.volume_max - frame - sizeof(head))) {
		if (frame == 0)
			commit->first = head.position;
		commit->end = head.position + head.nr_entries;
		commit->nr_events += head.nr_events;
		frame += sizeof(head) + head.objects + head.records;
		if (px_log_slot_in_volume(&file->header, commit->end) == 0)
			break;
	}
	commit->end_frame = frame;
	px_log_seal_commit(commit);
	return frame > 0 && commit->end < UINT64_MAX >> 8 &&
	       px_log_volume_number(&file->header, commit->first) == 0;
}

static int read_commit(struct frames *frames)
{
	struct px_archive_file *file = frames->source.file;
	bool is_read = file->is_running || file->takes_damaged ?
			       px_log_read_whole_commit(file->fd, &file->header, &file->layout,
							&file->commit) :
			       px_log_read_commit(file->fd, &file->header, &file->layout,
						  &file->commit);

	if (!is_read && file->takes_damaged && !file->is_running)
		is_read = make_commit(frames);
	return is_read ? 0 : EINVAL;
}

static int open_frames(struct px_archive_source *source)
{
	struct frames *frames = frames_of(source);
	struct px_archive_file *file = source->file;
	int error = read_size(file) ? read_commit(frames) : EINVAL;

	if (error)
		return error;
	frames->unpack = px_unpack_make();
	if (!frames->unpack || !find_volumes(frames))
		return ENOMEM;
	if (!file->takes_damaged && !is_whole(frames))
		return EINVAL;
	frames->end = file->commit.end;
	seek(frames, 0);
	return 0;
}

static void close_frames(struct px_archive_source *source)
{
	struct frames *frames = frames_of(source);

	px_unpack_free(frames->unpack);
	free(frames->volume);
	free(frames->chapter);
	free(frames->body);
	free(frames->entries);
	free(frames->packed);
	free(frames->object);
}

const struct px_archive_source_kind px_archive_frames = {
	.size = sizeof(struct frames),
	.open = open_frames,
	.load = load,
	.object = get_object,
	.next_definition = next_definition,
	.find = find_object,
	.volume = get_volume,
	.close = close_frames,
};
