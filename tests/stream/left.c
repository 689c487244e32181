/* SPDX-License-Identifier: MIT */
/*
 * Trace points that a signal handler leaves with siglongjmp(): the slots that they held become free, and nothing is
 * lost.
 */
#include "config.h"

#include "support/common.h"

#include <sched.h>
#include <setjmp.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <trace_ext.h>
#include <unistd.h>

#include "ring/cpuring.h"
#include "support/contexts.h"
#include "support/traps.h"
#include "trace/process.h"

#define LONG_BYTES 4000
#define MANY_BYTES 200 /* five slots */

static trace_event_id_t type;
static trace_id_t stream;
static size_t bytes;

static void setup(void)
{
	cpu_set_t one;

	ok(posix_trace_eventid_open("left", &type));
	CPU_ZERO(&one);
	CPU_SET((size_t)sched_getcpu(), &one);
	ck_assert_int_eq(sched_setaffinity(0, sizeof(one), &one), 0);
}

static void teardown(void)
{
	__atomic_store_n(&px_testpoint_hook, NULL, __ATOMIC_RELEASE);
	posix_trace_shutdown(stream);
}

static trace_id_t make_stream(int policy, size_t size, size_t max_data, unsigned int nr_rings)
{
	trace_id_t trid = px_test_create(&(struct px_test_stream){
		.policy = policy, .nr_rings = nr_rings, .size = size, .max_data = max_data});

	ok(posix_trace_start(trid));
	return trid;
}

static void make(int policy, size_t size, size_t max_data, unsigned int nr_rings)
{
	stream = make_stream(policy, size, max_data, nr_rings);
}

static __attribute__((noinline)) void record(uint32_t number)
{
	unsigned char data[LONG_BYTES];

	memcpy(data, &number, sizeof(number));
	px_test_fill(data + sizeof(number), bytes - sizeof(number), number);
	posix_trace_event(type, data, bytes);
}

/* The same, deeper in the stack. */
static __attribute__((noinline)) void record_below(uint32_t number, int depth)
{
	volatile unsigned char used[500];

	memset((void *)used, depth, sizeof(used));
	if (depth > 0)
		record_below(number, depth - 1);
	else
		record(number);
	used[0] = used[1];
}

/* Return the number of the next event of this type, or -1 at STOP. */
static int64_t take_from(trace_id_t trid)
{
	struct posix_trace_event_info info;
	unsigned char data[LONG_BYTES];
	int unavailable;
	uint32_t number;
	size_t length;

	do {
		ok(posix_trace_getnext_event(trid, &info, data, sizeof(data), &length, &unavailable));
		ck_assert_int_eq(unavailable, 0);
		if (info.posix_event_id == POSIX_TRACE_STOP)
			return -1;
	} while (info.posix_event_id != type);
	ck_assert_uint_ge(length, sizeof(number));
	memcpy(&number, data, sizeof(number));
	ck_assert(px_test_is_filled(data + sizeof(number), length - sizeof(number), number));
	return number;
}

static int64_t take_number(void)
{
	return take_from(stream);
}

/* Without test points: a timer interrupts. */

static sigjmp_buf out;
static volatile sig_atomic_t nr_jumps;

static void jump_out(int signal)
{
	(void)signal;
	nr_jumps++;
	siglongjmp(out, 1);
}

static void catch_with(int signal, void (*handler)(int), int flags)
{
	struct sigaction action = {.sa_handler = handler, .sa_flags = flags};

	sigaction(signal, &action, NULL);
}

static void set_timer(long us)
{
	const struct itimerval timer = {{0, us}, {0, us}};

	setitimer(ITIMER_REAL, &timer, NULL);
}

/*
 * With AddressSanitizer, after a jump on the stack of a coroutine, the frames of later calls seem to be poisoned.  The
 * frames of trace points are larger than 1 KiB, so a call that was left can seem to run (frames.h) until the signal
 * frame is overwritten.  So they are without optimisation.
 */
#if defined __SANITIZE_ADDRESS__ || !defined __OPTIMIZE__
#define CONFUSES_STACKS true
#else
#define CONFUSES_STACKS false
#endif

#define NR_JUMPS 5000

