/* SPDX-License-Identifier: MIT */
/*
 * Write the files of trx.h: all sorted events in one file, or in several files: one for each core, or one for each part
 * of the events.
 */
#ifndef TXTRACE_TRX_WRITE_H
#define TXTRACE_TRX_WRITE_H

#include <stdbool.h>

#include "trx/trx.h"

/* After a failure, print a message, leave no file, and return false. */
bool trx_write_file(const struct trx_objects *trx_objects, struct sorter *sorter,
		    const bool *has_cpu, const struct trx_options *order);

#endif
