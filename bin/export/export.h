/* SPDX-License-Identifier: MIT */
/*
 * The formats of txtrace export. Each has a row in EXPORTERS below, and its callbacks are in one of the files out_*.c.
 *
 * begin() may read the source, but must rewind it afterwards. Then the command calls event() for each selected event in
 * the order of the file, and finally end(), even after an error. An exporter that reads the events itself has run()
 * instead of these.
 */
#ifndef TXTRACE_EXPORT_EXPORT_H
#define TXTRACE_EXPORT_EXPORT_H

#include <stdbool.h>

#include "base/output.h"
#include "trace/filter.h"
#include "trace/source.h"

#define EXPORT_LIMIT 2000000 /* default of --limit */

struct export
{
	struct text text; /* the output; it is open, unless the exporter makes the output itself */
	struct source *source;
	const struct selection *selection;
	const char *output; /* name of the output; "-": standard output */
	bool overwrites;
	const char *columns;   /* NULL: the default columns */
	bool splits, per_core; /* write several files */
	uint64_t limit;    /* maximum number of events */
	void *state;	       /* data of the exporter */
};

struct exporter {
	const char *name;    /* argument of --to */
	const char *suffix;  /* suffix of files, with its point */
	const char *summary; /* without a full stop */
	bool is_binary;	     /* the tool does not write it to a terminal */
	bool makes_output;   /* the exporter makes a directory or several files: `text` is not open */
	bool takes_stdout;   /* makes_output is set, but the exporter can write one file to standard output */
	bool prints_output;  /* the exporter prints the names of its files */
	bool shows_waits;    /* the exporter needs the waits of a log, so calls_expand() is called */
	const int
		*options; /* codes of further options that this exporter takes, ended by 0; NULL: none */
	bool (*begin)(
		struct export
			*export); /* returns false after a failure and a message: then end() is not called */
	void (*event)(struct export *export, const struct event *event);
	bool (*end)(struct export *export, bool is_complete); /* returns false after a failure and a message */
	bool (*run)(struct export *export);
};

/* All exporters.  The first is the default. */
#if HAVE_PERFETTO
#define EXPORTERS_PERFETTO(X) X(perfetto)
#else
#define EXPORTERS_PERFETTO(X)
#endif
#if HAVE_CTF
#define EXPORTERS_CTF(X) X(ctf)
#else
#define EXPORTERS_CTF(X)
#endif
#define EXPORTERS(X)                                                                               \
	EXPORTERS_PERFETTO(X)                                                                      \
	X(chrome)                                                                                  \
	X(csv)                                                                                     \
	X(html)                                                                                    \
	X(jsonl)                                                                                   \
	EXPORTERS_CTF(X)                                                                           \
	X(trx)                                                                                     \
	X(trxc)

#define EXPORTER_DECLARE(name) extern const struct exporter exporter_##name;
EXPORTERS(EXPORTER_DECLARE)
#undef EXPORTER_DECLARE

#endif
