/* SPDX-License-Identifier: MIT */
/* Scheduling records of a program that records itself: txtrace_attr_setsched(). */
#include "support/common.h"

#include <errno.h>
#include <pthread.h>
#include <string.h>
#include <sys/syscall.h>
#include <trace.h>
#include <trace_ext.h>
#include <unistd.h>

#define NAPS 5

static int file;
static trace_id_t stream;
static pid_t napper;

static void setup(void)
{
	file = px_test_file();
}

/* Create a stream with a log on this process.  has_sched: ask for scheduling records. */
static void record(int has_sched)
{
	trace_attr_t attr;

	ok(posix_trace_attr_init(&attr));
	ok(txtrace_attr_setsched(&attr, has_sched));
	ok(posix_trace_attr_setstreamfullpolicy(&attr, POSIX_TRACE_FLUSH));
	ok(posix_trace_attr_setlogfullpolicy(&attr, POSIX_TRACE_APPEND));
	ok(posix_trace_create_withlog(0, &attr, file, &stream));
	ok(posix_trace_attr_destroy(&attr));
	ok(posix_trace_start(stream));
}

static void *nap(void *unused)
{
	napper = (pid_t)syscall(SYS_gettid);
	for (int i = 0; i < NAPS; i++)
		usleep(1000);
	return unused;
}

static void run_napper(void)
{
	pthread_t thread;

	ck_assert_int_eq(pthread_create(&thread, NULL, nap, NULL), 0);
	ck_assert_int_eq(pthread_join(thread, NULL), 0);
}

/* The scheduling records of the thread in the log. */
struct records {
	unsigned int nr_in, nr_blocked, nr_ended, nr_wrong;
	unsigned int nr_starts, nr_stops;
	unsigned int state;
};

static void count_record(struct records *records, trace_event_id_t type, const struct txtrace_sched *data)
{
	records->nr_starts += type == TXTRACE_SCHED_START;
	records->nr_stops += type == TXTRACE_SCHED_STOP;
	if ((type != TXTRACE_SWITCH_IN && type != TXTRACE_SWITCH_OUT) || data->tid != napper)
		return;
	if (type == TXTRACE_SWITCH_IN) {
		records->nr_in++;
		records->nr_wrong += records->state == TXTRACE_RUNNING;
		records->state = TXTRACE_RUNNING;
		return;
	}
	records->nr_wrong += records->state != TXTRACE_RUNNING && data->state != TXTRACE_ENDED;
	records->nr_blocked += data->state == TXTRACE_BLOCKED;
	records->nr_ended += data->state == TXTRACE_ENDED;
	records->state = data->state;
}

static struct records read_log(void)
{
	struct posix_trace_event_info info;
	struct txtrace_sched data;
	struct records records = {0};
	int unavailable;
	size_t size;

	trace_id_t opened = px_test_open(file);

	for (;;) {
		memset(&data, 0, sizeof(data));
		ok(posix_trace_getnext_event(opened, &info, &data, sizeof(data), &size, &unavailable));
		if (unavailable)
			break;
		count_record(&records, info.posix_event_id, &data);
	}
	ok(posix_trace_close(opened));
	return records;
}

START_TEST(program_gets_its_own_records)
{
	struct records records;
	int error, has_sched;
	trace_attr_t attr;

	ok(txtrace_check_sched(0, &error));
	if (error) {
		px_test_skip("the kernel refuses scheduling records");
		return;
	}
	record(1);
	ok(posix_trace_get_attr(stream, &attr));
	ok(txtrace_attr_getsched(&attr, &has_sched));
	ck_assert_int_eq(has_sched, 1);
	ok(txtrace_get_sched_error(stream, &error));
	ck_assert_int_eq(error, 0);
	run_napper();
	ok(posix_trace_shutdown(stream));
	records = read_log();
	ck_assert_uint_eq(records.nr_starts, 1);
	ck_assert_uint_eq(records.nr_stops, 1);
	ck_assert_uint_ge(records.nr_blocked, NAPS);
	ck_assert_uint_gt(records.nr_in, NAPS);
	ck_assert_uint_eq(records.nr_ended, 1);
	ck_assert_uint_eq(records.nr_wrong, 0);
}
END_TEST

START_TEST(no_records_without_the_attribute)
{
	struct records records;
	int error;

	record(0);
	ok(txtrace_get_sched_error(stream, &error));
	ck_assert_int_eq(error, 0);
	run_napper();
	ok(posix_trace_shutdown(stream));
	records = read_log();
	ck_assert_uint_eq(records.nr_in + records.nr_blocked + records.nr_ended + records.nr_starts + records.nr_stops,
			  0);
}
END_TEST

START_TEST(attribute_takes_only_0_and_1)
{
	trace_attr_t attr;
	int has_sched = 7;

	ok(posix_trace_attr_init(&attr));
	ok(txtrace_attr_getsched(&attr, &has_sched));
	ck_assert_int_eq(has_sched, 0);
	fails(txtrace_attr_setsched(&attr, 2), EINVAL);
	fails(txtrace_attr_setsched(&attr, -1), EINVAL);
	ok(txtrace_attr_setsched(&attr, 1));
	ok(txtrace_attr_getsched(&attr, &has_sched));
	ck_assert_int_eq(has_sched, 1);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("sched");
	TCase *tcase = tcase_create("self");

	tcase_add_checked_fixture(tcase, setup, NULL);
	tcase_add_test(tcase, program_gets_its_own_records);
	tcase_add_test(tcase, no_records_without_the_attribute);
	tcase_add_test(tcase, attribute_takes_only_0_and_1);
	suite_add_tcase(suite, tcase);
	return run_suite(suite);
}
