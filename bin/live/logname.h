/* SPDX-License-Identifier: MIT */
/* The name of a log from the pattern of record -o: %e is the program, %p its pid, %t the time, %% a percent sign. */
#ifndef TXTRACE_LIVE_LOGNAME_H
#define TXTRACE_LIVE_LOGNAME_H

#include <limits.h>
#include <stdbool.h>
#include <sys/types.h>

/*
 * Expand the pattern. A program name may contain any bytes, so replace `/` and control characters. If the pattern is
 * wrong or the name is too long, print a message and return false.
 */
bool logname_expand(const char *pattern, const char *program, pid_t pid, char path[PATH_MAX]);

#endif
