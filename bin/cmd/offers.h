/* SPDX-License-Identifier: MIT */
/* Words that the completion of a shell offers, and asks for while the user types: help --offer. */
#ifndef TXTRACE_CMD_OFFERS_H
#define TXTRACE_CMD_OFFERS_H

#include <stdbool.h>

#define OFFERS "columns|groups|threads"

/*
 * Print the words of this kind, one on each line.  threads are the names of those in the file, which may be NULL.  If
 * the kind is unknown, or the file cannot be read, print a message and return false.
 */
bool offers_print(const char *kind, const char *file);

#endif
