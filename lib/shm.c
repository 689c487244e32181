/* SPDX-License-Identifier: MIT */
#include "shm.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "compiler.h"

/* Where segments are.  Written once, before any thread of ours can look (px_process_init). */
static char directory[PX_SHM_PATH_MAX - PX_SHM_NAME_MAX];

static bool is_private(const struct stat *status)
{
	return status->st_uid == geteuid() && (status->st_mode & 077) == 0;
}

int px_shm_init(void)
{
	const char *asked = secure_getenv("TXTRACE_DIR");
	struct stat status;
	int length;

	if (asked && *asked)
		length = snprintf(directory, sizeof(directory), "%s", asked);
	else
		length = snprintf(directory, sizeof(directory), "/dev/shm/posixtrace-%u",
				  (unsigned int)geteuid());
	if (length < 0 || (size_t)length >= sizeof(directory)) {
		errno = ENAMETOOLONG;
		goto refuse;
	}
	if (mkdir(directory, 0700) == 0)
		chmod(directory, 0700); /* the umask may have taken some of it */
	else if (errno != EEXIST)
		goto refuse;
	if (lstat(directory, &status) != 0)
		goto refuse;
	if (!S_ISDIR(status.st_mode) || !is_private(&status)) {
		errno = EACCES;
		goto refuse;
	}
	return 0;

refuse:
	directory[0] = '\0';
	return errno == ENOSPC ? ENOMEM : errno;
}

/* No stdio here: attaching happens at trace points. */
static int path_of(const char *name, char path[PX_SHM_PATH_MAX])
{
	size_t length = strlen(directory);
	size_t name_length = strlen(name);

	if (length == 0 || name_length >= PX_SHM_NAME_MAX - 1)
		return ENOENT;
	memcpy(path, directory, length);
	path[length] = '/';
	memcpy(path + length + 1, name, name_length + 1);
	return 0;
}

int px_shm_map(int fd, struct px_mapping *mapping)
{
	struct stat status;
	int populate = 0;
	void *base;

	if (fstat(fd, &status) != 0)
		return errno;
	if (!S_ISREG(status.st_mode) || !is_private(&status) || status.st_size <= 0)
		return EACCES;
	if ((size_t)status.st_size <= PX_SHM_POPULATE_MAX)
		populate = MAP_POPULATE;
	base = mmap(NULL, (size_t)status.st_size, PROT_READ | PROT_WRITE, MAP_SHARED | populate, fd,
		    0);
	if (base == MAP_FAILED)
		return errno;
	mapping->base = base;
	mapping->size = (size_t)status.st_size;
	return 0;
}

/*
 * ENOSPC is what a full /dev/shm says; to the caller it is memory that is missing.  Beyond the
 * process's limit the kernel would not only refuse but kill (SIGXFSZ).
 */
static int allocate(int fd, size_t size)
{
	struct rlimit limit;
	sigset_t all, before;
	int error;

	if (getrlimit(RLIMIT_FSIZE, &limit) == 0 && size > limit.rlim_cur)
		return ENOMEM;

	/* Older kernels undo it all for any signal: with a fast timer it would never be done. */
	sigfillset(&all);
	sigdelset(&all, SIGTRAP); /* blocked, it kills: single steps */
	pthread_sigmask(SIG_SETMASK, &all, &before);
	do
		error = posix_fallocate(fd, 0, (off_t)size);
	while (error == EINTR);
	pthread_sigmask(SIG_SETMASK, &before, NULL);
	return error == ENOSPC || error == EFBIG ? ENOMEM : error;
}

/* A file that was not there.  Its descriptor, or -1. */
static int make(const char *path)
{
	int fd = open(path, O_RDWR | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);

	if (fd >= 0)
		fchmod(fd, 0600); /* the umask may have taken some of it */
	return fd;
}

int px_shm_create(const char *name, size_t size, struct px_mapping *mapping)
{
	char path[PX_SHM_PATH_MAX];
	int error = path_of(name, path);
	int fd;

	if (error)
		return error;
	fd = make(path);
	if (fd < 0)
		return errno == ENOSPC ? ENOMEM : errno;
	error = allocate(fd, size);
	if (!error)
		error = px_shm_map(fd, mapping);
	close(fd);
	if (error)
		unlink(path);
	return error;
}

int px_shm_attach(const char *name, struct px_mapping *mapping)
{
	char path[PX_SHM_PATH_MAX];
	int error = path_of(name, path);
	int fd;

	if (error)
		return error;
	/* Not open() and close(): these are cancellation points, and a program may wrap them. */
	fd = (int)syscall(SYS_openat, AT_FDCWD, path, O_RDWR | O_NOFOLLOW | O_CLOEXEC);
	if (fd < 0)
		return errno;
	error = px_shm_map(fd, mapping);
	syscall(SYS_close, fd);
	return error;
}

int px_shm_open_or_create(const char *name, size_t size, int *fd)
{
	char path[PX_SHM_PATH_MAX];
	struct stat status;
	int error = path_of(name, path);

	if (error)
		return error;
	/* Nobody takes the file away, so it is there or can be made. */
	*fd = open(path, O_RDWR | O_NOFOLLOW | O_CLOEXEC);
	if (*fd < 0 && errno == ENOENT)
		*fd = make(path);
	if (*fd < 0 && errno == EEXIST) /* by another process, in between */
		*fd = open(path, O_RDWR | O_NOFOLLOW | O_CLOEXEC);
	if (*fd < 0)
		return errno == ENOSPC ? ENOMEM : errno;
	if (fstat(*fd, &status) != 0)
		error = errno;
	else if ((size_t)status.st_size < size)
		error = allocate(*fd, size); /* twice by two processes does no harm */
	if (error)
		close(*fd);
	return error;
}

void px_shm_unlink(const char *name)
{
	char path[PX_SHM_PATH_MAX];

	if (path_of(name, path) == 0)
		unlink(path);
}

void px_shm_unmap(struct px_mapping *mapping)
{
	if (mapping->base)
		munmap(mapping->base, mapping->size);
	mapping->base = NULL;
	mapping->size = 0;
}

void px_shm_retire(const struct px_mapping *mapping)
{
	const int protection = PROT_READ | PROT_WRITE;
	const int flags = MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_FIXED;

#ifdef SYS_mmap
	/* ThreadSanitizer takes mmap() for a write to all of it; but others may well be using it. */
	syscall(SYS_mmap, mapping->base, mapping->size, protection, flags, -1, 0L);
#else
	mmap(mapping->base, mapping->size, protection, flags, -1, 0);
#endif
}
