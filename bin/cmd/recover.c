/* SPDX-License-Identifier: MIT */
/* txtrace recover: complete the logs of killed controllers. */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <trace_ext.h>
#include <unistd.h>

#include "base/message.h"
#include "cli/command.h"

static const struct option_row options[] = {OPTIONS_END};

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

static int recover_file(const char *path)
{
	int fd = open(path, O_RDONLY | O_NONBLOCK | O_CLOEXEC);
	struct stat before;
	int error;

	if (fd < 0 || fstat(fd, &before) != 0) {
		message_error(errno, "%s", path);
		return EXIT_TROUBLE;
	}
	if (S_ISDIR(before.st_mode)) {
		message("%s is a directory", path);
		close(fd);
		return EXIT_TROUBLE;
	}
	error = txtrace_recover(fd);
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
	int code = EXIT_FINE;

	if (options_next(&cmd_recover, argc, argv) != -1)
		return EXIT_TROUBLE;
	if (optind == argc)
		return recover_all();
	for (int i = optind; i < argc; i++)
		code = worse(code, recover_file(argv[i]));
	return code;
}

const struct command cmd_recover = {
	.name = "recover",
	.arguments = "[FILE...]",
	.summary = "complete the logs of killed programs",
	.options = options,
	.run = run,
};
