/* SPDX-License-Identifier: MIT */
#include "txtb/scan.h"

#include <string.h>

#include "base/compiler.h"

/* The differences between consecutive stamps, separately for rising and for falling stamps. */
struct steps {
	uint64_t nr_up, nr_down;
	uint64_t up, down; /* sums of the differences, in ticks */
};

/* The state of a scan. */
struct scanner {
	struct steps steps;
	uint32_t nr_voters_up, nr_voters_down;
	/*
	 * Number of entries so far of the current part; one part starts at the first slot, the other at the oldest
	 * entry.
	 */
	uint32_t nr_of_part;
	uint32_t first_stamp, last_stamp;
};

static void note_step(struct steps *steps, uint32_t from, uint32_t to)
{
	steps->nr_up += to > from;
	steps->up += to > from ? to - from : 0;
	steps->nr_down += to < from;
	steps->down += to < from ? from - to : 0;
}

/*
 * Count the entry in slot i and the step to its masked stamp.  The first step of each part does not
 * count as a vote.  There is no step from the last entry of the first part to the oldest entry,
 * which starts the second part.
 */
static void note_entry(struct scanner *scanner, uint32_t i, uint32_t oldest, uint32_t stamp)
{
	if (i == oldest)
		scanner->nr_of_part = 0;
	else
		note_step(&scanner->steps, scanner->last_stamp, stamp);
	if (scanner->nr_of_part >= 2) {
		scanner->nr_voters_up += stamp > scanner->last_stamp;
		scanner->nr_voters_down += stamp < scanner->last_stamp;
	}
	scanner->nr_of_part++;
	scanner->last_stamp = stamp;
}

/* Count one entry.  Return false if the entry is unused, because the scan ends there. */
static bool take_entry(struct px_txtb_scan *scan, const struct px_txtb_file *file,
		       struct scanner *scanner, const struct px_txtb_entry *entry)
{
	uint32_t id = entry->id % PX_TXTB_SCAN_IDS;
	uint32_t stamp = entry->stamp & file->time_mask;
	uint32_t i = scan->nr_entries;

	if (entry->context == 0) {
		scan->is_ended = true;
		return false;
	}
	scan->ids[id / 64] |= UINT64_C(1) << id % 64;
	if (i == 0)
		scanner->first_stamp = scanner->last_stamp = stamp;
	if (i == file->oldest)
		scan->oldest_stamp = stamp;
	note_entry(scanner, i, file->oldest, stamp);
	scan->nr_entries++;
	return true;
}

/*
 * Compute the results.  If the file has two parts, the step from its last entry to its first entry
 * is still missing: add it.
 */
static void conclude(struct px_txtb_scan *scan, const struct px_txtb_file *file,
		     struct scanner *scanner)
{
	struct steps *steps = &scanner->steps;
	uint64_t modulus = (uint64_t)file->time_mask + 1;

	if (file->oldest >= scan->nr_entries) {
		scan->oldest = 0;
		scan->oldest_stamp = scanner->first_stamp;
	} else if (file->oldest > 0) {
		scan->oldest = file->oldest;
		note_step(steps, scanner->last_stamp, scanner->first_stamp);
	}
	scan->rises = scanner->nr_voters_up > scanner->nr_voters_down;
	scan->ticks = scan->rises ? steps->up + steps->nr_down * modulus - steps->down :
				    steps->down + steps->nr_up * modulus - steps->up;
}

void px_txtb_scan_make(struct px_txtb_scan *scan, const struct px_txtb_file *file, uint32_t size,
		       struct px_txtb_entry *window)
{
	struct scanner scanner = {.nr_of_part = 0};
	bool goes_on = true;
	uint32_t n;

	memset(scan, 0, sizeof(*scan));
	do {
		n = px_txtb_file_entries(file, scan->nr_entries, size, window);
		for (uint32_t i = 0; i < n && goes_on; i++)
			goes_on = take_entry(scan, file, &scanner, &window[i]);
	} while (n == size && goes_on);
	conclude(scan, file, &scanner);
}

bool px_txtb_scan_has(const struct px_txtb_scan *scan, uint32_t id)
{
	return scan->ids[id / 64] >> id % 64 & 1;
}

uint32_t px_txtb_scan_id(const struct px_txtb_scan *scan, uint32_t i)
{
	uint64_t word;
	size_t at;

	for (at = 0; at < PX_ARRAY_SIZE(scan->ids); at++) {
		uint32_t n = (uint32_t)__builtin_popcountll(scan->ids[at]);

		if (i < n)
			break;
		i -= n;
	}
	if (at == PX_ARRAY_SIZE(scan->ids))
		return PX_TXTB_SCAN_IDS;
	for (word = scan->ids[at]; i > 0; i--)
		word &= word - 1;
	return (uint32_t)at * 64 + (uint32_t)__builtin_ctzll(word);
}
