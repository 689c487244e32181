/* SPDX-License-Identifier: MIT */
/*
 * The registry of another user, for a controller that may trace its processes: root.
 *
 * It is that user's file, in that user's directory, /dev/shm/posixtrace-<uid>; TXTRACE_DIR is for
 * processes of one user.  The user may cut the file while we use it, write what it likes, hold its lock
 * for ever, or put a link, a FIFO or a mounted file system in its place.  So
 *
 *	- it is never mapped, but read and written through a descriptor;
 *	- it is opened below a directory that was checked, on the file system of /dev/shm, never through
 *	  a link, and without waiting; then it is checked: type, owner, mode, size;
 *	- its slots are read once, when it is locked, and looked at in the copy;
 *	- the lock is waited for as long as that of our own, and then not any more;
 *	- what a slot names is removed only if that user could have removed it itself;
 *	- the controller keeps in its own memory what it has to know of its streams.
 *
 * Its user's processes see the same order of writes as from px_registry_publish().  The lock is one of
 * the open file, so that it needs no mutex, and one user's stubborn lock holds up nobody else's streams.
 *
 * Where the directory or the file is missing they are made, under names that nobody looks for until they
 * are whole.  Not async-signal-safe.  The caller has cancellation disabled.
 */
#ifndef PX_REGISTRY_REGISTRY_REMOTE_H
#define PX_REGISTRY_REGISTRY_REMOTE_H

#include <sys/types.h>

#include "base/sigxfsz.h"
#include "registry/registry.h"

struct px_registry_remote {
	uid_t owner;
	int directory;
	int file;
	struct px_sigxfsz signals;
	struct px_registry_slot slot[PX_STREAMS_MAX]; /* as they were when it was locked */
};

/*
 * Open and lock it; 0, and it is to be unlocked, or
 *	EPERM		our rights are not enough for that directory
 *	EACCES		there is something that is no directory, or no registry, of that user
 *	ETIMEDOUT	the lock is not to be had
 *	ENOMEM, EMFILE, ENFILE, EAGAIN (the file is leased), or another error of the file system
 */
int px_registry_remote_lock(struct px_registry_remote *remote, uid_t owner);
void px_registry_remote_unlock(struct px_registry_remote *remote);

/* A free slot, as px_registry_find_free().  Its slot[index].generation is the last one. */
uint32_t px_registry_remote_find_free(struct px_registry_remote *remote);

/* The slot becomes this stream; then trace points are told.  0, or why it cannot be written. */
int px_registry_remote_publish(struct px_registry_remote *remote, uint32_t index,
			       const struct px_registry_slot *slot);

/*
 * Read a part of the segment of the stream in a slot of the copy.  0; EACCES: it is not that user's, not closed to
 * others, or too short; what px_sysv_read() says; or an error of open().
 */
int px_registry_remote_read_segment(const struct px_registry_remote *remote, uint32_t index,
				    size_t offset, void *to, size_t size);

/*
 * For a stream of ours that ends, in whatever state the registry is: withdraw it, also without the lock if
 * that is not to be had soon, since the slot is ours alone.
 */
void px_registry_remote_end(uid_t owner, uint32_t index, const struct px_registry_slot *slot);

/* Tell whether the stream has a log to be completed, as the slot says. */
void px_registry_remote_mark_log(uid_t owner, uint32_t index, const struct px_registry_slot *slot);

#endif
