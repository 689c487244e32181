/* SPDX-License-Identifier: MIT */
/* What the test suites share: a runner, short forms of API calls, waiting, children. */
#ifndef PX_TESTS_SUPPORT_COMMON_H
#define PX_TESTS_SUPPORT_COMMON_H

#include <check.h>
#include <errno.h>
#include <pthread.h>
#include <semaphore.h>
#include <signal.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <sys/syscall.h>
#include <trace.h>
#include <unistd.h>

/* Run the suite of one program and return its exit code for main(). */
int run_suite(Suite *suite);

/* The suite ends with 77 (skipped); the reason goes to stdout. */
_Noreturn void skip_program(const char *reason);

/*
 * In a test that cannot do all its checks here: print why, so that summary.sh counts it as skipped.  Call it once,
 * after the checks that can be done, and return.  A function that a test calls passes on the __func__ of the test.
 */
#define px_test_skip(reason) px_test_skip_in(__func__, (reason))
void px_test_skip_in(const char *function, const char *reason);

/*
 * True if a sanitizer watches each access to memory.  It defers handlers and makes its own system calls, so a test that
 * runs instruction by instruction does not work.  It does not understand threads that disappear either.
 */
#if defined __SANITIZE_THREAD__ || defined __SANITIZE_ADDRESS__
#define PX_IS_SANITIZED true
#else
#define PX_IS_SANITIZED false
#endif

/* Expect a call of the tracing interface to return 0, or this error number. */
#define ok(call) ck_assert_int_eq((call), 0)
#define fails(call, error) ck_assert_int_eq((call), (error))

/*
 * From now on, the kernel answers this system call of the calling thread with an action (SECCOMP_RET_...), as in a
 * container.  Return false if there are no filters here.
 */
bool px_test_filter(long number, uint32_t action);

/*
 * Return true if memory can be kept from children of fork() (MADV_DONTFORK, MADV_WIPEONFORK).  An emulator of system
 * calls may accept such advice and do nothing.
 */
bool px_test_has_fork_advice(void);

uint64_t monotonic_ns(void);
void sleep_ms(unsigned int milliseconds);

/* A seed for pseudo-random tests: PX_SEED from the environment or the clock; printed once. */
uint64_t test_seed(void);
uint64_t next_random(uint64_t *state);

/* True under make check-stress (PX_WHOLE=yes): a test tries all its cases, and not a random sample of them. */
bool px_test_is_whole(void);

/* The properties of a test's stream; 0 leaves the default. */
struct px_test_stream {
	int policy;
	size_t size;	 /* bytes: stream-min-size */
	size_t max_data; /* bytes */
	unsigned int nr_rings;
	int log_policy;	 /* of a stream with a log, like the next member */
	size_t log_size; /* bytes: log-max-size */
};

/* Create a stream of the calling process, not started. */
trace_id_t px_test_create(const struct px_test_stream *wanted);

/* Open a type of this name. */
trace_event_id_t px_test_open_type(const char *name);

/* Create the same stream with a log in this file. */
trace_id_t px_test_create_log(const struct px_test_stream *wanted, int fd);

/* Make an empty file without a name, open for reading and writing: in memory, or on the disk. */
int px_test_file(void);
int px_test_disk_file(void);

/* Open the same file once more, with flags of open(). */
int px_test_reopen(int fd, int flags);

/* Damage a file as another process of its user could. */
enum px_test_damage {
	PX_REMOVED,
	PX_CUT,
	PX_OVERWRITTEN,
	PX_BECAME_A_LINK, /* to /dev/null */
	PX_NR_DAMAGES
};
void px_test_damage(const char *path, enum px_test_damage how);

/* Return the length of the file in bytes. */
uint64_t px_test_file_size(int fd);

/* Open the log in the file as a pre-recorded stream. */
trace_id_t px_test_open(int fd);

/* An event as it was reported; data has room for any system event. */
struct px_test_event {
	struct posix_trace_event_info info;
	size_t length;
	unsigned char data[2048];
};

/* Take the next event of a stream without waiting.  Return its type, or 0 if there is none. */
trace_event_id_t px_test_take(trace_id_t trid, struct px_test_event *event);

/* Take the next event of a pre-recorded stream.  Return its type, or 0 at the end. */
trace_event_id_t px_test_take_recorded(trace_id_t trid, struct px_test_event *event);
#define px_test_expect_recorded(trid, type, event)                                                 \
	ck_assert_uint_eq(px_test_take_recorded((trid), (event)), (trace_event_id_t)(type))

/* Expect that the next event has this type; 0: expect no event. */
#define px_test_expect(trid, type, event)                                                          \
	ck_assert_uint_eq(px_test_take((trid), (event)), (trace_event_id_t)(type))

