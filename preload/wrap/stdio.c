/* SPDX-License-Identifier: MIT */
/*
 * Streams of stdio.  An event has the descriptor of the stream, because the wrappers do not see the C library's own
 * calls on the descriptor.  If a stream has no descriptor, such as one of open_memstream(), the descriptor in the event
 * is -1.  Sizes and results are in bytes, even those of fread() and fwrite().  The results of fprintf() and fscanf()
 * are recorded unchanged.
 *
 * A read from a stream waits if the buffer is empty and the descriptor would wait.  Output goes to the buffer and never
 * counts as waiting.  The wrappers do not record calls for a single character: there are too many, and most are macros.
 */
#include <features.h>

/*
 * <stdio.h> defines some functions inline.  The compiler takes the visibility of a function from its first definition.
 * So with clang, the wrapper would be hidden.
 */
#undef __USE_EXTERN_INLINES

#include "wrap/descriptor.h"

#include <string.h>

/* Return the descriptor.  Keep errno, which fileno_unlocked() sets for a stream without a descriptor. */
static int fd_of(FILE *stream)
{
	int saved_errno = errno;
	int fd = fileno_unlocked(stream);

	errno = saved_errno;
	return fd;
}

/* Return true if a read would wait.  The result is a guess if another thread reads from the stream at the same time. */
static bool would_wait(FILE *stream, int fd)
{
#ifdef __GLIBC__
	return fd >= 0 &&
	       px_read_once(&stream->_IO_read_ptr) >= px_read_once(&stream->_IO_read_end) &&
	       px_fd_would_wait(fd, POLLIN);
#else
	(void)stream;
	return fd >= 0 && px_fd_would_wait(fd, POLLIN);
#endif
}

/* PX_FD_CALL_WAITS() for a call that reads from a stream. */
#define STREAM_READS(site, stream, result, real, size, outcome)                                    \
	({                                                                                         \
		int stream_fd_ = fd_of(stream);                                                    \
		PX_FD_CALL_WAITS(site, stream_fd_, would_wait(stream, stream_fd_), 0, result,      \
				 real, size, outcome);                                             \
	})

static int64_t opened(FILE *stream, enum px_fd_kind kind)
{
	return stream ? px_fd_opened_as(fd_of(stream), kind) : -(int64_t)errno;
}

/* Return true if the C library opens a stream with this mode as one that execve() closes.  A ',' begins other words. */
static bool ends_with_exec(const char *mode)
{
	return mode[strcspn(mode, "e,")] == 'e';
}

static void record_open(struct px_site site, uint32_t flags, FILE *stream, const char *path,
			enum px_fd_kind kind)
{
	int64_t outcome = opened(stream, kind);

	px_fd_record_path(site, flags, stream ? (int)outcome : -1, 0, outcome, path);
}

/* Return flags of open() that tell whether a stream with this mode may wait to be opened. */
static int flags_of(const char *mode)
{
	if (strchr(mode, '+'))
		return O_RDWR;
	return *mode == 'r' ? O_RDONLY : strchr(mode, 'x') ? O_WRONLY | O_CREAT | O_EXCL : O_WRONLY;
}

/* PX_CALL_AND_RECORD() for a call that opens a path.  freopen() without a path opens nothing. */
#define OPEN_CALL(site, path, mode, real)                                                          \
	({                                                                                         \
		enum px_fd_kind kind_ = PX_FD_OPENED;                                              \
		bool waits_ = (path) &&                                                            \
			      px_fd_open_waits(AT_FDCWD, path, flags_of(mode), &kind_);            \
                                                                                                   \
		if (px_unlikely(waits_))                                                           \
			px_fd_record_path(site, PX_RECORD_BEGINS, -1, 0, 0, path);                 \
		PX_CALL_AND_RECORD(site, result, real,                                             \
				   record_open(site,                                               \
					       (waits_ ? PX_RECORD_ENDS : PX_RECORD_WHOLE) |       \
						       px_fd_flags(ends_with_exec(mode)),          \
					       result, path, kind_));                              \
	})

