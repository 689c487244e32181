/* SPDX-License-Identifier: MIT */
/*
 * The registry of another user, for a controller of root that traces processes of that user.
 *
 * The registry is a file of that user in the directory of that user, /dev/shm/posixtrace-<uid>.  TXTRACE_DIR has no
 * effect on this path.  The user may truncate the file while we use it, write anything to it, hold its lock forever, or
 * replace it by a link, a FIFO or a mounted file system.  Therefore:
 *
 *	- We never map the file.  We only read and write it through a descriptor.
 *	- We check the directory first and open the file below it.  open() stays on the file system of /dev/shm,
 *	  follows no link, and does not block.  Then we check type, owner, mode and size.
 *	- We copy the slots once, after we have locked the file, and check only the copy.
 *	- The wait for the lock has the same limit as for our own registry.
 *	- We remove a file or segment that a slot names only if that user could remove it too.
 *	- A controller keeps the data about its streams in its own memory.
 *
 * Processes of that user see the writes in the same order as from px_registry_publish().  The lock belongs to the open
 * file description, so it also excludes other threads, without a mutex.  A user that keeps the lock delays only the
 * streams that trace processes of that user.
 *
 * We create a missing directory under a temporary name, and a missing file without a name.  Each of them gets its real
 * name when it is complete.  Not async-signal-safe.  The caller must disable cancellation.
 */
#ifndef PX_REGISTRY_REGISTRY_REMOTE_H
#define PX_REGISTRY_REGISTRY_REMOTE_H

#include <sys/types.h>

#include "base/write_signals.h"
#include "registry/registry.h"

struct px_registry_remote {
	uid_t owner;
	int directory;
	int file;
	struct px_write_signals signals;
	/* Copy of the slots, made when this process locked the registry. */
	struct px_registry_slot slot[PX_STREAMS_MAX];
};

/*
 * Open and lock the registry.  If this succeeds, the caller must unlock the registry later.  Return 0 or
 *
 *	EPERM		this process has no permission for that directory
 *	EACCES		the path is not a directory or registry of that user
 *	ETIMEDOUT	another process kept the lock
 *	ENOMEM, EMFILE, ENFILE, EAGAIN (the file is leased), or another error of the file system
 */
int px_registry_remote_lock(struct px_registry_remote *remote, uid_t owner);
void px_registry_remote_unlock(struct px_registry_remote *remote);

/*
 * Find a free slot, as px_registry_find_free() does.  Return its index.  The member of remote->slot[] with this index
 * holds the last generation of the slot.
 */
uint32_t px_registry_remote_find_free(struct px_registry_remote *remote);

/*
 * Put this stream into the slot, then notify the trace points.  Return 0 or an error of the write.
 */
int px_registry_remote_publish(struct px_registry_remote *remote, uint32_t index,
			       const struct px_registry_slot *slot);

/*
 * Read a part of a stream's segment.  index: the stream's slot in remote->slot[].  Return 0, an error of
 * px_sysv_read(), an error of open(), or EACCES.  EACCES: the segment belongs to another user, or other users have
 * access to it, or it is too short.
 */
int px_registry_remote_read_segment(const struct px_registry_remote *remote, uint32_t index,
				    size_t offset, void *to, size_t size);

/* Open another file in the directory of the registry.  Return 0 or an error of open(). */
int px_registry_remote_open(const struct px_registry_remote *remote, const char *name, int *fd);

/*
 * Free the slot of a stream of this process at its end.  If the lock is not available soon, do this without the lock,
 * because only this stream uses the slot.
 */
void px_registry_remote_end(uid_t owner, uint32_t index, const struct px_registry_slot *slot);

/*
 * Write slot->has_log to the registry file.  It means that the stream has a log that another process may have to
 * complete.
 */
void px_registry_remote_mark_log(uid_t owner, uint32_t index, const struct px_registry_slot *slot);

#endif
