/* SPDX-License-Identifier: MIT */
/* Declarations of all wrapped functions.  Most are in the headers of the system.  This file declares the others. */
#ifndef PX_PRELOAD_FUNCTIONS_H
#define PX_PRELOAD_FUNCTIONS_H

#include <aio.h>
#include <dirent.h>
#include <fcntl.h>
#include <malloc.h>
#include <mqueue.h>
#include <netdb.h>
#include <poll.h>
#include <pthread.h>
#include <pty.h>
#include <sched.h>
#include <semaphore.h>
#include <signal.h>
#include <spawn.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/file.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/msg.h>
#include <sys/prctl.h>
#include <sys/select.h>
#include <sys/sem.h>
#include <sys/sendfile.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/uio.h>
#include <sys/wait.h>
#include <termios.h>
#include <threads.h>
#include <time.h>
#include <unistd.h>

/* Deprecated functions are wrapped too. */
#pragma GCC diagnostic ignored "-Wdeprecated-declarations"

/* Types that differ between C libraries. */
#ifdef __GLIBC__
typedef int px_messages_flags;
typedef unsigned long px_ioctl_request;
typedef __off_t px_plain_off; /* off_t without -D_FILE_OFFSET_BITS=64 */
#define px_sockaddr(address) ((address).__sockaddr__)
#else
#include "functions_of_glibc.h"
typedef unsigned int px_messages_flags;
typedef int px_ioctl_request;
typedef off_t px_plain_off;
#define px_sockaddr(address) (address)
#endif

/* Some headers define macros of these names. */
#undef fread_unlocked
#undef fwrite_unlocked

mqd_t __mq_open_2(const char *name, int flags);

/* Functions that headers call if _FORTIFY_SOURCE is defined. */
int __open_2(const char *path, int flags);
int __open64_2(const char *path, int flags);
int __openat_2(int directory, const char *path, int flags);
int __openat64_2(int directory, const char *path, int flags);
ssize_t __read_chk(int fd, void *buffer, size_t size, size_t room);
ssize_t __pread_chk(int fd, void *buffer, size_t size, px_plain_off offset, size_t room);
ssize_t __pread64_chk(int fd, void *buffer, size_t size, off64_t offset, size_t room);
size_t __fread_chk(void *buffer, size_t room, size_t size, size_t count, FILE *stream);
size_t __fread_unlocked_chk(void *buffer, size_t room, size_t size, size_t count, FILE *stream);
char *__fgets_chk(char *text, size_t room, int size, FILE *stream);
char *__fgets_unlocked_chk(char *text, size_t room, int size, FILE *stream);
int __fprintf_chk(FILE *stream, int flag, const char *format, ...);
int __printf_chk(int flag, const char *format, ...);
int __vfprintf_chk(FILE *stream, int flag, const char *format, va_list arguments);
int __vprintf_chk(int flag, const char *format, va_list arguments);
int __dprintf_chk(int fd, int flag, const char *format, ...);
int __vdprintf_chk(int fd, int flag, const char *format, va_list arguments);
ssize_t __recv_chk(int fd, void *buffer, size_t size, size_t room, int flags);
ssize_t __recvfrom_chk(int fd, void *buffer, size_t size, size_t room, int flags,
		       __SOCKADDR_ARG address, socklen_t *length);
int __poll_chk(struct pollfd *fds, nfds_t nr_fds, int timeout_ms, size_t room);
int __ppoll_chk(struct pollfd *fds, nfds_t nr_fds, const struct timespec *timeout,
		const sigset_t *mask, size_t room);

/* Variants of scanf() that headers call in C99 and in C23. */
int __isoc99_fscanf(FILE *stream, const char *format, ...);
int __isoc99_scanf(const char *format, ...);
int __isoc99_vfscanf(FILE *stream, const char *format, va_list arguments);
int __isoc99_vscanf(const char *format, va_list arguments);
int __isoc23_fscanf(FILE *stream, const char *format, ...);
int __isoc23_scanf(const char *format, ...);
int __isoc23_vfscanf(FILE *stream, const char *format, va_list arguments);
int __isoc23_vscanf(const char *format, va_list arguments);

/* glibc has them from 2.34 on. */
#ifndef HAVE_CLOSE_RANGE
#define CLOSE_RANGE_UNSHARE 2
#define CLOSE_RANGE_CLOEXEC 4
int close_range(unsigned int first, unsigned int last, int flags);
#endif
#ifndef HAVE_CLOSEFROM
void closefrom(int first);
#endif

