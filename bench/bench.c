/* SPDX-License-Identifier: MIT */
/* Measures trace points and reading, and for comparison the operations that they consist of. */
#include <fnmatch.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <trace.h>
#include <trace_ext.h>

#include "floor.h"
#include "harness.h"
#include "loop.h"

#define STREAM_BYTES (1 << 20) /* a ring */
#define ROUNDS 15
#define ROUNDS_QUICK 7
#define NEW_NAMES 900 /* for all rounds: a process can open TRACE_USER_EVENT_MAX */
#define READ_BATCHES 14

static trace_event_id_t event_id;
static trace_id_t stream[2];
static unsigned char data[256];
static size_t lap_events; /* of 16 bytes, that a ring holds at least */
static unsigned int nr_rounds = ROUNDS;

/* The loops.  Parentheses around the name call the function instead of the macro. */

LOOP(run_nothing, (void)0)
LOOP(run_counter, KEEP(bench_counter()))
LOOP(run_ordered, KEEP(bench_counter_ordered()))
LOOP(run_empty_call, bench_floor_empty(event_id, data, 16))
LOOP(run_floor, KEEP(bench_floor_stamp(event_id, data, 16)))
LOOP(run_event_0, (posix_trace_event)(event_id, NULL, 0))
LOOP(run_event_4, (posix_trace_event)(event_id, data, 4))
LOOP(run_event_16, (posix_trace_event)(event_id, data, 16))
LOOP(run_event_64, (posix_trace_event)(event_id, data, 64))
LOOP(run_event_256, (posix_trace_event)(event_id, data, 256))
LOOP(run_macro, posix_trace_event(event_id, data, 16))

static void run_clock(size_t n)
{
	struct timespec now;

	while (n-- > 0) {
		clock_gettime(CLOCK_REALTIME, &now);
		KEEP(&now);
	}
}

static void run_getnext(size_t n)
{
	struct posix_trace_event_info info;
	unsigned char buffer[sizeof(data)];
	size_t length;
	int unavailable;

	while (n-- > 0)
		posix_trace_getnext_event(stream[0], &info, buffer, sizeof(buffer), &length,
					  &unavailable);
}

static void run_open_known(size_t n)
{
	trace_event_id_t id;

	while (n-- > 0)
		posix_trace_eventid_open("bench", &id);
}

static char new_name[NEW_NAMES][16];
static size_t nr_names_used;

static void run_open_new(size_t n)
{
	trace_event_id_t id;

	while (n-- > 0)
		posix_trace_eventid_open(new_name[nr_names_used++], &id);
}

/* The streams that exist while a case runs. */

static int create(trace_id_t *trid)
{
	trace_attr_t attr;
	int error = posix_trace_attr_init(&attr);

	if (!error)
		error = posix_trace_attr_setstreamsize(&attr, STREAM_BYTES);
	if (!error)
		error = posix_trace_attr_setstreamfullpolicy(&attr, POSIX_TRACE_LOOP);
	if (!error)
		error = posix_trace_create(0, &attr, trid);
	return error;
}

static int begin_suspended(void)
{
	return create(&stream[0]);
}

static int begin_running(void)
{
	int error = create(&stream[0]);

	return error ? error : posix_trace_start(stream[0]);
}

static int begin_filtered(void)
{
	trace_event_set_t set;
	int error = create(&stream[0]);

	posix_trace_eventset_empty(&set);
	posix_trace_eventset_add(event_id, &set);
	if (!error)
		error = posix_trace_set_filter(stream[0], &set, POSIX_TRACE_SET_EVENTSET);
	return error ? error : posix_trace_start(stream[0]);
}

static int begin_two(void)
{
	int error = begin_running();

	if (!error)
		error = create(&stream[1]);
	return error ? error : posix_trace_start(stream[1]);
}

/* Fill the ring of each CPU with one lap, so that no event is overwritten. */
static int begin_full(void)
{
	int error = begin_running();

	if (!error)
		harness_on_all(run_event_16, lap_events);
	return error;
}

static void end(void)
{
	posix_trace_shutdown(stream[0]);
}

static void end_two(void)
{
	end();
	posix_trace_shutdown(stream[1]);
}

/* The cases. */