#define FOPEN(symbol)                                                                              \
	PX_WRAP FILE *symbol(const char *path, const char *mode)                                   \
	{                                                                                          \
		struct px_site site;                                                               \
                                                                                                   \
		if (PX_NOT_TRACED(stdio))                                                          \
			return px_real.symbol(path, mode);                                         \
		site = PX_SITE(symbol, fopen);                                                     \
		return OPEN_CALL(site, path, mode, px_real.symbol(path, mode));                    \
	}
FOPEN(fopen)
FOPEN(fopen64)

/* The stream is closed even if the path cannot be opened. */
static FILE *reopened(struct px_site site, FILE *result, int fd)
{
	site.call = PX_CALL_fclose;
	if (!result)
		px_fd_record_close(site, fd);
	return result;
}

#define FREOPEN(symbol)                                                                            \
	PX_WRAP FILE *symbol(const char *path, const char *mode, FILE *stream)                     \
	{                                                                                          \
		struct px_site site;                                                               \
		int fd;                                                                            \
                                                                                                   \
		if (PX_NOT_TRACED(stdio))                                                          \
			return px_real.symbol(path, mode, stream);                                 \
		site = PX_SITE(symbol, fopen);                                                     \
		fd = fd_of(stream);                                                                \
		return reopened(site,                                                              \
				OPEN_CALL(site, path, mode, px_real.symbol(path, mode, stream)),   \
				fd);                                                               \
	}
FREOPEN(freopen)
FREOPEN(freopen64)

PX_WRAP FILE *fdopen(int fd, const char *mode)
{
	struct px_site site;

	if (PX_NOT_TRACED(stdio))
		return px_real.fdopen(fd, mode);
	site = PX_SITE(fdopen, fdopen);
	return PX_FD_CALL(site, fd, result, px_real.fdopen(fd, mode), 0,
			  result ? fd : -(int64_t)errno);
}

PX_WRAP int fclose(FILE *stream)
{
	if (PX_NOT_TRACED(stdio)) {
		px_fd_set_kind(fd_of(stream), PX_FD_UNKNOWN);
		return px_real.fclose(stream);
	}
	return PX_FD_CLOSE(PX_SITE(fclose, fclose), fd_of(stream), px_real.fclose(stream));
}

/* Return the number of bytes in complete items, or minus errno. */
static int64_t items(size_t count, size_t size, FILE *stream)
{
	return count == 0 && ferror_unlocked(stream) ? -(int64_t)errno : (int64_t)(count * size);
}

#define FREAD(symbol)                                                                              \
	PX_WRAP size_t symbol(void *buffer, size_t size, size_t count, FILE *stream)               \
	{                                                                                          \
		struct px_site site;                                                               \
                                                                                                   \
		if (PX_NOT_TRACED(stdio))                                                          \
			return px_real.symbol(buffer, size, count, stream);                        \
		site = PX_SITE(symbol, fread);                                                     \
		return STREAM_READS(site, stream, result,                                          \
				    px_real.symbol(buffer, size, count, stream), size * count,     \
				    items(result, size, stream));                                  \
	}
FREAD(fread)
FREAD(fread_unlocked)

#define FREAD_CHK(symbol)                                                                          \
	PX_WRAP size_t symbol(void *buffer, size_t room, size_t size, size_t count, FILE *stream)  \
	{                                                                                          \
		struct px_site site;                                                               \
                                                                                                   \
		if (PX_NOT_TRACED(stdio))                                                          \
			return px_real.symbol(buffer, room, size, count, stream);                  \
		site = PX_SITE(symbol, fread);                                                     \
		return STREAM_READS(site, stream, result,                                          \
				    px_real.symbol(buffer, room, size, count, stream),             \
				    size * count, items(result, size, stream));                    \
	}
FREAD_CHK(__fread_chk)
FREAD_CHK(__fread_unlocked_chk)

