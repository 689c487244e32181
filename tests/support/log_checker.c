/* SPDX-License-Identifier: MIT */
#include "support/log_checker.h"

#include "support/common.h"

#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "calls/rules.h"
#include "support/txtb_checker.h"

#define LONGEST_GAP_TICKS ((PX_LOG_GAP_FILLERS + 1) * PX_LOG_GAP_TICKS)

/* A check of Check for every slot would take most of the time. */
#define soundly(condition, ...)                                                                    \
	do {                                                                                       \
		if (!(condition))                                                                  \
			ck_abort_msg(__VA_ARGS__);                                                 \
	} while (0)

struct look {
	const unsigned char *bytes;
	uint64_t size;
	unsigned int flags;
	struct px_test_log_facts *facts;
};

static uint32_t min_entries(uint64_t a, uint32_t b)
{
	return a < b ? (uint32_t)a : b;
}

static bool loops(const struct px_test_log_facts *facts)
{
	return facts->header.policy == PX_POLICY_LOOP;
}

static const struct px_log_slot *slot_of(const struct look *look, uint64_t volume, uint32_t slot)
{
	uint64_t offset = volume * look->facts->layout.size + look->facts->layout.slots +
			  slot * sizeof(struct px_log_slot);

	if (offset + sizeof(struct px_log_slot) > look->size)
		return NULL;
	return (const struct px_log_slot *)(look->bytes + offset);
}

static uint64_t volume_of(const struct px_test_log_facts *facts, uint64_t position)
{
	uint64_t number = position / facts->header.nr_entries;

	return loops(facts) ? number % facts->header.nr_volumes : number;
}

static bool is_committed(const struct px_test_log_facts *facts, uint64_t position)
{
	return position >= facts->commit.first && position < facts->commit.end;
}

/* A volume that the log says it has, or that was begun and not committed. */
static bool has_volume(const struct look *look, uint64_t volume)
{
	const struct px_test_log_facts *facts = look->facts;
	uint64_t offset = volume * facts->layout.size;
	struct px_log_header header;
	uint32_t id;

	if (facts->capacity != 0 && volume >= facts->header.nr_volumes)
		return false;
	if (volume == 0 || volume * facts->header.nr_entries < facts->commit.end)
		return true;
	if (offset + facts->layout.slots > look->size)
		return false;
	memcpy(&header, look->bytes + offset + facts->layout.header, sizeof(header));
	memcpy(&id, look->bytes + offset, sizeof(id));
	return id == PX_TXTB_ID && memcmp(header.uuid, facts->header.uuid, 16) == 0 &&
	       header.volume == volume;
}

static void expect_volume_header(const struct look *look, uint64_t volume)
{
	const struct px_test_log_facts *facts = look->facts;
	struct px_log_header header;

	memcpy(&header, look->bytes + volume * facts->layout.size + facts->layout.header,
	       sizeof(header));
	ck_assert_uint_eq(header.magic, PX_LOG_MAGIC);
	ck_assert_uint_eq(header.volume, volume);
	ck_assert_mem_eq(header.uuid, facts->header.uuid, sizeof(header.uuid));
	ck_assert_uint_eq(header.nr_entries, facts->header.nr_entries);
}

static void expect_no_warning(const struct look *look, const struct txtb_trace *trace)
{
	uint32_t allowed = 0;

	if (look->flags & PX_TEST_LOG_WRAPS_STAMPS)
		allowed |= TXTB_TIME_STEPS_BACK;
	if (look->flags & PX_TEST_LOG_NAMES_TWICE)
		allowed |= TXTB_NAME_TWICE;
	/* Where hardly anything is left in order, the viewer has nothing to vote on. */
	if (look->flags & (PX_TEST_LOG_IS_CUT | PX_TEST_LOG_WAS_BROKEN) &&
	    trace->nr_up + trace->nr_down == 0)
		allowed |= TXTB_TIME_FALLS | TXTB_TIME_STEPS_BACK;
	ck_assert_msg(!(trace->warnings & ~allowed), "warnings %#x, %u up, %u down",
		      trace->warnings, trace->nr_up, trace->nr_down);
}

