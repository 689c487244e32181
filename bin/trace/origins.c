/* SPDX-License-Identifier: MIT */
#include "trace/origins.h"

#include <errno.h>
#include <stdlib.h>

#include "base/memory.h"

static void load(struct source *source)
{
	struct source_origins *origins = &source->origins;
	struct txtrace_origin origin;

	if (origins->is_loaded || source->is_live)
		return;
	origins->is_loaded = true;
	while (txtrace_get_origin(source->trace, (unsigned int)origins->nr, &origin) == 0) {
		origins->origin =
			must(reallocarray(origins->origin, origins->nr + 1, sizeof(origin)));
		origins->origin[origins->nr++] = origin;
		if (origin.host >= origins->nr_hosts)
			origins->nr_hosts = origin.host + 1;
	}
	origins->name = must(calloc(origins->nr_hosts + 1, sizeof(*origins->name)));
	for (size_t i = 0; i < origins->nr; i++)
		origins->name[origins->origin[i].host] = origins->origin[i].host_name;
}

const struct txtrace_origin *source_origins(struct source *source, size_t *nr)
{
	load(source);
	*nr = source->origins.nr;
	return source->origins.origin;
}

unsigned int source_nr_hosts(struct source *source)
{
	load(source);
	return source->origins.nr_hosts > 0 ? source->origins.nr_hosts : 1;
}

bool source_is_merged(struct source *source)
{
	load(source);
	return source->origins.nr > 0 && source->origins.origin[0].merged;
}

const char *source_host(struct source *source, pid_t pid)
{
	unsigned int host = pid > 0 ? (unsigned int)pid / TXTRACE_HOST_PIDS : 0;

	load(source);
	return host < source->origins.nr_hosts && source->origins.name[host] ?
		       source->origins.name[host] :
		       "";
}

char *source_modules(const struct source *source)
{
	size_t length, used = 0;
	char *text = must(calloc(1, 1));
	int error;

	for (unsigned int i = 0;; i++) {
		error = txtrace_get_origin_modules(source->trace, i, NULL, 0, &length);
		if (error && error != ENOSPC)
			break;
		text = must(realloc(text, used + length + 2));
		txtrace_get_origin_modules(source->trace, i, text + used, length, &length);
		used += length;
		if (used > 0 && text[used - 1] != '\n')
			text[used++] = '\n';
	}
	text[used] = '\0';
	return text;
}
