/* SPDX-License-Identifier: MIT */
#include "calls/objects.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/modules.h"
#include "base/program.h"

#define KEYS_MAX (4 * PX_CALL_OBJECTS_MAX)
#define BUCKETS 16384
#define PID_BUCKETS 4096
#define NAME_BITS 18
#define NAME_BYTES_MAX 59

struct node {
	struct px_key key;
	struct px_key_state state;
	uint64_t bound_at;
	/* Index of the object + 1; the links are also an index + 1. */
	uint32_t object;
	uint32_t next;	/* next key in the bucket, or in the free list */
	uint32_t next_of_object, previous_of_object;
	uint32_t newer_of_pid, older_of_pid; /* the other keys in the bucket of the pid */
};

/* calloc() returns pages of zeros, so the parts that are never used take no memory. */
struct px_call_objects {
	uint64_t now, ticks, nr_forgotten;
	uint64_t lost_at; /* keys of descriptors that are not newer are as good as unbound */
	uint32_t serial;
	uint32_t nr_call_objects, nr_keys; /* numbers of elements that were ever used */
	uint32_t free_objects, free_keys;
	uint32_t newest, oldest;
	const struct px_namer *namer;
	uint64_t names[(1 << NAME_BITS) / 64]; /* bit set of the hashes of names in use */
	uint32_t key_bucket[BUCKETS], handle_bucket[BUCKETS];
	uint32_t newest_of_pid[PID_BUCKETS];
	struct px_call_object object[PX_CALL_OBJECTS_MAX];
	struct node key[KEYS_MAX];
};

struct px_call_objects *px_call_objects_make(void)
{
	return calloc(1, sizeof(struct px_call_objects));
}

void px_call_objects_free(struct px_call_objects *objects)
{
	free(objects);
}

void px_call_objects_set_namer(struct px_call_objects *objects, const struct px_namer *namer)
{
	objects->namer = namer;
}

uint32_t px_call_objects_serial(const struct px_call_objects *objects)
{
	return objects->serial;
}

void px_call_objects_set_serial(struct px_call_objects *objects, uint32_t serial)
{
	objects->serial = serial;
}

/* Tables. */

static uint32_t mix(uint64_t value)
{
	return (uint32_t)(value * UINT64_C(0x9e3779b97f4a7c15) >> 40);
}

static uint32_t *bucket_of_key(struct px_call_objects *objects, const struct px_key *key)
{
	uint64_t rest = (uint64_t)key->pid << 32 | key->space;

	return &objects->key_bucket[mix(key->value + rest * 31) % BUCKETS];
}

static uint32_t *bucket_of_handle(struct px_call_objects *objects, uint32_t handle)
{
	return &objects->handle_bucket[mix(handle) % BUCKETS];
}

static bool is_same(const struct px_key *a, const struct px_key *b)
{
	return a->value == b->value && a->pid == b->pid && a->space == b->space;
}

static uint32_t index_of(const struct px_call_objects *objects, const struct px_call_object *object)
{
	return (uint32_t)(object - objects->object) + 1;
}

/*
 * Remove the element with this index from a linked list.  NEXT(objects, i) is the link from element i to the next one.
 */
#define NEXT_OF_BUCKET(objects, i) ((objects)->key[(i)-1].next)
#define NEXT_OF_HANDLE(objects, i) ((objects)->object[(i)-1].next_of_handle)
#define UNLINK(objects, first, index, NEXT)                                                        \
	do {                                                                                       \
		uint32_t *from_ = (first);                                                         \
		while (*from_ != 0 && *from_ != (index))                                           \
			from_ = &NEXT(objects, *from_);                                            \
		if (*from_ != 0)                                                                   \
			*from_ = NEXT(objects, *from_);                                            \
	} while (0)

/* The order of use. */

static void leave_order(struct px_call_objects *objects, struct px_call_object *object)
{
	if (object->newer)
		objects->object[object->newer - 1].older = object->older;
	else
		objects->newest = object->older;
	if (object->older)
		objects->object[object->older - 1].newer = object->newer;
	else
		objects->oldest = object->newer;
}

