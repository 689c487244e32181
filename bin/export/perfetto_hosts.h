/* SPDX-License-Identifier: MIT */
/*
 * A trace of several hosts for Perfetto: a TAR archive with a trace for each host and a manifest, which says that each
 * is of a machine of its own.  So Perfetto's trace processor keeps apart what has the same pid, tid or CPU on two
 * hosts.
 */
#ifndef TXTRACE_EXPORT_PERFETTO_HOSTS_H
#define TXTRACE_EXPORT_PERFETTO_HOSTS_H

#include "base/output.h"
#include "export/packets.h"
#include "trace/source.h"

/* Write the archive.  packets: those of each host.  After a failure, print a message and return false. */
bool perfetto_hosts_write(struct text *text, struct source *source, struct packets *const *packets, unsigned int nr);

#endif
