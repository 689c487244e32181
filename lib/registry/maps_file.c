/* SPDX-License-Identifier: MIT */
#include "registry/maps_file.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/confined.h"
#include "base/decimal.h"
#include "base/modules_remote.h"
#include "base/shm.h"

/* The kernel may write longer lines.  They are left out. */
#define LINE_BYTES 1024
#define PART_BYTES 1024
#define BYTES_MAX 1000000
#define HASH_FIRST UINT32_C(2166136261)
#define HASH_FACTOR UINT32_C(16777619)

/* The lines with code at the last look.  A child of fork has the mappings of its parent, and its copy of this. */
static uint32_t stored_hash;

struct lines {
	int from, to; /* to: -1 to compute only the hash */
	uint32_t hash;
	bool is_after_file; /* the last line belongs to a file, so a line without a name is its data that is zero */
	bool failed;
	size_t length, got, written;
	char line[LINE_BYTES], part[PART_BYTES];
};

/* A line is BEGIN-END RIGHTS OFFSET DEVICE INODE PATH. */
static bool has_code(const char *line, size_t length)
{
	const char *rights = memchr(line, ' ', length);

	return rights && rights + 3 < line + length && rights[3] == 'x';
}

static void take_line(struct lines *lines)
{
	bool is_of_file = memchr(lines->line, '/', lines->length) != NULL;
	bool is_wanted = is_of_file || (lines->is_after_file && !memchr(lines->line, '[', lines->length));

	lines->is_after_file = is_of_file;
	for (size_t i = 0; is_of_file && has_code(lines->line, lines->length) && i < lines->length; i++)
		lines->hash = (lines->hash ^ (unsigned char)lines->line[i]) * HASH_FACTOR;
	if (!is_wanted || lines->to < 0)
		return;
	lines->written += lines->length;
	lines->failed |= lines->written > BYTES_MAX ||
			 syscall(SYS_write, lines->to, lines->line, lines->length) != (long)lines->length;
}

static void take_part(struct lines *lines)
{
	for (size_t i = 0; i < lines->got; i++) {
		if (lines->length < LINE_BYTES)
			lines->line[lines->length] = lines->part[i];
		lines->length++;
		if (lines->part[i] != '\n')
			continue;
		if (lines->length <= LINE_BYTES)
			take_line(lines);
		lines->length = 0;
	}
}

/* Copy the lines of this process to a file (-1: to none).  Return false if that failed. */
static bool copy_lines(int to, uint32_t *hash)
{
	struct lines lines = {.to = to, .hash = HASH_FIRST};
	long got = 0;

	lines.from = (int)syscall(SYS_openat, AT_FDCWD, "/proc/self/maps", O_RDONLY | O_CLOEXEC);
	if (lines.from < 0)
		return false;
	while (!lines.failed && (got = syscall(SYS_read, lines.from, lines.part, sizeof(lines.part))) > 0) {
		lines.got = (size_t)got;
		take_part(&lines);
	}
	syscall(SYS_close, lines.from);
	*hash = lines.hash;
	return !lines.failed && got == 0;
}

/* A file beyond the limit would end the program with SIGXFSZ. */
static bool store(const char *name, const char *temporary)
{
	bool is_whole;
	uint32_t hash;
	int fd;

	if (px_shm_is_beyond_limit(BYTES_MAX) || px_shm_open_new(temporary, &fd) != 0)
		return false;
	is_whole = copy_lines(fd, &hash);
	syscall(SYS_close, fd);
	if (is_whole) {
		px_write_once(&stored_hash, hash);
		px_shm_rename(temporary, name);
	} else {
		px_shm_unlink(temporary);
	}
	return is_whole;
}

void px_maps_file_store(uint32_t index, const struct px_registry_slot *slot, uint32_t pid)
{
	char name[PX_SHM_NAME_MAX], temporary[PX_SHM_NAME_MAX];
	int saved_errno = errno;

	if (slot->segment != 0 || px_is_confined())
		return;
	px_registry_maps_name(index, slot->generation, pid, name);
	strcpy(temporary, name);
	strcat(temporary, "~"); /* the prefix is that of the name, so the files are removed together */
	if (!store(name, temporary))
		px_shm_unlink(name); /* it may be that of the program that this process executed before */
	errno = saved_errno;
}

void px_maps_file_inherit(uint32_t index, uint32_t generation, uint32_t parent, uint32_t pid)
{
	char from[PX_SHM_NAME_MAX], to[PX_SHM_NAME_MAX];
	int saved_errno = errno;

	px_registry_maps_name(index, generation, parent, from);
	px_registry_maps_name(index, generation, pid, to);
	px_shm_link(from, to);
	errno = saved_errno;
}

bool px_maps_file_is_old(void)
{
	int saved_errno = errno;
	uint32_t hash;
	bool is_old = px_read_once(&stored_hash) != 0 && !px_is_confined() && copy_lines(-1, &hash) &&
		      hash != px_read_once(&stored_hash);

	errno = saved_errno;
	return is_old;
}

/* List the modules of a process that has ended, and stored its mappings for the stream in this slot. */
static size_t list_stored(uint32_t index, uint32_t pid, char *text, size_t size)
{
	char name[PX_SHM_NAME_MAX];
	struct px_registry_slot slot;
	size_t length;
	int fd;

	if (!px_registry_read(index, &slot))
		return 0;
	px_registry_maps_name(index, slot.generation, pid, name);
	if (px_shm_open(name, &fd) != 0)
		return 0;
	length = px_shm_is_private(fd) ? px_modules_list_of_maps(fd, text, size) : 0;
	syscall(SYS_close, fd);
	return length;
}

size_t px_maps_file_list(uint32_t pid, char *text, size_t size)
{
	int saved_errno = errno;
	size_t length = px_modules_remote_list(pid, text, size);

	for (uint32_t i = 0; i < PX_STREAMS_MAX && length == 0 && px_registry_get(); i++)
		length = list_stored(i, pid, text, size);
	errno = saved_errno;
	return length;
}
