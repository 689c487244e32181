/* SPDX-License-Identifier: MIT */
/* <trace_ext.h> on logs and files: objects, file properties, custom events of TraceX, and details of an event. */
#include "support/common.h"

#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <trace_ext.h>
#include <unistd.h>

#include "log/archive_txtb.h"
#include "log/format.h"

#define TEXT_BYTES 8192
#define DATA ", Data 4-7, Data 8-11, Data 12-15\n" /* the end of a line of custom events */

static struct px_test_event event;

/* Make a complete log with one event of each type.  The caller closes the file. */
static int write_log(const char *const *names, size_t nr_names)
{
	int fd = px_test_file();
	trace_id_t trid = px_test_create_log(&(struct px_test_stream){0}, fd);

	ok(posix_trace_start(trid));
	for (size_t i = 0; i < nr_names; i++)
		px_test_trace(px_test_open_type(names[i]), (uint32_t)i);
	ok(posix_trace_shutdown(trid));
	return fd;
}

/* Custom events. */

/* A process keeps its event types, so each of these tests needs its own process: Check forks. */
START_TEST(trxc_of_a_log_is_this_text)
{
	static const char *const names[] = {"disk read", "a, (b)_c", "x", "Gr\xc3\xbc\xc3\x9f"};
	/* clang-format off */
	static const char text[] =
		"Start\n"
		"4096, data continued, DC, (31, 73, 125), (31, 73, 125), Data 0-3" DATA
		"4097, posix_trace_error, Er, (148, 54, 52), (148, 54, 52), Error" DATA
		"4098, posix_trace_start, Go, (79, 98, 40), (79, 98, 40), Filter 0-31" DATA
		"4099, posix_trace_stop, St, (96, 74, 123), (96, 74, 123), Automatic" DATA
		"4100, posix_trace_filter, Fi, (49, 104, 116), (49, 104, 116), Old filter 0-31" DATA
		"4101, posix_trace_overflow, Ov, (152, 72, 6), (152, 72, 6), Data 0-3" DATA
		"4102, posix_trace_resume, Re, (64, 64, 64), (64, 64, 64), Data 0-3" DATA
		"4103, posix_trace_flush_start, F[, (120, 30, 90), (120, 30, 90), Data 0-3" DATA
		"4104, posix_trace_flush_stop, F], (20, 90, 50), (20, 90, 50), Data 0-3" DATA
		"4105, txtrace_switch_in, TS, (110, 80, 20), (110, 80, 20), Data 0-3" DATA
		"4106, txtrace_switch_out, TS, (60, 60, 140), (60, 60, 140), Data 0-3" DATA
		"4107, txtrace_sched_thread, TS, (130, 20, 20), (130, 20, 20), Data 0-3" DATA
		"4108, txtrace_sched_gap, TS, (0, 100, 100), (0, 100, 100), Data 0-3" DATA
		"4109, txtrace_sched_start, TS, (90, 50, 30), (90, 50, 30), Data 0-3" DATA
		"4110, txtrace_sched_stop, TS, (70, 20, 110), (70, 20, 110), Data 0-3" DATA
		"4111, txtrace_cpu_time, TC, (40, 80, 0), (40, 80, 0), Data 0-3" DATA
		"4112, posix_trace_unnamed_userevent, UU, (31, 73, 125), (31, 73, 125), Data 0-3" DATA
		"4113, disk read, DR, (148, 54, 52), (148, 54, 52), Data 0-3" DATA
		"4114, a; [b]_c, AB, (79, 98, 40), (79, 98, 40), Data 0-3" DATA
		"4115, x, XX, (96, 74, 123), (96, 74, 123), Data 0-3" DATA
		"4116, Gr????, Gr, (49, 104, 116), (49, 104, 116), Data 0-3" DATA
		"End\n";
	/* clang-format on */
	int fd = write_log(names, PX_ARRAY_SIZE(names));
	trace_id_t trid = px_test_open(fd);
	char buffer[TEXT_BYTES];
	const char *start;
	size_t length;

	ok(txtrace_get_trxc(trid, buffer, sizeof(buffer), &length));
	ck_assert_uint_lt(length, sizeof(buffer));
	buffer[length] = '\0';
	start = strstr(buffer, "\nStart\n");
	ck_assert_ptr_nonnull(start);
	ck_assert_str_eq(start + 1, text);
	ok(posix_trace_close(trid));
	close(fd);
}
END_TEST

