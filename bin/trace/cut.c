/* SPDX-License-Identifier: MIT */
#include "trace/cut.h"

#include <inttypes.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/files.h"
#include "base/message.h"
#include "extract/header.h"

#define BUFFER_END 28 /* offset of the word in the header */
#define COPY_BYTES 65536

static bool copy(int from, int to, uint64_t size)
{
	unsigned char bytes[COPY_BYTES];

	for (uint64_t at = 0; at < size;) {
		uint64_t rest = size - at;
		ssize_t n = pread(from, bytes, rest < COPY_BYTES ? (size_t)rest : COPY_BYTES, (off_t)at);

		if (n <= 0 || write_all(to, bytes, (size_t)n) != 0)
			return false;
		at += (uint64_t)n;
	}
	return true;
}

static void put_end(const struct header *header, uint32_t nr_entries, int fd)
{
	uint32_t end = header->buffer_start + nr_entries * HEADER_ENTRY_BYTES;
	unsigned char bytes[4];

	for (int i = 0; i < 4; i++)
		bytes[i] = (unsigned char)(end >> 8 * (header->is_big ? 3 - i : i));
	if (pwrite(fd, bytes, sizeof(bytes), BUFFER_END) != sizeof(bytes))
		message("a copy of the buffer cannot be written");
}

int cut_open(const char *path, int fd)
{
	unsigned char bytes[HEADER_BYTES];
	struct header header;
	struct stat status;
	uint64_t entries_at, size;
	uint32_t nr_entries;
	int to;

	if (pread(fd, bytes, sizeof(bytes), 0) != sizeof(bytes) || fstat(fd, &status) != 0)
		return -1;
	if ((memcmp(bytes, "TXTB", 4) != 0 && memcmp(bytes, "BTXT", 4) != 0) || header_read(&header, bytes))
		return -1;
	size = (uint64_t)status.st_size;
	entries_at = header.size - (uint64_t)header.nr_slots * HEADER_ENTRY_BYTES;
	if (size >= header.size || size < entries_at + HEADER_ENTRY_BYTES)
		return -1;
	nr_entries = (uint32_t)((size - entries_at) / HEADER_ENTRY_BYTES);
	to = memfd_create("txtrace", MFD_CLOEXEC);
	if (to < 0)
		return -1;
	if (!copy(fd, to, entries_at + (uint64_t)nr_entries * HEADER_ENTRY_BYTES)) {
		close(to);
		return -1;
	}
	put_end(&header, nr_entries, to);
	message("%s: cut after %" PRIu32 " of %" PRIu32 " slots: the rest is lost", path, nr_entries, header.nr_slots);
	return to;
}
