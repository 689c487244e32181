/* SPDX-License-Identifier: MIT */
/*
 * How streams attach to a process and detach: several threads find a new or an ended stream at the same time, and each
 * stops where the others can see its half-done work.
 */
#include "support/common.h"

#include <dirent.h>
#include <fcntl.h>
#include <sched.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <trace.h>
#include <trace_ext.h>
#include <unistd.h>

#include "base/compiler.h"
#include "base/layout.h"
#include "support/kernel.h"
#include "trace/process.h"
#include "trace/types.h"

static trace_event_id_t type;

static void setup(void)
{
	ok(posix_trace_eventid_open("attached", &type));
	/* Remove what a failed test has left now, and not during the next test. */
	ok(posix_trace_shutdown(px_test_create(&(struct px_test_stream){.nr_rings = 1})));
}

static void teardown(void)
{
	__atomic_store_n(&px_testpoint_hook, NULL, __ATOMIC_RELEASE);
}

static trace_id_t create(void)
{
	return px_test_create(&(struct px_test_stream){.nr_rings = 1, .size = 65536});
}

/* Return how often the number is reported. */
static int count(trace_id_t stream, uint32_t number)
{
	struct px_test_event event;
	trace_event_id_t found;
	int times = 0;

	while ((found = px_test_take(stream, &event)))
		times += found == type && px_test_number(&event) == number;
	return times;
}

/* A thread that records one event, and stops at its test points, one after the other. */
#define STOPS 3

struct walker {
	pthread_t thread;
	const char *points[STOPS]; /* NULL after the last */
	int at;
	uint32_t number;
	sem_t arrived, released;
};

static __thread struct walker *walker_self;

/* What the main thread does once, at a test point. */
static struct {
	const char *point;
	void (*function)(void);
} act;

static void at_point(const char *name)
{
	struct walker *self = walker_self;

	if (!self) {
		if (act.point && strcmp(name, act.point) == 0) {
			act.point = NULL;
			act.function();
		}
		return;
	}
	if (self->at == STOPS || !self->points[self->at] ||
	    strcmp(name, self->points[self->at]) != 0)
		return;
	self->at++;
	sem_post(&self->arrived);
	while (sem_wait(&self->released) != 0)
		;
}

static void act_at(const char *point, void (*function)(void))
{
	act.function = function;
	act.point = point;
	__atomic_store_n(&px_testpoint_hook, at_point, __ATOMIC_RELEASE);
}

static void *walk(void *argument)
{
	walker_self = argument;
	px_test_trace(type, walker_self->number);
	walker_self->at = STOPS;
	sem_post(&walker_self->arrived);
	return NULL;
}

static void await(struct walker *walker)
{
	while (sem_wait(&walker->arrived) != 0)
		;
}

/* Begin the thread.  Return when it is at its first point, or has ended. */
static void walk_off(struct walker *walker, uint32_t number)
{
	walker->number = number;
	walker->at = 0;
	sem_init(&walker->arrived, 0, 0);
	sem_init(&walker->released, 0, 0);
	__atomic_store_n(&px_testpoint_hook, at_point, __ATOMIC_RELEASE);
	ck_assert_int_eq(pthread_create(&walker->thread, NULL, walk, walker), 0);
	await(walker);
}

/* Let the thread go on to its next point, or to its end. */
static void walk_on(struct walker *walker)
{
	sem_post(&walker->released);
	await(walker);
}

static void walk_home(struct walker *walker)
{
	while (walker->at != STOPS)
		walk_on(walker);
	sem_post(&walker->released);
	pthread_join(walker->thread, NULL);
}

static struct walker first, second;

/* Two threads find a stream and map it.  They stop before they publish it. */
static void two_walk_off(void)
{
	first = (struct walker){.points = {"process.attach.mapped", "process.attach.swapped"}};
	second = (struct walker){.points = {"process.attach.mapped"}};
	walk_off(&first, 101);
	walk_off(&second, 102);
}

static void second_walks_home(void)
{
	walk_home(&second);
}

/*
 * MODEL-1 EVENT-1: two threads slept while a stream ended, and then want to put it into the place of the next stream.
 */
START_TEST(attach_of_a_stream_that_ended_meanwhile_leaves_its_successor_attached)
{
	trace_id_t stream;

	act_at("process.attach.mapped", two_walk_off);
	stream = create();
	ck_assert_int_eq(first.at, 1);
	ck_assert_int_eq(second.at, 1);
	ok(posix_trace_shutdown(stream));
	walk_on(&first); /* the ended stream is attached */
	act_at("process.detach.taken", second_walks_home);
	stream = create(); /* and again, when the creator has removed it */
	ok(posix_trace_start(stream));
	act.point = NULL;
	px_test_trace(type, 1);
	ck_assert_int_eq(count(stream, 1), 1);
	walk_home(&first);
	px_test_trace(type, 2);
	ck_assert_int_eq(count(stream, 2), 1);
	ok(posix_trace_shutdown(stream));
}
END_TEST

