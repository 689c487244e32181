/* SPDX-License-Identifier: MIT */
#include "log/compact.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "event/calls.h"
#include "log/archive_log.h"
#include "log/archive_origins.h"
#include "log/order.h"
#include "log/pack.h"
#include "log/wrappers.h"
#include "txtb/file.h"

/* Small frames: if a part of a frame is damaged or cut, all its events are lost. */
#define FRAME_ENTRIES 512
#define OBJECTS_BYTES 32768 /* at once: most logs use few objects, and memory costs more than calls */
#define COPY_ENTRIES (PX_LOG_COPY_CHUNK / sizeof(struct px_txtb_entry))
#define CONTEXTS_2 896 /* object slots of version 2 that are not for event types */
#define TIME_SLACK 127 /* nanoseconds: times of a frame are stored as a byte above the time of the stamp */

struct compact {
	const struct px_archive_file *file;
	struct px_archive_source *source;
	const struct px_log_sink *sink;
	struct px_log_header header;
	struct px_log_commit commit;
	uint64_t commit_at;
	uint32_t nr_objects; /* of each image */
	uint32_t name_size;  /* of each object slot */
	struct px_pack *pack;
	unsigned char *buffer; /* PX_LOG_COPY_CHUNK bytes */
	unsigned char *data;   /* of an event */
	size_t data_size;
	unsigned char *wrappers; /* packed statistics, or NULL if there are none */

	/* The volume that is written. */
	uint64_t at;	    /* where it begins */
	uint64_t frames;    /* where its frames begin */
	uint64_t frame;	    /* their length so far */
	uint64_t position;  /* of the next entry */

	/* The frame that is open. */
	bool is_open;
	bool begins_chapter; /* the next one begins a chapter */
	bool follows_loss;   /* the next one tells that events before it are missing */
	uint32_t nr_entries;
	uint32_t stamp;	     /* of its last entry */
	uint64_t image_ns;   /* from its first entry to the last one */
	uint64_t last_ns;    /* time of the last event */
	uint64_t nr_events;  /* number of events of all frames so far */
};

static int put(const struct compact *compact, const void *data, size_t size, uint64_t offset)
{
	return px_log_sink_write(compact->sink, data, size, offset);
}

static int copy(const struct compact *compact, uint64_t from, uint64_t to, uint64_t size)
{
	return px_log_sink_copy(compact->sink, compact->buffer, compact->file->fd, from, to, size);
}

/* Images. */

/*
 * Count the objects of an image that are in use, and get the longest name among *longest and theirs.  If `puts`, put
 * them into the new image.
 */
static int put_objects(const struct compact *compact, const struct px_archive_volume *volume,
		       bool puts, uint32_t *count, uint32_t *longest)
{
	struct px_txtb_object *object = (void *)compact->buffer;
	uint32_t each = OBJECTS_BYTES / sizeof(*object), used;
	size_t size = px_txtb_object_size(compact->name_size);
	int error = 0;

	*count = 0;
	for (uint32_t i = 0; !error && i < volume->nr_objects; i += each) {
		uint32_t nr = volume->nr_objects - i < each ? volume->nr_objects - i : each;

		if (px_log_read_objects(compact->file->fd, volume->at, volume->name_size, false, i, nr,
					object) != nr)
			return EIO;
		used = 0;
		for (uint32_t k = 0; k < nr; k++) {
			uint32_t length = (uint32_t)strnlen(object[k].name, PX_TXTB_NAME_SIZE);

			if (object[k].type == PX_TXTB_UNUSED)
				continue;
			*longest = length > *longest ? length : *longest;
			/* The slots get shorter, so none is overwritten before it moves. */
			memmove(compact->buffer + used++ * size, &object[k], size);
		}
		if (puts)
			error = put(compact, object, used * size,
				    compact->at +
					    px_txtb_object_offset(*count, compact->name_size));
		*count += used;
	}
	return error;
}

/*
 * All volumes get as many object slots as the one that needs most, with names as long as the longest one.  If the slots
 * of a log of version 2 were full, its number of slots says that events may lack their thread.
 */
