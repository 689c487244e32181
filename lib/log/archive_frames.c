/* SPDX-License-Identifier: MIT */
#include "log/archive_frames_private.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "log/order.h"
#include "txtb/file.h"

#define OBJECTS_MAX 1048576 /* a reader keeps at most this many; further ones have no name */

/* Frames. */

static bool read_body(struct px_frames *frames, const struct px_log_frame *head, uint64_t frame,
		      size_t size)
{
	const struct px_frames_volume *volume = px_frames_volume_of(frames, head->position);
	uint64_t offset = volume->frames + frame + sizeof(*head);

	return offset + size <= frames->source.file->size &&
	       px_frames_ensure(&frames->body, &frames->body_size, size + 1, 1) &&
	       px_frames_read(frames, &frames->frames_piece, frames->body, size, offset) == size;
}

static bool read_in_order(struct px_frames *frames, uint32_t nr, uint64_t offset)
{
	size_t size = nr * sizeof(*frames->entries);

	if (px_frames_read(frames, &frames->entries_piece, frames->entries, size, offset) != size)
		return false;
	if (px_unlikely(frames->is_swapped))
		px_order_entries(frames->entries, nr);
	return true;
}

static bool read_entries(struct px_frames *frames, const struct px_log_frame *head)
{
	const struct px_frames_volume *volume = px_frames_volume_of(frames, head->position);
	uint32_t slot = px_log_slot_in_volume(&frames->source.file->header, head->position);
	size_t packed_size = frames->entries_size;

	return slot + head->nr_entries <= volume->nr_entries &&
	       px_frames_ensure(&frames->packed, &packed_size, head->nr_entries,
				sizeof(*frames->packed)) &&
	       px_frames_ensure(&frames->entries, &frames->entries_size, head->nr_entries,
				sizeof(*frames->entries)) &&
	       read_in_order(frames, head->nr_entries, volume->entries + slot * sizeof(*frames->entries));
}

/* Find and read the frame at or behind this place.  Return false if the log ends. */
static bool read_frame(struct px_frames *frames, struct px_frames_chapter *at, bool *is_read)
{
	if (!px_frames_find(frames, &at->position, &at->frame, &frames->head))
		return false;
	*is_read = read_body(frames, &frames->head, at->frame,
			     (size_t)frames->head.objects + frames->head.records) &&
		   read_entries(frames, &frames->head);
	return true;
}

/*
 * The writer of a running log first commits which events it gives up, and overwrites them only then.  So the events
 * that were read before this call are whole if they are still in the newest commit.  Return true if not, or if it has
 * another place now: then *at is where to read again.
 */
static bool has_changed(struct px_frames *frames, struct px_frames_chapter *at)
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

/*
 * This frame gave no entry.  If it is damaged, its header may be wrong, too.  So search for the next frame, instead of
 * going on behind this one.
 */
static void find_next(struct px_frames *frames, const struct px_frames_chapter *at, bool is_read)
{
	struct px_frames_chapter next = {.position = at->position, .frame = at->frame + 1};
	struct px_log_frame head;

	px_unpack_skip(frames->unpack);
	if (frames->source.file->is_running ||
	    (is_read && frames->head.sum == px_frame_sum_of(&frames->head, frames->body, frames->is_swapped)) ||
	    !px_frames_search(frames, &next.position, &next.frame, &head))
		return;
	frames->next = next.position;
	frames->next_frame = next.frame;
}

/* Load the next frame.  Return false at the end of the log. */
static bool load_next(struct px_frames *frames)
{
	struct px_frames_chapter at, next;
	bool is_found, is_read = false;

	frames->nr_unpacked = 0;
	do {
		next = at = (struct px_frames_chapter){.position = frames->next,
						       .frame = frames->next_frame};
		is_found = read_frame(frames, &at, &is_read);
		if (!has_changed(frames, &next))
			break;
		frames->next = next.position;
		frames->next_frame = next.frame;
	} while (true);
	if (is_found && at.position != frames->next)
		px_unpack_skip(frames->unpack);
	frames->next = at.position;
	frames->next_frame = at.frame;
	if (!is_found)
		return false;
	px_frames_note_chapter(frames, &frames->head, at.frame);
	frames->next += frames->head.nr_entries;
	frames->next_frame += sizeof(frames->head) + frames->head.objects + frames->head.records;
	if (px_log_slot_in_volume(&frames->source.file->header, frames->next) == 0)
		frames->next_frame = 0;
	if (is_read)
		frames->nr_unpacked =
			px_unpack_frame(frames->unpack, &frames->head, frames->body,
					frames->entries, frames->source.file->header.tick_ns,
					frames->packed);
	if (px_unlikely(frames->nr_unpacked == 0))
		find_next(frames, &at, is_read);
	return true;
}

