/* SPDX-License-Identifier: MIT */
/*
 * Find the properties of a trace buffer that depend on all its entries: the number of entries, the
 * direction of time, the total duration, the ids.
 *
 * This module computes relative time as the viewer does.  The steps between entries vote for rising
 * or falling time, and the majority decides for the whole file.  A step in the other direction
 * counts as a wrap of the counter.  The scan reads the entries in the order of the file, and it
 * knows the direction only at the end.  So it sums the steps of both directions separately.
 */
#ifndef PX_TXTB_SCAN_H
#define PX_TXTB_SCAN_H

#include <stdbool.h>
#include <stdint.h>

#include "txtb/file.h"

#define PX_TXTB_SCAN_IDS 65536 /* the viewer uses 16 bits of an id */

struct px_txtb_scan {
	bool is_ended; /* the scan ended at an unused slot */
	bool rises;    /* true: the stamps rise with time */
	uint32_t nr_entries;
	uint32_t oldest; /* slot of the oldest entry */
	uint32_t oldest_stamp;
	uint64_t ticks; /* ticks from the first event to the last */
	uint64_t ids[PX_TXTB_SCAN_IDS / 64];
};

/*
 * Fill in *scan from all entries of the file.  The function reads the entries in portions into the
 * caller's array `window`, which has room for `size` entries.  The scan ends at an unused slot, at
 * the last slot, or at the end of the file.
 */
void px_txtb_scan_make(struct px_txtb_scan *scan, const struct px_txtb_file *file, uint32_t size,
		       struct px_txtb_entry *window);

/* Return true if an entry has this id, which must be below PX_TXTB_SCAN_IDS. */
bool px_txtb_scan_has(const struct px_txtb_scan *scan, uint32_t id);

/*
 * Return the i-th of the ids that occur, in rising order.  Return PX_TXTB_SCAN_IDS if there are not
 * so many ids.
 */
uint32_t px_txtb_scan_id(const struct px_txtb_scan *scan, uint32_t i);

#endif
