/* SPDX-License-Identifier: MIT */
/*
 * The layout of a trace buffer: a checker that uses no code of lib/ reads what lib/txtb/txtb.c writes.  First, the
 * tests of the checker show, with trace buffers that the test writes, that it accepts and refuses the same as the
 * viewer.
 */
#include "support/common.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "support/txtb_draft.h"
#include "txtb/txtb.h"

static struct txtb_trace trace;

/* Write one thread, and events at these stamps. */
static void draft_stamps(const uint32_t *stamps, size_t nr_stamps)
{
	draft_begin(false, DRAFT_NAME_SIZE);
	draft_add_object(1, 100, "thread");
	draft_begin_events();
	for (size_t i = 0; i < nr_stamps; i++)
		draft_add_event(100, 4096 + (uint32_t)i, stamps[i]);
	draft_end();
}

static void draft_simple(void)
{
	draft_stamps((const uint32_t[]){1000, 1010, 1030, 1060}, 4);
}

static enum txtb_verdict check_draft(void)
{
	return draft_check(draft.bytes, draft.size, &trace);
}

#define accepted(check) ck_assert_str_eq(txtb_verdict_name(check), txtb_verdict_name(TXTB_ACCEPTED))
#define refused(check, reason) ck_assert_str_eq(txtb_verdict_name(check), txtb_verdict_name(reason))

/* The checker: what it reads. */

START_TEST(checker_either_byte_order_reads_the_same)
{
	draft_begin(_i == 1, DRAFT_NAME_SIZE);
	draft_add_object(1, 0x01000002, "thread");
	draft_add_object(4, 0x04000001, "queue");
	draft_begin_events();
	draft_add_event(0x01000002, 0x02001234, 10);
	draft_add_event(0x01000002, 60, 20);
	draft_add_event(0x01000002, 61, 40);
	draft_end();
	accepted(check_draft());
	ck_assert_int_eq(trace.big_endian, _i == 1);
	ck_assert_uint_eq(trace.warnings, 0);
	ck_assert_uint_eq(trace.nr_registered, 2);
	ck_assert_uint_eq(trace.nr_objects, 2);
	ck_assert_str_eq(trace.objects[0].name, "thread");
	ck_assert_str_eq(trace.objects[1].name, "queue");
	ck_assert_uint_eq(trace.objects[1].handle, 0x04000001);
	ck_assert_uint_eq(trace.objects[0].nr_events, 3);
	ck_assert_uint_eq(trace.nr_events, 3);
	ck_assert_uint_eq(trace.events[0].id, 0x1234);
	ck_assert_uint_eq(trace.events[0].raw_id, 0x02001234);
	ck_assert_uint_eq(trace.events[0].priority, 5);
	ck_assert_uint_eq(trace.events[0].threshold, 7);
	ck_assert_uint_eq(trace.events[1].info[0], 60 * 16 + 20 * 256 + 1);
	ck_assert_uint_eq(trace.events[1].info[3], 60 * 16 + 20 * 256 + 4);
	ck_assert_uint_eq(trace.events[2].ticks, 30);
	ck_assert_uint_eq(trace.nr_bytes, draft.size);
}
END_TEST

START_TEST(checker_any_name_size_below_64_is_read)
{
	char name[80];

	memset(name, 'n', sizeof(name));
	name[_i] = '\0';
	draft_begin(false, (uint32_t)_i);
	draft_add_object(1, 100, name);
	draft_begin_events();
	for (uint32_t i = 0; i < 3; i++)
		draft_add_event(100, 4096, i);
	draft_end();
	accepted(check_draft());
	ck_assert_str_eq(trace.objects[0].name, name);
	ck_assert_uint_eq(trace.nr_events, 3);
	ck_assert_uint_eq(trace.warnings, _i == 0 ? TXTB_NAME_LOST : 0);
}
END_TEST

START_TEST(checker_name_warnings_tell_what_is_lost)
{
	static const struct {
		const char *name;
		uint32_t warnings;
	} cases[] = {
		{"plain name ~", 0},
		{"", TXTB_NAME_LOST},
		{"\x1f", TXTB_NAME_LOST},
		{"\x7f", TXTB_NAME_LOST},
		{"\xc3\xa9t\xc3\xa9", TXTB_NAME_LOST},
		{"caf\xc3\xa9", TXTB_NAME_AWKWARD},
		{"f(x", TXTB_NAME_AWKWARD},
		{"fx)", TXTB_NAME_AWKWARD},
		{"a_b", TXTB_NAME_AWKWARD},
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		draft_simple();
		memset(draft.bytes + 48 + 16, 0, DRAFT_NAME_SIZE);
		memcpy(draft.bytes + 48 + 16, cases[i].name, strlen(cases[i].name));
		accepted(check_draft());
		ck_assert_msg(trace.warnings == cases[i].warnings, "case %zu: %#x", i,
			      trace.warnings);
	}
}
END_TEST

