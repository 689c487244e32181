/* SPDX-License-Identifier: MIT */
#include "ring/wrapper_stats.h"

#include <string.h>

#define ROW_WORDS (sizeof(struct px_wrapper_row) / sizeof(uint64_t))

_Static_assert(sizeof(struct px_wrapper_row) % sizeof(uint64_t) == 0, "copied in words");

union row_words {
	struct px_wrapper_row row;
	uint64_t words[ROW_WORDS];
};

bool px_wrapper_stats_has(const struct px_wrapper_stats *wrapper_stats, uint32_t i)
{
	return i < PX_WRAPPERS_MAX && i < px_load_acquire(&wrapper_stats->nr_rows) &&
	       px_read_once(&wrapper_stats->row[i].state) != PX_WRAPPER_UNUSED;
}

void px_wrapper_stats_write(struct px_wrapper_stats *wrapper_stats,
			    const struct px_wrapper_row *rows, uint32_t nr_rows)
{
	for (uint32_t i = 0; i < nr_rows && i < PX_WRAPPERS_MAX; i++) {
		union row_words copy = {.row = rows[i]};
		union row_words *to = (union row_words *)&wrapper_stats->row[i];

		if (rows[i].state == PX_WRAPPER_UNUSED || px_wrapper_stats_has(wrapper_stats, i))
			continue;
		for (size_t k = 0; k < ROW_WORDS; k++)
			px_write_once(&to->words[k], copy.words[k]);
	}
	if (px_load_acquire(&wrapper_stats->nr_rows) < nr_rows)
		px_store_release(&wrapper_stats->nr_rows, nr_rows);
}

bool px_wrapper_stats_read(const struct px_wrapper_stats *wrapper_stats, uint32_t i,
			   struct px_wrapper_row *row, struct px_wrapper_cost *cost)
{
	const union row_words *from = (const union row_words *)&wrapper_stats->row[i];
	uint32_t nr_rows = px_load_acquire(&wrapper_stats->nr_rows);
	union row_words copy;

	if (nr_rows > PX_WRAPPERS_MAX || i >= nr_rows)
		return false;
	for (size_t k = 0; k < ROW_WORDS; k++)
		copy.words[k] = px_read_once(&from->words[k]);
	*row = copy.row;
	row->symbol[sizeof(row->symbol) - 1] = '\0';
	row->version[sizeof(row->version) - 1] = '\0';
	cost->samples = px_read_once(&wrapper_stats->cost[i].samples);
	cost->ticks = px_read_once(&wrapper_stats->cost[i].ticks);
	return true;
}
