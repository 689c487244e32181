/* SPDX-License-Identifier: MIT */
/*
 * Which calls of a program the object to preload would see: those functions of its table that the program and its
 * libraries take from others.  What a library calls of itself is not seen, and the C library's own calls are not.
 */
#ifndef TXTRACE_TRACE_WRAPPERS_H
#define TXTRACE_TRACE_WRAPPERS_H

#include <stdbool.h>
#include <stddef.h>

struct imports {
	char **file; /* looked at, by their names without directories */
	size_t nr_files, room;
	bool *takes;	    /* for each file, for each wrapper */
	bool *defines;	    /* for each wrapper: the program has a function of this name itself */
	char *calls_system; /* a file that takes syscall(), as for locks of its own; NULL: none does */
	const char *language; /* of the program, if its locks are its own: "Go", "Rust"; or NULL */
	bool opens_libraries; /* while it runs */
};

/* What a wrapper is. */
struct wrapper {
	const char *symbol, *call, *group;
	bool is_usual; /* its group is on unless it is turned off */
	bool is_lock;  /* a lock of pthreads or of C11, or a wait for a condition */
};

extern const size_t nr_wrappers;
struct wrapper wrapper_get(size_t i);
bool wrapper_is_lock(const char *symbol);

/* The first file is the program.  Those of the C library, and of posixtrace, are passed over. */
void imports_add(struct imports *imports, const char *path);
bool imports_has(const struct imports *imports, size_t file, size_t wrapper);
bool imports_has_any(const struct imports *imports, size_t wrapper);
void imports_free(struct imports *imports);

#endif
