/* SPDX-License-Identifier: MIT */
/*
 * Make one log of several ones.
 *
 *	px_merge_make()		makes an empty merge
 *	px_merge_add()		adds a log: its threads, objects, event types, losses and modules
 *	px_merge_begin()	creates the merged log
 *	px_merge_event()	appends an event of one of the logs; the caller chooses the order, and the times
 *	px_merge_note_missing()	notes that events of a log could not be read
 *	px_merge_end()		completes the merged log
 *
 * The merged log has its own numbers of hosts, threads and event types.  Two logs are of one host if they have the same
 * boot id, the same name of the host, and pids of the same namespace.  On one host, threads with the same pid and tid
 * are one thread, unless the process is another one or has executed another program; if a log has several of them, in
 * their order.  Event types with one name and one description are one type; of several types with one name and other
 * descriptions, the later ones get a name of their own.
 *
 * An event stays as it is, except for numbers in it: its event type, pid, CPU and thread; the sets of event types in
 * START and FILTER; pid, tid and CPU in scheduling records; and pids, tids and handles of threads in the data of calls.
 * In a log of a machine of another kind, the data of user events become what this machine would have recorded
 * (fields/convert.h); where that is not possible, their type is described as bytes.
 *
 * The logs are hostile input.  The merge keeps nothing of them after px_merge_add().  The caller ensures that only one
 * thread at a time uses a merge, and that SIGXFSZ is blocked.
 */
#ifndef PX_LOG_MERGE_H
#define PX_LOG_MERGE_H

#include "log/archive.h"
#include "log/origins.h"
#include "registry/registry.h"

struct px_merge;

/* Return NULL if there is no memory. */
struct px_merge *px_merge_make(void);
void px_merge_free(struct px_merge *merge);

/*
 * Add a log; the first one has the number 0.  Return 0, ENOMEM, EINVAL (the file is not a log), or E2BIG: there are
 * more than PX_HOSTS_MAX hosts, or more event types or logs than a log can have.
 */
int px_merge_add(struct px_merge *merge, struct px_archive *log);

/*
 * Create the merged log in an empty file.  Return 0, ENOMEM, E2BIG (a log has no room for the descriptions of the
 * types), or an error of px_log_create().
 */
int px_merge_begin(struct px_merge *merge, int fd, const struct px_process_id *writer);

/* How the times of a log were corrected, for the origins that it has (origins.h). */
struct px_merge_clock {
	int64_t shift_ns, drift, uncertainty_ns;
};

void px_merge_set_clock(struct px_merge *merge, uint32_t number, const struct px_merge_clock *clock);

/* Set the name of the file of a log, without directories. */
void px_merge_set_name(struct px_merge *merge, uint32_t number, const char *name);

/*
 * Append an event of the log with this number.  report->time_ns is its time in the merged log.  data has report->copied
 * bytes.  Return 0, ENOMEM, or the first error of writing.
 */
int px_merge_event(struct px_merge *merge, uint32_t number, const struct px_report *report, const void *data);

/*
 * Note that so many events of a log could not be read, which its reader knows only at its end.  Then the merged log
 * says that it lacks events that were recorded, without their number; if the log was being written, its writer
 * overwrote them, and they are counted so.
 */
void px_merge_note_missing(struct px_merge *merge, uint32_t number, uint64_t nr);

/* Complete the merged log, and free the merge.  Return 0, or the first error. */
int px_merge_end(struct px_merge *merge);

#endif
