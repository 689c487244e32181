/* SPDX-License-Identifier: MIT */
/*
 * Read a log of this library as a pre-recorded stream.  The reader uses the POSIX section of the log (format.h), which
 * holds the exact times, threads, data and names.
 *
 * If a log is incomplete and its writer is dead, the reader reads it up to the last commit.  While the writer lives,
 * px_archive_log_open() refuses the log (MODEL-8), unless the caller wants what is committed.  Then the reader takes
 * the events of one commit.  It does not lock the log, and the writer goes on: a LOOP log may overwrite events before
 * the reader gets to them.  The reader looks at the commit again after it has read a frame.  So it never reports an
 * event of which a part is overwritten, and it counts the events that it missed.
 *
 * Of a damaged log, the reader takes the frames that are whole.  If the section is lost, archive_txtb.h can read the
 * image.
 */
#ifndef PX_LOG_ARCHIVE_LOG_H
#define PX_LOG_ARCHIVE_LOG_H

#include "log/archive.h"
#include "log/format.h"

/*
 * Open a log.  Return 0, ENOMEM, EMFILE, ENOENT (the file has no POSIX section), ENODATA (it has lost the section,
 * and flags allows that) or EINVAL.  EINVAL means that the section is damaged, from another kind of machine, of
 * another version, or still being written, and flags (enum px_archive_flags) does not allow that.
 */
int px_archive_log_open(int fd, unsigned int flags, struct px_archive **archive);

/* Return true if the writer of the log with this header may still be writing it. */
bool px_archive_log_is_written(const struct px_log_header *header);

#endif
