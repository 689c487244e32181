/* SPDX-License-Identifier: MIT */
/* Files and descriptors. */
#include "wrap/descriptor.h"

/* There is a mode argument only if the call may create a file. */
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

/* PX_CALL_AND_RECORD() for a call that opens a path.  If the call may wait, it has two events. */
#define OPEN_CALL(site, directory, path, flags, real)                                              \
	({                                                                                         \
		enum px_fd_kind kind_;                                                             \
		bool waits_ = px_fd_open_waits(directory, path, flags, &kind_);                    \
                                                                                                   \
		if (px_unlikely(waits_))                                                           \
			px_fd_record_path(site, PX_RECORD_BEGINS, -1, (uint32_t)(flags), 0, path); \
		PX_CALL_AND_RECORD(site, result, real,                                             \
				   px_fd_record_path(site,                                         \
						     waits_ ? PX_RECORD_ENDS : PX_RECORD_WHOLE,    \
						     px_fd_opened_as(result, kind_),               \
						     (uint32_t)(flags),                            \
						     px_outcome(result), path));                   \
	})

#define OPEN(symbol)                                                                               \
	PX_WRAP int symbol(const char *path, int flags, ...)                                       \
	{                                                                                          \
		struct px_site site;                                                               \
		mode_t mode = 0;                                                                   \
                                                                                                   \
		TAKE_MODE(flags, mode);                                                            \
		if (PX_NOT_TRACED_OR_VFORK(file))                                                  \
			return px_real.symbol(path, flags, mode);                                  \
		site = PX_SITE(symbol, open);                                                      \
		return OPEN_CALL(site, AT_FDCWD, path, flags, px_real.symbol(path, flags, mode));  \
	}
OPEN(open)
OPEN(open64)

#define OPENAT(symbol)                                                                             \
	PX_WRAP int symbol(int directory, const char *path, int flags, ...)                        \
	{                                                                                          \
		struct px_site site;                                                               \
		mode_t mode = 0;                                                                   \
                                                                                                   \
		TAKE_MODE(flags, mode);                                                            \
		if (PX_NOT_TRACED_OR_VFORK(file))                                                  \
			return px_real.symbol(directory, path, flags, mode);                       \
		site = PX_SITE(symbol, open);                                                      \
		return OPEN_CALL(site, directory, path, flags,                                     \
				 px_real.symbol(directory, path, flags, mode));                    \
	}
OPENAT(openat)
OPENAT(openat64)

#define OPEN_2(symbol)                                                                             \
	PX_WRAP int symbol(const char *path, int flags)                                            \
	{                                                                                          \
		struct px_site site;                                                               \
                                                                                                   \
		if (PX_NOT_TRACED_OR_VFORK(file))                                                  \
			return px_real.symbol(path, flags);                                        \
		site = PX_SITE(symbol, open);                                                      \
		return OPEN_CALL(site, AT_FDCWD, path, flags, px_real.symbol(path, flags));        \
	}
OPEN_2(__open_2)
OPEN_2(__open64_2)

#define OPENAT_2(symbol)                                                                           \
	PX_WRAP int symbol(int directory, const char *path, int flags)                             \
	{                                                                                          \
		struct px_site site;                                                               \
                                                                                                   \
		if (PX_NOT_TRACED_OR_VFORK(file))                                                  \
			return px_real.symbol(directory, path, flags);                             \
		site = PX_SITE(symbol, open);                                                      \
		return OPEN_CALL(site, directory, path, flags,                                     \
				 px_real.symbol(directory, path, flags));                          \
	}
OPENAT_2(__openat_2)
OPENAT_2(__openat64_2)

#define CREAT(symbol)                                                                              \
	PX_WRAP int symbol(const char *path, mode_t mode)                                          \
	{                                                                                          \
		struct px_site site;                                                               \
                                                                                                   \
		if (PX_NOT_TRACED_OR_VFORK(file))                                                  \
			return px_real.symbol(path, mode);                                         \
		site = PX_SITE(symbol, open);                                                      \
		return OPEN_CALL(site, AT_FDCWD, path, O_CREAT | O_WRONLY | O_TRUNC,               \
				 px_real.symbol(path, mode));                                      \
	}
CREAT(creat)
CREAT(creat64)

