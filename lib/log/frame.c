/* SPDX-License-Identifier: MIT */
#include "log/frame.h"

#include <string.h>

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

/*
 * Add a word to a lane.  The empty assembly keeps the lane in a register of its own: with vector instructions, which
 * have no product of 64 bits, the compiler makes this four times as slow.
 */
PX_INLINE uint64_t add_word(uint64_t lane, const unsigned char *from)
{
	uint64_t word;

	memcpy(&word, from, sizeof(word));
	lane = (lane ^ word) * UINT64_C(0x9E3779B97F4A7C15);
	lane ^= lane >> 29;
	__asm__("" : "+r"(lane));
	return lane;
}

/* The CPU computes the lanes at once, because none of them depends on another. */
static uint32_t sum_in_lanes(uint32_t sum, const void *data, size_t size)
{
	const unsigned char *from = data;
	uint64_t first = (uint64_t)sum << 32;
	uint64_t lane[] = {first, first | 1, first | 2, first | 3};

	for (; size >= sizeof(lane); from += sizeof(lane), size -= sizeof(lane)) {
		lane[0] = add_word(lane[0], from);
		lane[1] = add_word(lane[1], from + 8);
		lane[2] = add_word(lane[2], from + 16);
		lane[3] = add_word(lane[3], from + 24);
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
