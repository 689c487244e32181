/* SPDX-License-Identifier: MIT */
/* txtrace check: check whether TraceX opens the file and shows it correctly. */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/message.h"
#include "base/output.h"
#include "check/check.h"
#include "cli/command.h"
#include "cli/json.h"
#include "cli/terminal.h"
#include "input/relay.h"
#include "input/spool.h"
#include "trace/newer.h"
#include "trace/source.h"

#define PAGE 4096 /* volumes of a log begin at page boundaries */

enum { OPTION_STRICT = OPTION_OWN };

static const struct option_row option_rows[] = {
	{OPTION_STRICT, "strict", NULL, "also exit with 1 for warnings"},
	OPTION_ROW_TEXT_OR_JSON,
	OPTION_ROW_COLOR,
	OPTION_ROW_NO_PAGER,
	OPTIONS_END,
};

struct options {
	bool is_strict, is_json;
};

struct result {
	bool is_log;
	unsigned int nr_volumes;
	struct findings findings;
	struct check_counts counts;
	uint64_t nr_shown; /* events in the first volume, the only one that TraceX opens */
};

/* Open the file with the library. Return 0 or an error number. */
static int ask_library(const char *path, struct txtrace_file_info *info)
{
	int fd = spool_open(path);
	trace_id_t trace;
	int error = fd < 0 ? EIO : posix_trace_open(fd, &trace);

	if (fd >= 0)
		close(fd);
	if (error)
		return error;
	error = txtrace_get_file_info(trace, info);
	posix_trace_close(trace);
	return error;
}

/*
 * Find the next volume from this offset on.  No volume contains the offset of the next one, so search for the header.
 * Return the offset of the volume, or 0 if there is no other volume.
 */
static uint64_t find_volume(const struct raw_file *file, uint64_t from)
{
	unsigned char first[RAW_HEADER_BYTES], page[RAW_HEADER_BYTES];

	raw_read(file, 0, first, sizeof(first));
	for (uint64_t at = (from + PAGE - 1) / PAGE * PAGE; at < file->size; at += PAGE) {
		if (raw_read(file, at, page, sizeof(page)) < sizeof(page))
			return 0;
		/* Compare the fields before buffer_end. The volumes of a log have the same values in these fields. */
		if (memcmp(first, page, 28) == 0)
			return at;
	}
	return 0;
}

static void check_volumes(const struct raw_file *file, struct result *result)
{
	struct check_counts *counts = &result->counts;
	uint64_t at = 0;

	for (unsigned int i = 0; i < result->nr_volumes; i++) {
		if (i > 0)
			at = counts->end > at ? find_volume(file, counts->end) : 0;
		result->findings.volume = i + 1;
		if (i > 0 && at == 0) {
			findings_add(&result->findings, RULE_posix, NO_OFFSET,
				     "the log has %u volumes, but this one has no image that TraceX "
				     "could open",
				     result->nr_volumes);
			break;
		}
		check_buffer(file, at, &result->findings, counts);
		if (i == 0)
			result->nr_shown = counts->nr_events;
	}
	result->findings.volume = 0;
	if (result->nr_shown < counts->nr_events)
		findings_add(&result->findings, RULE_log_volumes, NO_OFFSET,
			     "the log has %u volumes, and TraceX opens only the first: it shows %llu of %llu entries; "
			     "txtrace export --to trx --split writes files for all of them",
			     result->nr_volumes, (unsigned long long)result->nr_shown,
			     (unsigned long long)counts->nr_events);
}

static void check_path(const char *path, struct findings *findings)
{
	const char *at = path;

	while (*at && (unsigned char)*at < 0x80)
		at++;
	if (*at)
		findings_add(
			findings, RULE_path, NO_OFFSET,
			"the name of the file is not ASCII: TraceX may not be able to open it");
}

/* The check is of the log that the file has. */
static void check_form(const char *path, struct findings *findings)
{
	int fd = strcmp(path, "-") != 0 ? open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK) : -1;

	if (fd < 0)
		return;
	if (relay_is_file(fd))
		findings_add(findings, RULE_log_sent, NO_OFFSET,
			     "the file is what record -o - sends, which TraceX cannot read; " RELAY_HOW);
	close(fd);
}

