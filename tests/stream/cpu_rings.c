/* SPDX-License-Identifier: MIT */
/*
 * Streams with a ring for each CPU (cpuring.h): what happens to events whose writers are disturbed, moved to another
 * CPU, killed, stopped, or cannot write there; and what the reader returns.
 */
#include "config.h"

#include "support/common.h"

#include <sched.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <trace_ext.h>
#include <unistd.h>

#include "ring/cpuring.h"
#include "support/thread_timer.h"
#include "support/traps.h"
#include "trace/emit.h"
#include "trace/process.h"

#define MANY_BYTES 200 /* of data: five slots */
#define MANY_SLOTS 5
#define TOO_MANY_BYTES 600 /* twelve slots: more than the sequence for a few slots takes */
#define MAX_NUMBERS 100000

static trace_event_id_t type;
static trace_id_t stream;
static cpu_set_t all_cpus;
static size_t max_bytes = MANY_BYTES;
static int this_cpu, other_cpu; /* the same CPU if there is only one */

static void go_to(int cpu)
{
	cpu_set_t one;

	CPU_ZERO(&one);
	CPU_SET((size_t)cpu, &one);
	if (sched_setaffinity(0, sizeof(one), &one) != 0)
		abort();
}

static void setup(void)
{
	ok(posix_trace_eventid_open("cpu", &type));
	ck_assert_int_eq(sched_getaffinity(0, sizeof(all_cpus), &all_cpus), 0);
	this_cpu = other_cpu = -1;
	for (int i = 0; i < CPU_SETSIZE; i++) {
		if (!CPU_ISSET((size_t)i, &all_cpus))
			continue;
		if (this_cpu < 0)
			this_cpu = i;
		other_cpu = i;
	}
	go_to(this_cpu);
}

static void teardown(void)
{
	__atomic_store_n(&px_testpoint_hook, NULL, __ATOMIC_RELEASE);
	posix_trace_shutdown(stream);
}

/* Create a stream with the default rings, which also traces children. */
static void make(int policy, size_t size)
{
	trace_attr_t attr;

	ok(posix_trace_attr_init(&attr));
	ok(posix_trace_attr_setstreamfullpolicy(&attr, policy));
	ok(posix_trace_attr_setstreamsize(&attr, size));
	ok(posix_trace_attr_setmaxdatasize(&attr, max_bytes));
	ok(posix_trace_attr_setinherited(&attr, POSIX_TRACE_INHERITED));
	ok(posix_trace_create(0, &attr, &stream));
	ok(posix_trace_attr_destroy(&attr));
	ok(posix_trace_start(stream));
}

static const struct px_view *view(void)
{
	for (unsigned int i = 0; i < PX_STREAMS_MAX; i++)
		if (px_gate.self.view[i])
			return px_gate.self.view[i];
	return NULL;
}

static struct px_ring shared_ring(void)
{
	return px_rings_get(&view()->rings, 0);
}

static struct px_ring ring_of_cpu(int cpu)
{
	return px_rings_get(&view()->rings, view()->rings.nr_shared + (uint32_t)cpu);
}

/* An event is a number, and bytes that depend on it.  The test notes the recorded events in their order. */
static uint32_t recorded[MAX_NUMBERS], found[MAX_NUMBERS];
static size_t nr_recorded, nr_found;
static unsigned int nr_overflows;
static uint32_t next_number = 1;
static size_t data_bytes = sizeof(uint32_t);

static void record(uint32_t number)
{
	unsigned char data[TOO_MANY_BYTES];

	memcpy(data, &number, sizeof(number));
	px_test_fill(data + sizeof(number), data_bytes - sizeof(number), number);
	posix_trace_event(type, data, data_bytes);
}

static void note(uint32_t number)
{
	recorded[nr_recorded++] = number;
}

static void record_next(void)
{
	uint32_t number = next_number++;

	record(number);
	note(number);
}

static uint32_t number_of(const struct px_test_event *event)
{
	uint32_t number;

	ck_assert_uint_ge(event->length, sizeof(number));
	memcpy(&number, event->data, sizeof(number));
	ck_assert(px_test_is_filled(event->data + sizeof(number), event->length - sizeof(number),
				    number));
	return number;
}

static void read_all(void)
{
	struct px_test_event event;
	trace_event_id_t id;

	nr_found = nr_overflows = 0;
	while ((id = px_test_take(stream, &event))) {
		if (id == type)
			found[nr_found++] = number_of(&event);
		nr_overflows += id == POSIX_TRACE_OVERFLOW;
	}
}

static uint64_t count_lost(void)
{
	struct txtrace_loss loss;

	ok(txtrace_get_loss(stream, &loss));
	return loss.overwritten + loss.dropped + loss.abandoned;
}

/* The stream has the last recorded events, in order.  It has counted each of the others once as lost. */
static void expect_all_but(size_t lost)
{
	uint64_t before = count_lost();
	uint64_t after;

	read_all();
	after = count_lost();
	ck_assert_uint_eq(nr_found + lost, nr_recorded);
	for (size_t i = 0; i < nr_found; i++)
		ck_assert_uint_eq(found[i], recorded[i + lost]);
	ck_assert_uint_eq(after - before, lost);
	ck_assert_uint_eq(nr_overflows, lost > 0);
	nr_recorded = 0;
}

/* Disturbed at each step. */

static void record_within(void)
{
	record_next();
}

/* Meanwhile, another thread on this CPU does what a handler must not do. */
static sem_t help_wanted, help_given;
static void (*help)(void);

static void *help_out(void *unused)
{
	for (;;) {
		while (sem_wait(&help_wanted) != 0)
			;
		help();
		sem_post(&help_given);
	}
	return unused;
}

static void have_done(void (*what)(void))
{
	help = what;
	sem_post(&help_wanted);
	while (sem_wait(&help_given) != 0)
		;
}

