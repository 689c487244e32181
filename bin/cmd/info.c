/* SPDX-License-Identifier: MIT */
/* txtrace info: print TraceX's Trace File Information, and the attributes that POSIX defines for a stream. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/memory.h"
#include "base/message.h"
#include "base/output.h"
#include "cli/command.h"
#include "cli/fields.h"
#include "cli/rows.h"
#include "cli/terminal.h"
#include "cmd/info_origins.h"
#include "input/spool.h"
#include "live/wrapper_stats.h"
#include "report/wall_clock.h"
#include "trace/origins.h"
#include "trace/programs.h"
#include "trace/sched.h"
#include "trace/selection.h"
#include "trace/source.h"
#include "trace/payload.h"
#include "trace/selection.h"
#include "trace/symbols.h"

enum { OPTION_OBJECTS = OPTION_OWN, OPTION_TYPES, OPTION_MODULES, OPTION_WRAPPERS };

static const struct option_row option_rows[] = {
	{OPTION_OBJECTS, "objects", NULL, "list the objects: threads, mutexes, ..."},
	{OPTION_TYPES, "types", NULL, "list the event types"},
	{OPTION_MODULES, "modules", NULL, "list the loaded modules"},
	{OPTION_WRAPPERS, "wrappers", NULL, "list the wrapped functions and the number of their calls"},
	OPTION_ROWS_TYPE,
	OPTION_ROW_TEXT_OR_JSON,
	OPTION_ROWS_THREADX,
	OPTION_ROW_COLOR,
	OPTION_ROW_NO_PAGER,
	OPTIONS_END,
};

struct options {
	struct selection selection;
	bool objects, types, modules, wrappers;
	bool is_json;
};

/* Results of a pass over all events. */
struct scan {
	uint64_t nr_events;
	int64_t first_ns, last_ns;
	uint64_t gaps, nr_missing;
	struct sched_record sched_end; /* the newest SCHED_START or SCHED_STOP */
	int64_t sched_end_ns;
	unsigned long long sched_lost, sched_gaps, sched_open;
};

static void inspect_sched(struct scan *scan, const struct event *event)
{
	const struct sched_record record = sched_read(event);

	scan->sched_lost += record.nr_lost;
	scan->sched_gaps += record.kind == SCHED_GAP_BEGINS;
	scan->sched_open += record.kind == SCHED_GAP_BEGINS;
	scan->sched_open -= record.kind == SCHED_GAP_ENDS && scan->sched_open > 0;
	if (record.kind != SCHED_START && record.kind != SCHED_STOP)
		return;
	scan->sched_end = record;
	scan->sched_end_ns = event->time_ns;
}

static void inspect_events(struct source *source, struct scan *scan)
{
	struct event event;

	memset(scan, 0, sizeof(*scan));
	source->task = "reading";
	while (source_next(source, &event)) {
		if (scan->nr_events++ == 0)
			scan->last_ns = event.time_ns;
		if (event.time_ns > scan->last_ns)
			scan->last_ns = event.time_ns;
		scan->gaps += event.type == POSIX_TRACE_OVERFLOW;
		inspect_sched(scan, &event);
	}
	scan->first_ns = source->first_ns;
	scan->nr_missing = source_missing(source);
	source_rewind(source);
}

/* In JSON, the unit is part of the key, and the value is a number. */
static void put_measure(struct fields *fields, const char *label, const char *unit, const char *number)
{
	char text[64];

	snprintf(text, sizeof(text), fields->is_json ? "%s %s" : "%s", label, unit);
	fields_label(fields, text);
	text_string(fields->text, number);
	if (!fields->is_json)
		text_printf(fields->text, " %s\n", unit);
}

/* Nobody knows if a trace buffer is complete, but for one that was cut. */
static void put_complete(struct fields *fields, const struct source *source)
{
	const struct txtrace_file_info *file = &source->file;
	const char *reason = file->running			? "it is being written" :
			     file->damaged || source->is_cut	? "it is cut or damaged" :
			     file->complete			? NULL :
			     spool_cut(source->path)		? spool_cut(source->path) :
								  "its writer died";
	char text[64];

	if (file->foreign && !reason)
		return;
	snprintf(text, sizeof(text), "no: %s", reason ? reason : "");
	if (fields->is_json)
		fields_bool(fields, "complete", !reason);
	else
		fields_text(fields, "complete", reason ? text : "yes");
	if (fields->is_json && reason)
		fields_text(fields, "incomplete because", reason);
}

