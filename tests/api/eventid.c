/* SPDX-License-Identifier: MIT */
/* Event types: posix_trace_eventid_open(), _trid_eventid_open(), _eventid_equal(),
 * _eventid_get_name(). */
#include "support/common.h"

#include <stdlib.h>
#include <string.h>
#include <trace.h>
#include <trace_ext.h>

#include "base/compiler.h"

#define NAMED_MAX (TRACE_USER_EVENT_MAX - 1)

static trace_id_t stream;

static void setup(void)
{
	stream = px_test_create(&(struct px_test_stream){.nr_rings = 1});
	ok(posix_trace_start(stream));
}

/* Open a type with posix_trace_trid_eventid_open(), through the stream. */
static trace_event_id_t open_through(trace_id_t trid, const char *name)
{
	trace_event_id_t id = 0;

	ok(posix_trace_trid_eventid_open(trid, name, &id));
	return id;
}

static void expect_name(trace_id_t trid, trace_event_id_t id, const char *expected)
{
	char name[TRACE_EVENT_NAME_MAX + 1];

	ok(posix_trace_eventid_get_name(trid, id, name));
	ck_assert_str_eq(name, expected);
}

/* Return how often the id is in the list of the stream's types. */
static int count_listed(trace_id_t trid, trace_event_id_t id)
{
	trace_event_id_t found;
	int count = 0, end;

	ok(posix_trace_eventtypelist_rewind(trid));
	for (;;) {
		ok(posix_trace_eventtypelist_getnext_id(trid, &found, &end));
		if (end)
			return count;
		count += found == id;
	}
}

/* Return the type of the next event that is neither START nor STOP; 0: there is none. */
static trace_event_id_t next_user_event(trace_id_t trid, struct px_test_event *event)
{
	trace_event_id_t id;

	do
		id = px_test_take(trid, event);
	while (id == POSIX_TRACE_START || id == POSIX_TRACE_STOP);
	return id;
}

static const struct {
	const char *name;
	trace_event_id_t id;
} predefined[] = {
	{"posix_trace_error", POSIX_TRACE_ERROR},
	{"posix_trace_start", POSIX_TRACE_START},
	{"posix_trace_stop", POSIX_TRACE_STOP},
	{"posix_trace_filter", POSIX_TRACE_FILTER},
	{"posix_trace_overflow", POSIX_TRACE_OVERFLOW},
	{"posix_trace_resume", POSIX_TRACE_RESUME},
	{"posix_trace_flush_start", POSIX_TRACE_FLUSH_START},
	{"posix_trace_flush_stop", POSIX_TRACE_FLUSH_STOP},
	{"posix_trace_unnamed_userevent", POSIX_TRACE_UNNAMED_USEREVENT},
};

/* posix_trace_eventid_open() */

/* EVOPEN-1 MAP-1 EVENT-14 */
START_TEST(eventid_open_new_name_gives_an_id_that_is_recorded_and_named)
{
	trace_event_id_t id = px_test_open_type("first of all");
	struct px_test_event event;

	for (size_t i = 0; i < PX_ARRAY_SIZE(predefined); i++)
		ck_assert_uint_ne(id, predefined[i].id);
	posix_trace_event(id, "abc", 3);
	ck_assert_uint_eq(next_user_event(stream, &event), id);
	ck_assert_uint_eq(event.length, 3);
	expect_name(stream, event.info.posix_event_id, "first of all");
}
END_TEST

/* EVOPEN-2 EVOPEN-3 MODEL-5 */
START_TEST(eventid_open_same_name_same_id_other_name_other_id)
{
	enum { NAMES = 200 };
	trace_event_id_t id[NAMES];
	char name[32];

	for (int round = 0; round < 2; round++) {
		for (int i = 0; i < NAMES; i++) {
			trace_event_id_t got;

			snprintf(name, sizeof(name), "type %d", i);
			got = px_test_open_type(name);
			ck_assert(round == 0 || got == id[i]);
			id[i] = got;
			for (int k = 0; k < i; k++)
				ck_assert_uint_ne(id[k], got);
		}
	}
}
END_TEST

