/* SPDX-License-Identifier: MIT */
/* txtrace follow: print the events of a running process, or of a log that is being written. */
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <poll.h>
#include <signal.h>
#include <string.h>
#include <trace_ext.h>
#include <unistd.h>

#include "base/message.h"
#include "base/output.h"
#include "cli/command.h"
#include "cli/terminal.h"
#include "live/session.h"
#include "live/target.h"
#include "trace/columns.h"
#include "trace/selection.h"
#include "trace/source.h"

#define ROUND_MS 100	  /* time between two checks of the process */
#define ROUND_EVENTS 4096 /* this number of events also leads to a check */

static const struct option_row option_rows[] = {
	OPTION_ROW_FILTER,
	OPTION_ROW_TIME,
	OPTION_ROWS_TYPE,
	OPTION_ROW_NAMES,
	SESSION_ROW_INHERIT,
	{OPTION_FORMAT, "format", "text|json|jsonl|csv", "output format; default text"},
	{OPTION_COLUMNS, "columns", "A,B,...", "the columns; see the manual"},
	SESSION_ROW_SIZE,
	OPTION_ROW_COLOR,
	OPTIONS_END,
};

struct options {
	struct selection selection;
	enum format format;
	const char *columns;
	struct session_options control;
};

struct following {
	struct source *source;
	struct listing listing;
	const struct filter *filter;
	int signals, process;
	unsigned long long nr_reported; /* number of lost events that were already reported */
};

static unsigned long long count_losses(const struct following *following)
{
	struct txtrace_loss loss = {0};

	txtrace_get_loss(following->source->trace, &loss);
	return loss.overwritten + loss.dropped + loss.abandoned;
}

/*
 * Report a loss between the events where it occurred. Standard output and stderr may reach the terminal in another
 * order.  While a writer is at work, the count may have an event that it will still record, so the count can fall.
 */
static void print_losses(struct following *following)
{
	unsigned long long sum = count_losses(following);

	if (sum <= following->nr_reported)
		return;
	text_flush(following->listing.text);
	message("%llu event%s lost here", sum - following->nr_reported,
		sum - following->nr_reported == 1 ? " was" : "s were");
	following->nr_reported = sum;
}

/* After the stop nobody writes any more: the sum is exact. */
static void print_sum_of_losses(const struct following *following)
{
	unsigned long long sum = count_losses(following);

	if (sum > 0 || following->nr_reported > 0)
		message("%llu event%s lost in all", sum, sum == 1 ? " was" : "s were");
}

/* Print at most `most` events. Wait only for the first event. */
static void print_events(struct following *following, unsigned long long most)
{
	struct text *text = following->listing.text;
	struct event event;
	int wait_ms = ROUND_MS;

	while (!text->error && most > 0 && source_wait(following->source, &event, wait_ms)) {
		if (event.type == POSIX_TRACE_OVERFLOW)
			print_losses(following);
		if (filter_takes(following->filter, following->source, &event))
			listing_event(&following->listing, &event);
		wait_ms = 0;
		most--;
	}
	text_flush(text);
}

static bool was_interrupted(const struct following *following)
{
	bool is_sent;
	int number;

	while ((number = session_next_signal(following->signals, &is_sent)) != 0)
		if (number != SIGCHLD)
			return true;
	return false;
}

static bool has_ended(const struct following *following)
{
	struct pollfd process = {.fd = following->process, .events = POLLIN};

	return poll(&process, 1, 0) != 0;
}

/* Print events until the process ends or the user interrupts. Then print the events that are still in the stream. */
static void follow(struct following *following)
{
	struct text *text = following->listing.text;

	listing_begin(&following->listing);
	text_flush(text);
	while (!text->error && !was_interrupted(following) && !has_ended(following))
		print_events(following, ROUND_EVENTS);
	posix_trace_stop(following->source->trace);
	print_events(following, ULLONG_MAX);
	print_losses(following);
	print_sum_of_losses(following);
	listing_end(&following->listing);
}

static int follow_process(struct options *options, int signals)
{
	static struct text text;
	struct following following = {.signals = signals, .filter = options->selection.filter};
	struct target target;
	trace_id_t trace;

	following.listing = (struct listing){.text = &text, .format = options->format};
	if (!listing_choose(&following.listing, options->columns))
		return EXIT_TROUBLE;
	following.process = session_open_process(options->control.pid);
	if (following.process < 0 || !session_create(&options->control, &trace))
		return EXIT_TROUBLE;
	session_report_size(&options->control);
	if (target_inspect(&target, options->control.pid) && !target_is_traceable(&target))
		target_explain_waiting(&target);
	following.source = following.listing.source = source_attach(trace);
	if (!selection_begin(&options->selection, &following.source, 1)) {
		source_close(following.source);
		return EXIT_TROUBLE;
	}
	text_open(&text, NULL, false);
	posix_trace_start(trace);
	follow(&following);
	close(following.process);
	source_close(following.source);
	return text_close(&text, true) ? EXIT_FINE : EXIT_TROUBLE;
}

/* A file. */

