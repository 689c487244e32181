/* SPDX-License-Identifier: MIT */
/* The symbols and line numbers of files, through libdw; a tool without it knows none. */
#ifndef TXTRACE_TRACE_DEBUGINFO_H
#define TXTRACE_TRACE_DEBUGINFO_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct debuginfo;
struct debuginfo_module;

enum debuginfo_state { DEBUGINFO_NONE, DEBUGINFO_CHANGED, DEBUGINFO_FOUND };

#if HAVE_SYMBOLS
struct debuginfo *debuginfo_new(void);
void debuginfo_free(struct debuginfo *info);

/* A file as it was loaded; build_id in hex digits, or "-".  CHANGED: the file is another one now. */
enum debuginfo_state debuginfo_add(struct debuginfo *info, const char *path, uint64_t base,
				   const char *build_id, struct debuginfo_module **module);

/* The symbol that holds an address, and how far in it that is.  False: there is none. */
bool debuginfo_symbol(struct debuginfo_module *module, uint64_t address, const char **name,
		      uint64_t *offset);

/* The line of an address of code. */
bool debuginfo_line(struct debuginfo_module *module, uint64_t address, const char **file,
		    int *line);
#else
static inline struct debuginfo *debuginfo_new(void)
{
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
