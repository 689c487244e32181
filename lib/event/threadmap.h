/* SPDX-License-Identifier: MIT */
/*
 * A private copy of a thread table (threads.h), which also keeps threads that have left the table.
 *
 * The table in shared memory holds the newest threads only.  A program may start thousands of threads before the log
 * writer reads the events of the first of them.  So the controller copies new threads from the table into a map before
 * they leave it.  The map finds a thread in constant time.
 *
 * The map keeps up to PX_THREADMAP_MAX threads.  Each further thread replaces the oldest thread that is not the first
 * thread of a process.  The caller ensures that only one thread at a time uses a map.
 */
#ifndef PX_EVENT_THREADMAP_H
#define PX_EVENT_THREADMAP_H

#include "event/threads.h"

#define PX_THREADMAP_MAX 131072

struct px_threadmap;

/* Make a map of this table, which must stay valid.  Return NULL if there is no memory. */
struct px_threadmap *px_threadmap_make(const struct px_threads *threads);

/* Free the map.  NULL does nothing. */
void px_threadmap_free(struct px_threadmap *map);

/*
 * Copy the threads that were added to the table since the last call.  If there is no memory, the next call tries again
 * with the threads that are still in the table.
 */
void px_threadmap_collect(struct px_threadmap *map);

/* Add a thread that is not in the table any more.  If the map has a thread with its handle, do nothing. */
void px_threadmap_add(struct px_threadmap *map, const struct px_object *object);

/* Copy the newest thread with this handle, from the map or from the table.  Return false if neither has it. */
bool px_threadmap_find(const struct px_threadmap *map, uint32_t handle, struct px_object *object);

/* Return the handle of the newest thread with this pid and tid in the map or in the table; 0: there is none. */
uint32_t px_threadmap_find_tid(const struct px_threadmap *map, uint32_t pid, uint32_t tid);

#endif
