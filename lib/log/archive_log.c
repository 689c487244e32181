/* SPDX-License-Identifier: MIT */
#include "log/archive_log.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/procfs.h"
#include "calls/rules.h"
#include "log/format.h"
#include "registry/registry.h"
#include "txtb/file.h"
#include "txtb/native.h"

#define WINDOW_SLOTS 4096
#define CONTEXTS_FOUND 1024

/* Some slots of one volume, in memory. */
struct window {
	uint64_t position; /* position of the first slot */
	uint32_t nr_slots;
	struct px_log_slot *slots;
	struct px_txtb_entry *entries;
};

/* The object registry of one volume: the contexts of calls. */
struct contexts {
	uint64_t volume; /* number + 1; 0: none */
	struct px_log_object *object;
	uint16_t found[CONTEXTS_FOUND]; /* index: from the handle; value: the slot in which the handle was last found */
};

struct logreader {
	struct px_archive archive; /* first */
	int fd;
	struct px_log_header header;
	struct px_log_commit commit;
	struct px_log_layout layout;
	bool loops;
	uint64_t position; /* position of the next slot to read */
	struct window window;
	struct contexts contexts;
	struct px_log_name *names;
	uint32_t nr_names;
	uint16_t name_of[PX_EVENT_IDS]; /* index + 1, or 0 */
};

static struct logreader *reader_of(struct px_archive *archive)
{
	return (struct logreader *)archive;
}

static bool read_all(int fd, void *data, size_t size, uint64_t offset)
{
	return px_txtb_file_read(fd, data, size, offset) == size;
}

/* Read slots into the window, from this position on.  Return false if the file ends before this position. */
static bool fill_window(struct logreader *reader, uint64_t position)
{
	struct window *window = &reader->window;
	uint64_t offset = px_log_volume_offset(&reader->header, &reader->layout, position);
	uint32_t slot = px_log_slot_in_volume(&reader->header, position);
	uint64_t count = reader->commit.end - position;
	size_t got;

	if (count > reader->header.nr_entries - slot)
		count = reader->header.nr_entries - slot;
	if (count > WINDOW_SLOTS)
		count = WINDOW_SLOTS;
	window->position = position;
	got = px_txtb_file_read(reader->fd, window->slots, count * sizeof(*window->slots),
				offset + reader->layout.slots + slot * sizeof(*window->slots));
	window->nr_slots = (uint32_t)(got / sizeof(*window->slots));
	got = px_txtb_file_read(reader->fd, window->entries,
				window->nr_slots * sizeof(*window->entries),
				offset + reader->layout.entries + slot * sizeof(*window->entries));
	if (got / sizeof(*window->entries) < window->nr_slots)
		window->nr_slots = (uint32_t)(got / sizeof(*window->entries));
	return window->nr_slots > 0;
}

/*
 * Return the slot at this position, and its entry.  Return NULL if the file ends before this slot, or if the slot was
 * written for another position.
 */
PX_INLINE const struct px_log_slot *slot_at(struct logreader *reader, uint64_t position,
					    const struct px_txtb_entry **entry)
{
	struct window *window = &reader->window;
	uint64_t i = position - window->position;

	if (px_unlikely(i >= window->nr_slots)) {
		if (!fill_window(reader, position))
			return NULL;
		i = 0;
	}
	*entry = &window->entries[i];
	return px_likely(window->slots[i].word >> 8 == position) ? &window->slots[i] : NULL;
}

/* Events. */

/*
 * Copy at most size bytes of an event's data from the slots after its first slot.  Return false if the data is
 * incomplete.
 */
