/* SPDX-License-Identifier: MIT */
/*
 * Sends a log to a pipe while it is written, for record -o -; see input/relay.h.
 *
 * A thread looks at the file again and again, and sends the blocks that have changed.  The log has a small part that
 * says which events it has, and its writer writes this part last.  So the thread reads this part first, and then the
 * rest, which has then at least these events.
 *
 * The other end can use what came only when a pass was sent to its end.  The end of a log moves its parts, so there is
 * a pass before that, too.  The thread never blocks in a write: otherwise no signal could end it.
 *
 * The log must grow (APPEND): in a log that overwrites its oldest events, they may be gone before they are read.
 */
#ifndef TXTRACE_LIVE_RELAY_SEND_H
#define TXTRACE_LIVE_RELAY_SEND_H

#include <stdbool.h>

struct relay;

/*
 * Begin to send this file.  `signals` is the descriptor of session_signals(): a signal that comes after the end of the
 * program ends the sending, however slow the reader is.  Return NULL, with a message, if that fails.
 */
struct relay *relay_begin(const char *path, int signals);

/* Send all events of the log, which gets no more, but is not complete yet.  relay_end() reports an error. */
void relay_catch_up(struct relay *relay);

/*
 * Send the rest of the log, which nobody writes any more, and free the relay.  After an error, print a message and
 * return false; the reader then has what came before.
 */
bool relay_end(struct relay *relay);

#endif
