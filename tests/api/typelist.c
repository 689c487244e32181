/* SPDX-License-Identifier: MIT */
/* The list of a stream's event types: posix_trace_eventtypelist_getnext_id() and _rewind(). */
#include "support/common.h"

#include <string.h>
#include <trace.h>
#include <trace_ext.h>

#include "base/compiler.h"

#define TYPES_MAX (TRACE_USER_EVENT_MAX + 15) /* user event types, and those of the system */

static trace_id_t stream;

static const trace_event_id_t predefined[] = {
	POSIX_TRACE_ERROR,	 POSIX_TRACE_START,	 POSIX_TRACE_STOP,
	POSIX_TRACE_FILTER,	 POSIX_TRACE_OVERFLOW,	 POSIX_TRACE_RESUME,
	POSIX_TRACE_FLUSH_START, POSIX_TRACE_FLUSH_STOP, TXTRACE_SWITCH_IN,
	TXTRACE_SWITCH_OUT,	 TXTRACE_SCHED_THREAD,	 TXTRACE_SCHED_GAP,
	TXTRACE_SCHED_START,	 TXTRACE_SCHED_STOP,	 TXTRACE_CPU_TIME,
	POSIX_TRACE_UNNAMED_USEREVENT,
};
#define NR_PREDEFINED PX_ARRAY_SIZE(predefined)

static void setup(void)
{
	stream = px_test_create(&(struct px_test_stream){.nr_rings = 1});
}

static trace_event_id_t open_numbered(int number)
{
	char name[32];

	snprintf(name, sizeof(name), "type %d", number);
	return px_test_open_type(name);
}

/* Return the next id of the list; return 0 at its end, where the function stores nothing. */
static trace_event_id_t next_type(trace_id_t trid)
{
	trace_event_id_t id = 54321;
	int unavailable = 99;

	ok(posix_trace_eventtypelist_getnext_id(trid, &id, &unavailable));
	if (unavailable) {
		ck_assert_int_ne(unavailable, 99);
		ck_assert_uint_eq(id, 54321);
		return 0;
	}
	ck_assert_uint_ne(id, 54321);
	return id;
}

static void expect_predefined(trace_id_t trid)
{
	for (size_t i = 0; i < NR_PREDEFINED; i++)
		ck_assert_uint_eq(next_type(trid), predefined[i]);
}

static void expect_end(trace_id_t trid)
{
	for (int i = 0; i < 3; i++)
		ck_assert_uint_eq(next_type(trid), 0);
}

/* TYPELIST-1 TYPELIST-2 TYPELIST-3 MODEL-4 */
START_TEST(getnext_id_without_user_types_gives_the_predefined_ones)
{
	expect_predefined(stream);
	expect_end(stream);
}
END_TEST

/* TYPELIST-1 TYPELIST-3 TYPELIST-4 */
START_TEST(getnext_id_gives_user_types_in_order_of_registration)
{
	trace_event_id_t ids[100];

	for (int i = 0; i < 100; i++)
		ids[i] = open_numbered(i);
	open_numbered(3); /* the type is known, so there is no second entry */
	expect_predefined(stream);
	for (int i = 0; i < 100; i++)
		ck_assert_uint_eq(next_type(stream), ids[i]);
	expect_end(stream);
}
END_TEST

/* TYPELIST-3 LIM-3 */
START_TEST(getnext_id_gives_as_many_as_there_can_be_each_once)
{
	static unsigned char seen[65536];
	int count = 0;

	for (int i = 0; i < 2 * TRACE_USER_EVENT_MAX; i++)
		open_numbered(i);
	for (trace_event_id_t id; (id = next_type(stream)); count++) {
		ck_assert_uint_lt(id, PX_ARRAY_SIZE(seen));
		ck_assert_int_eq(seen[id]++, 0);
	}
	ck_assert_int_eq(count, TYPES_MAX);
}
END_TEST

/* TYPELIST-4 EVOPEN-11 */
START_TEST(getnext_id_after_the_end_gives_types_opened_later)
{
	expect_predefined(stream);
	for (int i = 0; i < 5; i++) {
		trace_event_id_t id;

		expect_end(stream);
		id = open_numbered(i);
		ck_assert_uint_eq(next_type(stream), id);
	}
	expect_end(stream);
}
END_TEST

static int open_in_child(void *name)
{
	trace_event_id_t id;

	return posix_trace_eventid_open(name, &id);
}

