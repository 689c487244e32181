/* SPDX-License-Identifier: MIT */
/*
 * The ring alone: what it holds and loses, and its races, which test points force.  R1 ...  R6 are the invariants of
 * ring.h. tests/model/ checks the same protocol; this file tests the real code.
 */
#include "support/common.h"

#include <limits.h>
#include <pthread.h>
#include <sched.h>
#include <semaphore.h>
#include <setjmp.h>
#include <signal.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "ring/ring.h"

#define CLAIM_ATTEMPTS 4 /* like the trace point */
#define NR_SLOTS 16
#define MAX_SLOTS 16 /* of one record */
#define MAX_EVENTS 4096

/* PID_MAX_LIMIT of Linux is 2^22, and no thread gets the highest number below it. */
#define NOBODY 0x3fffffu

/* The ring under test. */
static struct px_ring ring;
static uint64_t limit; /* 0: it loops */
static enum px_clock_source source;

static uint32_t self(void)
{
	return (uint32_t)syscall(SYS_gettid);
}

static bool is_alive(uint32_t tid)
{
	return syscall(SYS_tkill, (int)tid, 0) == 0;
}

static bool always_alive(uint32_t tid)
{
	(void)tid;
	return true;
}

static bool never_alive(uint32_t tid)
{
	(void)tid;
	return false;
}

/*
 * Where positions begin: at 0, and just below the values at which 32 bits, the slot word, the neighbouring fields and
 * 64 bits wrap.
 */
static const uint64_t starts[] = {
	0,
	(UINT64_C(1) << 32) - 5,
	(UINT64_C(1) << 39) - 5,
	(UINT64_C(1) << 40) - 5,
	UINT64_MAX - 4,
};
#define NR_STARTS ((int)PX_ARRAY_SIZE(starts))

/* What the tests write, by serial number, and how often the reader has read it. */
static struct {
	uint64_t position;
	uint64_t counter;
	bool written;
	unsigned int read;
} event[MAX_EVENTS];
static unsigned int nr_events;

/* The page behind the ring cannot be accessed. */
static void begin(uint32_t nr_slots, uint64_t at_most, uint64_t start)
{
	size_t size = px_ring_stride(nr_slots);
	char *memory = mmap(NULL, size + PX_RING_PAGE, PROT_READ | PROT_WRITE,
			    MAP_SHARED | MAP_ANONYMOUS, -1, 0);

	ck_assert_ptr_ne(memory, MAP_FAILED);
	ck_assert_int_eq(mprotect(memory + size, PX_RING_PAGE, PROT_NONE), 0);
	ring = px_ring_at(memory, nr_slots);
	px_ring_init(&ring);
	ring.control->head = ring.control->tail = start;
	limit = at_most;
	memset(event, 0, sizeof(event));
	nr_events = 0;
}

/* For tests that run in a loop. */
static void end(void)
{
	munmap(ring.control, px_ring_stride(ring.mask + 1) + PX_RING_PAGE);
}

/*
 * The content of a record.  A slot has nine words besides its slot word: five after it and four in the entry.  In the
 * first slot, the first four of them are counter, serial, number of slots, and position; all others are a pattern.
 */
#define SLOT_WORDS 9
enum { COUNTER = 0, SERIAL = 1, SLOTS = 2, POSITION = 3, PATTERN = 4 };

typedef uint64_t word_alias __attribute__((may_alias));

static word_alias *slot_word(uint64_t position, unsigned int k)
{
	uint64_t index = position & ring.mask;

	if (k < 5)
		return (word_alias *)&ring.slots[index] + 1 + k;
	return (word_alias *)&ring.entries[index] + (k - 5);
}

static uint64_t pattern(uint64_t serial, unsigned int slot, unsigned int k)
{
	uint64_t state = serial << 16 | slot << 4 | k;

	return next_random(&state);
}

static void fill(const struct px_reservation *at, uint64_t serial, uint32_t n)
{
	for (unsigned int slot = 0; slot < n; slot++) {
		for (unsigned int k = 0; k < SLOT_WORDS; k++) {
			px_write_once(slot_word(at->position + slot, k), pattern(serial, slot, k));
			if (slot == 0 && k == PATTERN)
				PX_TESTPOINT("test.fill.half");
		}
	}
	px_write_once(slot_word(at->position, COUNTER), at->counter);
	px_write_once(slot_word(at->position, SERIAL), serial);
	px_write_once(slot_word(at->position, SLOTS), (uint64_t)n);
	px_write_once(slot_word(at->position, POSITION), at->position);
}

/* Writers. */

enum outcome { WRITTEN, FULL, GIVEN_UP };

/* Write one event like a trace point. */
static enum outcome write_as(uint32_t tid, uint64_t serial, uint32_t n, struct px_reservation *at)
{
	for (int attempt = 0; attempt < CLAIM_ATTEMPTS; attempt++) {
		if (!px_ring_reserve(&ring, n, limit, source, at))
			return FULL;
		if (!px_ring_claim(&ring, at->position, n, tid))
			continue;
		fill(at, serial, n);
		px_ring_commit(&ring, at->position, n, tid);
		return WRITTEN;
	}
	px_fetch_add(&ring.control->given_up, UINT64_C(1));
	return GIVEN_UP;
}

static void note_written(unsigned int serial, const struct px_reservation *at)
{
	event[serial].position = at->position;
	event[serial].counter = at->counter;
	event[serial].written = true;
}

/* Write one event of this thread, which keeps a list of its events. */
static enum outcome put(uint32_t n)
{
	unsigned int serial = nr_events++;
	struct px_reservation at;
	enum outcome outcome = write_as(self(), serial, n, &at);

	if (outcome == WRITTEN)
		note_written(serial, &at);
	return outcome;
}

static void put_records(unsigned int count, uint32_t n)
{
	for (unsigned int i = 0; i < count; i++)
		ck_assert_int_eq(put(n), WRITTEN);
}

/* Another process, which is alive. */
static uint32_t holder(void)
{
	return (uint32_t)getppid();
}

/* Slots that are reserved and claimed for tid, but not written: like those of a sleeping writer. */
static struct px_reservation hold(uint32_t n, uint32_t tid)
{
	struct px_reservation at;

	ck_assert(px_ring_reserve(&ring, n, limit, source, &at));
	ck_assert(px_ring_claim(&ring, at.position, n, tid));
	return at;
}

/* The reader. */

struct reader {
	uint64_t position;
	uint64_t counter; /* of the last record */
	uint64_t nr_read;
	uint64_t nr_laps;
	uint64_t nr_torn;
	uint64_t nr_backward; /* counters that fell */
	uint64_t serial;      /* of the last record */
};

static struct reader reader_at_tail(void)
{
	return (struct reader){.position = ring.control->tail};
}

/* Copy the record of this word.  Return false if it was overwritten meanwhile. */
static bool copy_record(uint64_t position, uint64_t word, uint64_t copy[MAX_SLOTS][SLOT_WORDS])
{
	uint64_t n = px_read_once(slot_word(position, SLOTS));

	if (n == 0 || n > MAX_SLOTS)
		n = 1; /* torn, which the check must find */
	for (unsigned int slot = 0; slot < n; slot++) {
		for (unsigned int k = 0; k < SLOT_WORDS; k++) {
			copy[slot][k] = px_read_once(slot_word(position + slot, k));
			if (slot == 0 && k == PATTERN)
				PX_TESTPOINT("test.copy.half");
		}
	}
	for (unsigned int slot = 1; slot < n; slot++)
		if (!px_ring_unchanged(&ring, position + slot,
				       px_word(position + slot, px_word_tid(word), PX_SLOT_MORE)))
			return false;
	return px_ring_unchanged(&ring, position, word);
}

static bool is_whole(uint64_t position, uint64_t copy[MAX_SLOTS][SLOT_WORDS])
{
	uint64_t n = copy[0][SLOTS];

	if (n == 0 || n > MAX_SLOTS || copy[0][POSITION] != position)
		return false;
	for (unsigned int slot = 0; slot < n; slot++)
		for (unsigned int k = slot ? 0 : PATTERN; k < SLOT_WORDS; k++)
			if (copy[slot][k] != pattern(copy[0][SERIAL], slot, k))
				return false;
	return true;
}

static void pass(struct reader *reader, uint64_t position)
{
	reader->position = position;
	px_ring_consume(&ring, position);
}

/* Make one step.  After CLAIMED and UNCLAIMED, the reader has not moved. */
static enum px_look read_next(struct reader *reader)
{
	uint64_t head = px_load_acquire(&ring.control->head);
	uint64_t copy[MAX_SLOTS][SLOT_WORDS];
	uint64_t word;
	enum px_look look = px_ring_look(&ring, reader->position, head, &word);

