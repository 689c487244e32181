/* SPDX-License-Identifier: MIT */
/* Logs that are read back as pre-recorded streams, and files that only look like logs. */
#include "support/common.h"

#include <fcntl.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <trace_ext.h>
#include <unistd.h>

#include "event/attr.h"
#include "log/archive.h"
#include "ring/record.h"
#include "support/kernel.h"
#include "support/log_checker.h"

static trace_event_id_t type, big_type;
static int file;
static trace_id_t stream, log_id;
static struct px_test_event seen;
static struct px_test_log_facts facts;

#define NR_NUMBERS 50

static void setup(void)
{
	ok(posix_trace_eventid_open("read back", &type));
	ok(posix_trace_eventid_open("read back with much data", &big_type));
	file = px_test_file();
}

static void create_log(int log_policy, size_t log_size)
{
	stream = px_test_create_log(&(struct px_test_stream){.policy = POSIX_TRACE_UNTIL_FULL,
							     .size = 1 << 18,
							     .max_data = 300,
							     .nr_rings = 1,
							     .log_policy = log_policy,
							     .log_size = log_size},
				    file);
	ok(posix_trace_start(stream));
}

static void trace_big(uint32_t number, size_t length)
{
	unsigned char data[400];

	px_test_fill(data, sizeof(data), number);
	posix_trace_event(big_type, data, length);
}

/* START, numbers, events of up to 400 bytes of which the log keeps 300, STOP. */
static void write_log(int log_policy)
{
	create_log(log_policy, 1 << 16);
	for (uint32_t i = 0; i < NR_NUMBERS; i++) {
		px_test_trace(type, i);
		trace_big(i, i * 8);
	}
	ok(posix_trace_stop(stream));
	ok(posix_trace_shutdown(stream));
}

static void write_and_open(void)
{
	write_log(POSIX_TRACE_LOOP);
	px_test_check_log(file, 0, &facts);
	log_id = px_test_open(file);
}

static void expect(trace_event_id_t id)
{
	px_test_expect_recorded(log_id, id, &seen);
}

static void expect_pair(uint32_t i)
{
	size_t length = i * 8 < 300 ? i * 8 : 300;

	expect(type);
	ck_assert_uint_eq(px_test_number(&seen), i);
	ck_assert_int_eq(seen.info.posix_truncation_status, POSIX_TRACE_NOT_TRUNCATED);
	expect(big_type);
	ck_assert_uint_eq(seen.length, length);
	ck_assert(px_test_is_filled(seen.data, length, i));
	ck_assert_int_eq(seen.info.posix_truncation_status,
			 i * 8 > 300 ? POSIX_TRACE_TRUNCATED_RECORD : POSIX_TRACE_NOT_TRUNCATED);
}

static void expect_whole_log(void)
{
	expect(POSIX_TRACE_START);
	for (uint32_t i = 0; i < NR_NUMBERS; i++)
		expect_pair(i);
	expect(POSIX_TRACE_STOP);
	expect(0);
	expect(0); /* GETNEXT-3: and stays so */
}

/* OPEN-1 OPEN-2 GETNEXT-3 GETNEXT-4 INFO-6 MODEL-4 WITHLOG-11 */
START_TEST(open_reads_back_what_was_logged)
{
	write_log(_i == 0 ? POSIX_TRACE_LOOP :
		  _i == 1 ? POSIX_TRACE_UNTIL_FULL :
			    POSIX_TRACE_APPEND);
	px_test_check_log(file, 0, &facts);
	errno = 1234;
	ok(posix_trace_open(px_test_reopen(file, O_RDONLY), &log_id));
	expect_whole_log();
	ck_assert_int_eq(errno, 1234);
	ok(posix_trace_close(log_id));
}
END_TEST

static void *record_in_thread(void *thread)
{
	*(pthread_t *)thread = pthread_self();
	px_test_trace(type, 2);
	return NULL;
}

/* INFO-1 INFO-2 INFO-4 INFO-7 INFO-9 MODEL-9: all members of an event except its data. */
START_TEST(open_events_have_thread_address_pid_and_time)
{
	struct timespec before, after;
	pthread_t thread, id;
	void *address;

	create_log(POSIX_TRACE_LOOP, 0);
	clock_gettime(CLOCK_REALTIME, &before);
	px_test_trace(type, 1);
	ck_assert_int_eq(pthread_create(&thread, NULL, record_in_thread, &id), 0);
	pthread_join(thread, NULL);
	clock_gettime(CLOCK_REALTIME, &after);
	ok(posix_trace_shutdown(stream));
	px_test_check_log(file, 0, &facts);
	log_id = px_test_open(file);
	expect(POSIX_TRACE_START);
	ck_assert_ptr_nonnull(seen.info.posix_prog_address);
	expect(type);
	ck_assert_int_eq(seen.info.posix_pid, getpid());
	ck_assert(pthread_equal(seen.info.posix_thread_id, pthread_self()));
	address = seen.info.posix_prog_address;
	ck_assert_ptr_nonnull(address);
	ck_assert_uint_ge(px_test_ns(seen.info.posix_timestamp) + 1000000, px_test_ns(before));
	expect(type);
	ck_assert(pthread_equal(seen.info.posix_thread_id, id));
	ck_assert_ptr_eq(seen.info.posix_prog_address, address);
	ck_assert_uint_le(px_test_ns(seen.info.posix_timestamp), px_test_ns(after) + 1000000);
}
END_TEST

static void expect_refused(int fd, int error)
{
	trace_id_t trid = 4711;

	fails(posix_trace_open(fd, &trid), error);
	ck_assert_uint_eq(trid, 4711);
}

/* OPEN-3 AMB-20 GEN-11 */
START_TEST(open_descriptor_that_cannot_be_read_gives_einval)
{
	int closed = dup(file), pipes[2], sockets[2];

	write_log(POSIX_TRACE_LOOP);
	close(closed);
	ck_assert_int_eq(pipe2(pipes, O_CLOEXEC), 0);
	ck_assert_int_eq(socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, sockets), 0);
	expect_refused(-1, EINVAL);
	expect_refused(closed, EINVAL);
	expect_refused(px_test_reopen(file, O_WRONLY), EINVAL);
	expect_refused(open("/tmp", O_PATH | O_CLOEXEC), EINVAL);
	expect_refused(open("/tmp", O_RDONLY | O_DIRECTORY | O_CLOEXEC), EINVAL);
	expect_refused(pipes[0], EINVAL);
	expect_refused(sockets[0], EINVAL);
	expect_refused(open("/dev/null", O_RDONLY | O_CLOEXEC), EINVAL);
	fails(posix_trace_open(file, NULL), EINVAL);
	ok(posix_trace_open(file, &log_id));
}
END_TEST

