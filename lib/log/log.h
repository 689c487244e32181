/* SPDX-License-Identifier: MIT */
/*
 * The writer of a log: merged events in, a file that is right at every instant out (format.h).
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
 * thread, or for the object of a call, gives the slot of one that no surviving entry names (LOOP), begins a volume
 * (APPEND), or shows the call as a user event, and the event as of no thread (UNTIL_FULL, LOOP); the section has the
 * exact thread in any case.
 *
 * Each commit has a checkpoint of the stream (checkpoint.h), so that somebody else can go on where a dead writer
 * was.  It is a parameter: the caller fills in where the reader is, and the log adds its own part.
 *
 * The descriptor is a private duplicate of one that may allow writing only: everything is pwrite.  One thread at
 * a time; the caller sees to it.  SIGXFSZ is the caller's to block.
 */
#ifndef PX_LOG_LOG_H
#define PX_LOG_LOG_H

#include <stdbool.h>
#include <stdint.h>

#include "calls/objects.h"
#include "event/attr.h"
#include "log/checkpoint.h"
#include "log/format.h"
#include "registry/registry.h"
#include "ring/report.h"
#include "ring/segment.h"

struct px_log;

/* What a log is told at its beginning.  attr: settled; log_size is set to
 * what a log that is bounded really has. */
struct px_log_setup {
	int fd;
	struct px_attr *attr;
	struct px_process_id writer;
	uint32_t target_pid;
	const struct px_threads *threads; /* of the stream: who the contexts are, */
	const struct px_typelist *types;  /* and what the event types are called */
	const struct px_view *view;	  /* for its wrappers; or NULL */
	struct px_checkpoint_file *checkpoint_file; /* the checkpoints of its commits; or NULL */
};

/* What a log is told that goes on.  Header, layout and commit are as the file has them, and checked. */
struct px_log_left {
	int fd; /* for reading and writing */
	const struct px_log_header *header;
	const struct px_log_layout *layout;
	const struct px_log_commit *commit;
	const struct px_threads *threads;
	const struct px_typelist *types;
	const struct px_view *view;
	struct px_checkpoint_file *checkpoint_file; /* base: the checkpoint of this commit */
};

/* How the stream is, for the commit.  Sticky (STATUS-8). */
struct px_log_state {
	struct px_checkpoint *checkpoint; /* the log fills in its own part; NULL: none */
	struct px_loss loss;
	bool is_full;
	bool is_overrun;
	double tick_ns; /* of the stream's counter */
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
int px_log_create(const struct px_log_setup *setup, const struct px_log_state *state,
		  struct px_log **log);

/*
 * Go on with a log that its writer left, behind its last commit.  0, EINVAL (damaged), ENOMEM, EMFILE, or what
 * reading and repairing the file met.
 */
int px_log_resume(const struct px_log_left *left, struct px_log **log);

/* Who names the objects of calls; it stays the caller's.  NULL: nobody. */
void px_log_set_namer(struct px_log *log, const struct px_namer *namer);

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

/*
 * As after creation, in the same file (CLEAR-7): what is laid out and remembered, and then the file.  Where
 * emptying it fails, the next write begins with that.
 */
void px_log_clear(struct px_log *log, const struct px_log_state *state);
int px_log_empty(struct px_log *log);

/* Write, mark how it ended, cut the file to its length, close the duplicate, free. */
int px_log_complete(struct px_log *log, const struct px_log_state *state, enum px_log_end end);

/*
 * Make sure that the log is behind its descriptor: where that was closed, or is another file's by now, the log is
 * opened again by its path as of the last flush.  0, or EBADF: it cannot be found, and nothing is written.
 */
int px_log_hold(struct px_log *log);

/* Close the descriptor, unless it is another file's, and leave all else: for a child.  Async-signal-safe. */
void px_log_let_go(struct px_log *log);

/* The duplicate, as long as there is a log. */
int px_log_descriptor(const struct px_log *log);

/* Give it up without a word in the file. */
void px_log_free(struct px_log *log);

/* For the status: a LOOP log that has gone round, or an UNTIL_FULL log that has refused an event. */
bool px_log_is_full(const struct px_log *log);

/* Events lost for the log since it was created or cleared. */
uint64_t px_log_nr_lost(const struct px_log *log);

#endif
