/* SPDX-License-Identifier: MIT */
/*
 * If a controller dies, another process completes its log (EXIT-1, EXIT-4, EXEC-4).  The segment still exists, and
 * holds the events after the last commit of the log.  So after recovery, each recorded event is in the log once, in
 * order and whole.
 *
 * A controller is dead if its process has ended, or has called exec: then the process no longer maps the segment.  A
 * controller in another pid name space counts as alive.
 *
 * Recovery writes to the log as a flush does.  If the recovering process is killed, the log is as it was at its last
 * commit, and the next recovery continues there.  Only one process at a time recovers a log (checkpoint.h).
 *
 * Recovery is impossible in these cases: the segment does not exist any more, the segment is from before the last boot,
 * the log was removed, or its file now holds another log.  Recovery then removes the checkpoint file, and the segment
 * and registry slot if they exist.  The log stays readable up to its last commit, and is never marked as complete.
 *
 * Recovery trusts a checkpoint file in the directory of the effective user, which other users cannot access.  It trusts
 * a log that is a regular file with the device, inode, owner and uuid of the checkpoint file.  It checks the contents
 * of segment and log as untrusted input.  A log that is found by its path must belong to the effective user.
 */
#ifndef PX_STREAM_RECOVER_H
#define PX_STREAM_RECOVER_H

#include <stdbool.h>
#include <stdint.h>

#include "log/checkpoint.h"
#include "stream/stream.h"

/*
 * Recover the log of fd, which may be for reading only.  Return 0, even if the log was already complete.  Return EINVAL
 * if the file is not a log that posixtrace wrote.  Return EBUSY if the writer of the log lives, and EALREADY if another
 * process is recovering the log now.  Return ENOENT if there is nothing to recover the log from.  After EALREADY,
 * ENOMEM, EMFILE, ENFILE or an error of writing (EACCES, EROFS, ENOSPC, ...), the caller may try again.
 */
int px_recover_file(int fd);

/*
 * Remove what killed processes have left without a log, and recover the logs of all dead controllers of this user.
 * Set *nr_recovered to the number of logs that this call has recovered.  Set *nr_left to the number of logs that a
 * later call may be able to recover: for example, their file system is not mounted now.  Do not wait for other
 * processes that recover logs.
 */
void px_recover_all(unsigned int *nr_recovered, unsigned int *nr_left);

/*
 * Do the same as px_recover_all() when a process creates a stream, with one exception: leave each log that its own
 * process may still get from px_former_find().  After that process has ended, or on request, another call recovers such
 * a log.
 */
void px_recover_for_create(void);

/* The type of a callback that gets the result for a log: 0 or an error number.  The caller holds no lock. */
typedef void px_recover_report(const char *path, int error, void *argument);

/*
 * Recover the logs of all dead controllers of this user.  Call report for each log, except for a log that another
 * process is recovering.
 */
void px_recover_each(px_recover_report *report, void *argument);

/*
 * A child that executes another program after fork would have two logs.  The first would hold only the few calls
 * between fork and exec.  If no event of the first log is in its file yet, the program takes the events into its own
 * log, and removes the first one.
 */
struct px_former {
	struct px_stream *stream;
	struct px_checkpoint_file *checkpoint_file;
	uint64_t device, inode; /* device and inode of its log */
};

/*
 * This process may have begun a log when it was a child made by fork and had not executed this program yet.  Find that
 * log, if its file has no events.  Return false if there is no such log, or if another log cannot take over all of it.
 * Otherwise the caller must call px_former_remove() when its own log has the events, or px_former_leave().
 */
bool px_former_find(struct px_former *former);
void px_former_remove(struct px_former *former);
void px_former_leave(struct px_former *former);

/*
 * Recover the logs of this process from before an exec.  The constructor of the library does this.  In the preloaded
 * object, it leaves logs that px_former_find() may return, so the object calls this function later.
 */
void px_recover_own(void);

#endif
