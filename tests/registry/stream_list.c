/* SPDX-License-Identifier: MIT */
/* <trace_ext.h> on streams, seen from outside: which streams exist, how they are set, and their threads. */
#include "support/helper_process.h"

#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <trace_ext.h>
#include <unistd.h>

#include "base/compiler.h"
#include "registry/registry.h"
#include "ring/segment.h"

#define NR_EVENTS 1000

static struct txtrace_stream list[TRACE_SYS_MAX];

static unsigned int take_list(void)
{
	unsigned int nr = 4711;

	memset(list, 0xA5, sizeof(list));
	ok(txtrace_list_streams(list, TRACE_SYS_MAX, &nr));
	return nr;
}

static const struct txtrace_stream *of_controller(pid_t pid, unsigned int nr)
{
	for (unsigned int i = 0; i < nr; i++)
		if (list[i].controller == pid)
			return &list[i];
	return NULL;
}

/* Make a stream of this process with this name. */
static trace_id_t create_named(const char *name, int policy, int inherited, bool has_log)
{
	int fd = has_log ? px_test_file() : -1;
	trace_attr_t attr;
	trace_id_t trid;

	ok(posix_trace_attr_init(&attr));
	ok(posix_trace_attr_setname(&attr, name));
	ok(posix_trace_attr_setstreamfullpolicy(&attr, policy));
	ok(posix_trace_attr_setinherited(&attr, inherited));
	ok(posix_trace_attr_setstreamsize(&attr, 4096));
	if (has_log)
		ok(posix_trace_create_withlog(0, &attr, fd, &trid));
	else
		ok(posix_trace_create(0, &attr, &trid));
	if (has_log)
		close(fd);
	return trid;
}

START_TEST(list_without_streams_is_empty)
{
	unsigned int nr = 7;

	ck_assert_uint_eq(take_list(), 0);
	ok(txtrace_list_streams(NULL, 0, &nr));
	ck_assert_uint_eq(nr, 0);
	fails(txtrace_list_streams(NULL, 1, &nr), EINVAL);
	fails(txtrace_list_streams(list, 1, NULL), EINVAL);
}
END_TEST

/* The attributes of its creation, and what has changed since. */
START_TEST(list_tells_what_a_stream_is)
{
	static const struct {
		const char *name;
		int policy, inherited;
		bool has_log;
	} cases[] = {
		{"", POSIX_TRACE_LOOP, POSIX_TRACE_CLOSE_FOR_CHILD, false},
		{"0123456789012345678901234567890123456789012345678901234567890123456789",
		 POSIX_TRACE_UNTIL_FULL, POSIX_TRACE_INHERITED, false},
		{"with log", POSIX_TRACE_FLUSH, POSIX_TRACE_CLOSE_FOR_CHILD, true},
		{"loops with log", POSIX_TRACE_LOOP, POSIX_TRACE_INHERITED, true},
	};
	trace_id_t trid = create_named(cases[_i].name, cases[_i].policy, cases[_i].inherited,
				       cases[_i].has_log);
	char name[TRACE_NAME_MAX + 1];
	struct timespec created;
	trace_attr_t attr;

	ok(posix_trace_get_attr(trid, &attr));
	ok(posix_trace_attr_getname(&attr, name));
	ok(posix_trace_attr_getcreatetime(&attr, &created));
	ck_assert_uint_eq(take_list(), 1);
	ck_assert_int_eq(list[0].controller, getpid());
	ck_assert_int_eq(list[0].target, getpid());
	ck_assert_str_eq(list[0].name, name);
	ck_assert_int_eq(list[0].policy, cases[_i].policy);
	ck_assert_int_eq(list[0].inherited, cases[_i].inherited);
	ck_assert_int_eq(list[0].log, cases[_i].has_log);
	ck_assert_int_eq(list[0].status, POSIX_TRACE_SUSPENDED);
	ck_assert_int_eq(list[0].full, POSIX_TRACE_NOT_FULL);
	ck_assert_int_eq(list[0].orphaned | list[0].other_pids, 0);
	ck_assert_uint_eq(px_test_ns(list[0].created), px_test_ns(created));
	ck_assert_uint_eq(list[0].nr_events + list[0].nr_dropped, 0);
	ok(posix_trace_start(trid));
	ck_assert_uint_eq(take_list(), 1);
	ck_assert_int_eq(list[0].status, POSIX_TRACE_RUNNING);
	ok(posix_trace_shutdown(trid));
	ck_assert_uint_eq(take_list(), 0);
}
END_TEST

