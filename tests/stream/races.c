/* SPDX-License-Identifier: MIT */
/*
 * Forced races of the whole library: a writer stops at each step of an event while the controller does each possible
 * operation; then the writer goes on.
 */
#include "support/common.h"

#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <string.h>
#include <trace.h>
#include <trace_ext.h>

#include "base/compiler.h"
#include "stream/handle.h"
#include "stream/stream.h"

static const char *const points[] = {
	"point.state.loaded", "ring.reserve.loaded", "ring.reserve.done", "ring.claim.loaded",
	"ring.claim.done",    "record.write.first",  "record.write.more", "ring.commit.more",
	"ring.commit.ready",  "ring.commit.done",
};

/* More than the first slot holds, so that the event passes all points. */
#define PAYLOAD_BYTES 100

static trace_id_t stream;
static trace_event_id_t type;

/* nr_rings: 0 for the rings of CPUs */
static void make_stream(int policy, size_t bytes, int nr_rings)
{
	trace_attr_t attr;

	ok(posix_trace_attr_init(&attr));
	if (nr_rings != 0)
		ok(txtrace_attr_setrings(&attr, (unsigned int)nr_rings));
	ok(posix_trace_attr_setstreamfullpolicy(&attr, policy));
	ok(posix_trace_attr_setstreamsize(&attr, bytes));
	ok(posix_trace_create(0, &attr, &stream));
	ok(posix_trace_start(stream));
}

static void setup(void)
{
	ok(posix_trace_eventid_open("raced", &type));
	make_stream(POSIX_TRACE_LOOP, 4096, 1);
}

static void teardown(void)
{
	__atomic_store_n(&px_testpoint_hook, NULL, __ATOMIC_RELEASE);
	posix_trace_shutdown(stream);
}

static void make_payload(unsigned char payload[PAYLOAD_BYTES], int number)
{
	memset(payload, number & 0xFF, PAYLOAD_BYTES);
	memcpy(payload, &number, sizeof(number));
}

static void record(int number)
{
	unsigned char payload[PAYLOAD_BYTES];

	make_payload(payload, number);
	posix_trace_event(type, payload, sizeof(payload));
}

/* The type of an event that was read: a recorded number, or one of these. */
enum { NOTHING = -1, TORN = -2, OTHER = -3 };

static int read_one(trace_id_t from, struct posix_trace_event_info *info)
{
	unsigned char payload[2048];
	int number, unavailable;
	size_t length;

	if (posix_trace_trygetnext_event(from, info, payload, sizeof(payload), &length,
					 &unavailable) ||
	    unavailable)
		return NOTHING;
	if (info->posix_event_id != type)
		return OTHER;
	memcpy(&number, payload, sizeof(number));
	if (length != PAYLOAD_BYTES)
		return TORN;
	for (size_t i = sizeof(number); i < length; i++)
		if (payload[i] != (number & 0xFF))
			return TORN;
	return number;
}

/* Record one event, and stop at a point of it. */
static struct px_test_writer held;

static void hold_writer(const char *point, int number)
{
	static unsigned char payload[PAYLOAD_BYTES];

	make_payload(payload, number);
	px_test_hold_data(&held, point, type, payload, sizeof(payload));
}

static void release_writer(void)
{
	px_test_release(&held);
}

/* All recorded events: how often this number occurs, and whether an event was torn. */
static int count_number(int number, bool *torn)
{
	struct posix_trace_event_info info;
	int found, count = 0;

	while ((found = read_one(stream, &info)) != NOTHING) {
		count += found == number;
		*torn |= found == TORN;
	}
	return count;
}

/* EVENT-17 EVENT-7 STOP-6: no event of the stopped window comes after its STOP. */
START_TEST(stop_at_every_step_of_a_writer_event_is_before_stop_or_not_there)
{
	struct posix_trace_event_info info;
	bool stopped = false;
	int found, count = 0;

	hold_writer(points[_i], 77);
	ok(posix_trace_stop(stream));
	release_writer();
	while ((found = read_one(stream, &info)) != NOTHING) {
		ck_assert_int_ne(found, TORN);
		if (found == 77) {
			ck_assert(!stopped);
			count++;
		}
		stopped |= info.posix_event_id == POSIX_TRACE_STOP;
	}
	ck_assert(stopped);
	ck_assert_int_le(count, 1);
	/*
	 * If the writer stopped before it committed the event, the event is missing, or the reader has waited for it.
	 */
	if (strcmp(points[_i], "ring.commit.done") == 0)
		ck_assert_int_eq(count, 1);
}
END_TEST

