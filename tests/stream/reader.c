/* SPDX-License-Identifier: MIT */
/*
 * The reader while writers overtake it, at steps that once had faults: it reports each loss at its place, skips what it
 * cannot read, and each call ends.
 */
#include "support/common.h"

#include <pthread.h>
#include <string.h>
#include <trace_ext.h>

#include "stream/handle.h"
#include "stream/stream.h"
#include "trace/process.h"

#define EVENT_BYTES 256 /* of the largest event: six slots */
#define MOST_EVENTS 100000

static trace_id_t trid;
static const struct px_view *view;
static struct px_test_event event;

static void new_stream(int policy, unsigned int nr_rings)
{
	struct px_stream *stream;

	trid = px_test_create(&(struct px_test_stream){
		.policy = policy, .size = 1, .max_data = EVENT_BYTES, .nr_rings = nr_rings});
	stream = px_handle_lock(trid);
	ck_assert_ptr_nonnull(stream);
	view = &stream->view;
	px_handle_unlock(trid);
}

/* Create and start a stream, and read START. */
static void new_running_stream(int policy, unsigned int nr_rings)
{
	new_stream(policy, nr_rings);
	ok(posix_trace_start(trid));
	px_test_expect(trid, POSIX_TRACE_START, &event);
}

static struct px_ring ring_at(uint32_t i)
{
	return px_rings_get(&view->rings, i);
}

static uint32_t nr_slots(void)
{
	return view->rings.nr_slots;
}

static void write_numbers(uint32_t first, uint32_t count)
{
	for (uint32_t i = 0; i < count; i++)
		px_test_trace(POSIX_TRACE_UNNAMED_USEREVENT, first + i);
}

/* Record an event in this ring, whichever CPU the thread has. */
static void write_to_ring(uint32_t i, uint32_t number)
{
	struct px_ring ring = ring_at(i);
	struct px_reservation at;
	struct px_event made = {.id = PX_EVENT_UNNAMED,
				.data = &number,
				.length = sizeof(number),
				.tid = px_thread.tid,
				.handle = px_thread.handle};

	ck_assert(px_ring_reserve(&ring, 1, 0, (enum px_clock_source)view->rings.source, &at));
	ck_assert(px_ring_claim(&ring, at.position, 1, made.tid));
	px_record_write(&ring, &at, 1, &made, view->rings.shift, 0);
	px_ring_commit(&ring, at.position, 1, made.tid);
}

/* A thread that stops at a test point of its work. */
struct held {
	pthread_t thread;
	const char *point;
	void (*function)(void);
	sem_t arrived, released;
};

static __thread struct held *held_self;

static void wait_here(void)
{
	sem_post(&held_self->arrived);
	while (sem_wait(&held_self->released) != 0)
		;
}

static void *run_held(void *argument)
{
	held_self = argument;
	px_test_at_point(held_self->point, wait_here);
	held_self->function();
	return NULL;
}

static void hold(struct held *held, const char *point, void (*function)(void))
{
	held->point = point;
	held->function = function;
	sem_init(&held->arrived, 0, 0);
	sem_init(&held->released, 0, 0);
	pthread_create(&held->thread, NULL, run_held, held);
	while (sem_wait(&held->arrived) != 0)
		;
}

static void release(struct held *held)
{
	sem_post(&held->released);
	pthread_join(held->thread, NULL);
}

/*
 * Read all events: the numbers rise, and OVERFLOW and RESUME are before each number after a gap.  Return how many
 * numbers there were.
 */
static uint32_t expect_marked_gaps(int64_t last)
{
	trace_event_id_t type, before = 0;
	uint32_t nr_numbers = 0;

	while ((type = px_test_take(trid, &event)) != 0) {
		if (type == POSIX_TRACE_RESUME)
			ck_assert_uint_eq(before, POSIX_TRACE_OVERFLOW);
		if (type == POSIX_TRACE_UNNAMED_USEREVENT && event.length == sizeof(uint32_t)) {
			int64_t number = px_test_number(&event);

			ck_assert_int_gt(number, last);
			ck_assert_msg(number == last + 1 || before == POSIX_TRACE_RESUME,
				      "no mark between %lld and %lld", (long long)last,
				      (long long)number);
			last = number;
			nr_numbers++;
		}
		before = type;
		ck_assert_uint_lt(nr_numbers, MOST_EVENTS);
	}
	return nr_numbers;
}

