/* SPDX-License-Identifier: MIT */
/*
 * Descriptions of event types: they exist wherever the names exist, in streams, logs and other processes, and after a
 * crash.  The library refuses a wrong description.
 */
#include "support/common.h"

#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <trace_ext.h>
#include <unistd.h>

#include "fields/fields.h"

#define ORDER "u32 id; pad 4; f64 load; char name[24]"

static void has_description(trace_id_t trid, trace_event_id_t type, const char *expected)
{
	char text[PX_FIELDS_TEXT_MAX];
	size_t length = 1;

	ok(txtrace_get_type_description(trid, type, text, sizeof(text), &length));
	ck_assert_uint_eq(length, strlen(expected));
	ck_assert(memcmp(text, expected, length) == 0);
}


START_TEST(describe_type_before_and_after_create_is_in_stream_and_log)
{
	trace_event_id_t early = px_test_open_type("early"), late = px_test_open_type("late");
	trace_event_id_t none = px_test_open_type("none");
	const struct px_test_stream wanted = {0};
	int fd = px_test_file(), copy = px_test_file();
	trace_id_t trid;

	ok(txtrace_describe_type(early, ORDER));
	trid = px_test_create_log(&wanted, fd);
	ok(posix_trace_start(trid));
	px_test_trace(late, 1);
	ok(txtrace_describe_type(late, "struct order"));
	ok(txtrace_describe_type(late, "struct order"));
	ok(txtrace_trid_describe_type(trid, none, "uint32_t id;"));
	has_description(trid, early, ORDER);
	has_description(trid, late, "struct order");
	ok(posix_trace_shutdown(trid));
	trid = px_test_open(fd);
	has_description(trid, early, ORDER);
	has_description(trid, late, "struct order");
	has_description(trid, none, "uint32_t id;");
	has_description(trid, POSIX_TRACE_START, "");
	ok(posix_trace_close(trid));
	/* Only that stream has the last description. */
	trid = px_test_create(&wanted);
	has_description(trid, early, ORDER);
	has_description(trid, none, "");
	ok(txtrace_snapshot(trid, copy));
	ok(posix_trace_shutdown(trid));
	trid = px_test_open(copy);
	has_description(trid, early, ORDER);
	has_description(trid, none, "");
	ok(posix_trace_close(trid));
	close(fd);
	close(copy);
}
END_TEST

START_TEST(describe_type_macro_registers_name_of_type)
{
	struct order {
		int id;
	};
	trace_event_id_t type = px_test_open_type("order");
	const struct px_test_stream wanted = {0};
	trace_id_t trid = px_test_create(&wanted);

	ok(TXTRACE_TYPE(type, struct order));
	has_description(trid, type, "struct order");
	ok(posix_trace_shutdown(trid));
}
END_TEST

START_TEST(describe_type_any_length_comes_back)
{
	static const size_t lengths[] = {4, 59, 60, 61, 119, 120, 121, 4094, 4095};
	const struct px_test_stream wanted = {0};
	int fd = px_test_file();
	trace_id_t trid = px_test_create_log(&wanted, fd);
	trace_event_id_t type[9];
	char text[PX_FIELDS_TEXT_MAX + 2], name[16];
	size_t length;

	for (int i = 0; i < 9; i++) {
		snprintf(name, sizeof(name), "type%d", i);
		type[i] = px_test_open_type(name);
		memset(text, ' ', lengths[i]);
		memcpy(text + lengths[i] - 4, "u8 a", 5);
		ok(txtrace_describe_type(type[i], text));
	}
	ok(posix_trace_shutdown(trid));
	trid = px_test_open(fd);
	for (int i = 0; i < 9; i++) {
		memset(text, ' ', lengths[i]);
		memcpy(text + lengths[i] - 4, "u8 a", 5);
		has_description(trid, type[i], text);
	}
	fails(txtrace_get_type_description(trid, type[0], text, 3, &length), ENOSPC);
	ck_assert_uint_eq(length, 4);
	ok(txtrace_get_type_description(trid, type[0], NULL, 0, &length));
	ck_assert_uint_eq(length, 4);
	ok(posix_trace_close(trid));
	close(fd);
}
END_TEST