static void first_walks_off(void)
{
	walk_off(&first, 101);
}

/* MODEL-1 EVENT-1: a thread that removes the old stream stops, while a new stream comes. */
START_TEST(detach_by_a_sleeper_leaves_the_next_stream_attached)
{
	trace_id_t stream = create();

	first = (struct walker){.points = {"process.detach.taken"}};
	act_at("registry.notified", first_walks_off);
	ok(posix_trace_shutdown(stream));
	ck_assert_int_eq(first.at, 1);
	stream = create();
	ok(posix_trace_start(stream));
	walk_home(&first);
	px_test_trace(type, 1);
	ck_assert_int_eq(count(stream, 1), 1);
	ok(posix_trace_shutdown(stream));
}
END_TEST

/* MODEL-1 EVENT-1: a thread that attached the stream before its creator did stops after that. */
START_TEST(attach_by_a_sleeper_counts_at_once)
{
	trace_id_t stream;

	first = (struct walker){.points = {"process.attach.swapped"}};
	act_at("registry.notified", first_walks_off);
	stream = create();
	ck_assert_int_eq(first.at, 1);
	ok(posix_trace_start(stream));
	px_test_trace(type, 1);
	ck_assert_int_eq(count(stream, 1), 1);
	walk_home(&first);
	px_test_trace(type, 2);
	ck_assert_int_eq(count(stream, 2), 1);
	ok(posix_trace_shutdown(stream));
}
END_TEST

/* The thread that looks first has no descriptor: it attaches nothing, and is about to close the gate. */
static void first_fails_to_attach(void)
{
	struct rlimit limit, none;

	getrlimit(RLIMIT_NOFILE, &limit);
	none = limit;
	none.rlim_cur = 0;
	setrlimit(RLIMIT_NOFILE, &none);
	walk_off(&first, 101);
	setrlimit(RLIMIT_NOFILE, &limit);
}

/* MODEL-1 EVENT-1 */
START_TEST(attach_behind_a_thread_that_could_not_keeps_the_gate_open)
{
	trace_id_t stream;

	first = (struct walker){.points = {"process.gate.decided"}};
	act_at("registry.notified", first_fails_to_attach);
	stream = create();
	ck_assert_int_eq(first.at, 1);
	ok(posix_trace_start(stream));
	walk_home(&first);
	px_test_trace(type, 1);
	ck_assert_int_eq(count(stream, 1), 1);
	ok(posix_trace_shutdown(stream));
	ck_assert(!px_gate_is_open());
}
END_TEST

enum { WRITERS = 6, STREAMS = 500, WHOLE_STREAMS = 1500 };

static trace_event_id_t noise;
static bool finished;

static void *make_noise(void *unused)
{
	while (!__atomic_load_n(&finished, __ATOMIC_RELAXED))
		px_test_trace(noise, 7);
	return unused;
}

/* MODEL-1 EVENT-1 */
START_TEST(attach_by_many_threads_of_many_streams_none_misses_its_creators_event)
{
	pthread_t threads[WRITERS];
	trace_event_set_t filter;
	int missed = 0;

	ok(posix_trace_eventid_open("noise", &noise));
	ok(posix_trace_eventset_empty(&filter));
	ok(posix_trace_eventset_add(noise, &filter));
	for (int i = 0; i < WRITERS; i++)
		pthread_create(&threads[i], NULL, make_noise, NULL);
	for (int i = 0; i < (px_test_is_whole() ? WHOLE_STREAMS : STREAMS); i++) {
		trace_id_t stream = create();

		ok(posix_trace_set_filter(stream, &filter, POSIX_TRACE_SET_EVENTSET));
		ok(posix_trace_start(stream));
		px_test_trace(type, 1);
		missed += count(stream, 1) != 1;
		ok(posix_trace_shutdown(stream));
	}
	__atomic_store_n(&finished, true, __ATOMIC_RELAXED);
	for (int i = 0; i < WRITERS; i++)
		pthread_join(threads[i], NULL);
	ck_assert_int_eq(missed, 0);
}
END_TEST

/* How the two threads signal each other: bytes, in one pipe for each direction. */
static int to_inner[2], to_outer[2];

static char hear(const int from[2])
{
	char byte = 0;

	return read(from[0], &byte, 1) == 1 ? byte : 0;
}

static void say(const int to[2], char byte)
{
	if (write(to[1], &byte, 1) != 1)
		_exit(9);
}

/* Create a stream when the test asks for it.  Return whether the stream has an event of another process. */
static int trace_elsewhere(void)
{
	struct posix_trace_event_info info;
	int unavailable, strange = 0;
	trace_id_t stream;
	size_t length;

	if (hear(to_inner) != 'c' || posix_trace_create(0, NULL, &stream) ||
	    posix_trace_start(stream))
		return 2;
	say(to_outer, 'c');
	if (hear(to_inner) != 'd')
		return 3;
	while (posix_trace_trygetnext_event(stream, &info, NULL, 0, &length, &unavailable) == 0 &&
	       !unavailable)
		strange += info.posix_pid != getpid();
	return posix_trace_shutdown(stream) || strange ? 4 : 0;
}

