/* SPDX-License-Identifier: MIT */
/*
 * Trace stream identifiers of this process: from a number to an object and its lock.
 *
 * An identifier is a place in a table and the serial of its use, so that one that was closed is
 * refused for ever (KIND-3).  Each place has a mutex that protects the object behind it; of all
 * locks only the table's own mutex is taken before it.  A thread that has to sleep gives the mutex
 * up but stays counted, and closing waits until no thread is counted any more.
 *
 * A child of fork has its parent's table, but not its identifiers: each place knows the process
 * that opened it (KIND-1).
 */
#ifndef PX_HANDLE_H
#define PX_HANDLE_H

struct px_stream;

/* Make an identifier for the stream: 0, or ENOMEM when all places are taken. */
int px_handle_open(struct px_stream *stream, unsigned long *id);

/* The stream behind the identifier, locked; NULL if it is not one of this process. */
struct px_stream *px_handle_lock(unsigned long id);
void px_handle_unlock(unsigned long id);

/* With the lock held: give it up, stay counted; take it again, NULL (unlocked) if it is closed. */
void px_handle_leave(unsigned long id);
struct px_stream *px_handle_return(unsigned long id);

/* With the lock held: the identifier is no longer valid. */
void px_handle_close(unsigned long id);

/*
 * With the lock held, after closing: wait until nobody is counted, have the stream freed, give the
 * place back and unlock.
 */
void px_handle_release(unsigned long id, void (*free_stream)(struct px_stream *stream));

/*
 * At exit: close all identifiers of this process and have their streams ended.  Nobody is waited
 * for, since whoever holds a lock or will return may be the thread that exits, in a handler.  So
 * what can still be reached is not freed, and a stream whose lock is not to be had soon is left
 * like that of a killed process.
 */
void px_handle_close_all(void (*end_stream)(struct px_stream *stream));

#endif
