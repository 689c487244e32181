/* SPDX-License-Identifier: MIT */
/*
 * Which object a descriptor refers to, in processes that fork, execute programs and end.  The test writes the records
 * of the calls itself.
 */
#include "support/common.h"

#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/ioctl.h>

#include "calls/runners.h"

START_TEST(child_has_what_its_parent_had_when_it_began)
{
	struct runner parent = runner(100, 1), first, second;

	opens(parent, 3, "/a", 0);
	first = forks(parent, 101);
	closes(parent, 3);
	opens(parent, 3, "/b", 0);
	opens(parent, 4, "/c", 0);
	second = forks(parent, 102);
	call(parent, PX_CALL_dup, 0, 4, 0, 3);
	IS(parent, 3, "/c");
	IS(first, 3, "/a");
	IS(second, 3, "/b");
	IS(second, 4, "/c");
	IS_UNKNOWN(first, 4);
}
END_TEST

START_TEST(grandchild_has_what_its_ancestors_had)
{
	struct runner parent = runner(100, 1), child, grandchild;

	opens(parent, 3, "/a", 0);
	opens(parent, 4, "/b", 0);
	child = forks(parent, 101);
	grandchild = forks(child, 102);
	opens(child, 4, "/c", 0);
	closes(parent, 3);
	closes(parent, 4);
	IS(grandchild, 3, "/a");
	IS(grandchild, 4, "/b");
	IS(child, 3, "/a");
	IS(child, 4, "/c");
}
END_TEST

START_TEST(descriptor_that_the_child_closed_is_not_that_of_its_parent_again)
{
	struct runner parent = runner(100, 1), child, grandchild;

	opens(parent, 3, "/a", 0);
	child = forks(parent, 101);
	closes(child, 3);
	grandchild = forks(child, 102);
	IS_UNKNOWN(child, 3);
	IS_UNKNOWN(grandchild, 3);
	IS(parent, 3, "/a");
}
END_TEST

/* With a call that marks it: open, F_SETFD, FIOCLEX, dup3, accept4, pipe2 and fopen. */
START_TEST(program_that_is_executed_does_not_have_what_was_marked)
{
	struct runner before = runner(100, 1), after = runner(100, 2);

	opens(before, 3, "/kept", 0);
	opens(before, 4, "/marked", O_CLOEXEC);
	opens(before, 5, "/marked-later", 0);
	call(before, PX_CALL_fcntl, PX_RECORD_ENDS_WITH_EXEC, 5, F_SETFD, 0);
	opens(before, 6, "/not-marked-any-more", O_CLOEXEC);
	call(before, PX_CALL_fcntl, 0, 6, F_SETFD, 0);
	opens(before, 7, "/by-ioctl", 0);
	call(before, PX_CALL_ioctl, 0, 7, (uint32_t)FIOCLEX, 0);
	opens(before, 8, "/by-ioctl-not", O_CLOEXEC);
	call(before, PX_CALL_ioctl, 0, 8, (uint32_t)FIONCLEX, 0);
	call(before, PX_CALL_dup, PX_RECORD_ENDS_WITH_EXEC, 3, 0, 9);
	call(before, PX_CALL_dup, 0, 4, 0, 10);
	call(before, PX_CALL_fcntl, PX_RECORD_ENDS_WITH_EXEC, 3, F_SETFD, -1); /* failed */
	call_more(before, PX_CALL_fopen, PX_RECORD_ENDS_WITH_EXEC, 11, 0, 11, "/stream", 7);
	call(before, PX_CALL_pipe, PX_RECORD_ENDS_WITH_EXEC, 12, 13, 0);
	IS(before, 9, "/kept");
	executes(before, after, "/bin/program", "/bin/program");
	IS(after, 3, "/kept");
	IS(after, 6, "/not-marked-any-more");
	IS(after, 8, "/by-ioctl-not");
	IS(after, 10, "/marked");
	executes(after, runner(100, 3), "name", "/bin/name"); /* execvp() */
	IS(after, 10, "/marked");
	for (int fd = 4; fd <= 13; fd++)
		if (fd != 6 && fd != 8 && fd != 10)
			IS_UNKNOWN(after, fd);
}
END_TEST

