/* SPDX-License-Identifier: MIT */
/* txtrace record: trace a command, or a process that runs, into a file. */
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <trace_ext.h>
#include <unistd.h>

#include "base/message.h"
#include "cli/command.h"
#include "live/logname.h"
#include "live/namer.h"
#include "live/preload.h"
#include "live/session.h"
#include "live/target.h"
#include "live/type_filter.h"
#include "trace/source.h"

#define DEFAULT_OUTPUT "%e.%p.trx"
#define DEFAULT_LOG ((size_t)64 << 20)
#define ROUND_MS 250	  /* between two looks at the stream */
#define TYPES_ROUND_MS 10 /* where types have to be looked at */
#define FIRST_LOOK_MS 1	  /* at the process, then twice as long each time */
#define LAST_LOOK_MS 1000

enum {
	OPTION_POLICY = OPTION_OWN,
	OPTION_STREAM_POLICY,
	OPTION_LOG_SIZE,
	OPTION_NO_EVENT,
	OPTION_NAME,
	OPTION_PRELOAD,
	OPTION_EVENTS,
	OPTION_CHILDREN
};

static const struct option_row options[] = {
	{'o', "output", "FILE", "the log; %e program, %p pid, %t time; else " DEFAULT_OUTPUT},
	OPTION_ROW_FORCE,
	{'p', "pid", "PID", "trace this process, until it ends or Ctrl-C"},
	CONTROL_ROW_INHERIT,
	{OPTION_PRELOAD, "preload", NULL,
	 "trace the calls of a command that does not use posixtrace"},
	{OPTION_EVENTS, "events", "GROUPS",
	 "which calls: mutex,cond or +heap,-file; with --preload"},
	{OPTION_CHILDREN, "children", "no|yes|match=REGEX", "preload what it starts, too"},
	{'e', "event", "GLOB", "record only such event types; may be repeated"},
	{OPTION_NO_EVENT, "no-event", "GLOB", "record no such event types; may be repeated"},
	{OPTION_POLICY, "policy", "loop|until-full|append",
	 "when the log is full; loop if not given: the newest stay"},
	{OPTION_LOG_SIZE, "log-size", "BYTES", "of the log, as 512k, 64M, 2G; 64M if not given"},
	{OPTION_STREAM_POLICY, "stream-policy", "flush|loop|until-full",
	 "when a ring is full; flush if not given: into the log ahead of that"},
	CONTROL_ROW_SIZE,
	{OPTION_NAME, "name", "TEXT", "the name of the trace; else the program's"},
	{'q', "quiet", NULL, "say nothing but what went wrong"},
	OPTIONS_END,
};

struct order {
	const char *output;
	bool overwrites, is_quiet;
	char **command; /* NULL: a process */
	bool preloads;
	struct preload_order preload;
	char object[PATH_MAX]; /* that is preloaded */
	struct preload_program program;
	struct control_order control;
	struct type_choice choice;
};

struct recording {
	struct order *order;
	pid_t pid;
	struct subject subject;
	char path[PATH_MAX];
	char *aside; /* what had this name, until it is sure that there is something to record */
	trace_id_t trace;
	int signals;
	int process; /* becomes readable when it has ended; -1: a child, which SIGCHLD tells of */
	bool has_ended;
	int wait_status; /* of a child */
	struct timespec begin;
	int look_ms; /* until the next look at the subject */
	int64_t look_ns;
	bool has_looked;     /* at what it has loaded */
	struct namer *namer; /* of the objects of calls */
};

static int64_t now_ns(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return now.tv_sec * NS_PER_S + now.tv_nsec;
}

static int64_t since_ns(const struct timespec *begin)
{
	return now_ns() - (begin->tv_sec * NS_PER_S + begin->tv_nsec);
}

/* The stream. */

static int end_stream(struct recording *recording)
{
	int error = posix_trace_shutdown(recording->trace);

	namer_free(recording->namer);
	return error;
}

