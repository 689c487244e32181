/* SPDX-License-Identifier: MIT */
/*
 * Which processes inherit a stream: children by fork, clone, vfork, posix_spawn and exec, and what happens between
 * these calls.
 */
#include "support/helper_process.h"

#include <linux/filter.h>
#include <linux/seccomp.h>
#include <sched.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <trace_ext.h>
#include <unistd.h>

#include "base/compiler.h"
#include "support/kernel.h"

#define NO_ADVICE "without a handler, the child takes itself for its parent"

static struct px_helper target;
static trace_event_id_t type;

/* A program of its own, with its own children. */
static void setup(void)
{
	target = px_helper_make(PX_BY_FORK_EXEC);
	type = px_helper_open(&target, "inherited");
}

/* A child that came by exec has to open its types again (EXEC-2). */
static void trace_as(const struct px_helper *helper, uint32_t number)
{
	px_helper_trace(helper, px_helper_open(helper, "inherited"), number);
}

static void expect_nothing(trace_id_t stream)
{
	struct px_test_event event;

	ck_assert_int_eq(px_test_next_number(stream, &event), -1);
}

/* FORK-1 FORK-2 FORK-5 FORK-9 SPAWN-1 SPAWN-2 EXEC-1 SETINH-1: the library decides for each stream separately */
START_TEST(born_by_any_means_is_traced_where_the_stream_is_inherited)
{
	trace_id_t inherited = px_test_start_for(target.pid, true);
	trace_id_t closed = px_test_start_for(target.pid, false);
	struct px_helper child;

	if (_i == PX_BY_CLONE && !px_test_has_fork_advice()) {
		px_test_skip(NO_ADVICE);
		return;
	}
	px_helper_trace(&target, type, 1);
	child = px_helper_make_by(&target, (enum px_birth)_i);
	if (_i == PX_BY_SHELL_LATER)
		px_helper_wake(&child);
	trace_as(&child, 2);
	px_helper_trace(&target, type, 3);
	px_test_expect_number(inherited, 1, target.pid);
	px_test_expect_number(inherited, 2, child.pid);
	px_test_expect_number(inherited, 3, target.pid);
	px_test_expect_number(closed, 1, target.pid);
	px_test_expect_number(closed, 3, target.pid);
	expect_nothing(closed);
	/* Once a process has inherited a stream, it keeps it, even if the parent or the program ends. */
	px_helper_kill(&target);
	trace_as(&child, 4);
	px_test_expect_number(inherited, 4, child.pid);
	px_helper_begin(&child, "exec", 0, 0, NULL);
	ck_assert_str_eq(px_helper_end(&child).name, "hello");
	trace_as(&child, 5);
	px_test_expect_number(inherited, 5, child.pid);
	expect_nothing(inherited);
}
END_TEST

/* FORK-1 SPAWN-1: also if the target has made no call since the stream was created */
START_TEST(born_of_a_target_that_has_not_looked_yet_is_traced)
{
	trace_id_t stream = px_test_start_for(target.pid, true);
	struct px_helper child;

	if (_i == PX_BY_CLONE && !px_test_has_fork_advice()) {
		px_test_skip(NO_ADVICE);
		return;
	}
	child = px_helper_make_by(&target, (enum px_birth)_i);
	if (_i == PX_BY_SHELL_LATER)
		px_helper_wake(&child);
	trace_as(&child, 1);
	px_test_expect_number(stream, 1, child.pid);
}
END_TEST

/* FORK-1 FORK-9: the target knows only the previous stream, and no handler looks for the new one */
START_TEST(born_of_a_target_that_has_not_looked_since_another_stream_is_traced)
{
	trace_id_t former = px_test_start_for(target.pid, _i == 0), stream;
	struct px_helper child;

	if (!px_test_has_fork_advice()) {
		px_test_skip(NO_ADVICE);
		return;
	}
	px_helper_trace(&target, type, 1);
	px_test_expect_number(former, 1, target.pid);
	ok(posix_trace_shutdown(former));
	stream = px_test_start_for(target.pid, true);
	child = px_helper_make_by(&target, PX_BY_CLONE);
	px_helper_trace(&child, type, 2);
	px_test_expect_number(stream, 2, child.pid);
	expect_nothing(stream);
}
END_TEST

/* FORK-3: target, child, shell, program, spawned process: five generations */
START_TEST(born_to_later_generations_are_traced)
{
	static const enum px_birth births[] = {PX_BY_FORK,  PX_BY_SHELL,       PX_BY_CLONE,
					       PX_BY_SPAWN, PX_BY_FORK_ORPHAN, PX_BY_VFORK_EXEC};
	trace_id_t stream = px_test_start_for(target.pid, true);
	struct px_helper last = target;

	for (size_t i = 0; i < PX_ARRAY_SIZE(births); i++) {
		last = px_helper_make_by(&last, births[i]);
		if (_i) /* otherwise none of them records before it has children */
			trace_as(&last, (uint32_t)i + 1);
	}
	trace_as(&last, 100);
	for (size_t i = 0; _i && i < PX_ARRAY_SIZE(births); i++) {
		struct px_test_event event;

		ck_assert_int_eq(px_test_next_number(stream, &event), (int)i + 1);
	}
	px_test_expect_number(stream, 100, last.pid);
	expect_nothing(stream);
}
END_TEST