START_TEST(trxc_lines_have_thirteen_fields_none_of_them_empty)
{
	static const char *const names[] = {",", "((", " ", "_", "\x01", "9 lives", "-a-b-"};
	int fd = write_log(names, PX_ARRAY_SIZE(names));
	trace_id_t trid = px_test_open(fd);
	char buffer[TEXT_BYTES], *line, *rest;
	size_t length, nr_lines = 0;

	ok(txtrace_get_trxc(trid, buffer, sizeof(buffer), &length));
	buffer[length] = '\0';
	rest = strstr(buffer, "\nStart\n") + 7;
	while ((line = strsep(&rest, "\n")) != NULL && strcmp(line, "End") != 0) {
		size_t nr_fields = 1;

		for (const char *p = line; *p; p++) {
			ck_assert(*p >= 0x20 && *p <= 0x7E);
			if (*p != ',')
				continue;
			nr_fields++;
			ck_assert(p != line && p[-1] != ',' && p[1] == ' ' && p[2] != ',');
		}
		ck_assert_msg(nr_fields == 13, "%zu fields: %s", nr_fields, line);
		nr_lines++;
	}
	ck_assert_uint_eq(nr_lines, 17 + PX_ARRAY_SIZE(names));
	ck_assert_str_eq(rest, "");
	ok(posix_trace_close(trid));
	close(fd);
}
END_TEST

START_TEST(trxc_of_a_stream_is_that_of_its_log)
{
	char of_stream[TEXT_BYTES], of_log[TEXT_BYTES];
	size_t stream_length, log_length;
	int fd = px_test_file();
	trace_id_t trid = px_test_create_log(&(struct px_test_stream){0}, fd);

	px_test_open_type("one");
	px_test_open_type("two");
	ok(txtrace_get_trxc(trid, of_stream, sizeof(of_stream), &stream_length));
	ok(posix_trace_shutdown(trid));
	trid = px_test_open(fd);
	ok(txtrace_get_trxc(trid, of_log, sizeof(of_log), &log_length));
	ck_assert_uint_eq(stream_length, log_length);
	ck_assert_mem_eq(of_stream, of_log, log_length);
	ok(posix_trace_close(trid));
	close(fd);
}
END_TEST

START_TEST(trxc_fills_a_buffer_to_its_last_byte_and_no_further)
{
	char whole[TEXT_BYTES], buffer[TEXT_BYTES];
	trace_id_t trid = px_test_create(&(struct px_test_stream){0});
	size_t needed, length;

	fails(txtrace_get_trxc(trid, NULL, 0, &needed), ENOSPC);
	ok(txtrace_get_trxc(trid, whole, sizeof(whole), &length));
	ck_assert_uint_eq(length, needed);
	memset(buffer, 0x55, sizeof(buffer));
	ok(txtrace_get_trxc(trid, buffer, needed, &length));
	ck_assert_mem_eq(buffer, whole, needed);
	ck_assert_int_eq(buffer[needed], 0x55);
	fails(txtrace_get_trxc(trid, buffer, needed - 1, &length), ENOSPC);
	ck_assert_uint_eq(length, needed);
	fails(txtrace_get_trxc(trid, NULL, 1, &length), EINVAL);
	fails(txtrace_get_trxc(trid, buffer, 1, NULL), EINVAL);
	fails(txtrace_get_trxc(0, buffer, sizeof(buffer), &length), EINVAL);
	ok(posix_trace_shutdown(trid));
}
END_TEST

