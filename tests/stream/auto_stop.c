/* SPDX-License-Identifier: MIT */
/* The table of states in stream/auto_stop.h: each transition, and the events that do not change a state. */
#include "support/common.h"

#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "stream/auto_stop.h"

#define FIRST_RUN 7

static struct px_view view;
static struct px_auto_stop stop;
static struct px_checkpoint_content file;
static uint32_t run;   /* the run that the test is about */
static uint32_t marks; /* of the record after the automatic stop */

static uint64_t state_word(void)
{
	return view.segment->state;
}

static void set_state(enum px_state state, bool armed)
{
	view.segment->state = px_state_next(state_word(), state, armed);
}

/* A segment of a bounded stream in memory of this process, in its run FIRST_RUN. */
static void set_up(void)
{
	struct px_mapping mapping;
	struct px_geometry geometry;

	ck_assert(px_geometry_init(&geometry, 1, 16, 2));
	mapping.size = px_segment_size(&geometry);
	mapping.base = mmap(NULL, mapping.size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS,
			    -1, 0);
	ck_assert_ptr_ne(mapping.base, MAP_FAILED);
	px_segment_init(&mapping, &geometry, true, 16, PX_CLOCK_MONOTONIC, 0, &view);
	memset(&stop, 0, sizeof(stop));
	memset(&file, 0, sizeof(file));
	run = FIRST_RUN;
	marks = 0;
	view.segment->run.serial = run;
	set_state(PX_STATE_RUNNING, false);
}

static void tear_down(void)
{
	munmap(view.mapping.base, view.mapping.size);
}

/* What happens to a stream. */

static void become_full(void)
{
	px_view_auto_stop(&view, state_word());
}

static void start_while_full(void)
{
	px_auto_stop_cancel(&view);
	set_state(PX_STATE_AUTO_FULL, true);
}

static void set_filter(bool has_stop)
{
	uint64_t state = state_word();
	struct px_eventset before = view.segment->filter[px_state_filter(state)];
	struct px_eventset *next;

	view.segment->state = px_state_next_filter(state);
	next = &view.segment->filter[px_state_filter(state_word())];
	memset(next, 0, sizeof(*next));
	if (has_stop)
		px_eventset_add(next, PX_EVENT_STOP);
	px_auto_stop_keep_filter(&view, state, &before);
}

static void filter_stop(void)
{
	set_filter(true);
}

static void pass_stop(void)
{
	set_filter(false);
}

/* As when the reader has nothing left to read. */
static void read_all(void)
{
	px_auto_stop_report(&stop, px_auto_stop_due(&view, state_word()));
}

static void record_flush_start(void)
{
	marks = px_auto_stop_due(&view, state_word());
}

static void restart(void)
{
	marks = px_auto_stop_due(&view, state_word());
	px_auto_stop_begin_run(&view);
	set_state(PX_STATE_RUNNING, false);
}

static void take_marks(void)
{
	px_auto_stop_queue(&stop, marks);
	marks = 0;
}

static void report_queued(void)
{
	ck_assert(px_auto_stop_is_queued(&stop));
	px_auto_stop_report_queued(&stop);
}

static void clear(void)
{
	px_auto_stop_clear(&stop);
	set_state(PX_STATE_STOPPED, false);
}

static void stop_by_call(void)
{
	view.segment->state &= ~PX_STATE_ARMED;
}

/* The table. */

enum state { NONE, CANCELLED, FILTERED, DUE, MARKED, QUEUED, REPORTED };

static enum state state_of_run(void)
{
	if (stop.queued == run)
		return QUEUED;
	if (stop.reported == run)
		return REPORTED;
	if (marks == run)
		return MARKED;
	if (view.segment->run.serial != run || px_state_of(state_word()) != PX_STATE_AUTO_FULL)
		return NONE;
	if (px_auto_stop_due(&view, state_word()) == run)
		return DUE;
	return view.segment->run.settled == run ? CANCELLED : FILTERED;
}

#define STEPS_MAX 6

