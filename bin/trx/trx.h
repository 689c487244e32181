/* SPDX-License-Identifier: MIT */
/*
 * Trace buffers that TraceX shows right, made of the events of one or more traces: oldest first, exactly as many slots
 * as events, little endian, every context a registered thread with a name of its own, and a tick on which no pause is
 * lost.
 *
 * An event type of a log becomes the user event 4096 + its number, with an object of type 15 that has its name, as in
 * logs.  Data beyond 16 bytes follow as user events 4096, 16 bytes each; of system events they are left out.
 */
#ifndef TXTRACE_TRX_TRX_H
#define TXTRACE_TRX_TRX_H

#include <stdbool.h>
#include <stdint.h>

#include "base/map.h"
#include "trace/source.h"
#include "trx/objects.h"
#include "trx/sort.h"

#define TRX_SPLIT_EVENTS 200000 /* more in one file and TraceX is slow */
#define TRX_INPUTS_MAX 64
#define TRX_CPUS 256

struct trx_options {
	const char *output; /* a file; "-": standard output */
	bool overwrites;
	bool splits, per_core;	   /* into several files, named after it */
	double tick_ns;		   /* if all pauses fit in; else a multiple of it */
	const char *const *inputs; /* files that are not to be written over; trx_write() tells */
	unsigned int nr_inputs;
	int64_t epoch_ns; /* time 0 of the events; files are dated by their last event.  0: not known */
};

struct trx {
	struct trx_objects trx_objects;
	struct sorter sorter;
	unsigned int nr_inputs;
	const char *label[TRX_INPUTS_MAX], *path[TRX_INPUTS_MAX];
	struct map type_of; /* input and its type -> TXTB id */
	struct map id_of;   /* name of a type -> TXTB id */
	struct map name_of; /* TXTB id -> name */
	uint32_t next_id;
	bool has_cpu[TRX_CPUS];
	struct spooled
		suspend; /* put into a log: waits for the event behind it, which tells who runs next */
	bool has_suspend;
};

/* False: it was said. */
bool trx_begin(struct trx *trx, const char *output);

/* The objects of a further trace.  Returns the number by which its events are told from others. */
unsigned int trx_add_source(struct trx *trx, const struct source *source, const char *label);

void trx_put(struct trx *trx, unsigned int input, const struct event *event, int64_t time_ns);

/* Write the file, or the files.  False: there is none, and it was said why. */
bool trx_write(struct trx *trx, const struct trx_options *order);

void trx_free(struct trx *trx);

#endif
