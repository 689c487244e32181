/* SPDX-License-Identifier: MIT */
/*
 * The symbols and line numbers of files, through libdw.  A tool that was built without libdw finds no symbols and no
 * line numbers.
 */
#ifndef TXTRACE_TRACE_DEBUGINFO_H
#define TXTRACE_TRACE_DEBUGINFO_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "trace/dwarf_type.h"

struct debuginfo;
struct debuginfo_module;

enum debuginfo_state { DEBUGINFO_NONE, DEBUGINFO_CHANGED, DEBUGINFO_FOUND };

#if HAVE_SYMBOLS
/*
 * is_local: look for separate files with debugging information only under their build id on this machine, and never ask
 * the servers of DEBUGINFOD_URLS, which may take seconds.
 */
struct debuginfo *debuginfo_new(bool is_local);
void debuginfo_free(struct debuginfo *info);

/*
 * Add the file of a module that was loaded at base.  build_id is the build id of the loaded module in hex digits, or
 * "-".  Return DEBUGINFO_CHANGED if the file now has another build id.
 */
enum debuginfo_state debuginfo_add(struct debuginfo *info, const char *path, uint64_t base,
				   const char *build_id, struct debuginfo_module **module);

/*
 * Find the symbol that contains the address, and the offset of the address in the symbol.  Return false if there is no
 * such symbol.
 */
bool debuginfo_symbol(struct debuginfo_module *module, uint64_t address, const char **name,
		      uint64_t *offset);

/* Find the source file and the line of a code address.  Return false if they are unknown. */
bool debuginfo_line(struct debuginfo_module *module, uint64_t address, const char **file,
		    int *line);

/* A function that the compiler has put into its caller, and the place of the call. */
struct debuginfo_inline {
	const char *name; /* as in the symbol table, or without a scope if there is no such name */
	const char *file; /* NULL: unknown */
	int line;
};

/*
 * Find a type, and describe it (dwarf_type.h).  *has_types: the file, or its separate file, has debugging information.
 */
enum dwarf_type_result debuginfo_type(struct debuginfo_module *module, const char *reference,
				      const struct px_fields_model *model, char *text, const char **why,
				      bool *has_types);

#define DEBUGINFO_INLINES 16

/* Find the inlined functions that contain the address, the innermost first.  Return their number. */
unsigned int debuginfo_inlines(struct debuginfo_module *module, uint64_t address,
			       struct debuginfo_inline inlines[DEBUGINFO_INLINES]);
#else
struct debuginfo_inline {
	const char *name, *file;
	int line;
};

#define DEBUGINFO_INLINES 1

static inline enum dwarf_type_result debuginfo_type(struct debuginfo_module *module, const char *reference,
						    const struct px_fields_model *model, char *text,
						    const char **why, bool *has_types)
{
	(void)module, (void)reference, (void)model, (void)text, (void)why;
	*has_types = false;
	return DWARF_TYPE_ABSENT;
}

static inline unsigned int debuginfo_inlines(struct debuginfo_module *module, uint64_t address,
					     struct debuginfo_inline *inlines)
{
	(void)module, (void)address, (void)inlines;
	return 0;
}

static inline struct debuginfo *debuginfo_new(bool is_local)
{
	(void)is_local;
	return NULL;
}

static inline void debuginfo_free(struct debuginfo *info)
{
	(void)info;
}

static inline enum debuginfo_state debuginfo_add(struct debuginfo *info, const char *path,
						 uint64_t base, const char *build_id,
						 struct debuginfo_module **module)
{
	(void)info, (void)path, (void)base, (void)build_id, (void)module;
	return DEBUGINFO_NONE;
}

static inline bool debuginfo_symbol(struct debuginfo_module *module, uint64_t address,
				    const char **name, uint64_t *offset)
{
	(void)module, (void)address, (void)name, (void)offset;
	return false;
}

static inline bool debuginfo_line(struct debuginfo_module *module, uint64_t address,
				  const char **file, int *line)
{
	(void)module, (void)address, (void)file, (void)line;
	return false;
}
#endif

#endif
