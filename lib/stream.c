/* SPDX-License-Identifier: MIT */
#include "stream.h"

#include <errno.h>
#include <stdlib.h>
#include <unistd.h>

#include "point.h"
#include "types.h"
#include "wait.h"

/* Creation. */

static int check_attr(const struct px_attr *attr, bool with_log)
{
	switch (attr->stream_policy) {
	case PX_POLICY_DEFAULT:
	case PX_POLICY_LOOP:
	case PX_POLICY_UNTIL_FULL:
		break;
	case PX_POLICY_FLUSH:
		if (with_log)
			break;
		return EINVAL; /* it needs a log (SETSFP-4, FLUSHP-3) */
	default:
		return EINVAL;
	}
	if (attr->log_policy != PX_POLICY_LOOP && attr->log_policy != PX_POLICY_UNTIL_FULL &&
	    attr->log_policy != PX_POLICY_APPEND)
		return EINVAL;
	if (attr->max_data_size > PX_ATTR_DATA_SIZE_MAX || attr->nr_rings > PX_RINGS_MAX)
		return EINVAL;
	return 0;
}

static uint32_t rings_wanted(const struct px_attr *attr)
{
	long nr_cpus = sysconf(_SC_NPROCESSORS_CONF);

	if (attr->nr_rings > 0)
		return attr->nr_rings;
	return nr_cpus < 1 ? 1 : nr_cpus > PX_RINGS_MAX ? PX_RINGS_MAX : (uint32_t)nr_cpus;
}

/* A segment with as many rings as fit. */
static int create_segment(struct px_stream *stream, const struct px_attr *attr, const char *name,
			  const struct px_clock *clock)
{
	bool bounded = attr->stream_policy != PX_POLICY_LOOP;
	uint32_t nr_rings = rings_wanted(attr);
	struct px_geometry geometry;
	struct px_mapping mapping;
	int error;

	if (!px_geometry_init(&geometry, attr->stream_size, attr->max_data_size, nr_rings))
		return ENOMEM;
	for (;;) {
		error = px_shm_create(name, px_segment_size(&geometry), &mapping);
		if (error != ENOMEM || geometry.nr_rings == 1)
			break;
		geometry.nr_rings /= 2;
	}
	if (error)
		return error;
	px_segment_init(&mapping, &geometry, bounded, attr->max_data_size, clock->source,
			px_clock_shift(clock->scale), &stream->view);
	return 0;
}

/* What get_attr will say: the attributes as they are in use (ATTR-3, GETSS-2). */
static void settle_attr(struct px_stream *stream, const struct px_attr *attr, uint64_t create_ns)
{
	/* GETATTR-5: what describes this library is never taken over. */
	px_attr_init(&stream->attr);
	px_attr_set_name(&stream->attr, attr->name);
	stream->attr.max_data_size = attr->max_data_size;
	stream->attr.log_size = attr->log_size;
	stream->attr.log_policy = attr->log_policy;
	stream->attr.inherited = attr->inherited;
	stream->attr.stream_policy = attr->stream_policy;
	stream->attr.stream_size = px_geometry_guarantee(&stream->view.geometry);
	stream->attr.nr_rings = stream->view.geometry.nr_rings;
	stream->attr.create_time = px_clock_timespec(create_ns);
}

static int create_parts(struct px_stream *stream, const struct px_attr *attr,
			const struct px_clock *clock, uint32_t index)
{
	struct px_registry_slot slot = {.controller = px_process_id(), .target = px_process_id()};
	struct px_timeline timeline;
	char name[PX_SHM_NAME_MAX];
	int error;

	slot.generation = px_registry_get()->slot[index].generation;
	/* The slot is free: what is there was left by who became another user, or by a crash. */
	px_registry_segment_name(index, slot.generation, name);
	px_shm_unlink(name);
	px_registry_segment_name(index, ++slot.generation, name);
	px_shm_unlink(name);
	error = create_segment(stream, attr, name, clock);
	if (error)
		return error;
	px_timeline_init(&timeline, clock, px_clock_realtime_offset_ns());
	slot.create_ns = px_timeline_convert(&timeline, timeline.origin.counter);
	error = px_reader_init(&stream->reader, &stream->view, slot.target.pid, &timeline);
	if (error) {
		px_shm_unmap(&stream->view.mapping);
		px_shm_unlink(name);
		return error;
	}
	stream->index = index;
	stream->view.generation = slot.generation;
	stream->target_pid = slot.target.pid;
	settle_attr(stream, attr, slot.create_ns);
	px_registry_publish(index, &slot);
	return 0;
}

