/* SPDX-License-Identifier: MIT */
/* posix_trace_start() and posix_trace_stop(): the states of a stream, and the windows in which it runs. */
#include "support/common.h"

#include <stdlib.h>
#include <string.h>
#include <trace.h>
#include <trace_ext.h>

#include "base/compiler.h"

static trace_id_t stream;
static trace_event_id_t type;

static void use_stream(int policy, size_t size, unsigned int nr_rings)
{
	ok(posix_trace_eventid_open("started", &type));
	stream = px_test_create(
		&(struct px_test_stream){.policy = policy, .size = size, .nr_rings = nr_rings});
}

static void setup(void)
{
	use_stream(POSIX_TRACE_LOOP, 0, 1);
}

static int status_of(trace_id_t trid)
{
	return px_test_status(trid).posix_stream_status;
}

static int full_status_of(trace_id_t trid)
{
	return px_test_status(trid).posix_stream_full_status;
}

/* Expect that the next event is a STOP with this value in its data. */
static void expect_stop(int automatic)
{
	struct px_test_event event;
	int data;

	px_test_expect(stream, POSIX_TRACE_STOP, &event);
	ck_assert_uint_eq(event.length, sizeof(data));
	memcpy(&data, event.data, sizeof(data));
	ck_assert_int_eq(data != 0, automatic);
}

static void expect_start(const trace_event_set_t *filter)
{
	struct px_test_event event;

	px_test_expect(stream, POSIX_TRACE_START, &event);
	ck_assert_uint_eq(event.length, sizeof(*filter));
	ck_assert_mem_eq(event.data, filter, sizeof(*filter));
	ck_assert_int_eq(event.info.posix_truncation_status, POSIX_TRACE_NOT_TRUNCATED);
}

static void expect_number(uint32_t number)
{
	struct px_test_event event;

	px_test_expect(stream, type, &event);
	ck_assert_uint_eq(px_test_number(&event), number);
}

static void expect_nothing(void)
{
	struct px_test_event event;

	px_test_expect(stream, 0, &event);
}

/* Record until the bounded stream stops automatically.  Return the number of events. */
static uint32_t fill(void)
{
	uint32_t n = 0;

	while (status_of(stream) == POSIX_TRACE_RUNNING)
		px_test_trace(type, n++);
	return n;
}

static trace_event_set_t set_of(trace_event_id_t id)
{
	trace_event_set_t set;

	ok(posix_trace_eventset_empty(&set));
	if (id)
		ok(posix_trace_eventset_add(id, &set));
	return set;
}

/* posix_trace_start() */

/* START-1 SYSEV-1 SYSEV-5 */
START_TEST(start_suspended_stream_runs_and_records_the_filter)
{
	trace_event_set_t filter = set_of(_i ? type + 7 : 0);

	if (_i)
		ok(posix_trace_set_filter(stream, &filter, POSIX_TRACE_SET_EVENTSET));
	ok(posix_trace_start(stream));
	ck_assert_int_eq(status_of(stream), POSIX_TRACE_RUNNING);
	px_test_trace(type, 1);
	expect_start(&filter);
	expect_number(1);
	expect_nothing();
}
END_TEST

/* START-2 */
START_TEST(start_running_stream_goes_on_and_records_nothing)
{
	trace_event_set_t none = set_of(0);

	ok(posix_trace_start(stream));
	px_test_trace(type, 1);
	for (int i = 0; i < 3; i++)
		ok(posix_trace_start(stream));
	ck_assert_int_eq(status_of(stream), POSIX_TRACE_RUNNING);
	px_test_trace(type, 2);
	expect_start(&none);
	expect_number(1);
	expect_number(2);
	expect_nothing();
}
END_TEST

/* START-3 COMB-2 */
START_TEST(start_full_stream_has_no_effect_now)
{
	trace_event_set_t none = set_of(0);
	uint32_t n;

	use_stream(POSIX_TRACE_UNTIL_FULL, 4096, 1);
	ok(posix_trace_start(stream));
	n = fill();
	for (int i = 0; i < 3; i++)
		ok(posix_trace_start(stream));
	ck_assert_int_eq(status_of(stream), POSIX_TRACE_SUSPENDED);
	ck_assert_int_eq(full_status_of(stream), POSIX_TRACE_FULL);
	ok(posix_trace_stop(stream)); /* and the stream does not restart by itself */
	expect_start(&none);
	for (uint32_t i = 0; i < n; i++)
		expect_number(i);
	expect_stop(1);
	expect_nothing();
}
END_TEST

