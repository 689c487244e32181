/* SPDX-License-Identifier: MIT */
/* The options --stacks and --format folded, of commands that can report the waits of a log by the stacks of callers. */
#ifndef TXTRACE_CMD_STACK_OPTIONS_H
#define TXTRACE_CMD_STACK_OPTIONS_H

#include <stdbool.h>

#include "cli/command.h"
#include "cmd/output_options.h"

/* The own options of such a command begin with OPTION_AFTER_STACKS. */
enum { OPTION_STACKS = OPTION_OWN, OPTION_AFTER_STACKS };

struct stack_options {
	struct output_options output_options;
	bool by_stack, is_folded;
};

/* As output_options_option(), also for --stacks and --format folded. */
bool stack_options_option(struct stack_options *options, int code);

/*
 * Open the file.  With these options, print its waits by stacks, or only those for locks (only_locks).  Otherwise call
 * print() with arg.  Return the exit code.
 */
int stack_options_report(struct stack_options *options, const char *path, bool only_locks,
			 void (*print)(const void *arg, struct source *source, const struct selection *selection,
				       struct table *table),
			 const void *arg);

#endif
