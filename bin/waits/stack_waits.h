/* SPDX-License-Identifier: MIT */
/*
 * The waits of a log by the stacks of their callers: blocked --stacks, locks --stacks, and --format folded.  A wait
 * that was shorter than the bound of the recording has no stack; these waits are counted.
 */
#ifndef TXTRACE_WAITS_STACK_WAITS_H
#define TXTRACE_WAITS_STACK_WAITS_H

#include "cli/table.h"
#include "waits/waits.h"

/*
 * Print a row for each object and stack, those with the longest waits first.  only_locks: only the waits for locks.  If
 * the log has no stacks, print a message.
 */
void stack_waits_print(struct source *source, const struct selection *selection, bool only_locks, struct table *table);

/*
 * Print a line for each object and stack, for programs that draw flame graphs: the functions with the outermost one
 * first, the object, and the nanoseconds of all these waits: "main;run;take;mutex queue_lock 81234".
 */
void stack_waits_fold(struct source *source, const struct selection *selection, bool only_locks, struct text *text);

#endif
