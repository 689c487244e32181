/* SPDX-License-Identifier: MIT */
#include "report/contexts.h"

#include <stdio.h>
#include <string.h>

#include "base/memory.h"

#define FIRST_ROOM 256

struct context *contexts_find(const struct contexts *contexts, unsigned int context)
{
	uint64_t place = map_find(&contexts->by_handle, context);

	return place > 0 ? contexts->ctx[place - 1] : NULL;
}

static const char *name_of(const struct contexts *contexts, unsigned int context, char unknown[16])
{
	const struct txtrace_object *object = source_object(contexts->source, context);

	if (context == CONTEXT_INTERRUPT)
		return "Interrupt";
	if (context == CONTEXT_INITIALIZE)
		return "Initialize";
	if (context == CONTEXT_IDLE)
		return contexts->source->file.foreign ? "Idle" : "(no thread)";
	if (object && object->name[0])
		return object->name;
	snprintf(unknown, 16, "%08x", context);
	return unknown;
}

static struct context *make(struct contexts *contexts, unsigned int context)
{
	const struct txtrace_object *object = source_object(contexts->source, context);
	struct context *ctx = must(calloc(1, sizeof(*ctx)));
	char unknown[16];

	ctx->context = context;
	ctx->is_thread = context != CONTEXT_INTERRUPT && context != CONTEXT_INITIALIZE &&
			 context != CONTEXT_IDLE;
	ctx->name = must(strdup(name_of(contexts, context, unknown)));
	if (ctx->is_thread && object && object->type == OBJECT_THREAD)
		ctx->object = object;
	ctx->priority = ctx->first_priority = -1;
	ctx->named_priority = ctx->first_named_priority = -1;
	ctx->ahead_first = ctx->ahead_last = NEVER;
	ctx->cpu = ctx->last_cpu = -1;
	return ctx;
}

struct context *contexts_add(struct contexts *contexts, unsigned int context)
{
	uint64_t *place = map_get(&contexts->by_handle, context);

	if (*place > 0)
		return contexts->ctx[*place - 1];
	if (contexts->nr_contexts == contexts->room) {
		contexts->room = contexts->room ? 2 * contexts->room : FIRST_ROOM;
		contexts->ctx =
			must(reallocarray(contexts->ctx, contexts->room, sizeof(struct context *)));
	}
	contexts->ctx[contexts->nr_contexts++] = make(contexts, context);
	*place = contexts->nr_contexts;
	return contexts->ctx[*place - 1];
}

void contexts_init(struct contexts *contexts, struct source *source)
{
	*contexts = (struct contexts){.source = source};
	if (source->file.foreign) {
		contexts_add(contexts, CONTEXT_INTERRUPT);
		contexts_add(contexts, CONTEXT_INITIALIZE);
	}
	for (size_t i = 0; i < source->nr_objects; i++)
		if (source->objects[i].type == OBJECT_THREAD)
			contexts_add(contexts, source->objects[i].handle);
	contexts->last = contexts_add(contexts, CONTEXT_IDLE);
}

void contexts_free(struct contexts *contexts)
{
	for (size_t i = 0; i < contexts->nr_contexts; i++) {
		free(contexts->ctx[i]->name);
		free(contexts->ctx[i]);
	}
	free(contexts->ctx);
	map_free(&contexts->by_handle);
}

static int compare_names(const void *a, const void *b)
{
	const struct context *const *left = a, *const *right = b;

	return strcmp((*left)->name, (*right)->name);
}

static void add_handle(struct context *ctx)
{
	char *name;

	if (asprintf(&name, "%s (%08x)", ctx->name, ctx->context) < 0)
		name = must(NULL);
	free(ctx->name);
	ctx->name = name;
}

void contexts_disambiguate(struct contexts *contexts)
{
	size_t nr = contexts->nr_contexts;
	struct context **sorted = must(reallocarray(NULL, nr, sizeof(struct context *)));

	memcpy(sorted, contexts->ctx, nr * sizeof(struct context *));
	qsort(sorted, nr, sizeof(struct context *), compare_names);
	for (size_t i = 0, end; i < nr; i = end) {
		for (end = i + 1; end < nr && !compare_names(&sorted[i], &sorted[end]); end++)
			;
		for (size_t j = i; end > i + 1 && j < end; j++)
			add_handle(sorted[j]);
	}
	free(sorted);
}
