/* SPDX-License-Identifier: MIT */
/*
 * Readings of the wall clock in a log: when they are made, what they say, that they survive packing and recovery, and
 * that a log without them, or with damaged ones, is a log like before.
 */
#include "support/common.h"

#include <fcntl.h>
#include <string.h>
#include <sys/timex.h>
#include <time.h>
#include <trace_ext.h>
#include <unistd.h>

#include "log/clocks.h"
#include "log/format.h"
#include "support/log_checker.h"

#define SECOND INT64_C(1000000000)

static int answer = TIME_ERROR;
static long maxerror_us;

/* The kernel's answer. */
int adjtimex(struct timex *state)
{
	memset(state, 0, sizeof(*state));
	state->maxerror = maxerror_us;
	state->status = answer == TIME_ERROR ? STA_UNSYNC : 0;
	return answer;
}

static void add(struct px_log_clocks *clocks, int64_t seconds, int64_t low_ns, int64_t high_ns, int64_t error_ns)
{
	struct px_clock_sleep sleep = {.is_known = false};

	const struct px_clock_reading reading = {(uint64_t)(seconds * SECOND), low_ns, high_ns, error_ns, 0, 0};

	px_log_clocks_add(clocks, &reading, &sleep);
}

START_TEST(readings_of_one_run_narrow_the_distance)
{
	struct px_log_clocks clocks = {0};

	add(&clocks, 10, -100, 100, 5000);
	add(&clocks, 11, -20, 500, -1);
	add(&clocks, 12, -300, 50, 3000);
	add(&clocks, 13, -10, 400, 4000);
	ck_assert_uint_eq(clocks.nr_readings, 4);
	ck_assert_uint_eq(clocks.nr_runs, 1);
	ck_assert_uint_eq(clocks.run[0].from_ns, 10 * SECOND);
	ck_assert_uint_eq(clocks.run[0].until_ns, 13 * SECOND);
	ck_assert_int_eq(clocks.run[0].low_ns, -10);
	ck_assert_int_eq(clocks.run[0].high_ns, 50);
	ck_assert_int_eq(clocks.run[0].error[0].error_ns, 5000);
	ck_assert_int_eq(clocks.run[0].error[1].error_ns, 3000);
	ck_assert_uint_eq(clocks.run[0].error[1].time_ns, 12 * SECOND);
	ck_assert_int_eq(clocks.run[0].error[2].error_ns, 4000);
}
END_TEST

/* During a sleep the wall clock goes on, so it seems to be set; but the times before the sleep are right. */
START_TEST(log_of_a_machine_that_slept_has_no_readings)
{
	struct px_log_clocks clocks = {0};
	struct px_clock_sleep sleep = {.is_known = false};
	struct px_clock_reading reading = {10 * SECOND, -100, 100, 5000, -7 * SECOND, -6 * SECOND};

	ck_assert(px_log_clocks_add(&clocks, &reading, &sleep));
	/* Other processes ran between the readings of the clocks. */
	reading.least_asleep_ns = -7 * SECOND - 100;
	reading.most_asleep_ns = -7 * SECOND + 200;
	ck_assert(px_log_clocks_add(&clocks, &reading, &sleep));
	reading.least_asleep_ns = -9 * SECOND;
	reading.most_asleep_ns = 20 * SECOND;
	ck_assert(px_log_clocks_add(&clocks, &reading, &sleep));
	ck_assert_uint_eq(clocks.nr_runs, 1);
	reading.low_ns += 60 * SECOND;
	reading.high_ns += 60 * SECOND;
	reading.least_asleep_ns = 53 * SECOND;
	reading.most_asleep_ns = 53 * SECOND + 100;
	ck_assert(!px_log_clocks_add(&clocks, &reading, &sleep));
	px_log_clocks_seal(&clocks);
	ck_assert_uint_eq(px_log_clocks_nr_runs(&clocks), 0);
}
END_TEST

/* A setting begins a run.  Of many, the first and the last are kept. */
START_TEST(each_setting_begins_a_run)
{
	struct px_log_clocks clocks = {0};

	for (int i = 0; i < 7; i++) {
		add(&clocks, 2 * i, i * -SECOND - 50, i * -SECOND + 50, -1);
		add(&clocks, 2 * i + 1, i * -SECOND - 60, i * -SECOND + 40, -1);
	}
	ck_assert_uint_eq(clocks.nr_runs, 7);
	ck_assert_int_eq(clocks.run[0].high_ns, 40);
	ck_assert_int_eq(clocks.run[1].high_ns, -5 * SECOND + 40);
	ck_assert_int_eq(clocks.run[2].high_ns, -6 * SECOND + 40);
	ck_assert_int_eq(clocks.run[2].low_ns, -6 * SECOND - 50);
	ck_assert_int_eq(clocks.run[2].error[0].error_ns, PX_CLOCK_ERROR_UNKNOWN);
	px_log_clocks_seal(&clocks);
	ck_assert_uint_eq(px_log_clocks_nr_runs(&clocks), 3);
}
END_TEST

