/* SPDX-License-Identifier: MIT */
/*
 * txtrace top: what the threads of a trace did since the last look, and for which objects they waited.  The caller
 * reads events again and again, and each time prints what is new.
 *
 * Shares of threads come from the scheduling records.  Without them, the caller may add the times that the kernel
 * counts for each thread; these shares are estimates, because the kernel does not count the time blocked.
 */
#ifndef TXTRACE_WAITS_TOP_H
#define TXTRACE_WAITS_TOP_H

#include "cli/table.h"
#include "waits/waits.h"

enum top_sort { TOP_RUNNING, TOP_READY, TOP_BLOCKED, TOP_EVENTS, TOP_NAME };

struct top;

/* The source is one of source_open() or source_open_followed().  The caller frees the result with top_free(). */
struct top *top_new(struct source *source);
void top_free(struct top *top);

/* Read all events that can be read now. */
void top_read(struct top *top);

/*
 * What the kernel counts of a thread since its beginning, at a time of CLOCK_MONOTONIC.  The name is used if no event
 * has one.
 */
void top_count_thread(struct top *top, pid_t pid, pid_t tid, const char *name, int64_t at_ns, int64_t ran_ns,
		      int64_t ready_ns);

/* Print the tables.  most: the largest number of threads, and of objects; 0 means all. */
void top_print(struct top *top, struct table *table, enum top_sort sort, size_t most);

/* From now on, print only what comes later. */
void top_next(struct top *top);

/* Parse the argument of --sort.  If it is not a sort order, print a message and return false. */
bool top_parse_sort(const char *word, enum top_sort *sort);

#endif
