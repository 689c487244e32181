/* SPDX-License-Identifier: MIT */
#include "waits/why_choice.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "base/message.h"
#include "base/units.h"
#include "trace/selection.h"
#include "waits/wait_history.h"

struct chooser {
	struct source *source;
	const struct time_arg *at;
	bool has_at;
	int64_t at_ns;
	bool has_name;
	struct map cost_of; /* key: the indices of a thread and of an object; value: pointer to a struct cost */
	struct cost {
		const struct waiter *thread;
		struct why_cost is;
		struct cost *next;
	} * first;
	struct why_choice *choice;
};

/* The thread. */

/* The name of a thread of a log ends with its tid. */
static bool is_name_of(const struct txtrace_object *object, const char *name)
{
	size_t length = strlen(name);
	char tid[16];

	snprintf(tid, sizeof(tid), " %d", (int)object->tid);
	return object->tid > 0 && strncmp(object->name, name, length) == 0 &&
	       strcmp(object->name + length, tid) == 0;
}

static bool is_thread(const struct txtrace_object *object, const char *name)
{
	char *end;
	unsigned long number;

	if (strcmp(object->name, name) == 0 || is_name_of(object, name))
		return true;
	number = strtoul(name, &end, 10);
	if (*end == '\0' && end != name && object->tid > 0 && number == (unsigned long)object->tid)
		return true;
	number = strtoul(name, &end, 16);
	return *end == '\0' && strlen(name) >= 6 && number == object->handle;
}

static bool is_main(const struct txtrace_object *object, const char *name)
{
	return strcmp(name, "main") == 0 && object->tid > 0 && object->tid == object->pid;
}

/* Return the handle of the thread with this name, or 0.  *other becomes a second thread with this name, or 0. */
static unsigned int find_thread(const struct source *source, const char *name,
				bool (*is)(const struct txtrace_object *object, const char *name),
				unsigned int *other)
{
	unsigned int found = 0;

	*other = 0;
	for (size_t i = 0; i < source->nr_objects && *other == 0; i++) {
		const struct txtrace_object *object = &source->objects[i];

		if (object->type != OBJECT_THREAD || !is(object, name) || object->handle == found)
			continue;
		*(found == 0 ? &found : other) = object->handle;
	}
	return found;
}

/*
 * Return the main thread of the first process, or 0.  Threads have their handles in the order in which they began.
 * *other becomes the main thread of another program that this process executed, or 0.
 */
static unsigned int find_main(const struct source *source, const char *name, unsigned int *other)
{
	const struct txtrace_object *found = NULL;

	*other = 0;
	for (size_t i = 0; i < source->nr_objects; i++) {
		const struct txtrace_object *object = &source->objects[i];

		if (object->type == OBJECT_THREAD && is_main(object, name) &&
		    (!found || object->handle < found->handle))
			found = object;
	}
	for (size_t i = 0; found && i < source->nr_objects && *other == 0; i++) {
		const struct txtrace_object *object = &source->objects[i];

		if (object->type == OBJECT_THREAD && is_main(object, name) && object->pid == found->pid &&
		    object->handle != found->handle)
			*other = object->handle;
	}
	return found ? found->handle : 0;
}

/* Find the thread to explain.  If no thread or several threads match, print a message and return false. */
static bool choose_thread(struct chooser *chooser, const char *name)
{
	const struct source *source = chooser->source;
	unsigned int other, found = find_thread(source, name, is_thread, &other);

	if (found == 0)
		found = find_main(source, name, &other);
	if (other != 0)
		message("%s: several threads are named %s; give the handle, %08x or %08x",
			source->path, name, found, other);
	else if (found == 0)
		message("%s: there is no thread %s; txtrace report lists them", source->path, name);
	chooser->choice->context = found;
	chooser->has_name = chooser->choice->has_thread = true;
	return found != 0 && other == 0;
}

/* Collecting. */

static void add_cost(struct chooser *chooser, const struct wait *wait)
{
	uint64_t *known = map_get(&chooser->cost_of,
				  (uint64_t)wait->thread->index << 32 | (uint32_t)wait->object->index);
	struct cost *cost = (struct cost *)(uintptr_t)*known;

	if (!cost) {
		cost = must(calloc(1, sizeof(*cost)));
		*cost = (struct cost){.thread = wait->thread, .next = chooser->first};
		chooser->first = cost;
		*known = (uintptr_t)cost;
	}
	if (cost->is.nr++ == 0 || wait_history_is_longer(wait, &cost->is.longest))
		cost->is.longest = *wait;
	units_add(&cost->is.ns, wait->end_ns - wait->begin_ns);
}

static void find_time(struct chooser *chooser)
{
	if (!chooser->has_at)
		chooser->at_ns = time_arg_ns(chooser->at, chooser->source);
	chooser->has_at = true;
}

