/* SPDX-License-Identifier: MIT */
#include "waits/wait_history.h"

#include <stdlib.h>

#include "base/memory.h"
#include "base/units.h"

struct part part_common(struct part part, int64_t from_ns, int64_t until_ns)
{
	struct part both = {from_ns > part.from_ns ? from_ns : part.from_ns,
			    until_ns < part.until_ns ? until_ns : part.until_ns};

	if (both.until_ns < both.from_ns)
		both.until_ns = both.from_ns;
	return both;
}

int64_t part_length(struct part part)
{
	return part.until_ns - part.from_ns;
}

bool wait_history_is_longer(const struct wait *a, const struct wait *b)
{
	return a->end_ns - a->begin_ns > b->end_ns - b->begin_ns;
}

static struct kept *kept_of(struct map *map, size_t index)
{
	uint64_t *known = map_get(map, index);

	if (!*known)
		*known = (uintptr_t)must(calloc(1, sizeof(struct kept)));
	return (struct kept *)(uintptr_t)*known;
}

struct kept *wait_history_of_thread(struct wait_history *wait_history, const struct waiter *thread)
{
	return kept_of(&wait_history->of_thread, thread->index);
}

struct kept *wait_history_of_object(struct wait_history *wait_history, const struct awaited *object)
{
	return kept_of(&wait_history->of_object, object->index);
}

/* Return the list with room for one more element.  nr is the number of elements in the list. */
static void *grow(void *list, unsigned int nr, size_t size)
{
	return (nr & (nr - 1)) == 0 ? must(reallocarray(list, nr ? 2 * nr : 1, size)) : list;
}

void wait_history_begin(struct wait_history *wait_history)
{
	wait_history->full_ns = INT64_MAX;
}

/* Return true if one more wait or hold that began at this time can be stored. */
static bool has_room(struct wait_history *wait_history, int64_t begin_ns)
{
	if (wait_history->nr_stored++ < STRETCHES)
		return true;
	if (begin_ns < wait_history->full_ns)
		wait_history->full_ns = begin_ns;
	return false;
}

static void add_stretch(struct wait_history *wait_history, struct kept *kept, struct stretch stretch)
{
	if (!has_room(wait_history, stretch.begin_ns))
		return;
	kept->stretch = grow(kept->stretch, kept->nr_stretches, sizeof(stretch));
	kept->stretch[kept->nr_stretches++] = stretch;
}

static struct stretch stretch_of(const struct wait *wait)
{
	return (struct stretch){wait->begin_ns, wait->end_ns, wait->object, wait->service, wait->state};
}

static void add_nested(struct wait_history *wait_history, struct kept *kept, const struct wait *wait)
{
	if (!has_room(wait_history, wait->begin_ns))
		return;
	kept->nested = grow(kept->nested, kept->nr_nested, sizeof(*kept->nested));
	kept->nested[kept->nr_nested++] = (struct nested_stretch){stretch_of(wait), wait->outer->number};
}

void wait_history_unknown(void *arg, const struct waiter *thread, int64_t from_ns, int64_t until_ns)
{
	struct wait_history *wait_history = arg;

	if (until_ns > wait_history->all.from_ns && from_ns < wait_history->all.until_ns)
		add_stretch(wait_history, wait_history_of_thread(wait_history, thread),
			    (struct stretch){.begin_ns = from_ns, .end_ns = until_ns, .service = ""});
}

