/* SPDX-License-Identifier: MIT */
#include "export/timeline.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "export/span_list.h"
#include "report/cpu_slices.h"
#include "trace/native.h"
#include "trace/states.h"
#include "waits/waits.h"

/* Labels of the information words that contain the fill level of an object. */
static const char *const measures[] = {"enqueued", "current_count", "remaining_blocks",
				       "available_bytes", "available_packets"};

#define NR_NATIVES 1024
#define NR_MEASURES (sizeof(measures) / sizeof(measures[0]))

struct fact {
	/* `word` is the number of the word with the fill level of the object, or 0 if there is none. */
	unsigned char word, measure;
};

struct timeline {
	struct source *source;
	const struct selection *selection;
	const struct spans *wanted_spans;
	struct tracks tracks;
	void (*mark)(void *arg, const struct mark *mark);
	void *arg;

	struct waits waits;
	struct waits_listener listener;
	pid_t pid; /* process of the current event */
	bool is_ending;

	uint64_t nr_flows;
	struct track *recent; /* the track of the last event */
	unsigned int recent_context;
	pid_t recent_pid;
	uint64_t nr_events;
	int64_t end_ns; /* the latest time of any event */
	bool after_loss;
	struct fact fields[NR_NATIVES];
};

/* Marks. */

static void put(struct timeline *timeline, struct track *track, struct mark mark)
{
	if (mark.time_ns < track->last_ns)
		mark.time_ns = track->last_ns; /* an earlier time occurs only in a damaged log */
	track->last_ns = mark.time_ns;
	mark.track = track;
	mark.after_loss = timeline->after_loss;
	timeline->after_loss = false;
	track->depth += mark.kind == MARK_BEGIN;
	track->depth -= mark.kind == MARK_END;
	timeline->mark(timeline->arg, &mark);
}

static void end_slice(struct timeline *timeline, struct track *track, int64_t time_ns)
{
	if (track->depth > 0)
		put(timeline, track, (struct mark){.kind = MARK_END, .time_ns = time_ns});
}

/* Locks. */

/* Return the lane (a track of the lock) with the open slice of this hold, or NULL if its slice was not begun. */
static struct track *lane_of(const struct timeline *timeline, const struct hold *hold)
{
	struct track *lane;

	for (unsigned int i = 0;
	     (lane = tracks_find_lock(&timeline->tracks, hold->object->handle, i)); i++)
		if (lane->hold == hold)
			return lane;
	return NULL;
}

/*
 * Return a lane without an open slice.  If the hold began earlier, the lane must also have no mark after the start of
 * the hold.
 */
static struct track *free_lane(struct timeline *timeline, const struct hold *hold, bool began_now)
{
	unsigned int handle = hold->object->handle, i = 0;
	struct track *lane;

	while ((lane = tracks_find_lock(&timeline->tracks, handle, i)) &&
	       (lane->hold || (!began_now && lane->last_ns > hold->since_ns)))
		i++;
	return lane ? lane : track_of_lock(&timeline->tracks, handle, i, timeline->pid);
}

static struct track *begin_hold(struct timeline *timeline, const struct hold *hold,
				int64_t time_ns, bool began_now, uint64_t flow)
{
	struct track *lane = free_lane(timeline, hold, began_now);

	lane->hold = hold;
	put(timeline, lane,
	    (struct mark){.kind = MARK_BEGIN,
			  .time_ns = time_ns,
			  .name = source_context_name(timeline->source, hold->thread->context),
			  .flow = flow,
			  .flow_ends = flow != 0});
	return lane;
}

/*
 * At first it is not known whether a semaphore is a lock.  Then add no slice.  If the semaphore turns out to be a lock,
 * take_given() adds the slice later.  The slice is already there if take_learned() began it.
 */
