/* SPDX-License-Identifier: MIT */
/*
 * Read a trace buffer in one of the text forms in which debuggers dump memory: Intel HEX, S-records, or bare hex digits
 * with line breaks anywhere between them.
 *
 * This module takes the bytes in the order of the file, as the viewer's converter does.  It skips
 * addresses, checksums and records without data.  It stops at an end record or at the end of the
 * file.  Lines end in LF, CR or both; empty lines are ignored.
 */
#ifndef PX_TXTB_HEXTEXT_H
#define PX_TXTB_HEXTEXT_H

#include <stdint.h>

/*
 * Convert the text of fd to binary, and write the result to a new memfd.  Store its descriptor in
 * *memory_fd and its size in *size.  The result has at most half as many bytes as the text.  Return
 * 0, ENOMEM, EMFILE, or EINVAL if the text has another format or is not a trace buffer.  The
 * function checks the first bytes before it converts the rest.
 */
int px_hextext_convert(int fd, uint64_t text_size, int *memory_fd, uint64_t *size);

#endif