/*
 * An event counts once, however many slots it takes, also if it is overwritten.  Events that found no room count as
 * dropped.
 */
START_TEST(list_counts_events)
{
	trace_event_id_t type = px_test_open_type("counted");
	char data[200] = {0};
	bool loops = _i == 0;
	trace_id_t trid = px_test_create(&(struct px_test_stream){
		.policy = loops ? POSIX_TRACE_LOOP : POSIX_TRACE_UNTIL_FULL,
		.size = 4096,
		.max_data = sizeof(data),
		.nr_rings = 1});

	ok(posix_trace_start(trid));
	for (int i = 0; i < NR_EVENTS; i++)
		posix_trace_event(type, data, sizeof(data));
	ck_assert_uint_eq(take_list(), 1);
	ck_assert_uint_eq(list[0].nr_events + list[0].nr_dropped, NR_EVENTS + 1); /* and START */
	ck_assert_int_eq(list[0].full, POSIX_TRACE_FULL);
	ck_assert_int_eq(list[0].status, loops ? POSIX_TRACE_RUNNING : POSIX_TRACE_SUSPENDED);
	if (loops)
		ck_assert_uint_eq(list[0].nr_dropped, 0);
	else
		ck_assert_uint_gt(list[0].nr_dropped, NR_EVENTS / 2);
	ok(posix_trace_shutdown(trid));
}
END_TEST

/*
 * Also streams of other processes.  If there are more than fit, the call counts them, and does not write beyond the
 * array.
 */
START_TEST(list_has_the_streams_of_all_and_stores_what_fits)
{
	struct px_helper controller = px_helper_make(PX_BY_FORK_EXEC);
	struct px_helper target = px_helper_make(PX_BY_FORK_EXEC);
	trace_id_t trid = create_named("own", POSIX_TRACE_LOOP, POSIX_TRACE_CLOSE_FOR_CHILD, false);
	const struct txtrace_stream *other;
	unsigned int nr = 0;

	ok(px_helper_create(&controller, 0, target.pid, true));
	ok(px_helper_start(&controller, 0));
	nr = take_list();
	ck_assert_uint_eq(nr, 2);
	other = of_controller(controller.pid, nr);
	ck_assert_ptr_nonnull(other);
	ck_assert_int_eq(other->target, target.pid);
	ck_assert_int_eq(other->inherited, POSIX_TRACE_INHERITED);
	ck_assert_int_eq(other->status, POSIX_TRACE_RUNNING);
	ck_assert_ptr_nonnull(of_controller(getpid(), nr));
	memset(list, 0xA5, sizeof(list));
	ok(txtrace_list_streams(list, 1, &nr));
	ck_assert_uint_eq(nr, 2);
	ck_assert(list[0].controller == controller.pid || list[0].controller == getpid());
	for (size_t i = 0; i < sizeof(list[1]); i++)
		ck_assert_uint_eq(((unsigned char *)&list[1])[i], 0xA5);
	ok(posix_trace_shutdown(trid));
	px_helper_kill(&controller);
	px_helper_kill(&target);
}
END_TEST

START_TEST(list_tells_a_stream_whose_controller_was_killed)
{
	struct px_helper controller = px_helper_make(PX_BY_FORK_EXEC);

	ok(px_helper_create(&controller, 0, getpid(), false));
	ck_assert_uint_eq(take_list(), 1);
	ck_assert_int_eq(list[0].orphaned, 0);
	px_helper_kill(&controller);
	ck_assert_uint_eq(take_list(), 1);
	ck_assert_int_eq(list[0].orphaned, 1);
	ck_assert_int_eq(list[0].controller, controller.pid);
}
END_TEST

/* The content of a segment is untrusted: the list skips the segment, or shows its content within bounds. */

struct damage {
	size_t offset;
	uint64_t value;
	size_t size;
	bool is_listed;
};