START_TEST(checker_registry_slot_unused_is_skipped_and_available_is_not_looked_at)
{
	draft_begin(false, DRAFT_NAME_SIZE);
	draft_add_object(0, 100, "unused");
	draft_add_object(1, 100, "thread");
	draft_begin_events();
	draft_add_event(100, 4096, 1);
	draft_end();
	draft.bytes[48 + 16 + DRAFT_NAME_SIZE] = 1; /* available */
	accepted(check_draft());
	ck_assert_uint_eq(trace.nr_registry_slots, 2);
	ck_assert_uint_eq(trace.nr_registered, 1);
	ck_assert_str_eq(txtb_find(&trace, 100)->name, "thread");
	ck_assert_uint_eq(trace.warnings, 0);
}
END_TEST

START_TEST(checker_bytes_behind_last_slot_are_ignored)
{
	draft_simple();
	draft.size += 16;
	accepted(check_draft());
	ck_assert_uint_eq(trace.nr_events, 4);
	ck_assert_uint_eq(trace.nr_bytes, draft.size - 16);
}
END_TEST

START_TEST(checker_interrupt_and_initialize_contexts_are_no_threads)
{
	draft_begin(false, DRAFT_NAME_SIZE);
	draft_add_object(1, 100, "thread");
	draft_begin_events();
	draft_add_event(TXTB_INITIALIZE, 100, 1);
	draft_add_event(TXTB_INTERRUPT, 3, 2);
	draft_add_event(100, 4096, 3);
	draft_end();
	accepted(check_draft());
	ck_assert_uint_eq(trace.nr_objects, 1);
	ck_assert_uint_eq(trace.events[0].object, TXTB_NO_THREAD);
	ck_assert_uint_eq(trace.events[1].object, TXTB_NO_THREAD);
	ck_assert_uint_eq(trace.events[1].priority, 0x80070005); /* the interrupted thread */
	ck_assert_uint_eq(trace.events[2].object, 0);
	ck_assert_uint_eq(trace.warnings, 0);
}
END_TEST

/* The checker: what it refuses. */

START_TEST(checker_no_room_for_id_is_refused)
{
	draft_simple();
	for (size_t size = 0; size < 4; size++)
		refused(draft_check(draft.bytes, size, &trace), TXTB_NO_ID);
}
END_TEST

START_TEST(checker_other_id_is_refused)
{
	static const char *const ids[] = {"TXTC", "BTXU", "txtb", "XTBT", ":100"};

	for (size_t i = 0; i < sizeof(ids) / sizeof(ids[0]); i++) {
		draft_simple();
		memcpy(draft.bytes, ids[i], 4);
		refused(check_draft(), TXTB_BAD_ID);
	}
}
END_TEST

START_TEST(checker_name_size_64_and_more_is_refused)
{
	static const uint32_t sizes[] = {64, 65, 128, 0x8000, 0xFFFF};

	for (size_t i = 0; i < sizeof(sizes) / sizeof(sizes[0]); i++) {
		draft_simple();
		draft.name_size = sizes[i];
		draft_end();
		refused(check_draft(), TXTB_BAD_HEADER);
	}
}
END_TEST

START_TEST(checker_registry_of_no_length_is_refused)
{
	draft_simple();
	draft.registry_end = draft.registry_start;
	draft_end();
	refused(check_draft(), TXTB_BAD_REGISTRY);
	draft.registry_end = draft.registry_start - 1;
	draft_end();
	refused(check_draft(), TXTB_BAD_REGISTRY);
}
END_TEST

START_TEST(checker_buffer_of_no_or_monstrous_length_is_refused)
{
	draft_simple();
	draft.buffer_end = draft.buffer_start;
	draft_end();
	refused(check_draft(), TXTB_BAD_BUFFER);
	draft.buffer_end = draft.buffer_start - 32;
	draft_end();
	refused(check_draft(), TXTB_BAD_BUFFER);
	draft.buffer_end = draft.buffer_start + 0x08000000;
	draft_end();
	refused(check_draft(), TXTB_BAD_BUFFER);
	draft.buffer_end = draft.buffer_start + 0x07FFFFFF;
	draft_end();
	refused(check_draft(), TXTB_CUT_BUFFER);
}
END_TEST