/* FORK-3 FORK-10: processes that existed before the stream, and all their later children */
START_TEST(born_before_the_stream_is_not_traced_nor_are_its_children)
{
	struct px_helper later[PX_BY_SHELL_LATER], child;
	trace_id_t stream;

	if (_i == PX_BY_CLONE && !px_test_has_fork_advice()) {
		px_test_skip(NO_ADVICE);
		return;
	}
	child = px_helper_make_by(&target, (enum px_birth)_i);
	if (_i == PX_BY_SHELL_LATER)
		px_helper_wake(&child);
	stream = px_test_start_for(target.pid, true);
	trace_as(&child, 1);
	for (int birth = 0; birth < PX_BY_SHELL_LATER; birth++) {
		later[birth] = px_helper_make_by(&child, (enum px_birth)birth);
		trace_as(&later[birth], 2);
	}
	px_helper_begin(&child, "exec", 0, 0, NULL);
	ck_assert_str_eq(px_helper_end(&child).name, "hello");
	trace_as(&child, 3);
	expect_nothing(stream);
	trace_as(&target, 4);
	px_test_expect_number(stream, 4, target.pid);
}
END_TEST

static void trick_use_parents(struct px_order *order)
{
	const char *accepting = px_test_accepting((trace_id_t)order->b);

	order->a = accepting != NULL;
}

static int create_inherited(trace_id_t *stream)
{
	trace_attr_t attr;

	return posix_trace_attr_init(&attr) ||
	       posix_trace_attr_setinherited(&attr, POSIX_TRACE_INHERITED) ||
	       posix_trace_create(0, &attr, stream) || posix_trace_start(*stream);
}

static void trick_create_inherited(struct px_order *order)
{
	trace_id_t stream = 0;

	order->a = create_inherited(&stream);
	order->b = (int64_t)stream;
}

/* FORK-4 FORK-6 KIND-1 CREATE-15: a process that is traced in the stream is not its controller */
START_TEST(born_child_of_a_controller_controls_nothing_and_ends_nothing)
{
	struct px_helper child;
	int64_t trid;
	pid_t pid;
	uint32_t number;

	ok(px_helper_create(&target, 0, target.pid, true));
	ok(px_helper_start(&target, 0));
	trid = px_helper_do(&target, "create-inherited", 0, 0, NULL).b;
	child = px_helper_make_by(&target, PX_BY_FORK);
	px_helper_trace(&child, type, 1);
	ck_assert_int_eq(px_helper_do(&child, "use-parents", 0, trid, NULL).a, 0);
	fails(px_helper_shutdown(&child, 0), EINVAL);
	if (_i < 2)
		px_helper_begin(&child, "exit", 0, _i, NULL);
	else
		px_helper_begin(&child, _i == 2 ? "exec" : "sleep", 0, 0, NULL);
	if (_i < 2)
		px_helper_await_gone(&child);
	else if (_i == 2)
		px_helper_end(&child);
	px_helper_trace(&target, type, 2);
	ck_assert_uint_eq(px_helper_take(&target, 0, NULL, NULL), POSIX_TRACE_START);
	ck_assert_uint_eq(px_helper_take(&target, 0, &number, &pid), type);
	ck_assert_int_eq(pid, child.pid);
	ck_assert_uint_eq(px_helper_take(&target, 0, &number, &pid), type);
	ck_assert_uint_eq(number, 2);
	ck_assert_int_eq(pid, target.pid);
}
END_TEST

/*
 * FORK-1 FORK-7 EVENT-13: ids from before the fork; the child also has a type that a controller opened for the parent
 */
START_TEST(born_by_fork_has_the_parents_types)
{
	trace_id_t stream = px_test_start_for(target.pid, true);
	trace_event_id_t granted, early, late;
	struct px_helper child, sibling;
	struct px_test_event event;

	early = px_helper_open(&target, "early");
	ok(posix_trace_trid_eventid_open(stream, "granted", &granted));
	child = px_helper_make_by(&target, PX_BY_FORK);
	sibling = px_helper_make_by(&target, PX_BY_FORK);
	late = px_helper_open(&sibling, "late");
	px_helper_trace(&child, early, 1);
	px_helper_trace(&child, granted, 2);
	px_helper_trace(&child, late, 3); /* it does not belong to the child: no effect */
	ck_assert_int_eq(px_test_next_number(stream, &event), 1);
	ck_assert_int_eq(px_test_next_number(stream, &event), 2);
	ck_assert_int_eq(px_test_next_number(stream, &event), -1);
	/* All processes share one mapping of ids to names in the stream (EVOPEN-5). */
	ck_assert_uint_eq(px_helper_open(&child, "late"), late);
	px_helper_trace(&child, late, 4);
	ck_assert_int_eq(px_test_next_number(stream, &event), 4);
}
END_TEST

