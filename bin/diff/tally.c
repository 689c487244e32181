/* SPDX-License-Identifier: MIT */
#include "diff/tally.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "diff/times.h"
#include "trace/calls.h"

const struct tally *tally_find(const struct tallies *tallies, const char *name)
{
	uint64_t place = map_find(&tallies->by_name, map_hash(name));

	return place ? &tallies->tally[place - 1] : NULL;
}

static uint64_t add(struct tallies *tallies, const char *name)
{
	uint64_t *place = map_get(&tallies->by_name, map_hash(name));

	if (*place)
		return *place;
	if (tallies->nr == tallies->room) {
		tallies->room = tallies->room ? 2 * tallies->room : 64;
		tallies->tally = must(reallocarray(tallies->tally, tallies->room,
						   sizeof(*tallies->tally)));
	}
	tallies->tally[tallies->nr] = (struct tally){.name = must(strdup(name))};
	*place = ++tallies->nr;
	return *place;
}

/* Return the tally for a number. Look up the name only once for each number. */
static struct tally *tally_of(struct tallies *tallies, uint64_t number, const char *name)
{
	uint64_t *place = map_get(&tallies->by_number, number);

	if (*place == 0)
		*place = add(tallies, name);
	return &tallies->tally[*place - 1];
}

static void take_type(struct tally *type, const struct event *event)
{
	if (call_counted(event) && !type->is_counted) {
		type->is_counted = true;
		histogram_free(&type->pauses);
		memset(&type->pauses, 0, sizeof(type->pauses));
	}
	if (type->count > 0 && !type->is_counted)
		histogram_add(&type->pauses, event->time_ns > type->last_ns ?
						     (uint64_t)(event->time_ns - type->last_ns) :
						     0);
	type->count += call_number(event);
	type->last_ns = event->time_ns;
}

static void take(struct trace_tally *trace, const struct source *source, const struct event *event)
{
	struct tally *thread;
	char name[128];

	if (call_counts(event))
		take_type(tally_of(&trace->types, call_type(event), call_name(event)), event);
	times_thread_name(source, event->context, event->thread, name);
	thread = tally_of(&trace->threads, event->context, name);
	thread->count++;
	trace->nr_events++;
}

void tally_trace(struct trace_tally *trace, struct source *source, const struct selection *selection)
{
	struct event event;
	int64_t first_ns = 0, last_ns = 0;

	memset(trace, 0, sizeof(*trace));
	trace->is_foreign = source->file.foreign != 0;
	source->task = "reading";
	while (selection_next(selection, source, &event)) {
		if (trace->nr_events == 0)
			first_ns = last_ns = event.time_ns;
		last_ns = event.time_ns > last_ns ? event.time_ns : last_ns;
		first_ns = event.time_ns < first_ns ? event.time_ns : first_ns;
		take(trace, source, &event);
	}
	trace->duration_ns = last_ns - first_ns;
	/* The count of overwritten events is complete only after the last event was read. */
	txtrace_get_loss(source->trace, &source->loss);
	trace->nr_lost = source_nr_lost(source) + source_missing(source);
	trace->lost_is_least = source_loss_is_least(source);
}

static void free_tallies(struct tallies *tallies)
{
	for (size_t i = 0; i < tallies->nr; i++) {
		free(tallies->tally[i].name);
		histogram_free(&tallies->tally[i].pauses);
	}
	free(tallies->tally);
	map_free(&tallies->by_name);
	map_free(&tallies->by_number);
}

void tally_free(struct trace_tally *trace)
{
	free_tallies(&trace->types);
	free_tallies(&trace->threads);
}
