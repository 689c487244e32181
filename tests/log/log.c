/* SPDX-License-Identifier: MIT */
/*
 * The file of a log, written with events that the test makes: what the reader returns, and what the viewer shows.  Both
 * must be right at every moment, whichever call fails, and wherever the writer dies.
 */
#include "support/common.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <trace_ext.h>
#include <unistd.h>

#include "base/compiler.h"
#include "base/file_at.h"
#include "log/archive_log.h"
#include "log/log.h"
#include "support/log_checker.h"
#include "support/new_log.h"
#include "support/sparse.h"

#define SLOT_BYTES PX_SLOT_BYTES
#define LONGEST_DATA (1 << 20)

/* The number of an event and these members determine all its contents. */
static struct {
	uint32_t nr_threads;
	size_t longest; /* data */
	uint32_t types; /* in use */
	uint64_t address; /* the time of all events; 0: each event's number */
	uint64_t (*time)(uint64_t number);
	size_t (*length)(uint64_t number);
} world;

static int file;
static struct px_log *wlog;
static struct px_log_state state;
static struct px_checkpoint_file *checkpoint_file;
static struct px_threads threads;
static struct px_typelist types;
static struct px_test_log_facts facts;
static unsigned char *data;

static uint64_t mix(uint64_t number)
{
	return next_random(&number);
}

#define EPOCH_NS UINT64_C(1700000000000000000)

static uint64_t steady_time(uint64_t number)
{
	return EPOCH_NS + number * 1234;
}

static size_t random_length(uint64_t number)
{
	return mix(number) % 3 ? mix(number + 1) % 17 : mix(number + 2) % (world.longest + 1);
}

static size_t no_length(uint64_t number)
{
	(void)number;
	return 0;
}

static void setup(void)
{
	file = px_test_file();
	data = malloc(LONGEST_DATA);
	ck_assert_ptr_nonnull(data);
	world.nr_threads = 5;
	world.longest = 200;
	world.types = 20;
	world.time = steady_time;
	world.length = random_length;
	signal(SIGXFSZ, SIG_IGN);
}

static void teardown(void)
{
	__atomic_store_n(&px_testpoint_hook, NULL, __ATOMIC_RELEASE);
}

static uint32_t handle_of(uint64_t number)
{
	return px_txtb_handle(PX_TXTB_THREAD, 1 + (uint32_t)(number % world.nr_threads));
}

static uint32_t type_of(uint64_t number)
{
	return PX_EVENT_UNNAMED + (uint32_t)(mix(number + 3) % world.types);
}

static void make_report(uint64_t number, struct px_report *report)
{
	memset(report, 0, sizeof(*report));
	report->record.address = world.address ? world.address : number;
	report->record.thread = 0x7000 + number % world.nr_threads;
	report->record.pid = 4711;
	report->record.id = type_of(number);
	report->record.flags = number % 7 == 0 ? PX_RECORD_TRUNCATED : 0;
	report->record.context = handle_of(number);
	report->record.priority = px_txtb_priority_word((uint32_t)number % 32);
	report->record.cpu = number % 4;
	report->time_ns = world.time(number);
	report->length = report->copied = world.length(number);
	report->record.length = (uint32_t)report->length;
	px_test_fill(data, report->length, (uint32_t)number);
}

static int begin_log(uint32_t policy, uint64_t log_size, uint64_t max_data)
{
	const struct px_log_setup setup = {
		.fd = file, .threads = &threads, .types = &types, .checkpoint_file = checkpoint_file};

	return px_test_new_log(&setup, policy, log_size, max_data, &state, &wlog);
}

static void new_log(uint32_t policy, uint64_t log_size, uint64_t max_data)
{
	ck_assert_int_eq(begin_log(policy, log_size, max_data), 0);
}

/* Append one event, and write first if the log asks for it.  If the write fails, its events are lost. */
static enum px_log_room append(uint64_t number, int *error)
{
	enum px_log_room room;
	struct px_report report;

	make_report(number, &report);
	while ((room = px_log_append(wlog, &report, data)) == PX_LOG_WRITE_FIRST)
		*error |= px_log_write(wlog, &state);
	if (room == PX_LOG_FULL) {
		px_log_append_stop(wlog);
		px_log_count_lost(wlog);
	}
	return room;
}

static void append_all(uint64_t from, uint64_t to)
{
	int error = 0;

	for (; from < to; from++)
		append(from, &error);
	ck_assert_int_eq(error, 0);
}

static void write_now(void)
{
	ck_assert_int_eq(px_log_write(wlog, &state), 0);
}

static void complete(unsigned int look)
{
	ck_assert_int_eq(px_log_complete(wlog, &state, PX_LOG_COMPLETE), 0);
	px_test_check_log(file, look, &facts);
}

/* Reading back. */

struct contents {
	uint64_t first, last, count, nr_missing;
	bool ends_with_stop;
};