/* EXEC-2 EXEC-3 EXEC-9 MAP-1 EVOPEN-5: the process has no types any more, but the stream keeps them */
START_TEST(exec_drops_the_types_of_the_process_and_not_those_of_the_stream)
{
	trace_id_t stream = px_test_start_for(target.pid, true);
	trace_event_id_t granted, other;
	char name[TRACE_EVENT_NAME_MAX + 1];
	struct px_test_event event;

	ok(posix_trace_trid_eventid_open(stream, "granted", &granted));
	px_helper_trace(&target, type, 1);
	px_helper_begin(&target, "exec", 0, 0, NULL);
	ck_assert_str_eq(px_helper_end(&target).name, "hello");
	px_helper_trace(&target, type, 2);
	px_helper_trace(&target, granted, 2);
	other = px_helper_open(&target, "another");
	ck_assert_uint_ne(other, type);
	ck_assert_uint_eq(px_helper_open(&target, "inherited"), type);
	px_helper_trace(&target, type, 3);
	ck_assert_int_eq(px_test_next_number(stream, &event), 1);
	ok(posix_trace_eventid_get_name(stream, event.info.posix_event_id, name));
	ck_assert_str_eq(name, "inherited");
	ck_assert_int_eq(px_test_next_number(stream, &event), 3);
	expect_nothing(stream);
	ok(posix_trace_trid_eventid_open(stream, "granted", &other));
	ck_assert_uint_eq(other, granted);
	px_helper_trace(&target, granted, 4); /* the new program has opened it */
	ck_assert_int_eq(px_test_next_number(stream, &event), 4);
}
END_TEST

/* EXEC-1 EXEC-7 EXEC-8: a program without the library between two programs with it */
START_TEST(exec_of_a_program_without_the_library_leaves_it_traced)
{
	trace_id_t stream = px_test_start_for(target.pid, true);
	struct px_helper shell = px_helper_make_by(&target, PX_BY_SHELL_LATER);
	struct posix_trace_status_info status;

	px_helper_kill(&target); /* so that its parent does not find it */
	status = px_test_status(stream);
	ck_assert_int_eq(status.posix_stream_status, POSIX_TRACE_RUNNING);
	px_helper_wake(&shell);
	trace_as(&shell, 1);
	px_test_expect_number(stream, 1, shell.pid);
}
END_TEST

static void trick_open_many(struct px_order *order)
{
	char name[128];
	int named = 0;

	for (int i = 0; i < order->b; i++) {
		trace_event_id_t id;

		snprintf(name, sizeof(name), "%s %d", order->text, i);
		if (posix_trace_eventid_open(name, &id))
			abort();
		named += id != POSIX_TRACE_UNNAMED_USEREVENT;
	}
	order->a = named;
}

/* EVOPEN-4 LIM-3 EXEC-9: each process has its own limit */
START_TEST(limit_of_types_is_counted_for_each_process)
{
	trace_id_t stream = px_test_start_for(target.pid, true);
	struct px_helper child = px_helper_make_by(&target, PX_BY_FORK);
	struct px_helper spawned;

	ck_assert_int_eq(px_helper_do(&target, "open-many", 0, 600, "parent").a, 600);
	ck_assert_int_eq(px_helper_do(&child, "open-many", 0, 600, "child").a, 600);
	spawned = px_helper_make_by(&child, PX_BY_SPAWN);
	ck_assert_int_eq(px_helper_do(&spawned, "open-many", 0, 1100, "spawned").a,
			 TRACE_USER_EVENT_MAX - 1);
	/* Inherited types count: one of the setup, 600 of the parent, and those of the process. */
	child = px_helper_make_by(&target, PX_BY_FORK);
	ck_assert_int_eq(px_helper_do(&child, "open-many", 0, 600, "second").a,
			 TRACE_USER_EVENT_MAX - 1 - 601);
	ok(posix_trace_shutdown(stream));
}
END_TEST

/* Children of one helper that are no helpers: each opens a type, records, and waits. */
#define HORDE 300

static void trick_bear_horde(struct px_order *order)
{
	int ready[2];
	char byte;

	order->a = pipe(ready);
	for (int i = 0; i < HORDE; i++) {
		if (fork() == 0) {
			trace_event_id_t id;
			char name[32];

			snprintf(name, sizeof(name), "horde %d", i);
			if (posix_trace_eventid_open(name, &id))
				_exit(1);
			px_test_trace(id, (uint32_t)i);
			if (write(ready[1], "", 1) == 1)
				pause();
			_exit(2);
		}
	}
	close(ready[1]);
	for (int i = 0; i < HORDE; i++)
		order->a |= read(ready[0], &byte, 1) != 1;
	close(ready[0]);
}

