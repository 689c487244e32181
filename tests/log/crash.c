/* SPDX-License-Identifier: MIT */
/*
 * Programs that are killed while they write a log, at any moment.  The viewer accepts the log that they leave; the log
 * opens, and is complete and in order up to the last commit.
 */
#include "support/common.h"

#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include "support/log_checker.h"

#define NR_ROUNDS 200
#define NR_WRITERS 2
#define LONGEST 300

static trace_event_id_t type;
static int file;
static trace_id_t stream;
static struct px_test_event seen;

/* Memory that is shared with the child. */
static uint32_t *is_created;

struct payload {
	uint32_t writer;
	uint32_t number;
	unsigned char bytes[LONGEST];
};

static uint32_t length_of(uint32_t number)
{
	return (uint32_t)(2 * sizeof(uint32_t)) + number * 7 % LONGEST;
}

static void record(uint32_t writer, uint32_t number)
{
	struct payload payload = {.writer = writer, .number = number};

	px_test_fill(payload.bytes, sizeof(payload.bytes), number + writer);
	posix_trace_event(type, &payload, length_of(number));
}

static void *write_for_ever(void *unused)
{
	for (uint32_t number = 0;; number++) {
		record(1, number);
		if (number % 16 == 0)
			sched_yield();
	}
	return unused;
}

static void be_killed(uint64_t random)
{
	static const int log_policies[] = {POSIX_TRACE_LOOP, POSIX_TRACE_UNTIL_FULL,
					   POSIX_TRACE_APPEND, POSIX_TRACE_LOOP};
	const struct px_test_stream wanted = {.policy = random & 1 ? POSIX_TRACE_FLUSH :
								     POSIX_TRACE_UNTIL_FULL,
					      .size = random & 2 ? 8192 : 65536,
					      .max_data = 2 * LONGEST,
					      .nr_rings = 2,
					      .log_policy = log_policies[random >> 2 & 3],
					      .log_size = random & 16 ? 100000 : 1000000};
	pthread_t thread;

	stream = px_test_create_log(&wanted, file);
	posix_trace_start(stream);
	__atomic_store_n(is_created, 1, __ATOMIC_RELEASE);
	pthread_create(&thread, NULL, write_for_ever, NULL);
	for (uint32_t number = 0;; number++) {
		record(0, number);
		if (number % 64 == 63)
			posix_trace_flush(stream);
		if (random & 32 && number % 1000 == 999) {
			posix_trace_clear(stream);
			posix_trace_start(stream);
		}
	}
}

/*
 * The log must be right at every moment, so the choice of moments does not matter.  Do not kill the child before the
 * log exists: until then it uses assertions of Check, and a message to Check that a kill cuts makes Check fail.
 */
static void run_and_kill(uint64_t random)
{
	struct timespec delay = {0, (long)(random >> 8) % 12000000};
	pid_t child;

	*is_created = 0;
	ck_assert_int_eq(ftruncate(file, 0), 0);
	fflush(NULL);
	child = fork();
	ck_assert_int_ge(child, 0);
	if (child == 0)
		be_killed(random);
	while (!__atomic_load_n(is_created, __ATOMIC_ACQUIRE) && waitpid(child, NULL, WNOHANG) == 0)
		sleep_ms(1);
	ck_assert_int_eq(*is_created, 1);
	nanosleep(&delay, NULL);
	kill(child, SIGKILL);
	ck_assert_int_eq(waitpid(child, NULL, 0), child);
}

/* The numbers and the times of each writer rise, and each event is complete. */
static uint64_t read_log(void)
{
	uint32_t next[NR_WRITERS] = {0};
	trace_id_t trid = px_test_open(file);
	trace_event_id_t id;
	uint64_t time[NR_WRITERS] = {0}, count = 0;

	while ((id = px_test_take_recorded(trid, &seen)) != 0) {
		uint64_t now = px_test_ns(seen.info.posix_timestamp);
		struct payload payload;

		if (id != type)
			continue;
		memcpy(&payload, seen.data, sizeof(payload));
		if (payload.writer >= NR_WRITERS || payload.number < next[payload.writer] ||
		    seen.length != length_of(payload.number) ||
		    !px_test_is_filled(payload.bytes, seen.length - 2 * sizeof(uint32_t),
				       payload.number + payload.writer))
			ck_abort_msg("event %u of writer %u is torn or out of order",
				     payload.number, payload.writer);
		if (now < time[payload.writer])
			ck_abort_msg("the time of writer %u falls", payload.writer);
		time[payload.writer] = now;
		next[payload.writer] = payload.number + 1;
		count++;
	}
	ok(posix_trace_close(trid));
	return count;
}

/* MODEL-8 EXIT-4 EXIT-5 EXIT-6 OPEN-10 */
START_TEST(crash_of_a_writer_at_any_instant_leaves_a_sound_log)
{
	uint64_t random = test_seed(), nr_events = 0;

	ok(posix_trace_eventid_open("killed", &type));
	file = px_test_file();
	is_created = mmap(NULL, sizeof(*is_created), PROT_READ | PROT_WRITE,
			  MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	ck_assert_ptr_ne(is_created, MAP_FAILED);
	for (int round = 0; round < NR_ROUNDS; round++) {
		struct px_test_log_facts facts;

		run_and_kill(next_random(&random));
		px_test_check_log(file, PX_TEST_LOG_IS_CUT, &facts);
		nr_events += read_log();
	}
	printf("%d rounds, %llu events\n", NR_ROUNDS, (unsigned long long)nr_events);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("crash");
	TCase *tcase = tcase_create("crash");

	tcase_set_timeout(tcase, 120);
	tcase_add_test(tcase, crash_of_a_writer_at_any_instant_leaves_a_sound_log);
	suite_add_tcase(suite, tcase);
	return run_suite(suite);
}
