/* SPDX-License-Identifier: MIT */
#include "txtb/file.h"

#include <errno.h>
#include <pthread.h>
#include <string.h>
#include <unistd.h>

#define OBJECT_BYTES 16 /* size of an object in bytes, without its name */
#define BUFFER_BYTES_MAX 0x07FFFFFFu

_Static_assert(PX_TXTB_FILE_CHUNK >= OBJECT_BYTES + PX_TXTB_FILE_NAME_MAX, "an object at least");

size_t px_txtb_file_read(int fd, void *buffer, size_t size, uint64_t offset)
{
	int saved_errno = errno;
	size_t done = 0;
	int state;

	/*
	 * pread() is a cancellation point, and a thread that is cancelled here would keep the lock
	 * of the caller (GEN-7).
	 */
	pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &state);
	while (done < size) {
		ssize_t n = pread(fd, (char *)buffer + done, size - done, (off_t)(offset + done));

		if (n > 0)
			done += (size_t)n;
		else if (n == 0 || errno != EINTR)
			break;
	}
	pthread_setcancelstate(state, &state);
	errno = saved_errno;
	return done;
}

static uint32_t word_of(bool is_swapped, uint32_t word)
{
	return is_swapped ? __builtin_bswap32(word) : word;
}

static uint32_t word_at(bool is_swapped, const unsigned char *bytes)
{
	uint32_t word;

	memcpy(&word, bytes, sizeof(word));
	return word_of(is_swapped, word);
}

bool px_txtb_file_is_id(const unsigned char id[4], bool *is_swapped)
{
	*is_swapped = word_at(false, id) != PX_TXTB_ID;
	return word_at(*is_swapped, id) == PX_TXTB_ID;
}

/* Convert the header fields that this module uses to the byte order of this machine. */
static void put_in_order(bool is_swapped, struct px_txtb_header *header)
{
	header->time_mask = word_of(is_swapped, header->time_mask);
	header->registry_start = word_of(is_swapped, header->registry_start);
	header->registry_end = word_of(is_swapped, header->registry_end);
	header->buffer_start = word_of(is_swapped, header->buffer_start);
	header->buffer_end = word_of(is_swapped, header->buffer_end);
	header->current = word_of(is_swapped, header->current);
	header->tick_mark = word_of(is_swapped, header->tick_mark);
	header->tick[0] = word_of(is_swapped, header->tick[0]);
	header->tick[1] = word_of(is_swapped, header->tick[1]);
	if (is_swapped)
		header->name_size = __builtin_bswap16(header->name_size);
}

static int read_header(struct px_txtb_file *file, struct px_txtb_header *header)
{
	if (px_txtb_file_read(file->fd, header, sizeof(*header), 0) < sizeof(*header) ||
	    !px_txtb_file_is_id((const unsigned char *)&header->id, &file->is_swapped))
		return EINVAL;
	put_in_order(file->is_swapped, header);
	if (header->name_size > PX_TXTB_FILE_NAME_MAX ||
	    header->registry_end <= header->registry_start ||
	    header->buffer_end <= header->buffer_start ||
	    header->buffer_end - header->buffer_start > BUFFER_BYTES_MAX)
		return EINVAL;
	return 0;
}

/*
 * Return the slot of the oldest entry.  If the address in the header is not the address of an
 * entry, return 0: then the first entry in the file is the oldest.
 */
static uint32_t slot_of_oldest(const struct px_txtb_header *header)
{
	uint32_t distance = header->current - header->buffer_start;

	return distance % sizeof(struct px_txtb_entry) ?
		       0 :
		       distance / (uint32_t)sizeof(struct px_txtb_entry);
}

