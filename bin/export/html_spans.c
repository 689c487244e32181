/* SPDX-License-Identifier: MIT */
#include "export/html_spans.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"

#define DEPTH 16 /* maximum depth of nested slices */

enum span_kind { SPAN_WAIT, SPAN_ISR, SPAN_LOCK, SPAN_LOSS, SPAN_RUN, SPAN_READY, SPAN_BLOCKED, SPAN_SPAN };

#define CLASS_SHIFT 3 /* the class of a wait is in the bits above the kind */

struct slice {
	enum span_kind kind;
	enum wait_class wait_class;
	int64_t begin_ns;
	uint32_t name, holder; /* numbers of names */
};

/* The slices of a track that are open. */
struct html_open_slices {
	struct slice slice[DEPTH];
	unsigned int depth; /* may exceed DEPTH; deeper slices are not stored */
};

static void pack_span(struct html_spans *spans, const struct slice *slice, uint32_t row, int pid,
		      const struct mark *end)
{
	struct pack *pack = &spans->pack;

	pack_number(pack, (uint64_t)slice->wait_class << CLASS_SHIFT | slice->kind);
	pack_number(pack, row);
	pack_signed(pack, pid);
	pack_signed(pack, slice->begin_ns - spans->last_ns);
	pack_number(pack, end->time_ns > slice->begin_ns ? (uint64_t)(end->time_ns - slice->begin_ns) : 0);
	pack_number(pack, slice->name);
	pack_number(pack, slice->holder);
	pack_number(pack, end->waker);
	pack_record(pack);
	spans->last_ns = slice->begin_ns;
}

static uint32_t name_number(struct html_spans *spans, const char *name)
{
	bool is_new;

	return (uint32_t)intern_number(&spans->names, name ? name : "", name ? strlen(name) : 0, &is_new) - 1;
}

static struct html_open_slices *stack_of(struct html_spans *spans, const struct track *track)
{
	if (track->id >= spans->nr_stacks) {
		size_t nr = 2 * (size_t)track->id + 64;

		spans->stacks = must(reallocarray(spans->stacks, nr, sizeof(*spans->stacks)));
		memset(spans->stacks + spans->nr_stacks, 0,
		       (nr - spans->nr_stacks) * sizeof(*spans->stacks));
		spans->nr_stacks = nr;
	}
	return &spans->stacks[track->id];
}

static enum span_kind kind_of(const struct mark *mark)
{
	switch (mark->track->kind) {
	case TRACK_LOCK:
		return SPAN_LOCK;
	case TRACK_LOSS:
		return SPAN_LOSS;
	case TRACK_CPU:
		return SPAN_RUN;
	case TRACK_SPAN:
		return SPAN_SPAN;
	case TRACK_STATES:
		return mark->period->state == THREAD_RUNNING ? SPAN_RUN :
		       mark->period->state == THREAD_BLOCKED ? SPAN_BLOCKED :
							       SPAN_READY;
	default:
		return mark->event ? SPAN_ISR : SPAN_WAIT;
	}
}

/* Return the number of the row of a track: the handle, or the number of a thread without one. */
static uint32_t row_of(const struct html_spans *spans, const struct track *track)
{
	if (track->kind != TRACK_STATES || track->handle != 0)
		return track->handle;
	return HTML_FIRST_NAMELESS + (uint32_t)map_find(&spans->nameless_of, track->id);
}

void html_spans_mark(void *arg, const struct mark *mark)
{
	struct html_spans *spans = arg;
	struct html_open_slices *stack = stack_of(spans, mark->track);
	const char *name = mark->track->kind == TRACK_CPU ?
				   NULL :
				   mark->name; /* the page finds the running thread itself */
	char cpu[24];

	if (mark->period && mark->period->state == THREAD_RUNNING) {
		snprintf(cpu, sizeof(cpu), "CPU %u", mark->period->cpu);
		name = cpu;
	}
	if (mark->kind == MARK_BEGIN && stack->depth++ < DEPTH)
		stack->slice[stack->depth - 1] = (struct slice){kind_of(mark), mark->wait_class,
								mark->time_ns, name_number(spans, name),
								name_number(spans, mark->holder)};
	if (mark->kind == MARK_END && stack->depth > 0 && stack->depth-- <= DEPTH)
		pack_span(spans, &stack->slice[stack->depth], row_of(spans, mark->track), mark->track->pid, mark);
}

void html_spans_track(void *arg, const struct track *track)
{
	struct html_spans *spans = arg;
	struct html_nameless *one;

	if (track->kind != TRACK_STATES || track->handle != 0)
		return;
	spans->nameless = must(reallocarray(spans->nameless, spans->nr_nameless + 1, sizeof(*spans->nameless)));
	*map_get(&spans->nameless_of, track->id) = spans->nr_nameless;
	one = &spans->nameless[spans->nr_nameless++];
	one->pid = track->pid;
	one->tid = track->tid;
	snprintf(one->name, sizeof(one->name), "%.*s", (int)(strlen(track->name) - strlen(": states")), track->name);
}

void html_spans_begin(struct html_spans *spans, struct text *text)
{
	spans->pack.text = text;
	spans->pack.kind = "spans";
	name_number(spans, NULL);
}

void html_spans_free(struct html_spans *spans)
{
	intern_free(&spans->names);
	free(spans->nameless);
	map_free(&spans->nameless_of);
	free(spans->stacks);
}
