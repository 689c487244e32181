/* SPDX-License-Identifier: MIT */
#include "capture/capture_file.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <unistd.h>

#include "base/message.h"

#define BASE 0x00010000u

bool capture_file_open(struct capture_file *file, const char *path, bool overwrites)
{
	*file = (struct capture_file){.path = path};
	file->fd = open(path, O_WRONLY | O_CREAT | O_CLOEXEC | (overwrites ? O_TRUNC : O_EXCL), 0666);
	if (file->fd >= 0)
		return true;
	if (errno == EEXIST)
		message("%s exists; use --force to overwrite it", path);
	else
		message_error(errno, "cannot create %s", path);
	return false;
}

static bool write_at(struct capture_file *file, uint64_t offset, const void *bytes, size_t size)
{
	const char *from = bytes;

	while (size > 0) {
		ssize_t nr = pwrite(file->fd, from, size, (off_t)offset);

		if (nr < 0 && errno == EINTR)
			continue;
		if (nr <= 0) {
			message_error(nr == 0 ? EIO : errno, "cannot write %s", file->path);
			return false;
		}
		from += nr;
		offset += (uint64_t)nr;
		size -= (size_t)nr;
	}
	return true;
}

static void put_word(unsigned char *at, uint32_t word, bool is_big)
{
	for (int i = 0; i < 4; i++)
		at[is_big ? 3 - i : i] = (unsigned char)(word >> 8 * i);
}

bool capture_file_append(struct capture_file *file, const struct target_buffer *buffer, const unsigned char *entries,
			 uint32_t n)
{
	uint32_t registry_bytes = target_buffer_registry_bytes(buffer);
	uint32_t start = BASE + HEADER_BYTES + registry_bytes;
	bool is_big = buffer->header.is_big;
	unsigned char header[HEADER_BYTES];

	if (file->nr_entries + n > (UINT32_MAX - start) / HEADER_ENTRY_BYTES) {
		message("%s is full: a trace buffer has at most 4 GiB", file->path);
		return false;
	}
	/* The header goes last: until then, the file ends before the new entries. */
	if (!write_at(file, HEADER_BYTES + registry_bytes + file->nr_entries * HEADER_ENTRY_BYTES, entries,
		      (size_t)n * HEADER_ENTRY_BYTES) ||
	    !write_at(file, HEADER_BYTES, buffer->registry, registry_bytes))
		return false;
	file->nr_entries += n;
	memcpy(header, buffer->bytes, sizeof(header));
	put_word(header + 8, BASE, is_big);
	put_word(header + 12, BASE + HEADER_BYTES, is_big);
	put_word(header + 20, start, is_big);
	put_word(header + 24, start, is_big);
	put_word(header + 28, start + (uint32_t)file->nr_entries * HEADER_ENTRY_BYTES, is_big);
	put_word(header + 32, start, is_big); /* the oldest entry is the first */
	return write_at(file, 0, header, sizeof(header));
}

bool capture_file_close(struct capture_file *file)
{
	if (file->nr_entries == 0)
		unlink(file->path);
	if (close(file->fd) == 0)
		return true;
	message_error(errno, "cannot write %s", file->path);
	return false;
}