START_TEST(describe_type_mistake_has_its_column)
{
	trace_event_id_t type = px_test_open_type("mistake");
	char *large = malloc(PX_FIELDS_TEXT_MAX + 1), name[16];
	const struct px_test_stream wanted = {0};
	trace_id_t bad[PX_TEST_BAD_TRIDS], trid;
	const char *mistake = NULL;
	size_t column = 7, length;
	int error = 0;

	fails(txtrace_describe_type(type, "u32 id; f65 load"), EINVAL);
	fails(txtrace_describe_check("u32 id; f65 load", &column, &mistake), EINVAL);
	ck_assert_uint_eq(column, 9);
	ck_assert_str_eq(mistake, "the type is not known");
	fails(txtrace_describe_check("u32", &column, NULL), EINVAL);
	ck_assert_uint_eq(column, 4);
	ok(txtrace_describe_check("u32 id", &column, &mistake));
	ck_assert_uint_eq(column, 0);
	fails(txtrace_describe_check(NULL, &column, &mistake), EINVAL);
	fails(txtrace_describe_check("u32 id", NULL, &mistake), EINVAL);
	fails(txtrace_describe_type(type, NULL), EINVAL);
	fails(txtrace_describe_type(POSIX_TRACE_START, "u32 id"), EINVAL);
	fails(txtrace_describe_type(POSIX_TRACE_UNNAMED_USEREVENT, "u32 id"), EINVAL);
	fails(txtrace_describe_type(type + 1000, "u32 id"), EINVAL);
	fails(txtrace_describe_type(1u << 30, "u32 id"), EINVAL);
	ok(txtrace_describe_type(type, "u32 id"));
	fails(txtrace_describe_type(type, "u32 number"), EEXIST);
	px_test_bad_trids(bad);
	for (int i = 0; i < PX_TEST_BAD_TRIDS; i++) {
		fails(txtrace_trid_describe_type(bad[i], type, "u32 id"), EINVAL);
		fails(txtrace_get_type_description(bad[i], type, NULL, 0, &length), EINVAL);
	}
	trid = px_test_create(&wanted);
	fails(txtrace_trid_describe_type(trid, type + 1000, "u32 id"), EINVAL);
	fails(txtrace_get_type_description(trid, type + 1000, NULL, 0, &length), EINVAL);
	fails(txtrace_get_type_description(trid, type, NULL, 0, NULL), EINVAL);
	ok(posix_trace_shutdown(trid));
	memset(large, ' ', PX_FIELDS_TEXT_MAX);
	memcpy(large, "u8 a", 4);
	large[PX_FIELDS_TEXT_MAX] = '\0';
	for (int i = 0; !error && i < 20; i++) {
		snprintf(name, sizeof(name), "large%d", i);
		error = txtrace_describe_type(px_test_open_type(name), large);
		ck_assert(error == 0 || i == 8 || i == 7);
	}
	fails(error, ENOSPC);
	free(large);
}
END_TEST

/* The header and the man pages say how many bytes all descriptions may have. */
#define ALL_BYTES 32768

static int describe_with(unsigned int i, size_t length)
{
	char name[16], text[PX_FIELDS_TEXT_MAX + 1];

	snprintf(name, sizeof(name), "sized%u", i);
	memset(text, ' ', length);
	memcpy(text, "u8 a", 4);
	text[length] = '\0';
	return txtrace_describe_type(px_test_open_type(name), text);
}

START_TEST(describe_type_all_bytes_are_those_that_are_documented)
{
	size_t used = 0;
	unsigned int i = 0;

	for (; ALL_BYTES - used > PX_FIELDS_TEXT_MAX; used += PX_FIELDS_TEXT_MAX)
		ok(describe_with(i++, PX_FIELDS_TEXT_MAX));
	fails(describe_with(i, ALL_BYTES - used + 1), ENOSPC);
	ok(describe_with(i + 1, ALL_BYTES - used));
	fails(describe_with(i + 2, 4), ENOSPC);
}
END_TEST

