/* SPDX-License-Identifier: MIT */
/*
 * The compiler includes this first in each file of the library that is linked into the preloaded object.  Calls of the
 * functions in direct.def then go to px_direct_NAME (direct.c), and so to the C library itself.  So these calls do not
 * reach our wrappers.  They also do not reach functions of other objects, which may take a lock or call a function that
 * we wrap.
 */
#ifndef PX_PRELOAD_DIRECT_H
#define PX_PRELOAD_DIRECT_H

/*
 * The gate (trace/process.h) is open until our constructor has run, so that calls from earlier constructors look up the
 * real functions.
 */
#define PX_GATE_AT_FIRST 1

/*
 * The constructor of the library leaves the former logs that this object may continue.  A later constructor of this
 * object recovers the others (px_recover_own()).
 */
#define PX_TAKES_FORMER_LOG true

#ifndef PX_BASE_SYSTEM_H
#if defined __x86_64__ || defined __aarch64__
#define PX_SYSTEM_PROGRAM_CLOCK "px_system_clock_gettime"
#elif defined __i386__ || defined __arm__
#define PX_SYSTEM_PROGRAM_CLOCK "px_direct_clock_gettime"
#endif
#endif

/*
 * On machines of 32 bits, the library inside the object has offsets of 64 bits, too: its log may be larger than 2 GiB.
 * The wrappers include a system header before this file, and so they keep offsets of 32 bits: they wrap the functions
 * of both kinds.  No header that both use has an off_t, an ino_t or a structure with one.
 */
#if __SIZEOF_LONG__ == 4 && !defined _FEATURES_H
#define _FILE_OFFSET_BITS 64
#endif

#include <dirent.h>
#include <fcntl.h>
#include <link.h>
#include <pthread.h>
#include <regex.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <sys/random.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/timex.h>
#include <sys/utsname.h>
#include <time.h>
#include <unistd.h>

#include "base/system.h"

#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wredundant-decls"
#define PX_DIRECT(name) extern __typeof__(name) name __asm__("px_direct_" #name);
#if defined __USE_FILE_OFFSET64 && __SIZEOF_LONG__ == 4
/* The header has already given the function another name, and it cannot get a third one. */
#define PX_DIRECT_IS_WIDE
#define PX_DIRECT_WIDE(name, symbol) extern __typeof__(name) px_direct_##symbol;
#else
#define PX_DIRECT_WIDE(name, symbol) PX_DIRECT(name)
#endif
#include "direct.def"
#pragma GCC diagnostic pop

#ifdef PX_DIRECT_IS_WIDE
#define fallocate px_direct_fallocate64
#define fcntl px_direct_fcntl64
#define fopen px_direct_fopen64
#define ftruncate px_direct_ftruncate64
#define getrlimit px_direct_getrlimit64
#define lseek px_direct_lseek64
#define mmap px_direct_mmap64
#define open px_direct_open64
#define openat px_direct_openat64
#define posix_fadvise px_direct_posix_fadvise64
#define posix_fallocate px_direct_posix_fallocate64
#define pread px_direct_pread64
#define pwrite px_direct_pwrite64
#define readdir px_direct_readdir64

/* Times of 64 bits do not fit into these structures, so file_status.c fills them. */
extern int px_wide_status_at(int directory, const char *path, struct stat *status, int flags) __asm__("px_status_at");
extern int px_wide_status_of(int fd, struct stat *status) __asm__("px_status_of");
#define fstat px_wide_status_of
#define fstatat px_wide_status_at
#define lstat(path, status) px_wide_status_at(AT_FDCWD, path, status, AT_SYMLINK_NOFOLLOW)
#define stat(path, status) px_wide_status_at(AT_FDCWD, path, status, 0) /* and not the structure */
#endif

#endif
