/* SPDX-License-Identifier: MIT */
#include "stream/stream_private.h"

#include <errno.h>

#include "base/membarrier.h"
#include "base/procfs.h"
#include "registry/inherit.h"
#include "trace/process.h"
#include "trace/tracepoint.h"
#include "trace/types.h"

#define STATUS_ATTEMPTS 100
#define AT_ONCE_ATTEMPTS 100

/* Return the number of events that writers gave up because they found no slot. */
static uint64_t count_given_up(const struct px_view *view)
{
	uint64_t given_up = 0;

	for (uint32_t i = 0; i < view->rings.nr_rings; i++) {
		struct px_ring ring = px_rings_get(&view->rings, i);

		given_up += px_read_once(&ring.control->given_up);
	}
	return given_up;
}

/* Control events. */

bool px_stream_record(struct px_stream *stream, uint32_t id, uint32_t flags, const void *data,
		      size_t length, const struct px_caller *caller, uint64_t *counter)
{
	struct px_event event = {.id = id, .flags = flags, .data = data, .length = length};

	event.pid = stream->target.pid;
	if (stream->is_self) {
		px_process_ensure();
		event.tid = px_thread.tid;
		event.handle = px_thread.handle;
		event.priority = px_thread.priority;
	} else {
		event.tid = px_thread_tid(); /* the slots still belong to this thread */
		event.handle = PX_NO_THREAD;
		event.priority = px_txtb_priority_word(PX_PSEUDO_PRIORITY);
	}
	if (caller && stream->is_self) {
		event.address = (uint64_t)(uintptr_t)caller->address;
		event.thread = px_thread.id;
	}
	return px_tracepoint_control(&stream->view, &event, counter);
}

/* Return true if the stream is full.  For start and stop, a stream with policy LOOP is never full (AMB-1). */
static bool is_blocked(const struct px_stream *stream)
{
	return stream->view.limit != 0 && px_view_is_full(&stream->view);
}

/* A writer may have slept between the read of its counter and the count of the drop, since before the last START. */
uint64_t px_stream_first_dropped(const struct px_stream *stream)
{
	uint64_t counter = px_load_acquire(&stream->view.segment->first_dropped);
	uint64_t start = px_read_once(&stream->view.segment->run.start_counter);

	return (int64_t)(counter - start) < 0 ? start : counter;
}

/*
 * Call this after a change of the state.  After this call, the reservations of all writers that saw the old state are
 * visible to this thread (C5 in cpuring.h).
 */
static void settle_writers(const struct px_view *view)
{
	px_clock_after_stores(); /* the counter that the caller reads next is later than the change */
	if (view->rings.nr_rings > view->rings.nr_shared)
		px_membarrier_settle();
}

/*
 * The mark is in the ring, and not only in the memory of the reader: a process that continues the log of a dead
 * controller must find it there.  If the controller dies here, that process marks the loss again, with this counter.
 */
void px_stream_mark_late_drops(struct px_stream *stream)
{
	struct px_run *run = &stream->view.segment->run;
	struct px_ring ring = px_rings_get(&stream->view.rings, 0);
	uint64_t dropped = px_view_unmarked_drops(&stream->view), counter;

	if (px_likely(dropped == px_read_once(&run->dropped)))
		return;
	counter = px_stream_first_dropped(stream);
	if (counter == px_read_once(&run->start_counter))
		counter++; /* START has its own gap: this one comes after it */
	px_ring_mark_loss(&ring, counter);
	px_write_once(&run->dropped, dropped);
	px_view_forget_first_dropped(&stream->view, counter);
}

/*
 * Start the stream.  Record START before the change of the state, so that START is the first event of the window
 * (START-7).  If START ends an automatic stop, or events were lost since the last START, the marks of START hold the
 * STOP and the gap that the reader must report before START (UFULL-8).
 */
