/* SPDX-License-Identifier: MIT */
/* Streams of other processes: controller and target are two processes, and there may be more. */
#include "base/layout.h"
#include "base/modules_remote.h"
#include "registry/registry.h"
#include "registry/shared_names.h"
#include "support/helper_process.h"
#include "support/other_user.h"
#include "support/vanish.h"

#include <dirent.h>
#include <fcntl.h>
#include <grp.h>
#include <limits.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <trace_ext.h>
#include <unistd.h>

#include "base/compiler.h"

#define SECOND UINT64_C(1000000000)

static struct px_helper target;
static trace_event_id_t type;

static void setup(void)
{
	target = px_helper_make(PX_BY_FORK_EXEC);
	type = px_helper_open(&target, "other");
}

static void expect_nothing(trace_id_t stream)
{
	struct px_test_event event;

	ck_assert_int_eq(px_test_next_number(stream, &event), -1);
}

/* Targets that exist, and targets that do not exist. */

/* CREATE-1 CREATE-7 INFO-3 INFO-9 EVOPEN-6: the target sleeps in the kernel, or is stopped */
START_TEST(create_for_another_process_traces_it)
{
	struct px_test_event event;
	char name[TRACE_EVENT_NAME_MAX + 1];
	trace_id_t stream;

	if (_i)
		kill(target.pid, SIGSTOP);
	px_helper_await_state(&target, _i ? 'T' : 'S');
	stream = px_test_create_for(target.pid, false);
	ok(posix_trace_eventid_get_name(stream, type, name));
	ck_assert_str_eq(name, "other");
	ok(posix_trace_start(stream));
	kill(target.pid, SIGCONT);
	px_helper_trace(&target, type, 7);
	ok(posix_trace_stop(stream));
	px_test_expect(stream, POSIX_TRACE_START, &event);
	ck_assert_int_eq(event.info.posix_pid, target.pid);
	ck_assert_uint_eq((uintptr_t)event.info.posix_thread_id, 0);
	ck_assert_ptr_null(event.info.posix_prog_address);
	px_test_expect(stream, type, &event);
	ck_assert_uint_eq(px_test_number(&event), 7);
	ck_assert_int_eq(event.info.posix_pid, target.pid);
	ck_assert_uint_ne((uintptr_t)event.info.posix_thread_id, 0);
	ck_assert_ptr_nonnull(event.info.posix_prog_address);
	px_test_expect(stream, POSIX_TRACE_STOP, &event);
	ck_assert_int_eq(event.info.posix_pid, target.pid);
	ck_assert_uint_eq((uintptr_t)event.info.posix_thread_id, 0);
	ck_assert_ptr_null(event.info.posix_prog_address);
	px_test_expect(stream, 0, &event);
	ok(posix_trace_shutdown(stream));
}
END_TEST

/* Only the files of this process: other suites run at the same time. */
static int count_memory_segments(void)
{
	FILE *file = fopen("/proc/sysvipc/shm", "r");
	char line[256];
	int count = 0, creator;

	while (file && fgets(line, sizeof(line), file))
		count += sscanf(line, "%*d %*d %*o %*u %d", &creator) == 1 && creator == getpid();
	if (file)
		fclose(file);
	return count;
}

static void *wait_for_end(void *unused)
{
	pause();
	return unused;
}

static void trick_tell_thread(struct px_order *order)
{
	static pthread_t thread;
	char path[64];

	order->a = pthread_create(&thread, NULL, wait_for_end, NULL);
	for (order->b = getpid() + 1;; order->b++) {
		snprintf(path, sizeof(path), "/proc/self/task/%d", (int)order->b);
		if (access(path, F_OK) == 0)
			return;
	}
}

/* A pid that belongs to no process; the case chooses it. */
static pid_t find_no_process(int what)
{
	struct px_helper gone = px_helper_make(PX_BY_FORK);

	switch (what) {
	case 0: /* gone */
		px_helper_kill(&gone);
		return gone.pid;
	case 1: /* a zombie */
		kill(gone.pid, SIGKILL);
		px_helper_await_state(&gone, 'Z');
		return gone.pid;
	case 2: /* a thread */
		return (pid_t)px_helper_do(&target, "tell-thread", 0, 0, NULL).b;
	case 3: /* a thread of this process */
	{
		static pthread_t thread;

		ck_assert_int_eq(pthread_create(&thread, NULL, wait_for_end, NULL), 0);
		for (pid_t tid = getpid() + 1;; tid++)
			if (tid != gone.pid && syscall(SYS_tgkill, getpid(), tid, 0) == 0)
				return tid;
	}
	default: /* beyond all pids */
		return INT32_MAX;
	}
}

/* The first thread ends, and another one does what the test tells it. */
static void *obey_in_thread(void *order)
{
	char path[64], text[512] = "";

	snprintf(path, sizeof(path), "/proc/%d/stat", (int)getpid());
	while (!strstr(text, ") Z ")) {
		FILE *file = fopen(path, "r");

		if (!file || fread(text, 1, sizeof(text) - 1, file) == 0)
			abort();
		fclose(file);
	}
	px_helper_go_on(order);
	return NULL;
}

static void trick_end_first_thread(struct px_order *order)
{
	static struct px_order answer;
	pthread_t thread;

	answer = *order;
	if (pthread_create(&thread, NULL, obey_in_thread, &answer) != 0)
		abort();
	pthread_exit(NULL);
}

/* CREATE-1: a controller does not need its first thread either */
START_TEST(create_by_a_process_without_its_first_thread_traces_another)
{
	struct px_helper controller = px_helper_make(PX_BY_FORK_EXEC);
	uint32_t number = 0;

	px_helper_do(&controller, "end-first-thread", 0, 0, NULL);
	ok(px_helper_create(&controller, 0, target.pid, false));
	ok(px_helper_start(&controller, 0));
	px_helper_trace(&target, type, 7);
	while (px_helper_take(&controller, 0, &number, NULL) != type)
		;
	ck_assert_uint_eq(number, 7);
	ok(px_helper_shutdown(&controller, 0));
}
END_TEST

static void trick_join_groups(struct px_order *order)
{
	gid_t groups[2000];

	for (size_t i = 0; i < PX_ARRAY_SIZE(groups); i++)
		groups[i] = 1000000000 + (gid_t)i;
	order->a = setgroups(PX_ARRAY_SIZE(groups), groups) != 0 ? errno : 0;
}

/* CREATE-14: then /proc returns a long text about it */
START_TEST(create_for_a_process_in_many_groups_traces_it)
{
	struct px_order joined = px_helper_do(&target, "join-groups", 0, 0, NULL);
	trace_id_t stream;

	ck_assert(joined.a == 0 || joined.a == EPERM);
	stream = px_test_start_for(target.pid, false);
	px_helper_trace(&target, type, 7);
	px_test_expect_number(stream, 7, target.pid);
	ok(posix_trace_shutdown(stream));
	if (joined.a)
		px_test_skip("no right to join groups");
}
END_TEST

