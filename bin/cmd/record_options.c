/* SPDX-License-Identifier: MIT */
#include "cmd/record_options.h"

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <trace_ext.h>
#include <unistd.h>

#include "base/message.h"
#include "cli/command.h"
#include "trace/source.h"
#include "trace/type_lines.h"

#define DEFAULT_OUTPUT "%e.%p.trx"
#define DEFAULT_LOG ((size_t)64 << 20)

enum {
	OPTION_POLICY = OPTION_OWN,
	OPTION_STREAM_POLICY,
	OPTION_LOG_SIZE,
	OPTION_NO_EVENT,
	OPTION_NAME,
	OPTION_PRELOAD,
	OPTION_EVENTS,
	OPTION_CHILDREN,
	OPTION_AGGREGATE,
	OPTION_STACKS,
	OPTION_FLIGHT,
	OPTION_SIGNAL,
	OPTION_WAIT_ALL,
	OPTION_NO_SCHED,
	OPTION_SCHED_ONLY
};

const struct option_row record_option_rows[] = {
	{'o', "output", "FILE", "the log; %e program, %p pid, %t time; - standard output; default " DEFAULT_OUTPUT},
	OPTION_ROW_FORCE,
	{'p', "pid", "PID", "trace this process until it ends, or until Ctrl-C"},
	SESSION_ROW_INHERIT,
	{OPTION_WAIT_ALL, "wait-all", NULL, "with --inherit: go on until the last traced process ends"},
	{OPTION_PRELOAD, "preload", NULL,
	 "record the calls of a program that does not use posixtrace"},
	{OPTION_EVENTS, "events", "GROUPS",
	 "with --preload: the groups of calls, such as mutex,cond or +heap,-file"},
	{OPTION_CHILDREN, "children", "no|yes|match=REGEX",
	 "with --preload: trace child processes too"},
	{OPTION_AGGREGATE, "aggregate", NULL,
	 "count the calls that do not wait, instead of recording each of them"},
	{OPTION_STACKS, "stacks", "[=waits|all|US]",
	 "with --preload: the stacks of calls that waited 20 us, or US, or of all calls"},
	{'e', "event", "GLOB", "record only these event types; can be repeated"},
	{OPTION_NO_EVENT, "no-event", "GLOB", "do not record these event types; can be repeated"},
	{OPTION_POLICY, "policy", "loop|until-full|append",
	 "when the log is full; default loop: overwrite the oldest events"},
	{OPTION_LOG_SIZE, "log-size", "BYTES",
	 "room for events in the log, such as 512k, 64M or 2G; default 64M"},
	{OPTION_STREAM_POLICY, "stream-policy", "flush|loop|until-full",
	 "when a ring is full; default flush: write rings to the log before they fill"},
	SESSION_ROW_SIZE_AUTO,
	{OPTION_NO_SCHED, "no-sched", NULL, "do not record which thread has which CPU"},
	{OPTION_SCHED_ONLY, "sched-only", NULL, "record nothing else: of any program, also one that runs already"},
	{OPTION_FLIGHT, "flight-recorder", "SIZE",
	 "keep the newest events in rings of this size; the log gets them at the end"},
	{OPTION_SIGNAL, "snapshot-signal", "SIGNAL",
	 "with --flight-recorder: a snapshot at this signal; default USR1"},
	{OPTION_NAME, "name", "TEXT", "name of the trace; default: the name of the program"},
	OPTION_ROWS_TYPE,
	{'q', "quiet", NULL, "print errors only"},
	OPTIONS_END,
};

/*
 * If the object cannot be loaded into the program, print a message and return false. If the program is not found, exec
 * reports this error later.
 */
static bool prepare_preload(struct record_options *options)
{
	struct preload_program *program = &options->program;

	if (!preload_find(options->object, program->why_not, sizeof(program->why_not))) {
		message("%s", program->why_not);
		return false;
	}
	preload_inspect(program, options->command[0], options->object);
	preload_end(program);
	if (program->why_not[0] && program->file[0]) {
		message("%s", program->why_not);
		return false;
	}
	if (program->sanitizer[0] && !options->is_quiet)
		message("%s needs %s, which is preloaded before " PRELOAD_OBJECT,
			program->program, program->sanitizer);
	return true;
}

