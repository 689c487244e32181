/* SPDX-License-Identifier: MIT */
/*
 * The writer of a log: merged events in, a file that is right at every instant out (logfile.h).
 *
 * Two steps, so that a slow disk holds nobody's lock:
 *
 *	px_log_append()	lays one event out in memory: its entry, its slots, the fillers ahead of it.  Makes
 *			no system call.
 *	px_log_write()	writes what was laid out, and commits it.
 *
 * If writing fails, what was laid out is lost for the log and counted; the file stays as it was at the
 * last commit, and the next events take the place of the lost ones (LOGP-8).
 *
 * Full: a LOOP log goes round, oldest slots first; an UNTIL_FULL log refuses further events, but
 * has kept a slot for the last STOP; an APPEND log begins a volume.  A registry that has no slot for a
 * thread gives the slot of one without surviving events (LOOP), begins a volume (APPEND), or shows the
 * event as of no thread (UNTIL_FULL, LOOP); the section has the exact thread in any case.
 *
 * The descriptor is a private duplicate of one that may allow writing only: everything is pwrite.  One thread at
 * a time; the caller sees to it.  SIGXFSZ is the caller's to block.
 */
#ifndef PX_LOG_H
#define PX_LOG_H

#include <stdbool.h>
#include <stdint.h>

#include "attr.h"
#include "reader.h"
#include "registry.h"

struct px_log;

/* What a log is told at its beginning.  attr: settled; log_size is set to
 * what a log that is bounded really has. */
struct px_log_setup {
	int fd;
	struct px_attr *attr;
	struct px_process_id writer;
	uint32_t target_pid;
	const struct px_objects *threads; /* of the stream: who the contexts are */
};

/* How the stream is, for the commit.  Sticky (STATUS-8). */
struct px_log_state {
	struct px_loss loss;
	bool is_full;
	bool is_overrun;
};

enum px_log_room {
	PX_LOG_TAKEN,
	PX_LOG_WRITE_FIRST, /* not taken: write, then append it again */
	PX_LOG_FULL	    /* not taken: no event will be any more, but STOP */
};

/*
 * EBADF: fd is not open for writing.  EINVAL: no regular file, or O_APPEND.  What the file system says
 * (ENOSPC, EFBIG, ...), EMFILE, ENOMEM.  The file is not cut: its space may have been allocated before.
 */
int px_log_check(int fd);
int px_log_create(const struct px_log_setup *setup, struct px_log **log);

/* data: report->copied bytes, all that the event has. */
enum px_log_room px_log_append(struct px_log *log, const struct px_report *report,
			       const void *data);

/* True if it was PX_LOG_FULL, and no event will be taken any more. */
bool px_log_refuses(const struct px_log *log);

/* The last event of a full log, of the same time as the newest before.  Once. */
void px_log_append_stop(struct px_log *log);

/* An event that the log will not have. */
void px_log_count_lost(struct px_log *log);

/* 0, or the error of the first write that failed: all that was laid out is lost then. */
int px_log_write(struct px_log *log, const struct px_log_state *state);

/* As after creation, in the same file (CLEAR-7). */
int px_log_clear(struct px_log *log, const struct px_log_state *state);

/* Write, mark it as complete, cut the file to its length, close the duplicate, free. */
int px_log_complete(struct px_log *log, const struct px_log_state *state);

/* Give it up without a word in the file. */
void px_log_free(struct px_log *log);

/* For the status: a LOOP log that has gone round, or an UNTIL_FULL log that has refused an event. */
bool px_log_is_full(const struct px_log *log);

/* Events lost for the log since it was created or cleared. */
uint64_t px_log_nr_lost(const struct px_log *log);

#endif
