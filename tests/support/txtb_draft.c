/* SPDX-License-Identifier: MIT */
#include "support/txtb_draft.h"

#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include "support/common.h"

struct draft draft;

void draft_put_at(size_t at, uint32_t value, unsigned int nr_bytes)
{
	if (at + nr_bytes > sizeof(draft.bytes))
		ck_abort_msg("the draft is full");
	for (unsigned int i = 0; i < nr_bytes; i++)
		draft.bytes[at + i] = (unsigned char)(value >> 8 * (draft.big_endian ? nr_bytes - 1 - i : i));
}

void draft_put(uint32_t value, unsigned int nr_bytes)
{
	draft_put_at(draft.size, value, nr_bytes);
	draft.size += nr_bytes;
}

void draft_begin(bool big_endian, uint32_t name_size)
{
	memset(&draft, 0, offsetof(struct draft, bytes));
	draft.big_endian = big_endian;
	draft.time_mask = UINT32_MAX;
	draft.name_size = name_size;
	draft.registry_start = draft.registry_end = DRAFT_BASE + 48;
	draft.size = 48;
}

void draft_add_object_with(uint32_t type, uint32_t handle, uint32_t priority_bytes, const char *name)
{
	draft_put(handle & 1, 1);
	draft_put(type, 1);
	draft_put(priority_bytes >> 8, 1);
	draft_put(priority_bytes & 0xFF, 1);
	draft_put(handle, 4);
	draft_put(handle + 1, 4);
	draft_put(~handle, 4);
	for (uint32_t i = 0; i < draft.name_size; i++)
		draft_put(i < strlen(name) ? (unsigned char)name[i] : 0, 1);
	draft.registry_end += 16 + draft.name_size;
}

void draft_add_object(uint32_t type, uint32_t handle, const char *name)
{
	draft_add_object_with(type, handle, 0x8000 | 5, name);
}

void draft_begin_events(void)
{
	draft.buffer_start = draft.buffer_end = draft.current = draft.registry_end;
}

void draft_add_event_with(uint32_t context, uint32_t priority, uint32_t id, uint32_t stamp)
{
	draft_put(context, 4);
	draft_put(priority, 4);
	draft_put(id, 4);
	draft_put(stamp, 4);
	for (uint32_t i = 1; i <= 4; i++)
		draft_put(id * 16 + stamp * 256 + i, 4);
	draft.buffer_end += DRAFT_ENTRY_BYTES;
}

void draft_add_event(uint32_t context, uint32_t id, uint32_t stamp)
{
	draft_add_event_with(context, 0x80000000u | 7 << 16 | 5, id, stamp);
}

void draft_end(void)
{
	draft_put_at(0, 0x54585442, 4);
	draft_put_at(4, draft.time_mask, 4);
	draft_put_at(8, DRAFT_BASE, 4);
	draft_put_at(12, draft.registry_start, 4);
	draft_put_at(16, 0, 2);
	draft_put_at(18, draft.name_size, 2);
	draft_put_at(20, draft.registry_end, 4);
	draft_put_at(24, draft.buffer_start, 4);
	draft_put_at(28, draft.buffer_end, 4);
	draft_put_at(32, draft.current, 4);
	draft_put_at(36, 0xAAAAAAAA, 4);
	draft_put_at(40, 0xBBBBBBBB, 4);
	draft_put_at(44, 0xCCCCCCCC, 4);
}

enum txtb_verdict draft_check(const void *bytes, size_t size, struct txtb_trace *trace)
{
	void *copy = malloc(size ? size : 1);
	enum txtb_verdict verdict;

	ck_assert_ptr_nonnull(copy);
	if (size > 0)
		memcpy(copy, bytes, size);
	txtb_free(trace);
	verdict = txtb_check(copy, size, trace);
	free(copy);
	return verdict;
}