/* The verdict on a truncated file depends on where it ends; the test tries each byte of a small file. */
START_TEST(checker_file_cut_anywhere_is_refused_for_its_place)
{
	size_t entries = 48 + 16 + DRAFT_NAME_SIZE;

	draft_simple();
	for (size_t size = 4; size < draft.size; size++)
		refused(draft_check(draft.bytes, size, &trace), size < 48      ? TXTB_BAD_HEADER :
								size < entries ? TXTB_CUT_REGISTRY :
										 TXTB_CUT_BUFFER);
	accepted(check_draft());
}
END_TEST

START_TEST(checker_file_may_end_behind_one_unused_slot)
{
	draft_simple();
	draft_add_event(0, 0, 0);
	draft.buffer_end += 320; /* slots that the file does not have */
	draft_end();
	accepted(check_draft());
	ck_assert_uint_eq(trace.nr_events, 4);
	ck_assert_uint_eq(trace.nr_event_slots, 15);
	refused(draft_check(draft.bytes, draft.size - 1, &trace), TXTB_CUT_BUFFER);
}
END_TEST

START_TEST(checker_no_event_is_accepted)
{
	draft_begin(false, DRAFT_NAME_SIZE);
	draft_add_object(0, 0, "");
	draft_begin_events();
	draft_add_event(0, 0, 0);
	draft_end();
	accepted(check_draft());
	ck_assert_uint_eq(trace.nr_events, 0);
	ck_assert_uint_eq(trace.nr_objects, 0);
	ck_assert_uint_eq(trace.warnings, 0);
}
END_TEST

/*
 * The viewer does not use addresses to find parts.  So if the size of the registry is no multiple of an entry, all
 * events shift.
 */
START_TEST(checker_registry_with_slack_shifts_the_events)
{
	draft_simple();
	draft.registry_end += 8; /* 8 bytes in the middle of the file */
	memmove(draft.bytes + 96 + 8, draft.bytes + 96, draft.size - 96);
	memset(draft.bytes + 96, 0, 8);
	draft.size += 8;
	draft_end();
	accepted(check_draft());
	ck_assert_uint_eq(trace.nr_events, 0); /* the first event looks unused */
	ck_assert_uint_eq(trace.warnings, TXTB_SLACK_IN_REGISTRY);
}
END_TEST

START_TEST(checker_hostile_bytes_are_never_read_beyond)
{
	uint64_t random = test_seed();

	for (int round = 0; round < 20000; round++) {
		draft_simple();
		for (uint64_t n = next_random(&random) % 8 + 1; n > 0; n--) {
			/* Mostly the header, where most faults are possible. */
			size_t end = next_random(&random) % 4 ? 48 : draft.size;

			draft.bytes[next_random(&random) % end] =
				(unsigned char)next_random(&random);
		}
		draft_check(draft.bytes, next_random(&random) % (draft.size + 1), &trace);
		ck_assert_uint_le(trace.nr_events, draft.size / 32);
		ck_assert_uint_le(trace.nr_bytes, draft.size);
	}
}
END_TEST

/* The checker: order. */

static void draft_ring(uint32_t current, uint32_t hole)
{
	draft_begin(false, DRAFT_NAME_SIZE);
	draft_add_object(1, 100, "thread");
	draft_begin_events();
	for (uint32_t i = 0; i < 10; i++)
		draft_add_event(i == hole ? 0 : 100, 4096 + i, 1000 + (i + 10 - current) % 10 * 7);
	draft.current = draft.buffer_start + 32 * current;
	draft_end();
}

static void expect_order(const uint32_t *slots, uint32_t nr_slots)
{
	ck_assert_uint_eq(trace.nr_events, nr_slots);
	for (uint32_t i = 0; i < nr_slots; i++) {
		ck_assert_uint_eq(trace.events[i].slot, slots[i]);
		ck_assert_uint_eq(trace.events[i].id, 4096 + slots[i]);
	}
}

START_TEST(checker_wrapped_buffer_begins_at_current)
{
	draft_ring((uint32_t)_i, 99);
	accepted(check_draft());
	ck_assert_uint_eq(trace.nr_events, 10);
	for (uint32_t i = 0; i < 10; i++) {
		ck_assert_uint_eq(trace.events[i].slot, ((uint32_t)_i + i) % 10);
		ck_assert_uint_eq(trace.events[i].ticks, i * 7);
	}
	ck_assert_uint_eq(trace.warnings, 0);
}
END_TEST