static struct harness_case cases[] = {
	{.name = "loop", .run = run_nothing, .what = "the empty loop around all cases below"},
	{.name = "rdtsc", .run = run_counter, .what = "the counter, inlined (RDTSC on x86-64)"},
	{.name = "ordered", .run = run_ordered, .what = "LFENCE and the counter, inlined"},
	{.name = "clock_gettime", .run = run_clock, .what = "clock_gettime(CLOCK_REALTIME)"},
	{.name = "call", .run = run_empty_call, .what = "an empty function of a shared library"},
	{.name = "floor", .run = run_floor, .what = "a function reading the counter: the floor"},
	{.name = "event-0", .run = run_event_0, .begin = begin_running, .end = end,
	 .what = "posix_trace_event(), running stream, no data"},
	{.name = "event-4", .run = run_event_4, .begin = begin_running, .end = end,
	 .what = "4 bytes"},
	{.name = "event-16", .run = run_event_16, .begin = begin_running, .end = end,
	 .what = "16 bytes"},
	{.name = "event-64", .run = run_event_64, .begin = begin_running, .end = end,
	 .what = "64 bytes"},
	{.name = "event-256", .run = run_event_256, .begin = begin_running, .end = end,
	 .what = "256 bytes"},
	{.name = "two-streams", .run = run_event_16, .begin = begin_two, .end = end_two,
	 .what = "16 bytes into two streams"},
	{.name = "off", .run = run_event_16, .what = "posix_trace_event(), no stream"},
	{.name = "off-macro", .run = run_macro, .what = "the macro of <trace.h>, no stream"},
	{.name = "suspended", .run = run_event_16, .begin = begin_suspended, .end = end,
	 .what = "posix_trace_event(), suspended stream"},
	{.name = "filtered", .run = run_event_16, .begin = begin_filtered, .end = end,
	 .what = "posix_trace_event(), filtered out"},
	{.name = "lap-first", .run = run_event_16, .begin = begin_running, .end = end,
	 .nr_batches = 1, .warm_up = 1, .repeats = 5, .one_only = true,
	 .what = "16 bytes, first lap of a new ring"},
	{.name = "lap-later", .run = run_event_16, .begin = begin_running, .end = end,
	 .nr_batches = 1, .repeats = 5, .one_only = true, .what = "16 bytes, a later lap"},
	{.name = "getnext", .run = run_getnext, .begin = begin_full, .end = end,
	 .nr_batches = READ_BATCHES, .one_only = true,
	 .what = "posix_trace_getnext_event(), full rings"},
	{.name = "open-known", .run = run_open_known, .one_only = true,
	 .what = "posix_trace_eventid_open(), known name"},
	{.name = "open-new", .run = run_open_new, .nr_batches = 1, .warm_up = 1, .one_only = true,
	 .what = "posix_trace_eventid_open(), new name"},
};

#define NR_CASES (sizeof(cases) / sizeof(cases[0]))

static struct harness_case *find_case(const char *name)
{
	return harness_find(cases, NR_CASES, name);
}

/* Set lap_events from the actual size of a stream. */
static int measure_lap(void)
{
	trace_attr_t attr;
	size_t stream_bytes, event_bytes;
	int error = create(&stream[0]);

	if (error)
		return error;
	error = posix_trace_get_attr(stream[0], &attr);
	end();
	if (error)
		return error;
	posix_trace_attr_getstreamsize(&attr, &stream_bytes);
	posix_trace_attr_getmaxusereventsize(&attr, 16, &event_bytes);
	lap_events = stream_bytes / event_bytes;
	return 0;
}

static void set_sizes(void)
{
	size_t nr_new = NEW_NAMES / nr_rounds;
	struct harness_case *reading = find_case("getnext");

	find_case("lap-first")->batch = lap_events - 1;
	find_case("lap-later")->batch = lap_events - 1;
	find_case("lap-later")->warm_up = 4 * lap_events;
	/* Read fewer events than there are: with no event left, reading waits. */
	reading->batch = reading->warm_up = lap_events * harness_nr_cpus() / (READ_BATCHES + 2);
	find_case("open-new")->batch = nr_new > 1 ? nr_new - 1 : 1;
	find_case("open-new")->selected &= nr_new > 1;
	for (size_t i = 0; i < NR_CASES; i++)
		if (cases[i].begin && cases[i].warm_up == 0)
			cases[i].warm_up = lap_events; /* so that no page is touched for the first time */
	for (int i = 0; i < NEW_NAMES; i++)
		snprintf(new_name[i], sizeof(new_name[i]), "bench %d", i);
}

/* The output. */

static const struct comparison {
	const char *what;
	const char *a;
	enum harness_mode a_mode;
	char op;
	const char *b;
	enum harness_mode b_mode;
	const char *target;
} comparisons[] = {
	{"16 bytes / floor", "event-16", HARNESS_ONE, '/', "floor", HARNESS_ONE,
	 "at most 1.5; goal: below 1.3"},
	{"16 bytes / RDTSC", "event-16", HARNESS_ONE, '/', "rdtsc", HARNESS_ONE, "at most 3.2"},
	{"16 bytes / LFENCE and RDTSC", "event-16", HARNESS_ONE, '/', "ordered", HARNESS_ONE,
	 "at most 1.45"},
	{"16 bytes / floor, all CPUs", "event-16", HARNESS_ALL, '/', "floor", HARNESS_ALL, ""},
	{"16 bytes, all CPUs / 1 thread", "event-16", HARNESS_ALL, '/', "event-16", HARNESS_ONE,
	 "at most 1.2"},
	{"floor, all CPUs / 1 thread", "floor", HARNESS_ALL, '/', "floor", HARNESS_ONE, ""},
	{"two streams / one", "two-streams", HARNESS_ONE, '/', "event-16", HARNESS_ONE,
	 "at most 1.7"},
	{"64 bytes / 16 bytes", "event-64", HARNESS_ONE, '/', "event-16", HARNESS_ONE,
	 "at most 1.5"},
	{"256 bytes / 16 bytes", "event-256", HARNESS_ONE, '/', "event-16", HARNESS_ONE,
	 "at most 2.2"},
	{"first lap / later lap", "lap-first", HARNESS_ONE, '/', "lap-later", HARNESS_ONE,
	 "at most 1.3"},
	{"no stream - empty call, ns", "off", HARNESS_ONE, '-', "call", HARNESS_ONE, "at most 1.5"},
	{"no stream, macro - empty loop, ns", "off-macro", HARNESS_ONE, '-', "loop", HARNESS_ONE,
	 "at most 1"},
	{"suspended - empty call, ns", "suspended", HARNESS_ONE, '-', "call", HARNESS_ONE, ""},
	{"filtered out - empty call, ns", "filtered", HARNESS_ONE, '-', "call", HARNESS_ONE, ""},
};

