/* SPDX-License-Identifier: MIT */
#include "waits/lockorder.h"

#include <string.h>

#include "base/memory.h"

/* the search ends after this number of steps, because the number of paths can be exponential */
#define STEPS_MAX 2000000

/* Edges. */

static struct lock_edge *first_from(const struct lockorder *order, const struct awaited *held)
{
	return (struct lock_edge *)(uintptr_t)map_find(&order->edges_from, held->index);
}

static bool is_same(const struct lock_edge *a, const struct lock_edge *b)
{
	return a->held == b->held && a->wanted == b->wanted && a->thread == b->thread &&
	       a->nr_gates == b->nr_gates &&
	       memcmp(a->gate, b->gate, a->nr_gates * sizeof(a->gate[0])) == 0;
}

static uint64_t hash_of(const struct lock_edge *edge)
{
	uint64_t hash = edge->held->index;

	hash = hash * 1099511628211u ^ edge->wanted->index;
	hash = hash * 1099511628211u ^ edge->thread->index;
	for (unsigned int i = 0; i < edge->nr_gates; i++)
		hash = hash * 1099511628211u ^ edge->gate[i]->index;
	return hash;
}

static uint64_t key_of_hold(const struct waiter *thread, const struct awaited *held)
{
	return (uint64_t)thread->index << 32 | (uint32_t)held->index;
}

/*
 * Count the edge `added` for the current hold of its first lock.  `is` is the entry of the table for all edges that are
 * equal to it.
 */
static void add_to_hold(struct lockorder *order, struct lock_edge *is,
			const struct lock_edge *added)
{
	uint64_t *of_hold;

	if (is->nr_of_hold++ > 0)
		return;
	if (is->nr == 0) {
		is->held_ns = added->held_ns;
		is->wanted_ns = added->wanted_ns;
		is->held_at = added->held_at;
		is->wanted_at = added->wanted_at;
	}
	of_hold = map_get(&order->edges_of_hold, key_of_hold(is->thread, is->held));
	is->next_of_hold = (struct lock_edge *)(uintptr_t)*of_hold;
	*of_hold = (uintptr_t)is;
}

static void add_edge(struct lockorder *order, const struct lock_edge *edge)
{
	uint64_t *alike = map_get(&order->edge_of, hash_of(edge));
	struct lock_edge *made;
	uint64_t *from;

	for (struct lock_edge *at = (struct lock_edge *)(uintptr_t)*alike; at; at = at->alike) {
		if (is_same(at, edge)) {
			add_to_hold(order, at, edge);
			return;
		}
	}
	made = must(malloc(sizeof(*made)));
	*made = *edge;
	add_to_hold(order, made, edge);
	made->alike = (struct lock_edge *)(uintptr_t)*alike;
	*alike = (uintptr_t)made;
	from = map_get(&order->edges_from, edge->held->index);
	made->next = (struct lock_edge *)(uintptr_t)*from;
	*from = (uintptr_t)made;
	order->nr_edges++;
}

/* Add another held lock to the edge.  The list is sorted by index, so that equal sets give equal lists. */
static void add_gate(struct lock_edge *edge, const struct awaited *gate)
{
	unsigned int i;

	if (edge->nr_gates == LOCKORDER_GATES)
		return;
	for (i = edge->nr_gates++; i > 0 && edge->gate[i - 1]->index > gate->index; i--)
		edge->gate[i] = edge->gate[i - 1];
	edge->gate[i] = gate;
}

void lockorder_add(struct lockorder *order, const struct waiter *thread,
		   const struct awaited *wanted, int64_t at_ns, uint64_t address)
{
	if (!wanted->is_ordered || waits_hold(thread, wanted))
		return;
	for (const struct hold *hold = thread->holds; hold; hold = hold->next_of_thread) {
		struct lock_edge edge = {.held = hold->object,
					 .wanted = wanted,
					 .thread = thread,
					 .held_ns = hold->since_ns,
					 .wanted_ns = at_ns,
					 .held_at = hold->address,
					 .wanted_at = address};

		if (!hold->object->is_ordered)
			continue;
		/*
		 * A thread that holds a shared lock for reading does not exclude other readers.  So such a hold is not
		 * a gate.
		 */
		for (const struct hold *at = thread->holds; at; at = at->next_of_thread)
			if (at != hold && at->object->is_ordered && !at->is_shared)
				add_gate(&edge, at->object);
		add_edge(order, &edge);
	}
}

