/* SPDX-License-Identifier: MIT */
/*
 * Records and objects in shared memory: a reader gets back all that was written.  With any content of the memory, the
 * reader stays inside it, and knows whether a record is complete.
 */
#include "support/common.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "event/threads.h"
#include "ring/record.h"

#define TID 4711
#define HANDLE 0x01000007u

/* A ring at the very end of its memory, so that a sanitizer finds an access beyond it. */
static struct px_ring new_ring(uint32_t nr_slots)
{
	size_t size = PX_RING_ENTRIES_OFFSET + (size_t)nr_slots * PX_SLOT_BYTES;
	void *memory = NULL;
	struct px_ring ring;

	ck_assert_int_eq(posix_memalign(&memory, PX_RING_PAGE, size), 0);
	memset(memory, 0, size);
	ring = px_ring_at(memory, nr_slots);
	px_ring_init(&ring);
	return ring;
}

static void free_ring(const struct px_ring *ring)
{
	free(ring->control);
}

static unsigned char *new_data(size_t length, uint64_t *random)
{
	unsigned char *data = malloc(length ? length : 1);

	ck_assert_ptr_nonnull(data);
	for (size_t i = 0; i < length; i++)
		data[i] = (unsigned char)next_random(random);
	return data;
}

static struct px_event event_of(const void *data, size_t length)
{
	return (struct px_event){
		.id = 17,
		.data = data,
		.length = length,
		.address = 0x5555666677778888,
		.thread = 0x7fff00001111ffff,
		.pid = 1234,
		.tid = TID,
		.handle = HANDLE,
		.priority = px_txtb_priority_word(120),
	};
}

/* Write a record and return its position. */
static uint64_t write_record(const struct px_ring *ring, const struct px_event *event,
			     struct px_reservation *at)
{
	uint32_t n = px_record_slots(event->length);

	ck_assert(px_ring_reserve(ring, n, 0, PX_CLOCK_MONOTONIC, at));
	ck_assert(px_ring_claim(ring, at->position, n, event->tid));
	px_record_write(ring, at, n, event, 7, 3);
	px_ring_commit(ring, at->position, n, event->tid);
	return at->position;
}

static uint64_t word_at(const struct px_ring *ring, uint64_t position)
{
	uint64_t word = 0;

	ck_assert_int_eq(px_ring_look(ring, position, px_read_once(&ring->control->head), &word),
			 PX_LOOK_RECORD);
	return word;
}

/* Sizes. */

/* MAXUSR-1 MAXSYS-1 */
START_TEST(record_slots_are_as_many_as_the_data_needs)
{
	static const struct {
		size_t length;
		uint32_t slots;
	} cases[] = {
		{0, 1},
		{1, 1},
		{15, 1},
		{16, 1},
		{17, 2},
		{72, 2},
		{73, 3},
		{128, 3},
		{129, 4},
		{1024, 19},
		{65536, 1171},
		{1 << 20, 18726},
		{UINT32_MAX, 76695846},
	};

	for (size_t i = 0; i < PX_ARRAY_SIZE(cases); i++) {
		ck_assert_uint_eq(px_record_slots(cases[i].length), cases[i].slots);
		ck_assert_uint_eq(px_record_size(cases[i].length), cases[i].slots * UINT64_C(80));
	}
	for (size_t length = 0; length < 10000; length++) {
		uint64_t room = 16 + 56 * ((uint64_t)px_record_slots(length) - 1);

		ck_assert_uint_ge(room, length);
		ck_assert(px_record_slots(length) == 1 || room - 56 < length);
	}
}
END_TEST

/* There is no byte before or after the data, so a sanitizer finds an access outside. */
START_TEST(first_bytes_of_every_length_and_alignment_are_as_copied)
{
	uint64_t random = test_seed();

	for (size_t length = 0; length <= 40; length++) {
		for (size_t shift = 0; shift < 16; shift++) {
			unsigned char *memory = new_data(shift + length, &random);
			uint64_t wanted[2] = {0, 0}, bytes[2] = {1, 1};

			memcpy(wanted, memory + shift, length < 16 ? length : 16);
			px_first_bytes(memory + shift, length, bytes);
			ck_assert_mem_eq(bytes, wanted, sizeof(bytes));
			free(memory);
		}
	}
}
END_TEST

