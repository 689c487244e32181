/* SPDX-License-Identifier: MIT */
/* What fork and related calls do to streams, identifiers and names, in a process and its children. */
#include "support/common.h"

#include <fcntl.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <spawn.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <trace.h>
#include <trace_ext.h>
#include <unistd.h>

#include "base/compiler.h"
#include "trace/process.h"
#include "trace/thread.h"

static trace_id_t stream;
static trace_event_id_t type;

static void setup(void)
{
	trace_attr_t attr;

	ok(posix_trace_attr_init(&attr));
	ok(txtrace_attr_setrings(&attr, 1));
	ok(posix_trace_eventid_open("forked", &type));
	ok(posix_trace_create(0, &attr, &stream));
	ok(posix_trace_start(stream));
}

static void teardown(void)
{
	posix_trace_shutdown(stream);
}

/* Return the data, an int, of the next event that is neither START nor STOP.  Return -1 if there is none. */
static int next_number(trace_id_t from, struct posix_trace_event_info *info)
{
	size_t length;
	int number = -1, unavailable;

	do {
		ok(posix_trace_trygetnext_event(from, info, &number, sizeof(number), &length,
						&unavailable));
		if (unavailable)
			return -1;
	} while (info->posix_event_id != type);
	return number;
}

static void record(int number)
{
	posix_trace_event(type, &number, sizeof(number));
}

/* Run it in a child that exits with the result; return the result. */
static int in_child(int (*function)(void))
{
	pid_t child = fork();
	int status;

	ck_assert_int_ge(child, 0);
	if (child == 0)
		_exit(function());
	ck_assert_int_eq(waitpid(child, &status, 0), child);
	ck_assert_msg(WIFEXITED(status), "child ended by signal %d", WTERMSIG(status));
	return WEXITSTATUS(status);
}

static int record_42(void)
{
	record(42);
	return 0;
}

/* FORK-2 FORK-3 SETINH-1 */
START_TEST(fork_default_child_is_not_traced)
{
	struct posix_trace_event_info info;

	record(1);
	ck_assert_int_eq(in_child(record_42), 0);
	record(2);
	ck_assert_int_eq(next_number(stream, &info), 1);
	ck_assert_int_eq(next_number(stream, &info), 2);
	ck_assert_int_eq(info.posix_pid, getpid());
	ck_assert_int_eq(next_number(stream, &info), -1);
}
END_TEST

/* FORK-2: as above, where the kernel does not wipe the page of the parent, as emulators of system calls do not. */
START_TEST(fork_child_with_a_copy_of_the_page_is_not_traced)
{
	struct posix_trace_event_info info;

	ck_assert_int_eq(madvise(&px_gate.self, PX_GATE_BLOCK, MADV_KEEPONFORK), 0);
	record(1);
	ck_assert_int_eq(in_child(record_42), 0);
	record(2);
	ck_assert_int_eq(next_number(stream, &info), 1);
	ck_assert_int_eq(next_number(stream, &info), 2);
	ck_assert_int_eq(next_number(stream, &info), -1);
}
END_TEST

/* Make each call with an identifier of the parent.  Return the number of the first call that succeeds. */
static int use_parents_stream(void)
{
	struct posix_trace_status_info status;
	struct posix_trace_event_info info;
	struct timespec past = {0, 0};
	struct txtrace_loss loss;
	trace_event_set_t set;
	trace_event_id_t id;
	trace_attr_t attr;
	char name[TRACE_EVENT_NAME_MAX + 1];
	size_t length;
	int unavailable;

	posix_trace_eventset_empty(&set);
	const int results[] = {
		posix_trace_start(stream),
		posix_trace_stop(stream),
		posix_trace_clear(stream),
		posix_trace_get_attr(stream, &attr),
		posix_trace_get_status(stream, &status),
		posix_trace_get_filter(stream, &set),
		posix_trace_set_filter(stream, &set, POSIX_TRACE_SET_EVENTSET),
		posix_trace_trid_eventid_open(stream, "child", &id),
		posix_trace_eventid_get_name(stream, type, name),
		posix_trace_eventtypelist_getnext_id(stream, &id, &unavailable),
		posix_trace_eventtypelist_rewind(stream),
		posix_trace_getnext_event(stream, &info, NULL, 0, &length, &unavailable),
		posix_trace_timedgetnext_event(stream, &info, NULL, 0, &length, &unavailable,
					       &past),
		posix_trace_trygetnext_event(stream, &info, NULL, 0, &length, &unavailable),
		txtrace_get_loss(stream, &loss),
		posix_trace_shutdown(stream),
	};
	for (size_t i = 0; i < PX_ARRAY_SIZE(results); i++)
		if (results[i] != EINVAL)
			return (int)i + 1;
	return 0;
}

