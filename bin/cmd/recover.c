/* SPDX-License-Identifier: MIT */
/* txtrace recover: complete the logs of killed controllers. */
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <trace_ext.h>
#include <unistd.h>

#include "base/message.h"
#include "cli/command.h"
#include "input/relay.h"
#include "live/snapshot.h"
#include "trace/newer.h"

static const struct option_row option_rows[] = {
	{'o', "output", "FILE", "where the whole part of a damaged log goes; default: like the log, with .whole"},
	OPTION_ROW_FORCE,
	OPTIONS_END,
};

struct options {
	const char *output;
	bool overwrites;
};

/* Return true if recovery wrote to the file. Compare the state of the file with its earlier state. */
static bool was_written(const struct stat *before, int fd)
{
	struct stat after;

	return fstat(fd, &after) == 0 && (after.st_size != before->st_size ||
					  after.st_mtim.tv_sec != before->st_mtim.tv_sec ||
					  after.st_mtim.tv_nsec != before->st_mtim.tv_nsec);
}

static int worse(int a, int b)
{
	return a > b ? a : b;
}

static int print_file(const char *path, int error, bool is_new)
{
	switch (error) {
	case 0:
		print_line("%s: %s", path, is_new ? "completed" : "complete already");
		return EXIT_FINE;
	case EBUSY:
		print_line("%s: its writer is still running, or another process is completing it", path);
		return EXIT_FOUND;
	case ENOENT:
		print_line("%s: shared memory does not contain its missing events any more; the part that was written "
		       "can be read",
		       path);
		return EXIT_FOUND;
	case EINVAL:
		message("%s is not a posixtrace log of this machine", path);
		return EXIT_TROUBLE;
	default:
		message_error(error, "%s", path);
		return EXIT_TROUBLE;
	}
}

/* Damaged logs. */

/* A log can have a damaged part in the middle.  Read all events: nr_missing of its information is valid then. */
static void read_all(trace_id_t trace)
{
	struct posix_trace_event_info event;
	size_t length;
	char data[1];
	int is_unavailable = 0;

	while (posix_trace_getnext_event(trace, &event, data, sizeof(data), &length,
					 &is_unavailable) == 0 &&
	       !is_unavailable)
		continue;
}

/* Return true if the file is a damaged log of which something can be read; then *trace is open. */
static bool open_damaged(int fd, trace_id_t *trace, struct txtrace_file_info *info)
{
	if (txtrace_open(fd, TXTRACE_OPEN_DAMAGED, trace) != 0)
		return false;
	if (txtrace_get_file_info(*trace, info) == 0 && !info->damaged && info->format != 0)
		read_all(*trace);
	if (txtrace_get_file_info(*trace, info) == 0 && (info->damaged || info->nr_missing > 0))
		return true;
	posix_trace_close(*trace);
	return false;
}

/* Put ".whole" before the last dot of the name. Return false if the path is too long. */
static bool name_whole(const char *path, char whole[PATH_MAX])
{
	const char *name = strrchr(path, '/');
	const char *dot = strrchr(name ? name : path, '.');
	int length = dot ? (int)(dot - path) : (int)strlen(path);

	return snprintf(whole, PATH_MAX, "%.*s.whole%s", length, path, path + length) < PATH_MAX;
}

static void print_salvaged(const char *path, const struct txtrace_file_info *info,
			   const struct snapshot_file *file)
{
	char what[80] = "damaged", missing[64] = "";

	if (info->size < info->whole_size)
		snprintf(what, sizeof(what), "cut after %llu bytes of %llu", info->size,
			 info->whole_size);
	if (info->nr_missing > 0)
		snprintf(missing, sizeof(missing), "; at least %llu", info->nr_missing);
	print_line("%s: %s: %llu events are in %s, the rest is lost%s", path, what, file->nr_events,
		   file->path, missing);
}

/*
 * Write the undamaged parts into another file, and keep the damaged file: it may contain more than this library finds.
 */
