/* SPDX-License-Identifier: MIT */
/*
 * Logs of version 2, which early builds of posixtrace 0.1.0 wrote: beside each entry there is a slot of 48 bytes.  All
 * volumes have the same size, and each area of a volume has its full size.  An event with more than 16 bytes of data
 * has further entries and slots.  Each further entry holds 16 bytes of the data, and each further slot holds 40.
 */
#include "log/archive_source.h"

#include <errno.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "event/names.h"
#include "txtb/file.h"

#define VERSION 2
#define IN_USE 896
#define NAMES 4096
#define WRAPPERS 384
#define WINDOW_SLOTS 4096
#define MORE_BYTES 56 /* number of data bytes in a further entry and its slot */
#define CONTEXTS_FOUND 1024
#define CHAPTER_ENTRIES 65536

enum kind { NOTHING = 0, EVENT = 1, MORE = 2 };

#define IS_NATIVE 0x100u

struct slot {
	uint64_t word; /* position << 8 | enum kind */
	uint64_t time_ns;
	uint64_t address;
	uint64_t thread; /* a native event has the first 16 bytes of its data here */
	uint32_t pid;
	uint32_t length;
	uint32_t id;
	uint32_t flags; /* a native event has the length of its data in the upper half */
};

_Static_assert(sizeof(struct slot) == 48, "as in the file");

struct slots {
	struct px_archive_source source; /* must be the first member (slots_of()) */
	bool loops;
	/* Offsets of these areas in a volume, and size of a volume. */
	uint64_t wrappers, objects, slots, size;
	uint64_t in_file; /* number of volumes */
	struct px_archive_window window;
	uint64_t chapter_volume, chapter_window; /* where the chapter of the window begins */
	struct slot *slot;
	struct px_txtb_entry *entries;
	struct px_unpacked *packed;
	/* `contexts` belongs to the volume with this number - 1; 0: it is empty. */
	uint64_t contexts_of;
	struct px_log_object *contexts;
	/* Index: handle mod CONTEXTS_FOUND; value: index of the context last found. */
	uint16_t found[CONTEXTS_FOUND];
	unsigned char *data;		/* data of the long events in the window */
	size_t data_size;
};

static struct slots *slots_of(struct px_archive_source *source)
{
	return (struct slots *)source;
}

static uint64_t volume_of(const struct slots *slots, uint64_t position)
{
	return px_log_volume_number(&slots->source.file->header, position) * slots->size;
}

/* Objects. */

static bool read_contexts(struct slots *slots, uint64_t volume)
{
	size_t size = (1 + IN_USE) * sizeof(*slots->contexts);

	if (slots->contexts_of == volume + 1)
		return true;
	slots->contexts_of = 0;
	if (px_txtb_file_read(slots->source.file->fd, slots->contexts, size,
			      volume * slots->size + slots->objects) != size)
		return false;
	slots->contexts_of = volume + 1;
	return true;
}

static const struct px_log_object *find_object(struct px_archive_source *source, uint64_t position,
					       uint32_t handle)
{
	struct slots *slots = slots_of(source);
	uint16_t *found = &slots->found[handle % CONTEXTS_FOUND];
	const struct px_log_object *object = slots->contexts;

	if (!read_contexts(slots, px_log_volume_number(&slots->source.file->header, position)))
		return NULL;
	if (object[*found].object.handle != handle)
		for (*found = 0; *found < IN_USE; ++*found)
			if (object[*found].object.handle == handle)
				break;
	return object[*found].object.handle == handle ? &object[*found] : NULL;
}

static bool get_object(struct px_archive_source *source, uint32_t i, struct px_log_object *object)
{
	struct slots *slots = slots_of(source);
	uint64_t volume = i / PX_LOG_OBJECTS_2 * slots->size;
	struct px_log_header header;

	if (i / PX_LOG_OBJECTS_2 >= slots->source.file->nr_volumes)
		return false;
	if (i % PX_LOG_OBJECTS_2 == 0 &&
	    (px_txtb_file_read(slots->source.file->fd, &header, sizeof(header),
			       volume + slots->source.file->layout.header) != sizeof(header) ||
	     header.magic != PX_LOG_MAGIC ||
	     memcmp(header.uuid, slots->source.file->header.uuid, sizeof(header.uuid)) != 0)) {
		/* The file has no data for this volume and those after it. */
		slots->source.file->nr_volumes = i / PX_LOG_OBJECTS_2;
		return false;
	}
	if (px_txtb_file_read(slots->source.file->fd, object, sizeof(*object),
			      volume + slots->objects + i % PX_LOG_OBJECTS_2 * sizeof(*object)) !=
	    sizeof(*object))
		memset(object, 0, sizeof(*object));
	object->object.name[PX_OBJECT_NAME_SIZE - 1] = '\0';
	return true;
}

