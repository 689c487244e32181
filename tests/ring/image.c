/* SPDX-License-Identifier: MIT */
/*
 * Rings as trace buffers: the viewer accepts any copy of the bytes of a ring.  A copy that the library makes is also in
 * order, on the right time axis, and complete. txtb_checker.c checks this.
 */
#include "support/common.h"

#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <trace_ext.h>
#include <unistd.h>

#include "ring/image.h"
#include "stream/handle.h"
#include "stream/stream.h"
#include "support/txtb_checker.h"

#define NR_FILLERS 3
#define SLOT_BYTES 80

static trace_id_t trid;
static const struct px_view *view;
static const struct px_timeline *timeline;
static struct txtb_trace trace;

static uint64_t to_ticks(uint64_t counter_distance, double tick_ns)
{
	double ns = (double)px_timeline_scale(timeline) / (double)(UINT64_C(1) << 48);

	return (uint64_t)((double)counter_distance * ns / tick_ns + 0.001);
}

/* Make a looping stream, whose rings have at least nr_slots slots. */
static void new_stream(uint32_t nr_slots, size_t max_data, unsigned int nr_rings)
{
	struct px_stream *stream;

	trid = px_test_create(&(struct px_test_stream){.size = (size_t)nr_slots / 2 * SLOT_BYTES,
						       .max_data = max_data,
						       .nr_rings = nr_rings});
	stream = px_handle_lock(trid);
	ck_assert_ptr_nonnull(stream);
	view = &stream->view;
	timeline = &stream->reader.timeline;
	px_handle_unlock(trid);
}

/* Without START, so the rings have only what the test writes. */
static void start_silently(void)
{
	trace_event_set_t set;

	ok(posix_trace_eventset_empty(&set));
	ok(posix_trace_eventset_add(POSIX_TRACE_START, &set));
	ok(posix_trace_set_filter(trid, &set, POSIX_TRACE_SET_EVENTSET));
	ok(posix_trace_start(trid));
}

static void new_quiet_stream(uint32_t nr_slots)
{
	new_stream(nr_slots, 0, 1);
	start_silently();
}

static struct px_ring ring_at(uint32_t i)
{
	return px_rings_get(&view->rings, i);
}

static uint32_t nr_slots_of_ring(void)
{
	return view->rings.nr_slots;
}

/* Copies. */

static void *raw_copy;

static size_t raw_size(void)
{
	return px_txtb_image_size(PX_TXTB_LIVE_OBJECTS, nr_slots_of_ring());
}

/*
 * Read the words in their order, as a debugger does.  memcpy() may load a later line first: then an object that is
 * added meanwhile has its type, which was stored last, and not yet its name.
 */
static void copy_in_order(unsigned char *to, const void *from, size_t size)
{
	const uint32_t *words = from;

	for (size_t i = 0; i < size / sizeof(*words); i++) {
		uint32_t word = px_load_acquire(&words[i]);

		memcpy(to + i * sizeof(word), &word, sizeof(word));
	}
}

/* Copy like a program that knows nothing of rings: one word after another, while other threads write. */
static void copy_raw(uint32_t i)
{
	struct px_ring ring = ring_at(i);

	if (!raw_copy)
		raw_copy = malloc(raw_size());
	ck_assert_ptr_nonnull(raw_copy);
	copy_in_order(raw_copy, px_ring_image(&ring), raw_size());
	txtb_free(&trace);
	ck_assert_str_eq(txtb_verdict_name(txtb_check(raw_copy, raw_size(), &trace)), "accepted");
	ck_assert_uint_eq(trace.nr_event_slots, nr_slots_of_ring());
	ck_assert_uint_eq(trace.nr_registry_slots, PX_TXTB_LIVE_OBJECTS);
	ck_assert(!(trace.warnings & TXTB_CONTEXT_NO_THREAD));
}

/*
 * What a raw copy may show wrong: it starts at the beginning of the ring, and not with the oldest event.  Its stamps
 * are the low 32 bits of the counter, which wrap after a second or two, so a slow test sees a wrap.
 */
#define RAW_WARNINGS (TXTB_TIME_FALLS | TXTB_TIME_STEPS_BACK)

static double copied_tick_ns;

/* Copy in one call: the buffer is as large as a full ring with a full table of objects. */
static void copy_ring(uint32_t i)
{
	uint32_t nr_slots = nr_slots_of_ring();
	size_t size = px_txtb_image_size(nr_slots + PX_THREADS_MAX + PX_EVENT_IDS,
					 NR_FILLERS + nr_slots);
	void *buffer = malloc(size);
	size_t length = 0;

	ck_assert_ptr_nonnull(buffer);
	ok(txtrace_copy_ring(trid, i, buffer, size, &length, &copied_tick_ns));
	ck_assert_uint_le(length, size);
	txtb_free(&trace);
	ck_assert_str_eq(txtb_verdict_name(txtb_check(buffer, length, &trace)), "accepted");
	ck_assert_uint_eq(trace.nr_bytes, length);
	ck_assert_uint_eq(trace.nr_events, trace.nr_event_slots);
	free(buffer);
}

/* What holds for every copy of the library. */
static void expect_sound_copy(uint32_t allowed_warnings)
{
	ck_assert_msg(!(trace.warnings & ~allowed_warnings), "warnings %#x", trace.warnings);
	ck_assert_uint_ge(trace.nr_events, NR_FILLERS);
	for (uint32_t i = 0; i < NR_FILLERS; i++)
		ck_assert_uint_eq(trace.events[i].id, PX_TXTB_RUNNING);
	ck_assert_uint_gt(trace.nr_up, trace.nr_down);
	for (uint32_t i = 0; i < trace.nr_events; i++) {
		ck_assert_uint_lt(trace.events[i].object, trace.nr_registered);
		ck_assert_uint_eq(trace.events[i].threshold, trace.events[i].priority);
	}
}

/* Return the first event of the copy after the fillers. */
static uint32_t nr_copied(void)
{
	return trace.nr_events - NR_FILLERS;
}