static bool begin_stream(struct recording *recording)
{
	struct order *order = recording->order;
	int error;

	if (!control_create(&order->control, &recording->trace))
		return false;
	recording->namer = namer_new();
	txtrace_set_namer(recording->trace, namer_name, recording->namer);
	error = type_choice_begin(&order->choice, recording->trace);
	if (!error)
		error = posix_trace_start(recording->trace);
	if (error) {
		say_error(error, "the trace cannot be started");
		end_stream(recording);
		return false;
	}
	clock_gettime(CLOCK_MONOTONIC, &recording->begin);
	return true;
}

/* program: for its name.  Nothing is left of it if it fails. */
static bool begin(struct recording *recording, const char *program)
{
	struct order *order = recording->order;
	bool has_begun;

	if (!logname_expand(order->output, program, recording->pid, recording->path))
		return false;
	order->control.log = control_open_log(recording->path, order->overwrites,
					      &recording->aside);
	if (order->control.log < 0)
		return false;
	order->control.pid = recording->pid;
	if (!order->control.name)
		order->control.name = program;
	has_begun = begin_stream(recording);
	close(order->control.log);
	if (!has_begun)
		control_drop_log(recording->path, &recording->aside);
	return has_begun;
}

/* While it runs. */

/* A log has holes where nothing is written yet, so that its length says little. */
static const char *shown_size(const struct stat *status)
{
	double bytes = (double)status->st_blocks * 512;
	static char text[32];

	if (bytes < 1e6)
		snprintf(text, sizeof(text), "%.0f kB", bytes / 1e3);
	else
		snprintf(text, sizeof(text), "%.1f MB", bytes / 1e6);
	return text;
}

static void show_progress(const struct recording *recording)
{
	struct txtrace_stream stream;
	struct txtrace_loss loss;
	struct stat status;

	if (recording->order->is_quiet || stat(recording->path, &status) != 0 ||
	    txtrace_get_stream(recording->trace, &stream) != 0 ||
	    txtrace_get_loss(recording->trace, &loss) != 0)
		return;
	progress_text("recording: %llu events, %llu lost, %s", stream.nr_events,
		      loss.overwritten + loss.dropped + loss.abandoned, shown_size(&status));
}

/*
 * A short-lived program is to be seen, and a long-lived one not to be disturbed.  While it is being loaded it has the
 * library already, but neither all else nor what tells whether it will find this trace.
 */
static void look(struct recording *recording)
{
	if (now_ns() < recording->look_ns || recording->subject.has_registry)
		return;
	subject_look(&recording->subject, recording->pid);
	recording->look_ns = now_ns() + recording->look_ms * 1000000LL;
	if (recording->look_ms < LAST_LOOK_MS)
		recording->look_ms *= 2;
}

/* What the program has loaded cannot be seen any more when it has ended; with a flush the log gets the list of it. */
static void look_once(struct recording *recording)
{
	if (recording->has_looked || !recording->subject.has_registry)
		return;
	recording->has_looked = true;
	namer_look(recording->namer, recording->pid);
	if (recording->order->control.stream_policy == POSIX_TRACE_FLUSH)
		posix_trace_flush(recording->trace);
}

/* A child that does not end is waited for, as by a shell; it is told what its terminal has not told it. */
static bool handle_signals(struct recording *recording)
{
	bool is_sent, goes_on = true;
	int number;

	while ((number = control_next_signal(recording->signals, &is_sent)) != 0) {
		if (number == SIGCHLD)
			continue;
		if (!recording->order->command)
			goes_on = false;
		else if (is_sent)
			kill(recording->pid, number);
	}
	return goes_on;
}

static void look_whether_it_ended(struct recording *recording, bool is_readable)
{
	if (!recording->order->command)
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

	recording->look_ms = FIRST_LOOK_MS;
	while (goes_on && !recording->has_ended) {
		int wait_ms = recording->order->choice.has_globs ? TYPES_ROUND_MS : ROUND_MS;

		look(recording);
		look_once(recording);
		show_progress(recording);
		type_choice_update(&recording->order->choice, recording->trace);
		if (!recording->subject.has_registry && recording->look_ms < wait_ms)
			wait_ms = recording->look_ms;
		poll(watched, 2, wait_ms);
		goes_on = handle_signals(recording);
		look_whether_it_ended(recording, (watched[1].revents & POLLIN) != 0);
	}
	progress_end();
}

