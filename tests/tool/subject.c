/* SPDX-License-Identifier: MIT */
/*
 * A program to be traced by tests of the tool: subject [OPTION...]
 *
 *	-w FILE		wait until there is this file
 *	-n COUNT	so many events, tick and tock in turn, numbered from 0
 *	-u MICROSECONDS	between two of them
 *	-c		start itself once more, with -n, and wait for it
 *	-l FILE		trace itself into this log
 *	-k SIGNAL	end by this signal
 *	-x CODE		exit so
 */
#include <fcntl.h>
#include <signal.h>
#include <spawn.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <trace.h>
#include <unistd.h>

static struct {
	const char *gate, *log;
	char *count;
	unsigned int pause_us;
	bool has_child;
	int signal_number, code;
} order;

static void must(int error, const char *what)
{
	if (!error)
		return;
	fprintf(stderr, "subject: %s: %s\n", what, strerror(error));
	exit(99);
}

static void trace_self(void)
{
	int fd = open(order.log, O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC, 0644);
	trace_id_t trace;

	must(fd < 0, order.log);
	must(posix_trace_create_withlog(0, NULL, fd, &trace), "create_withlog");
	must(posix_trace_start(trace), "start");
}

static void record(void)
{
	trace_event_id_t types[2];
	long count = strtol(order.count, NULL, 10);

	must(posix_trace_eventid_open("tick", &types[0]), "tick");
	must(posix_trace_eventid_open("tock", &types[1]), "tock");
	for (int32_t i = 0; i < count; i++) {
		posix_trace_event(types[i % 2], &i, sizeof(i));
		if (order.pause_us > 0)
			usleep(order.pause_us);
	}
}

static void start_child(void)
{
	static char name[] = "subject", option[] = "-n";
	char *arguments[] = {name, option, order.count, NULL};
	int status;
	pid_t pid;

	must(posix_spawn(&pid, "/proc/self/exe", NULL, NULL, arguments, environ), "posix_spawn");
	waitpid(pid, &status, 0);
}

static void read_options(int argc, char **argv)
{
	int code;

	while ((code = getopt(argc, argv, "w:n:u:cl:k:x:")) != -1) {
		switch (code) {
		case 'w':
			order.gate = optarg;
			break;
		case 'n':
			order.count = optarg;
			break;
		case 'u':
			order.pause_us = (unsigned int)atoi(optarg);
			break;
		case 'c':
			order.has_child = true;
			break;
		case 'l':
			order.log = optarg;
			break;
		case 'k':
			order.signal_number = atoi(optarg);
			break;
		case 'x':
			order.code = atoi(optarg);
			break;
		default:
			exit(98);
		}
	}
}

int main(int argc, char **argv)
{
	static char few[] = "10";

	order.count = few;
	read_options(argc, argv);
	while (order.gate && access(order.gate, F_OK) != 0)
		usleep(1000);
	if (order.log)
		trace_self();
	record();
	if (order.has_child)
		start_child();
	if (order.signal_number)
		raise(order.signal_number);
	return order.code;
}
