/* SPDX-License-Identifier: MIT */
/* How many system calls the writer and the reader of a log make, and how much memory a short log takes. */
#include "support/common.h"

#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/file_at.h"
#include "log/archive_log.h"
#include "log/log_private.h"
#include "support/new_log.h"

#define EACH 7 /* events of a small frame */
#define NR_SMALL 70000
#define USED (NR_SMALL * 48) /* bytes of the entries and frames, at most */
#define PIECE 65536	     /* bytes that the reader reads at once */
#define NR_LARGE 1200000     /* events of a log with two volumes */
#define FREED_MAX 128

static struct px_threads threads;
static struct px_typelist types;
static uint64_t nr_reads, nr_writes;

/* Parts of the file that the kernel need not keep in memory. */
static struct {
	uint64_t from, end;
} freed[FREED_MAX];
static unsigned int nr_freed;

/* These functions take the place of those of the C library. */

ssize_t pread(int fd, void *bytes, size_t size, off_t offset)
{
	nr_reads++;
	return px_read_at(fd, bytes, size, (uint64_t)offset);
}

ssize_t pwrite(int fd, const void *bytes, size_t size, off_t offset)
{
	nr_writes++;
	for (unsigned int i = 0; i < nr_freed; i++)
		ck_assert((uint64_t)offset >= freed[i].end || (uint64_t)offset + size <= freed[i].from);
	return px_write_at(fd, bytes, size, (uint64_t)offset);
}

/* The kernel frees only full pages. */
int posix_fadvise(int fd, off_t from, off_t length, int advice)
{
	(void)fd;
	ck_assert_int_eq(advice, POSIX_FADV_DONTNEED);
	ck_assert_uint_lt(nr_freed, FREED_MAX);
	freed[nr_freed].from = px_log_page_up((uint64_t)from);
	freed[nr_freed++].end = (uint64_t)(from + length) & ~(uint64_t)(PX_LOG_PAGE - 1);
	return 0;
}

static struct px_log *new_log_of(int file, uint32_t policy, uint64_t size)
{
	const struct px_log_setup setup = {.fd = file, .threads = &threads, .types = &types};
	struct px_log_state state = {0};
	struct px_log *log;

	ck_assert_int_eq(px_test_new_log(&setup, policy, size, 0, &state, &log), 0);
	return log;
}

static struct px_log *new_log(int file)
{
	return new_log_of(file, PX_POLICY_APPEND, 0);
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
}

static uint64_t append_small_frames(struct px_log *log)
{
	struct px_log_state state = {0};

	nr_writes = 0;
	for (uint64_t i = 0; i < NR_SMALL; i++) {
		append(log, i);
		if (i % EACH == EACH - 1)
			ck_assert_int_eq(px_log_write(log, &state), 0);
	}
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

static long count_faults(void)
{
	struct rusage usage;

	ck_assert_int_eq(getrusage(RUSAGE_SELF, &usage), 0);
	return usage.ru_minflt;
}

/*
 * The tables of a log have room for thousands of objects.  A log with few of them uses few pages of this memory:
 * neither an empty volume nor an empty frame writes to all of it.
 */
START_TEST(cost_of_a_short_log_is_few_pages)
{
	struct px_log *log = new_log_of(px_test_file(), _i == 0 ? PX_POLICY_APPEND : PX_POLICY_LOOP, 64 << 20);
	struct px_log_volume *volume = px_log_make_volumes(&log->header, 1);
	struct px_pack *pack = px_pack_make(4096, 256);
	long before;

	ck_assert(volume && pack);
	prctl(PR_SET_THP_DISABLE, 1, 0, 0, 0);
	before = count_faults();
	px_log_reset_volume(log, volume);
	px_pack_begin(pack, 0, true);
	ck_assert_int_le(count_faults() - before, 12);
	px_pack_free(pack);
	px_log_free_volumes(volume);
	px_log_free(log);
}
END_TEST

/* The same from the first event of the only thread to the completion. */
START_TEST(cost_of_a_log_with_one_thread_is_few_pages)
{
	struct px_log *log = new_log_of(px_test_file(), _i == 0 ? PX_POLICY_APPEND : PX_POLICY_LOOP, 64 << 20);
	struct px_log_state state = {0};
	long before;

	prctl(PR_SET_THP_DISABLE, 1, 0, 0, 0);
	before = count_faults();
	append(log, 1);
	ck_assert(px_log_make_translator(log));
	px_log_take_titles(log);
	ck_assert_int_eq(px_log_complete(log, &state, PX_LOG_COMPLETE), 0);
	ck_assert_int_le(count_faults() - before, 100);
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

/* The writer never writes to a page that the kernel has freed: the kernel would have to read that page first. */
START_TEST(cost_of_the_page_cache_has_a_bound)
{
	struct px_log *log = new_log(px_test_file());
	uint64_t end = 0;

	for (uint64_t i = 0; i < NR_LARGE; i++)
		append(log, i);
	for (unsigned int i = 0; i < nr_freed; i++)
		if (freed[i].end > end)
			end = freed[i].end;
	ck_assert_uint_gt(end, NR_LARGE * 32);
	nr_freed = 0;
	px_log_free(log);
}
END_TEST

/* The next round writes to the same pages again. */
START_TEST(cost_of_a_log_that_goes_round_frees_no_page)
{
	struct px_log *log = new_log_of(px_test_file(), PX_POLICY_LOOP, 8 << 20);

	for (uint64_t i = 0; i < NR_LARGE / 2; i++)
		append(log, i);
	ck_assert_uint_eq(nr_freed, 0);
	px_log_free(log);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("cost");
	TCase *tcase = tcase_create("calls");

	tcase_add_test(tcase, cost_of_a_write_is_three_system_calls);
	if (!getenv("PX_SANITIZED")) { /* a sanitizer has memory of its own for each page */
		tcase_add_loop_test(tcase, cost_of_a_short_log_is_few_pages, 0, 2);
		tcase_add_loop_test(tcase, cost_of_a_log_with_one_thread_is_few_pages, 0, 2);
	}
	tcase_add_test(tcase, cost_of_completion_is_that_of_large_pieces);
	tcase_add_test(tcase, cost_of_reading_is_that_of_large_pieces);
	tcase_add_test(tcase, cost_of_the_page_cache_has_a_bound);
	tcase_add_test(tcase, cost_of_a_log_that_goes_round_frees_no_page);
	suite_add_tcase(suite, tcase);
	return run_suite(suite);
}