static const struct {
	size_t bytes;
	unsigned int nr_rings;
	int depth, depth_after; /* on the stack */
} timers[] = {
	{LONG_BYTES, 0, 0, 0}, {LONG_BYTES, 0, 3, 0}, {LONG_BYTES, 0, 0, 3},
	{MANY_BYTES, 0, 0, 0}, {LONG_BYTES, 1, 0, 0}, {8, 1, 0, 3},
};

/* Lost events: at least those that were completed and not read, and at most also those that were left (R7). */
static void expect_account(uint64_t nr_completed, uint64_t nr_left, uint64_t nr_read)
{
	struct txtrace_loss loss;
	uint64_t nr_known;

	ok(txtrace_get_loss(stream, &loss));
	nr_known = nr_read + loss.overwritten + loss.dropped + loss.abandoned;
	ck_assert_uint_ge(nr_known, nr_completed);
	if (PX_HAS_CPURINGS)
		ck_assert_uint_le(nr_known, nr_completed + nr_left);
}

/* EVENT-7 EVENT-17 */
START_TEST(events_after_a_timer_left_many_are_there)
{
	static volatile uint64_t nr_completed;
	static uint64_t nr_read;

	bytes = timers[_i].bytes;
	make(POSIX_TRACE_LOOP, 100000, LONG_BYTES, timers[_i].nr_rings);
	catch_with(SIGALRM, jump_out, 0);
	if (sigsetjmp(out, 1) == 0)
		set_timer(100);
	while (nr_jumps < (px_test_is_whole() ? 20 : 1) * NR_JUMPS) {
		record_below(7, timers[_i].depth);
		nr_completed++;
	}
	set_timer(0);
	catch_with(SIGALRM, SIG_IGN, 0);
	for (uint32_t i = 1000; i < 1020; i++)
		record_below(i, timers[_i].depth_after);
	ok(posix_trace_stop(stream));
	for (int64_t number, expected = 1000; expected < 1020;) {
		number = take_number();
		ck_assert_int_ge(number, 0);
		nr_read++;
		if (number == 7)
			continue;
		ck_assert_int_eq(number, expected);
		expected++;
	}
	ck_assert_int_eq(take_number(), -1);
	expect_account(nr_completed + 20, (uint64_t)nr_jumps, nr_read);
}
END_TEST

/* Forced: the call is left at each test point, or before each instruction of a sequence. */

static const char *raise_at;

static const char *leave_inner_at;

static void raise_at_point(const char *name)
{
	if (leave_inner_at && strcmp(name, leave_inner_at) == 0) {
		leave_inner_at = NULL;
		raise(SIGUSR2);
	}
	if (!raise_at || strcmp(name, raise_at) != 0)
		return;
	raise_at = NULL;
	raise(SIGUSR1);
}

static void leave_at(const char *point)
{
	catch_with(SIGUSR1, jump_out, 0);
	raise_at = point;
	__atomic_store_n(&px_testpoint_hook, raise_at_point, __ATOMIC_RELEASE);
	if (sigsetjmp(out, 1) == 0)
		record(7);
	__atomic_store_n(&px_testpoint_hook, NULL, __ATOMIC_RELEASE);
}

static const struct px_view *view(void)
{
	for (unsigned int i = 0; i < PX_STREAMS_MAX; i++)
		if (px_gate.self.view[i])
			return px_gate.self.view[i];
	return NULL;
}

/* Return the number of claims below head in all rings: these belong to calls. */
static unsigned int count_claims(void)
{
	unsigned int nr = 0;

	for (uint32_t k = 0; k < view()->rings.nr_rings; k++) {
		struct px_ring ring = px_rings_get(&view()->rings, k);

		for (uint64_t i = 0; i <= ring.mask; i++)
			nr += px_word_state(ring.slots[i].word) == PX_SLOT_CLAIMED &&
			      px_word_ahead_of(ring.slots[i].word, ring.control->head) < 0;
	}
	return nr;
}

/* R7: the counts of lost events are right. */
static void expect_lost(uint64_t lost)
{
	struct txtrace_loss loss;

	ok(txtrace_get_loss(stream, &loss));
	ck_assert_uint_eq(loss.overwritten + loss.dropped + loss.abandoned, lost);
}

