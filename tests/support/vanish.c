/* SPDX-License-Identifier: MIT */
/* See vanish.h. */
#include "support/vanish.h"

#include <sched.h>
#include <stdbool.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/atomic.h"

static pid_t vanished_tid; /* 0: none since the last px_test_join() */

void px_test_vanish(void)
{
	px_store_release(&vanished_tid, (pid_t)syscall(SYS_gettid));
	for (;;)
		syscall(SYS_exit, 0);
}

static bool has_ended(pid_t tid)
{
	return syscall(SYS_tgkill, getpid(), tid, 0) != 0;
}

void px_test_await_end(pid_t tid)
{
	while (!has_ended(tid))
		sched_yield();
}

void px_test_join(pthread_t thread)
{
	while (pthread_tryjoin_np(thread, NULL) != 0) {
		pid_t tid = px_load_acquire(&vanished_tid);

		if (tid != 0 && has_ended(tid))
			break;
		sched_yield();
	}
	px_store_release(&vanished_tid, 0);
}
