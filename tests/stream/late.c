/* SPDX-License-Identifier: MIT */
/*
 * Writers that are stopped, or sleep, in the middle of an event: the reader goes on without them, and gets their events
 * when they go on.  Writers that die there: each event is counted and reported once.
 */
#include "support/common.h"

#include <sched.h>
#include <signal.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <trace_ext.h>
#include <unistd.h>

#include "stream/handle.h"
#include "stream/stream.h"
#include "support/vanish.h"
#include "trace/process.h"

#define HELD 1000000 /* the number of the stopped writer */
#define NR_OTHERS 5

static trace_id_t stream;
static trace_event_id_t type;
static struct px_test_event event;

/* The sequence of a CPU ring has only the points before the last three. */
static const char *const points[] = {
	"point.state.loaded", "ring.reserve.done",   "ring.claim.done",      "record.write.first",
	"ring.commit.ready",  "ring.reserve.loaded", "ring.reserve.stamped", "ring.claim.loaded",
};
#define NR_POINTS ((int)PX_ARRAY_SIZE(points))
#define NR_CPU_POINTS (NR_POINTS - 3)

/* Holds with even numbers use a shared ring. */
static const struct px_test_stream kinds[] = {
	{.policy = POSIX_TRACE_LOOP, .size = 100000, .nr_rings = 1},
	{.policy = POSIX_TRACE_LOOP, .size = 100000},
	{.policy = POSIX_TRACE_UNTIL_FULL, .size = 100000, .nr_rings = 1},
	{.policy = POSIX_TRACE_UNTIL_FULL, .size = 100000},
};
#define NR_KINDS ((int)PX_ARRAY_SIZE(kinds))

struct hold {
	const struct px_test_stream *kind;
	const char *point;
};
#define NR_HOLDS (2 * NR_POINTS + 2 * NR_CPU_POINTS)

/* Return the hold of this number, below NR_HOLDS: each kind with each point that its events pass. */
static struct hold hold_at(int number)
{
	int of_cpus = number - 2 * NR_POINTS;

	if (of_cpus < 0)
		return (struct hold){&kinds[2 * (number / NR_POINTS)], points[number % NR_POINTS]};
	return (struct hold){&kinds[1 + 2 * (of_cpus / NR_CPU_POINTS)], points[of_cpus % NR_CPU_POINTS]};
}

static unsigned char large[200];
#define LARGE_SLOTS 5

static void make(const struct px_test_stream *wanted)
{
	stream = px_test_create(wanted);
	type = px_test_open_type("late");
	ok(posix_trace_start(stream));
	px_test_expect(stream, POSIX_TRACE_START, &event);
	(void)px_test_status(stream);
}

static void expect_no_loss(void)
{
	struct txtrace_loss loss;

	ok(txtrace_get_loss(stream, &loss));
	ck_assert_uint_eq(loss.abandoned, 0);
	ck_assert_uint_eq(loss.overwritten + loss.dropped, 0);
	ck_assert_int_eq(px_test_status(stream).posix_stream_overrun_status, POSIX_TRACE_NO_OVERRUN);
}

static void expect_numbers(uint32_t first, uint32_t count)
{
	for (uint32_t i = 0; i < count; i++) {
		px_test_expect(stream, type, &event);
		ck_assert_uint_eq(px_test_number(&event), first + i);
	}
}

static void write_numbers(uint32_t first, uint32_t count)
{
	for (uint32_t i = 0; i < count; i++)
		px_test_trace(type, first + i);
}

/*
 * TRY-1 TRY-2 EXIT-6: a reader that does not wait gets the events of others, and later the event of the sleeping
 * writer.
 */
START_TEST(trygetnext_beside_a_writer_held_at_each_step_finds_every_event)
{
	struct hold hold = hold_at(_i);
	struct px_test_writer writer;

	make(hold.kind);
	write_numbers(0, NR_OTHERS);
	px_test_hold(&writer, hold.point, type, HELD);
	ck_assert(writer.was_held);
	write_numbers(NR_OTHERS, NR_OTHERS);
	expect_numbers(0, 2 * NR_OTHERS);
	px_test_expect(stream, 0, &event);
	ck_assert_int_eq(px_test_status(stream).posix_stream_overrun_status, POSIX_TRACE_NO_OVERRUN);
	write_numbers(100, NR_OTHERS);
	expect_numbers(100, NR_OTHERS);
	px_test_expect(stream, 0, &event);
	px_test_release(&writer);
	expect_numbers(HELD, 1);
	px_test_expect(stream, 0, &event);
	expect_no_loss();
	write_numbers(200, NR_OTHERS);
	expect_numbers(200, NR_OTHERS);
	ok(posix_trace_shutdown(stream));
}
END_TEST

