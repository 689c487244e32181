/* SPDX-License-Identifier: MIT */
/*
 * Write a log for the tests of the tool: runners FILE [EVENTS [LOSE]].  Two threads and a child process write EVENTS
 * events each, of the types "turn", "left" and "right".  From time to time, a thread goes to another CPU, if there is
 * one.  In the middle, the stream is stopped for a moment.  With LOSE, the stream is so small that events are lost,
 * except those at the beginning, which are flushed.
 */
#include <fcntl.h>
#include <pthread.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <trace.h>
#include <trace_ext.h>
#include <unistd.h>

#define HOP 50 /* events between two changes of the CPU */
#define AHEAD 10
#define PAUSE_NS 5000000

static unsigned int nr_events = 1000;
static trace_event_id_t turn, left, right;

static void hop(unsigned int i)
{
	cpu_set_t set;

	CPU_ZERO(&set);
	CPU_SET(i % (unsigned int)sysconf(_SC_NPROCESSORS_ONLN), &set);
	sched_setaffinity(0, sizeof(set), &set); /* if the system does not allow that, threads stay */
}

static void *run(void *name)
{
	if (name)
		pthread_setname_np(pthread_self(), name);
	for (unsigned int i = 0; i < nr_events; i++) {
		if (i % HOP == 0) {
			hop(i / HOP);
			posix_trace_event(turn, &i, sizeof(i));
		} else {
			posix_trace_event(i % 3 ? left : right, &i, sizeof(i));
		}
	}
	return NULL;
}

static int run_child(void)
{
	pid_t pid = fork();
	int status = 0;

	if (pid == 0) {
		run(NULL);
		_exit(0);
	}
	return pid < 0 || waitpid(pid, &status, 0) != pid || status != 0;
}

/* Record some events and flush them, so that the log keeps them. */
static int write_ahead(trace_id_t trace)
{
	struct timespec nap = {0, PAUSE_NS};
	struct posix_trace_status_info status;
	int error = 0;

	for (unsigned int i = 0; i < AHEAD; i++)
		posix_trace_event(turn, &i, sizeof(i));
	error = posix_trace_flush(trace);
	do {
		nanosleep(&nap, NULL);
		if (!error)
			error = posix_trace_get_status(trace, &status);
	} while (!error && status.posix_stream_flush_status == POSIX_TRACE_FLUSHING);
	return error;
}

static int run_threads(trace_id_t trace, int loses)
{
	static char left_runner[] = "left runner", right_runner[] = "right runner";
	struct timespec pause = {0, PAUSE_NS};
	pthread_t threads[2];
	int error = posix_trace_start(trace);

	if (!error && loses)
		error = write_ahead(trace);
	if (!error)
		error = pthread_create(&threads[0], NULL, run, left_runner);
	if (!error)
		error = pthread_join(threads[0], NULL);
	if (!error)
		error = posix_trace_stop(trace);
	nanosleep(&pause, NULL);
	if (!error)
		error = posix_trace_start(trace);
	if (!error)
		error = pthread_create(&threads[1], NULL, run, right_runner);
	if (!error)
		error = run_child();
	return error ? error : pthread_join(threads[1], NULL);
}

static int write_log(int fd, int loses)
{
	trace_attr_t attr;
	trace_id_t trace;
	int error;

	posix_trace_attr_init(&attr);
	posix_trace_attr_setname(&attr, "runners");
	posix_trace_attr_setinherited(&attr, POSIX_TRACE_INHERITED);
	posix_trace_attr_setlogfullpolicy(&attr, POSIX_TRACE_APPEND);
	if (loses) {
		txtrace_attr_setrings(&attr, 1);
		posix_trace_attr_setstreamsize(&attr, 1);
		posix_trace_attr_setstreamfullpolicy(&attr, POSIX_TRACE_LOOP);
	} else {
		posix_trace_attr_setstreamsize(&attr, 16 << 20);
	}
	posix_trace_eventid_open("turn", &turn);
	posix_trace_eventid_open("left", &left);
	posix_trace_eventid_open("right", &right);
	error = posix_trace_create_withlog(0, &attr, fd, &trace);
	if (!error)
		error = run_threads(trace, loses);
	return error ? error : posix_trace_shutdown(trace);
}

int main(int argc, char **argv)
{
	int fd = argc < 2 ? -1 : open(argv[1], O_RDWR | O_CREAT | O_TRUNC, 0644);
	int error;

	if (fd < 0) {
		fprintf(stderr, "runners: no file to write\n");
		return 2;
	}
	if (argc > 2)
		nr_events = (unsigned int)strtoul(argv[2], NULL, 10);
	error = write_log(fd, argc > 3);
	if (error)
		fprintf(stderr, "runners: %s\n", strerror(error));
	return error != 0;
}
