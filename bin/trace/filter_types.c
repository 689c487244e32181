/* SPDX-License-Identifier: MIT */
/* Tests of event types by their names. */
#include <fnmatch.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "trace/filter_private.h"

/* A filter is constant for its users; what it knows of the types is only a copy of what the traces say. */
static struct filter_types *types_of(const struct filter *filter, struct source *source)
{
	struct filter_types **first = &((struct filter *)filter)->types, **at = first, *types;

	while (*at && (*at)->serial != source->serial)
		at = &(*at)->next;
	if (*at == *first && *first)
		return *first;
	types = *at;
	if (types) {
		*at = types->next;
	} else {
		types = must(calloc(1, sizeof(*types) + SOURCE_TYPES));
		types->serial = source->serial;
		types->is_searched = filter->field == FIELD_WORD && !strpbrk(filter->text, "*?[") &&
				     !filter_has_type(filter->text, source);
	}
	types->next = *first;
	*first = types;
	return types;
}

static bool matches(const struct filter *filter, struct filter_types *types, const struct event *event)
{
	signed char *known = &types->matches[event->type < SOURCE_TYPES ? event->type : 0];

	if (*known == 0)
		*known = fnmatch(filter->text, event->name, 0) == 0 ? 1 : -1;
	return *known > 0;
}

bool filter_matches_type(const struct filter *filter, struct source *source, const struct event *event)
{
	return matches(filter, types_of(filter, source), event);
}

bool filter_matches_word(const struct filter *filter, struct source *source, const struct event *event)
{
	struct filter_types *types = types_of(filter, source);

	return types->is_searched ? filter_finds_word(filter->text, source, event) : matches(filter, types, event);
}

void filter_free_types(struct filter *filter)
{
	for (struct filter_types *at = filter->types, *next; at; at = next) {
		next = at->next;
		free(at);
	}
}
