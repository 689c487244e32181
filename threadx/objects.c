/* SPDX-License-Identifier: MIT */
/* A hash table with linear probing.  An unregistered object keeps its place until the place is needed. */
#include "objects.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "base/atomic.h"
#include "lock.h"

#define FIRST_BITS 10
#define FIRST_HANDLE 0x00010001u
#define LAST_HANDLE 0xF0F0F0EEu /* above are words with a meaning, such as 0xFFFFFFFF */

struct table {
	unsigned int bits;
	struct px_tx_object object[];
};

static struct table *table;
static uint32_t version; /* odd: objects move */
static uint32_t next_handle = FIRST_HANDLE;
static size_t nr_used, nr_live; /* places, and those of live objects */

static size_t size_of(unsigned int bits)
{
	return sizeof(struct table) + (sizeof(struct px_tx_object) << bits);
}

static size_t first_place(uintptr_t address, unsigned int bits)
{
	return (size_t)((uint64_t)address * UINT64_C(0x9E3779B97F4A7C15) >> (64 - bits));
}

/* Return the place of the address, or the unused place where the search ends. */
static struct px_tx_object *place_of(struct table *in, uintptr_t address)
{
	size_t mask = ((size_t)1 << in->bits) - 1;
	size_t i = first_place(address, in->bits);
	uintptr_t here;

	while ((here = px_load_acquire(&in->object[i].address)) != 0 && here != address)
		i = (i + 1) & mask;
	return &in->object[i];
}

/* In the place that a moving object leaves, the search of a reader may not end: it looks at each place once. */
static uint32_t search(struct table *in, uintptr_t address)
{
	size_t mask = ((size_t)1 << in->bits) - 1;
	size_t i = first_place(address, in->bits);
	uintptr_t here;

	for (size_t n = 0; n <= mask && (here = px_load_acquire(&in->object[i].address)) != 0; n++) {
		if (here == address)
			return px_load_acquire(&in->object[i].handle);
		i = (i + 1) & mask;
	}
	return 0;
}

uint32_t px_tx_objects_find(uintptr_t address)
{
	uint32_t before, handle;
	struct table *in;

	/* A handler that interrupted the holder of the lock must not wait for it. */
	for (;;) {
		before = px_load_acquire(&version);
		in = px_load_acquire(&table);
		if (!in || address == 0)
			return 0;
		handle = search(in, address);
		px_read_fence();
		if (px_likely((before & 1) == 0 && px_read_once(&version) == before))
			return handle;
		if (px_read_once(&px_tx_self.state) == PX_TX_INSIDE)
			return 0;
	}
}

uint32_t px_tx_objects_word(uintptr_t address)
{
	uint32_t word = px_tx_objects_find(address);

	if (word != 0 || address == 0)
		return word;
	word = (uint32_t)address;
	if ((word & 1) != 0 && word >= FIRST_HANDLE && word < px_read_once(&next_handle))
		word &= ~1u;
	return word != 0 ? word : 2; /* 0 says that there is no object */
}

struct px_tx_object *px_tx_objects_get(uintptr_t address)
{
	struct px_tx_object *object = table ? place_of(table, address) : NULL;

	return object && object->address != 0 ? object : NULL;
}