PX_WRAP int close(int fd)
{
	if (PX_NOT_TRACED_OR_VFORK(file)) {
		px_fd_set_kind(fd, PX_FD_UNKNOWN);
		return px_real.close(fd);
	}
	return PX_FD_CLOSE(PX_SITE(close, close), fd, px_real.close(fd));
}

/*
 * A directory is closed like a file if the program opened its descriptor.  That of opendir() is not known.  The real
 * function accepts NULL, although its declaration says that nobody passes NULL: so hide the pointer from the compiler.
 */
PX_WRAP int closedir(DIR *directory)
{
	DIR *it = directory;
	int fd;

	__asm__("" : "+r"(it));
	fd = it ? dirfd(it) : -1;
	if (!px_fd_is_known(fd) || PX_NOT_TRACED_OR_VFORK(file)) {
		px_fd_set_kind(fd, PX_FD_UNKNOWN);
		return px_real.closedir(directory);
	}
	return PX_FD_CLOSE(PX_SITE(closedir, close), fd, px_real.closedir(directory));
}

/* One event for each descriptor that a call has returned; a descriptor from PX_FDS_KNOWN on has none. */
static void record_closes(struct px_site site, unsigned int first, unsigned int last)
{
	for (unsigned int fd = first; fd <= last && fd < PX_FDS_KNOWN; fd++)
		px_fd_record_close(site, (int)fd);
}

static void record_marks(struct px_site site, unsigned int first, unsigned int last)
{
	site.call = PX_CALL_fcntl;
	for (unsigned int fd = first; fd <= last && fd < PX_FDS_KNOWN; fd++)
		if (px_fd_is_known((int)fd))
			px_hook_record_fd(site, PX_RECORD_ENDS_WITH_EXEC, (int)fd, F_SETFD, 0);
}

static void forget_kinds(unsigned int first, unsigned int last)
{
	for (unsigned int fd = first; fd <= last && fd < PX_FDS_KNOWN; fd++)
		px_fd_set_kind((int)fd, PX_FD_UNKNOWN);
}

PX_WRAP void closefrom(int first)
{
	unsigned int from = first > 0 ? (unsigned int)first : 0;

	if (PX_NOT_TRACED_OR_VFORK(file))
		forget_kinds(from, UINT32_MAX);
	else
		record_closes(PX_SITE(closefrom, close), from, UINT32_MAX);
	px_real.closefrom(first);
}

PX_WRAP int close_range(unsigned int first, unsigned int last, int flags)
{
	bool marks = flags & CLOSE_RANGE_CLOEXEC;
	bool is_valid = first <= last && !(flags & ~(CLOSE_RANGE_CLOEXEC | CLOSE_RANGE_UNSHARE));
	struct px_site site;
	int result;

	if (!is_valid || PX_NOT_TRACED_OR_VFORK(file)) {
		if (is_valid && !marks)
			forget_kinds(first, last);
		return px_real.close_range(first, last, flags);
	}
	site = PX_SITE(close_range, close);
	if (!marks)
		record_closes(site, first, last);
	result = px_real.close_range(first, last, flags);
	if (marks && result == 0)
		record_marks(site, first, last);
	return result;
}

PX_WRAP ssize_t read(int fd, void *buffer, size_t size)
{
	struct px_site site;

	if (PX_NOT_TRACED(file))
		return px_real.read(fd, buffer, size);
	site = PX_SITE(read, read);
	return PX_FD_CALL_WAITS(site, fd, size > 0 && px_fd_would_wait(fd, POLLIN), size, result,
				px_real.read(fd, buffer, size), size, px_outcome(result));
}

PX_WRAP ssize_t __read_chk(int fd, void *buffer, size_t size, size_t room)
{
	struct px_site site;

	if (PX_NOT_TRACED(file))
		return px_real.__read_chk(fd, buffer, size, room);
	site = PX_SITE(__read_chk, read);
	return PX_FD_CALL_WAITS(site, fd, size > 0 && px_fd_would_wait(fd, POLLIN), size, result,
				px_real.__read_chk(fd, buffer, size, room), size,
				px_outcome(result));
}

