/* SPDX-License-Identifier: MIT */
/* Messages on stderr, and exit codes. */
#ifndef TXTRACE_BASE_MESSAGE_H
#define TXTRACE_BASE_MESSAGE_H

#include <stdbool.h>

enum exit_code {
	EXIT_FINE = 0,
	EXIT_FOUND = 1,	   /* check found an error, or a condition of diff --fail-if is true */
	EXIT_TROUBLE = 2,  /* the usage is wrong, or a file cannot be read or written */
	EXIT_TOOL = 125,   /* record: the tool failed, not the command. env(1) uses the same code. */
	EXIT_CANNOT = 126, /* record: the command cannot be executed */
	EXIT_MISSING = 127 /* record: there is no such command */
};

/* Print a line to standard output.  On a terminal, control characters in it become '?'. */
void print_line(const char *format, ...) __attribute__((format(printf, 1, 2)));

/* Print a line: "txtrace: " and the text. */
void message(const char *format, ...) __attribute__((format(printf, 1, 2)));

/* Do the same as message(), but also print the meaning of an error number. */
void message_error(int error, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* For message(): a process creates the file of a log, and a moment later writes the header of the log. */
#define MESSAGE_EMPTY "%s is empty; if it is a log, its writer ended before the log began"

/*
 * Show how much of a task is done, in a line that the next call overwrites.  Print the line only if stderr is a
 * terminal and the task takes more than a second.  A total of 0 means that the total is unknown.
 */
void progress(const char *what, unsigned long long done, unsigned long long total);
void progress_end(void);

/*
 * Show a text in a line that the next call overwrites.  The first call prints it at once; later calls print it at most
 * four times a second.  Use this function for a task without a known end.
 */
void progress_text(const char *format, ...) __attribute__((format(printf, 1, 2)));

#endif