/* A writer that could run, but gets no CPU. */

static struct {
	const char *point;
	bool has_arrived, may_go;
} idle;

static void stay_runnable(void)
{
	px_store_release(&idle.has_arrived, true);
	while (!px_load_acquire(&idle.may_go))
		sched_yield();
}

static void stay_on_this_cpu(void)
{
	cpu_set_t one;

	CPU_ZERO(&one);
	CPU_SET(0, &one);
	sched_setaffinity(0, sizeof(one), &one); /* without this CPU, the test is weaker */
}

static void *write_idle(void *unused)
{
	const struct sched_param none = {0};

	stay_on_this_cpu();
	px_test_at_point(idle.point, stay_runnable);
	pthread_setschedparam(pthread_self(), SCHED_IDLE, &none);
	px_test_trace(type, HELD);
	return unused;
}

static void *be_busy(void *unused)
{
	stay_on_this_cpu();
	while (!px_load_acquire(&idle.may_go))
		;
	return unused;
}

/* EXIT-6: the same for a writer of the policy SCHED_IDLE behind a busy thread: the kernel says that it runs. */
START_TEST(idle_writer_behind_a_busy_thread_loses_nothing)
{
	pthread_t writer, busy;

	make(hold_at(_i).kind);
	idle.point = hold_at(_i).point;
	ck_assert_int_eq(pthread_create(&writer, NULL, write_idle, NULL), 0);
	while (!px_load_acquire(&idle.has_arrived))
		sleep_ms(1);
	ck_assert_int_eq(pthread_create(&busy, NULL, be_busy, NULL), 0);
	write_numbers(0, NR_OTHERS);
	expect_numbers(0, NR_OTHERS);
	px_test_expect(stream, 0, &event);
	px_store_release(&idle.may_go, true);
	pthread_join(writer, NULL);
	pthread_join(busy, NULL);
	expect_numbers(HELD, 1);
	px_test_expect(stream, 0, &event);
	expect_no_loss();
	ok(posix_trace_shutdown(stream));
}
END_TEST

/* The same for an event of several slots. */
START_TEST(trygetnext_beside_a_writer_held_at_each_step_of_a_large_event_finds_it)
{
	struct hold hold = hold_at(_i);
	struct px_test_writer writer;

	make(hold.kind);
	px_test_fill(large, sizeof(large), 7);
	px_test_hold_data(&writer, hold.point, type, large, sizeof(large));
	ck_assert(writer.was_held);
	write_numbers(0, NR_OTHERS);
	expect_numbers(0, NR_OTHERS);
	px_test_expect(stream, 0, &event);
	px_test_release(&writer);
	px_test_expect(stream, type, &event);
	ck_assert_uint_eq(event.length, sizeof(large));
	ck_assert(px_test_is_filled(event.data, event.length, 7));
	px_test_expect(stream, 0, &event);
	expect_no_loss();
	ok(posix_trace_shutdown(stream));
}
END_TEST

/* EVENT-17 UFULL-5: a sleeping writer does not keep a stream full for ever; its event is read later, or is counted. */
START_TEST(writer_held_for_many_times_the_size_of_the_stream_loses_at_most_its_own_event)
{
	const struct px_test_stream *kind = &kinds[_i];
	struct px_test_writer writer;
	struct txtrace_loss loss;
	trace_event_id_t got;
	uint32_t came = 0, slots;

	make(kind);
	slots = px_handle_lock(stream)->view.rings.nr_slots;
	px_handle_unlock(stream);
	px_test_hold(&writer, "record.write.first", type, HELD);
	for (uint32_t i = 0; i < 4 * slots; i += NR_OTHERS) {
		write_numbers(i, NR_OTHERS);
		expect_numbers(i, NR_OTHERS);
	}
	ck_assert_int_eq(px_test_status(stream).posix_stream_status, POSIX_TRACE_RUNNING);
	ck_assert_int_eq(px_test_status(stream).posix_stream_full_status, POSIX_TRACE_NOT_FULL);
	px_test_release(&writer);
	while ((got = px_test_take(stream, &event)) != 0)
		came += got == type && px_test_number(&event) == HELD;
	ok(txtrace_get_loss(stream, &loss));
	ck_assert_uint_eq(came, 1);
	ck_assert_uint_eq(loss.abandoned + loss.overwritten + loss.dropped, 0);
	ok(posix_trace_shutdown(stream));
}
END_TEST