/* A traced process describes one type before the controller starts, and another type afterwards. */
static pid_t start_target(int *to, int *from)
{
	int down[2], up[2];
	char byte;
	pid_t pid;

	ok(pipe(down));
	ok(pipe(up));
	pid = fork();
	ck_assert_int_ge(pid, 0);
	if (pid == 0) {
		trace_event_id_t type;

		if (posix_trace_eventid_open("first", &type) != 0 || txtrace_describe_type(type, ORDER) != 0)
			_exit(1);
		if (write(up[1], "1", 1) != 1 || read(down[0], &byte, 1) != 1)
			_exit(2);
		if (posix_trace_eventid_open("second", &type) != 0 ||
		    txtrace_describe_type(type, "u8 a") != 0)
			_exit(3);
		posix_trace_event(type, "x", 1);
		if (write(up[1], "2", 1) != 1 || read(down[0], &byte, 1) != 1)
			_exit(4);
		_exit(0);
	}
	*to = down[1];
	*from = up[0];
	ck_assert_int_eq(read(*from, &byte, 1), 1);
	return pid;
}

START_TEST(describe_type_of_target_reaches_controller)
{
	int to, from, status, fd = px_test_file();
	trace_event_id_t first, second;
	trace_attr_t attr;
	trace_id_t trid;
	char byte;
	pid_t pid = start_target(&to, &from);

	ok(posix_trace_attr_init(&attr));
	ok(posix_trace_create_withlog(pid, &attr, fd, &trid));
	ok(posix_trace_start(trid));
	ck_assert_int_eq(write(to, "x", 1), 1);
	ck_assert_int_eq(read(from, &byte, 1), 1);
	ok(posix_trace_trid_eventid_open(trid, "first", &first));
	ok(posix_trace_trid_eventid_open(trid, "second", &second));
	has_description(trid, first, ORDER);
	has_description(trid, second, "u8 a");
	ok(txtrace_trid_describe_type(trid, second, "u8 a"));
	fails(txtrace_trid_describe_type(trid, second, "u8 b"), EEXIST);
	ck_assert_int_eq(write(to, "x", 1), 1);
	ck_assert_int_eq(waitpid(pid, &status, 0), pid);
	ck_assert_int_eq(status, 0);
	ok(posix_trace_shutdown(trid));
	trid = px_test_open(fd);
	has_description(trid, first, ORDER);
	has_description(trid, second, "u8 a");
	fails(txtrace_trid_describe_type(trid, second, "u8"), EINVAL);
	fails(txtrace_trid_describe_type(trid, second + 100, "u8 b"), EINVAL);
	fails(txtrace_trid_describe_type(trid, POSIX_TRACE_START, "u8 b"), EINVAL);
	ok(txtrace_trid_describe_type(trid, second, "u8 b"));
	ok(txtrace_trid_describe_type(trid, second, "u8 b"));
	fails(txtrace_trid_describe_type(trid, second, "u8 c"), EEXIST);
	has_description(trid, first, ORDER);
	has_description(trid, second, "u8 b");
	ok(posix_trace_close(trid));
	trid = px_test_open(fd); /* the file is as it was */
	has_description(trid, second, "u8 a");
	ok(posix_trace_close(trid));
	close(fd);
}
END_TEST

#define AFTER_EXEC "PX_DESCRIBE_TYPE_AFTER_EXEC"

/* The program that the target executes: it opens the type, but does not describe it. */
static int after_exec(const char *pipes)
{
	trace_event_id_t type;
	int from, to;
	char byte;

	if (sscanf(pipes, "%d %d", &from, &to) != 2 || posix_trace_eventid_open("first", &type) != 0)
		return 1;
	posix_trace_event(type, "x", 1);
	return write(to, "2", 1) != 1 || read(from, &byte, 1) != 1;
}

static void describe_and_exec(int from, int to)
{
	trace_event_id_t type;
	char pipes[32], byte;

	if (posix_trace_eventid_open("first", &type) != 0 || txtrace_describe_type(type, ORDER) != 0 ||
	    write(to, "1", 1) != 1 || read(from, &byte, 1) != 1)
		_exit(1);
	posix_trace_event(type, "x", 1);
	snprintf(pipes, sizeof(pipes), "%d %d", from, to);
	setenv(AFTER_EXEC, pipes, 1);
	execl("/proc/self/exe", "describe_type", (char *)NULL);
	_exit(2);
}

