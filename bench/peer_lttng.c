/* SPDX-License-Identifier: MIT */
/*
 * Measures posix_trace_event() and a trace point of LTTng-UST in one program.  Each records 16
 * bytes, and they alternate every few milliseconds.  peers.sh builds this program and creates the
 * session that it needs.
 *
 *	peer_lttng ROUNDS
 *	peer_lttng --write N	record N events with LTTng-UST only, slowly enough to lose none
 */
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include <trace.h>

#define LTTNG_UST_TRACEPOINT_CREATE_PROBES
#define LTTNG_UST_TRACEPOINT_DEFINE
#include "peer_lttng.h"

#include "harness.h"

#define STREAM_BYTES (1 << 20) /* a ring of each CPU; the same size as in the LTTng session */
#define LAP 20000	       /* events, more than a ring of either tracer holds */

static trace_event_id_t event_id;
static unsigned char data[16];

static void run_ours(size_t n)
{
	while (n-- > 0)
		(posix_trace_event)(event_id, data, sizeof(data));
}

static void run_lttng(size_t n)
{
	while (n-- > 0)
		lttng_ust_tracepoint(posixtrace_peer, bytes16, data);
}

static struct harness_case cases[] = {
	{.name = "posix_trace_event()", .run = run_ours, .warm_up = LAP, .selected = true},
	{.name = "LTTng-UST", .run = run_lttng, .warm_up = LAP, .selected = true},
};

static int start_stream(void)
{
	trace_id_t trid;
	trace_attr_t attr;
	int error = posix_trace_attr_init(&attr);

	if (!error)
		error = posix_trace_attr_setstreamsize(&attr, STREAM_BYTES);
	if (!error)
		error = posix_trace_attr_setstreamfullpolicy(&attr, POSIX_TRACE_LOOP);
	if (!error)
		error = posix_trace_create(0, &attr, &trid);
	if (!error)
		error = posix_trace_start(trid);
	return error ? error : posix_trace_eventid_open("peer", &event_id);
}

static void print_row(const char *what, const struct harness_figure figure[HARNESS_MODES],
		      int digits)
{
	printf("%-32s", what);
	for (int mode = 0; mode < HARNESS_MODES; mode++)
		printf("  %7.*f %7.*f %7.*f", digits, figure[mode].median, digits, figure[mode].min,
		       digits, figure[mode].max);
	putchar('\n');
}

static void print_all(unsigned int nr_rounds)
{
	struct harness_figure figure[HARNESS_MODES];
	enum harness_mode mode;

	printf("%-32s  %23s  %19s (%u)\n", "16 bytes", "1 thread", "all CPUs at once",
	       harness_nr_cpus());
	printf("%-32s", "");
	printf("  %7s %7s %7s  %7s %7s %7s\n", "median", "min", "max", "median", "min", "max");
	for (size_t i = 0; i < 2; i++) {
		for (mode = HARNESS_ONE; mode < HARNESS_MODES; mode++)
			harness_figure(&cases[i], mode, &figure[mode]);
		print_row(i == 0 ? "posix_trace_event(), ns" : "LTTng-UST, ns", figure, 1);
	}
	for (mode = HARNESS_ONE; mode < HARNESS_MODES; mode++)
		harness_compare(&cases[1], mode, '/', &cases[0], mode, &figure[mode]);
	print_row("LTTng-UST / posix_trace_event()", figure, 2);
	printf("\nThe ratio is the median of the ratios of %u rounds.\n"
	       "Target: at least 8; goal: above 10.\n",
	       nr_rounds);
}

static bool is_recording(void)
{
	if (lttng_ust_tracepoint_enabled(posixtrace_peer, bytes16))
		return true;
	fprintf(stderr, "peer_lttng: no session records posixtrace_peer:bytes16\n");
	return false;
}

#define BURST 10000
#define PAUSE_NS 20000000

static int write_for_reader(size_t n)
{
	static const struct timespec pause = {0, PAUSE_NS};

	if (!is_recording())
		return 1;
	for (size_t done = 0; done < n; done += BURST) {
		run_lttng(n - done < BURST ? n - done : BURST);
		nanosleep(&pause, NULL);
	}
	return 0;
}

int main(int argc, char **argv)
{
	unsigned long nr_rounds = argc == 2 ? strtoul(argv[1], NULL, 10) : 0;
	int error;

	if (argc == 3 && strcmp(argv[1], "--write") == 0)
		return write_for_reader(strtoul(argv[2], NULL, 10));
	if (nr_rounds < 1 || nr_rounds > HARNESS_ROUNDS_MAX) {
		fprintf(stderr, "usage: peer_lttng ROUNDS (1 to %d)\n", HARNESS_ROUNDS_MAX);
		return 2;
	}
	if (!is_recording())
		return 1;
	error = start_stream();
	if (!error)
		error = harness_init();
	if (!error)
		error = harness_run(cases, sizeof(cases) / sizeof(cases[0]),
				    (unsigned int)nr_rounds);
	if (error) {
		fprintf(stderr, "peer_lttng: cannot measure: %s\n", strerror(error));
		return 1;
	}
	if (!is_recording()) /* still at the end */
		return 1;
	print_all((unsigned int)nr_rounds);
	return 0;
}