/* MODEL-1 EVENT-1: a slot gets another owner while a thread reads it. */
START_TEST(attach_of_a_slot_that_became_anothers_is_given_up)
{
	trace_id_t stream;
	pid_t child;
	int status;

	ck_assert_int_eq(pipe2(to_inner, O_CLOEXEC) | pipe2(to_outer, O_CLOEXEC), 0);
	child = fork();
	if (child == 0) {
		close(to_inner[1]);
		_exit(trace_elsewhere());
	}
	close(to_outer[1]);
	first = (struct walker){.points = {"registry.slot.read"}};
	act_at("registry.notified", first_walks_off);
	stream = create();
	ck_assert_int_eq(first.at, 1);
	ok(posix_trace_shutdown(stream));
	say(to_inner, 'c');
	ck_assert_int_eq(hear(to_outer), 'c');
	walk_home(&first);
	say(to_inner, 'd');
	ck_assert_int_eq(waitpid(child, &status, 0), child);
	ck_assert_int_eq(status, 0);
}
END_TEST

/* Event types. */

static trace_event_id_t late_type;

static void open_late(void)
{
	ok(posix_trace_eventid_open("late_type", &late_type));
}

static bool is_named(const struct px_view *view, trace_event_id_t id)
{
	char name[PX_NAME_MAX + 1];

	return px_typelist_name(&view->segment->types, id, name) == 0;
}

/*
 * EVOPEN-11: a type is opened while the thread attaches the stream, after the thread has read the list of opened types.
 */
START_TEST(open_of_a_type_while_a_stream_is_attached_makes_it_known)
{
	trace_id_t stream;
	int views = 0;

	act_at("process.attach.mapped", open_late);
	stream = create();
	for (int i = 0; i < PX_STREAMS_MAX; i++) {
		const struct px_view *view = px_gate.self.view[i];

		if (!view)
			continue;
		views++;
		ck_assert(is_named(view, type));
		ck_assert(is_named(view, late_type));
	}
	ck_assert_int_eq(views, 1);
	ok(posix_trace_shutdown(stream));
}
END_TEST

static pid_t forked;

static void fork_and_list(void)
{
	int unavailable, times = 0;
	trace_event_id_t listed;
	trace_id_t stream;

	forked = fork();
	if (forked != 0)
		return;
	if (posix_trace_eventid_open("late_type", &late_type) ||
	    posix_trace_create(0, NULL, &stream))
		_exit(100);
	while (posix_trace_eventtypelist_getnext_id(stream, &listed, &unavailable) == 0 &&
	       !unavailable)
		times += listed == late_type;
	posix_trace_shutdown(stream);
	_exit(times);
}

/* TYPELIST-3 FORK-7 */
START_TEST(fork_while_a_type_is_opened_child_lists_it_once)
{
	int status;

	act_at("types.note.listed", fork_and_list);
	open_late();
	ck_assert_int_gt(forked, 0);
	ck_assert_int_eq(waitpid(forked, &status, 0), forked);
	ck_assert(WIFEXITED(status));
	ck_assert_int_eq(WEXITSTATUS(status), 1);
}
END_TEST

/* Two pid name spaces with one directory. */

static bool is_alive(trace_id_t stream)
{
	struct posix_trace_event_info info;
	int unavailable, found = 0;
	uint32_t number;
	size_t length;

	px_test_trace(type, 4711);
	while (posix_trace_trygetnext_event(stream, &info, &number, sizeof(number), &length,
					    &unavailable) == 0 &&
	       !unavailable)
		found += info.posix_event_id == type && number == 4711;
	return found > 0;
}

/* The first process of its name space, with its own /proc: it sees no process outside. */
static int trace_inside(void)
{
	trace_id_t stream;

	if (mount(NULL, "/", NULL, MS_REC | MS_PRIVATE, NULL) != 0 ||
	    mount("proc", "/proc", "proc", 0, NULL) != 0)
		return 77;
	if (posix_trace_create(0, NULL, &stream) || posix_trace_start(stream))
		return 2;
	say(to_outer, 'c');
	if (hear(to_inner) != 'c' || !is_alive(stream))
		return 3;
	say(to_outer, 'd');
	return hear(to_inner) == 'd' && posix_trace_shutdown(stream) == 0 ? 0 : 4;
}

static int enter_and_trace(void)
{
	int status;
	pid_t child;

	if (unshare(CLONE_NEWPID | CLONE_NEWNS) != 0)
		return 77;
	child = fork();
	if (child == 0)
		_exit(trace_inside());
	return waitpid(child, &status, 0) == child && WIFEXITED(status) ? WEXITSTATUS(status) : 5;
}

