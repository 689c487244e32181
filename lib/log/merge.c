/* SPDX-License-Identifier: MIT */
#include "log/merge.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "event/calls.h"
#include "event/names.h"
#include "fields/convert.h"
#include "log/merge_private.h"

/* The tables of the merged log, as an archive that has no events. */

static struct px_merge *merge_of(struct px_archive *archive)
{
	return (struct px_merge *)archive;
}

static enum px_next merge_next(struct px_archive *archive, void *data, size_t capacity,
			       struct px_report *report)
{
	(void)archive;
	(void)data;
	(void)capacity;
	(void)report;
	return PX_NEXT_NONE;
}

static void merge_rewind(struct px_archive *archive)
{
	(void)archive;
}

static unsigned int merge_type(struct px_archive *archive, uint32_t i)
{
	const struct px_merge *merge = merge_of(archive);

	if (i < merge->nr_types)
		return PX_EVENT_USER_FIRST + i;
	i -= merge->nr_types;
	return i < merge->nr_calls ? merge->call[i] : (unsigned int)PX_EVENT_NONE;
}

static const struct px_merge_type *type_of(struct px_archive *archive, unsigned int id)
{
	struct px_merge *merge = merge_of(archive);

	return id >= PX_EVENT_USER_FIRST && id - PX_EVENT_USER_FIRST < merge->nr_types ?
		       &merge->type[id - PX_EVENT_USER_FIRST] :
		       NULL;
}

static int merge_type_name(struct px_archive *archive, unsigned int id, char name[PX_NAME_MAX + 1])
{
	const struct px_merge_type *type = type_of(archive, id);
	enum px_call call;

	if (px_call_of_event(id, &call)) {
		memset(name, 0, PX_NAME_MAX + 1);
		memcpy(name, px_call_name(call), strnlen(px_call_name(call), PX_NAME_MAX));
		return 0;
	}
	if (!type)
		return EINVAL;
	memcpy(name, type->name, sizeof(type->name));
	return 0;
}

static size_t merge_description(struct px_archive *archive, unsigned int id,
				char text[PX_FIELDS_TEXT_MAX])
{
	const struct px_merge_type *type = type_of(archive, id);

	if (!type || type->length == 0)
		return 0;
	memcpy(text, type->text, type->length);
	return type->length;
}

static bool merge_wrapper(struct px_archive *archive, uint32_t i, struct px_wrapper_sum *sum)
{
	struct px_merge *merge = merge_of(archive);

	if (i >= merge->nr_wrappers)
		return false;
	*sum = merge->wrapper[i];
	return true;
}

static bool merge_object(struct px_archive *archive, uint32_t i, struct px_archive_object *object)
{
	struct px_merge *merge = merge_of(archive);

	if (i >= merge->nr_objects)
		return false;
	*object = merge->object[i];
	return true;
}

/* Each origin has its own modules. */
static size_t merge_modules(struct px_archive *archive, char *text, size_t size)
{
	(void)archive;
	(void)text;
	(void)size;
	return 0;
}

static const struct px_archive_kind kind = {
	.next = merge_next,
	.rewind = merge_rewind,
	.type = merge_type,
	.type_name = merge_type_name,
	.description = merge_description,
	.wrapper = merge_wrapper,
	.object = merge_object,
	.modules = merge_modules,
};

/* Making. */

struct px_merge *px_merge_make(void)
{
	struct px_merge *merge = calloc(1, sizeof(*merge));

	if (merge) {
		merge->archive.kind = &kind;
		merge->next_handle = 1;
		merge->result.tick_ns = 1;
	}
	return merge;
}

static void free_log(struct px_merge_log *log)
{
	for (unsigned int i = 0; log->layout && i < PX_EVENT_USER_END - PX_EVENT_USER_FIRST; i++) {
		px_fields_free(log->layout[i].from);
		px_fields_free(log->layout[i].to);
	}
	free(log->layout);
	free(log->handle);
}

