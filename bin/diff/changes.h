/* SPDX-License-Identifier: MIT */
/*
 * What changed in the times of two traces, for each object, call, thread and span.
 *
 * The names are sorted by how much time the change makes: the change of the total time, or, if this is more, the change
 * of the mean time, as often as in the trace with fewer times.  So a lock is found that is held for longer, but less
 * often.
 */
#ifndef TXTRACE_DIFF_CHANGES_H
#define TXTRACE_DIFF_CHANGES_H

#include "base/output.h"
#include "cli/json.h"
#include "diff/metric.h"

struct change {
	const char *name;
	struct timed *old, *new; /* NULL: the trace has no times of this name */
	double ns;		 /* how much time the change makes */
	bool is_same;
};

/* The changes of a measure, the largest one first. */
struct changes {
	struct change *change;
	size_t nr, nr_same;
};

/* The caller frees the member `change`. */
void changes_find(struct changes *changes, const struct timed_list *old, const struct timed_list *new);

/* Print a table for each measure, with at most `top` names.  Return true if there is a table. */
bool changes_print(struct text *text, const struct trace_times *old, const struct trace_times *new, uint64_t top);

/* Print a member with an array for each measure that a trace shows. */
void changes_print_json(struct json *json, const struct trace_times *old, const struct trace_times *new);

#endif
