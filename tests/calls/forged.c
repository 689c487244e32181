/* SPDX-License-Identifier: MIT */
/*
 * Records of calls that no wrapper makes, in rings that no writer leaves: a target that tries to harm its controller
 * through the translation of calls. tests/process/hostile.c writes random bytes anywhere; here the records are
 * complete, so that the controller reads them, but their content is nonsense.  A seed generates all of it (PX_SEED, or
 * always the same one), between calls of the controller.
 */
#include "support/common.h"

#include <stdlib.h>
#include <string.h>
#include <trace_ext.h>
#include <unistd.h>

#include "calls/translate.h"
#include "stream/handle.h"
#include "stream/stream.h"
#include "support/heap.h"
#include "support/log_checker.h"
#include "trace/callpoint.h"

#define MAX_DATA 200
#define ROUNDS 60
#define RECORDS 500 /* of a round */

/*
 * The memory that the controller may need for one stream: the objects, the stage of the log, and the data about a
 * volume.
 */
#define MEMORY_MAX (UINT64_C(64) << 20)

static uint64_t random_state;
static trace_id_t trid;
static const struct px_view *view;
static uint64_t nr_taken, nr_calls;
static size_t begun_bytes;

static uint64_t below(uint64_t bound)
{
	return next_random(&random_state) % bound;
}

static bool one_in(uint64_t n)
{
	return below(n) == 0;
}

/* Values. */

static uint64_t wild_word(void)
{
	switch (below(6)) {
	case 0:
		return 0;
	case 1:
		return UINT64_MAX - below(3);
	case 2:
		return UINT64_C(1) << below(64);
	case 3: /* descriptors, and addresses that collide */
		return below(40);
	case 4: /* a random handle */
		return px_txtb_handle((enum px_txtb_object_type)below(16), (uint32_t)below(40));
	default:
		return next_random(&random_state);
	}
}

/*
 * The context of a call: one of a few threads, so that waits collide; or a handle of an object, of the idle thread, or
 * of no thread.
 */
static uint32_t some_context(void)
{
	switch (below(12)) {
	case 0:
		return PX_IDLE_THREAD;
	case 1:
		return PX_NO_THREAD;
	case 2:
		return px_txtb_handle((enum px_txtb_object_type)below(16), (uint32_t)below(40));
	case 3:
		return (uint32_t)wild_word();
	default:
		return px_txtb_handle(PX_TXTB_THREAD, 1 + (uint32_t)below(6));
	}
}

static uint32_t some_id(void)
{
	if (one_in(20))
		return (uint32_t)below(PX_EVENT_IDS + 64) & 0xFFFF;
	return PX_EVENT_CALL_FIRST - 1 + (uint32_t)below(PX_CALLS + 3); /* and its neighbours */
}

static uint32_t some_flags(void)
{
	uint32_t flags = PX_RECORD_CALL;

	switch (below(8)) {
	case 0:
		return (uint32_t)below(64);
	case 1:
		return (uint32_t)below(1 << 16);
	case 2:
		flags |= PX_RECORD_BEGINS | PX_RECORD_ENDS;
		break;
	case 3:
	case 4:
		flags |= PX_RECORD_BEGINS;
		break;
	case 5:
		flags |= PX_RECORD_ENDS;
		break;
	}
	return flags;
}

static size_t some_data(unsigned char data[MAX_DATA])
{
	union px_call_data first = {.words = {wild_word(), wild_word()}};
	size_t length = one_in(4) ? below(MAX_DATA + 1) : sizeof(first);

	memset(data, (int)below(256), MAX_DATA); /* a text without an end, or without a beginning */
	if (one_in(3))
		first.words[1] = below(4) << 32 | below(8); /* a call that succeeded */
	if (one_in(4))
		first.of_object.count = (uint16_t)below(PX_CALLS); /* the calls that were counted */
	memcpy(data, &first, sizeof(first));
	return length;
}

/* Records. */

static struct px_ring some_ring(void)
{
	return px_rings_get(&view->rings, (uint32_t)below(view->rings.nr_rings));
}

