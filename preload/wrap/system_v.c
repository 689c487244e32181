/* SPDX-License-Identifier: MIT */
/* Message queues and semaphores of System V.  They have no descriptors: the events have their identifiers. */
#include <sys/msg.h>
#include <sys/sem.h>

#include "deadline.h"
#include "wrap/probe.h"
#include "wrap/trial.h"

#ifndef PX_TIME64
PX_WRAP int msgsnd(int queue, const void *message, size_t size, int flags)
{
	struct px_site site;

	if (PX_NOT_TRACED(mq))
		return px_real.msgsnd(queue, message, size, flags);
	site = PX_SITE(msgsnd, msgsnd);
	return PX_FD_TRIAL_CALL(site, queue, size, !(flags & IPC_NOWAIT),
				px_real.msgsnd(queue, message, size, flags | IPC_NOWAIT),
				errno == EAGAIN, px_real.msgsnd(queue, message, size, flags));
}

PX_WRAP ssize_t msgrcv(int queue, void *message, size_t size, long type, int flags)
{
	struct px_site site;

	if (PX_NOT_TRACED(mq))
		return px_real.msgrcv(queue, message, size, type, flags);
	site = PX_SITE(msgrcv, msgrcv);
	return PX_FD_TRIAL_CALL(site, queue, size, !(flags & IPC_NOWAIT),
				px_real.msgrcv(queue, message, size, type, flags | IPC_NOWAIT),
				errno == ENOMSG, px_real.msgrcv(queue, message, size, type, flags));
}
#endif

/*
 * A set of operations with IPC_NOWAIT in each fails instead of waiting.  semtimedop() with a zero timeout is no
 * replacement, because the kernel lets the thread sleep for a moment.  If there are more operations, or they cannot be
 * read, the call is not tried first: then it has two events.
 */
#define NR_TRIED 16

struct trial {
	struct sembuf operation[NR_TRIED];
	bool is_possible;
};

static void prepare(struct trial *trial, const struct sembuf *operations, size_t nr_operations)
{
	trial->is_possible = nr_operations <= NR_TRIED && !px_fd_is_confined() &&
			     px_probe_can_read(operations, nr_operations * sizeof(*operations));
	for (size_t i = 0; trial->is_possible && i < nr_operations; i++) {
		trial->operation[i] = operations[i];
		trial->operation[i].sem_flg |= IPC_NOWAIT;
	}
}

static int try(const struct trial *trial, int set, size_t nr_operations)
{
	if (trial->is_possible)
		return px_real.semop(set, (struct sembuf *)(uintptr_t)trial->operation,
				     nr_operations);
	errno = EAGAIN;
	return -1;
}

#define SEMOP_CALL(site, set, operations, nr_operations, may_wait, real)                           \
	({                                                                                         \
		struct trial trial_;                                                               \
                                                                                                   \
		prepare(&trial_, operations, nr_operations);                                       \
		PX_FD_TRIAL_CALL(site, set, nr_operations, may_wait,                               \
				 try(&trial_, set, nr_operations), errno == EAGAIN, real);         \
	})

#ifndef PX_TIME64
PX_WRAP int semop(int set, struct sembuf *operations, size_t nr_operations)
{
	struct px_site site;

	if (PX_NOT_TRACED(sem))
		return px_real.semop(set, operations, nr_operations);
	site = PX_SITE(semop, semop);
	return SEMOP_CALL(site, set, operations, nr_operations, true,
			  px_real.semop(set, operations, nr_operations));
}
#endif

/* The kernel refuses an invalid timeout before it looks at the semaphores, so the wrapper does not try such a call. */
static bool may_wait_until(const struct timespec *timeout)
{
	return !timeout || (px_probe_can_read(timeout, sizeof(*timeout)) &&
			    px_deadline_is_time(timeout) && timeout->tv_sec >= 0 &&
			    (timeout->tv_sec > 0 || timeout->tv_nsec > 0));
}

PX_WRAP int semtimedop(int set, struct sembuf *operations, size_t nr_operations,
		       const struct timespec *timeout)
{
	struct px_site site;

	if (PX_NOT_TRACED(sem))
		return px_real.semtimedop(set, operations, nr_operations, timeout);
	site = PX_SITE(semtimedop, semop);
	return SEMOP_CALL(site, set, operations, nr_operations, may_wait_until(timeout),
			  px_real.semtimedop(set, operations, nr_operations, timeout));
}