static struct px_test_writer passed_writer;
static uint32_t nr_slots, nr_later;

/* The writer goes on just when the reader stops waiting for it.  Others overwrite its event, and no other event. */
static void release_and_lap(void)
{
	px_test_release(&passed_writer);
	for (nr_later = 0; nr_later < nr_slots; nr_later++)
		px_test_trace(type, nr_later);
}

/* LOOP-4: such an event counts as overwritten, not as abandoned. */
START_TEST(event_overwritten_while_the_reader_stops_waiting_for_it_counts_as_overwritten)
{
	struct txtrace_loss loss;
	uint64_t nr_read = 0;

	stay_on_this_cpu();
	make(&kinds[_i]);
	nr_slots = px_handle_lock(stream)->view.rings.nr_slots;
	px_handle_unlock(stream);
	px_test_hold(&passed_writer, "record.write.first", type, HELD);
	px_test_at_point("reader.pending.passed", release_and_lap);
	while (px_test_take(stream, &event) != 0)
		nr_read += event.info.posix_event_id == type;
	ok(txtrace_get_loss(stream, &loss));
	ck_assert_uint_eq(nr_later, nr_slots);
	ck_assert_uint_eq(nr_read + loss.overwritten, 1 + nr_later);
	ck_assert_uint_eq(loss.abandoned + loss.dropped, 0);
	ok(posix_trace_shutdown(stream));
}
END_TEST

/* Writers that die. */

static __thread const char *dies_at;
static __thread int nr_before; /* number of passages before */

static void die(const char *name)
{
	if (!dies_at || strcmp(name, dies_at) != 0)
		return;
	if (nr_before-- > 0)
		raise(SIGUSR1);
	else
		px_test_vanish();
}

static struct {
	const char *point;
	int depth;
} death;

static void record_in_handler(int signal)
{
	(void)signal;
	px_test_trace(type, HELD);
}

static void *write_and_die(void *unused)
{
	const struct sigaction action = {.sa_handler = record_in_handler, .sa_flags = SA_NODEFER};

	sigaction(SIGUSR1, &action, NULL);
	dies_at = death.point;
	nr_before = death.depth;
	px_test_trace(type, HELD);
	return unused;
}

/* As many nested events as the depth says; none of them is finished. */
static void let_a_writer_die_at(const char *point, int depth)
{
	pthread_t thread;

	death.point = point;
	death.depth = depth;
	px_store_release(&px_testpoint_hook, die);
	pthread_create(&thread, NULL, write_and_die, NULL);
	px_test_join(thread);
	px_store_release(&px_testpoint_hook, NULL);
}

static void expect_abandoned(uint64_t number)
{
	struct txtrace_loss loss;

	ok(txtrace_get_loss(stream, &loss));
	ck_assert_uint_eq(loss.abandoned, number);
	ck_assert_uint_eq(loss.overwritten + loss.dropped, 0);
}

/* EVENT-17 STATUS-4: adjacent reservations of one thread, or of unknown threads, count one by one. */
START_TEST(events_of_writers_that_die_one_beside_the_other_are_counted_each)
{
	static const char *const deaths[] = {"ring.reserve.done", "record.write.first"};
	const struct px_test_stream *kind = &kinds[_i / 2];

	if (PX_IS_SANITIZED) {
		px_test_skip("a sanitizer does not let a thread vanish");
		return;
	}
	make(kind);
	let_a_writer_die_at(deaths[_i % 2], 2);
	let_a_writer_die_at(deaths[_i % 2], 0);
	write_numbers(0, 1);
	while (px_test_take(stream, &event) != type)
		ck_assert(event.info.posix_event_id == POSIX_TRACE_OVERFLOW ||
			  event.info.posix_event_id == POSIX_TRACE_RESUME);
	px_test_expect(stream, 0, &event);
	expect_abandoned(4);
	write_numbers(1, 1);
	expect_numbers(1, 1);
	expect_abandoned(4);
	ok(posix_trace_shutdown(stream));
}
END_TEST

static sem_t may_die, has_arrived;
static int nr_passes; /* times that the point is passed before */

static void die_in_commit(const char *name)
{
	if (dies_at && strcmp(name, dies_at) == 0 && nr_passes-- == 0)
		px_test_vanish();
}

static void arrive_and_die(const char *name)
{
	if (!dies_at || strcmp(name, dies_at) != 0 || nr_passes-- > 0)
		return;
	sem_post(&has_arrived);
	while (sem_wait(&may_die) != 0)
		;
	px_test_vanish();
}

