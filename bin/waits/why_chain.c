/* SPDX-License-Identifier: MIT */
#include "waits/why_chain.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "base/units.h"
#include "trace/calls.h"
#include "trace/states.h"
#include "waits/periods.h"
#include "waits/why_wakers.h"

#define PRINTED 4     /* print at most this number of objects that a thread waited for in a period, and of holders */
#define KNOWN_PARTS 10 /* an estimate counts if it covers all but 1 / KNOWN_PARTS of a time */
#define SMALL_PART 50 /* a share below 1 / SMALL_PART of the period gets no line of its own */
/*
 * Short turns share one printed line.  This is so if an object had more than MANY_TURNS turns, and if no turn took more
 * than 1 / FEW_PARTS of the period.
 */
#define MANY_TURNS 8
#define FEW_PARTS 5

static struct why_step step_of_wait(const struct wait *wait)
{
	return why_step(wait->thread, wait->begin_ns, wait->end_ns);
}

static void print_wait(const struct why_chain *why, const struct wait *wait, struct part part,
		      unsigned int depth)
{
	struct words what = why_wait(wait->state, wait->object, wait->service);
	bool is_all = part.from_ns <= wait->begin_ns && part.until_ns >= wait->end_ns;

	if (!wait->has_ended)
		why_step_line(&why->to, depth, step_of_wait(wait),
		     "%s was %s from %s on, and still was when %s ended %s, %s later.",
		     wait->thread->name, what.text, why_time(&why->to, wait->begin_ns).text + 3,
		     wait->thread->has_died ? "its process" : "the trace",
		     why_time(&why->to, wait->end_ns).text,
		     why_duration(wait->end_ns - wait->begin_ns).text);
	else if (depth == 0 || is_all)
		why_step_line(&why->to, depth, step_of_wait(wait), "%s was %s%s %s, from %s to %s.", wait->thread->name,
		     why_duration(wait->end_ns - wait->begin_ns).text, depth > 0 ? " of that" : "",
		     what.text, why_time(&why->to, wait->begin_ns).text + 3,
		     why_time(&why->to, wait->end_ns).text + 3);
	else
		why_step_line(&why->to, depth, step_of_wait(wait),
			      "%s was %s of that %s, in all from %s to %s.", wait->thread->name,
		     why_duration(part_length(part)).text, what.text,
		     why_time(&why->to, wait->begin_ns).text + 3, why_time(&why->to, wait->end_ns).text + 3);
}

/* Only scheduling records show this. */
static void print_spent(const struct why_chain *why, const struct waiter *thread, const struct state_times *times,
			unsigned int depth)
{
	if (times->ns[THREAD_UNKNOWN] < state_times_sum(times))
		why_line(&why->to, depth, "Of that, %s %s%s.", thread->name, why_states(times).text,
			 times->ns[THREAD_BLOCKED] > 0 && times->ns[THREAD_WOKEN] == 0 ?
				 "; no record shows its wake-up, so the time until it ran counts as blocked" :
				 "");
}

/* Deadlock. */

/* Return the position of the thread in the chain, or -1. */
static int place_in_chain(const struct why_chain *why, const struct waiter *thread)
{
	for (unsigned int i = 0; i < why->depth; i++)
		if (why->chain[i]->wait.thread == thread)
			return (int)i;
	return -1;
}

/* Return true if the call waits only until a timeout. */
static bool is_limited(const struct wait *wait)
{
	return strstr(wait->service, "timed") || strstr(wait->service, "clock");
}