/* FORK-1 MAP-1 TYPELIST-3: more processes than a shared table has places */
START_TEST(born_in_hundreds_are_all_traced_and_their_types_named)
{
	trace_id_t stream = px_test_start_for(target.pid, true);
	static bool seen[HORDE];
	char name[TRACE_EVENT_NAME_MAX + 1], wanted[32];
	struct px_test_event event;
	int64_t number;
	int count = 0;

	ck_assert_int_eq(px_helper_do(&target, "bear-horde", 0, 0, NULL).a, 0);
	while ((number = px_test_next_number(stream, &event)) >= 0) {
		ck_assert_int_lt((int)number, HORDE);
		ck_assert(!seen[number]);
		seen[number] = true;
		count++;
		ok(posix_trace_eventid_get_name(stream, event.info.posix_event_id, name));
		snprintf(wanted, sizeof(wanted), "horde %d", (int)number);
		ck_assert_str_eq(name, wanted);
	}
	ck_assert_int_eq(count, HORDE);
	trace_as(&target, 1);
	px_test_expect_number(stream, 1, target.pid);
}
END_TEST

/* MULTI-3: another process records each next event, after the previous one */
START_TEST(born_processes_write_one_sequence)
{
	trace_id_t stream = px_test_start_for(target.pid, true);
	struct px_helper writers[4] = {target};
	struct px_test_event event;
	trace_event_id_t types[4];

	for (int i = 1; i < 4; i++)
		writers[i] = px_helper_make_by(&target, i == 1 ? PX_BY_SPAWN : PX_BY_FORK);
	for (int i = 0; i < 4; i++)
		types[i] = px_helper_open(&writers[i], "inherited");
	for (uint32_t i = 0; i < 200; i++)
		px_helper_trace(&writers[i * 7 % 4], types[i * 7 % 4], i);
	for (uint32_t i = 0; i < 200; i++) {
		ck_assert_int_eq(px_test_next_number(stream, &event), i);
		ck_assert_int_eq(event.info.posix_pid, writers[i * 7 % 4].pid);
	}
}
END_TEST

/* A fork in a handler that interrupted a trace point; the child goes on after the handler. */
static const char *interrupted_at;
static volatile pid_t fork_child;
static volatile sig_atomic_t nr_before;

static void fork_here(int signal)
{
	(void)signal;
	fork_child = fork();
}

static void raise_once(const char *name)
{
	if (interrupted_at && strcmp(name, interrupted_at) == 0 && nr_before-- == 0) {
		interrupted_at = NULL;
		/* After clone(2), raise() of musl would signal the thread of the parent, whose number it keeps. */
		syscall(SYS_tgkill, getpid(), syscall(SYS_gettid), SIGUSR1);
	}
}

/*
 * Events 1 to 3.  The handler runs during event 2, and the child records 4 and 5.  Return, in the parent, how the child
 * ended.
 */
static void trick_fork_inside(struct px_order *order)
{
	trace_event_id_t id = (trace_event_id_t)order->a;
	int status;

	signal(SIGUSR1, fork_here);
	px_test_trace(id, 1);
	fork_child = -1;
	nr_before = (int)order->b;
	interrupted_at = order->text;
	__atomic_store_n(&px_testpoint_hook, raise_once, __ATOMIC_RELEASE);
	px_test_trace(id, 2);
	if (fork_child == 0) {
		px_test_trace(id, 4);
		px_test_trace(id, 5);
		_exit(0);
	}
	order->a = fork_child < 0 || waitpid(fork_child, &status, 0) < 0 ? -1 : status;
	order->b = fork_child;
	px_test_trace(id, 3);
}

static const char *const event_points[] = {
	"point.state.loaded", "ring.reserve.loaded", "ring.reserve.done", "ring.claim.loaded",
	"ring.claim.done",    "record.write.first",  "ring.commit.ready", "ring.commit.done",
};

/* Expect the events of the parent and of its child: each once, with the pid of its process. */
static void expect_of_both(trace_id_t stream, bool is_inherited, pid_t child)
{
	int64_t number, seen = 0;
	struct px_test_event event;

	while ((number = px_test_next_number(stream, &event)) >= 0) {
		ck_assert_int_ge(number, 1);
		ck_assert_int_le(number, 5);
		ck_assert_msg(!(seen >> number & 1), "%d was reported twice", (int)number);
		seen |= (int64_t)1 << number;
		ck_assert_int_eq(event.info.posix_pid, number < 4 ? target.pid : child);
	}
	ck_assert_int_eq(seen, is_inherited ? 0x3e : 0xe);
	ck_assert_int_eq(px_test_status(stream).posix_stream_overrun_status,
			 POSIX_TRACE_NO_OVERRUN);
}

/* FORK-8 EVENT-7 EVENT-16 FORK-5: the child completes no event of its parent, and records none twice */
START_TEST(fork_inside_an_event_child_that_goes_on_harms_no_ring)
{
	const char *point = event_points[_i / 3];
	trace_id_t first = px_test_start_for(target.pid, true);
	trace_id_t middle = px_test_start_for(target.pid, false);
	trace_id_t last = px_test_start_for(target.pid, true);
	struct px_order done = px_helper_do(&target, "fork-inside", type, _i % 3, point);

	ck_assert_int_eq(done.a, 0);
	expect_of_both(first, true, (pid_t)done.b);
	expect_of_both(middle, false, (pid_t)done.b);
	expect_of_both(last, true, (pid_t)done.b);
}
END_TEST

