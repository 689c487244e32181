/* SPDX-License-Identifier: MIT */
/*
 * The entry with which the viewer begins to show a LOOP log that goes round: it is of an event, and not a rest of what
 * was overwritten; and whatever write fails, the viewer finds all that is committed.
 */
#include "support/common.h"

#include <errno.h>
#include <signal.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/file_at.h"
#include "event/calls.h"
#include "log/log.h"
#include "support/log_checker.h"
#include "support/new_log.h"

#define EPOCH_NS UINT64_C(1700000000000000000)
#define LONGEST 400
#define NR_THREADS 4

static int file;
static struct px_log *wlog;
static struct px_log_state state;
static struct px_threads threads;
static struct px_typelist types;
static struct px_test_log_facts facts;

/* The calls of the log writer fail; this function takes the place of that of the C library. */
static uint64_t nr_writes, failing_from;

ssize_t pwrite(int fd, const void *bytes, size_t size, off_t offset)
{
	if (failing_from == 0 || ++nr_writes < failing_from)
		return px_write_at(fd, bytes, size, (uint64_t)offset);
	errno = EIO;
	return -1;
}

static void setup(void)
{
	file = px_test_file();
}

static void new_log(uint64_t log_size)
{
	const struct px_log_setup setup = {.fd = file, .threads = &threads, .types = &types};

	ck_assert_int_eq(px_test_new_log(&setup, PX_POLICY_LOOP, log_size, LONGEST, &state, &wlog), 0);
}

/* What is recorded. */
enum kind {
	USER_EVENTS = 1 << 0,
	FLUSHES = 1 << 1, /* an entry RUNNING precedes their events */
	WAITS = 1 << 2,	  /* RESUME and SUSPEND stand beside the events of a call */
	LONG_DATA = 1 << 3, /* frames fill a volume before its entries do, so it ends with a hole */
	ALL = USER_EVENTS | FLUSHES | WAITS | LONG_DATA
};

static void append(const struct px_report *report, const void *data)
{
	while (px_log_append(wlog, report, data) == PX_LOG_WRITE_FIRST)
		px_log_write(wlog, &state);
}

static void append_user(struct px_report *report, size_t length)
{
	unsigned char data[LONGEST];

	px_test_fill(data, length, (uint32_t)length);
	report->record.id = PX_EVENT_UNNAMED;
	report->length = report->copied = length;
	append(report, data);
}

static void append_wait(struct px_report *report, bool begins)
{
	const union px_call_data data = {.of_object = {.object = 0x5000}};

	report->record.id = px_call_event(PX_CALL_pthread_mutex_lock);
	report->record.flags = PX_RECORD_CALL | (begins ? PX_RECORD_BEGINS : PX_RECORD_ENDS);
	report->length = report->copied = sizeof(data);
	append(report, &data);
}

/* Append an event of these kinds.  Its thread and all else follow from the random number. */
static void append_random(uint64_t number, unsigned int kinds, uint64_t random)
{
	static bool waits[NR_THREADS];
	uint32_t i = random % NR_THREADS;
	struct px_report report = {.record = {.pid = 4711,
					      .thread = 0x7000 + i,
					      .context = px_txtb_handle(PX_TXTB_THREAD, 1 + i),
					      .priority = px_txtb_priority_word(5)},
				   .time_ns = EPOCH_NS + number * 1234};

	random /= NR_THREADS;
	if (kinds & FLUSHES && random % 5 == 0) {
		report.record.id = random % 2 ? PX_EVENT_FLUSH_START : PX_EVENT_OVERFLOW;
		report.record.context = report.record.thread = 0;
		append(&report, NULL);
	} else if (kinds & WAITS && random % 5 <= 2) {
		waits[i] = !waits[i];
		append_wait(&report, waits[i]);
	} else {
		append_user(&report, kinds & LONG_DATA ? random % LONGEST : 0);
	}
}

static void write_now(void)
{
	ck_assert_int_eq(px_log_write(wlog, &state), 0);
}