static int create_locked(struct px_stream *stream, const struct px_attr *attr,
			 const struct px_clock *clock)
{
	uint32_t index = px_registry_find_free();

	return index == PX_STREAMS_MAX ? EAGAIN : create_parts(stream, attr, clock, index);
}

static int create_log(struct px_stream *stream, int fd)
{
	struct px_log_setup setup = {.fd = fd,
				     .attr = &stream->attr,
				     .writer = px_process_id(),
				     .target_pid = stream->target_pid,
				     .threads = &stream->view.segment->threads};

	stream->logging.data = malloc(stream->reader.held_capacity);
	if (!stream->logging.data)
		return ENOMEM;
	return px_log_create(&setup, &stream->logging.log);
}

/* Which policy the default is depends on whether there is a log (WITHLOG-7). */
static struct px_attr choose_attr(const struct px_attr *attr, bool with_log)
{
	struct px_attr chosen;

	if (attr)
		chosen = *attr;
	else
		px_attr_init(&chosen);
	if (chosen.stream_policy == PX_POLICY_DEFAULT)
		chosen.stream_policy = with_log ? PX_POLICY_FLUSH : PX_POLICY_LOOP;
	return chosen;
}

int px_stream_create(pid_t pid, const struct px_attr *attr, int log_fd, struct px_stream **stream)
{
	bool with_log = log_fd >= 0;
	struct px_attr chosen = choose_attr(attr, with_log);
	struct px_stream *made;
	struct px_clock clock;
	int error, fd;

	error = check_attr(&chosen, with_log);
	if (!error && with_log)
		error = px_log_check(log_fd);
	if (error)
		return error;
	if (pid != 0 && pid != getpid())
		return ENOTSUP;
	error = px_process_init();
	if (error)
		return error;
	made = calloc(1, sizeof(*made));
	if (!made)
		return ENOMEM;
	clock = px_clock_best(); /* which takes its time: not under the lock */
	error = px_registry_lock(&fd);
	if (!error) {
		error = create_locked(made, &chosen, &clock);
		px_registry_unlock(fd);
	}
	if (error) {
		free(made);
		return error;
	}
	/* The target's part, here rather than at its first event: it would fail in silence. */
	error = px_process_join(made->index, made->view.generation);
	if (!error && with_log)
		error = create_log(made, log_fd);
	if (error) {
		px_stream_end(made);
		px_stream_free(made);
		return error;
	}
	*stream = made;
	return 0;
}

void px_stream_end(struct px_stream *stream)
{
	struct px_segment *segment = stream->view.segment;
	char name[PX_SHM_NAME_MAX];
	int error, fd;

	px_exchange(&segment->state, (uint64_t)PX_STATE_ENDED);
	error = px_registry_lock(&fd);
	px_registry_segment_name(stream->index, stream->view.generation, name);
	px_shm_unlink(name);
	/* Also when the lock is not to be had: the slot is ours alone as long as we live. */
	px_registry_withdraw(stream->index, stream->view.generation);
	if (!error)
		px_registry_unlock(fd);
	px_process_refresh(); /* the target's part */
	px_wait_wake(&segment->waiting);
}

void px_stream_free(struct px_stream *stream)
{
	px_reader_destroy(&stream->reader);
	free(stream->logging.data);
	px_shm_unmap(&stream->view.mapping);
	free(stream);
}

/* Events that writers gave up because no slot was to be had. */
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

/*
 * Record a control event; its counter is in *counter.  The calling thread is one of the traced process
 * here, so the event is its own where a call of it is the cause.
 */
