/* SPDX-License-Identifier: MIT */
#include "cli/terminal.h"

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/wait.h>
#include <termios.h>
#include <unistd.h>

#include "base/message.h"
#include "base/output.h"
#include "cli/options.h"

static bool has_screen;
static struct termios before_screen;

static enum { COLOR_AUTO, COLOR_ALWAYS, COLOR_NEVER } color_mode;
static bool pager_is_off;
static pid_t pager;
static bool was_terminal; /* true: standard output was a terminal before it went to the pager */

static bool set_color(const char *when)
{
	if (strcmp(when, "auto") == 0)
		color_mode = COLOR_AUTO;
	else if (strcmp(when, "always") == 0)
		color_mode = COLOR_ALWAYS;
	else if (strcmp(when, "never") == 0)
		color_mode = COLOR_NEVER;
	else
		message("--color takes auto, always or never, not %s", when);
	return strcmp(when, "auto") == 0 || color_mode != COLOR_AUTO;
}

bool terminal_option(int code, const char *argument)
{
	if (code == OPTION_COLOR)
		return set_color(argument);
	if (code == OPTION_NO_PAGER)
		pager_is_off = true;
	return code == OPTION_NO_PAGER;
}

/* If the pager does not start, the shell says why, and the output is still shown. */
static void become_pager(int from)
{
	static const char given[] = "trap : INT; sh -c \"$PAGER\"; code=$?; "
				    "case $code in 126 | 127) exec cat ;; esac; exit $code";
	static const char usual[] = "for pager in less more; do command -v $pager >/dev/null && exec $pager; done; "
				    "exec cat";
	const char *command = getenv("PAGER");

	dup2(from, STDIN_FILENO);
	close(from);
	setenv("LESS", "FRX",
	       0); /* less exits if the text fits on the screen, and less does not erase the screen */
	execl("/bin/sh", "sh", "-c", command && *command ? given : usual, (char *)NULL);
	_exit(127);
}

void terminal_page(void)
{
	const char *command = getenv("PAGER");
	int ends[2];

	if (pager_is_off || pager > 0 || !isatty(STDOUT_FILENO) ||
	    (command && strcmp(command, "cat") == 0) || pipe(ends) != 0)
		return;
	was_terminal = true;
	signal(SIGINT, SIG_IGN); /* the pager controls the terminal, so the pager handles this signal */
	pager = fork();
	if (pager == 0) {
		signal(SIGINT, SIG_DFL);
		close(ends[1]);
		become_pager(ends[0]);
	}
	close(ends[0]);
	if (pager > 0) {
		dup2(ends[1], STDOUT_FILENO);
		text_expect_pager();
	} else {
		signal(SIGINT, SIG_DFL);
	}
	close(ends[1]);
}

int terminal_end(int code)
{
	bool is_fine;

	errno = EIO; /* an earlier write failed; its error number is lost */
	is_fine = fflush(stdout) == 0 && !ferror(stdout);
	if (!is_fine && code == EXIT_FINE && errno != EPIPE) {
		message_error(errno, "standard output");
		code = EXIT_TROUBLE;
	}
	if (pager <= 0)
		return code;
	close(STDOUT_FILENO);
	waitpid(pager, NULL, 0);
	pager = 0;
	return code;
}

static bool is_wanted(void)
{
	const char *none = getenv("NO_COLOR");
	const char *terminal = getenv("TERM");

	return !(none && *none) && !(terminal && strcmp(terminal, "dumb") == 0) &&
	       (was_terminal || isatty(STDOUT_FILENO));
}

/* The commands call this function for each event. So inspect the terminal only once. */
static bool has_color(void)
{
	if (color_mode == COLOR_AUTO)
		color_mode = is_wanted() ? COLOR_ALWAYS : COLOR_NEVER;
	return color_mode == COLOR_ALWAYS;
}

const char *terminal_color(enum color color)
{
	static const char *const sequences[] = {
		[COLOR_PLAIN] = "\033[0m", [COLOR_DIM] = "\033[2m",   [COLOR_BOLD] = "\033[1m",
		[COLOR_NAME] = "\033[36m", [COLOR_TIME] = "\033[33m", [COLOR_GOOD] = "\033[32m",
		[COLOR_BAD] = "\033[31m"};

	return has_color() ? sequences[color] : "";
}

int terminal_width(void)
{
	struct winsize size;

	if (ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_col > 0)
		return size.ws_col;
	return 100;
}

int terminal_height(void)
{
	struct winsize size;

	if (ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_row > 0)
		return size.ws_row;
	return 24;
}

/* stdio may hold output of the command, and its order does not matter here. */
static void send(const char *sequence)
{
	ssize_t sent = write(STDOUT_FILENO, sequence, strlen(sequence));

	(void)sent;
}

bool terminal_begin_screen(void)
{
	static bool is_registered;
	struct termios keys;

	if (!isatty(STDOUT_FILENO) || tcgetattr(STDIN_FILENO, &before_screen) != 0)
		return false;
	if (!is_registered && atexit(terminal_end_screen) != 0)
		return false;
	is_registered = true;
	keys = before_screen;
	keys.c_lflag &= ~(tcflag_t)(ICANON | ECHO);
	keys.c_cc[VMIN] = 1;
	keys.c_cc[VTIME] = 0;
	if (tcsetattr(STDIN_FILENO, TCSANOW, &keys) != 0)
		return false;
	has_screen = true;
	send("\033[?1049h\033[?25l");
	return true;
}

void terminal_end_screen(void)
{
	if (!has_screen)
		return;
	has_screen = false;
	send("\033[?25h\033[?1049l");
	tcsetattr(STDIN_FILENO, TCSANOW, &before_screen);
}

const char *terminal_clear(void)
{
	return "\033[H\033[J";
}