/* CREATE-14 CREATE-18 */
START_TEST(create_for_what_is_no_process_is_esrch_and_leaves_nothing)
{
	pid_t pid = find_no_process(_i);
	int memory = count_memory_segments();
	trace_id_t stream = 4711;

	for (int i = 0; i < 100; i++)
		fails(posix_trace_create(pid, NULL, &stream), ESRCH);
	ck_assert_uint_eq(stream, 4711);
	ck_assert_int_eq(px_test_count_segments(), 0);
	ck_assert_int_le(count_memory_segments(), memory);
}
END_TEST

/* In a child of fork().  With musl 1.2.3, pthread_exit() would keep a lock there that other threads need to end. */
static _Noreturn void end_first_thread(void)
{
#ifdef __GLIBC__
	pthread_exit(NULL);
#else
	px_test_vanish();
#endif
}

static int to_lone[2], from_lone[2];

static void *record_after_a_byte(void *unused)
{
	trace_event_id_t own;
	char arg;

	(void)unused;
	if (posix_trace_eventid_open("lonely", &own) ||
	    write(from_lone[1], &own, sizeof(own)) != sizeof(own) || read(to_lone[0], &arg, 1) != 1)
		_exit(1);
	px_test_trace(own, 7);
	_exit(read(to_lone[0], &arg, 1) < 0);
}

/* A process whose first thread has ended: it looks like a zombie, except for its other thread. */
static pid_t make_process_without_first_thread(trace_event_id_t *own)
{
	pthread_t thread;
	pid_t pid;

	ck_assert_int_eq(pipe(to_lone) | pipe(from_lone), 0);
	pid = fork();
	if (pid == 0) {
		if (pthread_create(&thread, NULL, record_after_a_byte, NULL) != 0)
			_exit(2);
		end_first_thread();
	}
	ck_assert_int_eq(read(from_lone[0], own, sizeof(*own)), sizeof(*own));
	px_helper_await_state(&(struct px_helper){.pid = pid}, 'Z');
	return pid;
}

/* CREATE-1 CREATE-14: and the stream has the names that the target opened */
START_TEST(create_for_a_process_without_its_first_thread_traces_it)
{
	struct px_test_event event;
	trace_event_id_t own;
	pid_t pid = make_process_without_first_thread(&own);
	trace_id_t stream = px_test_create_for(pid, false);
	char name[TRACE_EVENT_NAME_MAX + 1];
	int status;

	ok(posix_trace_start(stream));
	ck_assert_int_eq(write(to_lone[1], "x", 1), 1);
	px_test_expect(stream, POSIX_TRACE_START, &event);
	for (int i = 0; i < 1000 && px_test_take(stream, &event) != own; i++)
		usleep(1000);
	ck_assert_uint_eq(event.info.posix_event_id, own);
	ok(posix_trace_eventid_get_name(stream, own, name));
	ck_assert_str_eq(name, "lonely");
	ok(posix_trace_shutdown(stream));
	close(to_lone[1]);
	ck_assert_int_eq(kill(pid, SIGKILL), 0);
	ck_assert_int_eq(waitpid(pid, &status, 0), pid);
}
END_TEST

/* The target ends in the middle of the call. */
static pid_t doomed;

static void kill_doomed(void)
{
	kill(doomed, SIGKILL);
	waitpid(doomed, NULL, 0);
	doomed = 0;
}

/*
 * CREATE-14 EXIT-3: the library notices it, or notices it too late: then the stream belongs to a process that has ended
 */
START_TEST(create_for_a_process_that_ends_meanwhile_fails_or_gives_an_empty_stream)
{
	static const char *const points[] = {"registry.slot.read", "registry.notified"};
	/* The target has no names yet, so the library reads slots to find them. */
	struct px_helper fresh = px_helper_make(PX_BY_FORK_EXEC);
	pid_t subject = _i == 0 ? fresh.pid : target.pid;
	struct px_test_event event;
	trace_id_t stream;
	int error;

	doomed = subject;
	px_test_at_point(points[_i], kill_doomed);
	error = posix_trace_create(subject, NULL, &stream);
	__atomic_store_n(&px_testpoint_hook, NULL, __ATOMIC_RELEASE);
	ck_assert_msg(doomed == 0, "%s was not reached", points[_i]);
	if (error) {
		ck_assert_int_eq(error, ESRCH);
		ck_assert_int_eq(px_test_count_segments(), 0);
		return;
	}
	ok(posix_trace_start(stream));
	px_test_expect(stream, POSIX_TRACE_START, &event);
	px_test_expect(stream, 0, &event);
	ok(posix_trace_shutdown(stream));
}
END_TEST

static int to_first_thread[2];
static pid_t survivor;

static void *end_after_a_byte(void *unused)
{
	char byte;

	if (read(to_first_thread[0], &byte, 1) != 1)
		_exit(1);
	return unused;
}

/* Its first thread has ended, another one ends when it reads a byte, and a third one stays. */
static pid_t make_process_that_loses_a_thread(void)
{
	pthread_t threads[2];
	pid_t pid;

	ck_assert_int_eq(pipe(to_first_thread), 0);
	pid = fork();
	ck_assert_int_ge(pid, 0);
	if (pid == 0) {
		if (pthread_create(&threads[0], NULL, end_after_a_byte, NULL) != 0 ||
		    pthread_create(&threads[1], NULL, wait_for_end, NULL) != 0)
			_exit(1);
		end_first_thread();
	}
	px_helper_await_state(&(struct px_helper){.pid = pid}, 'Z');
	return pid;
}

static void end_the_asked_thread(void)
{
	char path[64];
	struct stat status;

	snprintf(path, sizeof(path), "/proc/%d/task", (int)survivor);
	ck_assert_int_eq(write(to_first_thread[1], "x", 1), 1);
	do {
		usleep(1000);
		ck_assert_int_eq(stat(path, &status), 0);
	} while (status.st_nlink > 2 + 2); /* two links of the process, and one of each thread */
}

/* CREATE-1 CREATE-14: the thread whose mappings are read ends meanwhile */
START_TEST(create_for_a_process_that_loses_the_thread_that_is_asked_asks_another)
{
	trace_id_t stream;

	survivor = make_process_that_loses_a_thread();
	px_test_at_point("procfs.maps.opened", end_the_asked_thread);
	ok(posix_trace_create(survivor, NULL, &stream));
	__atomic_store_n(&px_testpoint_hook, NULL, __ATOMIC_RELEASE);
	ok(posix_trace_shutdown(stream));
	ck_assert_int_eq(kill(survivor, SIGKILL), 0);
	ck_assert_int_eq(waitpid(survivor, NULL, 0), survivor);
}
END_TEST

/*
 * Its first thread ends when it reads a byte, and the other one executes another program when it reads a byte: then it
 * has the number of the first one.
 */
static int to_heir[2];

static void *execute_after_a_byte(void *unused)
{
	char byte;

	if (read(to_heir[0], &byte, 1) != 1)
		_exit(1);
	execlp("sleep", "sleep", "1000", NULL);
	_exit(1);
	return unused;
}

