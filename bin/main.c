/* SPDX-License-Identifier: MIT */
/* txtrace: find the command in the table and run it. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/files.h"
#include "base/message.h"
#include "base/output.h"
#include "cli/command.h"
#include "cli/terminal.h"
#include "cmd/completion.h"
#include "cmd/offers.h"

const struct command *const commands[] = {
	&cmd_record, &cmd_follow, &cmd_top, &cmd_list,	&cmd_doctor, &cmd_snapshot, &cmd_recover, &cmd_pack,
	&cmd_print,  &cmd_info,
	&cmd_check,  &cmd_report, &cmd_blocked, &cmd_locks,  &cmd_waits,   &cmd_states, &cmd_why,
	&cmd_sql,    &cmd_merge,  &cmd_diff,
	&cmd_tracex, &cmd_extract, &cmd_capture, &cmd_export, &cmd_demo,	  &cmd_version, &cmd_help,   NULL,
};

static const struct command *find(const char *name)
{
	for (const struct command *const *at = commands; *at; at++)
		if (strcmp((*at)->name, name) == 0)
			return *at;
	return NULL;
}

static void print_commands(FILE *file)
{
	fputs("usage: txtrace COMMAND [OPTION...] [ARGUMENT...]\n\n", file);
	for (const struct command *const *at = commands; *at; at++)
		fprintf(file, "  %-10s %s\n", (*at)->name, (*at)->summary);
	fputs("\ntxtrace COMMAND --help lists the options of a command; man txtrace has the details.\n", file);
}

enum { OPTION_COMPLETION = OPTION_OWN, OPTION_OFFER };

static const struct option_row help_options[] = {
	{OPTION_COMPLETION, "completion", "[=" COMPLETION_SHELLS "]",
	 "print the completion for a shell instead; bash by default"},
	{OPTION_OFFER, "offer", OFFERS, "print the words that it offers for columns, groups, or threads of a file"},
	OPTIONS_END,
};

static int help_on(const char *name)
{
	const struct command *command = find(name);

	if (!command) {
		message("unknown command %s; see txtrace help", name);
		return EXIT_TROUBLE;
	}
	options_help(command);
	return EXIT_FINE;
}

static int print_completion(const char *shell)
{
	static const struct {
		const char *shell;
		void (*print)(void);
	} printers[] = {
		{"bash", completion_print_bash}, {"zsh", completion_print_zsh}, {"fish", completion_print_fish},
	};

	for (size_t i = 0; i < sizeof(printers) / sizeof(printers[0]); i++)
		if (strcmp(shell, printers[i].shell) == 0) {
			printers[i].print();
			return EXIT_FINE;
		}
	message("there is no completion for %s, but for " COMPLETION_SHELLS, shell);
	return EXIT_TROUBLE;
}

static int run_help(int argc, char **argv)
{
	int code = options_next(&cmd_help, argc, argv);
	const char *kind = NULL;

	if (code == OPTION_COMPLETION)
		return print_completion(optarg ? optarg : "bash");
	if (code == OPTION_OFFER) {
		kind = optarg;
		code = options_next(&cmd_help, argc, argv);
	}
	if (code != -1)
		return EXIT_TROUBLE;
	if (kind)
		return offers_print(kind, optind < argc ? argv[optind] : NULL) ? EXIT_FINE : EXIT_TROUBLE;
	if (optind + 1 < argc) {
		message("help takes one command; see txtrace help");
		return EXIT_TROUBLE;
	}
	if (optind < argc)
		return help_on(argv[optind]);
	print_commands(stdout);
	return EXIT_FINE;
}

const struct command cmd_help = {
	.name = "help",
	.arguments = "[COMMAND]",
	.summary = "list the commands, or print the help of a command",
	.options = help_options,
	.run = run_help,
};

static int run_version(int argc, char **argv)
{
	if (options_next(&cmd_version, argc, argv) != -1)
		return EXIT_TROUBLE;
	if (optind < argc) {
		message("version takes no argument");
		return EXIT_TROUBLE;
	}
	puts("txtrace (" PACKAGE_NAME ") " PACKAGE_VERSION);
	return EXIT_FINE;
}

const struct command cmd_version = {
	.name = "version",
	.arguments = "",
	.summary = "print the version",
	.run = run_version,
};

int main(int argc, char **argv)
{
	static char buffer[65536]; /* the whole output of help: the only write is the last one, so its error is known */
	const struct command *command;

	hold_standard_files();
	setvbuf(stdout, buffer, _IOFBF, sizeof(buffer));
	text_use_locale();
	if (argc < 2) {
		print_commands(stderr);
		return EXIT_TROUBLE;
	}
	if (strcmp(argv[1], "--help") == 0 || strcmp(argv[1], "-h") == 0)
		return terminal_end(run_help(1, argv));
	if (strcmp(argv[1], "--version") == 0)
		return terminal_end(run_version(1, argv));
	command = find(argv[1]);
	if (!command) {
		message(argv[1][0] == '-' ? "unknown option %s before the command; see txtrace help"
					  : "unknown command %s; see txtrace help",
			argv[1]);
		return EXIT_TROUBLE;
	}
	return terminal_end(command->run(argc - 1, argv + 1));
}
