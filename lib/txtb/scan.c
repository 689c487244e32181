/* SPDX-License-Identifier: MIT */
#include "txtb/scan.h"

#include <string.h>

#include "base/compiler.h"

/* Steps from entry to entry, of either way. */
struct steps {
	uint64_t nr_up, nr_down;
	uint64_t up, down; /* ticks */
};

/* The survey on its way. */
struct surveyor {
	struct steps steps;
	uint32_t nr_voters_up, nr_voters_down;
	uint32_t nr_of_part; /* entries of the file, or from the oldest on, so far */
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
 * The entry in slot number i, stamp masked.  The first step of the file has no vote, nor has that
 * of the part from the oldest on; and into that part no step leads.
 */
static void note_entry(struct surveyor *surveyor, uint32_t i, uint32_t oldest, uint32_t stamp)
{
	if (i == oldest)
		surveyor->nr_of_part = 0;
	else
		note_step(&surveyor->steps, surveyor->last_stamp, stamp);
	if (surveyor->nr_of_part >= 2) {
		surveyor->nr_voters_up += stamp > surveyor->last_stamp;
		surveyor->nr_voters_down += stamp < surveyor->last_stamp;
	}
	surveyor->nr_of_part++;
	surveyor->last_stamp = stamp;
}

/* False at the first entry that is not in use. */
static bool take_entry(struct px_survey *survey, const struct px_txtbfile *file,
		       struct surveyor *surveyor, const struct px_txtb_entry *entry)
{
	uint32_t id = entry->id % PX_SURVEY_IDS;
	uint32_t stamp = entry->stamp & file->time_mask;
	uint32_t i = survey->nr_entries;

	if (entry->context == 0) {
		survey->is_ended = true;
		return false;
	}
	survey->ids[id / 64] |= UINT64_C(1) << id % 64;
	if (i == 0)
		surveyor->first_stamp = surveyor->last_stamp = stamp;
	if (i == file->oldest)
		survey->oldest_stamp = stamp;
	note_entry(surveyor, i, file->oldest, stamp);
	survey->nr_entries++;
	return true;
}

/* Put the parts together at the right ends, if there are two. */
static void conclude(struct px_survey *survey, const struct px_txtbfile *file,
		     struct surveyor *surveyor)
{
	struct steps *steps = &surveyor->steps;
	uint64_t modulus = (uint64_t)file->time_mask + 1;

	if (file->oldest >= survey->nr_entries) {
		survey->oldest = 0;
		survey->oldest_stamp = surveyor->first_stamp;
	} else if (file->oldest > 0) {
		survey->oldest = file->oldest;
		note_step(steps, surveyor->last_stamp, surveyor->first_stamp);
	}
	survey->rises = surveyor->nr_voters_up > surveyor->nr_voters_down;
	survey->ticks = survey->rises ? steps->up + steps->nr_down * modulus - steps->down :
					steps->down + steps->nr_up * modulus - steps->up;
}

void px_survey_make(struct px_survey *survey, const struct px_txtbfile *file, uint32_t size,
		    struct px_txtb_entry *window)
{
	struct surveyor surveyor = {.nr_of_part = 0};
	bool goes_on = true;
	uint32_t n;

	memset(survey, 0, sizeof(*survey));
	do {
		n = px_txtbfile_entries(file, survey->nr_entries, size, window);
		for (uint32_t i = 0; i < n && goes_on; i++)
			goes_on = take_entry(survey, file, &surveyor, &window[i]);
	} while (n == size && goes_on);
	conclude(survey, file, &surveyor);
}

bool px_survey_has(const struct px_survey *survey, uint32_t id)
{
	return survey->ids[id / 64] >> id % 64 & 1;
}

uint32_t px_survey_id(const struct px_survey *survey, uint32_t i)
{
	uint64_t word;
	size_t at;

	for (at = 0; at < PX_ARRAY_SIZE(survey->ids); at++) {
		uint32_t n = (uint32_t)__builtin_popcountll(survey->ids[at]);

		if (i < n)
			break;
		i -= n;
	}
	if (at == PX_ARRAY_SIZE(survey->ids))
		return PX_SURVEY_IDS;
	for (word = survey->ids[at]; i > 0; i--)
		word &= word - 1;
	return (uint32_t)at * 64 + (uint32_t)__builtin_ctzll(word);
}