START_TEST(first_bytes_of_no_data_are_zeros)
{
	uint64_t bytes[2] = {1, 1};

	px_first_bytes(NULL, 0, bytes);
	ck_assert_uint_eq(bytes[0] | bytes[1], 0);
}
END_TEST

/* There and back. */

static void check_read(const struct px_ring *ring, uint64_t position, const struct px_event *event,
		       size_t capacity)
{
	unsigned char *buffer = malloc(capacity ? capacity : 1);
	size_t copied = capacity < event->length ? capacity : event->length;
	struct px_record record;

	ck_assert_ptr_nonnull(buffer);
	memset(buffer, 0xA5, capacity ? capacity : 1);
	ck_assert(
		px_record_read(ring, position, word_at(ring, position), &record, buffer, capacity));
	ck_assert_uint_eq(record.length, event->length);
	ck_assert_uint_eq(record.nr_slots, px_record_slots(event->length));
	if (copied > 0)
		ck_assert_mem_eq(buffer, event->data, copied);
	for (size_t i = copied; i < capacity; i++)
		ck_assert_uint_eq(buffer[i], 0xA5);
	free(buffer);
}

static void check_round_trip(const struct px_ring *ring, size_t length, uint64_t *random)
{
	unsigned char *data = new_data(length, random);
	struct px_event event = event_of(data, length);
	struct px_reservation at;
	uint64_t position = write_record(ring, &event, &at);

	check_read(ring, position, &event, length);
	check_read(ring, position, &event, length + 9);
	check_read(ring, position, &event, next_random(random) % (length + 1));
	check_read(ring, position, &event, 0);
	free(data);
}

/* EVENT-3 GETNEXT-5 */
START_TEST(record_of_every_length_comes_back)
{
	struct px_ring ring = new_ring(128);
	uint64_t random = test_seed();

	for (size_t length = 0; length <= 3000; length++)
		check_round_trip(&ring, length, &random);
	free_ring(&ring);
}
END_TEST

START_TEST(record_of_64_kib_comes_back_wherever_it_begins)
{
	struct px_ring ring = new_ring(2048);
	uint64_t random = test_seed();

	for (int i = 0; i < 50; i++) {
		check_round_trip(&ring, 65536, &random);
		check_round_trip(&ring, next_random(&random) % 3000, &random);
	}
	free_ring(&ring);
}
END_TEST

START_TEST(record_that_takes_the_whole_ring_comes_back)
{
	struct px_ring ring = new_ring(64);
	uint64_t random = test_seed();

	for (int i = 0; i < 5; i++) {
		check_round_trip(&ring, 16 + 63 * 56, &random);
		check_round_trip(&ring, 1, &random); /* so that the next record begins elsewhere */
	}
	free_ring(&ring);
}
END_TEST

/* INFO-1 INFO-2 INFO-4 INFO-9 */
START_TEST(record_fields_of_any_value_come_back)
{
	static const uint64_t values[] = {0,	     1, 0x80000000u, UINT32_MAX, UINT64_MAX / 3,
					  UINT64_MAX};
	struct px_ring ring = new_ring(64);

	for (size_t i = 0; i < PX_ARRAY_SIZE(values); i++) {
		struct px_event event = event_of("0123456789", 10);
		struct px_reservation at = {.position = i, .counter = values[i], .extra = values[i]};
		struct px_record record;

		event.address = values[i];
		event.thread = ~values[i];
		event.pid = (uint32_t)values[i];
		event.id = (uint32_t)values[i] & (PX_EVENT_IDS - 1);
		event.flags = (uint32_t)values[i] & 0xFFFF;
		ck_assert(px_ring_claim(&ring, i, 1, TID));
		px_record_write(&ring, &at, 1, &event, 7, 0xFFFFFFFF);
		px_ring_commit(&ring, i, 1, TID);
		ck_assert(
			px_record_read(&ring, i, px_word(i, TID, PX_SLOT_HEAD), &record, NULL, 0));
		ck_assert_uint_eq(record.counter, values[i]);
		ck_assert_uint_eq(px_record_counter(&ring, i), values[i]);
		ck_assert_uint_eq(record.address, values[i]);
		ck_assert_uint_eq(record.thread, ~values[i]);
		ck_assert_uint_eq(record.pid, (uint32_t)values[i]);
		ck_assert_uint_eq(record.id, event.id);
		ck_assert_uint_eq(record.flags, event.flags);
		ck_assert_uint_eq(record.length, 10);
		ck_assert_uint_eq(record.extra, (uint32_t)values[i]);
		ck_assert_uint_eq(record.nr_slots, 1);
	}
	free_ring(&ring);
}
END_TEST

