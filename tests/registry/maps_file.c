/* SPDX-License-Identifier: MIT */
/* The mappings that the programs of a process store, one after the other, and how a controller finds each of them. */
#include "registry/maps_file.h"
#include "support/helper_process.h"

#include <fcntl.h>
#include <limits.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <trace_ext.h>
#include <unistd.h>

#include "base/shm.h"
#include "txtb/txtb.h"

#define PID 4999999 /* no process has it: the kernel gives smaller ones */
#define OTHER 4999998
#define LAST_SERIAL UINT32_C(0xFFFFFD)
#define NO_MAPS "an emulator writes the mappings to a file of its own, beyond the limit"

static struct px_helper target;
static trace_id_t stream;
static struct px_registry_slot slot;
static uint32_t slot_index;

static uint32_t thread(uint32_t serial)
{
	return px_txtb_handle(PX_TXTB_THREAD, serial);
}

static void setup(void)
{
	target = px_helper_make(PX_BY_FORK_EXEC);
	stream = px_test_start_for(target.pid, true);
	for (slot_index = 0; slot_index < PX_STREAMS_MAX; slot_index++)
		if (px_registry_read(slot_index, &slot) && slot.target.pid == (uint32_t)target.pid)
			return;
	ck_abort_msg("the stream has no slot");
}

/* A program of the process stores its mappings: those of this process. */
static void store(uint32_t pid, uint32_t first)
{
	px_maps_file_store(slot_index, &slot, pid, thread(first));
}

/* Return the serial of the first handle of the program of a thread; 0: not known. */
static uint32_t first_of(uint32_t pid, uint32_t serial)
{
	static char text[65536];
	unsigned int first, again;
	size_t length;
	int error = txtrace_get_program_modules((pid_t)pid, thread(serial), text, sizeof(text) - 1, &length, &first);

	if (error) {
		ck_assert_int_eq(error, ESRCH);
		return 0;
	}
	ok(txtrace_get_program_modules((pid_t)pid, thread(serial), NULL, 0, &length, &again));
	ck_assert_uint_eq(first, again);
	ck_assert_ptr_nonnull(strstr(text, "libc.so"));
	return first - thread(0);
}

START_TEST(thread_belongs_to_the_program_that_began_before_it)
{
	unsigned int first;
	size_t length;
	char byte;

	ck_assert_uint_eq(first_of(PID, 100), 0);
	store(PID, 100);
	store(PID, 200);
	store(PID, 300);
	store(OTHER, 150);
	ck_assert_uint_eq(first_of(PID, 99), 0);
	ck_assert_uint_eq(first_of(PID, 100), 100);
	ck_assert_uint_eq(first_of(PID, 199), 100);
	ck_assert_uint_eq(first_of(PID, 200), 200);
	ck_assert_uint_eq(first_of(PID, 299), 200);
	ck_assert_uint_eq(first_of(PID, 300), 300);
	ck_assert_uint_eq(first_of(PID, 1000000), 300);
	ck_assert_uint_eq(first_of(OTHER, 200), 150);
	ok(txtrace_get_program_modules(PID, 0, NULL, 0, &length, &first));
	ck_assert_uint_eq(first, thread(300));
	fails(txtrace_get_program_modules(0, 0, &byte, 1, &length, &first), EINVAL);
	fails(txtrace_get_program_modules(PID, 0, NULL, 1, &length, &first), EINVAL);
	fails(txtrace_get_program_modules(PID, 0, &byte, 1, NULL, &first), EINVAL);
	fails(txtrace_get_program_modules(PID, 0, &byte, 1, &length, NULL), EINVAL);
	fails(txtrace_get_program_modules(PID, 0, &byte, 1, &length, &first), ESRCH); /* no line fits */
}
END_TEST

static uint32_t found_between;

static void find_the_program_before(void)
{
	found_between = first_of(PID, 150);
}

START_TEST(program_is_known_while_the_next_one_stores_its_mappings)
{
	store(PID, 100);
	px_test_at_point("maps_file.store.aside", find_the_program_before);
	store(PID, 200);
	ck_assert_uint_eq(found_between, 100);
}
END_TEST

START_TEST(program_that_stores_again_keeps_the_programs_before_it)
{
	store(PID, 100);
	store(PID, 200);
	store(PID, 200);
	store(PID, 200);
	ck_assert_uint_eq(first_of(PID, 150), 100);
	ck_assert_uint_eq(first_of(PID, 250), 200);
}
END_TEST

