/* SPDX-License-Identifier: MIT */
#include "base/message.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/output.h"

#define FIRST_NS 1000000000ULL /* a task prints its first progress line after this time */
#define STEP_NS 100000000ULL
#define TEXT_STEP_NS 250000000ULL

static struct {
	bool is_known, is_terminal, is_shown;
	unsigned long long begin_ns, shown_ns;
} line;

__attribute__((format(printf, 1, 0))) static void message_list(const char *format, va_list list)
{
	char *text;

	progress_end();
	fputs("txtrace: ", stderr);
	if (vasprintf(&text, format, list) < 0)
		return;
	text_make_harmless(text); /* names of files and processes may hold control characters */
	fputs(text, stderr);
	free(text);
}

void print_line(const char *format, ...)
{
	va_list list;
	char *text;
	int length;

	va_start(list, format);
	length = vasprintf(&text, format, list);
	va_end(list);
	if (length < 0)
		return;
	if (isatty(STDOUT_FILENO))
		text_make_harmless(text);
	puts(text);
	free(text);
}

void message(const char *format, ...)
{
	va_list list;

	va_start(list, format);
	message_list(format, list);
	va_end(list);
	fputc('\n', stderr);
}

void message_error(int error, const char *format, ...)
{
	va_list list;

	va_start(list, format);
	message_list(format, list);
	va_end(list);
	fprintf(stderr, ": %s\n", strerror(error));
}

static void look_at_terminal(unsigned long long now)
{
	if (line.is_known)
		return;
	line.is_known = true;
	line.is_terminal = isatty(STDERR_FILENO);
	line.begin_ns = now;
}

void progress(const char *what, unsigned long long done, unsigned long long total)
{
	unsigned long long now = (unsigned long long)clock_now_ns();

	look_at_terminal(now);
	if (!line.is_terminal || now - line.begin_ns < FIRST_NS || now - line.shown_ns < STEP_NS)
		return;
	line.is_shown = true;
	line.shown_ns = now;
	if (total > 0)
		fprintf(stderr, "\r%s: %3llu %% \033[K", what, done * 100 / total);
	else
		fprintf(stderr, "\r%s: %llu \033[K", what, done);
	fflush(stderr);
}

/* Leave the cursor at the start of the line, so that the output of another program overwrites the text. */
void progress_text(const char *format, ...)
{
	unsigned long long now = (unsigned long long)clock_now_ns();
	va_list list;
	char *text;

	look_at_terminal(now);
	if (!line.is_terminal || now - line.shown_ns < TEXT_STEP_NS)
		return;
	line.is_shown = true;
	line.shown_ns = now;
	va_start(list, format);
	if (vasprintf(&text, format, list) >= 0) {
		text_make_harmless(text);
		fputs(text, stderr);
		free(text);
	}
	va_end(list);
	fputs("\033[K\r", stderr);
	fflush(stderr);
}

void progress_end(void)
{
	if (line.is_shown)
		fputs("\r\033[K", stderr);
	memset(&line, 0, sizeof(line));
}
