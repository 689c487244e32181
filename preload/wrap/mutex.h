/* SPDX-License-Identifier: MIT */
/* Of mutexes, what condition variables do with them inside the C library (cond.c). */
#ifndef PX_PRELOAD_WRAP_MUTEX_H
#define PX_PRELOAD_WRAP_MUTEX_H

#include <pthread.h>
#include <stdbool.h>

/* True if the mutex is not the calling thread's, and refuses to be unlocked by another one. */
bool px_mutex_is_refused(const pthread_mutex_t *mutex) __attribute__((visibility("hidden")));

/* An unlock that is about to be done, and a lock that was done: recorded where mutexes are. */
void px_mutex_record_unlock(const pthread_mutex_t *mutex, bool is_of_c11, void *caller)
	__attribute__((visibility("hidden")));
void px_mutex_record_lock(const pthread_mutex_t *mutex, bool is_of_c11, int error, void *caller)
	__attribute__((visibility("hidden")));

#endif