/* Those that --objects lists. */
static unsigned long long count_objects(const struct source *source)
{
	unsigned long long nr = 0;

	for (size_t i = 0; i < source->nr_objects; i++)
		nr += source->objects[i].type != OBJECT_EVENT_TYPE;
	return nr;
}

static void put_file(struct fields *fields, const struct source *source, const struct scan *scan)
{
	const struct txtrace_file_info *file = &source->file;
	char value[128];

	fields_text(fields, "file", source->path);
	fields_text(fields, "kind", file->foreign ? "ThreadX trace buffer" : "posixtrace log");
	put_complete(fields, source);
	if (fields->is_json)
		fields_bool(fields, "byte swapped", file->byte_swapped != 0);
	else
		fields_text(fields, "byte order", file->byte_swapped ? "other than this machine's" : "this machine's");
	if (!file->foreign && !fields->is_json && source->machine.name[0] != '\0' &&
	    (file->byte_swapped || source->model.of_pointer != sizeof(void *))) {
		snprintf(value, sizeof(value), "%s, %u bits, the %s byte first", source->machine.name,
			 8 * source->model.of_pointer, source->model.is_big ? "highest" : "lowest");
		fields_text(fields, "data of machine", value);
	}
	if (file->text && fields->is_json)
		fields_bool(fields, "text", true);
	else if (file->text)
		fields_text(fields, "text", "yes: hex, Intel HEX or S-records");
	snprintf(value, sizeof(value), "%g", file->tick_ns);
	put_measure(fields, "tick", "ns", value);
	snprintf(value, sizeof(value), "0x%08x", file->time_mask);
	fields_text(fields, "time mask", value);
	fields_number(fields, "volumes", file->nr_volumes);
	fields_number(fields, "event slots", file->nr_slots);
	fields_number(fields, "event entries", file->nr_entries);
	fields_number(fields, "object slots", file->nr_objects);
	fields_number(fields, "objects", count_objects(source));
	fields_number(fields, "name size", file->name_size);
	if (file->nr_unlisted > 0)
		fields_number(fields, "names TraceX lacks", file->nr_unlisted);
	if (file->nr_shortened > 0)
		fields_number(fields, "gaps TraceX shows short", file->nr_shortened);
	fields_number(fields, "events", scan->nr_events);
	if (fields->is_json)
		fields_number(fields, "missing", scan->nr_missing);
	else if (scan->nr_missing > 0)
		fields_number(fields, "not readable", scan->nr_missing);
	snprintf(value, sizeof(value), "%lld.%09lld",
		 (long long)((scan->last_ns - scan->first_ns) / NS_PER_S),
		 (long long)((scan->last_ns - scan->first_ns) % NS_PER_S));
	put_measure(fields, "duration", "s", value);
}

/* Merged logs, logs of earlier versions and trace buffers have no readings. */
static void put_wall_clock(struct fields *fields, const struct source *source)
{
	const struct wall_clock clock = wall_clock_of(source);
	char text[256];

	if (clock.nr_runs == 0)
		return;
	if (!fields->is_json) {
		wall_clock_describe(text, sizeof(text), &clock);
		fields_text(fields, "wall clock", text);
		return;
	}
	fields_number(fields, "wall clock readings", clock.run[0].nr_readings);
	fields_number(fields, "wall clock width ns", (uint64_t)clock.width_ns);
	fields_number(fields, "wall clock settings", clock.nr_settings);
	if (clock.uncertainty_ns >= 0)
		fields_number(fields, "utc uncertainty ns", (uint64_t)clock.uncertainty_ns);
	else
		json_null(&fields->json, "utc_uncertainty_ns");
}

