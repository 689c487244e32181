/* SPDX-License-Identifier: MIT */
/*
 * posix_trace_create(), posix_trace_shutdown(), posix_trace_get_attr(): how many events a stream holds, and what
 * remains after it.
 */
#include "config.h"

#include "support/common.h"

#include <dirent.h>
#include <fcntl.h>
#include <sched.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/socket.h>
#include <sys/sysmacros.h>
#include <sys/un.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <trace.h>
#include <trace_ext.h>
#include <unistd.h>

#include "base/compiler.h"
#include "base/layout.h"
#include "registry/registry.h"
#include "ring/cpuring.h"

#define PATH_BYTES 300
#define SKIPPED 77

static trace_event_id_t type;

/* Count the files in the directory of segments. */

static const char *segment_directory(void)
{
	static char path[PATH_BYTES];
	const char *asked = getenv("TXTRACE_DIR");

	snprintf(path, sizeof(path), "/dev/shm/posixtrace-%u", (unsigned int)geteuid());
	return asked && *asked ? asked : path;
}

/* Count the files whose names begin with this prefix; return -1 if there is no directory. */
static int count_files(const char *path, const char *prefix)
{
	DIR *directory = opendir(path);
	struct dirent *file;
	int count = 0;

	if (!directory)
		return -1;
	while ((file = readdir(directory)))
		count += file->d_name[0] != '.' &&
			 strncmp(file->d_name, prefix, strlen(prefix)) == 0;
	closedir(directory);
	return count;
}

static int count_segments(void)
{
	return count_files(segment_directory(), "stream.");
}

static trace_id_t create_one_ring(void)
{
	return px_test_create(&(struct px_test_stream){.nr_rings = 1});
}

static trace_id_t create_running(void)
{
	trace_id_t stream = create_one_ring();

	ok(posix_trace_start(stream));
	return stream;
}

static void setup(void)
{
	ok(posix_trace_eventid_open("created", &type));
	/* posix_trace_create() also removes the files that a failed test has left. */
	ok(posix_trace_shutdown(create_one_ring()));
}

/*
 * Return true if the stream records and reports events.  It makes no Check assertions, so that helpers and exit
 * handlers may call it.
 */
static bool is_alive(trace_id_t stream, uint32_t number)
{
	struct posix_trace_event_info info;
	uint32_t found = ~number;
	int unavailable;
	size_t length;

	px_test_trace(type, number);
	for (;;) {
		if (posix_trace_trygetnext_event(stream, &info, &found, sizeof(found), &length,
						 &unavailable) ||
		    unavailable)
			return false;
		if (info.posix_event_id == type && found == number)
			return true;
	}
}

/*
 * Return the exit code of a child, or 128 plus the number of the signal that ended it.  It makes no Check assertions,
 * because children call it.
 */