START_TEST(checker_current_that_is_no_slot_leaves_the_file_order)
{
	static const uint32_t all[] = {0, 1, 2, 3, 4, 5, 6, 7, 8, 9};
	const uint32_t distances[] = {1, 16, 33, 320, 352, (uint32_t)-32, (uint32_t)-1};

	for (size_t i = 0; i < sizeof(distances) / sizeof(distances[0]); i++) {
		draft_ring(0, 99);
		draft.current += distances[i];
		draft_end();
		accepted(check_draft());
		expect_order(all, 10);
	}
}
END_TEST

START_TEST(checker_hole_before_current_hides_the_oldest_part)
{
	static const uint32_t left[] = {0, 1};

	draft_ring(5, 2);
	accepted(check_draft());
	expect_order(left, 2);
}
END_TEST

START_TEST(checker_hole_behind_current_hides_the_rest_of_it)
{
	static const uint32_t left[] = {5, 6, 0, 1, 2, 3, 4};

	draft_ring(5, 7);
	accepted(check_draft());
	expect_order(left, 7);
}
END_TEST

/* The checker: time. */

static const struct {
	const char *what;
	uint32_t mask;
	uint32_t nr_stamps;
	uint32_t stamps[8];
	uint64_t last; /* ticks of the last event */
	uint32_t warnings;
} times[] = {
	{"rising", UINT32_MAX, 4, {5, 6, 8, 11}, 6, 0},
	{"one event", UINT32_MAX, 1, {5}, 0, 0},
	{"two events have no vote",
	 UINT32_MAX,
	 2,
	 {100, 150},
	 4294967246u,
	 TXTB_TIME_FALLS | TXTB_TIME_STEPS_BACK},
	{"three events have one", UINT32_MAX, 3, {100, 150, 160}, 60, 0},
	{"the first step has none",
	 UINT32_MAX,
	 3,
	 {100, 90, 160},
	 UINT64_C(4294967286) + 70,
	 TXTB_TIME_STEPS_BACK},
	{"falling", UINT32_MAX, 4, {11, 8, 6, 5}, 6, TXTB_TIME_FALLS},
	{"a tie falls",
	 UINT32_MAX,
	 4,
	 {100, 100, 110, 100},
	 UINT64_C(4294967286) + 10,
	 TXTB_TIME_FALLS | TXTB_TIME_STEPS_BACK},
	{"all equal", UINT32_MAX, 4, {9, 9, 9, 9}, 0, TXTB_TIME_FALLS},
	{"ten ticks early",
	 UINT32_MAX,
	 5,
	 {100, 110, 120, 110, 130},
	 20 + UINT64_C(4294967286) + 20,
	 TXTB_TIME_STEPS_BACK},
	{"wrap",
	 UINT32_MAX,
	 5,
	 {0xFFFFFF00, 0xFFFFFF80, 0xFFFFFFF0, 0x10, 0x20},
	 0x120,
	 TXTB_TIME_STEPS_BACK},
	{"wrap of 16 bits",
	 0xFFFF,
	 5,
	 {0xFF00, 0xFF80, 0xFFF0, 0x10, 0x20},
	 0x120,
	 TXTB_TIME_STEPS_BACK},
	{"the mask is applied", 0xFFFF, 4, {0x70001, 0x30002, 0x90003, 0x20005}, 4, 0},
	{"nanoseconds of a second",
	 UINT32_MAX,
	 4,
	 {0, 400000000, 900000000, 1900000000},
	 1900000000,
	 0},
	{"a mask with a gap",
	 0xFFFE0000,
	 4,
	 {0, 0x20000, 0x40000, 0x60000},
	 0x60000,
	 TXTB_MASK_ODD},
};

START_TEST(checker_time_is_unwrapped_in_the_voted_direction)
{
	draft_stamps(times[_i].stamps, times[_i].nr_stamps);
	draft.time_mask = times[_i].mask;
	draft_end();
	accepted(check_draft());
	ck_assert_msg(trace.events[trace.nr_events - 1].ticks == times[_i].last,
		      "%s: last event at %llu", times[_i].what,
		      (unsigned long long)trace.events[trace.nr_events - 1].ticks);
	ck_assert_msg(trace.warnings == times[_i].warnings, "%s: warnings %#x", times[_i].what,
		      trace.warnings);
}
END_TEST

