/* SPDX-License-Identifier: MIT */
/* Files and descriptors. */
#include "wrap/descriptor.h"

/* A mode is there only where a file may be made. */
#define TAKE_MODE(flags, mode)                                                                     \
	do {                                                                                       \
		va_list arguments_;                                                                \
                                                                                                   \
		if (!__OPEN_NEEDS_MODE(flags))                                                     \
			break;                                                                     \
		va_start(arguments_, flags);                                                       \
		mode = va_arg(arguments_, mode_t);                                                 \
		va_end(arguments_);                                                                \
	} while (0)

#define OPENS(symbol, path, flags, real)                                                           \
	PX_PATH_TOLD(symbol, open, px_fd_opened(result), flags, path, real)

#define OPEN(symbol)                                                                               \
	PX_WRAP int symbol(const char *path, int flags, ...)                                       \
	{                                                                                          \
		mode_t mode = 0;                                                                   \
                                                                                                   \
		TAKE_MODE(flags, mode);                                                            \
		if (PX_NOT_TRACED_OR_VFORK(file))                                                  \
			return px_real.symbol(path, flags, mode);                                  \
		return OPENS(symbol, path, flags, px_real.symbol(path, flags, mode));              \
	}
OPEN(open)
OPEN(open64)

#define OPENAT(symbol)                                                                             \
	PX_WRAP int symbol(int directory, const char *path, int flags, ...)                        \
	{                                                                                          \
		mode_t mode = 0;                                                                   \
                                                                                                   \
		TAKE_MODE(flags, mode);                                                            \
		if (PX_NOT_TRACED_OR_VFORK(file))                                                  \
			return px_real.symbol(directory, path, flags, mode);                       \
		return OPENS(symbol, path, flags, px_real.symbol(directory, path, flags, mode));   \
	}
OPENAT(openat)
OPENAT(openat64)

#define OPEN_2(symbol)                                                                             \
	PX_WRAP int symbol(const char *path, int flags)                                            \
	{                                                                                          \
		if (PX_NOT_TRACED_OR_VFORK(file))                                                  \
			return px_real.symbol(path, flags);                                        \
		return OPENS(symbol, path, flags, px_real.symbol(path, flags));                    \
	}
OPEN_2(__open_2)
OPEN_2(__open64_2)

#define OPENAT_2(symbol)                                                                           \
	PX_WRAP int symbol(int directory, const char *path, int flags)                             \
	{                                                                                          \
		if (PX_NOT_TRACED_OR_VFORK(file))                                                  \
			return px_real.symbol(directory, path, flags);                             \
		return OPENS(symbol, path, flags, px_real.symbol(directory, path, flags));         \
	}
OPENAT_2(__openat_2)
OPENAT_2(__openat64_2)

#define CREAT(symbol)                                                                              \
	PX_WRAP int symbol(const char *path, mode_t mode)                                          \
	{                                                                                          \
		if (PX_NOT_TRACED_OR_VFORK(file))                                                  \
			return px_real.symbol(path, mode);                                         \
		return OPENS(symbol, path, O_CREAT | O_WRONLY | O_TRUNC,                           \
			     px_real.symbol(path, mode));                                          \
	}
CREAT(creat)
CREAT(creat64)

static int traced_close(int fd, void *caller)
{
	struct px_hook_sample sample = px_hook_begin();
	bool is_told = px_hook_gives_up(PX_WRAPPER_close, PX_WHOLE(close), fd, caller);
	int result = PX_REAL(&sample, px_real.close(fd));
	int64_t outcome = px_outcome(result);

	if (!is_told)
		px_hook_fd(PX_WRAPPER_close, PX_WHOLE(close), fd, 0, outcome, caller);
	px_hook_end(&sample, PX_WRAPPER_close);
	return result;
}

PX_WRAP int close(int fd)
{
	if (PX_NOT_TRACED_OR_VFORK(file)) {
		px_fd_set_kind(fd, PX_FD_UNKNOWN);
		return px_real.close(fd);
	}
	return traced_close(fd, PX_CALLER);
}