static int count_objects(struct compact *compact)
{
	uint32_t count, most = 0, longest = 0;
	bool is_of_2 = false;

	compact->name_size = PX_TXTB_NAME_SIZE;

	for (uint32_t i = 0; i < compact->file->nr_volumes; i++) {
		struct px_archive_volume volume;
		int error;

		if (!compact->source->kind->volume(compact->source, i, &volume))
			return EINVAL;
		error = put_objects(compact, &volume, false, &count, &longest);
		if (error)
			return error;
		most = count > most ? count : most;
		is_of_2 = volume.nr_objects == PX_LOG_OBJECTS_2;
	}
	most = (most + 3) / 8 * 8 + 4; /* so that no entry is on two pages */
	if (is_of_2 && most >= CONTEXTS_2)
		most = PX_LOG_OBJECTS_2;
	else if (most == PX_LOG_OBJECTS_2)
		most += 8;
	compact->nr_objects = most;
	/* With a null byte, if there is room; so that entries are aligned to their size. */
	compact->name_size = longest / 8 * 8 + (longest % 8 < 4 ? 4 : 12);
	if (compact->name_size > PX_TXTB_NAME_SIZE)
		compact->name_size = PX_TXTB_NAME_SIZE;
	return 0;
}

/* Return the number of entries of a volume up to the last one that the viewer finds. */
static uint32_t count_entries(const struct compact *compact, const struct px_archive_volume *volume)
{
	const struct px_txtb_entry *entry = (const void *)compact->buffer;
	uint32_t nr = volume->nr_entries;

	while (nr > 0) {
		uint32_t first = nr > COPY_ENTRIES ? nr - (uint32_t)COPY_ENTRIES : 0;
		uint32_t got = (uint32_t)(px_txtb_file_read(compact->file->fd, compact->buffer,
							    (nr - first) * sizeof(*entry),
							    volume->entries + first * sizeof(*entry)) /
					  sizeof(*entry));

		for (uint32_t i = got; i > 0; i--)
			if (entry[i - 1].context != 0)
				return first + i;
		nr = first;
	}
	return 0;
}

/* Return how many entries the new image has.  Leave out the entries after the commit, if no entries precede them. */
static uint32_t entries_of(const struct compact *compact, uint32_t number,
			   const struct px_archive_volume *volume)
{
	const struct px_log_header *header = &compact->header;
	uint64_t end = compact->commit.end;
	uint32_t slot = px_log_slot_in_volume(header, end), used;

	if (end / header->nr_entries == number && slot > 0 && slot <= volume->nr_entries)
		return slot;
	used = count_entries(compact, volume);
	return used > 0 ? used : 1;
}

static int put_image(const struct compact *compact, const struct px_archive_volume *volume,
		     uint32_t nr_entries)
{
	struct px_txtb_header header, old;
	uint32_t oldest, count, longest = 0;
	int error;

	if (px_txtb_file_read(compact->file->fd, &old, sizeof(old), volume->at) != sizeof(old))
		return EIO;
	px_log_image_header(&header, compact->nr_objects, compact->name_size, nr_entries);
	oldest = old.current - old.buffer_start;
	if (oldest < nr_entries * sizeof(struct px_txtb_entry))
		header.current += oldest;
	error = put(compact, &header, sizeof(header), compact->at);
	if (!error)
		error = put_objects(compact, volume, true, &count, &longest);
	if (!error)
		error = copy(compact, volume->entries,
			     compact->at +
				     px_txtb_object_offset(compact->nr_objects, compact->name_size),
			     nr_entries * sizeof(struct px_txtb_entry));
	return error;
}

/* Frames. */

static int end_frame(struct compact *compact)
{
	const void *frame;
	size_t size;
	int error;

	if (!compact->is_open || compact->nr_entries == 0)
		return 0;
	frame = px_pack_end(compact->pack, &size);
	error = put(compact, frame, size, compact->frames + compact->frame);
	compact->frame += size;
	compact->is_open = false;
	return error;
}

static void open_frame(struct compact *compact)
{
	if (compact->is_open)
		return;
	px_pack_begin(compact->pack, compact->position, compact->begins_chapter);
	if (compact->follows_loss)
		px_pack_follow_loss(compact->pack);
	compact->is_open = true;
	compact->begins_chapter = compact->follows_loss = false;
	compact->nr_entries = 0;
	compact->image_ns = 0;
}

/* Make room for an event with this length of data. */
static int make_room(struct compact *compact, size_t length)
{
	int error = 0;

	if (compact->is_open && (compact->nr_entries == FRAME_ENTRIES ||
				 !px_pack_has_room(compact->pack, length)))
		error = end_frame(compact);
	open_frame(compact);
	return error;
}

