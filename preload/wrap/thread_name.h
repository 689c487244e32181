/* SPDX-License-Identifier: MIT */
#ifndef PX_PRELOAD_WRAP_THREAD_NAME_H
#define PX_PRELOAD_WRAP_THREAD_NAME_H

#include "hook.h"

/*
 * Record that a call gave a thread a name: pthread_setname_np(), or prctl() with PR_SET_NAME.  result is 0 or an error
 * number.  If the name cannot be read, record no name.
 */
void px_thread_record_name(struct px_site site, pthread_t thread, const char *name, int result);

#endif