static void let_another_record(void)
{
	have_done(record_next);
}

static struct px_test_writer holder;

static void hold_one(void)
{
	uint32_t number = next_number++;

	px_test_hold(&holder, "ring.claim.done", type, number);
	note(number);
}

static void let_another_hold(void)
{
	have_done(hold_one);
}

static void move_away(void)
{
	go_to(other_cpu);
}

static pid_t thread_left;

static void leave_thread(void)
{
	thread_left = (pid_t)syscall(SYS_gettid);
	pthread_exit(NULL);
}

/* Wait until the kernel has removed the thread: a join may return before. */
static void wait_until_gone(void)
{
	while (syscall(SYS_tgkill, getpid(), thread_left, 0) == 0)
		sched_yield();
}

static void kill_process(void)
{
	kill(getpid(), SIGKILL);
}

static void *just_exit(void *unused)
{
	(void)unused;
	pthread_exit(NULL);
}

/* A handler could not load the library that pthread_exit() loads the first time. */
static void get_ready(void)
{
	pthread_t thread;

	ck_assert_int_eq(pthread_create(&thread, NULL, just_exit, NULL), 0);
	pthread_join(thread, NULL);
	sem_init(&help_wanted, 0, 0);
	sem_init(&help_given, 0, 0);
	ck_assert_int_eq(pthread_create(&thread, NULL, help_out, NULL), 0);
	pthread_detach(thread);
}

static void *record_and_die(void *number)
{
	record(*(uint32_t *)number);
	note(*(uint32_t *)number);
	return NULL;
}

enum disturbed { WE, THREAD, CHILD };

static const struct {
	void (*action)(void);
	enum disturbed disturbed;
} disturbances[] = {
	{NULL, WE},		 {record_within, WE}, {let_another_record, WE},
	{let_another_hold, WE},	 {move_away, WE},     {leave_thread, THREAD},
	{kill_process, CHILD},
};

/* Return how often the trap was reached: once, or not at all. */
static unsigned int record_disturbed(size_t step, void (*action)(void), enum disturbed disturbed)
{
	uint32_t number = next_number++;
	unsigned int hits;
	pthread_t thread;
	int status;
	pid_t child;

	px_test_plant(step, action);
	switch (disturbed) {
	case WE:
		record(number);
		note(number);
		break;
	case THREAD:
		ck_assert_int_eq(pthread_create(&thread, NULL, record_and_die, &number), 0);
		pthread_join(thread, NULL);
		break;
	case CHILD:
		child = fork();
		ck_assert_int_ge(child, 0);
		if (child == 0) {
			record(number);
			_exit(0);
		}
		ck_assert_int_eq(waitpid(child, &status, 0), child);
		px_test_unplant();
		if (WIFEXITED(status))
			note(number);
		return WIFSIGNALED(status);
	}
	hits = px_test_unplant();
	px_test_release(&holder);
	go_to(this_cpu);
	return hits;
}

static const struct {
	int policy;
	size_t bytes;
} kinds[] = {
	{POSIX_TRACE_LOOP, 8},
	{POSIX_TRACE_LOOP, MANY_BYTES},
	{POSIX_TRACE_UNTIL_FULL, 8},
	{POSIX_TRACE_UNTIL_FULL, MANY_BYTES},
};

#define NR_KINDS PX_ARRAY_SIZE(kinds)

START_TEST(event_disturbed_at_each_step_is_there_once)
{
	unsigned int nr_hit = 0;

	get_ready();
	make(kinds[(size_t)_i % NR_KINDS].policy, 4096);
	data_bytes = kinds[(size_t)_i % NR_KINDS].bytes;
	for (size_t step = 0; step < px_test_nr_steps(); step++) {
		nr_hit += record_disturbed(step, disturbances[(size_t)_i / NR_KINDS].action,
					   disturbances[(size_t)_i / NR_KINDS].disturbed);
		record_next();
		expect_all_but(0);
	}
	ck_assert_uint_ge(nr_hit, 10);
}
END_TEST

/* Return the number of slots in records that are not read yet. */
static uint64_t unread(const struct px_ring *ring)
{
	return ring->control->head - ring->control->tail;
}

/* The same if it overwrites the oldest record: that record is lost, even if the attempt fails (C3). */
START_TEST(event_of_one_who_dies_at_each_step_in_full_ring_loses_no_more_than_its_place)
{
	unsigned int nr_hit = 0, nr_left = 0;
	uint32_t n;

	get_ready();
	make(POSIX_TRACE_LOOP, 4096);
	data_bytes = _i % 2 ? MANY_BYTES : 8;
	n = _i % 2 ? MANY_SLOTS : 1;
	for (size_t step = 0; step < px_test_nr_steps(); step++) {
		struct px_ring ring = ring_of_cpu(this_cpu);
		size_t lost, first;
		uint64_t before;

		read_all();
		nr_recorded = 0;
		while (unread(&ring) + n <= view()->rings.nr_slots)
			record_next();
		before = count_lost();
		nr_hit += record_disturbed(step, _i / 2 ? kill_process : leave_thread,
					   _i / 2 ? CHILD : THREAD);
		if (step % 2)
			record_next();
		read_all();
		lost = (size_t)(count_lost() - before);
		nr_left += lost;
		ck_assert_uint_eq(nr_found + lost, nr_recorded);
		first = nr_recorded - nr_found;
		for (size_t i = 0; i < nr_found; i++)
			ck_assert_uint_eq(found[i], recorded[first + i]);
		ck_assert_uint_le(lost, 2);
		ck_assert_uint_eq(nr_overflows, lost > 0);
		ck_assert_int_eq(px_test_status(stream).posix_stream_overrun_status,
				 lost > 0 ? POSIX_TRACE_OVERRUN : POSIX_TRACE_NO_OVERRUN);
	}
	ck_assert_uint_ge(nr_hit, 10);
	ck_assert_uint_ge(nr_left, 1);
}
END_TEST

