/* SPDX-License-Identifier: MIT */
/*
 * posix_trace_event(): which events it records, in one stream and in many; that it may interrupt itself and all other
 * code; that it makes no system call; and that it costs nothing after tracing has ended.
 */
#include "support/common.h"

#include <limits.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <pthread.h>
#include <sched.h>
#include <semaphore.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <sys/ucontext.h>
#include <sys/wait.h>
#include <trace_ext.h>
#include <unistd.h>

#include "base/atomic.h"
#include "base/compiler.h"
#include "base/kernel_time.h"
#include "support/heap.h"
#include "support/vanish.h"

#define LIMIT 65536 /* the tests of data cover max-data-size */
#define STRANGE_ERRNO 4711

static const struct px_test_stream one_ring = {.nr_rings = 1};

/* Two event types, and a running stream with one ring; most tests need no more. */
static trace_event_id_t outer, inner;
static trace_id_t stream;
static struct px_test_event seen;

static void setup(void)
{
	ok(posix_trace_eventid_open("outer", &outer));
	ok(posix_trace_eventid_open("inner", &inner));
	stream = px_test_create(&one_ring);
	ok(posix_trace_start(stream));
	px_test_expect(stream, POSIX_TRACE_START, &seen);
}

static void teardown(void)
{
	posix_trace_shutdown(stream);
}

static void expect_number(trace_id_t trid, trace_event_id_t type, uint32_t number)
{
	px_test_expect(trid, type, &seen);
	ck_assert_uint_eq(px_test_number(&seen), number);
}

/* What is recorded. */

/* EVENT-1 MODEL-1 INFO-1 */
START_TEST(event_running_stream_records_it)
{
	px_test_trace(outer, 1);
	px_test_trace(inner, 2);
	expect_number(stream, outer, 1);
	ck_assert(posix_trace_eventid_equal(stream, seen.info.posix_event_id, outer));
	ck_assert_int_eq(seen.info.posix_truncation_status, POSIX_TRACE_NOT_TRUNCATED);
	expect_number(stream, inner, 2);
	px_test_expect(stream, 0, &seen);
}
END_TEST

/* EVENT-2 MODEL-1 */
START_TEST(event_created_stream_ignores_it)
{
	trace_id_t created = px_test_create(&one_ring);
	struct posix_trace_status_info status;

	px_test_trace(outer, 1);
	px_test_expect(created, 0, &seen);
	status = px_test_status(created);
	ck_assert_int_eq(status.posix_stream_status, POSIX_TRACE_SUSPENDED);
	ck_assert_int_eq(status.posix_stream_overrun_status, POSIX_TRACE_NO_OVERRUN);
	expect_number(stream, outer, 1);
}
END_TEST

/* EVENT-2 MODEL-1 */
START_TEST(event_stopped_stream_ignores_it)
{
	ok(posix_trace_stop(stream));
	px_test_trace(outer, 1);
	px_test_expect(stream, POSIX_TRACE_STOP, &seen);
	px_test_expect(stream, 0, &seen);
	ck_assert_int_eq(px_test_status(stream).posix_stream_overrun_status,
			 POSIX_TRACE_NO_OVERRUN);
	ok(posix_trace_start(stream));
	px_test_trace(outer, 2);
	px_test_expect(stream, POSIX_TRACE_START, &seen);
	expect_number(stream, outer, 2);
}
END_TEST

/* EVENT-2 MODEL-1 FILT-1 */
START_TEST(event_filtered_type_is_ignored)
{
	trace_event_set_t set;

	ok(posix_trace_eventset_empty(&set));
	ok(posix_trace_eventset_add(outer, &set));
	ok(posix_trace_set_filter(stream, &set, POSIX_TRACE_SET_EVENTSET));
	px_test_trace(outer, 1);
	px_test_trace(inner, 2);
	px_test_expect(stream, POSIX_TRACE_FILTER, &seen);
	expect_number(stream, inner, 2);
	px_test_expect(stream, 0, &seen);
	ck_assert_int_eq(px_test_status(stream).posix_stream_overrun_status,
			 POSIX_TRACE_NO_OVERRUN);
}
END_TEST

/* EVENT-14 */
START_TEST(event_unnamed_type_is_recorded)
{
	px_test_trace(POSIX_TRACE_UNNAMED_USEREVENT, 1);
	expect_number(stream, POSIX_TRACE_UNNAMED_USEREVENT, 1);
}
END_TEST

/* EVENT-13 */
START_TEST(event_ids_that_were_not_opened_are_ignored)
{
	trace_event_id_t opened;

	for (trace_event_id_t id = 0; id < 5000; id++)
		if (id != outer && id != inner && id != POSIX_TRACE_UNNAMED_USEREVENT)
			px_test_trace(id, id);
	for (unsigned int shift = 12; shift < 32; shift++)
		px_test_trace(outer | 1u << shift, shift);
	px_test_trace(UINT_MAX, 0);
	px_test_trace(INT_MAX, 0);
	px_test_expect(stream, 0, &seen);

	ok(posix_trace_eventid_open("opened later", &opened));
	px_test_trace(opened, 3);
	expect_number(stream, opened, 3);
	ok(posix_trace_eventid_open("posix_trace_start", &opened));
	px_test_trace(opened, 4);
	px_test_expect(stream, 0, &seen);
}
END_TEST

/* EVENT-6 EVENT-18 */
START_TEST(event_macro_function_and_pointer_are_the_same)
{
	void (*pointer)(trace_event_id_t, const void *, size_t) = posix_trace_event;

#ifndef posix_trace_event
	ck_abort_msg("this compiler can have the macro");
#endif
	posix_trace_event(outer, "a", 1);
	(posix_trace_event)(outer, "b", 1);
	pointer(outer, "c", 1);
	for (unsigned char letter = 'a'; letter <= 'c'; letter++) {
		px_test_expect(stream, outer, &seen);
		ck_assert_uint_eq(seen.length, 1);
		ck_assert_uint_eq(seen.data[0], letter);
	}
}
END_TEST

static unsigned int evaluated;

static trace_event_id_t evaluate(trace_event_id_t id)
{
	evaluated++;
	return id;
}

/* EVENT-18: the macro evaluates its arguments once, even if no stream traces the process */
START_TEST(event_macro_evaluates_its_arguments_once)
{
	size_t length = 1;

	posix_trace_event(evaluate(outer), "x", length++);
	ck_assert_uint_eq(evaluated, 1);
	ck_assert_uint_eq(length, 2);
	ok(posix_trace_shutdown(stream));
	posix_trace_event(evaluate(outer), "x", length++);
	ck_assert_uint_eq(evaluated, 2);
	ck_assert_uint_eq(length, 3);
}
END_TEST

/* Data. */

/* EVENT-5 EVENT-15 */
START_TEST(event_without_data_is_recorded)
{
	posix_trace_event(outer, NULL, 0);
	posix_trace_event(outer, NULL, 7);
	posix_trace_event(outer, NULL, SIZE_MAX);
	posix_trace_event(outer, "", 0);
	for (int i = 0; i < 4; i++) {
		px_test_expect(stream, outer, &seen);
		ck_assert_uint_eq(seen.length, 0);
		ck_assert_int_eq(seen.info.posix_truncation_status, POSIX_TRACE_NOT_TRUNCATED);
	}
	px_test_expect(stream, 0, &seen);
}
END_TEST