static int exit_code_of(pid_t child)
{
	int status;

	if (waitpid(child, &status, 0) != child)
		return 255;
	return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

/* posix_trace_create() */

/* CREATE-1 CREATE-2 */
START_TEST(create_for_pid_0_and_own_pid_traces_the_caller)
{
	const pid_t pids[] = {0, getpid()};

	for (size_t i = 0; i < PX_ARRAY_SIZE(pids); i++) {
		struct px_test_event event;
		trace_id_t stream;

		ok(posix_trace_create(pids[i], NULL, &stream));
		ok(posix_trace_start(stream));
		px_test_expect(stream, POSIX_TRACE_START, &event);
		px_test_trace(type, 5);
		px_test_expect(stream, type, &event);
		ck_assert_uint_eq(px_test_number(&event), 5);
		ck_assert_int_eq(event.info.posix_pid, getpid());
		ok(posix_trace_shutdown(stream));
	}
}
END_TEST

/* CREATE-4 MODEL-13 GETFILT-1 */
START_TEST(create_new_stream_is_suspended_unfiltered_and_empty)
{
	trace_id_t stream = create_one_ring();
	struct posix_trace_status_info status = px_test_status(stream);
	trace_event_set_t filter, none;
	struct px_test_event event;

	ck_assert_int_eq(status.posix_stream_status, POSIX_TRACE_SUSPENDED);
	ck_assert_int_eq(status.posix_stream_full_status, POSIX_TRACE_NOT_FULL);
	ck_assert_int_eq(status.posix_stream_overrun_status, POSIX_TRACE_NO_OVERRUN);
	ck_assert_int_eq(status.posix_stream_flush_status, POSIX_TRACE_NOT_FLUSHING);
	ck_assert_int_eq(status.posix_stream_flush_error, 0);
	ck_assert_int_eq(status.posix_log_overrun_status, POSIX_TRACE_NO_OVERRUN);
	ck_assert_int_eq(status.posix_log_full_status, POSIX_TRACE_NOT_FULL);
	memset(&filter, 0xff, sizeof(filter));
	ok(posix_trace_get_filter(stream, &filter));
	ok(posix_trace_eventset_empty(&none));
	ck_assert_mem_eq(&filter, &none, sizeof(none));
	px_test_trace(type, 1); /* the stream does not run, so it does not record this */
	px_test_expect(stream, 0, &event);
}
END_TEST

static uint64_t creation_ns(trace_id_t stream)
{
	struct timespec created;
	trace_attr_t attr;

	ok(posix_trace_get_attr(stream, &attr));
	ok(posix_trace_attr_getcreatetime(&attr, &created));
	return px_test_ns(created);
}

/* CREATE-5 CRTIME-1 */
START_TEST(create_time_is_between_realtime_before_and_after)
{
	struct timespec before, after;
	trace_id_t stream;
	uint64_t created;

	clock_gettime(CLOCK_REALTIME, &before);
	stream = create_one_ring();
	clock_gettime(CLOCK_REALTIME, &after);
	created = creation_ns(stream);
	ck_assert_uint_ge(created, px_test_ns(before));
	ck_assert_uint_le(created, px_test_ns(after));
}
END_TEST

/* CREATE-7 EVOPEN-6 */
START_TEST(create_knows_types_that_were_opened_before)
{
	trace_id_t stream = create_one_ring();
	char name[TRACE_EVENT_NAME_MAX + 1];
	trace_event_id_t id;
	int found = 0, end;

	ok(posix_trace_eventid_get_name(stream, type, name));
	ck_assert_str_eq(name, "created");
	for (;;) {
		ok(posix_trace_eventtypelist_getnext_id(stream, &id, &end));
		if (end)
			break;
		found += id == type;
	}
	ck_assert_int_eq(found, 1);
}
END_TEST

/* CREATE-8 MODEL-7 MODEL-2 */
START_TEST(create_again_and_again_streams_are_independent)
{
	struct px_test_event event;
	trace_id_t stream[5];

	for (size_t i = 0; i < PX_ARRAY_SIZE(stream); i++) {
		stream[i] = create_one_ring();
		for (size_t k = 0; k < i; k++)
			ck_assert_uint_ne(stream[i], stream[k]);
		if (i != 2)
			ok(posix_trace_start(stream[i]));
	}
	ok(posix_trace_shutdown(stream[3]));
	px_test_trace(type, 9);
	for (size_t i = 0; i < PX_ARRAY_SIZE(stream); i++) {
		if (i == 3)
			continue;
		if (i != 2) {
			px_test_expect(stream[i], POSIX_TRACE_START, &event);
			px_test_expect(stream[i], type, &event);
			ck_assert_uint_eq(px_test_number(&event), 9);
		}
		px_test_expect(stream[i], 0, &event);
	}
}
END_TEST

/* Attributes with which no stream can be created. */

static void make_flush(trace_attr_t *attr)
{
	ok(posix_trace_attr_init(attr));
	ok(posix_trace_attr_setstreamfullpolicy(attr, POSIX_TRACE_FLUSH));
}

static void make_destroyed(trace_attr_t *attr)
{
	ok(posix_trace_attr_init(attr));
	ok(posix_trace_attr_destroy(attr));
}

static void make_zero(trace_attr_t *attr)
{
	memset(attr, 0, sizeof(*attr));
}

static void make_garbage(trace_attr_t *attr)
{
	memset(attr, 0xa5, sizeof(*attr));
}

static void make_too_large(trace_attr_t *attr)
{
	ok(posix_trace_attr_init(attr));
	ok(posix_trace_attr_setstreamsize(attr, SIZE_MAX));
}

static void make_much_too_large(trace_attr_t *attr)
{
	ok(posix_trace_attr_init(attr));
	ok(posix_trace_attr_setstreamsize(attr, SIZE_MAX >> 24 << (sizeof(size_t) > 4 ? 0 : 23)));
}

static const struct {
	void (*make)(trace_attr_t *attr);
	pid_t pid;
	int error;
} refused[] = {
	{make_flush, 0, EINVAL},   {make_destroyed, 0, EINVAL}, {make_zero, 0, EINVAL},
	{make_garbage, 0, EINVAL}, {make_too_large, 0, ENOMEM}, {make_much_too_large, 0, ENOMEM},
	{NULL, -1, EINVAL}, /* CREATE-17: no "all processes" */
	{NULL, -12345, EINVAL},
};

/* CREATE-11 CREATE-12 CREATE-17 CREATE-18 FLUSHP-3 SETSFP-4 DESTROY-3 SETSS-2 GEN-11 */
START_TEST(create_bad_argument_is_refused_and_leaves_nothing)
{
	trace_id_t stream, before = create_one_ring();
	int segments = count_segments();
	trace_attr_t attr;

	stream = 12345;
	if (refused[_i].make)
		refused[_i].make(&attr);
	fails(posix_trace_create(refused[_i].pid, refused[_i].make ? &attr : NULL, &stream),
	      refused[_i].error);
	ck_assert_uint_eq(stream, 12345);
	ck_assert_int_eq(count_segments(), segments);
	stream = create_one_ring();
	/* Return the next place of the table: the failed call has used no place. */
	ck_assert_uint_eq(stream & 0xff, (before & 0xff) + 1);
}
END_TEST

/* CREATE-11 */
START_TEST(create_null_identifier_is_refused)
{
	int segments = count_segments();

	fails(posix_trace_create(0, NULL, NULL), EINVAL);
	ck_assert_int_eq(count_segments(), segments);
}
END_TEST

/* GEN-2 GEN-1 */
START_TEST(create_and_shutdown_leave_errno_alone)
{
	trace_id_t stream;

	errno = 77;
	ok(posix_trace_create(0, NULL, &stream));
	ck_assert_int_eq(errno, 77);
	ok(posix_trace_shutdown(stream));
	ck_assert_int_eq(errno, 77);
	fails(posix_trace_shutdown(stream), EINVAL);
	ck_assert_int_eq(errno, 77);
}
END_TEST

static int create_result, shutdown_result;

static void create_cancelled(void)
{
	trace_attr_t attr;
	trace_id_t stream;

	create_result = posix_trace_create(0, NULL, &stream);
	create_result |= posix_trace_get_attr(stream, &attr);
	shutdown_result = posix_trace_shutdown(stream);
}

/* GEN-7 GEN-5 */
START_TEST(create_and_shutdown_with_cancellation_pending_are_done_in_full)
{
	int segments = count_segments();

	create_result = shutdown_result = -1;
	px_test_with_cancellation_pending(create_cancelled);
	ck_assert_int_eq(create_result, 0);
	ck_assert_int_eq(shutdown_result, 0);
	ck_assert_int_eq(count_segments(), segments);
}
END_TEST

/* Leave only this many free descriptors. */
static void leave_descriptors(int count)
{
	struct rlimit limit;
	int fd;

	getrlimit(RLIMIT_NOFILE, &limit);
	limit.rlim_cur = limit.rlim_max;
	ck_assert_int_eq(setrlimit(RLIMIT_NOFILE, &limit), 0);
	/* Lower the limit to the lowest free descriptor.  Open descriptors above it stay open. */
	fd = open("/dev/null", O_RDONLY | O_CLOEXEC);
	ck_assert_int_ge(fd, 0);
	close(fd);
	limit.rlim_cur = (rlim_t)(fd + count);
	ck_assert_int_eq(setrlimit(RLIMIT_NOFILE, &limit), 0);
}

/* CREATE-18 FD-4 EXIT-5: if a process cannot read /proc, it regards no process as dead. */
START_TEST(create_without_descriptors_fails_and_other_streams_go_on)
{
	trace_id_t first = create_running(), second = 12345;
	int segments = count_segments();

	leave_descriptors(_i);
	fails(posix_trace_create(0, NULL, &second), EMFILE);
	ck_assert_uint_eq(second, 12345);
	leave_descriptors(20);
	ck_assert_int_eq(count_segments(), segments);
	ck_assert(is_alive(first, 3));
	ok(posix_trace_create(0, NULL, &second));
	ck_assert(is_alive(first, 4));
}
END_TEST

static int count_lines_of_maps(void)
{
	FILE *maps = fopen("/proc/self/maps", "r");
	int count = 0, c;

	ck_assert_ptr_nonnull(maps);
	while ((c = getc(maps)) != EOF)
		count += c == '\n';
	fclose(maps);
	return count;
}

/*
 * SHUT-3 CREATE-8: the library releases all resources, except the reserved address range, which is one contiguous
 * block.
 */
START_TEST(create_and_shutdown_a_thousand_times_leaks_nothing)
{
	int files, descriptors, mappings;

	ok(posix_trace_shutdown(create_running()));
	files = count_files(segment_directory(), "");
	descriptors = count_files("/proc/self/fd", "");
	mappings = count_lines_of_maps();
	for (int i = 0; i < 1000; i++) {
		trace_id_t stream = create_running();

		px_test_trace(type, 1);
		ok(posix_trace_shutdown(stream));
	}
	ck_assert_int_eq(count_files(segment_directory(), ""), files);
	ck_assert_int_eq(count_files("/proc/self/fd", ""), descriptors);
	ck_assert_int_le(count_lines_of_maps(), mappings + 40); /* the C library allocates its arenas */
}
END_TEST

/* TRACE_SYS_MAX streams. */

static trace_id_t streams[TRACE_SYS_MAX];

static void create_all(int count)
{
	for (int i = 0; i < count; i++)
		streams[i] = create_one_ring();
}

/* CREATE-9 CREATE-18 MODEL-7 LIM-1 */
START_TEST(create_65th_stream_is_refused_until_one_is_shut_down)
{
	trace_id_t one_more = 12345;

	create_all(TRACE_SYS_MAX);
	for (int i = 0; i < 3; i++)
		fails(posix_trace_create(0, NULL, &one_more), EAGAIN);
	ck_assert_uint_eq(one_more, 12345);
	ck_assert_int_eq(count_segments(), TRACE_SYS_MAX);
	for (int i = 0; i < TRACE_SYS_MAX; i++)
		ok(posix_trace_start(streams[i]));
	for (int i = 0; i < TRACE_SYS_MAX; i++)
		ck_assert(is_alive(streams[i], (uint32_t)i));
	ok(posix_trace_shutdown(streams[17]));
	ok(posix_trace_create(0, NULL, &one_more));
	fails(posix_trace_create(0, NULL, &streams[17]), EAGAIN);
}
END_TEST

/* Make a child that creates this many streams and then waits. */
static pid_t fork_controller(int count)
{
	int ready[2];
	pid_t child;
	char byte;

	ck_assert_int_eq(pipe(ready), 0);
	child = fork();
	ck_assert_int_ge(child, 0);
	if (child == 0) {
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		for (int i = 0; i < count; i++)
			if (posix_trace_create(0, NULL, &streams[i]))
				_exit(1);
		if (write(ready[1], "", 1) == 1)
			pause();
		_exit(2);
	}
	close(ready[1]);
	ck_assert_int_eq(read(ready[0], &byte, 1), 1);
	close(ready[0]);
	return child;
}

/* CREATE-9 MULTI-4: the limit counts the streams of all processes of the user. */
START_TEST(create_limit_counts_other_processes)
{
	trace_id_t one_more;
	pid_t child[4];

	for (int i = 0; i < 4; i++)
		child[i] = fork_controller(TRACE_SYS_MAX / 4 - 1);
	create_all(4);
	fails(posix_trace_create(0, NULL, &one_more), EAGAIN);
	kill(child[2], SIGKILL);
	waitpid(child[2], NULL, 0);
	for (int i = 0; i < TRACE_SYS_MAX / 4 - 1; i++)
		ok(posix_trace_create(0, NULL, &streams[i]));
	fails(posix_trace_create(0, NULL, &one_more), EAGAIN);
	for (int i = 0; i < 4; i++)
		kill(child[i], SIGKILL);
}
END_TEST

/* EXIT-5 EXIT-1 MODEL-6; a killed controller counts as dead even if its parent has not yet waited for it */
START_TEST(create_takes_slots_and_segments_of_killed_controllers)
{
	pid_t child = fork_controller(TRACE_SYS_MAX);
	trace_id_t one_more;
	siginfo_t info;

	fails(posix_trace_create(0, NULL, &one_more), EAGAIN);
	kill(child, SIGKILL);
	ck_assert_int_eq(waitid(P_PID, (id_t)child, &info, WEXITED | WNOWAIT), 0);
	if (_i)
		waitpid(child, NULL, 0);
	ck_assert_int_eq(count_segments(), TRACE_SYS_MAX);
	create_all(1);
	ck_assert_int_eq(count_segments(), 1);
	ck_assert_int_eq(count_files(segment_directory(), "") - count_files(segment_directory(), "names."),
			 2); /* and the registry */
	ok(posix_trace_start(streams[0]));
	ck_assert(is_alive(streams[0], 1));
}
END_TEST

/* MODEL-6 EXEC-4: after exec, a process is no controller any more, whether the new program uses the library or not. */
START_TEST(create_takes_slots_of_controllers_that_became_another_program)
{
	static char *const sleeping[] = {(char *)"sleep", (char *)"60", NULL};
	static char *const helping[] = {(char *)"check_create", (char *)"--helper", (char *)"sleep",
					NULL};
	int ready[2];
	pid_t child;
	char byte;

	ck_assert_int_eq(pipe2(ready, O_CLOEXEC), 0);
	child = fork();
	if (child == 0) {
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		create_all(TRACE_SYS_MAX);
		execvp(_i ? "sleep" : "/proc/self/exe", _i ? sleeping : helping);
		_exit(1);
	}
	close(ready[1]);
	ck_assert_int_eq(read(ready[0], &byte, 1), 0); /* exec has closed it */
	while (_i == 0 && count_segments() > 0)
		sleep_ms(1);
	create_all(1);
	ck_assert_int_eq(count_segments(), 1);
	kill(child, SIGKILL);
}
END_TEST

/* EXIT-5: pids come again. */
START_TEST(create_takes_slots_of_dead_controllers_whose_pids_came_again)
{
	struct px_registry *registry = px_registry_get();
	pid_t child = fork_controller(TRACE_SYS_MAX);
	trace_id_t one_more;

	/* Change the registry so that the stream belongs to an earlier process with this pid. */
	for (int i = 0; i < TRACE_SYS_MAX; i++)
		registry->slot[i].controller.start--;
	ok(posix_trace_create(0, NULL, &one_more));
	ck_assert_int_eq(count_segments(), 1);
	kill(child, SIGKILL);
}
END_TEST

/* posix_trace_shutdown() */

/* SHUT-3 SHUT-4 SHUT-5 SHUT-7 UNREAD-1 */
START_TEST(shutdown_running_stream_with_unread_events_frees_everything)
{
	int segments = count_segments();
	trace_id_t stream = create_running();

	for (uint32_t i = 0; i < 5000; i++) /* the stream overwrites the oldest of them */
		px_test_trace(type, i);
	ck_assert_int_eq(count_segments(), segments + 1);
	ok(posix_trace_shutdown(stream));
	ck_assert_int_eq(count_segments(), segments);
	fails(posix_trace_shutdown(stream), EINVAL);
	ck_assert_ptr_null(px_test_accepting(stream));
	px_test_trace(type, 1); /* goes nowhere */
}
END_TEST

/* KIND-3 SHUT-5: this also holds after the place was used again, any number of times */
START_TEST(shutdown_identifier_is_refused_for_ever)
{
	trace_id_t stale = create_one_ring();

	ok(posix_trace_shutdown(stale));
	for (int i = 0; i < 300; i++) {
		trace_id_t stream = create_one_ring();

		ck_assert_uint_ne(stream, stale);
		ck_assert_ptr_null(px_test_accepting(stale));
		ok(posix_trace_shutdown(stream));
		ck_assert_ptr_null(px_test_accepting(stream));
	}
}
END_TEST

/* SHUT-7 GETATTR-3 KIND-3 GEN-10 */
START_TEST(every_function_refuses_every_bad_identifier)
{
	trace_id_t bad[PX_TEST_BAD_TRIDS];

	px_test_bad_trids(bad);
	for (size_t i = 0; i < PX_TEST_BAD_TRIDS; i++) {
		const char *accepting = px_test_accepting(bad[i]);

		ck_assert_msg(!accepting, "%#lx is taken by %s", bad[i], accepting);
	}
}
END_TEST

static trace_id_t shared_stream;
static pthread_barrier_t barrier;

static void *shut_down(void *result)
{
	pthread_barrier_wait(&barrier);
	*(int *)result = posix_trace_shutdown(shared_stream);
	return NULL;
}

/* SHUT-9 */
START_TEST(shutdown_by_several_threads_at_once_succeeds_in_one)
{
	enum { THREADS = 4 };

	pthread_barrier_init(&barrier, NULL, THREADS);
	for (int round = 0; round < 50; round++) {
		int result[THREADS], successes = 0;
		pthread_t thread[THREADS];

		shared_stream = create_running();
		for (int i = 0; i < THREADS; i++)
			pthread_create(&thread[i], NULL, shut_down, &result[i]);
		for (int i = 0; i < THREADS; i++)
			pthread_join(thread[i], NULL);
		for (int i = 0; i < THREADS; i++) {
			ck_assert(result[i] == 0 || result[i] == EINVAL);
			successes += result[i] == 0;
		}
		ck_assert_int_eq(successes, 1);
	}
}
END_TEST

struct sleeper {
	pthread_t thread;
	pid_t tid;
	bool is_timed;
	int result, unavailable;
	sem_t started;
};

static void *wait_for_event(void *argument)
{
	struct sleeper *self = argument;
	struct posix_trace_event_info info;
	struct timespec remote = {INT32_MAX, 0};
	size_t length;

	self->tid = gettid();
	sem_post(&self->started);
	self->unavailable = 55;
	if (self->is_timed)
		self->result = posix_trace_timedgetnext_event(shared_stream, &info, NULL, 0,
							      &length, &self->unavailable, &remote);
	else
		self->result = posix_trace_getnext_event(shared_stream, &info, NULL, 0, &length,
							 &self->unavailable);
	return NULL;
}

/* SHUT-6 SHUT-3 GETNEXT-11 TIMED-6 */
START_TEST(shutdown_wakes_all_sleeping_readers_with_einval)
{
	static struct sleeper sleepers[6];

	shared_stream = create_one_ring();
	for (size_t i = 0; i < PX_ARRAY_SIZE(sleepers); i++) {
		sleepers[i].is_timed = i & 1;
		sem_init(&sleepers[i].started, 0, 0);
		pthread_create(&sleepers[i].thread, NULL, wait_for_event, &sleepers[i]);
		sem_wait(&sleepers[i].started);
		px_test_wait_asleep(sleepers[i].tid);
	}
	ok(posix_trace_shutdown(shared_stream));
	for (size_t i = 0; i < PX_ARRAY_SIZE(sleepers); i++) {
		pthread_join(sleepers[i].thread, NULL);
		ck_assert_int_eq(sleepers[i].result, EINVAL);
		ck_assert_int_eq(sleepers[i].unavailable, 55); /* GETNEXT-15 */
	}
}
END_TEST

static bool finished;

static void *record_until_finished(void *unused)
{
	for (uint32_t i = 0; !__atomic_load_n(&finished, __ATOMIC_RELAXED); i++)
		px_test_trace(type, i);
	return unused;
}

/* SHUT-10 SHUT-4 */
START_TEST(shutdown_while_threads_record_harms_nobody)
{
	pthread_t thread[3];
	trace_id_t stays = create_running();

	for (size_t i = 0; i < PX_ARRAY_SIZE(thread); i++)
		pthread_create(&thread[i], NULL, record_until_finished, NULL);
	for (int i = 0; i < 300; i++) {
		trace_id_t stream = create_running();
		struct px_test_event event;

		px_test_take(stream, &event);
		ok(posix_trace_shutdown(stream));
	}
	__atomic_store_n(&finished, true, __ATOMIC_RELAXED);
	for (size_t i = 0; i < PX_ARRAY_SIZE(thread); i++)
		pthread_join(thread[i], NULL);
	ck_assert(is_alive(stays, 0x12345678));
}
END_TEST

/* Stream identifiers in a forked child. */

static int use_identifier(void *argument)
{
	const char *accepting = px_test_accepting(*(trace_id_t *)argument);

	if (accepting)
		printf("a child can %s\n", accepting);
	return accepting ? 1 : 0;
}

/* KIND-1 CREATE-15 SHUT-12 MODEL-6 */
START_TEST(identifier_in_child_is_refused_and_the_stream_goes_on)
{
	trace_id_t stream = create_running();

	ck_assert_int_eq(px_test_in_child(use_identifier, &stream), 0);
	ck_assert(is_alive(stream, 6));
}
END_TEST

/* Make a child that creates streams in the same places as its parent, and one more. */
static int use_identifiers_beside_own(void *argument)
{
	trace_id_t *of_parent = argument;
	trace_id_t own[3];

	for (int i = 0; i < 3; i++)
		if (posix_trace_create(0, NULL, &own[i]))
			return 2;
	for (int i = 0; i < 2; i++)
		if (px_test_accepting(of_parent[i]))
			return 3;
	return posix_trace_start(own[0]) || !is_alive(own[0], 7) ? 4 : 0;
}

/* KIND-1 KIND-3 */
START_TEST(identifier_in_child_with_own_streams_is_refused)
{
	trace_id_t of_parent[2] = {create_running(), create_running()};

	ck_assert_int_eq(px_test_in_child(use_identifiers_beside_own, of_parent), 0);
	ck_assert(is_alive(of_parent[0], 6));
	ck_assert(is_alive(of_parent[1], 7));
}
END_TEST

/* The first process of a new pid name space creates a stream in it with this pid. */
static int fork_with_pid(pid_t pid, trace_id_t stream)
{
	int fd = open("/proc/sys/kernel/ns_last_pid", O_WRONLY | O_CLOEXEC);
	pid_t child;

	if (fd < 0 || dprintf(fd, "%d", (int)pid - 1) < 0)
		return SKIPPED;
	child = fork();
	if (child == 0) {
		if (getpid() != pid)
			_exit(SKIPPED);
		if (use_identifier(&stream))
			_exit(1);
		exit(0); /* then what this library does */
	}
	return exit_code_of(child);
}

static int use_identifier_with_creators_pid(void *argument)
{
	pid_t creator = getppid(), child;

	if (unshare(CLONE_NEWPID) != 0)
		return SKIPPED;
	child = fork();
	if (child == 0)
		_exit(fork_with_pid(creator, *(trace_id_t *)argument));
	return exit_code_of(child);
}

/* KIND-1 FORK-6: a pid alone is no proof of identity, because each name space counts from 1. */
START_TEST(identifier_in_descendant_with_the_pid_of_its_creator_is_refused)
{
	trace_id_t stream = create_running();
	int result = px_test_in_child(use_identifier_with_creators_pid, &stream);

	if (result == SKIPPED) {
		px_test_skip("no right to make a pid name space, or to choose a pid in it");
		return;
	}
	ck_assert_int_eq(result, 0);
	ck_assert(is_alive(stream, 8));
}
END_TEST

/* posix_trace_get_attr() */

/* GETATTR-1 GETATTR-2 ATTR-2 CREATE-3 GETSFP-2 */
START_TEST(get_attr_of_default_stream_has_the_defaults)
{
	trace_attr_t defaults, attr;
	struct timespec a, b;
	char version[TRACE_NAME_MAX], name[TRACE_NAME_MAX];
	size_t size, asked;
	trace_id_t stream;
	unsigned int rings;
	int value;

	ok(posix_trace_create(0, NULL, &stream));
	ok(posix_trace_attr_init(&defaults));
	ok(posix_trace_get_attr(stream, &attr));
	ok(posix_trace_attr_getstreamfullpolicy(&attr, &value));
	ck_assert_int_eq(value, POSIX_TRACE_LOOP);
	ok(posix_trace_attr_getinherited(&attr, &value));
	ck_assert_int_eq(value, POSIX_TRACE_CLOSE_FOR_CHILD);
	ok(posix_trace_attr_getname(&attr, name));
	ck_assert_str_eq(name, "");
	ok(posix_trace_attr_getgenversion(&attr, version));
	ok(posix_trace_attr_getgenversion(&defaults, name));
	ck_assert_str_eq(version, name);
	ok(posix_trace_attr_getclockres(&attr, &a));
	ok(posix_trace_attr_getclockres(&defaults, &b));
	ck_assert_uint_eq(px_test_ns(a), px_test_ns(b));
	ok(posix_trace_attr_getmaxdatasize(&attr, &size));
	ok(posix_trace_attr_getmaxdatasize(&defaults, &asked));
	ck_assert_uint_eq(size, asked);
	ok(posix_trace_attr_getstreamsize(&attr, &size));
	ok(posix_trace_attr_getstreamsize(&defaults, &asked));
	ck_assert_uint_ge(size, asked);
	ok(txtrace_attr_getrings(&attr, &rings));
	/* One ring for each CPU; and one shared ring, if CPUs write without locks. */
	ck_assert_uint_eq(rings,
			  (unsigned int)sysconf(_SC_NPROCESSORS_CONF) + px_test_has_cpu_rings());
	ok(posix_trace_attr_destroy(&attr)); /* DESTROY-4 */
}
END_TEST

static void make_special(trace_attr_t *attr)
{
	ok(posix_trace_attr_init(attr));
	ok(posix_trace_attr_setname(attr, "special"));
	ok(posix_trace_attr_setstreamfullpolicy(attr, POSIX_TRACE_UNTIL_FULL));
	ok(posix_trace_attr_setinherited(attr, POSIX_TRACE_INHERITED));
	ok(posix_trace_attr_setmaxdatasize(attr, 1000));
	ok(posix_trace_attr_setstreamsize(attr, 20000));
	ok(txtrace_attr_setrings(attr, 3));
}

static void expect_special(trace_id_t stream)
{
	char name[TRACE_NAME_MAX];
	unsigned int rings;
	trace_attr_t attr;
	size_t size;
	int value;

	memset(&attr, 0xa5, sizeof(attr)); /* GETATTR-4: no initialised object */
	ok(posix_trace_get_attr(stream, &attr));
	ok(posix_trace_attr_getname(&attr, name));
	ck_assert_str_eq(name, "special");
	ok(posix_trace_attr_getstreamfullpolicy(&attr, &value));
	ck_assert_int_eq(value, POSIX_TRACE_UNTIL_FULL);
	ok(posix_trace_attr_getinherited(&attr, &value));
	ck_assert_int_eq(value, POSIX_TRACE_INHERITED);
	ok(posix_trace_attr_getmaxdatasize(&attr, &size));
	ck_assert_uint_eq(size, 1000);
	ok(posix_trace_attr_getstreamsize(&attr, &size));
	ck_assert_uint_ge(size, 20000);
	ok(txtrace_attr_getrings(&attr, &rings));
	ck_assert_uint_eq(rings, 3);
}

/* GETATTR-1 GETATTR-2 GETATTR-4 ATTR-1 ATTR-3 DESTROY-1 GETSFP-1 */
START_TEST(get_attr_has_what_was_set_whatever_became_of_the_object)
{
	trace_id_t first, second;
	trace_attr_t attr;

	make_special(&attr);
	ok(posix_trace_create(0, &attr, &first));
	ok(posix_trace_create(0, &attr, &second));
	ok(posix_trace_attr_setname(&attr, "changed"));
	ok(posix_trace_attr_setmaxdatasize(&attr, 1));
	expect_special(first);
	ok(posix_trace_attr_destroy(&attr));
	memset(&attr, 0, sizeof(attr));
	expect_special(first);
	ok(posix_trace_shutdown(first));
	expect_special(second);
}
END_TEST

/*
 * GETATTR-5 GETSS-2 SETSS-1 SETMDS-4 ATTR-3: with the reported attributes, posix_trace_create() makes a stream of the
 * same size.
 */
START_TEST(get_attr_sizes_in_use_make_the_same_stream_again)
{
	static const struct {
		size_t size, max_data;
	} wanted[] = {{0, 0},	   {1, 16},	  {1, 100000},	     {5000, 256},
		      {65536, 48}, {65537, 1000}, {1 << 20, 1 << 20}};
	size_t first, second, event;
	trace_id_t stream, again;
	trace_attr_t attr, like;

	ok(posix_trace_attr_init(&attr));
	ok(posix_trace_attr_setstreamsize(&attr, wanted[_i].size));
	ok(posix_trace_attr_setmaxdatasize(&attr, wanted[_i].max_data));
	ok(txtrace_attr_setrings(&attr, 2));
	ok(posix_trace_create(0, &attr, &stream));
	ok(posix_trace_get_attr(stream, &like));
	ok(posix_trace_attr_getstreamsize(&like, &first));
	ck_assert_uint_ge(first, wanted[_i].size);
	ok(posix_trace_attr_getmaxusereventsize(&like, SIZE_MAX, &event));
	ck_assert_uint_ge(first, event);
	ok(posix_trace_create(0, &like, &again));
	ok(posix_trace_get_attr(again, &attr));
	ok(posix_trace_attr_getstreamsize(&attr, &second));
	ck_assert_uint_eq(first, second);
	ck_assert_uint_ge(creation_ns(again), creation_ns(stream));
}
END_TEST

/* GETATTR-3 GEN-11 */
START_TEST(get_attr_bad_argument_is_refused_and_writes_nothing)
{
	trace_id_t bad[PX_TEST_BAD_TRIDS];
	trace_attr_t attr, before;

	px_test_bad_trids(bad);
	memset(&attr, 0x5a, sizeof(attr));
	before = attr;
	for (size_t i = 0; i < PX_TEST_BAD_TRIDS; i++)
		fails(posix_trace_get_attr(bad[i], &attr), EINVAL);
	ck_assert_mem_eq(&attr, &before, sizeof(attr));
	fails(posix_trace_get_attr(create_one_ring(), NULL), EINVAL);
}
END_TEST

/* How many events a stream holds. */

#define EVENTS_MAX 140000
#define DATA_MAX (1 << 20)

/* The events of one round: which thread writes them, and how long they are. */
static struct {
	size_t length[EVENTS_MAX];
	unsigned char writer[EVENTS_MAX];
	size_t nr;
	int nr_writers;
} plan;

enum mix { EMPTY, ONE_SLOT, JUST_TWO, LARGEST, ALTERNATING, ANY, NR_MIXES };

static size_t length_of(enum mix mix, size_t max_data, uint64_t *seed)
{
	switch (mix) {
	case EMPTY:
		return 0;
	case ONE_SLOT:
		return max_data < 16 ? max_data : 16;
	case JUST_TWO:
		return max_data < 17 ? max_data : 17;
	case LARGEST:
		return max_data;
	case ALTERNATING:
		return plan.nr % 2 ? max_data : 0;
	default:
		return next_random(seed) % (max_data + 1);
	}
}

/*
 * Plan as many events as the guaranteed stream size allows, including START.  Compute their sizes only as an
 * application can.
 */
static void make_plan(const trace_attr_t *attr, enum mix mix, int nr_writers, uint64_t *seed)
{
	size_t left, size, max_data;

	ok(posix_trace_attr_getstreamsize(attr, &left));
	ok(posix_trace_attr_getmaxdatasize(attr, &max_data));
	ok(posix_trace_attr_getmaxsystemeventsize(attr, &size));
	ck_assert_uint_ge(left, size);
	left -= size;
	plan.nr = 0;
	plan.nr_writers = nr_writers;
	for (;;) {
		size_t length = length_of(mix, max_data, seed);

		ok(posix_trace_attr_getmaxusereventsize(attr, length, &size));
		if (size > left) { /* then the events that still fit */
			length = 0;
			ok(posix_trace_attr_getmaxusereventsize(attr, length, &size));
		}
		if (size > left)
			break;
		ck_assert_uint_lt(plan.nr, EVENTS_MAX);
		left -= size;
		plan.length[plan.nr] = length;
		plan.writer[plan.nr++] = (unsigned char)(next_random(seed) % (uint64_t)nr_writers);
	}
}

static pthread_t writers[8];

static void *write_part(void *argument)
{
	int self = (int)(intptr_t)argument;
	unsigned char *data = malloc(DATA_MAX);

	pthread_barrier_wait(&barrier);
	for (size_t i = 0; i < plan.nr; i++) {
		if (plan.writer[i] != self)
			continue;
		px_test_fill(data, plan.length[i], (uint32_t)i);
		posix_trace_event(type, data, plan.length[i]);
	}
	free(data);
	return NULL;
}

static void write_plan(void)
{
	pthread_barrier_init(&barrier, NULL, (unsigned int)plan.nr_writers);
	for (int i = 1; i < plan.nr_writers; i++)
		pthread_create(&writers[i], NULL, write_part, (void *)(intptr_t)i);
	writers[0] = pthread_self();
	write_part(NULL);
	for (int i = 1; i < plan.nr_writers; i++)
		pthread_join(writers[i], NULL);
	pthread_barrier_destroy(&barrier);
}

static int writer_of(pthread_t thread)
{
	for (int i = 0; i < plan.nr_writers; i++)
		if (pthread_equal(writers[i], thread))
			return i;
	return -1;
}

/* Return the next event in the plan that this writer records. */
static size_t next_planned(size_t from, int writer)
{
	while (from < plan.nr && plan.writer[from] != writer)
		from++;
	return from;
}

/* Expect each event of the plan, complete, and in its writer's order. */
static void read_plan(trace_id_t stream)
{
	static unsigned char data[DATA_MAX];
	size_t at[PX_ARRAY_SIZE(writers)] = {0};
	struct posix_trace_event_info info;
	size_t length;
	int unavailable;

	for (size_t read = 0; read < plan.nr;) {
		int writer;

		ok(posix_trace_trygetnext_event(stream, &info, data, sizeof(data), &length,
						&unavailable));
		ck_assert_msg(!unavailable, "event %zu of %zu is missing", read, plan.nr);
		if (info.posix_event_id == POSIX_TRACE_START && read == 0)
			continue;
		ck_assert_uint_eq(info.posix_event_id, type);
		writer = writer_of(info.posix_thread_id);
		ck_assert_int_ge(writer, 0);
		at[writer] = next_planned(at[writer], writer);
		ck_assert_uint_lt(at[writer], plan.nr);
		ck_assert_uint_eq(length, plan.length[at[writer]]);
		ck_assert(px_test_is_filled(data, length, (uint32_t)at[writer]));
		ck_assert_int_eq(info.posix_truncation_status, POSIX_TRACE_NOT_TRUNCATED);
		at[writer]++;
		read++;
	}
}

static const struct {
	size_t size, max_data;
	unsigned int nr_rings;
	int nr_writers;
} sizings[] = {
	{1, 0, 1, 1},	      {1, 16, 1, 1},	   {1, 256, 1, 1},	{1, 5000, 1, 1},
	{4096, 256, 1, 1},    {65536, 256, 1, 1},  {65536, 256, 0, 1},	{200000, 17, 1, 1},
	{1, 65536, 1, 1},     {1, DATA_MAX, 1, 1}, {4096, 256, 1, 4},	{65536, 256, 1, 4},
	{65536, 256, 0, 4},   {65536, 256, 7, 8},  {65536, 0, 0, 4},	{200000, 17, 0, 4},
	{100000, 5000, 0, 4}, {1, 65536, 0, 4},	   {60000, 5000, 1, 1},
};
#define SIZING_LONG (PX_ARRAY_SIZE(sizings) - 1)

static trace_id_t create_sized(size_t i, int policy)
{
	trace_id_t stream;
	trace_attr_t attr;

	ok(posix_trace_attr_init(&attr));
	ok(posix_trace_attr_setstreamfullpolicy(&attr, policy));
	ok(posix_trace_attr_setstreamsize(&attr, sizings[i].size));
	ok(posix_trace_attr_setmaxdatasize(&attr, sizings[i].max_data));
	ok(txtrace_attr_setrings(&attr, sizings[i].nr_rings));
	ok(posix_trace_create(0, &attr, &stream));
	return stream;
}

static void expect_no_loss(trace_id_t stream)
{
	struct posix_trace_status_info status = px_test_status(stream);
	struct txtrace_loss loss;

	ck_assert_int_eq(status.posix_stream_status, POSIX_TRACE_RUNNING);
	ck_assert_int_eq(status.posix_stream_overrun_status, POSIX_TRACE_NO_OVERRUN);
	ok(txtrace_get_loss(stream, &loss));
	ck_assert_uint_eq(loss.dropped + loss.overwritten + loss.abandoned, 0);
}

static void fill_to_the_guarantee(size_t i, int policy, enum mix mix, uint64_t *seed)
{
	trace_id_t stream = create_sized(i, policy);
	trace_attr_t attr;

	ok(posix_trace_get_attr(stream, &attr));
	make_plan(&attr, mix, sizings[i].nr_writers, seed);
	ok(posix_trace_start(stream));
	write_plan();
	expect_no_loss(stream);
	read_plan(stream);
	expect_no_loss(stream);
	ok(posix_trace_shutdown(stream));
}

/* ATTR-4 ATTR-5 MAXUSR-1 MAXSYS-3 GETSS-1 UFULL-9 CREATE-6 */
START_TEST(sizing_events_that_add_up_to_the_size_are_all_recorded)
{
	uint64_t seed = test_seed();

	for (enum mix mix = 0; mix < NR_MIXES; mix++) {
		fill_to_the_guarantee((size_t)_i, POSIX_TRACE_UNTIL_FULL, mix, &seed);
		fill_to_the_guarantee((size_t)_i, POSIX_TRACE_LOOP, mix, &seed);
	}
}
END_TEST

static trace_id_t sized_stream;
static trace_event_set_t nothing;

static void set_filter_inside(void)
{
	if (posix_trace_set_filter(sized_stream, &nothing, POSIX_TRACE_SET_EVENTSET))
		abort();
}

static void on_signal(int number)
{
	(void)number;
	set_filter_inside();
}

/*
 * Call it as a signal handler would run.  Without the kernel's signal frame, the interrupted event would count as left
 * (frames.h).
 */
static void set_filter_in_a_handler(void)
{
	if (signal(SIGUSR1, on_signal) == SIG_ERR || raise(SIGUSR1) != 0)
		abort();
}

/* Record events of maximum length, and leave room for this many calls. */
static void plan_with_calls(size_t calls)
{
	uint64_t seed = test_seed();
	size_t size, room = 0;
	trace_attr_t attr;

	ok(posix_trace_get_attr(sized_stream, &attr));
	make_plan(&attr, LARGEST, 1, &seed);
	ok(posix_trace_attr_getmaxsystemeventsize(&attr, &size));
	while (room < calls * size) {
		size_t event;

		plan.nr--;
		ok(posix_trace_attr_getmaxusereventsize(&attr, plan.length[plan.nr], &event));
		room += event;
	}
}

/* ATTR-4 ATTR-5 MAXSYS-1: with FILTER events, even if the call interrupts a user event. */
START_TEST(sizing_guarantee_holds_with_control_calls_among_events)
{
	const size_t calls = 5;

#if defined __SANITIZE_THREAD__
	if (_i == 1) {
		px_test_skip("ThreadSanitizer calls handlers without the kernel's signal frame");
		return;
	}
#endif
	ok(posix_trace_eventset_empty(&nothing));
	sized_stream = create_sized(SIZING_LONG, POSIX_TRACE_UNTIL_FULL);
	plan_with_calls(calls);
	ok(posix_trace_start(sized_stream));
	ck_assert_uint_gt(plan.nr, calls);
	for (size_t i = 0; i < plan.nr; i++) {
		unsigned char data[5000];

		if (i < calls && _i == 0)
			set_filter_inside();
		if (i < calls && _i == 1)
			px_test_in_handler_at_point("ring.claim.done", set_filter_in_a_handler);
		px_test_fill(data, plan.length[i], (uint32_t)i);
		posix_trace_event(type, data, plan.length[i]);
	}
	expect_no_loss(sized_stream);
}
END_TEST

/*
 * Tests of the end of the process.  This program executes itself; each name stands for what the new program does and
 * for its exit code.
 */

static pid_t run_self(const char *helper, const char *directory)
{
	pid_t child = fork();

	ck_assert_int_ge(child, 0);
	if (child == 0) {
		setenv("TXTRACE_DIR", directory, 1);
		execl("/proc/self/exe", "check_create", "--helper", helper, NULL);
		_exit(126);
	}
	return child;
}

static trace_id_t last_stream;
static bool at_exit_checks, at_destruction_checks;

static void expect_alive_at_the_end(void)
{
	if (at_exit_checks && !is_alive(last_stream, 91))
		_exit(3);
}

/* A destructor of this program.  Those of the library must run later. */
__attribute__((destructor)) static void expect_alive_at_destruction(void)
{
	if (at_destruction_checks && !is_alive(last_stream, 92))
		_exit(4);
}

static int make_last_stream(void)
{
	trace_attr_t attr;

	return posix_trace_attr_init(&attr) || txtrace_attr_setrings(&attr, 1) ||
	       posix_trace_create(0, &attr, &last_stream) || posix_trace_start(last_stream);
}

static int help_return(void)
{
	return make_last_stream();
}

static int help_exit_in_thread_with_reader_asleep(void)
{
	static struct sleeper sleeper;

	if (make_last_stream())
		return 1;
	shared_stream = last_stream;
	is_alive(last_stream, 1);
	sem_init(&sleeper.started, 0, 0);
	pthread_create(&sleeper.thread, NULL, wait_for_event, &sleeper);
	sem_wait(&sleeper.started);
	sleep_ms(20); /* or the thread is about to sleep, which must do no harm either */
	exit(0);
}

/* A hook of stdio. exit() flushes streams after all destructors, so other threads now run without the library. */
static ssize_t write_at_the_end(void *cookie, const char *text, size_t size)
{
	(void)cookie;
	(void)text;
	sleep_ms(500);
	return (ssize_t)size;
}

/* No waiting or trying call may end this program; only its own exit() does. */
static void *read_until_exit(void *which)
{
	struct posix_trace_event_info info;
	const struct timespec remote = {INT32_MAX, 0};
	int error = 0, unavailable = 1;
	size_t length;

	switch (*(char *)which) {
	case 'b':
		error = posix_trace_getnext_event(last_stream, &info, NULL, 0, &length,
						  &unavailable);
		break;
	case 't':
		error = posix_trace_timedgetnext_event(last_stream, &info, NULL, 0, &length,
						       &unavailable, &remote);
		break;
	case 'r':
		while (error == 0 && unavailable)
			error = posix_trace_trygetnext_event(last_stream, &info, NULL, 0, &length,
							     &unavailable);
		break;
	default:
		while (error == 0)
			error = posix_trace_flush(last_stream);
	}
	_exit(error ? 5 : 6);
}

static int help_exit_beside(const char *which)
{
	static const cookie_io_functions_t functions = {.write = write_at_the_end};
	FILE *last = fopencookie(NULL, "w", functions);
	struct posix_trace_event_info info;
	FILE *log = tmpfile();
	int unavailable = 0;
	pthread_t thread;
	size_t length;

	if (!last || !log || fputs("the end", last) < 0 ||
	    (*which == 'f' ? posix_trace_create_withlog(0, NULL, fileno(log), &last_stream) ||
				     posix_trace_start(last_stream) :
			     make_last_stream()))
		return 1;
	while (*which != 'f' && !unavailable)
		posix_trace_trygetnext_event(last_stream, &info, NULL, 0, &length, &unavailable);
	pthread_create(&thread, NULL, read_until_exit, (void *)(uintptr_t)which);
	sleep_ms(20);
	exit(0);
}

static int help_exit_beside_getnext(void)
{
	return help_exit_beside("b");
}

static int help_exit_beside_timedgetnext(void)
{
	return help_exit_beside("t");
}

static int help_exit_beside_trygetnext(void)
{
	return help_exit_beside("r");
}

static int help_exit_beside_flush(void)
{
	return help_exit_beside("f");
}

static int help_sleep(void)
{
	pause();
	return 1;
}

static int help_atexit(void)
{
	atexit(expect_alive_at_the_end);
	at_exit_checks = true;
	return make_last_stream();
}

static int help_destructor(void)
{
	at_destruction_checks = true;
	return make_last_stream();
}

/* EXIT-1 SHUT-11 MODEL-6 */
START_TEST(exit_leaves_no_segment)
{
	static const char *const helpers[] = {"return", "exit-asleep"};
	int segments = count_segments();

	ck_assert_int_eq(exit_code_of(run_self(helpers[_i], segment_directory())), 0);
	ck_assert_int_eq(count_segments(), segments);
}
END_TEST

/* EXIT-1 GETNEXT-11: the other threads go on waiting, or find no event, until the process ends. */
START_TEST(exit_keeps_its_status_beside_readers)
{
	static const char *const helpers[] = {"exit-getnext", "exit-timedgetnext",
					      "exit-trygetnext", "exit-flush"};

	ck_assert_int_eq(exit_code_of(run_self(helpers[_i], segment_directory())), 0);
}
END_TEST

/* EXIT-8 */
START_TEST(exit_events_in_atexit_handlers_are_recorded)
{
	ck_assert_int_eq(exit_code_of(run_self("atexit", segment_directory())), 0);
}
END_TEST

/* EXIT-8 */
START_TEST(exit_events_in_destructors_of_the_program_are_recorded)
{
	ck_assert_int_eq(exit_code_of(run_self("destructor", segment_directory())), 0);
}
END_TEST

static int exit_at_once(void *unused)
{
	(void)unused;
	exit(0);
}

/* FORK-6 EXIT-1: only the exit of the creator ends the stream */
START_TEST(exit_of_child_leaves_the_stream)
{
	trace_id_t stream = create_running();

	ck_assert_int_eq(px_test_in_child(exit_at_once, NULL), 0);
	ck_assert_int_eq(count_segments(), 1);
	ck_assert(is_alive(stream, 1));
}
END_TEST

/* Directories. */

static char directory[PATH_BYTES], inside[PATH_BYTES + 20];

static void remove_directory(void)
{
	char command[2 * PATH_BYTES + 40];

	snprintf(command, sizeof(command), "rm -rf '%s' '%s.aside'", directory, directory);
	ck_assert_int_eq(system(command), 0);
}

static void make_directory(void)
{
	setup();
	snprintf(directory, sizeof(directory), "%.*s/own", PATH_BYTES - 40, segment_directory());
	remove_directory();
	ck_assert_int_eq(mkdir(directory, 0700), 0);
}

/* Return the path of a file in this directory. */
static const char *in_directory(const char *name)
{
	snprintf(inside, sizeof(inside), "%s/%s", directory, name);
	return inside;
}

static void make_file(const char *path, mode_t mode)
{
	int fd = open(path, O_CREAT | O_EXCL | O_WRONLY | O_CLOEXEC, 0600);

	ck_assert_int_ge(fd, 0);
	ck_assert_int_eq(fchmod(fd, mode), 0);
	close(fd);
}

static void plant_nothing(void)
{
	ck_assert_int_eq(rmdir(directory), 0);
}

static void plant_symlink_to_directory(void)
{
	char aside[PATH_BYTES + 20];

	snprintf(aside, sizeof(aside), "%s.aside", directory);
	ck_assert_int_eq(rename(directory, aside), 0);
	ck_assert_int_eq(symlink(aside, directory), 0);
}

static void plant_open_mode(void)
{
	ck_assert_int_eq(chmod(directory, 0755), 0);
}

static void plant_group_mode(void)
{
	ck_assert_int_eq(chmod(directory, 0720), 0);
}

static void plant_file_as_directory(void)
{
	ck_assert_int_eq(rmdir(directory), 0);
	make_file(directory, 0600);
}

static void plant_other_owner(void)
{
	ck_assert_int_eq(chown(directory, 1000, 1000), 0);
}

static void plant_registry_symlink(void)
{
	make_file(in_directory("victim"), 0600);
	ck_assert_int_eq(symlink("victim", in_directory(PX_LAYOUT_REGISTRY)), 0);
}

static void plant_registry_open_mode(void)
{
	make_file(in_directory(PX_LAYOUT_REGISTRY), 0644);
}

static void plant_registry_directory(void)
{
	ck_assert_int_eq(mkdir(in_directory(PX_LAYOUT_REGISTRY), 0700), 0);
}

static void plant_registry_fifo(void)
{
	ck_assert_int_eq(mkfifo(in_directory(PX_LAYOUT_REGISTRY), 0600), 0);
}

static void plant_registry_socket(void)
{
	struct sockaddr_un address = {.sun_family = AF_UNIX};
	int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);

	snprintf(address.sun_path, sizeof(address.sun_path), "%.100s", in_directory(PX_LAYOUT_REGISTRY));
	ck_assert_int_eq(bind(fd, (struct sockaddr *)&address, sizeof(address)), 0);
	ck_assert_int_eq(chmod(address.sun_path, 0600), 0);
	close(fd);
}

