/* SPDX-License-Identifier: MIT */
/*
 * The three functions that read: what they report and where they write it, how they wait, and what ends the wait: an
 * event, the clock, a signal, a cancellation, a shutdown.  Also the rules for all functions: errno, signals,
 * cancellation.
 */
#include "support/common.h"

#include <dirent.h>
#include <limits.h>
#include <pthread.h>
#include <sched.h>
#include <semaphore.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <trace_ext.h>
#include <unistd.h>

#include "base/atomic.h"
#include "base/compiler.h"
#include "stream/handle.h"
#include "stream/stream.h"
#include "support/kernel.h"
#include "support/vanish.h"

/* A sanitizer does not understand stack frames that a cancellation unwinds. */
#if defined __SANITIZE_ADDRESS__
#define CAN_UNWIND false
#else
#define CAN_UNWIND true
#endif

#define UNTOUCHED 0x5a
#define STRANGE_ERRNO 4711

static const struct px_test_stream one_ring = {.nr_rings = 1};

static trace_event_id_t type;
static trace_id_t stream;
static struct px_test_event seen;

static void setup(void)
{
	ok(posix_trace_eventid_open("read", &type));
	stream = px_test_create(&(struct px_test_stream){.size = 1 << 20, .nr_rings = 1});
	ok(posix_trace_start(stream));
	px_test_expect(stream, POSIX_TRACE_START, &seen);
}

static void teardown(void)
{
	posix_trace_shutdown(stream);
}

static void expect_number(trace_event_id_t expected, uint32_t number)
{
	px_test_expect(stream, expected, &seen);
	ck_assert_uint_eq(px_test_number(&seen), number);
}

/* The three functions behind one interface. */

enum kind { GETNEXT, TIMED, TRY, NR_KINDS };

static struct timespec in_ms(int64_t ms)
{
	struct timespec now;
	int64_t ns;

	clock_gettime(CLOCK_REALTIME, &now);
	ns = (int64_t)px_test_ns(now) + ms * 1000000;
	return (struct timespec){ns / 1000000000, ns % 1000000000};
}

/* The arguments of a call, and its results. */
struct call {
	enum kind kind;
	const struct timespec *abstime;
	void *data;
	size_t num_bytes;
	struct posix_trace_event_info info;
	size_t length;
	int unavailable;
	int result;
};

static int get(struct call *call)
{
	switch (call->kind) {
	case GETNEXT:
		call->result = posix_trace_getnext_event(stream, &call->info, call->data,
							 call->num_bytes, &call->length,
							 &call->unavailable);
		break;
	case TIMED:
		call->result = posix_trace_timedgetnext_event(stream, &call->info, call->data,
							      call->num_bytes, &call->length,
							      &call->unavailable, call->abstime);
		break;
	default:
		call->result = posix_trace_trygetnext_event(stream, &call->info, call->data,
							    call->num_bytes, &call->length,
							    &call->unavailable);
	}
	return call->result;
}

/* Make a call whose outputs show whether the function wrote them. */
static struct call prepared(enum kind kind)
{
	struct call call;

	memset(&call, UNTOUCHED, sizeof(call));
	call.kind = kind;
	call.abstime = NULL;
	call.data = NULL;
	call.num_bytes = 0;
	return call;
}

static bool is_untouched(const void *memory, size_t size)
{
	const unsigned char *bytes = memory;

	for (size_t i = 0; i < size; i++)
		if (bytes[i] != UNTOUCHED)
			return false;
	return true;
}

static void expect_untouched(const struct call *call)
{
	ck_assert(is_untouched(&call->info, sizeof(call->info)));
	ck_assert(is_untouched(&call->length, sizeof(call->length)));
	ck_assert(is_untouched(&call->unavailable, sizeof(call->unavailable)));
}

/* What is reported. */

/* GETNEXT-1 TIMED-1 TRY-1 INFO-1 */
START_TEST(getnext_event_available_is_reported)
{
	struct call call = prepared(_i);
	struct timespec abstime = in_ms(100000);
	char data[10];

	call.abstime = &abstime;
	call.data = data;
	call.num_bytes = sizeof(data);
	posix_trace_event(type, "abcde", 5);
	ok(get(&call));
	ck_assert_int_eq(call.unavailable, 0);
	ck_assert_uint_eq(call.length, 5);
	ck_assert_mem_eq(data, "abcde", 5);
	ck_assert_uint_eq(call.info.posix_event_id, type);
	ck_assert_int_eq(call.info.posix_pid, getpid());
	ck_assert_int_eq(call.info.posix_truncation_status, POSIX_TRACE_NOT_TRUNCATED);
}
END_TEST

/* GETNEXT-1 GETNEXT-9 */
START_TEST(getnext_events_come_oldest_first)
{
	struct call call = prepared(_i);
	struct timespec abstime = in_ms(100000);
	uint32_t number;

	call.abstime = &abstime;
	call.data = &number;
	call.num_bytes = sizeof(number);
	for (uint32_t i = 0; i < 5000; i++)
		px_test_trace(type, i);
	for (uint32_t i = 0; i < 5000; i++) {
		ok(get(&call));
		ck_assert_uint_eq(number, i);
	}
}
END_TEST

/* TRY-2 */
START_TEST(trygetnext_empty_stream_returns_0_and_unavailable)
{
	struct call call = prepared(TRY);

	ok(get(&call));
	ck_assert_int_ne(call.unavailable, 0);
	ck_assert(is_untouched(&call.info, sizeof(call.info)));
	ck_assert(is_untouched(&call.length, sizeof(call.length)));
	ok(posix_trace_stop(stream));
	px_test_expect(stream, POSIX_TRACE_STOP, &seen);
	ok(get(&call));
	ck_assert_int_ne(call.unavailable, 0);
}
END_TEST