/* OPEN-3 */
START_TEST(open_file_that_is_no_log_gives_einval)
{
	static const char text[] = "This is no log, however long it may be.\n";
	int empty = px_test_file(), other = px_test_file();

	expect_refused(empty, EINVAL);
	for (int i = 0; i < 20000; i++)
		ck_assert_int_gt(write(other, text, sizeof(text) - 1), 0);
	expect_refused(other, EINVAL);
	ck_assert_int_eq(ftruncate(empty, 1 << 20), 0);
	expect_refused(empty, EINVAL);
}
END_TEST

static int try_to_open(void *unused)
{
	(void)unused;
	return posix_trace_open(file, &log_id);
}

/* MODEL-8 OPEN-3 */
START_TEST(open_log_that_is_still_written_gives_einval)
{
	create_log(POSIX_TRACE_LOOP, 0);
	expect_refused(file, EINVAL);
	px_test_trace(type, 1);
	ok(posix_trace_flush(stream));
	expect_refused(file, EINVAL);
	ck_assert_int_eq(px_test_in_child(try_to_open, NULL), EINVAL);
	ok(posix_trace_shutdown(stream));
	ok(posix_trace_open(file, &log_id));
	ck_assert_int_eq(px_test_in_child(try_to_open, NULL), 0);
}
END_TEST

static void change(uint64_t offset, const void *bytes, size_t size)
{
	ck_assert_int_eq(pwrite(file, bytes, size, (off_t)offset), (ssize_t)size);
}

static void change_header(const struct px_log_header *header)
{
	change(facts.layout.header, header, sizeof(*header));
}

static void change_commit(const struct px_log_commit *commit)
{
	change(facts.layout.commit, commit, sizeof(*commit));
}

/*
 * EXIT-4: pid, start time and boot id identify a writer; if one of them differs, the writer is dead.  A living writer
 * may also have no stream any more, have become another program, or have failed to complete its log.
 */
START_TEST(open_log_of_a_dead_writer_is_read_as_far_as_committed)
{
	struct px_log_header header;
	struct px_log_commit commit;

	write_log(POSIX_TRACE_LOOP);
	px_test_check_log(file, 0, &facts);
	commit = facts.commit;
	commit.is_complete = 0;
	change_commit(&commit);
	header = facts.header;
	header.registry_inode++;
	change_header(&header);
	expect_refused(file, EINVAL); /* the writer is this process, and it lives */
	if (_i == 0)
		header.writer_start--;
	else if (_i == 1)
		header.boot_id[0] ^= 1;
	else if (_i == 2)
		header.writer_pid = 0x7FFFFFFF;
	else
		header.registry_inode--; /* the registry of this process, which has no stream of the writer */
	change_header(&header);
	log_id = px_test_open(file);
	expect_whole_log();
}
END_TEST

/* MODEL-9 MODEL-12 OPEN-3 */
START_TEST(open_log_of_another_version_or_impossible_machine_gives_einval)
{
	struct px_log_header header;
	static const uint16_t swapped = 0x0201;

	write_log(POSIX_TRACE_LOOP);
	px_test_check_log(file, 0, &facts);
	for (int i = 0; i < 6; i++) {
		header = facts.header;
		switch (i) {
		case 0:
			header.version++;
			break;
		case 1:
			header.machine.byte_order = swapped; /* the other numbers are in our order */
			break;
		case 2:
			header.machine.of_long = 3;
			break;
		case 3:
			header.machine.of_pointer = 16;
			break;
		case 4:
			header.machine.of_attr += 8;
			break;
		default:
			header.volume = 1;
			break;
		}
		change_header(&header);
		expect_refused(file, EINVAL);
	}
	change_header(&facts.header);
	ok(posix_trace_open(file, &log_id));
}
END_TEST

/* MODEL-9: word sizes and names of another machine change nothing but what is told about the data of user events. */
START_TEST(open_log_of_another_machine_gives_its_model)
{
	/* What the machine says, nothing, as older writers did, and what no machine is. */
	static const struct px_log_layouts layouts[] = {
		{.of_long_double = 8, .long_double_digits = 53, .align_max = 8}, {0}, {0, 53, 8, 0},
		{9, 64, 16, 0}, {12, 113, 16, 0}, {255, 0, 4, 0}, {8, 53, 3, 0}, {8, 53, 128, 0}};
	struct txtrace_machine machine;
	struct px_log_header header;
	int copy = px_test_file();

	write_log(POSIX_TRACE_LOOP);
	px_test_check_log(file, 0, &facts);
	header = facts.header;
	header.machine.of_long = header.machine.of_pointer = 4;
	header.machine.of_thread = 4;
	strcpy(header.machine.name, "armv7l");
	for (size_t i = 0; i < sizeof(layouts) / sizeof(layouts[0]); i++) {
		header.layouts = layouts[i];
		change_header(&header);
		log_id = px_test_open(file);
		ok(txtrace_get_machine(log_id, &machine));
		ck_assert_str_eq(machine.name, "armv7l");
		ck_assert_int_eq(machine.is_big, __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__);
		ck_assert_uint_eq(machine.of_long, 4);
		ck_assert_uint_eq(machine.of_pointer, 4);
		ck_assert_uint_eq(machine.of_long_double, 8);
		ck_assert_uint_eq(machine.long_double_digits, 53);
		ck_assert_uint_eq(machine.align_max, 8);
		/* A copy would say that the data are from this machine. */
		if (sizeof(long) == 8)
			fails(txtrace_copy_log(log_id, copy), ENOTSUP);
		fails(txtrace_get_machine(log_id, NULL), EINVAL);
		expect_whole_log();
	}
	change_header(&facts.header);
	log_id = px_test_open(file);
	ok(txtrace_get_machine(log_id, &machine));
	ck_assert_uint_eq(machine.of_long, sizeof(long));
	ck_assert_uint_eq(machine.of_long_double, sizeof(long double));
	close(copy);
}
END_TEST

/* A flag does not make it a damaged log: the caller learns which version it is. */
START_TEST(open_log_of_a_newer_version_gives_enotsup_where_flags_allow_more)
{
	static const int flags[] = {TXTRACE_OPEN_RUNNING, TXTRACE_OPEN_DAMAGED,
				    TXTRACE_OPEN_RUNNING | TXTRACE_OPEN_DAMAGED};
	unsigned int format, newest;
	struct px_log_header header;
	struct px_archive *archive;

	create_log(POSIX_TRACE_LOOP, 1 << 16);
	px_test_trace(type, 1);
	if (_i == 0) /* it is written once more, and is tight */
		ok(posix_trace_shutdown(stream));
	else
		ok(posix_trace_flush(stream));
	px_test_check_log(file, PX_TEST_LOG_IS_OPEN, &facts);
	ck_assert_uint_eq(facts.header.is_tight, _i == 0);
	for (uint32_t version = facts.header.version + 1; version < 1000; version += 300) {
		header = facts.header;
		header.version = version;
		change_header(&header);
		expect_refused(file, EINVAL);
		for (size_t i = 0; i < PX_ARRAY_SIZE(flags); i++)
			fails(txtrace_open(file, flags[i], &log_id), ENOTSUP);
		fails(px_archive_open(file, 0, &archive), EINVAL);
		ok(txtrace_get_format(file, &format, &newest));
		ck_assert_uint_eq(format, version);
		ck_assert_uint_eq(newest, facts.header.version);
	}
	change_header(&facts.header);
	if (_i != 0)
		ok(posix_trace_shutdown(stream));
	ok(posix_trace_open(file, &log_id));
}
END_TEST

