/* SPDX-License-Identifier: MIT */
#include "export/timeline.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "report/cpu_slices.h"
#include "trace/native.h"
#include "trace/states.h"

#define NET_FIRST 300 /* NetX's events begin here */

/* Words that tell how much an object holds. */
static const char *const measures[] = {"enqueued", "current_count", "remaining_blocks",
				       "available_bytes", "available_packets"};

#define NR_NATIVES 1024
#define NR_MEASURES (sizeof(measures) / sizeof(measures[0]))

struct fact {
	bool has_object, has_socket; /* word 0 is one; socket_word is one */
	unsigned char socket_word;
	unsigned char word, measure; /* how much the object holds; word 0: it does not tell */
};

struct timeline {
	struct source *source;
	const struct selection *selection;
	struct tracks tracks;
	void (*mark)(void *arg, const struct mark *mark);
	void *arg;

	uint64_t nr_flows;
	struct track *recent; /* of the last event, with these */
	unsigned int recent_context;
	pid_t recent_pid;
	uint64_t nr_events;
	int64_t end_ns; /* of the last */
	bool after_loss;
	struct fact fields[NR_NATIVES];
};

/* Marks. */

static void put(struct timeline *timeline, struct track *track, struct mark mark)
{
	if (mark.time_ns < track->last_ns)
		mark.time_ns = track->last_ns; /* only in a damaged log */
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

static void hold(struct timeline *timeline, struct track *lock, unsigned int thread,
		 int64_t time_ns, uint64_t flow)
{
	end_slice(timeline, lock, time_ns);
	lock->holder = thread;
	put(timeline, lock,
	    (struct mark){.kind = MARK_BEGIN,
			  .time_ns = time_ns,
			  .name = source_context_name(timeline->source, thread),
			  .flow = flow,
			  .flow_ends = flow != 0});
}

static void release(struct timeline *timeline, struct track *lock, int64_t time_ns)
{
	end_slice(timeline, lock, time_ns);
	lock->holder = 0;
}

/* GET tells who held it before the call: nobody, and the caller has it; itself; or another. */
static void get_mutex(struct timeline *timeline, const struct event *event)
{
	struct track *lock = track_of_lock(&timeline->tracks, event_word(event, 0), event->pid);
	unsigned int owner = event_word(event, 2);

	if (owner == 0)
		owner = event->context;
	if (lock->holder != owner)
		hold(timeline, lock, owner, event->time_ns, 0);
}

/* The last of as many PUTs as there were GETs releases it; an earlier one may be the first that tells who holds it. */
static void put_mutex(struct timeline *timeline, const struct event *event)
{
	struct track *lock = track_of_lock(&timeline->tracks, event_word(event, 0), event->pid);
	unsigned int owner = event_word(event, 1);

	if (event_word(event, 2) == 1)
		release(timeline, lock, event->time_ns);
	else if (owner != 0 && lock->holder != owner)
		hold(timeline, lock, owner, event->time_ns, 0);
}

/* Waits. */

static bool has_label(unsigned int native, const char *label)
{
	const char *first = native_label(native, 0);

	return first && strcmp(first, label) == 0;
}

/* The object that a thread in this state waits for: that of its last call, if it is one of such; or 0. */
static unsigned int waited_object(const struct track *thread, unsigned int state)
{
	if (state == STATE_NET)
		return thread->socket;
	if (states[state].label && has_label(thread->service, states[state].label))
		return thread->object;
	return 0;
}

/* "waits for queue 0", or "waits for queue inbox". */
static void name_wait(const struct timeline *timeline, char *name, size_t size, unsigned int state,
		      unsigned int object)
{
	const char *what = object != 0 ? tracks_object_name(&timeline->tracks, object) : "";

	if (object == 0)
		snprintf(name, size, "%s", states[state].text);
	else if (strcasestr(what, states[state].kind))
		snprintf(name, size, "waits for %s", what);
	else
		snprintf(name, size, "waits for %s %s", states[state].kind, what);
}

/* The holder's slice is told that someone waits, so that an arrow leads there. */
static void link_holder(struct timeline *timeline, struct track *thread, struct track *lock,
			int64_t time_ns)
{
	char name[TRACK_NAME_BYTES + 8];

	snprintf(name, sizeof(name), "%s waits", thread->name);
	thread->flow = ++timeline->nr_flows;
	put(timeline, lock,
	    (struct mark){
		    .kind = MARK_INSTANT, .time_ns = time_ns, .name = name, .flow = thread->flow});
}

static void suspend(struct timeline *timeline, const struct event *event)
{
	struct track *thread = track_of_thread(&timeline->tracks, event_word(event, 0), event->pid);
	unsigned int state = event_word(event, 1);
	char name[TRACK_NAME_BYTES];
	struct track *lock = NULL;
	unsigned int object;
	struct mark mark = {.kind = MARK_BEGIN, .time_ns = event->time_ns, .name = name};

	if (thread->kind != TRACK_THREAD || thread->waits || !state_of(state))
		return;
	object = waited_object(thread, state);
	name_wait(timeline, name, sizeof(name), state, object);
	thread->waits = true;
	thread->waits_for = state == STATE_MUTEX ? object : 0;
	thread->flow = 0;
	if (thread->waits_for != 0)
		lock = track_of_lock(&timeline->tracks, thread->waits_for, event->pid);
	if (lock && lock->holder != 0) {
		mark.holder = source_context_name(timeline->source, lock->holder);
		mark.flow = thread->flow = timeline->nr_flows + 1;
	}
	put(timeline, thread, mark);
	if (thread->flow != 0)
		link_holder(timeline, thread, lock, event->time_ns);
}

/* A mutex that was put is handed to the one who is resumed; if it is held still, the wait was in vain. */
static void resume(struct timeline *timeline, const struct event *event)
{
	struct track *thread = track_of_thread(&timeline->tracks, event_word(event, 0), event->pid);
	struct track *lock;

	if (!thread->waits)
		return;
	thread->waits = false;
	end_slice(timeline, thread, event->time_ns);
	if (thread->waits_for == 0)
		return;
	lock = track_of_lock(&timeline->tracks, thread->waits_for, event->pid);
	if (lock->holder == 0)
		hold(timeline, lock, thread->handle, event->time_ns, thread->flow);
}

/* What the words of one of ThreadX's events tell beside the event. */

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

static void look_at_words(struct timeline *timeline, struct track *thread,
			  const struct event *event, unsigned int native)
{
	const struct fact *fact = &timeline->fields[native];

	switch (native) {
	case NATIVE_THREAD_SUSPEND:
		suspend(timeline, event);
		return;
	case NATIVE_THREAD_RESUME:
		resume(timeline, event);
		return;
	case NATIVE_MUTEX_GET:
		get_mutex(timeline, event);
		break;
	case NATIVE_MUTEX_PUT:
		put_mutex(timeline, event);
		break;
	case NATIVE_MUTEX_DELETE:
		release(timeline,
			track_of_lock(&timeline->tracks, event_word(event, 0), event->pid),
			event->time_ns);
		break;
	default:
		count(timeline, event, native);
		break;
	}
	if (fact->has_socket)
		thread->socket = event_word(event, fact->socket_word);
	if (native < NET_FIRST && fact->has_object) {
		thread->service = native;
		thread->object = event_word(event, 0);
	}
}

static bool is_socket(const char *label)
{
	return strcmp(label, "tcp_socket_ptr") == 0 || strcmp(label, "udp_socket_ptr") == 0 ||
	       strcmp(label, "socket_ptr") == 0;
}

static void learn_word(struct fact *fact, const char *label, unsigned char word)
{
	if (is_socket(label)) {
		fact->has_socket = true;
		fact->socket_word = word;
	}
	for (unsigned char m = 0; fact->has_object && m < NR_MEASURES; m++) {
		if (strcmp(label, measures[m]) != 0)
			continue;
		fact->word = word;
		fact->measure = m;
	}
}

/* Found out once: comparing labels for each event takes too long. */
static void learn_facts(struct timeline *timeline)
{
	for (unsigned int native = 1; native < NR_NATIVES; native++) {
		struct fact *fact = &timeline->fields[native];

		fact->has_object = label_is_object(native_label(native, 0));
		for (unsigned char i = 0; i < 4; i++) {
			const char *label = native_label(native, i);

			if (label)
				learn_word(fact, label, i);
		}
	}
}

/* Events. */

struct timeline *timeline_begin(struct source *source, const struct selection *selection,
				void (*track)(void *arg, const struct track *track),
				void (*mark)(void *arg, const struct mark *mark), void *arg)
{
	struct timeline *timeline = must(calloc(1, sizeof(*timeline)));

	timeline->source = source;
	timeline->selection = selection;
	timeline->mark = mark;
	timeline->arg = arg;
	tracks_init(&timeline->tracks, source, track, arg);
	learn_facts(timeline);
	return timeline;
}

/* The track of the one who recorded it; mostly that of the event before. */
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

void timeline_event(struct timeline *timeline, const struct event *event)
{
	struct track *track = track_of(timeline, event);
	unsigned int native = event_native(event);
	struct mark mark = {.kind = MARK_INSTANT,
			    .time_ns = event->time_ns,
			    .name = event->name,
			    .event = event};

	if (event->time_ns > timeline->end_ns || timeline->nr_events++ == 0)
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
	put(timeline, track, mark);
	if (native > 0 && native < NR_NATIVES)
		look_at_words(timeline, track, event, native);
}

/* What was lost and is marked nowhere: behind the last event, or in a ThreadX buffer. */
static void mark_total(struct timeline *timeline)
{
	const struct txtrace_loss *loss = &timeline->source->loss;
	char name[TRACK_NAME_BYTES];

	if (loss->overwritten + loss->dropped + loss->abandoned == 0)
		return;
	snprintf(name, sizeof(name), "lost in all: %llu overwritten, %llu dropped, %llu abandoned",
		 loss->overwritten, loss->dropped, loss->abandoned);
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

void timeline_end(struct timeline *timeline, bool is_complete)
{
	if (is_complete && timeline->nr_events > 0)
		mark_total(timeline);
	if (is_complete && timeline->source->file.foreign)
		cpu_slices_report(timeline->source, timeline->selection, put_run, timeline);
	for (struct track *at = timeline->tracks.first; is_complete && at; at = at->behind)
		while (at->depth > 0)
			end_slice(timeline, at, timeline->end_ns);
	tracks_free(&timeline->tracks);
	free(timeline);
}
