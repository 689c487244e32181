/* SPDX-License-Identifier: MIT */
/* txtrace record: record the events of a command or of a running process in a file. */
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <trace_ext.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/files.h"
#include "base/message.h"
#include "cli/command.h"
#include "cmd/record_flight.h"
#include "cmd/record_options.h"
#include "cmd/record_report.h"
#include "cmd/recording.h"
#include "input/spool.h"
#include "live/children.h"
#include "live/describe.h"
#include "live/launch.h"
#include "live/logname.h"
#include "live/preload.h"
#include "live/sched_refusal.h"
#include "live/session.h"
#include "live/type_filter.h"
#include "trace/source.h"

#define ROUND_MS 250	  /* time between two checks of the stream */
#define TYPES_ROUND_MS 10 /* time between two checks of the stream, if the tool must also check event types */
#define FIRST_CHECK_MS 1  /* time to the first check of the process; this time doubles after each check */
#define EARLY_CHECK_MS 2 /* the longest time between two checks in the first second */
#define LAST_CHECK_MS 1000

/* The stream. */

static int end_stream(struct recording *recording)
{
	int error;

	txtrace_get_stream(recording->trace, &recording->stream);
	error = posix_trace_shutdown(recording->trace);
	recording->nr_unread = namer_count_unread(recording->namer);
	descendants_free(&recording->descendants);
	namer_free(recording->namer);
	return error;
}

/* Say why there are no scheduling records.  Return false if the user wants nothing else. */
static bool report_sched(const struct recording *recording)
{
	char text[SCHED_REFUSAL_BYTES];
	int error = 0;

	if (txtrace_get_sched_error(recording->trace, &error) != 0 || error == 0)
		return true;
	sched_refusal(error, text);
	if (recording->options->only_sched)
		message("there are no scheduling records: %s", text);
	else if (!recording->options->is_quiet)
		message("without scheduling records: %s", text);
	return !recording->options->only_sched;
}

/* Each CPU has a ring, if there is room. */
static void report_rings(const struct recording *recording)
{
	long nr_cpus = sysconf(_SC_NPROCESSORS_CONF);
	unsigned int nr_rings = 0;
	trace_attr_t attr;

	if (posix_trace_get_attr(recording->trace, &attr) == 0 && txtrace_attr_getrings(&attr, &nr_rings) == 0 &&
	    (long)nr_rings < nr_cpus)
		message("there is room for %u ring%s only, which %ld CPUs share: events cost more, and are lost more "
			"easily; see --size",
			nr_rings, nr_rings == 1 ? "" : "s", nr_cpus);
}

static bool begin_stream(struct recording *recording)
{
	struct record_options *options = recording->options;
	int error;

	if (!session_create(&options->control, &recording->trace))
		return false;
	if (!report_sched(recording)) {
		posix_trace_shutdown(recording->trace);
		return false;
	}
	if (!options->is_quiet) {
		session_report_size(&options->control);
		report_rings(recording);
	}
	recording->namer = namer_new();
	recording->descendants = (struct descendants){.namer = recording->namer,
						      .root = recording->pid,
						      .has_children = options->control.inherits};
	txtrace_set_namer(recording->trace, namer_name, recording->namer);
	error = type_filter_begin(&options->choice, recording->trace);
	if (!error) {
		describe_types(recording->trace, recording->pid,
			       options->command ? recording->target.program : NULL);
		error = posix_trace_start(recording->trace);
	}
	if (error) {
		message_error(error, "cannot start the trace");
		end_stream(recording);
		return false;
	}
	clock_gettime(CLOCK_MONOTONIC, &recording->begin);
	return true;
}

/* A log that goes to standard output is in a temporary directory meanwhile. */
static bool make_temporary(struct recording *recording)
{
	int length = snprintf(recording->path, sizeof(recording->path), "%s/txtrace-XXXXXX", temporary_directory());

	if (length + sizeof("/log.trx") > sizeof(recording->path) || !mkdtemp(recording->path)) {
		message_error(errno, "%s", recording->path);
		return false;
	}
	strcpy(recording->path + length, "/log.trx");
	return true;
}