/* KIND-1 FORK-4 SHUT-12 CREATE-15 */
START_TEST(fork_child_uses_parents_identifier_every_call_is_refused)
{
	struct posix_trace_event_info info;

	ck_assert_int_eq(in_child(use_parents_stream), 0);
	record(7);
	ck_assert_int_eq(next_number(stream, &info), 7);
}
END_TEST

static int exit_normally(void)
{
	exit(0); /* handlers and destructors run */
}

/* FORK-6 EXIT-3 */
START_TEST(exit_of_child_leaves_parents_stream_alone)
{
	struct posix_trace_status_info status;
	struct posix_trace_event_info info;

	ck_assert_int_eq(in_child(exit_normally), 0);
	ok(posix_trace_get_status(stream, &status));
	ck_assert_int_eq(status.posix_stream_status, POSIX_TRACE_RUNNING);
	record(3);
	ck_assert_int_eq(next_number(stream, &info), 3);
}
END_TEST

/* FORK-6 */
START_TEST(exec_of_child_leaves_parents_stream_alone)
{
	struct posix_trace_event_info info;
	char command[] = "true";
	char *const arguments[] = {command, NULL};
	pid_t child;
	int status;

	ck_assert_int_eq(posix_spawnp(&child, "true", NULL, NULL, arguments, environ), 0);
	ck_assert_int_eq(waitpid(child, &status, 0), child);
	ck_assert_int_eq(status, 0);
	child = fork();
	if (child == 0) {
		record(42); /* EVENT-16: between fork and exec */
		execvp("true", arguments);
		_exit(127);
	}
	ck_assert_int_eq(waitpid(child, &status, 0), child);
	ck_assert_int_eq(status, 0);
	record(4);
	ck_assert_int_eq(next_number(stream, &info), 4);
	ck_assert_int_eq(next_number(stream, &info), -1);
}
END_TEST

/* A child traces itself.  Return 0 if all members of the event are those of the child. */
static int trace_itself(void)
{
	struct posix_trace_event_info info;
	trace_event_id_t again;
	trace_id_t own;

	if (posix_trace_create(0, NULL, &own) || posix_trace_start(own))
		return 1;
	record(9);
	if (next_number(own, &info) != 9)
		return 2;
	if (info.posix_pid != getpid())
		return 3;
	if (posix_trace_eventid_open("forked", &again) || again != type)
		return 4;
	return posix_trace_shutdown(own) ? 5 : 0;
}

/* FORK-5 FORK-7 */
START_TEST(fork_child_traces_itself_with_own_pid_and_parents_names)
{
	struct posix_trace_event_info info;

	record(1); /* so that the library knows the thread under the pid of the parent */
	ck_assert_int_eq(in_child(trace_itself), 0);
	ck_assert_int_eq(next_number(stream, &info), 1);
	ck_assert_int_eq(next_number(stream, &info), -1);
}
END_TEST

static int trace_in_grandchild(void)
{
	return in_child(trace_itself);
}

/* FORK-5 */
START_TEST(fork_grandchild_traces_itself_with_own_pid)
{
	ck_assert_int_eq(in_child(trace_in_grandchild), 0);
}
END_TEST

/* FORK-9 EVENT-16 */
START_TEST(clone_without_handlers_child_is_as_after_fork)
{
	struct posix_trace_event_info info;
	int status;
	long child;

	if (!px_test_has_fork_advice()) {
		px_test_skip("this kernel keeps no memory from children of fork()");
		return;
	}
	record(1);
	child = px_test_clone();
	ck_assert_int_ge((int)child, 0);
	if (child == 0) {
		record(42);
		_exit(posix_trace_start(stream) == EINVAL ? 0 : 1);
	}
	ck_assert_int_eq(waitpid((pid_t)child, &status, 0), (pid_t)child);
	ck_assert_int_eq(status, 0);
	record(2);
	ck_assert_int_eq(next_number(stream, &info), 1);
	ck_assert_int_eq(next_number(stream, &info), 2);
	ck_assert_int_eq(next_number(stream, &info), -1);
}
END_TEST

/* FORK-9: until the exec, the child of vfork has the identity of its parent. */
START_TEST(vfork_child_records_as_its_parent)
{
	struct posix_trace_event_info info;
	pid_t child;
	int status;

#if defined __SANITIZE_THREAD__
	px_test_skip("ThreadSanitizer makes fork() of vfork()");
	return;
#endif
	child = vfork();
	if (child == 0) {
		record(5);
		_exit(0);
	}
	ck_assert_int_eq(waitpid(child, &status, 0), child);
	ck_assert_int_eq(status, 0);
	record(6);
	ck_assert_int_eq(next_number(stream, &info), 5);
	ck_assert_int_eq(next_number(stream, &info), 6);
}
END_TEST