/* A process could map it like a file, but other processes would not see the written data. */
static void plant_registry_device(void)
{
	ck_assert_int_eq(mknod(in_directory(PX_LAYOUT_REGISTRY), S_IFCHR | 0600, makedev(1, 5)), 0);
}

static void plant_long_registry(void)
{
	make_file(in_directory(PX_LAYOUT_REGISTRY), 0600);
	ck_assert_int_eq(truncate(in_directory(PX_LAYOUT_REGISTRY), sizeof(struct px_registry) + 1), 0);
}

static void plant_short_registry(void)
{
	make_file(in_directory(PX_LAYOUT_REGISTRY), 0600);
	ck_assert_int_eq(truncate(in_directory(PX_LAYOUT_REGISTRY), 100), 0);
}

static void plant_registry_of_another_program(void)
{
	FILE *file;

	make_file(in_directory(PX_LAYOUT_REGISTRY), 0600);
	file = fopen(in_directory(PX_LAYOUT_REGISTRY), "w");
	ck_assert_ptr_nonnull(file);
	for (size_t i = 0; i < 2 * sizeof(struct px_registry); i++)
		putc('x', file);
	fclose(file);
}

/* A library of another layout has another registry, and other segments, in the same directory. */
static void plant_other_layout(void)
{
	make_file(in_directory("registry"), 0600);
	make_file(in_directory("registry.1"), 0600);
	ck_assert_int_eq(truncate(in_directory("registry.1"), 100000), 0);
	make_file(in_directory("stream.0.1"), 0600);
	make_file(in_directory("stream.1.0.1"), 0600);
	make_file(in_directory("log.1.0.1"), 0600);
	make_file(in_directory("maps.1.0.1.7"), 0600);
	make_file(in_directory("names.1.7.1"), 0600);
}