/* A page between two pages that no code may access. */
static unsigned char *guarded_page(size_t page)
{
	unsigned char *memory = mmap(NULL, 3 * page, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	ck_assert_ptr_ne(memory, MAP_FAILED);
	ck_assert_int_eq(mprotect(memory + page, page, PROT_READ | PROT_WRITE), 0);
	return memory + page;
}

/* EVENT-3: the library reads no byte outside of the data */
START_TEST(event_data_between_guards_is_recorded)
{
	size_t page = (size_t)sysconf(_SC_PAGESIZE);
	unsigned char *memory = guarded_page(page);

	for (size_t length = 0; length <= 256; length++) {
		px_test_fill(memory, length, 1);
		posix_trace_event(outer, memory, length);
		px_test_fill(memory + page - length, length, 2);
		posix_trace_event(outer, memory + page - length, length);
		for (uint32_t side = 1; side <= 2; side++) {
			px_test_expect(stream, outer, &seen);
			ck_assert_uint_eq(seen.length, length);
			ck_assert(px_test_is_filled(seen.data, length, side));
		}
	}
}
END_TEST

/* The tested lengths: all short ones, then fewer, but always those next to the edge of a slot. */
static size_t next_length(size_t length)
{
	size_t beyond = length < 16 ? 0 : (length - 16) % 56;

	return length < 1500 || beyond <= 1 || beyond == 55 ? length + 1 : length + 55 - beyond;
}

static void expect_data(trace_id_t trid, unsigned char *buffer, size_t length, int truncation)
{
	struct posix_trace_event_info info;
	size_t got = SIZE_MAX;
	int unavailable = -1;

	ok(posix_trace_trygetnext_event(trid, &info, buffer, LIMIT, &got, &unavailable));
	ck_assert_int_eq(unavailable, 0);
	ck_assert_uint_eq(info.posix_event_id, outer);
	ck_assert_uint_eq(got, length);
	ck_assert_int_eq(info.posix_truncation_status, truncation);
	ck_assert_msg(px_test_is_filled(buffer, length, (uint32_t)length),
		      "%zu bytes are not whole", length);
}

/* EVENT-3 GETNEXT-4 SETMDS-1 */
START_TEST(event_every_length_is_recorded_whole)
{
	const struct px_test_stream wanted = {
		.policy = POSIX_TRACE_UNTIL_FULL, .max_data = LIMIT, .nr_rings = 1};
	trace_id_t large = px_test_create(&wanted);
	unsigned char *data = malloc(LIMIT), *buffer = malloc(LIMIT);
	unsigned int nr_lengths = 0;

	ok(posix_trace_start(large));
	px_test_expect(large, POSIX_TRACE_START, &seen);
	for (size_t length = 0; length <= LIMIT; length = next_length(length)) {
		px_test_fill(data, length, (uint32_t)length);
		posix_trace_event(outer, data, length);
		expect_data(large, buffer, length, POSIX_TRACE_NOT_TRUNCATED);
		nr_lengths++;
	}
	ck_assert_uint_gt(nr_lengths, 4000);
	px_test_fill(data, LIMIT, LIMIT);
	posix_trace_event(outer, data, LIMIT);
	expect_data(large, buffer, LIMIT, POSIX_TRACE_NOT_TRUNCATED);
	free(data);
	free(buffer);
}
END_TEST

/* EVENT-4 SETMDS-1 INFO-6: the library does not read the data beyond the limit */
START_TEST(event_longer_than_the_limit_is_cut)
{
	static const size_t limits[] = {1, 15, 16, 17, 71, 72, 73, 256, 1000};
	size_t page = (size_t)sysconf(_SC_PAGESIZE);
	unsigned char *end = guarded_page(page) + page;

	for (size_t i = 0; i < PX_ARRAY_SIZE(limits); i++) {
		struct px_test_stream wanted = {.max_data = limits[i], .nr_rings = 1};
		size_t lengths[] = {limits[i], limits[i] + 1, 2 * limits[i] + 56, INT_MAX,
				    SIZE_MAX};
		trace_id_t limited = px_test_create(&wanted);

		ok(posix_trace_start(limited));
		px_test_expect(limited, POSIX_TRACE_START, &seen);
		px_test_fill(end - limits[i], limits[i], 3);
		posix_trace_stop(stream);
		for (size_t k = 0; k < PX_ARRAY_SIZE(lengths); k++) {
			posix_trace_event(outer, end - limits[i], lengths[k]);
			px_test_expect(limited, outer, &seen);
			ck_assert_uint_eq(seen.length, limits[i]);
			ck_assert(px_test_is_filled(seen.data, seen.length, 3));
			ck_assert_int_eq(seen.info.posix_truncation_status,
					 k == 0 ? POSIX_TRACE_NOT_TRUNCATED :
						  POSIX_TRACE_TRUNCATED_RECORD);
		}
		ok(posix_trace_shutdown(limited));
	}
}
END_TEST

/* SETMDS-2 EVENT-4 SYSEV-5 SYSEV-6: the limit applies only to user data */
START_TEST(event_limit_of_zero_cuts_all_user_data)
{
	trace_attr_t attr;
	trace_id_t none;

	ok(posix_trace_attr_init(&attr));
	ok(posix_trace_attr_setmaxdatasize(&attr, 0));
	ok(posix_trace_create(0, &attr, &none));
	ok(posix_trace_start(none));
	px_test_trace(outer, 1);
	posix_trace_event(outer, NULL, 0);
	px_test_expect(none, POSIX_TRACE_START, &seen);
	ck_assert_uint_eq(seen.length, sizeof(trace_event_set_t));
	ck_assert_int_eq(seen.info.posix_truncation_status, POSIX_TRACE_NOT_TRUNCATED);
	px_test_expect(none, outer, &seen);
	ck_assert_uint_eq(seen.length, 0);
	ck_assert_int_eq(seen.info.posix_truncation_status, POSIX_TRACE_TRUNCATED_RECORD);
	px_test_expect(none, outer, &seen);
	ck_assert_int_eq(seen.info.posix_truncation_status, POSIX_TRACE_NOT_TRUNCATED);
}
END_TEST

/* Several streams. */

/* MULTI-1 MODEL-2 EVENT-4: each stream has its own limit, filter, state and room */
START_TEST(event_each_stream_applies_its_own_attributes)
{
	const struct px_test_stream wide = {.max_data = 1024, .nr_rings = 1};
	const struct px_test_stream narrow = {.max_data = 4, .nr_rings = 1};
	trace_id_t streams[] = {px_test_create(&wide), px_test_create(&narrow),
				px_test_create(&one_ring), px_test_create(&one_ring)};
	trace_event_set_t set;
	char data[1024];

	ok(posix_trace_eventset_empty(&set));
	ok(posix_trace_eventset_add(outer, &set));
	ok(posix_trace_set_filter(streams[2], &set, POSIX_TRACE_SET_EVENTSET));
	for (int i = 0; i < 3; i++) {
		ok(posix_trace_start(streams[i]));
		px_test_expect(streams[i], POSIX_TRACE_START, &seen);
	}
	px_test_fill(data, sizeof(data), 9);
	posix_trace_event(outer, data, sizeof(data));
	px_test_expect(streams[0], outer, &seen);
	ck_assert_uint_eq(seen.length, 1024);
	ck_assert_int_eq(seen.info.posix_truncation_status, POSIX_TRACE_NOT_TRUNCATED);
	ck_assert(px_test_is_filled(seen.data, seen.length, 9));
	px_test_expect(streams[1], outer, &seen);
	ck_assert_uint_eq(seen.length, 4);
	ck_assert_int_eq(seen.info.posix_truncation_status, POSIX_TRACE_TRUNCATED_RECORD);
	px_test_expect(streams[2], 0, &seen);
	px_test_expect(streams[3], 0, &seen);
	px_test_expect(stream, outer, &seen);
	ck_assert_uint_eq(seen.length, 256); /* the default */

	px_test_trace(inner, 5);
	for (int i = 0; i < 3; i++)
		expect_number(streams[i], inner, 5);
	px_test_expect(streams[3], 0, &seen);
}
END_TEST

/* MODEL-3 MULTI-1 */
START_TEST(event_full_stream_loses_it_alone)
{
	const struct px_test_stream small = {
		.policy = POSIX_TRACE_UNTIL_FULL, .size = 1, .nr_rings = 1};
	trace_id_t full = px_test_create(&small);
	struct txtrace_loss loss;
	uint32_t recorded = 0;

	ok(posix_trace_start(full));
	for (uint32_t i = 0; i < 200; i++)
		px_test_trace(outer, i);
	for (uint32_t i = 0; i < 200; i++)
		expect_number(stream, outer, i);
	ck_assert_int_eq(px_test_status(stream).posix_stream_overrun_status,
			 POSIX_TRACE_NO_OVERRUN);
	ck_assert_int_eq(px_test_status(full).posix_stream_overrun_status, POSIX_TRACE_OVERRUN);
	px_test_expect(full, POSIX_TRACE_START, &seen);
	while (px_test_take(full, &seen) == outer)
		ck_assert_uint_eq(px_test_number(&seen), recorded++);
	ok(txtrace_get_loss(full, &loss));
	ck_assert_uint_gt(loss.dropped, 0);
	ck_assert_uint_eq(recorded + loss.dropped, 200);
}
END_TEST

/* MODEL-2 MODEL-7 MULTI-1 */
START_TEST(event_as_many_streams_as_can_be_all_record_it)
{
	const struct px_test_stream small = {.size = 1, .nr_rings = 1};
	trace_id_t streams[TRACE_SYS_MAX - 1];

	for (size_t i = 0; i < PX_ARRAY_SIZE(streams); i++) {
		streams[i] = px_test_create(&small);
		ok(posix_trace_start(streams[i]));
	}
	px_test_trace(outer, 77);
	for (size_t i = 0; i < PX_ARRAY_SIZE(streams); i++) {
		px_test_expect(streams[i], POSIX_TRACE_START, &seen);
		expect_number(streams[i], outer, 77);
		px_test_expect(streams[i], 0, &seen);
	}
	expect_number(stream, outer, 77);
}
END_TEST

/* The thread, the address and the time of an event. */

struct identity {
	pthread_t thread;
	pid_t process;
};

static void *trace_as_thread(void *argument)
{
	struct identity *identity = argument;

	identity->thread = pthread_self();
	identity->process = getpid();
	px_test_trace(outer, 1);
	return NULL;
}

/* EVENT-10 INFO-2 INFO-9 */
START_TEST(event_info_tells_process_and_thread)
{
	struct identity identity;
	pthread_t thread;

	pthread_create(&thread, NULL, trace_as_thread, &identity);
	pthread_join(thread, NULL);
	px_test_trace(inner, 2);
	expect_number(stream, outer, 1);
	ck_assert_int_eq(seen.info.posix_pid, identity.process);
	ck_assert(pthread_equal(seen.info.posix_thread_id, identity.thread));
	expect_number(stream, inner, 2);
	ck_assert_int_eq(seen.info.posix_pid, getpid());
	ck_assert(pthread_equal(seen.info.posix_thread_id, pthread_self()));
}
END_TEST

/* INFO-2 INFO-3 INFO-4 INFO-9: if the traced process calls a control function, the event names the calling thread */
START_TEST(event_info_of_control_calls_tells_the_caller)
{
	trace_event_set_t set;

	ok(posix_trace_eventset_empty(&set));
	ok(posix_trace_set_filter(stream, &set, POSIX_TRACE_SET_EVENTSET));
	ok(posix_trace_stop(stream));
	ok(posix_trace_start(stream));
	for (int i = 0; i < 3; i++) {
		static const trace_event_id_t types[] = {POSIX_TRACE_FILTER, POSIX_TRACE_STOP,
							 POSIX_TRACE_START};

		px_test_expect(stream, types[i], &seen);
		ck_assert_int_eq(seen.info.posix_pid, getpid());
		ck_assert(pthread_equal(seen.info.posix_thread_id, pthread_self()));
		ck_assert_ptr_nonnull(seen.info.posix_prog_address);
	}
}
END_TEST

/* Each of these functions has a section of its own, so that the test knows where its code begins and ends. */
#if defined __clang__
#define IS_ONE_FUNCTION noinline
#else
#define IS_ONE_FUNCTION noinline, noclone
#endif
#define CALLER(name)                                                                               \
	extern const char __start_of_##name[], __stop_of_##name[];                                 \
	__attribute__((IS_ONE_FUNCTION, section("of_" #name))) static void name(void)
#define END_OF_CALLER __asm__ __volatile__("") /* no tail call */

CALLER(caller_by_macro)
{
	posix_trace_event(outer, NULL, 0);
	END_OF_CALLER;
}

CALLER(caller_of_function)
{
	(posix_trace_event)(outer, NULL, 0);
	END_OF_CALLER;
}

CALLER(caller_by_pointer)
{
	void (*volatile pointer)(trace_event_id_t, const void *, size_t) = posix_trace_event;

	pointer(outer, NULL, 0);
	END_OF_CALLER;
}

CALLER(caller_of_start)
{
	posix_trace_start(stream);
	END_OF_CALLER;
}

CALLER(caller_of_stop)
{
	posix_trace_stop(stream);
	END_OF_CALLER;
}

CALLER(caller_of_set_filter)
{
	trace_event_set_t set;

	posix_trace_eventset_empty(&set);
	posix_trace_set_filter(stream, &set, POSIX_TRACE_SET_EVENTSET);
	END_OF_CALLER;
}

CALLER(caller_twice)
{
	posix_trace_event(outer, NULL, 0);
	posix_trace_event(outer, NULL, 0);
	END_OF_CALLER;
}

static const char *address_of_next(trace_event_id_t type)
{
	px_test_expect(stream, type, &seen);
	return seen.info.posix_prog_address;
}

#define expect_address_in(name, type)                                                              \
	do {                                                                                       \
		const char *address;                                                               \
                                                                                                   \
		name();                                                                            \
		address = address_of_next(type);                                                   \
		ck_assert(address > __start_of_##name && address <= __stop_of_##name);             \
	} while (0)

/* EVENT-10 INFO-4 INFO-5 */
START_TEST(event_address_is_in_the_calling_function)
{
	expect_address_in(caller_by_macro, outer);
	expect_address_in(caller_of_function, outer);
	expect_address_in(caller_by_pointer, outer);
}
END_TEST

/* INFO-4 */
START_TEST(event_address_of_control_calls_is_in_the_calling_function)
{
	expect_address_in(caller_of_set_filter, POSIX_TRACE_FILTER);
	expect_address_in(caller_of_stop, POSIX_TRACE_STOP);
	expect_address_in(caller_of_start, POSIX_TRACE_START);
}
END_TEST

/* INFO-5: two calls in a row have two addresses; each address is that of the instruction after the call */
START_TEST(event_address_is_behind_the_call)
{
	const unsigned char *first, *second;

	caller_twice();
	first = (const unsigned char *)address_of_next(outer);
	second = (const unsigned char *)address_of_next(outer);
	ck_assert_ptr_ne(first, second);
	ck_assert((const char *)first > __start_of_caller_twice);
	ck_assert((const char *)second <= __stop_of_caller_twice);
#if defined __x86_64__
	/* call rel32, or a call through memory, whichever the linker makes here */
	ck_assert(first[-5] == 0xe8 || first[-6] == 0xff);
	ck_assert(second[-5] == 0xe8 || second[-6] == 0xff);
#endif
}
END_TEST

static uint64_t realtime_ns(void)
{
	struct timespec now;

	clock_gettime(CLOCK_REALTIME, &now);
	return px_test_ns(now);
}

/* INFO-7 INFO-8: 1 ms: the clocks may drift apart by this much meanwhile */
START_TEST(event_timestamp_is_on_the_realtime_scale)
{
	enum { SLACK_NS = 1000000, NR_EVENTS = 200 };
	uint64_t before[NR_EVENTS], after[NR_EVENTS], last = 0;

	for (uint32_t i = 0; i < NR_EVENTS; i++) {
		before[i] = realtime_ns();
		px_test_trace(outer, i);
		after[i] = realtime_ns();
		if (i % 20 == 0)
			sleep_ms(1);
	}
	for (uint32_t i = 0; i < NR_EVENTS; i++) {
		uint64_t at;

		expect_number(stream, outer, i);
		at = px_test_ns(seen.info.posix_timestamp);
		ck_assert_uint_lt(seen.info.posix_timestamp.tv_nsec, 1000000000);
		ck_assert_uint_ge(at + SLACK_NS, before[i]);
		ck_assert_uint_le(at, after[i] + SLACK_NS);
		ck_assert_uint_ge(at, last);
		last = at;
	}
}
END_TEST

/* Order. */

#define NR_THREADS 4
#define NR_EACH 3000

static void *trace_numbers(void *argument)
{
	uint32_t first = *(const uint32_t *)argument;

	for (uint32_t i = 0; i < NR_EACH; i++) {
		px_test_trace(outer, first + i);
		if (i % 64 == 0)
			sched_yield();
	}
	return NULL;
}

/* EVENT-1 EVENT-11 GEN-3 GETNEXT-9 */
START_TEST(event_of_many_threads_are_all_recorded_in_program_order)
{
	const struct px_test_stream large = {.policy = POSIX_TRACE_UNTIL_FULL, .size = 4 << 20};
	trace_id_t merged = px_test_create(&large);
	uint32_t first[NR_THREADS], next[NR_THREADS];
	pthread_t threads[NR_THREADS];
	uint64_t last = 0;

	ok(posix_trace_start(merged));
	for (uint32_t i = 0; i < NR_THREADS; i++) {
		first[i] = next[i] = i * NR_EACH;
		pthread_create(&threads[i], NULL, trace_numbers, &first[i]);
	}
	for (int i = 0; i < NR_THREADS; i++)
		pthread_join(threads[i], NULL);
	px_test_expect(merged, POSIX_TRACE_START, &seen);
	for (int i = 0; i < NR_THREADS * NR_EACH; i++) {
		uint32_t number, thread;

		px_test_expect(merged, outer, &seen);
		number = px_test_number(&seen);
		thread = number / NR_EACH;
		ck_assert_uint_lt(thread, NR_THREADS);
		ck_assert_uint_eq(number, next[thread]++);
		ck_assert(pthread_equal(seen.info.posix_thread_id, threads[thread]));
		ck_assert_uint_ge(px_test_ns(seen.info.posix_timestamp), last);
		last = px_test_ns(seen.info.posix_timestamp);
	}
	px_test_expect(merged, 0, &seen);
}
END_TEST

static bool pin_to(int nth)
{
	static cpu_set_t allowed;
	static bool is_known;
	cpu_set_t one;

	if (!is_known) {
		sched_getaffinity(0, sizeof(allowed), &allowed);
		is_known = true;
	}
	for (int cpu = 0; cpu < CPU_SETSIZE; cpu++) {
		if (!CPU_ISSET(cpu, &allowed) || nth-- > 0)
			continue;
		CPU_ZERO(&one);
		CPU_SET(cpu, &one);
		return sched_setaffinity(0, sizeof(one), &one) == 0;
	}
	return false;
}

/* EVENT-11 GETNEXT-9: a thread moves to another ring for each event */
START_TEST(event_of_a_migrating_thread_keep_their_order)
{
	trace_id_t merged = px_test_create(&(struct px_test_stream){.nr_rings = 0});
	uint32_t number = 0;

	if (!pin_to(1)) {
		px_test_skip("one CPU, so a thread cannot migrate");
		return;
	}
	ok(posix_trace_start(merged));
	for (int i = 0; i < 200; i++) {
		ck_assert(pin_to(i % 2));
		px_test_trace(outer, number++);
	}
	px_test_expect(merged, POSIX_TRACE_START, &seen);
	for (uint32_t i = 0; i < number; i++)
		expect_number(merged, outer, i);
}
END_TEST

#define NR_TURNS 2000

static uint32_t turn;

static void *take_turns(void *argument)
{
	uint32_t mine = *(const uint32_t *)argument;

	pin_to((int)mine);
	for (uint32_t i = mine; i < NR_TURNS; i += 2) {
		while (px_load_acquire(&turn) != i)
			sched_yield();
		px_test_trace(outer, i);
		px_store_release(&turn, i + 1);
	}
	return NULL;
}

/*
 * EVENT-11 GETNEXT-9: if a program orders events by other means, the reader returns them in this order, even from
 * different rings
 */
START_TEST(event_of_threads_that_take_turns_are_in_their_order)
{
	trace_id_t merged = px_test_create(&(struct px_test_stream){.size = 1 << 20});
	uint32_t mine[2] = {0, 1};
	pthread_t threads[2];

	pin_to(0); /* before other threads exist, because the thread now learns what it may do */
	ok(posix_trace_start(merged));
	for (int i = 0; i < 2; i++)
		pthread_create(&threads[i], NULL, take_turns, &mine[i]);
	for (int i = 0; i < 2; i++)
		pthread_join(threads[i], NULL);
	px_test_expect(merged, POSIX_TRACE_START, &seen);
	for (uint32_t i = 0; i < NR_TURNS; i++)
		expect_number(merged, outer, i);
}
END_TEST

/* The call changes no register or state of the thread. */

/* EVENT-9 GEN-2 */
START_TEST(event_keeps_errno_in_every_state)
{
	const struct px_test_stream small = {
		.policy = POSIX_TRACE_UNTIL_FULL, .size = 1, .nr_rings = 1};
	trace_id_t full = px_test_create(&small);

	ok(posix_trace_start(full));
	for (int i = 0; i < 500; i++) { /* it fills one stream, but not the other */
		errno = STRANGE_ERRNO;
		posix_trace_event(outer, "some bytes", (size_t)(i % 10));
		ck_assert_int_eq(errno, STRANGE_ERRNO);
	}
	ok(posix_trace_stop(stream));
	ok(posix_trace_shutdown(full));
	errno = STRANGE_ERRNO;
	posix_trace_event(outer, NULL, 0);
	ck_assert_int_eq(errno, STRANGE_ERRNO);
	ok(posix_trace_shutdown(stream));
	(posix_trace_event)(outer, NULL, 0);
	ck_assert_int_eq(errno, STRANGE_ERRNO);
}
END_TEST

static void *first_event_of_thread(void *kept)
{
	/*
	 * A new thread makes system calls when it registers itself.  One of them fails, because the descriptor is
	 * closed.
	 */
	errno = STRANGE_ERRNO;
	px_test_trace(outer, 1);
	*(bool *)kept = errno == STRANGE_ERRNO;
	return NULL;
}

/* EVENT-9 */
START_TEST(event_first_of_a_thread_keeps_errno)
{
	bool kept = false;
	pthread_t thread;

	pthread_create(&thread, NULL, first_event_of_thread, &kept);
	pthread_join(thread, NULL);
	ck_assert(kept);
	expect_number(stream, outer, 1);
}
END_TEST

/* EVENT-8: the library allocates no memory, even for the first event of a thread or for a large event */
START_TEST(event_allocates_nothing)
{
	size_t before, after;
	char data[256] = "";

	if (!px_test_heap(&before)) {
		px_test_skip("the C library does not count its heap");
		return;
	}
	for (size_t i = 0; i < 1000; i++)
		posix_trace_event(outer, data, i % sizeof(data));
	px_test_heap(&after);
	ck_assert_uint_eq(before, after);
}
END_TEST

/* A hook that stops one thread at one test point until the test releases the thread. */
static const char *stuck_at;
static pthread_t stuck_thread;
static sem_t is_stuck, may_go;

static void get_stuck(const char *name)
{
	if (!pthread_equal(pthread_self(), stuck_thread) || !stuck_at ||
	    strcmp(name, stuck_at) != 0)
		return;
	stuck_at = NULL;
	sem_post(&is_stuck);
	while (sem_wait(&may_go) != 0)
		;
}

static void *trace_and_get_stuck(void *unused)
{
	(void)unused;
	stuck_thread = pthread_self();
	px_store_release(&px_testpoint_hook, get_stuck);
	posix_trace_event(outer, "0123456789abcdefghij", 20);
	return NULL;
}

static pthread_t start_stuck(const char *point)
{
	pthread_t thread;

	sem_init(&is_stuck, 0, 0);
	sem_init(&may_go, 0, 0);
	stuck_at = point;
	pthread_create(&thread, NULL, trace_and_get_stuck, NULL);
	while (sem_wait(&is_stuck) != 0)
		;
	return thread;
}

static const char *const writer_points[] = {
	"point.state.loaded", "ring.reserve.loaded", "ring.reserve.done", "ring.claim.loaded",
	"ring.claim.done",    "record.write.first",  "record.write.more", "ring.commit.more",
	"ring.commit.ready",  "ring.commit.done",
};

/* EVENT-8: lock-free: a thread that stops anywhere in a record stops no other thread */
START_TEST(event_does_not_wait_for_a_thread_stuck_in_another)
{
	pthread_t thread = start_stuck(writer_points[_i]);
	bool came = false;

	for (uint32_t i = 0; i < 100; i++)
		px_test_trace(inner, i);
	sem_post(&may_go);
	pthread_join(thread, NULL);
	px_store_release(&px_testpoint_hook, NULL);
	for (uint32_t next = 0; next < 100 || !came;) {
		trace_event_id_t type = px_test_take(stream, &seen);

		if (type == inner) {
			ck_assert_uint_eq(px_test_number(&seen), next++);
			continue;
		}
		ck_assert_uint_eq(type, outer);
		ck_assert_uint_eq(seen.length, 20);
		came = true;
	}
	px_test_expect(stream, 0, &seen);
}
END_TEST

/* In handlers. */

/*
 * The operations that a handler's trace point interrupts.  They change `stream`.  None of them touches `witness`, so
 * `witness` must afterwards have each event of the handler, complete and in order.
 */
static trace_id_t witness;
static uint32_t handled; /* number of events that handlers have recorded */
static uint32_t verified;
static char inner_data[40];

static void trace_in_handler(void)
{
	int saved_errno = errno;

	errno = STRANGE_ERRNO;
	px_test_fill(inner_data, sizeof(inner_data), handled++);
	posix_trace_event(inner, inner_data, sizeof(inner_data));
	if (errno != STRANGE_ERRNO)
		abort();
	errno = saved_errno;
}

/* The events that handlers recorded since the last call; more events may follow. */
static void read_witness(const char *name)
{
	trace_event_id_t type;

	while ((type = px_test_take(witness, &seen)) != 0) {
		if (type != inner)
			continue;
		ck_assert_msg(seen.length == sizeof(inner_data) &&
				      px_test_is_filled(seen.data, seen.length, verified),
			      "%s: event %u of the handler is not whole", name, verified);
		verified++;
	}
}

static void verify_witness(const char *name)
{
	read_witness(name);
	ck_assert_msg(verified == handled, "%s: %u of %u events of the handler came", name,
		      verified, handled);
}

/* Expect that all events that are left in the stream are complete and in order. */
static void drain_stream(void)
{
	trace_event_id_t type;

	while ((type = px_test_take(stream, &seen)) != 0)
		if (type == inner)
			ck_assert_uint_eq(seen.length, sizeof(inner_data));
}

static void do_event(void)
{
	px_test_trace(outer, 1);
}

static void do_large_event(void)
{
	static const char data[200];

	posix_trace_event(outer, data, sizeof(data));
}

static void do_eventid_open(void)
{
	static unsigned int serial;
	trace_event_id_t id;
	char name[32];

	snprintf(name, sizeof(name), "type %u", serial++ % 900);
	posix_trace_eventid_open(name, &id);
}

static void do_trid_eventid_open(void)
{
	trace_event_id_t id;

	posix_trace_trid_eventid_open(stream, "by the controller", &id);
}

static void do_names_and_types(void)
{
	char name[TRACE_EVENT_NAME_MAX + 1];
	trace_event_id_t id;
	int unavailable;

	posix_trace_eventid_get_name(stream, outer, name);
	posix_trace_eventid_equal(stream, outer, inner);
	posix_trace_eventtypelist_getnext_id(stream, &id, &unavailable);
	posix_trace_eventtypelist_rewind(stream);
}

static void do_start(void)
{
	posix_trace_stop(stream);
	posix_trace_start(stream);
}

static void do_clear(void)
{
	posix_trace_clear(stream);
}

static void do_status(void)
{
	struct posix_trace_status_info status;
	trace_attr_t attr;

	posix_trace_get_status(stream, &status);
	posix_trace_get_attr(stream, &attr);
}

static void do_filter(void)
{
	trace_event_set_t set;

	posix_trace_get_filter(stream, &set);
	posix_trace_set_filter(stream, &set, POSIX_TRACE_SET_EVENTSET);
}

static void do_attributes(void)
{
	trace_event_set_t set;
	trace_attr_t attr;
	int is_member;

	posix_trace_attr_init(&attr);
	posix_trace_attr_setname(&attr, "name");
	posix_trace_attr_destroy(&attr);
	posix_trace_eventset_fill(&set, POSIX_TRACE_SYSTEM_EVENTS);
	posix_trace_eventset_add(outer, &set);
	posix_trace_eventset_del(outer, &set);
	posix_trace_eventset_ismember(outer, &set, &is_member);
}

static void do_trygetnext(void)
{
	px_test_take(stream, &seen);
}

static void do_getnext(void)
{
	struct posix_trace_event_info info;
	struct timespec past = {0, 0};
	size_t length;
	int unavailable;

	px_test_trace(outer, 2);
	posix_trace_getnext_event(stream, &info, NULL, 0, &length, &unavailable);
	posix_trace_timedgetnext_event(stream, &info, NULL, 0, &length, &unavailable, &past);
}

static void do_create(void)
{
	const struct px_test_stream small = {.size = 1, .nr_rings = 1};
	trace_id_t another = px_test_create(&small);

	posix_trace_start(another);
	px_test_trace(outer, 3);
	posix_trace_shutdown(another);
}

static void do_extensions(void)
{
	static char image[1 << 20];
	struct txtrace_loss loss;
	double tick_ns;
	size_t length;

	txtrace_get_loss(stream, &loss);
	txtrace_copy_ring(stream, 0, image, sizeof(image), &length, &tick_ns);
}

static const struct operation {
	const char *name;
	void (*run)(void);
	bool has_points; /* test points */
} operations[] = {
	{"event", do_event, true},
	{"large event", do_large_event, true},
	{"eventid_open", do_eventid_open, true},
	{"trid_eventid_open", do_trid_eventid_open, false},
	{"names and types", do_names_and_types, false},
	{"stop and start", do_start, true},
	{"clear", do_clear, true},
	{"get_status and get_attr", do_status, false},
	{"get_filter and set_filter", do_filter, true},
	{"attributes and sets", do_attributes, false},
	{"trygetnext", do_trygetnext, true},
	{"getnext and timedgetnext", do_getnext, true},
	{"create and shutdown", do_create, true},
	{"extensions", do_extensions, false},
};

static void create_witness(void)
{
	witness = px_test_create(&(struct px_test_stream){.size = 4 << 20, .nr_rings = 1});
	ok(posix_trace_start(witness));
}

static void on_signal(int unused)
{
	(void)unused;
	trace_in_handler();
}

static void handle(int signal, int flags, void (*handler)(int))
{
	struct sigaction action = {.sa_handler = handler, .sa_flags = flags};

	sigemptyset(&action.sa_mask);
	ck_assert_int_eq(sigaction(signal, &action, NULL), 0);
}

static unsigned int raises_left;
static __thread bool is_raising;

/* The test points inside the handler raise no signal. */
static void raise_here(const char *unused)
{
	(void)unused;
	if (is_raising || raises_left == 0)
		return;
	is_raising = true;
	raises_left--;
	raise(SIGUSR1);
	is_raising = false;
}

/* EVENT-7 GEN-4 SIG-1 */
START_TEST(event_in_a_handler_at_every_test_point_is_recorded)
{
	const struct operation *operation = &operations[_i];

	create_witness();
	handle(SIGUSR1, 0, on_signal);
	for (int round = 0; round < 20; round++) {
		raises_left = 200;
		px_store_release(&px_testpoint_hook, raise_here);
		operation->run();
		px_store_release(&px_testpoint_hook, NULL);
		verify_witness(operation->name);
		drain_stream();
	}
	ck_assert_msg(handled > 0 || !operation->has_points, "%s: no test point was met",
		      operation->name);
}
END_TEST

#if defined __x86_64__

/*
 * Single steps: while the trap flag is set, the kernel sends SIGTRAP after each instruction.  The handler records an
 * event at every 64th instruction.  After many events, it records fewer and fewer, because a loop that repeats due to
 * the handler's event must be able to end.
 */
#define STEP_PAUSE 64
#define STEPS_MAX 25000
#define TRAP_FLAG 0x100

static unsigned long nr_steps, next_step, step_pause;

static void on_step(int signal, siginfo_t *info, void *context)
{
	ucontext_t *interrupted = context;

	(void)signal;
	(void)info;
	if (nr_steps > STEPS_MAX)
		interrupted->uc_mcontext.gregs[REG_EFL] &= ~TRAP_FLAG; /* a long event, whose steps are enough */
	if (nr_steps++ != next_step)
		return;
	if (next_step > 100000)
		step_pause *= 2;
	next_step += step_pause;
	trace_in_handler();
}

__attribute__((noinline)) static void set_trap_flag(void)
{
	__asm__ __volatile__("pushfq\n\torq $0x100, (%%rsp)\n\tpopfq" : : : "memory", "cc");
}

__attribute__((noinline)) static void clear_trap_flag(void)
{
	__asm__ __volatile__("pushfq\n\tandq $~0x100, (%%rsp)\n\tpopfq" : : : "memory", "cc");
}

static void run_in_steps(const struct operation *operation, unsigned long first)
{
	nr_steps = 0;
	next_step = first;
	step_pause = STEP_PAUSE;
	set_trap_flag();
	operation->run();
	clear_trap_flag();
}

/*
 * EVENT-7 GEN-4 SIG-1: 64 runs reach every instruction.  Where signals are slow, each run reaches other instructions.
 */
START_TEST(event_in_a_handler_at_every_instruction_is_recorded)
{
	enum { ENOUGH_NS = 300000000 };
	struct sigaction action = {.sa_sigaction = on_step, .sa_flags = SA_SIGINFO};
	const struct operation *operation = &operations[_i];
	uint64_t seed, begin;

	if (PX_IS_SANITIZED) {
		px_test_skip("a sanitizer defers signal handlers");
		return;
	}
	seed = test_seed();
	create_witness();
	operation->run(); /* steps that happen only once */
	sigemptyset(&action.sa_mask);
	ck_assert_int_eq(sigaction(SIGTRAP, &action, NULL), 0);
	begin = monotonic_ns();
	for (unsigned long i = 0; i < STEP_PAUSE; i++) {
		run_in_steps(operation, (seed + 25 * i) % STEP_PAUSE);
		verify_witness(operation->name);
		drain_stream();
		if (monotonic_ns() - begin > ENOUGH_NS)
			break;
	}
	ck_assert_uint_gt(nr_steps, STEP_PAUSE);
	ck_assert_uint_gt(handled, 0);
}
END_TEST

#endif

/* EVENT-7 GEN-4 SIG-1: at any instruction, also in the kernel and in the C library */
START_TEST(event_in_a_timers_handler_is_recorded)
{
	const struct itimerval every = {{0, 60}, {0, 60}}, never = {{0, 0}, {0, 0}};
	const struct operation *operation = &operations[_i];
	uint32_t wanted = 200, nr_runs = 0;

	create_witness();
	handle(SIGALRM, SA_RESTART, on_signal);
	ck_assert_int_eq(setitimer(ITIMER_REAL, &every, NULL), 0);
	while (px_read_once(&handled) < wanted) {
		operation->run();
		if (++nr_runs % 1000 == 0)
			read_witness(operation->name); /* before it laps */
	}
	ck_assert_int_eq(setitimer(ITIMER_REAL, &never, NULL), 0);
	verify_witness(operation->name);
}
END_TEST

#define DEPTH 4

static uint32_t depth;
static bool raised[DEPTH];
static const char *raise_point;
static unsigned char nested_data[DEPTH][100];

static void raise_deeper(const char *name)
{
	if (depth + 1 >= DEPTH || raised[depth] || strcmp(name, raise_point) != 0)
		return;
	raised[depth] = true;
	raise(SIGUSR1);
}

/* The deeper the nesting, the shorter the event. */
static size_t nested_length(uint32_t level)
{
	return sizeof(nested_data[0]) - 30 * level;
}

static void trace_nested(void)
{
	px_test_fill(nested_data[depth], nested_length(depth), depth);
	posix_trace_event(depth == 0 ? outer : inner, nested_data[depth], nested_length(depth));
}

static void on_nested_signal(int unused)
{
	(void)unused;
	depth++;
	trace_nested();
	depth--;
}

/* EVENT-7: a trace point interrupts another one, and a third one interrupts the second */
START_TEST(event_nested_in_itself_is_recorded_at_all_depths)
{
	if (PX_IS_SANITIZED) {
		px_test_skip("a sanitizer does not let a signal into its own handler");
		return;
	}
	handle(SIGUSR1, SA_NODEFER, on_nested_signal);
	raise_point = writer_points[_i];
	for (int round = 0; round < 50; round++) {
		unsigned int came = 0;

		memset(raised, 0, sizeof(raised));
		px_store_release(&px_testpoint_hook, raise_deeper);
		trace_nested();
		px_store_release(&px_testpoint_hook, NULL);
		for (trace_event_id_t type; (type = px_test_take(stream, &seen)) != 0;) {
			uint32_t level = (uint32_t)(sizeof(nested_data[0]) - seen.length) / 30;

			ck_assert_uint_lt(level, DEPTH);
			ck_assert_uint_eq(type, level == 0 ? outer : inner);
			ck_assert_uint_eq(seen.length, nested_length(level));
			ck_assert(px_test_is_filled(seen.data, seen.length, level));
			came |= 1u << level;
		}
		/* The innermost event has almost one slot more, and no test point inside several slots. */
		ck_assert_uint_eq(came | 1u << (DEPTH - 1), (1u << DEPTH) - 1);
	}
}
END_TEST

static uint32_t nr_inner;

static void on_flood_signal(int unused)
{
	(void)unused;
	for (uint32_t i = 0; i < nr_inner; i++)
		px_test_trace(inner, i);
}

static void raise_signal(void)
{
	raise(SIGUSR1);
}

/* EVENT-7 EVENT-8 LOOP-2: the handler fills the ring once, up to the record that it interrupts */
static void lap_from_a_handler(const char *point)
{
	static const char data[200];
	const struct px_test_stream small = {.size = 1, .nr_rings = 1};
	uint32_t reported = 0, nr_outer = 0, last = 0;
	bool has_last = false;
	struct txtrace_loss loss;
	trace_event_id_t type;
	trace_id_t ring;

	ok(posix_trace_shutdown(stream)); /* the hook runs in one stream only */
	ring = px_test_create(&small);
	ok(posix_trace_start(ring));
	px_test_expect(ring, POSIX_TRACE_START, &seen);
	handle(SIGUSR1, 0, on_flood_signal);
	nr_inner = 1000;
	px_test_at_point(point, raise_signal);
	posix_trace_event(outer, data, sizeof(data));
	px_test_trace(outer, 12345); /* the ring goes on */
	while ((type = px_test_take(ring, &seen)) != 0) {
		if (type == inner) {
			ck_assert(!has_last || px_test_number(&seen) > last);
			last = px_test_number(&seen);
			has_last = true;
			reported++;
		}
		nr_outer += type == outer;
	}
	ck_assert_uint_ge(nr_outer, 1);
	ck_assert(has_last);
	ck_assert_int_eq(px_test_status(ring).posix_stream_overrun_status, POSIX_TRACE_OVERRUN);
	ok(txtrace_get_loss(ring, &loss));
	/* Slots that writers gave up also count as overwritten: the count is never below the number of lost events. */
	ck_assert_msg(
		reported + nr_outer + loss.overwritten + loss.dropped + loss.abandoned >=
			nr_inner + 2,
		"%s: %u events of the handler and %u others came, %llu were overwritten, %llu "
		"dropped, %llu abandoned",
		point, reported, nr_outer, loss.overwritten, loss.dropped, loss.abandoned);
}

START_TEST(event_handler_that_laps_its_record_loses_at_most_what_it_counts)
{
	lap_from_a_handler(writer_points[_i]);
}
END_TEST

/* The same where the library cannot find out whether a handler has interrupted a record, or has left it. */
START_TEST(event_handler_that_laps_its_record_where_no_stack_can_be_read_frees_no_running_record)
{
	if (!px_test_filter(SYS_process_vm_readv, SECCOMP_RET_ERRNO | ENOSYS)) {
		px_test_skip("no filters of system calls");
		return;
	}
	lap_from_a_handler(writer_points[_i]);
}
END_TEST

/* System calls. */

#define NR_SYSCALLS 1024

static unsigned long counted[NR_SYSCALLS];
static uint32_t phase_wanted, phase_done;
static pid_t ending_tid;
static void (*worker_work)(void);

static void on_system_call(int signal, siginfo_t *info, void *context)
{
	(void)signal;
	(void)context;
	counted[(unsigned int)info->si_syscall % NR_SYSCALLS]++;
}

/* From now on, each system call of this thread raises a signal instead, except three. */
static bool catch_system_calls(uint32_t allowed)
{
	struct sock_filter code[] = {
		BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_rt_sigreturn, 3, 0),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_exit, 2, 0),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, allowed, 1, 0),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_TRAP),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
	};
	struct sock_fprog program = {PX_ARRAY_SIZE(code), code};
	struct sigaction action = {.sa_sigaction = on_system_call, .sa_flags = SA_SIGINFO};

	sigemptyset(&action.sa_mask);
	return sigaction(SIGSYS, &action, NULL) == 0 &&
	       prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0 &&
	       syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, 0, &program) == 0;
}

