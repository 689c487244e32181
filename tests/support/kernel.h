/* SPDX-License-Identifier: MIT */
/* What a kernel may lack, or an emulator of its system calls. */
#ifndef PX_TESTS_SUPPORT_KERNEL_H
#define PX_TESTS_SUPPORT_KERNEL_H

#include <errno.h>
#include <stdbool.h>
#include <stddef.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/futex_waitv.h"

/* Return true if a wait with a time limit goes on after a handler with SA_RESTART.  Before Linux 5.16 it ends. */
static inline bool px_test_kernel_restarts(void)
{
	return syscall(SYS_futex_waitv, NULL, 0, 0, NULL, 0) == -1 && errno != ENOSYS;
}

/* Return true if the limit of the address space (RLIMIT_AS) leaves no room for this many bytes. */
static inline bool px_test_is_memory_limited(size_t size)
{
	void *memory = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	if (memory == MAP_FAILED)
		return true;
	munmap(memory, size);
	return false;
}

/* Return true if a shared mapping can be mapped a second time: mremap() with a length of 0. */
static inline bool px_test_can_map_again(void)
{
	size_t size = (size_t)sysconf(_SC_PAGESIZE);
	void *memory = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0), *again;

	if (memory == MAP_FAILED)
		return false;
	again = mremap(memory, 0, size, MREMAP_MAYMOVE);
	if (again != MAP_FAILED)
		munmap(again, size);
	munmap(memory, size);
	return again != MAP_FAILED;
}

#endif
