/* SPDX-License-Identifier: MIT */
/*
 * processes [ROUNDS] [EMPTY]: measures tracing across processes.  EMPTY is a program that does nothing; the default is
 * bench/empty.
 *
 * The cases alternate within each round, on one CPU.  Ratios and differences are taken within a round.  The output is
 * the median over the rounds, with the least and the greatest.
 */
#include <dlfcn.h>
#include <errno.h>
#include <math.h>
#include <sched.h>
#include <signal.h>
#include <spawn.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <time.h>
#include <trace.h>
#include <trace_ext.h>
#include <unistd.h>

#include "floor.h"

#define ROUNDS 21
#define ROUNDS_MAX 1000
#define BATCH 2000
#define BATCHES 25
#define STREAM_BYTES ((size_t)1 << 20)
#define LAP 20000 /* events, more than a ring holds */
#define FORKS 20  /* in a round; also the number of programs */
#define NS 1000000000

static trace_event_id_t event_id;
static const char *empty_program = "bench/empty";
static unsigned int nr_rounds = ROUNDS;

static _Noreturn void fail(const char *what, int error)
{
	fprintf(stderr, "processes: %s: %s\n", what, strerror(error));
	exit(1);
}

static void check(const char *what, int error)
{
	if (error)
		fail(what, error);
}

static uint64_t now_of(clockid_t clock)
{
	struct timespec now;

	clock_gettime(clock, &now);
	return (uint64_t)now.tv_sec * NS + (uint64_t)now.tv_nsec;
}

static uint64_t now_ns(void)
{
	return now_of(CLOCK_MONOTONIC);
}

static void nap(long ns)
{
	struct timespec length = {0, ns};

	nanosleep(&length, NULL);
}

/* Figures. */

static int compare(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;

	return (x > y) - (x < y);
}

/* Sorts the array. */
static double median(double *figure, size_t n)
{
	qsort(figure, n, sizeof(*figure), compare);
	return n % 2 ? figure[n / 2] : (figure[n / 2 - 1] + figure[n / 2]) / 2;
}

/* One figure per round. */
struct series {
	double round[ROUNDS_MAX];
};

static void print_series(const char *what, const struct series *series, int digits)
{
	double figure[ROUNDS_MAX], middle;

	memcpy(figure, series->round, sizeof(figure));
	middle = median(figure, nr_rounds);
	printf("  %-58s %9.*f  (%.*f to %.*f)\n", what, digits, middle, digits, figure[0], digits,
	       figure[nr_rounds - 1]);
}

static void print_ratio(const char *what, const struct series *a, const struct series *b)
{
	struct series ratio;

	for (unsigned int i = 0; i < nr_rounds; i++)
		ratio.round[i] = a->round[i] / b->round[i];
	print_series(what, &ratio, 2);
}

static void print_difference(const char *what, const struct series *a, const struct series *b,
			     int digits)
{
	struct series difference;

	for (unsigned int i = 0; i < nr_rounds; i++)
		difference.round[i] = a->round[i] - b->round[i];
	print_series(what, &difference, digits);
}

/* Streams and CPUs. */

static trace_id_t create(pid_t pid, bool inherited)
{
	trace_attr_t attr;
	trace_id_t trid;

	posix_trace_attr_init(&attr);
	posix_trace_attr_setstreamsize(&attr, STREAM_BYTES);
	posix_trace_attr_setstreamfullpolicy(&attr, POSIX_TRACE_LOOP);
	if (inherited)
		posix_trace_attr_setinherited(&attr, POSIX_TRACE_INHERITED);
	check("posix_trace_create", posix_trace_create(pid, &attr, &trid));
	return trid;
}

static void shut_down(trace_id_t trid)
{
	check("posix_trace_shutdown", posix_trace_shutdown(trid));
}

/* Run only on the nth CPU of those that this process may use, modulo their number. */
static void pin(int n)
{
	static cpu_set_t all;
	cpu_set_t one;

	if (CPU_COUNT(&all) == 0)
		sched_getaffinity(0, sizeof(all), &all);
	n %= CPU_COUNT(&all);
	CPU_ZERO(&one);
	for (int cpu = 0; cpu < CPU_SETSIZE; cpu++)
		if (CPU_ISSET(cpu, &all) && n-- == 0)
			CPU_SET(cpu, &one);
	sched_setaffinity(0, sizeof(one), &one);
}

