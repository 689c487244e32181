/* SPDX-License-Identifier: MIT */
#include "config.h"

#include "standalone/warn.h"

#include <errno.h>
#include <limits.h>
#include <pthread.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/write_signals.h"
#include "direct.h"
#include "file_status.h"

static px_status first; /* of stderr */
static bool has_stderr;

const char *px_error_text(int error)
{
#ifdef HAVE_STRERRORDESC_NP
	return strerrordesc_np(error) ?: "unknown error";
#else
	return strerror(error);
#endif
}

void px_warn_begin(void)
{
	has_stderr = px_status_of(STDERR_FILENO, &first) == 0;
}

static bool is_stderr(void)
{
	px_status now;

	return has_stderr && px_status_of(STDERR_FILENO, &now) == 0 && now.st_dev == first.st_dev &&
	       now.st_ino == first.st_ino;
}

static void write_line(const char *line, size_t length)
{
	struct px_write_signals signals;
	int state;

	pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &state);
	px_write_signals_hold(&signals);
	syscall(SYS_write, STDERR_FILENO, line, length);
	px_write_signals_release(&signals);
	pthread_setcancelstate(state, &state);
}

void px_warn(const char *format, ...)
{
	char line[PATH_MAX + 256] = "txtrace: ";
	int more, saved_errno = errno;
	size_t length = strlen(line);
	va_list arguments;

	va_start(arguments, format);
	more = vsnprintf(line + length, sizeof(line) - length - 1, format, arguments);
	va_end(arguments);
	length = strnlen(line, sizeof(line) - 2);
	line[length++] = '\n';
	if (more >= 0 && is_stderr())
		write_line(line, length);
	errno = saved_errno;
}
