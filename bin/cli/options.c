/* SPDX-License-Identifier: MIT */
#include "cli/options.h"

#include <ctype.h>
#include <errno.h>
#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/message.h"
#include "cli/command.h"
#include "cli/terminal.h"

#define ROWS_MAX 32
#define HELP_COLUMN 28

enum { CODE_HELP = 'h' };

bool options_is_optional(const struct option_row *row)
{
	return row->argument && row->argument[0] == '[';
}

/* Print a line such as "-o, --output=FILE". Leave out the parts that the option does not have. */
static int print_option(const struct option_row *row)
{
	int width = row->code < 256 ? printf("  -%c, ", row->code) : printf("      ");

	width += printf("--%s", row->name);
	if (row->argument)
		width += printf(options_is_optional(row) ? "%s" : "=%s", row->argument);
	return width;
}

static void print_row(const struct option_row *row)
{
	int width = print_option(row);

	if (width > HELP_COLUMN - 2) {
		putchar('\n');
		width = 0;
	}
	printf("%*s%s\n", HELP_COLUMN - width, "", row->help);
}

void options_help(const struct command *command)
{
	static const struct option_row help = {CODE_HELP, "help", NULL, "print this"};

	printf("usage: txtrace %s%s%s%s\n\n%c%s.\n\n", command->name,
	       command->options && command->options->name ? " [OPTION...]" : "",
	       *command->arguments ? " " : "", command->arguments, toupper((unsigned char)command->summary[0]),
	       command->summary + 1);
	for (const struct option_row *row = command->options; row && row->name; row++)
		print_row(row);
	print_row(&help);
	if (command->explain)
		command->explain();
	if (command != &cmd_help && command != &cmd_version)
		printf("\nMore: man txtrace-%s\n", command->name);
}

/* The table of options, converted for getopt_long(). */
struct getopt_tables {
	struct option row[ROWS_MAX + 2];
	char letters[2 * ROWS_MAX + 4];
};

static void add_row(struct getopt_tables *tables, int i, int code, const char *name, int takes)
{
	size_t length = strlen(tables->letters);

	tables->row[i] = (struct option){name, takes, NULL, code};
	if (code >= 256)
		return;
	tables->letters[length++] = (char)code;
	if (takes != no_argument)
		tables->letters[length++] = ':';
	tables->letters[length] = '\0';
}

/*
 * A '+' at the start of the short options makes the first argument end the options. Options after this argument belong
 * to the recorded command.
 */
static void make_tables(const struct command *command, struct getopt_tables *tables)
{
	int i = 0;

	memset(tables, 0, sizeof(*tables));
	strcpy(tables->letters, command->arguments[0] == '(' ? "+:" : ":");
	for (const struct option_row *row = command->options; row && row->name && i < ROWS_MAX;
	     row++)
		add_row(tables, i++, row->code, row->name,
			!row->argument		 ? no_argument :
			options_is_optional(row) ? optional_argument :
						   required_argument);
	add_row(tables, i, CODE_HELP, "help", no_argument);
}

/* Return true if several long options begin like this word. */
static bool is_ambiguous(const struct option *row, const char *word)
{
	size_t length = strncmp(word, "--", 2) == 0 ? strcspn(word + 2, "=") : 0;
	int nr = 0;

	for (; length > 0 && row->name; row++)
		nr += strncmp(row->name, word + 2, length) == 0;
	return nr > 1;
}

int options_next(const struct command *command, int argc, char **argv)
{
	struct getopt_tables tables;
	int code;

	make_tables(command, &tables);
	opterr = 0;
	code = getopt_long(argc, argv, tables.letters, tables.row, NULL);
	if (code == CODE_HELP) {
		options_help(command);
		exit(terminal_end(EXIT_FINE));
	}
	if (code != '?' && code != ':')
		return code;
	if (code == ':')
		message("%s needs an argument; see txtrace %s --help", argv[optind - 1],
			command->name);
	else if (optopt > 0 && optopt < 256)
		message("unknown option -%c; see txtrace %s --help", optopt, command->name);
	else
		message("%s option %s; see txtrace %s --help",
			is_ambiguous(tables.row, argv[optind - 1]) ? "ambiguous" : "unknown", argv[optind - 1],
			command->name);
	return '?';
}

const char *options_file(const struct command *command, int argc, char **argv)
{
	if (optind + 1 == argc)
		return argv[optind];
	message("%s takes one file; see txtrace %s --help", command->name, command->name);
	return NULL;
}

bool options_read(const struct command *command, int argc, char **argv, bool (*read)(void *argument, int code),
		  void *argument)
{
	int code;

	while ((code = options_next(command, argc, argv)) != -1)
		if (!read(argument, code))
			return false;
	return true;
}

const char *options_read_file(const struct command *command, int argc, char **argv,
			      bool (*read)(void *argument, int code), void *argument)
{
	if (!options_read(command, argc, argv, read, argument))
		return NULL;
	return options_file(command, argc, argv);
}

bool options_is_string(const char *argument, bool *is_string)
{
	*is_string = strcmp(argument, "string") == 0;
	if (*is_string || strcmp(argument, "number") == 0)
		return true;
	message("--ns takes number or string, not %s", argument);
	return false;
}

bool options_is_count(const char *option, const char *things, const char *argument, uint64_t *number)
{
	char *end;

	errno = 0;
	*number = strtoull(argument, &end, 10);
	if (errno == 0 && *end == '\0' && isdigit((unsigned char)*argument) && *number > 0)
		return true;
	message("--%s takes a number of %s, at least 1, not %s", option, things, argument);
	return false;
}

bool options_is_number(const char *what, const char *argument, uint64_t least, uint64_t most, uint64_t *number)
{
	char *end;

	errno = 0;
	*number = strtoull(argument, &end, 0);
	if (errno == 0 && *end == '\0' && isdigit((unsigned char)*argument) && *number >= least && *number <= most)
		return true;
	message("%s is not %s", argument, what);
	return false;
}

bool options_is_json(const char *argument, bool *is_json)
{
	*is_json = strcmp(argument, "json") == 0;
	if (*is_json || strcmp(argument, "text") == 0)
		return true;
	message("--format takes text or json, not %s", argument);
	return false;
}