/* Children are traced only if the object is loaded into them and if they inherit the stream. So set both options. */
static bool settle_preload(struct record_options *options)
{
	struct preload_options *preload = &options->preload;

	if (!options->preloads && (preload->events || preload->children)) {
		message("%s needs --preload", preload->events ? "--events" : "--children");
		return false;
	}
	if (!options->preloads && options->control.has_stacks && options->command) {
		message("--stacks needs --preload");
		return false;
	}
	if (options->preloads && !options->command) {
		message("--preload needs a command: the object cannot be loaded into a running process");
		return false;
	}
	if (!preload_check(preload))
		return false;
	if (options->control.inherits && preload->children && strcmp(preload->children, "no") == 0) {
		message("--inherit traces the children, and --children=no does not: give one of them");
		return false;
	}
	if (preload->children && strcmp(preload->children, "no") != 0)
		options->control.inherits = true;
	else if (options->control.inherits && !preload->children)
		preload->children = "yes";
	if (options->preloads && !prepare_preload(options))
		return false;
	if (options->program.is_by_env && !preload->children)
		preload->children = preload_match(&options->program);
	return true;
}

static bool choose_policy(const char *option, const int policies[], const char *word, int *policy)
{
	char names[64] = "";

	for (int i = 0; policies[i]; i++) {
		size_t length = strlen(names);

		if (strcmp(word, policy_name(policies[i])) == 0) {
			*policy = policies[i];
			return true;
		}
		snprintf(names + length, sizeof(names) - length, "%s%s",
			 i == 0		  ? "" :
			 policies[i + 1] ? ", " :
					   " or ",
			 policy_name(policies[i]));
	}
	message("%s takes %s, not %s", option, names, word);
	return false;
}

#define STACKS_USUAL_US 20
#define STACKS_MAX_US 32000

static bool parse_stacks(struct record_options *options)
{
	int *stacks = &options->control.stacks;
	char *end;
	long us;

	options->control.has_stacks = true;
	*stacks = STACKS_USUAL_US;
	if (!optarg || strcmp(optarg, "waits") == 0)
		return true;
	*stacks = TXTRACE_STACKS_ALL;
	if (strcmp(optarg, "all") == 0)
		return true;
	us = strtol(optarg, &end, 10);
	*stacks = (int)us;
	if (*optarg >= '0' && *optarg <= '9' && (!*end || strcmp(end, "us") == 0) && us <= STACKS_MAX_US)
		return true;
	message("--stacks takes waits, all or 0 to %d microseconds, not %s", STACKS_MAX_US, optarg);
	return false;
}

/* SIGRTMIN is not a constant; the names are those of kill(1). */
static bool parse_signal(const char *text, int *number)
{
	static const struct {
		const char *name;
		int number;
	} known[] = {{"USR1", SIGUSR1}, {"USR2", SIGUSR2}, {"HUP", SIGHUP}, {"WINCH", SIGWINCH}};
	const char *name = strncmp(text, "SIG", 3) == 0 ? text + 3 : text;
	char *end;
	long value = strtol(text, &end, 10);

	for (size_t i = 0; i < sizeof(known) / sizeof(known[0]); i++)
		if (strcmp(name, known[i].name) == 0) {
			*number = known[i].number;
			return true;
		}
	*number = (int)value;
	if (end != text && !*end && value > 0 && value <= SIGRTMAX && value != SIGKILL &&
	    value != SIGSTOP && value != SIGCHLD)
		return true;
	message("--snapshot-signal takes USR1, USR2, HUP, WINCH or a number, not %s", text);
	return false;
}

/* The rings of a flight recorder loop.  It has no log, so the user cannot choose the size and the policy of a log. */
static bool settle_flight(struct record_options *options)
{
	if (!options->is_flight && options->snapshot_signal) {
		message("--snapshot-signal needs --flight-recorder");
		return false;
	}
	if (!options->is_flight)
		return true;
	if (options->has_log_options) {
		message("--flight-recorder takes no options for sizes and policies; see txtrace record --help");
		return false;
	}
	options->control.stream_policy = POSIX_TRACE_LOOP;
	options->control.log_size = 0;
	if (!options->snapshot_signal)
		options->snapshot_signal = SIGUSR1;
	return true;
}

/* No event of the program has this type, so the stream records only its own events, and scheduling records. */
static bool settle_sched(struct record_options *options)
{
	if (!options->only_sched)
		return true;
	if (options->preloads || options->control.has_stacks || options->control.aggregates || options->is_flight ||
	    options->control.without_sched || options->choice.nr > 0 ||
	    options->control.stream_policy != POSIX_TRACE_FLUSH) {
		message("--sched-only takes no options for events and rings; see txtrace record --help");
		return false;
	}
	return type_filter_add(&options->choice, "", true);
}

