/* SPDX-License-Identifier: MIT */
/*
 * The ring of one CPU alone: C1 ...  C4 of cpuring.h.  A thread is disturbed, or dies, before each instruction of a
 * sequence.
 */
#include "config.h"

#include "support/common.h"

#include <signal.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "ring/cpuring.h"
#include "support/traps.h"

#define NR_SLOTS 16
#define NOBODY 0x3fffffu /* no thread has this tid */

#define MOST_TRIES 10000000 /* more disturbances in a row than a scheduler makes */

static struct px_ring ring;
static uint64_t limit; /* 0: it loops */
static struct px_cpu cpu;
static uint32_t self;
static struct px_claim noted;

static void setup(void)
{
	cpu_set_t one;

	CPU_ZERO(&one);
	CPU_SET((size_t)sched_getcpu(), &one);
	ck_assert_int_eq(sched_setaffinity(0, sizeof(one), &one), 0);
	cpu = px_cpu_of(px_cpu_area());
	self = (uint32_t)syscall(SYS_gettid);
}

static void begin(uint64_t at_most, uint64_t start)
{
	void *memory = mmap(NULL, px_ring_stride(NR_SLOTS), PROT_READ | PROT_WRITE,
			    MAP_SHARED | MAP_ANONYMOUS, -1, 0);

	ck_assert_ptr_ne(memory, MAP_FAILED);
	ring = px_ring_at(memory, NR_SLOTS);
	px_ring_init(&ring);
	ring.control->head = ring.control->tail = start;
	ring.control->first_lost = 0;
	limit = at_most;
}

static void end(void)
{
	munmap(ring.control, px_ring_stride(NR_SLOTS));
}

static struct px_slot *slot_of(uint64_t position)
{
	return &ring.slots[position & ring.mask];
}

/* The sequences: for any number of slots, for the usual case of one or a few slots, and for an event with a counter. */
enum kind { GENERAL, USUAL, AGAIN };

static enum kind kind;
static struct px_earlier earlier;
static uint64_t horizon;

static enum px_outcome take(uint32_t n, uint32_t tid, struct px_reservation *at)
{
	return px_cpuring_take(&ring, cpu, n, limit, tid, at, &noted);
}

static struct px_bound bound_of(uint32_t n)
{
	return px_bound_of(px_bound_of_one(NR_SLOTS, limit), n);
}

static bool take_usual(uint32_t n, uint32_t tid, struct px_reservation *at)
{
	if (kind == AGAIN)
		return px_cpuring_take_again(&ring, cpu, bound_of(1), tid, &earlier, at);
	return n == 1 ? px_cpuring_take_one(&ring, cpu, bound_of(1), tid, at) :
			px_cpuring_take_few(&ring, cpu, n, bound_of(n), tid, at);
}

/*
 * Claim with the sequence of this kind.  If a sequence for the usual case does nothing, the thread counts as disturbed.
 */
static enum px_outcome take_by_kind(uint32_t n, uint32_t tid, struct px_reservation *at)
{
	if (kind == GENERAL)
		return take(n, tid, at);
	return take_usual(n, tid, at) ? PX_TAKEN : PX_DISTURBED;
}

/* For AGAIN: the head is as it was when the counter was read, and no reader has passed the counter. */
static void look_ahead(void)
{
	horizon = 1000;
	earlier = (struct px_earlier){ring.control->head, 1000, &horizon};
}

static void commit(const struct px_reservation *at, uint32_t n)
{
	for (uint32_t i = 0; i < n; i++)
		slot_of(at->position + i)->counter = i ? UINT64_MAX : at->counter;
	px_ring_commit(&ring, at->position, n, self);
}

/*
 * True if the caller must try again.  As a caller of the sequences must, read the CPU again: the system may move even a
 * thread that is bound to one CPU, for example if it takes this CPU away.
 */
static bool must_retry(enum px_outcome taken)
{
	static unsigned int nr_tries;

	if (taken != PX_DISTURBED) {
		nr_tries = 0;
		return false;
	}
	if (++nr_tries == MOST_TRIES)
		ck_abort_msg("disturbed without end: on CPU %d, the area has %u, the sequence had %u", sched_getcpu(),
			     px_cpu_of(px_cpu_area()).number, cpu.number);
	cpu = px_cpu_of(px_cpu_area());
	return true;
}