/* EVOPEN-12 */
START_TEST(eventid_open_names_are_compared_as_bytes)
{
	static const char *const names[] = {"name",
					    "Name",
					    "NAME",
					    "name ",
					    " name",
					    "nam",
					    "names",
					    "n\303\244me",
					    "na\314\210me",
					    "n\344me",
					    "name\n",
					    "na%sme",
					    "\377",
					    "\377\377",
					    "posix_trace_START",
					    "posix_trace_starts",
					    "posix_trace_"};
	trace_event_id_t id[PX_ARRAY_SIZE(names)];

	for (size_t i = 0; i < PX_ARRAY_SIZE(names); i++) {
		id[i] = px_test_open_type(names[i]);
		expect_name(stream, id[i], names[i]);
		for (size_t k = 0; k < i; k++)
			ck_assert_uint_ne(id[k], id[i]);
	}
}
END_TEST

/* EVOPEN-8 */
START_TEST(eventid_open_empty_string_is_a_name)
{
	trace_event_id_t id = px_test_open_type("");

	ck_assert_uint_ne(id, POSIX_TRACE_UNNAMED_USEREVENT);
	ck_assert_uint_eq(px_test_open_type(""), id);
	ck_assert_uint_ne(px_test_open_type("x"), id);
	expect_name(stream, id, "");
}
END_TEST

/* EVOPEN-7 TRIDOPEN-6 EVNAME-1 EVNAME-7 LIM-1 */
START_TEST(eventid_open_longest_name_is_taken_a_longer_one_is_not)
{
	char name[TRACE_EVENT_NAME_MAX + 2], got[TRACE_EVENT_NAME_MAX + 2];
	trace_event_id_t id, refused = 12345;

	memset(name, 'n', sizeof(name));
	name[TRACE_EVENT_NAME_MAX + 1] = '\0';
	fails(posix_trace_eventid_open(name, &refused), ENAMETOOLONG);
	fails(posix_trace_trid_eventid_open(stream, name, &refused), ENAMETOOLONG);
	ck_assert_uint_eq(refused, 12345);
	name[TRACE_EVENT_NAME_MAX] = '\0';
	id = px_test_open_type(name);
	memset(got, '#', sizeof(got));
	ok(posix_trace_eventid_get_name(stream, id, got));
	ck_assert_str_eq(got, name);
	ck_assert_int_eq(got[TRACE_EVENT_NAME_MAX + 1], '#');
	name[TRACE_EVENT_NAME_MAX - 1] = '\0';
	ck_assert_uint_ne(px_test_open_type(name), id);
}
END_TEST

/* EVOPEN-8 EVNAME-5 TRIDOPEN-5 GEN-10 GEN-11 */
START_TEST(eventid_functions_refuse_null)
{
	char name[TRACE_EVENT_NAME_MAX + 1];
	trace_event_id_t id = 12345;

	fails(posix_trace_eventid_open(NULL, &id), EINVAL);
	fails(posix_trace_eventid_open("null", NULL), EINVAL);
	fails(posix_trace_trid_eventid_open(stream, NULL, &id), EINVAL);
	fails(posix_trace_trid_eventid_open(stream, "null", NULL), EINVAL);
	fails(posix_trace_eventid_get_name(stream, POSIX_TRACE_START, NULL), EINVAL);
	ck_assert_uint_eq(id, 12345);
	fails(posix_trace_eventid_get_name(0, POSIX_TRACE_START, name), EINVAL);
}
END_TEST

