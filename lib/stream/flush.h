/* SPDX-License-Identifier: MIT */
/*
 * From a stream into its log.
 *
 * A flush takes what was recorded up to its own FLUSH_START (FLOP-6), lays it out under the stream's lock
 * and writes it without, so that everything else goes on meanwhile.  One flush at a time has the log; the
 * others wait (FLOP-8), and so does clear (CLEAR-12).
 *
 * A stream with the FLUSH policy has a thread that flushes when a ring is half full, when the stream has
 * stopped because one is full, and when something has waited for a second.  It has all signals blocked
 * (SIG-4), and ends when the stream does.  Trace points never write; they wake it at most.
 *
 * Errors of writing: the events are lost for the log, tracing goes on, the first error is kept for
 * get_status (LOGP-8, FLUSH-8).  SIGXFSZ never reaches the application (FLUSH-10).
 */
#ifndef PX_STREAM_FLUSH_H
#define PX_STREAM_FLUSH_H

#include "stream/stream.h"

/*
 * Flush now.  The lock behind id is held by the caller, is given up at times, and is not held afterwards.
 * caller: NULL for the stream's own thread; a failure then records ERROR.
 * 0; the first error of writing; EINVAL if the identifier was closed meanwhile.
 */
int px_flush(unsigned long id, struct px_stream *stream, const struct px_caller *caller);

/*
 * Clear a stream, and its log if it has one; the lock as for px_flush(), since emptying a file takes its time.
 * 0; what emptying the file met; EINVAL if the identifier was closed before anything was cleared.
 */
int px_flush_clear(unsigned long id, struct px_stream *stream);

/* Who names the objects of calls in the log; the lock as for px_flush().  0; EINVAL: there is no log, or no identifier. */
int px_flush_set_namer(unsigned long id, struct px_stream *stream, const struct px_namer *namer);

/*
 * The end of a stream with log: stop it, flush all that is left, complete the log.  The identifier is closed,
 * and nobody is counted any more.  0, or the first error of writing.
 */
int px_flush_end(struct px_stream *stream, const struct px_caller *caller);

/*
 * The same for a stream whose controller is dead: what it left, a STOP if it ran, complete.  When this fails the log
 * is as of the last commit, and can be recovered again.
 */
int px_flush_recover(struct px_stream *stream);

/*
 * Asked by the thread regularly, where it is set: true if all other threads have ended, and so has the process then.
 * For a program that does not know of the thread.
 */
extern bool (*px_flush_is_alone)(void) __attribute__((visibility("hidden")));

/* Start the thread of a stream with the FLUSH policy: 0, or ENOMEM. */
int px_flush_start_thread(unsigned long id, struct px_stream *stream);

/* Wait for its end, when the identifier is closed; without a lock. */
void px_flush_join_thread(struct px_stream *stream);

#endif