/* The cost of one trace point, in ns. */

static double time_events(void)
{
	unsigned char data[16] = {0};
	double batch[BATCHES];

	for (int i = -1; i < BATCHES; i++) {
		uint64_t begin = now_ns();

		for (int k = 0; k < BATCH; k++)
			(posix_trace_event)(event_id, data, sizeof(data));
		if (i >= 0)
			batch[i] = (double)(now_ns() - begin) / BATCH;
	}
	return median(batch, BATCHES);
}

static double time_macro(void)
{
	double batch[BATCHES];

	for (int i = -1; i < BATCHES; i++) {
		uint64_t begin = now_ns();

		for (int k = 0; k < BATCH; k++) {
			posix_trace_event(event_id, NULL, 0);
			__asm__ __volatile__("" : : "r"(k) : "memory");
		}
		if (i >= 0)
			batch[i] = (double)(now_ns() - begin) / BATCH;
	}
	return median(batch, BATCHES);
}

static void trace_a_lap(void)
{
	unsigned char data[16] = {0};

	for (int i = 0; i < LAP; i++)
		(posix_trace_event)(event_id, data, sizeof(data));
}

/* A child that measures on request, until the other end of its pipe is closed. */
struct child {
	pid_t pid;
	int question, answer;
};

static _Noreturn void answer(int question, int answers)
{
	char byte;

	check("posix_trace_eventid_open", posix_trace_eventid_open("bench", &event_id));
	trace_a_lap();
	while (read(question, &byte, 1) == 1) {
		double ns = time_events();

		if (write(answers, &ns, sizeof(ns)) != sizeof(ns))
			break;
	}
	_exit(0);
}

static struct child begin_child(bool spawned)
{
	int to[2], from[2];
	char question[16], answers[16], self[] = "/proc/self/exe", role[] = "--child";
	char *arguments[] = {self, role, question, answers, NULL};
	struct child child = {.pid = 0};

	if (pipe(to) != 0 || pipe(from) != 0)
		fail("pipe", errno);
	snprintf(question, sizeof(question), "%d", to[0]);
	snprintf(answers, sizeof(answers), "%d", from[1]);
	if (spawned)
		check("posix_spawn", posix_spawn(&child.pid, self, NULL, NULL, arguments, environ));
	else
		child.pid = fork();
	if (child.pid == 0) {
		close(to[1]);
		answer(to[0], from[1]);
	}
	close(to[0]);
	close(from[1]);
	child.question = to[1];
	child.answer = from[0];
	return child;
}

static double ask(const struct child *child)
{
	double ns;

	if (write(child->question, "", 1) != 1 ||
	    read(child->answer, &ns, sizeof(ns)) != sizeof(ns))
		fail("child", EPIPE);
	return ns;
}

static void end_child(const struct child *child)
{
	kill(child->pid, SIGKILL);
	close(child->question);
	close(child->answer);
	waitpid(child->pid, NULL, 0);
}

static void measure_inherited(void)
{
	static struct series parent, forked, spawned;
	trace_id_t trid = create(0, true);
	struct child children[2];

	check("posix_trace_start", posix_trace_start(trid));
	trace_a_lap();
	children[0] = begin_child(false);
	children[1] = begin_child(true);
	for (unsigned int i = 0; i < nr_rounds; i++) {
		parent.round[i] = time_events();
		forked.round[i] = ask(&children[0]);
		spawned.round[i] = ask(&children[1]);
	}
	end_child(&children[0]);
	end_child(&children[1]);
	shut_down(trid);
	printf("A trace point of 16 bytes in an inherited stream, ns\n");
	print_series("in its target", &parent, 1);
	print_series("in a child by fork", &forked, 1);
	print_series("in a child by posix_spawn", &spawned, 1);
	print_ratio("fork / target", &forked, &parent);
	print_ratio("posix_spawn / target", &spawned, &parent);
}