/* EVOPEN-9 TRIDOPEN-8 MODEL-5 EVENT-13 */
START_TEST(eventid_open_predefined_name_gives_the_predefined_id)
{
	struct px_test_event event;

	for (size_t i = 0; i < PX_ARRAY_SIZE(predefined); i++) {
		ck_assert_uint_eq(px_test_open_type(predefined[i].name), predefined[i].id);
		ck_assert_uint_eq(open_through(stream, predefined[i].name), predefined[i].id);
	}
	px_test_expect(stream, POSIX_TRACE_START, &event);
	for (size_t i = 0; i < PX_ARRAY_SIZE(predefined); i++)
		posix_trace_event(predefined[i].id, NULL, 0);
	px_test_expect(stream, POSIX_TRACE_UNNAMED_USEREVENT, &event);
	px_test_expect(stream, 0, &event);
}
END_TEST

/* EVOPEN-6 EVOPEN-10 MAP-4 MODEL-4: a mapping of names exists longer than every stream, and no function removes it. */
START_TEST(eventid_open_without_stream_is_kept_for_all_streams)
{
	trace_event_id_t before, between;
	struct px_test_event event;
	trace_id_t later;

	ok(posix_trace_shutdown(stream));
	before = px_test_open_type("before");
	later = px_test_create(&(struct px_test_stream){.nr_rings = 1});
	expect_name(later, before, "before");
	ok(posix_trace_clear(later));
	expect_name(later, before, "before");
	ok(posix_trace_shutdown(later));
	between = px_test_open_type("between");
	ck_assert_uint_eq(px_test_open_type("before"), before);
	later = px_test_create(&(struct px_test_stream){.nr_rings = 1});
	ok(posix_trace_start(later));
	posix_trace_event(before, NULL, 0);
	posix_trace_event(between, NULL, 0);
	ck_assert_uint_eq(next_user_event(later, &event), before);
	ck_assert_uint_eq(next_user_event(later, &event), between);
	expect_name(later, between, "between");
	ck_assert_int_eq(count_listed(later, before), 1);
}
END_TEST

/* EVOPEN-11 MODEL-4 */
START_TEST(eventid_open_is_visible_in_all_active_streams)
{
	trace_id_t other = px_test_create(&(struct px_test_stream){.nr_rings = 1});
	trace_event_id_t id;

	id = px_test_open_type("visible");
	expect_name(stream, id, "visible");
	expect_name(other, id, "visible");
	ck_assert_int_eq(count_listed(stream, id), 1);
	ck_assert_int_eq(count_listed(other, id), 1);
}
END_TEST

static void open_until_the_limit(const char *prefix)
{
	trace_event_id_t last = 0;
	char name[32];

	for (int i = 0; i < NAMED_MAX; i++) {
		trace_event_id_t id;

		snprintf(name, sizeof(name), "%s %d", prefix, i);
		id = px_test_open_type(name);
		ck_assert_uint_ne(id, POSIX_TRACE_UNNAMED_USEREVENT);
		ck_assert_uint_ne(id, last);
		last = id;
	}
}

/* EVOPEN-4 LIM-3 TRIDOPEN-4 EVOPEN-2 EVOPEN-9 */
START_TEST(eventid_open_beyond_the_limit_is_the_unnamed_event)
{
	struct px_test_event event;
	trace_event_id_t known = px_test_open_type("type 0");

	open_until_the_limit("type");
	for (int i = 0; i < 3; i++) {
		ck_assert_uint_eq(px_test_open_type("one more"), POSIX_TRACE_UNNAMED_USEREVENT);
		ck_assert_uint_eq(open_through(stream, "one more"), POSIX_TRACE_UNNAMED_USEREVENT);
	}
	ck_assert_uint_eq(px_test_open_type("type 0"), known);
	ck_assert_uint_eq(open_through(stream, "type 0"), known);
	ck_assert_uint_eq(px_test_open_type("posix_trace_stop"), POSIX_TRACE_STOP);
	expect_name(stream, POSIX_TRACE_UNNAMED_USEREVENT, "posix_trace_unnamed_userevent");
	posix_trace_event(px_test_open_type("one more"), "x", 1);
	ck_assert_uint_eq(next_user_event(stream, &event), POSIX_TRACE_UNNAMED_USEREVENT);
}
END_TEST