static void print_comparison(const char *what, int digits, const struct harness_figure *figure,
			     const char *target)
{
	static bool begun;

	if (!begun)
		printf("\n%-36s %8s %7s %7s   target\n", "Within a round", "median", "min", "max");
	begun = true;
	printf("%-36s %8.*f %7.*f %7.*f%s%s\n", what, digits, figure->median, digits, figure->min,
	       digits, figure->max, *target ? "   " : "", target);
}

static void print_comparisons(void)
{
	struct harness_figure figure, speed;

	for (size_t i = 0; i < sizeof(comparisons) / sizeof(comparisons[0]); i++) {
		const struct comparison *c = &comparisons[i];

		if (harness_compare(find_case(c->a), c->a_mode, c->op, find_case(c->b), c->b_mode,
				    &figure))
			print_comparison(c->what, 2, &figure, c->target);
	}
	if (harness_figure(find_case("getnext"), HARNESS_ONE, &figure)) {
		speed.median = 1e3 / figure.median;
		speed.min = 1e3 / figure.max;
		speed.max = 1e3 / figure.min;
		print_comparison("reading, million events per second", 1, &speed, "at least 20");
	}
}

/* The command line. */

static void print_help(void)
{
	printf("usage: bench [--rounds N] [--quick] [--case GLOB]...\n\n"
	       "  --rounds N   measure everything N times (1 to %d; default %d)\n"
	       "  --quick      the same as --rounds %d\n"
	       "  --case GLOB  measure only cases with matching names, such as 'event-*'\n"
	       "  --help       print this help\n\ncases:\n",
	       HARNESS_ROUNDS_MAX, ROUNDS, ROUNDS_QUICK);
	for (size_t i = 0; i < NR_CASES; i++)
		printf("  %-13s %s\n", cases[i].name, cases[i].what);
}

static __attribute__((noreturn)) void refuse(const char *what, const char *word)
{
	fprintf(stderr, "bench: %s: %s (see bench --help)\n", what, word ? word : "nothing");
	exit(2);
}

static unsigned int read_rounds(const char *word)
{
	char *rest;
	unsigned long n;

	if (!word || *word < '0' || *word > '9')
		refuse("not a number of rounds", word);
	n = strtoul(word, &rest, 10);
	if (*rest != '\0' || n < 1 || n > HARNESS_ROUNDS_MAX)
		refuse("not a number of rounds", word);
	return (unsigned int)n;
}

static void select_cases(const char *glob)
{
	bool any = false;

	for (size_t i = 0; glob && i < NR_CASES; i++) {
		if (fnmatch(glob, cases[i].name, 0) != 0)
			continue;
		cases[i].selected = any = true;
	}
	if (!any)
		refuse("no such case", glob);
}

static void read_options(char **argv)
{
	bool all = true;

	while (*++argv) {
		if (strcmp(*argv, "--help") == 0) {
			print_help();
			exit(0);
		} else if (strcmp(*argv, "--quick") == 0) {
			nr_rounds = ROUNDS_QUICK;
		} else if (strcmp(*argv, "--rounds") == 0) {
			nr_rounds = read_rounds(argv[1]);
			argv++;
		} else if (strcmp(*argv, "--case") == 0) {
			select_cases(argv[1]);
			all = false;
			argv++;
		} else {
			refuse("unknown option", *argv);
		}
	}
	for (size_t i = 0; i < NR_CASES; i++)
		cases[i].selected |= all;
}

static int run(void)
{
	int error = harness_init();

	if (!error)
		error = posix_trace_eventid_open("bench", &event_id);
	if (!error)
		error = measure_lap();
	if (error)
		return error;
	set_sizes();
	return harness_run(cases, NR_CASES, nr_rounds);
}

int main(int argc, char **argv)
{
	int error;

	(void)argc;
	read_options(argv);
	error = run();
	if (error) {
		fprintf(stderr, "bench: cannot measure: %s\n", strerror(error));
		return 1;
	}
	harness_print(cases, NR_CASES);
	print_comparisons();
	return 0;
}