/* A handler runs in the child before the library knows the identity of the child. */
static trace_event_id_t handler_type;

static void record_in_handler(int signal)
{
	(void)signal;
	px_test_trace(handler_type, 2);
}

static void trick_fork_and_interrupt_birth(struct px_order *order)
{
	pid_t child;
	int status;

	handler_type = (trace_event_id_t)order->a;
	signal(SIGUSR1, record_in_handler);
	nr_before = 0;
	interrupted_at = order->text;
	__atomic_store_n(&px_testpoint_hook, raise_once, __ATOMIC_RELEASE);
	child = order->b ? px_test_clone() : fork();
	if (child == 0) {
		px_test_trace(handler_type, 3);
		_exit(0);
	}
	order->a = waitpid(child, &status, 0) < 0 ? -1 : status;
	order->b = child;
}

/* FORK-1 FORK-8: a second check by the library during the fork removes nothing */
START_TEST(fork_handler_records_while_the_child_is_born)
{
	static const char *const points[] = {"process.born.known", "process.attach.swapped",
					     "process.refresh.followed", "process.gate.decided"};
	trace_id_t stream = px_test_start_for(target.pid, true);
	struct px_order done;

	if (_i % 2 && !px_test_has_fork_advice()) {
		px_test_skip(NO_ADVICE);
		return;
	}
	px_helper_trace(&target, type, 1);
	done = px_helper_do(&target, "interrupt-birth", type, _i % 2, points[_i / 2]);
	ck_assert_int_eq(done.a, 0);
	px_test_expect_number(stream, 1, target.pid);
	px_test_expect_number(stream, 2, (pid_t)done.b);
	px_test_expect_number(stream, 3, (pid_t)done.b);
	expect_nothing(stream);
}
END_TEST

/* Another thread has just attached the stream, and stops; this thread forks. */
static sem_t arrived, released;
static __thread bool is_held;
static bool was_held;

static void hold_thread(const char *name)
{
	if (is_held && strcmp(name, "process.attach.swapped") == 0) {
		is_held = false;
		was_held = true;
		sem_post(&arrived);
		while (sem_wait(&released) != 0)
			;
	}
}

static void *record_held(void *argument)
{
	is_held = true;
	px_test_trace(*(trace_event_id_t *)argument, 1);
	sem_post(&arrived);
	return NULL;
}

static void trick_fork_beside(struct px_order *order)
{
	trace_event_id_t id = (trace_event_id_t)order->a;
	pthread_t thread;
	pid_t child;
	int status;

	sem_init(&arrived, 0, 0);
	sem_init(&released, 0, 0);
	__atomic_store_n(&px_testpoint_hook, hold_thread, __ATOMIC_RELEASE);
	pthread_create(&thread, NULL, record_held, &id);
	while (sem_wait(&arrived) != 0)
		;
	child = fork();
	if (child == 0) {
		px_test_trace(id, 2);
		_exit(0);
	}
	order->a = waitpid(child, &status, 0) < 0 || !was_held ? -1 : status;
	order->b = child;
	sem_post(&released);
	pthread_join(thread, NULL);
}

/* FORK-1 FORK-8 */
START_TEST(fork_while_another_thread_attaches_child_is_traced)
{
	trace_id_t stream = px_test_start_for(target.pid, true);
	struct px_order done = px_helper_do(&target, "fork-beside", type, 0, NULL);

	ck_assert_int_eq(done.a, 0);
	px_test_expect_number(stream, 2, (pid_t)done.b);
	px_test_expect_number(stream, 1, target.pid);
}
END_TEST

/*
 * While one thread creates a stream, another thread forks: no process is damaged, whether the child is traced or not.
 */
static trace_event_id_t racing_type;
static volatile pid_t racing_child;

static void *fork_and_record(void *unused)
{
	pid_t child = fork();

	if (child == 0) {
		px_test_trace(racing_type, 2);
		_exit(0);
	}
	racing_child = child;
	return unused;
}

static void fork_in_thread(const char *name)
{
	pthread_t thread;
	int status = -1;

	if (!interrupted_at || strcmp(name, interrupted_at) != 0)
		return;
	interrupted_at = NULL;
	pthread_create(&thread, NULL, fork_and_record, NULL);
	pthread_join(thread, NULL);
	if (waitpid(racing_child, &status, 0) < 0 || status != 0)
		abort();
}