/* The entry is what the slot says. */
static void expect_same(const struct txtb_event *event, const struct px_log_slot *slot)
{
	uint32_t id = 0;

	switch ((enum px_log_kind)(slot->word & 0xFF)) {
	case PX_LOG_EVENT:
		/* Which one it is of a call: tests/calls/translate.c */
		id = slot->flags & PX_LOG_IS_NATIVE ? event->id : PX_TXTB_USER_EVENT + slot->id;
		soundly(!(slot->flags & PX_LOG_IS_NATIVE) || id < PX_TXTB_USER_EVENT,
			"a call as a user event");
		break;
	case PX_LOG_SHOWN:
		id = event->id;
		soundly(id == PX_NATIVE_RESUME || id == PX_NATIVE_SUSPEND || id == PX_TXTB_RUNNING,
			"id %u beside an event", id);
		break;
	case PX_LOG_MORE:
		id = PX_TXTB_DATA;
		break;
	case PX_LOG_FILLER:
		id = PX_TXTB_RUNNING;
		break;
	case PX_LOG_NOTHING:
		ck_abort_msg("an entry where a volume ends");
	}
	soundly(event->id == id, "id %u instead of %u", event->id, id);
}

/* What the image shows and the section does not have: only the rest of a record that is overwritten. */
static void expect_rest(const struct look *look, const struct txtb_event *event,
			const struct px_log_slot *slot)
{
	const struct px_test_log_facts *facts = look->facts;
	uint64_t position;

	if (look->flags & (PX_TEST_LOG_IS_CUT | PX_TEST_LOG_WAS_BROKEN))
		return;
	soundly(slot != NULL, "an entry without a slot");
	position = slot->word >> 8;
	soundly(loops(facts) && position < facts->commit.first &&
			position + facts->capacity >= facts->commit.end &&
			(slot->word & 0xFF) != PX_LOG_EVENT,
		"slot %u shows position %llu of kind %u, the log has %llu to %llu", event->slot,
		(unsigned long long)position, (unsigned)(slot->word & 0xFF),
		(unsigned long long)facts->commit.first, (unsigned long long)facts->commit.end);
}

/* The newest time of each thread; it is forgotten where another thread has the same place. */
#define NR_PLACES 256

struct newest {
	uint64_t thread; /* 0: of none */
	uint32_t pid;
	uint64_t ns;
};

static struct newest *newest_of(struct newest places[NR_PLACES], const struct px_log_slot *slot)
{
	uint64_t hash = (slot->thread ^ slot->pid) * UINT64_C(0x9e3779b97f4a7c15);
	struct newest *newest = &places[hash >> 56];

	if (newest->thread != slot->thread || newest->pid != slot->pid)
		*newest = (struct newest){.thread = slot->thread, .pid = slot->pid};
	return newest;
}

/*
 * Along the only ring, and along a thread, times do not fall.  Of events of several threads that overlap either may
 * come first (EVENT-11).  What is of no thread may be another process's, or the flushing thread's, or the reader's.
 */
static void expect_order(const struct look *look, const struct px_log_slot *slot,
			 uint64_t newest_ns, struct newest places[NR_PLACES])
{
	struct newest *newest = newest_of(places, slot);
	uint64_t least_ns = slot->thread ? newest->ns : 0;

	if (look->flags & PX_TEST_LOG_STEPS_BACK || slot->flags & PX_LOG_IS_NATIVE)
		return;
	if (look->facts->header.attr.nr_rings == 1)
		least_ns = newest_ns;
	soundly(slot->time_ns >= least_ns,
		"at position %llu, type %u of thread %#llx, times fall by %llu ns",
		(unsigned long long)(slot->word >> 8), slot->id, (unsigned long long)slot->thread,
		(unsigned long long)(least_ns - slot->time_ns));
	newest->ns = slot->time_ns;
}

