/* SPDX-License-Identifier: MIT */
/*
 * What is loaded into another process, in the words of modules.h: from /proc and the files themselves.
 */
#ifndef PX_BASE_MODULES_REMOTE_H
#define PX_BASE_MODULES_REMOTE_H

#include <stddef.h>
#include <stdint.h>

/* As px_modules_list().  0 also where the process is gone, or lets nobody look into it. */
size_t px_modules_remote_list(uint32_t pid, char *text, size_t size);

#endif
