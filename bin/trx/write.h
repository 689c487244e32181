/* SPDX-License-Identifier: MIT */
/* The files of trx.h: what is in the spool becomes one, or one for each core, or for so many events. */
#ifndef TXTRACE_TRX_WRITE_H
#define TXTRACE_TRX_WRITE_H

#include <stdbool.h>

#include "trx/trx.h"

/* False: there is none, and it was said why. */
bool trx_write_file(const struct trx_objects *trx_objects, struct sorter *sorter,
		    const bool *has_cpu, const struct trx_options *order);

#endif