static bool record(struct px_stream *stream, uint32_t id, uint32_t flags, const void *data,
		   size_t length, const struct px_caller *caller, uint64_t *counter)
{
	struct px_event event = {.id = id, .flags = flags, .data = data, .length = length};

	px_process_ensure();
	event.tid = px_thread.tid;
	event.handle = px_thread.handle;
	event.priority = px_thread.priority;
	event.pid = stream->target_pid;
	if (caller) {
		event.address = (uint64_t)(uintptr_t)caller->address;
		event.thread = px_thread.id;
	}
	return px_point_control(&stream->view, &event, counter);
}

static const struct px_eventset *filter_of(const struct px_stream *stream, uint64_t state)
{
	return &stream->view.segment->filter[px_state_filter(state)];
}

/* A looping stream is never full in the sense of start and stop (AMB-1). */
static bool is_blocked(const struct px_stream *stream)
{
	return stream->view.limit != 0 && px_view_is_full(&stream->view);
}

/* A writer that slept on its way to the drop may tell of an older window: not before START then. */
static uint64_t first_dropped(struct px_stream *stream)
{
	uint64_t counter = px_exchange(&stream->view.segment->first_dropped, UINT64_C(0));

	return (int64_t)(counter - stream->start_counter) < 0 ? stream->start_counter : counter;
}

/* FILT-1: the automatic stop happened under the filter of that time. */
static bool stop_was_filtered(const struct px_stream *stream, uint64_t state)
{
	return stream->stop_is_known ? stream->stop_is_filtered :
				       px_eventset_has(filter_of(stream, state), PX_EVENT_STOP);
}

static void forget_stop(struct px_stream *stream)
{
	stream->stop_reported = false;
	stream->stop_is_known = false;
}

/*
 * Start: START is recorded first, so that it is the first of its window (START-7), and carries what
 * is to be reported before it when it ends an automatic stop (UFULL-8).
 */
static void run(struct px_stream *stream, uint64_t state, const struct px_caller *caller)
{
	struct px_segment *segment = stream->view.segment;
	const struct px_eventset *filter = filter_of(stream, state);
	uint64_t dropped = px_read_once(&segment->dropped);
	bool was_full = px_state_of(state) == PX_STATE_AUTO_FULL;
	struct {
		struct px_eventset filter;
		struct px_marks marks;
	} data = {.filter = *filter};
	uint32_t flags = px_eventset_has(filter, PX_EVENT_START) ? PX_RECORD_SILENT : 0;
	size_t length = sizeof(data.filter);

	if (was_full) {
		data.marks.stopped = !stream->stop_reported && !stop_was_filtered(stream, state);
		data.marks.gap = dropped != stream->dropped_started;
		data.marks.first_dropped = first_dropped(stream);
		flags |= PX_RECORD_MARKS;
		length += sizeof(data.marks);
	}
	stream->dropped_started = dropped;
	forget_stop(stream);
	if (was_full || !(flags & PX_RECORD_SILENT))
		record(stream, PX_EVENT_START, flags, &data, length, caller,
		       &stream->start_counter);
	/* On a coarse counter: no event of the window may have START's own counter. */
	px_clock_read_later((enum px_clock_source)stream->view.rings.source);
	PX_TESTPOINT("stream.start.recorded");
	/* EDGE window release */
	px_exchange(&segment->state, px_state_next(state, PX_STATE_RUNNING, false));
	/* START itself may have been the last that fits. */
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
		/* START-3: no effect but that the stream will go on when there is room */
		if (px_state_of(state) == PX_STATE_STOPPED)
			stream->stop_reported = true; /* it does not run, so it does not stop */
		px_exchange(&segment->state, px_state_next(state, PX_STATE_AUTO_FULL, true));
		return;
	}
	run(stream, state, caller);
}

/* Leave RUNNING for STOPPED, unless a writer has left it for AUTO_FULL: true if it was we. */
static bool leave_running(struct px_segment *segment, uint64_t *state)
{
	while (px_state_of(*state) == PX_STATE_RUNNING) {
		uint64_t stopped = px_state_next(*state, PX_STATE_STOPPED, false);

		if (px_compare_exchange(&segment->state, *state, stopped)) /* EDGE stop release */
			return true;
		*state = px_load_acquire(&segment->state);
	}
	return false;
}

