/* SPDX-License-Identifier: MIT */
/*
 * Logs whose controller died are completed by others (EXIT-1, EXIT-4, EXEC-4): from the segment, which is still
 * there, behind the log's last commit.  So whatever was recorded is in the log once, in order and whole.
 *
 * A controller is dead when its process is gone, or has become another program: then it does not map the segment
 * any more.  One of another pid name space counts as alive.
 *
 * Recovery writes as a flush does.  It may itself be killed at any instant; then the log is as of its last commit,
 * and whoever comes next goes on there.  One recovers a log at a time (checkpoint.h).
 *
 * What cannot be recovered any more is cleaned up: the segment is gone, or was left before the machine was started
 * anew; bequest and log do not go together, since the file holds another log; the log was removed.  The log is then
 * readable as far as it was committed, and never marked as complete.
 *
 * Trusted is a bequest in the directory of the effective user, which is closed to others; and a log that is a regular
 * file with the device, inode, owner and uuid that stand there.  Segment and log are input all the same.  A log that
 * is found by its path must belong to the effective user.
 */
#ifndef PX_STREAM_RECOVER_H
#define PX_STREAM_RECOVER_H

/*
 * Recover the log behind fd, which may be for reading only.  0, also if it is complete already.  EINVAL: no log of
 * ours.  EBUSY: its writer lives, or somebody recovers it.  ENOENT: there is nothing to recover it from.  Otherwise
 * why it cannot be written (EACCES, EROFS, ENOSPC, ...), ENOMEM, EMFILE: it may be tried again.
 */
int px_recover_file(int fd);

/*
 * Remove what killed processes left without a log, and recover the logs of all dead controllers of this user,
 * wherever they are.  How many were, and how many are left since their logs cannot be had just now.  Others that
 * recover are not waited for.
 */
void px_recover_all(unsigned int *nr_recovered, unsigned int *nr_left);

/* Is told what became of a log: the error, or 0.  Nothing is locked then. */
typedef void px_recover_tell(const char *path, int error, void *argument);

/* The same, where somebody wants to know of each.  One that another process recovers just now is not told. */
void px_recover_each(px_recover_tell *tell, void *argument);

#endif
