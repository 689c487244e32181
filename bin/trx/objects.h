/* SPDX-License-Identifier: MIT */
/*
 * The object registry of a new trace buffer.  The objects come from one or more traces.  Each object has a unique
 * handle, and a name that TraceX can show.
 */
#ifndef TXTRACE_TRX_OBJECTS_H
#define TXTRACE_TRX_OBJECTS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/map.h"
#include "trace/source.h"

#define TRX_OBJECTS_NAME_MAX 59 /* the longest name that TraceX accepts, without the null */

struct registered {
	uint32_t handle;
	unsigned int input; /* the number of the trace that has this object */
	int type, priority; /* priority is -1 if it is unknown */
	bool is_released;
	pid_t pid, tid;
	uint32_t parameter[2];
	char name[TRX_OBJECTS_NAME_MAX + 1];
};

struct trx_objects {
	struct registered *object;
	size_t nr_objects, room;
	struct map by_input;  /* key: input and the handle in the input; value: index + 1 */
	struct map by_handle; /* key: handle; value: index + 1 */
	struct map by_tid;    /* key: host, pid and tid; value: index + 1 */
	uint64_t host;	      /* a number for the host of the trace whose objects are added */
	uint32_t serial;      /* the next free handle has this serial */
	size_t nr_cut;	      /* number of truncated names */
};

/* Add the objects of a trace.  If another object already has the handle, the new object gets a different handle. */
void trx_objects_add_source(struct trx_objects *trx_objects, unsigned int input,
			    const struct source *source);

/* Add an object that is in no trace.  If handle is 0, choose a handle.  Return the handle of the object. */
uint32_t trx_objects_add(struct trx_objects *trx_objects, unsigned int input, uint32_t handle,
			 int type, const char *name);

/* Return the new handle of an object of a trace, or 0 if there is no such object. */
uint32_t trx_objects_find(const struct trx_objects *trx_objects, unsigned int input,
			  uint32_t handle);

/*
 * Return the new handle of a thread.  `context` is the handle of the thread in its trace.  If there is no such thread,
 * add a thread.
 */
uint32_t trx_objects_context(struct trx_objects *trx_objects, unsigned int input, uint32_t context);

/* Call this last: sort threads first, and make all names unique.  labels[] has an element for each input. */
void trx_objects_finish(struct trx_objects *trx_objects, const char *const *labels);

/* Return the size of a name field that can hold every name, in bytes. */
uint32_t trx_objects_name_size(const struct trx_objects *trx_objects);

void trx_objects_free(struct trx_objects *trx_objects);

#endif