/* What the viewer shows of the record: 16 bytes of data, and entries of the same thread and time. */
START_TEST(record_entries_are_events_of_one_thread_and_time)
{
	struct px_ring ring = new_ring(64);
	uint64_t random = test_seed();
	unsigned char *data = new_data(200, &random);
	struct px_event event = event_of(data, 200);
	struct px_reservation at;
	uint64_t position = write_record(&ring, &event, &at);

	for (uint32_t i = 0; i < px_record_slots(200); i++) {
		const struct px_txtb_entry *entry = &ring.entries[(position + i) & ring.mask];
		uint32_t id = i == 0 ? PX_TXTB_USER_EVENT + 17 : PX_TXTB_DATA;

		ck_assert_uint_eq(entry->context, HANDLE);
		ck_assert_uint_eq(entry->priority, px_txtb_priority_word(120));
		ck_assert_uint_eq(entry->id, 3u << 24 | id);
		ck_assert_uint_eq(entry->stamp, (uint32_t)(at.counter >> 7));
	}
	ck_assert_mem_eq(ring.entries[position & ring.mask].info, data, 16);
	ck_assert_mem_eq(ring.entries[(position + 1) & ring.mask].info, data + 16, 16);
	free(data);
	free_ring(&ring);
}
END_TEST

START_TEST(record_shorter_than_a_slot_leaves_nothing_of_the_one_before)
{
	struct px_ring ring = new_ring(64);
	unsigned char old[16 + 56], zeros[16] = {0};
	struct px_event event;
	struct px_reservation at;
	uint64_t position;

	memset(old, 0xFF, sizeof(old));
	for (int i = 0; i < 64; i++) {
		event = event_of(old, sizeof(old));
		write_record(&ring, &event, &at);
	}
	event = event_of("abc", 3);
	position = write_record(&ring, &event, &at);
	ck_assert_mem_eq(ring.entries[position & ring.mask].info, "abc", 3);
	ck_assert_mem_eq((char *)ring.entries[position & ring.mask].info + 3, zeros, 13);
	event = event_of(old, 17);
	position = write_record(&ring, &event, &at) + 1;
	ck_assert_mem_eq((char *)ring.entries[position & ring.mask].info + 1, zeros, 15);
	ck_assert_uint_eq(ring.slots[position & ring.mask].counter, 0);
	for (int i = 0; i < 4; i++)
		ck_assert_uint_eq(ring.slots[position & ring.mask].body[i], 0);
	free_ring(&ring);
}
END_TEST

/* Torn records. */

static struct px_ring torn_ring;
static uint64_t torn_position;
static uint64_t torn_word;

static void tear(const char *point)
{
	if (strcmp(point, "record.read.copied") == 0)
		px_store_release(&torn_ring.slots[torn_position & torn_ring.mask].word, torn_word);
}

/* LOOP-6: later records take one slot after another, while the test copies all of them. */
START_TEST(record_overwritten_while_it_is_copied_is_not_reported)
{
	static const enum px_slot_state states[] = {PX_SLOT_CLAIMED, PX_SLOT_HEAD, PX_SLOT_MORE,
						    PX_SLOT_VOID};
	unsigned char buffer[16 + 3 * 56];
	struct px_record record;
	struct px_reservation at;
	uint64_t random = test_seed();
	unsigned char *data = new_data(sizeof(buffer), &random);
	struct px_event event = event_of(data, sizeof(buffer));

	torn_ring = new_ring(64);
	for (size_t s = 0; s < PX_ARRAY_SIZE(states); s++) {
		for (uint32_t i = 0; i < 4; i++) {
			uint64_t position = write_record(&torn_ring, &event, &at);
			uint64_t word = word_at(&torn_ring, position);

			torn_position = position + i;
			torn_word = px_word(torn_position + 64, TID + 1, states[s]);
			px_testpoint_hook = tear;
			ck_assert(!px_record_read(&torn_ring, position, word, &record, buffer,
						  sizeof(buffer)));
			px_testpoint_hook = NULL;
			/* Nor before: what the reader loaded is older than the present content. */
			ck_assert(!px_record_read(&torn_ring, position, word, &record, buffer,
						  sizeof(buffer)));
			px_ring_void(&torn_ring, position + i, 1);
		}
	}
	free(data);
	free_ring(&torn_ring);
}
END_TEST

