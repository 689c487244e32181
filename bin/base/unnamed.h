/* SPDX-License-Identifier: MIT */
/*
 * Files that have no name until they are complete (O_TMPFILE).  So no signal, not even SIGKILL, leaves a part of one.
 */
#ifndef TXTRACE_BASE_UNNAMED_H
#define TXTRACE_BASE_UNNAMED_H

#include <stdbool.h>

/*
 * Open a file in the directory of the path.  access_mode: O_WRONLY or O_RDWR.  Return -1 if the file system does not
 * support such files, or if the tool could not give the file a name later.
 */
int unnamed_open(const char *path, int access_mode);

/*
 * Open a file for reading and writing that never gets a name: in the directory for temporary files, or else in memory.
 * Return -1, with errno, after a failure.
 */
int unnamed_open_temporary(void);

/* Give the file its name.  Return 0, EEXIST (and overwrites is false), or another error number. */
int unnamed_give_name(int fd, const char *path, bool overwrites);

#endif