START_TEST(damaged_readings_are_none)
{
	struct px_log_clocks clocks = {0};

	ck_assert_uint_eq(px_log_clocks_nr_runs(&clocks), 0);
	px_log_clocks_seal(&clocks);
	ck_assert_uint_eq(px_log_clocks_nr_runs(&clocks), 0);
	add(&clocks, 1, 0, 1, -1);
	px_log_clocks_seal(&clocks);
	ck_assert_uint_eq(px_log_clocks_nr_runs(&clocks), 1);
	for (size_t i = 0; i < sizeof(clocks); i++) {
		((unsigned char *)&clocks)[i] ^= 4;
		ck_assert_uint_eq(px_log_clocks_nr_runs(&clocks), 0);
		((unsigned char *)&clocks)[i] ^= 4;
	}
}
END_TEST

/* Make a log with some flushes.  Return its descriptor. */
static int make_log(int nr_flushes)
{
	int fd = px_test_file();
	trace_id_t trid = px_test_create_log(&(struct px_test_stream){.log_policy = POSIX_TRACE_APPEND}, fd);
	trace_event_id_t type = px_test_open_type("step");

	ok(posix_trace_start(trid));
	for (int i = 0; i < nr_flushes; i++) {
		posix_trace_event(type, &i, sizeof(i));
		ok(posix_trace_flush(trid));
	}
	ok(posix_trace_shutdown(trid));
	return fd;
}

static struct txtrace_clock_run run_of(int fd)
{
	struct txtrace_clock_run run;
	trace_id_t trid;

	ok(posix_trace_open(fd, &trid));
	ok(txtrace_get_clock(trid, 0, &run));
	fails(txtrace_get_clock(trid, 1, &run), ENOENT);
	ok(txtrace_get_clock(trid, 0, &run));
	fails(txtrace_get_clock(trid, 0, NULL), EINVAL);
	ok(posix_trace_close(trid));
	fails(txtrace_get_clock(trid, 0, &run), EINVAL);
	return run;
}

static uint64_t wall_ns(void)
{
	struct timespec now;

	clock_gettime(CLOCK_REALTIME, &now);
	return (uint64_t)now.tv_sec * SECOND + (uint64_t)now.tv_nsec;
}

/* Nobody sets the clock while the tests run. */
START_TEST(log_has_readings_of_its_beginning_flushes_and_end)
{
	uint64_t before = wall_ns();
	int fd = make_log(5);
	uint64_t after = wall_ns();
	struct txtrace_clock_run run = run_of(fd), packed;
	int other = px_test_file();

	ck_assert_uint_ge(run.nr_readings, 7);
	ck_assert_uint_eq(run.nr_runs, 1);
	ck_assert_uint_ge(run.from_ns + 1000000, before);
	ck_assert_uint_le(run.until_ns, after + 1000000);
	ck_assert_uint_lt(run.from_ns, run.until_ns);
	ck_assert_int_le(run.low_ns, run.high_ns);
	ck_assert_int_ge(run.high_ns, -1000000);
	ck_assert_int_le(run.low_ns, 1000000);
	ck_assert_int_eq(run.error[0].error_ns, -1);
	ok(txtrace_pack(fd, other));
	packed = run_of(other);
	ck_assert_mem_eq(&packed, &run, sizeof(run));
}
END_TEST

/* A process that traces itself asks once. */
START_TEST(error_of_a_clock_that_is_synchronized_is_noted)
{
	struct txtrace_clock_run run;

	answer = TIME_OK;
	maxerror_us = 1500;
	run = run_of(make_log(3));
	ck_assert_int_eq(run.error[0].error_ns, 1500000);
	ck_assert_mem_eq(&run.error[0], &run.error[2], sizeof(run.error[0]));
	ck_assert_uint_eq(run.error[0].time_ns, run.from_ns);
}
END_TEST

/* An earlier version wrote a shorter commit, with anything behind it. */
START_TEST(log_of_an_earlier_version_has_no_readings)
{
	int fd = make_log(2);
	struct px_test_log_facts facts;
	struct txtrace_clock_run run;
	trace_id_t trid;
	char bytes[sizeof(struct px_log_clocks)];

	px_test_check_log(fd, 0, &facts);
	memset(bytes, _i ? 0xa5 : 0, sizeof(bytes));
	ck_assert_int_eq(pwrite(fd, bytes, sizeof(bytes),
				(off_t)(facts.base + facts.layout.commit + offsetof(struct px_log_commit, clocks))),
			 sizeof(bytes));
	px_test_check_log(fd, 0, &facts);
	ok(posix_trace_open(fd, &trid));
	fails(txtrace_get_clock(trid, 0, &run), ENOENT);
	ok(posix_trace_close(trid));
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("log/clocks");
	TCase *tcase = tcase_create("clocks");

	tcase_add_test(tcase, readings_of_one_run_narrow_the_distance);
	tcase_add_test(tcase, log_of_a_machine_that_slept_has_no_readings);
	tcase_add_test(tcase, each_setting_begins_a_run);
	tcase_add_test(tcase, damaged_readings_are_none);
	tcase_add_test(tcase, log_has_readings_of_its_beginning_flushes_and_end);
	tcase_add_test(tcase, error_of_a_clock_that_is_synchronized_is_noted);
	tcase_add_loop_test(tcase, log_of_an_earlier_version_has_no_readings, 0, 2);
	suite_add_tcase(suite, tcase);
	return run_suite(suite);
}