static const struct damage damages[] = {
	{offsetof(struct px_segment, magic), PX_SEGMENT_MAGIC - 1, 8, false},
	{offsetof(struct px_segment, size), 100, 8, false},
	{offsetof(struct px_segment, geometry.nr_rings), 0, 4, false},
	{offsetof(struct px_segment, geometry.nr_rings), 1024, 4, false},
	{offsetof(struct px_segment, geometry.nr_rings), UINT32_MAX, 4, false},
	{offsetof(struct px_segment, geometry.nr_slots), 63, 4, false},
	{offsetof(struct px_segment, geometry.nr_slots), 1 << 30, 4, false},
	{offsetof(struct px_segment, policy), UINT32_MAX, 4, true},
	{offsetof(struct px_segment, state), UINT64_MAX, 8, true},
	{PX_SEGMENT_RINGS_OFFSET + offsetof(struct px_ring_control, dropped), UINT64_MAX, 8, true},
	{PX_SEGMENT_RINGS_OFFSET + offsetof(struct px_ring_control, head), 1, 8, true},
	{PX_SEGMENT_RINGS_OFFSET + offsetof(struct px_ring_control, extra), UINT64_MAX, 8, true},
	{PX_SEGMENT_RINGS_OFFSET + offsetof(struct px_ring_control, further), UINT64_MAX, 8, true},
};

static int open_segment(void)
{
	struct px_registry_slot slot;
	char name[PX_SHM_NAME_MAX], path[PX_SHM_PATH_MAX];
	uint32_t index = 0;
	int fd;

	while (!px_registry_read(index, &slot))
		index++;
	px_registry_segment_name(index, slot.generation, name);
	snprintf(path, sizeof(path), "%s/%s", px_test_directory(), name);
	fd = open(path, O_RDWR | O_CLOEXEC);
	ck_assert_int_ge(fd, 0);
	return fd;
}

START_TEST(list_survives_a_damaged_segment)
{
	const struct damage *damage = &damages[_i];
	struct px_helper controller = px_helper_make(PX_BY_FORK_EXEC);
	int fd;

	ok(px_helper_create(&controller, 0, getpid(), false));
	ck_assert_uint_eq(take_list(), 1);
	fd = open_segment();
	ck_assert_int_eq(pwrite(fd, &damage->value, damage->size, (off_t)damage->offset),
			 (ssize_t)damage->size);
	close(fd);
	ck_assert_uint_eq(take_list(), damage->is_listed);
	px_helper_kill(&controller);
}
END_TEST

START_TEST(list_survives_a_segment_that_was_cut)
{
	static const off_t lengths[] = {0, 8, sizeof(struct px_segment), PX_SEGMENT_RINGS_OFFSET,
					PX_SEGMENT_RINGS_OFFSET + 100};
	struct px_helper controller = px_helper_make(PX_BY_FORK_EXEC);
	int fd;

	ok(px_helper_create(&controller, 0, getpid(), false));
	fd = open_segment();
	ck_assert_int_eq(ftruncate(fd, lengths[_i]), 0);
	close(fd);
	ck_assert_uint_eq(take_list(), 0);
	px_helper_kill(&controller);
}
END_TEST

START_TEST(list_of_a_name_without_end_ends_it)
{
	struct px_helper controller = px_helper_make(PX_BY_FORK_EXEC);
	char name[PX_TRACE_NAME_MAX + 1];
	int fd;

	memset(name, 'x', sizeof(name));
	ok(px_helper_create(&controller, 0, getpid(), false));
	fd = open_segment();
	ck_assert_int_eq(pwrite(fd, name, sizeof(name), offsetof(struct px_segment, name)),
			 sizeof(name));
	close(fd);
	ck_assert_uint_eq(take_list(), 1);
	ck_assert_uint_eq(strnlen(list[0].name, sizeof(list[0].name)), PX_TRACE_NAME_MAX);
	px_helper_kill(&controller);
}
END_TEST

/* A stream of this process. */

static int get_in_child(void *argument)
{
	struct txtrace_stream info;

	return txtrace_get_stream(*(trace_id_t *)argument, &info);
}