/* Records with this many slots each. */
static void put_records(unsigned int count, uint32_t n)
{
	struct px_reservation at;

	for (unsigned int i = 0; i < count; i++) {
		enum px_outcome taken;

		do
			taken = take(n, self, &at);
		while (must_retry(taken));
		ck_assert_int_eq(taken, PX_TAKEN);
		commit(&at, n);
	}
}

static enum px_outcome take_in_the_end(uint32_t n, struct px_reservation *at)
{
	enum px_outcome taken;

	do
		taken = take(n, self, at);
	while (must_retry(taken));
	return taken;
}

static uint64_t claim_of(uint64_t position, uint32_t tid)
{
	return px_word(position, tid, PX_SLOT_CLAIMED);
}

/* A copy of the ring before. */
static struct px_ring_control control_before;
static struct px_slot slots_before[NR_SLOTS];

static void note_ring(void)
{
	control_before = *ring.control;
	memcpy(slots_before, ring.slots, sizeof(slots_before));
}

/* Expect that nothing has changed, except that slots from head on may have this word, or a void one (C2). */
static void expect_nothing_done(uint32_t n, uint32_t tid)
{
	uint64_t head = control_before.head;
	bool has_claim = false;

	ck_assert_uint_eq(ring.control->head, head);
	ck_assert_uint_eq(px_ring_extra(ring.control), px_ring_extra(&control_before));
	ck_assert_uint_eq(ring.control->tail, control_before.tail);
	for (uint64_t i = 0; i < NR_SLOTS; i++) {
		const struct px_slot *before = &slots_before[(head + i) & ring.mask];
		uint64_t word = slot_of(head + i)->word;

		ck_assert_uint_eq(slot_of(head + i)->counter, before->counter);
		if (word == before->word)
			continue;
		ck_assert_uint_lt(i, n);
		ck_assert(word == claim_of(head + i, tid) ||
			  word == px_word(head + i, 0, PX_SLOT_VOID));
		has_claim |= head + i - control_before.tail == NR_SLOTS;
	}
	/* C4 */
	if (has_claim)
		ck_assert_uint_ge(ring.control->first_lost,
				  slots_before[control_before.tail & ring.mask].counter);
}

static void expect_taken(const struct px_reservation *at, uint32_t n)
{
	ck_assert_uint_eq(at->position, control_before.head);
	ck_assert_uint_eq(at->extra, px_ring_extra(&control_before));
	ck_assert_uint_eq(ring.control->head, at->position + n);
	ck_assert_uint_eq(px_ring_extra(ring.control), px_ring_extra(&control_before) + n - 1);
	for (uint64_t i = 0; i < NR_SLOTS; i++)
		ck_assert_uint_eq(slot_of(at->position + i)->word,
				  i < n ? claim_of(at->position + i, self) :
					  slots_before[(at->position + i) & ring.mask].word);
}

/* C6 */
static void expect_noted(const struct px_reservation *at, uint32_t n)
{
	ck_assert_uint_eq(px_first_claim.position, at->position);
	if (n > 1)
		ck_assert_uint_eq(px_first_claim.nr_slots, n);
	if (kind == AGAIN)
		ck_assert_uint_eq(at->counter, earlier.counter);
}

/*
 * Repeat until the trap disturbs the thread, and not only another thread that needs this CPU; or until the sequence
 * ends.  A sequence for the usual case does not take slots that such an attempt has left claimed, so free them.
 */
static enum px_outcome take_with_trap(size_t step, uint32_t n, struct px_reservation *at,
				      unsigned int *hits)
{
	enum px_outcome taken;

	for (;;) {
		px_test_plant(step, NULL);
		taken = take_by_kind(n, self, at);
		*hits = px_test_unplant();
		if (*hits > 0 || !must_retry(taken))
			return taken;
		expect_nothing_done(n, self);
		memcpy(ring.slots, slots_before, sizeof(slots_before));
	}
}