static void make_process_with_an_heir(void)
{
	pthread_t thread;

	ck_assert_int_eq(pipe2(to_first_thread, O_CLOEXEC) | pipe2(to_heir, O_CLOEXEC), 0);
	survivor = fork();
	ck_assert_int_ge(survivor, 0);
	if (survivor == 0) {
		if (pthread_create(&thread, NULL, execute_after_a_byte, NULL) != 0)
			_exit(1);
		end_after_a_byte(NULL);
		end_first_thread();
	}
}

/* Of the threads that are found, this many are asked before one is replaced. */
static int nr_to_pass;

static void replace_the_first_thread(void)
{
	__atomic_store_n(&px_testpoint_hook, NULL, __ATOMIC_RELEASE);
	ck_assert_int_eq(write(to_heir[1], "x", 1), 1);
	px_helper_await_state(&(struct px_helper){.pid = survivor}, 'S');
}

static void end_the_first_thread(void)
{
	if (nr_to_pass-- > 0) {
		px_test_at_point("procfs.thread.found", end_the_first_thread);
		return;
	}
	ck_assert_int_eq(write(to_first_thread[1], "x", 1), 1);
	px_helper_await_state(&(struct px_helper){.pid = survivor}, 'Z');
	px_test_at_point("procfs.thread.silent", replace_the_first_thread);
}

/* CREATE-1 CREATE-14: _i is 0 while rights are checked, and 1 while mappings are read */
START_TEST(create_for_a_process_whose_first_thread_is_replaced_meanwhile_traces_it)
{
	trace_id_t stream;

	make_process_with_an_heir();
	nr_to_pass = _i;
	px_test_at_point("procfs.thread.found", end_the_first_thread);
	ok(posix_trace_create(survivor, NULL, &stream));
	ck_assert_ptr_null(__atomic_load_n(&px_testpoint_hook, __ATOMIC_ACQUIRE));
	ok(posix_trace_shutdown(stream));
	ck_assert_int_eq(kill(survivor, SIGKILL), 0);
	ck_assert_int_eq(waitpid(survivor, NULL, 0), survivor);
}
END_TEST

/* A child with threads that was just killed: for a moment it still exists, but has no memory any more. */
static pid_t kill_child_with_threads(int nr)
{
	pid_t child = fork();
	pthread_t thread;

	ck_assert_int_ge(child, 0);
	if (child == 0) {
		for (int i = 0; i < nr; i++)
			if (pthread_create(&thread, NULL, wait_for_end, NULL) != 0)
				_exit(1);
		pause();
	}
	usleep(1000);
	kill(child, SIGKILL);
	return child;
}

/* CREATE-14: rights do not matter here */
START_TEST(create_for_a_process_that_is_just_killed_is_esrch_or_gives_a_stream)
{
	for (int i = 0; i < 200; i++) {
		pid_t child = kill_child_with_threads(i % 4 ? 2 : 60);
		trace_id_t stream;
		int error;

		do {
			error = posix_trace_create(child, NULL, &stream);
			if (!error)
				ok(posix_trace_shutdown(stream));
		} while (!error);
		ck_assert_int_eq(error, ESRCH);
		ck_assert_int_eq(waitpid(child, NULL, 0), child);
	}
	ck_assert_int_eq(px_test_count_segments(), 0);
}
END_TEST

/* Which users may trace a process. */

/*
 * Become user order->a, with its own directory.  Then execute the program again, because the constructor used another
 * directory.
 */
static void trick_become_stranger(struct px_order *order)
{
	uid_t user = (uid_t)order->a;

	order->a = chown(order->text, user, user) || setenv("TXTRACE_DIR", order->text, 1) ||
		   setgroups(0, NULL) || setresgid(user, user, user) || setresuid(user, user, user);
}

static void trick_set_dumpable(struct px_order *order)
{
	order->a = prctl(PR_SET_DUMPABLE, order->a);
}

static void trick_unshare(struct px_order *order)
{
	order->a = unshare((int)order->a) == 0 ? 0 : errno;
}

static void copy_program(const char *path)
{
	char command[256];

	snprintf(command, sizeof(command), "cp /proc/%d/exe '%s'", (int)getpid(), path);
	ck_assert_int_eq(system(command), 0);
	ck_assert_int_eq(chmod(path, 0755), 0);
}

/* A process of another user, with this directory of segments and this program. */
static struct px_helper make_stranger(const char *directory, const char *path)
{
	struct px_helper stranger = px_helper_make(PX_BY_FORK_EXEC);

	px_helper_begin(&stranger, "exec", 0, 0, path);
	ck_assert_str_eq(px_helper_end(&stranger).name, "hello");
	ok((int)px_helper_do(&stranger, "become-stranger", px_test_user(0), 0, directory).a);
	px_helper_begin(&stranger, "exec", 0, 0, NULL);
	ck_assert_str_eq(px_helper_end(&stranger).name, "hello");
	return stranger;
}

static void remove_directory(const char *directory)
{
	char path[128];

	snprintf(path, sizeof(path), "rm -f %s/" PX_LAYOUT_REGISTRY " %s/names.*", directory, directory);
	ck_assert_int_eq(system(path), 0);
	ck_assert_int_eq(rmdir(directory), 0); /* the call left no stream */
}

/* CREATE-13 CREATE-18: only root can enter the directory of the program, as may be true for the whole build */
START_TEST(create_without_the_right_to_trace_is_eperm)
{
	char directory[] = "/dev/shm/posixtrace-stranger.XXXXXX";
	char closed[] = "./posixtrace-closed.XXXXXX", path[64];
	struct px_helper controller, peer;
	int shared_errors[2];

	if (geteuid() != 0) {
		fails(posix_trace_create(1, NULL, &(trace_id_t){0}), EPERM);
		return;
	}
	ck_assert_ptr_nonnull(mkdtemp(directory));
	ck_assert_ptr_nonnull(mkdtemp(closed));
	snprintf(path, sizeof(path), "%s/others", closed);
	copy_program(path);
	controller = make_stranger(directory, path);
	peer = px_helper_make_by(&controller, PX_BY_SPAWN);
	fails(px_helper_create(&controller, 0, 1, false), EPERM);
	fails(px_helper_create(&controller, 0, target.pid, false), EPERM);
	fails(px_helper_create(&controller, 0, getpid(), false), EPERM);
	shared_errors[0] = px_helper_create(&controller, 0, peer.pid, false);
	ok((int)px_helper_do(&peer, "set-dumpable", 0, 0, NULL).a);
	shared_errors[1] = px_helper_create(&controller, 1, peer.pid, false);
	/* A process may always trace itself. */
	ok((int)px_helper_do(&controller, "set-dumpable", 0, 0, NULL).a);
	ok(px_helper_create(&controller, 2, 0, false));
	ok(px_helper_create(&controller, 3, controller.pid, true));
	for (int i = 0; i < 4; i++)
		px_helper_shutdown(&controller, i);
	px_helper_kill(&controller);
	px_helper_kill(&peer);
	unlink(path);
	rmdir(closed);
	remove_directory(directory);
	ok(shared_errors[0]);
	fails(shared_errors[1], EPERM);
}
END_TEST