/* START-3 STOP-3: stop disables the automatic restart, and start enables it again. */
START_TEST(start_full_stream_restarts_it_when_there_is_room)
{
	struct px_test_event event;
	uint32_t n;

	use_stream(POSIX_TRACE_UNTIL_FULL, 4096, 1);
	ok(posix_trace_start(stream));
	n = fill();
	ok(posix_trace_stop(stream));
	ok(posix_trace_start(stream));
	for (uint32_t i = 0; i < n + 1; i++) /* START and all events */
		ck_assert_uint_ne(px_test_take(stream, &event), 0);
	ck_assert_int_eq(status_of(stream), POSIX_TRACE_RUNNING);
}
END_TEST

/*
 * START-3: a stream that a call stopped can be full, too, if its STOP took the last room.  Then start has no effect
 * now, but takes effect later.
 */
START_TEST(start_stream_filled_by_its_stop_event_runs_when_there_is_room)
{
	trace_event_set_t none = set_of(0);
	uint32_t n;

	/* Record one event less than the stream can hold. */
	use_stream(POSIX_TRACE_UNTIL_FULL, 4096, 1);
	ok(posix_trace_start(stream));
	n = fill();
	ok(posix_trace_shutdown(stream));
	use_stream(POSIX_TRACE_UNTIL_FULL, 4096, 1);
	ok(posix_trace_start(stream));
	for (uint32_t i = 0; i < n - 1; i++)
		px_test_trace(type, i);
	ck_assert_int_eq(status_of(stream), POSIX_TRACE_RUNNING);
	ok(posix_trace_stop(stream));
	ok(posix_trace_start(stream));
	expect_start(&none);
	for (uint32_t i = 0; i < n - 1; i++)
		expect_number(i);
	expect_stop(0);
	px_test_trace(type, 1000);
	ck_assert_int_eq(status_of(stream), POSIX_TRACE_RUNNING);
}
END_TEST

/* START-4 STOP-4 LOOP-1 LOOP-2 COMB-1 */
START_TEST(stop_and_start_full_looping_stream_work_as_ever)
{
	struct px_test_event event;
	trace_event_id_t id, last[4] = {0};
	uint32_t number = 0;

	use_stream(POSIX_TRACE_LOOP, 4096, 1);
	ok(posix_trace_start(stream));
	while (full_status_of(stream) == POSIX_TRACE_NOT_FULL)
		px_test_trace(type, number++);
	ok(posix_trace_stop(stream));
	ck_assert_int_eq(status_of(stream), POSIX_TRACE_SUSPENDED);
	ck_assert_int_eq(full_status_of(stream), POSIX_TRACE_FULL);
	ok(posix_trace_start(stream));
	ck_assert_int_eq(status_of(stream), POSIX_TRACE_RUNNING);
	ck_assert_int_eq(full_status_of(stream), POSIX_TRACE_FULL);
	px_test_trace(type, number);
	while ((id = px_test_take(stream, &event))) {
		memmove(last, last + 1, sizeof(last) - sizeof(last[0]));
		last[3] = id;
	}
	ck_assert_uint_eq(last[0], type);
	ck_assert_uint_eq(last[1], POSIX_TRACE_STOP);
	ck_assert_uint_eq(last[2], POSIX_TRACE_START);
	ck_assert_uint_eq(last[3], type);
	ck_assert_uint_eq(px_test_number(&event), number);
}
END_TEST

/* posix_trace_stop() */

/* STOP-1 STOP-2 UNREAD-3 */
START_TEST(stop_running_stream_records_stop_and_discards_nothing)
{
	trace_event_set_t none = set_of(0);

	ok(posix_trace_stop(stream)); /* the stream never ran, so there is nothing to stop */
	ok(posix_trace_start(stream));
	px_test_trace(type, 1);
	for (int i = 0; i < 3; i++) {
		ok(posix_trace_stop(stream));
		ck_assert_int_eq(status_of(stream), POSIX_TRACE_SUSPENDED);
		px_test_trace(type, 2);
	}
	expect_start(&none);
	expect_number(1);
	expect_stop(0);
	expect_nothing();
}
END_TEST