#define FWRITE(symbol)                                                                             \
	PX_WRAP size_t symbol(const void *buffer, size_t size, size_t count, FILE *stream)         \
	{                                                                                          \
		struct px_site site;                                                               \
                                                                                                   \
		if (PX_NOT_TRACED(stdio))                                                          \
			return px_real.symbol(buffer, size, count, stream);                        \
		site = PX_SITE(symbol, fwrite);                                                    \
		return PX_FD_CALL(site, fd_of(stream), result,                                     \
				  px_real.symbol(buffer, size, count, stream), size * count,       \
				  items(result, size, stream));                                    \
	}
FWRITE(fwrite)
FWRITE(fwrite_unlocked)

static int64_t line_of(const char *text, FILE *stream)
{
	if (text)
		return (int64_t)strlen(text);
	return ferror_unlocked(stream) ? -(int64_t)errno : 0;
}

#define FGETS(symbol)                                                                              \
	PX_WRAP char *symbol(char *text, int size, FILE *stream)                                   \
	{                                                                                          \
		struct px_site site;                                                               \
                                                                                                   \
		if (PX_NOT_TRACED(stdio))                                                          \
			return px_real.symbol(text, size, stream);                                 \
		site = PX_SITE(symbol, fgets);                                                     \
		return STREAM_READS(site, stream, result, px_real.symbol(text, size, stream),      \
				    size, line_of(result, stream));                                \
	}
FGETS(fgets)
FGETS(fgets_unlocked)

#define FGETS_CHK(symbol)                                                                          \
	PX_WRAP char *symbol(char *text, size_t room, int size, FILE *stream)                      \
	{                                                                                          \
		struct px_site site;                                                               \
                                                                                                   \
		if (PX_NOT_TRACED(stdio))                                                          \
			return px_real.symbol(text, room, size, stream);                           \
		site = PX_SITE(symbol, fgets);                                                     \
		return STREAM_READS(site, stream, result,                                          \
				    px_real.symbol(text, room, size, stream), size,                \
				    line_of(result, stream));                                      \
	}
FGETS_CHK(__fgets_chk)
FGETS_CHK(__fgets_unlocked_chk)

/* Return the length, or minus errno.  At the end of the file, the length is -1 without an error: then return 0. */
static int64_t line_length(ssize_t length, FILE *stream)
{
	return length >= 0 ? length : ferror_unlocked(stream) ? -(int64_t)errno : 0;
}

PX_WRAP ssize_t getline(char **line, size_t *size, FILE *stream)
{
	struct px_site site;

	if (PX_NOT_TRACED(stdio))
		return px_real.getline(line, size, stream);
	site = PX_SITE(getline, getline);
	return STREAM_READS(site, stream, result, px_real.getline(line, size, stream), 0,
			    line_length(result, stream));
}

#define GETDELIM(symbol)                                                                           \
	PX_WRAP ssize_t symbol(char **line, size_t *size, int delimiter, FILE *stream)             \
	{                                                                                          \
		struct px_site site;                                                               \
                                                                                                   \
		if (PX_NOT_TRACED(stdio))                                                          \
			return px_real.symbol(line, size, delimiter, stream);                      \
		site = PX_SITE(symbol, getline);                                                   \
		return STREAM_READS(site, stream, result,                                          \
				    px_real.symbol(line, size, delimiter, stream), 0,              \
				    line_length(result, stream));                                  \
	}
GETDELIM(getdelim)
GETDELIM(__getdelim)

#define FPUTS(symbol)                                                                              \
	PX_WRAP int symbol(const char *text, FILE *stream)                                         \
	{                                                                                          \
		struct px_site site;                                                               \
                                                                                                   \
		if (PX_NOT_TRACED(stdio))                                                          \
			return px_real.symbol(text, stream);                                       \
		site = PX_SITE(symbol, fputs);                                                     \
		return PX_FD_CALL(site, fd_of(stream), result, px_real.symbol(text, stream),       \
				  strlen(text),                                                    \
				  result < 0 ? -(int64_t)errno : (int64_t)strlen(text));           \
	}
FPUTS(fputs)
FPUTS(fputs_unlocked)

