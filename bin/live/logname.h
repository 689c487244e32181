/* SPDX-License-Identifier: MIT */
/* The name of a log, as -o of record says it: %e is the program, %p its pid, %t the time, and %% a %. */
#ifndef TXTRACE_LIVE_LOGNAME_H
#define TXTRACE_LIVE_LOGNAME_H

#include <limits.h>
#include <stdbool.h>
#include <sys/types.h>

/*
 * A program may be called by any bytes; in the name of a file they have no / and no control character.  False: the pattern
 * is wrong, or the name too long, and that was said.
 */
bool logname_expand(const char *pattern, const char *program, pid_t pid, char path[PATH_MAX]);

#endif
