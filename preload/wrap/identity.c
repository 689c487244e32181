/* SPDX-License-Identifier: MIT */
/*
 * The kernel gives each thread its own user and groups, so the C library makes the system call in each thread.  If the
 * results differ, it calls abort().  They can differ: a thread may have given up capabilities, or have a filter for
 * system calls, since our flush thread began.  A program without other threads does not expect that.  So there is no
 * flush thread during the call, and the next one is made by a thread that has the new user.  These calls are not
 * recorded.
 */
#include <grp.h>
#include <unistd.h>

#include "hook.h"
#include "standalone/standalone.h"

#define PX_IDENTITY(name, parameters, arguments)                                                   \
	PX_WRAP int name parameters                                                                \
	{                                                                                          \
		bool has_paused = px_standalone_pause();                                           \
		int result;                                                                        \
                                                                                                   \
		if (px_unlikely(!px_hook_real_identity.name))                                      \
			px_hook_prepare();                                                         \
		result = px_hook_real_identity.name arguments;                                     \
		if (has_paused)                                                                    \
			px_standalone_resume();                                                    \
		return result;                                                                     \
	}
#include "identity.def"
#undef PX_IDENTITY