	if (look == PX_LOOK_RECORD && !copy_record(reader->position, word, copy))
		look = PX_LOOK_LAPPED;
	switch (look) {
	case PX_LOOK_RECORD:
		if (!is_whole(reader->position, copy)) {
			reader->nr_torn++;
			pass(reader, reader->position + 1);
			break;
		}
		reader->nr_backward += copy[0][COUNTER] < reader->counter;
		reader->counter = copy[0][COUNTER];
		reader->serial = copy[0][SERIAL];
		reader->nr_read++;
		pass(reader, reader->position + copy[0][SLOTS]);
		break;
	case PX_LOOK_NOTHING:
		pass(reader, reader->position + 1);
		break;
	case PX_LOOK_LAPPED:
		reader->nr_laps++;
		pass(reader, px_ring_oldest(&ring, px_load_acquire(&ring.control->head), 0));
		break;
	default:
		break;
	}
	return look;
}

enum stuck { WAIT, STEP_OVER };

/*
 * Read on to the head, or to a slot in flight.  Use STEP_OVER in tests whose writer certainly sleeps or is dead; others
 * reclaim slots of dead writers.
 */
static void drain(struct reader *reader, enum stuck stuck)
{
	for (;;) {
		enum px_look look = read_next(reader);

		if (look == PX_LOOK_EMPTY)
			return;
		if (look == PX_LOOK_RECORD && reader->serial < MAX_EVENTS)
			event[reader->serial].read++;
		if (look != PX_LOOK_CLAIMED && look != PX_LOOK_UNCLAIMED)
			continue;
		if (stuck == WAIT)
			return;
		if (look == PX_LOOK_CLAIMED) {
			uint64_t word =
				px_read_once(&ring.slots[reader->position & ring.mask].word);

			if (!is_alive(px_word_tid(word))) {
				pass(reader,
				     px_ring_reclaim(&ring, reader->position, ring.control->head));
				continue;
			}
		}
		pass(reader, reader->position + 1);
	}
}

static void expect_sound(const struct reader *reader)
{
	ck_assert_uint_eq(reader->nr_torn, 0);
	ck_assert_uint_eq(reader->nr_backward, 0);
}

/* From this serial on, every event was written, and the reader has read it once. */
static void expect_all_read(unsigned int first)
{
	for (unsigned int i = first; i < nr_events; i++) {
		ck_assert_msg(event[i].written, "event %u", i);
		ck_assert_msg(event[i].read == 1, "event %u: read %u times", i, event[i].read);
	}
}

static void expect_empty(const struct reader *reader)
{
	ck_assert_uint_eq(reader->position, ring.control->head);
	ck_assert_uint_eq(ring.control->tail, ring.control->head);
}

static enum px_look look_at(uint64_t position)
{
	uint64_t word;

	return px_ring_look(&ring, position, ring.control->head, &word);
}

/* Layout. */

static const uint32_t sizes[] = {1, 2, 4, 16, 64, 1024, 65536, PX_RING_SLOTS_MAX};
#define NR_SIZES ((int)PX_ARRAY_SIZE(sizes))

/* The parts are at the offsets of ring.h.  No entry crosses the edge of a cache line. */
START_TEST(ring_at_any_size_aligns_its_parts)
{
	uint32_t nr_slots = sizes[_i];
	struct px_ring at = px_ring_at((void *)(uintptr_t)0x10000000, nr_slots);

	ck_assert_uint_eq((uintptr_t)at.control, 0x10000000);
	ck_assert_uint_eq((uintptr_t)at.entries % PX_CACHE_LINE, 0);
	ck_assert_uint_eq((uintptr_t)at.slots % sizeof(uint64_t), 0);
	ck_assert_uint_eq((uintptr_t)px_ring_image(&at), 0x10000000 + PX_RING_PAGE);
	ck_assert_ptr_eq(at.slots, at.entries + nr_slots);
	ck_assert_uint_le((uintptr_t)(at.slots + nr_slots), 0x10000000 + px_ring_stride(nr_slots));
	ck_assert_uint_eq(at.mask, nr_slots - 1);
}
END_TEST

/* Each ring begins on a page boundary. */
START_TEST(ring_stride_any_size_is_whole_pages)
{
	size_t stride = px_ring_stride(sizes[_i]);
	size_t need = PX_RING_ENTRIES_OFFSET +
		      sizes[_i] * (sizeof(struct px_txtb_entry) + sizeof(struct px_slot));

	ck_assert_uint_eq(stride % PX_RING_PAGE, 0);
	ck_assert_uint_ge(stride, need);
	ck_assert_uint_lt(stride - need, PX_RING_PAGE);
}
END_TEST

/* Words that different threads write are on different cache lines ("Who writes what"). */
START_TEST(ring_control_groups_of_writers_share_no_line)
{
	ck_assert_uint_eq(offsetof(struct px_ring_control, head) / PX_CACHE_LINE,
			  offsetof(struct px_ring_control, given_up) / PX_CACHE_LINE);
	ck_assert_uint_eq(offsetof(struct px_ring_control, tail) % PX_CACHE_LINE, 0);
	ck_assert_uint_ne(offsetof(struct px_ring_control, tail) / PX_CACHE_LINE,
			  offsetof(struct px_ring_control, given_up) / PX_CACHE_LINE);
	ck_assert_uint_eq(offsetof(struct px_ring_control, first_lost) % PX_CACHE_LINE, 0);
	ck_assert_uint_eq(offsetof(struct px_ring_control, skipped) % PX_CACHE_LINE, 0);
	ck_assert_uint_ne(offsetof(struct px_ring_control, skipped) / PX_CACHE_LINE,
			  offsetof(struct px_ring_control, first_lost) / PX_CACHE_LINE);
	ck_assert_uint_le(sizeof(struct px_ring_control), PX_RING_PAGE);
}
END_TEST

/* From a ring of zeros, px_ring_init() makes an image with as many entries as the ring has slots. */
START_TEST(ring_init_zeros_become_an_image)
{
	struct px_txtb_header *header;

	begin(sizes[_i], 0, 0);
	header = px_ring_image(&ring);
	ck_assert_uint_eq(header->id, PX_TXTB_ID);
	ck_assert_uint_eq(header->buffer_end - header->buffer_start,
			  sizes[_i] * sizeof(struct px_txtb_entry));
	ck_assert_uint_eq(header->buffer_start - header->base,
			  (uintptr_t)ring.entries - (uintptr_t)header);
	ck_assert_uint_eq(header->current, header->buffer_start);
}
END_TEST

/* The functions get from a word what it was made of. */
START_TEST(word_any_position_gives_its_parts)
{
	static const uint32_t tids[] = {0, 1, 4242, NOBODY};

	for (unsigned int i = 0; i < PX_ARRAY_SIZE(tids); i++) {
		for (unsigned int state = PX_SLOT_FREE; state <= PX_SLOT_VOID; state++) {
			uint64_t word = px_word(starts[_i], tids[i], (enum px_slot_state)state);

			ck_assert_uint_eq(px_word_tid(word), tids[i]);
			ck_assert_uint_eq(px_word_state(word), state);
			ck_assert_int_eq(px_word_ahead_of(word, starts[_i]), 0);
		}
	}
}
END_TEST

/* The distance is signed, even if the positions wrap in between. */
START_TEST(word_ahead_of_any_position_is_the_distance)
{
	static const int64_t distances[] = {
		0, 1, -1, 4, -4, 1000, -1000, (INT64_C(1) << 38) - 1, -(INT64_C(1) << 38)};

	for (unsigned int i = 0; i < PX_ARRAY_SIZE(distances); i++) {
		uint64_t word = px_word(starts[_i] + (uint64_t)distances[i], NOBODY, PX_SLOT_VOID);

		ck_assert_int_eq(px_word_ahead_of(word, starts[_i]), distances[i]);
	}
}
END_TEST

/* One writer and one reader, one after the other. */

/* R3 */
START_TEST(look_new_ring_is_empty)
{
	struct reader reader;

	begin(NR_SLOTS, 0, starts[_i]);
	reader = reader_at_tail();
	ck_assert_int_eq(read_next(&reader), PX_LOOK_EMPTY);
	ck_assert_uint_eq(px_ring_oldest(&ring, ring.control->head, 0), ring.control->head);
	ck_assert_uint_eq(px_ring_reclaim_all(&ring, never_alive), 0);
}
END_TEST

