/* SPDX-License-Identifier: MIT */
/*
 * posix_trace_create_withlog(): which files it accepts, which attributes the stream gets, and what it leaves unchanged.
 */
#include "support/common.h"

#include <dlfcn.h>
#include <fcntl.h>
#include <limits.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <trace_ext.h>
#include <unistd.h>

#include "event/attr.h"
#include "ring/record.h"
#include "support/log_checker.h"

static const struct px_test_stream plain = {.nr_rings = 1};

static trace_event_id_t type, other_type;
static int file;
static trace_id_t stream, log_id;
static struct px_test_event seen;
static struct px_test_log_facts facts;

/* Creating a thread fails this many times. */
static int nr_refusals;

int pthread_create(pthread_t *thread, const pthread_attr_t *attr, void *(*start)(void *),
		   void *argument)
{
	static int (*real)(pthread_t *, const pthread_attr_t *, void *(*)(void *), void *);

	if (nr_refusals > 0) {
		nr_refusals--;
		return EAGAIN;
	}
	if (!real)
		*(void **)&real = dlsym(RTLD_NEXT, "pthread_create");
	return real(thread, attr, start, argument);
}

static void setup(void)
{
	ok(posix_trace_eventid_open("logged", &type));
	ok(posix_trace_eventid_open("logged too", &other_type));
	file = px_test_file();
}

static void finish(void)
{
	ok(posix_trace_shutdown(stream));
	px_test_check_log(file, 0, &facts);
	log_id = px_test_open(file);
}

static void expect(trace_event_id_t id)
{
	px_test_expect_recorded(log_id, id, &seen);
}

static void expect_number(uint32_t number)
{
	expect(type);
	ck_assert_uint_eq(px_test_number(&seen), number);
}

static void expect_end(void)
{
	expect(0);
	ok(posix_trace_close(log_id));
}

/* Expect these last events of the log; earlier ones may differ. */
static void skip_to(trace_event_id_t id)
{
	do
		ck_assert_uint_ne(px_test_take_recorded(log_id, &seen), 0);
	while (seen.info.posix_event_id != id);
}

static int policy_of(trace_id_t trid)
{
	trace_attr_t attr;
	int policy;

	ok(posix_trace_get_attr(trid, &attr));
	ok(posix_trace_attr_getstreamfullpolicy(&attr, &policy));
	return policy;
}

/* Count all existing streams: the call leaves none. */
static int count_free_streams(void)
{
	trace_id_t trids[TRACE_SYS_MAX];
	trace_attr_t attr;
	int n = 0;

	ok(posix_trace_attr_init(&attr));
	ok(txtrace_attr_setrings(&attr, 1));
	ok(posix_trace_attr_setstreamsize(&attr, 0));
	while (n < TRACE_SYS_MAX && posix_trace_create(0, &attr, &trids[n]) == 0)
		n++;
	for (int i = 0; i < n; i++)
		ok(posix_trace_shutdown(trids[i]));
	return n;
}

static void expect_refused(const trace_attr_t *attr, int fd, int error)
{
	trace_id_t trid = 4711;
	int saved_errno;

	errno = 1234;
	fails(posix_trace_create_withlog(0, attr, fd, &trid), error);
	saved_errno = errno;
	ck_assert_int_eq(saved_errno, 1234);
	ck_assert_uint_eq(trid, 4711);
	ck_assert_int_eq(count_free_streams(), TRACE_SYS_MAX);
}

/* WITHLOG-4 CREATE-18 GEN-11 */
START_TEST(withlog_descriptor_not_open_for_writing_gives_ebadf)
{
	int closed = dup(file), read_only = px_test_reopen(file, O_RDONLY);
	int path_only = open("/tmp", O_PATH | O_CLOEXEC);

	close(closed);
	expect_refused(NULL, -1, EBADF);
	expect_refused(NULL, closed, EBADF);
	expect_refused(NULL, 1 << 20, EBADF);
	expect_refused(NULL, read_only, EBADF);
	expect_refused(NULL, path_only, EBADF);
	ck_assert_uint_eq(px_test_file_size(file), 0);
}
END_TEST

/* WITHLOG-5 LOGP-9 */
START_TEST(withlog_file_that_is_not_regular_gives_einval)
{
	static const int policies[] = {POSIX_TRACE_LOOP, POSIX_TRACE_UNTIL_FULL,
				       POSIX_TRACE_APPEND};
	int pipes[2], sockets[2], null = open("/dev/null", O_RDWR | O_CLOEXEC);
	trace_attr_t attr;

	ck_assert_int_eq(pipe2(pipes, O_CLOEXEC), 0);
	ck_assert_int_eq(socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, sockets), 0);
	ok(posix_trace_attr_init(&attr));
	ok(posix_trace_attr_setlogfullpolicy(&attr, policies[_i]));
	expect_refused(&attr, pipes[1], EINVAL);
	expect_refused(&attr, sockets[0], EINVAL);
	expect_refused(&attr, null, EINVAL);
}
END_TEST

/* A directory cannot be opened for writing, so the call refuses it with that error. */
START_TEST(withlog_directory_is_refused)
{
	int folder = open("/tmp", O_RDONLY | O_DIRECTORY | O_CLOEXEC);

	expect_refused(NULL, folder, EBADF);
}
END_TEST

