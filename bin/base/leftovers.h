/* SPDX-License-Identifier: MIT */
/* Temporary files with names: a signal that ends the tool (SIGINT, SIGTERM, SIGHUP) removes them. */
#ifndef TXTRACE_BASE_LEFTOVERS_H
#define TXTRACE_BASE_LEFTOVERS_H

/* The path must stay valid until leftovers_forget().  If there are very many files, the last ones are not noted. */
void leftovers_note(const char *path);
void leftovers_forget(const char *path);

#endif
