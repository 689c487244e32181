/* SPDX-License-Identifier: MIT */
/*
 * Read a log of this library as a pre-recorded stream.  The reader uses the POSIX section of the log (format.h), which
 * holds the exact times, threads, data and names.
 *
 * If a log is incomplete and its writer is dead, the reader reads it up to the last commit.  While the writer lives,
 * px_archive_log_open() refuses the log (MODEL-8).
 */
#ifndef PX_LOG_ARCHIVE_LOG_H
#define PX_LOG_ARCHIVE_LOG_H

#include "log/archive.h"
#include "log/format.h"

/*
 * Open a log.  Return 0, ENOMEM, EMFILE, ENOENT (the file has no POSIX section) or EINVAL.  EINVAL has four causes: the
 * section is damaged, is from another kind of machine, has another version, or a writer is still writing it.
 */
int px_archive_log_open(int fd, struct px_archive **archive);

/* Return true if the writer of the log with this header may still be writing it. */
bool px_archive_log_is_written(const struct px_log_header *header);

#endif
