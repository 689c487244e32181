/* SPDX-License-Identifier: MIT */
/*
 * The contents of .gz, .xz and .zst as a stream.
 *
 * A small file can hold terabytes of zeros.  So the stream ends, with a fault, if it has grown to more than `ratio`
 * times the bytes of the file: compressed data in compressed data count together.
 */
#ifndef TXTRACE_INPUT_UNPACK_H
#define TXTRACE_INPUT_UNPACK_H

#include "input/stream.h"

#define UNPACK_RATIO 1000 /* memory that was used is far below it, and gzip cannot reach more than 1032 */
#define UNPACK_FREE (UINT64_C(64) << 20) /* so many bytes are not worth a question */

/* Return the name of the compression of a stream that begins with these bytes, or NULL. */
const char *unpack_kind(const unsigned char *bytes, size_t size);

/*
 * Open the contents of a compressed stream.  *file is the stream of the file itself.  After a failure, return false and
 * set *fault.
 */
bool unpack_open(struct stream *stream, struct stream *below, const struct stream *file, uint64_t ratio,
		 const char **fault);

#endif
