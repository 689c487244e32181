/* SPDX-License-Identifier: MIT */
#include "cmd/merge_twice.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <trace_ext.h>

#include "base/memory.h"
#include "base/message.h"

/* A log, or one that was merged into a log. */
struct part {
	unsigned int file;
	char uuid[40]; /* of a trace buffer of ThreadX: a digest of the file */
	bool is_buffer;
	/* The stream.  One that was merged keeps nothing of it: then created is 0. */
	char boot_id[40];
	pid_t pid;
	struct timespec created;
	/* Of its events; valid if the file has another log of the stream beside it, and has events. */
	int64_t first_ns, last_ns;
	bool has_times;
};

struct parts {
	struct part *part;
	size_t nr, room;
};

static struct part *add_part(struct parts *parts, unsigned int file)
{
	struct part *part;

	if (parts->nr == parts->room)
		parts->part = must(reallocarray(parts->part, parts->room = 2 * parts->room + 64, sizeof(*part)));
	part = &parts->part[parts->nr++];
	*part = (struct part){.file = file};
	return part;
}

/* FNV-1a.  Chance makes two files equal once in 2^64, and nobody makes a buffer so that it is not merged. */
static void digest(const char *path, char text[40])
{
	FILE *file = fopen(path, "re");
	uint64_t hash = UINT64_C(0xcbf29ce484222325), nr = 0;

	for (int c; file && (c = getc_unlocked(file)) != EOF; nr++)
		hash = (hash ^ (uint64_t)c) * UINT64_C(0x100000001b3);
	if (file)
		fclose(file);
	snprintf(text, 40, "%016" PRIx64 " %" PRIu64, hash, nr);
}

static void add_parts(struct parts *parts, unsigned int file, struct source *source)
{
	struct txtrace_origin origin;
	struct part *part;

	if (source->file.foreign) {
		part = add_part(parts, file);
		part->is_buffer = true;
		digest(source->path, part->uuid);
		return;
	}
	for (unsigned int i = 0; txtrace_get_origin(source->trace, i, &origin) == 0; i++) {
		part = add_part(parts, file);
		part->pid = origin.pid;
		memcpy(part->uuid, origin.uuid, sizeof(part->uuid));
		memcpy(part->boot_id, origin.boot_id, sizeof(part->boot_id));
		if (!origin.merged)
			posix_trace_attr_getcreatetime(&source->attr, &part->created);
	}
}

static int compare_logs(const void *a, const void *b)
{
	const struct part *x = a, *y = b;
	int order = strcmp(x->uuid, y->uuid);

	return order != 0 ? order : (x->file > y->file) - (x->file < y->file);
}

static int compare_streams(const void *a, const void *b)
{
	const struct part *x = a, *y = b;
	int order = strcmp(x->boot_id, y->boot_id);

	if (order == 0)
		order = (x->pid > y->pid) - (x->pid < y->pid);
	if (order == 0)
		order = (x->created.tv_sec > y->created.tv_sec) - (x->created.tv_sec < y->created.tv_sec);
	if (order == 0)
		order = (x->created.tv_nsec > y->created.tv_nsec) - (x->created.tv_nsec < y->created.tv_nsec);
	return order;
}

static struct source *open_file(const struct messages_file *file)
{
	return file->source ?: source_open_quiet(file->path, 0);
}

static void close_file(const struct messages_file *file, struct source *source)
{
	if (source && !file->source)
		source_close(source);
	else if (source)
		source_rewind(source);
}

static void read_times(const struct messages_file *file, struct part *part)
{
	struct source *source = open_file(file);
	struct event event;

	while (source && source_next(source, &event)) {
		/* A snapshot begins with the mark of what was overwritten before, from any time. */
		if (event.type == POSIX_TRACE_OVERFLOW)
			continue;
		part->first_ns = part->has_times ? part->first_ns : event.time_ns;
		part->last_ns = event.time_ns;
		part->has_times = true;
	}
	close_file(file, source);
}

/* The events of a stream are in the order of time, so what two of its logs both hold is from the same time. */
static bool hold_same_time(const struct part *a, const struct part *b)
{
	return a->has_times && b->has_times && a->first_ns < b->last_ns && b->first_ns < a->last_ns;
}

static bool check_logs(const struct messages_file *files, const struct parts *parts)
{
	qsort(parts->part, parts->nr, sizeof(*parts->part), compare_logs);
	for (size_t i = 1; i < parts->nr; i++)
		if (strcmp(parts->part[i].uuid, parts->part[i - 1].uuid) == 0) {
			message("%s and %s hold the same %s: each of its events would be there twice",
				files[parts->part[i - 1].file].path, files[parts->part[i].file].path,
				parts->part[i].is_buffer ? "buffer" : "log");
			return false;
		}
	return true;
}

/* Check `nr` logs of one stream. */
static bool check_stream(const struct messages_file *files, struct part *part, size_t nr)
{
	for (size_t i = 0; i < nr; i++) {
		read_times(&files[part[i].file], &part[i]);
		for (size_t k = 0; k < i; k++) {
			if (!hold_same_time(&part[i], &part[k]))
				continue;
			message("%s and %s are logs of one stream from the same time: their events would be "
				"there twice; the newer one may have all events of the older one",
				files[part[k].file].path, files[part[i].file].path);
			return false;
		}
	}
	return true;
}

static bool check_streams(const struct messages_file *files, const struct parts *parts)
{
	size_t nr;

	qsort(parts->part, parts->nr, sizeof(*parts->part), compare_streams);
	for (size_t i = 0; i < parts->nr; i += nr) {
		struct part *part = &parts->part[i];

		for (nr = 1; i + nr < parts->nr && compare_streams(part, &part[nr]) == 0; nr++)
			;
		if (nr > 1 && part->created.tv_sec != 0 && !check_stream(files, part, nr))
			return false;
	}
	return true;
}

bool merge_twice_check(const struct messages_file *files, unsigned int nr_files)
{
	struct parts parts = {.nr = 0};
	bool is_fine = true;

	for (unsigned int i = 0; is_fine && i < nr_files; i++) {
		struct source *source = open_file(&files[i]);

		is_fine = source != NULL;
		if (source)
			add_parts(&parts, i, source);
		if (source && !files[i].source)
			source_close(source);
	}
	if (is_fine && parts.nr > 0)
		is_fine = check_logs(files, &parts) && check_streams(files, &parts);
	free(parts.part);
	return is_fine;
}