/* STOP-3 COMB-2 */
START_TEST(stop_full_stream_records_nothing_and_prevents_the_restart)
{
	trace_event_set_t none = set_of(0);
	uint32_t n;

	use_stream(POSIX_TRACE_UNTIL_FULL, 4096, 1);
	ok(posix_trace_start(stream));
	n = fill();
	ok(posix_trace_stop(stream));
	ck_assert_int_eq(full_status_of(stream), POSIX_TRACE_FULL);
	expect_start(&none);
	for (uint32_t i = 0; i < n; i++)
		expect_number(i);
	expect_stop(1);
	expect_nothing();
	ck_assert_int_eq(status_of(stream), POSIX_TRACE_SUSPENDED);
	ck_assert_int_eq(full_status_of(stream), POSIX_TRACE_NOT_FULL);
	ok(posix_trace_start(stream));
	px_test_trace(type, 6);
	expect_start(&none);
	expect_number(6);
}
END_TEST

/* EVENT-2 STATUS-4 STOP-3: if a stopped stream has room again, it still loses nothing. */
START_TEST(stop_full_stream_event_after_it_was_emptied_is_no_loss)
{
	trace_event_set_t none = set_of(0);
	struct posix_trace_status_info status;
	struct px_test_event event;

	use_stream(POSIX_TRACE_UNTIL_FULL, 4096, 1);
	ok(posix_trace_start(stream));
	fill();
	ok(posix_trace_stop(stream));
	while (px_test_take(stream, &event))
		;
	status = px_test_status(stream);
	ck_assert_int_eq(status.posix_stream_status, POSIX_TRACE_SUSPENDED);
	ck_assert_int_eq(status.posix_stream_full_status, POSIX_TRACE_NOT_FULL);
	px_test_trace(type, 5);
	status = px_test_status(stream);
	ck_assert_int_eq(status.posix_stream_overrun_status, POSIX_TRACE_NO_OVERRUN);
	ok(posix_trace_start(stream));
	px_test_trace(type, 6);
	expect_start(&none);
	expect_number(6);
}
END_TEST

/* START-5 STOP-5 KIND-3 GEN-10 */
START_TEST(start_and_stop_refuse_bad_identifiers)
{
	trace_id_t bad[PX_TEST_BAD_TRIDS];

	px_test_bad_trids(bad);
	for (size_t i = 0; i < PX_TEST_BAD_TRIDS; i++) {
		fails(posix_trace_start(bad[i]), EINVAL);
		fails(posix_trace_stop(bad[i]), EINVAL);
	}
	ck_assert_int_eq(status_of(stream), POSIX_TRACE_SUSPENDED);
}
END_TEST

static int start_in_child(void *unused)
{
	(void)unused;
	return posix_trace_start(stream) == EINVAL && posix_trace_stop(stream) == EINVAL ? 0 : 1;
}

/* START-5 STOP-5 KIND-1 MODEL-6 */
START_TEST(start_and_stop_in_child_are_refused)
{
	ck_assert_int_eq(px_test_in_child(start_in_child, NULL), 0);
	ck_assert_int_eq(status_of(stream), POSIX_TRACE_SUSPENDED);
	ok(posix_trace_start(stream));
	ck_assert_int_eq(px_test_in_child(start_in_child, NULL), 0);
	ck_assert_int_eq(status_of(stream), POSIX_TRACE_RUNNING);
}
END_TEST

static int result;

static void start_cancelled(void)
{
	result = posix_trace_start(stream);
	px_test_trace(type, 3);
	result |= posix_trace_stop(stream);
}

/* START-8 GEN-6 CANC-3 GEN-2 */
START_TEST(start_and_stop_are_no_cancellation_points)
{
	trace_event_set_t none = set_of(0);

	result = -1;
	px_test_with_cancellation_pending(start_cancelled);
	ck_assert_int_eq(result, 0);
	expect_start(&none);
	expect_number(3);
	expect_stop(0);
	errno = 77;
	ok(posix_trace_start(stream));
	ok(posix_trace_stop(stream));
	ck_assert_int_eq(errno, 77);
}
END_TEST

static struct {
	pthread_t thread;
	pid_t tid;
	sem_t started;
	trace_event_id_t id;
} reader;

static void *read_one(void *unused)
{
	struct posix_trace_event_info info;
	size_t length;
	int unavailable;

	reader.tid = gettid();
	sem_post(&reader.started);
	if (posix_trace_getnext_event(stream, &info, NULL, 0, &length, &unavailable) == 0)
		reader.id = info.posix_event_id;
	return unused;
}

