/* SPDX-License-Identifier: MIT */
/*
 * A command of the tool, and its options: one table, from which options are read (getopt_long), --help is printed
 * and the completion of the shell is made.
 */
#ifndef TXTRACE_CLI_OPTIONS_H
#define TXTRACE_CLI_OPTIONS_H

#include <stdbool.h>
#include <getopt.h>
#include <stddef.h>

#define OPTIONS_END                                                                                \
	{                                                                                          \
		0, NULL, NULL, NULL                                                                \
	}

struct option_row {
	int code;	  /* its letter; from 256 on it has none */
	const char *name; /* the long one */
	const char *
		argument; /* NULL: it takes none; FILE and DIR are completed as such, A|B|C as these words */
	const char *help;
};

struct command {
	const char *name;
	const char *arguments; /* behind the options */
	const char *summary;   /* without a full stop */
	const struct option_row *options;
	int (*run)(int argc,
		   char **argv); /* argv[0] is the command's name; returns the exit code */
	void (*explain)(void); /* prints more for --help, behind the options; or NULL */
};

/*
 * The code of the next option; its argument is in optarg.  -1: there is none any more, and optind is at the first
 * argument.  '?': it is wrong, and that was said.  --help prints and exits.
 */
int options_next(const struct command *command, int argc, char **argv);

/* The one argument that is left, a file.  NULL: there is none, or more, and that was said. */
const char *options_file(const struct command *command, int argc, char **argv);

/* --format where there are two: text and json.  False: it is neither, and that was said. */
bool options_is_json(const char *argument, bool *is_json);

/* What --help prints. */
void options_help(const struct command *command);

/* Options that several commands have; the code is the letter, or this. */
enum {
	OPTION_FORMAT = 256,
	OPTION_COLUMNS,
	OPTION_FROM,
	OPTION_UNTIL,
	OPTION_TICK,
	OPTION_COLOR,
	OPTION_NO_PAGER,
	OPTION_FORCE,
	OPTION_SPLIT,
	OPTION_PER_CORE,
	OPTION_LIMIT,
	OPTION_INHERIT,
	OPTION_SIZE,
	OPTION_OWN /* the first one free for a command's own */
};

#define OPTION_ROW_FILTER                                                                          \
	{                                                                                          \
		'f', "filter", "EXPR", "only events that match; see txtrace-filter(7)"   \
	}
#define OPTION_ROW_FROM                                                                            \
	{                                                                                          \
		OPTION_FROM, "from", "TIME", "only events from this time on"                       \
	}
#define OPTION_ROW_UNTIL                                                                           \
	{                                                                                          \
		OPTION_UNTIL, "until", "TIME", "only events before this time"                      \
	}
#define OPTION_ROW_TICK                                                                            \
	{                                                                                          \
		OPTION_TICK, "tick", "NS",                                                         \
			"tick length of a ThreadX buffer in ns; default 1000"                  \
	}
#define OPTION_ROW_TEXT_OR_JSON                                                                    \
	{                                                                                          \
		OPTION_FORMAT, "format", "text|json", "output format; default text"                          \
	}
#define OPTION_ROW_OUTPUT                                                                          \
	{                                                                                          \
		'o', "output", "FILE", "write to this file; - is standard output"                  \
	}
#define OPTION_ROW_FORCE                                                                           \
	{                                                                                          \
		OPTION_FORCE, "force", NULL, "overwrite an existing file"                        \
	}
#define OPTION_ROW_COLOR                                                                           \
	{                                                                                          \
		OPTION_COLOR, "color", "auto|always|never",                                        \
			"colours; default auto: on a terminal, unless NO_COLOR is set"                           \
	}
#define OPTION_ROW_NO_PAGER                                                                        \
	{                                                                                          \
		OPTION_NO_PAGER, "no-pager", NULL, "do not start a pager on a terminal"                     \
	}

#endif