static void trick_fork_in_create(struct px_order *order)
{
	struct posix_trace_event_info info;
	trace_id_t stream;
	int unavailable;
	size_t length;
	pid_t child;

	racing_type = (trace_event_id_t)order->b;
	interrupted_at = order->text;
	__atomic_store_n(&px_testpoint_hook, fork_in_thread, __ATOMIC_RELEASE);
	order->a = create_inherited(&stream);
	order->a |= interrupted_at != NULL; /* the test point was not reached, so no child was made */
	child = fork();
	if (child == 0) {
		px_test_trace(racing_type, 3);
		_exit(0);
	}
	waitpid(child, NULL, 0);
	order->b = 0;
	do {
		order->a |= posix_trace_trygetnext_event(stream, &info, NULL, 0, &length,
							 &unavailable);
		order->b += !unavailable && info.posix_pid == child;
		/* The child recorded before the stream was started, or it is not decided whether it is traced. */
		order->a |= !unavailable && info.posix_pid == racing_child;
	} while (!order->a && !unavailable);
}

/*
 * FORK-3 FORK-8: a child that is made meanwhile may be traced or not.  No process is damaged, and the next child is
 * traced
 */
START_TEST(fork_in_another_thread_while_create_runs_harms_nothing)
{
	static const char *const points[] = {"registry.notified", "process.attach.mapped", "process.attach.swapped",
					     "process.gate.decided", "process.refresh.followed"};
	struct px_order done = px_helper_do(&target, "fork-in-create", 0, type, points[_i]);

	ck_assert_int_eq(done.a, 0);
	ck_assert_int_eq(done.b, 1);
}
END_TEST

/* A child that closes all its descriptors, as a daemon does.  Return its exit status. */
static void trick_fork_daemon(struct px_order *order)
{
	pid_t child = fork();
	int status;

	if (child == 0) {
		if (setsid() < 0 || chdir("/") != 0)
			_exit(1);
		for (int fd = 0; fd < 1024; fd++)
			close(fd);
		px_test_trace((trace_event_id_t)order->a, 1);
		child = fork();
		if (child == 0) {
			px_test_trace((trace_event_id_t)order->a, 2);
			_exit(0);
		}
		_exit(waitpid(child, &status, 0) < 0 || status != 0);
	}
	order->a = waitpid(child, &status, 0) < 0 ? -1 : status;
}

/* FD-2 FORK-1 */
START_TEST(fork_daemon_that_closes_everything_is_traced)
{
	trace_id_t stream = px_test_start_for(target.pid, true);
	struct px_test_event event;

	ck_assert_int_eq(px_helper_do(&target, "fork-daemon", type, 0, NULL).a, 0);
	ck_assert_int_eq(px_test_next_number(stream, &event), 1);
	ck_assert_int_eq(px_test_next_number(stream, &event), 2);
}
END_TEST

/*
 * No stream traces the child.  Its first event is recorded by its own child by vfork, which has the identity of its
 * parent.
 */
static int record_first_by_vfork(void)
{
	struct posix_trace_event_info info = {0};
	trace_id_t stream;
	int unavailable = 0;
	size_t length;
	pid_t child;

	child = vfork();
	if (child == 0) {
		posix_trace_event(POSIX_TRACE_UNNAMED_USEREVENT, NULL, 0);
		_exit(0);
	}
	waitpid(child, NULL, 0);
	if (posix_trace_create(0, NULL, &stream) || posix_trace_start(stream))
		return 1;
	posix_trace_event(POSIX_TRACE_UNNAMED_USEREVENT, NULL, 0);
	while (info.posix_event_id != POSIX_TRACE_UNNAMED_USEREVENT && !unavailable)
		if (posix_trace_trygetnext_event(stream, &info, NULL, 0, &length, &unavailable))
			return 2;
	return unavailable || info.posix_pid != getpid() ? 3 : 0;
}

static void trick_fork_vfork(struct px_order *order)
{
	pid_t child = fork();
	int status;

	if (child == 0)
		_exit(record_first_by_vfork());
	order->a = waitpid(child, &status, 0) < 0 ? -1 : status;
}

/* FORK-5 FORK-9 */
START_TEST(vfork_child_records_first_and_leaves_the_process_its_name)
{
	struct px_helper stranger = px_helper_make(PX_BY_FORK_EXEC);

	ck_assert_int_eq(px_helper_do(&stranger, "fork-vfork", 0, 0, NULL).a, 0);
}
END_TEST

/* A child has no free descriptor at its first event, and gets one later. */
static void trick_fork_poor(struct px_order *order)
{
	struct rlimit before, none;
	pid_t child;

	getrlimit(RLIMIT_NOFILE, &before);
	none = (struct rlimit){.rlim_cur = 0, .rlim_max = before.rlim_max};
	setrlimit(RLIMIT_NOFILE, &none);
	child = fork();
	if (child == 0) {
		px_test_trace((trace_event_id_t)order->a, 1);
		setrlimit(RLIMIT_NOFILE, &before);
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		for (uint32_t i = 2;; i++) {
			px_test_trace((trace_event_id_t)order->a, i);
			sleep_ms(1);
		}
	}
	setrlimit(RLIMIT_NOFILE, &before);
	order->b = child;
}

static int64_t await_number(trace_id_t stream, struct px_test_event *event)
{
	int64_t number = -1;

	for (int i = 0; i < 1000 && number < 0; i++) {
		number = px_test_next_number(stream, event);
		if (number < 0)
			sleep_ms(10);
	}
	return number;
}