/* Objects, and the details of an event. */

static bool find_object(trace_id_t trid, unsigned int handle, struct txtrace_object *object)
{
	int unavailable = 0;

	ok(txtrace_rewind_objects(trid));
	while (txtrace_getnext_object(trid, object, &unavailable) == 0 && !unavailable)
		if (object->handle == handle)
			return true;
	return false;
}

START_TEST(object_of_an_events_context_is_its_thread)
{
	static const char *const names[] = {"tick"};
	int fd = write_log(names, 1);
	trace_id_t trid = px_test_open(fd);
	trace_event_id_t tick = px_test_open_type("tick");
	struct txtrace_object object;
	char wanted[64];

	while (px_test_take_recorded(trid, &event) != tick)
		;
	ck_assert(find_object(trid, txtrace_event_context(&event.info), &object));
	ck_assert_int_eq(object.type, 1);
	ck_assert_int_eq(object.pid, getpid());
	ck_assert_int_eq(object.tid, (pid_t)syscall(SYS_gettid));
	snprintf(wanted, sizeof(wanted), " %d", object.tid);
	ck_assert_ptr_nonnull(strstr(object.name, wanted));
	ck_assert_int_eq(object.priority, txtrace_event_priority(&event.info));
	ck_assert_uint_lt(txtrace_event_cpu(&event.info), 256);
	ck_assert(find_object(trid, 15u << 24 | tick, &object));
	ck_assert_str_eq(object.name, "tick");
	ck_assert_int_eq(object.type, 15);
	ck_assert_int_eq(object.priority, -1);
	ok(posix_trace_close(trid));
	close(fd);
}
END_TEST

START_TEST(events_that_no_thread_caused_have_no_context)
{
	int fd = px_test_file();
	trace_id_t trid = px_test_create_log(
		&(struct px_test_stream){.policy = POSIX_TRACE_LOOP, .size = 1, .nr_rings = 1}, fd);
	struct txtrace_object object;

	ok(posix_trace_start(trid));
	for (uint32_t i = 0; i < 10000; i++)
		px_test_trace(POSIX_TRACE_UNNAMED_USEREVENT, i);
	ok(posix_trace_shutdown(trid));
	trid = px_test_open(fd);
	ck_assert_uint_eq(px_test_take_recorded(trid, &event), POSIX_TRACE_OVERFLOW);
	ck_assert_uint_eq(txtrace_event_context(&event.info), 0);
	ck_assert_int_eq(txtrace_event_priority(&event.info), -1);
	ck_assert(!find_object(trid, 0, &object));
	ok(posix_trace_close(trid));
	close(fd);
}
END_TEST

START_TEST(interrupts_tell_which_thread_they_interrupted)
{
	enum { THREAD = 0x1234, INTERRUPT = 0xFFFFFFFF, INITIALIZE = 0xF0F0F0F0 };
	static const uint32_t buffer[] = {
		/* header: one registry slot of 16 bytes, four entries */
		0x54585442, 0xFFFFFFFF, 0,	   48, 0,	   64,
		64,	    192,	64,	   0,  0,	   0,
		1,	    THREAD,	0,	   0,  THREAD,	   0x80000000u | 7 << 16 | 5,
		4096,	    10,		1,	   2,  3,	   4,
		INTERRUPT,  0xFEDC1234, 3,	   20, 1,	   2,
		3,	    4,		INTERRUPT, 0,  4,	   30,
		1,	    2,		3,	   4,  INITIALIZE, 0,
		4096,	    40,		1,	   2,  3,	   4,
	};
	static const unsigned int wanted[] = {0, 0xFEDC1234, 0, 0};
	int fd = px_test_file();
	trace_id_t trid;

	ck_assert_int_eq(write(fd, buffer, sizeof(buffer)), sizeof(buffer));
	trid = px_test_open(fd);
	for (size_t i = 0; i < sizeof(wanted) / sizeof(wanted[0]); i++) {
		px_test_take_recorded(trid, &event);
		ck_assert_uint_eq(txtrace_event_interrupted(&event.info), wanted[i]);
		ck_assert_int_eq(txtrace_event_priority(&event.info), i == 0 ? 5 : -1);
	}
	ok(posix_trace_close(trid));
	close(fd);
}
END_TEST

