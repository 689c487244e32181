/* SPDX-License-Identifier: MIT */
#include "sql/files.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/memory.h"
#include "base/message.h"
#include "trace/origins.h"
#include "trace/payload.h"
#include "trace/symbols.h"

/* Read the first event: all relative times count from it. */
static void read_first(struct sql_file *file)
{
	struct event event;

	file->has_event = source_next(file->source, &event);
	file->first_ns = file->source->first_ns;
	source_rewind(file->source);
}

/* The descriptions of types are beside the file, and not beside its copy. */
static void begin_payload(const struct sql_file *file, struct source *source)
{
	source->path = file->path;
	payload_begin(source);
}

bool sql_file_open(struct sql_file *file, const char *path, const struct selection *selection,
		   const struct spans *spans, bool is_quiet)
{
	*file = (struct sql_file){.path = path, .copy = -1, .selection = selection, .tick_ns = selection->tick_ns};
	file->source = is_quiet ? source_open_quiet(path, file->tick_ns) : source_open_mixed(path, file->tick_ns);
	if (!file->source)
		return false;
	file->info = file->source->file;
	if (file->info.running)
		file->copy = source_copy_running(path);
	if (file->copy < 0)
		file->read_path = must(strdup(path));
	else if (asprintf(&file->read_path, "/proc/self/fd/%d", file->copy) < 0)
		file->read_path = must(NULL);
	if (file->copy >= 0) {
		source_close(file->source);
		file->source = source_open_quiet(file->read_path, 0);
		if (!file->source)
			return false;
	}
	if (!is_quiet)
		source_report_losses(file->source);
	file->source->is_reported = file->source->is_sched_reported = true;
	file->tells_missing = !is_quiet;
	begin_payload(file, file->source);
	spans_copy(&file->spans, spans);
	spans_add_described(&file->spans, file->source);
	read_first(file);
	return true;
}

static struct source *open_again(const struct sql_file *file)
{
	struct source *source = source_open_quiet(file->read_path, file->info.foreign ? file->tick_ns : 0);

	if (source)
		begin_payload(file, source);
	return source;
}

struct source *sql_file_take(struct sql_file *file)
{
	if (file->is_taken)
		return open_again(file);
	file->is_taken = true;
	source_rewind(file->source);
	return file->source;
}

/* Say once how many events cannot be read: this is known when they were read. */
static void tell_missing(struct sql_file *file, struct source *source)
{
	if (!file->tells_missing || source_missing(source) == 0)
		return;
	source->is_reported = file->tells_missing = false;
	source_report_missing(source);
}

void sql_file_give(struct sql_file *file, struct source *source)
{
	if (source)
		tell_missing(file, source);
	if (source && source == file->source)
		file->is_taken = false;
	else
		source_close(source);
}

void sql_file_close(struct sql_file *file)
{
	source_close(file->source);
	if (file->copy >= 0)
		close(file->copy);
	if (file->has_model)
		waits_free(&file->waits);
	source_close(file->of_model);
	free(file->read_path);
	free(file->type);
	free(file->module);
	free(file->module_text);
	free(file->wait);
	free(file->hold);
	free(file->state);
	free(file->span);
	spans_free(&file->spans);
}

void sql_file_count(struct sql_file *file)
{
	struct txtrace_file_info info;
	struct source *source;
	struct event event;

	if (file->has_counts)
		return;
	file->has_counts = true;
	source = sql_file_take(file);
	while (source && selection_next(file->selection, source, &event)) {
		if (file->nr_events++ == 0 || event.time_ns > file->last_ns)
			file->last_ns = event.time_ns;
		file->nr_gaps += event.type == POSIX_TRACE_OVERFLOW;
	}
	if (source && txtrace_get_file_info(source->trace, &info) == 0)
		file->nr_missing = info.nr_missing;
	sql_file_give(file, source);
}

/* Waits, holds and states. */

/* Return room for one more member of an array. */
static void *add(void *array, size_t *nr, size_t *room, size_t size)
{
	void **memory = array;

	if (*nr == *room) {
		*room = *room ? 2 * *room : 64;
		*memory = must(reallocarray(*memory, *room, size));
	}
	return (char *)*memory + (*nr)++ * size;
}

static void add_wait(struct sql_file *file, const struct wait *wait, enum sql_ending ending)
{
	int64_t length_ns = wait->end_ns - wait->begin_ns;
	struct sql_wait *row;

	if (!wait->counts)
		return;
	row = add(&file->wait, &file->nr_waits, &file->room_waits, sizeof(*row));
	*row = (struct sql_wait){
		.thread = wait->thread,
		.holder = wait->holder,
		.waker = ending == SQL_ENDED ? wait->waker : NULL,
		.object = wait->object,
		.service = wait->service,
		.waker_service = wait->waker_service,
		.number = wait->number,
		.begin_ns = wait->begin_ns,
		.length_ns = length_ns < 0 ? 0 : length_ns, /* the times of a damaged file may fall */
		.address = wait->address,
		.result = wait->result,
		.ending = ending,
	};
}

