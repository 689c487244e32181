/* SPDX-License-Identifier: MIT */
#include "event/descriptions.h"

#include <errno.h>
#include <stdbool.h>
#include <string.h>

#include "base/atomic.h"

#define LENGTH_BITS 12

/* The entry must not lead out of the texts. */
static const char *text_of(const struct px_descriptions *descriptions, uint32_t entry, size_t *length)
{
	uint32_t offset = entry >> LENGTH_BITS;

	*length = entry & ((1u << LENGTH_BITS) - 1);
	if (offset > PX_DESCRIPTIONS_BYTES || *length > PX_DESCRIPTIONS_BYTES - offset)
		*length = 0;
	return *length ? descriptions->text + offset : NULL;
}

static int compare(const struct px_descriptions *descriptions, uint32_t entry, const char *text,
		   size_t length)
{
	size_t length_there;
	const char *there = text_of(descriptions, entry, &length_there);

	return there && length_there == length && memcmp(there, text, length) == 0 ? 0 : EEXIST;
}

int px_descriptions_add(struct px_descriptions *descriptions, unsigned int id, const char *text,
			size_t length)
{
	uint32_t entry, offset;

	if (id < PX_EVENT_USER_FIRST || id >= PX_EVENT_USER_END || length == 0 ||
	    length > PX_FIELDS_TEXT_MAX)
		return EINVAL;
	entry = px_load_acquire(&descriptions->at[id]);
	if (entry != 0)
		return compare(descriptions, entry, text, length);
	if (px_read_once(&descriptions->used) > PX_DESCRIPTIONS_BYTES - length)
		return ENOSPC;
	offset = px_fetch_add(&descriptions->used, (uint32_t)length);
	if (offset > PX_DESCRIPTIONS_BYTES - length)
		return ENOSPC;
	memcpy(descriptions->text + offset, text, length);
	if (!px_compare_exchange(&descriptions->at[id], 0, offset << LENGTH_BITS | (uint32_t)length))
		return compare(descriptions, px_load_acquire(&descriptions->at[id]), text, length);
	px_fetch_add(&descriptions->nr, 1);
	return 0;
}

const char *px_descriptions_text(const struct px_descriptions *descriptions, unsigned int id, size_t *length)
{
	*length = 0;
	return id < PX_EVENT_IDS ? text_of(descriptions, px_load_acquire(&descriptions->at[id]), length) : NULL;
}

void px_descriptions_settle_copy(struct px_descriptions *descriptions)
{
	uint32_t used = 0, nr = 0;

	for (unsigned int id = 0; id < PX_EVENT_IDS; id++) {
		size_t length;
		const char *text = px_descriptions_text(descriptions, id, &length);
		uint32_t end = text ? (uint32_t)(text - descriptions->text) + (uint32_t)length : 0;

		nr += text != NULL;
		used = end > used ? end : used;
	}
	descriptions->used = used;
	descriptions->nr = nr;
}

size_t px_descriptions_get(const struct px_descriptions *descriptions, unsigned int id,
			   char text[PX_FIELDS_TEXT_MAX])
{
	size_t length;
	const char *there = px_descriptions_text(descriptions, id, &length);

	if (there)
		memcpy(text, there, length);
	return length;
}