void px_merge_free(struct px_merge *merge)
{
	if (!merge)
		return;
	if (merge->copy)
		(void)px_log_copy_end(merge->copy, &merge->result);
	for (uint32_t i = 0; i < merge->nr_logs; i++)
		free_log(&merge->log[i]);
	for (uint32_t i = 0; i < merge->nr_types; i++)
		free(merge->type[i].text);
	for (uint32_t i = 0; i < merge->origins.nr; i++)
		free((char *)merge->origins.origin[i].modules);
	px_origins_free(&merge->origins);
	free(merge->log);
	free(merge->type);
	free(merge->object);
	free(merge->wrapper);
	free(merge->data);
	free(merge->converted);
	free(merge);
}

static bool has_other_sizes(const struct px_fields_model *model)
{
	struct px_fields_model same_order = *model;

	same_order.is_big = px_fields_native().is_big;
	return !px_fields_is_native(&same_order);
}

static void add_attributes(struct px_merge *merge, const struct px_archive *from)
{
	struct px_attr *attr = &merge->archive.attr;
	const struct px_attr *other = &from->attr;
	uint64_t max_data_size = other->max_data_size;

	if (merge->nr_logs == 1) {
		*attr = *other;
		merge->archive.info.target_pid = from->info.target_pid;
	}
	if (has_other_sizes(&from->info.model))
		max_data_size = px_fields_convert_bound(max_data_size);
	if (max_data_size > attr->max_data_size)
		attr->max_data_size = max_data_size;
	if (other->create_time.s < attr->create_time.s)
		attr->create_time = other->create_time;
	attr->sched |= other->sched;
	attr->aggregates |= other->aggregates;
	attr->inherited |= other->inherited;
	merge->result.loss.overwritten += from->loss.overwritten;
	merge->result.loss.dropped += from->loss.dropped;
	merge->result.loss.abandoned += from->loss.abandoned;
	merge->result.is_full |= from->status.is_full;
	merge->result.is_overrun |= from->status.is_overrun;
	/* The merged log is complete, but not all that was recorded is in it. */
	merge->result.nr_log_lost += from->info.nr_lost;
	merge->result.lacks_others |= from->status.log_is_overrun || !from->info.is_complete ||
				      from->info.is_damaged;
}

int px_merge_add(struct px_merge *merge, struct px_archive *from)
{
	struct px_merge_log *log, *larger;
	int error;

	if (from->info.is_foreign || from->origins.nr == 0)
		return EINVAL;
	larger = realloc(merge->log, (merge->nr_logs + 1) * sizeof(*larger));
	if (!larger)
		return ENOMEM;
	merge->log = larger;
	log = &merge->log[merge->nr_logs++];
	memset(log, 0, sizeof(*log));
	log->is_running = from->info.is_running;
	add_attributes(merge, from);
	error = px_merge_add_origins(merge, log, from);
	if (!error)
		error = px_merge_add_types(merge, log, from);
	if (!error)
		error = px_merge_add_objects(merge, log, from);
	if (!error)
		error = px_merge_add_wrappers(merge, from);
	return error;
}

int px_merge_begin(struct px_merge *merge, int fd, const struct px_process_id *writer)
{
	const struct px_log_copy_setup setup = {.fd = fd,
						.writer = *writer,
						.attr = &merge->archive.attr,
						.target_pid = merge->archive.info.target_pid,
						.from = &merge->archive,
						.has_origins = true};

	merge->fd = fd;
	merge->data_size = merge->archive.attr.max_data_size > PX_SYSTEM_EVENT_BYTES ?
				   (size_t)merge->archive.attr.max_data_size :
				   PX_SYSTEM_EVENT_BYTES;
	merge->data = malloc(merge->data_size);
	merge->converted = malloc(merge->data_size);
	return merge->data && merge->converted ? px_log_copy_begin(&setup, &merge->copy) : ENOMEM;
}

void px_merge_set_clock(struct px_merge *merge, uint32_t number, const struct px_merge_clock *clock)
{
	const struct px_merge_log *log = &merge->log[number];

	/* An origin of a merged log had a clock of its own already: all corrections together count. */
	for (uint32_t i = 0; i < log->nr_origins; i++) {
		struct px_origin *origin = &merge->origins.origin[log->first_origin + i];

		origin->shift_ns += clock->shift_ns;
		origin->drift += clock->drift;
		if (origin->uncertainty_ns >= 0)
			origin->uncertainty_ns = clock->uncertainty_ns < 0 ?
							 -1 :
							 origin->uncertainty_ns +
								 clock->uncertainty_ns;
	}
}