/* Count the mappings of this process whose names contain this text. */
static int count_mappings(const char *name)
{
	FILE *file = fopen("/proc/self/maps", "r");
	char line[512];
	int count = 0;

	while (file && fgets(line, sizeof(line), file))
		count += strstr(line, name) != NULL;
	if (file)
		fclose(file);
	return count;
}

static int keep_no_memory(void)
{
	trace_id_t own;

	if (count_mappings("/stream.") != 0)
		return 1;
	if (count_mappings("/SYSV") != 1) /* the name table, which the child uses, too */
		return 2;
	if (posix_trace_create(0, NULL, &own) || count_mappings("/stream.") != 2)
		return 3;
	return posix_trace_shutdown(own) ? 4 : 0;
}

/* FORK-4 FORK-6: a child may live for years, and the streams that its parent shuts down must disappear */
START_TEST(fork_child_keeps_no_memory_of_its_parents_streams)
{
	trace_id_t other, last;
	pid_t child;
	int status;

	if (!px_test_has_fork_advice()) {
		px_test_skip("this kernel keeps no memory from children of fork()");
		return;
	}
	child = fork();
	if (child == 0) {
		pause();
		_exit(0);
	}
	ok(posix_trace_create(child, NULL, &other));
	ok(posix_trace_create(0, NULL, &last));
	ok(posix_trace_shutdown(last)); /* its place is free */
	kill(child, SIGKILL);
	ck_assert_int_eq(waitpid(child, &status, 0), child);
	ck_assert_int_eq(count_mappings("/stream."), 3);
	ck_assert_int_eq(in_child(keep_no_memory), 0);
	ok(posix_trace_start(other)); /* the files of the parent exist */
	ok(posix_trace_shutdown(other));
}
END_TEST

static void *renew_stream(void *unused)
{
	ok(posix_trace_shutdown(stream));
	setup();
	return unused;
}

static void *record_first_in_child_of_vfork(void *is_introduced)
{
	pthread_t thread;
	pid_t child;

	if (is_introduced) {
		record(4);
		ck_assert_int_eq(pthread_create(&thread, NULL, renew_stream, NULL), 0);
		pthread_join(thread, NULL);
	}
	child = vfork();
	if (child == 0) {
		record(5);
		_exit(0);
	}
	ck_assert_int_eq(waitpid(child, NULL, 0), child);
	record(6);
	ck_assert_uint_eq(px_thread.tid, (uint32_t)syscall(SYS_gettid));
	return NULL;
}

/* FORK-9 EVENT-17: if slots had the name of a dead child, a thread could lose them while it writes */
START_TEST(vfork_child_records_first_and_leaves_the_thread_its_name)
{
	struct posix_trace_event_info info;
	pthread_t thread;

#if defined __SANITIZE_THREAD__
	px_test_skip("ThreadSanitizer makes fork() of vfork()");
	return;
#endif
	ck_assert_int_eq(
		pthread_create(&thread, NULL, record_first_in_child_of_vfork, _i ? &stream : NULL),
		0);
	pthread_join(thread, NULL);
	ck_assert_int_eq(next_number(stream, &info), 5);
	ck_assert_int_eq(info.posix_pid, getpid());
	ck_assert_int_eq(next_number(stream, &info), 6);
	ck_assert_int_eq(info.posix_pid, getpid());
	ck_assert_int_eq(next_number(stream, &info), -1);
}
END_TEST

static bool finished;

static void *busy_with_everything(void *unused)
{
	struct posix_trace_event_info info;
	struct posix_trace_status_info status;
	trace_event_id_t id;
	char name[32];
	size_t length;
	int unavailable;

	for (int i = 0; !__atomic_load_n(&finished, __ATOMIC_RELAXED); i++) {
		trace_id_t other;

		record(i);
		snprintf(name, sizeof(name), "name %d", i % 500);
		posix_trace_eventid_open(name, &id);
		posix_trace_trygetnext_event(stream, &info, NULL, 0, &length, &unavailable);
		posix_trace_get_status(stream, &status);
		if (i % 16 == 0 && posix_trace_create(0, NULL, &other) == 0)
			posix_trace_shutdown(other);
	}
	return unused;
}

static void *open_and_close(void *unused)
{
	while (!__atomic_load_n(&finished, __ATOMIC_RELAXED))
		close(open("/dev/null", O_RDONLY | O_CLOEXEC));
	return unused;
}

/* Return false if it has not ended in 5 s. */
static bool ends_in_time(pid_t child)
{
	for (int i = 0; i < 5000; i++) {
		if (waitpid(child, NULL, WNOHANG) == child)
			return true;
		usleep(1000);
	}
	kill(child, SIGKILL);
	waitpid(child, NULL, 0);
	return false;
}

/*
 * Return true if a child can open files whatever the other threads did during the fork.  qemu-user 7.2 has a lock of
 * its own in open(), which stays locked in the child if another thread held it.
 */
