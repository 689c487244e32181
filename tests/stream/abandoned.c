/* SPDX-License-Identifier: MIT */
/* Calls that never go on: a handler switches to another stack, jumps far, or jumps while a call begins. */
#include "config.h"

#include "support/common.h"

#include <sched.h>
#include <setjmp.h>
#include <signal.h>
#include <string.h>
#include <sys/mman.h>
#include <trace_ext.h>

#include "ring/ring.h"
#include "support/contexts.h"
#include "trace/inside.h"
#include "trace/process.h"

#define BYTES 200 /* five slots */
#define SLOTS 5
#define NR_CALLS 100
#define NR_AFTER 20
#define ABANDONED 7 /* the number of each event whose call may be abandoned */

static trace_event_id_t type;
static trace_id_t stream;

static void stay_on_this_cpu(void)
{
	cpu_set_t one;

	CPU_ZERO(&one);
	CPU_SET((size_t)sched_getcpu(), &one);
	ck_assert_int_eq(sched_setaffinity(0, sizeof(one), &one), 0);
}

static void setup(void)
{
	ok(posix_trace_eventid_open("abandoned", &type));
	stay_on_this_cpu();
}

static void teardown(void)
{
	__atomic_store_n(&px_testpoint_hook, NULL, __ATOMIC_RELEASE);
	posix_trace_shutdown(stream);
}

static void make(unsigned int nr_rings)
{
	stream = px_test_create(&(struct px_test_stream){.policy = POSIX_TRACE_LOOP,
							 .nr_rings = nr_rings,
							 .size = 65536,
							 .max_data = BYTES});
	ok(posix_trace_start(stream));
}

static __attribute__((noinline)) void record(uint32_t number)
{
	unsigned char data[BYTES];

	memcpy(data, &number, sizeof(number));
	px_test_fill(data + sizeof(number), sizeof(data) - sizeof(number), number);
	posix_trace_event(type, data, sizeof(data));
}

/* Count the claims below head in all rings. */
static unsigned int count_claims(void)
{
	const struct px_view *view = NULL;
	unsigned int nr = 0;

	for (unsigned int i = 0; !view; i++)
		view = px_gate.self.view[i];
	for (uint32_t k = 0; k < view->rings.nr_rings; k++) {
		struct px_ring ring = px_rings_get(&view->rings, k);

		for (uint64_t i = 0; i <= ring.mask; i++)
			nr += px_word_state(ring.slots[i].word) == PX_SLOT_CLAIMED &&
			      px_word_ahead_of(ring.slots[i].word, ring.control->head) < 0;
	}
	return nr;
}

/*
 * Read all events.  Return how many have the number of abandoned calls.  The events after them must be there, in order.
 */
static unsigned int expect_events_after(void)
{
	struct posix_trace_event_info info;
	unsigned int nr_abandoned = 0;
	unsigned char data[BYTES];
	uint32_t number, next = 0;
	int unavailable;
	size_t length;

	ok(posix_trace_stop(stream));
	for (;;) {
		ok(posix_trace_getnext_event(stream, &info, data, sizeof(data), &length,
					     &unavailable));
		ck_assert_int_eq(unavailable, 0);
		if (info.posix_event_id == POSIX_TRACE_STOP)
			break;
		if (info.posix_event_id != type)
			continue;
		ck_assert_uint_eq(length, sizeof(data));
		memcpy(&number, data, sizeof(number));
		ck_assert(px_test_is_filled(data + sizeof(number), sizeof(data) - sizeof(number),
					    number));
		if (number == ABANDONED)
			nr_abandoned++;
		else
			ck_assert_uint_eq(number, 1000 + next++);
	}
	ck_assert_uint_eq(next, NR_AFTER);
	return nr_abandoned;
}

static void record_after(void)
{
	for (uint32_t i = 0; i < NR_AFTER; i++)
		record(1000 + i);
}

/* The signal arrives in the middle of a call. */

static const char *raise_at;

static void raise_at_point(const char *name)
{
	if (!raise_at || strcmp(name, raise_at) != 0)
		return;
	raise_at = NULL;
	raise(SIGUSR1);
}

static void catch_with(int signal, void (*handler)(int))
{
	struct sigaction action = {.sa_handler = handler};

	sigaction(signal, &action, NULL);
}

static void record_interrupted(void)
{
	raise_at = "record.write.first";
	__atomic_store_n(&px_testpoint_hook, raise_at_point, __ATOMIC_RELEASE);
	record(ABANDONED);
	__atomic_store_n(&px_testpoint_hook, NULL, __ATOMIC_RELEASE);
}

/* The signal mask must be that of before. */
static void expect_nothing_blocked(void)
{
	sigset_t now;

	ck_assert_int_eq(pthread_sigmask(SIG_SETMASK, NULL, &now), 0);
	for (int i = 1; i < NSIG; i++)
		ck_assert_int_le(sigismember(&now, i), 0);
}

/* Coroutines, each with its own stack. */

#define STACK_BYTES 65536

static ucontext_t main_context, coroutine;

static void switch_to_main(int signal)
{
	(void)signal;
	setcontext(&main_context);
}

static void run_coroutine(char *stack)
{
	static volatile int has_returned; /* its value is needed after setcontext() */

	has_returned = 0;
	getcontext(&main_context);
	if (has_returned)
		return;
	has_returned = 1;
	getcontext(&coroutine);
	coroutine.uc_stack.ss_sp = stack;
	coroutine.uc_stack.ss_size = STACK_BYTES;
	coroutine.uc_link = &main_context;
	makecontext(&coroutine, record_interrupted, 0);
	setcontext(&coroutine);
}