/* WITHLOG-5 LOGP-9: pwrite() with O_APPEND would append and ignore the offset. */
START_TEST(withlog_file_open_for_appending_gives_einval)
{
	expect_refused(NULL, px_test_reopen(file, O_WRONLY | O_APPEND), EINVAL);
	ck_assert_uint_eq(px_test_file_size(file), 0);
}
END_TEST

/* WITHLOG-3 CREATE-11 */
START_TEST(withlog_bad_argument_gives_einval)
{
	trace_attr_t attr;
	trace_id_t trid;

	memset(&attr, 0, sizeof(attr));
	expect_refused(&attr, file, EINVAL);
	fails(posix_trace_create_withlog(0, NULL, file, NULL), EINVAL);
	fails(posix_trace_create_withlog(-1, NULL, file, &trid), EINVAL);
	ok(posix_trace_attr_init(&attr));
	((struct px_attr *)&attr)->stream_policy = 5;
	expect_refused(&attr, file, EINVAL);
	ok(posix_trace_attr_init(&attr));
	((struct px_attr *)&attr)->log_policy = POSIX_TRACE_FLUSH;
	expect_refused(&attr, file, EINVAL);
	ck_assert_uint_eq(px_test_file_size(file), 0);
}
END_TEST

/* WITHLOG-3 CREATE-9 AMB-35 */
START_TEST(withlog_one_stream_too_many_gives_eagain)
{
	struct px_test_stream small = {.nr_rings = 1};
	trace_id_t trids[TRACE_SYS_MAX], trid = 4711;

	for (int i = 0; i < TRACE_SYS_MAX; i++)
		trids[i] = px_test_create(&small);
	fails(posix_trace_create_withlog(0, NULL, file, &trid), EAGAIN);
	ck_assert_uint_eq(trid, 4711);
	ck_assert_uint_eq(px_test_file_size(file), 0);
	ok(posix_trace_shutdown(trids[17]));
	stream = px_test_create_log(&small, file);
	finish();
}
END_TEST

/* LOGP-2 UFULL-2: the stream's own STOP fills the log */
START_TEST(withlog_full_log_ends_in_one_stop)
{
	for (size_t size = 8000; size < 40000; size += 80) {
		struct px_test_stream wanted = {.policy = POSIX_TRACE_UNTIL_FULL,
						.size = 4000,
						.max_data = 16,
						.nr_rings = 1,
						.log_policy = POSIX_TRACE_UNTIL_FULL,
						.log_size = size};
		int last = 0;

		file = px_test_file();
		stream = px_test_create_log(&wanted, file);
		ok(posix_trace_start(stream));
		for (uint32_t i = 0; i < 8; i++) {
			for (uint32_t j = 0; j < 100; j++)
				px_test_trace(type, j);
			ok(posix_trace_flush(stream));
		}
		finish();
		while (px_test_take_recorded(log_id, &seen) != 0) {
			int id = (int)seen.info.posix_event_id;

			ck_assert_msg(id != POSIX_TRACE_STOP || last != POSIX_TRACE_STOP,
				      "two STOPs in a log of %zu bytes", size);
			if (id == POSIX_TRACE_START || id == POSIX_TRACE_STOP || id == (int)type)
				last = id;
		}
		ck_assert_int_eq(last, POSIX_TRACE_STOP);
		ok(posix_trace_close(log_id));
		close(file);
	}
}
END_TEST

/* Record 10,000 numbers into a log, under a limit of the file size. */
static void record_under_limit(const struct px_test_stream *wanted, uint64_t limit)
{
	int error = 0;

	px_test_limit_files(limit);
	stream = px_test_create_log(wanted, file);
	posix_trace_start(stream);
	for (uint32_t i = 0; i < 10000 && !error; i++) {
		px_test_trace(type, i);
		if (i % 100 == 99)
			error = posix_trace_flush(stream);
	}
	px_test_unlimit_files();
	ck_assert_int_eq(error, 0);
}

/* LOGP-4: the limit belongs to a file of which the log uses little */
START_TEST(withlog_appending_log_fits_into_a_file_size_limit)
{
	static const uint64_t limits[] = {2 << 20, 27 << 20, 80 << 20};
	struct px_test_stream wanted = {.nr_rings = 1, .log_policy = POSIX_TRACE_APPEND};

	record_under_limit(&wanted, limits[_i]);
	finish();
	expect(POSIX_TRACE_START);
	for (uint32_t i = 0; i < 10000; i++) {
		while (px_test_take_recorded(log_id, &seen) != type)
			ck_assert_uint_lt(seen.info.posix_event_id, POSIX_TRACE_UNNAMED_USEREVENT);
		ck_assert_uint_eq(px_test_number(&seen), i);
	}
	ok(posix_trace_close(log_id));
}
END_TEST

/* LOGP-1 LOGP-4: log-max-size is a maximum.  If the file may not be so large, the log is smaller, and uses its room. */
START_TEST(withlog_bounded_log_uses_what_a_file_size_limit_leaves)
{
	static const uint64_t limits[] = {1 << 20, 4 << 20, 20 << 20};
	struct px_test_stream wanted = {.nr_rings = 1,
					.log_policy = _i % 2 ? POSIX_TRACE_LOOP : POSIX_TRACE_UNTIL_FULL,
					.log_size = 64 << 20};
	uint64_t limit = limits[_i / 2];
	uint32_t nr_found = 0, number = 0;

	record_under_limit(&wanted, limit);
	ck_assert_uint_le(px_test_file_size(file), limit);
	finish();
	for (trace_event_id_t got; (got = px_test_take_recorded(log_id, &seen)) != 0;) {
		if (got != type)
			continue;
		ck_assert(nr_found++ == 0 || px_test_number(&seen) == number + 1);
		number = px_test_number(&seen);
	}
	if (_i % 2)
		ck_assert_uint_eq(number, 9999);
	else
		ck_assert_uint_eq(number + 1, nr_found);
	ck_assert_uint_ge(nr_found, limit > 2 << 20 ? 10000 : 1000);
	ok(posix_trace_close(log_id));
}
END_TEST