static bool can_open_in_child(void)
{
	bool can_open = true;
	pthread_t threads[3];

	for (size_t i = 0; i < PX_ARRAY_SIZE(threads); i++)
		pthread_create(&threads[i], NULL, open_and_close, NULL);
	for (int i = 0; i < 200 && can_open; i++) {
		pid_t child = fork();

		if (child == 0) {
			close(open("/dev/null", O_RDONLY | O_CLOEXEC));
			_exit(0);
		}
		can_open = ends_in_time(child);
	}
	__atomic_store_n(&finished, true, __ATOMIC_RELAXED);
	for (size_t i = 0; i < PX_ARRAY_SIZE(threads); i++)
		pthread_join(threads[i], NULL);
	__atomic_store_n(&finished, false, __ATOMIC_RELAXED);
	return can_open;
}

/* FORK-8 EVENT-16: the other threads may be inside any function */
START_TEST(fork_while_threads_are_inside_every_function_child_is_consistent)
{
	pthread_t threads[3];
	int failed = 0;

#if defined __SANITIZE_ADDRESS__
	px_test_skip("the allocator of AddressSanitizer may be locked in the child");
	return;
#endif
	if (!can_open_in_child()) {
		px_test_skip("the emulator of system calls locks open() in a child");
		return;
	}
	for (size_t i = 0; i < PX_ARRAY_SIZE(threads); i++)
		pthread_create(&threads[i], NULL, busy_with_everything, NULL);
	for (int i = 0; i < 200 && !failed; i++)
		failed = in_child(trace_itself);
	__atomic_store_n(&finished, true, __ATOMIC_RELAXED);
	for (size_t i = 0; i < PX_ARRAY_SIZE(threads); i++)
		pthread_join(threads[i], NULL);
	ck_assert_int_eq(failed, 0);
}
END_TEST

/* The child forks in a handler that interrupted the recording of an event. */
static volatile sig_atomic_t child_result = -1;

static void fork_in_handler(int signal)
{
	pid_t child = fork();
	int status;

	(void)signal;
	if (child == 0) {
		record(42);
		_exit(0);
	}
	if (waitpid(child, &status, 0) == child)
		child_result = status;
}

static const char *raise_at;

static void raise_once(const char *name)
{
	if (raise_at && strcmp(name, raise_at) == 0) {
		raise_at = NULL;
		raise(SIGUSR1);
	}
}

/* EVENT-7 EVENT-16 EVENT-17 */
START_TEST(fork_in_handler_inside_an_event_harms_neither)
{
	static const char *const points[] = {"point.state.loaded", "ring.reserve.loaded",
					     "ring.reserve.done",  "ring.claim.loaded",
					     "ring.claim.done",	   "record.write.first",
					     "ring.commit.ready",  "ring.commit.done"};
	struct posix_trace_event_info info;

	signal(SIGUSR1, fork_in_handler);
	__atomic_store_n(&px_testpoint_hook, raise_once, __ATOMIC_RELEASE);
	for (size_t i = 0; i < PX_ARRAY_SIZE(points); i++) {
		raise_at = points[i];
		child_result = -1;
		record((int)i);
		ck_assert_int_eq(child_result, 0);
		ck_assert_int_eq(next_number(stream, &info), (int)i);
		ck_assert_int_eq(next_number(stream, &info), -1);
	}
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("fork");
	TCase *tcase = tcase_create("inherited");

	tcase_add_checked_fixture(tcase, setup, teardown);
	tcase_set_timeout(tcase, 60);
	tcase_add_test(tcase, fork_default_child_is_not_traced);
	tcase_add_test(tcase, fork_child_with_a_copy_of_the_page_is_not_traced);
	tcase_add_test(tcase, fork_child_uses_parents_identifier_every_call_is_refused);
	tcase_add_test(tcase, exit_of_child_leaves_parents_stream_alone);
	tcase_add_test(tcase, exec_of_child_leaves_parents_stream_alone);
	tcase_add_test(tcase, fork_child_traces_itself_with_own_pid_and_parents_names);
	tcase_add_test(tcase, fork_grandchild_traces_itself_with_own_pid);
	tcase_add_test(tcase, clone_without_handlers_child_is_as_after_fork);
	tcase_add_test(tcase, vfork_child_records_as_its_parent);
	tcase_add_test(tcase, fork_child_keeps_no_memory_of_its_parents_streams);
	tcase_add_loop_test(tcase, vfork_child_records_first_and_leaves_the_thread_its_name, 0, 2);
	tcase_add_test(tcase, fork_while_threads_are_inside_every_function_child_is_consistent);
	tcase_add_test(tcase, fork_in_handler_inside_an_event_harms_neither);
	suite_add_tcase(suite, tcase);
	return run_suite(suite);
}
