/* SPDX-License-Identifier: MIT */
/*
 * The status of a file, for this object itself.
 *
 * Where a long has 32 bits, stat() and the others of glibc fail with EOVERFLOW if a number of the file does not fit: a
 * size from 2 GiB on, an inode of 64 bits, or a time after 2038.  The program may use such a file, so this object must
 * find out what it is.  statx() has 64 bits for each number.
 *
 * The library inside this object has a `struct stat` with the layout of px_status (direct.h).  Only the times in it may
 * be cut off.
 */
#ifndef PX_PRELOAD_FILE_STATUS_H
#define PX_PRELOAD_FILE_STATUS_H

#include <sys/stat.h>

#if __SIZEOF_LONG__ == 4 && defined __GLIBC__
#define PX_STATUS_IS_WIDE
typedef struct stat64 px_status;
#else
typedef struct stat px_status;
#endif

/* As fstatat().  Calls the kernel or the C library itself, and no other preloaded object. */
int px_status_at(int directory, const char *path, px_status *status, int flags);

/* As fstat(). */
int px_status_of(int fd, px_status *status);

#endif