/* A copy that has the commit of before and all else of after has the events of before. */
START_TEST(commit_is_where_a_copy_of_a_running_log_needs_it)
{
	off_t offset = -1;
	size_t size = 0;

	create_log(POSIX_TRACE_APPEND, 1 << 16);
	px_test_trace(type, 1);
	ok(posix_trace_flush(stream));
	px_test_check_log(file, PX_TEST_LOG_IS_OPEN, &facts);
	ok(txtrace_get_commit(file, &offset, &size));
	ck_assert_int_eq(offset, (off_t)facts.layout.commit);
	ck_assert_uint_eq(size, sizeof(struct px_log_commit));
	fails(txtrace_get_commit(file, NULL, &size), EINVAL);
	fails(txtrace_get_commit(file, &offset, NULL), EINVAL);
	fails(txtrace_get_commit(-1, &offset, &size), EINVAL);
	fails(txtrace_get_commit(STDIN_FILENO, &offset, &size), EINVAL);
	ok(posix_trace_shutdown(stream));
}
END_TEST

/* OPEN-5 FD-1 MODEL-11 CLOSE-2 */
START_TEST(open_leaves_the_descriptor_alone)
{
	int doomed;

	write_log(POSIX_TRACE_LOOP);
	ck_assert_int_eq(lseek(file, 777, SEEK_SET), 777);
	doomed = px_test_reopen(file, O_RDONLY);
	ck_assert_int_eq(lseek(doomed, 999, SEEK_SET), 999);
	ok(posix_trace_open(doomed, &log_id));
	expect(POSIX_TRACE_START);
	ck_assert_int_eq(lseek(doomed, 0, SEEK_CUR), 999);
	close(doomed);
	for (uint32_t i = 0; i < NR_NUMBERS; i++)
		expect_pair(i);
	ok(posix_trace_close(log_id));
	ok(posix_trace_open(file, &log_id));
	ok(posix_trace_close(log_id));
	ck_assert_int_eq(lseek(file, 0, SEEK_CUR), 777);
}
END_TEST

/* FD-3 MODEL-10: reading changes nothing. */
START_TEST(open_and_read_do_not_change_the_file)
{
	struct timespec long_ago[2] = {{1000000000, 0}, {1000000000, 0}};
	struct stat status;

	file = px_test_disk_file();
	write_log(POSIX_TRACE_LOOP);
	ck_assert_int_eq(futimens(file, long_ago), 0);
	log_id = px_test_open(file);
	expect_whole_log();
	ok(posix_trace_close(log_id));
	ck_assert_int_eq(fstat(file, &status), 0);
	ck_assert_int_eq(status.st_mtim.tv_sec, 1000000000);
}
END_TEST

/* OPEN-7 */
START_TEST(open_logs_are_not_counted_as_streams)
{
	const struct px_test_stream small = {.nr_rings = 1};
	trace_id_t logs[TRACE_SYS_MAX + 10], streams[TRACE_SYS_MAX], one_more;

	write_log(POSIX_TRACE_LOOP);
	for (int i = 0; i < TRACE_SYS_MAX + 10; i++)
		ok(posix_trace_open(file, &logs[i]));
	for (int i = 0; i < TRACE_SYS_MAX; i++)
		streams[i] = px_test_create(&small);
	fails(posix_trace_create(0, NULL, &one_more), EAGAIN);
	ok(posix_trace_open(file, &one_more));
	for (int i = 0; i < TRACE_SYS_MAX + 10; i++) {
		log_id = logs[i];
		expect(POSIX_TRACE_START);
		ok(posix_trace_close(log_id));
	}
	for (int i = 0; i < TRACE_SYS_MAX; i++)
		ok(posix_trace_shutdown(streams[i]));
}
END_TEST

#define MANY 2000

/* CREATE-1 OPEN-1: logs take no place that a stream needs, and each log has its own identifier. */
START_TEST(open_thousands_of_logs_leaves_room_for_streams)
{
	static trace_id_t ids[MANY];
	struct rlimit limit = {MANY + 100, MANY + 100};
	trace_id_t active, one_more;

	if (setrlimit(RLIMIT_NOFILE, &limit) != 0) {
		px_test_skip("no right to so many descriptors");
		return;
	}
	write_log(POSIX_TRACE_LOOP);
	for (int i = 0; i < MANY; i++)
		ok(posix_trace_open(file, &ids[i]));
	ok(posix_trace_create(0, NULL, &active));
	for (int i = 0; i < MANY; i++) {
		log_id = ids[i];
		expect(POSIX_TRACE_START);
		ok(posix_trace_close(ids[i]));
		if (posix_trace_close(ids[i]) != EINVAL)
			ck_abort_msg("log %d is closed twice", i);
	}
	ok(posix_trace_start(active));
	ok(posix_trace_shutdown(active));
	ok(posix_trace_open(file, &one_more));
	for (int i = 0; i < MANY; i++)
		if (ids[i] == one_more)
			ck_abort_msg("the identifier of log %d again", i);
	ok(posix_trace_close(one_more));
}
END_TEST

/* OPEN-6: a failed allocation leaves no open descriptor. */
START_TEST(open_too_many_logs_gives_enomem)
{
	static trace_id_t ids[MANY];
	struct rlimit limit = {MANY + 100, MANY + 100};
	int n = 0, error = 0, next;

	if (getenv("PX_SANITIZED") || setrlimit(RLIMIT_NOFILE, &limit) != 0) {
		px_test_skip("no limit of memory, or no right to so many descriptors");
		return;
	}
	write_log(POSIX_TRACE_LOOP);
	limit = (struct rlimit){(rlim_t)24 << 20, RLIM_INFINITY};
	setrlimit(RLIMIT_AS, &limit);
	if (!px_test_is_memory_limited((size_t)48 << 20)) {
		px_test_skip("no limit of memory");
		return;
	}
	while (n < MANY && (error = posix_trace_open(file, &ids[n])) == 0)
		n++;
	fails(error, ENOMEM);
	next = dup(file);
	close(next);
	expect_refused(file, ENOMEM);
	ck_assert_int_eq(dup(file), next);
	for (int i = 0; i < n; i++)
		ok(posix_trace_close(ids[i]));
}
END_TEST