/* CREATE-13: in a name space where pids or start times have another meaning */
START_TEST(create_in_another_name_space_is_eperm)
{
	static const int spaces[] = {CLONE_NEWPID, CLONE_NEWTIME};
	struct px_order answer = px_helper_do(&target, "unshare", spaces[_i], 0, NULL);
	char path[64], text[64] = "";
	trace_id_t stream;
	FILE *file;

	if (answer.a == EPERM || answer.a == EINVAL) { /* not root, or the kernel does not have it */
		px_test_skip("no right to make a name space, or no such name space");
		return;
	}
	ok((int)answer.a);
	/* It reports its pid in its own name space.  In the test's name space, it is the only child of the target. */
	px_helper_make_by(&target, PX_BY_FORK_EXEC);
	snprintf(path, sizeof(path), "/proc/%d/task/%d/children", (int)target.pid, (int)target.pid);
	file = fopen(path, "r");
	ck_assert_ptr_nonnull(file);
	ck_assert_ptr_nonnull(fgets(text, sizeof(text), file));
	fclose(file);
	fails(posix_trace_create(atoi(text), NULL, &stream), EPERM);
	ck_assert_int_eq(px_test_count_segments(), 0);
}
END_TEST

/* Programs that begin and end. */

/*
 * CREATE-16 EXEC-1 EXEC-8: without the library there are no user events; after an exec, the process is still the target
 */
START_TEST(create_for_a_program_without_the_library_waits_for_one_with_it)
{
	struct px_helper shell = px_helper_make(PX_BY_SHELL_LATER);
	trace_id_t stream = px_test_start_for(shell.pid, false);
	struct px_test_event event;
	trace_event_id_t early;

	ok(posix_trace_trid_eventid_open(stream, "early", &early));
	px_test_expect(stream, POSIX_TRACE_START, &event);
	px_test_expect(stream, 0, &event);
	px_helper_wake(&shell);
	ck_assert_uint_eq(px_helper_open(&shell, "early"), early);
	px_helper_trace(&shell, early, 1);
	px_test_expect_number(stream, 1, shell.pid);
	px_helper_begin(&shell, "exec", 0, 0, NULL);
	ck_assert_str_eq(px_helper_end(&shell).name, "hello");
	px_helper_trace(&shell, early, 2); /* EXEC-2: this program has not opened it */
	ck_assert_uint_eq(px_helper_open(&shell, "early"), early);
	px_helper_trace(&shell, early, 3);
	px_test_expect_number(stream, 3, shell.pid);
}
END_TEST

/* CREATE-1: a target opens its first name when it is already traced */
START_TEST(create_for_a_target_without_names_shares_those_that_come)
{
	struct px_helper fresh = px_helper_make(PX_BY_SPAWN);
	trace_id_t first = px_test_start_for(fresh.pid, false);
	trace_id_t second = px_test_start_for(fresh.pid, true);
	trace_event_id_t ours, theirs;

	ok(posix_trace_trid_eventid_open(first, "ours", &ours));
	theirs = px_helper_open(&fresh, "theirs");
	ck_assert_uint_ne(ours, theirs);
	ck_assert_uint_eq(px_helper_open(&fresh, "ours"), ours);
	px_helper_trace(&fresh, ours, 1);
	px_helper_trace(&fresh, theirs, 2);
	for (int i = 0; i < 2; i++) {
		px_test_expect_number(i ? second : first, 1, fresh.pid);
		px_test_expect_number(i ? second : first, 2, fresh.pid);
	}
}
END_TEST

/* EXIT-3: its events stay; the next process with that pid is another one */
START_TEST(end_of_the_target_leaves_its_events_and_names)
{
	trace_id_t stream = px_test_start_for(target.pid, false);
	char name[TRACE_EVENT_NAME_MAX + 1];
	struct px_test_event event;

	px_helper_trace(&target, type, 1);
	if (_i == 0)
		px_helper_begin(&target, "exit", 0, 0, NULL);
	else if (_i == 1)
		px_helper_begin(&target, "exit", 0, 1, NULL);
	else
		kill(target.pid, SIGKILL);
	px_helper_await_gone(&target);
	ck_assert_int_eq(px_test_status(stream).posix_stream_status, POSIX_TRACE_RUNNING);
	px_test_expect_number(stream, 1, target.pid);
	ok(posix_trace_eventid_get_name(stream, type, name));
	ck_assert_str_eq(name, "other");
	ok(posix_trace_stop(stream));
	px_test_expect(stream, POSIX_TRACE_STOP, &event);
	ok(posix_trace_shutdown(stream));
	ck_assert_int_eq(px_test_count_segments(), 0);
}
END_TEST

/* Names. */

/* EVOPEN-2 TRIDOPEN-1 TRIDOPEN-2 TRIDOPEN-3 MAP-1 MAP-3: with any process first, and with any stream first */
START_TEST(open_by_controller_and_target_gives_one_id)
{
	trace_id_t first = px_test_start_for(target.pid, false);
	trace_id_t second = px_test_start_for(target.pid, false);
	trace_event_id_t id, again;

	id = px_helper_open(&target, "target first");
	ok(posix_trace_trid_eventid_open(first, "target first", &again));
	ck_assert_uint_eq(again, id);
	ok(posix_trace_trid_eventid_open(second, "controller first", &id));
	ok(posix_trace_trid_eventid_open(first, "controller first", &again));
	ck_assert_uint_eq(again, id);
	ck_assert_uint_eq(px_helper_open(&target, "controller first"), id);
	ok(posix_trace_trid_eventid_open(first, "posix_trace_stop", &id)); /* TRIDOPEN-8 */
	ck_assert_uint_eq(id, POSIX_TRACE_STOP);
}
END_TEST

/* EVOPEN-2 TRIDOPEN-2: both at the same moment; the controller waits, or gives up the other process */
START_TEST(open_by_controller_while_the_target_opens_gives_one_id)
{
	static const char *const points[] = {"names.open.free", "names.open.writing",
					     "names.open.stored", "types.note.listed",
					     "typelist.add.taken"};
	trace_id_t stream = px_test_start_for(target.pid, false);
	trace_event_id_t ours, theirs;
	char name[TRACE_EVENT_NAME_MAX + 1];
	uint64_t begin;

	px_helper_trace(&target, type, 1);
	px_helper_hold_at(&target, points[_i]);
	px_helper_begin(&target, "open", 0, 0, "contended");
	px_helper_await_held(&target);
	begin = monotonic_ns();
	ok(posix_trace_trid_eventid_open(stream, "contended", &ours));
	ck_assert_uint_lt(monotonic_ns() - begin, SECOND);
	px_helper_release(&target);
	theirs = (trace_event_id_t)px_helper_end(&target).b;
	ck_assert_uint_eq(ours, theirs);
	px_helper_trace(&target, theirs, 2);
	px_test_expect_number(stream, 1, target.pid);
	px_test_expect_number(stream, 2, target.pid);
	ok(posix_trace_eventid_get_name(stream, theirs, name));
	ck_assert_str_eq(name, "contended");
}
END_TEST