/* START-7 EVENT-1: the event goes into the window that runs when the writer checks the state again, after its START. */
START_TEST(restart_at_every_step_of_a_writer_event_is_inside_one_window)
{
	struct posix_trace_event_info info;
	bool running = false;
	int found, count = 0;

	hold_writer(points[_i], 78);
	ok(posix_trace_stop(stream));
	ok(posix_trace_start(stream));
	release_writer();
	ok(posix_trace_stop(stream));
	while ((found = read_one(stream, &info)) != NOTHING) {
		ck_assert_int_ne(found, TORN);
		if (info.posix_event_id == POSIX_TRACE_START)
			running = true;
		if (info.posix_event_id == POSIX_TRACE_STOP)
			running = false;
		if (found == 78) {
			ck_assert(running);
			count++;
		}
	}
	ck_assert_int_eq(count, 1);
}
END_TEST

/* CLEAR-1 CLEAR-6 */
START_TEST(clear_at_every_step_of_a_writer_leaves_at_most_that_event)
{
	bool torn = false;
	int count;

	record(1);
	hold_writer(points[_i], 79);
	ok(posix_trace_clear(stream));
	release_writer();
	record(2);
	count = count_number(1, &torn);
	ck_assert_int_eq(count, 0);
	ck_assert(!torn);
	record(3);
	ck_assert_int_eq(count_number(3, &torn), 1);
	ck_assert(!torn);
}
END_TEST

/* SETFILT-8 SETFILT-9: a writer that stops before its second check sees the new filter. */
START_TEST(set_filter_at_every_step_of_a_writer_event_obeys_old_or_new)
{
	struct posix_trace_event_info info;
	trace_event_set_t set;
	bool filtered = false;
	int found;

	ok(posix_trace_eventset_empty(&set));
	ok(posix_trace_eventset_add(type, &set));
	hold_writer(points[_i], 80);
	ok(posix_trace_set_filter(stream, &set, POSIX_TRACE_ADD_EVENTSET));
	release_writer();
	while ((found = read_one(stream, &info)) != NOTHING) {
		ck_assert_int_ne(found, TORN);
		if (found == 80)
			ck_assert(!filtered);
		filtered |= info.posix_event_id == POSIX_TRACE_FILTER;
	}
	ck_assert(filtered);
}
END_TEST

/* A sleep of a writer: so many changes, of the filter or of the state. */
static const struct {
	uint64_t nr_filters, nr_states;
} sleeps[] = {
	{1 << 8, 0},
	{1 << 28, 0},
	{0, 1 << 28},
	{1 << 28, (1 << 28) - (1 << 20)},
};
#define NR_SLEEPS ((int)PX_ARRAY_SIZE(sleeps))

static struct px_segment *segment;
static int sleep_number, nr_sleeps;

/* The state word and the filter after all these changes.  The last filter excludes the event. */
static void change_often(const char *point)
{
	uint64_t word = px_read_once(&segment->state);

	if (strcmp(point, "ring.claim.done") != 0 || nr_sleeps++ > 0)
		return;
	for (uint64_t i = 0; i < sleeps[sleep_number].nr_filters; i++)
		word = px_state_next_filter(word);
	for (uint64_t i = 0; i < sleeps[sleep_number].nr_states; i++)
		word = px_state_next(word, PX_STATE_RUNNING, false);
	px_eventset_add(&segment->filter[px_state_filter(word)], type);
	px_write_once(&segment->state, word);
}

/*
 * SETFILT-9 STOP-1: the writer tests its event again, however many changes there were between its two loads.  Before
 * that it has claimed its slots.
 */
START_TEST(writer_that_sleeps_for_very_many_changes_sees_that_there_were_some)
{
	struct posix_trace_event_info info;
	int found;

	ok(posix_trace_shutdown(stream));
	make_stream(POSIX_TRACE_LOOP, 4096, _i / NR_SLEEPS);
	segment = px_handle_lock(stream)->view.segment;
	px_handle_unlock(stream);
	sleep_number = _i % NR_SLEEPS;
	px_store_release(&px_testpoint_hook, change_often);
	record(82);
	px_store_release(&px_testpoint_hook, NULL);
	ck_assert_int_gt(nr_sleeps, 0);
	while ((found = read_one(stream, &info)) != NOTHING)
		ck_assert_int_ne(found, 82);
}
END_TEST

