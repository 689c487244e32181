/* SPDX-License-Identifier: MIT */
#include "report/spans.h"

#include <ctype.h>
#include <fnmatch.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "base/message.h"
#include "trace/calldata.h"
#include "trace/calls.h"
#include "trace/payload.h"

enum { ROLE_KNOWN = 4 };

#define KEPT_PLACES 1024 /* a map with more places than this loses the keys of spans that have ended */

/* The option. */

/* Parse "u32" or "u32[OFFSET]". */
static bool parse_number(struct span *span, const char *text)
{
	unsigned int bits, offset = 0;
	int used = 0;

	if (sscanf(text, "u%2u%n", &bits, &used) < 1 || (bits != 8 && bits != 16 && bits != 32 && bits != 64))
		return false;
	text += used;
	used = 0;
	if (*text && (sscanf(text, "[%6u]%n", &offset, &used) < 1 || used == 0 || text[used]))
		return false;
	span->key_bytes = bits / 8;
	span->key_offset = offset;
	return true;
}

static bool is_path(const char *text)
{
	return (isalpha((unsigned char)*text) || *text == '_') &&
	       text[strspn(text, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_.[]")] == '\0';
}

static bool parse_key(struct span *span, const char *text)
{
	if (parse_number(span, text))
		return true;
	if (!is_path(text))
		return false;
	span->key_field = must(strdup(text));
	return true;
}

/* Parse "BEGIN..END", and a key after it.  Return false if it is wrong. */
static bool parse_events(struct span *span, const char *text)
{
	const char *dots = strstr(text, "..");
	const char *colon = dots ? strrchr(dots, ':') : NULL;

	/* The name of an event may have a colon.  In those of C++, it is never alone. */
	if (colon && (colon[-1] == ':' || !parse_key(span, colon + 1)))
		colon = NULL;
	if (!dots || dots == text || (colon ? colon == dots + 2 : dots[2] == '\0'))
		return false;
	span->begins = must(strndup(text, (size_t)(dots - text)));
	span->ends = must(colon ? strndup(dots + 2, (size_t)(colon - dots - 2)) : strdup(dots + 2));
	return true;
}

static bool has_room(const struct spans *spans, const char *what)
{
	if (spans->nr < SPANS_MAX)
		return true;
	message("there may be at most %d %s", SPANS_MAX, what);
	return false;
}

bool spans_add(struct spans *spans, const char *text)
{
	const char *equal = strchr(text, '=');
	struct span span = {0};

	if (!has_room(spans, "spans"))
		return false;
	if (!equal || equal == text || !parse_events(&span, equal + 1)) {
		message("--span takes NAME=BEGIN..END, and then perhaps :FIELD or :u32[OFFSET], not %s", text);
		free(span.key_field);
		return false;
	}
	span.name = must(strndup(text, (size_t)(equal - text)));
	spans->span[spans->nr++] = span;
	return true;
}

bool spans_add_message(struct spans *spans, const char *text)
{
	struct span span = {0};
	bool is_right;

	if (!has_room(spans, "kinds of messages"))
		return false;
	is_right = parse_events(&span, text) && (span.key_field || span.key_bytes > 0);
	if (is_right) {
		span.name = must(strdup(text));
		spans->span[spans->nr++] = span;
		return true;
	}
	message("--message takes SENT..RECEIVED:FIELD, or :u32[OFFSET] in place of :FIELD, not %s", text);
	free(span.begins);
	free(span.ends);
	free(span.key_field);
	return false;
}

void spans_copy(struct spans *spans, const struct spans *from)
{
	for (unsigned int i = 0; from && i < from->nr && spans->nr < SPANS_MAX; i++) {
		const struct span *span = &from->span[i];

		spans->span[spans->nr++] =
			(struct span){.name = must(strdup(span->name)),
				      .begins = must(strdup(span->begins)),
				      .ends = must(strdup(span->ends)),
				      .is_described = span->is_described,
				      .key_bytes = span->key_bytes,
				      .key_offset = span->key_offset,
				      .key_field = span->key_field ? must(strdup(span->key_field)) : NULL};
	}
}

static bool has_name(const struct spans *spans, const char *name)
{
	for (unsigned int i = 0; i < spans->nr; i++)
		if (strcmp(spans->span[i].name, name) == 0)
			return true;
	return false;
}

static void take_described(void *argument, const char *name, const struct px_span *described)
{
	struct spans *spans = argument;

	if (spans->nr == SPANS_MAX || has_name(spans, name))
		return;
	spans->span[spans->nr++] =
		(struct span){.name = must(strdup(name)),
			      .begins = must(strdup(described->begin)),
			      .ends = must(strdup(described->end)),
			      .is_described = true,
			      .key_field = described->field[0] ? must(strdup(described->field)) : NULL};
}

void spans_add_described(struct spans *spans, struct source *source)
{
	payload_each_span(source, take_described, spans);
}

/* Events. */

static uint64_t hash_of(const char *text, size_t length)
{
	uint64_t hash = 14695981039346656037u;

	for (size_t i = 0; i < length; i++)
		hash = (hash ^ (unsigned char)text[i]) * 1099511628211u;
	return hash;
}

static bool find_number(const struct span *span, const struct source *source, const struct event *event,
			uint64_t *key)
{
	if (event->size < (size_t)span->key_offset + span->key_bytes)
		return false;
	*key = payload_number(source, event, span->key_offset, span->key_bytes);
	return true;
}

static bool find_field(const struct span *span, struct source *source, const struct event *event, uint64_t *key)
{
	struct px_field_value value;
	struct call_field field;

	if (payload_get(source, event, span->key_field, &value)) {
		*key = value.is_text ? hash_of(value.text, value.length) : value.number;
		if (value.kind == PX_FIELD_FLOAT)
			memcpy(key, &value.real, sizeof(*key));
		return true;
	}
	if (!calldata_is(source, event) || !calldata_get(source, event, span->key_field, &field))
		return false;
	*key = (uint64_t)field.value;
	return true;
}

/* Return the key that pairs events.  Return false if the data do not have it. */
static bool find_key(const struct span *span, struct source *source, const struct event *event, uint64_t *key)
{
	if (span->key_bytes > 0)
		return find_number(span, source, event, key);
	if (span->key_field)
		return find_field(span, source, event, key);
	*key = event->context;
	return event->context != 0;
}

static void give(const struct spans *spans, struct span_time *time, enum span_ending ending, int64_t at_ns)
{
	time->ending = ending;
	time->end_ns = at_ns > time->begin_ns ? at_ns : time->begin_ns; /* the times of a damaged file may fall */
	if (spans->take)
		spans->take(spans->arg, time);
}

/* A map keeps its keys, so make it anew when most of them are of no use. */
static void shrink(struct span *span)
{
	struct map smaller = {0};

	if (span->begun.nr_taken < KEPT_PLACES || span->begun.nr_taken < 8 * span->nr_open)
		return;
	for (size_t i = 0; i < span->begun.nr_places; i++)
		if (span->begun.place[i].value != 0)
			*map_get(&smaller, span->begun.place[i].key) = span->begun.place[i].value;
	map_free(&span->begun);
	span->begun = smaller;
}

static void end_span(struct spans *spans, struct span *span, uint64_t key, int64_t at_ns)
{
	struct span_time *time = (struct span_time *)(uintptr_t)map_find(&span->begun, key);

	if (!time) {
		span->nr_without_begin++;
		return;
	}
	give(spans, time, SPAN_ENDED, at_ns);
	free(time);
	*map_get(&span->begun, key) = 0;
	span->nr_open--;
	shrink(span);
}

static void begin_span(struct spans *spans, struct span *span, uint64_t key, const struct event *event)
{
	uint64_t *begun = map_get(&span->begun, key);
	struct span_time *time = (struct span_time *)(uintptr_t)*begun;

	if (time) {
		give(spans, time, SPAN_LOST, event->time_ns);
	} else {
		time = must(malloc(sizeof(*time)));
		span->nr_open++;
	}
	*begun = (uintptr_t)time;
	*time = (struct span_time){.span = (unsigned int)(span - spans->span),
				   .context = event->context,
				   .number = event->number,
				   .begin_ns = event->time_ns};
}

/* End all open spans, in the order of their beginnings. */
static int by_begin(const void *a, const void *b)
{
	const struct span_time *left = *(struct span_time *const *)a, *right = *(struct span_time *const *)b;

	return (left->number > right->number) - (left->number < right->number);
}

static void end_open(struct spans *spans, struct span *span, enum span_ending ending)
{
	struct span_time **open = must(calloc(span->nr_open + 1, sizeof(struct span_time *)));
	size_t nr = 0;

	for (size_t i = 0; i < span->begun.nr_places; i++)
		if (span->begun.place[i].value != 0)
			open[nr++] = (struct span_time *)(uintptr_t)span->begun.place[i].value;
	qsort(open, nr, sizeof(struct span_time *), by_begin);
	for (size_t i = 0; i < nr; i++) {
		give(spans, open[i], ending, spans->last_ns);
		free(open[i]);
	}
	free(open);
	span->nr_open = 0;
	map_free(&span->begun);
}

static bool matches(const struct span *span, const char *pattern, const char *name)
{
	return span->is_described ? strcmp(pattern, name) == 0 : fnmatch(pattern, name, 0) == 0;
}

static unsigned int role_of(struct span *span, const struct event *event)
{
	unsigned char *role;

	if (event->type >= SOURCE_TYPES)
		return 0;
	if (!span->role)
		span->role = must(calloc(SOURCE_TYPES, 1));
	role = &span->role[event->type];
	if (*role == 0)
		*role = (unsigned char)(ROLE_KNOWN | (matches(span, span->begins, event->name) ? SPAN_BEGINS : 0) |
					(matches(span, span->ends, event->name) ? SPAN_ENDS : 0));
	return *role & ~(unsigned int)ROLE_KNOWN;
}

unsigned int spans_role(struct span *span, struct source *source, const struct event *event, uint64_t *key)
{
	unsigned int role;

	if (event->is_made || (event->is_call && !call_counts(event)))
		return 0;
	role = role_of(span, event);
	if (role == 0 || find_key(span, source, event, key))
		return role;
	span->nr_without_key++;
	return 0;
}

static void take_event(struct spans *spans, struct span *span, struct source *source, const struct event *event)
{
	uint64_t key;
	unsigned int role = spans_role(span, source, event, &key);

	/* An event may end a span and begin the next one. */
	if (role & SPAN_ENDS && (map_find(&span->begun, key) || !(role & SPAN_BEGINS)))
		end_span(spans, span, key, event->time_ns);
	if (role & SPAN_BEGINS)
		begin_span(spans, span, key, event);
}

void spans_event(struct spans *spans, struct source *source, const struct event *event, bool is_selected)
{
	/* The selection may leave out the mark of missing events. */
	for (unsigned int i = 0; i < spans->nr && event->type == POSIX_TRACE_OVERFLOW; i++)
		if (!source->file.foreign)
			end_open(spans, &spans->span[i], SPAN_LOST);
	if (!is_selected || event->is_made || (event->is_call && !call_counts(event)))
		return;
	spans->last_ns = event->time_ns;
	for (unsigned int i = 0; i < spans->nr; i++)
		take_event(spans, &spans->span[i], source, event);
}

void spans_end(struct spans *spans)
{
	for (unsigned int i = 0; i < spans->nr; i++)
		end_open(spans, &spans->span[i], SPAN_OPEN);
}

static bool is_selected(const struct selection *selection, struct source *source, const struct event *event)
{
	return (!selection->from.is_set || event->time_ns >= time_arg_ns(&selection->from, source)) &&
	       (!selection->until.is_set || event->time_ns < time_arg_ns(&selection->until, source)) &&
	       filter_takes(selection->filter, source, event);
}

void spans_read(struct spans *spans, struct source *source, const struct selection *selection)
{
	struct event event;

	source_rewind(source);
	source->task = "reading";
	while (source_next(source, &event)) {
		bool is_wanted = is_selected(selection, source, &event);

		source->nr_selected += is_wanted;
		spans_event(spans, source, &event, is_wanted);
	}
	selection_report_empty(selection, source);
	spans_end(spans);
}

void spans_report_keys(const struct spans *spans, const struct source *source)
{
	for (unsigned int i = 0; i < spans->nr; i++) {
		const struct span *span = &spans->span[i];

		if (span->nr_without_key == 0)
			continue;
		if (span->key_field)
			message("%s: span %s: %llu of its events have no field %s, and are left out",
				source->path, span->name, (unsigned long long)span->nr_without_key,
				span->key_field);
		else
			message("%s: span %s: %llu of its events have no %s, and are left out",
				source->path, span->name, (unsigned long long)span->nr_without_key,
				span->key_bytes > 0 ? "such number in their data" : "thread");
	}
}

void spans_forget(struct spans *spans)
{
	for (unsigned int i = 0; i < spans->nr; i++) {
		struct span *span = &spans->span[i];

		for (size_t k = 0; k < span->begun.nr_places; k++)
			free((void *)(uintptr_t)span->begun.place[k].value);
		map_free(&span->begun);
		span->nr_open = span->nr_without_begin = span->nr_without_key = 0;
		free(span->role);
		span->role = NULL;
	}
}

void spans_free(struct spans *spans)
{
	spans_forget(spans);
	for (unsigned int i = 0; i < spans->nr; i++) {
		free(spans->span[i].name);
		free(spans->span[i].begins);
		free(spans->span[i].ends);
		free(spans->span[i].key_field);
	}
	spans->nr = 0;
}