static void remove_temporary(const struct recording *recording)
{
	char *directory = directory_of(recording->path);

	unlink(recording->path);
	if (directory)
		rmdir(directory);
	free(directory);
}

/* Send the rest of the log.  If that fails, the log stays where it is. */
static bool end_relay(struct recording *recording)
{
	bool is_sent = !recording->relay || relay_end(recording->relay);

	if (!is_sent)
		message("the log is in %s", recording->path);
	else if (recording->options->is_piped)
		remove_temporary(recording);
	return is_sent;
}

/* A flight recorder has no log before the end. */
static void drop_log(struct recording *recording)
{
	if (recording->options->is_piped)
		end_relay(recording);
	else if (!recording->options->is_flight)
		session_drop_log(recording->path, &recording->aside);
}

/* Begin the recording. The trace has the name of `program`. After a failure, undo everything. */
static bool begin(struct recording *recording, const char *program)
{
	struct record_options *options = recording->options;
	bool has_begun;

	if (options->is_piped ? !make_temporary(recording) :
				!logname_expand(options->output, program, recording->pid, recording->path))
		return false;
	recording->shown = options->is_piped ? "standard output" : recording->path;
	options->control.log = -1;
	if (!options->is_flight) {
		options->control.log = session_open_log(recording->path, options->overwrites,
							&recording->aside);
		if (options->control.log < 0)
			return false;
	} else if (!options->overwrites && access(recording->path, F_OK) == 0) {
		message("%s exists; --force overwrites it", recording->path);
		return false;
	}
	options->control.pid = recording->pid;
	if (!options->control.name)
		options->control.name = program;
	has_begun = begin_stream(recording);
	if (options->control.log >= 0)
		close(options->control.log);
	if (has_begun && options->is_piped) {
		recording->relay = relay_begin(recording->path, recording->signals);
		has_begun = recording->relay != NULL;
		if (!has_begun)
			end_stream(recording);
	}
	if (!has_begun)
		drop_log(recording);
	return has_begun;
}

/* While the target runs. */

/*
 * Check often in the first second, so that the tool sees a short-lived program before it ends, and can name its
 * objects. Check less often later, to disturb a long-lived program less. While the dynamic loader works, the library is
 * already mapped, but other modules and the registry are not mapped yet. Only the registry shows whether the program
 * can find this trace.
 */
static void inspect(struct recording *recording)
{
	if (clock_now_ns() < recording->check_ns || recording->target.has_registry)
		return;
	target_inspect(&recording->target, recording->pid);
	recording->check_ns = clock_now_ns() + recording->check_ms * 1000000LL;
	if (recording->check_ms < LAST_CHECK_MS &&
	    (recording->check_ms < EARLY_CHECK_MS || recording_ns(recording) > NS_PER_S))
		recording->check_ms *= 2;
}

/*
 * The tool cannot read the list of modules after the program has ended. So read the list now. Then flush the stream,
 * because the flush writes the list to the log.
 */
static void inspect_once(struct recording *recording)
{
	if (recording->was_inspected || !recording->target.has_registry)
		return;
	recording->was_inspected = true;
	namer_inspect(recording->namer, recording->pid);
	if (recording->options->control.stream_policy == POSIX_TRACE_FLUSH)
		posix_trace_flush(recording->trace);
}

/*
 * Handle the pending signals. Return false if a signal ends the recording of a process. While a command runs, forward
 * only the signals that a process sent. The terminal also sends its signals to the command itself.
 */
static bool handle_signals(struct recording *recording)
{
	bool is_sent, goes_on = true;
	int number;

	while ((number = session_next_signal(recording->signals, &is_sent)) != 0) {
		if (number == SIGCHLD)
			continue;
		if (recording->options->is_flight && number == recording->options->snapshot_signal)
			record_flight_take_numbered(recording);
		else if (!recording->options->command)
			goes_on = false;
		else if (is_sent)
			kill(recording->pid, number);
	}
	return goes_on;
}

/*
 * Look at the target and its children, which may end or execute another program before the next flush.  Return the time
 * in milliseconds to the next look, at most wait_ms.
 */
static int look_at_processes(struct recording *recording, int wait_ms)
{
	int next_ms = -1;

	if (recording->options->control.inherits || recording->was_inspected)
		next_ms = descendants_look(&recording->descendants);
	return next_ms > 0 && next_ms < wait_ms ? next_ms : wait_ms;
}

