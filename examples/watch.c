/* SPDX-License-Identifier: MIT */
/*
 * Watches a running program: traces a process, and the processes that it starts from now on, and prints their events
 * as they arrive.  It ends when the process ends, or with Ctrl-C.  The traced processes must use posixtrace.
 *
 * The program uses only the installed interface: cc -std=gnu11 watch.c -lposixtrace
 */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE /* syscall() */
#endif
#include <ctype.h>
#include <errno.h>
#include <inttypes.h>
#include <poll.h>
#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <time.h>
#include <trace.h>
#include <trace_ext.h>
#include <unistd.h>

#define SHOWN_BYTES 16		   /* of an event's data */
#define PATIENCE_NS 100000000	   /* between two checks of the process */
#define STREAM_BYTES (1024 * 1024) /* of a ring: room for events until we read them */
#define NS_PER_S 1000000000

static volatile sig_atomic_t interrupted;

static void check(int error, const char *what)
{
	if (!error)
		return;
	fprintf(stderr, "watch: %s: %s\n", what, strerror(error));
	exit(1);
}

static void on_interrupt(int signal_number)
{
	(void)signal_number;
	interrupted = 1;
}

static trace_id_t create(pid_t pid)
{
	trace_attr_t attr;
	trace_id_t trace;
	int error;

	check(posix_trace_attr_init(&attr), "posix_trace_attr_init");
	check(posix_trace_attr_setinherited(&attr, POSIX_TRACE_INHERITED),
	      "posix_trace_attr_setinherited");
	check(posix_trace_attr_setstreamsize(&attr, STREAM_BYTES),
	      "posix_trace_attr_setstreamsize");
	check(posix_trace_attr_setstreamfullpolicy(&attr, POSIX_TRACE_LOOP),
	      "posix_trace_attr_setstreamfullpolicy");
	error = posix_trace_create(pid, &attr, &trace);
	posix_trace_attr_destroy(&attr);
	if (error == EPERM)
		fprintf(stderr, "watch: process %d is not yours to trace\n", (int)pid);
	check(error, "posix_trace_create");
	return trace;
}

/* The names come from another program, so send only printable characters to the terminal. */
static void print_text(const char *text, int width)
{
	for (; *text; text++, width--)
		putchar(isprint((unsigned char)*text) ? *text : '?');
	printf("%*s", width > 0 ? width : 0, "");
}

static int64_t to_ns(const struct timespec *time)
{
	return (int64_t)time->tv_sec * NS_PER_S + time->tv_nsec;
}

static void print_event(trace_id_t trace, const struct posix_trace_event_info *event,
			const unsigned char *data, size_t length)
{
	static int64_t origin_ns;
	char name[TRACE_EVENT_NAME_MAX + 1] = "?";
	int64_t since_ns;

	if (origin_ns == 0)
		origin_ns = to_ns(&event->posix_timestamp);
	since_ns = to_ns(&event->posix_timestamp) - origin_ns;
	posix_trace_eventid_get_name(trace, event->posix_event_id, name);
	printf("%10" PRId64 ".%03d  %7d  %3u  ", since_ns / 1000, (int)(since_ns % 1000),
	       (int)event->posix_pid, txtrace_event_cpu(event));
	print_text(name, 24);
	for (size_t i = 0; i < length && i < SHOWN_BYTES; i++)
		printf("%s%02x", i % 4 == 0 ? "  " : "", data[i]);
	if (length > SHOWN_BYTES)
		printf("  ... %zu bytes", length);
	putchar('\n');
}

/* Print the next event; false if none arrives within PATIENCE_NS. */
static bool read_event(trace_id_t trace)
{
	static unsigned char data[65536];
	struct posix_trace_event_info event;
	struct timespec until;
	size_t length;
	int error, unavailable = 0;

	clock_gettime(CLOCK_REALTIME, &until);
	until.tv_nsec += PATIENCE_NS;
	if (until.tv_nsec >= NS_PER_S) {
		until.tv_nsec -= NS_PER_S;
		until.tv_sec++;
	}
	error = posix_trace_timedgetnext_event(trace, &event, data, sizeof(data), &length,
					       &unavailable, &until);
	if (error == ETIMEDOUT || error == EINTR)
		return false;
	check(error, "posix_trace_timedgetnext_event");
	if (unavailable)
		return false;
	print_event(trace, &event, data, length);
	return true;
}

/* kill(pid, 0) would still find a process that has ended, until its parent waits for it. */
static bool is_there(int process)
{
	struct pollfd ended = {.fd = process, .events = POLLIN};

	return poll(&ended, 1, 0) == 0;
}

static void watch(trace_id_t trace, int process)
{
	bool goes_on = true;

	printf("%14s  %7s  %3s  %-24s  %s\n", "time us", "pid", "cpu", "event", "data");
	check(posix_trace_start(trace), "posix_trace_start");
	while (goes_on && !interrupted) {
		goes_on = is_there(process);
		while (read_event(trace) && !interrupted)
			;
		fflush(stdout);
	}
	check(posix_trace_stop(trace), "posix_trace_stop");
	while (read_event(trace))
		;
}

static void print_losses(trace_id_t trace)
{
	struct txtrace_loss loss;

	check(txtrace_get_loss(trace, &loss), "txtrace_get_loss");
	printf("lost: %llu overwritten, %llu dropped, %llu abandoned\n", loss.overwritten,
	       loss.dropped, loss.abandoned);
}

int main(int argc, char **argv)
{
	struct sigaction action = {.sa_handler = on_interrupt};
	trace_id_t trace;
	char *end = NULL;
	long pid = 0;
	int process;

	if (argc == 2)
		pid = strtol(argv[1], &end, 10);
	if (pid <= 0 || pid > INT32_MAX || *end) {
		fprintf(stderr, "usage: watch PID\n"
				"Print what the process traces, and what it starts from now on, "
				"until it is gone or Ctrl-C.\n");
		return 2;
	}
	process = (int)syscall(SYS_pidfd_open, (pid_t)pid, 0);
	if (process < 0)
		check(errno, argv[1]);
	trace = create((pid_t)pid);
	sigaction(SIGINT, &action, NULL);
	sigaction(SIGTERM, &action, NULL);
	watch(trace, process);
	print_losses(trace);
	check(posix_trace_shutdown(trace), "posix_trace_shutdown");
	close(process);
	return fflush(stdout) != 0 || ferror(stdout);
}