PX_WRAP ssize_t readv(int fd, const struct iovec *vector, int count)
{
	struct px_site site;

	if (PX_NOT_TRACED(file))
		return px_real.readv(fd, vector, count);
	site = PX_SITE(readv, readv);
	return PX_FD_CALL_WAITS(site, fd, count > 0 && px_fd_would_wait(fd, POLLIN), 0, result,
				px_real.readv(fd, vector, count),
				px_vector_size(vector, count, result), px_outcome(result));
}

PX_WRAP ssize_t write(int fd, const void *buffer, size_t size)
{
	struct px_site site;

	if (PX_NOT_TRACED(file))
		return px_real.write(fd, buffer, size);
	site = PX_SITE(write, write);
	return PX_FD_CALL_WAITS(site, fd, size > 0 && px_fd_would_wait(fd, POLLOUT), size, result,
				px_real.write(fd, buffer, size), size, px_outcome(result));
}

PX_WRAP ssize_t writev(int fd, const struct iovec *vector, int count)
{
	struct px_site site;

	if (PX_NOT_TRACED(file))
		return px_real.writev(fd, vector, count);
	site = PX_SITE(writev, writev);
	return PX_FD_CALL_WAITS(site, fd, count > 0 && px_fd_would_wait(fd, POLLOUT), 0, result,
				px_real.writev(fd, vector, count),
				px_vector_size(vector, count, result), px_outcome(result));
}

/*
 * Record a call with an offset.  Such a call never waits, because pipes and sockets have no offset.  (For preadv2(),
 * the offset -1 means the current offset of the file.)
 */
static void record_at(struct px_site site, int fd, uint32_t value, int64_t result, int64_t offset)
{
	px_fd_record_more(site, PX_RECORD_WHOLE, fd, value, result, &offset, sizeof(offset));
}

#define PREAD(symbol, call, buffer_type, offset_type)                                              \
	PX_WRAP ssize_t symbol(int fd, buffer_type *buffer, size_t size, offset_type offset)       \
	{                                                                                          \
		struct px_site site;                                                               \
                                                                                                   \
		if (PX_NOT_TRACED(file))                                                           \
			return px_real.symbol(fd, buffer, size, offset);                           \
		site = PX_SITE(symbol, call);                                                      \
		return PX_CALL_AND_RECORD(                                                         \
			site, result, px_real.symbol(fd, buffer, size, offset),                    \
			record_at(site, fd, (uint32_t)size, px_outcome(result), offset));          \
	}
PREAD(pread, pread, void, off_t)
PREAD(pread64, pread, void, off64_t)
PREAD(pwrite, pwrite, const void, off_t)
PREAD(pwrite64, pwrite, const void, off64_t)

#define PREAD_CHK(symbol, offset_type)                                                             \
	PX_WRAP ssize_t symbol(int fd, void *buffer, size_t size, offset_type offset, size_t room) \
	{                                                                                          \
		struct px_site site;                                                               \
                                                                                                   \
		if (PX_NOT_TRACED(file))                                                           \
			return px_real.symbol(fd, buffer, size, offset, room);                     \
		site = PX_SITE(symbol, pread);                                                     \
		return PX_CALL_AND_RECORD(                                                         \
			site, result, px_real.symbol(fd, buffer, size, offset, room),              \
			record_at(site, fd, (uint32_t)size, px_outcome(result), offset));          \
	}
PREAD_CHK(__pread_chk, off_t)
PREAD_CHK(__pread64_chk, off64_t)

#define PREADV(symbol, call, offset_type)                                                          \
	PX_WRAP ssize_t symbol(int fd, const struct iovec *vector, int count, offset_type offset)  \
	{                                                                                          \
		struct px_site site;                                                               \
                                                                                                   \
		if (PX_NOT_TRACED(file))                                                           \
			return px_real.symbol(fd, vector, count, offset);                          \
		site = PX_SITE(symbol, call);                                                      \
		return PX_CALL_AND_RECORD(site, result, px_real.symbol(fd, vector, count, offset), \
					  record_at(site, fd,                                      \
						    px_vector_size(vector, count, result),         \
						    px_outcome(result), offset));                  \
	}
PREADV(preadv, pread, off_t)
PREADV(preadv64, pread, off64_t)
PREADV(pwritev, pwrite, off_t)
PREADV(pwritev64, pwrite, off64_t)