/* Return how often the name is in the list of the stream. */
static int count_in_list(trace_id_t stream, const char *wanted)
{
	char name[TRACE_EVENT_NAME_MAX + 1];
	trace_event_id_t id;
	int end, count = 0;

	ok(posix_trace_eventtypelist_rewind(stream));
	while (posix_trace_eventtypelist_getnext_id(stream, &id, &end) == 0 && !end) {
		ok(posix_trace_eventid_get_name(stream, id, name));
		count += strcmp(name, wanted) == 0;
	}
	return count;
}

/* CREATE-7 EVOPEN-11 TYPELIST-3: the type is opened while the stream is created, and the target then makes no call */
START_TEST(open_while_the_stream_is_made_is_listed)
{
	static const char *const points[] = {"names.open.stored", "types.note.listed"};
	trace_id_t stream;

	px_helper_hold_at(&target, points[_i]);
	px_helper_begin(&target, "open", 0, 0, "just then");
	px_helper_await_held(&target);
	stream = px_test_create_for(target.pid, false);
	px_helper_release(&target);
	ok((int)px_helper_end(&target).a);
	ck_assert_int_eq(count_in_list(stream, "other"), 1);
	ck_assert_int_eq(count_in_list(stream, "just then"), 1);
	px_helper_open(&target, "later");
	ck_assert_int_eq(count_in_list(stream, "later"), 1);
}
END_TEST

/*
 * EVOPEN-11 TRIDOPEN-1 TYPELIST-3 TYPELIST-1: in every stream of the target at once, also in that of another controller
 */
START_TEST(open_in_one_stream_is_listed_in_all_of_the_target)
{
	struct px_helper controller = px_helper_make(PX_BY_FORK_EXEC);
	trace_id_t first = px_test_start_for(target.pid, true);
	trace_id_t second = px_test_start_for(target.pid, false);
	char name[TRACE_EVENT_NAME_MAX + 1];
	struct px_helper child;
	struct px_order answer;
	trace_event_id_t id;

	ok(px_helper_create(&controller, 0, target.pid, false));
	answer = px_helper_do(&controller, "trid-open", 0, 0, "granted");
	ok((int)answer.a);
	ok(posix_trace_eventid_get_name(second, (trace_event_id_t)answer.b, name));
	ck_assert_str_eq(name, "granted");
	ck_assert_int_eq(count_in_list(first, "granted"), 1);
	ck_assert_int_eq(count_in_list(second, "granted"), 1);
	child = px_helper_make_by(&target, PX_BY_FORK);
	ok(posix_trace_trid_eventid_open(first, "for both", &id));
	px_helper_open(&child, "the child's");
	ck_assert_int_eq(count_in_list(first, "the child's"), 1);
	ck_assert_int_eq(count_in_list(second, "the child's"), 0);
	px_helper_trace(&child, id, 1);
	px_helper_trace(&target, id, 2);
	px_test_expect_number(first, 1, child.pid);
	px_test_expect_number(first, 2, target.pid);
	px_test_expect_number(second, 2, target.pid);
}
END_TEST

/*
 * EVENT-13 MAP-1: ids of the shared table that the target has not opened, and an id that a controller has opened for it
 */
START_TEST(event_ids_of_others_are_ignored_until_opened_for_the_target)
{
	trace_id_t stream = px_test_start_for(target.pid, false);
	struct px_helper child = px_helper_make_by(&target, PX_BY_FORK);
	trace_event_id_t id = px_helper_open(&child, "of the child"), again;

	px_helper_trace(&target, id, 1);
	px_helper_trace(&target, id + 1, 2);
	px_helper_trace(&target, POSIX_TRACE_START, 3);
	ok(posix_trace_trid_eventid_open(stream, "of the child", &again));
	ck_assert_uint_eq(again, id);
	px_helper_trace(&target, id, 4);
	px_test_expect_number(stream, 4, target.pid);
	expect_nothing(stream);
}
END_TEST

/* TRIDOPEN-4 TRIDOPEN-6 LIM-3: the limit of the target counts, whichever process opens the type */
START_TEST(open_by_controllers_counts_for_the_target)
{
	trace_id_t streams[] = {px_test_start_for(target.pid, false),
				px_test_start_for(target.pid, false)};
	char name[TRACE_EVENT_NAME_MAX + 2];
	trace_event_id_t id, last = 0;

	for (int i = 0; i < TRACE_USER_EVENT_MAX - 3; i++) { /* the setup has opened one type */
		snprintf(name, sizeof(name), "controller %d", i);
		ok(posix_trace_trid_eventid_open(streams[i % 2], name, &id));
		ck_assert_uint_ne(id, POSIX_TRACE_UNNAMED_USEREVENT);
	}
	last = px_helper_open(&target, "the last");
	ck_assert_uint_ne(last, POSIX_TRACE_UNNAMED_USEREVENT);
	ck_assert_uint_eq(px_helper_open(&target, "too many"), POSIX_TRACE_UNNAMED_USEREVENT);
	ok(posix_trace_trid_eventid_open(streams[0], "too many", &id));
	ck_assert_uint_eq(id, POSIX_TRACE_UNNAMED_USEREVENT);
	ok(posix_trace_trid_eventid_open(streams[0], "the last", &id));
	ck_assert_uint_eq(id, last);
	memset(name, 'x', sizeof(name) - 1);
	name[sizeof(name) - 1] = '\0';
	fails(posix_trace_trid_eventid_open(streams[0], name, &id), ENAMETOOLONG);
}
END_TEST

/* TRIDOPEN-7 FILT-1: a filter names a type that the target opens later, and then applies */
START_TEST(filter_set_by_the_controller_holds_in_the_target)
{
	trace_id_t stream = px_test_create_for(target.pid, false);
	trace_event_set_t set;
	trace_event_id_t id;

	ok(posix_trace_trid_eventid_open(stream, "unwanted", &id));
	posix_trace_eventset_empty(&set);
	ok(posix_trace_eventset_add(id, &set));
	ok(posix_trace_set_filter(stream, &set, POSIX_TRACE_SET_EVENTSET));
	ok(posix_trace_start(stream));
	ck_assert_uint_eq(px_helper_open(&target, "unwanted"), id);
	px_helper_trace(&target, id, 1);
	px_helper_trace(&target, type, 2);
	ok(posix_trace_set_filter(stream, &set, POSIX_TRACE_SUB_EVENTSET));
	px_helper_trace(&target, id, 3);
	px_test_expect_number(stream, 2, target.pid);
	px_test_expect_number(stream, 3, target.pid);
	expect_nothing(stream);
}
END_TEST

/* Several controllers. */