/* Threads that open. */

enum { THREADS = 4, NAMES_EACH = 400 };

static struct {
	pthread_t thread;
	int first; /* number of the first name */
	trace_event_id_t id[NAMES_EACH];
	int failures;
} opener[THREADS];

static pthread_barrier_t barrier;

static void *open_names(void *argument)
{
	int self = (int)(intptr_t)argument;
	char name[32];

	pthread_barrier_wait(&barrier);
	for (int i = 0; i < NAMES_EACH; i++) {
		snprintf(name, sizeof(name), "type %d", opener[self].first + i);
		if (i % 2)
			opener[self].failures += posix_trace_eventid_open(name,
									  &opener[self].id[i]);
		else
			opener[self].failures += posix_trace_trid_eventid_open(stream, name,
									       &opener[self].id[i]);
	}
	return NULL;
}

static void open_in_threads(int distance)
{
	pthread_barrier_init(&barrier, NULL, THREADS);
	for (int i = 0; i < THREADS; i++) {
		opener[i].first = i * distance;
		opener[i].failures = 0;
		pthread_create(&opener[i].thread, NULL, open_names, (void *)(intptr_t)i);
	}
	for (int i = 0; i < THREADS; i++)
		pthread_join(opener[i].thread, NULL);
	for (int i = 0; i < THREADS; i++)
		ck_assert_int_eq(opener[i].failures, 0);
}

/* EVOPEN-2 TRIDOPEN-2 MODEL-5 GEN-3: all threads get the same id, whichever thread is first. */
START_TEST(eventid_open_same_names_in_all_threads_same_ids)
{
	open_in_threads(0);
	for (int i = 1; i < THREADS; i++)
		ck_assert_mem_eq(opener[i].id, opener[0].id, sizeof(opener[0].id));
	for (int i = 0; i < NAMES_EACH; i++)
		ck_assert_int_eq(count_listed(stream, opener[0].id[i]), 1);
}
END_TEST

/* EVOPEN-3 EVOPEN-4 LIM-3: the limit is exact, even if several threads reach it at the same time. */
START_TEST(eventid_open_other_names_in_all_threads_named_up_to_the_limit)
{
	static unsigned char uses[65536];
	int named = 0, unnamed = 0;

	open_in_threads(NAMES_EACH);
	for (int i = 0; i < THREADS; i++) {
		for (int k = 0; k < NAMES_EACH; k++) {
			trace_event_id_t id = opener[i].id[k];

			ck_assert_uint_lt(id, PX_ARRAY_SIZE(uses));
			if (id == POSIX_TRACE_UNNAMED_USEREVENT)
				unnamed++;
			else
				named += !uses[id]++;
		}
	}
	ck_assert_int_eq(named, NAMED_MAX);
	ck_assert_int_eq(unnamed, THREADS * NAMES_EACH - NAMED_MAX);
}
END_TEST

static int open_other_names(void *argument)
{
	trace_event_id_t id;
	char name[32];

	for (int i = 0; i < NAMED_MAX - 1; i++) { /* "parent 0" is one of them */
		snprintf(name, sizeof(name), "child %d %d", *(int *)argument, i);
		if (posix_trace_eventid_open(name, &id) || id == POSIX_TRACE_UNNAMED_USEREVENT)
			return 1;
	}
	return 0;
}

/* EVOPEN-3 EVOPEN-4 LIM-3: each process has its own limit.  The types that a child opened end with the child. */
START_TEST(eventid_open_after_children_opened_many_has_its_own_limit)
{
	trace_event_id_t id = px_test_open_type("parent 0");

	for (int i = 0; i < 2; i++)
		ck_assert_int_eq(px_test_in_child(open_other_names, &i), 0);
	ck_assert_uint_eq(px_test_open_type("parent 0"), id);
	open_until_the_limit("parent");
}
END_TEST

