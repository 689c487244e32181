/* SPDX-License-Identifier: MIT */
/*
 * A log on its way through a pipe, while it is written: `txtrace record -o -` sends it, and every command that reads
 * "-" makes a file of it.
 *
 *	RELAY_MAGIC
 *	frames: a byte that says what it is, 8 bytes offset, 4 bytes length (both in little endian), and the bytes
 *
 *	RELAY_BYTES	bytes of the file at an offset
 *	RELAY_STATE	what came since the last such frame makes the file one that its writer could have left there,
 *			if it had died; the offset is the size of the file
 *	RELAY_DROP	what came since the last RELAY_STATE is of no use
 *	RELAY_END	as RELAY_STATE, and nothing follows: the log is complete
 *
 * The receiver changes its file only at RELAY_STATE and RELAY_END.  So if the connection ends early, the file has all
 * that had come before, and nothing half.
 */
#ifndef TXTRACE_INPUT_RELAY_H
#define TXTRACE_INPUT_RELAY_H

#include <stdbool.h>
#include <stddef.h>

#include "input/stream.h"

#define RELAY_MAGIC "TXRELAY1"
#define RELAY_MAGIC_BYTES 8
#define RELAY_FRAME 13	  /* bytes of a frame without those at its end */
#define RELAY_LONGEST 65536 /* a frame has at most so many bytes at its end */

enum relay_frame { RELAY_BYTES = 'B', RELAY_STATE = 'S', RELAY_DROP = 'D', RELAY_END = 'E' };

/* Return true if the stream begins so. */
bool relay_is(const unsigned char *bytes, size_t size);

/* Return true if the file with this descriptor begins so; then it is what was sent, and no log. */
bool relay_is_file(int fd);

/* What the tool says of such a file. */
#define RELAY_HOW "txtrace pack -o FILE makes a log of it"

/* If the file with this descriptor begins so, print a message that says how it becomes a log, and return true. */
bool relay_print(int fd, const char *path);

/*
 * Make the file of a stream that begins so.  If it ends early, print what is missing, and set *is_cut.  `spare` is an
 * empty file for what cannot be used yet.  Return 0, or the error number of a write, or ENODATA if nothing came whole.
 */
int relay_receive(struct stream *stream, const char *path, int fd, int spare, bool *is_cut);

#endif
