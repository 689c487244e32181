/* SPDX-License-Identifier: MIT */
#include "stream/flush_sched.h"

#include "ring/wakeup.h"
#include "stream/stream_private.h"

#define MANY_RECORDS 8192
#define PAUSE_MAX_NS (2 * PX_SCHED_DELAY_NS)

static uint64_t monotonic_of(const struct px_stream *stream, uint64_t time_ns)
{
	return time_ns - stream->reader.timeline.realtime_offset_ns;
}

void px_flush_sched_collect(struct px_stream *stream)
{
	struct px_timeline *timeline = &stream->reader.timeline;

	if (!stream->logging.sched && !stream->logging.cpu_times)
		return;
	px_timeline_extend(timeline, px_clock_anchor(timeline->source));
	if (stream->logging.sched)
		px_sched_collect(stream->logging.sched);
	else
		px_cpu_times_collect(stream->logging.cpu_times);
}

bool px_flush_sched_is_due(const struct px_stream *stream, uint64_t age_ns)
{
	uint64_t oldest_ns;
	size_t nr = stream->logging.sched ? px_sched_nr_queued(stream->logging.sched, &oldest_ns) : 0;

	return nr > MANY_RECORDS || (nr > 0 && px_clock_monotonic_ns() - oldest_ns > age_ns);
}

/* Wait until the records up to this time are complete.  A time in the future is an error of a clock. */
static void await(struct px_sched *sched, uint64_t until_ns)
{
	uint64_t now;

	if (until_ns <= px_sched_complete_ns(sched))
		return;
	now = px_clock_monotonic_ns();
	if (now < until_ns + PX_SCHED_DELAY_NS) {
		uint64_t rest_ns = until_ns + PX_SCHED_DELAY_NS - now;

		px_wakeup_pause(rest_ns < PAUSE_MAX_NS ? rest_ns : PAUSE_MAX_NS);
	}
	px_sched_collect(sched);
}

static enum px_log_room append_record(struct px_stream *stream, const struct px_sched_event *event)
{
	uint64_t state = px_load_acquire(&stream->view.segment->state);
	struct px_report report = {.record = {.id = event->id, .pid = event->pid, .cpu = event->cpu},
				   .time_ns = event->time_ns + stream->reader.timeline.realtime_offset_ns,
				   .length = event->length,
				   .copied = event->length};
	struct px_object thread;

	if (px_eventset_has(px_stream_filter_of(stream, state), event->id))
		return PX_LOG_TAKEN;
	if (event->tid && px_log_find_thread(stream->logging.log, event->pid, event->tid, &thread)) {
		report.record.context = thread.handle;
		report.record.priority = px_txtb_priority_word(thread.priority);
		report.record.thread = thread.thread;
	}
	return px_log_append(stream->logging.log, &report, &event->data);
}

static bool next_record(struct px_logging *logging, uint64_t until_ns)
{
	return logging->sched ? px_sched_next(logging->sched, until_ns, &logging->sched_event) :
				px_cpu_times_next(logging->cpu_times, until_ns, &logging->sched_event);
}

/* Append the records up to this time. */
static enum px_log_room append_records(struct px_stream *stream, uint64_t until_ns)
{
	struct px_logging *logging = &stream->logging;

	while (true) {
		enum px_log_room room;

		if (!logging->has_sched_event && !next_record(logging, until_ns))
			return PX_LOG_TAKEN;
		logging->has_sched_event = true;
		room = append_record(stream, &logging->sched_event);
		if (room == PX_LOG_WRITE_FIRST)
			return room;
		if (room == PX_LOG_FULL)
			px_log_count_lost(logging->log);
		logging->has_sched_event = false;
	}
}

static enum px_log_room append_before(struct px_stream *stream, const struct px_report *report)
{
	struct px_sched *sched = stream->logging.sched;
	uint64_t until_ns = monotonic_of(stream, report->time_ns);
	enum px_log_room room;

	await(sched, until_ns);
	room = append_records(stream, until_ns);
	if (room != PX_LOG_TAKEN || report->record.id != PX_EVENT_STOP)
		return room;
	px_sched_stop(sched, until_ns);
	return append_records(stream, until_ns);
}

/* The times of threads that the kernel has counted, up to this event. */
static enum px_log_room append_counts(struct px_stream *stream, const struct px_report *report)
{
	uint64_t until_ns = report ? monotonic_of(stream, report->time_ns) :
				     px_clock_monotonic_ns() - PX_SCHED_DELAY_NS;

	if (report && report->record.id == PX_EVENT_STOP)
		px_cpu_times_stop(stream->logging.cpu_times, until_ns);
	return append_records(stream, until_ns);
}

enum px_log_room px_flush_sched_append(struct px_stream *stream, const struct px_report *report)
{
	struct px_sched *sched = stream->logging.sched;
	enum px_log_room room = PX_LOG_TAKEN;

	if (px_unlikely(sched != NULL))
		room = report ? append_before(stream, report) :
				append_records(stream, px_sched_complete_ns(sched));
	else if (px_unlikely(stream->logging.cpu_times != NULL))
		room = append_counts(stream, report);
	if (room == PX_LOG_WRITE_FIRST || !report)
		return room;
	room = px_log_append(stream->logging.log, report, stream->logging.data);
	if (px_unlikely(sched != NULL) && room == PX_LOG_TAKEN && report->record.id == PX_EVENT_START)
		px_sched_start(sched, monotonic_of(stream, report->time_ns));
	if (px_unlikely(stream->logging.cpu_times != NULL) && room == PX_LOG_TAKEN &&
	    report->record.id == PX_EVENT_START)
		px_cpu_times_start(stream->logging.cpu_times);
	return room;
}

enum px_log_room px_flush_sched_end_dead(struct px_stream *stream)
{
	const uint32_t end = PX_SCHED_CONTROLLER;
	/* The log gives this event the time of its last one. */
	struct px_report report = {.record = {.id = PX_EVENT_SCHED_STOP},
				   .length = sizeof(end),
				   .copied = sizeof(end)};

	if (!px_log_has_open_sched(stream->logging.log))
		return PX_LOG_TAKEN;
	return px_log_append(stream->logging.log, &report, &end);
}
