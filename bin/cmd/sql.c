/* SPDX-License-Identifier: MIT */
/* txtrace sql: ask about traces with SQL. */
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/message.h"
#include "cli/command.h"
#include "cli/terminal.h"
#include "cmd/output_options.h"
#include "report/spans.h"
#include "trace/selection.h"
#if HAVE_SQLITE
#include "sql/database.h"
#endif

static const struct option_row option_rows[] = {
	{OPTION_FORMAT, "format", "text|json|csv", "output format; default text"},
	OPTION_ROWS_TYPE,
	OPTION_ROW_SPAN,
	OPTION_ROW_OUTPUT,
	OPTION_ROW_FORCE,
	OPTION_ROWS_THREADX,
	OPTION_ROW_COLOR,
	OPTION_ROW_NO_PAGER,
	OPTIONS_END,
};

struct options {
	struct output_options of_output;
	struct spans spans;
};

/* After an error, print a message and return false. */
static bool read_option(void *argument, int code)
{
	struct options *options = argument;

	return code == OPTION_SPAN ? spans_add(&options->spans, optarg) :
				     output_options_option(&options->of_output, code);
}

#if HAVE_SQLITE
/* Return true if the first word begins a statement of SQL. */
static bool begins_statement(const char *argument)
{
	static const char *const words[] = {
		"ALTER",  "ANALYZE", "ATTACH",	"BEGIN",   "COMMIT",   "CREATE",
		"DELETE", "DETACH",  "DROP",	"END",	   "EXPLAIN",  "INSERT",
		"PRAGMA", "REINDEX", "RELEASE", "REPLACE", "ROLLBACK", "SAVEPOINT",
		"SELECT", "UPDATE",  "VACUUM",	"VALUES",  "WITH"};
	size_t length = strspn(argument, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ");

	for (size_t i = 0; i < sizeof(words) / sizeof(words[0]); i++)
		if (strlen(words[i]) == length && strncasecmp(words[i], argument, length) == 0)
			return true;
	return false;
}

/* A query begins as a statement does, or has blanks, brackets or a semicolon, and there is no file of this name. */
static bool is_query(const char *argument)
{
	return (begins_statement(argument) || argument[strcspn(argument, " \t\n(;")]) && access(argument, F_OK) != 0;
}

static bool is_input(char *const *paths, unsigned int nr, const char *output)
{
	for (unsigned int i = 0; output && i < nr; i++)
		if (source_would_be_lost(paths[i], output))
			return true;
	return false;
}

static bool ask(const struct options *options, char *const *paths, unsigned int nr_paths, const char *query)
{
	static struct text text;
	struct sql_database database;
	bool is_fine = sql_open(&database, paths, nr_paths, &options->of_output.selection, &options->spans, false);

	if (is_fine) {
		if (query && !options->of_output.output)
			terminal_page();
		is_fine = text_open(&text, options->of_output.output, options->of_output.overwrites);
	}
	if (is_fine) {
		is_fine = query ? sql_run(&database, query, true, &text, options->of_output.format) :
				  sql_prompt(&database, &text, options->of_output.format);
		/* A query ends early if the output cannot be written: text_close() then says why. */
		is_fine = text_close(&text, is_fine || text.error) && is_fine;
	}
	sql_close(&database);
	return is_fine;
}

static int run_on(const struct options *options, int argc, char **argv)
{
	const char *query = argc > 0 && is_query(argv[argc - 1]) ? argv[argc - 1] : NULL;
	int nr_paths = query ? argc - 1 : argc;

	if (nr_paths < 1) {
		message("sql takes one or more files, and then a query; see txtrace sql --help");
		return EXIT_TROUBLE;
	}
	if (!query && nr_paths > 1 && access(argv[argc - 1], F_OK) != 0) {
		message("%s is no file, and it does not begin as a query, such as SELECT", argv[argc - 1]);
		return EXIT_TROUBLE;
	}
	if (is_input(argv, (unsigned int)nr_paths, options->of_output.output))
		return EXIT_TROUBLE;
	return ask(options, argv, (unsigned int)nr_paths, query) ? EXIT_FINE : EXIT_TROUBLE;
}
#else
static int run_on(const struct options *options, int argc, char **argv)
{
	(void)options;
	(void)argc;
	(void)argv;
	message("this txtrace was built without SQLite (Debian: libsqlite3-dev), so it has no SQL");
	return EXIT_TROUBLE;
}
#endif

static int run(int argc, char **argv)
{
	static struct options options = {.of_output = {.format = FORMAT_TEXT}};
	int code;

	if (!options_read(&cmd_sql, argc, argv, read_option, &options))
		return EXIT_TROUBLE;
	code = run_on(&options, argc - optind, argv + optind);
	spans_free(&options.spans);
	return code;
}

const struct command cmd_sql = {
	.name = "sql",
	.arguments = "FILE... [QUERY]",
	.summary = "ask about traces with SQL",
	.options = option_rows,
	.run = run,
};