static const struct txtb_event *copied(uint32_t i)
{
	ck_assert_uint_lt(i, nr_copied());
	return &trace.events[NR_FILLERS + i];
}

/* Read the ring while no thread writes: the counters of all complete records, one slot each. */
struct truth {
	uint32_t nr_slots;
	uint64_t *counter;
	uint32_t *id;
};

static struct truth find_truth(uint32_t i)
{
	struct px_ring ring = ring_at(i);
	uint64_t head = px_read_once(&ring.control->head), word;
	struct truth truth = {.counter = calloc(nr_slots_of_ring(), sizeof(uint64_t)),
			      .id = calloc(nr_slots_of_ring(), sizeof(uint32_t))};
	struct px_record record;

	for (uint64_t p = head - nr_slots_of_ring(); p != head; p++) {
		if (px_ring_look(&ring, p, head, &word) != PX_LOOK_RECORD)
			continue;
		ck_assert(px_record_read(&ring, p, word, &record, NULL, 0));
		for (uint32_t k = 0; k < record.nr_slots; k++) {
			truth.counter[truth.nr_slots] = record.counter;
			truth.id[truth.nr_slots++] = k == 0 ? PX_TXTB_USER_EVENT + record.id :
							      PX_TXTB_DATA;
		}
	}
	return truth;
}

/* The copy has the events of the ring, with their order and times. */
static void expect_copy_is_true(uint32_t i)
{
	struct truth truth = find_truth(i);

	ck_assert_uint_eq(nr_copied(), truth.nr_slots);
	for (uint32_t k = 0; k < truth.nr_slots; k++) {
		uint64_t ticks = copied(k)->ticks - copied(0)->ticks;
		uint64_t wanted = to_ticks(truth.counter[k] - truth.counter[0], copied_tick_ns);

		ck_assert_uint_eq(copied(k)->id, truth.id[k]);
		ck_assert_msg(ticks - wanted + 1 <= 2, "event %u: %llu ticks, not %llu", k,
			      (unsigned long long)ticks, (unsigned long long)wanted);
	}
	free(truth.counter);
	free(truth.id);
}

/* Copy ring i while no thread writes. */
static void expect_right_copy(uint32_t i)
{
	copy_ring(i);
	expect_sound_copy(0);
	expect_copy_is_true(i);
}

/* Expect that the copy has events with these numbers, one after another. */
static void expect_numbers(uint32_t first, uint32_t count)
{
	ck_assert_uint_eq(nr_copied(), count);
	for (uint32_t i = 0; i < count; i++)
		ck_assert_uint_eq(copied(i)->info[0], first + i);
}

static void write_numbers(trace_event_id_t type, uint32_t first, uint32_t count)
{
	for (uint32_t i = 0; i < count; i++)
		px_test_trace(type, first + i);
}

/* Raw copies. */

START_TEST(raw_copy_of_new_ring_is_an_empty_trace)
{
	new_stream(256, 0, (unsigned int)_i);
	for (uint32_t i = 0; i < view->rings.nr_rings; i++) {
		copy_raw(i);
		ck_assert_uint_eq(trace.nr_events, 0);
		ck_assert_uint_eq(trace.warnings, 0);
	}
}
END_TEST

START_TEST(raw_copy_of_partial_ring_has_all_events)
{
	trace_event_id_t type = px_test_open_type("some type");

	new_quiet_stream(256);
	for (uint32_t n = 1; n < nr_slots_of_ring(); n++) {
		px_test_trace(type, n);
		copy_raw(0);
		ck_assert_uint_eq(trace.nr_events, n);
		ck_assert_uint_eq(trace.events[n - 1].info[0], n);
		ck_assert_uint_eq(trace.events[n - 1].id, PX_TXTB_USER_EVENT + type);
		/* Three events are the least that decide the direction of time. */
		ck_assert_uint_eq(trace.warnings & ~(n < 3 ? (uint32_t)RAW_WARNINGS : 0), 0);
	}
}
END_TEST

START_TEST(raw_copy_of_wrapped_ring_has_a_ring_of_events)
{
	trace_event_id_t type = px_test_open_type("some type");

	new_quiet_stream(256);
	for (uint32_t n = 0; n < 3 * nr_slots_of_ring(); n++) {
		px_test_trace(type, n);
		if (n < nr_slots_of_ring())
			continue;
		copy_raw(0);
		ck_assert_uint_eq(trace.nr_events, nr_slots_of_ring());
		ck_assert_uint_eq(trace.warnings & ~RAW_WARNINGS, 0);
		ck_assert_uint_eq(trace.events[n % nr_slots_of_ring()].info[0], n);
	}
}
END_TEST

static uint32_t stop_writing, nr_writing;

static void *write_all_the_time(void *argument)
{
	uint32_t thread = *(uint32_t *)argument;
	uint32_t data[100] = {thread};
	bool is_first = true;

	while (!px_load_acquire(&stop_writing)) {
		data[1]++;
		/* Mostly one slot, sometimes eight. */
		posix_trace_event(POSIX_TRACE_UNNAMED_USEREVENT, data, data[1] % 7 ? 8 : 400);
		if (is_first)
			px_fetch_add(&nr_writing, 1);
		is_first = false;
	}
	return NULL;
}

#define NR_WRITERS 4

static pthread_t writers[NR_WRITERS];
static uint32_t writer_numbers[NR_WRITERS];

static void start_writers(void)
{
	for (uint32_t i = 0; i < NR_WRITERS; i++) {
		writer_numbers[i] = i;
		pthread_create(&writers[i], NULL, write_all_the_time, &writer_numbers[i]);
	}
	while (px_load_acquire(&nr_writing) < NR_WRITERS)
		sched_yield();
}

static void stop_writers(void)
{
	px_store_release(&stop_writing, 1);
	for (uint32_t i = 0; i < NR_WRITERS; i++)
		pthread_join(writers[i], NULL);
}

/* LOOP-1: four threads write into one small ring, into one larger ring, and into the rings of the CPUs. */
static const struct {
	uint32_t nr_slots;
	unsigned int nr_rings;
} busy_streams[] = {{64, 1}, {4096, 1}, {1024, 0}};