static void plant_segment_file(void)
{
	make_file(in_directory(PX_LAYOUT_PREFIX("stream") "0.1"), 0600);
}

static void plant_segment_symlink(void)
{
	make_file(in_directory("victim"), 0600);
	ck_assert_int_eq(symlink("victim", in_directory(PX_LAYOUT_PREFIX("stream") "0.1")), 0);
}

static void plant_segment_directory(void)
{
	ck_assert_int_eq(mkdir(in_directory(PX_LAYOUT_PREFIX("stream") "0.1"), 0700), 0);
}

static const struct {
	const char *name;
	void (*plant)(void);
	int error;
	int left; /* number of files; -1: there is no directory */
} plants[] = {
	{"nothing", plant_nothing, 0, 1}, /* the registry */
	{"symlink for the directory", plant_symlink_to_directory, EACCES, 0},
	{"directory for all", plant_open_mode, EACCES, 0},
	{"directory for the group", plant_group_mode, EACCES, 0},
	{"file for the directory", plant_file_as_directory, EACCES, -1},
	{"directory of another user", plant_other_owner, EACCES, 0},
	{"symlink for the registry", plant_registry_symlink, EACCES, 2},
	{"registry for all", plant_registry_open_mode, EACCES, 1},
	{"directory for the registry", plant_registry_directory, EACCES, 1},
	{"fifo for the registry", plant_registry_fifo, EACCES, 1},
	{"socket for the registry", plant_registry_socket, EACCES, 1},
	{"device for the registry", plant_registry_device, EACCES, 1},
	{"longer registry", plant_long_registry, EACCES, 1},
	{"shorter registry", plant_short_registry, 0, 1}, /* like a file that is being created */
	{"registry of another program", plant_registry_of_another_program, EACCES, 1},
	{"files of another layout", plant_other_layout, 0, 8},
	{"file for the segment", plant_segment_file, 0, 1}, /* the library regards it as the leftover of a crash */
	{"symlink for the segment", plant_segment_symlink, 0, 2},
	{"directory for the segment", plant_segment_directory, EEXIST, 2},
};