/* LOOP-6: its writer died before it had written all further slots. */
START_TEST(record_whose_further_slots_are_not_its_own_is_not_reported)
{
	struct px_ring ring = new_ring(64);
	unsigned char buffer[16 + 3 * 56] = {0};
	struct px_event event = event_of(buffer, sizeof(buffer));
	struct px_reservation at;
	struct px_record record;

	for (uint32_t i = 1; i < 4; i++) {
		uint64_t position = write_record(&ring, &event, &at);
		uint64_t word = word_at(&ring, position);
		uint64_t *more = &ring.slots[(position + i) & ring.mask].word;
		const uint64_t wrong[] = {
			0,
			px_word(position + i, TID, PX_SLOT_CLAIMED),
			px_word(position + i, TID, PX_SLOT_HEAD),
			px_word(position + i, TID, PX_SLOT_VOID),
			px_word(position + i, TID + 1, PX_SLOT_MORE),
			px_word(position + i - 64, TID, PX_SLOT_MORE),
			px_word(position + i + 64, TID, PX_SLOT_MORE),
			UINT64_MAX,
		};

		for (size_t k = 0; k < PX_ARRAY_SIZE(wrong); k++) {
			px_write_once(more, wrong[k]);
			ck_assert(!px_record_read(&ring, position, word, &record, buffer,
						  sizeof(buffer)));
		}
		px_write_once(more, px_word(position + i, TID, PX_SLOT_MORE));
		ck_assert(px_record_read(&ring, position, word, &record, buffer, sizeof(buffer)));
	}
	free_ring(&ring);
}
END_TEST

/* Hostile memory. */

/* A record with this length in its first slot; all slots after it claim to be its own. */
static void plant(const struct px_ring *ring, uint64_t position, uint32_t length)
{
	struct px_slot *slot = &ring->slots[position & ring->mask];

	slot->word = px_word(position, TID, PX_SLOT_HEAD);
	slot->body[2] = (uint64_t)length << 32;
	for (uint32_t i = 1; i <= ring->mask; i++)
		ring->slots[(position + i) & ring->mask].word = px_word(position + i, TID,
									PX_SLOT_MORE);
}

START_TEST(record_of_hostile_length_is_read_within_the_ring_and_the_buffer)
{
	struct px_ring ring = new_ring(64);
	const uint32_t longest = 16 + 63 * 56;
	const uint32_t lengths[] = {0,
				    1,
				    16,
				    17,
				    longest - 1,
				    longest,
				    longest + 1,
				    longest + 56,
				    65536,
				    0x7FFFFFFF,
				    0x80000000,
				    0xFFFFFFC8,
				    UINT32_MAX - 1,
				    UINT32_MAX};
	const size_t capacities[] = {0, 1, 16, 100, 10000};

	for (size_t i = 0; i < PX_ARRAY_SIZE(lengths); i++) {
		for (size_t k = 0; k < PX_ARRAY_SIZE(capacities); k++) {
			uint64_t position = i * 37;
			char *buffer = malloc(capacities[k] ? capacities[k] : 1);
			struct px_record record;
			bool read;

			plant(&ring, position, lengths[i]);
			read = px_record_read(&ring, position, px_word(position, TID, PX_SLOT_HEAD),
					      &record, buffer, capacities[k]);
			ck_assert_int_eq(read, lengths[i] <= longest);
			ck_assert(!read || record.length == lengths[i]);
			ck_assert(!read || record.nr_slots <= 64);
			free(buffer);
		}
	}
	free_ring(&ring);
}
END_TEST

/* A set of ids has a bit for each possible id, also in the memory of a log. */
START_TEST(record_of_no_event_type_is_no_record)
{
	static const struct {
		uint32_t id;
		bool is_record;
	} cases[] = {{PX_EVENT_UNNAMED, true},
		     {PX_EVENT_IDS - 1, true},
		     {PX_EVENT_IDS, false},
		     {0x8000, false},
		     {0xFFFF, false}};
	struct px_ring ring = new_ring(64);

	for (size_t i = 0; i < PX_ARRAY_SIZE(cases); i++) {
		struct px_record record;

		plant(&ring, i, 0);
		ring.slots[i].body[3] = cases[i].id;
		ck_assert_int_eq(px_record_read(&ring, i, px_word(i, TID, PX_SLOT_HEAD), &record,
						NULL, 0),
				 cases[i].is_record);
	}
	free_ring(&ring);
}
END_TEST

