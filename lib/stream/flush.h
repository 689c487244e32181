/* SPDX-License-Identifier: MIT */
/*
 * Flush a stream into its log.
 *
 * A flush takes the events up to its own FLUSH_START (FLOP-6).  It holds the lock of the stream while it copies events
 * to the buffer of the log.  It does not hold the lock while it writes the buffer to the file, so that other calls can
 * run at that time.  One flush at a time owns the log.  Other flushes wait for it (FLOP-8), and posix_trace_clear()
 * waits too (CLEAR-12).
 *
 * A stream with the FLUSH policy has a flush thread.  This thread flushes when a ring is above its high-water mark
 * (px_view_is_high), when the stream has stopped automatically, and when an event has waited for a second.  It blocks
 * all signals (SIG-4).  It ends when the stream ends, or when all threads of the program have ended.  A thread that
 * records events never writes to the file; it only wakes up the flush thread.
 *
 * If a write fails, its events are missing in the log, and tracing continues.  get_status reports the first error
 * (LOGP-8, FLUSH-8).  SIGXFSZ never reaches the application (FLUSH-10).
 */
#ifndef PX_STREAM_FLUSH_H
#define PX_STREAM_FLUSH_H

#include "stream/stream.h"

/*
 * Flush now.  The caller holds the lock of id.  This function releases the lock while it writes, and returns without
 * the lock.  In the flush thread caller is NULL.  Then this function records ERROR if the flush fails.  Return 0, the
 * first error of writing, or EINVAL if the identifier was closed during the flush.
 */
int px_flush(unsigned long id, struct px_stream *stream, const struct px_caller *caller);

/*
 * The caller holds the lock of id.  Wait until no thread owns the log.  If the identifier was closed, unlock and return
 * false.
 */
bool px_flush_wait(unsigned long id, struct px_stream *stream);

/*
 * Clear a stream, and its log if it has one.  The caller holds the lock of id.  This function releases the lock while
 * it empties the file, and returns with the lock released.  Return 0, an error of emptying the file, or EINVAL if the
 * identifier was closed before the clear.
 */
int px_flush_clear(unsigned long id, struct px_stream *stream);

/*
 * Set the namer: the controller's function that chooses names for the objects of calls in the log.  The caller holds
 * the lock of id.  This function releases the lock.  Return 0, or EINVAL if there is no log or the identifier was
 * closed.
 */
int px_flush_set_namer(unsigned long id, struct px_stream *stream, const struct px_namer *namer);

/*
 * End a stream with log: stop it, flush all its events, complete the log.  The identifier must be closed, with no
 * thread counted.  Return 0, or the first error of writing.
 */
int px_flush_end(struct px_stream *stream, const struct px_caller *caller);

/*
 * Do the same for the stream of a dead controller, and add a STOP if the stream was running.  After a failure, the log
 * is as it was at its last commit, and a later recovery can continue there.
 */
int px_flush_recover(struct px_stream *stream);

/*
 * Note in the checkpoint file that the log belongs to a child made by fork that has not executed a program
 * (px_former_find()).
 */
void px_flush_mark_forked(unsigned long id);

/*
 * Take all events of a former stream of this process (recover.h) into the log of the stream with this identifier, which
 * has not been started yet.  In these events, addresses of code are 0, because they mean nothing in this program.
 * Return 0 or an error number.
 */
int px_flush_former(unsigned long id, struct px_stream *former);

/* Start the flush thread.  Return 0, ENOMEM, or EPERM if a system call filter refuses the thread. */
int px_flush_start_thread(unsigned long id, struct px_stream *stream);

/*
 * Return true if the flush thread that began last has the rights of the calling thread, so that both may change their
 * user.  Async-signal-safe, and takes no lock.
 */
bool px_flush_thread_is_alike(void);

/*
 * End the flush thread, but not the stream, and wait until the kernel has forgotten the thread.  Return true if there
 * was one.  Until px_flush_resume_thread(), nothing is written, unless a caller flushes.
 */
bool px_flush_pause_thread(unsigned long id);

/* Start it again.  Return 0, EINVAL if the stream has ended, or an error of px_flush_start_thread(). */
int px_flush_resume_thread(unsigned long id);

/* Wait for the end of the flush thread.  The identifier must be closed, and the caller must not hold its lock. */
void px_flush_join_thread(struct px_stream *stream);

#endif
