/* SPDX-License-Identifier: MIT */
#include "support/log_checker.h"

#include "support/common.h"

#include <fcntl.h>
#include <malloc.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "calls/rules.h"
#include "log/unpack.h"
#include "support/sparse.h"
#include "support/txtb_checker.h"

#define LONGEST_GAP_TICKS ((PX_LOG_GAP_FILLERS + 1) * PX_LOG_GAP_TICKS)

/* A Check assertion for each slot would take most of the time. */
#define soundly(condition, ...)                                                                    \
	do {                                                                                       \
		if (!(condition))                                                                  \
			ck_abort_msg(__VA_ARGS__);                                                 \
	} while (0)

/* What the section holds for an entry. */
struct slot {
	uint64_t position;
	struct px_unpacked packed;
	uint32_t at; /* in the image */
};

struct volume {
	uint64_t at;
	struct px_log_layout layout;
	struct slot *slots; /* in the order of the frames */
	uint32_t nr_slots;
	/* Of the slot at each place of the image: its index + 1, or 0.  Most places of a short log are empty, and their
	 * pages are not touched. */
	uint32_t *number;
};

struct look {
	const unsigned char *bytes;
	uint64_t size;
	unsigned int flags;
	struct px_test_log_facts *facts;
	struct volume *volumes;
};

static bool loops(const struct px_test_log_facts *facts)
{
	return facts->header.policy == PX_POLICY_LOOP;
}

static const struct slot *slot_of(const struct look *look, uint64_t volume, uint32_t slot)
{
	const struct volume *found = &look->volumes[volume];

	return found->number[slot] ? &found->slots[found->number[slot] - 1] : NULL;
}

static uint64_t volume_of(const struct px_test_log_facts *facts, uint64_t position)
{
	uint64_t number = position / facts->header.nr_entries;

	return loops(facts) ? number % facts->header.nr_volumes : number;
}

static struct px_log_layout layout_at(const struct look *look, uint64_t at)
{
	uint64_t volume_max = look->facts->header.volume_max;
	uint32_t nr_objects, nr_entries;
	struct px_txtb_header image;

	memcpy(&image, look->bytes + at, sizeof(image));
	nr_objects = (image.registry_end - image.registry_start) / (16u + image.name_size);
	nr_entries = (image.buffer_end - image.buffer_start) / (uint32_t)sizeof(struct px_txtb_entry);
	/* All volumes of a log have the same layout. */
	return look->facts->header.is_tight ?
		       px_log_layout_tight(nr_objects, image.name_size, nr_entries, volume_max) :
		       px_log_layout(nr_objects, nr_entries, volume_max);
}

/* Find the volume after the last one found.  It may have been begun and not committed. */
static bool find_volume(struct look *look)
{
	struct px_test_log_facts *facts = look->facts;
	uint64_t number = facts->nr_volumes;
	struct px_log_layout layout;
	struct px_log_header header;
	uint64_t at = facts->base;
	uint32_t id;

	if (number > 0) {
		const struct volume *last = &look->volumes[number - 1];

		memcpy(&header, look->bytes + last->at + last->layout.header, sizeof(header));
		at = header.next_volume ? facts->base + header.next_volume : 0;
		if (at == 0 && loops(facts)) /* it has its full size */
			at = number * facts->layout.size;
		if ((facts->capacity != 0 && number >= facts->header.nr_volumes) || at == 0 ||
		    at + sizeof(struct px_txtb_header) > look->size)
			return false;
		memcpy(&id, look->bytes + at, sizeof(id));
		if (id != PX_TXTB_ID)
			return false;
	}
	layout = layout_at(look, at);
	if (at + layout.frames > look->size)
		return false;
	memcpy(&header, look->bytes + at + layout.header, sizeof(header));
	if (memcmp(header.uuid, facts->header.uuid, 16) != 0 || header.volume != number)
		return false;
	look->volumes = realloc(look->volumes, (number + 1) * sizeof(*look->volumes));
	ck_assert_ptr_nonnull(look->volumes);
	look->volumes[number] = (struct volume){
		.at = at,
		.layout = layout,
		.slots = malloc(facts->header.nr_entries * sizeof(struct slot)),
		.number = calloc(facts->header.nr_entries, sizeof(uint32_t))};
	ck_assert(look->volumes[number].slots && look->volumes[number].number);
	if (number < PX_ARRAY_SIZE(facts->volume_at))
		facts->volume_at[number] = at;
	facts->nr_volumes++;
	return true;
}

