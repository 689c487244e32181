/* SPDX-License-Identifier: MIT */
#include "stream/flush.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "base/write_signals.h"
#include "ring/wakeup.h"
#include "stream/flush_sched.h"
#include "stream/handle.h"

#define PENDING_NS 50000
#define PAUSES_MAX 40000 /* some seconds for all pauses together */

/* One flush. */
struct flush {
	unsigned long id;
	struct px_stream *stream;
	bool is_last;	/* the stream ends: no lock is needed */
	bool gives_up;	/* end this flush at the first error */
	bool has_bound;
	uint64_t bound; /* stop at the first event with a later counter */
	int error; /* the first error */
};

static void update_log_status(struct px_stream *stream, int error)
{
	struct px_logging *logging = &stream->logging;

	logging->log_is_full = px_log_is_full(logging->log);
	logging->nr_lost = px_log_nr_lost(logging->log);
	if (error && !logging->flush_error)
		logging->flush_error = error;
}

/* Release the lock before a slow step. */
static void leave(const struct flush *flush)
{
	if (!flush->is_last)
		px_handle_leave(flush->id);
}

/* Take the lock again.  Return false if another thread has closed the identifier. */
static bool return_to(const struct flush *flush)
{
	return flush->is_last || px_handle_return(flush->id);
}

/*
 * Write the events in the buffer of the log.  Then add the event of `report`, for which the buffer had no room before.
 * The caller does not hold the lock.
 */
static enum px_log_room write_then_append(struct flush *flush, const struct px_report *report,
					  const struct px_log_state *state, int *error)
{
	struct px_log *log = flush->stream->logging.log;
	enum px_log_room room;

	if (!flush->gives_up)
		px_log_take_titles(log);
	do {
		int failed = px_log_write(log, state);

		if (failed && !*error)
			*error = failed;
		if (failed && flush->gives_up)
			return PX_LOG_TAKEN;
		room = report ? px_flush_sched_append(flush->stream, report) : PX_LOG_TAKEN;
	} while (room == PX_LOG_WRITE_FIRST);
	return room;
}

/*
 * Write the events in the buffer of the log.  Then add the event of `report` to the buffer, unless it is NULL.  Return
 * false if the flush gives up, or if another thread has closed the identifier.  A thread that closes the identifier
 * continues the flush.  It finds only the events in the buffer, so this function adds the event before it returns.
 */
static bool write_out(struct flush *flush, const struct px_report *report, bool is_empty,
		      enum px_log_room *room)
{
	struct px_stream *stream = flush->stream;
	struct px_log_state state;
	int error = 0;

	px_stream_log_state(stream, report != NULL, &state);
	leave(flush);
	*room = write_then_append(flush, report, &state, &error);
	if (*room == PX_LOG_FULL)
		px_log_count_lost(stream->logging.log);
	if (error && !flush->error)
		flush->error = error;
	if (!return_to(flush) || (error && flush->gives_up))
		return false;
	update_log_status(stream, error);
	px_stream_release(stream, state.checkpoint, is_empty);
	return true;
}

static bool pause_for(struct flush *flush)
{
	leave(flush);
	px_wakeup_pause(PENDING_NS);
	return return_to(flush);
}

/*
 * If the log is full, suspend the stream, and end the log with STOP.  The log discards later events (LOGP-2, LOGP-3).
 */
static void end_full_log(struct px_stream *stream)
{
	if (px_log_refuses(stream->logging.log) && !stream->logging.is_suspended &&
	    px_stream_suspend(stream))
		px_log_append_stop(stream->logging.log);
}

static bool append(struct flush *flush, const struct px_report *report)
{
	struct px_log *log = flush->stream->logging.log;
	enum px_log_room room = px_flush_sched_append(flush->stream, report);

	if (room == PX_LOG_FULL)
		px_log_count_lost(log);
	if (room == PX_LOG_WRITE_FIRST && !write_out(flush, report, false, &room))
		return false;
	if (room == PX_LOG_FULL)
		end_full_log(flush->stream);
	return true;
}