/* Skip a test that observes system calls where that is not possible.  An emulator of system calls has no filters. */
static bool cannot_observe(const char *test)
{
	bool has_filters = prctl(PR_GET_SECCOMP, 0, 0, 0, 0) >= 0;

	if (PX_IS_SANITIZED)
		px_test_skip_in(test, "a sanitizer makes system calls");
	else if (!has_filters)
		px_test_skip_in(test, "no filters of system calls");
	return PX_IS_SANITIZED || !has_filters;
}

static void wait_for_phase(uint32_t phase)
{
	while (px_load_acquire(&phase_wanted) != phase)
		;
}

/* Phase 1: warm up, then switch on the observation.  Phase 2: do the observed work. */
static void *work_observed(void *allowed)
{
	ending_tid = gettid();
	px_test_trace(outer, 0);
	px_store_release(&phase_done,
			 catch_system_calls(*(const uint32_t *)allowed) ? 1 : UINT32_MAX);
	wait_for_phase(2);
	worker_work();
	px_store_release(&phase_done, 2);
	syscall(SYS_exit, 0); /* the thread may not make any other system call */
	return NULL;
}

/* Run the work in a thread that has recorded an event before.  This thread calls `between` between the two phases. */
static void observe(void (*between)(void), void (*work)(void), uint32_t allowed)
{
	pthread_t thread;

	worker_work = work;
	pthread_create(&thread, NULL, work_observed, &allowed);
	while (px_load_acquire(&phase_done) == 0)
		sched_yield();
	ck_assert_uint_eq(phase_done, 1);
	if (between)
		between();
	px_store_release(&phase_wanted, 2);
	px_test_await_end(ending_tid);
	ck_assert_uint_eq(px_load_acquire(&phase_done), 2);
}

