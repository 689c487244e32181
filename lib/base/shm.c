/* SPDX-License-Identifier: MIT */
#include "base/shm.h"

#include <dirent.h>
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
#include <time.h>
#include <unistd.h>

#include "base/atomic.h"
#include "base/clock.h"
#include "base/compiler.h"
#include "base/file_at.h"

#define LOCK_NAP_NS 1000000

/*
 * The directory of the segments. px_process_init() calls px_shm_init() to set it, before the
 * library starts any thread.
 */
static char directory[PX_SHM_PATH_MAX - PX_SHM_NAME_MAX];

static char refused[sizeof(directory)]; /* the directory that cannot be used */
static int lack = ENOMEM;

static bool is_private(const struct stat *status, uid_t owner)
{
	return status->st_uid == owner && (status->st_mode & 077) == 0;
}

bool px_shm_is_private(int fd, uid_t owner)
{
	struct stat status;

	return fstat(fd, &status) == 0 && S_ISREG(status.st_mode) && is_private(&status, owner);
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
		chmod(directory, 0700); /* the umask may have removed bits */
	else if (errno != EEXIST)
		goto refuse;
	if (lstat(directory, &status) != 0)
		goto refuse;
	if (!S_ISDIR(status.st_mode) || !is_private(&status, geteuid())) {
		errno = EACCES;
		goto refuse;
	}
	return 0;

refuse:
	memcpy(refused, directory, sizeof(refused));
	directory[0] = '\0';
	return errno == ENOSPC ? ENOMEM : errno;
}

const char *px_shm_refused(void)
{
	return directory[0] || !refused[0] ? NULL : refused;
}

const char *px_shm_directory(void)
{
	return directory;
}

int px_shm_lack(void)
{
	return px_read_once(&lack);
}

/* The callers expect ENOMEM if there is no room, whatever it is for.  Note what it is for. */
static int note_lack(int error)
{
	if (error != ENOSPC && error != EFBIG)
		return error;
	px_write_once(&lack, error);
	return ENOMEM;
}

/* Build the path without stdio, because a trace point may attach a segment. */
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

static int map(int fd, bool populates, struct px_mapping *mapping)
{
	struct stat status;
	int populate = 0;
	void *base;

	if (fstat(fd, &status) != 0)
		return errno;
	if (!S_ISREG(status.st_mode) || !is_private(&status, geteuid()) || status.st_size <= 0)
		return EACCES;
	if (populates && (size_t)status.st_size <= PX_SHM_POPULATE_MAX &&
	    (size_t)status.st_blocks * 512 >= (size_t)status.st_size)
		populate = MAP_POPULATE;
	base = mmap(NULL, (size_t)status.st_size, PROT_READ | PROT_WRITE, MAP_SHARED | populate, fd,
		    0);
	if (base == MAP_FAILED)
		return errno;
	mapping->base = base;
	mapping->size = (size_t)status.st_size;
	return 0;
}

int px_shm_map(int fd, struct px_mapping *mapping)
{
	return map(fd, true, mapping);
}

/* A file beyond the file size limit makes the kernel send SIGXFSZ. */
bool px_shm_is_beyond_limit(size_t size)
{
	struct rlimit limit;

	return getrlimit(RLIMIT_FSIZE, &limit) == 0 && size > limit.rlim_cur;
}

/* If /dev/shm is full, posix_fallocate() returns ENOSPC. */
int px_shm_allocate(int fd, size_t size)
{
	sigset_t all, before;
	int error;

	if (px_shm_is_beyond_limit(size))
		return note_lack(EFBIG);

	/*
	 * Block signals.  A signal makes older kernels undo the whole allocation, so with a fast
	 * timer it would never succeed.
	 */
	sigfillset(&all);
	sigdelset(&all, SIGTRAP); /* a blocked SIGTRAP kills a process under a debugger */
	pthread_sigmask(SIG_SETMASK, &all, &before);
	do
		error = posix_fallocate(fd, 0, (off_t)size);
	while (error == EINTR);
	pthread_sigmask(SIG_SETMASK, &before, NULL);
	return note_lack(error);
}

