/* SPDX-License-Identifier: MIT */
/*
 * stacks: measures what it takes to find the callers of a call that waited (trace/unwind.h): with frame pointers and
 * without, on the usual stack of a thread and on another one.  For comparison, it measures a sleep of 20 us, which is
 * the shortest wait that has a stack by default.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <trace.h>
#include <ucontext.h>
#include <unistd.h>

#include "trace/unwind.h"

#define ROUNDS 200
#define CALLS 1000
#define WITH_FP __attribute__((noinline, noclone, optimize("no-omit-frame-pointer")))
#define WITHOUT_FP __attribute__((noinline, noclone, optimize("omit-frame-pointer")))

static unsigned int depth;
static double best_ns;
static unsigned int nr_frames;

static double now_ns(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (double)now.tv_sec * 1e9 + (double)now.tv_nsec;
}

/* The best round: the machine may do something else in the others. */
__attribute__((noinline)) static void measure(void)
{
	void *caller = __builtin_return_address(0);
	uint64_t frame[PX_UNWIND_DEPTH];
	enum px_unwind_end end;

	best_ns = 1e12;
	for (int i = 0; i < ROUNDS; i++) {
		double begin = now_ns(), ns;

		for (int k = 0; k < CALLS; k++)
			nr_frames = px_unwind((uintptr_t)caller, frame, &end);
		ns = (now_ns() - begin) / CALLS;
		if (ns < best_ns)
			best_ns = ns;
	}
}

WITH_FP static int with_fp(unsigned int n)
{
	if (n == 0)
		measure();
	else
		with_fp(n - 1);
	__asm__ __volatile__("" ::: "memory");
	return 0;
}

WITHOUT_FP static int without_fp(unsigned int n)
{
	if (n == 0)
		measure();
	else
		without_fp(n - 1);
	__asm__ __volatile__("" ::: "memory");
	return 0;
}

static ucontext_t here, there;

static void on_other_stack(void)
{
	with_fp(depth);
}

static double bare_sleep_ns(void)
{
	double begin = now_ns();

	for (int i = 0; i < CALLS; i++)
		usleep(20);
	return (now_ns() - begin) / CALLS;
}

int main(void)
{
	static char memory[65536];
	double sleep_ns = bare_sleep_ns();
	trace_event_id_t type;
	trace_id_t stream;

	/* An event registers the thread, and notes where its stack is. */
	if (posix_trace_eventid_open("bench", &type) != 0 || posix_trace_create(0, NULL, &stream) != 0 ||
	    posix_trace_start(stream) != 0)
		return 1;
	posix_trace_event(type, NULL, 0);
	printf("a sleep of 20 us takes %.0f ns\n%-24s %7s %9s %16s\n", sleep_ns, "", "frames", "ns", "of the sleep");
	for (depth = 1; depth <= 32; depth = depth == 1 ? 8 : 2 * depth) {
		with_fp(depth - 1);
		printf("%-24s %7u %9.0f %15.2f%%\n", "frame pointers", nr_frames, best_ns, 100 * best_ns / sleep_ns);
		without_fp(depth - 1);
		printf("%-24s %7u %9.0f %15.2f%%\n", "none", nr_frames, best_ns, 100 * best_ns / sleep_ns);
	}
	depth = 13;
	getcontext(&there);
	there.uc_stack.ss_sp = memory;
	there.uc_stack.ss_size = sizeof(memory);
	there.uc_link = &here;
	makecontext(&there, on_other_stack, 0);
	swapcontext(&here, &there);
	printf("%-24s %7u %9.0f %15.2f%%\n", "stack of a coroutine", nr_frames, best_ns, 100 * best_ns / sleep_ns);
	return posix_trace_shutdown(stream);
}
