/* SPDX-License-Identifier: MIT */
/*
 * The files of a database, and what its tables need of them.  Each cursor of the table of events reads a file with a
 * source of its own.  The waits, holds and states of a file are found in one pass, when a query first needs them, and
 * its spans in another one.
 *
 * A log that another process is writing is copied into memory when it is opened, so all tables show the same events.
 *
 * Memory use depends on the number of waits, holds and states, if a query uses them, but not on the number of events.
 */
#ifndef TXTRACE_SQL_FILES_H
#define TXTRACE_SQL_FILES_H

#include <stdbool.h>
#include <stdint.h>

#include "report/spans.h"
#include "trace/selection.h"
#include "trace/source.h"
#include "waits/waits.h"

enum sql_ending { SQL_ENDED, SQL_LASTS, SQL_MISSING };

struct sql_wait {
	const struct waiter *thread, *holder, *waker;
	const struct awaited *object;
	const char *service, *waker_service;
	uint64_t number;
	int64_t begin_ns, length_ns; /* length_ns is not known if the end is missing */
	uint64_t address;
	int result;
	enum sql_ending ending;
};

struct sql_hold {
	const struct waiter *thread;
	const struct awaited *object;
	int64_t since_ns, until_ns;
	uint64_t address;
	bool is_shared;
	enum sql_ending ending;
};

struct sql_state {
	const struct sched_thread *thread;
	unsigned int context;
	enum thread_state state;
	unsigned int cpu; /* valid if the thread ran */
	int64_t from_ns, until_ns;
};

struct sql_span {
	const struct span *span;
	struct span_time time;
};

struct sql_type {
	trace_event_id_t id;
	const char *name;
};

struct sql_module {
	char *base, *from, *until, *build_id, *path;
};

struct sql_file {
	unsigned int number; /* from 1 */
	const char *path;
	char *read_path; /* the file that is read: `path`, or a copy in memory */
	int copy;	 /* descriptor of the copy, or -1 */
	double tick_ns;
	const struct selection *selection;
	struct source *source;
	bool is_taken; /* a cursor reads the events of `source` */
	bool tells_missing; /* nothing was said yet of events that cannot be read */
	struct txtrace_file_info info; /* about the file, not about the copy */
	int64_t first_ns;
	bool has_event;

	struct sql_type *type;
	size_t nr_types;
	struct sql_module *module;
	char *module_text;
	size_t nr_modules;

	bool has_counts;
	uint64_t nr_events, nr_gaps, nr_missing;
	int64_t last_ns;

	bool has_model;
	struct source *of_model;
	struct waits waits;
	struct sql_wait *wait;
	struct sql_hold *hold;
	struct sql_state *state;
	size_t nr_waits, nr_holds, nr_states;
	size_t room_waits, room_holds, room_states;

	bool has_spans;
	struct spans spans;
	struct sql_span *span;
	size_t nr_spans, room_spans;
};

/*
 * Open a file of the database.  The caller keeps path and selection valid.  selection: the events and waits that the
 * tables show.  spans: those of the options.  is_quiet: do not report what the file lacks.  After a failure, print a
 * message and return false.
 */
bool sql_file_open(struct sql_file *file, const char *path, const struct selection *selection,
		   const struct spans *spans, bool is_quiet);
void sql_file_close(struct sql_file *file);

/*
 * Return a source at the first event, or NULL.  No other cursor reads from it.  The caller gives it back with
 * sql_file_give(); giving back NULL does nothing.
 */
struct source *sql_file_take(struct sql_file *file);
void sql_file_give(struct sql_file *file, struct source *source);

/* Read all events, if this was not done before: then nr_events, nr_gaps and last_ns are valid. */
void sql_file_count(struct sql_file *file);

/* Find the waits, holds and states, if this was not done before.  Return false if the file cannot be opened again. */
bool sql_file_model(struct sql_file *file);

/* Find the spans, if this was not done before.  Return false if the file cannot be opened again. */
bool sql_file_spans(struct sql_file *file);

/* List the event types, and the modules, if this was not done before. */
void sql_file_list_types(struct sql_file *file);
void sql_file_list_modules(struct sql_file *file);

#endif
