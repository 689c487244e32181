/* SPDX-License-Identifier: MIT */
#include "report/contexts.h"

#include <stdio.h>
#include <string.h>

#include "base/memory.h"

#define FIRST_HASH 256

static size_t place_of(const struct actors *actors, unsigned int context)
{
	return (context * 2654435761u >> 7) % actors->nr_hash;
}

struct actor *actors_find(const struct actors *actors, unsigned int context)
{
	struct actor *actor = actors->hash[place_of(actors, context)];

	while (actor && actor->context != context)
		actor = actor->next;
	return actor;
}

static void put_into_hash(struct actors *actors, struct actor *actor)
{
	size_t place = place_of(actors, actor->context);

	actor->next = actors->hash[place];
	actors->hash[place] = actor;
}

static void grow_hash(struct actors *actors)
{
	free(actors->hash);
	actors->nr_hash *= 2;
	actors->hash = must(calloc(actors->nr_hash, sizeof(struct actor *)));
	for (size_t i = 0; i < actors->nr_actors; i++)
		put_into_hash(actors, actors->actor[i]);
}

static const char *name_of(const struct actors *actors, unsigned int context, char unknown[16])
{
	const struct source_object *object = source_object(actors->source, context);

	if (context == CONTEXT_INTERRUPT)
		return "Interrupt";
	if (context == CONTEXT_INITIALIZE)
		return "Initialize";
	if (context == CONTEXT_IDLE)
		return actors->source->file.foreign ? "Idle" : "(no thread)";
	if (object && object->is.name[0])
		return object->is.name;
	snprintf(unknown, 16, "%08x", context);
	return unknown;
}

static struct actor *make(struct actors *actors, unsigned int context)
{
	const struct source_object *object = source_object(actors->source, context);
	struct actor *actor = must(calloc(1, sizeof(*actor)));
	char unknown[16];

	actor->context = context;
	actor->is_thread = context != CONTEXT_INTERRUPT && context != CONTEXT_INITIALIZE &&
			   context != CONTEXT_IDLE;
	actor->name = must(strdup(name_of(actors, context, unknown)));
	if (actor->is_thread && object && object->is.type == OBJECT_THREAD)
		actor->object = &object->is;
	actor->pid = actor->object ? actor->object->pid : 0;
	actor->priority = actor->first_priority = -1;
	actor->named_priority = actor->first_named_priority = -1;
	actor->ahead_first = actor->ahead_last = NEVER;
	actor->cpu = actor->last_cpu = -1;
	return actor;
}

struct actor *actors_add(struct actors *actors, unsigned int context)
{
	struct actor *actor = actors_find(actors, context);

	if (actor)
		return actor;
	actor = make(actors, context);
	if (actors->nr_actors == actors->room) {
		actors->room = actors->room ? 2 * actors->room : FIRST_HASH;
		actors->actor =
			must(reallocarray(actors->actor, actors->room, sizeof(struct actor *)));
	}
	actors->actor[actors->nr_actors++] = actor;
	if (actors->nr_actors > actors->nr_hash)
		grow_hash(actors);
	else
		put_into_hash(actors, actor);
	return actor;
}

void actors_init(struct actors *actors, struct source *source)
{
	*actors = (struct actors){.source = source, .nr_hash = FIRST_HASH};
	actors->hash = must(calloc(actors->nr_hash, sizeof(struct actor *)));
	if (source->file.foreign) {
		actors_add(actors, CONTEXT_INTERRUPT);
		actors_add(actors, CONTEXT_INITIALIZE);
	}
	for (size_t i = 0; i < source->nr_objects; i++)
		if (source->objects[i].is.type == OBJECT_THREAD)
			actors_add(actors, source->objects[i].is.handle);
	actors->last = actors_add(actors, CONTEXT_IDLE);
}

void actors_free(struct actors *actors)
{
	for (size_t i = 0; i < actors->nr_actors; i++) {
		free(actors->actor[i]->name);
		free(actors->actor[i]);
	}
	free(actors->actor);
	free(actors->hash);
}

static int compare_names(const void *a, const void *b)
{
	const struct actor *const *left = a, *const *right = b;

	return strcmp((*left)->name, (*right)->name);
}

static void add_handle(struct actor *actor)
{
	char *name;

	if (asprintf(&name, "%s (%08x)", actor->name, actor->context) < 0)
		name = must(NULL);
	free(actor->name);
	actor->name = name;
}

void actors_tell_apart(struct actors *actors)
{
	size_t nr = actors->nr_actors;
	struct actor **sorted = must(reallocarray(NULL, nr, sizeof(struct actor *)));

	memcpy(sorted, actors->actor, nr * sizeof(struct actor *));
	qsort(sorted, nr, sizeof(struct actor *), compare_names);
	for (size_t i = 0, end; i < nr; i = end) {
		for (end = i + 1; end < nr && !compare_names(&sorted[i], &sorted[end]); end++)
			;
		for (size_t j = i; end > i + 1 && j < end; j++)
			add_handle(sorted[j]);
	}
	free(sorted);
}
