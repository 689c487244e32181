/* SPDX-License-Identifier: MIT */
#include "export/pack.h"

void pack_byte(struct pack *pack, unsigned char byte)
{
	pack->bytes[pack->used++] = byte;
}

void pack_number(struct pack *pack, uint64_t number)
{
	for (; number >= 128; number >>= 7)
		pack_byte(pack, (unsigned char)(number | 128));
	pack_byte(pack, (unsigned char)number);
}

void pack_signed(struct pack *pack, int64_t number)
{
	pack_number(pack, (uint64_t)number << 1 ^ (number < 0 ? UINT64_MAX : 0));
}

void pack_record(struct pack *pack)
{
	if (pack->used > PACK_BYTES - PACK_RECORD_BYTES)
		pack_flush(pack);
}

static void put_base64(struct text *text, const unsigned char *bytes, size_t size)
{
	static const char digits[] =
		"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

	for (size_t i = 0; i < size; i += 3) {
		size_t rest = size - i;
		uint32_t three = (uint32_t)bytes[i] << 16;

		if (rest > 1)
			three |= (uint32_t)bytes[i + 1] << 8;
		if (rest > 2)
			three |= bytes[i + 2];
		text_char(text, digits[three >> 18]);
		text_char(text, digits[three >> 12 & 63]);
		text_char(text, rest > 1 ? digits[three >> 6 & 63] : '=');
		text_char(text, rest > 2 ? digits[three & 63] : '=');
	}
}

void pack_flush(struct pack *pack)
{
	if (pack->used == 0)
		return;
	text_printf(pack->text, "<script type=\"application/octet-stream\" class=\"%s\">",
		    pack->kind);
	put_base64(pack->text, pack->bytes, pack->used);
	text_string(pack->text, "</script>\n");
	pack->used = 0;
}
