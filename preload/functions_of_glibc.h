/* SPDX-License-Identifier: MIT */
/*
 * Declarations of wrapped functions for other C libraries than glibc.  Some of the functions exist only in glibc; then
 * the object does not export the wrapper (configure.ac), because a program may look whether the function is there.  The
 * others are names for files of 64 bits, which musl has as macros.
 */
#ifndef PX_PRELOAD_FUNCTIONS_OF_GLIBC_H
#define PX_PRELOAD_FUNCTIONS_OF_GLIBC_H

#undef aio_suspend64
#undef creat64
#undef fopen64
#undef freopen64
#undef fseeko64
#undef ftruncate64
#undef lockf64
#undef lseek64
#undef off64_t
#undef open64
#undef openat64
#undef pread64
#undef preadv64
#undef pwrite64
#undef pwritev64
#undef sendfile64

typedef off_t off64_t; /* musl has only offsets of 64 bits */
typedef void plain_signal_handler(int number);

#ifndef __SOCKADDR_ARG
#define __SOCKADDR_ARG struct sockaddr *
#define __CONST_SOCKADDR_ARG const struct sockaddr *
#endif

#define WCOREFLAG 0x80 /* in a wait status: there is a core file */
#define __OPEN_NEEDS_MODE(flags) (((flags) & O_CREAT) != 0 || ((flags) & O_TMPFILE) == O_TMPFILE)

int aio_suspend64(const struct aiocb *const list[], int nr, const struct timespec *timeout);
int creat64(const char *path, mode_t mode);
FILE *fopen64(const char *path, const char *mode);
FILE *freopen64(const char *path, const char *mode, FILE *stream);
int fseeko64(FILE *stream, off64_t offset, int whence);
int ftruncate64(int fd, off64_t length);
int lockf64(int fd, int operation, off64_t length);
off64_t lseek64(int fd, off64_t offset, int whence);
int open64(const char *path, int flags, ...);
int openat64(int directory, const char *path, int flags, ...);
ssize_t pread64(int fd, void *buffer, size_t size, off64_t offset);
ssize_t preadv64(int fd, const struct iovec *parts, int nr, off64_t offset);
ssize_t pwrite64(int fd, const void *buffer, size_t size, off64_t offset);
ssize_t pwritev64(int fd, const struct iovec *parts, int nr, off64_t offset);
ssize_t sendfile64(int out, int in, off64_t *offset, size_t size);

int fcntl64(int fd, int command, ...);
ssize_t preadv2(int fd, const struct iovec *parts, int nr, off_t offset, int flags);
ssize_t preadv64v2(int fd, const struct iovec *parts, int nr, off64_t offset, int flags);
ssize_t pwritev2(int fd, const struct iovec *parts, int nr, off_t offset, int flags);
ssize_t pwritev64v2(int fd, const struct iovec *parts, int nr, off64_t offset, int flags);
int renameat2(int old_directory, const char *old, int new_directory, const char *new, unsigned int flags);
ssize_t __getdelim(char **line, size_t *room, int end, FILE *stream);

int pthread_clockjoin_np(pthread_t thread, void **result, clockid_t clock, const struct timespec *until);
int pthread_cond_clockwait(pthread_cond_t *cond, pthread_mutex_t *mutex, clockid_t clock,
			   const struct timespec *until);
int pthread_mutex_clocklock(pthread_mutex_t *mutex, clockid_t clock, const struct timespec *until);
int pthread_rwlock_clockrdlock(pthread_rwlock_t *lock, clockid_t clock, const struct timespec *until);
int pthread_rwlock_clockwrlock(pthread_rwlock_t *lock, clockid_t clock, const struct timespec *until);
int sem_clockwait(sem_t *sem, clockid_t clock, const struct timespec *until);
void *pvalloc(size_t size);
plain_signal_handler *ssignal(int number, plain_signal_handler *handler);
plain_signal_handler *__sysv_signal(int number, plain_signal_handler *handler);
plain_signal_handler *sysv_signal(int number, plain_signal_handler *handler);

#endif