/* The end. */

/* Whether the log has an event that is not of the trace system. */
static bool has_user_event(const char *path)
{
	struct source *source = source_open(path, 0);
	trace_event_set_t system;
	struct event event;
	int is_system = 1;

	posix_trace_eventset_fill(&system, POSIX_TRACE_SYSTEM_EVENTS);
	while (source && is_system && source_next(source, &event))
		posix_trace_eventset_ismember(event.type, &system, &is_system);
	source_close(source);
	return !is_system;
}

static const char *shown_loss(const struct txtrace_loss *loss)
{
	static char text[128];
	unsigned long long sum = loss->overwritten + loss->dropped + loss->abandoned;

	if (sum == 0)
		return "none lost";
	snprintf(text, sizeof(text), "%llu lost (%llu overwritten, %llu dropped, %llu abandoned)",
		 sum, loss->overwritten, loss->dropped, loss->abandoned);
	return text;
}

static void say_size_of_log(const struct recording *recording,
			    const struct posix_trace_status_info *status)
{
	if (status->posix_log_overrun_status != POSIX_TRACE_OVERRUN)
		return;
	say("%s was full: it has the %s events; --log-size or --policy append keep more",
	    recording->path,
	    recording->order->control.log_policy == POSIX_TRACE_LOOP ? "newest" : "oldest");
}

static void say_result(const struct recording *recording, const struct txtrace_stream *stream,
		       const struct txtrace_loss *loss)
{
	int64_t ns = since_ns(&recording->begin);
	struct stat status = {.st_blocks = 0};

	stat(recording->path, &status);
	if (!recording->order->is_quiet)
		say("%s: %llu events, %s, %s, %lld.%03lld s", recording->path, stream->nr_events,
		    shown_loss(loss), shown_size(&status), (long long)(ns / NS_PER_S),
		    (long long)(ns % NS_PER_S / 1000000));
}

static void say_nothing_recorded(const struct recording *recording)
{
	if (recording->order->choice.nr > 0 && recording->subject.has_library)
		say("%s uses libposixtrace, but no event was one that --event and --no-event let "
		    "pass",
		    recording->subject.name);
	else if (recording->order->preloads)
		say("%s made no call that is traced; txtrace doctor %s tells which it could make",
		    recording->subject.name, recording->order->command[0]);
	else
		subject_explain(&recording->subject, recording->order->control.inherits);
}

/* The stream is flushed before it is asked: only then all its losses are known. */
static bool finish(struct recording *recording)
{
	struct posix_trace_status_info status;
	struct txtrace_stream stream;
	struct txtrace_loss loss;
	int error, end_error;

	posix_trace_stop(recording->trace);
	error = posix_trace_flush(recording->trace);
	txtrace_get_stream(recording->trace, &stream);
	txtrace_get_loss(recording->trace, &loss);
	posix_trace_get_status(recording->trace, &status);
	recording->subject.has_library |= type_choice_sees_others(&recording->order->choice,
								  recording->trace);
	end_error = end_stream(recording);
	error = error ? error : end_error ? end_error : status.posix_stream_flush_error;
	say_result(recording, &stream, &loss);
	if (error)
		say_error(error, "%s is not whole", recording->path);
	else
		say_size_of_log(recording, &status);
	if (!error && !has_user_event(recording->path))
		say_nothing_recorded(recording);
	return error == 0;
}

/* A process that runs. */

