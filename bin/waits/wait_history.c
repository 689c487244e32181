/* SPDX-License-Identifier: MIT */
#include "waits/wait_history.h"

#include <stdlib.h>

#include "base/memory.h"

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

void wait_history_wait(void *arg, const struct wait *wait)
{
	struct wait_history *wait_history = arg;
	struct kept_wait is = {*wait, wait->object->signal};
	struct kept *kept;
	unsigned int i = 0;

	if (wait->end_ns < wait_history->all.from_ns || wait->begin_ns > wait_history->all.until_ns)
		return;
	if (wait->number == wait_history->number && wait->thread->context == wait_history->context)
		wait_history->target = is;
	kept = wait_history_of_thread(wait_history, wait->thread);
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

struct part wait_history_part(const struct kept_hold *hold, struct part part)
{
	return part_common(part, hold->hold.since_ns, hold->until_ns);
}

static void add_share(struct kept *kept, const struct waiter *thread, int64_t ns)
{
	unsigned int i = 0;

	while (i < kept->nr_shares && kept->share[i].thread != thread)
		i++;
	if (i == kept->nr_shares) {
		kept->share = grow(kept->share, i, sizeof(*kept->share));
		kept->share[kept->nr_shares++] = (struct share){.thread = thread};
	}
	kept->share[i].nr++;
	kept->share[i].ns += ns;
	if (ns > kept->share[i].longest_ns)
		kept->share[i].longest_ns = ns;
}

void wait_history_hold(void *arg, const struct hold *hold, int64_t at_ns)
{
	struct wait_history *wait_history = arg;
	const struct part all = wait_history->all;
	struct kept_hold is = {*hold, at_ns};
	struct kept *kept;
	unsigned int i = 0;

	if (part_length(wait_history_part(&is, all)) == 0)
		return;
	kept = wait_history_of_object(wait_history, hold->object);
	add_share(kept, hold->thread, part_length(wait_history_part(&is, all)));
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

static void free_kept(struct map *map)
{
	for (size_t i = 0; i < map->nr_places; i++) {
		struct kept *kept = (struct kept *)(uintptr_t)map->place[i].value;

		if (kept) {
			free(kept->wait);
			free(kept->hold);
			free(kept->share);
			free(kept);
		}
	}
	map_free(map);
}

void wait_history_free(struct wait_history *wait_history)
{
	free_kept(&wait_history->of_thread);
	free_kept(&wait_history->of_object);
}