/* Values that the writer would not have stored. */
static void lie(const struct px_ring *ring, uint64_t position)
{
	struct px_slot *slot = &ring->slots[position & ring->mask];
	struct px_txtb_entry *entry = &ring->entries[position & ring->mask];

	switch (below(4)) {
	case 0: /* with this many bytes */
		px_write_once(&slot->body[2], wild_word() << 32 | getpid());
		break;
	case 1: /* long ago, or in the future */
		px_write_once(&slot->counter, wild_word());
		break;
	case 2:
		px_write_once(&slot->body[below(4)], wild_word());
		break;
	case 3:
		px_write_once(&entry->priority, (uint32_t)wild_word());
		break;
	}
}

static void forge(const struct px_event *event, bool lies)
{
	struct px_ring ring = some_ring();
	uint32_t n = px_record_slots(event->length);
	enum px_clock_source source = (enum px_clock_source)view->rings.source;
	struct px_reservation at;

	if (!px_ring_reserve(&ring, n, view->limit, source, &at) ||
	    !px_ring_claim(&ring, at.position, n, event->tid))
		return;
	px_record_write(&ring, &at, n, event, view->rings.shift, (uint32_t)below(300));
	if (lies && one_in(50))
		lie(&ring, at.position);
	px_ring_commit(&ring, at.position, n, event->tid);
}

static void forge_records(bool lies)
{
	unsigned char data[MAX_DATA];

	for (int i = 0; i < RECORDS; i++) {
		uint64_t thread = below(8);
		struct px_event event = {.id = some_id(),
					 .flags = some_flags(),
					 .data = data,
					 .length = some_data(data),
					 .address = wild_word(),
					 .thread = one_in(20) ? wild_word() : 0x7000000 + thread,
					 .pid = one_in(20) ? (uint32_t)wild_word() :
							     (uint32_t)getpid(),
					 .tid = (uint32_t)getpid(),
					 .handle = some_context(),
					 .priority = px_txtb_priority_word((uint32_t)below(1024))};

		forge(&event, lies);
	}
}

/* The rest of the segment. */

static void forge_wrappers(void)
{
	struct px_wrapper_stats *wrapper_stats = &view->segment->wrapper_stats;
	uint32_t i = (uint32_t)below(PX_WRAPPERS_MAX);
	struct px_ring ring = some_ring();

	memset(&wrapper_stats->row[i], (int)below(256), sizeof(wrapper_stats->row[i]));
	wrapper_stats->row[i].call = (uint32_t)wild_word();
	px_write_once(&wrapper_stats->cost[i].samples, wild_word());
	px_write_once(&wrapper_stats->cost[i].ticks, wild_word());
	px_write_once(&ring.control->calls[i], wild_word());
	px_store_release(&wrapper_stats->nr_rows,
			 one_in(2) ? (uint32_t)below(PX_WRAPPERS_MAX + 2) : (uint32_t)wild_word());
}

/*
 * Claims as unfinished sequences leave them, and impossible ones: at the head, beyond it, or where the oldest record
 * was.
 */
static void forge_claims(void)
{
	struct px_ring ring = some_ring();
	uint64_t head = px_read_once(&ring.control->head);

	for (int i = 0; i < 8; i++) {
		uint64_t position = head + below(4) * view->geometry.event_slots / 2 - below(3);
		enum px_slot_state state = one_in(4) ? (enum px_slot_state)below(8) :
						       PX_SLOT_CLAIMED;

		if (one_in(4))
			position += below(3) * ((uint64_t)ring.mask + 1);
		px_write_once(&ring.slots[position & ring.mask].word,
			      px_word(position, one_in(2) ? 0x3FFFFF : (uint32_t)getpid(), state));
	}
}

static void forge_control(void)
{
	struct px_ring ring = some_ring();
	uint64_t *words = &ring.control->head;

	switch (below(8)) {
	case 0:
		px_write_once(&ring.control->head, wild_word());
		break;
	case 1:
		px_write_once(&ring.control->head, ring.control->head + below(2 * ring.mask));
		break;
	case 2:
		px_write_once(&ring.control->head, ring.control->head - below(2 * ring.mask));
		break;
	case 3:
		px_write_once(&ring.control->tail, wild_word());
		break;
	case 4:
		px_write_once(&ring.control->skipped[below(PX_RING_SKIPS)], wild_word());
		break;
	default: /* back to a state in which the reader can go on */
		px_write_once(&ring.control->head, ring.control->tail);
		break;
	case 6:
		px_write_once(&words[below(4)], wild_word());
		break;
	case 7:
		px_write_once(&ring.control->first_lost, wild_word());
	}
}

