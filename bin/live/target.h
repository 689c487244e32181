/* SPDX-License-Identifier: MIT */
/* A process to trace: its program, and whether it uses posixtrace. Facts about a running process come from /proc. */
#ifndef TXTRACE_LIVE_TARGET_H
#define TXTRACE_LIVE_TARGET_H

#include <limits.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

struct target {
	pid_t pid;
	uid_t uid;		 /* effective user id */
	char name[NAME_MAX + 1]; /* its comm name */
	char program[PATH_MAX];	 /* path of its executable, or "" */
	bool has_library;
	bool has_registry;	 /* the library is not only mapped, but has started */
	bool has_other_registry; /* it uses the library with another registry */
	bool is_static;		 /* it is linked statically, so it has no shared library */
	bool is_secure;		 /* it has rights from its file, */
	bool is_hidden;		 /* or does not allow us to read its memory */
};

/* Read the state of the process. If the process has ended, return false and keep the earlier values. */
bool target_inspect(struct target *target, pid_t pid);

/*
 * Find the file of a command as execvp() does, and fill in what this file shows. Call this for a process that may end
 * before target_inspect() can read its state. If the file is a script, ignore its interpreter.
 */
void target_expect(struct target *target, const char *command);

/* Find the file of a command as execvp() does. Return false if there is none. */
bool target_find_command(const char *command, char path[PATH_MAX]);

/* Return the registry of a process of this user with our environment. The result is valid until the next call. */
const char *target_registry(uid_t uid);

/* Return true if the process maps a file of this name. */
bool target_has_object(pid_t pid, const char *object);

/* Return true if a process that executes the file gets rights that the caller does not have. */
bool target_gives_rights(const char *path);

/* Return true if the process maps the segment of a stream that it does not control. */
bool target_has_stream(pid_t pid);

/* Return true if the process would find a stream that is created for it. */
bool target_is_traceable(const struct target *target);

/* Print why the process cannot be traced yet, and that we wait until it executes another program. */
void target_explain_waiting(const struct target *target);

/* Print why nothing was recorded. inherits: children of the process are traced too. */
void target_explain(const struct target *target, bool inherits);

#endif
