/* SPDX-License-Identifier: MIT */
#include "base/membarrier.h"

#include <errno.h>
#include <linux/membarrier.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/kernel_time.h"

static int call(int command)
{
	int saved_errno = errno;
	int error = syscall(SYS_membarrier, command, 0, 0) == 0 ? 0 : errno;

	errno = saved_errno;
	return error;
}

bool px_membarrier_register(void)
{
	return call(MEMBARRIER_CMD_REGISTER_GLOBAL_EXPEDITED) == 0;
}

bool px_membarrier_all(void)
{
	return call(MEMBARRIER_CMD_GLOBAL_EXPEDITED) == 0;
}

int px_membarrier_check(void)
{
	int error = call(MEMBARRIER_CMD_REGISTER_GLOBAL_EXPEDITED);

	return error ? error : call(MEMBARRIER_CMD_GLOBAL_EXPEDITED);
}

/* Make the system call directly, because nanosleep() is a cancellation point. */
void px_membarrier_settle(void)
{
	const struct px_kernel_time nap = {0, 1000000};
	int saved_errno = errno;

	if (!px_membarrier_all())
		px_kernel_sleep(&nap);
	errno = saved_errno;
}