static int record_process(struct order *order, pid_t pid, int signals)
{
	struct recording recording = {.order = order, .pid = pid, .signals = signals};
	bool is_whole;

	recording.process = control_open_process(pid);
	if (recording.process < 0)
		return EXIT_TOOL;
	if (!subject_look(&recording.subject, pid)) {
		say("process %d has ended", (int)pid);
		return EXIT_TOOL;
	}
	if (!begin(&recording, recording.subject.name))
		return EXIT_TOOL;
	control_keep_log(&recording.aside);
	if (!subject_is_traceable(&recording.subject))
		subject_explain_waiting(&recording.subject);
	wait_for_end(&recording);
	is_whole = finish(&recording);
	close(recording.process);
	return is_whole ? EXIT_FINE : EXIT_TOOL;
}

/* A command. */

struct child_pipes {
	int go[2];     /* a byte lets the child become the command; end of file lets it end */
	int result[2]; /* end of file: it did; or why not, as an error number */
};

static bool make_pipes(struct child_pipes *pipes)
{
	if (pipe2(pipes->go, O_CLOEXEC) == 0 && pipe2(pipes->result, O_CLOEXEC) == 0)
		return true;
	say_error(errno, "pipe");
	return false;
}

static void become_command(const struct child_pipes *pipes, const struct order *order)
{
	char byte;
	int error;

	close(pipes->go[1]);
	if (read(pipes->go[0], &byte, 1) != 1)
		_exit(EXIT_TOOL);
	control_restore_signals();
	if (!order->preloads || preload_enter(&order->preload, &order->program, order->object))
		execvp(order->command[0], order->command);
	error = errno;
	_exit(write(pipes->result[1], &error, sizeof(error)) == sizeof(error) ? EXIT_CANNOT :
										EXIT_TOOL);
}

/* 0: the child is the command now. */
static int let_go(const struct child_pipes *pipes)
{
	int error = 0;

	if (write(pipes->go[1], "", 1) != 1 ||
	    read(pipes->result[0], &error, sizeof(error)) != sizeof(error))
		return 0;
	return error;
}

static int exit_code_of(int status)
{
	return WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status);
}

static int drop_recording(struct recording *recording, int error)
{
	end_stream(recording);
	control_drop_log(recording->path, &recording->aside);
	say_error(error, "%s", recording->order->command[0]);
	return error == ENOENT ? EXIT_MISSING : EXIT_CANNOT;
}

static int record_child(struct recording *recording, const struct child_pipes *pipes)
{
	bool has_begun;
	int error;

	subject_expect(&recording->subject, recording->order->command[0]);
	has_begun = begin(recording, recording->subject.name);
	error = has_begun ? let_go(pipes) : 0;
	close(pipes->go[0]);
	close(pipes->go[1]);
	close(pipes->result[0]);
	if (!has_begun || error) {
		waitpid(recording->pid, NULL, 0);
		return has_begun ? drop_recording(recording, error) : EXIT_TOOL;
	}
	control_keep_log(&recording->aside);
	wait_for_end(recording);
	return finish(recording) ? exit_code_of(recording->wait_status) : EXIT_TOOL;
}

/* False: it cannot be, which was said.  What cannot be found is left to exec, which says so. */
static bool prepare_preload(struct order *order)
{
	struct preload_program *program = &order->program;

	if (!preload_find(order->object, program->why_not, sizeof(program->why_not))) {
		say("%s", program->why_not);
		return false;
	}
	preload_look(program, order->command[0], order->object);
	preload_end(program);
	if (program->why_not[0] && program->file[0]) {
		say("%s", program->why_not);
		return false;
	}
	if (program->sanitizer[0] && !order->is_quiet)
		say("%s needs %s, which is preloaded ahead of " PRELOAD_OBJECT, program->program,
		    program->sanitizer);
	return true;
}

/* What is traced of children has to be in them, and what is in them is to be traced. */
static bool settle_preload(struct order *order)
{
	struct preload_order *preload = &order->preload;

	if (!order->preloads && (preload->events || preload->children)) {
		say("%s goes with --preload", preload->events ? "--events" : "--children");
		return false;
	}
	if (order->preloads && !order->command) {
		say("--preload is for a command: it is too late for a process that runs");
		return false;
	}
	if (!preload_check(preload))
		return false;
	if (preload->children && strcmp(preload->children, "no") != 0)
		order->control.inherits = true;
	else if (order->control.inherits && !preload->children)
		preload->children = "yes";
	if (order->preloads && !prepare_preload(order))
		return false;
	if (order->program.is_by_env && !preload->children)
		preload->children = preload_match(&order->program);
	return true;
}

