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

#define HEADER_BYTES (2 * PX_DECIMAL_DIGITS + 2)
#define HANDLE_SHIFT 8	   /* the bits of a handle above its serial number are the type */
#define PROGRAMS_MAX 10000 /* the programs of a process that are looked at, because their number is not checked */

/* The first line of a file: two numbers, and blanks up to its length. */
struct header {
	uint32_t first, previous;
};

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
	if (to >= 0 && (lines->written > BYTES_MAX || px_shm_is_beyond_limit(lines->written + HEADER_BYTES) ||
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

static bool write_header(int fd, const struct header *header)
{
	char line[HEADER_BYTES], *end = px_decimal_put(line, header->first);

	*end++ = ' ';
	end = px_decimal_put(end, header->previous);
	memset(end, ' ', (size_t)(line + sizeof(line) - end));
	line[sizeof(line) - 1] = '\n';
	return syscall(SYS_write, fd, line, sizeof(line)) == (long)sizeof(line);
}

/* Read the header, and leave the offset of the file behind it. */
static bool read_header(int fd, struct header *header)
{
	char line[HEADER_BYTES];
	const char *blank;

	if (syscall(SYS_read, fd, line, sizeof(line)) != (long)sizeof(line) || line[sizeof(line) - 1] != '\n')
		return false;
	line[sizeof(line) - 1] = '\0';
	blank = strchr(line, ' ');
	if (!blank)
		return false;
	*header = (struct header){(uint32_t)px_decimal_get(line), (uint32_t)px_decimal_get(blank + 1)};
	return true;
}

static bool is_small(int fd)
{
	struct stat status;

	return fstat(fd, &status) == 0 && status.st_size <= BYTES_MAX + HEADER_BYTES;
}

static bool is_older(uint32_t thread, uint32_t first)
{
	return thread != 0 && (int32_t)((thread - first) << HANDLE_SHIFT) < 0;
}

/*
 * Open the file of a program (first: as px_registry_maps_name()), if it belongs to our user.  Return its descriptor, or
 * -1.
 */
static int open_stored(uint32_t index, uint32_t generation, uint32_t pid, uint32_t first, struct header *header)
{
	char name[PX_SHM_NAME_MAX];
	int fd;

	px_registry_maps_name(index, generation, pid, first, name);
	if (px_shm_open(name, &fd) != 0)
		return -1;
	if (px_shm_is_private(fd, geteuid()) && is_small(fd) && read_header(fd, header))
		return fd;
	syscall(SYS_close, fd);
	return -1;
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

/*
 * The file of this process may be that of the program before this one, or that of another process which had this pid.
 * Give it that program's name too, so that it is always found, and store in *header that it is the program before.
 * Return true if it is a file of this program, with the first handle of whichever copy of this library came last.
 */
static bool put_aside(uint32_t index, uint32_t generation, uint32_t pid, struct header *header)
{
	char name[PX_SHM_NAME_MAX], former[PX_SHM_NAME_MAX];
	struct header stored;
	int fd = open_stored(index, generation, pid, 0, &stored);

	if (fd < 0)
		return false;
	syscall(SYS_close, fd);
	if (stored.first == header->first || is_older(header->first, stored.first)) {
		*header = stored;
		return true;
	}
	header->previous = stored.first;
	px_registry_maps_name(index, generation, pid, 0, name);
	px_registry_maps_name(index, generation, pid, stored.first, former);
	px_shm_link(name, former);
	remove_without_segment(index, generation, former);
	PX_TESTPOINT("maps_file.store.aside");
	return false;
}

/* A file beyond the limit would end the program with SIGXFSZ. */
static bool store(const char *name, const char *temporary, const struct header *header, bool has_lines)
{
	bool is_whole;
	uint32_t hash = 0;
	int fd;

	if (px_shm_is_beyond_limit(HEADER_BYTES) || px_shm_open_new(temporary, &fd) != 0)
		return false;
	is_whole = write_header(fd, header) && (!has_lines || copy_lines(fd, &hash));
	syscall(SYS_close, fd);
	if (is_whole) {
		px_write_once(&stored_hash, hash);
		px_shm_rename(temporary, name);
	} else {
		px_shm_unlink(temporary);
	}
	return is_whole;
}

void px_maps_file_store(uint32_t index, const struct px_registry_slot *slot, uint32_t pid, uint32_t first)
{
	char name[PX_SHM_NAME_MAX], temporary[PX_SHM_NAME_MAX];
	struct header header = {.first = first};
	int saved_errno = errno;
	bool is_ours;

	if (slot->segment != 0 || px_is_confined())
		return;
	/* The prefix is that of the name, so the files are removed together. */
	px_registry_maps_name(index, slot->generation, pid, 0, name);
	px_registry_maps_name(index, slot->generation, pid, first, temporary);
	strcat(temporary, "~");
	is_ours = put_aside(index, slot->generation, pid, &header);
	/* Without its lines, the file still says that the threads from now on do not belong to the program before. */
	if (!store(name, temporary, &header, true) && !is_ours && !store(name, temporary, &header, false))
		px_shm_unlink(name);
	remove_without_segment(index, slot->generation, name);
	errno = saved_errno;
}

/* Return true if both processes have files of one program. */
static bool have_one_program(uint32_t index, uint32_t generation, uint32_t pid, uint32_t other)
{
	struct header header, of_other;
	int fd = open_stored(index, generation, pid, 0, &header);
	int other_fd = open_stored(index, generation, other, 0, &of_other);

	if (fd >= 0)
		syscall(SYS_close, fd);
	if (other_fd >= 0)
		syscall(SYS_close, other_fd);
	return fd >= 0 && other_fd >= 0 && header.first == of_other.first;
}

bool px_maps_file_inherit(uint32_t index, uint32_t generation, uint32_t parent, uint32_t pid)
{
	char from[PX_SHM_NAME_MAX], to[PX_SHM_NAME_MAX];
	int saved_errno = errno;
	bool is_stored;

	px_registry_maps_name(index, generation, parent, 0, from);
	px_registry_maps_name(index, generation, pid, 0, to);
	/* If there is a file already, another copy of this library may have made it. */
	is_stored = px_shm_link(from, to) != EEXIST || have_one_program(index, generation, parent, pid);
	remove_without_segment(index, generation, to);
	errno = saved_errno;
	return is_stored;
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
	struct px_registry_slot slot;
	struct header header;
	size_t length;
	int fd;

	if (!px_registry_read(index, &slot))
		return 0;
	fd = open_stored(index, slot.generation, pid, 0, &header);
	if (fd < 0)
		return 0;
	length = px_modules_list_of_maps(fd, text, size);
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

/* Open the file of the program of this thread that the process stored for one stream.  Return its descriptor, or -1. */
static int open_of_thread(uint32_t index, uint32_t pid, uint32_t thread, struct header *header)
{
	struct px_registry_slot slot;
	int fd = px_registry_read(index, &slot) ? open_stored(index, slot.generation, pid, 0, header) : -1;

	for (int i = 0; i < PROGRAMS_MAX && fd >= 0 && is_older(thread, header->first); i++) {
		bool has_previous = header->previous != 0 && is_older(header->previous, header->first);

		syscall(SYS_close, fd);
		fd = has_previous ? open_stored(index, slot.generation, pid, header->previous, header) : -1;
	}
	if (fd >= 0 && is_older(thread, header->first)) {
		syscall(SYS_close, fd);
		fd = -1;
	}
	return fd;
}

static void swap_fd(int *a, int *b)
{
	int fd = *a;

	*a = *b;
	*b = fd;
}

uint32_t px_maps_file_list_of(uint32_t pid, uint32_t thread, char *text, size_t size, size_t *length)
{
	int saved_errno = errno, newest = -1;
	struct header header, found = {0};

	/* A stream may have traced only an earlier program. */
	for (uint32_t i = 0; i < PX_STREAMS_MAX && px_registry_get(); i++) {
		int fd = open_of_thread(i, pid, thread, &header);

		if (fd >= 0 && (newest < 0 || is_older(found.first, header.first))) {
			swap_fd(&newest, &fd);
			found = header;
		}
		if (fd >= 0)
			syscall(SYS_close, fd);
	}
	if (newest >= 0 && text)
		*length = px_modules_list_of_maps(newest, text, size);
	if (newest >= 0)
		syscall(SYS_close, newest);
	errno = saved_errno;
	return found.first;
}
