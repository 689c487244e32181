/* SPDX-License-Identifier: MIT */
#include "export/directory.h"

#include <errno.h>
#include <ftw.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/memory.h"
#include "base/message.h"

static int remove_one(const char *path, const struct stat *status, int type, struct FTW *walk)
{
	(void)status;
	(void)type;
	(void)walk;
	return remove(path);
}

/* rename() of a directory replaces only an empty directory. */
static bool give_name(const struct export *export, const char *from)
{
	if (rename(from, export->output) == 0)
		return true;
	message_error(errno, "%s", export->output);
	return false;
}

/* rmdir() of a directory with files fails, and rename() replaces an empty directory. */
static bool is_in_the_way(const struct export *export)
{
	struct stat status;
	bool is_directory;

	if (lstat(export->output, &status) != 0)
		return false;
	is_directory = S_ISDIR(status.st_mode);
	if (is_directory && export->overwrites && rmdir(export->output) == 0)
		return false;
	if (!is_directory)
		message("%s exists and is not a directory; remove it first", export->output);
	else if (export->overwrites)
		message("%s exists and is not empty; remove it first", export->output);
	else
		message("%s exists; --force overwrites it if it is empty, or else remove it first",
			export->output);
	return true;
}

bool directory_begin(struct directory *directory, const struct export *export)
{
	if (is_in_the_way(export))
		return false;
	if (asprintf(&directory->around, "%s.XXXXXX", export->output) < 0)
		directory->around = must(NULL);
	if (!mkdtemp(directory->around)) {
		message_error(errno, "%s", export->output);
		free(directory->around);
		return false;
	}
	/* mkdtemp() takes away the rights of others.  A directory inside has the rights that the user wants. */
	if (asprintf(&directory->path, "%s/trace", directory->around) < 0)
		directory->path = must(NULL);
	return true;
}

bool directory_end(struct directory *directory, const struct export *export, bool is_complete)
{
	bool is_fine = is_complete && give_name(export, directory->path);

	nftw(directory->around, remove_one, 16, FTW_DEPTH | FTW_PHYS);
	free(directory->around);
	free(directory->path);
	return is_fine;
}