/* A buffer at the very end of its memory. */
static unsigned char *buffer_end(void)
{
	size_t page = (size_t)sysconf(_SC_PAGESIZE);
	unsigned char *memory = mmap(NULL, 2 * page, PROT_READ | PROT_WRITE,
				     MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	ck_assert_ptr_ne(memory, MAP_FAILED);
	ck_assert_int_eq(mprotect(memory + page, page, PROT_NONE), 0);
	return memory + page;
}

/* Read one event of this length into this many bytes, at the end of the memory. */
static void read_into(enum kind kind, unsigned char *end, size_t recorded, size_t num_bytes,
		      int as_recorded)
{
	unsigned char *data = end - num_bytes;
	struct call call = prepared(kind);
	size_t copied = recorded < num_bytes ? recorded : num_bytes;

	memset(data - 64, UNTOUCHED, num_bytes + 64);
	call.data = num_bytes > 0 ? data : NULL;
	call.num_bytes = num_bytes;
	ok(get(&call));
	ck_assert_int_eq(call.unavailable, 0);
	ck_assert_uint_eq(call.length, copied);
	ck_assert_int_eq(call.info.posix_truncation_status,
			 copied < recorded ? POSIX_TRACE_TRUNCATED_READ : as_recorded);
	ck_assert(px_test_is_filled(data, copied, (uint32_t)recorded));
	ck_assert(is_untouched(data + copied, num_bytes - copied));
	ck_assert(is_untouched(data - 64, 64));
}

/* GETNEXT-4 GETNEXT-5 GETNEXT-6 GETNEXT-7 GETNEXT-8 INFO-6 TRY-1 TIMED-1 */
START_TEST(getnext_buffer_of_any_size_gets_what_fits)
{
	unsigned char *end = buffer_end();
	unsigned char data[200];

	for (size_t recorded = 0; recorded <= sizeof(data); recorded += recorded < 80 ? 1 : 7) {
		px_test_fill(data, recorded, (uint32_t)recorded);
		for (size_t size = 0; size <= recorded + 60; size += size < 20 ? 1 : 13) {
			posix_trace_event(type, data, recorded);
			read_into(_i, end, recorded, size, POSIX_TRACE_NOT_TRUNCATED);
		}
		for (size_t size = recorded - (recorded > 0); size <= recorded + 1; size++) {
			posix_trace_event(type, data, recorded);
			read_into(_i, end, recorded, size, POSIX_TRACE_NOT_TRUNCATED);
		}
	}
	px_test_expect(stream, 0, &seen); /* the rest of the truncated event is gone */
}
END_TEST

/* GETNEXT-4 GETNEXT-5 INFO-6: an event that was truncated twice is reported as truncated when read */
START_TEST(getnext_truncated_record_shows_unless_cut_again)
{
	unsigned char *end = buffer_end();
	unsigned char data[300];

	px_test_fill(data, sizeof(data), 256);
	for (size_t num_bytes = 0; num_bytes <= 300; num_bytes += 4) {
		posix_trace_event(type, data, sizeof(data)); /* the limit is 256 */
		read_into(_i, end, 256, num_bytes, POSIX_TRACE_TRUNCATED_RECORD);
	}
}
END_TEST

/* GETNEXT-6 SETMDS-2: an event without data is not truncated when read */
START_TEST(getnext_no_buffer_for_an_event_without_data_is_as_recorded)
{
	struct call call = prepared(_i);
	trace_attr_t attr;

	posix_trace_event(type, NULL, 0);
	ok(get(&call));
	ck_assert_uint_eq(call.length, 0);
	ck_assert_int_eq(call.info.posix_truncation_status, POSIX_TRACE_NOT_TRUNCATED);
	ok(posix_trace_shutdown(stream));
	ok(posix_trace_attr_init(&attr));
	ok(posix_trace_attr_setmaxdatasize(&attr, 0));
	ok(posix_trace_create(0, &attr, &stream));
	ok(posix_trace_start(stream));
	px_test_expect(stream, POSIX_TRACE_START, &seen);
	posix_trace_event(type, "x", 1);
	ok(get(&call));
	ck_assert_uint_eq(call.length, 0);
	ck_assert_int_eq(call.info.posix_truncation_status, POSIX_TRACE_TRUNCATED_RECORD);
}
END_TEST

/* SYSEV-6 GETNEXT-5 */
START_TEST(getnext_system_event_is_cut_only_by_the_buffer)
{
	struct call call = prepared(_i);
	trace_event_set_t set[2];

	ok(posix_trace_eventset_fill(&set[0], POSIX_TRACE_SYSTEM_EVENTS));
	ok(posix_trace_set_filter(stream, &set[0], POSIX_TRACE_SET_EVENTSET));
	call.data = set;
	call.num_bytes = sizeof(set) - 1;
	ok(get(&call));
	ck_assert_uint_eq(call.info.posix_event_id, POSIX_TRACE_FILTER);
	ck_assert_uint_eq(call.length, sizeof(set) - 1);
	ck_assert_int_eq(call.info.posix_truncation_status, POSIX_TRACE_TRUNCATED_READ);
}
END_TEST

/* GETNEXT-10 LOOP-2 */
START_TEST(getnext_reported_event_frees_its_space)
{
	ok(posix_trace_shutdown(stream));
	stream = px_test_create(&one_ring);
	ok(posix_trace_start(stream));
	for (uint32_t i = 0; px_test_status(stream).posix_stream_full_status != POSIX_TRACE_FULL;
	     i++)
		px_test_trace(type, i);
	px_test_expect(stream, POSIX_TRACE_START, &seen);
	ck_assert_int_eq(px_test_status(stream).posix_stream_full_status, POSIX_TRACE_NOT_FULL);
}
END_TEST

/* UNREAD-3 GETNEXT-2: after the end, recorded events stay readable */
START_TEST(getnext_stopped_stream_reports_what_it_has)
{
	struct call call = prepared(GETNEXT);

	px_test_trace(type, 1);
	ok(posix_trace_stop(stream));
	ok(get(&call));
	ck_assert_uint_eq(call.info.posix_event_id, type);
	ok(get(&call));
	ck_assert_uint_eq(call.info.posix_event_id, POSIX_TRACE_STOP);
	px_test_expect(stream, 0, &seen);
}
END_TEST

static bool is_overwritten;

static void overwrite_everything(void)
{
	is_overwritten = true;
	for (uint32_t i = 0; i < 40000; i++)
		px_test_trace(type, i);
}

/* TRY-1 TIMED-4: the stream is never empty during the call */
START_TEST(trygetnext_events_replaced_meanwhile_still_finds_one)
{
	struct call call = prepared(TRY);

	px_test_trace(type, 1);
	px_test_at_point("reader.snapshot.taken", overwrite_everything);
	ok(get(&call));
	ck_assert(is_overwritten);
	ck_assert_int_eq(call.unavailable, 0);
}
END_TEST

/* Bad input. */

/* GETNEXT-11 TIMED-6 TRY-3 GETNEXT-15 GEN-9 GEN-11 */
START_TEST(getnext_bad_trid_gives_einval_and_touches_nothing)
{
	trace_id_t bad[] = {0, (trace_id_t)-1, stream + 1, stream + 256, stream ^ 1, 0};
	struct timespec abstime = in_ms(100000);
	trace_id_t closed = px_test_create(&one_ring);

	ok(posix_trace_shutdown(closed));
	bad[5] = closed;
	for (size_t i = 0; i < PX_ARRAY_SIZE(bad); i++) {
		struct call call = prepared(_i);

		call.abstime = &abstime;
		stream = bad[i];
		errno = STRANGE_ERRNO;
		fails(get(&call), EINVAL);
		ck_assert_int_eq(errno, STRANGE_ERRNO);
		expect_untouched(&call);
	}
}
END_TEST

/* GEN-10 GEN-11 */
START_TEST(getnext_null_arguments_give_einval)
{
	struct call call = prepared(_i);
	struct timespec abstime = in_ms(100000);
	size_t length;
	int unavailable;

	px_test_trace(type, 1);
	call.num_bytes = 1; /* and no buffer */
	fails(get(&call), EINVAL);
	expect_untouched(&call);
	fails(posix_trace_getnext_event(stream, NULL, NULL, 0, &length, &unavailable), EINVAL);
	fails(posix_trace_getnext_event(stream, &call.info, NULL, 0, NULL, &unavailable), EINVAL);
	fails(posix_trace_getnext_event(stream, &call.info, NULL, 0, &length, NULL), EINVAL);
	fails(posix_trace_timedgetnext_event(stream, NULL, NULL, 0, &length, &unavailable,
					     &abstime),
	      EINVAL);
	fails(posix_trace_trygetnext_event(stream, NULL, NULL, 0, &length, &unavailable), EINVAL);
	expect_number(type, 1);
}
END_TEST

/* Waiting. */

/* A thread that makes one call. */
struct reader {
	struct call call;
	pthread_t thread;
	pid_t tid;
	uint32_t is_done;
	struct timespec abstime;
	uint32_t number;
	bool is_blocking_signal;
	bool errno_kept;
	bool is_cancel_disabled;
};

static void *read_once(void *argument)
{
	struct reader *reader = argument;
	sigset_t set;
	int state;

	if (reader->is_blocking_signal) {
		sigemptyset(&set);
		sigaddset(&set, SIGUSR1);
		pthread_sigmask(SIG_BLOCK, &set, NULL);
	}
	if (reader->is_cancel_disabled)
		pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &state);
	px_store_release(&reader->tid, (pid_t)syscall(SYS_gettid));
	errno = STRANGE_ERRNO;
	get(&reader->call);
	reader->errno_kept = errno == STRANGE_ERRNO;
	px_store_release(&reader->is_done, 1);
	return NULL;
}