PX_WRAP int puts(const char *text)
{
	struct px_site site;

	if (PX_NOT_TRACED(stdio))
		return px_real.puts(text);
	site = PX_SITE(puts, fputs);
	return PX_FD_CALL(site, fd_of(stdout), result, px_real.puts(text), strlen(text) + 1,
			  result < 0 ? -(int64_t)errno : (int64_t)strlen(text) + 1);
}

/*
 * Calls with a format.  `real` is the function that makes the same checks, but takes a va_list.  A call consumes the
 * va_list, so only one of the two branches makes the call.
 */
#define PRINTED(symbol, fd, real)                                                                  \
	(PX_NOT_TRACED(stdio) ?                                                                    \
		 (real) :                                                                          \
		 PX_FD_CALL(PX_SITE(symbol, fprintf), fd, result, real, 0, px_outcome(result)))

#define SCANNED(symbol, stream, real)                                                              \
	(PX_NOT_TRACED(stdio) ? (real) :                                                           \
				STREAM_READS(PX_SITE(symbol, fscanf), stream, result, real, 0,     \
					     scan_outcome(result, stream)))

static int64_t scan_outcome(int result, FILE *stream)
{
	return result == EOF && ferror_unlocked(stream) ? -(int64_t)errno : result;
}

#define WITH_ARGUMENTS(last, value)                                                                \
	va_list arguments;                                                                         \
	int written;                                                                               \
                                                                                                   \
	va_start(arguments, last);                                                                 \
	written = (value);                                                                         \
	va_end(arguments);                                                                         \
	return written

PX_WRAP int fprintf(FILE *stream, const char *format, ...)
{
	WITH_ARGUMENTS(format, PRINTED(fprintf, fd_of(stream),
				       px_real.vfprintf(stream, format, arguments)));
}

PX_WRAP int printf(const char *format, ...)
{
	WITH_ARGUMENTS(format, PRINTED(printf, fd_of(stdout), px_real.vprintf(format, arguments)));
}

PX_WRAP int dprintf(int fd, const char *format, ...)
{
	WITH_ARGUMENTS(format, PRINTED(dprintf, fd, px_real.vdprintf(fd, format, arguments)));
}

PX_WRAP int __fprintf_chk(FILE *stream, int flag, const char *format, ...)
{
	WITH_ARGUMENTS(format, PRINTED(__fprintf_chk, fd_of(stream),
				       px_real.__vfprintf_chk(stream, flag, format, arguments)));
}

PX_WRAP int __printf_chk(int flag, const char *format, ...)
{
	WITH_ARGUMENTS(format, PRINTED(__printf_chk, fd_of(stdout),
				       px_real.__vprintf_chk(flag, format, arguments)));
}

PX_WRAP int __dprintf_chk(int fd, int flag, const char *format, ...)
{
	WITH_ARGUMENTS(format, PRINTED(__dprintf_chk, fd,
				       px_real.__vdprintf_chk(fd, flag, format, arguments)));
}

PX_WRAP int vfprintf(FILE *stream, const char *format, va_list arguments)
{
	return PRINTED(vfprintf, fd_of(stream), px_real.vfprintf(stream, format, arguments));
}

PX_WRAP int vprintf(const char *format, va_list arguments)
{
	return PRINTED(vprintf, fd_of(stdout), px_real.vprintf(format, arguments));
}

PX_WRAP int vdprintf(int fd, const char *format, va_list arguments)
{
	return PRINTED(vdprintf, fd, px_real.vdprintf(fd, format, arguments));
}

PX_WRAP int __vfprintf_chk(FILE *stream, int flag, const char *format, va_list arguments)
{
	return PRINTED(__vfprintf_chk, fd_of(stream),
		       px_real.__vfprintf_chk(stream, flag, format, arguments));
}

PX_WRAP int __vprintf_chk(int flag, const char *format, va_list arguments)
{
	return PRINTED(__vprintf_chk, fd_of(stdout),
		       px_real.__vprintf_chk(flag, format, arguments));
}

