/* SPDX-License-Identifier: MIT */
#include "config.h"

#include "standalone/warn.h"

#include <limits.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

const char *px_error_text(int error)
{
#ifdef HAVE_STRERRORDESC_NP
	return strerrordesc_np(error) ?: "unknown error";
#else
	return strerror(error);
#endif
}

void px_warn(const char *format, ...)
{
	char line[PATH_MAX + 256] = "txtrace: ";
	size_t length = strlen(line);
	va_list arguments;
	int more;

	va_start(arguments, format);
	more = vsnprintf(line + length, sizeof(line) - length - 1, format, arguments);
	va_end(arguments);
	if (more < 0)
		return;
	length = strnlen(line, sizeof(line) - 2);
	line[length++] = '\n';
	syscall(SYS_write, STDERR_FILENO, line, length);
}