/* OPEN-8 FLUSH-2 CLEAR-11 SHUT-7 START-5 STOP-5 GETFILT-2 SETFILT-6 TRIDOPEN-6 TRY-3 */
START_TEST(open_log_refuses_what_is_for_active_streams)
{
	trace_event_set_t set;
	trace_event_id_t id;
	int unavailable = 4711;

	write_and_open();
	ok(posix_trace_eventset_empty(&set));
	fails(posix_trace_start(log_id), EINVAL);
	fails(posix_trace_stop(log_id), EINVAL);
	fails(posix_trace_clear(log_id), EINVAL);
	fails(posix_trace_flush(log_id), EINVAL);
	fails(posix_trace_shutdown(log_id), EINVAL);
	fails(posix_trace_get_filter(log_id, &set), EINVAL);
	fails(posix_trace_set_filter(log_id, &set, POSIX_TRACE_SET_EVENTSET), EINVAL);
	fails(posix_trace_trid_eventid_open(log_id, "new", &id), EINVAL);
	fails(posix_trace_trygetnext_event(log_id, &seen.info, seen.data, sizeof(seen.data),
					   &seen.length, &unavailable),
	      EINVAL);
	ck_assert_int_eq(unavailable, 4711);
	expect_whole_log(); /* and nothing disturbed it */
}
END_TEST

/* TIMED-7 */
START_TEST(open_log_read_with_a_time_limit_ignores_it)
{
	const struct timespec limits[] = {{0, 0}, {1, -5}, {1, 2000000000}};
	int unavailable;

	write_and_open();
	for (int i = 0; i < 4; i++) {
		ok(posix_trace_timedgetnext_event(log_id, &seen.info, seen.data, sizeof(seen.data),
						  &seen.length, &unavailable,
						  i < 3 ? &limits[i] : NULL));
		ck_assert_int_eq(unavailable, 0);
	}
	while (px_test_take_recorded(log_id, &seen))
		;
	for (int i = 0; i < 4; i++) {
		ok(posix_trace_timedgetnext_event(log_id, &seen.info, seen.data, sizeof(seen.data),
						  &seen.length, &unavailable,
						  i < 3 ? &limits[i] : NULL));
		ck_assert_int_ne(unavailable, 0);
	}
}
END_TEST

/* GETNEXT-4 GETNEXT-5 GETNEXT-6 GETNEXT-7 INFO-6, traps 8 and 9 */
START_TEST(open_log_read_into_a_small_buffer_is_cut)
{
	unsigned char data[401];
	size_t length, capacity = (size_t)_i;
	int unavailable;

	write_and_open();
	for (;;) {
		size_t whole;

		memset(data, 0xEE, sizeof(data));
		ok(posix_trace_getnext_event(log_id, &seen.info, capacity ? data : NULL, capacity,
					     &length, &unavailable));
		if (unavailable)
			break;
		ck_assert_uint_le(length, capacity);
		for (size_t i = length; i < sizeof(data); i++)
			ck_assert_uint_eq(data[i], 0xEE);
		if (seen.info.posix_event_id != type)
			continue;
		whole = sizeof(uint32_t);
		ck_assert_uint_eq(length, whole < capacity ? whole : capacity);
		ck_assert_int_eq(seen.info.posix_truncation_status,
				 capacity < whole ? POSIX_TRACE_TRUNCATED_READ :
						    POSIX_TRACE_NOT_TRUNCATED);
	}
	ok(posix_trace_rewind(log_id));
	expect_whole_log(); /* the next read does not continue the rest of an event */
}
END_TEST

/* REWIND-1 REWIND-3 GETNEXT-17 */
START_TEST(rewind_starts_over_at_any_place)
{
	trace_event_id_t id;
	int unavailable;

	write_and_open();
	ok(posix_trace_eventtypelist_getnext_id(log_id, &id, &unavailable));
	ck_assert_uint_eq(id, POSIX_TRACE_ERROR);
	for (int n = 0; n < 110; n += 11) {
		for (int i = 0; i < n; i++)
			px_test_take_recorded(log_id, &seen);
		ok(posix_trace_rewind(log_id));
		expect_whole_log();
		ok(posix_trace_rewind(log_id));
	}
	ok(posix_trace_eventtypelist_getnext_id(log_id, &id, &unavailable));
	ck_assert_uint_eq(id, POSIX_TRACE_START);
}
END_TEST

/* REWIND-2 CLOSE-3 */
START_TEST(rewind_and_close_of_anything_else_give_einval)
{
	const struct px_test_stream wanted = {.nr_rings = 1};
	trace_id_t bad[PX_TEST_BAD_TRIDS], active = px_test_create(&wanted);

	px_test_bad_trids(bad);
	for (int i = 0; i < PX_TEST_BAD_TRIDS; i++) {
		fails(posix_trace_rewind(bad[i]), EINVAL);
		fails(posix_trace_close(bad[i]), EINVAL);
	}
	fails(posix_trace_rewind(active), EINVAL);
	fails(posix_trace_close(active), EINVAL);
	ok(posix_trace_start(active));
}
END_TEST

/* CLOSE-1 CLOSE-3 KIND-3 */
START_TEST(close_makes_the_identifier_invalid)
{
	trace_id_t again;

	write_and_open();
	ok(posix_trace_close(log_id));
	fails(posix_trace_close(log_id), EINVAL);
	fails(posix_trace_rewind(log_id), EINVAL);
	ck_assert_ptr_null(px_test_accepting(log_id));
	ok(posix_trace_open(file, &again));
	ck_assert_uint_ne(again, log_id);
	ck_assert_ptr_null(px_test_accepting(log_id));
	ok(posix_trace_close(again));
}
END_TEST

/* GETNEXT-17 */
START_TEST(open_twice_gives_two_cursors)
{
	trace_id_t first, second;

	write_and_open();
	first = log_id;
	ok(posix_trace_open(file, &second));
	expect(POSIX_TRACE_START);
	expect_pair(0);
	log_id = second;
	expect(POSIX_TRACE_START);
	log_id = first;
	expect_pair(1);
	log_id = second;
	expect_pair(0);
	ok(posix_trace_close(first));
	expect_pair(1);
}
END_TEST

static int read_rest_in_child(void *unused)
{
	(void)unused;
	for (uint32_t i = 1; i < NR_NUMBERS; i++)
		if (px_test_take_recorded(log_id, &seen) != type || px_test_number(&seen) != i ||
		    px_test_take_recorded(log_id, &seen) != big_type)
			return 1;
	if (posix_trace_rewind(log_id) || px_test_take_recorded(log_id, &seen) != POSIX_TRACE_START)
		return 2;
	return posix_trace_close(log_id) ? 3 : 0;
}

