/* SPDX-License-Identifier: MIT */
/*
 * The formats of txtrace export. Each has a row in EXPORTERS below, and its callbacks are in one of the files out_*.c.
 *
 * The command first calls begin(). begin() may read the source, but must rewind it afterwards. Then the command calls
 * event() for each selected event in the order of the file. Finally it calls end(), even after an error. An exporter
 * that reads the events itself has run() instead of these three functions.
 */
#ifndef TXTRACE_EXPORT_EXPORT_H
#define TXTRACE_EXPORT_EXPORT_H

#include <stdbool.h>

#include "base/output.h"
#include "report/spans.h"
#include "trace/selection.h"
#include "trace/source.h"

#define EXPORT_LIMIT 2000000 /* the default of --limit */

struct export
{
	struct text text; /* the output; it is open if makes_output is false */
	struct source *source;
	const struct selection *selection;
	const struct spans *spans; /* of the options */
	const char *output; /* name of the output, or "-" for standard output */
	bool overwrites;
	const char *columns;   /* NULL means the default columns */
	const char *host;      /* the machine of the trace, or NULL */
	bool quotes_ns;	       /* in JSON lines, ns is a string */
	bool compresses;       /* perfetto: compressed packets */
	bool splits, per_core; /* write several files */
	uint64_t limit;    /* maximum number of events */
	void *state;	       /* data of the exporter */
};

struct exporter {
	const char *name;    /* the argument of --to */
	const char *suffix;  /* suffix of the files, such as ".json" */
	const char *summary; /* one sentence without a full stop */
	bool is_binary;	     /* the tool does not write the output to a terminal */
	bool makes_output;   /* the exporter makes a directory or several files, so `text` is not open */
	bool takes_stdout;   /* makes_output is set, but the exporter can write one file to standard output */
	bool needs_file; /* makes_output is set, and the exporter writes one file, which cannot be standard output */
	bool prints_output;  /* the exporter prints the names of its files */
	bool shows_waits;    /* the exporter needs the waits of a log, so the command calls calls_expand() */
	/* The codes of further options of this exporter, with 0 at the end.  NULL if there are none. */
	const int *options;
	/* After a failure, begin() and end() print a message and return false.  If begin() fails, do not call end(). */
	bool (*begin)(struct export *export);
	void (*event)(struct export *export, const struct event *event);
	bool (*end)(struct export *export, bool is_complete);
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
#if HAVE_SQLITE
#define EXPORTERS_SQLITE(X) X(sqlite)
#define EXPORTERS_CLICKHOUSE(X) X(clickhouse)
#else
#define EXPORTERS_SQLITE(X)
#define EXPORTERS_CLICKHOUSE(X)
#endif
#define EXPORTERS(X)                                                                               \
	EXPORTERS_PERFETTO(X)                                                                      \
	X(chrome)                                                                                  \
	EXPORTERS_CLICKHOUSE(X)                                                                    \
	X(csv)                                                                                     \
	X(html)                                                                                    \
	X(jsonl)                                                                                   \
	EXPORTERS_CTF(X)                                                                           \
	EXPORTERS_SQLITE(X)                                                                        \
	X(trx)                                                                                     \
	X(trxc)

#define EXPORTER_DECLARE(name) extern const struct exporter exporter_##name;
EXPORTERS(EXPORTER_DECLARE)
#undef EXPORTER_DECLARE

#endif