static void check_whether_it_ended(struct recording *recording, bool is_readable)
{
	if (!recording->options->command)
		recording->has_ended = is_readable;
	else
		recording->has_ended = waitpid(recording->pid, &recording->wait_status, WNOHANG) ==
				       recording->pid;
}

static void wait_for_end(struct recording *recording)
{
	struct pollfd watched[2] = {{.fd = recording->signals, .events = POLLIN},
				    {.fd = recording->process, .events = POLLIN}};
	bool goes_on = true;

	recording->check_ms = FIRST_CHECK_MS;
	while (goes_on && !recording->has_ended) {
		int wait_ms = recording->options->choice.has_globs ? TYPES_ROUND_MS : ROUND_MS;

		inspect(recording);
		inspect_once(recording);
		record_report_progress(recording);
		type_filter_update(&recording->options->choice, recording->trace);
		if (!recording->target.has_registry && recording->check_ms < wait_ms)
			wait_ms = recording->check_ms;
		wait_ms = look_at_processes(recording, wait_ms);
		poll(watched, 2, wait_ms);
		goes_on = handle_signals(recording);
		check_whether_it_ended(recording, (watched[1].revents & POLLIN) != 0);
	}
	progress_end();
}

/* With --wait-all, the recording goes on until no process records into it, or until a signal ends it. */
static void wait_for_others(struct recording *recording)
{
	struct pollfd watched = {.fd = recording->signals, .events = POLLIN};
	bool is_sent, goes_on = recording->options->waits_for_all && recording->has_ended;

	while (goes_on && children_go_on()) {
		record_report_progress(recording);
		poll(&watched, 1, look_at_processes(recording, ROUND_MS));
		while (goes_on && (watched.revents & POLLIN)) {
			int number = session_next_signal(recording->signals, &is_sent);

			if (number == 0)
				break;
			if (recording->options->is_flight && number == recording->options->snapshot_signal)
				record_flight_take_numbered(recording);
			else if (number != SIGCHLD)
				goes_on = false;
		}
	}
	progress_end();
}

/* The end. */

/* Say what the log with this name lacks. */
static void report_losses(const char *name)
{
	struct source *source = source_open(name, 0);

	if (source)
		source_report_unnamed(source);
	source_close(source);
}

/* Return the name under which the log is opened and reported.  A temporary log has no name for the user. */
static const char *name_log(const struct recording *recording)
{
	int fd = recording->options->is_piped ? open(recording->path, O_RDONLY | O_CLOEXEC) : -1;

	if (fd < 0)
		return recording->path;
	spool_name(recording->shown, fd);
	return recording->shown;
}

/* However the target ended, its events are still in the rings, which are not its own. */
static bool finish_flight(struct recording *recording)
{
	struct snapshot_file file = {.overwrites = recording->options->overwrites};
	unsigned long long nr_events;
	bool is_written;

	posix_trace_stop(recording->trace);
	memcpy(file.path, recording->path, sizeof(file.path));
	recording->target.has_library |= type_filter_sees_others(&recording->options->choice,
								 recording->trace);
	is_written = record_flight_take(recording, &file);
	end_stream(recording);
	record_report_absent(recording);
	if (recording->options->is_quiet) {
		if (is_written)
			report_losses(file.path);
		return is_written;
	}
	record_report_unread(recording);
	if (is_written && !record_report_log(recording, file.path, &nr_events) && recording->stream.absent == 0)
		record_report_nothing(recording);
	return is_written;
}