static void start_reader(struct reader *reader, enum kind kind)
{
	reader->call = prepared(kind);
	reader->abstime = in_ms(1000000);
	reader->call.abstime = &reader->abstime;
	reader->call.data = &reader->number;
	reader->call.num_bytes = sizeof(reader->number);
	pthread_create(&reader->thread, NULL, read_once, reader);
}

/* Wait until the reader sleeps in its call. */
static void wait_until_blocked(struct reader *reader)
{
	while (px_load_acquire(&reader->tid) == 0)
		sched_yield();
	px_test_wait_asleep(reader->tid);
	ck_assert_uint_eq(px_load_acquire(&reader->is_done), 0);
}

/* Expect that the reader got this event. */
static void expect_read(struct reader *reader, uint32_t number)
{
	pthread_join(reader->thread, NULL);
	ck_assert_int_eq(reader->call.result, 0);
	ck_assert_int_eq(reader->call.unavailable, 0);
	ck_assert_uint_eq(reader->call.info.posix_event_id, type);
	ck_assert_uint_eq(reader->number, number);
	ck_assert(reader->errno_kept);
}

/* GETNEXT-2 TIMED-1 GEN-2 */
START_TEST(getnext_empty_stream_waits_for_an_event)
{
	struct reader reader = {0};

	start_reader(&reader, _i);
	wait_until_blocked(&reader);
	px_test_trace(type, 7);
	expect_read(&reader, 7);
}
END_TEST

/* GETNEXT-2: whatever the status */
START_TEST(getnext_stream_not_started_waits_too)
{
	struct reader reader = {0};

	ok(posix_trace_shutdown(stream));
	stream = px_test_create(&one_ring);
	start_reader(&reader, _i);
	wait_until_blocked(&reader);
	px_test_trace(type, 1); /* not recorded, so there is no reason to wake up */
	ok(posix_trace_start(stream));
	pthread_join(reader.thread, NULL);
	ck_assert_int_eq(reader.call.result, 0);
	ck_assert_uint_eq(reader.call.info.posix_event_id, POSIX_TRACE_START);
	ok(posix_trace_stop(stream));
	px_test_expect(stream, POSIX_TRACE_STOP, &seen);
	memset(&reader, 0, sizeof(reader));
	start_reader(&reader, _i);
	wait_until_blocked(&reader);
	ok(posix_trace_start(stream));
	pthread_join(reader.thread, NULL);
	ck_assert_uint_eq(reader.call.info.posix_event_id, POSIX_TRACE_START);
}
END_TEST

#define NR_READERS 4
#define NR_WRITERS 2
#define NR_EACH 4000

static unsigned char times_seen[NR_WRITERS * NR_EACH];
static bool out_of_order[NR_READERS];

static void *write_numbers(void *argument)
{
	uint32_t first = *(const uint32_t *)argument;

	for (uint32_t i = 0; i < NR_EACH; i++) {
		px_test_trace(type, first + i);
		if (i % 16 == 0)
			sched_yield();
	}
	return NULL;
}

static void *read_until_shutdown(void *argument)
{
	unsigned int self = *(const unsigned int *)argument;
	struct timespec abstime = in_ms(1000000);
	struct call call = prepared(self % NR_KINDS);
	int64_t last[NR_WRITERS] = {-1, -1};
	uint32_t number;

	call.abstime = &abstime;
	call.data = &number;
	call.num_bytes = sizeof(number);
	while (get(&call) == 0) {
		if (call.unavailable) {
			sched_yield();
			continue;
		}
		px_fetch_add(&times_seen[number], (unsigned char)1);
		out_of_order[self] |= number <= last[number / NR_EACH];
		last[number / NR_EACH] = number;
	}
	return NULL;
}

static uint32_t nr_seen(void)
{
	uint32_t n = 0;

	for (size_t i = 0; i < PX_ARRAY_SIZE(times_seen); i++)
		n += px_read_once(&times_seen[i]);
	return n;
}

/*
 * Events of writers that waited for their CPU in the middle of a record for so long that a reader gave them up.  Their
 * loss is no fault.
 */
static uint32_t nr_abandoned(void)
{
	struct txtrace_loss loss;

	ok(txtrace_get_loss(stream, &loss));
	ck_assert_uint_eq(loss.overwritten + loss.dropped, 0);
	return (uint32_t)loss.abandoned;
}

static void expect_each_once(size_t nr, uint32_t abandoned)
{
	uint32_t missing = 0;

	for (size_t i = 0; i < nr; i++) {
		ck_assert_msg(times_seen[i] <= 1, "event %zu came %u times", i, times_seen[i]);
		missing += times_seen[i] == 0;
	}
	ck_assert_uint_eq(missing, abandoned);
}

/* GETNEXT-8 GETNEXT-9 SHUT-6 GEN-3: each event is read once, and each reader gets its events in order */
START_TEST(getnext_several_readers_share_the_events)
{
	pthread_t readers[NR_READERS], writers[NR_WRITERS];
	unsigned int number_of[NR_READERS];
	uint32_t first[NR_WRITERS], abandoned;

	for (unsigned int i = 0; i < NR_READERS; i++) {
		number_of[i] = i;
		pthread_create(&readers[i], NULL, read_until_shutdown, &number_of[i]);
	}
	for (uint32_t i = 0; i < NR_WRITERS; i++) {
		first[i] = i * NR_EACH;
		pthread_create(&writers[i], NULL, write_numbers, &first[i]);
	}
	for (int i = 0; i < NR_WRITERS; i++)
		pthread_join(writers[i], NULL);
	while (nr_seen() + (abandoned = nr_abandoned()) < NR_WRITERS * NR_EACH)
		sched_yield();
	ok(posix_trace_shutdown(stream));
	for (int i = 0; i < NR_READERS; i++) {
		pthread_join(readers[i], NULL);
		ck_assert(!out_of_order[i]);
	}
	expect_each_once(NR_WRITERS * NR_EACH, abandoned);
}
END_TEST