/* Steps of three quarters of the range look like steps back by a quarter, so the vote chooses the wrong direction. */
START_TEST(checker_steps_beyond_half_the_range_are_shown_as_a_third)
{
	uint32_t stamps[21];

	for (uint32_t i = 0; i < 21; i++)
		stamps[i] = i * 0xC0000000u;
	draft_stamps(stamps, 21);
	accepted(check_draft());
	ck_assert(trace.warnings & TXTB_TIME_FALLS);
	ck_assert_uint_eq(trace.events[20].ticks, 20 * (UINT64_C(0xC0000000) / 3));
}
END_TEST

START_TEST(checker_first_steps_of_both_parts_have_no_vote)
{
	/* In the order of the file: two events after the oldest, then the oldest two. */
	draft_stamps((const uint32_t[]){300, 400, 100, 200}, 4);
	draft.current = draft.buffer_start + 64;
	draft_end();
	accepted(check_draft());
	ck_assert_uint_eq(trace.nr_up + trace.nr_down, 0);
	ck_assert_uint_eq(trace.warnings, TXTB_TIME_FALLS | TXTB_TIME_STEPS_BACK);

	draft_stamps((const uint32_t[]){400, 500, 100, 200, 300}, 5);
	draft.current = draft.buffer_start + 64;
	draft_end();
	accepted(check_draft());
	ck_assert_uint_eq(trace.nr_up, 1);
	ck_assert_uint_eq(trace.nr_down, 0);
	ck_assert_uint_eq(trace.events[4].ticks, 400);
	ck_assert_uint_eq(trace.warnings, 0);
}
END_TEST

/* The checker: threads. */

START_TEST(checker_context_without_object_is_one_unnamed_thread)
{
	draft_begin(false, DRAFT_NAME_SIZE);
	draft_add_object(1, 100, "thread");
	draft_begin_events();
	for (uint32_t i = 0; i < 6; i++)
		draft_add_event(i % 2 ? 200 : 100, 4096, i);
	draft_end();
	accepted(check_draft());
	ck_assert_uint_eq(trace.nr_objects, 2);
	ck_assert_uint_eq(trace.nr_registered, 1);
	ck_assert_str_eq(txtb_find(&trace, 200)->name, "Un-named Thread");
	ck_assert_uint_eq(txtb_find(&trace, 200)->nr_events, 3);
	ck_assert_uint_eq(trace.warnings, TXTB_CONTEXT_UNNAMED);
}
END_TEST

START_TEST(checker_context_that_first_matches_another_object_explodes)
{
	draft_begin(false, DRAFT_NAME_SIZE);
	draft_add_object(4, 100, "queue");
	draft_add_object(1, 100, "thread");
	draft_begin_events();
	for (uint32_t i = 0; i < 50; i++)
		draft_add_event(100, 4096, i);
	draft_end();
	accepted(check_draft());
	ck_assert_uint_eq(trace.nr_objects, 52);
	ck_assert_uint_eq(trace.warnings, TXTB_CONTEXT_NO_THREAD | TXTB_HANDLE_TWICE);
}
END_TEST

START_TEST(checker_second_object_of_a_handle_is_never_found)
{
	draft_begin(false, DRAFT_NAME_SIZE);
	draft_add_object(1, 100, "first");
	draft_add_object(1, 100, "second");
	draft_begin_events();
	for (uint32_t i = 0; i < 3; i++)
		draft_add_event(100, 4096, i);
	draft_end();
	accepted(check_draft());
	ck_assert_str_eq(txtb_find(&trace, 100)->name, "first");
	ck_assert_uint_eq(trace.objects[0].nr_events, 3);
	ck_assert_uint_eq(trace.objects[1].nr_events, 0);
	ck_assert_uint_eq(trace.warnings, TXTB_HANDLE_TWICE);
}
END_TEST

START_TEST(checker_odd_handles_and_equal_names_are_warned_of)
{
	draft_begin(false, DRAFT_NAME_SIZE);
	draft_add_object(1, TXTB_INITIALIZE + 1, "name");
	draft_add_object(6, 7, "name");
	draft_begin_events();
	for (uint32_t i = 0; i < 3; i++)
		draft_add_event(TXTB_INITIALIZE + 1, 4096, i);
	draft_end();
	accepted(check_draft());
	ck_assert_uint_eq(trace.warnings, TXTB_HANDLE_RESERVED | TXTB_NAME_TWICE);
}
END_TEST

/* The checker on the traces of tests/data/. */

static const char *const described[] = {"threadx", "filex", "netx_tcp", "netx_udp"};