static const struct {
	const char *point;
	bool is_recorded; /* before the call was left */
	bool is_unknown;  /* in a shared ring, it has no note yet: the reader waits, and counts it */
} points[] = {
	{"point.state.loaded", false, false}, {"ring.reserve.loaded", false, false},
	{"ring.reserve.done", false, true},   {"ring.claim.loaded", false, false},
	{"ring.claim.done", false, false},    {"record.write.first", false, false},
	{"record.write.more", false, false},  {"ring.commit.more", false, false},
	{"ring.commit.ready", false, false},  {"ring.commit.done", true, false},
};

static const struct {
	size_t bytes;
	unsigned int nr_rings;
	int policy;
} forced[] = {
	{8, 0, POSIX_TRACE_LOOP},	 {MANY_BYTES, 0, POSIX_TRACE_LOOP},
	{8, 1, POSIX_TRACE_LOOP},	 {MANY_BYTES, 1, POSIX_TRACE_LOOP},
	{8, 0, POSIX_TRACE_UNTIL_FULL}, {MANY_BYTES, 1, POSIX_TRACE_UNTIL_FULL},
};

/* EVENT-7 EVENT-17: whatever call was left, the next call frees its slots, and nothing counts as lost. */
START_TEST(event_left_at_each_test_point_is_freed_by_the_next_and_not_lost)
{
	size_t kind = (size_t)_i / PX_ARRAY_SIZE(points), at = (size_t)_i % PX_ARRAY_SIZE(points);
	bool is_shared = forced[kind].nr_rings == 1 || !px_test_has_cpu_rings();
	bool is_unknown = points[at].is_unknown && is_shared;

	bytes = forced[kind].bytes;
	make(forced[kind].policy, 65536, MANY_BYTES, forced[kind].nr_rings);
	record(0);
	for (uint32_t i = 1; i <= 10; i++) {
		leave_at(points[at].point);
		record(i);
		ck_assert_uint_le(count_claims(), CONFUSES_STACKS ? 1 : 0);
	}
	ok(posix_trace_stop(stream));
	for (int64_t number, expected = 0; (number = take_number()) >= 0 || expected < 11;) {
		ck_assert_int_ge(number, 0);
		if (number == 7 && expected != 7)
			continue;
		ck_assert_int_eq(number, expected);
		expected++;
	}
	expect_lost(is_unknown ? 10 : 0);
}
END_TEST

static void leave_in_trap(void)
{
	siglongjmp(out, 1);
}

/* C6: the claim has a note whenever head is beyond it. */
START_TEST(event_left_before_each_instruction_of_a_sequence_is_freed)
{
	static unsigned int nr_hit; /* its value is needed after the jump */

	bytes = _i % 2 ? MANY_BYTES : 8;
	make(_i / 2 ? POSIX_TRACE_UNTIL_FULL : POSIX_TRACE_LOOP, 1 << 20, MANY_BYTES, 0);
	record(0);
	for (volatile size_t step = 0; step < px_test_nr_steps(); step++) {
		px_test_plant(step, leave_in_trap);
		if (sigsetjmp(out, 1) == 0)
			record(7);
		nr_hit += px_test_unplant();
		record(8);
		ck_assert_uint_eq(count_claims(), 0);
	}
	ck_assert_uint_ge(nr_hit, CONFUSES_STACKS ? 1 : 10); /* a call inside another one has no sequence */
	ok(posix_trace_stop(stream));
	while (take_number() >= 0)
		;
	expect_lost(0);
}
END_TEST

/* A writer that takes later slots of a shared ring has two claims for a moment (px_claim.kept). */

static struct {
	const char *point; /* where the writer is left, after... */
	bool is_late;	   /* ... it has found that it is late */
	bool was_left;
} later;

static void leave_late_writer(const char *name)
{
	struct posix_trace_event_info info;
	int unavailable;
	size_t length;

	if (strcmp(name, "ring.reserve.stamped") == 0 && !later.is_late) {
		later.is_late = true;
		sleep_ms(1);
		do /* the reader passes the counter */
			ok(posix_trace_trygetnext_event(stream, &info, NULL, 0, &length, &unavailable));
		while (!unavailable);
	}
	if (strcmp(name, "ring.later.kept") == 0)
		later.was_left = true; /* from here on */
	if (later.was_left && strcmp(name, later.point) == 0) {
		later.point = "";
		raise(SIGUSR1);
	}
}

static const char *const later_points[] = {
	"ring.later.kept",    "ring.claim.loaded", "ring.claim.done",
	"ring.later.claimed", "ring.void.done",    "record.write.first",
};

