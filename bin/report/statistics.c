/* SPDX-License-Identifier: MIT */
#include "report/statistics.h"

#include <string.h>

static bool is_beside_threads(unsigned int context)
{
	return context == CONTEXT_INTERRUPT || context == CONTEXT_INITIALIZE;
}

static bool is_thread(unsigned int context)
{
	return context != CONTEXT_IDLE && !is_beside_threads(context);
}

/*
 * Count a switch from a thread to another thread or to idle.  Do not count a switch from idle back to the same
 * thread.
 */
static void count_switch(struct statistics *statistics, const struct report_event *event)
{
	if (statistics->running == 0 && !is_beside_threads(event->context))
		statistics->running = event->context;
	if (statistics->running != 0 && !is_beside_threads(event->next) &&
	    statistics->running != event->next)
		statistics->nr_switches += event->counts;
	if (is_thread(event->next))
		statistics->running = event->next;
}

/*
 * A resumption led to a preemption if the next thread that runs is not the last thread that ran.  If several
 * resumptions come before the next thread runs, only the first of them counts as a preemption.
 */
static void count_preemption(struct statistics *statistics, const struct report_event *event)
{
	bool is_resume = event->native == NATIVE_THREAD_RESUME;

	if (is_thread(event->next) && statistics->nr_waiting > 0) {
		if (event->next != statistics->before)
			statistics->nr_preemptions += statistics->is_first_counted;
		statistics->before = event->next;
		statistics->nr_waiting = statistics->nr_resumed = 0;
	}
	if (is_resume) {
		if (statistics->nr_waiting++ == 0)
			statistics->is_first_counted = event->counts;
		statistics->nr_resumed += event->counts;
	} else if (event->native == NATIVE_TIME_SLICE &&
		   (event->next != statistics->before || statistics->nr_waiting > 0)) {
		statistics->nr_preemptions += event->counts;
	}
	if (!is_resume && is_thread(event->next))
		statistics->before = event->next;
	/* A resumption alone does not show which thread runs next. */
	statistics->last_next = is_resume ? CONTEXT_IDLE : event->next;
}

static void count_interrupt(struct statistics *statistics, const struct report_event *event)
{
	if (event->native == NATIVE_ISR_ENTER) {
		statistics->nr_interrupts += event->counts;
		if (statistics->nesting++ > 0)
			statistics->nr_nested += event->counts;
	} else if (event->native == NATIVE_ISR_EXIT) {
		statistics->nesting -= statistics->nesting > 0;
	} else if (event->context != CONTEXT_INTERRUPT) {
		statistics->nesting = 0;
	} else if (statistics->nesting == 0) {
		statistics->nr_interrupts += event->counts;
	}
}

void statistics_count(struct statistics *statistics, const struct report_event *event)
{
	struct context *ctx = event->ctx;

	if (!event->counts)
		return;
	statistics->nr_events++;
	statistics->nr_made += event->is_made;
	ctx->nr_events += !event->is_made;
	if (event->native == NATIVE_THREAD_SUSPEND) {
		statistics->nr_suspensions++;
		ctx->nr_suspensions++;
	} else if (event->native == NATIVE_THREAD_RESUME) {
		statistics->nr_resumptions++;
		ctx->nr_resumptions++;
	} else if (event->native == NATIVE_TIME_SLICE) {
		statistics->nr_time_slices++;
	}
}

void statistics_event(struct statistics *statistics, const struct report_event *event)
{
	count_switch(statistics, event);
	count_preemption(statistics, event);
	count_interrupt(statistics, event);
	statistics_count(statistics, event);
}

/*
 * At the end of the trace some resumptions are undecided.  As in TraceX, they all count as preemptions if the last
 * context is not the last thread that ran.
 */
void statistics_end(struct statistics *statistics)
{
	if (statistics->last_next != statistics->before)
		statistics->nr_preemptions += statistics->nr_resumed;
}

/* Return the number of the word with the stack pointer, or -1. */
static int stack_word(unsigned int native)
{
	static signed char known[1024]; /* 2 + the number of the word, or 0 if the word was not searched for yet */

	if (native >= sizeof(known))
		return -1;
	if (known[native] == 0) {
		known[native] = 1;
		for (int i = 0; i < 4; i++) {
			const char *label = native_label(native, i);

			if (label && strcmp(label, "stack_ptr") == 0)
				known[native] = (signed char)(2 + i);
		}
	}
	return known[native] - 2;
}

void stack_event(const struct report_event *event)
{
	struct context *ctx = event->ctx;
	int i = stack_word(event->native);
	uint32_t base, left;

	if (i < 0 || !event->counts || !ctx->object || ctx->object->parameter[1] == 0 ||
	    event->word[i] == 0)
		return;
	base = ctx->object->parameter[0];
	left = event->word[i] < base ? 0 : event->word[i] - base;
	/* A stack pointer above the stack is not valid, and TraceX does not count it. */
	if (left >= (ctx->has_stack ? ctx->stack_left : ctx->object->parameter[1]))
		return;
	ctx->has_stack = true;
	ctx->stack_left = left;
	ctx->stack_event = event->number;
}