START_TEST(handles_that_begin_again_are_newer)
{
	store(PID, LAST_SERIAL - 100);
	store(PID, 50);
	ck_assert_uint_eq(first_of(PID, LAST_SERIAL - 50), LAST_SERIAL - 100);
	ck_assert_uint_eq(first_of(PID, 10), LAST_SERIAL - 100);
	ck_assert_uint_eq(first_of(PID, 60), 50);
	ck_assert_uint_eq(first_of(PID, LAST_SERIAL - 200), 0);
}
END_TEST

START_TEST(child_of_a_fork_has_the_program_of_its_parent_until_it_executes_another_one)
{
	store(PID, 100);
	store(PID, 200);
	ck_assert(px_maps_file_inherit(slot_index, slot.generation, PID, OTHER));
	store(OTHER, 300);
	ck_assert_uint_eq(first_of(OTHER, 250), 200);
	ck_assert_uint_eq(first_of(OTHER, 300), 300);
	ck_assert_uint_eq(first_of(OTHER, 150), 0); /* it did not exist */
	ck_assert_uint_eq(first_of(PID, 300), 200);
}
END_TEST

/* A process that has ended had the pid, and its file is still there. */
START_TEST(child_of_a_fork_does_not_keep_the_file_of_another_process)
{
	store(PID, 100);
	ck_assert(px_maps_file_inherit(slot_index, slot.generation, PID, OTHER));
	store(OTHER, 200);
	ck_assert(!px_maps_file_inherit(slot_index, slot.generation, PID, OTHER));
	store(OTHER, 300);
	ck_assert_uint_eq(first_of(OTHER, 250), 200);
	ck_assert_uint_eq(first_of(OTHER, 350), 300);
	ck_assert_uint_eq(first_of(PID, 350), 100);
}
END_TEST

/* An emulator may write the mappings to a file first.  Then a process with a limit ends when it reads them. */
static bool has_maps_below_limit(void)
{
	int status;
	pid_t child = fork();

	ck_assert_int_ge(child, 0);
	if (child == 0) {
		px_test_limit_files(10);
		_exit(open("/proc/self/maps", O_RDONLY) < 0);
	}
	ck_assert_int_eq(waitpid(child, &status, 0), child);
	return WIFEXITED(status) && WEXITSTATUS(status) == 0;
}

/* A program may not write a file with its mappings: its threads belong to it nevertheless. */
START_TEST(program_that_cannot_store_its_mappings_is_not_taken_for_another_one)
{
	unsigned int first;
	size_t length;

	if (!has_maps_below_limit()) {
		px_test_skip(NO_MAPS);
		return;
	}
	store(PID, 100);
	px_test_limit_files(1000);
	store(PID, 200);
	px_test_limit_files(10); /* not even its first line */
	store(OTHER, 150);
	px_test_unlimit_files();
	ck_assert_uint_eq(first_of(PID, 150), 100);
	ck_assert_uint_eq(first_of(PID, 250), 0);
	ok(txtrace_get_program_modules(PID, 0, NULL, 0, &length, &first));
	ck_assert_uint_eq(first, thread(200));
	ck_assert_uint_eq(first_of(OTHER, 150), 0);
	store(PID, 300);
	ck_assert_uint_eq(first_of(PID, 150), 100);
	ck_assert_uint_eq(first_of(PID, 350), 300);
}
END_TEST

/* A process with two copies of the library: the one that was loaded first stores again. */
START_TEST(copies_of_the_library_store_for_one_program)
{
	store(PID, 100);
	store(PID, 200);
	store(PID, 210);
	store(PID, 200);
	ck_assert_uint_eq(first_of(PID, 150), 100);
	ck_assert_uint_ge(first_of(PID, 250), 200);
	ck_assert(px_maps_file_inherit(slot_index, slot.generation, PID, OTHER));
	ck_assert(px_maps_file_inherit(slot_index, slot.generation, PID, OTHER));
}
END_TEST

START_TEST(mappings_stay_if_they_cannot_be_stored_again)
{
	if (_i == 0 && !has_maps_below_limit()) {
		px_test_skip(NO_MAPS);
		return;
	}
	store(PID, 100);
	store(PID, 200);
	px_test_limit_files(_i ? 10 : 1000);
	store(PID, 200);
	px_test_unlimit_files();
	ck_assert_uint_eq(first_of(PID, 150), 100);
	ck_assert_uint_eq(first_of(PID, 250), 200);
}
END_TEST