static void enter_order(struct px_call_objects *objects, struct px_call_object *object)
{
	uint32_t index = index_of(objects, object);

	object->newer = 0;
	object->older = objects->newest;
	if (objects->newest)
		objects->object[objects->newest - 1].newer = index;
	else
		objects->oldest = index;
	objects->newest = index;
}

static struct px_call_object *use(struct px_call_objects *objects, struct px_call_object *object)
{
	if (object->newer) {
		leave_order(objects, object);
		enter_order(objects, object);
	}
	return object;
}

/* Keys and objects. */

static bool is_bound(const struct px_call_objects *objects, const struct node *node)
{
	return node->key.space != PX_SPACE_FD || node->bound_at > objects->lost_at;
}

static uint32_t find_key(struct px_call_objects *objects, const struct px_key *key)
{
	uint32_t i = *bucket_of_key(objects, key);

	while (i && !(is_same(&objects->key[i - 1].key, key) && is_bound(objects, &objects->key[i - 1])))
		i = NEXT_OF_BUCKET(objects, i);
	return i;
}

struct px_call_object *px_call_objects_at(struct px_call_objects *objects, const struct px_key *key)
{
	uint32_t i = find_key(objects, key);

	return i ? use(objects, &objects->object[objects->key[i - 1].object - 1]) : NULL;
}

const struct px_call_object *px_call_objects_find(const struct px_call_objects *objects,
						  uint32_t handle)
{
	uint32_t i = *bucket_of_handle((struct px_call_objects *)objects, handle);

	while (i && objects->object[i - 1].object.handle != handle)
		i = NEXT_OF_HANDLE(objects, i);
	return i ? &objects->object[i - 1] : NULL;
}

struct px_call_object *px_call_objects_of(struct px_call_objects *objects, uint32_t handle)
{
	const struct px_call_object *found = handle ? px_call_objects_find(objects, handle) : NULL;

	return found ? use(objects, (struct px_call_object *)found) : NULL;
}

static void forget(struct px_call_objects *objects, struct px_call_object *object)
{
	uint32_t index = index_of(objects, object);

	if (object->object.handle)
		UNLINK(objects, bucket_of_handle(objects, object->object.handle), index,
		       NEXT_OF_HANDLE);
	leave_order(objects, object);
	object->next_of_handle = objects->free_objects;
	objects->free_objects = index;
}

static uint32_t *bucket_of_pid(struct px_call_objects *objects, uint32_t pid)
{
	return &objects->newest_of_pid[mix(pid) % PID_BUCKETS];
}

static void enter_pid(struct px_call_objects *objects, uint32_t i)
{
	struct node *node = &objects->key[i - 1];
	uint32_t *newest = bucket_of_pid(objects, node->key.pid);

	node->newer_of_pid = 0;
	node->older_of_pid = *newest;
	if (*newest)
		objects->key[*newest - 1].newer_of_pid = i;
	*newest = i;
}

static void leave_pid(struct px_call_objects *objects, uint32_t i)
{
	const struct node *node = &objects->key[i - 1];

	if (node->newer_of_pid)
		objects->key[node->newer_of_pid - 1].older_of_pid = node->older_of_pid;
	else
		*bucket_of_pid(objects, node->key.pid) = node->older_of_pid;
	if (node->older_of_pid)
		objects->key[node->older_of_pid - 1].newer_of_pid = node->newer_of_pid;
}

static void enter_object(struct px_call_objects *objects, uint32_t i, struct px_call_object *object)
{
	struct node *node = &objects->key[i - 1];

	node->object = index_of(objects, object);
	node->previous_of_object = 0;
	node->next_of_object = object->first_key;
	if (object->first_key)
		objects->key[object->first_key - 1].previous_of_object = i;
	object->first_key = i;
}

