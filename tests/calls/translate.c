/* SPDX-License-Identifier: MIT */
/*
 * Calls in the form in which ThreadX would have recorded them: the entries that the viewer shows for each record, what
 * a log does with it, and what the reader gets back.  The test writes the records itself, so that it can choose their
 * order.
 */
#include "support/common.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <trace_ext.h>
#include <unistd.h>

#include "base/program.h"
#include "calls/rules.h"
#include "calls/translate.h"
#include "log/archive_log.h"
#include "log/log.h"
#include "support/log_checker.h"
#include "support/new_log.h"
#include "support/txtb_checker.h"
#include "trace/callpoint.h"
#include "txtb/native.h"

#define PID 4711
#define BEGINS PX_RECORD_BEGINS
#define ENDS PX_RECORD_ENDS
#define IDLE PX_IDLE_THREAD
#define FOREVER UINT32_MAX
#define M1 UINT64_C(0x1000)
#define M2 UINT64_C(0x2000)

static struct px_threads threads;
static struct px_threadmap *map;
static struct px_translator *translator;
static struct px_translation translation;

/* Thread n of the traced program. */
static uint32_t thread(uint32_t n)
{
	return px_txtb_handle(PX_TXTB_THREAD, n);
}

static uint64_t pthread_of(uint32_t n)
{
	return 0x7000000 + n * 0x1000;
}

static uint32_t tid_of(uint32_t n)
{
	return 5000 + n;
}

static uint32_t word_of(uint32_t n)
{
	return px_txtb_priority_word(100 + n % 40);
}

static void introduce(uint32_t n)
{
	struct px_object object = {.handle = thread(n),
				   .type = PX_TXTB_THREAD,
				   .priority = 100 + n % 40,
				   .pid = PID,
				   .tid = tid_of(n),
				   .thread = pthread_of(n)};

	snprintf(object.name, sizeof(object.name), "worker %u", tid_of(n));
	px_threads_add(&threads, &object);
}

/* A recorded call: its data, and a record that holds them. */
static unsigned char bytes[512];
static size_t length;

static struct px_record record_of(uint32_t n, enum px_call call, uint32_t flags)
{
	static uint64_t counter;

	return (struct px_record){.counter = counter += 1000,
				  .address = 0x400000 + (uint64_t)call,
				  .thread = pthread_of(n),
				  .pid = PID,
				  .id = px_call_event(call),
				  .flags = flags | PX_RECORD_CALL,
				  .length = (uint32_t)length,
				  .context = thread(n),
				  .priority = word_of(n),
				  .cpu = n % 2};
}

static void object_data(uint64_t object, uint32_t value, uint32_t count, int result)
{
	union px_call_data data = {.of_object = {object, value, (uint16_t)count, (int16_t)result}};

	memcpy(bytes, &data, sizeof(data));
	length = sizeof(data);
}

static void fd_data(int fd, uint32_t value, int64_t result)
{
	union px_call_data data = {.of_fd = {fd, value, result}};

	memcpy(bytes, &data, sizeof(data));
	length = sizeof(data);
}

static void add_text(const char *text)
{
	memcpy(bytes + length, text, strlen(text));
	length += strlen(text);
}

static void translate(uint32_t n, enum px_call call, uint32_t flags)
{
	struct px_record record = record_of(n, call, flags);

	px_translate(translator, &record, bytes, length, &translation);
}

