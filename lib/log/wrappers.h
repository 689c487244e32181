/* SPDX-License-Identifier: MIT */
/*
 * Wrapper statistics, packed, as a log has them that was written once more (compact.h).  While a log is written, it has
 * rows of struct px_wrapper_sum instead, because their counts change.
 *
 * A row is: the number of bytes that the symbol shares with the symbol before it, the number of its further bytes,
 * these bytes; the same for the version; call, state, calls, samples, overhead_ns.  All numbers are varints (varint.h).
 */
#ifndef PX_LOG_WRAPPERS_H
#define PX_LOG_WRAPPERS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "ring/wrapper_stats.h"

#define PX_WRAPPERS_ROW_MAX 128 /* maximum size of a packed row in bytes */

/* Pack the rows.  `to` has room for PX_WRAPPERS_ROW_MAX bytes for each row.  Return the number of bytes. */
size_t px_wrappers_pack(const struct px_wrapper_sum *rows, uint32_t nr_rows, unsigned char *to);

/* Unpack the rows.  The bytes are untrusted input.  Return the number of rows that are whole. */
uint32_t px_wrappers_unpack(const void *bytes, size_t size, struct px_wrapper_sum *rows,
			    uint32_t nr_rows);

#endif
