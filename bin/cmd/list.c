/* SPDX-License-Identifier: MIT */
/* txtrace list: print the existing streams, and the processes that can be traced. */
#include <dirent.h>
#include <pwd.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#include <trace_ext.h>
#include <unistd.h>

#include "base/memory.h"
#include "base/message.h"
#include "base/output.h"
#include "cli/command.h"
#include "cli/rows.h"
#include "cli/terminal.h"
#include "live/target.h"
#include "trace/source.h"

static const struct option_row options[] = {
	OPTION_ROW_TEXT_OR_JSON,
	OPTION_ROW_COLOR,
	OPTION_ROW_NO_PAGER,
	OPTIONS_END,
};

struct list {
	struct text *text;
	bool is_json;
	unsigned int nr_streams;
	struct txtrace_stream stream[TRACE_SYS_MAX];
};

/* Streams. */

static const char *state_of(const struct txtrace_stream *stream)
{
	if (stream->orphaned)
		return "orphaned";
	if (stream->status == POSIX_TRACE_RUNNING)
		return "running";
	return stream->full == POSIX_TRACE_FULL ? "full" : "stopped";
}

static void format_time(const struct timespec *time, char when[64])
{
	struct tm date;

	if (!localtime_r(&time->tv_sec, &date) || !strftime(when, 64, "%F %T", &date))
		snprintf(when, 64, "?");
}

static const struct rows_column stream_columns[] = {
	{"controller", "controller", 0, 10, true},
	{"target", "target", 1, 8, true},
	{"state", "state", 2, 8, false},
	{"policy", "policy", 2, 10, false},
	{"log", "log", 2, 3, false},
	{"inh", "inherited", 2, 3, false},
	{NULL, "other_container", 0, 0, false},
	{"created", NULL, 2, 19, false},
	{NULL, "created_ns", 0, 0, false},
	{"events", "events", 2, 10, true},
	{"dropped", "dropped", 2, 8, true},
	{"name", "name", 2, 0, false},
	{NULL, NULL, 0, 0, false},
};

static void put_stream(struct rows *rows, const struct txtrace_stream *stream)
{
	char when[64];

	format_time(&stream->created, when);
	rows_begin(rows);
	rows_signed(rows, stream->controller);
	rows_signed(rows, stream->target);
	rows_string(rows, state_of(stream));
	rows_string(rows, policy_name(stream->policy));
	rows_bool(rows, stream->log);
	rows_bool(rows, stream->inherited == POSIX_TRACE_INHERITED);
	rows_bool(rows, stream->other_pids);
	rows_string(rows, when);
	rows_signed(rows, stream->created.tv_sec * NS_PER_S + stream->created.tv_nsec);
	rows_number(rows, stream->nr_events);
	rows_number(rows, stream->nr_dropped);
	rows_string(rows, stream->name);
	if (!rows->is_json && stream->other_pids)
		text_string(rows->text, " (of another container)");
	rows_end(rows);
}

static void put_streams(const struct list *list)
{
	struct rows rows = {.text = list->text,
			    .is_json = list->is_json,
			    .is_dense = true,
			    .is_dim = true,
			    .columns = stream_columns};

	if (list->is_json)
		text_string(list->text, "{\"streams\":[");
	else if (list->nr_streams == 0)
		text_string(list->text, "no streams\n");
	else
		rows_titles(&rows);
	for (unsigned int i = 0; i < list->nr_streams; i++)
		put_stream(&rows, &list->stream[i]);
}

/* Processes. */

static bool is_traced(const struct list *list, pid_t pid)
{
	bool is_controller = false;

	for (unsigned int i = 0; i < list->nr_streams; i++) {
		if (list->stream[i].other_pids)
			continue;
		if (list->stream[i].target == pid && !list->stream[i].orphaned)
			return true;
		is_controller |= list->stream[i].controller == pid;
	}
	return !is_controller && target_has_stream(pid);
}

