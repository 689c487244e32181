/* SPDX-License-Identifier: MIT */
/*
 * Memory that root makes for a process of another user: a System V segment.
 *
 * A file would have to belong to that user, or it could not open it; and whoever owns a file can cut
 * it, so that the other one's next look at its mapping is SIGBUS.  This memory has one size for ever.
 * Holes that are punched into it read as zeros.  So its contents are all that is hostile.
 *
 * Its owner is the user whom it is made for, its creator is root.  The creator cannot be forged, and
 * is what a process goes by that is told of a number: anybody can make a segment and give it away.
 * A process that got its rights from its file (AT_SECURE) takes none: its user may know more about
 * root's stream than it wants to tell.
 *
 * What can fail returns 0 or an error number.  px_sysv_attach() and px_sysv_read() are async-signal-safe.
 */
#ifndef PX_BASE_SYSV_H
#define PX_BASE_SYSV_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "base/shm.h"

/* Find out who we are; once, before a handler can ask for anything here. */
void px_sysv_init(void);

/*
 * Make memory of zeros, with all its pages there, so that none can be missing later.  It is ours until it is
 * given away.  *number, never 0, is for the others.  ENOMEM: also where there may be no further segment.
 */
int px_sysv_create(size_t size, struct px_mapping *mapping, uint32_t *number);

/* From now on it is this user's, whom nobody tells before that.  EPERM. */
int px_sysv_give(uint32_t number, uid_t owner);

/* Map what root made for us.  EACCES: it is no such memory; ENOENT, ENOMEM. */
int px_sysv_attach(uint32_t number, struct px_mapping *mapping);

/* Read a part of what root made for this user, without keeping it mapped.  EIO: there is less. */
int px_sysv_read(uint32_t number, uid_t owner, size_t offset, void *to, size_t size);

/* Map again what we have made, whoever it belongs to by now. */
int px_sysv_attach_own(uint32_t number, struct px_mapping *mapping);

/* True if the process that made it is gone, or the memory is. */
bool px_sysv_is_orphan(uint32_t number);

/* It goes when nobody has it mapped any more.  Without effect on what root did not make for this user. */
void px_sysv_remove(uint32_t number, uid_t owner);

/* The same for its maker, whoever it belongs to by now.  Without effect for others. */
void px_sysv_withdraw(uint32_t number);

#endif