/* Events. */

static uint32_t length_of(const struct slot *slot)
{
	return slot->flags & IS_NATIVE ? slot->flags >> 16 : slot->length;
}

/* Return true if an event with the id and length of this slot is possible at this position. */
static bool is_sound(const struct slots *slots, uint64_t position, const struct slot *slot)
{
	uint64_t left = slots->source.file->header.nr_entries -
			px_log_slot_in_volume(&slots->source.file->header, position);
	uint32_t length = length_of(slot);

	if (left > slots->source.file->commit.end - position)
		left = slots->source.file->commit.end - position;
	return slot->id < PX_EVENT_IDS && length <= left * MORE_BYTES &&
	       px_record_slots(length) <= left &&
	       (!(slot->flags & IS_NATIVE) || length >= PX_RECORD_FIRST_BYTES);
}

/*
 * Read this number of slots and entries from a position on.  All of them are in one volume.  Return how many the file
 * has.
 */
static uint32_t read_slots(struct slots *slots, uint64_t position, uint64_t count,
			   struct slot *slot, struct px_txtb_entry *entries)
{
	uint64_t volume = volume_of(slots, position);
	uint32_t first = px_log_slot_in_volume(&slots->source.file->header, position);

	count = px_txtb_file_read(slots->source.file->fd, slot, count * sizeof(*slot),
				  volume + slots->slots + first * sizeof(*slot)) /
		sizeof(*slot);
	return (uint32_t)(px_txtb_file_read(slots->source.file->fd, entries, count * sizeof(*entries),
					    volume + slots->source.file->layout.entries +
						    first * sizeof(*entries)) /
			  sizeof(*entries));
}

/*
 * Put the data of a long event together.  nr: number of slots, from the first slot of the event on.  Return false if
 * the event is not whole.
 */
static bool join(const struct slot *slot, const struct px_txtb_entry *entries, uint32_t nr,
		 uint64_t position, unsigned char *to, size_t left)
{
	for (uint32_t i = 1; left > 0; i++) {
		unsigned char bytes[MORE_BYTES];
		size_t length = left < sizeof(bytes) ? left : sizeof(bytes);

		if (i >= nr || slot[i].word != ((position + i) << 8 | MORE))
			return false;
		memcpy(bytes, entries[i].info, sizeof(entries[i].info));
		memcpy(bytes + sizeof(entries[i].info), &slot[i].time_ns,
		       sizeof(bytes) - sizeof(entries[i].info));
		memcpy(to, bytes, length);
		to += length;
		left -= length;
	}
	return true;
}

/* Translate the event in slot i of the window.  Return false if the event is damaged. */
static bool translate(struct slots *slots, uint32_t i, struct px_unpacked *to)
{
	uint64_t position = slots->window.position + i;
	const struct slot *slot = &slots->slot[i];

	if (!is_sound(slots, position, slot))
		return false;
	*to = (struct px_unpacked){.time_ns = slot->time_ns,
				   .address = slot->address,
				   .thread = slot->thread,
				   .pid = slot->pid,
				   .id = slot->id,
				   .flags = slot->flags & PX_LOG_RECORD_FLAGS,
				   .length = length_of(slot),
				   .first = slots->entries[i].info,
				   .is_event = true,
				   .is_native = (slot->flags & IS_NATIVE) != 0};
	if (to->is_native) {
		const struct px_log_object *thread =
			find_object(&slots->source, position, slots->entries[i].context);

		memcpy(to->word, &slot->thread, sizeof(to->word));
		to->first = to->word;
		to->thread = thread ? thread->object.thread : 0;
		to->pid = thread ? thread->object.pid : 0;
	}
	return true;
}

/*
 * Load a window that begins at this position.  Return the number of its entries.  If the window has only a part of its
 * last event, it ends before that event, unless that is also its first event.
 */