static void take_wait(void *arg, const struct wait *wait)
{
	struct chooser *chooser = arg;
	struct why_choice *choice = chooser->choice;

	if (chooser->has_name && wait->thread->context != choice->context)
		return;
	if (!chooser->at->is_set) {
		add_cost(chooser, wait);
		return;
	}
	find_time(chooser);
	if (wait->begin_ns <= chooser->at_ns &&
	    (chooser->at_ns < wait->end_ns || (!wait->has_ended && !wait->thread->has_died))) {
		/* A wait in a signal handler explains more than the wait that it interrupted. */
		if (!choice->is_found || choice->found.begin_ns <= wait->begin_ns)
			choice->found = *wait;
		choice->is_found = true;
	} else if (wait->end_ns <= chooser->at_ns) {
		choice->nearest = *wait;
		choice->has_nearest = true;
	}
}

static void take_broken(void *arg, const struct wait *wait, int64_t at_ns)
{
	struct chooser *chooser = arg;
	struct why_choice *choice = chooser->choice;

	(void)at_ns;
	if (!chooser->has_name || wait->thread->context != choice->context)
		return;
	if (chooser->at->is_set)
		find_time(chooser);
	if (chooser->at->is_set && wait->begin_ns > chooser->at_ns)
		return;
	choice->broken = *wait;
	choice->has_broken = true;
}

/* Choosing. */

/* Return the thread that must act before this thread can go on, or NULL. */
static const struct waiter *next_in_chain(struct waits *waits, const struct waiter *thread)
{
	return thread->waits ? waits_holder_for(waits, &thread->wait) : NULL;
}

/* Return true if the thread can never continue, because its chain of holders has no end. */
static bool is_dead(struct waits *waits, const struct waiter *thread)
{
	for (size_t i = 0; thread && i <= waits->nr_waiters; i++)
		thread = next_in_chain(waits, thread);
	return thread != NULL;
}

static bool is_in_cycle(struct waits *waits, const struct waiter *thread)
{
	const struct waiter *at = next_in_chain(waits, thread);

	for (size_t i = 0; at && at != thread && i < waits->nr_waiters; i++)
		at = next_in_chain(waits, at);
	return at == thread;
}

static const struct waiter *choose_waiter(struct why_choice *choice)
{
	const struct waiter *most = NULL;

	for (const struct waiter *at = choice->waits.first_waiter; at; at = at->next) {
		if (is_in_cycle(&choice->waits, at))
			return at;
		if (at->nr_waits > 0 && (!most || at->waited_ns > most->waited_ns))
			most = at;
	}
	return most;
}

static void choose_wait(struct chooser *chooser, const struct waiter *thread)
{
	struct why_choice *choice = chooser->choice;

	if (is_dead(&choice->waits, thread)) {
		choice->found = choice->longest = thread->wait;
		choice->is_found = true;
		return;
	}
	for (const struct cost *at = chooser->first; at; at = at->next) {
		if (at->thread != thread)
			continue;
		if (!choice->is_found || wait_history_is_longer(&at->is.longest, &choice->longest))
			choice->longest = at->is.longest;
		if (!choice->is_found || at->is.ns > choice->cost.ns)
			choice->cost = at->is;
		choice->is_found = true;
	}
	choice->found = choice->cost.longest;
}

static void take_spent(void *arg, const struct sched_thread *thread, const struct waiter *waiter,
		       enum thread_state state, int64_t from_ns, int64_t until_ns)
{
	struct chooser *chooser = arg;

	unseen_spent(&chooser->choice->unseen, thread, waiter, state, from_ns, until_ns);
}

static const struct waiter *waiter_of(const struct why_choice *choice)
{
	return (const struct waiter *)(uintptr_t)map_find(&choice->waits.waiter_of, choice->context);
}

bool why_choose(struct source *source, const char *thread, const struct time_arg *at,
		struct why_choice *choice)
{
	static const struct selection all;
	struct chooser chooser = {.source = source, .at = at, .choice = choice};
	const struct waits_listener listener = {
		.arg = &chooser, .ended = take_wait, .broken = take_broken, .spent = take_spent};
	const struct waiter *chosen;

	*choice = (struct why_choice){.context = 0};
	if (thread && !choose_thread(&chooser, thread))
		return false;
	unseen_begin(&choice->unseen, &choice->waits, source, &all);
	waits_read(&choice->waits, source, &all, &listener);
	unseen_end(&choice->unseen);
	waits_report_no_calls(&choice->waits);
	if (!at->is_set) {
		chosen = thread ? waiter_of(choice) : choose_waiter(choice);
		if (chosen)
			choose_wait(&chooser, chosen);
		if (chosen && !thread) {
			choice->has_thread = true;
			choice->context = chosen->context;
		}
	}
	for (struct cost *cost = chooser.first, *next; cost; cost = next) {
		next = cost->next;
		free(cost);
	}
	map_free(&chooser.cost_of);
	return true;
}

void why_choice_free(struct why_choice *choice)
{
	unseen_free(&choice->unseen);
	waits_free(&choice->waits);
}