static void put_attributes(struct fields *fields, struct source *source)
{
	char name[TRACE_NAME_MAX + 1] = "", when[64] = "?";
	struct timespec created = {0, 0};
	size_t stream_size = 0, data_size = 0, log_size = 0;
	int stream_policy = 0, log_policy = 0, inherited = 0;
	struct tm date;

	posix_trace_attr_getname(&source->attr, name);
	posix_trace_attr_getcreatetime(&source->attr, &created);
	posix_trace_attr_getstreamfullpolicy(&source->attr, &stream_policy);
	posix_trace_attr_getlogfullpolicy(&source->attr, &log_policy);
	posix_trace_attr_getinherited(&source->attr, &inherited);
	posix_trace_attr_getstreamsize(&source->attr, &stream_size);
	posix_trace_attr_getmaxdatasize(&source->attr, &data_size);
	posix_trace_attr_getlogsize(&source->attr, &log_size);
	if (localtime_r(&created.tv_sec, &date))
		strftime(when, sizeof(when), "%F %T %z", &date);
	fields_text(fields, "trace name", name);
	fields_text(fields, "created", when);
	posix_trace_attr_getgenversion(&source->attr, name);
	fields_text(fields, "generated by", name);
	fields_text(fields, "stream-full policy", policy_name(stream_policy));
	fields_text(fields, "log-full policy", policy_name(log_policy));
	fields_bool(fields, "inherited", inherited == POSIX_TRACE_INHERITED);
	fields_number(fields, "stream size", stream_size);
	fields_number(fields, "largest data", data_size);
	fields_number(fields, "log size", log_size);
}

/* A log without scheduling records has no such line. */
static void put_sched(struct fields *fields, const struct source *source, const struct scan *scan)
{
	int has_sched = 0;
	char text[128];

	if (txtrace_attr_getsched(&source->attr, &has_sched) != 0 || !has_sched)
		return;
	if (scan->sched_end.kind == SCHED_STOP && scan->sched_end.end != TXTRACE_SCHED_STOPPED)
		snprintf(text, sizeof(text), "recorded up to %.6f s: %s",
			 (double)(scan->sched_end_ns - source->first_ns) / 1e9,
			 sched_end_name(scan->sched_end.end));
	else
		snprintf(text, sizeof(text), "recorded");
	fields_text(fields, "scheduling", text);
	if (scan->sched_gaps == 0)
		return;
	fields_number(fields, "gaps: scheduling", scan->sched_gaps);
	/* The kernel says how many only with its next record. */
	if (scan->sched_open && scan->sched_lost == 0 && fields->is_json)
		json_null(&fields->json, "lost_scheduling");
	else if (scan->sched_open && scan->sched_lost == 0)
		fields_text(fields, "lost: scheduling", "not known");
	else
		fields_number(fields, "lost: scheduling", scan->sched_lost);
}

static void put_losses(struct fields *fields, struct source *source, const struct scan *scan)
{
	const struct source_unnamed unnamed = source_count_unnamed(source);

	put_sched(fields, source, scan);
	fields_number(fields, "lost: overwritten", source->loss.overwritten);
	fields_number(fields, "lost: dropped", source->loss.dropped);
	fields_number(fields, "lost: abandoned", source->loss.abandoned);
	fields_number(fields, "lost: log", (unsigned int)source->file.nr_log_lost);
	fields_number(fields, "gaps", scan->gaps);
	if (unnamed.nr_events > 0) {
		fields_number(fields, "events without thread", unnamed.nr_events);
		fields_number(fields, "first without thread", unnamed.first);
	}
	if (unnamed.nr_calls > 0) {
		fields_number(fields, "calls without object", unnamed.nr_calls);
		fields_number(fields, "first without object", unnamed.first_call);
	}
	/* The status says only whether the stream was full when it ended. */
	fields_bool(fields, "stream was full",
		    source->status.posix_stream_full_status == POSIX_TRACE_FULL || source->loss.dropped > 0);
	fields_bool(fields, "log was full", source->status.posix_log_full_status == POSIX_TRACE_FULL);
	fields_bool(fields, "log has lost events", source->status.posix_log_overrun_status == POSIX_TRACE_OVERRUN);
}

/* Print the address of an object that calls used, and the code location of the first of these calls. */
static void put_site(struct text *text, const struct source *source, struct symbols *symbols,
		     const struct txtrace_object *object)
{
	uint64_t code = object->site ? programs_code_at(&source->programs, object->pid, object->site) : 0;
	const char *site = code ? symbols_code(symbols, code) : NULL;

	if (object->address > 0)
		text_printf(text, "  0x%llx", object->address);
	if (site) {
		text_string(text, "  ");
		text_plain(text, site, 0);
	}
}