static int nr_signals;

static void count_signal(int signal)
{
	(void)signal;
	nr_signals++;
}

/* Return the result of the creation under this limit. */
static int create_limited(const trace_attr_t *attr, uint64_t limit)
{
	int error;

	stream = 4711;
	px_test_limit_files(limit);
	error = posix_trace_create_withlog(0, attr, file, &stream);
	px_test_unlimit_files();
	return error;
}

/* WITHLOG-3 FLUSH-10 SIG-5: exceeding the limit raises SIGXFSZ, which would kill the program. */
START_TEST(withlog_file_size_limit_is_told_without_a_signal)
{
	trace_attr_t attr;
	uint64_t limit = 0;
	int error, nr_failures = 0;

	signal(SIGXFSZ, count_signal);
	ok(posix_trace_attr_init(&attr));
	ok(txtrace_attr_setrings(&attr, 1));
	ok(posix_trace_attr_setstreamsize(&attr, 0));
	while ((error = create_limited(&attr, limit)) != 0) {
		ck_assert_int_eq(nr_signals, 0);
		ck_assert_uint_eq(stream, 4711);
		/*
		 * The segment has a limit, too; exceeding it counts as a lack of memory (CREATE-13).  The segment is
		 * longer than a new log: log_whose_writes_fail_anywhere_goes_on_and_counts_what_is_lost forces EFBIG of
		 * a log.
		 */
		ck_assert(error == EFBIG || error == ENOMEM);
		nr_failures++;
		limit += 2000;
	}
	ck_assert_int_eq(nr_signals, 0);
	ck_assert_int_gt(nr_failures, 5);
	finish();
	ck_assert_int_eq(count_free_streams(), TRACE_SYS_MAX);
}
END_TEST

/* WITHLOG-6 */
START_TEST(withlog_full_file_system_gives_enospc)
{
	char folder[] = "/tmp/posixtrace-mount.XXXXXX", path[64];

	if (!mkdtemp(folder) || mount("none", folder, "tmpfs", 0, "size=8k") != 0) {
		rmdir(folder);
		px_test_skip("no right to mount a file system");
		return;
	}
	snprintf(path, sizeof(path), "%s/log", folder);
	file = open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0600);
	umount2(folder, MNT_DETACH);
	rmdir(folder);
	expect_refused(NULL, file, ENOSPC);
}
END_TEST

/* FD-4 */
START_TEST(withlog_without_a_free_descriptor_gives_emfile)
{
	struct rlimit limit;
	int last = dup(file);

	ck_assert_int_eq(getrlimit(RLIMIT_NOFILE, &limit), 0);
	limit.rlim_cur = (rlim_t)last; /* the library needs one descriptor for the segment, and keeps one */
	close(last);
	ck_assert_int_eq(setrlimit(RLIMIT_NOFILE, &limit), 0);
	fails(posix_trace_create_withlog(0, NULL, file, &stream), EMFILE);
	limit.rlim_cur += 2;
	ck_assert_int_eq(setrlimit(RLIMIT_NOFILE, &limit), 0);
	ok(posix_trace_create_withlog(0, NULL, file, &stream));
	fails(posix_trace_open(file, &log_id), EINVAL);
	ok(posix_trace_shutdown(stream));
	limit.rlim_cur -= 2;
	ck_assert_int_eq(setrlimit(RLIMIT_NOFILE, &limit), 0);
	fails(posix_trace_open(file, &log_id), EMFILE); /* OPEN-6 */
	limit.rlim_cur = limit.rlim_max;
	ck_assert_int_eq(setrlimit(RLIMIT_NOFILE, &limit), 0);
	ok(posix_trace_open(file, &log_id));
}
END_TEST

/* WITHLOG-2 */
START_TEST(withlog_descriptor_for_writing_only_is_enough)
{
	int write_only = px_test_reopen(file, O_WRONLY);

	stream = px_test_create_log(&plain, write_only);
	ok(posix_trace_start(stream));
	px_test_trace(type, 1);
	finish();
	expect(POSIX_TRACE_START);
	expect_number(1);
	expect(POSIX_TRACE_STOP);
	expect_end();
}
END_TEST

/* WITHLOG-7 GETSFP-2 INIT-8, traps 2 and 3 */
START_TEST(withlog_default_policy_is_flush)
{
	trace_attr_t attr;

	ok(posix_trace_create_withlog(0, NULL, file, &stream));
	ck_assert_int_eq(policy_of(stream), POSIX_TRACE_FLUSH);
	finish();
	ck_assert_int_eq(policy_of(log_id), POSIX_TRACE_FLUSH);
	ok(posix_trace_attr_init(&attr));
	ok(posix_trace_create_withlog(0, &attr, file, &stream));
	ck_assert_int_eq(policy_of(stream), POSIX_TRACE_FLUSH);
	finish();
}
END_TEST

