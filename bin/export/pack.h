/* SPDX-License-Identifier: MIT */
/*
 * The data in the page of export --to html.  Records of numbers are packed into blocks of base64.  Each block is an
 * element of the page.
 *
 * A number is encoded as LEB128.  Each byte has seven bits of the number, and the lowest bits come first.  The top bit
 * is set in all bytes except the last.  A signed number n is encoded as 2n, or as -2n - 1 if it is negative.
 */
#ifndef TXTRACE_EXPORT_PACK_H
#define TXTRACE_EXPORT_PACK_H

#include "base/output.h"

#define PACK_BYTES 393216     /* largest size of a block; a multiple of 3, as base64 needs */
#define PACK_RECORD_BYTES 256 /* largest size of a record */

struct pack {
	struct text *text;
	const char *kind; /* the kind of the element in the page */
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
