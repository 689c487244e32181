/* SPDX-License-Identifier: MIT */
/* Whether vfork() is what its name says: in an emulator, it may be fork(). */
#ifndef PX_TESTS_SUPPORT_VFORK_H
#define PX_TESTS_SUPPORT_VFORK_H

#include <stdbool.h>
#include <sys/wait.h>
#include <unistd.h>

static inline bool px_test_has_vfork(void)
{
	volatile bool is_shared = false;
	pid_t child = vfork();

	if (child == 0) {
		is_shared = true;
		_exit(0);
	}
	waitpid(child, NULL, 0);
	return is_shared;
}

#endif
