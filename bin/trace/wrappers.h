/* SPDX-License-Identifier: MIT */
/*
 * Find out which calls of a program the preloaded object would record.  It records the functions of its table that the
 * program and its libraries import.  It does not record calls within a library, and it does not record calls that the C
 * library makes.
 */
#ifndef TXTRACE_TRACE_WRAPPERS_H
#define TXTRACE_TRACE_WRAPPERS_H

#include <stdbool.h>
#include <stddef.h>

struct imports {
	char **file; /* names of files, without directories */
	size_t nr_files, room;
	bool *takes;	    /* for each file and wrapper: true if the file imports the function */
	bool *defines;	    /* for each wrapper: true if the program defines a function with this name */
	char *calls_system; /* name of a file that imports syscall(), perhaps for its own locks, or NULL */
	const char *language; /* "Go" or "Rust" for a program in a language with its own locks; otherwise NULL */
	bool opens_libraries; /* the program calls dlopen() */
};

struct wrapper {
	const char *symbol, *call, *group;
	bool is_usual; /* record traces its group by default */
	bool is_lock;  /* the function locks, or waits for a condition, in pthreads or C11 */
};

extern const size_t nr_wrappers;
struct wrapper wrapper_get(size_t i);
bool wrapper_is_lock(const char *symbol);

/* Add the imports of a file.  The first file is the program.  Files of the C library and of posixtrace are ignored. */
void imports_add(struct imports *imports, const char *path);
bool imports_has(const struct imports *imports, size_t file, size_t wrapper);
bool imports_has_any(const struct imports *imports, size_t wrapper);
void imports_free(struct imports *imports);

#endif
