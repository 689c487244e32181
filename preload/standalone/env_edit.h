/* SPDX-License-Identifier: MIT */
/* An environment that does not preload this object into another program. */
#ifndef PX_PRELOAD_STANDALONE_ENV_EDIT_H
#define PX_PRELOAD_STANDALONE_ENV_EDIT_H

#include <stddef.h>

#define PX_OBJECT_NAME "libtxtrace-preload.so"

/*
 * px_env_edit_make() copies the environment envp into `room`, which has px_env_edit_size() bytes.  envp may be NULL.
 * The copy has no TXTRACE_OUT, and its LD_PRELOAD does not name this object.  Async-signal-safe.
 */
size_t px_env_edit_size(char *const *envp);
char **px_env_edit_make(char *const *envp, void *room);

#endif