static void leave_object(struct px_call_objects *objects, uint32_t i)
{
	const struct node *node = &objects->key[i - 1];

	if (node->previous_of_object)
		objects->key[node->previous_of_object - 1].next_of_object = node->next_of_object;
	else
		objects->object[node->object - 1].first_key = node->next_of_object;
	if (node->next_of_object)
		objects->key[node->next_of_object - 1].previous_of_object = node->previous_of_object;
}

static void drop_key(struct px_call_objects *objects, uint32_t i)
{
	struct node *node = &objects->key[i - 1];

	leave_pid(objects, i);
	leave_object(objects, i);
	UNLINK(objects, bucket_of_key(objects, &node->key), i, NEXT_OF_BUCKET);
	node->next = objects->free_keys;
	objects->free_keys = i;
}

/* Otherwise a descriptor whose object is forgotten would be taken for that of the parent. */
static void disinherit(struct px_call_objects *objects, uint32_t pid)
{
	const struct px_key key = {.value = pid, .space = PX_SPACE_PROCESS};
	uint32_t i = find_key(objects, &key);

	if (i)
		objects->object[objects->key[i - 1].object - 1].process.inherits = false;
}

static void forget_oldest(struct px_call_objects *objects)
{
	struct px_call_object *object = &objects->object[objects->oldest - 1];

	while (object->first_key) {
		const struct px_key *key = &objects->key[object->first_key - 1].key;

		if (key->space == PX_SPACE_FD)
			disinherit(objects, key->pid);
		drop_key(objects, object->first_key);
	}
	forget(objects, object);
	objects->nr_forgotten++;
}

void px_call_objects_unbind(struct px_call_objects *objects, const struct px_key *key)
{
	uint32_t i = find_key(objects, key);
	struct px_call_object *object;

	if (!i)
		return;
	object = &objects->object[objects->key[i - 1].object - 1];
	drop_key(objects, i);
	if (!object->first_key)
		forget(objects, object);
}

/*
 * Normally each object has few keys.  Only a program that calls dup() often, or has thousands of children that inherit
 * a descriptor, can use all keys of the table.  Then forget the oldest objects with their keys.
 */
void px_call_objects_bind(struct px_call_objects *objects, const struct px_key *key,
			  struct px_call_object *object)
{
	uint32_t i = find_key(objects, key);
	struct node *node;

	if (i && objects->key[i - 1].object == index_of(objects, object))
		return;
	px_call_objects_unbind(objects, key);
	while (!objects->free_keys && objects->nr_keys == KEYS_MAX) {
		if (objects->oldest == index_of(objects, object)) {
			if (key->space == PX_SPACE_FD)
				disinherit(objects, key->pid);
			return;
		}
		forget_oldest(objects);
	}
	i = objects->free_keys;
	if (i)
		objects->free_keys = NEXT_OF_BUCKET(objects, i);
	else
		i = ++objects->nr_keys;
	node = &objects->key[i - 1];
	*node = (struct node){.key = *key,
			      .state = {.since = px_call_objects_advance(objects), .ticks = objects->ticks},
			      .bound_at = objects->now,
			      .next = *bucket_of_key(objects, key)};
	*bucket_of_key(objects, key) = i;
	enter_object(objects, i, object);
	enter_pid(objects, i);
}

struct px_key_state *px_call_objects_state(struct px_call_objects *objects, const struct px_key *key)
{
	uint32_t i = find_key(objects, key);

	return i ? &objects->key[i - 1].state : NULL;
}

/* The place is the link to the next node + 1, so 1 is the end.  The bucket has keys of other processes, too. */
const struct px_key *px_call_objects_next_key(const struct px_call_objects *objects, uint32_t pid, uint32_t *place)
{
	uint32_t i = *place ? *place - 1 : *bucket_of_pid((struct px_call_objects *)objects, pid);

	while (i && !(objects->key[i - 1].key.pid == pid && is_bound(objects, &objects->key[i - 1])))
		i = objects->key[i - 1].older_of_pid;
	if (!i)
		return NULL;
	*place = objects->key[i - 1].older_of_pid + 1;
	return &objects->key[i - 1].key;
}

