/* SPDX-License-Identifier: MIT */
/* The services in many threads, in signal handlers, in children, and next to a POSIX stream. */
#include "support/common.h"

#include <signal.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <tx_trace_posix.h>
#include <unistd.h>

#include "base/compiler.h"
#include "lock.h"

#define NR_THREADS 4
#define NR_EVENTS 30000

static unsigned char memory[8 << 20] __attribute__((aligned(64)));

static TX_TRACE_HEADER *header = (TX_TRACE_HEADER *)memory;
static TX_TRACE_OBJECT_ENTRY *slot = (TX_TRACE_OBJECT_ENTRY *)(memory + sizeof(TX_TRACE_HEADER));
static TX_TRACE_BUFFER_ENTRY *entry;
static unsigned int nr_entries;

static void begin(unsigned int slots, unsigned int entries)
{
	unsigned int size = (unsigned int)(sizeof(*header) + slots * sizeof(*slot) + entries * sizeof(*entry));

	memset(memory, 0, sizeof(memory));
	entry = (TX_TRACE_BUFFER_ENTRY *)(slot + slots);
	nr_entries = entries;
	ck_assert_uint_le(size, sizeof(memory));
	ck_assert_uint_eq(tx_trace_enable(memory, size, slots), TX_SUCCESS);
}

static unsigned int current(void)
{
	return (header->tx_trace_header_buffer_current_pointer - header->tx_trace_header_buffer_start_pointer) /
	       (unsigned int)sizeof(*entry);
}

/* The i-th oldest entry. */
static const TX_TRACE_BUFFER_ENTRY *oldest(unsigned int i)
{
	unsigned int first = entry[nr_entries - 1].tx_trace_buffer_entry_thread_pointer ? current() : 0;

	return &entry[(first + i) % nr_entries];
}

static uint32_t handles[NR_THREADS];
static pthread_barrier_t barrier;

static uint32_t mixed(uint32_t n, uint32_t k)
{
	return (n + 1) * 2654435761u + k;
}

static void *write_events(void *argument)
{
	uint32_t number = (uint32_t)(uintptr_t)argument;
	static int object[NR_THREADS];

	pthread_barrier_wait(&barrier);
	for (uint32_t i = 0; i < NR_EVENTS; i++) {
		uint32_t n = number << 24 | i;

		if (i % 3 == 0)
			tx_trace_user_event_insert(4096 + number, n, mixed(n, 1), mixed(n, 2), mixed(n, 3));
		else
			TX_TRACE_IN_LINE_INSERT(4096 + number, n, mixed(n, 1), mixed(n, 2), mixed(n, 3),
						TX_TRACE_QUEUE_EVENTS)
		if (i % 1000 == 0) {
			TX_TRACE_OBJECT_REGISTER(TX_TRACE_OBJECT_TYPE_QUEUE, &object[number], "queue", 0, 0)
			tx_trace_posix_handle(&object[(number + 1) % NR_THREADS]);
			TX_TRACE_OBJECT_UNREGISTER(&object[number])
		}
	}
	handles[number] = tx_trace_posix_handle((const VOID *)pthread_self());
	return NULL;
}

static void run_threads(void)
{
	pthread_t thread[NR_THREADS];

	pthread_barrier_init(&barrier, NULL, NR_THREADS);
	for (uintptr_t i = 0; i < NR_THREADS; i++)
		ck_assert_int_eq(pthread_create(&thread[i], NULL, write_events, (void *)i), 0);
	for (int i = 0; i < NR_THREADS; i++)
		pthread_join(thread[i], NULL);
	pthread_barrier_destroy(&barrier);
}