static int open_result;

static void open_cancelled(void)
{
	trace_event_id_t id, same;
	char name[TRACE_EVENT_NAME_MAX + 1];

	open_result = posix_trace_eventid_open("uncancelled", &id) |
		      posix_trace_trid_eventid_open(stream, "uncancelled", &same) |
		      posix_trace_eventid_get_name(stream, id, name) |
		      !posix_trace_eventid_equal(stream, id, same);
}

/* GEN-6 CANC-3 */
START_TEST(eventid_functions_are_no_cancellation_points)
{
	open_result = -1;
	px_test_with_cancellation_pending(open_cancelled);
	ck_assert_int_eq(open_result, 0);
}
END_TEST

/* GEN-2 */
START_TEST(eventid_functions_leave_errno_alone)
{
	char name[TRACE_EVENT_NAME_MAX + 1];
	trace_event_id_t id;

	errno = 77;
	ok(posix_trace_eventid_open("errno", &id));
	ok(posix_trace_trid_eventid_open(stream, "errno 2", &id));
	ok(posix_trace_eventid_get_name(stream, id, name));
	posix_trace_eventid_equal(stream, id, id);
	ck_assert_int_eq(errno, 77);
}
END_TEST

/* posix_trace_trid_eventid_open() */

/* TRIDOPEN-1 TRIDOPEN-2 TRIDOPEN-3 EVOPEN-2 */
START_TEST(trid_eventid_open_gives_the_id_of_the_process)
{
	trace_id_t other = px_test_create(&(struct px_test_stream){.nr_rings = 1});
	trace_event_id_t first, second;

	first = open_through(stream, "controller first");
	ck_assert_uint_eq(px_test_open_type("controller first"), first);
	ck_assert_uint_eq(open_through(other, "controller first"), first);
	second = px_test_open_type("target first");
	ck_assert_uint_eq(open_through(stream, "target first"), second);
	ck_assert_uint_ne(first, second);
	expect_name(other, first, "controller first");
}
END_TEST

/* TRIDOPEN-7 SETFILT-2 */
START_TEST(trid_eventid_open_prepares_a_filter_for_a_type_that_comes_later)
{
	trace_event_set_t set;
	struct px_test_event event;
	trace_event_id_t later, open;

	ok(posix_trace_eventset_empty(&set));
	ok(posix_trace_eventset_add(open_through(stream, "later"), &set));
	ok(posix_trace_stop(stream));
	ok(posix_trace_set_filter(stream, &set, POSIX_TRACE_SET_EVENTSET));
	ok(posix_trace_start(stream));
	later = px_test_open_type("later");
	open = px_test_open_type("open");
	posix_trace_event(later, NULL, 0);
	posix_trace_event(open, NULL, 0);
	ck_assert_uint_eq(next_user_event(stream, &event), open);
	ck_assert_uint_eq(next_user_event(stream, &event), 0);
}
END_TEST

/* TRIDOPEN-5 EVNAME-5 EVEQ-2 KIND-3 GEN-11 */
START_TEST(eventid_functions_refuse_bad_identifiers)
{
	trace_id_t bad[PX_TEST_BAD_TRIDS];
	trace_event_id_t id = 12345;
	char name[TRACE_EVENT_NAME_MAX + 1] = "untouched";

	px_test_bad_trids(bad);
	for (size_t i = 0; i < PX_TEST_BAD_TRIDS; i++) {
		fails(posix_trace_trid_eventid_open(bad[i], "bad", &id), EINVAL);
		fails(posix_trace_trid_eventid_open(bad[i], "posix_trace_start", &id), EINVAL);
		fails(posix_trace_eventid_get_name(bad[i], POSIX_TRACE_START, name), EINVAL);
		/* The calls return no errors, and do not crash. */
		ck_assert_int_ne(posix_trace_eventid_equal(bad[i], 17, 17), 0);
		ck_assert_int_eq(posix_trace_eventid_equal(bad[i], 17, 18), 0);
	}
	ck_assert_uint_eq(id, 12345);
	ck_assert_str_eq(name, "untouched");
}
END_TEST

