/* SPDX-License-Identifier: MIT */
/* txtrace snapshot: write the events in a running stream to a log. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <trace_ext.h>
#include <unistd.h>

#include "base/message.h"
#include "cli/command.h"
#include "live/logname.h"
#include "live/session.h"
#include "live/snapshot.h"

#define DEFAULT_OUTPUT "%e.%p.%t.trx"

static const struct option_row option_rows[] = {
	{'o', "output", "FILE", "the log; %e trace, %p pid, %t time; default " DEFAULT_OUTPUT},
	OPTION_ROW_FORCE,
	{'q', "quiet", NULL, "print errors only"},
	OPTIONS_END,
};

struct options {
	const char *output;
	bool overwrites, is_quiet;
};

static bool has_name(const struct txtrace_stream *stream, const char *wanted)
{
	char *end;
	long pid = strtol(wanted, &end, 10);

	if (strcmp(stream->name, wanted) == 0)
		return true;
	return end != wanted && !*end && !stream->other_pids &&
	       (stream->target == pid || stream->controller == pid);
}

/* Find the only stream with this name or process.  Return false, with a message, if there is none or more than one. */
static bool find_stream(const char *wanted, struct txtrace_stream *found)
{
	static struct txtrace_stream list[TRACE_SYS_MAX];
	unsigned int nr, nr_found = 0;
	int error = txtrace_list_streams(list, TRACE_SYS_MAX, &nr);

	if (error) {
		message_error(error, "cannot list the streams");
		return false;
	}
	for (unsigned int i = 0; i < nr; i++)
		if (has_name(&list[i], wanted)) {
			*found = list[i];
			nr_found++;
		}
	if (nr_found == 1)
		return true;
	if (nr_found == 0)
		message("no stream of this user has the name %s, or traces process %s; txtrace list shows them",
			wanted, wanted);
	else
		message("%u streams have the name or the process %s; txtrace list shows them", nr_found,
			wanted);
	return false;
}

static int take(const struct options *options, const char *wanted)
{
	struct snapshot_file file = {.overwrites = options->overwrites};
	struct txtrace_stream stream;
	int error;

	if (!find_stream(wanted, &stream) ||
	    !logname_expand(options->output, stream.name, stream.target, file.path) ||
	    !snapshot_file_open(&file))
		return EXIT_TROUBLE;
	error = txtrace_snapshot_stream(&stream, file.fd);
	if (!snapshot_file_close(&file, error))
		return EXIT_TROUBLE;
	if (!options->is_quiet)
		message("%s: %llu events", file.path, file.nr_events);
	return EXIT_FINE;
}

static int run(int argc, char **argv)
{
	struct options options = {.output = DEFAULT_OUTPUT};
	int code;

	while ((code = options_next(&cmd_snapshot, argc, argv)) != -1)
		switch (code) {
		case 'o':
			options.output = optarg;
			break;
		case OPTION_FORCE:
			options.overwrites = true;
			break;
		case 'q':
			options.is_quiet = true;
			break;
		default:
			return EXIT_TROUBLE;
		}
	if (optind + 1 != argc) {
		message("snapshot takes one process or stream; see txtrace snapshot --help");
		return EXIT_TROUBLE;
	}
	return take(&options, argv[optind]);
}

const struct command cmd_snapshot = {
	.name = "snapshot",
	.arguments = "PID|STREAM",
	.summary = "write the events in a running stream to a log, without stopping the stream",
	.options = option_rows,
	.run = run,
};
