/* SPDX-License-Identifier: MIT */
/* What a trace lacks: lost events, and events without their thread or object. */
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "base/message.h"
#include "input/spool.h"
#include "trace/origins.h"
#include "trace/sched.h"
#include "trace/source.h"

/*
 * A log of version 2 has 1,020 object slots in each volume, 895 of them for threads and objects of calls.  If
 * there are more threads, their events have no thread.  A file of several volumes repeats objects.  So the file may
 * have more objects, although no volume was full.  Later logs have another number of slots, and they contain every
 * thread.
 */
#define OLD_SLOTS 1020
#define FULL_TABLE 894

static bool was_full(const struct source *source)
{
	size_t nr_used = 0;

	for (size_t i = 0; i < source->nr_objects; i++)
		nr_used += source->objects[i].type != OBJECT_EVENT_TYPE;
	return !source->file.foreign && source->file.nr_objects == OLD_SLOTS && nr_used >= FULL_TABLE;
}

/* System events come from the library itself, and some of them have no thread. */
static bool is_unnamed(const struct event *event)
{
	return event->context == 0 && event->type >= POSIX_TRACE_UNNAMED_USEREVENT;
}

/* Return true if the first field of the call is an address or a descriptor, and the log has no such object. */
static bool lacks_object(const struct event *event)
{
	const char *kind = event->is_call && event->row ? strpbrk(event->row->fields, ": ") : NULL;
	uint64_t address;

	if (!kind || kind[0] != ':' || event->call.object != 0 || event->size < sizeof(address))
		return false;
	memcpy(&address, event->data, sizeof(address));
	return kind[1] == 'p' ? address != 0 : kind[1] == 'd' && (int32_t)address >= 0;
}

/*
 * Count a call without its object only if an earlier call of the same type had an object. has_object[type] is true
 * after such a call.
 */
static void count_unnamed(struct source_unnamed *unnamed, bool *has_object, const struct event *event)
{
	if (event->is_call && event->call.object != 0)
		has_object[event->type] = true;
	if (is_unnamed(event) && unnamed->nr_events++ == 0)
		unnamed->first = event->number;
	if (lacks_object(event) && has_object[event->type] && unnamed->nr_calls++ == 0)
		unnamed->first_call = event->number;
}

struct source_unnamed source_count_unnamed(struct source *source)
{
	struct source_unnamed unnamed = {0};
	struct event event;
	bool *has_object;

	if (!was_full(source))
		return unnamed;
	has_object = must(calloc(SOURCE_TYPES, sizeof(*has_object)));
	while (source_next(source, &event))
		count_unnamed(&unnamed, has_object, &event);
	free(has_object);
	source_rewind(source);
	return unnamed;
}

bool source_report_unnamed(struct source *source)
{
	struct source_unnamed unnamed = source_count_unnamed(source);

	if (unnamed.nr_events > 0)
		message("%s: the table of threads and objects was full: %llu events from event %llu on have no "
			"thread, so what these threads waited for or held is not known",
			source->path, (unsigned long long)unnamed.nr_events,
			(unsigned long long)unnamed.first);
	if (unnamed.nr_calls > 0)
		message("%s: the table of threads and objects was full: %llu calls from event %llu on have no "
			"object",
			source->path, (unsigned long long)unnamed.nr_calls,
			(unsigned long long)unnamed.first_call);
	return unnamed.nr_events + unnamed.nr_calls > 0;
}

/* Write why the log lacks events: it was full, or a write failed, or both. */
static void write_cause(struct source *source, char *text, size_t size)
{
	int policy = 0, error = source->status.posix_stream_flush_error;
	bool was_full = source->status.posix_log_full_status == POSIX_TRACE_FULL;

	posix_trace_attr_getlogfullpolicy(&source->attr, &policy);
	if (!was_full && !error)
		snprintf(text, size, "the log that it was made of was full, or could not be written or read");
	else
		snprintf(text, size, "%s%s%s%s%s",
			 !was_full		       ? "" :
			 policy == POSIX_TRACE_LOOP ? "it was full, and the newest events replaced the oldest ones" :
							 "it was full, and took no more",
			 was_full && error ? "; and " : "", error ? "a write failed (" : "",
			 error ? strerror(error) : "", error ? ")" : "");
}

/* A full log does not count all, and nobody knows all that a damaged log had. */
static bool log_loss_is_least(struct source *source)
{
	int policy = 0;

	if (source_is_merged(source) || source->file.nr_log_lost == INT_MAX)
		return true;
	posix_trace_attr_getlogfullpolicy(&source->attr, &policy);
	if (source->status.posix_log_full_status == POSIX_TRACE_FULL)
		return policy == POSIX_TRACE_UNTIL_FULL;
	return source->status.posix_stream_flush_error == 0;
}

bool source_loss_is_least(struct source *source)
{
	if (source->file.foreign || source->file.damaged || source_incomplete(source))
		return true;
	return source->status.posix_log_overrun_status == POSIX_TRACE_OVERRUN && log_loss_is_least(source);
}

bool source_log_loss(struct source *source, char *text, size_t size)
{
	char cause[192];

	if (source->status.posix_log_overrun_status != POSIX_TRACE_OVERRUN)
		return false;
	if (source_is_merged(source)) {
		static const char why[] = "one of the logs that were merged was full, damaged or not complete";

		if (source->file.nr_log_lost > 0)
			snprintf(text, size, "at least %d events that were recorded: %s", source->file.nr_log_lost,
				 why);
		else
			snprintf(text, size, "events that were recorded, it is not known how many: %s", why);
		return true;
	}
	write_cause(source, cause, sizeof(cause));
	if (source->file.nr_log_lost == 0)
		snprintf(text, size, "events that were recorded, it is not known how many: %s", cause);
	else
		snprintf(text, size, "%s%d events that were recorded: %s", log_loss_is_least(source) ? "at least " : "",
			 source->file.nr_log_lost, cause);
	return true;
}

