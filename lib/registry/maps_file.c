/* SPDX-License-Identifier: MIT */
#include "registry/maps_file.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/confined.h"
#include "base/decimal.h"
#include "base/modules_remote.h"
#include "base/shm.h"

#define BUFFER_BYTES 65536 /* the lines of most programs */
#define LINE_BYTES 1024	   /* the kernel may write longer lines.  They are left out */
#define BYTES_MAX 1000000
#define HASH_FIRST UINT32_C(2166136261)
#define HASH_FACTOR UINT32_C(16777619)

/* The lines with code at the last look.  A child of fork has the mappings of its parent, and its copy of this. */
static uint32_t stored_hash;

/* The buffer has lines to write, then lines that were taken, then bytes that are no whole line yet. */
struct lines {
	char *buffer;
	size_t kept, taken, end;
	uint32_t hash;
	bool is_after_file; /* the last line belongs to a file, so a line without a name is its data that is zero */
	size_t written;
};

/* A line is BEGIN-END RIGHTS OFFSET DEVICE INODE PATH. */
static bool has_code(const char *line, size_t length)
{
	const char *rights = memchr(line, ' ', length);

	return rights && rights + 3 < line + length && rights[3] == 'x';
}

static bool is_wanted(struct lines *lines, const char *line, size_t length)
{
	bool is_of_file = memchr(line, '/', length) != NULL;
	bool is_after_file = lines->is_after_file;

	lines->is_after_file = is_of_file;
	for (size_t i = 0; is_of_file && has_code(line, length) && i < length; i++)
		lines->hash = (lines->hash ^ (unsigned char)line[i]) * HASH_FACTOR;
	return is_of_file || (is_after_file && !memchr(line, '[', length));
}

static void take_lines(struct lines *lines)
{
	const char *end;

	while ((end = memchr(lines->buffer + lines->taken, '\n', lines->end - lines->taken))) {
		const char *line = lines->buffer + lines->taken;
		size_t length = (size_t)(end + 1 - line);

		if (length <= LINE_BYTES && is_wanted(lines, line, length)) {
			memmove(lines->buffer + lines->kept, line, length);
			lines->kept += length;
		}
		lines->taken += length;
	}
}

/* Write the lines to the file, unless `to` is -1, and make room in the buffer.  Return false if that failed. */
static bool write_kept(struct lines *lines, int to)
{
	lines->written += lines->kept;
	if (to >= 0 && (lines->written > BYTES_MAX ||
			syscall(SYS_write, to, lines->buffer, lines->kept) != (long)lines->kept))
		return false;
	lines->end -= lines->taken;
	memmove(lines->buffer, lines->buffer + lines->taken, lines->end);
	lines->kept = lines->taken = 0;
	return lines->end < BUFFER_BYTES;
}

static bool copy_from(int from, int to, struct lines *lines)
{
	long got;

	while ((got = syscall(SYS_read, from, lines->buffer + lines->end, BUFFER_BYTES - lines->end)) > 0) {
		lines->end += (size_t)got;
		take_lines(lines);
		if (lines->end == BUFFER_BYTES && !write_kept(lines, to))
			return false;
	}
	return got == 0 && write_kept(lines, to);
}

/*
 * Copy the lines of this process to a file (-1: to none).  Return false if that failed.  The buffer is not on the
 * stack: a signal handler may run this on a small one.
 */
static bool copy_lines(int to, uint32_t *hash)
{
	struct lines lines = {.hash = HASH_FIRST};
	bool is_done = false;
	int from;

	lines.buffer = mmap(NULL, BUFFER_BYTES, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (lines.buffer == MAP_FAILED)
		return false;
	from = (int)syscall(SYS_openat, AT_FDCWD, "/proc/self/maps", O_RDONLY | O_CLOEXEC);
	if (from >= 0) {
		is_done = copy_from(from, to, &lines);
		syscall(SYS_close, from);
	}
	munmap(lines.buffer, BUFFER_BYTES);
	*hash = lines.hash;
	return is_done;
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

/*
 * A controller removes the segment, and then the files with mappings that it finds.  If it did so before this process
 * stored its file, nobody else removes it.
 */
static void remove_without_segment(uint32_t index, uint32_t generation, const char *name)
{
	char segment[PX_SHM_NAME_MAX];
	int error, fd;

	px_registry_segment_name(index, generation, segment);
	error = px_shm_open(segment, &fd);
	if (!error)
		syscall(SYS_close, fd);
	else if (error == ENOENT)
		px_shm_unlink(name);
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
	remove_without_segment(index, slot->generation, name);
	errno = saved_errno;
}

void px_maps_file_inherit(uint32_t index, uint32_t generation, uint32_t parent, uint32_t pid)
{
	char from[PX_SHM_NAME_MAX], to[PX_SHM_NAME_MAX];
	int saved_errno = errno;

	px_registry_maps_name(index, generation, parent, from);
	px_registry_maps_name(index, generation, pid, to);
	px_shm_link(from, to);
	remove_without_segment(index, generation, to);
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
