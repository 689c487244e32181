/* SPDX-License-Identifier: MIT */
/* Why the kernel gives no scheduling records, in words. */
#ifndef TXTRACE_LIVE_SCHED_REFUSAL_H
#define TXTRACE_LIVE_SCHED_REFUSAL_H

#define SCHED_REFUSAL_BYTES 256

/* Write a reason, and what helps, for an error of txtrace_get_sched_error() or txtrace_check_sched(). */
void sched_refusal(int error, char text[SCHED_REFUSAL_BYTES]);

#endif