/* A process was killed, or executed a program, while it stored its mappings. */
START_TEST(file_that_is_not_whole_does_not_stop_later_programs)
{
	char name[PX_SHM_NAME_MAX], path[PX_SHM_PATH_MAX];

	store(PID, 100);
	px_registry_maps_name(slot_index, slot.generation, PID, _i ? thread(200) : 0, name);
	snprintf(path, sizeof(path), "%s/%s~", getenv("TXTRACE_DIR"), name);
	ck_assert_ptr_nonnull(fopen(path, "w"));
	store(PID, 300);
	ck_assert_uint_eq(first_of(PID, 150), 100);
	ck_assert_uint_eq(first_of(PID, 350), 300);
}
END_TEST

/* Programs of the same user may write anything into these files. */
START_TEST(files_that_name_each_other_or_are_no_files_of_mappings_end_the_search)
{
	static const char *const contents[] = {
		"16777416 16777416    \n", /* the program before 200 is 200 */
		"", "1", "1 ", " \n", "\n", "x y\n", "99999999999999999999999 99999999999999999999999\n",
		"11111111112222222222333333333344444444445555555555",
	};
	char name[PX_SHM_NAME_MAX], path[PX_SHM_PATH_MAX];
	FILE *file;

	store(PID, 100);
	store(PID, 200);
	if (_i == 0)
		store(PID, 300);
	px_registry_maps_name(slot_index, slot.generation, PID, _i ? 0 : thread(200), name);
	snprintf(path, sizeof(path), "%s/%s", getenv("TXTRACE_DIR"), name);
	ck_assert_int_eq(access(path, F_OK), 0);
	file = fopen(path, "w");
	ck_assert_ptr_nonnull(file);
	fputs(contents[_i], file);
	fclose(file);
	ck_assert_uint_eq(first_of(PID, 50), 0);
	/* The search ends at the damaged file. */
	ck_assert_uint_eq(first_of(PID, 150), 0);
	ck_assert_uint_eq(first_of(PID, 350), _i == 0 ? 300 : 0);
	store(PID, 400);
	ck_assert_uint_eq(first_of(PID, 450), 400);
}
END_TEST

START_TEST(all_files_go_with_the_stream)
{
	char name[PX_SHM_NAME_MAX];

	store(PID, 100);
	store(PID, 200);
	store(PID, 300);
	px_registry_maps_name(slot_index, slot.generation, PID, thread(100), name);
	ck_assert(px_shm_has(name));
	ok(posix_trace_shutdown(stream));
	ck_assert(!px_shm_has(name));
	px_registry_maps_name(slot_index, slot.generation, PID, thread(200), name);
	ck_assert(!px_shm_has(name));
	px_registry_maps_name(slot_index, slot.generation, PID, 0, name);
	ck_assert(!px_shm_has(name));
	ck_assert_uint_eq(first_of(PID, 350), 0);
}
END_TEST

int main(int argc, char **argv)
{
	TCase *tcase = tcase_create("programs");
	Suite *suite = suite_create("maps_file");

	if (px_helper_main(argc, argv, NULL))
		return 0;
	tcase_add_checked_fixture(tcase, setup, NULL);
	tcase_set_timeout(tcase, 60);
	tcase_add_test(tcase, thread_belongs_to_the_program_that_began_before_it);
	tcase_add_test(tcase, program_is_known_while_the_next_one_stores_its_mappings);
	tcase_add_test(tcase, program_that_stores_again_keeps_the_programs_before_it);
	tcase_add_test(tcase, handles_that_begin_again_are_newer);
	tcase_add_test(tcase, child_of_a_fork_has_the_program_of_its_parent_until_it_executes_another_one);
	tcase_add_test(tcase, child_of_a_fork_does_not_keep_the_file_of_another_process);
	tcase_add_test(tcase, program_that_cannot_store_its_mappings_is_not_taken_for_another_one);
	tcase_add_test(tcase, copies_of_the_library_store_for_one_program);
	tcase_add_loop_test(tcase, mappings_stay_if_they_cannot_be_stored_again, 0, 2);
	tcase_add_loop_test(tcase, file_that_is_not_whole_does_not_stop_later_programs, 0, 2);
	tcase_add_loop_test(tcase, files_that_name_each_other_or_are_no_files_of_mappings_end_the_search, 0, 9);
	tcase_add_test(tcase, all_files_go_with_the_stream);
	suite_add_tcase(suite, tcase);
	return run_suite(suite);
}