static void expect_no_system_call(void)
{
	for (unsigned int i = 0; i < NR_SYSCALLS; i++)
		ck_assert_msg(counted[i] == 0, "system call %u was made %lu times", i, counted[i]);
}

static void trace_a_lot(void)
{
	static const char data[256];

	for (size_t i = 0; i < 5000; i++) {
		posix_trace_event(outer, data, i % sizeof(data));
		(posix_trace_event)(inner, NULL, 0);
	}
}

static void call_the_kernel(void)
{
	syscall(SYS_getppid);
}

static void stop_and_start(void)
{
	ok(posix_trace_stop(stream));
	ok(posix_trace_start(stream));
}

static void stop(void)
{
	ok(posix_trace_stop(stream));
}

static void filter_all(void)
{
	trace_event_set_t set;

	ok(posix_trace_eventset_fill(&set, POSIX_TRACE_ALL_EVENTS));
	ok(posix_trace_set_filter(stream, &set, POSIX_TRACE_SET_EVENTSET));
}

static void clear(void)
{
	ok(posix_trace_clear(stream));
}

static void shut_down(void)
{
	ok(posix_trace_shutdown(stream));
}

static void open_a_type(void)
{
	trace_event_id_t id;

	ok(posix_trace_eventid_open("yet another", &id));
}