static bool read_option(struct record_options *options, int code)
{
	static const int log_policies[] = {POSIX_TRACE_LOOP, POSIX_TRACE_UNTIL_FULL,
					   POSIX_TRACE_APPEND, 0};
	static const int stream_policies[] = {POSIX_TRACE_FLUSH, POSIX_TRACE_LOOP,
					      POSIX_TRACE_UNTIL_FULL, 0};

	switch (code) {
	case 'o':
		options->output = optarg;
		return true;
	case 'p':
		return session_parse_pid(optarg, &options->control.pid);
	case 'q':
		return options->is_quiet = true;
	case 'e':
	case OPTION_NO_EVENT:
		return type_filter_add(&options->choice, optarg, code == 'e');
	case OPTION_TYPE:
		return type_lines_option(optarg);
	case 'T':
		return type_lines_file(optarg);
	case OPTION_FORCE:
		return options->overwrites = true;
	case OPTION_INHERIT:
		return options->control.inherits = true;
	case OPTION_WAIT_ALL:
		return options->waits_for_all = true;
	case OPTION_NO_SCHED:
		return options->control.without_sched = true;
	case OPTION_SCHED_ONLY:
		return options->only_sched = true;
	case OPTION_FLIGHT:
		options->is_flight = true;
		return session_parse_size("--flight-recorder", optarg, &options->control.stream_size);
	case OPTION_SIGNAL:
		return parse_signal(optarg, &options->snapshot_signal);
	case OPTION_POLICY:
		options->has_log_options = options->has_policy = true;
		return choose_policy("--policy", log_policies, optarg,
				     &options->control.log_policy);
	case OPTION_STREAM_POLICY:
		options->has_log_options = true;
		return choose_policy("--stream-policy", stream_policies, optarg,
				     &options->control.stream_policy);
	case OPTION_SIZE:
		options->has_log_options = true;
		return session_parse_ring_size(optarg, &options->control);
	case OPTION_LOG_SIZE:
		options->has_log_options = true;
		return session_parse_size("--log-size", optarg, &options->control.log_size);
	case OPTION_NAME:
		options->control.name = optarg;
		return true;
	case OPTION_PRELOAD:
		return options->preloads = options->choice.knows_calls = true;
	case OPTION_EVENTS:
		options->preload.events = optarg;
		return true;
	case OPTION_AGGREGATE:
		return options->control.aggregates = true;
	case OPTION_CHILDREN:
		options->preload.children = optarg;
		return true;
	case OPTION_STACKS:
		return parse_stacks(options);
	default:
		return false;
	}
}

/* In a log that overwrites its oldest events, they may be gone before they are sent. */
static bool settle_pipe(struct record_options *options)
{
	options->is_piped = strcmp(options->output, "-") == 0;
	if (!options->is_piped)
		return true;
	if (options->is_flight)
		message("--flight-recorder writes files: use -o FILE");
	else if (options->has_policy && options->control.log_policy != POSIX_TRACE_APPEND)
		message("-o - sends a log that grows: it takes only --policy append, which is then the default");
	else if (isatty(STDOUT_FILENO))
		message("a log is binary and standard output is a terminal: use -o FILE");
	else {
		options->control.log_policy = POSIX_TRACE_APPEND;
		return true;
	}
	return false;
}

bool record_options_read(struct record_options *options, int argc, char **argv)
{
	int code;

	*options = (struct record_options){.output = DEFAULT_OUTPUT,
					   .control = {.stream_policy = POSIX_TRACE_FLUSH,
						       .log_policy = POSIX_TRACE_LOOP,
						       .log_size = DEFAULT_LOG}};
	while ((code = options_next(&cmd_record, argc, argv)) != -1)
		if (!read_option(options, code))
			return false;
	if ((options->control.pid != 0) == (optind < argc)) {
		message("record takes a command, or -p PID; see txtrace record --help");
		return false;
	}
	if (options->control.pid == 0)
		options->command = argv + optind;
	if (options->waits_for_all && !options->control.inherits) {
		message("--wait-all needs --inherit");
		return false;
	}
	if (!settle_sched(options) || !settle_flight(options) || !settle_pipe(options) || !settle_preload(options))
		return false;
	if (options->control.is_growth_asked &&
	    options->control.stream_policy != POSIX_TRACE_FLUSH) {
		message("--size auto needs --stream-policy flush, which is the default");
		return false;
	}
	session_settle_size(&options->control, options->preloads);
	return true;
}