static bool read_more(struct logreader *reader, uint64_t position, uint32_t nr_slots, void *data,
		      size_t size)
{
	unsigned char *to = data;

	for (uint32_t i = 1; i < nr_slots && size > 0; i++) {
		unsigned char bytes[PX_RECORD_MORE_BYTES];
		const struct px_txtb_entry *entry;
		const struct px_log_slot *slot = slot_at(reader, position + i, &entry);
		size_t length = size < sizeof(bytes) ? size : sizeof(bytes);

		if (!slot || (slot->word & 0xFF) != PX_LOG_MORE)
			return false;
		memcpy(bytes, entry->info, sizeof(entry->info));
		memcpy(bytes + sizeof(entry->info), &slot->time_ns,
		       sizeof(bytes) - sizeof(entry->info));
		memcpy(to, bytes, length);
		to += length;
		size -= length;
	}
	return true;
}

static bool read_contexts(struct logreader *reader, uint64_t volume)
{
	struct contexts *contexts = &reader->contexts;
	size_t size = (1 + PX_LOG_IN_USE) * sizeof(*contexts->object);

	if (contexts->volume == volume + 1)
		return true;
	contexts->volume = 0;
	if (!contexts->object)
		contexts->object = malloc(size);
	if (!contexts->object || !read_all(reader->fd, contexts->object, size,
					   volume * reader->layout.size + reader->layout.objects))
		return false;
	contexts->volume = volume + 1;
	return true;
}

/*
 * Return the object of this context, which has pid and pthread_t.  If the object is unknown, return one with all
 * members 0.
 */
static struct px_object context_of(struct logreader *reader, uint64_t position, uint32_t handle)
{
	uint64_t volume = px_log_volume_number(&reader->header, position);
	uint16_t *found = &reader->contexts.found[handle % CONTEXTS_FOUND];
	const struct px_log_object *object;

	if (!read_contexts(reader, volume))
		return (struct px_object){0};
	object = reader->contexts.object;
	if (px_unlikely(object[*found].object.handle != handle))
		for (*found = 0; *found < PX_LOG_IN_USE; ++*found)
			if (object[*found].object.handle == handle)
				break;
	return object[*found].object.handle == handle ? object[*found].object :
							(struct px_object){0};
}

PX_INLINE bool is_native(const struct px_log_slot *slot)
{
	return px_unlikely(slot->flags & PX_LOG_IS_NATIVE);
}

PX_INLINE uint32_t length_of(const struct px_log_slot *slot)
{
	return is_native(slot) ? slot->flags >> 16 : slot->length;
}

static void describe(struct logreader *reader, const struct px_log_slot *slot,
		     const struct px_txtb_entry *entry, struct px_report *report)
{
	struct px_record *record = &report->record;

	record->counter = 0;
	record->address = slot->address;
	record->thread = slot->thread;
	record->pid = slot->pid;
	record->id = slot->id;
	record->flags = slot->flags & PX_LOG_RECORD_FLAGS;
	record->length = length_of(slot);
	record->extra = 0;
	record->nr_slots = px_record_slots(record->length);
	record->context = entry->context == PX_NO_THREAD ? 0 : entry->context;
	record->priority = entry->priority;
	record->cpu = entry->id >> 24;
	report->time_ns = slot->time_ns;
	report->length = record->length;
	report->place = reader->position + 1;
	if (is_native(slot)) {
		const struct px_object thread = context_of(reader, reader->position,
							   entry->context);

		record->thread = thread.thread;
		record->pid = thread.pid;
	}
}

/* Return true if an event with the id and length of this slot is possible at this position. */
static bool is_sound(const struct logreader *reader, uint64_t position,
		     const struct px_log_slot *slot)
{
	uint64_t left = reader->header.nr_entries -
			px_log_slot_in_volume(&reader->header, position);

	if (left > reader->commit.end - position)
		left = reader->commit.end - position;
	return slot->id < PX_EVENT_IDS && length_of(slot) <= left * PX_RECORD_MORE_BYTES &&
	       px_record_slots(length_of(slot)) <= left &&
	       (!is_native(slot) || length_of(slot) >= PX_RECORD_FIRST_BYTES);
}

