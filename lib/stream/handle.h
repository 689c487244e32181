/* SPDX-License-Identifier: MIT */
/*
 * Trace stream identifiers of this process: from a number to an object and its lock.
 *
 * An identifier is a place in a table and the serial of its use, so that one that was closed is
 * refused for ever (KIND-3).  Each place has a mutex that protects the object behind it; of all
 * locks only the table's own mutex is taken before it.  A thread that has to sleep gives the mutex
 * up but stays counted, and closing waits until no thread is counted any more.
 *
 * A child of fork has its parent's table, but not its identifiers of active streams: each place knows
 * the process that opened it (KIND-1).  Those of pre-recorded streams go on in the child, each with a
 * cursor of its own (KIND-2), but for one that another thread was using at the moment of the fork.
 */
#ifndef PX_STREAM_HANDLE_H
#define PX_STREAM_HANDLE_H

#include <stdbool.h>
#include <stdint.h>

struct px_archive;
struct px_stream;

/* What an identifier stands for: one of the two. */
struct px_handle {
	struct px_stream *stream;   /* active */
	struct px_archive *archive; /* pre-recorded */
};

/* Make an identifier: 0, or ENOMEM when all places are taken. */
int px_handle_open(struct px_handle handle, unsigned long *id);

/* What is behind the identifier, locked.  False: it is none of this process. */
bool px_handle_lock_any(unsigned long id, struct px_handle *handle);

/* The same where only one kind will do; NULL for the other. */
struct px_stream *px_handle_lock(unsigned long id);
struct px_archive *px_handle_lock_archive(unsigned long id);

void px_handle_unlock(unsigned long id);

/* With the lock held: give it up, stay counted; take it again, NULL (unlocked) if it is closed. */
void px_handle_leave(unsigned long id);
struct px_stream *px_handle_return(unsigned long id);

/*
 * With the lock held: wait until somebody calls px_handle_wake().  False (unlocked): the identifier was
 * closed meanwhile.
 */
bool px_handle_wait(unsigned long id);
void px_handle_wake(unsigned long id);

/* With the lock held: the identifier is no longer valid. */
void px_handle_close(unsigned long id);

/* With the lock held, after closing: wait until nobody is counted. */
void px_handle_drain(unsigned long id);

/* The same for so long at most.  False: somebody still is. */
bool px_handle_drain_for(unsigned long id, uint64_t ns);

/*
 * With the lock held, after draining: give the place back and unlock.  What was behind it is the
 * caller's.
 */
void px_handle_release(unsigned long id);

/*
 * At exit: close the identifiers of all active streams and have these ended, with the lock held.  Readers
 * are not waited for, since whoever holds a lock or will return may be the thread that exits, in a handler;
 * what end_stream waits for is bounded by it.  So what can still be reached is not freed, and a stream whose
 * lock is not to be had soon is left like that of a killed process.
 */
void px_handle_close_all(void (*end_stream)(unsigned long id, struct px_stream *stream));

#endif
