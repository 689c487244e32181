/* SPDX-License-Identifier: MIT */
/*
 * Sends a log to a pipe while it is written, for record -o -; see input/relay.h.
 *
 * A thread looks at the file again and again, and sends the blocks that have changed.  The log has a small part that
 * says which events it has, and its writer writes this part last.  So the thread reads this part first, and then the
 * rest, which has then at least these events.
 *
 * The log must grow (APPEND): in a log that overwrites its oldest events, they may be gone before they are read.
 */
#ifndef TXTRACE_LIVE_RELAY_SEND_H
#define TXTRACE_LIVE_RELAY_SEND_H

#include <stdbool.h>

struct relay;

/* Begin to send this file.  Return NULL, with a message, if that fails. */
struct relay *relay_begin(const char *path);

/*
 * Send the rest of the log, which nobody writes any more, and free the relay.  After an error, print a message and
 * return false; the reader then has what came before.
 */
bool relay_end(struct relay *relay);

#endif