/*
 * All events of the rings are in the log.  Append what comes after them: a gap at the end, and scheduling records.
 */
static bool append_rest(struct flush *flush)
{
	struct px_report overflow;
	enum px_log_room room;

	if (px_stream_last_gap(flush->stream, &overflow) && !append(flush, &overflow))
		return false;
	while (px_flush_sched_append(flush->stream, NULL) == PX_LOG_WRITE_FIRST)
		if (!write_out(flush, NULL, false, &room))
			return false;
	return true;
}

static bool is_after_bound(const struct flush *flush, const struct px_report *report)
{
	/* A synthesized event has no slots, and it may have the time of a much older event. */
	return flush->has_bound && report->record.nr_slots != 0 &&
	       (int64_t)(report->record.counter - flush->bound) >= 0;
}

/*
 * Return the greatest number of events that one flush takes.  Only a hostile writer can cause more events: it uses
 * counters from before the flush, or records in a stopped stream.
 */
static uint64_t most_events(const struct px_stream *stream)
{
	return 2 * (uint64_t)stream->view.geometry.nr_rings * stream->view.geometry.nr_slots +
	       PAUSES_MAX;
}

/*
 * Take many usual events at once, and stage them.  Return their number.  The events of the rings are not the only ones
 * if there are scheduling records, or times of threads.
 */
static uint64_t take_usual(const struct flush *flush, size_t data_max)
{
	struct px_stream *stream = flush->stream;
	struct px_reader_run run = {.has_bound = flush->has_bound,
				    .bound = flush->bound,
				    .earliest_ns = stream->last_ns,
				    .data_max = data_max};
	uint64_t nr;

	if (stream->logging.sched || stream->logging.cpu_times)
		return 0;
	nr = px_reader_run(&stream->reader, stream->logging.log, &run);
	stream->last_ns = run.earliest_ns;
	return nr;
}

/*
 * Take events from the stream and write them, up to the bound.  Return false if the flush gives up, or if another
 * thread has closed the identifier; in the latter case, return with the lock released.
 */
static bool pump(struct flush *flush)
{
	struct px_stream *stream = flush->stream;

	/*
	 * Only a hostile writer records more data than this.  Truncate such data, because a log has no room for more.
	 */
	size_t capacity = stream->view.max_data > PX_SYSTEM_EVENT_BYTES ?
				  (size_t)stream->view.max_data :
				  PX_SYSTEM_EVENT_BYTES;

	for (uint64_t left = most_events(stream);; left--) {
		enum px_log_room room;
		struct px_report report;
		enum px_next next = PX_NEXT_NONE;
		uint64_t nr = left > 0 ? take_usual(flush, capacity) : 0;

		left = nr < left ? left - nr : 0;
		if (nr > 0 && px_reader_keeps_much(&stream->reader) && !write_out(flush, NULL, false, &room))
			return false;
		if (left > 0)
			next = px_stream_next(stream, stream->logging.data, capacity, &report);
		if (next == PX_NEXT_NONE && flush->is_last && left > 0 &&
		    px_reader_give_up_late(&stream->reader))
			continue;
		if (next == PX_NEXT_NONE)
			return append_rest(flush) && write_out(flush, NULL, left > 0, &room);
		if (next == PX_NEXT_PENDING) {
			if (!pause_for(flush))
				return false;
			continue;
		}
		if (px_unlikely(px_event_is_sched(report.record.id)))
			continue; /* a hostile writer: only this process makes such events */
		if (!append(flush, &report))
			return false;
		if (is_after_bound(flush, &report))
			return write_out(flush, NULL, false, &room);
		/*
		 * Events keep their slots until they are written.  So write now: otherwise a small ring would stay full
		 * for long.
		 */
		if (px_reader_keeps_much(&stream->reader) && !write_out(flush, NULL, false, &room))
			return false;
	}
}

static bool run(struct flush *flush)
{
	struct px_write_signals signals;
	bool is_open;

	px_write_signals_hold(&signals);
	is_open = pump(flush);
	px_write_signals_release(&signals);
	return is_open;
}