/*
 * Disturb the writer without end: the event goes to the shared ring, where nothing disturbs it.  At a step of the usual
 * sequence for one or a few slots, the writer takes the long way.
 */
START_TEST(event_disturbed_without_end_goes_to_the_shared_ring)
{
	unsigned int nr_hit = 0, nr_passed = 0;
	bool is_long = (size_t)_i >= NR_KINDS;

	max_bytes = is_long ? TOO_MANY_BYTES : MANY_BYTES;
	make(kinds[(size_t)_i % NR_KINDS].policy, 4096);
	data_bytes = is_long ? TOO_MANY_BYTES : kinds[_i].bytes;
	for (size_t step = 0; step < px_test_nr_steps(); step++) {
		struct px_ring own = ring_of_cpu(this_cpu), shared = shared_ring();
		uint64_t head = own.control->head, shared_head = shared.control->head;
		unsigned int hits;

		px_test_plant_for_good(step);
		record_next();
		hits = px_test_unplant();
		if (hits > 1) {
			nr_hit++;
			ck_assert_uint_gt(hits, 100);
			ck_assert_uint_eq(own.control->head, head);
			ck_assert_uint_gt(shared.control->head, shared_head);
		} else {
			nr_passed += hits;
			ck_assert_uint_gt(own.control->head, head);
		}
		record_next();
		expect_all_but(0);
		if (hits > 1)
			ck_assert_uint_gt(own.control->head, head);
	}
	ck_assert_uint_ge(is_long ? nr_hit : nr_passed, 10);
}
END_TEST

/* Slots that are left over at head, in a full ring (C3). */

static const struct leftover {
	uint32_t slots;
	enum px_slot_state state;
	size_t bytes; /* number of events in the ring */
	size_t lost;
} leftovers[] = {
	{1, PX_SLOT_CLAIMED, 8, 1},	     {3, PX_SLOT_CLAIMED, 8, 3},
	{1, PX_SLOT_VOID, 8, 1},	     {3, PX_SLOT_VOID, 8, 3},
	{1, PX_SLOT_CLAIMED, MANY_BYTES, 1}, {5, PX_SLOT_VOID, MANY_BYTES, 2},
};

static void leave_at_head(uint32_t slots, enum px_slot_state state)
{
	struct px_ring ring = ring_of_cpu(this_cpu);
	uint64_t head = ring.control->head;

	px_ring_save_first_lost(&ring, ring.control->tail);
	for (uint32_t i = 0; i < slots; i++)
		ring.slots[(head + i) & ring.mask].word =
			px_word(head + i, px_thread.tid, state);
}

/* Fill the ring until one more event would overwrite another. */
static void fill_ring(void)
{
	struct px_ring ring = ring_of_cpu(this_cpu);
	uint32_t n = px_record_slots(data_bytes);

	while (unread(&ring) + n <= ring.mask + 1)
		record_next();
}

START_TEST(read_where_claims_were_left_counts_what_stood_there_once)
{
	const struct leftover *left = &leftovers[_i];
	struct px_ring ring;
	uint64_t first;

	make(POSIX_TRACE_LOOP, 4096);
	read_all();
	ring = ring_of_cpu(this_cpu);
	data_bytes = 8;
	record_next(); /* so that many slots belong to more than one record */
	data_bytes = left->bytes;
	fill_ring();
	while (unread(&ring) <= ring.mask) {
		data_bytes = 8;
		record_next();
	}
	first = ring.slots[ring.control->tail & ring.mask].counter;
	leave_at_head(left->slots, left->state);
	ck_assert_uint_eq(ring.control->first_lost, first);
	expect_all_but(left->lost);
	px_test_expect_status(stream, POSIX_TRACE_RUNNING, POSIX_TRACE_NOT_FULL,
			      POSIX_TRACE_OVERRUN);
	/* The next event takes the place, and no second event is lost. */
	record_next();
	expect_all_but(0);
	px_test_expect_status(stream, POSIX_TRACE_RUNNING, POSIX_TRACE_NOT_FULL,
			      POSIX_TRACE_NO_OVERRUN);
	for (int i = 0; i < 3; i++)
		record_next();
	expect_all_but(0);
}
END_TEST

static int snapshots;

/* A writer takes the slot that was left over, after the reader has loaded head a second time. */
static void record_behind_snapshot(void)
{
	if (++snapshots < 2)
		px_test_at_point("reader.snapshot.taken", record_behind_snapshot);
	else
		record_next();
}

START_TEST(read_while_the_next_writer_takes_what_was_left_counts_it_once)
{
	make(POSIX_TRACE_LOOP, 4096);
	read_all();
	data_bytes = 8;
	fill_ring();
	leave_at_head(1, PX_SLOT_CLAIMED);
	snapshots = 0;
	px_test_at_point("reader.snapshot.taken", record_behind_snapshot);
	expect_all_but(1);
	ck_assert_int_ge(snapshots, 2);
	ck_assert_int_eq(px_test_status(stream).posix_stream_overrun_status, POSIX_TRACE_OVERRUN);
}
END_TEST

/* Sleeping writers in the ring of a CPU. */

#define NR_SLEEPERS PX_EMIT_ATTEMPTS

static const char *const sleeping_points[] = {"ring.claim.done", "record.write.first",
					      "ring.commit.ready"};

