/* SPDX-License-Identifier: MIT */
/* Streams whose rings get their memory when events need it: txtrace_attr_setgrowth(). */
#include "support/common.h"

#include <dirent.h>
#include <errno.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <trace_ext.h>
#include <unistd.h>

#include "base/atomic.h"
#include "base/compiler.h"

#define LARGEST ((size_t)32 << 20)

static trace_event_id_t type;
static trace_id_t stream, log_id;
static int file;
static struct px_test_event seen;
static uint32_t holds_flushes;
static uint64_t nr_writes; /* of the log, since the stream began */
static bool can_grow;

static void hold_flushes(const char *point)
{
	if (strcmp(point, "log.write.begin") == 0)
		px_fetch_add(&nr_writes, UINT64_C(1));
	while (strcmp(point, "log.write.begin") == 0 && px_load_acquire(&holds_flushes))
		usleep(1000);
}

static int create(int policy, int inherited, size_t size)
{
	trace_attr_t attr;
	int error;

	ok(posix_trace_attr_init(&attr));
	ok(posix_trace_attr_setstreamfullpolicy(&attr, policy));
	ok(posix_trace_attr_setlogfullpolicy(&attr, POSIX_TRACE_APPEND));
	ok(posix_trace_attr_setstreamsize(&attr, size));
	ok(posix_trace_attr_setinherited(&attr, inherited));
	ok(txtrace_attr_setgrowth(&attr, 1));
	error = posix_trace_create_withlog(getpid(), &attr, file, &stream);
	if (!error) {
		int grows = 0;

		ok(posix_trace_get_attr(stream, &attr));
		ok(txtrace_attr_getgrowth(&attr, &grows));
		ck_assert_int_eq(grows, 1);
	}
	posix_trace_attr_destroy(&attr);
	return error;
}

static void setup(void)
{
	int error;

	ok(posix_trace_eventid_open("grown", &type));
	file = px_test_file();
	error = create(POSIX_TRACE_FLUSH, POSIX_TRACE_INHERITED, LARGEST);
	can_grow = error == 0;
	if (!can_grow) {
		ck_assert_int_eq(error, ENOTSUP);
		return;
	}
	px_store_release(&holds_flushes, 0U);
	nr_writes = 0;
	__atomic_store_n(&px_testpoint_hook, hold_flushes, __ATOMIC_RELEASE);
	ok(posix_trace_start(stream));
}

static void teardown(void)
{
	__atomic_store_n(&px_testpoint_hook, NULL, __ATOMIC_RELEASE);
}

static void record(uint32_t from, uint32_t to)
{
	for (; from < to; from++)
		px_test_trace(type, from);
}

/* Block all flushes until release(). */
static void hold(void)
{
	px_store_release(&holds_flushes, 1U);
}

static void release(void)
{
	px_store_release(&holds_flushes, 0U);
}

/* End the stream, and count its events in the log.  The numbers of each of the `nr` writers must rise. */
static uint64_t count_log(int nr, uint32_t each)
{
	uint64_t nr_seen = 0;
	uint32_t next[2] = {0, 0};
	trace_event_id_t id;

	ok(posix_trace_shutdown(stream));
	log_id = px_test_open(file);
	while ((id = px_test_take_recorded(log_id, &seen)) != 0) {
		uint32_t number, writer;

		if (id != type)
			continue;
		number = px_test_number(&seen);
		writer = number / each;
		ck_assert_uint_lt(writer, (uint32_t)nr);
		ck_assert_uint_ge(number % each, next[writer]);
		next[writer] = number % each + 1;
		nr_seen++;
	}
	ok(posix_trace_close(log_id));
	return nr_seen;
}

static uint64_t nr_dropped(void)
{
	struct txtrace_loss loss;

	ok(txtrace_get_loss(stream, &loss));
	ck_assert_uint_eq(loss.overwritten + loss.abandoned, 0);
	return loss.dropped;
}

/* Return the bytes that all files of the directory use. */
static uint64_t used_bytes(void)
{
	DIR *directory = opendir(px_test_directory());
	uint64_t sum = 0;

	for (struct dirent *at = readdir(directory); at; at = readdir(directory)) {
		struct stat status;

		if (fstatat(dirfd(directory), at->d_name, &status, 0) == 0 &&
		    S_ISREG(status.st_mode))
			sum += (uint64_t)status.st_blocks * 512;
	}
	closedir(directory);
	return sum;
}

enum { MANY = 200000 }; /* more than the first part of a ring, and less than LARGEST */