START_TEST(raw_copy_while_threads_write_is_accepted)
{
	uint64_t until;
	uint32_t nr_copies = 0;

	new_stream(busy_streams[_i].nr_slots, 400, busy_streams[_i].nr_rings);
	start_silently();
	start_writers();
	for (until = monotonic_ns() + 700000000; monotonic_ns() < until; nr_copies++) {
		copy_raw(nr_copies % view->rings.nr_rings);
		ck_assert_msg(!(trace.warnings & ~RAW_WARNINGS), "warnings %#x", trace.warnings);
	}
	stop_writers();
	ck_assert_uint_gt(nr_copies, 0);
}
END_TEST

static void *write_one_and_end(void *unused)
{
	px_test_trace(POSIX_TRACE_UNNAMED_USEREVENT, 1);
	return unused;
}

static void *make_threads(void *unused)
{
	for (int i = 0; i < 400; i++) {
		pthread_t thread;

		pthread_create(&thread, NULL, write_one_and_end, NULL);
		pthread_join(thread, NULL);
	}
	px_store_release(&stop_writing, 1);
	return unused;
}

/* A thread that registers after the table was copied has no name in the copy; nothing else is wrong. */
START_TEST(raw_copy_while_threads_are_born_is_accepted)
{
	pthread_t maker;

	new_quiet_stream(1024);
	pthread_create(&maker, NULL, make_threads, NULL);
	while (!px_load_acquire(&stop_writing)) {
		copy_raw(0);
		ck_assert_uint_eq(trace.warnings & ~(RAW_WARNINGS | TXTB_CONTEXT_UNNAMED), 0);
	}
	pthread_join(maker, NULL);
	copy_raw(0);
	ck_assert_uint_eq(trace.nr_events, 400);
}
END_TEST

/* Writers that stop in the middle of a record of several slots. */

static const char *const points[] = {
	"point.state.loaded", "ring.reserve.loaded", "ring.reserve.done", "ring.claim.loaded",
	"ring.claim.done",    "record.write.first",  "record.write.more", "ring.commit.more",
	"ring.commit.ready",  "ring.commit.done",
};

#define HELD_BYTES 128 /* three slots */

static void hold_writer(struct px_test_writer *writer, const char *point, trace_event_id_t type)
{
	static uint32_t data[HELD_BYTES / 4];

	memset(data, 0xEE, sizeof(data));
	px_test_hold_data(writer, point, type, data, sizeof(data));
}

static uint32_t count_copied(uint32_t id)
{
	uint32_t n = 0;

	for (uint32_t i = 0; i < nr_copied(); i++)
		n += copied(i)->id == id;
	return n;
}

/*
 * LOOP-6: at every point of a record, in an empty, a partly filled and a wrapped ring: the checker accepts the bytes,
 * and a copy has all other events, and nothing of this one.
 */
START_TEST(copies_while_a_writer_is_held_have_all_events_but_its_own)
{
	trace_event_id_t type = px_test_open_type("some type");
	trace_event_id_t held_type = px_test_open_type("held type");
	const char *point = points[_i / 3];
	bool is_done = strcmp(point, "ring.commit.done") == 0;
	uint32_t filled[3], nr_around;
	struct px_test_writer writer;

	new_stream(128, HELD_BYTES, 1);
	start_silently();
	filled[0] = 0;
	filled[1] = nr_slots_of_ring() / 2;
	filled[2] = nr_slots_of_ring() * 5 / 2;
	write_numbers(type, 0, filled[_i % 3]);
	hold_writer(&writer, point, held_type);
	write_numbers(type, filled[_i % 3], 10);
	copy_raw(0);
	copy_ring(0);
	expect_sound_copy(0);
	expect_copy_is_true(0);
	ck_assert_uint_eq(count_copied(PX_TXTB_USER_EVENT + held_type), is_done);
	ck_assert_uint_eq(count_copied(PX_TXTB_DATA), is_done ? 2 : 0);
	nr_around = count_copied(PX_TXTB_USER_EVENT + type);
	ck_assert_uint_ge(nr_around, _i % 3 == 2 ? nr_slots_of_ring() - 3 : filled[_i % 3] + 10);
	px_test_release(&writer);
	expect_right_copy(0);
	ck_assert_uint_eq(count_copied(PX_TXTB_USER_EVENT + held_type), 1);
	ck_assert_uint_eq(count_copied(PX_TXTB_DATA), 2);
}
END_TEST

/*
 * LOOP-6: others overtake the stopped writer by a whole ring; they void the slots that they can take, and skip the
 * others.
 */
START_TEST(copies_while_a_lapped_writer_is_held_have_all_other_events)
{
	trace_event_id_t type = px_test_open_type("some type");
	trace_event_id_t held_type = px_test_open_type("held type");
	struct px_test_writer writer;

	new_stream(128, HELD_BYTES, 1);
	start_silently();
	hold_writer(&writer, points[_i], held_type);
	for (uint32_t lap = 0; lap < 5; lap++) {
		write_numbers(type, lap * nr_slots_of_ring(), nr_slots_of_ring());
		copy_raw(0);
		copy_ring(0);
		expect_sound_copy(0);
		expect_copy_is_true(0);
		ck_assert_uint_ge(count_copied(PX_TXTB_USER_EVENT + type),
				  nr_slots_of_ring() - 2 * 3 - 1);
		ck_assert_uint_eq(count_copied(PX_TXTB_USER_EVENT + held_type), 0);
		ck_assert_uint_eq(count_copied(PX_TXTB_DATA), 0);
	}
	px_test_release(&writer);
	copy_raw(0);
	expect_right_copy(0);
}
END_TEST

/* Copies that the library makes. */

START_TEST(copy_of_no_event_is_accepted)
{
	new_stream(256, 0, 1);
	expect_right_copy(0);
	ck_assert_uint_eq(nr_copied(), 0);
	ok(posix_trace_start(trid));
	ok(posix_trace_stop(trid));
	ok(posix_trace_clear(trid));
	expect_right_copy(0);
}
END_TEST

