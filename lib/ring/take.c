/* SPDX-License-Identifier: MIT */
#include "config.h"

#include "ring/take.h"

/* A writer is late if it reserved its slots more than LATE units after it read the counter.  A unit is about 100 ns. */
#define LATE 100
#define LATE_ATTEMPTS 3
#define HELD_ATTEMPTS 16 /* as PX_EMIT_ATTEMPTS */

bool px_ring_took_long(const struct px_view *view, const struct px_reservation *at)
{
	uint64_t now = px_clock_glance((enum px_clock_source)view->rings.source);

	return (int64_t)(now - at->counter) >> view->rings.shift > LATE;
}

void px_ring_take_later(const struct px_view *view, const struct px_ring *ring, uint32_t n,
			uint64_t limit, uint32_t tid, struct px_reservation *at,
			struct px_claim *claim)
{
	enum px_clock_source source = (enum px_clock_source)view->rings.source;
	struct px_inquiry inquiry = px_inquiry_of(tid, px_procfs_has);
	int nr_late = 0, nr_held = 0;
	bool is_late = true;

	while (is_late && nr_late < LATE_ATTEMPTS && nr_held < HELD_ATTEMPTS) {
		struct px_reservation later;

		if (!px_ring_reserve_again(ring, n, limit, source, &later))
			return;
		is_late = px_ring_is_late(view, &later);
		px_write_once(&claim->kept_position, at->position);
		px_write_once(&claim->kept, ring->control);
		PX_TESTPOINT("ring.later.kept");
		if (!px_ring_claim_noted(ring, &later, n, tid, claim)) {
			px_write_once(&claim->position, at->position);
			px_write_once(&claim->kept, NULL);
			is_late = true;
			nr_held += !px_ring_make_way(ring, later.position, n, &inquiry);
			continue;
		}
		PX_TESTPOINT("ring.later.claimed");
		px_ring_void(ring, at->position, n);
		px_write_once(&claim->kept, NULL);
		*at = later;
		nr_late++;
	}
}
