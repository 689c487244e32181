/* SPDX-License-Identifier: MIT */
/*
 * The entries of the files that are made from a log, and TraceX's rules for them: TraceX gives the time between two
 * entries to a thread.  Before each entry, view_charge() adds what is needed so that this is the thread that ran.
 *
 * A view is one file.  It has the events of one CPU or of all CPUs.
 */
#ifndef TXTRACE_TRX_RUNNING_VIEWS_H
#define TXTRACE_TRX_RUNNING_VIEWS_H

#include <stdbool.h>
#include <stdint.h>

#include "base/map.h"
#include "trx/running_threads.h"
#include "trx/sort.h"
#include "trx/trx.h"

#define CPU_SHIFT 24

/* The output of one file, which has the events of all CPUs or of one CPU. */
struct view {
	bool has_last, is_foreign; /* is_foreign: the last event is of a ThreadX buffer */
	bool has_log;		   /* at least one event comes from a log */
	uint32_t last_context;
	uint32_t next; /* the context that the last event names as the next one, or 0 */
	int64_t last_ns;
	bool is_held; /* the last event is a SUSPEND that is not yet in the output */
	struct spooled held;
	bool is_sliced; /* the last event is a TIME_SLICE that is not yet in the output */
	struct spooled slice;
	uint64_t nr_entries,
		most_changes; /* most_changes: largest number of SUSPEND and RESUME events of any thread */
};

struct running {
	struct sorter *to;
	bool per_core;
	bool has_records; /* scheduling records say when threads get and lose their CPUs */
	struct map nr_changes; /* key: view and handle; value: number of SUSPEND and RESUME events of the thread */
	struct running_threads threads;
	struct view view[TRX_CPUS]; /* if per_core is false, only view[0] is used */
};

static inline unsigned int spooled_cpu(const struct spooled *event)
{
	return event->id >> CPU_SHIFT;
}

static inline unsigned int spooled_native(const struct spooled *event)
{
	return event->id & 0xFFFF;
}

static inline struct view *view_of(struct running *running, unsigned int cpu)
{
	return &running->view[running->per_core ? cpu : 0];
}

/* Add an entry as it is, and nothing else. */
void view_store(struct running *running, struct view *view, const struct spooled *event);

/* Add an entry.  It names `next` as the next context; 0: none. */
void view_put(struct running *running, struct view *view, const struct spooled *event, uint32_t next);

/* Add the SUSPEND that waits, if there is one.  This context runs after it. */
void view_release(struct running *running, struct view *view, uint32_t next);

/*
 * Add the TIME_SLICE that waits, if there is one.  Its thread lost the CPU to this context.  ThreadX records that in an
 * interrupt, whose entries have the thread in the place of the priority.
 */
void view_release_slice(struct running *running, struct view *view, uint32_t next);

/* Add an entry RUNNING: it gives the time before time_ns to this context, which is "idle" or has had an event. */
void view_put_running(struct running *running, struct view *view, unsigned int cpu, int64_t time_ns, uint32_t context);

/* Ensure that TraceX gives the time before an event of this context to the right thread. */
void view_charge(struct running *running, unsigned int cpu, int64_t time_ns, uint32_t context);

/* Give the time up to now to the thread that ran. */
void view_settle(struct running *running, unsigned int cpu, int64_t time_ns);

/* The thread has an event on another CPU, so it no longer runs on its last CPU. */
void view_end_stay(struct running *running, const struct running_thread *thread, int64_t time_ns);

/* Add what waits, and what TraceX needs at the end of a file. */
void view_finish(struct running *running, unsigned int cpu);

#endif
