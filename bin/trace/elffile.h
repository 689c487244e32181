/* SPDX-License-Identifier: MIT */
/* Facts about an ELF file, read with libelf: its kind, its loader, its libraries and its symbols. */
#ifndef TXTRACE_TRACE_ELFFILE_H
#define TXTRACE_TRACE_ELFFILE_H

#include <libelf.h>
#include <stdbool.h>
#include <stddef.h>

struct elffile {
	Elf *elf; /* NULL if the file is not open */
	int fd;
	unsigned char elf_class, order;
	unsigned int machine;
	bool is_program;	 /* false for a relocatable file or a core file */
	const char *interpreter; /* path of the loader, or NULL if the file is static */

	/*
	 * elffile_next_needed() and elffile_next_symbol() read these.  A member is NULL if the file does not have it.
	 */
	Elf_Data *dynamic, *dynamic_names, *symbols;
	size_t symbol_names; /* index of the section with the names of the symbols */
};

struct elffile_symbol {
	const char *name;
	bool is_defined; /* false if the file imports the symbol from another file */
};

/*
 * Open a file.  Call elffile_close() to close it.  After a failure, set errno and return false. errno is ENOEXEC if the
 * file is not an ELF file.
 */
bool elffile_open(struct elffile *file, const char *path);
void elffile_close(struct elffile *file);

/*
 * Return the next library that the file needs, or NULL after the last.  The search starts at dynamic entry *i.  *i
 * becomes the number of the entry after the library.
 */
const char *elffile_next_needed(const struct elffile *file, size_t *i);

/*
 * Find the next dynamic symbol that has a name.  The search starts at symbol *i, and *i becomes the number of the
 * symbol after it.  Return false after the last symbol.
 */
bool elffile_next_symbol(const struct elffile *file, size_t *i, struct elffile_symbol *symbol);

/* Return the contents of the section with this name, or NULL. */
const void *elffile_section(const struct elffile *file, const char *name, size_t *size);

/* Write the build id in hex digits, or "-" if the file has none or if it is too long. */
void elffile_build_id(const struct elffile *file, char *hex, size_t size);

/* Return a text such as "64-bit x86-64".  The text is valid for three more calls. */
const char *elffile_kind(const struct elffile *file);

#endif