/* The steps of a run, and the state of its STOP before the last step and after it. */
static const struct {
	enum state before, after;
	void (*step[STEPS_MAX])(void);
} transitions[] = {
	{NONE, DUE, {become_full}},
	{NONE, FILTERED, {filter_stop, become_full}},
	{NONE, CANCELLED, {start_while_full}},
	{NONE, NONE, {read_all}},
	{NONE, NONE, {restart}},
	{CANCELLED, CANCELLED, {start_while_full, read_all}},
	{CANCELLED, CANCELLED, {start_while_full, record_flush_start}},
	{CANCELLED, NONE, {start_while_full, restart}},
	{CANCELLED, NONE, {start_while_full, clear}},
	{NONE, NONE, {start_while_full, restart, take_marks}},
	{FILTERED, FILTERED, {filter_stop, become_full, pass_stop}},
	{FILTERED, FILTERED, {filter_stop, become_full, pass_stop, filter_stop}},
	{FILTERED, FILTERED, {filter_stop, become_full, pass_stop, read_all}},
	{FILTERED, FILTERED, {filter_stop, become_full, record_flush_start}},
	{FILTERED, NONE, {filter_stop, become_full, restart}},
	{NONE, NONE, {filter_stop, become_full, restart, take_marks}},
	{DUE, DUE, {become_full, filter_stop}},
	{DUE, DUE, {become_full, filter_stop, pass_stop}},
	{DUE, DUE, {become_full, stop_by_call}},
	{DUE, REPORTED, {become_full, read_all}},
	{DUE, REPORTED, {become_full, filter_stop, read_all}},
	{DUE, REPORTED, {become_full, stop_by_call, read_all}},
	{DUE, NONE, {become_full, clear}},
	{DUE, MARKED, {become_full, record_flush_start}},
	{DUE, MARKED, {become_full, restart}},
	{DUE, MARKED, {become_full, filter_stop, restart}},
	{MARKED, REPORTED, {become_full, record_flush_start, read_all}},
	{MARKED, MARKED, {become_full, restart, become_full}},
	{MARKED, QUEUED, {become_full, record_flush_start, take_marks}},
	{MARKED, QUEUED, {become_full, restart, take_marks}},
	{QUEUED, REPORTED, {become_full, restart, take_marks, report_queued}},
	{QUEUED, NONE, {become_full, restart, take_marks, clear}},
	{REPORTED, REPORTED, {become_full, read_all, restart}},
	{REPORTED, REPORTED, {become_full, read_all, restart, take_marks}},
	{REPORTED, REPORTED, {become_full, record_flush_start, read_all, take_marks}},
	{REPORTED, REPORTED, {become_full, record_flush_start, take_marks, report_queued, restart}},
	{REPORTED,
	 REPORTED,
	 {become_full, record_flush_start, take_marks, report_queued, restart, take_marks}},
};

/* UFULL-2 UFULL-8 START-3 FILT-1 */
START_TEST(auto_stop_follows_its_table)
{
	void (*const *step)(void) = transitions[_i].step;
	int i = 0;

	for (; i + 1 < STEPS_MAX && step[i + 1]; i++)
		step[i]();
	ck_assert_int_eq(state_of_run(), transitions[_i].before);
	step[i]();
	ck_assert_int_eq(state_of_run(), transitions[_i].after);
}
END_TEST

/* UFULL-2: each run has its own STOP, and each STOP is reported once. */
START_TEST(auto_stop_is_reported_once_for_each_run)
{
	for (int i = 0; i < 3; i++) {
		become_full();
		run = px_auto_stop_due(&view, state_word());
		ck_assert_uint_eq(run, FIRST_RUN + (uint32_t)i);
		ck_assert(px_auto_stop_report(&stop, run));
		ck_assert(!px_auto_stop_report(&stop, run));
		restart();
		take_marks();
		ck_assert(!px_auto_stop_is_queued(&stop));
	}
	ck_assert(!px_auto_stop_report(&stop, 0));
}
END_TEST

START_TEST(auto_stop_number_of_a_run_is_never_0)
{
	view.segment->run.serial = UINT32_MAX;
	px_auto_stop_begin_run(&view);
	become_full();
	ck_assert_uint_eq(px_auto_stop_due(&view, state_word()), 1);
}
END_TEST

START_TEST(auto_stop_is_settled_once_for_each_state_word)
{
	become_full();
	ck_assert(px_auto_stop_settle(&stop, state_word()));
	ck_assert(!px_auto_stop_settle(&stop, state_word()));
	restart();
	become_full();
	ck_assert(px_auto_stop_settle(&stop, state_word()));
}
END_TEST

/*
 * EXIT-4: the process that continues reports a STOP again if it was read but not in the log; one in the log is not
 * reported again.
 */
START_TEST(auto_stop_in_a_checkpoint_is_reported_once)
{
	bool in_hand = _i != 0;
	struct px_checkpoint checkpoint;
	struct px_auto_stop next = {0};

	become_full();
	read_all();
	restart();
	become_full();
	read_all();
	px_auto_stop_save(&stop, in_hand, &checkpoint);
	px_auto_stop_load(&next, &checkpoint);
	ck_assert(!px_auto_stop_report(&next, in_hand ? FIRST_RUN : FIRST_RUN + 1));
	ck_assert_int_eq(px_auto_stop_report(&next, px_auto_stop_due(&view, state_word())),
			 in_hand);
}
END_TEST