static void check_text(const struct raw_file *file, struct findings *findings)
{
	if (file->jump_line > 0)
		findings_add(
			findings, RULE_text_order, NO_OFFSET,
			"line %lu of the text does not continue where the previous line ended: TraceX uses the order "
			"of the lines",
			file->jump_line);
	if (file->damaged_line > 0)
		findings_add(
			findings, RULE_text_checksum, NO_OFFSET,
			"line %lu of the text has a wrong checksum, which TraceX ignores",
			file->damaged_line);
}

/* Events lack their thread or object if the object table was full. The image does not show this, so ask the library. */
static void check_named(struct source *source, struct findings *findings)
{
	struct source_unnamed unnamed = source_count_unnamed(source);

	if (unnamed.nr_events > 0)
		findings_add(findings, RULE_log_unnamed, NO_OFFSET,
			     "%llu events from event %llu on have no thread: the table of threads and objects was full",
			     (unsigned long long)unnamed.nr_events, (unsigned long long)unnamed.first);
	if (unnamed.nr_calls > 0)
		findings_add(findings, RULE_log_unnamed, NO_OFFSET,
			     "%llu calls from event %llu on have no object: the table of threads and objects was full",
			     (unsigned long long)unnamed.nr_calls, (unsigned long long)unnamed.first_call);
}

/* The stamps of the image may be in order although the exact times, which only the library reads, are not. */
static void check_times(struct source *source, struct findings *findings)
{
	uint64_t nr_steps = 0, first = 0;
	int64_t last_ns = INT64_MIN, most_ns = 0;
	struct event event;

	source->task = "checking the times";
	while (source_next(source, &event)) {
		if (event.time_ns < last_ns) {
			if (nr_steps++ == 0)
				first = event.number;
			if (last_ns - event.time_ns > most_ns)
				most_ns = last_ns - event.time_ns;
		}
		last_ns = event.time_ns;
	}
	if (nr_steps > 0)
		findings_add(findings, RULE_log_time, NO_OFFSET,
			     "%llu events from event %llu on are older than the event before them, by %lld ns at most",
			     (unsigned long long)nr_steps, (unsigned long long)first, (long long)most_ns);
}

/* Call this when all events are read. */
static void check_whole(const struct source *source, struct findings *findings)
{
	uint64_t nr_missing = source_missing(source);

	if (nr_missing > 0)
		findings_add(findings, RULE_log_damaged, NO_OFFSET,
			     "%llu events of the log cannot be read: their part of the file is damaged",
			     (unsigned long long)nr_missing);
}

static void check_log(const char *path, struct findings *findings)
{
	struct source *source = source_open(path, 0);

	if (!source)
		return;
	check_named(source, findings);
	check_times(source, findings);
	check_whole(source, findings);
	source_close(source);
}

static void check_file(const struct raw_file *file, const char *path, struct result *result)
{
	struct txtrace_file_info info = {.nr_volumes = 1};
	struct newer newer;
	int error = ask_library(path, &info);

	check_path(path, &result->findings);
	if (file->is_text)
		check_text(file, &result->findings);
	result->is_log = !error && !info.foreign;
	result->nr_volumes = result->is_log && info.nr_volumes > 0 ? info.nr_volumes : 1;
	check_volumes(file, result);
	if (result->is_log)
		check_log(path, &result->findings);
	if (info.nr_unlisted > 0)
		findings_add(&result->findings, RULE_log_unlisted, NO_OFFSET,
			     "%llu times an entry names a thread or an object for which the image has no slot: TraceX "
			     "shows no name",
			     info.nr_unlisted);
	if (error && newer_wrote(file->fd, &newer))
		findings_add(&result->findings, RULE_posix, NO_OFFSET, NEWER_FORMAT, newer.format,
			     newer.newest);
	else if (error == EBUSY)
		findings_add(&result->findings, RULE_posix, NO_OFFSET,
			     "another process is completing this log; try again later");
	else if (error && findings_errors(&result->findings) == 0)
		findings_add(&result->findings, RULE_posix, NO_OFFSET,
			     "posix_trace_open() refuses the file (%s): a log that is damaged, of "
			     "another kind of machine, or still being written",
			     strerror(error));
	check_form(path, &result->findings);
}