/* log_checker.c looks at the first entry that the viewer shows. */
START_TEST(front_after_each_write_is_of_an_event)
{
	static const unsigned int kinds[] = {USER_EVENTS, FLUSHES, WAITS, LONG_DATA, ALL};
	uint64_t random = test_seed() + (uint64_t)_i, capacity, number = 0;

	new_log(40000);
	px_test_check_log(file, PX_TEST_LOG_IS_OPEN, &facts);
	capacity = facts.capacity;
	while (facts.commit.end < 3 * capacity) {
		uint64_t nr = facts.commit.end < capacity ? 40 : 1 + next_random(&random) % 4;

		for (uint64_t i = 0; i < nr; i++)
			append_random(number++, kinds[_i], next_random(&random));
		write_now();
		px_test_check_log(file, PX_TEST_LOG_IS_OPEN, &facts);
	}
	ck_assert_int_eq(px_log_complete(wlog, &state, PX_LOG_COMPLETE), 0);
	px_test_check_log(file, 0, &facts);
}
END_TEST

/* Append events, and let the write of them fail at this call.  Return false if the write has fewer calls. */
static bool fail_at(uint64_t call, uint64_t *number)
{
	int error;

	for (uint64_t i = 0; i < 30; i++, (*number)++)
		append_random(*number, USER_EVENTS, *number * 7);
	nr_writes = 0;
	failing_from = call;
	error = px_log_write(wlog, &state);
	failing_from = 0;
	ck_assert(error == 0 || error == EIO);
	return error != 0;
}

/*
 * LOGP-8: a write of many events fails, at each of its calls.  Then follow fewer events (0), or none (1): entries of
 * the failed write stay behind them, and hide none of the older events from the viewer.
 */
START_TEST(front_after_a_failed_write_leaves_the_older_events_to_the_viewer)
{
	uint64_t number = 0, nr_failed = 0;

	new_log(40000);
	px_test_check_log(file, PX_TEST_LOG_IS_OPEN, &facts);
	while (facts.commit.end < facts.capacity * 3 / 2) {
		append_random(number, USER_EVENTS, number);
		if (++number % 20 != 0)
			continue;
		write_now();
		px_test_check_log(file, PX_TEST_LOG_IS_OPEN, &facts);
	}
	while (fail_at(nr_failed + 1, &number)) {
		nr_failed++;
		if (_i == 0)
			append_random(number, USER_EVENTS, number);
		number++;
		write_now();
		px_test_check_log(file, PX_TEST_LOG_IS_OPEN, &facts);
	}
	ck_assert_uint_ge(nr_failed, 4);
	ck_assert_int_eq(px_log_complete(wlog, &state, PX_LOG_COMPLETE), 0);
	px_test_check_log(file, 0, &facts);
}
END_TEST

/*
 * A round that begins with an event of no thread, in the same tick as the event before it: its fillers take ticks,
 * which belong to the thread that ran.
 */
START_TEST(front_of_a_round_gives_no_time_to_no_thread)
{
	struct px_txtb_entry entry[PX_LOG_START_FILLERS];
	struct px_report report = {.record = {.pid = 4711}};
	uint64_t nr_rounds = 0;

	new_log(40000);
	px_test_check_log(file, PX_TEST_LOG_IS_OPEN, &facts);
	for (uint64_t number = 0; nr_rounds < 20; number++) {
		uint64_t round = facts.commit.end / facts.capacity;

		report.time_ns = EPOCH_NS + number / 2 * 1000;
		report.record.id = number % 2 ? PX_EVENT_FLUSH_START : PX_EVENT_UNNAMED;
		report.record.context = number % 2 ? 0 : px_txtb_handle(PX_TXTB_THREAD, 1);
		append(&report, NULL);
		write_now();
		ck_assert_int_eq(pread(file, &facts.commit, sizeof(facts.commit), (off_t)facts.layout.commit),
				 sizeof(facts.commit));
		if (round == facts.commit.end / facts.capacity)
			continue;
		nr_rounds++;
		ck_assert_int_eq(pread(file, entry, sizeof(entry), (off_t)facts.layout.entries),
				 sizeof(entry));
		for (uint32_t i = 0; i < PX_LOG_START_FILLERS; i++)
			ck_assert_uint_ne(entry[i].context, PX_NO_THREAD);
	}
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("front");
	TCase *tcase = tcase_create("front");

	tcase_add_checked_fixture(tcase, setup, NULL);
	tcase_set_timeout(tcase, 120);
	tcase_add_loop_test(tcase, front_after_each_write_is_of_an_event, 0, 5);
	tcase_add_loop_test(tcase, front_after_a_failed_write_leaves_the_older_events_to_the_viewer, 0, 2);
	tcase_add_test(tcase, front_of_a_round_gives_no_time_to_no_thread);
	suite_add_tcase(suite, tcase);
	return run_suite(suite);
}