/* The places where the thread is disturbed. */
static const struct {
	uint64_t start, limit;
	uint32_t n;
	unsigned int records; /* ahead */
	unsigned int steps;   /* at least this many */
	enum kind kind;
} scenes[] = {
	{0, 0, 1, 0, 10, GENERAL},
	{UINT64_MAX - 4, 0, 1, 10, 10, GENERAL},
	{(UINT64_C(1) << 39) - 5, 0, 1, 16, 10, GENERAL},
	{(UINT64_C(1) << 39) - 20, 0, 1, 40, 10, GENERAL},
	{0, 12, 1, 11, 10, GENERAL},
	{0, 0, 2, 0, 10, GENERAL},
	{UINT64_MAX - 4, 0, 3, 14, 10, GENERAL},
	{(UINT64_C(1) << 39) - 5, 0, 5, 16, 10, GENERAL},
	{(UINT64_C(1) << 39) - 20, 0, 16, 40, 10, GENERAL},
	{0, 12, 5, 7, 10, GENERAL},
	{0, 0, 1, 0, 17, USUAL},
	{UINT64_MAX - 4, 0, 1, 10, 17, USUAL},
	{(UINT64_C(1) << 39) - 20, 0, 1, 40, 17, USUAL},
	{0, 12, 1, 11, 17, USUAL},
	{0, 0, 2, 0, 17, USUAL},
	{UINT64_MAX - 20, 0, 4, 17, 17, USUAL},
	{(UINT64_C(1) << 39) - 2, 0, 4, 2, 17, USUAL},
	{(UINT64_C(1) << 39) - 20, 0, 8, 40, 17, USUAL},
	{0, 12, 5, 7, 17, USUAL},
	{0, 0, 1, 0, 15, AGAIN},
	{UINT64_MAX - 4, 0, 1, 10, 15, AGAIN},
	{(UINT64_C(1) << 39) - 20, 0, 1, 40, 15, AGAIN},
	{0, 12, 1, 11, 15, AGAIN},
};

/* C1, C2, C4 */
START_TEST(take_disturbed_at_each_step_has_done_nothing)
{
	unsigned int nr_hit = 0;

	for (size_t step = 0; step < px_test_nr_steps(); step++) {
		uint32_t n = scenes[_i].n;
		struct px_reservation at;
		enum px_outcome taken;
		unsigned int hits;

		begin(scenes[_i].limit, scenes[_i].start);
		put_records(scenes[_i].records, 1);
		note_ring();
		kind = scenes[_i].kind;
		look_ahead();
		taken = take_with_trap(step, n, &at, &hits);
		nr_hit += hits;
		if (hits) {
			ck_assert_int_eq(taken, PX_DISTURBED);
			expect_nothing_done(n, self);
		}
		if (taken == PX_DISTURBED)
			taken = take_in_the_end(n, &at);
		else if (kind != GENERAL)
			expect_noted(&at, n);
		ck_assert_int_eq(taken, PX_TAKEN);
		expect_taken(&at, n);
		commit(&at, n);
		end();
	}
	ck_assert_uint_ge(nr_hit, scenes[_i].steps);
}
END_TEST

/* C2: claims of a thread that has ended. */
START_TEST(take_killed_at_each_step_leaves_what_the_next_one_takes)
{
	unsigned int nr_hit = 0;

	for (size_t step = 0; step < px_test_nr_steps(); step++) {
		uint32_t n = scenes[_i].n;
		struct px_reservation at;
		int status;
		pid_t child;

		begin(scenes[_i].limit, scenes[_i].start);
		put_records(scenes[_i].records, 1);
		note_ring();
		kind = scenes[_i].kind;
		look_ahead();
		child = fork();
		ck_assert_int_ge(child, 0);
		if (child == 0) {
			struct sigaction standard = {.sa_handler = SIG_DFL};

			cpu = px_cpu_of(px_cpu_area());
			px_test_plant(step, NULL);
			sigaction(SIGTRAP, &standard, NULL);
			self = (uint32_t)getpid();
			while (must_retry(take_by_kind(n, self, &at)))
				memcpy(ring.slots, slots_before, sizeof(slots_before));
			_exit(0);
		}
		ck_assert_int_eq(waitpid(child, &status, 0), child);
		if (WIFSIGNALED(status)) {
			ck_assert_int_eq(WTERMSIG(status), SIGTRAP);
			nr_hit++;
			expect_nothing_done(n, (uint32_t)child);
			/* One slot after the other: slots that were claimed, and slots that were not yet. */
			for (uint32_t m = 1; m <= n; m++) {
				note_ring();
				ck_assert_int_eq(take_in_the_end(1, &at), PX_TAKEN);
				expect_taken(&at, 1);
				commit(&at, 1);
				if (limit && ring.control->head - ring.control->tail + 1 > limit)
					break;
			}
		}
		end();
	}
	ck_assert_uint_ge(nr_hit, scenes[_i].steps);
}
END_TEST