/* A program that is not traced was between, and may have changed everything; or the call failed, or is not recorded. */
START_TEST(descriptors_are_not_known_after_a_program_that_is_not_traced)
{
	struct runner before = runner(100, 1), after = runner(100, 2);

	opens(before, 3, "/a", 0);
	if (_i == 0)
		executes(before, after, "/bin/static", "/bin/program");
	call_more(before, PX_CALL_execve, PX_RECORD_BEGINS, _i == 1 ? 7 : -1, 0, 0, "/bin/program", 12);
	if (_i == 2)
		call_more(before, PX_CALL_execve, PX_RECORD_ENDS, -1, 0, -2, "/bin/program", 12);
	if (_i > 0)
		call_more(after, PX_CALL_txtrace_process_start, 0, 1, 0, (int64_t)px_call_hash_path("/bin/program", 12),
			  "program", 7);
	IS_UNKNOWN(after, 3);
}
END_TEST

/* The mark is that of each process, and the first record of the program may be any call. */
START_TEST(mark_ends_the_descriptor_only_in_the_process_that_executes)
{
	struct runner parent = runner(100, 1), child, program;

	opens(parent, 3, "/a", O_CLOEXEC);
	opens(parent, 4, "/b", 0);
	opens(parent, 5, "/c", O_CLOEXEC);
	child = forks(parent, 101);
	call(parent, PX_CALL_fcntl, 0, 5, F_SETFD, 0);
	call(child, PX_CALL_fcntl, PX_RECORD_ENDS_WITH_EXEC, 4, F_SETFD, 0);
	program = runner(101, 2);
	IS_UNKNOWN(program, 3);
	IS_UNKNOWN(program, 4);
	IS_UNKNOWN(program, 5);
	IS(parent, 3, "/a");
	IS(parent, 4, "/b");
	IS(parent, 5, "/c");
}
END_TEST

START_TEST(child_may_tell_before_its_parent_that_it_began)
{
	struct runner parent = runner(100, 1), child;

	opens(parent, 3, "/a", 0);
	opens(parent, 4, "/b", 0);
	child = runner(101, 1);
	starts(child, 100, "");
	closes(child, 3);
	opens(child, 5, "/own", 0);
	forks(parent, 101);
	closes(parent, 4);
	IS_UNKNOWN(child, 3);
	IS(child, 4, "/b");
	IS(child, 5, "/own");
}
END_TEST

START_TEST(child_of_vfork_has_nothing_that_is_known)
{
	struct runner parent = runner(100, 1), program;

	opens(parent, 3, "/a", 0);
	call(parent, PX_CALL_vfork, _i ? PX_RECORD_ENDS : 0, 0, 0, 101);
	program = runner(101, 2);
	starts(program, 100, "program");
	IS_UNKNOWN(program, 3);
	call(parent, PX_CALL_posix_spawn, 0, 102, 0, 0);
	program = runner(102, 3);
	starts(program, 100, "program");
	IS_UNKNOWN(program, 3);
}
END_TEST

/* Its calls are recorded as calls of the thread that waits for it, but its descriptors are its own. */
START_TEST(child_of_vfork_has_other_descriptors_than_the_thread_that_waits)
{
	struct runner parent = runner(100, 1), other = other_thread(parent);

	opens(parent, 3, "/a", 0);
	call(parent, PX_CALL_vfork, PX_RECORD_BEGINS, 0, 0, 0);
	IS_UNKNOWN(parent, 3);
	IS(other, 3, "/a");
	closes(parent, 3);
	IS(other, 3, "/a");
	opens(other, 4, "/b", 0);
	IS_UNKNOWN(parent, 4);
	if (_i == 1) { /* the end was lost */
		system_event(PX_EVENT_OVERFLOW);
		system_event(PX_EVENT_RESUME);
		opens(parent, 3, "/a", 0);
		opens(parent, 4, "/b", 0);
	} else {
		call(parent, PX_CALL_vfork, PX_RECORD_ENDS, 0, 0, 101);
	}
	IS(parent, 3, "/a");
	IS(parent, 4, "/b");
	IS(other, 3, "/a");
	call(parent, PX_CALL_vfork, PX_RECORD_BEGINS, 0, 0, 0);
	IS_UNKNOWN(parent, 4);
}
END_TEST

