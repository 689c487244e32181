/* SPDX-License-Identifier: MIT */
/* The directory for shared memory: why the library refuses it (lib/base/shm.h). */
#ifndef TXTRACE_LIVE_DIRECTORY_H
#define TXTRACE_LIVE_DIRECTORY_H

#include <limits.h>
#include <stdbool.h>
#include <sys/types.h>

#define DIRECTORY_REFUSAL_BYTES (PATH_MAX + 256)

/*
 * Return true, and write why, if processes of this user cannot have streams because of the directory: it is missing and
 * cannot be made, belongs to another user, is no directory, gives permissions to other users, or cannot be written.
 * What only a process of that user can find out is found out only if it is the user of this process.
 */
bool directory_is_refused(uid_t uid, char why[DIRECTORY_REFUSAL_BYTES]);

#endif