/* Check that the entries are whole, that the events of each thread are in order, and that no stamp falls. */
static void check_entries(unsigned int nr_found, bool all)
{
	uint32_t next[NR_THREADS] = {0};
	uint32_t last = 0, n;

	for (unsigned int i = 0; i < nr_found; i++) {
		const TX_TRACE_BUFFER_ENTRY *at = oldest(i);
		uint32_t number = at->tx_trace_buffer_entry_event_id - 4096;

		ck_assert(at->tx_trace_buffer_entry_time_stamp >= last);
		last = at->tx_trace_buffer_entry_time_stamp;
		if (at->tx_trace_buffer_entry_event_id == TX_TRACE_RUNNING)
			continue;
		ck_assert_uint_lt(number, NR_THREADS);
		ck_assert_uint_eq(at->tx_trace_buffer_entry_thread_pointer, handles[number]);
		n = at->tx_trace_buffer_entry_information_field_1;
		ck_assert_uint_eq(n >> 24, number);
		ck_assert_uint_eq(at->tx_trace_buffer_entry_information_field_2, mixed(n, 1));
		ck_assert_uint_eq(at->tx_trace_buffer_entry_information_field_3, mixed(n, 2));
		ck_assert_uint_eq(at->tx_trace_buffer_entry_information_field_4, mixed(n, 3));
		n &= 0xFFFFFF;
		if (all || next[number] != 0)
			ck_assert_uint_eq(n, next[number]);
		next[number] = n + 1;
	}
	for (int i = 0; all && i < NR_THREADS; i++)
		ck_assert_uint_eq(next[i], NR_EVENTS);
}

START_TEST(insert_many_threads_loses_and_tears_nothing)
{
	begin(16, NR_THREADS * NR_EVENTS + 3);
	run_threads();
	ck_assert_uint_eq(current(), NR_THREADS * NR_EVENTS + 2);
	check_entries(NR_THREADS * NR_EVENTS + 2, true);
	tx_trace_disable();
	ck_assert_uint_eq(tx_trace_posix_lost(), 0);
}
END_TEST

static unsigned int nr_wraps;

static void on_wrap(VOID *buffer)
{
	/* All threads wait meanwhile, so the buffer is whole. */
	nr_wraps++;
	if (buffer != memory || current() != 0)
		nr_wraps += 1000000;
}

START_TEST(insert_many_threads_wrap_whole_entries)
{
	nr_wraps = 0;
	tx_trace_buffer_full_notify(on_wrap);
	begin(16, 1001);
	run_threads();
	check_entries(nr_entries, false);
	ck_assert_uint_eq(nr_wraps, (NR_THREADS * NR_EVENTS + 2) / 1001);
	tx_trace_buffer_full_notify(NULL);
	tx_trace_disable();
}
END_TEST

START_TEST(threads_that_end_release_their_slots)
{
	begin(2, 16);
	for (unsigned int i = 0; i < 5; i++) {
		pthread_t thread;

		ck_assert_int_eq(pthread_create(&thread, NULL,
						(void *(*)(void *))(void (*)(void))tx_trace_posix_lost, NULL), 0);
		pthread_join(thread, NULL);
	}
	ck_assert_uint_eq(slot[1].tx_trace_object_entry_type, 0); /* they recorded nothing */
	tx_trace_disable();
	begin(6, NR_THREADS * NR_EVENTS + 3);
	run_threads();
	for (unsigned int i = 1; i < 5; i++) {
		if (slot[i].tx_trace_object_entry_type == TX_TRACE_OBJECT_TYPE_THREAD) {
			ck_assert_uint_eq(slot[i].tx_trace_object_entry_available, 1);
			ck_assert_uint_eq(slot[i].tx_trace_object_entry_reserved1 & 0xFC, 0x80);
		}
	}
	tx_trace_disable();
}
END_TEST

static unsigned int nr_in_handler;
static bool wants_disable;

static void insert_in_handler(void)
{
	tx_trace_isr_enter_insert(9);
	for (unsigned int i = 0; i < nr_in_handler; i++)
		tx_trace_user_event_insert(6000, i, 0, 0, 0);
	tx_trace_isr_exit_insert(9);
	if (wants_disable)
		ck_assert_uint_eq(tx_trace_disable(), TX_SUCCESS);
}

static void insert_interrupted(const char *point, unsigned int nr, bool disable)
{
	begin(2, 64);
	nr_in_handler = nr;
	wants_disable = disable;
	px_test_in_handler_at_point(point, insert_in_handler);
	tx_trace_user_event_insert(5000, 1, 2, 3, 4);
}