static void take_taken(void *arg, const struct hold *hold, bool has_waited)
{
	struct timeline *timeline = arg;
	struct track *thread;
	uint64_t flow = 0;

	if (!hold->object->is_lock)
		return;
	thread = track_of_thread(&timeline->tracks, hold->thread->context, timeline->pid);
	if (has_waited) {
		flow = thread->flow;
		thread->flow = 0;
	}
	if (!lane_of(timeline, hold))
		begin_hold(timeline, hold, hold->since_ns, true, flow);
}

static void take_learned(void *arg, const struct hold *hold, int64_t at_ns)
{
	begin_hold(arg, hold, at_ns, true, 0);
}

static void end_hold(struct timeline *timeline, struct track *lane, int64_t at_ns)
{
	end_slice(timeline, lane, at_ns);
	lane->hold = NULL;
}

/* At the end of the trace, timeline_end() ends the slices. */
static void take_given(void *arg, const struct hold *hold, int64_t at_ns)
{
	struct timeline *timeline = arg;
	struct track *lane = lane_of(timeline, hold);

	if (timeline->is_ending && hold->thread->has_died)
		return;
	if (!lane && hold->object->is_lock)
		lane = begin_hold(timeline, hold, hold->since_ns, false, 0);
	if (lane && !timeline->is_ending)
		end_hold(timeline, lane, at_ns);
}

static void take_dropped(void *arg, const struct hold *hold, int64_t at_ns)
{
	struct track *lane = lane_of(arg, hold);

	if (lane)
		end_hold(arg, lane, at_ns);
}

/* Waits. */

/* Make the name of a wait, such as "waits for queue inbox", "sleeps", or "sleeps (nanosleep)". */
static void name_wait(const struct timeline *timeline, char *name, size_t size,
		      const struct wait *wait)
{
	bool is_foreign = timeline->source->file.foreign;
	const char *kind = is_foreign ? states[wait->state].kind : wait->object->kind;
	const char *what = tracks_object_name(&timeline->tracks, wait->object->handle);

	if (wait->object->handle == 0 && (is_foreign || !*wait->service))
		snprintf(name, size, "%s", states[wait->state].text);
	else if (wait->object->handle == 0)
		snprintf(name, size, "%s (%s)", states[wait->state].text, wait->service);
	else if (strcasestr(what, kind))
		snprintf(name, size, "waits for %s", what);
	else
		snprintf(name, size, "waits for %s %s", kind, what);
}

/* Put a mark into the slice of the holder, to show that a thread waits.  The arrow leads to this mark. */
static void link_holder(struct timeline *timeline, struct track *thread, struct track *lane,
			int64_t time_ns)
{
	char name[TRACK_NAME_BYTES + 8];

	snprintf(name, sizeof(name), "%s waits", thread->name);
	put(timeline, lane,
	    (struct mark){
		    .kind = MARK_INSTANT, .time_ns = time_ns, .name = name, .flow = thread->flow});
}

/* Return the lane with the slice of the holder if the wait is for a lock with a known holder; otherwise NULL. */
static struct track *holder_lane(const struct timeline *timeline, const struct wait *wait)
{
	const struct hold *hold = wait->holder && wait->object->is_lock ?
					  waits_hold(wait->holder, wait->object) :
					  NULL;

	return hold ? lane_of(timeline, hold) : NULL;
}

static void take_began(void *arg, const struct wait *wait)
{
	struct timeline *timeline = arg;
	struct track *thread =
		track_of_thread(&timeline->tracks, wait->thread->context, timeline->pid);
	struct track *lane = holder_lane(timeline, wait);
	char name[TRACK_NAME_BYTES];
	struct mark mark = {.kind = MARK_BEGIN, .time_ns = wait->begin_ns, .name = name,
			    .wait_class = wait_class_of(wait)};

	if (thread->kind != TRACK_THREAD)
		return;
	name_wait(timeline, name, sizeof(name), wait);
	thread->flow = 0;
	if (lane) {
		mark.holder = source_context_name(timeline->source, wait->holder->context);
		mark.flow = thread->flow = ++timeline->nr_flows;
	}
	put(timeline, thread, mark);
	if (lane)
		link_holder(timeline, thread, lane, wait->begin_ns);
}