START_TEST(describe_type_is_kept_over_exec)
{
	int down[2], up[2], status;
	trace_event_id_t type;
	trace_id_t trid, later;
	trace_attr_t attr;
	char byte;
	pid_t pid;

	ok(pipe(down));
	ok(pipe(up));
	pid = fork();
	ck_assert_int_ge(pid, 0);
	if (pid == 0)
		describe_and_exec(down[0], up[1]);
	ck_assert_int_eq(read(up[0], &byte, 1), 1);
	ok(posix_trace_attr_init(&attr));
	ok(posix_trace_create(pid, &attr, &trid));
	ok(posix_trace_start(trid));
	ck_assert_int_eq(write(down[1], "x", 1), 1);
	ck_assert_int_eq(read(up[0], &byte, 1), 1);
	ck_assert_int_eq(byte, '2');
	/* After the exec, a new stream gets its data from the new program, which does not know the description. */
	ok(posix_trace_create(pid, &attr, &later));
	ok(posix_trace_trid_eventid_open(later, "first", &type));
	has_description(trid, type, ORDER);
	has_description(later, type, ORDER);
	ck_assert_int_eq(write(down[1], "x", 1), 1);
	ck_assert_int_eq(waitpid(pid, &status, 0), pid);
	ck_assert_int_eq(status, 0);
	ok(posix_trace_shutdown(trid));
	ok(posix_trace_shutdown(later));
}
END_TEST

START_TEST(describe_type_survives_death_of_controller)
{
	int status, fd = px_test_disk_file();
	trace_event_id_t type;
	trace_id_t trid;
	pid_t pid = fork();

	ck_assert_int_ge(pid, 0);
	if (pid == 0) {
		trace_attr_t attr;

		/* When the process dies, the log has the first description, but not yet the second one. */
		if (posix_trace_attr_init(&attr) != 0 || posix_trace_eventid_open("first", &type) != 0 ||
		    txtrace_describe_type(type, ORDER) != 0 ||
		    posix_trace_create_withlog(0, &attr, fd, &trid) != 0 || posix_trace_start(trid) != 0)
			_exit(1);
		posix_trace_event(type, "x", 1);
		if (posix_trace_flush(trid) != 0 || posix_trace_eventid_open("second", &type) != 0 ||
		    txtrace_describe_type(type, "u8 a") != 0)
			_exit(1);
		posix_trace_event(type, "x", 1);
		kill(getpid(), SIGKILL);
	}
	ck_assert_int_eq(waitpid(pid, &status, 0), pid);
	ck_assert(WIFSIGNALED(status));
	trid = px_test_open(fd);
	for (int unavailable = 0, nr = 0; !unavailable;) {
		char name[TRACE_EVENT_NAME_MAX + 1];

		ok(posix_trace_eventtypelist_getnext_id(trid, &type, &unavailable));
		if (unavailable) {
			ck_assert_int_eq(nr, 2);
			break;
		}
		ok(posix_trace_eventid_get_name(trid, type, name));
		if (strcmp(name, "first") == 0 || strcmp(name, "second") == 0) {
			has_description(trid, type, *name == 'f' ? ORDER : "u8 a");
			nr++;
		}
	}
	ok(posix_trace_close(trid));
	close(fd);
}
END_TEST

int main(void)
{
	const char *pipes = getenv(AFTER_EXEC);
	Suite *suite;
	TCase *tcase;

	if (pipes)
		return after_exec(pipes);
	suite = suite_create("describe_type");
	tcase = tcase_create("describe_type");
	tcase_add_test(tcase, describe_type_before_and_after_create_is_in_stream_and_log);
	tcase_add_test(tcase, describe_type_macro_registers_name_of_type);
	tcase_add_test(tcase, describe_type_any_length_comes_back);
	tcase_add_test(tcase, describe_type_mistake_has_its_column);
	tcase_add_test(tcase, describe_type_all_bytes_are_those_that_are_documented);
	tcase_add_test(tcase, describe_type_of_target_reaches_controller);
	tcase_add_test(tcase, describe_type_is_kept_over_exec);
	tcase_add_test(tcase, describe_type_survives_death_of_controller);
	suite_add_tcase(suite, tcase);
	return run_suite(suite);
}