static void leave_late_at(const char *point)
{
	later.point = point;
	catch_with(SIGUSR1, jump_out, 0);
	__atomic_store_n(&px_testpoint_hook, leave_late_writer, __ATOMIC_RELEASE);
	if (sigsetjmp(out, 1) == 0)
		record(7);
	__atomic_store_n(&px_testpoint_hook, NULL, __ATOMIC_RELEASE);
	ck_assert_int_eq(nr_jumps, 1);
}

/* EVENT-7 EVENT-17: both claims become free, and nothing counts as lost. */
START_TEST(event_left_while_it_takes_later_slots_is_freed)
{
	size_t at = (size_t)_i % PX_ARRAY_SIZE(later_points);
	struct txtrace_loss loss;
	int64_t number;

	bytes = _i / (int)PX_ARRAY_SIZE(later_points) ? MANY_BYTES : 8;
	make(POSIX_TRACE_LOOP, 65536, MANY_BYTES, 1);
	record(0);
	leave_late_at(later_points[at]);
	ck_assert_uint_gt(count_claims(), 0);
	record(8);
	ck_assert_uint_eq(count_claims(), 0);
	ok(posix_trace_stop(stream));
	ck_assert_int_eq(take_number(), 8);
	while ((number = take_number()) >= 0)
		ck_abort_msg("number %d", (int)number);
	ok(txtrace_get_loss(stream, &loss));
	ck_assert_uint_eq(loss.abandoned + loss.overwritten + loss.dropped, 0);
}
END_TEST

/* Calls in handlers that interrupt a call.  The handler leaves a call of its own, and the outer call goes on. */

static sigjmp_buf out_of_inner;
static bool leaves_inner;

static void jump_out_of_inner(int signal)
{
	(void)signal;
	siglongjmp(out_of_inner, 1);
}

static const char *inner_point;

/* R6: how many claims the interrupted call has, before and after the events of its handler. */
static unsigned int nr_outer_claims, nr_kept_claims;

static void record_inside(int signal)
{
	(void)signal;
	nr_outer_claims = count_claims();
	for (int i = 0; i < 20; i++)
		record(21);
	nr_kept_claims = count_claims();
	if (!leaves_inner)
		return;
	leave_inner_at = inner_point;
	if (sigsetjmp(out_of_inner, 1) == 0)
		record(7);
	record(22);
}

/* R6: the slots of the outer call stay; those that the handler left become free. */
START_TEST(event_in_a_handler_leaves_the_outer_call_its_claim)
{
	static char stack[65536];
	const stack_t alternate = {.ss_sp = stack, .ss_size = sizeof(stack)};
	size_t at = (size_t)_i % PX_ARRAY_SIZE(points);
	int numbers[23] = {0};
	int64_t number;

	bytes = MANY_BYTES;
	leaves_inner = _i / (int)PX_ARRAY_SIZE(points) % 2;
	inner_point = "ring.commit.ready";
	make(POSIX_TRACE_LOOP, 65536, MANY_BYTES, _i / (int)PX_ARRAY_SIZE(points) / 4);
	record(0);
	sigaltstack(&alternate, NULL);
	catch_with(SIGUSR1, record_inside,
		   _i / (int)PX_ARRAY_SIZE(points) / 2 % 2 ? SA_ONSTACK | SA_NODEFER : SA_NODEFER);
	raise_at = points[at].point;
	__atomic_store_n(&px_testpoint_hook, raise_at_point, __ATOMIC_RELEASE);
	if (leaves_inner)
		catch_with(SIGUSR2, jump_out_of_inner, 0);
	record(9);
	__atomic_store_n(&px_testpoint_hook, NULL, __ATOMIC_RELEASE);
	ok(posix_trace_stop(stream));
	while ((number = take_number()) >= 0)
		numbers[number]++;
	ck_assert_int_eq(numbers[9], 1);
	ck_assert_int_eq(numbers[21], raise_at ? 0 : 20);
	ck_assert_uint_eq(nr_kept_claims, nr_outer_claims);
	ck_assert_int_eq(numbers[22], !raise_at && leaves_inner);
	ck_assert_int_eq(numbers[7], 0);
	record(10);
	ck_assert_uint_eq(count_claims(), 0);
}
END_TEST

/* An alternate stack above the stack of the thread, so the addresses do not show which call is the inner one. */

struct thread_stack {
	char thread[262144];
	char alternate[65536];
};

