/* SPDX-License-Identifier: MIT */
/* The names of error numbers and of signals, as <errno.h> and <signal.h> have them. */
#ifndef TXTRACE_BASE_NUMBER_NAMES_H
#define TXTRACE_BASE_NUMBER_NAMES_H

/* Return the name of an error number, such as "EBUSY", or NULL.  The name of 0 is "0". */
const char *error_number_name(int error);

/* Return the name of a signal without "SIG", such as "TERM", or NULL.  A real-time signal has none. */
const char *signal_number_name(int number);

#endif
