/* SPDX-License-Identifier: MIT */
/*
 * /proc/<pid>/maps lists a loaded file as several consecutive mappings, and the first mapping holds
 * the beginning of the file.  A mapping without a name may follow, for data that is zero.  To
 * compute the base address, this module reads the program headers from the file.  If the file was
 * replaced after the process mapped it, the line has the build id of the new file.
 *
 * The paths come from another process.  A path may no longer exist, or it may now belong to
 * something that is not a regular file.
 *
 * Open only files that the process maps privately and partly as code, for two reasons.  First,
 * opening a device may have a side effect.  Second, when a process closes a file, it loses all its
 * record locks on that file, even locks that it set through another descriptor.  One of our threads
 * may hold such a lock on the registry, which every traced process maps as shared memory.
 */
#include "base/modules_remote.h"

#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <limits.h>
#include <link.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define LINE_BYTES (PATH_MAX + 256)
#define NOTE_BYTES 1024
#define BUILD_ID_BYTES_MAX 32
#define SEGMENTS_MAX 64

struct module {
	uint64_t begin, end;
	bool has_code, is_shared;
	char path[LINE_BYTES]; /* "": none */
};

struct list {
	int fd; /* descriptor of a file like /proc/<pid>/maps */
	size_t got, used;
	char bytes[4096];
	char line[LINE_BYTES], entry[LINE_BYTES + 4 * 16 + 2 * BUILD_ID_BYTES_MAX];
	struct module module; /* the file to which the last lines belong */
	char *text;
	size_t size, length;
};

/* Read the next line.  Return false after the last line. */
static bool next_line(struct list *list)
{
	size_t length = 0;

	for (;;) {
		if (list->used == list->got) {
			ssize_t got = read(list->fd, list->bytes, sizeof(list->bytes));

			list->used = 0;
			list->got = got > 0 ? (size_t)got : 0;
		}
		if (list->got == 0 || list->bytes[list->used] == '\n')
			break;
		if (length + 1 < sizeof(list->line))
			list->line[length++] = list->bytes[list->used];
		list->used++;
	}
	list->line[length] = '\0';
	if (list->got > 0)
		list->used++;
	return length > 0;
}

static bool put_build_id(const unsigned char *notes, size_t size, char *hex)
{
	ElfW(Nhdr) note;

	while (size > sizeof(note)) {
		size_t contents, length;

		memcpy(&note, notes, sizeof(note));
		contents = sizeof(note) + ((size_t)note.n_namesz + 3) / 4 * 4;
		length = contents + ((size_t)note.n_descsz + 3) / 4 * 4;
		if (length > size)
			return false;
		if (note.n_type == NT_GNU_BUILD_ID && note.n_namesz == 4 &&
		    memcmp(notes + sizeof(note), "GNU", 4) == 0 && note.n_descsz > 0 &&
		    note.n_descsz <= BUILD_ID_BYTES_MAX) {
			for (uint32_t i = 0; i < note.n_descsz; i++)
				sprintf(hex + (size_t)2 * i, "%02x", notes[contents + i]);
			return true;
		}
		notes += length;
		size -= length;
	}
	return false;
}

/*
 * Read the base address and the build id.  Return false if the file is not an ELF file with the
 * word size of this process.
 */