START_TEST(event_that_meets_sleepers_passes_them_or_is_counted)
{
	static struct px_test_writer sleepers[NR_SLEEPERS];
	struct px_ring ring;
	uint64_t total = 0, nr_read = 0;
	size_t nr_sleepers = _i / (int)PX_ARRAY_SIZE(sleeping_points) ? NR_SLEEPERS : 1;

	make(POSIX_TRACE_LOOP, 4096);
	read_all();
	ring = ring_of_cpu(this_cpu);
	data_bytes = 8;
	for (size_t i = 0; i < nr_sleepers; i++) {
		px_test_hold(&sleepers[i], sleeping_points[(size_t)_i % PX_ARRAY_SIZE(sleeping_points)],
			     type, 1000000);
		ck_assert(sleepers[i].was_held);
		total++;
	}
	while (ring.control->head < 5 * (uint64_t)(ring.mask + 1)) {
		record_next();
		total++;
		/* R6 */
		for (uint64_t i = 0; i < nr_sleepers; i++)
			ck_assert_int_eq(px_word_state(ring.slots[i].word), PX_SLOT_CLAIMED);
	}
	/* In each round, all attempts of one event. */
	ck_assert_uint_eq(ring.control->given_up, nr_sleepers == NR_SLEEPERS ? 4 : 0);
	for (size_t i = 0; i < nr_sleepers; i++)
		px_test_release(&sleepers[i]);
	read_all();
	nr_read = nr_found;
	ck_assert_uint_gt(nr_read, ring.mask / 2);
	for (size_t i = 1; i < nr_found; i++)
		ck_assert_uint_gt(found[i], found[i - 1]);
	ck_assert_uint_eq(nr_read + count_lost(), total);
	ck_assert_uint_eq(ring.slots[0].word & 7, PX_SLOT_HEAD);
}
END_TEST

/*
 * The sleeping writers hold as many slots as an event has attempts.  LOOP-4: OVERFLOW for the event that is given up is
 * between the events of its thread before and after it, although one snapshot of the reader has both.
 */
START_TEST(event_given_up_is_marked_in_its_place)
{
	static struct px_test_writer sleepers[NR_SLEEPERS];
	struct px_test_event event;
	uint64_t before = 0, after;
	struct px_ring ring;
	uint32_t batch = 0;
	int nr_marked = 0;

	make(POSIX_TRACE_LOOP, 4096);
	read_all();
	ring = ring_of_cpu(this_cpu);
	data_bytes = 8;
	for (size_t i = 0; i < NR_SLEEPERS; i++)
		px_test_hold(&sleepers[i], "ring.claim.done", type, 1000000);
	while (nr_marked < 3) {
		uint64_t given_up = ring.control->given_up;
		uint32_t lost, first = next_number;

		batch = batch % 7 + 2; /* changed each time, so that the loss is at any place of a batch */
		nr_recorded = 0;
		while (ring.control->given_up == given_up && next_number - first < batch)
			record_next();
		lost = next_number - 1;
		if (ring.control->given_up == given_up || lost == first) {
			read_all();
			continue;
		}
		record_next();
		for (uint32_t number = first; number < lost; number++) {
			px_test_expect(stream, type, &event);
			ck_assert_uint_eq(number_of(&event), number);
			before = px_test_ns(event.info.posix_timestamp);
		}
		px_test_expect(stream, POSIX_TRACE_OVERFLOW, &event);
		after = px_test_ns(event.info.posix_timestamp);
		ck_assert_uint_gt(after, before);
		px_test_expect(stream, POSIX_TRACE_RESUME, &event);
		ck_assert_uint_gt(px_test_ns(event.info.posix_timestamp), after);
		px_test_expect(stream, type, &event);
		ck_assert_uint_eq(number_of(&event), lost + 1);
		nr_marked++;
	}
	for (size_t i = 0; i < NR_SLEEPERS; i++)
		px_test_release(&sleepers[i]);
}
END_TEST

/* A hostile writer stores marks with counters that are still to come: no event gets such a time. */
START_TEST(marks_that_are_still_to_come_move_no_times)
{
	struct px_test_event event;
	struct px_ring ring;
	struct timespec now;

	make(POSIX_TRACE_LOOP, 4096);
	read_all();
	ring = ring_of_cpu(this_cpu);
	data_bytes = 8;
	for (int round = 0; round < 30; round++) { /* until the table of the reader is full */
		for (int k = 0; k < PX_RING_MARKS; k++)
			__atomic_store_n(&ring.control->mark[k], (ring.slots[0].counter | 1) + (UINT64_C(1) << 50),
					 __ATOMIC_RELAXED);
		__atomic_fetch_add(&ring.control->nr_marked, 1, __ATOMIC_RELEASE);
		record_next();
		while (px_test_take(stream, &event)) {
			clock_gettime(CLOCK_REALTIME, &now);
			ck_assert_uint_le(px_test_ns(event.info.posix_timestamp), px_test_ns(now) + 1000000);
		}
	}
}
END_TEST

#define LONG_BYTES 3000 /* more slots than attempts */

/* A record of many slots, whose writer sleeps, is one obstacle: events of any size skip it. */
START_TEST(events_go_around_a_long_record_whose_writer_sleeps)
{
	static unsigned char data[LONG_BYTES];
	struct px_test_writer sleeper;
	struct txtrace_loss loss;

	stream = px_test_create(&(struct px_test_stream){.policy = POSIX_TRACE_LOOP,
							 .size = 100000,
							 .max_data = LONG_BYTES,
							 .nr_rings = _i % 2 ? 1 : 0});
	ok(posix_trace_start(stream));
	read_all();
	data_bytes = _i / 2 ? MANY_BYTES : 8;
	px_test_hold_data(&sleeper, "record.write.first", type, data, sizeof(data));
	ck_assert(sleeper.was_held);
	for (int i = 0; i < 20000; i++) {
		record_next();
		if (i % 50 == 0)
			read_all();
	}
	ok(txtrace_get_loss(stream, &loss));
	ck_assert_uint_eq(loss.dropped, 0);
	nr_recorded = 0;
	px_test_release(&sleeper);
}
END_TEST

static void die_here(const char *point)
{
	if (strcmp(point, "ring.claim.done") == 0)
		leave_thread();
}