void px_stream_stop(struct px_stream *stream, const struct px_caller *caller)
{
	struct px_segment *segment = stream->view.segment;
	uint64_t state = px_load_acquire(&segment->state);
	uint64_t counter;
	int manual = 0;

	if (is_blocked(stream))
		px_view_auto_stop(&stream->view, state); /* STOP-3: a writer is about to do it */
	state = px_load_acquire(&segment->state);
	if (!leave_running(segment, &state)) {
		if (px_state_of(state) == PX_STATE_AUTO_FULL)
			px_exchange(&segment->state, state & ~PX_STATE_ARMED);
		return;
	}
	PX_TESTPOINT("stream.stop.stored");
	/* STOP's counter is read behind the exchange, and is above all read before it. */
	px_clock_read_later((enum px_clock_source)stream->view.rings.source);
	if (!px_eventset_has(filter_of(stream, state), PX_EVENT_STOP))
		record(stream, PX_EVENT_STOP, 0, &manual, sizeof(manual), caller, &counter);
}

/* Where no writer looks yet; the state word will point to it. */
static void write_filter(struct px_segment *segment, unsigned int index,
			 const struct px_eventset *set)
{
	for (size_t i = 0; i < PX_EVENTSET_WORDS; i++)
		px_write_once(&segment->filter[index].bits[i], set->bits[i]);
}

static int clear_log(struct px_stream *stream)
{
	struct px_logging *logging = &stream->logging;
	struct px_log_state state = {0};

	logging->is_suspended = logging->log_is_full = false;
	logging->nr_lost = logging->nr_lost_told = 0;
	logging->flush_error = 0;
	logging->heads = px_view_heads(&stream->view);
	logging->waiting_ns = 0;
	return logging->log ? px_log_clear(logging->log, &state) : 0;
}

int px_stream_clear(struct px_stream *stream)
{
	struct px_segment *segment = stream->view.segment;
	unsigned int next = (px_state_filter(px_read_once(&segment->state)) + 1) %
			    PX_SEGMENT_FILTERS;
	uint64_t state, cleared;
	enum px_state kept;

	write_filter(segment, next, &(struct px_eventset){{0}}); /* CLEAR-5, AMB-2 */
	px_reader_clear(&stream->reader);
	PX_TESTPOINT("stream.clear.cut");
	do {
		state = px_load_acquire(&segment->state);
		kept = px_state_of(state) == PX_STATE_RUNNING ? PX_STATE_RUNNING : PX_STATE_STOPPED;
		cleared = px_state_next_filter(px_state_next(state, kept, false));
	} while (!px_compare_exchange(&segment->state, state, cleared)); /* EDGE window release */
	px_write_once(&segment->first_dropped, 0);
	stream->dropped_base = px_read_once(&segment->dropped);
	stream->dropped_told = stream->dropped_started = stream->dropped_base;
	stream->given_up_base = count_given_up(&stream->view);
	forget_stop(stream);
	stream->next_type = 0; /* CLEAR-9 */
	stream->was_overrun = false;
	return clear_log(stream);
}

/* Flushes. */

/* The automatic STOP stands directly behind the last event, and so ahead of this one (UFULL-2). */
static bool takes_stop_along(const struct px_stream *stream, uint64_t state)
{
	return px_state_of(state) == PX_STATE_AUTO_FULL && !stream->stop_reported &&
	       !stop_was_filtered(stream, state);
}

bool px_stream_mark_flush(struct px_stream *stream, uint32_t id, const struct px_caller *caller,
			  uint64_t *counter)
{
	uint64_t state = px_load_acquire(&stream->view.segment->state);
	struct px_marks marks = {.stopped = 1};

	if (px_state_of(state) != PX_STATE_RUNNING &&
	    !(px_state_of(state) == PX_STATE_AUTO_FULL && (state & PX_STATE_ARMED)))
		return false;
	if (px_eventset_has(filter_of(stream, state), id))
		return false;
	if (!takes_stop_along(stream, state))
		return record(stream, id, 0, NULL, 0, caller, counter);
	if (!record(stream, id, PX_RECORD_MARKS, &marks, sizeof(marks), caller, counter))
		return false;
	stream->stop_reported = true;
	return true;
}