/* KIND-2 */
START_TEST(open_log_goes_on_in_a_child_by_itself)
{
	write_and_open();
	expect(POSIX_TRACE_START);
	expect_pair(0);
	ck_assert_int_eq(px_test_in_child(read_rest_in_child, NULL), 0);
	expect_pair(1);
	ck_assert_int_eq(px_test_in_child(try_to_open, NULL), 0);
	for (uint32_t i = 2; i < NR_NUMBERS; i++)
		expect_pair(i);
	expect(POSIX_TRACE_STOP);
	expect(0);
}
END_TEST

static int use_error;

/*
 * Call all functions that read the file with the identifier locked and are no cancellation points.  Make no Check
 * assertions, because Check writes to a pipe.
 */
static void use_pre_recorded_stream(void)
{
	char name[TRACE_EVENT_NAME_MAX + 1], text[16384];
	struct txtrace_object object;
	struct txtrace_file_info info;
	trace_event_id_t id;
	trace_attr_t attr;
	size_t length;
	int unavailable = 0;

	use_error = posix_trace_get_attr(log_id, &attr);
	while (!use_error && !unavailable) {
		use_error = posix_trace_eventtypelist_getnext_id(log_id, &id, &unavailable);
		if (!use_error && !unavailable)
			use_error = posix_trace_eventid_get_name(log_id, id, name);
	}
	unavailable = 0;
	while (!use_error && !unavailable)
		use_error = txtrace_getnext_object(log_id, &object, &unavailable);
	if (!use_error)
		use_error = txtrace_get_file_info(log_id, &info);
	if (!use_error)
		use_error = txtrace_get_trxc(log_id, text, sizeof(text), &length);
	if (!use_error)
		use_error = posix_trace_rewind(log_id);
}

/* An image alone, which opens as another kind of file. */
static void open_image(void)
{
	trace_id_t trid = px_test_create(&(struct px_test_stream){.nr_rings = 1, .size = 1 << 20});
	double tick_ns;
	size_t size;
	void *image;

	ok(posix_trace_start(trid));
	for (uint32_t i = 0; i < 10000; i++)
		px_test_trace(type, i);
	fails(txtrace_copy_ring(trid, 0, NULL, 0, &size, &tick_ns), ENOSPC);
	image = malloc(size);
	ck_assert_ptr_nonnull(image);
	ok(txtrace_copy_ring(trid, 0, image, size, &size, &tick_ns));
	ck_assert_int_eq(write(file, image, size), (ssize_t)size);
	free(image);
	ok(posix_trace_shutdown(trid));
	log_id = px_test_open(file);
}

/* GEN-6 GEN-7: a function of the C library that reads a file is a cancellation point, but the identifier is locked. */
START_TEST(open_log_used_with_cancellation_pending_is_used_in_full)
{
	if (_i)
		open_image();
	else
		write_and_open();
	px_test_with_cancellation_pending(use_pre_recorded_stream);
	ok(use_error);
	ok(posix_trace_rewind(log_id));
	ok(posix_trace_close(log_id));
}
END_TEST

static void *read_for_ever(void *unused)
{
	struct posix_trace_event_info info;
	int unavailable;
	size_t length;
	char data[8];

	for (;;) {
		posix_trace_getnext_event(log_id, &info, data, sizeof(data), &length, &unavailable);
		if (unavailable)
			posix_trace_rewind(log_id);
	}
	return unused;
}

/* CANC-1: a reading thread is cancelled between two events, and other threads go on. */
START_TEST(open_log_goes_on_when_its_reader_is_cancelled)
{
#if defined __SANITIZE_ADDRESS__
	px_test_skip("AddressSanitizer takes the stack of a cancelled thread for damaged");
	return;
#endif
	if (_i)
		open_image();
	else
		write_and_open();
	for (int i = 0; i < 50; i++) {
		pthread_t thread;

		ck_assert_int_eq(pthread_create(&thread, NULL, read_for_ever, NULL), 0);
		sleep_ms(1);
		pthread_cancel(thread);
		pthread_join(thread, NULL);
		ok(posix_trace_rewind(log_id));
	}
	ok(posix_trace_close(log_id));
}
END_TEST

static int read_first_in_child(void *unused)
{
	struct posix_trace_event_info info;
	int unavailable;
	size_t length;

	(void)unused;
	return posix_trace_getnext_event(log_id, &info, NULL, 0, &length, &unavailable) != 0 ||
	       info.posix_event_id != POSIX_TRACE_START;
}

/* KIND-2: even if the place of the identifier belonged to a stream before. */
START_TEST(open_log_in_the_place_of_a_stream_goes_on_in_a_child)
{
	write_and_open();
	ck_assert_int_eq(px_test_in_child(read_first_in_child, NULL), 0);
	expect(POSIX_TRACE_START);
	ok(posix_trace_close(log_id));
}
END_TEST

/* OPEN-10: a file of a few KiB can claim to have any number of volumes. */
START_TEST(open_log_of_countless_holes_ends_soon)
{
	uint64_t end = (uint64_t)PX_LOG_VOLUME_ENTRIES_MAX << 16;
	struct txtrace_object object;
	struct px_log_commit commit;
	struct px_log_header header;
	int unavailable = 0;

	write_log(POSIX_TRACE_APPEND);
	px_test_check_log(file, 0, &facts);
	header = facts.header;
	header.writer_start--;
	change_header(&header);
	commit = facts.commit;
	commit.end = end;
	commit.is_complete = 0;
	change_commit(&commit);
	ck_assert_int_eq(ftruncate(file, (off_t)(facts.layout.size << 16)), 0);
	log_id = px_test_open(file);
	while (px_test_take_recorded(log_id, &seen) != 0)
		;
	for (int i = 0; !unavailable; i++) {
		ok(txtrace_getnext_object(log_id, &object, &unavailable));
		ck_assert_int_lt(i, 1000);
	}
	ok(posix_trace_close(log_id));
}
END_TEST