static void print_cycle(const struct why_chain *why, int first, unsigned int depth)
{
	bool has_ended = false, has_limit = false;

	for (unsigned int i = (unsigned int)first; i < why->depth; i++)
		has_ended |= why->chain[i]->wait.has_ended;
	for (unsigned int i = (unsigned int)first; i < why->depth; i++)
		has_limit |= is_limited(&why->chain[i]->wait);
	if (has_ended) {
		why_step_line(&why->to, depth, step_of_wait(&why->chain[first]->wait),
			      "%s is explained above.", why->chain[first]->wait.thread->name);
		return;
	}
	why_line(&why->to, depth,
		 has_limit ? "Deadlock: none of these threads can continue before a timeout." :
			     "Deadlock: none of these threads can continue.");
	for (unsigned int i = (unsigned int)first; i < why->depth; i++) {
		unsigned int next = i + 1 < why->depth ? i + 1 : (unsigned int)first;
		const struct wait *wait = &why->chain[i]->wait;

		why_step_line(&why->to, depth + 1, step_of_wait(wait),
		     why_is_for_thread(wait) ? "%s waits for the end of %s, which is %s." :
					   "%s waits for %s, which %s holds.",
		     wait->thread->name, why_object(wait->object).text,
		     why->chain[next]->wait.thread->name);
	}
}

/* What a thread did in a period. */

static void print_chain(struct why_chain *why, const struct kept_wait *is, struct part part,
		       unsigned int depth);

/* All waits of a thread for one object in a period. */
struct doing {
	const struct stretch *longest; /* of these waits */
	int64_t ns, longest_ns;
	unsigned int nr;
};

/* What a thread did in a period. */
struct doings {
	struct doing *doing;
	unsigned int nr;
	int64_t rest_ns, unknown_ns;
	struct state_times rest; /* what it did in the time rest_ns, from scheduling records */
	struct ran_estimate estimate; /* the same, where there are no such records */
};

static void add_doing(struct doings *doings, struct map *place_of, const struct stretch *stretch,
		      int64_t ns)
{
	uint64_t *known = map_get(place_of, stretch->object->index);
	struct doing *doing;

	if (!*known) {
		if ((doings->nr & (doings->nr - 1)) == 0)
			doings->doing = must(reallocarray(doings->doing, doings->nr ? 2 * doings->nr : 1,
							  sizeof(*doing)));
		doings->doing[doings->nr] = (struct doing){.longest = stretch};
		*known = ++doings->nr;
	}
	doing = &doings->doing[*known - 1];
	doing->nr++;
	units_add(&doing->ns, ns);
	if (ns > doing->longest_ns) {
		doing->longest_ns = ns;
		doing->longest = stretch;
	}
}

static int compare_doings(const void *a, const void *b)
{
	const struct doing *left = a, *right = b;

	return (left->ns < right->ns) - (left->ns > right->ns);
}

/* Add up what the thread did in the period.  The caller frees the list. */
static struct doings add_up(struct why_chain *why, const struct waiter *thread, struct part part)
{
	struct kept *kept = wait_history_of_thread(&why->history, thread);
	struct part after = part_common(part, why->history.full_ns, INT64_MAX);
	struct doings doings = {.unknown_ns = part_length(after)};
	struct part known = part_common(part, INT64_MIN, why->history.full_ns);
	struct map place_of = {0};

	doings.rest_ns = part_length(known);
	for (unsigned int i = 0; i < kept->nr_stretches; i++) {
		const struct stretch *at = &kept->stretch[i];
		int64_t ns = part_length(part_common(known, at->begin_ns, at->end_ns));

		if (ns == 0)
			continue;
		units_add(&doings.rest_ns, -ns);
		if (at->object)
			add_doing(&doings, &place_of, at, ns);
		else
			units_add(&doings.unknown_ns, ns);
	}
	map_free(&place_of);
	doings.rest = wait_history_rest(kept, known);
	doings.estimate = wait_history_estimate(kept, known);
	if (doings.nr > 0)
		qsort(doings.doing, doings.nr, sizeof(*doings.doing), compare_doings);
	return doings;
}

/* Return the stored wait with all details, or NULL. */
static const struct kept_wait *details_of(const struct kept *kept, const struct stretch *stretch)
{
	for (unsigned int i = 0; i < kept->nr_waits; i++)
		if (kept->wait[i].wait.begin_ns == stretch->begin_ns &&
		    kept->wait[i].wait.object == stretch->object)
			return &kept->wait[i];
	return NULL;
}

static void print_doing(struct why_chain *why, const struct waiter *thread, const struct doing *doing,
			struct part part, unsigned int depth)
{
	const struct stretch *longest = doing->longest;
	const struct kept_wait *is =
		details_of(wait_history_of_thread(&why->history, thread), longest);
	struct part its = part_common(part, longest->begin_ns, longest->end_ns);

