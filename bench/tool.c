/* SPDX-License-Identifier: MIT */
/*
 * tool TXTRACE [DIRECTORY]: measures how fast commands of the tool read a log, and whether their memory grows with it.
 *
 * The program writes two logs to the directory (default: /dev/shm), one four times as large as the other.  Events have
 * 16 bytes of data.  Each command reads each log ROUNDS times, with its output to /dev/null.  The best round counts,
 * because other load only makes a round slower.  The rates are those of the larger log: events per second of wall time,
 * and per second of the command's CPU time.  The memory is the largest resident set for the smaller log, and how much
 * more the larger log needs.
 */
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>
#include <trace.h>
#include <trace_ext.h>
#include <unistd.h>

#define ROUNDS 5
#define SMALL_EVENTS 1000000
#define LARGE_EVENTS (4 * SMALL_EVENTS)
#define RING_BYTES ((size_t)32 << 20)
#define FLUSH_EVENTS 65536

static char small_path[4096], large_path[4096];

static _Noreturn void fail(const char *what, int error)
{
	fprintf(stderr, "tool: %s: %s\n", what, strerror(error));
	unlink(small_path);
	unlink(large_path);
	exit(1);
}

static void check(const char *what, int error)
{
	if (error)
		fail(what, error);
}

/* Flush before the stream is full, so that no event is lost. */
static void make_log(const char *path, int64_t nr_events)
{
	int fd = open(path, O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
	trace_event_id_t ids[4];
	trace_attr_t attr;
	trace_id_t trace;

	check(path, fd < 0 ? errno : 0);
	check("attr_init", posix_trace_attr_init(&attr));
	check("setlogfullpolicy", posix_trace_attr_setlogfullpolicy(&attr, POSIX_TRACE_APPEND));
	check("setstreamsize", posix_trace_attr_setstreamsize(&attr, RING_BYTES));
	check("create_withlog", posix_trace_create_withlog(0, &attr, fd, &trace));
	check("eventid_open", posix_trace_eventid_open("work_begin", &ids[0]));
	check("eventid_open", posix_trace_eventid_open("work_step", &ids[1]));
	check("eventid_open", posix_trace_eventid_open("work_check", &ids[2]));
	check("eventid_open", posix_trace_eventid_open("work_end", &ids[3]));
	check("start", posix_trace_start(trace));
	for (int64_t i = 0; i < nr_events; i++) {
		int64_t data[2] = {i, nr_events};

		posix_trace_event(ids[i % 4], data, sizeof(data));
		if (i % FLUSH_EVENTS == FLUSH_EVENTS - 1)
			check("flush", posix_trace_flush(trace));
	}
	check("shutdown", posix_trace_shutdown(trace));
	posix_trace_attr_destroy(&attr);
	close(fd);
}

struct cost {
	double wall_s, cpu_s;
	long memory_kib;
};

static double seconds_since(const struct timespec *begin)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (double)(now.tv_sec - begin->tv_sec) + (double)(now.tv_nsec - begin->tv_nsec) * 1e-9;
}

static struct cost run(char *const *command)
{
	struct timespec begin;
	struct rusage usage;
	struct cost cost;
	pid_t child;
	int status;

	clock_gettime(CLOCK_MONOTONIC, &begin);
	child = fork();
	if (child == 0) {
		int null = open("/dev/null", O_WRONLY);

		dup2(null, STDOUT_FILENO);
		dup2(null, STDERR_FILENO);
		execv(command[0], command);
		_exit(127);
	}
	if (child < 0 || wait4(child, &status, 0, &usage) != child)
		fail("fork", errno);
	if (!WIFEXITED(status) || WEXITSTATUS(status) != 0)
		fail(command[1], ECANCELED);
	cost.wall_s = seconds_since(&begin);
	cost.cpu_s = (double)(usage.ru_utime.tv_sec + usage.ru_stime.tv_sec) +
		     (double)(usage.ru_utime.tv_usec + usage.ru_stime.tv_usec) * 1e-6;
	cost.memory_kib = usage.ru_maxrss;
	return cost;
}

static struct cost best_of(char *const *command)
{
	struct cost best = run(command);

	for (int i = 1; i < ROUNDS; i++) {
		struct cost cost = run(command);

		best.wall_s = cost.wall_s < best.wall_s ? cost.wall_s : best.wall_s;
		best.cpu_s = cost.cpu_s < best.cpu_s ? cost.cpu_s : best.cpu_s;
		best.memory_kib = cost.memory_kib > best.memory_kib ? cost.memory_kib :
								      best.memory_kib;
	}
	return best;
}

/* arguments: the words after the name of the tool; the log is appended. */
static void measure(const char *tool, const char *arguments)
{
	char text[256], *command[16], *save = NULL;
	struct cost small, large;
	int n = 0;

	snprintf(text, sizeof(text), "%s", arguments);
	command[n++] = (char *)tool;
	for (char *word = strtok_r(text, " ", &save); word; word = strtok_r(NULL, " ", &save))
		command[n++] = word;
	command[n + 1] = NULL;
	command[n] = small_path;
	small = best_of(command);
	command[n] = large_path;
	large = best_of(command);
	printf("%-28s  %8.2f  %8.2f  %8ld  %8ld\n", arguments, LARGE_EVENTS / large.wall_s * 1e-6,
	       LARGE_EVENTS / large.cpu_s * 1e-6, small.memory_kib,
	       large.memory_kib - small.memory_kib);
	fflush(stdout);
}

int main(int argc, char **argv)
{
	const char *directory = argc > 2 ? argv[2] : "/dev/shm";
	static const char *const commands[] = {
		"info",
		"print",
		"print --format csv",
		"print --format jsonl",
#if HAVE_PERFETTO
		"export --to perfetto -o -",
#endif
		"export --to chrome -o -",
	};

	if (argc < 2) {
		fprintf(stderr, "usage: tool TXTRACE [DIRECTORY]\n");
		return 2;
	}
	snprintf(small_path, sizeof(small_path), "%s/posixtrace-bench-%d-1.trx", directory,
		 (int)getpid());
	snprintf(large_path, sizeof(large_path), "%s/posixtrace-bench-%d-4.trx", directory,
		 (int)getpid());
	make_log(small_path, SMALL_EVENTS);
	make_log(large_path, LARGE_EVENTS);
	printf("%d events; rates in million events per second; memory in KiB for %d events, and "
	       "growth\n\n",
	       LARGE_EVENTS, SMALL_EVENTS);
	printf("%-28s  %8s  %8s  %8s  %8s\n", "txtrace", "wall", "CPU", "memory", "growth");
	for (size_t i = 0; i < sizeof(commands) / sizeof(commands[0]); i++)
		measure(argv[1], commands[i]);
	unlink(small_path);
	unlink(large_path);
	return 0;
}