/* EVENT-7 EVENT-17: a thread keeps the claims of calls for which it has notes, and frees those of other calls. */
START_TEST(events_after_many_coroutines_were_abandoned_in_an_event_are_there)
{
	char *stacks = mmap(NULL, (size_t)NR_CALLS * STACK_BYTES, PROT_READ | PROT_WRITE,
			    MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	if (!PX_HAS_CONTEXTS) {
		px_test_skip("the C library has no makecontext()");
		return;
	}
	ck_assert_ptr_ne(stacks, MAP_FAILED);
	make((unsigned int)_i);
	catch_with(SIGUSR1, switch_to_main);
	for (size_t i = 0; i < NR_CALLS; i++)
		run_coroutine(stacks + i * STACK_BYTES);
	__atomic_store_n(&px_testpoint_hook, NULL, __ATOMIC_RELEASE);
	ck_assert_uint_eq(count_claims(), (PX_FRAMES + 1) * SLOTS);
	expect_nothing_blocked();
	record_after();
	ck_assert_uint_eq(expect_events_after(), NR_CALLS - (PX_FRAMES + 1));
}
END_TEST

/*
 * Far jumps to callers on the usual stack.  Each starts from a frame further up, so all their signal frames stay in
 * memory.
 */

#define STEP_BYTES 20000

static sigjmp_buf out;

static void jump_out(int signal)
{
	(void)signal;
	siglongjmp(out, 1);
}

static __attribute__((noinline)) void record_interrupted_below(size_t depth)
{
	volatile char *used = __builtin_alloca(depth);

	used[0] = 1;
	record_interrupted();
	used[0] = 0;
}

START_TEST(events_after_many_far_jumps_out_of_an_event_are_there)
{
	make((unsigned int)_i);
	catch_with(SIGUSR1, jump_out);
	for (volatile size_t i = NR_CALLS; i > 0; i--)
		if (sigsetjmp(out, 1) == 0)
			record_interrupted_below(i * STEP_BYTES);
	__atomic_store_n(&px_testpoint_hook, NULL, __ATOMIC_RELEASE);
	ck_assert_uint_le(count_claims(), (PX_FRAMES + 1) * SLOTS);
	expect_nothing_blocked();
	record_after();
	ck_assert_uint_ge(expect_events_after(), NR_CALLS - (PX_FRAMES + 1));
}
END_TEST

#if defined(__x86_64__) && !defined(__SANITIZE_THREAD__) && !defined(__SANITIZE_ADDRESS__)
/*
 * A handler runs before each instruction of a call, and leaves a call of its own.  A step is an instruction: while the
 * trap flag is set, the processor traps after each one.
 */

#define TRAP_FLAG INT64_C(0x100)
#define NR_STEPS 400

static volatile int nr_steps_left;
static volatile sig_atomic_t nr_inner;

static void leave_inner(void)
{
	nr_inner++;
	if (sigsetjmp(out, 1) == 0)
		record_interrupted();
	__atomic_store_n(&px_testpoint_hook, NULL, __ATOMIC_RELEASE);
}

static void on_step(int signal, siginfo_t *info, void *context)
{
	greg_t *flags = &((ucontext_t *)context)->uc_mcontext.gregs[REG_EFL];

	(void)signal, (void)info;
	if (nr_steps_left-- > 0) {
		*flags |= TRAP_FLAG;
		return;
	}
	*flags &= ~TRAP_FLAG;
	leave_inner();
}

/* EVENT-7 EVENT-17: the outer call begins, and the mark of the inner one stays until the next call frees its claim. */
START_TEST(call_left_by_a_handler_before_each_instruction_of_another_is_freed)
{
	struct sigaction on = {.sa_sigaction = on_step, .sa_flags = SA_SIGINFO | SA_NODEFER};

	make(0);
	record(1);
	catch_with(SIGUSR1, jump_out);
	sigaction(SIGTRAP, &on, NULL);
	posix_trace_event(type, NULL, 0); /* later, the loader makes no steps */
	for (int step = 0; step < NR_STEPS; step++) {
		nr_steps_left = step;
		raise(SIGTRAP); /* the step after the return of the handler is the first one */
		posix_trace_event(type, &step, sizeof(step));
		while (nr_steps_left >= 0) /* the call had fewer instructions */
			continue;
		record(3);
		ck_assert_msg(count_claims() == 0, "step %d: %u claims", step, count_claims());
	}
	ck_assert_int_eq(nr_inner, NR_STEPS);
}
END_TEST
#endif

int main(void)
{
	Suite *suite = suite_create("abandoned");
	TCase *tcase = tcase_create("abandoned");

	tcase_add_checked_fixture(tcase, setup, teardown);
	tcase_set_timeout(tcase, 60);
	tcase_add_loop_test(
		tcase, events_after_many_coroutines_were_abandoned_in_an_event_are_there, 0, 2);
	tcase_add_loop_test(tcase, events_after_many_far_jumps_out_of_an_event_are_there, 0, 2);
#if defined(__x86_64__) && !defined(__SANITIZE_THREAD__) && !defined(__SANITIZE_ADDRESS__)
	tcase_add_test(tcase, call_left_by_a_handler_before_each_instruction_of_another_is_freed);
#endif
	suite_add_tcase(suite, tcase);
	return run_suite(suite);
}
