/* SPDX-License-Identifier: MIT */
/*
 * The trace stream identifiers of this process.  An identifier is a number.  With it, a call finds an object and the
 * lock of the object.
 *
 * An identifier holds the index of a table entry, and a serial number that counts the uses of that entry.  So a closed
 * identifier never becomes valid again (KIND-3).  Each entry has a mutex that protects its object.  A thread that holds
 * the mutex of the table may take the mutex of an entry.  A thread that holds the mutex of an entry must not take the
 * mutex of the table.  A thread that has to sleep releases the mutex but stays counted.  The thread that closes the
 * identifier waits until no thread is counted (px_handle_drain()).
 *
 * A child made by fork inherits the table.  Identifiers of active streams are not valid there: each entry records the
 * process that opened it (KIND-1).  Identifiers of pre-recorded streams stay valid, and the child reads independently
 * of the parent (KIND-2).  But if another thread was using such an identifier at the moment of the fork, it is not
 * valid in the child.
 */
#ifndef PX_STREAM_HANDLE_H
#define PX_STREAM_HANDLE_H

#include <stdbool.h>
#include <stdint.h>

struct px_archive;
struct px_stream;

/* The object of an identifier: exactly one member is set. */
struct px_handle {
	struct px_stream *stream;   /* an active stream */
	struct px_archive *archive; /* a pre-recorded stream */
};

/* Make an identifier.  Return 0, or ENOMEM if the table is full. */
int px_handle_open(struct px_handle handle, unsigned long *id);

/*
 * Lock the identifier and return its object in *handle.  Return false if it is not a valid identifier of this
 * process.
 */
bool px_handle_lock_any(unsigned long id, struct px_handle *handle);

/*
 * Lock the identifier of an active stream, or of a pre-recorded stream, and return its object.  Return NULL, without
 * the lock, if the identifier is not valid or has an object of the other kind.
 */
struct px_stream *px_handle_lock(unsigned long id);
struct px_archive *px_handle_lock_archive(unsigned long id);

void px_handle_unlock(unsigned long id);

/*
 * With the lock held: px_handle_leave() releases the lock, but the thread stays counted.  px_handle_return() takes the
 * lock again.  If the identifier was closed, it returns NULL with the lock released.
 */
void px_handle_leave(unsigned long id);
struct px_stream *px_handle_return(unsigned long id);

/*
 * With the lock held: wait until another thread calls px_handle_wake().  If another thread has closed the identifier,
 * return false with the lock released.
 */
bool px_handle_wait(unsigned long id);
void px_handle_wake(unsigned long id);

/* With the lock held: make the identifier invalid. */
void px_handle_close(unsigned long id);

/* With the lock held, after closing: wait until no thread is counted. */
void px_handle_drain(unsigned long id);

/* Wait like px_handle_drain(), but for at most ns nanoseconds.  Return false if threads are still counted. */
bool px_handle_drain_for(unsigned long id, uint64_t ns);

/*
 * With the lock held, after draining: free the entry and unlock it.  The caller frees the object.
 */
void px_handle_release(unsigned long id);

/*
 * Return true if another thread has called exit(), and this has ended the stream of the identifier.  Calls that read
 * the stream must not fail because of this: the program could then end with another exit status.
 */
bool px_handle_has_exited(unsigned long id);

/* If px_handle_has_exited() is true, never return.  This is a cancellation point. */
void px_handle_stay_at_exit(unsigned long id);

/*
 * At exit: close the identifiers of all active streams, and call end_stream() for each with its lock held.  This does
 * not wait for readers: the thread that holds the lock may be the one that exits, in a signal handler.  So nothing is
 * freed, and end_stream() must bound its own waits.  If the lock of a stream is still held after a short wait
 * (EXIT_WAIT_NS), do not end that stream.  The result is then the same as when the process is killed.
 */
void px_handle_close_all(void (*end_stream)(unsigned long id, struct px_stream *stream));

#endif
