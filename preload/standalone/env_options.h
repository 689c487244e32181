/* SPDX-License-Identifier: MIT */
/* Values of the variables that the object reads.  One that cannot be is told, and what is usual is returned. */
#ifndef PX_PRELOAD_STANDALONE_ENV_OPTIONS_H
#define PX_PRELOAD_STANDALONE_ENV_OPTIONS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum px_children { PX_CHILDREN_NO, PX_CHILDREN_YES, PX_CHILDREN_MATCH };

#define PX_ENV_SIZE ((size_t)64 << 20) /* of a log, if nobody says */

/* TXTRACE_EVENTS, as PX_GROUP_ bits.  A list that begins with a sign changes what is usual; any other says all. */
uint32_t px_env_events(const char *text);

/* TXTRACE_SIZE, in bytes, and TXTRACE_POLICY, of a log. */
size_t px_env_size(const char *text);
int px_env_policy(const char *text);

/* TXTRACE_CHILDREN, as enum px_children.  True if a child that is this program is wanted. */
bool px_env_children(const char *text, uint32_t *children);

#endif
