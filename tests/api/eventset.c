/* SPDX-License-Identifier: MIT */
/* posix_trace_eventset_*(): sets are values that belong to the caller. */
#include "support/common.h"

#include <limits.h>
#include <string.h>
#include <trace_ext.h>

#define NR_IDS ((trace_event_id_t)(sizeof(trace_event_set_t) * CHAR_BIT))

static const trace_event_id_t system_events[] = {
	POSIX_TRACE_ERROR,    POSIX_TRACE_START,  POSIX_TRACE_STOP,	   POSIX_TRACE_FILTER,
	POSIX_TRACE_OVERFLOW, POSIX_TRACE_RESUME, POSIX_TRACE_FLUSH_START, POSIX_TRACE_FLUSH_STOP,
	TXTRACE_SWITCH_IN,    TXTRACE_SWITCH_OUT, TXTRACE_SCHED_THREAD,	   TXTRACE_SCHED_GAP,
	TXTRACE_SCHED_START,  TXTRACE_SCHED_STOP, TXTRACE_CPU_TIME,
};

#define NR_SYSTEM_EVENTS (sizeof(system_events) / sizeof(system_events[0]))

/* No event type can have these ids. */
static const trace_event_id_t impossible[] = {0,	      NR_IDS,  NR_IDS + 1,
					      NR_IDS + 63, INT_MAX, UINT_MAX};

#define NR_IMPOSSIBLE (sizeof(impossible) / sizeof(impossible[0]))

static trace_event_set_t set;

/* Each test starts with a set filled as uninitialised memory may be. */
static void begin(void)
{
	memset(&set, 0xa5, sizeof(set));
}

/* The tests call this 100,000 times, so report only failures to Check. */
static bool has(trace_event_id_t id, const trace_event_set_t *in)
{
	int member = -1;

	if (posix_trace_eventset_ismember(id, in, &member) || member == -1)
		ck_abort_msg("ismember(%u) failed", id);
	return member;
}

static bool is_system_event(trace_event_id_t id)
{
	for (size_t i = 0; i < NR_SYSTEM_EVENTS; i++)
		if (system_events[i] == id)
			return true;
	return false;
}

static unsigned int count(void)
{
	unsigned int members = 0;

	for (trace_event_id_t id = 1; id < NR_IDS; id++)
		members += has(id, &set);
	return members;
}

/* SETADD-1 ISMEM-1 */
START_TEST(eventset_add_each_id_makes_it_the_only_new_member)
{
	ok(posix_trace_eventset_empty(&set));
	for (trace_event_id_t id = 1; id < NR_IDS; id += 61) {
		unsigned int before = count();

		ck_assert(!has(id, &set));
		ok(posix_trace_eventset_add(id, &set));
		ck_assert(has(id, &set));
		ck_assert_uint_eq(count(), before + 1);
	}
	ok(posix_trace_eventset_add(NR_IDS - 1, &set));
	ck_assert(has(NR_IDS - 1, &set));
}
END_TEST

/* SETADD-1 */
START_TEST(eventset_add_member_again_is_no_error)
{
	ok(posix_trace_eventset_empty(&set));
	ok(posix_trace_eventset_add(POSIX_TRACE_START, &set));
	ok(posix_trace_eventset_add(POSIX_TRACE_START, &set));
	ck_assert(has(POSIX_TRACE_START, &set));
	ck_assert_uint_eq(count(), 1);
}
END_TEST

/* SETADD-2 */
START_TEST(eventset_add_one_set_leaves_neighbours_alone)
{
	trace_event_set_t sets[3], copy;

	ok(posix_trace_eventset_empty(&sets[0]));
	ok(posix_trace_eventset_empty(&sets[1]));
	ok(posix_trace_eventset_fill(&sets[2], POSIX_TRACE_SYSTEM_EVENTS));
	copy = sets[2];
	for (trace_event_id_t id = 1; id < NR_IDS; id++)
		ok(posix_trace_eventset_add(id, &sets[1]));
	for (trace_event_id_t id = 1; id < NR_IDS; id++)
		if (has(id, &sets[0]))
			ck_abort_msg("%u is a member", id);
	ck_assert_int_eq(memcmp(&copy, &sets[2], sizeof(copy)), 0);
}
END_TEST