static void end_wait(struct timeline *timeline, const struct wait *wait, int64_t at_ns, const struct waiter *waker)
{
	struct track *thread =
		track_of_thread(&timeline->tracks, wait->thread->context, timeline->pid);

	if (thread->kind == TRACK_THREAD && thread->depth > 0)
		put(timeline, thread,
		    (struct mark){.kind = MARK_END, .time_ns = at_ns, .waker = waker ? waker->context : 0});
}

/* At the end of the trace, timeline_end() ends the slices. */
static void take_ended(void *arg, const struct wait *wait)
{
	struct timeline *timeline = arg;

	if (!timeline->is_ending)
		end_wait(timeline, wait, wait->end_ns, wait->has_ended ? wait->waker : NULL);
}

static void take_broken(void *arg, const struct wait *wait, int64_t at_ns)
{
	end_wait(arg, wait, at_ns, NULL);
}

static void take_died(void *arg, const struct waiter *thread, int64_t at_ns)
{
	struct timeline *timeline = arg;
	struct track *track = track_of_thread(&timeline->tracks, thread->context, timeline->pid);

	while (track->kind == TRACK_THREAD && track->depth > 0)
		end_slice(timeline, track, at_ns);
	for (const struct hold *hold = thread->holds; hold; hold = hold->next_of_thread)
		take_given(timeline, hold, at_ns);
}

/* Counters. */

static void count(struct timeline *timeline, const struct event *event, unsigned int native)
{
	const struct fact *fact = &timeline->fields[native];
	uint32_t value = event_word(event, fact->word);
	struct track *counter;

	if (fact->word == 0)
		return;
	counter = track_of_counter(&timeline->tracks, event_word(event, 0), fact->measure,
				   measures[fact->measure], event->pid);
	if (counter->has_value && counter->value == value)
		return;
	counter->has_value = true;
	counter->value = value;
	put(timeline, counter,
	    (struct mark){.kind = MARK_COUNTER, .time_ns = event->time_ns, .value = value});
}

static void learn_word(struct fact *fact, const char *label, unsigned char word)
{
	for (unsigned char m = 0; m < NR_MEASURES; m++) {
		if (strcmp(label, measures[m]) != 0)
			continue;
		fact->word = word;
		fact->measure = m;
	}
}

/* Compare the labels once, because a comparison for each event takes too long. */
static void learn_facts(struct timeline *timeline)
{
	for (unsigned int native = 1; native < NR_NATIVES; native++) {
		bool has_object = label_is_object(native_label(native, 0));

		for (unsigned char i = 0; i < 4; i++) {
			const char *label = native_label(native, i);

			if (label && has_object)
				learn_word(&timeline->fields[native], label, i);
		}
	}
}

/* Events. */

struct timeline *timeline_begin(struct source *source, const struct selection *selection, const struct spans *spans,
				void (*track)(void *arg, const struct track *track),
				void (*mark)(void *arg, const struct mark *mark), void *arg)
{
	struct timeline *timeline = must(calloc(1, sizeof(*timeline)));

	timeline->source = source;
	timeline->selection = selection;
	timeline->wanted_spans = spans;
	timeline->mark = mark;
	timeline->arg = arg;
	tracks_init(&timeline->tracks, source, track, arg);
	learn_facts(timeline);
	timeline->listener = (struct waits_listener){.arg = timeline,
						     .began = take_began,
						     .ended = take_ended,
						     .broken = take_broken, .died = take_died,
						     .taken = take_taken,
						     .learned = take_learned,
						     .given = take_given,
						     .dropped = take_dropped};
	waits_init(&timeline->waits, source, &timeline->listener);
	return timeline;
}

/*
 * Return the track of the thread that recorded the event.  The timeline stores the last track, because the next event
 * often belongs to the same thread.
 */
