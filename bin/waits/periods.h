/* SPDX-License-Identifier: MIT */
/*
 * What a thread of the model did in a period, from the scheduling records of the log (thread_states.h).  A period is a
 * wait, a hold, or the watch of a holder.
 */
#ifndef TXTRACE_WAITS_PERIODS_H
#define TXTRACE_WAITS_PERIODS_H

#include "waits/waits.h"

/* An event of the thread shows its handle.  So the records of the thread with its tid are those of this thread. */
void periods_find_thread(struct waits *waits, struct waiter *thread);

#define PERIODS_NAME 32

/* Return the name of a thread, which may have no events of its own.  text may get the name. */
const char *periods_thread_name(const struct waits *waits, const struct sched_thread *thread, char text[PERIODS_NAME]);

/*
 * Begin a period of a thread, and end it.  All of it is unknown if no scheduling record had named the thread when it
 * began.
 */
void periods_begin(const struct waiter *thread, int64_t at_ns, struct period *period);
void periods_end(const struct waiter *thread, int64_t at_ns, int64_t length_ns, struct period *period);

/* The thread's wait ends at this time: find the signal that woke it, and end the period of the wait. */
void periods_end_wait(struct waits *waits, struct waiter *thread, int64_t at_ns);

/* The callback spent() of thread_states.h; arg is a struct waits.  It calls that of the listener. */
void periods_report(void *arg, const struct sched_thread *thread, enum thread_state state, int64_t from_ns,
		    int64_t until_ns);

#endif
