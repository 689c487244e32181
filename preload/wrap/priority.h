/* SPDX-License-Identifier: MIT */
/* Priorities on the scale of the kernel. */
#ifndef PX_WRAP_PRIORITY_H
#define PX_WRAP_PRIORITY_H

#include <stdbool.h>
#include <stdint.h>

/*
 * For another thread with normal policy, record the priority for nice value 0, because reading the nice value takes a
 * system call.
 */
#define PX_PRIORITY_NORMAL 120

/*
 * Return the priority on the scale of the kernel.  If the policy is not a real-time policy, `priority` is ignored:
 * return the nice value of the calling thread if is_self, or else PX_PRIORITY_NORMAL.
 */
uint32_t px_kernel_priority(int policy, int priority, bool is_self);

#endif