/* Define an object.  If the frame has entries for which it was another one, begin a frame. */
static int define(struct compact *compact, const struct px_log_object *object)
{
	bool is_new = !compact->is_open || !px_pack_has_object(compact->pack, object->object.handle);
	int error = 0;

	if (!is_new)
		error = end_frame(compact);
	if (!error)
		error = make_room(compact, 0);
	px_pack_object(compact->pack, object);
	return error;
}

/* A window is the contents of a frame of the old log: its objects are valid from its first entry on. */
static int begin_window(struct compact *compact, const struct px_archive_window *window)
{
	const struct px_archive_source_kind *kind = compact->source->kind;
	struct px_log_object object;
	size_t offset = 0;
	int error = 0;

	if (window->begins_chapter || window->follows_loss || px_pack_wants_chapter(compact->pack)) {
		error = end_frame(compact);
		compact->begins_chapter = true;
		compact->follows_loss = window->follows_loss;
	}
	while (!error && kind->next_definition(compact->source, &offset, &object))
		error = define(compact, &object);
	return error;
}

/* Return the stamp of the entry, and note it.  A frame begins with the time for which its first stamp stands. */
static struct px_pack_stamp stamp_of(struct compact *compact, const struct px_archive_window *window,
				     uint32_t i)
{
	const struct px_txtb_entry *entry = &window->entries[i];
	uint32_t tick_ns = compact->header.tick_ns, k = i;
	struct px_pack_stamp stamp;

	if (compact->nr_entries > 0)
		compact->image_ns += (uint64_t)(entry->stamp - compact->stamp) * tick_ns;
	compact->nr_entries++;
	compact->stamp = entry->stamp;
	stamp.image_ns = compact->image_ns;
	stamp.time_ns = compact->last_ns;
	while (compact->nr_entries == 1 && k < window->nr_entries && !window->packed[k].is_event)
		k++;
	if (k < window->nr_entries)
		stamp.time_ns = window->packed[k].time_ns - TIME_SLACK -
				(uint64_t)(window->entries[k].stamp - entry->stamp) * tick_ns;
	return stamp;
}

/* Put the data of an event together. */
static bool join(struct compact *compact, const struct px_unpacked *packed)
{
	size_t first = packed->length < PX_RECORD_FIRST_BYTES ? packed->length : PX_RECORD_FIRST_BYTES;

	if (packed->length > compact->data_size)
		return false;
	if (first > 0)
		memcpy(compact->data, packed->first, first);
	if (packed->length > first)
		memcpy(compact->data + first, packed->more, packed->length - first);
	return true;
}

static int put_event(struct compact *compact, const struct px_archive_window *window, uint32_t i)
{
	const struct px_unpacked *packed = &window->packed[i];
	uint32_t context = window->entries[i].context;
	const struct px_log_object *object =
		compact->source->kind->find(compact->source, window->position + i, context);
	struct px_pack_event event = {.time_ns = packed->time_ns,
				      .address = packed->address,
				      .thread = packed->thread,
				      .pid = packed->pid,
				      .id = packed->id,
				      .flags = packed->flags,
				      .is_native = packed->is_native,
				      .is_kept = px_call_is_stack(packed->id),
				      .length = packed->length,
				      .data = compact->data};
	int error;

	if (!join(compact, packed))
		return EINVAL;
	error = make_room(compact, packed->length);
	if (error)
		return error;
	event.is_other = !object || object->object.pid != packed->pid ||
			 object->object.thread != packed->thread;
	if (object && !px_pack_has_object(compact->pack, context))
		px_pack_object(compact->pack, object);
	px_pack_event(compact->pack, stamp_of(compact, window, i), &event);
	compact->last_ns = packed->time_ns;
	compact->nr_events++;
	return 0;
}

static int put_viewer_entry(struct compact *compact, const struct px_archive_window *window, uint32_t i)
{
	int error = make_room(compact, 0);

	if (!error)
		px_pack_viewer_entry(compact->pack, stamp_of(compact, window, i));
	return error;
}