/* CREATE-8 MODEL-7 MULTI-1 MULTI-5 */
START_TEST(controllers_of_one_target_do_not_meet)
{
	struct px_helper controllers[2] = {px_helper_make(PX_BY_FORK_EXEC),
					   px_helper_make_by(&target, PX_BY_FORK)};
	trace_id_t own = px_test_start_for(target.pid, false);
	uint32_t number;
	pid_t pid;

	for (int i = 0; i < 2; i++) {
		ok(px_helper_create(&controllers[i], 0, target.pid, i));
		ok(px_helper_start(&controllers[i], 0));
	}
	px_helper_trace(&target, type, 1);
	ok(posix_trace_stop(own));
	px_helper_trace(&target, type, 2);
	ok(px_helper_shutdown(&controllers[0], 0));
	px_helper_trace(&target, type, 3);
	ok(posix_trace_start(own));
	px_helper_kill(&controllers[0]);
	px_helper_trace(&target, type, 4);
	px_test_expect_number(own, 1, target.pid);
	px_test_expect_number(own, 4, target.pid);
	expect_nothing(own);
	ck_assert_uint_eq(px_helper_take(&controllers[1], 0, NULL, NULL), POSIX_TRACE_START);
	for (uint32_t i = 1; i <= 4; i++) {
		ck_assert_uint_eq(px_helper_take(&controllers[1], 0, &number, &pid), type);
		ck_assert_uint_eq(number, i);
		ck_assert_int_eq(pid, target.pid);
	}
	fails(posix_trace_start(4711), EINVAL);
}
END_TEST

/* CREATE-1 MODEL-7: a process traces itself, its parent, its child, its sibling; and all of them trace each other */
START_TEST(controllers_trace_each_other)
{
	struct px_helper shared_names[4] = {target, px_helper_make_by(&target, PX_BY_FORK),
					    px_helper_make_by(&target, PX_BY_SPAWN),
					    px_helper_make_by(&target, PX_BY_FORK_EXEC)};
	trace_event_id_t types[4];
	uint32_t number;
	pid_t pid;

	for (int i = 0; i < 4; i++)
		types[i] = px_helper_open(&shared_names[i], "other");
	for (int i = 0; i < 16; i++) {
		ok(px_helper_create(&shared_names[i / 4], i % 4, shared_names[i % 4].pid, false));
		ok(px_helper_start(&shared_names[i / 4], i % 4));
	}
	for (int i = 0; i < 4; i++)
		px_helper_trace(&shared_names[i], types[i], (uint32_t)i);
	for (int i = 0; i < 16; i++) {
		ck_assert_uint_eq(px_helper_take(&shared_names[i / 4], i % 4, NULL, NULL),
				  POSIX_TRACE_START);
		ck_assert_uint_eq(px_helper_take(&shared_names[i / 4], i % 4, &number, &pid),
				  types[i % 4]);
		ck_assert_int_eq((int)number, i % 4);
		ck_assert_int_eq(pid, shared_names[i % 4].pid);
		ck_assert_uint_eq(px_helper_take(&shared_names[i / 4], i % 4, NULL, NULL), 0);
	}
}
END_TEST

/* CREATE-9 CREATE-18 MULTI-4: for all controllers and targets */
START_TEST(controllers_share_the_limit_of_streams)
{
	struct px_helper controller = px_helper_make(PX_BY_FORK_EXEC);
	trace_id_t streams[TRACE_SYS_MAX / 2], more;

	for (int i = 0; i < TRACE_SYS_MAX / 2; i++) {
		streams[i] = px_test_create_for(target.pid, i % 2);
		ok(px_helper_create(&controller, i, target.pid, false));
	}
	fails(posix_trace_create(target.pid, NULL, &more), EAGAIN);
	fails(px_helper_create(&controller, 63, 0, false), EAGAIN);
	ok(posix_trace_start(streams[7]));
	px_helper_trace(&target, type, 1);
	px_test_expect_number(streams[7], 1, target.pid);
	px_helper_kill(&controller);
	for (int i = 0; i < TRACE_SYS_MAX / 2; i++)
		px_test_create_for(target.pid, false);
	fails(posix_trace_create(target.pid, NULL, &more), EAGAIN);
}
END_TEST

static void trick_accepts(struct px_order *order)
{
	order->a = px_test_accepting((trace_id_t)order->b) != NULL;
}

/* KIND-1 CREATE-15: also in the target */
START_TEST(identifier_is_valid_in_its_controller_only)
{
	trace_id_t stream = px_test_start_for(target.pid, true);
	struct px_helper child = px_helper_make(PX_BY_FORK);

	ck_assert_int_eq(px_helper_do(&target, "accepts", 0, (int64_t)stream, NULL).a, 0);
	ck_assert_int_eq(px_helper_do(&child, "accepts", 0, (int64_t)stream, NULL).a, 0);
	px_helper_begin(&child, "exit", 0, 0, NULL);
	px_helper_await_gone(&child);
	px_helper_trace(&target, type, 1);
	px_test_expect_number(stream, 1, target.pid);
}
END_TEST

/* Controllers that go. */

/* EXIT-1 EXIT-5 EXIT-7 EXEC-4 EXEC-5 MODEL-6: the target goes on, and the next creation takes the slot */
START_TEST(end_of_the_controller_leaves_the_target_in_peace)
{
	struct px_helper controller = px_helper_make(PX_BY_FORK_EXEC);
	trace_id_t own = px_test_start_for(target.pid, true);

	ok(px_helper_create(&controller, 0, target.pid, true));
	ok(px_helper_create(&controller, 1, 0, false)); /* of itself */
	ok(px_helper_start(&controller, 0));
	ok(px_helper_start(&controller, 1));
	px_helper_trace(&target, type, 1);
	if (_i < 2)
		px_helper_begin(&controller, "exit", 0, _i, NULL);
	else if (_i == 2)
		kill(controller.pid, SIGKILL);
	else
		px_helper_begin(&controller, _i == 3 ? "exec" : "sleep", 0, 0, NULL);
	if (_i < 3)
		px_helper_await_gone(&controller);
	else if (_i == 3)
		px_helper_end(&controller);
	for (uint32_t i = 2; i < 3000; i++)
		px_helper_trace(&target, type, i % 2 + 1);
	ck_assert_int_gt(px_helper_make_by(&target, PX_BY_FORK).pid, 0);
	if (_i == 4)
		px_helper_kill(&controller);
	ok(posix_trace_shutdown(px_test_create_for(target.pid, false)));
	ck_assert_int_eq(px_test_count_segments(), 1); /* our own */
	ok(posix_trace_clear(own));
	px_helper_trace(&target, type, 5);
	px_test_expect_number(own, 5, target.pid);
}
END_TEST

/*
 * EXIT-5 EXIT-7 CREATE-18: the controller is killed while it creates the stream, before and after other processes can
 * find the stream
 */
