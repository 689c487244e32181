/* SPDX-License-Identifier: MIT */
/*
 * A command of the tool and its options. getopt_long, --help and the completion of the shell all use the same table.
 */
#ifndef TXTRACE_CLI_OPTIONS_H
#define TXTRACE_CLI_OPTIONS_H

#include <stdbool.h>
#include <getopt.h>
#include <stddef.h>
#include <stdint.h>

#define OPTIONS_END                                                                                \
	{                                                                                          \
		0, NULL, NULL, NULL                                                                \
	}

struct option_row {
	int code;	      /* the letter of the option; an option without a letter has a number from 256 on */
	const char *name;     /* the long name */
	/*
	 * NULL if there is no argument; completion knows FILE, DIR and A|B|C.  "[=A|B|C]": the argument is optional,
	 * and the option has no letter.
	 */
	const char *argument;
	const char *help;
};

struct command {
	const char *name;
	const char *arguments; /* the arguments that follow the options */
	const char *summary;   /* one sentence without a full stop */
	const struct option_row *options;
	int (*run)(int argc,
		   char **argv); /* runs the command; argv[0] is its name; returns the exit code */
	void (*explain)(void);	 /* prints the text that --help shows after the options, or NULL */
};

/* Return true if the user may leave out the argument of the option. */
bool options_is_optional(const struct option_row *row);

/*
 * Return the code of the next option, with its argument in optarg. Return -1 after the last option. Then optind is the
 * index of the first argument. After an error, print a message and return '?'. --help prints the help and exits.
 */
int options_next(const struct command *command, int argc, char **argv);

/*
 * Return the file that is the only argument. If there is no argument or more than one, print a message and return NULL.
 */
const char *options_file(const struct command *command, int argc, char **argv);

/*
 * Read all options: call read() for each of them, with `argument` and the code of the option.  After an error, or if
 * read() returns false, return false: a message was printed.
 */
bool options_read(const struct command *command, int argc, char **argv, bool (*read)(void *argument, int code),
		  void *argument);

/* Do the same for a command whose only argument is a file.  Return the file, or NULL after an error. */
const char *options_read_file(const struct command *command, int argc, char **argv,
			      bool (*read)(void *argument, int code), void *argument);

/*
 * Parse the argument of --format for a command that has only the formats text and json. If the argument is neither,
 * print a message and return false.
 */
bool options_is_json(const char *argument, bool *is_json);

/* Parse the argument of --ns in the same way. */
bool options_is_string(const char *argument, bool *is_string);

/*
 * Parse the argument of an option that takes a number of things, at least 1.  If it is none, print a message and return
 * false.
 */
bool options_is_count(const char *option, const char *things, const char *argument, uint64_t *number);

/*
 * Read a number in decimal, or in hex digits after 0x.  If it is none, or is not from least to most, print a message
 * such as "x is not an address", and return false.
 */
bool options_is_number(const char *what, const char *argument, uint64_t least, uint64_t most, uint64_t *number);

/* Print the help of a command. */
void options_help(const struct command *command);

/* The codes of options without a letter that several commands have. */
enum {
	OPTION_FORMAT = 256,
	OPTION_COLUMNS,
	OPTION_NS,
	OPTION_FROM,
	OPTION_UNTIL,
	OPTION_TICK,
	OPTION_NAMES,
	OPTION_COLOR,
	OPTION_NO_PAGER,
	OPTION_FORCE,
	OPTION_SPLIT,
	OPTION_PER_CORE,
	OPTION_LIMIT,
	OPTION_INHERIT,
	OPTION_SIZE,
	OPTION_WIDE,
	OPTION_TYPE,
	OPTION_SPAN,
	OPTION_TIME,
	OPTION_HOST,
	OPTION_COMPRESS,
	OPTION_OWN /* each command numbers its own options from this code on */
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
#define OPTION_ROW_NAMES                                                                           \
	{                                                                                          \
		OPTION_NAMES, "names", "FILE", "names of user events, as in tracex_custom.trxc"     \
	}
#define OPTION_ROWS_THREADX                                                                        \
	OPTION_ROW_NAMES,                                                                          \
	{                                                                                          \
		OPTION_TICK, "tick", "NS",                                                         \
			"tick length of a ThreadX buffer in ns"                  \
	}
#define OPTION_ROWS_TYPE                                                                           \
	{OPTION_TYPE, "type", "EVENT=FIELDS", "the fields of the data; see txtrace-types(7)"},     \
	{                                                                                          \
		'T', "type-file", "FILE", "a file with a line EVENT=FIELDS for each event type"    \
	}
#define OPTION_ROW_TIME                                                                            \
	{                                                                                          \
		OPTION_TIME, "time", "relative|utc|local|epoch", "text: how to print times; default relative" \
	}
#define OPTION_ROW_SPAN                                                                            \
	{                                                                                          \
		OPTION_SPAN, "span", "SPAN", "the times from events to events: NAME=BEGIN..END[:FIELD]" \
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
#define OPTION_ROW_NS                                                                              \
	{                                                                                          \
		OPTION_NS, "ns", "number|string", "jsonl, json: the type of ns; default number"    \
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
