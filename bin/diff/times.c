/* SPDX-License-Identifier: MIT */
#include "diff/times.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "report/cpu_slices.h"
#include "waits/waits.h"

struct reading {
	struct trace_times *times;
	struct source *source;
	const struct spans *spans;
	struct waits waits;
	struct time_range range; /* the selected range */
};

struct timed *times_find(const struct timed_list *list, const char *name)
{
	uint64_t place = map_find(&list->by_name, map_hash(name));

	return place ? &list->timed[place - 1] : NULL;
}

static void add(struct timed_list *list, const char *name, int64_t ns)
{
	uint64_t *place = map_get(&list->by_name, map_hash(name));

	if (*place == 0) {
		if (list->nr == list->room) {
			list->room = list->room ? 2 * list->room : 64;
			list->timed = must(reallocarray(list->timed, list->room, sizeof(*list->timed)));
		}
		list->timed[list->nr] = (struct timed){.name = must(strdup(name))};
		*place = ++list->nr;
	}
	durations_add(&list->timed[*place - 1].durations, ns);
}

void times_thread_name(const struct source *source, unsigned int context, const char *name, char text[128])
{
	const struct txtrace_object *object = source_object(source, context);
	size_t length = strlen(name);
	char tid[16];

	snprintf(text, 128, "%s", name);
	if (!object || object->tid == 0)
		return;
	snprintf(tid, sizeof(tid), " %d", object->tid);
	if (length > strlen(tid) && length < 128 && strcmp(text + length - strlen(tid), tid) == 0)
		text[length - strlen(tid)] = '\0';
}

static void add_thread(struct reading *reading, enum measure measure, const struct waiter *thread, int64_t ns)
{
	char name[128];

	times_thread_name(reading->source, thread->context,
			  source_context_name(reading->source, thread->context), name);
	add(&reading->times->of[measure], name, ns);
}

/*
 * Several objects may have one name in a trace.  Their handles differ in each run, so the times are added up by name.
 */
static const char *object_name(const struct reading *reading, const struct awaited *object)
{
	const struct txtrace_object *known = object->handle ? source_object(reading->source, object->handle) : NULL;

	return known ? known->name : object->name;
}

static void take_wait(void *arg, const struct wait *wait)
{
	int64_t ns = wait->end_ns - wait->begin_ns;
	struct reading *reading = arg;

	if (!wait->counts)
		return;
	add(&reading->times->of[MEASURE_WAIT], object_name(reading, wait->object), ns);
	if (*wait->service)
		add(&reading->times->of[MEASURE_CALL_WAIT], wait->service, ns);
	add_thread(reading, MEASURE_THREAD_WAIT, wait->thread, ns);
}

static void take_hold(void *arg, const struct hold *hold, int64_t at_ns)
{
	struct reading *reading = arg;

	if (!hold->counts || hold->since_ns == LONG_AGO)
		return;
	add(&reading->times->of[MEASURE_HOLD], object_name(reading, hold->object), at_ns - hold->since_ns);
	add_thread(reading, MEASURE_THREAD_HOLD, hold->thread, at_ns - hold->since_ns);
}

static void add_cpu(struct reading *reading, unsigned int context, const char *unknown,
		    int64_t from_ns, int64_t until_ns)
{
	const struct txtrace_object *object = source_object(reading->source, context);
	char name[128];

	from_ns = from_ns > reading->range.from_ns ? from_ns : reading->range.from_ns;
	until_ns = until_ns < reading->range.until_ns ? until_ns : reading->range.until_ns;
	if (until_ns <= from_ns)
		return;
	times_thread_name(reading->source, context, object ? object->name : unknown, name);
	add(&reading->times->of[MEASURE_CPU], name, until_ns - from_ns);
}

static void take_spent(void *arg, const struct sched_thread *thread, const struct waiter *waiter,
		       enum thread_state state, int64_t from_ns, int64_t until_ns)
{
	(void)waiter;
	if (state == THREAD_RUNNING)
		add_cpu(arg, thread->context, thread->name[0] ? thread->name : "-", from_ns, until_ns);
}

static void take_slice(void *arg, unsigned int context, int64_t from_ns, int64_t until_ns)
{
	struct reading *reading = arg;

	add_cpu(reading, context, source_context_name(reading->source, context), from_ns, until_ns);
}

static void take_span(void *arg, const struct span_time *time)
{
	struct reading *reading = arg;

	if (time->ending == SPAN_ENDED)
		add(&reading->times->of[MEASURE_SPAN], reading->spans->span[time->span].name,
		    time->end_ns - time->begin_ns);
}

/* The times of an object are not all known if some of its calls were counted. */
static void mark_partial(struct reading *reading)
{
	for (const struct awaited *at = reading->waits.first_awaited; at; at = at->next) {
		struct timed *timed = times_find(&reading->times->of[MEASURE_HOLD], object_name(reading, at));

		if (timed && at->nr_counted > 0)
			timed->is_partial = true;
	}
	for (size_t i = 0; reading->waits.nr_counted > 0 && i < reading->times->of[MEASURE_THREAD_HOLD].nr; i++)
		reading->times->of[MEASURE_THREAD_HOLD].timed[i].is_partial = true;
}

static void read_model(struct reading *reading, const struct selection *selection)
{
	const struct waits_listener listener = {
		.arg = reading, .ended = take_wait, .given = take_hold, .spent = take_spent};
	struct trace_times *times = reading->times;
	bool has_calls;

	waits_read(&reading->waits, reading->source, selection, &listener);
	has_calls = reading->source->file.foreign || reading->waits.nr_calls > 0;
	times->of[MEASURE_HOLD].is_known = times->of[MEASURE_WAIT].is_known = has_calls;
	times->of[MEASURE_CALL_WAIT].is_known = times->of[MEASURE_THREAD_WAIT].is_known = has_calls;
	times->of[MEASURE_THREAD_HOLD].is_known = has_calls;
	times->of[MEASURE_CPU].is_known = reading->source->file.foreign || reading->waits.states.has_records;
	mark_partial(reading);
	waits_free(&reading->waits);
}

void times_read(struct trace_times *times, struct source *source, const struct selection *selection,
		struct spans *spans)
{
	struct reading reading = {.times = times, .source = source, .spans = spans};

	memset(times, 0, sizeof(*times));
	reading.range = selection_range(selection, source);
	read_model(&reading, selection);
	if (source->file.foreign)
		cpu_slices_report(source, selection, take_slice, &reading);
	if (spans && spans->nr > 0) {
		spans->take = take_span;
		spans->arg = &reading;
		spans_read(spans, source, selection);
		spans_report_keys(spans, source);
		spans_forget(spans);
		times->of[MEASURE_SPAN].is_known = true;
	}
}

void times_free(struct trace_times *times)
{
	for (int measure = 0; measure < NR_MEASURES; measure++) {
		struct timed_list *list = &times->of[measure];

		for (size_t i = 0; i < list->nr; i++) {
			free(list->timed[i].name);
			durations_free(&list->timed[i].durations);
		}
		free(list->timed);
		map_free(&list->by_name);
	}
}
