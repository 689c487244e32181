/* SPDX-License-Identifier: MIT */
/*
 * A log of this library as a pre-recorded stream, read through its POSIX section (format.h): exact
 * times, threads, data and names.
 *
 * A log that its writer did not complete is read as far as it was committed, once that writer is gone;
 * while it lives the log is refused (MODEL-8).
 */
#ifndef PX_LOG_ARCHIVE_LOG_H
#define PX_LOG_ARCHIVE_LOG_H

#include "log/archive.h"
#include "log/format.h"

/*
 * Open it.  ENOENT: the file has no section of ours, whatever else it may be.  EINVAL: it has one that
 * cannot be read: damaged, of another machine or version, or still being written.  ENOMEM, EMFILE.
 */
int px_archive_log_open(int fd, struct px_archive **archive);

/* True if a log that says this may still be at its writer's. */
bool px_archive_log_is_written(const struct px_log_header *header);

#endif
