/* SPDX-License-Identifier: MIT */
/* The entries SUSPEND and RESUME: a thread begins to wait, and its wait ends. */
#ifndef TXTRACE_TRX_RUNNING_WAITS_H
#define TXTRACE_TRX_RUNNING_WAITS_H

#include <stdint.h>

#include "trx/running_views.h"

/* The event ends the wait of this thread.  `waker` is the thread that ended it, or 0.  Both are registered. */
void running_resume(struct running *running, const struct spooled *cause, struct running_thread *thread,
		    uint32_t waker);

/* The event is a SUSPEND of this thread, which loses its CPU. */
void running_suspend(struct running *running, const struct spooled *event, struct running_thread *thread);

#endif