uint64_t px_call_objects_now(const struct px_call_objects *objects)
{
	return objects->now;
}

uint64_t px_call_objects_advance(struct px_call_objects *objects)
{
	return ++objects->now;
}

void px_call_objects_lose_descriptors(struct px_call_objects *objects)
{
	objects->lost_at = px_call_objects_advance(objects);
}

uint64_t px_call_objects_lost_at(const struct px_call_objects *objects)
{
	return objects->lost_at;
}

void px_call_objects_set_ticks(struct px_call_objects *objects, uint64_t ticks)
{
	objects->ticks = ticks;
}

uint64_t px_call_objects_ticks(const struct px_call_objects *objects)
{
	return objects->ticks;
}

uint64_t px_call_objects_nr_forgotten(const struct px_call_objects *objects)
{
	return objects->nr_forgotten;
}

static bool is_only_one(struct px_call_objects *objects, const struct px_key *key)
{
	const struct px_namer *namer = objects->namer;
	uint32_t i = find_key(objects, key);

	return namer && namer->is_only_one &&
	       namer->is_only_one(namer, &objects->object[objects->key[i - 1].object - 1]);
}

void px_call_objects_end_program(struct px_call_objects *objects, uint32_t pid)
{
	const struct px_key *key;
	uint32_t place = 0;

	while ((key = px_call_objects_next_key(objects, pid, &place)))
		if (key->space != PX_SPACE_FD && key->space != PX_SPACE_PROCESS && !is_only_one(objects, key))
			px_call_objects_unbind(objects, key);
}

struct px_call_object *px_call_objects_add(struct px_call_objects *objects,
					   enum px_txtb_object_type type, uint32_t handle)
{
	struct px_call_object *object;
	uint32_t *bucket;

	if (!objects->free_objects && objects->nr_call_objects == PX_CALL_OBJECTS_MAX)
		forget_oldest(objects);
	if (objects->free_objects) {
		object = &objects->object[objects->free_objects - 1];
		objects->free_objects = object->next_of_handle;
	} else {
		object = &objects->object[objects->nr_call_objects++];
	}
	memset(object, 0, sizeof(*object));
	if (type != PX_TXTB_UNUSED && handle == 0) {
		objects->serial = objects->serial % 0xFFFFFF + 1;
		handle = px_txtb_handle(type, objects->serial);
	}
	object->object.type = type;
	object->object.handle = handle;
	if (handle) {
		bucket = bucket_of_handle(objects, handle);
		object->next_of_handle = *bucket;
		*bucket = index_of(objects, object);
	}
	enter_order(objects, object);
	return object;
}

/* Names. */

static const char *word_for(uint32_t type)
{
	switch (type) {
	case PX_TXTB_THREAD:
		return "thread";
	case PX_TXTB_TIMER:
		return "timer";
	case PX_TXTB_QUEUE:
		return "queue";
	case PX_TXTB_SEMAPHORE:
		return "semaphore";
	case PX_TXTB_MUTEX:
		return "mutex";
	case PX_TXTB_EVENT_FLAGS:
		return "flags";
	case PX_TXTB_BYTE_POOL:
		return "heap";
	case PX_TXTB_FILE:
		return "file";
	case PX_TXTB_TCP_SOCKET: /* any stream socket: ThreadX has only one type for them */
	case PX_TXTB_UDP_SOCKET:
		return "socket";
	default:
		return "object";
	}
}

/*
 * Hash the name as the viewer shows it.  Two names that look the same in the viewer then count as
 * equal.
 */
static uint32_t hash_name(const char *name)
{
	struct px_txtb_object image;
	uint64_t hash = UINT64_C(0xcbf29ce484222325);

	px_txtb_object_init(&image, PX_TXTB_UNUSED, 0, 0, name);
	for (size_t i = 0; i < sizeof(image.name) && image.name[i]; i++)
		hash = (hash ^ (unsigned char)image.name[i]) * UINT64_C(0x100000001b3);
	return (uint32_t)(hash ^ hash >> 32) & ((1 << NAME_BITS) - 1);
}

