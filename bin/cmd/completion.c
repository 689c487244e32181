/* SPDX-License-Identifier: MIT */
#include "cmd/completion.h"

#include <ctype.h>
#include <stdio.h>
#include <string.h>

#include "cli/command.h"

/*
 * These functions complete file names, process ids, command names, the words of an option such as A|B|C, and the words
 * that help --offer prints.  They do not complete other arguments.
 */
static const char functions[] =
	"# bash completion of txtrace; made by: txtrace help --completion\n"
	"_txtrace_pids()\n"
	"{\n"
	"\tcompgen -W \"$(txtrace list 2>/dev/null |\n"
	"\t\tawk '$1 == \"pid\" { found = 1; next } found { print $1 }')\" -- \"$1\"\n"
	"}\n"
	"\n"
	"_txtrace_list()\n"
	"{\n"
	"\tlocal rest=${2##*,} head\n"
	"\n"
	"\t[[ $rest == [-+]* ]] && rest=${rest:1}\n"
	"\thead=${2%\"$rest\"}\n"
	"\tcompgen -P \"$head\" -W \"$(txtrace help --offer=\"$1\" 2>/dev/null)\" -- \"$rest\"\n"
	"}\n"
	"\n"
	"_txtrace_threads()\n"
	"{\n"
	"\tlocal name\n"
	"\n"
	"\ttxtrace help --offer=threads -- \"$1\" 2>/dev/null | while IFS= read -r name; do\n"
	"\t\t[[ $name == \"$2\"* ]] && printf '%q\\n' \"$name\"\n"
	"\tdone\n"
	"}\n"
	"\n"
	"_txtrace_offer()\n"
	"{\n"
	"\tlocal what=$1 cur=$2\n"
	"\n"
	"\tcase $what in\n"
	"\t*'|'*) mapfile -t COMPREPLY < <(compgen -W \"${what//|/ }\" -- \"$cur\") ;;\n"
	"\tFILE)\n"
	"\t\tcompopt -o filenames 2>/dev/null\n"
	"\t\tmapfile -t COMPREPLY < <(compgen -f -- \"$cur\")\n"
	"\t\t;;\n"
	"\tDIR)\n"
	"\t\tcompopt -o filenames 2>/dev/null\n"
	"\t\tmapfile -t COMPREPLY < <(compgen -d -- \"$cur\")\n"
	"\t\t;;\n"
	"\tCOMMAND)\n"
	"\t\tcompopt -o filenames 2>/dev/null\n"
	"\t\tmapfile -t COMPREPLY < <(compgen -c -- \"$cur\"; compgen -f -- \"$cur\")\n"
	"\t\t;;\n"
	"\tPID_OR_FILE)\n"
	"\t\tcompopt -o filenames 2>/dev/null\n"
	"\t\tmapfile -t COMPREPLY < <(_txtrace_pids \"$cur\"; compgen -f -- \"$cur\")\n"
	"\t\t;;\n"
	"\tFILE_THREAD)\n"
	"\t\tlocal word file=''\n"
	"\t\tfor word in \"${COMP_WORDS[@]:2:COMP_CWORD - 2}\"; do\n"
	"\t\t\t[[ -f $word ]] && file=$word\n"
	"\t\tdone\n"
	"\t\tif [[ $file ]]; then\n"
	"\t\t\tmapfile -t COMPREPLY < <(_txtrace_threads \"$file\" \"$cur\")\n"
	"\t\telse\n"
	"\t\t\tcompopt -o filenames 2>/dev/null\n"
	"\t\t\tmapfile -t COMPREPLY < <(compgen -f -- \"$cur\")\n"
	"\t\tfi\n"
	"\t\t;;\n"
	"\tCOLUMNS | GROUPS)\n"
	"\t\tcompopt -o nospace 2>/dev/null\n"
	"\t\tmapfile -t COMPREPLY < <(_txtrace_list \"${what,,}\" \"$cur\")\n"
	"\t\t;;\n"
	"\tCOMMAND_OR_PID)\n"
	"\t\tcompopt -o filenames 2>/dev/null\n"
	"\t\tmapfile -t COMPREPLY < <(_txtrace_pids \"$cur\"; compgen -c -- \"$cur\"; compgen -f -- \"$cur\")\n"
	"\t\t;;\n"
	"\tPID) mapfile -t COMPREPLY < <(_txtrace_pids \"$cur\") ;;\n"
	"\tesac\n"
	"}\n"
	"\n"
	"_txtrace()\n"
	"{\n"
	"\tlocal cur=${COMP_WORDS[COMP_CWORD]} prev=${COMP_WORDS[COMP_CWORD - 1]}\n"
	"\tlocal command=${COMP_WORDS[1]} options='' arguments='' what='' equal=''\n"
	"\n"
	"\tCOMPREPLY=()\n"
	"\tif [[ $cur == = ]]; then\n"
	"\t\tcur='' equal='='\n"
	"\telif [[ $prev == = ]]; then\n"
	"\t\tprev=${COMP_WORDS[COMP_CWORD - 2]} equal='='\n"
	"\tfi\n";

