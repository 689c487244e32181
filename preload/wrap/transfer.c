/* SPDX-License-Identifier: MIT */
/*
 * Calls on files that may wait for a disk, for the lock of another process, or for two descriptors.
 *
 * No test shows before whether a call waits for the disk.  So fsync() and the like always have two events.
 */
#include <limits.h>

#include "wrap/trial.h"

/* A call that always has two events. */
#define FD_CALL_WAITS(site, fd, value, real)                                                       \
	PX_FD_CALL_WAITS(site, fd, true, value, result_, real, value, px_outcome(result_))

#define FSYNC(symbol)                                                                              \
	PX_WRAP int symbol(int fd)                                                                 \
	{                                                                                          \
		struct px_site site;                                                               \
                                                                                                   \
		if (PX_NOT_TRACED(file))                                                           \
			return px_real.symbol(fd);                                                 \
		site = PX_SITE(symbol, fsync);                                                     \
		return FD_CALL_WAITS(site, fd, 0, px_real.symbol(fd));                             \
	}
FSYNC(fsync)
FSYNC(fdatasync)
FSYNC(syncfs)

PX_WRAP int sync_file_range(int fd, off64_t offset, off64_t size, unsigned int flags)
{
	struct px_site site;

	if (PX_NOT_TRACED(file))
		return px_real.sync_file_range(fd, offset, size, flags);
	site = PX_SITE(sync_file_range, fsync);
	return FD_CALL_WAITS(site, fd, 0, px_real.sync_file_range(fd, offset, size, flags));
}

PX_WRAP void sync(void)
{
	struct px_site site;

	if (PX_NOT_TRACED(file)) {
		px_real.sync();
		return;
	}
	site = PX_SITE(sync, sync);
	px_hook_record_fd(site, PX_RECORD_BEGINS, -1, 0, 0);
	px_real.sync();
	px_hook_record_fd(site, PX_RECORD_ENDS, -1, 0, 0);
}

PX_WRAP int msync(void *memory, size_t size, int flags)
{
	struct px_site site;

	if (PX_NOT_TRACED(file))
		return px_real.msync(memory, size, flags);
	site = PX_SITE(msync, msync);
	return PX_FD_CALL_WAITS(site, -1, (flags & MS_SYNC) != 0, flags, result,
				px_real.msync(memory, size, flags), flags, px_outcome(result));
}

PX_WRAP int tcdrain(int fd)
{
	struct px_site site;

	if (PX_NOT_TRACED(file))
		return px_real.tcdrain(fd);
	site = PX_SITE(tcdrain, tcdrain);
	return FD_CALL_WAITS(site, fd, 0, px_real.tcdrain(fd));
}

/* Locks of files. */

/* If the program holds a lock of the other kind on the file, the trial gives it up, as the call itself would. */
PX_WRAP int flock(int fd, int operation)
{
	struct px_site site;

	if (PX_NOT_TRACED(file))
		return px_real.flock(fd, operation);
	site = PX_SITE(flock, flock);
	return PX_FD_TRIAL_CALL(site, fd, operation, !(operation & (LOCK_NB | LOCK_UN)),
				px_real.flock(fd, operation | LOCK_NB), errno == EWOULDBLOCK,
				px_real.flock(fd, operation));
}

#define LOCKF(symbol, size_type)                                                                   \
	PX_WRAP int symbol(int fd, int command, size_type size)                                    \
	{                                                                                          \
		struct px_site site;                                                               \
                                                                                                   \
		if (PX_NOT_TRACED(file))                                                           \
			return px_real.symbol(fd, command, size);                                  \
		site = PX_SITE(symbol, lockf);                                                     \
		return PX_FD_TRIAL_CALL(site, fd, command, command == F_LOCK,                      \
					px_real.symbol(fd, F_TLOCK, size),                         \
					errno == EAGAIN || errno == EACCES,                        \
					px_real.symbol(fd, command, size));                        \
	}
LOCKF(lockf, off_t)
LOCKF(lockf64, off64_t)

/* Transfers between two descriptors.  The event has two descriptors, first the output, then the input. */

PX_INLINE void record(struct px_site site, uint32_t flags, int out, int in, size_t size,
		      int64_t result)
{
	px_fd_record_more(site, flags, out, (uint32_t)size, result, &in, sizeof(in));
}

/* PX_FD_CALL_WAITS() for a transfer. */
#define TRANSFER_CALL(site, out, in, waits, size, real)                                            \
	({                                                                                         \
		struct px_hook_sample sample_ = px_hook_begin();                                   \
		const bool waits_ = (waits);                                                       \
		ssize_t result_;                                                                   \
                                                                                                   \
		if (px_unlikely(waits_))                                                           \
			record(site, PX_RECORD_BEGINS, out, in, size, 0);                          \
		result_ = PX_REAL(&sample_, real);                                                 \
		record(site, waits_ ? PX_RECORD_ENDS : PX_RECORD_WHOLE, out, in, size,             \
		       px_outcome(result_));                                                       \
		px_hook_end(&sample_, (site).wrapper);                                             \
		result_;                                                                           \
	})

