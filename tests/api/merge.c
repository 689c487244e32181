/* SPDX-License-Identifier: MIT */
/* A merged log has the events of its logs, and tells whether some of them could not be read. */
#include "support/common.h"

#include <string.h>
#include <trace_ext.h>
#include <unistd.h>

#define NR_EVENTS 2000
#define NR_BYTES 500
#define ROOM (1 << 20)

static unsigned char data[ROOM] __attribute__((aligned(8)));
static struct txtrace_event events[512];

/* Make a log, and return its stream, which is not shut down. */
static trace_id_t record(int fd)
{
	const struct px_test_stream wanted = {.size = 4 << 20, .max_data = NR_BYTES};
	trace_event_id_t type = px_test_open_type("type");
	trace_id_t trid = px_test_create_log(&wanted, fd);
	unsigned char bytes[NR_BYTES];

	ok(posix_trace_start(trid));
	for (uint32_t i = 0; i < NR_EVENTS; i++) {
		px_test_fill(bytes, sizeof(bytes), i);
		posix_trace_event(type, bytes, sizeof(bytes));
	}
	ok(posix_trace_stop(trid));
	ok(posix_trace_flush(trid));
	return trid;
}

static int make_log(void)
{
	int fd = px_test_file();

	ok(posix_trace_shutdown(record(fd)));
	return fd;
}

/* Append all events of a log; return how many there are. */
static unsigned int append(struct txtrace_merge *merge, unsigned int number, trace_id_t trid)
{
	unsigned int total = 0;
	size_t nr;

	do {
		ok(txtrace_getnext_events(trid, events, 512, data, ROOM, &nr));
		for (size_t i = 0; i < nr; i++)
			ok(txtrace_merge_event(merge, number, &events[i], data + events[i].offset));
		total += (unsigned int)nr;
	} while (nr > 0);
	return total;
}

/* Merge a log with itself, and return the merged log, which is open. */
static trace_id_t merge_twice(trace_id_t trid, bool notes_missing)
{
	const trace_id_t logs[] = {trid, trid};
	struct txtrace_file_info info;
	struct txtrace_merge *merge;
	int fd = px_test_file();
	unsigned int nr = 0;

	ok(txtrace_merge_begin(fd, logs, 2, &merge));
	for (unsigned int i = 0; i < 2; i++) {
		ok(posix_trace_rewind(trid));
		nr += append(merge, i, trid);
	}
	ok(txtrace_get_file_info(trid, &info));
	ck_assert_uint_eq(nr, 2 * (info.nr_events - info.nr_missing));
	if (notes_missing)
		ok(txtrace_merge_missing(merge, 1, info.nr_missing));
	ok(txtrace_merge_end(merge));
	trid = px_test_open(fd);
	ok(txtrace_get_file_info(trid, &info));
	ck_assert_uint_eq(info.nr_events, nr);
	close(fd);
	return trid;
}

static void expect_overrun(trace_id_t merged, int status)
{
	ck_assert_int_eq(px_test_status(merged).posix_log_overrun_status, status);
	ok(posix_trace_close(merged));
}

START_TEST(merge_of_a_damaged_log_says_that_events_are_missing)
{
	unsigned char zeros[70000] = {0};
	int fd = make_log();
	trace_id_t trid = px_test_open(fd);

	expect_overrun(merge_twice(trid, true), POSIX_TRACE_NO_OVERRUN);
	ok(posix_trace_close(trid));
	ck_assert_int_eq(pwrite(fd, zeros, sizeof(zeros), (off_t)px_test_file_size(fd) / 2), sizeof(zeros));
	trid = px_test_open(fd);
	expect_overrun(merge_twice(trid, false), POSIX_TRACE_NO_OVERRUN); /* nobody has told it */
	expect_overrun(merge_twice(trid, true), POSIX_TRACE_OVERRUN);
	ok(posix_trace_close(trid));
	close(fd);
}
END_TEST

START_TEST(merge_of_a_running_log_counts_what_its_writer_overwrote)
{
	int fd = px_test_file(), to = px_test_file();
	trace_id_t stream = record(fd), trid, merged;
	struct txtrace_merge *merge;
	struct txtrace_loss loss;

	ok(txtrace_open(fd, TXTRACE_OPEN_RUNNING, &trid));
	ok(txtrace_merge_begin(to, &trid, 1, &merge));
	ck_assert_uint_ge(append(merge, 0, trid), NR_EVENTS);
	ok(txtrace_merge_missing(merge, 0, 77));
	ok(txtrace_merge_end(merge));
	merged = px_test_open(to);
	ok(txtrace_get_loss(merged, &loss));
	ck_assert_uint_eq(loss.overwritten, 77);
	expect_overrun(merged, POSIX_TRACE_OVERRUN); /* its later events are missing, too */
	ok(posix_trace_close(trid));
	ok(posix_trace_shutdown(stream));
	close(fd);
	close(to);
}
END_TEST

START_TEST(merge_refuses_what_is_not_one_of_its_logs)
{
	int fd = make_log(), to = px_test_file();
	const trace_id_t trid = px_test_open(fd);
	const struct txtrace_origin origin = {0};
	struct txtrace_merge *merge;
	trace_id_t bad[PX_TEST_BAD_TRIDS];

	px_test_bad_trids(bad);
	for (size_t i = 0; i < PX_TEST_BAD_TRIDS; i++)
		ck_assert_int_eq(txtrace_merge_begin(to, &bad[i], 1, &merge), EINVAL);
	ck_assert_int_eq(txtrace_merge_begin(to, NULL, 1, &merge), EINVAL);
	ck_assert_int_eq(txtrace_merge_begin(to, &trid, 0, &merge), EINVAL);
	ck_assert_int_eq(txtrace_merge_begin(to, &trid, 1, NULL), EINVAL);
	ok(txtrace_merge_begin(to, &trid, 1, &merge));
	ck_assert_int_eq(txtrace_merge_event(merge, 1, &events[0], data), EINVAL);
	ck_assert_int_eq(txtrace_merge_event(NULL, 0, &events[0], data), EINVAL);
	ck_assert_int_eq(txtrace_merge_event(merge, 0, NULL, data), EINVAL);
	ck_assert_int_eq(txtrace_merge_origin(merge, 1, &origin), EINVAL);
	ck_assert_int_eq(txtrace_merge_origin(merge, 0, NULL), EINVAL);
	ck_assert_int_eq(txtrace_merge_missing(merge, 1, 1), EINVAL);
	ck_assert_int_eq(txtrace_merge_missing(NULL, 0, 1), EINVAL);
	ok(txtrace_merge_end(merge));
	ck_assert_int_eq(txtrace_merge_end(NULL), EINVAL);
	ok(posix_trace_close(trid));
	expect_overrun(px_test_open(to), POSIX_TRACE_NO_OVERRUN);
	close(fd);
	close(to);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("merge");
	TCase *tcase = tcase_create("merge");

	tcase_add_test(tcase, merge_of_a_damaged_log_says_that_events_are_missing);
	tcase_add_test(tcase, merge_of_a_running_log_counts_what_its_writer_overwrote);
	tcase_add_test(tcase, merge_refuses_what_is_not_one_of_its_logs);
	suite_add_tcase(suite, tcase);
	return run_suite(suite);
}
