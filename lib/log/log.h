/* SPDX-License-Identifier: MIT */
/*
 * The writer of a log: it takes merged events, and keeps the file readable at every instant (format.h).
 *
 * It works in two steps, so that a slow disk blocks no lock:
 *
 *	px_log_append()	lays one event out in memory: its entry, its slots, the fillers before it.  Makes
 *			no system call.
 *	px_log_write()	writes what was laid out, and commits it.
 *
 * If a write fails, the events laid out are lost for the log, and are counted.  The file stays as it was at
 * the last commit, and the next events replace the lost ones (LOGP-8).
 *
 * A full LOOP log overwrites its oldest slots.  A full UNTIL_FULL log refuses further events, except for the last
 * STOP, which has a reserved slot.  An APPEND log begins a new volume.
 *
 * The object registry of a volume may have no free slot for a thread, or for the object of a call.  A LOOP log then
 * reuses the slot of an object that no remaining entry names.  An APPEND log begins a new volume.  If that is not
 * possible, the call becomes a user event, or the event belongs to no thread in the image.  The section has the exact
 * thread in any case.
 *
 * Each commit has a checkpoint of the stream (checkpoint.h), so that another process can continue after a dead writer.
 * The checkpoint is a parameter: the caller fills in the position of the reader, and the log adds its own part.
 *
 * The descriptor is a private duplicate.  It may allow writing only, so the writer uses nothing but pwrite().  One
 * thread at a time; the caller ensures this.  The caller also blocks SIGXFSZ.
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

/* Parameters of a new log.  attr: those in use; creation sets log_size to the real size of a bounded log. */
struct px_log_setup {
	int fd;
	struct px_attr *attr;
	struct px_process_id writer;
	uint32_t target_pid;
	const struct px_threads *threads; /* of the stream, like the next two */
	const struct px_typelist *types;
	const struct px_view *view;		    /* for its wrappers; or NULL */
	struct px_checkpoint_file *checkpoint_file; /* the checkpoints of its commits; or NULL */
};

/* Parameters of a log that continues.  Header, layout and commit are those of the file, and are checked. */
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

/* The state of the stream, for a commit.  Overruns are sticky (STATUS-8). */
struct px_log_state {
	struct px_checkpoint *checkpoint; /* the log fills in its own part; NULL: none */
	struct px_loss loss;
	bool is_full;
	bool is_overrun;
	double tick_ns; /* of the stream's counter */
};

enum px_log_room {
	PX_LOG_TAKEN,
	PX_LOG_WRITE_FIRST, /* not taken: write, then append the event again */
	PX_LOG_FULL	    /* not taken: the log takes no event from now on, except STOP */
};

/*
 * Check the descriptor of a new log, or create a log.  Return 0, EBADF (fd is not open for writing), EINVAL (no regular
 * file, or O_APPEND), EMFILE, ENOMEM, or an error of the file system (ENOSPC, EFBIG, ...).  The file is not truncated:
 * the caller may have allocated its space.
 */
int px_log_check(int fd);
int px_log_create(const struct px_log_setup *setup, const struct px_log_state *state,
		  struct px_log **log);

/*
 * Continue the log of a dead writer after its last commit.  Return 0, EINVAL (damaged), ENOMEM, EMFILE, or an error of
 * reading or repairing the file.
 */
int px_log_resume(const struct px_log_left *left, struct px_log **log);

/* Set the namer of the objects of calls; the caller keeps it.  NULL: none. */
void px_log_set_namer(struct px_log *log, const struct px_namer *namer);

/* Lay out an event.  data: report->copied bytes, which are all data of the event. */
enum px_log_room px_log_append(struct px_log *log, const struct px_report *report,
			       const void *data);

/* Return true after PX_LOG_FULL: then the log takes no more events. */
bool px_log_refuses(const struct px_log *log);

/* Append the last STOP of a full log, once.  It has the time of the newest event. */
void px_log_append_stop(struct px_log *log);

/* Count an event that is lost for the log. */
void px_log_count_lost(struct px_log *log);

/* Write and commit.  Return 0, or the error of the first write that failed: then all events laid out are lost. */
int px_log_write(struct px_log *log, const struct px_log_state *state);

/*
 * Reset the log as after creation, in the same file (CLEAR-7): first what is in memory, then the file.  If emptying the
 * file fails, the next write tries it again.
 */
void px_log_clear(struct px_log *log, const struct px_log_state *state);
int px_log_empty(struct px_log *log);

/* Write, truncate the file to its length, record how the log ended, close the duplicate, and free the log. */
int px_log_complete(struct px_log *log, const struct px_log_state *state, enum px_log_end end);

/*
 * Ensure that the descriptor belongs to the log.  If the program has closed it, or uses its number for another file,
 * open the log again by its path at the last flush.  Return 0, or EBADF if the log cannot be found: then write nothing.
 */
int px_log_ensure_descriptor(struct px_log *log);

/*
 * Close the descriptor, unless it belongs to another file, and change nothing else.  For a child made by fork.
 * Async-signal-safe.
 */
void px_log_close_descriptor(struct px_log *log);

/* The duplicate. */
int px_log_descriptor(const struct px_log *log);

/* Free the log, and leave the file as it is. */
void px_log_free(struct px_log *log);

/* For the status: return true if a LOOP log has overwritten events, or an UNTIL_FULL log has refused an event. */
bool px_log_is_full(const struct px_log *log);

/* Return the number of events lost for the log since its creation or the last clear. */
uint64_t px_log_nr_lost(const struct px_log *log);

#endif
