/* SPDX-License-Identifier: MIT */
/*
 * Titles of processes.  A server such as PostgreSQL gives each of its processes a title that says what it does.  The
 * program makes no call for this: it overwrites its arguments.  So the writer of the log looks at them when it writes
 * events of the process.  If there is a title, the writer looks again after TITLE_NS.  A process that ends before the
 * writer looks has no title.
 */
#include "base/clock.h"
#include "base/procfs.h"
#include "log/log_private.h"

#include <string.h>

#define TITLE_NS 100000000

static void take_title(struct px_log *log, struct px_log_volume *volume,
		       struct px_log_context *context, uint64_t now_ns)
{
	struct px_call_objects *objects = px_translator_objects(log->translator);
	struct px_call_object *thread = px_call_objects_of(objects, context->handle);
	char title[PX_OBJECT_NAME_SIZE], before[PX_OBJECT_NAME_SIZE];
	size_t length = thread ? px_procfs_title(thread->object.pid, title, sizeof(title)) : 0;

	if (length == 0)
		return;
	context->title_ns = now_ns + TITLE_NS;
	strcpy(before, thread->object.name);
	px_call_objects_name(objects, thread, title, length);
	if (strcmp(before, thread->object.name) != 0)
		px_log_describe_context(log, volume, context);
}

void px_log_take_titles(struct px_log *log)
{
	struct px_log_volume *volume = px_log_volume_of(log, log->stage_position);
	uint64_t now_ns = px_clock_monotonic_ns();

	if (!log->translator || !volume->is_begun)
		return;
	for (uint32_t i = 0; i < volume->hand[0].end; i++) {
		struct px_log_context *context = &volume->context[PX_LOG_SLOT_FIRST + i];
		const struct px_object *object = &context->known.object;

		if (context->handle != 0 && context->last >= log->stage_position &&
		    now_ns >= context->title_ns && object->pid != 0 && object->pid == object->tid)
			take_title(log, volume, context, now_ns);
	}
}
