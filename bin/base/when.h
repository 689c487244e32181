/* SPDX-License-Identifier: MIT */
/* How times of events are printed in text: --time. */
#ifndef TXTRACE_BASE_WHEN_H
#define TXTRACE_BASE_WHEN_H

#include <stdbool.h>
#include <stdint.h>

#define WHEN_BYTES 80

/* Parse the argument of --time: relative, utc, local or epoch.  If it is none, print a message and return false. */
bool when_option(const char *argument);

/* Return true if times are printed as seconds from the first event.  This is the default. */
bool when_is_relative(void);

/*
 * Write a time in ns since 1970: as RFC 3339 in UTC or with the local zone, or as seconds since 1970.  Call this if
 * times are not relative.
 */
void when_write(char text[WHEN_BYTES], int64_t time_ns);

/* Return the width of such a time. */
int when_width(void);

#endif
