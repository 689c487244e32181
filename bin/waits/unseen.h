/* SPDX-License-Identifier: MIT */
/*
 * The times for which threads were blocked in no recorded call, by the scheduling records of a log.  So the waits of a
 * program are seen that makes its system calls itself, such as one in Go or a static one, but not what it waited for.
 *
 * If the log lacks the beginning of the program, a thread may be in a call that began before the log.  So the time
 * before the first event of a thread does not count there, unless the thread has no event at all.
 *
 * Memory use depends on the number of threads.
 */
#ifndef TXTRACE_WAITS_UNSEEN_H
#define TXTRACE_WAITS_UNSEEN_H

#include "base/durations.h"
#include "base/map.h"
#include "cli/table.h"
#include "trace/selection.h"
#include "trace/source.h"
#include "waits/state_periods.h"

#define UNSEEN_NAME_BYTES 32

/* These times of one thread. */
struct unseen_row {
	const struct sched_thread *thread;
	unsigned int context; /* the handle, or 0 if the log does not show it */
	bool has_events;      /* the thread has recorded an event */
	pid_t tid;
	char name[16];
	struct durations durations;
};

struct unseen {
	const struct waits *waits;
	struct state_periods periods;
	struct map row_of; /* key: number of the thread; value: 1 + index */
	struct unseen_row *row;
	size_t nr_rows;
};

/*
 * The listener of the model `waits` calls unseen_spent() in its member `spent`.  The caller calls unseen_end() after
 * the last event, before waits_free().
 */
void unseen_begin(struct unseen *unseen, const struct waits *waits, struct source *source,
		  const struct selection *selection);
void unseen_spent(struct unseen *unseen, const struct sched_thread *thread, const struct waiter *waiter,
		  enum thread_state state, int64_t from_ns, int64_t until_ns);
void unseen_end(struct unseen *unseen);
void unseen_free(struct unseen *unseen);

/*
 * Return the row with the longest time, of the thread with this handle (0: any thread).  A thread with events comes
 * before all threads without.  Return NULL if the time is less than a 50th of the range: each thread is sometimes
 * blocked in the kernel.
 */
const struct unseen_row *unseen_most(const struct unseen *unseen, unsigned int context);

/* Print a table with a row for each thread.  Without such times, print nothing. */
void unseen_print(struct unseen *unseen, struct table *table);

/* Return the name of the thread of a row.  It is valid as long as the row, the source and text, which may hold it. */
const char *unseen_name(const struct unseen *unseen, const struct unseen_row *row, char text[UNSEEN_NAME_BYTES]);

#endif