/* MODEL-6 EXIT-5 MULTI-4: the pids of another name space do not show which processes live. */
START_TEST(create_in_two_pid_name_spaces_leaves_each_its_streams)
{
	trace_id_t early = create(), late;
	int status;
	pid_t child;

	ok(posix_trace_start(early));
	ck_assert_int_eq(pipe2(to_inner, O_CLOEXEC) | pipe2(to_outer, O_CLOEXEC), 0);
	child = fork();
	if (child == 0) {
		close(to_inner[1]);
		close(to_outer[0]);
		_exit(enter_and_trace());
	}
	close(to_outer[1]);
	if (hear(to_outer) == 'c') {
		ck_assert(is_alive(early));
		late = create();
		ok(posix_trace_start(late));
		ck_assert(is_alive(late));
		say(to_inner, 'c');
		ck_assert_int_eq(hear(to_outer), 'd');
		say(to_inner, 'd');
		ck_assert_int_eq(waitpid(child, &status, 0), child);
		ck_assert_int_eq(status, 0);
		ck_assert(is_alive(late));
		ok(posix_trace_shutdown(late));
	} else {
		ck_assert_int_eq(waitpid(child, &status, 0), child);
		ck_assert(WIFEXITED(status));
		ck_assert_int_eq(WEXITSTATUS(status), 77);
		px_test_skip("no right to make a pid name space");
	}
	ck_assert(is_alive(early));
	ok(posix_trace_shutdown(early));
}
END_TEST

/* SHUT-5: another controller has taken the slot meanwhile, and keeps it. */
START_TEST(shutdown_of_a_stream_whose_slot_was_taken_leaves_the_taker_alone)
{
	struct px_registry *registry = px_registry_get();
	trace_id_t loser = create(), winner;
	uint32_t slot = 0;

	while (!registry->slot[slot].active ||
	       registry->slot[slot].controller.pid != (uint32_t)getpid())
		slot++;
	registry->slot[slot].controller.pid = 0x3FFFFF; /* as if the process were dead */
	winner = create();
	ok(posix_trace_start(winner));
	ok(posix_trace_shutdown(loser));
	ck_assert(is_alive(winner));
	ok(posix_trace_shutdown(winner));
}
END_TEST

/* Little memory, and unusual modes for new files. */

static unsigned long mapped_bytes(void)
{
	unsigned long pages = 0;
	FILE *file = fopen("/proc/self/statm", "r");

	ck_assert_ptr_nonnull(file);
	ck_assert_int_eq(fscanf(file, "%lu", &pages), 1);
	fclose(file);
	return pages * (unsigned long)sysconf(_SC_PAGESIZE);
}

static int count_segments(void)
{
	DIR *directory = opendir(getenv("TXTRACE_DIR"));
	struct dirent *file;
	int found = 0;

	ck_assert_ptr_nonnull(directory);
	while ((file = readdir(directory)))
		found += strncmp(file->d_name, "stream.", 7) == 0;
	closedir(directory);
	return found;
}

/* CREATE-6 CREATE-18: the mapping of the controller succeeds, but that for trace points fails. */
START_TEST(create_with_memory_for_one_of_two_mappings_is_enomem)
{
	const struct px_test_stream large = {.nr_rings = 1, .size = 16 << 20};
	unsigned long before = mapped_bytes(), size;
	int segments = count_segments();
	struct rlimit limit, tight;
	trace_attr_t attr;
	trace_id_t stream;

	if (getenv("PX_SANITIZED")) {
		px_test_skip("a sanitizer maps memory in its own way");
		return;
	}
	stream = px_test_create(&large);
	size = (mapped_bytes() - before) / 2;
	ok(posix_trace_shutdown(stream));
	ok(posix_trace_attr_init(&attr));
	ok(txtrace_attr_setrings(&attr, 1));
	ok(posix_trace_attr_setstreamsize(&attr, large.size));
	getrlimit(RLIMIT_AS, &limit);
	tight = limit;
	tight.rlim_cur = mapped_bytes() + size + size / 2;
	setrlimit(RLIMIT_AS, &tight);
	if (!px_test_is_memory_limited(2 * size)) {
		px_test_skip("no limit of memory");
		return;
	}
	stream = 42;
	fails(posix_trace_create(0, &attr, &stream), ENOMEM);
	setrlimit(RLIMIT_AS, &limit);
	ck_assert_uint_eq(stream, 42);
	ck_assert_int_eq(count_segments(), segments);
	ck_assert(!px_gate_is_open());
	stream = px_test_create(&large);
	ok(posix_trace_start(stream));
	ck_assert(is_alive(stream));
	ok(posix_trace_shutdown(stream));
}
END_TEST