START_TEST(copy_of_one_to_four_events_has_time_right)
{
	new_quiet_stream(256);
	for (uint32_t n = 1; n <= 4; n++) {
		sleep_ms(1);
		px_test_trace(POSIX_TRACE_UNNAMED_USEREVENT, n);
		expect_right_copy(0);
		expect_numbers(1, n);
	}
}
END_TEST

/* START, STOP and FILTER are in the ring like other events. */
START_TEST(copy_has_the_control_events)
{
	trace_event_set_t set;

	new_stream(256, 0, 1);
	ok(posix_trace_eventset_empty(&set));
	ok(posix_trace_start(trid));
	ok(posix_trace_set_filter(trid, &set, POSIX_TRACE_SET_EVENTSET));
	ok(posix_trace_stop(trid));
	expect_right_copy(0);
	ck_assert_uint_eq(copied(0)->id, PX_TXTB_USER_EVENT + POSIX_TRACE_START);
	ck_assert_uint_eq(copied(nr_copied() - 1)->id, PX_TXTB_USER_EVENT + POSIX_TRACE_STOP);
	ck_assert_uint_eq(count_copied(PX_TXTB_USER_EVENT + POSIX_TRACE_FILTER), 1);
}
END_TEST

/* LOOP-2 */
START_TEST(copy_of_wrapped_ring_begins_with_the_oldest)
{
	trace_event_id_t type = px_test_open_type("some type");
	uint32_t nr_slots, n = 0;

	new_quiet_stream(256);
	nr_slots = nr_slots_of_ring();
	for (uint32_t round = 0; round < 100; round++) {
		write_numbers(type, n, 17);
		n += 17;
		expect_right_copy(0);
		expect_numbers(n < nr_slots ? 0 : n - nr_slots, n < nr_slots ? n : nr_slots);
	}
}
END_TEST

START_TEST(copy_of_many_slot_records_has_whole_ones_only)
{
	trace_event_id_t type = px_test_open_type("some type");
	unsigned char data[1000];
	uint64_t random = test_seed();

	new_stream(256, sizeof(data), 1);
	start_silently();
	for (uint32_t n = 0; n < 300; n++) {
		memcpy(data, &n, sizeof(n));
		posix_trace_event(type, data, 4 + next_random(&random) % (sizeof(data) - 3));
		expect_right_copy(0);
		/* The rest of a partly overwritten record is not in the copy. */
		ck_assert_uint_eq(copied(0)->id, PX_TXTB_USER_EVENT + type);
	}
}
END_TEST

START_TEST(copies_of_all_rings_have_all_events)
{
	uint32_t sum = 0, wanted = 0;

	new_stream(1024, 0, 0);
	start_silently();
	for (uint32_t n = 1; n <= 200; n++) {
		px_test_trace(POSIX_TRACE_UNNAMED_USEREVENT, n);
		wanted += n;
		if (n % 20 == 0)
			sleep_ms(1);
	}
	for (uint32_t i = 0; i < view->rings.nr_rings; i++) {
		expect_right_copy(i);
		for (uint32_t k = 0; k < nr_copied(); k++)
			sum += copied(k)->info[0];
	}
	ck_assert_uint_eq(sum, wanted);
}
END_TEST

/* Copying consumes nothing, any number of times. */
START_TEST(copy_consumes_nothing)
{
	struct px_test_event event;

	new_quiet_stream(256);
	write_numbers(POSIX_TRACE_UNNAMED_USEREVENT, 0, 10);
	for (int i = 0; i < 3; i++)
		expect_right_copy(0);
	for (uint32_t i = 0; i < 10; i++) {
		px_test_expect(trid, POSIX_TRACE_UNNAMED_USEREVENT, &event);
		ck_assert_uint_eq(px_test_number(&event), i);
	}
	px_test_expect(trid, 0, &event);
	/* Events that were read are still in the ring. */
	expect_right_copy(0);
	expect_numbers(0, 10);
}
END_TEST

/* Time. */

/* Write events, and then store the counters of their times into their records. */
static void fake_times(const uint64_t *ns, uint32_t count)
{
	struct px_ring ring = ring_at(0);
	double scale = (double)px_clock_best().scale / (double)(UINT64_C(1) << 48);
	uint64_t head, first;

	write_numbers(POSIX_TRACE_UNNAMED_USEREVENT, 0, count);
	head = px_read_once(&ring.control->head);
	first = ring.slots[(head - count) & ring.mask].counter;
	for (uint32_t i = 0; i < count; i++)
		ring.slots[(head - count + i) & ring.mask].counter =
			first + (uint64_t)((double)ns[i] / scale);
}

#define SECOND UINT64_C(1000000000)
#define HOUR (3600 * SECOND)

static const struct {
	const char *what;
	uint32_t count;
	uint64_t ns[12];
} long_pauses[] = {
	{"below the wrap of 100 ns", 4, {0, 300 * SECOND, 301 * SECOND, 500 * SECOND}},
	{"hours", 4, {0, HOUR, 5 * HOUR, 5 * HOUR + SECOND}},
	{"a pause of hours at the end", 3, {0, SECOND, 30 * HOUR}},
	{"two events", 2, {0, 100 * HOUR}},
	{"a year", 4, {0, SECOND, 8760 * HOUR, 8761 * HOUR}},
	{"thirty years", 3, {0, 262800 * HOUR, 262800 * HOUR + 1}},
	{"hours again and again",
	 12,
	 {0, 2 * HOUR, 4 * HOUR, 6 * HOUR, 8 * HOUR, 10 * HOUR, 12 * HOUR, 14 * HOUR, 16 * HOUR,
	  18 * HOUR, 20 * HOUR, 22 * HOUR}},
};

/* INFO-7 */
START_TEST(copy_of_long_pauses_does_not_wrap)
{
	new_quiet_stream(64);
	fake_times(long_pauses[_i].ns, long_pauses[_i].count);
	copy_ring(0);
	expect_sound_copy(TXTB_TIME_STEPS_BACK);
	expect_copy_is_true(0);
}
END_TEST