static void read_it_empty(void)
{
	while (px_test_take(stream, &seen))
		;
}

/* EVENT-8: a control: the observation does count system calls */
START_TEST(event_system_calls_are_counted)
{
	if (cannot_observe(__func__))
		return;
	observe(NULL, call_the_kernel, SYS_exit);
	ck_assert_uint_eq(counted[SYS_getppid], 1);
}
END_TEST

static const struct {
	const char *name;
	struct px_test_stream wanted;
	void (*between)(void);
} quiet_cases[] = {
	{"a loop, from empty to full and on", {.size = 4096, .nr_rings = 1}, NULL},
	{"a loop, a ring for each CPU", {.size = 4096}, NULL},
	{"large events", {.max_data = 4096}, NULL},
	{"until full, and beyond", {.policy = POSIX_TRACE_UNTIL_FULL, .nr_rings = 1}, NULL},
	{"suspended", {.nr_rings = 1}, stop},
	{"stopped and started", {.nr_rings = 1}, stop_and_start},
	{"filtered", {.nr_rings = 1}, filter_all},
	{"cleared", {.nr_rings = 1}, clear},
	{"read empty", {.nr_rings = 1}, read_it_empty},
	{"after a new type", {.nr_rings = 1}, open_a_type},
	{"after the shutdown", {.nr_rings = 1}, shut_down},
};

