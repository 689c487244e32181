/* SPDX-License-Identifier: MIT */
/*
 * The contexts of a trace, and what the reports count for each. A context is a thread, interrupts, the initialization
 * of ThreadX, or idle.
 *
 * The context of an event is the handle of a thread, CONTEXT_INTERRUPT or CONTEXT_INITIALIZE. CONTEXT_IDLE has no
 * events in a ThreadX buffer; in a log it is the context of events that no thread caused.
 */
#ifndef TXTRACE_REPORT_CONTEXTS_H
#define TXTRACE_REPORT_CONTEXTS_H

#include <stdbool.h>
#include <stdint.h>

#include "base/map.h"
#include "trace/source.h"

#define CONTEXT_IDLE 0u
#define NEVER UINT64_MAX

struct context {
	unsigned int context;
	bool is_thread;
	char *name;			     /* unique */
	const struct txtrace_object *object; /* NULL: not registered */
	pid_t pid;			     /* 0: unknown */

	/* Reports. */
	int64_t time;
	uint64_t nr_events, nr_switches, nr_suspensions, nr_resumptions, nr_migrations;
	uint32_t stack_left; /* the smallest value in an event */
	uint64_t stack_event;
	bool has_stack; /* an event had a stack pointer */

	/*
	 * Priorities; -1: unknown. inversions.c uses priority and first_priority: from the last and from the first
	 * event of the context. profile.c uses named_priority and first_named_priority: from the last and from the
	 * first event that has a priority.
	 */
	int priority, first_priority, named_priority, first_named_priority;
	bool has_first;

	/* profile.c: its next and its last event in the window, or NEVER. */
	uint64_t ahead_first, ahead_last;

	/* cpus.c: the CPU on which it runs, or -1, and the CPU of its last event. */
	int cpu, last_cpu;
};

struct contexts {
	struct source *source;
	struct context **ctx; /* registered threads, then others in the order of their events */
	size_t nr_contexts, room;
	struct map by_handle; /* 1 + index in ctx */
	struct context *last;
};

/*
 * Make the contexts of all registered threads and of idle; for a ThreadX buffer also of interrupts and initialization.
 */
void contexts_init(struct contexts *contexts, struct source *source);
void contexts_free(struct contexts *contexts);

/* Return the entry of a context, or NULL if there is none. */
struct context *contexts_find(const struct contexts *contexts, unsigned int context);

/* Return the entry of a context; make it if there is none. */
struct context *contexts_add(struct contexts *contexts, unsigned int context);
static inline struct context *contexts_get(struct contexts *contexts, unsigned int context)
{
	if (contexts->last->context != context)
		contexts->last = contexts_add(contexts, context);
	return contexts->last;
}

/* Make names unique: add the handle where several contexts have the same name. */
void contexts_disambiguate(struct contexts *contexts);

#endif