START_TEST(slots_of_the_dead_in_a_ring_of_a_cpu_come_back)
{
	struct px_ring ring;
	uint32_t number = 0;
	pthread_t thread;

	make(POSIX_TRACE_LOOP, 4096);
	read_all();
	ring = ring_of_cpu(this_cpu);
	data_bytes = 8;
	px_store_release(&px_testpoint_hook, die_here);
	for (int i = 0; i < NR_SLEEPERS; i++) {
		ck_assert_int_eq(pthread_create(&thread, NULL, record_and_die, &number), 0);
		pthread_join(thread, NULL);
		wait_until_gone();
	}
	px_store_release(&px_testpoint_hook, NULL);
	for (uint32_t i = 0; i < 3 * (ring.mask + 1); i++)
		record_next();
	ck_assert_uint_eq(ring.control->given_up, 0);
	read_all();
	ck_assert_uint_eq(nr_found, ring.mask + 1);
	/* If a writer meets one slot of a dead writer, it also frees the next one that it needs. */
	ck_assert_uint_eq(px_ring_extra(ring.control), NR_SLEEPERS / 2);
}
END_TEST

/* LOOP-4: the gap has the time of the first lost event. */
START_TEST(overflow_of_a_ring_of_a_cpu_has_the_time_of_the_first_lost)
{
	struct px_test_event event;
	struct px_ring ring;
	uint64_t last_read, first_kept, gap, first;
	trace_event_id_t id;

	make(POSIX_TRACE_LOOP, 4096);
	data_bytes = _i ? MANY_BYTES : 8;
	record_next();
	px_test_expect(stream, POSIX_TRACE_START, &event);
	px_test_expect(stream, type, &event);
	last_read = px_test_ns(event.info.posix_timestamp);
	px_test_expect(stream, 0, &event);
	ring = ring_of_cpu(this_cpu);
	sleep_ms(1);
	record_next();
	first = ring.slots[ring.control->tail & ring.mask].counter;
	sleep_ms(1);
	for (uint32_t i = 0; i < 2 * (ring.mask + 1); i++)
		record_next();
	ck_assert_uint_eq(ring.control->first_lost, first);
	px_test_expect_made(stream, POSIX_TRACE_OVERFLOW, &event);
	gap = px_test_ns(event.info.posix_timestamp);
	px_test_expect_made(stream, POSIX_TRACE_RESUME, &event);
	px_test_expect(stream, type, &event);
	first_kept = px_test_ns(event.info.posix_timestamp);
	ck_assert_uint_gt(gap, last_read);
	ck_assert_uint_lt(gap, first_kept);
	while ((id = px_test_take(stream, &event)))
		ck_assert_uint_eq(id, type);
}
END_TEST

/* A thread without a registered area writes to the shared ring. */

static bool give_area_away(void)
{
#if PX_HAS_CPURINGS
	struct rseq *area = px_cpu_of(px_cpu_area()).area;

	/* The size is the one with which the C library registered the area; it differs between versions. */
	return area && (syscall(SYS_rseq, area, 32, RSEQ_FLAG_UNREGISTER, RSEQ_SIG) == 0 ||
			syscall(SYS_rseq, area, __rseq_size, RSEQ_FLAG_UNREGISTER, RSEQ_SIG) == 0);
#else
	return false;
#endif
}

static sem_t turn_of_other, turn_of_us;
static bool other_has_none;

#define NR_TURNS 200

static void *record_in_turn(void *unused)
{
	other_has_none = give_area_away() && px_cpu_of(px_cpu_area()).area == NULL;
	for (int i = 0; i < NR_TURNS; i++) {
		sem_wait(&turn_of_other);
		record_next();
		sem_post(&turn_of_us);
	}
	return unused;
}

START_TEST(events_of_both_kinds_in_one_stream_are_in_order)
{
	struct px_test_event event;
	pthread_t thread;
	uint64_t own, shared;

	make(kinds[_i].policy, 200000);
	data_bytes = kinds[_i].bytes;
	sem_init(&turn_of_other, 0, 0);
	sem_init(&turn_of_us, 0, 0);
	own = ring_of_cpu(this_cpu).control->head;
	shared = shared_ring().control->head;
	ck_assert_int_eq(pthread_create(&thread, NULL, record_in_turn, NULL), 0);
	for (int i = 0; i < NR_TURNS; i++) {
		record_next();
		sem_post(&turn_of_other);
		sem_wait(&turn_of_us);
	}
	pthread_join(thread, NULL);
	ck_assert(other_has_none);
	ck_assert_uint_eq(ring_of_cpu(this_cpu).control->head - own,
			  NR_TURNS * px_record_slots(data_bytes));
	ck_assert_uint_eq(shared_ring().control->head - shared,
			  NR_TURNS * px_record_slots(data_bytes));
	expect_all_but(0);
	record_next();
	ok(posix_trace_clear(stream));
	nr_recorded = 0;
	record_next();
	ok(posix_trace_stop(stream));
	px_test_expect(stream, type, &event);
	px_test_expect(stream, POSIX_TRACE_STOP, &event);
	px_test_expect(stream, 0, &event);
}
END_TEST

static void *record_at_pace(void *unused)
{
	while (px_test_pace_writer())
		record(7);
	return unused;
}

static void *record_at_pace_without_area(void *unused)
{
	if (!give_area_away())
		abort();
	return record_at_pace(unused);
}

#define NR_WRITERS 4
#define NR_WINDOWS 150