/* STATUS-7 STATUS-8 GETSTAT-2 */
START_TEST(open_log_status_is_that_of_the_end_and_never_reset)
{
	struct posix_trace_status_info first, second;

	stream = px_test_create_log(&(struct px_test_stream){.policy = POSIX_TRACE_UNTIL_FULL,
							     .size = 4096,
							     .nr_rings = 1,
							     .log_policy = POSIX_TRACE_UNTIL_FULL,
							     .log_size = 65536},
				    file);
	ok(posix_trace_start(stream));
	for (uint32_t i = 0; i < 1000; i++)
		px_test_trace(type, i);
	/* Both this volume and the log report it. */
	ck_assert_int_eq(px_test_status(stream).posix_stream_overrun_status, POSIX_TRACE_OVERRUN);
	ck_assert_int_eq(px_test_status(stream).posix_stream_overrun_status,
			 POSIX_TRACE_NO_OVERRUN);
	if (_i) {
		ok(posix_trace_clear(stream));
		ok(posix_trace_start(stream));
	}
	ok(posix_trace_shutdown(stream));
	px_test_check_log(file, 0, &facts);
	log_id = px_test_open(file);
	first = px_test_status(log_id);
	second = px_test_status(log_id);
	ck_assert_mem_eq(&first, &second, sizeof(first));
	ck_assert_int_eq(first.posix_stream_status, POSIX_TRACE_SUSPENDED);
	ck_assert_int_eq(first.posix_stream_full_status, POSIX_TRACE_NOT_FULL);
	ck_assert_int_eq(first.posix_stream_overrun_status,
			 _i ? POSIX_TRACE_NO_OVERRUN : POSIX_TRACE_OVERRUN);
	ck_assert_int_eq(first.posix_stream_flush_status, POSIX_TRACE_NOT_FLUSHING);
	ck_assert_int_eq(first.posix_stream_flush_error, 0);
	ck_assert_int_eq(first.posix_log_overrun_status, POSIX_TRACE_NO_OVERRUN);
	ck_assert_int_eq(first.posix_log_full_status, POSIX_TRACE_NOT_FULL);
}
END_TEST

/* GETATTR-1 GETATTR-2 GETATTR-5 CLKRES-4 GENVER-3 ATTR-2 */
START_TEST(open_log_has_the_attributes_of_its_stream)
{
	trace_attr_t of_stream, of_log;
	trace_id_t alike;

	create_log(POSIX_TRACE_UNTIL_FULL, 123456);
	ok(posix_trace_get_attr(stream, &of_stream));
	ok(posix_trace_shutdown(stream));
	log_id = px_test_open(file);
	memset(&of_log, 0xAA, sizeof(of_log));
	ok(posix_trace_get_attr(log_id, &of_log));
	ck_assert_mem_eq(&of_stream, &of_log, sizeof(struct px_attr));
	ok(posix_trace_create(0, &of_log, &alike));
	ok(posix_trace_shutdown(alike));
}
END_TEST

/* TYPELIST-7 TYPELIST-1 TYPELIST-2 TYPEREW-1 MODEL-4 INFO-11, traps 6 and 51 */
START_TEST(open_log_lists_the_types_of_its_stream)
{
	trace_event_id_t id, late, too_late, last = 0;
	int unavailable, n = 0;
	bool has_late = false;

	create_log(POSIX_TRACE_LOOP, 0);
	ok(posix_trace_eventid_open("opened while it was traced", &late));
	ok(posix_trace_shutdown(stream));
	ok(posix_trace_eventid_open("opened behind its end", &too_late));
	log_id = px_test_open(file);
	for (int round = 0; round < 2; round++) {
		n = 0;
		for (;;) {
			ok(posix_trace_eventtypelist_getnext_id(log_id, &id, &unavailable));
			if (unavailable)
				break;
			ck_assert_uint_ne(id, too_late);
			ck_assert_uint_gt(id, round == 0 ? last : 0);
			has_late |= id == late;
			last = id;
			n++;
		}
		ck_assert(has_late);
		ck_assert_int_eq(n, 15 + 1 + 3);
		ok(posix_trace_eventtypelist_getnext_id(log_id, &id, &unavailable));
		ck_assert_int_ne(unavailable, 0);
		ok(posix_trace_eventtypelist_rewind(log_id));
	}
}
END_TEST

/* EVNAME-4 INFO-11 MAP-1 */
START_TEST(open_log_knows_the_names_of_its_types)
{
	char name[TRACE_EVENT_NAME_MAX + 1], own[TRACE_EVENT_NAME_MAX + 1];
	trace_event_id_t longest, too_late;

	memset(own, 'x', sizeof(own));
	own[TRACE_EVENT_NAME_MAX] = '\0';
	ok(posix_trace_eventid_open(own, &longest));
	write_and_open();
	ok(posix_trace_eventid_open("opened behind its end", &too_late));
	ok(posix_trace_eventid_get_name(log_id, type, name));
	ck_assert_str_eq(name, "read back");
	ok(posix_trace_eventid_get_name(log_id, longest, name));
	ck_assert_str_eq(name, own);
	ok(posix_trace_eventid_get_name(log_id, POSIX_TRACE_FLUSH_START, name));
	ck_assert_str_eq(name, "posix_trace_flush_start");
	ok(posix_trace_eventid_get_name(log_id, POSIX_TRACE_UNNAMED_USEREVENT, name));
	ck_assert_str_eq(name, "posix_trace_unnamed_userevent");
	fails(posix_trace_eventid_get_name(log_id, too_late, name), EINVAL);
	fails(posix_trace_eventid_get_name(log_id, 0, name), EINVAL);
	fails(posix_trace_eventid_get_name(log_id, UINT32_MAX, name), EINVAL);
}
END_TEST

/* MODEL-4: a log has the names of its own process, even if this process has others. */
static int write_with_other_names(void *unused)
{
	trace_event_id_t id;

	(void)unused;
	if (posix_trace_eventid_open("only there", &id) ||
	    posix_trace_create_withlog(0, NULL, file, &stream) || posix_trace_start(stream))
		return 1;
	px_test_trace(id, 5);
	return posix_trace_shutdown(stream) ? 2 : (int)id;
}

/* MODEL-4 EVNAME-4 */
START_TEST(open_log_of_another_process_has_its_names)
{
	char name[TRACE_EVENT_NAME_MAX + 1];
	int id = px_test_in_child(write_with_other_names, NULL);

	ck_assert_int_ge(id, 17);
	log_id = px_test_open(file);
	expect(POSIX_TRACE_START);
	expect((trace_event_id_t)id);
	ck_assert_int_ne(seen.info.posix_pid, getpid());
	ok(posix_trace_eventid_get_name(log_id, (trace_event_id_t)id, name));
	ck_assert_str_eq(name, "only there");
}
END_TEST