/* SHUT-10 EXIT-7: the memory is unmapped while a writer is using it. */
START_TEST(shutdown_at_every_step_of_a_writer_harms_nobody)
{
	bool torn = false;

	hold_writer(points[_i], 81);
	ok(posix_trace_shutdown(stream));
	make_stream(POSIX_TRACE_LOOP, 4096, 1); /* the kernel may use the same address again */
	release_writer();
	record(5);
	ck_assert_int_eq(count_number(5, &torn), 1);
	ck_assert(!torn);
}
END_TEST

/* LOOP-6 EVENT-17: a writer that sleeps for many laps. */
START_TEST(lap_at_every_step_of_a_writer_nothing_is_torn)
{
	struct posix_trace_event_info info;
	bool torn = false;
	int last = 0, found;

	hold_writer(points[_i], 1000000);
	for (int i = 1; i <= 2000; i++)
		record(i);
	while ((found = read_one(stream, &info)) != NOTHING) {
		ck_assert_int_ne(found, TORN);
		if (found > 0 && found < 1000000) {
			ck_assert_int_gt(found, last);
			last = found;
		}
	}
	ck_assert_int_eq(last, 2000);
	release_writer();
	record(2001);
	ck_assert_int_eq(count_number(2001, &torn), 1);
	ck_assert(!torn);
}
END_TEST

/* EXIT-6 GETNEXT-9: the reader waits some time for a writer, and then skips it. */
START_TEST(read_past_a_sleeping_writer_at_every_step)
{
	struct posix_trace_event_info info;
	struct timespec deadline;
	size_t length;
	int unavailable;

	count_number(0, &(bool){false});
	hold_writer(points[_i], 82);
	record(6);
	clock_gettime(CLOCK_REALTIME, &deadline);
	deadline.tv_sec += 10;
	do
		ok(posix_trace_timedgetnext_event(stream, &info, NULL, 0, &length, &unavailable,
						  &deadline));
	while (info.posix_event_id != type);
	release_writer();
	record(7);
	ck_assert_int_ge(count_number(7, &(bool){false}), 1);
}
END_TEST

/* UFULL-1 STATUS-4: a bounded stream fills up while a writer is in its event. */
START_TEST(fill_up_at_every_step_of_a_writer_no_event_is_both_lost_and_recorded)
{
	struct posix_trace_event_info info;
	struct txtrace_loss loss;
	int found, numbers = 0, recorded = 0;

	posix_trace_shutdown(stream);
	make_stream(POSIX_TRACE_UNTIL_FULL, 2000, 1);
	hold_writer(points[_i], 5000);
	for (int i = 1; i <= 200; i++, recorded++)
		record(i);
	release_writer();
	ok(posix_trace_stop(stream)); /* no restart */
	while ((found = read_one(stream, &info)) != NOTHING) {
		ck_assert_int_ne(found, TORN);
		numbers += found > 0;
	}
	ok(txtrace_get_loss(stream, &loss));
	ck_assert_int_eq(numbers + (int)loss.dropped, recorded + 1);
	ck_assert_uint_eq(loss.overwritten, 0);
}
END_TEST

/*
 * EVENT-12 UFULL-8: a full stream starts again while a writer is about to drop an event.  START has not seen this drop,
 * so it does not mark it.  The loss is marked before the next event of that thread.
 */

static void drop_at_start(const char *name)
{
	if (strcmp(name, "stream.start.recorded") != 0)
		return;
	__atomic_store_n(&px_testpoint_hook, NULL, __ATOMIC_RELEASE);
	record(900);
}

static void fill_up(void)
{
	struct posix_trace_status_info status;

	posix_trace_shutdown(stream);
	make_stream(POSIX_TRACE_UNTIL_FULL, 2000, 1);
	do {
		record(1);
		ok(posix_trace_get_status(stream, &status));
	} while (status.posix_stream_status == POSIX_TRACE_RUNNING);
}

