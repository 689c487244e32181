/* SPDX-License-Identifier: MIT */
/* Runs of usual events stage the same entries and frames as the log writer does event by event. */
#include "support/common.h"

#include <string.h>

#include "log/log_private.h"
#include "log/usual.h"
#include "support/new_log.h"

#define EPOCH_NS UINT64_C(1700000000000000000)
#define LONGEST 400
#define NR_THREADS 20 /* more than a run keeps */
#define NR_SITES 30
#define NR_EVENTS 30000

enum { BY_RUNS, ONE_BY_ONE, NR_LOGS };

static struct px_log *logs[NR_LOGS];
static struct px_log_state states[NR_LOGS];
static struct px_threads threads;
static struct px_typelist types;
static uint64_t chance;
static uint32_t nr_in_runs;

static uint32_t below(uint32_t n)
{
	chance = chance * UINT64_C(6364136223846793005) + 1442695040888963407;
	return (uint32_t)(chance >> 33) % n;
}

static void setup_logs(uint32_t policy, uint64_t log_size)
{
	memset(&threads, 0, sizeof(threads));
	for (uint32_t i = 1; i <= NR_THREADS; i++) {
		struct px_object thread = {.handle = px_txtb_handle(PX_TXTB_THREAD, i),
					   .type = PX_TXTB_THREAD,
					   .pid = 4711,
					   .tid = 100 + i,
					   .thread = 0x7000 + i};

		snprintf(thread.name, sizeof(thread.name), "thread %u", i);
		px_threads_add(&threads, &thread);
	}
	for (int i = 0; i < NR_LOGS; i++) {
		const struct px_log_setup setup = {.fd = px_test_file(), .threads = &threads, .types = &types};

		ck_assert_int_eq(px_test_new_log(&setup, policy, log_size, LONGEST, &states[i], &logs[i]), 0);
	}
	/* With a translator of calls, no event is a usual one. */
	ck_assert(px_log_make_translator(logs[ONE_BY_ONE]));
}

static void compare_frames(void)
{
	size_t size[NR_LOGS];
	const void *frame[NR_LOGS];

	ck_assert_uint_eq(logs[0]->nr_staged, logs[1]->nr_staged);
	if (logs[0]->nr_staged == 0)
		return;
	for (int i = 0; i < NR_LOGS; i++)
		frame[i] = px_pack_end(logs[i]->pack, &size[i]);
	ck_assert_uint_eq(size[0], size[1]);
	ck_assert_int_eq(memcmp(frame[0], frame[1], size[0]), 0);
	ck_assert_int_eq(memcmp(logs[0]->entries, logs[1]->entries, logs[0]->nr_staged * sizeof(struct px_txtb_entry)),
			 0);
	ck_assert_uint_eq(logs[0]->staged.end, logs[1]->staged.end);
	ck_assert_uint_eq(logs[0]->staged.nr_events, logs[1]->staged.nr_events);
	ck_assert_uint_eq(logs[0]->staged.last_ns, logs[1]->staged.last_ns);
	ck_assert_uint_eq(logs[0]->staged.stamps.ticks, logs[1]->staged.stamps.ticks);
	ck_assert_uint_eq(logs[0]->staged.stamps.real, logs[1]->staged.stamps.real);
	ck_assert_uint_eq(logs[0]->ran, logs[1]->ran);
}

static void write_both(void)
{
	compare_frames();
	for (int i = 0; i < NR_LOGS; i++)
		ck_assert_int_eq(px_log_write(logs[i], &states[i]), 0);
}

/* The next event, mostly one soon after the last one. */
static void next_event(struct px_report *report, unsigned char *data)
{
	uint32_t thread = 1 + below(below(8) ? 2 : NR_THREADS), what = below(1000);
	uint64_t step = what == 0 ? UINT64_C(400000000000) : what < 4 ? 100000000 : below(500);

	report->record = (struct px_record){.context = px_txtb_handle(PX_TXTB_THREAD, thread),
					    .priority = 7,
					    .pid = what == 10 ? 4712 : 4711,
					    .thread = 0x7000 + thread,
					    .cpu = below(300),
					    .id = PX_EVENT_USER_FIRST + below(below(8) ? 1 : 4),
					    .flags = what == 11 ? PX_RECORD_TRUNCATED : 0,
					    .address = 0x400000 + below(below(4) ? 2 : NR_SITES) * 5};
	report->record.cpu &= 255;
	if (what == 12)
		report->record.id = PX_EVENT_UNNAMED;
	report->time_ns = what == 13 ? report->time_ns - 50 : report->time_ns + step;
	report->length = report->copied = below(3) ? 16 : below(what < 100 ? LONGEST : 40);
	px_test_fill(data, report->copied, below(1 << 20));
}

