/* SPDX-License-Identifier: MIT */
#include "calls/objects.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/modules.h"

#define KEYS_MAX (4 * PX_THINGS_MAX)
#define BUCKETS 16384
#define NAME_BITS 18
#define NAME_BYTES_MAX 59

struct node {
	struct px_key key;
	uint32_t thing; /* index + 1, like the others */
	uint32_t next;	/* of the bucket, or of those that are free */
	uint32_t next_of_thing;
};

/* What was never used is zero, and takes no memory. */
struct px_things {
	uint32_t serial;
	uint32_t nr_things, nr_keys; /* ever used */
	uint32_t free_things, free_keys;
	uint32_t newest, oldest;
	const struct px_namer *namer;
	uint64_t names[(1 << NAME_BITS) / 64]; /* hashes of names that are taken */
	uint32_t key_bucket[BUCKETS], handle_bucket[BUCKETS];
	struct px_thing thing[PX_THINGS_MAX];
	struct node key[KEYS_MAX];
};

struct px_things *px_things_make(void)
{
	return calloc(1, sizeof(struct px_things));
}

void px_things_free(struct px_things *things)
{
	free(things);
}

void px_things_set_namer(struct px_things *things, const struct px_namer *namer)
{
	things->namer = namer;
}

uint32_t px_things_serial(const struct px_things *things)
{
	return things->serial;
}

void px_things_set_serial(struct px_things *things, uint32_t serial)
{
	things->serial = serial;
}

/* Tables. */

static uint32_t mix(uint64_t value)
{
	return (uint32_t)(value * UINT64_C(0x9e3779b97f4a7c15) >> 40);
}

static uint32_t *bucket_of_key(struct px_things *things, const struct px_key *key)
{
	uint64_t rest = (uint64_t)key->pid << 32 | key->space;

	return &things->key_bucket[mix(key->value + rest * 31) % BUCKETS];
}

static uint32_t *bucket_of_handle(struct px_things *things, uint32_t handle)
{
	return &things->handle_bucket[mix(handle) % BUCKETS];
}

static bool is_same(const struct px_key *a, const struct px_key *b)
{
	return a->value == b->value && a->pid == b->pid && a->space == b->space;
}

static uint32_t index_of(const struct px_things *things, const struct px_thing *thing)
{
	return (uint32_t)(thing - things->thing) + 1;
}

/* Take index out of a list that is linked through NEXT(things, i). */
#define NEXT_OF_BUCKET(things, i) ((things)->key[(i)-1].next)
#define NEXT_OF_THING(things, i) ((things)->key[(i)-1].next_of_thing)
#define NEXT_OF_HANDLE(things, i) ((things)->thing[(i)-1].next_of_handle)
#define UNLINK(things, first, index, NEXT)                                                         \
	do {                                                                                       \
		uint32_t *from_ = (first);                                                         \
		while (*from_ != 0 && *from_ != (index))                                           \
			from_ = &NEXT(things, *from_);                                             \
		if (*from_ != 0)                                                                   \
			*from_ = NEXT(things, *from_);                                             \
	} while (0)

/* The order of use. */

static void leave_order(struct px_things *things, struct px_thing *thing)
{
	if (thing->newer)
		things->thing[thing->newer - 1].older = thing->older;
	else
		things->newest = thing->older;
	if (thing->older)
		things->thing[thing->older - 1].newer = thing->newer;
	else
		things->oldest = thing->newer;
}

static void enter_order(struct px_things *things, struct px_thing *thing)
{
	uint32_t index = index_of(things, thing);

	thing->newer = 0;
	thing->older = things->newest;
	if (things->newest)
		things->thing[things->newest - 1].newer = index;
	else
		things->oldest = index;
	things->newest = index;
}

static struct px_thing *use(struct px_things *things, struct px_thing *thing)
{
	if (thing->newer) {
		leave_order(things, thing);
		enter_order(things, thing);
	}
	return thing;
}

/* Keys and objects. */

