/* SPDX-License-Identifier: MIT */
/*
 * The real functions under the names that the library in this object uses.  If the library calls one of them before our
 * constructor has run, this function looks up the real functions first.
 */
#include "hook.h"

#define PX_DIRECT_BODY(result, name, parameters, arguments)                                        \
	result px_direct_##name parameters __attribute__((visibility("hidden")));                  \
	result px_direct_##name parameters                                                         \
	{                                                                                          \
		if (px_unlikely(!px_real.name))                                                    \
			px_hook_prepare();                                                         \
		return px_real.name arguments;                                                     \
	}

PX_DIRECT_BODY(int, nanosleep, (const struct timespec *time, struct timespec *left), (time, left))
PX_DIRECT_BODY(int, pthread_cond_broadcast, (pthread_cond_t * cond), (cond))
PX_DIRECT_BODY(int, pthread_cond_init, (pthread_cond_t * cond, const pthread_condattr_t *attr),
	       (cond, attr))
PX_DIRECT_BODY(int, pthread_cond_timedwait,
	       (pthread_cond_t * cond, pthread_mutex_t *mutex, const struct timespec *time),
	       (cond, mutex, time))
PX_DIRECT_BODY(int, pthread_cond_wait, (pthread_cond_t * cond, pthread_mutex_t *mutex),
	       (cond, mutex))
PX_DIRECT_BODY(int, pthread_create,
	       (pthread_t * thread, const pthread_attr_t *attr, void *(*start)(void *),
		void *argument),
	       (thread, attr, start, argument))
PX_DIRECT_BODY(int, pthread_join, (pthread_t thread, void **result), (thread, result))
PX_DIRECT_BODY(int, pthread_kill, (pthread_t thread, int number), (thread, number))
PX_DIRECT_BODY(int, pthread_mutex_init, (pthread_mutex_t * mutex, const pthread_mutexattr_t *attr),
	       (mutex, attr))
PX_DIRECT_BODY(int, pthread_mutex_lock, (pthread_mutex_t * mutex), (mutex))
PX_DIRECT_BODY(int, pthread_mutex_timedlock, (pthread_mutex_t * mutex, const struct timespec *time),
	       (mutex, time))
PX_DIRECT_BODY(int, pthread_mutex_trylock, (pthread_mutex_t * mutex), (mutex))
PX_DIRECT_BODY(int, pthread_mutex_unlock, (pthread_mutex_t * mutex), (mutex))
PX_DIRECT_BODY(int, sched_yield, (void), ())

PX_DIRECT_BODY(void *, calloc, (size_t count, size_t size), (count, size))
PX_DIRECT_BODY(int, close, (int fd), (fd))
PX_DIRECT_BODY(int, fclose, (FILE * stream), (stream))
PX_DIRECT_BODY(char *, fgets, (char *text, int size, FILE *stream), (text, size, stream))
PX_DIRECT_BODY(FILE *, fopen, (const char *path, const char *mode), (path, mode))
PX_DIRECT_BODY(void, free, (void *memory), (memory))
PX_DIRECT_BODY(int, ftruncate, (int fd, off_t size), (fd, size))
PX_DIRECT_BODY(void *, malloc, (size_t size), (size))
PX_DIRECT_BODY(int, mkdir, (const char *path, mode_t mode), (path, mode))
PX_DIRECT_BODY(int, mkdirat, (int directory, const char *path, mode_t mode),
	       (directory, path, mode))
PX_DIRECT_BODY(ssize_t, pread, (int fd, void *buffer, size_t size, off_t offset),
	       (fd, buffer, size, offset))
PX_DIRECT_BODY(ssize_t, pwrite, (int fd, const void *buffer, size_t size, off_t offset),
	       (fd, buffer, size, offset))
PX_DIRECT_BODY(ssize_t, read, (int fd, void *buffer, size_t size), (fd, buffer, size))
PX_DIRECT_BODY(int, unlink, (const char *path), (path))
PX_DIRECT_BODY(int, unlinkat, (int directory, const char *path, int flags),
	       (directory, path, flags))
PX_DIRECT_BODY(ssize_t, write, (int fd, const void *buffer, size_t size), (fd, buffer, size))

/*
 * Functions with a variable number of arguments: always pass on the maximum number.  The C library reads them in the
 * same way, and the real function reads only those that it needs.
 */
#define PX_DIRECT_VARIED(name, parameters, last, type, arguments)                                  \
	int px_direct_##name parameters __attribute__((visibility("hidden")));                     \
	int px_direct_##name parameters                                                            \
	{                                                                                          \
		va_list list;                                                                      \
		type more;                                                                         \
                                                                                                   \
		if (px_unlikely(!px_real.name))                                                    \
			px_hook_prepare();                                                         \
		va_start(list, last);                                                              \
		more = va_arg(list, type);                                                         \
		va_end(list);                                                                      \
		return px_real.name arguments;                                                     \
	}

PX_DIRECT_VARIED(fcntl, (int fd, int command, ...), command, void *, (fd, command, more))
PX_DIRECT_VARIED(open, (const char *path, int flags, ...), flags, mode_t, (path, flags, more))
PX_DIRECT_VARIED(openat, (int directory, const char *path, int flags, ...), flags, mode_t,
		 (directory, path, flags, more))
PX_DIRECT_VARIED(prctl, (int option, ...), option, unsigned long, (option, more, 0, 0, 0))