static void run(struct px_stream *stream, uint64_t state, const struct px_caller *caller)
{
	struct px_segment *segment = stream->view.segment;
	const struct px_eventset *filter = px_stream_filter_of(stream, state);
	uint64_t dropped = px_view_unmarked_drops(&stream->view);
	bool was_full = px_state_of(state) == PX_STATE_AUTO_FULL;
	bool has_lost = dropped != px_read_once(&segment->run.dropped);
	struct {
		struct px_eventset filter;
		struct px_marks marks;
	} data = {.filter = *filter};
	uint32_t flags = px_eventset_has(filter, PX_EVENT_START) ? PX_RECORD_SILENT : 0;
	size_t length = sizeof(data.filter);
	uint64_t counter = px_read_once(&segment->run.start_counter);

	if (was_full)
		settle_writers(&stream->view); /* all events of the previous window are older than START */
	/* A full stream that was stopped by a call may have lost events before the call. */
	if (was_full || has_lost) {
		data.marks.stopped = px_auto_stop_due(&stream->view, state);
		data.marks.gap = has_lost ? PX_GAP_ENDS : PX_GAP_NONE;
		data.marks.first_dropped = px_stream_first_dropped(stream);
		flags |= PX_RECORD_MARKS;
		length += sizeof(data.marks);
	}
	if ((flags & PX_RECORD_MARKS) || !(flags & PX_RECORD_SILENT))
		px_stream_record(stream, PX_EVENT_START, flags, &data, length, caller, &counter);
	px_write_once(&segment->run.start_counter, counter);
	px_write_once(&segment->run.dropped, dropped);
	if (has_lost)
		px_view_forget_first_dropped(&stream->view, data.marks.first_dropped);
	/*
	 * If the counter is coarse, wait for its next tick: no event of the window may have the same counter as START.
	 */
	px_clock_read_later((enum px_clock_source)stream->view.rings.source);
	PX_TESTPOINT("stream.start.recorded");
	px_auto_stop_begin_run(&stream->view);
	/* EDGE window release */
	px_write_once(&segment->run.is_starting, 1);
	/* EDGE drop release: px_stream_mark_late_drops() loads the counts after this store */
	px_exchange(&segment->state, px_state_next(state, PX_STATE_RUNNING, false));
	PX_TESTPOINT("stream.start.running");
	px_stream_mark_late_drops(stream);
	px_write_once(&segment->run.is_starting, 0);
	/* START may have filled the stream. */
	if (is_blocked(stream))
		px_view_auto_stop(&stream->view, px_read_once(&segment->state));
}

void px_stream_start(struct px_stream *stream, const struct px_caller *caller)
{
	struct px_segment *segment = stream->view.segment;
	uint64_t state = px_load_acquire(&segment->state);

	if (px_state_of(state) == PX_STATE_RUNNING || stream->logging.is_suspended)
		return;
	if (is_blocked(stream)) {
		/*
		 * START-3: the only effect of start is that the stream will run when there is room again.  If it was
		 * stopped, it has not run since, so no STOP is due.
		 */
		if (px_state_of(state) == PX_STATE_STOPPED)
			px_auto_stop_cancel(&stream->view);
		px_exchange(&segment->state, px_state_next(state, PX_STATE_AUTO_FULL, true));
		return;
	}
	run(stream, state, caller);
}

/* Change RUNNING to STOPPED, unless a writer has changed it to AUTO_FULL.  Return true if this call changed it. */
static bool leave_running(const struct px_view *view, uint64_t *state)
{
	struct px_segment *segment = view->segment;

	while (px_state_of(*state) == PX_STATE_RUNNING) {
		uint64_t stopped = px_state_next(*state, PX_STATE_STOPPED, false);

		/* EDGE stop release */
		if (px_compare_exchange(&segment->state, *state, stopped)) {
			settle_writers(view);
			return true;
		}
		*state = px_load_acquire(&segment->state);
	}
	return false;
}

void px_stream_leave_running(struct px_stream *stream)
{
	uint64_t state = px_load_acquire(&stream->view.segment->state);

	leave_running(&stream->view, &state);
}

