/* SPDX-License-Identifier: MIT */
/* txtrace list: the running streams, and the processes that could be traced. */
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
	unsigned int nr_streams, nr_processes;
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

static void put_stream_text(struct text *text, const struct txtrace_stream *stream)
{
	char when[64];

	format_time(&stream->created, when);
	text_printf(text, "%10d %8d  %-8s  %-10s  %-3s  %-3s  %-19s  %10llu  %8llu  ",
		    stream->controller, stream->target, state_of(stream), policy_name(stream->policy),
		    stream->log ? "yes" : "no",
		    stream->inherited == POSIX_TRACE_INHERITED ? "yes" : "no", when,
		    stream->nr_events, stream->nr_dropped);
	text_plain(text, stream->name, 0);
	text_string(text, stream->other_pids ? " (of another container)\n" : "\n");
}

static void put_stream_json(struct text *text, const struct txtrace_stream *stream)
{
	text_printf(text, "{\"controller\":%d,\"target\":%d,\"state\":\"%s\",\"policy\":\"%s\",",
		    stream->controller, stream->target, state_of(stream), policy_name(stream->policy));
	text_printf(text, "\"log\":%s,\"inherited\":%s,\"other_container\":%s,",
		    stream->log ? "true" : "false",
		    stream->inherited == POSIX_TRACE_INHERITED ? "true" : "false",
		    stream->other_pids ? "true" : "false");
	text_printf(text, "\"created_ns\":%lld%09ld,\"events\":%llu,\"dropped\":%llu,\"name\":",
		    (long long)stream->created.tv_sec, stream->created.tv_nsec, stream->nr_events,
		    stream->nr_dropped);
	text_json(text, stream->name);
	text_char(text, '}');
}

static void put_streams(struct list *list)
{
	if (list->is_json)
		text_string(list->text, "{\"streams\":[");
	else if (list->nr_streams == 0)
		text_string(list->text, "no streams\n");
	else
		text_printf(
			list->text, "%s%10s %8s  %-8s  %-10s  %-3s  %-3s  %-19s  %10s  %8s  %s%s\n",
			terminal_color(COLOR_DIM), "controller", "target", "state", "policy", "log",
			"inh", "created", "events", "dropped", "name", terminal_color(COLOR_PLAIN));
	for (unsigned int i = 0; i < list->nr_streams; i++) {
		if (list->is_json && i > 0)
			text_string(list->text, ",\n");
		if (list->is_json)
			put_stream_json(list->text, &list->stream[i]);
		else
			put_stream_text(list->text, &list->stream[i]);
	}
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

static void put_process(struct list *list, const struct target *target)
{
	struct text *text = list->text;
	bool traced = is_traced(list, target->pid);

	if (list->is_json) {
		text_printf(text, "%s{\"pid\":%d,\"user\":", list->nr_processes > 0 ? ",\n" : "",
			    (int)target->pid);
		text_json(text, user_name(target->uid));
		text_string(text, ",\"name\":");
		text_json(text, target->name);
		text_string(text, ",\"program\":");
		text_json(text, target->program);
		text_printf(text, ",\"traced\":%s}", traced ? "true" : "false");
	} else {
		if (list->nr_processes == 0)
			text_printf(text, "\n%s%10s  %-12s  %-6s  %-15s  %s%s\n",
				    terminal_color(COLOR_DIM), "pid", "user", "traced", "name",
				    "program", terminal_color(COLOR_PLAIN));
		text_printf(text, "%10d  ", (int)target->pid);
		text_plain(text, user_name(target->uid), 12);
		text_printf(text, "  %-6s  ", traced ? "yes" : "no");
		text_plain(text, target->name, 15);
		text_string(text, "  ");
		text_plain(text, target->program, 0);
		text_char(text, '\n');
	}
	list->nr_processes++;
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

static void put_processes(struct list *list)
{
	struct target target;
	size_t nr;
	pid_t *pids = find_processes(&nr);

	if (list->is_json)
		text_string(list->text, "],\n\"processes\":[");
	for (size_t i = 0; i < nr; i++)
		if (pids[i] != getpid() && target_inspect(&target, pids[i]) &&
		    target_is_traceable(&target))
			put_process(list, &target);
	if (list->is_json)
		text_string(list->text, "]}\n");
	else if (list->nr_processes == 0)
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
	.summary = "list the running traces, and the processes that can be traced",
	.options = options,
	.run = run,
};
