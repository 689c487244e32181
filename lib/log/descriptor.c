/* SPDX-License-Identifier: MIT */
/*
 * The file descriptor of a log, and writing to it.  Some programs close all descriptors that they find, and then open
 * files of their own.  The kernel gives such a file the lowest free number, so the log uses a high number.  Before each
 * write, the writer also checks that the descriptor still belongs to the log.
 */
#include "log/log_private.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/falloc.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "txtb/file.h"

#define DESCRIPTOR_HIGH 1000 /* the usual limit of descriptors is 1024 */
#define COPY_CHUNK 262144
#define ZERO_CHUNK 65536

int px_log_check(int fd)
{
	int flags = fcntl(fd, F_GETFL);
	struct stat status;

	if (flags < 0 || (flags & O_ACCMODE) == O_RDONLY || (flags & O_PATH))
		return EBADF;
	if (fstat(fd, &status) != 0)
		return EBADF;
	/* With O_APPEND, pwrite() would ignore the offset and append (LOGP-9). */
	return S_ISREG(status.st_mode) && !(flags & O_APPEND) ? 0 : EINVAL;
}

static int move_up(int fd)
{
	int moved = fcntl(fd, F_DUPFD_CLOEXEC, DESCRIPTOR_HIGH);

	return moved < 0 && errno == EINVAL ? fcntl(fd, F_DUPFD_CLOEXEC, 3) : moved;
}

static bool is_of_log(const struct px_log *log, int fd)
{
	struct stat status;

	return fstat(fd, &status) == 0 && status.st_dev == log->device &&
	       status.st_ino == log->inode;
}

int px_log_take_descriptor(struct px_log *log, int fd)
{
	struct stat status;

	if (fstat(fd, &status) != 0)
		return errno;
	log->device = status.st_dev;
	log->inode = status.st_ino;
	log->access = fcntl(fd, F_GETFL) & O_ACCMODE;
	log->fd = move_up(fd);
	return log->fd < 0 ? errno : 0;
}

int px_log_ensure_descriptor(struct px_log *log)
{
	int fd, found;

	if (is_of_log(log, log->fd))
		return 0;
	found = log->checkpoint_file ? open(log->checkpoint_file->file->path,
					    log->access | O_CLOEXEC | O_NOFOLLOW) :
				       -1;
	if (found < 0)
		return EBADF;
	fd = is_of_log(log, found) ? move_up(found) : -1;
	close(found);
	if (fd < 0)
		return EBADF;
	log->fd = fd;
	return 0;
}

void px_log_close_descriptor(struct px_log *log)
{
	if (is_of_log(log, log->fd))
		close(log->fd);
	log->fd = -1;
}

int px_log_descriptor(const struct px_log *log)
{
	return log->fd;
}

/* The program may close the descriptor and reuse its number at any time: check it before each step. */
int px_log_write_all(struct px_log *log, const void *data, size_t size, uint64_t offset)
{
	const char *from = data;

	while (size > 0) {
		ssize_t written;
		int error;

		PX_TESTPOINT("log.write.before");
		error = px_log_ensure_descriptor(log);
		if (error)
			return error;
		written = pwrite(log->fd, from, size, (off_t)offset);

		if (written < 0 && errno == EINTR)
			continue;
		if (written < 0)
			return errno;
		if (written == 0)
			return EIO;
		from += written;
		offset += (uint64_t)written;
		size -= (size_t)written;
	}
	return 0;
}

/* The caller's descriptor may be for writing only.  Return another one for reading, or -1. */
int px_log_open_reader(struct px_log *log)
{
	char link[40];

	if (px_log_ensure_descriptor(log) != 0)
		return -1;
	snprintf(link, sizeof(link), "/proc/thread-self/fd/%d", log->fd);
	return open(link, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
}

int px_log_copy(struct px_log *log, int from_fd, uint64_t from, uint64_t to, uint64_t size)
{
	char *buffer = size > 0 ? malloc(COPY_CHUNK) : NULL;
	int error = size > 0 && !buffer ? ENOMEM : 0;

	while (!error && size > 0) {
		size_t chunk = size < COPY_CHUNK ? (size_t)size : COPY_CHUNK;

		if (px_txtb_file_read(from_fd, buffer, chunk, from) != chunk)
			error = EIO;
		else
			error = px_log_write_all(log, buffer, chunk, to);
		from += chunk;
		to += chunk;
		size -= chunk;
	}
	free(buffer);
	return error;
}

/* Zeros. */

static int write_zeros(struct px_log *log, uint64_t offset, uint64_t size)
{
	static const char zeros[ZERO_CHUNK];
	int error = 0;

	while (!error && size > 0) {
		size_t chunk = size < sizeof(zeros) ? (size_t)size : sizeof(zeros);

		error = px_log_write_all(log, zeros, chunk, offset);
		offset += chunk;
		size -= chunk;
	}
	return error;
}

/*
 * Write zeros only where the file has data: a file in memory would need memory for them, and its holes are zeros
 * already.  Search with a descriptor of its own, because the program may use the offset of the other one.
 */
static int clear_data(struct px_log *log, uint64_t offset, uint64_t size)
{
	int error = 0, reader = px_log_open_reader(log);
	off_t end = (off_t)(offset + size), from = (off_t)offset;

	while (!error && reader >= 0 && (from = lseek(reader, from, SEEK_DATA)) >= 0 && from < end) {
		off_t until = lseek(reader, from, SEEK_HOLE);

		if (until < 0 || until > end)
			until = end;
		error = write_zeros(log, (uint64_t)from, (uint64_t)(until - from));
		from = until;
	}
	if (!error && (reader < 0 || (from < 0 && errno != ENXIO)))
		error = write_zeros(log, offset, size);
	if (reader >= 0)
		close(reader);
	return error;
}

int px_log_make_zeros(struct px_log *log, uint64_t offset, uint64_t size)
{
	int error;

	PX_TESTPOINT("log.write.before");
	error = px_log_ensure_descriptor(log);
	if (error || size == 0 ||
	    fallocate(log->fd, FALLOC_FL_ZERO_RANGE | FALLOC_FL_KEEP_SIZE, (off_t)offset,
		      (off_t)size) == 0)
		return error;
	return clear_data(log, offset, size);
}