/* Start a target that has no room for the stream.  The pipes: the stream exists; the target has traced. */
static pid_t begin_narrow_target(int exists[2], int done[2])
{
	struct rlimit tight;
	pid_t pid;
	char byte;

	ck_assert_int_eq(pipe(exists), 0);
	ck_assert_int_eq(pipe(done), 0);
	pid = fork();
	if (pid != 0) {
		close(done[1]); /* so a read() ends if the target does */
		done[1] = -1;
		return pid;
	}
	getrlimit(RLIMIT_AS, &tight);
	tight.rlim_cur = mapped_bytes() + (1 << 20);
	setrlimit(RLIMIT_AS, &tight);
	ck_assert_int_eq(read(exists[0], &byte, 1), 1);
	px_test_trace(type, 1);
	px_test_trace(type, 2);
	ck_assert_int_eq(write(done[1], "", 1), 1);
	pause();
	_exit(0);
}

static void end_target(pid_t pid)
{
	kill(pid, SIGKILL);
	waitpid(pid, NULL, 0);
}

/* A trace without events of a process must not look as if the process had done nothing. */
START_TEST(a_process_that_cannot_map_a_stream_is_told)
{
	struct px_registry_slot slot;
	struct txtrace_stream info;
	int exists[2], done[2];
	trace_attr_t attr;
	trace_id_t stream;
	uint32_t index;
	pid_t pid;
	char byte;

	if (getenv("PX_SANITIZED")) {
		px_test_skip("a sanitizer maps memory in its own way");
		return;
	}
	pid = begin_narrow_target(exists, done);
	ok(posix_trace_attr_init(&attr));
	ok(txtrace_attr_setrings(&attr, 1));
	ok(posix_trace_attr_setstreamsize(&attr, 16 << 20));
	ok(posix_trace_create(pid, &attr, &stream));
	ok(posix_trace_start(stream));
	ok(txtrace_get_stream(stream, &info));
	ck_assert_int_eq(info.absent, 0);
	ck_assert_int_eq(write(exists[1], "", 1), 1);
	ck_assert_int_eq(read(done[0], &byte, 1), 1);
	ok(txtrace_get_stream(stream, &info));
	if (info.absent == 0 && info.nr_events > 1) {
		px_test_skip("no limit of memory");
		end_target(pid);
		ok(posix_trace_shutdown(stream));
		return;
	}
	ck_assert_int_eq(info.absent, pid);
	ck_assert_int_eq(info.absent_error, ENOMEM);
	ck_assert_int_eq(info.absent_others, 0);

	/* Another one; and one that is late, and meant the stream that the slot had before. */
	index = (uint32_t)info.id;
	ck_assert(px_registry_read(index, &slot));
	px_registry_note_absent(index, slot.generation, 77, EMFILE);
	px_registry_note_absent(index, slot.generation - 1, 78, EACCES);
	ok(txtrace_get_stream(stream, &info));
	ck_assert_int_eq(info.absent, pid);
	ck_assert_int_eq(info.absent_error, ENOMEM);
	ck_assert_int_eq(info.absent_others, 1);
	end_target(pid);
	ok(posix_trace_shutdown(stream));
	px_registry_note_absent(index, slot.generation, 79, EACCES);
	stream = create();
	ok(txtrace_get_stream(stream, &info));
	ck_assert_uint_eq((uint32_t)info.id, index);
	ck_assert_int_eq(info.absent, 0);
	ok(posix_trace_shutdown(stream));
	close(exists[0]);
	close(exists[1]);
	close(done[0]);
}
END_TEST

/*
 * The library calls these functions.  They act like a kernel that undoes an allocation when a signal comes, while a
 * timer fires faster than an allocation ends.
 */
static int nr_allocated, nr_undone;

int posix_fallocate(int fd, off_t offset, off_t length)
{
	sigset_t blocked;

	nr_allocated++;
	pthread_sigmask(SIG_BLOCK, NULL, &blocked);
	if (!sigismember(&blocked, SIGALRM) && nr_undone < 10) {
		nr_undone++;
		return EINTR;
	}
	return fallocate(fd, 0, offset, length) == 0 ? 0 : errno;
}

/* CREATE-6 SIG-5 */
START_TEST(create_while_a_timer_fires_allocates_undisturbed)
{
	sigset_t before, after;
	trace_id_t stream;

	pthread_sigmask(SIG_BLOCK, NULL, &before);
	nr_allocated = nr_undone = 0;
	stream = create();
	pthread_sigmask(SIG_BLOCK, NULL, &after);
	ck_assert_int_eq(nr_allocated, 1);
	ck_assert_int_eq(nr_undone, 0);
	for (int i = 1; i < SIGRTMAX; i++)
		ck_assert_int_eq(sigismember(&before, i), sigismember(&after, i));
	ok(posix_trace_shutdown(stream));
}
END_TEST

/* In a directory that does not exist yet. */
static int trace_from_the_beginning(void)
{
	trace_id_t stream;

	if (posix_trace_eventid_open("begun", &type) || posix_trace_create(0, NULL, &stream) ||
	    posix_trace_start(stream) || !is_alive(stream))
		return 1;
	return posix_trace_shutdown(stream) ? 2 : 0;
}