	if (doing->nr == 1 && is) {
		print_chain(why, is, its, depth);
		return;
	}
	why_step_line(&why->to, depth, why_step(thread, longest->begin_ns, longest->end_ns),
		      "%s was %s of that %s, in %u wait%s, the longest of %s.", thread->name,
		 why_duration(doing->ns).text,
		 why_wait(longest->state, longest->object, longest->service).text, doing->nr,
		 doing->nr == 1 ? "" : "s",
		 why_duration(doing->longest_ns).text);
	if (is && is->wait.object->is_lock && doing->longest_ns * SMALL_PART >= part_length(part))
		print_chain(why, is, its, depth + 1);
}

/* Without scheduling records, the thread itself may have said how long it ran. */
static void print_estimate(const struct why_chain *why, const struct waiter *thread, const struct doings *doings,
			   struct part part, unsigned int depth)
{
	int64_t other_ns = doings->rest_ns - doings->estimate.ran_ns;

	why_step_line(&why->to, depth, why_step(thread, part.from_ns, part.until_ns),
		 "%s %s, %s ran for ~%s, and was ready to run, or waited in a call that is not traced, for ~%s.",
		 doings->rest_ns == part_length(part) ? "All the time, of" : "Of the other",
		 why_duration(doings->rest_ns).text, thread->name, why_duration(doings->estimate.ran_ns).text,
		 why_duration(other_ns > 0 ? other_ns : 0).text);
}

/* Print the time that the trace shows no wait for. */
static void print_rest(const struct why_chain *why, const struct waiter *thread,
		       const struct doings *doings, struct part part, unsigned int depth)
{
	const char *did = why->to.source->file.foreign ?
				  "ran, or was ready to run," :
				  "ran, was ready to run, or waited in a call that is not traced,";

	if (doings->unknown_ns * SMALL_PART >= part_length(part))
		why_step_line(&why->to, depth, why_step(thread, part.from_ns, part.until_ns),
			      "What %s did for %s of that is not known: events are missing.",
			 thread->name, why_duration(doings->unknown_ns).text);
	if (doings->rest_ns * SMALL_PART < part_length(part))
		return;
	if (doings->rest.ns[THREAD_UNKNOWN] < doings->rest_ns)
		why_step_line(&why->to, depth, why_step(thread, part.from_ns, part.until_ns),
			 doings->rest_ns == part_length(part) ? "All the time, of %s, %s %s%s." :
								"Of the other %s, %s %s%s.",
			 why_duration(doings->rest_ns).text, thread->name, why_states(&doings->rest).text,
			 doings->rest.ns[THREAD_BLOCKED] > 0 ? "; the calls in which it was blocked are not traced" :
							       "");
	else if (doings->estimate.known_ns * KNOWN_PARTS >= doings->rest_ns * (KNOWN_PARTS - 1))
		print_estimate(why, thread, doings, part, depth);
	else if (doings->rest_ns == part_length(part))
		why_step_line(&why->to, depth, why_step(thread, part.from_ns, part.until_ns),
			      "%s %s all the time.", thread->name, did);
	else
		why_step_line(&why->to, depth, why_step(thread, part.from_ns, part.until_ns),
			      "%s %s for the other %s.", thread->name, did,
			 why_duration(doings->rest_ns).text);
}

static void print_doings(struct why_chain *why, const struct waiter *thread, struct part part,
			unsigned int depth)
{
	struct doings doings;
	int first = place_in_chain(why, thread);

	if (first >= 0) {
		print_cycle(why, first, depth);
		return;
	}
	doings = add_up(why, thread, part);
	for (unsigned int i = 0; i < doings.nr && i < PRINTED; i++) {
		if (doings.doing[i].ns * SMALL_PART < part_length(part))
			break;
		print_doing(why, thread, &doings.doing[i], part, depth);
	}
	print_rest(why, thread, &doings, part, depth);
	free(doings.doing);
}

/* Holders. */