static void write_three_slots(void)
{
	static const unsigned char data[128];

	posix_trace_event(POSIX_TRACE_UNNAMED_USEREVENT, data, sizeof(data));
}

static void write_six_slots(void)
{
	static const unsigned char data[EVENT_BYTES];

	posix_trace_event(POSIX_TRACE_UNNAMED_USEREVENT, data, sizeof(data));
}

/*
 * LOOP-6 GETNEXT-4: a writer has committed the further slots of its record, and sleeps.  Others overwrite these slots,
 * but not the first one, which is still claimed.  Then it commits the first one: no reader can read this record, and a
 * reader already waits for it.
 */
START_TEST(reader_record_committed_behind_a_lap_is_passed)
{
	struct held writer;

	new_running_stream(0, 1);
	hold(&writer, "ring.commit.ready", write_three_slots);
	px_test_expect(trid, 0, &event);
	write_numbers(0, 2 * nr_slots() + 10);
	release(&writer);
	ck_assert_uint_gt(expect_marked_gaps(-1), nr_slots() / 2);
	write_numbers(10000, 5);
	ck_assert_uint_eq(expect_marked_gaps(9999), 5);
}
END_TEST

/* With any content of the memory of a record, reading ends. */
START_TEST(reader_record_of_hostile_length_is_passed)
{
	static const uint32_t lengths[] = {17, 16 + 64 * 56, 65536, 0x80000000, UINT32_MAX};
	struct px_ring ring;

	new_running_stream(0, 1);
	ring = ring_at(0);
	for (size_t i = 0; i < PX_ARRAY_SIZE(lengths); i++) {
		uint64_t head = px_read_once(&ring.control->head);

		write_numbers((uint32_t)i * 10, 3);
		ring.slots[(head + 1) & ring.mask].body[2] = (uint64_t)lengths[i] << 32;
		px_test_expect(trid, POSIX_TRACE_UNNAMED_USEREVENT, &event);
		ck_assert_uint_eq(px_test_number(&event), i * 10);
		px_test_expect(trid, POSIX_TRACE_OVERFLOW, &event);
		px_test_expect(trid, POSIX_TRACE_RESUME, &event);
		px_test_expect(trid, POSIX_TRACE_UNNAMED_USEREVENT, &event);
		ck_assert_uint_eq(px_test_number(&event), i * 10 + 2);
		px_test_expect(trid, 0, &event);
	}
}
END_TEST

/* Memory to which another user writes while the reader reads. */

static bool is_lapping;

/* A ring full of records that are not reported; it is filled again at each record that is read. */
static void lap_silently(const char *point)
{
	struct px_ring ring = ring_at(0);
	struct px_marks marks = {0};
	struct px_event made = {.id = PX_EVENT_UNNAMED,
				.flags = PX_RECORD_MARKS | PX_RECORD_SILENT,
				.data = &marks,
				.length = sizeof(marks),
				.tid = 4711};

	if (is_lapping || strcmp(point, "reader.take.copied") != 0)
		return;
	is_lapping = true;
	for (uint32_t i = 0; i < 2 * nr_slots(); i++) {
		struct px_reservation at;

		if (!px_ring_reserve(&ring, 1, 0, (enum px_clock_source)view->rings.source, &at) ||
		    !px_ring_claim(&ring, at.position, 1, made.tid))
			continue;
		px_record_write(&ring, &at, 1, &made, view->rings.shift, 0);
		px_ring_commit(&ring, at.position, 1, made.tid);
	}
	is_lapping = false;
}

