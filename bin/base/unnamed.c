/* SPDX-License-Identifier: MIT */
#include "base/unnamed.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

#include "base/files.h"

int unnamed_open(const char *path, int access_mode)
{
	char *directory = directory_of(path);
	int fd = directory ? open(directory, O_TMPFILE | access_mode | O_CLOEXEC, 0666) : -1;

	free(directory);
	if (fd >= 0 && may_access("/proc/self/fd", X_OK) != 0) {
		close(fd);
		fd = -1;
	}
	return fd;
}

/* Return an unused name in the same directory, or NULL after a failure. */
static char *name_part(const char *path)
{
	char *part = NULL;
	int fd = asprintf(&part, "%s.XXXXXX", path) < 0 ? -1 : mkostemp(part, O_CLOEXEC);

	if (fd < 0) {
		free(part);
		return NULL;
	}
	close(fd);
	unlink(part);
	return part;
}

/* linkat() never replaces a file, but rename() does. */
static int replace(const char *own, const char *path)
{
	char *part = name_part(path);
	int error = !part || linkat(AT_FDCWD, own, AT_FDCWD, part, AT_SYMLINK_FOLLOW) != 0 ? errno : 0;

	if (!error && rename(part, path) != 0) {
		error = errno;
		unlink(part);
	}
	free(part);
	return error;
}

int unnamed_give_name(int fd, const char *path, bool overwrites)
{
	char own[32];

	snprintf(own, sizeof(own), "/proc/self/fd/%d", fd);
	if (linkat(AT_FDCWD, own, AT_FDCWD, path, AT_SYMLINK_FOLLOW) == 0)
		return 0;
	return overwrites && errno == EEXIST ? replace(own, path) : errno;
}

int unnamed_open_temporary(void)
{
	int fd = open(temporary_directory(), O_TMPFILE | O_RDWR | O_CLOEXEC, 0600);

	/* Not every file system has files without names. */
	return fd >= 0 ? fd : memfd_create("txtrace", MFD_CLOEXEC);
}
