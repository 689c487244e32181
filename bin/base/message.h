/* SPDX-License-Identifier: MIT */
/* What the tool says to the one who called it, on stderr, and how it exits. */
#ifndef TXTRACE_BASE_MESSAGE_H
#define TXTRACE_BASE_MESSAGE_H

#include <stdbool.h>

enum exit_code {
	EXIT_FINE = 0,
	EXIT_FOUND = 1,	  /* a rule was broken that the caller asked about: check, diff --fail-if */
	EXIT_TROUBLE = 2, /* wrong usage, or a file that cannot be read or written */
	EXIT_TOOL = 125,  /* record: the tool failed, rather than the command; as of env(1) */
	EXIT_CANNOT = 126, /* record: the command cannot be executed */
	EXIT_MISSING = 127 /* record: there is no such command */
};

/* One line: "txtrace: ", the text. */
void message(const char *format, ...) __attribute__((format(printf, 1, 2)));

/* The same, with what an error number means behind it. */
void message_error(int error, const char *format, ...) __attribute__((format(printf, 2, 3)));

/*
 * How far a long work has come: a line that is written over, if stderr is a terminal and the work takes more than a
 * second.  total 0: not known.
 */
void progress(const char *what, unsigned long long done, unsigned long long total);
void progress_end(void);

/* The same in words, from the beginning and four times a second, for work that has no end of its own. */
void progress_text(const char *format, ...) __attribute__((format(printf, 1, 2)));

#endif