/* The directory of this suite for shared memory (TXTRACE_DIR); the test fails if there is none. */
const char *px_test_directory(void);

/* Return the status; this call resets the overrun. */
struct posix_trace_status_info px_test_status(trace_id_t trid);

/* Expect this status, and the values of a stream without a log.  The call also resets the overrun. */
void px_test_expect_status(trace_id_t trid, int status, int full, int overrun);

/* Expect that the reader has synthesized the next event: no thread, and no call. */
void px_test_expect_made(trace_id_t trid, trace_event_id_t type, struct px_test_event *event);

/* Record an event whose data is a number; return the number of such an event. */
void px_test_trace(trace_event_id_t type, uint32_t number);
uint32_t px_test_number(const struct px_test_event *event);

/* Fill bytes that depend on their position and a seed; return true if they are unchanged. */
void px_test_fill(void *data, size_t length, uint32_t seed);
bool px_test_is_filled(const void *data, size_t length, uint32_t seed);

/* Convert to nanoseconds since the epoch. */
uint64_t px_test_ns(struct timespec time);

/* Wait until a thread of this process sleeps in the kernel. */
void px_test_wait_asleep(pid_t tid);

/* An identifier that belongs to no stream: 0, a random value, or that of a stream that was shut down. */
#define PX_TEST_BAD_TRIDS 9
void px_test_bad_trids(trace_id_t bad[PX_TEST_BAD_TRIDS]);

/* Return the name of the first function that does not return EINVAL for this identifier, or NULL. */
const char *px_test_accepting(trace_id_t trid);

/* A child without the handlers of fork(), as clone(2) makes it.  Its arguments have another order on s390x. */
static inline pid_t px_test_clone(void)
{
#if defined(__s390__)
	return (pid_t)syscall(SYS_clone, NULL, SIGCHLD, NULL, NULL, NULL);
#else
	return (pid_t)syscall(SYS_clone, SIGCHLD, NULL, NULL, NULL, NULL);
#endif
}

/* Run the function in a forked child that exits with its result.  Return its exit code. */
int px_test_in_child(int (*function)(void *argument), void *argument);

/*
 * Limit the size of files that this process may write, and remove the limit again.  In between, make no Check
 * assertions, because Check writes files.
 */
void px_test_limit_files(uint64_t size);
void px_test_unlimit_files(void);

/* Call the function in this thread when the test point is reached the next time; once. */
void px_test_at_point(const char *point, void (*action)(void));

/* The same in a handler of SIGUSR2 that interrupts the thread at the test point. */
void px_test_in_handler_at_point(const char *point, void (*action)(void));

/* A thread that records one event, and stops at a test point of it. */
struct px_test_writer {
	pthread_t thread;
	const char *point;
	trace_event_id_t type;
	const void *data;
	size_t length;
	uint32_t number; /* the data if it is a number */
	sem_t arrived, released;
	bool was_held;
};

/*
 * Return true if a stream with the default attributes has a ring for each CPU.  It has none if the kernel does not
 * trust the hardware counter (another clock source than tsc, or no /sys), or lacks restartable sequences or
 * membarrier(2).
 */
bool px_test_has_cpu_rings(void);

/*
 * On a busy or emulated aarch64, the trial of restartable sequences often has no result in its short time.  Repeat it
 * until the registry has one.  Call this before anything else of the library, and before there are threads.
 */
void px_test_try_sequences(void);

/*
 * Return true if events of a stream with this number of rings pass this point.  In the ring of a CPU, reserve and claim
 * are one step (cpuring.h).
 */
bool px_test_passes(unsigned int nr_rings, const char *point);

/* Return when the writer is at the point, or has ended without passing it. */
void px_test_hold(struct px_test_writer *writer, const char *point, trace_event_id_t type,
		  uint32_t number);

/* The same with any data.  The data must stay until the writer has ended. */
void px_test_hold_data(struct px_test_writer *writer, const char *point, trace_event_id_t type,
		       const void *data, size_t length);

/* Return when the writer has ended.  If it was released before, do nothing. */
void px_test_release(struct px_test_writer *writer);

/*
 * Threads that write next to threads that make control calls.  So that neither ends before the other has begun, each
 * control call allows some events, and waits until half of them are recorded.
 */
void px_test_pace_control(void);

/* A writer calls this before each event.  Return false when it must end. */
bool px_test_pace_writer(void);
void px_test_pace_finish(void);

/* Make the trace buffer that tests/data/NAME.txt describes, and return how many bytes it has. */
size_t px_test_make_trace(const char *name, unsigned char *bytes, size_t size);

/* This process may end with memory that it has not freed; for the leak sanitizer. */
void px_test_forgive_leaks(void);

/* Call the function in a thread with a pending cancellation: the function is no cancellation point. */
void px_test_with_cancellation_pending(void (*function)(void));

#endif