static struct table *map_table(unsigned int bits)
{
	struct table *new = mmap(NULL, size_of(bits), PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	if (new == MAP_FAILED)
		return NULL;
	new->bits = bits;
	return new;
}

static void put(struct table *to, const struct px_tx_object *object)
{
	struct px_tx_object *place = place_of(to, object->address);
	uintptr_t address = object->address;

	px_write_once(&place->handle, object->handle);
	place->type = object->type;
	place->is_live = object->is_live;
	place->has_priority = object->has_priority;
	place->priority = object->priority;
	memcpy(place->parameter, object->parameter, sizeof(place->parameter));
	memcpy(place->name, object->name, sizeof(place->name));
	px_store_release(&place->address, address);
}

static void put_live(struct table *to, const struct table *from)
{
	nr_used = 0;
	for (size_t i = 0; i < (size_t)1 << from->bits; i++) {
		if (from->object[i].address == 0 || !from->object[i].is_live)
			continue;
		put(to, &from->object[i]);
		nr_used++;
	}
}

/*
 * Make room for one more object.  Threads may read the old table, so it remains: all old tables together are smaller
 * than the new one.  If at most half of the places have live objects, the table keeps its size and forgets the others.
 */
static bool make_room(void)
{
	unsigned int bits = table ? table->bits : FIRST_BITS;
	struct table *copy;

	if (table && nr_used < ((size_t)3 << bits) / 4)
		return true;
	if (table && nr_live > ((size_t)1 << bits) / 2)
		bits++;
	if (!(copy = map_table(bits)))
		return table && nr_used < ((size_t)1 << table->bits) - 1;
	if (table)
		put_live(copy, table);
	if (!table || bits != table->bits) {
		px_store_release(&table, copy);
		return true;
	}
	px_write_once(&version, version + 1);
	px_full_fence();
	for (size_t i = 0; i < (size_t)1 << bits; i++)
		px_write_once(&table->object[i].address, 0);
	put_live(table, copy);
	px_store_release(&version, version + 1);
	munmap(copy, size_of(bits));
	return true;
}

static uint32_t new_handle(void)
{
	uint32_t handle = next_handle;

	if (handle > LAST_HANDLE)
		return 0;
	px_write_once(&next_handle, handle + 2);
	return handle;
}

struct px_tx_object *px_tx_objects_add(uintptr_t address, uint8_t type, const char *name, const uint32_t parameter[2])
{
	struct px_tx_object *object;
	uint32_t handle;

	if (address == 0 || !make_room())
		return NULL;
	object = place_of(table, address);
	if (object->address == 0 || !object->is_live) {
		if (!(handle = new_handle()))
			return NULL;
		nr_live++;
		object->has_priority = false;
		px_store_release(&object->handle, handle);
	}
	object->type = type;
	object->is_live = true;
	memcpy(object->parameter, parameter, sizeof(object->parameter));
	memset(object->name, 0, sizeof(object->name));
	for (size_t i = 0; name && i < PX_TX_NAME_SIZE - 1 && name[i]; i++)
		object->name[i] = name[i];
	if (object->address == 0) {
		nr_used++;
		px_store_release(&object->address, address);
	}
	return object;
}

void px_tx_objects_remove(struct px_tx_object *object)
{
	nr_live -= object->is_live;
	object->is_live = false;
}

/* The types in ThreadX's order: threads, timers, event flags, queues, semaphores, mutexes, pools, and all others. */
static const uint8_t order[] = {1, 2, 6, 3, 4, 5, 7, 8};

static unsigned int rank_of(uint8_t type)
{
	unsigned int rank = 0;

	while (rank < PX_ARRAY_SIZE(order) && order[rank] != type)
		rank++;
	return rank;
}

/* Handles rise in the order of registration. */
static int compare(const void *a, const void *b)
{
	const struct px_tx_object *left = *(struct px_tx_object *const *)a, *right = *(struct px_tx_object *const *)b;
	unsigned int rank_left = rank_of(left->type), rank_right = rank_of(right->type);

	if (rank_left != rank_right)
		return rank_left < rank_right ? -1 : 1;
	return left->handle < right->handle ? -1 : left->handle > right->handle;
}

int px_tx_objects_each(void (*visit)(const struct px_tx_object *object))
{
	size_t nr = 0, size = nr_live * sizeof(struct px_tx_object *);
	const struct px_tx_object **sorted;

	if (nr_live == 0)
		return 0;
	sorted = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (sorted == MAP_FAILED)
		return ENOMEM;
	for (size_t i = 0; i < (size_t)1 << table->bits && nr < nr_live; i++)
		if (table->object[i].address != 0 && table->object[i].is_live)
			sorted[nr++] = &table->object[i];
	qsort(sorted, nr, sizeof(*sorted), compare);
	for (size_t i = 0; i < nr; i++)
		visit(sorted[i]);
	munmap(sorted, size);
	return 0;
}