/* FORK-8 CREATE-1: other processes find the child and name it when it has free descriptors */
START_TEST(fork_child_without_descriptors_is_traced_by_others_later)
{
	trace_id_t inherited = px_test_start_for(target.pid, true), stream;
	struct px_test_event event;
	pid_t child;

	if (!px_test_can_map_again()) {
		px_test_skip("a mapping cannot be mapped a second time");
		return;
	}
	px_helper_trace(&target, type, 0);
	px_test_expect_number(inherited, 0, target.pid);
	child = (pid_t)px_helper_do(&target, "fork-poor", type, 0, NULL).b;
	ck_assert_int_eq(await_number(inherited, &event), 1);
	ck_assert_int_eq(event.info.posix_pid, child);
	stream = px_test_start_for(child, false);
	ck_assert_int_ge(await_number(stream, &event), 2);
	ck_assert_int_eq(event.info.posix_pid, child);
	kill(child, SIGKILL);
}
END_TEST

static void trick_chroot(struct px_order *order)
{
	order->a = chroot(order->text) != 0 || chdir("/") != 0 ? errno : 0;
}

/* FORK-1: a child made by fork needs neither the name table nor /proc */
START_TEST(fork_where_the_directory_is_out_of_reach_child_is_traced)
{
	char empty[] = "/tmp/posixtrace-empty.XXXXXX", hidden[512];
	const char *path = getenv("TXTRACE_DIR");
	trace_id_t stream = px_test_start_for(target.pid, true);
	struct px_helper child;
	int error;

	if (!px_test_can_map_again()) {
		px_test_skip("a mapping cannot be mapped a second time");
		return;
	}
	ck_assert_ptr_nonnull(mkdtemp(empty));
	px_helper_trace(&target, type, 1);
	if (_i) {
		error = (int)px_helper_do(&target, "chroot", 0, 0, empty).a;
	} else {
		snprintf(hidden, sizeof(hidden), "%s.hidden", path);
		error = rename(path, hidden);
	}
	child = px_helper_make_by(&target, _i == 2 ? PX_BY_CLONE : PX_BY_FORK);
	px_helper_trace(&child, type, 2);
	px_helper_trace(&target, type, 3);
	if (!_i)
		ck_assert_int_eq(rename(hidden, path), 0);
	rmdir(empty);
	if (_i && error == EPERM) {
		px_test_skip("no right to chroot");
		return;
	}
	ck_assert_int_eq(error, 0);
	px_test_expect_number(stream, 1, target.pid);
	px_test_expect_number(stream, 2, child.pid);
	px_test_expect_number(stream, 3, target.pid);
}
END_TEST

static void record_on_small_stack(int signal)
{
	(void)signal;
	px_test_trace(handler_type, 1);
}

/* A stack of SIGSTKSZ bytes, as programs use it; no code may access the memory below it. */
static void raise_on_small_stack(void)
{
	struct sigaction action = {.sa_handler = record_on_small_stack, .sa_flags = SA_ONSTACK};
	size_t page = (size_t)sysconf(_SC_PAGESIZE);
	const size_t size = 8192;
	char *memory = mmap(NULL, size + page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS,
			    -1, 0);
	stack_t stack = {.ss_sp = memory + page, .ss_size = size};

	if (memory == MAP_FAILED || mprotect(memory, page, PROT_NONE) != 0 ||
	    sigaltstack(&stack, NULL) != 0 || sigaction(SIGUSR1, &action, NULL) != 0)
		_exit(1);
	signal(SIGSEGV, SIG_DFL);
	raise(SIGUSR1);
}

/* FORK-8 EVENT-7: the process is not traced in the stream; its child reads the registry first in a handler */
START_TEST(fork_child_records_first_on_a_small_stack)
{
	trace_id_t stream = px_test_start_for(target.pid, true);
	pid_t child;
	int status;

	if (getenv("PX_SANITIZED")) {
		px_test_skip("a sanitizer needs a larger stack");
		return;
	}
	handler_type = px_test_open_type("stranger");
	child = fork();
	if (child == 0) {
		raise_on_small_stack();
		_exit(0);
	}
	ck_assert_int_eq(waitpid(child, &status, 0), child);
	ck_assert_int_eq(status, 0);
	expect_nothing(stream);
}
END_TEST

/* From now on, each system call of this thread kills the process, except exit. */
static bool forbid_system_calls(void)
{
	struct sock_filter code[] = {
		BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_exit, 1, 0),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_KILL_PROCESS),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
	};
	struct sock_fprog program = {PX_ARRAY_SIZE(code), code};

	return prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0 &&
	       syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, 0, &program) == 0;
}

/* A child that may make no system call after it has recorded an event. */
static void trick_fork_strict(struct px_order *order)
{
	pid_t child = fork();
	int status;

	if (child == 0) {
		px_test_trace((trace_event_id_t)order->a, 0);
		if (!forbid_system_calls())
			_exit(1);
		if (order->b) /* what makes the result believable */
			syscall(SYS_getppid);
		for (uint32_t i = 1; i <= 5000; i++)
			px_test_trace((trace_event_id_t)order->a, i);
		syscall(SYS_exit, 0);
	}
	order->a = waitpid(child, &status, 0) < 0 ? -1 : status;
}