START_TEST(checker_described_trace_is_accepted_and_time_rises)
{
	static unsigned char bytes[1 << 16];
	size_t size = px_test_make_trace(described[_i], bytes, sizeof(bytes));

	accepted(draft_check(bytes, size, &trace));
	ck_assert_uint_gt(trace.nr_events, 100);
	ck_assert_uint_gt(trace.nr_registered, 1);
	ck_assert_uint_ne(trace.nr_up, trace.nr_down); /* one of the timers counts down */
	ck_assert_uint_gt(trace.events[trace.nr_events - 1].ticks, 0);
	for (uint32_t i = 1; i < trace.nr_events; i++)
		ck_assert_uint_ge(trace.events[i].ticks, trace.events[i - 1].ticks);
	ck_assert(!(trace.warnings &
		    (TXTB_CONTEXT_NO_THREAD | TXTB_CONTEXT_UNNAMED | TXTB_SLACK_IN_REGISTRY)));
	printf("%s: %u events, %u objects, %llu ticks, %u wraps\n", described[_i], trace.nr_events,
	       trace.nr_registered, (unsigned long long)trace.events[trace.nr_events - 1].ticks,
	       trace.nr_steps_back);
}
END_TEST

/* The checker reads what lib/txtb/txtb.c writes. */

#define IMAGE_BYTES (1 << 20)

static union {
	uint64_t words[IMAGE_BYTES / 8];
	char bytes[IMAGE_BYTES];
} image;

static struct px_txtb_object *object_at(uint32_t i)
{
	return (struct px_txtb_object *)(image.bytes + px_txtb_entries_offset(i));
}

static struct px_txtb_entry *entry_at(uint32_t nr_objects, uint32_t i)
{
	return (struct px_txtb_entry *)(image.bytes + px_txtb_image_size(nr_objects, i));
}

static void make_image(uint32_t nr_objects, uint32_t nr_entries)
{
	memset(&image, 0, sizeof(image));
	px_txtb_header_init((struct px_txtb_header *)image.bytes, nr_objects, PX_TXTB_NAME_SIZE,
			    nr_entries);
}

static enum txtb_verdict check_image(uint32_t nr_objects, uint32_t nr_entries)
{
	return draft_check(image.bytes, px_txtb_image_size(nr_objects, nr_entries), &trace);
}

START_TEST(header_any_size_is_accepted_and_fits_exactly)
{
	static const uint32_t sizes[] = {1, 2, 3, 31, 268, 1000};

	for (size_t i = 0; i < PX_ARRAY_SIZE(sizes); i++) {
		for (size_t k = 0; k < PX_ARRAY_SIZE(sizes); k++) {
			uint32_t nr_objects = sizes[i], nr_entries = sizes[k];

			make_image(nr_objects, nr_entries);
			accepted(check_image(nr_objects, nr_entries));
			ck_assert_uint_eq(trace.nr_registry_slots, nr_objects);
			ck_assert_uint_eq(trace.nr_event_slots, nr_entries);
			ck_assert_uint_eq(trace.name_size, PX_TXTB_NAME_SIZE);
			ck_assert_uint_eq(trace.time_mask, UINT32_MAX);
			ck_assert_uint_eq(trace.warnings, 0);
			for (uint32_t e = 0; e < nr_entries; e++)
				entry_at(nr_objects, e)->context = 1;
			accepted(check_image(nr_objects, nr_entries));
			ck_assert_uint_eq(trace.nr_bytes,
					  px_txtb_image_size(nr_objects, nr_entries));
			refused(draft_check(image.bytes, px_txtb_image_size(nr_objects, nr_entries) - 1, &trace),
				TXTB_CUT_BUFFER);
		}
	}
}
END_TEST

START_TEST(header_is_in_this_machines_byte_order)
{
	make_image(1, 1);
	accepted(check_image(1, 1));
	ck_assert_int_eq(trace.big_endian, __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__);
}
END_TEST

START_TEST(entry_fields_are_where_the_viewer_reads_them)
{
	make_image(1, 3);
	px_txtb_object_init(object_at(0), PX_TXTB_THREAD, 0x01000001, 120, "worker");
	for (uint32_t i = 0; i < 3; i++)
		*entry_at(1, i) = (struct px_txtb_entry){
			.context = 0x01000001,
			.priority = px_txtb_priority_word(120),
			.id = 3u << 24 | (PX_TXTB_USER_EVENT + 17),
			.stamp = 100 * i,
			.info = {i, 20, 30, 0xFFFFFFFF},
		};
	accepted(check_image(1, 3));
	ck_assert_uint_eq(trace.warnings, 0);
	ck_assert_uint_eq(trace.nr_events, 3);
	ck_assert_uint_eq(trace.events[2].context, 0x01000001);
	ck_assert_uint_eq(trace.events[2].priority, 120);
	ck_assert_uint_eq(trace.events[2].threshold, 120);
	ck_assert_uint_eq(trace.events[2].id, 4096 + 17);
	ck_assert_uint_eq(trace.events[2].raw_id, 0x03001011);
	ck_assert_uint_eq(trace.events[2].ticks, 200);
	ck_assert_uint_eq(trace.events[2].info[0], 2);
	ck_assert_uint_eq(trace.events[2].info[1], 20);
	ck_assert_uint_eq(trace.events[2].info[2], 30);
	ck_assert_uint_eq(trace.events[2].info[3], 0xFFFFFFFF);
	ck_assert_str_eq(trace.objects[trace.events[2].object].name, "worker");
}
END_TEST