/* Return the event at the reading position, and move the position after it.  Return false if the event is damaged. */
static bool take(struct logreader *reader, const struct px_log_slot *slot,
		 const struct px_txtb_entry *entry, void *data, size_t capacity,
		 struct px_report *report)
{
	uint64_t position = reader->position;
	size_t first;

	if (px_unlikely(!is_sound(reader, position, slot))) {
		reader->position++;
		return false;
	}
	describe(reader, slot, entry, report);
	reader->position += report->record.nr_slots;
	report->copied = report->length < capacity ? report->length : capacity;
	first = report->copied < sizeof(entry->info) ? report->copied : sizeof(entry->info);
	if (first > 0)
		memcpy(data, is_native(slot) ? (const void *)&slot->thread : entry->info, first);
	return px_likely(report->copied == first) ||
	       read_more(reader, position, report->record.nr_slots, (char *)data + first,
			 report->copied - first);
}

/*
 * Call this when there is no valid slot at the reading position.  If the volume ends early there, go to the next
 * volume.  If the file ends there, go to the end of the log.
 */
static void pass_rest(struct logreader *reader)
{
	bool is_there = reader->position - reader->window.position < reader->window.nr_slots;
	bool is_volume = reader->loops ||
			 px_log_slot_in_volume(&reader->header, reader->position) > 0;

	reader->position = is_volume && (is_there || reader->loops) ?
				   px_log_next_volume_at(&reader->header, reader->position) :
				   reader->commit.end;
}

static enum px_next log_next(struct px_archive *archive, void *data, size_t capacity,
			     struct px_report *report)
{
	struct logreader *reader = reader_of(archive);

	while (reader->position < reader->commit.end) {
		const struct px_txtb_entry *entry;
		const struct px_log_slot *slot = slot_at(reader, reader->position, &entry);

		if (px_unlikely(!slot))
			pass_rest(reader);
		else if (px_unlikely((slot->word & 0xFF) != PX_LOG_EVENT))
			reader->position++;
		else if (px_likely(take(reader, slot, entry, data, capacity, report)))
			return PX_NEXT_EVENT;
	}
	return PX_NEXT_NONE;
}

/*
 * Get the call at this place, as it appears in the image.  If the entry ends a wait, the thread that ended the wait
 * (the waker) is in a word that ThreadX does not use.  calls.def defines which word holds the object.
 */
static bool log_call(struct px_archive *archive, uint64_t place, struct px_archive_call *call)
{
	struct logreader *reader = reader_of(archive);
	uint64_t position = place - 1;
	const struct px_txtb_entry *entry;
	const struct px_log_slot *slot;
	unsigned int word;
	enum px_call which;

	if (position < reader->commit.first || position >= reader->commit.end)
		return false;
	slot = slot_at(reader, position, &entry);
	if (!slot || (slot->word & 0xFF) != PX_LOG_EVENT || !(slot->flags & PX_RECORD_CALL) ||
	    !px_call_of_event(slot->id, &which))
		return false;
	memset(call, 0, sizeof(*call));
	call->flags = slot->flags & PX_LOG_RECORD_FLAGS;
	call->state = px_calls[which].state;
	if (!is_native(slot))
		return true;
	call->native = entry->id & 0xFFFF;
	memcpy(call->word, entry->info, sizeof(call->word));
	word = px_rules_object_word(which, call->native);
	if (word < PX_NATIVE_WORDS)
		call->object = call->word[word];
	if (call->object == PX_NO_THREAD)
		call->object = 0;
	if (call->native == PX_TXTB_RUNNING)
		call->waker = call->word[2];
	return true;
}

static bool log_wrapper(struct px_archive *archive, uint32_t i, struct px_wrapper_sum *sum)
{
	struct logreader *reader = reader_of(archive);

	if (i >= reader->commit.nr_wrappers ||
	    !read_all(reader->fd, sum, sizeof(*sum), reader->layout.wrappers + i * sizeof(*sum)))
		return false;
	sum->symbol[sizeof(sum->symbol) - 1] = '\0';
	sum->version[sizeof(sum->version) - 1] = '\0';
	return true;
}