/* R3 EVENT-3 */
START_TEST(commit_one_record_is_read)
{
	struct reader reader;

	begin(NR_SLOTS, _i % 2 ? NR_SLOTS : 0, starts[_i / 2]);
	reader = reader_at_tail();
	put_records(1, 1);
	ck_assert_int_eq(read_next(&reader), PX_LOOK_RECORD);
	ck_assert_uint_eq(reader.serial, 0);
	ck_assert_uint_eq(reader.counter, event[0].counter);
	ck_assert_int_eq(read_next(&reader), PX_LOOK_EMPTY);
	expect_sound(&reader);
	expect_empty(&reader);
}
END_TEST

/* R2 R3 EVENT-11 */
START_TEST(commit_many_records_are_read_in_order)
{
	struct reader reader;

	begin(NR_SLOTS, _i % 2 ? NR_SLOTS : 0, starts[_i / 2]);
	reader = reader_at_tail();
	for (unsigned int i = 0; i < 10 * NR_SLOTS; i++) {
		put_records(1, 1);
		if (i % 7 == 0)
			drain(&reader, WAIT);
	}
	drain(&reader, WAIT);
	ck_assert_uint_eq(reader.serial, nr_events - 1);
	expect_sound(&reader);
	expect_all_read(0);
	expect_empty(&reader);
}
END_TEST

/* R2 R3 EVENT-3 */
START_TEST(commit_many_slot_records_are_read_whole)
{
	struct reader reader;

	begin(NR_SLOTS, _i % 2 ? NR_SLOTS : 0, starts[_i / 2]);
	reader = reader_at_tail();
	for (unsigned int i = 0; i < 10 * NR_SLOTS; i++) {
		put_records(1, 1 + i % NR_SLOTS);
		drain(&reader, WAIT);
	}
	expect_sound(&reader);
	expect_all_read(0);
	expect_empty(&reader);
}
END_TEST

/* head - extra counts records of any size */
START_TEST(reserve_any_size_counts_records)
{
	struct px_reservation at;

	begin(64, 0, starts[_i]);
	put_records(3, 1);
	put_records(2, 5);
	put_records(1, 2);
	ck_assert_uint_eq(ring.control->head - starts[_i] - px_ring_extra(ring.control), 6);
	ck_assert(px_ring_reserve(&ring, 4, limit, source, &at));
	ck_assert_uint_eq(at.position - starts[_i] - at.extra, 6);
}
END_TEST

/* What the reader learns about a slot that is being written. */
START_TEST(look_slot_on_its_way_says_where_it_is)
{
	struct px_reservation at;
	uint64_t head, word;

	begin(NR_SLOTS, 0, starts[_i]);
	ck_assert(px_ring_reserve(&ring, 2, limit, source, &at));
	head = ring.control->head;
	ck_assert_int_eq(px_ring_look(&ring, at.position, head, &word), PX_LOOK_UNCLAIMED);
	ck_assert_int_eq(px_ring_look(&ring, at.position + 1, head, &word), PX_LOOK_UNCLAIMED);
	ck_assert(px_ring_claim(&ring, at.position, 2, 4242));
	ck_assert_int_eq(px_ring_look(&ring, at.position, head, &word), PX_LOOK_CLAIMED);
	ck_assert_uint_eq(px_word_tid(word), 4242);
	fill(&at, 0, 2);
	px_ring_commit(&ring, at.position, 2, 4242);
	ck_assert_int_eq(px_ring_look(&ring, at.position, head, &word), PX_LOOK_RECORD);
	ck_assert_int_eq(px_ring_look(&ring, at.position + 1, head, &word), PX_LOOK_NOTHING);
	ck_assert_int_eq(px_ring_look(&ring, head, head, &word), PX_LOOK_EMPTY);
	ck_assert(px_ring_unchanged(&ring, at.position, px_word(at.position, 4242, PX_SLOT_HEAD)));
	put_records(NR_SLOTS, 1);
	ck_assert_int_eq(px_ring_look(&ring, at.position, ring.control->head, &word),
			 PX_LOOK_LAPPED);
	ck_assert(!px_ring_unchanged(&ring, at.position, px_word(at.position, 4242, PX_SLOT_HEAD)));
}
END_TEST

/* R3: the reader skips slots that were given up. */
START_TEST(void_claimed_slots_are_passed)
{
	struct px_reservation at;
	struct reader reader;

	begin(NR_SLOTS, NR_SLOTS, starts[_i]);
	reader = reader_at_tail();
	put_records(1, 1);
	at = hold(3, self());
	put_records(1, 1);
	drain(&reader, WAIT);
	ck_assert_uint_eq(reader.nr_read, 1);
	ck_assert_uint_eq(reader.position, at.position);
	px_ring_void(&ring, at.position, 3);
	drain(&reader, WAIT);
	expect_all_read(0);
	expect_empty(&reader);
}
END_TEST

/* R4 ATTR-4: a bounded ring holds its limit exactly, to the slot. */
START_TEST(reserve_bounded_ring_holds_its_limit)
{
	static const uint64_t limits[] = {1, 7, NR_SLOTS};
	uint64_t at_most = limits[_i % 3];
	struct px_reservation at = {1, 2, 3};
	struct reader reader;

	begin(NR_SLOTS, at_most, starts[_i / 3]);
	reader = reader_at_tail();
	put_records((unsigned int)at_most, 1);
	ck_assert(!px_ring_reserve(&ring, 1, limit, source, &at));
	ck_assert_uint_eq(at.position, 1);
	ck_assert_uint_eq(at.counter, 2);
	ck_assert_uint_eq(at.extra, 3);
	ck_assert_uint_eq(ring.control->head - starts[_i / 3], at_most);
	ck_assert_int_eq(read_next(&reader), PX_LOOK_RECORD);
	event[0].read++;
	ck_assert(!px_ring_reserve(&ring, 2, limit, source, &at));
	put_records(1, 1);
	ck_assert(!px_ring_reserve(&ring, 1, limit, source, &at));
	drain(&reader, WAIT);
	expect_sound(&reader);
	expect_all_read(0);
}
END_TEST

/* R4: records that are not consumed stay while writers go on, with any mix of sizes. */
START_TEST(reserve_bounded_ring_never_overwrites)
{
	uint64_t seed = test_seed();
	struct reader reader;

	begin(NR_SLOTS, NR_SLOTS, starts[_i]);
	reader = reader_at_tail();
	while (nr_events < MAX_EVENTS - 64) {
		for (unsigned int i = 0; i < 20; i++)
			if (put(1 + (uint32_t)(next_random(&seed) % 5)) != WRITTEN)
				nr_events--; /* FULL */
		for (uint64_t i = next_random(&seed) % 4; i > 0; i--)
			if (read_next(&reader) == PX_LOOK_RECORD)
				event[reader.serial].read++;
	}
	drain(&reader, WAIT);
	ck_assert_uint_eq(reader.nr_laps, 0);
	expect_sound(&reader);
	expect_all_read(0);
}
END_TEST

/* LOOP-1 LOOP-2: a looping ring always holds exactly the most recent records. */
START_TEST(reserve_looping_ring_keeps_the_youngest)
{
	struct reader reader;

	begin(NR_SLOTS, 0, starts[_i]);
	for (unsigned int count = 1; count < 5 * NR_SLOTS; count++) {
		put_records(1, 1);
		reader = (struct reader){.position = px_ring_oldest(&ring, ring.control->head, 0)};
		ck_assert_uint_eq(ring.control->head - reader.position,
				  count < NR_SLOTS ? count : NR_SLOTS);
		while (read_next(&reader) == PX_LOOK_RECORD)
			;
		ck_assert_uint_eq(reader.nr_read, count < NR_SLOTS ? count : NR_SLOTS);
		ck_assert_uint_eq(reader.serial, nr_events - 1);
		expect_sound(&reader);
	}
}
END_TEST

/* LOOP-2 LOOP-6: if a lap took the first slot of a record, the record is gone, and the next one is the oldest. */
START_TEST(oldest_lap_into_a_record_is_the_next_record)
{
	struct reader reader;

	begin(NR_SLOTS, 0, starts[_i]);
	reader = reader_at_tail();
	put_records(1, 5);
	put_records(NR_SLOTS - 5, 1);
	for (unsigned int i = 0; i < 5; i++) {
		put_records(1, 1);
		ck_assert_int_eq(look_at(starts[_i]), PX_LOOK_LAPPED);
		ck_assert_uint_eq(px_ring_oldest(&ring, ring.control->head, 0), starts[_i] + 5);
	}
	drain(&reader, WAIT);
	ck_assert_uint_eq(event[0].read, 0);
	ck_assert_uint_eq(reader.nr_laps, 1);
	expect_sound(&reader);
	expect_all_read(1);
}
END_TEST