static int record_command(struct order *order, int signals)
{
	struct recording recording = {.order = order, .signals = signals, .process = -1};
	struct child_pipes pipes;

	if (!make_pipes(&pipes))
		return EXIT_TOOL;
	recording.pid = fork();
	if (recording.pid == 0)
		become_command(&pipes, order);
	close(pipes.result[1]);
	if (recording.pid < 0) {
		say_error(errno, "fork");
		return EXIT_TOOL;
	}
	return record_child(&recording, &pipes);
}

/* Options. */

static bool choose_policy(const char *option, const int policies[], const char *word, int *policy)
{
	for (int i = 0; policies[i]; i++) {
		if (strcmp(word, policy_name(policies[i])) != 0)
			continue;
		*policy = policies[i];
		return true;
	}
	say("%s does not know %s; see txtrace record --help", option, word);
	return false;
}

static bool read_option(struct order *order, int code)
{
	static const int log_policies[] = {POSIX_TRACE_LOOP, POSIX_TRACE_UNTIL_FULL,
					   POSIX_TRACE_APPEND, 0};
	static const int stream_policies[] = {POSIX_TRACE_FLUSH, POSIX_TRACE_LOOP,
					      POSIX_TRACE_UNTIL_FULL, 0};

	switch (code) {
	case 'o':
		order->output = optarg;
		return true;
	case 'p':
		return control_parse_pid(optarg, &order->control.pid);
	case 'q':
		return order->is_quiet = true;
	case 'e':
	case OPTION_NO_EVENT:
		return type_choice_add(&order->choice, optarg, code == 'e');
	case OPTION_FORCE:
		return order->overwrites = true;
	case OPTION_INHERIT:
		return order->control.inherits = true;
	case OPTION_POLICY:
		return choose_policy("--policy", log_policies, optarg, &order->control.log_policy);
	case OPTION_STREAM_POLICY:
		return choose_policy("--stream-policy", stream_policies, optarg,
				     &order->control.stream_policy);
	case OPTION_SIZE:
		return control_parse_size("--size", optarg, &order->control.stream_size);
	case OPTION_LOG_SIZE:
		return control_parse_size("--log-size", optarg, &order->control.log_size);
	case OPTION_NAME:
		order->control.name = optarg;
		return true;
	case OPTION_PRELOAD:
		return order->preloads = true;
	case OPTION_EVENTS:
		order->preload.events = optarg;
		return true;
	case OPTION_CHILDREN:
		order->preload.children = optarg;
		return true;
	default:
		return false;
	}
}

static int run(int argc, char **argv)
{
	struct order order = {.output = DEFAULT_OUTPUT,
			      .control = {.stream_policy = POSIX_TRACE_FLUSH,
					  .log_policy = POSIX_TRACE_LOOP,
					  .log_size = DEFAULT_LOG}};
	int code, signals;

	while ((code = options_next(&cmd_record, argc, argv)) != -1)
		if (!read_option(&order, code))
			return EXIT_TOOL;
	if ((order.control.pid != 0) == (optind < argc)) {
		say("record takes a command, or -p PID; see txtrace record --help");
		return EXIT_TOOL;
	}
	if (order.control.pid == 0)
		order.command = argv + optind;
	if (!settle_preload(&order))
		return EXIT_TOOL;
	if (order.control.stream_size == 0)
		order.control.stream_size = control_ring_size(order.preloads);
	signals = control_signals();
	if (signals < 0)
		return EXIT_TOOL;
	if (order.command)
		return record_command(&order, signals);
	return record_process(&order, order.control.pid, signals);
}

const struct command cmd_record = {
	.name = "record",
	.arguments = "(-p PID | [--] COMMAND [ARGUMENT...])",
	.summary = "trace a command, or a process that runs, into a file",
	.options = options,
	.run = run,
};
