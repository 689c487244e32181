/* SPDX-License-Identifier: MIT */
/*
 * The values of the environment variables.  If a value is invalid, these functions print a warning and return the
 * default.
 */
#ifndef PX_PRELOAD_STANDALONE_ENV_OPTIONS_H
#define PX_PRELOAD_STANDALONE_ENV_OPTIONS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum px_children { PX_CHILDREN_NO, PX_CHILDREN_YES, PX_CHILDREN_MATCH };

#define PX_ENV_SIZE ((size_t)64 << 20) /* the default size of a log */

/*
 * Return TXTRACE_EVENTS as PX_GROUP_ bits.  A list that begins with + or - changes the default.  Any other list
 * replaces it.
 */
uint32_t px_env_events(const char *text);

/* Return TXTRACE_SIZE, the size of the log in bytes. */
size_t px_env_size(const char *text);
/* Return TXTRACE_STACKS, as txtrace_attr_setstacks() takes it. */
int px_env_stacks(const char *text);
/* Return TXTRACE_POLICY, the policy for a full log. */
int px_env_policy(const char *text);

/*
 * Store the value of TXTRACE_CHILDREN in *children (enum px_children).  Return true if this program must be traced in
 * case it is a child.
 */
bool px_env_children(const char *text, uint32_t *children);

#endif