static void *write_large_and_die(void *unused)
{
	dies_at = "ring.commit.more";
	posix_trace_event(type, large, sizeof(large));
	return unused;
}

/* EVENT-17: a writer that dies when it has committed some of the further slots has lost one event. */
START_TEST(event_of_a_writer_that_dies_in_each_step_of_its_commit_is_counted_once)
{
	pthread_t thread;

	if (PX_IS_SANITIZED) {
		px_test_skip("a sanitizer does not let a thread vanish");
		return;
	}
	make(&kinds[_i / (LARGE_SLOTS - 1)]);
	nr_passes = _i % (LARGE_SLOTS - 1);
	px_store_release(&px_testpoint_hook, die_in_commit);
	pthread_create(&thread, NULL, write_large_and_die, NULL);
	px_test_join(thread);
	px_store_release(&px_testpoint_hook, NULL);
	ck_assert_int_lt(nr_passes, 0);
	write_numbers(0, 1);
	px_test_expect(stream, POSIX_TRACE_OVERFLOW, &event);
	px_test_expect(stream, POSIX_TRACE_RESUME, &event);
	expect_numbers(0, 1);
	expect_abandoned(1);
	ok(posix_trace_shutdown(stream));
}
END_TEST

/* EVENT-17: the same if the reader has gone on before the writer dies: all slots were set aside together. */
START_TEST(event_of_a_writer_that_dies_in_its_commit_behind_the_reader_is_counted_once)
{
	pthread_t thread;

	if (PX_IS_SANITIZED) {
		px_test_skip("a sanitizer does not let a thread vanish");
		return;
	}
	make(&kinds[_i]);
	sem_init(&may_die, 0, 0);
	sem_init(&has_arrived, 0, 0);
	nr_passes = 2;
	px_store_release(&px_testpoint_hook, arrive_and_die);
	pthread_create(&thread, NULL, write_large_and_die, NULL);
	while (sem_wait(&has_arrived) != 0)
		;
	px_store_release(&px_testpoint_hook, NULL);
	write_numbers(0, NR_OTHERS);
	expect_numbers(0, NR_OTHERS);
	expect_abandoned(0);
	sem_post(&may_die);
	px_test_join(thread);
	sleep_ms(2); /* the reader asks the kernel at most each ms */
	write_numbers(NR_OTHERS, 1);
	while (px_test_take(stream, &event) != type)
		;
	ck_assert_uint_eq(px_test_number(&event), NR_OTHERS);
	expect_abandoned(1);
	ok(posix_trace_shutdown(stream));
}
END_TEST

/*
 * LOOP-4 SYSEV-2 STATUS-4: each such loss is an overrun.  OVERFLOW and RESUME surround it, and their times are in
 * order.
 */
START_TEST(event_of_a_writer_that_dies_is_marked_and_an_overrun)
{
	const struct px_test_stream *kind = &kinds[_i];
	uint64_t last_ns = 0;

	if (PX_IS_SANITIZED) {
		px_test_skip("a sanitizer does not let a thread vanish");
		return;
	}
	make(kind);
	for (uint32_t i = 0; i < 33; i++) {
		static const trace_event_id_t order[] = {POSIX_TRACE_OVERFLOW, POSIX_TRACE_RESUME, 0};

		let_a_writer_die_at("record.write.first", 0);
		write_numbers(i, 1);
		for (int k = 0; k < 3; k++) {
			px_test_expect(stream, order[k] ? order[k] : type, &event);
			ck_assert_uint_ge(px_test_ns(event.info.posix_timestamp), last_ns);
			last_ns = px_test_ns(event.info.posix_timestamp);
		}
		ck_assert_uint_eq(px_test_number(&event), i);
		ck_assert_int_eq(px_test_status(stream).posix_stream_overrun_status,
				 POSIX_TRACE_OVERRUN);
		ck_assert_int_eq(px_test_status(stream).posix_stream_overrun_status,
				 POSIX_TRACE_NO_OVERRUN);
		expect_abandoned(i + 1);
	}
	ok(posix_trace_shutdown(stream));
}
END_TEST

