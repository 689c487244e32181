/* SPDX-License-Identifier: MIT */
#include "log/merge_private.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

/* Images. */

/* Of a line of a list of modules (base/modules.h). */
struct module {
	const char *base, *build; /* up to a blank */
	size_t base_length, build_length;
};

/* The program comes first.  Logs are hostile, so do not compare all modules with all. */
#define MODULES_MOST 64

/* Return the word number i of a line, and its length, which is 0 if there is none. */
static const char *word_of(const char *line, const char *end, unsigned int i, size_t *length)
{
	const char *blank = memchr(line, ' ', (size_t)(end - line));

	for (; i > 0 && blank; i--) {
		line = blank + 1;
		blank = memchr(line, ' ', (size_t)(end - line));
	}
	*length = i > 0 ? 0 : (size_t)((blank ? blank : end) - line);
	return line;
}

static bool next_module(const char **text, const char *end, struct module *module)
{
	const char *line = *text;
	const char *line_end = end > line ? memchr(line, '\n', (size_t)(end - line)) : NULL;

	if (!line_end)
		return false;
	*text = line_end + 1;
	module->base = word_of(line, line_end, 0, &module->base_length);
	module->build = word_of(line, line_end, 3, &module->build_length);
	return true;
}

static bool is_same_module(const struct module *a, const struct module *b)
{
	return a->base_length == b->base_length && memcmp(a->base, b->base, a->base_length) == 0 &&
	       a->build_length == b->build_length &&
	       memcmp(a->build, b->build, a->build_length) == 0;
}

/*
 * Return true if two processes with one pid are not the same, or have executed another program: no module of one is at
 * the same address in the other.  A file may have several names, or none any more, so its build id tells.
 */
static bool is_other_image(const struct px_origin *a, const struct px_origin *b)
{
	const char *text = a->modules, *end = a->modules + a->modules_bytes;
	struct module x, y;

	if (a->modules_bytes == 0 || b->modules_bytes == 0)
		return false;
	for (int i = 0; i < MODULES_MOST && next_module(&text, end, &x); i++) {
		const char *other = b->modules;

		for (int k = 0;
		     k < MODULES_MOST && next_module(&other, b->modules + b->modules_bytes, &y);
		     k++)
			if (is_same_module(&x, &y))
				return false;
	}
	return true;
}

/* Hosts. */

/* Two containers of a machine have the same pids for other processes, so each of them counts as a host of its own. */
static bool is_of_host(const struct px_origin *a, const struct px_origin *b)
{
	return strcmp(a->boot_id, b->boot_id) == 0 && strcmp(a->host_name, b->host_name) == 0 &&
	       a->pid_space == b->pid_space;
}

/* Return the number of the host in the merged log, or PX_HOSTS_MAX if there are too many. */
static uint32_t find_host(struct px_merge *merge, uint32_t at)
{
	const struct px_origin *origin = &merge->origins.origin[at];

	for (uint32_t i = 0; i < at; i++)
		if (is_of_host(&merge->origins.origin[i], origin))
			return merge->origins.origin[i].host;
	return merge->nr_hosts < PX_HOSTS_MAX ? merge->nr_hosts++ : PX_HOSTS_MAX;
}

/* The threads of a process are not those of an earlier log, if the newest one of a process with its pid had others. */
static uint32_t find_other_process(const struct px_merge *merge, uint32_t at)
{
	const struct px_origin *origin = &merge->origins.origin[at];

	for (uint32_t i = at; i-- > 0 && origin->pid != 0;)
		if (merge->origins.origin[i].pid == origin->pid)
			return is_other_image(&merge->origins.origin[i], origin) ? origin->pid : 0;
	return 0;
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
