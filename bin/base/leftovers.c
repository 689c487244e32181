/* SPDX-License-Identifier: MIT */
#include "base/leftovers.h"

#include <signal.h>
#include <stdbool.h>
#include <stddef.h>
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

/* A signal that is ignored, as with nohup, stays ignored. */
static void catch_signals(void)
{
	static const int numbers[] = {SIGINT, SIGTERM, SIGHUP};
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

void leftovers_note(const char *path)
{
	catch_signals();
	for (size_t i = 0; i < FILES_MAX; i++)
		if (!files[i]) {
			files[i] = path;
			return;
		}
}

void leftovers_forget(const char *path)
{
	for (size_t i = 0; i < FILES_MAX; i++)
		if (files[i] == path)
			files[i] = NULL;
}