/* LOOP-6: the lap took only a further slot of the record, because a sleeping writer has the slot before it. */
START_TEST(unchanged_further_slot_overwritten_is_noticed)
{
	struct px_reservation asleep;
	struct reader reader;

	begin(NR_SLOTS, 0, starts[_i]);
	reader = reader_at_tail();
	put_records(1, 3);
	put_records(NR_SLOTS - 3, 1);
	ck_assert(px_ring_reserve(&ring, 1, limit, source, &asleep));
	put_records(1, 1);
	ck_assert_int_eq(look_at(starts[_i]), PX_LOOK_RECORD); /* its first slot is unchanged */
	drain(&reader, STEP_OVER);
	ck_assert_uint_eq(event[0].read, 0);
	expect_sound(&reader);
	expect_all_read(1);
}
END_TEST

/* LOOP-2: a reader that is lapped again and again keeps a distance, and still begins at a record. */
START_TEST(oldest_margin_is_kept)
{
	begin(NR_SLOTS, 0, starts[_i]);
	put_records(3, 1);
	put_records(1, 5);
	put_records(NR_SLOTS - 8, 1);
	for (uint32_t margin = 0; margin <= NR_SLOTS; margin++)
		ck_assert_uint_eq(px_ring_oldest(&ring, ring.control->head, margin) - starts[_i],
				  margin > 3 && margin < 8 ? 8 : margin);
}
END_TEST

/* A ring without a committed record has no oldest one. */
START_TEST(oldest_nothing_committed_is_the_head)
{
	begin(NR_SLOTS, 0, starts[_i]);
	hold(3, self());
	px_ring_void(&ring, hold(2, self()).position, 2);
	ck_assert_uint_eq(px_ring_oldest(&ring, ring.control->head, 0), ring.control->head);
}
END_TEST

/* R5 SYSEV-2: the first overwritten record is saved, even if it has many slots, and not before it is overwritten. */
START_TEST(reserve_first_lap_saves_counter_of_first_lost)
{
	uint32_t n = _i % 2 ? 3 : 1;

	begin(NR_SLOTS, 0, starts[_i / 2]);
	put_records(1, 1);
	put_records(5, n);
	put_records(NR_SLOTS - 1 - 5 * n, 1);
	ck_assert_uint_eq(ring.control->first_lost, 0);
	put_records(1, 1);
	ck_assert_uint_eq(ring.control->first_lost, event[0].counter);
	put_records(3 * NR_SLOTS, 1);
	ck_assert_uint_eq(ring.control->first_lost, event[0].counter);
}
END_TEST

/* R5 SYSEV-2: a record of many slots that crosses the end of the ring. */
START_TEST(reserve_lap_within_a_reservation_saves_first_lost)
{
	begin(NR_SLOTS, 0, starts[_i]);
	put_records(NR_SLOTS - 2, 1);
	put_records(1, 5);
	ck_assert_uint_eq(ring.control->first_lost, event[0].counter);
}
END_TEST

/* R5: void slots at the tail are no record; the first record after them is the oldest. */
START_TEST(reserve_lap_over_void_slots_saves_next_record)
{
	begin(NR_SLOTS, 0, starts[_i]);
	px_ring_void(&ring, hold(3, self()).position, 3);
	put_records(NR_SLOTS - 3, 1);
	ck_assert_uint_eq(ring.control->first_lost, 0);
	put_records(1, 1);
	ck_assert_uint_eq(ring.control->first_lost, event[0].counter);
	put_records(NR_SLOTS, 1);
	ck_assert_uint_eq(ring.control->first_lost, event[0].counter);
}
END_TEST

/* R5: a slot in flight at the tail has content of an earlier lap, which the reader has read. */
START_TEST(reserve_lap_over_slot_in_flight_saves_no_older_record)
{
	struct px_reservation at;
	struct reader reader;

	begin(NR_SLOTS, 0, starts[_i / 2]);
	reader = reader_at_tail();
	put_records(NR_SLOTS, 1);
	drain(&reader, WAIT);
	if (_i % 2)
		at = hold(1, holder());
	else
		ck_assert(px_ring_reserve(&ring, 1, limit, source, &at));
	put_records(NR_SLOTS - 1, 1);
	ck_assert_uint_eq(ring.control->tail, at.position);
	put_records(2, 1);
	ck_assert(ring.control->first_lost == 0 ||
		  ring.control->first_lost >= event[NR_SLOTS].counter);
}
END_TEST

/* R5 LOOP-5: records that were read are not lost, and each gap has its own first record. */
START_TEST(reserve_second_gap_saves_its_own_first_lost)
{
	struct reader reader;

	begin(NR_SLOTS, 0, starts[_i]);
	reader = reader_at_tail();
	put_records(NR_SLOTS + 3, 1);
	drain(&reader, WAIT);
	ck_assert_uint_eq(reader.nr_read, NR_SLOTS);
	ck_assert_uint_eq(ring.control->first_lost, event[0].counter);
	put_records(NR_SLOTS, 1);
	ck_assert_uint_eq(ring.control->first_lost, event[0].counter);
	put_records(1, 1);
	ck_assert_uint_eq(ring.control->first_lost, event[NR_SLOTS + 3].counter);
	drain(&reader, WAIT);
	ck_assert_uint_eq(reader.nr_laps, 2);
	ck_assert_uint_eq(reader.nr_read, 2 * NR_SLOTS);
	expect_sound(&reader);
}
END_TEST

/* A bounded ring overwrites nothing, so it saves nothing. */
START_TEST(reserve_bounded_ring_saves_no_first_lost)
{
	struct reader reader;

	begin(NR_SLOTS, NR_SLOTS, starts[_i]);
	reader = reader_at_tail();
	for (unsigned int i = 0; i < 5; i++) {
		put_records(NR_SLOTS, 1);
		drain(&reader, WAIT);
	}
	ck_assert_uint_eq(ring.control->first_lost, 0);
}
END_TEST

/* Partial claims: a sleeping writer holds a slot when a lap comes to it. */

/* R1 R6 EVENT-7: the record goes to other slots; none of its first slots stays claimed. */
START_TEST(claim_held_slot_in_a_record_gives_the_others_up)
{
	unsigned int column = (unsigned int)_i % 5; /* which slot of the record of five slots */
	struct px_reservation held;
	struct reader reader;
	uint64_t failed;

	begin(NR_SLOTS, 0, starts[_i / 5]);
	reader = reader_at_tail();
	held = hold(1, holder());
	put_records(NR_SLOTS - 1 - column, 1);
	drain(&reader, STEP_OVER);
	failed = ring.control->head;
	ck_assert_uint_eq(failed + column, held.position + NR_SLOTS);
	put_records(1, 5);
	ck_assert_uint_eq(event[nr_events - 1].position, failed + 5);
	for (unsigned int i = 0; i < 5; i++)
		ck_assert_int_eq(look_at(failed + i), PX_LOOK_NOTHING);
	ck_assert_uint_eq(ring.slots[held.position & ring.mask].word,
			  px_word(held.position, holder(), PX_SLOT_CLAIMED));
	drain(&reader, WAIT); /* there is no reason to wait */
	expect_empty(&reader);
	expect_all_read(0);
	/* The sleeping writer wakes up too late for the reader, and the slot is like any other. */
	fill(&held, MAX_EVENTS, 1);
	px_ring_commit(&ring, held.position, 1, holder());
	put_records(3 * NR_SLOTS, 1);
	drain(&reader, WAIT);
	expect_sound(&reader);
	ck_assert_uint_eq(event[nr_events - 1].read, 1);
}
END_TEST

/* EVENT-8: if writers hold all slots, every call gives up and returns; nothing is overwritten. */
START_TEST(claim_all_slots_held_gives_up)
{
	struct px_reservation held[NR_SLOTS];
	struct reader reader;

	begin(NR_SLOTS, 0, starts[_i]);
	reader = reader_at_tail();
	for (unsigned int i = 0; i < NR_SLOTS; i++)
		held[i] = hold(1, self());
	ck_assert_int_eq(put(1), GIVEN_UP);
	ck_assert_int_eq(put(3), GIVEN_UP);
	ck_assert_uint_eq(ring.control->given_up, 2);
	for (unsigned int i = 0; i < NR_SLOTS; i++) {
		fill(&held[i], i, 1);
		px_ring_commit(&ring, held[i].position, 1, self());
		note_written(i, &held[i]);
	}
	nr_events = NR_SLOTS;
	drain(&reader, WAIT);
	expect_sound(&reader);
	expect_all_read(0);
	expect_empty(&reader);
}
END_TEST

/*
 * Races.  One writer, the subject, stops at a test point.  The others go on, for some rounds of the ring, and the
 * reader with them.  All of them run in the main thread, so a slot in flight belongs to the subject, or to the holder
 * that some situations have.
 */