/*
 * Distances of events in the image against those of their times.  The fillers ahead of a further round put the
 * image some ticks ahead, which the next events make up for: so only for a while, and never in sum.
 */
static void expect_distances(const struct look *look, const struct txtb_trace *trace,
			     uint64_t volume)
{
	uint64_t newest_ns = 0, ticks = 0, position = 0;
	uint64_t slack = loops(look->facts) ? PX_LOG_START_FILLERS : 0;
	uint64_t wanted = 0, shown = 0; /* ticks since the first event */
	struct newest places[NR_PLACES] = {0};

	if (trace->nr_up == 0 || look->flags & PX_TEST_LOG_LIES)
		return; /* too few for the viewer to see a direction, or no two times that belong together */
	for (uint32_t i = 0; i < trace->nr_events; i++) {
		const struct px_log_slot *slot = slot_of(look, volume, trace->events[i].slot);
		uint64_t expected, step;

		if (!slot || (slot->word & 0xFF) != PX_LOG_EVENT ||
		    !is_committed(look->facts, slot->word >> 8))
			continue;
		soundly(slot->word >> 8 >= position, "positions fall");
		position = slot->word >> 8;
		/* It has the time of the first event lost (SYSEV-2), and tells nothing of those around it. */
		if (slot->id == PX_EVENT_OVERFLOW)
			continue;
		expect_order(look, slot, newest_ns, places);
		step = trace->events[i].ticks - ticks;
		ticks = trace->events[i].ticks;
		if (newest_ns == 0) {
			newest_ns = slot->time_ns;
			continue;
		}
		shown += step;
		if (slot->time_ns <= newest_ns) {
			soundly(step <= slack, "a step in no time");
			continue;
		}
		expected = (slot->time_ns - newest_ns) / PX_LOG_TICK_NS;
		newest_ns = slot->time_ns;
		if (expected > LONGEST_GAP_TICKS)
			expected = LONGEST_GAP_TICKS;
		wanted += expected;
		soundly(step + 1 + slack >= expected && step <= expected + 1 + slack,
			"%llu ticks instead of %llu at position %llu", (unsigned long long)step,
			(unsigned long long)expected, (unsigned long long)position);
	}
	/* Half a tick may be cut at each of the events. */
	soundly(shown + 1 + slack + trace->nr_events >= wanted &&
			shown <= wanted + 1 + slack + trace->nr_events,
		"%llu ticks in all instead of %llu", (unsigned long long)shown,
		(unsigned long long)wanted);
}

/* Which image event stands in a slot: its index + 1. */
static uint32_t *index_slots(const struct px_test_log_facts *facts, const struct txtb_trace *trace)
{
	uint32_t *index = calloc(facts->header.nr_entries, sizeof(*index));

	ck_assert_ptr_nonnull(index);
	for (uint32_t i = 0; i < trace->nr_events; i++)
		index[trace->events[i].slot] = i + 1;
	return index;
}

/* All that is committed is shown. */
static void expect_all_shown(const struct look *look, const struct txtb_trace *trace,
			     uint64_t volume)
{
	const struct px_test_log_facts *facts = look->facts;
	uint32_t *index = index_slots(facts, trace);

	for (uint32_t i = 0; i < facts->header.nr_entries; i++) {
		const struct px_log_slot *slot = slot_of(look, volume, i);
		uint64_t position;

		if (!slot)
			break;
		position = slot->word >> 8;
		if (!loops(facts) && position != volume * facts->header.nr_entries + i)
			break; /* nothing of this volume is behind it */
		if (!is_committed(facts, position) || volume_of(facts, position) != volume ||
		    position % facts->header.nr_entries != i)
			continue;
		look->facts->nr_events += (slot->word & 0xFF) == PX_LOG_EVENT;
		look->facts->nr_fillers += (slot->word & 0xFF) == PX_LOG_FILLER;
		if (index[i])
			expect_same(&trace->events[index[i] - 1], slot);
		else
			soundly(look->flags & (PX_TEST_LOG_IS_CUT | PX_TEST_LOG_WAS_BROKEN),
				"position %llu is not in the image", (unsigned long long)position);
	}
	free(index);
}