PX_WRAP ssize_t read(int fd, void *buffer, size_t size)
{
	if (PX_NOT_TRACED(file))
		return px_real.read(fd, buffer, size);
	return PX_FD_WAITS(read, read, fd, size > 0 && px_fd_would_wait(fd, POLLIN), size, size,
			   px_real.read(fd, buffer, size));
}

PX_WRAP ssize_t __read_chk(int fd, void *buffer, size_t size, size_t room)
{
	if (PX_NOT_TRACED(file))
		return px_real.__read_chk(fd, buffer, size, room);
	return PX_FD_WAITS(__read_chk, read, fd, size > 0 && px_fd_would_wait(fd, POLLIN), size,
			   size, px_real.__read_chk(fd, buffer, size, room));
}

PX_WRAP ssize_t readv(int fd, const struct iovec *vector, int count)
{
	if (PX_NOT_TRACED(file))
		return px_real.readv(fd, vector, count);
	return PX_FD_WAITS(readv, readv, fd, count > 0 && px_fd_would_wait(fd, POLLIN), 0,
			   px_vector_size(vector, count, result), px_real.readv(fd, vector, count));
}

PX_WRAP ssize_t write(int fd, const void *buffer, size_t size)
{
	if (PX_NOT_TRACED(file))
		return px_real.write(fd, buffer, size);
	return PX_FD_WAITS(write, write, fd, size > 0 && px_fd_would_wait(fd, POLLOUT), size, size,
			   px_real.write(fd, buffer, size));
}

PX_WRAP ssize_t writev(int fd, const struct iovec *vector, int count)
{
	if (PX_NOT_TRACED(file))
		return px_real.writev(fd, vector, count);
	return PX_FD_WAITS(writev, writev, fd, count > 0 && px_fd_would_wait(fd, POLLOUT), 0,
			   px_vector_size(vector, count, result),
			   px_real.writev(fd, vector, count));
}