/* There is always another record, and none is reported. */
START_TEST(reader_of_silent_records_for_ever_comes_back)
{
	new_running_stream(0, 1);
	write_numbers(0, 3);
	px_store_release(&px_testpoint_hook, lap_silently);
	px_test_expect(trid, POSIX_TRACE_UNNAMED_USEREVENT, &event);
	px_test_expect(trid, 0, &event);
	px_store_release(&px_testpoint_hook, NULL);
}
END_TEST

static uint64_t nr_flips;

static void flip_state(const char *point)
{
	struct px_segment *segment = view->segment;

	if (strcmp(point, "stream.status.looked") != 0)
		return;
	px_write_once(&segment->state, px_state_next_filter(px_read_once(&segment->state)));
	nr_flips++;
}

/* STATUS-1: a snapshot that never is the same twice. */
START_TEST(status_while_the_state_changes_for_ever_comes_back)
{
	new_running_stream(0, 1);
	px_store_release(&px_testpoint_hook, flip_state);
	px_test_expect_status(trid, POSIX_TRACE_RUNNING, POSIX_TRACE_NOT_FULL,
			      POSIX_TRACE_NO_OVERRUN);
	px_store_release(&px_testpoint_hook, NULL);
	ck_assert_uint_gt(nr_flips, 1);
}
END_TEST

/* A list from which nothing can be looked up.  Each place belongs to a living process that has opened all types. */
static void spoil_types(struct px_shared_names *shared_names)
{
	const struct px_process_id us = px_process_id();
	struct px_segment *segment = view->segment;

	for (uint32_t i = 0; i < PX_TYPELIST_MAX; i++)
		segment->types.entry[i].word = 1;
	for (uint32_t i = 0; i < PX_ARRAY_SIZE(shared_names->names.entry); i++)
		shared_names->names.entry[i].word = 2;
	memset(&segment->types.listed, 0, sizeof(segment->types.listed));
	for (uint32_t i = 0; i < PX_SHARED_NAMES_MEMBERS; i++) {
		shared_names->member[i].word = segment->member[i] = px_procfs_word(us.pid,
										   us.start);
		memset(&shared_names->member[i].opened, 0xFF,
		       sizeof(shared_names->member[i].opened));
	}
}

/* TYPELIST-2: the call does not take hours, though each look at the list finds nothing. */
START_TEST(types_of_a_list_of_nonsense_are_soon_at_their_end)
{
	uint64_t begin = monotonic_ns();
	trace_event_id_t type;
	char name[TRACE_EVENT_NAME_MAX];
	int unavailable = 0;
	struct px_stream *stream;

	new_stream(0, 1);
	stream = px_handle_lock(trid);
	spoil_types(stream->shared_names.shared_names);
	px_handle_unlock(trid);
	while (!unavailable)
		ok(posix_trace_eventtypelist_getnext_id(trid, &type, &unavailable));
	fails(posix_trace_eventid_get_name(trid, PX_EVENT_USER_FIRST + 7, name), EINVAL);
	ck_assert_uint_lt(monotonic_ns() - begin, 5000000000);
}
END_TEST

static uint32_t nr_asked;

static bool ask(uint32_t tid)
{
	(void)tid;
	nr_asked++;
	return true;
}

/* Asking for an owner opens a file.  Only a ring with forged words has so many owners. */
START_TEST(reclaim_all_of_claims_of_very_many_owners_asks_for_some)
{
	struct px_ring ring;

	trid = px_test_create(&(struct px_test_stream){.size = 1000000, .nr_rings = 1});
	view = &px_handle_lock(trid)->view;
	px_handle_unlock(trid);
	ring = ring_at(0);
	ck_assert_uint_ge(nr_slots(), 8192);
	ring.control->head = nr_slots();
	for (uint32_t i = 0; i < nr_slots(); i++)
		ring.slots[i].word = px_word(i, 1 + i, PX_SLOT_CLAIMED);
	px_ring_reclaim_all(&ring, ask);
	ck_assert_uint_ge(nr_asked, 1000);
	ck_assert_uint_le(nr_asked, 1100);
	/* The reader asks for all slots of one owner once. */
	for (uint32_t i = 0; i < nr_slots(); i++)
		ring.slots[i].word = px_word(i, 4711, PX_SLOT_CLAIMED);
	nr_asked = 0;
	px_ring_reclaim_all(&ring, ask);
	ck_assert_uint_eq(nr_asked, 1);
}
END_TEST