/* Create a new file.  Return its descriptor, or -1. */
static int make(const char *path)
{
	int fd = open(path, O_RDWR | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);

	if (fd >= 0)
		fchmod(fd, 0600); /* the umask may have removed bits */
	return fd;
}

static int extend(int fd, size_t size)
{
	if (px_shm_is_beyond_limit(size))
		return note_lack(EFBIG);
	return ftruncate(fd, (off_t)size) == 0 ? 0 : errno;
}

static int create(const char *name, size_t size, size_t first, struct px_mapping *mapping)
{
	char path[PX_SHM_PATH_MAX];
	int error = path_of(name, path);
	int fd;

	if (error)
		return error;
	px_write_once(&lack, ENOMEM);
	fd = make(path);
	if (fd < 0)
		return note_lack(errno);
	error = px_shm_allocate(fd, first);
	if (!error && first < size)
		error = extend(fd, size);
	if (!error)
		error = px_shm_map(fd, mapping);
	close(fd);
	if (error)
		unlink(path);
	return error;
}

int px_shm_make(const char *name, size_t size, int *fd)
{
	char path[PX_SHM_PATH_MAX];
	int error = path_of(name, path);

	if (error)
		return error;
	px_write_once(&lack, ENOMEM);
	*fd = make(path);
	if (*fd < 0)
		return note_lack(errno);
	error = extend(*fd, size);
	if (error) {
		close(*fd);
		unlink(path);
	}
	return error;
}

int px_shm_create(const char *name, size_t size, struct px_mapping *mapping)
{
	return create(name, size, size, mapping);
}

int px_shm_create_partly(const char *name, size_t size, size_t first, struct px_mapping *mapping)
{
	return create(name, size, first, mapping);
}

/*
 * Make system calls, because open() and close() are cancellation points and a program may wrap
 * them.
 */
