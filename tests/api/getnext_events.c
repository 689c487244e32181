/* SPDX-License-Identifier: MIT */
/* Reading many events with one call returns what reading them one by one returns. */
#include "support/common.h"

#include <stdlib.h>
#include <string.h>
#include <trace_ext.h>
#include <unistd.h>

#define ROOM (1 << 16)

static unsigned char data[ROOM] __attribute__((aligned(8)));
static struct txtrace_event events[512];

/* Expect that the event of a batch is the next one of a stream. */
static void expect_same(trace_id_t trid, const struct txtrace_event *event)
{
	struct px_test_event one;

	ck_assert_uint_eq(px_test_take_recorded(trid, &one), event->type);
	ck_assert_uint_eq(event->time_ns, px_test_ns(one.info.posix_timestamp));
	ck_assert_uint_eq(event->address, (uintptr_t)one.info.posix_prog_address);
	ck_assert_uint_eq(event->thread, (unsigned long long)one.info.posix_thread_id);
	ck_assert_int_eq(event->pid, one.info.posix_pid);
	ck_assert_int_eq(event->truncation, one.info.posix_truncation_status);
	ck_assert_uint_eq(event->cpu, txtrace_event_cpu(&one.info));
	ck_assert_uint_eq(event->context, txtrace_event_context(&one.info));
	ck_assert_int_eq(event->priority, txtrace_event_priority(&one.info));
	ck_assert_uint_eq(event->interrupted, txtrace_event_interrupted(&one.info));
	ck_assert_int_eq(event->phase, -1);
	ck_assert_uint_eq(event->length, one.length);
	ck_assert_uint_eq(event->offset % 8, 0);
	ck_assert(one.length == 0 || memcmp(data + event->offset, one.data, one.length) == 0);
}

static void record(trace_event_id_t type, unsigned int nr, size_t most)
{
	unsigned char bytes[2048];

	for (unsigned int i = 0; i < nr; i++) {
		size_t length = i * 37 % (most + 1);

		px_test_fill(bytes, length, i);
		posix_trace_event(type, bytes, length);
	}
}

START_TEST(getnext_events_of_a_log_are_those_of_getnext_event)
{
	static const struct {
		size_t nr, room;
	} sizes[] = {{512, ROOM}, {1, ROOM}, {3, ROOM}, {512, 4096}, {512, 2048}, {512, 1024}};
	trace_event_id_t type = px_test_open_type("type");
	const struct px_test_stream wanted = {.size = 4 << 20, .max_data = 1000};
	int fd = px_test_file();
	trace_id_t trid = px_test_create_log(&wanted, fd), other;
	size_t nr, total;

	ok(posix_trace_start(trid));
	record(type, 1000, 1000);
	ok(posix_trace_shutdown(trid));
	for (size_t i = 0; i < sizeof(sizes) / sizeof(sizes[0]); i++) {
		struct px_test_event one;

		trid = px_test_open(fd);
		other = px_test_open(fd);
		total = 0;
		do {
			ok(txtrace_getnext_events(trid, events, sizes[i].nr, data, sizes[i].room, &nr));
			ck_assert_uint_le(nr, sizes[i].nr);
			for (size_t at = 0; at < nr; at++)
				expect_same(other, &events[at]);
			total += nr;
		} while (nr > 0);
		ck_assert_uint_ge(total, 1000);
		ck_assert_uint_eq(px_test_take_recorded(other, &one), 0);
		ok(txtrace_getnext_events(trid, events, 1, data, ROOM, &nr));
		ck_assert_uint_eq(nr, 0);
		ok(posix_trace_rewind(trid));
		ok(txtrace_getnext_events(trid, events, 1, data, ROOM, &nr));
		ck_assert_uint_eq(nr, 1);
		ok(posix_trace_close(trid));
		ok(posix_trace_close(other));
	}
	close(fd);
}
END_TEST

