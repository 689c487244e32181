/* SPDX-License-Identifier: MIT */
/*
 * The wrappers of condition variables (cond.c) use these functions to record how the C library unlocks and locks the
 * mutex.
 */
#ifndef PX_PRELOAD_WRAP_MUTEX_H
#define PX_PRELOAD_WRAP_MUTEX_H

#include <pthread.h>
#include <stdbool.h>

/* Return true if the mutex refuses an unlock because the calling thread does not own it. */
bool px_mutex_is_refused(const pthread_mutex_t *mutex) __attribute__((visibility("hidden")));

/* Call this before the C library unlocks the mutex.  If mutexes are recorded, record an unlock. */
void px_mutex_record_unlock(const pthread_mutex_t *mutex, void *caller)
	__attribute__((visibility("hidden")));
/* Call this after the C library has locked the mutex again.  If mutexes are recorded, record a lock. */
void px_mutex_record_lock(const pthread_mutex_t *mutex, int error, void *caller)
	__attribute__((visibility("hidden")));

#endif
