/* SPDX-License-Identifier: MIT */
#include "waits/holder_watch.h"

#include "base/units.h"
#include "waits/periods.h"

/* Return for how long the thread has waited since the trace began. */
static int64_t waited_until(const struct waiter *thread, int64_t at_ns)
{
	int64_t ns = thread->waited_ns;

	if (thread->waits && at_ns > waits_outermost(thread)->begin_ns)
		units_add(&ns, at_ns - waits_outermost(thread)->begin_ns);
	return ns;
}

void holder_watch_begin(struct wait *wait, struct waiter *holder, int64_t at_ns)
{
	wait->holder = holder;
	wait->did = (struct holder_activity){
		.from_ns = at_ns, .is_watched = true, .is_known = !holder->is_unknown,
		.waited_before_ns = waited_until(holder, at_ns)};
	periods_begin(holder, at_ns, &wait->did.spent);
	wait->next_watcher = holder->watchers;
	holder->watchers = wait;
}

/* Keep this wait of the holder if it takes more of the watched period than the others. */
static void keep_longest(struct holder_activity *did, const struct wait *of_holder, int64_t until_ns)
{
	int64_t from_ns = of_holder->begin_ns > did->from_ns ? of_holder->begin_ns : did->from_ns;

	if (until_ns - from_ns <= did->longest_ns)
		return;
	did->longest_ns = until_ns - from_ns;
	did->object = of_holder->object;
	did->service = of_holder->service;
}

void holder_watch_end(struct wait *wait, int64_t at_ns)
{
	struct holder_activity *did = &wait->did;
	struct wait **at;

	if (!did->is_watched)
		return;
	did->is_watched = false;
	did->until_ns = at_ns;
	did->waited_ns = waited_until(wait->holder, at_ns) - did->waited_before_ns;
	periods_end(wait->holder, at_ns, at_ns - did->from_ns, &did->spent);
	if (wait->holder->waits)
		keep_longest(did, &wait->holder->wait, at_ns);
	at = &wait->holder->watchers;
	while (*at != wait)
		at = &(*at)->next_watcher;
	*at = wait->next_watcher;
}

void holder_watch_taken(const struct hold *hold, int64_t at_ns)
{
	for (struct wait *at = hold->object->waiting; at; at = at->next_waiting)
		if (at->thread != hold->thread && !at->holder)
			holder_watch_begin(at, hold->thread, at_ns);
}

void holder_watch_given(const struct hold *hold, int64_t at_ns)
{
	for (struct wait *at = hold->thread->watchers, *next; at; at = next) {
		next = at->next_watcher;
		if (at->object == hold->object)
			holder_watch_end(at, at_ns);
	}
}

void holder_watch_waited(const struct wait *wait)
{
	for (struct wait *at = wait->thread->watchers; at; at = at->next_watcher)
		keep_longest(&at->did, wait, wait->end_ns);
}

void holder_watch_doubt(const struct waiter *holder)
{
	for (struct wait *at = holder->watchers; at; at = at->next_watcher)
		at->did.is_known = false;
}