#ifndef HAVE_EPOLL_PWAIT2
int epoll_pwait2(int epoll, struct epoll_event *events, int nr_events,
		 const struct timespec *timeout, const sigset_t *mask);
#endif

#ifndef HAVE_EXECVEAT
int execveat(int directory, const char *path, char *const arguments[], char *const environment[], int flags);
#endif

/* <signal.h> declares sigpause() with the symbol __xpg_sigpause. */
int __sigpause(int number_or_mask, int is_number);
int __xpg_sigpause(int number);
int __sigsuspend(const sigset_t *set);

#ifdef __GLIBC__
void (*bsd_signal(int number, void (*handler)(int number)))(int number);
#endif

#ifdef HAVE_TIME64_FUNCTIONS
/*
 * Forms of functions for times of 64 bits.  Here they have the types of the other form: only time64.h, which makes the
 * types wide, calls them with times.
 */
#define PX_WIDE_FORM(symbol, function) extern __typeof__(function) symbol;
PX_WIDE_FORM(__pthread_timedjoin_np64, pthread_timedjoin_np)
PX_WIDE_FORM(__pthread_clockjoin_np64, pthread_clockjoin_np)
PX_WIDE_FORM(__pthread_mutex_timedlock64, pthread_mutex_timedlock)
PX_WIDE_FORM(__pthread_mutex_clocklock64, pthread_mutex_clocklock)
PX_WIDE_FORM(__mtx_timedlock64, mtx_timedlock)
PX_WIDE_FORM(__pthread_rwlock_timedrdlock64, pthread_rwlock_timedrdlock)
PX_WIDE_FORM(__pthread_rwlock_clockrdlock64, pthread_rwlock_clockrdlock)
PX_WIDE_FORM(__pthread_rwlock_timedwrlock64, pthread_rwlock_timedwrlock)
PX_WIDE_FORM(__pthread_rwlock_clockwrlock64, pthread_rwlock_clockwrlock)
PX_WIDE_FORM(__pthread_cond_timedwait64, pthread_cond_timedwait)
PX_WIDE_FORM(__pthread_cond_clockwait64, pthread_cond_clockwait)
PX_WIDE_FORM(__cnd_timedwait64, cnd_timedwait)
PX_WIDE_FORM(__sem_timedwait64, sem_timedwait)
PX_WIDE_FORM(__sem_clockwait64, sem_clockwait)
PX_WIDE_FORM(__mq_timedsend_time64, mq_timedsend)
PX_WIDE_FORM(__mq_timedreceive_time64, mq_timedreceive)
PX_WIDE_FORM(__semtimedop64, semtimedop)
PX_WIDE_FORM(__nanosleep64, nanosleep)
PX_WIDE_FORM(__clock_nanosleep_time64, clock_nanosleep)
PX_WIDE_FORM(__thrd_sleep64, thrd_sleep)
PX_WIDE_FORM(__sigtimedwait64, sigtimedwait)
PX_WIDE_FORM(__ppoll64, ppoll)
PX_WIDE_FORM(__ppoll64_chk, __ppoll_chk)
PX_WIDE_FORM(__select64, select)
PX_WIDE_FORM(__pselect64, pselect)
PX_WIDE_FORM(__epoll_pwait2_time64, epoll_pwait2)
PX_WIDE_FORM(__aio_suspend_time64, aio_suspend)
PX_WIDE_FORM(__timer_settime64, timer_settime)
PX_WIDE_FORM(__fcntl_time64, fcntl)
PX_WIDE_FORM(__ioctl_time64, ioctl)
PX_WIDE_FORM(__prctl_time64, prctl)
PX_WIDE_FORM(__setsockopt64, setsockopt)
PX_WIDE_FORM(__sendmsg64, sendmsg)
PX_WIDE_FORM(__sendmmsg64, sendmmsg)
PX_WIDE_FORM(__recvmsg64, recvmsg)
PX_WIDE_FORM(__recvmmsg64, recvmmsg)
PX_WIDE_FORM(__wait3_time64, wait3)
PX_WIDE_FORM(__wait4_time64, wait4)
#undef PX_WIDE_FORM
#endif

#endif
