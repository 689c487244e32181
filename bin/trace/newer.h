/* SPDX-License-Identifier: MIT */
/* Logs that a newer posixtrace wrote. */
#ifndef TXTRACE_TRACE_NEWER_H
#define TXTRACE_TRACE_NEWER_H

#include <stdbool.h>

/* What the tool says of such a log; the arguments are the members of struct newer. */
#define NEWER_FORMAT "written by a newer posixtrace (format %u); this one reads formats up to %u"

struct newer {
	unsigned int format; /* of the log */
	unsigned int newest; /* that this tool reads */
};

/* Return true if a newer posixtrace wrote the log with this descriptor, and fill in *newer. */
bool newer_wrote(int fd, struct newer *newer);

/* If a newer posixtrace wrote the log, print a message that says so, and return true. */
bool newer_print(int fd, const char *path);

#endif
