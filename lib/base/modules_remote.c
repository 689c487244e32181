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
	Elf32_Nhdr note; /* that of 64 bits is the same */

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

/* The headers of a file, of either word size. */
struct headers {
	bool is_64;
	uint64_t segments_at;
	unsigned int nr_segments;
};

struct segment {
	uint32_t type;
	uint64_t offset, address, size;
};

static bool read_header(int fd, struct headers *headers)
{
	const unsigned char order = __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__ ? ELFDATA2MSB : ELFDATA2LSB;
	union {
		unsigned char ident[EI_NIDENT];
		Elf32_Ehdr of_32;
		Elf64_Ehdr of_64;
	} file;
	ssize_t got = pread(fd, &file, sizeof(file), 0);

	if (got < (ssize_t)sizeof(file.of_32) || memcmp(file.ident, ELFMAG, SELFMAG) != 0 ||
	    file.ident[EI_DATA] != order)
		return false;
	headers->is_64 = file.ident[EI_CLASS] == ELFCLASS64;
	if (headers->is_64) {
		headers->segments_at = file.of_64.e_phoff;
		headers->nr_segments = file.of_64.e_phnum;
		return got == sizeof(file.of_64) && file.of_64.e_phentsize == sizeof(Elf64_Phdr);
	}
	headers->segments_at = file.of_32.e_phoff;
	headers->nr_segments = file.of_32.e_phnum;
	return file.ident[EI_CLASS] == ELFCLASS32 && file.of_32.e_phentsize == sizeof(Elf32_Phdr);
}

static bool read_segment(int fd, const struct headers *headers, unsigned int i, struct segment *segment)
{
	union {
		Elf32_Phdr of_32;
		Elf64_Phdr of_64;
	} file;
	size_t size = headers->is_64 ? sizeof(file.of_64) : sizeof(file.of_32);

	if (pread(fd, &file, size, (off_t)(headers->segments_at + i * size)) != (ssize_t)size)
		return false;
	if (headers->is_64)
		*segment = (struct segment){file.of_64.p_type, file.of_64.p_offset, file.of_64.p_vaddr,
					    file.of_64.p_filesz};
	else
		*segment = (struct segment){file.of_32.p_type, file.of_32.p_offset, file.of_32.p_vaddr,
					    file.of_32.p_filesz};
	return true;
}

/*
 * Read the base address and the build id.  Return false if the file is not an ELF file of this byte order.  Its word
 * size may be another one than that of this process.
 */
static bool read_headers(int fd, uint64_t begin, uint64_t *base, char *hex)
{
	unsigned char notes[NOTE_BYTES];
	bool has_id = false, has_base = false;
	struct headers headers;
	struct segment segment;
	struct stat status;

	if (fstat(fd, &status) != 0 || !S_ISREG(status.st_mode) || !read_header(fd, &headers))
		return false;
	for (unsigned int i = 0; i < headers.nr_segments && i < SEGMENTS_MAX; i++) {
		ssize_t got;

		if (!read_segment(fd, &headers, i, &segment))
			return false;
		if (segment.type == PT_LOAD && !has_base)
			*base = begin - (segment.address - segment.offset);
		has_base |= segment.type == PT_LOAD;
		if (segment.type != PT_NOTE || has_id)
			continue;
		got = pread(fd, notes, segment.size < sizeof(notes) ? segment.size : sizeof(notes),
			    (off_t)segment.offset);
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