void px_stream_mark_error(struct px_stream *stream, int error)
{
	uint64_t state = px_load_acquire(&stream->view.segment->state);
	uint64_t counter;

	if (px_state_of(state) == PX_STATE_RUNNING &&
	    !px_eventset_has(filter_of(stream, state), PX_EVENT_ERROR))
		record(stream, PX_EVENT_ERROR, 0, &error, sizeof(error), NULL, &counter);
}

bool px_stream_suspend(struct px_stream *stream)
{
	struct px_segment *segment = stream->view.segment;
	uint64_t state;

	stream->logging.is_suspended = true;
	do
		state = px_load_acquire(&segment->state);
	while (!px_compare_exchange(&segment->state, state,
				    px_state_next(state, PX_STATE_STOPPED, false)));
	forget_stop(stream);
	return !px_eventset_has(filter_of(stream, state), PX_EVENT_STOP);
}

/* Filters. */

void px_stream_get_filter(const struct px_stream *stream, struct px_eventset *set)
{
	*set = *filter_of(stream, px_load_acquire(&stream->view.segment->state));
}

/*
 * The new set is written where no writer looks yet.  One that still looks at a set three changes
 * old finds that the word has moved, and begins anew.
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
	} data = {*filter_of(stream, state), *set};

	write_filter(segment, next, set);
	PX_TESTPOINT("stream.filter.written");
	while (!px_compare_exchange(&segment->state, state,
				    px_state_next_filter(state))) /* EDGE window release */
		state = px_load_acquire(&segment->state);
	if (px_state_of(state) == PX_STATE_AUTO_FULL && !stream->stop_is_known) {
		stream->stop_is_filtered = px_eventset_has(&data.old_set, PX_EVENT_STOP);
		stream->stop_is_known = true;
	}
	if (px_state_of(state) != PX_STATE_RUNNING)
		return;
	px_clock_read_later((enum px_clock_source)stream->view.rings.source);
	if (!px_eventset_has(&data.old_set, PX_EVENT_FILTER) ||
	    !px_eventset_has(&data.new_set, PX_EVENT_FILTER))
		record(stream, PX_EVENT_FILTER, 0, &data, sizeof(data), caller, &counter);
	if (is_blocked(stream))
		px_view_auto_stop(&stream->view, px_read_once(&segment->state));
}

/* Status. */

static void tell_log_status(struct px_logging *logging, struct px_status *status)
{
	status->is_flushing = logging->is_flushing;
	status->log_is_full = logging->log_is_full;
	status->log_is_overrun = logging->nr_lost != logging->nr_lost_told;
	status->flush_error = logging->flush_error;
	logging->nr_lost_told = logging->nr_lost;
	logging->flush_error = 0;
}

void px_stream_status(struct px_stream *stream, struct px_status *status)
{
	struct px_segment *segment = stream->view.segment;
	uint64_t dropped, state;

	status->is_overrun = false;
	do {
		state = px_load_acquire(&segment->state);
		status->is_full = px_view_is_full(&stream->view);
		/* COMB-2: the writer that filled the stream may not have said so yet */
		if (status->is_full && stream->view.limit != 0)
			px_view_auto_stop(&stream->view, state);
		dropped = px_read_once(&segment->dropped);
		status->is_overrun |= px_reader_tell_overrun(&stream->reader);
	} while (px_load_acquire(&segment->state) != state);
	status->is_running = px_state_of(state) == PX_STATE_RUNNING;
	status->is_overrun |= dropped != stream->dropped_told;
	stream->dropped_told = dropped;
	stream->was_overrun |= status->is_overrun;
	tell_log_status(&stream->logging, status);
}

void px_stream_log_state(struct px_stream *stream, struct px_log_state *state)
{
	px_stream_loss(stream, &state->loss);
	/* Nothing is told here, so that get_status still does. */
	state->is_overrun = stream->was_overrun || state->loss.overwritten != 0 ||
			    state->loss.dropped != 0 || state->loss.abandoned != 0;
	state->is_full = px_view_is_full(&stream->view);
}

void px_stream_loss(struct px_stream *stream, struct px_loss *loss)
{
	px_reader_loss(&stream->reader, loss);
	loss->dropped = px_read_once(&stream->view.segment->dropped) - stream->dropped_base +
			count_given_up(&stream->view) - stream->given_up_base;
}

