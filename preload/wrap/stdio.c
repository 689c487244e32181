/* SPDX-License-Identifier: MIT */
/*
 * Streams of stdio, told by the descriptor behind them: the C library's own calls on it cannot be seen.  One that has
 * none, as of open_memstream(), is told as descriptor -1.  Sizes and results are bytes, also those of fread() and
 * fwrite(); what fprintf() and fscanf() return is left as it is.
 *
 * A stream waits if its buffer is empty and its descriptor would wait; output goes to the buffer, and is not asked.
 * Calls of one character are not recorded: they are too many, and most of them are no calls at all.
 */
#include "wrap/descriptor.h"

#include <string.h>

/* Keeps errno: a stream without a descriptor sets it. */
static int fd_of(FILE *stream)
{
	int saved_errno = errno;
	int fd = fileno_unlocked(stream);

	errno = saved_errno;
	return fd;
}

/* Another thread may be reading: then this is a guess, as any answer to that would be. */
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

/* Of a call that reads, and one that does not; size and outcome are evaluated after it. */
#define STREAM_READS(symbol, call, stream, size, outcome, real)                                    \
	({                                                                                         \
		struct px_hook_sample sample_ = px_hook_begin();                                   \
		int fd_ = fd_of(stream);                                                           \
		bool waits_ = would_wait(stream, fd_);                                             \
		if (px_unlikely(waits_))                                                           \
			px_hook_fd(PX_WRAPPER_##symbol, PX_BEGINS(call), fd_, 0, 0, PX_CALLER);    \
		__typeof__(real) result = PX_REAL(&sample_, real);                                 \
		int64_t outcome_ = (outcome);                                                      \
		px_hook_fd(PX_WRAPPER_##symbol,                                                    \
			   px_unlikely(waits_) ? PX_ENDS(call) : PX_WHOLE(call), fd_,              \
			   (uint32_t)(size), outcome_, PX_CALLER);                                 \
		px_hook_end(&sample_, PX_WRAPPER_##symbol);                                        \
		result;                                                                            \
	})

#define STREAM_TOLD(symbol, call, fd, size, outcome, real)                                         \
	({                                                                                         \
		struct px_hook_sample sample_ = px_hook_begin();                                   \
		int fd_ = (fd);                                                                    \
		__typeof__(real) result = PX_REAL(&sample_, real);                                 \
		int64_t outcome_ = (outcome);                                                      \
		px_hook_fd(PX_WRAPPER_##symbol, PX_WHOLE(call), fd_, (uint32_t)(size), outcome_,   \
			   PX_CALLER);                                                             \
		px_hook_end(&sample_, PX_WRAPPER_##symbol);                                        \
		result;                                                                            \
	})

static int64_t opened(FILE *stream)
{
	return stream ? px_fd_opened(fd_of(stream)) : -(int64_t)errno;
}

#define FOPEN(symbol)                                                                              \
	PX_WRAP FILE *symbol(const char *path, const char *mode)                                   \
	{                                                                                          \
		if (PX_NOT_TRACED(stdio))                                                          \
			return px_real.symbol(path, mode);                                         \
		return opened_told(PX_WRAPPER_##symbol, px_real.symbol, path, mode, PX_CALLER);    \
	}

static FILE *opened_told(enum px_wrapper wrapper, __typeof__(fopen) *real, const char *path,
			 const char *mode, void *caller)
{
	struct px_hook_sample sample = px_hook_begin();
	FILE *stream = PX_REAL(&sample, real(path, mode));
	int64_t outcome = opened(stream);

	px_hook_path(wrapper, PX_WHOLE(fopen), stream ? (int)outcome : -1, 0, outcome, path,
		     caller);
	px_hook_end(&sample, wrapper);
	return stream;
}
FOPEN(fopen)
FOPEN(fopen64)

static FILE *reopened_told(enum px_wrapper wrapper, __typeof__(freopen) *real, const char *path,
			   const char *mode, FILE *old, void *caller)
{
	struct px_hook_sample sample = px_hook_begin();
	FILE *stream = PX_REAL(&sample, real(path, mode, old));
	int64_t outcome = opened(stream);

	px_hook_path(wrapper, PX_WHOLE(fopen), stream ? (int)outcome : -1, 0, outcome, path,
		     caller);
	px_hook_end(&sample, wrapper);
	return stream;
}

#define FREOPEN(symbol)                                                                            \
	PX_WRAP FILE *symbol(const char *path, const char *mode, FILE *stream)                     \
	{                                                                                          \
		if (PX_NOT_TRACED(stdio))                                                          \
			return px_real.symbol(path, mode, stream);                                 \
		return reopened_told(PX_WRAPPER_##symbol, px_real.symbol, path, mode, stream,      \
				     PX_CALLER);                                                   \
	}
FREOPEN(freopen)
FREOPEN(freopen64)

PX_WRAP FILE *fdopen(int fd, const char *mode)
{
	if (PX_NOT_TRACED(stdio))
		return px_real.fdopen(fd, mode);
	return STREAM_TOLD(fdopen, fdopen, fd, 0, result ? fd : -(int64_t)errno,
			   px_real.fdopen(fd, mode));
}

static int traced_fclose(FILE *stream, void *caller)
{
	struct px_hook_sample sample = px_hook_begin();
	int fd = fd_of(stream);
	bool is_told = px_hook_gives_up(PX_WRAPPER_fclose, PX_WHOLE(fclose), fd, caller);
	int result = PX_REAL(&sample, px_real.fclose(stream));
	int64_t outcome = px_outcome(result);

	if (!is_told)
		px_hook_fd(PX_WRAPPER_fclose, PX_WHOLE(fclose), fd, 0, outcome, caller);
	px_hook_end(&sample, PX_WRAPPER_fclose);
	return result;
}

PX_WRAP int fclose(FILE *stream)
{
	if (PX_NOT_TRACED(stdio)) {
		px_fd_set_kind(fd_of(stream), PX_FD_UNKNOWN);
		return px_real.fclose(stream);
	}
	return traced_fclose(stream, PX_CALLER);
}

/* Whole items, or why there are none. */
static int64_t items(size_t count, size_t size, FILE *stream)
{
	return count == 0 && ferror_unlocked(stream) ? -(int64_t)errno : (int64_t)(count * size);
}

#define FREAD(symbol)                                                                              \
	PX_WRAP size_t symbol(void *buffer, size_t size, size_t count, FILE *stream)               \
	{                                                                                          \
		if (PX_NOT_TRACED(stdio))                                                          \
			return px_real.symbol(buffer, size, count, stream);                        \
		return STREAM_READS(symbol, fread, stream, size * count,                           \
				    items(result, size, stream),                                   \
				    px_real.symbol(buffer, size, count, stream));                  \
	}
FREAD(fread)
FREAD(fread_unlocked)

#define FREAD_CHK(symbol)                                                                          \
	PX_WRAP size_t symbol(void *buffer, size_t room, size_t size, size_t count, FILE *stream)  \
	{                                                                                          \
		if (PX_NOT_TRACED(stdio))                                                          \
			return px_real.symbol(buffer, room, size, count, stream);                  \
		return STREAM_READS(symbol, fread, stream, size * count,                           \
				    items(result, size, stream),                                   \
				    px_real.symbol(buffer, room, size, count, stream));            \
	}
FREAD_CHK(__fread_chk)
FREAD_CHK(__fread_unlocked_chk)

#define FWRITE(symbol)                                                                             \
	PX_WRAP size_t symbol(const void *buffer, size_t size, size_t count, FILE *stream)         \
	{                                                                                          \
		if (PX_NOT_TRACED(stdio))                                                          \
			return px_real.symbol(buffer, size, count, stream);                        \
		return STREAM_TOLD(symbol, fwrite, fd_of(stream), size * count,                    \
				   items(result, size, stream),                                    \
				   px_real.symbol(buffer, size, count, stream));                   \
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
		if (PX_NOT_TRACED(stdio))                                                          \
			return px_real.symbol(text, size, stream);                                 \
		return STREAM_READS(symbol, fgets, stream, size, line_of(result, stream),          \
				    px_real.symbol(text, size, stream));                           \
	}
FGETS(fgets)
FGETS(fgets_unlocked)

#define FGETS_CHK(symbol)                                                                          \
	PX_WRAP char *symbol(char *text, size_t room, int size, FILE *stream)                      \
	{                                                                                          \
		if (PX_NOT_TRACED(stdio))                                                          \
			return px_real.symbol(text, room, size, stream);                           \
		return STREAM_READS(symbol, fgets, stream, size, line_of(result, stream),          \
				    px_real.symbol(text, room, size, stream));                     \
	}
FGETS_CHK(__fgets_chk)
FGETS_CHK(__fgets_unlocked_chk)

/* -1 is the end of the file, too. */
static int64_t line_length(ssize_t length, FILE *stream)
{
	return length >= 0 ? length : ferror_unlocked(stream) ? -(int64_t)errno : 0;
}

PX_WRAP ssize_t getline(char **line, size_t *size, FILE *stream)
{
	if (PX_NOT_TRACED(stdio))
		return px_real.getline(line, size, stream);
	return STREAM_READS(getline, getline, stream, 0, line_length(result, stream),
			    px_real.getline(line, size, stream));
}

#define GETDELIM(symbol)                                                                           \
	PX_WRAP ssize_t symbol(char **line, size_t *size, int delimiter, FILE *stream)             \
	{                                                                                          \
		if (PX_NOT_TRACED(stdio))                                                          \
			return px_real.symbol(line, size, delimiter, stream);                      \
		return STREAM_READS(symbol, getline, stream, 0, line_length(result, stream),       \
				    px_real.symbol(line, size, delimiter, stream));                \
	}
GETDELIM(getdelim)
GETDELIM(__getdelim)

#define FPUTS(symbol)                                                                              \
	PX_WRAP int symbol(const char *text, FILE *stream)                                         \
	{                                                                                          \
		if (PX_NOT_TRACED(stdio))                                                          \
			return px_real.symbol(text, stream);                                       \
		return STREAM_TOLD(symbol, fputs, fd_of(stream), strlen(text),                     \
				   result < 0 ? -(int64_t)errno : (int64_t)strlen(text),           \
				   px_real.symbol(text, stream));                                  \
	}
FPUTS(fputs)
FPUTS(fputs_unlocked)

PX_WRAP int puts(const char *text)
{
	if (PX_NOT_TRACED(stdio))
		return px_real.puts(text);
	return STREAM_TOLD(puts, fputs, fd_of(stdout), strlen(text) + 1,
			   result < 0 ? -(int64_t)errno : (int64_t)strlen(text) + 1,
			   px_real.puts(text));
}

/*
 * Those with a format: `real` is the function that takes a list of arguments, and has the same checks.  A list is
 * used up by it, so it is called in one place.
 */
#define PRINTED(symbol, fd, real)                                                                  \
	(PX_NOT_TRACED(stdio) ? (real) :                                                           \
				STREAM_TOLD(symbol, fprintf, fd, 0, px_outcome(result), real))

#define SCANNED(symbol, stream, real)                                                              \
	(PX_NOT_TRACED(stdio) ?                                                                    \
		 (real) :                                                                          \
		 STREAM_READS(symbol, fscanf, stream, 0,                                           \
			      result == EOF && ferror_unlocked(stream) ? -(int64_t)errno : result, \
			      real))

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
 * The header gives scanf() the name of another function, so these are defined by the names that the linker knows.
 * Where the C library has none of C23, nobody can call those.
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

/* All streams, if there is none. */
#define FFLUSH(symbol)                                                                             \
	PX_WRAP int symbol(FILE *stream)                                                           \
	{                                                                                          \
		if (PX_NOT_TRACED(stdio))                                                          \
			return px_real.symbol(stream);                                             \
		return STREAM_TOLD(symbol, fflush, stream ? fd_of(stream) : -1, 0,                 \
				   px_outcome(result), px_real.symbol(stream));                    \
	}
FFLUSH(fflush)
FFLUSH(fflush_unlocked)

static void told_seek(enum px_wrapper wrapper, FILE *stream, int64_t offset, int whence, int result,
		      void *caller)
{
	int64_t outcome = px_outcome(result);

	px_hook_more(wrapper, PX_WHOLE(fseek), fd_of(stream), (uint32_t)whence, outcome, &offset,
		     sizeof(offset), caller);
}

#define FSEEK(symbol, offset_type)                                                                 \
	PX_WRAP int symbol(FILE *stream, offset_type offset, int whence)                           \
	{                                                                                          \
		struct px_hook_sample sample;                                                      \
		int result;                                                                        \
                                                                                                   \
		if (PX_NOT_TRACED(stdio))                                                          \
			return px_real.symbol(stream, offset, whence);                             \
		sample = px_hook_begin();                                                          \
		result = PX_REAL(&sample, px_real.symbol(stream, offset, whence));                 \
		told_seek(PX_WRAPPER_##symbol, stream, offset, whence, result, PX_CALLER);         \
		px_hook_end(&sample, PX_WRAPPER_##symbol);                                         \
		return result;                                                                     \
	}
FSEEK(fseek, long)
FSEEK(fseeko, off_t)
FSEEK(fseeko64, off64_t)