/* LOOP-4: the same if the reader has gone on before: OVERFLOW is not older than the events that were read. */
START_TEST(event_of_a_writer_that_dies_after_the_reader_has_gone_on_is_marked_in_order)
{
	trace_event_id_t got;
	pthread_t thread;
	uint64_t last_ns;
	uint32_t i = 100;

	if (PX_IS_SANITIZED) {
		px_test_skip("a sanitizer does not let a thread vanish");
		return;
	}
	make(&kinds[_i]);
	sem_init(&may_die, 0, 0);
	sem_init(&has_arrived, 0, 0);
	death.point = "record.write.first";
	px_store_release(&px_testpoint_hook, arrive_and_die);
	pthread_create(&thread, NULL, write_and_die, NULL);
	while (sem_wait(&has_arrived) != 0)
		;
	px_store_release(&px_testpoint_hook, NULL);
	write_numbers(0, NR_OTHERS);
	expect_numbers(0, NR_OTHERS);
	last_ns = px_test_ns(event.info.posix_timestamp);
	expect_abandoned(0);
	sem_post(&may_die);
	px_test_join(thread);
	do { /* the reader asks the kernel from time to time */
		write_numbers(i++, 1);
		got = px_test_take(stream, &event);
		ck_assert_uint_ge(px_test_ns(event.info.posix_timestamp), last_ns);
		last_ns = px_test_ns(event.info.posix_timestamp);
	} while (got == type);
	ck_assert_uint_eq(got, POSIX_TRACE_OVERFLOW);
	px_test_expect(stream, POSIX_TRACE_RESUME, &event);
	ck_assert_uint_ge(px_test_ns(event.info.posix_timestamp), last_ns);
	expect_numbers(i - 1, 1);
	expect_abandoned(1);
	ok(posix_trace_shutdown(stream));
}
END_TEST

/* Times. */

static uint64_t woken_ns;

static void sleep_and_note(void)
{
	struct timespec now;

	sleep_ms(5);
	clock_gettime(CLOCK_REALTIME, &now);
	woken_ns = px_test_ns(now);
	px_test_expect(stream, 0, &event); /* the reader passes the counter */
}

/*
 * GETNEXT-9: a writer that is preempted between its counter and its reservation takes a later counter if the reader
 * passes.
 */
START_TEST(event_of_a_writer_that_sleeps_before_it_reserves_has_a_later_time)
{
	uint64_t ns;

	make(&kinds[_i]);
	px_test_at_point("ring.reserve.stamped", sleep_and_note);
	write_numbers(0, 1);
	write_numbers(1, 1);
	expect_numbers(0, 1);
	ns = px_test_ns(event.info.posix_timestamp);
	expect_numbers(1, 1);
	px_test_expect(stream, 0, &event);
	/*
	 * Without CPU rings, the point was passed.  The clock of the stream may differ slightly from that of the
	 * system.
	 */
	if (woken_ns != 0)
		ck_assert_uint_ge(ns + 1000000, woken_ns);
	ck_assert(woken_ns != 0 || kinds[_i].nr_rings == 0);
	expect_no_loss();
	ok(posix_trace_shutdown(stream));
}
END_TEST

#define NR_HOLDERS 5

/* Write until the next event takes the slot before the one at this position, one lap later. */
static void write_until_before(const struct px_ring *ring, uint64_t position)
{
	while (((px_read_once(&ring->control->head) + 1 - position) & ring->mask) != 0)
		write_numbers(0, 1);
}

/* GETNEXT-9: the next slots belong to other writers: one slot each, or a long record. */
START_TEST(event_of_a_writer_that_sleeps_before_held_slots_has_a_later_time)
{
	static unsigned char data[1500]; /* more slots than attempts of a writer */
	struct px_test_writer holders[NR_HOLDERS];
	struct px_ring ring;
	uint64_t position;

	stay_on_this_cpu();
	make(&(struct px_test_stream){
		.policy = POSIX_TRACE_LOOP, .size = 100000, .nr_rings = 1, .max_data = sizeof(data)});
	ring = px_rings_get(&px_handle_lock(stream)->view.rings, 0);
	px_handle_unlock(stream);
	position = ring.control->head;
	if (_i == 0)
		for (uint32_t i = 0; i < NR_HOLDERS; i++)
			px_test_hold(&holders[i], "record.write.first", type, HELD);
	else
		px_test_hold_data(&holders[0], "record.write.first", type, data, sizeof(data));
	write_until_before(&ring, position);
	while (px_test_take(stream, &event) != 0)
		continue;
	px_test_at_point("ring.reserve.stamped", sleep_and_note);
	write_numbers(1, 1);
	expect_numbers(1, 1);
	ck_assert_uint_ne(woken_ns, 0);
	ck_assert_uint_ge(px_test_ns(event.info.posix_timestamp) + 1000000, woken_ns);
	for (uint32_t i = 0; i < (_i == 0 ? NR_HOLDERS : 1); i++)
		px_test_release(&holders[i]);
	ok(posix_trace_shutdown(stream));
}
END_TEST