static void log_rewind(struct px_archive *archive)
{
	reader_of(archive)->position = reader_of(archive)->commit.first;
}

/* Event types. */

static unsigned int log_type(struct px_archive *archive, uint32_t i)
{
	struct logreader *reader = reader_of(archive);

	if (i < PX_EVENT_SYSTEM_LAST)
		return PX_EVENT_ERROR + i;
	i -= PX_EVENT_SYSTEM_LAST;
	if (i == 0)
		return PX_EVENT_UNNAMED;
	return i <= reader->nr_names ? reader->names[i - 1].id : PX_EVENT_NONE;
}

static int log_type_name(struct px_archive *archive, unsigned int id, char name[PX_NAME_MAX + 1])
{
	struct logreader *reader = reader_of(archive);

	if (id >= PX_EVENT_IDS)
		return EINVAL;
	if (id < PX_EVENT_USER_FIRST)
		return px_names_get(NULL, id, name);
	if (reader->name_of[id] == 0)
		return EINVAL;
	memcpy(name, reader->names[reader->name_of[id] - 1].text, PX_NAME_MAX + 1);
	return 0;
}

/* Objects. */

static bool read_object(struct logreader *reader, uint64_t volume, uint32_t slot,
			struct px_log_object *object)
{
	uint64_t offset = volume * reader->layout.size + reader->layout.objects;

	if (!read_all(reader->fd, object, sizeof(*object), offset + slot * sizeof(*object)))
		return false;
	object->object.name[PX_OBJECT_NAME_SIZE - 1] = '\0';
	return true;
}

static bool is_volume_of(struct logreader *reader, uint64_t volume)
{
	struct px_log_header header;

	return read_all(reader->fd, &header, sizeof(header),
			volume * reader->layout.size + reader->layout.header) &&
	       header.magic == PX_LOG_MAGIC &&
	       memcmp(header.uuid, reader->header.uuid, sizeof(header.uuid)) == 0;
}

/*
 * i counts the slots of all volumes.  A free slot holds no object, and neither does the slot that stands for "no
 * thread".
 */
static bool log_object(struct px_archive *archive, uint32_t i, struct px_archive_object *to)
{
	struct logreader *reader = reader_of(archive);
	uint64_t volume = i / PX_LOG_OBJECTS;
	struct px_log_object object;

	if (volume >= archive->info.nr_volumes)
		return false;
	if (i % PX_LOG_OBJECTS == 0 && !is_volume_of(reader, volume)) {
		archive->info.nr_volumes = (uint32_t)volume; /* the file has a hole here */
		return false;
	}
	memset(to, 0, sizeof(*to));
	if (!read_object(reader, volume, i % PX_LOG_OBJECTS, &object) ||
	    object.object.handle == PX_NO_THREAD)
		return true;
	to->handle = object.object.handle;
	to->type = object.object.type;
	to->priority = object.object.type == PX_TXTB_THREAD ? object.object.priority : UINT32_MAX;
	to->pid = object.object.pid;
	to->tid = object.object.tid;
	to->address = object.address;
	to->site = object.site;
	memcpy(to->name, object.object.name, sizeof(to->name));
	return true;
}

static size_t log_modules(struct px_archive *archive, char *text, size_t size)
{
	struct logreader *reader = reader_of(archive);
	size_t length = reader->commit.modules_bytes;

	if (length > PX_LOG_MODULES_BYTES)
		length = PX_LOG_MODULES_BYTES;
	if (size > length)
		size = length;
	if (size > 0 && !read_all(reader->fd, text, size, reader->layout.modules))
		return 0;
	return length;
}

/* A log holds exact times, so the caller cannot set the length of a tick. */
static int log_set_tick(struct px_archive *archive, double ns)
{
	(void)archive;
	(void)ns;
	return EINVAL;
}

static void log_complete_info(struct px_archive *archive)
{
	(void)archive;
}