/* EVENT-8 FORK-1 */
START_TEST(event_in_an_inherited_child_makes_no_system_call)
{
	trace_id_t stream = px_test_start_for(target.pid, true);
	struct px_test_event event;
	int64_t number, last = -1;

	if (getenv("PX_SANITIZED")) {
		px_test_skip("a sanitizer makes system calls");
		return;
	}
	if (prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, NULL) != -1 || errno != EFAULT) {
		px_test_skip("no filters of system calls");
		return;
	}
	ck_assert_int_eq(px_helper_do(&target, "fork-strict", type, 1, NULL).a & 0x7f, SIGSYS);
	ck_assert_int_eq(px_helper_do(&target, "fork-strict", type, 0, NULL).a, 0);
	while ((number = px_test_next_number(stream, &event)) >= 0)
		last = number;
	ck_assert_int_eq(last, 5000);
}
END_TEST

static const struct px_named_trick tricks[] = {
	{"create-inherited", trick_create_inherited},
	{"use-parents", trick_use_parents},
	{"open-many", trick_open_many},
	{"bear-horde", trick_bear_horde},
	{"fork-inside", trick_fork_inside},
	{"interrupt-birth", trick_fork_and_interrupt_birth},
	{"fork-beside", trick_fork_beside},
	{"fork-in-create", trick_fork_in_create},
	{"fork-vfork", trick_fork_vfork},
	{"fork-poor", trick_fork_poor},
	{"fork-daemon", trick_fork_daemon},
	{"chroot", trick_chroot},
	{"fork-strict", trick_fork_strict},
	{NULL, NULL},
};

static TCase *birth_cases(void)
{
	TCase *tcase = tcase_create("birth");

	tcase_add_checked_fixture(tcase, setup, NULL);
	tcase_set_timeout(tcase, 60);
	tcase_add_loop_test(tcase, born_by_any_means_is_traced_where_the_stream_is_inherited, 0,
			    PX_NR_BIRTHS);
	tcase_add_loop_test(tcase, born_of_a_target_that_has_not_looked_yet_is_traced, 0,
			    PX_NR_BIRTHS);
	tcase_add_loop_test(
		tcase, born_of_a_target_that_has_not_looked_since_another_stream_is_traced, 0, 2);
	tcase_add_loop_test(tcase, born_to_later_generations_are_traced, 0, 2);
	tcase_add_loop_test(tcase, born_before_the_stream_is_not_traced_nor_are_its_children, 0,
			    PX_NR_BIRTHS);
	tcase_add_loop_test(tcase, born_child_of_a_controller_controls_nothing_and_ends_nothing, 0,
			    4);
	tcase_add_test(tcase, born_by_fork_has_the_parents_types);
	tcase_add_test(tcase, exec_drops_the_types_of_the_process_and_not_those_of_the_stream);
	tcase_add_test(tcase, exec_of_a_program_without_the_library_leaves_it_traced);
	tcase_add_test(tcase, limit_of_types_is_counted_for_each_process);
	tcase_add_test(tcase, born_in_hundreds_are_all_traced_and_their_types_named);
	tcase_add_test(tcase, born_processes_write_one_sequence);
	return tcase;
}

static TCase *fork_cases(void)
{
	TCase *tcase = tcase_create("fork");

	tcase_add_checked_fixture(tcase, setup, NULL);
	tcase_set_timeout(tcase, 60);
	tcase_add_loop_test(tcase, fork_inside_an_event_child_that_goes_on_harms_no_ring, 0,
			    3 * (int)PX_ARRAY_SIZE(event_points));
	tcase_add_loop_test(tcase, fork_handler_records_while_the_child_is_born, 0, 8);
	tcase_add_test(tcase, fork_while_another_thread_attaches_child_is_traced);
	tcase_add_loop_test(tcase, fork_in_another_thread_while_create_runs_harms_nothing, 0, 5);
	tcase_add_test(tcase, fork_daemon_that_closes_everything_is_traced);
	tcase_add_test(tcase, fork_child_without_descriptors_is_traced_by_others_later);
	tcase_add_test(tcase, fork_child_records_first_on_a_small_stack);
	tcase_add_test(tcase, vfork_child_records_first_and_leaves_the_process_its_name);
	tcase_add_loop_test(tcase, fork_where_the_directory_is_out_of_reach_child_is_traced, 0, 3);
	tcase_add_test(tcase, event_in_an_inherited_child_makes_no_system_call);
	return tcase;
}

int main(int argc, char **argv)
{
	Suite *suite;

	if (px_helper_main(argc, argv, tricks))
		return 0;
	suite = suite_create("inherit");
	suite_add_tcase(suite, birth_cases());
	suite_add_tcase(suite, fork_cases());
	return run_suite(suite);
}