/* What another writer left at head, and what may be taken there. */
static const struct {
	uint32_t left, n;
} leftovers[] = {{1, 1}, {3, 1}, {1, 3}, {3, 3}, {16, 16}, {2, 16}};

START_TEST(take_where_claims_are_left_takes_them)
{
	static const enum px_slot_state states[] = {PX_SLOT_CLAIMED, PX_SLOT_VOID};

	for (size_t k = 0; k < PX_ARRAY_SIZE(states); k++) {
		struct px_reservation at;

		begin(0, (UINT64_C(1) << 39) - 20);
		put_records(35, 1);
		for (uint32_t i = 0; i < leftovers[_i].left; i++)
			slot_of(ring.control->head + i)->word =
				px_word(ring.control->head + i, NOBODY, states[k]);
		note_ring();
		ck_assert_int_eq(take_in_the_end(leftovers[_i].n, &at), PX_TAKEN);
		expect_taken(&at, leftovers[_i].n);
		end();
	}
}
END_TEST

/* A claim of another position has an owner: the writer skips it, and gives up the slots before it. */
static void expect_passed(uint64_t position, uint32_t distance, uint64_t claim)
{
	ck_assert_uint_eq(ring.control->head, position + distance + 1);
	ck_assert_uint_eq(px_ring_extra(ring.control), px_ring_extra(&control_before) + distance);
	for (uint32_t i = 0; i < distance; i++)
		ck_assert_uint_eq(slot_of(position + i)->word, px_word(position + i, 0, PX_SLOT_VOID));
	ck_assert_uint_eq(slot_of(position + distance)->word, claim);
	ck_assert_uint_eq(ring.control->skipped[(position + distance) % PX_RING_SKIPS],
			  position + distance + 1);
}

#define HELD_SLOTS 5

/* R1, R6, at each step; the case is the distance of the claim. */
START_TEST(take_disturbed_where_a_sleeper_holds_a_slot_passes_it)
{
	for (uint32_t n = (uint32_t)_i + 1; n <= HELD_SLOTS; n += 2) {
		unsigned int nr_hit = 0;

		for (size_t step = 0; step < px_test_nr_steps(); step++) {
			struct px_reservation at;
			enum px_outcome taken;
			uint64_t position, claim;
			unsigned int hits;

			begin(0, UINT64_MAX - 4);
			put_records(1, 1);
			position = ring.control->head + (uint32_t)_i - NR_SLOTS;
			claim = claim_of(position, (uint32_t)getppid());
			slot_of(position)->word = claim;
			note_ring();
			taken = take_with_trap(step, n, &at, &hits);
			nr_hit += hits;
			ck_assert_uint_eq(slot_of(position)->word, claim);
			if (hits)
				expect_nothing_done(n, self);
			if (taken == PX_DISTURBED)
				taken = take_in_the_end(n, &at);
			ck_assert_int_eq(taken, PX_HELD);
			ck_assert_uint_eq(at.position, control_before.head);
			expect_passed(at.position, (uint32_t)_i, claim);
			end();
		}
		ck_assert_uint_ge(nr_hit, 9);
	}
}
END_TEST