void wait_history_wait(void *arg, const struct wait *wait)
{
	struct wait_history *wait_history = arg;
	struct kept_wait is = {.wait = *wait, .after = wait->object->signal};
	struct kept *kept;
	unsigned int i = 0;

	if (wait_history->has_cost && wait->thread->context == wait_history->context &&
	    wait->object->index == wait_history->cost_object)
		add_stretch(wait_history, &wait_history->cost, stretch_of(wait));
	if (wait->end_ns < wait_history->all.from_ns || wait->begin_ns > wait_history->all.until_ns)
		return;
	if (wait->outer)
		is.interrupted = stretch_of(wait->outer);
	if (wait->number == wait_history->number && wait->thread->context == wait_history->context)
		wait_history->target = is;
	kept = wait_history_of_thread(wait_history, wait->thread);
	/* The time of a wait in a signal handler is also that of the interrupted wait. */
	if (!wait->outer)
		add_stretch(wait_history, kept, stretch_of(wait));
	else
		add_nested(wait_history, kept, wait);
	if (kept->nr_waits < KEPT) {
		kept->wait = grow(kept->wait, kept->nr_waits, sizeof(is));
		kept->wait[kept->nr_waits++] = is;
		return;
	}
	for (unsigned int j = 1; j < KEPT; j++)
		if (wait_history_is_longer(&kept->wait[i].wait, &kept->wait[j].wait))
			i = j;
	if (wait_history_is_longer(wait, &kept->wait[i].wait))
		kept->wait[i] = is;
}

void wait_history_stack(void *arg, const struct wait *wait, const struct stack *stack)
{
	struct wait_history *wait_history = arg;
	uint64_t *known;

	if (wait->end_ns < wait_history->all.from_ns || wait->begin_ns > wait_history->all.until_ns ||
	    wait_history->nr_stacks == STACKS)
		return;
	known = map_get(&wait_history->stack_of, wait->number);
	if (*known)
		return;
	*known = (uintptr_t)must(malloc(sizeof(*stack)));
	*(struct stack *)(uintptr_t)*known = *stack;
	wait_history->nr_stacks++;
}

const struct stack *wait_history_stack_of(struct wait_history *wait_history, const struct wait *wait)
{
	return (const struct stack *)(uintptr_t)*map_get(&wait_history->stack_of, wait->number);
}

struct part wait_history_part(const struct kept_hold *hold, struct part part)
{
	return part_common(part, hold->hold.since_ns, hold->until_ns);
}

static void add_share(struct shares *shares, const struct waiter *thread, int64_t ns)
{
	unsigned int i = 0;

	while (i < shares->nr && shares->share[i].thread != thread)
		i++;
	if (i == shares->nr) {
		shares->share = grow(shares->share, i, sizeof(*shares->share));
		shares->share[shares->nr++] = (struct share){.thread = thread};
	}
	shares->share[i].nr++;
	units_add(&shares->share[i].ns, ns);
	shares->nr_turns++;
	if (ns > shares->longest_ns)
		shares->longest_ns = ns;
}

static int compare_shares(const void *a, const void *b)
{
	const struct share *left = a, *right = b;

	return (left->ns < right->ns) - (left->ns > right->ns);
}

void wait_history_sort_shares(struct shares *shares)
{
	if (shares->nr > 0)
		qsort(shares->share, shares->nr, sizeof(shares->share[0]), compare_shares);
}

struct shares wait_history_shares(const struct kept *kept, const struct waiter *but, struct part part)
{
	struct shares shares = {.nr = 0};

	for (unsigned int i = 0; i < kept->nr_turns; i++) {
		const struct turn *at = &kept->turn[i];
		int64_t ns = part_length(part_common(part, at->from_ns, at->until_ns));

		if (ns > 0 && at->thread != but)
			add_share(&shares, at->thread, ns);
	}
	wait_history_sort_shares(&shares);
	return shares;
}

void wait_history_spent(void *arg, const struct sched_thread *thread, const struct waiter *waiter,
			enum thread_state state, int64_t from_ns, int64_t until_ns)
{
	struct wait_history *wait_history = arg;
	struct kept *kept;

