/* SPDX-License-Identifier: MIT */
/*
 * Numbers of variable length: 7 bits in each byte, lowest bits first, bit 7 is 1 in all bytes except the last.  The
 * functions that read take untrusted input, and read no byte outside of it.
 */
#ifndef PX_LOG_VARINT_H
#define PX_LOG_VARINT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/compiler.h"

/* Write a number, which takes at most 10 bytes.  Return the address behind it. */
PX_INLINE unsigned char *px_varint_put(unsigned char *to, uint64_t n)
{
	while (n >= 0x80) {
		*to++ = (unsigned char)(n | 0x80);
		n >>= 7;
	}
	*to++ = (unsigned char)n;
	return to;
}

/*
 * The bytes that are left to read.  If a function tries to read beyond the end, the input becomes bad, and all further
 * reads return zeros.
 */
struct px_input {
	const unsigned char *at, *end;
	bool is_bad;
};

PX_INLINE uint8_t px_input_byte(struct px_input *in)
{
	if (px_unlikely(in->at == in->end)) {
		in->is_bad = true;
		return 0;
	}
	return *in->at++;
}

PX_INLINE uint64_t px_input_number(struct px_input *in)
{
	uint64_t n = 0;
	unsigned int shift = 0;
	uint8_t byte;

	do {
		byte = px_input_byte(in);
		n |= (uint64_t)(byte & 0x7F) << shift;
		shift += 7;
	} while (byte & 0x80 && shift < 64);
	in->is_bad |= (byte & 0x80) != 0;
	return n;
}

/* Read a number of at most 32 bits. */
PX_INLINE uint32_t px_input_word(struct px_input *in)
{
	uint64_t n = px_input_number(in);

	in->is_bad |= n > UINT32_MAX;
	return (uint32_t)n;
}

/* Return the address of the next bytes, and skip them.  Return NULL if there are fewer. */
PX_INLINE const void *px_input_bytes(struct px_input *in, size_t size)
{
	const unsigned char *bytes = in->at;

	if ((size_t)(in->end - in->at) < size) {
		in->is_bad = true;
		return NULL;
	}
	in->at += size;
	return bytes;
}

#endif
