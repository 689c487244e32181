/* SPDX-License-Identifier: MIT */
/*
 * switches [ROUNDS]: measures what scheduling records cost the traced program.  A child lets two threads on one CPU
 * take turns through two pipes.  In each round it does so alone, and while this process records its switches; first
 * with a thread that begins later than the recording, then with one that began before; then a loop without switches,
 * alone and recorded.  The unit is CPU time of the child, so other programs disturb little.  The output is the median
 * over the rounds, with the least and the greatest.
 */
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <sched.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <trace.h>
#include <trace_ext.h>
#include <unistd.h>

#define ROUNDS 15
#define ROUNDS_MAX 1000
#define TURNS 20000
#define LOOPS 20000000

struct pipes {
	int there[2], back[2];
};

static struct pipes of_new, of_old; /* between the threads of the child */
static int ask[2], answer[2]; /* between this process and the child */

static _Noreturn void fail(const char *what, int error)
{
	fprintf(stderr, "switches: %s: %s\n", what, strerror(error));
	exit(1);
}

static void check(const char *what, int error)
{
	if (error)
		fail(what, error);
}

static void use_cpu(size_t number)
{
	cpu_set_t set;

	CPU_ZERO(&set);
	CPU_SET(number, &set);
	sched_setaffinity(0, sizeof(set), &set);
}

static int64_t cpu_ns(void)
{
	struct timespec now;

	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
	return now.tv_sec * INT64_C(1000000000) + now.tv_nsec;
}

static void pass(int from, int to)
{
	char byte;

	if (read(from, &byte, 1) != 1 || write(to, &byte, 1) != 1)
		exit(1);
}

static void *echo(void *unused)
{
	for (int i = 0; i < TURNS; i++)
		pass(of_new.there[0], of_new.back[1]);
	return unused;
}

static void *echo_always(void *unused)
{
	while (true)
		pass(of_old.there[0], of_old.back[1]);
	return unused;
}

static double take_turns(const struct pipes *with)
{
	int64_t begin = cpu_ns();
	char byte = 0;

	for (int i = 0; i < TURNS; i++)
		if (write(with->there[1], &byte, 1) != 1 || read(with->back[0], &byte, 1) != 1)
			exit(1);
	return (double)(cpu_ns() - begin) / (2 * TURNS);
}

/* The second thread inherits the events of the first one, as in a program that was started by a recorder. */
static double turns_ns(void)
{
	pthread_t thread;
	double ns;

	if (pthread_create(&thread, NULL, echo, NULL) != 0)
		exit(1);
	ns = take_turns(&of_new);
	pthread_join(thread, NULL);
	return ns;
}

static double loops_ns(void)
{
	int64_t begin = cpu_ns();

	for (volatile int i = 0; i < LOOPS; i++)
		;
	return (double)(cpu_ns() - begin) / LOOPS;
}

static void serve(void)
{
	pthread_t old;
	char what;

	use_cpu(0);
	if (pthread_create(&old, NULL, echo_always, NULL) != 0)
		exit(1);
	while (read(ask[0], &what, 1) == 1) {
		double ns = what == 's' ? turns_ns() : what == 'a' ? take_turns(&of_old) : loops_ns();

		if (write(answer[1], &ns, sizeof(ns)) != sizeof(ns))
			exit(1);
	}
	exit(0);
}

static double measure(char what)
{
	double ns;

	if (write(ask[1], &what, 1) != 1 || read(answer[0], &ns, sizeof(ns)) != sizeof(ns))
		fail("the child", EPIPE);
	return ns;
}

static double measure_recorded(pid_t child, char what)
{
	char path[] = "/tmp/switches-XXXXXX";
	int error, fd = mkostemp(path, O_CLOEXEC);
	trace_attr_t attr;
	trace_id_t trace;
	double ns;

	if (fd < 0)
		fail(path, errno);
	unlink(path);
	check("attributes", posix_trace_attr_init(&attr));
	check("sched", txtrace_attr_setsched(&attr, 1));
	check("log policy", posix_trace_attr_setlogfullpolicy(&attr, POSIX_TRACE_APPEND));
	check("stream policy", posix_trace_attr_setstreamfullpolicy(&attr, POSIX_TRACE_FLUSH));
	check("create", posix_trace_create_withlog(child, &attr, fd, &trace));
	check("error", txtrace_get_sched_error(trace, &error));
	check("the kernel refuses scheduling records", error);
	check("start", posix_trace_start(trace));
	ns = measure(what);
	check("shutdown", posix_trace_shutdown(trace));
	return ns;
}

static int compare(const void *a, const void *b)
{
	double first = *(const double *)a, second = *(const double *)b;

	return (first > second) - (first < second);
}

static void print_row(const char *name, double *values, int nr, const char *unit)
{
	qsort(values, (size_t)nr, sizeof(*values), compare);
	printf("%-36s %9.3f %9.3f %9.3f %s\n", name, values[nr / 2], values[0], values[nr - 1], unit);
}

static void run(pid_t child, char what, const char *name, int nr_rounds)
{
	static double bare[ROUNDS_MAX], recorded[ROUNDS_MAX], more[ROUNDS_MAX];
	char text[64];

	for (int i = 0; i < nr_rounds; i++) {
		bare[i] = measure(what);
		recorded[i] = measure_recorded(child, what);
		more[i] = 100 * (recorded[i] / bare[i] - 1);
	}
	snprintf(text, sizeof(text), "%s", name);
	print_row(text, bare, nr_rounds, "ns");
	snprintf(text, sizeof(text), "%s, recorded", name);
	print_row(text, recorded, nr_rounds, "ns");
	snprintf(text, sizeof(text), "%s, recorded: more", name);
	print_row(text, more, nr_rounds, "%");
}

int main(int argc, char **argv)
{
	int nr_rounds = argc > 1 ? atoi(argv[1]) : ROUNDS;
	pid_t child;

	if (nr_rounds < 1 || nr_rounds > ROUNDS_MAX) {
		fprintf(stderr, "usage: switches [ROUNDS]\n");
		return 2;
	}
	if (pipe(of_new.there) != 0 || pipe(of_new.back) != 0 || pipe(of_old.there) != 0 || pipe(of_old.back) != 0 ||
	    pipe(ask) != 0 || pipe(answer) != 0)
		fail("pipe", errno);
	child = fork();
	if (child < 0)
		fail("fork", errno);
	if (child == 0) {
		close(ask[1]);
		serve();
	}
	use_cpu(1);
	printf("%-36s %9s %9s %9s\n", "", "median", "least", "greatest");
	run(child, 's', "switch", nr_rounds);
	run(child, 'a', "switch of older threads", nr_rounds);
	run(child, 'l', "step of a loop without switches", nr_rounds);
	close(ask[1]);
	waitpid(child, NULL, 0);
	return 0;
}