void px_stream_stop(struct px_stream *stream, const struct px_caller *caller)
{
	struct px_segment *segment = stream->view.segment;
	uint64_t state = px_load_acquire(&segment->state);
	uint64_t counter;
	int manual = 0;

	if (is_blocked(stream))
		px_view_auto_stop(&stream->view, state); /* STOP-3: a writer would do this in a moment */
	state = px_load_acquire(&segment->state);
	if (!leave_running(&stream->view, &state)) {
		if (px_state_of(state) == PX_STATE_AUTO_FULL)
			px_exchange(&segment->state, state & ~PX_STATE_ARMED);
		return;
	}
	PX_TESTPOINT("stream.stop.stored");
	/*
	 * Wait until the counter is above all counters that writers read before the exchange.  So STOP is after their
	 * events.
	 */
	px_clock_read_later((enum px_clock_source)stream->view.rings.source);
	if (!px_eventset_has(px_stream_filter_of(stream, state), PX_EVENT_STOP))
		px_stream_record(stream, PX_EVENT_STOP, 0, &manual, sizeof(manual), caller,
				 &counter);
}

/* Write a filter into an element that no writer uses yet.  The caller then selects it with a new state word. */
static void write_filter(struct px_segment *segment, unsigned int index,
			 const struct px_eventset *set)
{
	for (size_t i = 0; i < PX_EVENTSET_WORDS; i++)
		px_write_once(&segment->filter[index].bits[i], set->bits[i]);
}

void px_stream_clear(struct px_stream *stream)
{
	struct px_segment *segment = stream->view.segment;
	unsigned int next = (px_state_filter(px_read_once(&segment->state)) + 1) %
			    PX_SEGMENT_FILTERS;
	uint64_t state, cleared;
	enum px_state kept;

	write_filter(segment, next, &(struct px_eventset){{0}}); /* CLEAR-5, AMB-2 */
	settle_writers(&stream->view); /* after an automatic stop, writers may still be recording */
	px_reader_clear(&stream->reader);
	PX_TESTPOINT("stream.clear.cut");
	do {
		state = px_load_acquire(&segment->state);
		kept = px_state_of(state) == PX_STATE_RUNNING ? PX_STATE_RUNNING : PX_STATE_STOPPED;
		cleared = px_state_next_filter(px_state_next(state, kept, false));
	} while (!px_compare_exchange(&segment->state, state, cleared)); /* EDGE window release */
	px_write_once(&segment->first_dropped, 0);
	stream->dropped_base = px_view_dropped(&stream->view);
	stream->dropped_reported = stream->dropped_base;
	px_write_once(&segment->run.dropped, px_view_unmarked_drops(&stream->view));
	stream->given_up_base = count_given_up(&stream->view);
	stream->next_type = 0; /* CLEAR-9 */
	stream->was_overrun = false;
	px_stream_clear_log(stream);
}

/* Filters. */

void px_stream_get_filter(const struct px_stream *stream, struct px_eventset *set)
{
	*set = *px_stream_filter_of(stream, px_load_acquire(&stream->view.segment->state));
}

/*
 * Write the new set into the element of segment->filter that was in use three changes ago.  A writer that still reads
 * that element will find that the state word has changed, and will begin again.
 */
void px_stream_set_filter(struct px_stream *stream, const struct px_eventset *set,
			  const struct px_caller *caller)
{
	struct px_segment *segment = stream->view.segment;
	uint64_t state = px_load_acquire(&segment->state);
	unsigned int next = (px_state_filter(state) + 1) % PX_SEGMENT_FILTERS;
	uint64_t counter;
	struct {
		struct px_eventset old_set, new_set;
	} data = {*px_stream_filter_of(stream, state), *set};

	write_filter(segment, next, set);
	PX_TESTPOINT("stream.filter.written");
	while (!px_compare_exchange(&segment->state, state,
				    px_state_next_filter(state))) /* EDGE window release */
		state = px_load_acquire(&segment->state);
	settle_writers(&stream->view); /* events recorded under the old set come before FILTER */
	px_auto_stop_keep_filter(&stream->view, state, &data.old_set);
	if (px_state_of(state) != PX_STATE_RUNNING)
		return;
	px_clock_read_later((enum px_clock_source)stream->view.rings.source);
	if (!px_eventset_has(&data.old_set, PX_EVENT_FILTER) ||
	    !px_eventset_has(&data.new_set, PX_EVENT_FILTER))
		px_stream_record(stream, PX_EVENT_FILTER, 0, &data, sizeof(data), caller, &counter);
	if (is_blocked(stream))
		px_view_auto_stop(&stream->view, px_read_once(&segment->state));
}

