/* SPDX-License-Identifier: MIT */
#include "log/frame.h"

#include <string.h>

#define LANES 4

uint32_t px_frame_sum(uint32_t sum, const void *data, size_t size)
{
	const unsigned char *from = data;
	uint64_t a = (uint64_t)sum << 32 | sum, word;

	for (; size >= sizeof(word); from += sizeof(word), size -= sizeof(word)) {
		memcpy(&word, from, sizeof(word));
		a = (a ^ word) * UINT64_C(0x9E3779B97F4A7C15);
		a ^= a >> 29;
	}
	word = size;
	memcpy(&word, from, size);
	a = (a ^ word ^ (uint64_t)size << 56) * UINT64_C(0x9E3779B97F4A7C15);
	return (uint32_t)(a >> 32 ^ a);
}

/* The CPU computes the lanes at once, because none of them depends on another. */
static uint32_t sum_in_lanes(uint32_t sum, const void *data, size_t size)
{
	const unsigned char *from = data;
	uint64_t lane[LANES], word[LANES];

	for (unsigned int i = 0; i < LANES; i++)
		lane[i] = (uint64_t)sum << 32 | i;
	for (; size >= sizeof(word); from += sizeof(word), size -= sizeof(word)) {
		memcpy(word, from, sizeof(word));
		for (unsigned int i = 0; i < LANES; i++) {
			lane[i] = (lane[i] ^ word[i]) * UINT64_C(0x9E3779B97F4A7C15);
			lane[i] ^= lane[i] >> 29;
		}
	}
	return px_frame_sum(px_frame_sum(sum, lane, sizeof(lane)), from, size);
}

uint32_t px_frame_sum_of(const struct px_log_frame *frame, const void *body)
{
	struct px_log_frame head = *frame;
	size_t size = (size_t)frame->objects + frame->records;
	uint32_t sum;

	head.sum = 0;
	sum = px_frame_sum(1, &head, sizeof(head));
	return frame->flags & PX_FRAME_LANES ? sum_in_lanes(sum, body, size) : px_frame_sum(sum, body, size);
}