static bool load(struct px_archive_source *source, uint64_t position,
		 struct px_archive_window *window)
{
	struct px_frames *frames = px_frames_of(source);
	uint64_t left;

	if (position < frames->next && position - frames->head.position >= frames->nr_unpacked)
		px_frames_seek(frames, position);
	while (frames->nr_unpacked == 0 ||
	       position >= frames->head.position + frames->nr_unpacked)
		if (!load_next(frames))
			return false;
	/* The frame may have entries that were committed later; all of them, if the older frames are overwritten. */
	if (position >= source->file->commit.end || frames->head.position >= source->file->commit.end)
		return false;
	left = source->file->commit.end - frames->head.position;
	*window = (struct px_archive_window){.position = frames->head.position,
					     .nr_entries = left < frames->nr_unpacked ?
								   (uint32_t)left :
								   frames->nr_unpacked,
					     .entries = frames->entries,
					     .packed = frames->packed,
					     .begins_chapter =
						     (frames->head.flags & PX_FRAME_CHAPTER) != 0,
					     .follows_loss =
						     (frames->head.flags & PX_FRAME_AFTER_LOSS) != 0};
	return true;
}

/* Objects. */

/* By handles, and definitions of one object in their order: qsort() need not keep it. */
static int compare_definitions(const void *a, const void *b)
{
	const struct px_frames_object *x = a, *y = b;

	if (x->known.object.handle != y->known.object.handle)
		return x->known.object.handle > y->known.object.handle ? 1 : -1;
	return (x->number > y->number) - (x->number < y->number);
}

/* Keep the newest definition of each object. */
static void unite_objects(struct px_frames *frames)
{
	uint32_t count = 0;

	if (frames->nr_objects > 0)
		qsort(frames->object, frames->nr_objects, sizeof(*frames->object), compare_definitions);
	for (uint32_t i = 0; i < frames->nr_objects; i++)
		if (i + 1 == frames->nr_objects ||
		    frames->object[i].known.object.handle != frames->object[i + 1].known.object.handle)
			frames->object[count++] = frames->object[i];
	frames->nr_objects = count;
}

static bool add_object(struct px_frames *frames, const struct px_log_object *object)
{
	size_t size = frames->objects_size;
	uint32_t wanted;

	if (frames->nr_objects == size) {
		unite_objects(frames);
		/* Make room for many, so that the next time is far. */
		wanted = frames->nr_objects + frames->nr_objects / 4 + 64;
		if (wanted > OBJECTS_MAX ||
		    !px_frames_ensure(&frames->object, &size, wanted, sizeof(*frames->object)))
			return false;
	}
	frames->objects_size = (uint32_t)size;
	frames->object[frames->nr_objects++] =
		(struct px_frames_object){.known = *object, .number = frames->nr_definitions++};
	return true;
}

/* Collect the event types in the image of a volume. */
static void collect_types(struct px_frames *frames, const struct px_frames_volume *volume)
{
	struct px_txtb_object objects[64];
	struct px_log_object object = {.object = {.type = PX_TXTB_EVENT_TYPE}};
	uint32_t first = 0, count = PX_ARRAY_SIZE(objects);

	while (first < volume->nr_objects && count == PX_ARRAY_SIZE(objects)) {
		if (count > volume->nr_objects - first)
			count = volume->nr_objects - first;
		count = px_log_read_objects(frames->source.file->fd, volume->at, volume->name_size,
					    frames->is_swapped, first, count, objects);
		for (uint32_t i = 0; i < count; i++) {
			if (objects[i].type != PX_TXTB_EVENT_TYPE)
				continue;
			object.object.handle = objects[i].handle;
			memcpy(object.object.name, objects[i].name, sizeof(objects[i].name));
			add_object(frames, &object);
		}
		first += count;
	}
}

