/* SPDX-License-Identifier: MIT */
/*
 * txtrace pack: remove the unused space from logs.  The new log is written beside the old one and takes its name when
 * it is whole and on the disk.
 */
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <trace_ext.h>
#include <unistd.h>

#include "base/files.h"
#include "base/message.h"
#include "cli/command.h"
#include "input/relay.h"
#include "input/spool.h"
#include "trace/newer.h"

static const struct option_row option_rows[] = {
	{'o', "output", "FILE", "write the packed log to this file, and leave the log as it is"},
	OPTION_ROW_FORCE,
	OPTIONS_END,
};

struct options {
	const char *output;
	bool overwrites;
};

/* A file that is being packed. */
struct job {
	const char *path; /* as the user gave it */
	char *target;	  /* the file that gets the packed log */
	char *directory;
	char *temporary;
	int from, to, parent;
	struct stat before; /* of the log; with the rights that the packed log gets */
	bool is_made; /* the temporary file exists */
};

static int print_error(const char *path, int fd, int error)
{
	if (error == EINVAL && (newer_print(fd, path) || relay_print(fd, path)))
		return EXIT_TROUBLE;
	if (error == EINVAL)
		message("%s is not a posixtrace log of this machine", path);
	else if (error == ENOTSUP)
		message("%s is a log of a machine with another byte order; pack it on such a machine", path);
	else if (error == EBUSY)
		message("%s: its writer is still running, or another process is completing it", path);
	else
		message_error(error, "%s", path);
	return error == EBUSY ? EXIT_FOUND : EXIT_TROUBLE;
}

/* Make a file beside the target.  Return 0 or an error number. */
static int make_temporary(struct job *job)
{
	job->directory = directory_of(job->target);
	if (!job->directory || asprintf(&job->temporary, "%s/.%.200s.XXXXXX", job->directory,
					name_of(job->target)) < 0) {
		job->temporary = NULL;
		return ENOMEM;
	}
	job->parent = open(job->directory, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	job->to = mkostemp(job->temporary, O_CLOEXEC);
	job->is_made = job->to >= 0;
	return job->is_made ? 0 : errno;
}

/*
 * The file gets the rights of the log.  A user may not be allowed to give it the same owner.  Only then may others read
 * it, and only then does it get the name.
 */
static int replace(struct job *job)
{
	bool has_owner = fchown(job->to, job->before.st_uid, job->before.st_gid) == 0;

	if (fchmod(job->to, job->before.st_mode & (has_owner ? 0777 : 0700)) != 0 ||
	    fsync(job->to) != 0 || rename(job->temporary, job->target) != 0)
		return errno;
	job->is_made = false;
	/* Not every file system can do this. */
	if (job->parent >= 0)
		fsync(job->parent);
	return 0;
}

static int pack(struct job *job, bool in_place)
{
	struct stat after;
	int error = make_temporary(job);

	if (!error)
		error = txtrace_pack(job->from, job->to);
	if (!error && fstat(job->to, &after) != 0)
		error = errno;
	if (error)
		return print_error(job->path, job->from, error);
	if (in_place && after.st_size >= job->before.st_size) {
		print_line("%s: compact already", job->path);
		return EXIT_FINE;
	}
	error = replace(job);
	if (error) {
		message_error(error, "%s", job->target);
		return EXIT_TROUBLE;
	}
	print_line("%s: %lld bytes, before: %lld", in_place ? job->path : job->target,
		   (long long)after.st_size, (long long)job->before.st_size);
	return EXIT_FINE;
}

static void free_job(struct job *job)
{
	if (job->is_made)
		unlink(job->temporary);
	if (job->from >= 0)
		close(job->from);
	if (job->to >= 0)
		close(job->to);
	if (job->parent >= 0)
		close(job->parent);
	free(job->target);
	free(job->directory);
	free(job->temporary);
}

static bool may_write(const struct options *options, const char *path)
{
	struct stat status;

	if (lstat(options->output, &status) != 0)
		return true;
	if (is_same_file(path, options->output))
		message("%s is the log itself", options->output);
	else if (!S_ISREG(status.st_mode))
		message("%s is not a regular file", options->output);
	else if (!options->overwrites)
		message("%s already exists; --force overwrites it", options->output);
	else
		return true;
	return false;
}

static bool is_same(const struct stat *one, const struct stat *other)
{
	return one->st_dev == other->st_dev && one->st_ino == other->st_ino;
}

static mode_t current_mask(void)
{
	mode_t mask = umask(0);

	umask(mask);
	return mask;
}

static int pack_file(const struct options *options, const char *path)
{
	struct job job = {.path = path, .from = -1, .to = -1, .parent = -1};
	struct stat named;
	int code = EXIT_TROUBLE;

	if (options->output && !may_write(options, path))
		return EXIT_TROUBLE;
	/* A log from a pipe, or a compressed one, has no place of its own. */
	job.from = options->output ? spool_open(path) : open(path, O_RDONLY | O_NONBLOCK | O_CLOEXEC);
	/* The log keeps its place if the path is a link. */
	if (job.from >= 0)
		job.target = options->output ? strdup(options->output) : realpath(path, NULL);
	if (job.from < 0 || !job.target || fstat(job.from, &job.before) != 0)
		message_error(errno, "%s", path);
	else if (!S_ISREG(job.before.st_mode))
		message("%s is not a regular file", path);
	else {
		if (stat(path, &named) != 0 || !is_same(&named, &job.before))
			job.before.st_mode = 0666 & ~current_mask();
		code = pack(&job, !options->output);
	}
	free_job(&job);
	return code;
}

static int run(int argc, char **argv)
{
	struct options options = {NULL, false};
	int code, worst = EXIT_FINE;

	while ((code = options_next(&cmd_pack, argc, argv)) != -1) {
		if (code == 'o')
			options.output = optarg;
		else if (code == OPTION_FORCE)
			options.overwrites = true;
		else
			return EXIT_TROUBLE;
	}
	if (optind == argc || (options.output && optind + 1 < argc)) {
		message(optind == argc ? "file required; see txtrace pack --help" :
					 "--output takes one file");
		return EXIT_TROUBLE;
	}
	for (int i = optind; i < argc; i++) {
		code = pack_file(&options, argv[i]);
		worst = code > worst ? code : worst;
	}
	return worst;
}

const struct command cmd_pack = {
	.name = "pack",
	.arguments = "FILE...",
	.summary = "remove the unused space from logs",
	.options = option_rows,
	.run = run,
};
