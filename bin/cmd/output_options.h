/* SPDX-License-Identifier: MIT */
/*
 * The common options of commands that print something about the events of one file, and functions that open and close
 * the file and the output.
 */
#ifndef TXTRACE_CMD_OUTPUT_OPTIONS_H
#define TXTRACE_CMD_OUTPUT_OPTIONS_H

#include <stdbool.h>

#include "base/output.h"
#include "cli/options.h"
#include "cli/table.h"
#include "trace/columns.h"
#include "trace/selection.h"
#include "trace/source.h"

/*
 * The rows of these options in the table of a command. There are two macros, because the row of --format comes between
 * them.
 */
#define OUTPUT_OPTIONS_ROWS_EVENTS                                                                 \
	OPTION_ROW_FILTER, OPTION_ROW_FROM, OPTION_ROW_UNTIL, OPTION_ROW_TIME, OPTION_ROWS_TYPE
#define OUTPUT_OPTIONS_ROWS_OUTPUT                                                                 \
	OPTION_ROW_OUTPUT, OPTION_ROW_FORCE, OPTION_ROWS_THREADX, OPTION_ROW_COLOR, OPTION_ROW_NO_PAGER
#define OUTPUT_OPTIONS_ROW_TABLE                                                                   \
	{                                                                                          \
		OPTION_FORMAT, "format", "text|json|csv", "output format; default text"                      \
	}

#define OUTPUT_OPTIONS_ROW_TABLE_FOLDED                                                            \
	{                                                                                          \
		OPTION_FORMAT, "format", "text|json|csv|folded",                                   \
			"output format; default text; folded: stacks for flame graphs"             \
	}

#define OUTPUT_OPTIONS_ROW_WIDE                                                                    \
	{                                                                                          \
		OPTION_WIDE, "wide", NULL, "all columns, also in lines of more than 80 characters"    \
	}

struct output_options {
	struct selection selection;
	enum format format; /* the format of tables; not used if the command reads --format itself */
	const char *output; /* NULL means standard output, with a pager */
	bool overwrites;
	bool is_wide; /* --wide, of commands that have OUTPUT_OPTIONS_ROW_WIDE */
	struct source *source; /* source and text are valid between begin and end */
	struct text *text;
};

/* Handle one of the options above. Its argument is in optarg. After an error, print a message and return false. */
bool output_options_option(struct output_options *output_options, int code);

/*
 * Open the output and the file. `open` is the function that opens the file: source_open() or source_open_mixed(). After
 * an error, print a message, leave nothing open, and return false.
 */
bool output_options_begin(struct output_options *output_options, const char *path,
			  struct source *(*open)(const char *path, double tick_ns));

/* Close the file and the output. Return the exit code. */
int output_options_end(struct output_options *output_options);

/*
 * Do the same for a command that prints tables about calls.  Print messages about lost events and about calls that are
 * not recorded.
 */
bool output_options_begin_tables(struct output_options *output_options, const char *path, struct table *table);
int output_options_end_tables(struct output_options *output_options, struct table *table);

#endif