static struct track *track_of(struct timeline *timeline, const struct event *event)
{
	if (!timeline->recent || timeline->recent_context != event->context ||
	    timeline->recent_pid != event->pid) {
		timeline->recent = track_of_thread(&timeline->tracks, event->context, event->pid);
		timeline->recent_context = event->context;
		timeline->recent_pid = event->pid;
	}
	return timeline->recent;
}

static void mark_loss(struct timeline *timeline, const struct event *event)
{
	struct track *track = track_of_loss(&timeline->tracks, event->pid);

	end_slice(timeline, track, event->time_ns);
	if (event->type == POSIX_TRACE_OVERFLOW)
		put(timeline, track,
		    (struct mark){
			    .kind = MARK_BEGIN, .time_ns = event->time_ns, .name = "events lost"});
	else
		timeline->after_loss = true;
}

/* Make the track of a thread or of a mutex when an event first names the thread or the mutex. */
static void make_tracks(struct timeline *timeline, const struct event *event, unsigned int native)
{
	switch (native) {
	case NATIVE_THREAD_SUSPEND:
	case NATIVE_THREAD_RESUME:
		track_of_thread(&timeline->tracks, event_word(event, 0), event->pid);
		break;
	case NATIVE_MUTEX_GET:
	case NATIVE_MUTEX_PUT:
	case NATIVE_MUTEX_DELETE:
		track_of_lock(&timeline->tracks, event_word(event, 0), 0, event->pid);
		break;
	default:
		break;
	}
}

void timeline_event(struct timeline *timeline, const struct event *event)
{
	struct track *track = track_of(timeline, event);
	unsigned int native = event_native(event);
	struct mark mark = {.kind = MARK_INSTANT,
			    .time_ns = event->time_ns,
			    .name = event->name,
			    .event = event};

	if (timeline->nr_events++ == 0 || event->time_ns > timeline->end_ns)
		timeline->end_ns = event->time_ns;
	if (event->type == POSIX_TRACE_OVERFLOW || event->type == POSIX_TRACE_RESUME) {
		mark_loss(timeline, event);
		return;
	}
	if (native == NATIVE_ISR_EXIT && track->depth > 0) {
		mark.kind = MARK_END;
	} else if (native == NATIVE_ISR_ENTER) {
		mark.kind = MARK_BEGIN;
		mark.name = "ISR";
	}
	if (!event->is_made) /* the slice of the wait shows an event that is not in the file */
		put(timeline, track, mark);
	make_tracks(timeline, event, native);
	timeline->pid = event->pid;
	waits_event(&timeline->waits, event, true);
	if (native > 0 && native < NR_NATIVES)
		count(timeline, event, native);
}

/*
 * Put a mark with the number of all lost events.  This number includes losses after the last event, which no OVERFLOW
 * records, and events that the file has but that cannot be read.
 */
static void mark_total(struct timeline *timeline)
{
	const struct txtrace_loss *loss = &timeline->source->loss;
	unsigned int by_log = (unsigned int)timeline->source->file.nr_log_lost;
	uint64_t nr_missing = source_missing(timeline->source);
	char name[192]; /* room for any numbers */
	int length;

	if (source_nr_lost(timeline->source) + nr_missing == 0)
		return;
	length = snprintf(name, sizeof(name), "lost in all: %llu overwritten, %llu dropped, %llu abandoned",
			  loss->overwritten, loss->dropped, loss->abandoned);
	if (by_log > 0)
		length += snprintf(name + length, sizeof(name) - (size_t)length, ", %u by the log", by_log);
	if (nr_missing > 0)
		snprintf(name + length, sizeof(name) - (size_t)length, ", %llu not readable",
			 (unsigned long long)nr_missing);
	put(timeline, track_of_loss(&timeline->tracks, timeline->recent_pid),
	    (struct mark){.kind = MARK_INSTANT, .time_ns = timeline->end_ns, .name = name});
}

