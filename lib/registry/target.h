/* SPDX-License-Identifier: MIT */
/*
 * Find a process to trace.  Check whether it exists and whether we may trace it, and return its identity.
 *
 * We may trace the processes that a debugger may trace, but the more special rules for debuggers do not apply
 * (CREATE-13).  Either the real, effective and saved user of the process are ours, or we have CAP_SYS_PTRACE.  We must
 * also be able to read the mappings of the process.  A process can deny this even to its own user (PR_SET_DUMPABLE).
 * If its effective user is not ours, we must be root, because a process accepts segments only from root (sysv.h).  Then
 * AT_SECURE of the process must be 0, because otherwise the process accepts no segment.
 */
#ifndef PX_REGISTRY_TARGET_H
#define PX_REGISTRY_TARGET_H

#include <stdint.h>
#include <sys/types.h>

#include "registry/registry.h"

struct px_target {
	struct px_process_id id;
	uid_t uid; /* effective user */
};

/*
 * Find the process.  A cancellation point.  Return 0, or
 *
 *	ESRCH	no such process, a process that will not run again (CREATE-14), or a thread instead of a process
 *	EPERM	we have no right to trace it; or it is in another pid, time or IPC namespace; or it belongs to another
 *		user and is in another user namespace.  In another namespace, its pid or the number of our segment has
 *		another meaning.
 *	EAGAIN	its threads end faster than this function can ask them
 *	EMFILE, ENFILE, or another error of /proc
 */
int px_target_find(pid_t pid, struct px_target *target);

#endif
