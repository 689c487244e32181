/* SPDX-License-Identifier: MIT */
/* Logs of more than 2^32 events, which no counter of 32 bits could count. */
#include "support/common.h"

#include <trace_ext.h>
#include <unistd.h>

#include "log/archive_log.h"
#include "support/far_log.h"
#include "support/log_checker.h"
#include "support/new_log.h"

#define EPOCH_NS UINT64_C(1700000000000000000)
#define FAR (UINT64_C(1) << 32)

static int file;
static struct px_log *wlog;
static struct px_log_state state;
static struct px_threads threads;
static struct px_typelist types;
static struct px_test_log_facts facts;

static void setup(void)
{
	file = px_test_file();
	memset(&state, 0, sizeof(state));
}

static void new_log(int policy, uint64_t log_size)
{
	const struct px_log_setup setup = {.fd = file, .threads = &threads, .types = &types};

	ck_assert_int_eq(px_test_new_log(&setup, (uint32_t)policy, log_size, 16, &state, &wlog), 0);
}

/* An event is known by its address. */
static void append(uint64_t number)
{
	const struct px_report report = {.record = {.id = PX_EVENT_UNNAMED,
						    .pid = 4711,
						    .address = number,
						    .context = px_txtb_handle(PX_TXTB_THREAD, 1),
						    .priority = px_txtb_priority_word(5)},
					 .time_ns = EPOCH_NS + number * 1000};

	while (px_log_append(wlog, &report, NULL) == PX_LOG_WRITE_FIRST)
		ck_assert_int_eq(px_log_write(wlog, &state), 0);
}

/* The log has the events up to this number, one by one.  Return the number of them. */
static uint64_t read_back(uint64_t last)
{
	trace_id_t trid = px_test_open(file);
	struct px_test_event seen;
	trace_event_id_t id;
	uint64_t count = 0, number = 0;

	while ((id = px_test_take_recorded(trid, &seen)) != 0) {
		if (count++ > 0)
			ck_assert_uint_eq(txtrace_event_address(&seen.info), number + 1);
		number = txtrace_event_address(&seen.info);
		ck_assert_uint_eq(px_test_ns(seen.info.posix_timestamp), EPOCH_NS + number * 1000);
	}
	ck_assert_uint_eq(number, last);
	ok(posix_trace_close(trid));
	return count;
}

/* MODEL-3 OPEN-9: positions, and the number of events, pass 2^32 in the middle of a log. */
START_TEST(far_log_that_goes_round_passes_two_to_the_thirty_two)
{
	const uint64_t before = FAR - 2500;
	struct txtrace_file_info info;
	struct txtrace_loss loss;
	trace_id_t trid;
	uint64_t number, first, count;

	new_log(PX_POLICY_LOOP, 200000);
	first = px_test_go_far(wlog, FAR - 1, before);
	ck_assert_uint_lt(first, FAR);
	state.loss = (struct px_loss){.overwritten = FAR + 1, .dropped = 3 * FAR + 2, .abandoned = 5 * FAR + 3};
	for (number = before; number < before + 20000; number++) {
		append(number);
		if (number % 100 != 0)
			continue;
		ck_assert_int_eq(px_log_write(wlog, &state), 0);
		px_test_check_log(file, PX_TEST_LOG_IS_OPEN, &facts);
	}
	ck_assert_int_eq(px_log_complete(wlog, &state, PX_LOG_COMPLETE), 0);
	px_test_check_log(file, 0, &facts);
	ck_assert_uint_eq(facts.commit.nr_events, number);
	ck_assert_uint_gt(facts.commit.nr_given_up, FAR);
	count = read_back(number - 1);
	ck_assert_uint_eq(count, number - facts.commit.nr_given_up);

	trid = px_test_open(file);
	ok(txtrace_get_file_info(trid, &info));
	ok(txtrace_get_loss(trid, &loss));
	ck_assert_uint_eq(info.nr_events, count);
	ck_assert_uint_eq(loss.overwritten, FAR + 1);
	ck_assert_uint_eq(loss.dropped, 3 * FAR + 2);
	ck_assert_uint_eq(loss.abandoned, 5 * FAR + 3);
	ok(posix_trace_close(trid));
}
END_TEST

/*
 * Write a log with so many volumes that positions pass 2^32 in the last one.  Each volume but the last has one event,
 * so the file is sparse.  Return the number of the next event.
 */
static uint64_t write_far_volumes(void)
{
	uint64_t number = 0;

	new_log(PX_POLICY_APPEND, 0);
	while (px_log_next_volume_at(&wlog->header, wlog->staged.end) <= FAR) {
		append(number++);
		ck_assert_int_eq(px_log_write(wlog, &state), 0);
		wlog->ends_volume = true;
	}
	while (wlog->staged.end < FAR + 5000) {
		append(number++);
		if (number % 100 == 0)
			ck_assert_int_eq(px_log_write(wlog, &state), 0);
	}
	ck_assert_uint_eq(wlog->nr_begun, FAR / wlog->header.nr_entries + 1);
	ck_assert_uint_gt(px_test_file_size(file), FAR);
	return number;
}

/* MODEL-3 OPEN-9: positions pass 2^32 in a volume of a log that overwrites nothing. */
START_TEST(far_log_of_many_volumes_passes_two_to_the_thirty_two)
{
	uint64_t number = write_far_volumes();
	const uint64_t time_ns = EPOCH_NS + (number - 10) * 1000;
	const struct timespec time = {(time_t)(time_ns / 1000000000), (long)(time_ns % 1000000000)};
	struct px_test_event seen;
	unsigned long long before;
	trace_id_t trid;

	/* Another process completes it, so it stays as it is. */
	ck_assert_int_eq(px_log_complete(wlog, &state, PX_LOG_RECOVERED), 0);
	ck_assert_uint_gt(px_test_file_size(file), FAR);
	ck_assert_uint_eq(read_back(number - 1), number);

	/* A search by time ends in the volume in which positions pass 2^32. */
	trid = px_test_open(file);
	ok(txtrace_seek(trid, &time, &before));
	ck_assert_uint_gt(before, 0);
	ck_assert_uint_le(before, number - 10);
	ck_assert_int_ne(px_test_take_recorded(trid, &seen), 0);
	ck_assert_uint_eq(txtrace_event_address(&seen.info), before);
	ok(posix_trace_close(trid));
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("far");
	TCase *tcase = tcase_create("far");

	tcase_add_checked_fixture(tcase, setup, NULL);
	tcase_set_timeout(tcase, 120);
	tcase_add_test(tcase, far_log_that_goes_round_passes_two_to_the_thirty_two);
	tcase_add_test(tcase, far_log_of_many_volumes_passes_two_to_the_thirty_two);
	suite_add_tcase(suite, tcase);
	return run_suite(suite);
}