/* START-7, STOP */
START_TEST(stop_with_writers_of_both_kinds_is_last)
{
	pthread_t threads[NR_WRITERS];
	struct txtrace_loss loss;
	uint64_t nr_inside = 0;

	make(_i ? POSIX_TRACE_UNTIL_FULL : POSIX_TRACE_LOOP, 1 << 20);
	ok(posix_trace_stop(stream));
	read_all();
	ck_assert_int_eq(sched_setaffinity(0, sizeof(all_cpus), &all_cpus), 0);
	data_bytes = 8;
	for (size_t i = 0; i < NR_WRITERS; i++)
		ck_assert_int_eq(pthread_create(&threads[i], NULL,
						i % 2 ? record_at_pace_without_area : record_at_pace,
						NULL),
				 0);
	for (int i = 0; i < NR_WINDOWS; i++) {
		struct px_test_event event;
		trace_event_id_t id, last = 0;

		ok(posix_trace_start(stream));
		px_test_pace_control();
		px_test_pace_control();
		if (i % 5 == 0)
			ok(posix_trace_clear(stream));
		ok(posix_trace_stop(stream));
		for (;;) {
			id = px_test_take(stream, &event);
			if (id == 0 && last == POSIX_TRACE_STOP)
				break;
			if (id == 0)
				continue; /* another writer is using it */
			ck_assert_uint_ne(last, POSIX_TRACE_STOP);
			ck_assert(last == 0 || id != POSIX_TRACE_START);
			ck_assert(last != 0 || id == POSIX_TRACE_START || i % 5 == 0);
			nr_inside += id == type;
			last = id;
		}
		px_test_expect(stream, 0, &event);
	}
	px_test_pace_finish();
	for (size_t i = 0; i < NR_WRITERS; i++)
		pthread_join(threads[i], NULL);
	ck_assert_uint_gt(nr_inside, 0);
	ok(txtrace_get_loss(stream, &loss));
	ck_assert_uint_eq(loss.overwritten + loss.dropped, 0);
}
END_TEST

#define NR_ALONE 100

/* A program without registered areas: its streams have rings that CPUs share. */
static int run_without_areas(void)
{
	struct posix_trace_event_info info;
	unsigned int rings = 0;
	int unavailable = 0;
	size_t length;
	trace_attr_t attr;
	uint32_t number;

	if (px_cpu_area() || posix_trace_eventid_open("cpu", &type) != 0 ||
	    posix_trace_create(0, NULL, &stream) != 0 || posix_trace_start(stream) != 0 ||
	    posix_trace_get_attr(stream, &attr) != 0 || txtrace_attr_getrings(&attr, &rings) != 0)
		return 1;
	if (rings != (unsigned int)sysconf(_SC_NPROCESSORS_CONF))
		return 2;
	for (uint32_t i = 0; i < NR_ALONE; i++)
		px_test_trace(type, i);
	posix_trace_stop(stream);
	for (uint32_t i = 0; i < NR_ALONE + 2; i++) {
		if (posix_trace_trygetnext_event(stream, &info, &number, sizeof(number), &length,
						 &unavailable) != 0 ||
		    unavailable)
			return 3;
		if (i > 0 && i <= NR_ALONE && (info.posix_event_id != type || number != i - 1))
			return 4;
	}
	return posix_trace_shutdown(stream) == 0 ? 0 : 5;
}

static int exec_without_areas(void *unused)
{
	setenv("GLIBC_TUNABLES", "glibc.pthread.rseq=0", 1);
	execl("/proc/self/exe", "check_cpustream", "without-areas", (char *)NULL);
	return unused ? 99 : 98;
}

/* In the stream of its parent, it also continues in the ring for such threads. */
START_TEST(program_without_areas_writes_to_shared_rings)
{
	make(POSIX_TRACE_LOOP, 200000);
	for (int i = 0; i < 3; i++)
		record_next();
	ck_assert_int_eq(px_test_in_child(exec_without_areas, NULL), 0);
	for (uint32_t i = 0; i < NR_ALONE; i++)
		note(i);
	ck_assert_uint_eq(ring_of_cpu(this_cpu).control->head, 3);
	expect_all_but(0);
}
END_TEST

/* ThreadSanitizer makes fork() of it. */
#if defined __SANITIZE_THREAD__
static const bool has_vfork = false;
#else
static const bool has_vfork = true;
#endif

/* Return true if the kernel knows the area of this thread; from now on it does. */
static bool is_watched(void)
{
#if PX_HAS_CPURINGS
	return syscall(SYS_rseq, px_cpu_of(px_cpu_area()).area, 32, 0, RSEQ_SIG) != 0;
#else
	return false;
#endif
}

/* A child of vfork() uses the area of the waiting parent thread.  The kernel uses the area while the child records. */
START_TEST(event_of_a_child_of_vfork_is_watched)
{
	uint64_t head;
	pid_t child;
	int status;

	make(kinds[_i].policy, 4096);
	data_bytes = kinds[_i].bytes;
	record_next();
	head = ring_of_cpu(this_cpu).control->head;
	px_thread_doubt_area();
	child = vfork();
	if (child == 0) {
		record(next_number);
		_exit(!is_watched());
	}
	ck_assert_int_eq(waitpid(child, &status, 0), child);
	ck_assert(WIFEXITED(status));
	ck_assert_int_eq(WEXITSTATUS(status), 0);
	note(next_number++);
	ck_assert_uint_eq(ring_of_cpu(this_cpu).control->head, head + px_record_slots(data_bytes));
	ck_assert(is_watched());
	record_next();
	ck_assert_uint_eq(ring_of_cpu(this_cpu).control->head,
			  head + 2 * px_record_slots(data_bytes));
	expect_all_but(0);
}
END_TEST