START_TEST(get_stream_tells_what_the_list_does)
{
	trace_event_id_t type = px_test_open_type("counted");
	trace_id_t bad[PX_TEST_BAD_TRIDS];
	struct txtrace_stream info;
	trace_id_t trid;

	trid = create_named("own", POSIX_TRACE_UNTIL_FULL, POSIX_TRACE_CLOSE_FOR_CHILD, false);
	ok(posix_trace_start(trid));
	for (uint32_t i = 0; i < NR_EVENTS; i++)
		px_test_trace(type, i);
	ok(txtrace_get_stream(trid, &info));
	ck_assert_uint_eq(take_list(), 1);
	ck_assert_mem_eq(&info, &list[0], sizeof(info));
	ck_assert_uint_eq(info.nr_events + info.nr_dropped, NR_EVENTS + 1);
	fails(txtrace_get_stream(trid, NULL), EINVAL);
	px_test_bad_trids(bad);
	for (size_t i = 0; i < PX_TEST_BAD_TRIDS; i++)
		fails(txtrace_get_stream(bad[i], &info), EINVAL);
	ck_assert_int_eq(px_test_in_child(get_in_child, &trid), EINVAL);
	ok(posix_trace_shutdown(trid));
}
END_TEST

/* Threads. */

static void *trace_one(void *type)
{
	pthread_setname_np(pthread_self(), "a thread");
	px_test_trace(*(trace_event_id_t *)type, 1);
	return NULL;
}

START_TEST(get_thread_tells_whose_event_it_is)
{
	trace_event_id_t type = px_test_open_type("counted");
	trace_id_t trid = px_test_create(&(struct px_test_stream){.policy = POSIX_TRACE_LOOP});
	static struct px_test_event event;
	struct txtrace_object object;
	unsigned int context;
	pthread_t thread;

	ok(posix_trace_start(trid));
	ck_assert_int_eq(pthread_create(&thread, NULL, trace_one, &type), 0);
	ck_assert_int_eq(pthread_join(thread, NULL), 0);
	while (px_test_take(trid, &event) != type)
		;
	context = txtrace_event_context(&event.info);
	ok(txtrace_get_thread(trid, context, &object));
	ck_assert_uint_eq(object.handle, context);
	ck_assert_int_eq(object.type, 1);
	ck_assert_int_eq(strncmp(object.name, "a thread ", 9), 0);
	ck_assert_int_eq(atoi(object.name + 9), object.tid);
	ck_assert_int_eq(object.pid, getpid());
	ck_assert_int_gt(object.tid, getpid());
	ck_assert_int_eq(object.priority, txtrace_event_priority(&event.info));
	fails(txtrace_get_thread(trid, context + 1000, &object), ENOENT);
	fails(txtrace_get_thread(trid, context, NULL), EINVAL);
	ok(posix_trace_shutdown(trid));
	fails(txtrace_get_thread(trid, context, &object), EINVAL);
}
END_TEST

START_TEST(pre_recorded_streams_are_none_of_these)
{
	int fd = px_test_file();
	trace_id_t trid = px_test_create_log(&(struct px_test_stream){0}, fd);
	struct txtrace_stream info;
	struct txtrace_object object;

	ok(txtrace_get_stream(trid, &info));
	ok(posix_trace_shutdown(trid));
	trid = px_test_open(fd);
	fails(txtrace_get_stream(trid, &info), EINVAL);
	fails(txtrace_get_thread(trid, 0, &object), EINVAL);
	ck_assert_uint_eq(take_list(), 0);
	ok(posix_trace_close(trid));
	close(fd);
}
END_TEST

static const struct px_named_trick tricks[] = {{NULL, NULL}};

int main(int argc, char **argv)
{
	Suite *suite = suite_create("stream_list");
	TCase *tcase = tcase_create("streams");

	if (px_helper_main(argc, argv, tricks))
		return 0;
	tcase_add_test(tcase, list_without_streams_is_empty);
	tcase_add_loop_test(tcase, list_tells_what_a_stream_is, 0, 4);
	tcase_add_loop_test(tcase, list_counts_events, 0, 2);
	tcase_add_test(tcase, list_has_the_streams_of_all_and_stores_what_fits);
	tcase_add_test(tcase, list_tells_a_stream_whose_controller_was_killed);
	tcase_add_loop_test(tcase, list_survives_a_damaged_segment, 0, PX_ARRAY_SIZE(damages));
	tcase_add_loop_test(tcase, list_survives_a_segment_that_was_cut, 0, 5);
	tcase_add_test(tcase, list_of_a_name_without_end_ends_it);
	tcase_add_test(tcase, get_stream_tells_what_the_list_does);
	tcase_add_test(tcase, get_thread_tells_whose_event_it_is);
	tcase_add_test(tcase, pre_recorded_streams_are_none_of_these);
	suite_add_tcase(suite, tcase);
	return run_suite(suite);
}