/* The longest pauses that a tick allows, one after another: the viewer still decides that time rises. */
START_TEST(copy_of_pauses_at_the_limit_of_a_tick_does_not_wrap)
{
	static const uint64_t odd[] = {(uint64_t)-1, 0, 1};
	struct px_ring ring;
	uint64_t step, counter;

	new_quiet_stream(256);
	ring = ring_at(0);
	write_numbers(POSIX_TRACE_UNNAMED_USEREVENT, 0, 100);
	step = (UINT64_C(1) << (30 + view->rings.shift + _i / 3)) + odd[_i % 3];
	counter = ring.slots[0].counter | ((UINT64_C(1) << view->rings.shift) - 1);
	for (uint32_t i = 0; i < 100; i++)
		ring.slots[i].counter = counter + i * step;
	copy_ring(0);
	expect_sound_copy(TXTB_TIME_STEPS_BACK);
	expect_copy_is_true(0);
}
END_TEST

START_TEST(copy_tick_is_of_100_ns_where_no_pause_is_long)
{
	new_quiet_stream(64);
	write_numbers(POSIX_TRACE_UNNAMED_USEREVENT, 0, 5);
	copy_ring(0);
	ck_assert_double_gt(copied_tick_ns, 60);
	ck_assert_double_le(copied_tick_ns, 130);
}
END_TEST

/* INFO-7: a tick of the copy has its length by the kernel's clock. */
START_TEST(copy_ticks_are_nanoseconds_of_the_kernels_clock)
{
	uint64_t before[2], after[2];
	double ns;

	new_quiet_stream(64);
	for (int i = 0; i < 2; i++) {
		before[i] = monotonic_ns();
		px_test_trace(POSIX_TRACE_UNNAMED_USEREVENT, 1);
		after[i] = monotonic_ns();
		if (i == 0)
			sleep_ms(500);
	}
	copy_ring(0);
	ns = (double)copied(1)->ticks * copied_tick_ns - (double)copied(0)->ticks * copied_tick_ns;
	/* One thousandth, and a tick. */
	ck_assert_double_ge(ns, (double)(before[1] - after[0]) * 0.999 - copied_tick_ns);
	ck_assert_double_le(ns, (double)(after[1] - before[0]) * 1.001 + copied_tick_ns);
}
END_TEST

/* While threads write. */

/* Only complete events, and those of each thread in its order. */
START_TEST(copy_while_threads_write_is_in_order)
{
	uint32_t last[NR_WRITERS];
	uint64_t until;
	uint32_t nr_copies = 0;

	new_stream(busy_streams[_i].nr_slots, 400, busy_streams[_i].nr_rings);
	start_silently();
	start_writers();
	for (until = monotonic_ns() + 700000000; monotonic_ns() < until; nr_copies++) {
		copy_ring(nr_copies % view->rings.nr_rings);
		expect_sound_copy(0);
		memset(last, 0, sizeof(last));
		for (uint32_t i = 0; i < nr_copied(); i++) {
			const struct txtb_event *event = copied(i);
			uint32_t thread = event->info[0];

			if (event->id == PX_TXTB_DATA) {
				ck_assert_uint_gt(i, 0);
				ck_assert_uint_eq(event->context, copied(i - 1)->context);
				ck_assert_uint_eq(event->ticks, copied(i - 1)->ticks);
				continue;
			}
			ck_assert_uint_lt(thread, NR_WRITERS);
			ck_assert_uint_gt(event->info[1], last[thread]);
			last[thread] = event->info[1];
		}
	}
	stop_writers();
	ck_assert_uint_gt(nr_copies, 0);
}
END_TEST

static trace_event_id_t late_type;
static uint32_t nr_reads;

/* When the copy has taken 50 records, other writers fill half a ring. */
static void overtake_late(void)
{
	if (++nr_reads < 50)
		px_test_at_point("record.read.copied", overtake_late);
	else
		write_numbers(late_type, 1000, nr_slots_of_ring() / 2);
}

/*
 * Writers overtake the copy.  Its records from before are older than the lost ones, and the viewer cannot show a gap.
 */
START_TEST(copy_overtaken_by_writers_has_no_gap)
{
	trace_event_id_t type = px_test_open_type("some type");

	late_type = type;
	new_quiet_stream(256);
	write_numbers(type, 0, 1000);
	px_test_at_point("record.read.copied", overtake_late);
	copy_ring(0);
	ck_assert_uint_eq(nr_reads, 50);
	expect_sound_copy(0);
	ck_assert_uint_ge(nr_copied(), nr_slots_of_ring() / 2 - 1);
	for (uint32_t i = 1; i < nr_copied(); i++)
		ck_assert_uint_eq(copied(i)->info[0], copied(0)->info[0] + i);
}
END_TEST

/*
 * The first slot of a record of two slots is reserved again and not claimed, while its second slot has been taken and
 * written.  A page fault stops the copy right before it takes the entries.
 */
static char *fault_page;
static trace_event_id_t fault_type;

static void overtake_copy(int signal, siginfo_t *info, void *context)
{
	struct px_ring ring = ring_at(0);
	struct px_reservation at;

	(void)signal;
	(void)context;
	if ((char *)info->si_addr < fault_page || (char *)info->si_addr >= fault_page + 4096)
		abort();
	mprotect(fault_page, 4096, PROT_READ | PROT_WRITE);
	px_ring_reserve(&ring, 1, 0, (enum px_clock_source)view->rings.source, &at);
	px_test_trace(fault_type, 4711);
}

