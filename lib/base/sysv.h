/* SPDX-License-Identifier: MIT */
/*
 * System V shared memory segments that root creates for a process of another user.
 *
 * A file would have to belong to that user, otherwise the process could not open it.  But the owner
 * of a file can truncate it, and then any access to our mapping raises SIGBUS.  A System V segment
 * has a fixed size.  Holes that are punched into it read as zeros.  So only its contents can be
 * hostile.
 *
 * The segment belongs to the user it is made for, and root is its creator.  A process that reads a
 * segment number checks the creator, which cannot be forged: any process can create a segment and
 * give it away.  A process with rights from its file (AT_SECURE) attaches no segment, because its
 * user could read root's stream and learn more than the process may reveal.
 *
 * Functions that can fail return 0 or an error number.  px_sysv_attach() and px_sysv_read() are
 * async-signal-safe.
 */
#ifndef PX_BASE_SYSV_H
#define PX_BASE_SYSV_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "base/shm.h"

/*
 * Find out whether this process is AT_SECURE.  Call it once, before a signal handler can call the
 * functions below.
 */
void px_sysv_init(void);

/*
 * Create a segment of zeros with all its pages allocated, so that no page can be missing later.  It
 * belongs to us until px_sysv_give().  Other processes attach it by *number, which is never 0.
 * Return ENOMEM if there is no memory or the limit of segments is reached.
 */
int px_sysv_create(size_t size, struct px_mapping *mapping, uint32_t *number);

/* Make this user the owner.  Publish the number to the user only after this call.  Return 0 or EPERM. */
int px_sysv_give(uint32_t number, uid_t owner);

/* Map a segment that root made for us.  Return 0, EACCES if it is not such a segment, ENOENT or ENOMEM. */
int px_sysv_attach(uint32_t number, struct px_mapping *mapping);

/*
 * Read a part of a segment that root made for this user, and unmap it.  Return EIO if the segment is
 * too short.
 */
int px_sysv_read(uint32_t number, uid_t owner, size_t offset, void *to, size_t size);

/* Map a segment that we created, with any owner. */
int px_sysv_attach_own(uint32_t number, struct px_mapping *mapping);

/* Return true if the creating process or the segment is gone. */
bool px_sysv_is_orphan(uint32_t number);

/*
 * Mark the segment for removal: the kernel removes it with its last mapping.  No effect unless root
 * made it for this user.
 */
void px_sysv_remove(uint32_t number, uid_t owner);

/* Remove a segment that we created, with any owner.  No effect on segments of other creators. */
void px_sysv_withdraw(uint32_t number);

#endif