static int help_create(void)
{
	trace_id_t stream;
	int error = posix_trace_create(0, NULL, &stream);

	if (error)
		return error;
	return posix_trace_start(stream) || !is_alive(stream, 4) ? 111 : 0;
}

/* CREATE-18 GEN-9: the library refuses a directory with wrong properties, and puts no file into it. */
START_TEST(create_in_planted_directory_is_refused_or_harms_nothing)
{
	struct stat status;
	int result;

	if ((plants[_i].plant == plant_other_owner || plants[_i].plant == plant_registry_device) &&
	    geteuid() != 0) {
		px_test_skip("needs root, to plant a file of another user");
		return;
	}
	plants[_i].plant();
	result = exit_code_of(run_self("create", directory));
	ck_assert_msg(result == plants[_i].error, "with a %s: %d", plants[_i].name, result);
	ck_assert_int_eq(count_files(directory, ""), plants[_i].left);
	if (stat(in_directory("victim"), &status) == 0)
		ck_assert_int_eq(status.st_size, 0);
}
END_TEST

/* CREATE-18: the library creates a missing directory, and gives access only to this user. */
START_TEST(create_makes_the_directory_private)
{
	struct stat status;

	plant_nothing();
	umask(0);
	ck_assert_int_eq(exit_code_of(run_self("create", directory)), 0);
	ck_assert_int_eq(stat(directory, &status), 0);
	ck_assert_uint_eq(status.st_mode & 07777, 0700);
	ck_assert_int_eq(stat(in_directory(PX_LAYOUT_REGISTRY), &status), 0);
	ck_assert_uint_eq(status.st_mode & 07777, 0600);
}
END_TEST