/* SETADD-2 */
START_TEST(eventset_add_set_that_became_a_filter_leaves_the_filter_alone)
{
	trace_id_t stream = px_test_create(&(struct px_test_stream){.nr_rings = 1});
	trace_event_set_t filter;

	ok(posix_trace_eventset_fill(&set, POSIX_TRACE_SYSTEM_EVENTS));
	ok(posix_trace_set_filter(stream, &set, POSIX_TRACE_SET_EVENTSET));
	ok(posix_trace_eventset_add(POSIX_TRACE_UNNAMED_USEREVENT, &set));
	ok(posix_trace_eventset_del(POSIX_TRACE_ERROR, &set));
	ok(posix_trace_get_filter(stream, &filter));
	ck_assert(has(POSIX_TRACE_ERROR, &filter));
	ck_assert(!has(POSIX_TRACE_UNNAMED_USEREVENT, &filter));
	ok(posix_trace_shutdown(stream));
}
END_TEST

/* SETADD-3 GEN-10 */
START_TEST(eventset_add_impossible_id_is_einval)
{
	trace_event_set_t before = set;

	fails(posix_trace_eventset_add(impossible[_i], &set), EINVAL);
	ck_assert_int_eq(memcmp(&before, &set, sizeof(set)), 0);
}
END_TEST

/* SETADD-3 */
START_TEST(eventset_add_unregistered_id_is_accepted)
{
	ok(posix_trace_eventset_empty(&set));
	ok(posix_trace_eventset_add(9, &set));
	ok(posix_trace_eventset_add(POSIX_TRACE_UNNAMED_USEREVENT + 1, &set));
	ok(posix_trace_eventset_add(NR_IDS - 1, &set));
	ck_assert_uint_eq(count(), 3);
}
END_TEST

/* SETDEL-1 */
START_TEST(eventset_del_member_removes_only_it)
{
	for (trace_event_id_t id = 1; id < NR_IDS; id += 61) {
		ok(posix_trace_eventset_fill(&set, POSIX_TRACE_ALL_EVENTS));
		ok(posix_trace_eventset_del(id, &set));
		ck_assert(!has(id, &set));
		ck_assert_uint_eq(count(), NR_IDS - 2);
	}
}
END_TEST

/* SETDEL-1 */
START_TEST(eventset_del_non_member_is_no_error)
{
	ok(posix_trace_eventset_empty(&set));
	ok(posix_trace_eventset_del(POSIX_TRACE_STOP, &set));
	ok(posix_trace_eventset_del(POSIX_TRACE_STOP, &set));
	ck_assert_uint_eq(count(), 0);
}
END_TEST

/* SETDEL-2 GEN-10 */
START_TEST(eventset_del_impossible_id_is_einval)
{
	trace_event_set_t before = set;

	fails(posix_trace_eventset_del(impossible[_i], &set), EINVAL);
	ck_assert_int_eq(memcmp(&before, &set, sizeof(set)), 0);
}
END_TEST

/* SETEMPTY-1 SETEMPTY-2 */
START_TEST(eventset_empty_any_content_has_no_member)
{
	ok(posix_trace_eventset_empty(&set));
	ck_assert_uint_eq(count(), 0);
	ok(posix_trace_eventset_fill(&set, POSIX_TRACE_ALL_EVENTS));
	ok(posix_trace_eventset_empty(&set));
	ck_assert_uint_eq(count(), 0);
}
END_TEST

/* SETFILL-1 SETFILL-2 AMB-12 */
START_TEST(eventset_fill_wopid_is_empty)
{
	ok(posix_trace_eventset_fill(&set, POSIX_TRACE_WOPID_EVENTS));
	ck_assert_uint_eq(count(), 0);
	/* The continuation of the example in the rationale. */
	ok(posix_trace_eventset_del(POSIX_TRACE_ERROR, &set));
}
END_TEST