bool px_flush_wait(unsigned long id, struct px_stream *stream)
{
	while (stream->logging.is_flushing)
		if (!px_handle_wait(id))
			return false;
	return true;
}

int px_flush(unsigned long id, struct px_stream *stream, const struct px_caller *caller)
{
	struct px_logging *logging = &stream->logging;
	struct flush flush = {.id = id, .stream = stream, .has_bound = true};
	uint64_t counter, heads;

	if (!px_flush_wait(id, stream))
		return EINVAL;
	logging->is_flushing = true;
	if (px_log_ensure_descriptor(logging->log) == 0)
		px_checkpoint_file_note_path(logging->checkpoint_file,
					     px_log_descriptor(logging->log));
	px_flush_sched_collect(stream);
	heads = px_view_heads(&stream->view);
	if (px_stream_mark_flush(stream, PX_EVENT_FLUSH_START, caller, &flush.bound))
		heads++;
	else
		flush.bound = px_clock_read((enum px_clock_source)stream->view.rings.source);
	/*
	 * An interrupt may delay a writer after it has read the counter and before it has reserved its slots.  Wait for
	 * such a writer, or its event would come after FLUSH_START, with an older time.
	 */
	if (!pause_for(&flush) || !run(&flush)) /* the thread that closed the identifier does the rest */
		return flush.error ? flush.error : EINVAL;
	if (flush.error && !caller)
		px_stream_mark_error(stream, flush.error);
	heads += px_stream_mark_flush(stream, PX_EVENT_FLUSH_STOP, caller, &counter);
	logging->heads = heads; /* later events came during the flush: a later flush writes them */
	logging->waiting_ns = 0;
	logging->is_flushing = false; /* FLOP-9: only after FLUSH_STOP */
	px_handle_wake(id);
	px_handle_unlock(id);
	return flush.error;
}

int px_flush_clear(unsigned long id, struct px_stream *stream)
{
	struct px_logging *logging = &stream->logging;
	struct px_write_signals signals;
	int error;

	if (!px_flush_wait(id, stream))
		return EINVAL;
	px_stream_clear(stream);
	if (!logging->log) {
		px_handle_unlock(id);
		return 0;
	}
	logging->is_flushing = true;
	px_handle_leave(id);
	px_write_signals_hold(&signals);
	error = px_log_empty(logging->log);
	px_write_signals_release(&signals);
	if (!px_handle_return(id))
		return error; /* the thread that closed the identifier continues with an empty log */
	logging->is_flushing = false;
	px_handle_wake(id);
	px_handle_unlock(id);
	return error;
}

int px_flush_set_namer(unsigned long id, struct px_stream *stream, const struct px_namer *namer)
{
	struct px_logging *logging = &stream->logging;
	bool has_log;

	if (!px_flush_wait(id, stream))
		return EINVAL;
	logging->namer = *namer;
	has_log = logging->log != NULL;
	if (has_log)
		px_log_set_namer(logging->log, namer->function ? &logging->namer : NULL);
	px_handle_unlock(id);
	return has_log ? 0 : EINVAL;
}

/* Complete the log, which no other thread uses.  Return 0, or the first error of writing. */
static int complete(struct flush *flush, enum px_log_end end)
{
	struct px_stream *stream = flush->stream;
	struct px_log *log = stream->logging.log;
	struct px_log_state state;
	struct px_write_signals signals;
	int error;

	px_stream_log_state(stream, false, &state);
	px_write_signals_hold(&signals);
	/* Reset the pointer before the log is freed: a child made by fork uses the log that it finds here. */
	px_write_once(&stream->logging.log, NULL);
	error = px_log_complete(log, &state, end);
	px_write_signals_release(&signals);
	return flush->error ? flush->error : error;
}

int px_flush_end(struct px_stream *stream, const struct px_caller *caller)
{
	struct flush flush = {.stream = stream, .is_last = true};

	end_full_log(stream); /* an interrupted flush may have filled the log */
	px_stream_stop(stream, caller);
	run(&flush);
	return complete(&flush, PX_LOG_COMPLETE);
}

