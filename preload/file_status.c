/* SPDX-License-Identifier: MIT */
#include "file_status.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#ifdef PX_STATUS_IS_WIDE

extern __typeof__(fstatat64) direct_fstatat __asm__("px_direct_fstatat64");

/* Kernels before 4.11 do not have statx(), and some containers refuse it. */
int px_status_at(int directory, const char *path, px_status *status, int flags)
{
	int saved_errno = errno;
	struct statx found;

	if (syscall(SYS_statx, directory, path, flags, STATX_BASIC_STATS, &found) != 0) {
		if (errno != ENOSYS && errno != EPERM)
			return -1;
		errno = saved_errno;
		return direct_fstatat(directory, path, status, flags);
	}
	memset(status, 0, sizeof(*status));
	status->st_dev = makedev(found.stx_dev_major, found.stx_dev_minor);
	status->st_rdev = makedev(found.stx_rdev_major, found.stx_rdev_minor);
	status->st_ino = found.stx_ino;
	status->st_mode = found.stx_mode;
	status->st_nlink = found.stx_nlink;
	status->st_uid = found.stx_uid;
	status->st_gid = found.stx_gid;
	status->st_size = (off64_t)found.stx_size;
	status->st_blksize = (blksize_t)found.stx_blksize;
	status->st_blocks = (blkcnt64_t)found.stx_blocks;
	status->st_atim.tv_sec = (time_t)found.stx_atime.tv_sec;
	status->st_mtim.tv_sec = (time_t)found.stx_mtime.tv_sec;
	status->st_ctim.tv_sec = (time_t)found.stx_ctime.tv_sec;
	status->st_atim.tv_nsec = (long)found.stx_atime.tv_nsec;
	status->st_mtim.tv_nsec = (long)found.stx_mtime.tv_nsec;
	status->st_ctim.tv_nsec = (long)found.stx_ctime.tv_nsec;
	return 0;
}

int px_status_of(int fd, px_status *status)
{
	return px_status_at(fd, "", status, AT_EMPTY_PATH);
}

#else

extern __typeof__(fstatat) direct_fstatat __asm__("px_direct_fstatat");

int px_status_at(int directory, const char *path, px_status *status, int flags)
{
	return direct_fstatat(directory, path, status, flags);
}

/* On most machines base/system.h makes this a system call. */
int px_status_of(int fd, px_status *status)
{
	return fstat(fd, status);
}

#endif