/* LOOP-6 */
START_TEST(copy_of_a_record_whose_further_slot_is_overtaken_leaves_it_out)
{
	struct sigaction action = {.sa_sigaction = overtake_copy, .sa_flags = SA_SIGINFO};
	trace_event_id_t type = px_test_open_type("some type");
	uint32_t data[8] = {0};
	struct px_ring ring;
	size_t distance;

	fault_type = px_test_open_type("late type");
	new_stream(256, sizeof(data), 1);
	start_silently();
	ring = ring_at(0);
	for (uint32_t n = 0; n < nr_slots_of_ring() + 20; n++)
		posix_trace_event(type, data, sizeof(data));
	/* Two slots each.  The oldest record begins at an even position, well inside the pages of the entries. */
	distance = (size_t)((char *)&ring.entries[ring.control->head & ring.mask] -
			    (char *)ring.control);
	fault_page = (char *)ring.control + distance / 4096 * 4096;
	ck_assert(fault_page > (char *)ring.entries);
	ck_assert(fault_page + 4096 <= (char *)ring.slots);
	sigaction(SIGSEGV, &action, NULL);
	ck_assert_int_eq(mprotect(fault_page, 4096, PROT_NONE), 0);
	copy_ring(0);
	expect_sound_copy(0);
	ck_assert_uint_eq(count_copied(PX_TXTB_USER_EVENT + fault_type), 0);
	for (uint32_t i = 0; i < nr_copied(); i++)
		ck_assert_uint_eq(copied(i)->id, i % 2 ? PX_TXTB_DATA : PX_TXTB_USER_EVENT + type);
}
END_TEST

/* A record that no writer of the library makes: by its words, its further slots are after the head. */
START_TEST(copy_of_a_record_that_ends_behind_the_head_leaves_it_out)
{
	struct px_ring ring;
	struct px_slot *last;

	new_stream(64, 200, 1);
	start_silently();
	write_numbers(POSIX_TRACE_UNNAMED_USEREVENT, 0, 10);
	ring = ring_at(0);
	last = &ring.slots[(ring.control->head - 1) & ring.mask];
	last->body[2] = UINT64_C(70) << 32 | (uint32_t)last->body[2];
	ring.slots[ring.control->head & ring.mask].word =
		px_word(ring.control->head, px_word_tid(last->word), PX_SLOT_MORE);
	copy_ring(0);
	ck_assert_uint_eq(nr_copied(), 0);
}
END_TEST

/* Objects. */

static void expect_type_is_named(trace_event_id_t type, const char *name)
{
	const struct txtb_object *object = txtb_find(&trace,
						     px_txtb_handle(PX_TXTB_EVENT_TYPE, type));

	ck_assert_msg(object != NULL, "type %u is not there", type);
	ck_assert_uint_eq(object->type, PX_TXTB_EVENT_TYPE);
	ck_assert_str_eq(object->name, name);
}

static void *write_as_named(void *name)
{
	prctl(PR_SET_NAME, name);
	px_test_trace(POSIX_TRACE_UNNAMED_USEREVENT, (uint32_t)syscall(SYS_gettid));
	return NULL;
}

static const struct txtb_object *thread_of(const struct txtb_event *event)
{
	ck_assert_uint_lt(event->object, trace.nr_registered);
	return &trace.objects[event->object];
}

/* MAP-5 */
START_TEST(copy_names_threads_and_types)
{
	trace_event_id_t before = px_test_open_type("opened before"), after, odd;
	char name[40];
	pthread_t thread;

	new_quiet_stream(256);
	after = px_test_open_type("opened after");
	odd = px_test_open_type("odd_name (of a type)");
	pthread_create(&thread, NULL, write_as_named, (char *)"the writer");
	pthread_join(thread, NULL);
	write_as_named((char *)"main");
	for (int raw = 0; raw < 2; raw++) {
		if (raw)
			copy_raw(0);
		else
			expect_right_copy(0);
		expect_type_is_named(before, "opened before");
		expect_type_is_named(after, "opened after");
		expect_type_is_named(odd, "odd-name [of a type]");
		for (uint32_t i = trace.nr_events - 2; i < trace.nr_events; i++) {
			snprintf(name, sizeof(name), "%s %u",
				 i == trace.nr_events - 2 ? "the writer" : "main",
				 trace.events[i].info[0]);
			if (i == trace.nr_events - 2)
				ck_assert_str_eq(thread_of(&trace.events[i])->name, name);
			ck_assert_uint_eq(thread_of(&trace.events[i])->type, PX_TXTB_THREAD);
			ck_assert_uint_eq(thread_of(&trace.events[i])->priority,
					  trace.events[i].priority);
		}
	}
}
END_TEST

/* MAP-5: the image of a live ring has room for 134 types; the copy has all of them. */
START_TEST(copy_of_more_types_than_a_live_image_holds_names_them_all)
{
	enum { NR_TYPES = 400 };
	static trace_event_id_t types[NR_TYPES];
	char name[40];

	new_quiet_stream(1024);
	for (uint32_t i = 0; i < NR_TYPES; i++) {
		snprintf(name, sizeof(name), "type number %u", i);
		types[i] = px_test_open_type(name);
		px_test_trace(types[i], i);
	}
	copy_raw(0);
	ck_assert_uint_eq(trace.nr_registered, 1 + PX_TXTB_LIVE_OBJECTS / 2);
	ck_assert_uint_eq(trace.warnings, 0);
	expect_right_copy(0);
	expect_numbers(0, NR_TYPES);
	for (uint32_t i = 0; i < NR_TYPES; i++) {
		snprintf(name, sizeof(name), "type number %u", i);
		expect_type_is_named(types[i], name);
	}
}
END_TEST

#define NR_THREADS (PX_THREADS_MAX + 76)

static void write_from_many_threads(void)
{
	for (uint32_t i = 0; i < NR_THREADS; i++) {
		pthread_t thread;
		char name[16];

		snprintf(name, sizeof(name), "thread %u", i);
		pthread_create(&thread, NULL, write_as_named, name);
		pthread_join(thread, NULL);
	}
}

/* MAP-5 */
START_TEST(copy_of_more_threads_than_are_kept_names_the_youngest)
{
	new_quiet_stream(2 * PX_THREADS_MAX);
	write_from_many_threads();
	copy_raw(0);
	ck_assert_uint_eq(trace.nr_registered, PX_TXTB_LIVE_OBJECTS / 2);
	ck_assert_uint_eq(trace.warnings & ~RAW_WARNINGS, TXTB_CONTEXT_UNNAMED);
	copy_ring(0);
	expect_sound_copy(TXTB_NAME_TWICE);
	expect_copy_is_true(0);
	ck_assert_uint_eq(nr_copied(), NR_THREADS);
	for (uint32_t i = NR_THREADS - 1000; i < NR_THREADS; i++) {
		char name[40];

		snprintf(name, sizeof(name), "thread %u %u", i, copied(i)->info[0]);
		ck_assert_str_eq(thread_of(copied(i))->name, name);
		ck_assert_uint_eq(thread_of(copied(i))->nr_events, 1);
	}
}
END_TEST