/* CREATE-12: no other error, and no crash. */
START_TEST(create_in_directory_with_long_name_fails)
{
	char name[1000];

	memset(name, 'd', sizeof(name) - 1);
	memcpy(name, "/dev/shm/", 9);
	name[sizeof(name) - 1] = '\0';
	ck_assert_int_eq(exit_code_of(run_self("create", name)), ENAMETOOLONG);
}
END_TEST

/* CREATE-12 CREATE-18: RLIMIT_FSIZE is an error like other limits, and must not kill the application. */
START_TEST(create_with_file_size_limit_fails_and_the_process_lives)
{
	struct rlimit limit = {4096, 4096};
	int result;
	pid_t child;

	if (_i == 0) /* the registry exists, or the call must create it */
		ck_assert_int_eq(exit_code_of(run_self("create", directory)), 0);
	child = fork();
	if (child == 0) {
		setrlimit(RLIMIT_FSIZE, &limit);
		_exit(exit_code_of(run_self("create", directory)));
	}
	result = exit_code_of(child);
	ck_assert_int_eq(result, ENOMEM);
	ck_assert_int_eq(count_files(directory, "stream."), 0);
}
END_TEST

/* Tests on a full file system. */

/* Run the helper with a file system of this size as its directory.  SKIPPED if this process may not mount one. */
static int run_in_file_system(const char *helper, const char *options)
{
	pid_t child = fork();

	ck_assert_int_ge(child, 0);
	if (child == 0) {
		if (unshare(CLONE_NEWNS) != 0 ||
		    mount("none", "/", NULL, MS_REC | MS_PRIVATE, NULL) != 0 ||
		    mount("none", directory, "tmpfs", 0, options) != 0)
			_exit(SKIPPED);
		_exit(exit_code_of(run_self(helper, directory)));
	}
	return exit_code_of(child);
}

