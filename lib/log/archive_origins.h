/* SPDX-License-Identifier: MIT */
/* The origins of a log that is read (origins.h). */
#ifndef PX_LOG_ARCHIVE_ORIGINS_H
#define PX_LOG_ARCHIVE_ORIGINS_H

#include "log/archive_source.h"
#include "log/origins.h"

/* Return true if this is the header of a merged log. */
bool px_archive_is_merged(const struct px_log_header *header);

/*
 * Read the origins of a merged log.  A log that is not merged has one, with the host of its header, and without
 * modules. Return 0, ENOMEM, or EINVAL: the origins of a merged log are missing or damaged, and file->takes_damaged is
 * false. With file->takes_damaged, such a log has one origin.
 */
int px_archive_origins(const struct px_archive_file *file, struct px_origins *origins);

#endif