static void forge_geometry(void)
{
	struct px_segment *segment = view->segment;

	px_write_once(&segment->geometry.nr_rings, (uint32_t)wild_word());
	px_write_once(&segment->geometry.nr_shared, (uint32_t)wild_word());
	px_write_once(&segment->geometry.nr_slots, (uint32_t)wild_word());
	px_write_once(&segment->geometry.event_slots, (uint32_t)wild_word());
	px_write_once(&segment->geometry.user_limit, (uint32_t)wild_word());
	px_write_once(&segment->max_data, wild_word());
	px_write_once(&segment->shift, (uint32_t)wild_word());
	px_write_once(&segment->source, (uint32_t)wild_word());
}

static void forge_threads(void)
{
	struct px_object object = {.handle = some_context(),
				   .type = (uint32_t)below(20),
				   .priority = (uint32_t)wild_word(),
				   .pid = one_in(2) ? (uint32_t)getpid() : (uint32_t)wild_word(),
				   .tid = (uint32_t)below(8),
				   .thread = 0x7000000 + below(8)};

	memset(object.name, one_in(4) ? 0 : (int)below(256), sizeof(object.name));
	px_threads_add(&view->segment->threads, &object);
	if (one_in(10))
		px_write_once(&view->segment->threads.next, wild_word());
}

/* The controller. */

static void take_all(void)
{
	struct px_test_event event;
	int unavailable = 0;

	for (int i = 0; i < 4 * RECORDS && !unavailable; i++) {
		ok(posix_trace_trygetnext_event(trid, &event.info, event.data, MAX_DATA,
						&event.length, &unavailable));
		ck_assert(unavailable || event.length <= MAX_DATA);
		nr_taken += !unavailable;
	}
}

static void look_at_wrappers(trace_id_t stream)
{
	struct txtrace_wrapper wrapper;
	int unavailable = 0, nr = 0;

	ok(txtrace_rewind_wrappers(stream));
	for (;; nr++) {
		ok(txtrace_getnext_wrapper(stream, &wrapper, &unavailable));
		if (unavailable)
			break;
		ck_assert_uint_lt(strnlen(wrapper.symbol, sizeof(wrapper.symbol)),
				  sizeof(wrapper.symbol));
		ck_assert_uint_lt(strnlen(wrapper.version, sizeof(wrapper.version)),
				  sizeof(wrapper.version));
		ck_assert_uint_lt(strnlen(wrapper.call, sizeof(wrapper.call)),
				  sizeof(wrapper.call));
	}
	ck_assert_int_le(nr, PX_WRAPPERS_MAX);
}

static int name_nothing(void *argument, const struct txtrace_object *object, char *text,
			size_t size)
{
	(void)argument;
	if (object->address % 3 == 0)
		return ENOENT;
	memset(text, (int)object->address, size); /* without an end */
	return 0;
}

static const struct {
	int policy, log_policy; /* log_policy 0: without a log */
	unsigned int nr_rings;	/* 0: of CPUs */
} kinds[] = {
	{POSIX_TRACE_LOOP, 0, 0},
	{POSIX_TRACE_UNTIL_FULL, 0, 2},
	{POSIX_TRACE_UNTIL_FULL, POSIX_TRACE_LOOP, 0},
	{POSIX_TRACE_UNTIL_FULL, POSIX_TRACE_APPEND, 2},
	{POSIX_TRACE_LOOP, POSIX_TRACE_UNTIL_FULL, 0},
	{POSIX_TRACE_FLUSH, POSIX_TRACE_LOOP, 0},
};

static int begin(int i)
{
	struct px_test_stream wanted = {.policy = kinds[i].policy,
					.size = 100000,
					.max_data = MAX_DATA,
					.nr_rings = kinds[i].nr_rings,
					.log_policy = kinds[i].log_policy,
					.log_size = 1000000};
	int file = kinds[i].log_policy ? px_test_file() : -1;
	struct px_stream *inside;

	random_state = getenv("PX_SEED") ? test_seed() : (uint64_t)i;
	trid = file >= 0 ? px_test_create_log(&wanted, file) : px_test_create(&wanted);
	if (file >= 0)
		ok(txtrace_set_namer(trid, name_nothing, NULL));
	inside = px_handle_lock(trid);
	ck_assert_ptr_nonnull(inside);
	view = &inside->view;
	px_handle_unlock(trid);
	ok(posix_trace_start(trid));
	px_test_heap(&begun_bytes);
	return file;
}