/* Read the parts of a frame.  They stay valid, because no memory is freed before the check has ended. */
static void read_frame(const struct look *look, struct px_unpack *unpack,
		       const struct px_log_frame *head, uint64_t frame)
{
	struct volume *volume = &look->volumes[volume_of(look->facts, head->position)];
	uint32_t first = (uint32_t)(head->position % look->facts->header.nr_entries);
	struct px_txtb_entry *entries = malloc(head->nr_entries * sizeof(*entries));
	struct px_unpacked *packed = malloc(head->nr_entries * sizeof(*packed));

	ck_assert(entries && packed);
	memcpy(entries,
	       look->bytes + volume->at + volume->layout.entries + first * sizeof(*entries),
	       head->nr_entries * sizeof(*entries));
	ck_assert_uint_eq(px_unpack_frame(unpack, head,
					  look->bytes + volume->at + volume->layout.frames +
						  frame + sizeof(*head),
					  entries, PX_LOG_TICK_NS, packed),
			  head->nr_entries);
	for (uint32_t i = 0; i < head->nr_entries; i++) {
		soundly(volume->number[first + i] == 0, "two frames have slot %u", first + i);
		volume->slots[volume->nr_slots] = (struct slot){
			.position = head->position + i, .packed = packed[i], .at = first + i};
		volume->number[first + i] = ++volume->nr_slots;
	}
	free(packed);
	free(entries);
}

/* The frames hold all committed entries, from the first position to the end. */
static void read_frames(const struct look *look)
{
	const struct px_test_log_facts *facts = look->facts;
	struct px_unpack *unpack = px_unpack_make(false);
	uint64_t position = facts->commit.first, frame = facts->commit.first_frame;
	bool is_first = true;

	ck_assert_ptr_nonnull(unpack);
	while (position < facts->commit.end) {
		uint32_t slot = (uint32_t)(position % facts->header.nr_entries);
		uint64_t left = facts->header.nr_entries - slot;
		const struct volume *volume;
		struct px_log_frame head = {0};
		uint64_t at;

		soundly(volume_of(facts, position) < facts->nr_volumes, "a volume is missing");
		volume = &look->volumes[volume_of(facts, position)];
		at = volume->at + volume->layout.frames + frame;
		if (left > facts->commit.end - position)
			left = facts->commit.end - position;
		if (at + sizeof(head) <= look->size && frame + sizeof(head) <= facts->header.volume_max)
			memcpy(&head, look->bytes + at, sizeof(head));
		if (px_unpack_is_frame(&head, position, left, look->size - at - sizeof(head))) {
			soundly(!is_first || head.flags & PX_FRAME_CHAPTER,
				"the log begins within a chapter");
			is_first = false;
			read_frame(look, unpack, &head, frame);
			position += head.nr_entries;
			frame += sizeof(head) + head.objects + head.records;
		} else { /* the volume ends here */
			soundly(slot > 0 || facts->commit.first == position,
				"no frame at the beginning of a volume, position %llu",
				(unsigned long long)position);
			position += facts->header.nr_entries - slot;
			frame = 0;
			continue;
		}
		if (position % facts->header.nr_entries == 0)
			frame = 0;
	}
	px_unpack_free(unpack);
}

static bool is_committed(const struct px_test_log_facts *facts, uint64_t position)
{
	return position >= facts->commit.first && position < facts->commit.end;
}

static void expect_volume_header(const struct look *look, uint64_t volume)
{
	const struct px_test_log_facts *facts = look->facts;
	const struct volume *found = &look->volumes[volume];
	struct px_log_header header;

	memcpy(&header, look->bytes + found->at + found->layout.header, sizeof(header));
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
	/* After a failed write, entries may stay although their objects were not written. */
	if (look->facts->commit.nr_unlisted > 0 || look->flags & PX_TEST_LOG_WAS_BROKEN)
		allowed |= TXTB_CONTEXT_UNNAMED;
	/* If hardly any event is in order, the viewer cannot decide the direction of time. */
	if (look->flags & (PX_TEST_LOG_IS_CUT | PX_TEST_LOG_WAS_BROKEN) &&
	    trace->nr_up + trace->nr_down == 0)
		allowed |= TXTB_TIME_FALLS | TXTB_TIME_STEPS_BACK;
	ck_assert_msg(!(trace->warnings & ~allowed), "warnings %#x, %u up, %u down",
		      trace->warnings, trace->nr_up, trace->nr_down);
}

