/* SPDX-License-Identifier: MIT */
/*
 * A log of this library as a pre-recorded stream, read through its POSIX section (format.h): exact
 * times, threads, data and names.
 *
 * An incomplete log is read up to its last commit if its writer is dead.  While the writer lives, the log is
 * refused (MODEL-8).
 */
#ifndef PX_LOG_ARCHIVE_LOG_H
#define PX_LOG_ARCHIVE_LOG_H

#include "log/archive.h"
#include "log/format.h"

/*
 * Open a log.  Return 0, ENOMEM, EMFILE, ENOENT (the file has no POSIX section) or EINVAL.  EINVAL means that the
 * section is damaged, from another kind of machine, of another version, or still being written.
 */
int px_archive_log_open(int fd, struct px_archive **archive);

/* Return true if the writer of the log with this header may still write the log. */
bool px_archive_log_is_written(const struct px_log_header *header);

#endif