/* The viewer's menus show two objects with the same name as one. */
START_TEST(copy_of_more_threads_than_are_kept_gives_each_a_name_of_its_own)
{
	new_quiet_stream(2 * PX_THREADS_MAX);
	write_from_many_threads();
	copy_ring(0);
	expect_sound_copy(0);
}
END_TEST

/* MAP-5: many threads must not replace the names of types. */
START_TEST(copy_of_more_threads_than_are_kept_still_names_the_types)
{
	trace_event_id_t type = px_test_open_type("some type");

	new_quiet_stream(4096);
	write_from_many_threads();
	px_test_trace(type, 1);
	copy_ring(0);
	expect_type_is_named(type, "some type");
}
END_TEST

/* The thread would register itself while it registers itself. */
static void trace_in_handler(int number)
{
	(void)number;
	px_test_trace(POSIX_TRACE_UNNAMED_USEREVENT, 2);
}

static void interrupt(void)
{
	raise(SIGUSR2);
}

static void *write_nested(void *unused)
{
	signal(SIGUSR2, trace_in_handler);
	px_test_at_point("objects.add.writing", interrupt);
	px_test_trace(POSIX_TRACE_UNNAMED_USEREVENT, 1);
	return unused;
}

START_TEST(copies_of_a_thread_interrupted_by_a_handler_that_traces_list_it_once)
{
	pthread_t thread;

	new_quiet_stream(256);
	pthread_create(&thread, NULL, write_nested, NULL);
	pthread_join(thread, NULL);
	expect_right_copy(0);
	ck_assert_uint_eq(nr_copied(), 2);
	copy_raw(0);
	ck_assert_uint_eq(trace.warnings & TXTB_HANDLE_TWICE, 0);
}
END_TEST

/* Another thread finds the new stream while the first thread is about to add its types to it. */
static void trace_elsewhere(void)
{
	pthread_t thread;

	pthread_create(&thread, NULL, write_one_and_end, NULL);
	pthread_join(thread, NULL);
}

START_TEST(copies_of_types_made_known_by_two_threads_list_them_once)
{
	px_test_open_type("first");
	px_test_open_type("second");
	px_test_open_type("third");
	px_test_at_point("objects.add.writing", trace_elsewhere);
	new_quiet_stream(256);
	px_test_trace(POSIX_TRACE_UNNAMED_USEREVENT, 1);
	copy_ring(0);
	expect_sound_copy(0);
	copy_raw(0);
	ck_assert_uint_eq(trace.warnings & TXTB_HANDLE_TWICE, 0);
}
END_TEST

/* Sizes and arguments. */

START_TEST(copy_into_too_small_a_buffer_is_enospc_and_tells_the_size)
{
	size_t length = 0, again = 0;
	double tick_ns = 0;
	char *buffer;

	new_quiet_stream(256);
	write_numbers(POSIX_TRACE_UNNAMED_USEREVENT, 0, 20);
	fails(txtrace_copy_ring(trid, 0, NULL, 0, &length, &tick_ns), ENOSPC);
	ck_assert_uint_gt(length, 48 + 20 * 32);
	ck_assert_double_gt(tick_ns, 0);
	buffer = malloc(length + 100);
	ck_assert_ptr_nonnull(buffer);
	memset(buffer, 0x5A, length + 100);
	fails(txtrace_copy_ring(trid, 0, buffer, 0, &again, &tick_ns), ENOSPC);
	ck_assert_uint_eq(again, length);
	fails(txtrace_copy_ring(trid, 0, buffer, length - 1, &again, &tick_ns), ENOSPC);
	ck_assert_uint_eq(again, length);
	for (size_t i = 0; i < length + 100; i++)
		ck_assert_int_eq(buffer[i], 0x5A);
	ok(txtrace_copy_ring(trid, 0, buffer, length, &again, &tick_ns));
	ck_assert_uint_eq(again, length);
	ck_assert_int_eq(buffer[length], 0x5A);
	ok(txtrace_copy_ring(trid, 0, buffer, length + 100, &again, &tick_ns));
	ck_assert_uint_eq(again, length);
	for (size_t i = length; i < length + 100; i++)
		ck_assert_int_eq(buffer[i], 0x5A);
	free(buffer);
}
END_TEST

static int error_of_copy;

static void copy_without_room(void)
{
	size_t length;
	double tick_ns;

	error_of_copy = txtrace_copy_ring(trid, 0, NULL, 0, &length, &tick_ns);
}

/* GEN-6: the call holds the lock of the stream, and must release it for the next call. */
START_TEST(copy_ring_with_cancellation_pending_is_done_in_full)
{
	new_quiet_stream(256);
	write_numbers(POSIX_TRACE_UNNAMED_USEREVENT, 0, 20);
	px_test_with_cancellation_pending(copy_without_room);
	ck_assert_int_eq(error_of_copy, ENOSPC);
	expect_right_copy(0);
	expect_numbers(0, 20);
}
END_TEST

START_TEST(copy_with_bad_arguments_is_einval_and_touches_nothing)
{
	size_t length = 99;
	double tick_ns = 99;
	char buffer[16] = {0};

	new_stream(256, 0, 2);
	fails(txtrace_copy_ring(trid, 2, buffer, 16, &length, &tick_ns), EINVAL);
	fails(txtrace_copy_ring(trid, UINT32_MAX, NULL, 0, &length, &tick_ns), EINVAL);
	fails(txtrace_copy_ring(trid + 1, 0, NULL, 0, &length, &tick_ns), EINVAL);
	fails(txtrace_copy_ring(0, 0, NULL, 0, &length, &tick_ns), EINVAL);
	fails(txtrace_copy_ring(trid, 0, NULL, 16, &length, &tick_ns), EINVAL);
	fails(txtrace_copy_ring(trid, 0, buffer, 16, NULL, &tick_ns), EINVAL);
	fails(txtrace_copy_ring(trid, 0, buffer, 16, &length, NULL), EINVAL);
	ok(posix_trace_shutdown(trid));
	fails(txtrace_copy_ring(trid, 0, NULL, 0, &length, &tick_ns), EINVAL);
	ck_assert_uint_eq(length, 99);
	ck_assert_double_eq(tick_ns, 99);
	for (size_t i = 0; i < sizeof(buffer); i++)
		ck_assert_int_eq(buffer[i], 0);
}
END_TEST

