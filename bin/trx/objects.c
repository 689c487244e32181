/* SPDX-License-Identifier: MIT */
#include "trx/objects.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"

#define LOWEST 1023 /* priority */
#define FIRST_SERIAL 0x00800000u
#define NAME_SIZE 60
#define LABEL_MAX 24
#define USUAL_NAME_SIZE 32 /* as ThreadX has it, unless a name is longer than the kernel's can be */

static uint64_t key_of(unsigned int input, uint32_t handle)
{
	return (uint64_t)input << 32 | handle;
}

/* Names. */

/* Of bytes that are not ASCII a character is one '?'. */
static void make_name(struct registry *registry, const char *from, char name[REGISTRY_NAME_MAX + 1])
{
	size_t length = 0;

	for (; *from && length < REGISTRY_NAME_MAX; from++) {
		unsigned char byte = (unsigned char)*from;

		if ((byte & 0xC0) == 0x80 && length > 0 && name[length - 1] == '?')
			continue;
		name[length++] = byte == '('		    ? '[' :
				 byte == ')'		    ? ']' :
				 byte == '_'		    ? '-' :
				 byte < 0x20 || byte > 0x7E ? '?' :
							      (char)byte;
	}
	if (length == 0)
		name[length++] = '?'; /* an empty one reads as "Non-ASCII Name" */
	name[length] = '\0';
	registry->nr_cut += *from != '\0';
}

/* text, cut if need be, and what tells it apart, which is whole. */
static void join(char name[REGISTRY_NAME_MAX + 1], const char *ahead, const char *text,
		 const char *behind)
{
	size_t begin = strlen(ahead), end = strlen(behind), middle = strlen(text);
	char joined[REGISTRY_NAME_MAX + 1];

	if (begin + end > REGISTRY_NAME_MAX)
		return;
	if (middle > REGISTRY_NAME_MAX - begin - end)
		middle = REGISTRY_NAME_MAX - begin - end;
	memcpy(joined, ahead, begin);
	memcpy(joined + begin, text, middle);
	memcpy(joined + begin + middle, behind, end + 1);
	strcpy(name, joined);
}

/* Objects. */

static bool is_free(const struct registry *registry, uint32_t handle)
{
	return handle != 0 && handle < CONTEXT_INITIALIZE &&
	       !map_find(&registry->by_handle, handle);
}

static uint32_t free_handle(struct registry *registry, int type)
{
	uint32_t handle;

	do
		handle = (uint32_t)(type & 0x7F) << 24 | (FIRST_SERIAL + registry->serial++);
	while (!is_free(registry, handle));
	return handle;
}

static struct registered *add(struct registry *registry, uint32_t handle, int type)
{
	struct registered *object;

	if (registry->nr_objects == registry->room) {
		registry->room = registry->room ? 2 * registry->room : 256;
		registry->object = must(reallocarray(registry->object, registry->room,
						     sizeof(*registry->object)));
	}
	object = &registry->object[registry->nr_objects++];
	memset(object, 0, sizeof(*object));
	object->handle = is_free(registry, handle) ? handle : free_handle(registry, type);
	object->type = type;
	*map_get(&registry->by_handle, object->handle) = registry->nr_objects;
	return object;
}

/* A thread of which more than one trace tells. */
static size_t find_thread(const struct registry *registry, const struct txtrace_object *object)
{
	size_t known;

	if (object->type != OBJECT_THREAD || object->pid == 0 || object->tid == 0)
		return 0;
	known = map_find(&registry->by_tid,
			 key_of((unsigned int)object->pid, (uint32_t)object->tid));
	return known;
}

static void add_object(struct registry *registry, unsigned int input,
		       const struct txtrace_object *is)
{
	uint64_t *known = map_get(&registry->by_input, key_of(input, is->handle));
	struct registered *object;

	if (*known)
		return; /* the first one is meant, and further volumes have it again */
	*known = find_thread(registry, is);
	if (*known && registry->object[*known - 1].input != input)
		return;
	object = add(registry, is->handle, is->type);
	object->input = input;
	object->priority = is->priority;
	object->is_released = is->released != 0;
	object->pid = is->pid;
	object->tid = is->tid;
	memcpy(object->parameter, is->parameter, sizeof(object->parameter));
	make_name(registry, is->name, object->name);
	*known = registry->nr_objects;
	if (is->type == OBJECT_THREAD && is->pid != 0 && is->tid != 0)
		*map_get(&registry->by_tid,
			 key_of((unsigned int)is->pid, (uint32_t)is->tid)) = registry->nr_objects;
}