START_TEST(end_of_the_controller_inside_create_leaves_nothing_behind)
{
	static const char *const points[] = {"registry.slot.read", "registry.notified", "shared_names.place.taken",
					     "typelist.add.taken"};
	struct px_helper fresh = px_helper_make(PX_BY_FORK_EXEC);
	struct px_helper controller = px_helper_make(PX_BY_FORK_EXEC);
	struct px_helper subject = _i % 2 ? target : fresh;
	trace_id_t stream;

	px_helper_signal_at(&controller, points[_i], SIGKILL);
	px_helper_begin(&controller, "create", 0, subject.pid, "i");
	px_helper_await_gone(&controller);
	px_helper_trace(&target, type, 1);
	stream = px_test_start_for(subject.pid, false);
	ck_assert_int_eq(px_test_count_segments(), 1);
	px_helper_trace(&subject, px_helper_open(&subject, "other"), 2);
	px_test_expect_number(stream, 2, subject.pid);
}
END_TEST

/* EXIT-5 EXIT-7: the same in a slot that the next stream does not take */
START_TEST(end_of_the_controller_inside_create_in_a_later_slot_leaves_nothing_behind)
{
	struct px_helper controller = px_helper_make(PX_BY_FORK_EXEC);
	trace_id_t first = px_test_create_for(target.pid, false), second = px_test_start_for(target.pid, false);
	unsigned int nr_recovered, nr_left;

	px_helper_signal_at(&controller, "stream.create.allocated", SIGKILL);
	px_helper_begin(&controller, "create", 0, target.pid, "");
	px_helper_await_gone(&controller);
	ck_assert_int_eq(px_test_count_segments(), 3);
	ok(posix_trace_shutdown(first));
	if (_i == 0)
		ok(posix_trace_shutdown(px_test_create_for(target.pid, false)));
	else
		ok(txtrace_recover_all(&nr_recovered, &nr_left));
	ck_assert_int_eq(px_test_count_segments(), 1);
	px_helper_trace(&target, type, 1);
	px_test_expect_number(second, 1, target.pid);
}
END_TEST

/* EXEC-6 */
START_TEST(exec_that_fails_changes_nothing)
{
	struct px_helper controller = px_helper_make(PX_BY_FORK_EXEC);
	uint32_t number;

	ok(px_helper_create(&controller, 0, target.pid, false));
	ok(px_helper_start(&controller, 0));
	ck_assert_int_eq(px_helper_do(&controller, "exec-nothing", 0, 0, NULL).a, -1);
	ck_assert_int_eq(px_helper_do(&target, "exec-nothing", 0, 0, NULL).a, -1);
	px_helper_trace(&target, type, 1);
	ck_assert_uint_eq(px_helper_take(&controller, 0, NULL, NULL), POSIX_TRACE_START);
	ck_assert_uint_eq(px_helper_take(&controller, 0, &number, NULL), type);
	ck_assert_uint_eq(number, 1);
}
END_TEST

static const struct px_named_trick tricks[] = {
	{"tell-thread", trick_tell_thread},   {"become-stranger", trick_become_stranger},
	{"set-dumpable", trick_set_dumpable}, {"unshare", trick_unshare},
	{"accepts", trick_accepts},	      {"end-first-thread", trick_end_first_thread},
	{"join-groups", trick_join_groups},   {NULL, NULL},
};

/* Return true if some other process has a lock on the registry. */
static bool registry_is_locked(void)
{
	struct flock lock = {.l_type = F_WRLCK, .l_whence = SEEK_SET};
	char path[PATH_MAX];
	pid_t child;
	int status;

	snprintf(path, sizeof(path), "%s/" PX_LAYOUT_REGISTRY, getenv("TXTRACE_DIR"));
	child = fork();
	if (child == 0) {
		int fd = open(path, O_RDWR);

		_exit(fd < 0 || fcntl(fd, F_GETLK, &lock) != 0 ? 2 : lock.l_type != F_UNLCK);
	}
	ck_assert_int_eq(waitpid(child, &status, 0), child);
	ck_assert(WIFEXITED(status) && WEXITSTATUS(status) < 2);
	return WEXITSTATUS(status) == 1;
}

/* The target has mapped the registry.  If a process closes the file, it loses all its locks on the file. */
START_TEST(listing_the_modules_of_a_target_keeps_the_lock_of_the_registry)
{
	trace_id_t stream;
	static char text[65536];
	int fd;

	target = px_helper_make(PX_BY_FORK_EXEC);
	stream = px_test_start_for(target.pid, false);
	px_helper_trace(&target, px_helper_open(&target, "mapped"), 1);
	ok(px_registry_lock(&fd));
	ck_assert(registry_is_locked());
	ck_assert_uint_gt(px_modules_remote_list((uint32_t)target.pid, text, sizeof(text) - 1), 0);
	ck_assert(registry_is_locked());
	px_registry_unlock(fd);
	ck_assert(!registry_is_locked());
	ck_assert_ptr_nonnull(strstr(text, "libc.so"));
	ck_assert_ptr_null(strstr(text, "/registry."));
	ok(posix_trace_shutdown(stream));
	px_helper_kill(&target);
}
END_TEST

/* Return true if the modules of a process are known, and contain this program. */
static bool has_modules(pid_t pid)
{
	static char text[65536], program[PATH_MAX];
	ssize_t length = readlink("/proc/self/exe", program, sizeof(program) - 1);
	size_t got;

	ck_assert_int_gt(length, 0);
	program[length] = '\0';
	if (txtrace_get_process_modules(pid, text, sizeof(text) - 1, &got) != 0)
		return false;
	text[got] = '\0';
	ck_assert_ptr_nonnull(strstr(text, program));
	ck_assert_ptr_nonnull(strstr(text, "libc.so"));
	return true;
}

static unsigned int count_maps_files(void)
{
	unsigned int nr = 0;
	struct dirent *file;
	DIR *files = opendir(getenv("TXTRACE_DIR"));

	ck_assert_ptr_nonnull(files);
	while ((file = readdir(files)))
		nr += strncmp(file->d_name, "maps.", 5) == 0;
	closedir(files);
	return nr;
}

/* A child made by fork has the program of its parent. */
START_TEST(modules_of_a_process_that_has_ended_are_known_as_long_as_its_stream_exists)
{
	unsigned int nr_before;
	struct px_helper child;
	trace_id_t stream;
	size_t length;
	char text[1];

	target = px_helper_make(PX_BY_FORK_EXEC);
	nr_before = count_maps_files();
	stream = px_test_start_for(target.pid, true);
	px_helper_trace(&target, px_helper_open(&target, "mapped"), 1);
	child = px_helper_make_by(&target, PX_BY_FORK);
	px_helper_trace(&child, px_helper_open(&child, "mapped"), 2);
	px_helper_kill(&child);
	px_helper_await_gone(&child);
	px_helper_kill(&target);
	px_helper_await_gone(&target);
	ck_assert(has_modules(target.pid));
	ck_assert(has_modules(child.pid));
	fails(txtrace_get_process_modules(0, text, 1, &length), EINVAL);
	fails(txtrace_get_process_modules(target.pid, NULL, 0, &length), EINVAL);
	fails(txtrace_get_process_modules(target.pid, text, 1, NULL), EINVAL);
	ok(posix_trace_shutdown(stream));
	ck_assert(!has_modules(target.pid));
	ck_assert_uint_eq(count_maps_files(), nr_before);
	ck_assert(has_modules(getpid()));
}
END_TEST