/* The entry in the image matches the section. */
static void expect_same(const struct txtb_event *event, const struct slot *slot)
{
	uint32_t id = event->id, counted = px_call_event(PX_CALL_txtrace_calls);

	if (!slot->packed.is_event) {
		soundly(id == PX_NATIVE_RESUME || id == PX_NATIVE_SUSPEND || id == PX_TXTB_RUNNING,
			"id %u beside an event", id);
		return;
	}
	/*
	 * tests/calls/translate.c checks which event of ThreadX a call becomes.  For counted calls ThreadX has none, so
	 * a user event shows them, with the handle of their object in its words.
	 */
	if (!slot->packed.is_native || (slot->packed.id == counted && id >= PX_TXTB_USER_EVENT))
		soundly(id == PX_TXTB_USER_EVENT + slot->packed.id, "id %u instead of %u", id,
			PX_TXTB_USER_EVENT + slot->packed.id);
	else
		soundly(id < PX_TXTB_USER_EVENT, "a call, type %u, as user event %u", slot->packed.id, id);
}

/* Entries in the image without a counterpart in the section: only those that the log has given up. */
static void expect_rest(const struct look *look, uint64_t volume, const struct txtb_event *event)
{
	const struct px_test_log_facts *facts = look->facts;
	uint64_t at = volume * facts->header.nr_entries + event->slot, position;

	if (look->flags & (PX_TEST_LOG_IS_CUT | PX_TEST_LOG_WAS_BROKEN))
		return;
	soundly(loops(facts) && facts->commit.end > 0, "an entry that is in no frame");
	/* A writer that was killed as it began the next round has given up the oldest events, and written no others. */
	position = at < facts->commit.end ?
			   facts->commit.end - 1 - (facts->commit.end - 1 - at) % facts->capacity :
			   at;
	soundly(position < facts->commit.first,
		"slot %u shows position %llu, the log has %llu to %llu", event->slot,
		(unsigned long long)position, (unsigned long long)facts->commit.first,
		(unsigned long long)facts->commit.end);
}

/*
 * Compare the distances of events in the image with those of their times.  The fillers at the beginning of a further
 * round put the image some ticks ahead.  The next events take these ticks back, so the sum stays right.
 */
