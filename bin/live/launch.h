/* SPDX-License-Identifier: MIT */
/* A command in a child process, which waits until the tool has begun the trace. */
#ifndef TXTRACE_LIVE_LAUNCH_H
#define TXTRACE_LIVE_LAUNCH_H

#include <stdbool.h>
#include <sys/types.h>

struct launch {
	pid_t pid;
	int go[2]; /* if the child reads a byte, it executes the command; if it reads the end of the file, it exits */
	int result[2]; /* if the tool reads the end of the file, exec succeeded; otherwise it reads an error number */
};

/*
 * Make the child. When the tool lets it go, it restores the signals and calls the function, which executes the command.
 * If the function returns, it has failed, and the tool gets its errno. Return false, with a message, if there is no
 * child.
 */
bool launch_begin(struct launch *launch, void (*execute)(void *arg), void *arg);

/* Let the child execute the command. Return 0, or the error number of the child, which ends then. */
int launch_let_go(struct launch *launch);

/* Close the pipes. A child that still waits ends. */
void launch_close(struct launch *launch);

/* The exit code of a shell for this status of waitpid(). */
int launch_exit_code(int wait_status);

#endif