void px_merge_set_name(struct px_merge *merge, uint32_t number, const char *name)
{
	const struct px_merge_log *log = &merge->log[number];
	struct px_origin *origin = &merge->origins.origin[log->first_origin];

	if (log->nr_origins == 1 && *origin->name == '\0')
		memcpy(origin->name, name, strnlen(name, sizeof(origin->name) - 1));
}

/*
 * These records say something about all threads of a log, so in a merged log they name its first process.  In a log
 * that was merged before, they do that already.
 */
static bool is_of_whole_log(const struct px_merge_log *log, unsigned int id)
{
	return log->nr_origins == 1 &&
	       (id == PX_EVENT_SCHED_START || id == PX_EVENT_SCHED_STOP || id == PX_EVENT_SCHED_GAP);
}

/* A damaged log may not know its first process, which has its modules.  Then it is that of the first event. */
static void note_process(struct px_merge *merge, const struct px_merge_log *log, uint32_t pid)
{
	struct px_origin *origin = &merge->origins.origin[log->first_origin];

	if (log->nr_origins == 1 && origin->pid == 0 && pid % PX_HOST_PIDS != 0 && pid < UINT32_C(0x80000000))
		origin->pid = pid;
}

/* Make the data of a machine of another kind those of this one. */
static void convert_layout(struct px_merge *merge, const struct px_merge_log *log, struct px_report *report)
{
	const unsigned int id = report->record.id;
	const struct px_merge_layout *layout;
	unsigned char *other = merge->data;

	if (!log->layout || id < PX_EVENT_USER_FIRST || id >= PX_EVENT_USER_END)
		return;
	layout = &log->layout[id - PX_EVENT_USER_FIRST];
	if (!layout->from)
		return;
	report->copied = px_fields_convert(layout->from, layout->to, merge->data, report->copied, merge->converted,
					   merge->data_size);
	merge->data = merge->converted;
	merge->converted = other;
}

int px_merge_event(struct px_merge *merge, uint32_t number, const struct px_report *from,
		   const void *data)
{
	struct px_merge_log *log = &merge->log[number];
	struct px_report report = *from;
	struct px_record *record = &report.record;

	if (report.copied > merge->data_size)
		report.copied = merge->data_size;
	if (report.copied > 0)
		memcpy(merge->data, data, report.copied);
	convert_layout(merge, log, &report);
	report.length = report.copied;
	px_merge_convert_data(merge, log, record, merge->data, report.copied);
	if (record->id >= PX_EVENT_IDS || log->type_of[record->id] == 0)
		record->id = PX_EVENT_UNNAMED; /* only a damaged log has such an event */
	else
		record->id = log->type_of[record->id];
	if (record->pid == 0)
		record->pid = is_of_whole_log(log, record->id) ? merge->origins.origin[log->first_origin].pid :
								 log->host_of[0] * PX_HOST_PIDS;
	else
		record->pid = px_merge_pid(log, record->pid);
	record->context = px_merge_handle(merge, log, record->context);
	record->cpu %= PX_HOST_CPUS;
	record->length = (uint32_t)report.length;
	note_process(merge, log, record->pid);
	px_log_copy_append(merge->copy, &report, merge->data);
	return px_log_copy_error(merge->copy);
}

void px_merge_note_missing(struct px_merge *merge, uint32_t number, uint64_t nr)
{
	if (merge->log[number].is_running)
		merge->result.loss.overwritten += nr;
	else
		merge->result.nr_log_lost += nr;
}

int px_merge_end(struct px_merge *merge)
{
	int error = px_log_copy_end(merge->copy, &merge->result);

	merge->copy = NULL;
	if (!error)
		error = px_origins_append(merge->fd, &merge->origins);
	px_merge_free(merge);
	return error;
}
