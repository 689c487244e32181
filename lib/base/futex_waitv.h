/* SPDX-License-Identifier: MIT */
/* futex_waitv(2), for the kernel's and the C library's headers from before Linux 5.16. */
#ifndef PX_BASE_FUTEX_WAITV_H
#define PX_BASE_FUTEX_WAITV_H

#include <stdint.h>
#include <sys/syscall.h>

#ifndef SYS_futex_waitv
#define SYS_futex_waitv 449 /* on all architectures but Alpha */
#endif

/* The kernel's struct futex_waitv. */
struct px_futex_waiter {
	uint64_t value;
	uint64_t address;
	uint32_t flags;
	uint32_t reserved;
};

#define PX_FUTEX_32 2 /* the futex has 32 bits; it may be shared by processes */

#endif