/* SETFILL-1 SETFILL-3 */
START_TEST(eventset_fill_system_has_exactly_the_system_events)
{
	ok(posix_trace_eventset_fill(&set, POSIX_TRACE_SYSTEM_EVENTS));
	for (trace_event_id_t id = 1; id < NR_IDS; id++)
		ck_assert_int_eq(has(id, &set), is_system_event(id));
	ck_assert(!has(POSIX_TRACE_UNNAMED_USEREVENT, &set));
}
END_TEST

/* SETFILL-1 SETFILL-4 AMB-13 */
START_TEST(eventset_fill_all_has_every_possible_id)
{
	ok(posix_trace_eventset_fill(&set, POSIX_TRACE_ALL_EVENTS));
	for (trace_event_id_t id = 1; id < NR_IDS; id++)
		ck_assert(has(id, &set));
	ck_assert(has(POSIX_TRACE_UNNAMED_USEREVENT, &set));
}
END_TEST

/* SETFILL-1: with any previous content. */
START_TEST(eventset_fill_any_content_gives_equal_sets)
{
	static const int whats[] = {POSIX_TRACE_WOPID_EVENTS, POSIX_TRACE_SYSTEM_EVENTS,
				    POSIX_TRACE_ALL_EVENTS};

	for (size_t i = 0; i < sizeof(whats) / sizeof(whats[0]); i++) {
		trace_event_set_t other;

		memset(&set, 0x00, sizeof(set));
		memset(&other, 0xff, sizeof(other));
		ok(posix_trace_eventset_fill(&set, whats[i]));
		ok(posix_trace_eventset_fill(&other, whats[i]));
		ck_assert_int_eq(memcmp(&set, &other, sizeof(set)), 0);
	}
}
END_TEST

/* SETFILL-5 GEN-10 GEN-11 */
START_TEST(eventset_fill_unknown_what_is_einval)
{
	static const int unknown[] = {0, 4, -1, INT_MAX, INT_MIN};
	trace_event_set_t before = set;

	for (size_t i = 0; i < sizeof(unknown) / sizeof(unknown[0]); i++)
		fails(posix_trace_eventset_fill(&set, unknown[i]), EINVAL);
	ck_assert_int_eq(memcmp(&before, &set, sizeof(set)), 0);
}
END_TEST

/* ISMEM-1 */
START_TEST(eventset_ismember_either_way_returns_0)
{
	int member = -1;

	ok(posix_trace_eventset_empty(&set));
	ok(posix_trace_eventset_add(POSIX_TRACE_UNNAMED_USEREVENT, &set));
	ok(posix_trace_eventset_ismember(POSIX_TRACE_UNNAMED_USEREVENT, &set, &member));
	ck_assert_int_ne(member, 0);
	member = -1;
	ok(posix_trace_eventset_ismember(POSIX_TRACE_START, &set, &member));
	ck_assert_int_eq(member, 0);
}
END_TEST

/* ISMEM-2 GEN-10 GEN-11 */
START_TEST(eventset_ismember_impossible_id_is_einval)
{
	int member = 4711;

	ok(posix_trace_eventset_fill(&set, POSIX_TRACE_ALL_EVENTS));
	fails(posix_trace_eventset_ismember(impossible[_i], &set, &member), EINVAL);
	ck_assert_int_eq(member, 4711);
}
END_TEST

/* SETADD-3 SETDEL-2 SETEMPTY-3 SETFILL-5 ISMEM-2 GEN-10 GEN-11 */
START_TEST(eventset_any_function_null_is_einval)
{
	int member = 4711;

	fails(posix_trace_eventset_add(POSIX_TRACE_START, NULL), EINVAL);
	fails(posix_trace_eventset_del(POSIX_TRACE_START, NULL), EINVAL);
	fails(posix_trace_eventset_empty(NULL), EINVAL);
	fails(posix_trace_eventset_fill(NULL, POSIX_TRACE_ALL_EVENTS), EINVAL);
	fails(posix_trace_eventset_fill(NULL, 0), EINVAL);
	fails(posix_trace_eventset_ismember(POSIX_TRACE_START, NULL, &member), EINVAL);
	fails(posix_trace_eventset_ismember(POSIX_TRACE_START, &set, NULL), EINVAL);
	ck_assert_int_eq(member, 4711);
}
END_TEST