/* The child of a child of vfork has a copy of an area that the kernel does not know for it. */
START_TEST(event_of_a_child_of_a_child_of_vfork_is_watched)
{
	pid_t child, grandchild;
	int status;

	make(POSIX_TRACE_LOOP, 4096);
	record_next();
	px_thread_doubt_area();
	child = vfork();
	if (child == 0) {
		grandchild = fork();
		if (grandchild == 0) {
			record(next_number);
			if (!is_watched())
				_exit(1);
			go_to(other_cpu);
			record(next_number + 1);
			_exit(px_cpu_of(px_cpu_area()).number != (uint32_t)other_cpu);
		}
		if (waitpid(grandchild, &status, 0) != grandchild)
			_exit(3);
		_exit(WIFEXITED(status) ? WEXITSTATUS(status) : 4);
	}
	ck_assert_int_eq(waitpid(child, &status, 0), child);
	ck_assert(WIFEXITED(status));
	ck_assert_int_eq(WEXITSTATUS(status), 0);
	ck_assert(is_watched());
	note(next_number);
	note(next_number + 1);
	expect_all_but(0);
}
END_TEST

/* An automatic stop while a writer of another ring, or of this one, is in its sequence. */

static const struct {
	const char *point;
	bool is_recorded; /* it found that the stream runs */
} ways[] = {
	{"point.state.loaded", false}, {"ring.claim.done", false},  {"record.write.first", true},
	{"ring.commit.ready", true},   {"ring.commit.done", true},
};

START_TEST(automatic_stop_with_a_writer_on_its_way_is_behind_its_event)
{
	static struct px_test_writer writer;
	size_t way = (size_t)_i % PX_ARRAY_SIZE(ways);
	struct px_test_event event;
	trace_event_id_t id;
	unsigned int nr_late = 0, nr_stops = 0;

	make(POSIX_TRACE_UNTIL_FULL, 4096);
	px_test_hold(&writer, ways[way].point, type, 1000000);
	ck_assert(writer.was_held);
	go_to(_i < (int)PX_ARRAY_SIZE(ways) ? this_cpu : other_cpu);
	do
		record_next();
	while (px_state_of(view()->segment->state) == PX_STATE_RUNNING);
	/* The reader waits for a reservation that is not committed, at least at its first look. */
	if (ways[way].is_recorded && strcmp(ways[way].point, "ring.commit.done") != 0)
		ck_assert_uint_ne(px_test_take(stream, &event), POSIX_TRACE_STOP);
	px_test_release(&writer);
	while ((id = px_test_take(stream, &event))) {
		ck_assert(id != type || nr_stops == 0);
		nr_late += id == type && px_test_number(&event) == 1000000;
		nr_stops += id == POSIX_TRACE_STOP;
	}
	ck_assert_uint_eq(nr_stops, 1);
	ck_assert_uint_eq(nr_late, ways[way].is_recorded);
	ck_assert_uint_eq(count_lost(), !ways[way].is_recorded);
}
END_TEST

/* Many signals whose handlers record events. */

#define NR_STORMERS 4
#define STORM_EVENTS 100000

struct stormer {
	pthread_t thread;
	uint32_t index;
	uint32_t nr_main, nr_handler; /* recorded */
	uint32_t seen_main, seen_handler;
};

static struct stormer stormers[NR_STORMERS];
static __thread struct stormer *storming;
static const struct storm {
	bool moves; /* moves from CPU to CPU; otherwise all threads are on one */
	bool is_mixed;
	size_t size;
	uint32_t events;
	bool may_lose;
} storms[] = {
	{false, false, 64 << 20, 20000, false}, {true, false, 64 << 20, 20000, false},
	{true, true, 64 << 20, 20000, false},	{false, true, 16384, STORM_EVENTS, true},
	{true, true, 16384, STORM_EVENTS, true},
};
static const struct storm *storm;

/* The thread, whether a handler recorded it, and the serial. */
static void record_of(struct stormer *of, bool is_handler, uint32_t serial)
{
	static const size_t sizes[] = {12, 12, 12, 40, 12, 200};
	unsigned char data[MANY_BYTES];
	uint32_t head[3] = {of->index, is_handler, serial};
	size_t bytes = storm->is_mixed ? sizes[serial % PX_ARRAY_SIZE(sizes)] : sizeof(head);

	memcpy(data, head, sizeof(head));
	px_test_fill(data + sizeof(head), bytes - sizeof(head), serial);
	posix_trace_event(type, data, bytes);
}

static void on_signal(int signal)
{
	int saved_errno = errno;

	(void)signal;
	if (storming)
		record_of(storming, true, ++storming->nr_handler);
	errno = saved_errno;
}

static void *rage(void *argument)
{
	const struct timespec often = {0, 50000};
	struct itimerspec interval = {often, often};
	struct sigevent how = {.sigev_notify = SIGEV_THREAD_ID, .sigev_signo = SIGRTMIN};
	timer_t timer;

	storming = argument;
	how.sigev_notify_thread_id = (pid_t)syscall(SYS_gettid);
	if (timer_create(CLOCK_MONOTONIC, &how, &timer) != 0 ||
	    timer_settime(timer, 0, &interval, NULL) != 0)
		abort();
	for (uint32_t i = 0; i < storm->events; i++) {
		record_of(storming, false, ++storming->nr_main);
		if (storm->moves && i % 100 == 0)
			go_to(i / 100 % 2 ? this_cpu : other_cpu);
	}
	timer_delete(timer);
	return NULL;
}

static uint64_t nr_stormed;

static void take_stormed(void)
{
	struct px_test_event event;
	trace_event_id_t id;

	while ((id = px_test_take(stream, &event))) {
		struct stormer *of;
		uint32_t head[3], *seen;

		if (id != type)
			continue;
		memcpy(head, event.data, sizeof(head));
		ck_assert_uint_lt(head[0], NR_STORMERS);
		of = &stormers[head[0]];
		seen = head[1] ? &of->seen_handler : &of->seen_main;
		if (storm->may_lose)
			ck_assert_uint_gt(head[2], *seen);
		else
			ck_assert_uint_eq(head[2], *seen + 1);
		*seen = head[2];
		ck_assert(px_test_is_filled(event.data + sizeof(head), event.length - sizeof(head),
					    head[2]));
		nr_stormed++;
	}
}

static bool is_over;

