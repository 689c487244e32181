/* SPDX-License-Identifier: MIT */
/* How many system calls the writer and the reader of a log make. */
#include "support/common.h"

#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "log/archive_log.h"
#include "log/log.h"

#define EACH 7 /* events of a small frame */
#define NR_SMALL 70000
#define USED (NR_SMALL * 48) /* bytes of the entries and frames, at most */
#define PIECE 65536	     /* bytes that the reader reads at once */

static struct px_threads threads;
static struct px_typelist types;
static uint64_t nr_reads, nr_writes;

/* These functions take the place of those of the C library. */

ssize_t pread(int fd, void *bytes, size_t size, off_t offset)
{
	nr_reads++;
	return syscall(SYS_pread64, fd, bytes, size, offset);
}

ssize_t pwrite(int fd, const void *bytes, size_t size, off_t offset)
{
	nr_writes++;
	return syscall(SYS_pwrite64, fd, bytes, size, offset);
}

static struct px_log *new_log(int file)
{
	struct px_attr attr;
	struct px_log_state state = {0};
	struct px_log_setup setup = {.fd = file,
				     .attr = &attr,
				     .writer = {.pid = 0x7FFFFFFF, .start = 1}, /* dead */
				     .target_pid = 4711,
				     .threads = &threads,
				     .types = &types};
	struct px_log *log;

	px_attr_init(&attr);
	attr.log_policy = PX_POLICY_APPEND;
	attr.nr_rings = 1;
	ck_assert_int_eq(px_log_create(&setup, &state, &log), 0);
	return log;
}

static void append(struct px_log *log, uint64_t number)
{
	const uint64_t data[2] = {number, 0};
	struct px_log_state state = {0};
	struct px_report report = {.record = {.id = PX_EVENT_UNNAMED,
					      .pid = 4711,
					      .context = px_txtb_handle(PX_TXTB_THREAD, 1),
					      .address = 0x1000},
				   .time_ns = UINT64_C(1700000000000000000) + number * 1000,
				   .length = sizeof(data),
				   .copied = sizeof(data)};

	while (px_log_append(log, &report, data) == PX_LOG_WRITE_FIRST)
		ck_assert_int_eq(px_log_write(log, &state), 0);
	if (number % EACH == EACH - 1)
		ck_assert_int_eq(px_log_write(log, &state), 0);
}

static uint64_t append_small_frames(struct px_log *log)
{
	nr_writes = 0;
	for (uint64_t i = 0; i < NR_SMALL; i++)
		append(log, i);
	return nr_writes;
}

static uint64_t size_of(int file)
{
	struct stat status;

	ck_assert_int_eq(fstat(file, &status), 0);
	return (uint64_t)status.st_size;
}

/* Each write has a frame, entries, and a commit.  Nothing else is written for a thread that the file has. */
START_TEST(cost_of_a_write_is_three_system_calls)
{
	struct px_log *log = new_log(px_test_file());

	ck_assert_uint_le(append_small_frames(log), 3 * NR_SMALL / EACH + 100);
	px_log_free(log);
}
END_TEST

/* Completion reads a log of very small frames once, in large pieces. */
START_TEST(cost_of_completion_is_that_of_large_pieces)
{
	struct px_log_state state = {0};
	int file = px_test_file();
	struct px_log *log = new_log(file);
	uint64_t size;

	append_small_frames(log);
	size = size_of(file);
	nr_reads = nr_writes = 0;
	ck_assert_int_eq(px_log_complete(log, &state, PX_LOG_COMPLETE), 0);
	ck_assert_uint_lt(size_of(file), size - NR_SMALL / EACH * sizeof(struct px_log_frame) / 2);
	ck_assert_uint_le(nr_reads, 4 * USED / PIECE + 100);
	ck_assert_uint_le(nr_writes, 2 * NR_SMALL / 512 + 4 * USED / PIECE + 100);
}
END_TEST

START_TEST(cost_of_reading_is_that_of_large_pieces)
{
	int file = px_test_file();
	struct px_log *log = new_log(file);
	uint64_t count = 0;
	struct px_archive *archive;
	struct px_report report;
	unsigned char data[64];

	append_small_frames(log);
	px_log_free(log);
	nr_reads = 0;
	ck_assert_int_eq(px_archive_log_open(file, 0, &archive), 0);
	while (archive->kind->next(archive, data, sizeof(data), &report) == PX_NEXT_EVENT)
		count++;
	archive->kind->free(archive);
	ck_assert_uint_eq(count, NR_SMALL);
	ck_assert_uint_le(nr_reads, 4 * USED / PIECE + 100);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("cost");
	TCase *tcase = tcase_create("calls");

	tcase_add_test(tcase, cost_of_a_write_is_three_system_calls);
	tcase_add_test(tcase, cost_of_completion_is_that_of_large_pieces);
	tcase_add_test(tcase, cost_of_reading_is_that_of_large_pieces);
	suite_add_tcase(suite, tcase);
	return run_suite(suite);
}