/* posix_trace_eventid_equal() */

/* EVEQ-1 EVEQ-2 INFO-1 */
START_TEST(eventid_equal_is_a_truth_value_and_not_an_error_number)
{
	trace_event_id_t a = px_test_open_type("a"), b = px_test_open_type("b");

	ck_assert_int_ne(posix_trace_eventid_equal(stream, a, a), 0);
	ck_assert_int_ne(posix_trace_eventid_equal(stream, a, px_test_open_type("a")), 0);
	ck_assert_int_eq(posix_trace_eventid_equal(stream, a, b), 0);
	ck_assert_int_ne(posix_trace_eventid_equal(stream, POSIX_TRACE_START, POSIX_TRACE_START),
			 0);
	ck_assert_int_eq(posix_trace_eventid_equal(stream, POSIX_TRACE_START, POSIX_TRACE_STOP), 0);
	ck_assert_int_ne(posix_trace_eventid_equal(stream, POSIX_TRACE_UNNAMED_USEREVENT,
						   POSIX_TRACE_UNNAMED_USER_EVENT),
			 0);
	ck_assert_int_eq(posix_trace_eventid_equal(stream, 0, (trace_event_id_t)-1), 0);
}
END_TEST

/* posix_trace_eventid_get_name() */

/* EVNAME-3 EVNAME-2 SYSEV-1 HDR-9 */
START_TEST(get_name_knows_the_predefined_types)
{
	for (int round = 0; round < 2; round++) {
		for (size_t i = 0; i < PX_ARRAY_SIZE(predefined); i++)
			expect_name(stream, predefined[i].id, predefined[i].name);
		/* Before the process has opened any name, and afterwards. */
		px_test_open_type("some name");
	}
}
END_TEST

static int open_in_child(void *unused)
{
	trace_event_id_t id;

	(void)unused;
	return posix_trace_eventid_open("of the child", &id) ? 255 : (int)id;
}

/* EVNAME-6 */
START_TEST(get_name_of_id_without_name_is_refused)
{
	char name[TRACE_EVENT_NAME_MAX + 1] = "untouched";
	trace_event_id_t last = px_test_open_type("last"), of_child;
	const trace_event_id_t bad[] = {0,    last + 1, 4095, 4096,
					4097, 65535, 65552, 1u << 31, -1u,  (1u << 31) + last};

	for (size_t i = 0; i < PX_ARRAY_SIZE(bad); i++)
		fails(posix_trace_eventid_get_name(stream, bad[i], name), EINVAL);
	of_child = (trace_event_id_t)px_test_in_child(open_in_child, NULL);
	ck_assert_uint_lt(of_child, 255);
	fails(posix_trace_eventid_get_name(stream, of_child, name), EINVAL);
	ck_assert_str_eq(name, "untouched");
	expect_name(stream, last, "last");
}
END_TEST

/* Ids and event sets in several streams. */

/* MAP-3 MAP-1 TRIDOPEN-3: the same set works for all streams. */
START_TEST(ids_mean_the_same_in_every_stream_and_set)
{
	trace_id_t other = px_test_create(&(struct px_test_stream){.nr_rings = 1});
	trace_event_id_t a = open_through(stream, "a"), b = open_through(other, "b");
	struct px_test_event event;
	trace_event_set_t set;

	ok(posix_trace_eventset_empty(&set));
	ok(posix_trace_eventset_add(a, &set));
	ok(posix_trace_stop(stream));
	ok(posix_trace_set_filter(stream, &set, POSIX_TRACE_SET_EVENTSET));
	ok(posix_trace_set_filter(other, &set, POSIX_TRACE_SET_EVENTSET));
	ok(posix_trace_start(stream));
	ok(posix_trace_start(other));
	posix_trace_event(a, NULL, 0);
	posix_trace_event(b, NULL, 0);
	ck_assert_uint_eq(next_user_event(stream, &event), b);
	ck_assert_uint_eq(next_user_event(other, &event), b);
	ck_assert_uint_eq(next_user_event(stream, &event), 0);
	ck_assert_uint_eq(next_user_event(other, &event), 0);
}
END_TEST

