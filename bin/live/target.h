/* SPDX-License-Identifier: MIT */
/* A process as one to be traced: what it runs, and whether posixtrace is in it.  From /proc. */
#ifndef TXTRACE_LIVE_TARGET_H
#define TXTRACE_LIVE_TARGET_H

#include <limits.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

struct target {
	pid_t pid;
	uid_t uid;		 /* effective */
	char name[NAME_MAX + 1]; /* what it calls itself */
	char program[PATH_MAX];	 /* the file that it runs, or "" */
	bool has_library;
	bool has_registry;	 /* of streams: the library has begun, not just been loaded */
	bool has_other_registry; /* the library is in it, and looks for its streams elsewhere */
	bool is_static;		 /* no shared library can be in it */
	bool is_secure;		 /* it got rights from its file, */
	bool is_hidden;		 /* or does not let us see */
};

/* Look at it.  False: it is gone, and what was seen before stays. */
bool target_inspect(struct target *target, pid_t pid);

/*
 * What a command will be, from its file, as execvp() finds it: for one that is gone before it can be looked at.  The
 * interpreter of a script is not looked for.
 */
void target_expect(struct target *target, const char *command);

/* The file of a command, as execvp() finds it.  False: there is none. */
bool target_find_command(const char *command, char path[PATH_MAX]);

/* Where a process of this user has its streams, if it has the environment that we have; valid until the next call. */
const char *target_registry(uid_t uid);

/* True if it maps a file of this name. */
bool target_has_object(pid_t pid, const char *object);

/* True if who runs the file gets rights from it; those that the caller has already are none. */
bool target_gives_rights(const char *path);

/* True if it maps the shared memory of a stream, other than those that it controls. */
bool target_has_stream(pid_t pid);

/* True if it would find a stream that is made for it. */
bool target_is_traceable(const struct target *target);

/* Say that it is not, and that it is waited for to become another program. */
void target_explain_waiting(const struct target *target);

/* Say why nothing was recorded of it.  inherits: children are traced too. */
void target_explain(const struct target *target, bool inherits);

#endif