static struct {
	const char *point;
	int hits_left; /* it acts at the last passage */
	void (*spring)(void);
} trap;
static __thread bool is_subject;

static void testpoint_hook(const char *name)
{
	if (is_subject && trap.point && strcmp(name, trap.point) == 0 && --trap.hits_left == 0)
		trap.spring();
}

static void set_trap(const char *point, int hit, void (*spring)(void))
{
	trap.point = point;
	trap.hits_left = hit;
	trap.spring = spring;
	__atomic_store_n(&px_testpoint_hook, testpoint_hook, __ATOMIC_RELEASE);
}

static const char *const points[] = {
	"ring.reserve.loaded", "ring.reserve.stamped", "ring.reserve.done", "ring.lost.saved",
	"ring.claim.loaded",   "ring.claim.done",      "ring.void.done",    "ring.skip.done",
	"test.fill.half",      "ring.commit.more",     "ring.commit.ready", "ring.commit.done",
};
#define NR_POINTS ((int)PX_ARRAY_SIZE(points))

/* The state of the ring that the subject finds. */
static const struct situation {
	uint32_t n;	 /* number of slots of its record */
	bool has_holder; /* the first attempt finds a held slot, in the middle if there is one */
	bool is_unread;	 /* a lap is full and not read: the subject overwrites the tail */
	bool bounded;
} situations[] = {
	{1, false, false, false}, {3, false, false, false}, {1, true, false, false},
	{3, true, false, false},  {1, false, true, false},  {3, false, true, false},
	{1, false, false, true},  {3, false, false, true},  {1, true, false, true},
	{3, true, false, true},
};

/* How often a subject in this situation passes the point. */
static int nr_hits(const struct situation *situation, const char *point)
{
	int n = (int)situation->n;
	int extra = situation->has_holder ? n - 1 :
					    0; /* number of slots of the first attempt that it could take */

	if (strcmp(point, "ring.lost.saved") == 0)
		return situation->is_unread ? 1 : 0;
	if (strcmp(point, "ring.void.done") == 0)
		return extra;
	if (strcmp(point, "ring.skip.done") == 0)
		return situation->has_holder ? 1 : 0;
	if (strcmp(point, "ring.commit.more") == 0)
		return n - 1;
	if (strncmp(point, "ring.claim", 10) == 0)
		return n + extra;
	if (strncmp(point, "ring.reserve", 12) == 0)
		return situation->has_holder ? 2 : 1;
	return 1;
}

struct run {
	const struct situation *situation;
	struct reader reader;
	struct px_reservation held;
	unsigned int subject; /* serial */
	enum outcome outcome;
	struct px_reservation at;
};

static void begin_run(struct run *run, const struct situation *situation, uint64_t start)
{
	unsigned int before = (situation->n - 1) / 2;

	begin(NR_SLOTS, situation->bounded ? NR_SLOTS : 0, start);
	run->situation = situation;
	run->reader = reader_at_tail();
	if (situation->has_holder) {
		run->held = hold(1, holder());
		put_records(NR_SLOTS - 1 - before, 1);
	} else if (situation->is_unread) {
		put_records(2, 2);
		put_records(NR_SLOTS - 4, 1);
	} else {
		put_records(2, 1);
	}
	if (!situation->is_unread)
		drain(&run->reader, STEP_OVER);
	run->subject = nr_events++;
}

static void note_subject(const struct run *run)
{
	if (run->outcome == WRITTEN)
		note_written(run->subject, &run->at);
}

/* Write records of one to three slots, for a round of the ring or more; read each at once, or none. */
static void others_lap(struct run *run, unsigned int laps, bool drains)
{
	uint64_t until = ring.control->head + (uint64_t)laps * NR_SLOTS;

	for (uint32_t n = 1; (int64_t)(until - ring.control->head) > 0; n = n % 3 + 1) {
		ck_assert_int_eq(put(n), WRITTEN);
		if (drains)
			drain(&run->reader, STEP_OVER);
	}
}

/* Check everything when no record is being written any more.  A holder goes on now. */
static void end_run(struct run *run, bool drained)
{
	uint64_t oldest, from;

	if (run->situation->has_holder) {
		fill(&run->held, MAX_EVENTS, 1);
		px_ring_commit(&ring, run->held.position, 1, holder());
	}
	oldest = ring.control->head - NR_SLOTS;
	from = run->reader.position;
	drain(&run->reader, STEP_OVER);
	expect_sound(&run->reader);
	expect_empty(&run->reader);
	for (unsigned int i = 0; i < nr_events; i++) {
		bool survives = (int64_t)(event[i].position - oldest) >= 0;

		ck_assert_uint_le(event[i].read, 1);
		if (i == run->subject) {
			/* The event is complete, or the reader had passed its place already. */
			if (event[i].written && survives &&
			    (int64_t)(event[i].position - from) >= 0)
				ck_assert_uint_eq(event[i].read, 1);
		} else if (drained || survives) {
			ck_assert_msg(event[i].read == 1, "event %u: read %u times", i,
				      event[i].read);
		}
	}
	/* The ring works as a new one. */
	for (unsigned int i = 0; i < 2 * NR_SLOTS; i++) {
		ck_assert_int_eq(put(1), WRITTEN);
		drain(&run->reader, WAIT);
		ck_assert_uint_eq(event[nr_events - 1].read, 1);
	}
	expect_empty(&run->reader);
	end();
}

/* Run each situation that passes the point, for each of its passages. */
#define for_each_hit(situation, hit, point)                                                        \
	for (const struct situation *situation = situations;                                       \
	     situation < situations + PX_ARRAY_SIZE(situations); situation++)                      \
		for (int hit = 1; hit <= nr_hits(situation, point); hit++)

/* The subject is a thread that sleeps at the point. */

static sem_t has_arrived, may_go;
static bool was_caught;

static void sleep_in_trap(void)
{
	was_caught = true;
	sem_post(&has_arrived);
	while (sem_wait(&may_go) == -1)
		;
}

static void *sleeper(void *argument)
{
	struct run *run = argument;

	is_subject = true;
	run->outcome = write_as(self(), run->subject, run->situation->n, &run->at);
	sem_post(&has_arrived); /* once more, if the test point did not stop this thread */
	return NULL;
}

static void run_sleeper(const struct situation *situation, const char *point, int hit,
			unsigned int laps, bool drains)
{
	struct run run;
	pthread_t thread;

	begin_run(&run, situation, starts[(unsigned int)hit % PX_ARRAY_SIZE(starts)]);
	sem_init(&has_arrived, 0, 0);
	sem_init(&may_go, 0, 0);
	was_caught = false;
	set_trap(point, hit, sleep_in_trap);
	ck_assert_int_eq(pthread_create(&thread, NULL, sleeper, &run), 0);
	while (sem_wait(&has_arrived) == -1)
		;
	ck_assert_msg(was_caught, "%s, hit %d, was not met", point, hit);
	if (laps > 0) {
		others_lap(&run, laps, drains);
	} else {
		put_records(1, 1);
		put_records(1, 3);
		if (drains)
			drain(&run.reader, WAIT);
	}
	sem_post(&may_go);
	ck_assert_int_eq(pthread_join(thread, NULL), 0);
	ck_assert_int_eq(run.outcome, WRITTEN);
	note_subject(&run);
	/* If the reader did not skip the record, it reads it now.  It has read a record that was committed before. */
	if (drains && (laps == 0 || strcmp(point, "ring.commit.done") == 0)) {
		drain(&run.reader, STEP_OVER);
		ck_assert_uint_eq(event[run.subject].read, 1);
	}
	end_run(&run, drains);
}

/*
 * R1 R3 R4 LOOP-6 EVENT-8: other threads need not wait for a sleeping writer, wherever it sleeps; its event is not
 * torn.
 */
START_TEST(write_asleep_anywhere_blocks_nobody)
{
	const char *point = points[_i];

	for_each_hit(situation, hit, point)
	{
		for (unsigned int laps = 0; laps < 4; laps++) {
			if (!situation->is_unread)
				run_sleeper(situation, point, hit, laps, true);
			if (!situation->bounded)
				run_sleeper(situation, point, hit, laps, false);
		}
	}
}
END_TEST

/* The subject is a process that is killed at the point. */

static void kill_in_trap(void)
{
	kill(getpid(), SIGKILL);
	for (;;)
		pause();
}