START_TEST(process_with_a_pid_that_is_used_again_has_nothing_of_the_first)
{
	const int32_t ended[] = {101, 0};
	struct runner parent = runner(100, 1), child;
	uint32_t lock;

	opens(parent, 3, "/a", 0);
	child = forks(parent, 101);
	starts(child, 100, "");
	IS(child, 3, "/a");
	opens(child, 4, "/b", 0);
	call_more(child, PX_CALL_pthread_mutex_lock, 0, 0x1000, 0, 0, "", 0);
	lock = object_of_call();
	if (_i == 1)
		call_more(parent, PX_CALL_waitpid, 0, -1, 0, 101, ended, sizeof(ended));
	closes(parent, 3);
	child = forks(parent, 101); /* without a wait: the program ignores SIGCHLD */
	starts(child, 100, "");
	IS_UNKNOWN(child, 3);
	IS_UNKNOWN(child, 4);
	call_more(child, PX_CALL_pthread_mutex_lock, 0, 0x1000, 0, 0, "", 0);
	ck_assert_uint_ne(object_of_call(), lock);
}
END_TEST

START_TEST(child_of_daemon_has_other_standard_streams)
{
	struct runner parent = runner(100, 1), child;

	opens(parent, 1, "/out", 0);
	opens(parent, 3, "/log", 0);
	call(parent, PX_CALL_daemon, 0, 0, _i ? 1 : 0, 0);
	child = runner(101, 1);
	starts(child, 100, "");
	IS(child, 3, "/log");
	if (_i)
		IS(child, 1, "/out");
	else
		IS_UNKNOWN(child, 1);
}
END_TEST

/* A server with a child for each connection, which begins to read when the next connections are there. */
START_TEST(each_of_many_children_has_its_own)
{
	struct runner parent = runner(100, 1), child[3000];
	char name[32];

	opens(parent, 3, "/listener", 0);
	for (uint32_t i = 0; i < PX_ARRAY_SIZE(child); i++) {
		snprintf(name, sizeof(name), "/connection-%u", i);
		opens(parent, 4, name, 0);
		child[i] = forks(parent, 1000 + i);
		closes(parent, 4);
	}
	closes(parent, 3);
	for (uint32_t i = 0; i < PX_ARRAY_SIZE(child); i++) {
		snprintf(name, sizeof(name), "/connection-%u", i);
		IS(child[i], 4, name);
		IS(child[i], 3, "/listener");
	}
}
END_TEST

/* If the table has to forget a process, what it inherited is not known, but not wrong. */
START_TEST(what_the_table_forgets_is_never_wrong)
{
	struct runner parent = runner(100, 1), child;
	char name[32];

	opens(parent, 3, "/a", 0);
	child = forks(parent, 101);
	for (int i = 0; i < 2 * PX_CALL_OBJECTS_MAX; i++) {
		snprintf(name, sizeof(name), "/file %d", i);
		opens(parent, 4 + i, name, 0);
	}
	opens(parent, 3, "/b", 0);
	IS_UNKNOWN(child, 3);
	IS(parent, 3, "/b");
}
END_TEST

/* Among the lost events may be a close and another open. */
START_TEST(nothing_is_known_after_events_were_lost)
{
	struct runner parent = runner(100, 1), child;

	opens(parent, 3, "/a", 0);
	child = forks(parent, 101);
	starts(child, 100, "");
	system_event(PX_EVENT_OVERFLOW);
	IS_UNKNOWN(parent, 3);
	opens(parent, 4, "/b", 0);
	IS_UNKNOWN(parent, 4);
	system_event(PX_EVENT_RESUME);
	IS_UNKNOWN(parent, 3);
	IS_UNKNOWN(parent, 4);
	IS_UNKNOWN(child, 3);
	opens(parent, 3, "/c", 0);
	IS(parent, 3, "/c");
	IS_UNKNOWN(child, 3);
	child = forks(parent, 102);
	closes(parent, 3);
	IS(child, 3, "/c");
}
END_TEST

/* Another thread opens and closes files while this one forks: the child has what was there before, or after, that. */
START_TEST(what_other_threads_change_during_a_fork_is_not_known_in_the_child)
{
	struct runner parent = runner(100, 1), other = parent, child = runner(101, 1);
	uint32_t fork_time;

	opens(parent, 3, "/a", 0);
	opens(parent, 4, "/b", 0);
	opens(parent, 5, "/c", 0);
	fork_time = next_tick();
	closes(other, 3);
	opens(other, 3, "/d", 0);
	call(other, PX_CALL_dup, 0, 3, 0, 4);
	if (_i)
		call_more(child, PX_CALL_txtrace_process_start, 0, 100, fork_time, 0, "", 0);
	call(parent, PX_CALL_fork, 0, 0, fork_time, 101);
	IS_UNKNOWN(child, 3);
	IS_UNKNOWN(child, 4);
	IS(child, 5, "/c");
	closes(parent, 4);
	IS(parent, 3, "/d");
}
END_TEST