/* TYPELIST-3 FORK-7: the list is that of the traced process; its child has another list. */
START_TEST(getnext_id_does_not_give_types_of_an_untraced_child)
{
	ck_assert_int_eq(px_test_in_child(open_in_child, (char *)"of the child"), 0);
	expect_predefined(stream);
	expect_end(stream);
}
END_TEST

/* TYPELIST-3 TYPELIST-4: if a child opened a name first, the parent still gets the name when it opens it. */
START_TEST(getnext_id_after_the_end_gives_a_type_that_a_child_opened_earlier)
{
	trace_event_id_t late, early;

	open_numbered(0);
	ck_assert_int_eq(px_test_in_child(open_in_child, (char *)"of both"), 0);
	early = open_numbered(1);
	expect_predefined(stream);
	ck_assert_uint_ne(next_type(stream), 0);
	ck_assert_uint_eq(next_type(stream), early);
	expect_end(stream);
	late = px_test_open_type("of both");
	ck_assert_uint_eq(next_type(stream), late);
	expect_end(stream);
}
END_TEST

/* TYPELIST-5 */
START_TEST(getnext_id_position_belongs_to_the_stream)
{
	trace_id_t other = px_test_create(&(struct px_test_stream){.nr_rings = 1});

	ck_assert_uint_eq(next_type(stream), predefined[0]);
	ck_assert_uint_eq(next_type(stream), predefined[1]);
	expect_predefined(other);
	expect_end(other);
	ck_assert_uint_eq(next_type(stream), predefined[2]);
	ok(posix_trace_eventtypelist_rewind(other));
	ck_assert_uint_eq(next_type(other), predefined[0]);
	ck_assert_uint_eq(next_type(stream), predefined[3]);
}
END_TEST

static void *take_two(void *unused)
{
	trace_event_id_t id;
	int unavailable;

	posix_trace_eventtypelist_getnext_id(stream, &id, &unavailable);
	posix_trace_eventtypelist_getnext_id(stream, &id, &unavailable);
	return unused;
}

/* TYPELIST-5: the position does not belong to the thread */
START_TEST(getnext_id_position_is_shared_by_threads)
{
	pthread_t thread;

	ck_assert_uint_eq(next_type(stream), predefined[0]);
	pthread_create(&thread, NULL, take_two, NULL);
	pthread_join(thread, NULL);
	ck_assert_uint_eq(next_type(stream), predefined[3]);
}
END_TEST

enum { THREADS = 4 };

static pthread_barrier_t barrier;
static struct {
	pthread_t thread;
	trace_event_id_t ids[TYPES_MAX];
	int nr, errors;
} taker[THREADS];

static void *take_all(void *argument)
{
	size_t self = (size_t)(intptr_t)argument;
	int unavailable;

	pthread_barrier_wait(&barrier);
	for (;;) {
		trace_event_id_t id;

		if (posix_trace_eventtypelist_getnext_id(stream, &id, &unavailable)) {
			taker[self].errors++;
			return NULL;
		}
		if (unavailable || taker[self].nr == TYPES_MAX)
			return NULL;
		taker[self].ids[taker[self].nr++] = id;
	}
}

/* TYPELIST-5 TYPELIST-3 GEN-3 */
START_TEST(getnext_id_by_many_threads_gives_each_type_to_one)
{
	static unsigned char seen[65536];
	int count = 0;

	for (int i = 0; i < TRACE_USER_EVENT_MAX; i++)
		open_numbered(i);
	pthread_barrier_init(&barrier, NULL, THREADS);
	for (intptr_t i = 0; i < THREADS; i++)
		pthread_create(&taker[i].thread, NULL, take_all, (void *)i);
	for (int i = 0; i < THREADS; i++)
		pthread_join(taker[i].thread, NULL);
	for (int i = 0; i < THREADS; i++) {
		ck_assert_int_eq(taker[i].errors, 0);
		for (int k = 0; k < taker[i].nr; k++)
			ck_assert_int_eq(seen[taker[i].ids[k]]++, 0);
		count += taker[i].nr;
	}
	ck_assert_int_eq(count, TYPES_MAX);
}
END_TEST

/* TYPEREW-1 */
START_TEST(rewind_anywhere_begins_again)
{
	trace_event_id_t id = open_numbered(0);

	for (size_t taken = 0; taken <= NR_PREDEFINED + 2; taken++) {
		for (size_t i = 0; i < taken; i++)
			next_type(stream);
		ok(posix_trace_eventtypelist_rewind(stream));
		ok(posix_trace_eventtypelist_rewind(stream));
	}
	expect_predefined(stream);
	ck_assert_uint_eq(next_type(stream), id);
	expect_end(stream);
}
END_TEST

