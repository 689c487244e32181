/* SPDX-License-Identifier: MIT */
/*
 * Protocol buffers, encoded directly: the fields of a message, each with its number.  No number is longer than
 * necessary.
 */
#ifndef TXTRACE_EXPORT_WIRE_H
#define TXTRACE_EXPORT_WIRE_H

#include <stddef.h>
#include <stdint.h>

#define VARINT_BYTES 10

/* The bytes of a message.  The caller frees them. */
struct wire {
	unsigned char *bytes;
	size_t used, room;
};

/* Store a varint or a field, and return its size.  put_length() stores what is before the bytes of a field. */
size_t put_varint(unsigned char *at, uint64_t number);
size_t put_number(unsigned char *at, unsigned int field, uint64_t number);
size_t put_real(unsigned char *at, unsigned int field, double real);
size_t put_length(unsigned char *at, unsigned int field, size_t length);

/* Make room for `size` more bytes, and return their address. */
unsigned char *wire_room(struct wire *wire, size_t size);

/* Append a field. */
void wire_number(struct wire *wire, unsigned int field, uint64_t number);
void wire_fixed(struct wire *wire, unsigned int field, uint64_t number);

#endif