/* If such an entry had the context of a pseudo object, the viewer would show it for another object. */
START_TEST(record_in_the_context_of_no_thread_is_of_none)
{
	const struct {
		uint32_t context, expected;
	} cases[] = {{px_txtb_handle(PX_TXTB_THREAD, 7), px_txtb_handle(PX_TXTB_THREAD, 7)},
		     {PX_NO_THREAD, 0},
		     {PX_IDLE_THREAD, 0},
		     {px_txtb_handle(PX_TXTB_MUTEX, 7), 0},
		     {0, 0},
		     {0xF0F0F0F0, 0},
		     {UINT32_MAX, 0}};
	struct px_ring ring = new_ring(64);

	for (size_t i = 0; i < PX_ARRAY_SIZE(cases); i++) {
		struct px_record record;

		plant(&ring, i, 0);
		ring.entries[i].context = cases[i].context;
		ck_assert(px_record_read(&ring, i, px_word(i, TID, PX_SLOT_HEAD), &record, NULL, 0));
		ck_assert_uint_eq(record.context, cases[i].expected);
	}
	free_ring(&ring);
}
END_TEST

/* Words that look like the words of a ring more often than random words do. */
static uint64_t hostile_word(uint64_t *random, uint64_t position, uint32_t nr_slots)
{
	uint64_t word = next_random(random);

	switch (next_random(random) % 4) {
	case 0:
		return word;
	case 1:
		position += (word % 5 - 2) * nr_slots;
		break;
	default:
		break;
	}
	return px_word(position, TID + word % 2, (enum px_slot_state)(word >> 8 & 7));
}

static void spoil(const struct px_ring *ring, uint64_t position, uint64_t *random)
{
	uint32_t nr_slots = ring->mask + 1;

	for (uint32_t i = 0; i < nr_slots; i++) {
		struct px_slot *slot = &ring->slots[(position + i) & ring->mask];
		uint64_t length = next_random(random) % 400;

		slot->word = hostile_word(random, position + i, nr_slots);
		slot->counter = next_random(random);
		for (int k = 0; k < 4; k++)
			slot->body[k] = next_random(random);
		if (next_random(random) % 2)
			slot->body[2] = length << 32;
	}
	for (int i = 0; i < PX_RING_SKIPS; i++)
		ring->control->skipped[i] = next_random(random) % 2 ?
						    next_random(random) :
						    position + next_random(random) % nr_slots;
}

/* Read like a reader: load, read what is there, and go on after it. */
static uint64_t walk(const struct px_ring *ring, uint64_t position, uint64_t head, char *buffer,
		     size_t capacity)
{
	uint64_t nr_steps = 0, word;
	struct px_record record;

	while ((int64_t)(head - position) > 0) {
		uint32_t n = 1;

		if (px_ring_look(ring, position, head, &word) == PX_LOOK_RECORD &&
		    px_record_read(ring, position, word, &record, buffer, capacity)) {
			ck_assert_uint_le(record.nr_slots, ring->mask + 1);
			n = record.nr_slots;
		}
		position += n;
		nr_steps++;
	}
	return nr_steps;
}

static bool no_thread_lives(uint32_t tid)
{
	(void)tid;
	return false;
}

START_TEST(record_of_garbage_is_read_within_the_ring_and_the_buffer)
{
	struct px_ring ring = new_ring(64);
	uint64_t random = test_seed();

	for (int round = 0; round < 5000; round++) {
		uint64_t head = next_random(&random) >> (round % 2 ? 0 : 50);
		uint64_t position = head - 64;
		size_t capacity = next_random(&random) % 500;
		char *buffer = malloc(capacity ? capacity : 1);
		uint64_t oldest;

		spoil(&ring, position, &random);
		ck_assert_uint_le(walk(&ring, position, head, buffer, capacity), 64);
		oldest = px_ring_oldest(&ring, head, (uint32_t)(next_random(&random) % 65));
		ck_assert_uint_le(head - oldest, 64);
		px_ring_save_first_lost(&ring, position);
		ck_assert_uint_le(px_ring_reclaim(&ring, position, head) - position, 64);
		ck_assert_uint_le(px_ring_reclaim_all(&ring, no_thread_lives), 64);
		free(buffer);
	}
	free_ring(&ring);
}
END_TEST

