/* SPDX-License-Identifier: MIT */
/*
 * The writer of a log.  The caller passes the events in the order in which the reader of a stream reports them.  The
 * writer keeps the file readable at every instant (format.h).
 *
 * The writer works in two steps, so that the caller holds no lock while it waits for a slow disk:
 *
 *	px_log_append()	puts one event into a buffer in memory, the *stage*: its entries, its slots, and the fillers
 *			before them.  It makes no system call.
 *	px_log_write()	writes the staged events to the file, and commits them.
 *
 * If a write fails, the staged events are lost, and the writer counts them.  Readers find the log as it was at its last
 * commit, and the next events take the place of the lost events (LOGP-8).
 *
 * A full LOOP log overwrites its oldest slots.  A full UNTIL_FULL log refuses further events, except for the last STOP,
 * which has a reserved slot.  An APPEND log is never full: it begins a new volume.
 *
 * The object registry of a volume may have no free slot for a thread, or for the object of a call.  Then a LOOP log
 * reuses the slot of an object that no remaining entry names, and an APPEND log begins a new volume.  An UNTIL_FULL log
 * cannot get a slot.  A LOOP log cannot get a slot if its remaining entries name all objects.  In these two cases, the
 * image shows the call as a user event, or the event as an event of no thread.  The section always has the exact
 * thread.
 *
 * Each commit has a checkpoint of the stream (checkpoint.h), so that another process can continue the log if the writer
 * dies.  The caller fills in the position of the reader in the checkpoint, and passes the checkpoint as a parameter.
 * The log writer adds its own part.
 *
 * The log uses a private duplicate of the caller's descriptor.  The file may be open for writing only, so the writer
 * never reads it.  Only px_log_resume() reads the file.  The caller ensures that only one thread at a time uses a log,
 * and that SIGXFSZ is blocked while the log writes.
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

struct px_archive;
struct px_log;

/*
 * Parameters of a new log.  attr: the attributes of the stream.  If the log has a maximum size, px_log_create() sets
 * attr->log_size to the real size of the log.
 */
struct px_log_setup {
	int fd;
	struct px_attr *attr;
	struct px_process_id writer;
	uint32_t target_pid;
	const struct px_threads *threads; /* threads, types and view belong to the stream */
	const struct px_typelist *types;
	const struct px_descriptions *descriptions;
	/* Gives the wrapper statistics of the stream; NULL: none. */
	const struct px_view *view;
	/* The writer stores the checkpoints in it; NULL: none. */
	struct px_checkpoint_file *checkpoint_file;
	/* For a copy of another log, or NULL: it has modules and wrappers.  It must stay open as long as the log. */
	struct px_archive *from;
	bool has_origins; /* the caller appends origins (origins.h) to the complete log */
	bool takes_all; /* the log must not overwrite or refuse events: ignore the log size and the policy in attr */
};

/* Parameters of px_log_resume().  The caller has read header, layout and commit from the file, and has checked them. */
struct px_log_left {
	int fd; /* descriptor of the log, open for reading and writing */
	const struct px_log_header *header;
	const struct px_log_layout *layout;
	const struct px_log_commit *commit;
	const struct px_threads *threads;
	const struct px_typelist *types;
	const struct px_descriptions *descriptions;
	const struct px_view *view;
	struct px_checkpoint_file *checkpoint_file; /* its base is the checkpoint of this commit */
};

/* The state of the stream, for a commit.  is_overrun stays true until the stream is cleared (STATUS-8). */
struct px_log_state {
	struct px_checkpoint *checkpoint; /* the log writer fills in its own part; NULL: none */
	struct px_loss loss;
	bool is_full;
	bool is_overrun;
	double tick_ns; /* length of a tick of the stream's counter */
	uint64_t offset_ns; /* what the stream adds to CLOCK_MONOTONIC; 0: the times are not those of this machine */
};

enum px_log_room {
	PX_LOG_TAKEN,
	PX_LOG_WRITE_FIRST, /* the log did not take the event: write, then append it again */
	PX_LOG_FULL	    /* the log did not take the event: from now on it takes only STOP */
};

/*
 * Check the descriptor for a new log.  Return 0, EBADF (fd is not open for writing) or EINVAL (no regular file, or
 * O_APPEND).
 */
int px_log_check(int fd);

