/* SPDX-License-Identifier: MIT */
/*
 * Make trace buffers from the events of one or more traces.  TraceX shows these buffers correctly.  The events are in
 * order, oldest first.  Each event has exactly one slot.  The file is little endian.  Every context is a registered
 * thread with a unique name.  trx/running.h describes which thread the buffer shows as running.  The tick is so long
 * that stamps do not wrap in a pause.
 *
 * An event type of a log becomes the user event 4096 + its number.  As in a log, an object of type 15 has the name of
 * the event type.  If an event has more than 16 bytes of data, user events 4096 after it contain the other bytes, 16
 * bytes in each event.  For a system event, the other bytes are left out.
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
	const char *output; /* the name of a file, or "-" for standard output */
	bool overwrites;
	bool splits, per_core;	   /* write several files; their names are made from `output` */
	double tick_ns; /* length of a tick; trx_write() multiplies it by 10 until stamps do not wrap in any pause */
	const char *const *inputs; /* files that must not be overwritten; trx_write() sets this list */
	unsigned int nr_inputs;
	int64_t epoch_ns; /* CLOCK_REALTIME at time 0 of the events, or 0 if unknown; sets the times of the files */
};

struct trx {
	struct trx_objects trx_objects;
	struct sorter sorter;
	unsigned int nr_inputs;
	const char *label[TRX_INPUTS_MAX], *path[TRX_INPUTS_MAX];
	struct map type_of; /* key: input and event type; value: TXTB id */
	struct map id_of;   /* key: name of an event type; value: TXTB id */
	struct map name_of; /* key: TXTB id; value: name */
	uint32_t next_id;
	bool has_cpu[TRX_CPUS];
};

/* Create the temporary file.  After a failure, print a message and return false. */
bool trx_begin(struct trx *trx, const char *output);

/*
 * Add a trace with its objects.  Return the number of the trace.  The caller passes this number as `input` with each
 * event.
 */
unsigned int trx_add_source(struct trx *trx, const struct source *source, const char *label);

void trx_put(struct trx *trx, unsigned int input, const struct event *event, int64_t time_ns);

/* Write the file or the files.  After a failure, print a message, leave no file, and return false. */
bool trx_write(struct trx *trx, const struct trx_options *order);

void trx_free(struct trx *trx);

#endif
