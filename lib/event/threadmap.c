/* SPDX-License-Identifier: MIT */
#include "event/threadmap.h"

#include <stdlib.h>

#define SIZE_FIRST 256
#define PASSED_MAX 64 /* a new thread skips at most this many first threads of processes */

/* The keys by which the map finds a thread. */
enum key { BY_HANDLE, BY_TID, NR_KEYS };

struct entry {
	struct px_object object;
	uint32_t next[NR_KEYS]; /* index + 1 of the next entry in the bucket; 0: none */
};

struct px_threadmap {
	const struct px_threads *threads;
	uint64_t seen; /* serial of the next thread to collect */
	uint32_t count, size;
	uint32_t oldest; /* when the map is full: index of the next entry to replace */
	struct entry *entry;
	uint32_t *bucket
		[NR_KEYS]; /* each has `size` buckets: index + 1 of the first entry; 0: none */
};

struct px_threadmap *px_threadmap_make(const struct px_threads *threads)
{
	struct px_threadmap *made = calloc(1, sizeof(*made));

	if (made)
		made->threads = threads;
	return made;
}

void px_threadmap_free(struct px_threadmap *map)
{
	if (!map)
		return;
	free(map->entry);
	free(map->bucket[BY_HANDLE]);
	free(map->bucket[BY_TID]);
	free(map);
}

static uint32_t *bucket_of(const struct px_threadmap *map, enum key key, uint32_t handle,
			   uint32_t pid, uint32_t tid)
{
	uint64_t value = key == BY_HANDLE ? handle : (uint64_t)pid << 32 | tid;

	return &map->bucket[key][(value * UINT64_C(0x9E3779B97F4A7C15) >> 32) % map->size];
}

static uint32_t *bucket_of_entry(const struct px_threadmap *map, enum key key,
				 const struct entry *entry)
{
	return bucket_of(map, key, entry->object.handle, entry->object.pid, entry->object.tid);
}

static void link_entry(struct px_threadmap *map, uint32_t i)
{
	for (enum key key = 0; key < NR_KEYS; key++) {
		uint32_t *first = bucket_of_entry(map, key, &map->entry[i]);

		map->entry[i].next[key] = *first;
		*first = i + 1;
	}
}

static void unlink_entry(struct px_threadmap *map, uint32_t i)
{
	for (enum key key = 0; key < NR_KEYS; key++) {
		uint32_t *from = bucket_of_entry(map, key, &map->entry[i]);

		while (*from != i + 1)
			from = &map->entry[*from - 1].next[key];
		*from = map->entry[i].next[key];
	}
}

/* Return the index + 1 of the entry with this handle; 0: none. */
static uint32_t find(const struct px_threadmap *map, uint32_t handle)
{
	uint32_t i = map->size ? *bucket_of(map, BY_HANDLE, handle, 0, 0) : 0;

	while (i && map->entry[i - 1].object.handle != handle)
		i = map->entry[i - 1].next[BY_HANDLE];
	return i;
}

/* Make room for one more entry.  Return false if there is no memory. */
static bool grow(struct px_threadmap *map)
{
	uint32_t size = map->size ? 2 * map->size : SIZE_FIRST;
	uint32_t *bucket[NR_KEYS];
	struct entry *entry;

	if (map->count < map->size || map->size == PX_THREADMAP_MAX)
		return true;
	entry = realloc(map->entry, size * sizeof(*entry));
	if (!entry)
		return false;
	map->entry = entry;
	for (enum key key = 0; key < NR_KEYS; key++)
		bucket[key] = calloc(size, sizeof(*bucket[key]));
	if (!bucket[BY_HANDLE] || !bucket[BY_TID]) {
		free(bucket[BY_HANDLE]);
		free(bucket[BY_TID]);
		return false;
	}
	for (enum key key = 0; key < NR_KEYS; key++) {
		free(map->bucket[key]);
		map->bucket[key] = bucket[key];
	}
	map->size = size;
	for (uint32_t i = 0; i < map->count; i++)
		link_entry(map, i);
	return true;
}

static bool is_first_thread(const struct px_object *object)
{
	return object->pid != 0 && object->tid == object->pid;
}

/* Return the index of an entry for a new thread.  The entry is in no bucket. */
static uint32_t take_entry(struct px_threadmap *map)
{
	uint32_t i;

	if (map->count < map->size)
		return map->count++;
	for (int passed = 0;
	     passed < PASSED_MAX && is_first_thread(&map->entry[map->oldest].object); passed++)
		map->oldest = (map->oldest + 1) % map->size;
	i = map->oldest;
	map->oldest = (i + 1) % map->size;
	unlink_entry(map, i);
	return i;
}

/* Return false if there is no memory. */
static bool add(struct px_threadmap *map, const struct px_object *object)
{
	uint32_t i = find(map, object->handle);

	if (i) {
		unlink_entry(map, --i);
	} else {
		if (!grow(map))
			return false;
		i = take_entry(map);
	}
	map->entry[i].object = *object;
	link_entry(map, i);
	return true;
}

/* A thread that is adding itself is not ready yet.  Then a later call looks at it, and at those after it, again. */
void px_threadmap_collect(struct px_threadmap *map)
{
	uint64_t next = px_load_acquire(&map->threads->next);
	bool has_passed = false;
	struct px_object object;

	if (next - map->seen > PX_THREADS_MAX)
		map->seen = next - PX_THREADS_MAX;
	for (uint64_t serial = map->seen; serial < next; serial++) {
		if (px_threads_get(map->threads, serial, &object)) {
			if (!add(map, &object))
				return;
		} else {
			has_passed = true;
		}
		if (!has_passed)
			map->seen = serial + 1;
	}
}

void px_threadmap_add(struct px_threadmap *map, const struct px_object *object)
{
	if (!find(map, object->handle))
		add(map, object);
}

bool px_threadmap_find(const struct px_threadmap *map, uint32_t handle, struct px_object *object)
{
	uint32_t i = find(map, handle);

	if (!i)
		return px_threads_find(map->threads, handle, object);
	*object = map->entry[i - 1].object;
	return true;
}

uint32_t px_threadmap_find_tid(const struct px_threadmap *map, uint32_t pid, uint32_t tid)
{
	uint64_t next = px_load_acquire(&map->threads->next);
	uint64_t oldest = next - map->seen > PX_THREADS_MAX ? next - PX_THREADS_MAX : map->seen;
	uint32_t i = map->size ? *bucket_of(map, BY_TID, 0, pid, tid) : 0;
	struct px_object object;

	/* Threads that are not collected yet are newer than those in the map. */
	for (uint64_t serial = next; serial-- > oldest;)
		if (px_threads_get(map->threads, serial, &object) &&
		    object.type == PX_TXTB_THREAD && object.pid == pid && object.tid == tid)
			return object.handle;
	while (i && (map->entry[i - 1].object.pid != pid || map->entry[i - 1].object.tid != tid))
		i = map->entry[i - 1].next[BY_TID];
	return i ? map->entry[i - 1].object.handle : 0;
}
