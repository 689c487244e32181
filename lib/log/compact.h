/* SPDX-License-Identifier: MIT */
/*
 * Write a log once more, without unused space: its images have only the objects and entries that are in use, small
 * frames become larger ones, and its volumes are tight (format.h) and follow each other.  No entry changes, and each
 * keeps its position.
 * A log of version 2 becomes one of the current version.
 *
 * The log is read as a reader reads it (archive_source.h): it is hostile input.  Memory is bounded.
 */
#ifndef PX_LOG_COMPACT_H
#define PX_LOG_COMPACT_H

#include <stddef.h>
#include <stdint.h>

#include "log/archive_source.h"
#include "log/sink.h"

/*
 * Write the log of this source.  file: of the source; its commit becomes the commit of the new log, with new offsets.
 * Bytes that the sink does not get are zeros.  *size: of the new log.  Return 0, ENOMEM, EIO (a part of the log cannot
 * be read), EINVAL (the log is damaged) or an error of the sink.
 */
int px_compact(const struct px_archive_file *file, struct px_archive_source *source,
	       const struct px_log_sink *sink, uint64_t *size);

/*
 * Write the log of a file, of this version or version 2, to another file.  from: for reading.  to: an empty file, for
 * writing.  Return EINVAL if there is no log, EBUSY if it is being written, or an error of px_compact().
 */
int px_compact_file(int from, int to);

#endif