START_TEST(insert_in_a_handler_inside_an_insert_is_kept)
{
	static const char *const points[] = {"threadx.insert.locked", "threadx.insert.written"};

	insert_interrupted(points[_i], 3, false);
	/* The interrupted event, then those of the handler. */
	ck_assert_uint_eq(current(), 2 + 1 + 5);
	ck_assert_uint_eq(entry[2].tx_trace_buffer_entry_event_id, 5000);
	ck_assert_uint_ne(entry[2].tx_trace_buffer_entry_thread_pointer, 0xFFFFFFFF);
	ck_assert_uint_eq(entry[3].tx_trace_buffer_entry_event_id, TX_TRACE_ISR_ENTER);
	ck_assert_uint_eq(entry[7].tx_trace_buffer_entry_event_id, TX_TRACE_ISR_EXIT);
	for (unsigned int i = 3; i < 8; i++) {
		ck_assert_uint_eq(entry[i].tx_trace_buffer_entry_thread_pointer, 0xFFFFFFFF);
		ck_assert_uint_ge(entry[i].tx_trace_buffer_entry_time_stamp,
				  entry[i - 1].tx_trace_buffer_entry_time_stamp);
	}
	tx_trace_user_event_insert(5001, 1, 2, 3, 4);
	ck_assert_uint_eq(current(), 9);
	tx_trace_disable();
}
END_TEST

START_TEST(insert_in_a_handler_beyond_16_events_is_counted)
{
	uint32_t before = tx_trace_posix_lost();

	insert_interrupted("threadx.insert.locked", 20, false);
	ck_assert_uint_eq(current(), 2 + 1 + 16);
	ck_assert_uint_eq(tx_trace_posix_lost() - before, 6);
	tx_trace_user_event_insert(5001, 1, 2, 3, 4);
	ck_assert_uint_eq(current(), 2 + 1 + 16 + 1);
	tx_trace_disable();
}
END_TEST

START_TEST(disable_in_a_handler_inside_an_insert_happens_after_it)
{
	insert_interrupted("threadx.insert.locked", 1, true);
	ck_assert_uint_eq(current(), 2 + 1 + 3);
	ck_assert_uint_eq(tx_trace_user_event_insert(5000, 1, 2, 3, 4), TX_NOT_DONE);
	ck_assert_uint_eq(tx_trace_disable(), TX_NOT_DONE);
	begin(2, 8);
	ck_assert_uint_eq(tx_trace_disable(), TX_SUCCESS);
}
END_TEST

static void *disable_twice(void *argument)
{
	return tx_trace_disable() == TX_SUCCESS && tx_trace_disable() == TX_NOT_DONE ? argument : NULL;
}

static int in_child(void *argument)
{
	(void)argument;
	/* The trace of the parent is off here, and the child can begin its own. */
	if (tx_trace_user_event_insert(5000, 1, 2, 3, 4) != TX_NOT_DONE)
		return 1;
	if (tx_trace_enable(memory, 4096, 2) != TX_SUCCESS)
		return 2;
	return tx_trace_user_event_insert(5000, 1, 2, 3, 4) == TX_SUCCESS ? 0 : 3;
}

static atomic_int must_end;

static void *insert_until_told(void *argument)
{
	while (!atomic_load(&must_end))
		tx_trace_user_event_insert(5000, 1, 2, 3, 4);
	return argument;
}

START_TEST(fork_child_has_no_trace_and_the_parent_goes_on)
{
	pthread_t thread;

	begin(4, 1000);
	atomic_store(&must_end, 0);
	ck_assert_int_eq(pthread_create(&thread, NULL, insert_until_told, NULL), 0);
	for (int i = 0; i < 20; i++)
		ck_assert_int_eq(px_test_in_child(in_child, NULL), 0);
	atomic_store(&must_end, 1);
	pthread_join(thread, NULL);
	ck_assert_uint_eq(tx_trace_user_event_insert(5000, 1, 2, 3, 4), TX_SUCCESS);
	ck_assert_int_eq(pthread_create(&thread, NULL, disable_twice, memory), 0);
	void *result;

	pthread_join(thread, &result);
	ck_assert_ptr_eq(result, memory);
}
END_TEST

