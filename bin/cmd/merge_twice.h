/* SPDX-License-Identifier: MIT */
/* Whether files hold the same events, which a merged log would have twice. */
#ifndef TXTRACE_CMD_MERGE_TWICE_H
#define TXTRACE_CMD_MERGE_TWICE_H

#include <stdbool.h>

#include "report/messages.h"

/*
 * Print a message and return false if two files hold the same log, or parts of it, or events of one stream from the
 * same time, as two snapshots of it do.  Each file without a source is opened and closed again.
 */
bool merge_twice_check(const struct messages_file *files, unsigned int nr_files);

#endif