/* These entries are in the image, but what belongs to them is damaged. */
static int put_damaged(struct compact *compact, uint64_t end)
{
	const struct px_txtb_entry entry = {.stamp = compact->stamp};
	const struct px_unpacked packed = {.is_event = false};
	const struct px_archive_window window = {
		.nr_entries = 1, .entries = &entry, .packed = &packed};
	int error = 0;

	for (; !error && compact->position < end; compact->position++)
		error = put_viewer_entry(compact, &window, 0);
	return error;
}

static int put_window(struct compact *compact, const struct px_archive_window *window, uint64_t end)
{
	int error = 0;

	while (!error && compact->position < end) {
		uint32_t i = (uint32_t)(compact->position - window->position);

		if (i >= window->nr_entries)
			break;
		error = window->packed[i].is_event ? put_event(compact, window, i) :
						     put_viewer_entry(compact, window, i);
		compact->position++;
	}
	return error;
}

/* Put the frames of these positions, which all are in one volume.  Behind them, the volume may end early. */
static int put_frames(struct compact *compact, uint64_t first, uint64_t end)
{
	struct px_archive_window window;
	int error = 0;

	compact->position = first;
	compact->begins_chapter = true;
	if (first == compact->commit.first)
		compact->commit.first_frame = compact->frame;
	while (!error && compact->position < end &&
	       compact->source->kind->load(compact->source, compact->position, &window) &&
	       window.position < end) {
		if (window.position > compact->position)
			error = put_damaged(compact, window.position);
		if (!error)
			error = begin_window(compact, &window);
		if (!error)
			error = put_window(compact, &window, end);
	}
	if (!error)
		error = end_frame(compact);
	compact->is_open = false;
	if (end == compact->commit.end)
		compact->commit.end_frame = compact->frame;
	return error;
}

/* Write all frames of a volume: first the frames of its last round, then the remaining frames of the round before. */
static int put_rounds(struct compact *compact, uint32_t number)
{
	const struct px_log_header *header = &compact->header;
	const struct px_log_commit *commit = &compact->commit;
	uint64_t begin = (uint64_t)number * header->nr_entries;
	uint64_t capacity = (uint64_t)header->nr_volumes * header->nr_entries;
	int error = 0;

	if (commit->end <= begin)
		return 0;
	if (header->policy == PX_POLICY_LOOP)
		begin += (commit->end - 1 - begin) / capacity * capacity;
	for (int i = 0; !error && i < 2; i++) {
		uint64_t first = begin > commit->first ? begin : commit->first;
		uint64_t end = begin + header->nr_entries;

		end = end < commit->end ? end : commit->end;
		if (first < end)
			error = put_frames(compact, first, end);
		if (header->policy != PX_POLICY_LOOP || begin < capacity)
			break;
		begin -= capacity;
	}
	return error;
}

/* Volumes. */

static int put_volume(struct compact *compact, uint32_t number)
{
	bool is_last = number + 1 == compact->file->nr_volumes;
	struct px_archive_volume volume;
	struct px_log_layout layout;
	uint64_t next;
	uint32_t nr_entries;
	int error;

	if (!compact->source->kind->volume(compact->source, number, &volume))
		return EINVAL;
	nr_entries = entries_of(compact, number, &volume);
	layout = px_log_layout_tight(compact->nr_objects, compact->name_size, nr_entries, 0);
	compact->frames = compact->at + layout.frames;
	compact->frame = 0;
	if (number == 0)
		compact->commit_at = layout.commit;
	error = put_image(compact, &volume, nr_entries);
	if (!error)
		error = put_rounds(compact, number);
	if (error)
		return error;
	/* There may be a hole behind the last frame. */
	next = px_log_page_up(compact->frames + compact->frame + sizeof(struct px_log_frame));
	compact->header.volume = number;
	compact->header.next_volume = is_last ? 0 : next;
	error = put(compact, &compact->header, sizeof(compact->header), compact->at + layout.header);
	if (!is_last)
		compact->at = next;
	return error;
}