static void begin_to_read(void)
{
	reader.id = 0;
	sem_init(&reader.started, 0, 0);
	pthread_create(&reader.thread, NULL, read_one, NULL);
	sem_wait(&reader.started);
	px_test_wait_asleep(reader.tid);
}

/* STOP-7 GETNEXT-2: the reader gets only the events. */
START_TEST(stop_leaves_a_sleeping_reader_asleep)
{
	begin_to_read();
	ok(posix_trace_stop(stream)); /* suspended: records nothing */
	px_test_trace(type, 1);
	px_test_wait_asleep(reader.tid);
	ok(posix_trace_start(stream));
	pthread_join(reader.thread, NULL);
	ck_assert_uint_eq(reader.id, POSIX_TRACE_START);
	begin_to_read();
	ok(posix_trace_stop(stream));
	pthread_join(reader.thread, NULL);
	ck_assert_uint_eq(reader.id, POSIX_TRACE_STOP);
}
END_TEST

/* Sequences of calls: s start, p stop, 1-9 an event, c clear, f filter the type, F filter nothing. */

static void act(char what)
{
	trace_event_set_t filter = set_of(what == 'f' ? type : 0);

	switch (what) {
	case 's':
		ok(posix_trace_start(stream));
		break;
	case 'p':
		ok(posix_trace_stop(stream));
		break;
	case 'c':
		ok(posix_trace_clear(stream));
		break;
	case 'f':
	case 'F':
		ok(posix_trace_set_filter(stream, &filter, POSIX_TRACE_SET_EVENTSET));
		break;
	default:
		px_test_trace(type, (uint32_t)(what - '0'));
	}
}

/* The recorded events, in the same letters: S START, P STOP, R FILTER. */
static void read_all(char *text, size_t size)
{
	struct px_test_event event;
	size_t n = 0;

	while (px_test_take(stream, &event)) {
		ck_assert_uint_lt(n + 1, size);
		switch (event.info.posix_event_id) {
		case POSIX_TRACE_START:
			text[n++] = 'S';
			break;
		case POSIX_TRACE_STOP:
			text[n++] = 'P';
			break;
		case POSIX_TRACE_FILTER:
			text[n++] = 'R';
			break;
		default:
			ck_assert_uint_eq(event.info.posix_event_id, type);
			text[n++] = (char)('0' + px_test_number(&event));
		}
	}
	text[n] = '\0';
}

static const struct {
	const char *actions, *recorded;
	int status;
} sequences[] = {
	{"", "", POSIX_TRACE_SUSPENDED},
	{"1", "", POSIX_TRACE_SUSPENDED},
	{"p1p", "", POSIX_TRACE_SUSPENDED},
	{"s", "S", POSIX_TRACE_RUNNING},
	{"s1p", "S1P", POSIX_TRACE_SUSPENDED},
	{"ss1pp2", "S1P", POSIX_TRACE_SUSPENDED},
	{"s1p2s3p4", "S1PS3P", POSIX_TRACE_SUSPENDED},
	{"spspsp", "SPSPSP", POSIX_TRACE_SUSPENDED},
	{"s1c2p", "2P", POSIX_TRACE_SUSPENDED},
	{"s1pc2s3", "S3", POSIX_TRACE_RUNNING},
	{"cs1", "S1", POSIX_TRACE_RUNNING},
	{"fs1p", "SP", POSIX_TRACE_SUSPENDED},
	{"s1f2F3p", "S1RR3P", POSIX_TRACE_SUSPENDED},
	{"s1pf2s3", "S1PS", POSIX_TRACE_RUNNING},
	{"fs1c2", "2", POSIX_TRACE_RUNNING}, /* AMB-2: clear also makes the filter empty */
};

/* START-1 START-2 STOP-1 STOP-2 SYSEV-4 EVENT-2 MODEL-1 */
START_TEST(sequence_of_calls_records_what_it_should)
{
	char recorded[64];

	for (const char *action = sequences[_i].actions; *action; action++)
		act(*action);
	ck_assert_int_eq(status_of(stream), sequences[_i].status);
	read_all(recorded, sizeof(recorded));
	ck_assert_str_eq(recorded, sequences[_i].recorded);
	ck_assert_int_eq(status_of(stream), sequences[_i].status);
}
END_TEST