static bool is_taken(const struct px_call_objects *objects, const char *name)
{
	uint32_t hash = hash_name(name);

	return objects->names[hash / 64] >> hash % 64 & 1;
}

void px_call_objects_mark_name(struct px_call_objects *objects, const char *name)
{
	uint32_t hash = hash_name(name);

	objects->names[hash / 64] |= UINT64_C(1) << hash % 64;
}

static bool is_inside_character(char byte)
{
	return ((unsigned char)byte & 0xC0) == 0x80;
}

/*
 * If the text is too long, put "..." for what it loses.  Keep the end of a path, because the end is more specific than
 * the beginning.  Keep no part of a character of UTF-8.
 */
static void cut(const char *text, size_t length, size_t room, char *to)
{
	size_t kept = room - strlen("...");

	if (length <= room) {
		memcpy(to, text, length);
		to[length] = '\0';
	} else if (text[0] == '/') {
		while (kept > 0 && is_inside_character(text[length - kept]))
			kept--;
		sprintf(to, "...%.*s", (int)kept, text + length - kept);
	} else {
		while (kept > 0 && is_inside_character(text[kept]))
			kept--;
		sprintf(to, "%.*s...", (int)kept, text);
	}
}

/*
 * Append the tid to the name of a thread.  Append the serial to the name of another object if any object had this name
 * before, even if that object is destroyed.
 */
void px_call_objects_name(struct px_call_objects *objects, struct px_call_object *object,
			  const char *text, size_t length)
{
	char *name = object->object.name;
	char suffix[16];

	snprintf(suffix, sizeof(suffix),
		 object->object.type == PX_TXTB_THREAD && object->object.tid ? " %u" : " #%u",
		 object->object.type == PX_TXTB_THREAD && object->object.tid ?
			 object->object.tid :
			 object->object.handle & 0xFFFFFF);
	cut(text, length, NAME_BYTES_MAX, name);
	if (object->object.type == PX_TXTB_THREAD || is_taken(objects, name)) {
		cut(text, length, NAME_BYTES_MAX - strlen(suffix), name);
		strcat(name, suffix);
	}
	px_call_objects_mark_name(objects, name);
}

/* The process may have executed this program after the one that used the object. */
static bool is_own(const struct px_call_object *object)
{
	return object->object.pid == (uint32_t)getpid() &&
	       (object->object.program == 0 || object->object.program == px_program_number());
}

void px_call_objects_name_by_address(struct px_call_objects *objects, struct px_call_object *object)
{
	char text[2 * PX_OBJECT_NAME_SIZE], place[PX_OBJECT_NAME_SIZE];
	const char *word = word_for(object->object.type);

	text[0] = '\0';
	/* The number of a descriptor is a better name than the function that used it first. */
	if (!px_call_objects_is_descriptor(object) && objects->namer &&
	    objects->namer->call(objects->namer, object, text, PX_OBJECT_NAME_SIZE) == 0) {
		text[PX_OBJECT_NAME_SIZE - 1] = '\0';
		px_call_objects_name(objects, object, text, strlen(text));
		return;
	}
	if (object->object.type == PX_TXTB_BYTE_POOL)
		snprintf(text, sizeof(text), "heap %u", object->object.pid);
	else if (px_call_objects_is_descriptor(object))
		snprintf(text, sizeof(text), "%s fd %d", word, (int)object->address);
	else if (is_own(object) && (px_modules_find(object->address, place, sizeof(place)) ||
				    px_modules_find(object->site, place, sizeof(place))))
		snprintf(text, sizeof(text), "%s %s", word, place);
	else
		snprintf(text, sizeof(text), "%s 0x%llx", word,
			 (unsigned long long)object->address);
	px_call_objects_name(objects, object, text, strlen(text));
}