/* SETSFP-2 SETSFP-1 WITHLOG-8 */
START_TEST(withlog_policy_that_was_set_is_kept)
{
	static const int policies[] = {POSIX_TRACE_LOOP, POSIX_TRACE_UNTIL_FULL, POSIX_TRACE_FLUSH};
	struct px_test_stream wanted = plain;

	wanted.policy = policies[_i];
	stream = px_test_create_log(&wanted, file);
	ck_assert_int_eq(policy_of(stream), policies[_i]);
	finish();
	ck_assert_int_eq(policy_of(log_id), policies[_i]);
}
END_TEST

static const struct px_test_stream combinations[] = {
	{.policy = POSIX_TRACE_LOOP, .nr_rings = 1, .log_policy = POSIX_TRACE_LOOP},
	{.policy = POSIX_TRACE_LOOP, .nr_rings = 2, .log_policy = POSIX_TRACE_UNTIL_FULL},
	{.policy = POSIX_TRACE_LOOP, .nr_rings = 3, .log_policy = POSIX_TRACE_APPEND},
	{.policy = POSIX_TRACE_UNTIL_FULL, .nr_rings = 1, .log_policy = POSIX_TRACE_LOOP},
	{.policy = POSIX_TRACE_UNTIL_FULL, .nr_rings = 2, .log_policy = POSIX_TRACE_UNTIL_FULL},
	{.policy = POSIX_TRACE_UNTIL_FULL, .nr_rings = 3, .log_policy = POSIX_TRACE_APPEND},
	{.policy = POSIX_TRACE_FLUSH, .nr_rings = 1, .log_policy = POSIX_TRACE_LOOP},
	{.policy = POSIX_TRACE_FLUSH, .nr_rings = 2, .log_policy = POSIX_TRACE_UNTIL_FULL},
	{.policy = POSIX_TRACE_FLUSH, .nr_rings = 3, .log_policy = POSIX_TRACE_APPEND},
};
#define NR_COMBINATIONS ((int)(sizeof(combinations) / sizeof(combinations[0])))

/* WITHLOG-1 WITHLOG-8 LOGP-9 SETLFP-1 MODEL-3 UNREAD-1 */
START_TEST(withlog_every_combination_of_policies_logs_what_was_recorded)
{
	trace_attr_t attr;
	int policy;

	stream = px_test_create_log(&combinations[_i], file);
	ok(posix_trace_start(stream));
	for (uint32_t i = 0; i < 100; i++)
		px_test_trace(type, i);
	ok(posix_trace_stop(stream));
	finish();
	ok(posix_trace_get_attr(log_id, &attr));
	ok(posix_trace_attr_getlogfullpolicy(&attr, &policy));
	ck_assert_int_eq(policy, combinations[_i].log_policy);
	expect(POSIX_TRACE_START);
	for (uint32_t i = 0; i < 100; i++)
		expect_number(i);
	expect(POSIX_TRACE_STOP);
	expect_end();
}
END_TEST

/* A looping stream does not flush by itself: its log has the last events, and the gap before them. */
START_TEST(withlog_looping_stream_is_written_at_the_end_only)
{
	struct px_test_stream wanted = {.policy = POSIX_TRACE_LOOP, .size = 4096, .nr_rings = 1};
	uint64_t size;

	stream = px_test_create_log(&wanted, file);
	size = px_test_file_size(file);
	ok(posix_trace_start(stream));
	for (uint32_t i = 0; i < 10000; i++)
		px_test_trace(type, i);
	ck_assert_uint_eq(px_test_file_size(file), size);
	finish();
	expect(POSIX_TRACE_OVERFLOW);
	expect(POSIX_TRACE_RESUME);
	expect(type);
	for (uint32_t i = px_test_number(&seen) + 1; i < 10000; i++)
		expect_number(i);
	expect(POSIX_TRACE_STOP);
	expect_end();
}
END_TEST

/* WITHLOG-9 */
START_TEST(withlog_offset_of_the_descriptor_is_ignored_and_kept)
{
	ck_assert_int_eq(lseek(file, 12345, SEEK_SET), 12345);
	stream = px_test_create_log(&plain, file);
	ok(posix_trace_start(stream));
	px_test_trace(type, 7);
	ok(posix_trace_flush(stream));
	ck_assert_int_eq(lseek(file, 0, SEEK_CUR), 12345);
	ck_assert_int_eq(lseek(file, 54321, SEEK_SET), 54321); /* MODEL-11 */
	px_test_trace(type, 8);
	finish();
	ck_assert_int_eq(lseek(file, 0, SEEK_CUR), 54321);
	skip_to(type);
	ck_assert_uint_eq(px_test_number(&seen), 7);
	skip_to(type);
	ck_assert_uint_eq(px_test_number(&seen), 8);
}
END_TEST

/* WITHLOG-10 MODEL-11 FD-1 */
START_TEST(withlog_descriptor_stays_open_and_may_be_closed_meanwhile)
{
	int doomed = px_test_reopen(file, O_WRONLY), in_its_place;

	stream = px_test_create_log(&plain, file);
	ok(posix_trace_shutdown(stream));
	ck_assert_int_ge(fcntl(file, F_GETFD), 0);

	stream = px_test_create_log(&plain, doomed);
	ok(posix_trace_start(stream));
	px_test_trace(type, 1);
	close(doomed);
	in_its_place = px_test_disk_file(); /* this usually uses the number */
	ok(posix_trace_flush(stream));
	px_test_trace(type, 2);
	finish();
	ck_assert_uint_eq(px_test_file_size(in_its_place), 0);
	skip_to(type);
	skip_to(type);
	ck_assert_uint_eq(px_test_number(&seen), 2);
	expect(POSIX_TRACE_STOP);
	expect_end();
}
END_TEST