/* All other events are written, so there is room for STOP, unless the log is full. */
static void append_last_stop(struct px_stream *stream)
{
	struct px_report stop;

	if (px_stream_last_stop(stream, &stop) &&
	    px_log_append(stream->logging.log, &stop, stream->logging.data) == PX_LOG_FULL) {
		px_log_count_lost(stream->logging.log);
		end_full_log(stream);
	}
}

/*
 * If a write fails, give up without completing the log, because the log would lack the events of that write.  A later
 * recovery can try again.
 */
int px_flush_recover(struct px_stream *stream)
{
	struct flush flush = {.stream = stream, .is_last = true, .gives_up = true};
	enum px_log_room room;

	end_full_log(stream);
	px_stream_stop_dead(stream);
	while (px_flush_sched_end_dead(stream) == PX_LOG_WRITE_FIRST)
		if (!write_out(&flush, NULL, false, &room))
			break;
	if (!flush.error)
		run(&flush);
	if (!flush.error) {
		append_last_stop(stream);
		return complete(&flush, PX_LOG_RECOVERED);
	}
	px_log_free(stream->logging.log);
	stream->logging.log = NULL;
	return flush.error;
}

/* Events from before an exec. */

void px_flush_mark_forked(unsigned long id)
{
	struct px_stream *stream = px_handle_lock(id);

	if (!stream)
		return;
	if (stream->logging.checkpoint_file)
		px_write_once(&stream->logging.checkpoint_file->file->is_forked, 1);
	px_handle_unlock(id);
}

/* An address of the former program may be in a module of this program.  So do not name an object after a module. */
static int name_by_number(const struct px_namer *namer, const struct px_call_object *object,
			  char *text, size_t size)
{
	(void)namer;
	if (px_call_objects_is_descriptor(object) || object->object.type == PX_TXTB_BYTE_POOL)
		return -1;
	snprintf(text, size, "0x%llx", (unsigned long long)object->address);
	return 0;
}

/* Return false if another thread has closed the identifier. */
static bool append_all_former(struct flush *flush, struct px_stream *former)
{
	struct px_logging *logging = &flush->stream->logging;
	size_t capacity = flush->stream->reader.held_capacity;
	struct px_report report;

	px_stream_stop_dead(former);
	for (uint64_t left = most_events(former); left > 0; left--) {
		enum px_next next = px_stream_next(former, logging->data, capacity, &report);

		if (next == PX_NEXT_NONE && px_reader_give_up_late(&former->reader))
			continue;
		if (next == PX_NEXT_NONE)
			break;
		if (next == PX_NEXT_PENDING)
			px_wakeup_pause(PENDING_NS);
		report.record.address = 0;
		if (next == PX_NEXT_EVENT && !append(flush, &report))
			return false;
	}
	former->logging.log = logging->log;
	if (px_stream_last_gap(former, &report) && !append(flush, &report))
		return false;
	if (px_stream_last_stop(former, &report)) {
		memcpy(logging->data, former->logging.data, report.length);
		if (!append(flush, &report))
			return false;
	}
	former->logging.log = NULL;
	return true;
}

int px_flush_former(unsigned long id, struct px_stream *former)
{
	static const struct px_namer by_number = {.call = name_by_number};
	struct px_stream *stream = px_handle_lock(id);
	struct flush flush = {.id = id, .stream = stream};
	struct px_write_signals signals;
	enum px_log_room room;
	bool is_open;

	if (!stream || !px_flush_wait(id, stream))
		return EINVAL;
	stream->logging.is_flushing = true;
	px_stream_copy_tables(stream, former);
	px_log_set_namer(stream->logging.log, &by_number);
	px_write_signals_hold(&signals);
	is_open = append_all_former(&flush, former) && write_out(&flush, NULL, false, &room);
	px_write_signals_release(&signals);
	former->logging.log = NULL;
	if (!is_open)
		return EINVAL;
	px_log_set_namer(stream->logging.log, NULL);
	px_stream_add_calls(stream, former);
	stream->logging.is_flushing = false;
	px_handle_wake(id);
	px_handle_unlock(id);
	return flush.error;
}
