/* SPDX-License-Identifier: MIT */
/*
 * The periods in which the threads of a log ran, were ready, or were blocked, by its scheduling records: what the
 * command states and the exporters show.
 *
 * The filter has no effect, because the records of one event type or thread alone would give wrong periods.  A period
 * is cut off at the ends of the selected range.
 *
 * Memory use depends on the number of threads, and on how often a thread gets a CPU during one of its waits.
 */
#ifndef TXTRACE_WAITS_STATE_PERIODS_H
#define TXTRACE_WAITS_STATE_PERIODS_H

#include <stdbool.h>

#include "trace/selection.h"
#include "trace/source.h"
#include "waits/waits.h"

struct state_period {
	const struct sched_thread *thread; /* its name may come from a later record */
	unsigned int context;		   /* the handle in this period, or 0 if no event shows it */
	bool has_events;		   /* the thread has recorded an event before the end of this period */
	enum thread_state state;
	unsigned int cpu;	       /* valid if the thread ran */
	const struct awaited *object;  /* what a blocked thread waited for, or NULL if no event shows it */
	int64_t from_ns, until_ns;     /* until_ns is later than from_ns */
};

struct state_order;

/* For a caller that reads the file itself, for other purposes, too. */
struct state_periods {
	struct source *source;
	const struct selection *selection;
	void (*take)(void *arg, const struct state_period *period);
	void *arg;
	struct state_order *order; /* the index is that of the thread */
	size_t nr_orders;
	bool has_range;
	struct time_range range; /* valid if has_range */
};

/*
 * take() gets the periods, as that of state_periods_read().  The listener of the model calls state_periods_spent() in
 * its member `spent`.  The caller calls state_periods_end() after the last event.
 */
void state_periods_begin(struct state_periods *periods, struct source *source, const struct selection *selection,
			 void (*take)(void *arg, const struct state_period *period), void *arg);
void state_periods_spent(struct state_periods *periods, const struct sched_thread *thread, const struct waiter *waiter,
			 enum thread_state state, int64_t from_ns, int64_t until_ns);
void state_periods_end(struct state_periods *periods);

/*
 * Read the file from its beginning to its end.  Call take() for each period.  The periods of one thread come in the
 * order of time, without a gap between them; those of different threads do not.  Return false if the file has no
 * scheduling records; then take() was not called.
 */
bool state_periods_read(struct source *source, const struct selection *selection,
			void (*take)(void *arg, const struct state_period *period), void *arg);

/* Return a word for the state: "running", "ready", "blocked", or "not known". */
const char *state_period_name(enum thread_state state);

#endif
