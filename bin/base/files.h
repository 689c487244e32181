/* SPDX-License-Identifier: MIT */
/* Functions for paths and their parts, and a function that writes to a descriptor. */
#ifndef TXTRACE_BASE_FILES_H
#define TXTRACE_BASE_FILES_H

#include <stdbool.h>
#include <stddef.h>

/*
 * Return the directory of a file.  The file need not exist.  The caller frees the text.  Return NULL if memory is
 * short.
 */
char *directory_of(const char *path);

/* Return the length of a path without the suffix of its file name. */
size_t length_without_suffix(const char *path);

/* Return the file name of a path, without the directories. */
const char *name_of(const char *path);

/*
 * Return the path to write to instead of this one: the file that a symbolic link leads to, which need not exist, or
 * the path itself.  The caller frees the text.  Return NULL if memory is short.
 */
char *target_of(const char *path);

/* Return the directory for temporary files: $TMPDIR, or /tmp. */
const char *temporary_directory(void);

/* Return true if both paths exist and are the same file. */
bool is_same_file(const char *path, const char *other);

/*
 * As access(2).  If a system call filter refuses that call itself, F_OK and X_OK are answered by stat(2), and R_OK and
 * W_OK count as permitted.
 */
int may_access(const char *path, int mode);

/* Write all bytes.  Return 0 or an error number. */
int write_all(int fd, const void *bytes, size_t size);

/*
 * If standard input, standard output or standard error is closed, the next file that is opened would take its place.
 * Give this place to a descriptor with which each read and write fails with EBADF.  A program that is executed finds
 * the place closed.
 */
void hold_standard_files(void);

#endif
