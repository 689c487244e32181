/* SPDX-License-Identifier: MIT */
/*
 * The data of the page of export --to html: records of numbers in blocks of base64.  Each block is an element of the
 * page.
 *
 * A number is LEB128: seven bits a byte, the lowest first, with the top bit set in all bytes but the last.  A signed
 * number n is encoded as 2n, or as -2n - 1 if it is negative.
 */
#ifndef TXTRACE_EXPORT_PACK_H
#define TXTRACE_EXPORT_PACK_H

#include "base/output.h"

#define PACK_BYTES 393216     /* largest block; a multiple of 3 for base64 */
#define PACK_RECORD_BYTES 256 /* largest record */

struct pack {
	struct text *text;
	const char *kind; /* kind of the element */
	size_t used;
	unsigned char bytes[PACK_BYTES];
};

void pack_number(struct pack *pack, uint64_t number);
void pack_signed(struct pack *pack, int64_t number);
void pack_byte(struct pack *pack, unsigned char byte);

/* End a record.  Begin a new block if the next record may not fit. */
void pack_record(struct pack *pack);

/* Write the last block. */
void pack_flush(struct pack *pack);

#endif
