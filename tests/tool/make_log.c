/* SPDX-License-Identifier: MIT */
/*
 * Writes a log with events that tests of the tool know: make_log FILE whole|gap|lossy|large
 *
 *	whole	one of each kind of data, by two threads
 *	gap	a stream that loops was lapped once
 *	lossy	a stream that loops was lapped twice, so that the log has two gaps
 *	large	COUNT events with SIZE bytes, at most 256, nothing lost: make_log FILE large COUNT SIZE
 */
#include <fcntl.h>
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <trace.h>
#include <trace_ext.h>
#include <unistd.h>

#define NR_STEPS 4

static trace_id_t trace;
static trace_event_id_t steps[NR_STEPS], other;

static void must(int error, const char *what)
{
	if (!error)
		return;
	fprintf(stderr, "make_log: %s: %s\n", what, strerror(error));
	exit(1);
}

static void create(const char *path, int policy, size_t size)
{
	int fd = open(path, O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC, 0644);
	trace_attr_t attr;

	must(fd < 0, "the file");
	must(posix_trace_attr_init(&attr), "init");
	must(posix_trace_attr_setname(&attr, "made"), "setname");
	must(posix_trace_attr_setstreamfullpolicy(&attr, policy), "setstreamfullpolicy");
	must(posix_trace_attr_setlogfullpolicy(&attr, POSIX_TRACE_APPEND), "setlogfullpolicy");
	must(posix_trace_attr_setstreamsize(&attr, size), "setstreamsize");
	must(txtrace_attr_setrings(&attr, 1), "setrings");
	must(posix_trace_create_withlog(0, &attr, fd, &trace), "create_withlog");
	must(posix_trace_attr_destroy(&attr), "destroy");
	close(fd);
	for (int i = 0; i < NR_STEPS; i++) {
		char name[16];

		snprintf(name, sizeof(name), "step_%d", i);
		must(posix_trace_eventid_open(name, &steps[i]), name);
	}
	must(posix_trace_eventid_open("a \"b\"\\ \303\251\377,", &other), "eventid_open");
	must(posix_trace_start(trace), "start");
}

static void *work(void *argument)
{
	static const char text[] = "some \"text\", with\\";
	static const unsigned char bytes[] = {0, 1, 2, 0xFD, 0xFE, 0xFF};
	int8_t i8 = -8;
	int16_t i16 = -1616;
	int32_t i32 = -323232;
	int64_t i64 = INT64_MIN;
	unsigned char large[3000];

	(void)argument;
	memset(large, 0xA5, sizeof(large));
	posix_trace_event(steps[0], NULL, 0);
	posix_trace_event(steps[1], &i8, sizeof(i8));
	posix_trace_event(steps[1], &i16, sizeof(i16));
	posix_trace_event(steps[1], &i32, sizeof(i32));
	posix_trace_event(steps[1], &i64, sizeof(i64));
	posix_trace_event(steps[2], text, sizeof(text));
	posix_trace_event(steps[2], bytes, sizeof(bytes));
	posix_trace_event(steps[3], large,
			  sizeof(large)); /* more than an event has room for: truncated */
	posix_trace_event(other, "abcd", 4);
	return NULL;
}

static void make_whole(void)
{
	pthread_t thread;

	work(NULL);
	must(pthread_create(&thread, NULL, work, NULL), "pthread_create");
	must(pthread_join(thread, NULL), "pthread_join");
}

static void make_lossy(int nr_laps)
{
	for (int round = 0; round < nr_laps; round++) {
		for (int64_t i = 0; i < 20000; i++)
			posix_trace_event(steps[i % NR_STEPS], &i, sizeof(i));
		must(posix_trace_flush(trace), "flush");
	}
}

/* The stream has room for all events between two flushes. */
static void make_large(long nr_events, size_t size)
{
	unsigned char data[256] = {0};

	for (int64_t i = 0; i < nr_events; i++) {
		memcpy(data, &i, sizeof(i));
		posix_trace_event(steps[i % NR_STEPS], data, size);
		if (i % 65536 == 65535)
			must(posix_trace_flush(trace), "flush");
	}
}

int main(int argc, char **argv)
{
	if (argc == 3 && strcmp(argv[2], "whole") == 0) {
		create(argv[1], POSIX_TRACE_FLUSH, 65536);
		make_whole();
	} else if (argc == 3 && strcmp(argv[2], "lossy") == 0) {
		create(argv[1], POSIX_TRACE_LOOP, 65536);
		make_lossy(2);
	} else if (argc == 3 && strcmp(argv[2], "gap") == 0) {
		create(argv[1], POSIX_TRACE_LOOP, 65536);
		make_lossy(1);
	} else if (argc == 5 && strcmp(argv[2], "large") == 0 && atol(argv[4]) <= 256) {
		create(argv[1], POSIX_TRACE_FLUSH, 64 << 20);
		make_large(atol(argv[3]), (size_t)atol(argv[4]));
	} else {
		fprintf(stderr, "usage: make_log FILE whole|gap|lossy|large [COUNT SIZE]\n");
		return 2;
	}
	must(posix_trace_shutdown(trace), "shutdown");
	return 0;
}