static bool read_headers(int fd, uint64_t begin, uint64_t *base, char *hex)
{
	unsigned char notes[NOTE_BYTES];
	bool has_id = false, has_base = false;
	struct stat status;
	ElfW(Ehdr) header;
	ElfW(Phdr) segment;

	if (fstat(fd, &status) != 0 || !S_ISREG(status.st_mode) ||
	    pread(fd, &header, sizeof(header), 0) != sizeof(header) ||
	    memcmp(header.e_ident, ELFMAG, SELFMAG) != 0 ||
	    header.e_ident[EI_CLASS] != (sizeof(void *) == 8 ? ELFCLASS64 : ELFCLASS32) ||
	    header.e_phentsize != sizeof(segment))
		return false;
	for (unsigned int i = 0; i < header.e_phnum && i < SEGMENTS_MAX; i++) {
		ssize_t got;

		if (pread(fd, &segment, sizeof(segment),
			  (off_t)(header.e_phoff + i * sizeof(segment))) != sizeof(segment))
			return false;
		if (segment.p_type == PT_LOAD && !has_base)
			*base = begin - (segment.p_vaddr - segment.p_offset);
		has_base |= segment.p_type == PT_LOAD;
		if (segment.p_type != PT_NOTE || has_id)
			continue;
		got = pread(fd, notes,
			    segment.p_filesz < sizeof(notes) ? segment.p_filesz : sizeof(notes),
			    (off_t)segment.p_offset);
		has_id = got > 0 && put_build_id(notes, (size_t)got, hex);
	}
	return has_base;
}

/*
 * Write the line of the current module, if it may be opened and is an ELF file.  Return false if
 * there is no room.
 */
static bool finish(struct list *list)
{
	const struct module *module = &list->module;
	char build_id[2 * BUILD_ID_BYTES_MAX + 1] = "-";
	uint64_t base = 0;
	bool is_program;
	size_t length;
	int fd;

	if (!module->path[0] || !module->has_code || module->is_shared)
		return true;
	fd = open(module->path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
	is_program = fd >= 0 && read_headers(fd, module->begin, &base, build_id);
	if (fd >= 0)
		close(fd);
	if (!is_program)
		return true;
	length = (size_t)snprintf(list->entry, sizeof(list->entry),
				  "%" PRIx64 " %" PRIx64 " %" PRIx64 " %s %s\n", base,
				  module->begin, module->end, build_id, module->path);
	if (length >= sizeof(list->entry) || length > list->size - list->length)
		return false;
	memcpy(list->text + list->length, list->entry, length);
	list->length += length;
	return true;
}

/* Add a line of /proc/<pid>/maps: BEGIN-END RIGHTS OFFSET DEVICE INODE PATH. */
static bool add_line(struct list *list)
{
	struct module *module = &list->module;
	const char *path = strchr(list->line, '/');
	uint64_t begin, end, offset;
	char rights[5];

	if (sscanf(list->line, "%" SCNx64 "-%" SCNx64 " %4s %" SCNx64, &begin, &end, rights,
		   &offset) != 4 ||
	    strlen(rights) != 4)
		return true;
	if (module->path[0] && (path ? strcmp(path, module->path) == 0 :
				       begin == module->end && !strchr(list->line, '['))) {
		module->end = end;
		module->has_code |= rights[2] == 'x';
		module->is_shared |= rights[3] == 's';
		return true;
	}
	if (!finish(list))
		return false;
	module->begin = begin;
	module->end = end;
	module->has_code = rights[2] == 'x';
	module->is_shared = rights[3] == 's';
	snprintf(module->path, sizeof(module->path), "%s", path && offset == 0 ? path : "");
	return true;
}

size_t px_modules_list_of_maps(int maps_fd, char *text, size_t size)
{
	int saved_errno = errno;
	struct list *list = calloc(1, sizeof(*list));
	size_t length = 0;
	bool fits = true;

	if (list) {
		list->text = text;
		list->size = size;
		list->fd = maps_fd;
		while (fits && next_line(list))
			fits = add_line(list);
		if (fits)
			finish(list);
		length = list->length;
		free(list);
	}
	errno = saved_errno;
	return length;
}

size_t px_modules_remote_list(uint32_t pid, char *text, size_t size)
{
	int saved_errno = errno;
	size_t length = 0;
	char path[48];
	int fd;

	snprintf(path, sizeof(path), "/proc/%u/maps", (unsigned int)pid);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd >= 0) {
		length = px_modules_list_of_maps(fd, text, size);
		close(fd);
	}
	errno = saved_errno;
	return length;
}