/* Read until the event 901.  An OVERFLOW must come before it, after START if that was not read yet. */
static void expect_mark_before_901(bool has_begun)
{
	struct posix_trace_event_info info;
	bool is_marked = false;
	struct txtrace_loss loss;
	int found;

	while ((found = read_one(stream, &info)) != 901) {
		ck_assert_int_ne(found, NOTHING);
		ck_assert_int_ne(found, 900);
		has_begun |= info.posix_event_id == POSIX_TRACE_START;
		is_marked |= info.posix_event_id == POSIX_TRACE_OVERFLOW && has_begun;
	}
	ck_assert(is_marked);
	ok(txtrace_get_loss(stream, &loss));
	ck_assert_uint_eq(loss.dropped, 1);
}

START_TEST(start_before_a_drop_is_counted_the_loss_is_marked_by_the_writer)
{
	struct posix_trace_event_info info;

	fill_up();
	hold_writer("point.drop.dated", 900);
	while (read_one(stream, &info) != NOTHING) /* and START */
		;
	release_writer();
	record(901);
	expect_mark_before_901(true);
}
END_TEST

START_TEST(drop_between_start_and_its_run_the_loss_is_marked_by_the_controller)
{
	struct posix_trace_event_info info;

	fill_up();
	__atomic_store_n(&px_testpoint_hook, drop_at_start, __ATOMIC_RELEASE);
	while (__atomic_load_n(&px_testpoint_hook, __ATOMIC_ACQUIRE))
		ck_assert_int_ne(read_one(stream, &info), NOTHING);
	record(901);
	expect_mark_before_901(false);
}
END_TEST

/* Signal handlers. */

static const char *raise_at;
static sigjmp_buf out;
static bool jump_out;

static void raise_at_point(const char *name)
{
	if (raise_at && strcmp(name, raise_at) == 0) {
		raise_at = NULL;
		raise(SIGUSR1);
	}
}

static void on_signal(int signal)
{
	(void)signal;
	record(8);
	if (jump_out)
		siglongjmp(out, 1);
}

static void arm(const char *point, bool jump)
{
	jump_out = jump;
	raise_at = point;
	signal(SIGUSR1, on_signal);
	__atomic_store_n(&px_testpoint_hook, raise_at_point, __ATOMIC_RELEASE);
}

/* EVENT-7: both the event of the handler and the interrupted one. */
START_TEST(event_in_handler_inside_an_event_at_every_step_both_are_there)
{
	struct posix_trace_event_info info;
	int found, inner = 0, outer = 0;

	arm(points[_i], false);
	record(9);
	ck_assert_ptr_null(raise_at);
	while ((found = read_one(stream, &info)) != NOTHING) {
		ck_assert_int_ne(found, TORN);
		inner += found == 8;
		outer += found == 9;
	}
	ck_assert_int_eq(inner, 1);
	ck_assert_int_eq(outer, 1);
}
END_TEST

/* EVENT-7 EVENT-17: a handler leaves a call again and again, until each slot was left once. */
START_TEST(siglongjmp_out_of_an_event_at_every_step_the_stream_goes_on)
{
	struct posix_trace_event_info info;
	int found;

	for (volatile int i = 0; i < 200; i++) {
		arm(points[_i], true);
		if (sigsetjmp(out, 1) == 0)
			record(9);
	}
	while ((found = read_one(stream, &info)) != NOTHING)
		ck_assert_int_ne(found, TORN);
	__atomic_store_n(&px_testpoint_hook, NULL, __ATOMIC_RELEASE);
	/* The thread lives, so its slots stay claimed.  A clear still returns, and a new stream has all its slots. */
	ok(posix_trace_clear(stream));
	ok(posix_trace_shutdown(stream));
	make_stream(POSIX_TRACE_LOOP, 4096, 1);
	record(10);
	do
		found = read_one(stream, &info);
	while (found == OTHER);
	ck_assert_int_eq(found, 10);
}
END_TEST

/* Attaching. */

static void *just_record(void *unused)
{
	for (int i = 0; i < 100; i++)
		record(11);
	return unused;
}

static void hold_once(const char *name)
{
	if (strcmp(name, "process.attach.mapped") == 0 ||
	    strcmp(name, "process.refresh.followed") == 0 ||
	    strcmp(name, "process.detach.taken") == 0)
		sleep_ms(2);
}