static void lap_again(void)
{
	write_numbers(10000, 3 * nr_slots());
}

/* LOOP-4 LOOP-5: a record waits for OVERFLOW and RESUME of the gap before it, when another gap follows after it. */
START_TEST(reader_gap_behind_a_record_that_follows_a_gap_is_marked_too)
{
	new_running_stream(0, 1);
	write_numbers(0, 3 * nr_slots());
	px_test_at_point("reader.take.copied", lap_again);
	ck_assert_uint_gt(expect_marked_gaps(-1), nr_slots() / 2);
}
END_TEST

static void overtake_snapshot(void)
{
	write_to_ring(1, 100);
	for (uint32_t i = 0; i < nr_slots() + 10; i++)
		write_to_ring(0, 1000 + i);
}

/*
 * LOOP-2: a ring is lapped right after the snapshot.  Events of another ring between the snapshot and the oldest
 * survivor are older than the lost ones, so they must not come after OVERFLOW.
 */
START_TEST(reader_events_older_than_a_lap_but_behind_the_snapshot_are_lost_too)
{
	uint32_t number;

	new_running_stream(0, 2);
	for (uint32_t i = 0; i < 3; i++)
		write_to_ring(0, i);
	px_test_at_point("reader.snapshot.taken", overtake_snapshot);
	while (px_test_take(trid, &event) != POSIX_TRACE_RESUME)
		ck_assert_uint_eq(event.info.posix_event_id, POSIX_TRACE_OVERFLOW);
	px_test_expect(trid, POSIX_TRACE_UNNAMED_USEREVENT, &event);
	number = px_test_number(&event);
	ck_assert_uint_ge(number, 1000);
	ck_assert_uint_gt(expect_marked_gaps(number), nr_slots() / 2);
}
END_TEST

static void overtake_the_other_ring(void)
{
	write_to_ring(1, 1000 + 2 * nr_slots());
}

/*
 * LOOP-2: a second ring is lapped while the reader skips the lap of the first one.  Survivors of the second ring that
 * are older than the lost events of the first one must not come after OVERFLOW.
 */
START_TEST(reader_events_older_than_a_lap_but_in_a_ring_lapped_later_are_lost_too)
{
	uint32_t number;

	new_running_stream(0, 2);
	for (uint32_t i = 0; i < nr_slots(); i++)
		write_to_ring(1, i);
	for (uint32_t i = 0; i < 2 * nr_slots(); i++)
		write_to_ring(0, 1000 + i);
	px_test_at_point("reader.lap.jumped", overtake_the_other_ring);
	px_test_expect(trid, POSIX_TRACE_OVERFLOW, &event);
	px_test_expect(trid, POSIX_TRACE_RESUME, &event);
	px_test_expect(trid, POSIX_TRACE_UNNAMED_USEREVENT, &event);
	number = px_test_number(&event);
	ck_assert_uint_ge(number, 1000);
	ck_assert_uint_gt(expect_marked_gaps(number), nr_slots() / 2);
	ck_assert_uint_eq(px_test_number(&event), 1000 + 2 * nr_slots());
}
END_TEST

static void write_sleepy(void)
{
	write_to_ring(1, 50);
}

/*
 * LOOP-2: the same if the reader cannot discard from the other ring at once, because a writer sleeps before the records
 * that are too old.
 */