static void list_objects(struct text *text, const struct source *source)
{
	static const struct rows_column columns[] = {
		{"handle", NULL, 0, 10, false}, {"type", NULL, 1, 14, false},
		{"priority", NULL, 1, 8, true}, {"pid", NULL, 1, 8, true},
		{"tid", NULL, 1, 8, true},	{"name", NULL, 2, 0, false},
		{NULL, NULL, 0, 0, false},
	};
	struct symbols *symbols = symbols_of_log(source->trace);
	struct rows rows = {.text = text, .columns = columns};
	char handle[16];

	text_char(text, '\n');
	rows_titles(&rows);
	for (size_t i = 0; i < source->nr_objects; i++) {
		const struct txtrace_object *object = &source->objects[i];

		if (object->type == OBJECT_EVENT_TYPE)
			continue;
		snprintf(handle, sizeof(handle), "%08x", object->handle);
		rows_begin(&rows);
		rows_string(&rows, handle);
		rows_string(&rows, source_object_type(source, object->type));
		if (object->priority >= 0)
			rows_signed(&rows, object->priority);
		else
			rows_unknown(&rows);
		rows_signed(&rows, object->pid);
		rows_signed(&rows, object->tid);
		rows_string(&rows, object->name);
		text_string(text, object->released ? " (deleted)" : "");
		put_site(text, source, symbols, object);
		rows_end(&rows);
	}
	symbols_free(symbols);
}

static void note_described(void *argument, trace_event_id_t type, const struct px_fields *fields)
{
	(void)fields;
	*(bool *)argument |= type > POSIX_TRACE_UNNAMED_USEREVENT;
}

static void list_types(struct text *text, struct source *source)
{
	static const struct rows_column columns[] = {
		{"type", NULL, 0, 6, true},
		{"name", NULL, 2, 0, false},
		{"data", NULL, 2, 0, false},
		{NULL, NULL, 0, 0, false},
	};
	static const struct rows_column without_data[] = {
		{"type", NULL, 0, 6, true},
		{"name", NULL, 2, 0, false},
		{NULL, NULL, 0, 0, false},
	};
	struct rows rows = {.text = text, .columns = without_data};
	bool has_data = false;
	trace_event_id_t id;
	int unavailable;

	payload_each_type(source, note_described, &has_data);
	if (has_data)
		rows.columns = columns;

	text_char(text, '\n');
	rows_titles(&rows);
	while (posix_trace_eventtypelist_getnext_id(source->trace, &id, &unavailable) == 0 &&
	       !unavailable) {
		rows_begin(&rows);
		rows_number(&rows, id);
		rows_string(&rows, source_type_name(source, id));
		if (has_data) {
			rows_string(&rows, payload_description(source, id));
		}
		rows_end(&rows);
	}
}

/* Print a module. The line is "BASE BEGIN END BUILD-ID PATH". */
static void put_module(struct rows *rows, const char *line)
{
	char base[20], begin[20], end[20], id[72];
	int path = 0;

	rows_begin(rows);
	if (sscanf(line, "%19s %19s %19s %71s %n", base, begin, end, id, &path) < 4) {
		text_plain(rows->text, line, 0);
	} else {
		rows_string(rows, base);
		rows_string(rows, begin);
		rows_string(rows, end);
		rows_string(rows, id);
		rows_string(rows, line + path);
	}
	rows_end(rows);
}

static void list_modules(struct text *text, const struct source *source)
{
	static const struct rows_column columns[] = {
		{"base", NULL, 0, 12, false}, {"begin", NULL, 2, 12, false},
		{"end", NULL, 2, 12, false},  {"build-id", NULL, 2, 40, false},
		{"path", NULL, 2, 0, false},  {NULL, NULL, 0, 0, false},
	};
	struct rows rows = {.text = text, .columns = columns};
	char *modules = source_modules(source), *rest = modules;

	text_char(text, '\n');
	rows_titles(&rows);
	for (char *line; (line = strsep(&rest, "\n"));)
		if (*line)
			put_module(&rows, line);
	free(modules);
}

/* The lists in JSON. */

static void put_json_objects(struct json *json, const struct source *source)
{
	struct symbols *symbols = symbols_of_log(source->trace);

	json_array(json, "object_list");
	for (size_t i = 0; i < source->nr_objects; i++) {
		const struct txtrace_object *object = &source->objects[i];
		uint64_t code = object->site ? programs_code_at(&source->programs, object->pid, object->site) : 0;
		const char *site = code ? symbols_code(symbols, code) : NULL;

		if (object->type == OBJECT_EVENT_TYPE)
			continue;
		json_object(json, NULL);
		json_number(json, "handle", object->handle);
		json_string(json, "kind", source_object_type(source, object->type));
		json_string(json, "name", object->name);
		if (object->priority >= 0)
			json_number(json, "priority", (uint64_t)object->priority);
		else
			json_null(json, "priority");
		json_number(json, "pid", object->pid > 0 ? (uint64_t)object->pid : 0);
		json_number(json, "tid", object->tid > 0 ? (uint64_t)object->tid : 0);
		json_number(json, "address", object->address);
		if (site)
			json_string(json, "site", site);
		else
			json_null(json, "site");
		json_bool(json, "deleted", object->released != 0);
		json_close(json);
	}
	json_close(json);
	symbols_free(symbols);
}