/* R1, at each step: the sequence for the usual case does not pass the slot, and leaves the sleeper's claim alone. */
START_TEST(take_usual_where_a_sleeper_holds_a_slot_does_nothing)
{
	for (uint32_t n = (uint32_t)_i + 1; n <= HELD_SLOTS; n += 2) {
		for (size_t step = 0; step <= px_test_nr_steps(); step++) {
			struct px_reservation at;
			uint64_t position, claim;

			begin(0, UINT64_MAX - 20);
			put_records(17, 1);
			position = ring.control->head + (uint32_t)_i - NR_SLOTS;
			claim = claim_of(position, (uint32_t)getppid());
			slot_of(position)->word = claim;
			note_ring();
			kind = n == 1 && step % 2 ? AGAIN : USUAL;
			look_ahead();
			if (step < px_test_nr_steps())
				px_test_plant(step, NULL);
			ck_assert(!take_usual(n, self, &at));
			px_test_unplant();
			ck_assert_uint_eq(slot_of(position)->word, claim);
			expect_nothing_done(n, self);
			ck_assert_int_eq(take_in_the_end(n, &at), PX_HELD);
			expect_passed(control_before.head, (uint32_t)_i, claim);
			end();
		}
	}
}
END_TEST

/* Only a disturbed thread tries again. */
static bool take_usual_in_the_end(uint32_t n, struct px_reservation *at)
{
	for (int i = 0; i < 100; i++)
		if (take_usual(n, self, at))
			return true;
	return false;
}

static void expect_untouched(void)
{
	ck_assert_int_eq(memcmp(&control_before, ring.control, sizeof(control_before)), 0);
	ck_assert_int_eq(memcmp(slots_before, ring.slots, sizeof(slots_before)), 0);
}

/* R4, C4, and the end of the ring */
START_TEST(take_usual_where_there_is_no_room_does_nothing)
{
	static const struct {
		uint64_t start, limit;
		uint32_t n;
		unsigned int records;
		bool is_taken;
	} rooms[] = {
		{0, 12, 1, 11, true},	/* exactly as many as there are */
		{0, 12, 1, 12, false},
		{0, 12, 5, 7, true},
		{0, 12, 5, 8, false},
		{0, 0, 1, 15, true},
		{0, 0, 1, 16, false},	/* the record at tail is overwritten, */
		{0, 0, 1, 17, true},	/* and this is a later record */
		{4, 0, 8, 4, true},
		{0, 0, 8, 8, true},
		{4, 0, 8, 9, false},	/* the record at tail is in the last slot, */
		{4, 0, 8, 16, false},	/* or the first */
		{4, 0, 8, 18, true},
		{9, 0, 8, 0, false},	/* the ring ends between the slots */
		{8, 0, 8, 0, true},
		{8, 0, 2, 7, false},
	};

	for (size_t i = 0; i < PX_ARRAY_SIZE(rooms); i++) {
		struct px_reservation at;

		kind = USUAL;
		begin(rooms[i].limit, rooms[i].start);
		put_records(rooms[i].records, 1);
		ring.control->first_lost = 0;
		note_ring();
		ck_assert_msg(take_usual_in_the_end(rooms[i].n, &at) == rooms[i].is_taken, "%zu", i);
		if (rooms[i].is_taken)
			expect_taken(&at, rooms[i].n);
		else
			expect_untouched();
		end();
	}
}
END_TEST

/* R2, and the order of the times */
START_TEST(take_again_needs_the_same_head_and_no_reader_that_has_passed)
{
	struct px_reservation at;

	begin(0, UINT64_MAX - 4);
	put_records(3, 1);
	kind = AGAIN;
	look_ahead();
	put_records(1, 1);
	note_ring();
	ck_assert(!take_usual_in_the_end(1, &at));
	expect_untouched();
	look_ahead();
	horizon = earlier.counter + 1;
	ck_assert(!take_usual_in_the_end(1, &at));
	expect_untouched();
	horizon = earlier.counter;
	ck_assert(take_usual_in_the_end(1, &at));
	expect_taken(&at, 1);
	expect_noted(&at, 1);
	end();
}
END_TEST

