/* SPDX-License-Identifier: MIT */
/* txtrace follow: print the events of a running process as they happen. */
#include <limits.h>
#include <poll.h>
#include <signal.h>
#include <trace_ext.h>
#include <unistd.h>

#include "base/message.h"
#include "base/output.h"
#include "cli/command.h"
#include "cli/terminal.h"
#include "live/session.h"
#include "live/target.h"
#include "trace/columns.h"
#include "trace/filter.h"
#include "trace/source.h"

#define ROUND_MS 100	  /* time between two checks of the process */
#define ROUND_EVENTS 4096 /* this number of events also leads to a check */

static const struct option_row option_rows[] = {
	OPTION_ROW_FILTER,
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

/*
 * Report a loss between the events where it occurred. Standard output and stderr may reach the terminal in another
 * order.
 */
static void print_losses(struct following *following)
{
	struct txtrace_loss loss;
	unsigned long long sum;

	if (txtrace_get_loss(following->source->trace, &loss) != 0)
		return;
	sum = loss.overwritten + loss.dropped + loss.abandoned;
	if (sum > following->nr_reported) {
		text_flush(following->listing.text);
		message("%llu events were lost here", sum - following->nr_reported);
	}
	following->nr_reported = sum;
}

/* Print at most `limit` events. Wait only for the first event. */
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
	print_losses(following);
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
	if (target_inspect(&target, options->control.pid) && !target_is_traceable(&target))
		target_explain_waiting(&target);
	following.source = following.listing.source = source_attach(trace);
	text_open(&text, NULL, false);
	posix_trace_start(trace);
	follow(&following);
	close(following.process);
	source_close(following.source);
	return text_close(&text, true) ? EXIT_FINE : EXIT_TROUBLE;
}

static bool read_option(struct options *options, int code)
{
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
					      .stream_size = SESSION_STREAM_SIZE,
					      .log = -1}};
	int code, signals;

	while ((code = options_next(&cmd_follow, argc, argv)) != -1)
		if (!read_option(&options, code))
			return EXIT_TROUBLE;
	if (optind + 1 != argc) {
		message("follow takes one process; see txtrace follow --help");
		return EXIT_TROUBLE;
	}
	if (!session_parse_pid(argv[optind], &options.control.pid))
		return EXIT_TROUBLE;
	signal(SIGPIPE, SIG_IGN);
	signals = session_signals();
	if (signals < 0)
		return EXIT_TROUBLE;
	code = follow_process(&options, signals);
	selection_free(&options.selection);
	return code;
}

const struct command cmd_follow = {
	.name = "follow",
	.arguments = "PID",
	.summary = "print the events of a running process as they happen",
	.options = option_rows,
	.run = run,
};
