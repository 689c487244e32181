/* SPDX-License-Identifier: MIT */
/*
 * instructions LIBRARY [--list CASE]: counts the instructions of an event, exactly.
 *
 * A child makes one call between two traps.  This process lets it execute one instruction at a time, and counts them.
 * The figure does not depend on the load of the machine, and needs no counters of the processor.  LIBRARY is the
 * preloaded object, for the wrappers.
 *
 * The child is the only thread that writes to the ring, so nothing can disturb its restartable sequences (stepper.h).
 *
 * Each case is measured three times: in the ring of a CPU; in a stream that has one shared ring; and in the shared ring
 * that a thread without rseq area uses.  With --list, the addresses of the instructions are printed, as a file and an
 * offset in it.
 */
#include <errno.h>
#include <link.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ptrace.h>
#include <sys/wait.h>
#include <unistd.h>

#include <trace.h>
#include <trace_ext.h>

#include "support/stepper.h"

#if PX_HAS_STEPPER
#include <sys/rseq.h>

#define WARM_UP 3000 /* events: more than are needed until nothing happens for the first time */
#define STREAM_BYTES (1 << 20)
#define TUNABLES "GLIBC_TUNABLES"
#define WITHOUT_RSEQ "glibc.pthread.rseq=0"

static trace_event_id_t id;
static unsigned int nr_rings; /* 0: one for each CPU */
static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static unsigned char data[256];

static void event_0(void)
{
	posix_trace_event(id, data, 0);
}

static void event_16(void)
{
	posix_trace_event(id, data, 16);
}

static void event_64(void)
{
	posix_trace_event(id, data, 64);
}

static void event_256(void)
{
	posix_trace_event(id, data, 256);
}

static void mutex_pair(void)
{
	pthread_mutex_lock(&mutex);
	pthread_mutex_unlock(&mutex);
}

static const struct {
	const char *name;
	unsigned int nr_streams;
	void (*call)(void);
} cases[] = {
	{"event-0", 1, event_0},      {"event-16", 1, event_16},    {"event-64", 1, event_64},
	{"event-256", 1, event_256},  {"two-streams", 2, event_16}, {"off", 0, event_16},
	{"mutex pair", 1, mutex_pair}, {"mutex pair, off", 0, mutex_pair},
};

#define NR_CASES (sizeof(cases) / sizeof(cases[0]))

static __attribute__((noreturn)) void fail(const char *what)
{
	fprintf(stderr, "instructions: %s: %s\n", what, strerror(errno));
	exit(1);
}

static int begin_stream(void)
{
	trace_attr_t attr;
	trace_id_t stream;
	int error = posix_trace_attr_init(&attr);

	if (!error)
		error = posix_trace_attr_setstreamsize(&attr, STREAM_BYTES);
	if (!error)
		error = posix_trace_attr_setstreamfullpolicy(&attr, POSIX_TRACE_LOOP);
	if (!error && nr_rings != 0)
		error = txtrace_attr_setrings(&attr, nr_rings);
	if (!error)
		error = posix_trace_create(0, &attr, &stream);
	return error ? error : posix_trace_start(stream);
}

/* The child.  A wrapper measures its own cost in one of 251 calls, so the count of calls is not a multiple of it. */
static __attribute__((noreturn)) void make_call(size_t i)
{
	errno = posix_trace_eventid_open("instructions", &id);
	for (unsigned int k = 0; k < cases[i].nr_streams && errno == 0; k++)
		errno = begin_stream();
	if (errno != 0 || ptrace(PTRACE_TRACEME, 0, NULL, NULL) != 0)
		fail(cases[i].name);
	for (int n = 0; n < WARM_UP; n++)
		cases[i].call();
	px_stepper_trap();
	cases[i].call();
	px_stepper_trap();
	_exit(0);
}

/* This process. */

static bool is_listed;
static const char *list;

static int print_place(struct dl_phdr_info *info, size_t size, void *address)
{
	uintptr_t at = (uintptr_t)address;

	(void)size;
	for (int i = 0; i < info->dlpi_phnum; i++) {
		const ElfW(Phdr) *segment = &info->dlpi_phdr[i];

		if (segment->p_type != PT_LOAD || at - (info->dlpi_addr + segment->p_vaddr) >= segment->p_memsz)
			continue;
		printf("%s 0x%lx\n", info->dlpi_name, (unsigned long)(at - info->dlpi_addr));
		return 1;
	}
	return 0;
}

/* Count the call of the function, and its return, too.  Do not count what calls it between the traps. */
static unsigned int count(size_t i)
{
	struct px_stepper_place place;
	unsigned int nr = 0;
	pid_t child;

	fflush(stdout);
	child = fork();
	if (child < 0)
		fail("fork");
	if (child == 0)
		make_call(i);
	if (!px_stepper_begin(child))
		fail("the child");
	for (;;) {
		if (!px_stepper_look(child, &place))
			fail("look");
		if (place.is_trap)
			break;
		if (is_listed)
			dl_iterate_phdr(print_place, (void *)(uintptr_t)place.address);
		if (!px_stepper_step(child, &nr))
			fail("step");
	}
	kill(child, SIGKILL);
	waitpid(child, NULL, 0);
	return nr;
}

/* Restart this program with these variables: they have an effect only when a program begins. */
static void restart(char **argv, const char *tunables)
{
	const char *now = getenv(TUNABLES);

	if (getenv("LD_PRELOAD") && now && strcmp(now, tunables) == 0)
		return;
	setenv("LD_PRELOAD", argv[1], 1);
	setenv(TUNABLES, tunables, 1);
	execv("/proc/self/exe", argv);
	fail("exec");
}

static void count_all(const char *ring)
{
	for (size_t i = 0; i < NR_CASES; i++) {
		is_listed = list && strcmp(list, cases[i].name) == 0;
		if (!list)
			printf("%-12s  %-16s  %6u\n", ring, cases[i].name, count(i));
		else if (is_listed)
			count(i);
	}
	fflush(stdout);
}

/* On another CPU, a sequence would begin again. */
static void stay_on_this_cpu(void)
{
	cpu_set_t one;

	CPU_ZERO(&one);
	CPU_SET((size_t)sched_getcpu(), &one);
	if (sched_setaffinity(0, sizeof(one), &one) != 0)
		fail("affinity");
}

int main(int argc, char **argv)
{
	const char *tunables = getenv(TUNABLES);

	stay_on_this_cpu();
	if (argc < 2) {
		fprintf(stderr, "usage: instructions LIBRARY [--list CASE]\n");
		return 2;
	}
	if (!tunables)
		restart(argv, "");
	if (argc == 4 && strcmp(argv[2], "--list") == 0)
		list = argv[3];
	if (__rseq_size == 0) {
		count_all("no rseq");
		return 0;
	}
	count_all("own ring");
	nr_rings = 1;
	count_all("one ring");
	restart(argv, WITHOUT_RSEQ);
}

#else

int main(void)
{
	printf("instructions: SKIP: this needs x86-64 or aarch64, and glibc 2.35\n");
	return 0;
}

#endif