int px_txtb_file_open(struct px_txtb_file *file, int fd, uint64_t size)
{
	struct px_txtb_header header;
	uint64_t nr_behind;

	file->fd = fd;
	if (read_header(file, &header))
		return EINVAL;
	file->time_mask = header.time_mask;
	file->name_size = header.name_size;
	file->tick_ns = px_txtb_tick_ns(&header);
	file->nr_objects = (header.registry_end - header.registry_start) /
			   (OBJECT_BYTES + file->name_size);
	file->nr_entries = (header.buffer_end - header.buffer_start) /
			   (uint32_t)sizeof(struct px_txtb_entry);
	/*
	 * The size of the registry need not be a multiple of the size of an object.  The viewer does not skip the
	 * remaining bytes: it reads the first entry directly after the last whole object.
	 */
	file->entries_offset = sizeof(header) +
			       (uint64_t)file->nr_objects * (OBJECT_BYTES + file->name_size);
	if (file->entries_offset > size)
		return EINVAL;
	/*
	 * A sparse file can claim 4 GB of objects, and a search in them would take 10 s.  No program has this number of
	 * objects.
	 */
	if (file->nr_objects > PX_TXTB_FILE_OBJECTS_MAX)
		file->nr_objects = PX_TXTB_FILE_OBJECTS_MAX;
	nr_behind = (size - file->entries_offset) / sizeof(struct px_txtb_entry);
	file->nr_whole = nr_behind < file->nr_entries ? (uint32_t)nr_behind : file->nr_entries;
	file->oldest = slot_of_oldest(&header);
	file->chunk_objects = 0;
	return 0;
}

static bool load_chunk(struct px_txtb_file *file, uint32_t slot)
{
	uint32_t object_size = OBJECT_BYTES + file->name_size;
	uint32_t n = PX_TXTB_FILE_CHUNK / object_size;

	if (n > file->nr_objects - slot)
		n = file->nr_objects - slot;
	file->chunk_first = slot;
	file->chunk_objects = (uint32_t)px_txtb_file_read(file->fd, file->chunk, n * object_size,
							  sizeof(struct px_txtb_header) +
								  (uint64_t)slot * object_size) /
			      object_size;
	return file->chunk_objects > 0;
}

static uint32_t priority_of(const unsigned char *bytes)
{
	if (bytes[1] != PX_TXTB_THREAD || !(bytes[2] & 0x80))
		return UINT32_MAX;
	return (bytes[2] & 3u) << 8 | bytes[3];
}

bool px_txtb_file_object(struct px_txtb_file *file, uint32_t slot,
			 struct px_txtb_file_object *object)
{
	const unsigned char *bytes;

	if (slot >= file->nr_objects)
		return false;
	if (slot - file->chunk_first >= file->chunk_objects && !load_chunk(file, slot))
		return false;
	bytes = file->chunk + (slot - file->chunk_first) * (OBJECT_BYTES + file->name_size);
	memset(object, 0, sizeof(*object));
	object->is_released = bytes[0] != 0;
	object->type = bytes[1];
	object->handle = word_at(file->is_swapped, bytes + 4);
	object->priority = priority_of(bytes);
	object->parameter[0] = word_at(file->is_swapped, bytes + 8);
	object->parameter[1] = word_at(file->is_swapped, bytes + 12);
	memcpy(object->name, bytes + OBJECT_BYTES,
	       strnlen((const char *)bytes + OBJECT_BYTES, file->name_size));
	return true;
}

uint32_t px_txtb_file_entries(const struct px_txtb_file *file, uint32_t slot, uint32_t n,
			      struct px_txtb_entry *entry)
{
	uint32_t *word = (uint32_t *)entry;
	uint32_t nr_read;

	if (slot >= file->nr_whole)
		return 0;
	if (n > file->nr_whole - slot)
		n = file->nr_whole - slot;
	nr_read = (uint32_t)(px_txtb_file_read(file->fd, entry, n * sizeof(*entry),
					       file->entries_offset +
						       (uint64_t)slot * sizeof(*entry)) /
			     sizeof(*entry));
	if (file->is_swapped)
		for (size_t i = 0; i < nr_read * sizeof(*entry) / sizeof(*word); i++)
			word[i] = __builtin_bswap32(word[i]);
	return nr_read;
}
