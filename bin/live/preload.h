/* SPDX-License-Identifier: MIT */
/*
 * Programs that do not know of posixtrace: the object that the dynamic loader puts ahead of their libraries, whether
 * it can, and what they find in their environment.
 */
#ifndef TXTRACE_LIVE_PRELOAD_H
#define TXTRACE_LIVE_PRELOAD_H

#include <limits.h>
#include <stdbool.h>

#include "trace/elffile.h"

#define PRELOAD_OBJECT "libtxtrace-preload.so"

/* What the user wants of it; NULL: nothing was said. */
struct preload_options {
	const char *events;   /* groups of calls */
	const char *children; /* no, yes, or match=REGEX */
};

struct preload_program {
	char file[PATH_MAX];	      /* the command; "": there is none of this name */
	char program[PATH_MAX];	      /* what will run: of a script its interpreter, */
	bool is_by_env;		      /* which env(1) becomes, as its first line says */
	struct elf_file elf;	      /* of that */
	char sanitizer[64];	      /* a library that has to come first, or "" */
	char why_not[PATH_MAX + 256]; /* why the object cannot be put into it; "": it can */
};

/* Where the object is.  False: nowhere, and what that means is in why_not. */
bool preload_find(char object[PATH_MAX], char *why_not, size_t size);

/* Look at a command as execvp() finds it. */
void preload_inspect(struct preload_program *program, const char *command, const char *object);
void preload_end(struct preload_program *program);

/*
 * env(1) hands on what it was preloaded with only if children are to be preloaded: for children, in bytes of memory that
 * stay, what lets that one program pass.  NULL: there is no memory.
 */
const char *preload_match(const struct preload_program *program);

/* Whether these words are such as the object knows.  False: that was said. */
bool preload_check(const struct preload_options *order);

/* Between fork and exec: what the environment has to be.  False: there is no memory. */
bool preload_enter(const struct preload_options *order, const struct preload_program *program,
		   const char *object);

#endif
