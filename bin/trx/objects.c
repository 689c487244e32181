/* SPDX-License-Identifier: MIT */
#include "trx/objects.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"

#define FIRST_SERIAL 0x00800000u
#define NAME_SIZE 60
#define LABEL_MAX 24
#define USUAL_NAME_SIZE 32 /* ThreadX has names of this size; a longer name makes the size larger */

static uint64_t key_of(unsigned int input, uint32_t handle)
{
	return (uint64_t)input << 32 | handle;
}

/* Names. */

/*
 * Copy a name for TraceX.  Replace a character that is not ASCII with a single '?', even if the character has several
 * bytes.
 */
static void make_name(struct trx_objects *trx_objects, const char *from,
		      char name[TRX_OBJECTS_NAME_MAX + 1])
{
	size_t length = 0;

	for (; *from && length < TRX_OBJECTS_NAME_MAX; from++) {
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
		name[length++] = '?'; /* TraceX shows an empty name as "Non-ASCII Name" */
	name[length] = '\0';
	trx_objects->nr_cut += *from != '\0';
}

/* Set the name to prefix, text and suffix.  If they do not fit, only text is truncated. */
static void join(char name[TRX_OBJECTS_NAME_MAX + 1], const char *prefix, const char *text,
		 const char *suffix)
{
	size_t begin = strlen(prefix), end = strlen(suffix), middle = strlen(text);
	char joined[TRX_OBJECTS_NAME_MAX + 1];

	if (begin + end > TRX_OBJECTS_NAME_MAX)
		return;
	if (middle > TRX_OBJECTS_NAME_MAX - begin - end)
		middle = TRX_OBJECTS_NAME_MAX - begin - end;
	memcpy(joined, prefix, begin);
	memcpy(joined + begin, text, middle);
	memcpy(joined + begin + middle, suffix, end + 1);
	strcpy(name, joined);
}

/* Objects. */

static bool is_free(const struct trx_objects *trx_objects, uint32_t handle)
{
	return handle != 0 && handle < CONTEXT_INITIALIZE &&
	       !map_find(&trx_objects->by_handle, handle);
}

static uint32_t free_handle(struct trx_objects *trx_objects, int type)
{
	uint32_t handle;

	do
		handle = (uint32_t)(type & 0x7F) << 24 | (FIRST_SERIAL + trx_objects->serial++);
	while (!is_free(trx_objects, handle));
	return handle;
}

static struct registered *add(struct trx_objects *trx_objects, uint32_t handle, int type)
{
	struct registered *object;

	if (trx_objects->nr_objects == trx_objects->room) {
		trx_objects->room = trx_objects->room ? 2 * trx_objects->room : 256;
		trx_objects->object = must(reallocarray(trx_objects->object, trx_objects->room,
							sizeof(*trx_objects->object)));
	}
	object = &trx_objects->object[trx_objects->nr_objects++];
	memset(object, 0, sizeof(*object));
	object->handle = is_free(trx_objects, handle) ? handle : free_handle(trx_objects, type);
	object->type = type;
	*map_get(&trx_objects->by_handle, object->handle) = trx_objects->nr_objects;
	return object;
}

/* Threads of two hosts may have the same pid and tid, so the key depends on the host of the source, too. */
static uint64_t key_of_thread(const struct trx_objects *trx_objects, const struct txtrace_object *object)
{
	return key_of((unsigned int)object->pid, (uint32_t)object->tid) ^ trx_objects->host;
}

/* A thread may be in several traces: find it by host, pid and tid.  Return index + 1, or 0. */
static size_t find_thread(const struct trx_objects *trx_objects,
			  const struct txtrace_object *object)
{
	size_t known;

	if (object->type != OBJECT_THREAD || object->pid == 0 || object->tid == 0)
		return 0;
	known = map_find(&trx_objects->by_tid, key_of_thread(trx_objects, object));
	return known;
}

static void add_object(struct trx_objects *trx_objects, unsigned int input,
		       const struct txtrace_object *is)
{
	uint64_t *known = map_get(&trx_objects->by_input, key_of(input, is->handle));
	struct registered *object;

	if (*known)
		return; /* another volume of the log repeats the object: keep the first copy */
	*known = find_thread(trx_objects, is);
	if (*known && trx_objects->object[*known - 1].input != input)
		return;
	object = add(trx_objects, is->handle, is->type);
	object->input = input;
	object->priority = is->priority;
	object->is_released = is->released != 0;
	object->pid = is->pid;
	object->tid = is->tid;
	memcpy(object->parameter, is->parameter, sizeof(object->parameter));
	make_name(trx_objects, is->name, object->name);
	*known = trx_objects->nr_objects;
	if (is->type == OBJECT_THREAD && is->pid != 0 && is->tid != 0)
		*map_get(&trx_objects->by_tid, key_of_thread(trx_objects, is)) = trx_objects->nr_objects;
}

/* Return a number for the host of a trace; a trace buffer has 0. */
static uint64_t host_of(const struct source *source)
{
	struct txtrace_origin origin;
	char text[sizeof(origin.boot_id) + sizeof(origin.host_name)];

	if (source->is_live || txtrace_get_origin(source->trace, 0, &origin) != 0)
		return 0;
	snprintf(text, sizeof(text), "%s%s", origin.boot_id, origin.host_name);
	return map_hash(text);
}

/* Skip the names of event types: id_of() in trx.c adds the names of the types that occur. */
void trx_objects_add_source(struct trx_objects *trx_objects, unsigned int input,
			    const struct source *source)
{
	trx_objects->host = host_of(source);
	for (size_t i = 0; i < source->nr_objects; i++) {
		const struct txtrace_object *is = &source->objects[i];
		const struct txtrace_object *found = source_object(source, is->handle);

		if (is->type != OBJECT_EVENT_TYPE)
			add_object(trx_objects, input, source->file.foreign || !found ? is : found);
	}
}

uint32_t trx_objects_add(struct trx_objects *trx_objects, unsigned int input, uint32_t handle,
			 int type, const char *name)
{
	struct registered *object = add(trx_objects, handle, type);

	object->input = input;
	object->priority = -1;
	make_name(trx_objects, name, object->name);
	return object->handle;
}

uint32_t trx_objects_find(const struct trx_objects *trx_objects, unsigned int input,
			  uint32_t handle)
{
	uint64_t known = map_find(&trx_objects->by_input, key_of(input, handle));

	return known ? trx_objects->object[known - 1].handle : 0;
}

uint32_t trx_objects_context(struct trx_objects *trx_objects, unsigned int input, uint32_t context)
{
	uint64_t known = map_find(&trx_objects->by_input, key_of(input, context));
	uint64_t *made_up;
	char name[32];

	if (known && trx_objects->object[known - 1].type == OBJECT_THREAD)
		return trx_objects->object[known - 1].handle;
	/*
	 * Another object, which is not a thread, may have the same handle.  So the keys of added threads have the top
	 * bit set.
	 */
	made_up = map_get(&trx_objects->by_input, key_of(input, context) | UINT64_C(1) << 63);
	if (*made_up)
		return trx_objects->object[*made_up - 1].handle;
	if (context == 0)
		/* A log uses the name "no thread".  With it, the file would look like a log without its own section. */
		snprintf(name, sizeof(name), "nobody");
	else
		snprintf(name, sizeof(name), "unknown thread %x", context);
	*made_up = trx_objects->nr_objects + 1;
	return trx_objects_add(trx_objects, input, context, OBJECT_THREAD, name);
}

/* Unique names. */

static void make_unique(struct trx_objects *trx_objects, const char *const *labels)
{
	struct map owner = {0}, clashes = {0}, taken = {0};

	for (size_t i = 0; i < trx_objects->nr_objects; i++) {
		uint64_t name = map_hash(trx_objects->object[i].name);
		uint64_t *first = map_get(&owner, name);

		if (*first && *first != trx_objects->object[i].input + 1)
			*map_get(&clashes, name) = 1;
		*first = trx_objects->object[i].input + 1;
	}
	for (size_t i = 0; i < trx_objects->nr_objects; i++) {
		struct registered *object = &trx_objects->object[i];
		char label[TRX_OBJECTS_NAME_MAX + 1], number[16];

		if (map_find(&clashes, map_hash(object->name))) {
			make_name(trx_objects, labels[object->input], label);
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

	/* qsort() is not stable, so this function never returns 0. */
	if (one_is_thread != other_is_thread)
		return other_is_thread - one_is_thread;
	if (one->input != other->input)
		return one->input > other->input ? 1 : -1;
	return one->handle > other->handle ? 1 : -1;
}

void trx_objects_finish(struct trx_objects *trx_objects, const char *const *labels)
{
	bool has_thread = false;

	for (size_t i = 0; i < trx_objects->nr_objects; i++)
		has_thread |= trx_objects->object[i].type == OBJECT_THREAD;
	if (!has_thread)
		trx_objects_context(trx_objects, 0, 0);
	qsort(trx_objects->object, trx_objects->nr_objects, sizeof(*trx_objects->object),
	      compare_objects);
	/* The first object with a name keeps it, so threads come first. */
	make_unique(trx_objects, labels);
}

uint32_t trx_objects_name_size(const struct trx_objects *trx_objects)
{
	for (size_t i = 0; i < trx_objects->nr_objects; i++)
		if (strlen(trx_objects->object[i].name) >= USUAL_NAME_SIZE - 1)
			return NAME_SIZE;
	return USUAL_NAME_SIZE;
}

void trx_objects_free(struct trx_objects *trx_objects)
{
	free(trx_objects->object);
	map_free(&trx_objects->by_input);
	map_free(&trx_objects->by_handle);
	map_free(&trx_objects->by_tid);
	memset(trx_objects, 0, sizeof(*trx_objects));
}
