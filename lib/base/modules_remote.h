/* SPDX-License-Identifier: MIT */
/*
 * List what is loaded into another process, in the format of modules.h, from /proc and the files.
 */
#ifndef PX_BASE_MODULES_REMOTE_H
#define PX_BASE_MODULES_REMOTE_H

#include <stddef.h>
#include <stdint.h>

/* Like px_modules_list().  Return 0 also if the process is gone or may not be inspected. */
size_t px_modules_remote_list(uint32_t pid, char *text, size_t size);

#endif
