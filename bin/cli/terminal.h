/* SPDX-License-Identifier: MIT */
/* What a terminal gets that a file does not: colours, and a pager. */
#ifndef TXTRACE_CLI_TERMINAL_H
#define TXTRACE_CLI_TERMINAL_H

#include <stdbool.h>

enum color { COLOR_PLAIN, COLOR_DIM, COLOR_BOLD, COLOR_NAME, COLOR_TIME, COLOR_GOOD, COLOR_BAD };

/* --color and --no-pager.  False: it is neither; or its argument is no such word, and that was said. */
bool terminal_option(int code, const char *argument);

/* Page standard output from here on, if it is a terminal ($PAGER, else less). */
void terminal_page(void);

/* The end, with this exit code unless standard output failed: wait until the one who pages has seen enough. */
int terminal_end(int code);

/* The sequence that begins this colour; "" where there are none. */
const char *terminal_color(enum color color);

/* Columns of the terminal, or 100. */
int terminal_width(void);

#endif
