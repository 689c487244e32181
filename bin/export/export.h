/* SPDX-License-Identifier: MIT */
/*
 * The formats of txtrace export. Each has a row in EXPORTERS below, and its callbacks are in one of the files out_*.c.
 *
 * begin() may read the source, but must rewind it afterwards. Then the command calls event() for each selected event in
 * the order of the file, and at last end(), also after an error. An exporter that reads the events itself has run()
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
	struct text text; /* the output; open, unless the exporter makes it */
	struct source *source;
	const struct selection *selection;
	const char *output; /* its name; "-": standard output */
	bool overwrites;
	const char *columns;   /* NULL: the default columns */
	bool splits, per_core; /* into several files */
	uint64_t limit;    /* events at most */
	void *state;	       /* the exporter's own */
};

struct exporter {
	const char *name;    /* argument of --to */
	const char *suffix;  /* of files, with its point */
	const char *summary; /* without a full stop */
	bool is_binary;	     /* not written to a terminal */
	bool makes_output;   /* a directory, or several files: text is not opened for it */
	bool takes_stdout;   /* makes_output, but can write a single file to standard output */
	bool prints_output;  /* prints the name of what it wrote */
	bool shows_waits;    /* needs the waits of a log: calls_expand() */
	const int
		*options; /* codes of options that not every exporter has, ended by 0; NULL: none */
	bool (*begin)(
		struct export
			*export); /* false: failed after a message; end() is not called */
	void (*event)(struct export *export, const struct event *event);
	bool (*end)(struct export *export, bool is_complete); /* false: as with begin() */
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