/* Status. */

void px_stream_status(struct px_stream *stream, struct px_status *status)
{
	struct px_segment *segment = stream->view.segment;
	uint64_t dropped = 0, state = 0;

	status->is_overrun = false;
	/* Only a hostile process changes the state so often that all attempts fail. */
	for (int attempt = 0; attempt < STATUS_ATTEMPTS; attempt++) {
		state = px_load_acquire(&segment->state);
		status->is_full = px_view_is_full(&stream->view);
		/* COMB-2: the writer that filled the stream may not have stopped the stream yet */
		if (status->is_full && stream->view.limit != 0)
			px_view_auto_stop(&stream->view, state);
		dropped = px_view_dropped(&stream->view);
		status->is_overrun |= px_reader_report_overrun(&stream->reader);
		PX_TESTPOINT("stream.status.looked");
		if (px_load_acquire(&segment->state) == state)
			break;
	}
	status->is_running = px_state_of(state) == PX_STATE_RUNNING;
	status->is_overrun |= dropped != stream->dropped_reported;
	stream->dropped_reported = dropped;
	stream->was_overrun |= status->is_overrun;
	px_stream_report_log_status(&stream->logging, status);
}

void px_stream_loss(struct px_stream *stream, struct px_loss *loss)
{
	px_reader_loss(&stream->reader, loss);
	loss->dropped = px_view_dropped(&stream->view) - stream->dropped_base +
			count_given_up(&stream->view) - stream->given_up_base;
}

/* Reading. */

/*
 * Call this when the stream has stopped automatically.  Restart the stream if it is armed and has room.  Make it
 * STOPPED if it is empty and not armed.
 */
static void leave_full(struct px_stream *stream, uint64_t state, bool is_empty)
{
	if (is_empty)
		px_auto_stop_end(&stream->view, state);
	state = px_load_acquire(&stream->view.segment->state);
	if (px_auto_stop_can_restart(&stream->view, state))
		run(stream, state, NULL);
}

/*
 * Call this when the stream has stopped automatically.  Report STOP after all events, and restart the stream if there
 * is room.  If there is a log, only px_stream_release() restarts the stream, after STOP is in the file.  Until then the
 * state must not change, because recovery finds out from the state whether STOP is missing.
 */
static enum px_next next_of_full(struct px_stream *stream, uint64_t state, enum px_next next,
				 void *data, size_t capacity, struct px_report *report)
{
	bool is_empty;

	/* Other writers may still be recording. */
	if (next == PX_NEXT_NONE && px_auto_stop_settle(&stream->reader.stop, state)) {
		settle_writers(&stream->view);
		next = px_reader_next(&stream->reader, px_stream_filter_of(stream, state), data,
				      capacity, report);
	}
	is_empty = next == PX_NEXT_NONE;
	/* UFULL-2: report STOP after the last event, even if no event follows. */
	if (is_empty && px_reader_make_stop(&stream->reader, px_auto_stop_due(&stream->view, state),
					    data, capacity, report))
		next = PX_NEXT_EVENT;
	if (!stream->logging.log)
		leave_full(stream, state, is_empty);
	return next;
}

void px_stream_release(struct px_stream *stream, const struct px_checkpoint *checkpoint,
		       bool is_empty)
{
	uint64_t state = px_load_acquire(&stream->view.segment->state);

	px_reader_release(&stream->reader, checkpoint);
	if (stream->view.limit != 0 && px_state_of(state) == PX_STATE_AUTO_FULL)
		leave_full(stream, state, is_empty);
}

/*
 * Return the time of a counter.  No event is older than the stream.  But a hostile writer may store an older counter,
 * and the time could be below 0.  As an unsigned number, such a time would be later than all other events of a log.
 */