/* Run this program again, as a user whom file modes restrict. */
static int run_self(const char *directory, const char *helper)
{
	static char name[] = "check_attach", option[] = "--helper";
	char *const arguments[] = {name, option, (char *)helper, NULL};
	int self = open("/proc/self/exe", O_PATH); /* an emulator reads it after the exec */
	pid_t child = fork();
	int status;

	if (child == 0) {
		if (geteuid() == 0 && setresuid(65534, 65534, 65534) != 0)
			_exit(10);
		setenv("TXTRACE_DIR", directory, 1);
		alarm(20);
		fexecve(self, arguments, environ);
		_exit(11);
	}
	close(self);
	ck_assert_int_eq(waitpid(child, &status, 0), child);
	ck_assert_msg(WIFEXITED(status), "ended by signal %d", WTERMSIG(status));
	return WEXITSTATUS(status);
}

/* CREATE-6: the umask of the process does not matter. */
START_TEST(create_under_any_umask_makes_what_it_can_use)
{
	const mode_t masks[] = {0, 0777, 0400, 0277};
	const char *directory = getenv("TXTRACE_DIR");

	ck_assert_int_eq(chmod(directory, 0777), 0);
	for (size_t i = 0; i < PX_ARRAY_SIZE(masks); i++) {
		mode_t before = umask(masks[i]);
		char path[300], file[330];
		int result;

		snprintf(path, sizeof(path), "%s/begun", directory);
		snprintf(file, sizeof(file), "%s/" PX_LAYOUT_REGISTRY, path);
		result = run_self(path, "begin");
		umask(before);
		unlink(file);
		rmdir(path);
		ck_assert_int_eq(result, 0);
	}
	chmod(directory, 0700);
}
END_TEST

static void die(void)
{
	kill(getpid(), SIGKILL);
}

/* SHUT-5 EXIT-5 */
START_TEST(shutdown_killed_anywhere_leaves_nothing_behind_the_next_create)
{
	static const char *const points[] = {"registry.notified", "process.detach.taken"};
	int segments = count_segments();
	pid_t child = fork();

	if (child == 0) {
		trace_id_t stream = create();

		act_at(points[_i], die);
		posix_trace_shutdown(stream);
		_exit(1);
	}
	ck_assert_int_eq(waitpid(child, NULL, 0), child);
	ok(posix_trace_shutdown(create()));
	ck_assert_int_eq(count_segments(), segments);
}
END_TEST

static int change_user_and_shut_down(void *unused)
{
	trace_id_t stream = create();

	(void)unused;
	if (geteuid() != 0 || setresuid(65534, 65534, 65534) != 0)
		return 77;
	if (posix_trace_start(stream) || !is_alive(stream) || posix_trace_shutdown(stream))
		return 1;
	return posix_trace_create(0, NULL, &stream) == EACCES ? 0 : 2;
}

/* CREATE-6 SHUT-5: a file that the library could not remove disappears later. */
START_TEST(shutdown_after_a_change_of_user_leaves_what_the_next_create_removes)
{
	int segments = count_segments();
	int result = px_test_in_child(change_user_and_shut_down, NULL);

	if (result == 77) {
		px_test_skip("no right to become another user");
		return;
	}
	ck_assert_int_eq(result, 0);
	ok(posix_trace_shutdown(create()));
	ck_assert_int_eq(count_segments(), segments);
}
END_TEST

static trace_id_t unused;

static void *try_to_create(void *nothing)
{
	walker_self = &first;
	posix_trace_create(0, NULL, &unused);
	return nothing;
}

/* In a directory that cannot be used: a thread is about to find this out, and the process forks. */
static int fork_while_beginning(void)
{
	pthread_t thread;
	int status;
	pid_t child;

	if (posix_trace_create(0, NULL, &unused) != ENOENT)
		return 1;
	first = (struct walker){.points = {"process.init.locked"}};
	sem_init(&first.arrived, 0, 0);
	sem_init(&first.released, 0, 0);
	__atomic_store_n(&px_testpoint_hook, at_point, __ATOMIC_RELEASE);
	pthread_create(&thread, NULL, try_to_create, NULL);
	await(&first);
	child = fork();
	if (child == 0) {
		alarm(5);
		_exit(posix_trace_create(0, NULL, &unused) == ENOENT ? 0 : 3);
	}
	return waitpid(child, &status, 0) == child && status == 0 ? 0 : 2;
}

/* FORK-8 */
START_TEST(fork_while_a_thread_looks_for_the_directory_leaves_the_child_able_to)
{
	ck_assert_int_eq(run_self("/nonexistent/directory", "fork"), 0);
}
END_TEST

static void tick(int unused_signal)
{
	(void)unused_signal;
}

