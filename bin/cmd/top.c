/* SPDX-License-Identifier: MIT */
/*
 * txtrace top: show again and again what the threads of a process or of a log do.
 *
 * Scheduling records exist only in logs.  So for a process, the command records a small log in a temporary file without
 * a name, and reads it while the stream writes it.
 */
#include "waits/top.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <trace_ext.h>
#include <unistd.h>

#include "base/files.h"
#include "base/message.h"
#include "cli/command.h"
#include "cli/terminal.h"
#include "live/session.h"
#include "live/thread_times.h"

#define LOG_BYTES ((size_t)32 << 20)
#define INTERVAL_MS_MAX 3600000
#define LINES_OF_TABLES 14 /* titles, notes and blank lines */

enum { OPTION_ONCE = OPTION_OWN, OPTION_INTERVAL, OPTION_SORT };

static const struct option_row option_rows[] = {
	{'p', "pid", "PID", "record this process, and show it"},
	{OPTION_ONCE, "once", NULL, "print the tables once, for scripts"},
	{OPTION_INTERVAL, "interval", "SECONDS", "time between two looks; default 1"},
	{OPTION_SORT, "sort", "running|ready|blocked|events|name", "sort the threads by this; default running"},
	{OPTION_FORMAT, "format", "text|json|csv", "output format of --once; default text"},
	OPTION_ROW_COLOR,
	OPTIONS_END,
};

struct options {
	struct session_options control;
	bool is_once;
	int interval_ms;
	enum top_sort sort;
	enum format format;
	int signals;
};

struct watching {
	const struct options *options;
	struct source *source;
	struct top *top;
	struct text *text;
	enum top_sort sort;
	pid_t pid;	/* the process, or 0 for a file */
	int process;	/* a descriptor of the process, or -1 */
	trace_id_t trace; /* of a process */
	bool is_screen, is_paused;
};

/* Looks. */

static void take_times(void *arg, const struct thread_times *times)
{
	const struct watching *watching = arg;
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	top_count_thread(watching->top, watching->pid, times->tid, times->name,
			 (int64_t)now.tv_sec * NS_PER_S + now.tv_nsec, times->ran_ns, times->ready_ns);
}

/* Read what is new.  Return false if nothing more will come. */
static bool look(struct watching *watching)
{
	int is_running = 1;

	if (watching->pid > 0)
		posix_trace_flush(watching->trace);
	if (watching->source->is_followed && source_refresh(watching->source, &is_running) != 0)
		is_running = 0;
	top_read(watching->top);
	if (watching->pid > 0)
		thread_times_read(watching->pid, take_times, watching);
	return is_running && watching->source->is_followed;
}

static void print(struct watching *watching)
{
	const struct options *options = watching->options;
	size_t most = 0;
	struct table table;

	if (watching->is_screen) {
		int lines = terminal_height() - LINES_OF_TABLES;

		most = lines < 2 ? 1 : (size_t)lines / 2;
		text_string(watching->text, terminal_clear());
	}
	table_open(&table, watching->text, options->is_once ? options->format : FORMAT_TEXT);
	table.width = watching->is_screen ? terminal_width() : 0;
	top_print(watching->top, &table, watching->sort, most);
	if (watching->is_screen)
		table_note(&table, "%s  r running  y ready  b blocked  e events  n name  p pause  q quit",
			   watching->is_paused ? "  paused" : "");
	table_close(&table);
	text_flush(watching->text);
}

/* Keys. */

/* Return false if the user wants to quit. */
static bool take_key(struct watching *watching, char key)
{
	switch (key) {
	case 'r':
		watching->sort = TOP_RUNNING;
		break;
	case 'y':
		watching->sort = TOP_READY;
		break;
	case 'b':
		watching->sort = TOP_BLOCKED;
		break;
	case 'e':
		watching->sort = TOP_EVENTS;
		break;
	case 'n':
		watching->sort = TOP_NAME;
		break;
	case 'p':
		watching->is_paused = !watching->is_paused;
		break;
	case 'q':
		return false;
	default:
		return true;
	}
	print(watching);
	return true;
}

static bool is_ended_by_signal(const struct watching *watching)
{
	bool is_sent;
	int number;

	while ((number = session_next_signal(watching->options->signals, &is_sent)) != 0)
		if (number != SIGCHLD)
			return true;
	return false;
}

static int64_t now_ms(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (int64_t)now.tv_sec * 1000 + now.tv_nsec / 1000000;
}

/* Wait until the next look.  Return false if the command must end: by a key, a signal, or the end of the process. */
static bool wait_for_look(struct watching *watching)
{
	int64_t until_ms = now_ms() + watching->options->interval_ms;

	while (true) {
		struct pollfd fds[] = {{.fd = watching->options->signals, .events = POLLIN},
				       {.fd = watching->process, .events = POLLIN},
				       {.fd = watching->is_screen ? STDIN_FILENO : -1, .events = POLLIN}};
		int64_t rest_ms = until_ms - now_ms();
		char key;

		if (rest_ms <= 0)
			return true;
		poll(fds, sizeof(fds) / sizeof(fds[0]), (int)rest_ms);
		if (fds[0].revents && is_ended_by_signal(watching))
			return false;
		if (fds[1].revents)
			return false;
		if (fds[2].revents && (read(STDIN_FILENO, &key, 1) != 1 || !take_key(watching, key)))
			return false;
	}
}