static void put_run(void *arg, unsigned int context, int64_t from_ns, int64_t until_ns)
{
	struct timeline *timeline = arg;
	struct track *track = track_of_cpu(&timeline->tracks);

	track->handle = context;
	put(timeline, track,
	    (struct mark){.kind = MARK_BEGIN,
			  .time_ns = from_ns,
			  .name = source_context_name(timeline->source, context)});
	end_slice(timeline, track, until_ns);
}

/* Make the name of a state, such as "ready (woken)" or "blocked: mutex db lock". */
static void name_state(char *name, size_t size, const struct state_period *period)
{
	char object[TRACK_NAME_BYTES - sizeof("blocked: ")] = "";

	if (period->object)
		waits_describe(period->object, object, sizeof(object));
	switch (period->state) {
	case THREAD_PREEMPTED:
		snprintf(name, size, "ready (preempted)");
		break;
	case THREAD_WOKEN:
		snprintf(name, size, "ready (woken)");
		break;
	case THREAD_BLOCKED:
		snprintf(name, size, *object ? "blocked: %s" : "blocked", object);
		break;
	default:
		snprintf(name, size, "%s", state_period_name(period->state));
	}
}

static void put_state(void *arg, const struct state_period *period)
{
	const struct sched_thread *thread = period->thread;
	struct timeline *timeline = arg;
	struct track *track;
	char name[TRACK_NAME_BYTES];

	if (period->state == THREAD_UNKNOWN)
		return;
	track = track_of_states(&timeline->tracks, period->context, thread->index, (int)thread->pid, (int)thread->tid,
				thread->name);
	name_state(name, sizeof(name), period);
	put(timeline, track,
	    (struct mark){.kind = MARK_BEGIN, .time_ns = period->from_ns, .name = name, .period = period});
	end_slice(timeline, track, period->until_ns);
}

/* Spans. */

/* Return the first track of this span whose last slice has ended at this time. */
static struct track *lane_of_span(struct timeline *timeline, const struct span *span, const struct span_time *time)
{
	const struct txtrace_object *thread = source_object(timeline->source, time->context);

	for (unsigned int lane = 0;; lane++) {
		struct track *track = track_of_span(&timeline->tracks, time->span, lane,
						    thread ? thread->pid : timeline->pid,
						    span->name);

		if (track->last_ns <= time->begin_ns)
			return track;
	}
}

static void put_spans(struct timeline *timeline)
{
	struct span_list list;

	span_list_read(&list, timeline->source, timeline->selection, timeline->wanted_spans, true);
	for (size_t i = 0; i < list.nr; i++) {
		const struct span *span = &list.spans.span[list.time[i].span];
		struct track *track = lane_of_span(timeline, span, &list.time[i]);

		put(timeline, track,
		    (struct mark){.kind = MARK_BEGIN, .time_ns = list.time[i].begin_ns, .name = span->name});
		end_slice(timeline, track, list.time[i].end_ns);
	}
	span_list_free(&list);
}

void timeline_end(struct timeline *timeline, bool is_complete)
{
	timeline->is_ending = true;
	if (is_complete)
		waits_end(&timeline->waits);
	if (is_complete && timeline->nr_events > 0)
		mark_total(timeline);
	if (is_complete && timeline->source->file.foreign)
		cpu_slices_report(timeline->source, timeline->selection, put_run, timeline);
	for (size_t i = 0; is_complete && i < timeline->tracks.nr_tracks; i++)
		while (timeline->tracks.track[i]->depth > 0)
			end_slice(timeline, timeline->tracks.track[i], timeline->end_ns);
	if (is_complete && timeline->nr_events > 0)
		state_periods_read(timeline->source, timeline->selection, put_state, timeline);
	if (is_complete && timeline->nr_events > 0)
		put_spans(timeline);
	waits_free(&timeline->waits);
	tracks_free(&timeline->tracks);
	free(timeline);
}
