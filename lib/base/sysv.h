/* SPDX-License-Identifier: MIT */
/*
 * System V shared memory segments that root creates for a process of another user.
 *
 * A file would have to belong to that user, otherwise the process could not open it.  But the owner of a file can
 * truncate it, and then any access to a mapping of it raises SIGBUS.  The size of a System V segment is fixed.  If the
 * user punches holes into the segment, the holes read as zeros.  So a hostile user can change only the contents of the
 * segment.
 *
 * The segment belongs to the user for whom root makes it, and root is its creator.  Any process can create a segment
 * and give it to another user, but it cannot forge the creator.  So a process that reads a segment number checks the
 * creator.  A process that got extra rights from its program file (AT_SECURE) attaches no segment: the user owns the
 * segment, and could read data in the trace that the process must not reveal.
 *
 * Functions that can fail return 0 or an error number. px_sysv_attach() and px_sysv_read() are
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
 * Create a segment of zeros and allocate all its pages, so that no later access fails.  The segment belongs to the
 * caller until px_sysv_give().  Other processes attach it by *number, which is never 0.  Return ENOMEM if there is no
 * memory or the limit of segments is reached.
 */
int px_sysv_create(size_t size, struct px_mapping *mapping, uint32_t *number);

/* Make this user the owner.  Publish the number to the user only after this call.  Return 0 or EPERM. */
int px_sysv_give(uint32_t number, uid_t owner);

/*
 * Map a segment that root made for the user of this process.  Return 0, ENOENT, ENOMEM, or EACCES if it is not such a
 * segment or this process is AT_SECURE.
 */
int px_sysv_attach(uint32_t number, struct px_mapping *mapping);

/*
 * Copy a part of a segment that root made for this user.  Return EIO if the segment is too short.
 */
int px_sysv_read(uint32_t number, uid_t owner, size_t offset, void *to, size_t size);

/* Map a segment that the effective user of this process created.  The segment may have any owner. */
int px_sysv_attach_own(uint32_t number, struct px_mapping *mapping);

/* Return true if the creating process has ended or the segment no longer exists. */
bool px_sysv_is_orphan(uint32_t number);

/*
 * Mark the segment for removal: the kernel removes it when its last mapping is gone.  No effect
 * unless root made the segment for this user.
 */
void px_sysv_remove(uint32_t number, uid_t owner);

/*
 * Mark a segment for removal that the effective user of this process created.  The segment may have any owner.  This
 * has no effect on segments of other creators.
 */
void px_sysv_withdraw(uint32_t number);

#endif
