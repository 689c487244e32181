/* SPDX-License-Identifier: MIT */
/*
 * With this header, calls of the C library do not go through the preloaded object.  A program may use this library and
 * also run under the preloaded object.  The object would record the calls that this library makes: each read of a
 * stream would add events to the stream, and a program that reads its own stream would never reach the end.
 *
 * The compiler includes this header first in each file of the library.  The calls of the functions in unwrapped.def
 * then go to px_unwrapped_NAME (unwrapped.c), which jumps to the real function.  The preloaded object has its own copy
 * of the library, and does not use this header.
 */
#ifndef PX_BASE_UNWRAPPED_H
#define PX_BASE_UNWRAPPED_H

#include "base/jump.h"

#ifdef PX_JUMP_BY
#include <dirent.h>
#include <fcntl.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wredundant-decls"
#define PX_UNWRAPPED(name) extern __typeof__(name) name __asm__("px_unwrapped_" #name);
#if defined __TIMESIZE && __TIMESIZE == 32 && defined __USE_TIME_BITS64
/* The header has already given some functions another name, and a function cannot get a third one. */
#define PX_UNWRAPPED_IS_WIDE
#define PX_UNWRAPPED_WIDE(name, symbol) extern __typeof__(name) px_unwrapped_##name;
#else
#define PX_UNWRAPPED_WIDE(name, symbol) PX_UNWRAPPED(name)
#endif
#include "base/unwrapped.def"
#pragma GCC diagnostic pop

#ifdef PX_UNWRAPPED_IS_WIDE
#define fcntl px_unwrapped_fcntl
#define fopen px_unwrapped_fopen
#define ftruncate px_unwrapped_ftruncate
#define lseek px_unwrapped_lseek
#define nanosleep px_unwrapped_nanosleep
#define open px_unwrapped_open
#define openat px_unwrapped_openat
#define prctl px_unwrapped_prctl
#define pread px_unwrapped_pread
#define pthread_cond_timedwait px_unwrapped_pthread_cond_timedwait
#define pthread_mutex_timedlock px_unwrapped_pthread_mutex_timedlock
#define pwrite px_unwrapped_pwrite
#define sigtimedwait px_unwrapped_sigtimedwait
#endif

/*
 * With _FORTIFY_SOURCE, headers define these as inline functions, which call the function of the C library by names
 * that no declaration can change any more.
 */
#if defined __USE_FORTIFY_LEVEL && __USE_FORTIFY_LEVEL > 0
extern __typeof__(fgets) px_unwrapped_fgets;
extern __typeof__(open) px_unwrapped_open;
extern __typeof__(openat) px_unwrapped_openat;
extern __typeof__(pread) px_unwrapped_pread;
extern __typeof__(read) px_unwrapped_read;
#define fgets px_unwrapped_fgets
#define open px_unwrapped_open
#define openat px_unwrapped_openat
#define pread px_unwrapped_pread
#define read px_unwrapped_read
#endif
#endif

#endif
