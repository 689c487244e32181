/* SPDX-License-Identifier: MIT */
/*
 * What a file in ELF says of itself: what loads it, what it needs, which functions it calls.
 *
 * Of files of another class or byte order than the tool's own only these two and the machine are told.  Nothing in
 * the file is believed that does not lie in it.
 */
#ifndef TXTRACE_TRACE_ELFFILE_H
#define TXTRACE_TRACE_ELFFILE_H

#include <stdbool.h>
#include <stddef.h>

struct elf_file {
	const unsigned char *bytes; /* all of it */
	size_t size;
	unsigned char elf_class, order;
	unsigned int machine;
	bool is_native;		 /* of the tool's own class and byte order: what follows is told */
	bool is_program;	 /* rather than a relocatable, or a core */
	bool is_fixed;		 /* its addresses are those in the file */
	const char *interpreter; /* NULL: nothing loads it, it is static */
};

struct elf_symbol {
	const char *name;
	bool is_defined; /* here; else it is looked for in other files */
};

/* False: it cannot be read, as errno says, or is no ELF: ENOEXEC. */
bool elf_open(struct elf_file *file, const char *path);
void elf_close(struct elf_file *file);

/* The i-th library that it asks for; NULL behind the last. */
const char *elf_needed(const struct elf_file *file, size_t i);

/* Its functions and data that other files see, and those it takes from others, from the i-th on.  False behind the last. */
bool elf_next_symbol(const struct elf_file *file, size_t *i, struct elf_symbol *symbol);

/* The contents of a section; NULL: there is none of this name. */
const unsigned char *elf_section(const struct elf_file *file, const char *name, size_t *size);

/* In hex digits; "-": it has none, or one that is too long. */
void elf_build_id(const struct elf_file *file, char *hex, size_t size);

/* "64-bit x86-64", ... */
const char *elf_kind(const struct elf_file *file);

#endif