/* EVENT-8 EVENT-2: no system call in any state of the stream */
START_TEST(event_makes_no_system_call)
{
	if (cannot_observe(__func__))
		return;
	ok(posix_trace_shutdown(stream));
	stream = px_test_create(&quiet_cases[_i].wanted);
	ok(posix_trace_start(stream));
	observe(quiet_cases[_i].between, trace_a_lot, SYS_exit);
	expect_no_system_call();
}
END_TEST

/* EVENT-8 MULTI-1 */
START_TEST(event_in_several_streams_makes_no_system_call)
{
	const struct px_test_stream bounded = {.policy = POSIX_TRACE_UNTIL_FULL};
	const struct px_test_stream small = {.size = 1, .max_data = 1, .nr_rings = 1};

	if (cannot_observe(__func__))
		return;
	ok(posix_trace_start(px_test_create(&bounded)));
	ok(posix_trace_start(px_test_create(&small)));
	px_test_create(&small);
	observe(NULL, trace_a_lot, SYS_exit);
	expect_no_system_call();
}
END_TEST

/* EVENT-8: if nothing was ever traced, even the first event of the thread makes no system call */
START_TEST(event_without_any_stream_makes_no_system_call)
{
	if (cannot_observe(__func__))
		return;
	ok(posix_trace_shutdown(stream));
	observe(NULL, trace_a_lot, SYS_exit);
	expect_no_system_call();
}
END_TEST