/* WITHLOG-9: the log keeps disk space that was allocated before, as long as it is written. */
START_TEST(withlog_preallocated_blocks_are_kept)
{
	struct stat before, now;
	int error;

	file = px_test_disk_file();
	error = posix_fallocate(file, 0, 8 << 20);
	if (error) {
		px_test_skip("no room for 8 MB on the disk");
		return;
	}
	ck_assert_int_eq(fstat(file, &before), 0);
	stream = px_test_create_log(&plain, file);
	ck_assert_int_eq(fstat(file, &now), 0);
	ck_assert_int_eq(now.st_size, before.st_size);
	ck_assert_int_ge(now.st_blocks, before.st_blocks);
	ok(posix_trace_start(stream));
	for (uint32_t i = 0; i < 3000; i++)
		px_test_trace(type, i);
	ok(posix_trace_flush(stream));
	ok(posix_trace_clear(stream));
	ck_assert_int_eq(fstat(file, &now), 0);
	ck_assert_int_eq(now.st_size, before.st_size);
	ck_assert_int_ge(now.st_blocks, before.st_blocks);
	px_test_trace(type, 4711);
	finish();
	ck_assert_uint_lt(px_test_file_size(file), (uint64_t)before.st_size);
	expect_number(4711);
}
END_TEST

static void fill_file(uint64_t size, unsigned char byte)
{
	unsigned char bytes[4096];

	memset(bytes, byte, sizeof(bytes));
	for (uint64_t at = 0; at < size; at += sizeof(bytes))
		ck_assert_int_eq(pwrite(file, bytes, sizeof(bytes), (off_t)at), sizeof(bytes));
}

/* WITHLOG-9: the reader does not regard old content of the file as events. */
START_TEST(withlog_old_content_of_the_file_is_gone)
{
	static const uint64_t sizes[] = {4096, 40960, 300 << 10, 360 << 10, 4 << 20};

	fill_file(sizes[_i % 5], _i < 5 ? 0xFF : 0x41);
	stream = px_test_create_log(&plain, file);
	ok(posix_trace_start(stream));
	px_test_trace(type, 1);
	finish();
	expect(POSIX_TRACE_START);
	expect_number(1);
	expect(POSIX_TRACE_STOP);
	expect_end();
	ck_assert_uint_le(px_test_file_size(file), (64 << 10) + 40 * facts.commit.nr_events);
}
END_TEST

/*
 * A thread flushes its own events and runs meanwhile, so the image needs no entries that give the time to another
 * thread.
 */
START_TEST(withlog_flush_of_each_event_takes_no_more_room)
{
	stream = px_test_create_log(&plain, file);
	ok(posix_trace_start(stream));
	for (uint32_t i = 0; i < 2000; i++) {
		px_test_trace(type, i);
		ok(posix_trace_flush(stream));
	}
	finish();
	ck_assert_uint_ge(facts.commit.nr_events, 6000);
	ck_assert_uint_le(px_test_file_size(file), (64 << 10) + 40 * facts.commit.nr_events);
	ck_assert_uint_lt(facts.commit.end, facts.commit.nr_events + 10);
}
END_TEST

/* WITHLOG-9: a log begins with an empty file, also under APPEND. */
START_TEST(withlog_file_of_an_older_log_is_written_anew)
{
	struct px_test_stream wanted = {
		.nr_rings = 1, .size = 1 << 18, .log_policy = combinations[_i].log_policy};

	for (uint32_t length = 1000; length > 0; length /= 10) {
		stream = px_test_create_log(&wanted, file);
		ok(posix_trace_start(stream));
		for (uint32_t i = 0; i < length; i++)
			px_test_trace(type, length + i);
		finish();
		skip_to(type);
		ck_assert_uint_eq(px_test_number(&seen), length);
		for (uint32_t i = 1; i < length; i++) {
			skip_to(type);
			ck_assert_uint_eq(px_test_number(&seen), length + i);
		}
	}
}
END_TEST

/* GETATTR-2 GETLS-1 SETLS-1 SETLS-2 LOGP-5 ATTR-3 */
START_TEST(withlog_attributes_tell_the_size_in_use)
{
	static const size_t sizes[] = {0, 1, 65536, 1 << 20, 12345678};
	size_t stream_size, wanted_stream_size, log_size;
	struct px_test_stream wanted = {.nr_rings = 1, .log_policy = POSIX_TRACE_LOOP};
	trace_attr_t attr;

	wanted.log_size = sizes[_i];
	if (_i == 0) {
		ok(posix_trace_attr_init(&attr));
		ok(posix_trace_attr_setlogsize(&attr, 0));
		ok(posix_trace_create_withlog(0, &attr, file, &stream));
	} else {
		stream = px_test_create_log(&wanted, file);
	}
	ok(posix_trace_get_attr(stream, &attr));
	ok(posix_trace_attr_getlogsize(&attr, &log_size));
	ok(posix_trace_attr_getstreamsize(&attr, &stream_size));
	if (sizes[_i] >= 65536) {
		ck_assert_uint_le(log_size, sizes[_i]);
		ck_assert_uint_gt(log_size + facts.header.nr_volumes + 1, sizes[_i]);
	}
	finish();
	ck_assert_uint_eq(facts.header.volume_max * facts.header.nr_volumes, log_size);
	ok(posix_trace_get_attr(log_id, &attr)); /* GETATTR-1 */
	ok(posix_trace_attr_getlogsize(&attr, &log_size));
	ck_assert_uint_eq(facts.header.volume_max, log_size);
	ok(posix_trace_attr_getstreamsize(&attr, &wanted_stream_size));
	ck_assert_uint_eq(stream_size, wanted_stream_size);
}
END_TEST

