/* SPDX-License-Identifier: MIT */
/* The map of threads: it finds threads that have left the table. */
#include "support/common.h"

#include <stdio.h>
#include <string.h>

#include "event/threadmap.h"

static struct px_threads threads;
static struct px_threadmap *map;

static void setup(void)
{
	memset(&threads, 0, sizeof(threads));
	map = px_threadmap_make(&threads);
	ck_assert_ptr_nonnull(map);
}

static void teardown(void)
{
	px_threadmap_free(map);
}

/* Thread n belongs to process 4711; thread 7 is its first thread. */
static struct px_object thread_of(uint32_t n)
{
	struct px_object object = {.handle = px_txtb_handle(PX_TXTB_THREAD, n),
				   .type = PX_TXTB_THREAD,
				   .pid = 4711,
				   .tid = n == 7 ? 4711 : 1000000 + n,
				   .thread = n * UINT64_C(3)};

	snprintf(object.name, sizeof(object.name), "thread %u", n);
	return object;
}

/* Add threads to the table, and let the map collect them before they leave it. */
static void add_threads(uint32_t from, uint32_t to)
{
	for (uint32_t n = from; n < to; n++) {
		struct px_object object = thread_of(n);

		px_threads_add(&threads, &object);
		if (n % (PX_THREADS_MAX / 2) == 0)
			px_threadmap_collect(map);
	}
	px_threadmap_collect(map);
}

static bool is_known(uint32_t n)
{
	struct px_object wanted = thread_of(n), found;

	if (!px_threadmap_find(map, wanted.handle, &found))
		return false;
	ck_assert(memcmp(&found, &wanted, sizeof(found)) == 0);
	ck_assert_uint_eq(px_threadmap_find_tid(map, wanted.pid, wanted.tid), wanted.handle);
	return true;
}

START_TEST(threadmap_has_threads_that_left_the_table)
{
	add_threads(1, 20001);
	for (uint32_t n = 1; n <= 20000; n++)
		ck_assert_msg(is_known(n), "thread %u", n);
	ck_assert(!is_known(20001));
}
END_TEST

/* A thread that is only in the table is found there. */
START_TEST(threadmap_has_threads_that_were_not_collected)
{
	struct px_object object = thread_of(5);

	ck_assert(!is_known(5));
	px_threads_add(&threads, &object);
	ck_assert(is_known(5));
	add_threads(6, 100);
	object = thread_of(100);
	px_threads_add(&threads, &object);
	ck_assert(is_known(5));
	ck_assert(is_known(100));
}
END_TEST

/* The memory is bounded: the map forgets the oldest threads, but not the first thread of a process. */
START_TEST(threadmap_that_is_full_keeps_the_newest)
{
	add_threads(1, PX_THREADMAP_MAX + 5001);
	ck_assert(is_known(7));
	for (uint32_t n = 8; n <= 4900; n++)
		ck_assert_msg(!is_known(n), "thread %u", n);
	for (uint32_t n = 5100; n <= PX_THREADMAP_MAX + 5000; n++)
		ck_assert_msg(is_known(n), "thread %u", n);
}
END_TEST

/* A tid is used again: the newest thread with it is found. */
START_TEST(threadmap_finds_the_newest_thread_of_a_tid)
{
	struct px_object object = thread_of(300000);

	add_threads(1, 3000);
	object.tid = thread_of(50).tid;
	for (int i = 0; i < 2; i++) {
		if (i == 0)
			px_threads_add(&threads, &object);
		else
			px_threadmap_collect(map);
		ck_assert_uint_eq(px_threadmap_find_tid(map, object.pid, object.tid),
				  object.handle);
	}
}
END_TEST

/* If a thread is still adding itself, the map collects it later, and still collects those after it. */
START_TEST(threadmap_collects_a_thread_that_was_late)
{
	struct px_object object = thread_of(11);
	uint64_t serial, word;

	add_threads(1, 11);
	serial = px_threads_add(&threads, &object);
	word = threads.entry[serial].word;
	threads.entry[serial].word |= 1;
	add_threads(12, 20);
	ck_assert(!is_known(11));
	for (uint32_t n = 12; n < 20; n++)
		ck_assert(is_known(n));
	threads.entry[serial].word = word;
	add_threads(20, 20000);
	ck_assert(is_known(11));
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("threadmap");
	TCase *tcase = tcase_create("map");

	tcase_add_checked_fixture(tcase, setup, teardown);
	tcase_add_test(tcase, threadmap_has_threads_that_left_the_table);
	tcase_add_test(tcase, threadmap_has_threads_that_were_not_collected);
	tcase_add_test(tcase, threadmap_that_is_full_keeps_the_newest);
	tcase_add_test(tcase, threadmap_finds_the_newest_thread_of_a_tid);
	tcase_add_test(tcase, threadmap_collects_a_thread_that_was_late);
	suite_add_tcase(suite, tcase);
	return run_suite(suite);
}