static uint32_t find_key(struct px_things *things, const struct px_key *key)
{
	uint32_t i = *bucket_of_key(things, key);

	while (i && !is_same(&things->key[i - 1].key, key))
		i = NEXT_OF_BUCKET(things, i);
	return i;
}

struct px_thing *px_things_at(struct px_things *things, const struct px_key *key)
{
	uint32_t i = find_key(things, key);

	return i ? use(things, &things->thing[things->key[i - 1].thing - 1]) : NULL;
}

const struct px_thing *px_things_look(const struct px_things *things, uint32_t handle)
{
	uint32_t i = *bucket_of_handle((struct px_things *)things, handle);

	while (i && things->thing[i - 1].object.handle != handle)
		i = NEXT_OF_HANDLE(things, i);
	return i ? &things->thing[i - 1] : NULL;
}

struct px_thing *px_things_of(struct px_things *things, uint32_t handle)
{
	const struct px_thing *found = handle ? px_things_look(things, handle) : NULL;

	return found ? use(things, (struct px_thing *)found) : NULL;
}

static void forget(struct px_things *things, struct px_thing *thing)
{
	uint32_t index = index_of(things, thing);

	if (thing->object.handle)
		UNLINK(things, bucket_of_handle(things, thing->object.handle), index,
		       NEXT_OF_HANDLE);
	leave_order(things, thing);
	thing->next_of_handle = things->free_things;
	things->free_things = index;
}

static void drop_key(struct px_things *things, uint32_t i)
{
	struct node *node = &things->key[i - 1];
	struct px_thing *thing = &things->thing[node->thing - 1];

	UNLINK(things, bucket_of_key(things, &node->key), i, NEXT_OF_BUCKET);
	UNLINK(things, &thing->first_key, i, NEXT_OF_THING);
	node->next = things->free_keys;
	things->free_keys = i;
}

static void forget_oldest(struct px_things *things)
{
	struct px_thing *thing = &things->thing[things->oldest - 1];

	while (thing->first_key)
		drop_key(things, thing->first_key);
	forget(things, thing);
}

void px_things_unbind(struct px_things *things, const struct px_key *key)
{
	uint32_t i = find_key(things, key);
	struct px_thing *thing;

	if (!i)
		return;
	thing = &things->thing[things->key[i - 1].thing - 1];
	drop_key(things, i);
	if (!thing->first_key)
		forget(things, thing);
}

/* Every object has a few keys; only dup() can use them up, and then the oldest objects go with theirs. */
void px_things_bind(struct px_things *things, const struct px_key *key, struct px_thing *thing)
{
	uint32_t i = find_key(things, key);
	struct node *node;

	if (i && things->key[i - 1].thing == index_of(things, thing))
		return;
	px_things_unbind(things, key);
	while (!things->free_keys && things->nr_keys == KEYS_MAX) {
		if (things->oldest == index_of(things, thing))
			return;
		forget_oldest(things);
	}
	i = things->free_keys;
	if (i)
		things->free_keys = NEXT_OF_BUCKET(things, i);
	else
		i = ++things->nr_keys;
	node = &things->key[i - 1];
	*node = (struct node){.key = *key,
			      .thing = index_of(things, thing),
			      .next = *bucket_of_key(things, key),
			      .next_of_thing = thing->first_key};
	*bucket_of_key(things, key) = thing->first_key = i;
}

struct px_thing *px_things_add(struct px_things *things, enum px_txtb_object_type type,
			       uint32_t handle)
{
	struct px_thing *thing;
	uint32_t *bucket;

	if (!things->free_things && things->nr_things == PX_THINGS_MAX)
		forget_oldest(things);
	if (things->free_things) {
		thing = &things->thing[things->free_things - 1];
		things->free_things = thing->next_of_handle;
	} else {
		thing = &things->thing[things->nr_things++];
	}
	memset(thing, 0, sizeof(*thing));
	if (type != PX_TXTB_UNUSED && handle == 0) {
		things->serial = things->serial % 0xFFFFFF + 1;
		handle = px_txtb_handle(type, things->serial);
	}
	thing->object.type = type;
	thing->object.handle = handle;
	if (handle) {
		bucket = bucket_of_handle(things, handle);
		thing->next_of_handle = *bucket;
		*bucket = index_of(things, thing);
	}
	enter_order(things, thing);
	return thing;
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
	case PX_TXTB_TCP_SOCKET:
		return "TCP socket";
	case PX_TXTB_UDP_SOCKET:
		return "UDP socket";
	default:
		return "object";
	}
}

