/* SPDX-License-Identifier: MIT */
#include "live/launch.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/message.h"
#include "cli/command.h"
#include "live/session.h"

static bool make_pipes(struct launch *launch)
{
	if (pipe2(launch->go, O_CLOEXEC) == 0 && pipe2(launch->result, O_CLOEXEC) == 0)
		return true;
	message_error(errno, "pipe");
	return false;
}

static void become_command(const struct launch *launch, void (*execute)(void *arg), void *arg)
{
	char byte;
	int error;

	close(launch->go[1]);
	if (read(launch->go[0], &byte, 1) != 1)
		_exit(EXIT_TOOL);
	session_restore_signals();
	execute(arg);
	error = errno;
	_exit(write(launch->result[1], &error, sizeof(error)) == sizeof(error) ? EXIT_CANNOT : EXIT_TOOL);
}

bool launch_begin(struct launch *launch, void (*execute)(void *arg), void *arg)
{
	if (!make_pipes(launch))
		return false;
	launch->pid = fork();
	if (launch->pid == 0)
		become_command(launch, execute, arg);
	close(launch->result[1]);
	if (launch->pid < 0)
		message_error(errno, "fork");
	return launch->pid > 0;
}

int launch_let_go(struct launch *launch)
{
	int error = 0;

	if (write(launch->go[1], "", 1) != 1 ||
	    read(launch->result[0], &error, sizeof(error)) != sizeof(error))
		return 0;
	return error;
}

void launch_close(struct launch *launch)
{
	close(launch->go[0]);
	close(launch->go[1]);
	close(launch->result[0]);
}

int launch_exit_code(int wait_status)
{
	return WIFSIGNALED(wait_status) ? 128 + WTERMSIG(wait_status) : WEXITSTATUS(wait_status);
}