static uint32_t fill(struct slots *slots, uint64_t position)
{
	uint64_t count = slots->source.file->commit.end - position;
	uint32_t slot = px_log_slot_in_volume(&slots->source.file->header, position);
	uint32_t nr, i;
	size_t used = 0;

	if (count > slots->source.file->header.nr_entries - slot)
		count = slots->source.file->header.nr_entries - slot;
	if (count > WINDOW_SLOTS)
		count = WINDOW_SLOTS;
	slots->window.position = position;
	nr = read_slots(slots, position, count, slots->slot, slots->entries);
	for (i = 0; i < nr && slots->slot[i].word >> 8 == position + i; i++) {
		struct px_unpacked *to = &slots->packed[i];
		size_t more;

		memset(to, 0, sizeof(*to));
		if ((slots->slot[i].word & 0xFF) == NOTHING)
			continue;
		if ((slots->slot[i].word & 0xFF) != EVENT || !translate(slots, i, to) ||
		    to->length <= PX_RECORD_FIRST_BYTES)
			continue;
		more = to->length - PX_RECORD_FIRST_BYTES;
		if (i + px_record_slots(to->length) > nr && i > 0 && nr == WINDOW_SLOTS)
			break; /* the next window has the whole event */
		if (used + more > slots->data_size ||
		    !join(&slots->slot[i], &slots->entries[i], nr - i, position + i,
			  slots->data + used, more)) {
			to->is_event = false;
			continue;
		}
		to->more = slots->data + used;
		used += more;
	}
	return i;
}

/* Chapters are long: the objects take less than a byte for each entry. */
static bool begins_chapter(struct slots *slots)
{
	uint64_t position = slots->window.position;
	uint64_t volume = px_log_volume_number(&slots->source.file->header, position);

	if (position == slots->chapter_window)
		return true;
	if (volume == slots->chapter_volume && position > slots->chapter_window &&
	    position - slots->chapter_window < CHAPTER_ENTRIES)
		return false;
	slots->chapter_volume = volume;
	slots->chapter_window = position;
	return true;
}

static bool load(struct px_archive_source *source, uint64_t position,
		 struct px_archive_window *window)
{
	struct slots *slots = slots_of(source);

	if (position - slots->window.position >= slots->window.nr_entries) {
		if (position < slots->source.file->commit.first)
			position = slots->source.file->commit.first;
		for (slots->window.nr_entries = 0; slots->window.nr_entries == 0;) {
			/* A damaged commit may name more volumes than can be tried. */
			if (position >= slots->source.file->commit.end ||
			    (!slots->loops &&
			     px_log_volume_number(&slots->source.file->header, position) >= slots->in_file))
				return false;
			slots->window.nr_entries = fill(slots, position);
			position = px_log_next_volume_at(&slots->source.file->header, position);
		}
	}
	slots->window.begins_chapter = begins_chapter(slots);
	*window = slots->window;
	window->entries = slots->entries;
	window->packed = slots->packed;
	return true;
}

/* A window that begins a chapter defines all objects of its volume. */
static bool next_definition(struct px_archive_source *source, size_t *offset,
			    struct px_log_object *object)
{
	struct slots *slots = slots_of(source);

	while (slots->window.begins_chapter && *offset < 1 + IN_USE &&
	       read_contexts(slots, px_log_volume_number(&source->file->header, slots->window.position))) {
		*object = slots->contexts[(*offset)++];
		object->object.name[PX_OBJECT_NAME_SIZE - 1] = '\0';
		if (object->object.handle != 0 && object->object.handle != PX_NO_THREAD)
			return true;
	}
	return false;
}

static bool get_volume(struct px_archive_source *source, uint32_t number,
		       struct px_archive_volume *volume)
{
	struct slots *slots = slots_of(source);

	*volume = (struct px_archive_volume){.at = number * slots->size,
					     .entries = number * slots->size +
							source->file->layout.entries,
					     .nr_objects = PX_LOG_OBJECTS_2,
					     .name_size = PX_TXTB_NAME_SIZE,
					     .nr_entries = source->file->header.nr_entries};
	return true;
}

/* Opening. */

bool px_archive_slots_is_ours(const struct px_log_header *header)
{
	struct px_log_machine ours = px_log_machine();

	return header->version == VERSION && header->volume == 0 &&
	       header->machine.byte_order == ours.byte_order && header->machine.of_attr == ours.of_attr &&
	       header->nr_entries > 0 &&
	       header->nr_entries <= PX_LOG_VOLUME_ENTRIES_MAX &&
	       header->nr_volumes <= PX_LOG_VOLUMES_MAX &&
	       (header->nr_volumes == 0) == (header->policy == PX_POLICY_APPEND) &&
	       px_attr_is_valid(&header->attr);
}