/* GETNEXT-8: two threads wait for one event: one of them goes on waiting */
START_TEST(getnext_one_event_ends_one_wait)
{
	struct reader readers[2] = {{.number = 0}};
	int first;

	for (int i = 0; i < 2; i++) {
		start_reader(&readers[i], i % 2 ? TIMED : GETNEXT);
		wait_until_blocked(&readers[i]);
	}
	px_test_trace(type, 1);
	while (!px_load_acquire(&readers[0].is_done) && !px_load_acquire(&readers[1].is_done))
		sched_yield();
	first = px_load_acquire(&readers[0].is_done) ? 0 : 1;
	expect_read(&readers[first], 1);
	wait_until_blocked(&readers[1 - first]);
	px_test_trace(type, 2);
	expect_read(&readers[1 - first], 2);
}
END_TEST

/* SHUT-6 GETNEXT-11 TIMED-6 GETNEXT-15 GEN-11: all of them */
START_TEST(getnext_shutdown_ends_all_waits_with_einval)
{
	struct reader readers[6] = {{.number = 0}};

	for (int i = 0; i < 6; i++) {
		start_reader(&readers[i], i % 2 ? TIMED : GETNEXT);
		wait_until_blocked(&readers[i]);
	}
	ok(posix_trace_shutdown(stream));
	for (int i = 0; i < 6; i++) {
		pthread_join(readers[i].thread, NULL);
		ck_assert_int_eq(readers[i].call.result, EINVAL);
		expect_untouched(&readers[i].call);
		ck_assert(readers[i].errno_kept);
	}
}
END_TEST

/* SHUT-6 KIND-3: a thread that waits in the old stream does not get an event of the new stream */
START_TEST(getnext_waiting_is_not_moved_to_the_next_stream)
{
	struct reader reader = {0};
	trace_id_t old = stream;

	start_reader(&reader, _i);
	wait_until_blocked(&reader);
	ok(posix_trace_shutdown(old));
	stream = px_test_create(&one_ring);
	ok(posix_trace_start(stream));
	pthread_join(reader.thread, NULL);
	ck_assert_int_eq(reader.call.result, EINVAL);
	px_test_expect(stream, POSIX_TRACE_START, &seen);
}
END_TEST

/* Timed. */

/* TIMED-1 TIMED-2 TIMED-9 GEN-2: longer than any single sleep of the library */
START_TEST(timedgetnext_without_event_ends_at_abstime)
{
	static const int waits_ms[] = {3, 49, 51, 130};

	for (size_t i = 0; i < PX_ARRAY_SIZE(waits_ms); i++) {
		struct timespec abstime = in_ms(waits_ms[i]), now;
		struct call call = prepared(TIMED);

		call.abstime = &abstime;
		errno = STRANGE_ERRNO;
		fails(get(&call), ETIMEDOUT);
		ck_assert_int_eq(errno, STRANGE_ERRNO);
		clock_gettime(CLOCK_REALTIME, &now);
		ck_assert_uint_ge(px_test_ns(now), px_test_ns(abstime));
		ck_assert_int_eq(call.unavailable, 1);
		ck_assert(is_untouched(&call.info, sizeof(call.info)));
		ck_assert(is_untouched(&call.length, sizeof(call.length)));
	}
}
END_TEST

/* TIMED-3 TIMED-9 TIMED-11 */
START_TEST(timedgetnext_time_in_the_past_ends_at_once)
{
	const struct timespec past[] = {
		{0, 0}, {1, 999999999}, {-1, 0}, {INT_MIN, 999999999}, {LONG_MIN, 5}, in_ms(-1)};

	for (size_t i = 0; i < PX_ARRAY_SIZE(past); i++) {
		struct call call = prepared(TIMED);

		call.abstime = &past[i];
		fails(get(&call), ETIMEDOUT);
		ck_assert_int_eq(call.unavailable, 1);
	}
}
END_TEST

/* TIMED-4 TIMED-5: if there is an event, abstime does not matter */
START_TEST(timedgetnext_available_event_needs_no_valid_time)
{
	const struct timespec times[] = {{0, 0}, {-1, 0}, {0, -1}, {0, 1000000000}, {0, LONG_MAX}};

	for (size_t i = 0; i <= PX_ARRAY_SIZE(times); i++) {
		struct call call = prepared(TIMED);

		call.abstime = i < PX_ARRAY_SIZE(times) ? &times[i] : NULL;
		px_test_trace(type, 1);
		ok(get(&call));
		ck_assert_int_eq(call.unavailable, 0);
	}
}
END_TEST

/* TIMED-5 GETNEXT-15 GEN-11 */
START_TEST(timedgetnext_invalid_time_without_event_gives_einval)
{
	const struct timespec times[] = {
		{0, -1}, {0, LONG_MIN}, {-1, -1}, {INT_MAX, LONG_MIN},
		{0, 1000000000}, {0, LONG_MAX}, {INT_MAX, 1000000000}};

	for (size_t i = 0; i <= PX_ARRAY_SIZE(times); i++) {
		struct call call = prepared(TIMED);

		call.abstime = i < PX_ARRAY_SIZE(times) ? &times[i] : NULL;
		errno = STRANGE_ERRNO;
		fails(get(&call), EINVAL);
		ck_assert_int_eq(errno, STRANGE_ERRNO);
		expect_untouched(&call);
	}
}
END_TEST

/* TIMED-1 TIMED-2: the latest time that can be represented */
START_TEST(timedgetnext_time_at_the_end_of_time_waits_for_an_event)
{
	const struct timespec end = {LONG_MAX, 999999999};
	struct reader reader = {0};

	start_reader(&reader, TIMED);
	wait_until_blocked(&reader);
	px_test_trace(type, 1);
	expect_read(&reader, 1);
	memset(&reader, 0, sizeof(reader));
	reader.call = prepared(TIMED);
	reader.abstime = end;
	reader.call.abstime = &reader.abstime;
	reader.call.data = &reader.number;
	reader.call.num_bytes = sizeof(reader.number);
	pthread_create(&reader.thread, NULL, read_once, &reader);
	wait_until_blocked(&reader);
	px_test_trace(type, 2);
	expect_read(&reader, 2);
}
END_TEST

/* Signals. */

static uint32_t nr_handled;

static void on_signal(int unused)
{
	(void)unused;
	px_fetch_add(&nr_handled, 1);
}

static void handle(int signal, int flags, void (*handler)(int))
{
	struct sigaction action = {.sa_handler = handler, .sa_flags = flags};

	sigemptyset(&action.sa_mask);
	ck_assert_int_eq(sigaction(signal, &action, NULL), 0);
}

/* One signal may arrive before the reader sleeps; of many signals, one arrives later. */
static void interrupt(struct reader *reader)
{
	while (!px_load_acquire(&reader->is_done)) {
		pthread_kill(reader->thread, SIGUSR1);
		sleep_ms(1);
	}
}

/* GETNEXT-12 GETNEXT-15 TIMED-6 TIMED-9 SIG-2 GEN-13 */
START_TEST(getnext_handler_without_restart_ends_the_wait_with_eintr)
{
	struct reader reader = {0};

	handle(SIGUSR1, 0, on_signal);
	start_reader(&reader, _i);
	wait_until_blocked(&reader);
	interrupt(&reader);
	pthread_join(reader.thread, NULL);
	ck_assert_int_eq(reader.call.result, EINTR);
	ck_assert_int_eq(reader.call.unavailable, 1);
	ck_assert(is_untouched(&reader.call.info, sizeof(reader.call.info)));
	ck_assert(reader.errno_kept);
	px_test_trace(type, 3);
	expect_number(type, 3);
}
END_TEST