/* R4: exactly as many as there are. */
START_TEST(take_in_bounded_ring_takes_up_to_the_limit)
{
	struct px_reservation at;

	begin(12, UINT64_MAX - 4);
	put_records(9, 1);
	note_ring();
	ck_assert_int_eq(take_in_the_end(4, &at), PX_NO_ROOM);
	ck_assert_int_eq(memcmp(&control_before, ring.control, sizeof(control_before)), 0);
	ck_assert_int_eq(memcmp(slots_before, ring.slots, sizeof(slots_before)), 0);
	put_records(1, 3);
	ck_assert_int_eq(take_in_the_end(1, &at), PX_NO_ROOM);
	px_ring_consume(&ring, ring.control->tail + 1);
	ck_assert_int_eq(take_in_the_end(2, &at), PX_NO_ROOM);
	put_records(1, 1);
	ck_assert_int_eq(take_in_the_end(1, &at), PX_NO_ROOM);
	ck_assert_uint_eq(ring.control->first_lost, 0);
	end();
}
END_TEST

/* R5: the data that the overwriting writer saves belong to the record that it overwrites. */
START_TEST(take_that_laps_keeps_the_counter_of_the_first_lost)
{
	for (uint32_t n = 1; n <= 5; n++) {
		uint64_t first;

		begin(0, UINT64_MAX - 4);
		put_records(NR_SLOTS - n + 1, 1);
		first = slot_of(ring.control->tail)->counter;
		ck_assert_uint_eq(ring.control->first_lost, 0);
		put_records(1, n);
		ck_assert_uint_eq(ring.control->first_lost, first);
		put_records(2, n); /* that record is not at the tail any more */
		ck_assert_uint_eq(ring.control->first_lost, first);
		end();
	}
}
END_TEST

static uint64_t second;

/* The reader moves on by one slot, and another writer of this CPU takes that slot. */
static void move_tail(const char *point)
{
	if (strcmp(point, "ring.lost.saved") != 0)
		return;
	px_testpoint_hook = NULL;
	second = slot_of(ring.control->tail + 1)->counter;
	px_ring_consume(&ring, ring.control->tail + 1);
	put_records(1, 1);
}

/* C4, R5 */
START_TEST(take_that_laps_while_the_tail_moves_saves_what_is_there_then)
{
	begin(0, UINT64_MAX - 4);
	put_records(NR_SLOTS, 1);
	px_testpoint_hook = move_tail;
	put_records(1, 1);
	ck_assert_ptr_null(px_testpoint_hook);
	ck_assert_uint_eq(ring.control->head - ring.control->tail, NR_SLOTS + 1);
	ck_assert_uint_eq(ring.control->first_lost, second);
	end();
}
END_TEST

/* A writer that died in the sequence had this tid, and now this thread has it. */
static bool comes_again(uint32_t tid)
{
	struct px_reservation at;

	if (ring.control->head != control_before.head)
		return false;
	ck_assert_int_eq(take_in_the_end(1, &at), PX_TAKEN);
	slot_of(at.position)->word = claim_of(at.position, tid);
	return false;
}

/* R6: claims at and after head hold nothing, so the library frees nothing. */
START_TEST(reclaim_all_leaves_claims_that_were_left_over)
{
	uint64_t head;

	begin(0, UINT64_MAX - 4);
	put_records(8, 1);
	head = ring.control->head;
	slot_of(head)->word = claim_of(head, NOBODY);
	slot_of(head - 4)->word = claim_of(head - 4, NOBODY);
	note_ring();
	px_ring_reclaim_all(&ring, comes_again);
	ck_assert_uint_eq(slot_of(head)->word, claim_of(head, NOBODY));
	ck_assert_int_eq(px_word_state(slot_of(head - 4)->word), PX_SLOT_VOID);
	end();
}
END_TEST

/* A thread that was moved to another CPU notices it. */
START_TEST(take_for_another_cpu_is_disturbed)
{
	struct px_reservation at;

	begin(0, 0);
	note_ring();
	cpu.number++;
	for (uint32_t n = 1; n <= 3; n++)
		ck_assert_int_eq(take(n, self, &at), PX_DISTURBED);
	kind = USUAL;
	for (uint32_t n = 1; n <= 3; n++)
		ck_assert(!take_usual(n, self, &at));
	kind = AGAIN;
	look_ahead();
	ck_assert(!take_usual(1, self, &at));
	expect_untouched();
	end();
}
END_TEST