/* Flush the stream first, because the flush completes the number of lost events. */
static bool finish_log(struct recording *recording)
{
	struct posix_trace_status_info status;
	struct txtrace_loss loss;
	unsigned long long nr_events;
	int error, end_error;
	bool has_events = true;

	posix_trace_stop(recording->trace);
	error = posix_trace_flush(recording->trace);
	txtrace_get_loss(recording->trace, &loss);
	posix_trace_get_status(recording->trace, &status);
	recording->target.has_library |= type_filter_sees_others(&recording->options->choice,
								 recording->trace);
	if (recording->relay)
		relay_catch_up(recording->relay);
	end_error = end_stream(recording);
	error = error ? error : end_error ? end_error : status.posix_stream_flush_error;
	if (recording->options->is_quiet) {
		report_losses(name_log(recording));
	} else {
		has_events = record_report_log(recording, name_log(recording), &nr_events);
		record_report_result(recording, nr_events, &loss, &status);
		record_report_unread(recording);
	}
	record_report_absent(recording);
	if (error)
		message_error(error, "%s is incomplete", recording->shown);
	else
		record_report_full(recording, &status);
	if (!error && !has_events && recording->stream.absent == 0)
		record_report_nothing(recording);
	return end_relay(recording) && error == 0;
}

static bool finish(struct recording *recording)
{
	recording->others_go_on = recording->has_ended && recording->options->control.inherits &&
				  children_go_on();
	return recording->options->is_flight ? finish_flight(recording) : finish_log(recording);
}

/* A running process. */

static int record_process(struct record_options *options, pid_t pid, int signals)
{
	struct recording recording = {.options = options, .pid = pid, .signals = signals};
	bool is_whole;

	recording.process = session_open_process(pid);
	if (recording.process < 0)
		return EXIT_TOOL;
	if (!target_inspect(&recording.target, pid)) {
		message("process %d has ended", (int)pid);
		return EXIT_TOOL;
	}
	recording.uid = recording.target.uid;
	if (!begin(&recording, target_file_name(&recording.target)))
		return EXIT_TOOL;
	session_keep_log(&recording.aside);
	if (!target_is_traceable(&recording.target) && !options->only_sched && !options->is_quiet)
		target_explain_waiting(&recording.target);
	wait_for_end(&recording);
	wait_for_others(&recording);
	is_whole = finish(&recording);
	close(recording.process);
	return is_whole ? EXIT_FINE : EXIT_TOOL;
}

/* A command. */

/* In the child. Return only if that fails. */
static void execute(void *arg)
{
	const struct record_options *options = arg;

	/* Standard output is for the log. */
	if (options->is_piped && dup2(STDERR_FILENO, STDOUT_FILENO) < 0)
		return;
	if (!options->preloads ||
	    preload_enter(&options->preload, &options->program))
		execvp(options->command[0], options->command);
}

static int drop_recording(struct recording *recording, int error)
{
	end_stream(recording);
	drop_log(recording);
	message_error(error, "%s", recording->options->command[0]);
	return error == ENOENT ? EXIT_MISSING : EXIT_CANNOT;
}

static int record_child(struct recording *recording, struct launch *launch)
{
	bool has_begun;
	int error;

	target_expect(&recording->target, recording->options->command[0]);
	recording->uid = recording->target.uid;
	has_begun = begin(recording, recording->target.name);
	error = has_begun ? launch_let_go(launch) : 0;
	launch_close(launch);
	if (!has_begun || error) {
		waitpid(recording->pid, NULL, 0);
		return has_begun ? drop_recording(recording, error) : EXIT_TOOL;
	}
	session_keep_log(&recording->aside);
	wait_for_end(recording);
	wait_for_others(recording);
	return finish(recording) ? launch_exit_code(recording->wait_status) : EXIT_TOOL;
}

static int record_command(struct record_options *options, int signals)
{
	struct recording recording = {.options = options, .signals = signals, .process = -1};
	struct launch launch;

	if (!launch_begin(&launch, execute, options))
		return EXIT_TOOL;
	signal(SIGPIPE, SIG_IGN); /* a message that nobody reads does not replace the command's status */
	recording.pid = launch.pid;
	return record_child(&recording, &launch);
}

static int run(int argc, char **argv)
{
	struct record_options options;
	int signals;

	if (!record_options_read(&options, argc, argv))
		return EXIT_TOOL;
	signals = session_signals(options.snapshot_signal);
	if (signals < 0)
		return EXIT_TOOL;
	if (options.command)
		return record_command(&options, signals);
	return record_process(&options, options.control.pid, signals);
}

const struct command cmd_record = {
	.name = "record",
	.arguments = "(-p PID | [--] COMMAND [ARGUMENT...])",
	.summary = "record the events of a command or of a running process in a file",
	.options = record_option_rows,
	.run = run,
};
