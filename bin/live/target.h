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
	uid_t uid;		 /* the effective user id */
	char name[NAME_MAX + 1]; /* the name of the process in /proc/PID/comm */
	char program[PATH_MAX];	 /* the path of the executable, or "" */
	bool has_library;
	bool has_registry;	 /* the library has started; it is not only mapped */
	bool has_other_registry; /* the process uses the library with another registry */
	bool has_other_layout;	 /* that registry is of another version of the library */
	bool is_static;		 /* the program is linked statically, so it loads no shared library */
	bool is_secure;		 /* the process got additional rights from its file */
	bool is_hidden;		 /* the process does not allow us to read its memory */
	bool is_filtered;	 /* a filter for system calls holds: its own, or that of its container */
};

/* Read the state of the process. If the process has ended, return false and keep the earlier values. */
bool target_inspect(struct target *target, pid_t pid);

/*
 * Find the file of a command as execvp() does, and fill in what this file shows. Call this for a process that may end
 * before target_inspect() can read the state of the process. If the file is a script, ignore the interpreter.
 */
void target_expect(struct target *target, const char *command);

/* Find the file of a command as execvp() does. Return false if there is no such file. */
bool target_find_command(const char *command, char path[PATH_MAX]);

/* Return the registry of a process of this user with our environment. The result is valid until the next call. */
const char *target_registry(uid_t uid);

/* Return a text that continues a sentence about a process with another registry, as "was started ...". */
const char *target_other_registry(const struct target *target);

/* Return true if the process maps a file of this name. */
bool target_has_object(pid_t pid, const char *object);

/* Return true if the process maps the file with this path. */
bool target_maps(pid_t pid, const char *path);

/* Return true if a process that executes the file gets rights that the caller does not have. */
bool target_gives_rights(const char *path);

/* Return true if the process maps the segment of a stream, and does not control this stream. */
bool target_has_stream(pid_t pid);

/* Return true if the process would find a stream that is created for it. */
bool target_is_traceable(const struct target *target);

/* Return true if nothing but the missing library is in the way. */
bool target_is_plain(const struct target *target);

/* Return the name of the executable file, or, if it is not known, the name of the process. */
const char *target_file_name(struct target *target);

/* Print that the process does not use the library, and how to trace it. */
void target_explain_attached(const struct target *target);

/*
 * Print why the process cannot be traced yet. Also print that the tool waits until the process executes another
 * program.
 */
void target_explain_waiting(const struct target *target);

/* Print why nothing was recorded. `inherits` is true if children of the process are also traced. */
void target_explain(const struct target *target, bool inherits);

#endif