#define NR_LIES 20000

/*
 * With any content of the words, the writer returns and accesses only the ring.  The page behind the ring cannot be
 * accessed.
 */
START_TEST(take_in_hostile_memory_stays_within_the_ring)
{
	uint64_t seed = test_seed();
	size_t size = px_ring_stride(NR_SLOTS);
	char *memory = mmap(NULL, size + PX_RING_PAGE, PROT_READ | PROT_WRITE,
			    MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	unsigned int nr_of[PX_DISTURBED + 1] = {0}, nr_usual = 0;

	ck_assert_ptr_ne(memory, MAP_FAILED);
	ck_assert_int_eq(mprotect(memory + size, PX_RING_PAGE, PROT_NONE), 0);
	ring = px_ring_at(memory, NR_SLOTS);
	for (int i = 0; i < NR_LIES; i++) {
		uint64_t lie = next_random(&seed);
		struct px_reservation at;

		limit = lie & 1 ? 12 : 0;
		ring.control->head = next_random(&seed);
		ring.control->tail = lie & 2 ? next_random(&seed) :
					       ring.control->head - (lie >> 8) % 40 + 8;
		for (uint64_t k = 0; k < NR_SLOTS; k++) {
			uint64_t word = next_random(&seed);

			if (word & 8)
				word = px_word(ring.control->head + k - (word & 16),
					       (uint32_t)(word >> 20), PX_SLOT_CLAIMED);
			slot_of(ring.control->head + k)->word = word;
		}
		if (lie & 4) {
			kind = lie & 8 ? USUAL : AGAIN;
			look_ahead();
			nr_usual += take_usual(1 + (uint32_t)(lie >> 4) % PX_CPURING_FEW, self, &at);
		} else {
			nr_of[take_in_the_end(1 + (uint32_t)(lie >> 4) % 11, &at)]++;
		}
	}
	ck_assert_uint_gt(nr_usual, 0);
	for (int i = PX_TAKEN; i < PX_DISTURBED; i++)
		ck_assert_uint_gt(nr_of[i], 0);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("cpuring");
	TCase *tcase;

	if (!px_cpu_area() || px_test_nr_steps() == 0)
		skip_program("threads have no area for restartable sequences");
	tcase = tcase_create("steps");
	tcase_add_checked_fixture(tcase, setup, NULL);
	tcase_set_timeout(tcase, 30);
	tcase_add_loop_test(tcase, take_disturbed_at_each_step_has_done_nothing, 0,
			    PX_ARRAY_SIZE(scenes));
	tcase_add_loop_test(tcase, take_killed_at_each_step_leaves_what_the_next_one_takes, 0,
			    PX_ARRAY_SIZE(scenes));
	tcase_add_loop_test(tcase, take_disturbed_where_a_sleeper_holds_a_slot_passes_it, 0,
			    HELD_SLOTS);
	tcase_add_loop_test(tcase, take_usual_where_a_sleeper_holds_a_slot_does_nothing, 0,
			    HELD_SLOTS);
	suite_add_tcase(suite, tcase);
	tcase = tcase_create("take");
	tcase_add_checked_fixture(tcase, setup, NULL);
	tcase_add_loop_test(tcase, take_where_claims_are_left_takes_them, 0,
			    PX_ARRAY_SIZE(leftovers));
	tcase_add_test(tcase, take_usual_where_there_is_no_room_does_nothing);
	tcase_add_test(tcase, take_again_needs_the_same_head_and_no_reader_that_has_passed);
	tcase_add_test(tcase, take_in_bounded_ring_takes_up_to_the_limit);
	tcase_add_test(tcase, take_that_laps_keeps_the_counter_of_the_first_lost);
	tcase_add_test(tcase, take_that_laps_while_the_tail_moves_saves_what_is_there_then);
	tcase_add_test(tcase, take_for_another_cpu_is_disturbed);
	tcase_add_test(tcase, reclaim_all_leaves_claims_that_were_left_over);
	tcase_add_test(tcase, take_in_hostile_memory_stays_within_the_ring);
	suite_add_tcase(suite, tcase);
	return run_suite(suite);
}
