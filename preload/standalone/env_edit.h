/* SPDX-License-Identifier: MIT */
/* An environment without what brings us into a program. */
#ifndef PX_PRELOAD_STANDALONE_ENV_EDIT_H
#define PX_PRELOAD_STANDALONE_ENV_EDIT_H

#include <stddef.h>

#define PX_OBJECT_NAME "libtxtrace-preload.so"

/*
 * It is made in `room`, whose size the first function tells, of the texts of envp, which may be NULL.  TXTRACE_OUT is
 * not in it, nor are we in LD_PRELOAD.  Async-signal-safe.
 */
size_t px_env_edit_size(char *const *envp);
char **px_env_edit_make(char *const *envp, void *room);

#endif