	if (thread->context != 0 && thread->context == wait_history->context)
		units_add(&wait_history->target_times.ns[state], until_ns - from_ns);
	if (!waiter || until_ns <= wait_history->all.from_ns || from_ns >= wait_history->all.until_ns ||
	    wait_history->nr_spent == STRETCHES)
		return;
	wait_history->nr_spent++;
	kept = wait_history_of_thread(wait_history, waiter);
	kept->spent = grow(kept->spent, kept->nr_spent, sizeof(*kept->spent));
	kept->spent[kept->nr_spent++] = (struct spent){from_ns, until_ns, state};
}

static int compare_spent(const void *a, const void *b)
{
	const struct spent *left = a, *right = b;

	return (left->from_ns > right->from_ns) - (left->from_ns < right->from_ns);
}

struct state_times wait_history_rest(struct kept *kept, struct part part)
{
	struct state_times rest = {.ns = {[THREAD_UNKNOWN] = part_length(part)}};
	unsigned int first = 0;

	/* The waits of a thread are in the order of time, too, and do not overlap. */
	for (unsigned int i = 0; i < kept->nr_stretches; i++)
		units_add(&rest.ns[THREAD_UNKNOWN],
			  -part_length(part_common(part, kept->stretch[i].begin_ns, kept->stretch[i].end_ns)));
	if (kept->nr_spent > 0)
		qsort(kept->spent, kept->nr_spent, sizeof(*kept->spent), compare_spent);
	for (unsigned int i = 0; i < kept->nr_spent; i++) {
		const struct spent *spent = &kept->spent[i];
		struct part own = part_common(part, spent->from_ns, spent->until_ns);
		int64_t ns = part_length(own);

		if (ns == 0 || spent->state == THREAD_UNKNOWN)
			continue;
		while (first < kept->nr_stretches && kept->stretch[first].end_ns <= own.from_ns)
			first++;
		for (unsigned int k = first; k < kept->nr_stretches && kept->stretch[k].begin_ns < own.until_ns; k++)
			units_add(&ns,
				  -part_length(part_common(own, kept->stretch[k].begin_ns, kept->stretch[k].end_ns)));
		if (ns <= 0)
			continue;
		units_add(&rest.ns[spent->state], ns);
		units_add(&rest.ns[THREAD_UNKNOWN], -ns);
	}
	return rest;
}

void wait_history_ran(void *arg, const struct waiter *thread, int64_t from_ns, int64_t until_ns, int64_t ran_ns)
{
	struct wait_history *wait_history = arg;
	struct kept *kept;

	if (until_ns <= wait_history->all.from_ns || from_ns >= wait_history->all.until_ns ||
	    wait_history->nr_ran == STRETCHES)
		return;
	wait_history->nr_ran++;
	kept = wait_history_of_thread(wait_history, thread);
	kept->ran = grow(kept->ran, kept->nr_ran, sizeof(*kept->ran));
	kept->ran[kept->nr_ran++] = (struct ran){from_ns, until_ns, ran_ns};
}

/* Return the time of a period in which the thread did not wait.  *first is the first wait that may be in it. */
static int64_t outside_waits(const struct kept *kept, struct part part, unsigned int *first)
{
	int64_t ns = part_length(part);

	while (*first < kept->nr_stretches && kept->stretch[*first].end_ns <= part.from_ns)
		++*first;
	for (unsigned int i = *first; i < kept->nr_stretches && kept->stretch[i].begin_ns < part.until_ns; i++)
		units_add(&ns, -part_length(part_common(part, kept->stretch[i].begin_ns, kept->stretch[i].end_ns)));
	return ns;
}

struct ran_estimate wait_history_estimate(const struct kept *kept, struct part part)
{
	struct ran_estimate estimate = {0, 0};
	unsigned int first = 0;