/* SYSEV-9 FILT-2 */
START_TEST(start_with_everything_filtered_runs_and_records_nothing)
{
	trace_event_set_t all;

	ok(posix_trace_eventset_fill(&all, POSIX_TRACE_ALL_EVENTS));
	ok(posix_trace_set_filter(stream, &all, POSIX_TRACE_SET_EVENTSET));
	act('s');
	act('1');
	ck_assert_int_eq(status_of(stream), POSIX_TRACE_RUNNING);
	act('p');
	ck_assert_int_eq(status_of(stream), POSIX_TRACE_SUSPENDED);
	expect_nothing();
}
END_TEST

/* START-1 STOP-1 SYSEV-4 CLEAR-2: any order of the calls; the test reads from time to time. */
START_TEST(random_calls_record_what_a_model_says)
{
	uint64_t seed = test_seed();
	char expected[128] = "", got[128];
	bool running = false, filtered = false;
	size_t n = 0;

	for (int i = 0; i < 20000; i++) {
		char what = "ssppccfF123456789"[next_random(&seed) % 17];

		act(what);
		if (what == 's' && !running)
			expected[n++] = 'S';
		if (what == 'p' && running)
			expected[n++] = 'P';
		if ((what == 'f' || what == 'F') && running)
			expected[n++] = 'R';
		if (what >= '1' && running && !filtered)
			expected[n++] = what <= '9' ? what : 0;
		n = what == 'c' ? 0 : n;
		running = what == 's' || (running && what != 'p');
		filtered = what == 'f' || (filtered && what != 'F' && what != 'c');
		n = strnlen(expected, n);
		if (n < 100 && next_random(&seed) % 20)
			continue;
		expected[n] = '\0';
		read_all(got, sizeof(got));
		ck_assert_str_eq(got, expected);
		n = 0;
	}
}
END_TEST

/* Windows: the events between a START and the next STOP. */

struct windows {
	int starts, stops, events;
	uint64_t sum; /* of the numbers */
};

/* Read all events.  Each user event must be in a window, and START and STOP must alternate. */
static struct windows read_windows(void)
{
	struct windows found = {0, 0, 0, 0};
	struct px_test_event event;
	uint64_t last_ns = 0;
	bool open = false;

	while (px_test_take(stream, &event)) {
		ck_assert_uint_ge(px_test_ns(event.info.posix_timestamp), last_ns);
		last_ns = px_test_ns(event.info.posix_timestamp);
		if (event.info.posix_event_id == POSIX_TRACE_START) {
			ck_assert(!open);
			open = true;
			found.starts++;
		} else if (event.info.posix_event_id == POSIX_TRACE_STOP) {
			ck_assert(open);
			open = false;
			found.stops++;
		} else {
			ck_assert_uint_eq(event.info.posix_event_id, type);
			ck_assert_msg(open, "event %u is outside", px_test_number(&event));
			found.events++;
			found.sum += px_test_number(&event);
		}
	}
	return found;
}

/* The steps of an event, and whether the stream records the event if it is stopped for good at this step. */
static const struct {
	const char *point;
	bool is_in; /* the writer has seen for the second time that the stream runs */
} steps[] = {
	{"point.state.loaded", false}, {"ring.reserve.loaded", false}, {"ring.reserve.done", false},
	{"ring.claim.loaded", false},  {"ring.claim.done", false},     {"record.write.first", true},
	{"ring.commit.ready", true},   {"ring.commit.done", true},
};
#define NR_STEPS PX_ARRAY_SIZE(steps)

/* Make the stream of a round, and stop a writer at each of the steps. */
static struct px_test_writer writers[NR_STEPS];

/* Return the possible steps as bits. */
static uint64_t hold_writers(int policy, unsigned int nr_rings)
{
	uint64_t held = 0;

	use_stream(policy, 0, nr_rings);
	ok(posix_trace_start(stream));
	for (size_t i = 0; i < NR_STEPS; i++) {
		if (!px_test_passes(nr_rings, steps[i].point))
			continue;
		px_test_hold(&writers[i], steps[i].point, type, 1u << i);
		ck_assert(writers[i].was_held);
		held |= 1u << i;
	}
	return held;
}

static void release_writers(void)
{
	for (size_t i = 0; i < NR_STEPS; i++)
		px_test_release(&writers[i]);
}