static void log_free(struct px_archive *archive)
{
	struct logreader *reader = reader_of(archive);

	if (reader->fd >= 0) /* otherwise the open has failed */
		close(reader->fd);
	free(reader->window.slots);
	free(reader->window.entries);
	free(reader->names);
	free(reader->contexts.object);
	free(reader);
}

static const struct px_archive_kind kind = {
	.next = log_next,
	.rewind = log_rewind,
	.type = log_type,
	.type_name = log_type_name,
	.call = log_call,
	.wrapper = log_wrapper,
	.object = log_object,
	.modules = log_modules,
	.set_tick = log_set_tick,
	.complete_info = log_complete_info,
	.free = log_free,
};

/* Opening. */

/*
 * If the writer process lives, it may have called exec, or may have failed to complete the log: then it does not write
 * any more.  So if the log and this process use the same registry, check in the registry that the writer still has
 * streams.
 */
bool px_archive_log_is_written(const struct px_log_header *header)
{
	struct px_process_id writer = {.pid = header->writer_pid, .start = header->writer_start};
	struct px_registry_file ours = px_registry_file();
	char boot_id[40];

	px_log_boot_id(boot_id);
	if (memcmp(boot_id, header->boot_id, sizeof(boot_id)) != 0 ||
	    !px_procfs_is_same(writer.pid, writer.start))
		return false;
	if (ours.inode == 0 || ours.device != header->registry_device ||
	    ours.inode != header->registry_inode)
		return true;
	return px_registry_has(&writer);
}

/*
 * Return the number of volumes in the file; the last of them may be incomplete.  Return 0 if the log is complete but a
 * part of the file is missing.  An incomplete log may be shorter than its commit requires, because its last volume may
 * have ended early.
 */
static uint32_t count_volumes(const struct logreader *reader, int fd)
{
	const struct px_log_layout *layout = &reader->layout;
	uint64_t end = reader->commit.end;
	uint64_t in_use = (end + reader->header.nr_entries - 1) / reader->header.nr_entries;
	uint64_t in_file, size, least = layout->slots;
	struct stat status;

	if (fstat(fd, &status) != 0)
		return 0;
	size = (uint64_t)status.st_size;
	in_file = size / layout->size + 1;
	if (reader->loops && in_use > reader->header.nr_volumes)
		in_use = reader->header.nr_volumes;
	if (in_use > in_file && reader->commit.is_complete)
		return 0;
	if (end > 0)
		least = px_log_volume_offset(&reader->header, &reader->layout, end - 1) +
			layout->slots +
			(px_log_slot_in_volume(&reader->header, end - 1) + 1) *
				sizeof(struct px_log_slot);
	if (size < least && reader->commit.is_complete)
		return 0;
	if (in_use > in_file)
		in_use = in_file;
	if (in_use > UINT32_MAX / PX_LOG_OBJECTS)
		return 0; /* a sparse file: its objects would need more than 32 bits for their numbers */
	return in_use > 0 ? (uint32_t)in_use : 1;
}

static bool read_names(struct logreader *reader)
{
	uint32_t count = reader->commit.nr_names;

	reader->names = malloc(count ? count * sizeof(*reader->names) : 1);
	if (!reader->names)
		return false;
	count = (uint32_t)(px_txtb_file_read(reader->fd, reader->names,
					     count * sizeof(*reader->names), reader->layout.names) /
			   sizeof(*reader->names));
	for (uint32_t i = 0; i < count; i++) {
		struct px_log_name *name = &reader->names[reader->nr_names];

		*name = reader->names[i];
		name->text[PX_NAME_MAX] = '\0';
		if (name->id < PX_EVENT_USER_FIRST || name->id >= PX_EVENT_IDS ||
		    reader->name_of[name->id])
			continue; /* the object is damaged */
		reader->name_of[name->id] = (uint16_t)++reader->nr_names;
	}
	return true;
}