	for (unsigned int i = 0; i < kept->nr_ran; i++) {
		const struct ran *ran = &kept->ran[i];
		const struct part whole = {ran->from_ns, ran->until_ns};
		int64_t all_ns = outside_waits(kept, whole, &first);
		int64_t ns = outside_waits(kept, part_common(part, ran->from_ns, ran->until_ns),
					   &(unsigned int){first});
		int64_t ran_ns = ran->ran_ns < all_ns ? ran->ran_ns : all_ns;

		if (ns <= 0 || all_ns <= 0)
			continue;
		units_add(&estimate.known_ns, ns);
		units_add(&estimate.ran_ns, (int64_t)((double)ran_ns * (double)ns / (double)all_ns));
	}
	return estimate;
}

static void add_turn(struct wait_history *wait_history, struct kept *kept, const struct hold *hold,
		     int64_t until_ns)
{
	if (!has_room(wait_history, hold->since_ns))
		return;
	kept->turn = grow(kept->turn, kept->nr_turns, sizeof(*kept->turn));
	kept->turn[kept->nr_turns++] = (struct turn){hold->since_ns, until_ns, hold->thread};
}

/* Add the part of a hold in which the thread of the question waited for the object. */
static void add_cost(struct wait_history *wait_history, const struct hold *hold, int64_t at_ns)
{
	const struct kept *cost = &wait_history->cost;
	const struct part of_hold = {hold->since_ns, at_ns};
	int64_t ns = 0;

	for (unsigned int i = cost->nr_stretches; i > 0 && cost->stretch[i - 1].end_ns > hold->since_ns; i--)
		units_add(&ns, part_length(part_common(of_hold, cost->stretch[i - 1].begin_ns,
						       cost->stretch[i - 1].end_ns)));
	for (const struct wait *at = hold->object->waiting; at; at = at->next_waiting)
		if (at->thread->context == wait_history->context)
			units_add(&ns, part_length(part_common(of_hold, at->begin_ns, at_ns)));
	if (ns > 0)
		add_share(&wait_history->cost_shares, hold->thread, ns);
}

void wait_history_hold(void *arg, const struct hold *hold, int64_t at_ns)
{
	struct wait_history *wait_history = arg;
	const struct part all = wait_history->all;
	struct kept_hold is = {*hold, at_ns};
	struct kept *kept;
	unsigned int i = 0;

	if (wait_history->has_cost && hold->object->index == wait_history->cost_object &&
	    hold->thread->context != wait_history->context)
		add_cost(wait_history, hold, at_ns);
	if (part_length(wait_history_part(&is, all)) == 0)
		return;
	kept = wait_history_of_object(wait_history, hold->object);
	add_turn(wait_history, kept, hold, at_ns);
	if (kept->nr_holds < KEPT) {
		kept->hold = grow(kept->hold, kept->nr_holds, sizeof(is));
		kept->hold[kept->nr_holds++] = is;
		return;
	}
	for (unsigned int j = 1; j < KEPT; j++)
		if (part_length(wait_history_part(&kept->hold[j], all)) <
		    part_length(wait_history_part(&kept->hold[i], all)))
			i = j;
	if (part_length(wait_history_part(&is, all)) >
	    part_length(wait_history_part(&kept->hold[i], all)))
		kept->hold[i] = is;
}

static void free_lists(struct kept *kept)
{
	free(kept->wait);
	free(kept->hold);
	free(kept->turn);
	free(kept->stretch);
	free(kept->nested);
	free(kept->spent);
	free(kept->ran);
}

static void free_kept(struct map *map)
{
	for (size_t i = 0; i < map->nr_places; i++) {
		struct kept *kept = (struct kept *)(uintptr_t)map->place[i].value;

		if (kept)
			free_lists(kept);
		free(kept);
	}
	map_free(map);
}

void wait_history_free(struct wait_history *wait_history)
{
	free(wait_history->cost_shares.share);
	free_lists(&wait_history->cost);
	for (size_t i = 0; i < wait_history->stack_of.nr_places; i++)
		free((void *)(uintptr_t)wait_history->stack_of.place[i].value);
	map_free(&wait_history->stack_of);
	free_kept(&wait_history->of_thread);
	free_kept(&wait_history->of_object);
}