/* Collect the definitions of a frame that was read.  Return false if there is no memory for more. */
static bool collect_frame(struct px_frames *frames, const struct px_log_frame *head)
{
	struct px_log_object object;
	size_t offset = 0;
	bool has_room = true;

	while (has_room && px_unpack_next_object(head, frames->body, &offset, &object))
		has_room = add_object(frames, &object);
	return has_room;
}

/* Collect the definitions of all frames. */
static void collect_objects(struct px_frames *frames)
{
	struct px_frames_chapter at = {.position = frames->source.file->commit.first,
				       .frame = frames->source.file->commit.first_frame};
	struct px_frames_chapter next;
	struct px_log_frame head;
	bool is_found, is_read, has_room = true;

	frames->has_objects = true;
	frames->nr_chapters = 0;
	frames->nr_walked = 0;
	frames->nr_unpacked = 0; /* `body` has the bytes of other frames now */
	while (has_room) {
		next = at;
		is_found = px_frames_find(frames, &at.position, &at.frame, &head);
		is_read = is_found && head.objects > 0 &&
			  read_body(frames, &head, at.frame, head.objects);
		if (has_changed(frames, &next)) {
			at = next;
			continue;
		}
		if (!is_found)
			break;
		px_frames_note_chapter(frames, &head, at.frame);
		frames->nr_walked += head.nr_events;
		if (is_read)
			has_room = collect_frame(frames, &head);
		at.position += head.nr_entries;
		at.frame += sizeof(head) + head.objects + head.records;
		if (px_log_slot_in_volume(&frames->source.file->header, at.position) == 0)
			at.frame = 0;
	}
	frames->has_chapters = has_room;
	for (uint32_t i = 0; i < frames->source.file->nr_volumes; i++)
		collect_types(frames, &frames->volume[i]);
	unite_objects(frames);
}

static bool get_object(struct px_archive_source *source, uint32_t i, struct px_log_object *object)
{
	struct px_frames *frames = px_frames_of(source);

	if (!frames->has_objects)
		collect_objects(frames);
	if (i >= frames->nr_objects)
		return false;
	*object = frames->object[i].known;
	return true;
}

/* Of the frame in memory. */

static bool next_definition(struct px_archive_source *source, size_t *offset,
			    struct px_log_object *object)
{
	struct px_frames *frames = px_frames_of(source);

	return frames->nr_unpacked > 0 &&
	       px_unpack_next_object(&frames->head, frames->body, offset, object);
}

static const struct px_log_object *find_object(struct px_archive_source *source, uint64_t position,
					       uint32_t handle)
{
	(void)position;
	return px_unpack_object(px_frames_of(source)->unpack, handle);
}

static bool get_chapter(struct px_archive_source *source, uint32_t i, uint64_t *position, uint64_t *nr_before,
			uint64_t *about_ns)
{
	struct px_frames *frames = px_frames_of(source);

	if (source->file->is_running || source->file->takes_damaged)
		return false;
	if (!frames->has_objects)
		collect_objects(frames);
	if (!frames->has_chapters || i >= frames->nr_chapters)
		return false;
	*position = frames->chapter[i].position;
	*nr_before = frames->chapter[i].nr_before;
	*about_ns = frames->chapter[i].time_ns;
	px_frames_seek(frames, *position); /* load() would pass all chapters before it */
	return true;
}

static bool get_volume(struct px_archive_source *source, uint32_t number,
		       struct px_archive_volume *to)
{
	const struct px_frames_volume *volume = &px_frames_of(source)->volume[number];

	*to = (struct px_archive_volume){.at = volume->at,
					 .entries = volume->entries,
					 .nr_objects = volume->nr_objects,
					 .name_size = volume->name_size,
					 .nr_entries = volume->nr_entries};
	return true;
}

/* Opening. */