/* MAP-5: the ring does not contain names or attributes. */
START_TEST(names_and_attributes_survive_an_overrun)
{
	trace_event_id_t early = px_test_open_type("early"), late;
	struct timespec before, after;
	struct px_test_event event;
	trace_attr_t attr;

	ok(posix_trace_get_attr(stream, &attr));
	ok(posix_trace_attr_getcreatetime(&attr, &before));
	for (uint32_t i = 0; i < 5000; i++)
		px_test_trace(early, i);
	late = px_test_open_type("late");
	ck_assert_int_eq(px_test_status(stream).posix_stream_overrun_status, POSIX_TRACE_OVERRUN);
	px_test_expect(stream, POSIX_TRACE_OVERFLOW, &event);
	expect_name(stream, early, "early");
	expect_name(stream, late, "late");
	ok(posix_trace_get_attr(stream, &attr));
	ok(posix_trace_attr_getcreatetime(&attr, &after));
	ck_assert_uint_eq(px_test_ns(before), px_test_ns(after));
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("eventid");
	TCase *tcase = tcase_create("eventid");

	tcase_add_checked_fixture(tcase, setup, NULL);
	tcase_set_timeout(tcase, 60);
	tcase_add_test(tcase, eventid_open_new_name_gives_an_id_that_is_recorded_and_named);
	tcase_add_test(tcase, eventid_open_same_name_same_id_other_name_other_id);
	tcase_add_test(tcase, eventid_open_names_are_compared_as_bytes);
	tcase_add_test(tcase, eventid_open_empty_string_is_a_name);
	tcase_add_test(tcase, eventid_open_longest_name_is_taken_a_longer_one_is_not);
	tcase_add_test(tcase, eventid_functions_refuse_null);
	tcase_add_test(tcase, eventid_open_predefined_name_gives_the_predefined_id);
	tcase_add_test(tcase, eventid_open_without_stream_is_kept_for_all_streams);
	tcase_add_test(tcase, eventid_open_is_visible_in_all_active_streams);
	tcase_add_test(tcase, eventid_open_beyond_the_limit_is_the_unnamed_event);
	tcase_add_test(tcase, eventid_open_same_names_in_all_threads_same_ids);
	tcase_add_test(tcase, eventid_open_other_names_in_all_threads_named_up_to_the_limit);
	tcase_add_test(tcase, eventid_open_after_children_opened_many_has_its_own_limit);
	tcase_add_test(tcase, eventid_functions_are_no_cancellation_points);
	tcase_add_test(tcase, eventid_functions_leave_errno_alone);
	tcase_add_test(tcase, trid_eventid_open_gives_the_id_of_the_process);
	tcase_add_test(tcase, trid_eventid_open_prepares_a_filter_for_a_type_that_comes_later);
	tcase_add_test(tcase, eventid_functions_refuse_bad_identifiers);
	tcase_add_test(tcase, eventid_equal_is_a_truth_value_and_not_an_error_number);
	tcase_add_test(tcase, get_name_knows_the_predefined_types);
	tcase_add_test(tcase, get_name_of_id_without_name_is_refused);
	tcase_add_test(tcase, ids_mean_the_same_in_every_stream_and_set);
	tcase_add_test(tcase, names_and_attributes_survive_an_overrun);
	suite_add_tcase(suite, tcase);
	return run_suite(suite);
}