static void expect_event(trace_id_t trid, const char *name, const uint32_t *words, size_t nr_words)
{
	struct px_test_event event;
	trace_event_id_t type = px_test_take(trid, &event);
	char found[TRACE_EVENT_NAME_MAX + 1];

	ck_assert_uint_ne(type, 0);
	ok(posix_trace_eventid_get_name(trid, type, found));
	ck_assert_str_eq(found, name);
	ck_assert_uint_eq(event.length, nr_words * sizeof(*words));
	ck_assert(memcmp(event.data, words, event.length) == 0);
}

START_TEST(posix_stream_has_the_same_events)
{
	trace_id_t trid = px_test_create(&(struct px_test_stream){0});
	struct px_test_event event;
	static int queue;
	uint32_t handle, words[12] = {0, TX_TRACE_OBJECT_TYPE_QUEUE, 7, 8};

	begin(4, 16);
	TX_TRACE_OBJECT_REGISTER(TX_TRACE_OBJECT_TYPE_QUEUE, &queue, "queue", 0, 0)
	ok(posix_trace_start(trid));
	px_test_expect(trid, POSIX_TRACE_START, &event);
	TX_TRACE_IN_LINE_INSERT(TX_TRACE_QUEUE_SEND, &queue, 2, 3, 4, TX_TRACE_QUEUE_EVENTS)
	tx_trace_user_event_insert(4711, 5, 6, 7, 8);
	tx_trace_event_filter(TX_TRACE_QUEUE_EVENTS);
	TX_TRACE_IN_LINE_INSERT(TX_TRACE_QUEUE_SEND, &queue, 2, 3, 4, TX_TRACE_QUEUE_EVENTS)
	expect_event(trid, "TX_TRACE_QUEUE_SEND", (const uint32_t[]){tx_trace_posix_handle(&queue), 2, 3, 4}, 4);
	expect_event(trid, "TX_TRACE_USER_EVENT_4711", (const uint32_t[]){5, 6, 7, 8}, 4);
	/* The stream also has events while there is no buffer. */
	tx_trace_disable();
	ck_assert_uint_eq(tx_trace_user_event_insert(4711, 9, 9, 9, 9), TX_NOT_DONE);
	expect_event(trid, "TX_TRACE_USER_EVENT_4711", (const uint32_t[]){9, 9, 9, 9}, 4);
	/* Which object a word stands for. */
	TX_TRACE_OBJECT_UNREGISTER(&queue)
	handle = tx_trace_posix_handle(&queue);
	expect_event(trid, "TX_TRACE_OBJECT_UNREGISTER", &handle, 1);
	TX_TRACE_OBJECT_REGISTER(TX_TRACE_OBJECT_TYPE_QUEUE, &queue, "again", 7, 8)
	words[0] = tx_trace_posix_handle(&queue);
	ck_assert_uint_ne(words[0], handle);
	strcpy((char *)(words + 4), "again");
	expect_event(trid, "TX_TRACE_OBJECT_REGISTER", words, 12);
	/* In an interrupt no type can be opened. */
	tx_trace_event_filter(TX_TRACE_INTERNAL_EVENTS);
	tx_trace_isr_enter_insert(1);
	tx_trace_user_event_insert(4712, 1, 2, 3, 4);
	tx_trace_isr_exit_insert(1);
	expect_event(trid, "TX_TRACE_EVENT", (const uint32_t[]){4712, 1, 2, 3, 4}, 5);
	px_test_expect(trid, 0, &event);
	ok(posix_trace_shutdown(trid));
	TX_TRACE_OBJECT_UNREGISTER(&queue)
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("threadx/threads");
	TCase *threads = tcase_create("threads");

	tcase_add_test(threads, insert_many_threads_loses_and_tears_nothing);
	tcase_add_test(threads, insert_many_threads_wrap_whole_entries);
	tcase_add_test(threads, threads_that_end_release_their_slots);
	tcase_add_loop_test(threads, insert_in_a_handler_inside_an_insert_is_kept, 0, 2);
	tcase_add_test(threads, insert_in_a_handler_beyond_16_events_is_counted);
	tcase_add_test(threads, disable_in_a_handler_inside_an_insert_happens_after_it);
	tcase_add_test(threads, fork_child_has_no_trace_and_the_parent_goes_on);
	tcase_add_test(threads, posix_stream_has_the_same_events);
	suite_add_tcase(suite, threads);
	return run_suite(suite);
}