static int open_existing(const char *name, int flags, int *fd)
{
	char path[PX_SHM_PATH_MAX];
	int error = path_of(name, path);

	if (error)
		return error;
	*fd = (int)syscall(SYS_openat, AT_FDCWD, path, flags | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
	return *fd < 0 ? errno : 0;
}

int px_shm_attach(const char *name, bool populates, struct px_mapping *mapping)
{
	int fd, error = open_existing(name, O_RDWR, &fd);

	if (error)
		return error;
	error = map(fd, populates, mapping);
	syscall(SYS_close, fd);
	return error;
}

int px_shm_read(const char *name, size_t offset, void *to, size_t size)
{
	int fd, error = open_existing(name, O_RDONLY, &fd);
	struct stat status;
	long got;

	if (error)
		return error;
	if (fstat(fd, &status) != 0 || !S_ISREG(status.st_mode) || !is_private(&status, geteuid())) {
		error = EACCES;
	} else {
		got = px_read_at(fd, to, size, offset);
		error = got < 0 ? errno : (size_t)got < size ? EIO : 0;
	}
	syscall(SYS_close, fd);
	return error;
}

/*
 * open() returns one of these errors if the file is a link, a directory or another special file.
 * Translate them to EACCES.
 */
static int error_of_open(int error)
{
	return error == ELOOP || error == EISDIR || error == ENXIO ? EACCES : error;
}

int px_shm_open_or_create(const char *name, size_t size, int *fd)
{
	char path[PX_SHM_PATH_MAX];
	struct stat status;
	int error = path_of(name, path);

	if (error)
		return error;
	/* No process removes this file, so either it exists or we can create it. */
	*fd = open(path, O_RDWR | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
	if (*fd < 0 && errno == ENOENT)
		*fd = make(path);
	if (*fd < 0 && errno == EEXIST) /* another process created it */
		*fd = open(path, O_RDWR | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
	if (*fd < 0)
		return errno == ENOSPC ? note_lack(errno) : error_of_open(errno);
	if (fstat(*fd, &status) != 0)
		error = errno;
	else if (!S_ISREG(status.st_mode) || !is_private(&status, geteuid()) || (size_t)status.st_size > size)
		error = EACCES;
	else if ((size_t)status.st_size < size)
		error = px_shm_allocate(*fd, size); /* several processes may do this at the same time */
	if (error)
		close(*fd);
	return error;
}

int px_shm_open(const char *name, int *fd)
{
	return open_existing(name, O_RDWR, fd);
}

bool px_shm_has(const char *name)
{
	char path[PX_SHM_PATH_MAX];
	struct stat status;

	return path_of(name, path) == 0 && lstat(path, &status) == 0;
}

int px_shm_for_each(const char *prefix, void (*function)(const char *name, void *argument),
		    void *argument)
{
	char bytes[2048] __attribute__((aligned(8)));
	long size;
	int fd, error;

	if (!directory[0])
		return 0;
	/* readdir() needs memory, and exit() may be called in a handler that has interrupted malloc(). */
	fd = (int)syscall(SYS_openat, AT_FDCWD, directory, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (fd < 0)
		return errno;
	while ((size = syscall(SYS_getdents64, fd, bytes, sizeof(bytes))) > 0)
		for (long at = 0; at < size;) {
			const struct dirent64 *file = (const void *)(bytes + at);

			if (strncmp(file->d_name, prefix, strlen(prefix)) == 0 &&
			    strlen(file->d_name) < PX_SHM_NAME_MAX)
				function(file->d_name, argument);
			at += file->d_reclen;
		}
	error = size < 0 ? errno : 0;
	syscall(SYS_close, fd);
	return error;
}

int px_shm_lock(int fd, int command, uint64_t wait_ns)
{
	struct flock whole = {.l_type = F_WRLCK, .l_whence = SEEK_SET};
	const struct timespec nap = {0, LOCK_NAP_NS};
	uint64_t end_ns = px_clock_monotonic_ns() + wait_ns;

	/*
	 * Compare with the clock instead of counting the sleeps, because a signal can end a sleep
	 * early.
	 */
	do {
		if (fcntl(fd, command, &whole) == 0)
			return 0;
		if (errno != EACCES && errno != EAGAIN && errno != EINTR)
			return errno;
		nanosleep(&nap, NULL);
	} while (px_clock_monotonic_ns() < end_ns);
	return ETIMEDOUT;
}

int px_shm_open_new(const char *name, int *fd)
{
	char path[PX_SHM_PATH_MAX];
	int error = path_of(name, path);

	if (error)
		return error;
	*fd = (int)syscall(SYS_openat, AT_FDCWD, path,
			   O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);
	if (*fd < 0)
		return errno;
	syscall(SYS_fchmod, *fd, 0600); /* the umask may have removed bits */
	return 0;
}

void px_shm_rename(const char *from, const char *to)
{
	char from_path[PX_SHM_PATH_MAX], to_path[PX_SHM_PATH_MAX];

	if (path_of(from, from_path) == 0 && path_of(to, to_path) == 0)
		syscall(SYS_renameat2, AT_FDCWD, from_path, AT_FDCWD, to_path, 0);
}

int px_shm_link(const char *from, const char *to)
{
	char from_path[PX_SHM_PATH_MAX], to_path[PX_SHM_PATH_MAX];
	int error = path_of(from, from_path);

	if (!error)
		error = path_of(to, to_path);
	if (!error && syscall(SYS_linkat, AT_FDCWD, from_path, AT_FDCWD, to_path, 0) != 0)
		error = errno;
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

	/*
	 * Make the system call directly: ThreadSanitizer treats mmap() as a write to the whole
	 * range, and other threads may be using that range.  Where there is mmap2, SYS_mmap is another call, and on
	 * s390 it takes one pointer to its arguments.
	 */
#if defined SYS_mmap2
	syscall(SYS_mmap2, mapping->base, mapping->size, protection, flags, -1, 0L);
#elif defined SYS_mmap && !defined __s390__
	syscall(SYS_mmap, mapping->base, mapping->size, protection, flags, -1, 0L);
#else
	mmap(mapping->base, mapping->size, protection, flags, -1, 0);
#endif
}

int px_shm_duplicate(const struct px_mapping *mapping, struct px_mapping *again)
{
	/*
	 * With an old size of 0, mremap() makes a second mapping of shared memory and keeps the
	 * first.
	 */
	long base = syscall(SYS_mremap, mapping->base, 0L, mapping->size, MREMAP_MAYMOVE, 0L);

	if (base == -1)
		return errno;
	again->base = (void *)base;
	again->size = mapping->size;
	return 0;
}