static const char *user_name(uid_t uid)
{
	static char number[16];
	const struct passwd *user = getpwuid(uid);

	if (user)
		return user->pw_name;
	snprintf(number, sizeof(number), "%u", (unsigned int)uid);
	return number;
}

static const struct rows_column process_columns[] = {
	{"pid", "pid", 0, 10, true},	     {"user", "user", 2, 12, false},
	{"traced", NULL, 2, 6, false},	     {"name", "name", 2, 15, false},
	{"program", "program", 2, 0, false}, {NULL, "traced", 0, 0, false},
	{NULL, NULL, 0, 0, false},
};

static void put_process(struct rows *rows, const struct target *target, bool traced)
{
	if (!rows->is_json && rows->nr == 0) {
		text_char(rows->text, '\n');
		rows_titles(rows);
	}
	rows_begin(rows);
	rows_signed(rows, target->pid);
	rows_string(rows, user_name(target->uid));
	rows_bool(rows, traced);
	rows_string(rows, target->name);
	rows_string(rows, target->program);
	rows_bool(rows, traced);
	rows_end(rows);
}

static int compare_pids(const void *a, const void *b)
{
	pid_t first = *(const pid_t *)a, second = *(const pid_t *)b;

	return first < second ? -1 : first > second;
}

/* Return the pids of all processes. The caller frees the array. */
static pid_t *find_processes(size_t *nr)
{
	DIR *directory = opendir("/proc");
	struct dirent *entry;
	pid_t *pids = NULL;
	size_t room = 0;

	*nr = 0;
	while (directory && (entry = readdir(directory))) {
		char *end;
		long pid = strtol(entry->d_name, &end, 10);

		if (*end || pid <= 0)
			continue;
		if (*nr == room) {
			room = room ? 2 * room : 256;
			pids = must(reallocarray(pids, room, sizeof(*pids)));
		}
		pids[(*nr)++] = (pid_t)pid;
	}
	if (directory)
		closedir(directory);
	if (pids)
		qsort(pids, *nr, sizeof(*pids), compare_pids);
	return pids;
}

static void put_processes(const struct list *list)
{
	struct rows rows = {.text = list->text,
			    .is_json = list->is_json,
			    .is_dense = true,
			    .is_dim = true,
			    .columns = process_columns};
	struct target target;
	size_t nr;
	pid_t *pids = find_processes(&nr);

	if (list->is_json)
		text_string(list->text, "],\n\"processes\":[");
	for (size_t i = 0; i < nr; i++)
		if (pids[i] != getpid() && target_inspect(&target, pids[i]) &&
		    target_is_traceable(&target))
			put_process(&rows, &target, is_traced(list, target.pid));
	if (list->is_json)
		text_string(list->text, "]}\n");
	else if (rows.nr == 0)
		text_string(list->text, "no processes that use posixtrace\n");
	free(pids);
}

static int print_list(bool is_json)
{
	static struct text text;
	static struct list list = {.text = &text};
	int error = txtrace_list_streams(list.stream, TRACE_SYS_MAX, &list.nr_streams);

	if (error) {
		message_error(error, "cannot list the streams");
		return EXIT_TROUBLE;
	}
	list.is_json = is_json;
	terminal_page();
	text_open(&text, NULL, false);
	put_streams(&list);
	put_processes(&list);
	return text_close(&text, true) ? EXIT_FINE : EXIT_TROUBLE;
}

static int run(int argc, char **argv)
{
	bool is_json = false;
	int code;

	while ((code = options_next(&cmd_list, argc, argv)) != -1) {
		bool is_fine = code == OPTION_FORMAT ? options_is_json(optarg, &is_json) :
						       terminal_option(code, optarg);

		if (!is_fine)
			return EXIT_TROUBLE;
	}
	if (optind != argc) {
		message("list takes no argument; see txtrace list --help");
		return EXIT_TROUBLE;
	}
	return print_list(is_json);
}

const struct command cmd_list = {
	.name = "list",
	.arguments = "",
	.summary = "list the existing streams, and the processes that can be traced",
	.options = options,
	.run = run,
};