/* A process that locks the stream list, and stops. */
static pid_t hold_the_lock(void)
{
	int ready[2];
	char path[310], byte;
	pid_t holder;

	snprintf(path, sizeof(path), "%s/" PX_LAYOUT_REGISTRY, getenv("TXTRACE_DIR"));
	ck_assert_int_eq(pipe(ready), 0);
	holder = fork();
	if (holder == 0) {
		struct flock whole = {.l_type = F_WRLCK, .l_whence = SEEK_SET};

		if (fcntl(open(path, O_RDWR), F_SETLK, &whole) == 0 && write(ready[1], "", 1) == 1)
			pause();
		_exit(1);
	}
	ck_assert_int_eq(read(ready[0], &byte, 1), 1);
	close(ready[0]);
	close(ready[1]);
	return holder;
}

/* CREATE-6: the process that holds the lock of the list is stopped.  Signals do not shorten the wait. */
START_TEST(create_behind_a_stopped_holder_of_the_lock_fails_in_time)
{
	const struct itimerval often = {{0, 300}, {0, 300}}, never = {{0, 0}, {0, 0}};
	pid_t holder = hold_the_lock();
	uint64_t begun;
	int result;

	signal(SIGALRM, tick);
	setitimer(ITIMER_REAL, &often, NULL);
	begun = monotonic_ns();
	result = posix_trace_create(0, NULL, &unused);
	begun = monotonic_ns() - begun;
	setitimer(ITIMER_REAL, &never, NULL);
	kill(holder, SIGKILL);
	waitpid(holder, NULL, 0);
	ck_assert_int_eq(result, ETIMEDOUT);
	ck_assert_uint_ge(begun, UINT64_C(4900000000));
	ck_assert_uint_le(begun, UINT64_C(8000000000));
	ok(posix_trace_shutdown(create()));
}
END_TEST

/* EXIT-1 EXIT-5: a process that stopped there delays the end of another one only for a short time */
START_TEST(exit_behind_a_stopped_holder_of_the_lock_ends_all_streams_soon)
{
	int segments = count_segments();
	pid_t holder, child;
	uint64_t begun;
	int status;

	child = fork();
	if (child == 0) {
		for (int i = 0; i < 8; i++)
			create();
		raise(SIGSTOP);
		exit(0);
	}
	ck_assert_int_eq(waitpid(child, &status, WUNTRACED), child);
	ck_assert(WIFSTOPPED(status));
	ck_assert_int_eq(count_segments(), segments + 8);
	holder = hold_the_lock();
	begun = monotonic_ns();
	kill(child, SIGCONT);
	ck_assert_int_eq(waitpid(child, &status, 0), child);
	begun = monotonic_ns() - begun;
	kill(holder, SIGKILL);
	waitpid(holder, NULL, 0);
	ck_assert_int_eq(status, 0);
	ck_assert_uint_le(begun, UINT64_C(5000000000));
	ck_assert_int_eq(count_segments(), segments);
}
END_TEST

static int to_parent[2], from_parent[2];

/* Return true if the number is in the first event after START. */
static bool has_begun_with(trace_id_t stream, uint32_t number)
{
	struct posix_trace_event_info info;
	uint32_t data[256] = {0};
	size_t length;
	int none = 1;

	for (int i = 0; i < 2; i++)
		if (posix_trace_trygetnext_event(stream, &info, data, sizeof(data), &length,
						 &none) != 0 ||
		    none)
			return false;
	return info.posix_event_id == type && data[0] == number;
}

static int trace_the_parent(void)
{
	trace_id_t stream;
	bool found;
	char byte;

	if (posix_trace_create(getppid(), NULL, &stream) != 0 || posix_trace_start(stream) != 0 ||
	    write(to_parent[1], "", 1) != 1 || read(from_parent[0], &byte, 1) != 1)
		return 3;
	found = has_begun_with(stream, 47);
	return posix_trace_shutdown(stream) == 0 && found ? 0 : 4;
}

/*
 * Trace that process, while another process traces this one.  Make no Check assertions, so that a helper can call it.
 */
static int be_traced_tracing(pid_t target)
{
	int status = 5;
	trace_id_t stream;
	pid_t child;
	char byte;

	if (posix_trace_create(target, NULL, &stream) != 0 || pipe(to_parent) != 0 ||
	    pipe(from_parent) != 0)
		return 2;
	child = fork();
	if (child == 0)
		_exit(trace_the_parent());
	close(to_parent[1]);
	if (read(to_parent[0], &byte, 1) == 1) {
		px_test_trace(type, 47);
		if (write(from_parent[1], "", 1) != 1)
			abort();
	}
	waitpid(child, &status, 0);
	return posix_trace_shutdown(stream) == 0 ? WEXITSTATUS(status) : 6;
}