static void stream_of_another_process(void)
{
	pid_t child = fork();
	trace_id_t trid;
	int status;

	if (child == 0)
		_exit(posix_trace_create(0, NULL, &trid) || posix_trace_start(trid) ||
		      posix_trace_shutdown(trid));
	ck_assert_int_eq(waitpid(child, &status, 0), child);
	ck_assert_int_eq(status, 0);
}

/* EVENT-8: if other processes create and end their own streams, the thread need not call the kernel */
START_TEST(event_after_streams_of_other_processes_makes_no_system_call)
{
	if (cannot_observe(__func__))
		return;
	observe(stream_of_another_process, trace_a_lot, SYS_exit);
	expect_no_system_call();
}
END_TEST

#define NR_WOKEN 2000

static void trace_for_reader(void)
{
	for (uint32_t i = 0; i < NR_WOKEN; i++)
		px_test_trace(outer, i);
}

static void *read_for_ever(void *nr_read)
{
	struct posix_trace_event_info info;
	size_t length;
	int unavailable;

	while (posix_trace_getnext_event(stream, &info, NULL, 0, &length, &unavailable) == 0)
		px_fetch_add((uint32_t *)nr_read, 1);
	return NULL;
}

/* EVENT-8: the only system call of a trace point wakes a reader */
START_TEST(event_with_a_sleeping_reader_only_wakes_it)
{
	struct txtrace_loss loss;
	uint32_t nr_read = 0;
	pthread_t reader;

	if (cannot_observe(__func__))
		return;
	ok(posix_trace_shutdown(stream));
	stream = px_test_create(&(struct px_test_stream){.size = 1 << 20});
	pthread_create(&reader, NULL, read_for_ever, &nr_read);
	ok(posix_trace_start(stream));
	observe(NULL, trace_for_reader, PX_SYS_FUTEX);
	expect_no_system_call();
	do { /* START, the first event of the worker, and the other events */
		sched_yield();
		ok(txtrace_get_loss(stream, &loss));
	} while (px_load_acquire(&nr_read) + loss.abandoned < NR_WOKEN + 2);
	ok(posix_trace_shutdown(stream));
	pthread_join(reader, NULL);
}
END_TEST

/* Nothing traced. */

static uint32_t nr_points;

static void count_points(const char *unused)
{
	(void)unused;
	nr_points++;
}

static bool is_quiet(void)
{
	return __posix_trace_gate[0] == __posix_trace_gate[1];
}

/* EVENT-8 EVENT-2: the two words differ while a stream exists, and are equal if there is none */
START_TEST(event_gate_is_quiet_when_nothing_is_traced)
{
	trace_id_t another;

	ck_assert(!is_quiet());
	another = px_test_create(&one_ring);
	ok(posix_trace_shutdown(stream));
	ck_assert(!is_quiet());
	ok(posix_trace_shutdown(another));
	ck_assert(is_quiet());
	px_store_release(&px_testpoint_hook, count_points);
	px_test_trace(outer, 1);
	(posix_trace_event)(outer, NULL, 0);
	px_store_release(&px_testpoint_hook, NULL);
	ck_assert_uint_eq(nr_points, 0);
	stream = px_test_create(&one_ring);
	ck_assert(!is_quiet());
}
END_TEST

/* EVENT-8: streams of other processes open the gate until the next trace point has read the registry */
START_TEST(event_gate_is_quiet_again_after_a_look)
{
	ok(posix_trace_shutdown(stream));
	stream_of_another_process();
	px_test_trace(outer, 1);
	ck_assert(is_quiet());
}
END_TEST

/* Threads that disappear, and processes that begin. */

static void *trace_and_vanish(void *unused)
{
	(void)unused;
	posix_trace_event(outer, "0123456789abcdefghij", 20);
	return NULL;
}

static void vanish(const char *name)
{
	if (!pthread_equal(pthread_self(), stuck_thread) && strcmp(name, stuck_at) == 0)
		px_test_vanish();
}

static void let_a_thread_vanish_at(const char *point)
{
	pthread_t thread;

	stuck_thread = pthread_self(); /* the thread that the test does not kill */
	stuck_at = point;
	px_store_release(&px_testpoint_hook, vanish);
	pthread_create(&thread, NULL, trace_and_vanish, NULL);
	px_test_join(thread);
	px_store_release(&px_testpoint_hook, NULL);
}

/* EVENT-17 EXIT-6: a thread disappears in the middle of its record */
START_TEST(event_of_a_thread_killed_inside_stops_nobody)
{
	int nr_marks = 0;
	bool has_gap;

	if (PX_IS_SANITIZED) {
		px_test_skip("a sanitizer does not let a thread vanish");
		return;
	}
	px_test_trace(inner, 0);
	let_a_thread_vanish_at(writer_points[_i]);
	px_test_trace(inner, 1);
	px_test_trace(inner, 2);
	has_gap = _i >= 4 && strcmp(writer_points[_i], "ring.commit.done") != 0;
	for (uint32_t next = 0; next < 3;) {
		struct posix_trace_event_info info;
		uint32_t number = 0;
		size_t length;
		int unavailable;

		ok(posix_trace_getnext_event(stream, &info, &number, sizeof(number), &length,
					     &unavailable));
		if (info.posix_event_id == inner)
			ck_assert_uint_eq(number, next++);
		else if (info.posix_event_id == outer)
			ck_assert_str_eq(writer_points[_i], "ring.commit.done");
		else
			ck_assert_uint_eq(info.posix_event_id, nr_marks++ == 0 ? POSIX_TRACE_OVERFLOW :
										 POSIX_TRACE_RESUME);
	}
	ck_assert_int_eq(nr_marks, has_gap ? 2 : 0);
	px_test_expect(stream, 0, &seen);
}
END_TEST