/* Objects. */

static struct px_threads objects;

/* The handle determines all members. */
static struct px_object object_of(uint32_t handle)
{
	struct px_object object = {.handle = handle,
				   .type = handle * 3,
				   .priority = handle * 5,
				   .pid = handle * 7,
				   .tid = handle * 11};

	snprintf(object.name, sizeof(object.name), "object %u, and a name that fills its field: %u",
		 handle, ~handle);
	return object;
}

static bool is_whole(const struct px_object *object)
{
	struct px_object wanted = object_of(object->handle);

	return memcmp(object, &wanted, sizeof(wanted)) == 0;
}

static uint64_t add_object(uint32_t handle)
{
	struct px_object object = object_of(handle);

	return px_threads_add(&objects, &object);
}

/* MAP-5 */
START_TEST(objects_are_found_by_serial_and_handle)
{
	struct px_object object;

	ck_assert(!px_threads_get(&objects, 0, &object));
	ck_assert(!px_threads_find(&objects, 1, &object));
	for (uint32_t i = 0; i < 100; i++)
		ck_assert_uint_eq(add_object(1000 + i), i);
	for (uint32_t i = 0; i < 100; i++) {
		ck_assert(px_threads_get(&objects, i, &object));
		ck_assert_uint_eq(object.handle, 1000 + i);
		ck_assert(is_whole(&object));
		ck_assert(px_threads_find(&objects, 1000 + i, &object));
		ck_assert(is_whole(&object));
	}
	ck_assert(!px_threads_get(&objects, 100, &object));
	ck_assert(!px_threads_find(&objects, 1100, &object));
	ck_assert(!px_threads_find(&objects, 0, &object)); /* an unused place has no handle */
}
END_TEST

/* MAP-5: however many threads come and go, the first thread of a process stays */
START_TEST(objects_beyond_the_table_leave_first_threads)
{
	struct px_object first = {.handle = 1, .type = PX_TXTB_THREAD, .pid = 4711, .tid = 4711};
	struct px_object object = {.type = PX_TXTB_THREAD, .pid = 4711};
	struct px_object found;

	px_threads_add(&objects, &first);
	for (uint32_t i = 2; i < 5 * PX_THREADS_MAX; i++) {
		object.handle = i;
		object.tid = 4711 + i;
		px_threads_add(&objects, &object);
		ck_assert(px_threads_find(&objects, 1, &found));
		ck_assert_uint_eq(found.tid, 4711);
		ck_assert(px_threads_find(&objects, i, &found));
		ck_assert_uint_eq(found.tid, 4711 + i);
	}
	/* Of very many processes, the newest stay. */
	for (uint32_t i = 10 * PX_THREADS_MAX; i < 13 * PX_THREADS_MAX; i++) {
		object.handle = object.pid = object.tid = i;
		px_threads_add(&objects, &object);
		ck_assert(px_threads_find(&objects, i, &found));
	}
}
END_TEST

/* MAP-5 */
START_TEST(objects_beyond_the_table_replace_the_oldest)
{
	struct px_object object;

	for (uint32_t i = 0; i < 3 * PX_THREADS_MAX + 10; i++) {
		uint32_t oldest = i < PX_THREADS_MAX ? 0 : i - PX_THREADS_MAX + 1;

		ck_assert_uint_eq(add_object(1 + i), i);
		ck_assert(px_threads_find(&objects, 1 + i, &object));
		ck_assert(px_threads_find(&objects, 1 + oldest, &object));
		ck_assert(px_threads_get(&objects, oldest, &object));
		ck_assert(is_whole(&object));
		if (oldest > 0) {
			ck_assert(!px_threads_find(&objects, oldest, &object));
			ck_assert(!px_threads_get(&objects, oldest - 1, &object));
		}
	}
}
END_TEST

START_TEST(objects_of_one_handle_give_the_youngest)
{
	struct px_object object = object_of(5);

	add_object(5);
	add_object(6);
	strcpy(object.name, "renamed");
	px_threads_add(&objects, &object);
	ck_assert(px_threads_find(&objects, 5, &object));
	ck_assert_str_eq(object.name, "renamed");
}
END_TEST