START_TEST(object_priority_of_a_thread_is_told_and_of_others_not)
{
	for (uint32_t priority = 0; priority < 1024; priority++) {
		make_image(2, 1);
		px_txtb_object_init(object_at(0), PX_TXTB_THREAD, 1, priority, "thread");
		px_txtb_object_init(object_at(1), PX_TXTB_EVENT_TYPE, 2, priority, "type");
		accepted(check_image(2, 1));
		ck_assert_uint_eq(trace.objects[0].priority, priority);
		ck_assert_uint_eq(trace.objects[0].type, 1);
		ck_assert_uint_eq(trace.objects[1].priority, UINT32_MAX);
		ck_assert_uint_eq(trace.objects[1].type, 15);
		ck_assert_uint_eq(px_txtb_priority_word(priority) & 0x3FF, priority);
		ck_assert_uint_eq(px_txtb_priority_word(priority) >> 16, 0x8000 | priority);
	}
}
END_TEST

/* The viewer can show a name with any bytes at any place. */
START_TEST(object_name_of_any_bytes_is_shown)
{
	for (unsigned int byte = 1; byte < 256; byte++) {
		char name[4] = {'a', 'b', 'c', '\0'};

		for (int place = 0; place < 3; place++) {
			memcpy(name, "abc", 3);
			name[place] = (char)byte;
			make_image(1, 1);
			px_txtb_object_init(object_at(0), PX_TXTB_THREAD, 1, 0, name);
			accepted(check_image(1, 1));
			ck_assert_msg(trace.warnings == 0, "byte %u at %d: %#x", byte, place,
				      trace.warnings);
			ck_assert_uint_eq(strlen(trace.objects[0].name), 3);
			if (byte >= 0x20 && byte <= 0x7E && !strchr("()_", (int)byte))
				ck_assert_str_eq(trace.objects[0].name, name);
		}
	}
}
END_TEST

START_TEST(object_name_empty_is_shown)
{
	make_image(1, 1);
	px_txtb_object_init(object_at(0), PX_TXTB_THREAD, 1, 0, "");
	accepted(check_image(1, 1));
	ck_assert_uint_eq(trace.warnings, 0);
}
END_TEST

START_TEST(object_name_of_any_length_is_kept_or_cut_at_the_field)
{
	char name[100];

	for (size_t length = 1; length < sizeof(name); length++) {
		size_t kept = length < PX_TXTB_NAME_SIZE ? length : PX_TXTB_NAME_SIZE;

		for (size_t i = 0; i < length; i++)
			name[i] = (char)('a' + i % 26);
		name[length] = '\0';
		make_image(2, 1);
		px_txtb_object_init(object_at(0), PX_TXTB_THREAD, 1, 0, name);
		px_txtb_object_init(object_at(1), PX_TXTB_THREAD, 2, 0, "next");
		accepted(check_image(2, 1));
		ck_assert_uint_eq(strlen(trace.objects[0].name), kept);
		ck_assert_int_eq(memcmp(trace.objects[0].name, name, kept), 0);
		ck_assert_str_eq(trace.objects[1].name, "next");
	}
}
END_TEST

START_TEST(object_init_over_an_older_one_leaves_nothing_of_it)
{
	make_image(1, 1);
	memset(object_at(0), 0xFF, sizeof(struct px_txtb_object));
	px_txtb_object_init(object_at(0), PX_TXTB_EVENT_TYPE, 5, 0, "x");
	accepted(check_image(1, 1));
	ck_assert_str_eq(trace.objects[0].name, "x");
	ck_assert_uint_eq(trace.objects[0].available, 0);
	ck_assert_uint_eq(trace.objects[0].parameter1, 0);
	ck_assert_uint_eq(trace.objects[0].parameter2, 0);
}
END_TEST