static void *interrupted_on_higher_stack(void *stack)
{
	const stack_t alternate = {.ss_sp = ((struct thread_stack *)stack)->alternate, .ss_size = 65536};
	cpu_set_t one;

	CPU_ZERO(&one);
	CPU_SET((size_t)sched_getcpu(), &one);
	sched_setaffinity(0, sizeof(one), &one);
	sigaltstack(&alternate, NULL);
	record(0);
	leaves_inner = false;
	catch_with(SIGUSR1, record_inside, SA_ONSTACK);
	raise_at = "record.write.first";
	__atomic_store_n(&px_testpoint_hook, raise_at_point, __ATOMIC_RELEASE);
	record(9);
	__atomic_store_n(&px_testpoint_hook, NULL, __ATOMIC_RELEASE);
	return NULL;
}

START_TEST(event_in_a_handler_on_a_higher_stack_leaves_the_outer_call_its_claim)
{
	struct thread_stack *stack = mmap(NULL, sizeof(*stack), PROT_READ | PROT_WRITE,
					  MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	pthread_attr_t attr;
	pthread_t thread;

	bytes = MANY_BYTES;
	make(POSIX_TRACE_LOOP, 65536, MANY_BYTES, 0);
	pthread_attr_init(&attr);
	pthread_attr_setstack(&attr, stack->thread, sizeof(stack->thread));
	ck_assert_int_eq(pthread_create(&thread, &attr, interrupted_on_higher_stack, stack), 0);
	pthread_join(thread, NULL);
	ok(posix_trace_stop(stream));
	ck_assert_int_eq(take_number(), 0);
	ck_assert_int_eq(take_number(), 9);
	for (int i = 0; i < 20; i++)
		ck_assert_int_eq(take_number(), 21);
	ck_assert_uint_eq(nr_outer_claims, MANY_BYTES / 50 + 1);
	ck_assert_uint_eq(nr_kept_claims, nr_outer_claims);
	ck_assert_int_eq(take_number(), -1);
}
END_TEST

/* Stacks with other sizes and at other addresses. */

static void stay_on_this_cpu(void)
{
	cpu_set_t one;

	CPU_ZERO(&one);
	CPU_SET((size_t)sched_getcpu(), &one);
	sched_setaffinity(0, sizeof(one), &one);
}

static unsigned int nr_claims_after[10];

static void leave_and_record(void)
{
	for (volatile size_t i = 0; i < PX_ARRAY_SIZE(nr_claims_after); i++) {
		leave_at("record.write.first");
		record(8);
		nr_claims_after[i] = count_claims();
	}
}

static void *leave_deep_down(void *depth)
{
	volatile char *used = __builtin_alloca((size_t)depth);

	used[0] = 1;
	stay_on_this_cpu();
	record(0);
	leave_and_record();
	return NULL;
}

static const size_t depths[] = {1000, 1200000, 3000000, 7000000};

/* EVENT-17: the depth of the stack does not matter. */
START_TEST(event_left_deep_in_the_stack_of_a_thread_is_freed_by_the_next)
{
	pthread_attr_t attr;
	pthread_t thread;

	bytes = MANY_BYTES;
	make(POSIX_TRACE_LOOP, 65536, MANY_BYTES, 0);
	pthread_attr_init(&attr);
	pthread_attr_setstacksize(&attr, 8 << 20);
	ck_assert_int_eq(pthread_create(&thread, &attr, leave_deep_down, (void *)depths[_i]), 0);
	pthread_join(thread, NULL);
	for (size_t i = 0; i < PX_ARRAY_SIZE(nr_claims_after); i++)
		ck_assert_uint_eq(nr_claims_after[i], 0);
}
END_TEST

static ucontext_t before_coroutines, coroutine[2];

#define COROUTINE_BYTES 65536

static void make_coroutine(int i, char *stack, void (*function)(void))
{
	getcontext(&coroutine[i]);
	coroutine[i].uc_stack.ss_sp = stack;
	coroutine[i].uc_stack.ss_size = COROUTINE_BYTES;
	coroutine[i].uc_link = &before_coroutines;
	makecontext(&coroutine[i], function, 0);
}

START_TEST(event_left_on_the_stack_of_a_coroutine_is_freed_by_the_next)
{
	static char stack[COROUTINE_BYTES];

	if (!PX_HAS_CONTEXTS) {
		px_test_skip("the C library has no makecontext()");
		return;
	}
	bytes = MANY_BYTES;
	make(POSIX_TRACE_LOOP, 65536, MANY_BYTES, 0);
	record(0);
	make_coroutine(0, stack, leave_and_record);
	swapcontext(&before_coroutines, &coroutine[0]);
	for (size_t i = 0; i < PX_ARRAY_SIZE(nr_claims_after); i++)
		ck_assert_uint_eq(nr_claims_after[i], 0);
}
END_TEST

/* A handler interrupts the call of one coroutine, and switches to another one, which records, and switches back. */

static void switch_to_the_other(int signal)
{
	(void)signal;
	swapcontext(&coroutine[0], &coroutine[1]);
}

static void record_in_one(void)
{
	catch_with(SIGUSR1, switch_to_the_other, 0);
	raise_at = "record.write.first";
	__atomic_store_n(&px_testpoint_hook, raise_at_point, __ATOMIC_RELEASE);
	record(9);
	__atomic_store_n(&px_testpoint_hook, NULL, __ATOMIC_RELEASE);
}

static void record_in_the_other(void)
{
	record_inside(SIGUSR1);
	swapcontext(&coroutine[1], &coroutine[0]);
}

static void run_coroutines(char *stack, bool is_reversed)
{
	stay_on_this_cpu();
	leaves_inner = false;
	record(0);
	make_coroutine(0, stack + (is_reversed ? COROUTINE_BYTES : 0), record_in_one);
	make_coroutine(1, stack + (is_reversed ? 0 : COROUTINE_BYTES), record_in_the_other);
	swapcontext(&before_coroutines, &coroutine[0]);
}

struct coroutine_stacks {
	char coroutines[2 * COROUTINE_BYTES];
	char guard[4096];
	char thread[4 * COROUTINE_BYTES];
	bool is_reversed;
};

static void *run_below_the_stack(void *stacks)
{
	struct coroutine_stacks *below = stacks;

	run_coroutines(below->coroutines, below->is_reversed);
	return NULL;
}

static void *run_inside_the_stack(void *stacks)
{
	char inside[2 * COROUTINE_BYTES];

	run_coroutines(inside, ((struct coroutine_stacks *)stacks)->is_reversed);
	return NULL;
}

/* R6 */
START_TEST(event_in_another_coroutine_leaves_the_interrupted_call_its_claim)
{
	struct coroutine_stacks *stacks = mmap(NULL, sizeof(*stacks), PROT_READ | PROT_WRITE,
					       MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	pthread_attr_t attr;
	pthread_t thread;

	if (!PX_HAS_CONTEXTS) {
		px_test_skip("the C library has no makecontext()");
		return;
	}
	bytes = MANY_BYTES;
	make(POSIX_TRACE_LOOP, 65536, MANY_BYTES, _i / 2 % 2);
	stacks->is_reversed = _i % 2;
	mprotect(stacks->guard, sizeof(stacks->guard), PROT_NONE);
	pthread_attr_init(&attr);
	pthread_attr_setstack(&attr, stacks->thread, sizeof(stacks->thread));
	ck_assert_int_eq(pthread_create(&thread, &attr,
					_i / 4 ? run_inside_the_stack : run_below_the_stack, stacks),
			 0);
	pthread_join(thread, NULL);
	ok(posix_trace_stop(stream));
	ck_assert_uint_eq(nr_outer_claims, MANY_BYTES / 50 + 1);
	ck_assert_uint_eq(nr_kept_claims, nr_outer_claims);
	ck_assert_int_eq(take_number(), 0);
	ck_assert_int_eq(take_number(), 9);
	for (int i = 0; i < 20; i++)
		ck_assert_int_eq(take_number(), 21);
	ck_assert_int_eq(take_number(), -1);
	expect_lost(0);
}
END_TEST

/* Two streams in one call: left in the first, or in the second one. */
START_TEST(event_for_two_streams_left_in_one_of_them_is_freed)
{
	trace_id_t second;
	int64_t number;
	int nr_found = 0;

	bytes = MANY_BYTES;
	make(POSIX_TRACE_LOOP, 65536, MANY_BYTES, 0);
	second = make_stream(POSIX_TRACE_LOOP, 65536, MANY_BYTES, 1);
	record(0);
	for (int i = 0; i < 20; i++) {
		leave_at(i % 2 ? "record.write.more" : "ring.claim.loaded"); /* only shared rings pass this point */
		record(8);
		ck_assert_uint_eq(count_claims(), 0);
	}
	ok(posix_trace_stop(second));
	while ((number = take_from(second)) >= 0)
		nr_found += number == 8;
	ck_assert_int_eq(nr_found, 20);
	ok(posix_trace_shutdown(second));
}
END_TEST

/* A child has a copy of the notes, and another tid. */
static int record_in_child(void *unused)
{
	(void)unused;
	record(8);
	return 0;
}

START_TEST(fork_after_an_event_was_left_leaves_the_claim_to_the_parent)
{
	bytes = MANY_BYTES;
	make(POSIX_TRACE_LOOP, 65536, MANY_BYTES, 0);
	record(0);
	leave_at("record.write.first");
	ck_assert_uint_eq(count_claims(), 5);
	ck_assert_int_eq(px_test_in_child(record_in_child, NULL), 0);
	ck_assert_uint_eq(count_claims(), 5);
	record(8);
	ck_assert_uint_eq(count_claims(), 0);
}
END_TEST

/* A thread that reads frees what it has left itself: no record is pending. */
START_TEST(read_after_an_event_was_left_does_not_wait)
{
	struct posix_trace_event_info info;
	int unavailable;
	size_t length;

	bytes = 8;
	make(POSIX_TRACE_LOOP, 65536, MANY_BYTES, 0);
	record(0);
	leave_at("record.write.first");
	for (int i = 0; i < 2; i++) {
		ok(posix_trace_trygetnext_event(stream, &info, NULL, 0, &length, &unavailable));
		ck_assert_int_eq(unavailable, 0);
	}
	ok(posix_trace_trygetnext_event(stream, &info, NULL, 0, &length, &unavailable));
	ck_assert_int_ne(unavailable, 0);
	ck_assert_uint_eq(count_claims(), 0);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("left");
	TCase *tcase = tcase_create("timer");

	px_test_try_sequences();

#if defined __SANITIZE_THREAD__
	skip_program("ThreadSanitizer keeps its own stack of calls, which a jump out of a handler breaks");
#endif
	tcase_add_checked_fixture(tcase, setup, teardown);
	tcase_set_timeout(tcase, 60);
	tcase_add_loop_test(tcase, events_after_a_timer_left_many_are_there, 0, PX_ARRAY_SIZE(timers));
	suite_add_tcase(suite, tcase);
	tcase = tcase_create("forced");
	tcase_add_checked_fixture(tcase, setup, teardown);
	tcase_set_timeout(tcase, 60);
	tcase_add_loop_test(tcase, event_left_at_each_test_point_is_freed_by_the_next_and_not_lost, 0,
			    PX_ARRAY_SIZE(points) * PX_ARRAY_SIZE(forced));
	tcase_add_loop_test(tcase, event_left_while_it_takes_later_slots_is_freed, 0,
			    2 * PX_ARRAY_SIZE(later_points));
	tcase_add_loop_test(tcase, event_in_a_handler_leaves_the_outer_call_its_claim, 0,
			    PX_ARRAY_SIZE(points) * 8);
	tcase_add_test(tcase, event_in_a_handler_on_a_higher_stack_leaves_the_outer_call_its_claim);
	tcase_add_loop_test(tcase, event_left_deep_in_the_stack_of_a_thread_is_freed_by_the_next, 0,
			    PX_ARRAY_SIZE(depths));
	if (!CONFUSES_STACKS)
		tcase_add_test(tcase, event_left_on_the_stack_of_a_coroutine_is_freed_by_the_next);
	tcase_add_loop_test(tcase, event_in_another_coroutine_leaves_the_interrupted_call_its_claim, 0, 8);
	tcase_add_test(tcase, event_for_two_streams_left_in_one_of_them_is_freed);
	tcase_add_test(tcase, fork_after_an_event_was_left_leaves_the_claim_to_the_parent);
	tcase_add_test(tcase, read_after_an_event_was_left_does_not_wait);
	if (px_test_nr_steps() > 0 && px_test_has_cpu_rings())
		tcase_add_loop_test(tcase, event_left_before_each_instruction_of_a_sequence_is_freed, 0,
				    4);
	suite_add_tcase(suite, tcase);
	return run_suite(suite);
}
