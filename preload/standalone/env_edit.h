/* SPDX-License-Identifier: MIT */
/*
 * The environment of programs that this process executes: without this object, or with it although the program left it
 * out.
 */
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

/*
 * Do the same, but let LD_PRELOAD name the object with the path `other` instead of this object, and keep TXTRACE_OUT.
 * An entry with $LIB stays, because the dynamic linker of each program finds the right object by it.  `restored` is the
 * size of the environment if px_env_restore_make() has made it, or 0; then `envp` is the one from which it was made.
 */
size_t px_env_replace_size(char *const *envp, size_t restored, const char *other);
char **px_env_replace_make(char *const *envp, void *room, const char *other);

/*
 * Remember the variables of this environment that the object needs, and the path of this object.  A constructor calls
 * this.
 */
void px_env_keep(char *const *envp);

/* The path of this object, or NULL if it is not known. */
const char *px_env_object(void);

/*
 * A program such as `env -i` may execute another one with an environment that lacks this object. px_env_restore_make()
 * copies envp into `room`, which has px_env_restore_size() bytes, and adds the kept variables that envp
 * lacks.  px_env_restore_size() returns 0 if there is nothing to add: envp has this object or TXTRACE_DISABLE, or
 * nothing was kept.  Async-signal-safe, even in a child of vfork().
 */
size_t px_env_restore_size(char *const *envp);
char **px_env_restore_make(char *const *envp, void *room);

#endif