static uint64_t convert(const struct px_timeline *timeline, uint64_t counter)
{
	if (px_unlikely((int64_t)(counter - timeline->origin.counter) < 0))
		counter = timeline->origin.counter;
	return px_timeline_convert(timeline, counter);
}

/*
 * Return the time of the next event.  The timeline may have discarded the line that gave the time of the last event.
 * Then it may convert an equal or later counter to an earlier time.
 */
static uint64_t time_of_next(struct px_stream *stream, uint64_t counter)
{
	uint64_t ns = convert(&stream->reader.timeline, counter);

	if (px_likely(ns >= stream->last_ns))
		return stream->last_ns = ns;
	/* If the counter is older, the event is late. */
	return (int64_t)(counter - stream->reader.reported_counter) < 0 ? ns : stream->last_ns;
}

/*
 * Load the state before the rings.  If the state shows an automatic stop, the reader then sees all events from before
 * that stop, and can report STOP after them.
 */
enum px_next px_stream_next(struct px_stream *stream, void *data, size_t capacity,
			    struct px_report *report)
{
	struct px_segment *segment = stream->view.segment;
	uint64_t state = px_load_acquire(&segment->state);
	enum px_next next;

	next = px_reader_next(&stream->reader, px_stream_filter_of(stream, state), data, capacity,
			      report);
	if (px_unlikely(stream->view.limit != 0 && px_state_of(state) == PX_STATE_AUTO_FULL))
		next = next_of_full(stream, state, next, data, capacity, report);
	if (px_likely(next == PX_NEXT_EVENT))
		report->time_ns = time_of_next(stream, report->record.counter);
	return next;
}

/* Each attempt sets aside many reservations.  Only a hostile writer makes new ones so fast that all attempts fail. */
enum px_next px_stream_next_at_once(struct px_stream *stream, void *data, size_t capacity,
				    struct px_report *report)
{
	enum px_next next = PX_NEXT_PENDING;

	stream->reader.is_in_a_hurry = true;
	for (int i = 0; next == PX_NEXT_PENDING && i < AT_ONCE_ATTEMPTS; i++)
		next = px_stream_next(stream, data, capacity, report);
	stream->reader.is_in_a_hurry = false;
	return next == PX_NEXT_PENDING ? PX_NEXT_NONE : next;
}

uint32_t *px_stream_waiting(const struct px_stream *stream)
{
	return &stream->view.segment->waiting;
}

void px_stream_prepare_wait(const struct px_stream *stream, enum px_waiting what)
{
	px_wakeup_prepare(&stream->view.segment->waiting, what);
	/*
	 * If the counter is coarse, wait for its next tick: the next snapshot must include all events committed before
	 * this call.
	 */
	px_clock_read_later((enum px_clock_source)stream->view.rings.source);
}

/* Event types. */

/* A process that traces itself may move from its private table to a shared one. */
static struct px_shared_names *names_of(const struct px_stream *stream)
{
	uint32_t number;

	return stream->is_self ? px_types_shared_names(&number) : stream->shared_names.shared_names;
}

/* Return the entry of the target in its shared name table, or NULL if there are too many processes. */
static struct px_shared_names_member *member_of_target(const struct px_stream *stream)
{
	uint64_t word = px_procfs_word(stream->target.pid, stream->target.start);

	return word ? px_shared_names_enter(names_of(stream), word) : NULL;
}

/* Return the next entry, from number *i on, of a process that inherited the stream. */
static struct px_shared_names_member *next_member(const struct px_stream *stream, int *i)
{
	while (*i < PX_SHARED_NAMES_MEMBERS) {
		struct px_shared_names_member *member = &names_of(stream)->member[(*i)++];
		uint64_t word = px_load_acquire(&member->word);

		if (word && px_inherit_has_member(&stream->view, word))
			return member;
	}
	return NULL;
}

static void add_opened(struct px_eventset *set, const struct px_shared_names_member *member)
{
	for (size_t i = 0; i < PX_EVENTSET_WORDS; i++)
		set->bits[i] |= px_read_once(&member->opened.bits[i]);
}

