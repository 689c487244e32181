/* SPDX-License-Identifier: MIT */
/*
 * The logs that a merged log was made of, and the machines (hosts) that they come from.  A log that is not merged has
 * one origin, itself.  In a merged log, the pids and CPUs of all hosts but the first have the number of the host in
 * front (TXTRACE_HOST_PIDS).
 */
#ifndef TXTRACE_TRACE_ORIGINS_H
#define TXTRACE_TRACE_ORIGINS_H

#include "trace/source.h"

/* Return the origins, which stay valid until source_close(), and their number; it is 0 for a trace buffer. */
const struct txtrace_origin *source_origins(struct source *source, size_t *nr);

/* Return the number of hosts.  It is 1 for a log that is not merged, and also for a trace buffer. */
unsigned int source_nr_hosts(struct source *source);

/* Return true for a merged log. */
bool source_is_merged(struct source *source);

/* Return the name of the host of a process, or "" if it is not known. */
const char *source_host(struct source *source, pid_t pid);

/* Return the lines of txtrace_get_modules() for all origins.  The caller frees the text. */
char *source_modules(const struct source *source);

#endif