/* The child closed the file of its parent, and has another one there, of which the table has no room to know. */
START_TEST(descriptor_that_the_table_forgot_is_not_that_of_the_parent)
{
	struct runner parent = runner(100, 1), child;

	opens(parent, 3, "/a", 0);
	child = forks(parent, 101);
	closes(child, 3);
	opens(child, 3, "/b", 0);
	for (int i = 0; i < 2 * PX_CALL_OBJECTS_MAX; i++) {
		opens(parent, 4 + i, "/other", 0);
		if (i % 1000 == 0)
			IS(parent, 3, "/a");
	}
	IS_UNKNOWN(child, 3);
	call(parent, PX_CALL_fcntl, PX_RECORD_ENDS_WITH_EXEC, 3, F_SETFD, 0);
	IS_UNKNOWN(child, 3);
}
END_TEST

/* Nobody waits for the children (SIGCHLD is ignored), and each ends before its parent tells that it began. */
START_TEST(parent_that_tells_late_is_not_believed)
{
	struct runner parent = runner(100, 1), child;

	for (int i = 0; i < 3; i++) {
		opens(parent, 3, "/a", 0);
		child = runner(101, 1);
		starts(child, 100, "");
		call(child, PX_CALL_txtrace_process_end, 0, 0, 0, 0);
		call(parent, PX_CALL_fork, 0, 0, 0, 101);
	}
	call(parent, PX_CALL_fork, 0, 0, 0, 101);
	closes(parent, 3);
	opens(parent, 3, "/b", 0);
	child = runner(101, 1);
	starts(child, 100, "");
	ck_assert_str_ne(file_of(child, 3), "/b");
}
END_TEST

/* A log that goes on has the objects of before, but the events that were not written may have changed descriptors. */
START_TEST(descriptors_that_were_restored_are_not_believed)
{
	struct runner parent = runner(100, 1);
	struct px_object object = {
		.handle = px_txtb_handle(PX_TXTB_FILE, 77), .type = PX_TXTB_FILE, .pid = 100, .name = "/a"};

	px_translator_restore(translator, &object, 3, 0);
	ck_assert_ptr_nonnull(px_translator_find(translator, object.handle));
	IS_UNKNOWN(parent, 3);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("descriptors");
	TCase *tcase = tcase_create("descriptors");

	tcase_add_checked_fixture(tcase, runners_setup, runners_teardown);
	tcase_add_test(tcase, child_has_what_its_parent_had_when_it_began);
	tcase_add_test(tcase, grandchild_has_what_its_ancestors_had);
	tcase_add_test(tcase, descriptor_that_the_child_closed_is_not_that_of_its_parent_again);
	tcase_add_test(tcase, program_that_is_executed_does_not_have_what_was_marked);
	tcase_add_loop_test(tcase, descriptors_are_not_known_after_a_program_that_is_not_traced, 0, 3);
	tcase_add_test(tcase, mark_ends_the_descriptor_only_in_the_process_that_executes);
	tcase_add_test(tcase, child_may_tell_before_its_parent_that_it_began);
	tcase_add_loop_test(tcase, child_of_vfork_has_nothing_that_is_known, 0, 2);
	tcase_add_loop_test(tcase, child_of_vfork_has_other_descriptors_than_the_thread_that_waits, 0, 2);
	tcase_add_loop_test(tcase, process_with_a_pid_that_is_used_again_has_nothing_of_the_first, 0, 2);
	tcase_add_loop_test(tcase, child_of_daemon_has_other_standard_streams, 0, 2);
	tcase_add_test(tcase, each_of_many_children_has_its_own);
	tcase_add_test(tcase, what_the_table_forgets_is_never_wrong);
	tcase_add_test(tcase, nothing_is_known_after_events_were_lost);
	tcase_add_loop_test(tcase, what_other_threads_change_during_a_fork_is_not_known_in_the_child, 0, 2);
	tcase_add_test(tcase, descriptor_that_the_table_forgot_is_not_that_of_the_parent);
	tcase_add_test(tcase, parent_that_tells_late_is_not_believed);
	tcase_add_test(tcase, descriptors_that_were_restored_are_not_believed);
	suite_add_tcase(suite, tcase);
	return run_suite(suite);
}