START_TEST(objects_want_a_pre_recorded_stream)
{
	trace_id_t trid = px_test_create(&(struct px_test_stream){0});
	struct txtrace_file_info info;
	struct txtrace_object object;
	size_t length;
	int unavailable;

	fails(txtrace_getnext_object(trid, &object, &unavailable), EINVAL);
	fails(txtrace_rewind_objects(trid), EINVAL);
	fails(txtrace_get_file_info(trid, &info), EINVAL);
	fails(txtrace_set_tick(trid, 10), EINVAL);
	fails(txtrace_get_modules(trid, NULL, 0, &length), EINVAL);
	ok(posix_trace_shutdown(trid));
	fails(txtrace_rewind_objects(0), EINVAL);
}
END_TEST

/* Tests of txtrace_seek(). */

#define SOUGHT 40000 /* events; the log has several parts */

/* Go to this time.  The skipped events are earlier, and the next event is the first one after this time. */
static uint64_t seek(trace_id_t trid, const uint64_t *times, uint64_t nr, uint64_t time_ns)
{
	struct timespec time = {.tv_sec = (time_t)(time_ns / 1000000000), .tv_nsec = (long)(time_ns % 1000000000)};
	unsigned long long nr_before = nr + 1;

	ok(txtrace_seek(trid, &time, &nr_before));
	ck_assert_uint_le(nr_before, nr);
	ck_assert(nr_before == 0 || times[nr_before - 1] < time_ns);
	for (uint64_t i = nr_before; i < nr && i < nr_before + 3; i++) {
		px_test_take_recorded(trid, &event);
		ck_assert_uint_eq(px_test_ns(event.info.posix_timestamp), times[i]);
	}
	return nr_before;
}

START_TEST(seek_skips_earlier_events_only)
{
	static uint64_t times[SOUGHT + 16];
	int fd = px_test_file(), unavailable = 0;
	trace_id_t trid = px_test_create_log(&(struct px_test_stream){0}, fd);
	trace_event_id_t type = px_test_open_type("sought");
	struct timespec past = {.tv_sec = -5}, wrong = {.tv_nsec = 1000000000};
	unsigned long long nr_before = 1;
	uint64_t nr = 0, skipped;
	size_t size;

	ok(posix_trace_start(trid));
	for (uint32_t i = 0; i < SOUGHT; i++) {
		px_test_trace(type, i);
		if (i % 256 == 255)
			ok(posix_trace_flush(trid));
	}
	ok(posix_trace_shutdown(trid));
	trid = px_test_open(fd);
	while (nr < SOUGHT + 16) {
		ok(posix_trace_getnext_event(trid, &event.info, event.data, sizeof(event.data), &size, &unavailable));
		if (unavailable)
			break;
		times[nr++] = px_test_ns(event.info.posix_timestamp);
	}
	ck_assert_uint_ge(nr, SOUGHT / 2);
	for (uint64_t i = 0; i < nr; i += 997) {
		skipped = seek(trid, times, nr, times[i]);
		ck_assert_uint_le(i - skipped, 20000);
		seek(trid, times, nr, times[i] + 1);
	}
	skipped = seek(trid, times, nr, times[nr - 1] + 1000000000);
	ck_assert_uint_gt(skipped, nr / 2);
	ck_assert_uint_eq(seek(trid, times, nr, 0), 0);
	ok(txtrace_seek(trid, &past, &nr_before));
	ck_assert_uint_eq(nr_before, 0);
	fails(txtrace_seek(trid, &wrong, &nr_before), EINVAL);
	fails(txtrace_seek(trid, NULL, &nr_before), EINVAL);
	fails(txtrace_seek(trid, &past, NULL), EINVAL);
	fails(txtrace_seek(0, &past, &nr_before), EINVAL);
	ok(posix_trace_close(trid));
	close(fd);
}
END_TEST