/* Return its tid.  *caught is false if it did not come to the point. */
static uint32_t run_victim(uint64_t serial, uint32_t n, const char *point, int hit, bool *caught)
{
	struct px_reservation at;
	pid_t child = fork();
	int status;

	if (child == 0) {
		is_subject = true;
		set_trap(point, hit, kill_in_trap);
		write_as(self(), serial, n, &at);
		_exit(0);
	}
	ck_assert_int_gt(child, 0);
	ck_assert_int_eq(waitpid(child, &status, 0), child);
	*caught = WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL;
	return (uint32_t)child;
}

static unsigned int nr_claimed(void)
{
	unsigned int count = 0;

	for (unsigned int i = 0; i <= ring.mask; i++)
		count += px_word_state(ring.slots[i].word) == PX_SLOT_CLAIMED;
	return count;
}

static void run_killed(const struct situation *situation, const char *point, int hit,
		       bool reclaims_all, bool drains)
{
	unsigned int nr_held = situation->has_holder;
	struct run run;
	bool caught;

	begin_run(&run, situation, starts[(unsigned int)hit % PX_ARRAY_SIZE(starts)]);
	run_victim(run.subject, situation->n, point, hit, &caught);
	ck_assert_msg(caught, "%s, hit %d, was not met", point, hit);
	if (reclaims_all) {
		unsigned int nr_stuck = nr_claimed() - nr_held;

		ck_assert_uint_le(nr_stuck, situation->n);
		ck_assert_uint_eq(px_ring_reclaim_all(&ring, is_alive), nr_stuck);
		ck_assert_uint_eq(nr_claimed(), nr_held);
		others_lap(&run, 2, drains);
		/* R6: the holder lives. */
		ck_assert_uint_eq(px_ring_reclaim_all(&ring, is_alive), 0);
		ck_assert_uint_eq(nr_claimed(), nr_held);
	} else {
		others_lap(&run, 3, drains);
	}
	if (drains) /* only what was committed, and each event once */
		ck_assert_uint_eq(event[run.subject].read, strcmp(point, "ring.commit.done") == 0);
	px_ring_reclaim_all(&ring, is_alive);
	end_run(&run, drains);
}

/* R6 EVENT-17 EXIT-6: a writer that is killed at any point leaves only its own slots, and others can reclaim them. */
START_TEST(write_killed_anywhere_blocks_nobody)
{
	const char *point = points[_i];

	for_each_hit(situation, hit, point)
	{
		for (int variant = 0; variant < 4; variant++) {
			bool drains = variant / 2 == 0;

			if (drains ? situation->is_unread : situation->bounded)
				continue;
			run_killed(situation, point, hit, variant % 2, drains);
		}
	}
}
END_TEST

#define NR_KILLS 40

/* EVENT-17 EXIT-6: if threads reclaim slots in time, the slots do not run out. */
START_TEST(reclaim_all_after_each_kill_keeps_all_slots)
{
	struct reader reader;

	begin(NR_SLOTS, _i ? NR_SLOTS : 0, 0);
	reader = reader_at_tail();
	for (int i = 0; i < NR_KILLS; i++) {
		const char *point = points[i % NR_POINTS];
		unsigned int before = nr_events;
		bool caught;

		run_victim(MAX_EVENTS, 2, point, 1, &caught);
		ck_assert_uint_eq(px_ring_reclaim_all(&ring, is_alive) > 0,
				  strcmp(point, "ring.claim.done") == 0 ||
					  strcmp(point, "test.fill.half") == 0 ||
					  strcmp(point, "ring.commit.more") == 0 ||
					  strcmp(point, "ring.commit.ready") == 0);
		drain(&reader, STEP_OVER);
		for (unsigned int k = 0; k < NR_SLOTS; k++)
			put_records(1, 1);
		drain(&reader, WAIT);
		expect_all_read(before);
		expect_empty(&reader);
	}
	ck_assert_uint_eq(nr_claimed(), 0);
	ck_assert_uint_eq(ring.control->given_up, 0);
	expect_sound(&reader);
}
END_TEST

/*
 * EVENT-8 EVENT-17 EXIT-6: if no thread reclaims slots, they run out.  Even then all calls return, and one
 * call repairs the ring.
 */
START_TEST(reclaim_all_after_more_kills_than_slots_frees_the_ring)
{
	struct reader reader;

	begin(NR_SLOTS, 0, 0);
	reader = reader_at_tail();
	for (int i = 0; i < NR_KILLS; i++) {
		bool caught;

		/* Later threads find no slot and return. */
		run_victim(MAX_EVENTS, 1, "ring.claim.done", 1, &caught);
		if (i < NR_SLOTS / 2)
			put_records(1, 1);
	}
	ck_assert_uint_eq(nr_claimed(), NR_SLOTS);
	ck_assert_int_eq(put(1), GIVEN_UP);
	ck_assert_uint_gt(ring.control->given_up, 0);
	ck_assert_uint_eq(px_ring_reclaim_all(&ring, is_alive), NR_SLOTS);
	ck_assert_uint_eq(nr_claimed(), 0);
	nr_events--;
	drain(&reader, STEP_OVER);
	expect_empty(&reader);
	put_records(NR_SLOTS, 1);
	drain(&reader, WAIT);
	expect_sound(&reader);
	for (unsigned int i = nr_events - NR_SLOTS; i < nr_events; i++)
		ck_assert_uint_eq(event[i].read, 1);
}
END_TEST

/* R6: slots of another owner do not change. */
START_TEST(reclaim_record_of_the_dead_stops_at_the_next_owner)
{
	struct px_reservation dead, alive;

	begin(NR_SLOTS, 0, starts[_i]);
	dead = hold(3, NOBODY);
	alive = hold(2, self());
	ck_assert_uint_eq(px_ring_reclaim(&ring, dead.position, ring.control->head),
			  alive.position);
	ck_assert_int_eq(look_at(dead.position), PX_LOOK_NOTHING);
	ck_assert_int_eq(look_at(dead.position + 2), PX_LOOK_NOTHING);
	ck_assert_int_eq(look_at(alive.position), PX_LOOK_CLAIMED);
	ck_assert_uint_eq(px_ring_reclaim_all(&ring, always_alive), 0);
	ck_assert_uint_eq(px_ring_reclaim_all(&ring, is_alive), 0);
	ck_assert_uint_eq(px_ring_reclaim_all(&ring, never_alive), 2);
	ck_assert_int_eq(look_at(alive.position), PX_LOOK_NOTHING);
}
END_TEST

/* No thread reclaims a record that was committed before its writer died. */
START_TEST(reclaim_committed_record_leaves_it)
{
	struct reader reader;

	begin(NR_SLOTS, 0, starts[_i]);
	reader = reader_at_tail();
	put_records(1, 2);
	ck_assert_uint_eq(px_ring_reclaim(&ring, event[0].position, ring.control->head),
			  event[0].position);
	ck_assert_uint_eq(px_ring_reclaim_all(&ring, never_alive), 0);
	drain(&reader, WAIT);
	expect_all_read(0);
}
END_TEST

/* R3 EXIT-6: killed between its slots: the reader shows none of them. */
START_TEST(reclaim_record_committed_in_part_is_no_record)
{
	struct px_reservation at;
	struct reader reader;

	begin(NR_SLOTS, 0, starts[_i]);
	reader = reader_at_tail();
	at = hold(3, NOBODY);
	px_ring_commit_more(&ring, at.position, 3, NOBODY);
	put_records(1, 1);
	ck_assert_uint_eq(px_ring_reclaim(&ring, at.position, ring.control->head), at.position + 3);
	drain(&reader, WAIT);
	expect_empty(&reader);
	expect_all_read(0);
}
END_TEST

/* At the point, a handler interrupts the subject and writes events itself. */

static unsigned int nr_inner, first_inner, nr_inner_written;

static void writing_handler(int signal)
{
	(void)signal;
	first_inner = nr_events;
	for (unsigned int i = 0; i < nr_inner; i++)
		if (put(1 + i % 3) == WRITTEN)
			nr_inner_written++;
}

static void raise_in_trap(void)
{
	raise(SIGUSR1);
}

static void catch_signal(void (*handler)(int))
{
	struct sigaction action = {.sa_handler = handler};

	sigemptyset(&action.sa_mask);
	ck_assert_int_eq(sigaction(SIGUSR1, &action, NULL), 0);
}

static void run_interrupted(const struct situation *situation, const char *point, int hit,
			    unsigned int count)
{
	uint64_t position;
	struct run run;

	begin_run(&run, situation, starts[(unsigned int)hit % PX_ARRAY_SIZE(starts)]);
	catch_signal(writing_handler);
	nr_inner = count;
	nr_inner_written = 0;
	set_trap(point, hit, raise_in_trap);
	is_subject = true;
	run.outcome = write_as(self(), run.subject, situation->n, &run.at);
	is_subject = false;
	ck_assert_int_le(trap.hits_left, 0);
	ck_assert_int_eq(run.outcome, WRITTEN);
	ck_assert_uint_eq(nr_inner_written, count);
	note_subject(&run);
	position = run.reader.position;
	drain(&run.reader, WAIT);
	if ((int64_t)(ring.control->head - position) <= NR_SLOTS) {
		ck_assert_uint_eq(event[run.subject].read, 1);
		expect_all_read(first_inner);
	}
	end_run(&run, false);
}

