/* SPDX-License-Identifier: MIT */
/*
 * Controllers of another user than their target: the library accepts root and refuses all others.  Also tested: files
 * that the user of the target has put where the library looks, programs with set-user-ID, set-group-ID or capabilities,
 * and limits.
 */
#include "support/common.h"

#include <fcntl.h>
#include <grp.h>
#include <linux/capability.h>
#include <sched.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/shm.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <sys/syscall.h>
#include <sys/sysmacros.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <sys/xattr.h>
#include <trace_ext.h>
#include <unistd.h>

#include "base/compiler.h"
#include "base/layout.h"
#include "base/procfs.h"
#include "base/procfs_maps.h"
#include "base/shm.h"
#include "base/sysv.h"
#include "registry/names_file.h"
#include "registry/registry.h"
#include "support/kernel.h"
#include "support/other_user.h"

#define SKIPPED 99

static struct px_other_user target;
static struct px_test_event event;

/* Remove what a failed test may have left. */
static void setup(void)
{
	px_other_user_remove_directory(OTHER_UID);
	px_other_user_remove_directory(THIRD_UID);
	px_other_user_remove_segments(OTHER_UID);
}

static void setup_target(void)
{
	setup();
	px_other_user_start(&target, OTHER_UID);
}

static void teardown(void)
{
	px_other_user_remove_directory(OTHER_UID);
	px_other_user_remove_directory(THIRD_UID);
}

static int create_for(pid_t pid, int inherited, trace_id_t *trid)
{
	trace_attr_t attr;

	ok(posix_trace_attr_init(&attr));
	ok(posix_trace_attr_setinherited(&attr, inherited));
	ok(txtrace_attr_setrings(&attr, 1));
	return posix_trace_create(pid, &attr, trid);
}

static trace_id_t create_started(int inherited)
{
	trace_id_t trid;

	ok(create_for(target.pid, inherited, &trid));
	ok(posix_trace_start(trid));
	px_test_expect(trid, POSIX_TRACE_START, &event);
	return trid;
}

static int tell(enum px_other_user_request order, const char *text, uint32_t number, uint32_t count)
{
	return px_other_user_tell(&target, order, text, number, count);
}

static void expect_number(trace_id_t trid, trace_event_id_t type, uint32_t number)
{
	px_test_expect(trid, type, &event);
	ck_assert_uint_eq(px_test_number(&event), number);
}