/* The thread sanitizer delays a handler until the system call returns, so a restarted call never runs it. */
#if defined __SANITIZE_THREAD__
#define HANDLERS_RUN_AT_ONCE false
#else
#define HANDLERS_RUN_AT_ONCE true
#endif

/* GEN-13 SIG-2 GETNEXT-12 */
START_TEST(getnext_handler_with_restart_does_not_end_the_wait)
{
	struct reader reader = {0};

	if (!HANDLERS_RUN_AT_ONCE) {
		px_test_skip("a sanitizer keeps a handler back until the system call returns");
		return;
	}
	if (!px_test_kernel_restarts()) {
		px_test_skip("before Linux 5.16 SA_RESTART does not restart a timed wait");
		return;
	}
	handle(SIGUSR1, SA_RESTART, on_signal);
	start_reader(&reader, _i);
	for (uint32_t i = 0; i < 50; i++) {
		wait_until_blocked(&reader);
		pthread_kill(reader.thread, SIGUSR1);
		while (px_load_acquire(&nr_handled) == i)
			sched_yield();
	}
	wait_until_blocked(&reader);
	px_test_trace(type, 4);
	expect_read(&reader, 4);
}
END_TEST

/* SIG-3 GETNEXT-12 */
START_TEST(getnext_blocked_signal_does_not_end_the_wait)
{
	struct reader reader = {.is_blocking_signal = true};

	handle(SIGUSR1, 0, on_signal);
	start_reader(&reader, _i);
	wait_until_blocked(&reader);
	for (int i = 0; i < 20; i++) {
		pthread_kill(reader.thread, SIGUSR1);
		sched_yield();
		wait_until_blocked(&reader);
	}
	px_test_trace(type, 5);
	expect_read(&reader, 5);
	ck_assert_uint_eq(nr_handled, 0);
}
END_TEST

static void trace_in_handler(int unused)
{
	(void)unused;
	if (px_fetch_add(&nr_handled, 1) == 0)
		px_test_trace(type, 6);
}

/* GETNEXT-13: the signal and the event arrive together */
START_TEST(getnext_event_from_the_interrupting_handler_is_returned)
{
	struct reader reader = {0};

	handle(SIGUSR1, 0, trace_in_handler);
	start_reader(&reader, _i);
	wait_until_blocked(&reader);
	pthread_kill(reader.thread, SIGUSR1);
	expect_read(&reader, 6);
}
END_TEST

static void raise_signal(void)
{
	raise(SIGUSR1);
}

/* GETNEXT-13 GETNEXT-12 */
START_TEST(getnext_signal_while_taking_an_event_returns_it)
{
	struct timespec past = {0, 0};
	struct call call = prepared(_i);

	handle(SIGUSR1, 0, on_signal);
	call.abstime = &past;
	px_test_trace(type, 1);
	px_test_at_point("reader.take.copied", raise_signal);
	ok(get(&call));
	ck_assert_int_eq(call.unavailable, 0);
	ck_assert_uint_eq(nr_handled, 1);
	px_test_expect(stream, 0, &seen);
}
END_TEST

static void *read_through_interruptions(void *nr_interrupted)
{
	struct timespec abstime = in_ms(1000000);
	uint32_t number;
	int turn = 0;

	for (;;) {
		struct call call = prepared(turn++ % 2 ? TIMED : GETNEXT);

		call.abstime = &abstime;
		call.data = &number;
		call.num_bytes = sizeof(number);
		if (get(&call) == 0)
			px_fetch_add(&times_seen[number], (unsigned char)1);
		else if (call.result == EINTR)
			px_fetch_add((uint32_t *)nr_interrupted, 1);
		else
			return NULL;
	}
}

/* GETNEXT-12 GETNEXT-8 SIG-2: under many signals, no event is lost and none is read twice */
START_TEST(getnext_storm_of_signals_loses_no_event)
{
	uint32_t nr_interrupted = 0, abandoned;
	pthread_t thread;

	handle(SIGUSR1, 0, on_signal);
	pthread_create(&thread, NULL, read_through_interruptions, &nr_interrupted);
	for (uint32_t i = 0; i < NR_EACH; i++) {
		if (i % 10 == 0)
			pthread_kill(thread, SIGUSR1);
		if (i % 100 == 0)
			sleep_ms(1);
		px_test_trace(type, i);
		/* Before the last events, make sure that a signal has interrupted a wait. */
		while (i == NR_EACH / 2 && px_load_acquire(&nr_interrupted) < 3) {
			pthread_kill(thread, SIGUSR1);
			sleep_ms(1);
		}
	}
	while (nr_seen() + (abandoned = nr_abandoned()) < NR_EACH)
		sched_yield();
	ok(posix_trace_shutdown(stream));
	pthread_join(thread, NULL);
	expect_each_once(NR_EACH, abandoned);
}
END_TEST

/* GEN-12 SIG-5 START-6 STOP-5 */
START_TEST(any_function_but_getnext_never_returns_eintr)
{
	const struct itimerval every = {{0, 100}, {0, 100}}, never = {{0, 0}, {0, 0}};
	trace_event_set_t set;

	handle(SIGALRM, 0, on_signal);
	ck_assert_int_eq(setitimer(ITIMER_REAL, &every, NULL), 0);
	while (px_read_once(&nr_handled) < 300) {
		trace_id_t another;

		ok(posix_trace_stop(stream));
		ok(posix_trace_get_filter(stream, &set));
		ok(posix_trace_start(stream));
		ok(posix_trace_set_filter(stream, &set, POSIX_TRACE_SET_EVENTSET));
		ok(posix_trace_clear(stream));
		ok(posix_trace_create(0, NULL, &another));
		px_test_take(stream, &seen);
		ok(posix_trace_shutdown(another));
	}
	ck_assert_int_eq(setitimer(ITIMER_REAL, &never, NULL), 0);
}
END_TEST

/* Cancellation. */

/* CANC-1 GEN-8 GEN-5 */
START_TEST(getnext_cancelled_while_it_waits_consumes_nothing)
{
	struct reader reader = {0};
	void *result;

	if (!CAN_UNWIND) {
		px_test_skip("a sanitizer does not understand frames that a cancellation unwinds");
		return;
	}
	start_reader(&reader, _i);
	wait_until_blocked(&reader);
	pthread_cancel(reader.thread);
	pthread_join(reader.thread, &result);
	ck_assert_ptr_eq(result, PTHREAD_CANCELED);
	ck_assert_uint_eq(reader.is_done, 0);
	expect_untouched(&reader.call);
	px_test_trace(type, 8);
	expect_number(type, 8);
	ok(posix_trace_shutdown(stream)); /* it waits for readers that are still in a call */
}
END_TEST

static void *read_with_pending_cancel(void *argument)
{
	pthread_cancel(pthread_self());
	return read_once(argument);
}

