/* SPDX-License-Identifier: MIT */
/*
 * Who acts in a trace: its threads, and what a CPU does beside them; with what reports count of each.
 *
 * An actor is known by the context of its events, which is the handle of a thread, CONTEXT_INTERRUPT or
 * CONTEXT_INITIALIZE.  CONTEXT_IDLE has no events in a ThreadX buffer; in a log it is that of events which no
 * thread caused.
 */
#ifndef TXTRACE_REPORT_CONTEXTS_H
#define TXTRACE_REPORT_CONTEXTS_H

#include <stdbool.h>
#include <stdint.h>

#include "trace/source.h"

#define CONTEXT_IDLE 0u
#define NEVER UINT64_MAX

struct context {
	unsigned int context;
	bool is_thread;
	char *name;			     /* no other actor has it */
	const struct txtrace_object *object; /* NULL: it is not registered */
	pid_t pid;			     /* 0: not told */
	struct context *next;		     /* with the same hash */

	/* Reports. */
	int64_t time;
	uint64_t nr_events, nr_switches, nr_suspensions, nr_resumptions, nr_migrations;
	uint32_t stack_left; /* the least that an event told of */
	uint64_t stack_event;
	bool has_stack; /* an event told of it */

	/*
	 * Priorities, -1: not known.  inversions.c: of its last event, and of its first.  profile.c: what the last event
	 * that names one said, and the first.
	 */
	int priority, first_priority, named_priority, first_named_priority;
	bool has_first;

	/* profile.c: its next and its last event in the window, or NEVER. */
	uint64_t ahead_first, ahead_last;

	/* cpus.c: where it runs, or -1, and where its last event was. */
	int cpu, last_cpu;
};

struct contexts {
	struct source *source;
	struct context **ctx; /* threads of the registry, then as they occur */
	size_t nr_contexts, room;
	struct context **hash;
	size_t nr_hash;
	struct context *last;
};

/* All threads of the registry are there. */
void contexts_init(struct contexts *contexts, struct source *source);
void contexts_free(struct contexts *contexts);

/* NULL: there is none. */
struct context *contexts_find(const struct contexts *contexts, unsigned int context);

/* The one with this context; made, if there is none. */
struct context *contexts_add(struct contexts *contexts, unsigned int context);
static inline struct context *contexts_get(struct contexts *contexts, unsigned int context)
{
	if (contexts->last->context != context)
		contexts->last = contexts_add(contexts, context);
	return contexts->last;
}

/* Make names differ, by a handle where they do not. */
void contexts_disambiguate(struct contexts *contexts);

#endif