/* CLEAR-9 CLEAR-4 */
START_TEST(clear_begins_the_list_again)
{
	trace_event_id_t id = open_numbered(0);

	expect_predefined(stream);
	ok(posix_trace_clear(stream));
	expect_predefined(stream);
	ck_assert_uint_eq(next_type(stream), id);
}
END_TEST

/* TYPELIST-1: other operations on the stream do not move the position. */
START_TEST(getnext_id_goes_on_where_it_was_whatever_else_happens)
{
	struct px_test_event event;
	trace_event_set_t set;
	trace_attr_t attr;

	ok(posix_trace_eventset_fill(&set, POSIX_TRACE_ALL_EVENTS));
	ck_assert_uint_eq(next_type(stream), predefined[0]);
	ok(posix_trace_start(stream));
	ok(posix_trace_set_filter(stream, &set, POSIX_TRACE_SET_EVENTSET)); /* hides no types */
	ok(posix_trace_stop(stream));
	px_test_take(stream, &event);
	px_test_status(stream);
	ok(posix_trace_get_attr(stream, &attr));
	ck_assert_uint_eq(next_type(stream), predefined[1]);
}
END_TEST

/* TYPELIST-6 TYPEREW-2 KIND-3 GEN-10 GEN-11 */
START_TEST(typelist_bad_argument_is_refused)
{
	trace_id_t bad[PX_TEST_BAD_TRIDS];
	trace_event_id_t id = 12345;
	int unavailable = 99;

	px_test_bad_trids(bad);
	for (size_t i = 0; i < PX_TEST_BAD_TRIDS; i++) {
		fails(posix_trace_eventtypelist_getnext_id(bad[i], &id, &unavailable), EINVAL);
		fails(posix_trace_eventtypelist_rewind(bad[i]), EINVAL);
	}
	fails(posix_trace_eventtypelist_getnext_id(stream, NULL, &unavailable), EINVAL);
	fails(posix_trace_eventtypelist_getnext_id(stream, &id, NULL), EINVAL);
	ck_assert_uint_eq(id, 12345);
	ck_assert_int_eq(unavailable, 99);
	ck_assert_uint_eq(next_type(stream), predefined[0]); /* nothing was taken */
}
END_TEST

static int result;

static void list_cancelled(void)
{
	trace_event_id_t id;
	int unavailable;

	result = posix_trace_eventtypelist_rewind(stream) |
		 posix_trace_eventtypelist_getnext_id(stream, &id, &unavailable);
}

/* GEN-7 GEN-2 */
START_TEST(typelist_with_cancellation_pending_is_done_in_full)
{
	result = -1;
	px_test_with_cancellation_pending(list_cancelled);
	ck_assert_int_eq(result, 0);
	errno = 77;
	ck_assert_uint_eq(next_type(stream), predefined[1]);
	ck_assert_int_eq(errno, 77);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("typelist");
	TCase *tcase = tcase_create("typelist");

	tcase_add_checked_fixture(tcase, setup, NULL);
	tcase_set_timeout(tcase, 60);
	tcase_add_test(tcase, getnext_id_without_user_types_gives_the_predefined_ones);
	tcase_add_test(tcase, getnext_id_gives_user_types_in_order_of_registration);
	tcase_add_test(tcase, getnext_id_gives_as_many_as_there_can_be_each_once);
	tcase_add_test(tcase, getnext_id_after_the_end_gives_types_opened_later);
	tcase_add_test(tcase, getnext_id_does_not_give_types_of_an_untraced_child);
	tcase_add_test(tcase, getnext_id_after_the_end_gives_a_type_that_a_child_opened_earlier);
	tcase_add_test(tcase, getnext_id_position_belongs_to_the_stream);
	tcase_add_test(tcase, getnext_id_position_is_shared_by_threads);
	tcase_add_test(tcase, getnext_id_by_many_threads_gives_each_type_to_one);
	tcase_add_test(tcase, rewind_anywhere_begins_again);
	tcase_add_test(tcase, clear_begins_the_list_again);
	tcase_add_test(tcase, getnext_id_goes_on_where_it_was_whatever_else_happens);
	tcase_add_test(tcase, typelist_bad_argument_is_refused);
	tcase_add_test(tcase, typelist_with_cancellation_pending_is_done_in_full);
	suite_add_tcase(suite, tcase);
	return run_suite(suite);
}