/* When the automatic stop ends. */

static const struct {
	enum px_state state;
	bool armed;
	int used; /* of a ring, in eighths of its limit */
	bool restarts;
	enum px_state end; /* when the stream is empty */
} ends[] = {
	{PX_STATE_AUTO_FULL, true, 0, true, PX_STATE_AUTO_FULL},
	{PX_STATE_AUTO_FULL, true, 4, true, PX_STATE_AUTO_FULL},
	{PX_STATE_AUTO_FULL, true, 5, false, PX_STATE_AUTO_FULL},
	{PX_STATE_AUTO_FULL, true, 8, false, PX_STATE_AUTO_FULL},
	{PX_STATE_AUTO_FULL, false, 0, false, PX_STATE_STOPPED},
	{PX_STATE_RUNNING, false, 0, false, PX_STATE_RUNNING},
	{PX_STATE_STOPPED, false, 0, false, PX_STATE_STOPPED},
	{PX_STATE_ENDED, false, 0, false, PX_STATE_ENDED},
};

/* UFULL-5 UFULL-7 AMB-8 */
START_TEST(auto_stop_ends_when_there_is_room)
{
	struct px_ring ring = px_rings_get(&view.rings, 1);

	view.limit = 8 * PX_GEOMETRY_LEAST_SLOTS(view.geometry.event_slots);
	ring.control->head = ring.control->tail + view.limit / 8 * (uint64_t)ends[_i].used;
	set_state(ends[_i].state, ends[_i].armed);
	ck_assert_int_eq(px_auto_stop_can_restart(&view, state_word()), ends[_i].restarts);
	px_auto_stop_end(&view, state_word());
	ck_assert_int_eq(px_state_of(state_word()), ends[_i].end);
}
END_TEST

static const struct {
	uint32_t room, mark;
} marks_of[] = {{64, 32}, {16384, 8192}, {32768, 8192}, {65536, 8192}, {131072, 16384}};

/* FLUSHP-5: the flush thread begins early, but not so early that it wakes up for a few events. */
START_TEST(high_water_mark_of_a_large_ring_is_low)
{
	struct px_ring ring = px_rings_get(&view.rings, 1);

	view.limit = marks_of[_i].room;
	ring.control->head = ring.control->tail + marks_of[_i].mark;
	ck_assert(!px_view_is_high(&view, NULL));
	ck_assert(!px_view_is_high(&view, &ring));
	ring.control->head++;
	ck_assert(px_view_is_high(&view, NULL));
	ck_assert(px_view_is_high(&view, &ring));
}
END_TEST

/* UFULL-5: half of the ring is free, but START would fill it again. */
START_TEST(auto_stop_of_a_small_ring_ends_when_it_is_empty)
{
	struct px_ring ring = px_rings_get(&view.rings, 1);

	view.limit = PX_GEOMETRY_LEAST_SLOTS(view.geometry.event_slots);
	become_full();
	ring.control->head = ring.control->tail + 1;
	ck_assert(!px_auto_stop_can_restart(&view, state_word()));
	ring.control->head = ring.control->tail;
	ck_assert(px_auto_stop_can_restart(&view, state_word()));
}
END_TEST

/* The state changes while the caller reads it: the word that the caller knows is gone. */
START_TEST(auto_stop_does_not_end_another_window)
{
	uint64_t before;

	become_full();
	stop_by_call();
	before = state_word();
	set_state(PX_STATE_RUNNING, false);
	px_auto_stop_end(&view, before);
	ck_assert_int_eq(px_state_of(state_word()), PX_STATE_RUNNING);
}
END_TEST

/* The STOP that recovery adds. */

enum last { LAST_NONE, LAST_UNDATED, LAST_DUE };

static enum last last_of_file(void)
{
	return file.last_stop_counter == 0 ? LAST_NONE :
	       file.last_stop_counter == 1 ? LAST_UNDATED :
					     LAST_DUE;
}

static const struct {
	enum px_state found;
	bool is_filtered;
	uint64_t counter; /* that an earlier recovery has left in the file */
	bool fills;	  /* a writer fills the stream after the note */
	enum last noted, dated;
} recoveries[] = {
	{PX_STATE_RUNNING, false, 0, false, LAST_UNDATED, LAST_DUE},
	{PX_STATE_RUNNING, true, 0, false, LAST_NONE, LAST_NONE},
	{PX_STATE_RUNNING, false, 0, true, LAST_UNDATED, LAST_NONE},
	{PX_STATE_RUNNING, false, 1, false, LAST_UNDATED, LAST_DUE},
	{PX_STATE_STOPPED, false, 0, false, LAST_NONE, LAST_NONE},
	{PX_STATE_STOPPED, false, 1, false, LAST_UNDATED, LAST_DUE},
	{PX_STATE_STOPPED, false, 1000, false, LAST_DUE, LAST_DUE},
	{PX_STATE_AUTO_FULL, false, 0, false, LAST_NONE, LAST_NONE},
	{PX_STATE_AUTO_FULL, false, 1, false, LAST_UNDATED, LAST_NONE},
};