/* Hostile memory. */

/*
 * More claims of living threads than the reader remembers: reading ends, and the reader counts those that it does not
 * remember.
 */
START_TEST(claims_of_very_many_threads_are_remembered_or_counted)
{
	struct txtrace_loss loss;
	struct px_stream *inner;
	struct px_ring ring;
	uint32_t nr_claims = 3 * PX_READER_ASIDE_MAX;

	make(&(struct px_test_stream){.size = 1000000, .nr_rings = 1});
	inner = px_handle_lock(stream);
	ring = px_rings_get(&inner->view.rings, 0);
	px_handle_unlock(stream);
	for (uint32_t i = 0; i < nr_claims; i++) {
		uint64_t position = px_read_once(&ring.control->head);

		ring.slots[position & ring.mask].word =
			px_word(position, i % 2 ? 1 : (uint32_t)getpid(), PX_SLOT_CLAIMED);
		px_fetch_add(&ring.control->head, UINT64_C(1));
	}
	write_numbers(0, NR_OTHERS);
	while (px_test_take(stream, &event) != type)
		ck_assert(event.info.posix_event_id == POSIX_TRACE_OVERFLOW ||
			  event.info.posix_event_id == POSIX_TRACE_RESUME);
	expect_numbers(1, NR_OTHERS - 1);
	px_test_expect(stream, 0, &event);
	ok(txtrace_get_loss(stream, &loss));
	ck_assert_uint_eq(loss.abandoned, nr_claims - PX_READER_ASIDE_MAX);
	ok(posix_trace_shutdown(stream));
}
END_TEST

/* A sleeper holds many slots for a lap.  Other writers have skipped these slots: no event is lost there. */
START_TEST(slots_skipped_beside_a_long_record_are_no_lost_events)
{
	struct txtrace_loss loss;
	struct px_stream *inner;
	struct px_ring ring;
	uint32_t nr_held = 3 * PX_READER_ASIDE_MAX;

	make(&(struct px_test_stream){.size = 1000000, .nr_rings = 1});
	inner = px_handle_lock(stream);
	ring = px_rings_get(&inner->view.rings, 0);
	px_handle_unlock(stream);
	for (uint32_t i = 0; i < nr_held; i++) {
		uint64_t position = px_read_once(&ring.control->head);

		ring.slots[position & ring.mask].word =
			px_word(position - ring.mask - 1, (uint32_t)getpid(), PX_SLOT_CLAIMED);
		px_fetch_add(&ring.control->extra, UINT64_C(1));
		px_fetch_add(&ring.control->head, UINT64_C(1));
	}
	write_numbers(0, NR_OTHERS);
	expect_numbers(0, NR_OTHERS);
	px_test_expect(stream, 0, &event);
	ok(txtrace_get_loss(stream, &loss));
	ck_assert_uint_eq(loss.abandoned, 0);
	ok(posix_trace_shutdown(stream));
}
END_TEST

static struct px_ring torn_ring;

/* One writer reserves the first slot of the oldest record, and sleeps.  The next one overwrites the second slot. */
static void overwrite_the_second_slot(void)
{
	struct px_reservation at;

	px_ring_reserve(&torn_ring, 1, 0, PX_CLOCK_HARDWARE, &at);
	px_test_trace(type, 1000);
	px_fetch_add(&torn_ring.control->extra, UINT64_C(1)); /* the sleeping writer gives up */
	px_ring_skip(&torn_ring, at.position);
}

START_TEST(record_whose_second_slot_is_overwritten_first_counts_as_overwritten)
{
	static const unsigned char data[200];
	struct txtrace_loss loss;
	struct px_stream *inner;
	uint32_t number = 0;

	make(&(struct px_test_stream){.size = 4096, .max_data = sizeof(data), .nr_rings = 1});
	inner = px_handle_lock(stream);
	torn_ring = px_rings_get(&inner->view.rings, 0);
	px_handle_unlock(stream);
	posix_trace_event(type, data, sizeof(data));
	while (torn_ring.control->head - torn_ring.control->tail <= torn_ring.mask)
		px_test_trace(type, ++number);
	px_test_at_point("reader.snapshot.taken", overwrite_the_second_slot);
	while (px_test_take(stream, &event) != 0)
		;
	ok(txtrace_get_loss(stream, &loss));
	ck_assert_uint_eq(loss.abandoned, 0);
	ck_assert_uint_ge(loss.overwritten, 1);
	ok(posix_trace_shutdown(stream));
}
END_TEST

/* Logs. */