/* OPEN-9 */
START_TEST(open_log_that_went_round_begins_with_the_oldest)
{
	uint32_t first;

	create_log(POSIX_TRACE_LOOP, 1 << 16);
	for (uint32_t i = 0; i < 5000; i++) {
		px_test_trace(type, i);
		trace_big(i, i % 300);
		if (i % 100 == 0)
			ok(posix_trace_flush(stream));
	}
	ok(posix_trace_shutdown(stream));
	px_test_check_log(file, 0, &facts);
	log_id = px_test_open(file);
	do
		ck_assert_uint_ne(px_test_take_recorded(log_id, &seen), 0);
	while (seen.info.posix_event_id != type);
	first = px_test_number(&seen);
	ck_assert_uint_gt(first, 4000);
	for (uint32_t i = first;;) {
		trace_event_id_t id = px_test_take_recorded(log_id, &seen);

		if (id == 0) {
			ck_assert_uint_eq(i, 4999);
			break;
		}
		if (id == big_type)
			ck_assert(seen.length == i % 300 &&
				  px_test_is_filled(seen.data, seen.length, i));
		else if (id == type)
			ck_assert_uint_eq(px_test_number(&seen), ++i);
	}
	ok(posix_trace_rewind(log_id));
	px_test_take_recorded(log_id, &seen);
	if (seen.info.posix_event_id == type)
		ck_assert_uint_eq(px_test_number(&seen), first);
}
END_TEST

/* Damage. */

static unsigned char *whole;
static size_t whole_size;

static void keep_whole(void)
{
	whole_size = px_test_file_size(file);
	whole = malloc(whole_size);
	ck_assert_ptr_nonnull(whole);
	ck_assert_int_eq(pread(file, whole, whole_size, 0), (ssize_t)whole_size);
}

/* Call all functions on the opened file.  It may return no more events than fit into its size. */
static void use_damaged(void)
{
	char name[TRACE_EVENT_NAME_MAX + 1];
	struct posix_trace_status_info status;
	uint64_t most = px_test_file_size(file) / sizeof(struct px_txtb_entry) + 1;
	unsigned char data[2048];
	trace_event_id_t id;
	trace_attr_t attr;
	trace_id_t trid;
	size_t length;
	int unavailable;

	if (posix_trace_open(file, &trid) != 0)
		return;
	for (int round = 0; round < 2; round++) {
		uint64_t n = 0;

		for (;;) {
			if (posix_trace_getnext_event(trid, &seen.info, data,
						      round ? 13 : sizeof(data), &length,
						      &unavailable) ||
			    unavailable)
				break;
			if (++n > most || length > sizeof(data))
				ck_abort_msg("more events than the file has room for");
		}
		posix_trace_rewind(trid);
	}
	for (uint32_t n = 0;
	     posix_trace_eventtypelist_getnext_id(trid, &id, &unavailable) == 0 && !unavailable;
	     n++) {
		if (n > 70000)
			ck_abort_msg("more types than there are ids");
		posix_trace_eventid_get_name(trid, id, name);
	}
	posix_trace_get_attr(trid, &attr);
	posix_trace_get_status(trid, &status);
	posix_trace_close(trid);
}

/* MODEL-9: the image alone could be read, but it belongs to a log whose section has another byte order. */
START_TEST(open_log_whose_image_has_the_other_byte_order_gives_einval)
{
	struct px_txtb_object first;
	uint32_t id;

	write_log(POSIX_TRACE_LOOP);
	px_test_check_log(file, 0, &facts);
	ck_assert_int_eq(pread(file, &id, sizeof(id), 0), sizeof(id));
	ck_assert_int_eq(pread(file, &first, sizeof(first), sizeof(struct px_txtb_header)),
			 sizeof(first));
	id = __builtin_bswap32(id);
	first.handle = __builtin_bswap32(first.handle);
	change(0, &id, sizeof(id));
	change(sizeof(struct px_txtb_header), &first, sizeof(first));
	expect_refused(file, EINVAL);
}
END_TEST

/* OPEN-3 OPEN-10: a truncated log does not open, even if its image is complete. */
START_TEST(open_log_that_was_cut_gives_einval)
{
	uint64_t size;

	write_log(_i == 0 ? POSIX_TRACE_LOOP :
		  _i == 1 ? POSIX_TRACE_UNTIL_FULL :
			    POSIX_TRACE_APPEND);
	px_test_check_log(file, 0, &facts);
	size = px_test_file_size(file);
	for (uint64_t cut = 1; cut < size; cut += cut < 100 ? 1 : cut < 10000 ? 97 : size / 100) {
		ck_assert_int_eq(ftruncate(file, (off_t)(size - cut)), 0);
		expect_refused(file, EINVAL);
	}
}
END_TEST

/* OPEN-10: a log that was truncated before it was complete does no harm either. */
START_TEST(open_unfinished_log_that_was_cut_is_read_as_far_as_it_goes)
{
	struct px_log_header header;
	struct px_log_commit commit;

	write_log(_i == 0 ? POSIX_TRACE_LOOP :
		  _i == 1 ? POSIX_TRACE_UNTIL_FULL :
			    POSIX_TRACE_APPEND);
	px_test_check_log(file, 0, &facts);
	header = facts.header;
	header.writer_start--;
	change_header(&header);
	commit = facts.commit;
	commit.is_complete = 0;
	change_commit(&commit);
	keep_whole();
	for (size_t size = whole_size; size > 0; size -= size < 5000 ? 1 : size / 50) {
		ck_assert_int_eq(ftruncate(file, (off_t)size), 0);
		use_damaged();
	}
	free(whole);
}
END_TEST

/* OPEN-10: random numbers in the important places. */
START_TEST(open_log_with_senseless_numbers_ends_soon)
{
	static const uint64_t numbers[] = {0,
					   1,
					   2,
					   3,
					   0x7F,
					   0xFF,
					   0xFFFF,
					   0x7FFFFFFF,
					   0xFFFFFFFF,
					   UINT64_C(1) << 40,
					   (UINT64_C(1) << 56) - 1,
					   UINT64_C(1) << 56,
					   INT64_MAX,
					   UINT64_MAX};
	uint64_t areas[3];

	write_log(_i % 3 == 0 ? POSIX_TRACE_LOOP :
		  _i % 3 == 1 ? POSIX_TRACE_UNTIL_FULL :
				POSIX_TRACE_APPEND);
	px_test_check_log(file, 0, &facts);
	if (_i >= 3) {
		struct px_log_header header = facts.header;
		struct px_log_commit commit = facts.commit;

		header.writer_start--;
		change_header(&header);
		commit.is_complete = 0;
		change_commit(&commit);
	}
	keep_whole();
	areas[0] = 0;
	areas[1] = facts.layout.header;
	areas[2] = facts.layout.commit;
	for (int area = 0; area < 3; area++)
		for (uint64_t at = 0; at < 256; at += 4)
			for (size_t i = 0; i < sizeof(numbers) / sizeof(numbers[0]); i++) {
				change(areas[area] + at, &numbers[i], i < 9 ? 4 : 8);
				use_damaged();
				change(areas[area] + at, whole + areas[area] + at, 8);
			}
	free(whole);
}
END_TEST