static void print_text(const struct result *result, const char *path, struct text *text)
{
	unsigned long long errors = findings_errors(&result->findings);
	unsigned long long warnings = findings_warnings(&result->findings);

	findings_print(&result->findings, text, result->nr_volumes);
	text_plain(text, path, 0);
	/* An event of a log can have several entries, and TraceX shows each of them as an event. */
	text_printf(text, ": %s, %llu %s, %llu objects: ",
		    result->is_log ? "posixtrace log" : "ThreadX trace buffer",
		    (unsigned long long)result->counts.nr_events,
		    result->is_log ? "event entries" : "events",
		    (unsigned long long)result->counts.nr_objects);
	if (errors + warnings == 0) {
		text_string(text, "TraceX shows it correctly\n");
		return;
	}
	if (errors == 0 && result->nr_shown < result->counts.nr_events)
		text_printf(text, "TraceX shows %llu of %llu entries; ",
			    (unsigned long long)result->nr_shown,
			    (unsigned long long)result->counts.nr_events);
	else if (errors == 0)
		text_string(text, "TraceX opens it, but shows what the warnings name in a misleading way; ");
	text_printf(text, "%llu error%s, %llu warning%s\n", errors, errors == 1 ? "" : "s", warnings,
		    warnings == 1 ? "" : "s");
}

static void print_json(const struct result *result, const char *path, struct text *text)
{
	struct json json;

	json_begin(&json, text);
	json_string(&json, "file", path);
	json_string(&json, "kind", result->is_log ? "posixtrace log" : "ThreadX trace buffer");
	json_number(&json, "volumes", result->nr_volumes);
	json_number(&json, "entries", result->counts.nr_events);
	json_number(&json, "shown", result->nr_shown);
	json_number(&json, "objects", result->counts.nr_objects);
	json_number(&json, "threads", result->counts.nr_threads);
	json_number(&json, "errors", findings_errors(&result->findings));
	json_number(&json, "warnings", findings_warnings(&result->findings));
	findings_print_json(&result->findings, &json);
	json_end(&json);
}

static int print_result(const struct options *options, const char *path)
{
	static struct text text;
	static struct result result;
	struct raw_file file;
	char copy[32];
	const char *checked = path;
	int code = EXIT_FINE, fd = source_copy_running(path);

	if (fd >= 0) {
		message("%s: this log is being written; the check is of a copy of what it has now", path);
		snprintf(copy, sizeof(copy), "/proc/self/fd/%d", fd);
		checked = copy;
	}
	if (!raw_open(&file, checked))
		return EXIT_TROUBLE;
	check_file(&file, checked, &result);
	raw_close(&file);
	if (fd >= 0)
		close(fd);
	terminal_page();
	text_open(&text, NULL, false);
	if (options->is_json)
		print_json(&result, path, &text);
	else
		print_text(&result, path, &text);
	if (findings_errors(&result.findings) > 0 ||
	    (options->is_strict && findings_warnings(&result.findings) > 0))
		code = EXIT_FOUND;
	findings_free(&result.findings);
	return text_close(&text, true) ? code : EXIT_TROUBLE;
}

static bool read_option(void *argument, int code)
{
	struct options *options = argument;

	switch (code) {
	case OPTION_STRICT:
		return options->is_strict = true;
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

	path = options_read_file(&cmd_check, argc, argv, read_option, &options);
	if (!path)
		return EXIT_TROUBLE;
	return print_result(&options, path);
}

const struct command cmd_check = {
	.name = "check",
	.arguments = "FILE",
	.summary = "check whether TraceX opens a file and shows it correctly",
	.options = option_rows,
	.run = run,
};
