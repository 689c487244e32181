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

#define REGISTRY_NAME_MAX 59 /* with its null less than what TraceX refuses */

struct registered {
	uint32_t handle;
	unsigned int input; /* the trace that it is of */
	int type, priority; /* -1: not told */
	bool is_released;
	pid_t pid, tid;
	uint32_t parameter[2];
	char name[REGISTRY_NAME_MAX + 1];
};

struct registry {
	struct registered *object;
	size_t nr_objects, room;
	struct map by_input;  /* input and its handle -> index + 1 */
	struct map by_handle; /* -> index + 1 */
	struct map by_tid;    /* pid and tid -> index + 1 */
	uint32_t serial;      /* of the next handle that is made up */
	size_t nr_cut;	      /* names that were too long */
};

/* The objects of a trace; handles that are taken are replaced. */
void registry_add_source(struct registry *registry, unsigned int input,
			 const struct source *source);

/* One that no trace has told of; handle 0: any.  Returns its handle. */
uint32_t registry_add(struct registry *registry, unsigned int input, uint32_t handle, int type,
		      const char *name);

/* The handle for one of a trace; 0: there is no such object. */
uint32_t registry_find(const struct registry *registry, unsigned int input, uint32_t handle);

/* The handle for a context of a trace: a thread of this handle, made up if there is none. */
uint32_t registry_context(struct registry *registry, unsigned int input, uint32_t context);

/* At the end: names that are told apart.  labels: of the inputs.  Threads go first. */
void registry_finish(struct registry *registry, const char *const *labels);

/* Bytes that all names fit into. */
uint32_t registry_name_size(const struct registry *registry);

void registry_free(struct registry *registry);

#endif
