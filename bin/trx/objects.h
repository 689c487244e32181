/* SPDX-License-Identifier: MIT */
/*
 * The objects of a trace buffer that is written, out of one or more traces: each with a handle of its own, and with a
 * name that TraceX can show.
 */
#ifndef TXTRACE_TRX_OBJECTS_H
#define TXTRACE_TRX_OBJECTS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/map.h"
#include "trace/source.h"

#define TRX_OBJECTS_NAME_MAX 59 /* with its null less than what TraceX refuses */

struct registered {
	uint32_t handle;
	unsigned int input; /* the trace that it is of */
	int type, priority; /* -1: not told */
	bool is_released;
	pid_t pid, tid;
	uint32_t parameter[2];
	char name[TRX_OBJECTS_NAME_MAX + 1];
};

struct trx_objects {
	struct registered *object;
	size_t nr_objects, room;
	struct map by_input;  /* input and its handle -> index + 1 */
	struct map by_handle; /* -> index + 1 */
	struct map by_tid;    /* pid and tid -> index + 1 */
	uint32_t serial;      /* of the next handle that is made up */
	size_t nr_cut;	      /* names that were too long */
};

/* The objects of a trace; handles that are taken are replaced. */
void trx_objects_add_source(struct trx_objects *trx_objects, unsigned int input,
			    const struct source *source);

/* One that no trace has told of; handle 0: any.  Returns its handle. */
uint32_t trx_objects_add(struct trx_objects *trx_objects, unsigned int input, uint32_t handle,
			 int type, const char *name);

/* The handle for one of a trace; 0: there is no such object. */
uint32_t trx_objects_find(const struct trx_objects *trx_objects, unsigned int input,
			  uint32_t handle);

/* The handle for a context of a trace: a thread of this handle, made up if there is none. */
uint32_t trx_objects_context(struct trx_objects *trx_objects, unsigned int input, uint32_t context);

/* At the end: names that are told apart.  labels: of the inputs.  Threads go first. */
void trx_objects_finish(struct trx_objects *trx_objects, const char *const *labels);

/* Bytes that all names fit into. */
uint32_t trx_objects_name_size(const struct trx_objects *trx_objects);

void trx_objects_free(struct trx_objects *trx_objects);

#endif
