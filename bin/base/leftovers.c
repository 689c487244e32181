/* SPDX-License-Identifier: MIT */
#include "base/leftovers.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdlib.h>
#include <unistd.h>

#define FILES_MAX 512

/* The handler may come between any two stores. */
static const char *volatile files[FILES_MAX];

static void remove_all(int number)
{
	for (size_t i = 0; i < FILES_MAX; i++)
		if (files[i])
			unlink(files[i]);
	signal(number, SIG_DFL);
	raise(number);
}

static const int numbers[] = {SIGINT, SIGTERM, SIGHUP};

/* A signal that is ignored, as with nohup, stays ignored. */
static void catch_signals(void)
{
	static bool is_done;

	for (size_t i = 0; !is_done && i < sizeof(numbers) / sizeof(*numbers); i++) {
		struct sigaction action;

		if (sigaction(numbers[i], NULL, &action) != 0 || action.sa_handler != SIG_DFL)
			continue;
		action.sa_handler = remove_all;
		sigaction(numbers[i], &action, NULL);
	}
	is_done = true;
}

static void note(const char *path)
{
	for (size_t i = 0; i < FILES_MAX; i++)
		if (!files[i]) {
			files[i] = path;
			return;
		}
}

/* A signal between the two steps would leave the file. */
int leftovers_make(char *path)
{
	sigset_t held, before;
	int fd, error;

	catch_signals();
	sigemptyset(&held);
	for (size_t i = 0; i < sizeof(numbers) / sizeof(*numbers); i++)
		sigaddset(&held, numbers[i]);
	pthread_sigmask(SIG_BLOCK, &held, &before);
	fd = mkostemp(path, O_CLOEXEC);
	error = errno;
	if (fd >= 0)
		note(path);
	pthread_sigmask(SIG_SETMASK, &before, NULL);
	errno = error;
	return fd;
}

void leftovers_forget(const char *path)
{
	for (size_t i = 0; i < FILES_MAX; i++)
		if (files[i] == path)
			files[i] = NULL;
}