static void put_json_types(struct json *json, struct source *source)
{
	trace_event_id_t id;
	int unavailable;

	json_array(json, "type_list");
	while (posix_trace_eventtypelist_getnext_id(source->trace, &id, &unavailable) == 0 && !unavailable) {
		const char *description = payload_description(source, id);

		json_object(json, NULL);
		json_number(json, "type", id);
		json_string(json, "event", source_type_name(source, id));
		if (*description)
			json_string(json, "data", description);
		else
			json_null(json, "data");
		json_close(json);
	}
	json_close(json);
}

static void put_json_module(struct json *json, const char *line)
{
	char base[20], begin[20], end[20], id[72];
	int path = 0;

	if (sscanf(line, "%19s %19s %19s %71s %n", base, begin, end, id, &path) < 4)
		return;
	json_object(json, NULL);
	json_string(json, "base", base);
	json_string(json, "begin", begin);
	json_string(json, "end", end);
	json_string(json, "build_id", id);
	json_string(json, "path", line + path);
	json_close(json);
}

static void put_json_modules(struct json *json, const struct source *source)
{
	char *modules = source_modules(source), *rest = modules;

	json_array(json, "module_list");
	for (char *line; (line = strsep(&rest, "\n"));)
		if (*line)
			put_json_module(json, line);
	json_close(json);
	free(modules);
}

static void put_json_lists(const struct options *options, struct json *json, struct source *source)
{
	if (options->objects)
		put_json_objects(json, source);
	if (options->types)
		put_json_types(json, source);
	if (options->modules)
		put_json_modules(json, source);
	if (source_is_merged(source))
		info_json_origins(json, source);
}

static void print_lists(const struct options *options, struct text *text, struct source *source)
{
	if (options->objects)
		list_objects(text, source);
	if (options->types)
		list_types(text, source);
	if (options->modules)
		list_modules(text, source);
	if (source_is_merged(source))
		info_list_origins(text, source);
	if (options->wrappers && !source->file.foreign)
		wrapper_stats_list(text, source);
}

static int print_result(const struct options *options, const char *path)
{
	static struct text text;
	struct fields fields = {.text = &text, .is_json = options->is_json};
	struct source *source = source_open(path, options->selection.tick_ns);
	struct scan scan;

	if (!source)
		return EXIT_TROUBLE;
	selection_begin(&options->selection, &source, 1);
	terminal_page();
	text_open(&text, NULL, false);
	inspect_events(source, &scan);
	fields_begin(&fields);
	put_file(&fields, source, &scan);
	if (!source->file.foreign) {
		put_wall_clock(&fields, source);
		put_attributes(&fields, source);
		source_rewind(source);
		put_losses(&fields, source, &scan);
		wrapper_stats_fields(&fields, source);
	}
	if (options->is_json)
		put_json_lists(options, &fields.json, source);
	fields_end(&fields);
	if (!options->is_json)
		print_lists(options, &text, source);
	source_close(source);
	return text_close(&text, true) ? EXIT_FINE : EXIT_TROUBLE;
}

static bool read_option(void *argument, int code)
{
	struct options *options = argument;
	int taken = selection_option(&options->selection, code, optarg);

	if (taken != 0)
		return taken > 0;
	switch (code) {
	case OPTION_OBJECTS:
		return options->objects = true;
	case OPTION_TYPES:
		return options->types = true;
	case OPTION_MODULES:
		return options->modules = true;
	case OPTION_WRAPPERS:
		return options->wrappers = true;
	case OPTION_FORMAT:
		return options_is_json(optarg, &options->is_json);
	default:
		return terminal_option(code, optarg);
	}
}

static int run(int argc, char **argv)
{
	struct options options = {0};
	const char *path;

	path = options_read_file(&cmd_info, argc, argv, read_option, &options);
	if (!path)
		return EXIT_TROUBLE;
	return print_result(&options, path);
}

const struct command cmd_info = {
	.name = "info",
	.arguments = "FILE",
	.summary = "describe a trace file, and count the events that it lost",
	.options = option_rows,
	.run = run,
};