/* Return the edges of a hold, and forget that they belong to it. */
static struct lock_edge *take_edges(struct lockorder *order, const struct hold *hold)
{
	const uint64_t key = key_of_hold(hold->thread, hold->object);
	struct lock_edge *first = (struct lock_edge *)(uintptr_t)map_find(&order->edges_of_hold,
									  key);

	if (first)
		*map_get(&order->edges_of_hold, key) = 0;
	return first;
}

void lockorder_confirm(struct lockorder *order, const struct hold *hold)
{
	for (struct lock_edge *at = take_edges(order, hold); at; at = at->next_of_hold) {
		at->nr += at->nr_of_hold;
		at->nr_of_hold = 0;
	}
}

void lockorder_refute(struct lockorder *order, const struct hold *hold, bool is_waiting_sure)
{
	for (struct lock_edge *at = take_edges(order, hold); at; at = at->next_of_hold) {
		if (is_waiting_sure && at->thread->waits && at->thread->wait.object == at->wanted)
			at->nr++;
		at->nr_of_hold = 0;
	}
}

/* Cycles. */

static const struct awaited *common_gate(const struct lock_edge *a, const struct lock_edge *b)
{
	for (unsigned int i = 0; i < a->nr_gates; i++)
		for (unsigned int j = 0; j < b->nr_gates; j++)
			if (a->gate[i] == b->gate[j])
				return a->gate[i];
	return NULL;
}

static bool same_locks(const struct lock_cycle *a, const struct lock_cycle *b)
{
	if (a->nr_edges != b->nr_edges)
		return false;
	for (unsigned int i = 0; i < a->nr_edges; i++)
		if (a->edge[i]->held != b->edge[i]->held)
			return false;
	return true;
}

static void keep_cycle(struct lockorder *order, struct lock_cycle *cycle)
{
	cycle->gate = NULL;
	for (unsigned int i = 0; i < cycle->nr_edges; i++)
		for (unsigned int j = 0; j < i && !cycle->gate; j++)
			cycle->gate = common_gate(cycle->edge[i], cycle->edge[j]);
	for (size_t i = 0; i < order->nr_cycles; i++) {
		if (!same_locks(&order->cycle[i], cycle))
			continue;
		if (order->cycle[i].gate && !cycle->gate)
			order->cycle[i] = *cycle;
		return;
	}
	if (order->nr_cycles == LOCKORDER_CYCLES)
		order->is_cut = true;
	else
		order->cycle[order->nr_cycles++] = *cycle;
}

/* Return true if the path already has an edge of the same thread, or an edge with the same wanted lock. */
static bool is_on_way(const struct lock_cycle *way, const struct lock_edge *edge)
{
	for (unsigned int i = 0; i < way->nr_edges; i++)
		if (way->edge[i]->thread == edge->thread || way->edge[i]->wanted == edge->wanted)
			return true;
	return false;
}

/*
 * Follow all edges from a lock.  The search finds each cycle only once: it finds a cycle from the lock with the lowest
 * index in the cycle.
 */
static void follow(struct lockorder *order, struct lock_cycle *way, const struct awaited *from,
		   const struct awaited *first)
{
	for (const struct lock_edge *at = first_from(order, from); at; at = at->next) {
		if (order->nr_steps++ > STEPS_MAX) {
			order->is_cut = true;
			return;
		}
		if (at->nr == 0 || at->wanted->index < first->index || is_on_way(way, at))
			continue;
		way->edge[way->nr_edges++] = at;
		if (at->wanted == first)
			keep_cycle(order, way);
		else if (way->nr_edges < LOCKORDER_LENGTH)
			follow(order, way, at->wanted, first);
		way->nr_edges--;
	}
}

void lockorder_search(struct lockorder *order, const struct waits *waits)
{
	for (const struct awaited *at = waits->first_awaited; at; at = at->next) {
		struct lock_cycle way = {.nr_edges = 0};

		if (first_from(order, at))
			follow(order, &way, at, at);
	}
}

static void free_edges(struct lock_edge *edge)
{
	while (edge) {
		struct lock_edge *next = edge->next;

		free(edge);
		edge = next;
	}
}

void lockorder_free(struct lockorder *order)
{
	for (size_t i = 0; i < order->edges_from.nr_places; i++)
		free_edges((struct lock_edge *)(uintptr_t)order->edges_from.place[i].value);
	map_free(&order->edges_from);
	map_free(&order->edge_of);
	map_free(&order->edges_of_hold);
}