/*
 * Collect the types of all processes first, so that each type is added only once.  If a hostile process has filled the
 * list with wrong entries, each addition searches the whole list.
 */
void px_stream_list_types(const struct px_stream *stream)
{
	struct px_shared_names_member *member = member_of_target(stream);
	struct px_eventset opened = {{0}};

	if (member)
		add_opened(&opened, member);
	for (int i = 0; (member = next_member(stream, &i));)
		add_opened(&opened, member);
	px_types_list(names_of(stream), &opened, &stream->view);
}

/*
 * Get type number n of the list.  If it is missing, list all types once, and try again.  This also completes an
 * entry that a killed process left unfinished.
 */
static bool type_at(const struct px_stream *stream, uint32_t n, bool *has_listed, unsigned int *id)
{
	const struct px_typelist *types = &stream->view.segment->types;
	char name[PX_NAME_MAX + 1];

	if (px_typelist_get(types, n, id, name) && *id != PX_EVENT_NONE)
		return true;
	if (!*has_listed)
		px_stream_list_types(stream);
	*has_listed = true;
	return px_typelist_get(types, n, id, name);
}

unsigned int px_stream_type(const struct px_stream *stream, uint32_t *i)
{
	bool has_listed = false;
	unsigned int id, next;

	if (*i < PX_EVENT_SYSTEM_LAST)
		return PX_EVENT_ERROR + *i;
	if (*i == PX_EVENT_SYSTEM_LAST)
		return PX_EVENT_UNNAMED;
	while (type_at(stream, *i - PX_EVENT_SYSTEM_LAST - 1, &has_listed, &id)) {
		if (id != PX_EVENT_NONE)
			return id;
		if (!type_at(stream, *i - PX_EVENT_SYSTEM_LAST, &has_listed, &next))
			break;
		(*i)++;
	}
	return PX_EVENT_NONE;
}

bool px_stream_next_type(struct px_stream *stream, unsigned int *id)
{
	unsigned int next = px_stream_type(stream, &stream->next_type);

	if (next == PX_EVENT_NONE)
		return false; /* do not advance: a later call finds types opened later */
	stream->next_type++;
	*id = next;
	return true;
}

/* Processes that inherited the stream may use the type, too. */
static void grant_to_members(const struct px_stream *stream, unsigned int id)
{
	struct px_shared_names_member *member;

	for (int i = 0; (member = next_member(stream, &i));)
		px_types_grant(member, id);
}

int px_stream_open_type(struct px_stream *stream, const char *name, unsigned int *id)
{
	char text[PX_NAME_MAX + 1];
	int error;

	if (stream->is_self)
		error = px_process_open_type(name, id);
	else
		error = px_types_open_for(names_of(stream), member_of_target(stream), name, id);
	if (error || *id < PX_EVENT_USER_FIRST)
		return error;
	grant_to_members(stream, *id);
	if (px_names_get(&names_of(stream)->names, *id, text) == 0)
		px_view_add_type(&stream->view, *id, text);
	return 0;
}

int px_stream_type_name(const struct px_stream *stream, unsigned int id, char name[PX_NAME_MAX + 1])
{
	const struct px_typelist *types = &stream->view.segment->types;

	if (px_typelist_name(types, id, name) == 0)
		return 0;
	px_stream_list_types(stream);
	return px_typelist_name(types, id, name);
}

int px_stream_describe_type(struct px_stream *stream, unsigned int id, const char *text, size_t length)
{
	char name[PX_NAME_MAX + 1];

	if (id < PX_EVENT_USER_FIRST || id >= PX_EVENT_USER_END || px_stream_type_name(stream, id, name) != 0)
		return EINVAL;
	return px_descriptions_add(&stream->view.segment->descriptions, id, text, length);
}

size_t px_stream_description(const struct px_stream *stream, unsigned int id,
			     char text[PX_FIELDS_TEXT_MAX])
{
	return px_descriptions_get(&stream->view.segment->descriptions, id, text);
}

void px_stream_rewind_types(struct px_stream *stream)
{
	stream->next_type = 0;
}