static void fill_archive(struct logreader *reader, uint32_t nr_volumes)
{
	const struct px_log_commit *commit = &reader->commit;
	const struct px_log_header *header = &reader->header;
	struct px_archive *archive = &reader->archive;
	uint64_t capacity = (uint64_t)header->nr_entries * header->nr_volumes;

	archive->kind = &kind;
	archive->attr = header->attr;
	archive->attr.name[PX_TRACE_NAME_MAX] = '\0';
	archive->attr.version[PX_TRACE_NAME_MAX] = '\0';
	archive->status = (struct px_archive_status){
		.is_full = commit->stream_full != 0,
		.is_overrun = commit->stream_overrun != 0,
		.log_is_full = commit->log_full != 0,
		.log_is_overrun = commit->log_overrun != 0,
		.flush_error = commit->flush_error,
	};
	archive->loss = (struct px_loss){.overwritten = commit->overwritten,
					 .dropped = commit->dropped,
					 .abandoned = commit->abandoned};
	archive->info = (struct px_archive_info){
		.is_complete = commit->is_complete != PX_LOG_OPEN,
		.is_recovered = commit->is_complete == PX_LOG_RECOVERED,
		.tick_ns = header->tick_ns,
		.time_mask = UINT32_MAX,
		.name_size = PX_TXTB_NAME_SIZE,
		.nr_registry_slots = PX_LOG_OBJECTS,
		.nr_volumes = nr_volumes,
		.nr_entry_slots = capacity,
		.nr_entries = commit->end - commit->first,
		.nr_shortened = commit->nr_shortened,
		.shortened_ns = commit->shortened_ns,
	};
}

static int load(struct logreader *reader, int fd)
{
	uint32_t nr_volumes;

	if (!px_log_header_is_ours(&reader->header))
		return EINVAL;
	reader->loops = reader->header.policy == PX_POLICY_LOOP;
	if (!px_log_read_commit(fd, &reader->header, &reader->layout, &reader->commit) ||
	    (!reader->commit.is_complete && px_archive_log_is_written(&reader->header)))
		return EINVAL;
	nr_volumes = count_volumes(reader, fd);
	if (nr_volumes == 0)
		return EINVAL;
	reader->fd = fcntl(fd, F_DUPFD_CLOEXEC, 3);
	if (reader->fd < 0)
		return errno;
	reader->window.slots = malloc(WINDOW_SLOTS * sizeof(*reader->window.slots));
	reader->window.entries = malloc(WINDOW_SLOTS * sizeof(*reader->window.entries));
	if (!reader->window.slots || !reader->window.entries || !read_names(reader))
		return ENOMEM;
	fill_archive(reader, nr_volumes);
	log_rewind(&reader->archive);
	return 0;
}

/*
 * Return true if this is a log whose section cannot be read: an incomplete copy, or a log from a machine with the other
 * byte order (MODEL-9).  The viewer would open such a file.  But without the section, the exact times and names are
 * missing, so the caller must not read it as a plain trace buffer.
 */
static bool is_unreadable_log(int fd)
{
	uint32_t no_thread = PX_NO_THREAD;
	struct px_txtb_object first;

	return read_all(fd, &first, sizeof(first), sizeof(struct px_txtb_header)) &&
	       first.type == PX_TXTB_THREAD &&
	       (first.handle == no_thread || first.handle == __builtin_bswap32(no_thread)) &&
	       strncmp(first.name, PX_NO_THREAD_NAME, sizeof(first.name)) == 0;
}

int px_archive_log_open(int fd, struct px_archive **archive)
{
	struct logreader *reader = calloc(1, sizeof(*reader));
	int error = ENOENT;

	if (!reader)
		return ENOMEM;
	reader->fd = -1;
	if (px_log_find(fd, &reader->header, &reader->layout))
		error = load(reader, fd);
	if (error == ENOENT && is_unreadable_log(fd))
		error = EINVAL;
	if (error) {
		log_free(&reader->archive);
		return error;
	}
	*archive = &reader->archive;
	return 0;
}