/* Events that a LOOP log overwrites before they are read are missing here, and those in damaged parts of a file. */
static void print_missing(struct following *following)
{
	unsigned long long nr = following->source->file.nr_missing;

	if (nr > following->nr_reported) {
		text_flush(following->listing.text);
		if (following->source->file.damaged)
			message("%llu event%s could not be read: the file is damaged there",
				nr - following->nr_reported, nr - following->nr_reported == 1 ? "" : "s");
		else
			message("%llu event%s overwritten before they could be read",
				nr - following->nr_reported, nr - following->nr_reported == 1 ? " was" : "s were");
	}
	following->nr_reported = nr;
}

/* Print all events that were taken from the file. */
static void print_taken(struct following *following)
{
	struct text *text = following->listing.text;
	struct event event;

	while (!text->error && source_next(following->source, &event))
		if (filter_takes(following->filter, following->source, &event))
			listing_event(&following->listing, &event);
	txtrace_get_file_info(following->source->trace, &following->source->file);
	print_missing(following);
	text_flush(text);
}

/* If the writer was killed, complete its log.  Recovery does not move what was read. */
static void complete_log(struct following *following)
{
	int fd = open(following->source->path, O_RDONLY | O_CLOEXEC), is_running, error;

	error = fd < 0 ? errno : txtrace_recover(fd);
	if (!error)
		error = source_refresh(following->source, &is_running);
	if (error && error != ENOENT)
		message_error(error, "cannot complete %s", following->source->path);
	else if (error)
		message("%s: its writer died; the events that it had not written yet are missing",
			following->source->path);
	if (fd >= 0)
		close(fd);
}

static int follow_events(struct following *following)
{
	struct pollfd signals = {.fd = following->signals, .events = POLLIN};
	struct text *text = following->listing.text;
	int is_running = 1, error = 0;

	listing_begin(&following->listing);
	while (!text->error && !error && is_running && !was_interrupted(following)) {
		error = source_refresh(following->source, &is_running);
		if (!error && !is_running && !following->source->file.complete)
			complete_log(following);
		print_taken(following);
		if (is_running)
			poll(&signals, 1, ROUND_MS);
	}
	listing_end(&following->listing);
	return error;
}

static int follow_file(struct options *options, const char *path, int signals)
{
	static struct text text;
	struct following following = {.signals = signals, .filter = options->selection.filter};
	int error = 0;

	following.listing = (struct listing){.text = &text, .format = options->format};
	if (!listing_choose(&following.listing, options->columns))
		return EXIT_TROUBLE;
	following.source = following.listing.source = source_open_followed(path);
	if (!following.source)
		return EXIT_TROUBLE;
	if (!selection_begin(&options->selection, &following.source, 1)) {
		source_close(following.source);
		return EXIT_TROUBLE;
	}
	text_open(&text, NULL, false);
	if (following.source->file.foreign) {
		listing_begin(&following.listing);
		print_taken(&following);
		listing_end(&following.listing);
	} else {
		error = follow_events(&following);
	}
	if (error)
		message("%s: the file has another log now", path);
	source_close(following.source);
	return text_close(&text, true) && !error ? EXIT_FINE : EXIT_TROUBLE;
}

static bool is_number(const char *text)
{
	return text[strspn(text, "0123456789")] == '\0';
}

static bool read_option(void *argument, int code)
{
	struct options *options = argument;
	int taken = selection_option(&options->selection, code, optarg);

	if (taken != 0)
		return taken > 0;
	switch (code) {
	case OPTION_INHERIT:
		return options->control.inherits = true;
	case OPTION_FORMAT:
		return format_parse(optarg, &options->format);
	case OPTION_COLUMNS:
		options->columns = optarg;
		return true;
	case OPTION_SIZE:
		return session_parse_size("--size", optarg, &options->control.stream_size);
	default:
		return terminal_option(code, optarg);
	}
}

static int run(int argc, char **argv)
{
	struct options options = {.format = FORMAT_TEXT,
				  .control = {.name = "follow",
					      .stream_policy = POSIX_TRACE_LOOP,
					      .log_policy = POSIX_TRACE_LOOP,
					      .log = -1}};
	int code, signals;
	bool is_file;

	if (!options_read(&cmd_follow, argc, argv, read_option, &options))
		return EXIT_TROUBLE;
	if (optind + 1 != argc) {
		message("follow takes one process or file; see txtrace follow --help");
		return EXIT_TROUBLE;
	}
	is_file = !is_number(argv[optind]);
	if (!is_file && !session_parse_pid(argv[optind], &options.control.pid))
		return EXIT_TROUBLE;
	session_settle_size(&options.control, false);
	signal(SIGPIPE, SIG_IGN);
	signals = session_signals(0);
	if (signals < 0)
		return EXIT_TROUBLE;
	code = is_file ? follow_file(&options, argv[optind], signals) :
			 follow_process(&options, signals);
	selection_free(&options.selection);
	return code;
}

const struct command cmd_follow = {
	.name = "follow",
	.arguments = "PID|FILE",
	.summary = "print the events of a running process, or of a log, as they come",
	.options = option_rows,
	.run = run,
};
