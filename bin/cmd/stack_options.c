/* SPDX-License-Identifier: MIT */
#include "cmd/stack_options.h"

#include <string.h>

#include "base/message.h"
#include "waits/stack_waits.h"

bool stack_options_option(struct stack_options *options, int code)
{
	switch (code) {
	case OPTION_STACKS:
		return options->by_stack = true;
	case OPTION_FORMAT:
		options->is_folded = strcmp(optarg, "folded") == 0;
		return options->is_folded || output_options_option(&options->output_options, code);
	default:
		return output_options_option(&options->output_options, code);
	}
}

int stack_options_report(struct stack_options *options, const char *path, bool only_locks,
			 void (*print)(const void *arg, struct source *source, const struct selection *selection,
				       struct table *table),
			 const void *arg)
{
	struct output_options *output_options = &options->output_options;
	struct table table;

	if (!output_options_begin_tables(output_options, path, &table))
		return EXIT_TROUBLE;
	if (options->is_folded) {
		stack_waits_fold(output_options->source, &output_options->selection, only_locks,
				 output_options->text);
		return output_options_end(output_options);
	}
	if (options->by_stack)
		stack_waits_print(output_options->source, &output_options->selection, only_locks, &table);
	else
		print(arg, output_options->source, &output_options->selection, &table);
	return output_options_end_tables(output_options, &table);
}