static const struct {
	int policy;
	unsigned int nr_rings;
} kinds[] = {
	{POSIX_TRACE_LOOP, 1},
	{POSIX_TRACE_LOOP, 0},
	{POSIX_TRACE_UNTIL_FULL, 1},
	{POSIX_TRACE_UNTIL_FULL, 0},
};

/* START-7 STOP-6 SYSEV-4 EVENT-1: each event is in one window: that in which its writer saw the stream run. */
START_TEST(restart_with_writers_at_all_steps_every_event_is_inside_a_window)
{
	for (int restarts = 1; restarts <= 3; restarts++) {
		uint64_t held = hold_writers(kinds[_i].policy, kinds[_i].nr_rings);
		struct windows found;

		for (int i = 0; i < restarts; i++) {
			ok(posix_trace_stop(stream));
			ok(posix_trace_start(stream));
		}
		release_writers();
		ok(posix_trace_stop(stream));
		found = read_windows();
		ck_assert_int_eq(found.starts, restarts + 1);
		ck_assert_int_eq(found.stops, restarts + 1);
		ck_assert_int_eq(found.events, __builtin_popcountll(held));
		ck_assert_uint_eq(found.sum, held);
		ok(posix_trace_shutdown(stream));
	}
}
END_TEST

/* STOP-6 EVENT-2: an event that began before STOP is before STOP in the stream, or is not in the stream. */
START_TEST(stop_with_writers_at_all_steps_nothing_is_behind_stop)
{
	struct windows found;
	uint64_t expected = 0;

	for (size_t i = 0; i < NR_STEPS; i++)
		expected |= steps[i].is_in ? 1u << i : 0;
	hold_writers(kinds[_i].policy, kinds[_i].nr_rings);
	ok(posix_trace_stop(stream));
	release_writers();
	px_test_trace(type, 1000);
	found = read_windows();
	ck_assert_int_eq(found.starts, 1);
	ck_assert_int_eq(found.stops, 1);
	ck_assert_uint_eq(found.sum, expected);
}
END_TEST

static void trace_inside(void)
{
	px_test_trace(type, 42);
}

/* START-7: while START is written, the stream does not run yet. */
START_TEST(start_event_between_start_record_and_running_is_not_recorded)
{
	px_test_at_point("stream.start.recorded", trace_inside);
	ok(posix_trace_start(stream));
	px_test_trace(type, 1);
	expect_start(&(trace_event_set_t){{0}});
	expect_number(1);
	expect_nothing();
}
END_TEST

/* STOP-6: while STOP is written, the stream does not run any more. */
START_TEST(stop_event_between_suspended_and_stop_record_is_not_recorded)
{
	ok(posix_trace_start(stream));
	px_test_at_point("stream.stop.stored", trace_inside);
	ok(posix_trace_stop(stream));
	expect_start(&(trace_event_set_t){{0}});
	expect_stop(0);
	expect_nothing();
}
END_TEST

static void stop_inside(void)
{
	result |= posix_trace_stop(stream);
}

static void restart_inside(void)
{
	stop_inside();
	result |= posix_trace_start(stream);
}

/* START-7 STOP-6: stop and start interrupt each attempt of the event. */
START_TEST(restart_again_and_again_inside_one_event_records_it_once)
{
	struct windows found;

	result = 0;
	ok(posix_trace_start(stream));
	for (uint32_t i = 0; i < 20; i++) {
		px_test_at_point(steps[_i].point, restart_inside);
		px_test_trace(type, i);
	}
	px_test_at_point(steps[_i].point, stop_inside);
	px_test_trace(type, 1000);
	ck_assert_int_eq(result, 0);
	found = read_windows();
	ck_assert_int_eq(found.starts, 21);
	ck_assert_int_eq(found.stops, 21);
	ck_assert_int_eq(found.events, 20 + steps[_i].is_in);
	ck_assert_uint_eq(found.sum, 190u + (steps[_i].is_in ? 1000 : 0));
}
END_TEST

/* Threads that start and stop, and threads that write. */

enum { WRITERS = 3, CONTROLLERS = 2, ROUNDS = 150 };

static int failures;

static void *write_until_finished(void *unused)
{
	for (uint32_t i = 0; px_test_pace_writer(); i++)
		px_test_trace(type, i);
	return unused;
}