/* EVENT-17 EVENT-7: one event was lost, and the counter is one */
START_TEST(event_of_a_thread_killed_inside_is_counted_once)
{
	bool was_reserved = _i >= 2, was_committed = _i == PX_ARRAY_SIZE(writer_points) - 1;
	struct posix_trace_event_info info;
	struct txtrace_loss loss;
	int unavailable;
	size_t length;

	if (PX_IS_SANITIZED) {
		px_test_skip("a sanitizer does not let a thread vanish");
		return;
	}
	let_a_thread_vanish_at(writer_points[_i]);
	px_test_trace(inner, 1);
	do
		ok(posix_trace_getnext_event(stream, &info, NULL, 0, &length, &unavailable));
	while (info.posix_event_id != inner);
	ok(txtrace_get_loss(stream, &loss));
	ck_assert_uint_eq(loss.abandoned, was_reserved && !was_committed);
	ck_assert_uint_eq(loss.overwritten + loss.dropped, 0);
}
END_TEST

static void *start_and_get_stuck(void *unused)
{
	(void)unused;
	stuck_thread = pthread_self();
	px_store_release(&px_testpoint_hook, get_stuck);
	posix_trace_start(stream);
	return NULL;
}

/* EVENT-16: between fork and exec, while a lock of the parent stays locked for ever */
START_TEST(event_between_fork_and_exec_returns)
{
	pthread_t thread;
	pid_t child;
	int status;

	ok(posix_trace_stop(stream));
	sem_init(&is_stuck, 0, 0);
	sem_init(&may_go, 0, 0);
	stuck_at = "stream.start.recorded";
	pthread_create(&thread, NULL, start_and_get_stuck, NULL);
	while (sem_wait(&is_stuck) != 0)
		;
	child = fork();
	if (child == 0) {
		alarm(20);
		errno = STRANGE_ERRNO;
		px_test_trace(outer, 1);
		(posix_trace_event)(outer, "x", 1);
		if (errno != STRANGE_ERRNO)
			_exit(2);
		execl("/bin/sh", "sh", "-c", "exit 7", (char *)NULL);
		_exit(3);
	}
	sem_post(&may_go);
	ck_assert_int_eq(waitpid(child, &status, 0), child);
	pthread_join(thread, NULL);
	ck_assert_msg(WIFEXITED(status) && WEXITSTATUS(status) == 7, "status %#x",
		      (unsigned int)status);
	px_store_release(&px_testpoint_hook, NULL);
	px_test_expect(stream, POSIX_TRACE_STOP, &seen);
	px_test_expect(stream, POSIX_TRACE_START, &seen);
	px_test_expect(stream, 0, &seen);
}
END_TEST

static TCase *add_case(Suite *suite, const char *name)
{
	TCase *tcase = tcase_create(name);

	tcase_add_checked_fixture(tcase, setup, teardown);
	tcase_set_timeout(tcase, 30);
	suite_add_tcase(suite, tcase);
	return tcase;
}

static void add_record_tests(Suite *suite)
{
	TCase *tcase = add_case(suite, "recording");

	tcase_add_test(tcase, event_running_stream_records_it);
	tcase_add_test(tcase, event_created_stream_ignores_it);
	tcase_add_test(tcase, event_stopped_stream_ignores_it);
	tcase_add_test(tcase, event_filtered_type_is_ignored);
	tcase_add_test(tcase, event_unnamed_type_is_recorded);
	tcase_add_test(tcase, event_ids_that_were_not_opened_are_ignored);
	tcase_add_test(tcase, event_macro_function_and_pointer_are_the_same);
	tcase_add_test(tcase, event_macro_evaluates_its_arguments_once);
	tcase = add_case(suite, "data");
	tcase_add_test(tcase, event_without_data_is_recorded);
	tcase_add_test(tcase, event_data_between_guards_is_recorded);
	tcase_add_test(tcase, event_every_length_is_recorded_whole);
	tcase_add_test(tcase, event_longer_than_the_limit_is_cut);
	tcase_add_test(tcase, event_limit_of_zero_cuts_all_user_data);
	tcase = add_case(suite, "several streams");
	tcase_add_test(tcase, event_each_stream_applies_its_own_attributes);
	tcase_add_test(tcase, event_full_stream_loses_it_alone);
	tcase_add_test(tcase, event_as_many_streams_as_can_be_all_record_it);
}

static void add_info_tests(Suite *suite)
{
	TCase *tcase = add_case(suite, "thread, address and time");

	tcase_add_test(tcase, event_info_tells_process_and_thread);
	tcase_add_test(tcase, event_info_of_control_calls_tells_the_caller);
	tcase_add_test(tcase, event_address_is_in_the_calling_function);
	tcase_add_test(tcase, event_address_of_control_calls_is_in_the_calling_function);
	tcase_add_test(tcase, event_address_is_behind_the_call);
	tcase_add_test(tcase, event_timestamp_is_on_the_realtime_scale);
	tcase = add_case(suite, "order");
	tcase_add_test(tcase, event_of_many_threads_are_all_recorded_in_program_order);
	tcase_add_test(tcase, event_of_a_migrating_thread_keep_their_order);
	tcase_add_test(tcase, event_of_threads_that_take_turns_are_in_their_order);
}

static void add_side_effect_tests(Suite *suite)
{
	TCase *tcase = add_case(suite, "side effects");
	int nr_points_of_writer = (int)PX_ARRAY_SIZE(writer_points);

	tcase_add_test(tcase, event_keeps_errno_in_every_state);
	tcase_add_test(tcase, event_first_of_a_thread_keeps_errno);
	tcase_add_test(tcase, event_allocates_nothing);
	tcase_add_loop_test(tcase, event_does_not_wait_for_a_thread_stuck_in_another, 0,
			    nr_points_of_writer);
	tcase_add_loop_test(tcase, event_of_a_thread_killed_inside_stops_nobody, 0,
			    nr_points_of_writer);
	tcase_add_loop_test(tcase, event_of_a_thread_killed_inside_is_counted_once, 0,
			    nr_points_of_writer);
	tcase_add_test(tcase, event_between_fork_and_exec_returns);
	tcase = add_case(suite, "system calls");
	tcase_add_test(tcase, event_system_calls_are_counted);
	tcase_add_loop_test(tcase, event_makes_no_system_call, 0, (int)PX_ARRAY_SIZE(quiet_cases));
	tcase_add_test(tcase, event_in_several_streams_makes_no_system_call);
	tcase_add_test(tcase, event_without_any_stream_makes_no_system_call);
	tcase_add_test(tcase, event_after_streams_of_other_processes_makes_no_system_call);
	tcase_add_test(tcase, event_with_a_sleeping_reader_only_wakes_it);
	tcase = add_case(suite, "nothing traced");
	tcase_add_test(tcase, event_gate_is_quiet_when_nothing_is_traced);
	tcase_add_test(tcase, event_gate_is_quiet_again_after_a_look);
}

static void add_handler_tests(Suite *suite)
{
	TCase *tcase = add_case(suite, "handlers");
	int nr_operations = (int)PX_ARRAY_SIZE(operations);
	int nr_points_of_writer = (int)PX_ARRAY_SIZE(writer_points);

	tcase_add_loop_test(tcase, event_in_a_handler_at_every_test_point_is_recorded, 0,
			    nr_operations);
#if defined __x86_64__
	tcase_add_loop_test(tcase, event_in_a_handler_at_every_instruction_is_recorded, 0,
			    nr_operations);
#endif
	tcase_add_loop_test(tcase, event_in_a_timers_handler_is_recorded, 0, nr_operations);
	tcase_add_loop_test(tcase, event_nested_in_itself_is_recorded_at_all_depths, 0,
			    nr_points_of_writer);
	tcase_add_loop_test(tcase, event_handler_that_laps_its_record_loses_at_most_what_it_counts, 0,
			    nr_points_of_writer);
	tcase_add_loop_test(tcase,
			    event_handler_that_laps_its_record_where_no_stack_can_be_read_frees_no_running_record,
			    0, nr_points_of_writer);
}

int main(void)
{
	Suite *suite = suite_create("event");

	add_record_tests(suite);
	add_info_tests(suite);
	add_side_effect_tests(suite);
	add_handler_tests(suite);
	return run_suite(suite);
}