/* With any content from a traced process, the call makes a copy or fails, and stays inside its memory. */
START_TEST(copy_of_hostile_memory_is_accepted)
{
	uint64_t random = test_seed();
	struct px_ring ring;

	new_quiet_stream(64);
	write_numbers(POSIX_TRACE_UNNAMED_USEREVENT, 0, 10);
	ring = ring_at(0);
	for (int round = 0; round < 2000; round++) {
		uint64_t head = next_random(&random) >> (round % 2 ? 0 : 55);

		ring.control->head = head;
		for (uint64_t p = head - nr_slots_of_ring(); p != head; p++) {
			struct px_slot *slot = &ring.slots[p & ring.mask];
			uint64_t *entry = (uint64_t *)&ring.entries[p & ring.mask];

			slot->word = px_word(
				p, 1, next_random(&random) % 4 ? PX_SLOT_HEAD : PX_SLOT_MORE);
			if (next_random(&random) % 16 == 0)
				slot->word = next_random(&random);
			slot->counter = next_random(&random);
			slot->body[2] = next_random(&random) % 100 << 32;
			for (int k = 0; k < 4; k++)
				entry[k] = next_random(&random);
		}
		copy_ring(0);
		ck_assert_uint_le(nr_copied(), nr_slots_of_ring());
	}
}
END_TEST

static void end_trace(void)
{
	txtb_free(&trace);
	free(raw_copy);
}

static TCase *add_case(Suite *suite, const char *name)
{
	TCase *tcase = tcase_create(name);

	tcase_add_checked_fixture(tcase, NULL, end_trace);
	tcase_set_timeout(tcase, 60);
	suite_add_tcase(suite, tcase);
	return tcase;
}

int main(void)
{
	Suite *suite = suite_create("image");
	TCase *raw = add_case(suite, "raw");
	TCase *torn = add_case(suite, "held");
	TCase *copy = add_case(suite, "copy");
	TCase *times = add_case(suite, "time");
	TCase *busy = add_case(suite, "busy");
	TCase *objects = add_case(suite, "objects");
	TCase *arguments = add_case(suite, "arguments");

	tcase_add_loop_test(raw, raw_copy_of_new_ring_is_an_empty_trace, 0, 3);
	tcase_add_test(raw, raw_copy_of_partial_ring_has_all_events);
	tcase_add_test(raw, raw_copy_of_wrapped_ring_has_a_ring_of_events);
	tcase_add_loop_test(raw, raw_copy_while_threads_write_is_accepted, 0,
			    PX_ARRAY_SIZE(busy_streams));
	tcase_add_test(raw, raw_copy_while_threads_are_born_is_accepted);

	tcase_add_loop_test(torn, copies_while_a_writer_is_held_have_all_events_but_its_own, 0,
			    3 * PX_ARRAY_SIZE(points));
	tcase_add_loop_test(torn, copies_while_a_lapped_writer_is_held_have_all_other_events, 0,
			    PX_ARRAY_SIZE(points));

	tcase_add_test(copy, copy_of_no_event_is_accepted);
	tcase_add_test(copy, copy_of_one_to_four_events_has_time_right);
	tcase_add_test(copy, copy_has_the_control_events);
	tcase_add_test(copy, copy_of_wrapped_ring_begins_with_the_oldest);
	tcase_add_test(copy, copy_of_many_slot_records_has_whole_ones_only);
	tcase_add_test(copy, copies_of_all_rings_have_all_events);
	tcase_add_test(copy, copy_consumes_nothing);

	tcase_add_loop_test(times, copy_of_long_pauses_does_not_wrap, 0,
			    PX_ARRAY_SIZE(long_pauses));
	tcase_add_loop_test(times, copy_of_pauses_at_the_limit_of_a_tick_does_not_wrap, 0, 9);
	tcase_add_test(times, copy_tick_is_of_100_ns_where_no_pause_is_long);
	tcase_add_test(times, copy_ticks_are_nanoseconds_of_the_kernels_clock);

	tcase_add_loop_test(busy, copy_while_threads_write_is_in_order, 0,
			    PX_ARRAY_SIZE(busy_streams));
	tcase_add_test(busy, copy_overtaken_by_writers_has_no_gap);
	tcase_add_test(busy, copy_of_a_record_whose_further_slot_is_overtaken_leaves_it_out);
	tcase_add_test(busy, copy_of_a_record_that_ends_behind_the_head_leaves_it_out);

	tcase_add_test(objects, copy_names_threads_and_types);
	tcase_add_test(objects, copy_of_more_types_than_a_live_image_holds_names_them_all);
	tcase_add_test(objects, copy_of_more_threads_than_are_kept_names_the_youngest);
	tcase_add_test(objects, copy_of_more_threads_than_are_kept_gives_each_a_name_of_its_own);
	tcase_add_test(objects, copy_of_more_threads_than_are_kept_still_names_the_types);
	tcase_add_test(objects,
		       copies_of_a_thread_interrupted_by_a_handler_that_traces_list_it_once);
	tcase_add_test(objects, copies_of_types_made_known_by_two_threads_list_them_once);

	tcase_add_test(arguments, copy_into_too_small_a_buffer_is_enospc_and_tells_the_size);
	tcase_add_test(arguments, copy_ring_with_cancellation_pending_is_done_in_full);
	tcase_add_test(arguments, copy_with_bad_arguments_is_einval_and_touches_nothing);
	tcase_add_test(arguments, copy_of_hostile_memory_is_accepted);

	return run_suite(suite);
}
