/* SPDX-License-Identifier: MIT */
/*
 * What only all entries of a trace buffer together tell: how many there are, which way time goes, how
 * long all took, which ids occur.
 *
 * Relative time is computed as the viewer does: one direction is voted for the whole file, and a step
 * the other way is taken for a wrap.  The entries are gone through in the order of the file, and the
 * direction is not known before the end, so the steps of either way are added up apart.
 */
#ifndef PX_TXTB_SCAN_H
#define PX_TXTB_SCAN_H

#include <stdbool.h>
#include <stdint.h>

#include "txtb/file.h"

#define PX_TXTB_SCAN_IDS 65536 /* the viewer looks at 16 bits of an id */

struct px_txtb_scan {
	bool is_ended; /* by an unused slot */
	bool rises;
	uint32_t nr_entries;
	uint32_t oldest; /* slot */
	uint32_t oldest_stamp;
	uint64_t ticks; /* from the first event to the last */
	uint64_t ids[PX_TXTB_SCAN_IDS / 64];
};

/*
 * Look at all entries, size at a time in the window.  It ends at the unused slot, at the last, or where
 * the file ends by now.
 */
void px_txtb_scan_make(struct px_txtb_scan *scan, const struct px_txtb_file *file, uint32_t size,
		       struct px_txtb_entry *window);

/* True if the id occurs; it is less than PX_TXTB_SCAN_IDS. */
bool px_txtb_scan_has(const struct px_txtb_scan *scan, uint32_t id);

/* Number i of the ids that occur, the lowest first; PX_TXTB_SCAN_IDS behind the last. */
uint32_t px_txtb_scan_id(const struct px_txtb_scan *scan, uint32_t i);

#endif