/* GEN-7 CANC-2: a pending cancellation has priority on entry, and the event stays in the stream */
START_TEST(getnext_cancel_pending_on_entry_takes_no_event)
{
	struct reader reader = {0};
	void *result;

	px_test_trace(type, 9);
	reader.call = prepared(_i);
	reader.abstime = in_ms(1000000);
	reader.call.abstime = &reader.abstime;
	pthread_create(&reader.thread, NULL, read_with_pending_cancel, &reader);
	pthread_join(reader.thread, &result);
	ck_assert_ptr_eq(result, PTHREAD_CANCELED);
	ck_assert_uint_eq(reader.is_done, 0);
	expect_number(type, 9);
}
END_TEST

/* GEN-7 CANC-1 */
START_TEST(getnext_with_cancellation_disabled_waits_on)
{
	struct reader reader = {.is_cancel_disabled = true};

	start_reader(&reader, _i);
	wait_until_blocked(&reader);
	pthread_cancel(reader.thread);
	wait_until_blocked(&reader);
	px_test_trace(type, 10);
	expect_read(&reader, 10);
}
END_TEST

/* CANC-1: the other threads go on waiting */
START_TEST(getnext_cancelling_one_reader_leaves_the_others)
{
	struct reader readers[3] = {{.number = 0}};
	void *result;

	if (!CAN_UNWIND) {
		px_test_skip("a sanitizer does not understand frames that a cancellation unwinds");
		return;
	}
	for (int i = 0; i < 3; i++) {
		start_reader(&readers[i], i % 2 ? TIMED : GETNEXT);
		wait_until_blocked(&readers[i]);
	}
	pthread_cancel(readers[1].thread);
	pthread_join(readers[1].thread, &result);
	ck_assert_ptr_eq(result, PTHREAD_CANCELED);
	wait_until_blocked(&readers[0]);
	wait_until_blocked(&readers[2]);
	px_test_trace(type, 11);
	px_test_trace(type, 12);
	pthread_join(readers[0].thread, NULL);
	pthread_join(readers[2].thread, NULL);
	ck_assert_uint_eq(readers[0].number + readers[2].number, 11 + 12);
}
END_TEST

static int results_in_cleanup[5];

static void use_stream(void *unused)
{
	struct posix_trace_status_info status;
	struct call call = prepared(TRY);

	(void)unused;
	results_in_cleanup[0] = posix_trace_stop(stream);
	results_in_cleanup[1] = posix_trace_start(stream);
	results_in_cleanup[2] = posix_trace_get_status(stream, &status);
	results_in_cleanup[3] = get(&call);
	results_in_cleanup[4] = posix_trace_shutdown(stream);
}

static void *read_with_cleanup(void *argument)
{
	pthread_cleanup_push(use_stream, NULL);
	read_once(argument);
	pthread_cleanup_pop(0);
	return NULL;
}

/* GEN-8: cleanup handlers run without a lock held */
START_TEST(getnext_cleanup_handlers_can_use_the_stream)
{
	struct reader reader = {0};
	void *result;

	if (!CAN_UNWIND) {
		px_test_skip("a sanitizer does not understand frames that a cancellation unwinds");
		return;
	}
	memset(results_in_cleanup, UNTOUCHED, sizeof(results_in_cleanup));
	reader.call = prepared(_i);
	reader.abstime = in_ms(1000000);
	reader.call.abstime = &reader.abstime;
	pthread_create(&reader.thread, NULL, read_with_cleanup, &reader);
	wait_until_blocked(&reader);
	pthread_cancel(reader.thread);
	pthread_join(reader.thread, &result);
	ck_assert_ptr_eq(result, PTHREAD_CANCELED);
	for (size_t i = 0; i < PX_ARRAY_SIZE(results_in_cleanup); i++)
		ck_assert_int_eq(results_in_cleanup[i], 0);
}
END_TEST

static void *read_and_count(void *kind)
{
	struct timespec abstime = in_ms(1000000);
	uint32_t number;

	for (;;) {
		struct call call = prepared(*(const enum kind *)kind);

		call.abstime = &abstime;
		call.data = &number;
		call.num_bytes = sizeof(number);
		if (get(&call) != 0)
			return NULL;
		/* There is no cancellation point between the call and this line. */
		px_fetch_add(&times_seen[number], (unsigned char)1);
	}
}

/* CANC-2 GETNEXT-8 GETNEXT-13: if an event and a cancellation arrive at the same time, nothing is lost */
START_TEST(getnext_storm_of_cancellations_loses_no_event)
{
	const enum kind kinds[2] = {GETNEXT, TIMED};
	uint64_t random = test_seed();
	uint32_t next = 0;

	if (!CAN_UNWIND) {
		px_test_skip("a sanitizer does not understand frames that a cancellation unwinds");
		return;
	}
	for (int round = 0; round < 400; round++) {
		pthread_t thread;
		void *result;

		pthread_create(&thread, NULL, read_and_count, (void *)&kinds[round % 2]);
		for (uint64_t n = next_random(&random) % 8; n > 0; n--)
			px_test_trace(type, next++);
		for (uint64_t n = next_random(&random) % 2000; n > 0; n--)
			__atomic_signal_fence(__ATOMIC_SEQ_CST);
		px_test_trace(type, next++);
		pthread_cancel(thread);
		px_test_trace(type, next++);
		pthread_join(thread, &result);
		ck_assert_ptr_eq(result, PTHREAD_CANCELED);
	}
	while (px_test_take(stream, &seen))
		times_seen[px_test_number(&seen)]++;
	expect_each_once(next, nr_abandoned());
	ok(posix_trace_shutdown(stream));
}
END_TEST

/* Functions that must not act on a cancellation, and functions for which the library promises this (GEN-7). */

static void call_attributes(void)
{
	struct timespec time;
	char text[TRACE_NAME_MAX + 1];
	trace_attr_t attr;
	size_t size;
	int policy;

	posix_trace_attr_init(&attr);
	posix_trace_attr_getclockres(&attr, &time);
	posix_trace_attr_getcreatetime(&attr, &time);
	posix_trace_attr_getgenversion(&attr, text);
	posix_trace_attr_setname(&attr, "name");
	posix_trace_attr_getname(&attr, text);
	posix_trace_attr_setinherited(&attr, POSIX_TRACE_INHERITED);
	posix_trace_attr_getinherited(&attr, &policy);
	posix_trace_attr_setstreamfullpolicy(&attr, POSIX_TRACE_UNTIL_FULL);
	posix_trace_attr_getstreamfullpolicy(&attr, &policy);
	posix_trace_attr_setmaxdatasize(&attr, 1);
	posix_trace_attr_getmaxdatasize(&attr, &size);
	posix_trace_attr_getmaxsystemeventsize(&attr, &size);
	posix_trace_attr_getmaxusereventsize(&attr, 1, &size);
	posix_trace_attr_setstreamsize(&attr, 1);
	posix_trace_attr_getstreamsize(&attr, &size);
	posix_trace_attr_destroy(&attr);
}

static void call_eventsets(void)
{
	trace_event_set_t set;
	int is_member;

	posix_trace_eventset_empty(&set);
	posix_trace_eventset_fill(&set, POSIX_TRACE_ALL_EVENTS);
	posix_trace_eventset_add(type, &set);
	posix_trace_eventset_del(type, &set);
	posix_trace_eventset_ismember(type, &set, &is_member);
}