/*
 * Create a log.  Return 0, an error of px_log_check(), EMFILE, ENOMEM, or an error of the file system (ENOSPC, EFBIG,
 * ...).  This function does not truncate the file, because the caller may have allocated its space.
 */
int px_log_create(const struct px_log_setup *setup, const struct px_log_state *state,
		  struct px_log **log);

/*
 * Continue the log of a dead writer after its last commit.  Return 0, EINVAL (the checkpoint is damaged), ENOMEM,
 * EMFILE, or the error of a read or write of the file.
 */
int px_log_resume(const struct px_log_left *left, struct px_log **log);

/*
 * Give the first threads of the processes that have staged events the titles of these processes (px_procfs_title()).
 * Only the writer of living processes calls this, because a later process can have the same pid.
 */
void px_log_take_titles(struct px_log *log);

/*
 * Set the callback that chooses names for the objects of calls; NULL: none.  The caller keeps *namer valid while the
 * log exists.
 */
void px_log_set_namer(struct px_log *log, const struct px_namer *namer);

/*
 * Stage an event.  data has report->copied bytes: all data of the event.  An event that is older than the event before
 * it gets the time of that event: the times of a log do not decrease.
 */
enum px_log_room px_log_append(struct px_log *log, const struct px_report *report,
			       const void *data);

/* Return true if the log is full and takes no more events (PX_LOG_FULL). */
bool px_log_refuses(const struct px_log *log);

/*
 * Stage the last STOP of a full log, unless it is already staged or written.  This STOP has the time of the newest
 * event.
 */
void px_log_append_stop(struct px_log *log);

/* Count an event that the log cannot take. */
void px_log_count_lost(struct px_log *log);
/*
 * Take over what the log lacks that this one is made of: the number of events that were counted, whether it may lack
 * others, and the first error of its writes, or 0.
 */
void px_log_take_losses(struct px_log *log, uint64_t nr_events, bool lacks_others, int error);

/* Copy the thread with this pid and tid.  Return false if the log does not know it. */
bool px_log_find_thread(const struct px_log *log, uint32_t pid, uint32_t tid, struct px_object *thread);

/* Return true if the log has scheduling records, and its last event does not end them. */
bool px_log_has_open_sched(const struct px_log *log);

/*
 * Copy the threads that have been added to the table of the stream since the last call or the last write.  A table
 * keeps the newest threads only, so call this often enough while many threads come and go.
 */
void px_log_collect_threads(struct px_log *log);

/*
 * Write the staged events, and commit them.  Return 0, or the error of the first write that failed.  After an error,
 * all staged events are lost.
 */
int px_log_write(struct px_log *log, const struct px_log_state *state);

/*
 * Reset the log in memory to its state after creation (CLEAR-7).  The next px_log_empty() or px_log_write() empties the
 * file.
 */
void px_log_clear(struct px_log *log, const struct px_log_state *state);

/* Empty the file of a cleared log.  Return 0 or an error number.  After an error, the next write tries again. */
int px_log_empty(struct px_log *log);

/*
 * Write the staged events, truncate the file to the length in use, record how the log ended, close the duplicate, and
 * free the log.  Return 0, or the first error.
 */
int px_log_complete(struct px_log *log, const struct px_log_state *state, enum px_log_end end);

/*
 * Ensure that the descriptor belongs to the log.  If the program has closed the descriptor, or uses its number for
 * another file, open the log again.  Use the path that the log had at the last flush.  Return 0, or EBADF if the log is
 * not there.  After EBADF, the caller must not write.
 */
int px_log_ensure_descriptor(struct px_log *log);

/*
 * For a child made by fork: close the descriptor, unless the program now uses its number for another file.  Change
 * nothing in the file.  Async-signal-safe.
 */
void px_log_close_descriptor(struct px_log *log);

/* Return the private descriptor of the log. */
int px_log_descriptor(const struct px_log *log);

/* Free the log, and leave the file as it is. */
void px_log_free(struct px_log *log);

/*
 * Return true if a LOOP log has overwritten events, or an UNTIL_FULL log has refused an event.  The status of the
 * stream shows this as "full".
 */
bool px_log_is_full(const struct px_log *log);

/* Return the number of events lost for the log since its creation or the last clear. */
uint64_t px_log_nr_lost(const struct px_log *log);

#endif