/*
 * poll() only shows that there is room for some bytes.  A larger transfer to a pipe or a socket may have to wait for
 * more room.
 */
static bool output_waits(int fd, size_t size)
{
	return px_fd_kind(fd) >= PX_FD_MAY_WAIT &&
	       (size > PIPE_BUF || px_fd_is_not_ready(fd, POLLOUT));
}

#define SENDFILE(symbol, offset_type)                                                              \
	PX_WRAP ssize_t symbol(int out, int in, offset_type *offset, size_t size)                  \
	{                                                                                          \
		struct px_site site;                                                               \
                                                                                                   \
		if (PX_NOT_TRACED(file))                                                           \
			return px_real.symbol(out, in, offset, size);                              \
		site = PX_SITE(symbol, sendfile);                                                  \
		return TRANSFER_CALL(site, out, in, output_waits(out, size), size,                 \
				     px_real.symbol(out, in, offset, size));                       \
	}
SENDFILE(sendfile, off_t)
SENDFILE(sendfile64, off64_t)

/* splice() moves the available bytes, so it waits only if the input is empty or the output is full. */
static bool either_waits(int in, int out)
{
	return px_fd_would_wait(in, POLLIN) || px_fd_would_wait(out, POLLOUT);
}

PX_WRAP ssize_t splice(int in, off64_t *in_offset, int out, off64_t *out_offset, size_t size,
		       unsigned int flags)
{
	struct px_site site;

	if (PX_NOT_TRACED(file))
		return px_real.splice(in, in_offset, out, out_offset, size, flags);
	site = PX_SITE(splice, splice);
	return TRANSFER_CALL(site, out, in, size > 0 && either_waits(in, out), size,
			     px_real.splice(in, in_offset, out, out_offset, size, flags));
}

PX_WRAP ssize_t tee(int in, int out, size_t size, unsigned int flags)
{
	struct px_site site;

	if (PX_NOT_TRACED(file))
		return px_real.tee(in, out, size, flags);
	site = PX_SITE(tee, splice);
	return TRANSFER_CALL(site, out, in,
			     size > 0 && !(flags & SPLICE_F_NONBLOCK) && either_waits(in, out),
			     size, px_real.tee(in, out, size, flags));
}

/* The descriptor is either end of a pipe.  For the end that reads, the call never waits. */
PX_WRAP ssize_t vmsplice(int fd, const struct iovec *vector, size_t count, unsigned int flags)
{
	struct px_site site;

	if (PX_NOT_TRACED(file))
		return px_real.vmsplice(fd, vector, count, flags);
	site = PX_SITE(vmsplice, splice);
	return TRANSFER_CALL(site, fd, -1,
			     count > 0 && !(flags & SPLICE_F_NONBLOCK) &&
				     px_fd_would_wait(fd, POLLOUT | POLLIN),
			     0, px_real.vmsplice(fd, vector, count, flags));
}

PX_WRAP ssize_t copy_file_range(int in, off64_t *in_offset, int out, off64_t *out_offset,
				size_t size, unsigned int flags)
{
	struct px_site site;

	if (PX_NOT_TRACED(file))
		return px_real.copy_file_range(in, in_offset, out, out_offset, size, flags);
	site = PX_SITE(copy_file_range, copy_file_range);
	return TRANSFER_CALL(site, out, in, true, size,
			     px_real.copy_file_range(in, in_offset, out, out_offset, size, flags));
}

PX_WRAP int eventfd_read(int fd, eventfd_t *value)
{
	struct px_site site;

	if (PX_NOT_TRACED(file))
		return px_real.eventfd_read(fd, value);
	site = PX_SITE(eventfd_read, read);
	return PX_FD_CALL_WAITS(site, fd, px_fd_would_wait(fd, POLLIN), sizeof(*value), result,
				px_real.eventfd_read(fd, value), sizeof(*value),
				result ? px_outcome(result) : (int64_t)sizeof(*value));
}

PX_WRAP int eventfd_write(int fd, eventfd_t value)
{
	struct px_site site;

	if (PX_NOT_TRACED(file))
		return px_real.eventfd_write(fd, value);
	site = PX_SITE(eventfd_write, write);
	return PX_FD_CALL_WAITS(site, fd, px_fd_would_wait(fd, POLLOUT), sizeof(value), result,
				px_real.eventfd_write(fd, value), sizeof(value),
				result ? px_outcome(result) : (int64_t)sizeof(value));
}
