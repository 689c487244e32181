/* SPDX-License-Identifier: MIT */
/*
 * Another process, as one to be traced: whether it is there, whether we may, and who it is.
 *
 * The right to trace is that of a debugger, without its more special rules (CREATE-13): its real,
 * effective and saved users are ours, or we have CAP_SYS_PTRACE; and its mappings are ours to see,
 * which a process can deny to its own user (PR_SET_DUMPABLE).  If its effective user is not ours, we
 * must be root, since that is whom it will believe (sysv.h); and it must not be AT_SECURE, since then
 * it believes nobody.
 */
#ifndef PX_REGISTRY_TARGET_H
#define PX_REGISTRY_TARGET_H

#include <stdint.h>
#include <sys/types.h>

#include "registry/registry.h"

struct px_target {
	struct px_process_id id;
	uid_t uid; /* effective */
};

/*
 * Find it.  A cancellation point.  0, or
 *	ESRCH	no such process, one that will not run again (CREATE-14), or a thread that is no process
 *	EPERM	not ours to trace; or in another pid, time or IPC name space, or another user's in another
 *		user name space: there its number, or that of our memory, means something else
 *	EMFILE, ENFILE, or another error of /proc
 */
int px_target_find(pid_t pid, struct px_target *target);

/* Why its memory cannot be looked into: EPERM, or ESRCH if it has ended meanwhile. */
int px_target_refusal(const struct px_process_id *id);

#endif