static uint32_t count_in_log(int fd, uint32_t number)
{
	trace_id_t log = px_test_open(fd);
	trace_event_id_t got;
	uint32_t count = 0;

	while ((got = px_test_take_recorded(log, &event)) != 0)
		count += got == type && px_test_number(&event) == number;
	ok(posix_trace_close(log));
	return count;
}

/* FLOP-1 EXIT-6: a flush goes on without the writer, and a later flush writes its event, once. */
START_TEST(flush_beside_a_writer_held_writes_its_event_later)
{
	struct px_test_writer writer;
	struct txtrace_loss loss;
	int fd = px_test_file();

	stream = px_test_create_log(&kinds[_i], fd);
	type = px_test_open_type("late");
	ok(posix_trace_start(stream));
	px_test_hold(&writer, "record.write.first", type, HELD);
	for (uint32_t i = 0; i < NR_OTHERS; i++) {
		write_numbers(i, 1);
		ok(posix_trace_flush(stream));
	}
	if (_i % 2 == 0)
		px_test_release(&writer);
	ok(posix_trace_flush(stream));
	ok(txtrace_get_loss(stream, &loss));
	ck_assert_uint_eq(loss.abandoned + loss.overwritten + loss.dropped, 0);
	ok(posix_trace_shutdown(stream));
	px_test_release(&writer);
	ck_assert_uint_eq(count_in_log(fd, HELD), _i % 2 == 0);
	for (uint32_t i = 0; i < NR_OTHERS; i++)
		ck_assert_uint_eq(count_in_log(fd, i), 1);
	close(fd);
}
END_TEST

/* Processes that are stopped. */

enum { NR_NUMBERS = 20000, NR_AHEAD = 200 };

struct shared {
	uint32_t go, nr_read, nr_written;
};

static int write_ahead(struct shared *shared)
{
	trace_event_id_t id;

	if (posix_trace_eventid_open("late", &id) != 0)
		return 1;
	while (!px_load_acquire(&shared->go))
		sched_yield();
	for (uint32_t i = 0; i < NR_NUMBERS; i++) {
		while (i - px_load_acquire(&shared->nr_read) >= NR_AHEAD)
			;
		posix_trace_event(id, &i, sizeof(i));
		px_store_release(&shared->nr_written, i + 1);
	}
	return 0;
}

/*
 * EXIT-6 STATUS-4: a process that is stopped and continued again and again, in a stream that is never full, loses
 * nothing.
 */