/* R1 EVENT-7 SIG-1: both events are complete, at every point, even if the events of the handler go round the ring. */
START_TEST(write_in_signal_handler_anywhere_is_intact)
{
	const char *point = points[_i];

	for_each_hit(situation, hit, point)
	{
		run_interrupted(situation, point, hit, 1);
		run_interrupted(situation, point, hit, 2);
		if (!situation->bounded) {
			run_interrupted(situation, point, hit, NR_SLOTS);
			run_interrupted(situation, point, hit, 3 * NR_SLOTS);
		}
	}
}
END_TEST

/* At the point, a handler leaves the subject with a jump. */

static sigjmp_buf jump;

static void jumping_handler(int signal)
{
	(void)signal;
	siglongjmp(jump, 1);
}

/* The state after this thread has died. */
static bool others_alive(uint32_t tid)
{
	return tid != self();
}

static void run_jumped(const struct situation *situation, const char *point, int hit, bool drains)
{
	unsigned int nr_held = situation->has_holder;
	static struct run run; /* its value is needed after the jump */

	begin_run(&run, situation, starts[(unsigned int)hit % PX_ARRAY_SIZE(starts)]);
	catch_signal(jumping_handler);
	set_trap(point, hit, raise_in_trap);
	is_subject = true;
	if (sigsetjmp(jump, 1) == 0) {
		write_as(self(), run.subject, situation->n, &run.at);
		ck_abort_msg("%s, hit %d, was not met", point, hit);
	}
	is_subject = false;
	/* R6: while the thread lives, it keeps its slots; only they are missing. */
	ck_assert_uint_eq(px_ring_reclaim_all(&ring, always_alive), 0);
	ck_assert_uint_le(nr_claimed() - nr_held, situation->n);
	others_lap(&run, 3, drains);
	if (drains)
		ck_assert_uint_eq(event[run.subject].read, strcmp(point, "ring.commit.done") == 0);
	px_ring_reclaim_all(&ring, others_alive);
	ck_assert_uint_eq(nr_claimed(), nr_held);
	end_run(&run, drains);
}

/* R6 EVENT-7 SIG-1: a record that is never finished costs only its slots. */
START_TEST(write_left_by_siglongjmp_anywhere_blocks_nobody)
{
	const char *point = points[_i];

	for_each_hit(situation, hit, point)
	{
		if (!situation->is_unread)
			run_jumped(situation, point, hit, true);
		if (!situation->bounded)
			run_jumped(situation, point, hit, false);
	}
}
END_TEST

/* Writers overtake the reader. */

static uint32_t overtaking_slots;

static void overtake(void)
{
	put_records((NR_SLOTS + overtaking_slots - 1) / overtaking_slots, overtaking_slots);
}

/*
 * A call was left while it gave up its slots, or committed the further ones.  Free slots have new records, and the
 * others become free.
 */
START_TEST(free_left_frees_the_slots_behind_those_that_are_overwritten)
{
	const uint64_t first = starts[_i / 2 % NR_STARTS];
	const uint32_t tid = 77;
	const struct px_claim claim = {.position = first, .nr_slots = 4};
	const uint64_t held = _i % 2 ? first : first + 3;

	begin(8, 0, first);
	for (uint64_t p = first; p != first + 4; p++)
		ring.slots[p & ring.mask].word = px_word(p + 8, tid + 1, PX_SLOT_HEAD);
	ring.slots[held & ring.mask].word = px_word(held, tid, PX_SLOT_CLAIMED);
	ring.slots[(first + 2) & ring.mask].word = px_word(first + 2, tid, PX_SLOT_CLAIMED);
	ring.control->head = first + 12;
	px_ring_free_left(&ring, &claim, tid, true);
	for (uint64_t p = first; p != first + 4; p++)
		ck_assert_uint_eq(ring.slots[p & ring.mask].word,
				  p == held || p == first + 2 ? px_word(p, 0, PX_SLOT_VOID) :
								px_word(p + 8, tid + 1, PX_SLOT_HEAD));
	ck_assert_uint_eq(ring.control->extra, held == first);
	end();
}
END_TEST

/*
 * R3 LOOP-6: if a writer overtakes the reader in the middle of a copy, the reader notices it, and goes on with the
 * rest.
 */
START_TEST(unchanged_reader_overtaken_in_copy_is_noticed)
{
	static const uint32_t slots[] = {1, 2, 3, 5};

	for (unsigned int i = 0; i < 16; i++) {
		struct reader reader;

		begin(NR_SLOTS, 0, starts[_i]);
		reader = reader_at_tail();
		put_records(1, slots[i % 4]);
		put_records(3, 1);
		overtaking_slots = slots[i / 4];
		set_trap("test.copy.half", 1, overtake);
		is_subject = true;
		ck_assert_int_eq(read_next(&reader), PX_LOOK_LAPPED);
		is_subject = false;
		ck_assert_int_le(trap.hits_left, 0);
		drain(&reader, WAIT);
		ck_assert_uint_eq(event[0].read, 0);
		ck_assert_uint_eq(event[nr_events - 1].read, 1);
		expect_sound(&reader);
		expect_empty(&reader);
		end();
	}
}
END_TEST

/* R4: in a bounded ring no writer overtakes the reader, because the record that it copies is not consumed. */
START_TEST(reserve_bounded_reader_in_copy_is_refused)
{
	struct px_reservation at;
	struct reader reader;

	begin(NR_SLOTS, NR_SLOTS, starts[_i]);
	reader = reader_at_tail();
	put_records(NR_SLOTS, 1);
	for (unsigned int i = 0; i < NR_SLOTS; i++) {
		ck_assert(!px_ring_reserve(&ring, 1, limit, source, &at));
		ck_assert_int_eq(read_next(&reader), PX_LOOK_RECORD);
		put_records(1, 1);
	}
	expect_sound(&reader);
}
END_TEST

/* What another writer does between the two loads of a reservation. */

static void reader_drains(void)
{
	struct reader reader = reader_at_tail();

	drain(&reader, WAIT);
}

static void let_others_in(void)
{
	reader_drains();
	put_records(NR_SLOTS - 2, 1);
	reader_drains();
}

/* R2 R4: a reservation that lost its race begins again, with a new counter and the present room. */
START_TEST(reserve_overtaken_takes_a_later_counter)
{
	struct px_reservation at;

	begin(NR_SLOTS, _i % 2 ? NR_SLOTS : 0, starts[_i / 2]);
	put_records(2, 1);
	set_trap("ring.reserve.loaded", 1, let_others_in);
	is_subject = true;
	ck_assert(px_ring_reserve(&ring, 1, limit, source, &at));
	is_subject = false;
	ck_assert_uint_eq(at.position, starts[_i / 2] + NR_SLOTS);
	ck_assert_uint_ge(at.counter, event[nr_events - 1].counter);
}
END_TEST

/* All threads at once.  The high part of a serial is the number of the writer, the low part that of the event. */

#define NR_WRITERS 4
#define HAMMER_NS 500000000u
#define WRITER_SHIFT 40

static bool is_over;
static uint32_t nr_finished;

struct hammer {
	pthread_t thread;
	uint64_t number; /* of the writer */
	uint64_t seed;
	uint64_t nr_written;
	uint64_t nr_given_up;
	/* The reader's. */
	uint64_t nr_read;
	uint64_t next;
	uint64_t nr_missing;
	uint64_t nr_disordered;
};

static void *hammer(void *argument)
{
	struct hammer *work = argument;
	uint32_t tid = self();
	struct px_reservation at;

	while (!px_read_once(&is_over)) {
		uint64_t serial = work->number << WRITER_SHIFT | work->nr_written;
		uint32_t n = 1 + (uint32_t)(next_random(&work->seed) % 4);
		enum outcome outcome;

		while ((outcome = write_as(tid, serial, n, &at)) == FULL)
			sched_yield();
		work->nr_written += outcome == WRITTEN;
		work->nr_given_up += outcome == GIVEN_UP;
	}
	px_fetch_add(&nr_finished, 1u);
	return NULL;
}

static void take(struct hammer *work, uint64_t serial)
{
	uint64_t number = serial & ((UINT64_C(1) << WRITER_SHIFT) - 1);

	work->nr_read++;
	work->nr_disordered += number < work->next;
	work->nr_missing += number - work->next;
	work->next = number + 1;
}