static int compare_holds(const void *a, const void *b)
{
	const struct kept_hold *left = a, *right = b;

	return (left->hold.since_ns > right->hold.since_ns) -
	       (left->hold.since_ns < right->hold.since_ns);
}

/* The thread was ready, but had no CPU, while it held the object. */
static void print_preempted(const struct why_chain *why, const struct kept_hold *is, unsigned int depth)
{
	const struct hold *hold = &is->hold;
	int64_t ready_ns = state_times_ready(&hold->spent.times);
	char taker[PERIODS_NAME];

	if (ready_ns <= 0)
		return;
	why_line(&why->to, depth, "%s held it for %s, %s of it without a CPU.", hold->thread->name,
		 why_duration(is->until_ns - hold->since_ns).text, why_duration(ready_ns).text);
	if (hold->taker)
		why_line(&why->to, depth, "When it was preempted for longest, for %s, %s took its CPU.",
			 why_duration(hold->preempted_ns).text,
			 periods_thread_name(why->waits, hold->taker, taker));
}

static void print_hold(struct why_chain *why, const struct wait *wait, const struct kept_hold *is,
		      struct part part, unsigned int depth)
{
	const struct hold *hold = &is->hold;
	struct part both = wait_history_part(is, part);
	struct words where = why_place(&why->to, hold->address);
	struct why_step step = why_step(hold->thread, hold->since_ns != LONG_AGO ? hold->since_ns : both.from_ns,
				       is->until_ns);

	step.object = wait->object->handle;
	why_step_line(&why->to, depth, step, "%s was held by %s for %s of that; the thread took it %s%s.",
	     why_object(wait->object).text, hold->thread->name, why_duration(part_length(both)).text,
	     why_since(&why->to, why->waits, hold->since_ns).text, where.text);
	if (wait->priority >= 0 && hold->priority > wait->priority)
		why_line(&why->to, depth, "Priority inversion: %s is more urgent (%d) than %s (%d).",
		     wait->thread->name, wait->priority, hold->thread->name, hold->priority);
	print_preempted(why, is, depth + 1);
	print_doings(why, hold->thread, both, depth + 1);
}

static struct words turns_words(uint64_t nr)
{
	struct words words;

	snprintf(words.text, sizeof(words.text), "%llu turn%s", (unsigned long long)nr, nr == 1 ? "" : "s");
	return words;
}

static void print_shares(const struct why_chain *why, const struct shares *shares, unsigned int depth)
{
	for (unsigned int i = 0; i < shares->nr && i < PRINTED; i++)
		why_line(&why->to, depth, "%s held it for %s of that, in %s.", shares->share[i].thread->name,
			 why_duration(shares->share[i].ns).text, turns_words(shares->share[i].nr).text);
}

/*
 * If threads held the object in many short turns, print the turns together.  Return false if there are few turns, or if
 * a turn was long.
 */
static bool print_turns(const struct why_chain *why, const struct wait *wait, const struct shares *shares,
		       struct part part, unsigned int depth)
{
	if (shares->nr_turns <= MANY_TURNS || shares->longest_ns * FEW_PARTS > part_length(part))
		return false;
	why_line(&why->to, depth,
	     "%s was held by others in %llu turns, the longest of %s; txtrace locks "
	     "reports convoys.",
	     why_object(wait->object).text, (unsigned long long)shares->nr_turns,
	     why_duration(shares->longest_ns).text);
	print_shares(why, shares, depth + 1);
	return true;
}

/* Print the holds that have no line of their own: all holds in the shares but these. */
static void print_other_holds(const struct why_chain *why, const struct shares *shares,
			      uint64_t nr_printed, int64_t printed_ns, unsigned int depth)
{
	int64_t ns = -printed_ns;

	for (unsigned int i = 0; i < shares->nr; i++)
		units_add(&ns, shares->share[i].ns);
	if (shares->nr_turns > nr_printed)
		why_line(&why->to, depth, "It was held in %s more, %s all together.",
			 turns_words(shares->nr_turns - nr_printed).text, why_duration(ns).text);
}

