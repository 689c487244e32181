/* SPDX-License-Identifier: MIT */
/* What the tool needs to know of an ELF file, through libelf: its kind, its loader, its libraries and its symbols. */
#ifndef TXTRACE_TRACE_ELFFILE_H
#define TXTRACE_TRACE_ELFFILE_H

#include <libelf.h>
#include <stdbool.h>
#include <stddef.h>

struct elffile {
	Elf *elf; /* NULL: the file is not open */
	int fd;
	unsigned char elf_class, order;
	unsigned int machine;
	bool is_program;	 /* an executable or a library, not a relocatable file or a core */
	bool is_fixed;		 /* loaded at the addresses in the file */
	const char *interpreter; /* path of the loader; NULL: the file is static */

	/* What elffile_next_needed() and elffile_next_symbol() read; NULL: the file has none. */
	Elf_Data *dynamic, *dynamic_names, *symbols;
	size_t symbol_names; /* section with the names of the symbols */
};

struct elffile_symbol {
	const char *name;
	bool is_defined; /* false: imported from another file */
};

/*
 * Open a file.  If this fails, return false and set errno: ENOEXEC if the file is not ELF.  Close with elffile_close().
 */
bool elffile_open(struct elffile *file, const char *path);
void elffile_close(struct elffile *file);

/*
 * Return the next library that the file needs, or NULL after the last.  The search starts at dynamic entry *i, and *i
 * becomes the entry after the library.
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

/* Return "64-bit x86-64", ...  The text is valid for three more calls. */
const char *elffile_kind(const struct elffile *file);

#endif