/* CREATE-1 CREATE-8: a target that is also a controller has the names of its own targets, next to its own names. */
START_TEST(create_for_a_controller_traces_it)
{
	char byte;
	int ready[2];
	pid_t child;

	ck_assert_int_eq(pipe(ready), 0);
	child = fork();
	if (child == 0) {
		if (posix_trace_eventid_open("the child's", &type) == 0 &&
		    write(ready[1], "", 1) == 1)
			pause();
		_exit(1);
	}
	ck_assert_int_eq(read(ready[0], &byte, 1), 1);
	setup();
	ck_assert_int_eq(be_traced_tracing(child), 0);
	kill(child, SIGKILL);
	waitpid(child, NULL, 0);
}
END_TEST

/* In another program, which has another table: the child has the table that it had before. */
static int trace_own_child(void)
{
	const char *child = getenv("CHILD");
	int result;

	if (!child || posix_trace_eventid_open("attached", &type) != 0)
		return 1;
	result = be_traced_tracing(atoi(child));
	kill(atoi(child), SIGKILL);
	return result;
}

static int become_another_program(void *argument)
{
	char text[20];
	pid_t child;

	(void)argument;
	if (posix_trace_eventid_open("before", &type) != 0)
		return 1;
	child = fork();
	if (child == 0)
		for (;;)
			pause();
	snprintf(text, sizeof(text), "%d", (int)child);
	setenv("CHILD", text, 1);
	execl("/proc/self/exe", "check_attach", "--helper", "exec", NULL);
	return 1;
}

/* CREATE-1 EXEC-2 */
START_TEST(create_for_a_controller_of_who_has_its_former_names_traces_it)
{
	ck_assert_int_eq(px_test_in_child(become_another_program, NULL), 0);
}
END_TEST

static int help(const char *helper)
{
	if (strcmp(helper, "fork") == 0)
		return fork_while_beginning();
	if (strcmp(helper, "begin") == 0)
		return trace_from_the_beginning();
	if (strcmp(helper, "exec") == 0)
		return trace_own_child();
	return 8;
}

static Suite *make_suite(void)
{
	Suite *suite = suite_create("attach");
	TCase *races = tcase_create("races");
	TCase *owners = tcase_create("owners");
	TCase *places = tcase_create("places");
	TCase *others = tcase_create("others");

	tcase_add_checked_fixture(races, setup, teardown);
	tcase_set_timeout(races, 30);
	tcase_add_test(races,
		       attach_of_a_stream_that_ended_meanwhile_leaves_its_successor_attached);
	tcase_add_test(races, detach_by_a_sleeper_leaves_the_next_stream_attached);
	tcase_add_test(races, attach_by_a_sleeper_counts_at_once);
	tcase_add_test(races, attach_behind_a_thread_that_could_not_keeps_the_gate_open);
	tcase_add_test(races,
		       attach_by_many_threads_of_many_streams_none_misses_its_creators_event);
	tcase_add_test(races, attach_of_a_slot_that_became_anothers_is_given_up);
	tcase_add_test(races, open_of_a_type_while_a_stream_is_attached_makes_it_known);
	tcase_add_test(races, fork_while_a_type_is_opened_child_lists_it_once);
	suite_add_tcase(suite, races);
	tcase_add_checked_fixture(owners, setup, teardown);
	tcase_set_timeout(owners, 30);
	tcase_add_test(owners, create_in_two_pid_name_spaces_leaves_each_its_streams);
	tcase_add_test(owners, shutdown_of_a_stream_whose_slot_was_taken_leaves_the_taker_alone);
	suite_add_tcase(suite, owners);
	tcase_add_checked_fixture(places, setup, teardown);
	tcase_set_timeout(places, 30);
	tcase_add_test(places, create_with_memory_for_one_of_two_mappings_is_enomem);
	tcase_add_test(places, a_process_that_cannot_map_a_stream_is_told);
	tcase_add_loop_test(places, shutdown_killed_anywhere_leaves_nothing_behind_the_next_create,
			    0, 2);
	tcase_add_test(places, shutdown_after_a_change_of_user_leaves_what_the_next_create_removes);
	tcase_add_test(places, create_while_a_timer_fires_allocates_undisturbed);
	tcase_add_test(places,
		       fork_while_a_thread_looks_for_the_directory_leaves_the_child_able_to);
	tcase_add_test(places, create_behind_a_stopped_holder_of_the_lock_fails_in_time);
	tcase_add_test(places, exit_behind_a_stopped_holder_of_the_lock_ends_all_streams_soon);
	tcase_add_test(places, create_under_any_umask_makes_what_it_can_use);
	suite_add_tcase(suite, places);
	tcase_add_checked_fixture(others, NULL, teardown);
	tcase_add_test(others, create_for_a_controller_traces_it);
	tcase_add_test(others, create_for_a_controller_of_who_has_its_former_names_traces_it);
	suite_add_tcase(suite, others);
	return suite;
}

/* A helper has no memory of Check, because it would have to free it. */
int main(int argc, char **argv)
{
	return argc == 3 ? help(argv[2]) : run_suite(make_suite());
}
