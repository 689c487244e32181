/* SPDX-License-Identifier: MIT */
/* What the test suites share: a runner, shorthands for the public API, waiting, children. */
#ifndef PX_TESTS_SUPPORT_COMMON_H
#define PX_TESTS_SUPPORT_COMMON_H

#include <check.h>
#include <errno.h>
#include <pthread.h>
#include <semaphore.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <trace.h>

/* Run the suite of one program and return its exit code for main(). */
int run_suite(Suite *suite);

/* The suite ends with 77 (skipped); the reason goes to stdout. */
_Noreturn void skip_program(const char *reason);

/*
 * In a test that cannot do all its checks here: print why, so that summary.sh counts it as skipped.  Call it once, after
 * the checks that can be done, and return.  A function that a test calls passes on the __func__ of the test.
 */
#define px_test_skip(reason) px_test_skip_in(__func__, (reason))
void px_test_skip_in(const char *function, const char *reason);

/* Expect a call of the tracing interface to return 0, or this error number. */
#define ok(call) ck_assert_int_eq((call), 0)
#define fails(call, error) ck_assert_int_eq((call), (error))

uint64_t monotonic_ns(void);
void sleep_ms(unsigned int milliseconds);

/* A seed for pseudo-random tests: PX_SEED from the environment or the clock; printed once. */
uint64_t test_seed(void);
uint64_t next_random(uint64_t *state);

/* True under make check-stress (PX_WHOLE=yes): a test tries all its cases, and not a random sample of them. */
bool px_test_is_whole(void);

/* What a test wants of a stream; 0 leaves the default. */
struct px_test_stream {
	int policy;
	size_t size;	 /* bytes: stream-min-size */
	size_t max_data; /* bytes */
	unsigned int nr_rings;
	int log_policy;	 /* of a stream with log, like the next */
	size_t log_size; /* bytes: log-max-size */
};

/* A stream of the calling process, not started. */
trace_id_t px_test_create(const struct px_test_stream *wanted);

/* Open a type of this name. */
trace_event_id_t px_test_open_type(const char *name);

/* The same with a log in this file. */
trace_id_t px_test_create_log(const struct px_test_stream *wanted, int fd);

/* An empty file without a name, open for reading and writing: in memory, or on the disk. */
int px_test_file(void);
int px_test_disk_file(void);

/* The same file once more, with flags of open(). */
int px_test_reopen(int fd, int flags);

/* The file's length in bytes. */
uint64_t px_test_file_size(int fd);

/* Open the log in the file as a pre-recorded stream. */
trace_id_t px_test_open(int fd);

/* An event as it was reported; data holds any system event. */
struct px_test_event {
	struct posix_trace_event_info info;
	size_t length;
	unsigned char data[2048];
};

/* Take the next event of a stream without waiting: its type, or 0 when there is none. */
trace_event_id_t px_test_take(trace_id_t trid, struct px_test_event *event);

/* The same from a pre-recorded stream. */
trace_event_id_t px_test_take_recorded(trace_id_t trid, struct px_test_event *event);
#define px_test_expect_recorded(trid, type, event)                                                 \
	ck_assert_uint_eq(px_test_take_recorded((trid), (event)), (trace_event_id_t)(type))

/* Expect the next event to be of this type; 0: expect none. */
#define px_test_expect(trid, type, event)                                                          \
	ck_assert_uint_eq(px_test_take((trid), (event)), (trace_event_id_t)(type))

/* The directory of this suite for shared memory (TXTRACE_DIR); the test fails if there is none. */
const char *px_test_directory(void);

/* The status; reading it resets the overrun. */
struct posix_trace_status_info px_test_status(trace_id_t trid);

/* Expect this status, and what there is without a log; it resets the overrun too. */
void px_test_expect_status(trace_id_t trid, int status, int full, int overrun);

/* Expect the next event to be one that the reader makes: of no thread, and from no call. */
void px_test_expect_made(trace_id_t trid, trace_event_id_t type, struct px_test_event *event);

/* A trace point whose data is a number, and that number. */
void px_test_trace(trace_event_id_t type, uint32_t number);
uint32_t px_test_number(const struct px_test_event *event);

/* Bytes that tell their place and their seed, and whether they are whole. */
void px_test_fill(void *data, size_t length, uint32_t seed);
bool px_test_is_filled(const void *data, size_t length, uint32_t seed);

/* Nanoseconds since the epoch. */
uint64_t px_test_ns(struct timespec time);

/* Wait until a thread of this process sleeps in the kernel. */
void px_test_wait_asleep(pid_t tid);

/* Identifiers that no function may take for a stream: 0, garbage, those of streams shut down. */
#define PX_TEST_BAD_TRIDS 9
void px_test_bad_trids(trace_id_t bad[PX_TEST_BAD_TRIDS]);

/* The first function that does not answer EINVAL to this identifier, or NULL. */
const char *px_test_accepting(trace_id_t trid);

/* The exit code of a child, made by fork, that leaves by _exit() with the function's result. */
int px_test_in_child(int (*function)(void *argument), void *argument);

/*
 * Limit the size of files that this process may write, and take the limit away again.  No check of Check may
 * stand in between: it writes files of its own.
 */
void px_test_limit_files(uint64_t size);
void px_test_unlimit_files(void);

/* In this thread, call the function when the test point is reached the next time; once. */
void px_test_at_point(const char *point, void (*action)(void));

/* The same in a handler of SIGUSR2 that interrupts the thread there. */
void px_test_in_handler_at_point(const char *point, void (*action)(void));

/* A thread that records one event, and is held at a test point on the way. */
struct px_test_writer {
	pthread_t thread;
	const char *point;
	trace_event_id_t type;
	const void *data;
	size_t length;
	uint32_t number; /* data where that is a number */
	sem_t arrived, released;
	bool was_held;
};

/*
 * True if a stream with the default attributes has a ring for each CPU.  It has none where the kernel does not trust
 * the hardware counter (another clock source than tsc, or no /sys), or lacks restartable sequences or membarrier(2).
 */
bool px_test_has_cpu_rings(void);

/*
 * True if events of a stream with that number of rings pass this point.  Where CPUs have rings of their own, reserve
 * and claim are one step (cpuring.h).
 */
bool px_test_passes(unsigned int nr_rings, const char *point);

/* Returns when the writer is at the point, or done without passing it. */
void px_test_hold(struct px_test_writer *writer, const char *point, trace_event_id_t type,
		  uint32_t number);

/* The same with any data, which must be there until the writer is done. */
void px_test_hold_data(struct px_test_writer *writer, const char *point, trace_event_id_t type,
		       const void *data, size_t length);

/* Returns when the writer is done.  Nothing, if it was not held, or was released before. */
void px_test_release(struct px_test_writer *writer);

/*
 * Threads that write beside threads that control, so that neither is done before the other has
 * begun: each control call lets some events be written, and waits until half of them are.
 */
void px_test_pace_control(void);

/* Before each event of a writer.  False when it is finished. */
bool px_test_pace_writer(void);
void px_test_pace_finish(void);

/* Make the trace buffer that tests/data/NAME.txt describes, and return how many bytes it has. */
size_t px_test_make_trace(const char *name, unsigned char *bytes, size_t size);

/* This process may end with memory that it has not given back; for the leak sanitizer. */
void px_test_forgive_leaks(void);

/* Call the function in a thread that was cancelled before: it is no cancellation point. */
void px_test_with_cancellation_pending(void (*function)(void));

#endif