/* At a place: pipes and sockets have none, so nothing is waited for.  (preadv2() at -1 is where the file stands.) */
#define AT_PLACE(symbol, call, fd, value, offset, real)                                            \
	({                                                                                         \
		struct px_hook_sample sample_ = px_hook_begin();                                   \
		__typeof__(real) result = PX_REAL(&sample_, real);                                 \
		int64_t outcome_ = px_outcome(result);                                             \
		int64_t offset_ = (offset);                                                        \
		px_hook_more(PX_WRAPPER_##symbol, PX_WHOLE(call), fd, (uint32_t)(value), outcome_, \
			     &offset_, sizeof(offset_), PX_CALLER);                                \
		px_hook_end(&sample_, PX_WRAPPER_##symbol);                                        \
		result;                                                                            \
	})

#define PREAD(symbol, call, buffer_type, offset_type)                                              \
	PX_WRAP ssize_t symbol(int fd, buffer_type *buffer, size_t size, offset_type offset)       \
	{                                                                                          \
		if (PX_NOT_TRACED(file))                                                           \
			return px_real.symbol(fd, buffer, size, offset);                           \
		return AT_PLACE(symbol, call, fd, size, offset,                                    \
				px_real.symbol(fd, buffer, size, offset));                         \
	}
PREAD(pread, pread, void, off_t)
PREAD(pread64, pread, void, off64_t)
PREAD(pwrite, pwrite, const void, off_t)
PREAD(pwrite64, pwrite, const void, off64_t)

#define PREAD_CHK(symbol, offset_type)                                                             \
	PX_WRAP ssize_t symbol(int fd, void *buffer, size_t size, offset_type offset, size_t room) \
	{                                                                                          \
		if (PX_NOT_TRACED(file))                                                           \
			return px_real.symbol(fd, buffer, size, offset, room);                     \
		return AT_PLACE(symbol, pread, fd, size, offset,                                   \
				px_real.symbol(fd, buffer, size, offset, room));                   \
	}
PREAD_CHK(__pread_chk, off_t)
PREAD_CHK(__pread64_chk, off64_t)

#define PREADV(symbol, call, offset_type)                                                          \
	PX_WRAP ssize_t symbol(int fd, const struct iovec *vector, int count, offset_type offset)  \
	{                                                                                          \
		if (PX_NOT_TRACED(file))                                                           \
			return px_real.symbol(fd, vector, count, offset);                          \
		return AT_PLACE(symbol, call, fd, px_vector_size(vector, count, result), offset,   \
				px_real.symbol(fd, vector, count, offset));                        \
	}
PREADV(preadv, pread, off_t)
PREADV(preadv64, pread, off64_t)
PREADV(pwritev, pwrite, off_t)
PREADV(pwritev64, pwrite, off64_t)

#define PREADV2(symbol, call, offset_type)                                                         \
	PX_WRAP ssize_t symbol(int fd, const struct iovec *vector, int count, offset_type offset,  \
			       int flags)                                                          \
	{                                                                                          \
		if (PX_NOT_TRACED(file))                                                           \
			return px_real.symbol(fd, vector, count, offset, flags);                   \
		return AT_PLACE(symbol, call, fd, px_vector_size(vector, count, result), offset,   \
				px_real.symbol(fd, vector, count, offset, flags));                 \
	}
PREADV2(preadv2, pread, off_t)
PREADV2(preadv64v2, pread, off64_t)
PREADV2(pwritev2, pwrite, off_t)
PREADV2(pwritev64v2, pwrite, off64_t)

#define LSEEK(symbol, offset_type)                                                                 \
	PX_WRAP offset_type symbol(int fd, offset_type offset, int whence)                         \
	{                                                                                          \
		if (PX_NOT_TRACED(file))                                                           \
			return px_real.symbol(fd, offset, whence);                                 \
		return AT_PLACE(symbol, lseek, fd, whence, offset,                                 \
				px_real.symbol(fd, offset, whence));                               \
	}
LSEEK(lseek, off_t)
LSEEK(lseek64, off64_t)

PX_WRAP int fsync(int fd)
{
	if (PX_NOT_TRACED(file))
		return px_real.fsync(fd);
	return PX_FD_TOLD(fsync, fsync, fd, 0, px_real.fsync(fd));
}

PX_WRAP int fdatasync(int fd)
{
	if (PX_NOT_TRACED(file))
		return px_real.fdatasync(fd);
	return PX_FD_TOLD(fdatasync, fsync, fd, 0, px_real.fdatasync(fd));
}

#define FTRUNCATE(symbol, offset_type)                                                             \
	PX_WRAP int symbol(int fd, offset_type size)                                               \
	{                                                                                          \
		if (PX_NOT_TRACED(file))                                                           \
			return px_real.symbol(fd, size);                                           \
		return PX_FD_TOLD(symbol, ftruncate, fd, size, px_real.symbol(fd, size));          \
	}
FTRUNCATE(ftruncate, off_t)
FTRUNCATE(ftruncate64, off64_t)

PX_WRAP int unlink(const char *path)
{
	if (PX_NOT_TRACED(file))
		return px_real.unlink(path);
	return PX_PATH_TOLD(unlink, unlink, -1, 0, path, px_real.unlink(path));
}

PX_WRAP int unlinkat(int directory, const char *path, int flags)
{
	if (PX_NOT_TRACED(file))
		return px_real.unlinkat(directory, path, flags);
	return PX_PATH_TOLD(unlinkat, unlink, -1, 0, path,
			    px_real.unlinkat(directory, path, flags));
}

PX_WRAP int remove(const char *path)
{
	if (PX_NOT_TRACED(file))
		return px_real.remove(path);
	return PX_PATH_TOLD(remove, unlink, -1, 0, path, px_real.remove(path));
}

PX_WRAP int rename(const char *from, const char *to)
{
	if (PX_NOT_TRACED(file))
		return px_real.rename(from, to);
	return PX_PATH_TOLD(rename, rename, -1, 0, from, px_real.rename(from, to));
}

PX_WRAP int renameat(int from_directory, const char *from, int to_directory, const char *to)
{
	if (PX_NOT_TRACED(file))
		return px_real.renameat(from_directory, from, to_directory, to);
	return PX_PATH_TOLD(renameat, rename, -1, 0, from,
			    px_real.renameat(from_directory, from, to_directory, to));
}

PX_WRAP int renameat2(int from_directory, const char *from, int to_directory, const char *to,
		      unsigned int flags)
{
	if (PX_NOT_TRACED(file))
		return px_real.renameat2(from_directory, from, to_directory, to, flags);
	return PX_PATH_TOLD(renameat2, rename, -1, 0, from,
			    px_real.renameat2(from_directory, from, to_directory, to, flags));
}

PX_WRAP int mkdir(const char *path, mode_t mode)
{
	if (PX_NOT_TRACED(file))
		return px_real.mkdir(path, mode);
	return PX_PATH_TOLD(mkdir, mkdir, -1, mode, path, px_real.mkdir(path, mode));
}

PX_WRAP int mkdirat(int directory, const char *path, mode_t mode)
{
	if (PX_NOT_TRACED(file))
		return px_real.mkdirat(directory, path, mode);
	return PX_PATH_TOLD(mkdirat, mkdir, -1, mode, path, px_real.mkdirat(directory, path, mode));
}

PX_WRAP int dup(int fd)
{
	if (PX_NOT_TRACED_OR_VFORK(file))
		return px_real.dup(fd);
	return PX_FD_TOLD(dup, dup, fd, (px_fd_opened(result), 0), px_real.dup(fd));
}

PX_WRAP int dup2(int fd, int wanted)
{
	px_fd_set_kind(wanted, PX_FD_UNKNOWN);
	if (PX_NOT_TRACED_OR_VFORK(file))
		return px_real.dup2(fd, wanted);
	return PX_FD_TOLD(dup2, dup, fd, (px_fd_opened(result), 0), px_real.dup2(fd, wanted));
}

PX_WRAP int dup3(int fd, int wanted, int flags)
{
	px_fd_set_kind(wanted, PX_FD_UNKNOWN);
	if (PX_NOT_TRACED_OR_VFORK(file))
		return px_real.dup3(fd, wanted, flags);
	return PX_FD_TOLD(dup3, dup, fd, (px_fd_opened(result), 0),
			  px_real.dup3(fd, wanted, flags));
}

static int traced_pipe(enum px_wrapper wrapper, int ends[2], int flags, void *caller)
{
	struct px_hook_sample sample = px_hook_begin();
	int result = PX_REAL(&sample, wrapper == PX_WRAPPER_pipe ? px_real.pipe(ends) :
								   px_real.pipe2(ends, flags));
	int64_t outcome = px_outcome(result);
	bool is_made = result == 0;

	px_hook_fd(wrapper, PX_WHOLE(pipe), is_made ? px_fd_opened(ends[0]) : -1,
		   is_made ? (uint32_t)px_fd_opened(ends[1]) : 0, outcome, caller);
	px_hook_end(&sample, wrapper);
	return result;
}

PX_WRAP int pipe(int ends[2])
{
	if (PX_NOT_TRACED_OR_VFORK(file))
		return px_real.pipe(ends);
	return traced_pipe(PX_WRAPPER_pipe, ends, 0, PX_CALLER);
}

PX_WRAP int pipe2(int ends[2], int flags)
{
	if (PX_NOT_TRACED_OR_VFORK(file))
		return px_real.pipe2(ends, flags);
	return traced_pipe(PX_WRAPPER_pipe2, ends, flags, PX_CALLER);
}
