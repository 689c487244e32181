/* SPDX-License-Identifier: MIT */
/*
 * Find the facts about a trace buffer that need all its entries: the number of entries, the direction
 * of time, the total duration, the ids.
 *
 * Relative time is computed as in the viewer.  All steps vote for one direction for the whole file,
 * and a step in the other direction counts as a wrap.  Entries are read in the order of the file,
 * and the direction is known only at the end, so the steps of both directions are summed
 * separately.
 */
#ifndef PX_TXTB_SCAN_H
#define PX_TXTB_SCAN_H

#include <stdbool.h>
#include <stdint.h>

#include "txtb/file.h"

#define PX_TXTB_SCAN_IDS 65536 /* the viewer uses 16 bits of an id */

struct px_txtb_scan {
	bool is_ended; /* at an unused slot */
	bool rises;
	uint32_t nr_entries;
	uint32_t oldest; /* slot */
	uint32_t oldest_stamp;
	uint64_t ticks; /* from the first event to the last */
	uint64_t ids[PX_TXTB_SCAN_IDS / 64];
};

/*
 * Fill in *scan from all entries of the file.  Read `size` entries at a time; the window is the buffer
 * for them.  The scan ends at an unused slot, at the last slot, or at the end of the file.
 */
void px_txtb_scan_make(struct px_txtb_scan *scan, const struct px_txtb_file *file, uint32_t size,
		       struct px_txtb_entry *window);

/* Return true if the id, which must be below PX_TXTB_SCAN_IDS, occurs. */
bool px_txtb_scan_has(const struct px_txtb_scan *scan, uint32_t id);

/* Return the i-th id that occurs, in rising order, or PX_TXTB_SCAN_IDS after the last id. */
uint32_t px_txtb_scan_id(const struct px_txtb_scan *scan, uint32_t i);

#endif