START_TEST(growth_events_beyond_the_first_memory_are_all_recorded)
{
	uint64_t before = used_bytes();

	if (!can_grow) {
		px_test_skip("this kernel cannot populate memory");
		return;
	}
	ck_assert_uint_lt(before, LARGEST);
	hold();
	record(0, MANY);
	ck_assert_uint_gt(used_bytes(), before + MANY * UINT64_C(40));
	ck_assert_uint_eq(nr_dropped(), 0);
	release();
	ck_assert_uint_eq(count_log(1, MANY), MANY);
}
END_TEST

START_TEST(growth_rings_grow_for_each_process_that_writes)
{
	pid_t child;
	int status;

	if (!can_grow) {
		px_test_skip("this kernel cannot populate memory");
		return;
	}
	hold();
	child = fork();
	if (child == 0) {
		record(0, MANY);
		_exit(0);
	}
	record(MANY, 2 * MANY);
	ck_assert_int_eq(waitpid(child, &status, 0), child);
	ck_assert_int_eq(status, 0);
	ck_assert_uint_eq(nr_dropped(), 0);
	release();
	ck_assert_uint_eq(count_log(2, MANY), 2 * MANY);
}
END_TEST

/*
 * A ring that can still grow does not free slots.  So what was written must not count as slots that the writers need:
 * otherwise each further event is a write of its own.
 */
START_TEST(growth_many_events_are_written_together)
{
	enum { EACH = 10000 };

	if (!can_grow) {
		px_test_skip("this kernel cannot populate memory");
		return;
	}
	for (uint32_t i = 0; i < MANY; i += EACH) {
		record(i, i + EACH);
		ok(posix_trace_flush(stream));
	}
	ck_assert_uint_eq(nr_dropped(), 0);
	ck_assert_uint_lt(px_load_acquire(&nr_writes), MANY / 100);
	ck_assert_uint_eq(count_log(1, MANY), MANY);
}
END_TEST

/* The stream stops when its largest rings are full, goes on after a flush, and counts what it drops. */
START_TEST(growth_events_beyond_the_largest_size_are_counted)
{
	enum { TOO_MANY = 1500000 };
	uint64_t dropped;

	if (!can_grow) {
		px_test_skip("this kernel cannot populate memory");
		return;
	}
	hold();
	record(0, TOO_MANY);
	ck_assert_uint_gt(nr_dropped(), 0);
	release();
	ok(posix_trace_flush(stream));
	dropped = nr_dropped();
	record(TOO_MANY, TOO_MANY + 1000);
	ck_assert_uint_eq(nr_dropped(), dropped);
	ck_assert_uint_eq(count_log(1, 2 * TOO_MANY), TOO_MANY + 1000 - dropped);
}
END_TEST

START_TEST(growth_needs_a_stream_that_flushes)
{
	trace_attr_t attr;
	int grows;

	if (can_grow)
		ok(posix_trace_shutdown(stream));
	ck_assert_int_eq(create(POSIX_TRACE_LOOP, POSIX_TRACE_CLOSE_FOR_CHILD, LARGEST), ENOTSUP);
	ck_assert_int_eq(create(POSIX_TRACE_UNTIL_FULL, POSIX_TRACE_CLOSE_FOR_CHILD, LARGEST),
			 ENOTSUP);
	ck_assert_int_eq(create(POSIX_TRACE_FLUSH, POSIX_TRACE_CLOSE_FOR_CHILD, 4096), ENOTSUP);
	ok(posix_trace_attr_init(&attr));
	ok(txtrace_attr_getgrowth(&attr, &grows));
	ck_assert_int_eq(grows, 0);
	ck_assert_int_eq(txtrace_attr_setgrowth(&attr, 2), EINVAL);
	ck_assert_int_eq(txtrace_attr_setgrowth(NULL, 1), EINVAL);
	ck_assert_int_eq(txtrace_attr_getgrowth(&attr, NULL), EINVAL);
	posix_trace_attr_destroy(&attr);
	ck_assert_int_eq(txtrace_attr_setgrowth(&attr, 1), EINVAL);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("growth");
	TCase *tcase = tcase_create("growth");

	tcase_add_checked_fixture(tcase, setup, teardown);
	tcase_set_timeout(tcase, 60);
	tcase_add_test(tcase, growth_events_beyond_the_first_memory_are_all_recorded);
	tcase_add_test(tcase, growth_rings_grow_for_each_process_that_writes);
	tcase_add_test(tcase, growth_many_events_are_written_together);
	tcase_add_test(tcase, growth_events_beyond_the_largest_size_are_counted);
	tcase_add_test(tcase, growth_needs_a_stream_that_flushes);
	suite_add_tcase(suite, tcase);
	return run_suite(suite);
}