/* Modules. */

/* The path and build-id of the module that has an address. */
static bool find_module(char *text, uint64_t address, char *path, char *build_id)
{
	char *line;

	while ((line = strsep(&text, "\n")) != NULL && *line) {
		unsigned long long base, begin, end;

		ck_assert_int_eq(sscanf(line, "%llx %llx %llx %64s %255[^\n]", &base, &begin, &end,
					build_id, path),
				 5);
		ck_assert_uint_lt(begin, end);
		if (address >= begin && address < end)
			return true;
	}
	return false;
}

START_TEST(modules_of_a_log_tell_where_its_events_came_from)
{
	static const char *const names[] = {"tick"};
	char text[65536 + 1], path[256], build_id[65], program[256] = "";
	int fd = write_log(names, 1);
	trace_id_t trid = px_test_open(fd);
	trace_event_id_t tick = px_test_open_type("tick");
	size_t length, needed;

	fails(txtrace_get_modules(trid, NULL, 0, &needed), ENOSPC);
	ok(txtrace_get_modules(trid, text, needed, &length));
	ck_assert_uint_eq(length, needed);
	ck_assert_int_eq(text[length - 1], '\n');
	text[length] = '\0';
	while (px_test_take_recorded(trid, &event) != tick)
		;
	ck_assert(find_module(text, (uint64_t)(uintptr_t)event.info.posix_prog_address, path,
			      build_id));
	ck_assert_int_gt(readlink("/proc/self/exe", program, sizeof(program) - 1), 0);
	ck_assert_str_eq(path, program);
	fails(txtrace_get_modules(trid, text, needed - 1, &length), ENOSPC);
	fails(txtrace_get_modules(trid, NULL, 1, &length), EINVAL);
	fails(txtrace_get_modules(trid, text, 1, NULL), EINVAL);
	ok(posix_trace_close(trid));
	fails(txtrace_get_modules(trid, text, sizeof(text), &length), EINVAL);
	close(fd);
}
END_TEST

/* OPEN-10 */
START_TEST(modules_of_a_log_with_a_hostile_length_are_not_read)
{
	struct px_log_layout layout;
	struct px_log_header header;
	static const char *const names[] = {"tick"};
	int fd = write_log(names, 1);
	uint32_t bytes = UINT32_MAX;
	trace_id_t trid;

	ck_assert(px_log_find(fd, &header, &layout));
	ck_assert_int_eq(
		pwrite(fd, &bytes, sizeof(bytes),
		       (off_t)(layout.commit + offsetof(struct px_log_commit, modules_bytes))),
		sizeof(bytes));
	fails(posix_trace_open(fd, &trid), EINVAL);
	close(fd);
}
END_TEST

/* Attributes. */

