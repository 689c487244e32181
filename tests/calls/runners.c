/* SPDX-License-Identifier: MIT */
#include "calls/runners.h"

#include <stdio.h>
#include <string.h>

#include "support/common.h"

static struct px_threads threads;
static struct px_threadmap *map;
struct px_translator *translator;
static struct px_translation translation;

void runners_setup(void)
{
	memset(&threads, 0, sizeof(threads));
	map = px_threadmap_make(&threads);
	translator = px_translator_make(map);
	ck_assert(map && translator);
}

void runners_teardown(void)
{
	px_translator_free(translator);
	px_threadmap_free(map);
}

static struct runner thread(uint32_t pid, uint32_t tid, uint32_t program)
{
	static uint32_t serial;
	struct runner it = {pid, tid, px_txtb_handle(PX_TXTB_THREAD, ++serial), program};
	struct px_object object = {.handle = it.handle,
				   .type = PX_TXTB_THREAD,
				   .pid = pid,
				   .tid = tid,
				   .program = program,
				   .thread = 0x1000 * tid,
				   .name = "runner"};

	px_threads_add(&threads, &object);
	return it;
}

struct runner runner(uint32_t pid, uint32_t program)
{
	return thread(pid, pid, program);
}

struct runner other_thread(struct runner by)
{
	return thread(by.pid, by.tid + 1000, by.program);
}

static uint64_t
	clock_ticks; /* of the last record, without the bits that the time of a fork lacks */

uint32_t next_tick(void)
{
	return (uint32_t)++clock_ticks;
}

void call_more(struct runner by, enum px_call call, uint32_t flags, int fd, uint32_t value,
	       int64_t result, const void *more, size_t size)
{
	struct {
		union px_call_data first;
		unsigned char more[64];
	} data = {.first.of_fd = {fd, value, result}};
	struct px_record record = {.counter = ++clock_ticks << PX_FORK_TICKS_SHIFT,
				   .pid = by.pid,
				   .thread = 0x1000 * by.tid,
				   .context = by.handle,
				   .id = px_call_event(call),
				   .flags = flags | PX_RECORD_CALL,
				   .length = (uint32_t)(sizeof(data.first) + size)};

	memcpy(data.more, more, size);
	px_translate(translator, &record, &data, record.length, &translation);
}

void call(struct runner by, enum px_call call, uint32_t flags, int fd, uint32_t value,
	  int64_t result)
{
	call_more(by, call, flags, fd, value, result, "", 0);
}

void opens(struct runner by, int fd, const char *path, uint32_t value)
{
	call_more(by, PX_CALL_open, 0, fd, value, fd, path, strlen(path));
}

void closes(struct runner by, int fd)
{
	call(by, PX_CALL_close, 0, fd, 0, 0);
}

struct runner forks(struct runner by, uint32_t pid)
{
	call(by, PX_CALL_fork, 0, 0, 0, pid);
	return runner(pid, by.program);
}

void starts(struct runner by, uint32_t parent, const char *command)
{
	call_more(by, PX_CALL_txtrace_process_start, 0, (int)parent,
		  *command ? 0 : (uint32_t)clock_ticks + 1, 0, command, strlen(command));
}

void executes(struct runner before, struct runner after, const char *path, const char *path_told)
{
	call_more(before, PX_CALL_execve, PX_RECORD_BEGINS, -1, 0, 0, path, strlen(path));
	call_more(after, PX_CALL_txtrace_process_start, 0, 1, 0,
		  (int64_t)px_call_hash_path(path_told, strlen(path_told)), "program", 7);
}

const char *file_of(struct runner by, int fd)
{
	static char name[PX_OBJECT_NAME_SIZE];
	const struct px_call_object *object;

	call(by, PX_CALL_read, 0, fd, 10, 1);
	object = px_translator_find(translator, translation.entries[translation.own].info[0]);
	ck_assert_ptr_nonnull(object);
	snprintf(name, sizeof(name), "%s", object->object.name);
	name[strcspn(name, "#") - (strchr(name, '#') ? 1 : 0)] = '\0';
	return name;
}

uint32_t object_of_call(void)
{
	return translation.entries[translation.own].info[0];
}

void system_event(uint32_t id)
{
	struct px_record record = {.counter = ++clock_ticks << PX_FORK_TICKS_SHIFT, .id = id};

	px_translate(translator, &record, "", 0, &translation);
}
