/* SPDX-License-Identifier: MIT */
#include "log/merge_private.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

/* Images. */

/* A line of a list of modules (base/modules.h). */
struct module {
	const char *base, *path;
	size_t base_length, path_length;
};

static bool next_module(const char **text, const char *end, struct module *module)
{
	const char *line = *text,
		   *line_end = end > line ? memchr(line, '\n', (size_t)(end - line)) : NULL;
	const char *blank = line;

	if (!line_end)
		return false;
	*text = line_end + 1;
	module->base = line;
	module->base_length = (size_t)((const char *)memchr(line, ' ', (size_t)(line_end - line)) ?:
					       line_end) -
			      (size_t)line;
	for (int i = 0; i < 4 && blank; i++) {
		blank = memchr(blank, ' ', (size_t)(line_end - blank));
		blank = blank ? blank + 1 : NULL;
	}
	module->path = blank ? blank : line_end;
	module->path_length = (size_t)(line_end - module->path);
	return true;
}

/*
 * Return true if two processes with one pid are not the same, or have executed another program: no module of one is at
 * the same address in the other.
 */
static bool is_other_image(const struct px_origin *a, const struct px_origin *b)
{
	const char *text = a->modules, *end = a->modules + a->modules_bytes;
	struct module x, y;

	if (a->modules_bytes == 0 || b->modules_bytes == 0)
		return false;
	while (next_module(&text, end, &x)) {
		const char *other = b->modules;

		while (next_module(&other, b->modules + b->modules_bytes, &y))
			if (x.path_length == y.path_length &&
			    memcmp(x.path, y.path, x.path_length) == 0 &&
			    x.base_length == y.base_length &&
			    memcmp(x.base, y.base, x.base_length) == 0)
				return false;
	}
	return true;
}

/* Hosts. */

static bool is_of_host(const struct px_origin *a, const struct px_origin *b)
{
	return strcmp(a->boot_id, b->boot_id) == 0 && strcmp(a->host_name, b->host_name) == 0;
}

static bool is_other_process(const struct px_origin *a, const struct px_origin *b)
{
	return a->pid != 0 && a->pid % PX_HOST_PIDS == b->pid % PX_HOST_PIDS &&
	       is_other_image(a, b);
}

/* Return true if both were recorded at the same time, for some moments at least. */
static bool overlap(const struct px_origin *a, const struct px_origin *b)
{
	return a->from_ns < b->until_ns && b->from_ns < a->until_ns;
}

/*
 * Return the number of the host in the merged log, or PX_HOSTS_MAX if there are too many.  Two processes that have one
 * pid at the same time are in two containers, so each of these has the numbers of a host of its own.
 */
static uint32_t find_host(struct px_merge *merge, uint32_t at)
{
	const struct px_origin *origin = &merge->origins.origin[at];

	for (uint32_t host = 0; host < merge->nr_hosts; host++) {
		bool is_it = false, is_other = false;

		for (uint32_t i = 0; i < at; i++) {
			const struct px_origin *other = &merge->origins.origin[i];

			if (other->host != host || !is_of_host(other, origin))
				continue;
			is_it = true;
			is_other |= is_other_process(other, origin) &&
				    overlap(other, origin);
		}
		if (is_it && !is_other)
			return host;
	}
	return merge->nr_hosts < PX_HOSTS_MAX ? merge->nr_hosts++ : PX_HOSTS_MAX;
}

/* The threads of a process are not those of an earlier log, if the newest one of a process with its pid had others. */
static uint32_t find_other_process(const struct px_merge *merge, uint32_t at)
{
	const struct px_origin *origin = &merge->origins.origin[at];

	for (uint32_t i = at; i-- > 0;)
		if (merge->origins.origin[i].pid == origin->pid)
			return is_other_process(&merge->origins.origin[i], origin) ? origin->pid :
										     0;
	return 0;
}

/* Its readings of the clocks tell when a log was recorded. */
static void take_period(struct px_origin *origin, const struct px_archive *from)
{
	const uint32_t nr = px_log_clocks_nr_runs(&from->clocks);
	const struct px_clock_run *run = from->clocks.run;

	if (nr == 0)
		return;
	origin->from_ns = run[0].from_ns;
	origin->until_ns = run[(nr < PX_CLOCK_RUNS ? nr : PX_CLOCK_RUNS) - 1].until_ns;
}

/* Take the modules of a log that is not merged: they are those of its first process. */
static int take_modules(struct px_origin *origin, struct px_archive *from)
{
	size_t length = from->kind->modules(from, NULL, 0);
	char *text = malloc(length + 1);

	if (!text)
		return ENOMEM;
	origin->modules = text;
	if (length > 0)
		origin->modules_bytes = from->kind->modules(from, text, length);
	if (origin->modules_bytes > length)
		origin->modules_bytes = length;
	return 0;
}

static int copy_modules(struct px_origin *origin)
{
	char *text = malloc(origin->modules_bytes + 1);

	if (!text)
		return ENOMEM;
	if (origin->modules_bytes > 0) /* a damaged log may have lost them */
		memcpy(text, origin->modules, origin->modules_bytes);
	origin->modules = text;
	return 0;
}

int px_merge_add_origins(struct px_merge *merge, struct px_merge_log *log, struct px_archive *from)
{
	const struct px_origins *origins = &from->origins;
	struct px_origin *larger;
	int error;

	if (merge->origins.nr + origins->nr > PX_ORIGINS_MAX)
		return E2BIG;
	larger = realloc(merge->origins.origin,
			 ((size_t)merge->origins.nr + origins->nr) * sizeof(*larger));
	if (!larger)
		return ENOMEM;
	merge->origins.origin = larger;
	log->first_origin = merge->origins.nr;
	log->nr_origins = origins->nr;
	for (uint32_t i = 0; i < origins->nr; i++) {
		struct px_origin *to = &merge->origins.origin[merge->origins.nr];
		uint32_t host;

		*to = origins->origin[i];
		error = from->info.is_merged ? copy_modules(to) : take_modules(to, from);
		if (error)
			return error;
		if (!from->info.is_merged)
			take_period(to, from);
		host = find_host(merge, merge->origins.nr);
		merge->origins.nr++;
		if (host == PX_HOSTS_MAX)
			return E2BIG;
		log->host_of[to->host] = (uint16_t)host;
		to->host = host;
		to->pid = px_merge_pid(log, to->pid);
	}
	if (origins->nr == 1)
		log->other_process = find_other_process(merge, log->first_origin);
	return 0;
}
