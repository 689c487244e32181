/* SPDX-License-Identifier: MIT */
#include "cmd/offers.h"

#include <stdio.h>
#include <string.h>

#include "base/message.h"
#include "base/output.h"
#include "trace/calltable.h"
#include "trace/columns.h"
#include "trace/source.h"

static void offer_columns(void)
{
	const char *name;

	for (int i = 0; (name = listing_column_name(i)); i++)
		puts(name);
}

/* Return true if an earlier call is in the same group. */
static bool is_known_group(unsigned int i)
{
	for (unsigned int k = 0; k < i; k++)
		if (strcmp(calltable_row(k)->group, calltable_row(i)->group) == 0)
			return true;
	return false;
}

/* What record --events takes (preload.h). */
static void offer_groups(void)
{
	const struct call_row *row;

	for (unsigned int i = 0; (row = calltable_row(i)); i++)
		if (row->group[0] && !is_known_group(i))
			puts(row->group);
	puts("all");
}

static bool is_known_thread(const struct source *source, size_t i)
{
	for (size_t k = 0; k < i; k++)
		if (source->objects[k].type == OBJECT_THREAD &&
		    strcmp(source->objects[k].name, source->objects[i].name) == 0)
			return true;
	return false;
}

/* A name goes to the terminal of the user: text_plain() makes it harmless. */
static bool offer_threads(const char *file)
{
	static struct text text;
	struct source *source = source_open_quiet(file, 0);

	if (!source)
		return false;
	text_open(&text, NULL, false);
	for (size_t i = 0; i < source->nr_objects; i++) {
		const struct txtrace_object *object = &source->objects[i];

		if (object->type != OBJECT_THREAD || !object->name[0] || is_known_thread(source, i))
			continue;
		text_plain(&text, object->name, 0);
		text_char(&text, '\n');
	}
	source_close(source);
	return text_close(&text, true);
}

bool offers_print(const char *kind, const char *file)
{
	if (strcmp(kind, "columns") == 0) {
		offer_columns();
	} else if (strcmp(kind, "groups") == 0) {
		offer_groups();
	} else if (strcmp(kind, "threads") == 0) {
		return !file || offer_threads(file);
	} else {
		message("nothing is offered for %s, but for " OFFERS, kind);
		return false;
	}
	return true;
}