static void expect_in_file_system(const char *test, const char *helper, const char *options,
				  int expected)
{
	int result = run_in_file_system(helper, options);

	if (result == SKIPPED)
		px_test_skip_in(test, "no right to mount a file system");
	else
		ck_assert_int_eq(result, expected);
}

static int help_expect_nomem(void)
{
	trace_id_t stream;

	for (int i = 0; i < 3; i++)
		if (posix_trace_create(0, NULL, &stream) != ENOMEM)
			return 1;
	return count_segments() == 0 ? 0 : 2;
}

static int help_fewer_rings(void)
{
	trace_id_t stream;
	trace_attr_t attr;
	unsigned int rings;

	if (posix_trace_attr_init(&attr) || txtrace_attr_setrings(&attr, 64) ||
	    posix_trace_create(0, &attr, &stream) || posix_trace_get_attr(stream, &attr) ||
	    txtrace_attr_getrings(&attr, &rings))
		return 1;
	if (rings < 1 || rings > 16)
		return 2;
	if (posix_trace_start(stream) || !is_alive(stream, 4))
		return 3;
	return count_segments() == 1 && !posix_trace_shutdown(stream) && count_segments() == 0 ? 0 :
												 4;
}

/* Fill the file system.  To free the space, remove the file. */
static void fill_file_system(const char *path)
{
	static const char zeros[4096];
	int fd = open(path, O_CREAT | O_WRONLY | O_CLOEXEC, 0600);

	while (write(fd, zeros, sizeof(zeros)) > 0)
		;
	close(fd);
}

static int help_fill_after_create(void)
{
	char path[PATH_BYTES];

	if (make_last_stream())
		return 1;
	snprintf(path, sizeof(path), "%.*s/filler", PATH_BYTES - 40, segment_directory());
	fill_file_system(path);
	for (uint32_t i = 0; i < 5000; i++)
		px_test_trace(type, i);
	return is_alive(last_stream, 5001) ? 0 : 2;
}

