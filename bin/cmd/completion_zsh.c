/* SPDX-License-Identifier: MIT */
#include "cmd/completion.h"

#include <stdio.h>
#include <string.h>

#include "cli/command.h"

static const char functions[] =
	"#compdef txtrace\n"
	"# zsh completion of txtrace; made by: txtrace help --completion=zsh\n"
	"_txtrace_pids()\n"
	"{\n"
	"\tlocal -a pids\n"
	"\n"
	"\tpids=(${(f)\"$(txtrace list 2>/dev/null | awk '$1 == \"pid\" { found = 1; next } found { print $1 }')\"})\n"
	"\tcompadd -a pids\n"
	"}\n"
	"\n"
	"_txtrace_pids_or_files()\n"
	"{\n"
	"\t_txtrace_pids\n"
	"\t_files\n"
	"}\n"
	"\n"
	"_txtrace_commands_or_pids()\n"
	"{\n"
	"\t_txtrace_pids\n"
	"\t_command_names -e\n"
	"\t_files\n"
	"}\n"
	"\n"
	"_txtrace_list()\n"
	"{\n"
	"\tlocal -a offers\n"
	"\n"
	"\toffers=(${(f)\"$(txtrace help --offer=$1 2>/dev/null)\"})\n"
	"\tcompset -P '*,'\n"
	"\tcompset -P '[-+]'\n"
	"\tcompadd -q -S , -a offers\n"
	"}\n"
	"\n"
	"_txtrace_file_or_thread()\n"
	"{\n"
	"\tlocal word file\n"
	"\tlocal -a offers\n"
	"\n"
	"\tfor word in ${(Q)words[2,CURRENT-1]}; do\n"
	"\t\t[[ -f $word ]] && file=$word\n"
	"\tdone\n"
	"\tif [[ -z $file ]]; then\n"
	"\t\t_files\n"
	"\t\treturn\n"
	"\tfi\n"
	"\toffers=(${(f)\"$(txtrace help --offer=threads -- $file 2>/dev/null)\"})\n"
	"\tcompadd -a offers\n"
	"}\n"
	"\n"
	"_txtrace()\n"
	"{\n"
	"\tlocal curcontext=$curcontext state line\n"
	"\tlocal -a commands\n"
	"\ttypeset -A opt_args\n"
	"\n"
	"\tcommands=(\n";

static const char begin[] =
	"\t)\n"
	"\t_arguments -C '(- *)--help[print the commands]' '(- *)--version[print the version]' \\\n"
	"\t\t'1:command:->command' '*::argument:->argument'\n"
	"\tcase $state in\n"
	"\tcommand) _describe -t commands command commands ;;\n"
	"\targument)\n"
	"\t\tcase $words[1] in\n";

static const char end[] = "\t\tesac\n"
			  "\t\t;;\n"
			  "\tesac\n"
			  "}\n"
			  "\n"
			  "_txtrace \"$@\"\n";

/* Print text for a string in single quotes, with a backslash before brackets. */
static void print_quoted(const char *text)
{
	for (; *text; text++) {
		if (*text == '\'') {
			fputs("'\\''", stdout);
			continue;
		}
		if (strchr("[]\\", *text))
			putchar('\\');
		putchar(*text);
	}
}

/* Print "MESSAGE:ACTION" for an argument with this name. */
static void print_action(const char *argument)
{
	static const struct {
		const char *kind, *action;
	} actions[] = {
		{"FILE", "file:_files"},		  {"DIR", "directory:_files -/"},
		{"PID", "process:_txtrace_pids"},	  {"PID_OR_FILE", "process or file:_txtrace_pids_or_files"},
		{"COMMAND", "command:_command_names -e"}, {"TEXT", "argument: "},
		{"COLUMNS", "columns: _txtrace_list columns"},
		{"GROUPS", "groups: _txtrace_list groups"},
		{"COMMAND_OR_PID", "command or process:_txtrace_commands_or_pids"},
		{"FILE_THREAD", "file or thread:_txtrace_file_or_thread"},
	};
	const char *kind = completion_kind(argument);

	for (size_t i = 0; i < sizeof(actions) / sizeof(actions[0]); i++)
		if (strcmp(kind, actions[i].kind) == 0) {
			fputs(actions[i].action, stdout);
			return;
		}
	fputs("word:(", stdout);
	for (; *kind; kind++)
		if (*kind != '|')
			putchar(*kind);
		else if (kind[1])
			putchar(' ');
	putchar(')');
}

static void print_option(const struct option_row *row)
{
	const char *sign = !row->argument ? "" : options_is_optional(row) ? "=-" : "=";

	if (row->code < 256)
		printf(" \\\n\t\t\t\t'(-%c --%s)'{-%c%s,--%s%s}'[", row->code, row->name, row->code,
		       row->argument ? "+" : "", row->name, sign);
	else
		printf(" \\\n\t\t\t\t'--%s%s[", row->name, sign);
	print_quoted(row->help);
	putchar(']');
	if (row->argument) {
		fputs(options_is_optional(row) ? "::" : ":", stdout);
		print_action(row->argument);
	}
	putchar('\'');
}

static void print_command(const struct command *command)
{
	printf("\t\t%s)\n\t\t\t_arguments -S '(- *)--help[print the options]'", command->name);
	for (const struct option_row *row = command->options; row && row->name; row++)
		print_option(row);
	if (command == &cmd_help) {
		fputs(" \\\n\t\t\t\t'1:command:(", stdout);
		for (const struct command *const *at = commands; *at; at++)
			printf("%s%s", at == commands ? "" : " ", (*at)->name);
		fputs(")'", stdout);
	} else if (strcmp(completion_kind(command->arguments), "COMMAND") == 0) {
		fputs(" \\\n\t\t\t\t'*::command:_normal'", stdout);
	} else if (command->arguments[0]) {
		fputs(" \\\n\t\t\t\t'*:", stdout);
		print_action(command->arguments);
		putchar('\'');
	}
	puts("\n\t\t\t;;");
}

void completion_print_zsh(void)
{
	fputs(functions, stdout);
	for (const struct command *const *at = commands; *at; at++) {
		printf("\t\t'%s:", (*at)->name);
		print_quoted((*at)->summary);
		puts("'");
	}
	fputs(begin, stdout);
	for (const struct command *const *at = commands; *at; at++)
		print_command(*at);
	fputs(end, stdout);
}