START_TEST(objects_name_without_end_is_cut)
{
	struct px_object object = object_of(5);

	memset(object.name, 'x', sizeof(object.name));
	px_threads_add(&objects, &object);
	ck_assert(px_threads_find(&objects, 5, &object));
	ck_assert_uint_eq(strlen(object.name), PX_OBJECT_NAME_SIZE - 1);
}
END_TEST

START_TEST(objects_table_hostile_is_searched_within_it)
{
	uint64_t random = test_seed();
	struct px_threads *table = malloc(sizeof(*table));
	struct px_object object;

	ck_assert_ptr_nonnull(table);
	for (int round = 0; round < 200; round++) {
		for (size_t i = 0; i < sizeof(*table) / sizeof(uint64_t); i++)
			((uint64_t *)table)[i] = next_random(&random);
		table->next = round % 2 ? next_random(&random) : UINT64_MAX - (uint64_t)round;
		for (int k = 0; k < 10; k++) {
			uint64_t serial = next_random(&random);
			struct px_threads_entry *place = &table->entry[serial % PX_THREADS_MAX];

			if (k % 2)
				place->word = 2 * (serial + 1);
			if (px_threads_get(table, serial, &object))
				ck_assert_uint_lt(strlen(object.name), PX_OBJECT_NAME_SIZE);
			px_threads_find(table, place->object.handle, &object);
		}
	}
	free(table);
}
END_TEST

#define NR_ADDERS 4
#define NR_ADDED 20000

struct adder {
	pthread_t thread;
	uint32_t first;
	uint32_t nr_missed; /* its own object, right after adding it */
};

static uint32_t nr_torn;
static uint32_t nr_seen;
static uint32_t reader_runs, adders_done;

static void *add_many(void *argument)
{
	struct adder *adder = argument;

	while (!px_load_acquire(&reader_runs))
		;
	for (uint32_t i = 0; i < NR_ADDED; i++) {
		struct px_object object;

		add_object(adder->first + i);
		adder->nr_missed += !px_threads_find(&objects, adder->first + i, &object);
	}
	return NULL;
}

static void *read_many(void *argument)
{
	struct px_object object;

	(void)argument;
	while (!px_load_acquire(&adders_done)) {
		uint64_t next = px_load_acquire(&objects.next);

		uint64_t oldest = next > PX_THREADS_MAX ? next - PX_THREADS_MAX : 0;

		for (uint64_t serial = oldest; serial != next; serial++) {
			if (!px_threads_get(&objects, serial, &object))
				continue;
			nr_seen++;
			nr_torn += !is_whole(&object);
		}
		px_store_release(&reader_runs, 1);
	}
	return NULL;
}

START_TEST(objects_added_by_many_threads_are_whole)
{
	struct adder adder[NR_ADDERS] = {{0}};
	uint32_t nr_missed = 0;
	pthread_t reader;
	struct px_object object;

	add_object(UINT32_MAX); /* so that there is an object from the beginning */
	pthread_create(&reader, NULL, read_many, NULL);
	for (uint32_t i = 0; i < NR_ADDERS; i++) {
		adder[i].first = 1 + i * NR_ADDED;
		pthread_create(&adder[i].thread, NULL, add_many, &adder[i]);
	}
	for (uint32_t i = 0; i < NR_ADDERS; i++) {
		pthread_join(adder[i].thread, NULL);
		nr_missed += adder[i].nr_missed;
	}
	px_store_release(&adders_done, 1);
	pthread_join(reader, NULL);
	ck_assert_uint_gt(nr_seen, 0);
	ck_assert_uint_eq(nr_torn, 0);
	/* A thread that slept while others filled the table does not find its own object; every other thread must. */
	ck_assert_uint_lt(nr_missed, NR_ADDERS * NR_ADDED / 10);
	ck_assert_uint_ge(objects.next, NR_ADDERS * NR_ADDED + 1);
	for (uint64_t serial = objects.next - 1; serial > objects.next - 100; serial--)
		if (px_threads_get(&objects, serial, &object))
			ck_assert(is_whole(&object));
}
END_TEST

