/* SPDX-License-Identifier: MIT */
#include "waits/wait_objects.h"

#include <stdio.h>
#include <string.h>

#include "base/memory.h"
#include "trace/states.h"

#define NOT_AN_OBJECT (UINT64_C(1) << 32)

/* Return a copy of the name.  If several objects have this name, add the handle. */
static char *name_of(const struct waits *waits, unsigned int handle, const char *name)
{
	char *text;

	if (map_find(&waits->nr_of_name, map_hash(name)) < 2)
		return must(strdup(name));
	if (asprintf(&text, "%s (%08x)", name, handle) < 0)
		text = must(NULL);
	return text;
}

void wait_objects_count_names(struct waits *waits)
{
	const struct source *source = waits->source;

	for (size_t i = 0; i < source->nr_objects; i++) {
		const struct txtrace_object *object = &source->objects[i];

		/* another volume of the log may repeat the object */
		if (object->type != OBJECT_EVENT_TYPE &&
		    source_object(source, object->handle) == object)
			++*map_get(&waits->nr_of_name, map_hash(object->name));
	}
}

struct waiter *wait_objects_thread(struct waits *waits, unsigned int context)
{
	uint64_t *known = map_get(&waits->waiter_of, context);
	struct waiter *waiter;

	if (*known)
		return (struct waiter *)(uintptr_t)*known;
	waiter = must(calloc(1, sizeof(*waiter)));
	waiter->context = context;
	waiter->index = waits->nr_waiters++;
	waiter->name = name_of(waits, context, source_context_name(waits->source, context));
	waiter->last.name = "";
	waiter->priority = -1;
	waiter->last_ns = waiter->before_ns = LONG_AGO;
	if (waits->last_waiter)
		waits->last_waiter->next = waiter;
	else
		waits->first_waiter = waiter;
	waits->last_waiter = waiter;
	*known = (uintptr_t)waiter;
	return waiter;
}

static struct awaited *make_awaited(struct waits *waits, uint64_t key, char *name, const char *kind)
{
	struct awaited *awaited = must(calloc(1, sizeof(*awaited)));

	awaited->handle = kind ? (unsigned int)key : 0;
	awaited->name = name;
	awaited->kind = kind;
	awaited->index = waits->nr_awaited++;
	if (waits->last_awaited)
		waits->last_awaited->next = awaited;
	else
		waits->first_awaited = awaited;
	waits->last_awaited = awaited;
	return awaited;
}

/*
 * Return the kind of an object as text.  ThreadX has no object type for some objects of a log.  For these objects, the
 * name of the call may show the kind.
 */
static const char *kind_of(const struct source *source, unsigned int handle, const char *service)
{
	static const char *const kinds[][2] = {
		{"pthread_rwlock", "rwlock"},  {"pthread_spin", "spin lock"},
		{"pthread_cond", "condition"}, {"pthread_barrier", "barrier"},
		{"pthread_once", "once"},      {"cnd_", "condition"},
		{"call_once", "once"},	       {"futex_", "futex"}};
	const struct txtrace_object *object = source_object(source, handle);

	for (size_t i = 0; i < sizeof(kinds) / sizeof(kinds[0]); i++)
		if (strncmp(service, kinds[i][0], strlen(kinds[i][0])) == 0)
			return kinds[i][1];
	return source_object_type(source, object ? object->type : 0);
}

/*
 * The recorder gives an object in shared memory a name that ends with its place there, and the log may append a number:
 * "main+0x6a in 00:01:4711+0x40 #2".  Return the place without the number, or an empty text.
 */
static void find_place(const struct txtrace_object *object, char *place, size_t size)
{
	const char *in = object ? strstr(object->name, " in ") : NULL;
	unsigned int major, minor;
	unsigned long long inode, offset;
	int length = 0;

	*place = '\0';
	if (in && sscanf(in, " in %x:%x:%llu+0x%llx%n", &major, &minor, &inode, &offset, &length) == 4 &&
	    (in[length] == '\0' || strncmp(in + length, " #", 2) == 0))
		snprintf(place, size, "%d %x:%x:%llu+0x%llx", object->type, major, minor, inode, offset);
}

struct awaited *wait_objects_object(struct waits *waits, unsigned int handle, const char *service)
{
	uint64_t *known = map_get(&waits->awaited_of, handle), *shared = NULL;
	const struct txtrace_object *object = source_object(waits->source, handle);
	char unknown[16], place[80];

	if (*known)
		return (struct awaited *)(uintptr_t)*known;
	find_place(object, place, sizeof(place));
	if (*place) /* two hosts may have the same places */
		shared = map_get(&waits->shared_at, map_hash(place) + (uint64_t)(object->pid / TXTRACE_HOST_PIDS));
	if (shared && *shared) {
		*known = *shared;
		return (struct awaited *)(uintptr_t)*known;
	}
	snprintf(unknown, sizeof(unknown), "%08x", handle);
	*known = (uintptr_t)make_awaited(waits, handle,
					 name_of(waits, handle, object ? object->name : unknown),
					 kind_of(waits->source, handle, service));
	if (shared)
		*shared = *known;
	return (struct awaited *)(uintptr_t)*known;
}

struct awaited *wait_objects_nothing(struct waits *waits, unsigned int state,
				     const struct waiter *thread)
{
	bool is_foreign = waits->source->file.foreign;
	uint64_t key = NOT_AN_OBJECT | (is_foreign ? state : (uint32_t)map_hash(thread->last.name));
	uint64_t *known = map_get(&waits->awaited_of, key);
	const char *name = is_foreign ? state_of(state)->text : thread->last.name;

	if (!*known)
		*known = (uintptr_t)make_awaited(waits, key, must(strdup(name)), NULL);
	return (struct awaited *)(uintptr_t)*known;
}

void waits_describe(const struct awaited *object, char *text, size_t size)
{
	if (!object->kind || strcasestr(object->name, object->kind))
		snprintf(text, size, "%s", object->name);
	else
		snprintf(text, size, "%s %s", object->kind, object->name);
}
