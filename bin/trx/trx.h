/* SPDX-License-Identifier: MIT */
/*
 * Make trace buffers from the events of one or more traces, in a form that TraceX shows correctly.  The events are in
 * order, oldest first, with exactly one slot each.  The file is little endian.  Every context is a registered thread
 * with a unique name.  The tick is long enough that stamps do not wrap in a pause.
 *
 * An event type of a log becomes the user event 4096 + its number.  As in a log, an object of type 15 has its name.  If
 * an event has more than 16 bytes of data, the rest follows as user events 4096 with 16 bytes each.  For system events,
 * the rest is left out.
 */
#ifndef TXTRACE_TRX_TRX_H
#define TXTRACE_TRX_TRX_H

#include <stdbool.h>
#include <stdint.h>

#include "base/map.h"
#include "trace/source.h"
#include "trx/objects.h"
#include "trx/sort.h"

#define TRX_SPLIT_EVENTS 200000 /* TraceX is slow with more events in one file */
#define TRX_INPUTS_MAX 64
#define TRX_CPUS 256

struct trx_options {
	const char *output; /* a file; "-": standard output */
	bool overwrites;
	bool splits, per_core;	   /* write several files, with names made from `output` */
	double tick_ns;		   /* length of a tick; multiplied by 10 until stamps do not wrap in any pause */
	const char *const *inputs; /* files that must not be overwritten; trx_write() sets them */
	unsigned int nr_inputs;
	int64_t epoch_ns; /* CLOCK_REALTIME at time 0 of the events, for the file times; 0: unknown */
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
	struct spooled suspend; /* waits for the next event, which shows the thread that runs next */
	bool has_suspend;
};

/* Create the temporary file.  After a failure, print a message and return false. */
bool trx_begin(struct trx *trx, const char *output);

/* Add a trace with its objects.  Return its number, which the caller passes as `input` with each event. */
unsigned int trx_add_source(struct trx *trx, const struct source *source, const char *label);

void trx_put(struct trx *trx, unsigned int input, const struct event *event, int64_t time_ns);

/* Write the file or the files.  After a failure, print a message, leave no file, and return false. */
bool trx_write(struct trx *trx, const struct trx_options *order);

void trx_free(struct trx *trx);

#endif