static void *join_all(void *unused)
{
	for (size_t i = 0; i < NR_STORMERS; i++)
		pthread_join(stormers[i].thread, NULL);
	__atomic_store_n(&is_over, true, __ATOMIC_RELEASE);
	return unused;
}

START_TEST(events_in_a_storm_of_signals_are_there_once_and_in_order)
{
	struct sigaction action = {.sa_handler = on_signal, .sa_flags = SA_RESTART};
	uint64_t total = 0, handled = 0;
	pthread_t joiner;

	storm = &storms[_i];
#if defined __SANITIZE_THREAD__
	if (storm->may_lose) {
		px_test_skip("ThreadSanitizer calls handlers without the kernel's signal frame");
		return;
	}
#endif
	make(POSIX_TRACE_LOOP, storm->size);
	read_all();
	sigaction(SIGRTMIN, &action, NULL);
	for (uint32_t i = 0; i < NR_STORMERS; i++) {
		stormers[i].index = i;
		ck_assert_int_eq(pthread_create(&stormers[i].thread, NULL, rage, &stormers[i]), 0);
	}
	ck_assert_int_eq(pthread_create(&joiner, NULL, join_all, NULL), 0);
	ck_assert_int_eq(sched_setaffinity(0, sizeof(all_cpus), &all_cpus), 0);
	/* If many writers wait long for a CPU, the reader skips one of them now and then, which is a loss. */
	while (storm->may_lose && !__atomic_load_n(&is_over, __ATOMIC_ACQUIRE))
		take_stormed();
	pthread_join(joiner, NULL);
	take_stormed();
	for (size_t i = 0; i < NR_STORMERS; i++) {
		total += stormers[i].nr_main + stormers[i].nr_handler;
		handled += stormers[i].nr_handler;
	}
	ck_assert_uint_gt(handled, 0);
	ck_assert_uint_eq(nr_stormed + count_lost(), total);
	if (!storm->may_lose)
		ck_assert_uint_eq(count_lost(), 0);
}
END_TEST

int main(int argc, char **argv)
{
	Suite *suite = suite_create("cpu_rings");
	TCase *tcase;

	if (argc > 1 && strcmp(argv[1], "without-areas") == 0)
		return run_without_areas();
	px_test_try_sequences();
	if (!px_test_has_cpu_rings() || px_test_nr_steps() == 0)
		skip_program("no rings of CPUs: the kernel lacks restartable sequences or membarrier, or does not "
			     "trust the hardware counter");
	tcase = tcase_create("steps");
	tcase_add_checked_fixture(tcase, setup, teardown);
	tcase_set_timeout(tcase, 60);
	tcase_add_loop_test(tcase, event_disturbed_at_each_step_is_there_once, 0,
			    PX_ARRAY_SIZE(disturbances) * NR_KINDS);
	tcase_add_loop_test(
		tcase,
		event_of_one_who_dies_at_each_step_in_full_ring_loses_no_more_than_its_place, 0, 4);
	tcase_add_loop_test(tcase, event_disturbed_without_end_goes_to_the_shared_ring, 0,
			    2 * NR_KINDS);
	suite_add_tcase(suite, tcase);
	tcase = tcase_create("left");
	tcase_add_checked_fixture(tcase, setup, teardown);
	tcase_add_loop_test(tcase, read_where_claims_were_left_counts_what_stood_there_once, 0,
			    PX_ARRAY_SIZE(leftovers));
	tcase_add_test(tcase, read_while_the_next_writer_takes_what_was_left_counts_it_once);
	suite_add_tcase(suite, tcase);
	tcase = tcase_create("sleepers");
	tcase_add_checked_fixture(tcase, setup, teardown);
	tcase_add_loop_test(tcase, event_that_meets_sleepers_passes_them_or_is_counted, 0,
			    2 * PX_ARRAY_SIZE(sleeping_points));
	tcase_add_test(tcase, event_given_up_is_marked_in_its_place);
	tcase_add_test(tcase, marks_that_are_still_to_come_move_no_times);
	tcase_add_loop_test(tcase, events_go_around_a_long_record_whose_writer_sleeps, 0, 4);
	tcase_add_test(tcase, slots_of_the_dead_in_a_ring_of_a_cpu_come_back);
	tcase_add_loop_test(tcase, overflow_of_a_ring_of_a_cpu_has_the_time_of_the_first_lost, 0, 2);
	suite_add_tcase(suite, tcase);
	tcase = tcase_create("without");
	tcase_add_checked_fixture(tcase, setup, teardown);
	tcase_set_timeout(tcase, 60);
	tcase_add_loop_test(tcase, events_of_both_kinds_in_one_stream_are_in_order, 0, NR_KINDS);
	tcase_add_loop_test(tcase, stop_with_writers_of_both_kinds_is_last, 0, 2);
	tcase_add_test(tcase, program_without_areas_writes_to_shared_rings);
	if (has_vfork) {
		tcase_add_loop_test(tcase, event_of_a_child_of_vfork_is_watched, 0, NR_KINDS);
		tcase_add_test(tcase, event_of_a_child_of_a_child_of_vfork_is_watched);
	}
	suite_add_tcase(suite, tcase);
	tcase = tcase_create("stop");
	tcase_add_checked_fixture(tcase, setup, teardown);
	tcase_add_loop_test(tcase, automatic_stop_with_a_writer_on_its_way_is_behind_its_event, 0,
			    2 * PX_ARRAY_SIZE(ways));
	suite_add_tcase(suite, tcase);
	tcase = tcase_create("storm");
	tcase_add_checked_fixture(tcase, setup, teardown);
	tcase_set_timeout(tcase, 60);
	tcase_add_loop_test(tcase, events_in_a_storm_of_signals_are_there_once_and_in_order, 0,
			    PX_ARRAY_SIZE(storms));
	suite_add_tcase(suite, tcase);
	return run_suite(suite);
}