static void *control(void *unused)
{
	for (int i = 0; i < ROUNDS; i++) {
		int failed = posix_trace_start(stream);

		px_test_pace_control();
		failed |= posix_trace_stop(stream);
		__atomic_fetch_or(&failures, failed, __ATOMIC_RELAXED);
	}
	return unused;
}

/* START-7 STOP-6 SYSEV-4 GEN-3: START and STOP alternate, and all events are inside the windows. */
START_TEST(start_and_stop_by_threads_while_others_write_windows_are_whole)
{
	pthread_t writer[WRITERS], controller[CONTROLLERS];
	struct windows found;
	struct txtrace_loss loss;

	use_stream(POSIX_TRACE_LOOP, 8 << 20, kinds[_i].nr_rings);
	for (int i = 0; i < WRITERS; i++)
		pthread_create(&writer[i], NULL, write_until_finished, NULL);
	for (int i = 0; i < CONTROLLERS; i++)
		pthread_create(&controller[i], NULL, control, NULL);
	for (int i = 0; i < CONTROLLERS; i++)
		pthread_join(controller[i], NULL);
	px_test_pace_finish();
	for (int i = 0; i < WRITERS; i++)
		pthread_join(writer[i], NULL);
	ck_assert_int_eq(failures, 0);
	ck_assert_int_eq(status_of(stream), POSIX_TRACE_SUSPENDED);
	found = read_windows();
	ck_assert_int_gt(found.starts, 1);
	ck_assert_int_eq(found.starts, found.stops);
	ck_assert_int_gt(found.events, 0);
	ok(txtrace_get_loss(stream, &loss));
	ck_assert_uint_eq(loss.overwritten + loss.dropped + loss.abandoned, 0);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("start");
	TCase *tcase = tcase_create("start");

	tcase_add_checked_fixture(tcase, setup, NULL);
	tcase_set_timeout(tcase, 60);
	tcase_add_loop_test(tcase, start_suspended_stream_runs_and_records_the_filter, 0, 2);
	tcase_add_test(tcase, start_running_stream_goes_on_and_records_nothing);
	tcase_add_test(tcase, start_full_stream_has_no_effect_now);
	tcase_add_test(tcase, start_full_stream_restarts_it_when_there_is_room);
	tcase_add_test(tcase, start_stream_filled_by_its_stop_event_runs_when_there_is_room);
	tcase_add_test(tcase, stop_and_start_full_looping_stream_work_as_ever);
	tcase_add_test(tcase, stop_running_stream_records_stop_and_discards_nothing);
	tcase_add_test(tcase, stop_full_stream_records_nothing_and_prevents_the_restart);
	tcase_add_test(tcase, stop_full_stream_event_after_it_was_emptied_is_no_loss);
	tcase_add_test(tcase, start_and_stop_refuse_bad_identifiers);
	tcase_add_test(tcase, start_and_stop_in_child_are_refused);
	tcase_add_test(tcase, start_and_stop_are_no_cancellation_points);
	tcase_add_test(tcase, stop_leaves_a_sleeping_reader_asleep);
	tcase_add_loop_test(tcase, sequence_of_calls_records_what_it_should, 0,
			    PX_ARRAY_SIZE(sequences));
	tcase_add_test(tcase, start_with_everything_filtered_runs_and_records_nothing);
	tcase_add_test(tcase, random_calls_record_what_a_model_says);
	suite_add_tcase(suite, tcase);
	tcase = tcase_create("windows");
	tcase_add_checked_fixture(tcase, setup, NULL);
	tcase_set_timeout(tcase, 60);
	tcase_add_loop_test(tcase, restart_with_writers_at_all_steps_every_event_is_inside_a_window,
			    0, PX_ARRAY_SIZE(kinds));
	tcase_add_loop_test(tcase, stop_with_writers_at_all_steps_nothing_is_behind_stop, 0,
			    PX_ARRAY_SIZE(kinds));
	tcase_add_test(tcase, start_event_between_start_record_and_running_is_not_recorded);
	tcase_add_test(tcase, stop_event_between_suspended_and_stop_record_is_not_recorded);
	tcase_add_loop_test(tcase, restart_again_and_again_inside_one_event_records_it_once, 0,
			    NR_STEPS);
	tcase_add_loop_test(tcase, start_and_stop_by_threads_while_others_write_windows_are_whole,
			    0, 2);
	suite_add_tcase(suite, tcase);
	return run_suite(suite);
}
