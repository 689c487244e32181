/* SPDX-License-Identifier: MIT */
/* Opens a trace for readers that need all of it at any offset: from standard input, or compressed, too. */
#ifndef TXTRACE_INPUT_SPOOL_H
#define TXTRACE_INPUT_SPOOL_H

/*
 * Open a file for reading.  What "-", standard input, has, and the contents of a compressed file go to a file without a
 * name in $TMPDIR; a second call for the same path finds that file.  If the data are damaged or end early, print a
 * message; the file then has what is before that.  Return the descriptor, or -1 with errno.
 */
int spool_open(const char *path);

/*
 * If spool_open() has read this path, but not to its end, return why: a log that was sent ended early, or compressed
 * data did, or are damaged.  Otherwise return NULL.
 */
const char *spool_cut(const char *path);

/* From now on, spool_open() opens this file for the name, which need not be a path.  The descriptor stays open. */
void spool_name(const char *name, int fd);

#endif