/* Return true if the file is as long as a complete log with this commit. */
static bool is_whole(const struct px_frames *frames)
{
	const struct px_log_commit *commit = &frames->source.file->commit;
	const struct px_log_header *header = &frames->source.file->header;
	const struct px_frames_volume *volume;

	if (!commit->is_complete)
		return true;
	if (px_log_length(&frames->source.file->header, commit) > frames->source.file->size)
		return false;
	if (commit->end == 0)
		return true;
	volume = px_frames_volume_of(frames, commit->end - 1);
	return volume && volume->frames <= frames->source.file->size &&
	       (px_log_slot_in_volume(header, commit->end) == 0 ||
		volume->frames + commit->end_frame <= frames->source.file->size);
}

/* Damaged logs. */

/* Return the position of the first frame of the file, and an upper bound for the positions of its round. */
static bool find_first(struct px_frames *frames, uint64_t *first, uint64_t *end)
{
	const struct px_archive_file *file = frames->source.file;
	uint64_t capacity = (uint64_t)file->header.nr_volumes * file->header.nr_entries;
	struct px_log_frame head;

	*first = 0;
	*end = (uint64_t)file->nr_volumes * file->header.nr_entries;
	if (file->header.policy != PX_POLICY_LOOP)
		return true;
	if (px_txtb_file_read(file->fd, &head, sizeof(head), frames->volume[0].frames) != sizeof(head))
		return false;
	if (frames->is_swapped)
		px_order_frame(&head);
	if (head.magic != PX_FRAME_MAGIC || head.position >= UINT64_MAX >> 8 ||
	    px_log_volume_number(&file->header, head.position) != 0)
		return false;
	*first = head.position;
	*end = head.position - head.position % capacity + *end;
	return true;
}

/*
 * Make a commit from the headers of the frames, because that of the file is damaged.  The tail is lost with it.  For a
 * LOOP log, the new commit has only the newest round, from the first volume on.  Return false if there is no frame.
 */
static bool make_commit(struct px_frames *frames)
{
	struct px_archive_file *file = frames->source.file;
	struct px_log_commit *commit = &file->commit;
	struct px_log_frame head;
	uint64_t position, frame = 0, end = 0;

	*commit = (struct px_log_commit){.end = UINT64_MAX >> 8};
	file->has_no_commit = true;
	if (!px_frames_find_volumes(frames) || !find_first(frames, &commit->first, &frames->end))
		return false;
	commit->end = frames->end;
	for (position = commit->first; px_frames_find(frames, &position, &frame, &head);
	     position = end) {
		end = position + head.nr_entries;
		commit->nr_events += head.nr_events;
		frame += sizeof(head) + head.objects + head.records;
		commit->end_frame = frame;
		if (px_log_slot_in_volume(&file->header, end) == 0)
			frame = 0;
	}
	commit->end = end;
	px_log_seal_commit(commit);
	return end > commit->first;
}

static int read_commit(struct px_frames *frames)
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
	struct px_frames *frames = px_frames_of(source);
	struct px_archive_file *file = source->file;
	int error;

	frames->is_swapped = px_log_is_swapped(&file->header);
	error = px_frames_read_size(file) ? read_commit(frames) : EINVAL;
	if (error)
		return error;
	frames->unpack = px_unpack_make(frames->is_swapped);
	if (!frames->unpack || !px_frames_find_volumes(frames))
		return ENOMEM;
	if (!file->takes_damaged && !is_whole(frames))
		return EINVAL;
	frames->end = file->commit.end;
	px_frames_seek(frames, 0);
	return 0;
}

static void close_frames(struct px_archive_source *source)
{
	struct px_frames *frames = px_frames_of(source);

	px_unpack_free(frames->unpack);
	free(frames->volume);
	free(frames->chapter);
	free(frames->body);
	free(frames->entries);
	free(frames->frames_piece.bytes);
	free(frames->entries_piece.bytes);
	free(frames->packed);
	free(frames->object);
}

const struct px_archive_source_kind px_archive_frames = {
	.size = sizeof(struct px_frames),
	.open = open_frames,
	.load = load,
	.object = get_object,
	.next_definition = next_definition,
	.find = find_object,
	.chapter = get_chapter,
	.volume = get_volume,
	.close = close_frames,
};
