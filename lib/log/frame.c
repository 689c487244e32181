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

uint32_t px_frame_sum_of(const struct px_log_frame *frame, const void *body)
{
	struct px_log_frame head = *frame;

	head.sum = 0;
	return px_frame_sum(px_frame_sum(1, &head, sizeof(head)), body,
			    (size_t)frame->objects + frame->records);
}
