/* SPDX-License-Identifier: MIT */
/* Run times from counts of the kernel: for counts that come late, and for threads that have one id after the other. */
#include "report/counted.h"

#include "support/common.h"

#include <string.h>
#include <trace_ext.h>

#include "base/message.h"

#define MS INT64_C(1000000)
#define TID 4712

static struct source source;
static struct report_events events;
static struct counted counted;

/* For bin/base. */
void message(const char *format, ...)
{
	(void)format;
}

void message_error(int error, const char *format, ...)
{
	(void)error;
	(void)format;
}

/* Each handle is one of the same thread, which executes other programs. */
const struct txtrace_object *source_object(const struct source *unused, unsigned int handle)
{
	static const struct txtrace_object thread = {.type = OBJECT_THREAD, .pid = 4711, .tid = TID};

	(void)unused;
	return handle > 0 ? &thread : NULL;
}

static void setup(void)
{
	memset(&source, 0, sizeof(source));
	memset(&counted, 0, sizeof(counted));
	events = (struct report_events){.source = &source, .end = INT64_MAX};
	counted.events = &events;
}

static void teardown(void)
{
	counted_free(&counted);
}

/* At this time, the kernel has counted so much for the thread. */
static void count(int64_t at_ns, int64_t ran_ns)
{
	struct txtrace_cpu_time time = {
		.pid = 4711, .tid = TID, .ran_ns = (unsigned long long)ran_ns, .name = "worker"};
	struct event event = {.type = TXTRACE_CPU_TIME, .time_ns = at_ns};

	event.data = (void *)&time;
	event.size = sizeof(time);
	counted_event(&counted, &event);
}

/* At this time, the thread records an event with this handle. */
static void record(int64_t at_ns, unsigned int handle)
{
	struct event event = {.type = POSIX_TRACE_UNNAMED_USEREVENT, .time_ns = at_ns, .context = handle};

	counted_event(&counted, &event);
}

static void expect(int64_t from_ns, int64_t until_ns, int64_t ran_ns)
{
	ck_assert_uint_eq(counted.nr_rows, 1);
	ck_assert_int_eq(counted.row[0].from_ns, from_ns);
	ck_assert_int_eq(counted.row[0].until_ns, until_ns);
	ck_assert_int_eq(counted.row[0].ran_ns, ran_ns);
}

START_TEST(thread_ran_between_its_counts)
{
	count(0, 100 * MS);
	expect(0, 0, 0);
	count(10 * MS, 103 * MS);
	expect(0, 10 * MS, 3 * MS);
	count(30 * MS, 110 * MS);
	expect(0, 30 * MS, 10 * MS);
}
END_TEST

/* The first count missed 4 ms in which the thread ran already: the second one has more than the time between them. */
START_TEST(thread_runs_no_longer_than_it_lives)
{
	count(0, 100 * MS);
	count(10 * MS, 114 * MS);
	expect(0, 10 * MS, 10 * MS);
	count(20 * MS, 119 * MS); /* what was missed is not added later */
	expect(0, 20 * MS, 15 * MS);
	count(30 * MS, 140 * MS);
	expect(0, 30 * MS, 25 * MS);
}
END_TEST

START_TEST(count_from_the_other_source_may_be_a_little_smaller)
{
	count(0, 100 * MS);
	count(10 * MS, 108 * MS);
	count(11 * MS, 107 * MS);
	expect(0, 11 * MS, 8 * MS);
	count(12 * MS, 109 * MS);
	expect(0, 12 * MS, 9 * MS);
}
END_TEST

START_TEST(much_smaller_count_is_that_of_another_thread)
{
	count(0, 100 * MS);
	count(10 * MS, 108 * MS);
	count(20 * MS, 1 * MS);
	expect(20 * MS, 20 * MS, 0);
	count(30 * MS, 6 * MS);
	expect(20 * MS, 30 * MS, 5 * MS);
}
END_TEST

START_TEST(each_program_of_a_thread_has_its_own_time)
{
	count(0, 100 * MS);
	record(1 * MS, 1);
	count(10 * MS, 108 * MS);
	record(12 * MS, 2);
	count(20 * MS, 113 * MS);
	record(21 * MS, 1); /* a merged log may have two logs of the thread */
	count(30 * MS, 120 * MS);
	ck_assert_uint_eq(counted.nr_rows, 2);
	ck_assert_uint_eq(counted.row[0].context, 1);
	ck_assert_int_eq(counted.row[0].until_ns, 10 * MS);
	ck_assert_int_eq(counted.row[0].ran_ns, 8 * MS);
	ck_assert_uint_eq(counted.row[1].context, 2);
	ck_assert_int_eq(counted.row[1].from_ns, 10 * MS);
	ck_assert_int_eq(counted.row[1].until_ns, 30 * MS);
	ck_assert_int_eq(counted.row[1].ran_ns, 12 * MS);
	ck_assert(!counted.row[0].knows_ready && !counted.row[1].knows_ready);
}
END_TEST

int main(void)
{
	TCase *tcase = tcase_create("counts");
	Suite *suite = suite_create("counted");

	tcase_add_checked_fixture(tcase, setup, teardown);
	tcase_add_test(tcase, thread_ran_between_its_counts);
	tcase_add_test(tcase, thread_runs_no_longer_than_it_lives);
	tcase_add_test(tcase, count_from_the_other_source_may_be_a_little_smaller);
	tcase_add_test(tcase, much_smaller_count_is_that_of_another_thread);
	tcase_add_test(tcase, each_program_of_a_thread_has_its_own_time);
	suite_add_tcase(suite, tcase);
	return run_suite(suite);
}