/* Expect no files, no memory of streams, and no active slot. */
static void expect_nothing_left(void)
{
	struct px_registry registry;
	char path[128];
	int fd;

	ck_assert_int_eq(px_other_user_count_segments(OTHER_UID), 0);
	ck_assert_int_eq(px_other_user_count_files(OTHER_UID, "stream."), 0);
	px_other_user_path(path, OTHER_UID, PX_LAYOUT_REGISTRY);
	fd = open(path, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
	if (fd >= 0 && read(fd, &registry, sizeof(registry)) == sizeof(registry))
		for (int i = 0; i < PX_STREAMS_MAX; i++)
			ck_assert_uint_eq(registry.slot[i].active, 0);
	if (fd >= 0)
		close(fd);
}

/* Streams of targets of another user. */

/* CREATE-13 CREATE-5: root can do all that a controller can do with its own process. */
START_TEST(create_by_root_traces_process_of_another_user)
{
	struct posix_trace_status_info status;
	trace_event_set_t set;
	trace_event_id_t before, after, ours;
	trace_id_t trid;
	char name[TRACE_EVENT_NAME_MAX];

	before = (trace_event_id_t)tell(FOREIGN_OPEN, "opened before", 0, 0);
	ck_assert_int_eq(px_other_user_count_segments(OTHER_UID), 0); /* the names are in a file */
	trid = create_started(POSIX_TRACE_CLOSE_FOR_CHILD);
	tell(FOREIGN_RECORD, NULL, 1, 3);
	for (uint32_t i = 1; i <= 3; i++)
		expect_number(trid, before, i);
	ck_assert_int_eq(event.info.posix_pid, target.pid);
	ok(posix_trace_eventid_get_name(trid, before, name));
	ck_assert_str_eq(name, "opened before");
	after = (trace_event_id_t)tell(FOREIGN_OPEN, "opened after", 0, 0);
	ok(posix_trace_eventid_get_name(trid, after, name));
	ck_assert_str_eq(name, "opened after");
	ok(posix_trace_trid_eventid_open(trid, "opened by root", &ours));
	ck_assert_int_eq(tell(FOREIGN_OPEN, "opened by root", 0, 0), (int)ours);
	ok(posix_trace_eventset_empty(&set));
	ok(posix_trace_eventset_add(ours, &set));
	ok(posix_trace_set_filter(trid, &set, POSIX_TRACE_SET_EVENTSET));
	px_test_expect(trid, POSIX_TRACE_FILTER, &event);
	tell(FOREIGN_RECORD, NULL, 4, 1);
	tell(FOREIGN_OPEN, "opened after", 0, 0);
	tell(FOREIGN_RECORD, NULL, 5, 1);
	expect_number(trid, after, 5);
	ok(posix_trace_get_status(trid, &status));
	ck_assert_int_eq(status.posix_stream_status, POSIX_TRACE_RUNNING);
	ok(posix_trace_stop(trid));
	tell(FOREIGN_RECORD, NULL, 6, 1);
	px_test_expect(trid, POSIX_TRACE_STOP, &event);
	px_test_expect(trid, 0, &event);
	ck_assert_int_eq(px_other_user_count_segments(OTHER_UID), 2);
	ok(posix_trace_shutdown(trid));
	tell(FOREIGN_RECORD, NULL, 7, 1); /* it notices this, and gives the stream up */
	ck_assert_int_eq(px_other_user_count_segments(OTHER_UID), 1);
	ck_assert_int_eq(px_other_user_stop(&target), 0);
	expect_nothing_left();
}
END_TEST

/*
 * CREATE-7 CREATE-13: the target's user has damaged the file with the names, which root reads.  When the target opens
 * its next name, root finds the names.  Root follows no link.
 */
START_TEST(create_by_root_beside_a_damaged_names_file_lists_later_names)
{
	trace_event_id_t before = (trace_event_id_t)tell(FOREIGN_OPEN, "opened before", 0, 0), after;
	char file[PX_SHM_NAME_MAX], path[128], name[TRACE_EVENT_NAME_MAX];
	trace_id_t trid;
	uint64_t inode;

	ck_assert(px_procfs_file((uint32_t)target.pid, PX_NAMES_FILE_PREFIX, file, sizeof(file), &inode));
	px_other_user_path(path, OTHER_UID, file);
	px_test_damage(path, (enum px_test_damage)_i);
	if (create_for(target.pid, POSIX_TRACE_CLOSE_FOR_CHILD, &trid) == 0)
		ok(posix_trace_shutdown(trid));
	after = (trace_event_id_t)tell(FOREIGN_OPEN, "opened after", 0, 0);
	trid = create_started(POSIX_TRACE_CLOSE_FOR_CHILD);
	ok(posix_trace_eventid_get_name(trid, before, name));
	ck_assert_str_eq(name, "opened before");
	ok(posix_trace_eventid_get_name(trid, after, name));
	ck_assert_str_eq(name, "opened after");
	tell(FOREIGN_RECORD, NULL, 1, 2);
	expect_number(trid, after, 1);
	expect_number(trid, after, 2);
	ok(posix_trace_shutdown(trid));
	ck_assert_int_eq(px_other_user_stop(&target), 0);
	unlink(path);
	expect_nothing_left();
}
END_TEST

/* CREATE-13: also a log. */
START_TEST(create_withlog_by_root_logs_process_of_another_user)
{
	int file = px_test_file();
	trace_id_t trid, log;
	trace_event_id_t type = (trace_event_id_t)tell(FOREIGN_OPEN, "logged", 0, 0);

	ok(posix_trace_create_withlog(target.pid, NULL, file, &trid));
	ok(posix_trace_start(trid));
	tell(FOREIGN_RECORD, NULL, 1, 100);
	ok(posix_trace_shutdown(trid));
	log = px_test_open(file);
	px_test_expect_recorded(log, POSIX_TRACE_START, &event);
	for (uint32_t i = 1; i <= 100; i++) {
		px_test_expect_recorded(log, type, &event);
		ck_assert_uint_eq(px_test_number(&event), i);
	}
	px_test_expect_recorded(log, POSIX_TRACE_STOP, &event);
	ok(posix_trace_close(log));
	ck_assert_int_eq(px_other_user_stop(&target), 0);
	expect_nothing_left();
}
END_TEST

/* FORK-1 FORK-2 SPAWN-1 EXEC-1 */
START_TEST(create_by_root_inherited_traces_children_by_fork_and_exec)
{
	trace_event_id_t type = (trace_event_id_t)tell(FOREIGN_OPEN, "inherited", 0, 0);
	trace_id_t trid = create_started(POSIX_TRACE_INHERITED);

	tell(FOREIGN_RECORD, NULL, 1, 1);
	ck_assert_int_eq(tell(FOREIGN_FORK, NULL, 2, 0), 0);
	ck_assert_int_eq(tell(FOREIGN_EXEC, "inherited", 3, 0), 0);
	ck_assert_int_eq(tell(FOREIGN_EXEC, "of the child", 4, 0), 0);
	tell(FOREIGN_RECORD, NULL, 5, 1);
	for (uint32_t i = 1; i <= 3; i++)
		expect_number(trid, type, i);
	ck_assert_int_ne(event.info.posix_pid, target.pid);
	ck_assert_int_ne(px_test_take(trid, &event), 0);
	ck_assert_uint_eq(px_test_number(&event), 4);
	expect_number(trid, type, 5);
	ok(posix_trace_shutdown(trid));
	ck_assert_int_eq(px_other_user_stop(&target), 0);
	expect_nothing_left();
}
END_TEST

/* FORK-3: without the attribute they are not traced. */
START_TEST(create_by_root_not_inherited_leaves_children_alone)
{
	trace_id_t trid;

	tell(FOREIGN_OPEN, "not inherited", 0, 0);
	trid = create_started(POSIX_TRACE_CLOSE_FOR_CHILD);
	ck_assert_int_eq(tell(FOREIGN_FORK, NULL, 2, 0), 0);
	ck_assert_int_eq(tell(FOREIGN_EXEC, "not inherited", 3, 0), 0);
	px_test_expect(trid, 0, &event);
	ok(posix_trace_shutdown(trid));
}
END_TEST

/* There is one name table, whichever stream came first. */
START_TEST(create_by_root_twice_both_streams_know_the_same_types)
{
	trace_event_id_t type, again;
	trace_id_t first, second;

	first = create_started(POSIX_TRACE_INHERITED);
	second = create_started(POSIX_TRACE_CLOSE_FOR_CHILD);
	ok(posix_trace_trid_eventid_open(first, "by the first", &type));
	ok(posix_trace_trid_eventid_open(second, "by the first", &again));
	ck_assert(posix_trace_eventid_equal(first, type, again));
	ck_assert_int_eq(tell(FOREIGN_OPEN, "by the first", 0, 0), (int)type);
	tell(FOREIGN_RECORD, NULL, 1, 1);
	expect_number(first, type, 1);
	expect_number(second, type, 1);
	ok(posix_trace_shutdown(first));
	ok(posix_trace_shutdown(second));
	ck_assert_int_eq(px_other_user_stop(&target), 0);
	expect_nothing_left();
}
END_TEST

static void *tell_later(void *unused)
{
	sleep_ms(100);
	tell(FOREIGN_RECORD, NULL, 77, 1);
	return unused;
}

/* GETNEXT-2: the writer in the target wakes the reader of root. */
START_TEST(getnext_of_root_is_woken_by_process_of_another_user)
{
	trace_event_id_t type = (trace_event_id_t)tell(FOREIGN_OPEN, "wakes", 0, 0);
	trace_id_t trid = create_started(POSIX_TRACE_CLOSE_FOR_CHILD);
	uint64_t begin = monotonic_ns();
	pthread_t thread;
	int unavailable;

	ck_assert_int_eq(pthread_create(&thread, NULL, tell_later, NULL), 0);
	ok(posix_trace_getnext_event(trid, &event.info, event.data, sizeof(event.data),
				     &event.length, &unavailable));
	pthread_join(thread, NULL);
	ck_assert_uint_eq(event.info.posix_event_id, type);
	ck_assert_uint_eq(px_test_number(&event), 77);
	ck_assert_uint_ge(monotonic_ns() - begin, 90000000);
	ok(posix_trace_shutdown(trid));
}
END_TEST

/* Controllers that die. */

static pid_t start_controller(bool executes)
{
	int ends[2];
	pid_t child;
	char byte;

	ck_assert_int_eq(pipe(ends), 0);
	child = fork();
	if (child == 0) {
		trace_id_t trid;
		int error = create_for(target.pid, POSIX_TRACE_CLOSE_FOR_CHILD, &trid);

		if (error || posix_trace_start(trid) || write(ends[1], "", 1) != 1)
			_exit(1);
		if (executes)
			execlp("sleep", "sleep", "60", NULL);
		pause();
	}
	ck_assert_int_eq(read(ends[0], &byte, 1), 1);
	return child;
}

/* CREATE-18 EXIT-1: the next creation frees the slot and the memory of a killed controller. */
START_TEST(create_by_root_frees_what_a_killed_controller_left)
{
	pid_t controller = start_controller(false);

	tell(FOREIGN_RECORD, NULL, 1, 1);
	kill(controller, SIGKILL);
	waitpid(controller, NULL, 0);
	ck_assert_int_ge(px_other_user_count_segments(OTHER_UID), 1);
	if (_i == 0) {
		trace_id_t trid = create_started(POSIX_TRACE_CLOSE_FOR_CHILD);

		ok(posix_trace_shutdown(trid));
	} else {
		ck_assert_int_eq(tell(FOREIGN_CREATE, NULL, 0, 0), 0);
	}
	tell(FOREIGN_RECORD, NULL, 2, 1);
	ck_assert_int_eq(px_other_user_stop(&target), 0);
	expect_nothing_left();
}
END_TEST

static void die(void)
{
	raise(SIGKILL);
}

/* EXIT-1 EXIT-5: if the log of the killed controller is not begun yet, or complete, the memory has no further use. */
START_TEST(create_by_root_frees_what_a_controller_killed_outside_its_log_left)
{
	static const char *const points[] = {"stream.create.met", "checkpoint.create.described",
					     "stream.end.completed"};
	trace_id_t trid;
	int status, log = px_test_file();
	pid_t controller = fork();

	if (controller == 0) {
		trace_attr_t attr;

		px_test_at_point(points[_i], die);
		if (posix_trace_attr_init(&attr) || txtrace_attr_setrings(&attr, 1) ||
		    posix_trace_create_withlog(target.pid, &attr, log, &trid))
			_exit(1);
		posix_trace_shutdown(trid);
		_exit(2);
	}
	ck_assert_int_eq(waitpid(controller, &status, 0), controller);
	ck_assert_int_eq(status, SIGKILL);
	for (int i = 0; i < 2; i++)
		ok(posix_trace_shutdown(create_started(POSIX_TRACE_CLOSE_FOR_CHILD)));
	ck_assert_int_eq(px_other_user_stop(&target), 0);
	expect_nothing_left();
	close(log);
}
END_TEST

static bool is_asleep_program(pid_t pid)
{
	char path[64], name[32] = "";
	FILE *file;

	snprintf(path, sizeof(path), "/proc/%d/comm", (int)pid);
	file = fopen(path, "r");
	if (!file)
		return false;
	if (!fgets(name, sizeof(name), file))
		name[0] = '\0';
	fclose(file);
	return strcmp(name, "sleep\n") == 0;
}

/* EXEC-4: also if the controller has become another program. */
START_TEST(create_by_root_frees_what_a_controller_left_by_exec)
{
	pid_t controller = start_controller(true);
	trace_id_t trid;

	while (!is_asleep_program(controller))
		sleep_ms(1);
	trid = create_started(POSIX_TRACE_CLOSE_FOR_CHILD);
	ok(posix_trace_shutdown(trid));
	tell(FOREIGN_RECORD, NULL, 2, 1);
	ck_assert_int_eq(px_other_user_stop(&target), 0);
	expect_nothing_left();
	kill(controller, SIGKILL);
	waitpid(controller, NULL, 0);
}
END_TEST

/* A controller ends its stream, while its target is stopped. */
START_TEST(shutdown_by_root_of_stream_of_stopped_target_removes_the_memory)
{
	trace_id_t trid;

	tell(FOREIGN_OPEN, "stopped", 0, 0);
	trid = create_started(POSIX_TRACE_CLOSE_FOR_CHILD);
	tell(FOREIGN_RECORD, NULL, 1, 1);
	kill(target.pid, SIGSTOP);
	ok(posix_trace_shutdown(trid));
	kill(target.pid, SIGKILL);
	waitpid(target.pid, NULL, 0);
	expect_nothing_left();
}
END_TEST

/* Controllers that the library refuses. */

static int create_as_other_user(void *pid)
{
	trace_id_t trid;

	if (setresuid(THIRD_UID, THIRD_UID, THIRD_UID) != 0)
		return 100;
	return create_for(*(pid_t *)pid, POSIX_TRACE_CLOSE_FOR_CHILD, &trid);
}

/* CREATE-13 */
START_TEST(create_by_another_user_is_eperm)
{
	ck_assert_int_eq(px_test_in_child(create_as_other_user, &target.pid), EPERM);
	expect_nothing_left();
}
END_TEST

static void keep_capabilities(uint64_t mask)
{
	struct __user_cap_header_struct header = {.version = _LINUX_CAPABILITY_VERSION_3};
	struct __user_cap_data_struct data[2] = {{0}};

	if (syscall(SYS_capget, &header, data) != 0)
		_exit(101);
	for (int i = 0; i < 2; i++) {
		data[i].permitted &= (uint32_t)(mask >> 32 * i);
		data[i].effective = data[i].permitted;
	}
	if (syscall(SYS_capset, &header, data) != 0)
		_exit(102);
}

static int create_with_ptrace_alone(void *pid)
{
	trace_id_t trid;

	keep_capabilities(UINT64_C(1) << CAP_SYS_PTRACE);
	return create_for(*(pid_t *)pid, POSIX_TRACE_CLOSE_FOR_CHILD, &trid);
}

static int create_without_ptrace(void *pid)
{
	trace_id_t trid;

	keep_capabilities(~(UINT64_C(1) << CAP_SYS_PTRACE));
	return create_for(*(pid_t *)pid, POSIX_TRACE_CLOSE_FOR_CHILD, &trid);
}

static int create_as_other_user_with_capabilities(void *pid)
{
	trace_id_t trid;

	prctl(PR_SET_KEEPCAPS, 1);
	if (setresuid(THIRD_UID, THIRD_UID, THIRD_UID) != 0)
		return 100;
	keep_capabilities(~UINT64_C(0));
	return create_for(*(pid_t *)pid, POSIX_TRACE_CLOSE_FOR_CHILD, &trid);
}

static int (*const weak_controllers[])(void *) = {create_with_ptrace_alone, create_without_ptrace,
						  create_as_other_user_with_capabilities};

/* CREATE-13: root without the right to trace, or without access to the directory; a user with these rights. */
START_TEST(create_with_some_of_roots_rights_is_eperm)
{
	ck_assert_int_eq(px_test_in_child(weak_controllers[_i], &target.pid), EPERM);
	expect_nothing_left();
}
END_TEST

static int create_as_its_effective_user(void *pid)
{
	trace_id_t trid;

	if (setresuid(OTHER_UID, OTHER_UID, OTHER_UID) != 0)
		return 100;
	return create_for(*(pid_t *)pid, POSIX_TRACE_CLOSE_FOR_CHILD, &trid);
}

/* CREATE-13: a user may not trace a process that has this user only as its effective user. */
START_TEST(create_for_process_with_other_real_user_is_eperm)
{
	px_other_user_start_program(&target, "/proc/self/exe", THIRD_UID, OTHER_UID);
	ck_assert_int_eq(px_test_in_child(create_as_its_effective_user, &target.pid), EPERM);
	expect_nothing_left();
}
END_TEST

static int create_across_ipc_name_spaces(void *unused)
{
	int own = open("/proc/self/ns/ipc", O_RDONLY | O_CLOEXEC);
	trace_id_t trid;

	(void)unused;
	if (own < 0 || unshare(CLONE_NEWIPC) != 0)
		return SKIPPED;
	px_other_user_start(&target, OTHER_UID);
	if (setns(own, CLONE_NEWIPC) != 0)
		return SKIPPED;
	return create_for(target.pid, POSIX_TRACE_CLOSE_FOR_CHILD, &trid);
}

/* CREATE-13: if the ids of shared memory have another meaning, neither names nor events could be shared. */
START_TEST(create_for_process_in_another_ipc_name_space_is_eperm)
{
	int result = px_test_in_child(create_across_ipc_name_spaces, NULL);

	if (result == SKIPPED)
		px_test_skip("no IPC name space of our own");
	else
		ck_assert_int_eq(result, EPERM);
	expect_nothing_left();
}
END_TEST

/* Programs with set-user-ID, set-group-ID or capabilities. */

static char copy_path[64];

/*
 * Make a copy of this program with these mode bits, in a file system where they work.  Return false if there is none;
 * then the test is skipped.
 */
static bool copy_program(const char *test, mode_t mode, uid_t uid, gid_t gid)
{
	static const char *const places[] = {"/tmp", ".", "/var/tmp"};
	struct statvfs status;
	char command[160];

	for (size_t i = 0; i < PX_ARRAY_SIZE(places); i++) {
		if (statvfs(places[i], &status) != 0 || status.f_flag & (ST_NOSUID | ST_NOEXEC))
			continue;
		snprintf(copy_path, sizeof(copy_path), "%s/posixtrace-check-secure.%u", places[i],
			 (unsigned int)OTHER_UID);
		unlink(copy_path);
		snprintf(command, sizeof(command), "cp /proc/%d/exe %s", (int)getpid(), copy_path);
		if (system(command) == 0 && chown(copy_path, uid, gid) == 0 &&
		    chmod(copy_path, mode) == 0)
			return true;
		unlink(copy_path);
	}
	px_test_skip_in(test, "no file system in which programs get rights");
	return false;
}

static void remove_copy(void)
{
	unlink(copy_path);
	teardown();
}

static int run_secure_with_directory(void *unused)
{
	char directory[] = "/dev/shm/posixtrace-check-secure.XXXXXX";
	pid_t child;
	int status;

	(void)unused;
	if (!mkdtemp(directory) || chmod(directory, 0700) || chown(directory, OTHER_UID, OTHER_UID))
		return 1;
	child = fork();
	if (child == 0) {
		setenv("TXTRACE_DIR", directory, 1);
		if (setresuid(THIRD_UID, THIRD_UID, THIRD_UID) != 0)
			_exit(124);
		execl(copy_path, "check", "--foreigner", "record", "secure", "1", NULL);
		_exit(126);
	}
	if (waitpid(child, &status, 0) != child || status != 0)
		return 2;
	return rmdir(directory) == 0 ? 0 : 3; /* the library put nothing into it */
}

/* GEN-9: the user who starts a set-user-ID program does not choose where the program writes. */
START_TEST(secure_program_ignores_txtrace_dir)
{
	if (!copy_program(__func__, 04755, OTHER_UID, OTHER_UID))
		return;
	ck_assert_int_eq(px_test_in_child(run_secure_with_directory, NULL), 0);
	ck_assert(px_other_user_exists(OTHER_UID, PX_LAYOUT_REGISTRY));
}
END_TEST

/* CREATE-13: it would not attach a stream of root. */
START_TEST(create_for_secure_program_of_another_user_is_eperm)
{
	trace_id_t trid;

	if (!copy_program(__func__, 04755, OTHER_UID, OTHER_UID))
		return;
	px_other_user_start_program(&target, copy_path, THIRD_UID, THIRD_UID);
	ck_assert_int_eq(tell(FOREIGN_SECURE, NULL, 0, 0), 1);
	fails(create_for(target.pid, POSIX_TRACE_CLOSE_FOR_CHILD, &trid), EPERM);
	ck_assert_int_eq(px_other_user_stop(&target), 0);
	expect_nothing_left();
}
END_TEST

/* FORK-1: an inherited stream, and a child with the rights of another group: the same user, but AT_SECURE. */
START_TEST(secure_program_takes_no_stream_of_root)
{
	trace_id_t trid;

	if (!copy_program(__func__, 0755, 0, THIRD_UID))
		return;
	px_other_user_start(&target, OTHER_UID);
	trid = create_started(POSIX_TRACE_INHERITED);
	ck_assert_int_eq(tell(FOREIGN_RUN, copy_path, 1, 0), 0);
	ck_assert_uint_ne(px_test_take(trid, &event), 0);
	ck_assert_uint_eq(px_test_number(&event), 1);
	ck_assert_int_eq(chmod(copy_path, 02755), 0);
	ck_assert_int_eq(tell(FOREIGN_RUN, copy_path, 2, 0), 0);
	px_test_expect(trid, 0, &event);
	ok(posix_trace_shutdown(trid));
	ck_assert_int_eq(px_other_user_stop(&target), 0);
	expect_nothing_left();
}
END_TEST

/* Return true if the path of a mapping of this process contains this text. */
static bool maps(const char *path)
{
	FILE *file = fopen("/proc/self/maps", "r");
	char line[4352];
	bool found = false;

	while (file && fgets(line, sizeof(line), file))
		found |= strstr(line, path) != NULL;
	if (file)
		fclose(file);
	return found;
}

/*
 * A program that may have extra rights: it records, and its exit status shows whether it has mapped memory of the user
 * who started it.
 */
static int record_with_rights(int argc, char **argv)
{
	trace_event_id_t type;

	(void)argc;
	(void)argv;
	if (posix_trace_eventid_open("with rights", &type) != 0)
		return 2;
	posix_trace_event(type, "1", 1);
	/* LeakSanitizer cannot run in a program with rights, and fails at exit() */
	_exit(maps("/" PX_LAYOUT_REGISTRY) || maps("/stream."));
}

static int run_copy(void)
{
	pid_t child = fork();
	int status;

	if (child == 0) {
		execl(copy_path, "check", "--foreigner", "record-with-rights", NULL);
		_exit(126);
	}
	return waitpid(child, &status, 0) == child && WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

/*
 * Trace this process and its children, and run the program.  Bits of the result: 1 if the stream had the event, 2 if
 * the program had mapped memory of the user.
 */
static int trace_copy(int argc, char **argv)
{
	int mapped, unavailable = 0;
	bool has_event = false;
	trace_event_id_t type;
	trace_attr_t attr;
	trace_id_t trid;

	(void)argc;
	snprintf(copy_path, sizeof(copy_path), "%s", argv[0]);
	if (posix_trace_eventid_open("with rights", &type) != 0 ||
	    posix_trace_attr_init(&attr) != 0 ||
	    posix_trace_attr_setinherited(&attr, POSIX_TRACE_INHERITED) != 0 ||
	    posix_trace_create(0, &attr, &trid) != 0 || posix_trace_start(trid) != 0)
		return 100;
	mapped = run_copy();
	if (mapped != 0 && mapped != 1)
		return 101;
	while (posix_trace_trygetnext_event(trid, &event.info, event.data, sizeof(event.data), &event.length,
					    &unavailable) == 0 &&
	       !unavailable)
		has_event |= event.info.posix_event_id == type;
	posix_trace_shutdown(trid);
	return has_event + 2 * mapped;
}

static int run_role(const char *role, const char *argument)
{
	pid_t pid = px_other_user_start_role(role, OTHER_UID, argument);
	int status;

	ck_assert_int_eq(waitpid(pid, &status, 0), pid);
	return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

/* Like `setcap cap_chown=ep`.  Return false if the file system does not support it, or in a user name space. */
static bool give_capability(const char *path)
{
	const struct vfs_cap_data data = {.magic_etc = VFS_CAP_REVISION_2 | VFS_CAP_FLAGS_EFFECTIVE,
					  .data[0].permitted = UINT32_C(1) << CAP_CHOWN};

	return prctl(PR_CAPBSET_READ, CAP_CHOWN, 0, 0, 0) == 1 &&
	       setxattr(path, "security.capability", &data, XATTR_CAPS_SZ_2, 0) == 0;
}

/* FORK-1 CREATE-13: the same, if the user has created the stream: that user could not create one for this program. */
START_TEST(secure_program_takes_no_stream_of_its_invoker)
{
	bool has_rights;

	if (!copy_program(__func__, 0755, 0, THIRD_UID))
		return;
	ck_assert_int_eq(run_role("trace-copy", copy_path), 1 + 2);
	has_rights = _i == 0 ? chmod(copy_path, 02755) == 0 : give_capability(copy_path);
	if (has_rights)
		ck_assert_int_eq(run_role("trace-copy", copy_path), 0);
	else
		px_test_skip_in(__func__, "no capabilities of files");
	remove_copy();
}
END_TEST

/* The memory itself. */

static struct px_mapping mapping;
static uint32_t memory_number;

static int attach_as_target(void *unused)
{
	struct px_mapping again;

	(void)unused;
	if (setresuid(OTHER_UID, OTHER_UID, OTHER_UID) != 0)
		return 100;
	return px_sysv_attach(memory_number, &again);
}

static void expect_attach(int error)
{
	ck_assert_int_eq(px_test_in_child(attach_as_target, NULL), error);
}

static int make_as_user(void *uid)
{
	uid_t user = *(uid_t *)uid;
	struct px_mapping own;
	uint32_t *shared = mapping.base;

	if (setresuid(user, user, user) != 0)
		return 100;
	return px_sysv_create(4096, &own, shared) || px_sysv_give(*shared, OTHER_UID);
}

/* GEN-9: a process accepts memory that is meant for it only from root. */
START_TEST(sysv_memory_is_taken_from_root_alone)
{
	uid_t makers[] = {THIRD_UID, OTHER_UID};
	struct shmid_ds status;
	uint32_t roots;

	ok(px_sysv_create(8192, &mapping, &memory_number));
	roots = memory_number;
	expect_attach(EACCES); /* the memory is not given to it yet */
	ok(px_sysv_give(roots, OTHER_UID));
	expect_attach(0);
	for (size_t i = 0; i < PX_ARRAY_SIZE(makers); i++) {
		ck_assert_int_eq(px_test_in_child(make_as_user, &makers[i]), 0);
		memory_number = *(uint32_t *)mapping.base;
		expect_attach(EACCES);
		px_sysv_remove(memory_number, OTHER_UID); /* it is not ours: no effect */
		ck_assert_int_eq(shmctl((int)(memory_number - 1), IPC_STAT, &status), 0);
		px_sysv_withdraw(memory_number); /* likewise */
		ck_assert_int_eq(shmctl((int)(memory_number - 1), IPC_RMID, NULL), 0);
		expect_attach(ENOENT);
	}
	memory_number = roots;
	ck_assert_int_eq(shmctl((int)(memory_number - 1), IPC_STAT, &status), 0);
	status.shm_perm.mode = 0666;
	ck_assert_int_eq(shmctl((int)(memory_number - 1), IPC_SET, &status), 0);
	expect_attach(EACCES);
	status.shm_perm.mode = 0600;
	ck_assert_int_eq(shmctl((int)(memory_number - 1), IPC_SET, &status), 0);
	px_sysv_remove(memory_number, THIRD_UID);
	expect_attach(0);
	px_sysv_remove(memory_number, OTHER_UID);
	px_shm_unmap(&mapping);
	expect_attach(ENOENT);
	expect_nothing_left();
}
END_TEST

/* FORK-1: a child maps what its parent had mapped, and removes the mapping of the parent. */
START_TEST(sysv_memory_can_be_mapped_again_and_retired)
{
	struct px_mapping again;
	struct shmid_ds status;
	uint32_t read;

	if (!px_test_can_map_again()) {
		px_test_skip("a mapping cannot be mapped a second time");
		return;
	}
	ok(px_sysv_create(8192, &mapping, &memory_number));
	ok(px_shm_duplicate(&mapping, &again));
	((uint32_t *)mapping.base)[1024] = 4711;
	px_shm_retire(&mapping);
	ck_assert_uint_eq(((uint32_t *)mapping.base)[1024], 0);
	ck_assert_uint_eq(((uint32_t *)again.base)[1024], 4711);
	ok(px_sysv_give(memory_number, OTHER_UID));
	ok(px_sysv_read(memory_number, OTHER_UID, 4096, &read, sizeof(read)));
	ck_assert_uint_eq(read, 4711);
	fails(px_sysv_read(memory_number, OTHER_UID, 8190, &read, sizeof(read)), EIO);
	fails(px_sysv_read(memory_number, OTHER_UID, SIZE_MAX, &read, sizeof(read)), EIO);
	fails(px_sysv_read(memory_number, THIRD_UID, 0, &read, sizeof(read)), EACCES);
	ck_assert_int_eq(shmctl((int)(memory_number - 1), IPC_STAT, &status), 0);
	ck_assert_uint_eq(status.shm_nattch, 1);
	px_sysv_withdraw(memory_number);
	px_shm_unmap(&again);
	expect_nothing_left();
}
END_TEST

/* Files that a user may have put where the library looks. */

static const char *in_directory(const char *name)
{
	static char path[128];

	px_other_user_path(path, OTHER_UID, name);
	return path;
}

static void give(const char *path)
{
	ck_assert_int_eq(lchown(path, OTHER_UID, OTHER_UID), 0);
}

static void plant_directory(mode_t mode)
{
	ck_assert_int_eq(mkdir(in_directory(""), 0700), 0);
	ck_assert_int_eq(chmod(in_directory(""), mode), 0);
	give(in_directory(""));
}

static void plant_directory_of_root(void)
{
	ck_assert_int_eq(mkdir(in_directory(""), 0700), 0);
}

static void plant_directory_for_all(void)
{
	plant_directory(0777);
}

static void plant_directory_for_group(void)
{
	plant_directory(0710);
}

static void plant_symlink(const char *to, const char *path)
{
	ck_assert_int_eq(symlink(to, path), 0);
	give(path);
}

static void plant_symlink_to_directory(void)
{
	char aside[140];

	plant_directory(0700);
	snprintf(aside, sizeof(aside), "%s.aside", in_directory(""));
	ck_assert_int_eq(rename(in_directory(""), aside), 0);
	plant_symlink(aside, in_directory(""));
}

static void plant_symlink_to_root(void)
{
	plant_symlink("/root", in_directory(""));
}

static void plant_file(const char *path, size_t size, uid_t owner, mode_t mode, int byte)
{
	static char bytes[2 * sizeof(struct px_registry)];
	int fd = open(path, O_CREAT | O_EXCL | O_WRONLY | O_CLOEXEC, 0600);

	memset(bytes, byte, sizeof(bytes));
	ck_assert_int_eq(write(fd, bytes, size), (ssize_t)size);
	ck_assert_int_eq(fchown(fd, owner, owner), 0);
	ck_assert_int_eq(fchmod(fd, mode), 0);
	close(fd);
}

static void plant_registry(size_t size, uid_t owner, mode_t mode, int byte)
{
	plant_directory(0700);
	plant_file(in_directory(PX_LAYOUT_REGISTRY), size, owner, mode, byte);
}

static void plant_file_as_directory(void)
{
	plant_file(in_directory(""), 10, OTHER_UID, 0600, 'x');
}

static void plant_fifo_as_directory(void)
{
	ck_assert_int_eq(mkfifo(in_directory(""), 0600), 0);
	give(in_directory(""));
}

static void plant_nothing(void)
{
}

static void plant_empty_directory(void)
{
	plant_directory(0700);
}

static void plant_short_registry(void)
{
	plant_registry(100, OTHER_UID, 0600, 'x');
}

static void plant_empty_registry(void)
{
	plant_registry(0, OTHER_UID, 0600, 0);
}

static void plant_registry_of_zeros(void)
{
	plant_registry(sizeof(struct px_registry), OTHER_UID, 0600, 0);
}

static void plant_long_registry(void)
{
	plant_registry(sizeof(struct px_registry) + 1, OTHER_UID, 0600, 0);
}

static void plant_registry_of_garbage(void)
{
	plant_registry(sizeof(struct px_registry), OTHER_UID, 0600, 'x');
}

static void plant_registry_of_root(void)
{
	plant_registry(sizeof(struct px_registry), 0, 0600, 0);
}

static void plant_registry_for_all(void)
{
	plant_registry(sizeof(struct px_registry), OTHER_UID, 0666, 0);
}

static void plant_registry_symlink(void)
{
	plant_directory(0700);
	plant_file(in_directory("victim"), sizeof(struct px_registry), OTHER_UID, 0600, 0);
	plant_symlink("victim", in_directory(PX_LAYOUT_REGISTRY));
}

static void plant_registry_fifo(void)
{
	plant_directory(0700);
	ck_assert_int_eq(mkfifo(in_directory(PX_LAYOUT_REGISTRY), 0600), 0);
	give(in_directory(PX_LAYOUT_REGISTRY));
}

static void plant_registry_directory(void)
{
	plant_directory(0700);
	ck_assert_int_eq(mkdir(in_directory(PX_LAYOUT_REGISTRY), 0700), 0);
	give(in_directory(PX_LAYOUT_REGISTRY));
}

static void plant_registry_socket(void)
{
	struct sockaddr_un address = {.sun_family = AF_UNIX};
	int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);

	plant_directory(0700);
	snprintf(address.sun_path, sizeof(address.sun_path), "%.100s", in_directory(PX_LAYOUT_REGISTRY));
	ck_assert_int_eq(bind(fd, (struct sockaddr *)&address, sizeof(address)), 0);
	chmod(in_directory(PX_LAYOUT_REGISTRY), 0600);
	give(in_directory(PX_LAYOUT_REGISTRY));
	close(fd);
}

static void plant_registry_device(void)
{
	plant_directory(0700);
	ck_assert_int_eq(mknod(in_directory(PX_LAYOUT_REGISTRY), S_IFCHR | 0600, makedev(1, 5)), 0);
	give(in_directory(PX_LAYOUT_REGISTRY));
}

static const struct {
	const char *name;
	void (*plant)(void);
	int error;
} plants[] = {
	{"nothing", plant_nothing, 0},
	{"empty directory", plant_empty_directory, 0},
	{"registry of zeros", plant_registry_of_zeros, 0},
	{"directory of root", plant_directory_of_root, EACCES},
	{"directory for all", plant_directory_for_all, EACCES},
	{"directory for the group", plant_directory_for_group, EACCES},
	{"symlink to a directory", plant_symlink_to_directory, EACCES},
	{"symlink to root's", plant_symlink_to_root, EACCES},
	{"file for the directory", plant_file_as_directory, EACCES},
	{"fifo for the directory", plant_fifo_as_directory, EACCES},
	{"empty registry", plant_empty_registry, 0}, /* like a file that is being created */
	{"short registry of garbage", plant_short_registry, EACCES},
	{"long registry", plant_long_registry, EACCES},
	{"registry of garbage", plant_registry_of_garbage, EACCES},
	{"registry of root", plant_registry_of_root, EACCES},
	{"registry for all", plant_registry_for_all, EACCES},
	{"symlink for the registry", plant_registry_symlink, EACCES},
	{"fifo for the registry", plant_registry_fifo, EACCES},
	{"directory for the registry", plant_registry_directory, EACCES},
	{"socket for the registry", plant_registry_socket, EACCES},
	{"device for the registry", plant_registry_device, EACCES},
};

/* A process without the library, so that the directory has only the planted files. */
static pid_t start_sleeper(void)
{
	pid_t child = fork();

	ck_assert_int_ge(child, 0);
	if (child == 0) {
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		if (setresuid(OTHER_UID, OTHER_UID, OTHER_UID) != 0)
			_exit(1);
		execlp("sleep", "sleep", "60", NULL);
		_exit(126);
	}
	while (!is_asleep_program(child))
		sleep_ms(1);
	return child;
}

/* CREATE-13 CREATE-18 GEN-9 */
START_TEST(create_by_root_where_something_was_planted_is_refused)
{
	pid_t sleeper = start_sleeper();
	uint64_t begin = monotonic_ns();
	struct stat before, after;
	trace_id_t trid;
	int result, files;

	plants[_i].plant();
	files = px_other_user_count_files(OTHER_UID, "");
	memset(&before, 0, sizeof(before));
	memset(&after, 0, sizeof(after));
	lstat(in_directory("victim"), &before);
	result = create_for(sleeper, POSIX_TRACE_CLOSE_FOR_CHILD, &trid);
	ck_assert_msg(result == plants[_i].error, "with a %s: %d", plants[_i].name, result);
	ck_assert_uint_lt(monotonic_ns() - begin, 3000000000);
	lstat(in_directory("victim"), &after);
	ck_assert_int_eq(before.st_mtim.tv_nsec, after.st_mtim.tv_nsec);
	if (result == 0)
		ok(posix_trace_shutdown(trid));
	else
		ck_assert_int_eq(px_other_user_count_files(OTHER_UID, ""), files);
	ck_assert_int_eq(px_other_user_count_segments(OTHER_UID), 0);
	kill(sleeper, SIGKILL);
	waitpid(sleeper, NULL, 0);
}
END_TEST

static int create_where_a_file_system_is_mounted(void *unused)
{
	pid_t sleeper = start_sleeper();
	char options[64];
	trace_id_t trid;

	(void)unused;
	plant_directory(0700);
	snprintf(options, sizeof(options), "mode=0700,uid=%u", (unsigned int)OTHER_UID);
	if (unshare(CLONE_NEWNS) != 0 || mount("none", "/", NULL, MS_REC | MS_PRIVATE, NULL) != 0 ||
	    mount("none", in_directory(""), "tmpfs", 0, options) != 0)
		return SKIPPED;
	return create_for(sleeper, POSIX_TRACE_CLOSE_FOR_CHILD, &trid);
}

/* GEN-9: a user may mount a file system that never answers on this directory. */
START_TEST(create_by_root_where_a_file_system_is_mounted_is_refused)
{
	int result = px_test_in_child(create_where_a_file_system_is_mounted, NULL);

	if (result == SKIPPED)
		px_test_skip("no right to mount a file system");
	else
		ck_assert_int_eq(result, EACCES);
	ck_assert_int_eq(px_other_user_count_files(OTHER_UID, ""), 0);
	expect_nothing_left();
}
END_TEST

/* What root creates there belongs to the user, and other users have no access. */
START_TEST(create_by_root_makes_directory_and_registry_of_the_targets_user)
{
	pid_t sleeper = start_sleeper();
	struct stat status;
	trace_id_t trid;

	umask(_i == 0 ? 0 : 0777);
	ok(create_for(sleeper, POSIX_TRACE_CLOSE_FOR_CHILD, &trid));
	umask(022);
	ck_assert_int_eq(stat(in_directory(""), &status), 0);
	ck_assert_uint_eq(status.st_mode & 07777, 0700);
	ck_assert_uint_eq(status.st_uid, OTHER_UID);
	ck_assert_int_eq(stat(in_directory(PX_LAYOUT_REGISTRY), &status), 0);
	ck_assert_uint_eq(status.st_mode & 07777, 0600);
	ck_assert_uint_eq(status.st_uid, OTHER_UID);
	ck_assert_int_eq(status.st_size, sizeof(struct px_registry));
	ck_assert_int_eq(px_other_user_count_files(OTHER_UID, ""), 1);
	ok(posix_trace_shutdown(trid));
	kill(sleeper, SIGKILL);
	waitpid(sleeper, NULL, 0);
}
END_TEST

/* EXEC-1: a program that the target executes later has the library. */
START_TEST(create_by_root_before_exec_traces_the_program)
{
	char program[64];
	trace_id_t trid;
	int status;
	pid_t child;

	if (!copy_program(__func__, 0755, 0, 0))
		return;
	child = fork();
	if (child == 0) {
		unsetenv("TXTRACE_DIR");
		if (setresuid(OTHER_UID, OTHER_UID, OTHER_UID) != 0)
			_exit(1);
		snprintf(program, sizeof(program), "%s", copy_path);
		execl("/bin/sh", "sh", "-c", "kill -STOP $$; exec $0 --foreigner record late 8",
		      program, NULL);
		_exit(126);
	}
	ck_assert_int_eq(waitpid(child, &status, WUNTRACED), child);
	ck_assert(WIFSTOPPED(status));
	ck_assert(!px_other_user_exists(OTHER_UID, ""));
	ok(create_for(child, POSIX_TRACE_CLOSE_FOR_CHILD, &trid));
	ok(posix_trace_start(trid));
	kill(child, SIGCONT);
	ck_assert_int_eq(waitpid(child, &status, 0), child);
	ck_assert_int_eq(status, 0);
	px_test_expect(trid, POSIX_TRACE_START, &event);
	ck_assert_uint_ne(px_test_take(trid, &event), 0);
	ck_assert_uint_eq(px_test_number(&event), 8);
	ok(posix_trace_shutdown(trid));
	expect_nothing_left();
}
END_TEST

/* The controller waits for a lock of the target's user, but not for ever. */
START_TEST(create_by_root_while_the_lock_is_held_fails_in_time)
{
	uint64_t begin;
	trace_id_t trid, stays;

	ok(create_for(target.pid, POSIX_TRACE_CLOSE_FOR_CHILD, &stays));
	ck_assert_int_eq(tell(FOREIGN_HOLD_LOCK, NULL, 0, 0), 0);
	begin = monotonic_ns();
	fails(create_for(target.pid, POSIX_TRACE_CLOSE_FOR_CHILD, &trid), ETIMEDOUT);
	ck_assert_uint_lt(monotonic_ns() - begin, 8000000000);
	ok(posix_trace_shutdown(stays));
	ck_assert_uint_lt(monotonic_ns() - begin, 10000000000);
	ck_assert_int_eq(px_other_user_stop(&target), 0);
	expect_nothing_left();
}
END_TEST

/* Limits. */

static int create_with_descriptors(void *pid)
{
	trace_id_t trid;
	int error;

	for (rlim_t nr = 0; nr < 16; nr++) {
		struct rlimit limit = {nr, 64};

		setrlimit(RLIMIT_NOFILE, &limit);
		error = create_for(*(pid_t *)pid, POSIX_TRACE_CLOSE_FOR_CHILD, &trid);
		if (!error && posix_trace_shutdown(trid))
			return 1;
		if (error && error != EMFILE && error != EPERM && error != ENOMEM && error != ESRCH)
			return error;
	}
	return error ? 2 : 0;
}

/* CREATE-18: the call fails at each of its descriptors in turn. */
START_TEST(create_by_root_without_descriptors_leaves_nothing)
{
	ck_assert_int_eq(px_test_in_child(create_with_descriptors, &target.pid), 0);
	ck_assert_int_eq(px_other_user_stop(&target), 0);
	expect_nothing_left();
}
END_TEST

static bool set_segments_max(int number)
{
	FILE *file = fopen("/proc/sys/kernel/shmmni", "w");
	bool done = file && fprintf(file, "%d\n", number) > 0;

	return file && fclose(file) == 0 && done;
}

static int create_without_segments(void *unused)
{
	trace_id_t trid;

	(void)unused;
	if (unshare(CLONE_NEWIPC) != 0)
		return SKIPPED;
	px_other_user_start(&target, OTHER_UID);
	for (int number = 0; number < 2; number++) {
		if (!set_segments_max(number))
			return SKIPPED;
		if (create_for(target.pid, POSIX_TRACE_CLOSE_FOR_CHILD, &trid) != ENOMEM)
			return 1;
		if (px_other_user_count_segments(0) || px_other_user_count_segments(OTHER_UID))
			return 2;
	}
	if (!set_segments_max(2) || create_for(target.pid, POSIX_TRACE_CLOSE_FOR_CHILD, &trid) != 0)
		return 3;
	return posix_trace_shutdown(trid) || px_other_user_stop(&target) ? 4 : 0;
}

/* CREATE-12 CREATE-18: the system has a limit for the number of segments. */
START_TEST(create_by_root_without_segments_is_enomem)
{
	int result = px_test_in_child(create_without_segments, NULL);

	if (result == SKIPPED)
		px_test_skip("no IPC name space of our own");
	else
		ck_assert_int_eq(result, 0);
	expect_nothing_left();
}
END_TEST

static int create_in_small_file_system(void *options)
{
	trace_id_t trid;
	pid_t sleeper;
	int error;

	if (unshare(CLONE_NEWNS) != 0 || mount("none", "/", NULL, MS_REC | MS_PRIVATE, NULL) != 0 ||
	    mount("none", "/dev/shm", "tmpfs", 0, options) != 0)
		return SKIPPED;
	/* A program with trace points goes on, traced or not. */
	px_other_user_start(&target, OTHER_UID);
	if (tell(FOREIGN_OPEN, "small", 0, 0) <= 0 || tell(FOREIGN_RECORD, NULL, 0, 1000) != 0 ||
	    tell(FOREIGN_FORK, NULL, 0, 0) != 0 || px_other_user_stop(&target) != 0)
		return 1;
	sleeper = start_sleeper();
	error = create_for(sleeper, POSIX_TRACE_CLOSE_FOR_CHILD, &trid);
	if (!error)
		posix_trace_shutdown(trid);
	expect_nothing_left();
	if (px_other_user_count_files(OTHER_UID, "") > 1)
		return 2;
	return error;
}

static const struct {
	const char *options;
	int error;
} file_systems[] = {
	{"size=4k", ENOMEM}, /* no room for the registry */
	{"size=1m,nr_inodes=1", ENOMEM},
	{"size=64k", 0}, /* it may create no file except the registry */
};

/* CREATE-12 CREATE-18 */
START_TEST(create_by_root_in_full_file_system_is_enomem)
{
	int result = px_test_in_child(create_in_small_file_system,
				      (void *)(uintptr_t)file_systems[_i].options);

	if (result == SKIPPED)
		px_test_skip("no right to mount a file system");
	else
		ck_assert_int_eq(result, file_systems[_i].error);
}
END_TEST

static void add_case(Suite *suite, const char *name, void (*before)(void), TCase **tcase)
{
	*tcase = tcase_create(name);
	tcase_add_checked_fixture(*tcase, before, teardown);
	tcase_set_timeout(*tcase, 60);
	suite_add_tcase(suite, *tcase);
}

static Suite *make_suite(void)
{
	Suite *suite = suite_create("secure");
	TCase *tcase;

	add_case(suite, "another user", setup_target, &tcase);
	tcase_add_test(tcase, create_by_root_traces_process_of_another_user);
	tcase_add_loop_test(tcase, create_by_root_beside_a_damaged_names_file_lists_later_names, 0,
			    PX_NR_DAMAGES);
	tcase_add_test(tcase, create_withlog_by_root_logs_process_of_another_user);
	tcase_add_test(tcase, create_by_root_inherited_traces_children_by_fork_and_exec);
	tcase_add_test(tcase, create_by_root_not_inherited_leaves_children_alone);
	tcase_add_test(tcase, create_by_root_twice_both_streams_know_the_same_types);
	tcase_add_test(tcase, getnext_of_root_is_woken_by_process_of_another_user);
	tcase_add_loop_test(
		tcase, create_by_root_frees_what_a_controller_killed_outside_its_log_left, 0, 3);
	tcase_add_loop_test(tcase, create_by_root_frees_what_a_killed_controller_left, 0, 2);
	tcase_add_test(tcase, create_by_root_frees_what_a_controller_left_by_exec);
	tcase_add_test(tcase, shutdown_by_root_of_stream_of_stopped_target_removes_the_memory);
	tcase_add_test(tcase, create_by_another_user_is_eperm);
	tcase_add_loop_test(tcase, create_with_some_of_roots_rights_is_eperm, 0,
			    PX_ARRAY_SIZE(weak_controllers));
	tcase_add_test(tcase, create_by_root_while_the_lock_is_held_fails_in_time);
	tcase_add_test(tcase, create_by_root_without_descriptors_leaves_nothing);

	add_case(suite, "rights", setup, &tcase);
	tcase_add_checked_fixture(tcase, NULL, remove_copy);
	tcase_add_test(tcase, create_for_process_with_other_real_user_is_eperm);
	tcase_add_test(tcase, create_for_process_in_another_ipc_name_space_is_eperm);
	tcase_add_test(tcase, secure_program_ignores_txtrace_dir);
	tcase_add_test(tcase, create_for_secure_program_of_another_user_is_eperm);
	tcase_add_test(tcase, secure_program_takes_no_stream_of_root);
	tcase_add_loop_test(tcase, secure_program_takes_no_stream_of_its_invoker, 0, 2); /* group, capability */
	tcase_add_test(tcase, create_by_root_before_exec_traces_the_program);

	add_case(suite, "memory", setup, &tcase);
	tcase_add_test(tcase, sysv_memory_is_taken_from_root_alone);
	tcase_add_test(tcase, sysv_memory_can_be_mapped_again_and_retired);

	add_case(suite, "planted", setup, &tcase);
	tcase_add_loop_test(tcase, create_by_root_where_something_was_planted_is_refused, 0,
			    PX_ARRAY_SIZE(plants));
	tcase_add_test(tcase, create_by_root_where_a_file_system_is_mounted_is_refused);
	tcase_add_loop_test(tcase, create_by_root_makes_directory_and_registry_of_the_targets_user,
			    0, 2);
	tcase_add_test(tcase, create_by_root_without_segments_is_enomem);
	tcase_add_loop_test(tcase, create_by_root_in_full_file_system_is_enomem, 0,
			    PX_ARRAY_SIZE(file_systems));
	return suite;
}

static const struct px_other_user_role_entry roles[] = {
	{"record-with-rights", record_with_rights},
	{"trace-copy", trace_copy},
	{NULL, NULL},
};

int main(int argc, char **argv)
{
	px_other_user_main(argc, argv, roles);
	if (geteuid() != 0)
		skip_program("needs root, to have other users");
	return run_suite(make_suite());
}