static void take_wait(void *arg, const struct wait *wait)
{
	add_wait(arg, wait, wait->has_ended ? SQL_ENDED : SQL_LASTS);
}

static void take_broken(void *arg, const struct wait *wait, int64_t at_ns)
{
	(void)at_ns;
	add_wait(arg, wait, SQL_MISSING);
}

static void add_hold(struct sql_file *file, const struct hold *hold, int64_t at_ns, enum sql_ending ending)
{
	struct sql_hold *row;

	if (!hold->counts)
		return;
	row = add(&file->hold, &file->nr_holds, &file->room_holds, sizeof(*row));
	*row = (struct sql_hold){
		.thread = hold->thread,
		.object = hold->object,
		.since_ns = hold->since_ns,
		.until_ns = at_ns,
		.address = hold->address,
		.is_shared = hold->is_shared,
		.ending = ending,
	};
}

static void take_given(void *arg, const struct hold *hold, int64_t at_ns)
{
	struct sql_file *file = arg;

	add_hold(file, hold, at_ns, file->waits.has_ended ? SQL_LASTS : SQL_ENDED);
}

static void take_dropped(void *arg, const struct hold *hold, int64_t at_ns)
{
	add_hold(arg, hold, at_ns, SQL_MISSING);
}

static void take_spent(void *arg, const struct sched_thread *thread, const struct waiter *waiter,
		       enum thread_state state, int64_t from_ns, int64_t until_ns)
{
	struct sql_file *file = arg;
	struct sql_state *row;

	(void)waiter;
	if (until_ns <= from_ns)
		return;
	row = add(&file->state, &file->nr_states, &file->room_states, sizeof(*row));
	*row = (struct sql_state){.thread = thread,
				  .context = thread->context,
				  .state = state,
				  .cpu = thread->cpu,
				  .from_ns = from_ns,
				  .until_ns = until_ns};
}

static int by_number(const void *a, const void *b)
{
	const struct sql_wait *left = a, *right = b;

	return (left->number > right->number) - (left->number < right->number);
}

bool sql_file_model(struct sql_file *file)
{
	const struct waits_listener listener = {.arg = file,
						.ended = take_wait,
						.broken = take_broken,
						.given = take_given,
						.dropped = take_dropped,
						.spent = take_spent};

	if (file->has_model)
		return true;
	file->of_model = open_again(file);
	if (!file->of_model)
		return false;
	waits_read(&file->waits, file->of_model, file->selection, &listener);
	waits_report_no_calls(&file->waits);
	file->waits.listener = NULL;
	file->has_model = true;
	if (file->nr_waits > 0)
		qsort(file->wait, file->nr_waits, sizeof(*file->wait), by_number);
	return true;
}

/* Spans. */

static void take_span(void *arg, const struct span_time *time)
{
	struct sql_file *file = arg;
	struct sql_span *row = add(&file->span, &file->nr_spans, &file->room_spans, sizeof(*row));

	*row = (struct sql_span){.span = &file->spans.span[time->span], .time = *time};
}

static int by_begin(const void *a, const void *b)
{
	const struct sql_span *left = a, *right = b;

	if (left->time.number != right->time.number)
		return left->time.number < right->time.number ? -1 : 1;
	return (left->time.span > right->time.span) - (left->time.span < right->time.span);
}

bool sql_file_spans(struct sql_file *file)
{
	struct source *source;

	if (file->has_spans)
		return true;
	source = sql_file_take(file);
	if (!source)
		return false;
	file->spans.take = take_span;
	file->spans.arg = file;
	spans_read(&file->spans, source, file->selection);
	spans_report_keys(&file->spans, source);
	sql_file_give(file, source);
	file->has_spans = true;
	if (file->nr_spans > 0)
		qsort(file->span, file->nr_spans, sizeof(*file->span), by_begin);
	return true;
}

/* Lists. */

void sql_file_list_types(struct sql_file *file)
{
	size_t room = 0;
	trace_event_id_t id;
	int unavailable;

	if (file->type)
		return;
	posix_trace_eventtypelist_rewind(file->source->trace);
	while (posix_trace_eventtypelist_getnext_id(file->source->trace, &id, &unavailable) == 0 && !unavailable) {
		struct sql_type *type = add(&file->type, &file->nr_types, &room, sizeof(*type));

		*type = (struct sql_type){.id = id, .name = source_type_name(file->source, id)};
	}
}

void sql_file_list_modules(struct sql_file *file)
{
	size_t room = 0;
	char *rest;

	if (file->module_text)
		return;
	file->module_text = rest = source_modules(file->source);
	/* Each line is "BASE BEGIN END BUILD-ID PATH". */
	for (char *line; (line = strsep(&rest, "\n"));) {
		struct sql_module *module;
		char *part[4];

		if (!*line)
			continue;
		for (int i = 0; i < 4; i++)
			part[i] = strsep(&line, " ");
		if (!part[3] || !line)
			continue;
		module = add(&file->module, &file->nr_modules, &room, sizeof(*module));
		*module = (struct sql_module){.base = part[0], .from = part[1], .until = part[2], .build_id = part[3],
					      .path = line};
	}
}