/* Measure a process that is not traced, without any stream and while another process is traced. */
static void measure_off(void)
{
	static struct series none, other, macro_none, macro_other;
	pid_t target = fork();

	if (target == 0)
		for (;;)
			pause();
	for (unsigned int i = 0; i < nr_rounds; i++) {
		trace_id_t trid;

		none.round[i] = time_events();
		macro_none.round[i] = time_macro();
		trid = create(target, true);
		check("posix_trace_start", posix_trace_start(trid));
		other.round[i] = time_events();
		macro_other.round[i] = time_macro();
		shut_down(trid);
	}
	kill(target, SIGKILL);
	waitpid(target, NULL, 0);
	printf("A trace point in a process that is not traced, ns\n");
	print_series("function, no stream anywhere", &none, 2);
	print_series("function, another process is traced", &other, 2);
	print_difference("difference", &other, &none, 2);
	print_series("macro, no stream anywhere", &macro_none, 2);
	print_series("macro, another process is traced", &macro_other, 2);
	print_difference("difference", &macro_other, &macro_none, 2);
}

/* A busy target. */

static struct target {
	pid_t pid;
	uint64_t nr_calls;
	uint64_t longest_ns; /* the longest call */
} * target;

static _Noreturn void be_busy(void)
{
	check("posix_trace_eventid_open", posix_trace_eventid_open("bench", &event_id));
	for (;;) {
		uint64_t begin = now_ns(), taken;

		posix_trace_event(event_id, NULL, 0);
		taken = now_ns() - begin;
		if (taken > __atomic_load_n(&target->longest_ns, __ATOMIC_RELAXED))
			__atomic_store_n(&target->longest_ns, taken, __ATOMIC_RELAXED);
		__atomic_fetch_add(&target->nr_calls, 1, __ATOMIC_RELEASE);
	}
}

/* Wait until the target has made further calls, so that it has seen all earlier changes. */
static void await_target(void)
{
	uint64_t before = __atomic_load_n(&target->nr_calls, __ATOMIC_ACQUIRE);

	while (__atomic_load_n(&target->nr_calls, __ATOMIC_ACQUIRE) < before + 100)
		nap(100000);
}

/* The time in us from the call of start to the time stamp of the target's first event. */
static double time_start(trace_id_t trid)
{
	struct posix_trace_event_info info;
	uint64_t begin = now_of(CLOCK_REALTIME);
	char data[512];
	size_t length;
	int none;

	check("posix_trace_start", posix_trace_start(trid));
	do
		check("posix_trace_getnext_event",
		      posix_trace_getnext_event(trid, &info, data, sizeof(data), &length, &none));
	while (info.posix_pid != target->pid ||
	       info.posix_event_id < POSIX_TRACE_UNNAMED_USEREVENT);
	return ((double)info.posix_timestamp.tv_sec * NS + (double)info.posix_timestamp.tv_nsec -
		(double)begin) /
	       1e3;
}

static void measure_start(void)
{
	static struct series attached, fresh, creating, creating_inherited, attaching;
	pid_t child;

	target = mmap(NULL, sizeof(*target), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1,
		      0);
	child = fork();
	if (child == 0) {
		pin(1);
		be_busy();
	}
	target->pid = child; /* in shared memory, so only the parent writes it */
	await_target();
	for (unsigned int i = 0; i < nr_rounds; i++) {
		uint64_t begin;
		trace_id_t trid;

		__atomic_store_n(&target->longest_ns, 0, __ATOMIC_RELAXED);
		begin = now_ns();
		trid = create(target->pid, false);
		creating.round[i] = (double)(now_ns() - begin) / 1e3;
		await_target();
		attaching.round[i] =
			(double)__atomic_load_n(&target->longest_ns, __ATOMIC_RELAXED) / 1e3;
		attached.round[i] = time_start(trid);
		shut_down(trid);
		await_target();
		begin = now_ns();
		trid = create(target->pid, true);
		creating_inherited.round[i] = (double)(now_ns() - begin) / 1e3;
		fresh.round[i] = time_start(trid);
		shut_down(trid);
		await_target();
	}
	kill(target->pid, SIGKILL);
	waitpid(target->pid, NULL, 0);
	printf("Tracing another process that runs trace points all the time, us\n");
	print_series("posix_trace_create(), 1 MiB a ring", &creating, 1);
	print_series("the same, inherited: it waits for a clock tick", &creating_inherited, 1);
	print_series("the target's longest trace point, in which it attaches", &attaching, 1);
	print_series("posix_trace_start() to first event, target attached before", &attached, 1);
	print_series("the same, directly after create", &fresh, 1);
}

/* fork. */