/* Put the tail behind the last volume, and the commit into the first one. */
static int put_end(struct compact *compact, uint64_t *size)
{
	const struct px_log_commit *from = &compact->file->commit;
	struct px_log_commit *to = &compact->commit;
	struct px_log_tail tail;
	int error;

	if (to->modules_bytes > PX_LOG_MODULES_BYTES)
		to->modules_bytes = PX_LOG_MODULES_BYTES;
	tail = px_log_tail_at(&compact->header, to, compact->frames + compact->frame);
	px_log_set_tail(to, &tail);
	error = put(compact, compact->wrappers, px_log_wrappers_size(&compact->header, to),
		    to->wrappers_at);
	if (!error)
		error = copy(compact, from->names_at, to->names_at,
			     to->nr_names * sizeof(struct px_log_name));
	if (!error)
		error = copy(compact, from->modules_at, to->modules_at, to->modules_bytes);
	if (error)
		return error;
	*size = tail.wrappers + tail.size;
	/* An older writer did not count the events that the log has given up. */
	if (!from->sum)
		to->nr_given_up = to->nr_events - (to->nr_events < compact->nr_events ? to->nr_events :
											compact->nr_events);
	px_log_seal_commit(to);
	return put(compact, to, sizeof(*to), compact->commit_at);
}

/* Read the wrapper statistics, and pack them.  The header gets their size.  Return 0 or an error number. */
static int pack_wrappers(struct compact *compact)
{
	uint64_t at = compact->file->commit.wrappers_at, size;
	uint32_t nr = compact->commit.nr_wrappers;
	struct px_wrapper_sum *rows;

	if (nr == 0) {
		compact->header.wrappers_bytes = 0;
		return 0;
	}
	size = px_log_wrappers_size(&compact->file->header, &compact->file->commit);
	compact->wrappers = malloc((size_t)nr * PX_WRAPPERS_ROW_MAX);
	if (!compact->wrappers)
		return ENOMEM;
	if (compact->header.wrappers_bytes) /* they are packed already */
		return size <= (uint64_t)nr * PX_WRAPPERS_ROW_MAX &&
				       px_txtb_file_read(compact->file->fd, compact->wrappers, size, at) == size ?
			       0 :
			       EIO;
	rows = malloc(size);
	if (!rows)
		return ENOMEM;
	if (px_txtb_file_read(compact->file->fd, rows, size, at) != size) {
		free(rows);
		return EIO;
	}
	compact->header.wrappers_bytes = (uint32_t)px_wrappers_pack(rows, nr, compact->wrappers);
	free(rows);
	return 0;
}

static void fill_header(struct compact *compact)
{
	struct px_log_header *header = &compact->header;

	*header = compact->file->header;
	if (header->version != PX_LOG_VERSION)
		px_log_renew_header(header);
	header->is_tight = 1;
}

int px_compact(const struct px_archive_file *file, struct px_archive_source *source,
	       const struct px_log_sink *sink, uint64_t *size)
{
	size_t max_data = file->header.attr.max_data_size > PX_SYSTEM_EVENT_BYTES ?
				  file->header.attr.max_data_size :
				  PX_SYSTEM_EVENT_BYTES;
	struct compact compact = {
		.file = file, .source = source, .sink = sink, .commit = file->commit};
	int error = ENOMEM;

	if (px_log_is_swapped(&file->header))
		return ENOTSUP;
	fill_header(&compact);
	compact.commit.first_frame = compact.commit.end_frame = 0;
	compact.data_size = max_data;
	compact.pack = px_pack_make(FRAME_ENTRIES, max_data);
	compact.buffer = malloc(PX_LOG_COPY_CHUNK);
	compact.data = malloc(max_data);
	if (compact.pack && compact.buffer && compact.data)
		error = pack_wrappers(&compact);
	if (!error)
		error = count_objects(&compact);
	for (uint32_t i = 0; !error && i < file->nr_volumes; i++)
		error = put_volume(&compact, i);
	if (!error)
		error = put_end(&compact, size);
	px_pack_free(compact.pack);
	free(compact.buffer);
	free(compact.data);
	free(compact.wrappers);
	return error;
}

int px_compact_file(int from, int to)
{
	struct px_archive_file file = {.fd = from};
	const struct px_log_sink sink = {.write = px_log_write_to_fd, .argument = &to};
	struct px_archive_source *source;
	uint64_t size = 0;
	int error;

	if (!px_log_find(from, &file.header, &file.layout))
		return EINVAL;
	error = px_archive_source_open(&file, &source);
	if (error)
		return error;
	if ((!file.commit.is_complete || file.layout.base) && px_archive_log_is_written(&file.header))
		error = EBUSY;
	else
		error = px_compact(&file, source, &sink, &size);
	px_archive_source_free(source);
	if (!error)
		error = px_log_sink_truncate(&sink, size);
	return !error && px_archive_is_merged(&file.header) ? px_origins_copy(from, to) : error;
}