START_TEST(stacks_are_an_attribute_of_the_stream)
{
	static const int bounds[] = {TXTRACE_STACKS_NONE, TXTRACE_STACKS_ALL, 0, 20, 32000};
	trace_attr_t attr, got;
	trace_id_t trid;
	size_t max_data;
	int bound;

	for (size_t i = 0; i < sizeof(bounds) / sizeof(bounds[0]); i++) {
		ok(posix_trace_attr_init(&attr));
		ok(txtrace_attr_getstacks(&attr, &bound));
		ck_assert_int_eq(bound, TXTRACE_STACKS_NONE);
		ok(txtrace_attr_setgrowth(&attr, 1));
		ok(txtrace_attr_setstacks(&attr, bounds[i]));
		ok(txtrace_attr_setgrowth(&attr, 0));
		ok(posix_trace_create(0, &attr, &trid));
		ok(posix_trace_get_attr(trid, &got));
		ok(txtrace_attr_getstacks(&got, &bound));
		ck_assert_int_eq(bound, bounds[i]);
		ok(posix_trace_attr_getmaxdatasize(&got, &max_data));
		ck_assert_uint_eq(max_data, bounds[i] == TXTRACE_STACKS_NONE ? 256 : 272);
		ok(posix_trace_shutdown(trid));
	}
	fails(txtrace_attr_setstacks(&attr, -3), EINVAL);
	fails(txtrace_attr_setstacks(&attr, 32001), EINVAL);
	fails(txtrace_attr_setstacks(NULL, 0), EINVAL);
	fails(txtrace_attr_getstacks(&attr, NULL), EINVAL);
	ok(posix_trace_attr_destroy(&attr));
	fails(txtrace_attr_setstacks(&attr, 0), EINVAL);
}
END_TEST

/* Files. */

START_TEST(mechanisms_are_tried_and_measured)
{
	struct txtrace_mechanism mechanism;
	int error;

	for (int i = 0; i < TXTRACE_MECHANISMS; i++) {
		memset(&mechanism, 0xff, sizeof(mechanism));
		errno = EXDEV;
		ok(txtrace_check_mechanism((enum txtrace_mechanism_kind)i, &mechanism));
		ck_assert_int_eq(errno, EXDEV);
		ck_assert_int_ge(mechanism.error, 0);
		if (i == TXTRACE_MECHANISM_RSEQ)
			ck_assert_double_eq(mechanism.cost_ns, 0);
		else
			ck_assert_double_gt(mechanism.cost_ns, 0);
	}
	/* What there is on each system that runs these tests. */
	ok(txtrace_check_mechanism(TXTRACE_MECHANISM_PROC, &mechanism));
	ck_assert_int_eq(mechanism.error, 0);
	ok(txtrace_check_sched(0, &error));
	ok(txtrace_check_mechanism(TXTRACE_MECHANISM_SCHED, &mechanism));
	ck_assert_int_eq(mechanism.error, error);
	fails(txtrace_check_mechanism(TXTRACE_MECHANISMS, &mechanism), EINVAL);
	fails(txtrace_check_mechanism((enum txtrace_mechanism_kind)-1, &mechanism), EINVAL);
	fails(txtrace_check_mechanism(TXTRACE_MECHANISM_PROC, NULL), EINVAL);
}
END_TEST

START_TEST(file_info_of_a_log)
{
	static const char *const names[] = {"tick"};
	int fd = write_log(names, 1);
	trace_id_t trid = px_test_open(fd);
	struct txtrace_file_info info;

	ok(txtrace_get_file_info(trid, &info));
	ck_assert_int_eq(info.foreign, 0);
	ck_assert_int_eq(info.complete, 1);
	ck_assert_int_eq(info.byte_swapped, 0);
	ck_assert_int_eq(info.text, 0);
	ck_assert(info.tick_ns == 100);
	ck_assert_uint_ge(info.nr_objects, 3); /* of no thread, of main, of the event type */
	ck_assert_uint_eq(info.nr_volumes, 1);
	ck_assert_uint_gt(info.nr_entries, 3);
	ck_assert_uint_eq(info.nr_slots, (1 << 20) / PX_LOG_EVENT_BYTES);
	fails(txtrace_set_tick(trid, 10), EINVAL);
	fails(txtrace_get_file_info(trid, NULL), EINVAL);
	ok(posix_trace_close(trid));
	close(fd);
}
END_TEST

