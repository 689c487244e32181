/* SPDX-License-Identifier: MIT */
/* Names of files, and writing to them. */
#ifndef TXTRACE_BASE_FILES_H
#define TXTRACE_BASE_FILES_H

#include <stdbool.h>
#include <stddef.h>

/* Where this file stands, or would; to be freed.  NULL: there is no memory. */
char *directory_of(const char *path);

/* How much of the path stands before the suffix of its name: all, if it has none. */
size_t length_without_suffix(const char *path);

/* The name behind the directories. */
const char *name_of(const char *path);

/* Whether both exist and are the same. */
bool is_same_file(const char *path, const char *other);

/* All of it, unless it fails: 0, or an error number. */
int write_all(int fd, const void *bytes, size_t size);

#endif