START_TEST(reader_events_older_than_a_lap_but_behind_a_sleeping_writer_are_lost_too)
{
	struct held writer;
	uint32_t number;

	new_running_stream(0, 2);
	hold(&writer, "record.write.first", write_sleepy);
	for (uint32_t i = 0; i < 3; i++)
		write_to_ring(1, 100 + i);
	for (uint32_t i = 0; i < 2 * nr_slots(); i++)
		write_to_ring(0, 1000 + i);
	px_test_expect(trid, POSIX_TRACE_OVERFLOW, &event);
	px_test_expect(trid, POSIX_TRACE_RESUME, &event);
	px_test_expect(trid, POSIX_TRACE_UNNAMED_USEREVENT, &event);
	number = px_test_number(&event);
	ck_assert_uint_ge(number, 1000);
	release(&writer);
	ck_assert_uint_gt(expect_marked_gaps(number), nr_slots() / 2);
}
END_TEST

static void fill(void)
{
	write_numbers(0, nr_slots());
}

/* UFULL-2 STOP-6: the stream fills up and stops right after the snapshot. */
START_TEST(reader_automatic_stop_stands_behind_events_that_came_behind_the_snapshot)
{
	trace_event_id_t type;
	uint32_t n = 0;

	new_running_stream(POSIX_TRACE_UNTIL_FULL, 1);
	px_test_at_point("reader.snapshot.taken", fill);
	type = px_test_take(trid, &event);
	if (type == 0) /* the snapshot has no events */
		type = px_test_take(trid, &event);
	for (; type == POSIX_TRACE_UNNAMED_USEREVENT; type = px_test_take(trid, &event))
		ck_assert_uint_eq(px_test_number(&event), n++);
	ck_assert_uint_gt(n, nr_slots() / 4);
	ck_assert_uint_eq(type, POSIX_TRACE_STOP);
}
END_TEST

static void set_some_filter(void)
{
	trace_event_set_t set;

	posix_trace_eventset_empty(&set);
	posix_trace_eventset_add(POSIX_TRACE_ERROR, &set);
	posix_trace_set_filter(trid, &set, POSIX_TRACE_SET_EVENTSET);
}

/*
 * UFULL-1 UFULL-2 UFULL-8: an event finds no room, while a writer that has taken the last room and a controller that
 * sets the filter are in the middle of their calls.  Then the stream is full, so a smaller event after it must not be
 * recorded as if nothing were lost.
 */
START_TEST(event_without_room_while_the_filter_is_set_stops_the_stream)
{
	struct held small, large, controller;
	bool was_stopped = false;
	trace_event_id_t type;
	struct px_ring ring;

	new_running_stream(POSIX_TRACE_UNTIL_FULL, 1);
	ring = ring_at(0);
	while (ring.control->head - ring.control->tail + view->geometry.event_slots < view->limit)
		write_numbers(0, 1);
	ck_assert_int_eq(px_test_status(trid).posix_stream_status, POSIX_TRACE_RUNNING);
	hold(&large, "point.state.loaded", write_six_slots);
	hold(&small, "ring.commit.ready", write_three_slots);
	hold(&controller, "ring.reserve.loaded", set_some_filter);
	release(&large);
	write_numbers(4711, 1);
	release(&controller);
	release(&small);
	while ((type = px_test_take(trid, &event)) != 0) {
		was_stopped |= type == POSIX_TRACE_STOP;
		if (type == POSIX_TRACE_UNNAMED_USEREVENT && event.length == 4)
			ck_assert(px_test_number(&event) != 4711 || was_stopped);
	}
	ck_assert(was_stopped);
}
END_TEST

/* An unfinished sequence left this word in this many slots beyond head (C3 in cpuring.h). */
static void leave_beyond_head(uint32_t i, uint64_t distance, enum px_slot_state state)
{
	struct px_ring ring = ring_at(i);
	uint64_t position = px_load_acquire(&ring.control->head) + distance;

	px_store_release(&ring.slots[position & ring.mask].word, px_word(position, 0, state));
}

static void write_a_full_ring(void)
{
	for (uint32_t i = 0; i < nr_slots(); i++)
		write_to_ring(1, i);
}

