/* SPDX-License-Identifier: MIT */
/*
 * The contexts of a trace, and the counts of the reports for each context. A context is one of these: a thread, all
 * interrupts, the initialization of ThreadX, or idle.
 *
 * The context of an event is the handle of a thread, CONTEXT_INTERRUPT or CONTEXT_INITIALIZE. In a log, CONTEXT_IDLE is
 * the context of events without a thread. In a ThreadX buffer, CONTEXT_IDLE has no events.
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
	char *name;			     /* no other context has this name */
	const struct txtrace_object *object; /* NULL if the trace has no object for the context */
	size_t process;			     /* the process of its last event (processes.h), if it has events */

	/* These members are for the reports. */
	int64_t time;
	bool is_untimed; /* other threads have scheduling records, but this one has none: its time is not known */
	uint64_t nr_events, nr_switches, nr_suspensions, nr_resumptions, nr_migrations;
	uint32_t stack_left; /* the smallest value that an event had */
	uint64_t stack_event;
	bool has_stack; /* an event had a stack pointer */

	/*
	 * Priorities; -1 means unknown. inversions.c uses `priority`, from the last event of the context, and
	 * `first_priority`, from its first event. profile.c uses the named priorities. They come from the last and the
	 * first event that has a priority.
	 */
	int priority, first_priority, named_priority, first_named_priority;
	bool has_first;

	/* inversions.c uses these, from scheduling records: the thread lost this CPU, though it still wants to run. */
	bool is_preempted;
	unsigned int lost_cpu;

	/* profile.c uses these: the numbers of the next and the last event of this context in the window, or NEVER. */
	uint64_t ahead_first, ahead_last;

	/* cpus.c uses these: the CPU on which the context runs, or -1, and the CPU of its last event. */
	bool waits; /* the last event says that it begins to wait, or ends */
	int cpu, last_cpu;
};

struct contexts {
	struct source *source;
	struct context **ctx; /* the registered threads, then the other contexts in the order of their first events */
	size_t nr_contexts, room;
	struct map by_handle; /* key: handle; value: 1 + index in ctx[] */
	struct context *last;
};

/*
 * Make the contexts of all registered threads and of idle. For a ThreadX buffer, also make the contexts of interrupts
 * and initialization.
 */
void contexts_init(struct contexts *contexts, struct source *source);
void contexts_free(struct contexts *contexts);

/* Return the entry of a context, or NULL if there is none. */
struct context *contexts_find(const struct contexts *contexts, unsigned int context);

/* Return the entry of a context. If there is no entry, make it. */
struct context *contexts_add(struct contexts *contexts, unsigned int context);
static inline struct context *contexts_get(struct contexts *contexts, unsigned int context)
{
	if (contexts->last->context != context)
		contexts->last = contexts_add(contexts, context);
	return contexts->last;
}

/* Make the names unique: if several contexts have the same name, add their handles. */
void contexts_disambiguate(struct contexts *contexts);

#endif
