/* SPDX-License-Identifier: MIT */
/*
 * Read a trace buffer in text form, as debuggers dump memory: Intel HEX, S-records, or bare hex
 * digits with line breaks anywhere between them.
 *
 * The bytes are used in the order of the file, as in the viewer's converter.  Addresses, checksums
 * and records without data are skipped.  An end record or the end of the file ends the text.  Lines
 * end in LF, CR or both; empty lines are ignored.
 */
#ifndef PX_TXTB_HEXTEXT_H
#define PX_TXTB_HEXTEXT_H

#include <stdint.h>

/*
 * Convert the text of fd into an unnamed file in memory, and store its descriptor and size.  The
 * file has at most half as many bytes as the text.  Return 0, ENOMEM, EMFILE, or EINVAL if this is
 * not such a text or not a trace buffer.  The first bytes show this, before the rest is converted.
 */
int px_hextext_convert(int fd, uint64_t text_size, int *memory_fd, uint64_t *size);

#endif