static int salvage(const struct options *options, const char *path, trace_id_t trace,
		   struct txtrace_file_info *info)
{
	struct snapshot_file file = {.overwrites = options->overwrites};
	int error;

	if (info->only_image) {
		message("%s: its POSIX section is lost; txtrace export --to trx writes what TraceX would show",
			path);
		return EXIT_TROUBLE;
	}
	if (options->output ? snprintf(file.path, sizeof(file.path), "%s", options->output) >=
				      (int)sizeof(file.path) :
			      !name_whole(path, file.path)) {
		message_error(ENAMETOOLONG, "%s", path);
		return EXIT_TROUBLE;
	}
	if (!snapshot_file_open(&file))
		return EXIT_TROUBLE;
	posix_trace_rewind(trace);
	error = txtrace_copy_log(trace, file.fd);
	txtrace_get_file_info(trace, info);
	if (!snapshot_file_close(&file, error))
		return EXIT_TROUBLE;
	print_salvaged(path, info, &file);
	return EXIT_FOUND;
}

/* If there is no log to complete, print a message that says so, and return true. */
static bool is_refused(const char *path, int fd, const struct stat *status)
{
	if (S_ISDIR(status->st_mode))
		message("%s is a directory", path);
	else if (S_ISREG(status->st_mode) && status->st_size == 0)
		message(MESSAGE_EMPTY, path);
	else
		return newer_print(fd, path) || relay_print(fd, path);
	return true;
}

static int recover_file(const struct options *options, const char *path)
{
	struct txtrace_file_info info;
	trace_id_t trace;
	int fd = open(path, O_RDONLY | O_NONBLOCK | O_CLOEXEC);
	struct stat before;
	int error;

	if (fd < 0 || fstat(fd, &before) != 0) {
		message_error(errno, "%s", path);
		return EXIT_TROUBLE;
	}
	if (is_refused(path, fd, &before)) {
		close(fd);
		return EXIT_TROUBLE;
	}
	error = txtrace_recover(fd);
	if ((!error || error == EINVAL) && open_damaged(fd, &trace, &info)) {
		error = salvage(options, path, trace, &info);
		posix_trace_close(trace);
		close(fd);
		return error;
	}
	error = print_file(path, error, !error && was_written(&before, fd));
	close(fd);
	return error;
}

struct totals {
	unsigned int nr;
	int code;
};

static void print_result(const char *path, int error, void *argument)
{
	struct totals *totals = argument;

	totals->nr++;
	if (error == ENOENT || error == EINVAL) {
		print_line("%s: it was removed, or shared memory does not contain its missing events any more", path);
		totals->code = worse(totals->code, EXIT_FOUND);
	} else {
		totals->code = worse(totals->code, print_file(path, error, true));
	}
}

static int recover_all(void)
{
	struct totals totals = {0, EXIT_FINE};
	int error = txtrace_recover_each(print_result, &totals);

	if (error) {
		message_error(error, "cannot search for logs");
		return EXIT_TROUBLE;
	}
	if (totals.nr == 0)
		puts("there is no log to complete");
	return totals.code;
}

static int run(int argc, char **argv)
{
	struct options options = {.output = NULL};
	int option, code = EXIT_FINE;

	while ((option = options_next(&cmd_recover, argc, argv)) != -1)
		if (option == 'o')
			options.output = optarg;
		else if (option == OPTION_FORCE)
			options.overwrites = true;
		else
			return EXIT_TROUBLE;
	if (options.output && optind + 1 != argc) {
		message("--output needs one file; see txtrace recover --help");
		return EXIT_TROUBLE;
	}
	if (optind == argc)
		return recover_all();
	for (int i = optind; i < argc; i++)
		code = worse(code, recover_file(&options, argv[i]));
	return code;
}

const struct command cmd_recover = {
	.name = "recover",
	.arguments = "[FILE...]",
	.summary = "complete the logs of killed programs, and save the events of damaged logs",
	.options = option_rows,
	.run = run,
};