static int help_fail_and_recover(void)
{
	char path[PATH_BYTES];
	trace_id_t stream;

	snprintf(path, sizeof(path), "%.*s/filler", PATH_BYTES - 40, segment_directory());
	fill_file_system(path);
	for (int i = 0; i < 2 * TRACE_SYS_MAX; i++)
		if (posix_trace_create(0, NULL, &stream) != ENOMEM)
			return 1;
	unlink(path);
	/* Only the registry and the name table of this process are left. */
	if (count_files(segment_directory(), "") - count_files(segment_directory(), "names.") != 1)
		return 2;
	return posix_trace_create(0, NULL, &stream) || posix_trace_start(stream) ||
			       !is_alive(stream, 4) ?
		       3 :
		       0;
}

/* CREATE-12 CREATE-18 */
START_TEST(create_in_full_file_system_is_enomem_and_leaves_nothing)
{
	expect_in_file_system(__func__, "expect-nomem", "size=64k,mode=0700", 0);
}
END_TEST

/* CREATE-12: there is not even room for the registry */
START_TEST(create_in_file_system_without_room_for_the_registry_is_enomem)
{
	expect_in_file_system(__func__, "expect-nomem", "size=4k,mode=0700", 0);
}
END_TEST

/* CREATE-12 CREATE-18: no more files */
START_TEST(create_in_file_system_without_inodes_is_enomem)
{
	expect_in_file_system(__func__, "expect-nomem", "size=4m,nr_inodes=2,mode=0700", 0);
}
END_TEST

/* CREATE-12 ATTR-3 */
START_TEST(create_in_small_file_system_has_fewer_rings)
{
	expect_in_file_system(__func__, "fewer-rings", "size=1m,mode=0700", 0);
}
END_TEST

/* CREATE-6 */
START_TEST(event_in_file_system_filled_after_create_is_recorded)
{
	expect_in_file_system(__func__, "fill-after-create", "size=1m,mode=0700", 0);
}
END_TEST

/* CREATE-18: failed calls use no slots */
START_TEST(create_fails_in_full_file_system_until_there_is_room)
{
	expect_in_file_system(__func__, "fail-and-recover", "size=1m,mode=0700", 0);
}
END_TEST

static const struct {
	const char *name;
	int (*run)(void);
} helpers[] = {
	{"return", help_return},
	{"exit-asleep", help_exit_in_thread_with_reader_asleep},
	{"exit-getnext", help_exit_beside_getnext},
	{"exit-timedgetnext", help_exit_beside_timedgetnext},
	{"exit-trygetnext", help_exit_beside_trygetnext},
	{"exit-flush", help_exit_beside_flush},
	{"sleep", help_sleep},
	{"atexit", help_atexit},
	{"destructor", help_destructor},
	{"create", help_create},
	{"expect-nomem", help_expect_nomem},
	{"fewer-rings", help_fewer_rings},
	{"fill-after-create", help_fill_after_create},
	{"fail-and-recover", help_fail_and_recover},
};

static int help(const char *name)
{
	if (posix_trace_eventid_open("created", &type))
		return 112;
	for (size_t i = 0; i < PX_ARRAY_SIZE(helpers); i++)
		if (strcmp(helpers[i].name, name) == 0)
			return helpers[i].run();
	return 113;
}

static TCase *create_cases(void)
{
	TCase *tcase = tcase_create("create");

	tcase_add_checked_fixture(tcase, setup, NULL);
	tcase_set_timeout(tcase, 60);
	tcase_add_test(tcase, create_for_pid_0_and_own_pid_traces_the_caller);
	tcase_add_test(tcase, create_new_stream_is_suspended_unfiltered_and_empty);
	tcase_add_test(tcase, create_time_is_between_realtime_before_and_after);
	tcase_add_test(tcase, create_knows_types_that_were_opened_before);
	tcase_add_test(tcase, create_again_and_again_streams_are_independent);
	tcase_add_loop_test(tcase, create_bad_argument_is_refused_and_leaves_nothing, 0,
			    PX_ARRAY_SIZE(refused));
	tcase_add_test(tcase, create_null_identifier_is_refused);
	tcase_add_test(tcase, create_and_shutdown_leave_errno_alone);
	tcase_add_test(tcase, create_and_shutdown_with_cancellation_pending_are_done_in_full);
	tcase_add_loop_test(tcase, create_without_descriptors_fails_and_other_streams_go_on, 0, 2);
	tcase_add_test(tcase, create_and_shutdown_a_thousand_times_leaks_nothing);
	return tcase;
}

static TCase *limit_cases(void)
{
	TCase *tcase = tcase_create("limit");

	tcase_add_checked_fixture(tcase, setup, NULL);
	tcase_set_timeout(tcase, 60);
	tcase_add_test(tcase, create_65th_stream_is_refused_until_one_is_shut_down);
	tcase_add_test(tcase, create_limit_counts_other_processes);
	tcase_add_loop_test(tcase, create_takes_slots_and_segments_of_killed_controllers, 0, 2);
	tcase_add_loop_test(tcase, create_takes_slots_of_controllers_that_became_another_program, 0,
			    2);
	tcase_add_test(tcase, create_takes_slots_of_dead_controllers_whose_pids_came_again);
	return tcase;
}

static TCase *shutdown_cases(void)
{
	TCase *tcase = tcase_create("shutdown");

	tcase_add_checked_fixture(tcase, setup, NULL);
	tcase_set_timeout(tcase, 60);
	tcase_add_test(tcase, shutdown_running_stream_with_unread_events_frees_everything);
	tcase_add_test(tcase, shutdown_identifier_is_refused_for_ever);
	tcase_add_test(tcase, every_function_refuses_every_bad_identifier);
	tcase_add_test(tcase, shutdown_by_several_threads_at_once_succeeds_in_one);
	tcase_add_test(tcase, shutdown_wakes_all_sleeping_readers_with_einval);
	tcase_add_test(tcase, shutdown_while_threads_record_harms_nobody);
	tcase_add_test(tcase, identifier_in_child_is_refused_and_the_stream_goes_on);
	tcase_add_test(tcase, identifier_in_child_with_own_streams_is_refused);
	tcase_add_test(tcase, identifier_in_descendant_with_the_pid_of_its_creator_is_refused);
	return tcase;
}

static TCase *attr_cases(void)
{
	TCase *tcase = tcase_create("get_attr");

	tcase_add_checked_fixture(tcase, setup, NULL);
	tcase_set_timeout(tcase, 60);
	tcase_add_test(tcase, get_attr_of_default_stream_has_the_defaults);
	tcase_add_test(tcase, get_attr_has_what_was_set_whatever_became_of_the_object);
	tcase_add_loop_test(tcase, get_attr_sizes_in_use_make_the_same_stream_again, 0, 7);
	tcase_add_test(tcase, get_attr_bad_argument_is_refused_and_writes_nothing);
	tcase_add_loop_test(tcase, sizing_events_that_add_up_to_the_size_are_all_recorded, 0,
			    PX_ARRAY_SIZE(sizings));
	tcase_add_loop_test(tcase, sizing_guarantee_holds_with_control_calls_among_events, 0, 2);
	return tcase;
}

static TCase *exit_cases(void)
{
	TCase *tcase = tcase_create("exit");

	tcase_add_checked_fixture(tcase, setup, NULL);
	tcase_set_timeout(tcase, 60);
	tcase_add_loop_test(tcase, exit_leaves_no_segment, 0, 2);
	tcase_add_loop_test(tcase, exit_keeps_its_status_beside_readers, 0, 4);
	tcase_add_test(tcase, exit_events_in_atexit_handlers_are_recorded);
	tcase_add_test(tcase, exit_events_in_destructors_of_the_program_are_recorded);
	tcase_add_test(tcase, exit_of_child_leaves_the_stream);
	return tcase;
}

static TCase *directory_cases(void)
{
	TCase *tcase = tcase_create("directory");

	tcase_add_checked_fixture(tcase, make_directory, remove_directory);
	tcase_set_timeout(tcase, 60);
	tcase_add_loop_test(tcase, create_in_planted_directory_is_refused_or_harms_nothing, 0,
			    PX_ARRAY_SIZE(plants));
	tcase_add_test(tcase, create_makes_the_directory_private);
	tcase_add_test(tcase, create_in_directory_with_long_name_fails);
	tcase_add_loop_test(tcase, create_with_file_size_limit_fails_and_the_process_lives, 0, 2);
	tcase_add_test(tcase, create_in_full_file_system_is_enomem_and_leaves_nothing);
	tcase_add_test(tcase, create_in_file_system_without_room_for_the_registry_is_enomem);
	tcase_add_test(tcase, create_in_file_system_without_inodes_is_enomem);
	tcase_add_test(tcase, create_in_small_file_system_has_fewer_rings);
	tcase_add_test(tcase, event_in_file_system_filled_after_create_is_recorded);
	tcase_add_test(tcase, create_fails_in_full_file_system_until_there_is_room);
	return tcase;
}

int main(int argc, char **argv)
{
	Suite *suite;

	if (argc == 3 && strcmp(argv[1], "--helper") == 0)
		return help(argv[2]);
	suite = suite_create("create");
	suite_add_tcase(suite, create_cases());
	suite_add_tcase(suite, limit_cases());
	suite_add_tcase(suite, shutdown_cases());
	suite_add_tcase(suite, attr_cases());
	suite_add_tcase(suite, exit_cases());
	suite_add_tcase(suite, directory_cases());
	return run_suite(suite);
}
