/* SPDX-License-Identifier: MIT */
/*
 * Calls that have a variant which fails instead of waiting.  The wrapper makes this variant first.  If it fails because
 * the call would wait, the wrapper records the start of a wait and makes the program's own call.
 */
#ifndef PX_PRELOAD_WRAP_TRIAL_H
#define PX_PRELOAD_WRAP_TRIAL_H

#include "wrap/descriptor.h"

/*
 * The body of a wrapper for a call that returns -1 if it fails.  If `tries` is true, `trial` is the variant, and
 * `is_busy` looks at errno after the variant has failed.  Once the program is confined, only its own call is made: if
 * the call may wait, it then has two events.  `begin` and `end` record the events.  `end` may use `result` and flags_.
 */
#define PX_TRIAL_CALL(site, tries, trial, is_busy, result, real, begin, end)                       \
	({                                                                                         \
		struct px_hook_sample sample_ = px_hook_begin();                                   \
		uint32_t flags_ = PX_RECORD_WHOLE;                                                 \
		bool tries_ = (tries), waits_ = tries_ && px_fd_is_confined();                     \
		int saved_errno_ = errno;                                                          \
		__typeof__(real) result = -1;                                                      \
                                                                                                   \
		if (tries_ && !waits_) {                                                           \
			result = PX_REAL(&sample_, trial);                                         \
			waits_ = result == -1 && (is_busy);                                        \
		}                                                                                  \
		if (waits_) {                                                                      \
			errno = saved_errno_;                                                      \
			begin;                                                                     \
			flags_ = PX_RECORD_ENDS;                                                   \
		}                                                                                  \
		if (!tries_ || waits_)                                                             \
			result = PX_REAL(&sample_, real);                                          \
		end;                                                                               \
		px_hook_end(&sample_, (site).wrapper);                                             \
		result;                                                                            \
	})

/* PX_TRIAL_CALL() for a call with the layout FD. */
#define PX_FD_TRIAL_CALL(site, fd, value, tries, trial, is_busy, real)                             \
	PX_TRIAL_CALL(site, tries, trial, is_busy, result_, real,                                  \
		      px_hook_record_fd(site, PX_RECORD_BEGINS, fd, (uint32_t)(value), 0),         \
		      px_hook_record_fd(site, flags_, fd, (uint32_t)(value), px_outcome(result_)))

#endif