/* MODEL-1 EVENT-11: several threads find a new stream at the same time. */
START_TEST(attach_by_several_threads_at_once_each_event_is_recorded_once)
{
	enum { THREADS = 4 };
	pthread_t threads[THREADS];
	bool torn = false;
	trace_attr_t attr;

	__atomic_store_n(&px_testpoint_hook, hold_once, __ATOMIC_RELEASE);
	posix_trace_shutdown(stream);
	ok(posix_trace_attr_init(&attr));
	ok(posix_trace_attr_setstreamsize(&attr, 1 << 20));
	ok(posix_trace_create(0, &attr, &stream));
	ok(posix_trace_start(stream));
	for (int i = 0; i < THREADS; i++)
		pthread_create(&threads[i], NULL, just_record, NULL);
	for (int i = 0; i < THREADS; i++)
		pthread_join(threads[i], NULL);
	ck_assert_int_eq(count_number(11, &torn), 100 * THREADS);
	ck_assert(!torn);
}
END_TEST

static bool finished;

static void *create_and_shut_down(void *unused)
{
	trace_id_t other;

	while (!__atomic_load_n(&finished, __ATOMIC_RELAXED))
		if (posix_trace_create(0, NULL, &other) == 0) {
			posix_trace_start(other);
			posix_trace_shutdown(other);
		}
	return unused;
}

/* SHUT-3 MULTI-5: streams begin and end while writers use them, also in handlers. */
START_TEST(streams_come_and_go_under_writers_the_lasting_one_loses_nothing)
{
	pthread_t makers[2];
	trace_attr_t attr;
	bool torn = false;
	int count = 0;

	posix_trace_shutdown(stream);
	ok(posix_trace_attr_init(&attr));
	ok(posix_trace_attr_setstreamsize(&attr, 8 << 20));
	ok(posix_trace_create(0, &attr, &stream));
	ok(posix_trace_start(stream));
	for (int i = 0; i < 2; i++)
		pthread_create(&makers[i], NULL, create_and_shut_down, NULL);
	for (int i = 0; i < 20000; i++)
		record(12);
	__atomic_store_n(&finished, true, __ATOMIC_RELAXED);
	for (int i = 0; i < 2; i++)
		pthread_join(makers[i], NULL);
	count = count_number(12, &torn);
	ck_assert_int_eq(count, 20000);
	ck_assert(!torn);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("races");
	TCase *steps = tcase_create("every step");
	TCase *attaching = tcase_create("attaching");
	const TTest *const at_every_step[] = {
		stop_at_every_step_of_a_writer_event_is_before_stop_or_not_there,
		restart_at_every_step_of_a_writer_event_is_inside_one_window,
		clear_at_every_step_of_a_writer_leaves_at_most_that_event,
		set_filter_at_every_step_of_a_writer_event_obeys_old_or_new,
		shutdown_at_every_step_of_a_writer_harms_nobody,
		lap_at_every_step_of_a_writer_nothing_is_torn,
		read_past_a_sleeping_writer_at_every_step,
		fill_up_at_every_step_of_a_writer_no_event_is_both_lost_and_recorded,
		event_in_handler_inside_an_event_at_every_step_both_are_there,
		siglongjmp_out_of_an_event_at_every_step_the_stream_goes_on,
	};

	tcase_add_checked_fixture(steps, setup, teardown);
	tcase_set_timeout(steps, 60);
	for (size_t i = 0; i < PX_ARRAY_SIZE(at_every_step); i++)
		tcase_add_loop_test(steps, at_every_step[i], 0, (int)PX_ARRAY_SIZE(points));
	tcase_add_loop_test(steps, writer_that_sleeps_for_very_many_changes_sees_that_there_were_some, 0,
			    2 * NR_SLEEPS);
	tcase_add_test(steps, start_before_a_drop_is_counted_the_loss_is_marked_by_the_writer);
	tcase_add_test(steps, drop_between_start_and_its_run_the_loss_is_marked_by_the_controller);
	suite_add_tcase(suite, steps);
	tcase_add_checked_fixture(attaching, setup, teardown);
	tcase_set_timeout(attaching, 120);
	tcase_add_test(attaching, attach_by_several_threads_at_once_each_event_is_recorded_once);
	tcase_add_test(attaching, streams_come_and_go_under_writers_the_lasting_one_loses_nothing);
	suite_add_tcase(suite, attaching);
	return run_suite(suite);
}