static bool read_commit(struct px_archive_file *file)
{
	struct px_log_commit *commit = &file->commit;
	uint64_t capacity = (uint64_t)file->header.nr_entries * file->header.nr_volumes;
	size_t size = offsetof(struct px_log_commit, nr_unlisted);

	memset(commit, 0, sizeof(*commit));
	return px_txtb_file_read(file->fd, commit, size, file->layout.commit) == size &&
	       commit->first <= commit->end && commit->end < UINT64_MAX >> 8 &&
	       (capacity == 0 || commit->end - commit->first <= capacity) &&
	       (file->header.policy == PX_POLICY_LOOP || capacity == 0 ||
		commit->end <= capacity) &&
	       commit->nr_names <= NAMES && commit->nr_wrappers <= WRAPPERS;
}

static void set_layout(struct slots *slots)
{
	struct px_archive_file *file = slots->source.file;

	file->commit.names_at = file->layout.commit + PX_LOG_PAGE;
	file->commit.modules_at =
		file->commit.names_at + px_log_page_up(NAMES * sizeof(struct px_log_name));
	file->commit.wrappers_at = file->commit.modules_at + PX_LOG_MODULES_BYTES;
	slots->objects = file->commit.wrappers_at +
			 px_log_page_up(WRAPPERS * sizeof(struct px_wrapper_sum));
	slots->slots = slots->objects + px_log_page_up(PX_LOG_OBJECTS_2 * sizeof(struct px_log_object));
	slots->size = px_log_page_up(slots->slots +
			      (uint64_t)file->header.nr_entries * sizeof(struct slot));
}

/*
 * Count the volumes in the file.  The last volume may be incomplete.  Return false if the log is complete but a part of
 * the file is missing.  An incomplete log may be shorter than its commit requires, because its last volume may have
 * ended early.
 */
static bool count_volumes(struct slots *slots)
{
	struct px_archive_file *file = slots->source.file;
	uint64_t end = file->commit.end;
	uint64_t in_use = (end + file->header.nr_entries - 1) / file->header.nr_entries;
	uint64_t size, least = slots->slots;
	struct stat status;

	if (fstat(file->fd, &status) != 0)
		return false;
	size = (uint64_t)status.st_size;
	slots->in_file = size / slots->size + 1;
	if (slots->loops && in_use > file->header.nr_volumes)
		in_use = file->header.nr_volumes;
	if (end > 0)
		least = volume_of(slots, end - 1) + slots->slots +
			(px_log_slot_in_volume(&file->header, end - 1) + 1) * sizeof(struct slot);
	if (file->commit.is_complete && (in_use > slots->in_file || size < least))
		return false;
	if (in_use > slots->in_file)
		in_use = slots->in_file;
	file->nr_volumes = in_use > 0 ? (uint32_t)in_use : 1;
	/* A sparse file can claim more objects than 32 bits can number. */
	return in_use <= UINT32_MAX / PX_LOG_OBJECTS_2;
}

static int open_slots(struct px_archive_source *source)
{
	struct slots *slots = slots_of(source);

	if (!read_commit(source->file))
		return EINVAL;
	slots->loops = source->file->header.policy == PX_POLICY_LOOP;
	set_layout(slots);
	slots->slot = malloc(WINDOW_SLOTS * sizeof(*slots->slot));
	slots->entries = malloc(WINDOW_SLOTS * sizeof(*slots->entries));
	slots->packed = malloc(WINDOW_SLOTS * sizeof(*slots->packed));
	slots->contexts = malloc((1 + IN_USE) * sizeof(*slots->contexts));
	slots->data_size = WINDOW_SLOTS * MORE_BYTES;
	slots->data = malloc(slots->data_size);
	if (!slots->slot || !slots->entries || !slots->packed || !slots->contexts || !slots->data)
		return ENOMEM;
	return count_volumes(slots) ? 0 : EINVAL;
}

static void close_slots(struct px_archive_source *source)
{
	struct slots *slots = slots_of(source);

	free(slots->slot);
	free(slots->entries);
	free(slots->packed);
	free(slots->contexts);
	free(slots->data);
}

const struct px_archive_source_kind px_archive_slots = {
	.size = sizeof(struct slots),
	.open = open_slots,
	.load = load,
	.object = get_object,
	.next_definition = next_definition,
	.find = find_object,
	.volume = get_volume,
	.close = close_slots,
};