static void expect_distances(const struct look *look, const struct txtb_trace *trace,
			     uint64_t volume)
{
	uint64_t newest_ns = 0, ticks = 0, position = 0;
	uint64_t slack = loops(look->facts) ? PX_LOG_START_FILLERS : 0;
	uint64_t wanted = 0, shown = 0; /* ticks since the first event */

	if (trace->nr_up == 0 || look->flags & PX_TEST_LOG_LIES)
		return; /* too few for the viewer to see a direction, or without two times that belong together */
	for (uint32_t i = 0; i < trace->nr_events; i++) {
		const struct slot *found = slot_of(look, volume, trace->events[i].slot);
		const struct px_unpacked *slot;
		uint64_t expected, step;

		if (!found || !found->packed.is_event)
			continue;
		slot = &found->packed;
		soundly(found->position >= position, "positions fall");
		position = found->position;
		soundly(slot->time_ns >= newest_ns,
			"at position %llu, type %u of thread %#llx, times fall by %llu ns",
			(unsigned long long)position, slot->id, (unsigned long long)slot->thread,
			(unsigned long long)(newest_ns - slot->time_ns));
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
	/* Each event may lose up to half a tick. */
	soundly(shown + 1 + slack + trace->nr_events >= wanted &&
			shown <= wanted + 1 + slack + trace->nr_events,
		"%llu ticks in all instead of %llu", (unsigned long long)shown,
		(unsigned long long)wanted);
}

/* The number of the image event in each slot: its index + 1. */
static uint32_t *index_slots(const struct px_test_log_facts *facts, const struct txtb_trace *trace)
{
	uint32_t *index = calloc(facts->header.nr_entries, sizeof(*index));

	ck_assert_ptr_nonnull(index);
	for (uint32_t i = 0; i < trace->nr_events; i++)
		index[trace->events[i].slot] = i + 1;
	return index;
}

/* The image shows all committed entries. */
static void expect_all_shown(const struct look *look, const struct txtb_trace *trace,
			     uint64_t volume)
{
	const struct px_test_log_facts *facts = look->facts;
	uint32_t *index = index_slots(facts, trace);

	for (uint32_t i = 0; i < look->volumes[volume].nr_slots; i++) {
		const struct slot *slot = &look->volumes[volume].slots[i];
		uint32_t shown = index[slot->at];
		const struct txtb_event *event = shown ? &trace->events[shown - 1] : NULL;

		soundly(is_committed(facts, slot->position), "a frame beyond the commit");
		look->facts->nr_events += slot->packed.is_event;
		if (event && !slot->packed.is_event && event->id == PX_TXTB_RUNNING)
			look->facts->nr_fillers++;
		if (event)
			expect_same(event, slot);
		else
			soundly(look->flags & (PX_TEST_LOG_IS_CUT | PX_TEST_LOG_WAS_BROKEN),
				"position %llu is not in the image",
				(unsigned long long)slot->position);
	}
	free(index);
}

/*
 * The viewer begins with the oldest entry that is of an event: in a volume that goes round not with an entry RUNNING,
 * RESUME or SUSPEND, which may belong to an event that is overwritten.
 */
static void expect_front(const struct look *look, const struct volume *found, const struct txtb_trace *trace)
{
	struct px_txtb_header image;
	uint32_t oldest, id;

	memcpy(&image, look->bytes + found->at, sizeof(image));
	oldest = (image.current - image.buffer_start) / (uint32_t)sizeof(struct px_txtb_entry);
	if (oldest == 0 || trace->nr_events == 0)
		return;
	if (trace->events[0].slot != oldest) {
		soundly(look->flags & (PX_TEST_LOG_IS_CUT | PX_TEST_LOG_WAS_BROKEN),
			"the oldest entry, %u, is behind one without context", oldest);
		return;
	}
	id = trace->events[0].id;
	soundly(id != PX_TXTB_RUNNING && id != PX_NATIVE_RESUME && id != PX_NATIVE_SUSPEND,
		"the oldest entry, %u, has the id %u", oldest, id);
}

static void check_volume(const struct look *look, uint64_t volume)
{
	const struct px_test_log_facts *facts = look->facts;
	const struct volume *found = &look->volumes[volume];
	struct txtb_trace trace;

	ck_assert_str_eq(txtb_verdict_name(txtb_check(look->bytes + found->at,
						      look->size - found->at, &trace)),
			 "accepted");
	ck_assert_uint_le(trace.nr_event_slots, facts->header.nr_entries);
	expect_no_warning(look, &trace);
	expect_volume_header(look, volume);
	expect_front(look, found, &trace);
	for (uint32_t i = 0; i < trace.nr_events; i++)
		if (!slot_of(look, volume, trace.events[i].slot))
			expect_rest(look, volume, &trace.events[i]);
	expect_all_shown(look, &trace, volume);
	expect_distances(look, &trace, volume);
	look->facts->nr_entries += trace.nr_events;
	txtb_free(&trace);
}

/*
 * If the writer dies while a completed log moves, the viewer sees a log without events, and the real log comes after
 * it.
 */
static void find_base(const struct look *look)
{
	struct px_log_footer footer;

	memcpy(&footer, look->bytes + look->size - sizeof(footer), sizeof(footer));
	if (footer.magic != PX_LOG_FOOTER_MAGIC)
		return;
	ck_assert_uint_eq(footer.base + footer.size + sizeof(footer), look->size);
	look->facts->base = footer.base;
}

static void read_facts(const struct look *look)
{
	struct px_test_log_facts *facts = look->facts;
	struct txtb_trace trace;

	memset(facts, 0, sizeof(*facts));
	ck_assert_uint_ge(look->size, sizeof(struct px_txtb_header));
	find_base(look);
	if (facts->base) {
		ck_assert_str_eq(
			txtb_verdict_name(txtb_check(look->bytes, look->size, &trace)), "accepted");
		txtb_free(&trace);
	}
	/* A tight header is nearer to the image than another one, and says that it is tight. */
	for (int is_tight = 1; is_tight >= 0; is_tight--) {
		facts->header.is_tight = (uint32_t)is_tight;
		facts->layout = layout_at(look, facts->base);
		ck_assert_uint_ge(look->size, facts->base + facts->layout.header + sizeof(facts->header));
		memcpy(&facts->header, look->bytes + facts->base + facts->layout.header,
		       sizeof(facts->header));
		if (facts->header.magic == PX_LOG_MAGIC && facts->header.is_tight == (uint32_t)is_tight)
			break;
	}
	ck_assert_uint_ge(look->size, facts->base + facts->layout.frames);
	memcpy(&facts->commit, look->bytes + facts->base + facts->layout.commit,
	       sizeof(facts->commit));
	facts->layout = layout_at(look, facts->base); /* now with the frames */
	facts->capacity = (uint64_t)facts->header.nr_entries * facts->header.nr_volumes;
}

static uint64_t max_of(uint64_t a, uint64_t b)
{
	return a > b ? a : b;
}

/* The file ends with the tail of the log. */
static void expect_length(const struct look *look)
{
	const struct px_log_commit *commit = &look->facts->commit;
	uint64_t end = commit->names_at + commit->nr_names * sizeof(struct px_log_name);

	if (look->facts->base)
		return;
	end = max_of(end, commit->modules_at + commit->modules_bytes);
	end = max_of(end, commit->wrappers_at +
				  (look->facts->header.wrappers_bytes ?
					   look->facts->header.wrappers_bytes :
					   commit->nr_wrappers * sizeof(struct px_wrapper_sum)));
	ck_assert_uint_eq(look->size, end);
}

/* Behind a name there is nothing, and so no memory of the writer. */
static void expect_names(const struct look *look)
{
	const struct px_log_commit *commit = &look->facts->commit;
	struct px_log_name row; /* in a tight log, the rows are at any address */

	for (uint64_t i = 0; look->facts->base == 0 && i < commit->nr_names; i++) {
		memcpy(&row, look->bytes + commit->names_at + i * sizeof(row), sizeof(row));
		for (size_t k = strnlen(row.text, sizeof(row.text)); k < sizeof(row.text); k++)
			ck_assert_msg(row.text[k] == '\0', "%s has bytes behind its end", row.text);
	}
}

/*
 * Do not map the file: on a full file system, access to a hole would raise a signal.
 *
 * If the writer died, any process may complete the log during the copy.  A copy with parts from before and after that
 * is not a valid log.  So copy until the file is the same after the copy.
 */
static unsigned char *read_file(int fd, unsigned int flags, uint64_t *size)
{
	unsigned char *bytes = NULL;
	bool is_whole;

	fd = px_test_reopen(fd, O_RDONLY); /* with an offset of its own */
	do {
		struct px_test_extents extents;

		free(bytes);
		*size = px_test_file_size(fd);
		extents = px_test_find_extents(fd, *size);
		bytes = px_test_copy_extents(fd, *size, &extents);
		is_whole = !(flags & PX_TEST_LOG_IS_CUT) || (bytes && px_test_is_copy(bytes, fd, *size, &extents));
		free(extents.data);
	} while (!is_whole);
	close(fd);
	soundly(bytes, "the log became shorter");
	return bytes;
}

/* The memory for a log is large, and most of it stays zero: take it from the kernel each time, so nothing clears it. */
static void keep_zero_pages(void)
{
#ifdef __GLIBC__
	mallopt(M_MMAP_THRESHOLD, 1 << 17); /* glibc would raise it */
#endif
}

void px_test_check_log(int fd, unsigned int flags, struct px_test_log_facts *facts)
{
	struct look look = {.flags = flags, .facts = facts};
	unsigned char *bytes;

	keep_zero_pages();
	bytes = read_file(fd, flags, &look.size);
	look.bytes = bytes;
	read_facts(&look);
	while (find_volume(&look))
		;
	read_frames(&look);
	for (uint64_t i = 0; i < facts->nr_volumes; i++)
		check_volume(&look, i);
	if (!(flags & (PX_TEST_LOG_IS_CUT | PX_TEST_LOG_IS_OPEN))) {
		ck_assert_uint_ne(facts->commit.is_complete, PX_LOG_OPEN);
		expect_length(&look);
		expect_names(&look);
	}
	for (uint64_t i = 0; i < facts->nr_volumes; i++) {
		free(look.volumes[i].slots);
		free(look.volumes[i].number);
	}
	free(look.volumes);
	free(bytes);
}