static bool add_to_run(struct px_usual *run, const struct px_usual_place *at, struct px_usual_place *next,
		       const struct px_report *report, const unsigned char *data)
{
	const struct px_record *record = &report->record;
	struct px_usual_event event = {.time_ns = report->time_ns,
				       .address = record->address,
				       .thread = record->thread,
				       .pid = record->pid,
				       .id = record->id,
				       .flags = record->flags,
				       .context = record->context,
				       .priority = record->priority,
				       .cpu = record->cpu,
				       .length = (uint32_t)report->copied};
	uint64_t words[2];
	unsigned char *to;

	px_first_bytes(data, report->copied, words);
	event.first = words[0];
	event.second = words[1];
	to = px_usual_add(run, at, &event, next);
	if (!to)
		return false;
	if (report->copied > PX_RECORD_FIRST_BYTES)
		memcpy(to, data + PX_RECORD_FIRST_BYTES, report->copied - PX_RECORD_FIRST_BYTES + 7);
	return true;
}

static void append_to_both(struct px_report *report, const void *data, uint64_t *nr_refused)
{
	enum px_log_room room[NR_LOGS];

	do {
		for (int i = 0; i < NR_LOGS; i++)
			room[i] = px_log_append(logs[i], report, data);
		ck_assert_int_eq(room[0], room[1]);
		if (room[0] == PX_LOG_WRITE_FIRST)
			write_both();
	} while (room[0] == PX_LOG_WRITE_FIRST);
	*nr_refused += room[0] == PX_LOG_FULL;
}

/* Stage some events in one log as one run, and in the other one event by event.  The last event ends the run. */
static void stage_run(struct px_report *report, unsigned char *data, uint64_t *nr_refused)
{
	struct px_usual_place at, next;
	struct px_usual run;
	bool is_run, has_event = false;

	/* What was in the memory before is no thread. */
	memset(&run, 0, sizeof(run));
	is_run = px_usual_begin(logs[BY_RUNS], 0, &run, &at);
	ck_assert(!is_run || !px_usual_has_thread(&run, &(struct px_usual_event){.context = 0}));

	for (uint32_t left = 1 + below(2000); is_run && left > 0; left--) {
		next_event(report, data);
		has_event = true;
		if (!add_to_run(&run, &at, &next, report, data))
			break;
		has_event = false;
		/* Once more: the first one is not kept. */
		if (below(16) == 0)
			ck_assert(add_to_run(&run, &at, &next, report, data));
		px_usual_keep(&at, &next);
		nr_in_runs++;
		ck_assert_int_eq(px_log_append(logs[ONE_BY_ONE], report, data), PX_LOG_TAKEN);
	}
	if (is_run)
		px_usual_end(&run, at);
	if (!has_event)
		next_event(report, data);
	append_to_both(report, data, nr_refused);
	if (below(20) == 0)
		write_both();
}

static const struct {
	uint32_t policy;
	uint64_t log_size;
} kinds[] = {{PX_POLICY_APPEND, 1 << 20}, {PX_POLICY_LOOP, 1 << 20}, {PX_POLICY_LOOP, 1 << 16},
	     {PX_POLICY_UNTIL_FULL, 1 << 19}};

START_TEST(run_stages_what_append_stages)
{
	struct px_report report = {.time_ns = EPOCH_NS};
	unsigned char data[LONGEST + 8];
	uint64_t nr_refused = 0;

	setup_logs(kinds[_i].policy, kinds[_i].log_size);
	chance = (uint64_t)_i + 1;
	nr_in_runs = 0;
	for (uint32_t i = 0; i < NR_EVENTS / 10 && nr_refused < 100; i++)
		stage_run(&report, data, &nr_refused);
	write_both();
	ck_assert_uint_gt(nr_in_runs, 1000);
	for (int i = 0; i < NR_LOGS; i++)
		px_log_free(logs[i]);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("usual");
	TCase *tcase = tcase_create("usual");

	tcase_set_timeout(tcase, 120);
	tcase_add_loop_test(tcase, run_stages_what_append_stages, 0, (int)PX_ARRAY_SIZE(kinds));
	suite_add_tcase(suite, tcase);
	return run_suite(suite);
}