static trace_event_set_t without_start(trace_event_set_t given)
{
	ok(posix_trace_eventset_del(POSIX_TRACE_START, &given));
	return given;
}

/* MAP-3: a set can be assigned and passed by value, and contains no pointers. */
START_TEST(eventset_copy_is_independent)
{
	trace_event_set_t copy, result;

	ok(posix_trace_eventset_fill(&set, POSIX_TRACE_SYSTEM_EVENTS));
	copy = set;
	result = without_start(copy);
	ok(posix_trace_eventset_del(POSIX_TRACE_STOP, &set));
	ck_assert(!has(POSIX_TRACE_STOP, &set));
	ck_assert(has(POSIX_TRACE_STOP, &copy));
	ck_assert(has(POSIX_TRACE_START, &copy));
	ck_assert(has(POSIX_TRACE_STOP, &result));
	ck_assert(!has(POSIX_TRACE_START, &result));
}
END_TEST

static void call_all(void)
{
	int member;

	posix_trace_eventset_empty(&set);
	posix_trace_eventset_fill(&set, POSIX_TRACE_ALL_EVENTS);
	posix_trace_eventset_add(POSIX_TRACE_START, &set);
	posix_trace_eventset_del(POSIX_TRACE_START, &set);
	posix_trace_eventset_ismember(POSIX_TRACE_START, &set, &member);
	posix_trace_eventset_add(0, NULL);
}

/* GEN-2 */
START_TEST(eventset_any_function_keeps_errno)
{
	errno = 4711;
	call_all();
	ck_assert_int_eq(errno, 4711);
}
END_TEST

/* GEN-6 */
START_TEST(eventset_any_function_is_no_cancellation_point)
{
	px_test_with_cancellation_pending(call_all);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("eventset");
	TCase *tcase = tcase_create("eventset");

	tcase_add_checked_fixture(tcase, begin, NULL);
	tcase_add_test(tcase, eventset_add_each_id_makes_it_the_only_new_member);
	tcase_add_test(tcase, eventset_add_member_again_is_no_error);
	tcase_add_test(tcase, eventset_add_one_set_leaves_neighbours_alone);
	tcase_add_test(tcase, eventset_add_set_that_became_a_filter_leaves_the_filter_alone);
	tcase_add_loop_test(tcase, eventset_add_impossible_id_is_einval, 0, NR_IMPOSSIBLE);
	tcase_add_test(tcase, eventset_add_unregistered_id_is_accepted);
	tcase_add_test(tcase, eventset_del_member_removes_only_it);
	tcase_add_test(tcase, eventset_del_non_member_is_no_error);
	tcase_add_loop_test(tcase, eventset_del_impossible_id_is_einval, 0, NR_IMPOSSIBLE);
	tcase_add_test(tcase, eventset_empty_any_content_has_no_member);
	tcase_add_test(tcase, eventset_fill_wopid_is_empty);
	tcase_add_test(tcase, eventset_fill_system_has_exactly_the_system_events);
	tcase_add_test(tcase, eventset_fill_all_has_every_possible_id);
	tcase_add_test(tcase, eventset_fill_any_content_gives_equal_sets);
	tcase_add_test(tcase, eventset_fill_unknown_what_is_einval);
	tcase_add_test(tcase, eventset_ismember_either_way_returns_0);
	tcase_add_loop_test(tcase, eventset_ismember_impossible_id_is_einval, 0, NR_IMPOSSIBLE);
	tcase_add_test(tcase, eventset_any_function_null_is_einval);
	tcase_add_test(tcase, eventset_copy_is_independent);
	tcase_add_test(tcase, eventset_any_function_keeps_errno);
	tcase_add_test(tcase, eventset_any_function_is_no_cancellation_point);
	suite_add_tcase(suite, tcase);
	return run_suite(suite);
}
