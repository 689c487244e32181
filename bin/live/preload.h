/* SPDX-License-Identifier: MIT */
/*
 * Functions for programs that do not use posixtrace. They find the preloaded object, check whether the dynamic loader
 * can load this object into a program, and set the environment of the program.
 */
#ifndef TXTRACE_LIVE_PRELOAD_H
#define TXTRACE_LIVE_PRELOAD_H

#include <limits.h>
#include <stdbool.h>

#include "trace/elffile.h"

#define PRELOAD_OBJECT "libtxtrace-preload.so"

/* Options of the user. A member is NULL if the user did not give the option. */
struct preload_options {
	const char *events;   /* the value of --events, which names groups of calls */
	const char *children; /* the value of --children: no, yes, or match=REGEX */
};

struct preload_program {
	char file[PATH_MAX]; /* the file of the command, or "" if it was not found */
	/*
	 * The file that the kernel executes: the file of the command, the interpreter of a script, or the program that
	 * env(1) executes for the script.
	 */
	char program[PATH_MAX];
	bool is_by_env;		/* env(1) in the first line of the script executes `program` */
	struct elffile elf;	/* the contents of `program` */
	char entry[PATH_MAX];	/* what LD_PRELOAD names: the object for this program, or both, with $LIB */
	char sanitizer[64];	/* the library that must be preloaded before the object, or "" */
	char why_not[PATH_MAX + 256]; /* the reason why the object cannot be preloaded, or "" if it can */
};

/* Find the preloaded object. If the object is missing, store the reason in why_not and return false. */
bool preload_find(char object[PATH_MAX], char *why_not, size_t size);

/* Inspect the program that execvp() would execute. The object is the one of the tool's own word size. */
void preload_inspect(struct preload_program *program, const char *command, const char *object);
void preload_end(struct preload_program *program);

/*
 * env(1) passes the preloaded object to its program only if the object may also be loaded into children. So make a
 * value of --children that allows only this program. The caller frees it. Return NULL if memory is short.
 */
const char *preload_match(const struct preload_program *program);

/* Check the words of --events and --children. If a word is unknown, print a message and return false. */
bool preload_check(const struct preload_options *order);

/* Set the environment of the program. Call this between fork and exec. Return false if memory is short. */
bool preload_enter(const struct preload_options *order, const struct preload_program *program);

#endif
