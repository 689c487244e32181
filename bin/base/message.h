/* SPDX-License-Identifier: MIT */
/* Messages on stderr, and exit codes. */
#ifndef TXTRACE_BASE_MESSAGE_H
#define TXTRACE_BASE_MESSAGE_H

#include <stdbool.h>

enum exit_code {
	EXIT_FINE = 0,
	EXIT_FOUND = 1,	   /* check: an error was found; diff: a condition of --fail-if is true */
	EXIT_TROUBLE = 2,  /* wrong usage, or a file that cannot be read or written */
	EXIT_TOOL = 125,   /* record: the tool itself failed, not the command; env(1) uses the same code */
	EXIT_CANNOT = 126, /* record: the command cannot be executed */
	EXIT_MISSING = 127 /* record: there is no such command */
};

/* Print a line to standard output.  On a terminal, control characters in it become '?'. */
void print_line(const char *format, ...) __attribute__((format(printf, 1, 2)));

/* Print a line: "txtrace: " and the text. */
void message(const char *format, ...) __attribute__((format(printf, 1, 2)));

/* Do the same as message(), but also print the meaning of an error number. */
void message_error(int error, const char *format, ...) __attribute__((format(printf, 2, 3)));

/*
 * Show how much of a task is done, in a line that the next call overwrites.  Do this only if stderr is a terminal and
 * the task takes more than a second.  If total is 0, the total is not known.
 */
void progress(const char *what, unsigned long long done, unsigned long long total);
void progress_end(void);

/*
 * Show a text in such a line.  The first call prints it at once; later calls print it at most four times a second.  Use
 * this for a task whose end is not known.
 */
void progress_text(const char *format, ...) __attribute__((format(printf, 1, 2)));

#endif