/* While one thread adds an object, others add a whole table of objects. */
static void add_a_lap(const char *point)
{
	if (strcmp(point, "objects.add.writing") != 0)
		return;
	px_testpoint_hook = NULL;
	for (uint32_t i = 0; i < PX_THREADS_MAX; i++)
		add_object(100 + i);
}

/*
 * A writer that sleeps while others fill the whole table once keeps its own place.  The newer objects are all there,
 * except one, for which this place is missing.
 */
START_TEST(objects_add_overtaken_by_a_lap_leaves_the_newer)
{
	struct px_object object;

	px_testpoint_hook = add_a_lap;
	add_object(99);
	for (uint32_t i = 1; i < PX_THREADS_MAX; i++) {
		ck_assert_msg(px_threads_find(&objects, 100 + i, &object), "object %u is lost",
			      100 + i);
		ck_assert(is_whole(&object));
	}
}
END_TEST

/* A writer that is killed while it adds an object leaves one place that readers skip until it is used again. */
static void stop_here(const char *point)
{
	if (strcmp(point, "objects.add.writing") == 0)
		pthread_exit(NULL);
}

static void *add_and_die(void *argument)
{
	(void)argument;
	add_object(7);
	return NULL;
}

START_TEST(objects_writer_killed_leaves_a_place_that_is_passed_over)
{
	struct px_object object;
	pthread_t thread;

	add_object(6);
	px_testpoint_hook = stop_here;
	pthread_create(&thread, NULL, add_and_die, NULL);
	pthread_join(thread, NULL);
	px_testpoint_hook = NULL;
	ck_assert(!px_threads_get(&objects, 1, &object));
	ck_assert(!px_threads_find(&objects, 7, &object));
	for (uint32_t i = 0; i < PX_THREADS_MAX; i++)
		add_object(100 + i);
	/* Its place was used again, too. */
	ck_assert(px_threads_find(&objects, 100 + PX_THREADS_MAX - 1, &object));
	ck_assert(is_whole(&object));
	ck_assert(!px_threads_find(&objects, 6, &object));
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("record");
	TCase *record = tcase_create("record");
	TCase *hostile = tcase_create("hostile");
	TCase *table = tcase_create("objects");

	tcase_set_timeout(record, 60);
	tcase_add_test(record, record_slots_are_as_many_as_the_data_needs);
	tcase_add_test(record, first_bytes_of_every_length_and_alignment_are_as_copied);
	tcase_add_test(record, first_bytes_of_no_data_are_zeros);
	tcase_add_test(record, record_of_every_length_comes_back);
	tcase_add_test(record, record_of_64_kib_comes_back_wherever_it_begins);
	tcase_add_test(record, record_that_takes_the_whole_ring_comes_back);
	tcase_add_test(record, record_fields_of_any_value_come_back);
	tcase_add_test(record, record_entries_are_events_of_one_thread_and_time);
	tcase_add_test(record, record_shorter_than_a_slot_leaves_nothing_of_the_one_before);
	tcase_add_test(record, record_overwritten_while_it_is_copied_is_not_reported);
	tcase_add_test(record, record_whose_further_slots_are_not_its_own_is_not_reported);
	suite_add_tcase(suite, record);

	tcase_set_timeout(hostile, 60);
	tcase_add_test(hostile, record_of_no_event_type_is_no_record);
	tcase_add_test(hostile, record_in_the_context_of_no_thread_is_of_none);
	tcase_add_test(hostile, record_of_hostile_length_is_read_within_the_ring_and_the_buffer);
	tcase_add_test(hostile, record_of_garbage_is_read_within_the_ring_and_the_buffer);
	suite_add_tcase(suite, hostile);

	tcase_set_timeout(table, 60);
	tcase_add_test(table, objects_are_found_by_serial_and_handle);
	tcase_add_test(table, objects_beyond_the_table_leave_first_threads);
	tcase_add_test(table, objects_beyond_the_table_replace_the_oldest);
	tcase_add_test(table, objects_of_one_handle_give_the_youngest);
	tcase_add_test(table, objects_name_without_end_is_cut);
	tcase_add_test(table, objects_table_hostile_is_searched_within_it);
	tcase_add_test(table, objects_added_by_many_threads_are_whole);
	tcase_add_test(table, objects_add_overtaken_by_a_lap_leaves_the_newer);
	tcase_add_test(table, objects_writer_killed_leaves_a_place_that_is_passed_over);
	suite_add_tcase(suite, table);

	return run_suite(suite);
}
