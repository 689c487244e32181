/* SPDX-License-Identifier: MIT */
/* The short way of usual events from the rings to the log: nothing torn, nothing twice, every gap told, in order. */
#include "support/common.h"

#include <pthread.h>
#include <sched.h>
#include <string.h>
#include <trace_ext.h>

#include "base/compiler.h"
#include "stream/handle.h"
#include "stream/stream.h"

#define DATA_BYTES 100 /* three slots */
#define BEFORE 12

static trace_event_id_t type;
static int file;
static trace_id_t stream, log_id;
static struct px_test_event seen;
static uint32_t next_number;

static void setup(void)
{
	ok(posix_trace_eventid_open("run", &type));
	file = px_test_file();
}

static void teardown(void)
{
	__atomic_store_n(&px_testpoint_hook, NULL, __ATOMIC_RELEASE);
}

static void use_stream(int policy, size_t size, unsigned int nr_rings)
{
	stream = px_test_create_log(&(struct px_test_stream){.policy = policy,
							     .size = size,
							     .nr_rings = nr_rings,
							     .log_policy = POSIX_TRACE_APPEND},
				    file);
	ok(posix_trace_start(stream));
}

static void fill(unsigned char data[DATA_BYTES], uint32_t number)
{
	memcpy(data, &number, sizeof(number));
	px_test_fill(data + sizeof(number), DATA_BYTES - sizeof(number), number);
}

static void trace_many(uint32_t n)
{
	unsigned char data[DATA_BYTES];

	for (; n > 0; n--) {
		fill(data, next_number++);
		posix_trace_event(type, data, sizeof(data));
	}
}

static const char *point;
static uint32_t nr_to_pass, overtake_by;

/* Not at the first events of the flush: those go the long way. */
static void overtake(const char *at)
{
	uint32_t n = overtake_by;

	if (n == 0 || strcmp(at, point) != 0 || nr_to_pass-- > 0)
		return;
	overtake_by = 0;
	trace_many(n);
}

static void check_log(void)
{
	unsigned char data[DATA_BYTES];
	trace_event_id_t got;
	uint32_t next = 0, number;
	bool in_gap = false;

	log_id = px_test_open(file);
	while ((got = px_test_take_recorded(log_id, &seen)) != 0) {
		in_gap |= got == POSIX_TRACE_OVERFLOW;
		if (got != type)
			continue;
		ck_assert_uint_eq(seen.length, sizeof(data));
		memcpy(&number, seen.data, sizeof(number));
		fill(data, number);
		ck_assert_int_eq(memcmp(data, seen.data, sizeof(data)), 0);
		if (in_gap)
			ck_assert_uint_gt(number, next);
		else
			ck_assert_uint_eq(number, next);
		in_gap = false;
		next = number + 1;
	}
	ck_assert_uint_eq(next, next_number);
	ok(posix_trace_close(log_id));
}

static const char *const points[] = {"reader.run.added", "record.read.copied", "reader.take.copied"};

/* LOOP-6 LOOP-4: writers overtake a run at one of its records, by less and by more than a lap. */
START_TEST(run_overtaken_writes_nothing_torn)
{
	struct px_stream *inside;
	uint32_t slots, distances[5];

	use_stream(POSIX_TRACE_LOOP, 16384, 1);
	inside = px_handle_lock(stream);
	slots = inside->view.geometry.nr_slots;
	px_handle_unlock(stream);
	memcpy(distances, (uint32_t[]){1, slots / 6, slots / 3, slots / 3 + 1, slots}, sizeof(distances));
	for (size_t i = 0; i < PX_ARRAY_SIZE(distances); i++) {
		trace_many(BEFORE + 20);
		point = points[_i];
		nr_to_pass = BEFORE;
		overtake_by = distances[i];
		__atomic_store_n(&px_testpoint_hook, overtake, __ATOMIC_RELEASE);
		ok(posix_trace_flush(stream));
		__atomic_store_n(&px_testpoint_hook, NULL, __ATOMIC_RELEASE);
		ck_assert_uint_eq(overtake_by, 0); /* it did */
	}
	ok(posix_trace_shutdown(stream));
	check_log();
}
END_TEST

#define NR_WRITERS 3
#define NR_EACH 20000

static void *write_numbers(void *argument)
{
	uint32_t data[20] = {*(const uint32_t *)argument};

	for (data[1] = 0; data[1] < NR_EACH; data[1]++)
		posix_trace_event(type, data, data[1] % 3 == 0 ? sizeof(data) : 2 * sizeof(*data));
	return NULL;
}