static double time_fork(double *whole)
{
	double returned[FORKS], ended[FORKS];

	for (int i = 0; i < FORKS; i++) {
		uint64_t begin = now_ns();
		pid_t child = fork();

		if (child == 0)
			_exit(0);
		returned[i] = (double)(now_ns() - begin) / 1e3;
		waitpid(child, NULL, 0);
		ended[i] = (double)(now_ns() - begin) / 1e3;
	}
	*whole = median(ended, FORKS);
	return median(returned, FORKS);
}

static void measure_fork(void)
{
	static struct series fork_of[3], lifetime_of[3];

	for (unsigned int i = 0; i < nr_rounds; i++) {
		for (int inherited = -1; inherited < 2; inherited++) {
			int k = inherited + 1;
			trace_id_t trid = 0;

			if (inherited >= 0)
				trid = create(0, inherited);
			fork_of[k].round[i] = time_fork(&lifetime_of[k].round[i]);
			if (inherited >= 0)
				shut_down(trid);
		}
	}
	printf("fork, us\n");
	print_series("not traced", &fork_of[0], 1);
	print_series("traced, not inherited", &fork_of[1], 1);
	print_series("traced, inherited", &fork_of[2], 1);
	print_series("fork until the child, which only exits, ends: not traced", &lifetime_of[0],
		     1);
	print_series("traced, not inherited", &lifetime_of[1], 1);
	print_series("traced, inherited", &lifetime_of[2], 1);
	print_difference("the total cost of inheriting", &lifetime_of[2], &lifetime_of[0], 1);
}

/* Programs. */

static double time_program(const char *preloaded)
{
	char variable[512], *arguments[] = {(char *)empty_program, NULL};
	char *environment[] = {variable, NULL};
	double taken[FORKS];

	snprintf(variable, sizeof(variable), "LD_PRELOAD=%s", preloaded);
	for (int i = 0; i < FORKS; i++) {
		uint64_t begin = now_ns();
		pid_t child;
		int status;

		check(empty_program,
		      posix_spawn(&child, empty_program, NULL, NULL, arguments, environment));
		waitpid(child, &status, 0);
		taken[i] = (double)(now_ns() - begin) / 1e3;
		if (status != 0)
			fail(empty_program, ENOEXEC);
	}
	return median(taken, FORKS);
}

static const char *library_of(void *function)
{
	Dl_info info;

	if (dladdr(function, &info) == 0)
		fail("dladdr", ENOENT);
	return info.dli_fname;
}

static void measure_programs(void)
{
	static struct series alone, with_any, with_ours, while_traced;
	const char *ours = library_of((void *)(uintptr_t)posix_trace_create);
	const char *any = library_of((void *)(uintptr_t)bench_floor_empty);

	for (unsigned int i = 0; i < nr_rounds; i++) {
		trace_id_t trid;

		alone.round[i] = time_program("");
		with_any.round[i] = time_program(any);
		with_ours.round[i] = time_program(ours);
		trid = create(0, true);
		while_traced.round[i] = time_program(ours);
		shut_down(trid);
	}
	printf("A program that does nothing, from posix_spawn to its end, us\n");
	print_series("without the library", &alone, 1);
	print_series("with a library of two functions", &with_any, 1);
	print_series("with posixtrace, nothing is traced", &with_ours, 1);
	print_series("with posixtrace, in an inherited stream", &while_traced, 1);
	print_difference("posixtrace - library of two functions", &with_ours, &with_any, 1);
	print_difference("inherited - not traced", &while_traced, &with_ours, 1);
}

int main(int argc, char **argv)
{
	if (argc == 4 && strcmp(argv[1], "--child") == 0)
		answer(atoi(argv[2]), atoi(argv[3]));
	if (argc > 1)
		nr_rounds = (unsigned int)strtoul(argv[1], NULL, 10);
	if (argc > 2)
		empty_program = argv[2];
	if (argc > 3 || nr_rounds < 1 || nr_rounds > ROUNDS_MAX) {
		printf("usage: processes [ROUNDS] [EMPTY]\n");
		return 2;
	}
	setvbuf(stdout, NULL, _IOLBF, 0);
	pin(0);
	printf("Median of %u rounds (least to greatest)\n", nr_rounds);
	measure_start(); /* before this process opens an event type, so that its child opens its own */
	check("posix_trace_eventid_open", posix_trace_eventid_open("bench", &event_id));
	measure_inherited();
	measure_off();
	measure_fork();
	measure_programs();
	return 0;
}
