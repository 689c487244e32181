/* SPDX-License-Identifier: MIT */
/*
 * Processes that are killed while they record into an inherited stream.  Later writers free the slots that the dead
 * processes held; no reader runs.  Then with a reader: each event is read or counted once.
 */
#include "config.h"

#include "support/common.h"
#include "support/stepper.h"

#include <sched.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/ptrace.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <trace_ext.h>
#include <unistd.h>

#include "base/compiler.h"

#define LONG_BYTES 4000
#define SHORT_BYTES 8
#define CHILDREN_EVENTS 1000000 /* first number of the events of children */

static trace_event_id_t type;
static trace_id_t stream;
static size_t bytes;
static cpu_set_t all_cpus;

/* Children write the events, and are killed at any moment. */
static struct board {
	uint32_t nr_recorded;
} *board;

static void setup(void)
{
	ok(posix_trace_eventid_open("killed", &type));
	board = mmap(NULL, sizeof(*board), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	ck_assert_ptr_ne(board, MAP_FAILED);
	ck_assert_int_eq(sched_getaffinity(0, sizeof(all_cpus), &all_cpus), 0);
}

static void teardown(void)
{
	__atomic_store_n(&px_testpoint_hook, NULL, __ATOMIC_RELEASE);
	posix_trace_shutdown(stream);
}

static void make(int policy, size_t size, unsigned int nr_rings)
{
	trace_attr_t attr;

	ok(posix_trace_attr_init(&attr));
	ok(posix_trace_attr_setstreamfullpolicy(&attr, policy));
	ok(posix_trace_attr_setstreamsize(&attr, size));
	ok(posix_trace_attr_setmaxdatasize(&attr, LONG_BYTES));
	ok(posix_trace_attr_setinherited(&attr, POSIX_TRACE_INHERITED));
	if (nr_rings != 0)
		ok(txtrace_attr_setrings(&attr, nr_rings));
	ok(posix_trace_create(0, &attr, &stream));
	ok(posix_trace_attr_destroy(&attr));
	ok(posix_trace_start(stream));
}

static void go_to(int nr)
{
	cpu_set_t one;

	for (int i = 0; i < CPU_SETSIZE; i++) {
		if (!CPU_ISSET((size_t)i, &all_cpus) || nr-- > 0)
			continue;
		CPU_ZERO(&one);
		CPU_SET((size_t)i, &one);
		if (sched_setaffinity(0, sizeof(one), &one) != 0)
			abort();
		return;
	}
}

static void record(uint32_t number)
{
	unsigned char data[LONG_BYTES];

	memcpy(data, &number, sizeof(number));
	px_test_fill(data + sizeof(number), bytes - sizeof(number), number);
	posix_trace_event(type, data, bytes);
}

/*
 * Return the next event of this process, or -1 at STOP.  A reader waits for writers that may live, so "no event" does
 * not mean the end.
 */
static int64_t take_number(void)
{
	unsigned char data[LONG_BYTES];
	struct posix_trace_event_info info;
	int unavailable;
	uint32_t number;
	size_t length;

	do {
		ok(posix_trace_getnext_event(stream, &info, data, sizeof(data), &length, &unavailable));
		ck_assert_int_eq(unavailable, 0);
		if (info.posix_event_id == POSIX_TRACE_STOP)
			return -1;
	} while (info.posix_event_id != type || info.posix_pid != getpid());
	ck_assert_uint_eq(length, bytes);
	memcpy(&number, data, sizeof(number));
	ck_assert(px_test_is_filled(data + sizeof(number), bytes - sizeof(number), number));
	return number;
}

static void kill_child(pid_t child, bool is_reaped)
{
	siginfo_t info;

	kill(child, SIGKILL);
	ck_assert_int_eq(waitid(P_PID, (id_t)child, &info, WEXITED | (is_reaped ? 0 : WNOWAIT)), 0);
}

/* A child records until it is killed, after some further events of any child. */
static void kill_one(unsigned int nr, uint64_t *seed)
{
	uint32_t before = __atomic_load_n(&board->nr_recorded, __ATOMIC_ACQUIRE);
	uint32_t wanted = before + 1 + (uint32_t)(next_random(seed) % 20);
	pid_t child = fork();

	ck_assert_int_ge(child, 0);
	if (child == 0) {
		go_to((int)(nr % (unsigned int)CPU_COUNT(&all_cpus)));
		for (uint32_t number = CHILDREN_EVENTS;; number++) {
			record(number);
			__atomic_fetch_add(&board->nr_recorded, 1, __ATOMIC_RELEASE);
		}
	}
	while (__atomic_load_n(&board->nr_recorded, __ATOMIC_ACQUIRE) < wanted)
		sched_yield();
	kill_child(child, nr % 2);
}

/* This process records this many events.  The stream has all of them, and no later one of this process. */
static void expect_newest(uint32_t n)
{
	for (uint32_t i = 1; i <= n; i++)
		record(i);
	ok(posix_trace_stop(stream));
	for (uint32_t i = 1; i <= n; i++)
		ck_assert_int_eq(take_number(), i);
	ck_assert_int_eq(take_number(), -1);
}

/* EVENT-17 EXIT-6 LOOP-2: the stream has each of the ten newest events, whichever processes died before. */
START_TEST(newest_events_after_many_kills_are_there)
{
	static const struct {
		size_t bytes, size;
		unsigned int nr_kills;
		uint32_t nr_newest;
		unsigned int nr_rings;
	} kinds[] = {
		{LONG_BYTES, 100000, 150, 10, 0}, {SHORT_BYTES, 16384, 150, 100, 0},
		{LONG_BYTES, 100000, 150, 10, 1}, {SHORT_BYTES, 16384, 150, 100, 1},
	};
	uint64_t seed = test_seed();

	make(POSIX_TRACE_LOOP, kinds[_i].size, kinds[_i].nr_rings);
	bytes = kinds[_i].bytes;
	/* make check-stress: more than 10,000 kills of all four kinds */
	for (unsigned int i = 0; i < kinds[_i].nr_kills * (px_test_is_whole() ? 17 : 1); i++)
		kill_one(i, &seed);
	expect_newest(kinds[_i].nr_newest);
}
END_TEST

/* Forced: a claim of a dead process is in the way, and another writer is faster. */

static unsigned int nr_asked;
static bool has_helper;

static void *record_many(void *unused)
{
	for (uint32_t i = 0; i < 3000; i++)
		record(1000 + i);
	return unused;
}

/* Between the check and the exchange, another thread frees the slot, and records over it several times. */
static void overtake(const char *name)
{
	pthread_t thread;

	nr_asked += strcmp(name, "ring.way.asked") == 0;
	if (strcmp(name, "ring.way.dead") != 0 || has_helper)
		return;
	has_helper = true;
	ck_assert_int_eq(pthread_create(&thread, NULL, record_many, NULL), 0);
	pthread_join(thread, NULL);
}

static const char *death_point;

static void die_there(const char *name)
{
	if (strcmp(name, death_point) == 0)
		raise(SIGKILL);
}

/* EVENT-17 EXIT-6 R6: a writer frees the claim that it has read, and no later claim in the same slot. */
START_TEST(claim_of_the_dead_freed_twice_harms_no_later_event)
{
	int64_t number, last = -1;
	siginfo_t info;
	pid_t child;

	make(POSIX_TRACE_LOOP, 16384, _i / 2);
	bytes = SHORT_BYTES;
	go_to(0);
	child = fork();
	ck_assert_int_ge(child, 0);
	if (child == 0) {
		death_point = _i % 2 ? "ring.commit.ready" : "record.write.first";
		__atomic_store_n(&px_testpoint_hook, die_there, __ATOMIC_RELEASE);
		record(CHILDREN_EVENTS);
		_exit(1);
	}
	ck_assert_int_eq(waitid(P_PID, (id_t)child, &info, WEXITED), 0);
	ck_assert_int_eq(info.si_status, SIGKILL);
	__atomic_store_n(&px_testpoint_hook, overtake, __ATOMIC_RELEASE);
	for (uint32_t i = 0; !has_helper && i < 3000; i++)
		record(i);
	__atomic_store_n(&px_testpoint_hook, NULL, __ATOMIC_RELEASE);
	ck_assert(has_helper);
	ck_assert_uint_eq(nr_asked, 2); /* number of events by each of the two writers */
	ok(posix_trace_stop(stream));
	/*
	 * The stream has the newest events of the helper without a gap, and one event of the first writer after them.
	 */
	while ((number = take_number()) >= 1000) {
		ck_assert(last < 0 || number == last + 1);
		last = number;
	}
	ck_assert_int_eq(last, 3999);
	ck_assert_int_ge(number, 0);
	ck_assert_int_eq(take_number(), -1);
}
END_TEST

/* Killed at each instruction. */

#define NR_WARM_UP 3

#if PX_HAS_STEPPER && !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)
static const bool can_step = true;
#else
static const bool can_step = false;
#endif

/* The child makes one call between two traps. */
static void record_between_traps(void)
{
	for (uint32_t i = 0; i < NR_WARM_UP; i++)
		record(CHILDREN_EVENTS + i);
	if (ptrace(PTRACE_TRACEME, 0, NULL, NULL) != 0)
		abort();
	px_stepper_trap();
	record(CHILDREN_EVENTS + NR_WARM_UP);
	px_stepper_trap();
	_exit(0);
}

/* Kill a child after so many instructions of its last call.  Return whether it has returned from the call before. */
static bool kill_after(unsigned int nr_steps)
{
	struct px_stepper_place place = {0, false};
	unsigned int nr = 0;
	pid_t child = fork();

	ck_assert_int_ge(child, 0);
	if (child == 0)
		record_between_traps();
	ck_assert(px_stepper_begin(child));
	while (nr < nr_steps && !place.is_trap)
		ck_assert(px_stepper_step(child, &nr) && px_stepper_look(child, &place));
	kill_child(child, true);
	return place.is_trap;
}

/* Record an event of this process, and read all events before it.  Return how many of them were those of children. */
static uint64_t read_up_to_now(uint32_t number)
{
	unsigned char data[LONG_BYTES];
	struct posix_trace_event_info info;
	uint64_t nr_read = 0;
	int unavailable;
	size_t length;

	record(number);
	for (;;) {
		ok(posix_trace_getnext_event(stream, &info, data, sizeof(data), &length, &unavailable));
		if (info.posix_event_id != type)
			continue;
		ck_assert_uint_eq(length, bytes);
		if (info.posix_pid == getpid() && memcmp(data, &number, sizeof(number)) == 0)
			return nr_read;
		nr_read += info.posix_pid != getpid();
	}
}

static uint64_t count_lost(void)
{
	struct txtrace_loss loss;

	ok(txtrace_get_loss(stream, &loss));
	return loss.overwritten + loss.dropped + loss.abandoned;
}

/*
 * EVENT-17: whatever the instruction at which the writer dies, its event is read once, or counted once, or neither.
 * Each 29th instruction, from a random one on, and again from the next one on until a kill has cost an event: the
 * instructions between the claim and the commit may be fewer than 29.  make check-stress: each instruction.
 */
START_TEST(event_of_a_process_killed_at_each_instruction_is_accounted_for_once)
{
	static const struct {
		int policy;
		unsigned int nr_rings;
		size_t bytes;
	} kinds[] = {
		{POSIX_TRACE_LOOP, 0, SHORT_BYTES},	  {POSIX_TRACE_LOOP, 0, 200},
		{POSIX_TRACE_LOOP, 1, SHORT_BYTES},	  {POSIX_TRACE_LOOP, 1, 200},
		{POSIX_TRACE_UNTIL_FULL, 0, SHORT_BYTES}, {POSIX_TRACE_UNTIL_FULL, 0, 200},
		{POSIX_TRACE_UNTIL_FULL, 1, SHORT_BYTES}, {POSIX_TRACE_UNTIL_FULL, 1, 200},
	};
	unsigned int stride = px_test_is_whole() ? 1 : 29;
	uint64_t seed = test_seed(), nr_lost = 0, nr_read, lost, least;
	unsigned int first = (unsigned int)(next_random(&seed) % stride);
	bool has_returned;

	if (!can_step) {
		px_test_skip("this needs x86-64 or aarch64, restartable sequences, and no sanitizer");
		return;
	}
	make(kinds[_i].policy, 100000, kinds[_i].nr_rings);
	bytes = kinds[_i].bytes;
	for (unsigned int nr_passes = 0; nr_passes < stride && nr_lost == 0; nr_passes++) {
		has_returned = false;
		for (unsigned int i = (first + nr_passes) % stride; !has_returned; i += stride) {
			has_returned = kill_after(i);
			nr_read = read_up_to_now(i);
			lost = count_lost() - nr_lost;
			nr_lost += lost;
			least = (uint64_t)NR_WARM_UP + has_returned;
			if (nr_read + lost < least || nr_read + lost > NR_WARM_UP + 1)
				ck_abort_msg("after %u instructions: at least %u events, %u read, %u lost", i,
					     (unsigned int)least, (unsigned int)nr_read, (unsigned int)lost);
		}
	}
	ck_assert_uint_gt(nr_lost, 0);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("killed");
	TCase *tcase = tcase_create("killed");

	tcase_add_checked_fixture(tcase, setup, teardown);
	tcase_set_timeout(tcase, 120);
	tcase_add_loop_test(tcase, newest_events_after_many_kills_are_there, 0, 4);
	tcase_add_loop_test(tcase, event_of_a_process_killed_at_each_instruction_is_accounted_for_once, 0, 8);
	tcase_add_loop_test(tcase, claim_of_the_dead_freed_twice_harms_no_later_event, 0, 4);
	suite_add_tcase(suite, tcase);
	return run_suite(suite);
}