/* The oldest event is gone, and all others are there: one is lost, and the gap is reported. */
START_TEST(reader_oldest_record_under_what_a_sequence_left_is_lost)
{
	static const enum px_slot_state left[] = {PX_SLOT_CLAIMED, PX_SLOT_VOID};
	struct px_stream *stream;
	struct px_loss loss;

	new_running_stream(0, 2);
	write_a_full_ring();
	leave_beyond_head(1, 0, left[_i]);
	px_test_expect(trid, POSIX_TRACE_OVERFLOW, &event);
	px_test_expect(trid, POSIX_TRACE_RESUME, &event);
	for (uint32_t i = 1; i < nr_slots(); i++) {
		px_test_expect(trid, POSIX_TRACE_UNNAMED_USEREVENT, &event);
		ck_assert_uint_eq(px_test_number(&event), i);
	}
	stream = px_handle_lock(trid);
	px_stream_loss(stream, &loss);
	px_handle_unlock(trid);
	ck_assert_uint_eq(loss.overwritten, 1);
}
END_TEST

/*
 * The writer skips the slot before the leftover ones, so it still has a record of the previous lap.  The reader has
 * read that record or given it up, and does not return to it.
 */
START_TEST(reader_record_that_was_read_ahead_of_what_a_sequence_left_is_not_read_again)
{
	struct px_stream *stream;
	struct px_loss loss;

	new_running_stream(0, 2);
	write_a_full_ring();
	px_test_expect(trid, POSIX_TRACE_UNNAMED_USEREVENT, &event);
	ck_assert_uint_eq(px_test_number(&event), 0);
	leave_beyond_head(1, 1, PX_SLOT_CLAIMED);
	px_test_expect(trid, POSIX_TRACE_OVERFLOW, &event);
	px_test_expect(trid, POSIX_TRACE_RESUME, &event);
	for (uint32_t i = 2; i < nr_slots(); i++) {
		px_test_expect(trid, POSIX_TRACE_UNNAMED_USEREVENT, &event);
		ck_assert_uint_eq(px_test_number(&event), i);
	}
	stream = px_handle_lock(trid);
	px_stream_loss(stream, &loss);
	px_handle_unlock(trid);
	ck_assert_uint_eq(loss.overwritten, 1);
}
END_TEST

/* The first check finds the lap; the second check counts the lost events. */
static void write_behind_the_next_look(void)
{
	px_test_at_point("reader.snapshot.taken", write_three_slots);
}

/*
 * No record survives a lap.  The further slots of a writer that arrives at this moment do not belong to it.  In the
 * end, all lost events are counted.
 */
START_TEST(reader_lap_without_a_survivor_is_counted_when_all_is_read)
{
	struct px_ring ring;
	struct px_stream *stream;
	struct px_reservation at;
	struct px_loss loss;

	new_running_stream(POSIX_TRACE_LOOP, 1);
	ring = ring_at(0);
	write_numbers(0, 5);
	for (uint32_t i = 0; i < nr_slots(); i++) {
		ck_assert(px_ring_reserve(&ring, 1, 0, (enum px_clock_source)view->rings.source,
					  &at));
		ck_assert(px_ring_claim(&ring, at.position, 1, px_thread.tid));
		px_ring_give_up(&ring, at.position, 1);
	}
	px_test_at_point("reader.snapshot.taken", write_behind_the_next_look);
	px_test_expect(trid, 0, &event); /* it is younger than the check */
	px_test_expect(trid, POSIX_TRACE_OVERFLOW, &event);
	px_test_expect(trid, POSIX_TRACE_RESUME, &event);
	px_test_expect(trid, POSIX_TRACE_UNNAMED_USEREVENT, &event);
	stream = px_handle_lock(trid);
	px_stream_loss(stream, &loss);
	px_handle_unlock(trid);
	ck_assert_uint_eq(loss.overwritten, 5);
}
END_TEST