/* An assertion of Check for each event would take most of the time. */
#define soundly(condition)                                                                         \
	do {                                                                                       \
		if (!(condition))                                                                  \
			ck_abort_msg("not %s", #condition);                                        \
	} while (0)

static void expect_event(const struct px_report *found, const void *found_data)
{
	struct px_report report;

	make_report(found->record.address, &report);
	soundly(found->record.id == report.record.id);
	soundly(found->record.thread == report.record.thread);
	soundly(found->record.pid == 4711);
	soundly(found->record.flags == report.record.flags);
	soundly(found->record.priority == report.record.priority);
	soundly(found->record.cpu == report.record.cpu);
	soundly(found->time_ns == report.time_ns);
	soundly(found->length == report.length);
	soundly(found->copied == report.length);
	soundly(memcmp(found_data, data, report.length) == 0);
}

/* The numbers rise; if no event may be missing, by one each. */
static struct contents read_back(bool may_miss)
{
	struct contents contents = {.first = UINT64_MAX};
	unsigned char *bytes = malloc(LONGEST_DATA);
	struct px_archive *archive;
	struct px_report found;

	ck_assert_int_eq(px_archive_log_open(file, 0, &archive), 0);
	while (archive->kind->next(archive, bytes, LONGEST_DATA, &found) == PX_NEXT_EVENT) {
		uint64_t number = found.record.address;

		contents.ends_with_stop = found.record.id == PX_EVENT_STOP;
		if (found.record.id < PX_EVENT_UNNAMED)
			continue; /* synthesized in other places, without a number */
		if (contents.count == 0)
			contents.first = number;
		else
			soundly(may_miss ? number > contents.last : number == contents.last + 1);
		if (contents.count > 0)
			contents.nr_missing += number - contents.last - 1;
		contents.last = number;
		contents.count++;
		expect_event(&found, bytes);
	}
	archive->kind->free(archive);
	free(bytes);
	return contents;
}

static void expect_contents(uint64_t from, uint64_t to)
{
	struct contents contents = read_back(false);

	ck_assert_uint_eq(contents.count, to - from);
	if (to > from)
		ck_assert_uint_eq(contents.first, from);
}

static const uint32_t policies[] = {PX_POLICY_LOOP, PX_POLICY_UNTIL_FULL, PX_POLICY_APPEND};

/* WITHLOG-11 LOGP-4 */
START_TEST(log_events_of_every_type_come_back)
{
	world.types = PX_EVENT_IDS - PX_EVENT_UNNAMED;
	new_log(policies[_i], 8 << 20, 256);
	append_all(0, 10000);
	complete(0);
	expect_contents(0, 10000);
}
END_TEST

static size_t length_is_number(uint64_t number)
{
	return (size_t)number;
}

START_TEST(log_data_of_every_length_comes_back)
{
	world.length = length_is_number;
	new_log(policies[_i], 16 << 20, 2000);
	append_all(0, 2001);
	complete(0);
	expect_contents(0, 2001);
}
END_TEST

static size_t largest_length(uint64_t number)
{
	return number % 2 ? 0 : LONGEST_DATA - (size_t)number;
}

/* The longest data, in the smallest log that can hold them. */
START_TEST(log_largest_data_come_back)
{
	struct contents contents;

	world.length = largest_length;
	new_log(policies[_i], 0, LONGEST_DATA);
	append_all(0, 6);
	complete(0);
	contents = read_back(false);
	if (policies[_i] == PX_POLICY_APPEND)
		ck_assert_uint_eq(contents.count, 6);
	ck_assert_uint_ge(contents.count, 2);
}
END_TEST

/* LOGP-1 OPEN-9 LOOP-6: random sizes, lengths, batches and numbers of threads. */
START_TEST(log_that_goes_round_many_times_is_always_in_order)
{
	uint64_t random = test_seed() + (uint64_t)_i, size = (mix(random) % 3000) * SLOT_BYTES;
	struct contents contents;
	uint64_t bytes = 0, most_in_a_write = 0, of_an_event;
	uint64_t next = 0;

	world.nr_threads = (uint32_t)(1 + mix(random + 1) % (_i % 2 ? 10 : 1000));
	world.longest = mix(random + 2) % 2000;
	of_an_event = world.nr_threads > 10 ? 44 + 50 : 44;
	new_log(PX_POLICY_LOOP, size, world.longest);
	while (next < 20000) {
		uint64_t n = next_random(&random) % (next_random(&random) % 8 ? 30 : 500);

		uint64_t in_this_write = n * of_an_event;

		append_all(next, next + n);
		for (uint64_t i = next; i < next + n; i++)
			in_this_write += world.length(i);
		if (in_this_write > most_in_a_write)
			most_in_a_write = in_this_write;
		next += n;
		write_now();
		px_test_check_log(file, PX_TEST_LOG_IS_OPEN, &facts);
	}
	complete(0);
	contents = read_back(false);
	ck_assert_uint_eq(contents.last, next - 1);
	/*
	 * At least half of its size is in use: for entries, for long data, or for the definitions of many threads.  The
	 * log overwrites the events of a write together, so the room of one more write may be free.
	 */
	for (uint64_t i = contents.first; i <= contents.last; i++)
		bytes += world.length(i);
	bytes += (facts.commit.end - facts.commit.first) * of_an_event;
	ck_assert_uint_ge(2 * (bytes + most_in_a_write), facts.header.volume_max);
	ck_assert_uint_eq(facts.commit.nr_lost, next - contents.count);
	ck_assert_uint_eq(facts.commit.nr_events, next);
	ck_assert_int_eq(facts.commit.log_full, 1); /* STATUS-11 */
}
END_TEST

/* LOGP-2 LOGP-3 LOGP-5 */
START_TEST(log_that_is_full_ends_with_stop)
{
	uint64_t random = test_seed() + (uint64_t)_i;
	struct contents contents;
	int error = 0;
	uint64_t n = 0;

	world.longest = mix(random) % 500;
	new_log(PX_POLICY_UNTIL_FULL, (mix(random + 1) % 3000) * SLOT_BYTES, world.longest);
	while (append(n, &error) == PX_LOG_TAKEN)
		if (++n % 100 == 0)
			write_now();
	ck_assert(px_log_is_full(wlog));
	ck_assert_int_eq(append(n, &error), PX_LOG_FULL);
	write_now();
	ck_assert_int_eq(append(n, &error), PX_LOG_FULL);
	ck_assert_uint_eq(px_log_nr_lost(wlog), 3);
	complete(0);
	ck_assert_uint_le(facts.commit.end, facts.capacity);
	contents = read_back(false);
	ck_assert_uint_eq(contents.count, n);
	ck_assert(contents.ends_with_stop);
}
END_TEST

/* LOGP-3: the last STOP is not older than the events before it, even after an OVERFLOW, which is older. */
START_TEST(log_that_is_full_behind_an_overflow_ends_with_a_stop_in_time)
{
	struct px_report overflow = {.record = {.id = PX_EVENT_OVERFLOW, .pid = 4711},
				     .time_ns = EPOCH_NS};
	enum px_log_room room;
	int error = 0;

	new_log(PX_POLICY_UNTIL_FULL, 0, 256);
	append(100, &error);
	while ((room = px_log_append(wlog, &overflow, NULL)) != PX_LOG_FULL)
		if (room == PX_LOG_WRITE_FIRST)
			write_now();
	px_log_append_stop(wlog);
	complete(0);
	ck_assert(read_back(false).ends_with_stop);
}
END_TEST

static void name_thread(uint32_t i)
{
	struct px_object object = {.handle = px_txtb_handle(PX_TXTB_THREAD, i),
				   .type = PX_TXTB_THREAD,
				   .priority = 20,
				   .pid = 4711,
				   .tid = i};

	snprintf(object.name, sizeof(object.name), "my_thread (%u)", i);
	px_threads_add(&threads, &object);
}

static void name_threads(uint32_t n)
{
	for (uint32_t i = 1; i <= n; i++)
		name_thread(i);
}

/* The section has the exact name; the image has a name that the viewer can show. */
START_TEST(log_threads_have_their_names)
{
	struct px_archive_object object;
	struct px_archive *archive;
	uint32_t n = 0, nr_types = 0;

	name_threads(5);
	world.nr_threads = 6; /* one of the two is not known */
	new_log(PX_POLICY_APPEND, 0, 256);
	append_all(0, 600);
	complete(0);
	ck_assert_int_eq(px_archive_log_open(file, 0, &archive), 0);
	for (uint32_t i = 0; archive->kind->object(archive, i, &object); i++) {
		char name[64];

		if (object.type == PX_TXTB_THREAD) {
			uint32_t serial = object.handle & 0xFFFFFF;

			n++;
			snprintf(name, sizeof(name),
				 serial == 6 ? "unknown thread %x" : "my_thread (%u)",
				 serial == 6 ? object.handle : serial);
			ck_assert_str_eq(object.name, name);
			ck_assert_uint_eq(object.tid, serial == 6 ? 0 : serial);
		}
		nr_types += object.type == PX_TXTB_EVENT_TYPE;
	}
	ck_assert_uint_eq(n, 6);
	ck_assert_uint_eq(nr_types, world.types);
	archive->kind->free(archive);
}
END_TEST

/* Many threads end before the reader reads their events. */
START_TEST(log_names_threads_that_left_the_table)
{
	const uint32_t nr_threads = 3 * PX_THREADS_MAX;
	struct px_archive_object object;
	struct px_archive *archive;
	uint32_t n = 0;

	new_log(PX_POLICY_APPEND, 0, 256);
	for (uint32_t i = 1; i <= nr_threads; i++) {
		name_thread(i);
		if (i % (PX_THREADS_MAX / 2) == 0)
			px_log_collect_threads(wlog);
	}
	world.nr_threads = nr_threads;
	append_all(0, nr_threads);
	complete(0);
	ck_assert_int_eq(px_archive_log_open(file, 0, &archive), 0);
	for (uint32_t i = 0; archive->kind->object(archive, i, &object); i++) {
		char name[64];

		snprintf(name, sizeof(name), "my_thread (%u)", object.handle & 0xFFFFFF);
		if (object.type != PX_TXTB_THREAD)
			continue;
		ck_assert_str_eq(object.name, name);
		n++;
	}
	ck_assert_uint_eq(n, nr_threads);
	archive->kind->free(archive);
}
END_TEST

/* More threads than the registry has slots. */
START_TEST(log_with_too_many_threads_still_names_each_context)
{
	uint64_t n = policies[_i] == PX_POLICY_LOOP ? 60000 : 9000;
	struct contents contents;

	name_threads(6000);
	world.nr_threads = 6000;
	world.longest = 40;
	new_log(policies[_i], _i == 0 ? 10000 * SLOT_BYTES : 4 << 20, 256);
	for (uint64_t i = 0; i < n; i += 50) {
		append_all(i, i + 50);
		write_now();
		if (_i == 0 && i % 300 == 0)
			px_test_check_log(file, PX_TEST_LOG_IS_OPEN, &facts);
	}
	complete(0);
	contents = read_back(false);
	ck_assert_uint_eq(contents.last, n - 1);
	ck_assert_uint_eq(facts.nr_volumes, 1);
	if (policies[_i] == PX_POLICY_LOOP)
		ck_assert_uint_eq(facts.header.nr_thread_slots, 4096);
	else
		ck_assert_uint_gt(facts.commit.nr_unlisted, 0);
}
END_TEST

/*
 * A process that executes the same program again is another thread with the same name and tid.  In the image each has a
 * name of its own: px_test_check_log() accepts no name twice.  The section has the exact names.
 */
START_TEST(log_threads_of_one_name_are_told_apart_in_the_image)
{
	struct px_object object = {
		.type = PX_TXTB_THREAD, .pid = 4711, .tid = 1006, .name = "bash 1006"};
	struct px_archive_object found;
	struct px_archive *archive;
	uint32_t n = 0;

	for (uint32_t i = 1; i <= 5; i++) {
		object.handle = px_txtb_handle(PX_TXTB_THREAD, i);
		px_threads_add(&threads, &object);
	}
	new_log(policies[_i % 3], _i < 3 ? 1 << 16 : 1 << 25, 256);
	for (uint64_t i = 0; i < 3000; i += 100) {
		append_all(i, i + 100);
		write_now();
	}
	complete(0);
	ck_assert_int_eq(px_archive_log_open(file, 0, &archive), 0);
	for (uint32_t i = 0; archive->kind->object(archive, i, &found); i++)
		if (found.type == PX_TXTB_THREAD) {
			ck_assert_str_eq(found.name, "bash 1006");
			n++;
		}
	ck_assert_uint_eq(n, 5);
	archive->kind->free(archive);
}
END_TEST

static bool is_sanitized(void)
{
	return getenv("PX_SANITIZED") != NULL;
}

/* LOGP-4: a volume has at most 1048575 entries; the next volume begins after it. */
START_TEST(log_of_three_million_events_has_three_volumes)
{
	uint64_t n = is_sanitized() ? 1100000 : 3000000;

	world.length = no_length;
	new_log(PX_POLICY_APPEND, 0, 256);
	append_all(0, n);
	complete(0);
	ck_assert_uint_eq(facts.nr_volumes, is_sanitized() ? 2 : 3);
	ck_assert_uint_eq(facts.nr_events, n);
	ck_assert_uint_eq(facts.nr_fillers, facts.nr_volumes * PX_LOG_START_FILLERS);
	expect_contents(0, n);
}
END_TEST

/*
 * LOGP-4: the limit of the file size is too low for the next volume.  Then events are lost, but completion keeps all
 * events of the last volume that exists.
 */
START_TEST(log_without_room_for_a_further_volume_keeps_the_last_one)
{
	const struct rlimit limit = {.rlim_cur = 2 << 20, .rlim_max = RLIM_INFINITY};
	struct contents contents;
	uint64_t nr_written = 0;

	signal(SIGXFSZ, SIG_IGN);
	ck_assert_int_eq(setrlimit(RLIMIT_FSIZE, &limit), 0);
	new_log(PX_POLICY_APPEND, 0, 256);
	for (uint64_t i = 0; i < 10000; i++) {
		int error = 0;

		append(i, &error);
		error |= px_log_write(wlog, &state);
		if (error && nr_written == 0)
			nr_written = i;
	}
	write_now();
	ck_assert_uint_gt(nr_written, 0);
	px_log_complete(wlog, &state, PX_LOG_COMPLETE);
	contents = read_back(false);
	ck_assert_uint_eq(contents.first, 0);
	ck_assert_uint_ge(contents.count, nr_written);
}
END_TEST

/* LOGP-1 LOGP-2: the same with a limit. */
START_TEST(log_of_bounded_size_may_have_several_volumes)
{
	struct contents contents;
	uint64_t n = 2000000;

	world.length = no_length;
	new_log(policies[_i], UINT64_C(1100000) * SLOT_BYTES, 256);
	append_all(0, n);
	complete(0);
	ck_assert_uint_eq(facts.nr_volumes, 2);
	contents = read_back(false);
	if (policies[_i] == PX_POLICY_LOOP) {
		ck_assert_uint_eq(contents.last, n - 1);
		ck_assert_uint_ge(contents.count, 1050000);
	} else {
		ck_assert_uint_eq(contents.first, 0);
		ck_assert_uint_ge(contents.count, 1099000);
		ck_assert(contents.ends_with_stop);
	}
	ck_assert_uint_eq(facts.commit.nr_lost, n - contents.count);
}
END_TEST

/*
 * While other volumes are written, time passes for each volume.  In the image of a volume that is overwritten to its
 * end, this time is not a pause.
 */
START_TEST(log_that_goes_round_through_volumes_shows_no_false_pause)
{
	struct px_txtb_entry entry[PX_LOG_START_FILLERS + 1];

	world.length = no_length;
	new_log(PX_POLICY_LOOP, UINT64_C(1100000) * SLOT_BYTES, 256);
	append_all(0, is_sanitized() ? 1300000 : 2000000);
	complete(0);
	ck_assert_uint_eq(facts.nr_volumes, 2);
	ck_assert_int_eq(pread(file, entry, sizeof(entry), (off_t)facts.layout.entries), sizeof(entry));
	for (uint32_t i = 0; i < PX_LOG_START_FILLERS; i++) {
		ck_assert_uint_gt(entry[i + 1].stamp + (i > 1), entry[i].stamp);
		ck_assert_uint_lt(entry[i + 1].stamp - entry[i].stamp, 1000);
	}
}
END_TEST

/* The viewer's profile. */

static void append_as(uint64_t ms, unsigned int id, uint32_t context)
{
	struct px_report report = {.record = {.id = id, .pid = 4711, .context = context},
				   .time_ns = EPOCH_NS + ms * 1000000};

	while (px_log_append(wlog, &report, NULL) == PX_LOG_WRITE_FIRST)
		write_now();
}

/* The viewer charges the time before an entry to its context. */
static uint64_t ms_of(uint32_t context)
{
	struct px_txtb_entry *entry = calloc(facts.nr_entries, sizeof(*entry));
	uint64_t ticks = 0;

	ck_assert_ptr_nonnull(entry);
	ck_assert_int_eq(pread(file, entry, facts.nr_entries * sizeof(*entry),
			       (off_t)facts.layout.entries),
			 (ssize_t)(facts.nr_entries * sizeof(*entry)));
	for (uint64_t i = 1; i < facts.nr_entries; i++)
		if (entry[i].context == context)
			ticks += entry[i].stamp - entry[i - 1].stamp;
	free(entry);
	return ticks * PX_LOG_TICK_NS / 1000000;
}

/*
 * Two threads take turns, and rarely record an event.  A thread of the library (0) or another process (1) flushes
 * between their events.  The flushes must take no time from them.
 */
START_TEST(log_events_of_flushes_take_no_time_from_others)
{
	uint32_t worker = px_txtb_handle(PX_TXTB_THREAD, 1), other = px_txtb_handle(PX_TXTB_THREAD, 2);
	uint32_t flusher = _i == 0 ? px_txtb_handle(PX_TXTB_THREAD, 3) : PX_NO_THREAD;
	uint64_t ms = 0;

	new_log(PX_POLICY_LOOP, 1 << 20, 256);
	append_as(0, PX_EVENT_START, worker);
	for (int i = 0; i < 20; i++, ms += 1000) {
		append_as(ms, type_of(1), worker);
		append_as(ms + 400, PX_EVENT_FLUSH_START, flusher);
		write_now();
		append_as(ms + 500, PX_EVENT_FLUSH_STOP, flusher);
		append_as(ms + 600, type_of(1), worker);
		append_as(ms + 700, PX_EVENT_FLUSH_STOP, flusher);
		append_as(ms + 750, PX_EVENT_OVERFLOW, 0);
		append_as(ms + 800, PX_EVENT_RESUME, 0);
		append_as(ms + 900, type_of(1), other);
	}
	complete(0);
	ck_assert_uint_eq(ms_of(flusher), 0);
	ck_assert_uint_eq(ms_of(PX_NO_THREAD), 0);
	ck_assert_uint_eq(ms_of(other), 20 * 300);
	ck_assert_uint_eq(ms_of(worker), 20 * 600 + 19 * 100);
}
END_TEST

/* Gaps of time. */

#define MINUTE_NS UINT64_C(60000000000)

static uint64_t gap_ns;

static uint64_t gapped_time(uint64_t number)
{
	return EPOCH_NS + number * 1234 + number / 10 * gap_ns;
}

/* A pause is exact in the image, with fillers. */
START_TEST(log_gap_of_minutes_is_exact_in_the_image)
{
	static const uint64_t gaps[] = {1, 2, 7, 30};

	gap_ns = gaps[_i] * MINUTE_NS;
	world.time = gapped_time;
	new_log(PX_POLICY_APPEND, 0, 256);
	append_all(0, 100);
	complete(PX_TEST_LOG_WRAPS_STAMPS);
	ck_assert_uint_eq(facts.commit.nr_shortened, 0);
	ck_assert_uint_eq(facts.nr_fillers, 3 + 9 * (gap_ns / (PX_LOG_GAP_TICKS * PX_LOG_TICK_NS)));
	expect_contents(0, 100);
}
END_TEST

/*
 * The image shortens a gap that is longer than 16 fillers.  The commit has the length of the gap, and the records are
 * exact.
 */
START_TEST(log_gap_of_hours_is_shortened_in_the_image_alone)
{
	struct px_archive *archive;
	uint64_t shown_ns = (PX_LOG_GAP_FILLERS + 1) * PX_LOG_GAP_TICKS * PX_LOG_TICK_NS;

	gap_ns = 60 * 24 * MINUTE_NS * (uint64_t)(_i + 1);
	world.time = gapped_time;
	new_log(_i ? PX_POLICY_LOOP : PX_POLICY_APPEND, 1 << 20, 256);
	append_all(0, 55);
	complete(PX_TEST_LOG_WRAPS_STAMPS);
	expect_contents(0, 55);
	ck_assert_int_eq(px_archive_log_open(file, 0, &archive), 0);
	ck_assert_uint_eq(archive->info.nr_shortened, 5);
	ck_assert_uint_le(archive->info.shortened_ns,
			  5 * (gap_ns + 1234 - shown_ns + PX_LOG_TICK_NS));
	ck_assert_uint_ge(archive->info.shortened_ns + 5 * PX_LOG_TICK_NS,
			  5 * (gap_ns + 1234 - shown_ns));
	archive->kind->free(archive);
}
END_TEST

/* Gaps in a LOOP log: it overwrites fillers like other entries. */
START_TEST(log_that_goes_round_keeps_its_gaps)
{
	struct contents contents;

	gap_ns = 10 * MINUTE_NS;
	world.time = gapped_time;
	new_log(PX_POLICY_LOOP, 700 * SLOT_BYTES, 256);
	for (uint64_t i = 0; i < 5000; i += 13) {
		append_all(i, i + 13);
		write_now();
		px_test_check_log(file, PX_TEST_LOG_IS_OPEN | PX_TEST_LOG_WRAPS_STAMPS, &facts);
	}
	complete(PX_TEST_LOG_WRAPS_STAMPS);
	contents = read_back(false);
	ck_assert_uint_gt(contents.first, 4000);
}
END_TEST

static uint64_t wavering_time(uint64_t number)
{
	return EPOCH_NS + number * 1000 + (number % 5 == 3 ? 0 : 20000) -
	       (number % 50 == 49 ? 1000000000 : 0);
}

static uint64_t newest_wavering_time(uint64_t number)
{
	uint64_t newest = 0;

	for (uint64_t i = number < 5 ? 0 : number - 5; i <= number; i++)
		newest = wavering_time(i) > newest ? wavering_time(i) : newest;
	return newest;
}

/* GETNEXT-9: some events are older than those before them, but the times of the log still rise. */
START_TEST(log_times_do_not_fall)
{
	world.time = wavering_time;
	new_log(policies[_i], 1 << 20, 256);
	append_all(0, 1000);
	complete(0);
	world.time = newest_wavering_time;
	expect_contents(0, 1000);
}
END_TEST

/* An event without a thread, and the empty log. */
START_TEST(log_without_an_event_is_one_that_the_viewer_shows)
{
	new_log(policies[_i], 1 << 16, 256);
	if (_i == 1)
		write_now();
	complete(0);
	ck_assert_uint_eq(facts.nr_entries, PX_LOG_START_FILLERS);
	expect_contents(0, 0);
}
END_TEST

START_TEST(log_reader_made_events_belong_to_no_thread)
{
	struct px_report report = {.record = {.id = PX_EVENT_OVERFLOW, .pid = 4711},
				   .time_ns = EPOCH_NS};

	new_log(policies[_i], 1 << 16, 256);
	for (int i = 0; i < 100; i++)
		while (px_log_append(wlog, &report, NULL) != PX_LOG_TAKEN)
			write_now();
	complete(0);
	ck_assert_uint_eq(facts.nr_events, 100);
}
END_TEST

/* CLEAR-7 CLEAR-8 */
START_TEST(log_that_is_cleared_is_as_new)
{
	uint64_t first = 0;

	world.nr_threads = 300;
	new_log(policies[_i % 3], _i < 3 ? 1 << 20 : 1 << 15, 256);
	for (int round = 0; round < 5; round++) {
		append_all(first, first + 1500);
		if (round % 2)
			write_now();
		px_log_clear(wlog, &state);
		ck_assert_int_eq(px_log_empty(wlog), 0);
		px_test_check_log(file, PX_TEST_LOG_IS_CUT, &facts);
		ck_assert_uint_eq(facts.nr_entries, 0);
		ck_assert_uint_eq(facts.commit.end, 0);
		ck_assert_uint_eq(px_log_nr_lost(wlog), 0);
		ck_assert(!px_log_is_full(wlog));
		first += 10000;
	}
	append_all(first, first + 100);
	complete(0);
	expect_contents(first, first + 100);
}
END_TEST

/* Calls that fail, and writers that die. */

/* The loaded types cannot be listed again, because there is no room for them. */
START_TEST(log_is_complete_without_a_second_list_of_modules)
{
	new_log(PX_POLICY_UNTIL_FULL, 1 << 16, 256);
	append_all(0, 100);
	write_now();
	px_test_check_log(file, PX_TEST_LOG_IS_OPEN, &facts);
	px_test_limit_files(facts.commit.modules_at);
	ck_assert_int_eq(px_log_complete(wlog, &state, PX_LOG_COMPLETE), 0);
	px_test_unlimit_files();
	px_test_check_log(file, 0, &facts);
	ck_assert_uint_eq(facts.commit.modules_bytes, 0);
	expect_contents(0, 100);
}
END_TEST

/* The largest event after a long gap at the beginning of a round, in the smallest possible log. */
static uint64_t gap_in_rounds_time(uint64_t number)
{
	return EPOCH_NS + number * 60 * UINT64_C(60000000000);
}

static size_t always_longest(uint64_t number)
{
	(void)number;
	return world.longest;
}

START_TEST(log_as_small_as_can_be_takes_the_largest_events_with_gaps)
{
	world.time = gap_in_rounds_time;
	world.length = always_longest;
	world.longest = 2000;
	new_log(PX_POLICY_LOOP, 0, 2000);
	append_all(0, 50);
	complete(PX_TEST_LOG_WRAPS_STAMPS);
	ck_assert_uint_eq(read_back(false).last, 49);
}
END_TEST

/* Each event has its own thread, and the log writes only when the stage is full. */
START_TEST(log_that_recycles_contexts_names_those_that_are_still_there)
{
	int error = 0;

	world.nr_threads = 100000;
	world.length = _i ? random_length : no_length;
	new_log(PX_POLICY_LOOP, (uint64_t)(900 + 50 * _i) * PX_SLOT_BYTES, 256);
	for (uint64_t number = 0; number < 6000; number++) {
		struct px_report report;

		make_report(number, &report);
		if (px_log_append(wlog, &report, data) == PX_LOG_TAKEN)
			continue;
		write_now();
		px_test_check_log(file, PX_TEST_LOG_IS_OPEN, &facts);
		append(number, &error);
	}
	complete(0);
}
END_TEST

/* Whichever write comes first in a round, the rest of the image still shows the viewer that time rises. */
START_TEST(log_round_that_begins_with_small_writes_shows_its_direction)
{
	world.length = no_length;
	new_log(PX_POLICY_LOOP, (uint64_t)(1000 + _i) * PX_SLOT_BYTES, 16);
	for (uint64_t number = 0; number < 4000; number += 7) {
		append_all(number, number + 7);
		write_now();
		px_test_check_log(file, PX_TEST_LOG_IS_OPEN, &facts);
	}
	complete(0);
}
END_TEST

/* A mixture: wrapping, holes, reused object slots, gaps, and a clear in the middle. */
struct script {
	uint32_t policy;
	uint64_t log_size;
	uint32_t nr_threads;
	uint64_t nr_events, batch;
	uint64_t clear_at; /* 0: never */
	uint64_t gap_ns;
	uint64_t first_call; /* the test does not fail the calls before */
	uint64_t step;	     /* number of calls that it fails */
	uint64_t file_limit; /* used while the log is created, to make the volumes small; 0: not used */
};

static const struct script scripts[] = {
	{PX_POLICY_LOOP, 400 * SLOT_BYTES, 5, 500, 20, 0, 0, 0, 1, 0},
	{PX_POLICY_LOOP, 1000 * SLOT_BYTES, 900, 2000, 90, 0, 0, 700, 17, 0},
	{PX_POLICY_LOOP, 400 * SLOT_BYTES, 50, 600, 25, 300, 0, 0, 2, 0},
	{PX_POLICY_LOOP, 500 * SLOT_BYTES, 7, 400, 15, 0, 5 * MINUTE_NS, 0, 1, 0},
	{PX_POLICY_UNTIL_FULL, 600 * SLOT_BYTES, 20, 500, 30, 0, 0, 0, 1, 0},
	{PX_POLICY_UNTIL_FULL, 600 * SLOT_BYTES, 20, 500, 30, 130, 0, 0, 1, 0},
	{PX_POLICY_APPEND, 0, 20, 300, 20, 100, 0, 0, 5, 0},
	/* the tests of logs that keep all events */
	{PX_POLICY_APPEND, 0, 500, 420, 60, 0, 0, 750, 23, 0},
	{PX_POLICY_APPEND, 0, 30, 6000, 150, 0, 0, 0, 5, 2 << 20}, /* three volumes */
};
#define NR_SCRIPTS ((int)PX_ARRAY_SIZE(scripts))
#define FIRST_WHOLE_SCRIPT (NR_SCRIPTS - 2)

static uint64_t script_time(uint64_t number)
{
	return steady_time(number) + number / 40 * gap_ns;
}

static void use_script(const struct script *script)
{
	world.nr_threads = script->nr_threads;
	world.longest = 500;
	world.time = script_time;
	gap_ns = script->gap_ns;
}

static unsigned int look_of(const struct script *script)
{
	return script->gap_ns ? PX_TEST_LOG_WRAPS_STAMPS : 0;
}

/* Shared with the child: its progress. */
struct progress {
	uint64_t base;	    /* number of events since the last clear */
	uint64_t committed; /* after the last complete event */
	uint64_t appended;
	bool was_cleared, is_created;
};

static struct progress *progress;
static uint64_t nr_calls, fatal_call, failing_from, failing_to;

/* The purpose of the calls of a script. */
enum phase {
	CREATING,
	FIRST_WRITE,
	LATER_WRITE,
	CLEARING,
	WRITE_AFTER_CLEAR,
	COMPLETING,
	NR_PHASES
};

/* The calls of a script that a test makes fail, in their order. */
#define CALLS_MAX 6000
static uint64_t calls[CALLS_MAX];
static size_t nr_chosen;

/* While the test counts calls: a random piece of each phase.  It has the calls from begin + 1 to end. */
static struct piece {
	uint64_t begin, end;
	uint64_t nr_seen; /* number of pieces in this phase */
} pieces[NR_PHASES];
static uint64_t piece_begin, piece_random;

static void end_piece(enum phase phase)
{
	struct piece *piece = &pieces[phase];

	if (nr_calls > piece_begin && next_random(&piece_random) % ++piece->nr_seen == 0) {
		piece->begin = piece_begin;
		piece->end = nr_calls;
	}
	piece_begin = nr_calls;
}

/* Run the script; calls may fail.  It makes no Check assertions. */
static void run_script(const struct script *script)
{
	enum phase phase = FIRST_WRITE;
	int error;

	if (script->file_limit)
		px_test_limit_files(script->file_limit);
	error = begin_log(script->policy, script->log_size, 500);
	px_test_unlimit_files();

	if (error)
		_exit(3);
	progress->is_created = true;
	end_piece(CREATING);
	for (uint64_t i = 0; i < script->nr_events; i++) {
		if (script->clear_at && i == script->clear_at) {
			progress->was_cleared = true;
			px_log_clear(wlog, &state);
			px_log_empty(wlog);
			progress->base = i;
			end_piece(CLEARING);
			phase = WRITE_AFTER_CLEAR;
		}
		progress->appended = i + 1;
		append(i, &error);
		if (i % script->batch != script->batch - 1)
			continue;
		if (px_log_write(wlog, &state) == 0)
			progress->committed = i + 1;
		end_piece(phase);
		phase = LATER_WRITE;
	}
	px_log_complete(wlog, &state, PX_LOG_COMPLETE);
	end_piece(COMPLETING);
}

static void count_call(const char *name)
{
	if (strcmp(name, "log.write.before") == 0)
		nr_calls++;
}

static void die_at_call(const char *name)
{
	if (strcmp(name, "log.write.before") == 0 && ++nr_calls == fatal_call)
		_exit(0);
}

/*
 * The calls of the log writer fail with this error; 0: they do not fail.  These functions take the place of those of
 * the C library.
 */
static int failure;

ssize_t pwrite(int fd, const void *bytes, size_t size, off_t offset)
{
	size_t page = PX_LOG_PAGE - (size_t)offset % PX_LOG_PAGE;

	if (failure == 0)
		return px_write_at(fd, bytes, size, (uint64_t)offset);
	/* A full disk takes only the pages for which it has room. */
	if (failure == ENOSPC && page < size && nr_calls % 2 == 0)
		return px_write_at(fd, bytes, page, (uint64_t)offset);
	errno = failure;
	return -1;
}

int ftruncate(int fd, off_t size)
{
	if (failure == 0)
#ifdef SYS_ftruncate64
		return (int)syscall(SYS_ftruncate64, fd, PX_OFFSET_WORDS((uint64_t)size));
#else
		return (int)syscall(SYS_ftruncate, fd, size);
#endif
	errno = failure;
	return -1;
}

int fallocate(int fd, int mode, off_t offset, off_t size)
{
	if (failure == 0)
		return (int)syscall(SYS_fallocate, fd, mode, PX_TWO_WORDS((uint64_t)offset),
				    PX_TWO_WORDS((uint64_t)size));
	errno = failure;
	return -1;
}

static int wanted_failure;

static void fail_at_calls(const char *name)
{
	if (strcmp(name, "log.write.before") != 0)
		return;
	nr_calls++;
	if (nr_calls == failing_from && progress->is_created) {
		if (wanted_failure == EFBIG)
			px_test_limit_files(0); /* an error of the real kernel */
		else
			failure = wanted_failure;
	}
	if (nr_calls == failing_to) {
		px_test_unlimit_files();
		failure = 0;
	}
}

static void set_hook(void (*hook)(const char *))
{
	nr_calls = 0;
	__atomic_store_n(&px_testpoint_hook, hook, __ATOMIC_RELEASE);
}

static void share_progress(void)
{
	progress = mmap(NULL, sizeof(*progress), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS,
			-1, 0);
	ck_assert_ptr_ne(progress, MAP_FAILED);
}

static uint64_t count_calls(const struct script *script)
{
	uint64_t n;

	memset(pieces, 0, sizeof(pieces));
	piece_begin = 0;
	set_hook(count_call);
	run_script(script);
	n = nr_calls;
	set_hook(NULL);
	return n;
}

static void choose_call(uint64_t call)
{
	ck_assert_uint_lt(nr_chosen, CALLS_MAX);
	calls[nr_chosen++] = call;
}

/* The first and the last call of a piece differ from their neighbours; the calls between them are all alike. */
static void choose_from_piece(const struct piece *piece)
{
	const uint64_t edge = 1, size = piece->end - piece->begin;

	for (uint64_t call = piece->begin + 1; call <= piece->end; call++)
		if (call - piece->begin <= edge || piece->end - call < edge ||
		    next_random(&piece_random) % size < edge)
			choose_call(call);
}

/* Return all calls of a script with this step, or a sample of the calls of each phase, and their number. */
static uint64_t choose_calls(const struct script *script, uint64_t first, uint64_t step)
{
	uint64_t n;

	piece_random = test_seed();
	n = count_calls(script);
	nr_chosen = 0;
	if (is_sanitized())
		step = step * 10 + 1;
	if (px_test_is_whole())
		for (uint64_t call = first; call <= n; call += step)
			choose_call(call);
	else
		for (int i = 0; i < NR_PHASES; i++)
			choose_from_piece(&pieces[i]);
	return n;
}

static void run_and_die(const struct script *script, uint64_t call)
{
	int status;
	pid_t child;

	memset(progress, 0, sizeof(*progress));
	ck_assert_int_eq(ftruncate(file, 0), 0);
	child = fork();
	ck_assert_int_ge(child, 0);
	if (child == 0) {
		fatal_call = call;
		set_hook(die_at_call);
		run_script(script);
		_exit(0);
	}
	ck_assert_int_eq(waitpid(child, &status, 0), child);
	ck_assert(WIFEXITED(status) && WEXITSTATUS(status) == 0);
}

/* The reader returns the events of the commit, or those of one more write, without a hole. */
static void expect_committed(const struct script *script)
{
	struct contents contents = read_back(false);
	uint64_t behind = contents.count ? contents.last + 1 : 0;

	/* During a clear, it returns the old log or the new one. */
	if (progress->was_cleared && progress->base == 0) {
		ck_assert(contents.count == 0 || behind <= progress->appended);
		return;
	}
	ck_assert_uint_le(behind, progress->appended);
	if (progress->committed > progress->base && script->policy != PX_POLICY_UNTIL_FULL)
		ck_assert_uint_ge(behind, progress->committed);
	if (contents.count == 0)
		return;
	ck_assert_uint_ge(contents.first, progress->base);
	if (script->policy != PX_POLICY_LOOP)
		ck_assert_uint_eq(contents.first, progress->base);
}

/* The order of writes in format.h, EXIT-4: the writer dies at calls that change the file, in each phase. */
START_TEST(log_whose_writer_dies_at_any_call_is_in_order)
{
	const struct script *script = &scripts[_i];

	use_script(script);
	share_progress();
	choose_calls(script, script->first_call + 1, script->step);
	px_test_check_log(file, look_of(script), &facts);
	for (size_t i = 0; i < nr_chosen; i++) {
		run_and_die(script, calls[i]);
		if (!progress->is_created)
			continue; /* the creation had not returned, so there is no log */
		px_test_check_log(file, PX_TEST_LOG_IS_CUT | look_of(script), &facts);
		expect_committed(script);
	}
}
END_TEST

/* LOGP-8 STATUS-4 MODEL-3: the same with calls that fail, and a writer that goes on. */
START_TEST(log_whose_writes_fail_anywhere_goes_on_and_counts_what_is_lost)
{
	static const int failures[] = {EFBIG, ENOSPC, EIO};
	const struct script *script = &scripts[_i % NR_SCRIPTS];
	uint64_t n;

	use_script(script);
	share_progress();
	wanted_failure = failures[_i / (2 * NR_SCRIPTS)];
	n = choose_calls(script, script->first_call + 1, script->step);
	for (size_t i = 0; i < nr_chosen; i++) {
		struct contents contents;
		uint64_t total;

		memset(progress, 0, sizeof(*progress));
		ck_assert_int_eq(ftruncate(file, 0), 0);
		failing_from = calls[i];
		failing_to = calls[i] + (_i / NR_SCRIPTS % 2 == 0 ? 1 : 7);
		set_hook(fail_at_calls);
		run_script(script);
		px_test_unlimit_files();
		failure = 0;
		set_hook(NULL);
		px_test_check_log(file,
				  PX_TEST_LOG_IS_CUT | PX_TEST_LOG_WAS_BROKEN | look_of(script),
				  &facts);
		if (!facts.commit.is_complete)
			continue; /* it was the last failed call */
		contents = read_back(true);
		total = script->nr_events - progress->base;
		ck_assert_msg(contents.count + facts.commit.nr_lost == total,
			      "call %llu of %llu: %llu events and %llu lost, not %llu",
			      (unsigned long long)calls[i], (unsigned long long)n,
			      (unsigned long long)contents.count,
			      (unsigned long long)facts.commit.nr_lost, (unsigned long long)total);
	}
}
END_TEST

static int victim;

static void take_the_place(const char *name)
{
	if (strcmp(name, "log.write.before") == 0 && ++nr_calls == fatal_call &&
	    progress->is_created)
		dup2(victim, px_log_descriptor(wlog));
}

/* Whenever the program opens its own file at the log's descriptor, the log writes nothing to that file. */
START_TEST(log_is_not_written_to_what_took_its_place)
{
	const struct script *script = &scripts[_i];
	struct stat status;
	uint64_t n;

	use_script(script);
	share_progress();
	n = choose_calls(script, 1, 1);
	victim = memfd_create("victim", MFD_CLOEXEC);
	ck_assert_int_ge(victim, 0);
	for (size_t i = 0; i < nr_chosen; i++) {
		pid_t child;
		int code;

		fatal_call = calls[i];
		memset(progress, 0, sizeof(*progress));
		ck_assert_int_eq(ftruncate(file, 0), 0);
		child = fork();
		ck_assert_int_ge(child, 0);
		if (child == 0) {
			set_hook(take_the_place);
			run_script(script);
			_exit(0);
		}
		ck_assert_int_eq(waitpid(child, &code, 0), child);
		ck_assert_int_eq(code, 0);
		ck_assert_int_eq(fstat(victim, &status), 0);
		ck_assert_msg(status.st_size == 0, "call %llu of %llu: %lld bytes",
			      (unsigned long long)fatal_call, (unsigned long long)n,
			      (long long)status.st_size);
	}
	close(victim);
}
END_TEST

static void expect_checkpoint(uint64_t position)
{
	ck_assert_uint_eq(checkpoint_file->base->ring[1].position, position);
}

/* EXIT-4: each commit has the checkpoint that the caller gives, and a failed write keeps the previous one. */
START_TEST(log_commits_the_checkpoint_that_it_is_given)
{
	const struct px_registry_slot slot = {.generation = 1};
	const struct px_checkpoint_file_setup setup = {.slot = &slot, .nr_rings = 2, .fd = file};
	struct px_checkpoint *given[4];

	for (uint64_t i = 0; i < PX_ARRAY_SIZE(given); i++) {
		given[i] = px_checkpoint_make(2);
		ck_assert_ptr_nonnull(given[i]);
		given[i]->ring[1].position = 11 * (i + 1);
	}
	ck_assert_int_eq(px_checkpoint_file_create(&setup, &checkpoint_file), 0);
	state.checkpoint = given[0];
	new_log(PX_POLICY_APPEND, 0, 200);
	expect_checkpoint(11);

	append_all(0, 3);
	state.checkpoint = given[1];
	write_now();
	expect_checkpoint(22);
	ck_assert_uint_eq(checkpoint_file->base->log.last_ns, steady_time(2));

	append_all(3, 5);
	state.checkpoint = given[2];
	victim = memfd_create("victim", MFD_CLOEXEC);
	ck_assert_int_ge(dup2(victim, px_log_descriptor(wlog)), 0);
	ck_assert_int_eq(px_log_write(wlog, &state), EBADF);
	expect_checkpoint(22);
	ck_assert_int_ge(dup2(file, px_log_descriptor(wlog)), 0);

	px_log_clear(wlog, &state); /* what is committed from now on is of an empty log */
	expect_checkpoint(33);
	ck_assert_int_eq(px_log_empty(wlog), 0);
	ck_assert(px_checkpoint_file_find(checkpoint_file, 2)); /* of the write */
	expect_checkpoint(22);
	ck_assert(px_checkpoint_file_find(checkpoint_file, 3)); /* of px_log_empty() */
	expect_checkpoint(33);

	state.checkpoint = given[3];
	ck_assert_int_eq(px_log_complete(wlog, &state, PX_LOG_COMPLETE), 0);
	expect_checkpoint(44);
	px_checkpoint_file_remove(checkpoint_file);
	state.checkpoint = NULL;
	for (size_t i = 0; i < PX_ARRAY_SIZE(given); i++)
		free(given[i]);
}
END_TEST

static void die_at_fatal_call(const char *name)
{
	if (strcmp(name, "log.write.before") == 0 && nr_calls == fatal_call)
		_exit(0);
}

static void fail_and_die(const char *name)
{
	fail_at_calls(name);
	die_at_fatal_call(name);
}

/* One write fails, and the writer dies in one of the next writes. */
START_TEST(log_whose_writer_dies_after_a_failure_is_in_order)
{
	const struct script *script = &scripts[_i];
	uint64_t n, random = test_seed();

	use_script(script);
	share_progress();
	n = count_calls(script);
	for (int round = 0; round < (is_sanitized()	? 20 :
				     px_test_is_whole() ? 150 :
							  30);
	     round++) {
		pid_t child;
		int status;

		memset(progress, 0, sizeof(*progress));
		ck_assert_int_eq(ftruncate(file, 0), 0);
		failing_from = 20 + next_random(&random) % n;
		failing_to = failing_from + 1 + next_random(&random) % 3;
		fatal_call = failing_to + 1 + next_random(&random) % 30;
		child = fork();
		ck_assert_int_ge(child, 0);
		if (child == 0) {
			set_hook(fail_and_die);
			run_script(script);
			_exit(0);
		}
		ck_assert_int_eq(waitpid(child, &status, 0), child);
		if (!progress->is_created)
			continue;
		px_test_check_log(file,
				  PX_TEST_LOG_IS_CUT | PX_TEST_LOG_WAS_BROKEN | look_of(script),
				  &facts);
		ck_assert_uint_le(read_back(true).count, progress->appended);
	}
}
END_TEST

/* Completion. */

static size_t sixteen(uint64_t number)
{
	(void)number;
	return 16;
}

/* Logs that use a small or a large part of their room, with large and with very small writes. */
static const struct length {
	uint32_t policy;
	uint64_t log_size, nr_events, batch, file_limit;
} lengths[] = {
	{PX_POLICY_LOOP, 20 << 20, 400, 20, 0},
	{PX_POLICY_LOOP, 1 << 20, 100000, 1000, 0},
	{PX_POLICY_LOOP, 20 << 20, 300000, 2000, 0},
	{PX_POLICY_LOOP, 20 << 20, 900000, 2000, 0},
	{PX_POLICY_LOOP, 20 << 20, 250000, 2, 0},
	{PX_POLICY_LOOP, 100 << 20, 2500000, 4000, 0},
	{PX_POLICY_LOOP, 100 << 20, 4500000, 4000, 0},
	{PX_POLICY_UNTIL_FULL, 20 << 20, 400, 20, 0},
	{PX_POLICY_UNTIL_FULL, 20 << 20, 300000, 2000, 0},
	{PX_POLICY_UNTIL_FULL, 10 << 20, 900000, 2000, 0},
	{PX_POLICY_UNTIL_FULL, 20 << 20, 250000, 2, 0},
	{PX_POLICY_APPEND, 0, 1, 1, 0},
	{PX_POLICY_APPEND, 0, 400, 1, 0},
	{PX_POLICY_APPEND, 0, 300000, 2000, 0},
	{PX_POLICY_APPEND, 0, 250000, 2, 0},
	{PX_POLICY_APPEND, 0, 1100000, 4000, 0},
	{PX_POLICY_APPEND, 0, 300000, 2000, 64 << 20}, /* three volumes */
};

static uint64_t count_events(void)
{
	struct px_archive *archive;
	struct px_report found;
	uint64_t count = 0;

	ck_assert_int_eq(px_archive_log_open(file, 0, &archive), 0);
	while (archive->kind->next(archive, data, LONGEST_DATA, &found) == PX_NEXT_EVENT)
		count++;
	archive->kind->free(archive);
	return count;
}

/* A completed log is as long as its content. */
START_TEST(log_that_is_complete_is_as_long_as_what_it_holds)
{
	const struct length *length = &lengths[_i];
	uint64_t size, most;
	int error = 0;

	world.length = sixteen;
	world.address = 0x401000;
	if (length->file_limit)
		px_test_limit_files(length->file_limit);
	new_log(length->policy, length->log_size, 256);
	px_test_unlimit_files();
	for (uint64_t i = 0; i < length->nr_events; i++) {
		append(i, &error);
		if (i % length->batch == length->batch - 1)
			write_now();
	}
	ck_assert_int_eq(error, 0);
	ck_assert_int_eq(px_log_complete(wlog, &state, PX_LOG_COMPLETE), 0);
	size = px_test_file_size(file);
	most = (size > 4 << 20 ? 512 << 10 : 64 << 10) + 40 * count_events();
	ck_assert_msg(size <= most, "%llu bytes, not %llu", (unsigned long long)size,
		      (unsigned long long)most);
}
END_TEST

static uint64_t nr_expected;

/* Each time before the file changes, all events are in it. */
static void read_at_call(const char *name)
{
	if (strcmp(name, "log.write.before") == 0 && progress->is_created && nr_calls++ >= fatal_call)
		soundly(read_back(false).count == nr_expected);
}

/* EXIT-4: a process that opens the log while it is completed finds all events. */
START_TEST(log_that_is_opened_while_it_is_completed_is_whole)
{
	const struct script *script = &scripts[_i];

	use_script(script);
	share_progress();
	count_calls(script);
	nr_expected = script->nr_events;
	fatal_call = pieces[COMPLETING].begin + 1;
	ck_assert_int_eq(ftruncate(file, 0), 0);
	set_hook(read_at_call);
	run_script(script);
	ck_assert_uint_gt(nr_calls, fatal_call + 5);
}
END_TEST

/* The file at three times: before the log moves, while it moves, and after. */
static struct snapshot {
	unsigned char *bytes;
	uint64_t size;
	struct px_test_extents extents;
} before_move, in_move, after_move, next_snapshot;

static void take_snapshot(struct snapshot *snapshot)
{
	int fd = px_test_reopen(file, O_RDONLY);

	free(snapshot->bytes);
	free(snapshot->extents.data);
	snapshot->size = px_test_file_size(fd);
	snapshot->extents = px_test_find_extents(fd, snapshot->size);
	snapshot->bytes = px_test_copy_extents(fd, snapshot->size, &snapshot->extents);
	ck_assert_ptr_nonnull(snapshot->bytes);
	close(fd);
}

static void put_snapshot(const struct snapshot *snapshot)
{
	px_test_put_extents(file, snapshot->bytes, snapshot->size, &snapshot->extents);
}

static void change_at_find(const char *name)
{
	if (strcmp(name, "log.find.footer") == 0 && nr_calls++ == 0)
		put_snapshot(&next_snapshot);
}

/* Return how many attempts the reader needed to find the log. */
static uint64_t open_between(const struct snapshot *first, const struct snapshot *next)
{
	put_snapshot(first);
	next_snapshot = *next;
	set_hook(change_at_find);
	ck_assert_uint_eq(read_back(false).count, nr_expected);
	__atomic_store_n(&px_testpoint_hook, NULL, __ATOMIC_RELEASE);
	return nr_calls;
}

/* A log moves between the two reads that find it. */
START_TEST(log_that_moves_while_it_is_looked_for_is_found)
{
	const struct script *script = &scripts[6 + 2 * _i];
	struct px_log_footer footer;
	uint64_t n;

	use_script(script);
	share_progress();
	n = count_calls(script);
	take_snapshot(&after_move);
	nr_expected = script->nr_events - script->clear_at;
	for (uint64_t call = pieces[COMPLETING].begin + 1; call <= n; call++) {
		run_and_die(script, call);
		if (px_log_find_footer(file, &footer))
			take_snapshot(&in_move);
		else if (!in_move.bytes)
			take_snapshot(&before_move);
	}
	ck_assert(before_move.bytes && in_move.bytes);
	ck_assert_uint_gt(open_between(&before_move, &in_move), 1);
	ck_assert_uint_ge(open_between(&in_move, &after_move), 1);
	ck_assert_uint_ge(open_between(&before_move, &after_move), 1);
}
END_TEST

/* From this call on, this many calls find a file of the program at the log's descriptor. */
static void lose_descriptor(const char *name)
{
	if (strcmp(name, "log.write.before") != 0)
		return;
	nr_calls++;
	if (nr_calls == failing_from)
		dup2(victim, px_log_descriptor(wlog));
	if (nr_calls == failing_to)
		dup2(file, px_log_descriptor(wlog));
}

static void make_large_log(void)
{
	ck_assert_int_eq(ftruncate(file, 0), 0);
	world.length = sixteen;
	new_log(PX_POLICY_APPEND, 0, 256);
	append_all(0, nr_expected);
	write_now();
}

/* LOGP-8: whichever step of completion fails, the log stays complete.  A small log and a large one. */
START_TEST(log_whose_completion_fails_at_any_step_is_whole)
{
	uint64_t n, step;

	nr_expected = _i < 2 ? 3000 : 150000;
	victim = memfd_create("victim", MFD_CLOEXEC);
	make_large_log();
	set_hook(count_call);
	ck_assert_int_eq(px_log_complete(wlog, &state, PX_LOG_COMPLETE), 0);
	n = nr_calls;
	set_hook(NULL);
	ck_assert_uint_gt(n, 5);
	step = _i < 2 || px_test_is_whole() ? 1 : 1 + n / 8;
	for (uint64_t call = 1 + test_seed() % step; call <= n; call += step) {
		make_large_log();
		failing_from = call;
		failing_to = _i % 2 ? UINT64_MAX : call + 1;
		set_hook(lose_descriptor);
		px_log_complete(wlog, &state, PX_LOG_COMPLETE);
		set_hook(NULL);
		ck_assert_msg(read_back(false).count == nr_expected, "call %llu of %llu",
			      (unsigned long long)call, (unsigned long long)n);
		px_test_check_log(file, PX_TEST_LOG_IS_CUT | PX_TEST_LOG_WAS_BROKEN, &facts);
	}
	ck_assert_int_eq(px_test_file_size(victim), 0);
	close(victim);
}
END_TEST

static void lose_and_die(const char *name)
{
	lose_descriptor(name);
	die_at_fatal_call(name);
}

/* EXIT-4: a step of completion fails, and the writer dies in one of the next steps. */
START_TEST(log_whose_writer_dies_after_a_failure_of_completion_is_whole)
{
	uint64_t n;

	nr_expected = 300;
	victim = memfd_create("victim", MFD_CLOEXEC);
	make_large_log();
	set_hook(count_call);
	ck_assert_int_eq(px_log_complete(wlog, &state, PX_LOG_COMPLETE), 0);
	n = nr_calls;
	set_hook(NULL);
	for (uint64_t call = 1; call <= n; call++) {
		pid_t child;
		int status;

		make_large_log();
		failing_from = call;
		failing_to = call + 1 + (uint64_t)_i % 4;
		fatal_call = failing_to + (uint64_t)_i / 4;
		child = fork();
		ck_assert_int_ge(child, 0);
		if (child == 0) {
			set_hook(lose_and_die);
			px_log_complete(wlog, &state, PX_LOG_COMPLETE);
			_exit(0);
		}
		ck_assert_int_eq(waitpid(child, &status, 0), child);
		px_log_free(wlog);
		ck_assert_msg(read_back(false).count == nr_expected, "call %llu of %llu",
			      (unsigned long long)call, (unsigned long long)n);
	}
	close(victim);
}
END_TEST

static TCase *completion_cases(void)
{
	TCase *tcase = tcase_create("completion");

	tcase_add_loop_test(tcase, log_that_is_complete_is_as_long_as_what_it_holds, 0,
			    (int)PX_ARRAY_SIZE(lengths));
	tcase_add_loop_test(tcase, log_that_is_opened_while_it_is_completed_is_whole, FIRST_WHOLE_SCRIPT,
			    NR_SCRIPTS);
	tcase_add_loop_test(tcase, log_that_moves_while_it_is_looked_for_is_found, 0, 2);
	tcase_add_loop_test(tcase, log_whose_completion_fails_at_any_step_is_whole, 0, 4);
	tcase_add_loop_test(tcase, log_whose_writer_dies_after_a_failure_of_completion_is_whole, 0, 12);
	return tcase;
}

static TCase *content_cases(void)
{
	TCase *tcase = tcase_create("contents");

	tcase_add_loop_test(tcase, log_events_of_every_type_come_back, 0, 3);
	tcase_add_loop_test(tcase, log_data_of_every_length_comes_back, 0, 3);
	tcase_add_loop_test(tcase, log_largest_data_come_back, 0, 3);
	tcase_add_loop_test(tcase, log_that_goes_round_many_times_is_always_in_order, 0,
			    px_test_is_whole() ? 30 : 10);
	tcase_add_loop_test(tcase, log_that_is_full_ends_with_stop, 0, 20);
	tcase_add_test(tcase, log_that_is_full_behind_an_overflow_ends_with_a_stop_in_time);
	tcase_add_test(tcase, log_threads_have_their_names);
	tcase_add_test(tcase, log_names_threads_that_left_the_table);
	tcase_add_loop_test(tcase, log_with_too_many_threads_still_names_each_context, 0, 3);
	tcase_add_test(tcase, log_of_three_million_events_has_three_volumes);
	tcase_add_test(tcase, log_without_room_for_a_further_volume_keeps_the_last_one);
	tcase_add_loop_test(tcase, log_of_bounded_size_may_have_several_volumes, 0, 2);
	tcase_add_test(tcase, log_that_goes_round_through_volumes_shows_no_false_pause);
	tcase_add_loop_test(tcase, log_events_of_flushes_take_no_time_from_others, 0, 2);
	tcase_add_loop_test(tcase, log_gap_of_minutes_is_exact_in_the_image, 0, 4);
	tcase_add_loop_test(tcase, log_gap_of_hours_is_shortened_in_the_image_alone, 0, 2);
	tcase_add_test(tcase, log_that_goes_round_keeps_its_gaps);
	tcase_add_loop_test(tcase, log_that_recycles_contexts_names_those_that_are_still_there, 0,
			    4);
	tcase_add_loop_test(tcase, log_round_that_begins_with_small_writes_shows_its_direction, 0,
			    5);
	tcase_add_loop_test(tcase, log_threads_of_one_name_are_told_apart_in_the_image, 0, 6);
	tcase_add_loop_test(tcase, log_times_do_not_fall, 0, 3);
	tcase_add_loop_test(tcase, log_without_an_event_is_one_that_the_viewer_shows, 0, 3);
	tcase_add_loop_test(tcase, log_reader_made_events_belong_to_no_thread, 0, 3);
	tcase_add_loop_test(tcase, log_that_is_cleared_is_as_new, 0, 6);
	tcase_add_test(tcase, log_is_complete_without_a_second_list_of_modules);
	tcase_add_test(tcase, log_as_small_as_can_be_takes_the_largest_events_with_gaps);
	return tcase;
}

static TCase *failure_cases(void)
{
	TCase *tcase = tcase_create("failures");

	tcase_add_loop_test(tcase, log_whose_writer_dies_at_any_call_is_in_order, 0, NR_SCRIPTS);
	tcase_add_loop_test(tcase, log_whose_writes_fail_anywhere_goes_on_and_counts_what_is_lost,
			    0, 6 * NR_SCRIPTS);
	tcase_add_loop_test(tcase, log_is_not_written_to_what_took_its_place, 0, NR_SCRIPTS);
	tcase_add_test(tcase, log_commits_the_checkpoint_that_it_is_given);
	tcase_add_loop_test(tcase, log_whose_writer_dies_after_a_failure_is_in_order, 0,
			    NR_SCRIPTS - 2);
	return tcase;
}

int main(void)
{
	TCase *tcases[] = {content_cases(), completion_cases(), failure_cases()};
	Suite *suite = suite_create("log");

	for (size_t i = 0; i < PX_ARRAY_SIZE(tcases); i++) {
		tcase_add_checked_fixture(tcases[i], setup, teardown);
		tcase_set_timeout(tcases[i], 120);
		suite_add_tcase(suite, tcases[i]);
	}
	return run_suite(suite);
}
