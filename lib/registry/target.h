/* SPDX-License-Identifier: MIT */
/*
 * Finds a process to trace: whether it exists, whether we may trace it, and its identity.
 *
 * The right to trace is that of a debugger, without its more special rules (CREATE-13).  The real,
 * effective and saved user of the process are ours, or we have CAP_SYS_PTRACE.  We may also see its
 * mappings, which a process can deny to its own user (PR_SET_DUMPABLE).  If its effective user is
 * not ours, we must be root, because a process accepts segments only from root (sysv.h).  Then it
 * must not be AT_SECURE, because such a process accepts no segment.
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
 * Find the process.  A cancellation point.  Return 0, or
 *
 *	ESRCH	no such process, one that will not run again (CREATE-14), or a thread instead of a process
 *	EPERM	no right to trace it; or it is in another pid, time or IPC namespace, or it belongs to another user and
 *		is in another user namespace: there its pid or the number of our segment has another meaning
 *	EMFILE, ENFILE, or another error of /proc
 */
int px_target_find(pid_t pid, struct px_target *target);

/* Return why its memory cannot be read: EPERM, or ESRCH if it has ended. */
int px_target_refusal(const struct px_process_id *id);

#endif
