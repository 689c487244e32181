/* SPDX-License-Identifier: MIT */
/* The number of lost events that txtrace_get_loss() returns: each event is either read or counted, once. */
#include "support/common.h"

#include <string.h>
#include <sys/mman.h>
#include <trace.h>
#include <trace_ext.h>
#include <unistd.h>

#include "base/compiler.h"

static trace_event_id_t type;
static trace_id_t stream;

static void setup(void)
{
	ok(posix_trace_eventid_open("lost", &type));
	stream = px_test_create(&(struct px_test_stream){
		.policy = POSIX_TRACE_LOOP, .nr_rings = 1, .size = 16384, .max_data = 256});
	ok(posix_trace_start(stream));
}

static void teardown(void)
{
	__atomic_store_n(&px_testpoint_hook, NULL, __ATOMIC_RELEASE);
	posix_trace_shutdown(stream);
}

static uint64_t read_all(void)
{
	struct px_test_event event;
	trace_event_id_t found;
	uint64_t nr_read = 0;

	while ((found = px_test_take(stream, &event)))
		nr_read += found == type;
	return nr_read;
}

/* START can be lost, too; events that the reader synthesizes are not recorded. */
static void expect_sum(uint64_t nr_read, uint64_t recorded)
{
	struct txtrace_loss loss;

	ok(txtrace_get_loss(stream, &loss));
	ck_assert_uint_eq(nr_read + loss.overwritten + loss.dropped + loss.abandoned, recorded);
}

static void expect_none_abandoned(void)
{
	struct txtrace_loss loss;

	ok(txtrace_get_loss(stream, &loss));
	ck_assert_uint_eq(loss.abandoned, 0);
}

enum { THREADS = 4, EACH = 200000 };

static const struct {
	bool reading;
	size_t largest; /* bytes of data: 0 to this */
} storms[] = {{false, 0}, {false, 200}, {true, 0}, {true, 200}};

static size_t largest;

static void *record_many(void *unused)
{
	static const char data[256];

	for (uint32_t i = 0; i < EACH; i++)
		posix_trace_event(type, data, largest ? i * 37 % largest : 0);
	return unused;
}

/* LOOP-3 LOOP-4 STATUS-4 */
START_TEST(loop_hammered_stream_counts_each_event_once)
{
	uint64_t nr_read = read_all();
	pthread_t threads[THREADS];

	(void)px_test_status(stream);
	largest = storms[_i].largest;
	for (int i = 0; i < THREADS; i++)
		pthread_create(&threads[i], NULL, record_many, NULL);
	for (int i = 0; storms[_i].reading && i < 300; i++)
		nr_read += read_all();
	for (int i = 0; i < THREADS; i++)
		pthread_join(threads[i], NULL);
	nr_read += read_all();
	expect_sum(nr_read, (uint64_t)THREADS * EACH);
	expect_none_abandoned();
}
END_TEST

/* Snapshots, while a writer overtakes the copy of the ring. */

static const struct {
	uint32_t before, during; /* events: recorded before the snapshot begins, and while it copies */
} overtaken[] = {{3000, 1}, {3000, 100}, {3000, 1000}, {200, 200}, {200, 1000}}; /* the ring has 256 slots */

static int overtaken_row;
static uint32_t number;
static unsigned int nr_copied;

static void record(uint32_t nr)
{
	while (nr-- > 0) {
		posix_trace_event(type, &number, sizeof(number));
		number++;
	}
}

static void record_during_copy(void)
{
	if (++nr_copied == 10)
		record(overtaken[overtaken_row].during);
	else
		px_test_at_point("rings.copy.copied", record_during_copy);
}

/* UNREAD-1 LOOP-4 */
START_TEST(snapshot_that_writers_overtake_counts_and_marks_each_loss)
{
	int fd = memfd_create("snapshot", MFD_CLOEXEC);
	uint64_t nr_read = 0, next = 0;
	struct px_test_event event;
	struct txtrace_loss loss;
	trace_event_id_t found;
	bool is_marked = false;
	trace_id_t log;

	overtaken_row = _i;
	record(overtaken[_i].before);
	px_test_at_point("rings.copy.copied", record_during_copy);
	ok(txtrace_snapshot(stream, fd));
	ok(posix_trace_open(fd, &log));
	while ((found = px_test_take_recorded(log, &event))) {
		uint32_t got;

		is_marked |= found == POSIX_TRACE_OVERFLOW;
		nr_read += found == type || found == POSIX_TRACE_START;
		if (found != type)
			continue;
		memcpy(&got, event.data, sizeof(got));
		ck_assert(got == next || (got > next && is_marked));
		is_marked = false;
		next = got + 1;
	}
	ck_assert(next == overtaken[_i].before || overtaken[_i].during > 256);
	ok(txtrace_get_loss(log, &loss));
	ck_assert_uint_eq(nr_read + loss.overwritten + loss.dropped + loss.abandoned,
			  overtaken[_i].before + UINT64_C(1)); /* and START */
	ok(posix_trace_close(log));
	close(fd);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("losses");
	TCase *tcase = tcase_create("losses");

	tcase_add_checked_fixture(tcase, setup, teardown);
	tcase_set_timeout(tcase, 60);
	tcase_add_loop_test(tcase, loop_hammered_stream_counts_each_event_once, 0,
			    PX_ARRAY_SIZE(storms));
	tcase_add_loop_test(tcase, snapshot_that_writers_overtake_counts_and_marks_each_loss, 0,
			    PX_ARRAY_SIZE(overtaken));
	suite_add_tcase(suite, tcase);
	return run_suite(suite);
}