/* SETLS-1 LOGP-4 */
START_TEST(withlog_append_ignores_the_size)
{
	struct px_test_stream wanted = {
		.nr_rings = 1, .log_policy = POSIX_TRACE_APPEND, .log_size = 1000, .size = 1 << 20};
	trace_attr_t attr;
	size_t log_size;

	stream = px_test_create_log(&wanted, file);
	ok(posix_trace_get_attr(stream, &attr));
	ok(posix_trace_attr_getlogsize(&attr, &log_size));
	ck_assert_uint_eq(log_size, 1000);
	ok(posix_trace_start(stream));
	for (uint32_t i = 0; i < 5000; i++)
		px_test_trace(type, i);
	finish();
	expect(POSIX_TRACE_START);
	skip_to(type);
	for (uint32_t i = 1; i < 5000; i++) {
		skip_to(type);
		ck_assert_uint_eq(px_test_number(&seen), i);
	}
}
END_TEST

/* GETNEXT-14 TIMED-8 TRY-4 AMB-7 */
START_TEST(withlog_stream_cannot_be_read)
{
	struct timespec past = {0, 0};
	int unavailable = 4711;
	size_t length = 4711;

	stream = px_test_create_log(&plain, file);
	ok(posix_trace_start(stream));
	px_test_trace(type, 1);
	fails(posix_trace_getnext_event(stream, &seen.info, seen.data, sizeof(seen.data), &length,
					&unavailable),
	      EINVAL);
	fails(posix_trace_timedgetnext_event(stream, &seen.info, seen.data, sizeof(seen.data),
					     &length, &unavailable, &past),
	      EINVAL);
	fails(posix_trace_trygetnext_event(stream, &seen.info, seen.data, sizeof(seen.data),
					   &length, &unavailable),
	      EINVAL);
	ck_assert_int_eq(unavailable, 4711);
	ck_assert_uint_eq(length, 4711);
	finish(); /* the call has released the lock */
	expect(POSIX_TRACE_START);
	expect_number(1);
	expect(POSIX_TRACE_STOP);
	expect_end();
}
END_TEST

/* REWIND-2 CLOSE-3: the functions of pre-recorded streams. */
START_TEST(withlog_stream_cannot_be_rewound_or_closed)
{
	stream = px_test_create_log(&plain, file);
	fails(posix_trace_rewind(stream), EINVAL);
	fails(posix_trace_close(stream), EINVAL);
	finish();
}
END_TEST

/* KIND-1 */
static int use_of_parent(void *unused)
{
	(void)unused;
	if (posix_trace_flush(stream) != EINVAL)
		return 1;
	return px_test_accepting(stream) ? 2 : 0;
}

/* KIND-1 SHUT-12 FORK-6 */
START_TEST(withlog_child_cannot_use_the_stream)
{
	stream = px_test_create_log(&plain, file);
	ok(posix_trace_start(stream));
	px_test_trace(type, 1);
	ck_assert_int_eq(px_test_in_child(use_of_parent, NULL), 0);
	px_test_trace(type, 2);
	finish();
	expect(POSIX_TRACE_START);
	expect_number(1);
	expect_number(2);
	expect(POSIX_TRACE_STOP);
	expect_end();
}
END_TEST

static bool is_empty(const void *set)
{
	static const trace_event_set_t empty;

	return memcmp(set, &empty, sizeof(empty)) == 0;
}

/* WITHLOG-11 SYSEV-1 SHUT-1 GETNEXT-3 */
START_TEST(withlog_defaults_log_start_event_filter_stop)
{
	trace_event_set_t set, both[2];
	int automatic;

	ok(posix_trace_create_withlog(0, NULL, file, &stream));
	ok(posix_trace_start(stream));
	px_test_trace(type, 1);
	ok(posix_trace_eventset_empty(&set));
	ok(posix_trace_eventset_add(other_type, &set));
	ok(posix_trace_set_filter(stream, &set, POSIX_TRACE_ADD_EVENTSET));
	px_test_trace(other_type, 2);
	ok(posix_trace_stop(stream));
	finish();
	expect(POSIX_TRACE_START);
	ck_assert_uint_eq(seen.length, sizeof(set));
	ck_assert(is_empty(seen.data));
	expect_number(1);
	expect(POSIX_TRACE_FILTER);
	ck_assert_uint_eq(seen.length, sizeof(both));
	memcpy(both, seen.data, sizeof(both));
	ck_assert(is_empty(&both[0]));
	ck_assert_mem_eq(&both[1], &set, sizeof(set));
	expect(POSIX_TRACE_STOP);
	ck_assert_uint_eq(seen.length, sizeof(automatic));
	memcpy(&automatic, seen.data, sizeof(automatic));
	ck_assert_int_eq(automatic, 0);
	expect(0);
	expect_end();
}
END_TEST