/* A copy of one of our rings is a trace buffer like any other. */
START_TEST(file_of_a_copied_ring_has_its_types_by_name_and_any_tick)
{
	trace_event_id_t tick = px_test_open_type("tick");
	trace_id_t trid = px_test_create(&(struct px_test_stream){.nr_rings = 1});
	char name[TRACE_EVENT_NAME_MAX + 1];
	struct txtrace_file_info info;
	uint64_t first_ns, last_ns;
	double tick_ns;
	void *image;
	size_t size;
	int fd = px_test_file();

	ok(posix_trace_start(trid));
	px_test_trace(tick, 1);
	sleep_ms(20);
	px_test_trace(tick, 2);
	fails(txtrace_copy_ring(trid, 0, NULL, 0, &size, &tick_ns), ENOSPC);
	image = malloc(size);
	ok(txtrace_copy_ring(trid, 0, image, size, &size, &tick_ns));
	ok(posix_trace_shutdown(trid));
	ck_assert_int_eq(write(fd, image, size), (ssize_t)size);
	free(image);
	trid = px_test_open(fd);
	ok(txtrace_get_file_info(trid, &info));
	ck_assert_int_eq(info.foreign, 1);
	ok(txtrace_set_tick(trid, tick_ns));
	while (px_test_take_recorded(trid, &event) != PX_FOREIGN_TYPES + 4096 + tick)
		;
	first_ns = px_test_ns(event.info.posix_timestamp);
	ok(posix_trace_eventid_get_name(trid, event.info.posix_event_id, name));
	ck_assert_str_eq(name, "tick");
	ck_assert_uint_eq(px_test_take_recorded(trid, &event), PX_FOREIGN_TYPES + 4096 + tick);
	last_ns = px_test_ns(event.info.posix_timestamp);
	ck_assert_uint_ge(last_ns - first_ns, 19000000);
	ok(posix_trace_close(trid));
	close(fd);
}
END_TEST

/* Standard output may be closed.  Then the log must not get descriptor 1. */
START_TEST(files_of_ours_are_none_of_the_standard_descriptors)
{
	int fd = fcntl(px_test_file(), F_DUPFD_CLOEXEC, 10);
	trace_id_t trid;

	close(STDIN_FILENO);
	trid = px_test_create_log(&(struct px_test_stream){0}, fd);
	ck_assert_int_eq(fcntl(STDIN_FILENO, F_GETFD), -1);
	ok(posix_trace_shutdown(trid));
	trid = px_test_open(fd);
	ck_assert_int_eq(fcntl(STDIN_FILENO, F_GETFD), -1);
	ok(posix_trace_close(trid));
	close(fd);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("trace_ext");
	TCase *trxc = tcase_create("custom events");
	TCase *objects = tcase_create("objects");
	TCase *files = tcase_create("files");

	tcase_add_test(trxc, trxc_of_a_log_is_this_text);
	tcase_add_test(trxc, trxc_lines_have_thirteen_fields_none_of_them_empty);
	tcase_add_test(trxc, trxc_of_a_stream_is_that_of_its_log);
	tcase_add_test(trxc, trxc_fills_a_buffer_to_its_last_byte_and_no_further);
	suite_add_tcase(suite, trxc);

	tcase_add_test(objects, object_of_an_events_context_is_its_thread);
	tcase_add_test(objects, events_that_no_thread_caused_have_no_context);
	tcase_add_test(objects, interrupts_tell_which_thread_they_interrupted);
	tcase_add_test(objects, objects_want_a_pre_recorded_stream);
	suite_add_tcase(suite, objects);

	tcase_add_test(files, stacks_are_an_attribute_of_the_stream);
	tcase_add_test(files, mechanisms_are_tried_and_measured);
	tcase_add_test(files, modules_of_a_log_tell_where_its_events_came_from);
	tcase_add_test(files, modules_of_a_log_with_a_hostile_length_are_not_read);
	tcase_add_test(files, file_info_of_a_log);
	tcase_add_test(files, seek_skips_earlier_events_only);
	tcase_add_test(files, file_of_a_copied_ring_has_its_types_by_name_and_any_tick);
	tcase_add_test(files, files_of_ours_are_none_of_the_standard_descriptors);
	suite_add_tcase(suite, files);

	return run_suite(suite);
}