/* As the viewer sees it: two names that only it takes for the same are the same. */
static uint32_t hash_name(const char *name)
{
	struct px_txtb_object shown;
	uint64_t hash = UINT64_C(0xcbf29ce484222325);

	px_txtb_object_init(&shown, PX_TXTB_UNUSED, 0, 0, name);
	for (size_t i = 0; i < sizeof(shown.name) && shown.name[i]; i++)
		hash = (hash ^ (unsigned char)shown.name[i]) * UINT64_C(0x100000001b3);
	return (uint32_t)(hash ^ hash >> 32) & ((1 << NAME_BITS) - 1);
}

static bool is_taken(const struct px_things *things, const char *name)
{
	uint32_t hash = hash_name(name);

	return things->names[hash / 64] >> hash % 64 & 1;
}

void px_things_note_name(struct px_things *things, const char *name)
{
	uint32_t hash = hash_name(name);

	things->names[hash / 64] |= UINT64_C(1) << hash % 64;
}

/* The end of a path tells more than its beginning. */
static void cut(const char *text, size_t length, size_t room, char *to)
{
	if (length <= room) {
		memcpy(to, text, length);
		to[length] = '\0';
	} else if (text[0] == '/') {
		sprintf(to, "...%.*s", (int)(room - 3), text + length - (room - 3));
	} else {
		sprintf(to, "%.*s", (int)room, text);
	}
}

/* A name that was taken once, of an object that may be gone, gets the serial of this one behind it. */
void px_things_name(struct px_things *things, struct px_thing *thing, const char *text,
		    size_t length)
{
	char *name = thing->object.name;
	char suffix[16];

	snprintf(suffix, sizeof(suffix),
		 thing->object.type == PX_TXTB_THREAD && thing->object.tid ? " %u" : " #%u",
		 thing->object.type == PX_TXTB_THREAD && thing->object.tid ?
			 thing->object.tid :
			 thing->object.handle & 0xFFFFFF);
	cut(text, length, NAME_BYTES_MAX, name);
	if (thing->object.type == PX_TXTB_THREAD || is_taken(things, name)) {
		cut(text, length, NAME_BYTES_MAX - strlen(suffix), name);
		strcat(name, suffix);
	}
	px_things_note_name(things, name);
}

static bool is_own(const struct px_thing *thing)
{
	return thing->object.pid == (uint32_t)getpid();
}

void px_things_name_by_address(struct px_things *things, struct px_thing *thing)
{
	char text[2 * PX_OBJECT_NAME_SIZE], place[PX_OBJECT_NAME_SIZE];
	const char *word = word_for(thing->object.type);

	text[0] = '\0';
	if (things->namer &&
	    things->namer->call(things->namer, thing, text, PX_OBJECT_NAME_SIZE) == 0) {
		text[PX_OBJECT_NAME_SIZE - 1] = '\0';
		px_things_name(things, thing, text, strlen(text));
		return;
	}
	if (thing->object.type == PX_TXTB_BYTE_POOL)
		snprintf(text, sizeof(text), "heap %u", thing->object.pid);
	else if (px_things_is_descriptor(thing))
		snprintf(text, sizeof(text), "%s fd %d", word, (int)thing->address);
	else if (is_own(thing) && (px_modules_find(thing->address, place, sizeof(place)) ||
				   px_modules_find(thing->site, place, sizeof(place))))
		snprintf(text, sizeof(text), "%s %s", word, place);
	else
		snprintf(text, sizeof(text), "%s 0x%llx", word, (unsigned long long)thing->address);
	px_things_name(things, thing, text, strlen(text));
}