START_TEST(getnext_events_without_room_cuts_only_the_first)
{
	trace_event_id_t type = px_test_open_type("type");
	const struct px_test_stream wanted = {0};
	trace_id_t trid = px_test_create(&wanted);
	unsigned char bytes[100];
	size_t nr;

	ok(posix_trace_start(trid));
	px_test_fill(bytes, sizeof(bytes), 1);
	for (int i = 0; i < 3; i++)
		posix_trace_event(type, bytes, sizeof(bytes));
	ok(txtrace_getnext_events(trid, events, 512, data, ROOM, &nr));
	ck_assert_uint_eq(nr, 4); /* START */
	for (int i = 0; i < 2; i++)
		posix_trace_event(type, bytes, sizeof(bytes));
	ok(txtrace_getnext_events(trid, events, 512, data, 60, &nr));
	ck_assert_uint_eq(nr, 1);
	ck_assert_uint_eq(events[0].length, 60);
	ck_assert_int_eq(events[0].truncation, POSIX_TRACE_TRUNCATED_READ);
	ck_assert(px_test_is_filled(data, 60, 1));
	ok(txtrace_getnext_events(trid, events, 512, NULL, 0, &nr));
	ck_assert_uint_eq(nr, 1);
	ck_assert_uint_eq(events[0].length, 0);
	ok(posix_trace_shutdown(trid));
}
END_TEST

START_TEST(getnext_events_of_a_stream_takes_what_is_there)
{
	trace_event_id_t type = px_test_open_type("type");
	const struct px_test_stream wanted = {0};
	trace_id_t trid = px_test_create(&wanted);
	struct px_test_event one;
	size_t nr = 7;

	ok(txtrace_getnext_events(trid, events, 512, data, ROOM, &nr));
	ck_assert_uint_eq(nr, 0);
	ok(posix_trace_start(trid));
	for (uint32_t i = 0; i < 100; i++)
		px_test_trace(type, i);
	px_test_expect(trid, POSIX_TRACE_START, &one);
	ok(txtrace_getnext_events(trid, events, 60, data, ROOM, &nr));
	ck_assert_uint_eq(nr, 60);
	for (uint32_t i = 0; i < nr; i++) {
		ck_assert_uint_eq(events[i].type, type);
		ck_assert_uint_eq(events[i].length, sizeof(i));
		ck_assert(memcmp(data + events[i].offset, &i, sizeof(i)) == 0);
	}
	px_test_expect(trid, type, &one);
	ck_assert_uint_eq(px_test_number(&one), 60);
	ok(txtrace_getnext_events(trid, events, 512, data, ROOM, &nr));
	ck_assert_uint_eq(nr, 39);
	ok(posix_trace_shutdown(trid));
}
END_TEST

START_TEST(getnext_events_refuses_what_getnext_event_refuses)
{
	trace_id_t bad[PX_TEST_BAD_TRIDS], trid;
	const struct px_test_stream wanted = {0};
	int fd = px_test_file();
	size_t nr = 7;

	px_test_bad_trids(bad);
	for (int i = 0; i < PX_TEST_BAD_TRIDS; i++)
		fails(txtrace_getnext_events(bad[i], events, 1, data, ROOM, &nr), EINVAL);
	trid = px_test_create(&wanted);
	fails(txtrace_getnext_events(trid, NULL, 1, data, ROOM, &nr), EINVAL);
	fails(txtrace_getnext_events(trid, events, 0, data, ROOM, &nr), EINVAL);
	fails(txtrace_getnext_events(trid, events, 1, NULL, ROOM, &nr), EINVAL);
	fails(txtrace_getnext_events(trid, events, 1, data, ROOM, NULL), EINVAL);
	ok(posix_trace_shutdown(trid));
	trid = px_test_create_log(&wanted, fd);
	fails(txtrace_getnext_events(trid, events, 1, data, ROOM, &nr), EINVAL);
	ck_assert_uint_eq(nr, 7);
	ok(posix_trace_shutdown(trid));
	close(fd);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("getnext_events");
	TCase *tcase = tcase_create("getnext_events");

	tcase_add_test(tcase, getnext_events_of_a_log_are_those_of_getnext_event);
	tcase_add_test(tcase, getnext_events_without_room_cuts_only_the_first);
	tcase_add_test(tcase, getnext_events_of_a_stream_takes_what_is_there);
	tcase_add_test(tcase, getnext_events_refuses_what_getnext_event_refuses);
	suite_add_tcase(suite, tcase);
	return run_suite(suite);
}