/* The target stores its mappings after the stream and its files were removed. */
START_TEST(mappings_stored_after_the_stream_was_shut_down_are_removed)
{
	unsigned int nr_before;
	trace_event_id_t mapped;
	trace_id_t stream;

	target = px_helper_make(PX_BY_FORK_EXEC);
	mapped = px_helper_open(&target, "mapped");
	nr_before = count_maps_files();
	px_helper_hold_at(&target, "process.attach.mapped");
	stream = px_test_start_for(target.pid, true);
	px_helper_begin(&target, "trace", mapped, 1, NULL);
	px_helper_await_held(&target);
	ok(posix_trace_shutdown(stream));
	px_helper_release(&target);
	px_helper_end(&target);
	ck_assert_uint_eq(count_maps_files(), nr_before);
}
END_TEST

/*
 * TRIDOPEN-1 MULTI-2: the target is about to attach the names of a stream, which ends.  Then another controller creates
 * a stream.  This controller has seen that the target has attached the names, or, in case 1, has not seen it.
 */
START_TEST(target_takes_the_names_of_a_stream_as_it_ends)
{
	static const char *const points[] = {"process.shared_names.attached", "process.shared_names.found"};
	trace_id_t first, second;
	struct px_test_event event;
	struct px_shared_names_ref kept; /* this process keeps it, so that the target can still attach it */
	bool has_entered;
	uint32_t number;

	target = px_helper_make(PX_BY_FORK_EXEC);
	first = px_test_start_for(target.pid, false);
	ok(px_shared_names_of((uint32_t)getpid(), geteuid(), &number, &has_entered));
	ok(px_shared_names_attach(number, geteuid(), &kept));
	px_helper_hold_at(&target, points[_i]);
	px_helper_begin(&target, "trace", POSIX_TRACE_UNNAMED_USEREVENT, 1, NULL);
	px_helper_await_held(&target);
	ok(posix_trace_shutdown(first));
	second = px_test_start_for(target.pid, false);
	px_helper_release(&target);
	px_helper_end(&target);
	px_helper_trace(&target, POSIX_TRACE_UNNAMED_USEREVENT, 2);
	do
		ck_assert_uint_ne(px_test_take(second, &event), 0);
	while (event.info.posix_event_id != POSIX_TRACE_UNNAMED_USEREVENT ||
	       px_test_number(&event) != 2);
	ok(posix_trace_shutdown(second));
	px_shared_names_detach(&kept);
	px_helper_kill(&target);
}
END_TEST

static TCase *create_cases(void)
{
	TCase *tcase = tcase_create("create");

	tcase_add_checked_fixture(tcase, setup, NULL);
	tcase_set_timeout(tcase, 60);
	tcase_add_loop_test(tcase, create_for_another_process_traces_it, 0, 2);
	tcase_add_test(tcase, create_for_a_process_in_many_groups_traces_it);
	tcase_add_test(tcase, create_by_a_process_without_its_first_thread_traces_another);
	tcase_add_loop_test(tcase, create_for_what_is_no_process_is_esrch_and_leaves_nothing, 0, 5);
	tcase_add_loop_test(tcase,
			    create_for_a_process_that_ends_meanwhile_fails_or_gives_an_empty_stream,
			    0, 2);
	tcase_add_test(tcase, create_for_a_process_without_its_first_thread_traces_it);
	tcase_add_test(tcase, create_for_a_process_that_loses_the_thread_that_is_asked_asks_another);
	tcase_add_loop_test(
		tcase, create_for_a_process_whose_first_thread_is_replaced_meanwhile_traces_it, 0,
		2);
	tcase_add_test(tcase, create_for_a_process_that_is_just_killed_is_esrch_or_gives_a_stream);
	tcase_add_test(tcase, create_without_the_right_to_trace_is_eperm);
	tcase_add_loop_test(tcase, create_in_another_name_space_is_eperm, 0, 2);
	tcase_add_test(tcase, create_for_a_program_without_the_library_waits_for_one_with_it);
	tcase_add_test(tcase, create_for_a_target_without_names_shares_those_that_come);
	tcase_add_loop_test(tcase, end_of_the_target_leaves_its_events_and_names, 0, 3);
	return tcase;
}

static TCase *name_cases(void)
{
	TCase *tcase = tcase_create("names");

	tcase_add_checked_fixture(tcase, setup, NULL);
	tcase_set_timeout(tcase, 60);
	tcase_add_test(tcase, open_by_controller_and_target_gives_one_id);
	tcase_add_loop_test(tcase, open_by_controller_while_the_target_opens_gives_one_id, 0, 5);
	tcase_add_loop_test(tcase, open_while_the_stream_is_made_is_listed, 0, 2);
	tcase_add_test(tcase, open_in_one_stream_is_listed_in_all_of_the_target);
	tcase_add_test(tcase, event_ids_of_others_are_ignored_until_opened_for_the_target);
	tcase_add_test(tcase, open_by_controllers_counts_for_the_target);
	tcase_add_test(tcase, filter_set_by_the_controller_holds_in_the_target);
	return tcase;
}

static TCase *controller_cases(void)
{
	TCase *tcase = tcase_create("controllers");

	tcase_add_checked_fixture(tcase, setup, NULL);
	tcase_set_timeout(tcase, 60);
	tcase_add_test(tcase, listing_the_modules_of_a_target_keeps_the_lock_of_the_registry);
	tcase_add_test(tcase, modules_of_a_process_that_has_ended_are_known_as_long_as_its_stream_exists);
	tcase_add_test(tcase, mappings_stored_after_the_stream_was_shut_down_are_removed);
	tcase_add_loop_test(tcase, target_takes_the_names_of_a_stream_as_it_ends, 0, 2);
	tcase_add_test(tcase, controllers_of_one_target_do_not_meet);
	tcase_add_test(tcase, controllers_trace_each_other);
	tcase_add_test(tcase, controllers_share_the_limit_of_streams);
	tcase_add_test(tcase, identifier_is_valid_in_its_controller_only);
	tcase_add_loop_test(tcase, end_of_the_controller_leaves_the_target_in_peace, 0, 5);
	tcase_add_loop_test(tcase, end_of_the_controller_inside_create_leaves_nothing_behind, 0, 4);
	tcase_add_loop_test(tcase, end_of_the_controller_inside_create_in_a_later_slot_leaves_nothing_behind, 0, 2);
	tcase_add_test(tcase, exec_that_fails_changes_nothing);
	return tcase;
}

int main(int argc, char **argv)
{
	Suite *suite;

	if (px_helper_main(argc, argv, tricks))
		return 0;
	px_test_reserve_users();
	suite = suite_create("others");
	suite_add_tcase(suite, create_cases());
	suite_add_tcase(suite, name_cases());
	suite_add_tcase(suite, controller_cases());
	return run_suite(suite);
}