static void control(bool has_log)
{
	struct posix_trace_status_info status;
	size_t bytes;

	if (has_log)
		ok(posix_trace_flush(trid));
	else
		take_all();
	look_at_wrappers(trid);
	ok(posix_trace_get_status(trid, &status));
	if (px_test_heap(&bytes))
		ck_assert_uint_lt(bytes, begun_bytes + MEMORY_MAX);
}

/* What the log stores for a call. */
static void look_at_call(trace_id_t log, const struct posix_trace_event_info *info)
{
	struct txtrace_call call;
	int error = txtrace_get_call(log, info, &call);

	ck_assert_msg(error == 0 || error == ENOENT, "error %d", error);
	nr_calls += error == 0;
}

static void read_log(int file)
{
	trace_id_t log = px_test_open(file);
	struct txtrace_object object;
	struct px_test_event event;
	int unavailable = 0;

	while (px_test_take_recorded(log, &event)) {
		nr_taken++;
		look_at_call(log, &event.info);
	}
	for (;;) {
		ok(txtrace_getnext_object(log, &object, &unavailable));
		if (unavailable)
			break;
		ck_assert_uint_lt(strnlen(object.name, sizeof(object.name)), sizeof(object.name));
	}
	look_at_wrappers(log);
	ok(posix_trace_close(log));
}

static void end(int file, unsigned int look)
{
	struct px_test_log_facts facts;
	struct px_test_event event;

	ok(posix_trace_shutdown(trid));
	if (file >= 0) {
		px_test_check_log(file, look | PX_TEST_LOG_NAMES_TWICE, &facts);
		read_log(file);
		close(file);
	}
	/* This process continues as a controller. */
	trid = px_test_create(&(struct px_test_stream){0});
	ok(posix_trace_start(trid));
	px_test_trace(POSIX_TRACE_UNNAMED_USEREVENT, 4711);
	px_test_expect(trid, POSIX_TRACE_START, &event);
	px_test_expect(trid, POSIX_TRACE_UNNAMED_USEREVENT, &event);
	ck_assert_uint_eq(px_test_number(&event), 4711);
	ok(posix_trace_shutdown(trid));
}

/* GEN-9 */
START_TEST(forged_calls_do_their_controller_no_harm)
{
	int file = begin(_i);

	for (int round = 0; round < ROUNDS; round++) {
		forge_records(false);
		forge_threads();
		forge_wrappers();
		control(file >= 0);
	}
	end(file, 0);
	ck_assert_uint_gt(nr_taken, RECORDS);
	ck_assert(file < 0 || nr_calls > 0);
}
END_TEST

/* The test does not check what it then reads; GEN-9 */
START_TEST(forged_rings_do_their_controller_no_harm)
{
	int file = begin(_i);

	for (int round = 0; round < ROUNDS; round++) {
		forge_records(true);
		forge_claims();
		if (one_in(2))
			forge_control();
		if (one_in(8))
			forge_geometry();
		control(file >= 0);
		if (one_in(4))
			ok(posix_trace_clear(trid));
		if (one_in(10))
			ok(posix_trace_stop(trid));
		posix_trace_start(trid); /* a log may be full */
	}
	end(file, PX_TEST_LOG_LIES);
}
END_TEST

static Suite *make_suite(void)
{
	Suite *suite = suite_create("forged");
	TCase *tcase = tcase_create("calls");

	tcase_add_loop_test(tcase, forged_calls_do_their_controller_no_harm, 0,
			    PX_ARRAY_SIZE(kinds));
	tcase_add_loop_test(tcase, forged_rings_do_their_controller_no_harm, 0,
			    PX_ARRAY_SIZE(kinds));
	tcase_set_timeout(tcase, 120);
	suite_add_tcase(suite, tcase);
	return suite;
}

int main(void)
{
	return run_suite(make_suite());
}