/* OPEN-10 */
START_TEST(open_log_with_random_damage_never_breaks)
{
	uint64_t random = test_seed();

	write_log(POSIX_TRACE_LOOP);
	px_test_check_log(file, 0, &facts);
	keep_whole();
	for (int round = 0; round < 4000; round++) {
		const uint64_t areas[] = {0,
					  facts.layout.entries,
					  facts.layout.header,
					  facts.layout.commit,
					  facts.commit.names_at,
					  facts.layout.frames,
					  facts.layout.frames,
					  facts.layout.frames};
		uint64_t at[8];
		int n = 1 + (int)(next_random(&random) % 8);

		for (int i = 0; i < n; i++) {
			uint64_t bits = next_random(&random);
			uint8_t byte = (uint8_t)(bits >> 40);

			at[i] = areas[bits % 8] + (bits >> 8 & 0xFFFF) % (bits & 64 ? 200 : 8000);
			if (at[i] < whole_size)
				change(at[i], &byte, 1);
		}
		use_damaged();
		for (int i = 0; i < n; i++)
			if (at[i] < whole_size)
				change(at[i], whole + at[i], 1);
	}
	free(whole);
}
END_TEST

/* OPEN-10: if a file is truncated while it is read, the reader finds the end, and no signal occurs. */
START_TEST(open_log_that_is_cut_while_it_is_read_ends)
{
	create_log(POSIX_TRACE_APPEND, 0);
	for (uint32_t i = 0; i < 3000; i++)
		px_test_trace(type, i);
	ok(posix_trace_flush(stream));
	for (uint32_t i = 0; i < 3000; i++)
		px_test_trace(type, i);
	ok(posix_trace_shutdown(stream));
	log_id = px_test_open(file);
	expect(POSIX_TRACE_START);
	ck_assert_int_eq(ftruncate(file, 5000), 0);
	while (px_test_take_recorded(log_id, &seen))
		;
	ok(posix_trace_rewind(log_id));
	expect(0);
}
END_TEST

static void *read_shared(void *count)
{
	int unavailable = 0;

	while (!unavailable) {
		struct px_test_event event;

		if (posix_trace_getnext_event(log_id, &event.info, event.data, sizeof(event.data),
					      &event.length, &unavailable))
			return NULL;
		*(int *)count += !unavailable;
	}
	return NULL;
}

/* GEN-3 GETNEXT-8: threads share the position of the reader. */
START_TEST(open_log_read_by_many_threads_gives_each_event_once)
{
	pthread_t thread[4];
	int count[4] = {0}, sum = 0;

	write_and_open();
	for (int i = 0; i < 4; i++)
		ck_assert_int_eq(pthread_create(&thread[i], NULL, read_shared, &count[i]), 0);
	for (int i = 0; i < 4; i++) {
		pthread_join(thread[i], NULL);
		sum += count[i];
	}
	ck_assert_int_eq(sum, 2 * NR_NUMBERS + 2);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("archive_log");
	TCase *tcase = tcase_create("open");

	tcase_add_checked_fixture(tcase, setup, NULL);
	tcase_set_timeout(tcase, 60);
	tcase_add_loop_test(tcase, open_reads_back_what_was_logged, 0, 3);
	tcase_add_test(tcase, open_events_have_thread_address_pid_and_time);
	tcase_add_test(tcase, open_descriptor_that_cannot_be_read_gives_einval);
	tcase_add_test(tcase, open_file_that_is_no_log_gives_einval);
	tcase_add_test(tcase, open_log_that_is_still_written_gives_einval);
	tcase_add_loop_test(tcase, open_log_of_a_dead_writer_is_read_as_far_as_committed, 0, 4);
	tcase_add_test(tcase, open_log_of_another_version_or_impossible_machine_gives_einval);
	tcase_add_test(tcase, open_log_of_another_machine_gives_its_model);
	tcase_add_test(tcase, open_log_whose_image_has_the_other_byte_order_gives_einval);
	tcase_add_loop_test(tcase, open_log_of_a_newer_version_gives_enotsup_where_flags_allow_more, 0, 2);
	tcase_add_test(tcase, commit_is_where_a_copy_of_a_running_log_needs_it);
	tcase_add_test(tcase, open_leaves_the_descriptor_alone);
	tcase_add_test(tcase, open_and_read_do_not_change_the_file);
	tcase_add_test(tcase, open_logs_are_not_counted_as_streams);
	tcase_add_test(tcase, open_thousands_of_logs_leaves_room_for_streams);
	tcase_add_test(tcase, open_too_many_logs_gives_enomem);
	tcase_add_test(tcase, open_log_refuses_what_is_for_active_streams);
	tcase_add_test(tcase, open_log_read_with_a_time_limit_ignores_it);
	tcase_add_loop_test(tcase, open_log_read_into_a_small_buffer_is_cut, 0, 6);
	tcase_add_test(tcase, rewind_starts_over_at_any_place);
	tcase_add_test(tcase, rewind_and_close_of_anything_else_give_einval);
	tcase_add_test(tcase, close_makes_the_identifier_invalid);
	tcase_add_test(tcase, open_twice_gives_two_cursors);
	tcase_add_test(tcase, open_log_goes_on_in_a_child_by_itself);
	tcase_add_test(tcase, open_log_in_the_place_of_a_stream_goes_on_in_a_child);
	tcase_add_loop_test(tcase, open_log_used_with_cancellation_pending_is_used_in_full, 0, 2);
	tcase_add_loop_test(tcase, open_log_goes_on_when_its_reader_is_cancelled, 0, 2);
	tcase_add_test(tcase, open_log_of_countless_holes_ends_soon);
	tcase_add_loop_test(tcase, open_log_status_is_that_of_the_end_and_never_reset, 0, 2);
	tcase_add_test(tcase, open_log_has_the_attributes_of_its_stream);
	tcase_add_test(tcase, open_log_lists_the_types_of_its_stream);
	tcase_add_test(tcase, open_log_knows_the_names_of_its_types);
	tcase_add_test(tcase, open_log_of_another_process_has_its_names);
	tcase_add_test(tcase, open_log_that_went_round_begins_with_the_oldest);
	tcase_add_loop_test(tcase, open_log_that_was_cut_gives_einval, 0, 3);
	tcase_add_loop_test(tcase, open_unfinished_log_that_was_cut_is_read_as_far_as_it_goes, 0,
			    3);
	tcase_add_loop_test(tcase, open_log_with_senseless_numbers_ends_soon, 0, 6);
	tcase_add_test(tcase, open_log_with_random_damage_never_breaks);
	tcase_add_test(tcase, open_log_that_is_cut_while_it_is_read_ends);
	tcase_add_test(tcase, open_log_read_by_many_threads_gives_each_event_once);
	suite_add_tcase(suite, tcase);
	return run_suite(suite);
}