static void call_event(void)
{
	px_test_trace(type, 1); /* a thread's first */
	px_test_trace(type, 2);
}

static void call_eventid(void)
{
	char name[TRACE_EVENT_NAME_MAX + 1];
	trace_event_id_t id;

	posix_trace_eventid_open("new", &id);
	posix_trace_trid_eventid_open(stream, "newer", &id);
	posix_trace_eventid_equal(stream, id, type);
	posix_trace_eventid_get_name(stream, id, name);
}

static void call_start_and_stop(void)
{
	posix_trace_stop(stream);
	posix_trace_start(stream);
	posix_trace_start(stream);
}

static void call_trygetnext(void)
{
	struct call call = prepared(TRY);

	px_test_trace(type, 3);
	get(&call);
	get(&call);
	get(&call);
}

static void call_create_and_shutdown(void)
{
	trace_id_t another;

	posix_trace_create(0, NULL, &another);
	posix_trace_shutdown(another);
}

static void call_control(void)
{
	struct posix_trace_status_info status;
	trace_event_set_t set;
	trace_event_id_t id;
	trace_attr_t attr;
	int unavailable;

	posix_trace_get_attr(stream, &attr);
	posix_trace_get_status(stream, &status);
	posix_trace_get_filter(stream, &set);
	posix_trace_set_filter(stream, &set, POSIX_TRACE_SET_EVENTSET);
	posix_trace_eventtypelist_getnext_id(stream, &id, &unavailable);
	posix_trace_eventtypelist_rewind(stream);
	posix_trace_clear(stream);
}

/* The writer disappeared in its record, so the reader must ask the kernel about the writer. */
static void vanish_when_claimed(const char *name)
{
	if (strcmp(name, "ring.claim.done") == 0)
		px_test_vanish();
}

static void *vanish(void *unused)
{
	(void)unused;
	px_test_trace(type, 666);
	return NULL;
}

static void let_a_writer_vanish(void)
{
	pthread_t thread;

	px_store_release(&px_testpoint_hook, vanish_when_claimed);
	pthread_create(&thread, NULL, vanish, NULL);
	px_test_join(thread);
	px_store_release(&px_testpoint_hook, NULL);
}

static void call_trygetnext_behind_a_dead_writer(void)
{
	struct call call = prepared(TRY);

	do
		get(&call);
	while (call.unavailable);
}

static void (*const no_points[])(void) = {
	call_attributes,
	call_eventsets,
	call_event,
	call_eventid,
	call_start_and_stop,
	call_trygetnext,
	call_create_and_shutdown,
	call_control,
};

/* GEN-6 GEN-7 CANC-3 START-8 TRY-5 */
START_TEST(any_function_but_getnext_is_no_cancellation_point)
{
	px_test_with_cancellation_pending(no_points[_i]);
}
END_TEST

/* GEN-6 CANC-3 TRY-5 */
START_TEST(trygetnext_behind_a_dead_writer_is_no_cancellation_point)
{
	if (PX_IS_SANITIZED) {
		px_test_skip("a sanitizer does not let a thread vanish");
		return;
	}
	let_a_writer_vanish();
	px_test_trace(type, 1);
	px_test_with_cancellation_pending(call_trygetnext_behind_a_dead_writer);
}
END_TEST

/* For all functions. */

/* GEN-2: a successful call leaves errno unchanged, even if the library had to ask the kernel */
START_TEST(getnext_behind_a_dead_writer_keeps_errno)
{
	struct timespec abstime = in_ms(1000000);
	struct call call = prepared(_i);

	if (PX_IS_SANITIZED) {
		px_test_skip("a sanitizer does not let a thread vanish");
		return;
	}
	call.abstime = &abstime;
	let_a_writer_vanish();
	px_test_trace(type, 1);
	errno = STRANGE_ERRNO;
	ok(get(&call));
	ck_assert_int_eq(errno, STRANGE_ERRNO);
	ck_assert_uint_eq(call.info.posix_event_id, POSIX_TRACE_OVERFLOW);
	ok(get(&call));
	ck_assert_uint_eq(call.info.posix_event_id, POSIX_TRACE_RESUME);
	ok(get(&call));
	ck_assert_int_eq(errno, STRANGE_ERRNO);
	ck_assert_uint_eq(call.info.posix_event_id, type);
}
END_TEST

/* GEN-2: writers report that they find no slot, so the reader asks the kernel about each owner */
START_TEST(clear_behind_a_dead_writer_keeps_errno)
{
	struct px_stream *inner;
	struct px_ring ring;

	if (PX_IS_SANITIZED) {
		px_test_skip("a sanitizer does not let a thread vanish");
		return;
	}
	let_a_writer_vanish();
	inner = px_handle_lock(stream);
	ck_assert_ptr_nonnull(inner);
	for (uint32_t i = 0; i < inner->view.rings.nr_rings; i++) {
		ring = px_rings_get(&inner->view.rings, i);
		px_fetch_add(&ring.control->given_up, UINT64_C(1));
	}
	px_handle_unlock(stream);
	errno = STRANGE_ERRNO;
	ok(posix_trace_clear(stream));
	ck_assert_int_eq(errno, STRANGE_ERRNO);
}
END_TEST

/* GEN-2 */
START_TEST(any_function_keeps_errno)
{
	for (size_t i = 0; i < PX_ARRAY_SIZE(no_points); i++) {
		errno = STRANGE_ERRNO;
		no_points[i]();
		ck_assert_msg(errno == STRANGE_ERRNO, "group %zu changes errno to %d", i, errno);
	}
}
END_TEST

/* GEN-1 GEN-2 GEN-9: the result is the error number, not -1, and the call does not use errno */
START_TEST(any_function_returns_the_error_number)
{
	errno = STRANGE_ERRNO;
	ck_assert_ptr_null(px_test_accepting(0));
	ck_assert_int_eq(errno, STRANGE_ERRNO);
}
END_TEST

/* Call each group as often as possible, in several threads on one stream. */
static uint32_t is_over;

static void *call_for_ever(void *unused)
{
	(void)unused;
	for (size_t i = 0; !px_load_acquire(&is_over); i++)
		no_points[i % PX_ARRAY_SIZE(no_points)]();
	return NULL;
}

/* GEN-3 */
START_TEST(any_function_in_many_threads_at_once_works)
{
	pthread_t threads[4];

	for (int i = 0; i < 4; i++)
		pthread_create(&threads[i], NULL, call_for_ever, NULL);
	for (uint32_t i = 0; i < 300; i++) {
		struct timespec abstime = in_ms(1);
		struct call call = prepared(TIMED);

		call.abstime = &abstime;
		get(&call);
		ck_assert(call.result == 0 || call.result == ETIMEDOUT);
	}
	px_store_release(&is_over, 1);
	for (int i = 0; i < 4; i++)
		pthread_join(threads[i], NULL);
	ok(posix_trace_clear(stream));
	ok(posix_trace_start(stream));
	while (px_test_take(stream, &seen))
		;
	px_test_trace(type, 99);
	expect_number(type, 99);
}
END_TEST