/* EVENT-11: the rings of several CPUs become one sequence, in which no time falls and each writer has its order. */
START_TEST(run_of_several_rings_keeps_the_order)
{
	uint32_t number[NR_WRITERS], next[NR_WRITERS] = {0}, data[2];
	pthread_t writers[NR_WRITERS];
	struct timespec last = {0};
	trace_event_id_t got;

	use_stream(POSIX_TRACE_UNTIL_FULL, 16 << 20, 4);
	for (uint32_t i = 0; i < NR_WRITERS; i++) {
		number[i] = i;
		ck_assert_int_eq(pthread_create(&writers[i], NULL, write_numbers, &number[i]), 0);
	}
	for (uint32_t i = 0; i < NR_WRITERS; i++)
		pthread_join(writers[i], NULL);
	ok(posix_trace_shutdown(stream));
	log_id = px_test_open(file);
	while ((got = px_test_take_recorded(log_id, &seen)) != 0) {
		const struct timespec *time = &seen.info.posix_timestamp;

		ck_assert(time->tv_sec > last.tv_sec || (time->tv_sec == last.tv_sec && time->tv_nsec >= last.tv_nsec));
		last = *time;
		ck_assert(got != POSIX_TRACE_OVERFLOW);
		if (got != type)
			continue;
		memcpy(data, seen.data, sizeof(data));
		ck_assert_uint_lt(data[0], NR_WRITERS);
		ck_assert_uint_eq(data[1], next[data[0]]);
		ck_assert_uint_eq(seen.length, data[1] % 3 == 0 ? 20 * sizeof(*data) : 2 * sizeof(*data));
		next[data[0]]++;
	}
	for (uint32_t i = 0; i < NR_WRITERS; i++)
		ck_assert_uint_eq(next[i], NR_EACH);
	ok(posix_trace_close(log_id));
}
END_TEST

#define NR_TURNS 2000

static uint32_t turn;

/* Two threads on two CPUs record in turn, so the order of all events is known. */
static void *write_in_turn(void *argument)
{
	uint32_t own = *(const uint32_t *)argument, now;
	cpu_set_t cpus;

	CPU_ZERO(&cpus);
	CPU_SET(own, &cpus);
	sched_setaffinity(0, sizeof(cpus), &cpus); /* if this fails, both may be on one CPU */
	while ((now = __atomic_load_n(&turn, __ATOMIC_ACQUIRE)) < NR_TURNS) {
		if (now % 2 != own) {
			sched_yield();
			continue;
		}
		for (uint32_t i = 0; i < 1 + now % 3; i++)
			px_test_trace(type, next_number++);
		__atomic_store_n(&turn, now + 1, __ATOMIC_RELEASE);
	}
	return NULL;
}

/* EVENT-11: the same, if the program can observe the order. */
START_TEST(run_of_rings_in_turn_keeps_their_order)
{
	uint32_t number[2] = {0, 1}, expected = 0;
	pthread_t writers[2];
	trace_event_id_t got;

	use_stream(POSIX_TRACE_UNTIL_FULL, 4 << 20, 4);
	for (uint32_t i = 0; i < 2; i++)
		ck_assert_int_eq(pthread_create(&writers[i], NULL, write_in_turn, &number[i]), 0);
	for (uint32_t i = 0; i < 2; i++)
		pthread_join(writers[i], NULL);
	ok(posix_trace_shutdown(stream));
	log_id = px_test_open(file);
	while ((got = px_test_take_recorded(log_id, &seen)) != 0)
		if (got == type)
			ck_assert_uint_eq(px_test_number(&seen), expected++);
	ck_assert_uint_eq(expected, next_number);
	ok(posix_trace_close(log_id));
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("run");
	TCase *tcase = tcase_create("run");

	tcase_add_checked_fixture(tcase, setup, teardown);
	tcase_set_timeout(tcase, 60);
	tcase_add_loop_test(tcase, run_overtaken_writes_nothing_torn, 0, (int)PX_ARRAY_SIZE(points));
	tcase_add_test(tcase, run_of_several_rings_keeps_the_order);
	tcase_add_test(tcase, run_of_rings_in_turn_keeps_their_order);
	suite_add_tcase(suite, tcase);
	return run_suite(suite);
}