#define PREADV2(symbol, call, offset_type)                                                         \
	PX_WRAP ssize_t symbol(int fd, const struct iovec *vector, int count, offset_type offset,  \
			       int flags)                                                          \
	{                                                                                          \
		struct px_site site;                                                               \
                                                                                                   \
		if (PX_NOT_TRACED(file))                                                           \
			return px_real.symbol(fd, vector, count, offset, flags);                   \
		site = PX_SITE(symbol, call);                                                      \
		return PX_CALL_AND_RECORD(                                                         \
			site, result, px_real.symbol(fd, vector, count, offset, flags),            \
			record_at(site, fd, px_vector_size(vector, count, result),                 \
				  px_outcome(result), offset));                                    \
	}
PREADV2(preadv2, pread, off_t)
PREADV2(preadv64v2, pread, off64_t)
PREADV2(pwritev2, pwrite, off_t)
PREADV2(pwritev64v2, pwrite, off64_t)

#define LSEEK(symbol, offset_type)                                                                 \
	PX_WRAP offset_type symbol(int fd, offset_type offset, int whence)                         \
	{                                                                                          \
		struct px_site site;                                                               \
                                                                                                   \
		if (PX_NOT_TRACED(file))                                                           \
			return px_real.symbol(fd, offset, whence);                                 \
		site = PX_SITE(symbol, lseek);                                                     \
		return PX_CALL_AND_RECORD(                                                         \
			site, result, px_real.symbol(fd, offset, whence),                          \
			record_at(site, fd, (uint32_t)whence, px_outcome(result), offset));        \
	}
LSEEK(lseek, off_t)
LSEEK(lseek64, off64_t)

#define FTRUNCATE(symbol, offset_type)                                                             \
	PX_WRAP int symbol(int fd, offset_type size)                                               \
	{                                                                                          \
		struct px_site site;                                                               \
                                                                                                   \
		if (PX_NOT_TRACED(file))                                                           \
			return px_real.symbol(fd, size);                                           \
		site = PX_SITE(symbol, ftruncate);                                                 \
		return PX_FD_CALL(site, fd, result, px_real.symbol(fd, size), size,                \
				  px_outcome(result));                                             \
	}
FTRUNCATE(ftruncate, off_t)
FTRUNCATE(ftruncate64, off64_t)

PX_WRAP int unlink(const char *path)
{
	struct px_site site;

	if (PX_NOT_TRACED(file))
		return px_real.unlink(path);
	site = PX_SITE(unlink, unlink);
	return PX_CALL_AND_RECORD(site, result, px_real.unlink(path),
				  px_fd_record_path(site, PX_RECORD_WHOLE, -1, 0, px_outcome(result), path));
}

PX_WRAP int unlinkat(int directory, const char *path, int flags)
{
	struct px_site site;

	if (PX_NOT_TRACED(file))
		return px_real.unlinkat(directory, path, flags);
	site = PX_SITE(unlinkat, unlink);
	return PX_CALL_AND_RECORD(site, result, px_real.unlinkat(directory, path, flags),
				  px_fd_record_path(site, PX_RECORD_WHOLE, -1, 0, px_outcome(result), path));
}

PX_WRAP int remove(const char *path)
{
	struct px_site site;

	if (PX_NOT_TRACED(file))
		return px_real.remove(path);
	site = PX_SITE(remove, unlink);
	return PX_CALL_AND_RECORD(site, result, px_real.remove(path),
				  px_fd_record_path(site, PX_RECORD_WHOLE, -1, 0, px_outcome(result), path));
}

/*
 * A rename may wait for the disk or for another rename, and no test shows this before.  So it always has two events.
 * Only the second has the path, because the kernel has read the path then.
 */
#define RENAME_CALL(site, real, from)                                                              \
	({                                                                                         \
		px_hook_record_fd(site, PX_RECORD_BEGINS, -1, 0, 0);                               \
		PX_CALL_AND_RECORD(site, result, real,                                             \
				   px_fd_record_path(site, PX_RECORD_ENDS, -1, 0,                  \
						     px_outcome(result), from));                   \
	})

PX_WRAP int rename(const char *from, const char *to)
{
	struct px_site site;

	if (PX_NOT_TRACED(file))
		return px_real.rename(from, to);
	site = PX_SITE(rename, rename);
	return RENAME_CALL(site, px_real.rename(from, to), from);
}

