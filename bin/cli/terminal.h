/* SPDX-License-Identifier: MIT */
/* Colours, a pager, and a screen that the command draws again and again; all only if standard output is a terminal. */
#ifndef TXTRACE_CLI_TERMINAL_H
#define TXTRACE_CLI_TERMINAL_H

#include <stdbool.h>

enum color { COLOR_PLAIN, COLOR_DIM, COLOR_BOLD, COLOR_NAME, COLOR_TIME, COLOR_GOOD, COLOR_BAD };

/*
 * Handle --color and --no-pager. Return false for any other option. If the argument is wrong, print a message and
 * return false.
 */
bool terminal_option(int code, const char *argument);

/* If standard output is a terminal, send all further output to a pager: $PAGER, or less. */
void terminal_page(void);

/* Wait for the pager to exit. Return `code`, or EXIT_TROUBLE if a write to standard output failed. */
int terminal_end(int code);

/* Return the escape sequence of this colour, or "" if colours are off. */
const char *terminal_color(enum color color);

/* Return the number of columns of the terminal, or 100 if it is unknown. */
int terminal_width(void);

/* Return the number of lines of the terminal, or 24 if it is unknown. */
int terminal_height(void);

/*
 * Begin a screen: the terminal sends each key at once, and what it showed comes back with terminal_end_screen(), or
 * when the command exits.  Return false, and change nothing, if standard input or standard output is no terminal.
 */
bool terminal_begin_screen(void);
void terminal_end_screen(void);

/* Return the sequence that makes the screen empty, and puts the cursor at its beginning. */
const char *terminal_clear(void);

#endif
