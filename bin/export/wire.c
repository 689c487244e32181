/* SPDX-License-Identifier: MIT */
#include "export/wire.h"

#include <stdlib.h>
#include <string.h>

#include "base/memory.h"

size_t put_varint(unsigned char *at, uint64_t number)
{
	size_t size = 0;

	for (; number >= 0x80; number >>= 7)
		at[size++] = (unsigned char)(number | 0x80);
	at[size++] = (unsigned char)number;
	return size;
}

size_t put_number(unsigned char *at, unsigned int field, uint64_t number)
{
	size_t size = put_varint(at, field << 3);

	return size + put_varint(at + size, number);
}

size_t put_real(unsigned char *at, unsigned int field, double real)
{
	size_t size = put_varint(at, field << 3 | 1);
	uint64_t bits;

	memcpy(&bits, &real, sizeof(bits));
	for (unsigned int i = 0; i < sizeof(bits); i++)
		at[size++] = (unsigned char)(bits >> 8 * i);
	return size;
}

size_t put_length(unsigned char *at, unsigned int field, size_t length)
{
	size_t size = put_varint(at, field << 3 | 2);

	return size + put_varint(at + size, length);
}

/* Make room for `size` more bytes, and return their address. */
unsigned char *wire_room(struct wire *wire, size_t size)
{
	if (size > wire->room - wire->used) {
		wire->room = 2 * (wire->used + size);
		wire->bytes = must(realloc(wire->bytes, wire->room));
	}
	return wire->bytes + wire->used;
}

void wire_number(struct wire *wire, unsigned int field, uint64_t number)
{
	wire->used += put_number(wire_room(wire, 2 * VARINT_BYTES), field, number);
}

void wire_fixed(struct wire *wire, unsigned int field, uint64_t number)
{
	unsigned char *at = wire_room(wire, 2 * VARINT_BYTES);
	size_t size = put_varint(at, field << 3 | 1);

	for (int i = 0; i < 8; i++)
		at[size++] = (unsigned char)(number >> 8 * i);
	wire->used += size;
}