START_TEST(handles_of_all_types_and_serials_are_unique_and_in_range)
{
	static const uint32_t serials[] = {0, 1, 2, 0xFFFFFE, 0xFFFFFF};
	static const enum px_txtb_object_type types[] = {PX_TXTB_THREAD, PX_TXTB_EVENT_TYPE};
	uint32_t last = 0;

	for (size_t t = 0; t < PX_ARRAY_SIZE(types); t++) {
		for (size_t s = 0; s < PX_ARRAY_SIZE(serials); s++) {
			uint32_t handle = px_txtb_handle(types[t], serials[s]);

			ck_assert_uint_gt(handle, last);
			ck_assert_uint_lt(handle, TXTB_INITIALIZE);
			last = handle;
		}
	}
	/* A serial that is too large stays inside its type. */
	ck_assert_uint_eq(px_txtb_handle(PX_TXTB_THREAD, 0x01000005) >> 24, PX_TXTB_THREAD);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("txtb");
	TCase *checker = tcase_create("checker");
	TCase *library = tcase_create("library");

	tcase_set_timeout(checker, 60);
	tcase_add_loop_test(checker, checker_either_byte_order_reads_the_same, 0, 2);
	tcase_add_loop_test(checker, checker_any_name_size_below_64_is_read, 0, 64);
	tcase_add_test(checker, checker_name_warnings_tell_what_is_lost);
	tcase_add_test(checker,
		       checker_registry_slot_unused_is_skipped_and_available_is_not_looked_at);
	tcase_add_test(checker, checker_bytes_behind_last_slot_are_ignored);
	tcase_add_test(checker, checker_interrupt_and_initialize_contexts_are_no_threads);
	tcase_add_test(checker, checker_no_room_for_id_is_refused);
	tcase_add_test(checker, checker_other_id_is_refused);
	tcase_add_test(checker, checker_name_size_64_and_more_is_refused);
	tcase_add_test(checker, checker_registry_of_no_length_is_refused);
	tcase_add_test(checker, checker_buffer_of_no_or_monstrous_length_is_refused);
	tcase_add_test(checker, checker_file_cut_anywhere_is_refused_for_its_place);
	tcase_add_test(checker, checker_file_may_end_behind_one_unused_slot);
	tcase_add_test(checker, checker_no_event_is_accepted);
	tcase_add_test(checker, checker_registry_with_slack_shifts_the_events);
	tcase_add_test(checker, checker_hostile_bytes_are_never_read_beyond);
	tcase_add_loop_test(checker, checker_wrapped_buffer_begins_at_current, 0, 10);
	tcase_add_test(checker, checker_current_that_is_no_slot_leaves_the_file_order);
	tcase_add_test(checker, checker_hole_before_current_hides_the_oldest_part);
	tcase_add_test(checker, checker_hole_behind_current_hides_the_rest_of_it);
	tcase_add_loop_test(checker, checker_time_is_unwrapped_in_the_voted_direction, 0,
			    PX_ARRAY_SIZE(times));
	tcase_add_test(checker, checker_steps_beyond_half_the_range_are_shown_as_a_third);
	tcase_add_test(checker, checker_first_steps_of_both_parts_have_no_vote);
	tcase_add_test(checker, checker_context_without_object_is_one_unnamed_thread);
	tcase_add_test(checker, checker_context_that_first_matches_another_object_explodes);
	tcase_add_test(checker, checker_second_object_of_a_handle_is_never_found);
	tcase_add_test(checker, checker_odd_handles_and_equal_names_are_warned_of);
	tcase_add_loop_test(checker, checker_described_trace_is_accepted_and_time_rises, 0,
			    PX_ARRAY_SIZE(described));
	suite_add_tcase(suite, checker);

	tcase_set_timeout(library, 60);
	tcase_add_test(library, header_any_size_is_accepted_and_fits_exactly);
	tcase_add_test(library, header_is_in_this_machines_byte_order);
	tcase_add_test(library, entry_fields_are_where_the_viewer_reads_them);
	tcase_add_test(library, object_priority_of_a_thread_is_told_and_of_others_not);
	tcase_add_test(library, object_name_of_any_bytes_is_shown);
	tcase_add_test(library, object_name_empty_is_shown);
	tcase_add_test(library, object_name_of_any_length_is_kept_or_cut_at_the_field);
	tcase_add_test(library, object_init_over_an_older_one_leaves_nothing_of_it);
	tcase_add_test(library, handles_of_all_types_and_serials_are_unique_and_in_range);
	suite_add_tcase(suite, library);

	return run_suite(suite);
}
