/* SPDX-License-Identifier: MIT */
#include "base/modules.h"

#include <errno.h>
#include <inttypes.h>
#include <limits.h>
#include <link.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/auxv.h>
#include <unistd.h>

#define BUILD_ID_BYTES_MAX 32
#define LINE_BYTES (PATH_MAX + 4 * 16 + 2 * BUILD_ID_BYTES_MAX)

/*
 * The text so far.  The structure is on the heap, because its line buffers are too large for a
 * small stack.
 */
struct list {
	char *text;
	size_t size, length;
	char line[LINE_BYTES];
	char path[PATH_MAX];
};

/* In an ELF note, the name and the contents are each padded to a multiple of four bytes. */
static size_t padded(size_t size)
{
	return (size + 3) & ~(size_t)3;
}

/* Write the build id from the notes of a segment as hex digits.  Return false if there is none. */
static bool find_build_id(const char *notes, size_t size, char hex[2 * BUILD_ID_BYTES_MAX + 1])
{
	while (size >= sizeof(ElfW(Nhdr))) {
		const ElfW(Nhdr) *note = (const ElfW(Nhdr) *)notes;
		const char *name = notes + sizeof(*note);
		size_t length = sizeof(*note) + padded(note->n_namesz) + padded(note->n_descsz);
		const unsigned char *id = (const unsigned char *)name + padded(note->n_namesz);

		if (length > size)
			return false;
		if (note->n_type == NT_GNU_BUILD_ID && note->n_namesz == 4 &&
		    memcmp(name, "GNU", 4) == 0 && note->n_descsz <= BUILD_ID_BYTES_MAX) {
			for (uint32_t i = 0; i < note->n_descsz; i++)
				sprintf(hex + (size_t)2 * i, "%02x", id[i]);
			return note->n_descsz > 0;
		}
		notes += length;
		size -= length;
	}
	return false;
}

static void find_extent(const struct dl_phdr_info *info, uint64_t *begin, uint64_t *end)
{
	*begin = UINT64_MAX;
	*end = 0;
	for (int i = 0; i < info->dlpi_phnum; i++) {
		const ElfW(Phdr) *segment = &info->dlpi_phdr[i];
		uint64_t address = info->dlpi_addr + segment->p_vaddr;

		if (segment->p_type != PT_LOAD)
			continue;
		if (address < *begin)
			*begin = address;
		if (address + segment->p_memsz > *end)
			*end = address + segment->p_memsz;
	}
}

/* glibc lists the program itself without a name, and musl with the name by which it was called. */
static const char *path_of(const struct dl_phdr_info *info, char path[])
{
	ssize_t length;

	if (info->dlpi_name && *info->dlpi_name &&
	    (uintptr_t)info->dlpi_phdr != (uintptr_t)getauxval(AT_PHDR))
		return info->dlpi_name;
	/* When the first thread has ended, the first one shows nothing.  qemu-user answers it, and not the second. */
	length = readlink("/proc/self/exe", path, PATH_MAX - 1);
	if (length <= 0)
		length = readlink("/proc/thread-self/exe", path, PATH_MAX - 1);
	if (length <= 0)
		return "?";
	path[length] = '\0';
	return path;
}

/* Write the build id of an object, if it has one.  Read only notes inside its loaded segments. */
static void find_note(const struct dl_phdr_info *info, uint64_t begin, uint64_t end,
		      char hex[2 * BUILD_ID_BYTES_MAX + 1])
{
	for (int i = 0; i < info->dlpi_phnum; i++) {
		const ElfW(Phdr) *segment = &info->dlpi_phdr[i];
		uint64_t address = info->dlpi_addr + segment->p_vaddr;

		if (segment->p_type == PT_NOTE && address >= begin &&
		    address + segment->p_memsz <= end &&
		    find_build_id((const char *)(uintptr_t)address, segment->p_memsz, hex))
			return;
	}
}

static int add(struct dl_phdr_info *info, size_t size, void *argument)
{
	char build_id[2 * BUILD_ID_BYTES_MAX + 1] = "-";
	struct list *list = argument;
	uint64_t begin, end;
	size_t length;

	(void)size;
	find_extent(info, &begin, &end);
	find_note(info, begin, end, build_id);
	length = (size_t)snprintf(
		list->line, sizeof(list->line), "%" PRIx64 " %" PRIx64 " %" PRIx64 " %s %s\n",
		(uint64_t)info->dlpi_addr, begin, end, build_id, path_of(info, list->path));
	if (length >= sizeof(list->line) || length > list->size - list->length)
		return 1;
	memcpy(list->text + list->length, list->line, length);
	list->length += length;
	return 0;
}

size_t px_modules_list(char *text, size_t size)
{
	int saved_errno = errno;
	struct list *list = malloc(sizeof(*list));
	size_t length = 0;

	if (list) {
		list->text = text;
		list->size = size;
		list->length = 0;
		dl_iterate_phdr(add, list);
		length = list->length;
		free(list);
	}
	errno = saved_errno;
	return length;
}

struct search {
	uint64_t address;
	char *text;
	size_t size;
	char path[PATH_MAX];
};

static int match_module(struct dl_phdr_info *info, size_t size, void *argument)
{
	struct search *search = argument;
	uint64_t begin, end;
	const char *path, *name;

	(void)size;
	find_extent(info, &begin, &end);
	if (search->address < begin || search->address >= end)
		return 0;
	path = path_of(info, search->path);
	name = strrchr(path, '/');
	snprintf(search->text, search->size, "%.24s+0x%" PRIx64, name ? name + 1 : path,
		 search->address - (uint64_t)info->dlpi_addr);
	return 1;
}

bool px_modules_find(uint64_t address, char *text, size_t size)
{
	struct search search = {.address = address, .text = text, .size = size};
	int saved_errno = errno;
	bool found = dl_iterate_phdr(match_module, &search) != 0;

	errno = saved_errno;
	return found;
}