static void watch(struct watching *watching)
{
	bool goes_on = look(watching);

	if (watching->options->is_once && watching->pid > 0 && goes_on) {
		wait_for_look(watching);
		look(watching);
	}
	watching->is_screen = !watching->options->is_once && goes_on && terminal_begin_screen();
	print(watching);
	while (!watching->options->is_once && goes_on && wait_for_look(watching)) {
		if (watching->is_paused)
			continue;
		top_next(watching->top);
		goes_on = look(watching);
		print(watching);
	}
	if (watching->is_screen)
		terminal_end_screen();
}

static int watch_source(struct options *options, struct source *source, int process, trace_id_t trace)
{
	static struct text text;
	struct watching watching = {.options = options,
				    .source = source,
				    .text = &text,
				    .sort = options->sort,
				    .pid = options->control.pid,
				    .process = process,
				    .trace = trace};

	text_open(&text, NULL, false);
	watching.top = top_new(source);
	watch(&watching);
	top_free(watching.top);
	return text_close(&text, true) ? EXIT_FINE : EXIT_TROUBLE;
}

/* Processes and files. */

static int open_temporary(char *path, size_t size)
{
	int fd;

	snprintf(path, size, "%s/txtrace-top.XXXXXX", temporary_directory());
	fd = mkostemp(path, O_CLOEXEC);
	if (fd < 0)
		message_error(errno, "%s", path);
	return fd;
}

static int watch_process(struct options *options)
{
	struct source *source = NULL;
	char path[4096];
	int process = session_open_process(options->control.pid), code = EXIT_TROUBLE;
	trace_id_t trace;

	if (process < 0)
		return EXIT_TROUBLE;
	options->control.log = open_temporary(path, sizeof(path));
	if (options->control.log < 0)
		return EXIT_TROUBLE;
	if (session_create(&options->control, &trace)) {
		session_report_size(&options->control);
		posix_trace_start(trace);
		posix_trace_flush(trace);
		source = source_open_followed(path);
		unlink(path);
		if (source)
			code = watch_source(options, source, process, trace);
		source_close(source);
		posix_trace_shutdown(trace);
	} else {
		unlink(path);
	}
	close(options->control.log);
	close(process);
	return code;
}

static int watch_file(struct options *options, const char *path)
{
	struct source *source = source_open_followed(path);
	int code;

	if (!source)
		return EXIT_TROUBLE;
	code = watch_source(options, source, -1, 0);
	source_close(source);
	return code;
}

static bool read_interval(struct options *options)
{
	char *end;
	double seconds = strtod(optarg, &end);

	if (end != optarg && *end == '\0' && seconds >= 0.01 && seconds <= INTERVAL_MS_MAX / 1000.0) {
		options->interval_ms = (int)(seconds * 1000 + 0.5);
		return true;
	}
	message("--interval takes a number of seconds, from 0.01 to 3600, not %s", optarg);
	return false;
}

/* After an error, print a message and return false. */
static bool read_option(void *argument, int code)
{
	struct options *options = argument;

	switch (code) {
	case 'p':
		return session_parse_pid(optarg, &options->control.pid);
	case OPTION_ONCE:
		return options->is_once = true;
	case OPTION_INTERVAL:
		return read_interval(options);
	case OPTION_SORT:
		return top_parse_sort(optarg, &options->sort);
	case OPTION_FORMAT:
		return format_parse_of_table(optarg, &options->format);
	default:
		return terminal_option(code, optarg);
	}
}

static int run(int argc, char **argv)
{
	struct options options = {.interval_ms = 1000,
				  .format = FORMAT_TEXT,
				  .control = {.name = "top",
					      .stream_policy = POSIX_TRACE_FLUSH,
					      .log_policy = POSIX_TRACE_LOOP,
					      .log_size = LOG_BYTES}};

	if (!options_read(&cmd_top, argc, argv, read_option, &options))
		return EXIT_TROUBLE;
	if (argc - optind != (options.control.pid == 0)) {
		message("top takes -p PID, or one file; see txtrace top --help");
		return EXIT_TROUBLE;
	}
	if (options.format != FORMAT_TEXT && !options.is_once) {
		message("--format needs --once");
		return EXIT_TROUBLE;
	}
	session_settle_size(&options.control, false);
	options.signals = session_signals(0);
	if (options.signals < 0)
		return EXIT_TROUBLE;
	return options.control.pid > 0 ? watch_process(&options) : watch_file(&options, argv[optind]);
}

const struct command cmd_top = {
	.name = "top",
	.arguments = "(-p PID | FILE)",
	.summary = "show live what threads do: running, ready, blocked, and their waits",
	.options = option_rows,
	.run = run,
};