PX_WRAP int renameat(int from_directory, const char *from, int to_directory, const char *to)
{
	struct px_site site;

	if (PX_NOT_TRACED(file))
		return px_real.renameat(from_directory, from, to_directory, to);
	site = PX_SITE(renameat, rename);
	return RENAME_CALL(site, px_real.renameat(from_directory, from, to_directory, to), from);
}

PX_WRAP int renameat2(int from_directory, const char *from, int to_directory, const char *to,
		      unsigned int flags)
{
	struct px_site site;

	if (PX_NOT_TRACED(file))
		return px_real.renameat2(from_directory, from, to_directory, to, flags);
	site = PX_SITE(renameat2, rename);
	return RENAME_CALL(site, px_real.renameat2(from_directory, from, to_directory, to, flags),
			   from);
}

PX_WRAP int mkdir(const char *path, mode_t mode)
{
	struct px_site site;

	if (PX_NOT_TRACED(file))
		return px_real.mkdir(path, mode);
	site = PX_SITE(mkdir, mkdir);
	return PX_CALL_AND_RECORD(
		site, result, px_real.mkdir(path, mode),
		px_fd_record_path(site, PX_RECORD_WHOLE, -1, (uint32_t)mode, px_outcome(result), path));
}

PX_WRAP int mkdirat(int directory, const char *path, mode_t mode)
{
	struct px_site site;

	if (PX_NOT_TRACED(file))
		return px_real.mkdirat(directory, path, mode);
	site = PX_SITE(mkdirat, mkdir);
	return PX_CALL_AND_RECORD(
		site, result, px_real.mkdirat(directory, path, mode),
		px_fd_record_path(site, PX_RECORD_WHOLE, -1, (uint32_t)mode, px_outcome(result), path));
}

PX_WRAP int dup(int fd)
{
	struct px_site site;

	if (PX_NOT_TRACED_OR_VFORK(file))
		return px_real.dup(fd);
	site = PX_SITE(dup, dup);
	return PX_FD_CALL(site, fd, result, px_fd_opened(px_real.dup(fd)), 0, px_outcome(result));
}

PX_WRAP int dup2(int fd, int wanted)
{
	struct px_site site;

	px_fd_set_kind(wanted, PX_FD_UNKNOWN);
	if (PX_NOT_TRACED_OR_VFORK(file))
		return px_real.dup2(fd, wanted);
	site = PX_SITE(dup2, dup);
	return PX_FD_CALL(site, fd, result, px_fd_opened(px_real.dup2(fd, wanted)), 0,
			  px_outcome(result));
}

PX_WRAP int dup3(int fd, int wanted, int flags)
{
	struct px_site site;

	px_fd_set_kind(wanted, PX_FD_UNKNOWN);
	if (PX_NOT_TRACED_OR_VFORK(file))
		return px_real.dup3(fd, wanted, flags);
	site = PX_SITE(dup3, dup);
	return PX_CALL_AND_RECORD(site, result, px_fd_opened(px_real.dup3(fd, wanted, flags)),
				  px_hook_record_fd(site, px_fd_flags(flags & O_CLOEXEC), fd, 0,
						    px_outcome(result)));
}

static void record_pipe(struct px_site site, const int ends[2], int flags, int result)
{
	int64_t outcome = px_outcome(result);

	if (result == 0)
		px_hook_record_fd(site, px_fd_flags(flags & O_CLOEXEC), px_fd_opened(ends[0]),
				  (uint32_t)px_fd_opened(ends[1]), outcome);
	else
		px_hook_record_fd(site, PX_RECORD_WHOLE, -1, 0, outcome);
}

PX_WRAP int pipe(int ends[2])
{
	struct px_site site;

	if (PX_NOT_TRACED_OR_VFORK(file))
		return px_real.pipe(ends);
	site = PX_SITE(pipe, pipe);
	return PX_CALL_AND_RECORD(site, result, px_real.pipe(ends),
				  record_pipe(site, ends, 0, result));
}

PX_WRAP int pipe2(int ends[2], int flags)
{
	struct px_site site;

	if (PX_NOT_TRACED_OR_VFORK(file))
		return px_real.pipe2(ends, flags);
	site = PX_SITE(pipe2, pipe);
	return PX_CALL_AND_RECORD(site, result, px_real.pipe2(ends, flags),
				  record_pipe(site, ends, flags, result));
}