/*
 * Every writer lives, so the reader waits for a slot in flight until it is committed or void, or until the reader is
 * lapped.
 */
static uint64_t read_hammer(struct reader *reader, struct hammer work[NR_WRITERS], uint32_t nr_slots)
{
	uint64_t until_ns = monotonic_ns() + HAMMER_NS;
	uint64_t nr_stuck = 0;

	for (;;) {
		bool finished = px_load_acquire(&nr_finished) == NR_WRITERS;
		enum px_look look = read_next(reader);

		if (look == PX_LOOK_RECORD && reader->serial >> WRITER_SHIFT < NR_WRITERS)
			take(&work[reader->serial >> WRITER_SHIFT], reader->serial);
		if (look == PX_LOOK_EMPTY && finished)
			return nr_stuck;
		if (look == PX_LOOK_EMPTY || look == PX_LOOK_CLAIMED || look == PX_LOOK_UNCLAIMED) {
			if (finished) {
				nr_stuck++; /* another note replaced its note */
				pass(reader, reader->position + 1);
			}
			sched_yield();
		}
		if (monotonic_ns() >= until_ns && reader->nr_read > nr_slots)
			px_write_once(&is_over, true);
	}
}

/* R1 R2 R3 R4 EVENT-8 EVENT-11 LOOP-6 ATTR-4 */
START_TEST(write_four_threads_at_once_is_sound)
{
	uint32_t nr_slots = _i / 2 ? 256 : NR_SLOTS;
	bool bounded = _i % 2;
	struct hammer work[NR_WRITERS] = {0};
	uint64_t seed = test_seed();
	struct reader reader;
	uint64_t nr_stuck;

	begin(nr_slots, bounded ? nr_slots : 0, (UINT64_C(1) << 39) - 1000);
	reader = reader_at_tail();
	for (unsigned int i = 0; i < NR_WRITERS; i++) {
		work[i].number = i;
		work[i].seed = next_random(&seed);
		ck_assert_int_eq(pthread_create(&work[i].thread, NULL, hammer, &work[i]), 0);
	}
	nr_stuck = read_hammer(&reader, work, nr_slots);
	for (unsigned int i = 0; i < NR_WRITERS; i++)
		ck_assert_int_eq(pthread_join(work[i].thread, NULL), 0);
	expect_sound(&reader);
	expect_empty(&reader);
	ck_assert_uint_eq(nr_claimed(), 0);
	ck_assert_uint_gt(reader.nr_read, nr_slots);
	for (unsigned int i = 0; i < NR_WRITERS; i++) {
		ck_assert_uint_eq(work[i].nr_disordered, 0);
		if (bounded) {
			ck_assert_uint_eq(work[i].nr_read, work[i].nr_written);
			ck_assert_uint_eq(work[i].nr_missing, 0);
			ck_assert_uint_eq(work[i].nr_given_up, 0);
		}
	}
	if (bounded) {
		ck_assert_uint_eq(reader.nr_laps, 0);
		ck_assert_uint_eq(nr_stuck, 0);
	}
}
END_TEST

static TCase *new_case(const char *name, Suite *suite)
{
	TCase *tcase = tcase_create(name);

	tcase_set_timeout(tcase, 60);
	suite_add_tcase(suite, tcase);
	return tcase;
}

int main(void)
{
	Suite *suite = suite_create("ring");
	TCase *tcase;

	source = px_clock_best().source;

	tcase = new_case("layout", suite);
	tcase_add_loop_test(tcase, ring_at_any_size_aligns_its_parts, 0, NR_SIZES);
	tcase_add_loop_test(tcase, ring_stride_any_size_is_whole_pages, 0, NR_SIZES);
	tcase_add_test(tcase, ring_control_groups_of_writers_share_no_line);
	tcase_add_loop_test(tcase, ring_init_zeros_become_an_image, 0, NR_SIZES);
	tcase_add_loop_test(tcase, word_any_position_gives_its_parts, 0, NR_STARTS);
	tcase_add_loop_test(tcase, word_ahead_of_any_position_is_the_distance, 0, NR_STARTS);

	tcase = new_case("one writer", suite);
	tcase_add_loop_test(tcase, look_new_ring_is_empty, 0, NR_STARTS);
	tcase_add_loop_test(tcase, commit_one_record_is_read, 0, 2 * NR_STARTS);
	tcase_add_loop_test(tcase, commit_many_records_are_read_in_order, 0, 2 * NR_STARTS);
	tcase_add_loop_test(tcase, commit_many_slot_records_are_read_whole, 0, 2 * NR_STARTS);
	tcase_add_loop_test(tcase, reserve_any_size_counts_records, 0, NR_STARTS);
	tcase_add_loop_test(tcase, look_slot_on_its_way_says_where_it_is, 0, NR_STARTS);
	tcase_add_loop_test(tcase, void_claimed_slots_are_passed, 0, NR_STARTS);
	tcase_add_loop_test(tcase, reserve_bounded_ring_holds_its_limit, 0, 3 * NR_STARTS);
	tcase_add_loop_test(tcase, reserve_bounded_ring_never_overwrites, 0, NR_STARTS);
	tcase_add_loop_test(tcase, reserve_bounded_reader_in_copy_is_refused, 0, NR_STARTS);
	tcase_add_loop_test(tcase, reserve_looping_ring_keeps_the_youngest, 0, NR_STARTS);
	tcase_add_loop_test(tcase, oldest_lap_into_a_record_is_the_next_record, 0, NR_STARTS);
	tcase_add_loop_test(tcase, oldest_margin_is_kept, 0, NR_STARTS);
	tcase_add_loop_test(tcase, oldest_nothing_committed_is_the_head, 0, NR_STARTS);
	tcase_add_loop_test(tcase, reserve_first_lap_saves_counter_of_first_lost, 0, 2 * NR_STARTS);
	tcase_add_loop_test(tcase, reserve_lap_within_a_reservation_saves_first_lost, 0, NR_STARTS);
	tcase_add_loop_test(tcase, reserve_lap_over_void_slots_saves_next_record, 0, NR_STARTS);
	tcase_add_loop_test(tcase, reserve_lap_over_slot_in_flight_saves_no_older_record, 0,
			    2 * NR_STARTS);
	tcase_add_loop_test(tcase, reserve_second_gap_saves_its_own_first_lost, 0, NR_STARTS);
	tcase_add_loop_test(tcase, reserve_bounded_ring_saves_no_first_lost, 0, NR_STARTS);

	tcase = new_case("sleepers", suite);
	tcase_add_loop_test(tcase, unchanged_further_slot_overwritten_is_noticed, 0, NR_STARTS);
	tcase_add_loop_test(tcase, claim_held_slot_in_a_record_gives_the_others_up, 0,
			    5 * NR_STARTS);
	tcase_add_loop_test(tcase, claim_all_slots_held_gives_up, 0, NR_STARTS);
	tcase_add_loop_test(tcase, reserve_overtaken_takes_a_later_counter, 0, 2 * NR_STARTS);
	tcase_add_loop_test(tcase, unchanged_reader_overtaken_in_copy_is_noticed, 0, NR_STARTS);
	tcase_add_loop_test(tcase, write_asleep_anywhere_blocks_nobody, 0, NR_POINTS);

	tcase = new_case("the dead", suite);
	tcase_add_loop_test(tcase, reclaim_record_of_the_dead_stops_at_the_next_owner, 0,
			    NR_STARTS);
	tcase_add_loop_test(tcase, reclaim_committed_record_leaves_it, 0, NR_STARTS);
	tcase_add_loop_test(tcase, reclaim_record_committed_in_part_is_no_record, 0, NR_STARTS);
	tcase_add_loop_test(tcase, write_killed_anywhere_blocks_nobody, 0, NR_POINTS);
	tcase_add_loop_test(tcase, reclaim_all_after_each_kill_keeps_all_slots, 0, 2);
	tcase_add_test(tcase, reclaim_all_after_more_kills_than_slots_frees_the_ring);

	tcase = new_case("signals", suite);
	tcase_add_loop_test(tcase, write_in_signal_handler_anywhere_is_intact, 0, NR_POINTS);
	tcase_add_loop_test(tcase, write_left_by_siglongjmp_anywhere_blocks_nobody, 0, NR_POINTS);
	tcase_add_loop_test(tcase, free_left_frees_the_slots_behind_those_that_are_overwritten, 0,
			    2 * NR_STARTS);

	tcase = new_case("all at once", suite);
	tcase_add_loop_test(tcase, write_four_threads_at_once_is_sound, 0, 4);

	return run_suite(suite);
}
