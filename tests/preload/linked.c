/* SPDX-License-Identifier: MIT */
/*
 * A program that uses the library itself, and records three events of its own.  With the name of a file, it has a log,
 * and ends with its last thread.
 */
#include <fcntl.h>
#include <pthread.h>
#include <trace.h>

static trace_event_id_t id;

static void *record(void *unused)
{
	for (int i = 0; i < 3; i++)
		posix_trace_event(id, &i, sizeof(i));
	return unused;
}

static int end_with_last_thread(const char *path)
{
	int fd = open(path, O_RDWR | O_CREAT | O_TRUNC, 0600);
	trace_id_t trid;
	pthread_t thread;

	if (fd < 0 || posix_trace_create_withlog(0, NULL, fd, &trid) != 0 ||
	    posix_trace_start(trid) != 0 || pthread_create(&thread, NULL, record, NULL) != 0)
		return 2;
	pthread_exit(NULL);
}

int main(int argc, char **argv)
{
	if (posix_trace_eventid_open("three times", &id) != 0)
		return 1;
	if (argc > 1)
		return end_with_last_thread(argv[1]);
	record(NULL);
	return 0;
}