/* Names of event types are made again for those that occur. */
void registry_add_source(struct registry *registry, unsigned int input, const struct source *source)
{
	for (size_t i = 0; i < source->nr_objects; i++) {
		const struct txtrace_object *is = &source->objects[i].is;
		const struct source_object *found = source_object(source, is->handle);

		if (is->type != OBJECT_EVENT_TYPE)
			add_object(registry, input,
				   source->file.foreign || !found ? is : &found->is);
	}
}

uint32_t registry_add(struct registry *registry, unsigned int input, uint32_t handle, int type,
		      const char *name)
{
	struct registered *object = add(registry, handle, type);

	object->input = input;
	object->priority = type == OBJECT_THREAD ? LOWEST : -1;
	make_name(registry, name, object->name);
	return object->handle;
}

uint32_t registry_find(const struct registry *registry, unsigned int input, uint32_t handle)
{
	uint64_t known = map_find(&registry->by_input, key_of(input, handle));

	return known ? registry->object[known - 1].handle : 0;
}

uint32_t registry_context(struct registry *registry, unsigned int input, uint32_t context)
{
	uint64_t known = map_find(&registry->by_input, key_of(input, context));
	uint64_t *made_up;
	char name[32];

	if (known && registry->object[known - 1].type == OBJECT_THREAD)
		return registry->object[known - 1].handle;
	/* Beside the object of this handle, which is none. */
	made_up = map_get(&registry->by_input, key_of(input, context) | UINT64_C(1) << 63);
	if (*made_up)
		return registry->object[*made_up - 1].handle;
	if (context == 0)
		snprintf(name, sizeof(name),
			 "nobody"); /* "no thread" is in logs, and they are known by it */
	else
		snprintf(name, sizeof(name), "unknown thread %x", context);
	*made_up = registry->nr_objects + 1;
	return registry_add(registry, input, context, OBJECT_THREAD, name);
}

/* Names that are told apart. */

static void tell_apart(struct registry *registry, const char *const *labels)
{
	struct map owner = {0}, clashes = {0}, taken = {0};

	for (size_t i = 0; i < registry->nr_objects; i++) {
		uint64_t name = map_hash(registry->object[i].name);
		uint64_t *first = map_get(&owner, name);

		if (*first && *first != registry->object[i].input + 1)
			*map_get(&clashes, name) = 1;
		*first = registry->object[i].input + 1;
	}
	for (size_t i = 0; i < registry->nr_objects; i++) {
		struct registered *object = &registry->object[i];
		char label[REGISTRY_NAME_MAX + 1], number[16];

		if (map_find(&clashes, map_hash(object->name))) {
			make_name(registry, labels[object->input], label);
			label[LABEL_MAX] = '\0';
			join(label, "", label, ": ");
			join(object->name, label, object->name, "");
		}
		snprintf(number, sizeof(number), " %x", object->handle);
		if (map_find(&taken, map_hash(object->name)))
			join(object->name, "", object->name, number);
		*map_get(&taken, map_hash(object->name)) = 1;
	}
	map_free(&owner);
	map_free(&clashes);
	map_free(&taken);
}

static int compare_objects(const void *a, const void *b)
{
	const struct registered *one = a, *other = b;
	bool one_is_thread = one->type == OBJECT_THREAD;
	bool other_is_thread = other->type == OBJECT_THREAD;

	/* By what is told apart, since qsort() keeps no order. */
	if (one_is_thread != other_is_thread)
		return other_is_thread - one_is_thread;
	if (one->input != other->input)
		return one->input > other->input ? 1 : -1;
	return one->handle > other->handle ? 1 : -1;
}

void registry_finish(struct registry *registry, const char *const *labels)
{
	bool has_thread = false;

	for (size_t i = 0; i < registry->nr_objects; i++)
		has_thread |= registry->object[i].type == OBJECT_THREAD;
	if (!has_thread)
		registry_context(registry, 0, 0);
	qsort(registry->object, registry->nr_objects, sizeof(*registry->object), compare_objects);
	tell_apart(registry,
		   labels); /* the first one of a name keeps it: a thread, if there is one */
}

uint32_t registry_name_size(const struct registry *registry)
{
	for (size_t i = 0; i < registry->nr_objects; i++)
		if (strlen(registry->object[i].name) >= USUAL_NAME_SIZE - 1)
			return NAME_SIZE;
	return USUAL_NAME_SIZE;
}

void registry_free(struct registry *registry)
{
	free(registry->object);
	map_free(&registry->by_input);
	map_free(&registry->by_handle);
	map_free(&registry->by_tid);
	memset(registry, 0, sizeof(*registry));
}
