/* SPDX-License-Identifier: MIT */
/* Temporary files with names: a signal that ends the tool (SIGINT, SIGTERM, SIGHUP) removes them. */
#ifndef TXTRACE_BASE_LEFTOVERS_H
#define TXTRACE_BASE_LEFTOVERS_H

/*
 * Make a file like mkostemp(path, O_CLOEXEC).  The path must stay valid until leftovers_forget().  If there are very
 * many files, the last ones are not removed.
 */
int leftovers_make(char *path);
void leftovers_forget(const char *path);

#endif