#define ON(n, call, flags, object, value, count, result)                                           \
	do {                                                                                       \
		object_data(object, value, count, result);                                         \
		translate(n, PX_CALL_##call, flags);                                               \
	} while (0)
#define ON_FD(n, call, flags, fd, value, result)                                                   \
	do {                                                                                       \
		fd_data(fd, value, result);                                                        \
		translate(n, PX_CALL_##call, flags);                                               \
	} while (0)

#define EXPECT(i, id_, context_, ...)                                                              \
	do {                                                                                       \
		const uint32_t words_[4] = {__VA_ARGS__};                                          \
		const struct px_entry *is_ = &translation.entries[i];                              \
		ck_assert_uint_lt((uint32_t)(i), translation.nr_entries);                          \
		ck_assert_uint_eq(is_->id, id_);                                                   \
		ck_assert_uint_eq(is_->context, context_);                                         \
		for (int k_ = 0; k_ < 4; k_++)                                                     \
			ck_assert_msg(is_->info[k_] == words_[k_], "word %d is %#x, not %#x", k_,  \
				      is_->info[k_], words_[k_]);                                  \
	} while (0)
#define EXPECT_COUNT(n) ck_assert_uint_eq(translation.nr_entries, n)
#define EXPECT_PLAIN()                                                                             \
	do {                                                                                       \
		ck_assert(!translation.is_native);                                                 \
		ck_assert_uint_ge(translation.entries[translation.own].id, PX_TXTB_USER_EVENT);    \
		ck_assert_mem_eq(translation.entries[translation.own].info, bytes, 16);            \
	} while (0)

/* The handle of the object in the entry of the record itself. */
static uint32_t object_in(unsigned int word)
{
	return translation.entries[translation.own].info[word];
}

static const char *name_of(uint32_t handle)
{
	const struct px_call_object *object = px_translator_find(translator, handle);

	ck_assert_ptr_nonnull(object);
	return object->object.name;
}

static void setup(void)
{
	memset(&threads, 0, sizeof(threads));
	for (uint32_t n = 1; n < 8; n++)
		introduce(n);
	map = px_threadmap_make(&threads);
	ck_assert_ptr_nonnull(map);
	translator = px_translator_make(map);
	ck_assert_ptr_nonnull(translator);
}

static void teardown(void)
{
	px_translator_free(translator);
	px_threadmap_free(map);
}

/* Rules. */

START_TEST(whole_call_is_its_native_event)
{
	uint32_t handle;

	ON(1, pthread_mutex_lock, 0, M1, 0, 0, 0);
	EXPECT_COUNT(1);
	handle = object_in(0);
	ck_assert_uint_eq(handle >> 24, PX_TXTB_MUTEX);
	EXPECT(0, 52, thread(1), handle, FOREVER, 0, 0);
	ck_assert(translation.is_native && translation.open == 0);
	ck_assert_uint_eq(translation.entries[0].handles, 1);
	ck_assert_uint_eq(translation.entries[0].priority, word_of(1));
	ON(1, pthread_mutex_unlock, 0, M1, tid_of(1), 1, 0);
	EXPECT_COUNT(1);
	EXPECT(0, 57, thread(1), handle, thread(1), 1, 0);
	ON(2, pthread_mutex_lock, 0, M2, 0, 0, 0);
	ck_assert_uint_ne(object_in(0), handle);
}
END_TEST

START_TEST(owner_who_is_not_traced_is_not_nobody)
{
	ON(1, pthread_mutex_trylock, 0, M1, 99999, 1, EBUSY);
	EXPECT(0, 52, thread(1), object_in(0), 0, PX_NO_THREAD, 1);
	/* A thread is also known if it is in the table but has recorded nothing yet. */
	ON(1, pthread_mutex_trylock, 0, M1, tid_of(5), 1, EBUSY);
	EXPECT(0, 52, thread(1), object_in(0), 0, thread(5), 1);
}
END_TEST

/* Thread 2 waits for thread 1 and is woken by it. */
START_TEST(wait_is_suspend_and_resume_by_who_ended_it)
{
	uint32_t handle;

	ON(1, pthread_mutex_lock, 0, M1, 0, 0, 0);
	handle = object_in(0);
	ON(2, pthread_mutex_lock, BEGINS, M1, tid_of(1), 1, 0);
	EXPECT_COUNT(2);
	EXPECT(0, 52, thread(2), handle, FOREVER, thread(1), 1);
	EXPECT(1, 2, thread(2), thread(2), 13, 0, IDLE);
	ck_assert_uint_eq(translation.own, 0);
	ck_assert_uint_eq(translation.open, 2);
	ON(1, pthread_mutex_unlock, 0, M1, tid_of(1), 1, 0);
	ON(2, pthread_mutex_lock, ENDS, M1, 0, 0, 0);
	EXPECT_COUNT(2);
	EXPECT(0, 1, thread(1), thread(2), 13, 0, thread(1));
	EXPECT(1, 6, thread(2), handle, 13, thread(1), 0);
	ck_assert_uint_eq(translation.own, 1);
	ck_assert_uint_eq(translation.entries[0].priority, word_of(1));
}
END_TEST

/* The wrapper records the unlock before the real unlock, and the wait begins after the first attempt. */
START_TEST(mutex_given_up_just_before_the_wait_tells_who_ended_it)
{
	ON(1, pthread_mutex_lock, 0, M1, 0, 0, 0);
	ON(1, pthread_mutex_unlock, 0, M1, tid_of(1), 1, 0);
	ON(2, pthread_mutex_lock, BEGINS, M1, tid_of(1), 1, 0);
	ON(2, pthread_mutex_lock, ENDS, M1, 0, 0, 0);
	EXPECT(0, 1, thread(1), thread(2), 13, 0, thread(1));
	/* But not if another thread took the mutex in between. */
	ON(2, pthread_mutex_unlock, 0, M1, tid_of(2), 1, 0);
	ON(3, pthread_mutex_lock, 0, M1, 0, 0, 0);
	ON(4, pthread_mutex_lock, BEGINS, M1, tid_of(3), 1, 0);
	ON(4, pthread_mutex_lock, ENDS, M1, 0, 0, 0);
	EXPECT(0, 1, IDLE, thread(4), 13, 0, IDLE);
	EXPECT(1, 6, thread(4), object_in(0), 13, 0, 0);
}
END_TEST

/* Another thread may have taken and released the mutex in the gap. */
START_TEST(unlock_before_a_gap_tells_no_waker)
{
	static const uint32_t gaps[] = {PX_EVENT_OVERFLOW, PX_EVENT_START};
	struct px_record gap = {.id = gaps[_i], .pid = PID};

	ON(1, pthread_mutex_lock, 0, M1, 0, 0, 0);
	ON(1, pthread_mutex_unlock, 0, M1, tid_of(1), 1, 0);
	px_translate(translator, &gap, NULL, 0, &translation);
	ON(2, pthread_mutex_lock, BEGINS, M1, tid_of(3), 1, 0);
	ON(2, pthread_mutex_lock, ENDS, M1, 0, 0, 0);
	EXPECT(0, 1, IDLE, thread(2), 13, 0, IDLE);
	ON(2, pthread_mutex_unlock, 0, M1, tid_of(2), 1, 0);
	ON(1, pthread_mutex_lock, BEGINS, M1, tid_of(2), 1, 0);
	ON(1, pthread_mutex_lock, ENDS, M1, 0, 0, 0);
	EXPECT(0, 1, thread(2), thread(1), 13, 0, thread(2));
}
END_TEST

START_TEST(inner_unlock_of_a_recursive_mutex_wakes_nobody)
{
	ON(1, pthread_mutex_lock, 0, M1, 0, 0, 0);
	ON(2, pthread_mutex_lock, BEGINS, M1, tid_of(1), 2, 0);
	ON(1, pthread_mutex_unlock, 0, M1, tid_of(1), 2, 0);
	ON(2, pthread_mutex_lock, ENDS, M1, 0, 0, 0);
	EXPECT(0, 1, IDLE, thread(2), 13, 0, IDLE);
}
END_TEST

/* A sleeping thread has no entries, so RUNNING names the thread. */
START_TEST(waker_that_sleeps_by_now_is_told_by_running_alone)
{
	ON(1, pthread_mutex_lock, 0, M1, 0, 0, 0);
	ON(2, pthread_mutex_lock, BEGINS, M1, tid_of(1), 1, 0);
	ON(1, pthread_mutex_unlock, 0, M1, tid_of(1), 1, 0);
	ON(1, nanosleep, BEGINS, 1000000, 1, 0, 0);
	EXPECT(0, 112, thread(1), 1, 0, 0, 0);
	EXPECT(1, 2, thread(1), thread(1), 4, 0, IDLE);
	ON(2, pthread_mutex_lock, ENDS, M1, 0, 0, 0);
	EXPECT(0, 1, IDLE, thread(2), 13, 0, IDLE);
	EXPECT(1, 6, thread(2), object_in(0), 13, thread(1), 0);
	ON(1, nanosleep, ENDS, 1000000, 1, 0, 0);
	EXPECT(0, 1, IDLE, thread(1), 4, 0, IDLE);
	EXPECT(1, 6, thread(1), 0, 4, 0, 0);
}
END_TEST

static const int failures[] = {ETIMEDOUT, EINTR, EOWNERDEAD};

START_TEST(wait_that_failed_was_ended_by_nobody)
{
	ON(1, sem_post, 0, M1, 0, 0, 0);
	ON(2, sem_timedwait, BEGINS, M1, 0, 0, 0);
	EXPECT(0, 83, thread(2), object_in(0), 1, 0, 0);
	EXPECT(1, 2, thread(2), thread(2), 6, 0, IDLE);
	ON(1, sem_post, 0, M1, 0, 0, 0);
	ON(2, sem_timedwait, ENDS, M1, 0, 0, failures[_i]);
	if (failures[_i] == EOWNERDEAD)
		EXPECT(0, 1, thread(1), thread(2), 6, 0, thread(1));
	else
		EXPECT(0, 1, IDLE, thread(2), 6, 0, IDLE);
}
END_TEST

/* A post before the wait belonged to another thread. */
START_TEST(semaphore_posted_before_the_wait_does_not_tell_who_ended_it)
{
	ON(1, sem_post, 0, M1, 0, 0, 0);
	ON(2, sem_wait, BEGINS, M1, 0, 0, 0);
	ON(2, sem_wait, ENDS, M1, 0, 0, 0);
	EXPECT(0, 1, IDLE, thread(2), 6, 0, IDLE);
}
END_TEST

START_TEST(broadcast_ends_the_waits_of_all)
{
	for (uint32_t n = 2; n <= 4; n++) {
		ON(n, pthread_cond_wait, BEGINS, M1, 0, 0, 0);
		EXPECT(0, 32, thread(n), object_in(0), 1, 0, 0);
		EXPECT(1, 2, thread(n), thread(n), 7, 0, IDLE);
	}
	ON(1, pthread_cond_broadcast, 0, M1, 0, 0, 0);
	for (uint32_t n = 2; n <= 4; n++) {
		ON(n, pthread_cond_wait, ENDS, M1, 0, 0, 0);
		EXPECT(0, 1, thread(1), thread(n), 7, 0, thread(1));
	}
}
END_TEST

START_TEST(barrier_is_ended_by_who_comes_last)
{
	ON(1, pthread_barrier_wait, BEGINS, M1, 0, 0, 0);
	ON(2, pthread_barrier_wait, BEGINS, M1, 0, 0, 0);
	ON(3, pthread_barrier_wait, 0, M1, 0, 1, 0);
	ON(1, pthread_barrier_wait, ENDS, M1, 0, 0, 0);
	EXPECT(0, 1, thread(3), thread(1), 7, 0, thread(3));
	ON(2, pthread_barrier_wait, ENDS, M1, 0, 0, 0);
	EXPECT(0, 1, thread(3), thread(2), 7, 0, thread(3));
}
END_TEST

START_TEST(once_is_ended_by_who_ran_the_function)
{
	static const enum px_call calls[] = {PX_CALL_pthread_once, PX_CALL_call_once};

	for (size_t i = 0; i < PX_ARRAY_SIZE(calls); i++) {
		uint64_t flag = M1 + 64 * i;

		object_data(flag, 0, 0, 0);
		translate(2, calls[i], BEGINS);
		EXPECT(0, 32, thread(2), object_in(0), 1, 0, 0);
		/* A thread that finds nothing to do wakes up no thread. */
		translate(3, calls[i], 0);
		object_data(flag, 1, 0, 0);
		translate(1, calls[i], 0);
		EXPECT(0, 32, thread(1), object_in(0), 1, 1, 0);
		object_data(flag, 0, 0, 0);
		translate(2, calls[i], ENDS);
		EXPECT(0, 1, thread(1), thread(2), 7, 0, thread(1));
	}
}
END_TEST

START_TEST(c11_is_told_as_its_equals)
{
	uint32_t handle;

	ON(1, mtx_init, 0, M1, 0, 2, 0);
	handle = object_in(0);
	ck_assert_uint_eq(handle >> 24, PX_TXTB_MUTEX);
	EXPECT(0, 50, thread(1), handle, 0, 0, 0);
	ON(1, mtx_lock, 0, M1, 0, 0, 0);
	EXPECT(0, 52, thread(1), handle, FOREVER, 0, 0);
	ON(3, mtx_trylock, 0, M1, tid_of(1), 1, EBUSY);
	EXPECT(0, 52, thread(3), handle, 0, thread(1), 1);
	ON(2, mtx_timedlock, BEGINS, M1, tid_of(1), 1, 0);
	EXPECT(0, 52, thread(2), handle, 1, thread(1), 1);
	EXPECT(1, 2, thread(2), thread(2), 13, 0, IDLE);
	/* Its timeout has expired, so no thread has woken it up. */
	ON(2, mtx_timedlock, ENDS, M1, tid_of(1), 1, ETIMEDOUT);
	EXPECT(0, 1, IDLE, thread(2), 13, 0, IDLE);
	ON(2, mtx_lock, BEGINS, M1, tid_of(1), 1, 0);
	/* The call failed, so it is no native event, and the object stays as it is. */
	ON(3, mtx_unlock, 0, M1, tid_of(1), 1, 4095);
	EXPECT_PLAIN();
	ON(1, mtx_unlock, 0, M1, tid_of(1), 1, 0);
	EXPECT(0, 57, thread(1), handle, thread(1), 1, 0);
	ON(2, mtx_lock, ENDS, M1, 0, 0, 0);
	EXPECT(0, 1, thread(1), thread(2), 13, 0, thread(1));
	ON(2, cnd_wait, BEGINS, M2, 0, 0, 0);
	EXPECT(1, 2, thread(2), thread(2), 7, 0, IDLE);
	ON(1, cnd_signal, 0, M2, 1, 0, 0);
	EXPECT(0, 36, thread(1), object_in(0), 1, 0, 1);
	ON(2, cnd_wait, ENDS, M2, 0, 0, 0);
	EXPECT(0, 1, thread(1), thread(2), 7, 0, thread(1));
	ON(1, mtx_destroy, 0, M1, 0, 0, 0);
	EXPECT(0, 51, thread(1), handle, 0, 0, 0);
	ON(1, mtx_lock, 0, M1, 0, 0, 0);
	ck_assert_uint_ne(object_in(0), handle);
	ON(1, thrd_sleep, BEGINS, 2000000, 2, 0, 0);
	EXPECT(0, 112, thread(1), 2, 0, 0, 0);
	ON(1, thrd_sleep, ENDS, 2000000, 2, 0, EINTR);
	ON(1, thrd_yield, 0, 0, 0, 0, 0);
	EXPECT(0, 109, thread(1), 0, 0, 0, 0);
}
END_TEST

START_TEST(thread_of_c11_is_created_and_joined)
{
	ON(1, thrd_create, 0, 0, 0, 0, ENOMEM);
	EXPECT_PLAIN();
	ON(1, thrd_create, 0, pthread_of(20), thread(20), 120, 0);
	EXPECT(0, 100, thread(1), thread(20), 120, 0, 0);
	ON(1, thrd_join, BEGINS, pthread_of(20), 0, 0, 0);
	EXPECT(0, 104, thread(1), thread(20), 0, 0, 0);
	EXPECT(1, 2, thread(1), thread(1), 3, 0, IDLE);
	ON(20, thrd_exit, 0, pthread_of(20), 0, 0, 0);
	EXPECT(0, 115, thread(20), thread(20), 0, 0, 0);
	ON(20, txtrace_thread_end, 0, pthread_of(20), 1, 0, 0);
	EXPECT(0, 1, thread(20), thread(1), 3, 0, thread(20));
	ON(1, thrd_join, ENDS, pthread_of(20), 0, 0, 0);
	EXPECT(1, 6, thread(1), thread(20), 3, thread(20), 0);
}
END_TEST

START_TEST(queue_is_waited_for_in_two_directions)
{
	uint32_t queue;

	fd_data(7, 64, 7);
	add_text("/jobs");
	translate(1, PX_CALL_mq_open, 0);
	queue = object_in(0);
	EXPECT(0, 60, thread(1), queue, 64, 0, 0);
	ck_assert_str_eq(name_of(queue), "/jobs");
	ON_FD(2, mq_receive, BEGINS, 7, 64, 0);
	EXPECT(0, 68, thread(2), queue, 0, FOREVER, 0);
	EXPECT(1, 2, thread(2), thread(2), 5, 0, IDLE);
	ON_FD(1, mq_send, 0, 7, 64, 0);
	EXPECT(0, 69, thread(1), queue, 0, FOREVER, 0);
	ON_FD(2, mq_receive, ENDS, 7, 64, 64);
	EXPECT(0, 1, thread(1), thread(2), 5, 0, thread(1));
	ON_FD(3, mq_timedsend, BEGINS, 7, 64, 0);
	ON_FD(2, mq_receive, 0, 7, 64, 64);
	ON_FD(3, mq_timedsend, ENDS, 7, 64, 0);
	EXPECT(0, 1, thread(2), thread(3), 5, 0, thread(2));
	/* A queue's descriptor that close() closes like any other descriptor. */
	ON_FD(1, close, 0, 7, 0, 0);
	EXPECT(0, 61, thread(1), queue, 0, 0, 0);
}
END_TEST

START_TEST(thread_end_wakes_who_joins_it)
{
	ON(1, pthread_create, 0, pthread_of(2), thread(2), 102, 0);
	EXPECT(0, 100, thread(1), thread(2), 102, 0, 0);
	ON(1, pthread_join, BEGINS, pthread_of(2), 0, 0, 0);
	EXPECT(0, 104, thread(1), thread(2), 0, 0, 0);
	EXPECT(1, 2, thread(1), thread(1), 3, 0, IDLE);
	ON(2, txtrace_thread_start, 0, pthread_of(2), tid_of(2), 0, 0);
	EXPECT(0, 102, thread(2), thread(2), 0, 0, 0);
	ON(2, txtrace_thread_end, 0, pthread_of(2), 2, 0, 0);
	EXPECT_COUNT(2);
	EXPECT(0, 1, thread(2), thread(1), 3, 0, thread(2));
	EXPECT(1, 2, thread(2), thread(2), 2, 0, IDLE);
	ck_assert_uint_eq(translation.open, 2);
	/* The thread is awake already. */
	ON(1, pthread_join, ENDS, pthread_of(2), 0, 0, 0);
	EXPECT_COUNT(2);
	EXPECT(0, 6, IDLE, 0, 0, 0, 0);
	EXPECT(1, 6, thread(1), thread(2), 3, thread(2), 0);
	ON(3, txtrace_thread_end, 0, pthread_of(3), 77, 0, 0);
	EXPECT(0, 2, thread(3), thread(3), 1, 0, IDLE);
}
END_TEST

/* An event of a sleeping thread shows that the thread does not sleep. */
START_TEST(event_of_a_thread_that_sleeps_wakes_it)
{
	struct px_record event = record_of(2, PX_CALL_sem_post, 0);

	ON(2, pthread_mutex_lock, BEGINS, M1, tid_of(1), 1, 0);
	event.flags = 0;
	event.id = PX_EVENT_UNNAMED;
	px_translate(translator, &event, bytes, length, &translation);
	EXPECT_COUNT(2);
	EXPECT(0, 1, IDLE, thread(2), 13, 0, IDLE);
	ck_assert_uint_eq(translation.own, 1);
	EXPECT_PLAIN();
	px_translate(translator, &event, bytes, length, &translation);
	EXPECT_COUNT(1);
	/* The end of one wait is lost, and a new wait begins. */
	ON(3, sem_wait, BEGINS, M2, 0, 0, 0);
	ON(3, pthread_mutex_lock, BEGINS, M1, tid_of(1), 1, 0);
	EXPECT_COUNT(3);
	EXPECT(0, 1, IDLE, thread(3), 6, 0, IDLE);
	EXPECT(1, 52, thread(3), object_in(0), FOREVER, thread(1), 1);
	EXPECT(2, 2, thread(3), thread(3), 13, 0, IDLE);
	/* An end without a beginning: before it, the thread slept. */
	ON(4, sem_wait, ENDS, M2, 0, 0, 0);
	EXPECT_COUNT(2);
	EXPECT(0, 6, IDLE, 0, 0, 0, 0);
	EXPECT(1, 6, thread(4), object_in(0), 6, 0, 0);
}
END_TEST

START_TEST(thread_sleeps_again_behind_a_handler)
{
	ON(2, sem_wait, BEGINS, M1, 0, 0, 0);
	ON(2, txtrace_handler_enter, 0, 0x400000, SIGUSR1, 0, 0);
	EXPECT_COUNT(2);
	EXPECT(0, 1, IDLE, thread(2), 6, 0, IDLE);
	EXPECT(1, 3, thread(2), 0, SIGUSR1, 0, 0);
	ON(2, pthread_mutex_lock, BEGINS, M2, tid_of(1), 1, 0);
	ON(2, pthread_mutex_lock, ENDS, M2, 0, 0, 0);
	EXPECT(0, 1, IDLE, thread(2), 13, 0, IDLE);
	ON(2, txtrace_handler_enter, 0, 0x400000, SIGUSR2, 0, 0);
	ON(2, txtrace_handler_exit, 0, 0x400000, SIGUSR2, 0, 0);
	EXPECT_COUNT(1);
	ON(2, txtrace_handler_exit, 0, 0x400000, SIGUSR1, 0, 0);
	EXPECT_COUNT(2);
	EXPECT(0, 4, thread(2), 0, SIGUSR1, 0, 0);
	EXPECT(1, 2, thread(2), thread(2), 6, 0, IDLE);
	ck_assert_uint_eq(translation.open, 2);
	ON(1, sem_post, 0, M1, 0, 0, 0);
	ON(2, sem_wait, ENDS, M1, 0, 0, 0);
	EXPECT(0, 1, thread(1), thread(2), 6, 0, thread(1));
}
END_TEST

START_TEST(handler_that_is_left_by_a_jump_is_forgotten_with_the_wait)
{
	ON(2, sem_wait, BEGINS, M1, 0, 0, 0);
	ON(2, txtrace_handler_enter, 0, 0x400000, SIGUSR1, 0, 0);
	ON(2, sem_wait, ENDS, M1, 0, 0, EINTR);
	EXPECT(1, 6, thread(2), object_in(0), 6, 0, 0);
	ON(2, txtrace_handler_enter, 0, 0x400000, SIGUSR1, 0, 0);
	ON(2, txtrace_handler_exit, 0, 0x400000, SIGUSR1, 0, 0);
	EXPECT_COUNT(1);
}
END_TEST

START_TEST(call_that_failed_and_changed_nothing_is_a_user_event)
{
	ON(1, pthread_mutex_unlock, 0, M1, tid_of(2), 1, EPERM);
	EXPECT_PLAIN();
	ON(1, pthread_mutex_destroy, 0, M1, 0, 0, EBUSY);
	EXPECT_PLAIN();
	ON(1, pthread_create, 0, 0, 0, 0, EAGAIN);
	EXPECT_PLAIN();
	ON_FD(1, open, 0, -1, O_RDONLY, -ENOENT);
	EXPECT_PLAIN();
	ON_FD(1, close, 0, 5, 0, -EBADF);
	EXPECT_PLAIN();
	ON(1, pthread_mutex_trylock, 0, M1, tid_of(2), 1, EBUSY);
	EXPECT(0, 52, thread(1), object_in(0), 0, thread(2), 1);
	ON_FD(1, read, 0, 5, 100, -EAGAIN);
	EXPECT(0, 248, thread(1), object_in(0), 0, 100, 0);
	/* No thread has unlocked the mutex. */
	ON(2, pthread_mutex_lock, BEGINS, M1, tid_of(1), 1, 0);
	ON(1, pthread_mutex_unlock, 0, M1, tid_of(2), 1, EPERM);
	ON(2, pthread_mutex_lock, ENDS, M1, 0, 0, 0);
	EXPECT(0, 1, IDLE, thread(2), 13, 0, IDLE);
}
END_TEST

/* ThreadX has no such event, so the log shows the wait next to a user event. */
START_TEST(call_without_a_native_event_is_a_user_event)
{
	ON_FD(1, fork, 0, 0, 0, 4712);
	EXPECT_COUNT(1);
	EXPECT_PLAIN();
	ON_FD(1, waitpid, BEGINS, 4712, 0, 0);
	EXPECT_COUNT(2);
	EXPECT_PLAIN();
	EXPECT(1, 2, thread(1), thread(1), 3, 0, IDLE);
	ON_FD(1, waitpid, ENDS, 4712, 0, 4712);
	EXPECT_COUNT(2);
	EXPECT(0, 1, IDLE, thread(1), 3, 0, IDLE);
	EXPECT_PLAIN();
}
END_TEST

START_TEST(event_that_only_has_the_id_of_a_call_is_none)
{
	struct px_record record;

	object_data(M1, 0, 0, 0);
	record = record_of(1, PX_CALL_pthread_mutex_lock, 0);
	record.flags = 0;
	px_translate(translator, &record, bytes, length, &translation);
	EXPECT_PLAIN();
	record.flags = PX_RECORD_CALL;
	px_translate(translator, &record, bytes, 15, &translation);
	ck_assert(!translation.is_native);
	record.context = 0;
	px_translate(translator, &record, bytes, length, &translation);
	ck_assert(!translation.is_native);
	ck_assert_uint_eq(translation.entries[0].context, PX_NO_THREAD);
}
END_TEST

/* Objects. */

START_TEST(destroyed_object_is_another_one_afterwards)
{
	uint32_t first, second;

	ON(1, pthread_mutex_init, 0, M1, 1, 0, 0);
	EXPECT(0, 50, thread(1), object_in(0), 1, 0, 0);
	first = object_in(0);
	ON(1, pthread_mutex_lock, 0, M1, 0, 0, 0);
	ck_assert_uint_eq(object_in(0), first);
	ON(1, pthread_mutex_destroy, 0, M1, 0, 0, 0);
	EXPECT(0, 51, thread(1), first, 0, 0, 0);
	ck_assert_ptr_nonnull(px_translator_find(translator, first)); /* a log may ask for it */
	ON(1, pthread_mutex_lock, 0, M1, 0, 0, 0);
	second = object_in(0);
	ck_assert_uint_ne(second, first);
	ck_assert_ptr_null(px_translator_find(translator, first));
	/*
	 * The same holds for an object that is created before its predecessor was destroyed, or that has another type.
	 */
	ON(1, pthread_mutex_init, 0, M1, 0, 0, 0);
	ck_assert_uint_ne(object_in(0), second);
	ON(1, sem_init, 0, M1, 3, 0, 0);
	EXPECT(0, 81, thread(1), object_in(0), 3, 0, 0);
	ck_assert_uint_eq(object_in(0) >> 24, PX_TXTB_SEMAPHORE);
}
END_TEST

START_TEST(objects_of_two_processes_are_two)
{
	struct px_record other;
	uint32_t handle;

	ON(1, pthread_mutex_lock, 0, M1, 0, 0, 0);
	handle = object_in(0);
	other = record_of(2, PX_CALL_pthread_mutex_lock, 0);
	other.pid = PID + 1;
	px_translate(translator, &other, bytes, length, &translation);
	ck_assert_uint_ne(object_in(0), handle);
}
END_TEST

static void introduce_of(uint32_t n, uint32_t program)
{
	struct px_object object = {.handle = thread(n),
				   .type = PX_TXTB_THREAD,
				   .priority = 100,
				   .pid = PID,
				   .tid = tid_of(n),
				   .program = program,
				   .thread = pthread_of(n),
				   .name = "thread"};

	px_threads_add(&threads, &object);
}

START_TEST(program_that_the_process_executes_has_memory_of_its_own_and_keeps_descriptors)
{
	uint32_t mutex, file, by_name;

	introduce_of(11, 1);
	introduce_of(12, 2);
	ON(11, pthread_mutex_lock, 0, M1, 0, 0, 0);
	mutex = object_in(0);
	ON(1, pthread_mutex_lock, 0, M1, 0, 0, 0); /* another thread of this program */
	ck_assert_uint_eq(object_in(0), mutex);
	object_data(M2, 0, 0, 0);
	add_text("the_lock");
	translate(11, PX_CALL_txtrace_object_name, 0);
	ON(11, pthread_mutex_lock, 0, M2, 0, 0, 0);
	by_name = object_in(0);
	ck_assert_str_eq(name_of(by_name), "the_lock");
	ON_FD(11, dup, 0, 3, 0, 4);
	ON_FD(11, read, 0, 4, 0, 1);
	file = object_in(0);

	ON(12, pthread_mutex_lock, 0, M1, 0, 0, 0); /* a thread of the next program */
	ck_assert_uint_ne(object_in(0), mutex);
	mutex = object_in(0);
	ON(2, pthread_mutex_lock, 0, M1, 0, 0, 0);
	ck_assert_uint_eq(object_in(0), mutex);
	ON(12, pthread_mutex_lock, 0, M2, 0, 0, 0);
	ck_assert_uint_ne(object_in(0), by_name);
	ck_assert_str_eq(name_of(object_in(0)), "mutex 0x2000");
	ON_FD(12, read, 0, 3, 0, 1);
	ck_assert_uint_eq(object_in(0), file);
}
END_TEST

START_TEST(threads_of_one_program_begin_in_any_order)
{
	uint32_t mutex;

	introduce_of(10, 1);
	introduce_of(11, 2);
	introduce_of(12, 2);
	ON(10, pthread_mutex_lock, 0, M1, 0, 0, 0);
	ON(11, pthread_mutex_lock, 0, M1, 0, 0, 0);
	mutex = object_in(0);
	ON(12, pthread_mutex_lock, 0, M1, 0, 0, 0);
	ck_assert_uint_eq(object_in(0), mutex);
	ON(11, pthread_mutex_unlock, 0, M1, 0, 0, 0);
	ck_assert_uint_eq(object_in(0), mutex);
}
END_TEST

/* A process may have two copies of the library, so two handles for each thread, but one program. */
START_TEST(thread_with_two_handles_is_in_one_program)
{
	uint32_t mutex;

	introduce_of(11, 1);
	introduce_of(12, 1);
	ON(11, pthread_mutex_lock, 0, M1, 0, 0, 0);
	mutex = object_in(0);
	for (int i = 0; i < 3; i++) {
		ON(12, pthread_mutex_unlock, 0, M1, 0, 0, 0);
		ck_assert_uint_eq(object_in(0), mutex);
		ON(11, pthread_mutex_lock, 0, M1, 0, 0, 0);
		ck_assert_uint_eq(object_in(0), mutex);
	}
}
END_TEST

/* A log that goes on has threads of both programs before their first calls: scheduling records show them. */
START_TEST(threads_that_were_restored_are_in_their_programs)
{
	struct px_object known;
	uint32_t mutex;

	introduce_of(11, 1);
	introduce_of(12, 2);
	for (uint32_t n = 11; n < 13; n++) {
		ck_assert(px_threadmap_find(map, thread(n), &known));
		known.program = 0; /* a log does not have it */
		px_translator_restore(translator, &known, 0, 0);
	}
	ON(11, pthread_mutex_lock, 0, M1, 0, 0, 0);
	mutex = object_in(0);
	ON(12, pthread_mutex_lock, 0, M1, 0, 0, 0);
	ck_assert_uint_ne(object_in(0), mutex);
}
END_TEST

START_TEST(another_program_does_not_end_the_objects_of_other_processes)
{
	uint32_t handle[300];

	introduce_of(11, 1);
	introduce_of(12, 2);
	ON(11, pthread_mutex_lock, 0, M1, 0, 0, 0);
	for (uint32_t i = 0; i < 300; i++) {
		struct px_record other = record_of(2, PX_CALL_pthread_mutex_lock, 0);

		other.pid = PID + 1 + i;
		px_translate(translator, &other, bytes, length, &translation);
		handle[i] = object_in(0);
	}
	ON(12, pthread_mutex_lock, 0, M2, 0, 0, 0);
	for (uint32_t i = 0; i < 300; i++)
		ck_assert_ptr_nonnull(px_translator_find(translator, handle[i]));
	for (uint32_t i = 0; i < 300; i += 2) { /* those that leave the list are in the middle of it */
		struct px_record other = record_of(2, PX_CALL_pthread_mutex_destroy, 0);

		other.pid = PID + 1 + i;
		object_data(M1, 0, 0, 0);
		px_translate(translator, &other, bytes, length, &translation);
	}
	ON(12, pthread_mutex_lock, 0, M1, 0, 0, 0);
	for (uint32_t i = 0; i < 300; i++)
		ck_assert_int_eq(px_translator_find(translator, handle[i]) != NULL, i % 2);
}
END_TEST

START_TEST(named_semaphore_is_one_until_it_is_closed_as_often_as_opened)
{
	uint32_t handle;

	object_data(M1, 2, 0, 0);
	add_text("/gate");
	translate(1, PX_CALL_sem_open, 0);
	handle = object_in(0);
	EXPECT(0, 81, thread(1), handle, 2, 0, 0);
	ck_assert_str_eq(name_of(handle), "/gate");
	translate(2, PX_CALL_sem_open, 0);
	ck_assert_uint_eq(object_in(0), handle);
	ON(1, sem_close, 0, M1, 0, 0, 0);
	ON(1, sem_wait, 0, M1, 1, 0, 0);
	ck_assert_uint_eq(object_in(0), handle);
	ON(1, sem_close, 0, M1, 0, 0, 0);
	ON(1, sem_wait, 0, M1, 1, 0, 0);
	ck_assert_uint_ne(object_in(0), handle);
}
END_TEST

START_TEST(descriptor_is_what_was_opened_last)
{
	uint32_t first, second;

	fd_data(5, O_RDONLY, 5);
	add_text("/etc/passwd");
	translate(1, PX_CALL_open, 0);
	first = object_in(1);
	EXPECT(0, 247, thread(1), 0, first, 0, O_RDONLY);
	ck_assert_str_eq(name_of(first), "/etc/passwd");
	ON_FD(1, read, 0, 5, 100, 42);
	EXPECT(0, 248, thread(1), first, 0, 100, 42);
	ON_FD(1, dup, 0, 5, 0, 9);
	EXPECT_PLAIN();
	ON_FD(1, close, 0, 5, 0, 0);
	EXPECT(0, 243, thread(1), first, 0, 0, 0);
	ON_FD(1, write, 0, 9, 10, 10);
	EXPECT(0, 254, thread(1), first, 0, 10, 10);
	fd_data(5, O_RDONLY, 5);
	add_text("/etc/passwd");
	translate(1, PX_CALL_open, 0);
	second = object_in(1);
	ck_assert_uint_ne(second, first);
	ck_assert_str_ne(name_of(second), "/etc/passwd"); /* only one object has this name */
	ck_assert_int_eq(strncmp(name_of(second), "/etc/passwd #", 13), 0);
	/* The trace does not have this close. */
	fd_data(5, O_RDONLY, 5);
	add_text("/etc/group");
	translate(1, PX_CALL_open, 0);
	ck_assert_str_eq(name_of(object_in(1)), "/etc/group");
}
END_TEST

START_TEST(socket_is_tcp_or_udp_by_its_type)
{
	uint32_t tcp, udp;

	ON_FD(1, socket, 0, 5, SOCK_STREAM | SOCK_CLOEXEC, 5);
	tcp = object_in(1);
	EXPECT(0, 412, thread(1), 0, tcp, SOCK_STREAM | SOCK_CLOEXEC, 0);
	ck_assert_uint_eq(tcp >> 24, PX_TXTB_TCP_SOCKET);
	ON_FD(1, socket, 0, 6, SOCK_DGRAM, 6);
	udp = object_in(1);
	EXPECT(0, 430, thread(1), 0, udp, SOCK_DGRAM, 0);
	ck_assert_uint_eq(udp >> 24, PX_TXTB_UDP_SOCKET);
	ON_FD(1, bind, 0, 5, 80, 0);
	EXPECT(0, 400, thread(1), 0, tcp, 80, 0);
	ON_FD(1, bind, 0, 6, 53, 0);
	EXPECT(0, 427, thread(1), 0, udp, 53, 0);
	ON_FD(1, read, 0, 5, 100, 10);
	EXPECT(0, 419, thread(1), tcp, 0, 10, 0);
	ON_FD(1, write, 0, 5, 100, 10);
	EXPECT(0, 421, thread(1), tcp, 0, 10, 0);
	ON_FD(1, recv, 0, 6, 100, 10);
	EXPECT(0, 434, thread(1), 0, udp, 0, 10);
	ON_FD(1, write, 0, 6, 100, 10);
	EXPECT(0, 436, thread(1), udp, 0, 10, 0);
	ON_FD(1, connect, 0, 6, 53, 0);
	EXPECT_PLAIN();
	ON_FD(1, close, 0, 5, 0, 0);
	EXPECT(0, 413, thread(1), 0, tcp, 0, 0);
	ON_FD(1, close, 0, 6, 0, 0);
	EXPECT(0, 431, thread(1), 0, udp, 0, 0);
	/* Descriptor 5 is a file now. */
	ON_FD(1, read, 0, 5, 100, 10);
	EXPECT(0, 248, thread(1), object_in(0), 0, 100, 10);
	ON_FD(1, recv, 0, 5, 100, 10); /* which cannot be */
	ck_assert_uint_eq(object_in(0) >> 24, PX_TXTB_TCP_SOCKET);
}
END_TEST

START_TEST(accept_makes_a_socket_and_is_about_the_one_that_listens)
{
	uint32_t server;

	ON_FD(1, socket, 0, 5, SOCK_STREAM, 5);
	server = object_in(1);
	ON_FD(1, accept, BEGINS, 5, 0, 0);
	EXPECT(0, 407, thread(1), 0, server, FOREVER, 0);
	EXPECT(1, 2, thread(1), thread(1), 12, 0, IDLE);
	ON_FD(1, accept, ENDS, 5, 4000, 8);
	EXPECT(1, 6, thread(1), server, 12, 0, 0);
	ON_FD(1, read, 0, 8, 100, 10);
	ck_assert_uint_eq(object_in(0) >> 24, PX_TXTB_TCP_SOCKET);
	ck_assert_uint_ne(object_in(0), server);
	fd_data(10, SOCK_DGRAM, 0);
	length += sizeof(int);
	memcpy(bytes + 16, &(int){11}, sizeof(int));
	translate(1, PX_CALL_socketpair, 0);
	EXPECT(0, 430, thread(1), 0, object_in(1), SOCK_DGRAM, 0);
	ON_FD(1, recv, 0, 11, 100, 10);
	EXPECT(0, 434, thread(1), 0, object_in(1), 0, 10);
}
END_TEST

START_TEST(child_has_the_descriptors_of_its_parent)
{
	struct px_record record;
	uint32_t handle;

	ON_FD(1, socket, 0, 5, SOCK_DGRAM, 5);
	handle = object_in(1);
	ON_FD(1, fork, 0, 0, 0, PID + 1);
	fd_data(5, 100, 10);
	record = record_of(2, PX_CALL_read, 0);
	record.pid = PID + 1;
	px_translate(translator, &record, bytes, length, &translation);
	EXPECT(0, 434, thread(2), 0, handle, 0, 10);
	/* From now on, it belongs to the child alone. */
	ON_FD(1, close, 0, 5, 0, 0);
	fd_data(5, 100, 10);
	px_translate(translator, &record, bytes, length, &translation);
	EXPECT(0, 434, thread(2), 0, handle, 0, 10);
	record.pid = PID + 2;
	px_translate(translator, &record, bytes, length, &translation);
	ck_assert_uint_eq(object_in(0) >> 24, PX_TXTB_FILE);
}
END_TEST

START_TEST(heap_is_one_byte_pool)
{
	uint64_t data[2] = {UINT64_C(0x5000000010), 100};
	uint32_t pool;

	memcpy(bytes, data, sizeof(data));
	length = sizeof(data);
	translate(1, PX_CALL_malloc, 0);
	pool = object_in(0);
	EXPECT(0, 20, thread(1), pool, 0x10, 100, 0);
	ck_assert_uint_eq(pool >> 24, PX_TXTB_BYTE_POOL);
	translate(2, PX_CALL_free, 0);
	EXPECT(0, 27, thread(2), pool, 0x10, 0, 0);
}
END_TEST

/* Names. */

static void say(uint32_t n, uint64_t object, const char *text)
{
	object_data(object, 0, 0, 0);
	add_text(text);
	translate(n, PX_CALL_txtrace_object_name, 0);
}

START_TEST(name_that_the_program_gives_is_the_objects_before_and_behind)
{
	uint32_t handle;

	say(1, M1, "queue lock");
	EXPECT_PLAIN();
	ON(1, pthread_mutex_lock, 0, M1, 0, 0, 0);
	ck_assert_str_eq(name_of(object_in(0)), "queue lock");
	ON(1, pthread_mutex_lock, 0, M2, 0, 0, 0);
	handle = object_in(0);
	ck_assert_str_eq(name_of(handle), "mutex 0x2000");
	say(1, M2, "other lock");
	ck_assert_uint_eq(translation.changed, handle);
	ck_assert_str_eq(name_of(handle), "other lock");
	ON(1, pthread_mutex_destroy, 0, M2, 0, 0, 0);
	ON(1, pthread_mutex_lock, 0, M2, 0, 0, 0);
	ck_assert_int_eq(strncmp(name_of(object_in(0)), "mutex 0x2000 #", 14), 0);
}
END_TEST

START_TEST(names_are_short_and_of_one_object_each)
{
	char text[200];

	memset(text, 'x', sizeof(text));
	text[0] = '/';
	memcpy(text + 190, "/file.txt", 10);
	fd_data(5, 0, 5);
	add_text(text);
	translate(1, PX_CALL_open, 0);
	ck_assert_uint_eq(strlen(name_of(object_in(1))), 59);
	ck_assert_int_eq(strncmp(name_of(object_in(1)), "...x", 4), 0);
	ck_assert_str_eq(name_of(object_in(1)) + 50, "/file.txt");
	translate(1, PX_CALL_open, 0);
	ck_assert_uint_le(strlen(name_of(object_in(1))), 59);
	ck_assert_ptr_nonnull(strchr(name_of(object_in(1)), '#'));
	/* A name shows that it lost its end, and loses whole characters only. */
	memset(text, 'y', sizeof(text));
	text[199] = '\0';
	say(1, M1, text);
	ON(1, pthread_mutex_lock, 0, M1, 0, 0, 0);
	ck_assert_uint_eq(strlen(name_of(object_in(0))), 59);
	ck_assert_str_eq(name_of(object_in(0)) + 55, "y...");
	memcpy(text + 55, "\303\274", 2);
	say(1, M1, text);
	ON(1, pthread_mutex_lock, 0, M1, 0, 0, 0);
	ck_assert_str_eq(name_of(object_in(0)) + 54, "y...");
	text[0] = '/';
	memcpy(text + 199 - 57, "\303\274", 2);
	say(1, M1, text);
	ON(1, pthread_mutex_lock, 0, M1, 0, 0, 0);
	ck_assert_int_eq(strncmp(name_of(object_in(0)), "...y", 4), 0);
	/* Names that the viewer shows in the same way count as equal. */
	say(1, M1, "a_b");
	ON(1, pthread_mutex_lock, 0, M1, 0, 0, 0);
	ck_assert_str_eq(name_of(object_in(0)), "a_b");
	say(1, M2, "a-b");
	ON(1, pthread_mutex_lock, 0, M2, 0, 0, 0);
	ck_assert_int_eq(strncmp(name_of(object_in(0)), "a-b #", 5), 0);
}
END_TEST

START_TEST(thread_gets_the_name_that_it_is_given)
{
	object_data(pthread_of(1), 0, 0, 0);
	add_text("reader");
	translate(1, PX_CALL_pthread_setname_np, 0);
	EXPECT(0, 103, thread(1), 0, 0, 0, 0);
	ck_assert_uint_eq(translation.changed, thread(1));
	ck_assert_str_eq(name_of(thread(1)), "reader 5001");
}
END_TEST

START_TEST(thread_that_was_only_told_of_is_known_with_its_first_event)
{
	ON(1, pthread_create, 0, pthread_of(20), thread(20), 120, 0);
	ck_assert_str_eq(name_of(thread(20)), "unknown thread 1000014");
	introduce(20);
	ON(20, sem_post, 0, M1, 0, 0, 0);
	ck_assert_uint_eq(translation.changed, thread(20));
	ck_assert_str_eq(name_of(thread(20)), "worker 5020");
	ON(20, sem_post, 0, M1, 0, 0, 0);
	ck_assert_uint_eq(translation.changed, 0);
}
END_TEST

/* The thread lists itself as "worker", another one names it, and then it records its first event. */
START_TEST(thread_that_is_named_before_its_first_event_keeps_the_name)
{
	bool is_listed_first = _i == 0;

	if (is_listed_first)
		introduce(20);
	ON(1, pthread_create, 0, pthread_of(20), thread(20), 120, 0);
	if (!is_listed_first)
		introduce(20);
	object_data(pthread_of(20), 0, 0, 0);
	add_text("clerk of all");
	translate(1, PX_CALL_pthread_setname_np, 0);
	ON(20, sem_post, 0, M1, 0, 0, 0);
	ck_assert_uint_eq(translation.changed, thread(20));
	ck_assert_str_eq(name_of(thread(20)), "clerk of all 5020");
}
END_TEST

static int asked;

static int give_name(const struct px_namer *namer, const struct px_call_object *object, char *text,
		     size_t size)
{
	asked++;
	ck_assert_ptr_eq(namer->argument, &asked);
	ck_assert_uint_eq(object->site, 0x400000 + PX_CALL_pthread_mutex_lock);
	if (object->address != M1)
		return ENOENT;
	snprintf(text, size, "the_lock");
	return 0;
}

START_TEST(namer_is_asked_once_for_each_object)
{
	const struct px_namer namer = {.call = give_name, .argument = &asked};

	px_call_objects_set_namer(px_translator_objects(translator), &namer);
	ON(1, pthread_mutex_lock, 0, M1, 0, 0, 0);
	ON(1, pthread_mutex_lock, 0, M1, 0, 0, 0);
	ck_assert_str_eq(name_of(object_in(0)), "the_lock");
	ON(1, pthread_mutex_lock, 0, M2, 0, 0, 0);
	ck_assert_str_eq(name_of(object_in(0)), "mutex 0x2000");
	ck_assert_int_eq(asked, 2);
}
END_TEST

static pthread_mutex_t global = PTHREAD_MUTEX_INITIALIZER;

START_TEST(object_of_this_process_is_named_by_its_module)
{
	struct px_record record;
	char wanted[64];

	object_data((uint64_t)(uintptr_t)&global, 0, 0, 0);
	record = record_of(1, PX_CALL_pthread_mutex_lock, 0);
	record.pid = (uint32_t)getpid();
	px_translate(translator, &record, bytes, length, &translation);
	snprintf(wanted, sizeof(wanted), "mutex %.24s+0x", program_invocation_short_name);
	ck_assert_int_eq(strncmp(name_of(object_in(0)), wanted, strlen(wanted)), 0);
	/* An object in the heap gets its name from its first caller. */
	object_data(M1, 0, 0, 0);
	record.address = (uint64_t)(uintptr_t)give_name;
	px_translate(translator, &record, bytes, length, &translation);
	ck_assert_int_eq(strncmp(name_of(object_in(0)), wanted, strlen(wanted)), 0);
}
END_TEST

/* This process executed another program before this one, and now completes its log. */
START_TEST(object_of_the_program_before_this_one_is_not_named_by_its_modules)
{
	const uint32_t programs[] = {px_program_number(), px_program_number() ^ 2};
	struct px_record record;
	char wanted[64];

	ck_assert_uint_ne(programs[0], 0);
	introduce_of(11, programs[_i]);
	object_data((uint64_t)(uintptr_t)&global, 0, 0, 0);
	record = record_of(11, PX_CALL_pthread_mutex_lock, 0);
	record.pid = (uint32_t)getpid();
	px_translate(translator, &record, bytes, length, &translation);
	snprintf(wanted, sizeof(wanted), "mutex %#llx", (unsigned long long)(uintptr_t)&global);
	ck_assert_int_eq(strcmp(name_of(object_in(0)), wanted) == 0, _i == 1);
}
END_TEST

START_TEST(objects_that_were_used_last_are_kept)
{
	uint32_t first, second;

	ON(1, pthread_mutex_lock, 0, M1, 0, 0, 0);
	first = object_in(0);
	ON(1, pthread_mutex_lock, 0, M2, 0, 0, 0);
	second = object_in(0);
	for (uint64_t i = 0; i < PX_CALL_OBJECTS_MAX + 100; i++) {
		ON(1, sem_wait, 0, 0x100000 + i * 32, 0, 0, 0);
		if (i % 1000 == 0)
			ON(1, pthread_mutex_lock, 0, M1, 0, 0, 0);
	}
	ON(1, pthread_mutex_lock, 0, M1, 0, 0, 0);
	ck_assert_uint_eq(object_in(0), first);
	ON(1, pthread_mutex_lock, 0, M2, 0, 0, 0);
	ck_assert_uint_ne(object_in(0), second);
	/* Keys with many duplicates have the same bound. */
	for (int fd = 10; fd < 200000; fd++)
		ON_FD(1, dup, 0, 9, 0, fd);
	ON_FD(1, read, 0, 199999, 10, 10);
	ck_assert_uint_eq(translation.nr_entries, 1);
}
END_TEST

/* Random records in a random order. */
START_TEST(any_calls_leave_everything_in_order)
{
	uint64_t seed = test_seed();

	for (int i = 0; i < 300000; i++) {
		uint64_t random = next_random(&seed);
		uint32_t n = 1 + random % 40;
		struct px_record record;

		object_data(random >> 8 & 63, (uint32_t)(random >> 14 & 15),
			    (uint32_t)(random >> 18 & 3), (random >> 20 & 7) == 0 ? EPERM : 0);
		length += random >> 24 & 31;
		record = record_of(n, (enum px_call)((random >> 32) % PX_CALLS),
				   (uint32_t)(random >> 48) & (BEGINS | ENDS));
		px_translate(translator, &record, bytes, length, &translation);
		ck_assert_uint_le(translation.nr_entries, PX_ENTRIES_MAX);
		ck_assert_uint_lt(translation.own, translation.nr_entries);
		ck_assert_uint_le(translation.open, translation.nr_entries);
		for (uint32_t k = 0; k < translation.nr_entries; k++)
			ck_assert_uint_ne(translation.entries[k].context, 0);
	}
}
END_TEST

/* Logs. */

static int file;
static struct px_log *wlog;
static struct px_log_state state;
static struct px_typelist types;
static struct px_test_log_facts facts;

/* Record number i of a program; the number determines its content. */
static struct {
	uint32_t nr_threads, nr_objects;
	bool has_fds;
} world;

static uint64_t mixed(uint64_t number)
{
	number = (number + 1) * UINT64_C(0x9e3779b97f4a7c15);
	return next_random(&number);
}

static struct px_record numbered(uint64_t number)
{
	static const enum px_call on_object[] = {PX_CALL_pthread_mutex_lock,
						 PX_CALL_pthread_mutex_unlock,
						 PX_CALL_sem_wait,
						 PX_CALL_sem_post,
						 PX_CALL_pthread_cond_timedwait,
						 PX_CALL_pthread_cond_signal,
						 PX_CALL_pthread_mutex_destroy,
						 PX_CALL_nanosleep};
	static const enum px_call on_fd[] = {PX_CALL_open, PX_CALL_read,       PX_CALL_close,
					     PX_CALL_send, PX_CALL_mq_receive, PX_CALL_socket};
	uint64_t random = mixed(number);
	uint32_t n = 1 + random % world.nr_threads;
	uint64_t object = 0x10000 + (random >> 16) % world.nr_objects * 64;
	bool is_fd = world.has_fds && (random >> 40) % 4 == 0;
	enum px_call call = is_fd ? on_fd[(random >> 44) % PX_ARRAY_SIZE(on_fd)] :
				    on_object[(random >> 44) % PX_ARRAY_SIZE(on_object)];
	uint32_t flags = 0;
	struct px_record record;

	if (is_fd)
		fd_data((int)(object >> 6 & 255), 10, (int)(object >> 6 & 255));
	else
		object_data(object, tid_of(n), 1, 0);
	if (px_calls[call].state != 0)
		flags = (uint32_t[]){0, BEGINS, ENDS, 0}[random >> 50 & 3];
	for (; (random >> 52) % 5 == 0 && length < 16 + (random >> 56); length++)
		bytes[length] = (unsigned char)('a' + length % 26);
	record = record_of(n, call, flags);
	record.address = number;
	if ((random >> 60) == 0) { /* an ordinary event of the same thread */
		record.id = PX_EVENT_UNNAMED;
		record.flags = 0;
	}
	record.length = (uint32_t)length;
	return record;
}

static void make_report(uint64_t number, struct px_report *report)
{
	*report = (struct px_report){.record = numbered(number),
				     .time_ns = UINT64_C(1700000000000000000) + number * 1300};
	report->length = report->copied = length;
}

static void begin_log(uint32_t policy, uint64_t log_size)
{
	const struct px_log_setup setup = {.fd = file, .target_pid = PID, .threads = &threads, .types = &types};

	ck_assert_int_eq(px_test_new_log(&setup, policy, log_size, 400, &state, &wlog), 0);
}

/* Return false if the log is full. */
static bool append(const struct px_report *report)
{
	enum px_log_room room;

	while ((room = px_log_append(wlog, report, bytes)) == PX_LOG_WRITE_FIRST)
		ck_assert_int_eq(px_log_write(wlog, &state), 0);
	if (room == PX_LOG_FULL)
		px_log_append_stop(wlog);
	return room != PX_LOG_FULL;
}

static void append_all(uint64_t from, uint64_t to, uint64_t batch)
{
	struct px_report report;

	for (; from < to; from++) {
		make_report(from, &report);
		if (!append(&report))
			return;
		if (from % batch == 0)
			ck_assert_int_eq(px_log_write(wlog, &state), 0);
	}
}

static bool is_handle_label(const char *label)
{
	static const char *const labels[] = {
		"thread_ptr",	  "owning_thread_ptr", "next_thread_ptr", "mutex_ptr",
		"semaphore_ptr",  "queue_ptr",	       "event_flags_ptr", "file_ptr",
		"tcp_socket_ptr", "udp_socket_ptr",    "byte_pool_ptr"};

	for (size_t i = 0; label && i < PX_ARRAY_SIZE(labels); i++)
		if (strcmp(label, labels[i]) == 0)
			return true;
	return false;
}

/* No thread runs while it sleeps, each thread has a name, and SUSPEND names the next thread. */
static void expect_image(const struct txtb_trace *trace)
{
	static bool sleeps[1 << 16];

	memset(sleeps, 0, sizeof(sleeps));
	for (uint32_t i = 0; i < trace->nr_events; i++) {
		const struct txtb_event *event = &trace->events[i];
		const struct txtb_event *next = i + 1 < trace->nr_events ? event + 1 : NULL;

		if (sleeps[event->context & 0xFFFF])
			ck_abort_msg("event %u, id %u, of thread %x, which sleeps", i, event->id,
				     event->context);
		for (unsigned int k = 0; event->id < PX_TXTB_USER_EVENT && k < 4; k++)
			if (facts.commit.nr_unlisted == 0 && event->info[k] &&
			    is_handle_label(px_native_label(event->id, k)) &&
			    !txtb_find(trace, event->info[k]))
				ck_abort_msg("event %u, id %u: no object is %x", i, event->id,
					     event->info[k]);
		if (event->id == PX_NATIVE_RESUME) {
			ck_assert_uint_eq(event->info[3], event->context);
			sleeps[event->info[0] & 0xFFFF] = false;
		}
		if (event->id != PX_NATIVE_SUSPEND)
			continue;
		sleeps[event->info[0] & 0xFFFF] = true;
		if (next && next->slot >= PX_LOG_START_FILLERS && next->context != PX_NO_THREAD &&
		    event->info[3] != next->context)
			ck_abort_msg("event %u: %x is next, and not %x", i, next->context,
				     event->info[3]);
	}
}

static void expect_images(int fd)
{
	uint64_t size = px_test_file_size(fd);
	void *image = mmap(NULL, size, PROT_READ, MAP_SHARED, fd, 0);

	ck_assert_ptr_ne(image, MAP_FAILED);
	for (uint64_t i = 0; i < facts.nr_volumes; i++) {
		uint64_t offset = facts.volume_at[i];
		struct txtb_trace trace;

		ck_assert_int_eq(txtb_check((char *)image + offset, size - offset, &trace),
				 TXTB_ACCEPTED);
		expect_image(&trace);
		txtb_free(&trace);
	}
	munmap(image, size);
}

/* Expect that the log returns all records from this number on.  Return how many of them are native. */
static uint64_t expect_records(uint64_t *first, uint64_t *last)
{
	struct px_archive *archive;
	struct px_report found, wanted;
	unsigned char data[512];
	uint64_t nr_native = 0, number = UINT64_MAX;

	ck_assert_int_eq(px_archive_log_open(file, 0, &archive), 0);
	while (archive->kind->next(archive, data, sizeof(data), &found) == PX_NEXT_EVENT) {
		struct px_archive_call call;

		if (found.record.id == PX_EVENT_STOP)
			continue;
		if (number == UINT64_MAX)
			*first = number = found.record.address;
		ck_assert_uint_eq(found.record.address, number);
		make_report(number, &wanted);
		ck_assert_uint_eq(found.record.id, wanted.record.id);
		ck_assert_uint_eq(found.record.flags, wanted.record.flags);
		ck_assert_uint_eq(found.record.pid, wanted.record.pid);
		ck_assert_uint_eq(found.record.thread, wanted.record.thread);
		ck_assert_uint_eq(found.record.cpu, wanted.record.cpu);
		ck_assert_uint_eq(found.time_ns, wanted.time_ns);
		ck_assert_uint_eq(found.length, length);
		ck_assert_mem_eq(data, bytes, length);
		ck_assert_int_eq(archive->kind->call(archive, found.place, &call),
				 (wanted.record.flags & PX_RECORD_CALL) != 0);
		if (wanted.record.flags & PX_RECORD_CALL && call.native) {
			nr_native++;
			ck_assert_uint_eq(found.record.context, wanted.record.context);
			ck_assert_uint_eq(call.native == PX_TXTB_RUNNING,
					  (wanted.record.flags & ENDS) != 0);
		}
		*last = number++;
	}
	archive->kind->free(archive);
	return nr_native;
}

static const uint32_t policies[] = {PX_POLICY_LOOP, PX_POLICY_UNTIL_FULL, PX_POLICY_APPEND};

static void log_setup(void)
{
	setup();
	for (uint32_t n = 8; n < 1000; n++)
		introduce(n);
	file = px_test_file();
	world.nr_threads = 6;
	world.nr_objects = 20;
	world.has_fds = true;
}

START_TEST(log_gives_calls_back_as_they_were_and_shows_them_natively)
{
	uint64_t first = 0, last = 0, nr_native;

	begin_log(policies[_i], 400000);
	append_all(0, 20000, 100);
	ck_assert_int_eq(px_log_complete(wlog, &state, PX_LOG_COMPLETE), 0);
	px_test_check_log(file, 0, &facts);
	expect_images(file);
	nr_native = expect_records(&first, &last);
	if (policies[_i] == PX_POLICY_LOOP) {
		ck_assert_uint_gt(first, 0);
		ck_assert_uint_eq(last, 19999);
	} else {
		ck_assert_uint_eq(first, 0);
	}
	if (policies[_i] == PX_POLICY_APPEND)
		ck_assert_uint_eq(last, 19999);
	ck_assert_uint_gt(nr_native, (last - first) * 8 / 10);
}
END_TEST

/* Use more objects than the registry has slots. */
START_TEST(log_with_too_many_objects_gives_calls_back_all_the_same)
{
	uint64_t first = 0, last = 0, nr_native;
	uint64_t n = policies[_i] == PX_POLICY_APPEND ? 2000 : 30000;

	world.nr_objects = 100000;
	world.nr_threads = 990;
	begin_log(policies[_i], policies[_i] == PX_POLICY_LOOP ? 80000 : 4 << 20);
	append_all(0, n, 50);
	ck_assert_int_eq(px_log_complete(wlog, &state, PX_LOG_COMPLETE), 0);
	px_test_check_log(file, 0, &facts);
	expect_images(file);
	nr_native = expect_records(&first, &last);
	ck_assert_uint_eq(last, policies[_i] == PX_POLICY_UNTIL_FULL ? last : n - 1);
	/* An object without an object slot keeps its handle. */
	ck_assert_uint_eq(facts.nr_volumes, 1);
	ck_assert_uint_gt(nr_native, (last - first) * 8 / 10);
}
END_TEST

/* At each moment, the content of a LOOP log is complete and in order. */
START_TEST(log_that_goes_round_never_shows_a_handle_that_has_no_object)
{
	world.nr_objects = 3000;
	world.nr_threads = 500;
	begin_log(PX_POLICY_LOOP, 1000 * PX_SLOT_BYTES);
	for (uint64_t i = 0; i < 12000; i += 40) {
		append_all(i, i + 40, UINT64_MAX);
		ck_assert_int_eq(px_log_write(wlog, &state), 0);
		if (i % 280 == 0) {
			px_test_check_log(file, PX_TEST_LOG_IS_OPEN, &facts);
			expect_images(file);
		}
	}
	ck_assert_int_eq(px_log_complete(wlog, &state, PX_LOG_COMPLETE), 0);
}
END_TEST

/* After a clear, the log defines all names again, with the handles that it had before. */
START_TEST(log_that_was_cleared_goes_on_with_the_same_objects)
{
	struct px_report report = {.time_ns = UINT64_C(1700000000000001000)};
	struct px_archive_call call;
	struct px_archive *archive;
	unsigned char data[64];

	begin_log(policies[_i], 400000);
	append_all(0, 500, 100);
	object_data(M1, 0, 0, 0);
	report.record = record_of(2, PX_CALL_pthread_mutex_lock, BEGINS);
	report.length = report.copied = length;
	append(&report);
	px_log_clear(wlog, &state);
	ck_assert_int_eq(px_log_empty(wlog), 0);
	report.record.flags = PX_RECORD_CALL | ENDS;
	append(&report);
	append(&report);
	ck_assert_int_eq(px_log_complete(wlog, &state, PX_LOG_COMPLETE), 0);
	px_test_check_log(file, 0, &facts);
	expect_images(file);
	ck_assert_int_eq(px_archive_log_open(file, 0, &archive), 0);
	for (uint32_t i = 0; i < 2; i++) {
		ck_assert_int_eq(archive->kind->next(archive, data, sizeof(data), &report),
				 PX_NEXT_EVENT);
		ck_assert_mem_eq(data, bytes, length);
		ck_assert(archive->kind->call(archive, report.place, &call));
		ck_assert_uint_eq(call.native, PX_TXTB_RUNNING);
		ck_assert_uint_gt(call.object & 0xFFFFFF, 20);
	}
	archive->kind->free(archive);
}
END_TEST

/* The time until the next event belongs to the idle thread.  When SUSPEND was written, this event was not known. */
START_TEST(suspend_at_the_end_of_a_write_is_followed_by_who_is_idle)
{
	struct px_report report = {.time_ns = UINT64_C(1700000000000001000)};
	struct txtb_trace trace;
	char *image;

	begin_log(PX_POLICY_APPEND, 0);
	object_data(M1, tid_of(1), 1, 0);
	report.record = record_of(2, PX_CALL_pthread_mutex_lock, BEGINS);
	report.length = report.copied = length;
	append(&report);
	ck_assert_int_eq(px_log_write(wlog, &state), 0);
	report.record = record_of(1, PX_CALL_pthread_mutex_unlock, 0);
	report.time_ns += 1000;
	append(&report);
	ck_assert_int_eq(px_log_complete(wlog, &state, PX_LOG_COMPLETE), 0);
	px_test_check_log(file, 0, &facts);
	image = mmap(NULL, px_test_file_size(file), PROT_READ, MAP_SHARED, file, 0);
	ck_assert_int_eq(txtb_check(image, px_test_file_size(file), &trace), TXTB_ACCEPTED);
	expect_image(&trace);
	ck_assert_uint_eq(trace.nr_events, PX_LOG_START_FILLERS + 4);
	ck_assert_uint_eq(trace.events[4].id, PX_NATIVE_SUSPEND);
	ck_assert_uint_eq(trace.events[4].info[3], IDLE);
	ck_assert_uint_eq(trace.events[5].id, PX_TXTB_RUNNING);
	ck_assert_uint_eq(trace.events[5].context, IDLE);
	ck_assert_uint_eq(trace.events[6].id, 57);
	txtb_free(&trace);
}
END_TEST

/* A thread flushes, and starts the full stream again.  The image gives this time to the threads that worked. */
START_TEST(events_of_a_flush_take_no_time_from_others)
{
	static const struct {
		uint32_t thread;
		uint32_t id;
	} script[] = {
		{1, 0}, {3, PX_EVENT_FLUSH_START}, {3, PX_EVENT_FLUSH_STOP}, {1, 0},
		{3, PX_EVENT_FLUSH_START}, {0, PX_EVENT_STOP}, {0, PX_EVENT_OVERFLOW}, {3, PX_EVENT_FLUSH_STOP},
		{0, PX_EVENT_RESUME}, {3, PX_EVENT_START}, {2, 0}, {2, PX_EVENT_FLUSH_START}, {2, 0},
	};
	struct px_report report = {.time_ns = UINT64_C(1700000000000001000)};
	uint64_t ticks[4] = {0};
	struct txtb_trace trace;
	char *image;

	begin_log(PX_POLICY_APPEND, 0);
	object_data(M1, 0, 0, 0);
	for (size_t i = 0; i < PX_ARRAY_SIZE(script); i++) {
		report.record = record_of(script[i].thread, PX_CALL_pthread_mutex_unlock, 0);
		report.length = report.copied = length;
		if (script[i].id != 0) {
			report.record.id = script[i].id;
			report.record.flags = 0;
			report.length = report.copied = report.record.length = 0;
		}
		if (script[i].thread == 0)
			report.record.context = report.record.pid = 0;
		append(&report);
		report.time_ns += 10000;
	}
	ck_assert_int_eq(px_log_complete(wlog, &state, PX_LOG_COMPLETE), 0);
	px_test_check_log(file, 0, &facts);
	image = mmap(NULL, px_test_file_size(file), PROT_READ, MAP_SHARED, file, 0);
	ck_assert_int_eq(txtb_check(image, px_test_file_size(file), &trace), TXTB_ACCEPTED);
	expect_image(&trace);
	for (uint32_t i = PX_LOG_START_FILLERS + 1; i < trace.nr_events; i++)
		for (uint32_t n = 1; n < PX_ARRAY_SIZE(ticks); n++)
			if (trace.events[i].context == thread(n))
				ticks[n] += trace.events[i].ticks - trace.events[i - 1].ticks;
	ck_assert_uint_eq(ticks[1], 300);
	ck_assert_uint_eq(ticks[2], 900);
	ck_assert_uint_eq(ticks[3], 0);
	txtb_free(&trace);
}
END_TEST

/* If the gap is too long for the stamps and the thread slept, the time in it belongs to the idle thread. */
START_TEST(long_sleep_is_charged_to_who_is_idle)
{
	struct px_report report = {.time_ns = UINT64_C(1700000000000001000)};
	struct txtb_trace trace;
	char *image;

	begin_log(PX_POLICY_APPEND, 0);
	object_data(1000, 1, 0, 0);
	report.record = record_of(2, PX_CALL_nanosleep, BEGINS);
	report.length = report.copied = length;
	append(&report);
	report.record = record_of(2, PX_CALL_nanosleep, ENDS);
	report.time_ns += UINT64_C(300000000000);
	append(&report);
	ck_assert_int_eq(px_log_complete(wlog, &state, PX_LOG_COMPLETE), 0);
	px_test_check_log(file, 0, &facts);
	ck_assert_uint_gt(facts.nr_fillers, PX_LOG_START_FILLERS);
	image = mmap(NULL, px_test_file_size(file), PROT_READ, MAP_SHARED, file, 0);
	ck_assert_int_eq(txtb_check(image, px_test_file_size(file), &trace), TXTB_ACCEPTED);
	expect_image(&trace);
	for (uint32_t i = 5; i + 1 < trace.nr_events; i++)
		ck_assert_uint_eq(trace.events[i].context, IDLE);
	txtb_free(&trace);
}
END_TEST

/* If the context of a call had other threads before, it does not determine its pid and thread. */
START_TEST(call_of_a_thread_that_is_two_comes_back_as_it_was)
{
	struct px_report report = {.time_ns = UINT64_C(1700000000000001000)};
	struct px_archive *archive;
	unsigned char data[64];

	begin_log(PX_POLICY_APPEND, 0);
	object_data(M1, 0, 0, 0);
	for (uint32_t i = 0; i < 2; i++) {
		report.record = record_of(2, PX_CALL_pthread_mutex_lock, 0);
		report.record.pid += i; /* like a child that has its parent's pthread_t */
		report.length = report.copied = length;
		append(&report);
	}
	ck_assert_int_eq(px_log_complete(wlog, &state, PX_LOG_COMPLETE), 0);
	ck_assert_int_eq(px_archive_log_open(file, 0, &archive), 0);
	for (uint32_t i = 0; i < 2; i++) {
		struct px_archive_call call;

		ck_assert_int_eq(archive->kind->next(archive, data, sizeof(data), &report),
				 PX_NEXT_EVENT);
		ck_assert_uint_eq(report.record.pid, PID + i);
		ck_assert_uint_eq(report.record.thread, pthread_of(2));
		ck_assert_mem_eq(data, bytes, length);
		ck_assert(archive->kind->call(archive, report.place, &call));
		ck_assert_uint_eq(call.native, 52);
	}
	archive->kind->free(archive);
}
END_TEST

/* Streams. */

static const struct px_wrapper_row rows[] = {
	{PX_WRAPPER_INSTALLED, PX_CALL_pthread_mutex_lock, "pthread_mutex_lock", "GLIBC_2.2.5"},
	{PX_WRAPPER_INSTALLED, PX_CALL_pthread_mutex_unlock, "pthread_mutex_unlock", "GLIBC_2.2.5"},
	{PX_WRAPPER_MISSING, PX_CALL_pthread_clockjoin_np, "pthread_clockjoin_np", ""},
	{PX_WRAPPER_FOREIGN, PX_CALL_malloc, "malloc", "GLIBC_2.2.5"},
};

static const struct px_wrapper_row *get_rows(uint32_t *nr_rows)
{
	*nr_rows = PX_ARRAY_SIZE(rows);
	return rows;
}

static void point(enum px_call call, uint32_t flags, uint64_t object, uint32_t value)
{
	uint64_t data[2] = {object, value};

	px_callpoint(call == PX_CALL_pthread_mutex_unlock, PX_CALL_AT(call, flags), data[0],
		     data[1], (void *)(uintptr_t)0x1234);
}

static void expect_wrappers(trace_id_t trid, unsigned long long nr_locks)
{
	struct txtrace_wrapper wrapper;
	int unavailable;

	for (int round = 0; round < 2; round++) {
		for (uint32_t i = 0; i < PX_ARRAY_SIZE(rows); i++) {
			ok(txtrace_getnext_wrapper(trid, &wrapper, &unavailable));
			ck_assert(!unavailable);
			ck_assert_str_eq(wrapper.symbol, rows[i].symbol);
			ck_assert_str_eq(wrapper.version, rows[i].version);
			ck_assert_str_eq(wrapper.call, px_call_name((enum px_call)rows[i].call));
			ck_assert_int_eq(wrapper.state, (int)rows[i].state);
			ck_assert_uint_eq(wrapper.calls, i == 0 ? nr_locks : i == 1 ? 1 : 0);
			ck_assert_uint_eq(wrapper.samples, i == 0 ? 2 : 0);
			ck_assert_int_eq(wrapper.overhead_ns > 0, i == 0);
		}
		ok(txtrace_getnext_wrapper(trid, &wrapper, &unavailable));
		ck_assert(unavailable);
		ok(txtrace_rewind_wrappers(trid));
	}
}

static int name_it(void *argument, const struct txtrace_object *object, char *text, size_t size)
{
	ck_assert_ptr_eq(argument, &file);
	ck_assert_int_eq(object->pid, getpid());
	ck_assert_uint_eq(object->site, 0x1234);
	if (object->address != M2)
		return ENOENT;
	snprintf(text, size, "second_lock");
	return 0;
}

static pthread_t namers_thread;

/* A namer that reads debugging information, as the tool has. */
static int name_with_a_deep_stack(void *argument, const struct txtrace_object *object, char *text,
				  size_t size)
{
	char room[640 << 10];

	(void)argument;
	memset(room, (int)object->handle, sizeof(room));
	snprintf(text, size, "deep %d", room[size]);
	__atomic_store_n(&namers_thread, pthread_self(), __ATOMIC_RELEASE);
	return 0;
}

/* The thread of the stream may call it. */
START_TEST(namer_has_room_on_the_thread_of_the_stream)
{
	uint64_t deadline = monotonic_ns() + UINT64_C(20000000000);
	const struct px_test_stream flushing = {.nr_rings = 1};
	int fd = px_test_file();
	trace_id_t trid = px_test_create_log(&flushing, fd);

	ok(txtrace_set_namer(trid, name_with_a_deep_stack, NULL));
	ok(posix_trace_start(trid));
	point(PX_CALL_pthread_mutex_lock, 0, M1, 0);
	while (!__atomic_load_n(&namers_thread, __ATOMIC_ACQUIRE) && monotonic_ns() < deadline)
		usleep(1000);
	ck_assert(namers_thread && !pthread_equal(namers_thread, pthread_self()));
	ok(posix_trace_shutdown(trid));
}
END_TEST

static void find_object(trace_id_t trid, unsigned int handle, struct txtrace_object *object)
{
	int unavailable = 0;

	ok(txtrace_rewind_objects(trid));
	do {
		ok(txtrace_getnext_object(trid, object, &unavailable));
		ck_assert(!unavailable);
	} while (object->handle != handle);
}

START_TEST(calls_of_a_stream_are_told_by_its_log)
{
	int fd = px_test_file();
	trace_id_t trid = px_test_create_log(&(struct px_test_stream){.nr_rings = 1}, fd);
	struct px_test_event event;
	struct txtrace_call call, before;
	const uint64_t first_data[2] = {M1, 0};
	struct txtrace_object object;

	px_callpoint_rows = get_rows;
	fails(txtrace_set_namer(trid + 12345, name_it, NULL), EINVAL);
	ok(txtrace_set_namer(trid, name_it, &file));
	ok(posix_trace_start(trid));
	ok(txtrace_name_object((void *)(uintptr_t)M1, "first_lock"));
	point(PX_CALL_pthread_mutex_lock, 0, M1, 0);
	point(PX_CALL_pthread_mutex_lock, BEGINS, M2, 0);
	point(PX_CALL_pthread_mutex_lock, ENDS, M2, 0);
	point(PX_CALL_pthread_mutex_unlock, 0, M2, 0);
	px_test_trace(POSIX_TRACE_UNNAMED_USEREVENT, 7);
	px_callpoint_cost(0, 100000);
	px_callpoint_cost(0, 200000);
	expect_wrappers(trid, 2);
	fails(txtrace_get_call(trid, &event.info, &call), EINVAL);
	ok(posix_trace_shutdown(trid));

	trid = px_test_open(fd);
	expect_wrappers(trid, 2);
	px_test_expect_recorded(trid, POSIX_TRACE_START, &event);
	fails(txtrace_get_call(trid, &event.info, &call), ENOENT);
	px_test_expect_recorded(trid, px_call_event(PX_CALL_txtrace_object_name), &event);
	ck_assert_uint_eq(event.length, 16 + strlen("first_lock"));
	ok(txtrace_get_call(trid, &event.info, &call));
	ck_assert_uint_eq(call.native, 0);
	px_test_expect_recorded(trid, px_call_event(PX_CALL_pthread_mutex_lock), &event);
	ok(txtrace_get_call(trid, &event.info, &call));
	ck_assert_uint_eq(call.native, 52);
	ck_assert_int_eq(call.phase, TXTRACE_CALL_WHOLE);
	ck_assert_uint_eq(call.state, 13);
	ck_assert_uint_eq(call.object, call.word[0]);
	ck_assert_uint_eq(call.word[1], UINT32_MAX);
	ck_assert_ptr_eq(event.info.posix_prog_address, (void *)(uintptr_t)0x1234);
	ck_assert_int_eq(event.info.posix_pid, getpid());
	ck_assert(pthread_equal(event.info.posix_thread_id, pthread_self()));
	ck_assert_mem_eq(event.data, first_data, sizeof(first_data));
	find_object(trid, call.object, &object);
	ck_assert_str_eq(object.name, "first_lock");
	ck_assert_int_eq(object.type, PX_TXTB_MUTEX);
	ck_assert_uint_eq(object.address, M1);
	ck_assert_uint_eq(object.site, 0x1234);
	before = call;
	px_test_expect_recorded(trid, px_call_event(PX_CALL_pthread_mutex_lock), &event);
	ok(txtrace_get_call(trid, &event.info, &call));
	ck_assert_int_eq(call.phase, TXTRACE_CALL_BEGINS);
	ck_assert_uint_ne(call.object, before.object);
	find_object(trid, call.object, &object);
	ck_assert_str_eq(object.name, "second_lock");
	before = call;
	px_test_expect_recorded(trid, px_call_event(PX_CALL_pthread_mutex_lock), &event);
	ok(txtrace_get_call(trid, &event.info, &call));
	ck_assert_int_eq(call.phase, TXTRACE_CALL_ENDS);
	ck_assert_uint_eq(call.native, PX_TXTB_RUNNING);
	ck_assert_uint_eq(call.object, before.object);
	ck_assert_uint_eq(call.waker, 0);
	px_test_expect_recorded(trid, px_call_event(PX_CALL_pthread_mutex_unlock), &event);
	px_test_expect_recorded(trid, POSIX_TRACE_UNNAMED_USEREVENT, &event);
	fails(txtrace_get_call(trid, &event.info, &call), ENOENT);
	fails(txtrace_get_call(trid, NULL, &call), EINVAL);
	fails(txtrace_get_call(trid, &event.info, NULL), EINVAL);
	fails(txtrace_set_namer(trid, name_it, NULL), EINVAL);
	fails(txtrace_getnext_wrapper(trid, NULL, NULL), EINVAL);
	fails(txtrace_name_object(NULL, "x"), EINVAL);
	fails(txtrace_name_object(&fd, NULL), EINVAL);
	ok(posix_trace_close(trid));
	px_test_check_log(fd, 0, &facts);
	expect_images(fd);
}
END_TEST

START_TEST(stream_without_calls_has_no_wrappers)
{
	trace_id_t trid = px_test_create(&(struct px_test_stream){0});
	struct txtrace_wrapper wrapper;
	int unavailable = 0;

	fails(txtrace_set_namer(trid, name_it, NULL), EINVAL); /* no log */
	ok(txtrace_name_object(&trid, "nobody traces"));
	ok(txtrace_getnext_wrapper(trid, &wrapper, &unavailable));
	ck_assert(unavailable);
	ok(posix_trace_shutdown(trid));
}
END_TEST

/* A process that completes the log goes on with the objects of the log. */
static int record_and_die(void *argument)
{
	int fd = *(int *)argument;
	trace_id_t trid = px_test_create_log(&(struct px_test_stream){.nr_rings = 1}, fd);

	px_callpoint_rows = get_rows;
	if (posix_trace_start(trid) != 0)
		return 1;
	point(PX_CALL_pthread_mutex_lock, 0, M1, 0);
	point(PX_CALL_pthread_mutex_lock, 0, M2, 0);
	if (posix_trace_flush(trid) != 0)
		return 2;
	point(PX_CALL_pthread_mutex_lock, 0, M2, 0);
	point(PX_CALL_pthread_mutex_lock, 0, M1 + M2, 0);
	px_callpoint_cost(0, 100000);
	return 0;
}

START_TEST(log_that_is_recovered_goes_on_with_the_same_objects)
{
	int fd = px_test_file();
	unsigned int object[4];
	struct txtrace_wrapper wrapper;
	trace_id_t trid;
	int unavailable;

	ck_assert_int_eq(px_test_in_child(record_and_die, &fd), 0);
	trid = px_test_open(fd);
	for (int i = 0; i < 4;) {
		struct px_test_event event;
		struct txtrace_call call;

		ck_assert_uint_ne(px_test_take_recorded(trid, &event), 0);
		if (txtrace_get_call(trid, &event.info, &call) != 0)
			continue;
		ck_assert_uint_eq(call.native, 52);
		object[i++] = call.object;
	}
	ck_assert_uint_ne(object[0], object[1]);
	ck_assert_uint_eq(object[1], object[2]);
	ck_assert_uint_gt(object[3], object[2]);
	ok(txtrace_getnext_wrapper(trid, &wrapper, &unavailable));
	ck_assert(!unavailable);
	ck_assert_uint_eq(wrapper.calls, 4);
	ck_assert_uint_eq(wrapper.samples, 1);
	ok(posix_trace_close(trid));
	px_test_check_log(fd, 0, &facts);
	expect_images(fd);
}
END_TEST

/* There are so many objects that the log must use slots of the registry again. */
static int go_round_and_die(void *argument)
{
	int fd = *(int *)argument;
	trace_id_t trid =
		px_test_create_log(&(struct px_test_stream){.policy = POSIX_TRACE_FLUSH,
							    .size = 1 << 20,
							    .nr_rings = 1,
							    .log_policy = POSIX_TRACE_LOOP,
							    .log_size = 900 * PX_SLOT_BYTES},
				   fd);

	if (posix_trace_start(trid) != 0)
		return 1;
	for (uint64_t i = 0; i < 3000; i++)
		point(PX_CALL_pthread_mutex_lock, 0, 0x10000 + i % 850 * 64, 0);
	if (posix_trace_flush(trid) != 0)
		return 2;
	for (uint64_t i = 0; i < 300; i++)
		point(PX_CALL_sem_wait, 0, 0x10000 + i * 64, 0);
	return 0;
}

START_TEST(log_that_goes_round_and_is_recovered_names_all_that_is_left)
{
	struct px_test_event event;
	struct txtrace_call call;
	uint32_t nr_calls = 0;
	trace_id_t trid;
	int fd = px_test_file();

	ck_assert_int_eq(px_test_in_child(go_round_and_die, &fd), 0);
	trid = px_test_open(fd);
	while (px_test_take_recorded(trid, &event) != 0)
		if (txtrace_get_call(trid, &event.info, &call) == 0)
			nr_calls += call.native != 0;
	ok(posix_trace_close(trid));
	ck_assert_uint_gt(nr_calls, 600);
	px_test_check_log(fd, 0, &facts);
	expect_images(fd);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("translate");
	TCase *rules = tcase_create("rules");
	TCase *objects = tcase_create("objects");
	TCase *logs = tcase_create("logs");
	TCase *streams = tcase_create("streams");

	tcase_add_checked_fixture(rules, setup, teardown);
	tcase_add_test(rules, whole_call_is_its_native_event);
	tcase_add_test(rules, owner_who_is_not_traced_is_not_nobody);
	tcase_add_test(rules, wait_is_suspend_and_resume_by_who_ended_it);
	tcase_add_test(rules, mutex_given_up_just_before_the_wait_tells_who_ended_it);
	tcase_add_loop_test(rules, unlock_before_a_gap_tells_no_waker, 0, 2);
	tcase_add_test(rules, inner_unlock_of_a_recursive_mutex_wakes_nobody);
	tcase_add_test(rules, waker_that_sleeps_by_now_is_told_by_running_alone);
	tcase_add_loop_test(rules, wait_that_failed_was_ended_by_nobody, 0,
			    PX_ARRAY_SIZE(failures));
	tcase_add_test(rules, semaphore_posted_before_the_wait_does_not_tell_who_ended_it);
	tcase_add_test(rules, broadcast_ends_the_waits_of_all);
	tcase_add_test(rules, barrier_is_ended_by_who_comes_last);
	tcase_add_test(rules, once_is_ended_by_who_ran_the_function);
	tcase_add_test(rules, c11_is_told_as_its_equals);
	tcase_add_test(rules, thread_of_c11_is_created_and_joined);
	tcase_add_test(rules, queue_is_waited_for_in_two_directions);
	tcase_add_test(rules, thread_end_wakes_who_joins_it);
	tcase_add_test(rules, event_of_a_thread_that_sleeps_wakes_it);
	tcase_add_test(rules, thread_sleeps_again_behind_a_handler);
	tcase_add_test(rules, handler_that_is_left_by_a_jump_is_forgotten_with_the_wait);
	tcase_add_test(rules, call_that_failed_and_changed_nothing_is_a_user_event);
	tcase_add_test(rules, call_without_a_native_event_is_a_user_event);
	tcase_add_test(rules, event_that_only_has_the_id_of_a_call_is_none);
	suite_add_tcase(suite, rules);

	tcase_add_checked_fixture(objects, setup, teardown);
	tcase_add_test(objects, destroyed_object_is_another_one_afterwards);
	tcase_add_test(objects, objects_of_two_processes_are_two);
	tcase_add_test(objects, program_that_the_process_executes_has_memory_of_its_own_and_keeps_descriptors);
	tcase_add_test(objects, threads_of_one_program_begin_in_any_order);
	tcase_add_test(objects, thread_with_two_handles_is_in_one_program);
	tcase_add_test(objects, threads_that_were_restored_are_in_their_programs);
	tcase_add_test(objects, another_program_does_not_end_the_objects_of_other_processes);
	tcase_add_test(objects, named_semaphore_is_one_until_it_is_closed_as_often_as_opened);
	tcase_add_test(objects, descriptor_is_what_was_opened_last);
	tcase_add_test(objects, socket_is_tcp_or_udp_by_its_type);
	tcase_add_test(objects, accept_makes_a_socket_and_is_about_the_one_that_listens);
	tcase_add_test(objects, child_has_the_descriptors_of_its_parent);
	tcase_add_test(objects, heap_is_one_byte_pool);
	tcase_add_test(objects, name_that_the_program_gives_is_the_objects_before_and_behind);
	tcase_add_test(objects, names_are_short_and_of_one_object_each);
	tcase_add_test(objects, thread_gets_the_name_that_it_is_given);
	tcase_add_test(objects, thread_that_was_only_told_of_is_known_with_its_first_event);
	tcase_add_loop_test(objects, thread_that_is_named_before_its_first_event_keeps_the_name, 0, 2);
	tcase_add_test(objects, namer_is_asked_once_for_each_object);
	tcase_add_test(objects, object_of_this_process_is_named_by_its_module);
	tcase_add_loop_test(objects, object_of_the_program_before_this_one_is_not_named_by_its_modules, 0, 2);
	tcase_add_test(objects, objects_that_were_used_last_are_kept);
	tcase_add_test(objects, any_calls_leave_everything_in_order);
	suite_add_tcase(suite, objects);

	tcase_add_checked_fixture(logs, log_setup, teardown);
	tcase_add_loop_test(logs, log_gives_calls_back_as_they_were_and_shows_them_natively, 0,
			    PX_ARRAY_SIZE(policies));
	tcase_add_loop_test(logs, log_with_too_many_objects_gives_calls_back_all_the_same, 0,
			    PX_ARRAY_SIZE(policies));
	tcase_add_test(logs, log_that_goes_round_never_shows_a_handle_that_has_no_object);
	tcase_add_loop_test(logs, log_that_was_cleared_goes_on_with_the_same_objects, 0,
			    PX_ARRAY_SIZE(policies));
	tcase_add_test(logs, events_of_a_flush_take_no_time_from_others);
	tcase_add_test(logs, suspend_at_the_end_of_a_write_is_followed_by_who_is_idle);
	tcase_add_test(logs, long_sleep_is_charged_to_who_is_idle);
	tcase_add_test(logs, call_of_a_thread_that_is_two_comes_back_as_it_was);
	suite_add_tcase(suite, logs);

	tcase_add_test(streams, calls_of_a_stream_are_told_by_its_log);
	tcase_add_test(streams, namer_has_room_on_the_thread_of_the_stream);
	tcase_add_test(streams, stream_without_calls_has_no_wrappers);
	tcase_add_test(streams, log_that_is_recovered_goes_on_with_the_same_objects);
	tcase_add_test(streams, log_that_goes_round_and_is_recovered_names_all_that_is_left);
	suite_add_tcase(suite, streams);
	return run_suite(suite);
}
