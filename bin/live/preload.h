/* SPDX-License-Identifier: MIT */
/*
 * Programs that do not use posixtrace: find the preloaded object, check whether the dynamic loader can load it into a
 * program, and set the environment of the program.
 */
#ifndef TXTRACE_LIVE_PRELOAD_H
#define TXTRACE_LIVE_PRELOAD_H

#include <limits.h>
#include <stdbool.h>

#include "trace/elffile.h"

#define PRELOAD_OBJECT "libtxtrace-preload.so"

/* Options of the user; NULL: not given. */
struct preload_options {
	const char *events;   /* value of --events: groups of calls */
	const char *children; /* value of --children: no, yes, or match=REGEX */
};

struct preload_program {
	char file[PATH_MAX];	/* the file of the command; "": not found */
	char program[PATH_MAX]; /* the file that is executed: the interpreter of a script, */
	bool is_by_env;		/* or the program after env(1) in its first line */
	struct elffile elf; 	/* the contents of `program` */
	char sanitizer[64];	/* a library that must be preloaded before the object, or "" */
	char why_not[PATH_MAX + 256]; /* why the object cannot be preloaded; "": it can */
};

/* Find the object. Return false, with the reason in why_not, if it is missing. */
bool preload_find(char object[PATH_MAX], char *why_not, size_t size);

/* Inspect the program that execvp() would execute. */
void preload_inspect(struct preload_program *program, const char *command, const char *object);
void preload_end(struct preload_program *program);

/*
 * env(1) passes the preloaded object on only if the object is also for children. Make the value of --children that
 * allows only this program. The caller frees it. Return NULL if memory is short.
 */
const char *preload_match(const struct preload_program *program);

/* Check the words of --events and --children. Return false, with a message, if one is unknown. */
bool preload_check(const struct preload_options *order);

/* Set the environment, between fork and exec. Return false if memory is short. */
bool preload_enter(const struct preload_options *order, const struct preload_program *program,
		   const char *object);

#endif
