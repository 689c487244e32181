/* SPDX-License-Identifier: MIT */
/*
 * The kernel gives each thread its own user and groups, so the C library makes the system call in each thread.  If the
 * results differ, it calls abort().  They can differ: a thread may have given up capabilities, or have a filter for
 * system calls, since our flush thread began.  A program without other threads does not expect that.  So if rights
 * differ, there is no flush thread during the call, and the next one is made by a thread that has the new user.  If
 * they do not, the flush thread stays: a signal handler that has interrupted malloc() may change the user, but may
 * create no thread.  These calls are not recorded.
 */
#include <errno.h>
#include <grp.h>
#include <sched.h>
#include <unistd.h>

#include "hook.h"
#include "standalone/standalone.h"

#define PX_IDENTITY(name, parameters, arguments)                                                   \
	PX_WRAP int name parameters                                                                \
	{                                                                                          \
		bool has_paused = px_standalone_pause(false);                                      \
		int result;                                                                        \
                                                                                                   \
		if (px_unlikely(!px_hook_real_identity.name))                                      \
			px_hook_prepare();                                                         \
		result = px_hook_real_identity.name arguments;                                     \
		if (has_paused)                                                                    \
			px_standalone_resume();                                                    \
		return result;                                                                     \
	}

/*
 * These errors may mean that there are several threads.  End the flush thread only then, because a call that fails has
 * no effect.
 */
static bool is_refused(int result)
{
	return result != 0 && (errno == EINVAL || errno == EUSERS);
}

#define PX_ALONE(name, parameters, arguments)                                                      \
	PX_WRAP int name parameters                                                                \
	{                                                                                          \
		int saved_errno = errno, result;                                                   \
                                                                                                   \
		if (px_unlikely(!px_hook_real_identity.name))                                      \
			px_hook_prepare();                                                         \
		result = px_hook_real_identity.name arguments;                                     \
		if (px_likely(!is_refused(result)) || !px_standalone_pause(true))                  \
			return result;                                                             \
		errno = saved_errno;                                                               \
		result = px_hook_real_identity.name arguments;                                     \
		px_standalone_resume();                                                            \
		return result;                                                                     \
	}
#include "identity.def"
#undef PX_ALONE
#undef PX_IDENTITY