/* FLOP-4 FLOP-6 */
START_TEST(withlog_flush_while_running_is_marked)
{
	struct px_test_stream wanted = {.policy = POSIX_TRACE_FLUSH, .nr_rings = 1};

	stream = px_test_create_log(&wanted, file);
	ok(posix_trace_start(stream));
	px_test_trace(type, 1);
	ok(posix_trace_flush(stream));
	px_test_trace(type, 2);
	ok(posix_trace_stop(stream));
	finish();
	expect(POSIX_TRACE_START);
	expect_number(1);
	expect(POSIX_TRACE_FLUSH_START);
	ck_assert_uint_eq(seen.length, 0);
	expect(POSIX_TRACE_FLUSH_STOP);
	ck_assert_uint_eq(seen.length, 0);
	expect_number(2);
	expect(POSIX_TRACE_STOP);
	expect_end();
}
END_TEST

/* MODEL-13: creation records nothing; the viewer accepts an empty log. */
START_TEST(withlog_stream_that_never_ran_leaves_an_empty_log)
{
	stream = px_test_create_log(&combinations[_i], file);
	finish();
	ck_assert_uint_eq(facts.nr_events, 0);
	ck_assert_uint_eq(facts.nr_entries, PX_LOG_START_FILLERS);
	expect_end();
}
END_TEST

/* MODEL-10 FD-3 */
START_TEST(withlog_writing_changes_the_times_of_the_file)
{
	struct timespec long_ago[2] = {{1000000000, 0}, {1000000000, 0}};
	struct stat status;

	stream = px_test_create_log(&plain, file);
	ok(posix_trace_start(stream));
	ck_assert_int_eq(futimens(file, long_ago), 0);
	px_test_trace(type, 1);
	ok(posix_trace_flush(stream));
	ck_assert_int_eq(fstat(file, &status), 0);
	ck_assert_int_gt(status.st_mtim.tv_sec, 1000000000);
	ck_assert_int_eq(futimens(file, long_ago), 0);
	ok(posix_trace_shutdown(stream));
	ck_assert_int_eq(fstat(file, &status), 0);
	ck_assert_int_gt(status.st_mtim.tv_sec, 1000000000);
	ck_assert_int_gt(status.st_ctim.tv_sec, 1000000000);
}
END_TEST

/* GETLFP-1 SETLFP-1 SETLFP-2 GETLFP-2 */
START_TEST(attr_setlogfullpolicy_takes_three_policies)
{
	static const int policies[] = {POSIX_TRACE_LOOP, POSIX_TRACE_UNTIL_FULL,
				       POSIX_TRACE_APPEND};
	static const int bad[] = {POSIX_TRACE_FLUSH, 0, -1, 5, 1 << 20};
	trace_attr_t attr, unusable;
	int policy = 4711;

	memset(&unusable, 0, sizeof(unusable));
	ok(posix_trace_attr_init(&attr));
	ok(posix_trace_attr_getlogfullpolicy(&attr, &policy));
	ck_assert_int_eq(policy, POSIX_TRACE_LOOP);
	for (int i = 0; i < 3; i++) {
		ok(posix_trace_attr_setlogfullpolicy(&attr, policies[i]));
		ok(posix_trace_attr_getlogfullpolicy(&attr, &policy));
		ck_assert_int_eq(policy, policies[i]);
	}
	for (int i = 0; i < 5; i++) {
		fails(posix_trace_attr_setlogfullpolicy(&attr, bad[i]), EINVAL);
		ok(posix_trace_attr_getlogfullpolicy(&attr, &policy));
		ck_assert_int_eq(policy, POSIX_TRACE_APPEND);
	}
	fails(posix_trace_attr_getlogfullpolicy(&attr, NULL), EINVAL);
	fails(posix_trace_attr_getlogfullpolicy(NULL, &policy), EINVAL);
	fails(posix_trace_attr_getlogfullpolicy(&unusable, &policy), EINVAL);
	fails(posix_trace_attr_setlogfullpolicy(NULL, POSIX_TRACE_LOOP), EINVAL);
	fails(posix_trace_attr_setlogfullpolicy(&unusable, POSIX_TRACE_LOOP), EINVAL);
	ck_assert_int_eq(policy, POSIX_TRACE_APPEND);
}
END_TEST

/* GETLS-1 GETLS-2 SETLS-2 */
START_TEST(attr_setlogsize_keeps_any_size)
{
	static const size_t sizes[] = {0, 1, 4096, SIZE_MAX};
	trace_attr_t attr, unusable;
	size_t size = 4711;

	memset(&unusable, 0, sizeof(unusable));
	ok(posix_trace_attr_init(&attr));
	ok(posix_trace_attr_getlogsize(&attr, &size));
	ck_assert_uint_eq(size, 1 << 20);
	for (int i = 0; i < 4; i++) {
		ok(posix_trace_attr_setlogsize(&attr, sizes[i]));
		ok(posix_trace_attr_getlogsize(&attr, &size));
		ck_assert_uint_eq(size, sizes[i]);
	}
	fails(posix_trace_attr_getlogsize(&attr, NULL), EINVAL);
	fails(posix_trace_attr_getlogsize(NULL, &size), EINVAL);
	fails(posix_trace_attr_getlogsize(&unusable, &size), EINVAL);
	fails(posix_trace_attr_setlogsize(NULL, 1), EINVAL);
	fails(posix_trace_attr_setlogsize(&unusable, 1), EINVAL);
}
END_TEST

