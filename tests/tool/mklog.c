/* SPDX-License-Identifier: MIT */
/*
 * Write a log for the tests of the tool: mklog FILE EVENTS BYTES THREAD [LOOP_SIZE [reversed]].  A thread of this name
 * writes EVENTS events of the types "even_step" and "odd_step" in turn.  Each has BYTES bytes of data, which begin with
 * its number as a word and go on as a, b, c, ...  With LOOP_SIZE, the log keeps the newest events in this many bytes.
 * With "reversed", it opens the second type first.
 */
#include <fcntl.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <trace.h>

#define BYTES_MAX 20000
#define FLUSH_EVENTS 50000 /* so that no event is dropped */

static unsigned int nr_events, nr_bytes;
static trace_event_id_t type[2];
static trace_id_t trace;

static void *write_events(void *name)
{
	unsigned char data[BYTES_MAX];

	pthread_setname_np(pthread_self(), name);
	for (unsigned int i = 0; i < sizeof(data); i++)
		data[i] = (unsigned char)('a' + i % 26);
	for (unsigned int i = 0; i < nr_events; i++) {
		memcpy(data, &i, sizeof(i));
		posix_trace_event(type[i % 2], data, nr_bytes);
		if (i % FLUSH_EVENTS == FLUSH_EVENTS - 1)
			posix_trace_flush(trace);
	}
	return NULL;
}

static int write_log(int fd, char *name, size_t loop_size, bool is_reversed)
{
	trace_attr_t attr;
	pthread_t thread;
	int error;

	posix_trace_attr_init(&attr);
	posix_trace_attr_setname(&attr, "mklog");
	posix_trace_attr_setstreamsize(&attr, 16 << 20);
	if (nr_bytes > 256)
		posix_trace_attr_setmaxdatasize(&attr, nr_bytes);
	posix_trace_attr_setlogfullpolicy(&attr, loop_size ? POSIX_TRACE_LOOP : POSIX_TRACE_APPEND);
	if (loop_size)
		posix_trace_attr_setlogsize(&attr, loop_size);
	if (is_reversed)
		posix_trace_eventid_open("odd_step", &type[1]);
	posix_trace_eventid_open("even_step", &type[0]);
	if (!is_reversed)
		posix_trace_eventid_open("odd_step", &type[1]);
	error = posix_trace_create_withlog(0, &attr, fd, &trace);
	if (!error)
		error = posix_trace_start(trace);
	if (!error)
		error = pthread_create(&thread, NULL, write_events, name);
	if (!error)
		error = pthread_join(thread, NULL);
	return error ? error : posix_trace_shutdown(trace);
}

int main(int argc, char **argv)
{
	int error, fd = argc < 5 ? -1 : open(argv[1], O_RDWR | O_CREAT | O_TRUNC, 0644);

	if (fd < 0) {
		fprintf(stderr, "mklog FILE EVENTS BYTES THREAD [LOOP_SIZE [reversed]]\n");
		return 2;
	}
	nr_events = (unsigned int)atoi(argv[2]);
	nr_bytes = (unsigned int)atoi(argv[3]) % (BYTES_MAX + 1);
	error = write_log(fd, argv[4], argc > 5 ? (size_t)atol(argv[5]) : 0, argc > 6);
	if (error)
		fprintf(stderr, "mklog: %s\n", strerror(error));
	return error ? 1 : 0;
}
