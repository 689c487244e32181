/* SPDX-License-Identifier: MIT */
#include "log/wrappers.h"

#include <string.h>

#include "log/varint.h"

static const struct px_wrapper_sum no_row;

/* Texts have fields of fixed size, and end in a null. */
static unsigned char *put_text(unsigned char *to, const char *before, const char *text, size_t size)
{
	size_t length = strnlen(text, size - 1), shared = 0;

	while (shared < length && before[shared] == text[shared])
		shared++;
	to = px_varint_put(to, shared);
	to = px_varint_put(to, length - shared);
	memcpy(to, text + shared, length - shared);
	return to + length - shared;
}

size_t px_wrappers_pack(const struct px_wrapper_sum *rows, uint32_t nr_rows, unsigned char *to)
{
	const struct px_wrapper_sum *before = &no_row;
	unsigned char *begin = to;

	for (uint32_t i = 0; i < nr_rows; before = &rows[i], i++) {
		to = put_text(to, before->symbol, rows[i].symbol, sizeof(rows[i].symbol));
		to = put_text(to, before->version, rows[i].version, sizeof(rows[i].version));
		to = px_varint_put(to, rows[i].call);
		to = px_varint_put(to, rows[i].state);
		to = px_varint_put(to, rows[i].calls);
		to = px_varint_put(to, rows[i].samples);
		to = px_varint_put(to, rows[i].overhead_ns);
	}
	return (size_t)(to - begin);
}

/* The text is that of the row before; change what differs. */
static void get_text(struct px_input *in, char *text, size_t size)
{
	uint32_t shared = px_input_word(in), length = px_input_word(in);
	const void *bytes;

	in->is_bad |= shared >= size || length >= size - shared;
	bytes = in->is_bad ? NULL : px_input_bytes(in, length);
	if (!bytes)
		return;
	memcpy(text + shared, bytes, length);
	memset(text + shared + length, 0, size - shared - length);
}

uint32_t px_wrappers_unpack(const void *bytes, size_t size, struct px_wrapper_sum *rows,
			    uint32_t nr_rows)
{
	struct px_input in = {.at = bytes, .end = (const unsigned char *)bytes + size};
	struct px_wrapper_sum row = no_row;

	for (uint32_t i = 0; i < nr_rows; i++) {
		get_text(&in, row.symbol, sizeof(row.symbol));
		get_text(&in, row.version, sizeof(row.version));
		row.call = px_input_word(&in);
		row.state = px_input_word(&in);
		row.calls = px_input_number(&in);
		row.samples = px_input_number(&in);
		row.overhead_ns = px_input_number(&in);
		if (in.is_bad)
			return i;
		rows[i] = row;
	}
	return nr_rows;
}
