/* SPDX-License-Identifier: MIT */
/* The number of lost events that txtrace_get_loss() returns: each event is either read or counted, once. */
#include "support/common.h"

#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <trace.h>
#include <trace_ext.h>
#include <unistd.h>

#include "base/compiler.h"
#include "support/vanish.h"

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

/* A writer of a shared ring that was preempted before it reserved its slots exchanges them for later ones. */

static const char *const exchange_points[] = {"ring.reserve.done", "ring.later.kept",	 "ring.claim.loaded",
					      "ring.claim.done",   "ring.later.claimed", "ring.void.done"};
static const struct {
	size_t bytes;
	bool is_apart; /* there is another event between the older slots and the later ones */
} exchanges[] = {{8, false}, {8, true}, {200, false}, {200, true}};
#define NR_EXCHANGES ((int)(PX_ARRAY_SIZE(exchange_points) * PX_ARRAY_SIZE(exchanges)))

static __thread volatile bool is_exchanging;
static int nr_claims_left; /* of the older slots */
static const char *dies_at;
static bool is_late, is_apart;

static void record_between(int signal)
{
	(void)signal;
	px_test_trace(type, 0);
}

static void die_in_the_exchange(const char *name)
{
	if (!is_exchanging)
		return;
	if (!is_late && strcmp(name, "ring.reserve.stamped") == 0) {
		is_exchanging = false;
		sleep_ms(1);
		(void)read_all(); /* the reader passes the counter */
		is_exchanging = is_late = true;
	} else if (nr_claims_left > 0 && strcmp(name, "ring.claim.done") == 0) {
		is_exchanging = false;
		if (--nr_claims_left == 0 && is_apart)
			raise(SIGUSR1);
		is_exchanging = true;
	} else if (nr_claims_left == 0 && strcmp(name, dies_at) == 0) {
		px_test_vanish();
	}
}

static void *record_one(void *size)
{
	static const char data[256];

	is_exchanging = true;
	posix_trace_event(type, data, *(const size_t *)size);
	ck_abort_msg("%s was not passed", dies_at);
}

/* LOOP-3 EVENT-17: if it is killed there, at any step, it has lost one event. */
START_TEST(event_of_a_writer_killed_while_it_exchanges_its_slots_is_counted_once)
{
	size_t row = (size_t)_i / PX_ARRAY_SIZE(exchange_points), size = exchanges[row].bytes;
	const struct sigaction action = {.sa_handler = record_between, .sa_flags = SA_NODEFER};
	struct txtrace_loss loss;
	pthread_t thread;

	if (PX_IS_SANITIZED) {
		px_test_skip("a sanitizer does not let a thread vanish");
		return;
	}
	if (exchanges[row].is_apart && getenv("PX_SANITIZED")) {
		px_test_skip("a signal frame of valgrind is small: the call in the handler is near the other one");
		return;
	}
	dies_at = exchange_points[(size_t)_i % PX_ARRAY_SIZE(exchange_points)];
	is_apart = exchanges[row].is_apart;
	nr_claims_left = size == 8 ? 1 : 5;
	sigaction(SIGUSR1, &action, NULL);
	px_test_trace(type, 1);
	__atomic_store_n(&px_testpoint_hook, die_in_the_exchange, __ATOMIC_RELEASE);
	pthread_create(&thread, NULL, record_one, &size);
	px_test_join(thread);
	__atomic_store_n(&px_testpoint_hook, NULL, __ATOMIC_RELEASE);
	px_test_trace(type, 2);
	ck_assert_uint_eq(read_all(), 1 + (uint64_t)is_apart);
	ok(txtrace_get_loss(stream, &loss));
	ck_assert_uint_eq(loss.abandoned, 1);
	ck_assert_uint_eq(loss.overwritten + loss.dropped, 0);
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
	tcase_add_loop_test(tcase, event_of_a_writer_killed_while_it_exchanges_its_slots_is_counted_once, 0,
			    NR_EXCHANGES);
	suite_add_tcase(suite, tcase);
	return run_suite(suite);
}
