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

struct actor {
	unsigned int context;
	bool is_thread;
	char *name;			     /* no other actor has it */
	const struct txtrace_object *object; /* NULL: it is not registered */
	pid_t pid;			     /* 0: not told */
	struct actor *next;		     /* with the same hash */

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

struct actors {
	struct source *source;
	struct actor **actor; /* threads of the registry, then as they occur */
	size_t nr_actors, room;
	struct actor **hash;
	size_t nr_hash;
	struct actor *last;
};

/* All threads of the registry are there. */
void actors_init(struct actors *actors, struct source *source);
void actors_free(struct actors *actors);

/* NULL: there is none. */
struct actor *actors_find(const struct actors *actors, unsigned int context);

/* The one with this context; made, if there is none. */
struct actor *actors_add(struct actors *actors, unsigned int context);
static inline struct actor *actors_get(struct actors *actors, unsigned int context)
{
	if (actors->last->context != context)
		actors->last = actors_add(actors, context);
	return actors->last;
}

/* Make names differ, by a handle where they do not. */
void actors_tell_apart(struct actors *actors);

#endif
