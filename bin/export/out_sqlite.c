/* SPDX-License-Identifier: MIT */
/* export --to sqlite: a database with the tables of txtrace sql. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/files.h"
#include "base/memory.h"
#include "base/message.h"
#include "cli/options.h"
#include "export/export.h"
#include "sql/database.h"

static bool write_database(struct export *export, const char *path)
{
	char *source = must(strdup(export->source->path));
	struct sql_database database;
	bool is_fine = sql_open(&database, &source, 1, export->selection, export->spans, true) &&
		       sql_copy(&database, path);

	sql_close(&database);
	free(source);
	return is_fine;
}

/* Give the file its final name.  link() fails if another file has this name. */
static bool name_file(const struct export *export, const char *part, const char *target)
{
	if (export->overwrites ? rename(part, target) == 0 : link(part, export->output) == 0)
		return true;
	if (errno == EEXIST)
		message("%s exists; --force overwrites it", export->output);
	else
		message_error(errno, "%s", export->output);
	return false;
}

/* The file has another name until it is complete. */
static bool run(struct export *export)
{
	bool is_fine = false;
	struct stat status;
	char *target, *part;

	if (!export->overwrites && access(export->output, F_OK) == 0) {
		message("%s exists; --force overwrites it", export->output);
		return false;
	}
	/* The database is made under another name, so it cannot go into a device. */
	if (stat(export->output, &status) == 0 && !S_ISREG(status.st_mode)) {
		message("%s is not a regular file", export->output);
		return false;
	}
	target = must(target_of(export->output));
	if (asprintf(&part, "%s.part-%ld", target, (long)getpid()) < 0)
		part = must(NULL);
	if (access(part, F_OK) == 0)
		message("%s exists; remove it first", part);
	else
		is_fine = write_database(export, part) && name_file(export, part, target);
	unlink(part);
	free(part);
	free(target);
	return is_fine;
}

static const int options[] = {OPTION_SPAN, 0};

const struct exporter exporter_sqlite = {
	.name = "sqlite",
	.suffix = ".db",
	.summary = "a database of SQLite, with tables, types and indexes; see txtrace-sql(1)",
	.is_binary = true,
	.makes_output = true,
	.needs_file = true,
	.options = options,
	.run = run,
};