/* SETLS-2: the call creates a log of any size; the largest sizes have a bound. */
START_TEST(withlog_size_without_reason_is_made_to_fit)
{
	struct px_test_stream wanted = {.nr_rings = 1,
					.log_policy = _i ? POSIX_TRACE_UNTIL_FULL :
							   POSIX_TRACE_LOOP,
					.log_size = SIZE_MAX};
	trace_id_t trid;
	trace_attr_t attr;
	int error;

	ok(posix_trace_attr_init(&attr));
	ok(posix_trace_attr_setlogfullpolicy(&attr, wanted.log_policy));
	ok(posix_trace_attr_setlogsize(&attr, SIZE_MAX));
	error = posix_trace_create_withlog(0, &attr, file, &trid);
	if (error == ENOMEM) /* a looping log has a bit for each slot */
		return;
	ck_assert_int_eq(error, 0);
	ok(posix_trace_shutdown(trid));
}
END_TEST

/* CREATE-12; the kernel creates no thread while another one calls exec, so the test tries again */
START_TEST(withlog_tries_again_to_make_the_thread)
{
	trace_attr_t attr;

	nr_refusals = 3;
	stream = px_test_create_log(&plain, file);
	ck_assert_int_eq(nr_refusals, 0);
	ok(posix_trace_shutdown(stream));
	ok(posix_trace_attr_init(&attr));
	nr_refusals = INT_MAX;
	fails(posix_trace_create_withlog(0, &attr, file, &stream), ENOMEM);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("withlog");
	TCase *tcase = tcase_create("withlog");

	tcase_add_checked_fixture(tcase, setup, NULL);
	tcase_set_timeout(tcase, 60);
	tcase_add_test(tcase, withlog_full_log_ends_in_one_stop);
	tcase_add_loop_test(tcase, withlog_appending_log_fits_into_a_file_size_limit, 0, 3);
	tcase_add_test(tcase, withlog_descriptor_not_open_for_writing_gives_ebadf);
	tcase_add_loop_test(tcase, withlog_file_that_is_not_regular_gives_einval, 0, 3);
	tcase_add_test(tcase, withlog_directory_is_refused);
	tcase_add_test(tcase, withlog_file_open_for_appending_gives_einval);
	tcase_add_test(tcase, withlog_bad_argument_gives_einval);
	tcase_add_test(tcase, withlog_one_stream_too_many_gives_eagain);
	tcase_add_test(tcase, withlog_tries_again_to_make_the_thread);
	tcase_add_loop_test(tcase, withlog_bounded_log_uses_what_a_file_size_limit_leaves, 0, 6);
	tcase_add_test(tcase, withlog_file_size_limit_is_told_without_a_signal);
	tcase_add_test(tcase, withlog_full_file_system_gives_enospc);
	tcase_add_test(tcase, withlog_without_a_free_descriptor_gives_emfile);
	tcase_add_test(tcase, withlog_descriptor_for_writing_only_is_enough);
	tcase_add_test(tcase, withlog_default_policy_is_flush);
	tcase_add_loop_test(tcase, withlog_policy_that_was_set_is_kept, 0, 3);
	tcase_add_loop_test(tcase, withlog_every_combination_of_policies_logs_what_was_recorded, 0,
			    NR_COMBINATIONS);
	tcase_add_test(tcase, withlog_looping_stream_is_written_at_the_end_only);
	tcase_add_test(tcase, withlog_offset_of_the_descriptor_is_ignored_and_kept);
	tcase_add_test(tcase, withlog_descriptor_stays_open_and_may_be_closed_meanwhile);
	tcase_add_test(tcase, withlog_preallocated_blocks_are_kept);
	tcase_add_loop_test(tcase, withlog_old_content_of_the_file_is_gone, 0, 10);
	tcase_add_test(tcase, withlog_flush_of_each_event_takes_no_more_room);
	tcase_add_loop_test(tcase, withlog_file_of_an_older_log_is_written_anew, 0, 3);
	tcase_add_loop_test(tcase, withlog_attributes_tell_the_size_in_use, 0, 5);
	tcase_add_test(tcase, withlog_append_ignores_the_size);
	tcase_add_test(tcase, withlog_stream_cannot_be_read);
	tcase_add_test(tcase, withlog_stream_cannot_be_rewound_or_closed);
	tcase_add_test(tcase, withlog_child_cannot_use_the_stream);
	tcase_add_test(tcase, withlog_defaults_log_start_event_filter_stop);
	tcase_add_test(tcase, withlog_flush_while_running_is_marked);
	tcase_add_loop_test(tcase, withlog_stream_that_never_ran_leaves_an_empty_log, 0,
			    NR_COMBINATIONS);
	tcase_add_test(tcase, withlog_writing_changes_the_times_of_the_file);
	tcase_add_test(tcase, attr_setlogfullpolicy_takes_three_policies);
	tcase_add_test(tcase, attr_setlogsize_keeps_any_size);
	tcase_add_loop_test(tcase, withlog_size_without_reason_is_made_to_fit, 0, 2);
	suite_add_tcase(suite, tcase);
	return run_suite(suite);
}