static const char end[] = "\tif [[ $what ]]; then\n"
			  "\t\t_txtrace_offer \"$what\" \"$cur\"\n"
			  "\telif [[ $cur == -* ]]; then\n"
			  "\t\tmapfile -t COMPREPLY < <(compgen -W \"$options\" -- \"$cur\")\n"
			  "\t\t[[ ${#COMPREPLY[@]} -eq 1 && ${COMPREPLY[0]} == *= ]] && compopt -o "
			  "nospace 2>/dev/null\n"
			  "\telse\n"
			  "\t\t_txtrace_offer \"$arguments\" \"$cur\"\n"
			  "\tfi\n"
			  "\treturn 0\n"
			  "}\n"
			  "complete -F _txtrace txtrace\n";

static void print_names(char separator)
{
	for (const struct command *const *at = commands; *at; at++)
		printf("%s%c", (*at)->name, separator);
}

/* Of the words of "A|B|C" or "[=A|B|C]", return those that a user types, each with a '|' behind it. */
static const char *words_of(const char *argument)
{
	static char words[256];
	size_t used = 0;

	for (const char *at = argument + strspn(argument, "[="); *at;) {
		size_t length = strcspn(at, "|]"), typed = length;

		while (typed > 0 && isupper((unsigned char)at[typed - 1]))
			typed--;
		if (typed > 0 && used + typed + 2 <= sizeof(words)) {
			memcpy(words + used, at, typed);
			used += typed;
			words[used++] = '|';
		}
		at += length + strspn(at + length, "|]");
	}
	words[used] = '\0';
	return words;
}

const char *completion_kind(const char *argument)
{
	static const char *const kinds[] = {"COMMAND", "PID", "FILE", "DIR"};
	static const char process[] = "(-p PID | ";

	if (strncmp(argument, process, sizeof(process) - 1) == 0)
		argument += sizeof(process) - 1; /* the process is the argument of an option */
	if (strncmp(argument, "(COMMAND | PID", strlen("(COMMAND | PID")) == 0)
		return "COMMAND_OR_PID";
	if (strcmp(argument, "PID|FILE") == 0)
		return "PID_OR_FILE";
	if (strcmp(argument, "OLD NEW") == 0)
		return "FILE";
	if (strcmp(argument, "A,B,...") == 0)
		return "COLUMNS";
	if (strcmp(argument, "GROUPS") == 0)
		return "GROUPS";
	if (strncmp(argument, "FILE [THREAD", strlen("FILE [THREAD")) == 0)
		return "FILE_THREAD";
	if (strchr(argument, '|') && argument[0] != '(' && strncmp(argument, "PID", 3) != 0)
		return words_of(argument);
	for (size_t i = 0; i < sizeof(kinds) / sizeof(kinds[0]); i++)
		if (strstr(argument, kinds[i]))
			return kinds[i];
	return "TEXT";
}

static void print_command(const struct command *command)
{
	printf("\t%s)\n\t\toptions='--help", command->name);
	for (const struct option_row *row = command->options; row && row->name; row++) {
		printf(" --%s%s", row->name, row->argument && !options_is_optional(row) ? "=" : "");
		if (row->code < 256)
			printf(" -%c", row->code);
	}
	printf("'\n\t\targuments='");
	if (command == &cmd_help)
		print_names('|');
	else
		fputs(completion_kind(command->arguments), stdout);
	puts("'\n\t\t;;");
}

static void print_values(const struct command *command)
{
	for (const struct option_row *row = command->options; row && row->name; row++) {
		if (!row->argument)
			continue;
		printf("\t'%s --%s='", command->name, row->name);
		if (!options_is_optional(row))
			printf(" | '%s --%s'", command->name, row->name);
		if (row->code < 256 && !options_is_optional(row))
			printf(" | '%s -%c'", command->name, row->code);
		printf(") what='%s' ;;\n", completion_kind(row->argument));
	}
}

void completion_print_bash(void)
{
	fputs(functions, stdout);
	fputs("\tif ((COMP_CWORD == 1)); then\n\t\t_txtrace_offer '", stdout);
	print_names('|');
	fputs("--help|--version' \"$cur\"\n\t\treturn\n\tfi\n\tcase $command in\n", stdout);
	for (const struct command *const *at = commands; *at; at++)
		print_command(*at);
	fputs("\tesac\n\tcase \"$command $prev$equal\" in\n", stdout);
	for (const struct command *const *at = commands; *at; at++)
		print_values(*at);
	fputs("\tesac\n", stdout);
	fputs(end, stdout);
}
