/* SPDX-License-Identifier: MIT */
#include "log/frame.h"

#include <string.h>

#include "log/order.h"

PX_INLINE uint64_t in_order(uint64_t word, bool is_swapped)
{
	return is_swapped ? __builtin_bswap64(word) : word;
}

PX_INLINE uint32_t sum_words(uint32_t sum, const void *data, size_t size, bool is_swapped)
{
	const unsigned char *from = data;
	uint64_t a = (uint64_t)sum << 32 | sum, word;

	for (; size >= sizeof(word); from += sizeof(word), size -= sizeof(word)) {
		memcpy(&word, from, sizeof(word));
		a = (a ^ in_order(word, is_swapped)) * UINT64_C(0x9E3779B97F4A7C15);
		a ^= a >> 29;
	}
	word = in_order(size, is_swapped); /* the last bytes lie over it, as in the memory of the writer */
	memcpy(&word, from, size);
	a = (a ^ in_order(word, is_swapped) ^ (uint64_t)size << 56) * UINT64_C(0x9E3779B97F4A7C15);
	return (uint32_t)(a >> 32 ^ a);
}

uint32_t px_frame_sum(uint32_t sum, const void *data, size_t size, bool is_swapped)
{
	return is_swapped ? sum_words(sum, data, size, true) : sum_words(sum, data, size, false);
}

/*
 * Add a word to a lane.  The empty assembly keeps the lane in a register of its own: with vector instructions, which
 * have no product of 64 bits, the compiler makes this four times as slow.
 */
PX_INLINE uint64_t add_word(uint64_t lane, const unsigned char *from, bool is_swapped)
{
	uint64_t word;

	memcpy(&word, from, sizeof(word));
	lane = (lane ^ in_order(word, is_swapped)) * UINT64_C(0x9E3779B97F4A7C15);
	lane ^= lane >> 29;
	__asm__("" : "+r"(lane));
	return lane;
}

/* The CPU computes the lanes at once, because none of them depends on another. */
PX_INLINE uint32_t sum_in_lanes(uint32_t sum, const void *data, size_t size, bool is_swapped)
{
	const unsigned char *from = data;
	uint64_t first = (uint64_t)sum << 32;
	uint64_t lane[] = {first, first | 1, first | 2, first | 3};

	for (; size >= sizeof(lane); from += sizeof(lane), size -= sizeof(lane)) {
		lane[0] = add_word(lane[0], from, is_swapped);
		lane[1] = add_word(lane[1], from + 8, is_swapped);
		lane[2] = add_word(lane[2], from + 16, is_swapped);
		lane[3] = add_word(lane[3], from + 24, is_swapped);
	}
	return sum_words(sum_words(sum, lane, sizeof(lane), false), from, size, is_swapped);
}

PX_INLINE uint32_t sum_of(const struct px_log_frame *frame, const void *body, bool is_swapped)
{
	struct px_log_frame head = *frame;
	size_t size = (size_t)frame->objects + frame->records;
	uint32_t sum;

	head.sum = 0;
	if (is_swapped)
		px_order_frame(&head);
	sum = sum_words(1, &head, sizeof(head), is_swapped);
	return frame->flags & PX_FRAME_LANES ? sum_in_lanes(sum, body, size, is_swapped) :
					       sum_words(sum, body, size, is_swapped);
}

uint32_t px_frame_sum_of(const struct px_log_frame *frame, const void *body, bool is_swapped)
{
	return is_swapped ? sum_of(frame, body, true) : sum_of(frame, body, false);
}