/* The thread already held the lock that it waits for. */
static void print_own_hold(const struct why_chain *why, const struct wait *wait, const struct kept *kept,
			   unsigned int depth)
{
	const struct hold *hold = NULL;

	for (unsigned int i = 0; i < kept->nr_holds && !hold; i++)
		if (kept->hold[i].hold.thread == wait->thread)
			hold = &kept->hold[i].hold;
	why_line(&why->to, depth, "%s itself held %s%s%s%s.", wait->thread->name,
		 why_object(wait->object).text, hold ? "; it took it " : "",
		 hold ? why_since(&why->to, why->waits, hold->since_ns).text : "",
		 hold ? why_place(&why->to, hold->address).text : "");
	why_line(&why->to, depth,
		 wait->has_ended || is_limited(wait) ?
			 "A thread that locks its own lock again waits for itself, until a timeout." :
			 "Deadlock: a thread that locks its own lock again waits for itself, and can never continue.");
}

/* Print the longest holds of the object in the period, one by one. */
static void print_each_hold(struct why_chain *why, const struct wait *wait, const struct shares *shares,
			    struct part part, unsigned int depth)
{
	struct kept *kept = wait_history_of_object(&why->history, wait->object);
	int64_t printed_ns = 0;
	uint64_t nr_printed = 0;

	if (kept->nr_holds > 0)
		qsort(kept->hold, kept->nr_holds, sizeof(kept->hold[0]), compare_holds);
	for (unsigned int i = 0; i < kept->nr_holds && nr_printed < PRINTED; i++) {
		int64_t ns = part_length(wait_history_part(&kept->hold[i], part));

		if (kept->hold[i].hold.thread == wait->thread || ns == 0 || ns * SMALL_PART < part_length(part))
			continue;
		nr_printed++;
		units_add(&printed_ns, ns);
		print_hold(why, wait, &kept->hold[i], part, depth);
	}
	print_other_holds(why, shares, nr_printed, printed_ns, depth);
}

/* Print the holders of the object.  Return false if no holder is known. */
static bool print_holds(struct why_chain *why, const struct wait *wait, struct part part,
		       unsigned int depth)
{
	struct kept *kept = wait_history_of_object(&why->history, wait->object);
	struct shares shares;
	bool has_holder;

	if (wait->holder == wait->thread) {
		print_own_hold(why, wait, kept, depth);
		return true;
	}
	shares = wait_history_shares(kept, wait->thread, part);
	if (!print_turns(why, wait, &shares, part, depth))
		print_each_hold(why, wait, &shares, part, depth);
	if (part.until_ns > why->history.full_ns)
		why_line(&why->to, depth, "The trace has too many waits: those after %s are left out.",
			 why_time(&why->to, why->history.full_ns).text + 3);
	has_holder = shares.nr > 0;
	free(shares.share);
	return has_holder;
}

struct stack_printer {
	const struct why_words *to;
	unsigned int depth, nr;
};

static void print_frame(void *arg, const char *line)
{
	struct stack_printer *printer = arg;

	why_line(printer->to, printer->depth, "%s%s", printer->nr++ == 0 ? "called by " : "       by ", line);
}

/* Print the callers, up to the outermost function of the program. */
static void print_stack(struct why_chain *why, const struct wait *wait, unsigned int depth)
{
	const struct stack *stack = wait_history_stack_of(&why->history, wait);
	struct stack_printer printer = {&why->to, depth, 0};
	struct stack shown;

	if (!stack)
		return;
	shown = *stack;
	stack_trim(why->to.symbols, &shown);
	stack_lines(why->to.symbols, &shown, print_frame, &printer);
}

/* Signal handlers. */

/* The wait was in a signal handler.  Say so if the interrupted wait is not the one that was just printed. */
static void print_interrupted(const struct why_chain *why, const struct kept_wait *is, unsigned int depth)
{
	const struct stretch *outer = &is->interrupted;
	const struct wait *above = why->depth > 0 ? &why->chain[why->depth - 1]->wait : NULL;

	if (outer->object &&
	    (!above || above->thread != is->wait.thread || above->begin_ns != outer->begin_ns))
		why_step_line(&why->to, depth, why_step(is->wait.thread, outer->begin_ns, is->wait.begin_ns),
			      "This was in a signal handler. It interrupted %s while it was %s, from %s on.",
			      is->wait.thread->name, why_wait(outer->state, outer->object, outer->service).text,
			      why_time(&why->to, outer->begin_ns).text + 3);
}