static void check_volume(const struct look *look, uint64_t volume)
{
	const struct px_test_log_facts *facts = look->facts;
	uint64_t offset = volume * facts->layout.size;
	struct txtb_trace trace;

	ck_assert_str_eq(
		txtb_verdict_name(txtb_check(look->bytes + offset, look->size - offset, &trace)),
		"accepted");
	ck_assert_uint_eq(trace.nr_event_slots, facts->header.nr_entries);
	expect_no_warning(look, &trace);
	expect_volume_header(look, volume);
	for (uint32_t i = 0; i < trace.nr_events; i++) {
		const struct px_log_slot *slot = slot_of(look, volume, trace.events[i].slot);

		if (!slot || !is_committed(facts, slot->word >> 8))
			expect_rest(look, &trace.events[i], slot);
	}
	expect_all_shown(look, &trace, volume);
	expect_distances(look, &trace, volume);
	look->facts->nr_entries += trace.nr_events;
	txtb_free(&trace);
}

static void read_facts(const struct look *look)
{
	struct px_test_log_facts *facts = look->facts;
	struct px_txtb_header image;

	memset(facts, 0, sizeof(*facts));
	ck_assert_uint_ge(look->size, sizeof(image));
	memcpy(&image, look->bytes, sizeof(image));
	facts->layout = px_log_layout((image.buffer_end - image.buffer_start) /
				      (uint32_t)sizeof(struct px_txtb_entry));
	ck_assert_uint_ge(look->size, facts->layout.slots);
	memcpy(&facts->header, look->bytes + facts->layout.header, sizeof(facts->header));
	memcpy(&facts->commit, look->bytes + facts->layout.commit, sizeof(facts->commit));
	facts->capacity = (uint64_t)facts->header.nr_entries * facts->header.nr_volumes;
}

/* Not mapped: on a full file system a hole would be a signal.  Most of a log may be holes, which take no time. */
static unsigned char *read_file(int fd, uint64_t size)
{
	unsigned char *bytes = calloc(1, size);
	off_t at = 0;

	ck_assert_ptr_nonnull(bytes);
	fd = px_test_reopen(fd, O_RDONLY); /* with an offset of its own */
	while ((at = lseek(fd, at, SEEK_DATA)) >= 0) {
		off_t end = lseek(fd, at, SEEK_HOLE);

		if (end > (off_t)size) /* it has grown meanwhile */
			end = (off_t)size;
		if (at >= end)
			break;
		while (at < end) {
			ssize_t got = pread(fd, bytes + at, (size_t)(end - at), at);

			soundly(got > 0, "cannot read the log");
			at += got;
		}
	}
	close(fd);
	return bytes;
}

void px_test_check_log(int fd, unsigned int flags, struct px_test_log_facts *facts)
{
	struct look look = {.flags = flags, .facts = facts, .size = px_test_file_size(fd)};
	unsigned char *bytes = read_file(fd, look.size);

	look.bytes = bytes;
	read_facts(&look);
	while (has_volume(&look, facts->nr_volumes))
		check_volume(&look, facts->nr_volumes++);
	if (!(flags & (PX_TEST_LOG_IS_CUT | PX_TEST_LOG_IS_OPEN))) {
		uint64_t last = facts->nr_volumes - 1;

		ck_assert_uint_ne(facts->commit.is_complete, PX_LOG_OPEN);
		ck_assert_uint_ge(look.size, last * facts->layout.size + facts->layout.slots);
		ck_assert_uint_le(look.size,
				  last * facts->layout.size + facts->layout.slots +
					  min_entries(facts->commit.end, facts->header.nr_entries) *
						  sizeof(struct px_log_slot));
	}
	free(bytes);
}