static unsigned int nr_threads_of_process(void)
{
	DIR *directory = opendir("/proc/self/task");
	unsigned int n = 0;

	ck_assert_ptr_nonnull(directory);
	while (readdir(directory))
		n++;
	closedir(directory);
	return n;
}

/* SIG-4: the library has no helper threads to which a signal could go */
START_TEST(any_function_makes_no_thread)
{
	unsigned int before = nr_threads_of_process();

	for (size_t i = 0; i < PX_ARRAY_SIZE(no_points); i++)
		no_points[i]();
	ck_assert_uint_eq(nr_threads_of_process(), before);
}
END_TEST

/* SIG-5 */
START_TEST(any_function_leaves_handlers_and_mask_alone)
{
	struct sigaction before[NSIG], after;
	struct timespec past = {0, 0};
	struct call call = prepared(TIMED);
	sigset_t mask_before, mask_after;

	memset(before, 0, sizeof(before));
	for (int i = 1; i < NSIG; i++)
		sigaction(i, NULL, &before[i]);
	pthread_sigmask(SIG_SETMASK, NULL, &mask_before);
	for (size_t i = 0; i < PX_ARRAY_SIZE(no_points); i++)
		no_points[i]();
	call.abstime = &past;
	get(&call);
	pthread_sigmask(SIG_SETMASK, NULL, &mask_after);
	for (int i = 1; i < NSIG; i++) {
		if (sigaction(i, NULL, &after) != 0)
			continue; /* a thread of the C library */
		ck_assert(before[i].sa_handler == after.sa_handler);
		ck_assert_int_eq(before[i].sa_flags, after.sa_flags);
		ck_assert_int_eq(sigismember(&mask_before, i), sigismember(&mask_after, i));
	}
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

static void add_report_tests(Suite *suite)
{
	TCase *tcase = add_case(suite, "reports");

	tcase_add_loop_test(tcase, getnext_event_available_is_reported, 0, NR_KINDS);
	tcase_add_loop_test(tcase, getnext_events_come_oldest_first, 0, NR_KINDS);
	tcase_add_test(tcase, trygetnext_empty_stream_returns_0_and_unavailable);
	tcase_add_loop_test(tcase, getnext_buffer_of_any_size_gets_what_fits, 0, NR_KINDS);
	tcase_add_loop_test(tcase, getnext_truncated_record_shows_unless_cut_again, 0, NR_KINDS);
	tcase_add_loop_test(tcase, getnext_no_buffer_for_an_event_without_data_is_as_recorded, 0,
			    NR_KINDS);
	tcase_add_loop_test(tcase, getnext_system_event_is_cut_only_by_the_buffer, 0, NR_KINDS);
	tcase_add_test(tcase, getnext_reported_event_frees_its_space);
	tcase_add_test(tcase, getnext_stopped_stream_reports_what_it_has);
	tcase_add_test(tcase, trygetnext_events_replaced_meanwhile_still_finds_one);
	tcase = add_case(suite, "bad input");
	tcase_add_loop_test(tcase, getnext_bad_trid_gives_einval_and_touches_nothing, 0, NR_KINDS);
	tcase_add_loop_test(tcase, getnext_null_arguments_give_einval, 0, NR_KINDS);
}

static void add_wait_tests(Suite *suite)
{
	TCase *tcase = add_case(suite, "waiting");

	tcase_add_loop_test(tcase, getnext_empty_stream_waits_for_an_event, GETNEXT, TRY);
	tcase_add_loop_test(tcase, getnext_stream_not_started_waits_too, GETNEXT, TRY);
	tcase_add_test(tcase, getnext_several_readers_share_the_events);
	tcase_add_test(tcase, getnext_one_event_ends_one_wait);
	tcase_add_test(tcase, getnext_shutdown_ends_all_waits_with_einval);
	tcase_add_loop_test(tcase, getnext_waiting_is_not_moved_to_the_next_stream, GETNEXT, TRY);
	tcase = add_case(suite, "timed");
	tcase_add_test(tcase, timedgetnext_without_event_ends_at_abstime);
	tcase_add_test(tcase, timedgetnext_time_in_the_past_ends_at_once);
	tcase_add_test(tcase, timedgetnext_available_event_needs_no_valid_time);
	tcase_add_test(tcase, timedgetnext_invalid_time_without_event_gives_einval);
	tcase_add_test(tcase, timedgetnext_time_at_the_end_of_time_waits_for_an_event);
}

static void add_signal_tests(Suite *suite)
{
	TCase *tcase = add_case(suite, "signals");

	tcase_add_loop_test(tcase, getnext_handler_without_restart_ends_the_wait_with_eintr,
			    GETNEXT, TRY);
	tcase_add_loop_test(tcase, getnext_handler_with_restart_does_not_end_the_wait, GETNEXT,
			    TRY);
	tcase_add_loop_test(tcase, getnext_blocked_signal_does_not_end_the_wait, GETNEXT, TRY);
	tcase_add_loop_test(tcase, getnext_event_from_the_interrupting_handler_is_returned, GETNEXT,
			    TRY);
	tcase_add_loop_test(tcase, getnext_signal_while_taking_an_event_returns_it, 0, NR_KINDS);
	tcase_add_test(tcase, getnext_storm_of_signals_loses_no_event);
	tcase_add_test(tcase, any_function_but_getnext_never_returns_eintr);
	tcase_add_test(tcase, any_function_makes_no_thread);
	tcase_add_test(tcase, any_function_leaves_handlers_and_mask_alone);
}

static void add_cancel_tests(Suite *suite)
{
	TCase *tcase = add_case(suite, "cancellation");

	tcase_add_loop_test(tcase, getnext_cancelled_while_it_waits_consumes_nothing, GETNEXT, TRY);
	tcase_add_loop_test(tcase, getnext_cancel_pending_on_entry_takes_no_event, GETNEXT, TRY);
	tcase_add_loop_test(tcase, getnext_with_cancellation_disabled_waits_on, GETNEXT, TRY);
	tcase_add_test(tcase, getnext_cancelling_one_reader_leaves_the_others);
	tcase_add_loop_test(tcase, getnext_cleanup_handlers_can_use_the_stream, GETNEXT, TRY);
	tcase_add_test(tcase, getnext_storm_of_cancellations_loses_no_event);
	tcase_add_loop_test(tcase, any_function_but_getnext_is_no_cancellation_point, 0,
			    (int)PX_ARRAY_SIZE(no_points));
	tcase_add_test(tcase, trygetnext_behind_a_dead_writer_is_no_cancellation_point);
	tcase = add_case(suite, "all functions");
	tcase_add_loop_test(tcase, getnext_behind_a_dead_writer_keeps_errno, 0, NR_KINDS);
	tcase_add_test(tcase, clear_behind_a_dead_writer_keeps_errno);
	tcase_add_test(tcase, any_function_keeps_errno);
	tcase_add_test(tcase, any_function_returns_the_error_number);
	tcase_add_test(tcase, any_function_in_many_threads_at_once_works);
}

int main(void)
{
	Suite *suite = suite_create("getnext");

	add_report_tests(suite);
	add_wait_tests(suite);
	add_signal_tests(suite);
	add_cancel_tests(suite);
	return run_suite(suite);
}