/* EXIT-1 EXIT-4 */
START_TEST(last_stop_follows_its_table)
{
	struct px_checkpoint checkpoint;
	struct px_auto_stop next = {0};
	uint64_t counter;

	if (recoveries[_i].is_filtered)
		filter_stop();
	if (recoveries[_i].found == PX_STATE_AUTO_FULL)
		become_full();
	else
		set_state(recoveries[_i].found, false);
	file.last_stop_counter = recoveries[_i].counter;
	px_auto_stop_note_last(&view, state_word(), &file);
	ck_assert_int_eq(last_of_file(), recoveries[_i].noted);
	if (recoveries[_i].fills)
		become_full();
	else if (px_state_of(state_word()) == PX_STATE_RUNNING)
		set_state(PX_STATE_STOPPED, false);
	px_auto_stop_date_last(&view, &file);
	ck_assert_int_eq(last_of_file(), recoveries[_i].dated);
	ck_assert_uint_eq(state_word() & PX_STATE_ARMED, 0);
	if (recoveries[_i].counter > 1)
		ck_assert_uint_eq(file.last_stop_counter, recoveries[_i].counter);

	counter = px_auto_stop_take_last(&stop, &file);
	ck_assert_uint_eq(counter, file.last_stop_counter);
	ck_assert_int_eq(stop.has_last_stop, counter != 0);
	ck_assert_uint_eq(px_auto_stop_take_last(&stop, &file), 0);
	/* The log has it, so a second recovery does not add it again. */
	px_auto_stop_save(&stop, false, &checkpoint);
	px_auto_stop_load(&next, &checkpoint);
	ck_assert_uint_eq(px_auto_stop_take_last(&next, &file), 0);
}
END_TEST

/* SETFILT-9 STOP-1: a writer that sleeps during many changes notices that there were some. */
START_TEST(state_word_does_not_come_back_after_many_changes)
{
	uint64_t begin = px_state_next(0, PX_STATE_RUNNING, false);
	uint64_t filtered = begin, restarted = begin;

	for (uint32_t i = 1; i <= UINT32_C(1) << 24; i++) {
		filtered = px_state_next_filter(filtered);
		restarted = px_state_next(restarted, PX_STATE_RUNNING, false);
		if (filtered == begin || restarted == begin)
			ck_abort_msg("the same word after %u changes", i);
		if (px_state_filter(filtered) != i % PX_SEGMENT_FILTERS ||
		    px_state_is_same_window(filtered, begin) != (i < 256) ||
		    px_state_of(filtered) != PX_STATE_RUNNING || px_state_is_same_window(restarted, begin))
			ck_abort_msg("a wrong word after %u changes", i);
	}
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("auto_stop");
	TCase *runs = tcase_create("runs");
	TCase *last = tcase_create("last");

	tcase_add_checked_fixture(runs, set_up, tear_down);
	tcase_add_loop_test(runs, auto_stop_follows_its_table, 0, PX_ARRAY_SIZE(transitions));
	tcase_add_test(runs, auto_stop_is_reported_once_for_each_run);
	tcase_add_test(runs, auto_stop_number_of_a_run_is_never_0);
	tcase_add_test(runs, auto_stop_is_settled_once_for_each_state_word);
	tcase_add_loop_test(runs, auto_stop_in_a_checkpoint_is_reported_once, 0, 2);
	tcase_add_loop_test(runs, auto_stop_ends_when_there_is_room, 0, PX_ARRAY_SIZE(ends));
	tcase_add_loop_test(runs, high_water_mark_of_a_large_ring_is_low, 0, PX_ARRAY_SIZE(marks_of));
	tcase_add_test(runs, auto_stop_of_a_small_ring_ends_when_it_is_empty);
	tcase_add_test(runs, auto_stop_does_not_end_another_window);
	tcase_add_test(runs, state_word_does_not_come_back_after_many_changes);
	suite_add_tcase(suite, runs);

	tcase_add_checked_fixture(last, set_up, tear_down);
	tcase_add_loop_test(last, last_stop_follows_its_table, 0, PX_ARRAY_SIZE(recoveries));
	suite_add_tcase(suite, last);

	return run_suite(suite);
}
