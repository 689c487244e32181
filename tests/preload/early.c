/* SPDX-License-Identifier: MIT */
/* A library whose constructor runs before the preloaded object is initialised, and calls wrapped functions. */
#include <pthread.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

static void *give_back(void *argument)
{
	return argument;
}

static void make_thread(void)
{
	pthread_t thread;

	if (pthread_create(&thread, NULL, give_back, NULL) == 0)
		pthread_join(thread, NULL);
}

__attribute__((constructor)) static void begin(void)
{
	pid_t pid;

	make_thread();
	pid = fork();
	if (pid == 0)
		_exit(0);
	waitpid(pid, NULL, 0);
}

__attribute__((destructor)) static void end(void)
{
	make_thread();
}
