/* SPDX-License-Identifier: MIT */
/*
 * A trace buffer as text, the way debuggers dump memory: Intel HEX, S-records, or bare hex digits
 * with line breaks anywhere between them.
 *
 * Bytes are taken in the order of the file, as the viewer's converter does: addresses, checksums
 * and records without data are passed over, an end record ends the text, and so does the end of the
 * file.  Lines end in LF, CR or both; empty ones do not count.
 */
#ifndef PX_TXTB_HEXTEXT_H
#define PX_TXTB_HEXTEXT_H

#include <stdint.h>

/*
 * Convert the text behind fd into a file in memory that has no name, and store its descriptor and
 * size.  It takes at most half as many bytes as the text has.  EINVAL: no such text, or not of a
 * trace buffer (known by its first bytes, before the rest is converted).  ENOMEM, EMFILE.
 */
int px_hextext_convert(int fd, uint64_t text_size, int *memory_fd, uint64_t *size);

#endif