/*
 * Signal handlers interrupted the wait, and waited, too.  The thread cannot go on before they return, even if it could
 * have its object.
 */
static void print_handlers(struct why_chain *why, const struct wait *wait, struct part part, unsigned int depth)
{
	struct kept *kept = wait_history_of_thread(&why->history, wait->thread);
	struct doings doings = {.nr = 0};
	struct map place_of = {0};

	for (unsigned int i = 0; i < kept->nr_nested; i++) {
		const struct stretch *at = &kept->nested[i].stretch;
		int64_t ns = part_length(part_common(part, at->begin_ns, at->end_ns));

		if (kept->nested[i].outer == wait->number && ns > 0)
			add_doing(&doings, &place_of, at, ns);
	}
	map_free(&place_of);
	if (doings.nr > 0) {
		qsort(doings.doing, doings.nr, sizeof(*doings.doing), compare_doings);
		why_line(&why->to, depth, "Signal handlers interrupted this wait, and waited, too:");
	}
	for (unsigned int i = 0; i < doings.nr && i < PRINTED; i++)
		print_doing(why, wait->thread, &doings.doing[i], part, depth + 1);
	free(doings.doing);
}

/* Print a wait, the holders of its object, what these threads waited for, and so on. */
static void print_chain(struct why_chain *why, const struct kept_wait *is, struct part part,
		       unsigned int depth)
{
	const struct wait *wait = &is->wait;
	bool has_holder = false;

	print_wait(why, wait, part, depth);
	if (depth == 0 || (part.from_ns <= wait->begin_ns && part.until_ns >= wait->end_ns))
		print_spent(why, wait->thread, &wait->spent.times, depth + 1);
	print_stack(why, wait, depth + 1);
	print_interrupted(why, is, depth + 1);
	if (why->depth == WHY_DEPTH)
		return;
	why->chain[why->depth++] = is;
	print_handlers(why, wait, part, depth + 1);
	if (!wait->object->kind) {
		why->depth--;
		return;
	}
	if (why_is_for_thread(wait) && wait->holder) {
		has_holder = true;
		print_doings(why, wait->holder, part, depth + 1);
	} else if (wait->object->is_lock) {
		has_holder = print_holds(why, wait, part, depth + 1);
	}
	if (!has_holder && !why_is_io(wait) && !wait->object->is_lock)
		why_wakers_print(why, is, depth + 1);
	if (!has_holder && wait->waker && !why_is_io(wait))
		print_doings(why, wait->waker, part, depth + 1);
	why_wakers_print_end(why, wait, depth + 1);
	why->depth--;
}

void why_chain_print(struct why_chain *why)
{
	print_chain(why, &why->history.target, why->history.all, 0);
}

void why_chain_print_cost(struct why_chain *why, const struct wait *longest, uint64_t nr, int64_t ns)
{
	struct shares *shares = &why->history.cost_shares;

	why_line(&why->to, 0, "%s was %s in all %s, in %llu waits.", longest->thread->name,
		 why_duration(ns).text, why_wait(longest->state, longest->object, longest->service).text,
		 (unsigned long long)nr);
	wait_history_sort_shares(shares);
	if (longest->object->is_lock)
		print_shares(why, shares, 1);
	why_line(&why->to, 0, "The longest of these waits:");
}

void why_chain_print_times(const struct why_chain *why)
{
	const struct state_times *times = &why->history.target_times;

	if (times->ns[THREAD_UNKNOWN] < state_times_sum(times))
		why_line(&why->to, 0, "In the whole trace, %s %s.", why->history.target.wait.thread->name,
			 why_states(times).text);
}

void why_chain_print_untraced(const struct why_chain *why, const struct unseen *unseen, unsigned int context)
{
	const struct words untraced = why_untraced(unseen, context);

	if (*untraced.text)
		why_line(&why->to, 0, "%s.", untraced.text);
}
