/* SPDX-License-Identifier: MIT */
/*
 * Make a complete log from events that another log, or the rings of a stream, already hold.
 *
 *	px_log_copy_begin()	creates the log
 *	px_log_copy_events()	appends the events of another log
 *	px_log_copy_append()	appends an event
 *	px_log_copy_end()	completes the log
 *
 * The copy holds all events, even if its attributes limit the size of the log.  Threads and objects keep their names.
 * If a write fails, the copy is given up: px_log_copy_end() then returns the error.
 *
 * The caller ensures that only one thread at a time uses a copy, and that SIGXFSZ is blocked.
 */
#ifndef PX_LOG_COPY_H
#define PX_LOG_COPY_H

#include "log/archive.h"
#include "log/log.h"

struct px_log_copy;

/* What the log is a copy of. */
struct px_log_copy_setup {
	int fd;
	struct px_process_id writer;
	const struct px_attr *attr;
	uint32_t target_pid;
	struct px_archive *from;    /* another log, or NULL */
	const struct px_view *view; /* a stream with threads, types and wrappers, or NULL */
	bool has_origins; /* the caller appends origins (origins.h) to the complete log */
	const struct px_namer *namer; /* for objects without a name in the other log, or NULL; must stay valid */
};

/* How the copied stream was in the end. */
struct px_log_copy_result {
	struct px_loss loss;
	bool is_full, is_overrun;
	uint64_t nr_log_lost; /* events that the new log lacks, as far as they were counted */
	bool lacks_others;    /* it may lack others */
	int flush_error;      /* the first error of a write of the copied log, or 0 */
	double tick_ns;
};

/* Return 0, ENOMEM, or an error of px_log_create(). */
int px_log_copy_begin(const struct px_log_copy_setup *setup, struct px_log_copy **copy);

/* Append all events of the other log that can be read. */
void px_log_copy_events(struct px_log_copy *copy);

/* Append an event.  data has report->copied bytes. */
void px_log_copy_append(struct px_log_copy *copy, const struct px_report *report, const void *data);

/* Return the first error of writing, or 0. */
int px_log_copy_error(const struct px_log_copy *copy);

/* Complete the log, and free the copy.  Return 0, or the first error of writing. */
int px_log_copy_end(struct px_log_copy *copy, const struct px_log_copy_result *result);

#endif