/* Reading. */

/*
 * Half of every ring is free, and room enough that START does not fill the stream by itself; at the
 * latest when it is empty (UFULL-5, UFULL-7).
 */
static bool is_half_free(const struct px_view *view)
{
	uint64_t margin = PX_GEOMETRY_LEAST_SLOTS(view->geometry.event_slots);

	for (uint32_t i = 0; i < view->rings.nr_rings; i++) {
		struct px_ring ring = px_rings_get(&view->rings, i);
		uint64_t tail = px_load_acquire(&ring.control->tail);
		uint64_t used = px_read_once(&ring.control->head) - tail;

		if (used > view->limit / 2 || (used > 0 && used + margin > view->limit))
			return false;
	}
	return true;
}

/* UFULL-7: half of the space is free again. */
static void restart_if_free(struct px_stream *stream, uint64_t state)
{
	if (px_state_of(state) == PX_STATE_AUTO_FULL && (state & PX_STATE_ARMED) &&
	    is_half_free(&stream->view))
		run(stream, state, NULL);
}

/*
 * Stopped by call while it was full, and emptied since: now it is like any stream that was stopped, and
 * takes no note of events (AMB-8).
 */
static void settle_stop(struct px_stream *stream, uint64_t state)
{
	if (!(state & PX_STATE_ARMED))
		px_compare_exchange(&stream->view.segment->state, state,
				    px_state_next(state, PX_STATE_STOPPED, false));
}

/* UFULL-2: the automatic STOP stands behind the last event, also while nothing follows it. */
static bool report_stop(struct px_stream *stream, uint64_t state, void *data, size_t capacity,
			struct px_report *report)
{
	if (stream->stop_reported)
		return false;
	stream->stop_reported = true;
	if (stop_was_filtered(stream, state))
		return false;
	px_reader_make_stop(&stream->reader, data, capacity, report);
	return true;
}

/* A stream that stopped by itself: its STOP, and whether it can go on. */
static enum px_next next_of_full(struct px_stream *stream, uint64_t state, enum px_next next,
				 void *data, size_t capacity, struct px_report *report)
{
	if (next == PX_NEXT_NONE) {
		if (report_stop(stream, state, data, capacity, report))
			next = PX_NEXT_EVENT;
		settle_stop(stream, state);
	}
	restart_if_free(stream, px_load_acquire(&stream->view.segment->state));
	return next;
}

/*
 * The state is read before the rings: what a stream recorded before it stopped by itself is then seen, and
 * STOP does not come ahead of it.
 */
enum px_next px_stream_next(struct px_stream *stream, void *data, size_t capacity,
			    struct px_report *report)
{
	struct px_segment *segment = stream->view.segment;
	uint64_t state = px_load_acquire(&segment->state);
	enum px_next next = px_reader_next(&stream->reader, filter_of(stream, state), data,
					   capacity, report);

	if (px_unlikely(stream->view.limit != 0 && px_state_of(state) == PX_STATE_AUTO_FULL))
		next = next_of_full(stream, state, next, data, capacity, report);
	if (px_likely(next == PX_NEXT_EVENT))
		report->time_ns = px_timeline_convert(&stream->reader.timeline,
						      report->record.counter);
	return next;
}
uint32_t *px_stream_waiting(const struct px_stream *stream)
{
	return &stream->view.segment->waiting;
}

void px_stream_prepare_wait(const struct px_stream *stream, enum px_waiting what)
{
	px_wait_prepare(&stream->view.segment->waiting, what);
	/* What was committed before must be below the next snapshot, also on a coarse counter. */
	px_clock_read_later((enum px_clock_source)stream->view.rings.source);
}

/* Event types. */

bool px_stream_next_type(struct px_stream *stream, unsigned int *id)
{
	unsigned int next = px_types_get(stream->next_type);

	if (next == PX_EVENT_NONE)
		return false; /* stay: types opened later come then */
	stream->next_type++;
	*id = next;
	return true;
}

void px_stream_rewind_types(struct px_stream *stream)
{
	stream->next_type = 0;
}
