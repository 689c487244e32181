/* SPDX-License-Identifier: MIT */
/* Statements from a terminal, with editing and a history, or from standard input. */
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#if HAVE_LIBEDIT
#include <histedit.h>
#endif

#include "base/memory.h"
#include "sql/database.h"
#include "sql/slices.h"

#define HISTORY 1000 /* lines */

struct lines {
	bool is_terminal;
	bool is_continued; /* the next line continues a statement */
#if HAVE_LIBEDIT
	EditLine *editor;
	History *history;
#endif
	char *line;
	size_t size;
};

static const char *prompt_of(const struct lines *lines)
{
	return lines->is_continued ? "   ...> " : "txtrace> ";
}

#if HAVE_LIBEDIT
static char *editor_prompt(EditLine *editor)
{
	struct lines *lines;

	el_get(editor, EL_CLIENTDATA, &lines);
	return (char *)(uintptr_t)prompt_of(lines);
}

static void begin_lines(struct lines *lines)
{
	HistEvent event;

	lines->is_terminal = isatty(STDIN_FILENO);
	if (!lines->is_terminal)
		return;
	lines->history = must(history_init());
	history(lines->history, &event, H_SETSIZE, HISTORY);
	lines->editor = must(el_init("txtrace", stdin, stdout, stderr));
	el_set(lines->editor, EL_CLIENTDATA, lines);
	el_set(lines->editor, EL_PROMPT, editor_prompt);
	el_set(lines->editor, EL_HIST, history, lines->history);
	el_set(lines->editor, EL_EDITOR, "emacs");
	el_set(lines->editor, EL_SIGNAL, 1);
	el_source(lines->editor, NULL);
}

static const char *read_edited(struct lines *lines)
{
	HistEvent event;
	int length;
	const char *line = el_gets(lines->editor, &length);

	if (line && line[strspn(line, " \t\n")])
		history(lines->history, &event, H_ENTER, line);
	return line;
}

static void end_lines(struct lines *lines)
{
	if (lines->editor)
		el_end(lines->editor);
	if (lines->history)
		history_end(lines->history);
	free(lines->line);
}
#else
static void begin_lines(struct lines *lines)
{
	lines->is_terminal = isatty(STDIN_FILENO);
}

static void end_lines(struct lines *lines)
{
	free(lines->line);
}
#endif

/* Return the next line, or NULL at the end.  It is valid until the next call. */
static const char *read_line(struct lines *lines)
{
#if HAVE_LIBEDIT
	if (lines->editor)
		return read_edited(lines);
#endif
	if (lines->is_terminal) {
		fputs(prompt_of(lines), stdout);
		fflush(stdout);
	}
	return getline(&lines->line, &lines->size, stdin) < 0 ? NULL : lines->line;
}

/* Ctrl-C ends a query, and not the tool. */
static sqlite3 *volatile running;

static void interrupt(int signal_number)
{
	(void)signal_number;
	if (running)
		sqlite3_interrupt(running);
}

static void print_help(struct text *text)
{
	text_string(text, ".help           this text\n"
			  ".quit           end; so does the end of the input\n"
			  ".schema [TABLE] the columns of a table, or of all tables\n"
			  ".tables         the tables\n"
			  "SELECT ...;     a query; a semicolon ends it\n");
}

static void print_tables(const struct sql_database *database, struct text *text)
{
	for (const struct sql_table **at = database->table; *at; at++) {
		text_printf(text, "%-10s ", (*at)->name);
		text_plain(text, (*at)->summary, 0); /* it may have the name of an event */
		text_char(text, '\n');
	}
	text_printf(text, "%-10s %s\n", SQL_SLICES, SQL_SLICES_SUMMARY);
}

static bool print_slices(struct text *text)
{
	char *query = sql_slices_query("", "NULL");

	text_printf(text, "CREATE VIEW " SQL_SLICES " AS %s;\n", query ? query : "");
	sqlite3_free(query);
	return query != NULL;
}

static bool print_schema(const struct sql_database *database, struct text *text, const char *name)
{
	bool is_found = false;

	for (const struct sql_table **at = database->table; *at; at++) {
		char *declaration;

		if (*name && strcmp(name, (*at)->name) != 0)
			continue;
		is_found = true;
		declaration = sql_table_declaration(*at, (*at)->name, false);
		text_printf(text, "%s;\n", declaration);
		sqlite3_free(declaration);
	}
	if (!*name || strcmp(name, SQL_SLICES) == 0)
		is_found |= print_slices(text);
	if (!is_found)
		fprintf(stderr, "txtrace: there is no table %s; .tables lists the tables\n", name);
	return is_found;
}

/* Run a line that begins with a dot.  *is_over: the user wants no more. */
static bool run_command(const struct sql_database *database, struct text *text, char *line, bool *is_over)
{
	char *rest = line, *word;

	line[strcspn(line, "\r\n")] = '\0';
	word = strsep(&rest, " \t");
	rest = rest ? rest + strspn(rest, " \t") : word + strlen(word);
	rest[strcspn(rest, " \t;")] = '\0';
	*is_over = strcmp(word, ".quit") == 0 || strcmp(word, ".exit") == 0;
	if (*is_over)
		return true;
	if (strcmp(word, ".schema") == 0)
		return print_schema(database, text, rest);
	if (strcmp(word, ".tables") == 0)
		print_tables(database, text);
	else if (strcmp(word, ".help") == 0)
		print_help(text);
	else
		fprintf(stderr, "txtrace: there is no command %s; .help lists the commands\n", word);
	return strcmp(word, ".tables") == 0 || strcmp(word, ".help") == 0;
}

struct statement {
	char *text;
	size_t length;
};

static void add_line(struct statement *statement, const char *line)
{
	size_t length = strlen(line);

	statement->text = must(realloc(statement->text, statement->length + length + 1));
	memcpy(statement->text + statement->length, line, length + 1);
	statement->length += length;
}

bool sql_prompt(struct sql_database *database, struct text *text, enum format format)
{
	struct sigaction action = {.sa_handler = interrupt}, before;
	struct statement statement = {0};
	struct lines lines = {0};
	bool is_fine = true, is_over = false;
	const char *line;

	begin_lines(&lines);
	if (lines.is_terminal)
		sigaction(SIGINT, &action, &before);
	running = database->sqlite;
	while (!is_over && (is_fine || lines.is_terminal) && (line = read_line(&lines))) {
		if (statement.length == 0 && line[strspn(line, " \t\r\n")] == '\0')
			continue;
		add_line(&statement, line);
		lines.is_continued = *statement.text != '.' && !sqlite3_complete(statement.text);
		if (lines.is_continued)
			continue;
		if (*statement.text == '.')
			is_fine = run_command(database, text, statement.text, &is_over);
		else
			is_fine = sql_run(database, statement.text, false, text, format);
		text_flush(text);
		statement.length = 0;
	}
	if (statement.length > 0) /* the input ended without a semicolon */
		is_fine = sql_run(database, statement.text, false, text, format);
	running = NULL;
	if (lines.is_terminal)
		sigaction(SIGINT, &before, NULL);
	free(statement.text);
	end_lines(&lines);
	return is_fine || lines.is_terminal;
}
