/* SPDX-License-Identifier: MIT */
/*
 * Bytes for the page of export --to html: records of numbers, in blocks of base64, each an element of the page.
 *
 * A number is LEB128: seven bits a byte, the lowest first, the top bit set in all but the last.  One with a sign is
 * 2n, or -2n - 1 if it is below 0.
 */
#ifndef TXTRACE_EXPORT_PACK_H
#define TXTRACE_EXPORT_PACK_H

#include "base/output.h"

#define PACK_BYTES 393216     /* a block has no more: base64 wants a multiple of 3 */
#define PACK_RECORD_BYTES 256 /* a record has no more */

struct pack {
	struct text *text;
	const char *kind; /* of the element */
	size_t used;
	unsigned char bytes[PACK_BYTES];
};

void pack_number(struct pack *pack, uint64_t number);
void pack_signed(struct pack *pack, int64_t number);
void pack_byte(struct pack *pack, unsigned char byte);

/* A record is ended: begins a new block if there might be no room for another. */
void pack_record(struct pack *pack);

/* Write what there is. */
void pack_flush(struct pack *pack);

#endif
