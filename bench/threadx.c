/* SPDX-License-Identifier: MIT */
/* Measures the services of ThreadX next to posix_trace_event() with 16 bytes, in turns in one process. */
#include <stdio.h>
#include <string.h>
#include <trace.h>
#include <tx_trace_posix.h>

#include "harness.h"
#include "loop.h"

#define ROUNDS 15

static trace_event_id_t event_id;
static trace_id_t stream;
static unsigned char data[16];
static unsigned char memory[1 << 20] __attribute__((aligned(64)));
static int object;

LOOP(run_event, (posix_trace_event)(event_id, data, sizeof(data)))
LOOP(run_user, tx_trace_user_event_insert(4096, 1, 2, 3, 4))
LOOP(run_numbers, TX_TRACE_IN_LINE_INSERT(TX_TRACE_QUEUE_SEND, 1, 2, 3, 4, TX_TRACE_QUEUE_EVENTS))
LOOP(run_pointer, TX_TRACE_IN_LINE_INSERT(TX_TRACE_QUEUE_SEND, &object, 2, 3, 4, TX_TRACE_QUEUE_EVENTS))

static int begin_stream(void)
{
	trace_attr_t attr;
	int error = posix_trace_attr_init(&attr);

	if (!error)
		error = posix_trace_attr_setstreamsize(&attr, sizeof(memory));
	if (!error)
		error = posix_trace_attr_setstreamfullpolicy(&attr, POSIX_TRACE_LOOP);
	if (!error)
		error = posix_trace_create(0, &attr, &stream);
	return error ? error : posix_trace_start(stream);
}

static void end_stream(void)
{
	posix_trace_shutdown(stream);
}

static int begin_buffer(void)
{
	return tx_trace_enable(memory, sizeof(memory), 16) == TX_SUCCESS ? 0 : -1;
}

static int begin_both(void)
{
	int error = begin_stream();

	return error ? error : begin_buffer();
}

static void end_buffer(void)
{
	tx_trace_disable();
}

static void end_both(void)
{
	end_buffer();
	end_stream();
}

static struct harness_case cases[] = {
	{.name = "event-16", .what = "posix_trace_event, 16 bytes", .run = run_event, .begin = begin_stream,
	 .end = end_stream, .warm_up = 40000},
	{.name = "off", .what = "user event, trace off", .run = run_user},
	{.name = "user", .what = "tx_trace_user_event_insert", .run = run_user, .begin = begin_buffer,
	 .end = end_buffer, .warm_up = 40000},
	{.name = "numbers", .what = "TX_TRACE_IN_LINE_INSERT, numbers", .run = run_numbers, .begin = begin_buffer,
	 .end = end_buffer, .warm_up = 40000},
	{.name = "pointer", .what = "TX_TRACE_IN_LINE_INSERT, an object", .run = run_pointer, .begin = begin_buffer,
	 .end = end_buffer, .warm_up = 40000},
	{.name = "both", .what = "user event, buffer and stream", .run = run_user, .begin = begin_both,
	 .end = end_both, .warm_up = 40000, .one_only = true},
};

#define NR_CASES (sizeof(cases) / sizeof(cases[0]))

static void print_ratio(const char *name)
{
	struct harness_figure ratio;

	if (harness_compare(harness_find(cases, NR_CASES, name), HARNESS_ONE, '/',
			    harness_find(cases, NR_CASES, "event-16"), HARNESS_ONE, &ratio))
		printf("%s / event-16: %.2f (%.2f to %.2f)\n", name, ratio.median, ratio.min, ratio.max);
}

int main(void)
{
	int error;

	TX_TRACE_OBJECT_REGISTER(TX_TRACE_OBJECT_TYPE_QUEUE, &object, "queue", 0, 0)
	error = posix_trace_eventid_open("bench", &event_id);
	for (size_t i = 0; i < NR_CASES; i++)
		cases[i].selected = true;
	if (!error)
		error = harness_init();
	if (!error)
		error = harness_run(cases, NR_CASES, ROUNDS);
	if (error) {
		fprintf(stderr, "threadx: cannot measure: %s\n", strerror(error));
		return 1;
	}
	harness_print(cases, NR_CASES);
	print_ratio("user");
	print_ratio("numbers");
	print_ratio("pointer");
	return 0;
}