START_TEST(process_stopped_and_continued_again_and_again_loses_nothing)
{
	struct shared *shared = mmap(NULL, sizeof(*shared), PROT_READ | PROT_WRITE,
				     MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	static unsigned char times[NR_NUMBERS];
	uint64_t random = test_seed();
	uint32_t nr_read = 0;
	trace_attr_t attr;
	bool is_written;
	int status;
	pid_t child;

	child = fork();
	if (child == 0)
		_exit(write_ahead(shared));
	ok(posix_trace_attr_init(&attr));
	ok(posix_trace_attr_setstreamsize(&attr, 100000));
	ok(posix_trace_attr_setstreamfullpolicy(&attr, kinds[_i].policy));
	ok(txtrace_attr_setrings(&attr, kinds[_i].nr_rings));
	ok(posix_trace_create(child, &attr, &stream));
	ok(posix_trace_start(stream));
	px_test_expect(stream, POSIX_TRACE_START, &event);
	(void)px_test_status(stream);
	px_store_release(&shared->go, 1);
	do {
		is_written = px_load_acquire(&shared->nr_written) == NR_NUMBERS;
		kill(child, SIGSTOP);
		while (px_test_take(stream, &event) != 0) {
			uint32_t number = px_test_number(&event);

			ck_assert_uint_ge(event.info.posix_event_id, PX_EVENT_USER_FIRST);
			ck_assert_uint_lt(number, NR_NUMBERS);
			ck_assert_uint_eq(times[number]++, 0);
			px_store_release(&shared->nr_read, ++nr_read);
		}
		kill(child, SIGCONT);
		for (uint64_t n = next_random(&random) % 20000; n > 0; n--)
			__atomic_signal_fence(__ATOMIC_SEQ_CST);
	} while (!is_written);
	ck_assert_int_eq(waitpid(child, &status, 0), child);
	ck_assert_int_eq(status, 0);
	while (px_test_take(stream, &event) != 0)
		ck_assert_uint_eq(times[px_test_number(&event)]++, 0);
	for (uint32_t i = 0; i < NR_NUMBERS; i++)
		ck_assert_uint_eq(times[i], 1);
	expect_no_loss();
	ok(posix_trace_shutdown(stream));
	munmap(shared, sizeof(*shared));
}
END_TEST

enum { NR_THREADS = 3, NR_EACH = 300 };

static uint32_t nr_begun, may_stop;

static void *write_until_stopped(void *unused)
{
	uint32_t i;

	px_fetch_add(&nr_begun, 1);
	for (i = 0; !px_load_acquire(&may_stop) || i < NR_EACH; i++)
		px_test_trace(type, i);
	return unused;
}

/* TRY-2: after the stop, when all writers have ended, "no event" means the end. */
START_TEST(trygetnext_says_none_only_if_there_is_none)
{
	for (int round = 0; round < 30; round++) {
		pthread_t threads[NR_THREADS];
		uint32_t late = 0;

		make(&(struct px_test_stream){.size = 4000, .nr_rings = kinds[_i].nr_rings});
		may_stop = nr_begun = 0;
		for (int i = 0; i < NR_THREADS; i++)
			pthread_create(&threads[i], NULL, write_until_stopped, NULL);
		while (px_load_acquire(&nr_begun) < NR_THREADS)
			sched_yield();
		ok(posix_trace_stop(stream));
		while (px_test_take(stream, &event) != 0)
			;
		px_store_release(&may_stop, 1);
		for (int i = 0; i < NR_THREADS; i++)
			pthread_join(threads[i], NULL);
		while (px_test_take(stream, &event) != 0)
			late++;
		/* Each thread can have been in one event when the stream stopped, and a gap is reported once. */
		ck_assert_uint_le(late, NR_THREADS + 2);
		px_test_expect(stream, 0, &event);
		ok(posix_trace_shutdown(stream));
	}
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("late");
	TCase *tcase = tcase_create("late");

	tcase_set_timeout(tcase, 60);
	tcase_add_loop_test(tcase, trygetnext_beside_a_writer_held_at_each_step_finds_every_event, 0,
			    NR_HOLDS);
	tcase_add_loop_test(tcase, idle_writer_behind_a_busy_thread_loses_nothing, 0, NR_HOLDS);
	tcase_add_loop_test(tcase,
			    trygetnext_beside_a_writer_held_at_each_step_of_a_large_event_finds_it, 0,
			    NR_HOLDS);
	tcase_add_loop_test(
		tcase,
		writer_held_for_many_times_the_size_of_the_stream_loses_at_most_its_own_event, 0,
		NR_KINDS);
	tcase_add_loop_test(
		tcase, event_overwritten_while_the_reader_stops_waiting_for_it_counts_as_overwritten, 0,
		2);
	tcase_add_loop_test(tcase, events_of_writers_that_die_one_beside_the_other_are_counted_each,
			    0, 2 * NR_KINDS);
	tcase_add_loop_test(tcase, event_of_a_writer_that_dies_in_each_step_of_its_commit_is_counted_once, 0,
			    NR_KINDS * (LARGE_SLOTS - 1));
	tcase_add_loop_test(tcase, event_of_a_writer_that_dies_in_its_commit_behind_the_reader_is_counted_once, 0,
			    NR_KINDS);
	tcase_add_loop_test(tcase, event_of_a_writer_that_dies_is_marked_and_an_overrun, 0,
			    NR_KINDS);
	tcase_add_loop_test(
		tcase,
		event_of_a_writer_that_dies_after_the_reader_has_gone_on_is_marked_in_order, 0,
		NR_KINDS);
	tcase_add_loop_test(tcase, event_of_a_writer_that_sleeps_before_held_slots_has_a_later_time, 0, 2);
	tcase_add_loop_test(tcase, event_of_a_writer_that_sleeps_before_it_reserves_has_a_later_time,
			    0, NR_KINDS);
	tcase_add_test(tcase, claims_of_very_many_threads_are_remembered_or_counted);
	tcase_add_test(tcase, slots_skipped_beside_a_long_record_are_no_lost_events);
	tcase_add_test(tcase, record_whose_second_slot_is_overwritten_first_counts_as_overwritten);
	tcase_add_loop_test(tcase, flush_beside_a_writer_held_writes_its_event_later, 0, NR_KINDS);
	tcase_add_loop_test(tcase, process_stopped_and_continued_again_and_again_loses_nothing, 0,
			    NR_KINDS);
	tcase_add_loop_test(tcase, trygetnext_says_none_only_if_there_is_none, 0, 2);
	suite_add_tcase(suite, tcase);
	return run_suite(suite);
}