/* A claim at head blocks the way, after a slot without a record. */
START_TEST(reader_passes_what_is_no_record_where_a_lap_begins)
{
	trace_event_id_t type = 0;
	struct px_ring ring;
	uint64_t first;

	new_running_stream(POSIX_TRACE_LOOP, 1);
	ring = ring_at(0);
	first = ring.control->tail;
	write_numbers(0, nr_slots() - 4);
	ring.slots[first & ring.mask].body[3] = 0xFFFF;
	ring.slots[(first + 1) & ring.mask].word =
		px_word(first + 1 + nr_slots(), 0x3FFFFF, PX_SLOT_CLAIMED);
	for (int i = 0; i < 4 && type != POSIX_TRACE_UNNAMED_USEREVENT; i++)
		type = px_test_take(trid, &event);
	ck_assert_uint_eq(type, POSIX_TRACE_UNNAMED_USEREVENT);
	ck_assert_uint_eq(px_test_number(&event), 2);
	ok(posix_trace_shutdown(trid));
}
END_TEST

/* A reader that skipped it would be ahead of the ring, and would have to go back. */
START_TEST(reader_passes_a_record_that_goes_on_behind_head)
{
	static const char data[EVENT_BYTES];
	struct px_ring ring;

	new_running_stream(POSIX_TRACE_LOOP, 1);
	ring = ring_at(0);
	write_numbers(0, 10);
	posix_trace_event(POSIX_TRACE_UNNAMED_USEREVENT, data, sizeof(data));
	ring.control->head -= 2;
	for (uint32_t i = 0; i < 10; i++) {
		px_test_expect(trid, POSIX_TRACE_UNNAMED_USEREVENT, &event);
		ck_assert_uint_eq(px_test_number(&event), i);
	}
	for (int i = 0; i < 4; i++)
		ck_assert_uint_ne(px_test_take(trid, &event), POSIX_TRACE_UNNAMED_USEREVENT);
	ok(posix_trace_shutdown(trid));
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("reader");
	TCase *laps = tcase_create("laps");
	TCase *stops = tcase_create("stops");
	TCase *hostile = tcase_create("hostile memory");

	tcase_set_timeout(laps, 20);
	tcase_add_test(laps, reader_record_committed_behind_a_lap_is_passed);
	tcase_add_test(laps, reader_record_of_hostile_length_is_passed);
	tcase_add_test(laps, reader_gap_behind_a_record_that_follows_a_gap_is_marked_too);
	tcase_add_test(laps, reader_events_older_than_a_lap_but_behind_the_snapshot_are_lost_too);
	tcase_add_test(laps,
		       reader_events_older_than_a_lap_but_in_a_ring_lapped_later_are_lost_too);
	tcase_add_test(laps,
		       reader_events_older_than_a_lap_but_behind_a_sleeping_writer_are_lost_too);
	tcase_add_test(laps, reader_lap_without_a_survivor_is_counted_when_all_is_read);
	tcase_add_loop_test(laps, reader_oldest_record_under_what_a_sequence_left_is_lost, 0, 2);
	tcase_add_test(laps,
		       reader_record_that_was_read_ahead_of_what_a_sequence_left_is_not_read_again);
	suite_add_tcase(suite, laps);

	tcase_set_timeout(hostile, 20);
	tcase_add_test(hostile, reader_of_silent_records_for_ever_comes_back);
	tcase_add_test(hostile, status_while_the_state_changes_for_ever_comes_back);
	tcase_add_test(hostile, types_of_a_list_of_nonsense_are_soon_at_their_end);
	tcase_add_test(hostile, reader_passes_what_is_no_record_where_a_lap_begins);
	tcase_add_test(hostile, reader_passes_a_record_that_goes_on_behind_head);
	tcase_add_test(hostile, reclaim_all_of_claims_of_very_many_owners_asks_for_some);
	suite_add_tcase(suite, hostile);

	tcase_set_timeout(stops, 20);
	tcase_add_test(stops,
		       reader_automatic_stop_stands_behind_events_that_came_behind_the_snapshot);
	tcase_add_test(stops, event_without_room_while_the_filter_is_set_stops_the_stream);
	suite_add_tcase(suite, stops);

	return run_suite(suite);
}