PX_WRAP int __vdprintf_chk(int fd, int flag, const char *format, va_list arguments)
{
	return PRINTED(__vdprintf_chk, fd, px_real.__vdprintf_chk(fd, flag, format, arguments));
}

/*
 * The header redirects scanf() to other symbols.  So each wrapper has the name of the symbol that the linker uses.  If
 * the C library has no symbols of C23, no program calls the wrappers for C23.
 */
#define SCAN_FAMILY(prefix)                                                                        \
	int wrapped##prefix##fscanf(FILE *stream, const char *format,                              \
				    ...) __asm__(#prefix "fscanf");                                \
	int wrapped##prefix##scanf(const char *format, ...) __asm__(#prefix "scanf");              \
	int wrapped##prefix##vfscanf(FILE *stream, const char *format,                             \
				     va_list arguments) __asm__(#prefix "vfscanf");                \
	int wrapped##prefix##vscanf(const char *format,                                            \
				    va_list arguments) __asm__(#prefix "vscanf");                  \
	PX_WRAP int wrapped##prefix##fscanf(FILE *stream, const char *format, ...)                 \
	{                                                                                          \
		WITH_ARGUMENTS(format,                                                             \
			       SCANNED(prefix##fscanf, stream,                                     \
				       px_real.prefix##vfscanf(stream, format, arguments)));       \
	}                                                                                          \
	PX_WRAP int wrapped##prefix##scanf(const char *format, ...)                                \
	{                                                                                          \
		WITH_ARGUMENTS(format, SCANNED(prefix##scanf, stdin,                               \
					       px_real.prefix##vscanf(format, arguments)));        \
	}                                                                                          \
	PX_WRAP int wrapped##prefix##vfscanf(FILE *stream, const char *format, va_list arguments)  \
	{                                                                                          \
		return SCANNED(prefix##vfscanf, stream,                                            \
			       px_real.prefix##vfscanf(stream, format, arguments));                \
	}                                                                                          \
	PX_WRAP int wrapped##prefix##vscanf(const char *format, va_list arguments)                 \
	{                                                                                          \
		return SCANNED(prefix##vscanf, stdin, px_real.prefix##vscanf(format, arguments));  \
	}
SCAN_FAMILY()
SCAN_FAMILY(__isoc99_)
SCAN_FAMILY(__isoc23_)

/* If stream is NULL, flush all streams, and record the descriptor -1. */
#define FFLUSH(symbol)                                                                             \
	PX_WRAP int symbol(FILE *stream)                                                           \
	{                                                                                          \
		struct px_site site;                                                               \
                                                                                                   \
		if (PX_NOT_TRACED(stdio))                                                          \
			return px_real.symbol(stream);                                             \
		site = PX_SITE(symbol, fflush);                                                    \
		return PX_FD_CALL(site, stream ? fd_of(stream) : -1, result,                       \
				  px_real.symbol(stream), 0, px_outcome(result));                  \
	}
FFLUSH(fflush)
FFLUSH(fflush_unlocked)

static void record_seek(struct px_site site, FILE *stream, int64_t offset, int whence, int result)
{
	int64_t outcome = px_outcome(result);

	px_fd_record_more(site, PX_RECORD_WHOLE, fd_of(stream), (uint32_t)whence, outcome, &offset,
			  sizeof(offset));
}

#define FSEEK(symbol, offset_type)                                                                 \
	PX_WRAP int symbol(FILE *stream, offset_type offset, int whence)                           \
	{                                                                                          \
		struct px_site site;                                                               \
                                                                                                   \
		if (PX_NOT_TRACED(stdio))                                                          \
			return px_real.symbol(stream, offset, whence);                             \
		site = PX_SITE(symbol, fseek);                                                     \
		return PX_CALL_AND_RECORD(site, result, px_real.symbol(stream, offset, whence),    \
					  record_seek(site, stream, offset, whence, result));      \
	}
FSEEK(fseek, long)
FSEEK(fseeko, off_t)
FSEEK(fseeko64, off64_t)
