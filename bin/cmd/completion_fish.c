/* SPDX-License-Identifier: MIT */
#include "cmd/completion.h"

#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include "cli/command.h"

static const char functions[] =
	"# fish completion of txtrace; made by: txtrace help --completion=fish\n"
	"function __txtrace_pids\n"
	"\ttxtrace list 2>/dev/null | awk '$1 == \"pid\" { found = 1; next } found { print $1 }'\n"
	"end\n"
	"\n"
	"function __txtrace_list\n"
	"\tset -l value (string replace -r '^-(-[^=]*=|[a-z])' '' -- (commandline -ct))\n"
	"\tset -l head (string match -r '^(?:.*,)?[-+]?' -- $value)\n"
	"\tfor word in (txtrace help --offer=$argv[1] 2>/dev/null)\n"
	"\t\techo $head$word\n"
	"\tend\n"
	"end\n"
	"\n"
	"function __txtrace_file\n"
	"\tfor word in (commandline -opc)[3..-1]\n"
	"\t\tif test -f $word\n"
	"\t\t\techo $word\n"
	"\t\t\treturn\n"
	"\t\tend\n"
	"\tend\n"
	"\treturn 1\n"
	"end\n"
	"\n"
	"function __txtrace_threads\n"
	"\ttxtrace help --offer=threads -- (__txtrace_file) 2>/dev/null\n"
	"end\n"
	"\n"
	"complete -c txtrace -f\n"
	"complete -c txtrace -n __fish_use_subcommand -l help -d 'print the commands'\n"
	"complete -c txtrace -n __fish_use_subcommand -l version -d 'print the version'\n";

/* Print text for a string in single quotes. */
static void print_quoted(const char *text)
{
	for (; *text; text++) {
		if (strchr("'\\", *text))
			putchar('\\');
		putchar(*text);
	}
}

/* Print the options of `complete` for words with a '|' behind each. */
static void print_words(const char *words)
{
	fputs(" -a '", stdout);
	for (; *words; words++)
		if (*words != '|')
			putchar(*words);
		else if (words[1])
			putchar(' ');
	putchar('\'');
}

static bool takes_files(const char *argument)
{
	return strstr(completion_kind(argument), "FILE") != NULL;
}

/* Print the options of `complete` for an argument with this name.  -F permits files, which -f above forbids. */
static void print_argument(const char *argument)
{
	static const struct {
		const char *kind, *options;
	} kinds[] = {
		{"FILE", " -F"},
		{"DIR", " -a '(__fish_complete_directories)'"},
		{"PID", " -a '(__txtrace_pids)'"},
		{"PID_OR_FILE", " -F -a '(__txtrace_pids)'"},
		{"COMMAND", " -a '(__fish_complete_subcommand)'"},
		{"COMMAND_OR_PID", " -a '(__txtrace_pids) (__fish_complete_subcommand)'"},
		{"COLUMNS", " -a '(__txtrace_list columns)'"},
		{"GROUPS", " -a '(__txtrace_list groups)'"},
		{"TEXT", ""},
	};
	const char *kind = completion_kind(argument);

	for (size_t i = 0; i < sizeof(kinds) / sizeof(kinds[0]); i++)
		if (strcmp(kind, kinds[i].kind) == 0) {
			fputs(kinds[i].options, stdout);
			return;
		}
	print_words(kind);
}

static void print_option(const struct command *command, const struct option_row *row)
{
	printf("complete -c txtrace -n '__fish_seen_subcommand_from %s' -l %s", command->name, row->name);
	if (row->code < 256)
		printf(" -s %c", row->code);
	if (row->argument && options_is_optional(row)) {
		fputs(" -f", stdout);
		print_argument(row->argument);
	} else if (row->argument) {
		fputs(takes_files(row->argument) ? " -r" : " -x", stdout);
		print_argument(row->argument);
	}
	fputs(" -d '", stdout);
	print_quoted(row->help);
	puts("'");
}

static void print_command(const struct command *command)
{
	printf("complete -c txtrace -n __fish_use_subcommand -a %s -d '", command->name);
	print_quoted(command->summary);
	printf("'\ncomplete -c txtrace -n '__fish_seen_subcommand_from %s' -l help -d 'print the options'\n",
	       command->name);
	for (const struct option_row *row = command->options; row && row->name; row++)
		print_option(command, row);
	if (strcmp(completion_kind(command->arguments), "FILE_THREAD") == 0) {
		printf("complete -c txtrace -n '__fish_seen_subcommand_from %s; and not __txtrace_file >/dev/null' "
		       "-F\n", command->name);
		printf("complete -c txtrace -n '__fish_seen_subcommand_from %s; and __txtrace_file >/dev/null' "
		       "-a '(__txtrace_threads)'\n", command->name);
		return;
	}
	/* fish would take the value of an option, as in --stacks=, for the beginning of a command or a file. */
	printf("complete -c txtrace -n '__fish_seen_subcommand_from %s%s'", command->name,
	       strstr(completion_kind(command->arguments), "COMMAND") ?
		       "; and not string match -q -- \"-*\" (commandline -ct)" :
		       "");
	if (command == &cmd_help) {
		fputs(" -a '", stdout);
		for (const struct command *const *at = commands; *at; at++)
			printf("%s%s", at == commands ? "" : " ", (*at)->name);
		putchar('\'');
	} else {
		print_argument(command->arguments);
	}
	putchar('\n');
}

void completion_print_fish(void)
{
	fputs(functions, stdout);
	for (const struct command *const *at = commands; *at; at++)
		print_command(*at);
}