uint64_t source_nr_lost(const struct source *source)
{
	const struct txtrace_loss *loss = &source->loss;

	return loss->overwritten + loss->dropped + loss->abandoned + (unsigned int)source->file.nr_log_lost;
}

static void report_log_loss(struct source *source)
{
	char loss[SOURCE_LOSS_BYTES];
	size_t size = 0;

	if (!source_log_loss(source, loss, sizeof(loss)))
		return;
	if (source_is_merged(source)) {
		message("%s: the log is incomplete: one of the logs that were merged was full, damaged or not "
			"complete, so not all recorded events are in it",
			source->path);
		return;
	}
	posix_trace_attr_getlogsize(&source->attr, &size);
	if (source->status.posix_log_full_status == POSIX_TRACE_FULL)
		message("%s: the log is incomplete: it lacks %s; its size was limited to %zu bytes, and record "
			"--log-size=BYTES makes room",
			source->path, loss, size);
	else
		message("%s: the log is incomplete: it lacks %s", source->path, loss);
}

const char *source_incomplete(const struct source *source)
{
	const struct txtrace_file_info *file = &source->file;
	static char text[128];

	if (file->running)
		return "it is being written; later events are missing";
	if (file->damaged || source->is_cut)
		return "it is cut or damaged; the events of the missing parts are missing";
	if (file->foreign || file->complete)
		return NULL;
	if (spool_cut(source->path)) {
		snprintf(text, sizeof(text), "%s; later events are missing", spool_cut(source->path));
		return text;
	}
	return "its writer died; the events that it had not written yet are missing";
}

void source_report_losses(struct source *source)
{
	const struct txtrace_loss *loss = &source->loss;

	if (loss->overwritten + loss->dropped + loss->abandoned > 0)
		message("%s: events were lost when it was recorded: %llu overwritten, %llu "
			"dropped, "
			"%llu abandoned",
			source->path, loss->overwritten, loss->dropped, loss->abandoned);
	report_log_loss(source);
	/* source_open() has said the other reasons. */
	if (source_incomplete(source) && !source->file.running && !source->file.damaged && !spool_cut(source->path))
		message("%s: %s", source->path, source_incomplete(source));
	source_report_unnamed(source);
}

/* Count the events that can be read of a damaged file, and those that are missing. */
static void count_whole(struct source *source, uint64_t *nr_whole)
{
	struct event event;

	source->is_reported = true;
	for (*nr_whole = 0; source_next(source, &event);)
		(*nr_whole)++;
	txtrace_get_file_info(source->trace, &source->file);
	source_rewind(source);
}

static void report_damage(struct source *source)
{
	const struct txtrace_file_info *file = &source->file;
	char what[96] = "damaged", missing[64] = "";
	uint64_t nr_whole;

	count_whole(source, &nr_whole);
	if (file->size < file->whole_size)
		snprintf(what, sizeof(what), "cut after %llu bytes of %s%llu", file->size,
			 file->only_image ? "at least " : "", file->whole_size);
	else if (file->only_image)
		snprintf(what, sizeof(what), "its POSIX section is lost");
	if (file->nr_missing > 0)
		snprintf(missing, sizeof(missing), "; at least %llu", file->nr_missing);
	message("%s: %s: %llu events shown%s, the rest is lost%s", source->path, what,
		(unsigned long long)nr_whole,
		file->only_image ? " as TraceX would show them" : "", missing);
}

void source_report_state(struct source *source)
{
	if (source->file.damaged)
		report_damage(source);
	else if (source->file.running && !source->is_followed)
		message("%s: this log is being written; it had %llu events when it was opened",
			source->path, source->file.nr_events);
}

void source_note_sched(struct source *source, const struct event *event)
{
	const struct sched_record record = sched_read(event);
	uint64_t *begun;

	source->sched_lost += record.nr_lost;
	source->sched_gaps += record.kind == SCHED_GAP_BEGINS;
	source->sched_open += record.kind == SCHED_GAP_BEGINS;
	source->sched_open -= record.kind == SCHED_GAP_ENDS && source->sched_open > 0;
	if (record.kind == SCHED_START) {
		begun = map_get(&source->sched_begun, event->pid > 0 ? (uint64_t)event->pid / TXTRACE_HOST_PIDS : 0);
		source->sched_has_restarted |= *begun != 0;
		*begun = 1;
	}
	source->sched_has_ended |= record.kind == SCHED_STOP && record.end == TXTRACE_SCHED_CPUS;
}

void source_report_sched(struct source *source)
{
	if (source->sched_gaps == 0 || source->is_sched_reported)
		return;
	source->is_sched_reported = true;
	progress_end();
	/* The kernel says how many only with its next record. */
	message("%s: the kernel lost %s%llu scheduling records: in %llu gap%s it is not known which threads had a "
		"CPU; no other "
		"event is missing for this reason",
		source->path, source->sched_open ? "at least " : "", source->sched_lost, source->sched_gaps,
		source->sched_gaps == 1 ? "" : "s");
}

uint64_t source_missing(const struct source *source)
{
	struct txtrace_file_info now;

	return !source->is_live && txtrace_get_file_info(source->trace, &now) == 0 ? now.nr_missing : 0;
}

void source_report_missing(struct source *source)
{
	uint64_t nr_missing = source->is_reported ? 0 : source_missing(source);

	if (nr_missing == 0)
		return;
	source->is_reported = true;
	progress_end();
	message("%s: %llu events could not be read: %s", source->path, (unsigned long long)nr_missing,
		source->file.running ? "its writer overwrote them meanwhile" :
				       "the file is damaged there");
}
